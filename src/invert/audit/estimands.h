/* Reported quantities of an audit, and its checks.
 *
 * Contents: linear combinations · additivity · heterogeneity · held dynamics · model checks ·
 * verdict · reassess · prior conflict · remarks · cohorts */
#ifndef IDM_INVERT_AUDIT_ESTIMANDS_H
#define IDM_INVERT_AUDIT_ESTIMANDS_H

#include "invert/assess.h"
#include "invert/assess/context.h"
#include "invert/assess/residual.h"
#include "invert/audit.h"
#include "invert/audit/model.h"

/* === linear combinations ==================================================================== */

/* Groups and contrasts as linear combinations of cells and effects (docs/method/audit.md, 2). */

/* sum_c cell_c x_c + sum_k effect_k e_k. */
typedef struct linear_combination {
  double *cell;   /* [cells] */
  double *effect; /* [effects] */
} linear_combination;

/* The cells of an audit, and the quantities that are reported. */
typedef struct audit_estimands {
  audit_model model;
  size_t groups;             /* number of groups, with `all` as the last */
  size_t sides;              /* groups, followed by the rest of each contrast with the rest */
  linear_combination *group; /* [sides] */
  size_t contrasts;
  linear_combination *contrast;
  size_t (*pair)[2]; /* [contrast]: indices of the two sides */
} audit_estimands;

/* Build the cells, effects, cohorts and linear combinations of an audit. Cells have a problem and
 * data, and are not open. The settings are borrowed. */
idm_status idm_audit_estimands(const idm_problem *problem, const idm_data *data,
                               const idm_groups *groups, const idm_audit_settings *settings,
                               audit_estimands *estimands, idm_error *opt_error);
void idm_audit_estimands_clear(audit_estimands *estimands);

/* Evaluate a linear combination at every draw, in one coordinate: value[chain][draw]. */
void idm_combination_draws(const audit_model *model, const audit_draws *draws,
                           const linear_combination *combination, size_t coordinate, double *value);
/* Variance of a linear combination under the prior. */
double idm_combination_prior_var(const audit_model *model, const linear_combination *combination,
                                 size_t coordinate);
/* Log ratio, at every draw, of the prior density with scales multiplied by `scale` to the prior
 * density. For pooled cells the ratio is that of the population's parameters; otherwise it is that
 * of the effects which enter the combination. */
void idm_combination_log_weight(const audit_model *model, const audit_draws *draws,
                                const linear_combination *combination, double scale,
                                double *log_weight);

/* === additivity ============================================================================= */

/* Test whether the effects of overlapping predicates are additive. */

/* Record the check form. It fails both groups of a pair of predicates if the numbers of cells that
 * satisfy both are not the sum of the two effects. Nothing is recorded if each group has its own
 * numbers, if agents are nested in cells (model.h), or if no cell satisfies two predicates.
 *
 * The test is the efficient score test of delta in x_c = mu + sum_k Z_ck e_k + delta Z_ck Z_cl, for
 * each pair of predicates and each coordinate, at the posterior mean of the cells; mu and e are
 * nuisance parameters. If the score test rejects, the gain in log-likelihood along the same
 * direction is also computed, and the larger p-value is used: the score alone overstates one
 * unlikely decision of a small cell. p-values are Bonferroni-adjusted over pairs and coordinates.
 */
idm_status idm_audit_additive(const audit_estimands *estimands, const audit_draws *draws,
                              idm_audit *audit, idm_error *opt_error);

/* === heterogeneity ========================================================================== */

/* Test whether the groups of an audit differ, so that one vector of numbers for all is an average
 * over groups. */

/* The contrast with the largest ratio of |mean| to posterior sd. */
typedef struct audit_max_contrast {
  size_t contrast;
  size_t coordinate;
  double mean;
  double sds; /* |mean| / sd */
  double p;   /* two-sided, under a normal posterior; Bonferroni-adjusted over contrasts and
                 coordinates, at most 1 */
} audit_max_contrast;

idm_status idm_audit_max_contrast(const audit_estimands *estimands, const audit_draws *draws,
                                  audit_max_contrast *difference, idm_error *opt_error);

/* Whether differing groups can explain a misfit of the model with one vector of numbers for all:
 * every free number has an effect, and the observations are consistent with the environment. */
bool idm_audit_is_heterogeneity(const idm_checks *overall);
/* Whether the only misfits are differences between agents or between trajectories. A group with few
 * decisions may differ from the others although no contrast is significant. */
bool idm_audit_only_unlike(const idm_checks *overall);

/* === held dynamics ========================================================================== */

/* Fixed dynamics: a test of the environment with all groups, and the sensitivity of groups and
 * contrasts to errors of the dynamics. */

/* Test the environment of the problem with the observations of all groups. `fitted`: the dynamics
 * were estimated from these observations. A misfit is added to the last group, `all`. */
idm_status idm_audit_environment_test(const idm_problem *problem, const idm_data *data, bool fitted,
                                      idm_audit *audit, idm_error *opt_error);
/* Compute the shifts of groups and contrasts, in units of their coordinates, from the shifts of the
 * cells. cell: [cell], as filled by idm_audit_check_models. The errors of the dynamics are treated
 * as independent between cells. */
