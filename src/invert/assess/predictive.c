/* Whether the log's own summaries are what the answer predicts: see the header.
 *
 * Contents: cells · expectations · counts · words */
#include "invert/assess/predictive.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/number.h"

/* --- cells ---------------------------------------------------------------------------------- */

/* The first few steps one by one, later ones together: the last step of each, counted from 1. */
static const uint32_t step_ends[] = {1, 2, 3, 10, 30, 100, UINT32_MAX};
enum { STEPS = sizeof step_ends / sizeof *step_ends, NOWHERE = -1 };

static size_t step_of(const question *d)
{
  size_t i = 0;
  while (d->step >= step_ends[i]) i++;
  return i;
}

/* Whether "the same action again" can be asked there. */
static bool could_stay(const residual *r, const question *d)
{
  return d->previous != IDM_MISSING && d->seen != IDM_MISSING && !r->setting->ends[d->previous];
}

/* Variants of the setting that have cells: none where there is one, or where nearly every
 * trajectory has its own. */
static size_t variant_count(const residual *r)
{
  enum { most = 64 };
  const size_t count = r->strata->one[0].data->variants;
  return count > 1 && count <= most ? count : 0;
}

/* The cell of a family that an action falls into. */
static int32_t cell_of(const predictive *p, cell_family family, size_t question_at, size_t action)
{
  const residual *r = p->r;
  const question *d = &r->question[question_at];
  const size_t observations = r->observations;
  const bool same = could_stay(r, d) && (int32_t)action == d->previous;
  switch (family) {
  case CELLS_STEP:
    return (int32_t)(step_of(d) * r->actions + action);
  case CELLS_END:
    return r->setting->ends[action] ? (int32_t)step_of(d) : NOWHERE;
  case CELLS_STAY:
    return same ? d->seen : NOWHERE;
  case CELLS_RETURN:
    return d->shown != IDM_MISSING && (int32_t)action == d->earlier ? d->shown : NOWHERE;
  case CELLS_SEEN:
    return d->seen != IDM_MISSING ? d->seen * (int32_t)r->actions + (int32_t)action : NOWHERE;
  case CELLS_BELIEF:
    return p->beliefs.groups && p->beliefs.group[question_at] != IDM_MISSING
               ? p->beliefs.group[question_at] * (int32_t)r->actions + (int32_t)action
               : NOWHERE;
  case CELLS_VARIANT:
    return variant_count(r) ? (int32_t)(d->variant * r->actions + action) : NOWHERE;
  case CELLS_AGENT_ACTION:
    return (int32_t)(d->agent * r->actions + action);
  case CELLS_AGENT_STAY:
    return same ? (int32_t)(d->agent * observations + (size_t)d->seen) : NOWHERE;
  default:
    return NOWHERE;
  }
}

static size_t cell_count(const predictive *p, cell_family family)
{
  const residual *r = p->r;
  const size_t agents = r->strata->agents;
  const size_t count[CELLS_FAMILIES] = {[CELLS_STEP] = STEPS * r->actions,
                                        [CELLS_END] = STEPS,
                                        [CELLS_STAY] = r->observations,
                                        [CELLS_RETURN] = r->observations,
                                        [CELLS_SEEN] = idm_times(r->observations, r->actions),
                                        [CELLS_BELIEF] = idm_times(p->beliefs.groups, r->actions),
                                        [CELLS_VARIANT] = idm_times(variant_count(r), r->actions),
                                        [CELLS_AGENT_ACTION] = idm_times(agents, r->actions),
                                        [CELLS_AGENT_STAY] = idm_times(agents, r->observations)};
  return count[family];
}

void idm_predictive_close(predictive *p)
{
  for (size_t f = 0; f < CELLS_FAMILIES; f++) {
    free(p->family[f].of);
    free(p->family[f].chances);
    free(p->family[f].expected);
    free(p->family[f].spread);
    free(p->family[f].variance);
    free(p->family[f].cross);
    free(p->family[f].left);
  }
  free(p->shift);
  idm_beliefs_close(&p->beliefs);
  *p = (predictive){0};
}

/* --- expectations --------------------------------------------------------------------------- */

/* What one question adds to the cell of an action: all actions from that one on that fall there. An
 * action that is not open has probability 0 and no share in anything. */
static void expect(const residual *r, cells *c, size_t at, size_t first)
{
  const int32_t *of = c->of + at * r->actions;
  const double asked = r->question[at].asked;
  const double *probability = idm_residual_probability(r, &r->question[at]);
  const size_t cell = (size_t)of[first];
  double p = 0;
  for (size_t u = first; u < r->actions; u++) {
    if (of[u] != of[first]) continue;
    const double *score = idm_residual_score(r, &r->question[at], u);
    p += probability[u];
    for (size_t j = 0; j < r->dimension; j++)
      c->cross[cell * r->dimension + j] += asked * probability[u] * score[j];
  }
  c->chances[cell] += p > 0 ? asked : 0;
  c->expected[cell] += asked * p;
  c->spread[cell] += asked * p * (1 - p);
}

