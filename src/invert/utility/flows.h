/* Occupancies of policies as a convex set, q >= 0 with sum_u q(s',u) - discount sum P(s'|s,u)
 * q(s,u) = (1 - discount) start(s'), and how far they are from a given p, less the policy's
 * entropy. */
#ifndef IDM_INVERT_UTILITY_FLOWS_H
#define IDM_INVERT_UTILITY_FLOWS_H

#include "idm/settings.h"
#include "invert/utility/mdp.h"

typedef struct idm_flows {
  idm_divergence divergence;
  double lambda;  /* of the squared divergence */
  double entropy; /* weight of H = -sum q log pi */
  size_t rows;    /* states that can be come to */
  size_t *place;  /* [row]: which state it is */
  double *source; /* [row]: (1 - discount) start */
  size_t entries; /* pairs of such a state and an action, states one after the other */
  size_t *first;  /* [rows + 1]: entries of a row */
  size_t *action; /* [entry] */
  double *p;      /* [entry]: the occupancy to come near to */
  size_t *begin;  /* [entries + 1]: what an entry puts into the equations: */
  size_t *to;     /* a row */
  double *by;     /* and how much a unit of it */
  double beyond;  /* what p has where no policy comes adds to the divergence; may be infinite */
} idm_flows;

/* All policies that take no action of prior 0, none that opt_allowed[state][action] forbids, and
 * with reverse-kl none that p does not. target is p[state][action]. IDM_INPUT where none is left,
 * or where the divergence is infinite for all. */
idm_status idm_flows_create(const idm_mdp *world, const idm_setting *setting, const double *target,
                            const bool *opt_allowed, idm_divergence divergence, double lambda,
                            double entropy, idm_flows **ret_flows, idm_error *opt_error);
void idm_flows_destroy(idm_flows *flows);

/* lambda of the squared divergence: 100 where none is set. */
double idm_flows_lambda(const idm_fit_settings *settings);
/* What an occupancy of q in place of p adds to a divergence; may be infinite. */
double idm_flows_diverge(idm_divergence divergence, double lambda, double p, double q);
/* Its derivative by q; not of tv, which has none. */
double idm_flows_diverge_slope(idm_divergence divergence, double lambda, double p, double q);
/* The row's own expression at q[entry]. */
double idm_flows_objective(const idm_flows *flows, const double *q);
/* First and second derivative of the divergence by entry i at q; not of tv, which has none. */
double idm_flows_slope(const idm_flows *flows, size_t i, double q);
double idm_flows_bend(const idm_flows *flows, size_t i, double q);
/* log pi of entry i: q over the sum of its row. */
void idm_flows_log_policy(const idm_flows *flows, const double *q, double *log_policy);
/* left[row] = what q leaves of the equations: source less inflow and stock. */
void idm_flows_left(const idm_flows *flows, const double *q, double *left);
/* price[entry] = what an entry costs at prices of rows. */
void idm_flows_prices(const idm_flows *flows, const double *y, double *price);
/* How far q, which satisfies the equations, can be from the best: for any y,
 * f(q*) >= f(q) + slope . (q* - q), slope = B'y + z, so that z.q less the least of z (or 0) bounds
 * it. With tv opt_share[entry] in [0, 1] says which slope of max(p - q, 0) is taken. */
double idm_flows_gap(const idm_flows *flows, const double *q, const double *y,
                     const double *opt_share, double *work);

#endif
