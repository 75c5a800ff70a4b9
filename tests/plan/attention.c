/* Tests agents with a sensor of limited capacity: planning, likelihoods and simulation against
 * direct computations, and the limits of infinite and zero capacity. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/control/plain.h"
#include "plan/learner_support.h"
#include "plan/workspace.h"

static idm_problem *problem_of(support_shape shape, double capacity, uint64_t seed)
{
  idm_random random;
  idm_random_init(&random, seed, 16);
  idm_problem *problem = support_problem(shape, &random);
  support_set(problem, 0.6, 1.3, 0.3);
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.8);
  idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, capacity);
  problem->agent.evaluate = IDM_LOOKAHEAD;
  return problem;
}

/* Makes the emission of x the same in every state, so that it leaves the prediction unchanged. */
static void make_idle(idm_problem *problem, size_t u, size_t x)
{
  const idm_sizes n = problem->theta->sizes;
  for (size_t m = 0; m < problem->theta->models; m++)
    for (size_t s = 0; s < n.states; s++) {
      double *row = problem->theta->block[IDM_EMISSION].value +
                    ((m * n.actions + u) * n.states + s) * n.observations;
      const double rest = 1 - row[x];
      for (size_t y = 0; y < n.observations; y++) row[y] = y == x ? 0.25 : row[y] * 0.75 / rest;
    }
}

static const double capacities[] = {0, 0.05, 0.3, 0.8, 5, INFINITY};
enum { CAPACITIES = sizeof capacities / sizeof capacities[0] };

/* V on the lattice is a fixed point of B* computed directly, and Q between lattice points is one
 * step of it: emissions after and before the transition, Bayesian and distorted updates, forgetful
 * actions and uninformative observations. */
static void test_planning(void **state)
{
  (void)state;
  for (size_t i = 0; i < CAPACITIES; i++)
    for (int way = 0; way < 16; way++) {
      const support_shape shape = {way % 2 ? 3 : 2, 3, 3, 2, 6};
      idm_problem *problem = problem_of(shape, capacities[i], i);
      problem->setting->emits_before = way & 2;
      problem->agent.surprise = way & 4 ? IDM_SURPRISE_OBSERVATION : IDM_SURPRISE_BELIEF;
      if (way & 8) idm_theta_set_scalar(problem->theta, IDM_PRIOR_WEIGHT, 0.7);
      if (way & 8) idm_theta_set_scalar(problem->theta, IDM_EVIDENCE_WEIGHT, 1.2);
      plain_forget(problem, 0, 0);
      plain_forget(problem, 1, 0);
      plain_forget(problem, 1, 1);
      make_idle(problem, 2, 1);
      idm_workspace *w = support_plan(problem, NULL);
      const control *c = w->content;
      const double *v = control_layer(c, 0, 1);
      for (size_t point = 0; point < c->lattice->points; point++) {
        const plain_result plain =
            plain_backup(problem, c->lattice, 0, v, c->lattice->belief + point * shape.states);
        assert_near(plain.value, v[point], 1e-8);
      }
      const double z[3] = {0.37, way % 2 ? 0.41 : 0.63, 0.22};
      double q[PLAIN_MOST];
      const plain_result plain = plain_backup(problem, c->lattice, 0, v, z);
      idm_plan_quality(w, 0, 0, z, q);
      for (size_t u = 0; u < shape.actions; u++) assert_near(q[u], plain.q[u], 1e-12);
      idm_workspace_destroy(w);
      idm_problem_destroy(problem);
    }
}

