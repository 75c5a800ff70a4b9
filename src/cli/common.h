/* Shared functions of the commands, and terminal output.
 *
 * Contents: common · plan · calibrate · posterior · classes · page · people · explained · states ·
 * progress · search · spark */
#ifndef IDM_CLI_COMMON_H
#define IDM_CLI_COMMON_H

#include "cli/cli.h"
#include "invert/classes.h"
#include "io/json.h"

/* === common ================================================================================= */

/* Reading, overriding, output targets, JSON. */

/* Read a problem, apply --set and validate it. */
idm_status cli_read_problem(cli_call *call, const char *path, idm_problem **ret_problem);
/* First argument of a command: a problem, or a run with its request and posterior. */
typedef struct cli_input {
  idm_problem *problem;
  idm_request *request;     /* of a run or an audit; NULL for a problem */
  idm_posterior *posterior; /* NULL: a problem */
  /* Utilities by column as given in the file, before --set. */
  idm_labels utility_column;
  idm_utility_source *utility_source;
  size_t utility_sources;
} cli_input;
/* Open it, with --problem and --set applied. For a run, --set changes only its environment, its
 * start, and utilities that come from columns of a log. */
idm_status cli_input_open(cli_call *call, const char *path, cli_input *input);
/* The same, with sparse transitions of hidden states. */
idm_status cli_input_open_by_rows(cli_call *call, const char *path, cli_input *input);
/* IDM_USAGE for --problem if the first argument is not a run. */
idm_status cli_check_relocation(cli_call *call, bool run);
/* Add a note if the first argument is a run that is not trusted by its checks. */
idm_status cli_check_planable(cli_call *call, const idm_posterior *opt_posterior);
void cli_input_close(cli_input *input);
/* Restore the mapping of utilities to columns as in the file, undoing --set; theta is unchanged. */
void cli_restore_columns(cli_input *input);
/* Objects to plot or report: a problem, or the contents of the folder of a run, an audit or a
 * study. */
typedef struct cli_plot_input {
  cli_input input;
  idm_assessment *assessment; /* if there is a posterior */
  idm_data *data;             /* to be read by the caller */
  idm_calibration *study;
} cli_plot_input;
idm_status cli_plot_input_open(cli_call *call, const char *path, cli_plot_input *shown);
void cli_plot_input_close(cli_plot_input *shown);
/* Read the log that a run was fitted to, checked against its hash, and bind the problem to it. */
idm_status cli_read_run_data(cli_call *call, cli_input *input, idm_data **ret_data);
/* IDM_USAGE for --draw if the first argument is not a run. */
idm_status cli_check_draw(cli_call *call, const cli_input *input);
/* Set theta to a draw: a number from 1, or `centre`, the mean of the draws in the sampler's
 * coordinates. */
idm_status cli_set_to_draw(cli_call *call, cli_input *input, const char *draw);
/* Apply --set to a problem and validate it. */
idm_status cli_override(cli_call *call, idm_problem *problem);
/* Key of KEY=VALUE without `agent.`; empty if it does not fit. */
void cli_setting_key(const char *assignment, char *key, size_t size);
/* Add notes for keys of --set that the planner does not use. */
void cli_note_unread_settings(cli_call *call, const idm_problem *problem);
/* Print and clear the notes so far, before a long computation. */
void cli_print_notes(cli_call *call);
/* Default settings of commands that write a run. */
void cli_request_defaults(cli_settings *settings);
/* Read a log with the requested evidence (bits 1 << idm_column), and bind utilities by column.
 * `paths` and `where` have one entry per line, as in a request. */
idm_status cli_read_log(cli_call *call, const char *paths, const char *where, idm_problem *problem,
                        unsigned columns, idm_data **ret_data);
/* The same with further options of the reader. */
idm_status cli_read_log_with(cli_call *call, const char *paths, const char *where,
                             idm_problem *problem, idm_csv_options options, idm_data **ret_data);
/* Read a log for a run, and keep that column. `history`: rows that `where` excludes are history
 * (idm_data_read_history). */
