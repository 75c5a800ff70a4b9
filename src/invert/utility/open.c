/* What no behaviour can tell of a utility. */
#include "invert/utility/open.h"

#include <math.h>

#include "base/memory.h"
#include "base/null_space.h"

/* Below this, relative to the largest number, an elimination has found a 0. */
static const double tolerance = 1e-10;
/* States whose potentials are eliminated in a second or two; and numbers of a basis to be shown. */
enum { most_states = 700, most_basis = 4000000 };

/* --- elimination ---------------------------------------------------------------------------- */

/* The null space of a[rows][columns], for the caller to free. */
static double *null_space(size_t rows, size_t columns, double *a, size_t *ret_count)
{
  size_t *pivot = idm_new(rows < columns ? rows : columns, sizeof *pivot);
  double *basis = NULL;
  if (pivot) {
    const size_t rank = idm_row_reduce(rows, columns, a, tolerance, pivot);
    *ret_count = columns - rank;
    basis = idm_new(idm_times(*ret_count, columns), sizeof *basis);
    if (basis) idm_null_space(columns, a, rank, pivot, basis);
  }
  free(pivot);
  return basis;
}

/* Keep directions [count][free], which become the finding's, in the form that names fewest numbers
 * each. */
static idm_status keep(double *direction, size_t count, idm_finding *finding, idm_error *opt_error)
{
  size_t *pivot = idm_new(count, sizeof *pivot);
  if (!direction || !pivot) {
    free(direction);
    free(pivot);
    return idm_fail_memory(opt_error);
  }
  free(finding->direction);
  finding->direction = direction;
  finding->open = idm_row_reduce(count, finding->free, direction, tolerance, pivot);
  finding->looked = true;
  for (size_t i = 0; i < finding->open * finding->free; i++)
    if (fabs(direction[i]) < tolerance) direction[i] = 0; /* of pivots that are 1 */
  free(pivot);
  return IDM_OK;
}

idm_status idm_open_design(size_t count, double *rows, idm_finding *finding, idm_error *opt_error)
{
  size_t open = 0;
  if (idm_times(count + finding->free, finding->free) > most_basis) {
    idm_notes_add(&finding->words,
                  "unchecked: with %zu free numbers, what the data leave open was "
                  "not looked for",
                  finding->free);
    return IDM_OK;
  }
  double *basis = null_space(count, finding->free, rows, &open);
  return keep(basis, open, finding, opt_error);
}

/* --- shaping -------------------------------------------------------------------------------- */

/* row[state] += sign times how entry (action, state) changes with the potential of a world. */
static void add_change(const idm_world *world, size_t entry, double sign, double *row)
{
  const idm_moves *moves = world->moves;
  for (size_t i = moves->first[entry]; i < moves->first[entry + 1]; i++)
    row[moves->next[i]] += sign * world->discount * moves->probability[i];
  row[entry % world->n.states] -= sign;
}

/* What potentials, one a world, must satisfy: entries that are held do not change, tied ones change
 * alike, and all as in the first world. first[number]: an entry of each free number. Returns how
 * many rows there are. */
static size_t put_conditions(size_t worlds, const idm_world *const *world, const idm_sought *sought,
                             int64_t *first, double *rows)
{
  const size_t states = world[0]->n.states;
  size_t count = 0;
  for (size_t i = 0; i < sought->count; i++) first[i] = -1;
  for (size_t w = 0; w < worlds; w++)
    for (size_t e = 0; e < sought->entries; e++) {
      const int32_t number = sought->number[e];
      double *row = rows + count * worlds * states;
      if (number >= 0 && first[number] < 0) {
        first[number] = (int64_t)e;
        continue;
      }
      add_change(world[w], e, 1, row + w * states);
      if (number >= 0) add_change(world[0], (size_t)first[number], -1, row);
      count++;
    }
  return count;
}

/* Potentials, `width` numbers each, as directions of the free numbers: how an entry of each changes
 * in the first world. */
