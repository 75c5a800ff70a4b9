/* The input-output hidden Markov model over the tree of histories, against a textbook
 * implementation that goes trajectory by trajectory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/textbook_support.h"
#include "support.h"

typedef struct cohort {
  idm_problem *problem;
  idm_dynamics *truth;
  idm_data *data;
  idm_iohmm *learner;
} cohort;

/* A random problem in which action 1 never shows the last observation and state 0 never leads to
 * the last state; both actions share one transition matrix if `tied`. */
static cohort make_cohort(bool before, bool tied, size_t trajectories, size_t rows, double blank)
{
  idm_random random;
  idm_random_init(&random, 5, before * 2u + tied);
  cohort c = {0};
  c.problem = support_problem((support_shape){3, 2, 4, 1, 5}, &random);
  idm_setting *setting = c.problem->setting;
  setting->emits_before = before;
  for (size_t u = 0; u < 2; u++) {
    setting->emission_shared[u] = false;
    setting->transition[u * 9 + 2] = 0;
    idm_normalise(setting->transition + u * 9, 3);
    double sum = 0;
    for (size_t j = 0; j < 3; j++) sum += setting->transition[u * 9 + j];
    for (size_t j = 0; j < 3; j++) setting->transition[u * 9 + j] /= sum;
  }
  for (size_t s = 0; s < 3; s++) {
    double *shows = setting->emission + (3 + s) * 4;
    const double rest = 1 - shows[3];
    shows[3] = 0;
    for (size_t x = 0; x < 3; x++) shows[x] /= rest;
  }
  if (tied) memcpy(setting->transition + 9, setting->transition, 9 * sizeof(double));
  check(idm_problem_dynamics(c.problem, &c.truth, &support_error));
  c.data = textbook_simulate(c.truth, before, trajectories, rows, blank, 11);
  check(idm_iohmm_create(c.problem, c.data, 0, IDM_LEARN_FIX_NOTHING, &c.learner, &support_error));
  return c;
}

static void drop_cohort(cohort *c)
{
  idm_iohmm_destroy(c->learner);
  idm_data_destroy(c->data);
  idm_dynamics_destroy(c->truth);
  idm_problem_destroy(c->problem);
}

static void compare(const idm_dynamics *a, const idm_dynamics *b, double tolerance)
{
  for (size_t i = 0; i < a->numbers; i++) assert_near(a->start[i], b->start[i], tolerance);
}

/* Steps of both implementations from the same dynamics, with the likelihood before each step. */
static void step_beside_textbook(cohort *c, bool before, const int tie[4], int steps)
{
  idm_dynamics *plain;
  check(idm_problem_dynamics(c->problem, &plain, &support_error));
  for (int step = 0; step < steps; step++) {
    double log_likelihood, objective;
    check(idm_iohmm_log_likelihood(c->learner, c->truth, &log_likelihood, NULL, &support_error));
    assert_near(log_likelihood, textbook_expect(c->data, plain, before, NULL), 1e-12);
    check(idm_iohmm_step(c->learner, 1.1, c->truth, &objective, &support_error));
    textbook_step(c->data, plain, before, 1.1, tie);
    compare(c->truth, plain, 1e-11);
  }
  idm_dynamics_destroy(plain);
}

/* Likelihood and steps, with emissions after or before the action, tied or not, with missing cells.
 */
static void test_textbook(void **state)
{
  (void)state;
  for (int k = 0; k < 8; k++) {
    const bool before = k & 1, tied = k & 2;
    cohort c = make_cohort(before, tied, 40, 1 + (size_t)k, k & 4 ? 0.3 : 0);
    const int tie[4] = {0, tied ? 0 : 1, 0, 1};
    step_beside_textbook(&c, before, tie, 4);
    drop_cohort(&c);
  }
}

