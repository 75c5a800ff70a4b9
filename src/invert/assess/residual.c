/* Residuals of decisions against their predictions, and calibration of predicted probabilities.
 *
 * Contents: residual · reliability */
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "invert/assess/residual.h"

/* === residual =============================================================================== */

/* Residuals of decisions against their one-step-ahead predictions (residual.h).
 *
 * Contents: decision points · predictions · information · replicates */

/* With more free numbers than this, the scores are not projected out; residuals then vary less than
 * expected. */
enum { max_dimension = 32 };
/* Lower bound of the probability of a taken action. */
static const double smallest = 1e-300;

void idm_residual_close(decision_residuals *r)
{
  idm_strata_close(&r->whole);
  free(r->decision_point);
  free(r->taken);
  free(r->probability);
  free(r->derivative);
  free(r->information);
  free(r->inverse);
  *r = (decision_residuals){0};
}

/* --- decision points ------------------------------------------------------------------------- */

/* List the decisions of one trajectory, from its last node backwards, each as a decision point of
 * its own. */
static void list_trajectory(decision_residuals *r, size_t c, size_t t)
{
  const stratum *of = &r->strata->one[c];
  const idm_data *data = of->data;
  uint32_t node = of->tree->last[t];
  for (size_t row = data->first[t + 1]; row-- > data->first[t];) {
    /* After a missed response, as at the start, there is no previous action to repeat. */
    const bool first = row == data->first[t] || idm_data_missed(data, row - 1);
    const bool second = first || row - 1 == data->first[t] || idm_data_missed(data, row - 2);
    const uint32_t parent = (uint32_t)of->tree->node[node].parent;
    if (idm_data_available_count(data, data->available[row]) > 1 &&
        data->action[row] != IDM_MISSING)
      r->decision_point[r->decision_points++] =
          (decision_point){.stratum = (uint32_t)c,
                           .node = (uint32_t)of->first + node,
                           .parent = (uint32_t)of->first + parent,
                           .depth = of->tree->node[node].depth,
                           .available = data->available[row],
                           .agent = of->agent[t],
                           .last_action = first ? IDM_MISSING : data->action[row - 1],
                           .seen = first ? IDM_MISSING : data->observation[row - 1],
                           .second_last_action = second ? IDM_MISSING : data->action[row - 2],
                           .shown = second ? IDM_MISSING : data->observation[row - 2],
                           .variant = data->variant[t],
                           .step = (uint32_t)(row - data->first[t]),
                           .period_of = of->period_of[t]};
    node = parent;
  }
}

static int compare_decision_points(const void *a, const void *b)
{
  const decision_point *x = a;
  const decision_point *y = b;
  if (x->agent != y->agent) return x->agent < y->agent ? -1 : 1;
  if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
  if (x->available != y->available) return x->available < y->available ? -1 : 1;
  if (x->period_of.of_agent != y->period_of.of_agent)
    return x->period_of.of_agent < y->period_of.of_agent ? -1 : 1;
  return (x->period_of.of_log > y->period_of.of_log) - (x->period_of.of_log < y->period_of.of_log);
}

/* Merge equal decision points of a stratum, from `first` on, and count their decisions. */
static void merge_decision_points(decision_residuals *r, size_t c, size_t first)
{
  const stratum *of = &r->strata->one[c];
  const size_t end = r->decision_points;
  r->decision_points = first;
  qsort(r->decision_point + first, end - first, sizeof *r->decision_point, compare_decision_points);
  for (size_t i = first; i < end; i++) {
    const decision_point one = r->decision_point[i];
    if (i == first ||
        compare_decision_points(&r->decision_point[r->decision_points - 1], &one) != 0)
      r->decision_point[r->decision_points++] = one;
    const int32_t action = of->tree->node[one.node - of->first].action;
    r->decision_point[r->decision_points - 1].decisions++;
    r->taken[(r->decision_points - 1) * r->actions + (size_t)action]++;
  }
}

