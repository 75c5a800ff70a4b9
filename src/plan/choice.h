/* One step of an agent: perseverance and lapse at choice time, and the parameters of the belief
 * update.
 *
 * Contents: choice bias · update · smallest */
#ifndef IDM_PLAN_CHOICE_H
#define IDM_PLAN_CHOICE_H

#include <math.h>

#include "belief/belief.h"
#include "idm/extension/theta.h"

/* === choice bias ============================================================================ */

/* Perseverance and lapse, applied to the policy at choice time; planning does not account for them
 * (docs/method/likelihood.md, 6).
 *
 * Among the n open actions q(u) is proportional to pi(u) exp(perseverance 1{u = last}), where last
 * is the previous action of the trajectory; then p(u) = (1 - lapse) q(u) + lapse / n. If pi is 0
 * for every open action, q(u) = 1/n. */

typedef struct choice_bias {
  double perseverance;
  double lapse;
} choice_bias;

static inline choice_bias idm_choice_bias_of(const idm_theta *theta)
{
  return (choice_bias){theta->block[IDM_PERSEVERANCE].value[0], theta->block[IDM_LAPSE].value[0]};
}

/* Whether perseverance or lapse changes the choice probabilities. */
static inline bool idm_choice_bias_active(choice_bias h)
{
  return h.perseverance != 0 || h.lapse != 0;
}

/* Whether the previous action must be tracked: perseverance is not 0, or it is free. */
static inline bool idm_choice_bias_uses_last(const idm_theta *theta)
{
  const idm_block *block = &theta->block[IDM_PERSEVERANCE];
  return block->value[0] != 0 || block->role == IDM_DESCRIPTIVE;
}

/* Factor of pi(u), up to a factor common to all actions; at most 1. */
static inline double idm_choice_bias_factor(choice_bias h, int last, size_t u)
{
  const double excess = last == (int)u ? fmin(h.perseverance, 0) : fmin(-h.perseverance, 0);
  return last < 0 || h.perseverance == 0 ? 1 : exp(excess);
}

/* p(u) given q(u) and the number of open actions; the second function takes and returns logarithms.
 */
static inline double idm_choice_lapse(choice_bias h, double q, double open)
{
  return h.lapse != 0 ? (1 - h.lapse) * q + h.lapse / open : q;
}
static inline double idm_choice_log_lapse(choice_bias h, double log_q, double open)
{
  return h.lapse != 0 ? log(idm_choice_lapse(h, exp(log_q), open)) : log_q;
}

/* Computes q[actions] from pi[actions], 0 for closed actions (opt_open NULL: all actions are open).
 * *open receives the number of open actions. Returns false, with q not normalised, if the total
 * over the open actions is at most idm_min_probability. */
bool idm_choice_tilt(choice_bias h, size_t actions, const double *pi, const bool *opt_open,
                     int last, double *q, double *open);
/* Computes log q from log pi, which may be the same array. Returns false if pi is 0 for every open
 * action; q is then uniform over them. */
bool idm_choice_tilt_logs(choice_bias h, size_t actions, const double *log_pi, const bool *opt_open,
                          int last, double *log_q, double *open);

/* Computes q and log q from log pi, which must be finite for at least one open action. */
void idm_choice_tilt_both(choice_bias h, size_t actions, const double *log_pi, const bool *opt_open,
                          int last, double *q, double *log_q, double *open);

/* Derivatives with respect to perseverance and lapse. */
typedef struct choice_bias_gradient {
  double perseverance;
  double lapse;
} choice_bias_gradient;
/* Backward pass of a choice. `derivative` is the derivative with respect to log p(u). Those with
 * respect to log pi are added to to[actions], those with respect to perseverance and lapse to
 * *both. q is the result of idm_choice_tilt. */
void idm_choice_backward(choice_bias h, size_t actions, const double *q, double open, int last,
                         size_t u, double derivative, double *to, choice_bias_gradient *both);

/* === update ================================================================================= */

/* Parameters of the belief update and of the sensor, and whether these or the models' dynamics are
 * free. Inline, because recognition is the inner loop. */

static inline idm_update idm_update_of(const idm_theta *theta)
{
  const double prior = theta->block[IDM_PRIOR_WEIGHT].value[0];
  const double evidence = theta->block[IDM_EVIDENCE_WEIGHT].value[0];
  return (idm_update){prior != 1 || evidence != 1, prior, evidence};
}

/* Sensor of the agent. Its capacity has no effect on observed states. */
static inline idm_sensor idm_sensor_of(const idm_setting *setting, const idm_theta *theta)
{
  const double capacity = theta->block[IDM_SENSOR_CAPACITY].value[0];
  return (idm_sensor){.capacity = setting->fully_observed ? INFINITY : capacity,
                      .sizes = theta->sizes,
                      .models = theta->models,
                      .transition = theta->block[IDM_TRANSITION].value,
                      .emission = theta->block[IDM_EMISSION].value,
                      .model_prior = theta->block[IDM_MODEL_PRIOR].value,
                      .before = setting->emits_before};
}

/* Whether the sensor is limited, or may become so because its capacity is free. The observations
 * that the agent perceived are then not recorded. */
static inline bool idm_sensor_may_limit(const idm_setting *setting, const idm_theta *theta)
{
  const bool free = theta->block[IDM_SENSOR_CAPACITY].role == IDM_DESCRIPTIVE;
  const idm_sensor sensor = idm_sensor_of(setting, theta);
  return !setting->fully_observed && (free || idm_sensor_is_limited(&sensor));
}

/* Whether derivatives with respect to the parameters of the belief update are required: the models'
 * dynamics, prior_weight and evidence_weight. */
static inline bool idm_update_is_free(const idm_theta *theta)
{
  static const idm_block_id makes[] = {IDM_TRANSITION, IDM_EMISSION, IDM_PRIOR_WEIGHT,
                                       IDM_EVIDENCE_WEIGHT};
  for (size_t i = 0; i < sizeof makes / sizeof makes[0]; i++)
    if (theta->block[makes[i]].role == IDM_DESCRIPTIVE) return true;
  return false;
}

/* === smallest =============================================================================== */

/* A smaller probability has lost precision to underflow; its logarithm is computed directly. */

static const double idm_min_probability = 1e-290;

#endif
