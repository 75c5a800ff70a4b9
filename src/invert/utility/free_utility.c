/* The free utility, and its directions that the log leaves unidentified.
 *
 * Contents: free utility · open */
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/text.h"
#include "invert/utility/mdp.h"
#include "setting/model.h"

/* === free utility =========================================================================== */

/* The free utility. */

/* For features with fixed weights: the columns of the free weights, and the sum over the fixed ones
 * as an offset. */
static idm_status separate_fixed(const idm_block *block, idm_free_utility *free_utility,
                                 idm_error *opt_error)
{
  const idm_features *f = block->features;
  const size_t all = f->name.count;
  idm_status status = idm_features_create(block->size, &block->coordinate_name,
                                          &free_utility->owned_features, opt_error);
  free_utility->base = idm_new(block->size, sizeof *free_utility->base);
  if (status != IDM_OK || !free_utility->base) return idm_fail_memory(opt_error);
  for (size_t c = 0; c < free_utility->count; c++) {
    const size_t k = idm_features_index(f, c);
    free_utility->owned_features->weight[c] = f->weight[k];
    for (size_t i = 0; i < block->size; i++)
      free_utility->owned_features->value[i * free_utility->count + c] = f->value[i * all + k];
  }
  for (size_t i = 0; i < block->size; i++)
    for (size_t k = 0; k < all; k++)
      if (f->fixed[k]) free_utility->base[i] += f->weight[k] * f->value[i * all + k];
  free_utility->features = free_utility->owned_features;
  return IDM_OK;
}

idm_status idm_free_utility_create(const idm_problem *problem, idm_free_utility **ret_free_utility,
                                   idm_error *opt_error)
{
  *ret_free_utility = NULL;
  const idm_block *block = &problem->theta->block[IDM_UTILITY];
  idm_free_utility *free_utility = idm_new(1, sizeof *free_utility);
  int32_t *number = idm_new(block->size, sizeof *number);
  double *held = idm_duplicate(block->value, block->size, sizeof *held);
  if (!free_utility || !number || !held) {
    free(free_utility);
    free(number);
    free(held);
    return idm_fail_memory(opt_error);
  }
  const bool given =
      block->role != IDM_DESCRIPTIVE; /* another block is free instead of the utility */
  *free_utility = (idm_free_utility){
      .entries = block->size,
      .count = given               ? 0
               : block->coordinate ? block->coordinate_name.count
                                   : block->size,
      .features = given ? NULL : block->features,
      .number = number,
      .held = held,
      .unit = 1,
  };
  for (size_t i = 0; i < block->size; i++)
    number[i] = given || block->features ? -1
                : block->coordinate      ? block->coordinate[i]
                                         : (int32_t)i;
  const bool some_fixed = !given && block->features && block->features->fixed;
  const idm_status status = some_fixed ? separate_fixed(block, free_utility, opt_error) : IDM_OK;
  if (status == IDM_OK)
    *ret_free_utility = free_utility;
  else
    idm_free_utility_destroy(free_utility);
  return status;
}

void idm_free_utility_destroy(idm_free_utility *free_utility)
{
  if (!free_utility) return;
  idm_features_destroy(free_utility->owned_features);
  free(free_utility->base);
  free(free_utility->number);
  free(free_utility->held);
  free(free_utility);
}

/* to[action][belief] = expectation of from[action][state]; `to` has the stride `stride`. */
static void mix(size_t actions, size_t states, size_t beliefs, const double *belief,
                const double *from, size_t stride, double *to)
{
  for (size_t e = 0; e < actions * beliefs; e++) {
    const double *z = belief + e % beliefs * states;
    to[e * stride] = 0;
    for (size_t s = 0; s < states; s++) to[e * stride] += z[s] * from[e / beliefs * states + s];
  }
}

static bool allocate_on(idm_free_utility *on)
{
  on->number = idm_new(on->entries, sizeof *on->number);
  on->held = idm_new(on->entries, sizeof *on->held);
  on->base = idm_new(on->entries, sizeof *on->base);
  on->owned_features = idm_new(1, sizeof *on->owned_features);
  if (!on->number || !on->held || !on->base || !on->owned_features) return false;
  on->owned_features->value =
      idm_new(idm_times(on->entries, on->count), sizeof *on->owned_features->value);
  on->features = on->owned_features;
  return on->owned_features->value != NULL;
}

