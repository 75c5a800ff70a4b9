/* Planning on a lattice of beliefs: memory, the successor operator, and plans for new theta. */
#include "plan/control/control.h"
#include "base/text.h"
#include "plan/choice.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/soft.h"
#include "setting/model.h"

/* --- memory --------------------------------------------------------------------------------- */

/* Number of perceptions: the observations, and with a limited sensor also none. */
static size_t perception_count(const control *c)
{
  return c->sizes.observations + idm_sensor_is_limited(&c->sensor);
}

/* Bytes per lattice point, without the successors. */
static double bytes_a_point(const control *c)
{
  const double actions = (double)c->sizes.actions;
  const double pairs = actions * (double)c->models;
  const double layers = (double)c->variants * (c->layers + 1);
  double numbers = (double)c->sizes.states + actions * (1 + (double)c->variants) + pairs + 1 +
                   CONTROL_VECTORS + (double)IDM_GMRES_WORK(c->basis) + layers;
  numbers += (double)IDM_GMRES_WORK(c->basis) + 13; /* of the forward recursion */
  if (c->sizes.states == 2)                         /* folds */
    numbers += 2.5 * pairs * (double)perception_count(c) + CONTROL_STRANDS;
  if (c->agent.discounting != IDM_EXPONENTIAL)
    numbers += ((double)c->variants + 1) * (c->layers + 1);
  if (c->agent.evaluate == IDM_INTERPOLATE)
    numbers += (double)c->variants * c->layers * (2 * actions + pairs);
  return numbers * sizeof(double);
}

/* Maximum entries of the successors for which the derivative is merged. */
enum { max_merged = 1 << 24 };

/* Upper bound on the bytes of the merged derivative: its pattern, its values and the index of each
 * entry. */
static double bytes_merged(const control *c, size_t points)
{
  const double row = (double)(c->sizes.actions * c->models * perception_count(c));
  const double entries = (double)points * row * (double)c->sizes.states;
  const bool joins = c->sizes.states > 2 && !c->setting->fully_observed;
  return joins && entries <= max_merged ? 2 * sizeof(double) * entries : 0;
}

/* Total bytes at a number of points. */
static double bytes_of(const control *c, const idm_successor_request *request, size_t points)
{
  return (double)points * bytes_a_point(c) + bytes_merged(c, points) +
         idm_successors_bytes(request, points, c->setting->fully_observed);
}

/* Available bytes; if the system does not report its memory, as in a browser, a part of the address
 * space. */
static double available_memory(void)
{
  const double pages = (double)sysconf(_SC_PHYS_PAGES), page = (double)sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? 0.8 * pages * page : 0.25 * (double)SIZE_MAX;
}

/* IDM_MEMORY if the lattice does not fit into memory, with the largest resolution that does. */
static idm_status check_memory(const control *c, const idm_successor_request *request,
                               int resolution, idm_error *opt_error)
{
  const size_t k = c->sizes.states;
  const bool corners = c->setting->fully_observed;
  const double budget = available_memory();
  const size_t points = corners ? k : idm_lattice_count(k, resolution);
  const double needed = bytes_of(c, request, points);
  if (points < UINT32_MAX - 64 && needed <= budget) return IDM_OK;
  int fits = 0;
  for (int r = resolution - 1; r > 0 && !fits && !corners; r = r > 64 ? r - r / 32 : r - 1) {
    const size_t fewer = idm_lattice_count(k, r);
    if (fewer < UINT32_MAX - 64 && bytes_of(c, request, fewer) <= budget) fits = r;
  }
  char horizon[48] = "";
  if (c->layers > 1) idm_print(horizon, sizeof horizon, " and a horizon of %d", c->layers);
  char advice[64] = "no resolution fits";
  if (fits) idm_print(advice, sizeof advice, "the largest resolution that fits is %d", fits);
  return idm_fail(opt_error, IDM_MEMORY,
                  "a lattice of resolution %d over %zu states%s has %.4g points and needs about "
                  "%.3g GiB of memory, more than the %.3g GiB available; %s",
                  resolution, k, horizon, points == SIZE_MAX ? INFINITY : (double)points,
                  needed / 0x1p30, budget / 0x1p30, advice);
}

