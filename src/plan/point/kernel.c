/* The sparse kernel of an agent's dynamics. */
#include "plan/point/kernel.h"

#include <string.h>

#include "base/memory.h"

/* What the builder reads. */
typedef struct source {
  const idm_setting *setting;
  const idm_theta *theta;
  size_t outcomes; /* of every action, those included that cannot happen */
} source;

/* p(s', o | s, u), o being model times observations plus observation. */
static double joint(const source *from, size_t u, size_t s, size_t o, size_t next)
{
  const idm_sizes n = from->theta->sizes;
  const size_t m = o / n.observations;
  const size_t x = o % n.observations;
  const double trust = idm_theta_values(from->theta, IDM_MODEL_PRIOR, 0)[m];
  const size_t world = m * n.actions + u;
  const double moves =
      idm_theta_values(from->theta, IDM_TRANSITION, 0)[(world * n.states + s) * n.states + next];
  const size_t emitter = from->setting->emits_before ? s : next;
  return trust * moves *
         idm_theta_values(from->theta, IDM_EMISSION,
                          0)[(world * n.states + emitter) * n.observations + x];
}

/* Number the cells of an action from `*cells` on: index[o][s'], UINT32_MAX where there is none,
 * counted from the action's first. With a kernel given, lays them down. */
static void number_cells(const source *from, size_t u, uint32_t *index, size_t *outcomes,
                         size_t *cells, kernel *opt_kernel)
{
  const size_t states = from->theta->sizes.states;
  const size_t first = *cells;
  for (size_t o = 0; o < from->outcomes; o++) {
    const size_t begun = *cells;
    for (size_t next = 0; next < states; next++) {
      bool possible = false;
      for (size_t s = 0; s < states && !possible && !from->setting->terminal[u]; s++)
        possible = joint(from, u, s, o, next) > 0;
      index[o * states + next] = possible ? (uint32_t)(*cells - first) : UINT32_MAX;
      if (!possible) continue;
      if (opt_kernel) opt_kernel->state[*cells] = (uint32_t)next;
      ++*cells;
    }
    if (*cells == begun) continue;
    if (opt_kernel) opt_kernel->cell[*outcomes] = begun;
    ++*outcomes;
  }
}

/* Entries of the row of (u, s), laid down where a kernel is given. */
static void fill_row(const source *from, size_t u, size_t s, const uint32_t *index, size_t *entries,
                     kernel *opt_kernel)
{
  const size_t states = from->theta->sizes.states;
  for (size_t c = 0; c < from->outcomes * states; c++) {
    if (index[c] == UINT32_MAX) continue;
    const double p = joint(from, u, s, c / states, c % states);
    if (!(p > 0)) continue;
    if (opt_kernel) {
      opt_kernel->at[*entries] = index[c];
      opt_kernel->value[*entries] = p;
    }
    ++*entries;
  }
}

/* One pass over the dynamics: counts, or where a kernel is given lays everything down. */
static void pass(const source *from, uint32_t *index, size_t counts[3], kernel *opt_kernel)
{
  const idm_sizes n = from->theta->sizes;
  size_t outcomes = 0, cells = 0, entries = 0;
  for (size_t u = 0; u < n.actions; u++) {
    if (opt_kernel) opt_kernel->outcome[u] = outcomes;
    number_cells(from, u, index, &outcomes, &cells, opt_kernel);
    for (size_t s = 0; s < n.states; s++) {
      if (opt_kernel) opt_kernel->entry[u * n.states + s] = entries;
      fill_row(from, u, s, index, &entries, opt_kernel);
    }
  }
  counts[0] = outcomes;
  counts[1] = cells;
  counts[2] = entries;
}

static bool allocate(kernel *k, const size_t counts[3])
{
  k->outcome = idm_new(k->actions + 1, sizeof *k->outcome);
  k->cell = idm_new(counts[0] + 1, sizeof *k->cell);
  k->state = idm_new(counts[1], sizeof *k->state);
  k->entry = idm_new(k->actions * k->states + 1, sizeof *k->entry);
  k->at = idm_new(counts[2], sizeof *k->at);
  k->value = idm_new(counts[2], sizeof *k->value);
  return k->outcome && k->cell && k->state && k->entry && k->at && k->value;
}

size_t idm_kernel_widest(const idm_theta *theta)
{
  return idm_times(theta->models * theta->sizes.observations, theta->sizes.states);
}

idm_status idm_kernel_create(const idm_setting *setting, const idm_theta *theta,
                             kernel **ret_kernel, idm_error *opt_error)
{
  *ret_kernel = NULL;
  const source from = {setting, theta, theta->models * theta->sizes.observations};
  uint32_t *index = idm_new(idm_times(from.outcomes, theta->sizes.states), sizeof *index);
  kernel *k = idm_new(1, sizeof *k);
  if (!index || !k) goto memory;
  size_t counts[3];
  pass(&from, index, counts, NULL);
  k->states = theta->sizes.states;
  k->actions = theta->sizes.actions;
  if (!allocate(k, counts)) goto memory;
  pass(&from, index, counts, k);
  k->outcome[k->actions] = counts[0];
  k->cell[counts[0]] = counts[1];
  k->entry[k->actions * k->states] = counts[2];
  for (size_t u = 0; u < k->actions; u++) {
    if (kernel_cells(k, u) > k->widest) k->widest = kernel_cells(k, u);
    if (kernel_outcomes(k, u) > k->busiest) k->busiest = kernel_outcomes(k, u);
  }
  free(index);
  *ret_kernel = k;
  return IDM_OK;
memory:
  free(index);
  idm_kernel_destroy(k);
  return idm_fail_memory(opt_error);
}

void idm_kernel_destroy(kernel *k)
{
  if (!k) return;
  free(k->outcome);
  free(k->cell);
  free(k->state);
  free(k->entry);
  free(k->at);
  free(k->value);
  free(k);
}
