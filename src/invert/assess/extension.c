/* Score tests of extensions of the model by one number, with refits of significant ones
 * (docs/method/verdict.md, 7).
 *
 * Contents: memory reset · extension */
#include "invert/assess/extension.h"

#include <math.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "data/log.h"
#include "idm/extension/planner.h"
#include "infer/distribution.h"
#include "invert/assess/residual.h"
#include "invert/posterior.h"
#include "plan/plan.h"
#include "setting/model.h"

/* === memory reset ============================================================================= */

/* Predictions with a memory that is reset at the start of every trajectory (residual.h). */

/* Strata in which every trajectory has an agent of its own. */
typedef struct reset_strata {
  strata strata;   /* `one` is owned here; the other arrays are borrowed from the residuals */
  idm_data *data;  /* [stratum]: shallow copies of the data, with */
  uint32_t *agent; /* [trajectory]: these agents */
  idm_prefix_tree **tree; /* [stratum] */
} reset_strata;

static void close_reset_strata(reset_strata *a)
{
  for (size_t c = 0; a->tree && c < a->strata.count; c++) idm_prefix_tree_destroy(a->tree[c]);
  free(a->strata.one);
  free(a->data);
  free(a->agent);
  free(a->tree);
}

static idm_status open_reset_strata(reset_strata *a, const strata *s, idm_error *opt_error)
{
  size_t longest = 0;
  for (size_t c = 0; c < s->count; c++)
    if (s->one[c].data->trajectories > longest) longest = s->one[c].data->trajectories;
  a->strata = *s;
  a->strata.nodes = 0;
  a->strata.one = idm_duplicate(s->one, s->count, sizeof *s->one);
  a->data = idm_new(s->count, sizeof *a->data);
  a->agent = idm_new(longest, sizeof *a->agent);
  a->tree = idm_new(s->count, sizeof *a->tree);
  if (!a->strata.one || !a->data || !a->agent || !a->tree) return idm_fail_memory(opt_error);
  for (size_t t = 0; t < longest; t++) a->agent[t] = (uint32_t)t;
  idm_status status = IDM_OK;
  for (size_t c = 0; c < s->count && status == IDM_OK; c++) {
    stratum *one = &a->strata.one[c];
    a->data[c] = *one->data;
    a->data[c].agent = a->agent;
    a->data[c].agent_name = (idm_labels){.count = one->data->trajectories};
    status = idm_prefix_tree_create(&a->data[c], one->tree->scope, &a->tree[c], opt_error);
    if (status != IDM_OK) break;
    one->data = &a->data[c];
    one->tree = a->tree[c];
    one->first = a->strata.nodes;
    a->strata.nodes += one->tree->nodes;
  }
  return status;
}

/* Copy probabilities of the reset strata to the nodes of the strata with the same rows of a
 * trajectory. */
static void copy_nodes(const reset_strata *a, const strata *s, size_t actions, const double *from,
                       double *to)
{
  for (size_t c = 0; c < s->count; c++) {
    const stratum *one = &s->one[c], *other = &a->strata.one[c];
    for (size_t t = 0; t < one->data->trajectories; t++) {
      size_t node = one->tree->last[t], same = other->tree->last[t];
      for (size_t row = one->data->first[t]; row < one->data->first[t + 1]; row++) {
        memcpy(to + (one->first + node) * actions, from + (other->first + same) * actions,
               actions * sizeof *to);
        node = (size_t)one->tree->node[node].parent;
        same = (size_t)other->tree->node[same].parent;
      }
    }
  }
}

/* Whether memories last for an agent, and an agent has two trajectories. */
static bool memory_persists(const strata *s)
{
  for (size_t c = 0; c < s->count; c++) {
    const stratum *one = &s->one[c];
    for (size_t t = 0; t < one->data->trajectories && one->tree->scope & IDM_SCOPE_AGENT; t++)
      if (one->tree->node[one->tree->first[t]].parent >= 0) return true;
  }
  return false;
}

