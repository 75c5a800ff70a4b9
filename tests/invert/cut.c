/* Fits over draws of learnt dynamics: each part of the pool against a separate fit given that draw,
 * and resumed fits against uninterrupted ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/posterior.h"
#include "support.h"

typedef struct scene {
  idm_problem *problem;
  idm_data *data;
  idm_iohmm *learner;
  idm_learn_result learnt;
  idm_learn_settings settings;
  idm_dynamics_draws draws;
} scene;

static scene open_scene(void)
{
  scene s = {.problem = support_diag(2, INFINITY, 0)};
  support_assign(s.problem, "resolution=20");
  const idm_model_rule rule = {.perturb = {0, 0.1}};
  check(idm_problem_apply_rule(s.problem, &rule, &support_error));
  check(idm_problem_set_free(s.problem, "alpha", &support_error));
  s.data = support_simulate(s.problem, (idm_simulation){.trajectories = 60, .seed = 3, .steps = 8});
  idm_learn_settings_default(&s.settings);
  s.settings.draws = 20;
  s.settings.warmup = 20;
  s.settings.chains = 2;
  check(idm_iohmm_create(s.problem, s.data, 0, s.settings.hold, &s.learner, &support_error));
  check(idm_learn(s.learner, s.problem, &s.settings, NULL, NULL, &s.learnt, &support_error));
  check(idm_learn_draw(s.learner, s.problem, &s.learnt.modes, &s.settings, NULL, NULL, &s.draws,
                       &support_error));
  check(idm_problem_set_dynamics(s.problem, s.learnt.dynamics, &support_error));
  return s;
}

static void close_scene(scene *s)
{
  idm_dynamics_draws_clear(&s->draws);
  idm_learn_result_clear(&s->learnt);
  idm_iohmm_destroy(s->learner);
  idm_data_destroy(s->data);
  idm_problem_destroy(s->problem);
}

/* Draws of dynamics converted to a posterior and back are unchanged. */
static void test_posterior(void **state)
{
  (void)state;
  scene s = open_scene();
  idm_posterior *posterior;
  idm_dynamics_draws back;
  check(idm_dynamics_posterior(&s.draws, &s.settings, &posterior, &support_error));
  check(idm_posterior_dynamics(posterior, s.problem, &back, &support_error));
  assert_int_equal(back.numbers, s.draws.numbers);
  for (size_t i = 0; i < back.numbers; i++) assert_int_equal(back.place[i], s.draws.place[i]);
  assert_memory_equal(back.value, s.draws.value,
                      back.numbers * back.chains * back.draws * sizeof(double));
  idm_error error = {0};
  idm_dynamics_draws_clear(&back);
  strcpy(posterior->inverse, "bayes");
  assert_int_equal(idm_posterior_dynamics(posterior, s.problem, &back, &error), IDM_INPUT);
  idm_posterior_destroy(posterior);
  close_scene(&s);
}

/* Dynamics of a draw sum to 1 and keep zeros and ties; the agent's models follow them. */
static void test_take(void **state)
{
  (void)state;
  scene s = open_scene();
  idm_dynamics *d;
  check(idm_dynamics_create(s.learnt.dynamics->sizes, &d, &support_error));
  check(idm_dynamics_of_draw(s.problem, &s.draws, 1, 7, d, &support_error));
  assert_memory_equal(d->emission, d->emission + 4, 4 * sizeof(double)); /* tied under "*" */
  for (size_t r = 0; r < 6; r++) {
    assert_near(d->transition[2 * r] + d->transition[2 * r + 1], 1, 1e-12);
    assert_near(d->emission[2 * r] + d->emission[2 * r + 1], 1, 1e-12);
  }
  check(idm_problem_set_dynamics(s.problem, d, &support_error));
  check(idm_problem_validate(s.problem, &support_error));
  const double *models = s.problem->theta->block[IDM_EMISSION].value;
  assert_near(models[0], fmin(d->emission[0] - 0.1, 0.999), 1e-12);
  assert_near(models[12], d->emission[0], 0);
  idm_dynamics_destroy(d);
  close_scene(&s);
}