idm_status idm_belief_utility_create(const idm_free_utility *free_utility, size_t actions,
                                     size_t states, size_t beliefs, const double *belief,
                                     idm_free_utility **ret_free_utility, idm_error *opt_error)
{
  *ret_free_utility = NULL;
  idm_free_utility *on = idm_new(1, sizeof *on);
  double *unit = idm_new(free_utility->count, sizeof *unit);
  double *utility = idm_new(free_utility->entries, sizeof *utility);
  if (on)
    *on = (idm_free_utility){.entries = idm_times(actions, beliefs),
                             .count = free_utility->count,
                             .unit = free_utility->unit};
  if (!on || !unit || !utility || !allocate_on(on)) {
    idm_free_utility_destroy(on);
    free(unit);
    free(utility);
    return idm_fail_memory(opt_error);
  }
  for (size_t e = 0; e < on->entries; e++) on->number[e] = -1;
  idm_free_utility_fill(free_utility, unit, utility);
  mix(actions, states, beliefs, belief, utility, 1, on->base);
  for (size_t k = 0; k < free_utility->count; k++) {
    unit[k] = 1;
    idm_free_utility_apply(free_utility, unit, utility);
    mix(actions, states, beliefs, belief, utility, free_utility->count,
        on->owned_features->value + k);
    unit[k] = 0;
  }
  free(unit);
  free(utility);
  *ret_free_utility = on;
  return IDM_OK;
}

void idm_free_utility_rescale(idm_free_utility *free_utility, bool include_free, double size)
{
  double largest = isfinite(size) ? fabs(size) : 0;
  for (size_t e = 0; e < free_utility->entries; e++)
    largest = fmax(largest, fabs(include_free ? free_utility->held[e]
                                              : idm_free_utility_constant(free_utility, e)));
  /* The exponent is limited so that the unit has a finite inverse. */
  const int power = largest > 0 ? ilogb(largest) : 0;
  const double unit = ldexp(1, power < -1000 ? -1000 : power > 1000 ? 1000 : power);
  for (size_t e = 0; e < free_utility->entries; e++) {
    free_utility->held[e] /= unit;
    if (free_utility->base) free_utility->base[e] /= unit;
  }
  free_utility->unit *= unit;
}

static double key_of(const char *name)
{
  return (double)(idm_checksum(IDM_CHECKSUM_START, name, strlen(name)) >> 11) * 0x1p-53;
}

/* Maps sums of keys to [1/2, 3/2). */
static void wrap_keys(size_t count, double *key)
{
  for (size_t k = 0; k < count; k++) key[k] = 0.5 + key[k] - floor(key[k]);
}

idm_status idm_free_utility_keys(const idm_problem *problem, const idm_free_utility *free_utility,
                                 double *key, idm_error *opt_error)
{
  const idm_block *block = &problem->theta->block[IDM_UTILITY];
  if (free_utility->features) {
    for (size_t k = 0; k < free_utility->count; k++)
      key[k] = key_of(block->coordinate_name.name[k]);
    wrap_keys(free_utility->count, key);
    return IDM_OK;
  }
  char *name = idm_new(IDM_ENTRY_SIZE, 1);
  if (!name) return idm_fail_memory(opt_error);
  for (size_t e = 0; e < free_utility->entries; e++) {
    if (free_utility->number[e] < 0) continue;
    /* Keys of entries by name; those of tied entries are added, independent of their order. */
    idm_block_entry_name(block->info, problem->setting, problem->theta->models, e, name,
                         IDM_ENTRY_SIZE);
    key[free_utility->number[e]] += key_of(name);
  }
  wrap_keys(free_utility->count, key);
  free(name);
  return IDM_OK;
}

void idm_free_utility_weights(const idm_free_utility *free_utility, double *weight)
{
  for (size_t k = 0; k < free_utility->count; k++) weight[k] = free_utility->features ? 1 : 0;
  for (size_t e = 0; e < free_utility->entries; e++)
    if (free_utility->number[e] >= 0) weight[free_utility->number[e]]++;
}

double idm_free_utility_coefficient(const idm_free_utility *free_utility, size_t entry,
                                    size_t number)
{
  if (free_utility->features)
    return free_utility->features->value[entry * free_utility->count + number];
  return free_utility->number[entry] == (int32_t)number;
}

