/* Whether people vary more than the prior of the sds between them lets them: see the header. */
#include "invert/assess/spread.h"

#include <math.h>

#include "base/memory.h"
#include "invert/check.h"

void idm_spread_close(spread_check *c)
{
  free(c->information);
  free(c->score);
  free(c->squares);
  free(c->replicate);
  *c = (spread_check){0};
}

/* Add a question's information on the effects of its person. */
static void inform(spread_check *c, const question *q)
{
  const residual *r = c->r;
  const idm_design *design = r->strata->design;
  const double *p = idm_residual_probability(r, q);
  for (size_t e = 0; e < c->effects; e++) {
    const double share = design->share[q->stratum * c->effects + e];
    double *own = c->information + design->cell_person[q->stratum] * c->effects + e;
    for (size_t u = 0; u < r->actions; u++) {
      const double s = share * idm_residual_score(r, q, u)[design->effect_coordinate[e]];
      *own += q->asked * p[u] * s * s;
    }
  }
}

static bool has_sds(const strata *s)
{
  const idm_design *d = s->design;
  return d && d->sd_scale && !d->held && !d->fixed && s->people->sd;
}

idm_status idm_spread_open(spread_check *c, const residual *r, idm_error *opt_error)
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
  for (size_t i = 0; i < r->questions; i++) inform(c, &r->question[i]);
  return IDM_OK;
}

/* Sums over people, of one effect. */
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

/* Of scores less what a shift of all people explains. */
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

void idm_spread_take(spread_check *c, const double *taken, bool replicate)
{
  const residual *r = c->r;
  const idm_design *design = r->strata->design;
  const size_t effects = c->effects;
  memset(c->score, 0, design->people * effects * sizeof *c->score);
  for (size_t i = 0; i < r->questions; i++) {
    const size_t cell = r->question[i].stratum;
    double *own = c->score + design->cell_person[cell] * effects;
    for (size_t u = 0; u < r->actions; u++) {
      const double n = taken[i * r->actions + u];
      const double *s = idm_residual_score(r, &r->question[i], u);
      for (size_t e = 0; n > 0 && e < effects; e++)
        own[e] += n * design->share[cell * effects + e] * s[design->effect_coordinate[e]];
    }
  }
  for (size_t e = 0; e < effects; e++) {
    c->squares[e] = add_squares(c, e);
    if (replicate) idm_welford_add(&c->replicate[e], cbrt(c->squares[e]));
  }
}

spread_found idm_spread_find(const spread_check *c, size_t effect)
{
  const idm_people *people = c->r->strata->people;
  const size_t all = people->chains * people->draws;
  const idm_welford *expected = &c->replicate[effect];
  const double varies = sqrt(idm_welford_variance(expected));
  const sums sum = add_up(c, effect);
  if (!(varies > 0) || !(sum.information > 0)) return (spread_found){0};
  const double alike = sum.information - sum.squared_information / sum.information;
  const double excess = (c->squares[effect] - alike) / sum.squared_information;
  const double held = idm_squares_about(people->sd + effect * all, all, 0) / (double)all;
  return (spread_found){.far = (cbrt(c->squares[effect]) - expected->mean) / varies,
                        .shown = sqrt(held + fmax(0, excess))};
}

static void describe(const spread_check *c, size_t effect, const spread_found *found,
                     idm_notes *notes)
{
  const idm_people *people = c->r->strata->people;
  const idm_design *design = c->r->strata->design;
  const size_t all = people->chains * people->draws;
  idm_notes_add(notes,
                "the prior of the sd of %s between people, half-normal(%.3g), contradicts them, "
                "and holds it down: its posterior mean is %.2g, and people vary by about %.2g "
                "(their scores by %.1f sds more than this sd lets them); widen `population: {sd: "
                "...}`",
                design->effect.name[effect], design->sd_scale[effect],
                idm_mean(people->sd + effect * all, all), found->shown, found->far);
}

bool idm_spread_judge(const spread_check *c, idm_assessment *assessment)
{
  bool exceeded = false;
  for (size_t e = 0; e < c->effects; e++) {
    const spread_found found = idm_spread_find(c, e);
    const double scales = found.shown / c->r->strata->design->sd_scale[e];
    if (!idm_check_test(&assessment->checks, IDM_CHECK_PRIOR_PULL, fmin(found.far, scales)))
      continue;
    exceeded = true;
    describe(c, e, &found, &assessment->misfits);
  }
  return exceeded;
}
