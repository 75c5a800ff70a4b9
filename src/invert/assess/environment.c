/* Score test of the environment with the observations of the log, by a forward filter with tangent
 * vectors and saddlepoint tails (docs/method/verdict.md, 6).
 *
 * Contents: the filter · scores · residuals · the test · the estimate · sentences */
#include "invert/assess/environment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "data/log.h"
#include "idm/extension/planner.h"
#include "idm/extension/prefix.h"
#include "invert/assess.h"
#include "plan/plan.h"
#include "setting/model.h"

/* --- the filter ----------------------------------------------------------------------------- */

/* Beliefs and their tangents along the current branch of the tree, for a block of directions, and
 * the distribution of every observation. */
typedef struct filter {
  const directions *d;
  const idm_prefix_tree *tree;
  const idm_dynamics *at; /* dynamics of the filter */
  idm_sizes sizes;
  size_t first; /* directions first .. first + count - 1 */
  size_t count;
  double *belief;  /* [depth][1 + direction][state]: p(state|H), then its derivatives */
  double *scratch; /* [1 + direction][state] */
  bool *valid; /* [depth]: every action so far was recorded, and no observation had probability 0 */
  size_t capacity;              /* upper bound of the events, and */
  size_t events;                /* events: observations in the test */
  double *probability;          /* [event][observation]: p(o|H) */
  double *value;                /* [direction][capacity][observation]: s(o|H) */
  double *copies;               /* [event]: number of trajectories */
  int32_t *observation;         /* [event] */
  const idm_prefix_node **node; /* [event] */
  uint64_t excluded;            /* as in environment_check */
  uint64_t impossible;
  size_t impossible_row;
} filter;

static void close_filter(filter *f)
{
  free(f->belief);
  free(f->scratch);
  free(f->valid);
  free(f->probability);
  free(f->value);
  free(f->copies);
  free(f->observation);
  free(f->node);
}

static double *belief_at(const filter *f, size_t depth)
{
  return f->belief + depth * (1 + f->count) * f->sizes.states;
}

/* Whether a row has an observation that could be part of the test. */
static bool has_evidence(const idm_setting *setting, const idm_prefix_node *node)
{
  const bool ends = node->action != IDM_MISSING && setting->ends[node->action];
  return node->begin < 0 && node->observation != IDM_MISSING && !ends;
}

