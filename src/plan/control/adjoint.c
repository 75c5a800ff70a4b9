/* The derivative of a lattice planner's policies in reverse, through its fixed point.
 *
 * With lambda the derivative with respect to the values, (I - gamma P)' lambda = what the policies
 * ask of V*; the derivative with respect to theta is then that of one backup at V*, weighted by
 * lambda (the implicit function theorem). With a horizon the layers do the same, one by one. */
#include "plan/control/adjoint.h"
#include "base/log_sum.h"
#include "plan/control/adjoint_dynamics.h"
#include "plan/control/adjoint_look.h"
#include "plan/control/adjoint_sweep.h"
#include "plan/control/backup.h"
#include "plan/control/precondition.h"
#include "plan/smallest.h"

#include <math.h>

#include "base/krylov.h"
#include "base/memory.h"
#include "base/soft_block.h"

/* --- making one ----------------------------------------------------------------------------- */

void idm_adjoint_destroy(void *content)
{
  adjoint *a = content;
  if (!a) return;
  void *const owned[] = {a->sums.utility,
                         a->sums.inverse_alpha,
                         a->sums.inverse_temperature,
                         a->sums.action_prior,
                         a->sums.model_prior,
                         a->sums.worth,
                         a->sums.belief_prior,
                         a->sums.transition,
                         a->sums.emission,
                         a->dynamics,
                         a->belief,
                         a->term,
                         a->value,
                         a->decision,
                         a->specification,
                         a->touched,
                         a->own_quality,
                         a->own_decision,
                         a->own_specification,
                         a->lanes,
                         a->cell.vertex,
                         a->cell.weight,
                         a->look.q,
                         a->look.entries,
                         a->look.column,
                         a->look.value};
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
  cell->slope = cell->at + k;
  cell->locate = cell->slope + k;
  cell->logs = cell->locate + 2 * k;
  return true;
}

static bool allocate_look(adjoint *a)
{
  const idm_sizes n = a->c->sizes;
  const size_t pairs = n.actions * a->c->models;
  const size_t entries = idm_times(pairs, n.observations * n.states);
  adjoint_look *look = &a->look;
  look->entries = idm_new(pairs, sizeof *look->entries);
  look->column = idm_new(entries, sizeof *look->column);
  look->value = idm_new(entries, sizeof *look->value);
  look->q = idm_new(2 * n.actions + 2 * a->c->models + pairs * (4 + n.states) + 4 * n.states,
                    sizeof *look->q);
  if (!look->entries || !look->column || !look->value || !look->q) return false;
  look->k = look->q + n.actions;
  look->future = look->k + pairs;
  look->surprise = look->future + pairs;
  look->certain = look->surprise + pairs;
  look->moved = look->certain + pairs;
  look->emitter = look->moved + pairs * n.states;
  look->posterior = look->emitter + n.states;
  look->gained = look->posterior + n.states;
  look->seen = look->gained + n.states;
  look->sigma = look->seen + n.states;
  look->weights = look->sigma + a->c->models;
  return true;
}

/* Tables of slopes, or where the control keeps no tables those of one layer. */
static bool allocate_tables(adjoint *a)
{
  const control *c = a->c;
  const size_t layer = c->sizes.actions * c->padded;
  if (!c->quality) {
    a->own_quality = idm_new(layer, sizeof *a->own_quality);
    a->own_decision = idm_new(layer, sizeof *a->own_decision);
    a->own_specification = idm_new(idm_times(layer, c->models), sizeof *a->own_specification);
    return a->own_quality && a->own_decision && a->own_specification && allocate_look(a);
  }
  a->decision = idm_new(table_count(c), sizeof *a->decision);
  a->specification = idm_new(idm_times(table_count(c), c->models), sizeof *a->specification);
  a->touched = idm_new(table_count(c) / IDM_LANES, sizeof *a->touched);
  return a->decision && a->specification && a->touched;
}

