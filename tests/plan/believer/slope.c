/* The gradient of the log-likelihood against central differences of the scorer's, on random
 * problems with every feature of the planners. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* --- problems ------------------------------------------------------------------------------- */

/* What a random problem may have beside its numbers. */
enum feature {
  HORIZON = 1 << 0,
  TERMINAL = 1 << 1,
  VARIANTS = 1 << 2,
  AVAILABLE = 1 << 3,
  CERTAINTY = 1 << 4,
  DIRICHLET = 1 << 5,
  OBSERVATION = 1 << 6, /* surprise: observation */
  FORGET = 1 << 7,      /* the first action resets the state */
  STARTS = 1 << 8,
  BLUR = 1 << 9 /* the last action's observations say nothing */
};

typedef struct sample {
  const char *planner;
  double alpha;
  double beta;
  double eta;
  unsigned features;
  support_shape shape;
} sample;

static void same_rows(double *rows, size_t count, size_t width)
{
  for (size_t i = 1; i < count; i++) memcpy(rows + i * width, rows, width * sizeof *rows);
}

static void add_dynamics(idm_problem *problem, const sample *from)
{
  const idm_sizes n = {from->shape.states, from->shape.actions, from->shape.observations};
  const size_t last = n.actions - 1;
  for (size_t m = 0; m < from->shape.models; m++) {
    double *transition =
        problem->theta->block[IDM_TRANSITION].value + m * n.actions * n.states * n.states;
    double *emission = problem->theta->block[IDM_EMISSION].value +
                       (m * n.actions + last) * n.states * n.observations;
    if (from->features & FORGET) same_rows(transition, n.states, n.states);
    if (from->features & BLUR) same_rows(emission, n.states, n.observations);
  }
}

static idm_problem *make_problem(const sample *from, idm_evaluate evaluate, idm_random *random)
{
  idm_problem *problem = support_problem(from->shape, random);
  idm_theta *theta = problem->theta;
  const size_t pairs = from->shape.actions * from->shape.states;
  check(idm_problem_plan_by(problem, idm_planner_find(from->planner), &support_error));
  problem->agent.evaluate = evaluate;
  support_set(problem, from->alpha, from->beta, from->eta);
  idm_theta_set_scalar(theta, IDM_DISCOUNT, 0.6 + 0.3 * idm_random_uniform(random));
  idm_theta_set_scalar(theta, IDM_TEMPERATURE, 0.7);
  add_dynamics(problem, from);
  if (from->features & HORIZON) problem->setting->horizon = 5;
  if (from->features & TERMINAL) problem->setting->terminal[1] = problem->setting->ends[1] = true;
  if (from->features & OBSERVATION) problem->agent.surprise = IDM_SURPRISE_OBSERVATION;
  if (from->features & CERTAINTY) {
    theta->block[IDM_CERTAINTY].value[0] = 0.61537;
    theta->block[IDM_CERTAINTY].value[1] = 1.5;
  }
  if (from->features & DIRICHLET) {
    check(idm_theta_resize(theta, IDM_BELIEF_PRIOR, from->shape.states, 1, &support_error));
    for (size_t s = 0; s < from->shape.states; s++)
      theta->block[IDM_BELIEF_PRIOR].value[s] = 0.5 + 2 * idm_random_uniform(random);
  }
  if (from->features & VARIANTS) {
    check(idm_theta_resize(theta, IDM_UTILITY, pairs, 2, &support_error));
    for (size_t i = 0; i < 2 * pairs; i++)
      theta->block[IDM_UTILITY].value[i] = 4 * idm_random_uniform(random) - 2;
  }
  if (strcmp(from->planner, "decision-rule") == 0) {
    const size_t count = from->shape.actions * (from->shape.states + 1);
    check(idm_theta_resize(theta, IDM_WEIGHTS, count, 1, &support_error));
    for (size_t i = 0; i < count; i++)
      theta->block[IDM_WEIGHTS].value[i] = 4 * idm_random_uniform(random) - 2;
  }
  return problem;
}

/* --- data ----------------------------------------------------------------------------------- */

/* Rows drawn evenly: every action and observation, so that no policy is too sure of them. */
static void draw_rows(const idm_problem *problem, idm_data *data, idm_random *random)
{
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t i = data->first[t]; i < data->first[t + 1]; i++) {
      const bool last = i + 1 == data->first[t + 1];
      do {
        data->action[i] = (int32_t)(idm_random_uniform(random) * (double)data->sizes.actions);
      } while (!last && problem->setting->ends[data->action[i]]);
      data->observation[i] =
          (int32_t)(idm_random_uniform(random) * (double)data->sizes.observations);
    }
}

