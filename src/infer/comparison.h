/* Comparison of models: leave-one-out by importance sampling, stacking, random-effects model
 * selection, marginal likelihoods, accuracy of forecasts, and power scaling. Functions of arrays.
 * Definitions and sources: docs/method/comparison.md.
 *
 * Contents: leave_one_out · stacking · model_selection · bridge · accuracy · power_scaling */
#ifndef IDM_INFER_COMPARISON_H
#define IDM_INFER_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/extension/sampler.h"
#include "idm/status.h"

/* Every function returns IDM_USAGE where there is nothing to compute from (no unit, no draw, no
 * model), and IDM_INPUT where a number is NaN or outside its range. A quantity that does not exist
 * for valid numbers is NaN, and a field `reason`, or the comment, states why. */

/* === leave_one_out ========================================================================== */

/* Leave-one-out cross-validation by Pareto-smoothed importance sampling (PSIS; Vehtari, Simpson,
 * Gelman, Yao and Gabry 2024), as in arviz-stats 1.3. */

/* Relative efficiency of MCMC draws x[quantity][chain][draw]: the mean over the quantities of the
 * effective sample size of their mean, over chains * draws. 1 for one chain, or for fewer than four
 * draws per chain. Quantities with a draw that is not finite are omitted; 1 if none is left. */
idm_status idm_relative_efficiency(const double *x, size_t quantities, size_t chains, size_t draws,
                                   double *ret_efficiency, idm_error *opt_error);

/* Normalised log weights of the log importance ratios log_ratio[count], of which the `tail` largest
 * are Pareto-smoothed (idm_pareto_tail). log_weight may be log_ratio. *ret_shape receives the
 * Pareto k: -inf if all ratios of the tail are equal; +inf if the tail has fewer than six ratios,
 * if a quarter of it equals its smallest ratio, so that there is no generalised Pareto fit, or if a
 * ratio is +inf. The weights are then not smoothed. Ratios of +inf share the weight. IDM_INPUT for
 * NaN, or if all ratios are -inf. */
idm_status idm_psis(const double *log_ratio, size_t count, size_t tail, double *log_weight,
                    double *ret_shape, idm_error *opt_error);

/* A unit that is left out. */
typedef struct idm_left_out {
  double elpd;  /* expected log predictive density; -inf if a draw has likelihood 0 */
  double shape; /* Pareto k, as of idm_psis; above idm_good_shape, elpd is unreliable */
} idm_left_out;

/* Leave out one unit, whose log-likelihood at draw s is log_likelihood[s * stride]. */
idm_status idm_leave_one_out(const double *log_likelihood, size_t draws, size_t stride,
                             double efficiency, idm_left_out *ret_left_out, idm_error *opt_error);

/* The largest reliable Pareto k of a number of draws, min(1 - 1/log10 S, 0.7). */
double idm_good_shape(size_t draws);

/* A sum over units, and its standard error. */
typedef struct idm_elpd {
  double elpd;        /* sum */
  double se;          /* sqrt(n var), var with denominator n - 1 */
  const char *reason; /* why se is NaN; NULL if it is not */
} idm_elpd;

idm_status idm_elpd_total(const double *elpd, size_t units, idm_elpd *ret_total,
                          idm_error *opt_error);

/* Paired difference of two models, a less b. */
typedef struct idm_elpd_difference {
  double elpd;        /* sum of the differences of the units; infinite if one of them is */
  double se;          /* its standard error */
  double better;      /* P(a is better), normal approximation; 0.5 if all differences are 0 */
  size_t units;       /* compared; units to which both models give density 0 are omitted */
  bool few;           /* fewer than 100 units: the normal approximation is doubtful */
  bool close;         /* |elpd| < 4: likewise */
  const char *reason; /* why a number is NaN; NULL if none is */
} idm_elpd_difference;

idm_status idm_elpd_compare(const double *elpd_a, const double *elpd_b, size_t units,
                            idm_elpd_difference *ret_difference, idm_error *opt_error);

/* === stacking =============================================================================== */

/* Stacking of predictive distributions (Yao, Vehtari, Simpson and Gelman 2018). */

typedef struct idm_stacking {
  double objective; /* sum_i log sum_k weight_k exp(elpd_ik) */
  double gap;       /* upper bound on the distance of the objective from its maximum */
  int iterations;
} idm_stacking;

/* Weights on the simplex that maximise the objective for elpd[unit][model], into weight[models].
 * IDM_INPUT if every model gives a unit density 0; IDM_NUMERICAL if the gap stays above 1e-10 per
 * unit. */
idm_status idm_stacking_weights(const double *elpd, size_t units, size_t models, double *weight,
                                idm_stacking *ret_stacking, idm_error *opt_error);

/* === model_selection ======================================================================== */

/* Random-effects model selection (Stephan, Penny, Daunizeau, Moran and Friston 2009; Rigoux,
 * Stephan, Friston and Daunizeau 2014). */

/* Posterior of the frequencies of models among people. Arrays [models] of the caller. */
typedef struct idm_model_selection {
  double *count;                /* Dirichlet counts */
  double *frequency;            /* expected frequencies */
  double *exceedance;           /* P(the most frequent model) */
  double *protected_exceedance; /* the same, averaged with equal frequencies */
  double omnibus_risk;          /* P(all frequencies are equal) */
  int iterations;
} idm_model_selection;

