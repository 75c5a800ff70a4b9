/* Bounds on the value of a belief from both sides: initial bounds, and alpha vectors.
 *
 * Contents: belief reward · alpha vectors · bounds */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "plan/point/bounds.h"

/* === belief reward ========================================================================== */

/* Piecewise linear utility of beliefs (docs/method/control.md, 11). */

/* Positions of the fields in IDM_BELIEF_UTILITY, and of the award in IDM_CERTAINTY. */
enum { ENTROPY, GUESS, AWARD = 1 };

bool idm_piecewise_reward_of(const idm_theta *theta, piecewise_reward *ret_reward)
{
  const size_t actions = theta->sizes.actions;
  const double *entropy = idm_theta_values(theta, IDM_BELIEF_UTILITY, 0) + ENTROPY * actions;
  const double *guess = idm_theta_values(theta, IDM_BELIEF_UTILITY, 0) + GUESS * actions;
  *ret_reward =
      (piecewise_reward){.states = theta->sizes.states, .actions = actions, .guess = guess};
  ret_reward->piece = idm_theta_rows(theta, IDM_BELIEF_UTILITY, &ret_reward->pieces);
  bool convex = idm_theta_values(theta, IDM_CERTAINTY, 0)[AWARD] == 0;
  for (size_t u = 0; u < actions; u++) convex = convex && entropy[u] == 0 && guess[u] >= 0;
  return convex;
}

static const double *piece_of(const piecewise_reward *p, size_t action, size_t i)
{
  return p->piece + (i * p->actions + action) * p->states;
}

/* Index of the best piece at a belief; *ret_value receives its value. There must be a piece. */
static size_t best_piece(const piecewise_reward *p, size_t action, const sparse_belief *b,
                         double *ret_value)
{
  size_t best = 0;
  *ret_value = 0;
  for (size_t i = 0; i < p->pieces; i++) {
    const double *piece = piece_of(p, action, i);
    double sum = 0;
    for (size_t k = 0; k < b->count; k++) sum += b->mass[k] * piece[b->state[k]];
    if (i && sum <= *ret_value) continue;
    *ret_value = sum;
    best = i;
  }
  return best;
}

/* Position of the most probable state in a belief. */
static size_t likeliest(const sparse_belief *b)
{
  size_t best = 0;
  for (size_t k = 1; k < b->count; k++)
    if (b->mass[k] > b->mass[best]) best = k;
  return best;
}

static double guess_of(const piecewise_reward *p, size_t action)
{
  return p->guess ? p->guess[action] : 0;
}

double idm_piecewise_reward_at(const piecewise_reward *p, size_t action, const sparse_belief *b)
{
  double piece_value = 0;
  if (p->pieces) (void)best_piece(p, action, b, &piece_value);
  if (guess_of(p, action) > 0) piece_value += guess_of(p, action) * b->mass[likeliest(b)];
  return piece_value;
}

void idm_piecewise_reward_add(const piecewise_reward *p, size_t action, const sparse_belief *b,
                              double *vector)
{
  if (p->pieces) {
    double piece_value = 0;
    const double *piece = piece_of(p, action, best_piece(p, action, b, &piece_value));
    for (size_t s = 0; s < p->states; s++) vector[s] += piece[s];
  }
  if (guess_of(p, action) > 0) vector[b->state[likeliest(b)]] += guess_of(p, action);
}

double idm_piecewise_reward_corner(const piecewise_reward *p, size_t action, size_t state)
{
  double best = p->pieces ? -INFINITY : 0;
  for (size_t i = 0; i < p->pieces; i++) best = fmax(best, piece_of(p, action, i)[state]);
  return best + guess_of(p, action);
}

/* === alpha vectors ========================================================================== */

/* Alpha vectors of a lower bound. */

void idm_alphas_free(alphas *a)
{
  free(a->value);
  free(a->action);
  free(a->replacement);
  *a = (alphas){.states = a->states};
}

double idm_alphas_bytes(const alphas *a)
{
  return (double)a->capacity *
         (double)(a->states * sizeof *a->value + sizeof *a->action + sizeof *a->replacement);
}

/* Slices are contiguous, so that the array can grow in place. A growth factor of 1.5 limits the
 * overhead: vectors are most of the memory of a large problem. Slices without vectors are not
 * written, so that they occupy no pages. */
static idm_status grow(alphas *a, idm_error *opt_error)
{
  const size_t slices = a->capacity / ALPHA_LANES;
  const size_t capacity = (slices + slices / 2 + 4) * ALPHA_LANES;
  const size_t numbers = idm_times(capacity, a->states);
  const size_t bytes = idm_times(numbers, sizeof *a->value);
  assert(bytes > 0); /* a vector has at least one state */
  double *value = bytes < SIZE_MAX ? realloc(a->value, bytes) : NULL;
  if (value) a->value = value;
  uint32_t *action = realloc(a->action, capacity * sizeof *action);
  if (action) a->action = action;
  uint32_t *replacement = realloc(a->replacement, capacity * sizeof *replacement);
  if (replacement) a->replacement = replacement;
  if (!value || !action || !replacement) return idm_fail_memory(opt_error);
  a->capacity = capacity;
  return IDM_OK;
}

