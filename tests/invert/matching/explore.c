/* Exploration of a posterior: importance-weighted points against quadrature, modes separated by low
 * density, and starting points of chains. */
#include "invert/matching/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* --- fixtures ------------------------------------------------------------------------------- */

enum { LANES = 2 };

typedef struct bench {
  idm_problem *problem;
  idm_data *data;
  idm_fit_settings settings;
  fit_context f;
  chain_start *start;
  idm_exploration *e;
} bench;

/* Finds one start, then draws `looks` points per lane from the prior, and as many per lane in each
 * of two rounds. */
static void open_bench(bench *b, idm_problem *problem, idm_data *data, size_t looks)
{
  *b = (bench){.problem = problem, .data = data};
  idm_fit_settings_default(&b->settings);
  b->settings.threads = 1;
  check(idm_fit_open(&b->f, NULL, problem, data, &b->settings, LANES, &support_error));
  const size_t d = idm_parameters_dimension(b->f.parameters);
  check(idm_start_create(d, &b->start, &support_error));
  for (size_t lane = LANES; lane-- > 0;) {
    check(idm_start_find(&b->f, lane, b->start, &support_error));
    check(idm_start_prepare(&b->f, lane, b->start, &support_error));
  }
  check(idm_exploration_create(&b->f, LANES, 5, 3 * LANES * looks, &b->e, &support_error));
  check(idm_explore_modes(b->e, &b->start, 1, looks, &support_error));
  assert_int_equal(b->e->points, LANES * looks);
  for (int k = 0; k < 2; k++) check(idm_explore_round(b->e, looks, &support_error));
  assert_int_equal(b->e->points, 3 * LANES * looks);
}

static void close_bench(bench *b)
{
  idm_exploration_destroy(b->e);
  idm_start_destroy(b->start);
  idm_fit_close(&b->f);
  idm_data_destroy(b->data);
  idm_problem_destroy(b->problem);
}

/* DIAG with log alpha free: one mode. */
static void open_one(bench *b, size_t looks)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 10;
  check(idm_problem_set_free(problem, "{alpha: {scale: log, prior: {normal: [0, 2]}}}",
                             &support_error));
  open_bench(b, problem, support_simulate(problem, (idm_simulation){.trajectories = 30, .seed = 2}),
             looks);
}

/* Bets on a hidden side after unrecorded observations: 1/alpha and -1/alpha have equal likelihood
 * and the prior is symmetric, so half of the posterior is on either side of a valley. */
static void open_two(bench *b, size_t looks)
{
  idm_problem *problem =
      support_yaml("states: [l, r]\nactions: [look, left, right, safe]\nobservations: [x, y]\n"
                   "start: [0.5, 0.5]\ndiscount: 0.9\nterminal: [left, right, safe]\n"
                   "transition: {look: identity, left: identity, right: identity, safe: identity}\n"
                   "observation: {'*': [[0.8, 0.2], [0.2, 0.8]]}\n"
                   "utility: {look: 0, left: [1, -1], right: [-1, 1], safe: 0}\n"
                   "agent: {planner: bounded-rational, alpha: 0.5, resolution: 40}\n");
  char csv[2000] = "trajectory,action,observation\n";
  for (int i = 0; i < 12; i++)
    snprintf(csv + strlen(csv), sizeof csv - strlen(csv), "%d,look,\n%d,look,\n%d,%s,\n", i, i, i,
             i % 2 ? "left" : "right");
  check(idm_problem_set_free(problem, "{alpha: {scale: inverse, prior: {normal: [0, 6]}}}",
                             &support_error));
  open_bench(b, problem, support_data(problem, csv), looks);
}

static double density(const bench *b, double y)
{
  const idm_target target = idm_matching_target(b->f.matching[0]);
  double value;
  check(target.evaluate(target.context, &y, &value, NULL, &support_error));
  return value;
}

/* Mean and sd of the posterior by the trapezoidal rule. */
static void integrate(const bench *b, double low, double high, double *mean, double *sd)
{
  enum { POINTS = 1201 };
  double total = 0, first = 0, second = 0;
  const double top = b->e->component[0].log_density;
  for (int i = 0; i < POINTS; i++) {
    const double y = low + (high - low) * i / (POINTS - 1);
    const double w = exp(density(b, y) - top);
    total += w;
    first += w * y;
    second += w * y * y;
  }
  *mean = first / total;
  *sd = sqrt(second / total - *mean * *mean);
}

/* --- points --------------------------------------------------------------------------------- */

/* Weighted mean and mean square against quadrature, each within 4.5 standard errors: by chance one
 * seed in 70,000 fails. */
