/* Tests the detection of free parameters without effect, and that parameters with an effect are not
 * reported. */
#include "invert/assess/context.h"

#include <stdio.h>

#include "invert/assess/context_support.h"

static void look(assessed_fit *a, idm_problem *problem, idm_data *data, const char *free_blocks)
{
  assessed_fit_open(a, problem, data, free_blocks);
  check(idm_assess_effects(&a->q, a->data->rows, &support_error));
}

static idm_data *simulate(const idm_problem *problem)
{
  return support_simulate(problem, (idm_simulation){.trajectories = 4, .steps = 40, .seed = 3});
}

/* With one model, or with equal models, beta has no effect. */
static void test_models(void **state)
{
  (void)state;
  assessed_fit a;
  idm_problem *problem = make_reversal(0.3);
  look(&a, problem, simulate(problem), "alpha, beta");
  assert_int_equal(a.assessment->misfits.count, 1);
  assert_true(support_mentions(&a.assessment->misfits, "beta cannot matter here"));
  assert_true(support_mentions(&a.assessment->misfits, "one model"));
  assessed_fit_close(&a);

  problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 20;
  const idm_block *emission = &problem->theta->block[IDM_EMISSION];
  const size_t size = emission->size / problem->theta->models;
  for (size_t m = 1; m < problem->theta->models; m++)
    for (size_t i = 0; i < size; i++) emission->value[m * size + i] = emission->value[i];
  look(&a, problem, simulate(problem), "alpha, beta, model_prior");
  assert_int_equal(a.assessment->misfits.count, 2);
  assert_true(support_mentions(&a.assessment->misfits, "beta cannot matter here"));
  assert_true(support_mentions(&a.assessment->misfits, "model_prior cannot matter here"));
  assert_true(support_mentions(&a.assessment->misfits, "models are all the same"));
  assessed_fit_close(&a);
}

/* Parameters without effect by the problem alone are noted before a fit. */
static void test_known_before(void **state)
{
  (void)state;
  idm_notes notes = {0};
  idm_problem *problem = make_reversal(0.3);
  check(idm_problem_set_free(problem, "alpha, beta", &support_error));
  idm_assess_note_inert(problem, &notes);
  assert_int_equal(notes.count, 1);
  assert_true(support_mentions(&notes, "beta cannot matter here: the agent has one model"));
  idm_notes_clear(&notes);
  idm_problem_destroy(problem);
  problem = support_diag(0.5, 1.25, 0.3);
  check(idm_problem_set_free(problem, "alpha, beta, sensor_capacity", &support_error));
  idm_assess_note_inert(problem, &notes);
  assert_int_equal(notes.count, 0);
  idm_problem_destroy(problem);
}

/* A sensor has no effect on observed states, or where every state has the same emission. */
static void test_sensor(void **state)
{
  (void)state;
  static const char *const seen[] = {"states", "[x, y]\nobservation: uniform"};
  static const char *const why[] = {"states are observed",
                                    "every state has the same probabilities of observations"};
  for (size_t i = 0; i < 2; i++) {
    char text[300];
    snprintf(text, sizeof text,
             "states: [a, b]\nactions: [u, v]\nobservations: %s\n"
             "transition: {u: identity, v: uniform}\nutility: {u: [1, 0], v: 0}\n"
             "agent: {alpha: 1}\nfree: [alpha, sensor_capacity]\n",
             seen[i]);
    idm_problem *problem = support_yaml(text);
    idm_notes notes = {0};
    idm_assess_note_inert(problem, &notes);
    assert_int_equal(notes.count, 1);
    assert_true(support_mentions(&notes, "sensor_capacity cannot matter here"));
    assert_true(support_mentions(&notes, why[i]));
    idm_notes_clear(&notes);
    assessed_fit a;
    look(&a, problem, simulate(problem), "alpha, sensor_capacity");
    assert_true(support_mentions(&a.assessment->misfits, "sensor_capacity cannot matter here"));
    assert_true(support_mentions(&a.assessment->misfits, why[i]));
    assessed_fit_close(&a);
  }
}

