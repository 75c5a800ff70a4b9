/* Tests explanations of single cases against exhaustive lookahead, agents with Bayesian beliefs,
 * and hand counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/explain/explain_support.h"

/* --- regret --------------------------------------------------------------------------------- */

/* p(s', x | z, u) of the environment, with observations emitted after the action or before it:
 * stores the next belief, returns p(x | z, u). */
static double seen(const idm_setting *s, const double *z, size_t u, size_t x, double *next)
{
  const idm_sizes n = idm_setting_sizes(s);
  double total = 0;
  for (size_t t = 0; t < n.states; t++) {
    next[t] = 0;
    for (size_t i = 0; i < n.states; i++)
      next[t] += z[i] * s->transition[(u * n.states + i) * n.states + t] *
                 s->emission[(u * n.states + (s->emits_before ? i : t)) * n.observations + x];
    total += next[t];
  }
  for (size_t t = 0; t < n.states && total > 0; t++) next[t] /= total;
  return total;
}

static double value(const idm_problem *p, size_t variant, const double *z, int left);

/* Q*(z,u) with `left` steps left, by exhaustive lookahead. */
static double quality(const idm_problem *p, size_t variant, const double *z, size_t u, int left)
{
  const idm_sizes n = p->theta->sizes;
  const double *utility = idm_theta_values(p->theta, IDM_UTILITY, variant) + u * n.states;
  double q = 0;
  for (size_t s = 0; s < n.states; s++) q += z[s] * utility[s];
  if (p->setting->terminal[u] || left == 1) return q;
  for (size_t x = 0; x < n.observations; x++) {
    double next[8];
    const double probability = seen(p->setting, z, u, x, next);
    if (probability > 0)
      q += idm_theta_scalar(p->theta, IDM_DISCOUNT) * probability *
           value(p, variant, next, left - 1);
  }
  return q;
}

static double value(const idm_problem *p, size_t variant, const double *z, int left)
{
  double best = -INFINITY;
  for (size_t u = 0; u < p->theta->sizes.actions; u++)
    best = fmax(best, quality(p, variant, z, u, left));
  return best;
}

/* For every row of a log, the rational agent filters by Bayes' rule and looks ahead without a
 * lattice. The error of a lattice over two states is, per layer, at most half a cell times the
 * change of slope, which is at most twice the range. */
static void regret_is_that_of_exhaustive_lookahead(void **state)
{
  (void)state;
  for (int before = 0; before < 2; before++) {
    idm_random random;
    idm_random_init(&random, 5, (uint64_t)before);
    idm_problem *problem = support_problem((support_shape){2, 3, 2, 3, 1999}, &random);
    support_set(problem, 3, 0.5, 0.4);
    problem->setting->horizon = 4;
    problem->setting->emits_before = before;
    problem->setting->terminal[2] = problem->setting->ends[2] = true;
    const idm_sizes n = problem->theta->sizes;
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 40, .steps = 4, .seed = 9});
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < problem->theta->block[IDM_UTILITY].size; i++) {
      low = fmin(low, problem->theta->block[IDM_UTILITY].value[i]);
      high = fmax(high, problem->theta->block[IDM_UTILITY].value[i]);
    }
    const double bound = 4 * (high - low) / 1999;
    idm_explanation *e = explain_rows(problem, data);
    size_t regretted = 0;
    for (size_t t = 0; t < data->trajectories; t++) {
      double z[8], next[8];
      memcpy(z, problem->setting->start, sizeof *z * n.states);
      int left = 4;
      for (size_t row = data->first[t]; row < data->first[t + 1]; row++, left--) {
        const size_t u = (size_t)data->action[row];
        const double regret = value(problem, 0, z, left) - quality(problem, 0, z, u, left);
        const double found = explained_mean(e, row, IDM_EXPLAIN_REGRET, 0);
        assert_true(found >= 0);
        assert_true(fabs(found - regret) <= bound);
        regretted += regret > 2 * bound;
        for (size_t s = 0; s < n.states; s++)
          assert_near(explained_mean(e, row, IDM_EXPLAIN_RATIONAL_BELIEF, s), z[s], 1e-12);
        if (problem->setting->terminal[u]) break;
        seen(problem->setting, z, u, (size_t)data->observation[row], next);
        memcpy(z, next, sizeof z);
      }
    }
    assert_true(regretted > 10);
    idm_explanation_destroy(e);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Start beliefs by trajectory, rewards by trial, terminal actions, a horizon, and unavailable
 * actions; after a bet there is nothing to look ahead to. */
