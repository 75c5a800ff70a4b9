/* Planners (F): (setting, parameter) -> behaviour, behind tables of operations.
 */
#ifndef IDM_PLANNER_H
#define IDM_PLANNER_H

#include "idm/data.h"
#include "idm/problem.h"
#include "idm/random.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why an iteration stopped. None of them is an error; what was reached is the bound. */
#define IDM_STOP_LIST(X)                                                                           \
  X(IDM_STOP_BOUND, "bound", "the bound on the value is below the tolerance")                      \
  X(IDM_STOP_ROUNDING, "rounding", "the bound is at the rounding floor")                           \
  X(IDM_STOP_HORIZON, "horizon", "backward induction: exact up to rounding")                       \
  X(IDM_STOP_LIMIT, "limit", "the limit of iterations was reached")                                \
  X(IDM_STOP_SECONDS, "seconds", "the time that was given is up")                                  \
  X(IDM_STOP_INTERRUPT, "interrupt", "whoever watched asked to stop")                              \
  X(IDM_STOP_UNPLANNED, "unplanned", "nothing is planned")                                         \
  X(IDM_STOP_MEMORY, "memory", "the memory that was given is used up")                             \
  X(IDM_STOP_BUDGET, "budget", "learnt from samples until they were used up: nothing is certified")
typedef enum idm_stop {
#define IDM_STOP_ENUM(id, name, text) id,
  IDM_STOP_LIST(IDM_STOP_ENUM)
#undef IDM_STOP_ENUM
} idm_stop;
IDM_API const char *idm_stop_name(idm_stop stop);

/* How the fixed point is found: Newton (soft policy iteration), or the sweeps it is tested against.
 */
typedef enum idm_solve_method {
  IDM_METHOD_NEWTON,
  IDM_METHOD_SHIFTED,
  IDM_METHOD_VALUE_ITERATION
} idm_solve_method;

/* Where a plan starts: at the solution held, at nothing, or at a combination of solutions kept. */
enum { IDM_START_LAST = -1, IDM_START_COLD = 0 };

/* Watches a search between trials, and within long ones: bounds on the value at the start belief so
 * far. Return true to stop with what was reached. */
typedef bool (*idm_plan_monitor)(void *context, double lower, double upper);

/* One stopping rule for every iterative method. */
typedef struct idm_solver {
  idm_solve_method method;
  double tolerance; /* bound on |V - V*|, absolute; 0: the agent's, relative to max(|u|, |V|), and
                       no more than 1e-7 of alpha or beta, for the sake of the policies */
  long limit; /* most iterations (Newton steps, or sweeps); a fallback from Newton has its own */
  int slots;  /* start from the first so many solutions kept, or IDM_START_LAST, IDM_START_COLD */
  const double *weights; /* [slots]: their weights */
  bool precondition;     /* keep the inverse of the derivative with a solution, and precondition
                            plans that start from it: pays off for many plans near one another */
  /* Of a planner that searches (`point-based`), whose `tolerance` is the gap between its bounds. */
  double seconds; /* stop after so many; 0: however long it takes */
  double bytes;   /* stop where its beliefs and bounds take more; 0: whatever they take */
  idm_plan_monitor opt_monitor;
  void *monitor_context;
} idm_solver;
IDM_API void idm_solver_default(idm_solver *solver);

/* What a planner that learns by acting can know of its plan; NaN where it does not, and over
 * variants the worst. */
typedef struct idm_learning_report {
  long transitions;       /* drawn from the environment, or from the log's */
  size_t log_transitions; /* transitions of the log that they were drawn from; 0: the environment */
  double residual;        /* mean over the pairs (state, action) seen of |u + gamma E V - Q|, E over
                             the transitions drawn there */
  size_t unvisited;      /* states that no transition started from, of one that learns their values:
                         those are as they began */
  double value;          /* mean return of episodes that nothing was learnt from */
  double standard_error; /* of that mean */
  double derivative;     /* length of the gradient of the return by the logits of the policy */
} idm_learning_report;

/* What planning reached, over all variants: the worst bound, the sum of the work. */
typedef struct idm_plan_report {
  double bound;    /* certified: |V - V*| on the lattice; of a search upper less lower bound at the
                      start belief. NaN: nothing is planned, inf: nothing is certified */
  long iterations; /* Newton steps, sweeps, or trials of a search */
  long sweeps;     /* applications of B* and of its derivative, or backups of a search */
  idm_stop stop;
  idm_learning_report learning; /* of IDM_STOP_BUDGET */
} idm_plan_report;

