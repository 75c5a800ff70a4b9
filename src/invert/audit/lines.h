/* What an audit reports, and its checks.
 *
 * Contents: lines · additive · differ · held · inspect · judge · looked · pull · remarks · ward */
#ifndef IDM_INVERT_AUDIT_LINES_H
#define IDM_INVERT_AUDIT_LINES_H

#include "idm/assess.h"
#include "idm/audit.h"
#include "invert/assess/inquiry.h"
#include "invert/assess/residual.h"
#include "invert/audit/model.h"

/* === lines ================================================================================== */

/* What an audit reports: groups and contrasts as linear functions of cells and effects. */

/* sum_c cell_c x_c + sum_k effect_k e_k. */
typedef struct linear_combination {
  double *cell;   /* [cells] */
  double *effect; /* [effects] */
} linear_combination;

/* The cells of an audit and all that is reported of them. */
typedef struct audit_estimands {
  audit_model model;
  size_t groups;             /* all is the last */
  size_t sides;              /* and behind them the rest of each contrast that is with the rest */
  linear_combination *group; /* [sides] */
  size_t contrasts;
  linear_combination *contrast;
  size_t (*pair)[2]; /* [contrast]: the sides that are compared */
} audit_estimands;

/* Cells, effects, wards and lines of some groups; cells have a problem and data, and are not open.
 * The settings are borrowed. */
idm_status idm_audit_estimands(const idm_problem *problem, const idm_data *data,
                               const idm_groups *groups, const idm_audit_settings *settings,
                               audit_estimands *estimands, idm_error *opt_error);
void idm_audit_estimands_clear(audit_estimands *estimands);

/* A line at every draw, in one coordinate: value[chain][draw]. */
void idm_combination_draws(const audit_model *model, const audit_draws *draws,
                           const linear_combination *combination, size_t coordinate, double *value);
/* Its variance by the prior. */
double idm_combination_prior_var(const audit_model *model, const linear_combination *combination,
                                 size_t coordinate);
/* log of prior density at `scale` times its scale over that at its own, at every draw; of pooled
 * cells the population's, else that of what the line is made of. */
void idm_combination_log_weight(const audit_model *model, const audit_draws *draws,
                                const linear_combination *combination, double scale,
                                double *log_weight);

/* === additive =============================================================================== */

/* Whether the effects of overlapping predicates add up. */

/* Record the check form, and a misfit with both groups where the numbers of those who meet two
 * predicates are not the sum of their effects. Nothing is recorded where each group has numbers of
 * its own, or agents are nested in cells (model.h), or no cell meets two predicates.
 *
 * The test is the efficient score of delta in x_c = mu + sum_k Z_ck e_k + delta Z_ck Z_cl, per pair
 * of predicates and coordinate, at the posterior mean of the cells: mu and e are nuisances.
 * Where it is beyond the level, the gain in log-likelihood along the same direction is computed as
 * well, and the larger p counts: the score alone overstates one unlikely decision of a small cell.
 * p is Bonferroni's over pairs and coordinates. */
idm_status idm_audit_additive(const audit_estimands *estimands, const audit_draws *draws,
                              idm_audit *audit, idm_error *opt_error);

/* === differ ================================================================================= */

/* Whether the groups of an audit differ, so that one vector of numbers for all is an average. */

/* The contrast that is furthest from 0 in its posterior sds. */
typedef struct audit_max_contrast {
  size_t contrast;
  size_t coordinate;
  double mean;
  double sds; /* |mean| over the sd */
  double p;   /* of a normal posterior, times the number of contrasts and coordinates */
} audit_max_contrast;

idm_status idm_audit_max_contrast(const audit_estimands *estimands, const audit_draws *draws,
                                  audit_max_contrast *difference, idm_error *opt_error);

/* Whether a misfit of everybody by one vector of numbers is what groups that differ lead to: no
 * free number is without effect, and the observations do not contradict the environment. */
bool idm_audit_is_heterogeneity(const idm_checks *overall);
/* Whether the one misfit is that agents or trajectories are not alike: a group of few decisions may
 * differ from the others though no contrast is known well enough. */
bool idm_audit_only_unlike(const idm_checks *overall);

/* === held =================================================================================== */

/* Dynamics that an audit holds: the test of the environment by all groups together, and how far a
 * plausible error of the dynamics moves groups and contrasts. */

/* Test the environment of the problem with the observations of all groups; `fitted`: its dynamics
 * are fitted to them. A misfit is one of the last group, all. */
idm_status idm_audit_environment_test(const idm_problem *problem, const idm_data *data, bool fitted,
                                      idm_audit *audit, idm_error *opt_error);
/* Shifts of groups and contrasts, in units of their coordinates, from those of the cells (cell:
 * [cell], as idm_audit_inspect leaves them). Each cell has an environment of its own, whose errors
 * are independent of the others'. */