/* --- building ------------------------------------------------------------------------------- */

static idm_certainty certainty_of(const idm_theta *theta)
{
  const double *field = idm_theta_values(theta, IDM_CERTAINTY, 0);
  return (idm_certainty){.threshold = field[0], .width = field[2]};
}

/* Utility of beliefs over an array with the layout of its block. */
static belief_reward belief_reward_of(const idm_theta *theta, const double *numbers)
{
  const size_t weights = BELIEF_REWARD_TERMS * theta->sizes.actions;
  belief_reward w = {
      .states = theta->sizes.states, .actions = theta->sizes.actions, .weight = numbers};
  (void)idm_theta_rows(theta, IDM_BELIEF_UTILITY, &w.pieces);
  if (w.pieces && numbers) w.piece = numbers + weights;
  return w;
}

static idm_successor_request request_of(const control *c)
{
  return (idm_successor_request){.sizes = c->sizes,
                                 .models = c->models,
                                 .transition = c->transition,
                                 .emission = c->emission,
                                 .opt_sparse = c->setting->moves,
                                 .before = c->setting->emits_before,
                                 .update = c->update,
                                 .opt_sensor =
                                     idm_sensor_is_limited(&c->sensor) ? &c->sensor : NULL,
                                 .terminal = c->setting->terminal,
                                 .belief_prior = c->belief_prior,
                                 .merge_surprise = c->agent.surprise == IDM_SURPRISE_BELIEF,
                                 .certainty = c->numbers.certainty};
}

/* Columns of the folded derivative: those of every block that is not reset, side by side. */
static idm_status build_folds(control *c, idm_error *opt_error)
{
  if (c->sizes.states != 2 || c->lattice->corners) return IDM_OK;
  size_t folds = 0;
  for (size_t b = 0; b < c->sizes.actions * c->models; b++)
    if (!c->is_reset[b / c->models]) folds += c->successors->block[b].pairs;
  uint32_t *columns = idm_new(idm_times(c->padded, folds), sizeof *columns);
  double *values = idm_new(idm_times(c->padded, 2 * folds), sizeof *values);
  if (!columns || !values) {
    free(columns);
    free(values);
    return idm_fail_memory(opt_error);
  }
  free(c->folded_column);
  free(c->folded);
  c->folds = folds;
  c->folded_column = columns;
  c->folded = values;
  for (size_t i = 0; i < c->lattice->points; i++) {
    uint32_t *column = columns + i * folds;
    for (size_t b = 0; b < c->sizes.actions * c->models; b++) {
      const idm_successor_block *block = &c->successors->block[b];
      if (c->is_reset[b / c->models] || !block->pairs) continue;
      memcpy(column, block->column + (block->rows == 1 ? 0 : i) * block->pairs,
             block->pairs * sizeof *column);
      column += block->pairs;
    }
  }
  return IDM_OK;
}

/* Number of entries of a block in the sliced format. */
static size_t entries_of(const idm_successor_block *block)
{
  return block->slices ? block->offset[block->slices] : 0;
}

/* Whether the blocks of an action are part of the merged derivative. */
static bool is_merged(const control *c, size_t u)
{
  return !c->is_reset[u] && !c->setting->terminal[u];
}

/* Entries of all blocks that are merged; 0 if one of them has a single row for all points. */
static size_t count_merged(const control *c)
{
  size_t count = 0;
  for (size_t b = 0; b < c->sizes.actions * c->models; b++) {
    const idm_successor_block *block = &c->successors->block[b];
    if (!is_merged(c, b / c->models)) continue;
    if (block->rows == 1) return 0;
    count += entries_of(block);
  }
  return count;
}

