/* Provides random problems with every feature of the planners, and the comparison of gradients with
 * differences. */
#include "plan/believer/slope_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- problems ------------------------------------------------------------------------------- */

static void same_rows(double *rows, size_t count, size_t width)
{
  for (size_t i = 1; i < count; i++) memcpy(rows + i * width, rows, width * sizeof *rows);
}

static void add_dynamics(idm_problem *problem, const slope_sample *from)
{
  const idm_sizes n = {from->shape.states, from->shape.actions, from->shape.observations};
  const size_t last = n.actions - 1;
  for (size_t m = 0; m < from->shape.models; m++) {
    double *transition =
        problem->theta->block[IDM_TRANSITION].value + m * n.actions * n.states * n.states;
    double *emission = problem->theta->block[IDM_EMISSION].value +
                       (m * n.actions + last) * n.states * n.observations;
    for (size_t i = 0; from->features & STATIC && i < n.actions * n.states * n.states; i++)
      transition[i] = problem->setting->transition[i] = i / n.states % n.states == i % n.states;
    if (from->features & FORGET) same_rows(transition, n.states, n.states);
    if (from->features & BLUR) same_rows(emission, n.states, n.observations);
  }
}

/* Makes the observations equal the states. */
static void observe_states(idm_problem *problem)
{
  const idm_sizes n = problem->theta->sizes;
  const size_t count = n.actions * n.states * n.states;
  problem->setting->fully_observed = true;
  for (size_t i = 0; i < problem->theta->models * count; i++)
    problem->theta->block[IDM_EMISSION].value[i] = i / n.states % n.states == i % n.states;
  memcpy(problem->setting->emission, problem->theta->block[IDM_EMISSION].value,
         count * sizeof(double));
}

idm_problem *slope_problem(const slope_sample *from, idm_evaluate evaluate, idm_random *random)
{
  idm_problem *problem = support_problem(from->shape, random);
  idm_theta *theta = problem->theta;
  const size_t pairs = from->shape.actions * from->shape.states;
  check(idm_problem_set_planner(problem, idm_planner_find(from->planner), &support_error));
  problem->agent.evaluate = evaluate;
  problem->setting->emits_before = from->features & BEFORE;
  support_set(problem, from->alpha, from->beta, from->eta);
  idm_theta_set_scalar(theta, IDM_DISCOUNT, 0.6 + 0.3 * idm_random_uniform(random));
  idm_theta_set_scalar(theta, IDM_TEMPERATURE, 0.7);
  add_dynamics(problem, from);
  if (from->features & HORIZON) problem->setting->horizon = 5;
  if (from->features & TERMINAL) problem->setting->terminal[1] = problem->setting->ends[1] = true;
  if (from->features & SAMPLED) problem->agent.recognition = IDM_RECOGNITION_SAMPLED;
  if (from->features & RANGE) problem->agent.alpha_unit = IDM_ALPHA_RANGE;
  if (from->features & MDP) observe_states(problem);
  if (from->features & OBSERVATION) problem->agent.surprise = IDM_SURPRISE_OBSERVATION;
  if (from->features & HABIT) {
    idm_theta_set_scalar(theta, IDM_PERSEVERANCE, 2 * idm_random_uniform(random) - 0.7);
    idm_theta_set_scalar(theta, IDM_LAPSE, 0.05 + 0.3 * idm_random_uniform(random));
  }
  if (from->features & DYNAMICS)
    theta->block[IDM_TRANSITION].role = theta->block[IDM_PRIOR_WEIGHT].role = IDM_DESCRIPTIVE;
  if (from->features & BENT) {
    idm_theta_set_scalar(theta, IDM_PRIOR_WEIGHT, 0.4 + idm_random_uniform(random));
    idm_theta_set_scalar(theta, IDM_EVIDENCE_WEIGHT, 0.4 + idm_random_uniform(random));
  }
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

/* Draws actions and observations uniformly, so that no policy is too certain of them. */
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

/* Adds sets of available actions: all but the first, and each action alone. Each row is given a set
 * that contains its action. */
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

static void forget_cells(idm_data *data, idm_random *random)
{
  for (size_t i = 0; i < data->rows; i++) {
    if (idm_random_uniform(random) < 0.35) data->observation[i] = IDM_MISSING;
    if (idm_random_uniform(random) < 0.25 && !idm_data_missed(data, i))
      data->action[i] = IDM_MISSING;
  }
}

idm_data *slope_data(const idm_problem *problem, const idm_workspace *workspace, unsigned features,
                     idm_random *random)
{
  idm_data *data;
  const idm_simulation simulation = {.trajectories = 12, .steps = 4, .seed = 5};
  check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                     &support_error));
  draw_rows(problem, data, random);
  if (features & AVAILABLE) add_available(data, random);
  if (features & STARTS) add_starts(data, random);
  if (features & MISSED) support_miss(data, problem->setting, 0, 0.3, random);
  if (features & VARIANTS) {
    data->variants = 2;
    for (size_t t = 0; t < data->trajectories; t++) data->variant[t] = t % 2;
  }
  data->observation[data->rows - 1] = IDM_MISSING;
  if (features & BLANK) forget_cells(data, random);
  return data;
}

