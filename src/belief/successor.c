/* Build the successor operator (docs/method/control.md, 8). */
#include "belief/successor.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "base/soft.h"
#include "base/statistics.h"

/* Largest relative difference of two columns, normalised to sum 1, that count as proportional. */
static const double relative_tolerance = 1e-12;

static bool same_row(const idm_action_model *w, size_t s, size_t t)
{
  return memcmp(w->transition + s * w->states, w->transition + t * w->states,
                w->states * sizeof *w->transition) == 0;
}

/* Whether the transition is the same from every state (a reset). */
static bool is_reset(const idm_action_model *w)
{
  for (size_t s = 1; s < w->states; s++)
    if (!same_row(w, 0, s)) return false;
  return true;
}

/* Whether all states have the same emissions. */
static bool is_uninformative(const idm_action_model *w)
{
  for (size_t s = 1; s < w->states; s++)
    if (memcmp(w->emission, w->emission + s * w->observations,
               w->observations * sizeof *w->emission) != 0)
      return false;
  return true;
}

/* --- observations that lead to the same belief ---------------------------------------------- */

/* omega(x|s) as it enters the update: with weight 0, whether it is positive. */
static double evidence(const idm_action_model *w, size_t s, size_t x)
{
  const double seen = w->emission[s * w->observations + x];
  return w->update.distorted && w->update.evidence == 0 ? seen > 0 : seen;
}

static bool proportional_columns(const idm_action_model *w, size_t a, size_t b)
{
  double sum_a = 0, sum_b = 0;
  for (size_t s = 0; s < w->states; s++) {
    sum_a += evidence(w, s, a);
    sum_b += evidence(w, s, b);
  }
  for (size_t s = 0; s < w->states; s++) {
    const double p = evidence(w, s, a) / sum_a;
    const double q = evidence(w, s, b) / sum_b;
    if (fabs(p - q) > relative_tolerance * fmax(p, q)) return false;
  }
  return true;
}

/* z'(a) - z'(b) is a sum over pairs of states of z_s z_t (omega_a(s) omega_b(t) - omega_a(t)
 * omega_b(s)) (tau_s - tau_t): it is 0 at every z exactly when no pair with different transitions
 * has different products. */
static bool same_successor(const idm_action_model *w, size_t a, size_t b)
{
  for (size_t s = 0; s < w->states; s++)
    for (size_t t = 0; t < s; t++) {
      const double p = evidence(w, s, a) * evidence(w, t, b);
      const double q = evidence(w, t, a) * evidence(w, s, b);
      if (fabs(p - q) > relative_tolerance * fmax(p, q) && !same_row(w, s, t)) return false;
    }
  return true;
}

void idm_observation_groups(const idm_action_model *w, int *group)
{
  for (size_t x = 0; x < w->observations; x++) {
    bool is_possible = false;
    for (size_t s = 0; s < w->states && !is_possible; s++)
      is_possible = w->emission[s * w->observations + x] > 0;
    group[x] = is_possible ? (int)x : -1;
    for (size_t y = 0; is_possible && y < x; y++)
      if (group[y] == (int)y &&
          (w->before ? same_successor(w, y, x) : proportional_columns(w, y, x))) {
        group[x] = (int)y;
        break;
      }
  }
}

/* Whether an observation gives the prediction as posterior: a column that is constant, as of no
 * observation. */
static bool leaves_prediction(const idm_action_model *w, size_t x)
{
  for (size_t s = 0; s < w->states; s++)
    for (size_t t = 0; t < s; t++) {
      const double p = evidence(w, s, x), q = evidence(w, t, x);
      const bool alike = fabs(p - q) <= relative_tolerance * fmax(p, q);
      const bool kept = !w->update.distorted || w->update.prior == 1;
      if (!(alike && kept) && !(w->before && same_row(w, s, t))) return false;
    }
  return true;
}

int idm_observation_uninformative(const idm_action_model *w, const int *group)
{
  for (size_t x = 0; x < w->observations; x++)
    if (group[x] == (int)x && leaves_prediction(w, x)) return (int)x;
  return -1;
}

bool idm_group_correct(const idm_action_model *w, const int *group, size_t leader,
                       const double *emitter, double *posterior)
{
  for (size_t x = leader; x < w->observations; x++)
    if (group[x] == (int)leader && idm_filter_correct(w, emitter, x, posterior) > 0) return true;
  return false;
}

