/* Soft plans, regularisers of utilities and smooth margins.
 *
 * Contents: soft plan · soft agent · regulariser · conjugate matching · convex margin · smooth
 * margin */
#ifndef IDM_INVERT_UTILITY_SOFT_PLAN_H
#define IDM_INVERT_UTILITY_SOFT_PLAN_H

#include "base/dense.h"
#include "idm/proposition.h"
#include "invert/matching/halt.h"
#include "invert/utility/mdp.h"
#include "invert/utility/sought.h"

/* === soft plan ============================================================================== */

/* Soft plans where states are observed: V = alpha log sum_u pi~ exp((u + discount P V) / alpha),
 * the policy, how often it is where, and how that bends with the utility. */

typedef struct idm_soft_plan {
  const idm_mdp *mdp;
  double alpha;
  const double *prior;  /* [action]: borrowed */
  size_t stages;        /* steps of the horizon, each with its own policy; 1 where there is none */
  double *v;            /* [layer][state]: values */
  double *policy;       /* [layer][state][action] */
  double *mass;         /* [layer][state]: occupancy; sums to 1 where no action ends */
  double *system;       /* [state][state]: I - discount P of the policy, factored; endless only */
  idm_row_extent *edge; /* [state]: of that */
  double *advantage;    /* [layer][state][action]: of the direction last bent along */
  double *work;
} idm_soft_plan;

/* `world` and `prior` are borrowed. IDM_INPUT where the discount is 1 and there is no horizon. */
idm_status idm_soft_plan_create(const idm_mdp *mdp, double alpha, const double *prior,
                                idm_soft_plan **ret_plan, idm_error *opt_error);
void idm_soft_plan_destroy(idm_soft_plan *plan);

/* Plan for utility[action][state], from the values held; *value is that of the start, weighed as
 * occupancies are (idm_mdp_step_weight). IDM_NUMERICAL where values do not settle. */
idm_status idm_soft_plan_solve(idm_soft_plan *plan, const double *utility, double *value,
                               idm_error *opt_error);
/* occupancy[action][state] of the plan: the derivative of its value by the utility. */
void idm_soft_plan_occupancy(const idm_soft_plan *plan, double *occupancy);
/* change[action][state] of the occupancy along a direction [action][state] of the utility: the
 * second derivative of the value times it. */
void idm_soft_plan_hessian_product(idm_soft_plan *plan, const double *direction, double *change);

/* === soft agent ============================================================================= */

/* What inverse planners of soft plans share: the agent's own numbers, the demonstrator's occupancy
 * by action and state, and what soft plans leave open. */

typedef struct idm_soft_agent {
  double alpha;
  double *prior; /* [action] */
} idm_soft_agent;

/* Alpha and action prior as the planner's clamps leave them. IDM_INPUT, as what `who` cannot do
 * without, where alpha is not above 0 and finite or counts in the range of the utility, where eta
 * is not 0 or utilities count by delay, and where there are several models. */
idm_status idm_soft_agent_create(const idm_problem *problem, const char *caller,
                                 idm_soft_agent **ret_agent, idm_error *opt_error);
void idm_soft_agent_destroy(idm_soft_agent *agent);

/* mu_demo as idm_demonstrator_occupancy has it, in the order of utilities:
 * occupancy[action][state], an array of twice as many numbers, of which the rest is scratch. */
idm_status idm_soft_agent_demonstrated(const idm_demonstrator *demonstrator, const idm_mdp *mdp,
                                       const idm_data *data, const idm_setting *setting,
                                       bool empirical, double *occupancy, idm_notes *opt_notes,
                                       idm_error *opt_error);

/* idm_nullspace_shaping; with a horizon, potentials that stand for no utility of the last step:
 * utilities by state alone whose expectation any number of steps ahead no action changes, and where
 * states were never visited whatever makes no action of another better. */
idm_status idm_soft_agent_nullspace(const idm_mdp *mdp, const idm_demonstrator *opt_demonstrator,
                                    const idm_free_utility *free_utility, idm_optimality *finding,
                                    idm_error *opt_error);

/* === regulariser ============================================================================ */

