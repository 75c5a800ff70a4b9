/* The planner `bounded-rational` and its special cases, and values and policies at any belief.
 *
 * Contents: evaluate · bounded rational */
#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "base/vector.h"
#include "plan/control/adjoint.h"
#include "plan/control/control.h"

/* === evaluate =============================================================================== */

/* Values and policies at any belief, from the values on the lattice. */

/* Scratch of an evaluation, in one array of numbers. */
typedef struct evaluation {
  double *q;         /* [action] */
  double *log_pi;    /* [action] */
  double *k;         /* [action][model] */
  double *emitter;   /* [state] */
  double *posterior; /* [state] */
  double *weight;    /* [state] */
  double *locate;    /* [2 state] */
  double *expected;  /* of the sensor */
  uint32_t *vertex;  /* [state] */
  double arrival;    /* award of a certain successor of the decision */
} evaluation;

size_t idm_control_scratch(const void *content)
{
  const control *c = content;
  const size_t k = c->sizes.states;
  return c->sizes.actions * (2 + c->models) + 6 * k + idm_sensor_scratch(c->sizes);
}

static evaluation evaluation_of(const control *c, int left, double *scratch)
{
  const size_t k = c->sizes.states;
  evaluation e;
  e.q = scratch;
  e.log_pi = e.q + c->sizes.actions;
  e.k = e.log_pi + c->sizes.actions;
  e.emitter = e.k + c->sizes.actions * c->models;
  e.posterior = e.emitter + k;
  e.weight = e.posterior + k;
  e.locate = e.weight + k;
  e.expected = e.locate + 2 * k;
  e.vertex = (uint32_t *)(void *)(e.expected + idm_sensor_scratch(c->sizes));
  e.arrival = idm_control_arrival(c, left);
  return e;
}

static bool uses_tables(const control *c)
{
  return c->quality != NULL;
}

/* sum_x p(x) V at the successors of z over three states, if no two observations lead to the same
 * belief: the loop of lookahead_model in lattice coordinates. */
IDM_KERNEL_RETURNS(static, double, triangle_expectation,
                   (const control *c, const idm_action_model *action_model, const double *v,
                    const double *emitter, double arrival),
                   (c, action_model, v, emitter, arrival))
{
  const triangle_function f = triangle_function_of(c, v, arrival);
  double future = 0;
  for (size_t x = 0; x < action_model->observations;) {
    triangle_successors z;
    triangle_cells cells;
    idm_lane value;
    triangle_collect(action_model, emitter, &x, &z);
    triangle_locate(f.resolution, &z.one, &z.two, &cells);
    triangle_evaluate(&f, &z, &cells, &value, NULL);
    for (size_t l = 0; l < z.count; l++) future += z.p[l] * value[l];
  }
  return future;
}

/* V at e->posterior, off the lattice, plus the award for certainty there. */
static double interpolate_value(const control *c, const double *v, const evaluation *e)
{
  const size_t count =
      idm_lattice_locate(c->lattice, e->posterior, e->vertex, e->weight, e->locate);
  double value =
      e->arrival * idm_belief_certainty(c->numbers.certainty, c->sizes.states, e->posterior).share;
  for (size_t i = 0; i < count; i++) value += e->weight[i] * v[e->vertex[i]];
  return value;
}