/* Marks the lanes of a slice that a vector dominates, that is, where it is nowhere below. */
IDM_KERNEL(static, find_dominated,
           (const double *slice, size_t states, const double *vector,
            int64_t dominated_lane[ALPHA_LANES]),
           (slice, states, vector, dominated_lane))
{
  for (size_t i = 0; i < ALPHA_LANES; i++) dominated_lane[i] = 1;
  int64_t any = 1;
  for (size_t s = 0; s < states && any; s++) {
    any = 0;
    for (size_t i = 0; i < ALPHA_LANES; i++) {
      dominated_lane[i] &= vector[s] >= slice[s * ALPHA_LANES + i];
      any |= dominated_lane[i];
    }
  }
}

static void set_lane(alphas *a, size_t vector, const double *opt_value)
{
  double *lane = a->value + vector / ALPHA_LANES * a->states * ALPHA_LANES + vector % ALPHA_LANES;
  for (size_t s = 0; s < a->states; s++)
    lane[s * ALPHA_LANES] = opt_value ? opt_value[s] : -INFINITY;
}

/* Empties the slice that begins with vector `first`. */
static void clear_slice(alphas *a, size_t first)
{
  double *slice = a->value + first * a->states;
  for (size_t i = 0; i < a->states * ALPHA_LANES; i++) slice[i] = -INFINITY;
}

idm_status idm_alphas_add(alphas *a, const double *vector, size_t action, idm_error *opt_error)
{
  if (a->count == a->capacity) {
    const idm_status status = grow(a, opt_error);
    if (status != IDM_OK) return status;
  }
  for (size_t from = 0; from < a->count; from += ALPHA_LANES) {
    int64_t dominated_lane[ALPHA_LANES];
    find_dominated(a->value + from * a->states, a->states, vector, dominated_lane);
    for (size_t i = from; i < from + ALPHA_LANES && i < a->count; i++) {
      if (!dominated_lane[i - from] || a->replacement[i] != i) continue;
      a->replacement[i] = (uint32_t)a->count;
      a->dominated++;
      set_lane(a, i, NULL);
    }
  }
  if (a->count % ALPHA_LANES == 0) clear_slice(a, a->count);
  set_lane(a, a->count, vector);
  a->action[a->count] = (uint32_t)action;
  a->replacement[a->count] = (uint32_t)a->count;
  a->count++;
  return IDM_OK;
}

/* Values of the vectors of a slice at a belief. */
IDM_KERNEL(static, slice_values,
           (const double *slice, const sparse_belief *b, double value[ALPHA_LANES]),
           (slice, b, value))
{
  double sum[ALPHA_LANES] = {0};
  for (size_t k = 0; k < b->count; k++) {
    const double mass = b->mass[k];
    const double *row = slice + (size_t)b->state[k] * ALPHA_LANES;
    for (size_t i = 0; i < ALPHA_LANES; i++) sum[i] += mass * row[i];
  }
  for (size_t i = 0; i < ALPHA_LANES; i++) value[i] = sum[i];
}

alpha_choice idm_alphas_best(const alphas *a, const sparse_belief *b, size_t from,
                             alpha_choice known)
{
  for (size_t first = from / ALPHA_LANES * ALPHA_LANES; first < a->count; first += ALPHA_LANES) {
    double value[ALPHA_LANES];
    slice_values(a->value + first * a->states, b, value);
    for (size_t i = 0; i < ALPHA_LANES; i++)
      if (value[i] > known.value) known = (alpha_choice){(uint32_t)(first + i), value[i]};
  }
  return known;
}

void idm_alphas_keep(alphas *a, const bool *used)
{
  uint32_t first = 0;
  while (!used[first]) first++;
  for (size_t i = 0; i < a->count; i++) {
    if (used[i] || a->replacement[i] != i) continue;
    a->replacement[i] = first;
    a->dominated++;
    set_lane(a, i, NULL);
  }
}

