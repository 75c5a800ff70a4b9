/* The planner `bounded-rational`, and the agents that it becomes with some blocks clamped. */
#include <math.h>

#include "plan/control/adjoint.h"
#include "plan/control/control.h"
#include "plan/control/evaluate.h"
#include "plan/control/forward.h"

static const idm_adjoint_ops adjoint_operations = {.create = idm_adjoint_create,
                                                   .destroy = idm_adjoint_destroy,
                                                   .begin = idm_adjoint_begin,
                                                   .point = idm_adjoint_point,
                                                   .finish = idm_adjoint_finish};

static const idm_belief_ops belief = {.scratch = idm_control_scratch,
                                      .policy = idm_control_policy,
                                      .log_policy = idm_control_log_policy,
                                      .value = idm_control_value,
                                      .adjoint = &adjoint_operations};

static const idm_lattice_ops lattice = {
    .points = idm_control_points, .forward = idm_control_forward, .keep = idm_control_keep};

static const idm_block_id all_of_it[] = {IDM_UTILITY,     IDM_CERTAINTY,    IDM_DISCOUNT,
                                         IDM_TRANSITION,  IDM_EMISSION,     IDM_ALPHA,
                                         IDM_BETA,        IDM_ETA,          IDM_ACTION_PRIOR,
                                         IDM_MODEL_PRIOR, IDM_BELIEF_PRIOR, IDM_BLOCK_COUNT};
/* The same with a temperature in place of the flexibility. */
static const idm_block_id exploratory[] = {
    IDM_UTILITY,     IDM_CERTAINTY,    IDM_DISCOUNT,   IDM_TRANSITION,  IDM_EMISSION,
    IDM_ALPHA,       IDM_BETA,         IDM_ETA,        IDM_TEMPERATURE, IDM_ACTION_PRIOR,
    IDM_MODEL_PRIOR, IDM_BELIEF_PRIOR, IDM_BLOCK_COUNT};

/* What all of them share. */
#define CONTROL                                                                                    \
  .gives = IDM_GIVES_STATIONARY | IDM_GIVES_HORIZON, .plan = idm_control_plan,                     \
  .destroy = idm_control_destroy, .belief = &belief, .lattice = &lattice

/* Words of the clamps. */
#define HOLD(id, x)                                                                                \
  {                                                                                                \
    (id), IDM_CLAMP_VALUE, (x)                                                                     \
  }
#define IDLE(id)                                                                                   \
  {                                                                                                \
    (id), IDM_CLAMP_IDLE, 0                                                                        \
  }
#define UNIFORM_ACTIONS                                                                            \
  {                                                                                                \
    IDM_ACTION_PRIOR, IDM_CLAMP_UNIFORM, 0                                                         \
  }
#define KNOWS_ENVIRONMENT                                                                          \
  {IDM_TRANSITION, IDM_CLAMP_ENVIRONMENT, 0}, {IDM_EMISSION, IDM_CLAMP_ENVIRONMENT, 0},            \
      IDLE(IDM_MODEL_PRIOR)
#define CLAMPED(...)                                                                               \
  .clamp = (const idm_clamp[]){__VA_ARGS__},                                                       \
  .clamps = sizeof((const idm_clamp[]){__VA_ARGS__}) / sizeof(idm_clamp)

const idm_planner idm_bounded_rational = {
    .name = "bounded-rational",
    .summary = "bounded rational control: flexibility 1/alpha, optimism 1/beta, adaptivity 1/eta",
    .row = "Bounded rational control",
    .reads = all_of_it,
    .needs = IDM_NEEDS_MODEL,
    .create = idm_control_create,
    CONTROL,
};

const idm_planner idm_rational = {
    .name = "rational",
    .summary = "its limit alpha=0, beta=inf, eta=0: the ordinary POMDP planner",
    .row = "Model-based (MDP, POMDP) planner",
    .reads = all_of_it,
    CLAMPED(HOLD(IDM_ALPHA, 0), HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 0), IDLE(IDM_BELIEF_PRIOR)),
    .needs = IDM_NEEDS_MODEL,
    .create = idm_control_create,
    CONTROL,
};