/* Value iteration from 0 by the definition of Q: no surprise, one model, the best action. */
static void test_value_iteration(void **state)
{
  (void)state;
  enum { POINTS = 21, SWEEPS = 120 };
  idm_problem *problem = problem_of((support_shape){2, 3, 2, 1, POINTS - 1}, 0.2, 4);
  support_set(problem, 0, INFINITY, 0);
  idm_workspace *w = support_plan(problem, NULL);
  const control *c = w->content;
  const idm_theta *theta = problem->theta;
  double value[POINTS] = {0};
  assert_int_equal(c->lattice->points, POINTS);
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    double fresh[POINTS];
    for (size_t i = 0; i < POINTS; i++) {
      const double *z = c->lattice->belief + 2 * i;
      fresh[i] = -INFINITY;
      for (size_t u = 0; u < 3; u++) {
        const double *tau = theta->block[IDM_TRANSITION].value + u * 4;
        const double *omega = theta->block[IDM_EMISSION].value + u * 4;
        const double a = plain_passes(problem, z, u);
        double q = z[0] * theta->block[IDM_UTILITY].value[2 * u] +
                   z[1] * theta->block[IDM_UTILITY].value[2 * u + 1];
        for (size_t x = 0; x <= 2; x++) {
          double after[2];
          if (x == 2) plain_predict(problem, tau, z, after);
          const double p = x == 2 ? 1 - a : a * plain_after(problem, tau, omega, z, x, after);
          /* Linear interpolation between two neighbours; the lattice is ordered by the second or
           * the first coordinate. */
          const double along = (c->lattice->belief[0] > 0.5 ? after[1] : after[0]) * (POINTS - 1);
          const size_t low = along >= POINTS - 1 ? POINTS - 2 : (size_t)along;
          const double share = along - (double)low;
          q += 0.8 * p * ((1 - share) * value[low] + share * value[low + 1]);
        }
        fresh[i] = fmax(fresh[i], q);
      }
    }
    memcpy(value, fresh, sizeof value);
  }
  /* The remaining error is proportional to 0.8^120 = 2e-12. */
  for (size_t i = 0; i < POINTS; i++) assert_near(control_layer(c, 0, 1)[i], value[i], 1e-7);
  idm_workspace_destroy(w);
  idm_problem_destroy(problem);
}

/* --- limits --------------------------------------------------------------------------------- */

/* After a change of capacity and back the operator is identical to the bit. A capacity that the
 * entropy never exceeds gives the same values and uses the same random numbers. */
static void test_everything(void **state)
{
  (void)state;
  idm_problem *problem = problem_of((support_shape){3, 2, 3, 2, 7}, INFINITY, 9);
  const idm_solver cold = {.method = IDM_METHOD_NEWTON, .limit = 100, .slots = IDM_START_COLD};
  const idm_simulation simulation = {.trajectories = 50, .steps = 6, .seed = 3};
  idm_workspace *w = support_plan(problem, NULL);
  const control *c = w->content;
  double before[64];
  const size_t bytes = c->padded * sizeof *before;
  assert_true(bytes <= sizeof before);
  check(idm_plan(problem->theta, &cold, w, NULL, &support_error));
  memcpy(before, control_layer(c, 0, 1), bytes);
  idm_data *all = support_simulate(problem, simulation);
  const double score = support_score(w, all);
  idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, 0.3);
  check(idm_plan(problem->theta, &cold, w, NULL, &support_error));
  assert_memory_not_equal(before, control_layer(c, 0, 1), bytes);
  idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, INFINITY);
  check(idm_plan(problem->theta, &cold, w, NULL, &support_error));
  assert_memory_equal(before, control_layer(c, 0, 1), bytes);
  assert_true(support_score(w, all) == score);
  idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, 2); /* the largest entropy is log 3 */
  check(idm_plan(problem->theta, &cold, w, NULL, &support_error));
  for (size_t i = 0; i < c->lattice->points; i++)
    assert_near(before[i], control_layer(c, 0, 1)[i], 1e-8);
  assert_near(support_score(w, all), score, 1e-7);
  idm_data *large = support_simulate(problem, simulation);
  assert_int_equal(large->rows, all->rows);
  assert_memory_equal(large->action, all->action, all->rows * sizeof *all->action);
  assert_memory_equal(large->observation, all->observation, all->rows * sizeof *all->action);
  idm_data_destroy(large);
  idm_data_destroy(all);
  idm_workspace_destroy(w);
  idm_problem_destroy(problem);
}

