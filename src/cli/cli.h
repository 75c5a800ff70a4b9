/* The command line: one option table drives parsing, help and man pages. */
#ifndef IDM_CLI_CLI_H
#define IDM_CLI_CLI_H

#include <jansson.h>
#include <limits.h>
#include <stdio.h>

#include "idm/idm.h"
#include "io/json.h"

typedef enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_INTEGER, CLI_LIST, CLI_KEY } cli_kind;

/* One option. A list may be given several times. A key is a field of the command's settings: all
 * but its name follows from the key of that name ('_' for '-'). */
typedef struct cli_option {
  const char *name;
  char letter; /* 0: none */
  cli_kind kind;
  const char *value;    /* name of its value in help; NULL for a flag */
  const char *standard; /* default, as text; NULL: none */
  double low;           /* legal range of an integer */
  double high;
  const char *help;
  bool problem; /* changes the problem */
} cli_option;

enum { CLI_MOST_OPTIONS = 40, CLI_ANY_NUMBER = INT_MAX };

typedef struct cli_call cli_call;

/* Settings that options are fields of. */
typedef union cli_settings {
  idm_request request;
  idm_calibration_settings calibration;
  idm_learn_settings learn;
} cli_settings;

typedef struct cli_command {
  const char *name;
  const char *arguments; /* as in "PROBLEM DATA" */
  int least;             /* positional arguments */
  int most;              /* or CLI_ANY_NUMBER */
  const char *summary;
  const char *description;
  const cli_option *options; /* ends with a NULL name */
  idm_status (*run)(cli_call *call);
  const idm_key *(*keys)(void); /* of its settings; NULL where it has none */
  void (*defaults)(cli_settings *settings);
} cli_command;

/* A parsed call. */
struct cli_call {
  const cli_command *const *commands; /* all there are */
  const cli_command *command;
  int arguments;
  const char **argument;
  size_t counts[CLI_MOST_OPTIONS];       /* how often each option was given */
  const char **values[CLI_MOST_OPTIONS]; /* [option][occurrence] */
  cli_settings settings;                 /* defaults, and options over them */
  idm_notes notes;
  idm_error error;
};

/* --- options.c */
/* Option i of a command, complete; false past the last. */
bool cli_option_at(const cli_command *command, size_t index, cli_option *option);
/* The key of an option; NULL where it is none. */
const idm_key *cli_key(const cli_command *command, const cli_option *option);
idm_status cli_parse(cli_call *call, const cli_command *command, int count, char **words);
void cli_call_free(cli_call *call);
bool cli_given(const cli_call *call, const char *option);
/* Text of an option: as given, or its default, or NULL. */
const char *cli_text(const cli_call *call, const char *option);
long cli_integer(const cli_call *call, const char *option);
size_t cli_list(const cli_call *call, const char *option, const char *const **ret_values);
/* Put the keys that were given into settings that came from elsewhere. */
void cli_take_keys(const cli_call *call, void *fields);

/* --- help.c */
void cli_print_help(FILE *out, const cli_command *command);
/* Commands are a list that ends with NULL. */
void cli_print_overview(FILE *out, const cli_command *const *commands);
/* A man page of one command, or where it is NULL of all. */
void cli_print_man(FILE *out, const cli_command *const *commands, const cli_command *opt_command);
const cli_command *cli_find(const cli_command *const *commands, const char *name);

/* --- common.c: what several commands do */
/* Read a problem, apply --set, check it. */
idm_status cli_read_problem(cli_call *call, const char *path, idm_problem **ret_problem);
/* What a first argument says: a problem, or a run with its request and posterior. */
typedef struct cli_subject {
  idm_problem *problem;
  idm_request request;      /* of a run */
  idm_posterior *posterior; /* NULL: a problem */
  /* Utilities by column as they stand in the file, before --set. */
  idm_labels utility_column;
  idm_utility_source *utility_source;
  size_t utility_sources;
} cli_subject;
/* Read it, with --set applied: of a run, only to utilities that come from columns of a log. */
idm_status cli_open_subject(cli_call *call, const char *path, cli_subject *subject);
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
/* Put the parameter at the draw that --draw names: a number from 1, or `centre`, the mean of the
 * draws in the sampler's coordinates. */
