/* People: who they are, formulas, regressions and the verdict on a population.
 *
 * Contents: who · tally · settle · formula · covariate · rank · report · each · correlation ·
 * form · outlier · prior · regression */
#ifndef IDM_INVERT_PEOPLE_PEOPLE_H
#define IDM_INVERT_PEOPLE_PEOPLE_H

#include <stdint.h>

#include "idm/assess.h"
#include "idm/data.h"
#include "idm/inverse.h"
#include "idm/people.h"
#include "idm/project.h"
#include "idm/setting.h"
#include "invert/parameters.h"

/* === who ==================================================================================== */

/* Who is who: the trajectories of a log divided among people. */

typedef struct idm_person_map {
  size_t people;
  idm_labels name;         /* [person], in the order in which they first appear */
  uint32_t *of_trajectory; /* [trajectory] */
} idm_person_map;

/* What a column is to people: a role of the log, or one of its covariates. */
typedef enum idm_person_by {
  IDM_PERSON_BY_AGENT,
  IDM_PERSON_BY_TRAJECTORY,
  IDM_PERSON_BY_COVARIATE
} idm_person_by;
/* `agent` and `trajectory`, and the columns that alone play these roles, mean the roles. */
idm_person_by idm_person_by_column(const idm_problem *problem, const char *by);

/* Divide by the agent, the trajectory, or a covariate that the data keep and that is the same in
 * all rows of a trajectory; else IDM_INPUT names the row. */
idm_status idm_person_map_create(const idm_problem *problem, const idm_data *data, const char *by,
                                 idm_person_map *person_map, idm_error *opt_error);
void idm_person_map_clear(idm_person_map *person_map);

/* A covariate of the data by name, or the number of them. */
size_t idm_covariate_find(const idm_data *data, const char *name);
/* level[trajectory]: of a covariate, IDM_MISSING where no row has one. IDM_INPUT at the row where
 * it changes within a trajectory. */
idm_status idm_covariate_levels(const idm_data *data, size_t covariate, int32_t *level,
                                idm_error *opt_error);
/* Name of a trajectory, or its number from 1 into buffer. */
const char *idm_trajectory_label(const idm_data *data, size_t trajectory, char *buffer,
                                 size_t size);

/* === tally ================================================================================== */

/* How much each person decided, and what chance makes of it. */

/* Count trajectories and decisions of every person into person[]; uniform_log_loss is filled (NaN
 * where nothing was decided). */
void idm_count_decisions(const idm_data *data, const uint32_t *of_trajectory, size_t people,
                         idm_person *person);

/* === settle ================================================================================= */

/* Populations: which priors of free blocks let people vary. */

/* Whether people can vary normally in an item, by the support of its block and of its prior. */
bool idm_population_is_normal(const idm_parameters *parameters, const parameter *item);
/* IDM_INPUT: "people vary normally, and BLOCK WHY; expected ...". */
idm_status idm_population_fail_prior(const idm_block *block, const char *why, idm_error *opt_error);

/* === formula ================================================================================ */

/* Formulas: what the population's mean of a block may depend on.
 *
 *   formula  blocks '~' sum
 *   blocks   name {',' name}
 *   sum      product {'+' product}
 *   product  pair {'*' pair}          a * b is a + b + a:b
 *   pair     factor {':' factor}
 *   factor   column | C(column [, ref = level]) | 1
 *
 * Names are letters, digits, '_' and '.', or anything between backticks; a level may stand in
 * quotes. The intercept is always there. */

/* A column in a formula. */
typedef struct idm_factor {
  char *column;
  bool category;       /* C(): a category whatever its cells hold */
  char *opt_reference; /* the level that the others are compared with; NULL: the first */
  size_t position;     /* in the formula, from 1 */
} idm_factor;

/* Terms are sets of factors as bits, those of fewer factors first, in the order they appear; the
 * intercept, which has none, is left out. */