double idm_belief_prior_constant(size_t states, const double *opt_concentration)
{
  double total = 0, sum = 0;
  for (size_t s = 0; s < states && opt_concentration; s++) {
    total += opt_concentration[s];
    sum -= idm_log_gamma(opt_concentration[s]);
  }
  return opt_concentration ? sum + idm_log_gamma(total) : 0;
}

double idm_belief_prior_log(size_t states, const double *opt_concentration, double constant,
                            int resolution, const double *z)
{
  if (!opt_concentration) return 0;
  const double half_cell = 0.5 / resolution;
  double log_density = constant;
  for (size_t s = 0; s < states; s++)
    log_density +=
        (opt_concentration[s] - 1) * log((z[s] + half_cell) / (1 + (double)states * half_cell));
  return log_density;
}

void idm_belief_prior_gradient(size_t states, const double *concentration, int resolution,
                               const double *z, double factor, double *derivative)
{
  const double half_cell = 0.5 / resolution;
  double total = 0;
  for (size_t s = 0; s < states; s++) total += concentration[s];
  const double level = idm_digamma(total);
  for (size_t s = 0; s < states; s++)
    derivative[s] += factor * (log((z[s] + half_cell) / (1 + (double)states * half_cell)) + level -
                               idm_digamma(concentration[s]));
}

static double sum_of(size_t count, const double *x)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += x[i];
  return sum;
}

double idm_state_prior_log(size_t states, const double *opt_weight, size_t state)
{
  return opt_weight ? log(opt_weight[state] / sum_of(states, opt_weight)) : 0;
}

void idm_state_prior_gradient(size_t states, const double *weight, size_t state, double factor,
                              double *derivative)
{
  const double share = factor / sum_of(states, weight);
  for (size_t s = 0; s < states; s++) derivative[s] -= share;
  derivative[state] += factor / weight[state];
}

/* --- one row -------------------------------------------------------------------------------- */

typedef struct builder {
  const idm_lattice *lattice;
  const idm_successor_request *request;
  double prior_constant;         /* of idm_belief_prior_log */
  idm_action_model action_model; /* of the block under construction */
  size_t action;                 /* of that block */
  int *group;                    /* [observations] */
  int uninformative; /* of a limited sensor: the group whose posterior is the prediction; -1: none
                      */
  double pass_probability; /* a(z,u) at the current point */
  double uninformative_p;  /* probability of that group, where it is merged with no observation */
  double *emitter;         /* [states] */
  double *posterior;       /* [states] */
  double *scratch;         /* [2 * states] */
  double *expected;        /* scratch of the sensor */
  uint32_t *vertex;        /* [states] */
  double *weight;          /* [states] */
  /* The current row: entries, and the index of each lattice point in it (+1; 0: absent). */
  uint32_t *column;
  double *value;
  size_t entries;
  double expected_certainty; /* expected certainty of its successors */
  uint32_t *entry_index;     /* [points] */
} builder;

static void add_entry(builder *b, uint32_t column, double value)
{
  if (b->entry_index[column]) {
    b->value[b->entry_index[column] - 1] += value;
    return;
  }
  b->column[b->entries] = column;
  b->value[b->entries++] = value;
  b->entry_index[column] = (uint32_t)b->entries;
}

/* Two states: a cell is two adjacent points, and rows are stored as pairs. */
static bool uses_pairs(const idm_lattice *lattice)
{
  return lattice->states == 2 && !lattice->corners;
}

/* Add one successor belief as a pair of adjacent points; a belief at the last point is the upper
 * one of its pair. */
static void add_pair(builder *b, double p, size_t vertices)
{
  const bool at_end = b->vertex[0] == (uint32_t)b->lattice->resolution;
  double *value = b->value + 2 * b->entries;
  b->column[b->entries++] = at_end ? b->vertex[0] - 1 : b->vertex[0];
  value[0] = at_end ? 0 : p * b->weight[0];
  value[1] = at_end ? p : vertices > 1 ? p * b->weight[1] : 0;
}

static double surprise_term(double p, double log_prior)
{
  return p > 0 ? -p * (log(p) - log_prior) : 0;
}