idm_status idm_memory_reset_predict(const check_context *q, const decision_residuals *r,
                                    double *probability, bool *seen, idm_error *opt_error)
{
  reset_strata a = {0};
  history_predictor v = {0};
  *seen = false;
  if (!memory_persists(r->strata)) return IDM_OK;
  idm_status status = open_reset_strata(&a, r->strata, opt_error);
  double *own = NULL;
  if (status == IDM_OK) {
    own = idm_new(idm_times(a.strata.nodes, r->actions), sizeof *own);
    status = own ? idm_predictor_open(&v, q->f, &a.strata, opt_error) : idm_fail_memory(opt_error);
  }
  if (status == IDM_OK)
    status = idm_predictor_at(&v, r->strata->centre, NULL, own, seen, opt_error);
  if (status == IDM_OK && *seen) copy_nodes(&a, r->strata, r->actions, own, probability);
  idm_predictor_close(&v);
  free(own);
  close_reset_strata(&a);
  return status;
}

/* === extension ================================================================================ */

/* Quantile that statistics are divided by. */
static const double normalising_quantile = 0.99;
/* Extensions with a p of at most this are refitted. */
static const double refit_level = 0.1;
/* Largest number of extensions that are refitted and named. */
enum { max_refits = 3 };

void idm_extensions_close(extensions *x)
{
  for (size_t i = 0; x->item && i < x->count; i++) {
    free(x->item[i].score);
    free(x->item[i].statistic);
  }
  free(x->item);
  idm_carryover_close(&x->carryover);
  free(x->probability);
  free(x->decisions);
  *x = (extensions){0};
}

/* --- candidates ----------------------------------------------------------------------------- */

/* Whether a block is one held number that choices depend on and that could be free. A number that
 * differs between variants of the setting is excluded. */
static bool is_fixed_scalar(const idm_problem *problem, size_t id)
{
  const idm_block *block = &problem->theta->block[id];
  const bool scalar = block->size == 1 && block->info->axis[0] == IDM_AXIS_END;
  if (!scalar || block->info->opaque || !block->info->scales) return false;
  for (size_t v = 1; v < block->variants; v++)
    if (block->value[v] != block->value[0]) return false;
  return block->role != IDM_DESCRIPTIVE && idm_agent_reads(&problem->agent, id);
}

/* Choose the scale and the step of a held number. Returns false if no scale is suitable, such as
 * for alpha = 0, at which choices are not differentiable. */
static bool find_step(const idm_problem *problem, extension *e)
{
  const idm_block_info *info = problem->theta->block[e->at].info;
  const double x = problem->theta->block[e->at].value[0];
  const double unit = info->in_utility ? idm_problem_prior_range(problem, e->at) : 1;
  const bool low = x <= 0, inside = x > 0 && x < 1;
  if (info->support == IDM_FRACTION) {
    *e = (extension){.at = e->at, .held = x, .step = low ? 0.02 : -0.02, .boundary = true};
    if (inside)
      *e =
          (extension){.at = e->at, .scale = IDM_SCALE_LOGIT, .held = log(x / (1 - x)), .step = 0.1};
  } else if (isinf(x))
    *e = (extension){.at = e->at, .scale = IDM_SCALE_INVERSE, .step = 0.02 / unit};
  else if (x > 0 && info->scales & 1 << IDM_SCALE_LOG)
    *e = (extension){.at = e->at, .scale = IDM_SCALE_LOG, .held = log(x), .step = 0.1};
  else
    *e = (extension){.at = e->at,
                     .held = x,
                     .step = 0.02 * unit,
                     .boundary = low && info->support == IDM_NOT_NEGATIVE};
  return isinf(x) ? info->reciprocal : x != 0 || !info->reciprocal;
}

/* The number at a value on its scale. */
static double number_at(const extension *e, double c)
{
  switch (e->scale) {
  case IDM_SCALE_LOG:
    return exp(c);
  case IDM_SCALE_LOGIT:
    return 1 / (1 + exp(-c));
  case IDM_SCALE_INVERSE:
    return 1 / c;
  default:
    return c;
  }
}

/* --- scores --------------------------------------------------------------------------------- */

/* Subtract the mean under pi from the scores of every decision point. */
static void centre(const decision_residuals *r, double *score)
{
  for (size_t i = 0; i < r->decision_points; i++) {
    const double *p = idm_residual_probability(r, &r->decision_point[i]);
    double *own = score + i * r->actions;
    double mean = 0;
    for (size_t u = 0; u < r->actions; u++) mean += p[u] * own[u];
    for (size_t u = 0; u < r->actions; u++) own[u] -= mean;
  }
}

