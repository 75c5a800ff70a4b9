/* Starting points of chains: modes and covariances against finite differences, and maxima that do
 * not depend on the initial values. */
#include <math.h>
#include <string.h>

#include "invert/classes.h"
#include "invert/matching/fit.h"
#include "support.h"

/* --- fixtures ------------------------------------------------------------------------------- */

typedef struct bench {
  idm_problem *problem;
  idm_data *data;
  idm_fit_settings settings;
  fit_context f;
} bench;

static void open_bench(bench *b, idm_problem *problem, idm_data *data, size_t chains)
{
  b->problem = problem;
  b->data = data;
  idm_fit_settings_default(&b->settings);
  b->settings.threads = 1;
  check(idm_fit_open(&b->f, NULL, problem, data, &b->settings, chains, &support_error));
}

static void close_bench(bench *b)
{
  idm_fit_close(&b->f);
  idm_data_destroy(b->data);
  idm_problem_destroy(b->problem);
}

static void open_diag(bench *b, const char *free_blocks, size_t chains)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 10;
  problem->agent.evaluate = IDM_LOOKAHEAD;
  problem->agent.tolerance = 1e-12;
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  const idm_simulation simulation = {.trajectories = 100, .seed = 2};
  idm_data *data = support_simulate(problem, simulation);
  open_bench(b, problem, data, chains);
}

static chain_start *find(const bench *b, size_t chain)
{
  chain_start *s;
  check(idm_start_create(idm_parameters_dimension(b->f.parameters), &s, &support_error));
  check(idm_start_find(&b->f, chain, s, &support_error));
  check(idm_start_prepare(&b->f, chain, s, &support_error));
  return s;
}

static double density(const bench *b, size_t chain, const double *y)
{
  const idm_target target = idm_matching_target(b->f.matching[chain]);
  double value;
  check(target.evaluate(target.context, y, &value, NULL, &support_error));
  return value;
}

/* --- tests ---------------------------------------------------------------------------------- */

static void test_mode_and_spread(void **state)
{
  (void)state;
  bench b;
  open_diag(&b, "alpha", 1);
  chain_start *s = find(&b, 0);
  assert_true(s->definite);
  assert_true(s->log_density == density(&b, 0, s->mode));
  /* Curvature by second differences with a step of half a posterior sd. */
  const double sd = sqrt(s->covariance[0]), above = s->mode[0] + 0.5 * sd,
               below = s->mode[0] - 0.5 * sd;
  const double curvature =
      (density(&b, 0, &above) + density(&b, 0, &below) - 2 * s->log_density) / (0.25 * sd * sd);
  assert_near(-1 / curvature / s->covariance[0], 1, 0.02);
  assert_true(density(&b, 0, &above) < s->log_density && density(&b, 0, &below) < s->log_density);
  /* Points at multiples of 0.01 sd around the mode have no higher density. */
  for (int k = -5; k <= 5; k++) {
    const double y = s->mode[0] + 0.01 * k * sd;
    assert_true(density(&b, 0, &y) < s->log_density + 1e-5);
  }
  idm_start_destroy(s);
  close_bench(&b);
}

static void test_scattered_and_repeatable(void **state)
{
  (void)state;
  bench b;
  open_diag(&b, "{beta: {scale: inverse}, eta: }", 4);
  chain_start *s[4];
  for (size_t i = 0; i < 4; i++) {
    s[i] = find(&b, i);
    const double reached = density(&b, i, s[i]->x);
    assert_true(reached < s[i]->log_density);
    assert_true(reached > s[i]->log_density - 40);
    for (size_t j = 0; j < i; j++) {
      /* One mode, several starting points. */
      for (size_t k = 0; k < 2; k++) {
        const double sd = sqrt(s[j]->covariance[3 * k]);
        assert_true(fabs(s[i]->mode[k] - s[j]->mode[k]) < 0.1 * sd);
        assert_true(fabs(s[i]->x[k] - s[j]->x[k]) > 1e-3 * sd);
      }
    }
    assert_true(s[i]->covariance[1] == s[i]->covariance[2]);
  }
  /* A second fixture gives identical bits. */
  bench again;
  open_diag(&again, "{beta: {scale: inverse}, eta: }", 4);
  chain_start *same = find(&again, 2);
  assert_memory_equal(same->x, s[2]->x, 2 * sizeof(double));
  assert_memory_equal(same->mode, s[2]->mode, 2 * sizeof(double));
  assert_memory_equal(same->covariance, s[2]->covariance, 4 * sizeof(double));
  idm_start_destroy(same);
  close_bench(&again);
  for (size_t i = 0; i < 4; i++) idm_start_destroy(s[i]);
  close_bench(&b);
}

