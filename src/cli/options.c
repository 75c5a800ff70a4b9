/* Parsing by the option table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"

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

/* Its place in the table; that of the end where the command has no such option. */
static int option_index(const cli_command *command, const char *name)
{
  int i = 0;
  while (command->options[i].name && strcmp(command->options[i].name, name) != 0) i++;
  return i;
}

static idm_status refuse(cli_call *call, const char *what, const char *word)
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

static idm_status keep_value(cli_call *call, size_t index, const cli_option *option,
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
    if (!option.value && equals) return refuse(call, "no value is expected in", words[*at]);
    if (!option.value) return keep_value(call, i, &option, "true");
    if (equals) return keep_value(call, i, &option, equals + 1);
    if (*at + 1 >= count) return refuse(call, "a value is missing after", words[*at]);
    return keep_value(call, i, &option, words[++*at]);
  }
  return refuse(call, "unknown option", words[*at]);
}

/* "-n 5", "-n5". */
static idm_status parse_short(cli_call *call, int count, char **words, int *at)
{
  const char *word = words[*at];
  cli_option option;
  for (size_t i = 0; cli_option_at(call->command, i, &option); i++) {
    if (!option.letter || option.letter != word[1]) continue;
    if (word[2]) return keep_value(call, i, &option, word + 2);
    if (*at + 1 >= count) return refuse(call, "a value is missing after", word);
    return keep_value(call, i, &option, words[++*at]);
  }
  return refuse(call, "unknown option", word);
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
    else if (call->arguments == command->most)
      status = refuse(call, "one argument too many:", words[i]);
    else
      call->argument[call->arguments++] = words[i];
    if (status != IDM_OK) return status;
  }
  if (call->arguments < command->least)
    return idm_fail(&call->error, IDM_USAGE, "usage: idm %s %s [options]; see `idm help %s`",
                    command->name, command->arguments, command->name);
  return IDM_OK;
}

void cli_call_free(cli_call *call)
{
  for (size_t i = 0; i < CLI_MOST_OPTIONS; i++) free(call->values[i]);
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
  return call->counts[i] ? call->values[i][0] : call->command->options[i].standard;
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
