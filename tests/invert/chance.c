/* Log-likelihoods of uniform choice and of choice rates, against counts by hand and a grid search
 * over weights. */
#include "invert/predict.h"

#include <math.h>
#include <stdio.h>

#include "support.h"

static void test_all_open(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 50, .seed = 1});
  data->action[0] = IDM_MISSING;
  double count[3] = {0};
  for (size_t row = 1; row < data->rows; row++) count[data->action[row]]++;
  const double n = (double)data->rows - 1;
  double rates = 0;
  for (size_t u = 0; u < 3; u++)
    if (count[u] > 0) rates += count[u] * log(count[u] / n);
  idm_chance chance;
  check(idm_chance_measure(data, &chance, &support_error));
  assert_int_equal(chance.decisions, data->rows - 1);
  assert_near(chance.uniform, -n * log(3), 1e-12);
  assert_near(chance.rates, rates, 1e-12);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Log-likelihood of Luce's choice rule with these weights, summed over decisions by set of
 * available actions. */
static double luce(const double weight[3])
{
  static const double all[3] = {5, 3, 12};
  static const double two[2] = {4, 9}; /* the first two actions are available */
  double sum = 0;
  for (size_t u = 0; u < 3; u++)
    sum += all[u] * log(weight[u] / (weight[0] + weight[1] + weight[2]));
  for (size_t u = 0; u < 2; u++) sum += two[u] * log(weight[u] / (weight[0] + weight[1]));
  return sum;
}

static void test_some_open(void **state)
{
  (void)state;
  static const char *const name[3] = {"declare_healthy", "declare_diseased", "monitor"};
  static const int count[2][3] = {{5, 3, 12}, {4, 9, 0}};
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  char csv[8192];
  int used =
      snprintf(csv, sizeof csv, "trajectory,action,observation,available\nf,monitor,,monitor\n");
  int t = 0;
  for (int set = 0; set < 2; set++)
    for (int u = 0; u < 3; u++)
      for (int k = 0; k < count[set][u]; k++)
        used += snprintf(csv + used, sizeof csv - (size_t)used, "%d,%s,,%s\n", t++, name[u],
                         set ? "declare_healthy|declare_diseased" : "");
  idm_data *data = support_data(problem, csv);
  idm_chance chance;
  check(idm_chance_measure(data, &chance, &support_error));
  assert_int_equal(chance.decisions, 33); /* rows with one available action are not counted */
  assert_near(chance.uniform, -20 * log(3) - 13 * log(2), 1e-12);
  double best = -INFINITY;
  for (double a = 0.01; a < 1; a += 0.01)
    for (double b = 0.01; a + b < 0.995; b += 0.01)
      best = fmax(best, luce((const double[]){a, b, 1 - a - b}));
  assert_true(chance.rates >= best && chance.rates < best + 0.01);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Sums within rounding error of 0 give a loss of exactly 0, neither negative nor -0. */
static void test_log_loss(void **state)
{
  (void)state;
  assert_near(idm_log_loss(-3, 4), 0.75, 1e-15);
  static const double sums[] = {0, -0.0, 1e-17, 4e-16};
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
    const double loss = idm_log_loss(sums[i], 3);
    assert_true(loss == 0 && !signbit(loss));
  }
  assert_true(isnan(idm_log_loss(0, 0)));
  assert_true(idm_log_loss(-INFINITY, 2) == INFINITY);
}

/* The share explained is NaN where the loss by chance is 0. */
static void test_share(void **state)
{
  (void)state;
  assert_true(idm_share_explained(0.5, 2) == 0.75);
  assert_true(idm_share_explained(3, 2) == -0.5);
  assert_true(isnan(idm_share_explained(0, 0)));
  assert_true(isnan(idm_share_explained(1, 0)));
}

/* A log without decisions. */
static void test_nothing(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  idm_data *data =
      support_data(problem, "trajectory,action,observation,available\n1,monitor,,monitor\n");
  idm_chance chance;
  check(idm_chance_measure(data, &chance, &support_error));
  assert_true(chance.decisions == 0 && chance.uniform == 0 && chance.rates == 0);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_open), cmocka_unit_test(test_some_open),
      cmocka_unit_test(test_log_loss), cmocka_unit_test(test_share),
      cmocka_unit_test(test_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
