/* Soft plans, regularisers of utilities and smooth margins.
 *
 * Contents: soft plan · soft agent · regulariser · conjugate matching · convex margin · smooth
 * margin */
#ifndef IDM_INVERT_UTILITY_SOFT_PLAN_H
#define IDM_INVERT_UTILITY_SOFT_PLAN_H

#include "base/dense.h"
#include "invert/cancel.h"
#include "invert/proposition.h"
#include "invert/utility/mdp.h"

/* === soft plan ============================================================================== */

/* Soft plans for observed states: V = alpha log sum_u pi~ exp((u + discount P V) / alpha), the
 * policy, its occupancy, and the derivative of the occupancy with respect to the utility
 * (`docs/method/inverse.md, 4`). */

typedef struct idm_soft_plan {
  const idm_mdp *mdp;
  double alpha;
  const double *prior; /* [action]: borrowed */
  size_t stages;       /* steps of the horizon, each with its own policy; 1 without a horizon */
  double *v;           /* [layer][state]: values */
  double *policy;      /* [layer][state][action] */
  double *mass;        /* [layer][state]: occupancy; sums to 1 where no action ends */
  double
      *system; /* [state][state]: factors of I - discount P of the policy; infinite horizon only */
  idm_row_extent *edge; /* [state]: extents of its rows */
  double *advantage;    /* [layer][state][action]: of the direction of the last Hessian product */
  double *work;
} idm_soft_plan;

/* `mdp` and `prior` are borrowed. IDM_INPUT if the discount is 1 and there is no horizon. */
idm_status idm_soft_plan_create(const idm_mdp *mdp, double alpha, const double *prior,
                                idm_soft_plan **ret_plan, idm_error *opt_error);
void idm_soft_plan_destroy(idm_soft_plan *plan);

/* Plans for utility[action][state], starting from the stored values; *value is the value of the
 * start, weighted as occupancies are (idm_mdp_step_weight). IDM_NUMERICAL if values do not
 * converge. */
idm_status idm_soft_plan_solve(idm_soft_plan *plan, const double *utility, double *value,
                               idm_error *opt_error);
/* occupancy[action][state] of the plan: the derivative of its value with respect to the utility. */
void idm_soft_plan_occupancy(const idm_soft_plan *plan, double *occupancy);
/* change[action][state] of the occupancy along a direction [action][state] of the utility: the
 * product of the value's Hessian and the direction. */
void idm_soft_plan_hessian_product(idm_soft_plan *plan, const double *direction, double *change);

/* === soft agent ============================================================================= */

/* Common parts of inverse planners with soft plans: alpha and action prior, the demonstrator's
 * occupancy by action and state, and the unidentified directions of soft plans. */

typedef struct idm_soft_agent {
  double alpha;
  double *prior; /* [action] */
} idm_soft_agent;

/* alpha and action prior with the planner's clamps applied. IDM_INPUT, with `caller` in the
 * message, if alpha is not positive and finite or is in units of the range of the utility, if eta
 * is not 0 or discounting is by delay, or if there are several models. */
idm_status idm_soft_agent_create(const idm_problem *problem, const char *caller,
                                 idm_soft_agent **ret_agent, idm_error *opt_error);
void idm_soft_agent_destroy(idm_soft_agent *agent);

/* mu_demo as of idm_demonstrator_occupancy, in the order of utilities: occupancy[action][state], an
 * array of twice that size, whose second half is scratch. */
idm_status idm_soft_agent_demonstrated(const idm_demonstrator *demonstrator, const idm_mdp *mdp,
                                       const idm_data *data, const idm_setting *setting,
                                       bool empirical, double *occupancy, idm_notes *opt_notes,
                                       idm_error *opt_error);

/* As idm_nullspace_shaping; with a horizon, shaping by potentials that are 0 after the last step:
 * utilities by state whose expectation any number of steps ahead is independent of the actions, and
 * in unvisited states any change that does not prefer one action to another. */
idm_status idm_soft_agent_nullspace(const idm_mdp *mdp, const idm_demonstrator *opt_demonstrator,
                                    const idm_free_utility *free_utility,
                                    idm_optimality *optimality, idm_error *opt_error);

/* === regulariser ============================================================================ */

/* Regularisers zeta of utilities, entry by entry, and their conjugates zeta*(d) = sup_v v d -
 * zeta(v), which measure the distance between the occupancies p and q = p - d of demonstrator and
 * imitator (`docs/method/inverse.md, 9`).
 *
 *   | zeta | of utilities v | zeta*(p - q) |
 *   |---|---|---|
 *   | squared | v^2 / (2 scale) | scale/2 (p - q)^2 |
 *   | absolute | scale abs(v) | 0 where abs(p - q) <= scale, else infinite |
 *   | entropy | scale (v log v - v), v >= 0 | scale exp((p - q) / scale) |
 *   | gail | p (v - log(1 - exp(-v))), v > 0 | p log(p / (p+q)) + q log(q / (p+q)) |
 *   | box | 0 where abs(v) <= scale, else infinite | scale abs(p - q) | */