/* K(z,u,m) off the lattice: the expected V of the successors under (u, m), and the surprise. */
static double lookahead_model(const control *c, const double *v, const double *z, size_t u,
                              size_t m, const evaluation *e)
{
  const idm_sizes n = c->sizes;
  const idm_action_model action_model = control_action_model(c, u, m);
  const int *group = c->group + (m * n.actions + u) * n.observations;
  const bool merge = c->agent.surprise == IDM_SURPRISE_BELIEF;
  const bool surprises = c->numbers.eta != 0; /* else no logarithms are needed */
  idm_filter_emitter(&action_model, z, e->emitter);
  if (c->is_three_state[m * n.actions + u] && !surprises)
    return c->numbers.discount * triangle_expectation(c, &action_model, v, e->emitter, e->arrival);
  double future = 0;
  double surprise = 0;
  for (size_t x = 0; x < n.observations; x++) {
    if (group[x] != (int)x) continue;
    if (!idm_group_correct(&action_model, group, x, e->emitter, e->posterior)) continue;
    const double value = interpolate_value(c, v, e);
    const double log_prior =
        surprises ? idm_belief_prior_log(n.states, c->belief_prior, c->prior_constant,
                                         c->lattice->resolution, e->posterior)
                  : 0;
    double total = 0;
    for (size_t y = x; y < n.observations; y++) {
      if (group[y] != (int)x) continue;
      double p = 0;
      for (size_t s = 0; s < n.states; s++)
        p += e->emitter[s] * action_model.emission[s * n.observations + y];
      total += p;
      if (surprises && !merge && p > 0) surprise -= p * (log(p) - log_prior);
    }
    if (surprises && merge) surprise -= total * (log(total) - log_prior);
    future += total * value;
  }
  return c->numbers.discount * future + c->numbers.eta * surprise;
}

static double entropy_term(double p)
{
  return p > 0 ? -p * log(p) : 0;
}

/* Probability, at e->emitter, of the group of observations whose successor is the predicted belief;
 * 0 if there is none. */
static double uninformative_probability(const control *c, size_t u, size_t m, const evaluation *e)
{
  const idm_sizes n = c->sizes;
  const idm_action_model action_model = control_action_model(c, u, m);
  const int leader = c->uninformative[m * n.actions + u];
  const int *group = c->group + (m * n.actions + u) * n.observations;
  double p = 0;
  for (size_t x = 0; leader >= 0 && x < n.observations; x++)
    for (size_t s = 0; group[x] == leader && s < n.states; s++)
      p += e->emitter[s] * action_model.emission[s * n.observations + x];
  return p;
}

/* K(z,u,m) with a limited sensor that passes the observation with probability a; `seen` is K if it
 * passes. The surprise is that of the observation or of no observation, by the chain rule of
 * entropies. */
static double lookahead_unseen(const control *c, const double *v, const double *z, size_t u,
                               size_t m, double a, double seen, const evaluation *e)
{
  const size_t k = c->sizes.states;
  idm_filter_predict(k, control_action_model(c, u, m).transition, z, e->posterior);
  const double expected = a * seen + (1 - a) * c->numbers.discount * interpolate_value(c, v, e);
  if (c->numbers.eta == 0) return expected;
  const double log_prior = idm_belief_prior_log(k, c->belief_prior, c->prior_constant,
                                                c->lattice->resolution, e->posterior);
  const bool merge = c->agent.surprise == IDM_SURPRISE_BELIEF;
  const double uninformative = merge ? a * uninformative_probability(c, u, m, e) : 0;
  const double surprise =
      entropy_term(a) - entropy_term(uninformative) + entropy_term(uninformative + 1 - a);
  return expected + c->numbers.eta * (surprise + (1 - a) * log_prior);
}

/* One step of lookahead: Q and K at z from the values that follow. */
static void lookahead(const control *c, size_t variant, int left, const double *z,
                      const evaluation *e)
{
  const double *v = control_follows(c, variant, left);
  for (size_t u = 0; u < c->sizes.actions; u++) {
    e->q[u] = idm_control_reward(c, variant, z, u);
    if (c->setting->terminal[u]) continue;
    double *k = e->k + u * c->models;
    const double pass_probability = idm_sensor_passes(&c->sensor, z, u, e->expected);
    for (size_t m = 0; m < c->models; m++) {
      k[m] = lookahead_model(c, v, z, u, m, e);
      if (pass_probability < 1) k[m] = lookahead_unseen(c, v, z, u, m, pass_probability, k[m], e);
    }
    e->q[u] += idm_control_specify(c, k, NULL);
  }
}

