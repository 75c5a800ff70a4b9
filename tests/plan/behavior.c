/* Tests the requirements on every behaviour, and likelihoods over the tree of histories against a
 * direct loop over agents and trajectories. */
#include "plan/learner_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ACTIONS = 3, PROBABILITIES = SUPPORT_STEPS * ACTIONS };
static const support_shape shape = {
    .states = 2, .actions = ACTIONS, .observations = 3, .models = 2, .resolution = 12};

/* A problem with its workspace and behaviour. */
typedef struct scene {
  idm_problem *problem;
  idm_workspace *workspace;
  idm_behavior b;
} scene;

/* Moves numbers of the planner's own from the end of their range to its interior, so that they have
 * an effect and two-sided differences exist. */
static void move_inside(idm_theta *theta)
{
  for (size_t id = IDM_BLOCK_COUNT; id < theta->blocks; id++) {
    const idm_block *block = &theta->block[id];
    const bool ends =
        block->info->support == IDM_FRACTION || block->info->support == IDM_NOT_NEGATIVE;
    for (size_t i = 0; ends && block->info->scales && i < block->size; i++)
      if (block->value[i] == 0) block->value[i] = 0.15;
  }
}

static scene open_scene(const idm_planner *planner, idm_recognition recognition, bool habitual,
                        idm_random *random)
{
  scene s = {.problem = support_any(planner, shape, random)};
  if (habitual) {
    idm_theta_set_scalar(s.problem->theta, IDM_PERSEVERANCE, 0.8);
    idm_theta_set_scalar(s.problem->theta, IDM_LAPSE, 0.1);
    move_inside(s.problem->theta);
  }
  /* Free, so that derivatives by parameters of the beliefs are computed. */
  s.problem->theta->block[IDM_PRIOR_WEIGHT].role = IDM_DESCRIPTIVE;
  s.problem->agent.recognition = recognition;
  s.workspace = support_plan(s.problem, NULL);
  s.b = idm_workspace_behavior(s.workspace);
  return s;
}

static void close_scene(scene *s)
{
  idm_workspace_destroy(s->workspace);
  idm_problem_destroy(s->problem);
}

static void *new_agent(const scene *s)
{
  void *memory;
  check(s->b.ops->memory_create(s->b.content, &memory, &support_error));
  check(s->b.ops->begin_agent(s->b.content, memory, &support_error));
  return memory;
}

static void begin(const scene *s, void *before, void *after)
{
  check(s->b.ops->begin_trajectory(s->b.content, before, after, 0, NULL, &support_error));
}

static void act(const scene *s, void *memory, const bool *opt_available, double *probability)
{
  check(s->b.ops->act(s->b.content, memory, opt_available, probability, &support_error));
}

static void observe(const scene *s, void *before, void *after, const support_history *h, size_t t)
{
  support_observe(s->b, before, after,
                  (idm_event){.action = h->action[t],
                              .observation = h->observation[t],
                              .reward = h->reward[t]});
}

/* Runs a test for every planner, with mean and with sampled recognition, with and without
 * perseverance and lapse. */
static void for_every_behavior(uint64_t seed, void (*test)(const scene *, idm_random *))
{
  idm_random random;
  idm_random_init(&random, seed, 0);
  for (size_t i = 0; support_planner_at(i); i++)
    for (int kind = 0; kind < 4; kind++) {
      scene s = open_scene(support_planner_at(i), (idm_recognition)(kind % 2), kind / 2, &random);
      test(&s, &random);
      close_scene(&s);
    }
}

/* --- the table ------------------------------------------------------------------------------ */

