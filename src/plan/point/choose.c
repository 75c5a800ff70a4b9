/* The most promising action of a belief. */
#include "plan/point/choose.h"

double idm_graph_reward(const graph *g, const belief *b, size_t action)
{
  const double *reward = g->problem->reward + action * g->problem->kernel->states;
  double sum = 0;
  for (size_t k = 0; k < b->count; k++) sum += b->mass[k] * reward[b->state[k]];
  return sum + idm_prize_at(&g->problem->prize, action, b);
}

/* Look at an action again, by its successors. */
static idm_status look(graph *g, uint32_t at, size_t u, idm_error *opt_error)
{
  const idm_status status = idm_graph_expand(g, at, u, opt_error);
  if (status != IDM_OK) return status;
  branch *b = graph_branch(g, at, u);
  const belief z = graph_belief(g, at);
  double sum = 0;
  for (size_t e = b->edge; e < b->edge + b->edges; e++)
    sum += g->edge[e].p * idm_graph_upper(g, g->edge[e].node);
  const double value = idm_graph_reward(g, &z, u) + g->problem->discount * sum;
  if (value < b->upper) b->upper = value;
  return IDM_OK;
}

static size_t most_promising(const graph *g, uint32_t at)
{
  size_t best = 0;
  for (size_t u = 1; u < g->problem->kernel->actions; u++)
    if (graph_branch(g, at, u)->upper > graph_branch(g, at, best)->upper) best = u;
  return best;
}

/* Bounds of actions only go down, so that those that are not the best need not be looked at. */
idm_status idm_graph_choose(graph *g, uint32_t at, size_t *action, idm_error *opt_error)
{
  idm_status status = idm_graph_meet(g, at, opt_error);
  for (size_t looked = SIZE_MAX; status == IDM_OK;) {
    *action = most_promising(g, at);
    if (*action == looked) break;
    looked = *action;
    status = look(g, at, looked, opt_error);
  }
  return status;
}
