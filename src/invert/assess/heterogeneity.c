/* Score tests of heterogeneity: between agents, between trajectories, and between people beyond the
 * prior of their sds (docs/method/verdict.md, 10).
 *
 * Contents: agents · trajectories · spread */
#include <math.h>

#include "base/memory.h"
#include "invert/assess.h"
#include "invert/assess/residual.h"

/* === agents ================================================================================= */

/* Test of homogeneity of agents (residual.h). */

void idm_agents_close(agents_check *c)
{
  free(c->information);
  free(c->score);
  *c = (agents_check){0};
}

idm_status idm_agents_open(agents_check *c, const decision_residuals *r, idm_error *opt_error)
{
  const size_t d = r->dimension;
  const size_t agents = r->strata->agents;
  *c = (agents_check){.r = r};
  if (agents < 2 || !d || r->strata->design) return IDM_OK;
  c->agents = agents;
  c->information = idm_new(idm_times(agents, d * d), sizeof *c->information);
  c->score = idm_new(idm_times(agents, d), sizeof *c->score);
  if (!c->information || !c->score) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < r->decision_points; i++)
    idm_residual_information(r, &r->decision_point[i],
                             c->information + r->decision_point[i].agent * d * d);
  return IDM_OK;
}

double idm_agents_statistic(agents_check *c, const double *taken, const double *shift)
{
  const decision_residuals *r = c->r;
  const size_t d = r->dimension;
  memset(c->score, 0, c->agents * d * sizeof *c->score);
  for (size_t i = 0; i < r->decision_points; i++) {
    double *own = c->score + r->decision_point[i].agent * d;
    for (size_t u = 0; u < r->actions; u++) {
      const double n = taken[i * r->actions + u];
      const double *s = idm_residual_score(r, &r->decision_point[i], u);
      for (size_t j = 0; n > 0 && j < d; j++) own[j] += n * s[j];
    }
  }
  double sum = 0;
  for (size_t a = 0; a < c->agents; a++) {
    double *own = c->score + a * d;
    const double *information = c->information + a * d * d;
    for (size_t i = 0; i < d; i++)
      for (size_t j = 0; j < d; j++) own[i] -= information[i * d + j] * shift[j];
    sum += idm_residual_quadratic(r, own);
  }
  return sum;
}

void idm_agents_between(const agents_check *c, double *between)
{
  const size_t d = c->r->dimension;
  for (size_t j = 0; j < d; j++) {
    double excess = 0;
    double weight = 0;
    for (size_t a = 0; a < c->agents; a++) {
      const double score = c->score[a * d + j];
      const double own = c->information[a * d * d + j * d + j];
      excess += score * score - own;
      weight += own * own;
    }
    between[j] = excess > 0 && weight > 0 ? sqrt(excess / weight) : 0;
  }
}

/* === trajectories =========================================================================== */

/* Test of homogeneity of the trajectories of an agent (residual.h). */

void idm_trajectories_close(trajectories_check *c)
{
  free(c->past_scores);
  free(c->cross);
  free(c->sd);
  free(c->mean_derivative);
  free(c->sum);
  *c = (trajectories_check){0};
}

/* Score and information, [dimension] each, summed over rows of a trajectory. */
typedef struct row_scores {
  double *score;
  double *information; /* diagonal of the information */
} row_scores;

static row_scores at(const row_scores *all, size_t row, size_t dimension)
{
  return (row_scores){all->score + row * dimension, all->information + row * dimension};
}

/* Add a row if it has a decision. */
static void add_row(const decision_residuals *r, const stratum *of, size_t node,
                    const row_scores *to)
{
  const size_t row = of->first + node, d = r->dimension;
  const int32_t action = of->tree->node[node].action;
  if (action == IDM_MISSING || of->tree->node[node].missed) return;
  for (size_t u = 0; u < r->actions; u++)
    for (size_t j = 0; j < d; j++) {
      const double s = r->derivative[(row * r->actions + u) * d + j];
      to->score[j] += action == (int32_t)u ? s : 0;
      to->information[j] += r->probability[row * r->actions + u] * s * s;
    }
}

/* Sum, for every node, the rows of its trajectory above it; a parent precedes its children. */
static void add_rows(const decision_residuals *r, const row_scores *all)
{
  const size_t d = r->dimension;
  for (size_t c = 0; c < r->strata->count; c++) {
    const stratum *of = &r->strata->one[c];
    for (size_t i = 0; i < of->tree->nodes; i++) {
      const int32_t parent = of->tree->node[i].parent;
      if (parent < 0 || of->tree->node[parent].begin >= 0) continue;
      const row_scores to = at(all, of->first + i, d),
                       from = at(all, of->first + (size_t)parent, d);
      memcpy(to.score, from.score, d * sizeof *to.score);
      memcpy(to.information, from.information, d * sizeof *to.information);
      add_row(r, of, (size_t)parent, &to);
    }
  }
}

/* Add a decision point to the variance of Q, to its covariances with S and to its mean derivative.
 */
