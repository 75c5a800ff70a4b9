/* The first bounds, from which a search starts. */
#include "plan/point/bounds.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

void idm_bounds_free(bounds *b)
{
  for (size_t t = 0; b->stage && t < b->stages; t++) {
    idm_alphas_free(&b->stage[t].lower);
    idm_sawtooth_free(&b->stage[t].upper);
    free(b->stage[t].quality);
  }
  free(b->stage);
  *b = (bounds){0};
}

static bool allowed(const point_problem *problem, size_t u)
{
  return problem->prior[u] > 0;
}

/* --- from above ----------------------------------------------------------------------------- */

/* What outcomes of (u, s) are worth to one who knows, once the next action is taken, s. */
static double informed(const point_problem *problem, size_t u, size_t s, const double *quality)
{
  const kernel *k = problem->kernel;
  const size_t states = k->states;
  const uint32_t *state = k->state + kernel_first_cell(k, u);
  size_t e = k->entry[u * states + s];
  const size_t end = k->entry[u * states + s + 1];
  double sum = 0;
  for (size_t o = k->outcome[u]; o < k->outcome[u + 1] && e < end; o++) {
    const size_t past = k->cell[o + 1] - kernel_first_cell(k, u);
    const size_t begun = e;
    while (e < end && k->at[e] < past) e++;
    double best = -INFINITY;
    for (size_t next = 0; next < k->actions && e > begun; next++) {
      if (!allowed(problem, next)) continue;
      double value = 0;
      for (size_t i = begun; i < e; i++)
        value += k->value[i] * quality[next * states + state[k->at[i]]];
      best = fmax(best, value);
    }
    if (e > begun) sum += best;
  }
  return sum;
}

/* The least and the largest change of a sweep. */
typedef struct changes {
  double least;
  double most;
} changes;

static changes note(changes c, double change)
{
  return (changes){fmin(c.least, change), fmax(c.most, change)};
}

static const changes unchanged = {INFINITY, -INFINITY};

static double largest(changes c)
{
  return fmax(fabs(c.least), fabs(c.most));
}

/* What every number may move on by, where one sweep of a contraction has moved all of them by at
 * least `change`, and more sweeps move them by as much times the discount, again and again
 * (MacQueen 1966). */
static double carry(const point_problem *problem, double change)
{
  return problem->discount / (1 - problem->discount) * change;
}

static bool ends(const point_problem *problem)
{
  for (size_t u = 0; u < problem->kernel->actions; u++)
    if (problem->terminal[u]) return true;
  return false;
}

/* The largest number of all actions that can be taken. */
static double top_of(const point_problem *problem, const double *quality)
{
  const size_t states = problem->kernel->states;
  double top = -INFINITY;
  for (size_t i = 0; i < problem->kernel->actions * states; i++)
    if (allowed(problem, i / states)) top = fmax(top, quality[i]);
  return top;
}

/* One sweep of the fast informed bound; where time is up, of a coarser one, by which whatever
 * follows is worth as much as anything can be. */
static changes sweep(const point_problem *problem, const double *from, double *to)
{
  const size_t states = problem->kernel->states;
  const bool coarse = bounds_halt(problem);
  const double top = coarse ? top_of(problem, from) : 0;
  changes change = unchanged;
  for (size_t u = 0; u < problem->kernel->actions; u++)
    for (size_t s = 0; s < states; s++) {
      const size_t i = u * states + s;
      to[i] = problem->reward[i] + idm_prize_corner(&problem->prize, u, s);
      if (!problem->terminal[u])
        to[i] += problem->discount * (coarse ? top : informed(problem, u, s, from));
      change = note(change, to[i] - from[i]);
    }
  return change;
}

/* Two arrays for sweeps; what they lead to ends in the first. Starting above every value, all
 * sweeps stay above: where they stop makes no bound less certain. After terminal actions nothing
 * comes that could be carried on. */
static void sweep_down(const point_problem *problem, double tolerance, double *quality,
                       double *other)
{
  enum { most_sweeps = 100000 };
  const size_t states = problem->kernel->states;
  const size_t pairs = problem->kernel->actions * states;
  double top = -INFINITY;
  for (size_t i = 0; i < pairs; i++)
    top = fmax(top, problem->reward[i] + idm_prize_corner(&problem->prize, i / states, i % states));
  top = fmax(top, top / (1 - problem->discount));
  for (size_t i = 0; i < pairs; i++) quality[i] = top;
  const bool endless = !ends(problem);
  for (int n = 0; n < most_sweeps && !bounds_halt(problem); n++) {
    const changes change = sweep(problem, quality, other);
    const double shift = endless ? carry(problem, fmin(change.most, 0)) : 0;
    for (size_t i = 0; i < pairs; i++) quality[i] = other[i] + shift;
    if (largest(change) <= tolerance) break;
  }
}

static idm_status cap(const point_problem *problem, bounds_pair *now, double *corner,
                      idm_error *opt_error)
{
  const size_t states = problem->kernel->states;
  for (size_t s = 0; s < states; s++) {
    corner[s] = -INFINITY;
    for (size_t u = 0; u < problem->kernel->actions; u++)
      if (allowed(problem, u)) corner[s] = fmax(corner[s], now->quality[u * states + s]);
  }
  return idm_sawtooth_create(&now->upper, corner, states, opt_error);
}