static void variants_starts_and_open_actions(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:beads", &problem, NULL, &support_error));
  problem->agent.resolution = 199;
  support_assign(problem, "alpha=5");
  idm_data *data = support_data(
      problem,
      "subject,run,trial,step,action,obs,available,belief.high,belief.low,draw_cost,reward_high,"
      "reward_low,reward_wrong\n"
      "a,1,1,1,bet_low,none,bet_high|bet_low,0.8,0.2,0.1,70,10,0\n"
      "a,1,2,1,draw,high,,0.2,0.8,0.1,7,1,0\na,1,2,2,bet_high,none,,,,0.1,7,1,0\n"
      "b,1,1,1,bet_high,none,,0.1,0.9,0.1,170,110,100\n");
  check(idm_problem_bind(problem, data->variants, data->variant_value, &support_error));
  idm_explanation *e = explain_rows(problem, data);
  assert_near(explained_mean(e, 0, IDM_EXPLAIN_REGRET, 0), 0.8 * 70 - 0.2 * 10, 1e-12);
  assert_near(explained_mean(e, 0, IDM_EXPLAIN_RATIONAL, 1), 1, 0);
  assert_near(explained_mean(e, 0, IDM_EXPLAIN_RATIONAL, 0), 0, 0); /* not available */
  const double updated_belief = 0.2 * 0.6 / (0.2 * 0.6 + 0.8 * 0.4);
  assert_near(explained_mean(e, 2, IDM_EXPLAIN_RATIONAL_BELIEF, 0), updated_belief, 1e-12);
  assert_near(explained_mean(e, 2, IDM_EXPLAIN_BELIEF, 0), updated_belief, 1e-12);
  assert_true(explained_mean(e, 3, IDM_EXPLAIN_REGRET, 0) > 0);
  /* With rewards of 7, 1 or 0 there is no reason to wait at .2; with 170, 110 or 100 there is at
   * .1. */
  static const long delayed[] = {0, 1, -1};
  for (size_t t = 0; t < 3; t++) assert_int_equal(e->one[t].delayed, delayed[t]);
  assert_int_equal(e->one[0].due, 1);
  assert_int_equal(e->person[0].decisions, 3);
  assert_int_equal(e->person[0].updates, 1);
  assert_near(e->person[0].noise.mean, 5.0 / 170.1, 1e-12);
  idm_explanation_destroy(e);
  /* With alpha_unit=range, noise equals alpha. */
  support_assign(problem, "alpha_unit=range");
  support_assign(problem, "alpha=0.25");
  e = explain_rows(problem, data);
  assert_near(e->person[0].noise.mean, 0.25, 1e-12);
  idm_explanation_destroy(e);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* The rational agent has no regret and no delay, and its policy equals the rational one. */
static void the_rational_agent_regrets_nothing(void **state)
{
  (void)state;
  for (int k = 0; k < 2; k++) {
    idm_random random;
    idm_random_init(&random, 8, (uint64_t)k);
    idm_problem *problem =
        k ? support_problem((support_shape){3, 3, 3, 2, 12}, &random) : support_diag(1, 1, 0);
    problem->agent.evaluate = IDM_LOOKAHEAD;
    if (k) problem->setting->ends[1] = true;
    check(idm_problem_set_planner(problem, idm_planner_find("deterministic-optimal"),
                                  &support_error));
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 60, .steps = 12, .seed = 4});
    idm_explanation *e = explain_rows(problem, data);
    for (size_t row = 0; row < data->rows; row++) {
      assert_near(explained_mean(e, row, IDM_EXPLAIN_REGRET, 0), 0, 1e-12);
      for (size_t u = 0; u < data->sizes.actions; u++)
        assert_near(explained_mean(e, row, IDM_EXPLAIN_RATIONAL, u),
                    explained_mean(e, row, IDM_EXPLAIN_PROBABILITY, u), 1e-12);
    }
    assert_int_equal(e->delayed, 0);
    assert_near(e->person[0].noise.mean, 0, 0);
    assert_near(e->person[0].regret, 0, 1e-12);
    idm_explanation_destroy(e);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* --- reaction ------------------------------------------------------------------------------- */

/* An agent whose model is the environment updates by Bayes' rule, whatever its decisions: with
 * states that change, three states, and observations emitted before the action. */
static void bayes_has_coefficients_of_one(void **state)
{
  (void)state;
  for (int k = 0; k < 4; k++) {
    idm_random random;
    idm_random_init(&random, 6, (uint64_t)k);
    idm_problem *problem =
        support_problem((support_shape){2 + (size_t)k / 2, 2, 3, 2, 10}, &random);
    problem->setting->emits_before = k % 2;
    support_set(problem, 2, 1, 0);
    check(idm_problem_set_planner(problem, idm_planner_find("maximum-entropy"), &support_error));
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 20, .steps = 6, .seed = 7});
    idm_explanation *e = explain_rows(problem, data);
    assert_near(e->person[0].reaction.mean, 1, 1e-9);
    assert_near(e->person[0].base_rate.mean, 1, 1e-9);
    assert_int_equal(e->person[0].updates, data->rows);
    idm_explanation_destroy(e);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

#define TEST(theirs)                                                                               \
  "states: [a, b]\nactions: [look, stop]\nobservations: [x, y, none]\ndiscount: 0.9\n"             \
  "ends: [stop]\ntransition: {look: identity, stop: uniform}\n"                                    \
  "observation: {look: [[0.7, 0.3, 0], [0.3, 0.7, 0]], stop: [[0, 0, 1], [0, 0, 1]]}\n"            \
  "utility: {look: -1, stop: [4, -6]}\nmodels: [{observation: {look: " theirs "}}]\n"              \
  "agent: {alpha: 2, beta: inf, resolution: 50}\n"

/* An agent that gives .9 to a test of .7 overreacts by log 9 / log (7/3), and does not neglect base
 * rates. */
static void overreaction_is_measured(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(TEST("[[0.9, 0.1, 0], [0.1, 0.9, 0]]"));
  idm_data *data = support_data(problem, "agent,trajectory,action,observation\n"
                                         "p,1,look,x\np,1,look,x\np,1,stop,none\n"
                                         "p,2,look,y\np,2,look,x\np,2,stop,\n"
                                         "q,3,look,x\nq,3,stop,\nr,4,stop,\n");
  idm_explanation *e = explain_rows(problem, data);
  assert_near(e->person[0].reaction.mean, log(9) / log(7.0 / 3), 1e-12);
  assert_near(e->person[0].base_rate.mean, 1, 1e-12);
  assert_int_equal(e->person[0].updates, 4); /* an observation in the last row is no update */
  assert_int_equal(e->person[0].decisions, 6);
  /* At an even belief the base rate is not identified; without an update, neither coefficient is.
   */
  assert_near(e->person[1].reaction.mean, log(9) / log(7.0 / 3), 1e-12);
  assert_true(isnan(e->person[1].base_rate.mean));
  assert_true(isnan(e->person[2].reaction.mean) && isnan(e->person[2].base_rate.low));
  assert_near(e->person[0].noise.mean, 0.2, 1e-12);
  idm_explanation_destroy(e);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Labels and their order have no effect. */
static void relabelling_changes_nothing(void **state)
{
  (void)state;
  static const char *const yaml[] = {
      "states: [a, b]\nactions: [look, left, right]\nobservations: [x, y]\ndiscount: 0.9\n"
      "start: [0.3, 0.7]\nends: [left, right]\ntransition: {look: [[0.9, 0.1], [0.2, 0.8]], '*': "
      "uniform}\nobservation: {'*': [[0.7, 0.3], [0.2, 0.8]]}\n"
      "utility: {look: -1, left: [5, -7], right: [-6, 4]}\n"
      "models: [{observation: {'*': [[0.6, 0.4], [0.3, 0.7]]}}, {}]\n"
      "agent: {alpha: 2, beta: 3, resolution: 40}\n",
      "states: [b, a]\nactions: [right, look, left]\nobservations: [y, x]\ndiscount: 0.9\n"
      "start: [0.7, 0.3]\nends: [left, right]\ntransition: {look: [[0.8, 0.2], [0.1, 0.9]], '*': "
      "uniform}\nobservation: {'*': [[0.8, 0.2], [0.3, 0.7]]}\n"
      "utility: {look: -1, left: [-7, 5], right: [4, -6]}\n"
      "models: [{}, {observation: {'*': [[0.7, 0.3], [0.4, 0.6]]}}]\n"
      "agent: {alpha: 2, beta: 3, resolution: 40}\n"};
  static const char csv[] = "agent,trajectory,action,observation\n"
                            "p,1,look,x\np,1,look,y\np,1,look,x\np,1,left,\n"
                            "q,2,look,y\nq,2,,x\nq,2,look,\nq,2,right,\n";
  idm_explanation *e[2];
  idm_problem *problem[2];
  idm_data *data[2];
  for (int k = 0; k < 2; k++) {
    problem[k] = support_yaml(yaml[k]);
    data[k] = support_data(problem[k], csv);
    e[k] = explain_rows(problem[k], data[k]);
  }
  static const size_t action[] = {1, 2, 0}; /* look, left, right in the second problem */
  for (size_t row = 0; row < data[0]->rows; row++) {
    if (data[0]->action[row] != IDM_MISSING) {
      assert_near(explained_mean(e[0], row, IDM_EXPLAIN_REGRET, 0),
                  explained_mean(e[1], row, IDM_EXPLAIN_REGRET, 0), 1e-7);
      assert_near(idm_explanation_surprise(e[0], data[0], row).mean,
                  idm_explanation_surprise(e[1], data[1], row).mean, 1e-7);
    }
    for (size_t u = 0; u < 3; u++)
      assert_near(explained_mean(e[0], row, IDM_EXPLAIN_RATIONAL_AT_BELIEF, u),
                  explained_mean(e[1], row, IDM_EXPLAIN_RATIONAL_AT_BELIEF, action[u]), 1e-9);
  }
  assert_near(e[0]->person[0].reaction.mean, e[1]->person[0].reaction.mean, 1e-7);
  assert_near(e[0]->person[0].base_rate.mean, e[1]->person[0].base_rate.mean, 1e-7);
  /* One update does not identify two coefficients. */
  for (int k = 0; k < 2; k++) {
    assert_int_equal(e[k]->person[1].updates, 1);
    assert_true(isnan(e[k]->person[1].reaction.mean));
  }
  for (int k = 0; k < 2; k++) {
    idm_explanation_destroy(e[k]);
    idm_data_destroy(data[k]);
    idm_problem_destroy(problem[k]);
  }
}

/* --- what was not recorded ------------------------------------------------------------------ */

/* After a missing observation either belief is possible: the regret is the mean over both. */
static void gaps_are_averaged_over(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2, INFINITY, 0);
  problem->agent.evaluate = IDM_LOOKAHEAD;
  idm_data *data = support_data(
      problem, "agent,action,observation\na,monitor,\na,declare_healthy,\n"
               "b,monitor,negative\nb,declare_healthy,\nc,monitor,positive\nc,declare_healthy,\n"
               "d,,positive\nd,monitor,\n");
  idm_explanation *e = explain_rows(problem, data);
  const double expected =
      (explained_mean(e, 3, IDM_EXPLAIN_REGRET, 0) + explained_mean(e, 5, IDM_EXPLAIN_REGRET, 0)) /
      2;
  assert_true(expected > 1);
  assert_near(explained_mean(e, 1, IDM_EXPLAIN_REGRET, 0), expected, 1e-9);
  assert_near(explained_mean(e, 1, IDM_EXPLAIN_RATIONAL_BELIEF, 0), 0.5, 1e-12);
  /* A row without an action has neither regret nor surprise, and is no decision. */
  assert_true(isnan(explained_mean(e, 6, IDM_EXPLAIN_REGRET, 0)));
  assert_true(isnan(idm_explanation_surprise(e, data, 6).mean));
  assert_int_equal(e->person[3].decisions, 1);
  assert_true(isfinite(e->person[3].regret));
  idm_explanation_destroy(e);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* If the environment is unknown, the mean model is used instead, with a note. */
static void the_mean_model_stands_in(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      "states: [a, b]\nactions: [look, stop]\nobservations: [x, y]\ndiscount: 0.9\n"
      "ends: [stop]\nutility: {look: -1, stop: [4, -6]}\nmodels:\n"
      "  - {transition: {look: identity, stop: uniform}, observation: {'*': [[0.9, 0.1], "
      "[0.1, 0.9]]}}\n"
      "  - {transition: {look: identity, stop: uniform}, observation: {'*': [[0.5, 0.5], "
      "[0.5, 0.5]]}}\n"
      "agent: {alpha: 2, resolution: 50}\n");
  idm_data *data = support_data(problem, "agent,action,observation\na,look,x\na,stop,\n");
  idm_notes notes = {0};
  idm_explanation *e;
  check(idm_explain_log(problem, NULL, data, NULL, &e, &notes, &support_error));
  assert_near(explained_mean(e, 1, IDM_EXPLAIN_RATIONAL_BELIEF, 0), 0.7, 1e-12);
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "mean of the agent's models"));
  idm_notes_clear(&notes);
  idm_explanation_destroy(e);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- lists ---------------------------------------------------------------------------------- */

