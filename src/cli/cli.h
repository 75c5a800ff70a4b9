/* The command line: one option table drives parsing, help and man pages. */
#ifndef IDM_CLI_CLI_H
#define IDM_CLI_CLI_H

#include <jansson.h>
#include <stdio.h>

#include "idm/idm.h"

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

enum { CLI_MOST_OPTIONS = 16, CLI_MOST_ARGUMENTS = 4 };

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
/* A JSON number; infinities as strings, NaN as null. */
json_t *cli_number(double value);
json_t *cli_numbers(const double *values, size_t count);
/* Print one JSON object, full precision, and free it. */
idm_status cli_print_json(cli_call *call, json_t *object);

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
