/* Behaviours (phi): a decision policy and a recognition policy acting together, step by step.
 *
 * Simulation and likelihood are written once, against this table; the internal state is opaque. */
#ifndef IDM_BEHAVIOR_H
#define IDM_BEHAVIOR_H

#include "idm/planner.h"
#include "idm/prefix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Log-likelihoods of several logs and their derivatives at once, each at numbers of its own. All
 * are required. */
typedef struct idm_lane_ops {
  /* Scratch for the trees [count] of these data; everything is borrowed. *ret_lanes is NULL where
   * these logs are not such that it can be done. */
  idm_status (*create)(const void *content, const idm_data *const *data,
                       const idm_prefix_tree *const *tree, size_t count, void **ret_lanes,
                       idm_error *opt_error);
  void (*destroy)(void *lanes);
  /* The numbers of log i, at which `run` finds log_likelihood[count]. */
  void (*set)(void *lanes, size_t i, const idm_theta *theta);
  void (*run)(void *lanes, double *log_likelihood);
  /* Its derivative: see idm_gradient_run. It is with respect to the free numbers alone. */
  void (*get)(const void *lanes, size_t i, idm_theta *derivative);
} idm_lane_ops;

/* The derivative of a behaviour's log-likelihood over the prefix tree. All but `interrupt` and
 * `lanes` are required. */
typedef struct idm_gradient_ops {
  /* Whether it can be had for these data; else differences are taken. */
  bool (*possible)(const void *content, const idm_data *data, const idm_prefix_tree *tree);
  /* Scratch for one tree; everything is borrowed. */
  idm_status (*create)(const void *content, const idm_data *data, const idm_prefix_tree *tree,
                       void **ret_gradient, idm_error *opt_error);
  void (*destroy)(void *gradient);
  /* See idm_gradient_run. */
  idm_status (*run)(void *gradient, double *log_likelihood, idm_theta *theta_gradient,
                    idm_error *opt_error);
  /* See idm_gradient_interrupt; NULL: a run is seen through. */
  void (*interrupt)(void *gradient, idm_interrupt opt_interrupt, void *context);
  const idm_lane_ops *lanes; /* NULL: one log at a time */
} idm_gradient_ops;

/* A belief that may be held, and where a policy is asked for it. */
typedef struct idm_hypothesis {
  double weight;                /* over all of them 1 */
  const double *z;              /* [state], borrowed until the memory is told something */
  const double *opt_env_belief; /* [state]: the environment's belief beside it, likewise; NULL where
                              that is the same for all, as it follows from what was recorded */
  size_t variant;
  int steps; /* taken so far */
} idm_hypothesis;

/* What a behaviour is told of a step. */
typedef struct idm_event {
  int action;      /* IDM_MISSING: not recorded; one of those that were open when it last acted */
  int observation; /* IDM_MISSING: not recorded */
  bool missed;     /* a missed response: the action is not the agent's, perseverance keeps the one
                      before; IDM_MISSING where the behaviour `idles` and the problem names none */
  double reward;   /* 0 where there is none */
  bool last;       /* nothing follows in this trajectory: an action that was not recorded may be one
                      that ends it, and elsewhere it is none of them */
  bool all_recorded; /* a promise that all that follows in this trajectory will be recorded, but for
                 what comes last: nothing need be kept to weigh it by */
} idm_event;

/* Required: all but log_act, belief, hypothesis, unsure and slope. `memory` is the internal state z
 * of one agent. */
typedef struct idm_behavior_ops {
  unsigned scope;         /* of idm_scope: what its memory is of */
  bool accepts_no_action; /* a missed response needs no action: `observe` lets time pass without one
                           */
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
  /* Told what happened, `before` turns into `after`, which may be the same memory. Call after act.
   * With opt_random a stochastic recognition draws its successor; without it keeps them all. An
   * impossible observation is IDM_INPUT.
   *
   * What was recorded weighs on what was not. opt_log_evidence: what is to be
   * added to the log-likelihood beside the decision: the log-probability of what was seen after it
   * (and, where the action was not recorded, that the trajectory went on as it did), less that of
   * the environment given all that was recorded, which no parameter moves. Set to 0 by the caller
   * and left alone where everything was recorded; -inf where the behaviour never leads there. */
  idm_status (*observe)(const void *content, void *before, void *after, const idm_event *event,
                        double *opt_log_evidence, idm_random *opt_random, idm_error *opt_error);
  /* Whether the evidence of an event with a recorded action may be other than 0. NULL: it never is.
   */
  bool (*may_have_evidence)(const void *content, const void *memory);
  /* The mean belief held now; NULL where it holds none. */
  void (*belief)(const void *content, const void *memory, double *z);
  /* One of the beliefs that may be held now: several where something was not recorded. False past
   * the last. NULL where it holds none. */
  bool (*hypothesis)(const void *content, const void *memory, size_t index,
                     idm_hypothesis *hypothesis);
  const idm_gradient_ops *derivative; /* NULL: differences */
} idm_behavior_ops;

typedef struct idm_behavior {
  const idm_behavior_ops *ops;
  const void *content;
  idm_sizes sizes; /* of the problem it acts in */
} idm_behavior;

/* The tree of histories that the behaviour of a problem's agent tells apart. */
IDM_API idm_status idm_evidence_tree(const idm_problem *problem, const idm_data *data,
                                     idm_prefix_tree **ret_tree, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