static void clear_merged(control *c)
{
  free(c->merged.offset);
  free(c->merged.column);
  free(c->merged.value);
  free(c->merged_index);
  c->merged = (idm_successor_block){0};
  c->merged_index = NULL;
}

/* Builds one row of the merged derivative: its columns in order of appearance, from `column` on
 * with stride IDM_LANES, and the index of the merged entry for every block entry. seen[column] is
 * the index + 1 of every column of the row, and is 0 before and after the call. Returns the number
 * of columns. */
static size_t merge_row(control *c, size_t slice, size_t lane, uint32_t *column, uint32_t *seen)
{
  const size_t first = c->merged.offset[slice];
  size_t count = 0, before = 0;
  for (size_t b = 0; b < c->sizes.actions * c->models; b++) {
    const idm_successor_block *block = &c->successors->block[b];
    if (!is_merged(c, b / c->models)) continue;
    for (size_t e = block->offset[slice] + lane; e < block->offset[slice + 1]; e += IDM_LANES) {
      uint32_t *at = &seen[block->column[e]];
      if (!*at) {
        column[count * IDM_LANES] = block->column[e];
        *at = (uint32_t)++count;
      }
      c->merged_index[before + e] = (uint32_t)(first + (*at - 1) * IDM_LANES + lane);
    }
    before += entries_of(block);
  }
  for (size_t k = 0; k < count; k++) seen[column[k * IDM_LANES]] = 0;
  return count;
}

/* Builds the pattern of the merged derivative. Padding entries of a block (column 0, value 0) are
 * merged like others. */
static void merge_rows(control *c, uint32_t *seen)
{
  c->merged.rows = c->lattice->points;
  c->merged.slices = c->successors->slices;
  for (size_t slice = 0; slice < c->merged.slices; slice++) {
    const size_t first = c->merged.offset[slice];
    size_t max_value = 0;
    for (size_t lane = 0; lane < IDM_LANES; lane++) {
      const size_t own = merge_row(c, slice, lane, c->merged.column + first + lane, seen);
      max_value = own > max_value ? own : max_value;
    }
    c->merged.offset[slice + 1] = first + max_value * IDM_LANES;
  }
}