static void test_fit(void **state)
{
  (void)state;
  scene s = open_scene();
  idm_fit_settings settings;
  idm_posterior *pooled, *alone;
  idm_dynamics *d;
  idm_assessment *a;
  const idm_inverse *laplace = idm_inverse_find("laplace");
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = 250;
  settings.threads = 1;
  check(idm_cut_fit(s.problem, s.data, laplace, &settings, &(idm_cut_draws){s.problem, &s.draws, 3},
                    NULL, &pooled, NULL, &support_error));
  assert_int_equal(pooled->chains, 6);
  assert_int_equal(pooled->cuts, 3);
  /* The second of the three fits is given draw 20 of 40. */
  check(idm_dynamics_create(s.learnt.dynamics->sizes, &d, &support_error));
  check(idm_dynamics_of_draw(s.problem, &s.draws, 1, 0, d, &support_error));
  check(idm_problem_set_dynamics(s.problem, d, &support_error));
  settings.keep = IDM_KEEP_NOTHING;
  check(idm_inverse_fit(laplace, s.problem, s.data, &settings, NULL, &alone, NULL, &support_error));
  assert_memory_equal(pooled->value + 2 * 250, alone->value, 2 * 250 * sizeof(double));
  check(idm_assess_draws(pooled, &a, &support_error));
  assert_true(a->between[0] >= 0 && a->between[0] <= 1);
  assert_string_equal(pooled->quantity.name[0], "alpha");
  assert_near(pooled->unconstrained[0], log(pooled->value[0]), 1e-12);
  assert_near(a->between[0], idm_between_share(pooled->unconstrained, 3, 2 * 250), 0);
  assert_true(a->between[0] != idm_between_share(pooled->value, 3, 2 * 250));
  assert_true(a->diagnosis[0].rhat <
              1.05); /* R-hat within each draw of the dynamics, however far apart these are */
  idm_assessment_destroy(a);
  idm_posterior_destroy(alone);
  idm_posterior_destroy(pooled);
  idm_dynamics_destroy(d);
  close_scene(&s);
}

/* Stopped in the first fit, in the second and in the last, and resumed each time: equals the pool
 * of uninterrupted fits. A checkpoint of another request is refused; the error names its file. */
static void test_goes_on(void **state)
{
  (void)state;
  static const double when[] = {0, 0.3, 0.5, 0.7, 0.99, 2};
  scene s = open_scene();
  const idm_cut_draws cut = {s.problem, &s.draws, 3};
  const idm_inverse *bayes = idm_inverse_find("bayes");
  idm_fit_settings settings;
  idm_posterior *whole, *parts = NULL;
  idm_error error = {0};
  support_resuming r = {0};
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = settings.warmup = 600;
  check(idm_cut_fit(s.problem, s.data, bayes, &settings, &cut, NULL, &whole, NULL, &support_error));
  for (size_t k = 0; k < sizeof when / sizeof *when; k++) {
    const idm_fit_monitor watch = support_resume(&r, when[k], 4);
    idm_posterior_destroy(parts); /* NULL unless the fit was stopped after its last step */
    const idm_status status = idm_cut_fit(s.problem, s.data, bayes, &settings, &cut, &watch, &parts,
                                          NULL, &support_error);
    support_resumed(&r, status);
  }
  assert_non_null(parts);
  assert_memory_equal(parts->value, whole->value,
                      idm_posterior_numbers(whole) * whole->chains * whole->draws * sizeof(double));
  idm_posterior_destroy(parts);
  const idm_fit_monitor other = {
      .checkpoint = r.bytes, .checkpoint_length = r.length, .checkpoint_file = "there", .label = 5};
  assert_int_equal(
      idm_cut_fit(s.problem, s.data, bayes, &settings, &cut, &other, &parts, NULL, &error),
      IDM_INPUT);
  assert_string_equal(error.file, "there");
  assert_null(parts);
  free(r.bytes);
  idm_posterior_destroy(whole);
  close_scene(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_posterior), cmocka_unit_test(test_take),
                                     cmocka_unit_test(test_fit), cmocka_unit_test(test_goes_on)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