/* Whether an action is the first of its cell. */
static bool is_first(const int32_t *of, size_t action)
{
  for (size_t u = 0; u < action; u++)
    if (of[u] == of[action]) return false;
  return of[action] != NOWHERE;
}

static void expect_all(const residual *r, cells *c)
{
  for (size_t i = 0; i < r->questions; i++)
    for (size_t u = 0; u < r->actions; u++)
      if (is_first(c->of + i * r->actions, u)) expect(r, c, i, u);
  for (size_t k = 0; k < c->count; k++) {
    const double taken = idm_residual_length(r, c->cross + k * r->dimension);
    c->variance[k] = fmax(0, c->spread[k] - taken);
  }
}

idm_status idm_predictive_open(predictive *p, const residual *r, idm_error *opt_error)
{
  *p = (predictive){.r = r, .shift = idm_new(r->dimension, sizeof *p->shift)};
  if (!p->shift) return idm_fail_memory(opt_error);
  const idm_status status = idm_beliefs_open(&p->beliefs, r, opt_error);
  if (status != IDM_OK) return status;
  for (size_t f = 0; f < CELLS_FAMILIES; f++) {
    cells *c = &p->family[f];
    c->count = cell_count(p, (cell_family)f);
    c->chances = idm_new(c->count, sizeof *c->chances);
    c->expected = idm_new(c->count, sizeof *c->expected);
    c->spread = idm_new(c->count, sizeof *c->spread);
    c->variance = idm_new(c->count, sizeof *c->variance);
    c->cross = idm_new(idm_times(c->count, r->dimension), sizeof *c->cross);
    c->left = idm_new(c->count, sizeof *c->left);
    c->of = idm_new(idm_times(r->questions, r->actions), sizeof *c->of);
    if (!c->of || !c->chances || !c->expected || !c->spread || !c->variance || !c->cross ||
        !c->left)
      return idm_fail_memory(opt_error);
    for (size_t i = 0; i < r->questions * r->actions; i++)
      c->of[i] = cell_of(p, (cell_family)f, i / r->actions, i % r->actions);
    expect_all(r, c);
  }
  return IDM_OK;
}

/* --- counts --------------------------------------------------------------------------------- */

void idm_predictive_take(predictive *p, const double *taken, const double *shift)
{
  const residual *r = p->r;
  memcpy(p->shift, shift, r->dimension * sizeof *shift);
  for (size_t f = 0; f < CELLS_FAMILIES; f++) {
    cells *c = &p->family[f];
    for (size_t k = 0; k < c->count; k++) {
      c->left[k] = -c->expected[k];
      for (size_t j = 0; j < r->dimension; j++)
        c->left[k] -= c->cross[k * r->dimension + j] * shift[j];
    }
    for (size_t i = 0; i < r->questions * r->actions; i++)
      if (c->of[i] != NOWHERE) c->left[c->of[i]] += taken[i];
  }
}

/* Half a decision more, so that a cell in which hardly anything is expected counts for little until
 * something happens there. */
static double square(const cells *c, size_t cell)
{
  return c->left[cell] * c->left[cell] / (c->variance[cell] + 0.5);
}

static double sum_of(const cells *c, size_t first, size_t count)
{
  double sum = 0;
  for (size_t k = first; k < first + count; k++) sum += square(c, k);
  return sum;
}

double idm_predictive_sum(const predictive *p, cell_family family)
{
  return sum_of(&p->family[family], 0, p->family[family].count);
}

double idm_predictive_agent(const predictive *p, size_t agent)
{
  const size_t actions = p->r->actions;
  const size_t observations = p->r->observations;
  return sum_of(&p->family[CELLS_AGENT_ACTION], agent * actions, actions) +
         sum_of(&p->family[CELLS_AGENT_STAY], agent * observations, observations);
}

double idm_predictive_observed(const predictive *p, cell_family family, size_t cell)
{
  const cells *c = &p->family[family];
  double observed = c->left[cell] + c->expected[cell];
  for (size_t j = 0; j < p->r->dimension; j++)
    observed += c->cross[cell * p->r->dimension + j] * p->shift[j];
  return observed;
}

/* --- words ---------------------------------------------------------------------------------- */

static void describe_steps(size_t step, const char *at, char *text, size_t size)
{
  const uint32_t first = step ? step_ends[step - 1] + 1 : 1;
  if (step + 1 == STEPS)
    idm_print(text, size, "from step %u on", first);
  else if (first == step_ends[step])
    idm_print(text, size, "%sstep %u", at, first);
  else
    idm_print(text, size, "%ssteps %u to %u", at, first, step_ends[step]);
}

/* "after 'loss' ": empty where there is one observation alone, which shows nothing. */
static const char *describe_seen(const idm_setting *setting, size_t observation, char *text,
                                 size_t size)
{
  text[0] = '\0';
  if (setting->observations.count > 1)
    idm_print(text, size, "after '%.80s' ", setting->observations.name[observation]);
  return text;
}

/* Likewise. */
static void describe_return(const idm_setting *setting, size_t observation, char *text, size_t size)
{
  char shown[120] = "";
  if (setting->observations.count > 1)
    idm_print(shown, sizeof shown, ", after which '%.80s' was seen,",
              setting->observations.name[observation]);
  idm_print(text, size, "the action of two rows before%s was taken", shown);
}

