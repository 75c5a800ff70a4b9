/* Reverse-mode derivative of one layer of values and tables.
 *
 * Contents: adjoint dynamics · adjoint sweep */
#include <math.h>

#include "base/soft.h"
#include "base/vector.h"
#include "belief/belief.h"
#include "plan/control/adjoint.h"
#include "plan/control/control.h"

/* === adjoint dynamics ======================================================================= */

/* Derivative of K with respect to the previous belief, the dynamics and the weights of the update,
 * at any belief.
 *
 * K = sum_x p(x) (gamma V(z') - eta (log p(x) - log prior(z'))). Within a cell of the lattice V is
 * linear in z'; z' and p are functions of z, tau and omega. Merged observations share z' and one
 * logarithm; each has its own p. */

/* One K, and the derivative with respect to it. */
typedef struct value_adjoint {
  idm_action_model action_model;
  const int *group; /* [x] */
  const double *v;
  const double *z;
  double derivative;
  idm_filter_gradient sink;
  const double *opt_slopes; /* [x][state], for three states: see idm_adjoint_dynamics */
  double *emitter;          /* [state] */
  double *posterior;        /* [state] */
  double *scratch;
} value_adjoint;

bool idm_adjoint_at_once(const control *c, size_t u, size_t m)
{
  return c->is_three_state[m * c->sizes.actions + u] && c->numbers.eta == 0 && !c->belief_prior;
}

size_t idm_adjoint_dynamics_scratch(const control *c)
{
  return 2 * c->sizes.states + idm_filter_backward_scratch(c->sizes.states);
}

/* Computes gamma V at the posterior into *ret_value, the log prior into *ret_log_prior, and the
 * derivatives of gamma V + eta log prior with respect to the posterior into cell->derivative. */
static void successor_gradient(adjoint *a, const value_adjoint *k, double *ret_value,
                               double *ret_log_prior)
{
  const control *c = a->c;
  const size_t states = c->sizes.states;
  const double half_cell = 0.5 / c->lattice->resolution;
  adjoint_cell *cell = &a->cell;
  cell->count = idm_lattice_cell(c->lattice, k->posterior, cell->vertex, cell->weight, cell->step,
                                 cell->locate);
  const idm_certainty_degree expected_certainty =
      idm_belief_certainty(c->numbers.certainty, states, k->posterior);
  double value = c->numbers.arrival * expected_certainty.share;
  for (size_t i = 0; i < cell->count; i++) {
    cell->at[i] = k->v[cell->vertex[i]];
    value += cell->weight[i] * cell->at[i];
  }
  idm_lattice_gradient(c->lattice, cell->count, cell->step, cell->at, cell->derivative);
  cell->derivative[expected_certainty.state] += c->numbers.arrival * expected_certainty.derivative;
  *ret_value = c->numbers.discount * value;
  *ret_log_prior = idm_belief_prior_log(states, c->belief_prior, c->prior_constant,
                                        c->lattice->resolution, k->posterior);
  for (size_t s = 0; s < states; s++) {
    cell->derivative[s] *= c->numbers.discount;
    if (c->belief_prior)
      cell->derivative[s] +=
          c->numbers.eta * (c->belief_prior[s] - 1) / (k->posterior[s] + half_cell);
  }
}

static double probability(const value_adjoint *k, size_t x)
{
  double p = 0;
  for (size_t s = 0; s < k->action_model.states; s++)
    p += k->emitter[s] * k->action_model.emission[s * k->action_model.observations + x];
  return p;
}

/* Backward pass of one group of observations. */
static void group_backward(adjoint *a, const value_adjoint *k, size_t leader)
{
  const control *c = a->c;
  const bool merge = c->agent.surprise == IDM_SURPRISE_BELIEF;
  double value, log_prior, total = 0;
  if (!idm_group_correct(&k->action_model, k->group, leader, k->emitter, k->posterior)) return;
  successor_gradient(a, k, &value, &log_prior);
  for (size_t x = leader; x < c->sizes.observations; x++)
    if (k->group[x] == (int)leader) total += probability(k, x);
  for (size_t x = leader; x < c->sizes.observations; x++) {
    const double p = k->group[x] == (int)leader ? probability(k, x) : 0;
    if (!(p > 0)) continue;
    const double seen = c->numbers.eta != 0
                            ? value - c->numbers.eta * (log(merge ? total : p) - log_prior + 1)
                            : value;
    idm_filter_backward(&k->action_model, k->z, x, a->cell.derivative, k->derivative * p,
                        k->derivative * seen, &k->sink, k->scratch);
  }
}

