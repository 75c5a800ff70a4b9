/* Soft plans: values by Newton (soft policy iteration) or backward, occupancies, and how these bend
 * with the utility. */
#include "invert/utility/soft_plan.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/soft.h"

enum { most_iterations = 200 };

/* --- memory --------------------------------------------------------------------------------- */

void idm_soft_plan_destroy(idm_soft_plan *plan)
{
  if (!plan) return;
  free(plan->v);
  free(plan->policy);
  free(plan->mass);
  free(plan->chain);
  free(plan->edge);
  free(plan->advantage);
  free(plan->work);
  free(plan);
}

static bool allocate(idm_soft_plan *p)
{
  const idm_sizes n = p->world->n;
  const size_t chain = p->world->horizon ? 0 : idm_times(n.states, n.states);
  p->v = idm_new(idm_times(p->layers, n.states), sizeof *p->v);
  p->policy = idm_new(idm_times(p->layers, n.states * n.actions), sizeof *p->policy);
  p->mass = idm_new(idm_times(p->layers, n.states), sizeof *p->mass);
  p->chain = idm_new(chain, sizeof *p->chain);
  p->edge = idm_new(n.states, sizeof *p->edge);
  p->advantage = idm_new(idm_times(p->layers, n.states * n.actions), sizeof *p->advantage);
  p->work = idm_new(n.actions + 2 * n.states, sizeof *p->work);
  return p->v && p->policy && p->mass && p->chain && p->edge && p->advantage && p->work;
}

idm_status idm_soft_plan_create(const idm_mdp *world, double alpha, const double *prior,
                                idm_soft_plan **ret_plan, idm_error *opt_error)
{
  *ret_plan = NULL;
  if (!(world->discount < 1) && !world->horizon)
    return idm_fail(opt_error, IDM_INPUT,
                    "with a discount of 1 occupancies need a horizon; expected `horizon`, or a "
                    "discount below 1");
  idm_soft_plan *plan = idm_new(1, sizeof *plan);
  if (!plan) return idm_fail_memory(opt_error);
  *plan = (idm_soft_plan){.world = world,
                          .alpha = alpha,
                          .prior = prior,
                          .layers = world->horizon ? world->horizon : 1};
  if (!allocate(plan)) {
    idm_soft_plan_destroy(plan);
    return idm_fail_memory(opt_error);
  }
  *ret_plan = plan;
  return IDM_OK;
}

/* Scratch: numbers by action, and by state, two of them. */
static double *by_action(const idm_soft_plan *p)
{
  return p->work;
}

static double *by_state(const idm_soft_plan *p, size_t which)
{
  return p->work + p->world->n.actions + which * p->world->n.states;
}

/* --- values --------------------------------------------------------------------------------- */

/* Policy of a layer given the values that follow (NULL: nothing does), and its own. */
static void choose(idm_soft_plan *p, const double *utility, const double *opt_next, size_t layer,
                   double *value)
{
  const idm_sizes n = p->world->n;
  double *quality = by_action(p);
  for (size_t s = 0; s < n.states; s++) {
    for (size_t u = 0; u < n.actions; u++)
      quality[u] =
          utility[u * n.states + s] + (opt_next ? idm_mdp_next(p->world, u, s, opt_next) : 0);
    value[s] = idm_soft(p->alpha, n.actions, p->prior, quality,
                        p->policy + (layer * n.states + s) * n.actions);
  }
}

/* Factor I - discount P of the policy. */
static bool factor(idm_soft_plan *p)
{
  const idm_sizes n = p->world->n;
  const idm_moves *moves = p->world->moves;
  memset(p->chain, 0, n.states * n.states * sizeof *p->chain);
  for (size_t s = 0; s < n.states; s++) {
    double *row = p->chain + s * n.states;
    row[s] = 1;
    for (size_t u = 0; u < n.actions; u++) {
      const double weight = p->world->discount * p->policy[s * n.actions + u];
      const size_t at = u * n.states + s;
      for (size_t i = moves->first[at]; weight > 0 && i < moves->first[at + 1]; i++)
        row[moves->next[i]] -= weight * moves->probability[i];
    }
  }
  return idm_envelope_factor(n.states, p->chain, p->edge);
}

