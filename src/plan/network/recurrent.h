/* The planner `recurrent`: a network with a memory of the trajectory. */
#ifndef IDM_PLAN_NETWORK_RECURRENT_H
#define IDM_PLAN_NETWORK_RECURRENT_H

#include "idm/behavior.h"
#include "plan/habit.h"
#include "plan/network/lstm.h"

typedef struct recurrent {
  const idm_setting *setting; /* borrowed */
  lstm net;
  habit habits;
} recurrent;

/* What is read where a trajectory begins: the state, where it is observed and known. */
static inline lstm_input idm_recurrent_begin(const recurrent *r, const double *opt_start)
{
  const double *start = opt_start ? opt_start : r->setting->start;
  const size_t states = r->setting->states.count;
  size_t s = 0;
  while (s < states && start[s] != 1) s++;
  const bool known = r->setting->fully_observed && s < states;
  return (lstm_input){-1, known ? (int32_t)s : -1};
}

/* The content is a recurrent. */
extern const idm_slope_ops idm_recurrent_slope;

#endif
