/* Random-effects model selection: variational posterior of the frequencies of models among people
 * (Stephan, Penny, Daunizeau, Moran and Friston 2009), exceedance probabilities, and the Bayesian
 * omnibus risk (Rigoux, Stephan, Friston and Daunizeau 2014). See docs/method/comparison.md, 4.
 *
 * Contents: exceedance · frequencies · omnibus risk */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "infer/comparison.h"
#include "infer/distribution.h"

/* --- exceedance ------------------------------------------------------------------------------ */

/* Dirichlet numbers are gamma variables over their sum: P(number k is the largest) is the integral
 * over t = log x of the density of the logarithm of variable k times the probabilities F_j(x) that
 * the others are smaller. The integrands are analytic and vanish at both ends, where the
 * trapezoidal rule converges geometrically. They sum to the derivative of prod_j F_j. */

typedef struct exceedance_work {
  size_t models;
  const double *count;
  double *below; /* [models + 1]: products of the F_j before k */
  double *sum;   /* [models] of integrands */
} exceedance_work;

/* prod_j F_j at x = e^t. */
static double all_below(const exceedance_work *w, double t)
{
  double product = 1;
  for (size_t k = 0; k < w->models; k++) product *= idm_gamma_probability(w->count[k], exp(t));
  return product;
}

/* Add the integrands at t, times a factor. */
static void add_integrands(exceedance_work *w, double t, double factor)
{
  const double x = exp(t);
  double above = 1;
  w->below[0] = 1;
  for (size_t k = 0; k < w->models; k++)
    w->below[k + 1] = w->below[k] * idm_gamma_probability(w->count[k], x);
  for (size_t k = w->models; k-- > 0;) {
    w->sum[k] += factor * idm_gamma_density_of_log(w->count[k], x) * w->below[k] * above;
    above *= idm_gamma_probability(w->count[k], x);
  }
}

