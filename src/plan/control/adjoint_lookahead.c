/* Reverse-mode derivative of one step of lookahead, at a belief off the lattice. K(z,u,m) is
 * differentiated as it is computed: p(x) V(z') is linear in the joint p(s',x) within a cell of the
 * lattice, so that its derivative is the slope of the cell. The same holds for the award for
 * certainty, apart from its jumps. If the update is not Bayes' rule, adjoint_sweep.c computes the
 * derivative. */
#include "plan/control/adjoint.h"

#include <math.h>

#include "base/soft.h"
#include "base/vector.h"
#include "plan/choice.h"
#include "plan/control/control.h"

/* Arguments for one (action, model). */
typedef struct action_model {
  idm_action_model model;
  const int *group; /* [x] */
  size_t at;        /* index in [action][model] */
} action_model;

static action_model action_model_of(const control *c, size_t u, size_t m)
{
  return (action_model){.model = control_action_model(c, u, m),
                        .group = c->group + (m * c->sizes.actions + u) * c->sizes.observations,
                        .at = u * c->models + m};
}

/* Adds factor times the derivative with respect to the emitter, given `derivative`, [s'], that with
 * respect to the joint p(s',x). The observations of a group share z', so that its term is a sum of
 * joints. */
static void add_emitter_gradient(const adjoint *a, const action_model *w, double factor,
                                 const double *derivative)
{
  for (size_t s = 0; s < w->model.states; s++)
    a->lookahead.emitter_gradient[s] +=
        factor * a->lookahead.group_emission[s] * idm_filter_by_emitter(&w->model, derivative, s);
}

/* --- one group of observations -------------------------------------------------------------- */

/* Value of the successor: entries of V, and gamma d(p V)/d emitter. */
static void successor_value(adjoint *a, const double *v, const action_model *w, double total)
{
  const control *c = a->c;
  const adjoint_lookahead *lookahead = &a->lookahead;
  const idm_sizes n = c->sizes;
  adjoint_cell *cell = &a->cell;
  cell->count = idm_lattice_cell(c->lattice, lookahead->posterior, cell->vertex, cell->weight,
                                 cell->step, cell->locate);
  const idm_certainty_degree expected_certainty =
      idm_belief_certainty(c->numbers.certainty, n.states, lookahead->posterior);
  double value = c->numbers.arrival * expected_certainty.share;
  lookahead->expected_certainty[w->at] += total * expected_certainty.share;
  size_t *entries = &lookahead->entries[w->at];
  const size_t first = w->at * n.observations * n.states;
  for (size_t i = 0; i < cell->count; i++) {
    cell->at[i] = v[cell->vertex[i]];
    value += cell->weight[i] * cell->at[i];
    if (!(cell->weight[i] > 0)) continue;
    lookahead->column[first + *entries] = cell->vertex[i];
    lookahead->value[first + *entries] = total * cell->weight[i];
    ++*entries;
  }
  lookahead->future[w->at] += total * value;
  idm_lattice_gradient(c->lattice, cell->count, cell->step, cell->at, cell->derivative);
  cell->derivative[expected_certainty.state] += c->numbers.arrival * expected_certainty.derivative;
  for (size_t s = 0; s < n.states; s++) value -= cell->derivative[s] * lookahead->posterior[s];
  for (size_t s = 0; s < n.states; s++) cell->derivative[s] += value;
  add_emitter_gradient(a, w, c->numbers.discount, cell->derivative);
}

/* -p (log p - log prior) for the probability p of observation y, or of its whole group if merged;
 * adds eta times its derivative to emitter_gradient. */
static double surprise_of(const adjoint *a, const action_model *w, double p, double log_prior,
                          size_t y, bool merged)
{
  const idm_sizes n = a->c->sizes;
  if (!(p > 0)) return 0;
  const double off = log(p) - log_prior;
  const double factor = -a->c->numbers.eta * (off + 1);
  for (size_t s = 0; s < n.states; s++)
    a->lookahead.emitter_gradient[s] +=
        factor *
        (merged ? a->lookahead.group_emission[s] : w->model.emission[s * n.observations + y]);
  return -p * off;
}