/* A log without decisions: the posterior is the prior. */
static void open_silent(bench *b, const char *free_blocks)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 10;
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  open_bench(b, problem, support_data(problem, "trajectory,action,observation\n1,,\n"), 2);
}

static void test_no_data(void **state)
{
  (void)state;
  bench b;
  open_silent(&b, "{beta: {scale: inverse, prior: {normal: [2, 3]}}}");
  chain_start *s = find(&b, 1);
  assert_true(s->definite);
  assert_near(s->mode[0], 2, 1e-4);
  assert_near(s->covariance[0], 9, 1e-4);
  idm_start_destroy(s);
  close_bench(&b);
  /* A flat posterior has no mode; the covariance is a default. */
  open_silent(&b, "{beta: {scale: inverse, prior: flat}}");
  s = find(&b, 1);
  assert_false(s->definite);
  assert_near(s->covariance[0], 20.0 / 46 * 20 / 46, 1e-15);
  assert_true(isfinite(s->x[0]));
  idm_start_destroy(s);
  close_bench(&b);
}

/* An agent with best actions only, and a log of another action. */
static void test_no_start_explains(void **state)
{
  (void)state;
  bench b;
  idm_problem *problem = support_diag(0, INFINITY, 0);
  problem->agent.resolution = 10;
  check(idm_problem_set_free(problem, "discount", &support_error));
  open_bench(&b, problem,
             support_data(problem, "trajectory,action,observation\n1,declare_healthy,negative\n"),
             1);
  chain_start *s;
  idm_error error = {0};
  check(idm_start_create(1, &s, &support_error));
  assert_int_equal(idm_start_find(&b.f, 0, s, &error), IDM_NUMERICAL);
  assert_non_null(strstr(error.message, "no starting point explains the data"));
  idm_start_destroy(s);
  close_bench(&b);
}

/* --- the highest of all --------------------------------------------------------------------- */

static idm_problem *read_clinic(double alpha)
{
  idm_problem *problem;
  check(idm_problem_read("../examples/clinic.yaml", &problem, NULL, &support_error));
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, alpha);
  problem->agent.resolution = 10;
  problem->theta->block[IDM_CERTAINTY].value[2] = 0.1; /* a jump would add local maxima */
  return problem;
}

/* The prior of 1/beta is much wider than its mode, and there are lower modes along a curved ridge,
 * and kinks: the maximum is the same for every seed and for every initial value, all away from the
 * truth. */
static void test_best_from_anywhere(void **state)
{
  (void)state;
  static const double own[] = {INFINITY, 0.05, -0.05, 0.01};
  double top = NAN;
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
    bench b;
    idm_problem *problem = read_clinic(1);
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 50, .steps = 10, .seed = 3});
    idm_theta_set_scalar(problem->theta, IDM_ALPHA, 0.1);
    idm_theta_set_scalar(problem->theta, IDM_BETA, own[k]);
    check(idm_problem_set_free(problem, "{alpha: , beta: }", &support_error));
    open_bench(&b, problem, data, 1);
    b.settings.chains = 1;
    b.f.key = k;
    chain_start *best;
    check(idm_start_create(2, &best, &support_error));
    check(idm_start_best(&b.f, best, &support_error));
    if (k == 0) top = best->log_density;
    assert_true(fabs(best->log_density - top) < 1e-3);
    idm_start_destroy(best);
    close_bench(&b);
  }
}

/* The likelihood of a rational agent is piecewise constant in the discount, and the prior density
 * increases up to a step: the maximum is on the upper side of the step, and not below the density
 * of the initial value. */
