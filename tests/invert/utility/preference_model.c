/* The logistic model of preferences: likelihood and derivatives against sums written out,
 * separation against all directions, and undetermined directions. */
#include "invert/utility/preference_model.h"

#include "invert/utility/preference_support.h"

typedef struct model {
  idm_problem *problem;
  idm_data *data;
  idm_free_utility *free_utility;
  idm_preference_model *preference_model;
} model;

static model open_model(const char *text, const char *what_is_free)
{
  model m = {.problem = make_problem(text, what_is_free)};
  m.data = make_preferred(m.problem, 12, 40, true, 5);
  check(idm_free_utility_create(m.problem, &m.free_utility, &support_error));
  check(idm_preference_model_create(m.problem, m.data, m.free_utility, "test", &m.preference_model,
                                    &support_error));
  return m;
}

static void close_model(model *m)
{
  idm_preference_model_destroy(m->preference_model);
  idm_free_utility_destroy(m->free_utility);
  idm_data_destroy(m->data);
  idm_problem_destroy(m->problem);
}

/* Observed and hidden states; all entries free, some, some tied. */
static const struct {
  const char *text;
  const char *what_is_free;
  size_t numbers;
} task[] = {
    {walk_text, "utility", 6},
    {walk_text, "{utility: {entries: [left.a, right]}}", 4},
    {walk_text, "{utility: {entries: {win: [left.c, right.c], rest: [right.a, left.b]}}}", 2},
    {tiger_text, "utility", 6},
    {tiger_text, "{utility: {entries: {bad: [openl.l, openr.r], good: [openl.r, openr.l]}}}", 2},
};

static void test_likelihood(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof task / sizeof *task; k++) {
    model m = open_model(task[k].text, task[k].what_is_free);
    const size_t n = m.preference_model->free;
    idm_random random;
    idm_random_init(&random, 3, k);
    assert_int_equal(n, task[k].numbers);
    for (int i = 0; i < 20; i++) {
      double x[6], utility[6];
      for (size_t j = 0; j < n; j++) x[j] = idm_random_normal(&random);
      idm_free_utility_fill(m.free_utility, x, utility);
      assert_near(idm_preference_model_log_likelihood(m.preference_model, x, NULL, NULL),
                  plain_log_likelihood(m.problem, utility, m.data), 1e-12);
    }
    close_model(&m);
  }
}

static void test_derivatives(void **state)
{
  (void)state;
  static const double h = 1e-5;
  for (size_t k = 0; k < sizeof task / sizeof *task; k++) {
    model m = open_model(task[k].text, task[k].what_is_free);
    const size_t n = m.preference_model->free;
    double x[6], gradient[6], precision[36], above[6], below[6];
    for (size_t j = 0; j < n; j++) x[j] = 0.3 * (double)j - 0.7;
    idm_preference_model_log_likelihood(m.preference_model, x, gradient, precision);
    for (size_t j = 0; j < n; j++) {
      const double at = x[j];
      x[j] = at + h;
      const double up = idm_preference_model_log_likelihood(m.preference_model, x, above, NULL);
      x[j] = at - h;
      const double down = idm_preference_model_log_likelihood(m.preference_model, x, below, NULL);
      x[j] = at;
      assert_near(gradient[j], (up - down) / (2 * h), 1e-7);
      for (size_t i = j; i < n; i++)
        assert_near(precision[i * n + j], (below[i] - above[i]) / (2 * h), 1e-7);
    }
    close_model(&m);
  }
}

/* A quadratic that is tangent to the log-likelihood and nowhere above it, both near and in
 * saturated regions. */
static void test_bound(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof task / sizeof *task; k++) {
    model m = open_model(task[k].text, task[k].what_is_free);
    const size_t n = m.preference_model->free;
    idm_random random;
    idm_random_init(&random, 4, k);
    for (int i = 0; i < 200; i++) {
      double x[6], there[6], gradient[6], precision[36];
      const double size = pow(10, i % 5 - 2), step = pow(10, i / 5 % 5 - 2);
      for (size_t j = 0; j < n; j++) x[j] = size * idm_random_normal(&random);
      for (size_t j = 0; j < n; j++) there[j] = x[j] + step * idm_random_normal(&random);
      double bound = idm_preference_model_log_likelihood(m.preference_model, x, gradient, NULL);
      const double scale = fmax(1, fabs(bound));
      idm_preference_model_bound(m.preference_model, x, precision);
      for (size_t j = 0; j < n; j++) {
        bound += gradient[j] * (there[j] - x[j]);
        for (size_t l = 0; l <= j; l++)
          bound -= (l < j ? 1 : 0.5) * precision[j * n + l] * (there[j] - x[j]) * (there[l] - x[l]);
      }
      assert_true(idm_preference_model_log_likelihood(m.preference_model, there, NULL, NULL) >=
                  bound - 1e-12 * fmax(scale, fabs(bound)));
    }
    close_model(&m);
  }
}