/* Derivative of the Dirichlet prior at the posterior: eta p(group) d log prior / d emitter. */
static void prior_gradient(adjoint *a, const action_model *w)
{
  const control *c = a->c;
  const idm_sizes n = c->sizes;
  if (!c->belief_prior || c->numbers.eta == 0) return;
  const double half_cell = 0.5 / c->lattice->resolution;
  double *derivative = a->cell.derivative;
  const double *q = a->lookahead.posterior;
  double mean = 0;
  for (size_t s = 0; s < n.states; s++) {
    derivative[s] = (c->belief_prior[s] - 1) / (q[s] + half_cell);
    mean += q[s] * derivative[s];
  }
  for (size_t s = 0; s < n.states; s++) derivative[s] -= mean;
  add_emitter_gradient(a, w, c->numbers.eta, derivative);
}

static void group_forward(adjoint *a, const double *v, const action_model *w, size_t x)
{
  const control *c = a->c;
  const adjoint_lookahead *lookahead = &a->lookahead;
  const idm_sizes n = c->sizes;
  const bool merge = c->agent.surprise == IDM_SURPRISE_BELIEF;
  if (!idm_group_correct(&w->model, w->group, x, lookahead->emitter, lookahead->posterior)) return;
  const double log_prior = idm_belief_prior_log(n.states, c->belief_prior, c->prior_constant,
                                                c->lattice->resolution, lookahead->posterior);
  double total = 0;
  memset(lookahead->group_emission, 0, n.states * sizeof *lookahead->group_emission);
  for (size_t y = x; y < n.observations; y++) {
    if (w->group[y] != (int)x) continue;
    double probability_of_one = 0;
    for (size_t s = 0; s < n.states; s++) {
      lookahead->group_emission[s] += w->model.emission[s * n.observations + y];
      probability_of_one += lookahead->emitter[s] * w->model.emission[s * n.observations + y];
    }
    total += probability_of_one;
    if (!merge)
      lookahead->surprise[w->at] += surprise_of(a, w, probability_of_one, log_prior, y, false);
  }
  if (merge) lookahead->surprise[w->at] += surprise_of(a, w, total, log_prior, x, true);
  prior_gradient(a, w);
  successor_value(a, v, w, total);
}

/* Expected certainty of successors. */
IDM_INLINE double expected_certainty(const triangle_function *f, const triangle_successors *z)
{
  idm_lane share, derivative, top;
  idm_lane_bits state[3];
  double sum = 0;
  triangle_certainty(f, z, &share, &derivative, &top, state);
  for (size_t l = 0; l < z->count; l++) sum += z->p[l] * share[l];
  return sum;
}

/* Stores the slopes of successor l, and its points as entries from `at` on. */
IDM_INLINE void store_successor(const adjoint *a, const action_model *w,
                                const triangle_successors *z, const triangle_cells *cells,
                                const idm_lane *slope, size_t l, size_t at)
{
  const adjoint_lookahead *lookahead = &a->lookahead;
  const size_t n = w->model.observations, x = z->observation[l];
  const idm_lane p = z->p;
  double *to = lookahead->slope + (w->at * n + x) * 3;
  for (size_t s = 0; s < 3; s++) {
    to[s] = slope[s][l];
    lookahead->emitter_gradient[s] += a->c->numbers.discount * to[s] * w->model.emission[s * n + x];
  }
  lookahead->column[at] = (uint32_t)cells->at[l];
  lookahead->column[at + 1] = (uint32_t)cells->middle[l];
  lookahead->column[at + 2] = (uint32_t)cells->last[l];
  lookahead->value[at] = p[l] * (1 - cells->high[l]);
  lookahead->value[at + 1] = p[l] * (cells->high[l] - cells->low[l]);
  lookahead->value[at + 2] = p[l] * cells->low[l];
}

