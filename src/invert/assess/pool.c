/* Sums over several answers of scores of extensions, with Pearson III tails.
 *
 * Contents: one answer · sums · tails · sentences */
#include "invert/assess/extension.h"

#include <math.h>

#include "base/memory.h"
#include "base/text.h"
#include "infer/distribution.h"
#include "invert/assess/context.h"
#include "invert/cancel.h"

void idm_pool_close(pool *p)
{
  free(p->score);
  *p = (pool){0};
}

/* --- one answer ----------------------------------------------------------------------------- */

/* Clip the scores of all actions at a decision point to +-`most`, and centre them again. */
static void limit_question(size_t actions, const double *probability, double most, double *score)
{
  double mean = 0;
  for (size_t u = 0; u < actions; u++) {
    score[u] = fmin(fmax(score[u], -most), most);
    mean += probability[u] * score[u];
  }
  for (size_t u = 0; u < actions; u++) score[u] -= mean;
}

/* Compute the cumulants of the sum of scores, and the sum for the recorded actions. */
static void add_cumulants(const extensions *x, const extension *e, pool_score *s)
{
  const decision_residuals *r = x->r;
  s->sum = s->variance = s->third_cumulant = 0;
  for (size_t i = 0; i < r->decision_points * r->actions; i++) {
    const double own = e->score[i], weight = x->decisions[i / r->actions] * x->probability[i];
    s->sum += r->taken[i] * own;
    s->variance += weight * own * own;
    s->third_cumulant += weight * own * own * own;
  }
}

/* Clip the scores to a few of their sds: at a draw under which some action is nearly impossible,
 * its score can have most of the variance of all people together, and a tail that a few cumulants
 * do not describe. Clipped scores still have mean 0 given the past. */
static void limit_scores(const extensions *x, extension *e, pool_score *s)
{
  static const double sds = 6;
  const decision_residuals *r = x->r;
  double decisions = 0;
  for (size_t i = 0; i < r->decision_points; i++) decisions += x->decisions[i];
  for (int pass = 0; pass < 2; pass++) {
    add_cumulants(x, e, s);
    const double most = sds * sqrt(s->variance / decisions);
    for (size_t i = 0; i < r->decision_points; i++)
      limit_question(r->actions, x->probability + i * r->actions, most, e->score + i * r->actions);
  }
  add_cumulants(x, e, s);
}

static pool_score score_of(const extensions *x, extension *e)
{
  const bool signals =
      e->kind == EXTENSION_SIGNAL || (e->kind == EXTENSION_TRACE && e->trace == TRACE_CREDIT);
  pool_score s = {.kind = e->kind,
                  .block = (uint32_t)e->at,
                  .drift = e->drift,
                  .trace = e->trace,
                  .observation =
                      signals ? x->carryover.signal[e->signal].observation : IDM_MISSING};
  limit_scores(x, e, &s);
  if (e->boundary) s.boundary = e->step > 0 ? 1 : -1;
  idm_extension_name(x, e, s.name, sizeof s.name);
  return s;
}

/* Compute the scores at one draw. */
static idm_status read_scores(pool *p, const check_context *q, idm_error *opt_error)
{
  decision_residuals r;
  extensions x = {0};
  idm_status status = idm_residual_open(&r, q, opt_error);
  if (status != IDM_OK) return status;
  if (r.seen) status = idm_extensions_open(&x, q, &r, 1, opt_error);
  if (status == IDM_OK && x.count) {
    p->score = idm_new(x.count, sizeof *p->score);
    if (!p->score) status = idm_fail_memory(opt_error);
    for (size_t k = 0; p->score && k < x.count; k++)
      p->score[p->count++] = score_of(&x, &x.item[k]);
  }
  idm_extensions_close(&x);
  idm_residual_close(&r);
  return status;
}

