/* Plans: the optimal policy of a problem's agent, agents that act step by step, simulated logs, and
 * the likelihood of a log. */
#ifndef IDM_PLAN_H
#define IDM_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "idm/data.h"
#include "idm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- plans ---------------------------------------------------------------------------------- */

/* A plan, with the memory to make it. It belongs to one thread. */
typedef struct idm_workspace idm_workspace;

/* Plan for the agent of a problem, which must outlive the workspace and not change meanwhile. The
 * multipliers of capacities are found. IDM_INPUT where the problem is not valid or the planner
 * cannot plan for it, IDM_NUMERICAL where no plan is found. */
IDM_API idm_status idm_solve(const idm_problem *problem, idm_workspace **ret_workspace,
                             idm_error *opt_error);
/* Free a plan; NULL is allowed. */
IDM_API void idm_workspace_destroy(idm_workspace *workspace);
/* Number of points of the lattice of beliefs; 0 where the planner has none. */
IDM_API size_t idm_workspace_points(const idm_workspace *workspace);

/* The functions below evaluate the plan at a belief z, [state]: non-negative numbers that sum to 1
 * up to 1e-6. `variant` is the variant of the utilities, 0 unless they come from columns of a log;
 * `steps` is the number of steps that were taken, for problems with a horizon. At a z that is not a
 * distribution, numbers are NaN and functions that return a status return IDM_USAGE. */

/* V(z) with the whole horizon left; NaN where the planner has no value function. */
IDM_API double idm_plan_value(idm_workspace *workspace, size_t variant, const double *z);
/* Bounds on the value of the best policy at z, under the agent's own dynamics; NaN where there are
 * none: agents that are not rational, and problems of observed states. */
IDM_API idm_status idm_plan_bounds(idm_workspace *workspace, size_t variant, const double *z,
                                   double *lower, double *upper, idm_error *opt_error);
/* The planned policy pi(u|z), [action], and unless opt_specification is NULL the weights of the
 * models sigma(m|z,u), [action][model], at the first step. */
IDM_API void idm_plan_policy(idm_workspace *workspace, size_t variant, const double *z,
                             double *decision, double *opt_specification);
/* Probability of each action, [action], at choice time: pi(u|z) with perseverance and lapse
 * applied, as simulation draws from it. `last` is the previous action of the trajectory, or
 * IDM_MISSING. */
IDM_API void idm_plan_choice(idm_workspace *workspace, size_t variant, int steps, const double *z,
                             int last, double *choice);
/* Q(z,u), [action]; NaN where the planner has none. */
IDM_API void idm_plan_quality(idm_workspace *workspace, size_t variant, int steps, const double *z,
                              double *quality);
/* Probability that the agent gives observation x after action u:
 * p(x|z,u) = sum_m sigma(m|z,u) p_m(x|z,u). */
IDM_API double idm_plan_predict(idm_workspace *workspace, size_t variant, int steps,
                                const double *z, size_t action, size_t observation);
/* As idm_plan_predict; writes the next belief into `next`, [state]: the mean of rho(z,u,x). Returns
 * 0 and zeros where no model of the agent allows x. */
IDM_API double idm_plan_recognise(idm_workspace *workspace, size_t variant, int steps,
                                  const double *z, size_t action, size_t observation, double *next);

/* Results of the forward recursion, under the agent's own dynamics. */
typedef struct idm_forward {
  double internal_return; /* J, the discounted utility times (1 - discount) */
  double decision;        /* I[pi; pi~], nats */
  double specification;   /* I[sigma; sigma~], nats */
  double recognition;     /* I[rho; rho~], nats */
  double value; /* right side of the duality: (1 - discount) E V*, or E V_T with a horizon */
} idm_forward;
/* Return and complexities of the plan; opt_occupancy receives the occupancy, [points]. */
IDM_API idm_status idm_plan_forward(idm_workspace *workspace, size_t variant, idm_forward *forward,
                                    double *opt_occupancy, idm_error *opt_error);

/* --- agents --------------------------------------------------------------------------------- */

/* An agent that acts by a plan, step by step: begin, then act and observe in turn. */
typedef struct idm_agent idm_agent;

/* Create an agent that acts by a plan, which must outlive it. `seed` gives its random stream. */
IDM_API idm_status idm_agent_create(const idm_workspace *workspace, uint64_t seed,
                                    idm_agent **ret_agent, idm_error *opt_error);
/* Free an agent; NULL is allowed. */
IDM_API void idm_agent_destroy(idm_agent *agent);
/* Begin a trajectory at opt_start, [state]; NULL: the start of the problem. What the agent has
 * learnt in earlier trajectories stays. */
IDM_API idm_status idm_agent_begin(idm_agent *agent, const double *opt_start, idm_error *opt_error);
/* Probability of each action now: *ret_probability points to *ret_length numbers, valid until the
 * next call for this agent. */
IDM_API idm_status idm_agent_probabilities(idm_agent *agent, const double **ret_probability,
                                           size_t *ret_length, idm_error *opt_error);
/* Draw an action from these probabilities. */
IDM_API idm_status idm_agent_act(idm_agent *agent, size_t *ret_action, idm_error *opt_error);
/* Update the agent by the action that was taken, the observation after it and the reward (0 where
 * there is none). IDM_INPUT where the agent's model excludes the observation. */
IDM_API idm_status idm_agent_observe(idm_agent *agent, size_t action, size_t observation,
                                     double reward, idm_error *opt_error);
/* The belief now, [state]: as idm_agent_probabilities. IDM_USAGE for agents without a belief. */
IDM_API idm_status idm_agent_belief(idm_agent *agent, const double **ret_belief, size_t *ret_length,
                                    idm_error *opt_error);

/* --- logs ----------------------------------------------------------------------------------- */

/* Simulate `trajectories` trajectories of the problem's agent in its environment, of at most
 * `steps` steps each (0: the horizon, or 1000). Trajectory i uses random stream i of the seed. */
IDM_API idm_status idm_simulate_log(const idm_problem *problem, size_t trajectories, int steps,
                                    uint64_t seed, idm_data **ret_data, idm_error *opt_error);

/* Causally conditioned log-likelihood of a log. */
typedef struct idm_score {
  double log_likelihood; /* of decisions and evidence, nats */
  double evidence;       /* contributed by observations where some cells are missing */
  double brier;       /* sum over decisions of sum_v (pi(v|z) - 1{v = u})^2; NaN where some rows are
                         not scored */
  uint64_t decisions; /* rows with an action, of which more than one was available */
  uint64_t forced;    /* rows with one available action */
  uint64_t missed;    /* missed responses */
  uint64_t unrecorded;         /* other rows without an action */
  long impossible_line;        /* line of a decision of probability 0; 0: none */
  const char *impossible_file; /* its file; belongs to the log */
} idm_score;
/* Score a log by the problem's agent. opt_agents receives the log-likelihood of each agent,
 * [agents]. IDM_INPUT, with the line, where the agent's model excludes an observation. */
IDM_API idm_status idm_score_log(const idm_problem *problem, const idm_data *data, idm_score *score,
                                 double *opt_agents, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