static void test_edges_are_left(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    idm_problem *problem =
        support_yaml("states: [l, r]\nactions: [a, b]\nobservations: [x, y]\nstart: [0.6, 0.4]\n"
                     "discount: 0.9\ntransition: {\"*\": [[0.9, 0.1], [0.1, 0.9]]}\n"
                     "observation: {a: [[0.2, 0.8], [0.8, 0.2]], b: [[0.6, 0.4], [0.4, 0.6]]}\n"
                     "utility: {a: [1, -0.8], b: [-0.7, 1.3]}\n"
                     "agent: {planner: rational, resolution: 8, lapse: 0.1}\nfree: [discount]\n");
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 8, .steps = 6, .seed = seed});
    bench b;
    chain_start *best;
    open_bench(&b, problem, data, 1);
    check(idm_start_create(1, &best, &support_error));
    check(idm_start_best(&b.f, best, &support_error));
    double own;
    idm_parameters_get(b.f.parameters, problem->theta, &own);
    assert_true(best->log_density >= density(&b, 0, &own) - 1e-9);
    /* On at least one side, at a distance of 1e-6, the density is not above the maximum. */
    const double far = 1e-6;
    const double beside[] = {best->mode[0] - far, best->mode[0] + far};
    assert_true(fmax(density(&b, 0, &beside[0]), density(&b, 0, &beside[1])) <
                best->log_density + 1e-3);
    idm_start_destroy(best);
    close_bench(&b);
  }
}

/* A subset of a log with many histories: every n-th trajectory, with a bounded number of histories;
 * a log with few histories has no subset. */
static void test_part_is_spread(void **state)
{
  (void)state;
  bench b;
  idm_problem *problem = read_clinic(3);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 4000, .steps = 10, .seed = 3});
  check(idm_problem_set_free(problem, "{alpha: }", &support_error));
  open_bench(&b, problem, data, 1);
  assert_true(b.f.tree->nodes > 20000);
  fit_context small;
  idm_data *part;
  double share;
  check(idm_start_open_subset(&b.f, &small, &part, &share, &support_error));
  assert_near(share, (double)part->trajectories / 4000, 1e-12);
  assert_true(small.tree->nodes > 2500 && small.tree->nodes < 10000);
  for (size_t k = 0; k < part->trajectories; k++) {
    const size_t from = data->first[k * 4000 / part->trajectories], to = part->first[k];
    for (size_t i = 0; i < 10; i++) {
      assert_int_equal(part->action[to + i], data->action[from + i]);
      assert_int_equal(part->observation[to + i], data->observation[from + i]);
    }
  }
  /* The subset is representative: its log-likelihood is its share of that of the log. */
  const double y = log(2);
  double all, some;
  check(idm_matching_log_likelihood(b.f.matching[0], &y, &all, NULL, &support_error));
  check(idm_matching_log_likelihood(small.matching[0], &y, &some, NULL, &support_error));
  assert_near(some / share / all, 1, 0.02);
  idm_fit_close(&small);
  idm_data_destroy(part);
  close_bench(&b);

  open_diag(&b, "{alpha: }", 1);
  check(idm_start_open_subset(&b.f, &small, &part, &share, &support_error));
  assert_true(share == 1);
  assert_null(part);
  close_bench(&b);
}

/* With a prior as wide as the utilities of Tiger, some draws have a finite density without a
 * derivative. Every chain finds a start nevertheless. */
static void test_starts_without_a_slope_are_left(void **state)
{
  (void)state;
  enum { chains = 40 };
  bench b;
  idm_problem *problem;
  check(idm_problem_read("example:tiger", &problem, NULL, &support_error));
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, 0.5);
  const idm_simulation simulation = {.trajectories = 7, .steps = 30, .seed = 1};
  idm_data *data = support_simulate(problem, simulation);
  check(idm_class_apply(idm_class_find("subj-po-irl"), problem, &support_error));
  open_bench(&b, problem, data, chains);
  for (size_t i = 0; i < chains; i++) {
    chain_start *s = find(&b, i);
    assert_true(isfinite(s->log_density));
    idm_start_destroy(s);
  }
  close_bench(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mode_and_spread),
      cmocka_unit_test(test_scattered_and_repeatable),
      cmocka_unit_test(test_no_data),
      cmocka_unit_test(test_no_start_explains),
      cmocka_unit_test(test_starts_without_a_slope_are_left),
      cmocka_unit_test(test_best_from_anywhere),
      cmocka_unit_test(test_edges_are_left),
      cmocka_unit_test(test_part_is_spread),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
