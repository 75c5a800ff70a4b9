/* Weighted sets of hypotheses. */
#include "plan/believer/belief_set.h"

#include <math.h>

#include "base/memory.h"

/* Rounding leaves beliefs that are equal this close, coordinate by coordinate: a filter adds and
 * multiplies and never subtracts, so that small coordinates keep their digits too. */
static const double equal_beliefs = 1e-12;

/* Hypotheses are merged on the way beyond this many. */
enum { CROWD = 4 * BELIEF_SET_MOST };

/* A key by which equal hypotheses stand close together. */
typedef struct belief_rank {
  double key;
  uint32_t index;
} belief_rank;

/* Make room in the array that a pointer points to, whatever it holds. */
static bool grow(void *array, size_t capacity, size_t width)
{
  void *held;
  memcpy(&held, array, sizeof held);
  void *larger = realloc(held, capacity && width ? capacity * width : 1);
  if (larger) memcpy(array, &larger, sizeof larger);
  /* cppcheck-suppress memleak */
  return larger != NULL;
}

static idm_status reserve(belief_set *set, size_t capacity, idm_error *opt_error)
{
  const size_t row = set->states * sizeof(double);
  if (capacity <= set->capacity) return IDM_OK;
  if (!grow(&set->weight, capacity, sizeof(double)) || !grow(&set->belief, capacity, row) ||
      !grow(&set->world, capacity, row) || !grow(&set->last, capacity, sizeof *set->last) ||
      !grow(&set->rank, capacity, sizeof *set->rank) ||
      !grow(&set->into, capacity, sizeof *set->into))
    return idm_fail_memory(opt_error);
  set->capacity = capacity;
  return IDM_OK;
}

idm_status idm_belief_set_init(belief_set *set, size_t states, size_t actions, size_t pairs,
                               idm_error *opt_error)
{
  *set = (belief_set){.states = states, .actions = actions, .pairs = pairs};
  const idm_status status = reserve(set, 1, opt_error);
  if (status != IDM_OK) return status;
  set->count = 1;
  const idm_status room = idm_belief_set_decide(set, opt_error);
  set->count = 0;
  return room;
}

void idm_belief_set_free(belief_set *set)
{
  free(set->weight);
  free(set->belief);
  free(set->world);
  free(set->last);
  free(set->decision);
  free(set->specification);
  free(set->origin);
  free(set->rank);
  free(set->into);
}

void idm_belief_set_clear(belief_set *set)
{
  set->count = 0;
  set->origins = 0;
}

idm_status idm_belief_set_decide(belief_set *set, idm_error *opt_error)
{
  if (set->count <= set->decided) return IDM_OK;
  const size_t room = set->count > 2 * set->decided ? set->count : 2 * set->decided;
  if (!grow(&set->decision, room, set->actions * sizeof(double)) ||
      !grow(&set->specification, room, set->pairs * sizeof(double)))
    return idm_fail_memory(opt_error);
  set->decided = room;
  return IDM_OK;
}

/* --- merging -------------------------------------------------------------------------------- */

/* A combination of the coordinates with coefficients below 1 that have nothing to do with each
 * other, by which others, as good as always, stand apart. Sorting by the coordinates themselves, up
 * to a tolerance, would not be an order. */
static double key(const belief_set *set, size_t index)
{
  const double *z = set->belief + index * set->states;
  const double *e = set->world + index * set->states;
  double sum = set->remembers ? 0.5 * set->last[index] : 0;
  double coefficient = 0;
  for (size_t s = 0; s < set->states; s++) {
    coefficient += 0.6180339887498949; /* multiples of the golden section, less their whole parts */
    coefficient -= coefficient >= 1;
    sum += coefficient * (set->apart ? z[s] + 0.7548776662466927 * e[s] : z[s]);
  }
  return sum;
}

static bool equal_rows(const double *x, const double *y, size_t count)
{
  for (size_t s = 0; s < count; s++)
    if (fabs(x[s] - y[s]) > equal_beliefs * fmax(x[s], y[s])) return false;
  return true;
}

static bool equal(const belief_set *set, size_t a, size_t b)
{
  const size_t k = set->states;
  return equal_rows(set->belief + a * k, set->belief + b * k, k) &&
         (!set->apart || equal_rows(set->world + a * k, set->world + b * k, k)) &&
         (!set->remembers || set->last[a] == set->last[b]);
}

static bool before(belief_rank a, belief_rank b)
{
  return a.key < b.key || (a.key == b.key && a.index < b.index);
}