/* Derivatives with respect to the weights of the update, at Bayes' rule, given those of p V(z')
 * with respect to the joint, [state]: the posterior varies with the logarithms of emitter and
 * likelihood, less their means. */
static void weights_backward(const value_adjoint *k, size_t x, const double *log_emitter,
                             const double *log_emission, double p, const double *derivative)
{
  const size_t n = k->action_model.observations;
  double mean[3] = {0, 0, 0},
         sum[2] = {0, 0}; /* p times means of derivatives, log priors and log likelihoods */
  for (size_t s = 0; s < 3; s++) {
    const double joint = k->emitter[s] * k->action_model.emission[s * n + x];
    if (!(joint > 0)) continue;
    const double by_joint = joint * derivative[s];
    mean[0] += by_joint;
    mean[1] += joint * log_emitter[s];
    mean[2] += joint * log_emission[s * n + x];
    sum[0] += by_joint * log_emitter[s];
    sum[1] += by_joint * log_emission[s * n + x];
  }
  *k->sink.prior += sum[0] - mean[0] * mean[1] / p;
  *k->sink.evidence += sum[1] - mean[0] * mean[2] / p;
}

/* Backward pass of all observations at once, given the derivatives by their joints. */
static void triangle_backward(const control *c, const value_adjoint *k)
{
  const idm_action_model *w = &k->action_model;
  const size_t n = w->observations;
  const double *log_emission = c->log_emission + (w->emission - c->emission);
  double emitter_gradient[3] = {0, 0, 0}, log_emitter[3];
  idm_lane logs = {k->emitter[0], k->emitter[1], k->emitter[2]};
  idm_lane_log(&logs);
  for (size_t s = 0; s < 3; s++) log_emitter[s] = logs[s];
  for (size_t x = 0; x < n; x++) {
    const double *seen = w->emission + x;
    const double p =
        k->emitter[0] * seen[0] + k->emitter[1] * seen[n] + k->emitter[2] * seen[2 * n];
    if (!(p > 0)) continue;
    double derivative[3];
    for (size_t s = 0; s < 3; s++) {
      derivative[s] = k->derivative * c->numbers.discount * k->opt_slopes[3 * x + s];
      k->sink.emission[s * n + x] += derivative[s] * k->emitter[s];
      emitter_gradient[s] += derivative[s] * seen[s * n];
    }
    weights_backward(k, x, log_emitter, log_emission, p, derivative);
  }
  for (size_t s = 0; s < 3; s++)
    for (size_t t = 0; t < 3; t++) k->sink.transition[s * 3 + t] += k->z[s] * emitter_gradient[t];
}

/* Backward pass of K of one (action, model). */
static void backpropagate(adjoint *a, const double *v, const double *z, size_t u, size_t m,
                          double derivative, const double *opt_slopes, idm_filter_gradient sink)
{
  const control *c = a->c;
  const idm_sizes n = c->sizes;
  value_adjoint k = {.action_model = control_action_model(c, u, m),
                     .group = c->group + (m * n.actions + u) * n.observations,
                     .v = v,
                     .z = z,
                     .derivative = derivative,
                     .sink = sink,
                     .opt_slopes = opt_slopes,
                     .emitter = a->dynamics,
                     .posterior = a->dynamics + n.states,
                     .scratch = a->dynamics + 2 * n.states};
  idm_filter_emitter(&k.action_model, z, k.emitter);
  if (opt_slopes) {
    triangle_backward(c, &k);
    return;
  }
  for (size_t x = 0; x < n.observations; x++)
    if (k.group[x] == (int)x) group_backward(a, &k, x);
}

void idm_adjoint_dynamics(adjoint *a, const double *v, const double *z, size_t u, size_t m,
                          double derivative, const double *opt_slopes)
{
  const idm_sizes n = a->c->sizes;
  const size_t at = m * n.actions + u;
  const idm_filter_gradient sink = {.transition = a->sums.transition + at * n.states * n.states,
                                    .emission = a->sums.emission + at * n.states * n.observations,
                                    .prior = &a->sums.prior_weight,
                                    .evidence = &a->sums.evidence_weight};
  if (derivative != 0) backpropagate(a, v, z, u, m, derivative, opt_slopes, sink);
}

void idm_adjoint_belief(adjoint *a, const double *v, const double *z, size_t u, size_t m,
                        double *belief_gradient_k)
{
  memset(belief_gradient_k, 0, a->c->sizes.states * sizeof *belief_gradient_k);
  backpropagate(a, v, z, u, m, 1, NULL, (idm_filter_gradient){.belief = belief_gradient_k});
}

