/* Belief of the environment given a log, which weights events that were not recorded. */
#include "plan/believer/environment.h"

#include "base/memory.h"
#include "plan/believer/believer.h"

void idm_environment_destroy(environment *env)
{
  free(env->action_prior);
  free(env->own_transition);
  free(env->own_emission);
}

/* Mean of the models' tables of `count` numbers each, weighted by the model prior. Owned by the
 * caller; NULL if memory runs out. */
static double *mean_table(const idm_theta *theta, idm_block_id id, size_t count)
{
  const double *weight = theta->block[IDM_MODEL_PRIOR].value;
  const double *table = theta->block[id].value;
  double *mean = idm_new(count, sizeof *mean);
  for (size_t m = 0; mean && m < theta->models; m++)
    for (size_t i = 0; i < count; i++) mean[i] += weight[m] * table[m * count + i];
  return mean;
}

idm_status idm_environment_create(const idm_setting *setting, const idm_theta *theta,
                                  environment *env, idm_error *opt_error)
{
  const idm_sizes n = theta->sizes;
  *env = (environment){.setting = setting,
                       .sizes = n,
                       .transition = setting->transition,
                       .emission = setting->emission};
  env->action_prior =
      idm_duplicate(theta->block[IDM_ACTION_PRIOR].value, n.actions, sizeof(double));
  if (setting->moves) return env->action_prior ? IDM_OK : idm_fail_memory(opt_error);
  if (!env->transition)
    env->transition = env->own_transition =
        mean_table(theta, IDM_TRANSITION, n.actions * n.states * n.states);
  if (!env->emission)
    env->emission = env->own_emission =
        mean_table(theta, IDM_EMISSION, n.actions * n.states * n.observations);
  return env->action_prior && env->transition && env->emission ? IDM_OK
                                                               : idm_fail_memory(opt_error);
}

/* Adds share * p(s', x | e, u) to `next`, summed over x if the observation was not recorded. */
static void add_successor(const environment *env, const idm_event *event, size_t u, double share,
                          const double *e, double *next, double *joint)
{
  const size_t k = env->sizes.states;
  if (event->observation != IDM_MISSING) {
    idm_environment_joint(env, e, u, (size_t)event->observation, joint);
  } else if (env->setting->terminal[u]) {
    memcpy(joint, e, k * sizeof *joint);
  } else if (env->setting->moves) {
    idm_filter_predict_sparse(env->setting->moves, u, k, e, joint);
  } else {
    idm_filter_predict(k, env->transition + u * k * k, e, joint);
  }
  for (size_t s = 0; s < k; s++) next[s] += share * joint[s];
}

/* Normalises a belief with sum `total`, and returns `total`; zeros and 0 if the event is
 * impossible. */
static double normalise(double *e, size_t states, double total)
{
  const bool possible = total > idm_zero_probability;
  for (size_t s = 0; s < states; s++) e[s] = possible ? e[s] / total : 0;
  return possible ? total : 0;
}

double idm_environment_update(const environment *env, const idm_event *event, const bool *opt_open,
                              const double *e, double *next, double *joint)
{
  const size_t k = env->sizes.states;
  const size_t actions = env->sizes.actions;
  if (event->action != IDM_MISSING && event->observation != IDM_MISSING)
    return normalise(
        next, k,
        idm_environment_joint(env, e, (size_t)event->action, (size_t)event->observation, next));
  double allowed = 0, prior = 0, total = 0;
  for (size_t u = 0; u < actions; u++) {
    if (!idm_environment_allows(env, event, opt_open, u)) continue;
    prior += env->action_prior[u];
    allowed++;
  }
  memset(next, 0, k * sizeof *next);
  for (size_t u = 0; u < actions; u++)
    if (idm_environment_allows(env, event, opt_open, u))
      add_successor(env, event, u, prior > 0 ? env->action_prior[u] / prior : 1 / allowed, e, next,
                    joint);
  for (size_t s = 0; s < k; s++) total += next[s];
  total = normalise(next, k, total);
  return event->observation == IDM_MISSING && total > 0 ? 1 : total;
}
