/* Tests the belief of the environment given the recorded cells against direct sums. */
#include "plan/believer/environment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { STATES = 3, ACTIONS = 4, SEEN = 2 };

static idm_problem *make(idm_random *random)
{
  idm_problem *p = support_problem((support_shape){STATES, ACTIONS, SEEN, 2, 4}, random);
  support_redraw(p->theta, IDM_ACTION_PRIOR, random);
  p->setting->ends[0] = p->setting->ends[1] = p->setting->terminal[1] = true;
  return p;
}

/* sum_s e_s tau(t|s,u) omega(x|u,t); without the last factor if x is missing. */
static double joint(const idm_setting *setting, const double *e, size_t u, int x, size_t t)
{
  double sum = 0;
  for (size_t s = 0; s < STATES; s++)
    sum += e[s] * setting->transition[(u * STATES + s) * STATES + t];
  return x == IDM_MISSING ? sum : sum * setting->emission[(u * STATES + t) * SEEN + (size_t)x];
}

static void compare(const idm_problem *p, const environment *env, idm_event event, const bool *open,
                    const double *e)
{
  double next[STATES], scratch[STATES], expected[STATES] = {0}, total = 0, prior = 0;
  for (size_t u = 0; u < ACTIONS; u++) {
    const bool ended = p->setting->ends[u] && !event.last;
    const bool blind = p->setting->terminal[u] && event.observation != IDM_MISSING;
    const bool may = event.action == IDM_MISSING ? (!open || open[u]) && !ended && !blind
                                                 : (size_t)event.action == u;
    assert_int_equal(idm_environment_allows(env, &event, open, u), may);
    if (!may) continue;
    const double weight = event.action == IDM_MISSING ? env->action_prior[u] : 1;
    prior += weight;
    for (size_t t = 0; t < STATES; t++)
      expected[t] +=
          weight * (p->setting->terminal[u] ? e[t] : joint(p->setting, e, u, event.observation, t));
  }
  for (size_t t = 0; t < STATES; t++) total += expected[t];
  const double found = idm_environment_update(env, &event, open, e, next, scratch);
  if (!(prior > 0)) { /* no available action is possible */
    assert_true(found == 0);
    for (size_t t = 0; t < STATES; t++) assert_true(next[t] == 0);
    return;
  }
  assert_near(found, event.observation == IDM_MISSING ? 1 : total / prior, 1e-12);
  for (size_t t = 0; t < STATES; t++) assert_near(next[t], expected[t] / total, 1e-12);
}

static void beliefs_follow_what_was_recorded(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 51, 0);
  idm_problem *p = make(&random);
  environment env;
  check(idm_environment_create(p->setting, p->theta, &env, &support_error));
  static const bool sets[3][ACTIONS] = {{1, 1, 1, 0}, {1, 0, 0, 1}, {1, 1, 0, 0}};
  double e[STATES];
  for (int action = IDM_MISSING; action < ACTIONS; action++)
    for (int x = IDM_MISSING; x < SEEN; x++)
      for (int set = -1; set < 3; set++)
        for (int last = 0; last < 2; last++) {
          support_distribution(&random, e, STATES);
          compare(p, &env, (idm_event){.action = action, .observation = x, .last = last},
                  set < 0 ? NULL : sets[set], e);
        }
  /* An impossible history stays impossible. */
  const double nothing[STATES] = {0};
  double next[STATES], scratch[STATES];
  const idm_event events[2] = {{.action = 2, .observation = 1},
                               {.action = 2, .observation = IDM_MISSING}};
  for (int i = 0; i < 2; i++) {
    assert_true(idm_environment_update(&env, &events[i], NULL, nothing, next, scratch) == 0);
    assert_memory_equal(next, nothing, sizeof next);
  }
  idm_environment_destroy(&env);
  idm_problem_destroy(p);
}

/* Each table that is not given is the mean of the models' tables by their prior weights at the time
 * the environment was created. */
static void the_mean_model_stands_in(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 52, 0);
  idm_problem *p = make(&random);
  idm_theta *theta = p->theta;
  free(p->setting->emission);
  p->setting->emission = NULL;
  environment env;
  check(idm_environment_create(p->setting, theta, &env, &support_error));
  assert_true(env.transition == p->setting->transition);
  const double *weight = theta->block[IDM_MODEL_PRIOR].value;
  const double *emission = theta->block[IDM_EMISSION].value;
  const size_t count = ACTIONS * STATES * SEEN;
  for (size_t i = 0; i < count; i++)
    assert_near(env.emission[i], weight[0] * emission[i] + weight[1] * emission[count + i], 1e-15);
  const double prior = env.action_prior[2], mean = env.emission[5];
  support_redraw(theta, IDM_ACTION_PRIOR, &random);
  support_redraw(theta, IDM_MODEL_PRIOR, &random);
  assert_true(env.action_prior[2] == prior && env.emission[5] == mean);
  idm_environment_destroy(&env);
  idm_problem_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(beliefs_follow_what_was_recorded),
      cmocka_unit_test(the_mean_model_stands_in),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