/* As idm_adjoint_dynamics, in an MDP, where the observation is the next state. */
static void idm_adjoint_corner(adjoint *a, const double *v, size_t state, size_t u, size_t m,
                               double derivative)
{
  const control *c = a->c;
  const size_t states = c->sizes.states;
  const size_t row = ((m * c->sizes.actions + u) * states + state) * states;
  if (derivative == 0) return;
  for (size_t next = 0; next < states; next++) {
    const double p = c->transition[row + next];
    double by = c->numbers.discount * v[next];
    if (!(p > 0)) continue;
    if (c->numbers.eta != 0)
      by -= c->numbers.eta * (log(p) + 1 - idm_state_prior_log(states, c->belief_prior, next));
    a->sums.transition[row + next] += derivative * by;
  }
}

/* Adds derivatives of eta p log prior over the next states of an observed state. */
static void state_prior_backward(adjoint *a, size_t state, size_t u, size_t m, double factor)
{
  const control *c = a->c;
  const size_t states = c->sizes.states;
  const idm_sparse_rows *moves = c->setting->moves;
  const size_t row = moves ? u * states + state : (m * c->sizes.actions + u) * states + state;
  const size_t entries = moves ? moves->first[row + 1] - moves->first[row] : states;
  for (size_t i = 0; i < entries; i++) {
    const size_t next = moves ? moves->next[moves->first[row] + i] : i;
    const double p =
        moves ? moves->probability[moves->first[row] + i] : c->transition[row * states + i];
    if (p > 0)
      idm_state_prior_gradient(states, c->belief_prior, next, factor * p, a->sums.belief_prior);
  }
}

void idm_adjoint_prior(adjoint *a, const double *z, size_t u, size_t m, double derivative)
{
  const control *c = a->c;
  const size_t states = c->sizes.states, observations = c->sizes.observations;
  const idm_action_model action_model = control_action_model(c, u, m);
  const int *group = c->group + (m * c->sizes.actions + u) * observations;
  double *emitter = a->dynamics, *posterior = emitter + states;
  if (derivative == 0 || c->numbers.eta == 0) return;
  idm_filter_emitter(&action_model, z, emitter);
  for (size_t leader = 0; leader < observations; leader++) {
    double total = 0;
    if (group[leader] != (int)leader ||
        !idm_group_correct(&action_model, group, leader, emitter, posterior))
      continue;
    for (size_t x = leader; x < observations; x++)
      for (size_t s = 0; group[x] == (int)leader && s < states; s++)
        total += emitter[s] * action_model.emission[s * observations + x];
    idm_belief_prior_gradient(states, c->belief_prior, c->lattice->resolution, posterior,
                              derivative * c->numbers.eta * total, a->sums.belief_prior);
  }
}

static void idm_adjoint_state_prior(adjoint *a, size_t state, size_t u, size_t m, double derivative)
{
  const double factor = derivative * a->c->numbers.eta;
  if (factor != 0) state_prior_backward(a, state, u, m, factor);
}

/* === adjoint sweep ========================================================================== */

/* Reverse-mode derivative of a layer of the lattice; costs about as much as one backup. */

/* One number per lane. */
typedef struct lanes {
  double at[IDM_LANES];
} lanes;

/* Scratch of a sweep, in adjoint->lanes. From `sums` on, the fields are sums over the slices. */
typedef struct sweep {
  lanes *q;              /* [action] */
  lanes *q_gradient;     /* [action] */
  lanes *pi;             /* [action] */
  lanes *action_weights; /* [action] */
  lanes *k;              /* [model] */
  lanes *k_gradient;     /* [model] */
  lanes *expected;       /* [model] */
  lanes *sigma;          /* [model] */
  lanes *sigma_gradient; /* [model]: with respect to the logits */
  lanes *model_weights;  /* [model] */
  lanes *sums;           /* first of the sums */
  lanes *discount;
  lanes *eta;
  lanes *inverse_alpha;
  lanes *inverse_beta;
  lanes *inverse_temperature;
  lanes *action_prior; /* [action] */
  lanes *model_prior;  /* [model] */
  lanes *award;
  lanes *belief_reward; /* [term][action] */
  lanes *utility;       /* [action][state] */
} sweep;

size_t idm_adjoint_lanes(const control *c)
{
  return ((5 + BELIEF_REWARD_TERMS) * c->sizes.actions + 7 * c->models + 6 +
          c->sizes.actions * c->sizes.states) *
         IDM_LANES;
}

