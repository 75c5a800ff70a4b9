/* A discount of 1 without a horizon: stochastic shortest paths (Bertsekas and Tsitsiklis 1991). */
#include "plan/control/endless.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/krylov.h"
#include "base/memory.h"
#include "base/soft_block.h"
#include "plan/control/backup.h"

static const idm_successor_block *block_of(const control *c, size_t u)
{
  return &c->successors->block[u * c->models];
}

/* Whether the agent may ever take an action. */
static bool is_open(const control *c, size_t u)
{
  return c->numbers.action_prior[u] > 0;
}

static double reward_of(const control *c, size_t s, size_t u)
{
  return c->reward[u * c->padded + s];
}

/* Whether a successor of s is marked, or all of them are. */
static bool leads_to(const idm_successor_block *block, size_t s, const bool *mark, bool all)
{
  const size_t slice = s / IDM_LANES;
  const size_t lane = s % IDM_LANES;
  for (size_t at = block->offset[slice]; at < block->offset[slice + 1]; at += IDM_LANES)
    if (block->value[at + lane] > 0 && mark[block->column[at + lane]] != all) return !all;
  return all;
}

/* --- does it have a value? ------------------------------------------------------------------ */

/* Everything is over where every action stays, at a utility of 0. */
static bool is_over(const control *c, size_t s, bool *only)
{
  bool over = true;
  only[s] = true;
  for (size_t u = 0; u < c->sizes.actions && over; u++)
    over = !is_open(c, u) || (!c->setting->terminal[u] && reward_of(c, s, u) == 0 &&
                              leads_to(block_of(c, u), s, only, true));
  only[s] = false;
  return over;
}

static bool can_stop(const control *c, size_t s)
{
  if (c->ended[s]) return true;
  for (size_t u = 0; u < c->sizes.actions; u++)
    if (is_open(c, u) && c->setting->terminal[u]) return true;
  return false;
}

/* Mark the states from which some policy may end; returns one from which none does, or the number
 * of states. Where all may end, a policy that takes every action ends for certain. */
static size_t mark_ending(const control *c, bool *ending)
{
  const size_t states = c->sizes.states;
  bool more = true;
  for (size_t s = 0; s < states; s++) ending[s] = can_stop(c, s);
  while (more) {
    more = false;
    for (size_t s = 0; s < states; s++)
      for (size_t u = 0; u < c->sizes.actions && !ending[s]; u++)
        if (is_open(c, u) && !c->setting->terminal[u] && leads_to(block_of(c, u), s, ending, false))
          more = ending[s] = true;
  }
  size_t s = 0;
  while (s < states && ending[s]) s++;
  return s;
}

/* Whether an action keeps to the states marked. */
static bool stays(const control *c, size_t s, size_t u, const bool *mark)
{
  return is_open(c, u) && !c->setting->terminal[u] && leads_to(block_of(c, u), s, mark, true);
}

/* The states in which one may go on for ever: the largest set that some action of each keeps to. */
static bool mark_lasting(const control *c, bool *lasting)
{
  const size_t states = c->sizes.states;
  bool any = false;
  bool fewer = true;
  for (size_t s = 0; s < states; s++) lasting[s] = !c->ended[s];
  while (fewer) {
    fewer = any = false;
    for (size_t s = 0; s < states; s++) {
      if (!lasting[s]) continue;
      bool goes_on = false;
      for (size_t u = 0; u < c->sizes.actions && !goes_on; u++) goes_on = stays(c, s, u, lasting);
      lasting[s] = goes_on;
      fewer = fewer || !goes_on;
      any = any || goes_on;
    }
  }
  return any;
}

/* The most that a step may add to v among the states in which one goes on, and v one half step on.
 */
