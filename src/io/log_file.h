/* Log files: reading and writing CSV, and a first problem file from a table. */
#ifndef IDM_IO_LOG_FILE_H
#define IDM_IO_LOG_FILE_H

#include "base/arguments.h"
#include "idm/data.h"
#include "invert/explain.h"

/* Rows that could not be read: their number, and the first of their errors. Zero-initialise;
 * `shown` may be NULL if `room` is 0. */
typedef struct idm_read_errors {
  size_t count;
  size_t room;
  idm_error *shown; /* [room], of which min(count, room) are filled; borrowed */
} idm_read_errors;

typedef struct idm_csv_options {
  const char *const *keep; /* names of covariates to keep */
  size_t keep_count;
  unsigned columns; /* optional evidence to read if the log has it: bits 1 << idm_column */
  /* Row filter: predicates (see predicate.h) over any column, including derived columns. Several
   * values for equality with the same column are alternatives; all other predicates must hold
   * together. A note gives the number of rows kept. */
  const char *const *where;
  size_t where_count;
  /* Continue after rows that cannot be read, and collect their errors here; reading then fails at
   * the end with the first error. NULL: stop at the first error. */
  idm_read_errors *opt_faults;
} idm_csv_options;

/* Read a log as a stream. The problem supplies labels, column roles and utility columns. Path "-"
 * is standard input. *ret_data is owned by the caller. IDM_INPUT with the place of the first row
 * that cannot be read; IDM_SYSTEM if the file cannot be opened. */
IDM_CHECKED idm_status idm_data_read_csv(const char *path, const idm_problem *problem,
                                         const idm_csv_options *opt_options, idm_data **ret_data,
                                         idm_notes *opt_notes, idm_error *opt_error);
/* The same from `count` files. Columns are matched by name; columns with a role must be present in
 * all files. Equal names of agents denote the same agent; a trajectory must lie in one file. */
IDM_CHECKED idm_status idm_data_read_files(const char *const *paths, size_t count,
                                           const idm_problem *problem,
                                           const idm_csv_options *opt_options, idm_data **ret_data,
                                           idm_notes *opt_notes, idm_error *opt_error);
/* The same, but rows excluded by options->where are kept as history for the memory of their agents
 * and marked (idm_data.history). Agents without a scored row are dropped. Files are read twice, so
 * standard input is IDM_USAGE. */
IDM_CHECKED idm_status idm_data_read_history(const char *const *paths, size_t count,
                                             const idm_problem *problem,
                                             const idm_csv_options *options, idm_data **ret_data,
                                             idm_notes *opt_notes, idm_error *opt_error);
/* The same from `length` bytes of text; opt_file is the file name used in messages. */
IDM_CHECKED idm_status idm_data_parse_csv(const char *text, size_t length, const char *opt_file,
                                          const idm_problem *problem,
                                          const idm_csv_options *opt_options, idm_data **ret_data,
                                          idm_notes *opt_notes, idm_error *opt_error);
/* Read preferences between the trajectories of `data` and store them in it. The table has the
 * columns worse and better with ids of trajectories (numbers from the log if there are no ids), and
 * optionally weight, a number above 0. A cycle of preferences is legal; a note reports it. On
 * failure the data are unchanged. */
IDM_CHECKED idm_status idm_preferences_read_csv(const char *path, idm_data *data,
                                                idm_notes *opt_notes, idm_error *opt_error);
/* The same from `length` bytes of text; opt_file is the file name used in messages. */
IDM_CHECKED idm_status idm_preferences_parse_csv(const char *text, size_t length,
                                                 const char *opt_file, idm_data *data,
                                                 idm_notes *opt_notes, idm_error *opt_error);
/* Write trials as CSV, one line per row: agent, trajectory, step, line, action, observation,
 * belief.STATE, probability.ACTION, q.ACTION, surprise, log_likelihood. With posterior draws each
 * number is followed by its quantiles, as in surprise.q5 and surprise.q95. Undefined numbers are
 * empty cells. */
IDM_CHECKED idm_status idm_trials_write_csv(const idm_trials *trials, const idm_data *data,
                                            const idm_setting *setting, const char *path,
                                            idm_error *opt_error);

/* Write an explanation as CSV, one line per row, of one trajectory or of all (-1): agent,
 * trajectory, step, line, action, observation, surprise, regret, rational and rational_at_belief
 * (actions; ties are joined by '|'), then belief.STATE, probability.ACTION, rational_belief.STATE,
 * rational.ACTION, rational_at_belief.ACTION, q.ACTION; quantiles as above. */
IDM_CHECKED idm_status idm_explanation_write_csv(const idm_explanation *explanation,
                                                 const idm_data *data, const idm_setting *setting,
                                                 int64_t trajectory, const char *path,
                                                 idm_error *opt_error);

/* Copy a CSV file so that a spreadsheet executes no formula in it. A cell is quoted and prefixed
 * with an apostrophe if its first non-blank character is = + - @, a tab or a line end, and the cell
 * is not a number. All other cells are copied unchanged. Labels read from such a file include the
 * apostrophe. Path "-" is standard input or output. */
IDM_CHECKED idm_status idm_csv_escape_formulas(const char *from, const char *to,
                                               idm_error *opt_error);

/* Write a first problem file from a data table: labels are taken from the table, and values that it
 * cannot provide are left to be filled in. */
IDM_CHECKED idm_status idm_init_write(const char *data_path, const char *problem_path,
                                      idm_notes *opt_notes, idm_error *opt_error);

#endif
