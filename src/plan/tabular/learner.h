/* Planners that learn by acting, or from transitions of a log.
 *
 * Contents: learning cache · batch · controller */
#ifndef IDM_PLAN_TABULAR_LEARNER_H
#define IDM_PLAN_TABULAR_LEARNER_H

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

#endif