/* Newton's method for V = B V: the chain of the greedy policy carries the residual back. After the
 * first step values only rise, and it ends where the residual is rounding: of the values, or of the
 * soft maximum, whose terms are of the size of alpha where utilities and values are 0. */
static bool settle(idm_soft_plan *p, const double *utility)
{
  const size_t states = p->world->n.states;
  double *change = by_state(p, 0);
  double last = INFINITY;
  for (int k = 0; k < most_iterations; k++) {
    double worst = 0;
    double size = p->alpha;
    choose(p, utility, p->v, 0, change);
    for (size_t s = 0; s < states; s++) {
      size = fmax(size, fabs(change[s]));
      change[s] -= p->v[s];
      worst = fmax(worst, fabs(change[s]));
    }
    if (!isfinite(size) || !factor(p)) return false;
    if (worst <= 2 * DBL_EPSILON * size || (worst <= 1e-13 * size && worst >= last)) return true;
    last = worst;
    idm_envelope_solve(states, p->chain, p->edge, change);
    for (size_t s = 0; s < states; s++) p->v[s] += change[s];
  }
  return false;
}

/* --- occupancy ------------------------------------------------------------------------------ */

/* Add to `to` what flows there, discounted, from a state that is left by mass[action]. */
static void pour(const idm_mdp *world, size_t state, const double *mass, double *to)
{
  const idm_sizes n = world->n;
  const idm_moves *moves = world->moves;
  for (size_t u = 0; u < n.actions; u++) {
    const double weight = world->discount * mass[u];
    const size_t row = u * n.states + state;
    for (size_t i = moves->first[row]; weight != 0 && i < moves->first[row + 1]; i++)
      to[moves->next[i]] += weight * moves->probability[i];
  }
}

/* The mass of the next layer from that of this one. */
static void go_on(const idm_soft_plan *p, size_t layer)
{
  const idm_sizes n = p->world->n;
  const double *mass = p->mass + layer * n.states;
  double *next = p->mass + (layer + 1) * n.states;
  double *leaving = by_action(p);
  memset(next, 0, n.states * sizeof *next);
  for (size_t s = 0; s < n.states; s++) {
    for (size_t u = 0; u < n.actions; u++)
      leaving[u] = mass[s] * p->policy[(layer * n.states + s) * n.actions + u];
    pour(p->world, s, leaving, next);
  }
}

idm_status idm_soft_plan_solve(idm_soft_plan *p, const double *utility, double *value,
                               idm_error *opt_error)
{
  const size_t states = p->world->n.states;
  const double share = idm_mdp_share(p->world);
  const bool endless = p->world->horizon == 0;
  bool settled = true;
  for (size_t t = p->layers; t-- > 0 && !endless;)
    choose(p, utility, t + 1 < p->layers ? p->v + (t + 1) * states : NULL, t, p->v + t * states);
  if (endless) settled = settle(p, utility);
  if (!settled) return idm_fail(opt_error, IDM_NUMERICAL, "values of the soft plan do not settle");
  *value = 0;
  for (size_t s = 0; s < states; s++) {
    p->mass[s] = share * p->world->start[s];
    *value += p->mass[s] * p->v[s];
  }
  if (endless) idm_envelope_solve_transposed(states, p->chain, p->edge, p->mass);
  for (size_t t = 0; t + 1 < p->layers; t++) go_on(p, t);
  return IDM_OK;
}

