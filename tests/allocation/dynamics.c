/* Tests failing allocations in the test of the environment, in the sensitivity to dynamics, in
 * learnt and drawn dynamics, and in joint draws of dynamics and decisions. */
#include "allocation/heap_support.h"
#include "allocation/setup_support.h"
#include "invert/assess/environment.h"
#include "invert/joint/joint_support.h"
#include "learn/bits_support.h"

static idm_status test_environment_once(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  environment_check e;
  const idm_status status = idm_environment_open(&e, f->problem, f->data, false, error);
  idm_environment_close(&e);
  return status;
}

static void test_environment(void **state)
{
  (void)state;
  fitted f = open_fit();
  every_failure("environment", test_environment_once, &f, succeeds);
  close_fit(&f);
}

/* An assessment of twelve draws of one number, with dynamics given as a list. */
static idm_status depend_once(const void *argument, idm_error *error)
{
  enum { DRAWS = 12 };
  const fitted *f = argument;
  const idm_fit_settings settings = few("");
  double y[DRAWS];
  idm_posterior p = {.answer = IDM_POSTERIOR,
                     .chains = 1,
                     .draws = DRAWS,
                     .quantity = {1, (char *[]){"eta"}},
                     .value = y,
                     .unconstrained = y};
  fit_context work;
  for (size_t i = 0; i < DRAWS; i++) y[i] = 0.1 * (double)i;
  idm_status status = idm_fit_open(&work, NULL, f->problem, f->data, &settings, 1, error);
  idm_assessment *a = calloc(1, sizeof *a);
  if (status == IDM_OK && !a) status = idm_fail_memory(error);
  if (status == IDM_OK) {
    a->quantities = 1;
    const check_context q = {.f = &work, .posterior = &p, .assessment = a, .among = 1};
    status = idm_dynamics_sensitivity(&q, error);
    if (status == IDM_OK) assert_true(a->sensitivities > 0);
  }
  idm_assessment_destroy(a);
  idm_fit_close(&work);
  return status;
}

static void test_depend(void **state)
{
  (void)state;
  fitted f = open_fit();
  idm_data_destroy(f.data);
  f.data = support_data(f.problem, "agent,trajectory,action,observation\n"
                                   "a,1,monitor,positive\na,1,monitor,positive\n"
                                   "a,1,monitor,negative\na,1,declare_diseased,\n"
                                   "a,2,monitor,negative\na,2,monitor,positive\n"
                                   "a,2,monitor,negative\na,2,declare_healthy,\n");
  fail_one_by_one("dynamics", depend_once, &f, true, succeeds, 3);
  fail_one_by_one("dynamics", depend_once, &f, false, recovers, 3);
  close_fit(&f);
}

typedef struct learnable {
  idm_problem *problem;
  idm_data *data;
  idm_modes modes; /* modes of the draws, one per bit */
} learnable;

static idm_status learn_once(const void *argument, idm_error *error)
{
  const learnable *l = argument;
  idm_iohmm *learner = NULL;
  idm_learn_result learnt = {0};
  idm_dynamics_draws draws = {0};
  idm_learn_settings settings;
  idm_learn_settings_default(&settings);
  settings.starts = 3;
  settings.iterations = 20;
  settings.chains = 2;
  settings.warmup = settings.draws = 3;
  settings.threads = 1;
  idm_status status =
      idm_iohmm_create(l->problem, l->data, 0, IDM_LEARN_FIX_NOTHING, &learner, error);
  if (status == IDM_OK)
    status = idm_learn(learner, l->problem, &settings, NULL, NULL, &learnt, error);
  assert_result(status, learnt.dynamics);
  if (status == IDM_OK)
    status = idm_learn_draw(learner, l->problem, &l->modes, &settings, NULL, NULL, &draws, error);
  assert_result(status, draws.value);
  idm_dynamics_draws_clear(&draws);
  idm_learn_result_clear(&learnt);
  idm_iohmm_destroy(learner);
  return status;
}

/* Draws that move between two modes. */
static void test_learn(void **state)
{
  (void)state;
  idm_dynamics *mode[2];
  learnable l = {.problem = support_yaml(bits_second), .data = bits_simulate(0.8, 0.8, 4, 3, 1)};
  l.modes = (idm_modes){2, mode, (double[]){0, 0}};
  for (size_t m = 0; m < 2; m++) check(idm_problem_dynamics(l.problem, &mode[m], &support_error));
  for (size_t s = 0; s < 2; s++) { /* for the first bit */
    double *shows = mode[1]->emission + 4 * s;
    const double shown = shows[1];
    shows[1] = shows[2];
    shows[2] = shown;
  }
  every_failure("learn", learn_once, &l, succeeds);
  for (size_t m = 0; m < 2; m++) idm_dynamics_destroy(mode[m]);
  idm_data_destroy(l.data);
  idm_problem_destroy(l.problem);
}

/* A fit and an audit with few draws, over dynamics of the same log. */
static idm_status fit_jointly_once(const void *argument, idm_error *error)
{
  const joint_scene *s = argument;
  idm_fit_settings settings = few("");
  idm_posterior *posterior = GARBAGE;
  const idm_cut_draws cut = {s->problem, &s->draws, 2};
  settings.chains = 1;
  settings.draws = 4;
  settings.warmup = 0;
  settings.thin = 1;
  settings.threads = 1;
  const idm_status status =
      idm_joint_fit(s->problem, s->data, &settings, &cut, NULL, &posterior, NULL, error);
  assert_result(status, posterior);
  idm_posterior_destroy(posterior);
  return status;
}

static void test_joint(void **state)
{
  (void)state;
  joint_scene s = joint_open(4);
  fail_one_by_one("joint", fit_jointly_once, &s, true, succeeds, 3);
  fail_one_by_one("joint", fit_jointly_once, &s, false, recovers, 3);
  joint_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_environment),
      cmocka_unit_test(test_depend),
      cmocka_unit_test(test_learn),
      cmocka_unit_test(test_joint),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
