/* Test of the environment, and sensitivity to the dynamics.
 *
 * Contents: direction · environment · response · depend */
#ifndef IDM_INVERT_ASSESS_ENVIRONMENT_H
#define IDM_INVERT_ASSESS_ENVIRONMENT_H

#include "idm/dynamics.h"
#include "invert/assess/inquiry.h"

/* === direction ============================================================================== */

/* Directions in which the dynamics of a problem can be off: one probability that grows at the
 * expense of the others of its row, or the likeliest outcome of every row of a matrix together. */

typedef enum direction_part {
  DIRECTION_TRANSITION,
  DIRECTION_EMISSION,
  DIRECTION_START
} direction_part;

typedef struct direction {
  direction_part part;
  size_t action; /* whose matrix it is: of tied ones the first */
  size_t state;  /* whose row moves; the number of states: every row */
} direction;

typedef struct directions {
  const idm_setting *setting; /* borrowed */
  idm_dynamics *own;          /* the numbers of the problem */
  size_t *representative[2];  /* [action]: the first action whose matrix is the same one; transition
                       and emission */
  size_t count;
  direction *one; /* those of whole matrices first */
  int32_t *entry; /* [direction][state]: the outcome that grows in the row of a state, of the start
                     in [0]; -1: the row stays */
} directions;

/* Directions of the problem's environment: those of matrices of which two rows or more can move,
 * and with `numbers` every probability strictly between 0 and 1 by itself (of a row with two, the
 * larger). Rows that the problem's file ties move together. Terminal actions have none. Transitions
 * by rows become matrices. IDM_INPUT where the problem has no dynamics. idm_directions_close frees
 * what is there. */
idm_status idm_directions_open(directions *d, const idm_problem *problem, bool numbers,
                               idm_error *opt_error);
void idm_directions_close(directions *d);

/* Rows of one action, or the start, that a direction moves: entry[state], or NULL where it moves
 * none of them. */
static inline const int32_t *idm_direction_rows(const directions *d, size_t i, direction_part part,
                                                size_t action)
{
  const direction *it = &d->one[i];
  const bool moves = it->part == part &&
                     (part == DIRECTION_START || it->action == d->representative[part][action]);
  return moves ? d->entry + i * d->own->sizes.states : NULL;
}

/* d row[outcome] / d row[entry]: the others give way in proportion. */
static inline double idm_direction_derivative(const double *row, size_t entry, size_t outcome)
{
  return outcome == entry ? 1 : -row[outcome] / (1 - row[entry]);
}

/* What the problem gives to the outcome that grows; the mean over the rows of a matrix. */
double idm_direction_probability(const directions *d, size_t i);
/* Bounds of the shift that keep every probability that moves inside (0, 1). */
void idm_direction_limits(const directions *d, size_t i, double *low, double *high);
/* The problem's numbers with direction i moved by `shift`, into dynamics of the same sizes. */
void idm_direction_shift(const directions *d, size_t i, double shift, idm_dynamics *to);
/* Move the matrices of every model of an agent by the same shift, as far as they can be. */
void idm_direction_shift_models(const directions *d, size_t i, double shift, idm_theta *theta);

/* start[healthy], transition[*,healthy,diseased], observation[test,healthy,positive]; of a matrix
 * observation[test]. */
void idm_direction_name(const directions *d, size_t i, char *text, size_t size);
/* "observations after `test` in state `healthy`", and what grows there: "`positive`". */
void idm_direction_describe(const directions *d, size_t i, char *where, size_t where_size,
                            char *what, size_t what_size);

/* === environment ============================================================================ */

/* Test of the environment's start, transition and observation probabilities with the observations
 * of the log, given the recorded actions, hidden states summed out.
 *
 * A forward filter has the probability p(o|H) of every observation o given the recorded history H,
 * and tangent vectors its derivative in every direction in which the dynamics can be off
 * (direction, above). With s(o|H) = d log p(o|H), the score S = sum s(o_t|H_t) is a sum of
 * martingale differences, whatever the actions depend on and wherever trajectories stop, with the
 * predictable variance V = sum_t sum_o p(o|H_t) s(o|H_t)^2. The distribution of S is that of
 * independent draws o_t from p(.|H_t) at the recorded histories: its tail is a saddlepoint
 * approximation (base/statistics.h), or that of a normal distribution where |S| < 2 sqrt(V). The
 * test of the environment takes the least p times the number of directions (Bonferroni).
 *
 * Residuals e_k = 1{o = k} - p(k|H) of observation k are also tested for what no direction
 * describes: that k persists within trajectories (s(o|H) = e_k times the sum of the earlier e_k),
 * as where a state is missing or trajectories differ, and that k has a trend along them (e_k times
 * the step). At dynamics that are fitted to the same observations these scores vary less than V, so
 * that these two tests keep their size; tests of directions, whose scores are about 0 there, are
 * left out.
 *
 * Observations after actions that end the log are no part of it, and neither is what follows an
 * action that was not recorded. */

/* Tests of residuals. */
typedef enum serial_kind { SERIAL_AUTOCORRELATION, SERIAL_TREND, SERIAL_KINDS } serial_kind;

/* The one of least p. */
typedef struct serial_test {
  size_t evaluated; /* tests of residuals that have a p */
  double p;
  serial_kind kind;
  size_t observation;
  double statistic; /* S^2 / V */
  double score;     /* S */
  double size;      /* root mean square of the change of p(k|H) that it implies */
} serial_test;

