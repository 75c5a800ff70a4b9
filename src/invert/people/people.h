/* People of a log, regression formulas, separate fits, and checks of a population.
 *
 * Contents: person map · decisions · population priors · formula · covariate · rank · report ·
 * separate fits · correlation · form · outlier · prior · regression */
#ifndef IDM_INVERT_PEOPLE_PEOPLE_H
#define IDM_INVERT_PEOPLE_PEOPLE_H

#include <stdint.h>

#include "idm/extension/data.h"
#include "idm/extension/inverse.h"
#include "idm/extension/setting.h"
#include "invert/assess.h"
#include "invert/parameters.h"
#include "invert/people.h"
#include "invert/project.h"

/* === person map ============================================================================= */

/* Assignment of the trajectories of a log to people. */

typedef struct idm_person_map {
  size_t people;
  idm_labels name;         /* [person], in order of first appearance */
  uint32_t *of_trajectory; /* [trajectory]: index of the person */
} idm_person_map;

/* Kind of column that identifies people: a role of the log, or a covariate. */
typedef enum idm_person_by {
  IDM_PERSON_BY_AGENT,
  IDM_PERSON_BY_TRAJECTORY,
  IDM_PERSON_BY_COVARIATE
} idm_person_by;
/* Kind of column `by`. `agent` and `trajectory`, and the only column in one of these roles, denote
 * the roles. */
idm_person_by idm_person_by_column(const idm_problem *problem, const char *by);

/* Assign trajectories to people by the agent, the trajectory, or a covariate that the data keep and
 * that is constant within each trajectory. IDM_INPUT names a row where it is not. */
idm_status idm_person_map_create(const idm_problem *problem, const idm_data *data, const char *by,
                                 idm_person_map *person_map, idm_error *opt_error);
void idm_person_map_clear(idm_person_map *person_map);

/* Index of a covariate by name; the number of covariates if there is none. */
size_t idm_covariate_find(const idm_data *data, const char *name);
/* level[trajectory]: level of a covariate; IDM_MISSING if no row has one. IDM_INPUT names the row
 * where it changes within a trajectory. */
idm_status idm_covariate_levels(const idm_data *data, size_t covariate, int32_t *level,
                                idm_error *opt_error);
/* Name of a trajectory, or its number, counted from 1, in buffer. */
const char *idm_trajectory_label(const idm_data *data, size_t trajectory, char *buffer,
                                 size_t size);

/* === decisions ============================================================================== */

/* Number of decisions of each person, and their log-loss under chance. */

/* Count trajectories and decisions of every person into person[], and set uniform_log_loss (NaN
 * without decisions). */
void idm_count_decisions(const idm_data *data, const uint32_t *of_trajectory, size_t people,
                         idm_person *person);

/* === population priors ====================================================================== */

/* Priors of free blocks that are compatible with a normal population. */

/* Whether an item has a normal prior and an unbounded coordinate, so that people can vary normally
 * in it. */
bool idm_population_is_normal(const idm_parameters *parameters, const parameter *item);
/* Return IDM_INPUT with the message "people vary normally, and BLOCK WHY; expected ...". */
idm_status idm_population_fail_prior(const idm_block *block, const char *why, idm_error *opt_error);

/* === formula ================================================================================ */

/* Formulas of the regression of a block's population mean (docs/method/people.md, 2).
 *
 *   formula  blocks '~' sum
 *   blocks   name {',' name}
 *   sum      product {'+' product}
 *   product  pair {'*' pair}          a * b is a + b + a:b
 *   pair     factor {':' factor}
 *   factor   column | C(column [, ref = level]) | 1
 *
 * Names consist of letters, digits, '_' and '.', or are enclosed in backticks; a level may be
 * quoted. The intercept is always included. */

/* Column in a formula. */
typedef struct idm_factor {
  char *column;
  bool category;       /* C(): treat the column as a category even if it contains numbers */
  char *opt_reference; /* reference level; NULL: the first */
  size_t position;     /* in the formula, counted from 1 */
} idm_factor;

/* Terms are sets of factors, stored as bits. They are ordered by number of factors, then by
 * appearance; the intercept (the empty set) is left out. */