static sweep sweep_of(const adjoint *a)
{
  const size_t actions = a->c->sizes.actions;
  const size_t models = a->c->models;
  sweep s;
  s.q = (lanes *)(void *)a->lanes;
  s.q_gradient = s.q + actions;
  s.pi = s.q_gradient + actions;
  s.action_weights = s.pi + actions;
  s.k = s.action_weights + actions;
  s.k_gradient = s.k + models;
  s.expected = s.k_gradient + models;
  s.sigma = s.expected + models;
  s.sigma_gradient = s.sigma + models;
  s.model_weights = s.sigma_gradient + models;
  s.sums = s.model_weights + models;
  s.discount = s.sums;
  s.eta = s.discount + 1;
  s.inverse_alpha = s.eta + 1;
  s.inverse_beta = s.inverse_alpha + 1;
  s.inverse_temperature = s.inverse_beta + 1;
  s.action_prior = s.inverse_temperature + 1;
  s.model_prior = s.action_prior + actions;
  s.award = s.model_prior + models;
  s.belief_reward = s.award + 1;
  s.utility = s.belief_reward + BELIEF_REWARD_TERMS * actions;
  return s;
}

IDM_INLINE void load(lanes *to, const double *from)
{
  memcpy(to->at, from, sizeof to->at);
}

/* sum += x y. */
IDM_INLINE void add_product(lanes *restrict sum, const lanes *restrict x, const lanes *restrict y)
{
  for (int l = 0; l < IDM_LANES; l++) sum->at[l] += x->at[l] * y->at[l];
}

/* sum += factor x. */
IDM_INLINE void add_scaled(lanes *restrict sum, double factor, const lanes *restrict x)
{
  for (int l = 0; l < IDM_LANES; l++) sum->at[l] += factor * x->at[l];
}

IDM_INLINE void clear(lanes *x)
{
  memset(x, 0, sizeof *x);
}

/* --- derivatives of the tables --------------------------------------------------------------- */

/* Maps derivatives with respect to log pi to derivatives with respect to the logits: g_u = R_u -
 * pi_u sum R. */
IDM_INLINE void slice_logits(const control *c, const adjoint_layer *layer, size_t at, lanes *g)
{
  lanes total = {{0}};
  for (size_t u = 0; u < c->sizes.actions; u++) {
    load(&g[u], layer->opt_decision_gradient + u * c->padded + at);
    for (int l = 0; l < IDM_LANES; l++) total.at[l] += g[u].at[l];
  }
  for (size_t u = 0; u < c->sizes.actions; u++) {
    const double *pi = layer->decision + u * c->padded + at;
    for (int l = 0; l < IDM_LANES; l++) g[u].at[l] -= pi[l] * total.at[l];
  }
}

/* The same for sigma of one action: h_m = sigma_m (s_m - sum sigma s). */
IDM_INLINE void slice_specification(const control *c, const adjoint_layer *layer, size_t at,
                                    size_t u, const lanes *sigma, lanes *h)
{
  lanes mean = {{0}};
  for (size_t m = 0; m < c->models; m++) {
    load(&h[m], layer->opt_specification_gradient + (u * c->models + m) * c->padded + at);
    add_product(&mean, &sigma[m], &h[m]);
  }
  for (size_t m = 0; m < c->models; m++)
    for (int l = 0; l < IDM_LANES; l++) h[m].at[l] = sigma[m].at[l] * (h[m].at[l] - mean.at[l]);
}

IDM_INLINE void load_sigma(const control *c, const adjoint_layer *layer, size_t at, size_t u,
                           lanes *sigma)
{
  for (size_t m = 0; m < c->models; m++)
    load(&sigma[m], layer->specification + (u * c->models + m) * c->padded + at);
}

/* Derivative with respect to K: Qbar sigma + h/beta. */
IDM_INLINE void slice_value_gradient(const control *c, const lanes *q_gradient, const sweep *s,
                                     bool direct)
{
  const double inverse = adjoint_inverse(c->numbers.beta);
  for (size_t m = 0; m < c->models; m++) {
    for (int l = 0; l < IDM_LANES; l++)
      s->k_gradient[m].at[l] = q_gradient->at[l] * s->sigma[m].at[l];
    if (direct) add_scaled(&s->k_gradient[m], inverse, &s->sigma_gradient[m]);
  }
}

/* to += gamma Kbar times the successor rows. */
IDM_INLINE void slice_scatter(const control *c, size_t slice, size_t u, const sweep *s, double *to)
{
  for (size_t m = 0; m < c->models; m++) {
    lanes scale;
    for (int l = 0; l < IDM_LANES; l++) scale.at[l] = c->numbers.discount * s->k_gradient[m].at[l];
    idm_control_scatter(c, u, m, slice, scale.at, to);
  }
}

