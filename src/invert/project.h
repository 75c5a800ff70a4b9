/* Distances between agents and behaviours: projections, comparison of two agents, and imitation of
 * a planner.
 *
 * Contents: project · compare · imitate */
#ifndef IDM_INVERT_PROJECT_H
#define IDM_INVERT_PROJECT_H

#include "base/arguments.h"
#include "idm/extension/inverse.h"
#include "idm/extension/planner.h"
#include "idm/extension/posterior.h"
#include "idm/fit.h"

/* === project ================================================================================ */

/* Projections (F o G): distance between the behaviour of an answer and a log. See
 * docs/method/inverse.md, 6. */

/* Measure the distance of the behaviour of `theta` from the data. All numbers are NaN if the data
 * come from several environments, since a policy is planned for one. */
IDM_CHECKED idm_status idm_projection_measure(const idm_problem *problem, const idm_theta *theta,
                                              const idm_data *data, idm_projection *projection,
                                              idm_error *opt_error);
/* The same for the centre of an answer. */
IDM_CHECKED idm_status idm_projection_measure_centre(const idm_problem *problem,
                                                     const idm_posterior *posterior,
                                                     const idm_data *data,
                                                     idm_projection *projection,
                                                     idm_error *opt_error);
/* The same for the mean of the policies over the draws of a posterior, at most 1,000. If utilities
 * and beliefs are not identified separately, no single parameter represents all draws, and the
 * centre may represent none. With a single draw, the centre. */
IDM_CHECKED idm_status idm_projection_draws(const idm_problem *problem,
                                            const idm_posterior *posterior, const idm_data *data,
                                            idm_projection *projection, idm_error *opt_error);
/* F o G: fit with an inverse planner, then measure the behaviour at the centre of the result.
 * *ret_posterior is owned by the caller. Errors as idm_inverse_fit. */
IDM_CHECKED idm_status idm_project(const idm_problem *problem, const idm_data *data,
                                   const idm_inverse *inverse, const idm_fit_settings *settings,
                                   const idm_fit_monitor *opt_monitor,
                                   idm_posterior **ret_posterior, idm_projection *projection,
                                   idm_notes *opt_notes, idm_error *opt_error);

/* === compare ================================================================================ */

/* Compare two agents of one problem: distance of their utilities, and divergence of their policies.
 */

/* An agent: that of a problem, or one inferred by a run. */
typedef struct idm_compared_agent {
  const idm_problem *problem;
  const idm_posterior *opt_posterior; /* NULL: the parameter of the problem */
} idm_compared_agent;

typedef struct idm_agent_distance {
  double distance; /* distance of the two utilities, at the centre of a run: 0 where they are equal
                      up to shaping, scale and shift, 1 where one is the negative of the other; NaN
                      where a planner has no utility. See docs/method/inverse.md, 6 */
  double kl[2]; /* mean KL(first || second) and KL(second || first), in nats per decision, over the
                   states that the first argument of each visits; policies of a run are means over
                   at most 200 of its draws. NaN where a planner has no policy by state */
  bool has_distance;   /* `distance` is available */
  bool has_divergence; /* `kl` is available */
} idm_agent_distance;

/* Compare two agents into *result. IDM_INPUT where the problems differ in the names of states,
 * actions or observations, in start or end of episodes, in the dynamics of the environment, in the
 * discount or in the action prior: a difference up to shaping is then not defined. */
IDM_CHECKED idm_status idm_compare(const idm_compared_agent *first,
                                   const idm_compared_agent *second, idm_agent_distance *result,
                                   idm_error *opt_error);

/* === imitate ================================================================================ */

/* Imitation: fit the free numbers of one planner to the policies of another planner over many
 * problems. */

/* Mean KL(teacher || student) in nats over the states of `count` fully observed problems of the
 * same sizes, with equal weight per state. The student is the agent of each problem, which must
 * decide by a belief. Result in *ret_divergence. */
IDM_CHECKED idm_status idm_imitation_divergence(const idm_planner *teacher,
                                                idm_problem *const *problem, size_t count,
                                                double *ret_divergence, idm_error *opt_error);
/* Minimise that divergence over the free numbers of the first problem, with L-BFGS started at their
 * current values and at most `limit` steps. The same numbers apply to all problems and are written
 * into each. Priors are ignored. */
IDM_CHECKED idm_status idm_imitate(const idm_planner *teacher, idm_problem *const *problem,
                                   size_t count, int limit, double *ret_divergence,
                                   idm_error *opt_error);

#endif