static void list_decision_points(decision_residuals *r)
{
  for (size_t c = 0; c < r->strata->count; c++) {
    const size_t first = r->decision_points;
    for (size_t t = 0; t < r->strata->one[c].data->trajectories; t++) list_trajectory(r, c, t);
    merge_decision_points(r, c, first);
  }
}

/* --- predictions ----------------------------------------------------------------------------- */

static double log_derivative(double below, double above, double step)
{
  return below > 0 && above > 0 ? (log(above) - log(below)) / (2 * step) : 0;
}

/* Centre the scores under pi: scores have mean 0 given the past, on which all tests rely. Finite
 * differences have mean 0 only up to their error, which is all that remains in a direction on which
 * the decisions do not depend, such as shaping of a utility: its sum over the log would exceed its
 * sd without bound. */
static void centre_scores(decision_residuals *r, size_t nodes, size_t j)
{
  for (size_t node = 0; node < nodes; node++) {
    const double *p = r->probability + node * r->actions;
    double *derivative = r->derivative + node * r->actions * r->dimension + j;
    double mean = 0;
    for (size_t u = 0; u < r->actions; u++) mean += p[u] * derivative[u * r->dimension];
    for (size_t u = 0; u < r->actions; u++) derivative[u * r->dimension] -= mean;
  }
}

/* Compute derivative[node][action][dimension] by central differences. If planning fails at a
 * neighbour, the derivative in that direction is 0, so nothing is projected out. */
static idm_status differentiate_by(decision_residuals *r, history_predictor *v, size_t j, double *y,
                                   double *side, idm_error *opt_error)
{
  const strata *s = r->strata;
  const size_t d = s->dimension, cells = s->nodes * r->actions;
  bool below = false, above = false;
  for (size_t c = 0; c < s->count; c++) y[c * d + j] = s->centre[c * d + j] - s->step[c * d + j];
  idm_status status = idm_predictor_at(v, y, NULL, side, &below, opt_error);
  for (size_t c = 0; c < s->count; c++) y[c * d + j] = s->centre[c * d + j] + s->step[c * d + j];
  if (status == IDM_OK) status = idm_predictor_at(v, y, NULL, side + cells, &above, opt_error);
  for (size_t c = 0; c < s->count; c++) y[c * d + j] = s->centre[c * d + j];
  if (status != IDM_OK || !below || !above) return status;
  for (size_t c = 0; c < s->count; c++) {
    const size_t begin = s->one[c].first * r->actions;
    const size_t end = begin + s->one[c].tree->nodes * r->actions;
    for (size_t i = begin; i < end; i++)
      r->derivative[i * r->dimension + j] =
          log_derivative(side[i], side[cells + i], s->step[c * d + j]);
  }
  return IDM_OK;
}

static idm_status differentiate(decision_residuals *r, history_predictor *v, idm_error *opt_error)
{
  const strata *s = r->strata;
  double *side = idm_new(idm_times(2 * s->nodes, r->actions), sizeof *side);
  double *y = idm_duplicate(s->centre, s->count * s->dimension, sizeof *y);
  idm_status status = side && y ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t j = 0; j < r->dimension && status == IDM_OK; j++) {
    status = differentiate_by(r, v, j, y, side, opt_error);
    centre_scores(r, s->nodes, j);
  }
  free(side);
  free(y);
  return status;
}

static idm_status predict_all(decision_residuals *r, history_predictor *v, idm_error *opt_error)
{
  const idm_status status =
      idm_predictor_at(v, r->strata->centre, NULL, r->probability, &r->seen, opt_error);
  return status == IDM_OK && r->seen && r->dimension ? differentiate(r, v, opt_error) : status;
}

/* --- information ---------------------------------------------------------------------------- */

/* Invert Var(S) on the directions with information, after scaling to a unit diagonal, which makes
 * the result independent of units. */