void idm_audit_propagate_shift(const audit_estimands *estimands, const idm_assessment *cell,
                               idm_audit *audit);
/* Divide the shifts by the posterior sds and compare them with the threshold of
 * depends-on-dynamics. Above it, a group gets a remark, and a contrast is marked as dependent on
 * dynamics. Posterior sds must be available. */
void idm_audit_flag_dependence(idm_audit *audit);

/* === model checks =========================================================================== */

/* Model checks of a cell: comparison with chance, homogeneity of agents, predictive checks of the
 * log's summaries. */

/* Start the time limit of the checks of all cells. */
check_time_limit idm_audit_limit(const audit_model *model);
/* Run the model checks of `idm fit` on every cell at its best draw. The results are misfits and the
 * model check of assessment[cell], which this function sets to zero first and
 * idm_audit_clear_checks frees. `among` is the number of cells that are tested simultaneously. */
idm_status idm_audit_check_models(const audit_model *model, const audit_draws *draws, size_t among,
                                  idm_assessment *assessment, idm_error *opt_error);
/* Run the same checks on one cell whose agents have their own numbers. The assessment must be zero
 * except for its checks, which must be initialised. */
idm_status idm_audit_check_cell(const audit_model *model, const audit_draws *draws, size_t cell,
                                const strata *agents, size_t among, const check_time_limit *limit,
                                idm_assessment *assessment, idm_error *opt_error);
void idm_audit_clear_checks(idm_assessment *assessment, size_t cells);

/* === verdict ================================================================================ */

/* Summaries of the draws, and the verdict on each group and contrast. */

/* Means of a group's number at half and at double the prior scale. */
typedef struct prior_scale_means {
  double mean[2];
} prior_scale_means;

/* Store the draws made in draw `dynamics_index` of the dynamics in an audit whose names and sizes
 * are set, with the quantities that depend on these dynamics: sensitivity to the prior scale (by
 * importance weights or, if these are too uneven, by refitting), and the information in a group's
 * own decisions. scales: [side][coordinate]. */
idm_status idm_audit_collect(const audit_estimands *estimands, const audit_draws *draws,
                             size_t dynamics_index, uint64_t stream, const audit_watch *watch,
                             idm_audit *audit, prior_scale_means *scales, idm_error *opt_error);
/* Assess the fit of the model in the current dynamics. */
idm_status idm_audit_assess(const audit_estimands *estimands, const audit_draws *draws,
                            idm_audit *audit, idm_error *opt_error);
/* Compute summaries, contractions, significance and verdicts. All draws must be collected. */
idm_status idm_audit_conclude(const audit_estimands *estimands, const prior_scale_means *scales,
                              idm_audit *audit, idm_error *opt_error);
/* Adjust p[count] in place by the method of Holm (1979). */
idm_status idm_audit_holm(double *p, size_t count, idm_error *opt_error);

/* === reassess =============================================================================== */

/* Repeated assessment of the model in several draws of the dynamics. */

/* Add a reason for which a group failed. */
void idm_audit_note_failure(idm_audit_group *group, const char *format, ...) IDM_PRINTF(2, 3);
/* Number of sides that the model does not fit, or with a conflict between prior and decisions. */
size_t idm_audit_count_unfit(const idm_audit *audit);

/* Whether a repeated assessment replaces the first: fewer sides are unfit, and no more tests are
 * left out. A test that is left out cannot reject, which is no improvement. */
bool idm_audit_reassess_better(size_t unfit_before, const idm_checks *before, size_t unfit,
                               const idm_checks *checks);

/* Assess the model again (idm_audit_assess) in the current dynamics, and keep the earlier result
 * unless the new one replaces it. Uncertain dynamics contradict a model only if it fits in none of
 * their draws. */
idm_status idm_audit_reassess(const audit_estimands *estimands, const audit_draws *draws,
                              idm_audit *audit, idm_error *opt_error);

/* === prior conflict ========================================================================= */

/* Conflicts between priors and decisions. */

/* Record the check prior-pull (idm_prior_pull) for the numbers with a fixed prior, which are those
 * of groups that are not pooled. A group that fails gets a misfit, and its prior_conflict is set.
 */
void idm_audit_conflict_groups(const audit_estimands *estimands, idm_audit *audit);
/* Record the same check for pooled groups: mean and sd of the distribution over groups, and sds of
 * agents within groups. If it fails, all groups and contrasts fail, because every group is shrunk
 * towards that distribution. */
void idm_audit_conflict_pooled(const audit_estimands *estimands, idm_audit *audit);

/* === remarks ================================================================================ */

/* Remarks on a finished audit: uncertainty from the dynamics and from agents within groups, and
 * checks that other commands run. */

/* Add the remarks. Chains that disagree about jointly sampled dynamics fail the audit, and so does
 * a check that failed without an explanation. */
void idm_audit_remark(idm_audit *audit);

/* === cohorts ================================================================================ */

/* Checks of agents nested in cells, as samples of normal populations. */

/* Record the checks outlier and form of the agents of each cohort. If a check fails, it adds a
 * misfit to the groups of the outlying agent or of the product. Nothing is recorded without
 * cohorts. */
idm_status idm_audit_cohort_check(const audit_estimands *estimands, const audit_draws *draws,
                                  idm_audit *audit, idm_error *opt_error);

#endif