/* Regularisers zeta of utilities, entry by entry, and their conjugates zeta*(d) = sup_v v d -
 * zeta(v), by which the occupancies p and q = p - d of demonstrator and imitator are apart.
 *
 * | zeta | of utilities v | zeta*(p - q) |
 * |---|---|---|
 * | squared | v^2 / (2 scale) | scale/2 (p - q)^2 |
 * | absolute | scale abs(v) | 0 where abs(p - q) <= scale, else infinite |
 * | entropy | scale (v log v - v), v >= 0 | scale exp((p - q) / scale) |
 * | gail | p (v - log(1 - exp(-v))), v > 0 | p log(p / (p+q)) + q log(q / (p+q)) |
 * | box | 0 where abs(v) <= scale, else infinite | scale abs(p - q) |
 */

typedef struct idm_regulariser {
  idm_zeta zeta;
  double scale;
} idm_regulariser;

/* zeta(v) and zeta*(p - q); may be infinite. */
double idm_regulariser_value(const idm_regulariser *r, double p, double v);
double idm_regulariser_conjugate(const idm_regulariser *r, double p, double q);

/* zeta as interior-point methods see it, with barriers of weight mu where it has kinks or ends: its
 * value, slope and curvature at v. False where v is outside. Where it is smooth, mu makes no
 * difference. */
bool idm_regulariser_barrier(const idm_regulariser *r, double p, double v, double mu, double *value,
                             double *slope, double *curvature);
/* A v inside. */
double idm_regulariser_interior(const idm_regulariser *r);

/* sup_v v d - zeta(v) - pace/2 (v - held)^2 and the v that attains it, which is its slope by d:
 * zeta* made smooth around a utility `held`. Where zeta* is smooth, it is zeta* itself. */
double idm_regulariser_proximal(const idm_regulariser *r, double p, double q, double centre,
                                double prox_weight, double *v);
/* Whether zeta* has kinks or ends, so that `held` is to be found. */
bool idm_regulariser_is_nonsmooth(const idm_regulariser *r);

/* === conjugate matching ===================================================================== */

/* The matching side of the paper's proposition, for any regulariser: min over the numbers of a rule
 * or a network of zeta*(p - q) - alpha H, q the occupancy of its policy, by its own slopes. */

typedef struct idm_conjugate_matching {
  double objective;
  double slope;         /* largest derivative by a number of the policy that is left */
  double infeasibility; /* how far p - q is beyond where zeta* is finite */
  double *policy;       /* [state][action] */
  double *occupancy;    /* [state][action] */
} idm_conjugate_matching;

/* `units`: of the hidden layer of a network, or 0: a rule with a weight for each state and action.
 * p is by [state][action]. */
idm_status idm_conjugate_match(const idm_problem *problem, const idm_mdp *mdp,
                               const idm_regulariser *regulariser, double alpha, int units,
                               const double *p, idm_conjugate_matching **ret_matching,
                               idm_error *opt_error);
/* Takes NULL. */
void idm_conjugate_matching_destroy(idm_conjugate_matching *matching);

/* === convex margin ========================================================================== */

/* The margin side of the paper's proposition, for any regulariser: min over all entries v of a
 * utility of share E V_soft(v) - <p, v> + zeta(v), by Newton's method in the utilities. */

/* p and utility are by [action][state]; entries of states that p does not come to are left alone.
 * *slope is the largest derivative that is left, of zeta with its last barrier. The plan is then
 * that of the utility. IDM_NUMERICAL where it does not end. */
idm_status idm_convex_margin(idm_soft_plan *plan, const idm_regulariser *regulariser,
                             const double *p, double *utility, double *objective, double *slope,
                             idm_error *opt_error);

/* === smooth margin ========================================================================== */

/* The smooth program of regularised-margin: min over the free numbers x of
 *   share E V_soft(u(x)) - <mu_demo, u(x)> + |x|^2 / (2 lambda). */

typedef struct idm_smooth_margin {
  const idm_free_utility *free_utility;
  idm_soft_plan *plan;
  const double *demonstrated; /* [action][state]: mu_demo */
  double lambda;              /* inf: no price on x; of all minimisers the least one is found */
  idm_cancel *opt_cancel;
} idm_smooth_margin;

/* Objective and gradient[free] = mu - mu_demo + x / lambda at x; the plan is then that of x. */
idm_status idm_smooth_margin_evaluate(const idm_smooth_margin *margin, const double *x,
                                      double *objective, double *gradient, idm_error *opt_error);
/* From x = 0 by Newton's method; *slope is the largest entry of the gradient that is left, each in
 * units of the number's largest coefficient. The plan is then that of x. */
idm_status idm_smooth_margin_minimise(const idm_smooth_margin *margin, double *x, double *objective,
                                      double *slope, idm_error *opt_error);

#endif
