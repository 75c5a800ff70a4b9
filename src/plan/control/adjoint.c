/* Reverse-mode derivative of a lattice planner's policies through its fixed point
 * (docs/method/likelihood.md, 7).
 *
 * Let lambda be the derivative with respect to the values: (I - gamma P)' lambda equals the
 * derivative of the policies with respect to V*. The derivative with respect to theta is then that
 * of one backup at V*, weighted by lambda (implicit function theorem). With a horizon the layers
 * are processed one by one. */
#include "plan/control/adjoint.h"

#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/soft.h"
#include "base/statistics.h"
#include "base/vector.h"
#include "plan/choice.h"
#include "plan/control/control.h"

/* --- creation -------------------------------------------------------------------------------- */

void idm_adjoint_destroy(void *content)
{
  adjoint *a = content;
  if (!a) return;
  void *const owned[] = {a->sums.utility,
                         a->sums.inverse_alpha,
                         a->sums.inverse_temperature,
                         a->sums.action_prior,
                         a->sums.model_prior,
                         a->sums.belief_reward,
                         a->sums.belief_prior,
                         a->sums.transition,
                         a->sums.emission,
                         a->dynamics,
                         a->belief,
                         a->term,
                         a->value,
                         a->decision,
                         a->specification,
                         a->has_gradient,
                         a->own_quality,
                         a->own_decision,
                         a->own_specification,
                         a->lanes,
                         a->cell.vertex,
                         a->cell.weight,
                         a->lookahead.q,
                         a->lookahead.entries,
                         a->lookahead.column,
                         a->lookahead.value,
                         a->lookahead.slope};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
  free(a);
}

static size_t value_count(const control *c)
{
  return idm_times(c->variants * (size_t)(c->layers + 1), c->padded);
}

static size_t table_count(const control *c)
{
  return idm_times(c->variants * (size_t)c->layers * c->sizes.actions, c->padded);
}

static bool allocate_cell(adjoint *a)
{
  const size_t k = a->c->sizes.states;
  adjoint_cell *cell = &a->cell;
  cell->vertex = idm_new(2 * k, sizeof *cell->vertex);
  cell->weight = idm_new(6 * k + 2 * a->c->sizes.actions, sizeof *cell->weight);
  if (!cell->vertex || !cell->weight) return false;
  cell->step = cell->vertex + k;
  cell->at = cell->weight + k;
  cell->derivative = cell->at + k;
  cell->locate = cell->derivative + k;
  cell->logs = cell->locate + 2 * k;
  return true;
}

static bool allocate_lookahead(adjoint *a)
{
  const idm_sizes n = a->c->sizes;
  const size_t pairs = n.actions * a->c->models;
  const size_t entries = idm_times(pairs, n.observations * n.states);
  adjoint_lookahead *lookahead = &a->lookahead;
  lookahead->entries = idm_new(pairs, sizeof *lookahead->entries);
  lookahead->column = idm_new(entries, sizeof *lookahead->column);
  lookahead->value = idm_new(entries, sizeof *lookahead->value);
  lookahead->slope = idm_new(entries, sizeof *lookahead->slope);
  lookahead->q = idm_new(2 * n.actions + 2 * a->c->models + pairs * (4 + n.states) + 4 * n.states,
                         sizeof *lookahead->q);
  if (!lookahead->entries || !lookahead->column || !lookahead->value || !lookahead->slope ||
      !lookahead->q)
    return false;
  lookahead->k = lookahead->q + n.actions;
  lookahead->future = lookahead->k + pairs;
  lookahead->surprise = lookahead->future + pairs;
  lookahead->expected_certainty = lookahead->surprise + pairs;
  lookahead->belief_gradient_k = lookahead->expected_certainty + pairs;
  lookahead->emitter = lookahead->belief_gradient_k + pairs * n.states;
  lookahead->posterior = lookahead->emitter + n.states;
  lookahead->emitter_gradient = lookahead->posterior + n.states;
  lookahead->group_emission = lookahead->emitter_gradient + n.states;
  lookahead->sigma = lookahead->group_emission + n.states;
  lookahead->weights = lookahead->sigma + a->c->models;
  return true;
}