/* Scratch of what makes beliefs, and sums where it moves. */
static bool allocate_dynamics(adjoint *a)
{
  const control *c = a->c;
  a->dynamics = idm_new(idm_adjoint_dynamics_scratch(c), sizeof *a->dynamics);
  if (c->primes) {
    a->sums.belief_prior = idm_new(c->sizes.states, sizeof *a->sums.belief_prior);
    if (!a->sums.belief_prior) return false;
  }
  if (!c->learns) return a->dynamics;
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
  a->sums.worth = idm_new(WORTH_TERMS * n.actions, sizeof *a->sums.worth);
  a->term = idm_new(WORTH_TERMS * c->padded, sizeof *a->term);
  a->belief = idm_new(c->lattice->corners ? 0 : n.states * c->padded, sizeof *a->belief);
  a->value = idm_new(value_count(c), sizeof *a->value);
  a->lanes = idm_new(idm_adjoint_lanes(c), sizeof *a->lanes);
  if (!a->sums.utility || !a->sums.inverse_alpha || !a->sums.inverse_temperature ||
      !a->sums.action_prior || !a->sums.model_prior || !a->sums.worth || !a->term || !a->belief ||
      !a->value || !a->lanes || !allocate_cell(a) || !allocate_tables(a) || !allocate_dynamics(a)) {
    idm_adjoint_destroy(a);
    return idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < c->lattice->points && !c->lattice->corners; i++)
    for (size_t s = 0; s < n.states; s++)
      a->belief[s * c->padded + i] = c->lattice->belief[i * n.states + s];
  for (size_t i = 0; i < c->lattice->points; i++) {
    double term[WORTH_TERMS] = {[WORTH_GUESS] = 1};
    if (!c->lattice->corners) idm_worth_terms(n.states, c->lattice->belief + i * n.states, term);
    for (size_t t = 0; t < WORTH_TERMS; t++) a->term[t * c->padded + i] = term[t];
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
  zero(sums->worth, WORTH_TERMS * c->sizes.actions);
  if (c->primes) zero(sums->belief_prior, c->sizes.states);
  zero(sums->inverse_alpha, c->variants);
  zero(sums->inverse_temperature, c->variants);
  zero(sums->utility, c->variants * c->sizes.actions * c->sizes.states);
  zero(sums->action_prior, c->sizes.actions);
  zero(sums->model_prior, c->models);
  if (c->learns) {
    zero(sums->transition, control_transitions(c));
    zero(sums->emission, control_emissions(c));
  }
  zero(a->value, value_count(c));
  if (!a->decision) return;
  zero(a->decision, table_count(c));
  zero(a->specification, table_count(c) * c->models);
  memset(a->touched, 0, table_count(c) / IDM_LANES * sizeof *a->touched);
}

/* --- one belief ----------------------------------------------------------------------------- */

/* cell->logs[i] = log pi_i(u) at the vertices; returns the log of their mean. */
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

/* The decision: pi(u|z) is the mean of the vertices' pi_i(u), so log pi_i(u) gets the share
 * w_i pi_i(u)/pi(u) of the slope; pi_i(u)/pi(u) itself moves the weights. */
static void decision_slopes(adjoint *a, const idm_policy_slope *point, size_t row, size_t u)
{
  const control *c = a->c;
  adjoint_cell *cell = &a->cell;
  const double slope = point->log_decision_slope[u];
  const double pi = point->decision[u];
  const bool tiny = !(pi > idm_smallest);
  const double log_pi = tiny ? log_mixture(a, row, u) : 0;
  const double scale = slope / pi;
  const size_t first = row + u * c->padded;
  for (size_t i = 0; i < cell->count; i++) {
    const double part = tiny ? slope * exp(fmin(600, cell->logs[i] - log_pi))
                             : scale * c->decision[first + cell->vertex[i]];
    cell->at[i] += part;
    a->decision[first + cell->vertex[i]] += cell->weight[i] * part;
  }
}

static void specification_slopes(adjoint *a, size_t row, double slope)
{
  const control *c = a->c;
  adjoint_cell *cell = &a->cell;
  for (size_t i = 0; i < cell->count; i++) {
    cell->at[i] += slope * c->specification[row + cell->vertex[i]];
    a->specification[row + cell->vertex[i]] += cell->weight[i] * slope;
  }
}

static void table_point(adjoint *a, const idm_policy_slope *point)
{
  const control *c = a->c;
  adjoint_cell *cell = &a->cell;
  const size_t row = control_row(c, point->variant, control_left(c, point->steps));
  bool *touched = a->touched + row / c->sizes.actions / IDM_LANES;
  cell->count = idm_lattice_cell(c->lattice, point->belief, cell->vertex, cell->weight, cell->step,
                                 cell->locate);
  for (size_t i = 0; i < cell->count; i++) {
    cell->at[i] = 0;
    touched[cell->vertex[i] / IDM_LANES] = true;
  }
  for (size_t u = 0; u < c->sizes.actions; u++) {
    if (point->log_decision_slope[u] != 0) decision_slopes(a, point, row, u);
    for (size_t m = 0; m < c->models; m++) {
      const size_t pair = u * c->models + m;
      if (point->specification_slope[pair] != 0)
        specification_slopes(a, row * c->models + pair * c->padded,
                             point->specification_slope[pair]);
    }
  }
  if (!point->opt_belief_slope) return;
  idm_lattice_slope(c->lattice, cell->count, cell->step, cell->at, cell->slope);
  for (size_t s = 0; s < c->sizes.states; s++) point->opt_belief_slope[s] += cell->slope[s];
}

void idm_adjoint_point(void *content, const idm_policy_slope *point)
{
  adjoint *a = content;
  idm_control_select(a->c, point->variant);
  if (a->decision)
    table_point(a, point);
  else
    idm_adjoint_look(a, point);
}

/* --- the fixed point ------------------------------------------------------------------------ */

static double size_of(const double *x, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += fabs(x[i]);
  return sum;
}

/* lambda = (I - gamma P')^-1 asked, with P in control->mix: Krylov, and should that stall the
 * recursion lambda = asked + gamma P' lambda, which contracts. `residual` is scratch. */
static bool solve(const control *c, const double *asked, double *lambda, double *residual)
{
  enum { products = 2000, recursions = 200000 };
  const double tolerance = 1e-9;
  const double enough = 1e-7 * size_of(asked, c->padded);
  double *work = c->vector + CONTROL_VECTORS * c->padded;
  const double left = idm_gmres(
      c->padded, c->preconditioner ? idm_control_transposed_preconditioned : idm_control_transposed,
      c, asked, lambda, tolerance, c->basis, products, work, NULL);
  if (c->preconditioner) {
    idm_control_apply_transposed(c, lambda, residual);
    memcpy(lambda, residual, c->padded * sizeof *lambda);
  }
  if (left <= tolerance) return true;
  for (int i = 0; i < recursions; i++) {
    idm_control_transposed(c, lambda, residual);
    for (size_t j = 0; j < c->padded; j++) residual[j] = asked[j] - residual[j];
    if (size_of(residual, c->padded) <= enough) return true;
    for (size_t j = 0; j < c->padded; j++) lambda[j] += residual[j];
  }
  return false;
}

/* The layer with `left` steps left; its tables are made here where the control keeps none. With
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
    layer.opt_decision_slope = a->decision + row;
    layer.opt_specification_slope = a->specification + row * c->models;
    layer.touched = a->touched + row / c->sizes.actions / IDM_LANES;
  } else {
    layer.quality = out.quality = a->own_quality;
    layer.decision = out.decision = a->own_decision;
    layer.specification = out.specification = a->own_specification;
  }
  if (mix || out.quality) idm_control_backup(c, layer.v, false, &out);
  return layer;
}

/* Whether anything was asked of the tables of a layer. */
static bool any_touched(const adjoint *a, size_t variant, int left)
{
  const control *c = a->c;
  if (!a->touched) return false;
  const bool *touched = a->touched + control_row(c, variant, left) / c->sizes.actions / IDM_LANES;
  for (size_t i = 0; i < c->successors->slices; i++)
    if (touched[i]) return true;
  return false;
}

static bool finish_stationary(adjoint *a, size_t variant)
{
  control *c = a->c;
  double *asked = a->value + (control_layer(c, variant, 1) - c->value);
  double *lambda = c->vector;
  const bool tables = any_touched(a, variant, 1);
  if (!tables && !(size_of(asked, c->padded) > 0)) return true;
  adjoint_layer layer = layer_of(a, variant, 1, true);
  if (tables) idm_adjoint_direct(a, &layer, asked);
  idm_control_fold(c);
  if (!solve(c, asked, lambda, c->vector + c->padded)) return false;
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
    if (!lambda && !any_touched(a, variant, left)) continue;
    adjoint_layer layer = layer_of(a, variant, left, false);
    layer.opt_lambda = lambda;
    /* Nothing follows the last layer: its values are 0 whatever theta is. */
    idm_adjoint_sweep(a, &layer, left > 1 ? own - c->padded : NULL);
  }
}

