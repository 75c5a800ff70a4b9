/* Output of the results of a run, as tables or as a report page.
 *
 * Contents: posterior · page */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "idm/figure.h"
#include "io/run/folder.h"

/* === posterior ============================================================================== */

/* Table and verdict of a run. */

/* A run with its verdict. */
typedef struct run_result {
  idm_posterior *posterior;
  idm_assessment *assessment;
} run_result;

/* Print a key of the JSON object of several runs, or a heading. */
static idm_status print_name(cli_call *call, int index)
{
  const char *run = call->argument[index];
  if (!cli_given(call, "json")) {
    printf("%s%s:\n", index ? "\n" : "", run);
    return IDM_OK;
  }
  char *text = idm_json_dump(idm_json_text(run), JSON_ENCODE_ANY);
  if (!text) return idm_fail_memory(&call->error);
  printf("%s%s: ", index ? ", " : "{", text);
  free(text);
  return IDM_OK;
}

static idm_status print_runs(cli_call *call, cli_run_printer print, const run_result *found)
{
  const bool several = call->arguments > 1;
  idm_status status = IDM_OK;
  for (int i = 0; i < call->arguments && status == IDM_OK; i++) {
    if (several) status = print_name(call, i);
    if (status == IDM_OK) status = print(call, found[i].posterior, found[i].assessment);
  }
  if (several && status == IDM_OK && cli_given(call, "json")) puts("}");
  return status;
}

/* True if the run is trusted and every applicable check was run. */
static bool is_fully_checked(const idm_assessment *a)
{
  return a->trusted && !idm_checks_left_out(&a->checks);
}

idm_status cli_each_run(cli_call *call, cli_run_printer print, int *opt_untrusted)
{
  run_result *found = calloc((size_t)call->arguments, sizeof *found);
  idm_status status = found ? IDM_OK : idm_fail_memory(&call->error);
  int untrusted = 0;
  for (int i = 0; i < call->arguments && status == IDM_OK; i++) {
    const char *run = call->argument[i];
    for (int j = 0; j < i && status == IDM_OK; j++)
      if (strcmp(run, call->argument[j]) == 0)
        status = idm_fail(&call->error, IDM_USAGE, "the run '%s' is named twice", run);
    if (status == IDM_OK)
      status = idm_run_read(run, NULL, NULL, &found[i].posterior, &call->notes, &call->error);
    if (status == IDM_OK)
      status = idm_run_assess(run, found[i].posterior, &found[i].assessment, &call->error);
    untrusted += status == IDM_OK && !is_fully_checked(found[i].assessment);
  }
  if (status == IDM_OK) status = print_runs(call, print, found);
  for (int i = 0; found && i < call->arguments; i++) {
    idm_assessment_destroy(found[i].assessment);
    idm_posterior_destroy(found[i].posterior);
  }
  free(found);
  if (opt_untrusted) *opt_untrusted = untrusted;
  return status;
}

/* Posterior contraction of a quantity relative to its prior; "-" if unknown. */
static const char *contraction_of(const idm_assessment *a, size_t quantity, char *buffer,
                                  size_t size)
{
  snprintf(buffer, size, "-");
  for (size_t i = 0; i < a->parameters; i++)
    if (a->parameter[i].quantity == quantity && a->parameter[i].contraction > -10)
      snprintf(buffer, size, "%.2f", a->parameter[i].contraction);
  return buffer;
}

/* Point estimates, with their ranges for a set-valued answer. */
static void print_point(FILE *out, const idm_posterior *p, const idm_optimality *opt_optimality,
                        int width)
{
  const double *range = opt_optimality ? opt_optimality->range : NULL;
  char buffer[256];
  fprintf(out, "%-*s %12s%s\n", width, "", "value", range ? "    from ... to" : "");
  for (size_t i = 0; i < p->quantity.count; i++) {
    if (!p->summarised[i]) continue;
    cli_print_left(out, width, idm_quantity_label(p->quantity.name[i], buffer, sizeof buffer));
    fprintf(out, " %12.6g", p->value[i * p->chains * p->draws]);
    if (range && i < opt_optimality->free)
      fprintf(out, "    %.6g%s ... %.6g%s", range[2 * i], opt_optimality->at_box[2 * i] ? "*" : "",
              range[2 * i + 1], opt_optimality->at_box[2 * i + 1] ? "*" : "");
    fprintf(out, "\n");
  }
  if (range) fprintf(out, "* end of the box constraint, not determined by the data\n");
  if (opt_optimality)
    fprintf(out, "\nobjective %.8g, %s %.3g (closed at %.3g)\n", opt_optimality->objective,
            opt_optimality->certificate, opt_optimality->attained, opt_optimality->closed);
}

