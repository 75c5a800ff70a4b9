/* Margins under risk aversion over models: against code written out in wary_support.c; linear
 * programs at a fixed mixture are lower bounds, and exact at the worst mixture. */
#include "invert/utility/task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/cvar_support.h"

enum { STATES = 3, ACTIONS = 3, ENTRIES = STATES * ACTIONS };

typedef struct scene {
  idm_problem *problem;
  idm_data *data;
  idm_fit_settings settings;
  idm_task task;
  idm_cvar_program *cvar;
  size_t action[STATES];
} scene;

static void open_scene(scene *s, size_t models, double penalty, uint64_t seed)
{
  s->problem = cvar_random((cvar_shape){
      .states = STATES, .actions = ACTIONS, .models = models, .level = 0.25, .seed = seed});
  cvar_best(s->problem, s->action);
  s->data = grid_log(s->problem, s->action);
  check(idm_problem_set_free(s->problem, "utility", &support_error));
  idm_fit_settings_default(&s->settings);
  s->settings.penalty = penalty;
  check(idm_task_open(&s->task,
                      &(idm_fit_arguments){.inverse = idm_inverse_find("maximum-margin"),
                                           .problem = s->problem,
                                           .data = s->data,
                                           .settings = &s->settings},
                      0, &support_error));
  check(idm_task_demonstrator(&s->task, &support_error));
  check(idm_cvar_program_create(&s->task, &s->cvar, &support_error));
}

static void close_scene(scene *s)
{
  idm_cvar_program_destroy(s->cvar);
  idm_task_close(&s->task);
  idm_data_destroy(s->data);
  idm_problem_destroy(s->problem);
}

/* Under the agent's own utility its actions have the margin computed in wary_support.c. */
static void margins_are_true(void **state)
{
  (void)state;
  const double levels[] = {0, 0.25, 0.6, 1};
  for (uint64_t seed = 1; seed <= 3; seed++)
    for (size_t l = 0; l < 4; l++) {
      scene s;
      open_scene(&s, 2 + seed % 2, 0, seed);
      s.cvar->level = levels[l];
      const double *own = s.problem->theta->block[IDM_UTILITY].value;
      check(idm_cvar_program_evaluate(s.cvar, own, &support_error));
      const double expected = cvar_margin(s.problem, levels[l], own, s.action);
      if (isfinite(expected)) assert_near(s.cvar->margin, expected, 1e-9);
      if (l == 1) assert_true(expected >= 0); /* the agent's own level */
      close_scene(&s);
    }
}

static void draw_mixture(idm_random *random, idm_cvar_program *w)
{
  /* Between the weights and a vertex. */
  for (size_t e = 0; e < w->entries; e++) {
    const size_t first = (size_t)((double)w->models->count * idm_random_uniform(random));
    const double most = fmin(1, w->level > 0 ? w->models->weight[first] / w->level : 1);
    const double part = most * idm_random_uniform(random);
    for (size_t m = 0; m < w->models->count; m++) {
      const double rest = w->models->weight[m] / (1 - w->models->weight[first]);
      w->sigma[e * w->models->count + m] = m == first ? part : (1 - part) * rest;
    }
    bool within = true;
    for (size_t m = 0; m < w->models->count; m++)
      within &= w->sigma[e * w->models->count + m] * w->level <= w->models->weight[m];
    for (size_t m = 0; m < w->models->count && !within; m++)
      w->sigma[e * w->models->count + m] = w->models->weight[m];
  }
}

static void programs_promise_what_is_true(void **state)
{
  (void)state;
  const double levels[] = {0, 0.25, 0.6};
  for (uint64_t seed = 1; seed <= 6; seed++) {
    scene s;
    idm_random random;
    idm_random_init(&random, seed, 3);
    open_scene(&s, 2 + seed % 2, seed > 3 ? 0.05 : 0, seed);
    s.cvar->level = levels[seed % 3];
    draw_mixture(&random, s.cvar);
    double before = -INFINITY;
    for (int step = 0; step < 4; step++) {
      check(idm_cvar_program_solve(s.cvar, &support_error));
      double expected = cvar_margin(s.problem, s.cvar->level, s.cvar->utility, s.action); /* at x */
      for (size_t e = 0; e < ENTRIES; e++)
        expected -= s.settings.penalty * fabs(s.cvar->utility[e]);
      assert_near(s.cvar->margin, expected, 1e-8);
      assert_true(s.cvar->margin >= s.cvar->objective - 1e-8);
      /* The previous utility is feasible for the next program, at its exact margin. */
      assert_true(s.cvar->objective >= before - 1e-8);
      before = s.cvar->margin;
      memcpy(s.cvar->sigma, s.cvar->worst, idm_cvar_mixture_size(s.cvar) * sizeof *s.cvar->sigma);
    }
    const double last = s.cvar->objective;
    check(idm_cvar_program_choose(s.cvar, &support_error));
    assert_true(s.cvar->objective >= last - 1e-8);
    assert_true(s.cvar->margin >= s.cvar->objective - 1e-8);
    assert_true(s.cvar->face.attained <= 1e-8);
    close_scene(&s);
  }
}

/* No feasible utility if all entries but one are held. */
static void nothing_to_find(void **state)
{
  (void)state;
  scene s;
  open_scene(&s, 2, 0, 1);
  idm_cvar_program_destroy(s.cvar);
  idm_task_close(&s.task);
  double *utility = s.problem->theta->block[IDM_UTILITY].value;
  for (size_t e = 0; e < ENTRIES; e++) utility[e] = e / STATES == s.action[1] ? -50 : 0;
  check(idm_problem_set_free(s.problem, "{utility: {entries: [u0.s0]}}", &support_error));
  check(idm_task_open(&s.task,
                      &(idm_fit_arguments){.inverse = idm_inverse_find("maximum-margin"),
                                           .problem = s.problem,
                                           .data = s.data,
                                           .settings = &s.settings},
                      0, &support_error));
  check(idm_task_demonstrator(&s.task, &support_error));
  check(idm_cvar_program_create(&s.task, &s.cvar, &support_error));
  for (size_t i = 0; i < 2 * ENTRIES; i++) s.cvar->sigma[i] = s.cvar->models->weight[i % 2];
  check(idm_cvar_program_solve(s.cvar, &support_error));
  assert_true(s.cvar->objective == -INFINITY);
  idm_error error = {0};
  assert_int_equal(idm_cvar_program_choose(s.cvar, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "no utility within the box"));
  assert_int_equal(idm_cvar_program_infeasible(&error), IDM_INPUT);
  close_scene(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(margins_are_true),
                                     cmocka_unit_test(programs_promise_what_is_true),
                                     cmocka_unit_test(nothing_to_find)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
