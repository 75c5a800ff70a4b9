/* Projections (F o G): distance between the behaviour of an answer and a log. See
 * docs/method/inverse.md, 6. */
#ifndef IDM_PROJECT_H
#define IDM_PROJECT_H

#include "idm/inverse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Distance between a behaviour and a log. */
typedef struct idm_projection {
  uint64_t decisions;
  double log_loss;         /* mean -log pi(u|z) per decision, nats */
  double brier;            /* mean sum_v (pi(v|z) - 1{v = u})^2 per decision */
  double uniform_log_loss; /* log_loss of uniform choice among the available actions */
  double rates_log_loss; /* log_loss of constant action probabilities: the frequencies of the log */
  double pseudo_r2;      /* 1 - log_loss / uniform_log_loss (McFadden); NaN without decisions */
  double pseudo_r2_rates; /* the same relative to rates_log_loss; NaN if that is 0 */
  uint64_t repeated;      /* decisions at histories of two or more trajectories */
  double divergence; /* mean KL(empirical || pi) over the repeated decisions, nats; NaN if there are
                        none */
} idm_projection;

/* Measure the distance of the behaviour of `theta` from the data. All numbers are NaN if the data
 * come from several environments, since a policy is planned for one. */
IDM_API idm_status idm_projection_measure(const idm_problem *problem, const idm_theta *theta,
                                          const idm_data *data, idm_projection *projection,
                                          idm_error *opt_error);
/* The same for the behaviour at the centre of a result. */
IDM_API idm_status idm_projection_centre(const idm_problem *problem, const idm_posterior *posterior,
                                         const idm_data *data, idm_projection *projection,
                                         idm_error *opt_error);
/* The same for the mean of the policies over the draws of a posterior, at most 1,000. If utilities
 * and beliefs are not identified separately, no single parameter represents all draws, and the
 * centre may represent none. With a single draw, the centre. */
IDM_API idm_status idm_projection_draws(const idm_problem *problem, const idm_posterior *posterior,
                                        const idm_data *data, idm_projection *projection,
                                        idm_error *opt_error);
/* F o G: fit with an inverse planner, then measure the behaviour at the centre of the result.
 * *ret_posterior is owned by the caller. Errors as idm_inverse_fit. */
IDM_API idm_status idm_project(const idm_problem *problem, const idm_data *data,
                               const idm_inverse *inverse, const idm_fit_settings *settings,
                               const idm_fit_monitor *opt_monitor, idm_posterior **ret_posterior,
                               idm_projection *projection, idm_notes *opt_notes,
                               idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