void cli_print_posterior(const cli_call *opt_call, FILE *out, const idm_posterior *posterior,
                         const idm_assessment *assessment)
{
  enum { columns = 16 };
  const size_t all = posterior->chains * posterior->draws;
  char buffer[256];
  char reserved_width[32];
  char sparkline[CLI_SPARKLINE];
  char last[32 + CLI_SPARKLINE];
  int width = 12;
  for (size_t i = 0; i < posterior->quantity.count; i++) {
    const int length = cli_width(posterior->quantity.name[i]);
    if (posterior->summarised[i] && length > width) width = length < 60 ? length : 60;
  }
  if (assessment->people) {
    cli_print_people(out, posterior, assessment, SIZE_MAX);
    return;
  }
  if (posterior->answer != IDM_POSTERIOR) {
    print_point(out, posterior, assessment->optimality, width);
    return;
  }
  cli_print_quantity_heading(out, width, "contr.");
  for (size_t i = 0; i < posterior->quantity.count; i++) {
    const idm_diagnosis *d = &assessment->diagnosis[i];
    if (!posterior->summarised[i]) continue;
    snprintf(last, sizeof last, "%6s%s%s",
             contraction_of(assessment, i, reserved_width, sizeof reserved_width),
             cli_is_graphical(opt_call) ? "  " : "",
             cli_is_graphical(opt_call)
                 ? cli_histogram(posterior->value + i * all, all, columns, sparkline)
                 : "");
    cli_print_quantity(out, width,
                       idm_quantity_label(posterior->quantity.name[i], buffer, sizeof buffer), d,
                       last);
  }
}

/* Print a sentence with line wrapping; continuation lines are indented. */
static void print_wrapped(FILE *out, const char *head, const char *text)
{
  enum { width = 118 };
  int column = fprintf(out, "%s", head);
  bool first = true;
  for (const char *word = text; *word; first = false) {
    const int length = (int)strcspn(word, " ");
    if (!first && column + 1 + length > width)
      column = fprintf(out, "\n  ") - 1;
    else if (!first)
      column += fprintf(out, " ");
    column += fprintf(out, "%.*s", length, word);
    word += length + (word[length] == ' ');
  }
  fprintf(out, ".\n");
}

void cli_print_verdict(FILE *out, const idm_assessment *assessment)
{
  for (size_t i = 0; i < assessment->failures.count; i++)
    print_wrapped(out, "FAILS: ", assessment->failures.text[i]);
  for (size_t i = 0; i < assessment->misfits.count; i++)
    print_wrapped(out, "MODEL: ", assessment->misfits.text[i]);
  for (size_t i = 0; i < assessment->remarks.count; i++)
    print_wrapped(out, "- ", assessment->remarks.text[i]);
  cli_print_verdict_line(out, assessment);
}

void cli_print_verdict_line(FILE *out, const idm_assessment *assessment)
{
  const char *see = idm_assessment_section(assessment);
  const bool open = idm_checks_left_out(&assessment->checks);
  fprintf(out, "verdict: %s%s%s%s%s\n",
          cli_colour(!assessment->trusted ? CLI_NEGATIVE_COLOUR
                     : open               ? CLI_DEFAULT_COLOUR
                                          : CLI_POSITIVE_COLOUR),
          idm_assessment_verdict(assessment), *see ? "; " : "", see,
          cli_colour(CLI_DEFAULT_COLOUR));
}

/* === page =================================================================================== */

/* Report page of a run, for `idm report` and, if it is missing, `idm fit --resume`. */

const char *cli_page_path(const char *folder, char path[CLI_PAGE_PATH])
{
  snprintf(path, CLI_PAGE_PATH, "%s/%s", folder, IDM_FILE_REPORT);
  return path;
}

idm_status cli_write_page(cli_call *call, const char *folder, const char *path)
{
  return idm_report(folder, path, &call->notes, &call->error);
}
