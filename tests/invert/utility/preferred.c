/* Preferences as a logistic model: sums and derivatives against plain ones, separation against
 * every direction there is, and what is left open. */
#include "invert/utility/preferred.h"

#include "invert/utility/preferred_support.h"

typedef struct model {
  idm_problem *problem;
  idm_data *data;
  idm_sought *sought;
  idm_preferred *preferred;
} model;

static model open_model(const char *text, const char *what_is_free)
{
  model m = {.problem = make_problem(text, what_is_free)};
  m.data = make_preferred(m.problem, 12, 40, true, 5);
  check(idm_sought_create(m.problem, &m.sought, &support_error));
  check(idm_preferred_create(m.problem, m.data, m.sought, "test", &m.preferred, &support_error));
  return m;
}

static void close_model(model *m)
{
  idm_preferred_destroy(m->preferred);
  idm_sought_destroy(m->sought);
  idm_data_destroy(m->data);
  idm_problem_destroy(m->problem);
}

/* Where states are seen and where they are hidden; all free, some, some tied. */
static const struct {
  const char *text;
  const char *what_is_free;
  size_t numbers;
} asked[] = {
    {walk_text, "utility", 6},
    {walk_text, "{utility: {entries: [left.a, right]}}", 4},
    {walk_text, "{utility: {entries: {win: [left.c, right.c], rest: [right.a, left.b]}}}", 2},
    {tiger_text, "utility", 6},
    {tiger_text, "{utility: {entries: {bad: [openl.l, openr.r], good: [openl.r, openr.l]}}}", 2},
};

static void test_likelihood(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
    model m = open_model(asked[k].text, asked[k].what_is_free);
    const size_t n = m.preferred->free;
    idm_random random;
    idm_random_init(&random, 3, k);
    assert_int_equal(n, asked[k].numbers);
    for (int i = 0; i < 20; i++) {
      double x[6], utility[6];
      for (size_t j = 0; j < n; j++) x[j] = idm_random_normal(&random);
      idm_sought_fill(m.sought, x, utility);
      assert_near(idm_preferred_log_likelihood(m.preferred, x, NULL, NULL),
                  plain_log_likelihood(m.problem, utility, m.data), 1e-12);
    }
    close_model(&m);
  }
}

static void test_derivatives(void **state)
{
  (void)state;
  static const double h = 1e-5;
  for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
    model m = open_model(asked[k].text, asked[k].what_is_free);
    const size_t n = m.preferred->free;
    double x[6], gradient[6], precision[36], above[6], below[6];
    for (size_t j = 0; j < n; j++) x[j] = 0.3 * (double)j - 0.7;
    idm_preferred_log_likelihood(m.preferred, x, gradient, precision);
    for (size_t j = 0; j < n; j++) {
      const double at = x[j];
      x[j] = at + h;
      const double up = idm_preferred_log_likelihood(m.preferred, x, above, NULL);
      x[j] = at - h;
      const double down = idm_preferred_log_likelihood(m.preferred, x, below, NULL);
      x[j] = at;
      assert_near(gradient[j], (up - down) / (2 * h), 1e-7);
      for (size_t i = j; i < n; i++)
        assert_near(precision[i * n + j], (below[i] - above[i]) / (2 * h), 1e-7);
    }
    close_model(&m);
  }
}

/* A quadratic that touches the log-likelihood, and is nowhere above it: near, and where all is
 * flat.
 */
static void test_bound(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
    model m = open_model(asked[k].text, asked[k].what_is_free);
    const size_t n = m.preferred->free;
    idm_random random;
    idm_random_init(&random, 4, k);
    for (int i = 0; i < 200; i++) {
      double x[6], there[6], gradient[6], precision[36];
      const double size = pow(10, i % 5 - 2), step = pow(10, i / 5 % 5 - 2);
      for (size_t j = 0; j < n; j++) x[j] = size * idm_random_normal(&random);
      for (size_t j = 0; j < n; j++) there[j] = x[j] + step * idm_random_normal(&random);
      double bound = idm_preferred_log_likelihood(m.preferred, x, gradient, NULL);
      const double scale = fmax(1, fabs(bound));
      idm_preferred_bound(m.preferred, x, precision);
      for (size_t j = 0; j < n; j++) {
        bound += gradient[j] * (there[j] - x[j]);
        for (size_t l = 0; l <= j; l++)
          bound -= (l < j ? 1 : 0.5) * precision[j * n + l] * (there[j] - x[j]) * (there[l] - x[l]);
      }
      assert_true(idm_preferred_log_likelihood(m.preferred, there, NULL, NULL) >=
                  bound - 1e-12 * fmax(scale, fabs(bound)));
    }
    close_model(&m);
  }
}