static void tables_are_complete(void **state)
{
  (void)state;
  for (size_t i = 0; support_planner_at(i); i++) {
    const idm_behavior_ops *ops = idm_planner_behavior(support_planner_at(i));
    assert_non_null(ops);
    assert_true(ops->memory_create && ops->memory_destroy && ops->begin_agent &&
                ops->begin_trajectory && ops->act && ops->observe);
    assert_int_equal(ops->scope & ~(unsigned)(IDM_SCOPE_AGENT | IDM_SCOPE_REWARD), 0);
    /* A behaviour that learns from rewards declares that the log must contain them. */
    if (ops->scope & IDM_SCOPE_REWARD)
      assert_true(support_planner_at(i)->needs & IDM_NEEDS_REWARDS);
    if (ops->derivative)
      assert_true(ops->derivative->possible && ops->derivative->create &&
                  ops->derivative->destroy && ops->derivative->run);
  }
}

/* --- decisions ------------------------------------------------------------------------------ */

static void check_logarithms(const scene *s, void *memory, const bool *open, const double *p)
{
  for (size_t u = 0; s->b.ops->log_act && u < ACTIONS; u++) {
    double log_p;
    check(s->b.ops->log_act(s->b.content, memory, open, u, &log_p, &support_error));
    assert_near(exp(log_p), p[u], 1e-12);
    if (p[u] > 1e-200) assert_near(log_p, log(p[u]), 1e-10);
    if (open && !open[u]) assert_true(log_p == -INFINITY);
  }
}

static void check_decisions(const scene *s, void *memory)
{
  double all[ACTIONS], p[ACTIONS], again[ACTIONS];
  act(s, memory, NULL, all);
  for (unsigned set = 1; set < 1u << ACTIONS; set++) {
    bool open[ACTIONS];
    double sum = 0;
    for (size_t u = 0; u < ACTIONS; u++) open[u] = set >> u & 1;
    act(s, memory, open, p);
    for (size_t u = 0; u < ACTIONS; u++) {
      assert_true(open[u] ? p[u] >= 0 : p[u] == 0);
      sum += p[u];
    }
    assert_near(sum, 1, 1e-10);
    /* Equal to the last bit: an act with a restricted set leaves no trace in the memory. */
    act(s, memory, NULL, again);
    assert_memory_equal(again, all, sizeof again);
    check_logarithms(s, memory, open, p);
    /* The set of all actions is equivalent to no set. */
    if (set == (1u << ACTIONS) - 1)
      for (size_t u = 0; u < ACTIONS; u++) assert_near(p[u], all[u], 1e-12);
  }
  act(s, memory, NULL, all);
  check_logarithms(s, memory, NULL, all);
}

static void test_decisions(const scene *s, idm_random *random)
{
  const support_history h = support_happen(s->problem->setting, random);
  void *memory = new_agent(s);
  begin(s, memory, memory);
  for (size_t t = 0; t < SUPPORT_STEPS; t++) {
    check_decisions(s, memory);
    observe(s, memory, memory, &h, t);
  }
  s->b.ops->memory_destroy(memory);
}

static void decisions_are_distributions_over_the_open(void **state)
{
  (void)state;
  for_every_behavior(91, test_decisions);
}

/* --- memories ------------------------------------------------------------------------------- */

/* Updating in place and into another memory are equivalent, and the source memory stays valid: the
 * same step can be taken from it again. */
static void test_memories(const scene *s, idm_random *random)
{
  const support_history h = support_happen(s->problem->setting, random);
  void *here = new_agent(s), *before = new_agent(s), *after = new_agent(s), *other = new_agent(s);
  begin(s, here, here);
  begin(s, other, before);
  for (size_t t = 0; t < SUPPORT_STEPS; t++) {
    double p[ACTIONS], q[ACTIONS], r[ACTIONS];
    act(s, here, NULL, p);
    act(s, before, NULL, q);
    assert_memory_equal(p, q, sizeof p);
    observe(s, before, other, &h, (t + 1) % SUPPORT_STEPS); /* an event that did not occur */
    observe(s, before, after, &h, t);
    act(s, before, NULL, q);
    assert_memory_equal(p, q, sizeof p);
    observe(s, before, other, &h, t);
    observe(s, here, here, &h, t);
    act(s, here, NULL, p);
    act(s, after, NULL, q);
    act(s, other, NULL, r);
    assert_memory_equal(p, q, sizeof p);
    assert_memory_equal(p, r, sizeof p);
    void *swapped = before;
    before = after;
    after = swapped;
  }
  void *const all[] = {here, before, after, other};
  for (size_t i = 0; i < 4; i++) s->b.ops->memory_destroy(all[i]);
}

