/* Logs in files: CSV read and written, and a first problem file from one. */
#ifndef IDM_LOG_FILE_H
#define IDM_LOG_FILE_H

#include "idm/explain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows that could not be read: how many, and the first of them. Zero-initialise; `shown` may be
 * NULL where `room` is 0. */
typedef struct idm_read_errors {
  size_t count;
  size_t room;
  idm_error *shown; /* [room], of which min(count, room) are filled; borrowed */
} idm_read_errors;

typedef struct idm_csv_options {
  const char *const *keep; /* names of covariates to keep */
  size_t keep_count;
  unsigned columns; /* evidence to read where the log has it: bits 1 << idm_column */
  /* Which rows: predicates (see predicate.h) over any column, derived ones too. Values that one
   * column is to equal are alternatives; else all must hold. A note says how many rows are left. */
  const char *const *where;
  size_t where_count;
  /* Look at all rows although some cannot be read: those are put there, and reading fails at the
   * end with the first of them. NULL: it stops there. */
  idm_read_errors *opt_faults;
} idm_csv_options;

/* Read a log by streaming. Needs the problem's labels, column roles and utility columns. "-":
 * standard input. */
IDM_API idm_status idm_data_read_csv(const char *path, const idm_problem *problem,
                                     const idm_csv_options *opt_options, idm_data **ret_data,
                                     idm_notes *opt_notes, idm_error *opt_error);
/* The same from several files, whose columns go by name; those that play a role stand in all of
 * them. The same name is the same agent; a trajectory stands in one file. */
IDM_API idm_status idm_data_read_files(const char *const *paths, size_t count,
                                       const idm_problem *problem,
                                       const idm_csv_options *opt_options, idm_data **ret_data,
                                       idm_notes *opt_notes, idm_error *opt_error);
/* The same, where rows that options->where leaves out are read for the memory of their agents, and
 * marked (idm_data.history). Agents without a row that is scored are left out. Files are read
 * twice: standard input is IDM_USAGE. */
IDM_API idm_status idm_data_read_history(const char *const *paths, size_t count,
                                         const idm_problem *problem, const idm_csv_options *options,
                                         idm_data **ret_data, idm_notes *opt_notes,
                                         idm_error *opt_error);
IDM_API idm_status idm_data_parse_csv(const char *text, size_t length, const char *opt_file,
                                      const idm_problem *problem,
                                      const idm_csv_options *opt_options, idm_data **ret_data,
                                      idm_notes *opt_notes, idm_error *opt_error);
/* Write data in the columns that the problem maps, so that the same problem reads it back: lists of
 * columns for ids and for labels joined by '/', availability where there is any, belief.STATE on
 * first rows where a start differs from the setting's, utilities by column, and evidence that the
 * data hold or the problem maps (where the data lack it, the least number that is legal). The time
 * is the step. A hidden state stands under `state`. Covariates are left out. */
IDM_API idm_status idm_data_write_csv(const idm_data *data, const idm_problem *problem,
                                      const char *path, idm_error *opt_error);
/* Read preferences between the trajectories of data, into them: a table with the columns worse and
 * better, which hold ids of trajectories (their numbers where they have none), and at will weight,
 * a number above 0. A circle of preferences is legal, and noted. On failure the data are as they
 * were. */
IDM_API idm_status idm_preferences_read_csv(const char *path, idm_data *data, idm_notes *opt_notes,
                                            idm_error *opt_error);
IDM_API idm_status idm_preferences_parse_csv(const char *text, size_t length, const char *opt_file,
                                             idm_data *data, idm_notes *opt_notes,
                                             idm_error *opt_error);
/* Trials in a file, one line a row: agent, trajectory, step, line, action, observation,
 * belief.STATE, probability.ACTION, q.ACTION, surprise, log_likelihood; over draws each number is
 * followed by its quantiles, as in surprise.q5 and surprise.q95. Cells without a number are empty.
 */
IDM_API idm_status idm_trials_write_csv(const idm_trials *trials, const idm_data *data,
                                        const idm_setting *setting, const char *path,
                                        idm_error *opt_error);

/* An explanation in a file, one line a row, of one trajectory or where that is -1 of all: agent,
 * trajectory, step, line, action, observation, surprise, regret, rational and rational_at_belief
 * (actions, of which tied ones are joined by '|'), then belief.STATE, probability.ACTION,
 * rational_belief.STATE, rational.ACTION, rational_at_belief.ACTION, q.ACTION; quantiles as above.
 */
IDM_API idm_status idm_explanation_write_csv(const idm_explanation *explanation,
                                             const idm_data *data, const idm_setting *setting,
                                             int64_t trajectory, const char *path,
                                             idm_error *opt_error);

/* Copy a CSV file so that a spreadsheet executes none of it: a cell whose first character other
 * than a blank is = + - @, a tab or an end of line, and which is no number, is written in quotes
 * with an apostrophe before it. Other cells are copied as they are. Reading such a file back gives
 * labels that begin with the apostrophe. "-" is standard input or output. */
IDM_API idm_status idm_csv_escape_formulas(const char *from, const char *to, idm_error *opt_error);

/* A first problem file from a table: labels found, blanks to fill. */
IDM_API idm_status idm_init_write(const char *data_path, const char *problem_path,
                                  idm_notes *opt_notes, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