static idm_status open_filter(filter *f, idm_error *opt_error)
{
  const size_t k = f->sizes.states, lanes = (1 + f->count) * k;
  const size_t cells = idm_times(f->capacity, f->sizes.observations);
  f->belief = idm_new(idm_times((size_t)f->tree->depth + 1, lanes), sizeof *f->belief);
  f->scratch = idm_new(lanes, sizeof *f->scratch);
  f->valid = idm_new((size_t)f->tree->depth + 1, sizeof *f->valid);
  f->probability = idm_new(cells, sizeof *f->probability);
  f->value = idm_new(idm_times(cells, f->count ? f->count : 1), sizeof *f->value);
  f->copies = idm_new(f->capacity, sizeof *f->copies);
  f->observation = idm_new(f->capacity, sizeof *f->observation);
  f->node = idm_new(f->capacity, sizeof *f->node);
  const bool made = f->belief && f->scratch && f->valid && f->probability && f->value &&
                    f->copies && f->observation && f->node;
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* Set the belief at the start of trajectories. */
static void begin(filter *f, const idm_prefix_node *node)
{
  const size_t k = f->sizes.states;
  const int32_t own = f->tree->begin_start[node->begin];
  const double *start = own < 0 ? f->at->start : f->tree->data->start_belief + (size_t)own * k;
  double *belief = belief_at(f, node->depth);
  memset(belief, 0, (1 + f->count) * k * sizeof *belief);
  memcpy(belief, start, k * sizeof *belief);
  for (size_t i = 0; own < 0 && i < f->count; i++) {
    const int32_t *entry = idm_direction_rows(f->d, f->first + i, DIRECTION_START, 0);
    for (size_t s = 0; entry && s < k; s++)
      belief[(1 + i) * k + s] = idm_direction_derivative(start, (size_t)entry[0], s);
  }
  f->valid[node->depth] = true;
}

/* to += weight times the derivative of a row along a direction. */
static void add_derivative(const double *row, size_t width, int32_t entry, double weight,
                           double *to)
{
  if (entry < 0 || weight == 0) return;
  for (size_t o = 0; o < width; o++)
    to[o] += weight * idm_direction_derivative(row, (size_t)entry, o);
}

/* to = from' matrix, with matrix [state][width]. */
static void multiply(const double *from, const double *matrix, size_t states, size_t width,
                     double *to)
{
  memset(to, 0, width * sizeof *to);
  for (size_t s = 0; s < states; s++)
    for (size_t o = 0; o < width && from[s] != 0; o++) to[o] += from[s] * matrix[s * width + o];
}

/* Update beliefs by the transition of an action. */
static void transition_step(const filter *f, size_t action, const double *from, double *to)
{
  const size_t k = f->sizes.states;
  const double *moves = f->at->transition + action * k * k;
  for (size_t i = 0; i <= f->count; i++) multiply(from + i * k, moves, k, k, to + i * k);
  for (size_t i = 0; i < f->count; i++) {
    const int32_t *entry = idm_direction_rows(f->d, f->first + i, DIRECTION_TRANSITION, action);
    for (size_t s = 0; entry && s < k; s++)
      add_derivative(moves + s * k, k, entry[s], from[s], to + (1 + i) * k);
  }
}

/* Append the predictive distribution of the observation as an event: p(o|H) and the derivatives of
 * its logarithm. Returns false if the recorded observation has probability 0. */
static bool predict_observation(filter *f, const idm_prefix_node *node, const double *belief)
{
  const size_t k = f->sizes.states, width = f->sizes.observations, event = f->events;
  const double *emission = f->at->emission + (size_t)node->action * k * width;
  double *probability = f->probability + event * width;
  multiply(belief, emission, k, width, probability);
  if (!(probability[node->observation] > 0)) return false;
  for (size_t i = 0; i < f->count; i++) {
    const int32_t *entry =
        idm_direction_rows(f->d, f->first + i, DIRECTION_EMISSION, (size_t)node->action);
    double *value = f->value + (i * f->capacity + event) * width;
    multiply(belief + (1 + i) * k, emission, k, width, value);
    for (size_t s = 0; entry && s < k; s++)
      add_derivative(emission + s * width, width, entry[s], belief[s], value);
    for (size_t o = 0; o < width; o++)
      value[o] = probability[o] > 0 ? value[o] / probability[o] : 0;
  }
  f->copies[event] = (double)node->count;
  f->observation[event] = node->observation;
  f->node[event] = node;
  f->events++;
  return true;
}

/* Condition the beliefs on the observation of the last event, in place. */
static void condition(const filter *f, const idm_prefix_node *node, double *belief)
{
  const size_t k = f->sizes.states, width = f->sizes.observations, event = f->events - 1;
  const size_t o = (size_t)node->observation;
  const double *emission = f->at->emission + (size_t)node->action * k * width;
  const double scale = 1 / f->probability[event * width + o];
  for (size_t i = 0; i < f->count; i++) {
    const int32_t *entry =
        idm_direction_rows(f->d, f->first + i, DIRECTION_EMISSION, (size_t)node->action);
    const double score = f->value[(i * f->capacity + event) * width + o];
    double *tangent = belief + (1 + i) * k;
    for (size_t s = 0; s < k; s++) {
      const double *row = emission + s * width;
      const double derivative =
          entry && entry[s] >= 0 ? idm_direction_derivative(row, (size_t)entry[s], o) : 0;
      tangent[s] =
          scale * (tangent[s] * row[o] + belief[s] * derivative - belief[s] * row[o] * score);
    }
  }
  for (size_t s = 0; s < k; s++) belief[s] *= scale * emission[s * width + o];
}

static bool filter_observation(filter *f, const idm_prefix_node *node, double *belief)
{
  if (!has_evidence(f->d->setting, node)) return true;
  if (predict_observation(f, node, belief)) {
    condition(f, node, belief);
    return true;
  }
  if (!f->impossible) f->impossible_row = node->first_row;
  f->impossible += node->count;
  return false;
}

/* Filter one row of the log. The observation depends on the state after the action, or on the state
 * before it (emits_before). */
static void filter_row(filter *f, const idm_prefix_node *node)
{
  const size_t size = (1 + f->count) * f->sizes.states;
  const double *before = belief_at(f, node->depth - 1);
  double *after = belief_at(f, node->depth);
  const bool known = f->valid[node->depth - 1] && node->action != IDM_MISSING;
  f->valid[node->depth] = known;
  if (node->missed && node->action == IDM_MISSING && f->sizes.states == 1) {
    /* With one state, a missed response does not change the belief. */
    memcpy(after, before, size * sizeof *after);
    f->valid[node->depth] = f->valid[node->depth - 1];
    return;
  }
  if (!known) {
    f->excluded += has_evidence(f->d->setting, node) ? node->count : 0;
    return;
  }
  if (!f->d->setting->emits_before) {
    transition_step(f, (size_t)node->action, before, after);
    f->valid[node->depth] = filter_observation(f, node, after);
    return;
  }
  memcpy(f->scratch, before, size * sizeof *before);
  f->valid[node->depth] = filter_observation(f, node, f->scratch);
  transition_step(f, (size_t)node->action, f->scratch, after);
}

static void run(filter *f)
{
  f->events = 0;
  f->excluded = f->impossible = 0;
  for (size_t i = 0; i < f->tree->nodes; i++) {
    const idm_prefix_node *node = &f->tree->node[i];
    if (node->begin >= 0)
      begin(f, node);
    else
      filter_row(f, node);
  }
}

/* --- scores --------------------------------------------------------------------------------- */

/* Compute S and V of direction `i` of the filter. */
static void add_up(const filter *f, size_t i, double *score, double *information)
{
  const size_t width = f->sizes.observations;
  *score = *information = 0;
  for (size_t e = 0; e < f->events; e++) {
    const double *value = f->value + (i * f->capacity + e) * width;
    const double *probability = f->probability + e * width;
    double squares = 0;
    for (size_t o = 0; o < width; o++) squares += probability[o] * value[o] * value[o];
    *score += f->copies[e] * value[f->observation[e]];
    *information += f->copies[e] * squares;
  }
}

static double two_sided(const filter *f, size_t i, double score, double information)
{
  const idm_discrete_sum sum = {.terms = f->events,
                                .width = f->sizes.observations,
                                .probability = f->probability,
                                .value = f->value + i * f->capacity * f->sizes.observations,
                                .copies = f->copies};
  return idm_saddlepoint_two_sided(&sum, score, information);
}

/* Whether the log has at least the information of one observation on the probability of the
 * direction. */
static bool has_information(const environment_check *e, size_t i)
{
  const double given = idm_direction_probability(&e->directions, i);
  return e->information[i] * given * (1 - given) >= 1;
}

/* --- residuals ------------------------------------------------------------------------------ */

/* Weights g(H) of the residuals of observation k: the sum of earlier residuals. Events are in
 * depth-first order of the tree, so sum[depth] belongs to the current branch. */
static void weigh_past(const filter *f, size_t k, double *sum, double *weight)
{
  const size_t width = f->sizes.observations;
  memset(sum, 0, ((size_t)f->tree->depth + 1) * sizeof *sum);
  for (size_t i = 0, e = 0; i < f->tree->nodes; i++) {
    const idm_prefix_node *node = &f->tree->node[i];
    sum[node->depth] = node->begin < 0 ? sum[node->depth - 1] : 0;
    if (e == f->events || f->node[e] != node) continue;
    weight[e] = sum[node->depth];
    sum[node->depth] += (f->observation[e] == (int32_t)k) - f->probability[e * width + k];
    e++;
  }
}

/* Weights g(H) of the trend: the step, less its mean over all observations. */
static void weigh_steps(const filter *f, double *weight)
{
  double total = 0, mean = 0;
  for (size_t e = 0; e < f->events; e++) total += f->copies[e];
  for (size_t e = 0; e < f->events; e++) mean += f->copies[e] * f->node[e]->depth / total;
  for (size_t e = 0; e < f->events; e++) weight[e] = f->node[e]->depth - mean;
}

/* Test one kind of weights. A filter without directions has room for one. */
static void test_residuals(const filter *f, serial_kind kind, size_t k, const double *weight,
                           serial_test *min_p)
{
  const size_t width = f->sizes.observations;
  double total = 0, squares = 0, variance = 0, score, information;
  for (size_t e = 0; e < f->events; e++) {
    const double p = f->probability[e * width + k], v = p * (1 - p);
    for (size_t o = 0; o < width; o++) f->value[e * width + o] = weight[e] * ((o == k) - p);
    total += f->copies[e];
    variance += f->copies[e] * v;
    squares += f->copies[e] * weight[e] * weight[e] * v * v;
  }
  add_up(f, 0, &score, &information);
  if (!(variance >= 5) || !(information > 0)) return;
  const double p = two_sided(f, 0, score, information);
  if (!min_p->evaluated++ || p < min_p->p)
    *min_p = (serial_test){.evaluated = min_p->evaluated,
                           .p = p,
                           .kind = kind,
                           .observation = k,
                           .statistic = score * score / information,
                           .score = score,
                           .size = fabs(score) / information * sqrt(squares / total)};
}

/* Test all residuals. Of two observations only one is tested: the residuals of the other are its
 * negatives. */
static idm_status test_serial(environment_check *e, const filter *shape, idm_error *opt_error)
{
  enum { max_observations = 64 };
  const size_t width = shape->sizes.observations;
  if (width < 2 || width > max_observations || !shape->capacity) return IDM_OK;
  filter f = *shape;
  double *weight = idm_new(f.capacity, sizeof *weight);
  double *sum = idm_new((size_t)f.tree->depth + 1, sizeof *sum);
  idm_status status = weight && sum ? open_filter(&f, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) run(&f);
  for (size_t k = width == 2; k < width && status == IDM_OK && !f.impossible; k++) {
    weigh_past(&f, k, sum, weight);
    test_residuals(&f, SERIAL_AUTOCORRELATION, k, weight, &e->serial);
    weigh_steps(&f, weight);
    test_residuals(&f, SERIAL_TREND, k, weight, &e->serial);
  }
  e->observations = 0;
  for (size_t i = 0; i < f.events; i++) e->observations += (uint64_t)f.copies[i];
  close_filter(&f);
  free(weight);
  free(sum);
  return status;
}

/* --- the test ------------------------------------------------------------------------------- */

void idm_environment_close(environment_check *e)
{
  idm_directions_close(&e->directions);
  free(e->score);
  free(e->information);
  free(e->p);
  *e = (environment_check){0};
}

static filter filter_of(const environment_check *e, const idm_prefix_tree *tree)
{
  filter f = {.d = &e->directions,
              .tree = tree,
              .at = e->directions.own,
              .sizes = e->directions.own->sizes};
  for (size_t i = 0; i < tree->nodes; i++)
    f.capacity += has_evidence(e->directions.setting, &tree->node[i]);
  return f;
}

/* Multiplications of one pass for all directions. A belief in an observed state is concentrated on
 * one state, and its tangents are 0. */
static double work_of(const environment_check *e, const idm_prefix_tree *tree)
{
  const idm_sizes n = e->directions.own->sizes;
  const double rows = e->directions.setting->fully_observed ? 1 : (double)n.states;
  return (double)(1 + e->directions.count) * (double)tree->nodes * rows *
         (double)(n.states + n.observations);
}

/* Create directions of every probability or, if they are too many for the log, of whole matrices.
 */
static idm_status find_directions(environment_check *e, const idm_problem *problem,
                                  const idm_prefix_tree *tree, idm_error *opt_error)
{
  static const double max_work = 2e9;
  idm_status status = idm_directions_open(&e->directions, problem, true, opt_error);
  if (status == IDM_OK && work_of(e, tree) > max_work) {
    idm_directions_close(&e->directions);
    e->matrices = true;
    status = idm_directions_open(&e->directions, problem, false, opt_error);
    if (status == IDM_OK && work_of(e, tree) > max_work)
      idm_print(e->skip_reason, sizeof e->skip_reason,
                "a log of %zu histories with %zu states is too large for the test", tree->nodes,
                e->directions.own->sizes.states);
  }
  if (status == IDM_OK && !e->directions.count && !e->skip_reason[0])
    idm_print(e->skip_reason, sizeof e->skip_reason,
              "no probability of the dynamics is between 0 and 1");
  return status;
}

/* Compute scores and p of a block of directions; blocks limit the memory for distributions of
 * observations. */
static idm_status score_block(environment_check *e, const idm_prefix_tree *tree, size_t first,
                              size_t count, idm_error *opt_error)
{
  filter f = filter_of(e, tree);
  f.first = first;
  f.count = count;
  const idm_status status = open_filter(&f, opt_error);
  if (status == IDM_OK) run(&f);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    const size_t at = first + i;
    add_up(&f, i, &e->score[at], &e->information[at]);
    e->p[at] =
        has_information(e, at) ? two_sided(&f, i, e->score[at], e->information[at]) : (double)NAN;
  }
  if (status == IDM_OK) {
    e->observations = 0;
    for (size_t i = 0; i < f.events; i++) e->observations += (uint64_t)f.copies[i];
    e->excluded = f.excluded;
    e->impossible = f.impossible;
    e->impossible_row = f.impossible_row;
  }
  close_filter(&f);
  return status;
}