/* At capacity 0 the agent equals that of a problem with one observation. */
static void test_nothing(void **state)
{
  (void)state;
  for (int way = 0; way < 4; way++) {
    const size_t k = way % 2 ? 3 : 2;
    idm_problem *blind = problem_of((support_shape){k, 3, 3, 2, 7}, 0, 11);
    idm_problem *dull = problem_of((support_shape){k, 3, 1, 2, 7}, INFINITY, 11);
    blind->setting->emits_before = dull->setting->emits_before = way > 1;
    static const idm_block_id shared[] = {IDM_UTILITY, IDM_TRANSITION, IDM_MODEL_PRIOR,
                                          IDM_ACTION_PRIOR};
    for (size_t i = 0; i < 4; i++)
      memcpy(dull->theta->block[shared[i]].value, blind->theta->block[shared[i]].value,
             blind->theta->block[shared[i]].size * sizeof(double));
    memcpy(dull->setting->start, blind->setting->start, k * sizeof(double));
    idm_workspace *a = support_plan(blind, NULL);
    idm_workspace *b = support_plan(dull, NULL);
    idm_random random;
    idm_random_init(&random, 5, (uint64_t)way);
    for (int i = 0; i < 20; i++) {
      double z[PLAIN_MOST];
      support_distribution(&random, z, k);
      assert_near(idm_plan_value(a, 0, z), idm_plan_value(b, 0, z), 1e-8);
    }
    idm_data *data =
        support_simulate(blind, (idm_simulation){.trajectories = 10, .steps = 5, .seed = 2});
    const double score = support_score(a, data);
    memset(data->observation, 0, data->rows * sizeof *data->observation);
    data->sizes.observations = 1;
    assert_near(support_score(b, data), score, 1e-7);
    idm_data_destroy(data);
    idm_workspace_destroy(a);
    idm_workspace_destroy(b);
    idm_problem_destroy(blind);
    idm_problem_destroy(dull);
  }
}

/* --- likelihoods ---------------------------------------------------------------------------- */

/* The belief after an event: the mean over sigma of the models' updates by x, or without an
 * observation if x is the number of observations. */
static void follow(const idm_problem *problem, const double *sigma, size_t u, size_t x,
                   const double *z, double *next)
{
  const idm_sizes n = problem->theta->sizes;
  const size_t models = problem->theta->models;
  memset(next, 0, n.states * sizeof *next);
  for (size_t m = 0; m < models; m++) {
    const size_t at = m * n.actions + u;
    const double *tau = problem->theta->block[IDM_TRANSITION].value + at * n.states * n.states;
    const double *omega =
        problem->theta->block[IDM_EMISSION].value + at * n.states * n.observations;
    double after[PLAIN_MOST];
    if (x == n.observations)
      plain_predict(problem, tau, z, after);
    else
      plain_after(problem, tau, omega, z, x, after);
    for (size_t s = 0; s < n.states; s++) next[s] += sigma[u * models + m] * after[s];
  }
}

/* The probability of the actions in rows first .. end of a log together with one path of
 * perceptions: bit i of `path` is set if the i-th observation was perceived. */
static double path_probability(const idm_problem *problem, idm_workspace *w, const idm_data *data,
                               size_t first, size_t end, unsigned path)
{
  double z[PLAIN_MOST], p = 1;
  memcpy(z, problem->setting->start, problem->theta->sizes.states * sizeof *z);
  for (size_t i = first; i < end; i++) {
    const size_t u = (size_t)data->action[i], x = (size_t)data->observation[i];
    double pi[PLAIN_MOST], sigma[PLAIN_MOST * PLAIN_MOST], next[PLAIN_MOST];
    idm_plan_policy(w, 0, z, pi, sigma);
    p *= pi[u];
    if (i + 1 == end) break;
    const bool seen = path >> (i - first) & 1;
    const double a = plain_passes(problem, z, u);
    p *= seen ? a : 1 - a;
    follow(problem, sigma, u, seen ? x : problem->theta->sizes.observations, z, next);
    memcpy(z, next, sizeof z);
  }
  return p;
}

static double trajectory_probability(const idm_problem *problem, idm_workspace *w,
                                     const idm_data *data, size_t t)
{
  const size_t first = data->first[t], end = data->first[t + 1];
  double sum = 0;
  for (unsigned path = 0; path < 1U << (end - first - 1); path++)
    sum += path_probability(problem, w, data, first, end, path);
  return sum;
}

/* The likelihood of a log is the sum over all paths of perceptions. */
static void test_likelihood(void **state)
{
  (void)state;
  for (size_t i = 0; i < CAPACITIES; i++)
    for (int way = 0; way < 4; way++) {
      idm_problem *problem =
          problem_of((support_shape){way % 2 ? 3 : 2, 3, 3, 2, 7}, capacities[i], i + 20);
      if (way > 1) idm_theta_set_scalar(problem->theta, IDM_PRIOR_WEIGHT, 0.6);
      idm_workspace *w = support_plan(problem, NULL);
      idm_data *data =
          support_simulate(problem, (idm_simulation){.trajectories = 8, .steps = 6, .seed = i});
      double expected = 0;
      for (size_t t = 0; t < data->trajectories; t++)
        expected += log(trajectory_probability(problem, w, data, t));
      assert_true(isfinite(expected));
      assert_near(support_score(w, data), expected, 1e-11);
      idm_data_destroy(data);
      idm_workspace_destroy(w);
      idm_problem_destroy(problem);
    }
}