static void policy_by_lookahead(const control *c, size_t variant, int left, const double *z,
                                double *decision, double *opt_specification, const evaluation *e)
{
  const size_t actions = c->sizes.actions;
  lookahead(c, variant, left, z, e);
  idm_soft(control_temperature(c, variant), actions, c->numbers.action_prior, e->q, decision);
  for (size_t u = 0; opt_specification && u < actions; u++) {
    double *sigma = opt_specification + u * c->models;
    if (c->setting->terminal[u])
      memcpy(sigma, c->numbers.model_prior, c->models * sizeof *sigma);
    else
      idm_control_specify(c, e->k + u * c->models, sigma);
  }
}

/* out[r] = interpolation of table[r], for `rows` rows. */
IDM_INLINE void interpolate(const control *c, const double *table, size_t rows, size_t count,
                            const evaluation *e, double *out)
{
  if (count == 2) { /* two states: the common case, unrolled */
    const double *first = table + e->vertex[0];
    const double *second = table + e->vertex[1];
    const double w = e->weight[0];
    const double v = e->weight[1];
    for (size_t r = 0; r < rows; r++, first += c->padded, second += c->padded)
      out[r] = w * *first + v * *second;
    return;
  }
  for (size_t r = 0; r < rows; r++, table += c->padded) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += e->weight[i] * table[e->vertex[i]];
    out[r] = sum;
  }
}

/* pi and sigma by linear interpolation between the vertices of z's cell, as in the paper. */
static void policy_by_tables(const control *c, size_t variant, int left, const double *z,
                             double *decision, double *opt_specification, const evaluation *e)
{
  const size_t actions = c->sizes.actions;
  const size_t row = control_row(c, variant, left);
  const size_t count = idm_lattice_locate(c->lattice, z, e->vertex, e->weight, e->locate);
  interpolate(c, c->decision + row, actions, count, e, decision);
  if (opt_specification)
    interpolate(c, c->specification + row * c->models, actions * c->models, count, e,
                opt_specification);
}

void idm_control_policy(const void *content, size_t variant, int steps, const double *z,
                        double *decision, double *opt_specification, double *scratch)
{
  const control *c = content;
  const int left = control_left(c, steps);
  const evaluation e = evaluation_of(c, left, scratch);
  if (uses_tables(c))
    policy_by_tables(c, variant, left, z, decision, opt_specification, &e);
  else
    policy_by_lookahead(c, variant, left, z, decision, opt_specification, &e);
}

/* log of the interpolated pi, computed from Q at the vertices. */
static void log_by_tables(const control *c, size_t variant, int left, const double *z,
                          double *log_decision, const evaluation *e)
{
  const size_t actions = c->sizes.actions;
  const double *quality = c->quality + control_row(c, variant, left);
  const size_t count = idm_lattice_locate(c->lattice, z, e->vertex, e->weight, e->locate);
  for (size_t u = 0; u < actions; u++) log_decision[u] = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    for (size_t u = 0; u < actions; u++) e->q[u] = quality[u * c->padded + e->vertex[i]];
    idm_soft_logs(control_temperature(c, variant), actions, c->numbers.action_prior, e->q,
                  e->log_pi);
    for (size_t u = 0; u < actions; u++)
      log_decision[u] = idm_log_add_exp(log_decision[u], log(e->weight[i]) + e->log_pi[u]);
  }
}

void idm_control_log_policy(const void *content, size_t variant, int steps, const double *z,
                            double *log_decision, double *scratch)
{
  const control *c = content;
  const int left = control_left(c, steps);
  const evaluation e = evaluation_of(c, left, scratch);
  if (uses_tables(c)) {
    log_by_tables(c, variant, left, z, log_decision, &e);
    return;
  }
  lookahead(c, variant, left, z, &e);
  idm_soft_logs(control_temperature(c, variant), c->sizes.actions, c->numbers.action_prior, e.q,
                log_decision);
}