/* Transitions of a log, from which a planner may learn in place of an environment: in `state`
 * `action` was taken, and `next` followed. */
typedef struct idm_batch {
  size_t count;
  uint32_t *state;  /* [count] */
  uint32_t *action; /* [count] */
  uint32_t *next;   /* [count]: IDM_BATCH_END where nothing follows */
  double *reward;   /* [count]: what was paid, in place of the utility; NULL: the utility's */
  size_t omitted;   /* rows of the log that are none: state, action or what followed is not there */
} idm_batch;
#define IDM_BATCH_END UINT32_MAX
/* The transitions of a log of a fully observed problem, with its rewards where they are to be what
 * is paid. IDM_INPUT where states are hidden, where a reward is missing (at its place), or where no
 * row is a transition. */
IDM_API idm_status idm_batch_create(const idm_setting *setting, const idm_data *data, bool rewards,
                                    idm_batch **ret_batch, idm_error *opt_error);
IDM_API void idm_batch_destroy(idm_batch *batch);

/* --- tables of operations ------------------------------------------------------------------- */

/* What a function of the policies asks of them at one belief, for the derivative in reverse. */
typedef struct idm_policy_adjoint {
  size_t variant;
  int steps;
  const double *belief;                 /* z, [state] */
  const double *decision;               /* pi(u|z), as `policy` gives it */
  const double *log_decision_gradient;  /* [action]: derivative with respect to log pi(u|z) */
  const double *specification_gradient; /* [action][model]: with respect to sigma(m|z,u) */
  double *opt_belief_gradient; /* [state]: what goes back to z is added here; a number common
                               to all states is undetermined. NULL: z is constant */
} idm_policy_adjoint;

/* The derivative of the policies in reverse, after planning. An adjoint borrows the content and
 * holds all the scratch: begin, any number of points, finish. All operations are required. */
typedef struct idm_adjoint_ops {
  bool dynamics; /* derivatives by what makes beliefs (the models' dynamics, prior_weight and
                    evidence_weight) are among them where some of it is free; else differences are
                    taken then */
  idm_status (*create)(void *content, void **ret_adjoint, idm_error *opt_error);
  void (*destroy)(void *adjoint);
  void (*begin)(void *adjoint);
  void (*point)(void *adjoint, const idm_policy_adjoint *point);
  /* Adds to `slope` the derivatives with respect to theta of what the points asked for; blocks that
   * are `reciprocal` with respect to the inverse. */
  idm_status (*finish)(void *adjoint, idm_theta *derivative, idm_error *opt_error);
} idm_adjoint_ops;

/* A planner whose policies are functions of a belief: the believer acts by them. Content is
 * constant; scratch comes from the caller. Optional (NULL): value, quality, adjoint. */
typedef struct idm_belief_ops {
  size_t (*scratch)(const void *content); /* numbers of scratch that the others need */
  /* At belief z with `steps` taken: pi(u|z) [action], and sigma(m|z,u) [action][model] (NULL: not
   * wanted). */
  void (*policy)(const void *content, size_t variant, int steps, const double *z, double *decision,
                 double *opt_specification, double *scratch);
  /* log pi(u|z), [action], exact where pi itself underflows. */
  void (*log_policy)(const void *content, size_t variant, int steps, const double *z,
                     double *log_decision, double *scratch);
  double (*value)(const void *content, size_t variant, int steps, const double *z, double *scratch);
  /* Q(z,u), [action]: what each action is worth, the rest of the plan included. */
  void (*quality)(const void *content, size_t variant, int steps, const double *z, double *quality,
                  double *scratch);
  const idm_adjoint_ops *adjoint;
} idm_belief_ops;

/* Results of the forward recursion, under the agent's own (internal) dynamics. */
typedef struct idm_forward {
  double internal_return; /* J */
  double decision;        /* I[pi; pi~], nats */
  double specification;   /* I[sigma; sigma~] */
  double recognition;     /* I[rho; rho~] */
  double value;           /* right side of the duality: (1-gamma) E V*, or E V_T with a horizon */
} idm_forward;