/* Builds the merged derivative, if it has at most half of the entries of the blocks. */
static idm_status build_merged(control *c, idm_error *opt_error)
{
  const size_t entries = c->sizes.states == 2 || c->lattice->corners ? 0 : count_merged(c);
  clear_merged(c);
  if (!entries || entries > max_merged) return IDM_OK;
  uint32_t *seen = idm_new(c->padded, sizeof *seen);
  c->merged_index = idm_new(entries, sizeof *c->merged_index);
  c->merged.offset = idm_new(c->successors->slices + 1, sizeof *c->merged.offset);
  c->merged.column = idm_new(entries, sizeof *c->merged.column);
  bool made = seen && c->merged_index && c->merged.offset && c->merged.column;
  if (made) {
    merge_rows(c, seen);
    c->merged.value = idm_new(entries_of(&c->merged), sizeof *c->merged.value);
    made = c->merged.value != NULL;
  }
  free(seen);
  if (made && 2 * entries_of(&c->merged) <= entries) return IDM_OK;
  clear_merged(c);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

static double largest(const double *x, size_t count)
{
  double max_value = 0;
  for (size_t i = 0; i < count; i++) max_value = fmax(max_value, fabs(x[i]));
  return max_value;
}

static void group_observations(control *c, size_t u, size_t m)
{
  const idm_action_model action_model = control_action_model(c, u, m);
  const size_t at = m * c->sizes.actions + u;
  int *group = c->group + at * c->sizes.observations;
  idm_observation_groups(&action_model, group);
  c->uninformative[at] = idm_observation_uninformative(&action_model, group);
  c->is_three_state[at] =
      action_model.states == 3 && !action_model.before && !action_model.update.distorted;
  for (int x = 0; x < (int)c->sizes.observations; x++)
    c->is_three_state[at] = c->is_three_state[at] && (group[x] == x || group[x] < 0);
}

/* Builds the successor operator for the dynamics in the control. */
static idm_status build_successors(control *c, idm_error *opt_error)
{
  c->prior_constant = idm_belief_prior_constant(c->sizes.states, c->belief_prior);
  const idm_sizes n = c->sizes;
  const idm_successor_request request = request_of(c);
  idm_successors *new_successors;
  const idm_status status = idm_successors_create(c->lattice, &request, &new_successors, opt_error);
  if (status != IDM_OK) return status;
  idm_successors_destroy(c->successors);
  c->successors = new_successors;
  for (size_t i = 0; i < control_emissions(c); i++) c->log_emission[i] = log(c->emission[i]);
  for (size_t u = 0; u < n.actions; u++) {
    c->is_reset[u] = true;
    for (size_t m = 0; m < c->models; m++) {
      if (!c->lattice->corners) group_observations(c, u, m);
      c->is_reset[u] = c->is_reset[u] && new_successors->block[u * c->models + m].rows == 1;
    }
  }
  c->largest_surprise = 0;
  for (size_t b = 0; b < n.actions * c->models; b++)
    c->largest_surprise = fmax(c->largest_surprise, largest(new_successors->block[b].surprise,
                                                            new_successors->block[b].rows));
  idm_status built_status = build_folds(c, opt_error);
  if (built_status == IDM_OK) built_status = build_merged(c, opt_error);
  c->built = built_status == IDM_OK;
  return built_status;
}

/* Sensor of a theta over the dynamics and weights in the control. */
static void set_sensor(control *c, const idm_theta *theta)
{
  c->sensor = idm_sensor_of(c->setting, theta);
  memcpy(c->numbers.model_prior, c->sensor.model_prior, c->models * sizeof(double));
  c->sensor.transition = c->transition;
  c->sensor.emission = c->emission;
  c->sensor.model_prior = c->numbers.model_prior;
}

static bool allocate_numbers(control *c, const idm_theta *theta)
{
  const idm_sizes n = c->sizes;
  c->numbers.action_prior = idm_new(n.actions, sizeof(double));
  c->numbers.model_prior = idm_new(c->models, sizeof(double));
  const idm_block *belief = &theta->block[IDM_BELIEF_UTILITY];
  c->numbers.belief_utility = idm_duplicate(belief->value, belief->size, sizeof(double));
  c->numbers.belief_reward = belief_reward_of(theta, c->numbers.belief_utility);
  c->transition = idm_duplicate(idm_theta_values(theta, IDM_TRANSITION, 0), control_transitions(c),
                                sizeof(double));
  c->log_emission = idm_new(control_emissions(c), sizeof(double));
  c->emission =
      idm_duplicate(idm_theta_values(theta, IDM_EMISSION, 0), control_emissions(c), sizeof(double));
  if (theta->block[IDM_BELIEF_PRIOR].size)
    c->belief_prior =
        idm_duplicate(idm_theta_values(theta, IDM_BELIEF_PRIOR, 0), n.states, sizeof(double));
  c->group = idm_new(c->models * n.actions * n.observations, sizeof *c->group);
  c->uninformative = idm_new(c->models * n.actions, sizeof *c->uninformative);
  c->is_three_state = idm_new(c->models * n.actions, sizeof *c->is_three_state);
  c->is_reset = idm_new(n.actions, sizeof *c->is_reset);
  c->utility = idm_new(c->variants * n.actions * n.states, sizeof(double));
  c->unit = idm_new(c->variants, sizeof *c->unit);
  c->alpha = idm_new(c->variants, sizeof *c->alpha);
  c->solved = idm_new(c->variants, sizeof *c->solved);
  return c->numbers.action_prior && c->numbers.model_prior && c->numbers.belief_utility &&
         c->transition && c->emission && c->log_emission &&
         (c->belief_prior || !theta->block[IDM_BELIEF_PRIOR].size) && c->group &&
         c->uninformative && c->is_three_state && c->is_reset && c->utility && c->unit &&
         c->alpha && c->solved;
}

static bool allocate_vectors(control *c)
{
  const idm_sizes n = c->sizes;
  const size_t layers = c->variants * (size_t)(c->layers + 1);
  const size_t tables = c->variants * (size_t)c->layers * n.actions;
  c->padded = (c->lattice->points + IDM_LANES - 1) / IDM_LANES * IDM_LANES;
  c->rewards = idm_new(idm_times(c->variants, n.actions * c->padded), sizeof(double));
  c->value = idm_new(idm_times(layers, c->padded), sizeof(double));
  c->mix = idm_new(n.actions * c->models * c->padded, sizeof(double));
  c->constant = idm_new(n.actions * c->models, sizeof(double));
  c->fixed_policy = idm_new(n.actions * c->padded, sizeof(double));
  c->strands = idm_new((n.states == 2 ? CONTROL_STRANDS : 0) * c->padded, sizeof(double));
  c->penalty = idm_new(c->padded, sizeof(double));
  c->vector = idm_new((CONTROL_VECTORS + IDM_GMRES_WORK(c->basis)) * c->padded, sizeof(double));
  c->lanes = idm_new((2 * c->models + (2 + c->models) * n.actions + n.actions) * IDM_LANES,
                     sizeof(double));
  const bool delays = c->agent.discounting != IDM_EXPONENTIAL;
  if (delays) {
    const size_t own = c->variants * (size_t)c->layers;
    c->continuation = idm_new(idm_times(own, c->padded), sizeof(double));
    c->delayed = idm_new(idm_times((size_t)c->layers + 1, c->padded), sizeof(double));
  }
  const bool interpolate = c->agent.evaluate == IDM_INTERPOLATE;
  if (interpolate) {
    c->quality = idm_new(idm_times(tables, c->padded), sizeof(double));
    c->decision = idm_new(idm_times(tables, c->padded), sizeof(double));
    c->specification = idm_new(idm_times(tables, c->models * c->padded), sizeof(double));
  }
  return c->rewards && c->value && c->mix && c->constant && c->fixed_policy && c->penalty &&
         c->strands && c->vector && c->lanes && (!delays || (c->continuation && c->delayed)) &&
         (!interpolate || (c->quality && c->decision && c->specification));
}

void idm_control_destroy(void *content)
{
  control *c = content;
  if (!c) return;
  clear_merged(c);
  idm_successors_destroy(c->successors);
  idm_lattice_destroy(c->lattice);
  void *const owned[] = {c->numbers.action_prior,
                         c->numbers.model_prior,
                         c->numbers.belief_utility,
                         c->transition,
                         c->emission,
                         c->log_emission,
                         c->belief_prior,
                         c->group,
                         c->uninformative,
                         c->is_three_state,
                         c->is_reset,
                         c->utility,
                         c->unit,
                         c->alpha,
                         c->rewards,
                         c->value,
                         c->continuation,
                         c->delayed,
                         c->solved,
                         c->stored,
                         c->inverse,
                         c->quality,
                         c->decision,
                         c->specification,
                         c->mix,
                         c->folded_column,
                         c->folded,
                         c->constant,
                         c->fixed_policy,
                         c->penalty,
                         c->strands,
                         c->vector,
                         c->lanes,
                         c->cvar_scratch,
                         c->absorbing};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
  free(c);
}

idm_status idm_control_create(const idm_setting *setting, const idm_theta *theta,
                              const idm_agent_options *agent, void **ret_content,
                              idm_error *opt_error)
{
  *ret_content = NULL;
  control *c = idm_new(1, sizeof *c);
  if (!c) return idm_fail_memory(opt_error);
  c->setting = setting;
  c->agent = *agent;
  /* At a corner the tables are exact, and cheaper than a lookahead over all states. */
  if (setting->fully_observed) c->agent.evaluate = IDM_INTERPOLATE;
  c->sizes = theta->sizes;
  c->models = theta->models;
  c->variants = idm_theta_variants(theta);
  c->layers = setting->horizon > 0 ? setting->horizon : 1;
  c->dynamics_free = idm_update_is_free(theta) &&
                     !setting->moves; /* with sparse transitions no beliefs are updated */
  c->belief_prior_free = theta->block[IDM_BELIEF_PRIOR].role == IDM_DESCRIPTIVE;
  c->award_free = theta->block[IDM_CERTAINTY].role == IDM_DESCRIPTIVE;
  c->update = idm_update_of(theta);
  c->numbers.certainty = certainty_of(theta);
  for (size_t u = 0; u < c->sizes.actions; u++)
    c->any_terminal = c->any_terminal || setting->terminal[u];

  if (agent->discounting != IDM_EXPONENTIAL && setting->horizon <= 0) {
    idm_control_destroy(c);
    return idm_fail(opt_error, IDM_INPUT,
                    "discounting by delay requires a horizon; set the number of steps of an "
                    "episode (--set horizon=N)");
  }
  for (size_t id = 0; id < theta->blocks; id++)
    if (id != IDM_UTILITY && theta->block[id].variants > 1) {
      idm_control_destroy(c);
      return idm_fail(opt_error, IDM_USAGE, "%s cannot differ between variants; only utility can",
                      theta->block[id].info->name);
    }
  const int resolution =
      agent->resolution > 0 ? agent->resolution : idm_lattice_default(c->sizes.states);
  /* Beyond some hundred thousand points the basis, not the operator, would dominate memory. */
  const size_t points =
      setting->fully_observed ? c->sizes.states : idm_lattice_count(c->sizes.states, resolution);
  c->basis = points > 200000 ? 8 : IDM_GMRES_BASIS;
  idm_status status = allocate_numbers(c, theta) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    set_sensor(c, theta);
    const idm_successor_request request = request_of(c);
    status = check_memory(c, &request, resolution, opt_error);
  }
  if (status == IDM_OK)
    status = idm_lattice_create(c->sizes.states, resolution, setting->fully_observed, &c->lattice,
                                opt_error);
  if (status == IDM_OK && !allocate_vectors(c)) status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = build_successors(c, opt_error);
  if (status != IDM_OK) {
    idm_control_destroy(c);
    return status;
  }
  *ret_content = c;
  return IDM_OK;
}

