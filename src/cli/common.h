/* What several commands do. */
#ifndef IDM_CLI_COMMON_H
#define IDM_CLI_COMMON_H

#include "cli/cli.h"

/* Read a problem, apply --set, check it. */
idm_status cli_read_problem(cli_call *call, const char *path, idm_problem **ret_problem);
/* What a first argument says: a problem, or a run with its request and posterior. */
typedef struct cli_subject {
  idm_problem *problem;
  idm_request *request;     /* of a run or an audit; NULL of a problem */
  idm_posterior *posterior; /* NULL: a problem */
  /* Utilities by column as they stand in the file, before --set. */
  idm_labels utility_column;
  idm_utility_source *utility_source;
  size_t utility_sources;
} cli_subject;
/* Read it, with --problem and --set applied: of a run, --set only changes its environment, its
 * start, and utilities that come from columns of a log. */
idm_status cli_open_subject(cli_call *call, const char *path, cli_subject *subject);
/* The same, for a planner that takes transitions of hidden states row by row. */
idm_status cli_open_subject_by_rows(cli_call *call, const char *path, cli_subject *subject);
/* Refuse --problem where the first argument is no run. */
idm_status cli_check_move(cli_call *call, bool run);
/* A note where the first argument is a run, with this posterior, that `check` does not trust. */
idm_status cli_warn_of_run(cli_call *call, const idm_posterior *opt_posterior);
void cli_close_subject(cli_subject *subject);
/* Take utilities from the columns that the file names again, whatever --set put in their place; the
 * parameter stays. */
void cli_restore_columns(cli_subject *subject);
/* What is shown to people: a problem, or what stands in the folder of a run, an audit or a study.
 */
typedef struct cli_shown {
  cli_subject subject;
  idm_assessment *assessment; /* where there is a posterior */
  idm_data *data;             /* for the caller to read */
  idm_calibration *study;
} cli_shown;
idm_status cli_open_shown(cli_call *call, const char *path, cli_shown *shown);
void cli_close_shown(cli_shown *shown);
/* The log that a run was fitted to, checked against its hash; the problem is bound to it. */
idm_status cli_read_run_data(cli_call *call, cli_subject *subject, idm_data **ret_data);
/* Refuse --draw where the first argument is no run. */
idm_status cli_check_draw(cli_call *call, const cli_subject *subject);
/* Put the parameter at the draw that --draw names: a number from 1, or `centre`, the mean of the
 * draws in the sampler's coordinates. */
idm_status cli_settle(cli_call *call, cli_subject *subject, const char *draw);
/* Apply --set to a problem as it was read, and check it. */
idm_status cli_override(cli_call *call, idm_problem *problem);
/* The key of KEY=VALUE, without `agent.`; empty where it does not fit. */
void cli_setting_key(const char *assignment, char *key, size_t size);
/* Note keys of --set that the planner does not read. */
void cli_remark_on_settings(cli_call *call, const idm_problem *problem);
/* Print the notes so far, and forget them: before something that takes long. */
void cli_print_notes(cli_call *call);
/* Defaults of commands that make a run. */
void cli_request_defaults(cli_settings *settings);
/* The same with data: reads it, with the evidence that is wanted (bits 1 << idm_column), and binds
 * utilities by column. Paths and conditions on rows stand one a line, as a request holds them. */
idm_status cli_read_log(cli_call *call, const char *paths, const char *where, idm_problem *problem,
                        unsigned columns, idm_data **ret_data);
/* The same with further options of the reader. */
idm_status cli_read_log_with(cli_call *call, const char *paths, const char *where,
                             idm_problem *problem, idm_csv_options options, idm_data **ret_data);
/* The column that people of a request go by; "" where there is no request or it is of no people. */
const char *cli_people_column(const idm_request *opt_request);
/* The log of a run, or another one for it: with that column kept. `history`: the rows that `where`
 * leaves out are history (idm_data_read_history). */
idm_status cli_read_people(cli_call *call, const char *paths, const char *where,
                           const idm_request *opt_request, bool history, idm_problem *problem,
                           idm_data **ret_data);
/* The same with the rows that --where of the call leaves. */
idm_status cli_read_data(cli_call *call, const char *paths, idm_problem *problem, unsigned columns,
                         idm_data **ret_data);
/* The arguments from `first` on as paths, one a line, and the conditions of --where likewise. */
idm_status cli_data_paths(cli_call *call, int first, char *paths, size_t size);
idm_status cli_where(cli_call *call, char *where, size_t size);
/* The same, or where --where is not given what a run was fitted to, with a note. */
idm_status cli_where_of_run(cli_call *call, const idm_request *opt_request, char *where,
                            size_t size);
/* A note where two labels of a column that was kept of the log, or else of its agents, are one
 * number: '1' and '1.0'. */
idm_status cli_note_twins(cli_call *call, const idm_data *data, const char *opt_column);
/* Refuse a problem whose utilities come from columns where there is no data. */
idm_status cli_need_utilities(cli_call *call, const idm_problem *problem);
/* Whether a file may be written to: not where it is read, nor a file that is read-only, and not
 * standard output where --json owns it. What is read are the arguments but the file itself. */
idm_status cli_check_target(cli_call *call, const char *path);
/* {"name": ..., "summary": ...}. */
json_t *cli_entry(const char *name, const char *opt_summary);
/* Say that a file was written, and what of it is to be known. */
idm_status cli_report_file(cli_call *call, const char *path);
/* Print one JSON object, full precision, and free it. */
idm_status cli_print_json(cli_call *call, json_t *object);

/* With --resume: refuse options that the request of a run in a folder depends on. */
idm_status cli_refuse_changes(cli_call *call, const char *run);

#endif
