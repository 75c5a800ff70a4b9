/* Explanations: a log step by step, compared with a rational agent on the same histories.
 *
 * The rational agent has alpha = 0, beta = inf, eta = 0, a uniform action prior and one model,
 * which is the environment (where that is unknown, the mean of the agent's models), on the agent's
 * own lattice. Its belief follows from the recorded history by Bayes' rule. */
#ifndef IDM_EXPLAIN_H
#define IDM_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/fit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An explanation of a log. */
typedef struct idm_explanation idm_explanation;

/* A number over draws of a posterior; of one parameter vector all three are the same. NaN: none. */
typedef struct idm_interval {
  double mean; /* over the draws */
  double low;  /* 5 % */
  double high; /* 95 % */
} idm_interval;

/* Numbers of a row. */
typedef enum idm_explain_part {
  IDM_EXPLAIN_BELIEF,             /* [state]: of the agent, before the row */
  IDM_EXPLAIN_PROBABILITY,        /* [action] */
  IDM_EXPLAIN_QUALITY,            /* [action]: the agent's Q */
  IDM_EXPLAIN_OBS_SURPRISE,       /* -log p(x|z,u) of the observation, by the agent's prediction */
  IDM_EXPLAIN_LOG_LIKELIHOOD,     /* contribution of the row to the score */
  IDM_EXPLAIN_RATIONAL_BELIEF,    /* [state]: of the rational agent */
  IDM_EXPLAIN_RATIONAL,           /* [action]: its policy there; ties share the probability */
  IDM_EXPLAIN_RATIONAL_AT_BELIEF, /* [action]: the same policy at the agent's belief */
  IDM_EXPLAIN_REGRET, /* max_u Q*(z,u) - Q*(z,u_t) over available actions, z the rational belief */
  IDM_EXPLAIN_DUE,    /* probability that every best action is one that is due */
  IDM_EXPLAIN_PARTS
} idm_explain_part;

/* Summary of a trajectory. Steps count from 1. */
typedef struct idm_case_summary {
  size_t step;   /* at which it ended, or took the action that is due; the one after its last row
                    where   it did neither */
  size_t due;    /* first step at which the rational policy would have; 0: not within the log */
  long delayed;  /* step - due; -1 where due is 0 */
  bool censored; /* it did neither within the log: the delay is a lower bound */
  double regret; /* sum over its rows; NaN where one has none */
} idm_case_summary;

/* Summary of an agent. Reaction: least squares of log z' on p log z + e log LR over all updates, in
 * logarithms of beliefs centred over the states; z is the environment's prediction from the belief
 * before the observation, and log LR the change by Bayes' rule. By Bayes' rule p = e = 1. Updates
 * are rows with a recorded action that does not end the trajectory and an observation that changes
 * either belief. Confirming and disconfirming: mean change of the log-odds of the state that was
 * most probable before, divided by the change by Bayes' rule, over updates in which Bayes' rule
 * moves towards that state and away from it. NaN: too few updates. */
typedef struct idm_person_summary {
  size_t decisions;       /* rows with a recorded action of which more than one was available */
  double surprise;        /* mean of -log pi(u|z) over them */
  double regret;          /* mean over the rows that have one */
  size_t updates;         /* number of updates behind the next three */
  idm_interval base_rate; /* p; below 1: base-rate neglect */
  idm_interval reaction;  /* e; above 1: overreaction */
  idm_interval noise;     /* alpha divided by the range of the utilities; NaN where there is none */
  size_t confirming_updates;    /* number of updates behind `confirming` */
  size_t disconfirming_updates; /* and behind `disconfirming` */
  idm_interval confirming;      /* reaction to evidence for the most probable state */
  idm_interval disconfirming;   /* and against it */
  idm_interval asymmetry;       /* confirming - disconfirming */
} idm_person_summary;

/* Settings of an explanation; idm_explain_settings_default fills them. */
typedef struct idm_explain_settings {
  int32_t due;        /* index of the action that is due; IDM_MISSING: any that ends a trajectory */
  size_t top;         /* largest length of the ranked lists */
  int64_t trajectory; /* the only one that is ranked; -1: all */
  size_t draws;       /* largest number of posterior draws that numbers are over */
  const char *by; /* of a population: the column that identifies people, as in the fit; NULL: the
                     agents of the log */
} idm_explain_settings;
/* Fill in the defaults. */
IDM_API void idm_explain_settings_default(idm_explain_settings *settings);

/* Explain a log by the parameters of opt_problem, or by the draws of opt_posterior in the problem
 * that was fitted; of a population every trajectory by the draws of its person. Notes name what
 * replaces an unknown environment. IDM_USAGE unless one of the two is NULL. */
IDM_API idm_status idm_explain(const idm_problem *opt_problem, const idm_posterior *opt_posterior,
                               const idm_data *data, const idm_explain_settings *opt_settings,
                               idm_explanation **ret_explanation, idm_notes *opt_notes,
                               idm_error *opt_error);
/* Free an explanation; NULL is allowed. */
IDM_API void idm_explanation_destroy(idm_explanation *explanation);

/* Numbers of trajectories and of agents (people where the posterior is of people). */
IDM_API size_t idm_explanation_cases(const idm_explanation *explanation);
IDM_API size_t idm_explanation_people(const idm_explanation *explanation);
/* Summary of a trajectory and of an agent; NULL past the last. They belong to the explanation. */
IDM_API const idm_case_summary *idm_explanation_case(const idm_explanation *explanation,
                                                     size_t index);
IDM_API const idm_person_summary *idm_explanation_person(const idm_explanation *explanation,
                                                         size_t index);
/* Number `i` of a part of a row. */
IDM_API idm_interval idm_explanation_interval(const idm_explanation *explanation, size_t row,
                                              idm_explain_part part, size_t i);
/* -log of the (mean) probability of the action taken; 0 where it was forced, NaN where it was not
 * recorded. */
IDM_API idm_interval idm_explanation_surprise(const idm_explanation *explanation,
                                              const idm_data *data, size_t row);
/* Biases of recognition that the numbers of an agent show: name of bias `index` of the table of
 * docs/reference/explain.md, and whether the agent shows it. NULL past the last. */
IDM_API const char *idm_explanation_bias_name(size_t index);
IDM_API bool idm_explanation_has_bias(const idm_explanation *explanation, size_t person,
                                      size_t index);

#ifdef __cplusplus
}
#endif
#endif
