/* Tests audits with dynamics drawn jointly with the decisions: two groups against quadrature, other
 * logs, and interruptions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/joint/joint_support.h"

/* Two groups: trajectories with even and with odd indices. */
static idm_groups halves(const idm_data *data, bool *member, size_t *missing)
{
  idm_groups g = {
      .partition = true, .trajectories = data->trajectories, .member = member, .missing = missing};
  SUPPORT_NAMES(&g.name, "even", "odd");
  for (size_t t = 0; t < data->trajectories; t++) {
    member[t] = t % 2 == 0;
    member[data->trajectories + t] = t % 2 == 1;
  }
  return g;
}

static idm_audit_settings settings_of(long draws)
{
  idm_audit_settings settings;
  idm_audit_settings_default(&settings);
  settings.fit.chains = 4;
  settings.fit.draws = draws;
  settings.fit.threads = 2;
  return settings;
}

/* The difference of the groups' parameters is normal(0, sqrt(2) tau), which for small tau is
 * narrower than the grid. Returns the ratio of its integral to its sum over the grid. */
static double coarseness(double tau, double spacing)
{
  double sum = 0;
  for (int k = -JOINT_ALPHAS; k <= JOINT_ALPHAS; k++) sum += exp(-pow(k * spacing / (2 * tau), 2));
  return 2 * sqrt(acos(-1)) * tau / (spacing * sum);
}

/* Prior density of the two groups' parameters, integrated over the level, normal(0, 1), and the sd
 * tau, half-normal(1/2): a mixture of normals with variances 1 + tau^2 and covariance 1. */
static double prior_at(double x, double y, double spacing)
{
  enum { POINTS = 200 };
  double sum = 0;
  for (size_t i = 0; i < POINTS; i++) {
    const double tau = 2.5 * ((double)i + 0.5) / POINTS;
    const double a = 1 + tau * tau, det = a * a - 1;
    const double square = (a * (x * x + y * y) - 2 * x * y) / det;
    sum += exp(-2 * tau * tau - 0.5 * square) / sqrt(det) * coarseness(tau, spacing);
  }
  return sum;
}

/* Moments of both groups' parameters and of their difference. */
static void integrate(const joint_grid *grid, joint_moments *moments)
{
  static double prior[JOINT_ALPHAS][JOINT_ALPHAS];
  const double spacing = grid[0].alpha[1] - grid[0].alpha[0];
  double top = -INFINITY;
  for (size_t a = 0; a < JOINT_ALPHAS; a++)
    for (size_t b = 0; b < JOINT_ALPHAS; b++)
      prior[a][b] = prior_at(grid[0].alpha[a], grid[0].alpha[b], spacing);
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < JOINT_RATIOS; i++)
      for (size_t a = 0; a < JOINT_ALPHAS; a++)
        for (size_t b = 0; b < JOINT_ALPHAS; b++) {
          const double height = grid[0].observed[i] + grid[0].decided[i][a] + grid[1].decided[i][b];
          if (!pass) {
            top = fmax(top, height);
            continue;
          }
          const double weight = exp(height - top) * prior[a][b];
          joint_add(&moments[0], weight, grid[0].alpha[a]);
          joint_add(&moments[1], weight, grid[0].alpha[b]);
          joint_add(&moments[2], weight, grid[0].alpha[b] - grid[0].alpha[a]);
        }
}