enum { IDM_MAX_FACTORS = 32, IDM_MAX_TERMS = 200 };
typedef struct idm_formula {
  char *text;
  idm_labels block;
  size_t *block_position; /* [block] */
  size_t factors;
  idm_factor factor[IDM_MAX_FACTORS];
  size_t terms;
  uint32_t term[IDM_MAX_TERMS];
} idm_formula;

/* IDM_USAGE names the place, what was found there and what was expected. */
idm_status idm_formula_parse(const char *text, idm_formula **ret_formula, idm_error *opt_error);
void idm_formula_destroy(idm_formula *formula);

/* === covariate ============================================================================== */

/* Covariates: a column of a formula as numbers, by trajectory. */

/* A numeric column is one regressor, its numbers less their mean over people; a category is one a
 * level but the reference, 1 where it is met. */
typedef struct idm_covariate {
  bool category;
  bool within;     /* differs between trajectories of one person */
  size_t columns;  /* regressors */
  idm_labels name; /* [columns]: "age", "group[T.drug]" */
  double *value;   /* [columns][trajectory] */
  double sd;       /* of numbers: over people, or over people and what varies within; else 1 */
  int32_t *level;  /* [trajectory]: equal where the cells are */
} idm_covariate;

/* The column of a factor; `formula` is its text, for messages. */
idm_status idm_covariate_create(const idm_data *data, const idm_person_map *person_map,
                                const idm_factor *factor, const char *formula,
                                idm_covariate *covariate, idm_notes *opt_notes,
                                idm_error *opt_error);
void idm_covariate_clear(idm_covariate *covariate);

/* === rank =================================================================================== */

/* Whether the coefficients of a design can be told apart. */

/* IDM_INPUT where, over all cells, a regressor of a coordinate is a combination of others, or is 0
 * everywhere; `formula` is quoted. */
idm_status idm_design_check_rank(const idm_design *design, size_t coordinate, const char *formula,
                                 idm_error *opt_error);

/* === report ================================================================================= */

/* What was found of people: their draws as a posterior, and the verdict on it. */

/* Effects along `person`, coefficients along `coefficient` (or, where formulas differ,
 * `coefficient_BLOCK`), sds, R2 where there is a regression, correlations along `pair`. */
idm_status idm_people_posterior(const idm_problem *problem, const idm_design *design,
                                const idm_people *people, const idm_fit_settings *settings,
                                idm_posterior **ret_posterior, idm_error *opt_error);
/* Diagnostics, the checks of the log on so many threads and within so many seconds (as in
 * idm_fit_monitor), what is each person's own and a verdict
 * per person; and how far people are from their log. */
idm_status idm_people_assess(const idm_problem *problem, const idm_data *data,
                             const idm_design *design, const idm_people *people,
                             const idm_posterior *posterior, int threads, double check_seconds,
                             idm_assessment **ret_assessment, idm_projection *projection,
                             idm_error *opt_error);

/* === each =================================================================================== */

/* Fits of people one by one, that know nothing of each other. */

/* One fit a person by `by` (agent, trajectory, or a covariate that the data keep), several at a
 * time, each with random streams of its own; the same at any thread count. The answer's quantities
 * are the free numbers in the coordinate of their scale, along the axis `person`; those who could
 * not be fitted are not on it, and `person` of the assessment says why. IDM_INPUT where nobody
 * could be. Stopped by its watch, it gives those who were done. */
idm_status idm_individuals_fit(const idm_problem *problem, const idm_data *data, const char *by,
                               const idm_inverse *inverse, const idm_fit_settings *settings,
                               const idm_fit_monitor *opt_monitor, idm_posterior **ret_posterior,
                               idm_assessment **ret_assessment, idm_projection *projection,
                               idm_error *opt_error);

/* === correlation ============================================================================ */

/* A prior of correlations that contradicts the people. */

