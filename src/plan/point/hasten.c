/* Newton's method on both bounds. */
#include "plan/point/hasten.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "plan/point/choose.h"
#include "plan/point/monotone.h"

/* --- from below ----------------------------------------------------------------------------- */

/* The row of vector i in state s, of what it is short of, so that the system's numbers go down: x =
 * -alpha. */
static idm_status add_plan_row(const graph *g, size_t i, size_t s, double paid, monotone *m,
                               idm_error *opt_error)
{
  const kernel *k = g->problem->kernel;
  const size_t u = g->bounds->stage[0].lower.action[i];
  const uint32_t *after = g->plans.after + i * g->plans.width;
  const size_t first = kernel_first_cell(k, u);
  idm_status status = IDM_OK;
  size_t o = k->outcome[u];
  for (size_t e = k->entry[u * k->states + s];
       e < k->entry[u * k->states + s + 1] && status == IDM_OK; e++) {
    const size_t cell = first + k->at[e];
    while (cell >= k->cell[o + 1]) o++; /* entries come by outcome */
    const size_t next = (size_t)after[o - k->outcome[u]] * k->states + k->state[cell];
    status = idm_monotone_add(m, next, g->problem->discount * k->value[e], opt_error);
  }
  if (status == IDM_OK) status = idm_monotone_end_row(m, -paid, opt_error);
  idm_monotone_end(m, -INFINITY);
  return status;
}

/* The system of all plans; `paid` is scratch, [state]. */
static idm_status gather_plans(const graph *g, double *paid, monotone *m, double *x,
                               idm_error *opt_error)
{
  const size_t states = g->problem->kernel->states;
  const alphas *lower = &g->bounds->stage[0].lower;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < lower->count && status == IDM_OK; i++) {
    const belief at = graph_belief(g, g->plans.owner[i]);
    memcpy(paid, g->problem->reward + lower->action[i] * states, states * sizeof *paid);
    idm_prize_add(&g->problem->prize, lower->action[i], &at, paid);
    for (size_t s = 0; s < states && status == IDM_OK; s++) {
      x[i * states + s] = -alpha_at(lower, i, s);
      status = add_plan_row(g, i, s, paid[s], m, opt_error);
    }
  }
  return status;
}

/* Vectors in place of the first `count`, which they are nowhere below. */
static idm_status renew(graph *g, size_t count, const double *x, double *vector,
                        idm_error *opt_error)
{
  alphas *lower = &g->bounds->stage[0].lower;
  plans *p = &g->plans;
  uint32_t *after = idm_new(p->width, sizeof *after);
  idm_status status = after ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    for (size_t o = 0; o < p->width; o++) after[o] = p->after[i * p->width + o] + (uint32_t)count;
    for (size_t s = 0; s < lower->states; s++) vector[s] = -x[i * lower->states + s];
    status = idm_plans_add(p, p->owner[i], after, opt_error);
    if (status == IDM_OK) status = idm_alphas_add(lower, vector, lower->action[i], opt_error);
  }
  free(after);
  return status;
}

idm_status idm_hasten_below(graph *g, idm_error *opt_error)
{
  idm_status status = idm_graph_prune_below(g, 0, opt_error);
  if (status != IDM_OK) return status;
  const size_t states = g->problem->kernel->states;
  const size_t count = g->bounds->stage[0].lower.count;
  monotone m = {0};
  double *x = idm_new(idm_times(count, states), sizeof *x);
  double *vector = idm_new(states, sizeof *vector);
  status = x && vector ? idm_monotone_create(count * states, g->problem->discount, &m, opt_error)
                       : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = gather_plans(g, vector, &m, x, opt_error);
  m.opt_halts = g->problem->opt_halts;
  m.context = g->problem->halts_context;
  if (status == IDM_OK) status = idm_monotone_lower(&m, x, opt_error);
  if (status == IDM_OK) status = renew(g, count, x, vector, opt_error);
  if (status == IDM_OK) status = idm_graph_prune_below(g, 0, opt_error);
  idm_monotone_free(&m);
  free(x);
  free(vector);
  return status;
}

/* --- from above ----------------------------------------------------------------------------- */

