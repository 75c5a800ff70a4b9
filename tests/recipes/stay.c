/* The inverse planner `stay`: the numbers of the problem file, and how sure the decisions were. */
#include "base/memory.h"
#include "invert/matching/assemble.h"

extern const idm_inverse idm_inverse_stay; /* registered below */

/* The answer at y: one draw of one chain. */
static idm_status answer(fit *f, double *y, idm_posterior **ret_posterior, idm_notes *opt_notes,
                         idm_error *opt_error)
{
  idm_statistics statistics = {.tree_depth = -1, .evaluations = 1};
  const idm_target target = idm_matching_target(f->matching[0]);
  idm_parameters_get(f->parameters, f->problem->theta, y);
  idm_status status = target.evaluate(target.context, y, &statistics.log_density, NULL, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_create(f, &idm_inverse_stay, "none", 1, 1, ret_posterior, opt_error);
  if (status != IDM_OK) return status;
  idm_posterior_put(f, *ret_posterior, 0, 0, y, &statistics);
  return idm_posterior_complete(f, *ret_posterior, opt_notes, opt_error);
}

static idm_status fit_stay(const idm_problem *problem, const idm_data *data,
                           const idm_fit_settings *settings, const idm_fit_watch *opt_watch,
                           idm_posterior **ret_posterior, idm_notes *opt_notes,
                           idm_error *opt_error)
{
  (void)opt_watch;
  *ret_posterior = NULL;
  fit f;
  idm_status status = idm_fit_open(&f, &idm_inverse_stay, problem, data, settings, 1, opt_error);
  if (status != IDM_OK) return status;
  double *y = idm_new(idm_parameters_dimension(f.parameters), sizeof *y);
  status = y ? answer(&f, y, ret_posterior, opt_notes, opt_error) : idm_fail_memory(opt_error);
  double sum = 0;
  for (size_t i = 0; i < data->rows; i++) sum += data->number[IDM_COLUMN_CONFIDENCE][i];
  idm_notes_add(opt_notes, "mean confidence %g", sum / (double)data->rows);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  free(y);
  idm_fit_close(&f);
  return status;
}

static const char *const settings[] = {"log_likelihood", "prior_draws", NULL};

const idm_inverse idm_inverse_stay = {.name = "stay",
                                      .summary = "the numbers of the problem file",
                                      .row = "(beyond the table)",
                                      .answer = IDM_POINT,
                                      .columns = 1u << IDM_COLUMN_CONFIDENCE,
                                      .settings = settings,
                                      .fit = fit_stay};
