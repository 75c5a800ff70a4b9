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

/* What is looked for: potentials, and changes of numbers that no entry tells that was seen. A
 * utility that changes by discount P phi - phi changes values by -phi, and no choice in the state.
 * Of a state that was never visited the log shows no choice: there it is enough that what is done
 * in it is worth as much less. */
typedef struct puzzle {
  size_t worlds;
  const idm_mdp *const *world;
  const idm_demonstrator *const *seen; /* [world]; NULL: everything was */
  const idm_sought *sought;
  size_t states;
  int64_t *first; /* [number]: world times entries plus entry, an entry that tells how it changes;
                     or below 0, of those that none does, counted from -1 down */
  size_t own;     /* how many there are of those */
  size_t width;   /* potentials of all worlds, and own */
} puzzle;

/* Whether choices in a state were seen. */
static bool is_visited(const puzzle *p, size_t world, size_t state)
{
  return !p->seen || p->seen[world]->visits[state] > 0;
}

/* Whether an entry bears on a choice that was seen. */
static bool tells(const puzzle *p, size_t world, size_t entry)
{
  return p->world[world]->prior[entry / p->states] > 0 && is_visited(p, world, entry % p->states);
}

/* Of features no entry alone tells how a weight changes: all weights are unknowns of their own. */
static void number_unknowns(puzzle *p)
{
  const size_t entries = p->sought->entries;
  const int64_t none = -1 - (int64_t)p->sought->count;
  for (size_t k = 0; k < p->sought->count; k++) p->first[k] = none;
  for (size_t at = 0; at < p->worlds * entries; at++) {
    const int32_t number = p->sought->number[at % entries];
    if (number >= 0 && p->first[number] == none && tells(p, at / entries, at % entries))
      p->first[number] = (int64_t)at;
  }
  p->own = 0;
  for (size_t k = 0; k < p->sought->count; k++)
    if (p->first[k] == none) p->first[k] = -1 - (int64_t)p->own++;
  p->width = p->worlds * p->states + p->own;
}

/* row += weight times how entry (action, state) changes with the potential of a world. */
static void add_change(const puzzle *p, size_t world, size_t entry, double weight, double *row)
{
  const idm_mdp *w = p->world[world];
  const idm_moves *moves = w->moves;
  double *potential = row + world * p->states;
  for (size_t i = moves->first[entry]; i < moves->first[entry + 1]; i++)
    potential[moves->next[i]] += weight * w->discount * moves->probability[i];
  potential[entry % p->states] -= weight;
}

/* row -= weight times how an entry changes with the numbers; one that is held does not. */
static void take_number(const puzzle *p, size_t entry, double weight, double *row)
{
  const int32_t number = p->sought->number[entry];
  if (number < 0) {
    (void)idm_sought_add(p->sought, entry, -weight, row + p->worlds * p->states);
    return;
  }
  const int64_t at = p->first[number];
  if (at < 0)
    row[p->worlds * p->states + (size_t)(-1 - at)] -= weight;
  else
    add_change(p, (size_t)at / p->sought->entries, (size_t)at % p->sought->entries, -weight, row);
}

/* In a state that was never visited, by what is done there. */
static void put_unvisited(const puzzle *p, size_t world, size_t state, double *row)
{
  const size_t actions = p->world[world]->n.actions;
  for (size_t u = 0; u < actions; u++) {
    const double share = p->seen[world]->policy[state * actions + u];
    if (!(share > 0)) continue;
    add_change(p, world, u * p->states + state, share, row);
    take_number(p, u * p->states + state, share, row);
  }
}

/* What must be 0: entries that tell change with the potential by as much as their number, which the
 * first of them says. Returns how many rows there are, at most worlds times entries and states. */
static size_t put_conditions(const puzzle *p, double *rows)
{
  const size_t entries = p->sought->entries;
  size_t count = 0;
  for (size_t at = 0; at < p->worlds * entries; at++) {
    const int32_t number = p->sought->number[at % entries];
    if (!tells(p, at / entries, at % entries)) continue;
    if (number >= 0 && p->first[number] == (int64_t)at) continue;
    add_change(p, at / entries, at % entries, 1, rows + count * p->width);
    take_number(p, at % entries, 1, rows + count++ * p->width);
  }
  for (size_t at = 0; at < p->worlds * p->states; at++)
    if (!is_visited(p, at / p->states, at % p->states))
      put_unvisited(p, at / p->states, at % p->states, rows + count++ * p->width);
  return count;
}