/* Parts of a mixture. */
typedef struct mixture {
  uint32_t *part; /* [states + 1] */
  double *weight; /* [states + 1] */
} mixture;

/* The row of an action at a node, by the mixtures that bound what follows. */
static idm_status add_action_row(graph *g, uint32_t at, size_t u, const mixture *mix, monotone *m,
                                 idm_error *opt_error)
{
  const sawtooth *upper = &g->bounds->stage[0].upper;
  const belief z = graph_belief(g, at);
  const branch *b = graph_branch(g, at, u);
  double constant = idm_graph_reward(g, &z, u);
  idm_status status = IDM_OK;
  for (size_t e = b->edge; e < b->edge + b->edges && status == IDM_OK; e++) {
    const belief next = idm_graph_recall(g, g->edge[e].node);
    const double p = g->problem->discount * g->edge[e].p;
    double rest;
    const size_t parts = idm_sawtooth_mix(upper, &next, mix->part, mix->weight, &rest, g->dense);
    constant += p * rest;
    for (size_t i = 0; i < parts && status == IDM_OK; i++)
      if (mix->weight[i] > 0)
        status = idm_monotone_add(m, mix->part[i], p * mix->weight[i], opt_error);
  }
  return status == IDM_OK ? idm_monotone_end_row(m, constant, opt_error) : status;
}

/* The number of a node: the best of the actions that were looked at, and no less than the bounds of
 * the others. */
static idm_status add_node(graph *g, uint32_t at, const mixture *mix, monotone *m,
                           idm_error *opt_error)
{
  double floor = -INFINITY;
  size_t best;
  idm_status status = idm_graph_choose(g, at, &best, opt_error);
  for (size_t u = 0; u < g->problem->kernel->actions && status == IDM_OK; u++) {
    const branch *b = graph_branch(g, at, u);
    if (b->expanded)
      status = add_action_row(g, at, u, mix, m, opt_error);
    else
      floor = fmax(floor, b->upper);
  }
  idm_monotone_end(m, floor);
  return status;
}

/* Points, by their owners, then corners, which stay what they are. */
static idm_status gather_points(graph *g, const mixture *mix, monotone *m, double *x,
                                idm_error *opt_error)
{
  const sawtooth *upper = &g->bounds->stage[0].upper;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < upper->count && status == IDM_OK; i++) {
    x[i] = upper->point[i].value;
    status = add_node(g, upper->point[i].owner, mix, m, opt_error);
  }
  for (size_t s = 0; s < upper->states && status == IDM_OK; s++) {
    x[upper->count + s] = upper->corner[s];
    idm_monotone_end(m, upper->corner[s]);
  }
  return status;
}

static idm_status lower_points(graph *g, double least, const double *x, idm_error *opt_error)
{
  sawtooth *upper = &g->bounds->stage[0].upper;
  const size_t count = upper->count;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    if (!(x[i] < upper->point[i].value - least)) continue;
    const uint32_t owner = upper->point[i].owner;
    node *n = &g->node[owner];
    const belief b = graph_belief(g, owner);
    n->upper = fmin(n->upper, x[i]);
    status = idm_sawtooth_lower(upper, &b, x[i], owner, &n->point, opt_error);
  }
  return status;
}

idm_status idm_hasten_above(graph *g, double least, idm_error *opt_error)
{
  const sawtooth *upper = &g->bounds->stage[0].upper;
  const size_t rows = upper->count + upper->states;
  monotone m = {0};
  const mixture mix = {idm_new(upper->states + 1, sizeof *mix.part),
                       idm_new(upper->states + 1, sizeof *mix.weight)};
  double *x = idm_new(rows, sizeof *x);
  idm_status status = x && mix.part && mix.weight
                          ? idm_monotone_create(rows, g->problem->discount, &m, opt_error)
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = gather_points(g, &mix, &m, x, opt_error);
  m.opt_halts = g->problem->opt_halts;
  m.context = g->problem->halts_context;
  if (status == IDM_OK) status = idm_monotone_lower(&m, x, opt_error);
  if (status == IDM_OK) status = lower_points(g, least, x, opt_error);
  idm_monotone_free(&m);
  free(mix.part);
  free(mix.weight);
  free(x);
  return status;
}