/* An MDP: add a next state with its probability, if positive. Returns its surprise. */
static double corner_entry(builder *b, size_t s, double p)
{
  const size_t k = b->request->sizes.states;
  if (!(p > 0)) return 0;
  b->column[b->entries] = (uint32_t)s;
  b->value[b->entries++] = p;
  return surprise_term(p, idm_state_prior_log(k, b->request->belief_prior, s));
}

static double corner_row(builder *b, size_t row)
{
  const size_t k = b->request->sizes.states;
  double surprise = 0;
  b->entries = 0;
  if (b->request->opt_sparse) {
    const idm_sparse_rows *moves = b->request->opt_sparse;
    const size_t at = b->action * k + row;
    for (size_t i = moves->first[at]; i < moves->first[at + 1]; i++)
      surprise += corner_entry(b, moves->next[i], moves->probability[i]);
    return surprise;
  }
  const double *p = b->action_model.transition + row * k;
  for (size_t s = 0; s < k; s++) surprise += corner_entry(b, s, p[s]);
  return surprise;
}

/* Add the posterior belief to the row, with probability p. */
static void add_successor(builder *b, double p)
{
  const size_t k = b->request->sizes.states;
  b->expected_certainty += p * idm_belief_certainty(b->request->certainty, k, b->posterior).share;
  const size_t vertices =
      idm_lattice_locate(b->lattice, b->posterior, b->vertex, b->weight, b->scratch);
  if (uses_pairs(b->lattice)) {
    add_pair(b, p, vertices);
    return;
  }
  for (size_t v = 0; v < vertices; v++) add_entry(b, b->vertex[v], p * b->weight[v]);
}

/* Add one group of observations: one successor belief, with the probability of the group. Returns
 * its surprise. */
static double group_row(builder *b, size_t leader)
{
  const idm_sizes n = b->request->sizes;
  if (!idm_group_correct(&b->action_model, b->group, leader, b->emitter, b->posterior)) return 0;
  const double log_prior = idm_belief_prior_log(
      n.states, b->request->belief_prior, b->prior_constant, b->lattice->resolution, b->posterior);
  double total = 0;
  double surprise = 0;
  for (size_t x = leader; x < n.observations; x++) {
    if (b->group[x] != (int)leader) continue;
    double p = 0;
    for (size_t s = 0; s < n.states; s++)
      p += b->emitter[s] * b->action_model.emission[s * n.observations + x];
    p *= b->pass_probability;
    total += p;
    if (!b->request->merge_surprise) surprise += surprise_term(p, log_prior);
  }
  add_successor(b, total);
  if (!b->request->merge_surprise) return surprise;
  if (b->uninformative != (int)leader) return surprise_term(total, log_prior);
  b->uninformative_p = total;
  return 0;
}

/* Add the case that nothing is perceived, in which the belief is the prediction. Returns its
 * surprise. */
static double unperceived_row(builder *b, const double *z)
{
  const idm_sizes n = b->request->sizes;
  const double p = 1 - b->pass_probability;
  if (!(p + b->uninformative_p > 0)) return 0;
  idm_filter_predict(n.states, b->action_model.transition, z, b->posterior);
  const double log_prior = idm_belief_prior_log(
      n.states, b->request->belief_prior, b->prior_constant, b->lattice->resolution, b->posterior);
  if (p > 0) add_successor(b, p);
  return surprise_term(p + b->uninformative_p, log_prior);
}

/* Compute the row of lattice point `row`; returns H_m(z,u). */
static double gather_row(builder *b, size_t row)
{
  const idm_sizes n = b->request->sizes;
  b->expected_certainty = 0;
  if (b->lattice->corners) return corner_row(b, row);
  const idm_sensor *sensor = b->request->opt_sensor;
  const double *z = b->lattice->belief + row * n.states;
  b->entries = 0;
  b->uninformative_p = 0;
  b->pass_probability = sensor ? idm_sensor_passes(sensor, z, b->action, b->expected) : 1;
  idm_filter_emitter(&b->action_model, z, b->emitter);
  double surprise = 0;
  for (size_t x = 0; b->pass_probability > 0 && x < n.observations; x++)
    if (b->group[x] == (int)x) surprise += group_row(b, x);
  if (sensor) surprise += unperceived_row(b, z);
  if (!uses_pairs(b->lattice))
    for (size_t e = 0; e < b->entries; e++) b->entry_index[b->column[e]] = 0;
  return surprise;
}

