/* Help and man pages, from the option table. */
#include <ctype.h>
#include <string.h>

#include "cli/help.h"
#include "cli/options.h"

const cli_command *cli_find(const cli_command *const *commands, const char *name)
{
  for (size_t i = 0; commands[i]; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  return NULL;
}

/* "-n, --number N" into text. */
static void option_form(const cli_option *option, char *text, size_t size)
{
  char letter[8] = "";
  if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
  snprintf(text, size, "%s--%s%s%s", letter, option->name, option->value ? " " : "",
           option->value ? option->value : "");
}

/* The default of an option as text; NULL where there is none. */
static const char *standard_of(const cli_command *command, const cli_option *option, char *buffer,
                               size_t size)
{
  const idm_key *key = cli_key(command, option);
  cli_settings settings;
  if (!key) return option->standard;
  if (key->kind == IDM_KEY_FLAG) return NULL;
  command->defaults(&settings);
  return idm_key_text(key, &settings, buffer, size)[0] ? buffer : NULL;
}

void cli_print_help(FILE *out, const cli_command *command)
{
  fprintf(out, "idm %s %s\n\n%s.\n\n%s\n\nOptions:\n", command->name, command->arguments,
          command->summary, command->description);
  cli_option option;
  for (size_t i = 0; cli_option_at(command, i, &option); i++) {
    char form[80];
    char buffer[64];
    const char *standard = standard_of(command, &option, buffer, sizeof buffer);
    option_form(&option, form, sizeof form);
    fprintf(out, "  %-24s %s", form, option.help);
    if (standard) fprintf(out, " (default %s)", standard);
    fputc('\n', out);
  }
}

void cli_print_overview(FILE *out, const cli_command *const *commands)
{
  fprintf(out, "idm %s: from a log of decisions, how people decide.\n\nCommands:\n", idm_version());
  for (size_t i = 0; commands[i]; i++) {
    char form[80];
    snprintf(form, sizeof form, "%s %s", commands[i]->name, commands[i]->arguments);
    fprintf(out, "  %-28s %s\n", form, commands[i]->summary);
  }
  fprintf(out, "\n`idm help COMMAND` tells more. PROBLEM is a YAML file, a .POMDP file, or "
               "example:NAME.\nExit codes: 0 done, 1 not to be trusted, 2 usage, 3 bad input file, "
               "4 numerical failure, 5 system.\n");
}

/* Text for roff: a dot or quote at the head of a line and every backslash and hyphen need care. */
static void roff(FILE *out, const char *text)
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
  roff(out, name);
  fputs(" \\- ", out);
  roff(out, summary);
  fputs("\n.SH SYNOPSIS\n", out);
}

static void man_overview(FILE *out, const cli_command *const *commands)
{
  man_head(out, "IDM", "idm", "how people decide, from a log of decisions");
  fputs(".B idm\n.I COMMAND\n[options]\n.SH COMMANDS\n", out);
  for (size_t i = 0; commands[i]; i++) {
    fprintf(out, ".TP\n.B %s %s\n", commands[i]->name, commands[i]->arguments);
    roff(out, commands[i]->summary);
    fputc('\n', out);
  }
  fputs(".SH EXIT STATUS\n0 done, 1 the answer is not to be trusted, 2 usage, 3 bad input file, 4 "
        "numerical failure, 5 system.\n",
        out);
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
  roff(out, opt_command->description);
  fputs("\n.SH OPTIONS\n", out);
  cli_option option;
  for (size_t i = 0; cli_option_at(opt_command, i, &option); i++) {
    char form[80];
    char buffer[64];
    const char *standard = standard_of(opt_command, &option, buffer, sizeof buffer);
    option_form(&option, form, sizeof form);
    fputs(".TP\n.B ", out);
    roff(out, form);
    fputc('\n', out);
    roff(out, option.help);
    if (standard) {
      fputs(" (default ", out);
      roff(out, standard);
      fputc(')', out);
    }
    fputc('\n', out);
  }
  fputs(".SH SEE ALSO\n.BR idm (1)\n", out);
}