/* --- planning ------------------------------------------------------------------------------- */

/* Whether the sensor is unchanged. A limited sensor also depends on the model prior. */
static bool same_sensor(const control *c, const idm_theta *theta)
{
  const idm_sensor new_successors = idm_sensor_of(c->setting, theta);
  return new_successors.capacity == c->sensor.capacity &&
         (!idm_sensor_is_limited(&new_successors) ||
          memcmp(new_successors.model_prior, c->numbers.model_prior, c->models * sizeof(double)) ==
              0);
}

/* Copies new dynamics. The operator is rebuilt only if the dynamics, the belief update, the
 * threshold of certainty, the belief prior or the sensor changed. */
static idm_status update_dynamics(control *c, const idm_theta *theta, idm_error *opt_error)
{
  const double *transition = idm_theta_values(theta, IDM_TRANSITION, 0);
  const double *emission = idm_theta_values(theta, IDM_EMISSION, 0);
  const double *prior = idm_theta_values(theta, IDM_BELIEF_PRIOR, 0);
  const size_t transition_bytes = control_transitions(c) * sizeof *transition;
  const size_t emission_bytes = control_emissions(c) * sizeof *emission;
  const size_t prior_bytes = c->belief_prior ? c->sizes.states * sizeof *prior : 0;
  const idm_update update = idm_update_of(theta);
  const idm_certainty certainty = certainty_of(theta);
  const bool same_certainty = certainty.threshold == c->numbers.certainty.threshold &&
                              certainty.width == c->numbers.certainty.width;
  const bool same = update.prior == c->update.prior && update.evidence == c->update.evidence &&
                    same_certainty && same_sensor(c, theta);
  if (c->built && same && memcmp(c->transition, transition, transition_bytes) == 0 &&
      memcmp(c->emission, emission, emission_bytes) == 0 &&
      (!prior_bytes || memcmp(c->belief_prior, prior, prior_bytes) == 0))
    return IDM_OK;
  c->built = false; /* until the operator is complete, so that a failed build is not used */
  memcpy(c->transition, transition, transition_bytes);
  memcpy(c->emission, emission, emission_bytes);
  if (prior_bytes) memcpy(c->belief_prior, prior, prior_bytes);
  c->update = update;
  set_sensor(c, theta);
  c->rewards_current = c->rewards_current && same_certainty;
  c->numbers.certainty = certainty;
  return build_successors(c, opt_error);
}