/* --- one block ------------------------------------------------------------------------------ */

static idm_action_model world_of(const idm_successor_request *request, size_t u, size_t m)
{
  const idm_sizes n = request->sizes;
  const size_t at = m * n.actions + u;
  if (request->opt_sparse)
    return (idm_action_model){.states = n.states, .observations = n.observations};
  return (idm_action_model){.states = n.states,
                            .observations = n.observations,
                            .transition = request->transition + at * n.states * n.states,
                            .emission = request->emission + at * n.states * n.observations,
                            .before = request->before,
                            .update = request->update};
}

/* Whether one row is valid for every belief: all have the same successors with the same
 * probabilities and surprises. Where the emitter is the state acted in, the observation after a
 * reset depends on that state: with merged surprises it leads to one belief with probability 1;
 * with separate surprises, its surprise depends on the belief. The probability that a limited
 * sensor passes an observation depends on all models. */
static bool is_constant(const idm_successor_request *request, size_t u, size_t m)
{
  const idm_action_model w = world_of(request, u, m);
  const bool limited = request->opt_sensor != NULL;
  if (!is_reset(&w)) return false;
  if (w.before) return request->merge_surprise || (!limited && is_uninformative(&w));
  for (size_t other = 0; limited && other < request->models; other++) {
    const idm_action_model other_model = world_of(request, u, other);
    if (!is_reset(&other_model)) return false;
  }
  return true;
}

/* Length of the longest row of an action. */
static size_t max_row_length(const idm_sparse_rows *moves, size_t states, size_t u)
{
  size_t longest_row = 0;
  for (size_t i = u * states; i < (u + 1) * states; i++)
    if (moves->first[i + 1] - moves->first[i] > longest_row)
      longest_row = moves->first[i + 1] - moves->first[i];
  return longest_row;
}

/* Upper bound of the number of successors of a belief: the groups, and the prediction where nothing
 * is perceived. */
static size_t successor_count(const idm_successor_request *request, const int *group)
{
  size_t count = request->opt_sensor != NULL;
  for (size_t x = 0; x < request->sizes.observations; x++) count += group[x] == (int)x;
  return count;
}

/* Upper bound of the entries of a row of an action; `group` is not used for corners. */
static size_t max_row_entries(const idm_successor_request *request, size_t u, const int *group,
                              bool corners)
{
  const size_t k = request->sizes.states;
  if (request->opt_sparse) return max_row_length(request->opt_sparse, k, u);
  return corners ? k : idm_times(successor_count(request, group), k);
}

static void free_block(idm_successor_block *block)
{
  free(block->offset);
  free(block->column);
  free(block->value);
  free(block->surprise);
  free(block->expected_certainty);
}

static void *aligned(size_t count, size_t size)
{
  if (idm_times(count, size) > SIZE_MAX - IDM_ALIGNMENT) return NULL;
  const size_t bytes = (idm_times(count, size) + IDM_ALIGNMENT - 1) / IDM_ALIGNMENT * IDM_ALIGNMENT;
  return aligned_alloc(IDM_ALIGNMENT, bytes ? bytes : IDM_ALIGNMENT);
}

/* Reserve memory for the widest possible rows. Pages that no slice reaches are never touched, so
 * that memory use depends on the actual rows. */
static idm_status reserve_slices(idm_successor_block *block, size_t width, idm_error *opt_error)
{
  const size_t entries = idm_times(block->slices * IDM_LANES, width);
  block->column = aligned(entries, sizeof *block->column);
  block->value = aligned(entries, sizeof *block->value);
  return block->column && block->value ? IDM_OK : idm_fail_memory(opt_error);
}

/* Store the current row in its lane, and widen the slice where needed. */
static void store_row(idm_successor_block *block, const builder *b, size_t slice, size_t lane)
{
  const size_t begin = block->offset[slice];
  const size_t end = block->offset[slice + 1];
  const size_t needed = begin + b->entries * IDM_LANES;
  if (needed > end) {
    memset(block->column + end, 0, (needed - end) * sizeof *block->column);
    memset(block->value + end, 0, (needed - end) * sizeof *block->value);
    block->offset[slice + 1] = needed;
  }
  for (size_t e = 0; e < b->entries; e++) {
    block->column[begin + e * IDM_LANES + lane] = b->column[e];
    block->value[begin + e * IDM_LANES + lane] = b->value[e];
  }
}