/* Log odds beyond the range of exp. */
static void test_large_odds(void **state)
{
  (void)state;
  double difference[] = {1, 1}, offset[] = {0, 0}, weight[] = {1, 2}, x[] = {2000}, gradient[1];
  const idm_preference_model p = {
      .count = 1, .free = 1, .difference = difference, .offset = offset, .weight = weight};
  assert_true(idm_preference_model_log_likelihood(&p, x, gradient, NULL) == 0 && gradient[0] == 0);
  x[0] = -2000;
  assert_true(idm_preference_model_log_likelihood(&p, x, gradient, NULL) == -2000 &&
              gradient[0] == 1);
}

/* --- separation ----------------------------------------------------------------------------- */

/* With two numbers the relevant directions are the normals of the rows, the rows themselves (if all
 * are parallel) and sums of two of these: all are tried, in exact integers. */
static size_t try_directions(const idm_preference_model *p)
{
  enum { most = 64 };
  double v[most][2];
  size_t count = 0;
  for (size_t i = 0; i < p->count; i++)
    for (int sign = -1; sign <= 1; sign += 2) {
      v[count][0] = -sign * p->difference[2 * i + 1];
      v[count++][1] = sign * p->difference[2 * i];
      v[count][0] = sign * p->difference[2 * i];
      v[count++][1] = sign * p->difference[2 * i + 1];
    }
  bool separated[16] = {false};
  size_t all = 0;
  for (size_t a = 0; a < count; a++)
    for (size_t b = 0; b < count; b++) {
      const double d[] = {v[a][0] + v[b][0], v[a][1] + v[b][1]};
      bool never = true;
      for (size_t i = 0; i < p->count; i++)
        never = never && p->difference[2 * i] * d[0] + p->difference[2 * i + 1] * d[1] >= 0;
      for (size_t i = 0; never && i < p->count; i++)
        separated[i] |= p->difference[2 * i] * d[0] + p->difference[2 * i + 1] * d[1] > 0;
    }
  for (size_t i = 0; i < p->count; i++) all += separated[i];
  return all;
}

static void test_separation(void **state)
{
  (void)state;
  enum { tries = 3000 };
  idm_random random;
  size_t kinds[3] = {0};
  idm_random_init(&random, 8, 0);
  for (size_t k = 0; k < tries; k++) {
    double difference[16], offset[8] = {0}, weight[8];
    idm_preference_model p = {.count = 1 + k % 6,
                              .free = 2,
                              .difference = difference,
                              .offset = offset,
                              .weight = weight};
    for (size_t i = 0; i < 2 * p.count; i++)
      difference[i] = floor(5 * idm_random_uniform(&random)) - 2;
    for (size_t i = 0; i < p.count; i++)
      p.uninformative += difference[2 * i] == 0 && difference[2 * i + 1] == 0;
    size_t found;
    check(idm_preference_model_separated(&p, NULL, NULL, &found, &support_error));
    assert_int_equal(found, try_directions(&p));
    kinds[found == 0 ? 0 : found < p.count ? 1 : 2]++;
  }
  for (size_t i = 0; i < 3; i++) assert_true(kinds[i] > tries / 50); /* every kind occurs */
}

static bool stop(void *context)
{
  ++*(size_t *)context;
  return true;
}

static void test_interrupt(void **state)
{
  (void)state;
  model m = open_model(walk_text, "utility");
  size_t found = 7, calls = 0;
  const idm_status status =
      idm_preference_model_separated(m.preference_model, stop, &calls, &found, &support_error);
  assert_true(calls > 0);
  assert_int_equal(status, IDM_UNTRUSTED);
  close_model(&m);
}

/* --- what is left open ---------------------------------------------------------------------- */