/* Long trajectories would underflow without scaling: 3,000 rows. */
static void test_long(void **state)
{
  (void)state;
  cohort c = make_cohort(false, false, 2, 3000, 0.1);
  double log_likelihood;
  check(idm_iohmm_log_likelihood(c.learner, c.truth, &log_likelihood, NULL, &support_error));
  assert_true(log_likelihood < -3000);
  assert_near(log_likelihood, textbook_expect(c.data, c.truth, false, NULL), 1e-12);
  drop_cohort(&c);
}

/* Probabilities below the smallest normal number have exact logarithms. */
static void test_small(void **state)
{
  (void)state;
  cohort c = make_cohort(false, false, 20, 3, 0);
  double log_likelihood;
  for (size_t i = 0; i < 6; i++) c.truth->emission[4 * i] = 1.2e-308;
  check(idm_iohmm_log_likelihood(c.learner, c.truth, &log_likelihood, NULL, &support_error));
  assert_true(log_likelihood < -4000);
  assert_near(log_likelihood, textbook_expect(c.data, c.truth, false, NULL), 1e-9);
  drop_cohort(&c);
}

/* Likelihoods by trajectory sum to the total, and likelihoods of a selection and its complement do
 * as well. */
static void test_parts(void **state)
{
  (void)state;
  cohort c = make_cohort(false, true, 30, 4, 0.2);
  double all, part, rest, by[30], sum = 0;
  bool kept[30];
  for (size_t t = 0; t < 30; t++) kept[t] = t % 3 == 0;
  check(idm_iohmm_log_likelihood(c.learner, c.truth, &all, by, &support_error));
  for (size_t t = 0; t < 30; t++) sum += by[t];
  assert_near(all, sum, 1e-12);
  check(idm_iohmm_select(c.learner, kept, &support_error));
  check(idm_iohmm_log_likelihood(c.learner, c.truth, &part, NULL, &support_error));
  for (size_t t = 0; t < 30; t++) kept[t] = !kept[t];
  check(idm_iohmm_select(c.learner, kept, &support_error));
  check(idm_iohmm_log_likelihood(c.learner, c.truth, &rest, NULL, &support_error));
  assert_near(all, part + rest, 1e-12);
  drop_cohort(&c);
}

/* Start beliefs of the log are used; the common start is learnt from the other trajectories only.
 */
static void test_start_beliefs(void **state)
{
  (void)state;
  cohort c = make_cohort(false, true, 20, 3, 0);
  c.data->starts = 1;
  c.data->start_belief = calloc(3, sizeof(double));
  c.data->start_belief[2] = 1;
  for (size_t t = 0; t < 10; t++) c.data->start[t] = 0;
  idm_iohmm_destroy(c.learner);
  check(idm_iohmm_create(c.problem, c.data, 0, IDM_LEARN_FIX_NOTHING, &c.learner, &support_error));
  step_beside_textbook(&c, false, (const int[]){0, 0, 0, 1}, 1);
  drop_cohort(&c);
}