/* Computes the immediate utility of a variant on the lattice. */
static void sum_rewards(control *c, size_t variant)
{
  const size_t k = c->sizes.states;
  double *reward = c->rewards + variant * c->sizes.actions * c->padded;
  const double *utility = c->utility + variant * c->sizes.actions * k;
  const double certainty_reward = c->numbers.certainty_award * idm_control_corner_share(c);
  for (size_t u = 0; u < c->sizes.actions; u++)
    for (size_t i = 0; i < c->lattice->points; i++)
      reward[u * c->padded + i] =
          c->lattice->corners ? utility[u * k + i] + certainty_reward +
                                    idm_belief_reward_corner(&c->numbers.belief_reward, u, i)
                              : idm_control_reward(c, variant, c->lattice->belief + i * k, u);
}

/* Copies the utility of a variant; rewards on the lattice are recomputed only if it or the award
 * changed. Returns whether they were. */
static bool update_utility(control *c, const idm_theta *theta, size_t variant)
{
  const size_t pairs = c->sizes.actions * c->sizes.states;
  const double *utility = idm_theta_values(theta, IDM_UTILITY, variant);
  double *own = c->utility + variant * pairs;
  if (c->rewards_current && memcmp(own, utility, pairs * sizeof *own) == 0) return false;
  memcpy(own, utility, pairs * sizeof *own);
  sum_rewards(c, variant);
  return true;
}