static idm_status score_all(environment_check *e, const idm_prefix_tree *tree, idm_error *opt_error)
{
  static const size_t max_cells = (size_t)1 << 22;
  const size_t all = e->directions.count;
  const filter shape = filter_of(e, tree);
  const size_t cells = idm_times(shape.capacity, shape.sizes.observations);
  const size_t room = cells ? max_cells / cells : all;
  const size_t block_size = room < 1 ? 1 : room > all ? all : room;
  e->score = idm_new(all, sizeof *e->score);
  e->information = idm_new(all, sizeof *e->information);
  e->p = idm_new(all, sizeof *e->p);
  idm_status status = e->score && e->information && e->p ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < all && status == IDM_OK; i += block_size)
    status = score_block(e, tree, i, all - i < block_size ? all - i : block_size, opt_error);
  return status;
}

static void find_worst(environment_check *e)
{
  for (size_t i = 0; e->p && i < e->directions.count; i++) {
    if (isnan(e->p[i])) continue;
    if (!e->evaluated++ || e->p[i] < e->p[e->worst]) e->worst = i;
  }
  const double direct = e->p && e->evaluated ? e->p[e->worst] : 1;
  const double p = fmin(direct, e->serial.evaluated ? e->serial.p : 1);
  e->min_p = fmin(1, (double)(e->evaluated + e->serial.evaluated) * p);
  if (!e->evaluated && !e->serial.evaluated)
    idm_print(e->skip_reason, sizeof e->skip_reason, "the log has too few observations (%llu)",
              (unsigned long long)e->observations);
}