idm_status cli_read_people(cli_call *call, const char *paths, const char *where,
                           const idm_request *opt_request, bool history, idm_problem *problem,
                           idm_data **ret_data);
/* Read a log with the row filter of the call's --where. */
idm_status cli_read_data(cli_call *call, const char *paths, idm_problem *problem, unsigned columns,
                         idm_data **ret_data);
/* Arguments from `first` on as paths, one per line; cli_where: predicates of --where, one per line.
 */
idm_status cli_data_paths(cli_call *call, int first, char *paths, size_t size);
idm_status cli_where(cli_call *call, char *where, size_t size);
/* The same; without --where, the row filter of the run, with a note. */
idm_status cli_run_where(cli_call *call, const idm_request *opt_request, char *where, size_t size);
/* Add a note if two labels of a column kept from the log, or else of its agents, are equal as
 * numbers, such as '1' and '1.0'. */
idm_status cli_note_equal_labels(cli_call *call, const idm_data *data, const char *opt_column);
/* IDM_USAGE for a problem whose utilities come from data columns, if there are no data. */
idm_status cli_check_utilities(cli_call *call, const idm_problem *problem);
/* Check an output path: it must not be one of the arguments that are read, nor read-only, nor
 * standard output with --json. */
idm_status cli_check_target(cli_call *call, const char *path);
/* JSON object {"name": ..., "summary": ...}. */
json_t *cli_entry(const char *name, const char *opt_summary);
/* Report that a file was written, with the notes. */
idm_status cli_report_file(cli_call *call, const char *path);
/* Print a JSON object in full precision, and free it. */
idm_status cli_print_json(cli_call *call, json_t *object);

/* With --resume: IDM_USAGE for options that would change the request of the run. */
idm_status cli_check_unchanged(cli_call *call, const char *run);

/* === plan =================================================================================== */

/* Planning. */

/* Create a workspace and plan; multipliers are determined from capacities, if given. */
idm_status cli_plan(cli_call *call, idm_problem *problem, const idm_solver *opt_solver,
                    idm_workspace **ret_workspace, idm_plan_report *report);

/* === calibrate ============================================================================== */

/* Options and execution of recover and sbc. */

extern const cli_option cli_calibration_options[];
/* Run the replications according to the settings of the call, and report. */
idm_status cli_calibrate(cli_call *call,
                         idm_status (*report)(cli_call *call, const idm_calibration *calibration));

/* === posterior ============================================================================== */

/* Output of posteriors and verdicts. */

/* Print a part of one run, as JSON with --json. */
typedef idm_status (*cli_run_printer)(cli_call *call, const idm_posterior *posterior,
                                      const idm_assessment *assessment);
/* Read all runs given as arguments and print each; several runs with their names as headings, or as
 * keys of one JSON object. *opt_untrusted counts runs that are not trusted or not fully checked. */
idm_status cli_each_run(cli_call *call, cli_run_printer print, int *opt_untrusted);
/* Print the table of the summarised quantities; on a terminal with histograms of the draws. */
void cli_print_posterior(const cli_call *opt_call, FILE *out, const idm_posterior *posterior,
                         const idm_assessment *assessment);
/* Print failures, misfits, remarks and the verdict. */
void cli_print_verdict(FILE *out, const idm_assessment *assessment);
/* Print the verdict line only. */
void cli_print_verdict_line(FILE *out, const idm_assessment *assessment);

/* === classes ================================================================================ */

/* Fit of all classes. */

/* idm fit --class all. */
idm_status cli_fit_classes(cli_call *call);

/* === page =================================================================================== */

/* Report page of a run. */

/* Read the folder of a run, an audit or a study, and write its report. The log is used if it is
 * unchanged; otherwise a note is added. */
idm_status cli_write_page(cli_call *call, const char *folder, const char *path);
/* Path of the report in the folder itself. */
enum { CLI_PAGE_PATH = IDM_PATH_SIZE + 32 };
const char *cli_page_path(const char *folder, char path[CLI_PAGE_PATH]);

/* === people ================================================================================= */

