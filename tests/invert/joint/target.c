/* Tests the joint density: its parts against a separate tabulation, plans from anchors and
 * surfaces, parts by trajectory, and its gradient against finite differences. */
#include "invert/joint/joint.h"

#include <math.h>
#include <string.h>

#include "invert/joint/joint_support.h"
#include "invert/matching.h"
#include "learn/learn.h"

typedef struct opened {
  joint_scene s;
  idm_fit_settings settings;
  fit_context f;
  idm_cut_draws cut;
  joint_parameters numbers;
  idm_iohmm *learner;
  joint_target j;
  joint_worker *worker;
} opened;

static void open_all(opened *o)
{
  *o = (opened){.s = joint_open(40)};
  static const double start[] = {1}, unit[] = {1};
  o->cut = (idm_cut_draws){o->s.problem, &o->s.draws, 10};
  o->numbers = (joint_parameters){.count = 1,
                                  .log_prior = joint_prior,
                                  .cell_parameters = joint_same,
                                  .start = start,
                                  .unit = unit};
  idm_fit_settings_default(&o->settings);
  check(idm_fit_open(&o->f, NULL, o->s.problem, o->s.data, &o->settings, 1, &support_error));
  check(idm_joint_learner(o->s.problem, &o->cut, o->s.data, &o->learner, &support_error));
  assert_non_null(o->learner);
  o->j = (joint_target){.problem = o->s.problem,
                        .cut = &o->cut,
                        .numbers = &o->numbers,
                        .learner = o->learner,
                        .cells = 1,
                        .cell = &o->f,
                        .ratios = ratio_count(o->learner->structure)};
  o->j.dimension = o->j.ratios + 1;
  check(idm_joint_worker_create(&o->j, &o->worker, &support_error));
}

static void close_all(opened *o)
{
  idm_joint_worker_destroy(o->worker);
  idm_iohmm_destroy(o->learner);
  idm_fit_close(&o->f);
  joint_close(&o->s);
}

/* Differences between grid points equal those of the tabulated parts. */
static void test_parts_of_the_density(void **state)
{
  (void)state;
  opened o;
  static joint_grid grid;
  open_all(&o);
  assert_int_equal(o.j.ratios, 1);
  joint_tabulate(&o.s, NULL, &grid);
  double constant = NAN;
  for (size_t i = 0; i < JOINT_RATIOS; i += 8)
    for (size_t k = 0; k < JOINT_ALPHAS; k += 12) {
      const double v[] = {grid.ratio[i], grid.alpha[k]};
      double density;
      check(idm_joint_evaluate(o.worker, v, &density, NULL, 0, &support_error));
      const double expected =
          grid.observed[i] + grid.decided[i][k] - 0.5 * grid.alpha[k] * grid.alpha[k];
      if (isnan(constant)) constant = density - expected;
      assert_near(density, expected + constant, 1e-6);
    }
  close_all(&o);
}

/* An anchor changes the starting point of plans, not their solution; parts sum to the
 * log-likelihood of the decisions. */
static void test_anchors_and_trajectories(void **state)
{
  (void)state;
  enum { PARTS = 7 };
  opened o;
  open_all(&o);
  const double v[] = {-0.3, 1.1}, elsewhere[] = {0.4, 0.6};
  double plain, anchored, again, part[PARTS], sum = 0, decided;
  check(idm_joint_evaluate(o.worker, v, &plain, part, PARTS, &support_error));
  check(idm_joint_anchor(o.worker, elsewhere, &support_error));
  check(idm_joint_evaluate(o.worker, v, &anchored, NULL, 0, &support_error));
  assert_near(anchored, plain, 1e-7);
  check(idm_joint_evaluate(o.worker, elsewhere, &again, NULL, 0, &support_error));
  check(idm_joint_evaluate(o.worker, v, &again, NULL, 0, &support_error));
  assert_near(again, anchored, 0); /* a function of v only */
  for (size_t i = 0; i < PARTS; i++) sum += part[i];
  idm_dynamics *d;
  check(idm_problem_dynamics(o.s.problem, &d, &support_error));
  ratio_set(o.learner->structure, v, d->start);
  check(idm_iohmm_log_likelihood(o.learner, d, &decided, NULL, &support_error));
  decided = plain - decided - ratio_log_prior(o.learner->structure, o.s.draws.prior, d->start) +
            0.5 * v[1] * v[1];
  assert_near(sum, decided, 1e-8);
  idm_dynamics_destroy(d);
  close_all(&o);
}

/* A surface of solutions changes the starting points of plans, not their solutions. */
static void test_surface(void **state)
{
  (void)state;
  opened o;
  open_all(&o);
  const double v[] = {-0.3, 1.1}, mode[] = {0.1, 0.8}, covariance[] = {0.04, 0, 0, 0.09};
  double plain, surfaced;
  check(idm_joint_evaluate(o.worker, v, &plain, NULL, 0, &support_error));
  check(idm_joint_surface(o.worker, mode, covariance, &support_error));
  check(idm_joint_evaluate(o.worker, v, &surfaced, NULL, 0, &support_error));
  assert_near(surfaced, plain, 1e-7);
  close_all(&o);
}

/* The gradient equals central differences, for any starting points of plans. */
static void test_gradient(void **state)
{
  (void)state;
  static const double h = 1e-5;
  opened o;
  open_all(&o);
  const double mode[] = {0.1, 0.8}, covariance[] = {0.04, 0, 0, 0.09};
  const idm_target target = idm_joint_target(o.worker, NULL);
  assert_true(target.gradient && idm_joint_has_gradient(o.worker));
  for (int i = 0; i < 12; i++) {
    double v[] = {0.25 * i - 1.4, 0.2 * (i % 4) + 0.4}, gradient[2], density, side[2];
    if (i == 6) check(idm_joint_surface(o.worker, mode, covariance, &support_error));
    check(target.evaluate(target.context, v, &density, gradient, &support_error));
    check(idm_joint_evaluate(o.worker, v, &side[0], NULL, 0, &support_error));
    assert_near(density, side[0], 1e-8);
    for (int k = 0; k < 2; k++) {
      const double at = v[k];
      for (int end = 0; end < 2; end++) {
        v[k] = at + (end ? h : -h);
        check(idm_joint_evaluate(o.worker, v, &side[end], NULL, 0, &support_error));
      }
      v[k] = at;
      assert_near(gradient[k], (side[1] - side[0]) / (2 * h), 1e-3);
    }
  }
  close_all(&o);
}

/* Points that are impossible or cannot be planned for have density 0. */
static void test_support(void **state)
{
  (void)state;
  opened o;
  open_all(&o);
  const double none[][2] = {{INFINITY, 1}, {-1e5, 1}, {0, NAN}};
  for (size_t i = 0; i < 3; i++) {
    double density;
    check(idm_joint_evaluate(o.worker, none[i], &density, NULL, 0, &support_error));
    assert_true(density == -INFINITY);
  }
  close_all(&o);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parts_of_the_density), cmocka_unit_test(test_anchors_and_trajectories),
      cmocka_unit_test(test_surface), cmocka_unit_test(test_gradient),
      cmocka_unit_test(test_support)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
