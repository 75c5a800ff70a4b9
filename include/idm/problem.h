/* Problems: states, actions, observations, dynamics, utilities and the agent's numbers. */
#ifndef IDM_PROBLEM_H
#define IDM_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A problem. Functions that take it as const may use it from several threads at once. */
typedef struct idm_problem idm_problem;

/* --- create --------------------------------------------------------------------------------- */

/* Read a problem from a file: Cassandra's format if the name ends in .POMDP (in any case), else
 * YAML; "example:NAME" is a built-in example. Warnings are appended to opt_notes. IDM_INPUT with
 * file, line and column where the file is not a problem. */
IDM_API idm_status idm_problem_read(const char *path, idm_problem **ret_problem,
                                    idm_notes *opt_notes, idm_error *opt_error);

/* Read a problem from `length` bytes of YAML, or of Cassandra's format. opt_file is the name of the
 * text in messages. */
IDM_API idm_status idm_problem_parse_yaml(const char *text, size_t length, const char *opt_file,
                                          idm_problem **ret_problem, idm_notes *opt_notes,
                                          idm_error *opt_error);
IDM_API idm_status idm_problem_parse_pomdp(const char *text, size_t length, const char *opt_file,
                                           idm_problem **ret_problem, idm_notes *opt_notes,
                                           idm_error *opt_error);

/* A problem as arrays and names, for idm_problem_from_arrays. Set `size` to sizeof the struct, and
 * fields that are not used to 0: later versions of 1.x append fields, and take structs of earlier
 * versions. */
typedef struct idm_problem_arrays {
  size_t size;                    /* sizeof(idm_problem_arrays) */
  size_t states;                  /* number of states */
  const char *const *state;       /* [states] names */
  size_t actions;                 /* number of actions */
  const char *const *action;      /* [actions] names */
  size_t observations;            /* 0: states are observed */
  const char *const *observation; /* [observations] names */
  const double *opt_start;        /* [state]; NULL: uniform */
  const double *transition;       /* [action][state][next state], rows sum to 1 */
  const double *opt_emission; /* [action][next state][observation], rows sum to 1; NULL if states
                                 are observed */
  const double *utility;      /* [action][state] */
  double discount;            /* from 0 up to 1 */
  const char *opt_more; /* further sections as YAML, such as "agent: {alpha: 2}\nfree: [alpha]" */
} idm_problem_arrays;

/* Create a problem from arrays, which are copied. IDM_INPUT where they are not a problem. */
IDM_API idm_status idm_problem_from_arrays(const idm_problem_arrays *arrays,
                                           idm_problem **ret_problem, idm_error *opt_error);

/* Copy a problem. */
IDM_API idm_status idm_problem_copy(const idm_problem *problem, idm_problem **ret_problem,
                                    idm_error *opt_error);

/* Free a problem; NULL is allowed. */
IDM_API void idm_problem_destroy(idm_problem *problem);

/* Name and text of built-in example `index`; NULL past the last. */
IDM_API const char *idm_example_name(size_t index);
IDM_API const char *idm_example_text(size_t index);

/* --- change --------------------------------------------------------------------------------- */

/* Apply an assignment as the option --set does: "alpha=0.5", "planner=td-learner", "discount=0.9",
 * "utility.ACTION=-2", "utility.ACTION.STATE=10". IDM_USAGE or IDM_INPUT where it is not valid. */
IDM_API idm_status idm_problem_set(idm_problem *problem, const char *assignment,
                                   idm_error *opt_error);

/* Choose the parameters to infer, as the option --free does: "alpha, beta", or the YAML text of a
 * section `free`. */
IDM_API idm_status idm_problem_set_free(idm_problem *problem, const char *text,
                                        idm_error *opt_error);

/* Replace the environment by the member `environment` of the problem's family of environments. An
 * agent whose model is the environment gets the new one. IDM_USAGE if there is no such member. */
IDM_API idm_status idm_problem_set_environment(idm_problem *problem, const char *environment,
                                               idm_error *opt_error);

/* Exchange the environments of two problems: dynamics, start, endings, horizon and family. The
 * agent and its numbers stay, so that a fitted agent can act elsewhere; models of the agent that
 * follow from the environment are derived from the new one. IDM_INPUT where states or actions
 * differ, observations of hidden states differ, features have other names, or the agent has models
 * that do not follow from an environment. */
IDM_API idm_status idm_problem_transfer(idm_problem *problem, idm_problem *other,
                                        idm_error *opt_error);

/* --- read ----------------------------------------------------------------------------------- */

/* Check a problem as a whole: IDM_INPUT with the first fault. */
IDM_API idm_status idm_problem_validate(const idm_problem *problem, idm_error *opt_error);

/* Compare two problems to a relative tolerance (0: bit for bit). Returns true if they are equal;
 * else writes the first difference into buffer. */
IDM_API bool idm_problem_compare(const idm_problem *a, const idm_problem *b, double tolerance,
                                 char *buffer, size_t size);

/* Numbers of states, actions and observations. */
IDM_API size_t idm_problem_states(const idm_problem *problem);
IDM_API size_t idm_problem_actions(const idm_problem *problem);
IDM_API size_t idm_problem_observations(const idm_problem *problem);

/* Names of state, action and observation `index`; NULL past the last. */
IDM_API const char *idm_problem_state_name(const idm_problem *problem, size_t index);
IDM_API const char *idm_problem_action_name(const idm_problem *problem, size_t index);
IDM_API const char *idm_problem_observation_name(const idm_problem *problem, size_t index);

/* View an array of the problem without copying: *ret_values points to *ret_length numbers that
 * belong to the problem and are valid until it changes. `name` is "start" [state],
 * "environment.transition" [action][state][next state], "environment.observation"
 * [action][next state][observation], or a parameter of the agent as `idm list parameters` names it,
 * such as "alpha", "utility" [action][state] or "transition" [model][action][state][next state].
 * IDM_USAGE where there is no such array. */
IDM_API idm_status idm_problem_numbers(const idm_problem *problem, const char *name,
                                       const double **ret_values, size_t *ret_length,
                                       idm_error *opt_error);

/* Write a problem as YAML; "-" is standard output. What the format cannot express is noted. */
IDM_API idm_status idm_problem_write_yaml(const idm_problem *problem, const char *path,
                                          idm_notes *opt_notes, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