/* Tables of people. */

/* Print the population, then at most `most` people. */
void cli_print_people(FILE *out, const idm_posterior *posterior, const idm_assessment *assessment,
                      size_t most);

/* === explained ============================================================================== */

/* Output of an explanation: one JSON object, or tables. */

/* Arguments of the output functions. */
typedef struct cli_explained {
  cli_call *call;
  const idm_setting *setting;
  const idm_data *data;
  const idm_explanation *e;
  int64_t trajectory; /* index of the trajectory to print, or -1 for all */
} cli_explained;

/* Print everything as one JSON object on standard output, including the notes of the call. */
idm_status cli_print_explained_json(const cli_explained *x);
/* Print one trajectory step by step, or the ranked lists, followed by the agents. */
idm_status cli_print_explained(const cli_explained *x);

/* === states ================================================================================= */

/* Value and policy in every state, if states are observed. */

/* Print one line per state, up to a limit: choice probabilities, or the planned policy. */
idm_status cli_print_states(cli_call *call, const idm_setting *setting, idm_workspace *workspace,
                            bool planned);
/* {state: {"value": number, "policy": {action: probability}}}; with choice biases also "planned".
 */
idm_status cli_states_json(cli_call *call, const idm_setting *setting, idm_workspace *workspace,
                           json_t **ret_object);

/* === progress =============================================================================== */

/* Progress bar on a terminal, and signals that request a stop. */

typedef struct cli_progress {
  double started; /* start time in seconds */
  double shown;
  bool terminal;
  const char *stop_message; /* printed once after a request to stop; NULL: none */
} cli_progress;
void cli_progress_begin(cli_progress *progress, const char *opt_stop_message);
/* Progress callback (idm_progress) whose context is a cli_progress: updates the bar, and returns
 * true after a signal. */
bool cli_progress_watch(void *context, const idm_progress_state *work);
void cli_progress_end(cli_progress *progress);
/* Install handlers: SIGINT, SIGTERM and SIGHUP request a stop. A second signal ends the program
 * immediately (signals that arrive together count as one). */
void cli_catch_signals(void);

/* === search ================================================================================= */

/* Options and progress of planners that search. */

typedef struct cli_search {
  idm_solver solver;
  cli_progress progress;
  double goal;  /* requested gap */
  double first; /* initial gap; 0: not known yet */
  double lower;
  double upper;
} cli_search;
/* Parse --gap, --seconds and --alpha, which are IDM_USAGE if the agent's planner does not search,
 * and set up the monitor. The time limit starts at `begun` (idm_seconds). The solver borrows the
 * search. */
idm_status cli_search_begin(cli_call *call, idm_problem *problem, double begun, cli_search *search);
/* Plan monitor (idm_plan_monitor) whose context is a cli_search. */
bool cli_search_watch(void *context, double lower, double upper);

/* === spark ================================================================================== */

/* Text graphics. */

/* True if standard output is a terminal, without --plain and --json. */
bool cli_is_graphical(const cli_call *opt_call);
/* Escape sequence of a colour for the following text; empty if NO_COLOR is set or standard output
 * is not a terminal. */
typedef enum cli_hue { CLI_DEFAULT_COLOUR, CLI_POSITIVE_COLOUR, CLI_NEGATIVE_COLOUR } cli_hue;
const char *cli_colour(cli_hue hue);
enum { CLI_SPARKLINE = 256 };
/* Bars with these heights, one column each. Returns buffer. */
const char *cli_sparkline(const double *height, size_t count, char buffer[CLI_SPARKLINE]);
/* Histogram of x[count] between its minimum and maximum. Returns buffer. */
const char *cli_histogram(const double *x, size_t count, size_t columns,
                          char buffer[CLI_SPARKLINE]);
/* Interval on a scale from low to high, with a mark at 0 if that is on the scale. Returns buffer.
 */
typedef struct cli_span {
  double low;
  double at;
  double high;
} cli_span;
const char *cli_interval(const cli_span *span, double low, double high, int width,
                         char buffer[CLI_SPARKLINE]);

#endif
