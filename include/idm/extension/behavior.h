/* Behaviours (phi): a decision policy and a recognition policy that act together, step by step.
 *
 * Simulation and likelihood use this table of functions; the internal state is opaque to them. */
#ifndef IDM_EXTENSION_BEHAVIOR_H
#define IDM_EXTENSION_BEHAVIOR_H

#include "idm/extension/planner.h"
#include "idm/extension/prefix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Log-likelihoods of several logs and their derivatives in one pass, each log at its own parameter.
 * All functions are required. */
typedef struct idm_lane_ops {
  /* Scratch for logs data[count] with their trees; everything is borrowed. *ret_lanes is NULL where
   * these logs do not admit it. */
  idm_status (*create)(const void *content, const idm_data *const *data,
                       const idm_prefix_tree *const *tree, size_t count, void **ret_lanes,
                       idm_error *opt_error);
  void (*destroy)(void *lanes);
  /* Set the parameter of log i, at which `run` evaluates log_likelihood[count]. */
  void (*set)(void *lanes, size_t i, const idm_theta *theta);
  void (*run)(void *lanes, double *log_likelihood);
  /* Derivative of the log-likelihood of log i (see idm_gradient_run), with respect to the free
   * numbers only. */
  void (*get)(const void *lanes, size_t i, idm_theta *derivative);
} idm_lane_ops;

/* Derivative of a behaviour's log-likelihood over the tree of histories. All but `interrupt` and
 * `lanes` are required. See docs/method/likelihood.md, 7. */
typedef struct idm_gradient_ops {
  /* Whether the derivative is available for these data; else finite differences are used. */
  bool (*possible)(const void *content, const idm_data *data, const idm_prefix_tree *tree);
  /* Scratch for one tree; everything is borrowed. */
  idm_status (*create)(const void *content, const idm_data *data, const idm_prefix_tree *tree,
                       void **ret_gradient, idm_error *opt_error);
  void (*destroy)(void *gradient);
  /* See idm_gradient_run. */
  idm_status (*run)(void *gradient, double *log_likelihood, idm_theta *theta_gradient,
                    idm_error *opt_error);
  /* See idm_gradient_interrupt; NULL: a run cannot be interrupted. */
  void (*interrupt)(void *gradient, idm_interrupt opt_interrupt, void *context);
  const idm_lane_ops *lanes; /* NULL: one log at a time */
} idm_gradient_ops;

/* A belief with its probability, and the variant and step at which the policy is evaluated. */
typedef struct idm_hypothesis {
  double weight;   /* probability; sums to 1 over all hypotheses */
  const double *z; /* [state], borrowed until the next change of the memory */
  const double
      *opt_env_belief; /* [state]: the environment's belief, likewise borrowed; NULL where it is the
                          same for all hypotheses, as it follows from the recorded rows */
  size_t variant;
  int steps; /* number of steps taken */
} idm_hypothesis;

/* One step of a trajectory, as input of `observe`. */
typedef struct idm_event {
  int action;      /* an action that was open at the last `act`; IDM_MISSING: not recorded */
  int observation; /* IDM_MISSING: not recorded */
  bool missed;     /* a missed response: the action is not the agent's, and perseverance keeps the
                      previous one; the action is IDM_MISSING where `accepts_no_action` is set and the
                      problem names none */
  double reward;   /* 0 where there is none */
  bool last; /* last step of the trajectory: an unrecorded action may be one that ends it; at other
                steps it is none of these */
  bool all_recorded; /* all later rows of this trajectory are recorded, except for the last one: no
                        alternatives need be kept for them */
} idm_event;

/* Operations of a behaviour. Required: all but log_act, may_have_evidence, belief, hypothesis and
 * derivative. `memory` is the internal state z of one agent. */
typedef struct idm_behavior_ops {
  unsigned scope;         /* of idm_scope: the history that its memory depends on */
  bool accepts_no_action; /* a missed response needs no action: `observe` then only advances time */
  idm_status (*memory_create)(const void *content, void **ret_memory, idm_error *opt_error);
  void (*memory_destroy)(void *memory);
  /* Reset the memory for a new agent. Called once per agent, before its first trajectory. */
  idm_status (*begin_agent)(const void *content, void *memory, idm_error *opt_error);
  /* Begin a trajectory in a variant of the setting; opt_start NULL: the start belief of the
   * setting. Computes `after` from `before`; both may be the same memory. In an MDP, a start belief
   * that is not concentrated on one state means an unrecorded state: it is kept as a weighted set.
   */
  idm_status (*begin_trajectory)(const void *content, void *before, void *after, size_t variant,
                                 const double *opt_start, idm_error *opt_error);
  /* Probabilities of the actions at this step, probability[action]; opt_available NULL: all actions
   * are open. */
  idm_status (*act)(const void *content, void *memory, const bool *opt_available,
                    double *probability, idm_error *opt_error);
  /* log-probability of one action among the open actions, accurate where the probability
   * underflows; -inf: impossible. NULL: the logarithm of the probability of `act`. */
  idm_status (*log_act)(const void *content, void *memory, const bool *opt_available, size_t action,
                        double *log_probability, idm_error *opt_error);
  /* Update the memory by one step: computes `after` from `before`; both may be the same memory.
   * Call after `act`. With opt_random, a stochastic recognition draws its successor; without it,
   * all successors are kept with their weights. IDM_INPUT for an impossible observation.
   *
   * Recorded values change the weights of unrecorded ones. opt_log_evidence receives a term of the
   * log-likelihood in addition to the decision: the log-probability of the observation after it
   * (and, where the action was not recorded, of the trajectory having continued as it did), less
   * that of the environment given all recorded values, which depends on no parameter. The caller
   * sets it to 0; it is unchanged where everything was recorded, and -inf where the behaviour never
   * leads there. See docs/method/likelihood.md, 4. */
  idm_status (*observe)(const void *content, void *before, void *after, const idm_event *event,
                        double *opt_log_evidence, idm_random *opt_random, idm_error *opt_error);
  /* Whether the evidence of an event with a recorded action can differ from 0. NULL: it never does.
   */
  bool (*may_have_evidence)(const void *content, const void *memory);
  /* The mean belief z[state]; NULL where the behaviour has no beliefs. */
  void (*belief)(const void *content, const void *memory, double *z);
  /* Hypothesis `index` among the possible beliefs: several where something was not recorded. False
   * past the last. NULL where the behaviour has no beliefs. */
  bool (*hypothesis)(const void *content, const void *memory, size_t index,
                     idm_hypothesis *hypothesis);
  const idm_gradient_ops *derivative; /* NULL: finite differences */
} idm_behavior_ops;

typedef struct idm_behavior {
  const idm_behavior_ops *ops;
  const void *content;
  idm_sizes sizes; /* of the problem that it acts in */
} idm_behavior;

#ifdef __cplusplus
}
#endif
#endif
