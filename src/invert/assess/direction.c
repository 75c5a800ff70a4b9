/* Directions of change of the dynamics of a problem: enumeration, shifts of dynamics and models
 * along them, and names.
 *
 * Contents: enumeration · shifts · names */
#include "invert/assess/environment.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "learn/learn.h"
#include "setting/model.h"

/* --- enumeration ----------------------------------------------------------------------------- */

void idm_directions_close(directions *d)
{
  idm_dynamics_destroy(d->own);
  free(d->representative[0]);
  free(d->representative[1]);
  free(d->one);
  free(d->entry);
  *d = (directions){0};
}

static bool is_open(double probability)
{
  return probability > 0 && probability < 1;
}

static size_t width_of(const directions *d, direction_part part)
{
  return part == DIRECTION_EMISSION ? d->own->sizes.observations : d->own->sizes.states;
}

/* One row of an array with the layout of idm_dynamics. */
static double *row_of(const directions *d, const idm_dynamics *of, direction_part part,
                      size_t action, size_t state)
{
  if (part == DIRECTION_START) return of->start;
  double *matrices = part == DIRECTION_EMISSION ? of->emission : of->transition;
  return matrices + (action * d->own->sizes.states + state) * width_of(d, part);
}

/* The likeliest outcome with a probability in (0, 1), the first of equals; -1 if there is none. */
static int32_t largest_open(const double *p, size_t width)
{
  int32_t top = -1;
  for (size_t i = 0; i < width; i++)
    if (is_open(p[i]) && (top < 0 || p[i] > p[top])) top = (int32_t)i;
  return top;
}

static int32_t *add(directions *d, direction_part part, size_t action, size_t state)
{
  const size_t k = d->own->sizes.states;
  int32_t *entry = d->entry + d->count * k;
  for (size_t s = 0; s < k; s++) entry[s] = -1;
  d->one[d->count++] = (direction){.part = part, .action = action, .state = state};
  return entry;
}

/* Add the direction of all rows of a matrix together, if two or more can change. */
static void add_matrix(directions *d, direction_part part, size_t action)
{
  const size_t k = d->own->sizes.states;
  int32_t *entry = add(d, part, action, k);
  size_t rows = 0;
  for (size_t s = 0; s < k; s++) {
    entry[s] = largest_open(row_of(d, d->own, part, action, s), width_of(d, part));
    rows += entry[s] >= 0;
  }
  if (rows < 2) d->count--;
}

/* Add the directions of every probability of a row; of two probabilities one, since the other is
 * its complement. */
static void add_row(directions *d, direction_part part, size_t action, size_t state)
{
  const double *p = row_of(d, d->own, part, action, state);
  const size_t width = width_of(d, part), at = part == DIRECTION_START ? 0 : state;
  size_t open = 0;
  for (size_t i = 0; i < width; i++) open += is_open(p[i]);
  for (size_t i = 0; i < width; i++)
    if (is_open(p[i]) && (open > 2 || (int32_t)i == largest_open(p, width)))
      add(d, part, action, state)[at] = (int32_t)i;
}

static void add_all(directions *d, bool numbers)
{
  static const direction_part parts[] = {DIRECTION_EMISSION, DIRECTION_TRANSITION};
  const idm_sizes n = d->own->sizes;
  for (int by_row = 0; by_row < (numbers ? 2 : 1); by_row++)
    for (size_t p = 0; p < 2; p++)
      for (size_t u = 0; u < n.actions; u++) {
        if (d->setting->terminal[u] || d->representative[parts[p]][u] != u) continue;
        if (!by_row) add_matrix(d, parts[p], u);
        for (size_t s = 0; s < n.states && by_row; s++) add_row(d, parts[p], u, s);
      }
  if (numbers) add_row(d, DIRECTION_START, 0, 0);
}

/* Find the representative action of every group of tied matrices. */
static idm_status find_ties(directions *d, const idm_problem *problem, idm_error *opt_error)
{
  structure *s = NULL;
  const idm_status status = structure_create(problem, 0, true, true, &s, opt_error);
  if (status != IDM_OK) return status;
  const size_t k = s->sizes.states;
  const size_t first[2] = {structure_transition(s, 0, 0), structure_emission(s, 0, 0)};
  for (int part = 0; part < 2; part++)
    for (size_t u = 0; u < s->sizes.actions; u++) {
      size_t representative = (s->row[first[part] + u * k].tied_to - first[part]) / k;
      /* A terminal action has no directions, so it is never a representative. */
      while (representative < u && (d->setting->terminal[representative] ||
                                    s->row[first[part] + representative * k].tied_to !=
                                        s->row[first[part] + u * k].tied_to))
        representative++;
      d->representative[part][u] = representative;
    }
  structure_destroy(s);
  return IDM_OK;
}

