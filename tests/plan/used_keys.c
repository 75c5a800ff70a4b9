/* Tests which keys of the agent have an effect on each planner. */
#include <math.h>
#include <string.h>

#include "plan/learner_support.h"

enum { ACTIONS = 3 };
static const support_shape shape = {
    .states = 2, .actions = ACTIONS, .observations = 3, .models = 2, .resolution = 12};

/* Sets a key of the agent to another legal value. */
static void change(const idm_key *key, idm_agent_options *agent)
{
  const char *const texts[] = {"0.75", "3", "true", key->words ? key->words[1] : "4"};
  const idm_agent_options before = *agent;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    idm_agent_options other = before;
    if (idm_key_set_text(key, &other, texts[i], NULL) != IDM_OK) continue;
    *agent = other;
    if (!idm_key_same(key, &before, agent, 0)) return;
  }
  fail_msg("no other value of %s is legal", key->name);
}

/* A key that the planner does not declare changes no decision or is rejected, and every declared
 * key exists. */
static void keys_that_are_not_heeded_make_no_difference(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 67, 0);
  for (size_t i = 0; support_planner_at(i); i++) {
    const idm_planner *planner = support_planner_at(i);
    for (const char *const *key = planner->keys; key && *key; key++)
      assert_non_null(idm_key_find(idm_agent_option_keys(), *key));
    idm_problem *problem = support_any(planner, shape, &random);
    const support_history history = support_happen(problem->setting, &random);
    double first[SUPPORT_STEPS * ACTIONS], second[SUPPORT_STEPS * ACTIONS];
    idm_workspace *workspace = support_plan(problem, NULL);
    support_live_alone(idm_workspace_behavior(workspace), &history, ACTIONS, first);
    idm_workspace_destroy(workspace);
    for (const idm_key *key = idm_agent_option_keys(); key->name; key++) {
      if (idm_agent_uses_key(problem, key->name)) continue;
      const idm_agent_options before = problem->agent;
      change(key, &problem->agent);
      if (idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                               NULL) == IDM_OK) {
        check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
        support_live_alone(idm_workspace_behavior(workspace), &history, ACTIONS, second);
        for (size_t k = 0; k < SUPPORT_STEPS * ACTIONS; k++) assert_true(first[k] == second[k]);
        idm_workspace_destroy(workspace);
      }
      problem->agent = before;
    }
    idm_problem_destroy(problem);
  }
}

/* Every planner of the registry declares its keys. Keys without effect are remarked on if they
 * differ from the default or from a clamp. */
static void remarks_name_what_makes_no_difference(void **state)
{
  (void)state;
  for (size_t i = 0; idm_planner_at(i); i++) assert_non_null(idm_planner_at(i)->keys);
  static const struct {
    const char *planner, *assignment, *words;
  } cases[] = {{"rational", "alpha=0.5", "'rational' does not use alpha"},
               {"rational", "alpha=0", NULL},
               {"rational", "lapse=0.1", NULL},
               {"rational", "resolution=7", NULL},
               {"minimum-information", "alpha=1", NULL},
               {"minimum-information", "alpha=2", "does not use alpha"},
               {"bounded-rational", "alpha=0.5", NULL},
               {"bounded-rational", "temperature=2", "does not use temperature"},
               {"bounded-rational", "hidden=3", "does not use hidden"},
               {"bounded-rational", "delay_rate=3", "does not use delay_rate"},
               {"point-based", "prior_weight=0.5", "does not use prior_weight"},
               {"point-based", "gap=0.5", NULL},
               {"rational", NULL, NULL},
               {"point-based", NULL, NULL},
               {"decision-rule", NULL, "does not use certainty, belief_utility"},
               {"maximum-entropy", NULL, "does not use action_prior"},
               {"decision-rule", "", "does not use belief_utility"},
               {"rational", "", NULL},
               {"td-learner", "decay=0.5", NULL},
               {"td-learner", "resolution=7", "does not use resolution"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = support_diag(0, INFINITY, 0);
    idm_agent_options_default(&problem->agent);
    check(idm_problem_set_planner(problem, idm_planner_find(cases[i].planner), &support_error));
    if (cases[i].assignment && !cases[i].assignment[0]) {
      const idm_sizes n = problem->theta->sizes; /* one piece */
      check(idm_theta_resize(problem->theta, IDM_BELIEF_UTILITY, n.actions * (2 + n.states), 1,
                             &support_error));
    } else if (cases[i].assignment) {
      support_assign(problem, cases[i].assignment);
    } else {
      problem->theta->block[IDM_CERTAINTY].value[1] = 2;
      problem->theta->block[IDM_BELIEF_UTILITY].value[0] = 1;
      problem->theta->block[IDM_ACTION_PRIOR].value[0] *= 0.5;
    }
    idm_notes notes = {0};
    idm_agent_note_unused(problem, &notes);
    assert_int_equal(notes.count, cases[i].words ? 1 : 0);
    if (cases[i].words) assert_non_null(strstr(notes.text[0], cases[i].words));
    idm_notes_clear(&notes);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_that_are_not_heeded_make_no_difference),
      cmocka_unit_test(remarks_name_what_makes_no_difference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