/* --- handing back --------------------------------------------------------------------------- */

static void add(idm_theta *slope, idm_block_id id, const double *from, size_t count)
{
  for (size_t i = 0; i < count; i++) slope->block[id].value[i] += from[i];
}

/* Alpha, and where it is in units of the range R of a variant's utilities those too: 1/alpha counts
 * as 1/(alpha R) there. R moves with the largest and the smallest of them; tied ones share. */
static void hand_back_alpha(const adjoint *a, size_t variant, idm_theta *slope)
{
  const control *c = a->c;
  const size_t pairs = c->sizes.actions * c->sizes.states;
  const double unit = c->unit[variant];
  const double *utility = c->utility + variant * pairs;
  double *to = slope->block[IDM_UTILITY].value + variant * pairs;
  const double asked = a->sums.inverse_alpha[variant] +
                       (c->own_temperature ? 0 : a->sums.inverse_temperature[variant]);
  slope->block[IDM_ALPHA].value[0] += asked / unit;
  if (c->agent.alpha_unit != IDM_ALPHA_RANGE) return;
  const double by_range = -asked * adjoint_inverse(c->alpha[variant]) / unit;
  size_t most = 0, least = 0;
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < pairs; i++) {
    low = fmin(low, utility[i]);
    high = fmax(high, utility[i]);
  }
  for (size_t i = 0; i < pairs; i++) {
    most += utility[i] == high;
    least += utility[i] == low;
  }
  for (size_t i = 0; i < pairs && high > low; i++) {
    if (utility[i] == high) to[i] += by_range / (double)most;
    if (utility[i] == low) to[i] -= by_range / (double)least;
  }
}

