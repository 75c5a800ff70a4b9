/* td-learner against a plain loop over agents, trajectories and rows; its slope against
 * differences; who shares a memory; what it refuses. */
#include "plan/tabular/td_learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/learner_support.h"

enum { STATES = 3, ACTIONS = 3, AGENTS = 4, TRAJECTORIES = 14, STEPS = 9 };

/* A random problem, fully observed or with hidden states, and numbers within their ranges. */
static idm_problem *draw_problem(bool observed, bool by_error, bool fictive, idm_random *random)
{
  const support_shape shape = {STATES, ACTIONS, STATES, 1, 4};
  idm_problem *p = support_problem(shape, random);
  check(idm_problem_plan_by(p, idm_planner_find("td-learner"), &support_error));
  p->setting->fully_observed = observed;
  for (size_t i = 0; observed && i < (size_t)ACTIONS * STATES * STATES; i++) {
    const double one = i / STATES % STATES == i % STATES;
    p->setting->emission[i] = p->theta->block[IDM_EMISSION].value[i] = one;
  }
  memset(p->setting->start, 0, STATES * sizeof *p->setting->start);
  p->setting->start[1] = 1;
  p->setting->ends[2] = true;
  p->agent.asymmetry = by_error ? IDM_ASYMMETRY_ERROR : IDM_ASYMMETRY_OUTCOME;
  p->agent.fictive = fictive;
  const double number[TD_OWNS] = {1.7, 0.45, 0.2, 0.15, 0.3};
  for (size_t i = 0; i < TD_OWNS; i++)
    idm_theta_set_scalar(p->theta, IDM_BLOCK_COUNT + i, number[i]);
  idm_theta_set_scalar(p->theta, IDM_DISCOUNT, 0.7);
  idm_theta_set_scalar(p->theta, IDM_PERSEVERANCE, 0.6);
  idm_theta_set_scalar(p->theta, IDM_LAPSE, 0.08);
  return p;
}

static idm_data *draw_data(const idm_problem *p, const idm_workspace *w, uint64_t seed)
{
  idm_simulation simulation = {
      .trajectories = TRAJECTORIES, .steps = STEPS, .seed = seed, .agents = AGENTS};
  idm_data *data;
  idm_simulation_suit(&simulation, p);
  check(idm_simulate(p->setting, idm_workspace_behavior(w), &simulation, &data, &support_error));
  return data;
}

/* The log-likelihood as TABLES writes it. */
static double plain_score(const idm_problem *p, const idm_data *data)
{
  double b[TD_OWNS], total = 0;
  const double kappa = idm_theta_scalar(p->theta, IDM_PERSEVERANCE);
  const double lapse = idm_theta_scalar(p->theta, IDM_LAPSE);
  const double discount = idm_theta_scalar(p->theta, IDM_DISCOUNT);
  for (size_t i = 0; i < TD_OWNS; i++) b[i] = idm_theta_scalar(p->theta, IDM_BLOCK_COUNT + i);
  for (size_t a = 0; a < data->agent_name.count; a++) {
    double q[STATES][ACTIONS];
    for (size_t i = 0; i < (size_t)STATES * ACTIONS; i++)
      q[i / ACTIONS][i % ACTIONS] = b[TD_INITIAL];
    for (size_t t = 0; t < data->trajectories; t++) {
      size_t s = p->setting->fully_observed ? 1 : 0;
      int last = -1;
      for (size_t r = data->first[t]; data->agent[t] == a && r < data->first[t + 1]; r++) {
        const int u = data->action[r];
        double sum = 0, best = -INFINITY;
        for (int v = 0; v < ACTIONS; v++) sum += exp(b[0] * q[s][v] + kappa * (v == last));
        total +=
            log((1 - lapse) * exp(b[0] * q[s][u] + kappa * (u == last)) / sum + lapse / ACTIONS);
        const bool ends = p->setting->ends[u];
        const size_t next = p->setting->fully_observed && !ends ? (size_t)data->observation[r] : 0;
        for (int v = 0; v < ACTIONS; v++) best = fmax(best, q[next][v]);
        const double reward = data->number[IDM_COLUMN_REWARD][r];
        const double error = reward + (ends ? 0 : discount * best) - q[s][u];
        const bool gain = p->agent.asymmetry == IDM_ASYMMETRY_OUTCOME ? reward > 0 : error >= 0;
        const double rate = b[gain ? TD_GAIN : TD_LOSS];
        for (int v = 0; v < ACTIONS; v++)
          if (v != u)
            q[s][v] = p->agent.fictive ? q[s][v] + rate * (-reward - q[s][v])
                                       : (1 - b[TD_DECAY]) * q[s][v];
        q[s][u] += rate * error;
        s = next;
        last = u;
      }
    }
  }
  return total;
}

typedef struct bench {
  idm_problem *problem;
  idm_workspace *workspace;
  idm_data *data;
  idm_prefix_tree *tree;
  idm_scorer *scorer;
} bench;

static bench open_bench(unsigned kind, uint64_t seed)
{
  idm_random random;
  idm_random_init(&random, seed, 2);
  bench b = {.problem = draw_problem(kind & 1, kind & 2, kind & 4, &random)};
  b.workspace = support_plan(b.problem, NULL);
  b.data = draw_data(b.problem, b.workspace, seed);
  check(idm_evidence_tree(b.problem, b.data, &b.tree, &support_error));
  check(idm_scorer_create(b.data, b.tree, &b.scorer, &support_error));
  return b;
}