/* Tables of derivatives; if the control has no tables, tables of one layer. */
static bool allocate_tables(adjoint *a)
{
  const control *c = a->c;
  const size_t layer = c->sizes.actions * c->padded;
  if (!c->quality) {
    a->own_quality = idm_new(layer, sizeof *a->own_quality);
    a->own_decision = idm_new(layer, sizeof *a->own_decision);
    a->own_specification = idm_new(idm_times(layer, c->models), sizeof *a->own_specification);
    return a->own_quality && a->own_decision && a->own_specification && allocate_lookahead(a);
  }
  a->decision = idm_new(table_count(c), sizeof *a->decision);
  a->specification = idm_new(idm_times(table_count(c), c->models), sizeof *a->specification);
  a->has_gradient = idm_new(table_count(c) / IDM_LANES, sizeof *a->has_gradient);
  return a->decision && a->specification && a->has_gradient;
}

/* Scratch of idm_adjoint_dynamics, and sums of free parameters of the belief update. */
static bool allocate_dynamics(adjoint *a)
{
  const control *c = a->c;
  a->dynamics = idm_new(idm_adjoint_dynamics_scratch(c), sizeof *a->dynamics);
  if (c->belief_prior_free) {
    a->sums.belief_prior = idm_new(c->sizes.states, sizeof *a->sums.belief_prior);
    if (!a->sums.belief_prior) return false;
  }
  if (!c->dynamics_free) return a->dynamics;
  a->sums.transition = idm_new(control_transitions(c), sizeof *a->sums.transition);
  a->sums.emission = idm_new(control_emissions(c), sizeof *a->sums.emission);
  return a->sums.transition && a->sums.emission && a->dynamics;
}

idm_status idm_adjoint_create(void *content, void **ret_adjoint, idm_error *opt_error)
{
  control *c = content;
  const idm_sizes n = c->sizes;
  *ret_adjoint = NULL;
  adjoint *a = idm_new(1, sizeof *a);
  if (!a) return idm_fail_memory(opt_error);
  a->c = c;
  a->sums.utility = idm_new(c->variants * n.actions * n.states, sizeof *a->sums.utility);
  a->sums.inverse_alpha = idm_new(c->variants, sizeof *a->sums.inverse_alpha);
  a->sums.inverse_temperature = idm_new(c->variants, sizeof *a->sums.inverse_temperature);
  a->sums.action_prior = idm_new(n.actions, sizeof *a->sums.action_prior);
  a->sums.model_prior = idm_new(c->models, sizeof *a->sums.model_prior);
  a->sums.belief_reward = idm_new(BELIEF_REWARD_TERMS * n.actions, sizeof *a->sums.belief_reward);
  a->term = idm_new(BELIEF_REWARD_TERMS * c->padded, sizeof *a->term);
  a->belief = idm_new(c->lattice->corners ? 0 : n.states * c->padded, sizeof *a->belief);
  a->value = idm_new(value_count(c), sizeof *a->value);
  a->lanes = idm_new(idm_adjoint_lanes(c), sizeof *a->lanes);
  if (!a->sums.utility || !a->sums.inverse_alpha || !a->sums.inverse_temperature ||
      !a->sums.action_prior || !a->sums.model_prior || !a->sums.belief_reward || !a->term ||
      !a->belief || !a->value || !a->lanes || !allocate_cell(a) || !allocate_tables(a) ||
      !allocate_dynamics(a)) {
    idm_adjoint_destroy(a);
    return idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < c->lattice->points && !c->lattice->corners; i++)
    for (size_t s = 0; s < n.states; s++)
      a->belief[s * c->padded + i] = c->lattice->belief[i * n.states + s];
  for (size_t i = 0; i < c->lattice->points; i++) {
    double term[BELIEF_REWARD_TERMS] = {[BELIEF_REWARD_GUESS] = 1};
    if (!c->lattice->corners)
      idm_belief_reward_terms(n.states, c->lattice->belief + i * n.states, term);
    for (size_t t = 0; t < BELIEF_REWARD_TERMS; t++) a->term[t * c->padded + i] = term[t];
  }
  *ret_adjoint = a;
  return IDM_OK;
}

static void zero(double *x, size_t count)
{
  memset(x, 0, count * sizeof *x);
}