static void memories_are_independent(void **state)
{
  (void)state;
  for_every_behavior(92, test_memories);
}

/* The mean belief, if there is one, is a distribution. */
static void test_beliefs(const scene *s, idm_random *random)
{
  if (!s->b.ops->belief) return;
  const support_history h = support_happen(s->problem->setting, random);
  void *memory = new_agent(s);
  begin(s, memory, memory);
  for (size_t t = 0; t < SUPPORT_STEPS; t++) {
    double z[2], p[ACTIONS];
    act(s, memory, NULL, p);
    observe(s, memory, memory, &h, t);
    s->b.ops->belief(s->b.content, memory, z);
    assert_true(z[0] >= 0 && z[1] >= 0);
    assert_near(z[0] + z[1], 1, 1e-12);
  }
  s->b.ops->memory_destroy(memory);
}

static void beliefs_are_distributions(void **state)
{
  (void)state;
  for_every_behavior(93, test_beliefs);
}

/* A memory with the scope of a trajectory is reset with it; every memory is reset with its agent.
 */
static void test_scope(const scene *s, idm_random *random)
{
  const support_history h[2] = {support_happen(s->problem->setting, random),
                                support_happen(s->problem->setting, random)};
  double alone[2][PROBABILITIES], first[2][PROBABILITIES], second[2][PROBABILITIES];
  void *memory = new_agent(s), *fresh = new_agent(s);
  for (size_t k = 0; k < 2; k++) {
    support_live_alone(s->b, &h[k], ACTIONS, alone[k]);
    support_live(s->b, memory, &h[k], ACTIONS, first[k]);
  }
  assert_memory_equal(first[0], alone[0], sizeof alone[0]);
  const bool forgets = memcmp(first[1], alone[1], sizeof alone[1]) == 0;
  assert_int_equal(forgets, !(s->b.ops->scope & IDM_SCOPE_AGENT));
  /* The same complete history gives the same probabilities in a used memory and in a new one. */
  check(s->b.ops->begin_agent(s->b.content, memory, &support_error));
  for (size_t k = 0; k < 2; k++) support_live(s->b, memory, &h[k], ACTIONS, second[k]);
  assert_memory_equal(second, first, sizeof first);
  for (size_t k = 0; k < 2; k++) support_live(s->b, fresh, &h[k], ACTIONS, second[k]);
  assert_memory_equal(second, first, sizeof first);
  s->b.ops->memory_destroy(memory);
  s->b.ops->memory_destroy(fresh);
}

static void memories_last_as_their_scope_says(void **state)
{
  (void)state;
  for_every_behavior(94, test_scope);
}

static void test_rewards(const scene *s, idm_random *random)
{
  support_history h = support_happen(s->problem->setting, random);
  double first[PROBABILITIES], second[PROBABILITIES];
  support_live_alone(s->b, &h, ACTIONS, first);
  for (size_t t = 0; t < SUPPORT_STEPS; t++) h.reward[t] += 1;
  support_live_alone(s->b, &h, ACTIONS, second);
  assert_int_equal(memcmp(first, second, sizeof first) != 0,
                   (s->b.ops->scope & IDM_SCOPE_REWARD) != 0);
}

static void rewards_matter_as_the_scope_says(void **state)
{
  (void)state;
  for_every_behavior(95, test_rewards);
}

/* --- likelihood ----------------------------------------------------------------------------- */

enum { AGENTS = 3, TRAJECTORIES = 40, LENGTH = 5, SETS = 4 };