static void test_open(void **state)
{
  (void)state;
  model m = open_model(walk_text,
                       "utility"); /* trajectories have equal lengths: a shift is undetermined */
  const idm_preference_model *p = m.preference_model;
  const size_t n = p->free;
  double x[6], shortest[6];
  idm_optimality *f;
  check(idm_optimality_create(n, &f, &support_error));
  for (size_t j = 0; j < n; j++) x[j] = shortest[j] = 1 + (double)j;
  check(idm_preference_model_nullspace(p, shortest, f, &support_error));
  assert_true(f->evaluated);
  assert_int_equal(f->open, 1);
  for (size_t j = 0; j < n; j++) assert_near(f->direction[j], 1, 1e-10);
  double along = 0;
  for (size_t j = 0; j < n; j++) along += shortest[j];
  assert_near(along, 0, 1e-10);
  assert_near(idm_preference_model_log_likelihood(p, x, NULL, NULL),
              idm_preference_model_log_likelihood(p, shortest, NULL, NULL), 1e-10);
  idm_preference_model_note(p, 0, f);
  assert_true(f->compared);
  const size_t said = f->words.count;
  assert_int_equal(said, p->uninformative > 0);
  idm_preference_model_note(p, p->count, f);
  assert_non_null(
      strstr(f->words.text[said], "separable: some utility agrees with each of the 40"));
  idm_optimality_destroy(f);
  close_model(&m);
}

/* Preferences between trajectories that differ in no free number. */
static void test_idle(void **state)
{
  (void)state;
  model m = open_model(walk_text, "{utility: {entries: [left.c]}}");
  idm_optimality *f;
  size_t uninformative = 0;
  for (size_t i = 0; i < m.preference_model->count; i++)
    uninformative += m.preference_model->difference[i] == 0;
  assert_true(uninformative > 0);
  assert_int_equal(m.preference_model->uninformative, uninformative);
  check(idm_optimality_create(1, &f, &support_error));
  idm_preference_model_note(m.preference_model, 0, f);
  assert_non_null(strstr(f->words.text[0], "that differ in no free number"));
  idm_optimality_destroy(f);
  close_model(&m);
}

/* --- refusals ------------------------------------------------------------------------------- */

static void expect_refusal(const idm_problem *problem, const idm_data *data, long line,
                           const char *words)
{
  idm_free_utility *free_utility;
  idm_preference_model *preference_model;
  idm_error error = {0};
  check(idm_free_utility_create(problem, &free_utility, &support_error));
  assert_int_equal(
      idm_preference_model_create(problem, data, free_utility, "test", &preference_model, &error),
      IDM_INPUT);
  assert_null(preference_model);
  assert_int_equal(error.line, line);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
  idm_free_utility_destroy(free_utility);
}

/* Missing cells matter only in trajectories that are compared. */
static void test_gaps(void **state)
{
  (void)state;
  static const char table[] = "worse,better\n1,2\n";
  idm_problem *walk = make_problem(walk_text, "utility");
  idm_problem *tiger = make_problem(tiger_text, "utility");
  const struct {
    const idm_problem *problem;
    const char *log;
    long line;
    const char *words;
  } cases[] = {
      {walk, "trajectory,action,observation\n1,left,a\n1,,b\n1,right,c\n2,left,a\n", 3,
       "the action here"},
      {walk, "trajectory,action,observation\n1,left,a\n2,left,\n2,right,c\n", 4, "the state here"},
      {tiger, "trajectory,action,observation\n1,listen,hl\n2,listen,\n2,openl,hl\n", 3,
       "the observation here"},
      {walk, "trajectory,action,observation\n1,left,a\n2,right,\n3,,\n3,left,a\n", 0, NULL},
      {tiger, "trajectory,action,observation\n1,listen,hl\n2,listen,\n", 0, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    idm_data *data = support_data(cases[i].problem, cases[i].log);
    check(idm_preferences_parse_csv(table, sizeof table - 1, NULL, data, NULL, &support_error));
    if (cases[i].words) {
      expect_refusal(cases[i].problem, data, cases[i].line, cases[i].words);
    } else {
      idm_free_utility *free_utility;
      idm_preference_model *preference_model;
      check(idm_free_utility_create(cases[i].problem, &free_utility, &support_error));
      check(idm_preference_model_create(cases[i].problem, data, free_utility, "test",
                                        &preference_model, &support_error));
      idm_preference_model_destroy(preference_model);
      idm_free_utility_destroy(free_utility);
    }
    idm_data_destroy(data);
  }
  idm_problem_destroy(walk);
  idm_problem_destroy(tiger);
}

static void test_models(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  check(idm_problem_set_free(problem, "utility", &support_error));
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 2, .seed = 1});
  check(idm_preferences_create(1, &data->preferences, &support_error));
  data->preferences->better[0] = 1;
  expect_refusal(problem, data, 0, "an agent with several models");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_likelihood), cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_bound),      cmocka_unit_test(test_large_odds),
      cmocka_unit_test(test_separation), cmocka_unit_test(test_interrupt),
      cmocka_unit_test(test_open),       cmocka_unit_test(test_idle),
      cmocka_unit_test(test_gaps),       cmocka_unit_test(test_models),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
