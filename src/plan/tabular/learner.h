/* Planners that learn by acting, or from transitions of a log.
 *
 * Contents: lesson · batch · controller */
#ifndef IDM_PLAN_TABULAR_LEARNER_H
#define IDM_PLAN_TABULAR_LEARNER_H

#include "idm/planner.h"
#include "idm/random.h"
#include "plan/choice.h"

/* === lesson ================================================================================= */

/* What a planner that learns by acting has learnt for: its plan is a function of it, so that
 * nothing is learnt twice while only habits move. */

typedef struct learning_cache {
  bool learnt;                       /* there is one */
  double *number;                    /* discount, alpha, utilities of all variants */
  idm_learning_report learnt_report; /* what was known then */
} learning_cache;

bool idm_learning_cache_create(learning_cache *l, const idm_theta *theta);
void idm_learning_cache_destroy(learning_cache *l);
/* Whether theta asks for something else than was learnt last; from then on it is what was. */
bool idm_learning_cache_update(learning_cache *l, const idm_theta *theta);
/* Learn anew at the next plan, whatever theta asks for. */
void idm_learning_cache_reset(learning_cache *l);
/* The plan's report. */
idm_plan_report idm_learning_cache_report(const learning_cache *l);

/* === batch ================================================================================== */

/* Transitions of a log, for planners that keep them: see idm/planner.h. */

/* A copy; NULL where memory is short. */
idm_batch *idm_batch_copy(const idm_batch *batch);

/* === controller ============================================================================= */

/* A stochastic controller of finite memory: in a node it draws an action, and what it sees after it
 * draws the next node. Node 0 is the first of a trajectory. */

/* A number for every choice that it may make: probabilities, logits, sums or counts. */
typedef struct controller_table {
  double *choice;          /* [node][action] */
  double *node_transition; /* [node][action][observation][next node] */
} controller_table;

/* Controllers that are learnt from random starts, of which the best is kept. */
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
  size_t budget; /* transitions to learn a variant from */
  uint64_t seed;
  choice_bias choice_biases;
  controller_table *learnt;      /* [variant]: probabilities */
  learning_cache learning_cache; /* what they were learnt for */
  /* Scratch of learning: */
  controller_table logit;
  controller_table probability;
  controller_table start[CONTROLLER_RESTARTS]; /* probabilities that each start came to */
  controller_table count; /* visits in a batch of episodes, each discounted from its start */
  controller_table sum;   /* of what followed them, likewise */
  controller_step *step;  /* [the longest episode] */
} controller;

/* Steps that an episode may have. */
enum { CONTROLLER_MAX_STEPS = 10000 };

static inline size_t idm_controller_pair(const controller *c, size_t node, size_t action)
{
  return node * c->sizes.actions + action;
}
/* The first of the numbers by next node. */
static inline size_t idm_controller_row(const controller *c, size_t node, size_t action,
                                        size_t observation)
{
  return (idm_controller_pair(c, node, action) * c->sizes.observations + observation) * c->nodes;
}

#endif