/* Restricts the available actions of some rows to sets that include the chosen action. */
static void close_actions(idm_data *data, idm_random *random)
{
  static const bool sets[SETS][ACTIONS] = {{1, 1, 1}, {1, 1, 0}, {0, 1, 1}, {0, 0, 1}};
  free(data->available_set);
  data->available_set = malloc(sizeof sets);
  assert_non_null(data->available_set);
  memcpy(data->available_set, sets, sizeof sets);
  data->available_sets = SETS;
  for (size_t row = 0; row < data->rows; row++) {
    const size_t set = (size_t)(idm_random_uniform(random) * SETS);
    if (sets[set][data->action[row]]) data->available[row] = (uint32_t)set;
  }
}

/* Makes some cells missing. */
static void forget_cells(idm_data *data, idm_random *random)
{
  for (size_t row = 0; row < data->rows; row++) {
    if (idm_random_uniform(random) < 0.1) data->observation[row] = IDM_MISSING;
    if (idm_random_uniform(random) < 0.05) data->action[row] = IDM_MISSING;
  }
}

static idm_data *simulate(const scene *s, idm_random *random)
{
  idm_simulation simulation = {.trajectories = TRAJECTORIES,
                               .steps = LENGTH,
                               .seed = (uint64_t)(1e9 * idm_random_uniform(random)),
                               .agents = AGENTS};
  idm_data *data;
  idm_simulation_adapt(&simulation, s->problem);
  check(idm_simulate(s->problem->setting, s->b, &simulation, &data, &support_error));
  close_actions(data, random);
  return data;
}

/* The likelihood by its definition: agent by agent, trajectory by trajectory, row by row. */
static double plain_score(const scene *s, const idm_data *data)
{
  double total = 0;
  for (size_t a = 0; a < data->agent_name.count; a++) {
    void *memory = new_agent(s);
    for (size_t t = 0; t < data->trajectories; t++) {
      if (data->agent[t] != a) continue;
      const int32_t start = data->start[t];
      check(s->b.ops->begin_trajectory(
          s->b.content, memory, memory, 0,
          start < 0 ? NULL : data->start_belief + (size_t)start * data->sizes.states,
          &support_error));
      for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
        const bool *open = data->available_set + data->available[row] * ACTIONS;
        double p[ACTIONS];
        act(s, memory, open, p);
        if (data->action[row] != IDM_MISSING && !idm_data_missed(data, row))
          total += log(p[data->action[row]]);
        /* A missing last observation carries no information. */
        if (row + 1 < data->first[t + 1] || data->observation[row] != IDM_MISSING ||
            s->b.ops->scope & IDM_SCOPE_AGENT)
          total += support_observe(s->b, memory, memory, support_event(data, t, row));
      }
    }
    s->b.ops->memory_destroy(memory);
  }
  return total;
}

static double tree_score(const scene *s, const idm_data *data, const idm_prefix_tree *tree)
{
  idm_scorer *scorer;
  idm_score score, again;
  double agents[AGENTS], sum = 0, trajectories = 0;
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  check(idm_scorer_run(scorer, s->b, &score, &support_error));
  check(idm_scorer_run(scorer, s->b, &again, &support_error));
  assert_true(score.log_likelihood == again.log_likelihood);
  assert_int_equal(score.decisions + score.forced + score.missed + score.unrecorded, data->rows);
  idm_scorer_agents(scorer, agents);
  for (size_t a = 0; a < AGENTS; a++) sum += agents[a];
  for (size_t t = 0; t < data->trajectories; t++) trajectories += idm_scorer_trajectory(scorer, t);
  assert_near(sum, score.log_likelihood, 1e-11);
  assert_near(trajectories, score.log_likelihood, 1e-11);
  idm_scorer_destroy(scorer);
  return score.log_likelihood;
}