void idm_adjoint_begin(void *content)
{
  adjoint *a = content;
  const control *c = a->c;
  adjoint_sums *sums = &a->sums;
  sums->discount = sums->eta = 0;
  sums->inverse_beta = 0;
  sums->prior_weight = sums->evidence_weight = sums->award = 0;
  zero(sums->belief_reward, BELIEF_REWARD_TERMS * c->sizes.actions);
  if (c->belief_prior_free) zero(sums->belief_prior, c->sizes.states);
  zero(sums->inverse_alpha, c->variants);
  zero(sums->inverse_temperature, c->variants);
  zero(sums->utility, c->variants * c->sizes.actions * c->sizes.states);
  zero(sums->action_prior, c->sizes.actions);
  zero(sums->model_prior, c->models);
  if (c->dynamics_free) {
    zero(sums->transition, control_transitions(c));
    zero(sums->emission, control_emissions(c));
  }
  zero(a->value, value_count(c));
  if (!a->decision) return;
  zero(a->decision, table_count(c));
  zero(a->specification, table_count(c) * c->models);
  memset(a->has_gradient, 0, table_count(c) / IDM_LANES * sizeof *a->has_gradient);
}

/* --- one belief ----------------------------------------------------------------------------- */

/* Computes cell->logs[i] = log pi_i(u) at the vertices; returns the log of their weighted mean. */
static double log_mixture(adjoint *a, size_t row, size_t u)
{
  const control *c = a->c;
  const size_t actions = c->sizes.actions;
  adjoint_cell *cell = &a->cell;
  double *q = cell->logs + c->sizes.states;
  double *log_pi = q + actions;
  idm_log_sum sum = idm_log_sum_empty;
  for (size_t i = 0; i < cell->count; i++) {
    for (size_t v = 0; v < actions; v++) q[v] = c->quality[row + v * c->padded + cell->vertex[i]];
    idm_soft_logs(c->numbers.temperature, actions, c->numbers.action_prior, q, log_pi);
    cell->logs[i] = log_pi[u];
    if (cell->weight[i] > 0) idm_log_sum_add(&sum, log(cell->weight[i]) + log_pi[u]);
  }
  return idm_log_sum_value(sum);
}

/* Decision: pi(u|z) is the weighted mean of pi_i(u) at the vertices, so log pi_i(u) receives the
 * share w_i pi_i(u)/pi(u) of the derivative; pi_i(u)/pi(u) is the derivative with respect to the
 * weight w_i. */
static void decision_gradients(adjoint *a, const idm_policy_adjoint *point, size_t row, size_t u)
{
  const control *c = a->c;
  adjoint_cell *cell = &a->cell;
  const double derivative = point->log_decision_gradient[u];
  const double pi = point->decision[u];
  const bool use_logs = !(pi > idm_min_probability);
  const double log_pi = use_logs ? log_mixture(a, row, u) : 0;
  const double scale = derivative / pi;
  const size_t first = row + u * c->padded;
  for (size_t i = 0; i < cell->count; i++) {
    const double part = use_logs ? derivative * exp(fmin(600, cell->logs[i] - log_pi))
                                 : scale * c->decision[first + cell->vertex[i]];
    cell->at[i] += part;
    a->decision[first + cell->vertex[i]] += cell->weight[i] * part;
  }
}

static void specification_gradients(adjoint *a, size_t row, double derivative)
{
  const control *c = a->c;
  adjoint_cell *cell = &a->cell;
  for (size_t i = 0; i < cell->count; i++) {
    cell->at[i] += derivative * c->specification[row + cell->vertex[i]];
    a->specification[row + cell->vertex[i]] += cell->weight[i] * derivative;
  }
}

static void table_point(adjoint *a, const idm_policy_adjoint *point)
{
  const control *c = a->c;
  adjoint_cell *cell = &a->cell;
  const size_t row = control_row(c, point->variant, control_left(c, point->steps));
  bool *has_gradient = a->has_gradient + row / c->sizes.actions / IDM_LANES;
  cell->count = idm_lattice_cell(c->lattice, point->belief, cell->vertex, cell->weight, cell->step,
                                 cell->locate);
  for (size_t i = 0; i < cell->count; i++) {
    cell->at[i] = 0;
    has_gradient[cell->vertex[i] / IDM_LANES] = true;
  }
  for (size_t u = 0; u < c->sizes.actions; u++) {
    if (point->log_decision_gradient[u] != 0) decision_gradients(a, point, row, u);
    for (size_t m = 0; m < c->models; m++) {
      const size_t pair = u * c->models + m;
      if (point->specification_gradient[pair] != 0)
        specification_gradients(a, row * c->models + pair * c->padded,
                                point->specification_gradient[pair]);
    }
  }
  if (!point->opt_belief_gradient) return;
  idm_lattice_gradient(c->lattice, cell->count, cell->step, cell->at, cell->derivative);
  for (size_t s = 0; s < c->sizes.states; s++) point->opt_belief_gradient[s] += cell->derivative[s];
}

