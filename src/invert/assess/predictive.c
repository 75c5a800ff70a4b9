/* Predictive checks: counts of decisions by cell against their predictions, and groups of decisions
 * by belief (docs/method/verdict.md, 9).
 *
 * Contents: beliefs · predictive */
#include "invert/assess/residual.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "belief/belief.h"

/* === beliefs ================================================================================== */

/* Groups of decisions by the belief of a Bayesian (residual.h). */

void idm_beliefs_close(beliefs *b)
{
  free(b->group);
  *b = (beliefs){0};
}

/* --- beliefs -------------------------------------------------------------------------------- */

/* Beliefs after the nodes of one stratum; NaN if something that they depend on was not recorded. */
typedef struct filtered {
  const decision_residuals *r;
  const stratum *of;
  double *z;       /* [node][state] */
  double *emitter; /* [state] */
} filtered;

/* Set the belief at the start of trajectories. */
static void begin(const filtered *f, const idm_prefix_node *node, double *z)
{
  const idm_setting *setting = f->r->setting;
  const size_t states = setting->states.count;
  const int32_t own = f->of->tree->begin_start[node->begin];
  memcpy(z, own >= 0 ? f->of->tree->data->start_belief + (size_t)own * states : setting->start,
         states * sizeof *z);
}

/* Update the belief by a row. */
static void step(const filtered *f, const idm_prefix_node *node, const double *before, double *z)
{
  const size_t states = f->r->setting->states.count;
  bool possible = node->action != IDM_MISSING && !node->missed && isfinite(before[0]);
  if (possible) {
    const idm_action_model model = idm_action_model_of(f->r->setting, (size_t)node->action);
    if (node->observation == IDM_MISSING) {
      idm_filter_predict(states, model.transition, before, z);
    } else {
      idm_filter_emitter(&model, before, f->emitter);
      possible = idm_filter_correct(&model, f->emitter, (size_t)node->observation, z) > 0;
    }
  }
  for (size_t s = 0; s < states && !possible; s++) z[s] = NAN;
}

/* A parent precedes its children. */
static void filter_stratum(const filtered *f)
{
  const size_t states = f->r->setting->states.count;
  for (size_t i = 0; i < f->of->tree->nodes; i++) {
    const idm_prefix_node *node = &f->of->tree->node[i];
    double *z = f->z + i * states;
    if (node->begin >= 0)
      begin(f, node, z);
    else
      step(f, node, node->parent < 0 ? f->r->setting->start : f->z + (size_t)node->parent * states,
           z);
  }
}

/* --- groups --------------------------------------------------------------------------------- */

/* A decision with its belief. Probabilities are rounded, so that histories with equal beliefs are
 * grouped alike on every machine. */
typedef struct belief_decision {
  size_t at; /* index of the decision point */
  int32_t state;
  double probability;
} belief_decision;

static belief_decision classify_belief(size_t at, size_t states, const double *z)
{
  static const double unit = 1e-9;
  belief_decision p = {.at = at, .probability = z[0]};
  for (size_t s = 1; s < states; s++)
    if (z[s] > p.probability + unit) {
      p.state = (int32_t)s;
      p.probability = z[s];
    }
  p.probability = unit * round(p.probability / unit);
  return p;
}

static int by_probability(const void *a, const void *b)
{
  const double x = ((const belief_decision *)a)->probability,
               y = ((const belief_decision *)b)->probability;
  return x < y ? -1 : x > y;
}