/* The rest of the likelihood from row i with sampled recognition, where every model remains
 * possible after each perception. */
static double sampled_rest(const idm_problem *problem, idm_workspace *w, const idm_data *data,
                           size_t i, size_t end, const double *z)
{
  const idm_sizes n = problem->theta->sizes;
  const size_t models = problem->theta->models;
  const size_t u = (size_t)data->action[i];
  double pi[PLAIN_MOST], sigma[PLAIN_MOST * PLAIN_MOST], sum = 0;
  idm_plan_policy(w, 0, z, pi, sigma);
  if (i + 1 == end) return pi[u];
  const double a = plain_passes(problem, z, u);
  for (size_t m = 0; m < models; m++) {
    double one[PLAIN_MOST * PLAIN_MOST] = {0}, next[PLAIN_MOST];
    one[u * models + m] = 1;
    follow(problem, one, u, (size_t)data->observation[i], z, next);
    const double seen = a > 0 ? sampled_rest(problem, w, data, i + 1, end, next) : 0;
    follow(problem, one, u, n.observations, z, next);
    const double unseen = a < 1 ? sampled_rest(problem, w, data, i + 1, end, next) : 0;
    sum += sigma[u * models + m] * (a * seen + (1 - a) * unseen);
  }
  return pi[u] * sum;
}

static void test_sampled(void **state)
{
  (void)state;
  idm_problem *problem = problem_of((support_shape){2, 2, 2, 2, 7}, 0.25, 40);
  problem->agent.recognition = IDM_RECOGNITION_SAMPLED;
  idm_workspace *w = support_plan(problem, NULL);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 6, .steps = 5, .seed = 1});
  double expected = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    expected += log(sampled_rest(problem, w, data, data->first[t], data->first[t + 1],
                                 problem->setting->start));
  assert_near(support_score(w, data), expected, 1e-11);
  idm_data_destroy(data);
  idm_workspace_destroy(w);
  idm_problem_destroy(problem);
}

/* An observation that is impossible for the agent can only be unperceived. For an agent of
 * unlimited capacity it has likelihood 0. */
static void test_impossible(void **state)
{
  (void)state;
  idm_problem *problem = problem_of((support_shape){2, 2, 2, 1, 7}, 0.1, 41);
  double *emission = problem->theta->block[IDM_EMISSION].value;
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 4, .steps = 3, .seed = 1});
  for (size_t i = 0; i < problem->theta->block[IDM_EMISSION].size; i += 2) {
    emission[i] = 1;
    emission[i + 1] = 0;
  }
  memset(data->observation, 0, data->rows * sizeof *data->observation);
  data->observation[0] = 1;
  idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, 0);
  idm_workspace *w = support_plan(problem, NULL);
  assert_true(isfinite(support_score(w, data)));
  idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY,
                       0.1); /* the entropy is 0, so every observation is perceived */
  check(idm_plan(problem->theta, NULL, w, NULL, &support_error));
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &support_error));
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  idm_error error = {0};
  assert_int_equal(idm_scorer_run(scorer, idm_workspace_behavior(w), &score, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "impossible under every model"));
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  idm_workspace_destroy(w);
  idm_problem_destroy(problem);
}

/* --- simulation ----------------------------------------------------------------------------- */

/* The environment's probability of the observations of a trajectory given its actions, including
 * the last observation. */
static double world_probability(const idm_problem *problem, const int *action, const int *seen,
                                size_t steps)
{
  const idm_setting *s = problem->setting;
  const idm_sizes n = problem->theta->sizes;
  double e[PLAIN_MOST], p = 1;
  memcpy(e, s->start, n.states * sizeof *e);
  for (size_t i = 0; i < steps; i++) {
    const size_t u = (size_t)action[i];
    double joint[PLAIN_MOST];
    const double step =
        plain_joint(problem, s->transition + u * n.states * n.states,
                    s->emission + u * n.states * n.observations, e, (size_t)seen[i], joint);
    p *= step;
    for (size_t k = 0; k < n.states; k++) e[k] = joint[k] / step;
  }
  return p;
}

/* Frequencies of all 64 trajectories of three steps against their probabilities, the likelihood
 * times that of the environment. Chi-squared with 63 degrees of freedom exceeds 120 with
 * probability 2.0e-5; the seed is fixed. With the likelihood of an agent of unlimited capacity it
 * does exceed 120. */
