/* Tests the expected counts of a hidden Markov model against sums over every path of states. */
#include "data/log.h"

#include <stdio.h>
#include <string.h>

#include "support.h"

enum { STATES = 3, ACTIONS = 3, SEEN = 3, STEPS = 5, TERMINAL = 2, NUMBERS = ACTIONS * STATES * 3 };

typedef struct counts {
  double observed[ACTIONS * SEEN];
  double expected[ACTIONS * SEEN];
  double start[STATES];
  double transition[NUMBERS];
  double emission[NUMBERS];
} counts;

static idm_expected_counts into(counts *c)
{
  return (idm_expected_counts){c->observed, c->expected, c->start, c->transition, c->emission};
}

static double transition(const idm_setting *w, int32_t u, size_t s, size_t t)
{
  return w->transition[((size_t)u * STATES + s) * STATES + t];
}

/* Probability of the observation of row `t` on a path; 1 if it is not recorded. */
static double shown(const idm_setting *w, int32_t u, int32_t x, const size_t *path, size_t t)
{
  const size_t emitter = path[w->emits_before ? t : t + 1];
  return x < 0 ? 1 : w->emission[((size_t)u * STATES + emitter) * SEEN + (size_t)x];
}

/* The joint probability of a path of `rows` + 1 states and all recorded observations. */
static double joint(const idm_setting *w, const idm_data *data, size_t rows, const size_t *path)
{
  double p = w->start[path[0]];
  for (size_t t = 0; t < rows; t++) {
    const int32_t u = data->action[t];
    p *= transition(w, u, path[t], path[t + 1]) * shown(w, u, data->observation[t], path, t);
  }
  return p;
}

static bool next_path(size_t *path, size_t length)
{
  for (size_t i = 0; i < length; i++) {
    if (++path[i] < STATES) return true;
    path[i] = 0;
  }
  return false;
}

/* Counts of the first `rows` rows of the only trajectory, path by path. */
static void enumerate(const idm_setting *w, const idm_data *data, size_t rows, counts *c)
{
  double total = 0;
  for (int round = 0; round < 2; round++) {
    size_t path[STEPS + 1] = {0};
    do {
      const double p = joint(w, data, rows, path);
      if (round == 0) {
        total += p;
        continue;
      }
      c->start[path[0]] += p / total;
      for (size_t t = 0; t < rows; t++) {
        const size_t u = (size_t)data->action[t];
        const int32_t x = data->observation[t];
        c->transition[(u * STATES + path[t]) * STATES + path[t + 1]] += p / total;
        if (x >= 0)
          c->emission[(u * STATES + path[t + !w->emits_before]) * SEEN + (size_t)x] += p / total;
      }
    } while (next_path(path, rows + 1));
  }
}

/* The predictive distribution of each observation given the rows before it: a ratio of sums over
 * paths. */
static void enumerate_expected(const idm_setting *w, idm_data *data, size_t rows, counts *c)
{
  for (size_t t = 0; t < rows; t++) {
    const int32_t observed = data->observation[t];
    double of[SEEN] = {0}, total = 0;
    if (observed < 0) continue;
    for (int32_t x = 0; x < SEEN; x++) {
      size_t path[STEPS + 1] = {0};
      data->observation[t] = x;
      do of[x] += joint(w, data, t + 1, path);
      while (next_path(path, t + 2));
      total += of[x];
    }
    data->observation[t] = observed;
    c->observed[data->action[t] * SEEN + observed]++;
    for (size_t x = 0; x < SEEN; x++)
      c->expected[(size_t)data->action[t] * SEEN + x] += of[x] / total;
  }
}

static void expect_same(const counts *a, const counts *b)
{
  const double *x = (const double *)a, *y = (const double *)b;
  for (size_t i = 0; i < sizeof *a / sizeof *x; i++) assert_near(x[i], y[i], 1e-11);
}

static idm_problem *make_problem(bool before, idm_random *random)
{
  const support_shape shape = {STATES, ACTIONS, SEEN, 1, 4};
  idm_problem *problem = support_problem(shape, random);
  problem->setting->emits_before = before;
  return problem;
}