/* Store the current row in the paired format. Observations that are impossible at z leave empty
 * pairs. */
static void store_pairs(idm_successor_block *block, const builder *b, size_t row)
{
  memcpy(block->column + row * block->pairs, b->column, b->entries * sizeof *b->column);
  memcpy(block->value + 2 * row * block->pairs, b->value, 2 * b->entries * sizeof *b->value);
}

static idm_status make_pairs(idm_successor_block *block, size_t pairs, idm_error *opt_error)
{
  const size_t entries = block->slices * IDM_LANES * pairs;
  block->pairs = pairs;
  block->column = idm_new(entries, sizeof *block->column);
  block->value = idm_new(2 * entries, sizeof *block->value);
  return block->column && block->value ? IDM_OK : idm_fail_memory(opt_error);
}

static idm_status build_block(builder *b, size_t model, idm_successor_block *block,
                              idm_error *opt_error)
{
  const bool corners = b->lattice->corners;
  const bool constant = !corners && is_constant(b->request, b->action, model);
  /* Sparse transitions replace the matrices only where states are observed. */
  assert(corners || (b->action_model.transition && b->action_model.emission));
  if (!corners) idm_observation_groups(&b->action_model, b->group);
  b->uninformative =
      b->request->opt_sensor ? idm_observation_uninformative(&b->action_model, b->group) : -1;
  block->rows = constant ? 1 : b->lattice->points;
  block->slices = (block->rows + IDM_LANES - 1) / IDM_LANES;
  block->offset = idm_new(block->slices + 1, sizeof *block->offset);
  block->surprise = aligned(block->slices * IDM_LANES, sizeof *block->surprise);
  block->expected_certainty = aligned(block->slices * IDM_LANES, sizeof *block->expected_certainty);
  if (!block->offset || !block->surprise || !block->expected_certainty)
    return idm_fail_memory(opt_error);
  memset(block->surprise, 0, block->slices * IDM_LANES * sizeof *block->surprise);
  memset(block->expected_certainty, 0,
         block->slices * IDM_LANES * sizeof *block->expected_certainty);

  const idm_status status =
      uses_pairs(b->lattice)
          ? make_pairs(block, successor_count(b->request, b->group), opt_error)
          : reserve_slices(block, max_row_entries(b->request, b->action, b->group, corners),
                           opt_error);
  for (size_t row = 0; status == IDM_OK && row < block->rows; row++) {
    const size_t slice = row / IDM_LANES;
    block->surprise[row] = gather_row(b, row);
    block->expected_certainty[row] = b->expected_certainty;
    if (!block->pairs && row % IDM_LANES == 0) block->offset[slice + 1] = block->offset[slice];
    if (block->pairs)
      store_pairs(block, b, row);
    else
      store_row(block, b, slice, row % IDM_LANES);
  }
  return status;
}

/* --- the operator --------------------------------------------------------------------------- */

double idm_successors_bytes(const idm_successor_request *request, size_t points, bool corners)
{
  const idm_sizes n = request->sizes;
  int *group = idm_new(n.observations, sizeof *group);
  if (!group) return INFINITY;
  double bytes = 0;
  for (size_t m = 0; m < request->models; m++)
    for (size_t u = 0; u < n.actions; u++) {
      if (request->terminal[u]) continue;
      const idm_action_model action_model = world_of(request, u, m);
      if (!corners) idm_observation_groups(&action_model, group);
      const size_t rows = !corners && is_constant(request, u, m) ? 1 : points;
      const double lanes = ceil((double)rows / IDM_LANES) * IDM_LANES;
      const double width = (double)max_row_entries(request, u, group, corners);
      bytes += lanes * (width * (sizeof(double) + sizeof(uint32_t)) + 2 * sizeof(double));
    }
  free(group);
  return bytes;
}