double idm_control_value(const void *content, size_t variant, int steps, const double *z,
                         double *scratch)
{
  const control *c = content;
  const int left = control_left(c, steps);
  const evaluation e = evaluation_of(c, left, scratch);
  if (!uses_tables(c)) {
    lookahead(c, variant, left, z, &e);
    return idm_control_award(c, z) +
           idm_soft(c->alpha[variant], c->sizes.actions, c->numbers.action_prior, e.q, NULL);
  }
  const double *v = control_layer(c, variant, left);
  const size_t count = idm_lattice_locate(c->lattice, z, e.vertex, e.weight, e.locate);
  double value = idm_control_award(c, z);
  for (size_t i = 0; i < count; i++) value += e.weight[i] * v[e.vertex[i]];
  return value;
}

void idm_control_quality(const void *content, size_t variant, int steps, const double *z,
                         double *quality, double *scratch)
{
  const control *c = content;
  const int left = control_left(c, steps);
  const evaluation e = evaluation_of(c, left, scratch);
  const size_t actions = c->sizes.actions;
  if (uses_tables(c)) {
    const size_t count = idm_lattice_locate(c->lattice, z, e.vertex, e.weight, e.locate);
    interpolate(c, c->quality + control_row(c, variant, left), actions, count, &e, quality);
  } else {
    lookahead(c, variant, left, z, &e);
    memcpy(quality, e.q, actions * sizeof *quality);
  }
  const double award = idm_control_award(c, z);
  for (size_t u = 0; u < actions; u++) quality[u] += award;
}

/* === bounded rational ======================================================================= */

/* The planner `bounded-rational`, and the agents that are special cases of it by clamps. */

static const idm_adjoint_ops adjoint_operations = {.dynamics = true,
                                                   .create = idm_adjoint_create,
                                                   .destroy = idm_adjoint_destroy,
                                                   .begin = idm_adjoint_begin,
                                                   .point = idm_adjoint_point,
                                                   .finish = idm_adjoint_finish};

static const idm_belief_ops belief = {.scratch = idm_control_scratch,
                                      .policy = idm_control_policy,
                                      .log_policy = idm_control_log_policy,
                                      .value = idm_control_value,
                                      .quality = idm_control_quality,
                                      .adjoint = &adjoint_operations};

/* Operations without a derivative: the set of worst models changes discontinuously with theta. */
static const idm_belief_ops nondifferentiable = {.scratch = idm_control_scratch,
                                                 .policy = idm_control_policy,
                                                 .log_policy = idm_control_log_policy,
                                                 .value = idm_control_value,
                                                 .quality = idm_control_quality};

static const idm_lattice_ops lattice = {.points = idm_control_points,
                                        .forward = idm_control_forward,
                                        .store = idm_control_store,
                                        .bytes = idm_control_bytes};

static const idm_block_id reads[] = {
    IDM_TEMPERATURE,  IDM_UTILITY,    IDM_CERTAINTY,       IDM_BELIEF_UTILITY,
    IDM_DISCOUNT,     IDM_TRANSITION, IDM_EMISSION,        IDM_ALPHA,
    IDM_BETA,         IDM_ETA,        IDM_ACTION_PRIOR,    IDM_MODEL_PRIOR,
    IDM_BELIEF_PRIOR, IDM_DELAY_RATE, IDM_SENSOR_CAPACITY, IDM_BLOCK_COUNT};

/* Abbreviations of clamps. */
#define FIX_VALUE(id, x)                                                                           \
  {                                                                                                \
    (id), IDM_CLAMP_VALUE, (x)                                                                     \
  }
#define REQUIRE_SIGN(id, sign)                                                                     \
  {                                                                                                \
    (id), IDM_CLAMP_##sign, 0                                                                      \
  }
#define IRRELEVANT(id)                                                                             \
  {                                                                                                \
    (id), IDM_CLAMP_IRRELEVANT, 0                                                                  \
  }
#define UNIFORM_ACTIONS                                                                            \
  {                                                                                                \
    IDM_ACTION_PRIOR, IDM_CLAMP_UNIFORM, 0                                                         \
  }