static void expect_moments(const bench *b, double mean, double sd)
{
  const idm_exploration *e = b->e;
  for (int power = 1; power <= 2; power++) {
    const double expected = power == 1 ? mean : sd * sd + mean * mean;
    double sum = 0, error = 0;
    for (size_t i = 0; i < e->points; i++) sum += e->weight[i] * pow(e->point[i], power);
    for (size_t i = 0; i < e->points; i++)
      error += pow(e->weight[i] * (pow(e->point[i], power) - sum), 2);
    if (!(fabs(sum - expected) < 4.5 * sqrt(error)))
      fail_msg("%g +- %g, expected %g", sum, sqrt(error), expected);
    assert_true(sqrt(error) < 0.1 * sd * fmax(1, fabs(mean) + sd)); /* the test has power */
  }
}

static void test_one_mode(void **state)
{
  (void)state;
  bench b;
  double mean, sd, total = 0;
  open_one(&b, 300);
  assert_int_equal(b.e->modes, 1);
  integrate(&b, -8, 8, &mean, &sd);
  expect_moments(&b, mean, sd);
  for (size_t i = 0; i < b.e->points; i++) {
    total += b.e->weight[i];
    if (i % 100 == 0) assert_near(b.e->log_density[i], density(&b, b.e->point[i]), 1e-7);
  }
  assert_near(total, 1, 1e-12);
  assert_true(idm_exploration_ess(b.e) > 500); /* of 1,800 points */
  double share;
  check(idm_exploration_mode_mass(b.e, &share, &support_error));
  assert_near(share, 1, 1e-12);
  close_bench(&b);
}

/* The start is in one mode; the other one is found. */
static void test_two_modes(void **state)
{
  (void)state;
  bench b;
  double mean, sd, share[8], work[2];
  open_two(&b, 300);
  assert_int_equal(b.e->modes, 2);
  const double a = b.e->component[0].centre[0], c = b.e->component[1].centre[0];
  assert_true(a * c < 0);
  assert_near(fabs(a), fabs(c), 1e-3);
  integrate(&b, -40, 40, &mean, &sd);
  assert_near(mean, 0, 1e-6);
  expect_moments(&b, mean, sd);
  check(idm_exploration_mode_mass(b.e, share, &support_error));
  assert_near(share[0] + share[1], 1, 1e-12);
  assert_true(fabs(share[0] - 0.5) < 0.1);
  assert_int_equal(idm_exploration_nearest_mode(b.e, &a, work), 0);
  assert_int_equal(idm_exploration_nearest_mode(b.e, &c, work), 1);
  close_bench(&b);
}

/* --- weights -------------------------------------------------------------------------------- */

/* Density of a discount with prior normal(0.9, 0.2) truncated to [0, 1], in the coordinate
 * logit(x). */
static double cut_normal(const void *context, const double *y)
{
  (void)context;
  const double x = 1 / (1 + exp(-*y)), z = (x - 0.9) / 0.2;
  const double mass = 0.5 * (erf(0.5 / sqrt(2)) + erf(4.5 / sqrt(2)));
  return -0.5 * z * z - log(0.2 * sqrt(2 * acos(-1)) * mass) + log(x * (1 - x));
}

static void draw_nothing(const void *context, idm_random *random, double *x)
{
  (void)context;
  (void)random;
  (void)x;
}

/* Weights use the mixture of all proposals: all of the first points and a fifth of both rounds from
 * the prior, the rest from the components. */
static void test_weights(void **state)
{
  (void)state;
  bench b;
  idm_mixture *all;
  double drawn = 0, work;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 10;
  check(idm_problem_set_free(problem, "{discount: {prior: {normal: [0.9, 0.2]}}}", &support_error));
  open_bench(&b, problem, support_simulate(problem, (idm_simulation){.trajectories = 5, .seed = 2}),
             100);
  assert_near(b.e->prior_drawn, 200 + 0.2 * 400, 1e-9);
  for (size_t i = 0; i < b.e->components; i++) drawn += b.e->component[i].drawn;
  assert_near(drawn, 0.8 * 400, 1e-9);
  const idm_defensive_component prior = {NULL, draw_nothing, cut_normal};
  check(idm_mixture_create(1, b.e->components, prior, b.e->prior_drawn, &all, &support_error));
  for (size_t i = 0; i < b.e->components; i++)
    if (b.e->component[i].drawn > 0)
      assert_true(idm_mixture_add(all, b.e->component[i].drawn, b.e->component[i].centre,
                                  b.e->component[i].covariance));
  const double first =
      b.e->log_weight[0] - b.e->log_density[0] + idm_mixture_log_density(all, b.e->point, &work);
  for (size_t i = 1; i < b.e->points; i++)
    assert_near(b.e->log_weight[i] - b.e->log_density[i] +
                    idm_mixture_log_density(all, b.e->point + i, &work),
                first, 1e-8);
  idm_mixture_destroy(all);
  close_bench(&b);
}