typedef struct environment_check {
  directions directions;
  bool matrices;       /* whole matrices alone: the numbers are too many */
  double *score;       /* [direction]: S */
  double *information; /* [direction]: V */
  double *p; /* [direction]: two-sided; NaN where the log has less information than one observation
                of what the direction moves */
  size_t evaluated; /* directions that have a p */
  size_t worst;     /* the one of least p */
  double min_p;     /* the least p of all tests times their number, at most 1 */
  double best;      /* what grows along it, at the maximum of the likelihood */
  serial_test serial;
  uint64_t observations; /* that are part of the test */
  uint64_t excluded;     /* that follow an action that was not recorded */
  uint64_t impossible;   /* that have probability 0 */
  size_t impossible_row; /* of the data: the first of them */
  char skip_reason[200]; /* nothing was tested; else empty */
} environment_check;

/* Test the environment of a problem; `fitted`: to the observations of these data, so that residuals
 * alone are tested. idm_environment_close frees what is there. */
idm_status idm_environment_open(environment_check *e, const idm_problem *problem,
                                const idm_data *data, bool fitted, idm_error *opt_error);
void idm_environment_close(environment_check *e);

/* The standard error that the log's observations leave of what a direction moves; NaN where they
 * have too little information. */
double idm_environment_error(const environment_check *e, size_t i);
/* As a test of the model (idm/assess.h). */
idm_model_test_result idm_environment_result(const environment_check *e);
/* Record the row of the table of checks at a level, with a sentence where the test fails. A
 * difference below 2 %, or dynamics that the agent's planner does not read, are a remark; `used`:
 * the inverse planner reads them, whatever the planner does. */
void idm_environment_record(const environment_check *e, const idm_problem *problem, bool used,
                            double level, idm_assessment *assessment);
/* Test and judge at once. */
idm_status idm_environment_assess(const idm_problem *problem, const idm_data *data, bool fitted,
                                  bool used, double level, idm_assessment *assessment,
                                  idm_error *opt_error);

/* === response =============================================================================== */

/* Response of posterior means to a change of the log-likelihood: to first order a mean moves by
 * Cov(quantity, change) over the draws.
 *
 * In a plain fit the change is computed at a sample of the draws; that of a small one is smoothed.
 * In a population it is a sum over strata, each a function of numbers of its own. People plan
 * alike, so that it is computed for all strata at common points, which are draws of one stratum
 * each: one plan per point. A quadratic function through the changes of a stratum, weighted towards
 * points near its own draws, gives the change at every draw. */

typedef struct response {
  const check_context *q;
  size_t points;
  size_t strata; /* 1 in a plain fit */
  size_t count;  /* changes */
  double *table; /* [change][stratum][point]: the change of the log-likelihood, or its derivative;
                    NaN where a point cannot be planned for */
  /* Of a population: */
  size_t draws;          /* spread evenly over all */
  double *point_numbers; /* [point][dimension] */
  double *mean;          /* [stratum][dimension]: of its draws */
  double *sd;            /* [stratum][dimension] */
} response;

/* Room for so many changes at so many points, or as many as there are draws. idm_response_close
 * accepts a response that was set to 0. */
idm_status idm_response_open(response *r, const check_context *q, size_t points, size_t count,
                             idm_error *opt_error);
void idm_response_close(response *r);
/* The numbers of point k: y[dimension]. */
void idm_response_point(const response *r, size_t k, double *y);
/* Changes of stratum c: [point]. */
double *idm_response_row(const response *r, size_t change, size_t c);

/* Add `weight` times the log-likelihood of a problem like the inquiry's own. Calls for different
 * changes may run at the same time. */
idm_status idm_response_add(const response *r, size_t change, const idm_problem *problem,
                            double weight, idm_error *opt_error);
/* Shifts of all posterior means, [quantity], of a unit of the change; NaN where the points are too
 * few. opt_uncertain, of a population: [quantity], a bound of the standard error that the quadratic
 * functions leave, in the quantity's posterior sd. */
idm_status idm_response_shifts(const response *r, size_t change, double *shift,
                               double *opt_uncertain, idm_error *opt_error);

/* Changes at `count` draws of a plain fit, spread evenly over all, from change[size] at fewer: a
 * quadratic function through them, so that it hardly matters which draws the few are. *ret_error is
 * the standard error of a shift, in posterior sds, that the function leaves; NaN, and nothing is
 * written, where so few draws do not determine one. */
idm_status idm_response_smooth(const check_context *q, const double *change, size_t size,
                               size_t count, double *to, double *ret_error, idm_error *opt_error);

/* === depend ================================================================================= */

/* Sensitivity of the answer to the dynamics that were held.
 *
 * Every direction of the dynamics that the log informs (environment.h) has a step: the standard
 * error that the log's own observations leave of it. The environment moves along it, and with it
 * the agent's models: by their rule or, where they are a list, each by the same shift. The slope of
 * the log-likelihood is a central difference, and d posterior mean / d number its covariance with
 * the quantity (response, above). */

/* Append the sensitivities to dynamics to those of the assessment. What is left out is noted. */
idm_status idm_dynamics_sensitivity(const check_context *q, idm_error *opt_error);

#endif
