/* The log's summaries beside predictions: shares by counting, intervals by the normal distribution.
 */
#include "invert/assess/predictions.h"

#include <math.h>
#include <string.h>

#include "invert/assess/asked_support.h"
#include "invert/assess/predictive.h"

static void open_asked(asked *a, double alpha)
{
  static double both[2];
  idm_problem *problem = support_diag(3, 1.25, 0.3);
  both[0] = both[1] = alpha;
  problem->agent.resolution = 40;
  asked_open(a, problem, asked_simulate(problem, both, 2, 60, 40, 5), "alpha");
}

static const idm_prediction *find(const idm_predictions *p, idm_model_test test, const char *label)
{
  for (size_t i = 0; i < p->count; i++)
    if (p->one[i].test == test && strcmp(p->one[i].label, label) == 0) return &p->one[i];
  return NULL;
}

/* Counted from the rows. */
static void test_observed(void **state)
{
  (void)state;
  asked a;
  idm_predictions p;
  open_asked(&a, 3);
  check(idm_predictions_find(a.problem, a.data, a.posterior, &p, &support_error));
  const idm_data *data = a.data;
  double second = 0, taken[3] = {0}, ended = 0, stayed = 0, could = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const size_t step = row - data->first[t];
      if (step == 1) second++, taken[data->action[row]]++;
      if (step == 0) ended += data->action[row] != 2;
      if (step == 0 || data->observation[row - 1] != 1) continue;
      could++;
      stayed += data->action[row] == data->action[row - 1];
    }
  const idm_prediction *one = find(&p, IDM_TEST_STEPS, "step 2, monitor");
  assert_non_null(one);
  assert_near(one->chances, second, 1e-12);
  assert_near(one->observed, taken[2] / second, 1e-12);
  one = find(&p, IDM_TEST_ENDS, "step 1");
  assert_non_null(one);
  assert_near(one->observed, ended / (double)data->trajectories, 1e-12);
  one = find(&p, IDM_TEST_STAYS, "after positive");
  assert_non_null(one);
  assert_near(one->observed, stayed / could, 1e-12);
  assert_near(one->chances, could, 1e-12);
  idm_predictions_clear(&p);
  asked_close(&a);
}

/* Intervals are those of what is left when the scores are taken out: by its variance, where counts
 * are large. */
static void test_intervals(void **state)
{
  (void)state;
  asked a;
  idm_predictions p;
  residual r;
  predictive by;
  open_asked(&a, 3);
  check(idm_predictions_find(a.problem, a.data, a.posterior, &p, &support_error));
  check(idm_residual_open(&r, &a.q, &support_error));
  check(idm_predictive_open(&by, &r, &support_error));
  size_t at = 0, looked = 0;
  const cell_family families[] = {CELLS_STEP, CELLS_END, CELLS_STAY};
  for (size_t f = 0; f < 3; f++) {
    const cells *c = &by.family[families[f]];
    for (size_t i = 0; i < c->count; i++) {
      if (!(c->chances[i] > 0)) continue;
      const idm_prediction *one = &p.one[at++];
      const double sd = sqrt(c->variance[i]) / c->chances[i];
      assert_true(one->low <= one->inner_low && one->inner_low <= one->inner_high &&
                  one->inner_high <= one->high && one->low >= 0 && one->high <= 1);
      /* Steps of one decision and 999 replicates: half a count and a tenth of an sd. */
      if (c->variance[i] < 10) continue;
      const double slack = 0.5 / c->chances[i] + 0.15 * sd;
      looked++;
      assert_true(fabs(one->low - (one->expected - 1.96 * sd)) < slack);
      assert_true(fabs(one->high - (one->expected + 1.96 * sd)) < slack);
      assert_true(fabs(one->inner_low - (one->expected - 0.6745 * sd)) < slack);
      assert_true(fabs(one->inner_high - (one->expected + 0.6745 * sd)) < slack);
    }
  }
  assert_int_equal(at, p.count);
  assert_true(looked >= 3);
  idm_predictive_close(&by);
  idm_residual_close(&r);
  idm_predictions_clear(&p);
  asked_close(&a);
}

/* What the model does itself is where it is predicted, in most cells. */
static void test_right_model(void **state)
{
  (void)state;
  asked a;
  idm_predictions p;
  open_asked(&a, 3);
  check(idm_predictions_find(a.problem, a.data, a.posterior, &p, &support_error));
  size_t outside = 0;
  for (size_t i = 0; i < p.count; i++)
    outside += p.one[i].observed < p.one[i].low - 1e-9 || p.one[i].observed > p.one[i].high + 1e-9;
  assert_true(outside * 4 < p.count);
  idm_predictions_clear(&p);
  asked_close(&a);
}

/* Draws of other numbers are refused. */
static void test_others(void **state)
{
  (void)state;
  asked a;
  idm_predictions p;
  idm_error error = {0};
  open_asked(&a, 3);
  check(idm_problem_free(a.problem, "beta,eta", &support_error));
  assert_int_equal(idm_predictions_find(a.problem, a.data, a.posterior, &p, &error), IDM_INPUT);
  assert_int_equal(p.count, 0);
  asked_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_observed), cmocka_unit_test(test_intervals),
      cmocka_unit_test(test_right_model), cmocka_unit_test(test_others)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
