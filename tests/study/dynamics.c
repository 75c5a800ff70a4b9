/* Tests runs of learnt dynamics: a fit over draws of the dynamics that are not trusted is not
 * trusted. */
#include "study/study.h"

#include <math.h>
#include <string.h>

#include "io/folder_support.h"

typedef struct scene {
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
} scene;

/* Makes draws of the dynamics; if `independent`, replaces their values by independent uniform
 * numbers. */
static scene open_scene(long draws, bool independent)
{
  scene s = {.problem = support_diag(2, INFINITY, 0)};
  idm_learn_settings settings;
  idm_iohmm *learner;
  idm_learn_result learnt;
  idm_dynamics_draws made;
  check(idm_problem_apply_rule(s.problem, &(idm_model_rule){.perturb = {0, 0.1}}, &support_error));
  s.data = support_simulate(s.problem, (idm_simulation){.trajectories = 20, .seed = 3, .steps = 8});
  idm_learn_settings_default(&settings);
  settings.draws = draws;
  settings.warmup = 20;
  settings.chains = 2;
  check(idm_iohmm_create(s.problem, s.data, 0, settings.hold, &learner, &support_error));
  check(idm_learn(learner, s.problem, &settings, NULL, NULL, &learnt, &support_error));
  check(idm_learn_draw(learner, s.problem, &learnt.modes, &settings, NULL, NULL, &made,
                       &support_error));
  idm_random random;
  idm_random_init(&random, 3, 0);
  const size_t all = made.chains * made.draws;
  for (size_t i = 0; independent && i < made.numbers * all; i++)
    made.value[i] = 0.4 + 0.1 * idm_random_uniform(&random);
  check(idm_dynamics_posterior(&made, &settings, &s.posterior, &support_error));
  check(idm_problem_set_dynamics(s.problem, learnt.dynamics, &support_error));
  idm_dynamics_draws_clear(&made);
  idm_learn_result_clear(&learnt);
  idm_iohmm_destroy(learner);
  return s;
}

static void close_scene(scene *s)
{
  idm_posterior_destroy(s->posterior);
  idm_data_destroy(s->data);
  idm_problem_destroy(s->problem);
}

/* Assesses a run of these draws for a fit without other failures; `joint`: the fit samples the
 * dynamics jointly with its parameters. */
static void judge(const folder *f, scene *s, bool joint, idm_assessment *a)
{
  idm_assessment *written;
  idm_request *request = calloc(1, sizeof *request);
  assert_non_null(request);
  idm_request_default(request);
  check(idm_dynamics_write_run(f->path, IDM_RUN_OVERWRITE, s->problem, s->data, request,
                               s->posterior, &written, &support_error));
  idm_assessment_destroy(written);
  free(request);
  idm_posterior *kept;
  check(idm_run_read(f->path, NULL, NULL, &kept, NULL, &support_error));
  check(idm_dynamics_assess(kept, f->path, joint, a, &support_error));
  idm_posterior_destroy(kept);
}

static void poor_dynamics_fail_a_fit(void **state)
{
  scene s = open_scene(20, false);
  idm_assessment a = {.trusted = true};
  judge(*state, &s, false, &a);
  assert_false(a.trusted);
  assert_int_equal(a.failures.count, 1);
  assert_non_null(strstr(a.failures.text[0], "the draws of the dynamics are not trusted"));
  /* The sampler of dynamics has no option, and none of their numbers can be held fixed. */
  assert_null(strstr(a.failures.text[0], "--sampler"));
  assert_null(strstr(a.failures.text[0], "hold a parameter"));
  idm_notes_clear(&a.failures);
  close_scene(&s);
}

/* A joint fit draws the dynamics itself: short runs do not fail it, draws of a lower mode do. */
static void joint_fits_need_the_mode_alone(void **state)
{
  for (int lower = 0; lower < 2; lower++) {
    scene s = open_scene(20, false);
    idm_assessment a = {.trusted = true};
    idm_checks_begin(&a.checks, IDM_CHECK_FIT);
    double *density = &s.posterior->statistics[0].log_density;
    s.posterior->search_recorded = true;
    s.posterior->highest = s.posterior->attained = *density + (lower ? 1e6 : 0);
    if (lower) s.posterior->attained = *density;
    judge(*state, &s, true, &a);
    assert_int_equal(a.trusted, !lower);
    assert_int_equal(a.failures.count, lower);
    assert_int_equal(a.checks.of[IDM_CHECK_DYNAMICS_DRAWS].outcome,
                     lower ? IDM_CHECK_FAILED : IDM_CHECK_PASSED);
    if (lower) assert_true(support_mentions(&a.failures, "the draws of the dynamics are not"));
    idm_notes_clear(&a.failures);
    close_scene(&s);
  }
}

static void sound_dynamics_do_not(void **state)
{
  scene s = open_scene(1000, true);
  idm_assessment a = {.trusted = true};
  judge(*state, &s, false, &a);
  assert_true(a.trusted);
  assert_int_equal(a.failures.count, 0);
  close_scene(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(poor_dynamics_fail_a_fit, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(joint_fits_need_the_mode_alone, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(sound_dynamics_do_not, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
