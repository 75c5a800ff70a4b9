/* The derivative of K by what makes beliefs: the belief before, the dynamics of one (action,
 * model), and how they are taken up. */
#ifndef IDM_PLAN_CONTROL_ADJOINT_DYNAMICS_H
#define IDM_PLAN_CONTROL_ADJOINT_DYNAMICS_H

#include "plan/control/adjoint.h"

/* Numbers of scratch that they need. */
size_t idm_adjoint_dynamics_scratch(const control *c);
/* Add what a slope of K(z,u,m), whose successors have the values v, asks of tau, omega and the
 * weights of the update. Where these move (control->learns). */
void idm_adjoint_dynamics(adjoint *a, const double *v, const double *z, size_t u, size_t m,
                          double slope);
/* The same in an MDP, where what is seen is the next state. */
void idm_adjoint_corner(adjoint *a, const double *v, size_t state, size_t u, size_t m,
                        double slope);
/* dK/dz into moved[state], whatever the update is. */
void idm_adjoint_belief(adjoint *a, const double *v, const double *z, size_t u, size_t m,
                        double *moved);
/* Add the derivative of K by the prior of beliefs, at a belief and where states are observed.
 * Where that moves (control->primes). */
void idm_adjoint_prior(adjoint *a, const double *z, size_t u, size_t m, double slope);
void idm_adjoint_state_prior(adjoint *a, size_t state, size_t u, size_t m, double slope);

#endif