void idm_audit_propagate_shift(const audit_estimands *estimands, const idm_assessment *cell,
                               idm_audit *audit);
/* In posterior sds, once these are there: beyond the threshold of depends-on-dynamics a group gets
 * a remark, and a contrast depends on dynamics. */
void idm_audit_flag_dependence(idm_audit *audit);

/* === inspect ================================================================================ */

/* The model's half of the verdict on a cell: chance, agents who are alike, the log's own summaries.
 */

/* The time limit of the checks of all cells, from now on. */
check_time_limit idm_audit_limit(const audit_model *model);
/* What `idm fit` asks of a model, of every cell at its best draw: misfits and the model's check of
 * assessment[cell], which is zeroed first and freed by idm_audit_inspect_clear. `among` cells are
 * judged together. */
idm_status idm_audit_inspect(const audit_model *model, const audit_draws *draws, size_t among,
                             idm_assessment *assessment, idm_error *opt_error);
/* The same of one cell whose agents have numbers of their own, into an assessment that is zeroed
 * but for its checks, which have begun. */
idm_status idm_audit_inspect_cell(const audit_model *model, const audit_draws *draws, size_t cell,
                                  const strata *agents, size_t among, const check_time_limit *limit,
                                  idm_assessment *assessment, idm_error *opt_error);
void idm_audit_inspect_clear(idm_assessment *assessment, size_t cells);

/* === judge ================================================================================== */

/* Numbers of an audit from its draws, and the verdict on each group. */

/* Means of a group's number at half and at double the prior's scale. */
typedef struct prior_scale_means {
  double mean[2];
} prior_scale_means;

/* Take in the draws of way `way` of an audit whose names and sizes are there, and what else hangs
 * on its dynamics: sensitivity to the prior's scale (by weights or, where they are too uneven, by
 * fits), and what a group's own decisions say. scales: [side][coordinate]. */
idm_status idm_audit_collect(const audit_estimands *estimands, const audit_draws *draws,
                             size_t dynamics_index, uint64_t stream, const audit_watch *watch,
                             idm_audit *audit, prior_scale_means *scales, idm_error *opt_error);
/* How the model fits, in the dynamics at hand. */
idm_status idm_audit_assess(const audit_estimands *estimands, const audit_draws *draws,
                            idm_audit *audit, idm_error *opt_error);
/* Once all are there: summaries, contraction, flags, verdicts. */
idm_status idm_audit_conclude(const audit_estimands *estimands, const prior_scale_means *scales,
                              idm_audit *audit, idm_error *opt_error);
/* Holm's (1979) adjustment of p[count], in place. */
idm_status idm_audit_holm(double *p, size_t count, idm_error *opt_error);

/* === looked ================================================================================= */

/* Looks at how the model fits, in one draw of the dynamics after another. */

/* Sides that the model does not fit, or whose prior and decisions disagree. */
size_t idm_audit_count_unfit(const idm_audit *audit);

/* Whether a second look replaces the first: fewer sides are unfit, and no more tests are left out.
 * A test that is left out finds nothing, which is no better. */
bool idm_audit_reassess_better(size_t unfit_before, const idm_checks *before, size_t unfit,
                               const idm_checks *checks);

/* Look again (idm_audit_assess), in the dynamics at hand, and keep what was found before unless
 * this look replaces it: dynamics that are not known exactly contradict a model only where none of
 * them does without. */
idm_status idm_audit_reassess(const audit_estimands *estimands, const audit_draws *draws,
                              idm_audit *audit, idm_error *opt_error);

/* === pull =================================================================================== */

/* Priors that hold the numbers of an audit off what the decisions lead to. */

/* Record the check prior-pull (assess/pull.h) of the numbers that have a fixed prior: of groups
 * that are not pooled, each by itself; such a group has its misfit, and is `elsewhere`. */
void idm_audit_conflict_groups(const audit_estimands *estimands, idm_audit *audit);
/* The same of pooled groups: mean and sd of their distribution, and sds of agents within groups.
 * Then all groups and contrasts fail, since every group is drawn to that distribution. */
void idm_audit_conflict_pooled(const audit_estimands *estimands, idm_audit *audit);

/* === remarks ================================================================================ */

/* Remarks on a finished audit: what the dynamics leave open, what agents within groups leave open,
 * and which checks are left to other commands. */

/* Chains that disagree about dynamics which were drawn with the decisions fail the audit. */
void idm_audit_remark(idm_audit *audit);

/* === ward =================================================================================== */

/* Agents nested in the cells of an audit, as samples of normal populations. */

/* Record the checks outlier and form of the agents of each ward, with a misfit of the groups that
 * the agent or the product belongs to where they fail. Nothing is recorded without wards. */
idm_status idm_audit_cohort_check(const audit_estimands *estimands, const audit_draws *draws,
                                  idm_audit *audit, idm_error *opt_error);

#endif