void idm_alphas_compact(alphas *a, uint32_t *map, uint32_t *before)
{
  uint32_t left = 0;
  for (size_t i = 0; i < a->count; i++) {
    before[i] = left;
    left += a->replacement[i] == i;
  }
  before[a->count] = left;
  for (size_t i = 0; i < a->count; i++) map[i] = before[alpha_current(a, (uint32_t)i)];
  for (size_t i = 0; i < a->count; i++) {
    if (a->replacement[i] != i) continue;
    const size_t to = before[i];
    for (size_t s = 0; to != i && s < a->states; s++) {
      double *lane = a->value + (to / ALPHA_LANES * a->states + s) * ALPHA_LANES + to % ALPHA_LANES;
      *lane = alpha_at(a, i, s);
    }
    a->action[to] = a->action[i];
  }
  for (size_t i = left; i % ALPHA_LANES; i++) set_lane(a, i, NULL);
  for (uint32_t i = 0; i < left; i++) a->replacement[i] = i;
  a->count = left;
  a->dominated = 0;
}

/* === bounds ================================================================================= */

/* Initial bounds of a search. */

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

/* --- upper bound ----------------------------------------------------------------------------- */

/* Expected value after (u, s) in the fast informed bound: the next action is chosen given s and the
 * outcome. */
static double informed_value(const point_problem *problem, size_t u, size_t s,
                             const double *quality)
{
  const kernel *k = problem->kernel;
  const size_t states = k->states;
  const uint32_t *state = k->state + kernel_first_cell(k, u);
  size_t e = k->entry[u * states + s];
  const size_t end = k->entry[u * states + s + 1];
  double sum = 0;
  for (size_t o = k->outcome[u]; o < k->outcome[u + 1] && e < end; o++) {
    const size_t past = k->cell[o + 1] - kernel_first_cell(k, u);
    const size_t first_entry = e;
    while (e < end && k->at[e] < past) e++;
    double best = -INFINITY;
    for (size_t next = 0; next < k->actions && e > first_entry; next++) {
      if (!allowed(problem, next)) continue;
      double value = 0;
      for (size_t i = first_entry; i < e; i++)
        value += k->value[i] * quality[next * states + state[k->at[i]]];
      best = fmax(best, value);
    }
    if (e > first_entry) sum += best;
  }
  return sum;
}

/* Smallest and largest change of a sweep. */
typedef struct changes {
  double min;
  double max;
} changes;

static changes update_changes(changes c, double change)
{
  return (changes){fmin(c.min, change), fmax(c.max, change)};
}

static const changes unchanged = {INFINITY, -INFINITY};

static double largest(changes c)
{
  return fmax(fabs(c.min), fabs(c.max));
}

/* Remaining change of every value, if a sweep of a contraction changed all of them by at least
 * `change`: later sweeps change them by at least this times powers of the discount (MacQueen 1966).
 */
static double extrapolate(const point_problem *problem, double change)
{
  return problem->discount / (1 - problem->discount) * change;
}

static bool has_terminal_action(const point_problem *problem)
{
  for (size_t u = 0; u < problem->kernel->actions; u++)
    if (problem->terminal[u]) return true;
  return false;
}

/* Largest value over all available actions. */
static double largest_value(const point_problem *problem, const double *quality)
{
  const size_t states = problem->kernel->states;
  double upper_value = -INFINITY;
  for (size_t i = 0; i < problem->kernel->actions * states; i++)
    if (allowed(problem, i / states)) upper_value = fmax(upper_value, quality[i]);
  return upper_value;
}

/* One sweep of the fast informed bound; if time is up, of a coarser bound, in which every successor
 * has the largest value. */
static changes sweep(const point_problem *problem, const double *from, double *to)
{
  const size_t states = problem->kernel->states;
  const bool use_coarse_bound = bounds_stopped(problem);
  const double upper_value = use_coarse_bound ? largest_value(problem, from) : 0;
  changes change = unchanged;
  for (size_t u = 0; u < problem->kernel->actions; u++)
    for (size_t s = 0; s < states; s++) {
      const size_t i = u * states + s;
      to[i] = problem->reward[i] + idm_piecewise_reward_corner(&problem->piecewise_reward, u, s);
      if (!problem->terminal[u])
        to[i] += problem->discount *
                 (use_coarse_bound ? upper_value : informed_value(problem, u, s, from));
      change = update_changes(change, to[i] - from[i]);
    }
  return change;
}

/* Sweeps of the upper bound without a horizon; the result is in `quality`. They start above the
 * fixed point and remain above it, so that the bound is valid after any number of them. The change
 * is extrapolated only if no action is terminal. */
static void sweep_down(const point_problem *problem, double tolerance, double *quality,
                       double *scratch)
{
  enum { max_sweeps = 100000 };
  const size_t states = problem->kernel->states;
  const size_t pairs = problem->kernel->actions * states;
  double upper_value = -INFINITY;
  for (size_t i = 0; i < pairs; i++)
    upper_value = fmax(upper_value,
                       problem->reward[i] + idm_piecewise_reward_corner(&problem->piecewise_reward,
                                                                        i / states, i % states));
  upper_value = fmax(upper_value, upper_value / (1 - problem->discount));
  for (size_t i = 0; i < pairs; i++) quality[i] = upper_value;
  const bool endless = !has_terminal_action(problem);
  for (int n = 0; n < max_sweeps && !bounds_stopped(problem); n++) {
    const changes change = sweep(problem, quality, scratch);
    const double shift = endless ? extrapolate(problem, fmin(change.max, 0)) : 0;
    for (size_t i = 0; i < pairs; i++) quality[i] = scratch[i] + shift;
    if (largest(change) <= tolerance) break;
  }
}