/* Two more sets of open actions: all but the first, and one alone; each row gets one that holds its
 * action. */
static void add_available(idm_data *data, idm_random *random)
{
  const size_t actions = data->sizes.actions;
  free(data->available_set);
  data->available_sets = 2 + actions;
  data->available_set = calloc((2 + actions) * actions, sizeof *data->available_set);
  assert_non_null(data->available_set);
  for (size_t u = 0; u < actions; u++) {
    data->available_set[u] = true;
    data->available_set[actions + u] = u > 0;
    data->available_set[(2 + u) * actions + u] = true;
  }
  for (size_t i = 0; i < data->rows; i++) {
    const double kind = idm_random_uniform(random);
    if (kind < 0.4 && data->action[i] > 0) data->available[i] = 1;
    if (kind > 0.8) data->available[i] = 2 + (uint32_t)data->action[i];
  }
}

static void add_starts(idm_data *data, idm_random *random)
{
  free(data->start_belief);
  data->starts = 2;
  data->start_belief = calloc(2 * data->sizes.states, sizeof *data->start_belief);
  assert_non_null(data->start_belief);
  for (size_t i = 0; i < 2; i++)
    support_distribution(random, data->start_belief + i * data->sizes.states, data->sizes.states);
  for (size_t t = 0; t < data->trajectories; t++) data->start[t] = (int32_t)(t % 3) - 1;
}

static idm_data *make_data(const idm_problem *problem, const idm_workspace *workspace,
                           unsigned features, idm_random *random)
{
  idm_data *data;
  const idm_simulation simulation = {.trajectories = 12, .steps = 4, .seed = 5};
  check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                     &support_error));
  draw_rows(problem, data, random);
  if (features & AVAILABLE) add_available(data, random);
  if (features & STARTS) add_starts(data, random);
  if (features & VARIANTS) {
    data->variants = 2;
    for (size_t t = 0; t < data->trajectories; t++) data->variant[t] = t % 2;
  }
  data->observation[data->rows - 1] = IDM_MISSING;
  return data;
}

/* --- differences ---------------------------------------------------------------------------- */

typedef struct bench {
  idm_problem *problem;
  idm_workspace *workspace;
  idm_data *data;
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_gradient *gradient;
  idm_theta *slope;
  idm_theta *moved;
  size_t compared;
  size_t skipped;
} bench;

static double score(bench *b, const idm_theta *theta)
{
  const idm_solver exact = {
      .method = IDM_NEWTON, .tolerance = 1e-13, .limit = 100, .slots = IDM_FROM_NOTHING};
  idm_score result;
  check(idm_plan(theta, &exact, b->workspace, NULL, &support_error));
  check(idm_scorer_run(b->scorer, idm_workspace_behavior(b->workspace), &result, &support_error));
  return result.log_likelihood;
}

/* Numbers that are differentiated by their inverse. */
static bool by_inverse(idm_block_id id)
{
  return id == IDM_ALPHA || id == IDM_BETA || id == IDM_TEMPERATURE;
}

/* The log-likelihood with number i of a block moved by h, and number j by -h (a direction along the
 * simplex) where j is another one. */
static double score_at(bench *b, idm_block_id id, size_t i, size_t j, double h)
{
  const idm_block *from = &b->problem->theta->block[id];
  double *to = b->moved->block[id].value;
  memcpy(to, from->value, from->size * from->variants * sizeof *to);
  to[i] = by_inverse(id) ? 1 / (1 / from->value[i] + h) : from->value[i] + h;
  if (j != i) to[j] -= h;
  const double result = score(b, b->moved);
  memcpy(to, from->value, from->size * from->variants * sizeof *to);
  return result;
}

static double central(bench *b, idm_block_id id, size_t i, size_t j, double h)
{
  return (score_at(b, id, i, j, h) - score_at(b, id, i, j, -h)) / (2 * h);
}

/* Richardson's extrapolation at two step sizes; where they disagree the likelihood has a kink (a
 * belief at the face of a cell) and nothing can be said. */