static double variance(const decision_residuals *r, const double *score)
{
  double sum = 0;
  for (size_t i = 0; i < r->decision_points; i++) {
    const double *p = idm_residual_probability(r, &r->decision_point[i]);
    const double *own = score + i * r->actions;
    for (size_t u = 0; u < r->actions; u++)
      sum += r->decision_point[i].decisions * p[u] * own[u] * own[u];
  }
  return sum;
}

/* Subtract Cov(G, S) Var(S)^-1 s. work[2][dimension]. */
static void project(const decision_residuals *r, double *score, double *work)
{
  const size_t d = r->dimension;
  double *const cross = work, *const weight = work + d;
  memset(work, 0, 2 * d * sizeof *work);
  for (size_t i = 0; i < r->decision_points; i++)
    for (size_t u = 0; u < r->actions; u++) {
      const double *s = idm_residual_score(r, &r->decision_point[i], u);
      const double p = idm_residual_probability(r, &r->decision_point[i])[u];
      const double own = r->decision_point[i].decisions * p * score[i * r->actions + u];
      for (size_t j = 0; j < d; j++) cross[j] += own * s[j];
    }
  for (size_t j = 0; j < d; j++)
    for (size_t k = 0; k < d; k++) weight[j] += r->inverse[j * d + k] * cross[k];
  for (size_t i = 0; i < r->decision_points; i++)
    for (size_t u = 0; u < r->actions; u++) {
      const double *s = idm_residual_score(r, &r->decision_point[i], u);
      for (size_t j = 0; j < d; j++) score[i * r->actions + u] -= weight[j] * s[j];
    }
}

/* Add the candidate with g in `score`, unless it has no effect of its own: less than the rounding
 * errors of planning, or collinear with the free numbers. */
static idm_status add_candidate(extensions *x, extension e, double *score, double *work,
                                idm_error *opt_error)
{
  const decision_residuals *r = x->r;
  double decisions = 0;
  for (size_t i = 0; i < r->decision_points; i++) decisions += r->decision_point[i].decisions;
  centre(r, score);
  const double raw = variance(r, score);
  project(r, score, work);
  centre(r, score);
  e.information = variance(r, score);
  if (!(e.information * e.step * e.step > 1e-10 * decisions) || !(e.information > 1e-4 * raw))
    return IDM_OK;
  e.score = idm_duplicate(score, r->decision_points * r->actions, sizeof *score);
  e.statistic = idm_new(x->runs, sizeof *e.statistic);
  x->item[x->count++] = e;
  return e.score && e.statistic ? IDM_OK : idm_fail_memory(opt_error);
}

/* g of a held number: from plans at two values, [node][action], to [decision_point][action]. */
static void difference_score(const decision_residuals *r, const double *from, const double *to,
                             double step, double *score)
{
  for (size_t i = 0; i < r->decision_points; i++)
    for (size_t u = 0; u < r->actions; u++) {
      const size_t cell = r->decision_point[i].node * r->actions + u;
      const bool defined = from[cell] > 0 && to[cell] > 0;
      score[i * r->actions + u] = defined ? log(to[cell] / from[cell]) / step : 0;
    }
}

/* Scratch of the search for extensions. */
typedef struct extension_search {
  history_predictor v;
  double *side;  /* [2][node][action] */
  double *score; /* [decision_point][action] */
  double *work;  /* [2][dimension] */
  drift_times drift_times;
} extension_search;

static idm_status try_fixed(extensions *x, extension_search *s, extension e, size_t cells,
                            idm_error *opt_error)
{
  bool above = false, below = false;
  double *const up = s->side, *const down = s->side + cells;
  fixed_override held = {.block = e.at, .value = number_at(&e, e.held + e.step)};
  idm_status status = idm_predictor_at(&s->v, x->r->strata->centre, &held, up, &above, opt_error);
  held.value = number_at(&e, e.held - e.step);
  if (status == IDM_OK && !e.boundary)
    status = idm_predictor_at(&s->v, x->r->strata->centre, &held, down, &below, opt_error);
  if (status != IDM_OK || !(above || below)) return status;
  difference_score(x->r, below ? down : x->r->probability, above ? up : x->r->probability,
                   (above + below) * e.step, s->score);
  return add_candidate(x, e, s->score, s->work, opt_error);
}

