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

idm_status cli_read_run(cli_call *call, const char *run, idm_problem **opt_problem,
                        idm_request *opt_request, idm_posterior **opt_posterior)
{
  if (!cli_is_run(run))
    return idm_fail(&call->error, IDM_INPUT,
                    "'%s' is no run; expected the folder that `idm fit -o` made", run);
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
  if (status != IDM_OK && opt_problem) {
    idm_problem_destroy(*opt_problem);
    *opt_problem = NULL;
  }
  return status;
}

/* "1/beta" for a person, where files say inverse_beta. */
static const char *shown_name(const char *name, char *buffer, size_t size)
{
  static const char prefix[] = "inverse_";
  if (strncmp(name, prefix, strlen(prefix)) != 0) return name;
  snprintf(buffer, size, "1/%s", name + strlen(prefix));
  return buffer;
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
                shown_name(posterior->quantity.name[i], buffer, sizeof buffer),
                posterior->value[i * posterior->chains * posterior->draws]);
    return;
  }
  fprintf(out, "%-*s %10s %10s %10s %10s %10s %10s %9s %9s %6s\n", width, "", "mean", "sd", "mcse",
          "5%", "50%", "95%", "ess_bulk", "ess_tail", "r_hat");
  for (size_t i = 0; i < posterior->quantity.count; i++) {
    const idm_diagnosis *d = &assessment->diagnosis[i];
    if (!posterior->summarised[i]) continue;
    fprintf(out, "%-*s %10.4g %10.3g %10.2g %10.4g %10.4g %10.4g %9.0f %9.0f %6.3f\n", width,
            shown_name(posterior->quantity.name[i], buffer, sizeof buffer), d->mean, d->sd,
            d->mcse_mean, d->q05, d->q50, d->q95, d->ess_bulk, d->ess_tail, d->rhat);
  }
}

void cli_print_verdict(FILE *out, const idm_assessment *assessment)
{
  for (size_t i = 0; i < assessment->failures.count; i++)
    fprintf(out, "FAILS: %s.\n", assessment->failures.text[i]);
  for (size_t i = 0; i < assessment->remarks.count; i++)
    fprintf(out, "- %s.\n", assessment->remarks.text[i]);
  fprintf(out, "verdict: %s\n",
          assessment->trusted ? "the draws can be trusted"
                              : "not to be trusted yet; see what fails above");
}
