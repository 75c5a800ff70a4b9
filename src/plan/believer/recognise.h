/* Recognition: what an action and an observation make of a belief. Inline, because simulation,
 * likelihood and derivative all spend their time here. */
#ifndef IDM_PLAN_BELIEVER_RECOGNISE_H
#define IDM_PLAN_BELIEVER_RECOGNISE_H

#include <string.h>

#include "belief/filter_slope.h"
#include "idm/theta.h"
#include "plan/update.h"

/* Below this an observation cannot be seen, to all purposes: the quotient may overflow. */
static const double idm_impossible = 1e-300;

/* In place of an observation: nothing was perceived, and the belief is predicted by the transition
 * alone. */
#define IDM_UNPERCEIVED SIZE_MAX

/* The models of an action, and what was seen after it. */
typedef struct recognition {
  const idm_setting *setting;
  const idm_theta *theta;
  const double *z;     /* [state] */
  const double *sigma; /* [model]: sigma(m|z,u) */
  size_t action;
  size_t observation; /* or IDM_UNPERCEIVED */
} recognition;

/* Two states go by a way of their own, with everything in registers. */
static inline bool idm_recognition_is_pair(const recognition *r)
{
  return r->theta->sizes.states == 2 && !r->setting->fully_observed &&
         !idm_update_of(r->theta).bent && r->observation != IDM_UNPERCEIVED;
}

static inline const double *idm_recognition_transition(const recognition *r, size_t model)
{
  const size_t k = r->theta->sizes.states;
  return r->theta->block[IDM_TRANSITION].value +
         (model * r->theta->sizes.actions + r->action) * k * k;
}

/* [emitter], a stride of `observations` apart: the column of what was seen. */
static inline const double *idm_recognition_emission(const recognition *r, size_t model)
{
  const idm_sizes n = r->theta->sizes;
  return r->theta->block[IDM_EMISSION].value +
         (model * n.actions + r->action) * n.states * n.observations + r->observation;
}

static inline idm_world idm_recognition_world(const recognition *r, size_t model)
{
  return (idm_world){.states = r->theta->sizes.states,
                     .observations = r->theta->sizes.observations,
                     .transition = idm_recognition_transition(r, model),
                     .emission = idm_recognition_emission(r, model) - r->observation,
                     .before = r->setting->emits_before,
                     .update = idm_update_of(r->theta)};
}

/* Where slopes by the dynamics of one model, and by how they are taken up, are added in a theta. */
static inline idm_filter_sink idm_recognition_sink(const recognition *r, size_t model,
                                                   idm_theta *slope)
{
  const idm_sizes n = r->theta->sizes;
  const size_t at = model * n.actions + r->action;
  return (idm_filter_sink){
      .transition = slope->block[IDM_TRANSITION].value + at * n.states * n.states,
      .emission = slope->block[IDM_EMISSION].value + at * n.states * n.observations,
      .prior = slope->block[IDM_PRIOR_WEIGHT].value,
      .evidence = slope->block[IDM_EVIDENCE_WEIGHT].value};
}

/* p(s', x | z, u) under one model into joint, or where the update is bent the belief after times
 * p(x|z,u), which is returned. */
static inline double idm_recognition_joint(const recognition *r, size_t model, double *joint)
{
  const idm_sizes n = r->theta->sizes;
  const size_t x = r->observation;
  if (x == IDM_UNPERCEIVED) {
    idm_filter_predict(n.states, idm_recognition_transition(r, model), r->z, joint);
    return 1;
  }
  if (!r->setting->fully_observed) {
    const idm_world world = idm_recognition_world(r, model);
    return idm_filter_joint(&world, r->z, x, joint);
  }
  double p;
  if (r->setting->moves) {
    p = idm_filter_arrive(r->setting->moves, r->action, n.states, r->z, x);
  } else {
    const double *transition = idm_recognition_transition(r, model);
    p = 0;
    for (size_t s = 0; s < n.states; s++) p += r->z[s] * transition[s * n.states + x];
  }
  memset(joint, 0, n.states * sizeof *joint);
  joint[x] = p;
  return p;
}

static inline double idm_recognise_pair(const recognition *r, double *opt_share, double *mean,
                                        double *allowed)
{
  const idm_sizes n = r->theta->sizes;
  const double *transition = idm_recognition_transition(r, 0);
  const double *emission = idm_recognition_emission(r, 0);
  const double z0 = r->z[0];
  const double z1 = r->z[1];
  double predictive = 0, total = 0, first = 0, second = 0;
  for (size_t m = 0; m < r->theta->models; m++) {
    const idm_world_pair pair =
        idm_world_pair_of(transition, emission, n.observations, r->setting->emits_before);
    const double a = z0 * pair.from[0][0] + z1 * pair.from[1][0];
    const double c = z0 * pair.from[0][1] + z1 * pair.from[1][1];
    const double p = a + c;
    const double share = p > idm_impossible ? r->sigma[m] : 0;
    const double weight = p > idm_impossible ? share / p : 0;
    if (opt_share) opt_share[m] = share;
    predictive += share * p;
    total += share;
    first += weight * a;
    second += weight * c;
    transition += 4 * n.actions;
    emission += 2 * n.actions * n.observations;
  }
  const double scale = total > 0 ? 1 / total : 0;
  mean[0] = first * scale;
  mean[1] = second * scale;
  *allowed = total;
  return total > 0 ? predictive : 0;
}

/* The mean over sigma of the models' successors, those left out under which x cannot be seen. What
 * sigma leaves to the others goes into `allowed` and, model by model, opt_share. `joint` is
 * scratch, [state]. Returns the predictive probability sum_m sigma_m p_m(x|z,u); 0 where no model
 * allows x. */
static inline double idm_recognise(const recognition *r, double *opt_share, double *mean,
                                   double *allowed, double *joint)
{
  if (idm_recognition_is_pair(r)) return idm_recognise_pair(r, opt_share, mean, allowed);
  const size_t k = r->theta->sizes.states;
  double predictive = 0;
  double total = 0;
  for (size_t s = 0; s < k; s++) mean[s] = 0;
  for (size_t m = 0; m < r->theta->models; m++) {
    const double sigma = r->sigma[m];
    const double p = sigma > 0 ? idm_recognition_joint(r, m, joint) : 0;
    if (opt_share) opt_share[m] = p > idm_impossible ? sigma : 0;
    if (!(p > idm_impossible)) continue;
    predictive += sigma * p;
    total += sigma;
    for (size_t s = 0; s < k; s++) mean[s] += sigma * (joint[s] / p);
  }
  const double scale = total > 0 ? 1 / total : 0;
  for (size_t s = 0; s < k; s++) mean[s] *= scale;
  *allowed = total;
  return predictive;
}

#endif