/* --- the estimate ---------------------------------------------------------------------------- */

/* Estimate the probability along the direction of least p by Fisher scoring. */
static idm_status find_estimate(environment_check *e, const idm_prefix_tree *tree,
                                idm_error *opt_error)
{
  enum { max_steps = 20 };
  idm_dynamics *at = NULL;
  idm_status status = idm_dynamics_create(e->directions.own->sizes, &at, opt_error);
  if (status != IDM_OK) return status;
  filter f = filter_of(e, tree);
  f.at = at;
  f.first = e->worst;
  f.count = 1;
  status = open_filter(&f, opt_error);
  double low, high, shift = 0;
  idm_direction_limits(&e->directions, e->worst, &low, &high);
  for (int i = 0; i < max_steps && status == IDM_OK; i++) {
    double score, information;
    idm_direction_shift(&e->directions, e->worst, shift, at);
    run(&f);
    add_up(&f, 0, &score, &information);
    if (!(information > 0)) break;
    /* Steps of at most half the distance to a bound: the likelihood may fall to 0 there. */
    const double step = fmin(fmax(score / information, 0.5 * (low - shift)), 0.5 * (high - shift));
    shift += step;
    if (fabs(step) < 1e-6) break;
  }
  e->best = idm_direction_probability(&e->directions, e->worst) + shift;
  close_filter(&f);
  idm_dynamics_destroy(at);
  return status;
}