static double raise(const control *c, const bool *lasting, double *v, double *next)
{
  double most = -INFINITY;
  for (size_t s = 0; s < c->sizes.states; s++) {
    if (!lasting[s]) continue;
    double best = -INFINITY;
    for (size_t u = 0; u < c->sizes.actions; u++)
      if (stays(c, s, u, lasting))
        best = fmax(best, reward_of(c, s, u) + idm_successor_row(block_of(c, u), s, v));
    most = fmax(most, best - v[s]);
    next[s] = (best + v[s]) / 2;
  }
  memcpy(v, next, c->sizes.states * sizeof *v);
  return most;
}

/* Whether going on for ever loses for ever: the mean of the best policy that does is at most the
 * largest rise of any function. */
static bool loses(const control *c, const bool *lasting, double *v, double *next)
{
  enum { most_sweeps = 20000 };
  memset(v, 0, c->sizes.states * sizeof *v);
  memset(next, 0, c->sizes.states * sizeof *next);
  for (int i = 0; i < most_sweeps; i++)
    if (raise(c, lasting, v, next) < 0) return true;
  return false;
}

static idm_status check(control *c, bool *mark, double *room, idm_error *opt_error)
{
  const size_t states = c->sizes.states;
  const char *const *name = (const char *const *)c->setting->states.name;
  memset(mark, 0, states * sizeof *mark);
  for (size_t s = 0; s < states; s++) c->ended[s] = is_over(c, s, mark);
  const size_t stuck = mark_ending(c, mark);
  if (stuck < states)
    return idm_fail(
        opt_error, IDM_INPUT,
        "the discount is 1 without a horizon, and from '%s' no policy comes to an end: a "
        "terminal action, or a state of utility 0 that is never left",
        name[stuck]);
  if (!mark_lasting(c, mark) || loses(c, mark, room, room + states)) return IDM_OK;
  size_t s = 0;
  while (!mark[s]) s++;
  return idm_fail(opt_error, IDM_INPUT,
                  "the discount is 1 without a horizon, and a policy that goes on for ever, as in "
                  "'%s', is not seen to lose for ever: values may not exist",
                  name[s]);
}

idm_status idm_control_check_endless(control *c, idm_error *opt_error)
{
  const size_t states = c->sizes.states;
  if (!c->lattice->corners || c->models > 1 || signbit(c->numbers.alpha) || c->numbers.eta != 0)
    return idm_fail(opt_error, IDM_INPUT,
                    "a discount of 1 without a horizon needs states that are observed, one model, "
                    "alpha of at least 0 and eta 0");
  if (!c->ended) c->ended = idm_new(states, sizeof *c->ended);
  bool *mark = idm_new(states, sizeof *mark);
  double *room = idm_new(2 * states, sizeof *room);
  const idm_status status =
      c->ended && mark && room ? check(c, mark, room, opt_error) : idm_fail_memory(opt_error);
  free(mark);
  free(room);
  return status;
}

/* --- solving -------------------------------------------------------------------------------- */

static double size_of(const backup_output *out)
{
  return fmax(fabs(out->lowest), fabs(out->highest));
}

/* The most steps that the policy in control->mix takes on average: (I - P) n = 1. */
static double longest(control *c, double *n, double *one, double *work)
{
  for (size_t i = 0; i < c->padded; i++) one[i] = i < c->sizes.states && !c->ended[i] ? 1 : 0;
  idm_gmres(c->padded, idm_control_derivative, c, one, n, 1e-3, c->basis, 4000, work, NULL);
  double most = 1;
  for (size_t s = 0; s < c->sizes.states; s++) most = fmax(most, n[s]);
  return most;
}

/* With d = B*V - V: the policy of B*V takes `steps` steps at most, so that V* is no further below
 * than steps |d|. An optimal one that costs at least `cost` a step, and earns no more than `prize`
 * at its end, takes (prize - V) / cost, which bounds how far V* is above. */
