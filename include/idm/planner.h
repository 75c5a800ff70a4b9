/* Planners (F): (setting, parameter) -> behaviour, behind one table of operations.
 *
 * A workspace belongs to one thread (one chain); setting and data are shared and constant.
 * Everything is allocated when the workspace is made; planning allocates nothing unless tau or
 * omega change. */
#ifndef IDM_PLANNER_H
#define IDM_PLANNER_H

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
  X(IDM_STOP_UNPLANNED, "unplanned", "nothing is planned")
typedef enum idm_stop {
#define IDM_STOP_ENUM(id, name, text) id,
  IDM_STOP_LIST(IDM_STOP_ENUM)
#undef IDM_STOP_ENUM
} idm_stop;
IDM_API const char *idm_stop_name(idm_stop stop);

/* How the fixed point is found: Newton (soft policy iteration), or the sweeps it is tested against.
 */
typedef enum idm_method { IDM_NEWTON, IDM_SHIFTED, IDM_PLAIN } idm_method;

/* One stopping rule for every iterative method. */
typedef struct idm_solver {
  idm_method method;
  double tolerance; /* bound on |V - V*|, absolute; 0: the agent's, relative to max(1, |V|), and no
                       more than 1e-7 of alpha or beta, for the sake of the policies */
  long limit; /* most iterations (Newton steps, or sweeps); a fallback from Newton has its own */
  bool cold;  /* start from V = 0 instead of the last solution */
  const double *blend; /* [anchors]: start from this combination of them; NULL: from the first */
} idm_solver;
IDM_API void idm_solver_default(idm_solver *solver);

/* What planning reached, over all variants: the worst bound, the sum of the work. */
typedef struct idm_plan_report {
  double bound;    /* certified: |V - V*| on the lattice */
  long iterations; /* Newton steps, or sweeps */
  long sweeps;     /* applications of B* and of its derivative */
  idm_stop stop;
} idm_plan_report;

/* What a planner can do and needs. */
typedef enum idm_capability {
  IDM_CAN_STATIONARY = 1 << 0,    /* infinite horizon */
  IDM_CAN_HORIZON = 1 << 1,       /* policies that depend on the steps left */
  IDM_CAN_VALUE = 1 << 2,         /* has a value function */
  IDM_CAN_FORWARD = 1 << 3,       /* has occupancy, return and complexities */
  IDM_NEEDS_MODEL = 1 << 4,       /* needs the agent's models */
  IDM_NEEDS_ENVIRONMENT = 1 << 5, /* needs to know the environment itself */
} idm_capability;

/* Results of the forward recursion, under the agent's own (internal) dynamics. */
typedef struct idm_forward {
  double internal_return; /* J */
  double decision;        /* I[pi; pi~], nats */
  double specification;   /* I[sigma; sigma~] */
  double recognition;     /* I[rho; rho~] */
  double value;           /* right side of the duality: (1-gamma) E V*, or E V_T with a horizon */
} idm_forward;

/* What a function of the policies asks of them at one belief, for the derivative in reverse. */
typedef struct idm_policy_slope {
  size_t variant;
  int steps;
  const double *belief;              /* z, [state] */
  const double *decision;            /* pi(u|z), as `policy` gives it */
  const double *log_decision_slope;  /* [action]: derivative with respect to log pi(u|z) */
  const double *specification_slope; /* [action][model]: with respect to sigma(m|z,u) */
  double *opt_belief_slope;          /* [state]: what goes back to z is added here; a number common
                                        to all states is undetermined. NULL: z is constant */
} idm_policy_slope;

typedef struct idm_planner idm_planner;

/* A planner. Required: create, plan, policy, log_policy, scratch, destroy. Optional (NULL): value,
 * forward, points, clamp, anchor with release, and the five of the adjoint, which come together. */
