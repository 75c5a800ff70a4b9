/* Posteriors over draws of learnt dynamics: each draw is planned in its own dynamics and the
 * posterior's centre in the central ones, against scores computed draw by draw. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/cut.h"
#include "invert/predict.h"
#include "support.h"

enum { SETS = 2, DRAWS = 3 };

/* A posterior of 2 chains with 3 draws of alpha; the dynamics of the first chain have tests with
 * accuracy 0.9, those of the second uninformative tests. */
typedef struct scene {
  idm_problem *problem;
  idm_parameters *parameters;
  idm_posterior *posterior;
} scene;

static void set_tests(idm_dynamics *d, double right)
{
  for (size_t i = 0; i < d->numbers - (size_t)(d->emission - d->start); i++)
    d->emission[i] = i % 4 == 0 || i % 4 == 3 ? right : 1 - right;
}

static scene open_scene(void)
{
  scene s = {.problem = support_diag(2, INFINITY, 0)};
  idm_dynamics *d;
  support_assign(s.problem, "resolution=20");
  const idm_model_rule rule = {0};
  check(idm_problem_apply_rule(s.problem, &rule, &support_error));
  check(idm_problem_set_free(s.problem, "alpha", &support_error));
  check(idm_parameters_create(s.problem, &s.parameters, &support_error));
  check(idm_problem_dynamics(s.problem, &d, &support_error));
  idm_posterior *p = s.posterior = calloc(1, sizeof *p);
  p->answer = IDM_POSTERIOR;
  p->chains = SETS;
  p->draws = DRAWS;
  p->cuts = SETS;
  p->value = calloc(SETS * DRAWS, sizeof(double));
  p->unconstrained = calloc(SETS * DRAWS, sizeof(double));
  p->statistics = calloc(SETS * DRAWS, sizeof *p->statistics);
  p->summarised = calloc(1, sizeof *p->summarised);
  SUPPORT_NAMES(&p->quantity, "alpha");
  SUPPORT_NAMES(&p->coordinate, "alpha");
  for (size_t i = 0; i < SETS * DRAWS; i++) p->unconstrained[i] = (double)i;
  p->statistics[4].log_density = 1;
  check(idm_dynamics_sets_create(SETS, d->numbers, &p->drawn, &support_error));
  for (size_t k = 0; k < SETS; k++) {
    set_tests(d, k ? 0.5 : 0.9);
    memcpy(p->drawn->set + k * d->numbers, d->start, d->numbers * sizeof(double));
  }
  set_tests(d, 0.8);
  memcpy(p->drawn->central, d->start, d->numbers * sizeof(double));
  idm_dynamics_destroy(d);
  return s;
}

static void close_scene(scene *s)
{
  idm_posterior_destroy(s->posterior);
  idm_parameters_destroy(s->parameters);
  idm_problem_destroy(s->problem);
}

/* Draws of one set of dynamics are contiguous; theta is that of the draw, and the agent's models
 * follow the dynamics. */
static void test_agent(void **state)
{
  (void)state;
  scene s = open_scene();
  for (size_t i = 0; i < SETS * DRAWS; i++) {
    check(idm_posterior_agent(s.posterior, s.parameters, i, s.problem, &support_error));
    assert_near(s.problem->setting->emission[0], i < DRAWS ? 0.9 : 0.5, 0);
    assert_near(s.problem->theta->block[IDM_EMISSION].value[0], i < DRAWS ? 0.9 : 0.5, 0);
    assert_near(idm_theta_scalar(s.problem->theta, IDM_ALPHA), exp((double)i), 1e-9);
  }
  check(idm_dynamics_apply_central(s.posterior, s.problem, &support_error));
  assert_near(s.problem->setting->emission[0], 0.8, 0);
  assert_int_equal(idm_dynamics_sets_apply(s.posterior, SETS * DRAWS, s.problem, &support_error),
                   IDM_USAGE);
  s.posterior->drawn->numbers--;
  assert_int_equal(idm_dynamics_sets_apply(s.posterior, 0, s.problem, &support_error), IDM_INPUT);
  close_scene(&s);
}

/* The centre is the mean over the draws given the central set of dynamics, or over all draws if the
 * central dynamics are the mean. */
