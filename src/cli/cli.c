/* Command line: option parsing, tables, CSV output and help.
 *
 * Contents: options · table · csv · help */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"

/* === options ================================================================================ */

/* Parsing, driven by the option table. */

const idm_key *cli_key(const cli_command *command, const cli_option *option)
{
  char name[40];
  if (option->kind != CLI_KEY) return NULL;
  snprintf(name, sizeof name, "%s", option->name);
  for (char *c = name; *c; c++) *c = *c == '-' ? '_' : *c;
  return idm_key_find(command->keys(), name);
}

bool cli_option_at(const cli_command *command, size_t index, cli_option *option)
{
  *option = command->options[index];
  const idm_key *key = cli_key(command, option);
  if (key) {
    option->value = key->value;
    option->help = key->help;
  }
  return option->name;
}

/* Index in the option table; index of the terminating entry if the command has no such option. */
static int option_index(const cli_command *command, const char *name)
{
  int i = 0;
  while (command->options[i].name && strcmp(command->options[i].name, name) != 0) i++;
  return i;
}

static idm_status fail_usage(cli_call *call, const char *what, const char *word)
{
  return idm_fail(&call->error, IDM_USAGE, "%s '%s'; see `idm help %s`", what, word,
                  call->command->name);
}

static idm_status check_integer(cli_call *call, const cli_option *option, const char *text)
{
  char *end;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (!*text || *end || errno || (double)value < option->low || (double)value > option->high)
    return idm_fail(&call->error, IDM_USAGE,
                    "--%s is '%s'; expected a whole number from %.0f to %.0f", option->name, text,
                    option->low, option->high);
  return IDM_OK;
}

static idm_status check_key(cli_call *call, const cli_option *option, const char *text)
{
  char expected[160];
  const idm_key *key = cli_key(call->command, option);
  if (idm_key_set_text(key, &call->settings, text, NULL) == IDM_OK) return IDM_OK;
  return idm_fail(&call->error, IDM_USAGE, "--%s is '%s'; expected %s", option->name, text,
                  idm_key_expected(key, expected, sizeof expected));
}

static idm_status append_value(cli_call *call, size_t index, const cli_option *option,
                               const char *text)
{
  idm_status status = IDM_OK;
  if (option->kind == CLI_INTEGER) status = check_integer(call, option, text);
  if (option->kind == CLI_KEY) status = check_key(call, option, text);
  if (status != IDM_OK) return status;
  if (call->counts[index] && option->kind != CLI_LIST && option->value)
    return idm_fail(&call->error, IDM_USAGE, "--%s is given twice", option->name);
  const char **values = realloc(call->values[index], (call->counts[index] + 1) * sizeof *values);
  if (!values) return idm_fail_memory(&call->error);
  call->values[index] = values;
  values[call->counts[index]++] = text;
  return IDM_OK;
}

/* "--name", "--name=value", "--name value". */
static idm_status parse_long(cli_call *call, int count, char **words, int *at)
{
  const char *word = words[*at] + 2;
  const char *equals = strchr(word, '=');
  const size_t length = equals ? (size_t)(equals - word) : strlen(word);
  cli_option option;
  for (size_t i = 0; cli_option_at(call->command, i, &option); i++) {
    if (strlen(option.name) != length || strncmp(option.name, word, length) != 0) continue;
    if (!option.value && equals) return fail_usage(call, "no value is expected in", words[*at]);
    if (!option.value) return append_value(call, i, &option, "true");
    if (equals) return append_value(call, i, &option, equals + 1);
    if (*at + 1 >= count) return fail_usage(call, "a value is missing after", words[*at]);
    return append_value(call, i, &option, words[++*at]);
  }
  return fail_usage(call, "unknown option", words[*at]);
}

/* "-n 5", "-n5". */
static idm_status parse_short(cli_call *call, int count, char **words, int *at)
{
  const char *word = words[*at];
  cli_option option;
  for (size_t i = 0; cli_option_at(call->command, i, &option); i++) {
    if (!option.letter || option.letter != word[1]) continue;
    if (word[2]) return append_value(call, i, &option, word + 2);
    if (*at + 1 >= count) return fail_usage(call, "a value is missing after", word);
    return append_value(call, i, &option, words[++*at]);
  }
  return fail_usage(call, "unknown option", word);
}