#define KNOWS_ENVIRONMENT                                                                          \
  {IDM_TRANSITION, IDM_CLAMP_ENVIRONMENT, 0}, {IDM_EMISSION, IDM_CLAMP_ENVIRONMENT, 0},            \
  {                                                                                                \
    IDM_MODEL_PRIOR, IDM_CLAMP_UNIFORM, 0                                                          \
  }

static const char *const keys[] = {"resolution",
                                   "evaluate",
                                   "surprise",
                                   "recognition",
                                   "alpha_unit",
                                   "tolerance",
                                   "decision_capacity",
                                   "specification_capacity",
                                   "recognition_capacity",
                                   "discounting",
                                   NULL};

/* Bounded rational control with clamps. */
#define CONTROL(its_needs, its_create, ...)                                                        \
  .reads = reads, .keys = keys, .clamp = (const idm_clamp[]){__VA_ARGS__},                         \
  .clamps = sizeof((const idm_clamp[]){__VA_ARGS__}) / sizeof(idm_clamp),                          \
  .needs = IDM_NEEDS_MODEL | (its_needs),                                                          \
  .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_HORIZON | IDM_SUPPORTS_SPARSE |               \
              IDM_SUPPORTS_UNDISCOUNTED,                                                           \
  .create = (its_create), .plan = idm_control_plan, .destroy = idm_control_destroy,                \
  .belief = &belief, .lattice = &lattice
/* The decision policy is the planned one, without a separate softmax. */
#define BOUNDED(...) CONTROL(0, idm_control_create, IRRELEVANT(IDM_TEMPERATURE), __VA_ARGS__)
#define KNOWN_ENVIRONMENT(...)                                                                     \
  CONTROL(IDM_NEEDS_ENVIRONMENT, idm_control_create, IRRELEVANT(IDM_TEMPERATURE), __VA_ARGS__)

const idm_planner idm_bounded_rational = {
    .name = "bounded-rational",
    .summary = "bounded rational control: flexibility 1/alpha, optimism 1/beta, adaptivity 1/eta",
    .row = "Bounded rational control",
    BOUNDED(),
};

const idm_planner idm_rational = {
    .name = "rational",
    .summary = "the limit alpha=0, beta=inf, eta=0: the ordinary POMDP planner",
    .row = "Model-based (MDP, POMDP) planner",
    BOUNDED(FIX_VALUE(IDM_ALPHA, 0), FIX_VALUE(IDM_BETA, INFINITY), FIX_VALUE(IDM_ETA, 0),
            IRRELEVANT(IDM_BELIEF_PRIOR)),
};

static const idm_block_info risk_level = {
    .name = "risk_level",
    .summary = "share of the worst models over which the CVaR is taken; 1 is risk-neutral",
    .support = IDM_FRACTION,
    .default_number = 1,
    .scales = IDM_SCALES_FRACTION,
    .scale = IDM_SCALE_IDENTITY,
    .of_agent = true};

static const idm_clamp cvar_clamps[] = {FIX_VALUE(IDM_BETA, INFINITY), IRRELEVANT(IDM_TEMPERATURE)};

const idm_planner idm_cvar_robust = {
    .name = "cvar-robust",
    .summary =
        "maximises the CVaR over its models: the mean over the worst share of them, at every step",
    .row = "(beyond the table)",
    .reads = reads,
    .own = &risk_level,
    .own_count = 1,
    .keys = keys,
    .clamp = cvar_clamps,
    .clamps = sizeof cvar_clamps / sizeof cvar_clamps[0],
    .needs = IDM_NEEDS_MODEL,
    .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_HORIZON | IDM_SUPPORTS_SPARSE |
                IDM_SUPPORTS_UNDISCOUNTED,
    .create = idm_control_create_robust,
    .plan = idm_control_plan,
    .destroy = idm_control_destroy,
    .belief = &nondifferentiable,
    .lattice = &lattice,
};

/* --- the paper's table "Boundedly Rational Agents" ------------------------------------------ */

