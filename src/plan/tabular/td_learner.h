/* The learner by temporal differences, and its derivatives.
 *
 * Contents: td learner · td rule · td slope · td lanes */
#ifndef IDM_PLAN_TABULAR_TD_LEARNER_H
#define IDM_PLAN_TABULAR_TD_LEARNER_H

#include "idm/behavior.h"
#include "plan/choice.h"

/* === td learner ============================================================================= */

/* The learner by temporal differences: what it keeps of an
 * agent, and how an event changes it. */

/* Its own numbers, in the order of its blocks. */
enum { TD_TEMPERATURE, TD_GAIN, TD_LOSS, TD_DECAY, TD_INITIAL, TD_OWNS };

typedef struct td_learner {
  const idm_setting *setting; /* borrowed */
  size_t states;              /* that it tells apart: one where they are hidden */
  size_t actions;
  idm_asymmetry asymmetry;
  bool fictive;
  double number[TD_OWNS];
  double discount;
  choice_bias choice_biases;
} td_learner;

/* Of one agent. */
typedef struct td_memory {
  size_t state;
  int last;       /* response of this trajectory; IDM_MISSING before the first */
  double *value;  /* Q: [state][action] */
  double *log_pi; /* [action]: scratch */
} td_memory;

/* What an event does to values: a rule that both the behaviour and its derivative follow. */
typedef struct td_update {
  size_t state;
  bool missed;    /* nothing was done: time passes */
  size_t action;  /* none of the actions where it was missed */
  bool continues; /* to `next`, where `best` is the largest value */
  size_t next;
  size_t best;
  double reward;
  double error; /* delta */
  size_t rate;  /* TD_GAIN or TD_LOSS */
} td_update;

/* === td rule ================================================================================ */

/* The rule that it learns by, and the numbers that this depends on. */

/* What is to be learnt from an event; IDM_INPUT where what it needs was not recorded. */
idm_status idm_td_error(const td_learner *l, const td_memory *m, const idm_event *event,
                        td_update *update, idm_error *opt_error);
/* The state that a trajectory starts in; IDM_INPUT where it is not known. */
idm_status idm_td_start(const td_learner *l, const double *opt_start, size_t *ret_state,
                        idm_error *opt_error);
/* Values after it, in place. */
void idm_td_learn(const td_learner *l, const td_update *update, double *value);

/* Numbers that values are differentiated by, beside those of the choice. */
enum { TD_BY_GAIN, TD_BY_LOSS, TD_BY_DECAY, TD_BY_INITIAL, TD_BY_DISCOUNT, TD_BY };

/* Those of them that are free in a theta. */
typedef struct td_numbers {
  size_t count;
  size_t number[TD_BY];
} td_numbers;
td_numbers idm_td_free_numbers(const idm_theta *theta);

/* Slopes into a theta: by the inverse temperature, by each number of values, and by habits. */
void idm_td_put_gradient(idm_theta *derivative, double temperature, const double *by,
                         choice_bias_gradient both);

/* === td slope =============================================================================== */

/* Derivatives of the learner by temporal differences. */

/* The content is a td_learner. */
extern const idm_gradient_ops idm_td_gradient;

/* === td lanes =============================================================================== */

/* Log-likelihoods of several td-learners and their derivatives at once, in vector lanes.
 *
 * The log of each is one path: rows of one agent after another, in one state, with few actions. A
 * step of eight of them is one pass over arrays of eight numbers, which compilers turn into vector
 * instructions (vector.h). */

/* The content is a td_learner. */
extern const idm_lane_ops idm_td_lanes;

#endif