/* Whether a weight of the entropy of beliefs is free, for at least one action. */
static bool entropy_is_free(const idm_theta *theta)
{
  const idm_block *block = &theta->block[IDM_BELIEF_UTILITY];
  bool moves = block->role == IDM_DESCRIPTIVE && !block->coordinate;
  for (size_t u = 0; block->coordinate && u < theta->sizes.actions; u++)
    moves = moves || block->coordinate[u] >= 0;
  return moves;
}

/* Add a utility of certainty: minus the belief's entropy, at every step. */
static idm_status try_belief(extensions *x, extension_search *s, size_t cells, idm_error *opt_error)
{
  const idm_problem *problem = x->q->f->problem;
  const idm_block *block = &problem->theta->block[IDM_BELIEF_UTILITY];
  if (x->r->setting->fully_observed || entropy_is_free(problem->theta) ||
      !idm_agent_reads(&problem->agent, IDM_BELIEF_UTILITY))
    return IDM_OK;
  const extension e = {.kind = EXTENSION_BELIEF,
                       .at = IDM_BELIEF_UTILITY,
                       .held = block->value[0],
                       .step = 0.05 * idm_problem_prior_range(problem, IDM_UTILITY)};
  return try_fixed(x, s, e, cells, opt_error);
}

/* Add an extension of a free coordinate by time[decision_point]: g is its score times the time. */
static idm_status try_covariate(extensions *x, extension_search *s, extension e, const double *time,
                                idm_error *opt_error)
{
  const decision_residuals *r = x->r;
  for (size_t i = 0; i < r->decision_points; i++)
    for (size_t u = 0; u < r->actions; u++)
      s->score[i * r->actions + u] =
          time[i] * idm_residual_score(r, &r->decision_point[i], u)[e.at];
  return add_candidate(x, e, s->score, s->work, opt_error);
}

/* Add extensions of free coordinate j by every clock and every signal. */
static idm_status try_coordinate(extensions *x, extension_search *s, size_t j, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t k = 0; k < s->drift_times.count && status == IDM_OK; k++)
    status = try_covariate(
        x, s,
        (extension){.kind = EXTENSION_DRIFT, .at = j, .drift = s->drift_times.kind[k], .step = 1},
        s->drift_times.time[k], opt_error);
  for (size_t k = 0; k < x->carryover.count && status == IDM_OK; k++)
    status =
        try_covariate(x, s, (extension){.kind = EXTENSION_SIGNAL, .at = j, .signal = k, .step = 1},
                      x->carryover.signal[k].last, opt_error);
  return status;
}

static idm_status try_traces(extensions *x, extension_search *s, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (int trace = 0; trace < TRACE_KINDS; trace++)
    for (size_t k = 0; k < MAX_SIGNALS && status == IDM_OK; k++) {
      extension e = {
          .kind = EXTENSION_TRACE, .trace = (carryover_trace)trace, .signal = k, .step = 1};
      if (!idm_carryover_has(&x->carryover, e.trace, k)) continue;
      idm_carryover_trace(&x->carryover, e.trace, k, s->score);
      status = add_candidate(x, e, s->score, s->work, opt_error);
    }
  return status;
}

/* Gain in log-likelihood of the decisions under other probabilities [node][action]. */
static double gain_of(const decision_residuals *r, const double *other)
{
  double sum = 0;
  for (size_t i = 0; i < r->decision_points; i++)
    for (size_t u = 0; u < r->actions; u++) {
      const size_t cell = r->decision_point[i].node * r->actions + u;
      const double taken = r->taken[i * r->actions + u];
      if (taken > 0) sum += taken * log(other[cell] / r->probability[cell]);
    }
  return sum;
}

/* Add the memory reset: g is the mean slope of log((1 - x) pi + x pi_reset) from 0 to a half. The
 * Newton step is inaccurate if single decisions dominate the gain; it is replaced by the better of
 * x = 1 and a half, with the free numbers unchanged. */