const idm_planner idm_uniformly_random = {
    .name = "uniformly-random",
    .summary = "every action alike: 1/alpha = 0, uniform action prior",
    .row = "Uniformly random agent",
    .agent = true,
    .reads = all_of_it,
    CLAMPED(HOLD(IDM_ALPHA, INFINITY), HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 0), UNIFORM_ACTIONS,
            KNOWS_ENVIRONMENT, IDLE(IDM_BELIEF_PRIOR)),
    .needs = IDM_NEEDS_MODEL | IDM_NEEDS_ENVIRONMENT,
    .create = idm_control_create,
    CONTROL,
};

const idm_planner idm_deterministic_optimal = {
    .name = "deterministic-optimal",
    .summary = "the best action, knowing the environment",
    .row = "Deterministic optimal agent",
    .agent = true,
    .reads = all_of_it,
    CLAMPED(HOLD(IDM_ALPHA, 0), HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 0), UNIFORM_ACTIONS,
            KNOWS_ENVIRONMENT, IDLE(IDM_BELIEF_PRIOR)),
    .needs = IDM_NEEDS_MODEL | IDM_NEEDS_ENVIRONMENT,
    .create = idm_control_create,
    CONTROL,
};

const idm_planner idm_boltzmann_exploratory = {
    .name = "boltzmann-exploratory",
    .summary = "a softmax laid over the optimal Q, with its own temperature",
    .row = "Boltzmann-exploratory agent",
    .agent = true,
    .reads = exploratory,
    CLAMPED(HOLD(IDM_ALPHA, 0), HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 0), UNIFORM_ACTIONS,
            KNOWS_ENVIRONMENT, IDLE(IDM_BELIEF_PRIOR)),
    .needs = IDM_NEEDS_MODEL | IDM_NEEDS_ENVIRONMENT,
    .create = idm_control_create_exploratory,
    CONTROL,
};

const idm_planner idm_minimum_information = {
    .name = "minimum-information",
    .summary = "1/alpha = 1 and 1/eta = 1, any action and belief prior",
    .row = "Minimum-information agent",
    .agent = true,
    .reads = all_of_it,
    CLAMPED(HOLD(IDM_ALPHA, 1), HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 1), KNOWS_ENVIRONMENT),
    .needs = IDM_NEEDS_MODEL | IDM_NEEDS_ENVIRONMENT,
    .create = idm_control_create,
    CONTROL,
};

const idm_planner idm_maximum_entropy = {
    .name = "maximum-entropy",
    .summary = "any alpha > 0, uniform action prior",
    .row = "Maximum-entropy agent",
    .agent = true,
    .reads = all_of_it,
    CLAMPED({IDM_ALPHA, IDM_CLAMP_POSITIVE, 0}, HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 0),
            UNIFORM_ACTIONS, KNOWS_ENVIRONMENT, IDLE(IDM_BELIEF_PRIOR)),
    .needs = IDM_NEEDS_MODEL | IDM_NEEDS_ENVIRONMENT,
    .create = idm_control_create,
    CONTROL,
};

const idm_planner idm_kl_regularised = {
    .name = "kl-regularised",
    .summary = "any alpha > 0, any action prior",
    .row = "KL-regularized agent",
    .agent = true,
    .reads = all_of_it,
    CLAMPED({IDM_ALPHA, IDM_CLAMP_POSITIVE, 0}, HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 0),
            KNOWS_ENVIRONMENT, IDLE(IDM_BELIEF_PRIOR)),
    .needs = IDM_NEEDS_MODEL | IDM_NEEDS_ENVIRONMENT,
    .create = idm_control_create,
    CONTROL,
};

const idm_planner idm_kl_penalised_robust = {
    .name = "kl-penalised-robust",
    .summary = "the best action against pessimistic models: beta < 0",
    .row = "KL-penalized robust agent",
    .agent = true,
    .reads = all_of_it,
    CLAMPED({IDM_BETA, IDM_CLAMP_NEGATIVE, 0}, HOLD(IDM_ALPHA, 0), HOLD(IDM_ETA, 0),
            UNIFORM_ACTIONS, IDLE(IDM_BELIEF_PRIOR)),
    .needs = IDM_NEEDS_MODEL,
    .create = idm_control_create,
    CONTROL,
};
