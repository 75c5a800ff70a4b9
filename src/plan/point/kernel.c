/* Construction of the sparse kernel of an agent's dynamics. */
#include "plan/point/bounds.h"

#include <string.h>

#include "base/memory.h"

/* Inputs of the construction, and its scratch. The index of an outcome is model times observations
 * plus observation. */
typedef struct builder {
  idm_sizes sizes;
  size_t models;
  size_t outcomes; /* of every action, including impossible ones */
  bool emits_before;
  const bool *terminal;         /* [action] */
  const double *model_weight;   /* [model] */
  const double *transition;     /* [model][action][state][next state]; NULL: moves */
  const idm_sparse_rows *moves; /* sparse transitions of the only model; or NULL */
  const double *emission;       /* [model][action][emitter][observation] */
  uint32_t *index;              /* [outcome][next state]: cell of an action, or NO_CELL */
  size_t *next_entry;           /* [outcome]: position of the row's next entry of that outcome */
  uint32_t *next;               /* [state]: next states of a row of a matrix */
  double *next_probability;     /* [state]: their probabilities */
  size_t *first; /* [model][emitter + 1]: first of its possible observations under an action */
  uint32_t *possible_observation; /* [model][emitter][..]: observations of positive probability */
} builder;

#define NO_CELL UINT32_MAX
#define REACHED 0

static void free_builder(builder *b)
{
  free(b->index);
  free(b->next_entry);
  free(b->next);
  free(b->next_probability);
  free(b->first);
  free(b->possible_observation);
}

static bool make_builder(const idm_setting *setting, const idm_theta *theta, builder *b)
{
  *b = (builder){.sizes = theta->sizes,
                 .models = theta->models,
                 .outcomes = theta->models * theta->sizes.observations,
                 .emits_before = setting->emits_before,
                 .terminal = setting->terminal,
                 .model_weight = idm_theta_values(theta, IDM_MODEL_PRIOR, 0),
                 .transition = idm_theta_values(theta, IDM_TRANSITION, 0),
                 .moves = setting->moves,
                 .emission =
                     setting->moves ? setting->emission : idm_theta_values(theta, IDM_EMISSION, 0)};
  b->index = idm_new(idm_times(b->outcomes, b->sizes.states), sizeof *b->index);
  b->next_entry = idm_new(b->outcomes, sizeof *b->next_entry);
  b->next = idm_new(b->sizes.states, sizeof *b->next);
  b->next_probability = idm_new(b->sizes.states, sizeof *b->next_probability);
  b->first = idm_new(idm_times(b->models, b->sizes.states + 1), sizeof *b->first);
  b->possible_observation =
      idm_new(idm_times(b->outcomes, b->sizes.states), sizeof *b->possible_observation);
  return b->index && b->next_entry && b->next && b->next_probability && b->first &&
         b->possible_observation;
}

/* One row of one model: the next states of (u, s) and their probabilities. */
typedef struct row {
  size_t model;
  size_t state;
  size_t count;
  const uint32_t *next;           /* [count], ascending */
  const double *next_probability; /* [count] */
  const double *emission;         /* [emitter][observation] of the action */
} row;

/* Copies the nonzero entries of a row of a matrix to scratch; returns their number. */
static size_t compress(const builder *b, const double *moves)
{
  size_t count = 0;
  for (size_t next = 0; next < b->sizes.states; next++) {
    if (!(moves[next] > 0)) continue;
    b->next[count] = (uint32_t)next;
    b->next_probability[count++] = moves[next];
  }
  return count;
}

static row row_of(const builder *b, size_t m, size_t u, size_t s)
{
  const size_t action_model = m * b->sizes.actions + u;
  row r = {.model = m,
           .state = s,
           .next = b->next,
           .next_probability = b->next_probability,
           .emission = b->emission + action_model * b->sizes.states * b->sizes.observations};
  const size_t at = action_model * b->sizes.states + s;
  if (b->moves) {
    r.next = b->moves->next + b->moves->first[at];
    r.next_probability = b->moves->probability + b->moves->first[at];
    r.count = b->moves->first[at + 1] - b->moves->first[at];
  } else if (b->model_weight[m] > 0) {
    r.count = compress(b, b->transition + at * b->sizes.states);
  }
  return r;
}

/* Lists the possible observations of every emitter under an action. */
static void list_observations(const builder *b, size_t u)
{
  const idm_sizes n = b->sizes;
  size_t count = 0;
  for (size_t m = 0; m < b->models; m++) {
    const double *emission = b->emission + (m * n.actions + u) * n.states * n.observations;
    size_t *first = b->first + m * (n.states + 1);
    for (size_t s = 0; s < n.states; s++) {
      first[s] = count;
      for (size_t x = 0; x < n.observations; x++)
        if (emission[s * n.observations + x] > 0) b->possible_observation[count++] = (uint32_t)x;
    }
    first[n.states] = count;
  }
}

/* Possible observations of next state number `i` of a row: from first[0] to first[1]. */
static const size_t *observations_of(const builder *b, const row *r, size_t i)
{
  return b->first + r->model * (b->sizes.states + 1) + (b->emits_before ? r->state : r->next[i]);
}

/* p(s', o | s, u) for next state number `i` of a row and an observation. */
static double joint(const builder *b, const row *r, size_t i, size_t observation)
{
  const size_t emitter = b->emits_before ? r->state : r->next[i];
  return b->model_weight[r->model] * r->next_probability[i] *
         r->emission[emitter * b->sizes.observations + observation];
}

