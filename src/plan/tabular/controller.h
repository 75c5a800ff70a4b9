/* A stochastic controller of finite memory: in a node it draws an action, and what it sees after it
 * draws the next node. Node 0 is the first of a trajectory. */
#ifndef IDM_PLAN_TABULAR_CONTROLLER_H
#define IDM_PLAN_TABULAR_CONTROLLER_H

#include "idm/planner.h"
#include "idm/random.h"
#include "plan/habit.h"
#include "plan/tabular/lesson.h"

/* A number for every choice that it may make: probabilities, logits, sums or counts. */
typedef struct controller_table {
  double *choice; /* [node][action] */
  double *pass;   /* [node][action][observation][next node] */
} controller_table;

/* Controllers that are learnt from random starts, of which the best is kept. */
enum { CONTROLLER_STARTS = 6 };

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
  habit habits;
  controller_table *learnt; /* [variant]: probabilities */
  lesson lesson;            /* what they were learnt for */
  /* Scratch of learning: */
  controller_table logit;
  controller_table probability;
  controller_table start[CONTROLLER_STARTS]; /* probabilities that each start came to */
  controller_table count; /* visits in a batch of episodes, each discounted from its start */
  controller_table sum;   /* of what followed them, likewise */
  controller_step *step;  /* [the longest episode] */
} controller;

/* Steps that an episode may have. */
enum { CONTROLLER_STEPS = 10000 };

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

/* Learn a variant from episodes alone; what is known of it goes into `found`. */
void idm_controller_learn(controller *c, const idm_theta *theta, size_t variant,
                          idm_experience *found);

#endif
