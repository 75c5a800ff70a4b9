/* Accuracy of probabilistic forecasts of events. Definitions equal scikit-learn's; the
 * decomposition of the Brier score is that of Dimitriadis, Gneiting and Jordan (2021). See
 * docs/method/comparison.md, 5.
 *
 * Contents: curves · scores · decisions */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "infer/comparison.h"

/* --- curves ---------------------------------------------------------------------------------- */

/* Counts above a threshold on the probability, as it decreases. */
typedef struct curve {
  double hits;       /* events */
  double alarms;     /* non-events */
  double steps;      /* sum over thresholds of (change of hits) * precision */
  double trapezoids; /* the same with the mean of precisions before and after */
  double ranks;      /* sum of (change of alarms) * (mean of hits before and after) */
  double precision;  /* at the last threshold; 1 above the first */
} curve;

/* Lower the threshold to a probability that `hits` events and `alarms` non-events have. */
static void lower_threshold(curve *c, double hits, double alarms)
{
  const double before = c->precision;
  c->ranks += alarms * (c->hits + 0.5 * hits);
  c->hits += hits;
  c->alarms += alarms;
  c->precision = c->hits / (c->hits + c->alarms);
  c->steps += hits * c->precision;
  c->trapezoids += hits * 0.5 * (before + c->precision);
}

static void trace(const idm_indexed *order, const unsigned char *occurred, size_t count, curve *c)
{
  *c = (curve){.precision = 1};
  for (size_t end = count; end > 0;) {
    const double threshold = order[end - 1].value;
    double hits = 0, tied = 0;
    for (; end > 0 && !(order[end - 1].value < threshold); end--, tied++)
      hits += occurred[order[end - 1].index] != 0;
    lower_threshold(c, hits, tied - hits);
  }
}

static void measure_curves(const idm_indexed *order, const unsigned char *occurred, size_t count,
                           idm_accuracy *a)
{
  curve c;
  trace(order, occurred, count, &c);
  a->reason = c.hits == 0 ? "no event occurred" : c.alarms == 0 ? "every event occurred" : NULL;
  a->average_precision = c.hits == 0 ? NAN : c.steps / c.hits;
  a->precision_recall_area = c.hits == 0 ? NAN : c.trapezoids / c.hits;
  a->roc_area = a->reason ? NAN : c.ranks / (c.hits * c.alarms);
}

/* --- scores ---------------------------------------------------------------------------------- */

static double brier_of(const double *probability, const unsigned char *occurred, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const double error = probability[i] - (occurred[i] != 0);
    sum += error * error;
  }
  return sum / (double)count;
}

/* -log p, with p at least the spacing of numbers at 1, as in scikit-learn. */
static double log_loss_of(double probability)
{
  return -log(fmin(fmax(probability, DBL_EPSILON), 1 - DBL_EPSILON));
}

static double mean_log_loss(const double *probability, const unsigned char *occurred, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += log_loss_of(occurred[i] ? probability[i] : 1 - probability[i]);
  return sum / (double)count;
}

/* Bins of equal width, each closed on the right. */
static double expected_calibration_error(const double *probability, const unsigned char *occurred,
                                         size_t count)
{
  enum { bins = 10 };
  double excess[bins] = {0}, sum = 0;
  for (size_t i = 0; i < count; i++) {
    size_t bin = 0;
    while (bin + 1 < bins && probability[i] > (double)(bin + 1) * (1.0 / bins)) bin++;
    excess[bin] += probability[i] - (occurred[i] != 0);
  }
  for (size_t bin = 0; bin < bins; bin++) sum += fabs(excess[bin]);
  return sum / (double)count;
}

/* Brier scores of recalibrated forecasts and of the base rate decompose that of the forecasts. */
static idm_status decompose(const double *probability, const unsigned char *occurred, size_t count,
                            idm_accuracy *a, idm_error *opt_error)
{
  double *outcome = idm_new(count, sizeof *outcome);
  if (!outcome) return idm_fail_memory(opt_error);
  double rate = 0;
  for (size_t i = 0; i < count; i++) {
    outcome[i] = occurred[i] != 0;
    rate += outcome[i] / (double)count;
  }
  const idm_status status = idm_isotonic(probability, outcome, NULL, count, outcome, opt_error);
  if (status == IDM_OK) {
    const double recalibrated = brier_of(outcome, occurred, count);
    a->uncertainty = rate * (1 - rate);
    a->miscalibration = a->brier - recalibrated;
    a->discrimination = a->uncertainty - recalibrated;
  }
  free(outcome);
  return status;
}