static idm_status try_memory_reset(extensions *x, extension_search *s, size_t cells,
                                   idm_error *opt_error)
{
  static const double half = 0.5;
  bool seen;
  double *const mixed = s->side;
  const decision_residuals *r = x->r;
  const idm_status status = idm_memory_reset_predict(x->q, r, mixed, &seen, opt_error);
  if (status != IDM_OK || !seen) return status;
  extension e = {.kind = EXTENSION_MEMORY_RESET, .step = half, .boundary = true, .value = 1};
  e.gain = gain_of(r, mixed);
  for (size_t i = 0; i < cells; i++) mixed[i] = half * mixed[i] + (1 - half) * r->probability[i];
  const double gain = gain_of(r, mixed);
  if (!(gain <= e.gain)) {
    e.value = half;
    e.gain = fmax(0, gain);
  }
  difference_score(r, r->probability, mixed, half, s->score);
  return add_candidate(x, e, s->score, s->work, opt_error);
}

static idm_status try_all(extensions *x, extension_search *s, idm_error *opt_error)
{
  const idm_problem *problem = x->q->f->problem;
  const size_t cells = x->r->strata->nodes * x->r->actions;
  idm_status status = IDM_OK;
  for (size_t b = 0; b < problem->theta->blocks && status == IDM_OK; b++) {
    extension e = {.at = b};
    if (is_fixed_scalar(problem, b) && find_step(problem, &e))
      status = try_fixed(x, s, e, cells, opt_error);
  }
  if (status == IDM_OK) status = try_belief(x, s, cells, opt_error);
  for (size_t j = 0; j < x->r->dimension && status == IDM_OK; j++)
    status = try_coordinate(x, s, j, opt_error);
  if (status == IDM_OK) status = try_traces(x, s, opt_error);
  if (status == IDM_OK) status = try_memory_reset(x, s, cells, opt_error);
  return status;
}

/* Copy the action probabilities to the order of the scores. */
static bool copy_probabilities(extensions *x)
{
  const decision_residuals *r = x->r;
  x->probability = idm_new(idm_times(r->decision_points, r->actions), sizeof *x->probability);
  x->decisions = idm_new(r->decision_points, sizeof *x->decisions);
  if (!x->probability || !x->decisions) return false;
  for (size_t i = 0; i < r->decision_points; i++) {
    memcpy(x->probability + i * r->actions, idm_residual_probability(r, &r->decision_point[i]),
           r->actions * sizeof *x->probability);
    x->decisions[i] = r->decision_point[i].decisions;
  }
  return true;
}

