/* The inverse planner `map`: the most probable free numbers, by L-BFGS from several starts. */
#include <math.h>

#include "base/memory.h"
#include "invert/fit.h"

/* The best of as many starts as there would be chains, each climbed to the end. */
static idm_status find_mode(const fit *f, double *mode, double *log_density, idm_error *opt_error)
{
  enum { most_steps = 1000 };
  const idm_target target = idm_matching_target(f->matching[0]);
  const size_t d = target.dimension;
  start *s = NULL;
  idm_status status = idm_start_create(d, &s, opt_error);
  *log_density = -INFINITY;
  for (size_t i = 0; i < f->settings->chains && status == IDM_OK; i++) {
    /* Every start is found by the one matching, with the random stream of its own. */
    fit one = *f;
    idm_fit_settings settings = *f->settings;
    settings.seed += i;
    one.settings = &settings;
    status = idm_start_find(&one, 0, s, opt_error);
    double reached = s->log_density;
    if (status == IDM_OK)
      status = idm_maximise(&target, 0, most_steps, s->mode, &reached, opt_error);
    if (status != IDM_OK || !(reached > *log_density)) continue;
    *log_density = reached;
    memcpy(mode, s->mode, d * sizeof *mode);
  }
  idm_start_destroy(s);
  return status;
}

static idm_status fit_map(const idm_problem *problem, const idm_data *data,
                          const idm_fit_settings *settings, const idm_fit_watch *opt_watch,
                          idm_posterior **ret_posterior, idm_notes *opt_notes, idm_error *opt_error)
{
  (void)opt_watch; /* it takes no time worth watching */
  *ret_posterior = NULL;
  fit f;
  idm_status status = idm_fit_open(&f, problem, data, settings, 1, opt_error);
  if (status != IDM_OK) return status;
  double *mode = idm_new(f.parameters->dimension, sizeof *mode);
  idm_statistics statistics = {
      .acceptance = NAN, .step_size = NAN, .energy = NAN, .tree_depth = -1, .evaluations = -1};
  status =
      mode ? find_mode(&f, mode, &statistics.log_density, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_posterior_create(&f, &idm_inverse_map, "l-bfgs", 1, 1, ret_posterior, opt_error);
  if (status == IDM_OK) {
    idm_posterior_put(&f, *ret_posterior, 0, 0, mode, &statistics);
    (*ret_posterior)->warmup = 0;
    status = idm_posterior_complete(&f, *ret_posterior, opt_notes, opt_error);
  }
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  free(mode);
  idm_fit_close(&f);
  return status;
}

const idm_inverse idm_inverse_map = {
    .name = "map",
    .summary = "soft policy matching: the most probable free numbers, by L-BFGS from many starts",
    .answer = IDM_POINT,
    .fit = fit_map,
};