/* Impossible observations and unrecorded actions are refused, with their line. */
static void test_refused(void **state)
{
  (void)state;
  cohort c = make_cohort(false, true, 20, 3, 0);
  double log_likelihood;
  c.data->action[4] = 1;
  c.data->observation[4] = 3;
  idm_iohmm_destroy(c.learner);
  check(idm_iohmm_create(c.problem, c.data, 0, IDM_LEARN_FIX_NOTHING, &c.learner, &support_error));
  idm_error error = {0};
  assert_int_equal(idm_iohmm_log_likelihood(c.learner, c.truth, &log_likelihood, NULL, &error),
                   IDM_INPUT);
  assert_int_equal(error.line, 6);
  idm_iohmm_destroy(c.learner);
  c.learner = NULL;
  c.data->observation[4] = 0;
  c.data->action[4] = IDM_MISSING;
  assert_int_equal(
      idm_iohmm_create(c.problem, c.data, 0, IDM_LEARN_FIX_NOTHING, &c.learner, &error), IDM_INPUT);
  assert_int_equal(error.line, 6);
  assert_non_null(strstr(error.message, "the action is not recorded"));
  c.data->missed = malloc(c.data->rows * sizeof *c.data->missed);
  assert_non_null(c.data->missed);
  for (size_t row = 0; row < c.data->rows; row++) c.data->missed[row] = row == 4 ? 0 : IDM_MISSING;
  assert_int_equal(
      idm_iohmm_create(c.problem, c.data, 0, IDM_LEARN_FIX_NOTHING, &c.learner, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "the action is a missed response"));
  free(c.data->missed);
  c.data->missed = NULL;
  /* At the end of a trajectory, without an observation, a missing action has no effect. */
  c.data->action[4] = 1;
  c.data->action[5] = IDM_MISSING;
  c.data->observation[5] = IDM_MISSING;
  check(idm_iohmm_create(c.problem, c.data, 0, IDM_LEARN_FIX_NOTHING, &c.learner, &support_error));
  assert_near(idm_iohmm_rows(c.learner), 59, 0);
  drop_cohort(&c);
}

/* Action 1 ends every trajectory and is taken nowhere else; with `shown` it has an observation.
 * Rows without information keep the file's numbers, in steps and in draws. */
static void ending(bool before, bool tied, bool shown, bool moves_stay, bool shows_stay)
{
  enum { rows = 4, moves = 9, shows = 12 };
  cohort c = make_cohort(before, tied, 300, rows, 0);
  idm_dynamics *file;
  idm_dynamics_draws draws;
  idm_learn_settings settings;
  double objective;
  for (size_t row = 0; row < c.data->rows; row++) {
    c.data->action[row] = row % rows == rows - 1;
    if (row % rows == rows - 1 && !shown) c.data->observation[row] = IDM_MISSING;
    if (row % rows == rows - 1 && shown && c.data->observation[row] == 3)
      c.data->observation[row] = 0;
  }
  idm_iohmm_destroy(c.learner);
  check(idm_iohmm_create(c.problem, c.data, 0, IDM_LEARN_FIX_NOTHING, &c.learner, &support_error));
  check(idm_problem_dynamics(c.problem, &file, &support_error));
  check(idm_iohmm_step(c.learner, 1.1, c.truth, &objective, &support_error));
  const double *move = c.truth->transition + moves, *show = c.truth->emission + shows;
  assert_int_equal(memcmp(move, file->transition + moves, moves * sizeof *move) == 0, moves_stay);
  assert_int_equal(memcmp(show, file->emission + shows, shows * sizeof *show) == 0, shows_stay);
  assert_true(memcmp(c.truth->transition, file->transition, moves * sizeof *move) != 0);
  idm_learn_settings_default(&settings);
  settings.draws = 10;
  check(idm_learn_draw(c.learner, c.problem, &(idm_modes){1, &c.truth, NULL}, &settings, NULL, NULL,
                       &draws, &support_error));
  /* Three rows of three with one 0 have 8 numbers; three rows of four without the last have 9. */
  const size_t always = 3 + 8 + 12;
  assert_int_equal(draws.numbers, always + (tied || moves_stay ? 0 : 8) + (shows_stay ? 0 : 9));
  idm_dynamics_draws_clear(&draws);
  idm_dynamics_destroy(file);
  drop_cohort(&c);
}

static void test_nothing_seen(void **state)
{
  (void)state;
  ending(false, false, false, true, true);
  ending(false, false, true, false, false);
  /* Rows tied to an observed action are learnt with it. */
  ending(false, true, false, false, true);
  /* An observation before a transition does not inform where it leads. */
  ending(true, false, true, true, false);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_textbook),      cmocka_unit_test(test_long),
      cmocka_unit_test(test_small),         cmocka_unit_test(test_parts),
      cmocka_unit_test(test_start_beliefs), cmocka_unit_test(test_refused),
      cmocka_unit_test(test_nothing_seen)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
