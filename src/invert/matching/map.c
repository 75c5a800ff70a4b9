/* The inverse planner `map`: the most probable free numbers, by L-BFGS from several starts. */
#include <math.h>

#include "invert/matching/assemble.h"
#include "invert/matching/halt.h"
#include "invert/matching/start.h"

extern const idm_inverse idm_inverse_map; /* registered below */

static idm_status fit_map(const idm_fit_call *call, idm_posterior **ret_posterior,
                          idm_error *opt_error)
{
  fit f;
  idm_halt halt;
  idm_halt_begin(&halt, call->opt_watch, "looking for the mode");
  idm_status status = idm_fit_open_halted(&f, call->inverse, call->problem, call->data,
                                          call->settings, 1, &halt, opt_error);
  if (status != IDM_OK) return status;
  start *best = NULL;
  idm_statistics statistics = {
      .acceptance = NAN, .step_size = NAN, .energy = NAN, .tree_depth = -1, .evaluations = -1};
  status = idm_start_create(f.parameters->dimension, &best, opt_error);
  if (status == IDM_OK) status = idm_start_best(&f, best, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_create(&f, call->inverse, "l-bfgs", 1, 1, ret_posterior, opt_error);
  if (status == IDM_OK) {
    statistics.log_density = best->log_density;
    idm_posterior_put(&f, *ret_posterior, 0, 0, best->mode, &statistics);
    (*ret_posterior)->warmup = 0;
    status = idm_posterior_complete(&f, *ret_posterior, call->opt_notes, opt_error);
  }
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  idm_start_destroy(best);
  idm_fit_close(&f);
  return status;
}

static const char *const settings[] = {"chains", "seed", "log_likelihood", "prior_draws", NULL};

const idm_inverse idm_inverse_map = {
    .name = "map",
    .summary = "soft policy matching: the most probable free numbers, by L-BFGS from many starts",
    .answer = IDM_POINT,
    .opaque = true,
    .row = "Soft policy matching",
    .settings = settings,
    .fit = fit_map,
};