/* "'MCI' of 0.62 to 0.85". */
static const char *describe_belief(const predictive *p, size_t group, char *text, size_t size)
{
  const size_t bin = group % BELIEF_BINS;
  idm_print(text, size, "'%.80s' of %.2g to %.2g", p->r->setting->states.name[group / BELIEF_BINS],
            p->beliefs.edge[bin], p->beliefs.edge[bin + 1]);
  return text;
}

static void describe_cell(const predictive *p, cell_family family, size_t cell, char *text,
                          size_t size)
{
  const idm_setting *setting = p->r->setting;
  const size_t own = p->r->actions;
  char steps[64], seen[120];
  if (family == CELLS_STAY)
    idm_print(text, size, "%sthe same action was taken again",
              describe_seen(setting, cell, seen, sizeof seen));
  if (family == CELLS_RETURN) describe_return(setting, cell, text, size);
  if (family == CELLS_SEEN)
    idm_print(text, size, "%s'%.80s' was taken",
              describe_seen(setting, cell / own, seen, sizeof seen),
              setting->actions.name[cell % own]);
  if (family == CELLS_BELIEF)
    idm_print(text, size, "at beliefs in %s '%.80s' was taken",
              describe_belief(p, cell / own, seen, sizeof seen), setting->actions.name[cell % own]);
  if (family == CELLS_VARIANT)
    idm_print(text, size,
              "in condition %zu (of the columns that utilities are read from) '%.80s' "
              "was taken",
              cell / own + 1, setting->actions.name[cell % own]);
  if (family != CELLS_STEP && family != CELLS_END) return;
  const size_t actions = family == CELLS_STEP ? p->r->actions : 1;
  describe_steps(cell / actions, "at ", steps, sizeof steps);
  if (family == CELLS_STEP)
    idm_print(text, size, "%s '%.80s' was taken", steps, setting->actions.name[cell % actions]);
  else
    idm_print(text, size, "%s the trajectory ended", steps);
}

void idm_predictive_label(const predictive *p, cell_family family, size_t cell, char *text,
                          size_t size)
{
  const idm_setting *setting = p->r->setting;
  const size_t actions = p->r->actions;
  const char *action = setting->actions.name[cell % actions];
  char steps[64], belief[120];
  if (family == CELLS_STEP) {
    describe_steps(cell / actions, "", steps, sizeof steps);
    idm_print(text, size, "%s, %.80s", steps, action);
  } else if (family == CELLS_SEEN) {
    idm_print(text, size, "after %.80s, %.80s", setting->observations.name[cell / actions], action);
  } else if (family == CELLS_BELIEF) {
    idm_print(text, size, "%s, %.80s", describe_belief(p, cell / actions, belief, sizeof belief),
              action);
  } else if (family == CELLS_VARIANT) {
    idm_print(text, size, "condition %zu, %.80s", cell / actions + 1, action);
  } else if (family == CELLS_STAY || family == CELLS_RETURN) {
    if (setting->observations.count > 1)
      idm_print(text, size, "after %.80s", setting->observations.name[cell]);
    else
      idm_print(text, size, "%s", family == CELLS_STAY ? "again" : "back");
  } else {
    describe_steps(cell, "", text, size);
  }
}

/* A share as a person says it: what rounding leaves of 0 is "0 %", not 7e-16 %. */
static const char *percent(double share, char *buffer, size_t size)
{
  const double in_percent = 100 * share;
  if (in_percent < 1e-6)
    idm_print(buffer, size, "0 %%");
  else if (in_percent < 0.01)
    idm_print(buffer, size, "less than 0.01 %%");
  else
    idm_print(buffer, size, "%.3g %%", in_percent);
  return buffer;
}

/* Without what the scores explain, which may be most of a cell and little of another, so that
 * residuals of both are as many sds off: a reader compares counts. */
static double size_of(const cells *c, size_t cell)
{
  return fabs(c->left[cell]) / sqrt(c->spread[cell] + 0.5);
}

bool idm_predictive_worst(const predictive *p, cell_family family, double least, misfit *ret_misfit,
                          char *text, size_t size)
{
  const cells *c = &p->family[family];
  size_t worst = c->count;
  for (size_t k = 0; k < c->count; k++)
    if (fabs(c->left[k]) >= least * c->chances[k] && c->chances[k] > 0 &&
        (worst == c->count || size_of(c, k) > size_of(c, worst)))
      worst = k;
  if (worst == c->count) return false;
  char what[200];
  const double observed = idm_predictive_observed(p, family, worst);
  describe_cell(p, family, worst, what, sizeof what);
  *ret_misfit = (misfit){.sds = sqrt(square(c, worst)), .size = size_of(c, worst)};
  char seen[32], expected[32];
  idm_print(text, size, "%s in %s of %.0f decisions, where %s are expected", what,
            percent(observed / c->chances[worst], seen, sizeof seen), c->chances[worst],
            percent((observed - c->left[worst]) / c->chances[worst], expected, sizeof expected));
  return true;
}
