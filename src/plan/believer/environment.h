/* Belief of the environment given a log, which weights events that were not recorded. */
#ifndef IDM_PLAN_BELIEVER_ENVIRONMENT_H
#define IDM_PLAN_BELIEVER_ENVIRONMENT_H

#include "belief/belief.h"
#include "idm/extension/behavior.h"

/* tau_env and omega_env, or the agent's mean models if the setting does not give them, and the
 * action prior, all as of creation: results are constant in theta. */
typedef struct environment {
  const idm_setting *setting; /* borrowed */
  idm_sizes sizes;
  const double *transition; /* [action][state][next state]; unused, like emission, if the setting
                               has sparse transitions */
  const double *emission;   /* [action][emitter][observation] */
  double *action_prior;     /* [action], owned */
  double *own_transition;   /* NULL if transition is the setting's */
  double *own_emission;
} environment;

idm_status idm_environment_create(const idm_setting *setting, const idm_theta *theta,
                                  environment *env, idm_error *opt_error);
/* Accepts a zeroed structure. */
void idm_environment_destroy(environment *env);

/* Whether action u is compatible with the event: the recorded action; or, if none was recorded, an
 * open action (opt_open NULL: all) that does not end a trajectory that continued. There is no
 * observation after a terminal action. */
static inline bool idm_environment_allows(const environment *env, const idm_event *event,
                                          const bool *opt_open, size_t u)
{
  if (event->action != IDM_MISSING) return (size_t)event->action == u;
  if (opt_open && !opt_open[u]) return false;
  if (env->setting->ends[u] && !event->last) return false;
  return !env->setting->terminal[u] || event->observation == IDM_MISSING;
}

/* Computes p(s', x | e, u) into joint[state] and returns p(x|e,u). After a terminal action there is
 * no observation: joint is e, whatever the log contains. */
static inline double idm_environment_joint(const environment *env, const double *e, size_t u,
                                           size_t x, double *joint)
{
  const size_t k = env->sizes.states;
  const idm_sparse_rows *moves = env->setting->moves;
  double p = 0;
  if (env->setting->terminal[u]) {
    for (size_t s = 0; s < k; s++) p += joint[s] = e[s];
    return p;
  }
  if (!env->setting->fully_observed) {
    const idm_action_model action_model = {.states = k,
                                           .observations = env->sizes.observations,
                                           .transition = env->transition + u * k * k,
                                           .emission =
                                               env->emission + u * k * env->sizes.observations,
                                           .before = env->setting->emits_before};
    return idm_filter_joint(&action_model, e, x, joint);
  }
  for (size_t s = 0; s < k; s++) {
    if (!moves) p += e[s] * env->transition[(u * k + s) * k + x];
    joint[s] = 0;
  }
  if (moves) p = idm_filter_next_probability(moves, u, k, e, x);
  joint[x] = p;
  return p;
}

/* Updates e°, the environment's belief given the record, by an event. Actions that were not
 * recorded are averaged over by the action prior. Returns the probability of the observation (1 if
 * it was not recorded); 0, with a belief of zeros, if the event is impossible. `joint` is scratch,
 * [state]. */
double idm_environment_update(const environment *env, const idm_event *event, const bool *opt_open,
                              const double *e, double *next, double *joint);

#endif