/* --- differences ---------------------------------------------------------------------------- */

double slope_score(slope_bench *b, const idm_theta *theta)
{
  const idm_solver exact = {
      .method = IDM_METHOD_NEWTON, .tolerance = 1e-13, .limit = 100, .slots = IDM_START_COLD};
  idm_score result;
  check(idm_plan(theta, &exact, b->workspace, NULL, &support_error));
  check(idm_scorer_run(b->scorer, idm_workspace_behavior(b->workspace), &result, &support_error));
  return result.log_likelihood;
}

/* Returns whether a number is differentiated by its reciprocal. */
static bool by_inverse(idm_block_id id)
{
  return id == IDM_ALPHA || id == IDM_BETA || id == IDM_TEMPERATURE;
}

/* The log-likelihood with number i of a block moved by h and, if j differs from i, number j by -h
 * (a direction along the simplex). */
static double score_at(slope_bench *b, idm_block_id id, size_t i, size_t j, double h)
{
  const idm_block *from = &b->problem->theta->block[id];
  double *to = b->moved->block[id].value;
  memcpy(to, from->value, from->size * from->variants * sizeof *to);
  to[i] = by_inverse(id) ? 1 / (1 / from->value[i] + h) : from->value[i] + h;
  if (j != i) to[j] -= h;
  const double result = slope_score(b, b->moved);
  memcpy(to, from->value, from->size * from->variants * sizeof *to);
  return result;
}

double slope_central(slope_bench *b, idm_block_id id, size_t i, size_t j, double h)
{
  return (score_at(b, id, i, j, h) - score_at(b, id, i, j, -h)) / (2 * h);
}

static bool is_dynamics(idm_block_id id)
{
  return id == IDM_TRANSITION || id == IDM_EMISSION || id == IDM_PRIOR_WEIGHT ||
         id == IDM_EVIDENCE_WEIGHT;
}

/* The difference of the derivative between both sides of 0: the second difference at step h/2
 * compared with that at h, from which curvature cancels. */
static double kink_at(slope_bench *b, idm_block_id id, size_t i, size_t j, double h)
{
  const double here = score_at(b, id, i, j, 0);
  const double near = score_at(b, id, i, j, h / 2) - 2 * here + score_at(b, id, i, j, -h / 2);
  const double far = score_at(b, id, i, j, h) - 2 * here + score_at(b, id, i, j, -h);
  return fabs(4 * near - far) / h;
}

/* Richardson extrapolation at two step sizes. If they disagree, or at 0, the likelihood has a kink
 * (a belief on a face of a cell) and the comparison is skipped. */
static void compare(slope_bench *b, idm_block_id id, size_t i, size_t j, double derivative)
{
  const double value = b->problem->theta->block[id].value[i];
  if (by_inverse(id) && value == 0) {
    assert_true(derivative == 0);
    return;
  }
  /* Dynamics move the successors of every lattice point; a smaller step crosses fewer faces. */
  const double h = is_dynamics(id) ? 1e-5 : 2e-4;
  const double fine = slope_central(b, id, i, j, h / 4), middle = slope_central(b, id, i, j, h / 2);
  const double coarse = slope_central(b, id, i, j, h);
  const double best = (4 * fine - middle) / 3, second = (4 * middle - coarse) / 3;
  const double scale = fmax(1, fabs(best));
  if (!(fabs(best - second) < 2e-6 * scale) || kink_at(b, id, i, j, h / 2) > 1e-5 * scale) {
    b->skipped++;
    return;
  }
  b->compared++;
  if (!(fabs(best - derivative) <= 1e-5 * scale))
    print_error("%s[%zu,%zu]: %.10g by differences, %.10g by the gradient (planner %s)\n",
                idm_block_name(id), i, j, best, derivative,
                idm_agent_planner(&b->problem->agent)->name);
  assert_near(derivative, best, 1e-5);
}

/* Length of the distributions in a block; 0 if it has none. */
static size_t width_of(const slope_bench *b, idm_block_id id)
{
  if (id == IDM_TRANSITION) return b->problem->theta->sizes.states;
  if (id == IDM_EMISSION) return b->problem->theta->sizes.observations;
  return id == IDM_ACTION_PRIOR || id == IDM_MODEL_PRIOR ? b->derivative->block[id].size : 0;
}