static double bound_of(const control *c, double d, double steps, const double *v)
{
  double cost = INFINITY, prize = 0, lowest = 0;
  for (size_t s = 0; s < c->sizes.states; s++) {
    if (c->ended[s]) continue;
    lowest = fmin(lowest, v[s]);
    for (size_t u = 0; u < c->sizes.actions; u++) {
      const bool last = c->setting->terminal[u] || leads_to(block_of(c, u), s, c->ended, true);
      if (!is_open(c, u)) continue;
      if (last)
        prize = fmax(prize, reward_of(c, s, u));
      else
        cost = fmin(cost, -reward_of(c, s, u));
    }
  }
  const double rounding = 8 * DBL_EPSILON * (fabs(lowest) + prize + c->largest);
  const double worst = isinf(cost) ? 1 : (prize - lowest + steps * d) / cost + 1;
  return cost > 0 ? fmax(steps, worst) * (d + rounding) : INFINITY;
}

/* Scratch, cut from control->vector. */
typedef struct vectors {
  double *backup;
  double *step;
  double *gap;
  double *v;
  double *work; /* of GMRES */
} vectors;

static vectors vectors_of(const control *c)
{
  double *first = c->vector;
  const size_t n = c->padded;
  return (vectors){first, first + n, first + 2 * n, first + 3 * n, first + 4 * n};
}

/* step = v + (I - P)^-1 (backup - v), the value of the policy in control->mix where it ends. */
static void evaluate(control *c, const vectors *w, idm_plan_report *report)
{
  enum { most_products = 4000 };
  for (size_t i = 0; i < c->padded; i++) w->gap[i] = w->backup[i] - w->v[i];
  idm_gmres(c->padded, idm_control_derivative, c, w->gap, w->step, 1e-12, c->basis, most_products,
            w->work, &report->sweeps);
  for (size_t i = 0; i < c->padded; i++) w->step[i] += w->v[i];
}

/* The value of a policy that takes every action as the prior has it, and so ends. */
static void start(control *c, const vectors *w, idm_plan_report *report)
{
  for (size_t u = 0; u < c->sizes.actions; u++)
    for (size_t i = 0; i < c->padded; i++) c->held[u * c->padded + i] = c->numbers.action_prior[u];
  memset(c->penalty, 0, c->padded * sizeof *c->penalty);
  memset(w->v, 0, c->padded * sizeof *w->v);
  backup_output out = {.value = w->backup, .mix = true};
  idm_control_backup(c, w->v, true, &out);
  evaluate(c, w, report);
  memcpy(w->v, w->step, c->padded * sizeof *w->v);
}

/* Policy iteration: what improves on a policy that ends, ends too. A value that is none of a policy
 * (where the linear solve went astray) shows by B*V < V, and a sweep takes its place. */
const double *idm_control_solve_endless(control *c, const idm_solver *solver,
                                        idm_plan_report *report)
{
  static const double slack = 1e-8; /* of the linear solve, by the size of values */
  const vectors w = vectors_of(c);
  backup_output out = {.value = w.backup, .mix = true};
  start(c, &w, report);
  report->stop = IDM_STOP_LIMIT;
  for (long i = 0; i < solver->limit; i++) {
    idm_control_backup(c, w.v, false, &out);
    report->sweeps++;
    if (size_of(&out) <= 4 * DBL_EPSILON * (out.size + c->largest)) {
      report->stop = IDM_STOP_ROUNDING;
      break;
    }
    evaluate(c, &w, report);
    memcpy(w.v, w.backup, c->padded * sizeof *w.v);
    backup_output next = {.value = w.gap};
    idm_control_backup(c, w.step, false, &next);
    report->sweeps++;
    report->iterations++;
    if (isfinite(next.size) && next.lowest >= -slack * (next.size + c->largest))
      memcpy(w.v, w.step, c->padded * sizeof *w.v);
  }
  idm_control_backup(c, w.v, false, &out);
  const double steps = longest(c, w.step, w.gap, w.work);
  report->bound = bound_of(c, size_of(&out), steps, w.v);
  return w.v;
}