idm_status cli_parse(cli_call *call, const cli_command *command, int count, char **words)
{
  *call = (cli_call){.command = command};
  call->argument = calloc((size_t)count + 1, sizeof *call->argument);
  if (!call->argument) return idm_fail_memory(&call->error);
  if (command->defaults) command->defaults(&call->settings);
  bool only_arguments = false;
  for (int i = 0; i < count; i++) {
    idm_status status = IDM_OK;
    if (!only_arguments && strcmp(words[i], "--") == 0)
      only_arguments = true;
    else if (!only_arguments && strncmp(words[i], "--", 2) == 0)
      status = parse_long(call, count, words, &i);
    else if (!only_arguments && words[i][0] == '-' && words[i][1])
      status = parse_short(call, count, words, &i);
    else if (call->arguments == command->max_arguments)
      status = fail_usage(call, "one argument too many:", words[i]);
    else
      call->argument[call->arguments++] = words[i];
    if (status != IDM_OK) return status;
  }
  if (call->arguments < command->min_arguments)
    return idm_fail(&call->error, IDM_USAGE, "usage: idm %s %s [options]; see `idm help %s`",
                    command->name, command->arguments, command->name);
  return IDM_OK;
}

void cli_call_free(cli_call *call)
{
  for (size_t i = 0; i < CLI_MAX_OPTIONS; i++) free(call->values[i]);
  free(call->argument);
  idm_notes_clear(&call->notes);
}

bool cli_given(const cli_call *call, const char *option)
{
  return call->counts[option_index(call->command, option)] > 0;
}

const char *cli_text(const cli_call *call, const char *option)
{
  const int i = option_index(call->command, option);
  return call->counts[i] ? call->values[i][0] : call->command->options[i].default_value;
}

long cli_integer(const cli_call *call, const char *option)
{
  return strtol(cli_text(call, option), NULL, 10);
}

size_t cli_list(const cli_call *call, const char *option, const char *const **ret_values)
{
  const int i = option_index(call->command, option);
  *ret_values = call->values[i];
  return call->counts[i];
}

void cli_take_keys(const cli_call *call, void *fields)
{
  cli_option option;
  for (size_t i = 0; cli_option_at(call->command, i, &option); i++)
    if (option.kind == CLI_KEY && call->counts[i])
      idm_key_set_text(cli_key(call->command, &option), fields, call->values[i][0], NULL);
}

/* === table ================================================================================== */

/* Table cells and rows. */

int cli_width(const char *text)
{
  return (int)idm_utf8_width(text, strlen(text));
}

static void print_spaces(FILE *out, int width)
{
  if (width > 0) fprintf(out, "%*s", width, "");
}

void cli_print_left(FILE *out, int width, const char *text)
{
  fputs(text, out);
  print_spaces(out, width - cli_width(text));
}

void cli_print_right(FILE *out, int width, const char *text)
{
  print_spaces(out, width - cli_width(text));
  fputs(text, out);
}

void cli_print_truncated(FILE *out, int width, const char *text)
{
  const size_t bytes = idm_utf8_fit(text, (size_t)width);
  fwrite(text, 1, bytes, out);
  print_spaces(out, width - (int)idm_utf8_width(text, bytes));
}

void cli_print_quantity_heading(FILE *out, int width, const char *last)
{
  fprintf(out, "%-*s %10s %10s %10s %10s %10s %10s %9s %9s %6s %6s\n", width, "", "mean", "sd",
          "mcse", "5%", "50%", "95%", "ess_bulk", "ess_tail", "r_hat", last);
}

void cli_print_quantity(FILE *out, int width, const char *name, const idm_diagnosis *d,
                        const char *last)
{
  cli_print_left(out, width, name);
  if (idm_diagnosis_heavy_tailed(d))
    fprintf(out, " %10s %10s %10s", "-", "-", "-");
  else
    fprintf(out, " %10.4g %10.3g %10.2g", d->mean, d->sd, d->mcse_mean);
  if (isnan(d->q05) && isnan(d->q95) && isfinite(d->q50))
    fprintf(out, " %10s %10.4g %10s", "-", d->q50, "-");
  else
    fprintf(out, " %10.4g %10.4g %10.4g", d->q05, d->q50, d->q95);
  fprintf(out, " %9.0f %9.0f %6.3f %6s\n", d->ess_bulk, d->ess_tail, d->rhat, last);
}

