/* Posteriors, from within. */
#ifndef IDM_INVERT_POSTERIOR_H
#define IDM_INVERT_POSTERIOR_H

#include "idm/parameters.h"
#include "idm/posterior.h"

/* Whether the draws are of the numbers that these parameters free; IDM_INPUT where not. */
idm_status idm_posterior_check(const idm_posterior *posterior, const idm_parameters *parameters,
                               idm_error *opt_error);

/* A posterior of draws made elsewhere: who made them, its shape, and room for the values of its
 * quantities, which are still to be named, and for statistics, of which nothing is known. */
idm_status idm_posterior_open(const char *inverse, const char *sampler, size_t chains, size_t draws,
                              size_t quantities, idm_posterior **ret_posterior,
                              idm_error *opt_error);

/* Add an axis, whose labels are copied, and a series along it, whose quantities are named and
 * summarised; room for them is there. */
idm_status idm_posterior_add_axis(idm_posterior *posterior, const char *name,
                                  const idm_labels *label, idm_error *opt_error);
idm_status idm_posterior_add_series(idm_posterior *posterior, const char *name, size_t axis,
                                    size_t first, idm_error *opt_error);

#endif