typedef struct idm_regulariser {
  idm_zeta zeta;
  double scale;
} idm_regulariser;

/* zeta(v) and zeta*(p - q); may be infinite. */
double idm_regulariser_value(const idm_regulariser *r, double p, double v);
double idm_regulariser_conjugate(const idm_regulariser *r, double p, double q);

/* zeta for interior-point methods, with barriers of weight mu at kinks and at the ends of its
 * domain: value, derivative and second derivative at v. Returns false if v is outside the domain.
 * For a smooth zeta, mu has no effect. */
bool idm_regulariser_barrier(const idm_regulariser *r, double p, double v, double mu, double *value,
                             double *slope, double *curvature);
/* Returns a v in the interior of the domain. */
double idm_regulariser_interior(const idm_regulariser *r);

/* Moreau envelope: returns sup_v v (p - q) - zeta(v) - prox_weight/2 (v - centre)^2 and its
 * maximiser v, which is its derivative with respect to p - q: a smooth approximation of zeta*
 * around a utility `centre`. For a smooth zeta*, returns zeta* itself. */
double idm_regulariser_proximal(const idm_regulariser *r, double p, double q, double centre,
                                double prox_weight, double *v);
/* true if zeta* has kinks or a bounded domain, so that `centre` must be iterated. */
bool idm_regulariser_is_nonsmooth(const idm_regulariser *r);

/* === conjugate matching ===================================================================== */

/* Matching side of the paper's proposition, for any regulariser: min over the parameters of a rule
 * or a network of zeta*(p - q) - alpha H, q the occupancy of its policy, by gradients. */

typedef struct idm_conjugate_matching {
  double objective;
  double slope;         /* largest remaining derivative with respect to a parameter of the policy */
  double infeasibility; /* distance of p - q from the domain of zeta* */
  double *policy;       /* [state][action] */
  double *occupancy;    /* [state][action] */
} idm_conjugate_matching;

/* `units`: number of units in the hidden layer of a network; 0: a rule with one weight per state
 * and action. p is by [state][action]. */
idm_status idm_conjugate_match(const idm_problem *problem, const idm_mdp *mdp,
                               const idm_regulariser *regulariser, double alpha, int units,
                               const double *p, idm_conjugate_matching **ret_matching,
                               idm_error *opt_error);
/* Accepts NULL. */
void idm_conjugate_matching_destroy(idm_conjugate_matching *matching);

/* === convex margin ========================================================================== */

/* Margin side of the paper's proposition, for any regulariser: min over all entries v of a utility
 * of share E V_soft(v) - <p, v> + zeta(v), by Newton's method. */

/* p and utility are by [action][state]; entries of states that p does not reach are unchanged.
 * *slope is the largest remaining derivative, of zeta with its last barrier. On return the plan is
 * that of the utility. IDM_NUMERICAL if the iteration does not converge. */
idm_status idm_convex_margin(idm_soft_plan *plan, const idm_regulariser *regulariser,
                             const double *p, double *utility, double *objective, double *slope,
                             idm_error *opt_error);

/* === smooth margin ========================================================================== */

/* Smooth program of regularised-margin (`docs/method/inverse.md, 4`): min over the free numbers x
 * of
 *   share E V_soft(u(x)) - <mu_demo, u(x)> + |x|^2 / (2 lambda). */

typedef struct idm_smooth_margin {
  const idm_free_utility *free_utility;
  idm_soft_plan *plan;
  const double *demonstrated; /* [action][state]: mu_demo */
  double lambda;              /* inf: no penalty on x; of all minimisers the one of least norm */
  idm_cancel *opt_cancel;
} idm_smooth_margin;

/* Objective and gradient[free] = mu - mu_demo + x / lambda at x; on return the plan is that of x.
 */
idm_status idm_smooth_margin_evaluate(const idm_smooth_margin *margin, const double *x,
                                      double *objective, double *gradient, idm_error *opt_error);
/* Minimises from x = 0 by Newton's method; *slope is the largest remaining entry of the gradient,
 * each in units of the number's largest coefficient. On return the plan is that of x. */
idm_status idm_smooth_margin_minimise(const idm_smooth_margin *margin, double *x, double *objective,
                                      double *slope, idm_error *opt_error);

#endif
