/* The command line: options, help, tables and the registry of commands.
 *
 * Contents: cli · options · table · csv · commands · help */
#ifndef IDM_CLI_CLI_H
#define IDM_CLI_CLI_H

#include <jansson.h>
#include <limits.h>
#include <stdio.h>

#include "idm/idm.h"
#include "io/json.h"

/* === cli ==================================================================================== */

/* The command line: one option table drives parsing, help and man pages. */

typedef enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_INTEGER, CLI_LIST, CLI_KEY } cli_kind;

/* One option. A list may be given several times. A key is a field of the command's settings: all
 * but its name follows from the key of that name ('_' for '-'). */
typedef struct cli_option {
  const char *name;
  char letter; /* 0: none */
  cli_kind kind;
  const char *value;         /* name of its value in help; NULL for a flag */
  const char *default_value; /* default, as text; NULL: none */
  double low;                /* legal range of an integer */
  double high;
  const char *help;
  bool problem; /* changes the problem */
} cli_option;

enum { CLI_MAX_OPTIONS = 40, CLI_ANY_NUMBER = INT_MAX };

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
  int min_arguments;     /* positional arguments */
  int max_arguments;     /* or CLI_ANY_NUMBER */
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
  size_t counts[CLI_MAX_OPTIONS];       /* how often each option was given */
  const char **values[CLI_MAX_OPTIONS]; /* [option][occurrence] */
  cli_settings settings;                /* defaults, and options over them */
  idm_notes notes;
  idm_error error;
};

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
    .name = "draw", .kind = CLI_TEXT, .value = "N", .default_value = (usual), .help = what         \
  }
#define CLI_PROBLEM_OPTION                                                                         \
  {                                                                                                \
    .name = "problem", .kind = CLI_TEXT, .value = "OTHER.yaml",                                    \
    .help = "of a RUN: act in the environment of this problem (dynamics, start, endings, "         \
            "horizon), with the numbers that the run inferred or held; states and actions are "    \
            "the same"                                                                             \
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
#define CLI_SAFE_OPTION                                                                            \
  {                                                                                                \
    .name = "spreadsheet-safe", .kind = CLI_FLAG,                                                  \
    .help = "put an apostrophe before cells of CSV that a spreadsheet would take for a formula "   \
            "(= + - @); numbers stay"                                                              \
  }
#define CLI_OUTPUT_OPTION(what)                                                                    \
  {                                                                                                \
    .name = "output", .letter = 'o', .kind = CLI_TEXT, .value = "FILE", .default_value = "-",      \
    .help = what                                                                                   \
  }
#define CLI_END                                                                                    \
  {                                                                                                \
    .name = NULL                                                                                   \
  }

/* === options ================================================================================ */

/* Options of a call: parsed, and asked for. */

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

/* === table ================================================================================== */

/* Cells by the columns of a terminal, not by bytes. */

int cli_width(const char *text);
/* A text at the left or the right of `width` columns, or running over; cut: never. */
void cli_print_left(FILE *out, int width, const char *text);
void cli_print_right(FILE *out, int width, const char *text);
void cli_print_truncated(FILE *out, int width, const char *text);
/* The ends of an interval in two columns of 10; where both are NaN, "depends on dynamics". */
void cli_print_interval_ends(FILE *out, double low, double high);
/* A number; NaN as a dash. */
void cli_print_cell(FILE *out, int width, int digits, double value);
/* A row of a table of quantities, `width` columns for the name. */
void cli_print_quantity_heading(FILE *out, int width, const char *last);
void cli_print_quantity(FILE *out, int width, const char *name, const idm_diagnosis *diagnosis,
                        const char *last);

/* === csv ==================================================================================== */

/* Tables that commands write, with --spreadsheet-safe. */

/* Writes a table to a path. */
typedef idm_status (*cli_csv_writer)(const void *content, const char *path, idm_error *error);
/* Call it for the path; with --spreadsheet-safe by way of a private file, which
 * idm_csv_escape_formulas copies to the path. */
idm_status cli_write_csv(cli_call *call, const char *path, cli_csv_writer writer,
                         const void *content);

/* === commands =============================================================================== */

/* The registry of commands. */

extern const cli_command *const cli_commands[]; /* ends with NULL */

/* === help =================================================================================== */

/* Help and man pages, from the table of options. */

void cli_print_help(FILE *out, const cli_command *command);
/* Commands are a list that ends with NULL. */
void cli_print_overview(FILE *out, const cli_command *const *commands);
/* A man page of one command, or where it is NULL of all. */
void cli_print_man(FILE *out, const cli_command *const *commands, const cli_command *opt_command);
const cli_command *cli_find(const cli_command *const *commands, const char *name);

#endif