/* Convert sums over draws to means; on entry `spread` is the sum of squares. */
static void average(pool *p, size_t draws)
{
  const double n = (double)draws;
  for (size_t i = 0; i < p->count; i++) {
    pool_score *s = &p->score[i];
    s->sum /= n;
    s->variance /= n;
    s->third_cumulant /= n;
    s->spread = sqrt(fmax(0, s->spread - n * s->sum * s->sum) / fmax(1, n - 1));
  }
}

/* Average over draws spread evenly over all. */
static idm_status average_draws(pool *p, check_context *q, idm_error *opt_error)
{
  enum { looked = 4 };
  const size_t all = q->posterior->chains * q->posterior->draws;
  const size_t count = all < looked ? all : looked;
  idm_status status = IDM_OK;
  for (size_t k = 0; k < count && status == IDM_OK; k++) {
    pool one = {0};
    q->at = (k + 1) * all / count;
    status = read_scores(&one, q, opt_error);
    for (size_t i = 0; i < one.count; i++)
      one.score[i].spread = one.score[i].sum * one.score[i].sum;
    if (status == IDM_OK) status = idm_pool_add(p, &one, opt_error);
    idm_pool_close(&one);
  }
  if (status == IDM_OK) average(p, count);
  return status;
}

idm_status idm_pool_open(pool *p, const idm_problem *problem, const idm_data *data,
                         const idm_posterior *posterior, const idm_fit_monitor *opt_monitor,
                         idm_error *opt_error)
{
  const idm_fit_settings settings = idm_assess_settings(posterior, 1);
  fit_context f = {.problem = problem, .data = data};
  idm_cancel cancel;
  check_context q = {.f = &f,
                     .posterior = posterior,
                     .among = 1,
                     .no_likelihood = idm_check_has_no_likelihood(posterior)};
  *p = (pool){0};
  idm_cancel_init(&cancel, opt_monitor, "checking the answer against the data");
  idm_status status =
      idm_fit_open_cancel(&f, NULL, problem, data, &settings, 1, &cancel, opt_error);
  f.table = posterior->table;
  if (status == IDM_OK) status = average_draws(p, &q, opt_error);
  idm_fit_close(&f);
  if (status != IDM_OK) idm_pool_close(p);
  return status;
}

bool idm_pool_pass(pool *p, idm_record *record)
{
  enum { most = 1 << 16 };
  uint64_t count = p->count;
  idm_record_transfer(record, &count, sizeof count);
  if (record->truncated || count > most) return false;
  if (record->reading) {
    pool_score *score = idm_new((size_t)count, sizeof *score);
    if (!score) return false;
    free(p->score);
    p->score = score;
    p->count = (size_t)count;
  }
  for (size_t i = 0; i < p->count && !record->truncated; i++) {
    idm_record_transfer(record, &p->score[i], sizeof p->score[i]);
    p->score[i].name[sizeof p->score[i].name - 1] = '\0';
  }
  return !record->truncated;
}

/* --- sums ------------------------------------------------------------------------------------ */

/* Whether two scores are of the same extension. Names are not compared: they may contain different
 * thresholds of rewards. */
static bool same_extension(const pool_score *a, const pool_score *b)
{
  return a->kind == b->kind && a->block == b->block && a->drift == b->drift &&
         a->trace == b->trace && a->observation == b->observation;
}

idm_status idm_pool_add(pool *to, const pool *from, idm_error *opt_error)
{
  pool_score *all = idm_new(to->count + from->count, sizeof *all);
  if (!all) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < to->count; i++) all[i] = to->score[i];
  free(to->score);
  to->score = all;
  for (size_t i = 0; i < from->count; i++) {
    const pool_score *own = &from->score[i];
    size_t at = 0;
    while (at < to->count && !same_extension(&all[at], own)) at++;
    if (at == to->count) {
      all[to->count++] = *own;
      continue;
    }
    all[at].sum += own->sum;
    all[at].variance += own->variance;
    all[at].third_cumulant += own->third_cumulant;
    all[at].spread += own->spread;
  }
  return IDM_OK;
}

