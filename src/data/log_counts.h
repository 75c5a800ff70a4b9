/* Row accounting of a log: read = kept + dropped, for rows, trajectories and agents. */
#ifndef IDM_DATA_LOG_COUNTS_H
#define IDM_DATA_LOG_COUNTS_H

#include "base/arguments.h"
#include "idm/extension/problem.h"

typedef struct idm_log_size {
  size_t rows;
  size_t trajectories;
  size_t agents;
} idm_log_size;

/* Rows dropped for one reason: a condition of `--where`, or a rule. A trajectory or agent counts as
 * dropped for the reason that removed the last of its rows. */
typedef struct idm_dropped {
  char *reason;
  idm_log_size lost;
  size_t missing; /* of the dropped rows: those whose cell is missing */
} idm_dropped;

/* Cut points computed from the log. */
typedef struct idm_breakpoints {
  size_t derived; /* index of the derived column in the problem */
  size_t rows;    /* rows with a number, among those kept by the rules on rows */
  double mean;
  double sd; /* sample standard deviation (divisor n - 1) */
  size_t count;
  double *at; /* [count] */
} idm_breakpoints;

typedef struct idm_log_counts {
  idm_log_size read;
  idm_log_size kept;
  size_t reasons;
  idm_dropped *dropped; /* [reasons], in order of application */
  size_t final_rows; /* of the rows kept: rows without a decision that only record the final state
                        of a trajectory */
  size_t truncated;  /* trajectories that are kept in part */
  size_t truncated_by_where; /* of them: those that lost a row to a condition of --where */
  size_t unsorted;           /* trajectories whose rows were not in order of time */
  size_t compressed;         /* files compressed with gzip */
  size_t marked;             /* files that begin with a byte order mark */
  size_t mixed;              /* files with inconsistent line endings */
  bool timed;                /* the log has a time column; otherwise rows are in file order */
  bool coded;                /* the log already contained the derived columns: none was derived */
  size_t cuts;
  idm_breakpoints *cut; /* [cuts] */
} idm_log_counts;

/* Allocate counts for `reasons` reasons and `cuts` cut points, all zero. */
IDM_CHECKED idm_status idm_log_counts_create(size_t reasons, size_t cuts,
                                             idm_log_counts **ret_counts, idm_error *opt_error);
/* Free the counts. Accepts NULL. */
IDM_CHECKED void idm_log_counts_destroy(idm_log_counts *intake);
/* Store the cut points of a log in the problem, so that other logs are coded with the same cut
 * points. IDM_USAGE if they belong to columns of another problem. */
IDM_CHECKED idm_status idm_problem_set_breaks(idm_problem *problem, const idm_log_counts *intake,
                                              idm_error *opt_error);

#endif
