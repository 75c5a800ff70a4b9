/* Maximum margin under risk aversion over models: the demonstrator is optimal for the planner, no
 * random utility is better, the risk-neutral case equals maximum-margin in the mean model, permuted
 * names, notes and refusals. */
#include "invert/utility/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/cvar_support.h"

static idm_fit_settings defaults(void)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  return settings;
}

/* A problem whose demonstrator is optimal under its own utility, with free blocks `list`. */
static idm_problem *freed(cvar_shape shape, const char *list, size_t *action, idm_data **ret_data)
{
  idm_problem *problem = cvar_random(shape);
  cvar_best(problem, action);
  *ret_data = grid_log(problem, action);
  check(idm_problem_set_free(problem, list, &support_error));
  return problem;
}

static bool says(const idm_posterior *p, const char *words)
{
  return grid_says(p->optimality, words);
}

/* 2,000 random utilities, alternately in the whole box and near the estimate. */
static void nothing_is_better(const idm_problem *problem, const idm_posterior *p, double level,
                              const size_t *action, uint64_t seed)
{
  enum { TRIALS = 2000, MOST = 32 };
  const size_t entries = problem->theta->block[IDM_UTILITY].size;
  idm_random random;
  idm_random_init(&random, seed, 1);
  for (int trial = 0; trial < TRIALS; trial++) {
    double other[MOST];
    const double step = trial % 2 ? 2 : trial % 4 ? 0.5 : 0.05;
    for (size_t e = 0; e < entries; e++)
      other[e] = fmax(
          -1, fmin(1, (trial % 2 ? 0 : p->value[e]) + step * (idm_random_uniform(&random) - 0.5)));
    assert_true(cvar_margin(problem, level, other, action) <= p->optimality->objective + 1e-9);
  }
}