static idm_status invert_information(decision_residuals *r, idm_error *opt_error)
{
  const size_t d = r->dimension;
  double *work = idm_new(2 * d * d + 2 * d, sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  double *vectors = work + d * d;
  double *values = vectors + d * d;
  double *scale = values + d;
  for (size_t i = 0; i < d; i++) {
    const double own = r->information[i * d + i];
    scale[i] = own > 0 && isfinite(own) ? 1 / sqrt(own) : 0;
  }
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++)
      work[i * d + j] = r->information[i * d + j] * scale[i] * scale[j];
  idm_symmetric_eigen(d, work, values, vectors);
  for (size_t k = 0; k < d; k++) {
    const double *v = vectors + k * d;
    for (size_t i = 0; values[k] > 1e-8 && i < d; i++)
      for (size_t j = 0; j < d; j++)
        r->inverse[i * d + j] += v[i] * v[j] / values[k] * scale[i] * scale[j];
  }
  free(work);
  return IDM_OK;
}

void idm_residual_information(const decision_residuals *r, const decision_point *q,
                              double *information)
{
  const size_t d = r->dimension;
  const double *p = idm_residual_probability(r, q);
  for (size_t u = 0; u < r->actions; u++) {
    const double *s = idm_residual_score(r, q, u);
    for (size_t i = 0; i < d; i++)
      for (size_t j = 0; j < d; j++) information[i * d + j] += q->decisions * p[u] * s[i] * s[j];
  }
}

double idm_residual_quadratic(const decision_residuals *r, const double *x)
{
  const size_t d = r->dimension;
  double sum = 0;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++) sum += x[i] * r->inverse[i * d + j] * x[j];
  return sum;
}

static void add_information(decision_residuals *r)
{
  for (size_t i = 0; i < r->decision_points; i++) {
    const double *p = idm_residual_probability(r, &r->decision_point[i]);
    const double *taken = r->taken + i * r->actions;
    for (size_t u = 0; u < r->actions; u++)
      if (taken[u] > 0) r->log_likelihood += taken[u] * log(fmax(p[u], smallest));
    idm_residual_information(r, &r->decision_point[i], r->information);
  }
}

