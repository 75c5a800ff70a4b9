/* Learnt rows as unconstrained numbers: logarithms of the possible entries of a row over its last
 * possible one. Tied rows count once, and rows with one possible entry have none. */
#ifndef IDM_LEARN_RATIO_H
#define IDM_LEARN_RATIO_H

#include "learn/structure.h"

/* How many there are. */
size_t ratio_count(const structure *s);
/* Those of one row that is open. */
size_t ratio_count_row(const structure *s, size_t r);
/* y[count] of rows laid out as idm_dynamics.start. */
void ratio_get(const structure *s, const double *numbers, double *y);
/* And back: rows that are not learnt are left alone, tied rows follow their first. */
void ratio_set(const structure *s, const double *y, double *numbers);
/* Log density of y under Dirichlet(prior) rows, with the Jacobian, up to a constant; -inf where an
 * entry has underflowed. */
double ratio_log_prior(const structure *s, double prior, const double *numbers);
/* gradient[count] of that, and of a log-likelihood with these expected counts, which are gathered
 * here. */
void ratio_gradient(const structure *s, double prior, double *counts, const double *numbers,
                    double *gradient);

#endif
