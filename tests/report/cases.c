/* Tests the choice of example cases by the action that is due, against value iteration over counts
 * of test results. */
#include "report/panels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* The diagnosis problem with actions declare healthy, declare diseased, monitor. A test is correct
 * with probability .7 and a patient is diseased with probability .5, so the number of positive
 * minus negative results is a sufficient statistic for the rational agent. Counts beyond `most`
 * have negligible weight. */
enum { most = 20, actions = 3, due = 1, patients = 400 };

typedef struct optimum {
  double quality[2 * most + 1][actions];
} optimum;

static double diseased(int count)
{
  return 1 / (1 + pow(0.3 / 0.7, count));
}

static double best_of(const double *quality)
{
  return fmax(quality[0], fmax(quality[1], quality[2]));
}

static optimum iterate(void)
{
  optimum o = {0};
  for (int sweep = 0; sweep < 2000; sweep++) {
    const optimum last = o;
    const double again = 0.95 * best_of(last.quality[most]);
    for (int n = -most; n <= most; n++) {
      const double p = diseased(n), positive = 0.7 * p + 0.3 * (1 - p);
      const int up = n < most ? n + 1 : most, down = n > -most ? n - 1 : -most;
      double *q = o.quality[n + most];
      q[0] = 10 * (1 - p) - 36 * p + again;
      q[1] = 10 * p - 36 * (1 - p) + again;
      q[2] = -1 + 0.95 * (positive * best_of(last.quality[up + most]) +
                          (1 - positive) * best_of(last.quality[down + most]));
    }
  }
  return o;
}

typedef struct course {
  bool rational;
  bool censored;
  size_t actions; /* number of different actions */
  size_t rows;
  long delayed;
  double regret;
} course;

static course follow(const optimum *o, const idm_data *data, size_t t)
{
  course c = {.rational = true, .censored = true, .rows = data->first[t + 1] - data->first[t]};
  bool seen[actions] = {false};
  long step = (long)c.rows + 1, first = 0;
  int count = 0;
  for (size_t i = 0; i < c.rows; i++) {
    const size_t row = data->first[t] + i;
    const double *q = o->quality[count + most], lost = best_of(q) - q[data->action[row]];
    c.regret += lost;
    c.rational = c.rational && lost == 0;
    c.actions += !seen[data->action[row]];
    seen[data->action[row]] = true;
    if (!first && q[due] == best_of(q)) first = (long)i + 1;
    if (c.censored && data->action[row] == due) {
      c.censored = false;
      step = (long)i + 1;
    }
    count += data->observation[row] == 1 ? 1 : -1;
  }
  c.delayed = first && first <= step ? step - first : -1;
  return c;
}

static void test_choice(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(8, INFINITY, 0);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = patients, .steps = 8, .seed = 3});
  const optimum o = iterate();
  /* The problem is symmetric, and testing is optimal at the prior. */
  assert_near(o.quality[most + 2][0], o.quality[most - 2][1], 1e-9);
  assert_true(best_of(o.quality[most]) == o.quality[most][2]);
  course expected[IDM_CASES] = {{.rational = false}};
  for (size_t t = 0; t < patients; t++) {
    const course c = follow(&o, data, t);
    course *r = &expected[IDM_CASE_RATIONAL];
    if (c.rational && (c.actions > r->actions || (c.actions == r->actions && c.rows > r->rows)))
      *r = c;
    course *late = &expected[c.censored ? IDM_CASE_NOT_RATIONAL : IDM_CASE_BELATED];
    if (c.delayed > late->delayed || (c.delayed == late->delayed && c.regret > late->regret))
      *late = c;
  }
  idm_case found[IDM_CASES];
  check(idm_cases_choose(problem, data, due, found, NULL, &support_error));
  for (int kind = 0; kind < IDM_CASES; kind++) {
    assert_true(found[kind].found);
    const course c = follow(&o, data, found[kind].trajectory);
    assert_int_equal(c.rational, kind == IDM_CASE_RATIONAL);
    if (kind == IDM_CASE_RATIONAL) {
      assert_int_equal(c.actions, expected[kind].actions);
      assert_int_equal(c.rows, expected[kind].rows);
      continue;
    }
    assert_int_equal(c.censored, kind == IDM_CASE_NOT_RATIONAL);
    assert_int_equal(c.delayed, expected[kind].delayed);
    assert_true(c.delayed > 0);
    assert_near(c.regret, expected[kind].regret,
                0.05); /* the library's values are interpolated on a lattice */
  }
  assert_non_null(strstr(found[IDM_CASE_BELATED].title, "belated by"));
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A kind of case that does not occur in the log is reported as not found. */
static void test_missing(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(1, INFINITY, 0);
  idm_data *data = support_data(problem, "trajectory,step,action,observation\n"
                                         "a,1,monitor,positive\na,2,monitor,positive\n");
  idm_case found[IDM_CASES];
  check(idm_cases_choose(problem, data, due, found, NULL, &support_error));
  assert_true(found[IDM_CASE_RATIONAL].found);
  assert_string_equal(found[IDM_CASE_RATIONAL].title, "rational (a)");
  assert_false(found[IDM_CASE_NOT_RATIONAL].found || found[IDM_CASE_BELATED].found);
  idm_data_destroy(data);
  data = support_data(problem, "trajectory,step,action,observation\n"
                               "a,1,,positive\na,2,declare_healthy,positive\n");
  check(idm_cases_choose(problem, data, due, found, NULL, &support_error));
  assert_false(found[IDM_CASE_RATIONAL].found);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice), cmocka_unit_test(test_missing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
