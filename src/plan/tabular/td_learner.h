/* The learner by temporal differences: what it keeps of an
 * agent, and how an event changes it. */
#ifndef IDM_PLAN_TABULAR_TD_LEARNER_H
#define IDM_PLAN_TABULAR_TD_LEARNER_H

#include "idm/behavior.h"
#include "plan/habit.h"

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
  habit habits;
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
  bool missed;   /* nothing was done: time passes */
  size_t action; /* none of the actions where it was missed */
  bool goes_on;  /* to `next`, where `best` is the largest value */
  size_t next;
  size_t best;
  double reward;
  double error; /* delta */
  size_t rate;  /* TD_GAIN or TD_LOSS */
} td_update;

#endif
