/* The command line: one option table drives parsing, help and man pages. */
#ifndef IDM_CLI_CLI_H
#define IDM_CLI_CLI_H

#include <jansson.h>
#include <stdio.h>

#include "idm/idm.h"
#include "io/json.h"

typedef enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_INTEGER, CLI_LIST } cli_kind;

/* One option. A list may be given several times. */
typedef struct cli_option {
  const char *name;
  char letter; /* 0: none */
  cli_kind kind;
  const char *value;    /* name of its value in help; NULL for a flag */
  const char *standard; /* default, as text; NULL: none */
  double low;           /* legal range of an integer */
  double high;
  const char *help;
} cli_option;

enum { CLI_MOST_OPTIONS = 24, CLI_MOST_ARGUMENTS = 4 };

typedef struct cli_call cli_call;

typedef struct cli_command {
  const char *name;
  const char *arguments; /* as in "PROBLEM DATA" */
  int least;             /* positional arguments */
  int most;
  const char *summary;
  const char *description;
  const cli_option *options; /* ends with a NULL name */
  idm_status (*run)(cli_call *call);
} cli_command;

/* A parsed call. */
struct cli_call {
  const cli_command *command;
  int arguments;
  const char *argument[CLI_MOST_ARGUMENTS];
  size_t counts[CLI_MOST_OPTIONS];       /* how often each option was given */
  const char **values[CLI_MOST_OPTIONS]; /* [option][occurrence] */
  idm_notes notes;
  idm_error error;
};

extern const cli_command *const cli_commands[]; /* ends with NULL */

/* --- options.c */
idm_status cli_parse(cli_call *call, const cli_command *command, int count, char **words);
void cli_call_free(cli_call *call);
bool cli_given(const cli_call *call, const char *option);
/* Text of an option: as given, or its default, or NULL. */
const char *cli_text(const cli_call *call, const char *option);
long cli_integer(const cli_call *call, const char *option);
size_t cli_list(const cli_call *call, const char *option, const char *const **ret_values);

/* --- help.c */
void cli_print_help(FILE *out, const cli_command *command);
void cli_print_overview(FILE *out);
void cli_print_man(FILE *out, const cli_command *opt_command);
const cli_command *cli_find(const char *name);

/* --- common.c: what several commands do */
/* Read a problem, apply --set, check it. */
idm_status cli_read_problem(cli_call *call, const char *path, idm_problem **ret_problem);
/* Apply --set to a problem as it was read, and check it. */
idm_status cli_override(cli_call *call, idm_problem *problem);
/* The same with data: reads it and binds utilities by column. */
idm_status cli_read_data(cli_call *call, const char *path, idm_problem *problem,
                         idm_data **ret_data);
/* Refuse a problem whose utilities come from columns where there is no data. */
idm_status cli_need_utilities(cli_call *call, const idm_problem *problem);
/* Make a workspace and plan, by capacities where they are given. */
idm_status cli_plan(cli_call *call, idm_problem *problem, idm_workspace **ret_workspace,
                    idm_plan_report *report);
/* --json owns standard output: refuse it as the target of a file. */
idm_status cli_check_target(cli_call *call, const char *path);
json_t *cli_numbers(const double *values, size_t count);
/* Print one JSON object, full precision, and free it. */
idm_status cli_print_json(cli_call *call, json_t *object);

/* --- run.c: what commands do with a run */
/* Whether a path is a run: a folder. */
bool cli_is_run(const char *path);
/* Path of a file of a run, for the caller to free; NULL where memory is short. */
char *cli_run_path(const char *run, const char *file);
bool cli_has_file(const char *run, const char *file);
/* The problem, the request and the posterior of a run; what is not wanted is NULL. Problem and
 * posterior must belong together. */
idm_status cli_read_run(cli_call *call, const char *run, idm_problem **opt_problem,
                        idm_request *opt_request, idm_posterior **opt_posterior);
/* Table of the quantities that are summarised. */
void cli_print_posterior(FILE *out, const idm_posterior *posterior,
                         const idm_assessment *assessment);
/* The verdict in words. */
void cli_print_verdict(FILE *out, const idm_assessment *assessment);

/* --- progress.c: a bar on a terminal, signals that ask to stop */
typedef struct cli_progress {
  double started; /* seconds */
  double shown;
  bool terminal;
} cli_progress;
double cli_seconds(void);
void cli_progress_begin(cli_progress *progress);
/* Show how far: fraction done, and a few words. */
void cli_progress_show(cli_progress *progress, double fraction, const char *words);
void cli_progress_end(cli_progress *progress);
/* From now on SIGINT and SIGTERM ask to stop; cli_interrupted tells whether one came. Another one
 * more than two seconds later ends the program. */
void cli_catch_signals(void);
bool cli_interrupted(void);

/* Options that many commands take. */
#define CLI_SET_OPTION                                                                             \
  {                                                                                                \
    "set", 0, CLI_LIST, "KEY=VALUE", NULL, 0, 0,                                                   \
        "override a key of the agent, the discount, the horizon, the start or a utility"           \
  }
#define CLI_JSON_OPTION                                                                            \
  {                                                                                                \
    "json", 0, CLI_FLAG, NULL, NULL, 0, 0, "print one JSON object on standard output"              \
  }
#define CLI_OUTPUT_OPTION(what)                                                                    \
  {                                                                                                \
    "output", 'o', CLI_TEXT, "FILE", "-", 0, 0, what                                               \
  }
#define CLI_END                                                                                    \
  {                                                                                                \
    NULL, 0, CLI_FLAG, NULL, NULL, 0, 0, NULL                                                      \
  }

#endif
