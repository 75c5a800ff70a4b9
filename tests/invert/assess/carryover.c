/* Tests signals and traces of earlier rows against a loop over the rows of the log, and their
 * names. */
#include "invert/assess/extension.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess/context_support.h"
#include "invert/assess/crowd_support.h"
#include "invert/assess/odd_support.h"

#define RATES "inverse_temperature,learning_rate_gain,learning_rate_loss"
enum { TRAJECTORIES = 4, ROWS = 30 };

typedef struct fixture {
  assessed_fit a;
  decision_residuals r;
  carryover p;
  double *score;
} fixture;

static void open_fixture(fixture *f, idm_problem *problem, idm_data *data, const char *free_blocks)
{
  assessed_fit_open(&f->a, problem, data, free_blocks);
  check(idm_residual_open(&f->r, &f->a.q, &support_error));
  check(idm_carryover_open(&f->p, &f->r, &support_error));
  f->score = calloc(f->r.decision_points * f->r.actions, sizeof *f->score);
  assert_non_null(f->score);
}

static void close_fixture(fixture *f)
{
  free(f->score);
  idm_carryover_close(&f->p);
  idm_residual_close(&f->r);
  assessed_fit_close(&f->a);
}

/* A learner from rewards; `shift` is added to each reward. */
static void open_learner(fixture *f, double shift)
{
  idm_problem *problem = odd_bandit();
  idm_data *data = odd_simulate(problem, &(odd_learner){.late = false}, TRAJECTORIES, ROWS, 1);
  for (size_t row = 0; row < data->rows; row++) data->number[IDM_COLUMN_REWARD][row] += shift;
  open_fixture(f, problem, data, RATES);
}

/* The row of a decision point of one agent whose histories are distinct. */
static size_t row_of(const decision_residuals *r, const decision_point *q)
{
  return r->strata->one[0].tree->node[q->node].first_row;
}

/* The trace computed by a loop over the earlier rows: score[action]. */
static void trace_plainly(const idm_data *data, carryover_trace trace, double gain, size_t row,
                          double *score)
{
  const double *reward = data->number[IDM_COLUMN_REWARD];
  const size_t step = row % ROWS;
  double weight = 1;
  score[0] = score[1] = 0;
  if (trace == TRACE_LAST && step > 0)
    score[data->action[row - 1]] = reward[row - 1] > gain ? 1 : -1;
  if (trace == TRACE_RETURN && step > 1)
    score[data->action[row - 2]] = reward[row - 2] > gain ? 1 : -1;
  for (size_t k = 1; k <= 12 && k <= row; k++, weight *= 0.7) {
    if (trace == TRACE_HABIT) score[data->action[row - k]] += weight;
    if (trace == TRACE_CREDIT && k < step)
      score[data->action[row - k - 1]] += reward[row - k] > gain ? weight : -weight;
  }
}

/* Traces equal those of the loop, and habits persist over trajectories as the memory does. */
static void test_traces(void **state)
{
  (void)state;
  fixture f;
  open_learner(&f, 0);
  assert_int_equal(f.p.count, 1);
  assert_near(f.p.gain, 0, 0);
  for (int trace = 0; trace < TRACE_KINDS; trace++) {
    assert_true(idm_carryover_has(&f.p, (carryover_trace)trace, 0));
    assert_false(idm_carryover_has(&f.p, (carryover_trace)trace, 1));
    idm_carryover_trace(&f.p, (carryover_trace)trace, 0, f.score);
    for (size_t i = 0; i < f.r.decision_points; i++) {
      double plain[2];
      trace_plainly(f.a.data, (carryover_trace)trace, 0, row_of(&f.r, &f.r.decision_point[i]),
                    plain);
      for (size_t u = 0; u < 2; u++) assert_near(f.score[i * 2 + u], plain[u], 1e-12);
    }
  }
  close_fixture(&f);
}

/* The signal of rewards is 1 for gains and -1 otherwise: above 0 or, if all have one sign, above
 * their mean. */
static void test_gains(void **state)
{
  (void)state;
  for (int shift = 0; shift <= 3; shift += 3) {
    fixture f;
    open_learner(&f, shift);
    const double *reward = f.a.data->number[IDM_COLUMN_REWARD];
    for (size_t i = 0; i < f.r.decision_points; i++) {
      const size_t row = row_of(&f.r, &f.r.decision_point[i]);
      const double expected = row % ROWS ? reward[row - 1] - shift : 0;
      assert_near(f.p.signal[0].last[i], expected, 0);
    }
    close_fixture(&f);
  }
}

/* Without rewards the signals are of observations, one for two of them, with the traces that the
 * cells of the predictive checks do not cover. A learner whose observations equal its rewards has
 * the signal of rewards only. */
static void test_observations(void **state)
{
  (void)state;
  static const double alpha = 0.3;
  fixture f;
  idm_problem *problem = make_reversal(alpha);
  open_fixture(&f, problem, simulate_agents(problem, &alpha, 1, 5, 40, 1), "alpha");
  assert_int_equal(f.p.count, 1);
  assert_int_equal(f.p.signal[0].observation, 0);
  assert_true(idm_carryover_has(&f.p, TRACE_HABIT, 0) && idm_carryover_has(&f.p, TRACE_CREDIT, 0));
  assert_false(idm_carryover_has(&f.p, TRACE_LAST, 0) || idm_carryover_has(&f.p, TRACE_RETURN, 0));
  for (size_t i = 0; i < f.r.decision_points; i++) {
    const int32_t seen = f.r.decision_point[i].seen;
    const double expected = seen == IDM_MISSING ? 0 : seen == 0 ? 1 : -1;
    assert_near(f.p.signal[0].last[i], expected, 0);
  }
  close_fixture(&f);
  problem = population_bandit();
  idm_data *data = simulate_learners(problem, 1, TRAJECTORIES, ROWS, 1);
  for (size_t row = 0; row < data->rows; row++)
    data->number[IDM_COLUMN_REWARD][row] = data->observation[row] == 0 ? 1 : -1;
  open_fixture(&f, problem, data, RATES);
  assert_int_equal(f.p.count, 1);
  assert_int_equal(f.p.signal[0].observation, IDM_MISSING);
  close_fixture(&f);
}

static void test_words(void **state)
{
  (void)state;
  static const double alpha = 0.3;
  fixture f;
  char text[160];
  open_learner(&f, 0);
  idm_carryover_signal_name(&f.p, 0, text, sizeof text);
  assert_string_equal(text, "after a reward above 0");
  idm_carryover_span(&f.p, 0, text, sizeof text);
  assert_string_equal(text, "between choices after other rewards and after those above 0");
  idm_carryover_trace_name(&f.p, TRACE_CREDIT, 0, text, sizeof text);
  assert_string_equal(text, "actions, by the reward of the row after");
  close_fixture(&f);
  idm_problem *problem = make_reversal(alpha);
  open_fixture(&f, problem, simulate_agents(problem, &alpha, 1, 2, 40, 1), "alpha");
  idm_carryover_signal_name(&f.p, 0, text, sizeof text);
  assert_string_equal(text, "after 'win'");
  idm_carryover_span(&f.p, 0, text, sizeof text);
  assert_string_equal(text, "between choices after other observations and after 'win'");
  idm_carryover_trace_name(&f.p, TRACE_CREDIT, 0, text, sizeof text);
  assert_string_equal(text, "actions, by 'win' in the row after");
  close_fixture(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_traces),
      cmocka_unit_test(test_gains),
      cmocka_unit_test(test_observations),
      cmocka_unit_test(test_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
