/* Explanation of single cases: a log step by step, compared with the decisions of a rational agent.
 *
 * Rational means alpha = 0, beta = inf, eta = 0, a uniform action prior, one model, which is the
 * environment (if the environment is unknown, the mean of the agent's models replaces it), and the
 * lattice of the agent. The rational agent has its own belief: Bayes' rule applied to the recorded
 * history. Equations: docs/method/explain.md. */
#ifndef IDM_INVERT_EXPLAIN_H
#define IDM_INVERT_EXPLAIN_H

#include "base/arguments.h"
#include "idm/explain.h"
#include "invert/predict.h"

/* idm_explain in a given problem. */
IDM_CHECKED idm_status idm_explain_log(const idm_problem *problem,
                                       const idm_posterior *opt_posterior, const idm_data *data,
                                       const idm_explain_settings *opt_settings,
                                       idm_explanation **ret_explanation, idm_notes *opt_notes,
                                       idm_error *opt_error);

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
IDM_CHECKED const char *idm_bias_name(idm_bias bias);
/* Rule by which a bias is reported, as text; NULL if `bias` is out of range. */
IDM_CHECKED const char *idm_bias_rule(idm_bias bias);
/* True if the numbers of an agent show a bias (see IDM_BIAS_LIST). */
IDM_CHECKED bool idm_person_has_bias(const idm_person_summary *person, idm_bias bias);

/* Names of the most likely actions of a policy of a row (IDM_EXPLAIN_RATIONAL or
 * IDM_EXPLAIN_RATIONAL_AT_BELIEF or IDM_EXPLAIN_PROBABILITY). Ties are joined by '|'. Empty if the
 * row has no policy. *ret_names is freed by the caller with free(). IDM_USAGE if the setting has
 * other sizes. */
IDM_CHECKED idm_status idm_explanation_actions(const idm_explanation *explanation,
                                               const idm_setting *setting, size_t row,
                                               idm_explain_part part, char **ret_names,
                                               idm_error *opt_error);

#endif
