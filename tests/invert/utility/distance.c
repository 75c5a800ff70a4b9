/* Distance minimisation: exact scores are fitted exactly in either norm, and estimates are minima
 * against random utilities, fine grids and normal equations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "idm/extension/inverse.h"
#include "idm/extension/optimality.h"
#include "invert/utility/preference_support.h"
#include "invert/utility/walk.h"
#include "support.h"

enum { TRAJECTORIES = 60, STEPS = 7 };

/* A log of the walk with discounted utilities as scores, and an error added to the first. */
static idm_data *scored_log(const idm_problem *problem, double error_of_first)
{
  idm_data *data = support_simulate(
      problem, (idm_simulation){.trajectories = TRAJECTORIES, .steps = STEPS, .seed = 5});
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  double *score = calloc(data->trajectories, sizeof *score);
  assert_non_null(score);
  for (size_t t = 0; t < data->trajectories; t++) {
    size_t now = 0;
    double weight = 1;
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++, weight *= 0.9) {
      score[t] += weight * utility[(size_t)data->action[r] * 3 + now];
      now = (size_t)data->observation[r];
    }
  }
  score[0] += error_of_first;
  data->number[IDM_COLUMN_SCORE] = score;
  return data;
}

static idm_posterior *fit(const idm_problem *problem, const idm_data *data, idm_norm norm)
{
  idm_fit_settings settings;
  idm_posterior *posterior;
  idm_fit_settings_default(&settings);
  settings.norm = norm;
  check(idm_inverse_fit(idm_inverse_find("distance"), problem, data, &settings, NULL, &posterior,
                        NULL, &support_error));
  return posterior;
}