void idm_free_utility_sizes(const idm_free_utility *free_utility, double *size)
{
  for (size_t k = 0; k < free_utility->count; k++) {
    size[k] = 0;
    for (size_t e = 0; e < free_utility->entries && free_utility->features; e++)
      size[k] = fmax(size[k], fabs(idm_free_utility_coefficient(free_utility, e, k)));
    if (!(size[k] > 0)) size[k] = 1;
  }
}

double idm_free_utility_constant(const idm_free_utility *free_utility, size_t entry)
{
  if (free_utility->features) return free_utility->base ? free_utility->base[entry] : 0;
  return free_utility->number[entry] < 0 ? free_utility->held[entry] : 0;
}

double idm_free_utility_add(const idm_free_utility *free_utility, size_t entry, double factor,
                            double *row)
{
  if (free_utility->number[entry] >= 0) row[free_utility->number[entry]] += factor;
  for (size_t k = 0; free_utility->features && k < free_utility->count; k++)
    row[k] += factor * free_utility->features->value[entry * free_utility->count + k];
  return factor * idm_free_utility_constant(free_utility, entry);
}

double idm_free_utility_value(const idm_free_utility *free_utility, size_t entry, const double *x)
{
  double sum = idm_free_utility_constant(free_utility, entry);
  if (free_utility->number[entry] >= 0) sum += x[free_utility->number[entry]];
  for (size_t k = 0; free_utility->features && k < free_utility->count; k++)
    sum += x[k] * free_utility->features->value[entry * free_utility->count + k];
  return sum;
}

/* Linear combination of the features. */
static void feature_sum(const idm_free_utility *free_utility, const double *weight, double *utility)
{
  for (size_t i = 0; i < free_utility->entries; i++) {
    utility[i] = 0;
    for (size_t k = 0; k < free_utility->count; k++)
      utility[i] += weight[k] * free_utility->features->value[i * free_utility->count + k];
  }
}

void idm_free_utility_apply(const idm_free_utility *free_utility, const double *change,
                            double *utility)
{
  if (free_utility->features) {
    feature_sum(free_utility, change, utility);
    return;
  }
  for (size_t i = 0; i < free_utility->entries; i++)
    utility[i] = free_utility->number[i] < 0 ? 0 : change[free_utility->number[i]];
}

void idm_free_utility_fill(const idm_free_utility *free_utility, const double *x, double *utility)
{
  if (free_utility->features) {
    feature_sum(free_utility, x, utility);
    for (size_t i = 0; i < free_utility->entries && free_utility->base; i++)
      utility[i] += free_utility->base[i];
    return;
  }
  for (size_t i = 0; i < free_utility->entries; i++)
    utility[i] = free_utility->number[i] < 0 ? free_utility->held[i] : x[free_utility->number[i]];
}

void idm_free_utility_write(const idm_free_utility *free_utility, const double *x, idm_theta *theta)
{
  idm_block *block = &theta->block[IDM_UTILITY];
  idm_free_utility_fill(free_utility, x, block->value);
  for (size_t e = 0; e < free_utility->entries; e++) block->value[e] *= free_utility->unit;
  for (size_t k = 0; k < free_utility->count && free_utility->features; k++)
    block->features->weight[idm_features_index(block->features, k)] = x[k] * free_utility->unit;
}

void idm_free_utility_backward(const idm_free_utility *free_utility, const double *derivative,
                               double *gradient)
{
  memset(gradient, 0, free_utility->count * sizeof *gradient);
  for (size_t i = 0; i < free_utility->entries; i++)
    if (free_utility->number[i] >= 0) gradient[free_utility->number[i]] += derivative[i];
  for (size_t i = 0; free_utility->features && i < free_utility->entries; i++)
    for (size_t k = 0; k < free_utility->count; k++)
      gradient[k] += free_utility->features->value[i * free_utility->count + k] * derivative[i];
}

/* === open =================================================================================== */

/* Unidentified directions of a utility. */

/* Relative tolerance for zeros in the elimination. */
static const double tolerance = 1e-10;
/* Largest number of states whose potentials are eliminated, within a second or two; and of elements
 * of a basis. */
enum { max_states = 700, max_basis = 4000000 };

/* --- elimination ---------------------------------------------------------------------------- */

/* Basis of the null space of a[rows][columns], which the caller frees; NULL if memory is exhausted.
 */
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

/* Stores directions [count][free] in the optimality record, which takes ownership, in reduced row
 * echelon form. Elements are in units of 1 / opt_size[free], which does not apply to what is
 * stored. */
