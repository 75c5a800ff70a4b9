/* Explanation of single cases: a log step by step, compared with the decisions of a rational agent.
 *
 * Rational means alpha = 0, beta = inf, eta = 0, a uniform action prior, one model, which is the
 * environment (if the environment is unknown, the mean of the agent's models replaces it), and the
 * lattice of the agent. The rational agent has its own belief: Bayes' rule applied to the recorded
 * history. Equations: docs/method/explain.md. */
#ifndef IDM_EXPLAIN_H
#define IDM_EXPLAIN_H

#include "idm/trials.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Mean and 90 % interval of a number over the draws of a posterior. For a single parameter all
 * three are equal. NaN: undefined. */
typedef struct idm_interval {
  double mean;
  double low;  /* 5 % quantile */
  double high; /* 95 % quantile */
} idm_interval;

/* Numbers of a row. Those before IDM_EXPLAIN_RATIONAL_BELIEF are the numbers of idm_trials. */
typedef enum idm_explain_part {
  IDM_EXPLAIN_BELIEF,          /* [state]: belief of the agent before the row */
  IDM_EXPLAIN_PROBABILITY,     /* [action] */
  IDM_EXPLAIN_QUALITY,         /* [action]: the agent's own Q */
  IDM_EXPLAIN_OBS_SURPRISE,    /* -log p(x|z,u) of the recorded x under the agent's models */
  IDM_EXPLAIN_LOG_LIKELIHOOD,  /* contribution of the row to the log-likelihood */
  IDM_EXPLAIN_RATIONAL_BELIEF, /* [state]: belief of the rational agent before the row */
  IDM_EXPLAIN_RATIONAL, /* [action]: rational policy at that belief; ties share the probability */
  IDM_EXPLAIN_RATIONAL_AT_BELIEF, /* [action]: rational policy at the belief of the agent */
  IDM_EXPLAIN_REGRET, /* max_u Q*(z,u) - Q*(z,u_t) over the available actions, at the rational
                         belief z */
  IDM_EXPLAIN_DUE,    /* probability over the draws that every best action is a due action */
  IDM_EXPLAIN_PARTS
} idm_explain_part;

/* Summary of a trajectory. Steps count from 1. See docs/method/explain.md, 2. */
typedef struct idm_case_summary {
  size_t step;   /* step of the first due action; the number of rows plus 1 if there is none */
  size_t due;    /* first step at which the rational policy is due; 0: none */
  long delayed;  /* step - due; -1 if due is 0 or lies after step */
  bool censored; /* no due action within the log: `delayed` is a lower bound */
  double regret; /* sum over the rows; NaN if a row has none */
} idm_case_summary;

/* Summary of an agent. Reaction to evidence (docs/method/explain.md, 3): least squares regression
 * of log z' on p log z + e log LR over all updates of the agent. Logarithms of beliefs are centred
 * over the states (with two states this is the logit). z is the belief that the environment
 * predicts before the observation, log LR the change by Bayes' rule. Bayesian updating has p = e =
 * 1. An update is a row with a recorded action that does not end the trajectory and an observation
 * that changes the belief, by the agent's updating or by Bayes' rule. NaN: too few updates.
 *
 * Confirming and disconfirming: mean change of the log-odds of the most likely state before the
 * observation, divided by the change by Bayes' rule. Confirming updates are those in which Bayes'
 * rule increases these log-odds, disconfirming updates those in which it decreases them. Both
 * ratios are 1 under Bayes' rule. Updates from a belief without a unique most likely state, and
 * updates in which Bayes' rule does not change the log-odds, belong to neither kind. */
typedef struct idm_person_summary {
  size_t decisions; /* rows with a recorded action and more than one available action */
  double surprise;  /* mean of -log pi(u|z) over the decisions */
  double regret;    /* mean over the decisions; NaN if one has none */
  size_t updates;
  idm_interval base_rate; /* p; below 1: base-rate neglect */
  idm_interval reaction;  /* e; above 1: overreaction */
  idm_interval noise; /* alpha divided by the range of the utilities (alpha itself if its unit is
                         the range); NaN if the planner has no alpha */
  size_t confirming_updates;
  size_t disconfirming_updates;
  idm_interval confirming;
  idm_interval disconfirming;
  idm_interval asymmetry; /* confirming - disconfirming */
} idm_person_summary;

/* Named biases of recognition. A bias is reported if the 90 % interval of its number lies more than
 * 10 % beyond the value under Bayes' rule, with at least IDM_BIAS_UPDATES updates of each kind that
 * the number is computed from. */