static void delays_are_counted(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2, INFINITY, 0);
  problem->agent.evaluate = IDM_LOOKAHEAD;
  idm_data *data = support_data(
      problem, "agent,trajectory,action,observation\n"
               "a,late,monitor,positive\na,late,monitor,positive\na,late,monitor,positive\n"
               "a,late,monitor,positive\na,late,monitor,positive\na,late,declare_diseased,\n"
               "a,early,declare_healthy,\n"
               "b,open,monitor,positive\nb,open,monitor,positive\nb,open,monitor,positive\n"
               "b,open,monitor,positive\n"
               "b,fair,monitor,positive\nb,fair,monitor,positive\nb,fair,monitor,positive\n"
               "b,fair,declare_diseased,\n");
  idm_explanation *e = explain_rows(problem, data);
  /* The environment's test is right in 70 %: three positives are enough. */
  const struct {
    size_t step, due;
    long delayed;
    bool censored;
  } expected[] = {{6, 4, 2, false}, {1, 0, -1, false}, {5, 4, 1, true}, {4, 4, 0, false}};
  for (size_t t = 0; t < 4; t++) {
    assert_int_equal(e->one[t].step, expected[t].step);
    assert_int_equal(e->one[t].due, expected[t].due);
    assert_int_equal(e->one[t].delayed, expected[t].delayed);
    assert_int_equal(e->one[t].censored, expected[t].censored);
  }
  assert_int_equal(e->delayed, 2);
  assert_int_equal(e->delayed_case[0], 0);
  assert_int_equal(e->delayed_case[1], 2);
  assert_int_equal(data->first[1], e->surprising_row[0]); /* the early declaration */
  for (size_t i = 1; i < e->surprising; i++)
    assert_true(idm_explanation_surprise(e, data, e->surprising_row[i - 1]).mean >=
                idm_explanation_surprise(e, data, e->surprising_row[i]).mean);
  /* The list contains only actions less probable than one in three. */
  size_t improbable = 0;
  for (size_t row = 0; row < data->rows; row++)
    improbable += idm_explanation_surprise(e, data, row).mean > log(3) + 1e-9;
  assert_true(improbable < 10);
  assert_int_equal(e->surprising, improbable);
  idm_explanation_destroy(e);

  /* Another action is due, a list of one trajectory, and a shorter list. */
  const idm_explain_settings settings = {.due = 2, .top = 3, .trajectory = 1, .draws = 1000};
  check(idm_explain_log(problem, NULL, data, &settings, &e, NULL, &support_error));
  assert_int_equal(e->surprising, 1);
  assert_int_equal(e->one[1].due, 1); /* monitor was due and never taken */
  assert_true(e->one[1].censored && e->one[1].delayed == 1);
  assert_int_equal(e->one[0].delayed, 0);
  idm_explanation_destroy(e);
  idm_data_destroy(data);

  /* A due action before it is due does not end the sum of regret. */
  problem->setting->ends[0] = problem->setting->ends[1] = false;
  data = support_data(problem, "agent,trajectory,action,observation\n"
                               "a,both,declare_healthy,negative\na,both,monitor,positive\n"
                               "a,both,monitor,positive\na,both,monitor,positive\n"
                               "a,both,declare_healthy,\n");
  const idm_explain_settings healthy = {.due = 0, .top = 3, .trajectory = -1, .draws = 1};
  check(idm_explain(problem, NULL, data, &healthy, &e, NULL, &support_error));
  double regret = 0;
  for (size_t row = 0; row < 5; row++)
    regret += idm_explanation_interval(e, row, IDM_EXPLAIN_REGRET, 0).mean;
  assert_true(idm_explanation_interval(e, 4, IDM_EXPLAIN_REGRET, 0).mean > 1);
  assert_near(e->one[0].regret, regret, 1e-12);
  assert_true(e->one[0].step == 1 && !e->one[0].due && !e->one[0].censored);
  assert_int_equal(e->one[0].delayed, -1);
  idm_explanation_destroy(e);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Only decisions are ranked: a row with a single available action has no surprise, and neither has
 * a missed response, which is not the action that is due either. */
