/* The inverse planner `stay` evaluates the numbers of the problem file and reports the mean
 * confidence of the decisions. */
#include "base/memory.h"
#include "invert/matching/fit.h"

extern const idm_inverse idm_inverse_stay; /* registered below */

/* The answer at y, as one draw of one chain. */
static idm_status answer(fit_context *f, double *y, idm_posterior **ret_posterior,
                         idm_notes *opt_notes, idm_error *opt_error)
{
  idm_statistics statistics = {.tree_depth = -1, .evaluations = 1};
  const idm_target target = idm_matching_target(f->matching[0]);
  idm_parameters_get(f->parameters, f->problem->theta, y);
  idm_status status = target.evaluate(target.context, y, &statistics.log_density, NULL, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_create(f, &idm_inverse_stay, "none", 1, 1, ret_posterior, opt_error);
  if (status != IDM_OK) return status;
  idm_posterior_store_draw(f, *ret_posterior, 0, 0, y, &statistics);
  return idm_posterior_complete(f, *ret_posterior, opt_notes, opt_error);
}

static idm_status fit_stay(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                           idm_error *opt_error)
{
  fit_context f;
  idm_status status =
      idm_fit_open(&f, call->inverse, call->problem, call->data, call->settings, 1, opt_error);
  if (status != IDM_OK) return status;
  double *y = idm_new(idm_parameters_dimension(f.parameters), sizeof *y);
  status =
      y ? answer(&f, y, ret_posterior, call->opt_notes, opt_error) : idm_fail_memory(opt_error);
  double sum = 0;
  for (size_t i = 0; i < call->data->rows; i++) sum += call->data->number[IDM_COLUMN_CONFIDENCE][i];
  idm_notes_add(call->opt_notes, "mean confidence %g", sum / (double)call->data->rows);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  free(y);
  idm_fit_close(&f);
  return status;
}

static const char *const settings[] = {"log_likelihood", "prior_draws", NULL};

const idm_inverse idm_inverse_stay = {.size = sizeof(idm_inverse),
                                      .name = "stay",
                                      .summary = "the numbers of the problem file",
                                      .row = "(beyond the table)",
                                      .answer = IDM_POINT,
                                      .columns = 1u << IDM_COLUMN_CONFIDENCE,
                                      .settings = settings,
                                      .fit = fit_stay};