static void expect_plain(const scene *s, const idm_data *data)
{
  idm_prefix_tree *tree;
  check(idm_data_validate(data, s->problem->setting, &support_error));
  check(idm_evidence_tree(s->problem, data, &tree, &support_error));
  assert_int_equal(tree->scope, s->b.ops->scope);
  const double plain = plain_score(s, data);
  assert_true(isfinite(plain));
  assert_near(tree_score(s, data, tree), plain, 1e-10);
  idm_prefix_tree_destroy(tree);
}

/* Returns an action after which a trajectory continues. */
static int idle_action(const scene *s)
{
  int u = 0;
  while (s->problem->setting->ends[u] || s->problem->setting->terminal[u]) u++;
  return u;
}

static void test_likelihood(const scene *s, idm_random *random)
{
  idm_data *data = simulate(s, random);
  expect_plain(s, data);
  if (!(idm_workspace_planner(s->workspace)->needs & IDM_NEEDS_ACTIONS)) {
    forget_cells(data, random);
    expect_plain(s, data);
  }
  idm_data_destroy(data);
}

/* A log with missed responses. The problem's action determines their transition, or nothing does if
 * the behaviour allows it; other behaviours reject the log without such an action. */
static void test_missed(const scene *s, idm_random *random)
{
  idm_data *like = simulate(s, random), *data;
  support_miss(like, s->problem->setting, idle_action(s), 0.2, random);
  idm_simulation simulation = {.seed = 6, .opt_design_log = like};
  idm_simulation_adapt(&simulation, s->problem);
  check(idm_simulate(s->problem->setting, s->b, &simulation, &data, &support_error));
  idm_data_destroy(like);
  expect_plain(s, data);
  for (size_t row = 0; row < data->rows; row++)
    if (idm_data_missed(data, row)) data->action[row] = IDM_MISSING;
  if (s->b.ops->accepts_no_action) {
    expect_plain(s, data);
  } else {
    idm_prefix_tree *tree;
    assert_int_equal(idm_evidence_tree(s->problem, data, &tree, &support_error), IDM_INPUT);
    assert_non_null(strstr(support_error.message, "a missed response without an action"));
  }
  idm_data_destroy(data);
}

static void trees_score_as_a_plain_loop(void **state)
{
  (void)state;
  for_every_behavior(96, test_likelihood);
}

static void missed_responses_are_no_decisions(void **state)
{
  (void)state;
  for_every_behavior(98, test_missed);
}

/* --- derivatives ---------------------------------------------------------------------------- */

/* Returns whether the derivative is 0 by definition: see idm_gradient_run. */
static bool without_slope(size_t id)
{
  return id == IDM_CERTAINTY || id == IDM_BELIEF_PRIOR;
}

/* The log-likelihood with a number of theta moved by `step`: along the simplex for a distribution,
 * by its reciprocal where the descriptor requires it. */
static double moved(const scene *s, idm_scorer *scorer, size_t id, size_t i, double step)
{
  idm_theta *theta;
  idm_score score;
  check(idm_theta_copy(s->problem->theta, &theta, &support_error));
  const idm_block_info *info = theta->block[id].info;
  double *value = theta->block[id].value;
  value[i] = info->reciprocal ? 1 / (1 / value[i] + step) : value[i] + step;
  if (info->support == IDM_DISTRIBUTION)
    value[i - i % idm_block_width(info, theta->sizes, theta->models)] -= step;
  check(idm_plan(theta, NULL, s->workspace, NULL, &support_error));
  check(idm_scorer_run(scorer, s->b, &score, &support_error));
  idm_theta_destroy(theta);
  return score.log_likelihood;
}

/* A fourth-order difference, so that the remaining error is the tolerance of the plans. */
static double difference(const scene *s, idm_scorer *scorer, size_t id, size_t i, double h)
{
  const double wide = moved(s, scorer, id, i, 2 * h) - moved(s, scorer, id, i, -2 * h);
  const double narrow = moved(s, scorer, id, i, h) - moved(s, scorer, id, i, -h);
  return (8 * narrow - wide) / (12 * h);
}

