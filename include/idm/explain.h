/* Single cases: a log step by step, beside what a rational agent would have done with it.
 *
 * Rational means alpha = 0, beta = inf, eta = 0, every action alike a priori, one model, which is
 * the environment (where that is unknown the mean of the agent's models stands in), on the agent's
 * own lattice. Its belief is its own: Bayes on the history that was recorded. */
#ifndef IDM_EXPLAIN_H
#define IDM_EXPLAIN_H

#include "idm/trials.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number over draws of a posterior; of one parameter all three are the same. NaN: there is none.
 */
typedef struct idm_interval {
  double mean;
  double low;  /* 5 % */
  double high; /* 95 % */
} idm_interval;

/* Numbers of a row. Those before IDM_EXPLAIN_RATIONAL_BELIEF are the trials' own. */
typedef enum idm_explain_part {
  IDM_EXPLAIN_BELIEF,             /* [state]: the agent's, before the row */
  IDM_EXPLAIN_PROBABILITY,        /* [action] */
  IDM_EXPLAIN_QUALITY,            /* [action]: the agent's own Q */
  IDM_EXPLAIN_OBS_SURPRISE,       /* -log p(x|z,u) of what was seen, as the agent predicts it */
  IDM_EXPLAIN_LOG_LIKELIHOOD,     /* what the row adds to the score */
  IDM_EXPLAIN_RATIONAL_BELIEF,    /* [state]: the rational agent's */
  IDM_EXPLAIN_RATIONAL,           /* [action]: its policy there, ties shared */
  IDM_EXPLAIN_RATIONAL_AT_BELIEF, /* [action]: the same policy at the agent's belief */
  IDM_EXPLAIN_REGRET,             /* max_u Q*(z,u) - Q*(z,u_t) over the open actions, z its own */
  IDM_EXPLAIN_DUE,                /* how sure it is that every best action is one that is due */
  IDM_EXPLAIN_PARTS
} idm_explain_part;

/* A trajectory. Steps count from 1. */
typedef struct idm_case_summary {
  size_t step;   /* at which it ended, or took the action that is due; where it never did, the one
                    after its last row */
  size_t due;    /* the first at which the rational policy would have; 0: not within the log */
  long delayed;  /* step - due; -1 where due is 0 */
  bool censored; /* it never did within the log: belated is the least that it may be */
  double regret; /* sum over its rows; NaN where one has none */
} idm_case_summary;

/* An agent. Reaction: least squares of log z' on p log z + e log LR over all its updates, in
 * logarithms of beliefs centred over the states (of two states that is the logit), z being what the
 * environment predicts from the belief before the observation, and log LR what Bayes' rule adds to
 * it. Who reasons by Bayes has p = e = 1. Updates are rows with a recorded action that does not end
 * the trajectory, of which something was seen that moved either. NaN: too few of them say it.
 *
 * Confirming and disconfirming: the mean change of the log-odds of the state that was likeliest
 * before, over the change by Bayes' rule, of updates in which Bayes' rule moves towards that state
 * and away from it. Both are 1 by Bayes. Updates from a belief without a likeliest state, and those
 * in which Bayes' rule does not move it, are of neither kind. */
typedef struct idm_person_summary {
  size_t decisions; /* rows with a recorded action of which more than one was open */
  double surprise;  /* mean of -log pi(u|z) over them */
  double regret;    /* mean over the rows that have one */
  size_t updates;
  idm_interval base_rate; /* p; below 1: neglects base rates */
  idm_interval reaction;  /* e; above 1: overreacts */
  idm_interval noise; /* alpha over the range of the utilities (as it is where alpha is in units of
                         the range); NaN where the planner has none */
  size_t confirming_updates;
  size_t disconfirming_updates;
  idm_interval confirming;
  idm_interval disconfirming;
  idm_interval asymmetry; /* confirming - disconfirming */
} idm_person_summary;

/* Biases of recognition that are named: the 90 % interval of a number is beyond 10 % of its value
 * by Bayes' rule, over at least so many updates of each kind that it is of. */
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
  int32_t due;        /* the action that is due; IDM_MISSING: any that ends a trajectory */
  size_t top;         /* length of the ranked lists, at most */
  int64_t trajectory; /* the only one that is ranked; -1: all */
  size_t draws;       /* of a posterior that numbers are over, spread evenly; at most */
  const char *by;     /* of a posterior of people: the column that says who they are, as in the fit;
                         NULL: agent */
} idm_explain_settings;

typedef struct idm_explanation {
  idm_trials *trials;    /* rows, with the numbers of idm_explain_part */
  size_t reaction_draws; /* draws that reactions are over: fewer where people are very many */
  size_t trajectories;
  idm_case_summary *one;      /* [trajectory] */
  size_t agents;              /* of the log, or people where the posterior is of people */
  idm_labels name;            /* [agent] */
  uint32_t *agent;            /* [trajectory]: whose it is */
  idm_person_summary *person; /* [agent] */
  size_t surprising;
  size_t *surprising_row; /* decisions by falling surprise: those less probable than uniform choice
                             among the open actions */
  size_t delayed;
  size_t *delayed_case; /* trajectories by falling delay, then regret; those late by 1 or more */
} idm_explanation;

/* Name of a bias, and the rule by which it is named; NULL past the last. */
IDM_API const char *idm_bias_name(idm_bias bias);
IDM_API const char *idm_bias_rule(idm_bias bias);
/* Whether the numbers of an agent show a bias. */
IDM_API bool idm_person_has_bias(const idm_person_summary *person, idm_bias bias);

IDM_API void idm_explain_settings_default(idm_explain_settings *settings);
/* Explain a log by the problem's own parameter, or by the draws of a posterior; of one of people
 * (axis `person`) every trajectory by those of its person (settings.by). The problem is bound to
 * the data. Notes name what replaces what is not known. */
IDM_API idm_status idm_explain(const idm_problem *problem, const idm_posterior *opt_posterior,
                               const idm_data *data, const idm_explain_settings *opt_settings,
                               idm_explanation **ret_explanation, idm_notes *opt_notes,
                               idm_error *opt_error);
IDM_API void idm_explanation_destroy(idm_explanation *explanation);
/* Number i of a part of a row. */
IDM_API idm_interval idm_explanation_interval(const idm_explanation *explanation, size_t row,
                                              idm_explain_part part, size_t i);
/* -log of the (mean) probability of the action taken, 0 where it was forced; NaN where none was
 * recorded. */
IDM_API idm_interval idm_explanation_surprise(const idm_explanation *explanation,
                                              const idm_data *data, size_t row);
/* The likeliest action of a policy of a row (IDM_EXPLAIN_RATIONAL or the like); those that are as
 * likely are joined by '|'. Empty where there is none. Freed by the caller. */
IDM_API idm_status idm_explanation_actions(const idm_explanation *explanation,
                                           const idm_setting *setting, size_t row,
                                           idm_explain_part part, char **ret_names,
                                           idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