/* Expand sparse transitions to matrices; observed states have identity emissions. */
static idm_status expand(const idm_setting *setting, idm_dynamics **ret_dynamics,
                         idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(setting);
  const idm_status status = idm_dynamics_create(n, ret_dynamics, opt_error);
  if (status != IDM_OK) return status;
  const idm_dynamics *to = *ret_dynamics;
  const idm_sparse_rows *moves = setting->moves;
  const size_t rows = n.actions * n.states;
  memcpy(to->start, setting->start, n.states * sizeof *to->start);
  for (size_t r = 0; r < rows; r++) {
    for (size_t i = moves->first[r]; i < moves->first[r + 1]; i++)
      to->transition[r * n.states + moves->next[i]] = moves->probability[i];
    if (!setting->emission) to->emission[r * n.observations + r % n.states] = 1;
  }
  if (setting->emission)
    memcpy(to->emission, setting->emission, rows * n.observations * sizeof *to->emission);
  return IDM_OK;
}

idm_status idm_directions_open(directions *d, const idm_problem *problem, bool numbers,
                               idm_error *opt_error)
{
  *d = (directions){.setting = problem->setting};
  const bool by_rows = problem->setting->moves;
  idm_status status = by_rows ? expand(problem->setting, &d->own, opt_error)
                              : idm_problem_dynamics(problem, &d->own, opt_error);
  if (status != IDM_OK) return status;
  const idm_sizes n = d->own->sizes;
  const size_t most = 2 * n.actions + (numbers ? d->own->numbers : 0);
  d->representative[0] = idm_new(n.actions, sizeof **d->representative);
  d->representative[1] = idm_new(n.actions, sizeof **d->representative);
  d->one = idm_new(most, sizeof *d->one);
  d->entry = idm_new(idm_times(most, n.states), sizeof *d->entry);
  if (!d->representative[0] || !d->representative[1] || !d->one || !d->entry)
    return idm_fail_memory(opt_error);
  for (size_t u = 0; u < n.actions; u++) d->representative[0][u] = d->representative[1][u] = u;
  if (!by_rows) status = find_ties(d, problem, opt_error);
  if (status == IDM_OK) add_all(d, numbers);
  return status;
}

/* --- shifts ---------------------------------------------------------------------------------- */

/* Number of rows of the matrix that a direction changes. */
static size_t rows_of(const directions *d, size_t i)
{
  return d->one[i].part == DIRECTION_START ? 1 : d->own->sizes.states;
}

double idm_direction_probability(const directions *d, size_t i)
{
  const direction *it = &d->one[i];
  const int32_t *entry = d->entry + i * d->own->sizes.states;
  double sum = 0;
  size_t rows = 0;
  for (size_t s = 0; s < rows_of(d, i); s++) {
    if (entry[s] < 0) continue;
    sum += row_of(d, d->own, it->part, it->action, s)[entry[s]];
    rows++;
  }
  return sum / (double)rows;
}

void idm_direction_limits(const directions *d, size_t i, double *low, double *high)
{
  const direction *it = &d->one[i];
  const int32_t *entry = d->entry + i * d->own->sizes.states;
  *low = -1;
  *high = 1;
  for (size_t s = 0; s < rows_of(d, i); s++) {
    if (entry[s] < 0) continue;
    const double given = row_of(d, d->own, it->part, it->action, s)[entry[s]];
    *low = fmax(*low, -given);
    *high = fmin(*high, 1 - given);
  }
}

/* Shift the probability of one outcome of a row if it is in (0, 1), scaling the others in
 * proportion. */
static void shift_row(double *p, size_t width, size_t entry, double shift)
{
  static const double least = 1e-9;
  const double given = p[entry];
  if (!is_open(given)) return;
  const double moved = fmin(fmax(given + shift, least), 1 - least);
  for (size_t i = 0; i < width; i++) p[i] *= (1 - moved) / (1 - given);
  p[entry] = moved;
}

/* Shift rows of a matrix [state][outcome]. */
static void shift_rows(double *matrix, size_t states, size_t width, const int32_t *entry,
                       double shift)
{
  for (size_t s = 0; s < states; s++)
    if (entry[s] >= 0) shift_row(matrix + s * width, width, (size_t)entry[s], shift);
}