enum { IDM_MAX_FACTORS = 32, IDM_MAX_TERMS = 200 };
typedef struct idm_formula {
  char *text;
  idm_labels block;
  size_t *block_position; /* [block]: position in the formula */
  size_t factors;
  idm_factor factor[IDM_MAX_FACTORS];
  size_t terms;
  uint32_t term[IDM_MAX_TERMS];
} idm_formula;

/* Parse a formula. IDM_USAGE names the position, what was found there and what was expected. */
idm_status idm_formula_parse(const char *text, idm_formula **ret_formula, idm_error *opt_error);
void idm_formula_destroy(idm_formula *formula);

/* === covariate ============================================================================== */

/* Columns of a formula as numbers, by trajectory. */

/* A numeric column is one regressor, centred at its mean over people. A category has one regressor
 * per level except the reference: 1 for trajectories with the level, otherwise 0. */
typedef struct idm_covariate {
  bool category;
  bool within;     /* varies between trajectories of a person */
  size_t columns;  /* number of regressors */
  idm_labels name; /* [columns]: "age", "group[T.drug]" */
  double *value;   /* [columns][trajectory] */
  double sd;       /* of a numeric column: sd over people or, if it varies within people, over
                      trajectories; of a category: 1 */
  int32_t *level;  /* [trajectory]: equal for equal cells */
} idm_covariate;

/* Create the regressors of a factor. `formula` is its text, for messages. */
idm_status idm_covariate_create(const idm_data *data, const idm_person_map *person_map,
                                const idm_factor *factor, const char *formula,
                                idm_covariate *covariate, idm_notes *opt_notes,
                                idm_error *opt_error);
void idm_covariate_clear(idm_covariate *covariate);

/* === rank =================================================================================== */

/* Identifiability of the coefficients of a design. */

/* IDM_INPUT if, over all cells, a regressor of a coordinate is a linear combination of others, or
 * is 0 everywhere. `formula` is quoted in the message. */
idm_status idm_design_check_rank(const idm_design *design, size_t coordinate, const char *formula,
                                 idm_error *opt_error);

/* === report ================================================================================= */

/* Conversion of the draws of people to a posterior, and the verdict on it (docs/method/people.md,
 * 4). */

/* Create the posterior: effects along `person`, coefficients along `coefficient` (or, if formulas
 * differ, `coefficient_BLOCK`), sds, R2 of effects with regressors, correlations along `pair`. */
idm_status idm_people_posterior(const idm_problem *problem, const idm_design *design,
                                const idm_people *people, const idm_fit_settings *settings,
                                idm_posterior **ret_posterior, idm_error *opt_error);
/* Assess the draws: diagnostics, checks of the log with at most `threads` threads and
 * `check_seconds` seconds (see idm_fit_monitor), pooling factors, a verdict per person, and the fit
 * to the log. */
idm_status idm_people_assess(const idm_problem *problem, const idm_data *data,
                             const idm_design *design, const idm_people *people,
                             const idm_posterior *posterior, int threads, double check_seconds,
                             idm_assessment **ret_assessment, idm_projection *projection,
                             idm_error *opt_error);

/* === separate fits ========================================================================== */

/* Separate fits of people, without pooling. */

/* Fit each person by `by` (agent, trajectory, or a covariate that the data keep) separately,
 * several at a time, each with its own random streams. The result does not depend on the number of
 * threads. The posterior contains the free numbers in scaled coordinates, along the axis `person`.
 * People whose fit failed are not on this axis; `person` of the assessment contains the reason.
 * IDM_INPUT if no person could be fitted. If the watch stops it, the function returns the people
 * completed so far. */
idm_status idm_individuals_fit(const idm_problem *problem, const idm_data *data, const char *by,
                               const idm_inverse *inverse, const idm_fit_settings *settings,
                               const idm_fit_monitor *opt_monitor, idm_posterior **ret_posterior,
                               idm_assessment **ret_assessment, idm_projection *projection,
                               idm_error *opt_error);

/* === correlation ============================================================================ */

/* Conflict between the prior of correlations and the people. */