static void test_exact_scores(void **state)
{
  (void)state;
  const double truth[] = {0.5, -1, 2, 3, -0.25, 1};
  for (int norm = IDM_NORM_1; norm <= IDM_NORM_2; norm++) {
    idm_problem *problem = support_yaml(WALK);
    idm_data *data = scored_log(problem, 0);
    check(idm_problem_set_free(problem, "utility", &support_error));
    idm_posterior *p = fit(problem, data, (idm_norm)norm);
    for (size_t i = 0; i < 6; i++) assert_near(p->value[i], truth[i], 1e-9);
    assert_near(p->optimality->objective, 0, 1e-8);
    assert_true(idm_optimality_certified(p->optimality));
    assert_int_equal(p->optimality->open, 0);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* An outlying score changes the least-squares estimate but not the least-absolute one. */
static void test_one_score_off(void **state)
{
  (void)state;
  const double truth[] = {0.5, -1, 2, 3, -0.25, 1};
  idm_problem *problem = support_yaml(WALK);
  idm_data *data = scored_log(problem, 100);
  check(idm_problem_set_free(problem, "utility", &support_error));
  idm_posterior *absolute = fit(problem, data, IDM_NORM_1);
  idm_posterior *squares = fit(problem, data, IDM_NORM_2);
  double moved = 0;
  for (size_t i = 0; i < 6; i++) {
    assert_near(absolute->value[i], truth[i], 1e-7);
    moved = fmax(moved, fabs(squares->value[i] - truth[i]));
  }
  assert_true(moved > 1);
  assert_near(absolute->optimality->objective, 100, 1e-6);
  assert_true(idm_optimality_certified(absolute->optimality) &&
              idm_optimality_certified(squares->optimality));
  idm_posterior_destroy(absolute);
  idm_posterior_destroy(squares);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Entries that no trajectory visits are undetermined, and least squares sets them to 0. */
static void test_what_is_open(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  idm_data *data = support_data(problem, "trajectory,state,action\n1,a,right\n1,b,\n");
  data->number[IDM_COLUMN_SCORE] = calloc(1, sizeof(double));
  data->number[IDM_COLUMN_SCORE][0] = 3;
  check(idm_problem_set_free(problem, "utility", &support_error));
  idm_posterior *p = fit(problem, data, IDM_NORM_2);
  assert_int_equal(p->optimality->open, 5);
  for (size_t i = 0; i < 6; i++) assert_near(p->value[i], i == 3 ? 3 : 0, 1e-14);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* The row of one trajectory: sum_t 0.9^t over the number of entry (state, action). */
static void put_row(const idm_data *data, size_t t, const int32_t *number, size_t count,
                    double *row)
{
  size_t now = 0;
  double weight = 1;
  memset(row, 0, count * sizeof *row);
  for (size_t r = data->first[t]; r < data->first[t + 1]; r++, weight *= 0.9) {
    row[number[(size_t)data->action[r] * 3 + now]] += weight;
    now = (size_t)data->observation[r];
  }
}

static double sum_of(const idm_data *data, const int32_t *number, const double *x, size_t count,
                     idm_norm norm)
{
  double sum = 0, row[6];
  for (size_t t = 0; t < data->trajectories; t++) {
    double left = -data->number[IDM_COLUMN_SCORE][t];
    put_row(data, t, number, count, row);
    for (size_t k = 0; k < count; k++) left += row[k] * x[k];
    sum += norm == IDM_NORM_1 ? fabs(left) : left * left;
  }
  return sum;
}

/* For few trajectories, any unit and undetermined directions: the objective is that of the
 * estimate, no other utility has a smaller one, and the estimate has no component in undetermined
 * directions. */
static void test_few_trajectories(void **state)
{
  (void)state;
  static const double unit[] = {1, 1e-8, 1e6};
  static const int32_t every[] = {0, 1, 2, 3, 4, 5}, tied[] = {0, 1, 1, 2, 3, 0};
  for (uint64_t seed = 1; seed <= 24; seed++) {
    const double u = unit[seed % 3];
    const idm_norm norm = seed % 2 ? IDM_NORM_1 : IDM_NORM_2;
    const bool ties = seed % 5 == 0;
    const size_t n = ties ? 4 : 6;
    idm_random random;
    idm_random_init(&random, seed, 0);
    idm_problem *problem = support_yaml(WALK);
    idm_data *data = support_simulate(
        problem, (idm_simulation){.trajectories = 1 + seed % 9, .steps = 5, .seed = seed});
    data->number[IDM_COLUMN_SCORE] = calloc(data->trajectories, sizeof(double));
    for (size_t t = 0; t < data->trajectories; t++)
      data->number[IDM_COLUMN_SCORE][t] = u * idm_random_normal(&random);
    check(idm_problem_set_free(
        problem,
        ties ? "{utility: {entries: {a: [left.a, right.c], b: [left.b, left.c], "
               "c: [right.a], d: [right.b]}}}"
             : "utility",
        &support_error));
    const int32_t *number = ties ? tied : every;
    idm_posterior *p = fit(problem, data, norm);
    const idm_optimality *f = p->optimality;
    const double size = norm == IDM_NORM_1 ? u : u * u;
    double x[6], most = 0;
    for (size_t k = 0; k < n; k++) {
      x[k] = p->unconstrained[k];
      most = fmax(most, fabs(x[k]));
    }
    assert_true(idm_optimality_certified(f));
    assert_near(f->objective / size, sum_of(data, number, x, n, norm) / size, 1e-8);
    for (int trial = 0; trial < 400; trial++) {
      double other[6];
      for (size_t k = 0; k < n; k++)
        other[k] = x[k] + u * pow(0.1, trial % 6) * idm_random_normal(&random);
      assert_true(sum_of(data, number, other, n, norm) >= f->objective - 1e-8 * size);
    }
    for (size_t i = 0; i < f->open; i++) {
      double part = 0;
      for (size_t k = 0; k < n; k++) part += f->direction[i * n + k] * x[k];
      assert_near(part / fmax(u, most), 0, 1e-7);
    }
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

static void expect_refusal(const char *log, double score, idm_norm norm, idm_status status,
                           const char *words)
{
  idm_problem *problem = support_yaml(WALK);
  idm_data *data = support_data(problem, log);
  idm_fit_settings settings;
  idm_posterior *p = NULL;
  idm_error error = {0};
  idm_fit_settings_default(&settings);
  settings.norm = norm;
  data->number[IDM_COLUMN_SCORE] = calloc(1, sizeof(double));
  data->number[IDM_COLUMN_SCORE][0] = score;
  check(idm_problem_set_free(problem, "utility", &support_error));
  assert_int_equal(idm_inverse_fit(idm_inverse_find("distance"), problem, data, &settings, NULL, &p,
                                   NULL, &error),
                   status);
  assert_null(p);
  if (!strstr(error.message, words)) fail_msg("%s", error.message);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void test_refusals(void **state)
{
  (void)state;
  static const char whole[] = "trajectory,state,action\n1,a,right\n1,b,\n";
  expect_refusal(whole, 1, IDM_NORM_INF, IDM_USAGE, "supports --norm 1 or 2");
  expect_refusal(whole, NAN, IDM_NORM_2, IDM_INPUT, "the score of a trajectory 1 is nan");
  expect_refusal("trajectory,action,observation\n1,right,\n1,right,b\n", 1, IDM_NORM_2, IDM_INPUT,
                 "the state here is not recorded");
}

/* With a free discount: the discount of the scores is recovered, in either norm. */
static void test_discount(void **state)
{
  (void)state;
  const double truth[] = {0.5, -1, 2, 3, -0.25, 1};
  for (int norm = IDM_NORM_1; norm <= IDM_NORM_2; norm++) {
    idm_problem *problem = support_yaml(WALK);
    idm_data *data = scored_log(problem, 0);
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.5); /* not the true value */
    check(idm_problem_set_free(problem, "[utility, discount]", &support_error));
    idm_posterior *p = fit(problem, data, (idm_norm)norm);
    for (size_t i = 0; i < 6; i++) assert_near(p->value[i], truth[i], 1e-5);
    assert_near(p->value[6], 0.9, 1e-6);
    assert_true(idm_optimality_certified(p->optimality));
    assert_int_equal(p->optimality->open, 0);
    assert_int_equal(p->optimality->faults.count, 0);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Scores of the first step only: the discount is 0. */
static void test_no_discount(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  idm_data *data = scored_log(problem, 0);
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  for (size_t t = 0; t < data->trajectories; t++)
    data->number[IDM_COLUMN_SCORE][t] = utility[(size_t)data->action[data->first[t]] * 3];
  check(idm_problem_set_free(
      problem, "{utility: {entries: [left.a, right.a, left.b]}, discount: {}}", &support_error));
  idm_posterior *p = fit(problem, data, IDM_NORM_2);
  assert_near(p->value[3], 0, 1e-6);
  assert_near(p->value[0], 0.5, 1e-5);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Minimum of the sum of squares at a discount, by normal equations (no library code). */
static double least_squares(const idm_data *data, double discount)
{
  enum { P = 6 };
  double a[P][P + 1] = {{0}}, total = 0, explained = 0, x[P];
  for (size_t t = 0; t < data->trajectories; t++) {
    const double score = data->number[IDM_COLUMN_SCORE][t];
    double row[P + 1] = {0}, weight = 1;
    size_t now = 0;
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++, weight *= discount) {
      row[(size_t)data->action[r] * 3 + now] += weight;
      now = (size_t)data->observation[r];
    }
    row[P] = score;
    total += score * score;
    for (size_t i = 0; i < P; i++)
      for (size_t j = 0; j <= P; j++) a[i][j] += row[i] * row[j];
  }
  double right[P];
  for (size_t i = 0; i < P; i++) right[i] = a[i][P];
  for (size_t i = 0; i < P; i++)
    for (size_t k = 0; k < P; k++) {
      const double share = k == i ? 0 : a[k][i] / a[i][i];
      for (size_t j = 0; j <= P; j++) a[k][j] -= share * a[i][j];
    }
  for (size_t i = 0; i < P; i++) {
    x[i] = a[i][P] / a[i][i];
    explained += x[i] * right[i];
  }
  return total - explained;
}

static void test_range(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  idm_data *data = scored_log(problem, 0);
  for (size_t t = 0; t < data->trajectories; t++)
    data->number[IDM_COLUMN_SCORE][t] += 0.01 * cos(7.0 * (double)(t * t));
  check(idm_problem_set_free(problem, "[utility, discount]", &support_error));
  idm_posterior *p = fit(problem, data, IDM_NORM_2);
  double low = NAN, high = NAN;
  for (size_t i = 0; i < p->optimality->words.count; i++)
    (void)sscanf(p->optimality->words.text[i], "discounts from %lf to %lf have", &low, &high);
  const double least = least_squares(data, p->value[6]);
  const double limit =
      least * (1 + 4.0230 / (TRAJECTORIES -
                             7)); /* tabulated 95 % point of F with 1 and 53 degrees of freedom */
  assert_true(low < p->value[6] && p->value[6] < high);
  assert_true(high - low < 1.0 / 64);
  /* The range of discounts ends where the minimum passes the F limit; notes print four digits. */
  assert_true(least_squares(data, low - 1e-4) > limit && least_squares(data, low + 1e-4) < limit);
  assert_true(least_squares(data, high + 1e-4) > limit && least_squares(data, high - 1e-4) < limit);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Sum of absolute distances from the scores, or of their squares, for fixed utilities. */
static double sum_held(const idm_data *data, const double *utility, idm_norm norm, double discount)
{
  double sum = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    double left = data->number[IDM_COLUMN_SCORE][t], weight = 1;
    size_t now = 0;
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++, weight *= discount) {
      left -= weight * utility[(size_t)data->action[r] * 3 + now];
      now = (size_t)data->observation[r];
    }
    sum += norm == IDM_NORM_1 ? fabs(left) : left * left;
  }
  return sum;
}

/* A free discount with fixed utilities: the minimum over a fine grid, also if the utilities are not
 * those of the scores. */
static void test_discount_alone(void **state)
{
  (void)state;
  enum { GRID = 20000 };
  for (int wrong = 0; wrong < 2; wrong++)
    for (int norm = IDM_NORM_1; norm <= IDM_NORM_2; norm++) {
      idm_problem *problem = support_yaml(WALK);
      idm_data *data = scored_log(problem, 0.3);
      double *utility = problem->theta->block[IDM_UTILITY].value;
      double least = INFINITY, at = 0;
      if (wrong) utility[1] += 1;
      for (int i = 0; i <= GRID; i++) {
        const double sum = sum_held(data, utility, (idm_norm)norm, (double)i / GRID);
        if (sum < least) at = (double)i / GRID;
        least = fmin(least, sum);
      }
      check(idm_problem_set_free(problem, "discount", &support_error));
      utility = problem->theta->block[IDM_UTILITY].value;
      idm_posterior *p = fit(problem, data, (idm_norm)norm);
      assert_int_equal(p->coordinate.count, 1);
      assert_near(p->value[0], at, 1.0 / GRID);
      assert_true(p->optimality->objective <= least + 1e-7);
      assert_near(p->optimality->objective, sum_held(data, utility, (idm_norm)norm, p->value[0]),
                  1e-7);
      idm_posterior_destroy(p);
      idm_data_destroy(data);
      idm_problem_destroy(problem);
    }
}

/* Trajectories so long that the sum at a discount near 1 is a million times the minimum. With
 * absolute errors there is no range of discounts for noisy scores. */
static void test_long_trajectories(void **state)
{
  (void)state;
  for (int norm = IDM_NORM_1; norm <= IDM_NORM_2; norm++) {
    idm_problem *problem = support_yaml(WALK);
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 40, .steps = 2000, .seed = 5});
    double *score = calloc(data->trajectories, sizeof *score);
    assert_non_null(score);
    data->number[IDM_COLUMN_SCORE] = score;
    for (size_t t = 0; t < data->trajectories; t++) {
      const double *utility = problem->theta->block[IDM_UTILITY].value;
      double weight = 1;
      size_t now = 0;
      for (size_t r = data->first[t]; r < data->first[t + 1]; r++, weight *= 0.9) {
        score[t] += weight * utility[(size_t)data->action[r] * 3 + now];
        now = (size_t)data->observation[r];
      }
      score[t] += 0.01 * cos(7.0 * (double)(t * t));
    }
    check(idm_problem_set_free(problem, "discount", &support_error));
    idm_posterior *p = fit(problem, data, (idm_norm)norm);
    assert_near(p->value[0], 0.9, 1e-3);
    assert_false(support_mentions(&p->optimality->faults, "do not determine"));
    assert_int_equal(support_mentions(&p->optimality->faults, "unchecked: which other discounts"),
                     norm == IDM_NORM_1);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Scores of noise leave the discount undetermined, in any unit. */
static void test_noise(void **state)
{
  (void)state;
  for (int scale = -7; scale <= 0; scale += 7) {
    idm_problem *problem = support_yaml(WALK);
    idm_data *data = scored_log(problem, 0);
    for (size_t t = 0; t < data->trajectories; t++)
      data->number[IDM_COLUMN_SCORE][t] = pow(10, scale) * cos(7.0 * (double)(t * t));
    check(idm_problem_set_free(problem, "[utility, discount]", &support_error));
    idm_posterior *p = fit(problem, data, IDM_NORM_2);
    assert_int_equal(p->optimality->faults.count, 1);
    assert_non_null(strstr(p->optimality->faults.text[0], "do not determine the discount"));
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Undiscounted scores are refused: without a horizon the value is infinite. */
static void test_undiscounted(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  idm_data *data = scored_log(problem, 0);
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  for (size_t t = 0; t < data->trajectories; t++) {
    size_t now = 0;
    data->number[IDM_COLUMN_SCORE][t] = 0;
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      data->number[IDM_COLUMN_SCORE][t] += utility[(size_t)data->action[r] * 3 + now];
      now = (size_t)data->observation[r];
    }
  }
  check(idm_problem_set_free(problem, "[utility, discount]", &support_error));
  idm_fit_settings settings;
  idm_posterior *p = NULL;
  idm_fit_settings_default(&settings);
  settings.norm = IDM_NORM_2;
  assert_int_equal(idm_inverse_fit(idm_inverse_find("distance"), problem, data, &settings, NULL, &p,
                                   NULL, &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "explained best by a discount of 1"));
  assert_null(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Trajectories of one step leave the discount undetermined. */
static void test_one_step(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  idm_data *data =
      support_data(problem, "trajectory,state,action\n1,a,left\n2,a,right\n3,b,left\n4,b,right\n");
  double *score = calloc(4, sizeof *score);
  assert_non_null(score);
  for (size_t t = 0; t < 4; t++) score[t] = (double)(t * t);
  data->number[IDM_COLUMN_SCORE] = score;
  check(idm_problem_set_free(problem, "[utility, discount]", &support_error));
  idm_posterior *p = fit(problem, data, IDM_NORM_2);
  assert_true(p->optimality->faults.count > 0);
  assert_non_null(strstr(p->optimality->faults.text[0], "do not determine it"));
  assert_int_equal(p->optimality->open, 3); /* both utilities of c, and the discount */
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Copies of two trajectories: at every discount some utilities fit their scores up to rounding, and
 * rounding does not choose the discount. */
static void test_copies(void **state)
{
  (void)state;
  for (int norm = IDM_NORM_1; norm <= IDM_NORM_2; norm++) {
    idm_problem *problem = support_yaml(WALK);
    char log[2000] = "trajectory,state,action\n";
    double score[10];
    for (int t = 0; t < 10; t++) {
      snprintf(log + strlen(log), sizeof log - strlen(log),
               t % 2 ? "%d,a,left\n%d,b,left\n%d,b,left\n" : "%d,a,left\n%d,b,right\n%d,c,left\n",
               t, t, t);
      score[t] = t % 2 ? 1.7 : -0.9;
    }
    idm_data *data = support_data(problem, log);
    data->number[IDM_COLUMN_SCORE] = idm_duplicate(score, 10, sizeof *score);
    check(idm_problem_set_free(problem, "[utility, discount]", &support_error));
    idm_posterior *p = fit(problem, data, (idm_norm)norm);
    assert_true(support_mentions(&p->optimality->faults, "do not determine"));
    assert_true(idm_optimality_certified(p->optimality));
    assert_true(p->optimality->objective < 1e-8);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* With hidden states a score is a sum over beliefs, filtered independently of the library in
 * plain_sum. */
static void test_hidden(void **state)
{
  (void)state;
  const double truth[] = {-1, -1, -3, 2, 2, -3, 0.9};
  for (int norm = IDM_NORM_1; norm <= IDM_NORM_2; norm++)
    for (size_t numbers = 6; numbers <= 7; numbers++) {
      idm_problem *problem =
          make_problem(tiger_text, numbers == 7 ? "[utility, discount]" : "utility");
      const idm_simulation simulation = {.trajectories = 60, .steps = 7, .seed = 2};
      idm_data *data = support_simulate(problem, simulation);
      double *score = calloc(data->trajectories, sizeof *score);
      assert_non_null(score);
      for (size_t t = 0; t < data->trajectories; t++) score[t] = plain_sum(problem, truth, data, t);
      data->number[IDM_COLUMN_SCORE] = score;
      if (numbers == 7) idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.5);
      idm_posterior *p = fit(problem, data, (idm_norm)norm);
      for (size_t i = 0; i < numbers; i++)
        assert_near(p->value[i], truth[i], numbers == 7 ? 1e-4 : 1e-8);
      assert_true(idm_optimality_certified(p->optimality));
      assert_int_equal(p->optimality->open, 0);
      assert_int_equal(support_mentions(&p->optimality->faults, "the probabilities of the file"),
                       numbers == 7);
      idm_posterior_destroy(p);
      idm_data_destroy(data);
      idm_problem_destroy(problem);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact_scores),   cmocka_unit_test(test_hidden),
      cmocka_unit_test(test_range),          cmocka_unit_test(test_discount),
      cmocka_unit_test(test_no_discount),    cmocka_unit_test(test_one_step),
      cmocka_unit_test(test_discount_alone), cmocka_unit_test(test_long_trajectories),
      cmocka_unit_test(test_copies),         cmocka_unit_test(test_noise),
      cmocka_unit_test(test_undiscounted),   cmocka_unit_test(test_one_score_off),
      cmocka_unit_test(test_what_is_open),   cmocka_unit_test(test_few_trajectories),
      cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
