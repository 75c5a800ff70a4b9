/* What td-learner learns from an event. */
#include "plan/tabular/td_rule.h"
#include "base/memory.h"
#include "idm/data.h"

static idm_status refuse(const char *what, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT,
                  "%s, and td-learner learns from it: expected every action and (in a fully "
                  "observed problem) every state to be recorded; leave such agents out by --where",
                  what);
}

/* A missed response: the state is what the log has next, and nothing is learnt. */
static idm_status look_missed(const td_learner *l, const td_memory *m, const idm_event *event,
                              td_update *update, idm_error *opt_error)
{
  *update = (td_update){.state = m->state, .missed = true, .action = l->actions, .rate = TD_GAIN};
  if (l->states > 1 && event->observation != IDM_MISSING) update->next = (size_t)event->observation;
  if (l->states > 1 && event->observation == IDM_MISSING && !event->last)
    return refuse("a state was not recorded", opt_error);
  return IDM_OK;
}

idm_status idm_td_look(const td_learner *l, const td_memory *m, const idm_event *event,
                       td_update *update, idm_error *opt_error)
{
  if (event->missed) return look_missed(l, m, event, update, opt_error);
  if (event->action == IDM_MISSING) return refuse("an action was not recorded", opt_error);
  const size_t u = (size_t)event->action;
  const bool goes_on = !l->setting->ends[u] && !l->setting->terminal[u] &&
                       !idm_setting_arrives(l->setting, event->observation);
  const double *value = m->value;
  td_update d = {.state = m->state, .action = u, .goes_on = goes_on, .reward = event->reward};
  if (l->states > 1 && goes_on && event->observation == IDM_MISSING)
    return refuse("a state was not recorded", opt_error);
  if (l->states > 1 && goes_on) d.next = (size_t)event->observation;
  for (size_t v = 1; v < l->actions; v++)
    if (value[d.next * l->actions + v] > value[d.next * l->actions + d.best]) d.best = v;
  const double next = goes_on ? l->discount * value[d.next * l->actions + d.best] : 0;
  d.error = d.reward + next - value[d.state * l->actions + u];
  const bool gain = l->asymmetry == IDM_ASYMMETRY_OUTCOME ? d.reward > 0 : d.error >= 0;
  d.rate = gain ? TD_GAIN : TD_LOSS;
  *update = d;
  return IDM_OK;
}

void idm_td_learn(const td_learner *l, const td_update *d, double *value)
{
  const double rate = l->number[d->rate];
  double *q = value + d->state * l->actions;
  for (size_t v = 0; v < l->actions; v++) {
    if (v == d->action)
      q[v] += rate * d->error;
    else if (!l->fictive)
      q[v] *= 1 - l->number[TD_DECAY];
    else if (!d->missed)
      q[v] += rate * (-d->reward - q[v]);
  }
}

idm_status idm_td_start(const td_learner *l, const double *opt_start, size_t *ret_state,
                        idm_error *opt_error)
{
  const double *start = opt_start ? opt_start : l->setting->start;
  *ret_state = 0;
  if (l->states == 1) return IDM_OK;
  while (*ret_state < l->states && start[*ret_state] != 1) ++*ret_state;
  if (*ret_state < l->states) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "td-learner has to know the state that a trajectory starts in, and `start` says "
                  "only how likely each is");
}

/* The block of each number. */
static const size_t block_of[TD_BY] = {[TD_BY_GAIN] = IDM_BLOCK_COUNT + TD_GAIN,
                                       [TD_BY_LOSS] = IDM_BLOCK_COUNT + TD_LOSS,
                                       [TD_BY_DECAY] = IDM_BLOCK_COUNT + TD_DECAY,
                                       [TD_BY_INITIAL] = IDM_BLOCK_COUNT + TD_INITIAL,
                                       [TD_BY_DISCOUNT] = IDM_DISCOUNT};

td_numbers idm_td_free_numbers(const idm_theta *theta)
{
  td_numbers found = {0};
  for (size_t k = 0; k < TD_BY; k++)
    if (theta->block[block_of[k]].role == IDM_DESCRIPTIVE) found.number[found.count++] = k;
  return found;
}

void idm_td_put_slope(idm_theta *slope, double temperature, const double *by, habit_slope both)
{
  for (size_t k = 0; k < TD_BY; k++) slope->block[block_of[k]].value[0] = by[k];
  slope->block[IDM_BLOCK_COUNT + TD_TEMPERATURE].value[0] = temperature;
  slope->block[IDM_PERSEVERANCE].value[0] = both.perseverance;
  slope->block[IDM_LAPSE].value[0] = both.lapse;
}