/* Record the check prior-pull for every correlation, with a misfit for each that fails. Nothing is
 * recorded for independent effects, for fewer than six people, or if people's decisions hardly
 * determine their effects.
 *
 * For two effects with standardised residuals u and v and correlation rho, u and w = (v - rho u) /
 * sqrt(1 - rho^2) are independent. The sum over people of the posterior mean of u w is
 * approximately the score of rho in the marginal likelihood (Fisher's identity): it is near 0 if
 * the prior lets rho follow the data, and not if the prior fixes it. Divided by its standard
 * deviation it is a correlation, and the value of the check is Fisher's z of this correlation over
 * its standard error 1 / sqrt(n - 2). The distance of the posterior mean from the prior mean, which
 * is used for other numbers, is not suitable: a narrow prior keeps the posterior near the prior
 * mean. */
void idm_test_correlations(const idm_design *design, const idm_people *people,
                           idm_assessment *assessment);

/* === form =================================================================================== */

/* Test of the form of a regression over people, by squares and products of its columns. */

/* Term that an effect depends on: one column (second is NULL), or the product of two. Both NULL: no
 * term. Borrowed from the design. */
typedef struct form_term {
  const char *first;
  const char *second;
} form_term;

/* Record the check form. If it fails, a misfit names the effect and the columns, which are stored
 * in *ret_term; in an audit the misfit refers to groups.
 *
 * Candidates are columns of the regressions of other effects, and squares and products of two
 * columns, that are not linear combinations of the effect's own columns. At one draw from the
 * posterior, the effects of people are a sample of the population (Johnson 2007; see outlier,
 * below), so that the least-squares coefficient of an additional column, over its standard error,
 * has a Student t distribution. The p-value of a candidate is its median over the examined draws,
 * Bonferroni-adjusted over candidates. Without candidates nothing is recorded. */
idm_status idm_test_form(const idm_design *design, const idm_people *people,
                         idm_assessment *assessment, form_term *ret_term, idm_error *opt_error);

/* === outlier ================================================================================ */

/* Test for people that are outliers of a normal population. */

/* Record the check outlier. If it fails, a misfit names the most extreme person, *ret_person;
 * otherwise *ret_person is the number of people. In an audit the misfit refers to groups.
 *
 * At one draw from the posterior, log and effects of people have the joint distribution of log and
 * true effects (Johnson 2007), so that the effects are a sample of the population: the externally
 * studentised residual of a person from the regression has a Student t distribution. In contrast to
 * a distance in sds of the population, it is not bounded when the outlier increases that sd. The
 * p-value of a draw is Bonferroni-adjusted over people and effects; the result is the median over
 * the examined draws. If people's own decisions determine their effects, draws agree and the test
 * is exact; otherwise p is near 1/2 or above, because draws of the same person differ. */
idm_status idm_test_outliers(const idm_design *design, const idm_people *people,
                             idm_assessment *assessment, size_t *ret_person, idm_error *opt_error);

/* === prior ================================================================================== */

/* Comparison of the prior of a population with its people. */

/* Record, with remarks, coefficients, sds and correlations of the population that are hardly
 * narrower than their priors (contraction), and those far from their prior means (prior-distance).
 * A conflict between prior and people is a misfit (prior-pull). */
void idm_test_population(const idm_design *design, const idm_people *people,
                         idm_assessment *assessment);

/* === regression ============================================================================= */

/* Least squares of people's effects on the regressors of a design, and the Student t distribution.
 */

/* P(|T| > |t|) for a Student t variable T with `degrees` degrees of freedom. */
double idm_student_tails(double t, size_t degrees);

/* Orthonormal basis of the regressors of one effect. Linearly dependent regressors add no vector.
 */
typedef struct regression {
  size_t people;
  size_t rank;
  double *basis; /* [rank][person] */
} regression;

idm_status idm_regression_open(regression *r, const idm_design *design, size_t effect,
                               idm_error *opt_error);
/* Close a regression; it may be set to 0. */
void idm_regression_close(regression *r);
/* Compute the residuals of x[person * stride] from the regression. Returns their sum of squares. */
double idm_regression_residuals(const regression *r, const double *x, size_t stride,
                                double *residual);
/* Leverage of a person: the diagonal element of the projection onto the regressors. */
double idm_regression_leverage(const regression *r, size_t person);

#endif
