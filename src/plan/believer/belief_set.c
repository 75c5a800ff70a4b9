/* Weighted sets of beliefs. */
#include "plan/believer/belief_set.h"

#include <math.h>

#include "base/memory.h"

static const double equal_beliefs = 1e-12;

static idm_status reserve(belief_set *set, size_t capacity, idm_error *opt_error)
{
  if (capacity <= set->capacity) return IDM_OK;
  struct {
    double **array;
    size_t width;
  } const parts[] = {{&set->weight, 1},
                     {&set->belief, set->states},
                     {&set->decision, set->actions},
                     {&set->specification, set->pairs}};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    double *larger = realloc(*parts[i].array, capacity * parts[i].width * sizeof *larger);
    if (!larger) return idm_fail_memory(opt_error);
    *parts[i].array = larger;
  }
  set->capacity = capacity;
  return IDM_OK;
}

idm_status idm_belief_set_init(belief_set *set, size_t states, size_t actions, size_t pairs,
                               idm_error *opt_error)
{
  *set = (belief_set){.states = states, .actions = actions, .pairs = pairs};
  return reserve(set, 1, opt_error);
}

void idm_belief_set_free(belief_set *set)
{
  free(set->weight);
  free(set->belief);
  free(set->decision);
  free(set->specification);
}

idm_status idm_belief_set_add(belief_set *set, double weight, const double *belief,
                              idm_error *opt_error)
{
  if (set->count == set->capacity) {
    const idm_status status = reserve(set, 2 * set->capacity, opt_error);
    if (status != IDM_OK) return status;
  }
  set->weight[set->count] = weight;
  memcpy(set->belief + set->count * set->states, belief, set->states * sizeof *belief);
  set->count++;
  return IDM_OK;
}

static void swap(belief_set *set, size_t a, size_t b)
{
  if (a == b) return;
  const double weight = set->weight[a];
  set->weight[a] = set->weight[b];
  set->weight[b] = weight;
  for (size_t s = 0; s < set->states; s++) {
    const double z = set->belief[a * set->states + s];
    set->belief[a * set->states + s] = set->belief[b * set->states + s];
    set->belief[b * set->states + s] = z;
  }
}

/* A key by which equal beliefs stand close together and others, as good as always, do not: a
 * combination of the coordinates with coefficients below 1 that have nothing to do with each other.
 * Sorting by the coordinates themselves, up to a tolerance, would not be an order. */
static double key(const belief_set *set, size_t index)
{
  const double *z = set->belief + index * set->states;
  double sum = 0;
  double coefficient = 0;
  for (size_t s = 0; s < set->states; s++) {
    coefficient += 0.6180339887498949; /* multiples of the golden section, less their whole parts */
    coefficient -= coefficient >= 1;
    sum += coefficient * z[s];
  }
  return sum;
}

static bool equal(const belief_set *set, size_t a, size_t b)
{
  const double *x = set->belief + a * set->states;
  const double *y = set->belief + b * set->states;
  for (size_t s = 0; s < set->states; s++)
    if (fabs(x[s] - y[s]) > equal_beliefs) return false;
  return true;
}

/* Heap sort in place: the set is sorted rarely and must not allocate. */
static void sift(belief_set *set, size_t root, size_t count)
{
  for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && key(set, child) < key(set, child + 1)) child++;
    if (key(set, root) >= key(set, child)) return;
    swap(set, root, child);
    root = child;
  }
}

static void sort(belief_set *set)
{
  for (size_t i = set->count / 2; i-- > 0;) sift(set, i, set->count);
  for (size_t end = set->count; end-- > 1;) {
    swap(set, 0, end);
    sift(set, 0, end);
  }
}

/* Give the weight of every belief to the first one equal to it, and drop those left with nothing.
 */
static void merge(belief_set *set)
{
  const double window = equal_beliefs * (double)(set->states + 1);
  sort(set);
  for (size_t i = 0; i < set->count; i++) {
    if (set->weight[i] < 0) continue;
    for (size_t j = i + 1; j < set->count && key(set, j) - key(set, i) <= window; j++)
      if (set->weight[j] >= 0 && equal(set, i, j)) {
        set->weight[i] += set->weight[j];
        set->weight[j] = -1;
      }
  }
  size_t kept = 0;
  for (size_t i = 0; i < set->count; i++)
    if (set->weight[i] >= 0) swap(set, kept++, i);
  set->count = kept;
}

bool idm_belief_set_tidy(belief_set *set)
{
  if (set->count > 1) merge(set);
  double total = 0;
  for (size_t i = 0; i < set->count; i++) total += set->weight[i];
  if (!(total > 0)) return false;
  for (size_t i = 0; i < set->count; i++) set->weight[i] /= total;
  return true;
}