static void compare_block(slope_bench *b, idm_block_id id)
{
  const idm_block *derivative = &b->derivative->block[id];
  const double *from = b->problem->theta->block[id].value;
  const size_t width = width_of(b, id);
  const bool simplex = width > 0;
  for (size_t i = 0; i < derivative->size * derivative->variants; i++) {
    assert_true(isfinite(derivative->value[i]));
    if (!idm_planner_reads_free(idm_workspace_planner(b->workspace), b->problem->theta, id)) {
      assert_true(derivative->value[i] == 0);
      continue;
    }
    const size_t j = simplex ? i - i % width + (i + 1) % width : i;
    if (i == j && simplex) continue;
    if (simplex && !(from[i] > 0 && from[j] > 0)) continue; /* zeros stay zeros */
    compare(b, id, i, j, derivative->value[i] - (simplex ? derivative->value[j] : 0));
  }
}

/* --- comparing ------------------------------------------------------------------------------ */

void slope_open(slope_bench *b)
{
  check(idm_prefix_tree_create(b->data, IDM_SCOPE_TRAJECTORY, &b->tree, &support_error));
  check(idm_scorer_create(b->data, b->tree, &b->scorer, &support_error));
  assert_true(idm_gradient_possible(b->data, b->tree, b->workspace));
  check(idm_gradient_create(b->data, b->tree, b->workspace, &b->gradient, &support_error));
  check(idm_theta_copy(b->problem->theta, &b->derivative, &support_error));
  check(idm_theta_copy(b->problem->theta, &b->moved, &support_error));
}

void slope_close(slope_bench *b)
{
  idm_theta_destroy(b->moved);
  idm_theta_destroy(b->derivative);
  idm_gradient_destroy(b->gradient);
  idm_scorer_destroy(b->scorer);
  idm_prefix_tree_destroy(b->tree);
  idm_data_destroy(b->data);
  idm_workspace_destroy(b->workspace);
  idm_problem_destroy(b->problem);
}

void slope_compare_all(slope_bench *b)
{
  static const idm_block_id blocks[] = {IDM_UTILITY,      IDM_DISCOUNT,    IDM_ALPHA,
                                        IDM_BETA,         IDM_ETA,         IDM_TEMPERATURE,
                                        IDM_ACTION_PRIOR, IDM_MODEL_PRIOR, IDM_WEIGHTS};
  const double expected = slope_score(b, b->problem->theta);
  double log_likelihood;
  check(idm_gradient_run(b->gradient, &log_likelihood, b->derivative, &support_error));
  assert_near(log_likelihood, expected, 1e-10);
  assert_true(isfinite(expected));
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) compare_block(b, blocks[i]);
  /* A lapse of 0 is at the end of its range, and perseverance is compared only if no cells are
   * missing. */
  if (b->features & DYNAMICS) {
    compare_block(b, IDM_TRANSITION);
    compare_block(b, IDM_EMISSION);
    compare_block(b, IDM_PRIOR_WEIGHT);
    compare_block(b, IDM_EVIDENCE_WEIGHT);
  }
  if (b->features & HABIT) compare_block(b, IDM_LAPSE);
  if (b->features & HABIT || !(b->features & (BLANK | SAMPLED | MDP)))
    compare_block(b, IDM_PERSEVERANCE);
}

/* Removes the environment, so that the agent's mean model replaces it. */
static void hide_environment(slope_bench *b)
{
  free(b->problem->setting->transition);
  free(b->problem->setting->emission);
  b->problem->setting->transition = b->problem->setting->emission = NULL;
  idm_workspace_destroy(b->workspace);
  b->workspace = support_plan(b->problem, NULL);
}

static void run_sample(const slope_sample *from, uint64_t seed, size_t *compared, size_t *skipped)
{
  for (int evaluate = IDM_LOOKAHEAD; evaluate <= IDM_INTERPOLATE; evaluate++) {
    idm_random random;
    idm_random_init(&random, seed, 1);
    slope_bench b = {.problem = slope_problem(from, (idm_evaluate)evaluate, &random),
                     .features = from->features};
    b.workspace = support_plan(b.problem, NULL);
    b.data = slope_data(b.problem, b.workspace, from->features, &random);
    if (from->features & UNKNOWN) hide_environment(&b);
    slope_open(&b);
    slope_compare_all(&b);
    *compared += b.compared;
    *skipped += b.skipped;
    slope_close(&b);
  }
}

void slope_run_samples(const slope_sample *from, size_t count)
{
  size_t compared = 0, skipped = 0;
  for (size_t i = 0; i < count; i++)
    for (uint64_t seed = 1; seed <= 3; seed++) run_sample(&from[i], seed, &compared, &skipped);
  print_message("%zu compared, %zu at kinks\n", compared, skipped);
  assert_true(compared > 50 * count);
  assert_true(20 * skipped < compared);
}
