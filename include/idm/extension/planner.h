/* Planners (F): (setting, parameter) -> behaviour; their tables of operations and registry. */
#ifndef IDM_EXTENSION_PLANNER_H
#define IDM_EXTENSION_PLANNER_H

#include "idm/extension/data.h"
#include "idm/extension/problem.h"
#include "idm/extension/random.h"
#include "idm/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reasons for the end of an iteration. None is an error; the bound reached is reported. */
#define IDM_STOP_LIST(X)                                                                           \
  X(IDM_STOP_BOUND, "bound", "the bound on the value is below the tolerance")                      \
  X(IDM_STOP_ROUNDING, "rounding", "the bound is at the rounding floor")                           \
  X(IDM_STOP_HORIZON, "horizon", "backward induction: exact up to rounding")                       \
  X(IDM_STOP_LIMIT, "limit", "the iteration limit was reached")                                    \
  X(IDM_STOP_SECONDS, "seconds", "the time limit was reached")                                     \
  X(IDM_STOP_INTERRUPT, "interrupt", "the callback requested a stop")                              \
  X(IDM_STOP_UNPLANNED, "unplanned", "nothing is planned")                                         \
  X(IDM_STOP_MEMORY, "memory", "the memory limit was reached")                                     \
  X(IDM_STOP_BUDGET, "budget", "the budget of samples is used up: nothing is certified")
typedef enum idm_stop {
#define IDM_STOP_ENUM(id, name, text) id,
  IDM_STOP_LIST(IDM_STOP_ENUM)
#undef IDM_STOP_ENUM
} idm_stop;

/* Iteration for the fixed point of the value function: Newton's method (soft policy iteration), or
 * one of two fixed-point iterations that serve as references. See docs/method/control.md, 8. */
typedef enum idm_solve_method {
  IDM_METHOD_NEWTON,
  IDM_METHOD_SHIFTED,
  IDM_METHOD_VALUE_ITERATION
} idm_solve_method;

/* Starting point of a plan: the current solution, zero, or (positive numbers) a combination of
 * stored solutions. */
enum { IDM_START_LAST = -1, IDM_START_COLD = 0 };

/* Progress callback of a search, called between trials and within long ones with the current bounds
 * on the value at the start belief. Return true to stop with the bounds reached. */
typedef bool (*idm_plan_monitor)(void *context, double lower, double upper);

/* Stopping rule of all iterative methods. */
typedef struct idm_solver {
  idm_solve_method method;
  double
      tolerance; /* absolute bound on |V - V*|; 0: the agent's tolerance, relative to max(|u|, |V|),
                    and at most 1e-7 of alpha or beta, since policies depend on V / alpha */
  long limit; /* maximum number of iterations (Newton steps or sweeps); the fallback from Newton has
                 its own limit */
  int slots;  /* start from the first `slots` stored solutions, or IDM_START_LAST, IDM_START_COLD */
  const double *weights; /* [slots]: weights of the stored solutions */
  bool precondition; /* keep the inverse of the derivative with a solution, and precondition plans
                        that start from it; efficient for many plans at similar parameters */
  /* For planners that search (`point-based`), whose `tolerance` is the gap between their bounds. */
  double seconds; /* time limit in seconds; 0: none */
  double bytes;   /* memory limit in bytes for beliefs and bounds; 0: none */
  idm_plan_monitor opt_monitor;
  void *monitor_context;
} idm_solver;

/* Diagnostics of a planner that learns by acting; NaN if undefined. Over variants: the worst. */
typedef struct idm_learning_report {
  long transitions;       /* number of transitions drawn from the environment or from the log */
  size_t log_transitions; /* number of transitions in the log that they were drawn from; 0: the
                             environment */
  double residual; /* mean over the visited pairs (state, action) of |u + gamma E V - Q|, where E is
                      the mean over the transitions drawn there */
  size_t unvisited; /* for planners that learn values of states: states that no transition started
                       from, which keep their initial values */
  double value;     /* mean return of evaluation episodes, without learning */
  double standard_error; /* of that mean */
  double derivative;     /* norm of the gradient of the return in the policy's logits */
} idm_learning_report;

/* Result of planning over all variants: the worst bound, the total work. */
typedef struct idm_plan_report {
  double bound; /* certified bound on |V - V*| on the lattice; of a search, upper minus lower bound
                   at the start belief. NaN: nothing is planned; inf: nothing is certified */
  long iterations; /* Newton steps, sweeps, or trials of a search */
  long sweeps;     /* applications of B* and its derivative, or backups of a search */
  idm_stop stop;
  idm_learning_report learning; /* if stop is IDM_STOP_BUDGET */
} idm_plan_report;

/* Transitions of a log, for planners that learn from them instead of an environment: `action` was
 * taken in `state`, and `next` followed. */