/* A planner that solves a lattice of beliefs. All operations are required. */
typedef struct idm_lattice_ops {
  size_t (*points)(const void *content);
  idm_status (*forward)(void *content, size_t variant, idm_forward *forward, double *opt_occupancy,
                        idm_error *opt_error);
  /* Keep the solution now held in a slot, for plans to start from (idm_solver.slots). Slots are
   * filled in order. */
  idm_status (*store)(void *content, size_t slot, idm_error *opt_error);
  /* Bytes that the same problem would take at another resolution. */
  double (*bytes)(const void *content, int resolution);
} idm_lattice_ops;

/* A planner that bounds the value from both sides. All operations are required. */
typedef struct idm_search_ops {
  /* Bounds on the value of the best policy at belief z with `steps` taken. */
  void (*bounds)(const void *content, size_t variant, int steps, const double *z, double *lower,
                 double *upper, double *scratch);
  /* Vector `index` of the lower bound with the whole horizon left, [state], and the action that its
   * plan begins with; false past the last. */
  bool (*vector)(const void *content, size_t variant, size_t index, double *vector, size_t *action);
} idm_search_ops;

/* --- planners ------------------------------------------------------------------------------- */

/* What a planner needs beside theta. */
typedef enum idm_requirement {
  IDM_NEEDS_MODEL = 1 << 0,       /* the agent's models */
  IDM_NEEDS_ENVIRONMENT = 1 << 1, /* to know the environment's dynamics */
  IDM_NEEDS_SAMPLER = 1 << 2,     /* an environment to draw from */
  IDM_NEEDS_BATCH = 1 << 3,       /* transitions of a log; with a sampler: one of both */
  IDM_NEEDS_REWARDS = 1 << 4,     /* rewards with every step */
  IDM_NEEDS_RANDOM = 1 << 5,      /* a random stream */
  IDM_NEEDS_ACTIONS = 1 << 6,     /* every action recorded: else a log is refused at its row */
  IDM_NEEDS_STATES = 1 << 7,      /* states that are observed */
} idm_requirement;

/* Kinds of problems that it plans for. */
typedef enum idm_capability {
  IDM_SUPPORTS_STATIONARY = 1 << 0,   /* infinite horizon */
  IDM_SUPPORTS_HORIZON = 1 << 1,      /* policies that depend on the steps left */
  IDM_SUPPORTS_SPARSE = 1 << 2,       /* transitions of observed states that are given row by row */
  IDM_SUPPORTS_UNDISCOUNTED = 1 << 3, /* a discount of 1 without a horizon, where episodes end */
  IDM_SUPPORTS_NO_GRADIENT = 1 << 4,  /* policies that jump from one best action to another: by the
                                utility and the discount they have no slope */
  IDM_SUPPORTS_SPARSE_HIDDEN = 1 << 5, /* transitions of hidden states that are given row by row */
} idm_capability;

/* A clamp: what makes one planner of another. It holds a block, or asks something of it. */
typedef enum idm_clamp_kind {
  IDM_CLAMP_VALUE,       /* every number is `value` */
  IDM_CLAMP_UNIFORM,     /* a uniform distribution */
  IDM_CLAMP_ENVIRONMENT, /* every model's dynamics are the environment's */
  IDM_CLAMP_IRRELEVANT,  /* cannot matter beside the other clamps: left as it is */
  IDM_CLAMP_POSITIVE,    /* must be positive and finite; moves freely */
  IDM_CLAMP_NEGATIVE     /* must be negative and finite; moves freely */
} idm_clamp_kind;

typedef struct idm_clamp {
  idm_block_id block;
  idm_clamp_kind kind;
  double value;
} idm_clamp;

typedef struct idm_planner idm_planner;
struct idm_behavior_ops;