idm_status idm_extensions_open(extensions *x, const check_context *q, const decision_residuals *r,
                               size_t runs, idm_error *opt_error)
{
  *x = (extensions){.q = q, .r = r, .runs = runs};
  if (!r->dimension) return IDM_OK;
  const size_t pairs = idm_times(r->decision_points, r->actions);
  extension_search s = {.side =
                            idm_new(idm_times(2 * r->strata->nodes, r->actions), sizeof *s.side),
                        .score = idm_new(pairs, sizeof *s.score),
                        .work = idm_new(2 * r->dimension, sizeof *s.work)};
  const size_t most = q->f->problem->theta->blocks + (DRIFT_KINDS + MAX_SIGNALS) * r->dimension +
                      TRACE_KINDS * MAX_SIGNALS + 2;
  x->item = idm_new(most, sizeof *x->item);
  const bool made = s.side && s.score && s.work && x->item && copy_probabilities(x);
  idm_status status =
      made ? idm_predictor_open(&s.v, q->f, r->strata, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_drift_times_open(&s.drift_times, r, opt_error);
  if (status == IDM_OK) status = idm_carryover_open(&x->carryover, r, opt_error);
  if (status == IDM_OK) status = try_all(x, &s, opt_error);
  idm_drift_times_close(&s.drift_times);
  idm_predictor_close(&s.v);
  free(s.side);
  free(s.score);
  free(s.work);
  if (status != IDM_OK) idm_extensions_close(x);
  return status;
}

/* --- statistics ----------------------------------------------------------------------------- */

void idm_extensions_add_run(extensions *x, size_t run, const double *taken)
{
  const size_t pairs = x->r->decision_points * x->r->actions;
  for (size_t k = 0; k < x->count; k++) {
    extension *e = &x->item[k];
    e->sum = 0;
    for (size_t i = 0; i < pairs; i++) e->sum += taken[i] * e->score[i];
    const bool out = e->boundary && e->sum * e->step < 0;
    e->statistic[run] = out ? 0 : e->sum * e->sum / e->information;
  }
}

static double ratio_of(const extension *e, size_t run)
{
  return e->limit > 0 ? e->statistic[run] / e->limit : 0;
}

void idm_extensions_normalise(extensions *x, double *largest, double *work)
{
  for (size_t k = 0; k < x->count; k++) {
    extension *e = &x->item[k];
    memcpy(work, e->statistic, x->runs * sizeof *work);
    e->limit = idm_quantile(work, x->runs, normalising_quantile);
    for (size_t i = 0; i < x->runs; i++) largest[i] = fmax(largest[i], ratio_of(e, i));
  }
}

/* Factor of a p: the number of extensions of its kind over their share of the level. */
static double factor_of(const extensions *x, const extension *e)
{
  static const double share = 0.5; /* of the level, for held numbers */
  size_t held = 0;
  for (size_t k = 0; k < x->count; k++) held += x->item[k].kind == EXTENSION_FIXED;
  const size_t others = x->count - held;
  if (e->kind == EXTENSION_FIXED) return (double)held / (others ? share : 1);
  return (double)others / (held ? 1 - share : 1);
}

/* Adjusted p of a score. */
static double score_p(const extensions *x, const extension *e)
{
  if (!(e->statistic[0] > 0)) return 1;
  const idm_discrete_sum sum = {.terms = x->r->decision_points,
                                .width = x->r->actions,
                                .probability = x->probability,
                                .value = e->score,
                                .copies = x->decisions};
  const double p = idm_saddlepoint_two_sided(&sum, e->sum, e->information);
  return fmin(1, factor_of(x, e) * (e->boundary ? p / 2 : p));
}

/* Value and gain after one Newton step. */
static void newton_step(extension *e)
{
  if (e->kind == EXTENSION_MEMORY_RESET) return;
  const double moved = e->sum / e->information;
  switch (e->kind) {
  case EXTENSION_FIXED:
    e->value = number_at(e, e->held + moved);
    break;
  case EXTENSION_BELIEF:
    e->value = e->held + moved;
    break;
  case EXTENSION_SIGNAL: /* from a signal of -1 to a signal of 1 */
    e->value = 2 * moved;
    break;
  default:
    e->value = moved;
  }
  e->gain = e->sum * e->sum / (2 * e->information);
}

/* --- refits --------------------------------------------------------------------------------- */

/* The extension of largest gain below `last` whose p is at most `level`; `held`: only held numbers,
 * which can be refitted. NULL: none. */
static extension *next_by_gain(const extensions *x, bool held, double level, double last)
{
  extension *best = NULL;
  for (size_t k = 0; k < x->count; k++) {
    extension *e = &x->item[k];
    if ((held && e->kind != EXTENSION_FIXED) || e->p > level || !(e->gain < last)) continue;
    if (!best || e->gain > best->gain) best = e;
  }
  return best;
}

/* Refit from the Newton step, if it is inside the range, and from one step of the difference, since
 * the former can be far from the mode. p is that of the likelihood ratio. */
static idm_status refit_extension(const extensions *x, double without, extension *e,
                                  idm_error *opt_error)
{
  const double start[2] = {number_at(e, e->held + e->step), e->value};
  const bool usable = isfinite(e->value) && (!e->boundary || (e->value > 0 && e->value < 1));
  double best = -INFINITY;
  for (int k = 0; k < (usable ? 2 : 1); k++) {
    refit one;
    const fixed_override from = {.block = e->at, .value = start[k]};
    const idm_status status = idm_refit(x->q, &from, &one, opt_error);
    if (status != IDM_OK) return status;
    if (!(one.log_likelihood > best)) continue;
    best = one.log_likelihood;
    e->value = one.value;
  }
  e->gain = fmax(0, best - without);
  e->p = fmin(1, factor_of(x, e) * idm_chi_square_tail(2 * e->gain, 1));
  return IDM_OK;
}

/* Refit the extensions with a significant score, at most three. */
static idm_status refit_significant(const extensions *x, idm_error *opt_error)
{
  extension *chosen[max_refits] = {NULL};
  double last = INFINITY;
  for (size_t i = 0; i < max_refits && (chosen[i] = next_by_gain(x, true, refit_level, last)); i++)
    last = chosen[i]->gain;
  if (!chosen[0] || x->q->people) return IDM_OK;
  refit without = {0};
  idm_status status = idm_refit(x->q, NULL, &without, opt_error);
  const double before = fmax(without.log_likelihood, x->r->log_likelihood);
  for (size_t i = 0; i < max_refits && chosen[i] && status == IDM_OK; i++)
    status = refit_extension(x, before, chosen[i], opt_error);
  return status;
}

idm_status idm_extensions_test(extensions *x, double *ret_p, idm_error *opt_error)
{
  for (size_t k = 0; k < x->count; k++) {
    newton_step(&x->item[k]);
    x->item[k].p = score_p(x, &x->item[k]);
  }
  const idm_status status = refit_significant(x, opt_error);
  *ret_p = 1;
  for (size_t k = 0; k < x->count; k++) *ret_p = fmin(*ret_p, x->item[k].p);
  return status;
}

/* --- sentences ------------------------------------------------------------------------------- */

void idm_extension_name(const extensions *x, const extension *e, char *text, size_t size)
{
  char after[100];
  switch (e->kind) {
  case EXTENSION_FIXED:
    idm_print(text, size, "%.100s", x->q->f->problem->theta->block[e->at].info->name);
    break;
  case EXTENSION_DRIFT:
    idm_print(text, size, "drift of %.80s %s", x->q->f->parameters->coordinate.name[e->at],
              idm_drift_name(e->drift));
    break;
  case EXTENSION_MEMORY_RESET:
    idm_print(text, size, "memory of single trajectories");
    break;
  case EXTENSION_BELIEF:
    idm_print(text, size, "utility of certainty");
    break;
  case EXTENSION_SIGNAL:
    idm_carryover_signal_name(&x->carryover, e->signal, after, sizeof after);
    idm_print(text, size, "%.60s %s", x->q->f->parameters->coordinate.name[e->at], after);
    break;
  case EXTENSION_TRACE:
    idm_carryover_trace_name(&x->carryover, e->trace, e->signal, text, size);
    break;
  }
}

idm_status idm_extensions_store(const extensions *x, idm_model_check *model, idm_error *opt_error)
{
  model->extension = idm_new(x->count, sizeof *model->extension);
  if (!model->extension) return idm_fail_memory(opt_error);
  model->extensions = x->count;
  for (size_t k = 0; k < x->count; k++) {
    const extension *e = &x->item[k];
    idm_score_test *to = &model->extension[k];
    idm_extension_name(x, e, to->name, sizeof to->name);
    if (e->kind == EXTENSION_FIXED) to->held = x->q->f->problem->theta->block[e->at].value[0];
    to->value = e->value;
    to->statistic = e->statistic[0];
    to->gain = e->gain;
    to->p = e->p;
  }
  return IDM_OK;
}

/* Print ",belief_utility.guess": the fields of a block with a free number. */
static size_t list_fields(const idm_theta *theta, const idm_block *block, char *text, size_t size)
{
  size_t used = 0;
  for (const idm_field *field = block->info->field; field->name && used < size; field++) {
    bool moves = false;
    for (size_t i = 0; i < block->size; i++)
      moves = moves ||
              (block->coordinate[i] >= 0 && idm_block_field(block->info, theta->sizes, i) == field);
    if (moves)
      used += (size_t)idm_print(text + used, size - used, ",%.60s.%.60s", block->info->name,
                                field->name);
  }
  return used;
}

void idm_extensions_list_free(const idm_theta *theta, char *text, size_t size)
{
  size_t used = 0;
  text[0] = '\0';
  for (size_t b = 0; b < theta->blocks && used < size; b++) {
    const idm_block *block = &theta->block[b];
    if (block->role != IDM_DESCRIPTIVE) continue;
    if (block->info->field && block->coordinate)
      used += list_fields(theta, block, text + used, size - used);
    else
      used += (size_t)idm_print(text + used, size - used, ",%.60s", block->info->name);
  }
}

/* Print "alpha from about 1.6 to 0.37"; in a population, or if the coordinate is not a number by
 * itself, "alpha by about -1.5". */
static void describe_size(const extensions *x, const extension *e, char *text, size_t size)
{
  const idm_parameters *p = x->q->f->parameters;
  const double y = x->r->strata->centre[e->at];
  char name[128];
  for (size_t i = 0; i < p->items && !x->q->people; i++) {
    const parameter *item = &p->item[i];
    if (item->first != e->at || !idm_parameter_is_scalar(item)) continue;
    idm_print(text, size, "%.100s from about %.2g to %.2g",
              idm_quantity_label(p->quantity.name[idm_parameter_reported(item)], name, sizeof name),
              idm_parameter_reported_at(item, y - e->value / 2),
              idm_parameter_reported_at(item, y + e->value / 2));
    return;
  }
  idm_print(text, size, "%.100s by about %+.2g", p->coordinate.name[e->at], e->value);
}

static size_t describe_drift(const extensions *x, const extension *e, char *text, size_t size)
{
  char moved[200];
  describe_size(x, e, moved, sizeof moved);
  return (size_t)idm_print(text, size, "a drift of %s %s would gain about %.0f nats: %s", moved,
                           idm_drift_span(e->drift), e->gain,
                           idm_drift_cure(e->drift, x->q->people));
}

/* Sentence on carry-over from earlier rows, which no number of the planner describes. */
static size_t describe_carryover(const extensions *x, const extension *e, char *text, size_t size)
{
  static const char cure[] =
      "no number of this planner describes it; try another planner (idm list planners)";
  char moved[200], span[160];
  if (e->kind == EXTENSION_TRACE) {
    idm_carryover_trace_name(&x->carryover, e->trace, e->signal, moved, sizeof moved);
    return (size_t)idm_print(text, size,
                             "a weight of about %+.2g of a trace of the past (%s) would gain about "
                             "%.0f nats: %s",
                             e->value, moved, e->gain, cure);
  }
  describe_size(x, e, moved, sizeof moved);
  idm_carryover_span(&x->carryover, e->signal, span, sizeof span);
  return (size_t)idm_print(text, size, "a change of %s %s would gain about %.0f nats: %s", moved,
                           span, e->gain, cure);
}

static size_t describe_fixed(const extensions *x, const extension *e, char *text, size_t size)
{
  const idm_theta *theta = x->q->f->problem->theta;
  const idm_block *block = &theta->block[e->at];
  char others[400], at[40] = "";
  /* The Newton step of a population is inaccurate, and populations are not refitted: omit the
   * value. */
  if (!x->q->people) idm_print(at, sizeof at, " at about %.2g", e->value);
  idm_extensions_list_free(theta, others, sizeof others);
  return (size_t)idm_print(
      text, size, "%.60s%s (held at %.3g) would gain about %.0f nats: --free %.60s%s",
      block->info->name, at, block->value[0], e->gain, block->info->name, others);
}

/* The Newton step is inaccurate: the size is omitted. */
static size_t describe_belief(const extensions *x, const extension *e, char *text, size_t size)
{
  char others[400];
  idm_extensions_list_free(x->q->f->problem->theta, others, sizeof others);
  return (size_t)idm_print(text, size,
                           "a utility of %scertain beliefs would gain about %.0f nats: --free "
                           "belief_utility.entropy%s",
                           e->value < e->held ? "un" : "", e->gain, others);
}

static size_t describe_one(const extensions *x, const extension *e, char *text, size_t size)
{
  switch (e->kind) {
  case EXTENSION_DRIFT:
    return describe_drift(x, e, text, size);
  case EXTENSION_SIGNAL:
  case EXTENSION_TRACE:
    return describe_carryover(x, e, text, size);
  case EXTENSION_BELIEF:
    return describe_belief(x, e, text, size);
  case EXTENSION_MEMORY_RESET:
    return (size_t)idm_print(text, size,
                             "a memory that is reset in every trajectory would gain about %.0f "
                             "nats: make every trajectory an agent of its own (data: {agent: "
                             "COLUMN, trajectory: COLUMN}, both the column of trajectories)",
                             e->gain);
  default:
    return describe_fixed(x, e, text, size);
  }
}

size_t idm_extensions_describe(const extensions *x, double level, char *text, size_t size)
{
  size_t count = 0, used = 0;
  text[0] = '\0';
  for (const extension *e = next_by_gain(x, false, level, INFINITY); e;
       e = next_by_gain(x, false, level, e->gain)) {
    if (count++ >= max_refits) continue;
    if (used) used += (size_t)idm_print(text + used, size - used, "; ");
    used += describe_one(x, e, text + used, size - used);
  }
  return count;
}