/* === csv ==================================================================================== */

/* CSV output of commands. */

idm_status cli_write_csv(cli_call *call, const char *path, cli_csv_writer writer,
                         const void *content)
{
  char is_private[IDM_PATH_SIZE];
  const char *folder = getenv("TMPDIR");
  if (!cli_given(call, "spreadsheet-safe")) return writer(content, path, &call->error);
  snprintf(is_private, sizeof is_private, "%s/idm-XXXXXX", folder && *folder ? folder : "/tmp");
  const int descriptor = mkstemp(is_private);
  if (descriptor < 0)
    return idm_fail(&call->error, IDM_SYSTEM, "cannot write '%s': %s", is_private, strerror(errno));
  close(descriptor);
  idm_status status = writer(content, is_private, &call->error);
  if (status == IDM_OK) status = idm_csv_escape_formulas(is_private, path, &call->error);
  unlink(is_private);
  return status;
}

/* === help =================================================================================== */

/* Help and man pages, generated from the option table. */

const cli_command *cli_find(const cli_command *const *commands, const char *name)
{
  for (size_t i = 0; commands[i]; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  return NULL;
}

/* Write "-n, --number N" into text. */
static void option_form(const cli_option *option, char *text, size_t size)
{
  char letter[8] = "";
  if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
  snprintf(text, size, "%s--%s%s%s", letter, option->name, option->value ? " " : "",
           option->value ? option->value : "");
}

/* Default of an option as text; NULL if there is none. */
static const char *default_text(const cli_command *command, const cli_option *option, char *buffer,
                                size_t size)
{
  const idm_key *key = cli_key(command, option);
  cli_settings settings;
  if (!key) return option->default_value;
  if (key->kind == IDM_KEY_BOOL) return NULL;
  command->defaults(&settings);
  return idm_key_text(key, &settings, buffer, size)[0] ? buffer : NULL;
}

/* Print one option: its form "-n, --number N", its default, if there is one, and its help. */
typedef void option_printer(FILE *out, const char *form, const char *opt_default, const char *help);

/* Print all options of a command. */
static void print_options(FILE *out, const cli_command *command, option_printer *print)
{
  cli_option option;
  for (size_t i = 0; cli_option_at(command, i, &option); i++) {
    char form[80];
    char buffer[64];
    option_form(&option, form, sizeof form);
    print(out, form, default_text(command, &option, buffer, sizeof buffer), option.help);
  }
}

static void print_option(FILE *out, const char *form, const char *opt_default, const char *help)
{
  fprintf(out, "  %-24s %s", form, help);
  if (opt_default) fprintf(out, " (default %s)", opt_default);
  fputc('\n', out);
}

void cli_print_help(FILE *out, const cli_command *command)
{
  fprintf(out, "idm %s %s\n\n%s.\n\n%s\n\nOptions:\n", command->name, command->arguments,
          command->summary, command->description);
  print_options(out, command, print_option);
}

void cli_print_overview(FILE *out, const cli_command *const *commands)
{
  fprintf(out,
          "idm %s: infers from logs of decisions how people decide.\n"
          "\n"
          "Commands:\n",
          idm_version());
  for (size_t i = 0; commands[i]; i++) {
    char form[80];
    snprintf(form, sizeof form, "%s %s", commands[i]->name, commands[i]->arguments);
    fprintf(out, "  %-28s %s\n", form, commands[i]->summary);
  }
  fprintf(out, "\n"
               "`idm help COMMAND` describes a command. PROBLEM is a YAML file, a .POMDP file, or "
               "example:NAME.\n"
               "Exit codes: 0 done, 1 not to be trusted, 2 usage, 3 bad input file, 4 numerical "
               "failure, 5 system.\n");
}

/* Write text as a cell of a Markdown table, in which '|' separates cells. */
static void print_markdown_cell(FILE *out, const char *text)
{
  for (; *text; text++) {
    if (*text == '|') fputc('\\', out);
    fputc(*text, out);
  }
}

static void print_markdown_option(FILE *out, const char *form, const char *opt_default,
                                  const char *help)
{
  fputs("| `", out);
  print_markdown_cell(out, form);
  fputs("` | ", out);
  print_markdown_cell(out, opt_default ? opt_default : "");
  fputs(opt_default ? " | " : "| ", out);
  print_markdown_cell(out, help);
  fputs(" |\n", out);
}

static void print_markdown_command(FILE *out, const cli_command *command)
{
  fprintf(out, "\n## `idm %s`\n\n    idm %s %s\n\n%s.\n\n%s\n\n", command->name, command->name,
          command->arguments, command->summary, command->description);
  fputs("| option | default | effect |\n|---|---|---|\n", out);
  print_options(out, command, print_markdown_option);
}

void cli_print_markdown(FILE *out, const cli_command *const *commands,
                        const cli_command *opt_command)
{
  if (!opt_command) {
    fputs("| command | purpose |\n|---|---|\n", out);
    for (size_t i = 0; commands[i]; i++)
      fprintf(out, "| [`idm %s`](#idm-%s) | %s |\n", commands[i]->name, commands[i]->name,
              commands[i]->summary);
  }
  for (size_t i = 0; commands[i]; i++)
    if (!opt_command || opt_command == commands[i]) print_markdown_command(out, commands[i]);
}

/* Escape text for roff: dots and quotes at the start of a line, all backslashes and hyphens. */
static void print_roff(FILE *out, const char *text)
{
  bool head = true;
  for (; *text; text++) {
    if (head && (*text == '.' || *text == '\'')) fputs("\\&", out);
    if (*text == '\\')
      fputs("\\e", out);
    else if (*text == '-')
      fputs("\\-", out);
    else
      fputc(*text, out);
    head = *text == '\n';
  }
}

static void man_head(FILE *out, const char *title, const char *name, const char *summary)
{
  fprintf(out, ".TH %s 1 \"\" \"idm %s\" \"User Commands\"\n.SH NAME\n", title, idm_version());
  print_roff(out, name);
  fputs(" \\- ", out);
  print_roff(out, summary);
  fputs("\n.SH SYNOPSIS\n", out);
}

static void man_overview(FILE *out, const cli_command *const *commands)
{
  man_head(out, "IDM", "idm", "infer from logs of decisions how people decide");
  fputs(".B idm\n.I COMMAND\n[options]\n.SH COMMANDS\n", out);
  for (size_t i = 0; commands[i]; i++) {
    fprintf(out, ".TP\n.B %s %s\n", commands[i]->name, commands[i]->arguments);
    print_roff(out, commands[i]->summary);
    fputc('\n', out);
  }
  fputs(".SH EXIT STATUS\n0 done, 1 the answer is not to be trusted, 2 usage, 3 bad input file, 4 "
        "numerical failure, 5 system.\n",
        out);
}

static void man_option(FILE *out, const char *form, const char *opt_default, const char *help)
{
  fputs(".TP\n.B ", out);
  print_roff(out, form);
  fputc('\n', out);
  print_roff(out, help);
  if (opt_default) {
    fputs(" (default ", out);
    print_roff(out, opt_default);
    fputc(')', out);
  }
  fputc('\n', out);
}

void cli_print_man(FILE *out, const cli_command *const *commands, const cli_command *opt_command)
{
  if (!opt_command) {
    man_overview(out, commands);
    return;
  }
  char title[64], name[64];
  snprintf(title, sizeof title, "IDM-%s", opt_command->name);
  for (char *c = title; *c; c++) *c = (char)toupper((unsigned char)*c);
  snprintf(name, sizeof name, "idm-%s", opt_command->name);
  man_head(out, title, name, opt_command->summary);
  fprintf(out, ".B idm %s\n.I %s\n[options]\n.SH DESCRIPTION\n", opt_command->name,
          opt_command->arguments);
  print_roff(out, opt_command->description);
  fputs("\n.SH OPTIONS\n", out);
  print_options(out, opt_command, man_option);
  fputs(".SH SEE ALSO\n.BR idm (1)\n", out);
}