/* Whether the problem has matrices to filter with, or sparse rows that expand to matrices of a
 * reasonable size. */
static bool can_filter(const idm_setting *setting, char *skip_reason, size_t size)
{
  static const size_t max_numbers = (size_t)1 << 22;
  const idm_sizes n = idm_setting_sizes(setting);
  const bool moves = setting->transition || setting->moves;
  const bool emission = setting->emission || (setting->moves && setting->fully_observed);
  const bool large = setting->moves && n.actions * n.states * n.states > max_numbers;
  if (!moves || !emission)
    idm_print(skip_reason, size, "the problem has no dynamics of its own");
  else if (large)
    idm_print(skip_reason, size, "%zu states are too many for matrices of transitions", n.states);
  return moves && emission && !large;
}

idm_status idm_environment_open(environment_check *e, const idm_problem *problem,
                                const idm_data *data, bool fitted, idm_error *opt_error)
{
  *e = (environment_check){.min_p = 1, .best = NAN};
  const idm_setting *setting = problem->setting;
  if (!can_filter(setting, e->skip_reason, sizeof e->skip_reason)) return IDM_OK;
  idm_prefix_tree *tree = NULL;
  idm_status status = idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, opt_error);
  if (status == IDM_OK) status = find_directions(e, problem, tree, opt_error);
  if (status == IDM_OK && !e->skip_reason[0]) {
    const filter shape = filter_of(e, tree);
    status = test_serial(e, &shape, opt_error);
    if (status == IDM_OK && !fitted) status = score_all(e, tree, opt_error);
    if (status == IDM_OK) find_worst(e);
    if (status == IDM_OK && e->evaluated) status = find_estimate(e, tree, opt_error);
  }
  idm_prefix_tree_destroy(tree);
  return status;
}

