/* What commands do with a run: reading it, printing its table and its verdict. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

bool cli_is_run(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

char *cli_run_path(const char *run, const char *file)
{
  const size_t size = strlen(run) + strlen(file) + 2;
  char *path = malloc(size);
  if (path) snprintf(path, size, "%s/%s", run, file);
  return path;
}

bool cli_has_file(const char *run, const char *file)
{
  struct stat info;
  char *path = cli_run_path(run, file);
  const bool there = path && stat(path, &info) == 0;
  free(path);
  return there;
}

static idm_status read_config(cli_call *call, const char *run, idm_problem **ret_problem,
                              idm_request *request)
{
  char *path = cli_run_path(run, "config.yaml");
  if (!path) return idm_fail_memory(&call->error);
  idm_status status = idm_request_read(path, ret_problem, request, &call->notes, &call->error);
  free(path);
  if (status == IDM_OK) {
    status = idm_problem_validate(*ret_problem, &call->error);
    if (status != IDM_OK) {
      idm_problem_destroy(*ret_problem);
      *ret_problem = NULL;
    }
  }
  return status;
}

/* A fit that was stopped early has no run.nc yet. (A campaign of `idm recover` never has.) */
static bool is_unfinished(const char *run)
{
  return !cli_has_file(run, "run.nc") && !cli_has_file(run, "replications.jsonl") &&
         (cli_has_file(run, "config.yaml") || cli_has_file(run, "checkpoint"));
}

/* A config.yaml that was changed after the fit would lend its numbers to draws of another request.
 */
static idm_status check_label(cli_call *call, const char *run, const idm_problem *problem,
                              const idm_request *request, const idm_posterior *posterior)
{
  if (!posterior->request || idm_request_label(problem, request) == posterior->request)
    return IDM_OK;
  return idm_fail(
      &call->error, IDM_INPUT,
      "'%s/run.nc' and '%s/config.yaml' do not belong together: config.yaml was changed "
      "after the fit, or one of them comes from another run",
      run, run);
}

idm_status cli_read_run(cli_call *call, const char *run, idm_problem **opt_problem,
                        idm_request *opt_request, idm_posterior **opt_posterior)
{
  if (!cli_is_run(run))
    return idm_fail(&call->error, IDM_INPUT,
                    "'%s' is no run; expected the folder that `idm fit -o` made", run);
  if (opt_posterior) *opt_posterior = NULL;
  if (opt_posterior && is_unfinished(run))
    return idm_fail(&call->error, IDM_INPUT,
                    "the run in '%s' is not finished: `idm fit --resume -o %s` goes on", run, run);
  idm_status status = IDM_OK;
  idm_request request;
  idm_request_default(&request);
  if (opt_problem) status = read_config(call, run, opt_problem, &request);
  if (status == IDM_OK && opt_request) *opt_request = request;
  if (status != IDM_OK || !opt_posterior) return status;
  char *path = cli_run_path(run, "run.nc");
  status = path ? idm_posterior_read_netcdf(path, opt_posterior, &call->error)
                : idm_fail_memory(&call->error);
  free(path);
  if (status == IDM_OK && opt_problem)
    status = check_label(call, run, *opt_problem, &request, *opt_posterior);
  if (status != IDM_OK) {
    idm_posterior_destroy(*opt_posterior);
    *opt_posterior = NULL;
  }
  if (status != IDM_OK && opt_problem) {
    idm_problem_destroy(*opt_problem);
    *opt_problem = NULL;
  }
  return status;
}

void cli_print_posterior(FILE *out, const idm_posterior *posterior,
                         const idm_assessment *assessment)
{
  char buffer[256];
  int width = 12;
  for (size_t i = 0; i < posterior->quantity.count; i++) {
    const int length = (int)strlen(posterior->quantity.name[i]);
    if (posterior->summarised[i] && length > width) width = length < 60 ? length : 60;
  }
  if (posterior->answer == IDM_POINT) {
    fprintf(out, "%-*s %12s\n", width, "", "value");
    for (size_t i = 0; i < posterior->quantity.count; i++)
      if (posterior->summarised[i])
        fprintf(out, "%-*s %12.6g\n", width,
                idm_quantity_spoken(posterior->quantity.name[i], buffer, sizeof buffer),
                posterior->value[i * posterior->chains * posterior->draws]);
    return;
  }
  fprintf(out, "%-*s %10s %10s %10s %10s %10s %10s %9s %9s %6s\n", width, "", "mean", "sd", "mcse",
          "5%", "50%", "95%", "ess_bulk", "ess_tail", "r_hat");
  for (size_t i = 0; i < posterior->quantity.count; i++) {
    const idm_diagnosis *d = &assessment->diagnosis[i];
    if (!posterior->summarised[i]) continue;
    fprintf(out, "%-*s %10.4g %10.3g %10.2g %10.4g %10.4g %10.4g %9.0f %9.0f %6.3f\n", width,
            idm_quantity_spoken(posterior->quantity.name[i], buffer, sizeof buffer), d->mean, d->sd,
            d->mcse_mean, d->q05, d->q50, d->q95, d->ess_bulk, d->ess_tail, d->rhat);
  }
}

/* A sentence over as many lines as it takes, indented after the first. */
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
  for (size_t i = 0; i < assessment->remarks.count; i++)
    print_wrapped(out, "- ", assessment->remarks.text[i]);
  fprintf(out, "verdict: %s\n",
          assessment->answer == IDM_POINT ? "a point: nothing here says how sure it is"
          : assessment->trusted           ? "the draws can be trusted"
                                          : "not to be trusted yet; see what fails above");
}