/* Marks the cells that an action can lead to; returns the number of its entries. */
static size_t mark_cells(const builder *b, size_t u)
{
  const idm_sizes n = b->sizes;
  size_t entries = 0;
  memset(b->index, 0xff, b->outcomes * n.states * sizeof *b->index); /* NO_CELL */
  for (size_t m = 0; m < b->models && !b->terminal[u]; m++)
    for (size_t s = 0; s < n.states; s++) {
      const row r = row_of(b, m, u, s);
      for (size_t i = 0; i < r.count; i++) {
        const size_t *list = observations_of(b, &r, i);
        for (size_t e = list[0]; e < list[1]; e++) {
          if (!(joint(b, &r, i, b->possible_observation[e]) > 0)) continue;
          b->index[(m * n.observations + b->possible_observation[e]) * n.states + r.next[i]] =
              REACHED;
          entries++;
        }
      }
    }
  return entries;
}

/* Numbers the marked cells of an action, relative to its first; writes them if a kernel is given.
 */
static void number_cells(const builder *b, size_t *outcomes, size_t *cells, kernel *opt_kernel)
{
  const size_t first = *cells;
  for (size_t o = 0; o < b->outcomes; o++) {
    const size_t first_entry = *cells;
    for (size_t next = 0; next < b->sizes.states; next++) {
      uint32_t *cell = &b->index[o * b->sizes.states + next];
      if (*cell == NO_CELL) continue;
      *cell = (uint32_t)(*cells - first);
      if (opt_kernel) opt_kernel->state[*cells] = (uint32_t)next;
      ++*cells;
    }
    if (*cells == first_entry) continue;
    if (opt_kernel) opt_kernel->cell[*outcomes] = first_entry;
    ++*outcomes;
  }
}

/* Visits the entries of a model's part of the row of (u, s): counts them by outcome or, if a kernel
 * is given, writes each after the earlier ones of its outcome. */
static void fill_part(const builder *b, size_t m, size_t u, size_t s, kernel *opt_kernel)
{
  const idm_sizes n = b->sizes;
  const row r = row_of(b, m, u, s);
  for (size_t i = 0; i < r.count; i++) {
    const size_t *list = observations_of(b, &r, i);
    for (size_t e = list[0]; e < list[1]; e++) {
      const double p = joint(b, &r, i, b->possible_observation[e]);
      if (!(p > 0)) continue;
      const size_t o = m * n.observations + b->possible_observation[e];
      const size_t at = b->next_entry[o]++;
      if (!opt_kernel) continue;
      opt_kernel->at[at] = b->index[o * n.states + r.next[i]];
      opt_kernel->value[at] = p;
    }
  }
}

/* Writes the row of (u, s) from entry `*entries` on, sorted by outcome and next state. */
static void fill_row(const builder *b, size_t u, size_t s, size_t *entries, kernel *k)
{
  memset(b->next_entry, 0, b->outcomes * sizeof *b->next_entry);
  for (size_t m = 0; m < b->models; m++) fill_part(b, m, u, s, NULL);
  for (size_t o = 0; o < b->outcomes; o++) {
    const size_t count = b->next_entry[o];
    b->next_entry[o] = *entries;
    *entries += count;
  }
  for (size_t m = 0; m < b->models; m++) fill_part(b, m, u, s, k);
}

/* One pass over the dynamics: counts outcomes, cells and entries or, if a kernel is given, writes
 * them. */
static void traverse(const builder *b, size_t counts[3], kernel *opt_kernel)
{
  const idm_sizes n = b->sizes;
  size_t outcomes = 0, cells = 0, entries = 0;
  for (size_t u = 0; u < n.actions; u++) {
    if (opt_kernel) opt_kernel->outcome[u] = outcomes;
    list_observations(b, u);
    const size_t of_action = mark_cells(b, u);
    number_cells(b, &outcomes, &cells, opt_kernel);
    if (!opt_kernel) entries += of_action;
    for (size_t s = 0; s < n.states && opt_kernel; s++) {
      opt_kernel->entry[u * n.states + s] = entries;
      if (of_action) fill_row(b, u, s, &entries, opt_kernel);
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

size_t idm_kernel_max_cells(const idm_theta *theta)
{
  return idm_times(theta->models * theta->sizes.observations, theta->sizes.states);
}

idm_status idm_kernel_create(const idm_setting *setting, const idm_theta *theta,
                             kernel **ret_kernel, idm_error *opt_error)
{
  *ret_kernel = NULL;
  builder b;
  kernel *k = idm_new(1, sizeof *k);
  if (!make_builder(setting, theta, &b) || !k) goto memory;
  size_t counts[3];
  traverse(&b, counts, NULL);
  k->states = theta->sizes.states;
  k->actions = theta->sizes.actions;
  if (!allocate(k, counts)) goto memory;
  traverse(&b, counts, k);
  k->outcome[k->actions] = counts[0];
  k->cell[counts[0]] = counts[1];
  k->entry[k->actions * k->states] = counts[2];
  for (size_t u = 0; u < k->actions; u++) {
    if (kernel_cells(k, u) > k->max_cells) k->max_cells = kernel_cells(k, u);
    if (kernel_outcomes(k, u) > k->max_outcomes) k->max_outcomes = kernel_outcomes(k, u);
  }
  free_builder(&b);
  *ret_kernel = k;
  return IDM_OK;
memory:
  free_builder(&b);
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