static void compare(bench *b, idm_block_id id, size_t i, size_t j, double slope)
{
  const double value = b->problem->theta->block[id].value[i];
  if (by_inverse(id) && value == 0) {
    assert_true(slope == 0);
    return;
  }
  const double h = 2e-4;
  const double fine = central(b, id, i, j, h / 4), middle = central(b, id, i, j, h / 2);
  const double coarse = central(b, id, i, j, h);
  const double best = (4 * fine - middle) / 3, second = (4 * middle - coarse) / 3;
  const double scale = fmax(1, fabs(best));
  if (!(fabs(best - second) < 2e-6 * scale)) {
    b->skipped++;
    return;
  }
  b->compared++;
  if (!(fabs(best - slope) <= 1e-5 * scale))
    print_error("%s[%zu,%zu]: %.10g by differences, %.10g by the gradient (planner %s)\n",
                idm_block_name(id), i, j, best, slope, idm_agent_planner(&b->problem->agent)->name);
  assert_near(slope, best, 1e-5);
}

static void compare_block(bench *b, idm_block_id id)
{
  const idm_block *slope = &b->slope->block[id];
  const bool simplex = id == IDM_ACTION_PRIOR || id == IDM_MODEL_PRIOR;
  for (size_t i = 0; i < slope->size * slope->variants; i++) {
    assert_true(isfinite(slope->value[i]));
    if (!idm_planner_reads(idm_workspace_planner(b->workspace), id)) {
      assert_true(slope->value[i] == 0);
      continue;
    }
    const size_t j = simplex ? (i + 1) % slope->size : i;
    if (simplex && slope->size == 1) continue;
    compare(b, id, i, j, slope->value[i] - (simplex ? slope->value[j] : 0));
  }
}

/* --- comparing ------------------------------------------------------------------------------ */

static void open_bench(bench *b)
{
  check(idm_prefix_tree_create(b->data, IDM_SCOPE_TRAJECTORY, &b->tree, &support_error));
  check(idm_scorer_create(b->data, b->tree, &b->scorer, &support_error));
  assert_true(idm_gradient_possible(b->data, b->tree, b->workspace));
  check(idm_gradient_create(b->data, b->tree, b->workspace, &b->gradient, &support_error));
  check(idm_theta_copy(b->problem->theta, &b->slope, &support_error));
  check(idm_theta_copy(b->problem->theta, &b->moved, &support_error));
}

static void close_bench(bench *b)
{
  idm_theta_destroy(b->moved);
  idm_theta_destroy(b->slope);
  idm_gradient_destroy(b->gradient);
  idm_scorer_destroy(b->scorer);
  idm_prefix_tree_destroy(b->tree);
  idm_data_destroy(b->data);
  idm_workspace_destroy(b->workspace);
  idm_problem_destroy(b->problem);
}

static void compare_all(bench *b)
{
  static const idm_block_id blocks[] = {IDM_UTILITY,      IDM_DISCOUNT,    IDM_ALPHA,
                                        IDM_BETA,         IDM_ETA,         IDM_TEMPERATURE,
                                        IDM_ACTION_PRIOR, IDM_MODEL_PRIOR, IDM_WEIGHTS};
  const double expected = score(b, b->problem->theta);
  double log_likelihood;
  check(idm_gradient_run(b->gradient, &log_likelihood, b->slope, &support_error));
  assert_near(log_likelihood, expected, 1e-10);
  assert_true(isfinite(expected));
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) compare_block(b, blocks[i]);
}

static void run_sample(const sample *from, uint64_t seed, size_t *compared, size_t *skipped)
{
  for (int evaluate = IDM_LOOKAHEAD; evaluate <= IDM_INTERPOLATE; evaluate++) {
    idm_random random;
    idm_random_init(&random, seed, 1);
    bench b = {.problem = make_problem(from, (idm_evaluate)evaluate, &random)};
    b.workspace = support_plan(b.problem, NULL);
    b.data = make_data(b.problem, b.workspace, from->features, &random);
    open_bench(&b);
    compare_all(&b);
    *compared += b.compared;
    *skipped += b.skipped;
    close_bench(&b);
  }
}

#define BOUNDED "bounded-rational"

