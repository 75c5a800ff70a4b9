/* The worlds that an agent holds possible, where states are observed: one a model of its own, and
 * what the worst of them leave of a policy. */
#ifndef IDM_INVERT_UTILITY_MODELS_H
#define IDM_INVERT_UTILITY_MODELS_H

#include "invert/utility/mdp.h"

typedef struct idm_models {
  size_t count;     /* models of weight above 0 */
  double *weight;   /* [count] */
  idm_mdp **world;  /* [count] */
  bool *differ;     /* [action][state]: whether they tell different things of it */
  size_t differing; /* how many there are */
  double *next;     /* [count]: scratch, so that a thread has its own */
} idm_models;

/* Of a problem whose environment is `world`, which must outlive them. */
idm_status idm_models_create(const idm_problem *problem, const idm_mdp *world,
                             idm_models **ret_models, idm_error *opt_error);
void idm_models_destroy(idm_models *models);

/* The world of a mixture, sigma[action][state][model]. */
idm_status idm_models_mix(const idm_models *models, const double *sigma, idm_mdp **ret_world,
                          idm_error *opt_error);

/* Q[action][state] = utility + min {sum_m sigma_m discount P_m v : 0 <= sigma_m <= weight_m /
 * level, sum sigma = 1}, and the sigma[action][state][model] that attains it. opt_q or opt_sigma
 * may be NULL. */
void idm_models_quality(const idm_models *models, double level, const double *utility,
                        const double *v, double *opt_q, double *opt_sigma);
/* v[state] = sum_u policy[state][u] Q(s,u) of that Q, at every step anew.
 * IDM_NUMERICAL where sweeps do not settle. */
idm_status idm_models_evaluate(const idm_models *models, double level, const double *policy,
                               const double *utility, double *v, idm_error *opt_error);

#endif
