/* The rows of a mind as a kernel. */
#include "invert/utility/mind_kernel.h"

#include "base/memory.h"

/* Number the pairs (x, s') that an action can lead to, observation by observation, from `*cells`
 * on: index[x][s'], counted from the action's first. With room for them, lays them down. */
static void number_cells(const idm_mind *mind, size_t u, uint32_t *index, size_t *outcomes,
                         size_t *cells, kernel *k)
{
  const size_t states = mind->n.states;
  const size_t first = *cells;
  memset(index, 0, mind->n.observations * states * sizeof *index);
  for (size_t i = mind->first[u * states]; i < mind->first[(u + 1) * states]; i++)
    index[mind->seen[i] * states + mind->next[i]] = 1;
  for (size_t x = 0; x < mind->n.observations; x++) {
    const size_t begun = *cells;
    for (size_t s = 0; s < states; s++) {
      if (!index[x * states + s]) continue;
      index[x * states + s] = (uint32_t)(*cells - first);
      if (k->state) k->state[*cells] = (uint32_t)s;
      ++*cells;
    }
    if (*cells == begun) continue;
    if (k->cell) k->cell[*outcomes] = begun;
    ++*outcomes;
  }
}

/* Entries of the row of (u, s), by rising cell: observation by observation. */
static void fill_row(const idm_mind *mind, size_t row, const uint32_t *index, kernel *k)
{
  size_t at = k->entry[row];
  for (size_t x = 0; x < mind->n.observations; x++)
    for (size_t i = mind->first[row]; i < mind->first[row + 1]; i++) {
      if (mind->seen[i] != x) continue;
      k->at[at] = index[x * mind->n.states + mind->next[i]];
      k->value[at++] = mind->p[i];
    }
}

/* One pass over all actions: counts, or where there is room lays everything down. */
static void pass(const idm_mind *mind, uint32_t *index, size_t *outcomes, size_t *cells, kernel *k)
{
  *outcomes = *cells = 0;
  for (size_t u = 0; u < mind->n.actions; u++) {
    if (k->outcome) k->outcome[u] = *outcomes;
    number_cells(mind, u, index, outcomes, cells, k);
    for (size_t s = 0; s < mind->n.states && k->entry; s++) {
      k->entry[u * mind->n.states + s] = mind->first[u * mind->n.states + s];
      fill_row(mind, u * mind->n.states + s, index, k);
    }
  }
}

static bool allocate(const idm_mind *mind, size_t outcomes, size_t cells, kernel *k)
{
  const size_t rows = mind->n.actions * mind->n.states;
  k->outcome = idm_new(mind->n.actions + 1, sizeof *k->outcome);
  k->cell = idm_new(outcomes + 1, sizeof *k->cell);
  k->state = idm_new(cells, sizeof *k->state);
  k->entry = idm_new(rows + 1, sizeof *k->entry);
  k->at = idm_new(mind->first[rows], sizeof *k->at);
  k->value = idm_new(mind->first[rows], sizeof *k->value);
  return k->outcome && k->cell && k->state && k->entry && k->at && k->value;
}

static void measure(kernel *k)
{
  for (size_t u = 0; u < k->actions; u++) {
    if (kernel_cells(k, u) > k->widest) k->widest = kernel_cells(k, u);
    if (kernel_outcomes(k, u) > k->busiest) k->busiest = kernel_outcomes(k, u);
  }
}

idm_status idm_mind_kernel(const idm_mind *mind, kernel **ret_kernel, idm_error *opt_error)
{
  *ret_kernel = NULL;
  size_t outcomes;
  size_t cells;
  uint32_t *index = idm_new(idm_times(mind->n.observations, mind->n.states), sizeof *index);
  kernel *k = idm_new(1, sizeof *k);
  bool made = index && k;
  if (made) {
    k->states = mind->n.states;
    k->actions = mind->n.actions;
    pass(mind, index, &outcomes, &cells, k);
    made = allocate(mind, outcomes, cells, k);
  }
  if (made) {
    pass(mind, index, &outcomes, &cells, k);
    k->outcome[k->actions] = outcomes;
    k->cell[outcomes] = cells;
    k->entry[k->actions * k->states] = mind->first[k->actions * k->states];
    measure(k);
    *ret_kernel = k;
  } else {
    idm_kernel_destroy(k);
  }
  free(index);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}
