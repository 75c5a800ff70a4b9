/* The environment as whoever reads a log knows it: by what its beliefs weigh what was not recorded.
 */
#ifndef IDM_PLAN_BELIEVER_ENVIRONMENT_H
#define IDM_PLAN_BELIEVER_ENVIRONMENT_H

#include "belief/filter.h"
#include "idm/behavior.h"

/* tau_env and omega_env, or where the setting does not know them the agent's mean model, and the
 * action prior, all as they stood when it was made: what is computed of them is constant in theta.
 */
typedef struct environment {
  const idm_setting *setting; /* borrowed */
  idm_sizes sizes;
  const double *transition; /* [action][state][next state]; with the setting's moves neither */
  const double *emission;   /* [action][emitter][observation] */
  double *action_prior;     /* [action], owned */
  double *own_transition;   /* NULL where they are the setting's */
  double *own_emission;
} environment;

idm_status idm_environment_create(const idm_setting *setting, const idm_theta *theta,
                                  environment *env, idm_error *opt_error);
/* Takes one that is zeroed. */
void idm_environment_destroy(environment *env);

/* Whether action u may have been that of the event: what was recorded; else one that was open
 * (NULL: all) and did not end a trajectory that went on. Nothing is seen after a terminal action.
 */
static inline bool idm_environment_allows(const environment *env, const idm_event *event,
                                          const bool *opt_open, size_t u)
{
  if (event->action != IDM_MISSING) return (size_t)event->action == u;
  if (opt_open && !opt_open[u]) return false;
  if (env->setting->ends[u] && !event->last) return false;
  return !env->setting->terminal[u] || event->observation == IDM_MISSING;
}

/* p(s', x | e, u) into joint; returns p(x|e,u). After a terminal action nothing is seen: what the
 * log says there says nothing. */
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

/* e°, the belief given nothing but what was recorded, after an event: actions that were not are
 * averaged over by the action prior. Returns the probability of what was seen (1 where it was not
 * recorded); 0, and a belief of zeros, where that is impossible. `joint` is scratch, [state]. */
double idm_environment_update(const environment *env, const idm_event *event, const bool *opt_open,
                              const double *e, double *next, double *joint);

#endif