void idm_adjoint_point(void *content, const idm_policy_adjoint *point)
{
  adjoint *a = content;
  idm_control_select(a->c, point->variant);
  if (a->decision)
    table_point(a, point);
  else
    idm_adjoint_lookahead(a, point);
}

/* --- fixed point ----------------------------------------------------------------------------- */

static double size_of(const double *x, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += fabs(x[i]);
  return sum;
}

/* lambda = (I - gamma P')^-1 value_adjoint, with P in control->mix, by GMRES; if that stalls, by
 * the recursion lambda = value_adjoint + gamma P' lambda, a contraction. `residual` is scratch.
 * Returns false if neither converges. */
static bool solve(const control *c, const double *value_adjoint, double *lambda, double *residual)
{
  enum { products = 2000, recursions = 200000 };
  const double tolerance = 1e-9;
  const double residual_tolerance = 1e-7 * size_of(value_adjoint, c->padded);
  double *work = c->vector + CONTROL_VECTORS * c->padded;
  const double left = idm_gmres(
      c->padded, c->preconditioner ? idm_control_transposed_preconditioned : idm_control_transposed,
      c, value_adjoint, lambda, tolerance, c->basis, products, work, NULL);
  if (c->preconditioner) {
    idm_control_apply_transposed(c, lambda, residual);
    memcpy(lambda, residual, c->padded * sizeof *lambda);
  }
  if (left <= tolerance) return true;
  for (int i = 0; i < recursions; i++) {
    idm_control_transposed(c, lambda, residual);
    for (size_t j = 0; j < c->padded; j++) residual[j] = value_adjoint[j] - residual[j];
    if (size_of(residual, c->padded) <= residual_tolerance) return true;
    for (size_t j = 0; j < c->padded; j++) lambda[j] += residual[j];
  }
  return false;
}

/* The layer with `left` steps left; its tables are computed here if the control has none. With
 * `mix` the weights of the derivative are left in the control. */
static adjoint_layer layer_of(adjoint *a, size_t variant, int left, bool mix)
{
  control *c = a->c;
  adjoint_layer layer = {.variant = variant, .arrivals = idm_control_arrivals(c, left)};
  c->numbers.arrival = idm_control_arrival(c, left);
  layer.v = control_layer(c, variant, c->setting->horizon > 0 ? left - 1 : 1);
  backup_output out = {.mix = mix};
  if (c->quality) {
    const size_t row = control_row(c, variant, left);
    layer.quality = c->quality + row;
    layer.decision = c->decision + row;
    layer.specification = c->specification + row * c->models;
    layer.opt_decision_gradient = a->decision + row;
    layer.opt_specification_gradient = a->specification + row * c->models;
    layer.has_gradient = a->has_gradient + row / c->sizes.actions / IDM_LANES;
  } else {
    layer.quality = out.quality = a->own_quality;
    layer.decision = out.decision = a->own_decision;
    layer.specification = out.specification = a->own_specification;
  }
  if (mix || out.quality) idm_control_backup(c, layer.v, false, &out);
  return layer;
}

/* Whether the tables of a layer have derivatives. */
static bool any_gradient(const adjoint *a, size_t variant, int left)
{
  const control *c = a->c;
  if (!a->has_gradient) return false;
  const bool *has_gradient =
      a->has_gradient + control_row(c, variant, left) / c->sizes.actions / IDM_LANES;
  for (size_t i = 0; i < c->successors->slices; i++)
    if (has_gradient[i]) return true;
  return false;
}

static bool finish_stationary(adjoint *a, size_t variant)
{
  control *c = a->c;
  double *value_adjoint = a->value + (control_layer(c, variant, 1) - c->value);
  double *lambda = c->vector;
  const bool tables = any_gradient(a, variant, 1);
  if (!tables && !(size_of(value_adjoint, c->padded) > 0)) return true;
  adjoint_layer layer = layer_of(a, variant, 1, true);
  if (tables) idm_adjoint_direct(a, &layer, value_adjoint);
  idm_control_fold(c);
  if (!solve(c, value_adjoint, lambda, c->vector + c->padded)) return false;
  layer.opt_lambda = lambda;
  idm_adjoint_sweep(a, &layer, NULL);
  return true;
}