static idm_status init_upper(const point_problem *problem, bounds_pair *now, double *corner,
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
  /* Zeros for the first stage, as nothing follows the horizon; scratch for the later ones. */
  double *scratch = idm_new(pairs, sizeof *scratch);
  idm_status status = scratch ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t t = 0; t < b->stages && status == IDM_OK; t++) {
    bounds_pair *now = &b->stage[t];
    now->quality = idm_new(pairs, sizeof *now->quality);
    if (!now->quality) status = idm_fail_memory(opt_error);
    if (status == IDM_OK && problem->horizon > 0)
      sweep(problem, t ? b->stage[t - 1].quality : scratch, now->quality);
    else if (status == IDM_OK)
      sweep_down(problem, tolerance, now->quality, scratch);
    if (status == IDM_OK) status = init_upper(problem, now, scratch, opt_error);
  }
  free(scratch);
  return status;
}

/* --- lower bound ----------------------------------------------------------------------------- */

/* Reward of action u by state, with the piece of the utility of beliefs that is best at the uniform
 * belief. */
static void belief_reward(const point_problem *problem, size_t u,
                          const sparse_belief *uniform_belief, double *reward)
{
  const size_t states = problem->kernel->states;
  memcpy(reward, problem->reward + u * states, states * sizeof *reward);
  idm_piecewise_reward_add(&problem->piecewise_reward, u, uniform_belief, reward);
}

/* One backup of the plan that repeats u. */
static changes backup_repeated(const point_problem *problem, size_t u, const double *reward,
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
    change = update_changes(change, to[s] - from[s]);
  }
  return change;
}

/* Value of the plan that repeats u forever. The backups start below the fixed point and remain
 * below it. */
static void blind_policy_value(const point_problem *problem, size_t u, const double *reward,
                               double tolerance, double *vector, double *scratch)
{
  enum { max_steps = 100000 };
  const size_t states = problem->kernel->states;
  double low = INFINITY;
  for (size_t s = 0; s < states; s++) low = fmin(low, reward[s]);
  for (size_t s = 0; s < states; s++) vector[s] = low / (1 - problem->discount);
  for (int n = 0; n < max_steps && !bounds_stopped(problem); n++) {
    const changes change = backup_repeated(problem, u, reward, vector, scratch);
    const double shift = extrapolate(problem, fmax(change.min, 0));
    for (size_t s = 0; s < states; s++) vector[s] = scratch[s] + shift;
    if (largest(change) <= tolerance) break;
  }
}

/* Adds the plans that repeat an action; a terminal action is not repeated. `vector` is scratch,
 * [4][state]. */
static idm_status add_blind_policies(const point_problem *problem, double tolerance,
                                     const sparse_belief *uniform_belief, double *vector, bounds *b,
                                     idm_error *opt_error)
{
  const size_t states = problem->kernel->states;
  double *scratch = vector + states;
  double *reward = scratch + states;
  idm_status status = IDM_OK;
  for (size_t u = 0; u < problem->kernel->actions && status == IDM_OK; u++) {
    if (!allowed(problem, u)) continue;
    belief_reward(problem, u, uniform_belief, reward);
    memset(vector, 0, states * sizeof *vector);
    for (size_t t = 0; t < b->stages && status == IDM_OK; t++) {
      if (problem->terminal[u])
        memcpy(vector, reward, states * sizeof *vector);
      else if (problem->horizon > 0) {
        backup_repeated(problem, u, reward, vector, scratch);
        memcpy(vector, scratch, states * sizeof *vector);
      } else
        blind_policy_value(problem, u, reward, tolerance, vector, scratch);
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
    const sparse_belief uniform_belief = {.state = state, .mass = mass, .count = states};
    status = add_blind_policies(problem, tolerance, &uniform_belief, vector, b, opt_error);
  }
  free(vector);
  free(state);
  return status;
}

/* IDM_NUMERICAL if utilities are so large that the bounds overflow. */
static idm_status check_finite(const bounds *b, idm_error *opt_error)
{
  for (size_t t = 0; t < b->stages; t++) {
    const alphas *lower = &b->stage[t].lower;
    for (size_t s = 0; s < lower->states; s++)
      if (!isfinite(b->stage[t].upper.corner[s]) ||
          !isfinite(alpha_at(lower, alpha_current(lower, 0), s)))
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