static void forced_actions_are_not_ranked(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2, INFINITY, 0);
  SUPPORT_NAMES(&problem->columns.missed, "late");
  problem->columns.missed_action = 3;
  idm_data *data = support_data(problem, "agent,action,observation,available\n"
                                         "a,late,negative,\na,declare_healthy,,declare_healthy\n");
  const idm_explain_settings settings = {.due = 2, .top = 3, .trajectory = -1, .draws = 1};
  idm_explanation *due;
  check(idm_explain_log(problem, NULL, data, &settings, &due, NULL, &support_error));
  assert_true(due->one[0].censored);
  idm_explanation_destroy(due);
  idm_explanation *e = explain_rows(problem, data);
  assert_int_equal(e->surprising, 0);
  assert_int_equal(e->person[0].decisions, 0);
  for (size_t row = 0; row < 2; row++) {
    assert_near(idm_explanation_surprise(e, data, row).mean, 0, 0);
    assert_near(explained_mean(e, row, IDM_EXPLAIN_REGRET, 0), 0, 0);
  }
  idm_explanation_destroy(e);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A learner's missed response has no regret, and the sum over other rows is unaffected. */
static void missed_responses_are_not_regretted(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      "states: 1\nactions: [left, right]\ndiscount: 0\nutility: {left: 1, right: 0.25}\n"
      "agent: {planner: td-learner}\ndata: {missed: late}\n");
  idm_data *data =
      support_data(problem, "agent,action,reward\na,right,0\na,late,\na,left,1\na,right,0\n");
  idm_explanation *e = explain_rows(problem, data);
  assert_true(isnan(explained_mean(e, 1, IDM_EXPLAIN_REGRET, 0)));
  assert_near(e->one[0].regret, 2 * 0.75, 1e-12);
  assert_int_equal(e->person[0].decisions, 3);
  idm_explanation_destroy(e);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- draws ---------------------------------------------------------------------------------- */