IDM_KERNEL(, idm_adjoint_direct, (adjoint * a, const adjoint_layer *layer, double *to),
           (a, layer, to))
{
  const control *c = a->c;
  const sweep s = sweep_of(a);
  const double inverse = adjoint_inverse(c->numbers.temperature);
  for (size_t slice = 0; slice < c->successors->slices; slice++) {
    const size_t at = slice * IDM_LANES;
    if (!layer->has_gradient[slice]) continue;
    slice_logits(c, layer, at, s.q_gradient);
    for (size_t u = 0; u < c->sizes.actions; u++) {
      if (c->setting->terminal[u]) continue;
      for (int l = 0; l < IDM_LANES; l++) s.q_gradient[u].at[l] *= inverse;
      load_sigma(c, layer, at, u, s.sigma);
      slice_specification(c, layer, at, u, s.sigma, s.sigma_gradient);
      slice_value_gradient(c, &s.q_gradient[u], &s, true);
      slice_scatter(c, slice, u, &s, to);
    }
  }
}

/* --- complete sweep -------------------------------------------------------------------------- */

/* Derivatives with respect to Q from those of the decision policy: into q_gradient, and into the
 * sums of 1/T and pi~. */
IDM_INLINE void policy_gradients(const control *c, const adjoint_layer *layer, size_t at,
                                 const sweep *s)
{
  const double inverse = adjoint_inverse(c->numbers.temperature);
  slice_logits(c, layer, at, s->q_gradient);
  for (size_t u = 0; u < c->sizes.actions; u++) {
    if (adjoint_moves(c->numbers.temperature))
      add_product(s->inverse_temperature, &s->q_gradient[u], &s->q[u]);
    if (c->numbers.action_prior[u] > 0)
      add_scaled(&s->action_prior[u], 1 / c->numbers.action_prior[u], &s->q_gradient[u]);
    for (int l = 0; l < IDM_LANES; l++) s->q_gradient[u].at[l] *= inverse;
  }
}

/* Derivatives with respect to Q from V = soft_alpha Q, whose derivative is lambda. */
IDM_INLINE void value_gradients(const control *c, const double *lambda, const sweep *s)
{
  lanes value, inverse, weight;
  load(&weight, lambda);
  idm_soft_block(c->numbers.alpha, c->sizes.actions, c->numbers.action_prior, s->q->at, value.at,
                 s->pi->at);
  idm_soft_derivative_block(c->numbers.alpha, c->sizes.actions, c->numbers.action_prior, s->q->at,
                            value.at, s->pi->at, inverse.at, s->action_weights->at);
  add_product(s->inverse_alpha, &weight, &inverse);
  for (size_t u = 0; u < c->sizes.actions; u++) {
    add_product(&s->action_prior[u], &weight, &s->action_weights[u]);
    add_product(&s->q_gradient[u], &weight, &s->pi[u]);
  }
}

/* E V and K of one action's models over a slice; adds to the sums of gamma, eta and the award. */
IDM_INLINE void model_gradients(const control *c, const adjoint_layer *layer, size_t slice,
                                size_t u, const sweep *s)
{
  for (size_t m = 0; m < c->models; m++) {
    const idm_successor_block *block = &c->successors->block[u * c->models + m];
    lanes surprise, expected_certainty;
    if (block->rows == 1) {
      const double expected =
          idm_successor_row(block, 0, layer->v) + c->numbers.arrival * block->expected_certainty[0];
      for (int l = 0; l < IDM_LANES; l++) {
        s->expected[m].at[l] = expected;
        surprise.at[l] = block->surprise[0];
        expected_certainty.at[l] = block->expected_certainty[0];
      }
    } else {
      idm_successor_expect(block, slice, layer->v, s->expected[m].at);
      load(&surprise, block->surprise + slice * IDM_LANES);
      load(&expected_certainty, block->expected_certainty + slice * IDM_LANES);
      add_scaled(&s->expected[m], c->numbers.arrival, &expected_certainty);
    }
    add_product(s->discount, &s->k_gradient[m], &s->expected[m]);
    add_product(s->eta, &s->k_gradient[m], &surprise);
    add_product(s->award, &s->k_gradient[m], &expected_certainty);
    for (int l = 0; l < IDM_LANES; l++)
      s->k[m].at[l] = c->numbers.discount * s->expected[m].at[l] + c->numbers.eta * surprise.at[l];
  }
}

/* Adds to the sums of 1/beta and sigma~, given the derivatives with respect to Q and the logits of
 * sigma. */