/* Odds beyond what an exponential bears. */
static void test_large_odds(void **state)
{
  (void)state;
  double difference[] = {1, 1}, offset[] = {0, 0}, weight[] = {1, 2}, x[] = {2000}, gradient[1];
  const idm_preferred p = {
      .count = 1, .free = 1, .difference = difference, .offset = offset, .weight = weight};
  assert_true(idm_preferred_log_likelihood(&p, x, gradient, NULL) == 0 && gradient[0] == 0);
  x[0] = -2000;
  assert_true(idm_preferred_log_likelihood(&p, x, gradient, NULL) == -2000 && gradient[0] == 1);
}

/* --- separation ----------------------------------------------------------------------------- */

/* Of two numbers, the directions that matter are the normals of the rows, the rows themselves
 * (where all are parallel) and those between two of them: all are tried, in whole numbers. */
static size_t try_directions(const idm_preferred *p)
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
    idm_preferred p = {.count = 1 + k % 6,
                       .free = 2,
                       .difference = difference,
                       .offset = offset,
                       .weight = weight};
    for (size_t i = 0; i < 2 * p.count; i++)
      difference[i] = floor(5 * idm_random_uniform(&random)) - 2;
    for (size_t i = 0; i < p.count; i++)
      p.idle += difference[2 * i] == 0 && difference[2 * i + 1] == 0;
    size_t found;
    check(idm_preferred_separated(&p, NULL, NULL, &found, &support_error));
    assert_int_equal(found, try_directions(&p));
    kinds[found == 0 ? 0 : found < p.count ? 1 : 2]++;
  }
  for (size_t i = 0; i < 3; i++) assert_true(kinds[i] > tries / 50); /* each kind was met */
}

static bool stop(void *context)
{
  (void)context;
  return true;
}

static void test_interrupt(void **state)
{
  (void)state;
  model m = open_model(walk_text, "utility");
  size_t found = 7;
  const idm_status status =
      idm_preferred_separated(m.preferred, stop, NULL, &found, &support_error);
  assert_true(status == IDM_UNTRUSTED || status == IDM_OK); /* it may be over before it is asked */
  close_model(&m);
}

/* --- what is left open ---------------------------------------------------------------------- */

static void test_open(void **state)
{
  (void)state;
  model m = open_model(walk_text, "utility"); /* trajectories are as long: a shift is open */
  const idm_preferred *p = m.preferred;
  const size_t n = p->free;
  double x[6], shortest[6];
  idm_finding *f;
  check(idm_finding_create(n, &f, &support_error));
  for (size_t j = 0; j < n; j++) x[j] = shortest[j] = 1 + (double)j;
  check(idm_preferred_open(p, shortest, f, &support_error));
  assert_true(f->looked);
  assert_int_equal(f->open, 1);
  for (size_t j = 0; j < n; j++) assert_near(f->direction[j], 1, 1e-10);
  double along = 0;
  for (size_t j = 0; j < n; j++) along += shortest[j];
  assert_near(along, 0, 1e-10);
  assert_near(idm_preferred_log_likelihood(p, x, NULL, NULL),
              idm_preferred_log_likelihood(p, shortest, NULL, NULL), 1e-10);
  idm_preferred_say(p, 0, f);
  assert_true(f->compared);
  const size_t said = f->words.count;
  assert_int_equal(said, p->idle > 0);
  idm_preferred_say(p, p->count, f);
  assert_non_null(
      strstr(f->words.text[said], "separable: some utility agrees with each of the 40"));
  idm_finding_destroy(f);
  close_model(&m);
}

/* Trajectories that no free number tells apart. */
static void test_idle(void **state)
{
  (void)state;
  model m = open_model(walk_text, "{utility: {entries: [left.c]}}");
  idm_finding *f;
  size_t idle = 0;
  for (size_t i = 0; i < m.preferred->count; i++) idle += m.preferred->difference[i] == 0;
  assert_true(idle > 0);
  assert_int_equal(m.preferred->idle, idle);
  check(idm_finding_create(1, &f, &support_error));
  idm_preferred_say(m.preferred, 0, f);
  assert_non_null(strstr(f->words.text[0], "no free number tells apart"));
  idm_finding_destroy(f);
  close_model(&m);
}

/* --- refusals ------------------------------------------------------------------------------- */

static void expect_refusal(const idm_problem *problem, const idm_data *data, long line,
                           const char *words)
{
  idm_sought *sought;
  idm_preferred *preferred;
  idm_error error = {0};
  check(idm_sought_create(problem, &sought, &support_error));
  assert_int_equal(idm_preferred_create(problem, data, sought, "test", &preferred, &error),
                   IDM_INPUT);
  assert_null(preferred);
  assert_int_equal(error.line, line);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
  idm_sought_destroy(sought);
}

/* What is not recorded matters in trajectories that are compared, and only there. */
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
      idm_sought *sought;
      idm_preferred *preferred;
      check(idm_sought_create(cases[i].problem, &sought, &support_error));
      check(
          idm_preferred_create(cases[i].problem, data, sought, "test", &preferred, &support_error));
      idm_preferred_destroy(preferred);
      idm_sought_destroy(sought);
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
  check(idm_problem_free(problem, "utility", &support_error));
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