const idm_planner idm_uniformly_random = {
    .name = "uniformly-random",
    .summary = "all actions with the same probability: 1/alpha = 0, uniform action prior",
    .row = "Uniformly Random Agent",
    .agent = true,
    KNOWN_ENVIRONMENT(FIX_VALUE(IDM_ALPHA, INFINITY), FIX_VALUE(IDM_BETA, INFINITY),
                      FIX_VALUE(IDM_ETA, 0), UNIFORM_ACTIONS, KNOWS_ENVIRONMENT,
                      IRRELEVANT(IDM_BELIEF_PRIOR)),
};

const idm_planner idm_deterministic_optimal = {
    .name = "deterministic-optimal",
    .summary = "the optimal action under the environment's dynamics",
    .row = "Deterministic Optimal Agent",
    .agent = true,
    KNOWN_ENVIRONMENT(FIX_VALUE(IDM_ALPHA, 0), FIX_VALUE(IDM_BETA, INFINITY), FIX_VALUE(IDM_ETA, 0),
                      UNIFORM_ACTIONS, KNOWS_ENVIRONMENT, IRRELEVANT(IDM_BELIEF_PRIOR)),
};

const idm_planner idm_boltzmann_exploratory = {
    .name = "boltzmann-exploratory",
    .summary = "a softmax of the optimal Q, with its own temperature",
    .row = "Boltzmann-Exploratory Agent",
    .agent = true,
    CONTROL(IDM_NEEDS_ENVIRONMENT, idm_control_create_exploratory, FIX_VALUE(IDM_ALPHA, 0),
            FIX_VALUE(IDM_BETA, INFINITY), FIX_VALUE(IDM_ETA, 0), UNIFORM_ACTIONS,
            KNOWS_ENVIRONMENT, IRRELEVANT(IDM_BELIEF_PRIOR)),
};

const idm_planner idm_minimum_information = {
    .name = "minimum-information",
    .summary = "1/alpha = 1 and 1/eta = 1, any action and belief prior",
    .row = "Minimum-Information Agent",
    .agent = true,
    KNOWN_ENVIRONMENT(FIX_VALUE(IDM_ALPHA, 1), FIX_VALUE(IDM_BETA, INFINITY), FIX_VALUE(IDM_ETA, 1),
                      KNOWS_ENVIRONMENT),
};

const idm_planner idm_maximum_entropy = {
    .name = "maximum-entropy",
    .summary = "any alpha > 0, uniform action prior",
    .row = "Maximum Entropy Agent",
    .agent = true,
    KNOWN_ENVIRONMENT(REQUIRE_SIGN(IDM_ALPHA, POSITIVE), FIX_VALUE(IDM_BETA, INFINITY),
                      FIX_VALUE(IDM_ETA, 0), UNIFORM_ACTIONS, KNOWS_ENVIRONMENT,
                      IRRELEVANT(IDM_BELIEF_PRIOR)),
};

const idm_planner idm_kl_regularised = {
    .name = "kl-regularised",
    .summary = "any alpha > 0, any action prior",
    .row = "KL-Regularized Agent",
    .agent = true,
    KNOWN_ENVIRONMENT(REQUIRE_SIGN(IDM_ALPHA, POSITIVE), FIX_VALUE(IDM_BETA, INFINITY),
                      FIX_VALUE(IDM_ETA, 0), KNOWS_ENVIRONMENT, IRRELEVANT(IDM_BELIEF_PRIOR)),
};

const idm_planner idm_kl_penalised_robust = {
    .name = "kl-penalised-robust",
    .summary = "the best action against pessimistic models: beta < 0",
    .row = "KL-Penalized Robust Agent",
    .agent = true,
    BOUNDED(REQUIRE_SIGN(IDM_BETA, NEGATIVE), FIX_VALUE(IDM_ALPHA, 0), FIX_VALUE(IDM_ETA, 0),
            UNIFORM_ACTIONS, IRRELEVANT(IDM_BELIEF_PRIOR)),
};
