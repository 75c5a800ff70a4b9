/* Behaviours (phi): a decision policy and a recognition policy acting together, step by step.
 *
 * Simulation and likelihood are written once, against this table; the internal state is opaque. */
#ifndef IDM_BEHAVIOR_H
#define IDM_BEHAVIOR_H

#include "idm/data.h"
#include "idm/planner.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The derivative of a behaviour's log-likelihood in reverse over the prefix tree. All are required.
 */
typedef struct idm_slope_ops {
  /* Whether it can be had for these data; else differences are taken. */
  bool (*possible)(const void *content, const idm_data *data, const idm_prefix_tree *tree);
  /* Scratch for one tree; everything is borrowed. */
  idm_status (*create)(const void *content, const idm_data *data, const idm_prefix_tree *tree,
                       void **ret_slope, idm_error *opt_error);
  void (*destroy)(void *slope);
  /* See idm_gradient_run. */
  idm_status (*run)(void *slope, double *log_likelihood, idm_theta *theta_slope,
                    idm_error *opt_error);
} idm_slope_ops;

/* Required: all but log_act, belief and slope. `memory` is the internal state z of one agent. */
typedef struct idm_behavior_ops {
  unsigned scope; /* of idm_scope: what its memory is of */
  idm_status (*memory_create)(const void *content, void **ret_memory, idm_error *opt_error);
  void (*memory_destroy)(void *memory);
  /* A new agent: forget everything. Called once an agent, before its first trajectory. */
  idm_status (*begin_agent)(const void *content, void *memory, idm_error *opt_error);
  /* A new trajectory in a variant of the setting; opt_start NULL: the setting's own start belief.
   * `before` turns into `after`, which may be the same memory. In an MDP a start that is no corner
   * is one that we do not know: it is kept as a weighted set. */
  idm_status (*begin_trajectory)(const void *content, void *before, void *after, size_t variant,
                                 const double *opt_start, idm_error *opt_error);
  /* Probabilities over the actions at this step; NULL available: all are open. */
  idm_status (*act)(const void *content, void *memory, const bool *opt_available,
                    double *probability, idm_error *opt_error);
  /* log-probability of one action among the open ones, exact where the probability underflows;
   * -inf: never. NULL: the logarithm of what `act` gives. */
  idm_status (*log_act)(const void *content, void *memory, const bool *opt_available, size_t action,
                        double *log_probability, idm_error *opt_error);
  /* Told the action taken, what was seen (IDM_MISSING: not recorded) and the reward (0 where there
   * is none), `before` turns into `after`, which may be the same memory. Call after act. With
   * opt_random a stochastic recognition draws its successor; without it keeps them all. An
   * impossible observation is IDM_INPUT. */
  idm_status (*observe)(const void *content, void *before, void *after, int action, int observation,
                        double reward, idm_random *opt_random, idm_error *opt_error);
  /* The mean belief held now; NULL where it holds none. */
  void (*belief)(const void *content, const void *memory, double *z);
  const idm_slope_ops *slope; /* NULL: differences */
} idm_behavior_ops;

typedef struct idm_behavior {
  const idm_behavior_ops *ops;
  const void *content;
} idm_behavior;

/* The behaviour that a planned workspace makes. Borrowed: valid while the workspace is. */
IDM_API idm_behavior idm_workspace_behavior(const idm_workspace *workspace);

/* The tree of histories that the behaviour of a problem's agent tells apart. */
IDM_API idm_status idm_evidence_tree(const idm_problem *problem, const idm_data *data,
                                     idm_prefix_tree **ret_tree, idm_error *opt_error);

/* --- simulation ----------------------------------------------------------------------------- */

