/* The distance between occupancies, and its minimum.
 *
 * Contents: occupancy loss · occupancy search · distribution matching */
#ifndef IDM_INVERT_UTILITY_OCCUPANCY_LOSS_H
#define IDM_INVERT_UTILITY_OCCUPANCY_LOSS_H

#include "idm/finding.h"
#include "invert/parameters.h"
#include "invert/utility/asked.h"
#include "plan/workspace.h"

/* === occupancy loss ========================================================================= */

/* How far the occupancy of a planner's policy is from a given one, as a function of its numbers:
 *
 *     J(y) = sum_e D(p_e, q_e(y)) - w H(q(y)),   H = -sum q log pi,
 *
 * where q(y) is the occupancy of the policy at numbers y, e a state and an action, and D a
 * divergence (mdp.h). Where states are hidden, those here are beliefs (mind.h).
 *
 * The log has no decision in some states to which the demonstrator's policy leads. There that
 * policy is taken to be the planner's at y, and p depends on y: such states add to J by what they
 * lead to alone.
 *
 * At a point of a lattice of beliefs the demonstrator's policy is a mean over the beliefs of the
 * log around it, and the planner's is the mean of its choices at the same beliefs: what the lattice
 * does to one it does to the other.
 *
 * Its slope is that of a policy's return: with g = dJ/dq as what is paid and A the advantage of an
 * action under it, dJ/dpi(u|s) = m(s) A(s,u), m the occupancy of states; and the same of p where
 * it depends on y. */

/* The beliefs at which the log decides, each one once. */
typedef struct idm_decision_beliefs {
  size_t count;
  double *belief;  /* [belief][state] */
  size_t *first;   /* [belief + 1]: entries */
  uint32_t *point; /* [entry]: a point of the lattice around it */
  double *weight;  /* [entry]: its share of the decisions at that point: over a point 1 */
} idm_decision_beliefs;

typedef struct idm_occupancy_loss {
  idm_task *task;
  const idm_parameters *parameters;
  const double *target; /* [state][action]: p, once a place was visited that of y */
  size_t dimension;
  size_t entries;
  idm_divergence divergence;
  idm_theta *theta;
  idm_workspace *workspace;
  idm_decision_beliefs decision_beliefs; /* none where states are observed */
  double *policy;                        /* [state][action] */
  double *occupancy;                     /* [state][action]: q */
  double *completed; /* [state][action]: the demonstrator's policy, with the planner's where the
                        log never is; NULL: p does not depend on y, nor are the next three */
  double *completed_target;            /* [state][action]: p(y) */
  double *target_reward;               /* [action][state]: dJ/dp */
  double *target_value;                /* [state]: of it under the completed policy */
  double *corner;                      /* [state of the problem] */
  idm_choice_adjoint *choice_gradient; /* NULL: derivatives are differences */
  idm_theta *theta_gradient;
  bool discontinuous;      /* J moves by leaps, as choices do: it has no gradient */
  double *reward;          /* [action][state]: g */
  double *value;           /* [state]: of g under the policy */
  double *policy_gradient; /* [state][action]: dJ/dpi */
  double *choice;          /* [action]: at one belief, or a derivative by it */
  double *unit;            /* [dimension]: usual changes */
  double *own;             /* [dimension]: the problem's numbers */
  double window;   /* J is infinite farther from those, in usual changes; INFINITY: nowhere */
  double *shifted; /* [dimension] */
} idm_occupancy_loss;

/* All that is given is borrowed. Without asked->demonstrator p does not depend on y.
 * idm_occupancy_loss_close accepts one that failed to open. */
idm_status idm_occupancy_loss_open(idm_occupancy_loss *loss, idm_task *task,
                                   const idm_parameters *parameters, const double *target,
                                   idm_error *opt_error);
void idm_occupancy_loss_close(idm_occupancy_loss *loss);

/* Policy and occupancy at y. */
idm_status idm_occupancy_compute(idm_occupancy_loss *loss, const double *y, idm_error *opt_error);
/* J at y; infinity where there is no plan. Its gradient[dimension] is by the planner's adjoint;
 * where it has none, or J has kinks, by central differences over 1e-4 of a usual change, at which
 * truncation and rounding are alike. */
idm_status idm_occupancy_loss_at(idm_occupancy_loss *loss, const double *y, double *ret_loss,
                                 double *opt_gradient, idm_error *opt_error);
/* Differences are over this share of a usual change. */
extern const double idm_occupancy_step;

/* === occupancy search ======================================================================= */

/* The free numbers of any planner whose policy's occupancy comes nearest to a given one: where
 * idm_occupancy_loss is least. It is convex in the occupancy and not in the numbers, so that it is
 * searched for from several places. */

/* theta receives the numbers. The finding, made with as many numbers as are free, receives what J
 * is there, its certificate and what the occupancy leaves open. `least` is what no policy comes
 * below; -INFINITY: not computed. IDM_INPUT where the divergence is infinite at every start, or
 * where the planner has no policy by state. */
idm_status idm_occupancy_search(idm_task *task, const idm_parameters *parameters,
                                const double *target, double lower_bound, idm_theta *theta,
                                idm_optimality *finding, idm_error *opt_error);

/* Climb from the numbers y alone, which receives where that ends. */
idm_status idm_occupancy_minimise(idm_task *task, const idm_parameters *parameters,
                                  const double *target, double *y, idm_error *opt_error);

/* === distribution matching ================================================================== */

/* What the inverse planners that match occupancies have in common. */

typedef struct idm_occupancy_matching {
  idm_task task;
  double *target; /* [state of the world][action]: the demonstrator's occupancy */
  idm_parameters *parameters;
} idm_occupancy_matching;

/* The world and the demonstrator. resolution: of the lattice where states are hidden; 0: one for
 * the log. idm_occupancy_matching_close accepts one that failed to open. */
idm_status idm_occupancy_matching_open(idm_occupancy_matching *matching,
                                       const idm_fit_arguments *call, int resolution,
                                       idm_error *opt_error);
/* The free numbers and the target. */
idm_status idm_occupancy_matching_numbers(idm_occupancy_matching *matching, idm_error *opt_error);
void idm_occupancy_matching_close(idm_occupancy_matching *matching);

/* Policies are compared on a lattice where states are hidden. */
extern const idm_task_method idm_nearest_occupancy;

#endif