IDM_INLINE void model_prior_gradients(const control *c, size_t at, size_t u, const sweep *s,
                                      bool direct)
{
  if (c->models == 1) return;
  const double *prior = c->numbers.model_prior;
  const double *reward = c->reward + u * c->padded + at;
  lanes future, inverse;
  for (int l = 0; l < IDM_LANES; l++) future.at[l] = s->q[u].at[l] - reward[l];
  idm_soft_derivative_block(c->numbers.beta, c->models, prior, s->k->at, future.at, s->sigma->at,
                            inverse.at, s->model_weights->at);
  add_product(s->inverse_beta, &s->q_gradient[u], &inverse);
  for (size_t m = 0; m < c->models; m++) {
    add_product(&s->model_prior[m], &s->q_gradient[u], &s->model_weights[m]);
    if (!direct) continue;
    if (prior[m] > 0) add_scaled(&s->model_prior[m], 1 / prior[m], &s->sigma_gradient[m]);
    for (int l = 0; adjoint_moves(c->numbers.beta) && l < IDM_LANES; l++)
      s->inverse_beta->at[l] += s->sigma_gradient[m].at[l] * (s->k[m].at[l] - future.at[l]);
  }
}

/* A terminal action has no recognition: its sigma is sigma~. */
static void terminal_gradients(const control *c, const adjoint_layer *layer, size_t at, size_t u,
                               const sweep *s)
{
  for (size_t m = 0; m < c->models; m++) {
    const double *derivative =
        layer->opt_specification_gradient + (u * c->models + m) * c->padded + at;
    for (int l = 0; l < IDM_LANES; l++) s->model_prior[m].at[l] += derivative[l];
  }
}

/* Derivatives with respect to the belief prior, given those with respect to K of one action's
 * models over a slice. */
static void belief_prior_gradients(adjoint *a, size_t slice, size_t u, const sweep *s)
{
  const control *c = a->c;
  const size_t first = slice * IDM_LANES;
  for (size_t i = first; i < first + IDM_LANES && i < c->lattice->points; i++)
    for (size_t m = 0; m < c->models; m++) {
      const double derivative = s->k_gradient[m].at[i - first];
      if (c->lattice->corners)
        idm_adjoint_state_prior(a, i, u, m, derivative);
      else
        idm_adjoint_prior(a, c->lattice->belief + i * c->sizes.states, u, m, derivative);
    }
}

/* --- three states ---------------------------------------------------------------------------- */

/* K of one (action, model) at eight points. Lanes of points beyond the lattice are 0. */
typedef struct triangle_slice {
  idm_action_model model;
  triangle_function function;
  idm_lane derivative; /* with respect to gamma V at the successors */
  idm_lane z[3], emitter[3], log_emitter[3];
  idm_lane emitter_gradient[3];
} triangle_slice;

static double sum_of(const idm_lane *x)
{
  double sum = 0;
  for (size_t l = 0; l < IDM_LANE_WIDTH; l++) sum += (*x)[l];
  return sum;
}

IDM_INLINE void triangle_slice_of(const adjoint *a, const adjoint_layer *layer, size_t at, size_t u,
                                  size_t m, const double *k_gradient, triangle_slice *t)
{
  const control *c = a->c;
  const idm_lane zero = {0};
  t->model = control_action_model(c, u, m);
  t->function = triangle_function_of(c, layer->v, c->numbers.arrival);
  memcpy(&t->derivative, k_gradient, sizeof t->derivative);
  t->derivative *= c->numbers.discount;
  for (size_t s = 0; s < 3; s++) memcpy(&t->z[s], a->belief + s * c->padded + at, sizeof t->z[s]);
  for (size_t s = 0; s < 3; s++) {
    const double *to = t->model.transition + s;
    t->emitter[s] = t->z[0] * to[0] + t->z[1] * to[3] + t->z[2] * to[6];
    t->log_emitter[s] = t->emitter[s];
    idm_lane_log(&t->log_emitter[s]);
    t->emitter_gradient[s] = zero;
  }
}

/* As weights_backward, given the joints and the derivatives with respect to them. */
IDM_INLINE void slice_weights(adjoint *a, const triangle_slice *t, size_t x, const idm_lane *p,
                              const idm_lane *joint, const idm_lane *derivative)
{
  const control *c = a->c;
  const size_t n = t->model.observations;
  const double *log_emission = c->log_emission + (t->model.emission - c->emission) + x;
  const idm_lane zero = {0};
  idm_lane mean = zero, prior = zero, evidence = zero, by_prior = zero, by_evidence = zero;
  for (size_t s = 0; s < 3; s++) {
    if (!(t->model.emission[s * n + x] > 0)) continue;
    const idm_lane by_joint = joint[s] * derivative[s];
    mean += by_joint;
    prior += joint[s] * t->log_emitter[s];
    evidence += joint[s] * log_emission[s * n];
    by_prior += by_joint * t->log_emitter[s];
    by_evidence += by_joint * log_emission[s * n];
  }
  by_prior -= mean * prior / *p;
  by_evidence -= mean * evidence / *p;
  a->sums.prior_weight += sum_of(&by_prior);
  a->sums.evidence_weight += sum_of(&by_evidence);
}