/* All groups at once; requires idm_adjoint_at_once. */
IDM_KERNEL(static, triangle_forward, (adjoint * a, const double *v, const action_model *w),
           (a, v, w))
{
  const adjoint_lookahead *lookahead = &a->lookahead;
  const triangle_function f = triangle_function_of(a->c, v, a->c->numbers.arrival);
  const size_t first = w->at * w->model.observations * 3;
  size_t at = first;
  for (size_t x = 0; x < w->model.observations;) {
    triangle_successors z;
    triangle_cells cells;
    idm_lane value, slope[3];
    triangle_collect(&w->model, lookahead->emitter, &x, &z);
    triangle_locate(f.resolution, &z.one, &z.two, &cells);
    triangle_evaluate(&f, &z, &cells, &value, slope);
    idm_lane logs = z.p; /* used by the derivative with respect to eta alone */
    idm_lane_log(&logs);
    for (size_t l = 0; l < z.count; l++, at += 3) {
      lookahead->future[w->at] += z.p[l] * value[l];
      lookahead->surprise[w->at] -= z.p[l] * logs[l];
      store_successor(a, w, &z, &cells, slope, l, at);
    }
    if (a->c->award_free) lookahead->expected_certainty[w->at] += expected_certainty(&f, &z);
  }
  lookahead->entries[w->at] = at - first;
}

/* --- one belief ----------------------------------------------------------------------------- */

/* K of one (action, model), with its derivatives. */
static void model_forward(adjoint *a, const double *v, const double *z, size_t u, size_t m)
{
  const control *c = a->c;
  const adjoint_lookahead *lookahead = &a->lookahead;
  const idm_sizes n = c->sizes;
  const action_model w = action_model_of(c, u, m);
  idm_filter_emitter(&w.model, z, lookahead->emitter);
  lookahead->future[w.at] = lookahead->surprise[w.at] = lookahead->expected_certainty[w.at] = 0;
  lookahead->entries[w.at] = 0;
  memset(lookahead->emitter_gradient, 0, n.states * sizeof *lookahead->emitter_gradient);
  const bool at_once = idm_adjoint_at_once(c, u, m);
  if (at_once) triangle_forward(a, v, &w);
  for (size_t x = 0; x < n.observations && !at_once; x++)
    if (w.group[x] == (int)x) group_forward(a, v, &w, x);
  lookahead->k[w.at] =
      c->numbers.discount * lookahead->future[w.at] + c->numbers.eta * lookahead->surprise[w.at];
  double *belief_gradient_k = lookahead->belief_gradient_k + w.at * n.states;
  if (w.model.update.distorted) {
    idm_adjoint_belief(a, v, z, u, m, belief_gradient_k);
    return;
  }
  for (size_t s = 0; s < n.states; s++)
    belief_gradient_k[s] = idm_filter_by_state(&w.model, lookahead->emitter_gradient, s);
}

/* Backward pass of one K: derivatives with respect to gamma, eta, the award, the values that
 * follow, z, the belief prior and the dynamics. */
static void value_backward(adjoint *a, const idm_policy_adjoint *point, double *to, size_t at,
                           double derivative)
{
  const control *c = a->c;
  const adjoint_lookahead *lookahead = &a->lookahead;
  const size_t width = c->sizes.observations * c->sizes.states;
  if (derivative == 0) return;
  a->sums.discount += derivative * lookahead->future[at];
  a->sums.eta += derivative * lookahead->surprise[at];
  const double factor = c->numbers.discount * derivative;
  a->sums.award += factor * lookahead->expected_certainty[at] *
                   idm_control_arrivals(c, control_left(c, point->steps));
  for (size_t e = 0; e < lookahead->entries[at]; e++)
    to[lookahead->column[at * width + e]] += factor * lookahead->value[at * width + e];
  for (size_t s = 0; point->opt_belief_gradient && s < c->sizes.states; s++)
    point->opt_belief_gradient[s] +=
        derivative * lookahead->belief_gradient_k[at * c->sizes.states + s];
  if (c->belief_prior_free)
    idm_adjoint_prior(a, point->belief, at / c->models, at % c->models, derivative);
  if (c->dynamics_free)
    idm_adjoint_dynamics(
        a, c->value + (to - a->value), point->belief, at / c->models, at % c->models, derivative,
        idm_adjoint_at_once(c, at / c->models, at % c->models) ? lookahead->slope + at * width
                                                               : NULL);
}

