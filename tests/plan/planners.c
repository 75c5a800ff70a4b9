/* Tests the requirements on every planner, whatever its policies depend on. */
#include "plan/learner_support.h"

#include <math.h>
#include <string.h>

enum { ACTIONS = 3 };
static const support_shape shape = {
    .states = 2, .actions = ACTIONS, .observations = 3, .models = 2, .resolution = 12};

/* --- the table ------------------------------------------------------------------------------ */

static void tables_are_complete(void **state)
{
  (void)state;
  for (size_t i = 0; support_planner_at(i); i++) {
    const idm_planner *planner = support_planner_at(i);
    assert_true(planner->name && planner->name[0]);
    assert_true(planner->summary && planner->summary[0]);
    assert_true(planner->row && planner->row[0]);
    assert_true(planner->create && planner->plan && planner->destroy);
    assert_true(planner->behavior || planner->belief);
    assert_true(!planner->lattice || planner->belief);
    assert_true(planner->supports != 0);
    assert_int_equal(planner->own_count > 0, planner->own != NULL);
    assert_int_equal(planner->clamps > 0, planner->clamp != NULL);
    for (size_t j = 0; j < i; j++)
      assert_string_not_equal(planner->name, support_planner_at(j)->name);
  }
  for (size_t i = 0; idm_planner_at(i); i++)
    assert_ptr_equal(idm_planner_find(idm_planner_at(i)->name), idm_planner_at(i));
  assert_null(idm_planner_find("no such planner"));
}

/* Each shared block is listed once, and only blocks that are read are clamped. */
static void lists_of_blocks_are_sound(void **state)
{
  (void)state;
  for (size_t i = 0; support_planner_at(i); i++) {
    const idm_planner *planner = support_planner_at(i);
    bool reads[IDM_BLOCK_COUNT] = {false};
    for (const idm_block_id *read = planner->reads; *read != IDM_BLOCK_COUNT; read++) {
      assert_true((size_t)*read < IDM_BLOCK_COUNT);
      assert_false(reads[*read]);
      reads[*read] = true;
    }
    for (size_t k = 0; k < planner->clamps; k++) {
      assert_true(reads[planner->clamp[k].block]);
      reads[planner->clamp[k].block] = false; /* at most once */
    }
  }
}

static void own_blocks_are_legal(void **state)
{
  (void)state;
  for (size_t i = 0; support_planner_at(i); i++) {
    const idm_planner *planner = support_planner_at(i);
    for (size_t k = 0; k < planner->own_count; k++) {
      const idm_block_info *info = &planner->own[k];
      support_legal_block(info);
      assert_true(!info->opaque || info->count || planner->shape);
      assert_true(info->of_agent);
      /* Forms that only shared blocks have. */
      assert_true(info->form != IDM_FORM_UTILITY && info->form != IDM_FORM_MODELS);
      assert_int_equal(idm_block_find(info->name), -1);
      assert_null(idm_key_find(idm_agent_option_keys(), info->name));
      for (size_t j = 0; j < k; j++) assert_string_not_equal(info->name, planner->own[j].name);
    }
  }
}

/* The planner can plan with the default values of its own blocks. */
static void default_values_are_valid(void **state)
{
  (void)state;
  for (size_t i = 0; support_planner_at(i); i++) {
    idm_problem *problem = support_reversal(support_planner_at(i));
    check(idm_theta_validate(problem->theta, problem->setting, &support_error));
    idm_workspace *workspace = support_plan(problem, NULL);
    assert_ptr_equal(idm_workspace_planner(workspace), support_planner_at(i));
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* --- planning ------------------------------------------------------------------------------- */

static void planning_twice_changes_nothing(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 61, 0);
  for (size_t i = 0; support_planner_at(i); i++)
    for (int horizon = 0; horizon <= SUPPORT_STEPS; horizon += SUPPORT_STEPS) {
      const idm_planner *planner = support_planner_at(i);
      idm_problem *problem = support_any(planner, shape, &random);
      problem->setting->horizon = horizon;
      problem->agent.gap = 1e-7;
      if (!(planner->supports & (horizon ? IDM_SUPPORTS_HORIZON : IDM_SUPPORTS_STATIONARY))) {
        idm_workspace *none;
        assert_int_equal(idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                              &none, &support_error),
                         IDM_INPUT);
        idm_problem_destroy(problem);
        continue;
      }
      idm_plan_report report = {.bound = 1};
      idm_workspace *workspace = support_plan(problem, &report);
      /* A plan has an error bound. Behaviours without a plan report that there is none, and
       * planners that learn by sampling report no finite bound. */
      assert_int_equal(isnan(report.bound) != 0, report.stop == IDM_STOP_UNPLANNED);
      assert_int_equal(isinf(report.bound) != 0, report.stop == IDM_STOP_BUDGET);
      assert_int_equal((planner->needs & IDM_NEEDS_SAMPLER) != 0, report.stop == IDM_STOP_BUDGET);
      assert_true(!isfinite(report.bound) || report.bound < 1e-6);
      const support_history history = support_happen(problem->setting, &random);
      double first[SUPPORT_STEPS * ACTIONS], second[SUPPORT_STEPS * ACTIONS];
      support_live_alone(idm_workspace_behavior(workspace), &history, ACTIONS, first);
      check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
      support_live_alone(idm_workspace_behavior(workspace), &history, ACTIONS, second);
      for (size_t k = 0; k < SUPPORT_STEPS * ACTIONS; k++) assert_near(first[k], second[k], 1e-7);
      idm_workspace_destroy(workspace);
      idm_problem_destroy(problem);
    }
}