static void add_decision_point(trajectories_check *c, const decision_point *q,
                               const row_scores *past_scores)
{
  const decision_residuals *r = c->r;
  const size_t d = r->dimension;
  const double *p = idm_residual_probability(r, q);
  for (size_t u = 0; u < r->actions; u++) {
    const double *s = idm_residual_score(r, q, u);
    for (size_t j = 0; j < d; j++) {
      const double own = q->decisions * p[u] * s[j];
      c->mean_derivative[j] += own * s[j] * past_scores->information[j];
      c->sd[j] += own * s[j] * past_scores->score[j] * past_scores->score[j];
      for (size_t k = 0; k < d; k++) c->cross[j * d + k] += own * s[k] * past_scores->score[j];
    }
  }
}

/* Compute the sds of Q after projection on the scores of all decisions. */
static void find_sds(trajectories_check *c)
{
  static const double min_variance_share = 1e-4; /* share of the variance; less is rounding error */
  const size_t d = c->r->dimension;
  for (size_t j = 0; j < d; j++) {
    const double rest = c->sd[j] - idm_residual_quadratic(c->r, c->cross + j * d);
    c->sd[j] = rest > min_variance_share * c->sd[j] ? sqrt(rest) : 0;
  }
}

static idm_status compute_moments(trajectories_check *c, idm_error *opt_error)
{
  const decision_residuals *r = c->r;
  const size_t d = r->dimension, size = idm_times(r->strata->nodes, d);
  const row_scores all = {idm_new(size, sizeof(double)), idm_new(size, sizeof(double))};
  const bool made = all.score && all.information;
  if (made) {
    add_rows(r, &all);
    for (size_t i = 0; i < r->decision_points; i++) {
      const row_scores past_scores = at(&all, r->decision_point[i].node, d);
      memcpy(c->past_scores + i * d, past_scores.score, d * sizeof *c->past_scores);
      add_decision_point(c, &r->decision_point[i], &past_scores);
    }
    find_sds(c);
  }
  free(all.score);
  free(all.information);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

static size_t count_trajectories(const strata *s)
{
  size_t count = 0;
  for (size_t c = 0; c < s->count; c++) count += s->one[c].data->trajectories;
  return count > s->agents ? count : 0;
}

idm_status idm_trajectories_open(trajectories_check *c, const decision_residuals *r,
                                 idm_error *opt_error)
{
  const size_t d = r->dimension;
  *c = (trajectories_check){.r = r};
  if (!d || !count_trajectories(r->strata)) return IDM_OK;
  c->trajectories = count_trajectories(r->strata);
  c->past_scores = idm_new(idm_times(r->decision_points, d), sizeof *c->past_scores);
  c->cross = idm_new(d * d, sizeof *c->cross);
  c->sd = idm_new(d, sizeof *c->sd);
  c->mean_derivative = idm_new(d, sizeof *c->mean_derivative);
  c->sum = idm_new(d, sizeof *c->sum);
  const bool made = c->past_scores && c->cross && c->sd && c->mean_derivative && c->sum;
  return made ? compute_moments(c, opt_error) : idm_fail_memory(opt_error);
}

double idm_trajectories_statistic(trajectories_check *c, const double *taken, const double *shift)
{
  const decision_residuals *r = c->r;
  const size_t d = r->dimension;
  double largest = 0;
  for (size_t j = 0; j < d; j++) {
    c->sum[j] = 0;
    for (size_t k = 0; k < d; k++) c->sum[j] -= c->cross[j * d + k] * shift[k];
  }
  for (size_t i = 0; i < r->decision_points; i++)
    for (size_t u = 0; u < r->actions; u++) {
      const double n = taken[i * r->actions + u];
      const double *s = idm_residual_score(r, &r->decision_point[i], u);
      for (size_t j = 0; n > 0 && j < d; j++) c->sum[j] += n * s[j] * c->past_scores[i * d + j];
    }
  for (size_t j = 0; j < d; j++)
    if (c->sd[j] > 0) largest = fmax(largest, c->sum[j] / c->sd[j]);
  return largest;
}

void idm_trajectories_between(const trajectories_check *c, double *between)
{
  for (size_t j = 0; j < c->r->dimension; j++)
    between[j] =
        c->sum[j] > 0 && c->mean_derivative[j] > 0 ? sqrt(c->sum[j] / c->mean_derivative[j]) : 0;
}

/* === spread ================================================================================= */

/* Test of the sds between people against their prior (residual.h). */

void idm_spread_close(spread_check *c)
{
  free(c->information);
  free(c->score);
  free(c->squares);
  free(c->replicate);
  *c = (spread_check){0};
}

/* Add the information of a decision point on the effects of its person. */
static void add_information(spread_check *c, const decision_point *q)
{
  const decision_residuals *r = c->r;
  const idm_design *design = r->strata->design;
  const double *p = idm_residual_probability(r, q);
  for (size_t e = 0; e < c->effects; e++) {
    const double share = design->share[q->stratum * c->effects + e];
    double *own = c->information + design->cell_person[q->stratum] * c->effects + e;
    for (size_t u = 0; u < r->actions; u++) {
      const double s = share * idm_residual_score(r, q, u)[design->effect_coordinate[e]];
      *own += q->decisions * p[u] * s * s;
    }
  }
}

static bool has_sds(const strata *s)
{
  const idm_design *d = s->design;
  return d && d->sd_scale && !d->held && !d->fixed && s->people->sd;
}

idm_status idm_spread_open(spread_check *c, const decision_residuals *r, idm_error *opt_error)
{
  *c = (spread_check){.r = r};
  if (!r->dimension || !has_sds(r->strata)) return IDM_OK;
  const size_t effects = r->strata->design->effects;
  const size_t pairs = idm_times(r->strata->design->people, effects);
  c->effects = effects;
  c->information = idm_new(pairs, sizeof *c->information);
  c->score = idm_new(pairs, sizeof *c->score);
  c->squares = idm_new(effects, sizeof *c->squares);
  c->replicate = idm_new(effects, sizeof *c->replicate);
  if (!c->information || !c->score || !c->squares || !c->replicate)
    return idm_fail_memory(opt_error);
  for (size_t i = 0; i < r->decision_points; i++) add_information(c, &r->decision_point[i]);
  return IDM_OK;
}

/* Sums over people, for one effect. */
typedef struct sums {
  double score, information, squared_information;
} sums;

static sums add_up(const spread_check *c, size_t effect)
{
  sums sum = {0};
  for (size_t i = 0; i < c->r->strata->design->people; i++) {
    const double own = c->information[i * c->effects + effect];
    sum.score += c->score[i * c->effects + effect];
    sum.information += own;
    sum.squared_information += own * own;
  }
  return sum;
}

/* Sum of squares of the scores less the projection on a common shift of all people. */
static double add_squares(const spread_check *c, size_t effect)
{
  const sums sum = add_up(c, effect);
  const double shift = sum.information > 0 ? sum.score / sum.information : 0;
  double squares = 0;
  for (size_t i = 0; i < c->r->strata->design->people; i++) {
    const size_t at = i * c->effects + effect;
    const double rest = c->score[at] - c->information[at] * shift;
    squares += rest * rest;
  }
  return squares;
}

void idm_spread_add_run(spread_check *c, const double *taken, bool replicate)
{
  const decision_residuals *r = c->r;
  const idm_design *design = r->strata->design;
  const size_t effects = c->effects;
  memset(c->score, 0, design->people * effects * sizeof *c->score);
  for (size_t i = 0; i < r->decision_points; i++) {
    const size_t cell = r->decision_point[i].stratum;
    double *own = c->score + design->cell_person[cell] * effects;
    for (size_t u = 0; u < r->actions; u++) {
      const double n = taken[i * r->actions + u];
      const double *s = idm_residual_score(r, &r->decision_point[i], u);
      for (size_t e = 0; n > 0 && e < effects; e++)
        own[e] += n * design->share[cell * effects + e] * s[design->effect_coordinate[e]];
    }
  }
  for (size_t e = 0; e < effects; e++) {
    c->squares[e] = add_squares(c, e);
    if (replicate) idm_welford_add(&c->replicate[e], cbrt(c->squares[e]));
  }
}

/* The result for one effect, after all replicates and, last, the log. */
static spread_found idm_spread_find(const spread_check *c, size_t effect)
{
  const idm_people *people = c->r->strata->people;
  const size_t all = people->chains * people->draws;
  const idm_welford *expected = &c->replicate[effect];
  const double expected_sd = sqrt(idm_welford_variance(expected));
  const sums sum = add_up(c, effect);
  if (!(expected_sd > 0) || !(sum.information > 0)) return (spread_found){0};
  const double expected_squares = sum.information - sum.squared_information / sum.information;
  const double excess = (c->squares[effect] - expected_squares) / sum.squared_information;
  const double held = idm_squares_about(people->sd + effect * all, all, 0) / (double)all;
  return (spread_found){.z_score = (cbrt(c->squares[effect]) - expected->mean) / expected_sd,
                        .shown = sqrt(held + fmax(0, excess))};
}

static void describe(const spread_check *c, size_t effect, const spread_found *found,
                     idm_notes *notes)
{
  const idm_people *people = c->r->strata->people;
  const idm_design *design = c->r->strata->design;
  const size_t all = people->chains * people->draws;
  idm_notes_add(
      notes,
      "the prior of the sd of %s between people, half-normal(%.3g), contradicts them, and keeps it "
      "too small: its posterior mean is %.2g, and people vary by about %.2g (their scores by %.1f "
      "sds more than this sd allows); widen `population: {sd: ...}`",
      design->effect.name[effect], design->sd_scale[effect],
      idm_mean(people->sd + effect * all, all), found->shown, found->z_score);
}

bool idm_spread_record(const spread_check *c, idm_assessment *assessment)
{
  bool exceeded = false;
  for (size_t e = 0; e < c->effects; e++) {
    const spread_found found = idm_spread_find(c, e);
    const double scales = found.shown / c->r->strata->design->sd_scale[e];
    if (!idm_check_test(&assessment->checks, IDM_CHECK_PRIOR_PULL, fmin(found.z_score, scales)))
      continue;
    exceeded = true;
    describe(c, e, &found, &assessment->misfits);
  }
  return exceeded;
}