typedef struct idm_batch {
  size_t count;
  uint32_t *state;  /* [count] */
  uint32_t *action; /* [count] */
  uint32_t *next;   /* [count]: IDM_BATCH_END at the end of a trajectory */
  double *reward;   /* [count]: rewards that replace the utility; NULL: the utility */
  size_t omitted;   /* rows without state, action or next state: not transitions */
} idm_batch;
#define IDM_BATCH_END UINT32_MAX

/* --- tables of operations -------------------------------------------------------------------- */

/* Adjoint of the policy at one belief: derivatives of a scalar function with respect to the
 * policies there. */
typedef struct idm_policy_adjoint {
  size_t variant;
  int steps;
  const double *belief;                 /* z, [state] */
  const double *decision;               /* pi(u|z), [action], as computed by `policy` */
  const double *log_decision_gradient;  /* [action]: derivative with respect to log pi */
  const double *specification_gradient; /* [action][model]: with respect to sigma */
  double *opt_belief_gradient; /* [state]: the derivative with respect to z is added here, up to a
                                  constant common to all states. NULL: z is constant */
} idm_policy_adjoint;

/* Derivative of the policies in reverse mode, after planning. An adjoint borrows the content and
 * owns its scratch memory. Call begin, then point any number of times, then finish. All operations
 * are required. */
typedef struct idm_adjoint_ops {
  bool dynamics; /* supports derivatives with respect to the parameters of beliefs (the models'
                    dynamics, prior_weight and evidence_weight) if one of them is free; otherwise
                    finite differences are used in that case */
  idm_status (*create)(void *content, void **ret_adjoint, idm_error *opt_error);
  void (*destroy)(void *adjoint);
  void (*begin)(void *adjoint);
  void (*point)(void *adjoint, const idm_policy_adjoint *point);
  /* Add to `derivative` the derivatives with respect to theta; `reciprocal` blocks with respect to
   * the inverse. */
  idm_status (*finish)(void *adjoint, idm_theta *derivative, idm_error *opt_error);
} idm_adjoint_ops;

/* Operations of a planner whose policies are functions of a belief. The content is constant;
 * `scratch` is memory of the caller. Optional (may be NULL): value, quality, adjoint. */
typedef struct idm_belief_ops {
  size_t (*scratch)(const void *content); /* length of `scratch` for the other operations */
  /* At belief z [state] after `steps` steps: pi(u|z) [action], and sigma(m|z,u) [action][model] if
   * opt_specification is not NULL. */
  void (*policy)(const void *content, size_t variant, int steps, const double *z, double *decision,
                 double *opt_specification, double *scratch);
  /* log pi(u|z), [action]; accurate where pi itself underflows. */
  void (*log_policy)(const void *content, size_t variant, int steps, const double *z,
                     double *log_decision, double *scratch);
  double (*value)(const void *content, size_t variant, int steps, const double *z, double *scratch);
  /* Q(z,u), [action]: value of each action, including the rest of the plan. */
  void (*quality)(const void *content, size_t variant, int steps, const double *z, double *quality,
                  double *scratch);
  const idm_adjoint_ops *adjoint;
} idm_belief_ops;

/* Operations of a planner that solves a lattice of beliefs. All are required. */
typedef struct idm_lattice_ops {
  size_t (*points)(const void *content);
  idm_status (*forward)(void *content, size_t variant, idm_forward *forward, double *opt_occupancy,
                        idm_error *opt_error);
  /* Store the current solution in a slot, as a starting point of later plans (idm_solver.slots).
   * Slots must be filled in order. */
  idm_status (*store)(void *content, size_t slot, idm_error *opt_error);
  /* Memory in bytes of the same problem at another resolution. */
  double (*bytes)(const void *content, int resolution);
} idm_lattice_ops;

/* Operations of a planner that bounds the value from both sides. All are required. See
 * docs/method/control.md, 10. */
typedef struct idm_search_ops {
  /* Bounds on the optimal value at belief z [state] after `steps` steps. */
  void (*bounds)(const void *content, size_t variant, int steps, const double *z, double *lower,
                 double *upper, double *scratch);
  /* Vector number `index` of the lower bound with the whole horizon left, into vector [state], and
   * the first action of its plan. Returns false past the last vector. */
  bool (*vector)(const void *content, size_t variant, size_t index, double *vector, size_t *action);
} idm_search_ops;

/* --- planners -------------------------------------------------------------------------------- */

/* Inputs that a planner requires in addition to theta. */
typedef enum idm_requirement {
  IDM_NEEDS_MODEL = 1 << 0,       /* the agent's models */
  IDM_NEEDS_ENVIRONMENT = 1 << 1, /* the environment's dynamics */
  IDM_NEEDS_SAMPLER = 1 << 2,     /* an environment to simulate */
  IDM_NEEDS_BATCH =
      1 << 3, /* transitions of a log; together with IDM_NEEDS_SAMPLER: one of the two */
  IDM_NEEDS_REWARDS = 1 << 4, /* a reward in every step */
  IDM_NEEDS_RANDOM = 1 << 5,  /* a random stream */
  IDM_NEEDS_ACTIONS =
      1 << 6, /* every action recorded: a log with a missing action is refused at its row */
  IDM_NEEDS_STATES = 1 << 7, /* observed states */
} idm_requirement;