/* Backward pass of one action's models, given the derivatives with respect to its Q and sigma. */
static void models_backward(adjoint *a, const idm_policy_adjoint *point, double *to, size_t u,
                            double q_gradient, double future)
{
  const control *c = a->c;
  const adjoint_lookahead *lookahead = &a->lookahead;
  const double *prior = c->numbers.model_prior;
  const double *k = lookahead->k + u * c->models;
  const double *value_adjoint = point->specification_gradient + u * c->models;
  const double inverse_beta = adjoint_inverse(c->numbers.beta);
  double inverse;
  idm_soft(c->numbers.beta, c->models, prior, k, lookahead->sigma);
  idm_soft_derivative(c->numbers.beta, c->models, prior, k, future, lookahead->sigma, &inverse,
                      lookahead->weights);
  a->sums.inverse_beta += q_gradient * inverse;
  double mean = 0;
  for (size_t m = 0; m < c->models; m++) mean += lookahead->sigma[m] * value_adjoint[m];
  for (size_t m = 0; m < c->models; m++) {
    const double h = lookahead->sigma[m] * (value_adjoint[m] - mean);
    if (adjoint_moves(c->numbers.beta)) a->sums.inverse_beta += h * (k[m] - future);
    a->sums.model_prior[m] +=
        q_gradient * lookahead->weights[m] + (prior[m] > 0 ? h / prior[m] : 0);
    value_backward(a, point, to, u * c->models + m,
                   q_gradient * lookahead->sigma[m] + h * inverse_beta);
  }
}

/* Backward pass of the utility of beliefs: derivatives with respect to its weights and to z. */
static void belief_reward_backward(adjoint *a, const idm_policy_adjoint *point, size_t u,
                                   double q_gradient)
{
  const control *c = a->c;
  for (size_t t = 0; t < BELIEF_REWARD_TERMS; t++)
    a->sums.belief_reward[t * c->sizes.actions + u] += q_gradient * a->lookahead.term[t];
  if (c->has_belief_reward && point->opt_belief_gradient)
    idm_belief_reward_gradient(&c->numbers.belief_reward, u, point->belief, q_gradient,
                               point->opt_belief_gradient);
}

/* Backward pass of one action, given the derivative g with respect to its logit. */
static void action_backward(adjoint *a, const idm_policy_adjoint *point, double *to, size_t u,
                            double g)
{
  const control *c = a->c;
  const size_t k = c->sizes.states;
  const size_t row = (point->variant * c->sizes.actions + u) * k;
  const double q_gradient = g * adjoint_inverse(c->numbers.temperature);
  if (adjoint_moves(c->numbers.temperature))
    a->sums.inverse_temperature[point->variant] += g * a->lookahead.q[u];
  if (c->numbers.action_prior[u] > 0) a->sums.action_prior[u] += g / c->numbers.action_prior[u];
  for (size_t s = 0; s < k; s++) {
    a->sums.utility[row + s] += point->belief[s] * q_gradient;
    if (point->opt_belief_gradient)
      point->opt_belief_gradient[s] += c->utility[row + s] * q_gradient;
  }
  belief_reward_backward(a, point, u, q_gradient);
  if (c->setting->terminal[u]) {
    for (size_t m = 0; m < c->models; m++)
      a->sums.model_prior[m] += point->specification_gradient[u * c->models + m];
    return;
  }
  const double reward = idm_control_reward(c, point->variant, point->belief, u);
  models_backward(a, point, to, u, q_gradient, a->lookahead.q[u] - reward);
}

void idm_adjoint_lookahead(adjoint *a, const idm_policy_adjoint *point)
{
  control *c = a->c;
  const size_t actions = c->sizes.actions;
  const int left = control_left(c, point->steps);
  const int follows = c->setting->horizon > 0 ? left - 1 : 1;
  c->numbers.arrival = idm_control_arrival(c, left);
  const double *v = control_layer(c, point->variant, follows);
  double *to = a->value + (v - c->value);
  double total = 0;
  idm_belief_reward_terms(c->sizes.states, point->belief, a->lookahead.term);
  for (size_t u = 0; u < actions; u++) {
    total += point->log_decision_gradient[u];
    a->lookahead.q[u] = idm_control_reward(c, point->variant, point->belief, u);
    if (c->setting->terminal[u]) continue;
    for (size_t m = 0; m < c->models; m++) model_forward(a, v, point->belief, u, m);
    a->lookahead.q[u] += idm_soft(c->numbers.beta, c->models, c->numbers.model_prior,
                                  a->lookahead.k + u * c->models, NULL);
  }
  for (size_t u = 0; u < actions; u++)
    action_backward(a, point, to, u, point->log_decision_gradient[u] - total * point->decision[u]);
}
