/* A world in which it shows whether a plan was left. */
#include "invert/utility/leaving.h"

#include "base/memory.h"

/* The row of the world that a state of the leaver's stands for. */
static size_t row_of(const idm_leaving *l, size_t action, size_t state)
{
  return action * l->states + state % l->states;
}

/* Whether an action in a state leaves the plan, at the state's node. */
static bool leaves(const idm_leaving *l, const idm_policy_graph *plan, size_t action, size_t state)
{
  return state >= l->states && plan->action[state / l->states - 1] != (int32_t)action;
}

/* Where (state, action, x) goes: to the states of those who have left, or of the node that
 * follows. */
static size_t base_of(const idm_leaving *l, const idm_policy_graph *plan, size_t action,
                      size_t state, size_t x)
{
  if (state < l->states || leaves(l, plan, action, state)) return 0;
  const size_t link = (state / l->states - 1) * plan->n.observations + x;
  return plan->guessed[link] ? 0 : (plan->next[link] + 1) * l->states;
}

static void put_rows(const idm_mind *mind, const idm_policy_graph *plan, idm_leaving *l)
{
  const size_t all = l->mind.n.states;
  size_t at = 0;
  for (size_t u = 0; u < mind->n.actions; u++)
    for (size_t s = 0; s < all; s++) {
      const size_t row = row_of(l, u, s);
      l->mind.first[u * all + s] = at;
      for (size_t i = mind->first[row]; i < mind->first[row + 1]; i++, at++) {
        l->mind.seen[at] = mind->seen[i];
        l->mind.next[at] = (uint32_t)(base_of(l, plan, u, s, mind->seen[i]) + mind->next[i]);
        l->mind.p[at] = mind->p[i];
      }
    }
  l->mind.first[mind->n.actions * all] = at;
}

idm_status idm_leaving_create(const idm_mind *mind, const idm_policy_graph *plan,
                              idm_leaving **ret_leaving, idm_error *opt_error)
{
  *ret_leaving = NULL;
  const size_t states = mind->n.states;
  const size_t all = (plan->count + 1) * states;
  const size_t entries = (plan->count + 1) * mind->first[mind->n.actions * states];
  idm_leaving *l = idm_new(1, sizeof *l);
  if (!l) return idm_fail_memory(opt_error);
  l->mind = *mind;
  l->mind.n.states = all;
  l->nodes = plan->count;
  l->states = states;
  l->start = idm_new(all, sizeof *l->start);
  l->mind.start = l->start;
  l->mind.first = idm_new(mind->n.actions * all + 1, sizeof *l->mind.first);
  l->mind.seen = idm_new(entries, sizeof *l->mind.seen);
  l->mind.next = idm_new(entries, sizeof *l->mind.next);
  l->mind.p = idm_new(entries, sizeof *l->mind.p);
  if (!l->start || !l->mind.first || !l->mind.seen || !l->mind.next || !l->mind.p) {
    idm_leaving_destroy(l);
    return idm_fail_memory(opt_error);
  }
  memcpy(l->start + states, plan->belief, states * sizeof *l->start);
  put_rows(mind, plan, l);
  *ret_leaving = l;
  return IDM_OK;
}

void idm_leaving_destroy(idm_leaving *leaving)
{
  if (!leaving) return;
  free(leaving->start);
  free(leaving->mind.first);
  free(leaving->mind.seen);
  free(leaving->mind.next);
  free(leaving->mind.p);
  free(leaving);
}

void idm_leaving_pay(const idm_leaving *leaving, const idm_policy_graph *plan,
                     const double *utility, const double *pay, double *paid)
{
  const size_t all = leaving->mind.n.states;
  for (size_t u = 0; u < leaving->mind.n.actions; u++)
    for (size_t s = 0; s < all; s++) {
      paid[u * all + s] = utility[row_of(leaving, u, s)];
      if (leaves(leaving, plan, u, s)) paid[u * all + s] += pay[s / leaving->states - 1];
    }
}

void idm_leaving_gather(const idm_leaving *leaving, const idm_policy_graph *plan,
                        const double *count, double *gathered, double *left)
{
  const size_t all = leaving->mind.n.states;
  memset(gathered, 0, leaving->mind.n.actions * leaving->states * sizeof *gathered);
  memset(left, 0, leaving->nodes * sizeof *left);
  for (size_t u = 0; u < leaving->mind.n.actions; u++)
    for (size_t s = 0; s < all; s++) {
      gathered[row_of(leaving, u, s)] += count[u * all + s];
      if (leaves(leaving, plan, u, s)) left[s / leaving->states - 1] += count[u * all + s];
    }
}