struct idm_planner {
  const char *name;
  const char *summary;
  unsigned reads;        /* bit 1 << idm_block_id for every block it reads */
  unsigned capabilities; /* of idm_capability */
  idm_status (*create)(const idm_setting *setting, const idm_theta *theta, const idm_agent *agent,
                       void **ret_content, idm_error *opt_error);
  idm_status (*plan)(void *content, const idm_theta *theta, const idm_solver *solver,
                     idm_plan_report *report, idm_error *opt_error);
  /* Start every later plan from the solution now held; NULL where plans start from nothing. */
  idm_status (*anchor)(void *content, bool more, idm_error *opt_error);
  void (*release)(void *content);
  /* At belief z with `steps` taken: pi(u|z) [action], and sigma(m|z,u) [action][model] (NULL: not
   * wanted). Content is constant; scratch comes from the caller. */
  void (*policy)(const void *content, size_t variant, int steps, const double *z, double *decision,
                 double *opt_specification, double *scratch);
  /* log pi(u|z), [action], exact where pi itself underflows. */
  void (*log_policy)(const void *content, size_t variant, int steps, const double *z,
                     double *log_decision, double *scratch);
  double (*value)(const void *content, size_t variant, int steps, const double *z, double *scratch);
  idm_status (*forward)(void *content, size_t variant, idm_forward *forward, double *opt_occupancy,
                        idm_error *opt_error);
  void (*destroy)(void *content);
  size_t (*scratch)(const void *content); /* numbers of scratch that policy and value need */
  size_t (*points)(const void *content);  /* lattice points; NULL: none */
  /* An agent of the paper's table is a planner with some blocks clamped; NULL where nothing is.
   * Applied to the workspace's own copy of theta before planning. */
  idm_status (*clamp)(const idm_setting *setting, idm_theta *theta, idm_error *opt_error);
  /* The derivative of the policies in reverse, after planning. An adjoint borrows the content and
   * holds all the scratch: begin, any number of points, finish. Finish adds to `slope` the
   * derivatives with respect to utility, discount, eta, the priors, weights, and the inverses of
   * alpha, beta and temperature, of what the points asked for. */
  idm_status (*adjoint_create)(void *content, void **ret_adjoint, idm_error *opt_error);
  void (*adjoint_destroy)(void *adjoint);
  void (*adjoint_begin)(void *adjoint);
  void (*adjoint_point)(void *adjoint, const idm_policy_slope *point);
  idm_status (*adjoint_finish)(void *adjoint, idm_theta *slope, idm_error *opt_error);
};

/* Registry: planner i, or NULL past the last; by name (agents too), or NULL. */
IDM_API const idm_planner *idm_planner_at(size_t index);
IDM_API const idm_planner *idm_agent_at(size_t index);
IDM_API const idm_planner *idm_planner_find(const char *name);

typedef struct idm_workspace idm_workspace;

/* Make a workspace for the planner that agent->planner names. The setting is borrowed. Refuses,
 * with the size and the resolution that would fit, a lattice too large for the machine's memory. */
IDM_API idm_status idm_workspace_create(const idm_setting *setting, const idm_theta *theta,
                                        const idm_agent *agent, idm_workspace **ret_workspace,
                                        idm_error *opt_error);
IDM_API void idm_workspace_destroy(idm_workspace *workspace);
/* F: plan for theta. Warm-starts from the workspace's last solution. opt_solver NULL: the defaults.
 */
IDM_API idm_status idm_plan(const idm_theta *theta, const idm_solver *opt_solver,
                            idm_workspace *workspace, idm_plan_report *opt_report,
                            idm_error *opt_error);
/* From now on every plan starts from the solution now held, not from the last one: what planning
 * gives is then a function of theta alone, bit for bit, whatever was planned before. */
IDM_API idm_status idm_workspace_anchor(idm_workspace *workspace, idm_error *opt_error);
/* Forget the anchors: each plan starts from the last solution again. */
IDM_API void idm_workspace_release(idm_workspace *workspace);
/* Keep the solution now held as one anchor more, for idm_solver.blend: the fixed point is smooth in
 * theta, so that a combination of a few solutions is close to one nearby. */
IDM_API idm_status idm_workspace_anchor_more(idm_workspace *workspace, idm_error *opt_error);
/* After planning: V(z) with the whole horizon left (NaN where the planner has no value). */
IDM_API double idm_plan_value(idm_workspace *workspace, size_t variant, const double *z);
/* The same after `steps` steps of a horizon. */
IDM_API double idm_plan_value_after(idm_workspace *workspace, size_t variant, int steps,
                                    const double *z);
/* After planning: pi(u|z) and, where wanted, sigma(m|z,u) at the first step. */
IDM_API void idm_plan_policy(idm_workspace *workspace, size_t variant, const double *z,
                             double *decision, double *opt_specification);
/* After planning: return and complexities. opt_occupancy: [points] of the lattice. */
IDM_API idm_status idm_plan_forward(idm_workspace *workspace, size_t variant, idm_forward *forward,
                                    double *opt_occupancy, idm_error *opt_error);
/* Lattice points; 0 where the planner has none. */
IDM_API size_t idm_workspace_points(const idm_workspace *workspace);
IDM_API const idm_planner *idm_workspace_planner(const idm_workspace *workspace);
/* The parameter as planned: what the agent's clamps made of it. */
IDM_API const idm_theta *idm_workspace_theta(const idm_workspace *workspace);

/* Find alpha, beta, eta that use up the capacities the agent asks for (nats), writing them into
 * theta. Where a capacity does not bind, its multiplier is the limit 0, and the notes say so. Plans
 * for the result. */
IDM_API idm_status idm_plan_capacity(idm_theta *theta, const idm_agent *agent,
                                     const idm_solver *opt_solver, idm_workspace *workspace,
                                     idm_plan_report *opt_report, idm_notes *opt_notes,
                                     idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