static void test_frequencies(void **state)
{
  (void)state;
  enum { STEPS = 3, KINDS = 64, RUNS = 40000 };
  idm_problem *problem = problem_of((support_shape){2, 2, 2, 1, 9}, 0.25, 44);
  support_set(problem, 0.4, INFINITY, 0);
  idm_workspace *w = support_plan(problem, NULL);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = RUNS, .steps = STEPS, .seed = 8});
  double count[KINDS] = {0};
  size_t example[KINDS] = {0};
  for (size_t t = 0; t < RUNS; t++) {
    size_t kind = 0;
    assert_int_equal(data->first[t + 1] - data->first[t], STEPS);
    for (size_t i = data->first[t]; i < data->first[t + 1]; i++)
      kind = 4 * kind + 2 * (size_t)data->action[i] + (size_t)data->observation[i];
    count[kind]++;
    example[kind] = t;
  }
  for (int right = 1; right >= 0; right--) {
    double chi = 0, total = 0;
    if (!right) {
      idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, INFINITY);
      check(idm_plan(problem->theta, NULL, w, NULL, &support_error));
    }
    support_scored scored = support_open_score(w, data);
    for (size_t kind = 0; kind < KINDS; kind++) {
      assert_true(count[kind] > 0);
      const size_t first = data->first[example[kind]];
      const double p = exp(idm_scorer_trajectory(scored.scorer, example[kind])) *
                       world_probability(problem, (const int *)data->action + first,
                                         (const int *)data->observation + first, STEPS);
      total += p;
      chi += (count[kind] - RUNS * p) * (count[kind] - RUNS * p) / (RUNS * p);
    }
    support_close_score(&scored);
    assert_near(total, 1, 1e-9);
    assert_true(right ? chi < 120 : chi > 120);
  }
  idm_data_destroy(data);
  idm_workspace_destroy(w);
  idm_problem_destroy(problem);
}

/* The posterior of log C by quadrature, from 100 trajectories of 12 steps of a listener at C = 0.3
 * nats, under the default prior. Its mean is within 4 standard deviations of the truth (probability
 * of failure below 1e-4 for a normal posterior; the seed is fixed), and its standard deviation
 * separates 0.3 from 0.2. */
static void test_recovery(void **state)
{
  (void)state;
  enum { NODES = 31 };
  idm_problem *problem =
      support_yaml("states: [left, right]\nactions: [listen, open-left, open-right]\n"
                   "observations: [hear-left, hear-right]\nstart: uniform\ndiscount: 0.95\n"
                   "transition: {listen: identity, '*': uniform}\n"
                   "observation: {listen: [[0.85, 0.15], [0.15, 0.85]], '*': uniform}\n"
                   "utility: {listen: -1, open-left: [-100, 10], open-right: [10, -100]}\n"
                   "agent: {alpha: 2, sensor_capacity: 0.3}\n");
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 100, .steps = 12, .seed = 5});
  idm_workspace *w = support_plan(problem, NULL);
  double at[NODES], log_density[NODES], most = -INFINITY;
  for (int i = 0; i < NODES; i++) {
    at[i] = log(0.15) + log(4) * i / (NODES - 1);
    idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, exp(at[i]));
    check(idm_plan(problem->theta, NULL, w, NULL, &support_error));
    log_density[i] = support_score(w, data) - at[i] * at[i] / 8;
    most = fmax(most, log_density[i]);
  }
  double total = 0, mean = 0, square = 0;
  for (int i = 0; i < NODES; i++) {
    const double p = exp(log_density[i] - most);
    total += p;
    mean += p * at[i];
    square += p * at[i] * at[i];
  }
  mean /= total;
  const double sd = sqrt(square / total - mean * mean);
  assert_true(fabs(mean - log(0.3)) < 4 * sd);
  assert_true(sd < 0.1);
  idm_workspace_destroy(w);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- planners ------------------------------------------------------------------------------- */

/* Planners on a lattice support a limited sensor; other planners over beliefs reject it, fixed or
 * free. Derivatives are by differences. */
