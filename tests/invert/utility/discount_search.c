/* Search for a discount: minima, ranges and refusals on closed-form sums of squares. */
#include "invert/utility/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/mdp_support.h"
#include "invert/utility/walk.h"

/* A sum of squares as a function of the discount. */
typedef double (*curve)(double discount);

static idm_status fit(void *context, double discount, double *x, idm_optimality **ret_optimality,
                      idm_error *opt_error)
{
  const curve *sum = context;
  const idm_status status = idm_optimality_create(6, ret_optimality, opt_error);
  if (status != IDM_OK) return status;
  (*ret_optimality)->objective = (*sum)(discount);
  (*ret_optimality)->closed = 1;
  for (size_t i = 0; i < 6; i++) x[i] = 10 * discount + (double)i;
  return IDM_OK;
}

typedef struct scene {
  idm_problem *problem;
  idm_data *data;
  idm_fit_settings settings;
  idm_task task;
  double x[6];
} scene;

static void open_scene(scene *s)
{
  s->problem = support_yaml(WALK);
  check(idm_problem_set_free(s->problem, "[utility, discount]", &support_error));
  assert_true(idm_discount_is_free(s->problem));
  s->data =
      support_simulate(s->problem, (idm_simulation){.trajectories = 40, .steps = 6, .seed = 1});
  double *score = calloc(s->data->trajectories, sizeof *score);
  assert_non_null(score);
  s->data->number[IDM_COLUMN_SCORE] = score;
  idm_fit_settings_default(&s->settings);
  const idm_fit_arguments call = {.inverse = idm_inverse_find("distance"),
                                  .problem = s->problem,
                                  .data = s->data,
                                  .settings = &s->settings};
  check(idm_task_open(&s->task, &call, 0, &support_error));
}

static void close_scene(scene *s)
{
  idm_task_close(&s->task);
  idm_data_destroy(s->data);
  idm_problem_destroy(s->problem);
}

static idm_status search(scene *s, curve sum, double floor, double terms, idm_posterior **ret,
                         idm_error *error)
{
  const idm_discount_search d = {.task = &s->task,
                                 .evidence = "the tests",
                                 .method = "by hand",
                                 .floor = floor,
                                 .terms = terms,
                                 .squares = true,
                                 .fit = fit,
                                 .context = &sum,
                                 .x = s->x};
  *ret = NULL;
  return idm_discount_search_run(&d, ret, error);
}

/* A deep minimum, and a shallow one that is nearer to a grid point. */
static double two_dips(double discount)
{
  return 1 - 0.9 * exp(-pow((discount - 0.6123) / 0.02, 2)) -
         0.8 * exp(-pow((discount - 0.25) / 0.02, 2));
}

/* The global minimum is found between grid points, with the utilities there. */
static void test_least(void **state)
{
  (void)state;
  scene s;
  idm_posterior *p;
  open_scene(&s);
  check(search(&s, two_dips, 0, 0, &p, &support_error));
  assert_near(p->value[6], 0.6123, 1e-6);
  for (size_t i = 0; i < 6; i++) assert_near(p->value[i], 6.123 + (double)i, 1e-5);
  assert_near(p->optimality->objective, two_dips(0.6123), 1e-9);
  assert_int_equal(p->optimality->faults.count, 0);
  idm_posterior_destroy(p);
  close_scene(&s);
}

static double equal_dips(double discount)
{
  return pow((discount - 0.3) * (discount - 0.7), 2);
}

/* Two discounts with the same sum: the estimate fails and names the other one. */
static void test_rival(void **state)
{
  (void)state;
  scene s;
  idm_posterior *p;
  open_scene(&s);
  check(search(&s, equal_dips, 0, 0, &p, &support_error));
  assert_true(support_mentions(&p->optimality->faults, "the tests do not determine it"));
  assert_true(support_mentions(&p->optimality->faults, p->value[6] < 0.5 ? "of 0.7" : "of 0.3"));
  idm_posterior_destroy(p);
  close_scene(&s);
}

static double rounding(double discount)
{
  return 1e-30 * (2 + sin(5 * discount));
}

/* Sums that differ by rounding error only are equal. */
static void test_floor(void **state)
{
  (void)state;
  scene s;
  idm_posterior *p;
  open_scene(&s);
  for (int floored = 0; floored < 2; floored++) {
    check(search(&s, rounding, floored ? 1e-20 : 0, 0, &p, &support_error));
    assert_int_equal(p->optimality->faults.count > 0, floored);
    idm_posterior_destroy(p);
  }
  close_scene(&s);
}

static double parabola(double discount)
{
  return 1 + 400 * (discount - 0.5) * (discount - 0.5);
}

/* The range from a sum of n squares: where the sum is at most 1 + F / (n - p) times the minimum,
 * with F the tabulated 95 % point of the F distribution with 1 and n - p degrees of freedom, for
 * the sum 1 + 400 (discount - 1/2)^2. */
static void test_range(void **state)
{
  (void)state;
  static const struct {
    double left;
    double point;
  } table[] = {{1, 161.4476}, {2, 18.5128}, {3, 10.1280},
               {10, 4.9646},  {40, 4.0847}, {120, 3.9201}};
  scene s;
  idm_posterior *p;
  open_scene(&s);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const double half = sqrt(table[i].point / table[i].left / 400);
    double low = NAN, high = NAN;
    check(search(&s, parabola, 0, 7 + table[i].left, &p, &support_error));
    for (size_t k = 0; k < p->optimality->words.count; k++)
      (void)sscanf(p->optimality->words.text[k], "discounts from %lf to %lf have", &low, &high);
    assert_near(low, fmax(0, 0.5 - half), 1e-4);
    assert_near(high, fmin(1, 0.5 + half), 1e-4);
    /* With one degree of freedom: all discounts from 0 to 1. */
    assert_int_equal(support_mentions(&p->optimality->faults, "do not determine the discount"),
                     i == 0);
    idm_posterior_destroy(p);
  }
  check(search(&s, parabola, 0, 7, &p, &support_error));
  assert_true(support_mentions(&p->optimality->faults, "no more than the 7 numbers"));
  idm_posterior_destroy(p);
  close_scene(&s);
}

static double falling(double discount)
{
  return discount < 1 ? 2 - discount : 0;
}

static double jumping(double discount)
{
  return discount < 1 ? 2 - discount : 9;
}

/* Refused: without a horizon a discount of 1 has no value, and a sum that decreases towards 1 has
 * no minimum. */
static void test_end(void **state)
{
  (void)state;
  scene s;
  idm_posterior *p;
  idm_error error;
  open_scene(&s);
  for (int jumps = 0; jumps < 2; jumps++) {
    assert_int_equal(search(&s, jumps ? jumping : falling, 0, 0, &p, &error), IDM_INPUT);
    assert_non_null(strstr(error.message, "the tests are explained best by a discount of 1"));
    assert_null(p);
  }
  close_scene(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_least), cmocka_unit_test(test_rival),
                                     cmocka_unit_test(test_floor), cmocka_unit_test(test_range),
                                     cmocka_unit_test(test_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