idm_status cli_settle(cli_call *call, cli_subject *subject, const char *draw);
/* Apply --set to a problem as it was read, and check it. */
idm_status cli_override(cli_call *call, idm_problem *problem);
/* Defaults of commands that make a run. */
void cli_request_defaults(cli_settings *settings);
/* The same with data: reads it, with the evidence that is wanted (bits 1 << idm_column), and binds
 * utilities by column. Paths and conditions on rows stand one a line, as a request holds them. */
idm_status cli_read_log(cli_call *call, const char *paths, const char *where, idm_problem *problem,
                        unsigned columns, idm_data **ret_data);
/* The same with further options of the reader. */
idm_status cli_read_log_with(cli_call *call, const char *paths, const char *where,
                             idm_problem *problem, idm_csv_options options, idm_data **ret_data);
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
/* Make a workspace and plan, by capacities where they are given. */
idm_status cli_plan(cli_call *call, idm_problem *problem, const idm_solver *opt_solver,
                    idm_workspace **ret_workspace, idm_plan_report *report);
/* Whether a file may be written to: not where it is read, nor a file that is read-only, and not
 * standard output where --json owns it. What is read are the arguments but the file itself. */
idm_status cli_check_target(cli_call *call, const char *path);
/* {"name": ..., "summary": ...}. */
json_t *cli_entry(const char *name, const char *opt_summary);
/* Say that a file was written, and what of it is to be known. */
idm_status cli_report_file(cli_call *call, const char *path);
/* Print one JSON object, full precision, and free it. */
idm_status cli_print_json(cli_call *call, json_t *object);

/* --- posterior.c: what a run found */
/* Print something of one run, as JSON where that is asked for. */
typedef idm_status (*cli_print_run)(cli_call *call, const idm_posterior *posterior,
                                    const idm_assessment *assessment);
/* Read all runs that are arguments and print each, of several under its name: a heading, or a key
 * of one JSON object. *opt_untrusted counts those that are not to be trusted. */
idm_status cli_each_run(cli_call *call, cli_print_run print, int *opt_untrusted);
/* idm fit --class all. */
idm_status cli_fit_classes(cli_call *call);
/* Table of the quantities that are summarised; on a terminal with how their draws are spread. */
void cli_print_posterior(const cli_call *opt_call, FILE *out, const idm_posterior *posterior,
                         const idm_assessment *assessment);
/* The verdict in words. */
void cli_print_verdict(FILE *out, const idm_assessment *assessment);

/* --- table.c: cells by the columns of a terminal, not by bytes */
int cli_width(const char *text);
/* A text at the left or the right of `width` columns, or running over; cut: never. */
void cli_print_left(FILE *out, int width, const char *text);
void cli_print_right(FILE *out, int width, const char *text);
void cli_print_cut(FILE *out, int width, const char *text);
/* A row of a table of quantities, `width` columns for the name. */
void cli_print_quantity_heading(FILE *out, int width, const char *last);
void cli_print_quantity(FILE *out, int width, const char *name, const idm_diagnosis *diagnosis,
                        const char *last);

/* --- spark.c: small drawings for a terminal */
/* Whether standard output is one, and neither --plain nor --json says otherwise. */
bool cli_draws(const cli_call *opt_call);
/* What changes the colour of what follows; nothing where NO_COLOR is set, or nobody looks. */
typedef enum cli_hue { CLI_USUAL, CLI_GOOD, CLI_BAD } cli_hue;
const char *cli_colour(cli_hue hue);
enum { CLI_SPARK = 256 };
/* Bars of these heights, one column each. Into buffer, which is returned. */
const char *cli_spark(const double *height, size_t count, char buffer[CLI_SPARK]);
/* How numbers are spread between the least and the largest. The same. */
const char *cli_histogram(const double *x, size_t count, size_t columns, char buffer[CLI_SPARK]);
/* An interval on a scale from low to high, with 0 where that is on it. The same. */
typedef struct cli_span {
  double low;
  double at;
  double high;
} cli_span;
const char *cli_interval(const cli_span *span, double low, double high, int width,
                         char buffer[CLI_SPARK]);

/* --- people.c */
/* Tables of people: the population, then everybody, at most `most` of them. */
void cli_print_people(FILE *out, const idm_posterior *posterior, const idm_assessment *assessment,
                      size_t most);

/* --- calibrate.c: what recover and sbc share */
extern const cli_option cli_calibration_options[];
/* Replicate as the settings of the call ask for, and report. */
idm_status cli_calibrate(cli_call *call,
                         idm_status (*report)(cli_call *call, const idm_calibration *calibration));