IDM_INLINE void slice_observation(adjoint *a, triangle_slice *t, size_t x, double *emission)
{
  const size_t n = t->model.observations;
  const idm_lane zero = {0}, unit = zero + 1;
  triangle_successors z;
  triangle_cells cells;
  idm_lane joint[3], derivative[3], value, slope[3];
  for (size_t s = 0; s < 3; s++) joint[s] = t->emitter[s] * t->model.emission[s * n + x];
  const idm_lane total = joint[0] + joint[1] + joint[2];
  const idm_lane_bits possible = (idm_lane_bits)(total > zero);
  z.p = IDM_LANE_SELECT(possible, total, unit);
  z.one = joint[1] / z.p;
  z.two = joint[2] / z.p;
  triangle_locate(t->function.resolution, &z.one, &z.two, &cells);
  triangle_evaluate(&t->function, &z, &cells, &value, slope);
  for (size_t s = 0; s < 3; s++) {
    derivative[s] = IDM_LANE_SELECT(possible, t->derivative * slope[s], zero);
    const idm_lane by_emission = derivative[s] * t->emitter[s];
    emission[s * n + x] += sum_of(&by_emission);
    t->emitter_gradient[s] += derivative[s] * t->model.emission[s * n + x];
  }
  slice_weights(a, t, x, &z.p, joint, derivative);
}

/* Backward pass of K of one (action, model) at eight points. */
IDM_INLINE void triangle_slice_backward(adjoint *a, const adjoint_layer *layer, size_t at, size_t u,
                                        size_t m, const double *k_gradient)
{
  const idm_sizes n = a->c->sizes;
  const size_t pair = m * n.actions + u;
  double *transition = a->sums.transition + pair * 9;
  double *emission = a->sums.emission + pair * 3 * n.observations;
  triangle_slice t;
  triangle_slice_of(a, layer, at, u, m, k_gradient, &t);
  for (size_t x = 0; x < n.observations; x++) {
    const double *seen = t.model.emission + x;
    if (seen[0] + seen[n.observations] + seen[2 * n.observations] > 0)
      slice_observation(a, &t, x, emission);
  }
  for (size_t s = 0; s < 3; s++)
    for (size_t i = 0; i < 3; i++) {
      const idm_lane product = t.z[s] * t.emitter_gradient[i];
      transition[3 * s + i] += sum_of(&product);
    }
}

/* The same over a slice. */
IDM_INLINE void slice_backward(adjoint *a, const adjoint_layer *layer, size_t first, size_t u,
                               size_t m, const lanes *k_gradient)
{
  for (size_t l = 0; l < IDM_LANES && first + l < a->c->lattice->points; l += IDM_LANE_WIDTH)
    triangle_slice_backward(a, layer, first + l, u, m, k_gradient->at + l);
}

/* --- dynamics -------------------------------------------------------------------------------- */

/* Derivatives with respect to the dynamics, given those with respect to K of one action's models
 * over a slice. */
IDM_INLINE void dynamics_gradients(adjoint *a, const adjoint_layer *layer, size_t slice, size_t u,
                                   const sweep *s)
{
  const control *c = a->c;
  const size_t first = slice * IDM_LANES;
  for (size_t m = 0; m < c->models; m++) {
    if (idm_adjoint_at_once(c, u, m)) {
      slice_backward(a, layer, first, u, m, &s->k_gradient[m]);
      continue;
    }
    for (size_t i = first; i < first + IDM_LANES && i < c->lattice->points; i++) {
      const double derivative = s->k_gradient[m].at[i - first];
      if (c->lattice->corners)
        idm_adjoint_corner(a, layer->v, i, u, m, derivative);
      else
        idm_adjoint_dynamics(a, layer->v, c->lattice->belief + i * c->sizes.states, u, m,
                             derivative, NULL);
    }
  }
}

static double total_of(const lanes *x)
{
  double sum = 0;
  for (int l = 0; l < IDM_LANES; l++) sum += x->at[l];
  return sum;
}

