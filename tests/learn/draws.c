/* Draws of dynamics: names and places of their numbers, dynamics of a draw, and distances between
 * models, against values by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learn/learn.h"
#include "learn/textbook_support.h"
#include "support.h"

/* Zeros distinguish the states: only b can show `clear`. Both actions share the transition. */
#define CLINIC                                                                                     \
  "states: [a, b]\nactions: [look, test]\nobservations: [low, high, clear]\nstart: [0.6, 0.4]\n"   \
  "discount: 0.9\ntransition: {'*': [[0.7, 0.3], [0.4, 0.6]]}\n"                                   \
  "observation: {look: [[0.7, 0.3, 0], [0.4, 0.6, 0]],\n"                                          \
  "              test: [[0.8, 0.2, 0], [0.2, 0.3, 0.5]]}\nutility: {look: 0, test: -1}\n"

typedef struct drawn {
  idm_problem *problem;
  idm_data *data;
  idm_iohmm *learner;
  idm_dynamics *truth;
  idm_dynamics_draws draws;
} drawn;

/* Two chains of five draws. */
static drawn open_drawn(void)
{
  drawn t = {.problem = support_yaml(CLINIC)};
  idm_learn_settings settings;
  idm_learn_settings_default(&settings);
  settings.chains = 2;
  settings.warmup = 200;
  settings.draws = 5;
  check(idm_problem_dynamics(t.problem, &t.truth, &support_error));
  t.data = textbook_simulate(t.truth, false, 3, 2, 0, 3);
  check(idm_iohmm_create(t.problem, t.data, 0, IDM_LEARN_FIX_NOTHING, &t.learner, &support_error));
  const idm_modes modes = {1, &t.truth, NULL};
  check(idm_learn_draw(t.learner, t.problem, &modes, &settings, NULL, NULL, &t.draws,
                       &support_error));
  return t;
}

static void close_drawn(drawn *t)
{
  idm_dynamics_draws_clear(&t->draws);
  idm_iohmm_destroy(t->learner);
  idm_dynamics_destroy(t->truth);
  idm_data_destroy(t->data);
  idm_problem_destroy(t->problem);
}

static void test_names(void **state)
{
  (void)state;
  static const char *const expected[] = {"start[a]",
                                         "start[b]",
                                         "transition[*,a,a]",
                                         "transition[*,a,b]",
                                         "transition[*,b,a]",
                                         "transition[*,b,b]",
                                         "observation[look,a,low]",
                                         "observation[look,a,high]",
                                         "observation[look,b,low]",
                                         "observation[look,b,high]",
                                         "observation[test,a,low]",
                                         "observation[test,a,high]",
                                         "observation[test,b,low]",
                                         "observation[test,b,high]",
                                         "observation[test,b,clear]"};
  drawn t = open_drawn();
  assert_int_equal(t.draws.numbers, 15);
  for (size_t k = 0; k < 15; k++) assert_string_equal(t.draws.name.name[k], expected[k]);
  /* The names of all learnable numbers include those that are impossible here. */
  idm_labels names;
  size_t *places;
  check(idm_dynamics_names(t.problem, &names, &places, &support_error));
  assert_int_equal(names.count, 18);
  for (size_t k = 0; k < t.draws.numbers; k++) {
    const long at = idm_labels_find(&names, expected[k], strlen(expected[k]));
    assert_true(at >= 0);
    assert_int_equal(places[at], t.draws.place[k]);
  }
  assert_true(idm_labels_find(&names, "observation[look,a,clear]", 25) >= 0);
  idm_labels_destroy(&names);
  free(places);
  close_drawn(&t);
}