double idm_environment_error(const environment_check *e, size_t i)
{
  return has_information(e, i) ? 1 / sqrt(e->information[i]) : (double)NAN;
}

/* --- sentences ------------------------------------------------------------------------------- */

/* Whether the residuals have the least p. */
static bool is_serial(const environment_check *e)
{
  return e->serial.evaluated && (!e->evaluated || e->serial.p < e->p[e->worst]);
}

idm_model_test_result idm_environment_result(const environment_check *e)
{
  if (e->impossible)
    return (idm_model_test_result){.evaluated = true, .statistic = INFINITY, .expected = 1};
  if (!e->evaluated && !e->serial.evaluated) return (idm_model_test_result){0};
  const double score = e->evaluated ? e->score[e->worst] : 0;
  return (idm_model_test_result){
      .evaluated = true,
      .statistic = is_serial(e) ? e->serial.statistic : score * score / e->information[e->worst],
      .expected = 1,
      .p = e->min_p};
}

/* Whether states are observed and a planner of values has a horizon of one step: its policies
 * follow from the utility alone. */
static bool plans_one_step(const idm_problem *problem, const idm_planner *planner)
{
  const idm_block *discount = &problem->theta->block[IDM_DISCOUNT];
  const bool myopic = discount->role != IDM_DESCRIPTIVE && discount->value[0] == 0;
  return problem->setting->fully_observed && problem->theta->models == 1 && planner &&
         planner->lattice && (myopic || problem->setting->horizon == 1);
}

/* Whether the answer depends on the environment: the planner reads models of it, or plans in it. */
static bool is_read(const idm_problem *problem)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  if (plans_one_step(problem, planner)) return false;
  return idm_planner_uses_dynamics(planner, problem->setting, IDM_TRANSITION) ||
         idm_planner_uses_dynamics(planner, problem->setting, IDM_EMISSION);
}

/* Decimals with which a probability and its complement are printed: 0.70, 0.004, 0.9995. */
static int decimals(double p)
{
  const double small = fmin(p, 1 - p);
  return small >= 0.1 ? 2 : small >= 0.01 ? 3 : small >= 0.001 ? 4 : 5;
}

static void describe_worst(const environment_check *e, idm_notes *notes, const char *ending)
{
  static const double smallest_p = 1e-300;
  char where[400], what[200];
  const double given = idm_direction_probability(&e->directions, e->worst);
  idm_direction_describe(&e->directions, e->worst, where, sizeof where, what, sizeof what);
  idm_notes_add(notes,
                "the observations of this log contradict the environment (p <= %.2g over %zu "
                "probabilities): %s: the file gives %.*f to %s, this log is best described by %.*f "
                "(standard error %.2g)%s",
                fmax(e->min_p, smallest_p), e->evaluated, where, decimals(given), given, what,
                decimals(e->best), e->best, idm_environment_error(e, e->worst), ending);
}