static idm_status store_directions(double *direction, size_t count, const double *opt_size,
                                   idm_optimality *optimality, idm_error *opt_error)
{
  size_t *pivot = idm_new(count, sizeof *pivot);
  if (!direction || !pivot) {
    free(direction);
    free(pivot);
    return idm_fail_memory(opt_error);
  }
  free(optimality->direction);
  optimality->direction = direction;
  optimality->open = idm_row_reduce(count, optimality->free, direction, tolerance, pivot);
  optimality->evaluated = true;
  for (size_t i = 0; i < optimality->open * optimality->free; i++)
    if (fabs(direction[i]) < tolerance) direction[i] = 0; /* relative to pivots of 1 */
  for (size_t i = 0; opt_size && i < optimality->open * optimality->free; i++)
    direction[i] *= opt_size[pivot[i / optimality->free]] / opt_size[i % optimality->free];
  free(pivot);
  return IDM_OK;
}

idm_status idm_nullspace_design(size_t count, double *rows, idm_optimality *optimality,
                                idm_error *opt_error)
{
  size_t open = 0;
  if (idm_times(count + optimality->free, optimality->free) > max_basis) {
    idm_notes_add(&optimality->words,
                  "unchecked: with %zu free numbers, what the data leave open was not determined",
                  optimality->free);
    return IDM_OK;
  }
  double *basis = null_space(count, optimality->free, rows, &open);
  return store_directions(basis, open, NULL, optimality, opt_error);
}

/* --- shaping -------------------------------------------------------------------------------- */

/* Unknowns: potentials, and changes of free numbers that no observed entry identifies. A utility
 * change discount P phi - phi changes values by -phi and no choice in the state. In an unvisited
 * state the log shows no choice: there the change only has to have this policy mean under the
 * demonstrator's policy. */
typedef struct shaping_system {
  size_t mdps;
  const idm_mdp *const *mdp;
  const idm_demonstrator *const *demonstrator; /* [mdp]; NULL: every state counts as visited */
  const idm_free_utility *free_utility;
  size_t states;
  int64_t *first; /* [number]: mdp * entries + entry, an informative entry of the number; or, if
                     there is none, -1 minus the index of an unknown of its own */
  size_t own;     /* number of such unknowns */
  size_t width;   /* potentials of all MDPs, and own */
} shaping_system;

/* true if the log contains choices in a state. */
static bool is_visited(const shaping_system *p, size_t mdp, size_t state)
{
  return !p->demonstrator || p->demonstrator[mdp]->visits[state] > 0;
}

/* true if an entry affects an observed choice. */
static bool is_informative(const shaping_system *p, size_t mdp, size_t entry)
{
  return p->mdp[mdp]->prior[entry / p->states] > 0 && is_visited(p, mdp, entry % p->states);
}

/* Numbers the unknowns. For features no single entry identifies a weight: all weights are unknowns
 * of their own. */
static void number_unknowns(shaping_system *p)
{
  const size_t entries = p->free_utility->entries;
  const int64_t none = -1 - (int64_t)p->free_utility->count;
  for (size_t k = 0; k < p->free_utility->count; k++) p->first[k] = none;
  for (size_t at = 0; at < p->mdps * entries; at++) {
    const int32_t number = p->free_utility->number[at % entries];
    if (number >= 0 && p->first[number] == none && is_informative(p, at / entries, at % entries))
      p->first[number] = (int64_t)at;
  }
  p->own = 0;
  for (size_t k = 0; k < p->free_utility->count; k++)
    if (p->first[k] == none) p->first[k] = -1 - (int64_t)p->own++;
  p->width = p->mdps * p->states + p->own;
}

/* row += weight times the change of entry (action, state) by the potential of an MDP. */
static void add_change(const shaping_system *p, size_t mdp, size_t entry, double weight,
                       double *row)
{
  const idm_mdp *w = p->mdp[mdp];
  const idm_sparse_rows *moves = w->moves;
  double *potential = row + mdp * p->states;
  for (size_t i = moves->first[entry]; i < moves->first[entry + 1]; i++)
    potential[moves->next[i]] += weight * w->discount * moves->probability[i];
  potential[entry % p->states] -= weight;
}

