/* Putting an answer together. */
#ifndef IDM_INVERT_MATCHING_ASSEMBLE_H
#define IDM_INVERT_MATCHING_ASSEMBLE_H

#include "idm/inverse.h"
#include "invert/matching/fit.h"

/* Refuse up front draws, or log-likelihoods by decision, of an absurd size. */
idm_status idm_fit_check_size(const idm_data *data, const idm_fit_settings *settings,
                              idm_error *opt_error);
idm_status idm_posterior_create(const fit *f, const idm_inverse *inverse, const char *sampler,
                                size_t chains, size_t draws, idm_posterior **ret_posterior,
                                idm_error *opt_error);
/* Numbers of each quantity and coordinate of an answer, where they are not one each: opaque blocks
 * are the last. */
idm_status idm_posterior_measure(const idm_parameters *parameters, idm_posterior *posterior,
                                 idm_error *opt_error);
/* Store a draw. */
void idm_posterior_put(const fit *f, idm_posterior *posterior, size_t chain, size_t draw,
                       const double *y, const idm_statistics *statistics);
/* Fill in the log-likelihoods that the settings ask for, and draws from the prior. */
idm_status idm_posterior_complete(const fit *f, idm_posterior *posterior, idm_notes *opt_notes,
                                  idm_error *opt_error);
/* Draws from the prior, where it has some. */
idm_status idm_posterior_draw_prior(const idm_parameters *parameters, size_t count, uint64_t key,
                                    idm_posterior *posterior, idm_error *opt_error);

/* Trajectories or decisions whose log-likelihoods are kept; 0 where none are. */
size_t idm_fit_units(const fit *f);
/* Rows of the longest trajectory. */
size_t idm_fit_longest(const fit *f);
/* The log-likelihoods of all units at what a matching planned for last: to[units]. `row` has room
 * for two numbers a row of the longest trajectory. */
void idm_fit_part(const fit *f, const idm_matching *matching, size_t longest, double *row,
                  double *to);

#endif