/* Divide the decisions into thirds; equal probabilities are in one bin. */
static void divide_by_thirds(beliefs *b, const decision_residuals *r, belief_decision *all,
                             size_t count)
{
  double total = 0, before = 0;
  size_t bin = 0;
  qsort(all, count, sizeof *all, by_probability);
  for (size_t i = 0; i < count; i++) total += r->decision_point[all[i].at].decisions;
  b->edge[0] = count ? all[0].probability : 0;
  for (size_t i = 0; i < count; i++) {
    const bool same = i && all[i].probability == all[i - 1].probability;
    while (!same && bin + 1 < BELIEF_BINS && before * BELIEF_BINS >= total * (double)(bin + 1))
      b->edge[++bin] = all[i].probability;
    b->group[all[i].at] = all[i].state * BELIEF_BINS + (int32_t)bin;
    before += r->decision_point[all[i].at].decisions;
  }
  while (bin < BELIEF_BINS) b->edge[++bin] = count ? all[count - 1].probability : 1;
}

static bool can_compare(const idm_setting *setting)
{
  enum { max_states = 8 };
  return !setting->fully_observed && !setting->moves && setting->states.count >= 2 &&
         setting->states.count <= max_states && setting->observations.count >= 2;
}

idm_status idm_beliefs_open(beliefs *b, const decision_residuals *r, idm_error *opt_error)
{
  const size_t states = r->setting->states.count;
  *b = (beliefs){0};
  if (!can_compare(r->setting)) return IDM_OK;
  b->group = idm_new(r->decision_points, sizeof *b->group);
  double *z = idm_new(idm_times(r->strata->nodes, states) + states, sizeof *z);
  belief_decision *all = idm_new(r->decision_points, sizeof *all);
  const bool made = b->group && z && all;
  size_t count = 0;
  for (size_t c = 0; made && c < r->strata->count; c++) {
    const stratum *of = &r->strata->one[c];
    filter_stratum(&(filtered){.r = r, .of = of, .z = z + (of->first + 1) * states, .emitter = z});
  }
  for (size_t i = 0; made && i < r->decision_points; i++) {
    const double *own = z + (r->decision_point[i].parent + 1) * states;
    b->group[i] = IDM_MISSING;
    if (isfinite(own[0])) all[count++] = classify_belief(i, states, own);
  }
  if (made) divide_by_thirds(b, r, all, count);
  if (made) b->groups = states * BELIEF_BINS;
  free(z);
  free(all);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* === predictive =============================================================================== */

/* --- cells ---------------------------------------------------------------------------------- */

/* Bins of steps: the first few separately, later ones together. The last step of each, counted from
 * 1. */
static const uint32_t step_ends[] = {1, 2, 3, 10, 30, 100, UINT32_MAX};
enum { STEPS = sizeof step_ends / sizeof *step_ends, NOWHERE = -1 };

static size_t step_of(const decision_point *d)
{
  size_t i = 0;
  while (d->step >= step_ends[i]) i++;
  return i;
}

/* Whether there is a previous action that can be repeated. */
static bool could_stay(const decision_residuals *r, const decision_point *d)
{
  return d->last_action != IDM_MISSING && d->seen != IDM_MISSING &&
         !r->setting->ends[d->last_action];
}

/* Number of variants of the setting with cells: 0 if there is one, or if nearly every trajectory
 * has its own. */
static size_t variant_count(const decision_residuals *r)
{
  enum { most = 64 };
  const size_t count = r->strata->one[0].data->variants;
  return count > 1 && count <= most ? count : 0;
}

/* The cell of a family that contains an action at a decision point. */
static int32_t cell_of(const predictive *p, cell_family family, size_t question_at, size_t action)
{
  const decision_residuals *r = p->r;
  const decision_point *d = &r->decision_point[question_at];
  const size_t observations = r->observations;
  const bool same = could_stay(r, d) && (int32_t)action == d->last_action;
  switch (family) {
  case CELLS_STEP:
    return (int32_t)(step_of(d) * r->actions + action);
  case CELLS_END:
    return r->setting->ends[action] ? (int32_t)step_of(d) : NOWHERE;
  case CELLS_STAY:
    return same ? d->seen : NOWHERE;
  case CELLS_RETURN:
    return d->shown != IDM_MISSING && (int32_t)action == d->second_last_action ? d->shown : NOWHERE;
  case CELLS_RESPONSE:
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
  const decision_residuals *r = p->r;
  const size_t agents = r->strata->agents;
  const size_t count[CELLS_FAMILIES] = {[CELLS_STEP] = STEPS * r->actions,
                                        [CELLS_END] = STEPS,
                                        [CELLS_STAY] = r->observations,
                                        [CELLS_RETURN] = r->observations,
                                        [CELLS_RESPONSE] = idm_times(r->observations, r->actions),
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
    free(p->family[f].trials);
    free(p->family[f].expected);
    free(p->family[f].spread);
    free(p->family[f].variance);
    free(p->family[f].cross);
    free(p->family[f].residual);
  }
  free(p->shift);
  idm_beliefs_close(&p->beliefs);
  *p = (predictive){0};
}

/* --- expectations --------------------------------------------------------------------------- */

/* Add the expectation of one decision point to the cell of an action: all actions from that one on
 * in the same cell. An unavailable action has probability 0 and contributes nothing. */
static void add_expectation(const decision_residuals *r, cell_counts *c, size_t at, size_t first)
{
  const int32_t *of = c->of + at * r->actions;
  const double decisions = r->decision_point[at].decisions;
  const double *probability = idm_residual_probability(r, &r->decision_point[at]);
  const size_t cell = (size_t)of[first];
  double p = 0;
  for (size_t u = first; u < r->actions; u++) {
    if (of[u] != of[first]) continue;
    const double *score = idm_residual_score(r, &r->decision_point[at], u);
    p += probability[u];
    for (size_t j = 0; j < r->dimension; j++)
      c->cross[cell * r->dimension + j] += decisions * probability[u] * score[j];
  }
  c->trials[cell] += p > 0 ? decisions : 0;
  c->expected[cell] += decisions * p;
  c->spread[cell] += decisions * p * (1 - p);
}

/* Whether an action is the first of its cell. */
static bool is_first(const int32_t *of, size_t action)
{
  for (size_t u = 0; u < action; u++)
    if (of[u] == of[action]) return false;
  return of[action] != NOWHERE;
}

static void add_expectations(const decision_residuals *r, cell_counts *c)
{
  for (size_t i = 0; i < r->decision_points; i++)
    for (size_t u = 0; u < r->actions; u++)
      if (is_first(c->of + i * r->actions, u)) add_expectation(r, c, i, u);
  for (size_t k = 0; k < c->count; k++) {
    const double taken = idm_residual_quadratic(r, c->cross + k * r->dimension);
    c->variance[k] = fmax(0, c->spread[k] - taken);
  }
}

idm_status idm_predictive_open(predictive *p, const decision_residuals *r, idm_error *opt_error)
{
  *p = (predictive){.r = r, .shift = idm_new(r->dimension, sizeof *p->shift)};
  if (!p->shift) return idm_fail_memory(opt_error);
  const idm_status status = idm_beliefs_open(&p->beliefs, r, opt_error);
  if (status != IDM_OK) return status;
  for (size_t f = 0; f < CELLS_FAMILIES; f++) {
    cell_counts *c = &p->family[f];
    c->count = cell_count(p, (cell_family)f);
    c->trials = idm_new(c->count, sizeof *c->trials);
    c->expected = idm_new(c->count, sizeof *c->expected);
    c->spread = idm_new(c->count, sizeof *c->spread);
    c->variance = idm_new(c->count, sizeof *c->variance);
    c->cross = idm_new(idm_times(c->count, r->dimension), sizeof *c->cross);
    c->residual = idm_new(c->count, sizeof *c->residual);
    c->of = idm_new(idm_times(r->decision_points, r->actions), sizeof *c->of);
    if (!c->of || !c->trials || !c->expected || !c->spread || !c->variance || !c->cross ||
        !c->residual)
      return idm_fail_memory(opt_error);
    for (size_t i = 0; i < r->decision_points * r->actions; i++)
      c->of[i] = cell_of(p, (cell_family)f, i / r->actions, i % r->actions);
    add_expectations(r, c);
  }
  return IDM_OK;
}

/* --- counts --------------------------------------------------------------------------------- */

void idm_predictive_count(predictive *p, const double *taken, const double *shift)
{
  const decision_residuals *r = p->r;
  memcpy(p->shift, shift, r->dimension * sizeof *shift);
  for (size_t f = 0; f < CELLS_FAMILIES; f++) {
    cell_counts *c = &p->family[f];
    for (size_t k = 0; k < c->count; k++) {
      c->residual[k] = -c->expected[k];
      for (size_t j = 0; j < r->dimension; j++)
        c->residual[k] -= c->cross[k * r->dimension + j] * shift[j];
    }
    for (size_t i = 0; i < r->decision_points * r->actions; i++)
      if (c->of[i] != NOWHERE) c->residual[c->of[i]] += taken[i];
  }
}

/* Squared standardised residual; half a decision is added to the variance, so that a cell with
 * almost no expected decisions counts little unless decisions occur there. */
static double square(const cell_counts *c, size_t cell)
{
  return c->residual[cell] * c->residual[cell] / (c->variance[cell] + 0.5);
}

static double sum_of(const cell_counts *c, size_t first, size_t count)
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
  const cell_counts *c = &p->family[family];
  double observed = c->residual[cell] + c->expected[cell];
  for (size_t j = 0; j < p->r->dimension; j++)
    observed += c->cross[cell * p->r->dimension + j] * p->shift[j];
  return observed;
}

/* --- sentences ------------------------------------------------------------------------------- */

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

/* Print "after 'loss' "; empty if there is one observation only, which has no information. */
static const char *describe_observation(const idm_setting *setting, size_t observation, char *text,
                                        size_t size)
{
  text[0] = '\0';
  if (setting->observations.count > 1)
    idm_print(text, size, "after '%.80s' ", setting->observations.name[observation]);
  return text;
}

/* Print the phrase of a return, likewise. */
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
              describe_observation(setting, cell, seen, sizeof seen));
  if (family == CELLS_RETURN) describe_return(setting, cell, text, size);
  if (family == CELLS_RESPONSE)
    idm_print(text, size, "%s'%.80s' was taken",
              describe_observation(setting, cell / own, seen, sizeof seen),
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
  } else if (family == CELLS_RESPONSE) {
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

/* Print a share: rounding errors of 0 as "0 %", not as 7e-16 %. */
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

/* Size of the residual in sds of the count before projection on the scores, which may explain most
 * of one cell and little of another: the sentence quotes counts. */
static double size_of(const cell_counts *c, size_t cell)
{
  return fabs(c->residual[cell]) / sqrt(c->spread[cell] + 0.5);
}

bool idm_predictive_worst(const predictive *p, cell_family family, double least,
                          cell_misfit *ret_misfit, char *text, size_t size)
{
  const cell_counts *c = &p->family[family];
  size_t worst = c->count;
  for (size_t k = 0; k < c->count; k++)
    if (fabs(c->residual[k]) >= least * c->trials[k] && c->trials[k] > 0 &&
        (worst == c->count || size_of(c, k) > size_of(c, worst)))
      worst = k;
  if (worst == c->count) return false;
  char what[200];
  const double observed = idm_predictive_observed(p, family, worst);
  describe_cell(p, family, worst, what, sizeof what);
  *ret_misfit = (cell_misfit){.z_score = sqrt(square(c, worst)), .size = size_of(c, worst)};
  char seen[32], expected[32];
  idm_print(text, size, "%s in %s of %.0f decisions, where %s are expected", what,
            percent(observed / c->trials[worst], seen, sizeof seen), c->trials[worst],
            percent((observed - c->residual[worst]) / c->trials[worst], expected, sizeof expected));
  return true;
}
