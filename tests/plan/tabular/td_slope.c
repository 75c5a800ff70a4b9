/* Tests derivatives of td-learner against differences, and missing cells, which they reject where
 * the likelihood does. */
#include "plan/tabular/learner.h"

#include <string.h>

#include "plan/tabular/td_support.h"

static double moved(const td_bench *b, size_t id, double step)
{
  idm_theta *theta;
  check(idm_theta_copy(b->problem->theta, &theta, &support_error));
  theta->block[id].value[0] += step;
  const double found = td_score(b, theta);
  idm_theta_destroy(theta);
  return found;
}

static void slopes_are_those_of_differences(void **state)
{
  (void)state;
  static const size_t more[] = {IDM_DISCOUNT, IDM_PERSEVERANCE, IDM_LAPSE};
  for (unsigned kind = 0; kind < 2 * TD_KINDS; kind++) {
    td_bench b = td_open_missed(kind % TD_KINDS, 5, kind < TD_KINDS ? 0 : 0.25);
    idm_gradient *gradient;
    idm_theta *derivative;
    double log_likelihood;
    check(idm_theta_copy(b.problem->theta, &derivative, &support_error));
    for (size_t i = 0; i < derivative->blocks; i++) derivative->block[i].role = IDM_DESCRIPTIVE;
    assert_true(idm_gradient_possible(b.data, b.tree, b.workspace));
    check(idm_gradient_create(b.data, b.tree, b.workspace, &gradient, &support_error));
    const double expected = td_score(&b, b.problem->theta);
    for (int round = 0; round < 2; round++)
      check(idm_gradient_run(gradient, &log_likelihood, derivative, &support_error));
    assert_near(log_likelihood, expected, 1e-12);
    for (size_t i = 0; i < TD_OWNS + 3; i++) {
      const size_t id = i < TD_OWNS ? IDM_BLOCK_COUNT + i : more[i - TD_OWNS];
      const double h = 1e-4;
      const double wide = moved(&b, id, 2 * h) - moved(&b, id, -2 * h);
      const double narrow = moved(&b, id, h) - moved(&b, id, -h);
      assert_near(derivative->block[id].value[0], (8 * narrow - wide) / (12 * h), 1e-7);
    }
    idm_gradient_destroy(gradient);
    idm_theta_destroy(derivative);
    td_close(&b);
  }
}

static void refused(const td_bench *b, const char *words)
{
  idm_gradient *gradient;
  idm_theta *derivative;
  idm_score result;
  double log_likelihood;
  idm_error error = {0}, again = {0};
  assert_int_equal(idm_scorer_run(b->scorer, idm_workspace_behavior(b->workspace), &result, &error),
                   IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  check(idm_theta_copy(b->problem->theta, &derivative, &support_error));
  check(idm_gradient_create(b->data, b->tree, b->workspace, &gradient, &support_error));
  assert_int_equal(idm_gradient_run(gradient, &log_likelihood, derivative, &again), IDM_INPUT);
  /* The scorer adds the place to the message. */
  assert_memory_equal(again.message, error.message, strlen(again.message));
  assert_int_equal(again.line, error.line);
  idm_gradient_destroy(gradient);
  idm_theta_destroy(derivative);
}

static void what_was_not_recorded_is_refused_at_its_row(void **state)
{
  (void)state;
  td_bench b = td_open(1, 9);
  size_t t = 0;
  while (b.data->first[t + 1] - b.data->first[t] < 3) t++;
  const size_t at = b.data->first[t] + 1;
  for (int what = 0; what < 2; what++) {
    const td_bench whole = b;
    const int action = b.data->action[at], observation = b.data->observation[at];
    if (what == 0) b.data->action[at] = IDM_MISSING;
    if (what == 1) b.data->observation[at] = IDM_MISSING;
    check(idm_evidence_tree(b.problem, b.data, &b.tree, &support_error));
    check(idm_scorer_create(b.data, b.tree, &b.scorer, &support_error));
    refused(&b, what ? "a state was not recorded" : "an action was not recorded");
    idm_scorer_destroy(b.scorer);
    idm_prefix_tree_destroy(b.tree);
    b = whole;
    b.data->action[at] = action;
    b.data->observation[at] = observation;
  }
  b.problem->setting->start[1] = b.problem->setting->start[0] = 0.5;
  refused(&b, "requires the state that a trajectory starts in");
  td_close(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slopes_are_those_of_differences),
      cmocka_unit_test(what_was_not_recorded_is_refused_at_its_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