static const sample samples[] = {
    {BOUNDED, 0.5, 1.25, 0.1, 0, {2, 3, 2, 3, 37}},
    {BOUNDED, -0.5, 1.25, 0.1, FORGET, {2, 3, 2, 3, 33}},
    {BOUNDED, 0.5, -1.25, -0.3, AVAILABLE, {2, 2, 3, 2, 24}},
    {BOUNDED, -0.8, -0.7, 0.3, STARTS | AVAILABLE, {2, 3, 3, 2, 20}},
    {BOUNDED, 0.5, INFINITY, 0.2, VARIANTS, {2, 2, 2, 2, 31}},
    {BOUNDED, 0.6, -INFINITY, 0, FORGET | TERMINAL, {2, 4, 2, 3, 16}},
    {BOUNDED, INFINITY, 0.8, 0.4, STARTS, {2, 3, 2, 2, 16}},
    {BOUNDED, -INFINITY, INFINITY, 0.4, 0, {2, 2, 2, 3, 16}},
    {BOUNDED, 1, 0.9, 0.2, HORIZON, {2, 3, 2, 2, 17}},
    {BOUNDED, 1, -0.9, 0.2, HORIZON | TERMINAL | AVAILABLE | VARIANTS, {2, 3, 2, 2, 17}},
    {BOUNDED, 0.7, 2, 0.5, CERTAINTY | DIRICHLET, {2, 3, 2, 2, 40}},
    {BOUNDED, 0.7, 2, 0.5, OBSERVATION | BLUR | DIRICHLET, {2, 2, 3, 2, 29}},
    {BOUNDED, 1, 1e6, 0.3, BLUR, {2, 2, 2, 3, 25}},
    {BOUNDED, 1e5, 1.5, 0.3, BLUR | FORGET, {2, 2, 2, 3, 25}},
    {BOUNDED, 0.8, 1.5, 0.3, 0, {3, 2, 2, 2, 9}},
    {BOUNDED, 0.8, -1.5, -0.3, FORGET | STARTS | BLUR, {3, 3, 3, 2, 7}},
    {BOUNDED, -0.8, 1.5, 0.6, DIRICHLET | OBSERVATION | BLUR | CERTAINTY, {3, 2, 3, 3, 6}},
    {BOUNDED, 1.5, INFINITY, 0.6, HORIZON | VARIANTS | TERMINAL, {3, 3, 2, 2, 5}},
    {BOUNDED, 0.9, 1.1, 0.2, AVAILABLE | DIRICHLET, {4, 2, 2, 2, 5}},
    {BOUNDED, 0.9, -1.1, 0.2, HORIZON, {4, 4, 3, 1, 4}},
    {BOUNDED, 1.2, 0, 0.3, 0, {2, 2, 2, 2, 21}},
    {"boltzmann-exploratory", 0.5, 1, 0.2, 0, {2, 3, 2, 2, 30}},
    {"boltzmann-exploratory", 0.5, 1, 0.2, HORIZON | AVAILABLE, {3, 2, 2, 1, 6}},
    {"minimum-information", 0.5, 1, 0.2, DIRICHLET, {2, 3, 2, 2, 22}},
    {"maximum-entropy", 0.6, 1, 0.2, FORGET, {3, 3, 2, 1, 7}},
    {"kl-regularised", 0.6, 1, 0.2, TERMINAL, {2, 3, 2, 1, 28}},
    {"uniformly-random", 0.6, 1, 0.2, 0, {2, 3, 2, 1, 9}},
    {"decision-rule", 0.6, 1, 0.2, AVAILABLE | STARTS, {2, 3, 2, 3, 9}},
    {"decision-rule", 0.6, 1, 0.2, VARIANTS | HORIZON, {4, 3, 3, 2, 9}},
};

static void gradient_equals_differences(void **state)
{
  (void)state;
  size_t compared = 0, skipped = 0;
  for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
    for (uint64_t seed = 1; seed <= 3; seed++) run_sample(&samples[i], seed, &compared, &skipped);
  print_message("%zu compared, %zu at kinks\n", compared, skipped);
  assert_true(compared > 2000);
  assert_true(20 * skipped < compared);
}

/* --- DIAG ----------------------------------------------------------------------------------- */

static bench diag_bench(double alpha, double beta, double eta, idm_evaluate evaluate,
                        const char *csv)
{
  bench b = {.problem = support_diag(alpha, beta, eta)};
  b.problem->agent.evaluate = evaluate;
  b.workspace = support_plan(b.problem, NULL);
  b.data = support_data(b.problem, csv);
  open_bench(&b);
  return b;
}