/* Select by log_evidence[person][model], of which a row may contain -inf but not only.
 * `prior_count` > 0 is the prior count of every model. IDM_NUMERICAL if the counts do not converge.
 */
idm_status idm_model_select(const double *log_evidence, size_t people, size_t models,
                            double prior_count, idm_model_selection *selection,
                            idm_error *opt_error);

/* P(number k is the largest) for every k of a Dirichlet distribution, to 1e-8, by quadrature. */
idm_status idm_dirichlet_exceedance(const double *count, size_t models, double *exceedance,
                                    idm_error *opt_error);

/* === bridge ================================================================================= */

/* Marginal likelihood by bridge sampling (Meng and Wong 1996) with a normal proposal. */

/* Draws of the target: x[chain][draw][dimension], and their log densities [chain][draw] as the
 * target computes them (NULL: they are evaluated). */
typedef struct idm_bridge_draws {
  size_t chains;
  size_t draws;
  const double *x;
  const double *opt_log_density;
} idm_bridge_draws;

typedef struct idm_bridge {
  double log_evidence; /* log of the integral of the target's density */
  double error;        /* standard error of log_evidence (relative error of the integral) */
  int iterations;
  size_t proposals; /* draws of the proposal; the target is evaluated at each */
} idm_bridge;

/* Estimate the integral of the target, a density on R^dimension. The first half of every chain
 * determines mean and covariance of the proposal, and the second half enters the estimate with as
 * many draws of the proposal. IDM_USAGE if a half has fewer draws than numbers of the covariance
 * need; IDM_NUMERICAL if the covariance is singular, the target has density 0 at a draw or at all
 * proposals, the iteration does not converge, or the error cannot be computed. Returns errors of
 * the target. */
idm_status idm_bridge_sample(const idm_target *target, const idm_bridge_draws *draws, uint64_t seed,
                             idm_bridge *ret_bridge, idm_error *opt_error);

/* === accuracy =============================================================================== */

/* Accuracy of probabilistic forecasts of events. Definitions equal scikit-learn's. */

/* Increasing function of x that fits y[count] by weighted least squares (isotonic regression by the
 * pool adjacent violators algorithm), at x[count], into fitted, which may be y. Equal x have equal
 * values. opt_weight NULL: all 1; weights are positive. */
idm_status idm_isotonic(const double *x, const double *y, const double *opt_weight, size_t count,
                        double *fitted, idm_error *opt_error);

typedef struct idm_accuracy {
  double brier;
  double log_loss;
  double average_precision;
  double precision_recall_area; /* by trapezoids */
  double roc_area;
  double calibration_error; /* expected calibration error, ten bins of equal width */
  double miscalibration;    /* brier = miscalibration - discrimination + uncertainty */
  double discrimination;
  double uncertainty;
  const char *reason; /* why an area is NaN; NULL if none is */
} idm_accuracy;

/* Accuracy of probability[count] of events, occurred[count] (0 or 1). Without an event, average
 * precision and both areas do not exist; without a non-event, the ROC area does not. */
idm_status idm_accuracy_of_events(const double *probability, const unsigned char *occurred,
                                  size_t count, idm_accuracy *ret_accuracy, idm_error *opt_error);

/* Forecasts of decisions. */
typedef struct idm_forecasts {
  size_t decisions;
  size_t actions;
  const double *probability;          /* [decision][action] */
  const int32_t *action;              /* [decision]: taken */
  const unsigned char *opt_available; /* [decision][action]: 0 where an action was unavailable */
} idm_forecasts;

/* Accuracy of forecasts of decisions: every available action of every decision is an event (one
 * action against the rest, pooled). log_loss is the mean of -log p of the actions taken, which is
 * scikit-learn's for several classes. */
idm_status idm_accuracy_of_decisions(const idm_forecasts *forecasts, idm_accuracy *ret_accuracy,
                                     idm_error *opt_error);

/* === power_scaling ========================================================================== */

/* Sensitivity of a posterior to power scaling of its prior or likelihood (Kallioinen, Paananen,
 * Buerkner and Vehtari 2024), as in arviz-stats 1.3. */

/* Weights of draws, which sum to 1, if a component with log density log_density[count] at the draws
 * is raised to `power`; smoothed by PSIS. */
idm_status idm_power_weights(const double *log_density, size_t count, double power, double *weight,
                             idm_error *opt_error);

/* Cumulative Jensen-Shannon distance between x[count] with equal weights and with `weight`, the
 * larger of those of x and -x; 0 if all x are equal. */
idm_status idm_cumulative_distance(const double *x, const double *weight, size_t count,
                                   double *ret_distance, idm_error *opt_error);

/* Sensitivity of quantity[count] to powers 0.99 and 1.01 of a component with log_density[count]; at
 * 0.05 and above, the quantity depends on the component. */
idm_status idm_power_sensitivity(const double *log_density, const double *quantity, size_t count,
                                 double *ret_sensitivity, idm_error *opt_error);

#endif
