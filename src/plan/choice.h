/* A step of an agent: the choice, and the update of its belief.
 *
 * Contents: habit · update · smallest */
#ifndef IDM_PLAN_CHOICE_H
#define IDM_PLAN_CHOICE_H

#include <math.h>

#include "belief/filter.h"
#include "idm/theta.h"

/* === habit ================================================================================== */

/* Habit and slips: what the moment of choice makes of a policy, unplanned for.
 *
 * Among the n open actions q(u) ~ pi(u) exp(perseverance 1{u = last}), last the action that the
 * trajectory had before; then p(u) = (1 - lapse) q(u) + lapse / n. Where pi forbids all that is
 * open, q is 1/n. */

typedef struct choice_bias {
  double perseverance;
  double lapse;
} choice_bias;

static inline choice_bias idm_choice_bias_of(const idm_theta *theta)
{
  return (choice_bias){theta->block[IDM_PERSEVERANCE].value[0], theta->block[IDM_LAPSE].value[0]};
}

/* Whether a choice is other than its policy. */
static inline bool idm_choice_bias_active(choice_bias h)
{
  return h.perseverance != 0 || h.lapse != 0;
}

/* Whether what was done last may matter: it does, or a derivative is asked for. */
static inline bool idm_choice_bias_uses_last(const idm_theta *theta)
{
  const idm_block *block = &theta->block[IDM_PERSEVERANCE];
  return block->value[0] != 0 || block->role == IDM_DESCRIPTIVE;
}

/* What pi(u) is multiplied by, up to a factor common to all; at most 1. */
static inline double idm_choice_bias_factor(choice_bias h, int last, size_t u)
{
  const double excess = last == (int)u ? fmin(h.perseverance, 0) : fmin(-h.perseverance, 0);
  return last < 0 || h.perseverance == 0 ? 1 : exp(excess);
}

/* p(u) of q(u), and the same of logarithms. */
static inline double idm_choice_lapse(choice_bias h, double q, double open)
{
  return h.lapse != 0 ? (1 - h.lapse) * q + h.lapse / open : q;
}
static inline double idm_choice_log_lapse(choice_bias h, double log_q, double open)
{
  return h.lapse != 0 ? log(idm_choice_lapse(h, exp(log_q), open)) : log_q;
}

/* q of pi, [actions], 0 where closed (NULL: all are open); false where too little is left of pi to
 * tell. *open: how many are. */
bool idm_choice_tilt(choice_bias h, size_t actions, const double *pi, const bool *opt_open,
                     int last, double *q, double *open);
/* log q of log pi, which may be the same array; false where all that is open is forbidden. */
bool idm_choice_tilt_logs(choice_bias h, size_t actions, const double *log_pi, const bool *opt_open,
                          int last, double *log_q, double *open);

/* Both q and log q of log pi, where one of them at least is not forbidden. */
void idm_choice_tilt_both(choice_bias h, size_t actions, const double *log_pi, const bool *opt_open,
                          int last, double *q, double *log_q, double *open);

/* Slopes with respect to perseverance and lapse. */
typedef struct choice_bias_gradient {
  double perseverance;
  double lapse;
} choice_bias_gradient;
/* What `slope` by log p(u) is by log pi, to be added to to[actions], and by both numbers; q as
 * above. */
void idm_choice_backward(choice_bias h, size_t actions, const double *q, double open, int last,
                         size_t u, double derivative, double *to, choice_bias_gradient *both);

/* === update ================================================================================= */

/* How an agent takes up what it sees, and whether that or its models are free. Inline, because
 * recognition spends its time here. */

static inline idm_update idm_update_of(const idm_theta *theta)
{
  const double prior = theta->block[IDM_PRIOR_WEIGHT].value[0];
  const double evidence = theta->block[IDM_EVIDENCE_WEIGHT].value[0];
  return (idm_update){prior != 1 || evidence != 1, prior, evidence};
}

/* The sensor of an agent. Observed states are seen whatever its capacity. */
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

/* Whether the sensor is limited, or may become so: then what an agent perceived is not recorded. */
static inline bool idm_sensor_may_limit(const idm_setting *setting, const idm_theta *theta)
{
  const bool free = theta->block[IDM_SENSOR_CAPACITY].role == IDM_DESCRIPTIVE;
  const idm_sensor sensor = idm_sensor_of(setting, theta);
  return !setting->fully_observed && (free || idm_sensor_is_limited(&sensor));
}

/* Whether derivatives by what makes beliefs are wanted: the models' dynamics, and how they are
 * taken up. */
static inline bool idm_update_is_free(const idm_theta *theta)
{
  static const idm_block_id makes[] = {IDM_TRANSITION, IDM_EMISSION, IDM_PRIOR_WEIGHT,
                                       IDM_EVIDENCE_WEIGHT};
  for (size_t i = 0; i < sizeof makes / sizeof makes[0]; i++)
    if (theta->block[makes[i]].role == IDM_DESCRIPTIVE) return true;
  return false;
}

/* === smallest =============================================================================== */

/* Below this a probability has lost digits to underflow, and its logarithm is asked for instead. */

static const double idm_min_probability = 1e-290;

#endif
