/* What several commands share.
 *
 * Contents: common · plan · calibrate · posterior · classes · page · people · explained ·
 * states */
#ifndef IDM_CLI_COMMON_H
#define IDM_CLI_COMMON_H

#include "cli/cli.h"
#include "idm/classes.h"
#include "io/json.h"

/* === common ================================================================================= */

/* What several commands do. */

/* Read a problem, apply --set, check it. */
idm_status cli_read_problem(cli_call *call, const char *path, idm_problem **ret_problem);
/* What a first argument says: a problem, or a run with its request and posterior. */
typedef struct cli_input {
  idm_problem *problem;
  idm_request *request;     /* of a run or an audit; NULL of a problem */
  idm_posterior *posterior; /* NULL: a problem */
  /* Utilities by column as they stand in the file, before --set. */
  idm_labels utility_column;
  idm_utility_source *utility_source;
  size_t utility_sources;
} cli_input;
/* Read it, with --problem and --set applied: of a run, --set only changes its environment, its
 * start, and utilities that come from columns of a log. */
idm_status cli_input_open(cli_call *call, const char *path, cli_input *input);
/* The same, for a planner that takes transitions of hidden states row by row. */
idm_status cli_input_open_by_rows(cli_call *call, const char *path, cli_input *input);
/* Refuse --problem where the first argument is no run. */
idm_status cli_check_relocation(cli_call *call, bool run);
/* A note where the first argument is a run, with this posterior, that `check` does not trust. */
idm_status cli_check_planable(cli_call *call, const idm_posterior *opt_posterior);
void cli_input_close(cli_input *input);
/* Take utilities from the columns that the file names again, whatever --set put in their place; the
 * parameter stays. */
void cli_restore_columns(cli_input *input);
/* What is shown to people: a problem, or what stands in the folder of a run, an audit or a study.
 */
typedef struct cli_plot_input {
  cli_input input;
  idm_assessment *assessment; /* where there is a posterior */
  idm_data *data;             /* for the caller to read */
  idm_calibration *study;
} cli_plot_input;
idm_status cli_plot_input_open(cli_call *call, const char *path, cli_plot_input *shown);
void cli_plot_input_close(cli_plot_input *shown);
/* The log that a run was fitted to, checked against its hash; the problem is bound to it. */
idm_status cli_read_run_data(cli_call *call, cli_input *input, idm_data **ret_data);
/* Refuse --draw where the first argument is no run. */
idm_status cli_check_draw(cli_call *call, const cli_input *input);
/* Put the parameter at the draw that --draw names: a number from 1, or `centre`, the mean of the
 * draws in the sampler's coordinates. */
idm_status cli_set_to_draw(cli_call *call, cli_input *input, const char *draw);
/* Apply --set to a problem as it was read, and check it. */
idm_status cli_override(cli_call *call, idm_problem *problem);
/* The key of KEY=VALUE, without `agent.`; empty where it does not fit. */
void cli_setting_key(const char *assignment, char *key, size_t size);
/* Note keys of --set that the planner does not read. */
void cli_note_unread_settings(cli_call *call, const idm_problem *problem);
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
idm_status cli_run_where(cli_call *call, const idm_request *opt_request, char *where, size_t size);
/* A note where two labels of a column that was kept of the log, or else of its agents, are one
 * number: '1' and '1.0'. */
idm_status cli_note_equal_labels(cli_call *call, const idm_data *data, const char *opt_column);
/* Refuse a problem whose utilities come from columns where there is no data. */
idm_status cli_check_utilities(cli_call *call, const idm_problem *problem);
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
idm_status cli_check_unchanged(cli_call *call, const char *run);

/* === plan =================================================================================== */

/* A plan for a command. */

/* Make a workspace and plan, by capacities where they are given. */
idm_status cli_plan(cli_call *call, idm_problem *problem, const idm_solver *opt_solver,
                    idm_workspace **ret_workspace, idm_plan_report *report);

/* === calibrate ============================================================================== */

/* What recover and sbc share. */

extern const cli_option cli_calibration_options[];
/* Replicate as the settings of the call ask for, and report. */
idm_status cli_calibrate(cli_call *call,
                         idm_status (*report)(cli_call *call, const idm_calibration *calibration));

/* === posterior ============================================================================== */

/* What a run found. */

/* Print something of one run, as JSON where that is asked for. */
typedef idm_status (*cli_run_printer)(cli_call *call, const idm_posterior *posterior,
                                      const idm_assessment *assessment);
/* Read all runs that are arguments and print each, of several under its name: a heading, or a key
 * of one JSON object. *opt_untrusted counts those that are not to be trusted. */
idm_status cli_each_run(cli_call *call, cli_run_printer print, int *opt_untrusted);
/* Table of the quantities that are summarised; on a terminal with how their draws are spread. */
void cli_print_posterior(const cli_call *opt_call, FILE *out, const idm_posterior *posterior,
                         const idm_assessment *assessment);
/* The verdict in words. */
void cli_print_verdict(FILE *out, const idm_assessment *assessment);
/* Its last line alone. */
void cli_print_verdict_line(FILE *out, const idm_assessment *assessment);

/* === classes ================================================================================ */

/* Classes of the command line, and all of them fitted to a log. */

/* idm fit --class all. */
idm_status cli_fit_classes(cli_call *call);

/* === page =================================================================================== */

/* The page of a run, from its folder. */

/* Read the folder of a run, an audit or a study, and write its page. The log is used where it is
 * still what it was; a note says where it is not. */
idm_status cli_write_page(cli_call *call, const char *folder, const char *path);
/* Path of the page in the folder itself. */
enum { CLI_PAGE_PATH = IDM_PATH_SIZE + 32 };
const char *cli_page_path(const char *folder, char path[CLI_PAGE_PATH]);

/* === people ================================================================================= */

/* People for a reader. */

/* Tables of people: the population, then everybody, at most `most` of them. */
void cli_print_people(FILE *out, const idm_posterior *posterior, const idm_assessment *assessment,
                      size_t most);

/* === explained ============================================================================== */

/* An explanation as it is printed: one JSON object, or tables for a person to read. */

/* What is printed. */
typedef struct cli_explained {
  cli_call *call;
  const idm_setting *setting;
  const idm_data *data;
  const idm_explanation *e;
  int64_t trajectory; /* the only one, or -1 */
} cli_explained;

/* On standard output: all of it as JSON, with the call's notes. */
idm_status cli_print_explained_json(const cli_explained *x);
/* The one trajectory step by step, or the ranked lists; then what is said of agents. */
idm_status cli_print_explained(const cli_explained *x);

/* === states ================================================================================= */

/* What an agent does in every state, where states are observed. */

/* One line per state, up to a screenful: probabilities at choice time, or the planned policy. */
idm_status cli_print_states(cli_call *call, const idm_setting *setting, idm_workspace *workspace,
                            bool planned);
/* {state: {"value": number, "policy": {action: probability}}}; with habits also "planned". */
idm_status cli_states_json(cli_call *call, const idm_setting *setting, idm_workspace *workspace,
                           json_t **ret_object);

#endif