/* Over draws, with the discount inferred too: means of the values of each draw. */
static void draws_are_averaged_over(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2, 1.25, 0.001);
  check(idm_problem_set_free(problem, "alpha,discount", &support_error));
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 10, .steps = 5, .seed = 2});
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.chains = 1;
  settings.draws = 8;
  settings.warmup = 30;
  idm_posterior *posterior = NULL;
  check(idm_inverse_fit(idm_inverse_find("bayes"), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  idm_explanation *all;
  check(idm_explain_log(problem, posterior, data, NULL, &all, NULL, &support_error));
  idm_parameters *parameters;
  check(idm_parameters_create(problem, &parameters, &support_error));
  double regret[8], every[8], noise = 0, reaction = 0, sum = 0;
  size_t row = 0;
  while (!(explained_mean(all, row, IDM_EXPLAIN_REGRET, 0) > 0)) row++;
  for (size_t i = 0; i < 8; i++) {
    check(idm_posterior_theta(posterior, parameters, 0, i, problem->theta, &support_error));
    idm_explanation *one = explain_rows(problem, data);
    sum += every[i] = regret[i] = explained_mean(one, row, IDM_EXPLAIN_REGRET, 0);
    noise += one->person[0].noise.mean / 8;
    reaction += one->person[0].reaction.mean / 8;
    idm_explanation_destroy(one);
  }
  assert_near(explained_mean(all, row, IDM_EXPLAIN_REGRET, 0), sum / 8, 1e-7);
  assert_near(idm_explanation_interval(all, row, IDM_EXPLAIN_REGRET, 0).high,
              idm_quantile(regret, 8, 0.95), 1e-7);
  assert_near(all->person[0].noise.mean, noise, 1e-9);
  assert_near(all->person[0].reaction.mean, reaction, 1e-7);
  assert_true(all->person[0].noise.low < noise && noise < all->person[0].noise.high);
  /* Every other draw. */
  idm_explain_settings fewer;
  idm_explain_settings_default(&fewer);
  fewer.draws = 4;
  idm_explanation *some;
  check(idm_explain_log(problem, posterior, data, &fewer, &some, NULL, &support_error));
  assert_near(explained_mean(some, row, IDM_EXPLAIN_REGRET, 0),
              (every[0] + every[2] + every[4] + every[6]) / 4, 1e-7);
  idm_explanation_destroy(some);
  fewer.draws = 0;
  idm_error error = {0};
  assert_int_equal(idm_explain_log(problem, posterior, data, &fewer, &some, NULL, &error),
                   IDM_USAGE);
  idm_parameters_destroy(parameters);
  idm_explanation_destroy(all);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Sparse transitions give the same explanations as dense ones. */
static void rows_are_matrices(void **state)
{
  (void)state;
#define WALK "states: [a, b, c]\nactions: [x, y]\nobservations: states\nstart: a\ndiscount: 0.9\n"
#define REST                                                                                       \
  "utility: {x: [1, 0, -0.5], y: [0, 0.7, 0.4]}\nagent: {planner: bounded-rational, alpha: 0.5}\n"
  idm_problem *rows =
      support_yaml(WALK "transition: {x: {a: {a: 0.7, b: 0.3}, b: {b: 0.6, c: 0.4}, c: {a: 1}},\n"
                        "  y: {a: {c: 1}, b: {a: 0.4, c: 0.6}, c: {b: 0.9, c: 0.1}}}\n" REST);
  idm_problem *matrices =
      support_yaml(WALK "transition: {x: [[0.7, 0.3, 0], [0, 0.6, 0.4], [1, 0, 0]],\n"
                        "  y: [[0, 0, 1], [0.4, 0, 0.6], [0, 0.9, 0.1]]}\n" REST);
#undef WALK
#undef REST
  assert_non_null(rows->setting->moves);
  assert_null(matrices->setting->moves);
  idm_data *data =
      support_simulate(matrices, (idm_simulation){.trajectories = 30, .steps = 10, .seed = 3});
  idm_explanation *e[2] = {explain_rows(rows, data), explain_rows(matrices, data)};
  double regret = 0;
  for (size_t row = 0; row < data->rows; row++) {
    for (int part = IDM_EXPLAIN_BELIEF; part <= IDM_EXPLAIN_REGRET; part++)
      assert_near(explained_mean(e[0], row, (idm_explain_part)part, 0),
                  explained_mean(e[1], row, (idm_explain_part)part, 0), 1e-9);
    regret += explained_mean(e[1], row, IDM_EXPLAIN_REGRET, 0);
  }
  assert_true(regret > 0.1);
  for (int k = 0; k < 2; k++) idm_explanation_destroy(e[k]);
  idm_data_destroy(data);
  idm_problem_destroy(rows);
  idm_problem_destroy(matrices);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(regret_is_that_of_exhaustive_lookahead),
      cmocka_unit_test(variants_starts_and_open_actions),
      cmocka_unit_test(the_rational_agent_regrets_nothing),
      cmocka_unit_test(bayes_has_coefficients_of_one),
      cmocka_unit_test(overreaction_is_measured),
      cmocka_unit_test(relabelling_changes_nothing),
      cmocka_unit_test(gaps_are_averaged_over),
      cmocka_unit_test(the_mean_model_stands_in),
      cmocka_unit_test(delays_are_counted),
      cmocka_unit_test(forced_actions_are_not_ranked),
      cmocka_unit_test(missed_responses_are_not_regretted),
      cmocka_unit_test(draws_are_averaged_over),
      cmocka_unit_test(rows_are_matrices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