static void test_quadrature(void **state)
{
  (void)state;
  enum { CASES = 80 };
  joint_scene s = joint_open(CASES);
  static joint_grid grid[2];
  bool member[2 * CASES];
  size_t missing[2] = {0};
  joint_moments moments[3] = {0};
  idm_groups groups = halves(s.data, member, missing);
  const idm_cut_draws cut = {s.problem, &s.draws, 10};
  const idm_audit_settings settings = settings_of(1500);
  idm_audit *audit;
  for (size_t g = 0; g < 2; g++) joint_tabulate(&s, member + g * CASES, &grid[g]);
  integrate(grid, moments);
  check(idm_audit_run(s.problem, s.data, &groups, &settings, &cut, NULL, &audit, &support_error));
  assert_non_null(audit->joint);
  assert_int_equal(audit->cuts, 1);
  support_check_listed(&audit->checks);
  for (size_t g = 0; g < 2; g++) {
    joint_compare(audit->group[g].number[0].draw, audit->chains, audit->draws, &moments[g]);
    assert_true(isfinite(audit->group[g].number[0].low));
    assert_true(isnan(audit->group[g].number[0].between));
  }
  joint_compare(audit->contrast[0].number[0].draw, audit->chains, audit->draws, &moments[2]);
  assert_true(support_mentions(&audit->remarks, "drawn together"));
  idm_audit_destroy(audit);
  idm_labels_destroy(&groups.name);
  joint_close(&s);
}

/* With another log, or without pooling, a cut posterior is used: one audit per selected draw of the
 * dynamics. */
static void test_cuts(void **state)
{
  (void)state;
  joint_scene s = joint_open(30);
  idm_data *other = joint_other_log(&s);
  bool member[2 * 30];
  size_t missing[2] = {0};
  idm_groups groups = halves(other, member, missing);
  const idm_cut_draws cut = {s.problem, &s.draws, 3};
  idm_audit_settings settings = settings_of(100);
  idm_audit *audit;
  check(idm_audit_run(s.problem, other, &groups, &settings, &cut, NULL, &audit, &support_error));
  assert_null(audit->joint);
  assert_int_equal(audit->cuts, 3);
  idm_audit_destroy(audit);
  settings.pool = IDM_POOL_NONE;
  check(idm_audit_run(s.problem, s.data, &groups, &settings, &cut, NULL, &audit, &support_error));
  assert_null(audit->joint);
  idm_audit_destroy(audit);
  idm_labels_destroy(&groups.name);
  idm_data_destroy(other);
  joint_close(&s);
}

static void test_goes_on(void **state)
{
  (void)state;
  static const double when[] = {0, 0.2, 0.5, 0.8, 0.92, 2};
  joint_scene s = joint_open(30);
  bool member[2 * 30];
  size_t missing[2] = {0};
  idm_groups groups = halves(s.data, member, missing);
  const idm_cut_draws cut = {s.problem, &s.draws, 10};
  const idm_audit_settings settings = settings_of(300);
  idm_audit *whole, *parts = NULL;
  support_resuming r = {0};
  check(idm_audit_run(s.problem, s.data, &groups, &settings, &cut, NULL, &whole, &support_error));
  for (size_t k = 0; k < sizeof when / sizeof *when; k++) {
    const idm_fit_monitor watch = support_resume(&r, when[k], 4);
    idm_audit_destroy(parts);
    const idm_status status =
        idm_audit_run(s.problem, s.data, &groups, &settings, &cut, &watch, &parts, &support_error);
    support_resumed(&r, status);
    /* The checkpoint contains the chains: at least their draws of four coordinates. */
    if (when[k] > 0.1) assert_true(r.length > 4 * sizeof(double) * 4 * 30);
  }
  assert_non_null(parts);
  assert_non_null(r.bytes);
  for (size_t g = 0; g < 3; g++)
    assert_memory_equal(parts->group[g].number[0].draw, whole->group[g].number[0].draw,
                        whole->chains * whole->draws * sizeof(double));
  assert_memory_equal(parts->sd[0].draw, whole->sd[0].draw,
                      whole->chains * whole->draws * sizeof(double));
  assert_near(parts->joint->mean[0], whole->joint->mean[0], 0);
  free(r.bytes);
  idm_audit_destroy(parts);
  idm_audit_destroy(whole);
  idm_labels_destroy(&groups.name);
  joint_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_quadrature), cmocka_unit_test(test_cuts),
                                     cmocka_unit_test(test_goes_on)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
