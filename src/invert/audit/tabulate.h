/* Grids in place of cells' likelihoods: where they lie, and how far off they are. */
#ifndef IDM_INVERT_AUDIT_TABULATE_H
#define IDM_INVERT_AUDIT_TABULATE_H

#include "invert/audit/model.h"
#include "invert/matching/start.h"

/* Give an open cell a grid around its mode, as wide as its log-likelihood and a prior of twice the
 * scale let anybody go; none where it has too many free numbers. IDM_UNTRUSTED where opt_stop
 * becomes true. */
idm_status idm_audit_tabulate(audit_cell *cell, const start *found, const double *mean,
                              const double *sd, const atomic_bool *opt_stop, idm_error *opt_error);
/* A finer grid in the same place. */
idm_status idm_audit_refine(audit_cell *cell, const double *mean, const double *sd,
                            const atomic_bool *opt_stop, idm_error *opt_error);
/* Covariance of a cell's numbers under its prior and its grid: [dimension][dimension]. */
idm_status idm_audit_moments(const audit_cell *cell, const double *mean, const double *sd,
                             double *covariance, idm_error *opt_error);
/* A place a chain, x[chain][dimension], as far apart as prior and grid go, in order of the first
 * coordinate: in every mode that is worth one, so that chains which cannot leave theirs disagree.
 */
idm_status idm_audit_scatter(const audit_cell *cell, const double *mean, const double *sd,
                             size_t chains, double *x, idm_error *opt_error);
/* The log-likelihood of a cell by its grid; beyond, it falls as the normal approximation does. */
double idm_audit_rough(const audit_cell *cell, size_t dimension, const double *x);
/* The sd over draws of what the grids of all cells are off by together, in nats, from a sample of
 * the draws. No posterior mean is moved by more than that share of its sd (Cauchy and Schwarz).
 * 0 without grids; inf where a draw is impossible. */
idm_status idm_audit_grid_error(const audit_model *model, const audit_draws *draws,
                                double *ret_error, idm_error *opt_error);

#endif