static idm_status allocate(decision_residuals *r, size_t rows, idm_error *opt_error)
{
  const size_t cells = idm_times(r->strata->nodes, r->actions);
  r->decision_point = idm_new(rows, sizeof *r->decision_point);
  r->taken = idm_new(idm_times(rows, r->actions), sizeof *r->taken);
  r->probability = idm_new(cells, sizeof *r->probability);
  r->derivative = idm_new(idm_times(cells, r->dimension), sizeof *r->derivative);
  r->information = idm_new(r->dimension * r->dimension, sizeof *r->information);
  r->inverse = idm_new(r->dimension * r->dimension, sizeof *r->inverse);
  const bool made = r->decision_point && r->taken && r->probability && r->derivative &&
                    r->information && r->inverse;
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

idm_status idm_residual_open(decision_residuals *r, const check_context *q, idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  const bool named = !q->posterior->coordinate_size && !q->no_likelihood;
  *r = (decision_residuals){.setting = q->f->problem->setting,
                            .strata = q->people ? q->people : &r->whole,
                            .actions = q->f->data->sizes.actions,
                            .observations = q->f->data->sizes.observations,
                            .dimension = named && d <= max_dimension ? d : 0};
  history_predictor v = {0};
  idm_status status = q->people ? IDM_OK : idm_strata_whole(&r->whole, q, opt_error);
  if (status == IDM_OK) status = allocate(r, q->f->data->rows, opt_error);
  if (status == IDM_OK) status = idm_predictor_open(&v, q->f, r->strata, opt_error);
  if (status == IDM_OK) status = predict_all(r, &v, opt_error);
  if (status == IDM_OK && r->seen) {
    list_decision_points(r);
    add_information(r);
    status = invert_information(r, opt_error);
  }
  idm_predictor_close(&v);
  if (status != IDM_OK) idm_residual_close(r);
  return status;
}

/* --- replicates ----------------------------------------------------------------------------- */

/* Draw an action with probabilities p, which sum to 1 up to rounding. */
static size_t draw_action(size_t actions, const double *p, idm_random *random)
{
  double left = idm_random_uniform(random);
  size_t last = 0;
  for (size_t u = 0; u < actions && left >= 0; u++) {
    left -= p[u];
    if (p[u] > 0) last = u;
  }
  return last;
}

/* Draw a binomial count by inversion; if the variance is large, by rounding a normal variate. */
static double draw_binomial(double n, double p, idm_random *random)
{
  if (p > 0.5) return n - draw_binomial(n, 1 - p, random);
  const double variance = n * p * (1 - p);
  if (!(variance > 0)) return 0;
  if (variance > 50)
    return fmin(n, fmax(0, rint(n * p + sqrt(variance) * idm_random_normal(random))));
  double left = idm_random_uniform(random);
  double chance = exp(n * log1p(-p));
  double k = 0;
  for (left -= chance; left > 0 && k < n; left -= chance) {
    chance *= (n - k) / (k + 1) * p / (1 - p);
    k++;
  }
  return k;
}

/* Draw the counts of a decision point with many decisions: one action after the other, from the
 * remaining decisions. */
static void draw_counts(size_t actions, const double *p, double n, idm_random *random,
                        double *taken)
{
  double rest = 1;
  for (size_t u = 0; u < actions && n > 0; u++) {
    const bool all = p[u] >= rest * (1 - 1e-12);
    taken[u] = all ? n : draw_binomial(n, p[u] / rest, random);
    n -= taken[u];
    rest -= p[u];
  }
}

void idm_residual_draw(const decision_residuals *r, idm_random *random, double *taken)
{
  enum { max_single_draws = 8 };
  memset(taken, 0, r->decision_points * r->actions * sizeof *taken);
  for (size_t i = 0; i < r->decision_points; i++) {
    const decision_point *q = &r->decision_point[i];
    const double *p = idm_residual_probability(r, q);
    double *own = taken + i * r->actions;
    if (q->decisions > max_single_draws) draw_counts(r->actions, p, q->decisions, random, own);
    for (uint32_t k = 0; q->decisions <= max_single_draws && k < q->decisions; k++)
      own[draw_action(r->actions, p, random)]++;
  }
}

void idm_residual_shift(const decision_residuals *r, const double *taken, double *shift)
{
  const size_t d = r->dimension;
  double score[max_dimension] = {0};
  for (size_t i = 0; i < r->decision_points; i++)
    for (size_t u = 0; u < r->actions; u++) {
      const double n = taken[i * r->actions + u];
      const double *s = idm_residual_score(r, &r->decision_point[i], u);
      for (size_t j = 0; n > 0 && j < d; j++) score[j] += n * s[j];
    }
  for (size_t i = 0; i < d; i++) {
    shift[i] = 0;
    for (size_t j = 0; j < d; j++) shift[i] += r->inverse[i * d + j] * score[j];
  }
}

/* === reliability ============================================================================ */

/* Calibration of predicted probabilities (residual.h). */

/* Probabilities are bounded this far away from 0 and 1. */
static const double margin = 1e-12;

void idm_reliability_close(reliability *c)
{
  free(c->point);
  free(c->bin);
  *c = (reliability){0};
}

static double predicted(const reliability *c, size_t point)
{
  const decision_point *q = &c->r->decision_point[point / c->r->actions];
  return idm_residual_probability(c->r, q)[point % c->r->actions];
}

typedef struct keyed {
  double probability;
  size_t point;
} keyed;

static int by_probability(const void *a, const void *b)
{
  const keyed *x = a;
  const keyed *y = b;
  if (x->probability != y->probability) return x->probability < y->probability ? -1 : 1;
  return (x->point > y->point) - (x->point < y->point);
}

static void list_points(reliability *c, keyed *key)
{
  const size_t pairs = c->r->decision_points * c->r->actions;
  for (size_t i = 0; i < pairs; i++) {
    const double p = predicted(c, i);
    if (p > 0 && p < 1) key[c->points++] = (keyed){p, i};
  }
  qsort(key, c->points, sizeof *key, by_probability);
  for (size_t i = 0; i < c->points; i++) c->point[i] = key[i].point;
}

idm_status idm_reliability_open(reliability *c, const decision_residuals *r, idm_error *opt_error)
{
  *c = (reliability){.r = r};
  if (!r->dimension) return IDM_OK;
  const size_t pairs = idm_times(r->decision_points, r->actions);
  keyed *key = idm_new(pairs, sizeof *key);
  c->point = idm_new(pairs, sizeof *c->point);
  c->bin = idm_new(pairs, sizeof *c->bin);
  const bool made = key && c->point && c->bin;
  if (made) list_points(c, key);
  free(key);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* One outcome as a bin of its own. */
static reliability_bin pool_of(const reliability *c, size_t point, const double *taken,
                               const double *shift)
{
  const decision_residuals *r = c->r;
  const decision_point *q = &r->decision_point[point / r->actions];
  const double *score = idm_residual_score(r, q, point % r->actions);
  const double p = fmin(fmax(predicted(c, point), margin), 1 - margin);
  double moved = 0;
  for (size_t j = 0; j < r->dimension; j++) moved += score[j] * shift[j];
  const double own = taken[point] - q->decisions * p * moved;
  return (reliability_bin){.trials = q->decisions,
                           .taken = own,
                           .least = p,
                           .most = p,
                           .expected = q->decisions * p,
                           .variance = q->decisions * p * (1 - p),
                           .log_score = own * log(p) + (q->decisions - own) * log1p(-p)};
}

static void merge(reliability_bin *into, const reliability_bin *from)
{
  into->trials += from->trials;
  into->taken += from->taken;
  into->expected += from->expected;
  into->variance += from->variance;
  into->log_score += from->log_score;
  into->most = from->most;
}

static double share(const reliability_bin *p)
{
  return p->taken / p->trials;
}

double idm_reliability_count(const reliability_bin *p)
{
  return fmin(fmax(p->taken, 0), p->trials);
}

/* Gain of a bin with a valid count. The log score of the part that the limits cut off is that of
 * the mean probability of the bin. */
static double gain_of(const reliability_bin *p)
{
  const double count = idm_reliability_count(p), rest = p->trials - count;
  const double mean = p->expected / p->trials;
  const double log_score = p->log_score + (count - p->taken) * (log(mean) - log1p(-mean));
  return (count > 0 ? count * log(count / p->trials) : 0) +
         (rest > 0 ? rest * log(rest / p->trials) : 0) - log_score;
}

double idm_reliability_gain(reliability *c, const double *taken, const double *shift)
{
  double gain = 0;
  c->bins = 0;
  for (size_t i = 0; i < c->points; i++) {
    const reliability_bin one = pool_of(c, c->point[i], taken, shift);
    /* Predictions that are equal up to rounding share a bin. */
    if (c->bins && one.least <= c->bin[c->bins - 1].most * (1 + 1e-9))
      merge(&c->bin[c->bins - 1], &one);
    else
      c->bin[c->bins++] = one;
    const bool tied = i + 1 < c->points && predicted(c, c->point[i + 1]) <= one.most * (1 + 1e-9);
    while (!tied && c->bins > 1 && share(&c->bin[c->bins - 2]) > share(&c->bin[c->bins - 1])) {
      merge(&c->bin[c->bins - 2], &c->bin[c->bins - 1]);
      c->bins--;
    }
  }
  for (size_t i = 0; i < c->bins; i++) gain += gain_of(&c->bin[i]);
  return gain;
}

const reliability_bin *idm_reliability_worst(const reliability *c, double least)
{
  const reliability_bin *worst = NULL;
  double largest_deviation = 0;
  for (size_t i = 0; i < c->bins; i++) {
    const reliability_bin *p = &c->bin[i];
    const double off = idm_reliability_count(p) - p->expected;
    const double sds = off * off / p->variance;
    if (fabs(off) < least * p->trials || !(sds > largest_deviation)) continue;
    largest_deviation = sds;
    worst = p;
  }
  return worst;
}
