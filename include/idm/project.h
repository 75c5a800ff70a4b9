/* Projections (F o G): how far the behaviour of an answer is from a log. */
#ifndef IDM_PROJECT_H
#define IDM_PROJECT_H

#include "idm/inverse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far a behaviour is from a log. */
typedef struct idm_projection {
  uint64_t decisions;
  double log_loss;         /* mean -log pi(u|z) a decision, nats */
  double brier;            /* mean sum_v (pi(v|z) - 1{v = u})^2 a decision */
  double uniform_log_loss; /* log_loss of whoever takes every open action alike: chance */
  double rates_log_loss;   /* and of whoever knows the actions' own rates and nothing else */
  double pseudo_r2;        /* 1 - log_loss / uniform_log_loss (McFadden); NaN without decisions */
  double pseudo_r2_rates;  /* the same against the rates; NaN where they leave nothing open */
  uint64_t repeated;       /* decisions at histories that two or more trajectories share */
  double divergence;       /* mean KL(empirical || pi) over those, nats; NaN where none repeats */
} idm_projection;

/* Distance of the behaviour of `theta` from the data: NaN where these are of several environments,
 * since behaviour is planned for one. */
IDM_API idm_status idm_projection_measure(const idm_problem *problem, const idm_theta *theta,
                                          const idm_data *data, idm_projection *projection,
                                          idm_error *opt_error);
/* The same of the behaviour at the answer's centre. */
IDM_API idm_status idm_projection_centre(const idm_problem *problem, const idm_posterior *posterior,
                                         const idm_data *data, idm_projection *projection,
                                         idm_error *opt_error);
/* The same of policies averaged over the draws of a posterior, up to 1,000 of them: where wants and
 * beliefs explain a log alike, no single place stands for all of them, and the centre for none. Of
 * one draw, the centre. */
IDM_API idm_status idm_projection_draws(const idm_problem *problem, const idm_posterior *posterior,
                                        const idm_data *data, idm_projection *projection,
                                        idm_error *opt_error);
/* F o G: fit by the inverse planner, then measure the behaviour at the answer's centre. */
IDM_API idm_status idm_project(const idm_problem *problem, const idm_data *data,
                               const idm_inverse *inverse, const idm_fit_settings *settings,
                               const idm_fit_monitor *opt_monitor, idm_posterior **ret_posterior,
                               idm_projection *projection, idm_notes *opt_notes,
                               idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