static const char *const unlikely_csv = "agent,trajectory,action,observation\n"
                                        "1,1,monitor,positive\n1,1,monitor,negative\n"
                                        "1,1,declare_healthy,\n"
                                        "1,2,monitor,negative\n1,2,declare_diseased,\n"
                                        "1,3,declare_healthy,\n";

/* Probabilities around 1e-6000, which no double holds: by logarithms. */
static void unlikely_choices_have_slopes(void **state)
{
  (void)state;
  for (int evaluate = IDM_LOOKAHEAD; evaluate <= IDM_INTERPOLATE; evaluate++) {
    bench b = diag_bench(2e-3, 1000, 0.001, (idm_evaluate)evaluate, unlikely_csv);
    double log_likelihood;
    const double expected = score(&b, b.problem->theta);
    assert_true(isfinite(expected) && expected < -1e4);
    check(idm_gradient_run(b.gradient, &log_likelihood, b.slope, &support_error));
    assert_near(log_likelihood, expected, 1e-10);
    for (size_t i = 0; i < 6; i++)
      assert_near(b.slope->block[IDM_UTILITY].value[i], central(&b, IDM_UTILITY, i, i, 1e-5), 1e-5);
    close_bench(&b);
  }
}

static void assert_no_slopes(const bench *b)
{
  for (int id = 0; id < IDM_BLOCK_COUNT; id++)
    for (size_t i = 0; i < b->slope->block[id].size * b->slope->block[id].variants; i++)
      assert_true(b->slope->block[id].value[i] == 0);
}

/* An agent that never errs: what it would not do is impossible, what it does needs no change. */
static void hard_choices(void **state)
{
  (void)state;
  for (int evaluate = IDM_LOOKAHEAD; evaluate <= IDM_INTERPOLATE; evaluate++) {
    double log_likelihood;
    bench b = diag_bench(0, 1000, 0.001, (idm_evaluate)evaluate, unlikely_csv);
    check(idm_gradient_run(b.gradient, &log_likelihood, b.slope, &support_error));
    assert_true(log_likelihood == -INFINITY);
    assert_no_slopes(&b);
    close_bench(&b);
    b = diag_bench(0, 0, 0.001, (idm_evaluate)evaluate,
                   "agent,action,observation\n1,monitor,positive\n1,monitor,negative\n");
    check(idm_gradient_run(b.gradient, &log_likelihood, b.slope, &support_error));
    assert_near(log_likelihood, 0, 1e-12);
    assert_no_slopes(&b);
    close_bench(&b);
  }
}

/* New dynamics make new successors; running leaves the plan as it was. */
static void a_gradient_serves_every_theta(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 3, 1);
  bench b = {.problem = make_problem(&samples[0], IDM_INTERPOLATE, &random)};
  b.workspace = support_plan(b.problem, NULL);
  b.data = make_data(b.problem, b.workspace, 0, &random);
  open_bench(&b);
  double log_likelihood, before[3], after[3];
  const double z[2] = {0.41, 0.59};
  check(idm_gradient_run(b.gradient, &log_likelihood, b.slope, &support_error));
  /* The second test becomes useless: fewer entries a row. */
  idm_theta *const both[] = {b.problem->theta, b.moved};
  for (size_t i = 0; i < 24; i++)
    both[i % 2]->block[IDM_EMISSION].value[(i / 8 * 3 + 1) * 4 + i % 8 / 2] = 0.5;
  compare_all(&b);
  check(idm_plan(b.problem->theta, NULL, b.workspace, NULL, &support_error));
  idm_plan_policy(b.workspace, 0, z, before, NULL);
  check(idm_gradient_run(b.gradient, &log_likelihood, b.slope, &support_error));
  idm_plan_policy(b.workspace, 0, z, after, NULL);
  assert_memory_equal(before, after, sizeof before);
  close_bench(&b);
}

/* --- MDPs ----------------------------------------------------------------------------------- */

/* An MDP of n states in a circle that its first action walks along: the derivative of the values
 * mixes so slowly that Krylov's method stalls, and the plain recursion has to finish. */