/* --- tails ---------------------------------------------------------------------------------- */

/* P(X >= z) for X of mean 0, variance 1 and the given skewness. On the lighter side, where a gamma
 * distribution is bounded, the larger tail of a normal distribution is used. */
static double upper_tail(double z, double skewness)
{
  static const double min_skewness = 1e-3; /* below which X is normal */
  if (skewness < min_skewness) return 0.5 * erfc(z / sqrt(2));
  const double degrees = 8 / (skewness * skewness);
  return idm_chi_square_tail(degrees + z * sqrt(2 * degrees), degrees);
}

/* The sum less its sd over draws, in absolute value, with its sign. */
static double excess_of(const pool_score *s)
{
  return copysign(fmax(0, fabs(s->sum) - s->spread), s->sum);
}

static double tail_of(const pool_score *s)
{
  const double z = excess_of(s) / sqrt(s->variance),
               skewness = s->third_cumulant / pow(s->variance, 1.5);
  const double above = upper_tail(z, skewness), below = upper_tail(-z, -skewness);
  if (s->boundary) return s->boundary > 0 ? above : below;
  return 2 * fmin(above, below);
}

double idm_pool_p(const pool *p, size_t i)
{
  const bool held = p->score[i].kind == EXTENSION_FIXED;
  double same_kind = 0;
  for (size_t k = 0; k < p->count; k++) same_kind += (p->score[k].kind == EXTENSION_FIXED) == held;
  return fmin(1, (same_kind < (double)p->count ? 2 : 1) * same_kind * tail_of(&p->score[i]));
}

double idm_pool_min_p(const pool *p)
{
  double least = 1;
  for (size_t i = 0; i < p->count; i++) least = fmin(least, idm_pool_p(p, i));
  return least;
}

/* --- sentences ------------------------------------------------------------------------------- */

/* Gain of one Newton step, in nats. */
static double gain_of(const pool_score *s)
{
  return excess_of(s) * excess_of(s) / (2 * s->variance);
}

/* Whether a is described before b. */
static bool is_before(const pool_score *a, const pool_score *b)
{
  const bool a_is_fixed = a->kind == EXTENSION_FIXED, b_is_fixed = b->kind == EXTENSION_FIXED;
  return a_is_fixed != b_is_fixed ? a_is_fixed : gain_of(a) > gain_of(b);
}

/* The next score to be described after `last`; with NULL the first of all. */
static const pool_score *next_after(const pool *p, double level, const pool_score *last)
{
  const pool_score *next = NULL;
  for (size_t i = 0; i < p->count; i++) {
    const pool_score *s = &p->score[i];
    if (idm_pool_p(p, i) > level || (last && !is_before(last, s))) continue;
    if (!next || is_before(s, next)) next = s;
  }
  return next;
}

static size_t describe_one(const pool_score *s, const idm_theta *theta, char *text, size_t size)
{
  char others[400];
  if (s->kind != EXTENSION_FIXED)
    return (size_t)idm_print(text, size, "%s would gain about %.0f nats", s->name, gain_of(s));
  idm_extensions_list_free(theta, others, sizeof others);
  return (size_t)idm_print(text, size,
                           "%s (held at %.3g) would gain about %.0f nats: --free %.60s%s", s->name,
                           theta->block[s->block].value[0], gain_of(s), s->name, others);
}

void idm_pool_describe(const pool *p, const idm_theta *theta, double level, char *text, size_t size)
{
  enum { max_listed = 3 };
  size_t used = 0;
  text[0] = '\0';
  const pool_score *s = next_after(p, level, NULL);
  for (int k = 0; k < max_listed && s; k++, s = next_after(p, level, s)) {
    if (used) used += (size_t)idm_print(text + used, size - used, "; ");
    used += describe_one(s, theta, text + used, size - used);
  }
}
