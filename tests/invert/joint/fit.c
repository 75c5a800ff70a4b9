/* Tests fits with dynamics drawn jointly with the free parameters: the posterior against
 * quadrature, other logs, and interruptions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/joint/joint_support.h"

static idm_fit_settings settings_of(long draws)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.chains = 4;
  settings.draws = draws;
  settings.warmup = 200;
  settings.threads = 2;
  return settings;
}

/* Moments of log alpha and of the probability, by sums over the grid. */
static void integrate(const joint_grid *grid, joint_moments *alpha, joint_moments *probability)
{
  double top = -INFINITY;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < JOINT_RATIOS; i++)
      for (size_t k = 0; k < JOINT_ALPHAS; k++) {
        const double y = grid->alpha[k];
        const double height = grid->observed[i] + grid->decided[i][k] - 0.5 * y * y;
        if (!pass) {
          top = fmax(top, height);
          continue;
        }
        joint_add(alpha, exp(height - top), y);
        joint_add(probability, exp(height - top), 1 / (1 + exp(-grid->ratio[i])));
      }
}

/* Means and sds of the draws of a sampler equal those of quadrature, for the free parameter and for
 * the dynamics. */
static void compare_sampler(const joint_scene *s, const char *sampler, const joint_moments *alpha,
                            const joint_moments *probability)
{
  idm_posterior *posterior;
  idm_fit_settings settings = settings_of(2000);
  const idm_cut_draws cut = {s->problem, &s->draws, 10};
  strcpy(settings.sampler, sampler);
  check(
      idm_joint_fit(s->problem, s->data, &settings, &cut, NULL, &posterior, NULL, &support_error));
  assert_non_null(posterior);
  assert_string_equal(posterior->sampler, sampler[0] ? sampler : "pcn");
  joint_compare(posterior->unconstrained, settings.chains, (size_t)settings.draws, alpha);
  const idm_joint_dynamics *d = posterior->dynamics;
  print_message("  %s: mean %.4f (quadrature %.4f), sd %.4f (%.4f)\n", d->name.name[0], d->mean[0],
                joint_mean(probability), d->sd[0], joint_sd(probability));
  assert_true(d->rhat < 1.05 && d->effective > 400);
  assert_true(fabs(d->mean[0] - joint_mean(probability)) <
              5 * joint_sd(probability) / sqrt(d->effective));
  assert_true(fabs(d->sd[0] / joint_sd(probability) - 1) < 0.1);
  assert_near(d->mean[0] + d->mean[1], 1, 1e-12);
  idm_posterior_destroy(posterior);
}

static void test_quadrature(void **state)
{
  (void)state;
  joint_scene s = joint_open(60);
  static joint_grid grid;
  joint_moments alpha = {0}, probability = {0};
  joint_tabulate(&s, NULL, &grid);
  integrate(&grid, &alpha, &probability);
  compare_sampler(&s, "", &alpha, &probability);
  compare_sampler(&s, "hmc", &alpha, &probability);
  joint_close(&s);
}

/* Dynamics learnt from another log, or with an unknown prior, cannot be drawn jointly with the
 * decisions. */
static void test_other_logs(void **state)
{
  (void)state;
  joint_scene s = joint_open(40);
  idm_data *other = joint_other_log(&s);
  idm_posterior *posterior;
  const idm_fit_settings settings = settings_of(10);
  const idm_cut_draws cut = {s.problem, &s.draws, 10};
  check(idm_joint_fit(s.problem, other, &settings, &cut, NULL, &posterior, NULL, &support_error));
  assert_null(posterior);
  s.draws.prior = NAN;
  check(idm_joint_fit(s.problem, s.data, &settings, &cut, NULL, &posterior, NULL, &support_error));
  assert_null(posterior);
  idm_data_destroy(other);
  joint_close(&s);
}

/* A fit that is interrupted and resumed several times has the draws of an uninterrupted one, bit
 * for bit. A checkpoint of another request is rejected. */
static void test_goes_on(void **state)
{
  (void)state;
  static const double when[] = {0, 0.3, 0.6, 0.9, 2};
  joint_scene s = joint_open(40);
  const idm_cut_draws cut = {s.problem, &s.draws, 10};
  const idm_fit_settings settings = settings_of(400);
  idm_posterior *whole, *parts = NULL;
  support_resuming r = {0};
  idm_error error = {0};
  check(idm_joint_fit(s.problem, s.data, &settings, &cut, NULL, &whole, NULL, &support_error));
  for (size_t k = 0; k < sizeof when / sizeof *when; k++) {
    const idm_fit_monitor watch = support_resume(&r, when[k], 4);
    idm_posterior_destroy(parts);
    const idm_status status =
        idm_joint_fit(s.problem, s.data, &settings, &cut, &watch, &parts, NULL, &support_error);
    support_resumed(&r, status);
  }
  assert_non_null(parts);
  assert_non_null(r.bytes);
  const size_t count = settings.chains * (size_t)settings.draws;
  assert_memory_equal(parts->value, whole->value,
                      idm_posterior_numbers(whole) * count * sizeof(double));
  assert_memory_equal(parts->dynamics->mean, whole->dynamics->mean, 2 * sizeof(double));
  idm_posterior_destroy(parts);
  const idm_fit_monitor other = {
      .checkpoint = r.bytes, .checkpoint_length = r.length, .checkpoint_file = "there", .label = 5};
  assert_int_equal(idm_joint_fit(s.problem, s.data, &settings, &cut, &other, &parts, NULL, &error),
                   IDM_INPUT);
  assert_string_equal(error.file, "there");
  assert_null(parts);
  free(r.bytes);
  idm_posterior_destroy(whole);
  joint_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_quadrature),
                                     cmocka_unit_test(test_other_logs),
                                     cmocka_unit_test(test_goes_on)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