static idm_problem *circle(size_t n, double discount)
{
  idm_problem *problem;
  check(idm_problem_create((idm_sizes){n, 2, n}, 1, true, true, &problem, &support_error));
  idm_theta *theta = problem->theta;
  problem->setting->fully_observed = true;
  for (size_t u = 0; u < 2; u++)
    for (size_t s = 0; s < n; s++) {
      const size_t next = u == 0 ? (s + 1) % n : s;
      theta->block[IDM_TRANSITION].value[(u * n + s) * n + next] = 1;
      theta->block[IDM_EMISSION].value[(u * n + s) * n + s] = 1;
      problem->setting->transition[(u * n + s) * n + next] = 1;
      problem->setting->emission[(u * n + s) * n + s] = 1;
      theta->block[IDM_UTILITY].value[u * n + s] = u == 0 ? (s % 7 == 0) : -1;
      problem->setting->start[s] = s == 0;
    }
  idm_theta_set_scalar(theta, IDM_DISCOUNT, discount);
  support_set(problem, 0.1, INFINITY, 0);
  return problem;
}

static void an_mdp_that_mixes_slowly(void **state)
{
  (void)state;
  bench b = {.problem = circle(200, 0.9995)};
  b.workspace = support_plan(b.problem, NULL);
  b.data = support_data(b.problem, "agent,action,observation\n1,0,1\n1,1,1\n1,0,2\n1,1,\n");
  open_bench(&b);
  const double expected = score(&b, b.problem->theta);
  double log_likelihood;
  check(idm_gradient_run(b.gradient, &log_likelihood, b.slope, &support_error));
  assert_near(log_likelihood, expected, 1e-10);
  for (size_t i = 0; i < 400; i += 150)
    assert_near(b.slope->block[IDM_UTILITY].value[i], central(&b, IDM_UTILITY, i, i, 1e-3), 1e-5);
  assert_near(b.slope->block[IDM_ALPHA].value[0], central(&b, IDM_ALPHA, 0, 0, 1e-4), 1e-5);
  close_bench(&b);
}

/* --- what cannot be had --------------------------------------------------------------------- */

static bool possible(idm_problem *problem, const char *csv)
{
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = support_data(problem, csv);
  idm_prefix_tree *tree;
  idm_gradient *gradient;
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &support_error));
  const bool answer = idm_gradient_possible(data, tree, workspace);
  const idm_status status = idm_gradient_create(data, tree, workspace, &gradient, &support_error);
  assert_int_equal(status, answer ? IDM_OK : IDM_USAGE);
  assert_true((gradient != NULL) == answer);
  idm_gradient_destroy(gradient);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  return answer;
}

static void says_where_there_is_none(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  assert_true(possible(problem, "agent,action,observation\n1,monitor,positive\n1,monitor,\n"));
  assert_true(possible(problem, "agent,action,observation\n1,monitor,positive\n1,,\n"));
  assert_false(possible(problem, "agent,action,observation\n1,monitor,\n1,monitor,\n"));
  assert_false(possible(problem, "agent,action,observation\n1,,positive\n1,monitor,\n"));
  problem->agent.recognition = IDM_RECOGNITION_SAMPLED;
  assert_false(possible(problem, "agent,action,observation\n1,monitor,positive\n1,monitor,\n"));
  idm_problem_destroy(problem);
  problem = circle(3, 0.9);
  assert_true(possible(problem, "agent,action,observation\n1,0,1\n1,1,\n"));
  problem->setting->start[0] = problem->setting->start[1] = 0.5;
  assert_false(possible(problem, "agent,action,observation\n1,0,1\n1,1,\n"));
  idm_problem_destroy(problem);
}

/* What cannot be seen is an error with its line, for a last observation too. */
static void impossible_observations_are_refused(void **state)
{
  (void)state;
  const char *const cases[] = {"agent,action,observation\n1,0,1\n1,0,1\n1,0,\n",
                               "agent,action,observation\n1,0,1\n1,0,1\n"};
  for (size_t i = 0; i < 2; i++) {
    bench b = {.problem = circle(3, 0.9)};
    b.workspace = support_plan(b.problem, NULL);
    b.data = support_data(b.problem, cases[i]);
    open_bench(&b);
    double log_likelihood;
    assert_int_equal(idm_gradient_run(b.gradient, &log_likelihood, b.slope, &support_error),
                     IDM_INPUT);
    assert_int_equal(support_error.line, 3);
    assert_non_null(strstr(support_error.message, "impossible"));
    close_bench(&b);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradient_equals_differences),
      cmocka_unit_test(unlikely_choices_have_slopes),
      cmocka_unit_test(hard_choices),
      cmocka_unit_test(a_gradient_serves_every_theta),
      cmocka_unit_test(an_mdp_that_mixes_slowly),
      cmocka_unit_test(says_where_there_is_none),
      cmocka_unit_test(impossible_observations_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