/* Solutions as directions of the free numbers. */
static double *directions(const puzzle *p, const double *solution, size_t count)
{
  const size_t numbers = p->sought->count;
  const size_t entries = p->sought->entries;
  double *direction = idm_new(idm_times(count, numbers), sizeof *direction);
  for (size_t i = 0; direction && i < count; i++)
    for (size_t k = 0; k < numbers; k++) {
      const double *x = solution + i * p->width;
      const int64_t at = p->first[k];
      if (at < 0) {
        direction[i * numbers + k] = x[p->worlds * p->states + (size_t)(-1 - at)];
        continue;
      }
      const double *phi = x + (size_t)at / entries * p->states;
      const size_t entry = (size_t)at % entries;
      const idm_mdp *world = p->world[(size_t)at / entries];
      direction[i * numbers + k] =
          idm_mdp_next(world, entry / p->states, entry % p->states, phi) - phi[entry % p->states];
    }
  return direction;
}

void idm_open_say_unvisited(size_t unvisited, size_t states, idm_finding *finding)
{
  if (unvisited)
    idm_notes_add(&finding->words,
                  "%zu of the %zu states were never visited: of what is wanted there the data tell "
                  "no more than what it adds to the states before",
                  unvisited, states);
}

static size_t count_unvisited(const puzzle *p)
{
  size_t unvisited = 0;
  for (size_t s = 0; s < p->states; s++) {
    bool visited = false;
    for (size_t w = 0; w < p->worlds; w++) visited = visited || is_visited(p, w, s);
    unvisited += !visited;
  }
  return unvisited;
}

/* Solve it where it is small enough; `more` puts further conditions, at most `further` of them,
 * where it is not NULL. */
static idm_status solve(puzzle *p, size_t further, size_t (*more)(const puzzle *, void *, double *),
                        void *context, idm_finding *finding, idm_error *opt_error)
{
  p->first = idm_new(p->sought->count, sizeof *p->first);
  if (!p->first) return idm_fail_memory(opt_error);
  number_unknowns(p);
  if (p->worlds * p->states > most_states || idm_times(p->width, p->sought->count) > most_basis) {
    idm_notes_add(&finding->words,
                  "unchecked: with %zu states and %zu free numbers, what no behaviour can tell of "
                  "the utility was not looked for",
                  p->states, p->sought->count);
    free(p->first);
    return IDM_OK;
  }
  size_t count = 0;
  const size_t most = p->worlds * (p->sought->entries + p->states) + further;
  double *rows = idm_new(idm_times(most, p->width), sizeof *rows);
  double *solution = NULL;
  double *direction = NULL;
  idm_status status = rows ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    size_t conditions = put_conditions(p, rows);
    if (more) conditions += more(p, context, rows + conditions * p->width);
    solution = null_space(conditions, p->width, rows, &count);
    if (solution) direction = directions(p, solution, count);
    status = keep(direction, count, finding, opt_error);
  }
  if (status == IDM_OK) idm_open_say_unvisited(count_unvisited(p), p->states, finding);
  free(p->first);
  free(rows);
  free(solution);
  return status;
}

idm_status idm_open_shared(size_t worlds, const idm_mdp *const *world,
                           const idm_demonstrator *const *opt_seen, const idm_sought *sought,
                           idm_finding *finding, idm_error *opt_error)
{
  puzzle p = {.worlds = worlds,
              .world = world,
              .seen = opt_seen,
              .sought = sought,
              .states = world[0]->n.states};
  return solve(&p, 0, NULL, NULL, finding, opt_error);
}

idm_status idm_open_shaping(const idm_mdp *world, const idm_demonstrator *opt_seen,
                            const idm_sought *sought, idm_finding *finding, idm_error *opt_error)
{
  return idm_open_shared(1, &world, opt_seen ? &opt_seen : NULL, sought, finding, opt_error);
}

