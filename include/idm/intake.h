/* What became of every row of a log: read = kept + dropped, for rows, trajectories and agents. */
#ifndef IDM_INTAKE_H
#define IDM_INTAKE_H

#include "idm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idm_log_size {
  size_t rows;
  size_t trajectories;
  size_t agents;
} idm_log_size;

/* What one reason took: a condition of `--where`, or a rule. A trajectory or an agent is lost to
 * the reason that took the last of its rows. */
typedef struct idm_dropped {
  char *reason;
  idm_log_size lost;
  size_t missing; /* of the rows: those whose cell is missing */
} idm_dropped;

/* Cut points that were found in the log. */
typedef struct idm_breakpoints {
  size_t derived; /* which of the problem's derived columns */
  size_t rows;    /* with a number, among those left by rules on rows */
  double mean;
  double sd; /* n - 1 */
  size_t count;
  double *at; /* [count] */
} idm_breakpoints;

typedef struct idm_log_counts {
  idm_log_size read;
  idm_log_size kept;
  size_t reasons;
  idm_dropped *dropped;      /* [reasons], in the order in which they apply */
  size_t final_rows;         /* of the rows kept: those that only say where a trajectory went */
  size_t truncated;          /* trajectories that are kept in part */
  size_t truncated_by_where; /* of them: those that a condition of --where took a row of */
  size_t unsorted;           /* trajectories whose rows did not stand in the order of time */
  size_t compressed;         /* files that gzip has compressed */
  size_t marked;             /* files that begin with a byte order mark */
  size_t mixed;              /* files whose lines end in several ways */
  bool timed;                /* the log has a time; else rows are in the order of the file */
  bool coded;                /* the log held the derived columns already: nothing was derived */
  size_t cuts;
  idm_breakpoints *cut; /* [cuts] */
} idm_log_counts;

IDM_API idm_status idm_log_counts_create(size_t reasons, size_t cuts, idm_log_counts **ret_counts,
                                         idm_error *opt_error);
/* Takes NULL. */
IDM_API void idm_log_counts_destroy(idm_log_counts *intake);
/* Put the cut points that a log gave into the problem, so that it reads other logs alike. */
IDM_API idm_status idm_problem_set_breaks(idm_problem *problem, const idm_log_counts *intake,
                                          idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
