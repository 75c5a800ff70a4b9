/* The planner `bounded-rational`, and the agents that it becomes with some blocks clamped. */
#include <math.h>

#include "plan/control/adjoint.h"
#include "plan/control/control.h"
#include "plan/control/evaluate.h"
#include "plan/control/forward.h"

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

/* The same without a derivative: the worst models change with the numbers, step by step. */
static const idm_belief_ops kinked = {.scratch = idm_control_scratch,
                                      .policy = idm_control_policy,
                                      .log_policy = idm_control_log_policy,
                                      .value = idm_control_value,
                                      .quality = idm_control_quality};

static const idm_lattice_ops lattice = {.points = idm_control_points,
                                        .forward = idm_control_forward,
                                        .keep = idm_control_keep,
                                        .bytes = idm_control_bytes};

static const idm_block_id reads[] = {
    IDM_TEMPERATURE,  IDM_UTILITY,    IDM_CERTAINTY,       IDM_BELIEF_UTILITY,
    IDM_DISCOUNT,     IDM_TRANSITION, IDM_EMISSION,        IDM_ALPHA,
    IDM_BETA,         IDM_ETA,        IDM_ACTION_PRIOR,    IDM_MODEL_PRIOR,
    IDM_BELIEF_PRIOR, IDM_DELAY_RATE, IDM_SENSOR_CAPACITY, IDM_BLOCK_COUNT};

/* Words of the clamps. */
#define HOLD(id, x)                                                                                \
  {                                                                                                \
    (id), IDM_CLAMP_VALUE, (x)                                                                     \
  }
#define ASK(id, sign)                                                                              \
  {                                                                                                \
    (id), IDM_CLAMP_##sign, 0                                                                      \
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
  .gives = IDM_GIVES_STATIONARY | IDM_GIVES_HORIZON | IDM_GIVES_MOVES | IDM_GIVES_ENDLESS,         \
  .create = (its_create), .plan = idm_control_plan, .destroy = idm_control_destroy,                \
  .belief = &belief, .lattice = &lattice
/* The decision policy is the planned one: no softmax laid over it. */
#define BOUNDED(...) CONTROL(0, idm_control_create, IDLE(IDM_TEMPERATURE), __VA_ARGS__)
#define INFORMED(...)                                                                              \
  CONTROL(IDM_NEEDS_ENVIRONMENT, idm_control_create, IDLE(IDM_TEMPERATURE), __VA_ARGS__)

const idm_planner idm_bounded_rational = {
    .name = "bounded-rational",
    .summary = "bounded rational control: flexibility 1/alpha, optimism 1/beta, adaptivity 1/eta",
    .row = "Bounded rational control",
    BOUNDED(),
};

const idm_planner idm_rational = {
    .name = "rational",
    .summary = "its limit alpha=0, beta=inf, eta=0: the ordinary POMDP planner",
    .row = "Model-based (MDP, POMDP) planner",
    BOUNDED(HOLD(IDM_ALPHA, 0), HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 0), IDLE(IDM_BELIEF_PRIOR)),
};

static const idm_block_info risk_level = {
    .name = "risk_level",
    .summary = "share of the models, the worst, that is planned for; 1 is neutral",
    .support = IDM_FRACTION,
    .standard = 1,
    .scales = IDM_SCALES_FRACTION,
    .scale = IDM_SCALE_IDENTITY,
    .of_agent = true};

static const idm_clamp expects[] = {HOLD(IDM_BETA, INFINITY), IDLE(IDM_TEMPERATURE)};

const idm_planner idm_cvar_robust = {
    .name = "cvar-robust",
    .summary = "plans for the mean of the worst share of its models, at every step",
    .row = "(beyond the table)",
    .reads = reads,
    .own = &risk_level,
    .owns = 1,
    .keys = keys,
    .clamp = expects,
    .clamps = sizeof expects / sizeof expects[0],
    .needs = IDM_NEEDS_MODEL,
    .gives = IDM_GIVES_STATIONARY | IDM_GIVES_HORIZON | IDM_GIVES_MOVES | IDM_GIVES_ENDLESS,
    .create = idm_control_create_robust,
    .plan = idm_control_plan,
    .destroy = idm_control_destroy,
    .belief = &kinked,
    .lattice = &lattice,
};

/* --- the paper's table "Boundedly Rational Agents" ------------------------------------------ */

const idm_planner idm_uniformly_random = {
    .name = "uniformly-random",
    .summary = "every action alike: 1/alpha = 0, uniform action prior",
    .row = "Uniformly Random Agent",
    .agent = true,
    INFORMED(HOLD(IDM_ALPHA, INFINITY), HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 0), UNIFORM_ACTIONS,
             KNOWS_ENVIRONMENT, IDLE(IDM_BELIEF_PRIOR)),
};

const idm_planner idm_deterministic_optimal = {
    .name = "deterministic-optimal",
    .summary = "the best action, knowing the environment",
    .row = "Deterministic Optimal Agent",
    .agent = true,
    INFORMED(HOLD(IDM_ALPHA, 0), HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 0), UNIFORM_ACTIONS,
             KNOWS_ENVIRONMENT, IDLE(IDM_BELIEF_PRIOR)),
};

const idm_planner idm_boltzmann_exploratory = {
    .name = "boltzmann-exploratory",
    .summary = "a softmax laid over the optimal Q, with its own temperature",
    .row = "Boltzmann-Exploratory Agent",
    .agent = true,
    CONTROL(IDM_NEEDS_ENVIRONMENT, idm_control_create_exploratory, HOLD(IDM_ALPHA, 0),
            HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 0), UNIFORM_ACTIONS, KNOWS_ENVIRONMENT,
            IDLE(IDM_BELIEF_PRIOR)),
};

const idm_planner idm_minimum_information = {
    .name = "minimum-information",
    .summary = "1/alpha = 1 and 1/eta = 1, any action and belief prior",
    .row = "Minimum-Information Agent",
    .agent = true,
    INFORMED(HOLD(IDM_ALPHA, 1), HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 1), KNOWS_ENVIRONMENT),
};

const idm_planner idm_maximum_entropy = {
    .name = "maximum-entropy",
    .summary = "any alpha > 0, uniform action prior",
    .row = "Maximum Entropy Agent",
    .agent = true,
    INFORMED(ASK(IDM_ALPHA, POSITIVE), HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 0), UNIFORM_ACTIONS,
             KNOWS_ENVIRONMENT, IDLE(IDM_BELIEF_PRIOR)),
};

const idm_planner idm_kl_regularised = {
    .name = "kl-regularised",
    .summary = "any alpha > 0, any action prior",
    .row = "KL-Regularized Agent",
    .agent = true,
    INFORMED(ASK(IDM_ALPHA, POSITIVE), HOLD(IDM_BETA, INFINITY), HOLD(IDM_ETA, 0),
             KNOWS_ENVIRONMENT, IDLE(IDM_BELIEF_PRIOR)),
};

const idm_planner idm_kl_penalised_robust = {
    .name = "kl-penalised-robust",
    .summary = "the best action against pessimistic models: beta < 0",
    .row = "KL-Penalized Robust Agent",
    .agent = true,
    BOUNDED(ASK(IDM_BETA, NEGATIVE), HOLD(IDM_ALPHA, 0), HOLD(IDM_ETA, 0), UNIFORM_ACTIONS,
            IDLE(IDM_BELIEF_PRIOR)),
};