/* Heap sort in place: sets are sorted where nothing may be allocated. */
static void sift(belief_rank *rank, size_t root, size_t count)
{
  const belief_rank moved = rank[root];
  size_t child = 2 * root + 1;
  for (; child < count; child = 2 * root + 1) {
    if (child + 1 < count && before(rank[child], rank[child + 1])) child++;
    if (!before(moved, rank[child])) break;
    rank[root] = rank[child];
    root = child;
  }
  rank[root] = moved;
}

static void sort(belief_set *set)
{
  belief_rank *rank = set->rank;
  for (size_t i = 0; i < set->count; i++) rank[i] = (belief_rank){key(set, i), (uint32_t)i};
  for (size_t i = set->count / 2; i-- > 0;) sift(rank, i, set->count);
  for (size_t end = set->count; end-- > 1;) {
    const belief_rank largest = rank[0];
    rank[0] = rank[end];
    rank[end] = largest;
    sift(rank, 0, end);
  }
}

/* set->into: of each hypothesis the one equal to it that gets its weight, mostly itself. */
static void find_equals(belief_set *set)
{
  const double window = 2 * equal_beliefs;
  const belief_rank *rank = set->rank;
  sort(set);
  for (size_t i = 0; i < set->count; i++) set->into[i] = UINT32_MAX;
  for (size_t i = 0; i < set->count; i++) {
    const uint32_t first = rank[i].index;
    if (set->into[first] != UINT32_MAX) continue;
    set->into[first] = first;
    for (size_t j = i + 1; j < set->count && rank[j].key - rank[i].key <= window; j++) {
      const uint32_t other = rank[j].index;
      if (set->into[other] == UINT32_MAX && equal(set, first, other)) set->into[other] = first;
    }
  }
}

/* Those that are left close ranks, in their order; set->into says where each went. */
static void merge(belief_set *set)
{
  const size_t k = set->states;
  size_t kept = 0;
  if (set->count < 2) return;
  find_equals(set);
  for (size_t i = 0; i < set->count; i++)
    if (set->into[i] != i) set->weight[set->into[i]] += set->weight[i];
  /* A representative may stand behind those that merge into it: places first, then the others. */
  for (size_t i = 0; i < set->count; i++) {
    if (set->into[i] != i) continue;
    set->weight[kept] = set->weight[i];
    set->last[kept] = set->last[i];
    memmove(set->belief + kept * k, set->belief + i * k, k * sizeof *set->belief);
    if (set->apart) memmove(set->world + kept * k, set->world + i * k, k * sizeof *set->world);
    set->rank[i].index = (uint32_t)kept++;
  }
  for (size_t i = 0; i < set->count; i++) set->into[i] = set->rank[set->into[i]].index;
  for (size_t i = 0; i < set->origins; i++) set->origin[i].into = set->into[set->origin[i].into];
  set->count = kept;
}

double idm_belief_set_tidy(belief_set *set)
{
  double total = 0;
  merge(set);
  for (size_t i = 0; i < set->count; i++) total += set->weight[i];
  for (size_t i = 0; total > 0 && i < set->count; i++) set->weight[i] /= total;
  return total;
}

/* --- adding --------------------------------------------------------------------------------- */

idm_status idm_belief_set_add(belief_set *set, double weight, const double *belief,
                              const double *opt_world, int last, idm_error *opt_error)
{
  const size_t k = set->states;
  if (set->count >= CROWD) {
    merge(set);
    if (set->count > BELIEF_SET_MOST)
      return idm_fail(opt_error, IDM_INPUT, "what was not recorded leaves more than %d hypotheses",
                      BELIEF_SET_MOST);
  }
  if (set->count == set->capacity) {
    const idm_status status = reserve(set, 2 * set->capacity, opt_error);
    if (status != IDM_OK) return status;
  }
  set->weight[set->count] = weight;
  set->last[set->count] = last;
  memcpy(set->belief + set->count * k, belief, k * sizeof *belief);
  if (opt_world) memcpy(set->world + set->count * k, opt_world, k * sizeof *opt_world);
  set->count++;
  return IDM_OK;
}

idm_status idm_belief_set_trace(belief_set *set, belief_origin origin, idm_error *opt_error)
{
  if (set->origins == set->origin_capacity) {
    const size_t capacity = set->origin_capacity ? 2 * set->origin_capacity : 16;
    if (!grow(&set->origin, capacity, sizeof *set->origin)) return idm_fail_memory(opt_error);
    set->origin_capacity = capacity;
  }
  origin.into = (uint32_t)set->count - 1;
  origin.weight = set->weight[set->count - 1];
  set->origin[set->origins++] = origin;
  return IDM_OK;
}
