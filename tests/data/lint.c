/* Tests the summary of a log: counts, observed and expected frequencies, impossible observations.
 */
#include "data/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

static const char problem_text[] =
    "states: [a, b]\nactions: [look, stop]\nobservations: [x, y, z]\nstart: [0.6, 0.4]\n"
    "discount: 0.9\nterminal: [stop]\ntransition: {look: [[0.9, 0.1], [0.3, 0.7]], stop: "
    "identity}\n"
    "observation: {'*': [[0.8, 0.2, 0], [0.3, 0.7, 0]]}\nutility: {look: -1, stop: 0}\n"
    "data: {trajectory: id, time: t, missed: {values: late, action: look}}\n";

typedef struct look {
  idm_problem *problem;
  idm_data *data;
  idm_lint *lint;
} look;

/* Summarises a log, with a column of states or without. */
static look open_look(const char *text, const char *log, const char *opt_states)
{
  const idm_csv_options options = {.keep = &opt_states, .keep_count = opt_states != NULL};
  look l = {.problem = support_yaml(text)};
  check(idm_data_parse_csv(log, strlen(log), "t.csv", l.problem, &options, &l.data, NULL,
                           &support_error));
  check(idm_lint_create(l.problem, l.data, opt_states, &l.lint, &support_error));
  return l;
}

static void close_look(look *l)
{
  idm_lint_destroy(l->lint);
  idm_data_destroy(l->data);
  idm_problem_destroy(l->problem);
}

static void test_counts(void **state)
{
  (void)state;
  look l = open_look(problem_text,
                     "id,t,action,observation\n1,1,look,x\n1,2,look,y\n1,3,stop,\n"
                     "2,1,look,\n3,1,,x\n3,2,look,y\n",
                     NULL);
  const idm_lint *lint = l.lint;
  assert_int_equal(lint->action[0], 4);
  assert_int_equal(lint->action[1], 1);
  assert_int_equal(lint->action_missing, 1);
  assert_int_equal(lint->observation[0], 2);
  assert_int_equal(lint->observation[1], 2);
  assert_int_equal(lint->observation_missing, 2);
  assert_int_equal(lint->shortest, 1);
  assert_int_equal(lint->longest, 3);
  assert_near(lint->median, 2, 0);
  assert_near(lint->mean, 2, 1e-15);
  assert_int_equal(lint->single, 1);
  assert_int_equal(lint->unfiltered, 2);
  assert_int_equal(lint->impossibles, 0);
  assert_int_equal(lint->states, IDM_LINT_POSTERIOR);
  close_look(&l);
}

/* A missed response is not counted as an action. The observation after it is counted for the action
 * that determines the transition. */
static void test_missed(void **state)
{
  (void)state;
  look l = open_look(problem_text,
                     "id,t,action,observation\n1,1,look,x\n1,2,late,y\n1,3,,x\n1,4,late,y\n", NULL);
  assert_int_equal(l.lint->action[0], 1);
  assert_int_equal(l.lint->missed, 2);
  assert_int_equal(l.lint->action_missing, 1);
  assert_int_equal(l.lint->unfiltered, 2);
  assert_near(l.lint->observed[0], 1, 0);
  assert_near(l.lint->observed[1], 1, 0);
  close_look(&l);
}