static void hand_back(const adjoint *a, idm_theta *slope)
{
  const control *c = a->c;
  const adjoint_sums *sums = &a->sums;
  add(slope, IDM_UTILITY, sums->utility, c->variants * c->sizes.actions * c->sizes.states);
  add(slope, IDM_ACTION_PRIOR, sums->action_prior, c->sizes.actions);
  add(slope, IDM_MODEL_PRIOR, sums->model_prior, c->models);
  if (c->learns) {
    add(slope, IDM_TRANSITION, sums->transition, control_transitions(c));
    add(slope, IDM_EMISSION, sums->emission, control_emissions(c));
    add(slope, IDM_PRIOR_WEIGHT, &sums->prior_weight, 1);
    add(slope, IDM_EVIDENCE_WEIGHT, &sums->evidence_weight, 1);
  }
  add(slope, IDM_BELIEF_UTILITY, sums->worth, WORTH_TERMS * c->sizes.actions);
  if (c->primes) add(slope, IDM_BELIEF_PRIOR, sums->belief_prior, c->sizes.states);
  slope->block[IDM_CERTAINTY].value[1] += sums->award;
  add(slope, IDM_DISCOUNT, &sums->discount, 1);
  add(slope, IDM_ETA, &sums->eta, 1);
  add(slope, IDM_BETA, &sums->inverse_beta, 1);
  for (size_t v = 0; v < c->variants; v++) {
    hand_back_alpha(a, v, slope);
    if (c->own_temperature) add(slope, IDM_TEMPERATURE, &sums->inverse_temperature[v], 1);
  }
}

idm_status idm_adjoint_finish(void *content, idm_theta *slope, idm_error *opt_error)
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
  hand_back(a, slope);
  return IDM_OK;
}