static void test_take(void **state)
{
  (void)state;
  drawn t = open_drawn();
  idm_dynamics *d;
  check(idm_dynamics_create(t.truth->sizes, &d, &support_error));
  check(idm_dynamics_of_draw(t.problem, &t.draws, 1, 3, d, &support_error));
  for (size_t k = 0; k < t.draws.numbers; k++)
    assert_true(d->start[t.draws.place[k]] == t.draws.value[k * 10 + 5 + 3]);
  /* The start, four transition rows and four emission rows. */
  for (size_t r = 0, first = 0; r < 9; r++) {
    const size_t width = r < 5 ? 2 : 3;
    double sum = 0;
    for (size_t j = 0; j < width; j++) sum += d->start[first++];
    assert_near(sum, 1, 1e-12);
  }
  /* The second action has the first one's transitions, and impossible entries stay 0. */
  assert_memory_equal(d->transition, d->transition + 4, 4 * sizeof(double));
  assert_true(d->emission[2] == 0);
  assert_int_equal(idm_dynamics_of_draw(t.problem, &t.draws, 2, 0, d, NULL), IDM_USAGE);
  assert_int_equal(idm_dynamics_of_draw(t.problem, &t.draws, 0, 5, d, NULL), IDM_USAGE);
  t.draws.place[0] = d->numbers;
  assert_int_equal(idm_dynamics_of_draw(t.problem, &t.draws, 0, 0, d, NULL), IDM_USAGE);
  idm_dynamics_destroy(d);
  close_drawn(&t);
}

/* Two models whose transitions differ by 0.2 in one row of four: 0.1 from their mean. */
static void test_spread(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: [a, b]\nactions: [go, stop]\nterminal: [stop]\nobservations: [x, y]\n"
                   "discount: 0.9\ntransition: {go: [[0.5, 0.5], [0.4, 0.6]]}\n"
                   "observation: {go: [[0.9, 0.1], [0.1, 0.9]]}\nutility: {go: 0, stop: 1}\n"
                   "models:\n  - {}\n  - {transition: {go: [[0.7, 0.3], [0.4, 0.6]]}}\n");
  double mean, largest;
  idm_theta_models_distance(problem, &mean, &largest);
  assert_near(mean, 0.1 / 4, 1e-12);
  assert_near(largest, 0.1, 1e-12);
  idm_problem_destroy(problem);
}

/* A terminal action that shares its rows under "*", first or last: names, places and ties are
 * unchanged after setting the dynamics of a draw. */
static void test_terminal(void **state)
{
  (void)state;
  static const char *const actions[] = {"[go, wait, stop]", "[stop, go, wait]"};
  for (size_t i = 0; i < 2; i++) {
    char text[600];
    snprintf(text, sizeof text,
             "states: [a, b]\nactions: %s\nterminal: [stop]\nobservations: [x, y]\n"
             "discount: 0.9\nstart: [0.5, 0.5]\ntransition: {\"*\": [[0.7, 0.3], [0.2, 0.8]]}\n"
             "observation: {\"*\": [[0.9, 0.1], [0.3, 0.7]]}\nutility: {go: 0, wait: 0, stop: 1}\n",
             actions[i]);
    idm_problem *problem = support_yaml(text);
    structure *s, *again;
    idm_dynamics *d;
    idm_random random;
    idm_random_init(&random, 5, 0);
    check(structure_create(problem, 0, true, true, &s, &support_error));
    check(idm_problem_dynamics(problem, &d, &support_error));
    structure_draw(s, 1, NULL, &random, d->start);
    for (size_t u = 1; u < 3; u++) {
      assert_memory_equal(d->transition, d->transition + 4 * u, 4 * sizeof(double));
      assert_memory_equal(d->emission, d->emission + 4 * u, 4 * sizeof(double));
    }
    check(idm_problem_set_dynamics(problem, d, &support_error));
    check(structure_create(problem, 0, true, true, &again, &support_error));
    idm_dynamics_draws names[2] = {{0}, {0}};
    check(draws_name(s, problem->setting, &names[0], &support_error));
    check(draws_name(again, problem->setting, &names[1], &support_error));
    assert_int_equal(names[0].numbers, 10); /* start, two transition rows, two emission rows */
    assert_int_equal(names[1].numbers, 10);
    assert_string_equal(names[0].name.name[2], "transition[*,a,a]");
    for (size_t k = 0; k < 10; k++) {
      assert_string_equal(names[0].name.name[k], names[1].name.name[k]);
      assert_int_equal(names[0].place[k], names[1].place[k]);
    }
    for (int k = 0; k < 2; k++) idm_dynamics_draws_clear(&names[k]);
    structure_destroy(s);
    structure_destroy(again);
    idm_dynamics_destroy(d);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_take),
                                     cmocka_unit_test(test_spread),
                                     cmocka_unit_test(test_terminal)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
