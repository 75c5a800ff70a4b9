/* Score test of the environment with the observations of a log, and sensitivity of the answer to
 * held dynamics (docs/method/verdict.md, 5 and 6).
 *
 * Contents: direction · environment · response · dynamics sensitivity */
#ifndef IDM_INVERT_ASSESS_ENVIRONMENT_H
#define IDM_INVERT_ASSESS_ENVIRONMENT_H

#include "idm/extension/dynamics.h"
#include "invert/assess/context.h"

/* === direction ============================================================================== */

/* Directions of change of the dynamics: one probability increases and the other probabilities of
 * its row decrease in proportion, or the likeliest outcome of every row of a matrix increases. */

typedef enum direction_part {
  DIRECTION_TRANSITION,
  DIRECTION_EMISSION,
  DIRECTION_START
} direction_part;

typedef struct direction {
  direction_part part;
  size_t action; /* of the matrix; of tied matrices the first */
  size_t state;  /* of the row that changes; the number of states: every row */
} direction;

typedef struct directions {
  const idm_setting *setting; /* borrowed */
  idm_dynamics *own;          /* the dynamics of the problem */
  size_t *representative[2];  /* [action]: the first action with the same matrix; of transition and
                                 emission */
  size_t count;
  direction *one; /* [count]: directions of whole matrices first */
  int32_t *entry; /* [direction][state]: the outcome that increases in the row of a state, of the
                     start in [0]; -1: the row does not change */
} directions;

/* Create the directions of the problem's environment: those of matrices with two or more rows that
 * can change, and with `numbers` those of every probability strictly between 0 and 1 (of a row with
 * two such probabilities, the larger). Rows that the problem's file ties change together. Terminal
 * actions have no directions. Sparse transitions are expanded to matrices. Returns IDM_INPUT if the
 * problem has no dynamics. Release with idm_directions_close, after a failure too. */
idm_status idm_directions_open(directions *d, const idm_problem *problem, bool numbers,
                               idm_error *opt_error);
void idm_directions_close(directions *d);

/* Rows of one action, or of the start, that a direction changes: entry[state], or NULL if it
 * changes none of them. */
static inline const int32_t *idm_direction_rows(const directions *d, size_t i, direction_part part,
                                                size_t action)
{
  const direction *it = &d->one[i];
  const bool moves = it->part == part &&
                     (part == DIRECTION_START || it->action == d->representative[part][action]);
  return moves ? d->entry + i * d->own->sizes.states : NULL;
}

/* d row[outcome] / d row[entry]; the other probabilities decrease in proportion. */
static inline double idm_direction_derivative(const double *row, size_t entry, size_t outcome)
{
  return outcome == entry ? 1 : -row[outcome] / (1 - row[entry]);
}

/* Probability in the problem of the outcome that increases; the mean over the rows of a matrix. */
double idm_direction_probability(const directions *d, size_t i);
/* Bounds of the shift that keep every changed probability inside (0, 1). */
void idm_direction_limits(const directions *d, size_t i, double *low, double *high);
/* Store the problem's dynamics with direction i shifted by `shift` in `to`, of the same sizes. */
void idm_direction_shift(const directions *d, size_t i, double shift, idm_dynamics *to);
/* Shift the matrices of every model of an agent by the same amount; shifts are clipped to (0, 1).
 */
void idm_direction_shift_models(const directions *d, size_t i, double shift, idm_theta *theta);

/* Print the name: start[healthy], transition[*,healthy,diseased],
 * observation[test,healthy,positive]; of a matrix observation[test]. */
void idm_direction_name(const directions *d, size_t i, char *text, size_t size);
/* Print the rows, "observations after `test` in state `healthy`", and the outcome that increases,
 * "`positive`". */
void idm_direction_describe(const directions *d, size_t i, char *where, size_t where_size,
                            char *what, size_t what_size);

/* === environment ============================================================================ */

/* Score test of the environment's start, transition and observation probabilities with the
 * observations of the log, given the recorded actions; hidden states are summed out
 * (docs/method/verdict.md, 6).
 *
 * A forward filter computes the probability p(o|H) of every observation o given the recorded
 * history H; its tangent vectors are the derivatives in every direction of change of the dynamics
 * (direction, above). With s(o|H) = d log p(o|H), the score S = sum s(o_t|H_t) is a sum of
 * martingale differences, for any dependence of the actions and of the ends of trajectories on the
 * past, with the predictable variance V = sum_t sum_o p(o|H_t) s(o|H_t)^2. The distribution of S is
 * that of independent draws o_t from p(.|H_t) at the recorded histories: its tail is a saddlepoint
 * approximation (base/statistics.h), or that of a normal distribution if |S| < 2 sqrt(V). The test
 * of the environment multiplies the least p by the number of directions (Bonferroni).
 *
 * The residuals e_k = 1{o = k} - p(k|H) of observation k are also tested for two departures that no
 * direction describes: serial correlation of k within trajectories (s(o|H) = e_k times the sum of
 * the earlier e_k), as a missing state or differences between trajectories cause it, and a trend of
 * k along trajectories (e_k times the step). If the dynamics are fitted to the same observations,
 * these scores vary less than V, so the two tests keep their size; the tests of directions, whose
 * scores are about 0 then, are left out.
 *
 * Observations after actions that end the log are not part of the test, nor are those that follow
 * an action that was not recorded. */

/* Tests of residuals. */
typedef enum serial_kind { SERIAL_AUTOCORRELATION, SERIAL_TREND, SERIAL_KINDS } serial_kind;

/* The test of residuals with the least p. */
typedef struct serial_test {
  size_t evaluated; /* tests of residuals that have a p */
  double p;
  serial_kind kind;
  size_t observation;
  double statistic; /* S^2 / V */
  double score;     /* S */
  double size;      /* root mean square of the implied change of p(k|H) */
} serial_test;

