/* Planners that learn by acting, or from transitions of a log; the temporal-difference learner and
 * its derivatives.
 *
 * Contents: learning cache · batch · controller · td learner · td rule · td lanes */
#ifndef IDM_PLAN_TABULAR_LEARNER_H
#define IDM_PLAN_TABULAR_LEARNER_H

#include "idm/extension/behavior.h"
#include "idm/extension/planner.h"
#include "idm/extension/random.h"
#include "plan/choice.h"

/* === learning cache ========================================================================= */

/* Parameters of theta for which a planner last learnt. Its plan is a function of them, so that
 * nothing is learnt again while only perseverance and lapse change. */

typedef struct learning_cache {
  bool learnt;                       /* a plan was learnt */
  double *number;                    /* discount, alpha, utilities of all variants */
  idm_learning_report learnt_report; /* report of that plan */
} learning_cache;

bool idm_learning_cache_create(learning_cache *l, const idm_theta *theta);
void idm_learning_cache_destroy(learning_cache *l);
/* Whether theta differs from the parameters of the last plan; stores those of theta. */
bool idm_learning_cache_update(learning_cache *l, const idm_theta *theta);
/* Forces learning at the next plan, for any theta. */
void idm_learning_cache_reset(learning_cache *l);
/* Report of the plan. */
idm_plan_report idm_learning_cache_report(const learning_cache *l);

/* === batch ================================================================================== */

/* Transitions of a log, for planners that store them: see idm/extension/planner.h. */

/* Returns a copy; NULL if memory runs out. */
idm_batch *idm_batch_copy(const idm_batch *batch);

/* === controller ============================================================================= */

/* Stochastic finite-state controller: in a node it draws an action, and given the next observation
 * it draws the next node. Node 0 is the first of a trajectory. */

/* One number per choice that it may make: probabilities, logits, sums or counts. */
typedef struct controller_table {
  double *choice;          /* [node][action] */
  double *node_transition; /* [node][action][observation][next node] */
} controller_table;

/* Number of controllers that are learnt from random starts; the best one is kept. */
enum { CONTROLLER_RESTARTS = 6 };

/* A step of an episode. */
typedef struct controller_step {
  uint32_t node;
  uint32_t action;
  uint32_t observation;
  uint32_t next;
  double reward;
} controller_step;

typedef struct controller {
  const idm_setting *setting; /* borrowed */
  idm_sizes sizes;
  size_t nodes;
  size_t variants;
  size_t budget; /* transitions per variant */
  uint64_t seed;
  choice_bias choice_biases;
  controller_table *learnt;      /* [variant]: probabilities */
  learning_cache learning_cache; /* parameters that they were learnt for */
  /* Scratch of learning: */
  controller_table logit;
  controller_table probability;
  controller_table start[CONTROLLER_RESTARTS]; /* probabilities learnt from each start */
  controller_table count; /* visits in a batch of episodes, discounted from the start of each */
  controller_table sum;   /* sum of returns after them, likewise */
  controller_step *step;  /* [CONTROLLER_MAX_STEPS] */
} controller;

/* Maximum steps of an episode. */
enum { CONTROLLER_MAX_STEPS = 10000 };

static inline size_t idm_controller_pair(const controller *c, size_t node, size_t action)
{
  return node * c->sizes.actions + action;
}
/* Index of the first number by next node. */
static inline size_t idm_controller_row(const controller *c, size_t node, size_t action,
                                        size_t observation)
{
  return (idm_controller_pair(c, node, action) * c->sizes.observations + observation) * c->nodes;
}

/* === td learner ============================================================================= */

/* Temporal-difference learner: its memory of an agent, and the update by an event
 * (docs/method/learners.md, 1). */

/* Its own parameters, in the order of its blocks. */
enum { TD_TEMPERATURE, TD_GAIN, TD_LOSS, TD_DECAY, TD_INITIAL, TD_OWNS };

typedef struct td_learner {
  const idm_setting *setting; /* borrowed */
  size_t states;              /* states that it distinguishes: one if they are hidden */
  size_t actions;
  idm_asymmetry asymmetry;
  bool fictive;
  double number[TD_OWNS];
  double discount;
  choice_bias choice_biases;
} td_learner;

/* Memory of one agent. */
typedef struct td_memory {
  size_t state;
  int last;       /* previous response of this trajectory; IDM_MISSING before the first */
  double *value;  /* Q: [state][action] */
  double *log_pi; /* [action]: scratch */
} td_memory;

/* Update of the values by an event, common to the behaviour and its derivative. */
typedef struct td_update {
  size_t state;
  bool missed;    /* no action was taken: values decay only */
  size_t action;  /* `actions` if the response was missed */
  bool continues; /* with state `next`, where action `best` has the largest value */
  size_t next;
  size_t best;
  double reward;
  double error; /* prediction error delta */
  size_t rate;  /* learning rate: TD_GAIN or TD_LOSS */
} td_update;

/* === td rule ================================================================================ */

/* The learning rule, and the parameters that it depends on. */

/* Computes the update by an event; IDM_INPUT if a cell that it requires was not recorded. */
idm_status idm_td_error(const td_learner *l, const td_memory *m, const idm_event *event,
                        td_update *update, idm_error *opt_error);
/* State at the start of a trajectory; IDM_INPUT if it is not known. */
idm_status idm_td_start(const td_learner *l, const double *opt_start, size_t *ret_state,
                        idm_error *opt_error);
/* Applies an update to the values, in place. */
void idm_td_learn(const td_learner *l, const td_update *update, double *value);

/* Parameters that the values depend on, without those of the choice. */
enum { TD_BY_GAIN, TD_BY_LOSS, TD_BY_DECAY, TD_BY_INITIAL, TD_BY_DISCOUNT, TD_BY };

/* Those of them that are free in a theta. */
typedef struct td_numbers {
  size_t count;
  size_t number[TD_BY];
} td_numbers;
td_numbers idm_td_free_numbers(const idm_theta *theta);

/* Writes derivatives into a theta: with respect to the inverse temperature, each parameter of the
 * values, perseverance and lapse. */
void idm_td_put_gradient(idm_theta *derivative, double temperature, const double *by,
                         choice_bias_gradient both);

/* === td lanes =============================================================================== */

/* Log-likelihoods of several td-learners and their derivatives at once, in vector lanes.
 *
 * The log of each is one path: rows of one agent after another, in one state, with few actions. A
 * step of eight logs is one pass over arrays of eight numbers, which compilers translate to vector
 * instructions (vector.h). */

/* The content is a td_learner. */
extern const idm_lane_ops idm_td_lanes;

#endif