static size_t compared, at_kinks;

static void compare_block(const scene *s, idm_scorer *scorer, const idm_theta *derivative,
                          size_t id)
{
  const idm_block *block = &derivative->block[id];
  const bool along = block->info->support == IDM_DISTRIBUTION;
  if (block->info->tied) return;    /* by rows: see believer/slope.c */
  if (!block->info->scales) return; /* never free, so no derivative is computed */
  const size_t width = idm_block_width(block->info, derivative->sizes, derivative->models);
  for (size_t i = 0; i < block->size; i++) {
    if (along && i % width == 0) continue; /* the other entries of a row move against the first */
    /* At an end of the range there are no two-sided differences. */
    if ((block->info->support == IDM_FRACTION || block->info->support == IDM_NOT_NEGATIVE) &&
        s->problem->theta->block[id].value[i] == 0)
      continue;
    const double expected = difference(s, scorer, id, i, 1e-4);
    const double found = block->value[i] - (along ? block->value[i - i % width] : 0);
    /* At a kink, such as a tie of two largest values, there is no derivative. */
    const bool kink =
        fabs(expected - difference(s, scorer, id, i, 2e-5)) > 1e-4 * fmax(1, fabs(expected));
    (kink ? &at_kinks : &compared)[0]++;
    if (kink) continue;
    if (fabs(found - expected) > 2e-4 * fmax(1, fabs(expected)))
      fail_msg("'%s': the slope in %s[%zu] is %.9g, by differences %.9g",
               idm_workspace_planner(s->workspace)->name, block->info->name, i, found, expected);
  }
}

static void test_slope(const scene *s, idm_random *random)
{
  idm_data *data = simulate(s, random);
  idm_prefix_tree *tree;
  support_miss(data, s->problem->setting, idle_action(s), 0.1, random);
  check(idm_evidence_tree(s->problem, data, &tree, &support_error));
  if (idm_gradient_possible(data, tree, s->workspace)) {
    idm_gradient *gradient;
    idm_scorer *scorer;
    idm_theta *derivative;
    double log_likelihood;
    check(idm_theta_copy(s->problem->theta, &derivative, &support_error));
    for (size_t id = 0; id < derivative->blocks; id++) derivative->block[id].role = IDM_DESCRIPTIVE;
    check(idm_gradient_create(data, tree, s->workspace, &gradient, &support_error));
    check(idm_scorer_create(data, tree, &scorer, &support_error));
    check(idm_gradient_run(gradient, &log_likelihood, derivative, &support_error));
    assert_near(log_likelihood, tree_score(s, data, tree), 1e-10);
    const idm_planner *planner = idm_workspace_planner(s->workspace);
    for (size_t id = 0; id < derivative->blocks; id++) {
      if (idm_planner_reads(planner, id) && !without_slope(id)) {
        compare_block(s, scorer, derivative, id);
        continue;
      }
      for (size_t i = 0; i < derivative->block[id].size; i++)
        assert_true(derivative->block[id].value[i] == 0);
    }
    idm_scorer_destroy(scorer);
    idm_gradient_destroy(gradient);
    idm_theta_destroy(derivative);
  }
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
}

static void slopes_are_those_of_differences(void **state)
{
  (void)state;
  for_every_behavior(97, test_slope);
  print_message("%zu compared, %zu at kinks\n", compared, at_kinks);
  assert_true(compared > 400 && 50 * at_kinks < compared);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_are_complete),
      cmocka_unit_test(decisions_are_distributions_over_the_open),
      cmocka_unit_test(memories_are_independent),
      cmocka_unit_test(beliefs_are_distributions),
      cmocka_unit_test(memories_last_as_their_scope_says),
      cmocka_unit_test(rewards_matter_as_the_scope_says),
      cmocka_unit_test(trees_score_as_a_plain_loop),
      cmocka_unit_test(missed_responses_are_no_decisions),
      cmocka_unit_test(slopes_are_those_of_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
