/* Preferences as a logistic model of the free numbers of a utility: that trajectory b is preferred
 * to w has the probability logistic(R_b - R_w), R_h = sum_t discount^t utility(s_t, u_t), t from 0.
 */
#ifndef IDM_INVERT_UTILITY_PREFERRED_H
#define IDM_INVERT_UTILITY_PREFERRED_H

#include "idm/data.h"
#include "idm/finding.h"
#include "invert/utility/sought.h"

typedef struct idm_preferred {
  size_t count;       /* preferences */
  size_t free;        /* free numbers */
  double *difference; /* [count][free]: R_b - R_w a unit of the number */
  double *offset;     /* [count]: and what held entries add to it */
  double *weight;     /* [count]: borrowed from the data */
  size_t idle;        /* preferences that no free number bears on */
} idm_preferred;

/* Where states are observed, sums over states; else over the beliefs of the agent's filter,
 * utility(z, u) = sum_s z(s) utility(s, u). IDM_INPUT, with its place, where what a compared
 * trajectory did is not recorded; as what `who` cannot do where beliefs hang on the utility, or the
 * utility on the data. */
idm_status idm_preferred_create(const idm_problem *problem, const idm_data *data,
                                const idm_sought *sought, const char *who,
                                idm_preferred **ret_preferred, idm_error *opt_error);
void idm_preferred_destroy(idm_preferred *preferred);

/* sum_i weight log logistic(difference x + offset); its gradient[free], and minus its Hessian
 * [free][free] (lower triangle), where they are asked for. */
double idm_preferred_log_likelihood(const idm_preferred *preferred, const double *x,
                                    double *opt_gradient, double *opt_precision);
/* The precision of a quadratic that touches the log-likelihood at x and is nowhere above it (lower
 * triangle): where logistics are flat it still has a curvature, and its step never leads down
 * (Jaakkola and Jordan 2000). */
void idm_preferred_bound(const idm_preferred *preferred, const double *x, double *precision);
/* How many preferences some direction of the free numbers agrees with, the more the further one
 * goes, without ever disagreeing with one: 0 where there is none such (Albert and Anderson 1984).
 * Else the likelihood has no mode. */
idm_status idm_preferred_separated(const idm_preferred *preferred, idm_interrupt opt_interrupt,
                                   void *context, size_t *ret_count, idm_error *opt_error);
/* What the preferences leave open, into the finding; opt_x moves along what they do to where it is
 * shortest. */
idm_status idm_preferred_open(const idm_preferred *preferred, double *opt_x, idm_finding *finding,
                              idm_error *opt_error);
/* What to know of them beside, as the finding's words. */
void idm_preferred_say(const idm_preferred *preferred, size_t separated, idm_finding *finding);

#endif