/* --- progress.c: a bar on a terminal, signals that ask to stop */
typedef struct cli_progress {
  double started; /* seconds */
  double shown;
  bool terminal;
  const char *farewell; /* said once when a wish to stop is noticed; NULL: nothing */
} cli_progress;
void cli_progress_begin(cli_progress *progress, const char *opt_farewell);
/* An idm_progress whose context is a cli_progress: shows work, and stops it at a signal. */
bool cli_progress_watch(void *context, const idm_work *work);
void cli_progress_end(cli_progress *progress);
/* From now on SIGINT, SIGTERM and SIGHUP ask to stop. Another one ends the program at once (but
 * those that come together are one). */
void cli_catch_signals(void);

/* --- search.c: a planner that searches */
typedef struct cli_search {
  idm_solver solver;
  cli_progress progress;
  double goal;  /* gap */
  double first; /* gap that it started with; 0: not yet */
  double lower;
  double upper;
} cli_search;
/* Take --gap, --seconds and --alpha, which are refused where the agent's planner does not search,
 * and get ready to watch. The solver borrows the search. */
idm_status cli_search_begin(cli_call *call, idm_problem *problem, cli_search *search);
/* An idm_plan_watch whose context is a cli_search. */
bool cli_search_watch(void *context, double lower, double upper);

/* Options that several commands take. */
#define CLI_SET_OPTION                                                                             \
  {                                                                                                \
    .name = "set", .kind = CLI_LIST, .value = "KEY=VALUE", .problem = true,                        \
    .help = "override a key of the agent, the discount, the horizon, the start, the environment "  \
            "or a utility"                                                                         \
  }
#define CLI_WHERE_OPTION                                                                           \
  {                                                                                                \
    .name = "where", .kind = CLI_LIST, .value = "PREDICATE", .problem = true,                      \
    .help = "read only rows that meet it: COLUMN=VALUE, or != < <= > >=; several values that one " \
            "column is to equal are alternatives, else all must hold; a missing cell meets none"   \
  }
#define CLI_RUN_OPTION                                                                             \
  {                                                                                                \
    .name = "output", .letter = 'o', .kind = CLI_TEXT, .value = "RUN",                             \
    .help = "folder for the run"                                                                   \
  }
#define CLI_FREE_OPTION(what)                                                                      \
  {                                                                                                \
    .name = "free", .kind = CLI_TEXT, .value = "BLOCKS", .problem = true, .help = what             \
  }
#define CLI_THREADS_OPTION(what)                                                                   \
  {                                                                                                \
    .name = "threads", .kind = CLI_INTEGER, .value = "N", .low = 1, .high = 1024, .help = what     \
  }
#define CLI_KEY_OPTION(field)                                                                      \
  {                                                                                                \
    .name = field, .kind = CLI_KEY                                                                 \
  }
#define CLI_DRAW_OPTION(usual, what)                                                               \
  {                                                                                                \
    .name = "draw", .kind = CLI_TEXT, .value = "N", .standard = (usual), .help = what              \
  }
#define CLI_PLUGIN_OPTION                                                                          \
  {                                                                                                \
    .name = "plugin", .kind = CLI_LIST, .value = "FILE.so",                                        \
    .help = "load a plug-in with a planner or an inverse planner of its own"                       \
  }
#define CLI_BATCH_OPTIONS                                                                          \
  {.name = "batch",                                                                                \
   .kind = CLI_TEXT,                                                                               \
   .value = "LOG",                                                                                 \
   .help = "of q-learning and soft-q-learning: learn from the transitions of this log, gone "      \
           "through again and again, in place of acting in the environment"},                      \
  {                                                                                                \
    .name = "rewards", .kind = CLI_FLAG,                                                           \
    .help = "with --batch: what is paid are the log's rewards, in place of the utilities"          \
  }
#define CLI_JSON_OPTION                                                                            \
  {                                                                                                \
    .name = "json", .kind = CLI_FLAG, .help = "print one JSON object on standard output"           \
  }
#define CLI_PLAIN_OPTION                                                                           \
  {                                                                                                \
    .name = "plain", .kind = CLI_FLAG, .help = "no small drawings on a terminal"                   \
  }
#define CLI_OUTPUT_OPTION(what)                                                                    \
  {                                                                                                \
    .name = "output", .letter = 'o', .kind = CLI_TEXT, .value = "FILE", .standard = "-",           \
    .help = what                                                                                   \
  }
#define CLI_END                                                                                    \
  {                                                                                                \
    .name = NULL                                                                                   \
  }

#endif