/* Few mixtures, which are enumerated, and too many to enumerate; 2 and 3 models. */
static void the_largest_margin(void **state)
{
  (void)state;
  const struct {
    size_t states, actions, models;
    bool all;
  } sizes[] = {{3, 2, 2, true}, {4, 3, 2, false}, {3, 2, 3, false}};
  for (uint64_t seed = 1; seed <= 6; seed++) {
    const size_t k = seed % 3;
    size_t action[8];
    idm_data *data;
    idm_problem *problem = freed((cvar_shape){.states = sizes[k].states,
                                              .actions = sizes[k].actions,
                                              .models = sizes[k].models,
                                              .level = 0.25,
                                              .seed = seed},
                                 "utility", action, &data);
    const idm_fit_settings settings = defaults();
    idm_posterior *p = support_fit("maximum-margin", problem, data, &settings);
    assert_true(idm_optimality_certified(p->optimality));
    assert_true(says(p, "only a local optimum is certified") == !sizes[k].all);
    assert_true(says(p, "no utility of the box has a larger margin") == sizes[k].all);
    assert_near(p->optimality->objective, cvar_margin(problem, 0.25, p->value, action), 1e-8);
    assert_true(p->optimality->objective > 0.1);
    nothing_is_better(problem, p, 0.25, action, seed);
    /* The planner's policy at the estimate. */
    for (size_t s = 0; s < sizes[k].states; s++)
      assert_near(p->optimality->policy[s * sizes[k].actions + action[s]], 1, 1e-12);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* With a free risk level: the best of separate fits at every level of the grid, and the planner's
 * policy is the demonstrated one. */
static void the_best_level(void **state)
{
  (void)state;
  enum { STATES = 3, ACTIONS = 2 };
  const double levels[] = {1, 0.9, 0.75, 0.5, 0.3, 0.25, 0.1};
  for (uint64_t seed = 1; seed <= 4; seed++) {
    const cvar_shape shape = {
        .states = STATES, .actions = ACTIONS, .models = 2, .level = 0.3, .seed = seed};
    size_t action[STATES];
    idm_data *data;
    idm_problem *problem = freed(shape, "utility, risk_level", action, &data);
    const idm_fit_settings settings = defaults();
    idm_posterior *p = support_fit("maximum-margin", problem, data, &settings);
    double best = -INFINITY, at = 0;
    for (size_t l = 0; l < sizeof levels / sizeof levels[0]; l++) {
      idm_problem *held = cvar_random(shape);
      idm_theta_set_scalar(held->theta, IDM_BLOCK_COUNT, levels[l]);
      check(idm_problem_set_free(held, "utility", &support_error));
      idm_posterior *one = support_fit("maximum-margin", held, data, &settings);
      if (one->optimality->objective > best + 1e-8) {
        best = one->optimality->objective;
        at = levels[l];
      }
      idm_posterior_destroy(one);
      idm_problem_destroy(held);
    }
    assert_true(idm_optimality_certified(p->optimality));
    assert_near(p->optimality->objective, best, 1e-8);
    assert_true(p->value[STATES * ACTIONS] == at);
    assert_true(says(p, "the largest margin by risk level: 1: "));
    for (size_t s = 0; s < STATES; s++)
      assert_near(p->optimality->policy[s * ACTIONS + action[s]], 1, 1e-12);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Level 1 is maximum-margin in the mean of the models, including unvisited states. */
static void whoever_is_neutral(void **state)
{
  (void)state;
  enum { STATES = 4, ACTIONS = 3, ROWS = STATES * ACTIONS * STATES };
  for (uint64_t seed = 1; seed <= 4; seed++) {
    idm_problem *problem = cvar_random(
        (cvar_shape){.states = STATES, .actions = ACTIONS, .models = 3, .level = 1, .seed = seed});
    size_t action[STATES];
    cvar_best(problem, action);
    if (seed % 2) action[2] = SIZE_MAX;
    idm_data *data = grid_log(problem, action);
    idm_problem *plain = grid_random(STATES, ACTIONS, 0.8, seed, NULL, NULL);
    const double *rows = problem->theta->block[IDM_TRANSITION].value;
    const double *weight = problem->theta->block[IDM_MODEL_PRIOR].value;
    for (size_t i = 0; i < ROWS; i++) {
      double mean = 0;
      for (size_t m = 0; m < 3; m++) mean += weight[m] * rows[m * ROWS + i];
      plain->setting->transition[i] = mean;
    }
    check(idm_problem_set_free(problem, "utility", &support_error));
    check(idm_problem_set_free(plain, "utility", &support_error));
    for (int penalty = 0; penalty < 2; penalty++) {
      idm_fit_settings settings = defaults();
      settings.penalty = 0.03 * penalty;
      idm_posterior *a = support_fit("maximum-margin", problem, data, &settings);
      idm_posterior *b = support_fit("maximum-margin", plain, data, &settings);
      assert_true(idm_optimality_certified(a->optimality) &&
                  idm_optimality_certified(b->optimality));
      assert_near(a->optimality->objective, b->optimality->objective, 1e-8);
      assert_int_equal(a->optimality->open, b->optimality->open);
      assert_true(says(a, "no utility of the box has a larger margin"));
      idm_posterior_destroy(a);
      idm_posterior_destroy(b);
    }
    idm_data_destroy(data);
    idm_problem_destroy(problem);
    idm_problem_destroy(plain);
  }
}

/* States, actions and models in another order: the same margin at the same level. */
static void any_order(void **state)
{
  (void)state;
  enum { STATES = 3, ACTIONS = 2 };
  const size_t order[] = {2, 0, 1}, turn[] = {1, 0}, list[] = {1, 2, 0};
  for (uint64_t seed = 1; seed <= 4; seed++) {
    cvar_shape shape = {.states = STATES,
                        .actions = ACTIONS,
                        .models = seed % 2 ? 2 : 3,
                        .level = 0.25,
                        .seed = seed};
    size_t one[STATES], two[STATES];
    idm_data *first, *second;
    idm_problem *a = freed(shape, "utility, risk_level", one, &first);
    shape.opt_order = order;
    shape.opt_turn = turn;
    shape.opt_list = seed % 2 ? turn : list;
    idm_problem *b = freed(shape, "utility, risk_level", two, &second);
    for (size_t s = 0; s < STATES; s++) assert_int_equal(turn[two[s]], one[order[s]]);
    const idm_fit_settings settings = defaults();
    idm_posterior *p = support_fit("maximum-margin", a, first, &settings);
    idm_posterior *q = support_fit("maximum-margin", b, second, &settings);
    assert_near(p->optimality->objective, q->optimality->objective, 1e-8);
    assert_true(p->value[STATES * ACTIONS] == q->value[STATES * ACTIONS]);
    idm_posterior_destroy(p);
    idm_posterior_destroy(q);
    idm_data_destroy(first);
    idm_data_destroy(second);
    idm_problem_destroy(a);
    idm_problem_destroy(b);
  }
}

/* With one model, or with equal models, the risk level has no effect. */
static void one_model(void **state)
{
  (void)state;
  enum { STATES = 3, ACTIONS = 2, ROWS = STATES * ACTIONS * STATES };
  for (size_t models = 1; models <= 2; models++) {
    size_t action[STATES];
    idm_data *data;
    idm_problem *problem = freed(
        (cvar_shape){
            .states = STATES, .actions = ACTIONS, .models = models, .level = 0.25, .seed = 3},
        "utility, risk_level", action, &data);
    double *rows = problem->theta->block[IDM_TRANSITION].value;
    if (models > 1) memcpy(rows + ROWS, rows, ROWS * sizeof *rows);
    const idm_fit_settings settings = defaults();
    idm_posterior *p = support_fit("maximum-margin", problem, data, &settings);
    const idm_optimality *f = p->optimality;
    assert_true(idm_optimality_certified(f));
    assert_true(p->value[STATES * ACTIONS] == 1);
    assert_true(says(p, models == 1 ? "the agent has one model: the risk level has no effect"
                                    : "models have the same transitions"));
    /* Undetermined are one potential per state and the level. */
    assert_int_equal(f->open, STATES + 1);
    assert_int_equal(f->free, STATES * ACTIONS + 1);
    for (size_t i = 0; i < STATES * ACTIONS; i++)
      assert_true(f->direction[STATES * f->free + i] == 0);
    assert_true(f->direction[STATES * f->free + STATES * ACTIONS] == 1);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Margins are unchanged along undetermined directions: for models that differ everywhere only a
 * constant. */
static void what_is_open(void **state)
{
  (void)state;
  enum { STATES = 3, ACTIONS = 2, ENTRIES = STATES * ACTIONS };
  size_t action[STATES];
  idm_data *data;
  idm_problem *problem = freed(
      (cvar_shape){.states = STATES, .actions = ACTIONS, .models = 2, .level = 0.4, .seed = 2},
      "utility", action, &data);
  const idm_fit_settings settings = defaults();
  idm_posterior *p = support_fit("maximum-margin", problem, data, &settings);
  assert_int_equal(p->optimality->open, 1);
  double moved[ENTRIES];
  for (size_t e = 0; e < ENTRIES; e++) moved[e] = p->value[e] + 0.7 * p->optimality->direction[e];
  assert_near(cvar_margin(problem, 0.4, moved, action), p->optimality->objective, 1e-8);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void expect(const idm_problem *problem, const idm_data *data,
                   const idm_fit_settings *settings, const char *words)
{
  idm_posterior *posterior;
  idm_error error = {0};
  const idm_status status = idm_inverse_fit(idm_inverse_find("maximum-margin"), problem, data,
                                            settings, NULL, &posterior, NULL, &error);
  assert_true(status == IDM_INPUT || status == IDM_USAGE);
  assert_null(posterior);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
}

static void refusals(void **state)
{
  (void)state;
  size_t action[3];
  idm_data *data;
  const cvar_shape shape = {.states = 3, .actions = 2, .models = 2, .level = 0.25, .seed = 3};
  idm_problem *problem = freed(shape, "utility, risk_level", action, &data);
  idm_data *two = support_data(problem, "trajectory,state,action\n1,s1,u0\n2,s1,u1\n3,s2,u0\n");
  idm_fit_settings settings = defaults();
  expect(problem, two, &settings, "more in 1 state: 's1'");
  settings.bound = INFINITY;
  expect(problem, data, &settings, "expected a finite --bound");
  settings = defaults();
  settings.epsilon = 50; /* more than the box allows */
  expect(problem, data, &settings, "the given --epsilon");
  settings = defaults();
  settings.margin = IDM_MARGIN_RETURN;
  expect(problem, data, &settings, "expected --margin state");
  settings = defaults();
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, 0.5);
  expect(problem, data, &settings, "needs an agent that takes the best action");
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, 0);
  check(idm_problem_set_free(problem, "risk_level", &support_error));
  expect(problem, data, &settings, "estimates utility, and none is free");
  check(idm_problem_set_free(problem, "utility, discount", &support_error));
  expect(problem, data, &settings, "discount is free");
  check(idm_problem_set_free(problem, "{utility: {}, risk_level: {prior: {uniform: [0.3, 0.4]}}}",
                             &support_error));
  expect(problem, data, &settings, "which its prior excludes");
  idm_data_destroy(data);
  idm_data_destroy(two);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_largest_margin),
                                     cmocka_unit_test(the_best_level),
                                     cmocka_unit_test(whoever_is_neutral),
                                     cmocka_unit_test(any_order),
                                     cmocka_unit_test(one_model),
                                     cmocka_unit_test(what_is_open),
                                     cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
