/* Divergence between occupancies as a function of a planner's parameters, and its minimisation.
 *
 * Contents: occupancy loss · occupancy search · distribution matching */
#ifndef IDM_INVERT_UTILITY_OCCUPANCY_LOSS_H
#define IDM_INVERT_UTILITY_OCCUPANCY_LOSS_H

#include "idm/extension/optimality.h"
#include "invert/parameters.h"
#include "invert/utility/task.h"
#include "plan/workspace.h"

/* === occupancy loss ========================================================================= */

/* Divergence of the occupancy of a planner's policy from a target, as a function of the planner's
 * free numbers (`docs/method/inverse.md, 2`):
 *
 *     J(y) = sum_e D(p_e, q_e(y)) - w H(q(y)),   H = -sum q log pi,
 *
 * where q(y) is the occupancy of the policy at y, e a state and an action, and D a divergence
 * (mdp.h). If states are hidden, the states here are beliefs (belief_mdp.h).
 *
 * In states that the log never visits, the demonstrator's policy is replaced by the planner's at y,
 * so p depends on y: such states contribute to J only through their successors.
 *
 * At a point of a lattice of beliefs the demonstrator's policy is a mean over the log's beliefs
 * around it, and the planner's is the mean of its choices at the same beliefs: the lattice smooths
 * both in the same way.
 *
 * The gradient is that of a policy's return: with g = dJ/dq as the reward and A the advantage of an
 * action under g, dJ/dpi(u|s) = m(s) A(s,u), m the occupancy of states; the same holds for p where
 * it depends on y. */

/* Distinct beliefs at which the log decides. */
typedef struct idm_decision_beliefs {
  size_t count;
  double *belief;  /* [belief][state] */
  size_t *first;   /* [belief + 1]: range of entries */
  uint32_t *point; /* [entry]: a lattice point around the belief */
  double *weight;  /* [entry]: share of the decisions at that point; sums to 1 per point */
} idm_decision_beliefs;

typedef struct idm_occupancy_loss {
  idm_task *task;
  const idm_parameters *parameters;
  const double *target; /* [state][action]: p, at y if it depends on y */
  size_t dimension;
  size_t entries;
  idm_divergence divergence;
  idm_theta *theta;
  idm_workspace *workspace;
  idm_decision_beliefs decision_beliefs; /* empty if states are observed */
  double *policy;                        /* [state][action] */
  double *occupancy;                     /* [state][action]: q */
  double *completed; /* [state][action]: the demonstrator's policy, with the planner's in unvisited
                        states; NULL: p does not depend on y, and the next three are unused */
  double *completed_target;            /* [state][action]: p(y) */
  double *target_reward;               /* [action][state]: dJ/dp */
  double *target_value;                /* [state]: value of dJ/dp under the completed policy */
  double *corner;                      /* [state of the problem]: indicator of one state */
  idm_choice_adjoint *choice_gradient; /* NULL: derivatives by finite differences */
  idm_theta *theta_gradient;
  bool discontinuous;      /* J is discontinuous, as choices are: it has no gradient */
  double *reward;          /* [action][state]: g */
  double *value;           /* [state]: value of g under the policy */
  double *policy_gradient; /* [state][action]: dJ/dpi */
  double *choice;          /* [action]: policy at one belief, or a derivative with respect to it */
  double *unit;            /* [dimension]: typical sizes of changes */
  double *own;             /* [dimension]: the problem's values */
  double window; /* J is infinite at greater distances from `own`, in typical changes; INFINITY: no
                    limit */
  double *shifted; /* [dimension] */
} idm_occupancy_loss;

/* All arguments are borrowed. Without task->demonstrator p does not depend on y. Call
 * idm_occupancy_loss_close also on failure. */
idm_status idm_occupancy_loss_open(idm_occupancy_loss *loss, idm_task *task,
                                   const idm_parameters *parameters, const double *target,
                                   idm_error *opt_error);
void idm_occupancy_loss_close(idm_occupancy_loss *loss);

/* Computes policy and occupancy at y. */
idm_status idm_occupancy_compute(idm_occupancy_loss *loss, const double *y, idm_error *opt_error);
/* Computes J at y; infinity if there is no plan. The gradient[dimension] is by the planner's
 * adjoint; if it has none, or J has kinks, by central differences of 1e-4 of a typical change,
 * where truncation and rounding errors are about equal. */
idm_status idm_occupancy_loss_at(idm_occupancy_loss *loss, const double *y, double *ret_loss,
                                 double *opt_gradient, idm_error *opt_error);
/* Step of the differences, as a fraction of a typical change. */
extern const double idm_occupancy_step;

/* === occupancy search ======================================================================= */

/* Parameters of any planner whose policy's occupancy is nearest to a target: minimises
 * idm_occupancy_loss. J is convex in the occupancy but not in the parameters, so the search has
 * several starting points. */

/* theta receives the numbers. The optimality record, created with the number of free numbers,
 * receives J, its certificate and the directions that the occupancy leaves unidentified.
 * lower_bound: lower bound on J over all policies; -INFINITY: not computed. IDM_INPUT if the
 * divergence is infinite at every start, or the planner has no policy by state. */
idm_status idm_occupancy_search(idm_task *task, const idm_parameters *parameters,
                                const double *target, double lower_bound, idm_theta *theta,
                                idm_optimality *optimality, idm_error *opt_error);

/* Minimises from the single start y, which receives the result. */
idm_status idm_occupancy_minimise(idm_task *task, const idm_parameters *parameters,
                                  const double *target, double *y, idm_error *opt_error);

/* === distribution matching ================================================================== */

/* Common parts of inverse planners that match occupancies. */

typedef struct idm_occupancy_matching {
  idm_task task;
  double *target; /* [state of the MDP][action]: the demonstrator's occupancy */
  idm_parameters *parameters;
} idm_occupancy_matching;

/* Creates the MDP and the demonstrator. resolution: of the lattice if states are hidden; 0: chosen
 * for the log. Call idm_occupancy_matching_close also on failure. */
idm_status idm_occupancy_matching_open(idm_occupancy_matching *matching,
                                       const idm_fit_arguments *call, int resolution,
                                       idm_error *opt_error);
/* Creates the free numbers and the target. */
idm_status idm_occupancy_matching_numbers(idm_occupancy_matching *matching, idm_error *opt_error);
void idm_occupancy_matching_close(idm_occupancy_matching *matching);

/* Method that compares policies on a lattice of beliefs if states are hidden. */
extern const idm_task_method idm_nearest_occupancy;

#endif