static void test_centre(void **state)
{
  (void)state;
  scene s = open_scene();
  double y;
  idm_posterior_centre(s.posterior, &y);
  assert_near(y, 2.5, 1e-12);
  s.posterior->drawn->of = 2;
  idm_posterior_centre(s.posterior, &y);
  assert_near(y, 4, 1e-12);
  assert_int_equal(idm_posterior_highest(s.posterior), 4);
  close_scene(&s);
}

/* The probability of a log is the mean over draws, each scored separately in its own dynamics. */
static void test_predict(void **state)
{
  (void)state;
  scene s = open_scene();
  idm_data *data =
      support_simulate(s.problem, (idm_simulation){.trajectories = 1, .seed = 3, .steps = 3});
  double found, sum = 0;
  idm_score score;
  for (size_t i = 0; i < SETS * DRAWS; i++) s.posterior->unconstrained[i] = 0.1 * (double)i;
  check(idm_posterior_predict(s.problem, s.posterior, data, &found, &score, &support_error));
  for (size_t i = 0; i < SETS * DRAWS; i++) {
    check(idm_posterior_agent(s.posterior, s.parameters, i, s.problem, &support_error));
    idm_workspace *w = support_plan(s.problem, NULL);
    sum += exp(support_score(w, data)) / (SETS * DRAWS);
    idm_workspace_destroy(w);
  }
  assert_near(found, log(sum), 1e-9);
  idm_data_destroy(data);
  close_scene(&s);
}

/* Repeated tests agree as often as the dynamics of the draw imply: each trajectory is simulated by
 * one draw in its dynamics. */
static void test_simulate(void **state)
{
  (void)state;
  enum { EACH = 20000 };
  scene s = open_scene();
  idm_data *data;
  double same[SETS] = {0}, all[SETS] = {0};
  for (size_t i = 0; i < SETS * DRAWS; i++) s.posterior->unconstrained[i] = 2;
  const idm_simulation how = {.trajectories = 2 * EACH, .seed = 1, .steps = 6};
  check(idm_posterior_simulate(s.problem, s.posterior, &how, &data, &support_error));
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t r = data->first[t]; r + 2 < data->first[t + 1]; r++) {
      same[t / EACH] += data->observation[r] == data->observation[r + 1];
      all[t / EACH]++;
    }
  /* 0.9^2 + 0.1^2, and 0.5; tolerance of five sds of some thousand pairs. */
  assert_true(all[0] > 2000 && all[1] > 2000);
  assert_near(same[0] / all[0], 0.82, 5 * sqrt(0.82 * 0.18 / all[0]));
  assert_near(same[1] / all[1], 0.5, 5 * sqrt(0.25 / all[1]));
  idm_data_destroy(data);
  close_scene(&s);
}

static void test_words(void **state)
{
  (void)state;
  scene s = open_scene();
  char words[160];
  assert_non_null(strstr(
      idm_dynamics_sets_describe(s.posterior, IDM_DYNAMICS_CENTRAL, words, sizeof words), "mean"));
  s.posterior->drawn->of = 2;
  assert_non_null(
      strstr(idm_dynamics_sets_describe(s.posterior, IDM_DYNAMICS_CENTRAL, words, sizeof words),
             "draw 2 of 2"));
  assert_non_null(
      strstr(idm_dynamics_sets_describe(s.posterior, IDM_DYNAMICS_PER_DRAW, words, sizeof words),
             "each draw"));
  assert_non_null(
      strstr(idm_dynamics_sets_describe(s.posterior, IDM_DYNAMICS_HIGHEST, words, sizeof words),
             "highest"));
  assert_string_equal(
      idm_dynamics_sets_describe(s.posterior, IDM_DYNAMICS_UNUSED, words, sizeof words), "");
  assert_string_equal(idm_dynamics_sets_describe(NULL, IDM_DYNAMICS_PER_DRAW, words, sizeof words),
                      "");
  close_scene(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_agent),   cmocka_unit_test(test_centre),
      cmocka_unit_test(test_predict), cmocka_unit_test(test_simulate),
      cmocka_unit_test(test_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