static idm_status bound_above(const point_problem *problem, double tolerance, bounds *b,
                              idm_error *opt_error)
{
  const size_t states = problem->kernel->states;
  const size_t pairs = problem->kernel->actions * states;
  /* Zeros for the first stage: nothing is left past the horizon. Scratch from then on. */
  double *other = idm_new(pairs, sizeof *other);
  idm_status status = other ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t t = 0; t < b->stages && status == IDM_OK; t++) {
    bounds_pair *now = &b->stage[t];
    now->quality = idm_new(pairs, sizeof *now->quality);
    if (!now->quality) status = idm_fail_memory(opt_error);
    if (status == IDM_OK && problem->horizon > 0)
      sweep(problem, t ? b->stage[t - 1].quality : other, now->quality);
    else if (status == IDM_OK)
      sweep_down(problem, tolerance, now->quality, other);
    if (status == IDM_OK) status = cap(problem, now, other, opt_error);
  }
  free(other);
  return status;
}

/* --- from below ----------------------------------------------------------------------------- */

/* What action u pays, state by state, with the guess that is best where all states are as likely.
 */
static void paid(const point_problem *problem, size_t u, const belief *even, double *reward)
{
  const size_t states = problem->kernel->states;
  memcpy(reward, problem->reward + u * states, states * sizeof *reward);
  idm_prize_add(&problem->prize, u, even, reward);
}

/* One step of the plan that repeats u. */
static changes repeat(const point_problem *problem, size_t u, const double *reward,
                      const double *from, double *to)
{
  const kernel *k = problem->kernel;
  const uint32_t *state = k->state + kernel_first_cell(k, u);
  changes change = unchanged;
  for (size_t s = 0; s < k->states; s++) {
    double sum = 0;
    for (size_t e = k->entry[u * k->states + s]; e < k->entry[u * k->states + s + 1]; e++)
      sum += k->value[e] * from[state[k->at[e]]];
    to[s] = reward[s] + problem->discount * sum;
    change = note(change, to[s] - from[s]);
  }
  return change;
}

/* The plan that repeats u forever. Starting below, all steps stay below. */
static void repeat_forever(const point_problem *problem, size_t u, const double *reward,
                           double tolerance, double *vector, double *other)
{
  enum { most_steps = 100000 };
  const size_t states = problem->kernel->states;
  double low = INFINITY;
  for (size_t s = 0; s < states; s++) low = fmin(low, reward[s]);
  for (size_t s = 0; s < states; s++) vector[s] = low / (1 - problem->discount);
  for (int n = 0; n < most_steps && !bounds_halt(problem); n++) {
    const changes change = repeat(problem, u, reward, vector, other);
    const double shift = carry(problem, fmax(change.least, 0));
    for (size_t s = 0; s < states; s++) vector[s] = other[s] + shift;
    if (largest(change) <= tolerance) break;
  }
}

/* The plans that repeat an action, [4][state] being scratch; a terminal one is not repeated. */
static idm_status add_plans(const point_problem *problem, double tolerance, const belief *even,
                            double *vector, bounds *b, idm_error *opt_error)
{
  const size_t states = problem->kernel->states;
  double *other = vector + states;
  double *reward = other + states;
  idm_status status = IDM_OK;
  for (size_t u = 0; u < problem->kernel->actions && status == IDM_OK; u++) {
    if (!allowed(problem, u)) continue;
    paid(problem, u, even, reward);
    memset(vector, 0, states * sizeof *vector);
    for (size_t t = 0; t < b->stages && status == IDM_OK; t++) {
      if (problem->terminal[u])
        memcpy(vector, reward, states * sizeof *vector);
      else if (problem->horizon > 0) {
        repeat(problem, u, reward, vector, other);
        memcpy(vector, other, states * sizeof *vector);
      } else
        repeat_forever(problem, u, reward, tolerance, vector, other);
      status = idm_alphas_add(&b->stage[t].lower, vector, u, opt_error);
    }
  }
  return status;
}

static idm_status bound_below(const point_problem *problem, double tolerance, bounds *b,
                              idm_error *opt_error)
{
  const size_t states = problem->kernel->states;
  double *vector = idm_new(4 * states, sizeof *vector);
  uint32_t *state = idm_new(states, sizeof *state);
  idm_status status = vector && state ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    double *mass = vector + 3 * states;
    for (size_t s = 0; s < states; s++) {
      state[s] = (uint32_t)s;
      mass[s] = 1 / (double)states;
    }
    const belief even = {.state = state, .mass = mass, .count = states};
    status = add_plans(problem, tolerance, &even, vector, b, opt_error);
  }
  free(vector);
  free(state);
  return status;
}

/* Utilities that are too large for what they add up to. */
static idm_status check_finite(const bounds *b, idm_error *opt_error)
{
  for (size_t t = 0; t < b->stages; t++) {
    const alphas *lower = &b->stage[t].lower;
    for (size_t s = 0; s < lower->states; s++)
      if (!isfinite(b->stage[t].upper.corner[s]) ||
          !isfinite(alpha_at(lower, alpha_living(lower, 0), s)))
        return idm_fail(opt_error, IDM_NUMERICAL,
                        "bounds on the value are not finite: utilities are too large");
  }
  return IDM_OK;
}

idm_status idm_bounds_create(const point_problem *problem, double tolerance, bounds *b,
                             idm_error *opt_error)
{
  *b = (bounds){.stages = problem->horizon > 0 ? (size_t)problem->horizon : 1};
  b->stage = idm_new(b->stages, sizeof *b->stage);
  if (!b->stage) return idm_fail_memory(opt_error);
  for (size_t t = 0; t < b->stages; t++) b->stage[t].lower.states = problem->kernel->states;
  idm_status status = bound_above(problem, tolerance, b, opt_error);
  if (status == IDM_OK) status = bound_below(problem, tolerance, b, opt_error);
  if (status == IDM_OK) status = check_finite(b, opt_error);
  if (status != IDM_OK) idm_bounds_free(b);
  return status;
}