static double *directions(const idm_world *world, const idm_sought *sought, const int64_t *first,
                          const double *potential, size_t width, size_t count)
{
  const size_t states = world->n.states;
  double *direction = idm_new(idm_times(count, sought->count), sizeof *direction);
  for (size_t i = 0; direction && i < count; i++)
    for (size_t k = 0; k < sought->count; k++) {
      const double *phi = potential + i * width;
      const size_t entry = (size_t)first[k];
      direction[i * sought->count + k] =
          idm_world_next(world, entry / states, entry % states, phi) - phi[entry % states];
    }
  return direction;
}

idm_status idm_open_shared(size_t worlds, const idm_world *const *world, const idm_sought *sought,
                           idm_finding *finding, idm_error *opt_error)
{
  const size_t states = world[0]->n.states;
  const size_t width = worlds * states;
  if (width > most_states || idm_times(width, sought->count) > most_basis) {
    idm_notes_add(&finding->words,
                  "unchecked: with %zu states and %zu free numbers, what no behaviour can tell of "
                  "the utility was not looked for",
                  states, sought->count);
    return IDM_OK;
  }
  size_t count = 0;
  int64_t *first = idm_new(sought->count, sizeof *first);
  double *rows = idm_new(idm_times(worlds * sought->entries, width), sizeof *rows);
  double *potential = NULL;
  double *direction = NULL;
  idm_status status = first && rows ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    const size_t conditions = put_conditions(worlds, world, sought, first, rows);
    potential = null_space(conditions, width, rows, &count);
    if (potential) direction = directions(world[0], sought, first, potential, width, count);
    status = keep(direction, count, finding, opt_error);
  }
  free(first);
  free(rows);
  free(potential);
  return status;
}

idm_status idm_open_shaping(const idm_world *world, const idm_sought *sought, idm_finding *finding,
                            idm_error *opt_error)
{
  return idm_open_shared(1, &world, sought, finding, opt_error);
}

/* row[state] += sign times how an entry changes with a potential in one of several worlds. */
static void add_difference(const idm_world *world, size_t entry, double sign, double *row)
{
  const idm_moves *moves = world->moves;
  for (size_t i = moves->first[entry]; i < moves->first[entry + 1]; i++)
    row[moves->next[i]] += sign * world->discount * moves->probability[i];
}

/* What leads elsewhere in another world is to change alike. Returns how many rows there are. */
static size_t put_differences(const idm_world *world, const idm_world *other, size_t entries,
                              double *rows)
{
  for (size_t e = 0; e < entries; e++) {
    add_difference(world, e, 1, rows + e * world->n.states);
    add_difference(other, e, -1, rows + e * world->n.states);
  }
  return entries;
}

idm_status idm_open_shaping_all(size_t worlds, idm_world *const *world, const idm_sought *sought,
                                idm_finding *finding, idm_error *opt_error)
{
  const size_t states = world[0]->n.states;
  const idm_world *one = world[0];
  if (states > most_states || idm_times(states, idm_times(worlds, sought->count)) > most_basis) {
    idm_notes_add(&finding->words,
                  "unchecked: with %zu states, %zu models and %zu free numbers, what no behaviour "
                  "can tell of the utility was not looked for",
                  states, worlds, sought->count);
    return IDM_OK;
  }
  size_t count = 0;
  int64_t *first = idm_new(sought->count, sizeof *first);
  double *rows = idm_new(idm_times(worlds * sought->entries, states), sizeof *rows);
  double *potential = NULL;
  double *direction = NULL;
  idm_status status = first && rows ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    size_t conditions = put_conditions(1, &one, sought, first, rows);
    for (size_t m = 1; m < worlds; m++)
      conditions += put_differences(one, world[m], sought->entries, rows + conditions * states);
    potential = null_space(conditions, states, rows, &count);
    if (potential) direction = directions(one, sought, first, potential, states, count);
    status = keep(direction, count, finding, opt_error);
  }
  free(first);
  free(rows);
  free(potential);
  return status;
}

/* --- canonical form ------------------------------------------------------------------------- */

/* What every entry may lose first without a change of the canonical form: the middle of the
 * utility, where something follows every action and counts for less. A value is as large as
 * everything that it sums up, so that beside a large shift small differences would be rounding. */