static void test_planners(void **state)
{
  (void)state;
  size_t takes = 0, refuses = 0;
  for (size_t p = 0; idm_planner_at(p); p++) {
    const idm_planner *planner = idm_planner_at(p);
    assert_true(idm_planner_reads(planner, IDM_SENSOR_CAPACITY) == (planner->lattice != NULL));
    if (!planner->belief || planner->needs & IDM_NEEDS_STATES) continue;
    for (int free = 0; free < 2; free++) {
      idm_random random;
      idm_random_init(&random, p, 5);
      idm_problem *problem = support_any(planner, (support_shape){2, 3, 2, 1, 7}, &random);
      if (free)
        problem->theta->block[IDM_SENSOR_CAPACITY].role = IDM_DESCRIPTIVE;
      else
        idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, 0.3);
      idm_workspace *w = NULL;
      idm_error error = {0};
      const idm_status status =
          idm_workspace_create(problem->setting, problem->theta, &problem->agent, &w, &error);
      if (planner->lattice) {
        assert_int_equal(status, IDM_OK);
        assert_false(w->belief_agent.differentiable);
        takes++;
      } else {
        assert_int_equal(status, IDM_INPUT);
        assert_non_null(strstr(error.message, "sensor of limited capacity"));
        refuses++;
      }
      idm_workspace_destroy(w);
      idm_problem_destroy(problem);
    }
  }
  assert_true(takes > 10 && refuses > 5);
}

/* A gradient created for unlimited capacity is rejected for a limited sensor. */
static void test_gradient(void **state)
{
  (void)state;
  idm_problem *problem = problem_of((support_shape){2, 2, 2, 1, 7}, INFINITY, 50);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 4, .steps = 4, .seed = 1});
  idm_workspace *w = support_plan(problem, NULL);
  idm_prefix_tree *tree;
  idm_gradient *gradient;
  idm_theta *derivative;
  double sum;
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &support_error));
  check(idm_gradient_create(data, tree, w, &gradient, &support_error));
  check(idm_theta_copy(problem->theta, &derivative, &support_error));
  check(idm_gradient_run(gradient, &sum, derivative, &support_error));
  idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, 0.2);
  check(idm_plan(problem->theta, NULL, w, NULL, &support_error));
  idm_error error = {0};
  assert_int_equal(idm_gradient_run(gradient, &sum, derivative, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "sensor_capacity became finite"));
  idm_theta_destroy(derivative);
  idm_gradient_destroy(gradient);
  idm_prefix_tree_destroy(tree);
  idm_workspace_destroy(w);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Beliefs that never coincide double in number with every step, up to a limit. */
static void test_many(void **state)
{
  (void)state;
  idm_problem *problem = problem_of((support_shape){2, 1, 2, 1, 7}, 0.2, 51);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 1, .steps = 20, .seed = 1});
  idm_workspace *w = support_plan(problem, NULL);
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &support_error));
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  idm_error error = {0};
  assert_int_equal(idm_scorer_run(scorer, idm_workspace_behavior(w), &score, &error), IDM_INPUT);
  assert_non_null(
      strstr(error.message, "missing cells of the log or observations not perceived leave"));
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  idm_workspace_destroy(w);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Invalid values in a file. */
static void test_input(void **state)
{
  (void)state;
  idm_problem *problem = problem_of((support_shape){2, 2, 2, 1, 7}, 1, 1);
  static const double wrong[] = {-1, -INFINITY, NAN};
  for (size_t i = 0; i < 3; i++) {
    idm_error error = {0};
    idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, wrong[i]);
    assert_int_equal(idm_theta_validate(problem->theta, problem->setting, &error), IDM_INPUT);
    assert_non_null(strstr(error.message, "sensor_capacity"));
  }
  idm_problem_destroy(problem);
  static const char *const texts[] = {"-0.5", ".nan", "-.inf", "much"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    char text[300];
    snprintf(text, sizeof text,
             "states: [a, b]\nactions: [u]\nobservations: [x, y]\ntransition: identity\n"
             "observation: uniform\nutility: {u: 1}\nagent: {sensor_capacity: %s}\n",
             texts[i]);
    idm_error error = {0};
    idm_problem *read = NULL;
    assert_int_equal(idm_problem_parse_yaml(text, strlen(text), "text", &read, NULL, &error),
                     IDM_INPUT);
    support_expect_place(&error, 7, 26, "sensor_capacity is");
    idm_problem_destroy(read);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_planning),   cmocka_unit_test(test_value_iteration),
      cmocka_unit_test(test_everything), cmocka_unit_test(test_nothing),
      cmocka_unit_test(test_likelihood), cmocka_unit_test(test_sampled),
      cmocka_unit_test(test_impossible), cmocka_unit_test(test_frequencies),
      cmocka_unit_test(test_recovery),   cmocka_unit_test(test_planners),
      cmocka_unit_test(test_gradient),   cmocka_unit_test(test_many),
      cmocka_unit_test(test_input),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