static void describe_serial(const environment_check *e, idm_notes *notes, const char *ending)
{
  static const double smallest_p = 1e-300;
  static const struct {
    const char *less, *more, *cause;
  } words[SERIAL_KINDS] = {
      [SERIAL_AUTOCORRELATION] = {"recurs less within trajectories",
                                  "recurs more within trajectories",
                                  "a state is missing, or trajectories differ"},
      [SERIAL_TREND] = {"becomes rarer along trajectories",
                        "becomes more frequent along trajectories",
                        "the dynamics change with time, or a state is missing"}};
  const serial_test *t = &e->serial;
  idm_notes_add(
      notes,
      "the observations of this log contradict the environment (p <= %.2g over %zu "
      "tests): `%.100s` %s than the dynamics imply, by about %.1f %% in probability%s: %s",
      fmax(e->min_p, smallest_p), e->evaluated + t->evaluated,
      e->directions.setting->observations.name[t->observation],
      t->score < 0 ? words[t->kind].less : words[t->kind].more, 100 * t->size, ending,
      words[t->kind].cause);
}

static void describe_impossible(const environment_check *e, idm_notes *notes)
{
  idm_notes_add(notes,
                "the observations of this log contradict the environment: %llu of them %s "
                "probability 0 (the first is in row %zu)",
                (unsigned long long)e->impossible, e->impossible == 1 ? "has" : "have",
                e->impossible_row + 1);
}

/* Add remarks on observations and directions that the test does not cover. */
static void note_limits(const environment_check *e, idm_assessment *a)
{
  if (e->excluded)
    idm_notes_add(&a->remarks,
                  "unchecked: %llu observations, which follow an action that is not recorded, are "
                  "not part of the test of the environment",
                  (unsigned long long)e->excluded);
  if (e->matrices && e->evaluated)
    idm_notes_add(&a->remarks,
                  "the test of the environment covers whole matrices, not each of their "
                  "probabilities, which are too many for this log");
}

void idm_environment_record(const environment_check *e, const idm_problem *problem, bool used,
                            double level, idm_assessment *a)
{
  static const double min_share = 0.02;
  const idm_model_test_result tested = idm_environment_result(e);
  if (!tested.evaluated) {
    idm_check_skip(&a->checks, IDM_CHECK_ENVIRONMENT, "%s", e->skip_reason);
    idm_notes_add(&a->remarks, "unchecked: the environment; %s", e->skip_reason);
    return;
  }
  const bool read = used || is_read(problem);
  const double off = e->impossible ? 1
                     : is_serial(e)
                         ? e->serial.size
                         : fabs(e->best - idm_direction_probability(&e->directions, e->worst));
  const idm_check_outcome outcome = tested.p > level           ? IDM_CHECK_PASSED
                                    : read && off >= min_share ? IDM_CHECK_MISFIT
                                                               : IDM_CHECK_REMARK;
  idm_check_record(&a->checks, IDM_CHECK_ENVIRONMENT, outcome, tested.p);
  a->checks.of[IDM_CHECK_ENVIRONMENT].threshold = level;
  note_limits(e, a);
  if (outcome == IDM_CHECK_PASSED) return;
  idm_notes *notes = idm_check_note(a, IDM_CHECK_ENVIRONMENT, outcome);
  const char *small =
      read ? ", a difference of less than 2 %" : "; the answer does not depend on these";
  if (e->impossible)
    describe_impossible(e, notes);
  else if (is_serial(e))
    describe_serial(e, notes, outcome == IDM_CHECK_MISFIT ? "" : small);
  else
    describe_worst(e, notes,
                   outcome == IDM_CHECK_MISFIT ? ". Correct the file, or learn the dynamics "
                                                 "(idm learn, then --dynamics)"
                                               : small);
}

idm_status idm_environment_assess(const idm_problem *problem, const idm_data *data, bool fitted,
                                  bool used, double level, idm_assessment *assessment,
                                  idm_error *opt_error)
{
  environment_check e;
  const idm_status status = idm_environment_open(&e, problem, data, fitted, opt_error);
  if (status == IDM_OK) idm_environment_record(&e, problem, used, level, assessment);
  idm_environment_close(&e);
  return status;
}