/* A trajectory of the first two actions with some missing observations. */
static idm_data *make_data(const idm_problem *problem, idm_random *random)
{
  char text[400] = "trajectory,action,observation\n";
  for (size_t t = 0; t < STEPS; t++) {
    const size_t u = (size_t)(2 * idm_random_uniform(random));
    const size_t x = (size_t)(4 * idm_random_uniform(random));
    char line[100];
    snprintf(line, sizeof line, "1,%s,%s\n", problem->setting->actions.name[u],
             x < SEEN ? problem->setting->observations.name[x] : "");
    strcat(text, line);
  }
  return support_data(problem, text);
}

static counts smooth(const idm_setting *w, const idm_data *data, size_t expected_rows)
{
  counts c = {0};
  idm_smoother smoother = {0};
  const idm_expected_counts to = into(&c);
  assert_true(idm_smoother_create(&smoother, STEPS, STATES));
  assert_int_equal(idm_smoother_run(w, data, 0, &smoother, &to), expected_rows);
  idm_smoother_clear(&smoother);
  return c;
}

static void test_against_all_paths(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 31, 0);
  for (int i = 0; i < 20; i++) {
    idm_problem *problem = make_problem(i % 2, &random);
    idm_data *data = make_data(problem, &random);
    counts plain = {0};
    enumerate(problem->setting, data, STEPS, &plain);
    enumerate_expected(problem->setting, data, STEPS, &plain);
    const counts found = smooth(problem->setting, data, STEPS);
    expect_same(&found, &plain);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Smoothing stops at an action that is not recorded and at an impossible observation. */
static void test_where_it_stops(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 32, 0);
  idm_problem *problem = make_problem(false, &random);
  idm_data *data = make_data(problem, &random);
  counts plain = {0};
  data->action[3] = IDM_MISSING;
  enumerate(problem->setting, data, 3, &plain);
  enumerate_expected(problem->setting, data, 3, &plain);
  counts found = smooth(problem->setting, data, 3);
  expect_same(&found, &plain);
  data->action[3] = 0;
  data->action[2] = 1;
  data->observation[2] = 2;
  for (size_t s = 0; s < STATES; s++) problem->setting->emission[(STATES + s) * SEEN + 2] = 0;
  for (size_t t = 0; t < 2; t++)
    if (data->observation[t] == 2) data->observation[t] = IDM_MISSING;
  memset(&plain, 0, sizeof plain);
  enumerate(problem->setting, data, 2, &plain);
  enumerate_expected(problem->setting, data, 2, &plain);
  found = smooth(problem->setting, data, 2);
  expect_same(&found, &plain);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* With a single state, a missed response without an action does not stop the smoothing. */
static void test_missed(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: 1\nactions: [u, v]\nobservations: [x, y]\ndiscount: 0\n"
                   "observation: {u: [[0.8, 0.2]], v: [[0.5, 0.5]]}\nutility: {\"*\": 0}\n"
                   "agent: {planner: td-learner}\ndata: {missed: late}\n");
  idm_data *data = support_data(problem, "agent,action,observation,reward\n"
                                         "a,u,x,0\na,late,,\na,v,y,1\na,u,y,0\n");
  idm_lint *lint;
  check(idm_lint_create(problem, data, NULL, &lint, &support_error));
  assert_int_equal(lint->unfiltered, 0);
  const double observed[] = {1, 1, 0, 1}, expected[] = {1.6, 0.4, 0.5, 0.5};
  for (size_t i = 0; i < 4; i++) assert_near(lint->observed[i], observed[i], 0);
  for (size_t i = 0; i < 4; i++) assert_near(lint->expected[i], expected[i], 1e-14);
  idm_lint_destroy(lint);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A terminal action has no transition and no observation. */
static void test_terminal(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 33, 0);
  idm_problem *problem = make_problem(false, &random);
  idm_data *data = make_data(problem, &random);
  counts plain = {0};
  enumerate(problem->setting, data, STEPS - 1, &plain);
  enumerate_expected(problem->setting, data, STEPS - 1, &plain);
  problem->setting->terminal[TERMINAL] = true;
  data->action[STEPS - 1] = TERMINAL;
  data->observation[STEPS - 1] = IDM_MISSING;
  const counts found = smooth(problem->setting, data, STEPS);
  expect_same(&found, &plain);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_all_paths),
      cmocka_unit_test(test_where_it_stops),
      cmocka_unit_test(test_missed),
      cmocka_unit_test(test_terminal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