/* Utilities of beliefs: an award above a threshold of 1, and the entropy of observed states. */
static void test_beliefs_known_before(void **state)
{
  (void)state;
  static const struct {
    const char *freed;
    bool observed;
    double above;
    const char *words; /* NULL: no reason */
  } cases[] = {{"certainty", false, 1, "certainty cannot matter here: no belief is above"},
               {"certainty", false, 0.9, NULL},
               {"belief_utility.entropy", true, 1, "the entropy of every belief is 0"},
               {"belief_utility.guess", true, 1, NULL},
               {"belief_utility", false, 1, NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_notes notes = {0};
    idm_problem *problem = make_reversal(0.3);
    check(idm_problem_set_free(problem, cases[i].freed, &support_error));
    problem->setting->fully_observed = cases[i].observed;
    problem->theta->block[IDM_CERTAINTY].value[0] = cases[i].above;
    idm_assess_note_inert(problem, &notes);
    assert_int_equal(notes.count, cases[i].words != NULL);
    if (cases[i].words) assert_true(support_mentions(&notes, cases[i].words));
    idm_notes_clear(&notes);
    idm_problem_destroy(problem);
  }
}

/* A prior of beliefs has no effect if eta is 0. */
static void test_belief_prior_known_before(void **state)
{
  (void)state;
  static const struct {
    const char *freed;
    double eta;
    size_t notes;
  } cases[] = {{"belief_prior", 0, 1}, {"belief_prior", 0.3, 0}, {"belief_prior, eta", 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_notes notes = {0};
    idm_problem *problem = support_diag(0.5, 1.25, cases[i].eta);
    check(idm_theta_resize(problem->theta, IDM_BELIEF_PRIOR, 2, 1, &support_error));
    problem->theta->block[IDM_BELIEF_PRIOR].value[0] = 2;
    problem->theta->block[IDM_BELIEF_PRIOR].value[1] = 1;
    check(idm_problem_set_free(problem, cases[i].freed, &support_error));
    idm_assess_note_inert(problem, &notes);
    assert_int_equal(notes.count, cases[i].notes);
    if (notes.count)
      assert_true(support_mentions(&notes, "belief_prior cannot matter here: eta is 0"));
    idm_notes_clear(&notes);
    idm_problem_destroy(problem);
  }
}

static void test_eta(void **state)
{
  (void)state;
  assessed_fit a;
  idm_problem *problem = make_reversal(0.3);
  const idm_block *emission = &problem->theta->block[IDM_EMISSION];
  for (size_t i = 0; i < 4; i++) {
    emission->value[4 + i] = emission->value[i];
    problem->setting->emission[4 + i] = problem->setting->emission[i];
  }
  look(&a, problem, simulate(problem), "alpha, eta");
  assert_int_equal(a.assessment->misfits.count, 1);
  assert_true(support_mentions(&a.assessment->misfits, "eta cannot matter here"));
  assert_true(support_mentions(&a.assessment->misfits, "all actions have the same dynamics"));
  assessed_fit_close(&a);
}

/* No parameter is reported, under proper and flat priors, in any unit of the utilities. */
static void test_all_matter(void **state)
{
  (void)state;
  static const char *const lists[] = {"alpha, beta, eta, action_prior, discount",
                                      "{alpha: {prior: flat}, eta: {prior: flat}}"};
  for (size_t k = 0; k < 2; k++)
    for (int power = -4; power <= 4; power += 4) {
      const double unit = power < 0 ? 1e-4 : power > 0 ? 1e4 : 1;
      idm_problem *problem = support_diag(2 * unit, 1.25 * unit, 0.3 * unit);
      problem->agent.resolution = 20;
      const idm_block *utility = &problem->theta->block[IDM_UTILITY];
      for (size_t i = 0; i < utility->size; i++) utility->value[i] *= unit;
      assessed_fit a;
      look(&a, problem, simulate(problem), lists[k]);
      assert_int_equal(a.assessment->misfits.count, 0);
      assessed_fit_close(&a);
    }
}

/* A log without a decision is reported once. */
static void test_nothing_to_choose(void **state)
{
  (void)state;
  assessed_fit a;
  idm_problem *problem = make_reversal(0.3);
  assessed_fit_open(&a, problem, simulate(problem), "alpha");
  check(idm_assess_effects(&a.q, 0, &support_error));
  assert_int_equal(a.assessment->misfits.count, 1);
  assert_true(support_mentions(&a.assessment->misfits, "no row of the log is a decision"));
  assessed_fit_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_models),
      cmocka_unit_test(test_known_before),
      cmocka_unit_test(test_beliefs_known_before),
      cmocka_unit_test(test_belief_prior_known_before),
      cmocka_unit_test(test_sensor),
      cmocka_unit_test(test_eta),
      cmocka_unit_test(test_all_matter),
      cmocka_unit_test(test_nothing_to_choose),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