static void close_bench(bench *b)
{
  idm_scorer_destroy(b->scorer);
  idm_prefix_tree_destroy(b->tree);
  idm_data_destroy(b->data);
  idm_workspace_destroy(b->workspace);
  idm_problem_destroy(b->problem);
}

static double score(const bench *b, const idm_theta *theta)
{
  idm_score result;
  check(idm_plan(theta, NULL, b->workspace, NULL, &support_error));
  check(idm_scorer_run(b->scorer, idm_workspace_behavior(b->workspace), &result, &support_error));
  return result.log_likelihood;
}

static void likelihoods_are_those_of_a_plain_loop(void **state)
{
  (void)state;
  for (unsigned kind = 0; kind < 8; kind++)
    for (uint64_t seed = 1; seed < 4; seed++) {
      bench b = open_bench(kind, seed);
      assert_near(score(&b, b.problem->theta), plain_score(b.problem, b.data), 1e-12);
      close_bench(&b);
    }
}

/* --- slopes --------------------------------------------------------------------------------- */

static double moved(const bench *b, size_t id, double step)
{
  idm_theta *theta;
  check(idm_theta_copy(b->problem->theta, &theta, &support_error));
  theta->block[id].value[0] += step;
  const double found = score(b, theta);
  idm_theta_destroy(theta);
  return found;
}

static void slopes_are_those_of_differences(void **state)
{
  (void)state;
  static const size_t more[] = {IDM_DISCOUNT, IDM_PERSEVERANCE, IDM_LAPSE};
  for (unsigned kind = 0; kind < 8; kind++) {
    bench b = open_bench(kind, 5);
    idm_gradient *gradient;
    idm_theta *slope;
    double log_likelihood;
    check(idm_theta_copy(b.problem->theta, &slope, &support_error));
    assert_true(idm_gradient_possible(b.data, b.tree, b.workspace));
    check(idm_gradient_create(b.data, b.tree, b.workspace, &gradient, &support_error));
    const double expected = score(&b, b.problem->theta);
    for (int round = 0; round < 2; round++)
      check(idm_gradient_run(gradient, &log_likelihood, slope, &support_error));
    assert_near(log_likelihood, expected, 1e-12);
    for (size_t i = 0; i < TD_OWNS + 3; i++) {
      const size_t id = i < TD_OWNS ? IDM_BLOCK_COUNT + i : more[i - TD_OWNS];
      const double h = 1e-4;
      const double wide = moved(&b, id, 2 * h) - moved(&b, id, -2 * h);
      const double narrow = moved(&b, id, h) - moved(&b, id, -h);
      assert_near(slope->block[id].value[0], (8 * narrow - wide) / (12 * h), 1e-7);
    }
    idm_gradient_destroy(gradient);
    idm_theta_destroy(slope);
    close_bench(&b);
  }
}

/* --- memories ------------------------------------------------------------------------------- */

/* One agent's trajectories share a memory; given to two agents, they do not. */
static void memories_are_of_agents(void **state)
{
  (void)state;
  bench b = open_bench(1, 7);
  const double together = score(&b, b.problem->theta);
  for (size_t t = 0; t < b.data->trajectories; t++) b.data->agent[t] = 0;
  idm_scorer_destroy(b.scorer);
  idm_prefix_tree_destroy(b.tree);
  check(idm_evidence_tree(b.problem, b.data, &b.tree, &support_error));
  check(idm_scorer_create(b.data, b.tree, &b.scorer, &support_error));
  const double as_one = score(&b, b.problem->theta);
  assert_true(fabs(together - as_one) > 0.1);
  assert_near(as_one, plain_score(b.problem, b.data), 1e-12);
  close_bench(&b);
}

/* --- bad input ------------------------------------------------------------------------------ */

static void refused(const bench *b, const char *words)
{
  idm_gradient *gradient;
  idm_theta *slope;
  idm_score result;
  double log_likelihood;
  idm_error error = {0}, again = {0};
  assert_int_equal(idm_scorer_run(b->scorer, idm_workspace_behavior(b->workspace), &result, &error),
                   IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  check(idm_theta_copy(b->problem->theta, &slope, &support_error));
  check(idm_gradient_create(b->data, b->tree, b->workspace, &gradient, &support_error));
  assert_int_equal(idm_gradient_run(gradient, &log_likelihood, slope, &again), IDM_INPUT);
  /* A scorer adds where that was. */
  assert_memory_equal(again.message, error.message, strlen(again.message));
  assert_int_equal(again.line, error.line);
  idm_gradient_destroy(gradient);
  idm_theta_destroy(slope);
}

static void what_was_not_recorded_is_refused_at_its_row(void **state)
{
  (void)state;
  bench b = open_bench(1, 9);
  size_t t = 0;
  while (b.data->first[t + 1] - b.data->first[t] < 3) t++;
  const size_t at = b.data->first[t] + 1;
  for (int what = 0; what < 2; what++) {
    const bench whole = b;
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
  refused(&b, "has to know the state that a trajectory starts in");
  close_bench(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(likelihoods_are_those_of_a_plain_loop),
      cmocka_unit_test(slopes_are_those_of_differences),
      cmocka_unit_test(memories_are_of_agents),
      cmocka_unit_test(what_was_not_recorded_is_refused_at_its_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