typedef struct environment_check {
  directions directions;
  bool matrices; /* only directions of whole matrices; those of single probabilities are too many */
  double *score; /* [direction]: S */
  double *information; /* [direction]: V */
  double *p; /* [direction]: two-sided; NaN if the log has less information than one observation of
                the changed probability */
  size_t evaluated; /* directions that have a p */
  size_t worst;     /* the direction of least p */
  double min_p;     /* the least p of all tests times their number, at most 1 */
  double best;      /* probability of its outcome at the maximum of the likelihood */
  serial_test serial;
  uint64_t observations; /* observations in the test */
  uint64_t excluded;     /* observations left out: they follow an action that was not recorded */
  uint64_t impossible;   /* observations of probability 0 */
  size_t impossible_row; /* row of the data of the first of them */
  char skip_reason[200]; /* why nothing was tested; else empty */
} environment_check;

/* Test the environment of a problem. `fitted`: the dynamics were fitted to the observations of
 * these data, so only residuals are tested. Release with idm_environment_close, after a failure
 * too. */
idm_status idm_environment_open(environment_check *e, const idm_problem *problem,
                                const idm_data *data, bool fitted, idm_error *opt_error);
void idm_environment_close(environment_check *e);

/* Standard error of the probability of direction i, from the information of the log's observations;
 * NaN if the log has less information than one observation. */
double idm_environment_error(const environment_check *e, size_t i);
/* The result as a test of the model (invert/assess.h). */
idm_model_test_result idm_environment_result(const environment_check *e);
/* Record the environment row of the table of checks at a level, and add a sentence if the test
 * fails. The outcome is a remark if the difference is below 2 % or the agent's planner does not
 * read the dynamics. `used`: the inverse planner reads them, whatever the planner reads. */
void idm_environment_record(const environment_check *e, const idm_problem *problem, bool used,
                            double level, idm_assessment *assessment);
/* Test and record. */
idm_status idm_environment_assess(const idm_problem *problem, const idm_data *data, bool fitted,
                                  bool used, double level, idm_assessment *assessment,
                                  idm_error *opt_error);

/* === response =============================================================================== */

/* Response of posterior means to a change of the log-likelihood: to first order, the shift of a
 * mean is Cov(quantity, change) over the draws (docs/method/verdict.md, 5).
 *
 * In a plain fit the change is computed at a sample of the draws and, if the sample is small,
 * smoothed by a quadratic function.
 *
 * In a population the log-likelihood is a sum over strata, each a function of its own numbers. All
 * strata have the same planning problem, so the changes of all strata are computed at common
 * points, each a draw of one stratum: one plan per point. A quadratic function fitted to the
 * changes of a stratum, with larger weights for points near its own draws, predicts the change at
 * every draw. */

typedef struct response {
  const check_context *q;
  size_t points;
  size_t strata; /* 1 in a plain fit */
  size_t count;  /* number of changes */
  double *table; /* [change][stratum][point]: the change of the log-likelihood, or its derivative;
                    NaN if planning at the point failed */
  /* Of a population: */
  size_t draws;          /* draws used, spread evenly over all */
  double *point_numbers; /* [point][dimension] */
  double *mean;          /* [stratum][dimension]: mean of its draws */
  double *sd;            /* [stratum][dimension]: sd of its draws */
} response;

/* Allocate `count` changes at `points` points, or at all draws if those are fewer.
 * idm_response_close accepts a zeroed response. */
idm_status idm_response_open(response *r, const check_context *q, size_t points, size_t count,
                             idm_error *opt_error);
void idm_response_close(response *r);
/* Store the numbers of point k in y[dimension]. */
void idm_response_point(const response *r, size_t k, double *y);
/* Row of the table of stratum c: [point]. */
double *idm_response_row(const response *r, size_t change, size_t c);

/* Add `weight` times the log-likelihood of a problem with the structure of the fit's problem. Calls
 * for different changes can run in parallel. */
idm_status idm_response_add(const response *r, size_t change, const idm_problem *problem,
                            double weight, idm_error *opt_error);
/* Shifts of all posterior means per unit of the change: shift[quantity]; NaN if the points are too
 * few. opt_uncertain[quantity], of a population: a bound of the standard error of the shift from
 * the quadratic functions, in posterior sds of the quantity. */
idm_status idm_response_shifts(const response *r, size_t change, double *shift,
                               double *opt_uncertain, idm_error *opt_error);

/* Predict the changes at `count` draws of a plain fit, spread evenly over all, from change[size] at
 * fewer, by a quadratic function, so that the shift hardly depends on which draws were sampled.
 * *ret_error is the standard error of a shift due to the function, in posterior sds; NaN, with
 * nothing written, if the sample does not determine the function. */
idm_status idm_response_smooth(const check_context *q, const double *change, size_t size,
                               size_t count, double *to, double *ret_error, idm_error *opt_error);

/* === dynamics sensitivity =================================================================== */

/* Sensitivity of the answer to held dynamics (docs/method/verdict.md, 5).
 *
 * The step of a direction of the dynamics on which the log has information (environment, above) is
 * its standard error from the log's own observations. The environment is shifted by the step, and
 * with it the agent's models: by the rule that they follow from the environment or, if the models
 * are listed, each by the same shift. The slope of the log-likelihood is a central difference, and
 * d posterior mean / d probability is its covariance with the quantity (response, above). */

/* Append the sensitivities to dynamics to those of the assessment, and add a note on directions
 * that are left out. */
idm_status idm_dynamics_sensitivity(const check_context *q, idm_error *opt_error);

#endif