static void free_builder(builder *b)
{
  free(b->group);
  free(b->emitter);
  free(b->posterior);
  free(b->scratch);
  free(b->expected);
  free(b->vertex);
  free(b->weight);
  free(b->column);
  free(b->value);
  free(b->entry_index);
}

static idm_status prepare_builder(builder *b, const idm_lattice *lattice,
                                  const idm_successor_request *request, idm_error *opt_error)
{
  const idm_sizes n = request->sizes;
  const size_t width = lattice->corners ? n.states : idm_times(n.observations + 1, n.states);
  *b = (builder){.lattice = lattice,
                 .request = request,
                 .prior_constant =
                     idm_belief_prior_constant(request->sizes.states, request->belief_prior)};
  b->group = idm_new(n.observations, sizeof *b->group);
  b->emitter = idm_new(n.states, sizeof *b->emitter);
  b->posterior = idm_new(n.states, sizeof *b->posterior);
  b->scratch = idm_new(2 * n.states, sizeof *b->scratch);
  b->expected = idm_new(idm_sensor_scratch(n), sizeof *b->expected);
  b->vertex = idm_new(n.states, sizeof *b->vertex);
  b->weight = idm_new(n.states, sizeof *b->weight);
  b->column = idm_new(width, sizeof *b->column);
  b->value = idm_new(2 * width, sizeof *b->value);
  b->entry_index = idm_new(lattice->points, sizeof *b->entry_index);
  if (b->group && b->emitter && b->posterior && b->scratch && b->expected && b->vertex &&
      b->weight && b->column && b->value && b->entry_index)
    return IDM_OK;
  free_builder(b);
  return idm_fail_memory(opt_error);
}

idm_status idm_successors_create(const idm_lattice *lattice, const idm_successor_request *request,
                                 idm_successors **ret_successors, idm_error *opt_error)
{
  *ret_successors = NULL;
  const idm_sizes n = request->sizes;
  builder b;
  idm_status status = prepare_builder(&b, lattice, request, opt_error);
  if (status != IDM_OK) return status;
  idm_successors *successors = idm_new(1, sizeof *successors);
  if (successors)
    successors->block = idm_new(n.actions * request->models, sizeof *successors->block);
  if (!successors || !successors->block) {
    status = idm_fail_memory(opt_error);
    goto done;
  }
  successors->actions = n.actions;
  successors->models = request->models;
  successors->slices = (lattice->points + IDM_LANES - 1) / IDM_LANES;
  for (size_t u = 0; u < n.actions && status == IDM_OK; u++)
    for (size_t m = 0; m < request->models && status == IDM_OK; m++) {
      if (request->terminal[u]) continue;
      b.action_model = world_of(request, u, m);
      b.action = u;
      status = build_block(&b, m, &successors->block[u * request->models + m], opt_error);
    }

done:
  free_builder(&b);
  if (status == IDM_OK)
    *ret_successors = successors;
  else
    idm_successors_destroy(successors);
  return status;
}

void idm_successors_destroy(idm_successors *successors)
{
  if (!successors) return;
  for (size_t i = 0; successors->block && i < successors->actions * successors->models; i++)
    free_block(&successors->block[i]);
  free(successors->block);
  free(successors);
}

double idm_successor_row(const idm_successor_block *block, size_t row, const double *v)
{
  if (block->rows == 1) row = 0;
  if (block->pairs) return idm_successor_paired(block, block->pairs, row, v);
  const size_t slice = row / IDM_LANES;
  double sum = 0;
  for (size_t at = block->offset[slice] + row % IDM_LANES; at < block->offset[slice + 1];
       at += IDM_LANES)
    sum += block->value[at] * v[block->column[at]];
  return sum;
}

void idm_successor_scatter(const idm_successor_block *block, size_t row, double scale, double *to)
{
  if (block->rows == 1) row = 0;
  for (size_t j = row * block->pairs; j < (row + 1) * block->pairs; j++) {
    to[block->column[j]] += scale * block->value[2 * j];
    to[block->column[j] + 1] += scale * block->value[2 * j + 1];
  }
  if (block->pairs) return;
  const size_t slice = row / IDM_LANES;
  for (size_t at = block->offset[slice] + row % IDM_LANES; at < block->offset[slice + 1];
       at += IDM_LANES)
    to[block->column[at]] += scale * block->value[at];
}