/* row -= weight times the change of an entry by the free numbers, which is 0 for a fixed entry. */
static void subtract_number(const shaping_system *p, size_t entry, double weight, double *row)
{
  const int32_t number = p->free_utility->number[entry];
  if (number < 0) {
    (void)idm_free_utility_add(p->free_utility, entry, -weight, row + p->mdps * p->states);
    return;
  }
  const int64_t at = p->first[number];
  if (at < 0)
    row[p->mdps * p->states + (size_t)(-1 - at)] -= weight;
  else
    add_change(p, (size_t)at / p->free_utility->entries, (size_t)at % p->free_utility->entries,
               -weight, row);
}

/* Condition of an unvisited state: the mean under the demonstrator's policy. */
static void put_unvisited(const shaping_system *p, size_t mdp, size_t state, double *row)
{
  const size_t actions = p->mdp[mdp]->n.actions;
  for (size_t u = 0; u < actions; u++) {
    const double share = p->demonstrator[mdp]->policy[state * actions + u];
    if (!(share > 0)) continue;
    add_change(p, mdp, u * p->states + state, share, row);
    subtract_number(p, u * p->states + state, share, row);
  }
}

/* Homogeneous conditions: the change of an informative entry by the potential equals that of its
 * number, which the number's first informative entry defines. Returns the number of rows, at most
 * MDPs times (entries + states). */
static size_t put_conditions(const shaping_system *p, double *rows)
{
  const size_t entries = p->free_utility->entries;
  size_t count = 0;
  for (size_t at = 0; at < p->mdps * entries; at++) {
    const int32_t number = p->free_utility->number[at % entries];
    if (!is_informative(p, at / entries, at % entries)) continue;
    if (number >= 0 && p->first[number] == (int64_t)at) continue;
    add_change(p, at / entries, at % entries, 1, rows + count * p->width);
    subtract_number(p, at % entries, 1, rows + count++ * p->width);
  }
  for (size_t at = 0; at < p->mdps * p->states; at++)
    if (!is_visited(p, at / p->states, at % p->states))
      put_unvisited(p, at / p->states, at % p->states, rows + count++ * p->width);
  return count;
}

/* Converts solutions to directions of the free numbers. */
static double *directions(const shaping_system *p, const double *solution, size_t count)
{
  const size_t numbers = p->free_utility->count;
  const size_t entries = p->free_utility->entries;
  double *direction = idm_new(idm_times(count, numbers), sizeof *direction);
  for (size_t i = 0; direction && i < count; i++)
    for (size_t k = 0; k < numbers; k++) {
      const double *x = solution + i * p->width;
      const int64_t at = p->first[k];
      if (at < 0) {
        direction[i * numbers + k] = x[p->mdps * p->states + (size_t)(-1 - at)];
        continue;
      }
      const double *phi = x + (size_t)at / entries * p->states;
      const size_t entry = (size_t)at % entries;
      const idm_mdp *mdp = p->mdp[(size_t)at / entries];
      direction[i * numbers + k] =
          idm_mdp_next_value(mdp, entry / p->states, entry % p->states, phi) -
          phi[entry % p->states];
    }
  return direction;
}

void idm_nullspace_note_unvisited(size_t unvisited, size_t states, idm_optimality *optimality)
{
  if (unvisited)
    idm_notes_add(&optimality->words,
                  "%zu of the %zu states were never visited: the data identify the utility there "
                  "only through the values of the states before",
                  unvisited, states);
}

static size_t count_unvisited(const shaping_system *p)
{
  size_t unvisited = 0;
  for (size_t s = 0; s < p->states; s++) {
    bool visited = false;
    for (size_t w = 0; w < p->mdps; w++) visited = visited || is_visited(p, w, s);
    unvisited += !visited;
  }
  return unvisited;
}

/* Divides the unknown weights of features by their sizes, so that tolerances do not depend on the
 * scales of features. */
static void scale_weights(const shaping_system *p, size_t count, const double *size, double *rows)
{
  for (size_t i = 0; p->free_utility->features && i < count; i++)
    for (size_t k = 0; k < p->own; k++) rows[i * p->width + p->mdps * p->states + k] /= size[k];
}

/* Solves the system if it is small enough; add_rows adds at most extra_rows further conditions,
 * unless it is NULL. */