/* The t in [low, high] at which all_below passes a probability. */
static double quantile_of_largest(const exceedance_work *w, double low, double high,
                                  double probability)
{
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (low + high);
    if (all_below(w, middle) < probability)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Trapezoidal rule on [low, high] with 64, 128, ... panels until no value changes by more than the
 * tolerance. */
static bool integrate(exceedance_work *w, double low, double high, double *integral)
{
  enum { first_panels = 64, max_panels = 1 << 20 };
  static const double tolerance = 1e-10;
  for (size_t k = 0; k < w->models; k++) w->sum[k] = integral[k] = 0;
  add_integrands(w, low, 0.5);
  add_integrands(w, high, 0.5);
  for (size_t i = 1; i < first_panels; i++)
    add_integrands(w, low + (high - low) * (double)i / first_panels, 1);
  for (size_t panels = first_panels; panels <= max_panels; panels *= 2) {
    const double width = (high - low) / (double)panels;
    double change = 0;
    for (size_t k = 0; k < w->models; k++) {
      change = fmax(change, fabs(w->sum[k] * width - integral[k]));
      integral[k] = w->sum[k] * width;
    }
    if (panels > first_panels && change < tolerance) return true;
    for (size_t i = 0; i < panels; i++) add_integrands(w, low + ((double)i + 0.5) * width, 1);
  }
  return false;
}

/* Below `low`, if all counts are small, the integrands are proportional to the counts. */
static bool exceed(exceedance_work *w, double *exceedance)
{
  static const double tail = 1e-13;
  double largest = 0, total = 0;
  for (size_t k = 0; k < w->models; k++) {
    largest = fmax(largest, w->count[k]);
    total += w->count[k];
  }
  const double bottom = -700, top = log(largest + 12 * sqrt(largest) + 60);
  const double low = quantile_of_largest(w, bottom, top, tail);
  const double high = quantile_of_largest(w, bottom, top, 1 - tail);
  const bool converged = integrate(w, low, high, exceedance);
  const double rest = all_below(w, low);
  for (size_t k = 0; k < w->models; k++) exceedance[k] += rest * w->count[k] / total;
  return converged;
}

idm_status idm_dirichlet_exceedance(const double *count, size_t models, double *exceedance,
                                    idm_error *opt_error)
{
  if (!models) return idm_fail(opt_error, IDM_USAGE, "there is no model to compare");
  for (size_t k = 0; k < models; k++)
    if (!(count[k] > 0 && isfinite(count[k])))
      return idm_fail(opt_error, IDM_INPUT,
                      "the Dirichlet count of model %zu is %g; expected a positive number", k + 1,
                      count[k]);
  double *scratch = idm_new(2 * models + 1, sizeof *scratch);
  if (!scratch) return idm_fail_memory(opt_error);
  exceedance_work work = {models, count, scratch, scratch + models + 1};
  const bool converged = exceed(&work, exceedance);
  free(scratch);
  return converged ? IDM_OK
                   : idm_fail(opt_error, IDM_NUMERICAL,
                              "the quadrature of the exceedance probabilities did not converge");
}

/* --- frequencies ----------------------------------------------------------------------------- */

typedef struct selection_work {
  const double *log_evidence; /* [person][model] */
  size_t people;
  size_t models;
  double prior_count;
  double *next;      /* [models]: counts that follow from the current ones */
  double *candidate; /* [models] */
  double *share;     /* [models] of one person */
  double *bonus;     /* [models]: expected logarithms of the frequencies */
  double *scale;     /* [models] */
  double *jacobian;  /* [models][models] */
} selection_work;

/* Expected logarithms of the frequencies under counts. */
static void expect_logs(selection_work *w, const double *count)
{
  double total = 0;
  for (size_t k = 0; k < w->models; k++) total += count[k];
  for (size_t k = 0; k < w->models; k++) w->bonus[k] = idm_digamma(count[k]) - idm_digamma(total);
}

/* Posterior probabilities of the models of one person, into w->share; returns the logarithm of
 * their normalising constant. */
static double share_person(selection_work *w, size_t person)
{
  const double *row = w->log_evidence + person * w->models;
  for (size_t k = 0; k < w->models; k++) w->share[k] = row[k] + w->bonus[k];
  return idm_softmax(w->share, w->models, w->share);
}

/* Counts that follow from `count`, into w->next: prior counts and expected numbers of people.
 * Returns the largest difference. */
static double update(selection_work *w, const double *count)
{
  double change = 0;
  expect_logs(w, count);
  for (size_t k = 0; k < w->models; k++) w->next[k] = w->prior_count;
  for (size_t i = 0; i < w->people; i++) {
    share_person(w, i);
    for (size_t k = 0; k < w->models; k++) w->next[k] += w->share[k];
  }
  for (size_t k = 0; k < w->models; k++) change = fmax(change, fabs(w->next[k] - count[k]));
  return change;
}

/* I - D A D, D^2 the derivatives of digamma and A the sum of the covariances of the shares: the
 * Jacobian of count - next, made symmetric by the scales D. */
static void differentiate(selection_work *w, const double *count)
{
  const size_t models = w->models;
  expect_logs(w, count);
  for (size_t k = 0; k < models; k++) w->scale[k] = sqrt(idm_trigamma(count[k]));
  for (size_t k = 0; k < models * models; k++) w->jacobian[k] = k % (models + 1) == 0;
  for (size_t i = 0; i < w->people; i++) {
    share_person(w, i);
    for (size_t k = 0; k < models; k++)
      for (size_t j = 0; j < models; j++)
        w->jacobian[k * models + j] -=
            w->scale[k] * w->scale[j] * w->share[k] * ((j == k) - w->share[j]);
  }
}

/* Newton candidate from `count`, whose next counts are w->next. False near a fixed point that is
 * not stable, or if a count would not be positive. */
static bool find_candidate(selection_work *w, const double *count)
{
  differentiate(w, count);
  if (!idm_cholesky(w->models, w->jacobian)) return false;
  for (size_t k = 0; k < w->models; k++) w->candidate[k] = w->scale[k] * (w->next[k] - count[k]);
  idm_lower_solve(w->models, w->jacobian, w->candidate);
  idm_lower_solve_transposed(w->models, w->jacobian, w->candidate);
  for (size_t k = 0; k < w->models; k++) {
    w->candidate[k] = count[k] + w->candidate[k] / w->scale[k];
    if (!(w->candidate[k] > 0)) return false;
  }
  return true;
}

/* Fixed-point iteration, each step of which increases the variational bound, with Newton steps
 * where they reduce the residual to a quarter. Returns whether the counts converged. */
static bool find_counts(selection_work *w, double *count, int *iterations)
{
  enum { plain_iterations = 16, max_iterations = 10000 };
  static const double tolerance = 1e-10;
  for (size_t k = 0; k < w->models; k++) count[k] = w->prior_count;
  double change = update(w, count);
  for (*iterations = 1; *iterations < max_iterations && change > tolerance; ++*iterations) {
    memcpy(count, w->next, w->models * sizeof *count);
    change = update(w, count);
    if (*iterations < plain_iterations || !find_candidate(w, count)) continue;
    if (update(w, w->candidate) < change / 4)
      memcpy(count, w->candidate, w->models * sizeof *count);
    change = update(w, count);
  }
  return change <= tolerance;
}

/* --- omnibus risk ---------------------------------------------------------------------------- */

/* Log evidence of equal frequencies. */
static double log_evidence_equal(selection_work *w)
{
  double sum = 0;
  for (size_t k = 0; k < w->models; k++) w->bonus[k] = -log((double)w->models);
  for (size_t i = 0; i < w->people; i++) sum += share_person(w, i);
  return sum;
}

/* Bound on the log evidence of frequencies with the Dirichlet prior, at the posterior counts. */
static double log_evidence_bound(selection_work *w, const double *count)
{
  const double models = (double)w->models;
  double sum = idm_log_gamma(models * w->prior_count) - models * idm_log_gamma(w->prior_count);
  double total = 0;
  expect_logs(w, count);
  for (size_t i = 0; i < w->people; i++) sum += share_person(w, i);
  for (size_t k = 0; k < w->models; k++) {
    total += count[k];
    sum += idm_log_gamma(count[k]) - (count[k] - w->prior_count) * w->bonus[k];
  }
  return sum - idm_log_gamma(total);
}

static idm_status check_evidence(const selection_work *w, idm_error *opt_error)
{
  if (!w->people || !w->models)
    return idm_fail(opt_error, IDM_USAGE, "there is no person or no model to select");
  if (!(w->prior_count > 0 && isfinite(w->prior_count)))
    return idm_fail(opt_error, IDM_USAGE, "the prior count is %g; expected a positive number",
                    w->prior_count);
  for (size_t i = 0; i < w->people; i++) {
    double largest = -INFINITY;
    for (size_t k = 0; k < w->models; k++) {
      const double value = w->log_evidence[i * w->models + k];
      if (!(value < INFINITY))
        return idm_fail(opt_error, IDM_INPUT,
                        "the log evidence of model %zu for person %zu is %g; expected a number "
                        "below infinity",
                        k + 1, i + 1, value);
      largest = fmax(largest, value);
    }
    if (largest == -INFINITY)
      return idm_fail(opt_error, IDM_INPUT, "no model has evidence for person %zu", i + 1);
  }
  return IDM_OK;
}

/* Everything that follows from the counts. */
static idm_status summarise(selection_work *w, idm_model_selection *s, idm_error *opt_error)
{
  const double models = (double)w->models;
  const idm_status status = idm_dirichlet_exceedance(s->count, w->models, s->exceedance, opt_error);
  if (status != IDM_OK) return status;
  double total = 0;
  for (size_t k = 0; k < w->models; k++) total += s->count[k];
  const double bound = log_evidence_bound(w, s->count);
  s->omnibus_risk = 1 / (1 + exp(bound - log_evidence_equal(w)));
  for (size_t k = 0; k < w->models; k++) {
    s->frequency[k] = s->count[k] / total;
    s->protected_exceedance[k] =
        s->exceedance[k] * (1 - s->omnibus_risk) + s->omnibus_risk / models;
  }
  return IDM_OK;
}

idm_status idm_model_select(const double *log_evidence, size_t people, size_t models,
                            double prior_count, idm_model_selection *selection,
                            idm_error *opt_error)
{
  selection_work w = {log_evidence, people, models, prior_count, NULL,
                      NULL,         NULL,   NULL,   NULL,        NULL};
  idm_status status = check_evidence(&w, opt_error);
  if (status != IDM_OK) return status;
  w.next = idm_new(idm_times(models, models + 5), sizeof *w.next);
  if (!w.next) return idm_fail_memory(opt_error);
  w.candidate = w.next + models;
  w.share = w.candidate + models;
  w.bonus = w.share + models;
  w.scale = w.bonus + models;
  w.jacobian = w.scale + models;
  status = find_counts(&w, selection->count, &selection->iterations)
               ? summarise(&w, selection, opt_error)
               : idm_fail(opt_error, IDM_NUMERICAL, "the counts of the models did not converge");
  free(w.next);
  return status;
}
