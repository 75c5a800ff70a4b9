/* How far the occupancy of a planner's policy is from a given one, as a function of its numbers:
 *
 *     J(y) = sum_e D(p_e, q_e(y)) - w H(q(y)),   H = -sum q log pi,
 *
 * where q(y) is the occupancy of the policy at numbers y, e a state and an action, and D a
 * divergence (flows.h). Where states are hidden, those here are beliefs (belief_world.h).
 *
 * Its slope is that of a policy's return: with g = dJ/dq as what is paid and A the advantage of an
 * action under it, dJ/dpi(u|s) = m(s) A(s,u), m the occupancy of states. */
#ifndef IDM_INVERT_UTILITY_OCCUPANCY_LOSS_H
#define IDM_INVERT_UTILITY_OCCUPANCY_LOSS_H

#include "invert/parameters.h"
#include "invert/utility/asked.h"
#include "plan/choice_slope.h"

typedef struct idm_occupancy_loss {
  idm_asked *asked;
  const idm_parameters *parameters;
  const double *target; /* [state][action]: p */
  size_t dimension;
  size_t entries;
  idm_divergence divergence;
  idm_theta *theta;
  idm_workspace *workspace;
  double *policy;          /* [state][action] */
  double *occupancy;       /* [state][action]: q */
  double *corner;          /* [state of the problem] */
  idm_choice_slope *slope; /* NULL: derivatives are differences */
  idm_theta *theta_slope;
  bool leaps;     /* J moves by leaps, as choices do: it has no gradient */
  double *paid;   /* [action][state]: g */
  double *value;  /* [state]: of g under the policy */
  double *chosen; /* [action]: dJ/dpi in one state */
  double *unit;   /* [dimension]: usual changes */
  double *own;    /* [dimension]: the problem's numbers */
  double window;  /* J is infinite farther from those, in usual changes; INFINITY: nowhere */
  double *moved;  /* [dimension] */
} idm_occupancy_loss;

/* All that is given is borrowed. idm_occupancy_loss_close accepts one that failed to open. */
idm_status idm_occupancy_loss_open(idm_occupancy_loss *loss, idm_asked *asked,
                                   const idm_parameters *parameters, const double *target,
                                   idm_error *opt_error);
void idm_occupancy_loss_close(idm_occupancy_loss *loss);

/* Policy and occupancy at y. */
idm_status idm_occupancy_visit(idm_occupancy_loss *loss, const double *y, idm_error *opt_error);
/* J at y; infinity where there is no plan. Its gradient[dimension] is by the planner's adjoint;
 * where it has none, or J has kinks, by central differences over 1e-4 of a usual change, at which
 * truncation and rounding are alike. */
idm_status idm_occupancy_loss_at(idm_occupancy_loss *loss, const double *y, double *ret_loss,
                                 double *opt_gradient, idm_error *opt_error);
/* Differences are over this share of a usual change. */
extern const double idm_occupancy_step;

#endif