/* Points are assigned to modes by density, not by distance: near points to the narrow mode, far
 * ones to the wide mode. */
static void test_nearest(void **state)
{
  (void)state;
  bench b;
  const double near = 1, far = 5;
  double work[2];
  open_two(&b, 20);
  b.e->component[0].centre[0] = b.e->component[1].centre[0] = 0;
  b.e->component[0].covariance[0] = 1;
  b.e->component[1].covariance[0] = 100;
  assert_int_equal(idm_exploration_nearest_mode(b.e, &near, work), 0);
  assert_int_equal(idm_exploration_nearest_mode(b.e, &far, work), 1);
  close_bench(&b);
}

/* Lanes have their own random streams: a second exploration is identical. */
static void test_streams(void **state)
{
  (void)state;
  bench b, c;
  open_one(&b, 20);
  open_one(&c, 20);
  assert_memory_equal(b.e->point, c.e->point, b.e->points * sizeof(double));
  close_bench(&c);
  /* At full capacity no points are drawn, and existing points are kept. */
  check(idm_explore_round(b.e, 20, &support_error));
  assert_int_equal(b.e->points, 120);
  close_bench(&b);
}

/* A flat prior cannot be sampled: proposals come from the default prior, and the posterior is still
 * the problem's. */
static void test_flat(void **state)
{
  (void)state;
  bench b;
  double mean, sd;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 10;
  check(idm_problem_set_free(problem, "{alpha: {scale: log, prior: flat}}", &support_error));
  open_bench(&b, problem,
             support_simulate(problem, (idm_simulation){.trajectories = 30, .seed = 2}), 300);
  integrate(&b, -3, 3, &mean, &sd);
  expect_moments(&b, mean, sd);
  close_bench(&b);
}

/* --- what is made of them ------------------------------------------------------------------- */

/* The proposal density integrates to 1. */
static void test_mixture(void **state)
{
  (void)state;
  bench b;
  idm_mixture *mixture;
  double total = 0, work;
  open_one(&b, 100);
  check(idm_exploration_mixture(b.e, &mixture, &support_error));
  for (double y = -40; y < 40; y += 0.005)
    total += 0.005 * exp(idm_mixture_log_density(mixture, &y, &work));
  assert_near(total, 1, 1e-3);
  idm_mixture_destroy(mixture);
  close_bench(&b);
}

/* Components with singular covariance are ignored; the number of components is limited to 16. */
static void test_add(void **state)
{
  (void)state;
  bench b;
  const double centre = 0, none = 0, covariance = 1;
  open_one(&b, 20);
  const size_t components = b.e->components;
  check(idm_explore_add(b.e, &centre, &none, &support_error));
  assert_int_equal(b.e->components, components);
  for (int i = 0; i < 30; i++) check(idm_explore_add(b.e, &centre, &covariance, &support_error));
  assert_int_equal(b.e->components, 16);
  check(idm_explore_round(b.e, 1, &support_error));
  close_bench(&b);
}

/* Chains are assigned to the modes in turn and start at points nearest to their mode; starting
 * points are overdispersed relative to the mode. */
static void test_starts(void **state)
{
  (void)state;
  enum { CHAINS = 2000 };
  bench b;
  chain_start *s;
  double work[2], square[2] = {0};
  open_two(&b, 300);
  check(idm_start_create(1, &s, &support_error));
  for (size_t chain = 0; chain < CHAINS; chain++) {
    check(idm_explore_start(b.e, chain, s, &support_error));
    const idm_component *component = &b.e->component[chain % 2];
    assert_true(s->x_chosen && s->definite == component->definite);
    assert_true(s->mode[0] == component->centre[0] && s->covariance[0] == component->covariance[0]);
    assert_true(s->log_density == component->log_density);
    assert_int_equal(idm_exploration_nearest_mode(b.e, s->x, work), chain % 2);
    square[chain % 2] += pow(s->x[0] - component->centre[0], 2) / component->covariance[0];
  }
  /* Expected about 1.6, and 1 without overdispersion; the error of 1,000 draws is below 0.08. */
  for (int m = 0; m < 2; m++) assert_true(square[m] / (CHAINS / 2) > 1.3);
  idm_start_destroy(s);
  close_bench(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_mode), cmocka_unit_test(test_two_modes),
      cmocka_unit_test(test_weights),  cmocka_unit_test(test_nearest),
      cmocka_unit_test(test_streams),  cmocka_unit_test(test_flat),
      cmocka_unit_test(test_mixture),  cmocka_unit_test(test_add),
      cmocka_unit_test(test_starts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