static double shift_of(const idm_world *world, const double *utility)
{
  const size_t entries = world->n.states * world->n.actions;
  double least = utility[0];
  double most = utility[0];
  for (size_t e = 0; e < entries; e++) {
    if (world->moves->first[e] == world->moves->first[e + 1]) return 0;
    least = fmin(least, utility[e]);
    most = fmax(most, utility[e]);
  }
  return world->discount < 1 ? 0.5 * least + 0.5 * most : 0;
}

/* Add discount P V - V, V the value of the action prior under what the entries are. */
static idm_status unshape(const idm_world *world, const double *policy, double *v,
                          double *canonical, idm_error *opt_error)
{
  const size_t states = world->n.states;
  const idm_status status = idm_world_evaluate(world, policy, canonical, v, opt_error);
  for (size_t e = 0; status == IDM_OK && e < states * world->n.actions; e++)
    canonical[e] += idm_world_next(world, e / states, e % states, v) - v[e % states];
  return status;
}

idm_status idm_canonical_utility(const idm_world *world, const double *utility, double *canonical,
                                 idm_error *opt_error)
{
  /* The form of the form is itself. What values lose to rounding, beside a potential that is large
   * and where they settle slowly, is a potential for the most part: it goes with the next pass. */
  enum { passes = 3 };
  const idm_sizes n = world->n;
  const double shift = shift_of(world, utility);
  double *v = idm_new(n.states, sizeof *v);
  double *policy = idm_new(n.states * n.actions, sizeof *policy);
  idm_status status = v && policy ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; status == IDM_OK && i < n.states * n.actions; i++) {
    policy[i] = world->prior[i % n.actions];
    canonical[i] = utility[i] - shift;
  }
  for (int i = 0; i < passes && status == IDM_OK; i++)
    status = unshape(world, policy, v, canonical, opt_error);
  double mean = 0;
  for (size_t e = 0; status == IDM_OK && e < n.states * n.actions; e++)
    mean += world->prior[e / n.states] * canonical[e] / (double)n.states;
  for (size_t e = 0; status == IDM_OK && e < n.states * n.actions; e++) canonical[e] -= mean;
  free(v);
  free(policy);
  return status;
}

/* Make a canonical utility a unit vector; the zero vector stays, and so does what rounding leaves
 * of one. */
static void normalise(const idm_world *world, double *c, double size)
{
  const idm_sizes n = world->n;
  double norm = 0;
  for (size_t e = 0; e < n.states * n.actions; e++)
    norm += world->prior[e / n.states] * c[e] * c[e] / (double)n.states;
  norm = sqrt(norm);
  for (size_t e = 0; e < n.states * n.actions; e++) c[e] = norm > 1e-13 * size ? c[e] / norm : 0;
}

/* What values that the canonical form is made of may be as large as. */
static double size_of(const idm_world *world, const double *utility)
{
  const double shift = shift_of(world, utility);
  double size = 0;
  for (size_t e = 0; e < world->n.states * world->n.actions; e++)
    size = fmax(size, fabs(utility[e] - shift));
  return size / (1 - fmin(world->discount, 0.999));
}

idm_status idm_canonical_distance(const idm_world *world, const double *a, const double *b,
                                  double *distance, idm_error *opt_error)
{
  const idm_sizes n = world->n;
  const size_t entries = n.states * n.actions;
  double *c = idm_new(2 * entries, sizeof *c);
  if (!c) return idm_fail_memory(opt_error);
  idm_status status = idm_canonical_utility(world, a, c, opt_error);
  if (status == IDM_OK) status = idm_canonical_utility(world, b, c + entries, opt_error);
  double sum = 0;
  if (status == IDM_OK) {
    normalise(world, c, size_of(world, a));
    normalise(world, c + entries, size_of(world, b));
  }
  for (size_t e = 0; status == IDM_OK && e < entries; e++)
    sum += world->prior[e / n.states] * (c[e] - c[entries + e]) * (c[e] - c[entries + e]) /
           (double)n.states;
  *distance = 0.5 * sqrt(sum);
  free(c);
  return status;
}
