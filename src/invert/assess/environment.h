/* Test of the environment's start, transition and observation probabilities with the observations
 * of the log, given the recorded actions, hidden states summed out.
 *
 * A forward filter has the probability p(o|H) of every observation o given the recorded history H,
 * and tangent vectors its derivative in every direction in which the dynamics can be off
 * (direction.h). With s(o|H) = d log p(o|H), the score S = sum s(o_t|H_t) is a sum of martingale
 * differences, whatever the actions depend on and wherever trajectories stop, with the predictable
 * variance V = sum_t sum_o p(o|H_t) s(o|H_t)^2. The distribution of S is that of independent draws
 * o_t from p(.|H_t) at the recorded histories: its tail is a saddlepoint approximation
 * (base/saddlepoint.h), or that of a normal distribution where |S| < 2 sqrt(V). The test of the
 * environment takes the least p times the number of directions (Bonferroni).
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
#ifndef IDM_INVERT_ASSESS_ENVIRONMENT_H
#define IDM_INVERT_ASSESS_ENVIRONMENT_H

#include "invert/assess/direction.h"
#include "invert/assess/inquiry.h"

/* Tests of residuals. */
typedef enum serial_kind { SERIAL_PERSISTS, SERIAL_TREND, SERIAL_KINDS } serial_kind;

/* The one of least p. */
typedef struct serial_test {
  size_t looked; /* tests of residuals that have a p */
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
  size_t looked; /* directions that have a p */
  size_t worst;  /* the one of least p */
  double least;  /* the least p of all tests times their number, at most 1 */
  double best;   /* what grows along it, at the maximum of the likelihood */
  serial_test serial;
  uint64_t observations; /* that are part of the test */
  uint64_t left_out;     /* that follow an action that was not recorded */
  uint64_t impossible;   /* that have probability 0 */
  size_t impossible_row; /* of the data: the first of them */
  char why[200];         /* nothing was tested; else empty */
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
idm_tested idm_environment_tested(const environment_check *e);
/* Record the row of the table of checks at a level, with a sentence where the test fails. A
 * difference below 2 %, or dynamics that the agent's planner does not read, are a remark; `used`:
 * the inverse planner reads them, whatever the planner does. */
void idm_environment_judge(const environment_check *e, const idm_problem *problem, bool used,
                           double level, idm_assessment *assessment);
/* Test and judge at once. */
idm_status idm_environment_assess(const idm_problem *problem, const idm_data *data, bool fitted,
                                  bool used, double level, idm_assessment *assessment,
                                  idm_error *opt_error);

#endif