/* Copies the award for certainty and the utility of beliefs; marks the rewards on the lattice as
 * outdated if these changed. */
static void update_awards(control *c, const idm_theta *theta)
{
  const double award = idm_theta_values(theta, IDM_CERTAINTY, 0)[1];
  const idm_block *belief = &theta->block[IDM_BELIEF_UTILITY];
  const size_t bytes = belief->size * sizeof *belief->value;
  control_numbers *n = &c->numbers;
  c->rewards_current = c->rewards_current && n->certainty_award == award &&
                       memcmp(n->belief_utility, belief->value, bytes) == 0;
  n->certainty_award = award;
  c->has_belief_reward = false;
  for (size_t i = 0; i < belief->size; i++)
    c->has_belief_reward = c->has_belief_reward || belief->value[i] != 0;
  memcpy(n->belief_utility, belief->value, bytes);
}

idm_status idm_control_plan(void *content, const idm_theta *theta, const idm_solver *solver,
                            idm_plan_report *report, idm_error *opt_error)
{
  control *c = content;
  const idm_status status = update_dynamics(c, theta, opt_error);
  if (status != IDM_OK) return status;
  control_numbers *numbers = &c->numbers;
  numbers->beta = idm_theta_scalar(theta, IDM_BETA);
  numbers->eta = idm_theta_scalar(theta, IDM_ETA);
  numbers->discount = idm_theta_scalar(theta, IDM_DISCOUNT);
  if (c->robust) numbers->risk = idm_theta_scalar(theta, IDM_BLOCK_COUNT);
  numbers->delay_rate = idm_theta_scalar(theta, IDM_DELAY_RATE);
  if (c->own_temperature) numbers->temperature = idm_theta_scalar(theta, IDM_TEMPERATURE);
  for (size_t v = 0; v < c->variants; v++) {
    c->unit[v] = c->agent.alpha_unit == IDM_ALPHA_RANGE ? idm_variant_utility_range(theta, v) : 1;
    c->alpha[v] = idm_theta_scalar(theta, IDM_ALPHA) * c->unit[v];
  }
  update_awards(c, theta);
  memcpy(numbers->action_prior, idm_theta_values(theta, IDM_ACTION_PRIOR, 0),
         c->sizes.actions * sizeof(double));
  memcpy(numbers->model_prior, idm_theta_values(theta, IDM_MODEL_PRIOR, 0),
         c->models * sizeof(double));
  bool updated = false;
  for (size_t v = 0; v < c->variants; v++) updated = update_utility(c, theta, v) || updated;
  if (updated) c->largest_reward = largest(c->rewards, c->variants * c->sizes.actions * c->padded);
  c->largest =
      c->largest_reward + fabs(numbers->certainty_award) + fabs(numbers->eta) * c->largest_surprise;
  c->rewards_current = true;
  c->preconditions = solver->precondition;
  idm_control_choose_preconditioner(c, solver);
  return idm_control_solve(c, solver, report, opt_error);
}