#define IDM_BIAS_LIST(X)                                                                           \
  X(IDM_BIAS_BASE_RATE_NEGLECT, "base-rate neglect", "weight of the base rate below 0.9")          \
  X(IDM_BIAS_CONSERVATISM, "conservatism", "reaction to evidence below 0.9")                       \
  X(IDM_BIAS_OVERREACTION, "overreaction", "reaction to evidence above 1.1")                       \
  X(IDM_BIAS_CONFIRMATION, "confirmation bias", "confirming - disconfirming above 0.1")
typedef enum idm_bias {
#define IDM_BIAS_ENUM(id, name, rule) id,
  IDM_BIAS_LIST(IDM_BIAS_ENUM)
#undef IDM_BIAS_ENUM
      IDM_BIAS_COUNT
} idm_bias;
#define IDM_BIAS_MARGIN 0.1
enum { IDM_BIAS_UPDATES = 20 };

typedef struct idm_explain_settings {
  int32_t due;        /* the due action; IDM_MISSING: any action that ends a trajectory */
  size_t top;         /* maximum length of the ranked lists */
  int64_t trajectory; /* rank this trajectory only; -1: all */
  size_t draws;       /* maximum number of posterior draws, evenly spaced */
  const char *by; /* of a posterior of people: the column that identifies the person, as in the fit;
                     NULL: agent */
} idm_explain_settings;

typedef struct idm_explanation {
  idm_trials *trials;    /* rows, with the numbers of idm_explain_part */
  size_t reaction_draws; /* draws used for reactions: fewer than `draws` if there are very many
                            people */
  size_t trajectories;
  idm_case_summary *one; /* [trajectory] */
  size_t agents;   /* number of agents of the log, or of people if the posterior is of people */
  idm_labels name; /* [agent] */
  uint32_t *agent; /* [trajectory]: index of its agent */
  idm_person_summary *person; /* [agent] */
  size_t surprising;
  size_t *surprising_row; /* decisions in decreasing order of surprise: those less probable than
                             under uniform choice among the available actions */
  size_t delayed;
  size_t *delayed_case; /* trajectories in decreasing order of delay, then of regret: those delayed
                           by 1 step or more */
} idm_explanation;

/* Name of a bias; NULL if `bias` is out of range. */
IDM_API const char *idm_bias_name(idm_bias bias);
/* Rule by which a bias is reported, as text; NULL if `bias` is out of range. */
IDM_API const char *idm_bias_rule(idm_bias bias);
/* True if the numbers of an agent show a bias (see IDM_BIAS_LIST). */
IDM_API bool idm_person_has_bias(const idm_person_summary *person, idm_bias bias);

/* Fill the default settings. */
IDM_API void idm_explain_settings_default(idm_explain_settings *settings);
/* Explain a log by the parameter of the problem (opt_posterior NULL) or by the draws of a
 * posterior. If the posterior is of people (axis `person`), every trajectory is explained by the
 * draws of its person (settings.by). The problem must be bound to the data. Notes name what
 * replaces unknown quantities. *ret_explanation is owned by the caller. IDM_USAGE for settings out
 * of range or data of another problem; IDM_INPUT for more than 1,000 states with sparse
 * transitions. */
IDM_API idm_status idm_explain(const idm_problem *problem, const idm_posterior *opt_posterior,
                               const idm_data *data, const idm_explain_settings *opt_settings,
                               idm_explanation **ret_explanation, idm_notes *opt_notes,
                               idm_error *opt_error);
/* Free an explanation. Accepts NULL. */
IDM_API void idm_explanation_destroy(idm_explanation *explanation);
/* Number i of a part of a row. NaN if the row, the part or i is out of range. */
IDM_API idm_interval idm_explanation_interval(const idm_explanation *explanation, size_t row,
                                              idm_explain_part part, size_t i);
/* -log of the mean probability of the recorded action: 0 if only one action was available, NaN if
 * no action was recorded. */
IDM_API idm_interval idm_explanation_surprise(const idm_explanation *explanation,
                                              const idm_data *data, size_t row);
/* Names of the most likely actions of a policy of a row (IDM_EXPLAIN_RATIONAL or
 * IDM_EXPLAIN_RATIONAL_AT_BELIEF or IDM_EXPLAIN_PROBABILITY). Ties are joined by '|'. Empty if the
 * row has no policy. *ret_names is freed by the caller with free(). IDM_USAGE if the setting has
 * other sizes. */
IDM_API idm_status idm_explanation_actions(const idm_explanation *explanation,
                                           const idm_setting *setting, size_t row,
                                           idm_explain_part part, char **ret_names,
                                           idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