/* Expected counts against the sum over all paths of hidden states. */
static void test_expectation(void **state)
{
  (void)state;
  look l =
      open_look(problem_text, "id,t,action,observation\n1,1,look,x\n1,2,look,\n1,3,look,y\n", NULL);
  const idm_lint *lint = l.lint;
  const idm_setting *setting = l.problem->setting;
  double total = 0;
  double start[2] = {0};
  double transition[4] = {0};
  double emission[6] = {0};
  for (unsigned path = 0; path < 16; path++) {
    size_t s[4];
    for (size_t t = 0; t < 4; t++) s[t] = path >> t & 1;
    double p = setting->start[s[0]];
    for (size_t t = 0; t < 3; t++) {
      p *= setting->transition[s[t] * 2 + s[t + 1]];
      const int32_t x = l.data->observation[t];
      if (x >= 0) p *= setting->emission[s[t + 1] * 3 + (size_t)x];
    }
    total += p;
    start[s[0]] += p;
    for (size_t t = 0; t < 3; t++) {
      transition[s[t] * 2 + s[t + 1]] += p;
      const int32_t x = l.data->observation[t];
      if (x >= 0) emission[s[t + 1] * 3 + (size_t)x] += p;
    }
  }
  for (size_t i = 0; i < 2; i++) assert_near(lint->start[i], start[i] / total, 1e-14);
  for (size_t i = 0; i < 4; i++) assert_near(lint->transition[i], transition[i] / total, 1e-14);
  for (size_t i = 0; i < 6; i++) assert_near(lint->emission[i], emission[i] / total, 1e-14);
  /* The predictive distribution of the first row: p(x) = sum_s' p(s') omega(x|s'). */
  const double after = 0.6 * 0.9 + 0.4 * 0.3;
  const double z = after * 0.8 / (after * 0.8 + (1 - after) * 0.3);
  const double second = z * 0.9 + (1 - z) * 0.3;
  const double third = second * 0.9 + (1 - second) * 0.3;
  assert_near(lint->expected[0], after * 0.8 + (1 - after) * 0.3 + third * 0.8 + (1 - third) * 0.3,
              1e-14);
  assert_near(lint->observed[0], 1, 0);
  assert_near(lint->observed[1], 1, 0);
  close_look(&l);
}

static void test_column_of_states(void **state)
{
  (void)state;
  look l = open_look(problem_text,
                     "id,t,action,observation,true\n1,1,look,x,a\n1,2,look,y,b\n"
                     "1,3,look,x,b\n1,4,look,x,odd\n2,1,look,x,\n",
                     "true");
  const idm_lint *lint = l.lint;
  assert_int_equal(lint->states, IDM_LINT_COLUMN);
  assert_int_equal(lint->unlabelled, 2);
  assert_near(lint->start[0], 1, 0);
  assert_near(lint->transition[0 * 2 + 1], 1, 0); /* a to b */
  assert_near(lint->transition[1 * 2 + 1], 1, 0); /* b to b */
  assert_near(lint->emission[1 * 3 + 0], 1, 0);   /* b emits x */
  assert_near(lint->emission[1 * 3 + 1], 1, 0);   /* b emits y */
  idm_lint *none;
  idm_error error = {0};
  assert_int_equal(idm_lint_create(l.problem, l.data, "nowhere", &none, &error), IDM_USAGE);
  close_look(&l);
}

static void test_impossible(void **state)
{
  (void)state;
  char text[1000];
  snprintf(text, sizeof text, "%s%s", problem_text,
           "models: [{weight: 1}, {weight: 1, observation: {look: [[0.5, 0.2, 0.3], [0.3, 0.7, "
           "0]]}}]\n");
  look l = open_look(text,
                     "id,t,action,observation\n1,1,look,x\n1,2,look,z\n1,3,look,x\n"
                     "2,1,look,x\n3,1,look,z\n",
                     NULL);
  const idm_lint *lint = l.lint;
  assert_int_equal(lint->impossibles, 2);
  assert_int_equal(l.data->line[lint->impossible[0]], 3);
  assert_int_equal(l.data->line[lint->impossible[1]], 6);
  assert_int_equal(lint->allowed[0], 1);
  assert_int_equal(lint->unfiltered, 3);
  assert_near(lint->observed[0], 2, 0);
  double transitions = 0;
  for (size_t i = 0; i < 4; i++) transitions += lint->transition[i];
  assert_near(transitions, 2, 1e-14);
  close_look(&l);
}

/* A simulated log has the frequencies of its own dynamics: 20,000 rows, 5 standard errors. */
static void test_simulated(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 5000, .steps = 4, .seed = 5});
  idm_lint *lint;
  check(idm_lint_create(problem, data, NULL, &lint, &support_error));
  for (size_t u = 0; u < lint->sizes.actions; u++) {
    const double *observed = lint->observed + u * 2;
    const double *expected = lint->expected + u * 2;
    assert_near(observed[0] + observed[1], expected[0] + expected[1], 1e-9);
    assert_true(fabs(observed[0] - expected[0]) <= 5 * sqrt(0.25 * (observed[0] + observed[1])));
  }
  idm_lint_destroy(lint);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts),      cmocka_unit_test(test_missed),
      cmocka_unit_test(test_expectation), cmocka_unit_test(test_column_of_states),
      cmocka_unit_test(test_impossible),  cmocka_unit_test(test_simulated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
