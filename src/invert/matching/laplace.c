/* The inverse planner `laplace`: draws from the normal approximation at the mode. Quick, and says
 * by importance weights how far it is from the posterior. */
#include <math.h>

#include "base/dense.h"
#include "base/log_sum.h"
#include "base/memory.h"
#include "idm/check.h"
#include "idm/laplace.h"
#include "invert/matching/assemble.h"
#include "invert/matching/halt.h"
#include "invert/matching/matching.h"
#include "invert/matching/start.h"
#include "invert/posterior.h"

extern const idm_inverse idm_inverse_laplace; /* registered below */

/* Sums of the importance weights of the draws and of their squares. */
typedef struct weighing {
  idm_log_sum first;
  idm_log_sum square;
  double count;
} weighing;

static void weigh(weighing *w, double log_weight)
{
  w->count++;
  if (isnan(log_weight)) return;
  idm_log_sum_add(&w->first, log_weight);
  idm_log_sum_add(&w->square, 2 * log_weight);
}

/* (sum w)^2 / sum w^2 over the number of draws; 0 if no draw has a weight. */
static double effective_share(const weighing *w)
{
  const double square = idm_log_sum_value(w->square);
  return square > -INFINITY ? exp(2 * idm_log_sum_value(w->first) - square) / w->count : 0;
}

/* The best mode of all starts, with the covariance there. */
static idm_status find_peak(const fit *f, start *best, idm_error *opt_error)
{
  idm_status status = idm_start_best(f, best, opt_error);
  const idm_target target = idm_matching_target(f->matching[0]);
  if (status == IDM_OK)
    status = idm_laplace(&target, best->mode, best->covariance, NULL, &best->definite, opt_error);
  /* The other matchings are for the log-likelihoods of their chains. */
  for (size_t i = 1; i < f->matchings && status == IDM_OK; i++)
    status = idm_matching_anchor(f->matching[i], best->mode, opt_error);
  if (status == IDM_OK && !best->definite)
    status = idm_fail(opt_error, IDM_NUMERICAL,
                      "the highest point found is no peak: the posterior has no normal "
                      "approximation; use --inverse bayes");
  return status;
}

/* Independent normal draws, chain by chain from streams of their own. */
static idm_status draw(const fit *f, const start *peak, const double *factor, double *y,
                       idm_posterior *p, weighing *w, idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[0]);
  const size_t d = target.dimension;
  for (size_t c = 0; c < p->chains; c++) {
    idm_random random;
    idm_random_init(&random, f->key, c);
    for (size_t i = 0; i < p->draws; i++) {
      idm_statistics s = {
          .acceptance = NAN, .step_size = NAN, .energy = NAN, .tree_depth = -1, .evaluations = 1};
      double square = 0;
      for (size_t k = 0; k < d; k++) {
        y[k] = idm_random_normal(&random);
        square += y[k] * y[k];
      }
      idm_lower_multiply(d, factor, y);
      for (size_t k = 0; k < d; k++) y[k] += peak->mode[k];
      const idm_status status = target.evaluate(target.context, y, &s.log_density, NULL, opt_error);
      if (status != IDM_OK) return status;
      weigh(w, s.log_density - peak->log_density + 0.5 * square);
      idm_posterior_put(f, p, c, i, y, &s);
    }
  }
  return IDM_OK;
}

static idm_status draw_all(const fit *f, const start *peak, idm_posterior *p, idm_notes *opt_notes,
                           idm_error *opt_error)
{
  const size_t d = f->parameters->dimension;
  weighing w = {idm_log_sum_empty, idm_log_sum_empty, 0};
  double *y = idm_new(d, sizeof *y);
  double *factor = idm_duplicate(peak->covariance, d * d, sizeof *factor);
  idm_status status = y && factor && idm_cholesky(d, factor) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = draw(f, peak, factor, y, p, &w, opt_error);
  const double share = effective_share(&w);
  if (status == IDM_OK)
    idm_notes_add(opt_notes,
                  "the draws are of a normal approximation at the mode; weighed by the posterior "
                  "%.0f %% of them are effective%s",
                  100 * share,
                  share < idm_check_threshold(IDM_CHECK_APPROXIMATION) ? ": use --inverse bayes"
                                                                       : "");
  free(factor);
  free(y);
  return status;
}

static idm_status fit_laplace(const idm_fit_call *call, idm_posterior **ret_posterior,
                              idm_error *opt_error)
{
  fit f;
  start *peak = NULL;
  idm_halt halt;
  idm_halt_begin(&halt, call->opt_watch, "looking for the mode");
  idm_status status = idm_fit_check_size(call->data, call->settings, opt_error);
  if (status == IDM_OK)
    status = idm_fit_open_halted(&f, call->inverse, call->problem, call->data, call->settings,
                                 call->settings->chains, &halt, opt_error);
  if (status != IDM_OK) return status;
  status = idm_start_create(f.parameters->dimension, &peak, opt_error);
  if (status == IDM_OK) status = find_peak(&f, peak, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_create(&f, call->inverse, "normal", call->settings->chains,
                                  (size_t)call->settings->draws, ret_posterior, opt_error);
  if (status == IDM_OK) {
    (*ret_posterior)->warmup = 0;
    status = draw_all(&f, peak, *ret_posterior, call->opt_notes, opt_error);
  }
  if (status == IDM_OK)
    status = idm_posterior_complete(&f, *ret_posterior, call->opt_notes, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  idm_start_destroy(peak);
  idm_fit_close(&f);
  return status;
}

static const char *const settings[] = {"chains",         "draws",       "seed",
                                       "log_likelihood", "prior_draws", NULL};

const idm_inverse idm_inverse_laplace = {
    .name = "laplace",
    .summary = "soft policy matching: draws from the normal approximation at the mode",
    .answer = IDM_POSTERIOR,
    .row = "Soft policy matching",
    .normal = true,
    .settings = settings,
    .fit = fit_laplace,
};