/* A theta with planner blocks other than the planner's own is rejected. */
static void theta_must_hold_the_planners_blocks(void **state)
{
  (void)state;
  for (size_t i = 0; support_planner_at(i); i++) {
    const idm_planner *planner = support_planner_at(i);
    const idm_planner *other = planner->own_count ? idm_planner_at(0) : &idm_learner;
    idm_problem *problem = support_reversal(planner);
    idm_workspace *workspace;
    check(idm_problem_set_planner(problem, other, &support_error));
    problem->agent.planner = planner;
    assert_int_equal(idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                          &workspace, &support_error),
                     IDM_USAGE);
    assert_null(workspace);
    assert_non_null(strstr(support_error.message, planner->name));
    /* Setting the planner of the problem adds its blocks. */
    check(idm_problem_set_planner(problem, planner, &support_error));
    workspace = support_plan(problem, NULL);
    check(idm_problem_set_planner(problem, other, &support_error));
    if (planner->own != other->own)
      assert_int_equal(idm_plan(problem->theta, NULL, workspace, NULL, &support_error), IDM_USAGE);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* Blocks that a planner declares as not read, or that a clamp fixes, change no bit of the result.
 */
static void unread_blocks_do_not_matter(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 62, 0);
  for (size_t i = 0; support_planner_at(i); i++) {
    const idm_planner *planner = support_planner_at(i);
    idm_problem *problem = support_any(planner, shape, &random);
    idm_workspace *workspace = support_plan(problem, NULL);
    const support_history history = support_happen(problem->setting, &random);
    double expected[SUPPORT_STEPS * ACTIONS], found[SUPPORT_STEPS * ACTIONS];
    support_live_alone(idm_workspace_behavior(workspace), &history, ACTIONS, expected);
    idm_workspace_destroy(workspace);
    for (size_t id = 0; id < problem->theta->blocks; id++) {
      /* A limited sensor is rejected by planners that do not support it, so it is skipped. */
      if (idm_planner_reads(planner, id) || id == IDM_SENSOR_CAPACITY) continue;
      support_redraw(problem->theta, id, &random);
      workspace = support_plan(problem, NULL);
      support_live_alone(idm_workspace_behavior(workspace), &history, ACTIONS, found);
      if (memcmp(found, expected, sizeof found) != 0)
        fail_msg("'%s' says that it does not read %s", planner->name,
                 problem->theta->block[id].info->name);
      idm_workspace_destroy(workspace);
    }
    idm_problem_destroy(problem);
  }
}

/* After a theta for which planning is impossible, the last plan stays valid. */
static void a_refused_theta_changes_nothing(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 63, 0);
  for (size_t i = 0; support_planner_at(i); i++) {
    idm_problem *problem = support_any(support_planner_at(i), shape, &random);
    idm_workspace *workspace = support_plan(problem, NULL);
    const support_history history = support_happen(problem->setting, &random);
    double expected[SUPPORT_STEPS * ACTIONS], found[SUPPORT_STEPS * ACTIONS];
    support_live_alone(idm_workspace_behavior(workspace), &history, ACTIONS, expected);
    idm_theta_set_scalar(problem->theta, IDM_UTILITY, NAN);
    assert_int_equal(idm_plan(problem->theta, NULL, workspace, NULL, &support_error), IDM_INPUT);
    support_live_alone(idm_workspace_behavior(workspace), &history, ACTIONS, found);
    assert_memory_equal(found, expected, sizeof found);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_are_complete),
      cmocka_unit_test(lists_of_blocks_are_sound),
      cmocka_unit_test(own_blocks_are_legal),
      cmocka_unit_test(default_values_are_valid),
      cmocka_unit_test(planning_twice_changes_nothing),
      cmocka_unit_test(theta_must_hold_the_planners_blocks),
      cmocka_unit_test(unread_blocks_do_not_matter),
      cmocka_unit_test(a_refused_theta_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
