/* Tests the mode of a joint posterior and its normal approximation against a grid. */
#include "invert/joint/joint.h"

#include <math.h>

#include "invert/joint/joint_support.h"
#include "learn/learn.h"

/* The maximum and the moments of the posterior on the grid. */
static void look(const joint_grid *grid, double mode[2], joint_moments moments[2])
{
  double top = -INFINITY;
  for (int round = 0; round < 2; round++)
    for (size_t i = 0; i < JOINT_RATIOS; i++)
      for (size_t k = 0; k < JOINT_ALPHAS; k++) {
        const double y = grid->alpha[k];
        const double height = grid->observed[i] + grid->decided[i][k] - 0.5 * y * y;
        if (round) {
          joint_add(&moments[0], exp(height - top), grid->ratio[i]);
          joint_add(&moments[1], exp(height - top), y);
        } else if (height > top) {
          top = height;
          mode[0] = grid->ratio[i];
          mode[1] = y;
        }
      }
}

/* Within an sd of the mode, differences of the surrogate approximate those of the target. */
static void check_surrogate(joint_worker *worker, const joint_normal *normal)
{
  const idm_target target = idm_joint_target(worker, normal);
  double exact[2], cheap[2];
  for (size_t i = 0; i < 2; i++) {
    double v[2] = {normal->mode[0], normal->mode[1]};
    for (int side = 0; side < 2; side++) {
      v[i] = normal->mode[i] + (side ? 1 : -1) * sqrt(normal->covariance[3 * i]);
      check(target.evaluate(worker, v, &exact[side], NULL, &support_error));
      cheap[side] = idm_joint_surrogate(worker, v);
    }
    assert_true(fabs((exact[1] - exact[0]) - (cheap[1] - cheap[0])) < 0.4);
  }
}

static void test_mode(void **state)
{
  (void)state;
  joint_scene s = joint_open(200);
  static joint_grid grid;
  static const double start[] = {0}, unit[] = {1};
  double mode[2] = {0}, precision[4];
  joint_normal normal;
  joint_moments moments[2] = {0};
  idm_fit_settings settings;
  fit_context f;
  idm_iohmm *learner;
  joint_worker *worker;
  const idm_cut_draws cut = {s.problem, &s.draws, 10};
  const joint_parameters numbers = {.count = 1,
                                    .log_prior = joint_prior,
                                    .cell_parameters = joint_same,
                                    .start = start,
                                    .unit = unit};
  idm_fit_settings_default(&settings);
  check(idm_fit_open(&f, NULL, s.problem, s.data, &settings, 1, &support_error));
  check(idm_joint_learner(s.problem, &cut, s.data, &learner, &support_error));
  joint_target j = {.problem = s.problem,
                    .cut = &cut,
                    .numbers = &numbers,
                    .learner = learner,
                    .cells = 1,
                    .cell = &f,
                    .ratios = 1,
                    .dimension = 2};
  joint_tabulate(&s, NULL, &grid);
  look(&grid, mode, moments);
  check(idm_joint_worker_create(&j, &worker, &support_error));
  check(idm_joint_normal_create(2, &normal, &support_error));
  check(idm_joint_precision(&j, precision, &support_error));
  assert_near(precision[3], 1, 1e-12);
  for (size_t chain = 0; chain < 4; chain++) {
    const double *v = normal.mode, *covariance = normal.covariance;
    check(idm_joint_start(&j, chain, 4, normal.mode, &support_error));
    assert_near(v[1], 0, 0);
    check(idm_joint_find_mode(worker, precision, &normal, &support_error));
    print_message("  mode %.3f, %.3f (grid %.3f, %.3f), sds %.3f, %.3f (%.3f, %.3f)\n", v[0], v[1],
                  mode[0], mode[1], sqrt(covariance[0]), sqrt(covariance[3]), joint_sd(&moments[0]),
                  joint_sd(&moments[1]));
    /* The search stops at a gain of half a nat, which is an sd. */
    for (size_t i = 0; i < 2; i++) {
      assert_true(fabs(v[i] - mode[i]) < 1.2 * joint_sd(&moments[i]));
      const double ratio = sqrt(covariance[3 * i]) / joint_sd(&moments[i]);
      assert_true(ratio > 0.6 && ratio < 1.6);
    }
  }
  check_surrogate(worker, &normal);
  idm_joint_normal_clear(&normal);
  idm_joint_worker_destroy(worker);
  idm_iohmm_destroy(learner);
  idm_fit_close(&f);
  joint_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mode)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
