/* Approximations of a density: its mode, Laplace approximation, mixtures, quadratic functions, and
 * the tail index of importance weights.
 *
 * Contents: maximise · laplace · mixture · quadratic · pareto */
#ifndef IDM_INFER_APPROXIMATION_H
#define IDM_INFER_APPROXIMATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arguments.h"
#include "idm/extension/sampler.h"
#include "idm/status.h"

/* === maximise =============================================================================== */

/* Maximisation of a target: L-BFGS and pattern search. Method: docs/method/inference.md, 3. */

/* Maximise by L-BFGS from x [dimension] until the last five steps together increase the log density
 * by no more than `tolerance` (1e-3 for a starting point; 0 for an estimate: until no further
 * increase). `limit` is the maximum number of steps. x and *log_density receive the best point
 * found. Returns errors of the target. */
IDM_CHECKED idm_status idm_maximise(const idm_target *target, double tolerance, int limit,
                                    double *x, double *log_density, idm_error *opt_error);
/* Pattern search (Hooke and Jeeves 1961): try every coordinate up and down by its step [dimension],
 * move if the density increases by more than `tolerance`, else divide the steps by four, until they
 * are a thousandth of their initial values. No gradient is used, so kinks, plateaus and derivatives
 * that are NaN do not stop the search. `limit` is the maximum number of evaluations. On entry x and
 * *log_density hold a point and its log density; on return the best point found. */
IDM_CHECKED idm_status idm_pattern_search(const idm_target *target, const double *step,
                                          double tolerance, int limit, double *x,
                                          double *log_density, idm_error *opt_error);

/* === laplace ================================================================================ */

/* Laplace approximation of a target at a mode. Method: docs/method/inference.md, 7. */

/* Covariance of the Laplace approximation: the inverse of minus the Hessian of the log density at
 * `mode` [dimension], by central differences of the gradient, into covariance
 * [dimension][dimension]. opt_precision receives minus the Hessian itself, in the same layout.
 * *definite is set to false, and covariance is unchanged, if minus the Hessian is not positive
 * definite. Returns errors of the target. */
IDM_CHECKED idm_status idm_laplace(const idm_target *target, const double *mode, double *covariance,
                                   double *opt_precision, bool *definite, idm_error *opt_error);

/* === mixture ================================================================================ */

/* Proposal mixtures that cover a target: multivariate t components at known modes and tails, and a
 * broad defensive component (a prior) for the rest. */

/* Distribution with draws and a normalised log density. */
typedef struct idm_defensive_component {
  const void *context;
  void (*draw)(const void *context, idm_random *random, double *x);
  double (*log_density)(const void *context, const double *x);
} idm_defensive_component;

/* Create a mixture of the defensive component with `weight` and up to `capacity` t components, none
 * at first. Weights are relative; they are normalised on use. */
idm_status idm_mixture_create(size_t dimension, size_t capacity, idm_defensive_component defensive,
                              double weight, idm_mixture **ret_mixture, idm_error *opt_error);
void idm_mixture_destroy(idm_mixture *mixture);
/* Add a multivariate t component with five degrees of freedom, a centre and a scale matrix
 * [dimension][dimension]. Returns false, without effect, if the scale matrix is not positive
 * definite, the weight is not positive, or the capacity is reached. */
bool idm_mixture_add(idm_mixture *mixture, double weight, const double *centre,
                     const double *scale);
/* Draw x [dimension] from the mixture, and its normalised log density at x; work [dimension]. */
void idm_mixture_draw(const idm_mixture *mixture, idm_random *random, double *x);
double idm_mixture_log_density(const idm_mixture *mixture, const double *x, double *work);

/* === quadratic ============================================================================== */

/* Quadratic functions of a vector, fitted to values at a few points. */

/* Number of terms that this many points determine: all of 1, x_i and x_i x_j; without the products
 * if there are fewer than four points per term, since they overfit; only the constant if there are
 * fewer than two per linear term. */
size_t idm_quadratic_terms(size_t dimension, size_t points);
/* Least squares fit: coefficient [terms] for value [points] at x [points][dimension], with weights
 * opt_weight [points]. x should have scale 1. IDM_NUMERICAL if the points do not determine the
 * terms, or a coefficient is not finite. */
idm_status idm_quadratic_fit(size_t dimension, size_t terms, size_t points, const double *x,
                             const double *value, const double *opt_weight, double *coefficient,
                             idm_error *opt_error);
/* Value of the function at x [dimension]. */
double idm_quadratic_at(size_t dimension, size_t terms, const double *coefficient, const double *x);

/* === pareto ================================================================================= */

/* Tail index of a sample. */

/* Number of the largest values of `count` that form the tail, for draws whose effective number is
 * efficiency * count: floor(3 sqrt(count / efficiency)), at most floor(count / 5) (Vehtari et al.
 * 2024). */
size_t idm_pareto_tail(size_t count, double efficiency);

/* Generalised Pareto distribution of excesses over a threshold. */
typedef struct idm_pareto {
  double shape; /* k, with the weak prior of Vehtari et al. (2024) */
  double scale; /* sigma */
} idm_pareto;

/* Fit a generalised Pareto distribution to excess[count], ascending, finite and not negative. The
 * shape is -inf if all are equal. Otherwise it is NaN if a quarter of them equals the smallest, or
 * if there are fewer than six. The scale is NaN where the shape is not finite. */
idm_status idm_pareto_fit(const double *excess, size_t count, idm_pareto *ret_pareto,
                          idm_error *opt_error);

/* Shape k of a generalised Pareto distribution fitted to the upper tail of x[count], into
 * *ret_shape. Moments of order above 1/k do not exist; from k = 0.7 on, sample means are unreliable
 * (Vehtari et al. 2024). The tail is that of idm_pareto_tail for independent draws, above the next
 * smaller value. -inf and NaN as of idm_pareto_fit; NaN also if a value of x is not finite. The
 * result does not depend on location and scale of x. */
IDM_CHECKED idm_status idm_pareto_shape(const double *x, size_t count, double *ret_shape,
                                        idm_error *opt_error);

#endif
