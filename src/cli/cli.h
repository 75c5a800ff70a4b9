/* Command line: options, tables, CSV output, help and the registry of commands.
 *
 * Contents: cli · options · table · csv · commands · help */
#ifndef IDM_CLI_CLI_H
#define IDM_CLI_CLI_H

#include <jansson.h>
#include <limits.h>
#include <stdio.h>

#include "io/json.h"
#include "report/library.h"

/* === cli ==================================================================================== */

/* One option table per command drives parsing, help and man pages. */

typedef enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_INTEGER, CLI_LIST, CLI_KEY } cli_kind;

/* An option. A list may be given several times. A key is a field of the command's settings:
 * everything but its name is taken from the key of that name (with '_' for '-'). */
typedef struct cli_option {
  const char *name;
  char letter; /* 0: none */
  cli_kind kind;
  const char *value;         /* placeholder of its value in help; NULL for a flag */
  const char *default_value; /* default, as text; NULL: none */
  double low;                /* legal range of an integer */
  double high;
  const char *help;
  bool problem; /* it changes the problem */
} cli_option;

enum { CLI_MAX_OPTIONS = 40, CLI_ANY_NUMBER = INT_MAX };

typedef struct cli_call cli_call;

/* Settings structs whose fields are options. */
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
  const idm_key *(*keys)(void); /* keys of its settings; NULL if it has none */
  void (*defaults)(cli_settings *settings);
} cli_command;

/* A parsed call. */
struct cli_call {
  const cli_command *const *commands; /* all commands */
  const cli_command *command;
  int arguments;
  const char **argument;
  size_t counts[CLI_MAX_OPTIONS];       /* occurrences of each option */
  const char **values[CLI_MAX_OPTIONS]; /* [option][occurrence] */
  cli_settings settings;                /* defaults, replaced by the options given */
  idm_notes notes;
  idm_error error;
};

/* Options shared by several commands. */
#define CLI_SET_OPTION                                                                             \
  {                                                                                                \
    .name = "set", .kind = CLI_LIST, .value = "KEY=VALUE", .problem = true,                        \
    .help = "override a key of the agent, the discount, the horizon, the start, the environment "  \
            "or a utility"                                                                         \
  }
#define CLI_WHERE_OPTION                                                                           \
  {                                                                                                \
    .name = "where", .kind = CLI_LIST, .value = "PREDICATE", .problem = true,                      \
    .help = "read only rows that satisfy it: COLUMN=VALUE, or != < <= > >=; several values for "   \
            "one column with = are alternatives, all other predicates must hold; a missing cell "  \
            "satisfies none"                                                                       \
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
    .help = "for a RUN: use the environment of this problem (dynamics, start, endings, horizon) "  \
            "with the parameters of the run; states and actions must be the same"                  \
  }
#define CLI_PLUGIN_OPTION                                                                          \
  {                                                                                                \
    .name = "plugin", .kind = CLI_LIST, .value = "FILE.so",                                        \
    .help = "load a plug-in with a planner or an inverse planner"                                  \
  }
#define CLI_BATCH_OPTIONS                                                                          \
  {.name = "batch",                                                                                \
   .kind = CLI_TEXT,                                                                               \
   .value = "LOG",                                                                                 \
   .help = "for q-learning and soft-q-learning: learn from the transitions of this log, in "       \
           "repeated passes, instead of acting in the environment"},                               \
  {                                                                                                \
    .name = "rewards", .kind = CLI_FLAG,                                                           \
    .help = "with --batch: use the rewards of the log instead of the utilities"                    \
  }
#define CLI_JSON_OPTION                                                                            \
  {                                                                                                \
    .name = "json", .kind = CLI_FLAG, .help = "print one JSON object on standard output"           \
  }
#define CLI_PLAIN_OPTION                                                                           \
  {                                                                                                \
    .name = "plain", .kind = CLI_FLAG, .help = "no text graphics on a terminal"                    \
  }
#define CLI_SAFE_OPTION                                                                            \
  {                                                                                                \
    .name = "spreadsheet-safe", .kind = CLI_FLAG,                                                  \
    .help = "put an apostrophe before CSV cells that a spreadsheet would interpret as a formula "  \
            "(= + - @); numbers are unchanged"                                                     \
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

/* Parsing and lookup of options. */

/* Option number `index` of a command, completed from its key; false past the last. */
bool cli_option_at(const cli_command *command, size_t index, cli_option *option);
/* Key of an option; NULL if it is not a key. */
const idm_key *cli_key(const cli_command *command, const cli_option *option);
idm_status cli_parse(cli_call *call, const cli_command *command, int count, char **words);
void cli_call_free(cli_call *call);
bool cli_given(const cli_call *call, const char *option);
/* Value of an option as text: as given, else its default, else NULL. */
const char *cli_text(const cli_call *call, const char *option);
long cli_integer(const cli_call *call, const char *option);
size_t cli_list(const cli_call *call, const char *option, const char *const **ret_values);
/* Copy the keys that were given to settings from another source. */
void cli_take_keys(const cli_call *call, void *fields);

/* === table ================================================================================== */

/* Table cells, measured in terminal columns, not bytes. */

int cli_width(const char *text);
/* Print a text left- or right-aligned in `width` columns; longer texts overflow, except with
 * cli_print_truncated. */
void cli_print_left(FILE *out, int width, const char *text);
void cli_print_right(FILE *out, int width, const char *text);
void cli_print_truncated(FILE *out, int width, const char *text);
/* Print the heading or a row of a table of quantities, with `width` columns for the name. */
void cli_print_quantity_heading(FILE *out, int width, const char *last);
void cli_print_quantity(FILE *out, int width, const char *name, const idm_diagnosis *diagnosis,
                        const char *last);

/* === csv ==================================================================================== */

/* CSV output, with --spreadsheet-safe. */

/* Function that writes a table to a path. */
typedef idm_status (*cli_csv_writer)(const void *content, const char *path, idm_error *error);
/* Call the writer for the path. With --spreadsheet-safe it writes to a temporary file, which
 * idm_csv_escape_formulas copies to the path. */
idm_status cli_write_csv(cli_call *call, const char *path, cli_csv_writer writer,
                         const void *content);

/* === commands =============================================================================== */

/* The registry of commands. */

extern const cli_command *const cli_commands[]; /* ends with NULL */

/* === help =================================================================================== */

/* Help and man pages, generated from the option table. */

void cli_print_help(FILE *out, const cli_command *command);
/* `commands` ends with NULL. */
void cli_print_overview(FILE *out, const cli_command *const *commands);
/* Print the man page of a command, or of the program if opt_command is NULL. */
void cli_print_man(FILE *out, const cli_command *const *commands, const cli_command *opt_command);
/* Print a table of options per command in Markdown: of one command, or of all after a list of them
 * if opt_command is NULL. */
void cli_print_markdown(FILE *out, const cli_command *const *commands,
                        const cli_command *opt_command);
const cli_command *cli_find(const cli_command *const *commands, const char *name);

#endif
