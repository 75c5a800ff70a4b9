/* Data: logs of actions and observations.
 *
 * Row t of a trajectory is the pair (u_t, x_{t+1}): the action taken at the belief z_t, and the
 * observation after it. z_0 is the start belief; there is no x_0. */
#ifndef IDM_DATA_H
#define IDM_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "idm/problem.h"
#include "idm/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A log. Immutable. */
typedef struct idm_data idm_data;

/* An index that was not recorded: the agent had the information, the log does not. */
#define IDM_MISSING (-1)

/* --- create --------------------------------------------------------------------------------- */

/* Read a log from one or several CSV files with a header; columns are those of the problem's
 * section `data`. opt_settings select rows ("where") and the columns that a fit or an audit needs
 * ("by", "each", "model", "audit.by", "audit.group", "inverse"); NULL: the defaults. Utilities that
 * come from columns, and cut points that come from the log, are set in the problem. IDM_INPUT with
 * file, line and column where a cell is not valid. */
IDM_API idm_status idm_data_read(idm_problem *problem, const char *const *paths, size_t count,
                                 const idm_settings *opt_settings, idm_data **ret_data,
                                 idm_notes *opt_notes, idm_error *opt_error);

/* As idm_data_read, from `length` bytes of CSV. */
IDM_API idm_status idm_data_parse(idm_problem *problem, const char *text, size_t length,
                                  const idm_settings *opt_settings, idm_data **ret_data,
                                  idm_notes *opt_notes, idm_error *opt_error);

/* A log as arrays, for idm_data_from_arrays. Set `size` to sizeof the struct, and fields that are
 * not used to 0. Rows of a trajectory are consecutive and in the order of time. `rows`, `action`,
 * `observation` and `trajectory` are required. Logs with missed responses, with limits on the
 * available actions or with start beliefs are read as CSV (idm_data_parse). */
typedef struct idm_data_arrays {
  size_t size;                /* sizeof(idm_data_arrays) */
  size_t rows;                /* number of rows */
  const int32_t *action;      /* [row]: index, or IDM_MISSING */
  const int32_t *observation; /* [row]: index, or IDM_MISSING; of observed states the next state */
  const int64_t *trajectory;  /* [row]: a change of the number begins a trajectory */
  const int64_t *opt_agent;   /* [row]: number of the agent; NULL: one agent per trajectory */
  const double *opt_reward;   /* [row]: reward after the action; NULL: none */
  size_t covariates;          /* columns for groups and regressions */
  const char *const *covariate;    /* [covariates] names */
  const char *const *const *level; /* [covariates][row] texts; NULL: missing */
} idm_data_arrays;

/* Create a log from arrays, which are copied. IDM_INPUT where an index is out of range; IDM_USAGE
 * where the problem has utilities from columns of the log. */
IDM_API idm_status idm_data_from_arrays(const idm_problem *problem, const idm_data_arrays *arrays,
                                        idm_data **ret_data, idm_error *opt_error);

/* Free a log; NULL is allowed. */
IDM_API void idm_data_destroy(idm_data *data);

/* --- read ----------------------------------------------------------------------------------- */

/* Numbers of rows, trajectories and agents. */
IDM_API size_t idm_data_rows(const idm_data *data);
IDM_API size_t idm_data_trajectories(const idm_data *data);
IDM_API size_t idm_data_agents(const idm_data *data);

/* Views of the log without copying, valid as long as it is: actions and observations [row], first
 * rows of the trajectories [trajectories + 1], and their agents [trajectory]. Each returns a
 * pointer and writes the length; NULL and 0 without data. */
IDM_API const int32_t *idm_data_actions(const idm_data *data, size_t *ret_length);
IDM_API const int32_t *idm_data_observations(const idm_data *data, size_t *ret_length);
IDM_API const size_t *idm_data_first_rows(const idm_data *data, size_t *ret_length);
IDM_API const uint32_t *idm_data_trajectory_agents(const idm_data *data, size_t *ret_length);

/* Name of agent `index`; NULL past the last. */
IDM_API const char *idm_data_agent_name(const idm_data *data, size_t index);
/* Name of a trajectory, which belongs to the log or, where the log has no names, its number from 1,
 * written into buffer. Returns the text; "" past the last. Numbers of idm_data_arrays are no names.
 */
IDM_API const char *idm_data_trajectory_name(const idm_data *data, size_t trajectory, char *buffer,
                                             size_t size);
/* Find a trajectory by its name: IDM_USAGE where there is none, or more than one. */
IDM_API idm_status idm_data_find_trajectory(const idm_data *data, const char *name,
                                            size_t *ret_trajectory, idm_error *opt_error);

/* Write a log as CSV, in the columns that the problem maps, so that the same problem reads it back.
 * "-" is standard output. Covariates are left out. */
IDM_API idm_status idm_data_write_csv(const idm_data *data, const idm_problem *problem,
                                      const char *path, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