idm_status idm_control_store(void *content, size_t slot, idm_error *opt_error)
{
  control *c = content;
  if (c->setting->horizon > 0) return IDM_OK; /* backward induction has no starting point */
  for (size_t v = 0; v < c->variants; v++)
    if (!c->solved[v])
      return idm_fail(opt_error, IDM_USAGE, "there is no solution to store: call idm_plan first");
  if (slot > c->slots)
    return idm_fail(opt_error, IDM_USAGE, "slot %zu is stored before slot %zu", slot, c->slots);
  const size_t one = idm_times(c->variants, c->padded);
  if (slot == c->slots) {
    double *stored = idm_new(idm_times(slot + 1, one), sizeof *stored);
    if (!stored) return idm_fail_memory(opt_error);
    if (slot) memcpy(stored, c->stored, slot * one * sizeof *stored);
    free(c->stored);
    c->stored = stored;
    c->slots = slot + 1;
  }
  for (size_t v = 0; v < c->variants; v++)
    memcpy(c->stored + slot * one + v * c->padded, control_layer(c, v, 1),
           c->padded * sizeof *c->stored);
  return c->preconditions ? idm_control_precondition(c, slot, opt_error) : IDM_OK;
}

idm_status idm_control_create_exploratory(const idm_setting *setting, const idm_theta *theta,
                                          const idm_agent_options *agent, void **ret_content,
                                          idm_error *opt_error)
{
  const idm_status status = idm_control_create(setting, theta, agent, ret_content, opt_error);
  if (status == IDM_OK) ((control *)*ret_content)->own_temperature = true;
  return status;
}

idm_status idm_control_create_robust(const idm_setting *setting, const idm_theta *theta,
                                     const idm_agent_options *agent, void **ret_content,
                                     idm_error *opt_error)
{
  const idm_status status = idm_control_create(setting, theta, agent, ret_content, opt_error);
  if (status != IDM_OK) return status;
  control *c = *ret_content;
  c->robust = true;
  c->cvar_scratch = idm_new(2 * c->models, sizeof *c->cvar_scratch);
  if (c->cvar_scratch) return IDM_OK;
  idm_control_destroy(c);
  *ret_content = NULL;
  return idm_fail_memory(opt_error);
}

double idm_control_bytes(const void *content, int resolution)
{
  const control *c = content;
  const idm_successor_request request = request_of(c);
  const bool corners = c->setting->fully_observed;
  return bytes_of(c, &request,
                  corners ? c->sizes.states : idm_lattice_count(c->sizes.states, resolution));
}

size_t idm_control_points(const void *content)
{
  return ((const control *)content)->lattice->points;
}