/* A planner. Required: create, plan, destroy, and one of `behavior` and `belief`. */
struct idm_planner {
  const char *name;
  const char *summary;
  const char *row;           /* of the paper's table */
  bool agent;                /* that table is "Boundedly Rational Agents", else "Planners" */
  bool rule;                 /* nothing is planned: what it does follows from the belief alone */
  const idm_block_id *reads; /* shared blocks it reads; ends with IDM_BLOCK_COUNT */
  const idm_block_info *own; /* blocks of its own, all of them read */
  size_t own_count;
  const char *const
      *keys; /* of idm_agent_option_keys, those it heeds; ends with NULL. NULL: nobody says */
  const idm_clamp *clamp; /* of those it reads */
  size_t clamps;
  /* Numbers of its own block `own`, where the descriptor leaves it open (opaque, without a count);
   * what they start from goes to opt_value. NULL: there is no such block. */
  size_t (*shape)(const idm_agent_options *agent, idm_sizes sizes, size_t own, double *opt_value);
  long transitions;  /* that a plan is learnt from where the agent's budget is auto, if a search for
                        free numbers, which learns a plan for every value that it tries, cannot
                        afford them; else 0 */
  unsigned needs;    /* of idm_requirement */
  unsigned supports; /* of idm_capability */
  idm_status (*create)(const idm_setting *setting, const idm_theta *theta,
                       const idm_agent_options *agent, void **ret_content, idm_error *opt_error);
  idm_status (*plan)(void *content, const idm_theta *theta, const idm_solver *solver,
                     idm_plan_report *report, idm_error *opt_error);
  void (*destroy)(void *content);
  /* From the next plan on, learn from these transitions, which are copied, in place of the
   * environment. NULL: it cannot. */
  idm_status (*set_batch)(void *content, const idm_batch *batch, idm_error *opt_error);
  const struct idm_behavior_ops *behavior; /* acts on the content; NULL: the believer */
  const idm_belief_ops *belief;            /* NULL: it does not plan over beliefs */
  const idm_lattice_ops *lattice;          /* NULL: it solves none */
  const idm_search_ops *search;            /* NULL: it has no bounds of its own */
};

/* Registry: planner i, or NULL past the last; by name, or NULL. */
IDM_API const idm_planner *idm_planner_at(size_t index);
IDM_API const idm_planner *idm_planner_find(const char *name);
/* Add a planner, until the process ends (see idm_plugin_load). IDM_INPUT where it lacks what is
 * required, or its name is taken. */
IDM_API idm_status idm_planner_register(const idm_planner *planner, idm_error *opt_error);
/* The planner of an agent: its own, or the first of the registry. */
IDM_API const idm_planner *idm_agent_planner(const idm_agent_options *agent);
/* Whether what a planner gives depends on block `id` of theta: it reads it, and no clamp holds it;
 * or it is a habit of the believer's, or of how it takes up what it sees. */
IDM_API bool idm_planner_reads(const idm_planner *planner, size_t id);
/* Whether what it does depends on dynamics, IDM_TRANSITION or IDM_EMISSION: it reads models of
 * them, or plans in the environment's. A rule reads them for beliefs alone, which are certain where
 * states are observed. */
IDM_API bool idm_planner_uses_dynamics(const idm_planner *planner, const idm_setting *setting,
                                       size_t id);
/* The same where theta says what is free: dynamics that are looked for are an agent's own, whoever
 * would know the environment's. */
IDM_API bool idm_planner_reads_free(const idm_planner *planner, const idm_theta *theta, size_t id);
/* The same of an agent, whose discounting says which of discount and delay_rate counts. */
IDM_API bool idm_agent_reads(const idm_agent_options *agent, size_t id);
/* Whether a key of a problem's agent makes a difference to its planner: a block that it reads, or a
 * key that it heeds. */
IDM_API bool idm_agent_uses_key(const idm_problem *problem, const char *key);
/* Note what stands with the agent, other than by default, and makes none. */
IDM_API void idm_agent_note_unused(const idm_problem *problem, idm_notes *notes);
/* Operations of the behaviour that its plans make. */
IDM_API const struct idm_behavior_ops *idm_planner_behavior(const idm_planner *planner);
/* Give blocks of which the planner says how many numbers they have that many, and what they start
 * from: after a change of the agent's keys. */
IDM_API idm_status idm_planner_shape(const idm_planner *planner, const idm_agent_options *agent,
                                     idm_theta *theta, idm_error *opt_error);
/* Refuses (IDM_USAGE) a theta in which they have other numbers than the agent asks for. */
IDM_API idm_status idm_planner_check_shape(const idm_planner *planner,
                                           const idm_agent_options *agent, const idm_theta *theta,
                                           idm_error *opt_error);
/* Give a problem's agent a planner, and theta that planner's own blocks. */
IDM_API idm_status idm_problem_set_planner(idm_problem *problem, const idm_planner *planner,
                                           idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