static void finish_horizon(adjoint *a, size_t variant)
{
  const control *c = a->c;
  for (int left = c->layers; left > 0; left--) {
    double *own = a->value + (control_layer(c, variant, left) - c->value);
    const double *lambda = size_of(own, c->padded) > 0 ? own : NULL;
    if (!lambda && !any_gradient(a, variant, left)) continue;
    adjoint_layer layer = layer_of(a, variant, left, false);
    layer.opt_lambda = lambda;
    /* No decision follows the last layer: the values after it are 0 for every theta. */
    idm_adjoint_sweep(a, &layer, left > 1 ? own - c->padded : NULL);
  }
}

/* --- results --------------------------------------------------------------------------------- */

static void add(idm_theta *derivative, idm_block_id id, const double *from, size_t count)
{
  for (size_t i = 0; i < count; i++) derivative->block[id].value[i] += from[i];
}

/* Adds the derivative with respect to alpha. If alpha is in units of the range R of a variant's
 * utilities, the effective parameter is 1/(alpha R), and derivatives with respect to the largest
 * and the smallest utility are added too; ties share them. */
static void add_alpha(const adjoint *a, size_t variant, idm_theta *derivative)
{
  const control *c = a->c;
  const size_t pairs = c->sizes.actions * c->sizes.states;
  const double unit = c->unit[variant];
  const double *utility = c->utility + variant * pairs;
  double *to = derivative->block[IDM_UTILITY].value + variant * pairs;
  const double value_adjoint = a->sums.inverse_alpha[variant] +
                               (c->own_temperature ? 0 : a->sums.inverse_temperature[variant]);
  derivative->block[IDM_ALPHA].value[0] += value_adjoint / unit;
  if (c->agent.alpha_unit != IDM_ALPHA_RANGE) return;
  const double by_range = -value_adjoint * adjoint_inverse(c->alpha[variant]) / unit;
  size_t at_maximum = 0, at_minimum = 0;
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < pairs; i++) {
    low = fmin(low, utility[i]);
    high = fmax(high, utility[i]);
  }
  for (size_t i = 0; i < pairs; i++) {
    at_maximum += utility[i] == high;
    at_minimum += utility[i] == low;
  }
  for (size_t i = 0; i < pairs && high > low; i++) {
    if (utility[i] == high) to[i] += by_range / (double)at_maximum;
    if (utility[i] == low) to[i] -= by_range / (double)at_minimum;
  }
}

static void add_to_theta(const adjoint *a, idm_theta *derivative)
{
  const control *c = a->c;
  const adjoint_sums *sums = &a->sums;
  add(derivative, IDM_UTILITY, sums->utility, c->variants * c->sizes.actions * c->sizes.states);
  add(derivative, IDM_ACTION_PRIOR, sums->action_prior, c->sizes.actions);
  add(derivative, IDM_MODEL_PRIOR, sums->model_prior, c->models);
  if (c->dynamics_free) {
    add(derivative, IDM_TRANSITION, sums->transition, control_transitions(c));
    add(derivative, IDM_EMISSION, sums->emission, control_emissions(c));
    add(derivative, IDM_PRIOR_WEIGHT, &sums->prior_weight, 1);
    add(derivative, IDM_EVIDENCE_WEIGHT, &sums->evidence_weight, 1);
  }
  add(derivative, IDM_BELIEF_UTILITY, sums->belief_reward, BELIEF_REWARD_TERMS * c->sizes.actions);
  if (c->belief_prior_free) add(derivative, IDM_BELIEF_PRIOR, sums->belief_prior, c->sizes.states);
  derivative->block[IDM_CERTAINTY].value[1] += sums->award;
  add(derivative, IDM_DISCOUNT, &sums->discount, 1);
  add(derivative, IDM_ETA, &sums->eta, 1);
  add(derivative, IDM_BETA, &sums->inverse_beta, 1);
  for (size_t v = 0; v < c->variants; v++) {
    add_alpha(a, v, derivative);
    if (c->own_temperature) add(derivative, IDM_TEMPERATURE, &sums->inverse_temperature[v], 1);
  }
}

idm_status idm_adjoint_finish(void *content, idm_theta *derivative, idm_error *opt_error)
{
  adjoint *a = content;
  control *c = a->c;
  for (size_t variant = 0; variant < c->variants; variant++) {
    idm_control_select(c, variant);
    if (c->setting->horizon > 0)
      finish_horizon(a, variant);
    else if (!finish_stationary(a, variant))
      return idm_fail(opt_error, IDM_NUMERICAL, "the derivative of the values did not converge");
  }
  add_to_theta(a, derivative);
  return IDM_OK;
}