/* Problems that a planner supports. */
typedef enum idm_capability {
  IDM_SUPPORTS_STATIONARY = 1 << 0,    /* infinite horizon */
  IDM_SUPPORTS_HORIZON = 1 << 1,       /* policies that depend on the steps left */
  IDM_SUPPORTS_SPARSE = 1 << 2,        /* sparse transitions of observed states */
  IDM_SUPPORTS_UNDISCOUNTED = 1 << 3,  /* a discount of 1 without a horizon, if episodes end */
  IDM_SUPPORTS_NO_GRADIENT = 1 << 4,   /* policies that are piecewise constant: they have no
                                          derivative with respect to the utility and the discount */
  IDM_SUPPORTS_SPARSE_HIDDEN = 1 << 5, /* sparse transitions of hidden states */
} idm_capability;

/* A clamp: restricts a block of theta, so that one planner is a special case of another. */
typedef enum idm_clamp_kind {
  IDM_CLAMP_VALUE,       /* every number is fixed at `value` */
  IDM_CLAMP_UNIFORM,     /* fixed at a uniform distribution */
  IDM_CLAMP_ENVIRONMENT, /* every model's dynamics are fixed at the environment's */
  IDM_CLAMP_IRRELEVANT,  /* has no effect given the other clamps: unchanged */
  IDM_CLAMP_POSITIVE,    /* must be positive and finite; otherwise free */
  IDM_CLAMP_NEGATIVE     /* must be negative and finite; otherwise free */
} idm_clamp_kind;

typedef struct idm_clamp {
  idm_block_id block;
  idm_clamp_kind kind;
  double value;
} idm_clamp;

typedef struct idm_planner idm_planner;
struct idm_behavior_ops;

/* Descriptor of a planner. Required: name, summary, row, reads, create, plan, destroy, and one of
 * `behavior` and `belief`. */
struct idm_planner {
  size_t size; /* sizeof(idm_planner) in the program that fills the table */
  const char *name;
  const char *summary;
  const char *row; /* row of the paper's table */
  bool agent;      /* row of the table "Boundedly Rational Agents"; otherwise of "Planners" */
  bool rule;       /* no planning: actions depend on the belief by a rule */
  const idm_block_id *reads; /* shared blocks that it uses; ends with IDM_BLOCK_COUNT */
  const idm_block_info *own; /* blocks of its own, all in use */
  size_t own_count;
  const char *const *keys; /* keys of idm_agent_option_keys that it uses; ends with NULL. NULL:
                              unspecified, all count as used */
  const idm_clamp *clamp;  /* clamps on blocks in `reads` */
  size_t clamps;
  /* Size of its own block number `own`, if the descriptor leaves it open (opaque, without a count);
   * initial values go to opt_value. NULL: no such block. */
  size_t (*shape)(const idm_agent_options *agent, idm_sizes sizes, size_t own, double *opt_value);
  /* Default number of transitions per plan if a plan is selected among samples, so that its numbers
   * cannot be inferred (only perseverance and lapse); else 0. */
  long transitions;
  unsigned needs;    /* bits of idm_requirement */
  unsigned supports; /* bits of idm_capability */
  idm_status (*create)(const idm_setting *setting, const idm_theta *theta,
                       const idm_agent_options *agent, void **ret_content, idm_error *opt_error);
  idm_status (*plan)(void *content, const idm_theta *theta, const idm_solver *solver,
                     idm_plan_report *report, idm_error *opt_error);
  void (*destroy)(void *content);
  /* From the next plan on, learn from these transitions, which are copied, instead of the
   * environment. NULL: not supported. */
  idm_status (*set_batch)(void *content, const idm_batch *batch, idm_error *opt_error);
  const struct idm_behavior_ops *behavior; /* operations on the content; NULL: the belief agent */
  const idm_belief_ops *belief;            /* NULL: policies are not functions of a belief */
  const idm_lattice_ops *lattice;          /* NULL: solves no lattice */
  const idm_search_ops *search;            /* NULL: has no bounds of its own */
};

/* Registry: planner number `index`, or NULL past the last. */
IDM_API const idm_planner *idm_planner_at(size_t index);
/* Registry: the planner of that name, or NULL. */
IDM_API const idm_planner *idm_planner_find(const char *name);
/* Register a copy of a planner's table until the process ends (see idm_plugin_load). `size` must be
 * set: a table of an earlier, shorter version is completed with 0, a longer one is refused.
 * IDM_INPUT where a required operation is missing or the name is taken. Not safe while other
 * threads use the registries. */
IDM_API idm_status idm_planner_register(const idm_planner *planner, idm_error *opt_error);
/* The planner of an agent: agent->planner, or the first of the registry if that is NULL. */
IDM_API const idm_planner *idm_agent_planner(const idm_agent_options *agent);

#ifdef __cplusplus
}
#endif
#endif