/* Record the check prior-pull of every correlation, with a misfit of each that fails; nothing is
 * recorded of effects that are not correlated, of fewer than six people, and of people whose
 * decisions hardly determine their effects.
 *
 * Of two effects with standardised residuals u and v and correlation rho, u and
 * w = (v - rho u) / sqrt(1 - rho^2) are independent. The sum over people of the posterior mean of
 * u w is about the score of rho in the marginal likelihood (Fisher's identity): it is near 0 where
 * the prior lets rho follow the people, and is not where the prior fixes it. Divided by what it
 * varies by, it is a correlation, of which Fisher's z over its standard error 1 / sqrt(n - 2) is
 * the value. The distance of a mean from the prior's centre, by which other numbers are judged,
 * would not do: a narrow prior does not let the posterior leave that centre. */
void idm_test_correlations(const idm_design *design, const idm_people *people,
                           idm_assessment *assessment);

/* === form =================================================================================== */

/* Whether the form of a regression over people is right: squares and products of its columns. */

/* Columns that an effect depends on: NULL where there is none; the second is NULL for a column by
 * itself. Borrowed from the design. */
typedef struct form_term {
  const char *first;
  const char *second;
} form_term;

/* Record the check form, with a misfit that names the effect and the columns where it fails; these
 * columns are *ret_term. Of an audit the misfit is in words of groups.
 *
 * Candidates are columns of the regression of another effect, and squares and products of two
 * columns, that are no combination of the effect's own. At one draw of the posterior the effects of
 * people are a sample of the population (Johnson 2007; see outlier, below), so that the coefficient
 * of one more column in the least squares of the effects, over its standard error, is Student's t.
 * p of a candidate is the median over the draws looked at, and that of all candidates Bonferroni's.
 * Without a candidate nothing is recorded. */
idm_status idm_test_form(const idm_design *design, const idm_people *people,
                         idm_assessment *assessment, form_term *ret_term, idm_error *opt_error);

/* === outlier ================================================================================ */

/* People who are too far from the others for the population to be normal. */

/* Record the check outlier, with a misfit that names the person furthest from the others where it
 * fails: *ret_person, else past the last. Of an audit the misfit is in words of groups.
 *
 * At one draw of the posterior, log and effects of people have the joint distribution that log and
 * true effects have (Johnson 2007), so that the effects are a sample of the population: the
 * residual of a person from the regression through all others, studentised by them, is Student's
 * t. Unlike a distance in sds of the population it is not bounded where the outlier widens that sd.
 * p of a draw is Bonferroni's over people and effects, and that of all draws looked at their
 * median: where people's own decisions determine their effects, draws agree and it is exact; else
 * it is near 1/2 or above, since draws of the same person differ. */
idm_status idm_test_outliers(const idm_design *design, const idm_people *people,
                             idm_assessment *assessment, size_t *ret_person, idm_error *opt_error);

/* === prior ================================================================================== */

/* What the prior says of a population, against what its people do. */

/* Record, and remark on, coefficients, sds and correlations of the population that are hardly
 * narrower than their priors (contraction), and those that lie where the prior did not expect them
 * (prior-distance). A prior that contradicts the people and holds a number off what they lead to is
 * a misfit (prior-pull). */
void idm_test_population(const idm_design *design, const idm_people *people,
                         idm_assessment *assessment);

/* === regression ============================================================================= */

/* Least squares of people's effects on the regressors of a design, and Student's t. */

/* P(|T| > |t|), T being Student's t with so many degrees of freedom. */
double idm_student_tails(double t, size_t degrees);

/* An orthonormal basis of the regressors of one effect. Regressors that are combinations of earlier
 * ones add nothing to it. */
typedef struct regression {
  size_t people;
  size_t rank;
  double *basis; /* [rank][person] */
} regression;

idm_status idm_regression_open(regression *r, const idm_design *design, size_t effect,
                               idm_error *opt_error);
/* Accepts a regression that was set to 0. */
void idm_regression_close(regression *r);
/* Residuals of x[person * stride] from the regression, and their sum of squares. */
double idm_regression_residuals(const regression *r, const double *x, size_t stride,
                                double *residual);
/* The leverage of a person: the diagonal element of the projection onto the regressors. */
double idm_regression_leverage(const regression *r, size_t person);

#endif