/* row += sign times what follows an entry in one of several worlds is worth by a potential. */
static void add_next(const idm_mdp *world, size_t entry, double sign, double *row)
{
  const idm_moves *moves = world->moves;
  for (size_t i = moves->first[entry]; i < moves->first[entry + 1]; i++)
    row[moves->next[i]] += sign * world->discount * moves->probability[i];
}

/* Worlds that are held possible beside the first. */
typedef struct others {
  size_t count;
  idm_mdp *const *world;
} others;

/* What leads elsewhere in another world is to change alike, wherever somebody may do it. */
static size_t put_differences(const puzzle *p, void *context, double *rows)
{
  const others *o = context;
  size_t made = 0;
  for (size_t m = 0; m < o->count; m++)
    for (size_t e = 0; e < p->sought->entries; e++) {
      if (!(p->world[0]->prior[e / p->states] > 0)) continue;
      add_next(p->world[0], e, 1, rows + made * p->width);
      add_next(o->world[m], e, -1, rows + made++ * p->width);
    }
  return made;
}

idm_status idm_open_shaping_all(size_t worlds, idm_mdp *const *world,
                                const idm_demonstrator *opt_seen, const idm_sought *sought,
                                idm_finding *finding, idm_error *opt_error)
{
  const idm_mdp *one = world[0];
  others o = {worlds - 1, world + 1};
  puzzle p = {.worlds = 1,
              .world = &one,
              .seen = opt_seen ? &opt_seen : NULL,
              .sought = sought,
              .states = one->n.states};
  return solve(&p, (worlds - 1) * sought->entries, put_differences, &o, finding, opt_error);
}

/* --- canonical form ------------------------------------------------------------------------- */

/* What every entry may lose first without a change of the canonical form: the middle of the
 * utility, where something follows every action and counts for less. A value is as large as
 * everything that it sums up, so that beside a large shift small differences would be rounding. */
static double shift_of(const idm_mdp *world, const double *utility)
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
static idm_status unshape(const idm_mdp *world, const double *policy, double *v, double *canonical,
                          idm_error *opt_error)
{
  const size_t states = world->n.states;
  const idm_status status = idm_mdp_evaluate(world, policy, canonical, v, opt_error);
  for (size_t e = 0; status == IDM_OK && e < states * world->n.actions; e++)
    canonical[e] += idm_mdp_next(world, e / states, e % states, v) - v[e % states];
  return status;
}

/* canonical[action][state] = u + discount P V - V, V the value of the action prior under it, less
 * its mean: blind to shaping and to constants. */
static idm_status canonical_utility(const idm_mdp *world, const double *utility, double *canonical,
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
static void normalise(const idm_mdp *world, double *c, double size)
{
  const idm_sizes n = world->n;
  double norm = 0;
  for (size_t e = 0; e < n.states * n.actions; e++)
    norm += world->prior[e / n.states] * c[e] * c[e] / (double)n.states;
  norm = sqrt(norm);
  for (size_t e = 0; e < n.states * n.actions; e++) c[e] = norm > 1e-13 * size ? c[e] / norm : 0;
}

/* What values that the canonical form is made of may be as large as. */
static double size_of(const idm_mdp *world, const double *utility)
{
  const double shift = shift_of(world, utility);
  double size = 0;
  for (size_t e = 0; e < world->n.states * world->n.actions; e++)
    size = fmax(size, fabs(utility[e] - shift));
  return size / (1 - fmin(world->discount, 0.999));
}

idm_status idm_canonical_distance(const idm_mdp *world, const double *a, const double *b,
                                  double *distance, idm_error *opt_error)
{
  const idm_sizes n = world->n;
  const size_t entries = n.states * n.actions;
  double *c = idm_new(2 * entries, sizeof *c);
  if (!c) return idm_fail_memory(opt_error);
  idm_status status = canonical_utility(world, a, c, opt_error);
  if (status == IDM_OK) status = canonical_utility(world, b, c + entries, opt_error);
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