static idm_status solve(shaping_system *p, size_t extra_rows,
                        size_t (*add_rows)(const shaping_system *, void *, double *), void *context,
                        idm_optimality *optimality, idm_error *opt_error)
{
  p->first = idm_new(p->free_utility->count, sizeof *p->first);
  if (!p->first) return idm_fail_memory(opt_error);
  number_unknowns(p);
  if (p->mdps * p->states > max_states || idm_times(p->width, p->free_utility->count) > max_basis) {
    idm_notes_add(&optimality->words,
                  "unchecked: with %zu states and %zu free numbers, the directions of the utility "
                  "that no behaviour identifies were not determined",
                  p->states, p->free_utility->count);
    free(p->first);
    return IDM_OK;
  }
  size_t count = 0;
  const size_t most = p->mdps * (p->free_utility->entries + p->states) + extra_rows;
  double *rows = idm_new(idm_times(most, p->width), sizeof *rows);
  double *size = idm_new(p->free_utility->count, sizeof *size);
  double *solution = NULL;
  double *direction = NULL;
  idm_status status = rows && size ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    size_t conditions = put_conditions(p, rows);
    if (add_rows) conditions += add_rows(p, context, rows + conditions * p->width);
    idm_free_utility_sizes(p->free_utility, size);
    scale_weights(p, conditions, size, rows);
    solution = null_space(conditions, p->width, rows, &count);
    if (solution) direction = directions(p, solution, count);
    status = store_directions(direction, count, size, optimality, opt_error);
  }
  if (status == IDM_OK) idm_nullspace_note_unvisited(count_unvisited(p), p->states, optimality);
  free(p->first);
  free(rows);
  free(size);
  free(solution);
  return status;
}

idm_status idm_nullspace_shared(size_t mdps, const idm_mdp *const *mdp,
                                const idm_demonstrator *const *opt_demonstrator,
                                const idm_free_utility *free_utility, idm_optimality *optimality,
                                idm_error *opt_error)
{
  shaping_system p = {.mdps = mdps,
                      .mdp = mdp,
                      .demonstrator = opt_demonstrator,
                      .free_utility = free_utility,
                      .states = mdp[0]->n.states};
  return solve(&p, 0, NULL, NULL, optimality, opt_error);
}

idm_status idm_nullspace_shaping(const idm_mdp *mdp, const idm_demonstrator *opt_demonstrator,
                                 const idm_free_utility *free_utility, idm_optimality *optimality,
                                 idm_error *opt_error)
{
  return idm_nullspace_shared(1, &mdp, opt_demonstrator ? &opt_demonstrator : NULL, free_utility,
                              optimality, opt_error);
}

/* row += sign times the discounted potential of the successors of an entry. */
static void add_next(const idm_mdp *mdp, size_t entry, double sign, double *row)
{
  const idm_sparse_rows *moves = mdp->moves;
  for (size_t i = moves->first[entry]; i < moves->first[entry + 1]; i++)
    row[moves->next[i]] += sign * mdp->discount * moves->probability[i];
}

/* Models other than the first. */
typedef struct alternative_mdps {
  size_t count;
  idm_mdp *const *mdp;
} alternative_mdps;

/* The expected potential of successors must be equal under all models, for every available action.
 */
static size_t put_model_differences(const shaping_system *p, void *context, double *rows)
{
  const alternative_mdps *o = context;
  size_t made = 0;
  for (size_t m = 0; m < o->count; m++)
    for (size_t e = 0; e < p->free_utility->entries; e++) {
      if (!(p->mdp[0]->prior[e / p->states] > 0)) continue;
      add_next(p->mdp[0], e, 1, rows + made * p->width);
      add_next(o->mdp[m], e, -1, rows + made++ * p->width);
    }
  return made;
}

idm_status idm_nullspace_robust(size_t mdps, idm_mdp *const *mdp,
                                const idm_demonstrator *opt_demonstrator,
                                const idm_free_utility *free_utility, idm_optimality *optimality,
                                idm_error *opt_error)
{
  const idm_mdp *one = mdp[0];
  alternative_mdps o = {mdps - 1, mdp + 1};
  shaping_system p = {.mdps = 1,
                      .mdp = &one,
                      .demonstrator = opt_demonstrator ? &opt_demonstrator : NULL,
                      .free_utility = free_utility,
                      .states = one->n.states};
  return solve(&p, (mdps - 1) * free_utility->entries, put_model_differences, &o, optimality,
               opt_error);
}

/* --- canonical form ------------------------------------------------------------------------- */

/* A constant that is subtracted from every entry before the canonical form is computed, without
 * changing it: the midpoint of the utility, if no action is terminal and the discount is below 1. A
 * large constant would increase values and their rounding errors relative to small differences. */
