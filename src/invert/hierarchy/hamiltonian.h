/* Hamiltonian moves of population and people together, where leaves have slopes that cost little.
 *
 * Coordinates are chosen so that the density is about standard normal in them. Person i has
 * z_i = T^-T (T^-1 L'(h - H m_i) + u_i) with L and T of a reference population (normal.h), so that
 * u_i follows the mean as far as the person's decisions hold it, and the Jacobian is constant.
 * Coefficients are scaled by the factor of their precision, roots and partials by sds of the
 * warm-up. Spreads of pooled coefficients are held. */
#ifndef IDM_INVERT_HIERARCHY_HAMILTONIAN_H
#define IDM_INVERT_HIERARCHY_HAMILTONIAN_H

#include "invert/hierarchy/chain.h"

struct hierarchy_motion {
  population reference;
  size_t numbers;  /* of the population that move: coefficients, roots, partials */
  size_t all;      /* and u of everybody behind them */
  double *sum;     /* [numbers]: of the population since the last settling, and */
  double *squares; /* [numbers] */
  double *sd;      /* [numbers]: of roots and partials; coefficients have a factor */
  long summed;
  double log_step;
  double *position; /* [all]: in scaled coordinates */
  double *momentum; /* [all] */
  double *gradient; /* [all] */
  double *slope;    /* [person][effect]: of the log-likelihood */
  double *scratch;  /* of the same */
  double *matrix;   /* [effects][effects]: derivative by the factor of the covariance */
};

/* Room for a chain's moves; the chain's `motion` becomes NULL where leaves have no slopes. */
idm_status idm_motion_create(hierarchy_chain *chain, idm_error *opt_error);
void idm_motion_destroy(hierarchy_motion *motion);
/* Coordinates for the population as it has been since the last call. */
void idm_motion_settle(hierarchy_chain *chain);
/* While steps are tuned: where the population is. */
void idm_motion_tally(hierarchy_chain *chain);
/* Put the position where the chain is. */
void idm_motion_locate(hierarchy_chain *chain);
/* Log density and gradient at the position, in its coordinates and up to a constant; `at` becomes
 * the population and people there. */
idm_status idm_motion_evaluate(hierarchy_chain *chain, const leaf_lane *lane, hierarchy_state *at,
                               double *log_density, idm_error *opt_error);
/* A trajectory by leapfrog steps, accepted or not; exact likelihoods are in force. */
idm_status idm_motion_move(hierarchy_chain *chain, const leaf_lane *lane, idm_error *opt_error);
/* Its part of a checkpoint. */
void idm_motion_pass(hierarchy_motion *motion, idm_record *record);

#endif