void idm_soft_plan_occupancy(const idm_soft_plan *p, double *occupancy)
{
  const idm_sizes n = p->world->n;
  memset(occupancy, 0, n.states * n.actions * sizeof *occupancy);
  for (size_t t = 0; t < p->layers; t++)
    for (size_t s = 0; s < n.states; s++)
      for (size_t u = 0; u < n.actions; u++)
        occupancy[u * n.states + s] +=
            p->mass[t * n.states + s] * p->policy[(t * n.states + s) * n.actions + u];
}

/* --- how it bends --------------------------------------------------------------------------- */

/* advantage[action] of a direction at a state: d + discount P w less its mean under the policy,
 * which is returned; w is what follows (NULL: nothing does). */
static double lean(const idm_soft_plan *p, const double *direction, const double *opt_next,
                   size_t layer, size_t state)
{
  const idm_sizes n = p->world->n;
  const idm_moves *moves = p->world->moves;
  const double *policy = p->policy + (layer * n.states + state) * n.actions;
  double *advantage = p->advantage + (layer * n.states + state) * n.actions;
  double mean = 0;
  for (size_t u = 0; u < n.actions; u++) {
    const size_t row = u * n.states + state;
    double next = 0;
    for (size_t i = moves->first[row]; opt_next && i < moves->first[row + 1]; i++)
      next += moves->probability[i] * opt_next[moves->next[i]];
    advantage[u] = direction[row] + p->world->discount * next;
    mean += policy[u] * advantage[u];
  }
  for (size_t u = 0; u < n.actions; u++) advantage[u] -= mean;
  return mean;
}

/* Advantages of a direction, layer by layer. */
static void lean_on(const idm_soft_plan *p, const double *direction)
{
  const size_t states = p->world->n.states;
  double *now = by_state(p, 0);
  double *after = by_state(p, 1);
  for (size_t t = p->layers; t-- > 0;) {
    for (size_t s = 0; s < states; s++)
      now[s] = lean(p, direction, t + 1 < p->layers ? after : NULL, t, s);
    memcpy(after, now, states * sizeof *after);
  }
  if (p->world->horizon) return;
  /* The only layer is its own successor. */
  idm_envelope_solve(states, p->chain, p->edge, after);
  for (size_t s = 0; s < states; s++) lean(p, direction, after, 0, s);
}

/* Change of a layer's occupancy at a state, whose mass changes by `mass`, and whose policy by
 * pi A / alpha: by[action]. */
static void turn(const idm_soft_plan *p, size_t layer, size_t state, double mass, double *by)
{
  const idm_sizes n = p->world->n;
  const size_t at = layer * n.states + state;
  const double weight = p->mass[at] / p->alpha;
  for (size_t u = 0; u < n.actions; u++)
    by[u] = p->policy[at * n.actions + u] * (mass + weight * p->advantage[at * n.actions + u]);
}

void idm_soft_plan_bend(idm_soft_plan *p, const double *direction, double *change)
{
  const idm_sizes n = p->world->n;
  const bool endless = p->world->horizon == 0;
  double *by = by_action(p);
  double *mass = by_state(p, 0);
  double *next = by_state(p, 1);
  lean_on(p, direction);
  memset(change, 0, n.states * n.actions * sizeof *change);
  memset(mass, 0, n.states * sizeof *mass);
  if (endless) { /* what the new policy sends elsewhere, and all that follows from it */
    for (size_t s = 0; s < n.states; s++) {
      turn(p, 0, s, 0, by);
      pour(p->world, s, by, mass);
    }
    idm_envelope_solve_transposed(n.states, p->chain, p->edge, mass);
  }
  for (size_t t = 0; t < p->layers; t++) {
    memset(next, 0, n.states * sizeof *next);
    for (size_t s = 0; s < n.states; s++) {
      turn(p, t, s, mass[s], by);
      for (size_t u = 0; u < n.actions; u++) change[u * n.states + s] += by[u];
      if (t + 1 < p->layers) pour(p->world, s, by, next);
    }
    memcpy(mass, next, n.states * sizeof *mass);
  }
}