void idm_direction_shift(const directions *d, size_t i, double shift, idm_dynamics *to)
{
  const direction_part part = d->one[i].part;
  const size_t actions = part == DIRECTION_START ? 1 : d->own->sizes.actions;
  idm_dynamics_assign(to, d->own);
  for (size_t u = 0; u < actions; u++) {
    const int32_t *entry = idm_direction_rows(d, i, part, u);
    const bool ends = part != DIRECTION_START && d->setting->terminal[u];
    if (entry && !ends)
      shift_rows(row_of(d, to, part, u, 0), rows_of(d, i), width_of(d, part), entry, shift);
  }
}

void idm_direction_shift_models(const directions *d, size_t i, double shift, idm_theta *theta)
{
  const direction_part part = d->one[i].part;
  const idm_sizes n = d->own->sizes;
  if (part == DIRECTION_START) return;
  const idm_block *block =
      &theta->block[part == DIRECTION_EMISSION ? IDM_EMISSION : IDM_TRANSITION];
  const size_t matrix = n.states * width_of(d, part);
  for (size_t m = 0; m < theta->models; m++)
    for (size_t u = 0; u < n.actions; u++) {
      const int32_t *entry = idm_direction_rows(d, i, part, u);
      if (entry && !d->setting->terminal[u])
        shift_rows(block->value + (m * n.actions + u) * matrix, n.states, width_of(d, part), entry,
                   shift);
    }
}

/* --- names ----------------------------------------------------------------------------------- */

static const idm_labels *outcomes_of(const directions *d, direction_part part)
{
  return part == DIRECTION_EMISSION ? &d->setting->observations : &d->setting->states;
}

/* The outcome that increases, for a direction of one row. */
static const char *outcome_of(const directions *d, size_t i)
{
  const direction *it = &d->one[i];
  const size_t at = it->part == DIRECTION_START ? 0 : it->state;
  return outcomes_of(d, it->part)->name[d->entry[i * d->own->sizes.states + at]];
}

/* Number of actions that share the matrix of a direction, and the first of them. `acts`: count only
 * actions after which the log continues, since only those have observations. */
static size_t sharing(const directions *d, const direction *it, bool acts, size_t *ret_first)
{
  size_t count = 0;
  for (size_t u = d->own->sizes.actions; u-- > 0;) {
    if (d->representative[it->part][u] != it->action || (acts && d->setting->ends[u])) continue;
    *ret_first = u;
    count++;
  }
  return count;
}

void idm_direction_name(const directions *d, size_t i, char *text, size_t size)
{
  const direction *it = &d->one[i];
  size_t first = it->action;
  if (it->part == DIRECTION_START) {
    idm_print(text, size, "start[%s]", outcome_of(d, i));
    return;
  }
  const char *kind = it->part == DIRECTION_EMISSION ? "observation" : "transition";
  const bool several = sharing(d, it, false, &first) > 1;
  const char *action = several ? "*" : d->setting->actions.name[it->action];
  if (it->state == d->own->sizes.states)
    idm_print(text, size, "%s[%s]", kind, action);
  else
    idm_print(text, size, "%s[%s,%s,%s]", kind, action, d->setting->states.name[it->state],
              outcome_of(d, i));
}

void idm_direction_describe(const directions *d, size_t i, char *where, size_t where_size,
                            char *what, size_t what_size)
{
  const direction *it = &d->one[i];
  const bool emits = it->part == DIRECTION_EMISSION;
  const bool whole = it->state == d->own->sizes.states;
  size_t first = it->action;
  if (it->part == DIRECTION_START) {
    idm_print(where, where_size, "the start");
    idm_print(what, what_size, "`%.80s`", outcome_of(d, i));
    return;
  }
  const size_t several = sharing(d, it, true, &first);
  int length = idm_print(where, where_size, "%s after `%.80s`",
                         emits ? "observations" : "transitions", d->setting->actions.name[first]);
  if (several > 1)
    length += idm_print(where + length, where_size - (size_t)length, " and %zu more action%s",
                        several - 1, several == 2 ? "" : "s");
  if (!whole)
    idm_print(where + length, where_size - (size_t)length, " %s state `%.80s`",
              emits ? "in" : "from", d->setting->states.name[it->state]);
  if (whole)
    idm_print(what, what_size, "the likeliest %s of each state",
              emits ? "observation" : "next state");
  else
    idm_print(what, what_size, "`%.80s`", outcome_of(d, i));
}