static idm_status check_events(const double *probability, const unsigned char *occurred,
                               size_t count, idm_error *opt_error)
{
  if (!count) return idm_fail(opt_error, IDM_USAGE, "there is no forecast to score");
  for (size_t i = 0; i < count; i++) {
    if (!(probability[i] >= 0 && probability[i] <= 1))
      return idm_fail(opt_error, IDM_INPUT, "the probability of event %zu is %g; expected 0 to 1",
                      i + 1, probability[i]);
    if (occurred[i] > 1)
      return idm_fail(opt_error, IDM_INPUT, "the outcome of event %zu is %d; expected 0 or 1",
                      i + 1, (int)occurred[i]);
  }
  return IDM_OK;
}

idm_status idm_accuracy_of_events(const double *probability, const unsigned char *occurred,
                                  size_t count, idm_accuracy *ret_accuracy, idm_error *opt_error)
{
  const idm_status status = check_events(probability, occurred, count, opt_error);
  if (status != IDM_OK) return status;
  idm_indexed *order = idm_sort_order(probability, count);
  if (!order) return idm_fail_memory(opt_error);
  measure_curves(order, occurred, count, ret_accuracy);
  free(order);
  ret_accuracy->brier = brier_of(probability, occurred, count);
  ret_accuracy->log_loss = mean_log_loss(probability, occurred, count);
  ret_accuracy->calibration_error = expected_calibration_error(probability, occurred, count);
  return decompose(probability, occurred, count, ret_accuracy, opt_error);
}

/* --- decisions ------------------------------------------------------------------------------- */

static bool is_available(const idm_forecasts *f, size_t decision, size_t action)
{
  return !f->opt_available || f->opt_available[decision * f->actions + action];
}

static idm_status check_decisions(const idm_forecasts *f, idm_error *opt_error)
{
  if (!f->decisions || !f->actions)
    return idm_fail(opt_error, IDM_USAGE, "there is no decision to score");
  for (size_t i = 0; i < f->decisions; i++) {
    const int32_t action = f->action[i];
    if (action < 0 || (size_t)action >= f->actions || !is_available(f, i, (size_t)action))
      return idm_fail(opt_error, IDM_INPUT, "decision %zu has action %ld, which was not available",
                      i + 1, (long)action);
  }
  return IDM_OK;
}

/* Actions as events; returns their number, and the mean log-loss of the actions taken. */
static size_t list_events(const idm_forecasts *f, double *probability, unsigned char *occurred,
                          double *ret_log_loss)
{
  size_t events = 0;
  *ret_log_loss = 0;
  for (size_t i = 0; i < f->decisions; i++) {
    const double *p = f->probability + i * f->actions;
    *ret_log_loss += log_loss_of(p[f->action[i]]) / (double)f->decisions;
    for (size_t u = 0; u < f->actions; u++) {
      if (!is_available(f, i, u)) continue;
      probability[events] = p[u];
      occurred[events++] = (size_t)f->action[i] == u;
    }
  }
  return events;
}

idm_status idm_accuracy_of_decisions(const idm_forecasts *forecasts, idm_accuracy *ret_accuracy,
                                     idm_error *opt_error)
{
  idm_status status = check_decisions(forecasts, opt_error);
  if (status != IDM_OK) return status;
  const size_t most = idm_times(forecasts->decisions, forecasts->actions);
  double *probability = idm_new(most, sizeof *probability);
  unsigned char *occurred = idm_new(most, sizeof *occurred);
  status = probability && occurred ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    double log_loss;
    const size_t events = list_events(forecasts, probability, occurred, &log_loss);
    status = idm_accuracy_of_events(probability, occurred, events, ret_accuracy, opt_error);
    ret_accuracy->log_loss = log_loss;
  }
  free(probability);
  free(occurred);
  return status;
}