typedef struct idm_simulation {
  size_t trajectories;
  int steps;                /* most steps a trajectory; 0: the horizon, or 1000 */
  uint64_t seed;            /* trajectory i uses stream i */
  size_t agents;            /* who share the trajectories out evenly, in order; 0: one */
  const double *opt_reward; /* [action][state]: what the environment pays; NULL: nothing, and no
                               rewards in the log */
  /* Called before each trajectory with its agent, and may plan for another theta. NULL: all act by
   * the same. */
  idm_status (*opt_before)(void *context, size_t trajectory, size_t agent, idm_error *opt_error);
  void *context;
} idm_simulation;

/* Let the environment pay the problem's utilities, where its agent learns from rewards. The problem
 * must outlive the simulation. */
IDM_API void idm_simulation_pay(idm_simulation *simulation, const idm_problem *problem);
/* Trajectories of the behaviour in the environment (never in the agent's models). */
IDM_API idm_status idm_simulate(const idm_setting *setting, idm_behavior behavior,
                                const idm_simulation *simulation, idm_data **ret_data,
                                idm_error *opt_error);

/* --- likelihood ----------------------------------------------------------------------------- */

/* Causally conditioned log-likelihood over the prefix tree. */
typedef struct idm_score {
  double log_likelihood;
  double brier;         /* sum of sum_v (pi(v|z) - 1{v = u})^2 over the decisions */
  uint64_t decisions;   /* rows with an action of which more than one was open */
  uint64_t forced;      /* rows with one open action */
  uint64_t unrecorded;  /* rows without an action */
  long impossible_line; /* line of a decision of probability 0; 0 where there is none */
} idm_score;

typedef struct idm_scorer idm_scorer;
/* A scorer keeps the scratch for one tree; data and tree are borrowed. */
IDM_API idm_status idm_scorer_create(const idm_data *data, const idm_prefix_tree *tree,
                                     idm_scorer **ret_scorer, idm_error *opt_error);
IDM_API void idm_scorer_destroy(idm_scorer *scorer);
/* Score the data. Memories are kept between runs of the same behaviour, so its workspace must live
 * as long as the scorer. An observation that the agent holds impossible is IDM_INPUT, with the
 * line. */
IDM_API idm_status idm_scorer_run(idm_scorer *scorer, idm_behavior behavior, idm_score *score,
                                  idm_error *opt_error);
/* After a run: log-likelihood of each trajectory, summed by agent into [agents]. */
IDM_API void idm_scorer_agents(const idm_scorer *scorer, double *log_likelihood);
/* After a run: log-likelihood of one trajectory. */
IDM_API double idm_scorer_trajectory(const idm_scorer *scorer, size_t trajectory);
/* After a run: log-probability of each row of a trajectory; 0 where nothing was decided. */
IDM_API void idm_scorer_decisions(const idm_scorer *scorer, size_t trajectory,
                                  double *log_probability);

/* --- gradient ------------------------------------------------------------------------------- */

/* The log-likelihood with its derivatives: the behaviour's slope. */
typedef struct idm_gradient idm_gradient;

/* Whether it can be had: the behaviour has a slope, and that can deal with the data. */
IDM_API bool idm_gradient_possible(const idm_data *data, const idm_prefix_tree *tree,
                                   const idm_workspace *workspace);
/* Scratch for one tree and one workspace; all three are borrowed. */
IDM_API idm_status idm_gradient_create(const idm_data *data, const idm_prefix_tree *tree,
                                       idm_workspace *workspace, idm_gradient **ret_gradient,
                                       idm_error *opt_error);
IDM_API void idm_gradient_destroy(idm_gradient *gradient);
/* After idm_plan: the log-likelihood, and into `slope` (a theta of the same form) its derivative
 * with respect to every number of the blocks that the planner reads; 0 elsewhere, and for the
 * dynamics, certainty and belief_prior. Those of `reciprocal` blocks are with respect to the
 * INVERSE, which is smooth through the limit of infinity. Those of distributions hold along the
 * simplex: a number common to all entries is undetermined. Allocates nothing. A decision of
 * probability 0 gives -inf and slopes of 0. */
IDM_API idm_status idm_gradient_run(idm_gradient *gradient, double *log_likelihood,
                                    idm_theta *slope, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