static double shift_of(const idm_mdp *mdp, const double *utility)
{
  const size_t entries = mdp->n.states * mdp->n.actions;
  double least = utility[0];
  double most = utility[0];
  for (size_t e = 0; e < entries; e++) {
    if (mdp->moves->first[e] == mdp->moves->first[e + 1]) return 0;
    least = fmin(least, utility[e]);
    most = fmax(most, utility[e]);
  }
  return mdp->discount < 1 ? 0.5 * least + 0.5 * most : 0;
}

/* Adds discount P V - V, where V is the value of the action prior under the current entries. */
static idm_status remove_shaping(const idm_mdp *mdp, const double *policy, double *v,
                                 double *canonical, idm_error *opt_error)
{
  const size_t states = mdp->n.states;
  const idm_status status = idm_mdp_evaluate(mdp, policy, canonical, v, opt_error);
  for (size_t e = 0; status == IDM_OK && e < states * mdp->n.actions; e++)
    canonical[e] += idm_mdp_next_value(mdp, e / states, e % states, v) - v[e % states];
  return status;
}

/* canonical[action][state] = u + discount P V - V, where V is the value of the action prior under
 * u, minus its mean: invariant to shaping and to constants. */
static idm_status canonical_utility(const idm_mdp *mdp, const double *utility, double *canonical,
                                    idm_error *opt_error)
{
  /* The canonical form is idempotent. Rounding errors of values that are large or converge slowly
   * are mostly a potential, which the next iteration removes. */
  enum { iterations = 3 };
  const idm_sizes n = mdp->n;
  const double shift = shift_of(mdp, utility);
  double *v = idm_new(n.states, sizeof *v);
  double *policy = idm_new(n.states * n.actions, sizeof *policy);
  idm_status status = v && policy ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; status == IDM_OK && i < n.states * n.actions; i++) {
    policy[i] = mdp->prior[i % n.actions];
    canonical[i] = utility[i] - shift;
  }
  for (int i = 0; i < iterations && status == IDM_OK; i++)
    status = remove_shaping(mdp, policy, v, canonical, opt_error);
  double mean = 0;
  for (size_t e = 0; status == IDM_OK && e < n.states * n.actions; e++)
    mean += mdp->prior[e / n.states] * canonical[e] / (double)n.states;
  for (size_t e = 0; status == IDM_OK && e < n.states * n.actions; e++) canonical[e] -= mean;
  free(v);
  free(policy);
  return status;
}

/* Scales a canonical utility to unit norm; one that is 0 up to rounding becomes 0. */
static void normalise(const idm_mdp *mdp, double *c, double size)
{
  const idm_sizes n = mdp->n;
  double norm = 0;
  for (size_t e = 0; e < n.states * n.actions; e++)
    norm += mdp->prior[e / n.states] * c[e] * c[e] / (double)n.states;
  norm = sqrt(norm);
  for (size_t e = 0; e < n.states * n.actions; e++) c[e] = norm > 1e-13 * size ? c[e] / norm : 0;
}

/* Upper bound on the values that enter the canonical form. */
static double size_of(const idm_mdp *mdp, const double *utility)
{
  const double shift = shift_of(mdp, utility);
  double size = 0;
  for (size_t e = 0; e < mdp->n.states * mdp->n.actions; e++)
    size = fmax(size, fabs(utility[e] - shift));
  return size / (1 - fmin(mdp->discount, 0.999));
}

idm_status idm_canonical_distance(const idm_mdp *mdp, const double *a, const double *b,
                                  double *distance, idm_error *opt_error)
{
  const idm_sizes n = mdp->n;
  const size_t entries = n.states * n.actions;
  double *c = idm_new(2 * entries, sizeof *c);
  if (!c) return idm_fail_memory(opt_error);
  idm_status status = canonical_utility(mdp, a, c, opt_error);
  if (status == IDM_OK) status = canonical_utility(mdp, b, c + entries, opt_error);
  double sum = 0;
  if (status == IDM_OK) {
    normalise(mdp, c, size_of(mdp, a));
    normalise(mdp, c + entries, size_of(mdp, b));
  }
  for (size_t e = 0; status == IDM_OK && e < entries; e++)
    sum += mdp->prior[e / n.states] * (c[e] - c[entries + e]) * (c[e] - c[entries + e]) /
           (double)n.states;
  *distance = 0.5 * sqrt(sum);
  free(c);
  return status;
}
