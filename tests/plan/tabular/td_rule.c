/* Tests the update of td-learner by an event against hand computations. */
#include "plan/tabular/learner.h"

#include <string.h>

#include "idm/extension/data.h"
#include "support.h"

enum { STATES = 2, ACTIONS = 3 };

/* Action 2 ends the log; action 1 is terminal if declared so. */
static td_learner learner(idm_setting *setting)
{
  static bool ends[ACTIONS], terminal[ACTIONS];
  static double start[STATES];
  memcpy(ends, (bool[]){false, false, true}, sizeof ends);
  memset(terminal, 0, sizeof terminal);
  memcpy(start, (double[]){0, 1}, sizeof start);
  *setting = (idm_setting){.ends = ends, .terminal = terminal, .start = start};
  return (td_learner){.setting = setting,
                      .states = STATES,
                      .actions = ACTIONS,
                      .asymmetry = IDM_ASYMMETRY_ERROR,
                      .number = {[TD_GAIN] = 0.5, [TD_LOSS] = 0.25, [TD_DECAY] = 0.1},
                      .discount = 0.8};
}

static const double before[STATES * ACTIONS] = {1, 2, 3, 4, 6, 5};

/* In state 0 action 0 leads to state 1, in which action 1 is the best: delta = r + .8 (6) - 1. */
static void errors_are_of_the_best_that_follows(void **state)
{
  (void)state;
  idm_setting setting;
  td_learner l = learner(&setting);
  double value[STATES * ACTIONS];
  memcpy(value, before, sizeof value);
  const td_memory memory = {.state = 0, .value = value};
  td_update d;
  check(idm_td_error(&l, &memory, &(idm_event){.action = 0, .observation = 1, .reward = -2}, &d,
                     &support_error));
  assert_true(d.state == 0 && d.action == 0 && d.continues && d.next == 1 && d.best == 1);
  assert_near(d.error, -2 + 4.8 - 1, 1e-14);
  assert_int_equal(d.rate, TD_GAIN);
  assert_memory_equal(value, before, sizeof value);
  /* By the outcome this is a loss, and so is a reward of 0. */
  l.asymmetry = IDM_ASYMMETRY_OUTCOME;
  for (double reward = -2; reward <= 2; reward += 2) {
    check(idm_td_error(&l, &memory, &(idm_event){.action = 0, .observation = 1, .reward = reward},
                       &d, &support_error));
    assert_int_equal(d.rate, reward > 0 ? TD_GAIN : TD_LOSS);
  }
}

static void what_ends_is_followed_by_nothing(void **state)
{
  (void)state;
  idm_setting setting;
  const td_learner l = learner(&setting);
  double value[STATES * ACTIONS];
  memcpy(value, before, sizeof value);
  const td_memory memory = {.state = 1, .value = value};
  td_update d;
  setting.terminal[1] = true;
  for (int u = 1; u < ACTIONS; u++) { /* the observation may be missing */
    check(idm_td_error(&l, &memory,
                       &(idm_event){.action = u, .observation = IDM_MISSING, .reward = 3}, &d,
                       &support_error));
    assert_true(!d.continues && d.rate == TD_LOSS);
    assert_near(d.error, 3 - before[ACTIONS + u], 1e-14);
  }
}

/* In the state acted in, the action changes by its error; the others decay or learn from the
 * opposite reward. */
static void values_after_it(void **state)
{
  (void)state;
  idm_setting setting;
  td_learner l = learner(&setting);
  const td_update d = {.state = 0, .action = 1, .reward = 2, .error = -4, .rate = TD_LOSS};
  static const double expected[2][ACTIONS] = {{0.9, 1, 2.7},
                                              {1 + 0.25 * (-2 - 1), 1, 3 + 0.25 * (-2 - 3)}};
  for (int fictive = 0; fictive < 2; fictive++) {
    double value[STATES * ACTIONS];
    memcpy(value, before, sizeof value);
    l.fictive = fictive;
    idm_td_learn(&l, &d, value);
    for (size_t u = 0; u < ACTIONS; u++) assert_near(value[u], expected[fictive][u], 1e-14);
    assert_memory_equal(value + ACTIONS, before + ACTIONS, ACTIONS * sizeof *value);
  }
}

/* A missed response: all values of the current state decay, and its reward has no effect. */
static void missed_responses_let_values_decay(void **state)
{
  (void)state;
  idm_setting setting;
  td_learner l = learner(&setting);
  for (int fictive = 0; fictive < 2; fictive++) {
    double value[STATES * ACTIONS];
    memcpy(value, before, sizeof value);
    const td_memory memory = {.state = 1, .value = value};
    td_update d;
    l.fictive = fictive;
    check(idm_td_error(
        &l, &memory,
        &(idm_event){.action = IDM_MISSING, .observation = 0, .missed = true, .reward = 9}, &d,
        &support_error));
    assert_true(d.state == 1 && d.next == 0 && d.missed);
    idm_td_learn(&l, &d, value);
    for (size_t i = 0; i < (size_t)STATES * ACTIONS; i++)
      assert_near(value[i], before[i] * (i < ACTIONS || fictive ? 1 : 0.9), 1e-14);
  }
  const td_memory memory = {.state = 1, .value = (double[STATES * ACTIONS]){0}};
  td_update d;
  idm_event blind = {.action = IDM_MISSING, .observation = IDM_MISSING, .missed = true};
  assert_int_equal(idm_td_error(&l, &memory, &blind, &d, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "a state was not recorded"));
  blind.last = true;
  check(idm_td_error(&l, &memory, &blind, &d, &support_error));
}

static void starts_must_be_known(void **state)
{
  (void)state;
  idm_setting setting;
  td_learner l = learner(&setting);
  size_t found;
  check(idm_td_start(&l, NULL, &found, &support_error));
  assert_int_equal(found, 1);
  check(idm_td_start(&l, (const double[]){1, 0}, &found, &support_error));
  assert_int_equal(found, 0);
  assert_int_equal(idm_td_start(&l, (const double[]){0.5, 0.5}, &found, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "requires the state"));
  l.states = 1; /* the states are not distinguished */
  check(idm_td_start(&l, (const double[]){0.5, 0.5}, &found, &support_error));
  assert_int_equal(found, 0);
}

static void what_was_not_recorded_is_refused(void **state)
{
  (void)state;
  idm_setting setting;
  td_learner l = learner(&setting);
  double value[STATES * ACTIONS];
  memcpy(value, before, sizeof value);
  const td_memory memory = {.value = value};
  td_update d;
  const idm_event blind = {.action = 0, .observation = IDM_MISSING, .reward = 1};
  assert_int_equal(
      idm_td_error(&l, &memory, &(idm_event){.action = IDM_MISSING}, &d, &support_error),
      IDM_INPUT);
  assert_non_null(strstr(support_error.message, "an action was not recorded"));
  assert_int_equal(idm_td_error(&l, &memory, &blind, &d, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "a state was not recorded"));
  l.states = 1;
  check(idm_td_error(&l, &memory, &blind, &d, &support_error));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_of_the_best_that_follows),
      cmocka_unit_test(what_ends_is_followed_by_nothing),
      cmocka_unit_test(values_after_it),
      cmocka_unit_test(missed_responses_let_values_decay),
      cmocka_unit_test(starts_must_be_known),
      cmocka_unit_test(what_was_not_recorded_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