static void reduce(adjoint *a, const adjoint_layer *layer, const sweep *s)
{
  const control *c = a->c;
  const size_t variant = layer->variant;
  const size_t pairs = c->sizes.actions * c->sizes.states;
  a->sums.discount += total_of(s->discount);
  a->sums.eta += total_of(s->eta);
  a->sums.inverse_alpha[variant] += total_of(s->inverse_alpha);
  a->sums.inverse_beta += total_of(s->inverse_beta);
  a->sums.inverse_temperature[variant] += total_of(s->inverse_temperature);
  for (size_t u = 0; u < c->sizes.actions; u++)
    a->sums.action_prior[u] += total_of(&s->action_prior[u]);
  for (size_t m = 0; m < c->models; m++) a->sums.model_prior[m] += total_of(&s->model_prior[m]);
  a->sums.award += c->numbers.discount * layer->arrivals * total_of(s->award);
  const double share = idm_control_corner_share(c);
  for (size_t i = 0; i < BELIEF_REWARD_TERMS * c->sizes.actions; i++) {
    const double sum = total_of(&s->belief_reward[i]);
    a->sums.belief_reward[i] += sum;
    /* On a lattice of corners max z is 1: this is the sum of all derivatives with respect to Q,
     * which the award enters with factor `share`. */
    if (i / c->sizes.actions == BELIEF_REWARD_GUESS) a->sums.award += share * sum;
  }
  for (size_t i = 0; i < pairs; i++)
    a->sums.utility[variant * pairs + i] += total_of(&s->utility[i]);
}

/* Q is linear in the utilities; the coefficients are the belief. */
IDM_INLINE void utility_gradients(const adjoint *a, size_t at, size_t u, const sweep *s)
{
  const control *c = a->c;
  const size_t k = c->sizes.states;
  if (c->lattice->corners) {
    for (size_t l = 0; l < IDM_LANES && at + l < k; l++)
      s->utility[u * k + at + l].at[0] += s->q_gradient[u].at[l];
    return;
  }
  for (size_t state = 0; state < k; state++) {
    lanes z;
    load(&z, a->belief + state * c->padded + at);
    add_product(&s->utility[u * k + state], &z, &s->q_gradient[u]);
  }
}

/* Q is linear in the weights of the utility of beliefs. */
IDM_INLINE void belief_reward_gradients(const adjoint *a, size_t at, size_t u, const sweep *s)
{
  const control *c = a->c;
  for (size_t t = 0; t < BELIEF_REWARD_TERMS; t++) {
    lanes term;
    load(&term, a->term + t * c->padded + at);
    add_product(&s->belief_reward[t * c->sizes.actions + u], &term, &s->q_gradient[u]);
  }
}

IDM_INLINE void slice_sweep(adjoint *a, const adjoint_layer *layer, size_t slice, const sweep *s,
                            bool direct, double *opt_to)
{
  const control *c = a->c;
  const size_t at = slice * IDM_LANES;
  for (size_t u = 0; u < c->sizes.actions; u++) {
    load(&s->q[u], layer->quality + u * c->padded + at);
    clear(&s->q_gradient[u]);
  }
  if (direct) policy_gradients(c, layer, at, s);
  if (layer->opt_lambda) value_gradients(c, layer->opt_lambda + at, s);
  for (size_t u = 0; u < c->sizes.actions; u++) {
    utility_gradients(a, at, u, s);
    belief_reward_gradients(a, at, u, s);
    if (c->setting->terminal[u]) {
      if (direct) terminal_gradients(c, layer, at, u, s);
      continue;
    }
    load_sigma(c, layer, at, u, s->sigma);
    if (direct) slice_specification(c, layer, at, u, s->sigma, s->sigma_gradient);
    slice_value_gradient(c, &s->q_gradient[u], s, direct);
    model_gradients(c, layer, slice, u, s);
    model_prior_gradients(c, at, u, s, direct);
    if (c->belief_prior_free) belief_prior_gradients(a, slice, u, s);
    if (c->dynamics_free) dynamics_gradients(a, layer, slice, u, s);
    if (opt_to) slice_scatter(c, slice, u, s, opt_to);
  }
}

IDM_KERNEL(, idm_adjoint_sweep, (adjoint * a, const adjoint_layer *layer, double *opt_to),
           (a, layer, opt_to))
{
  const control *c = a->c;
  const sweep s = sweep_of(a);
  const size_t sums = (size_t)(s.utility - s.sums) + c->sizes.actions * c->sizes.states;
  memset(s.sums, 0, sums * sizeof *s.sums);
  for (size_t slice = 0; slice < c->successors->slices; slice++) {
    const bool direct = layer->opt_decision_gradient && layer->has_gradient[slice];
    if (direct || layer->opt_lambda) slice_sweep(a, layer, slice, &s, direct, opt_to);
  }
  reduce(a, layer, &s);
}
