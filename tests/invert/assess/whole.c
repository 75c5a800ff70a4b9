/* Tests profile intervals extrapolated from a part of a log to the whole log, against profiles of
 * the whole log. */
#include "invert/assess/context.h"

#include <math.h>
#include <stdlib.h>

#include "infer/approximation.h"
#include "invert/assess/context_support.h"

enum { NUMBERS = 2, CASES = 600 };

static idm_status evaluate(void *context, const double *y, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  return idm_matching_log_likelihood(context, y, log_density, opt_gradient, opt_error);
}

/* A log of DIAG with alpha and 1/beta free, and profiles of the whole log. */
typedef struct fixture {
  assessed_fit a;
  idm_identification profiled[NUMBERS];
  double y[NUMBERS];                    /* near the maximum */
  double covariance[NUMBERS * NUMBERS]; /* at the maximum */
} fixture;

static int setup(void **state)
{
  fixture *f = *state = calloc(1, sizeof *f);
  assert_non_null(f);
  idm_problem *problem = support_diag(0.5, 1.25, 0);
  problem->agent.resolution = 20;
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = CASES, .seed = 4});
  assessed_fit_open(&f->a, problem, data, "{alpha: {scale: log}, beta: {scale: inverse}}");
  check(idm_check_identification(&f->a.q, &support_error));
  for (size_t i = 0; i < NUMBERS; i++) f->profiled[i] = f->a.assessment->parameter[i];
  const idm_target target = {
      .dimension = NUMBERS, .gradient = true, .context = f->a.f.matching[0], .evaluate = evaluate};
  double precision[NUMBERS * NUMBERS] = {0};
  bool definite;
  idm_context_draw(&f->a.q, 0, f->y);
  check(idm_laplace(&target, f->y, f->covariance, precision, &definite, &support_error));
  assert_true(definite);
  return 0;
}

static int teardown(void **state)
{
  fixture *f = *state;
  assessed_fit_close(&f->a);
  free(f);
  return 0;
}

/* Replace the results by those of a part of the log: its covariance is that of the whole divided by
 * `share`, its maximum is off by half an sd, its ends are arbitrary. */
static void pretend_part(fixture *f, double share)
{
  for (size_t i = 0; i < NUMBERS; i++) {
    idm_identification *id = &f->a.assessment->parameter[i];
    f->y[i] += 0.5 * sqrt(f->covariance[i * (NUMBERS + 1)]);
    id->unchecked = false;
    id->regions = 1;
    id->low = id->region[0][0] = -100;
    id->high = id->region[0][1] = 100;
    id->gap[0] = 40;
    id->gap[1] = 80;
  }
  for (size_t i = 0; i < NUMBERS * NUMBERS; i++) f->covariance[i] /= share;
}

static void bring_over(fixture *f, double share)
{
  check(idm_identify_full_log(&f->a.q, f->y, f->covariance, share, &support_error));
}

/* Ends by the curvature are within a twentieth of the width of those of the profile. */
static void test_ends_are_those_of_profiles(void **state)
{
  fixture *f = *state;
  const double highest = f->a.assessment->log_likelihood;
  pretend_part(f, 0.25);
  bring_over(f, 0.25);
  assert_near(f->a.assessment->log_likelihood, highest, 1e-4 / fabs(highest));
  for (size_t i = 0; i < NUMBERS; i++) {
    const idm_identification *id = &f->a.assessment->parameter[i], *exact = &f->profiled[i];
    const double width = exact->high - exact->low;
    assert_false(id->unchecked);
    assert_true(fabs(id->maximum - exact->maximum) < 0.01 * width);
    assert_true(fabs(id->low - exact->low) < 0.05 * width);
    assert_true(fabs(id->high - exact->high) < 0.05 * width);
    assert_true(id->region[0][0] == id->low && id->region[0][1] == id->high);
    assert_near(id->gap[0], 160, 1e-12); /* log-likelihoods scale with the size of the log */
    assert_near(id->gap[1], 320, 1e-12);
    assert_non_null(id->sentence);
  }
}

/* Several regions, or an open end, are left unchanged and marked as unchecked. */
static void test_what_is_left_alone(void **state)
{
  fixture *f = *state;
  pretend_part(f, 0.5);
  idm_identification *id = f->a.assessment->parameter;
  id[0].regions = 2;
  id[1].gap[1] = 1;
  bring_over(f, 0.5);
  for (size_t i = 0; i < NUMBERS; i++) {
    assert_true(id[i].unchecked);
    assert_true(id[i].low == -100 && id[i].high == 100);
  }
  assert_near(id[1].gap[1], 2, 1e-12);
}

/* Bring ends over by a covariance whose variances are `factor` times those of the curvature at the
 * maximum: each is unchecked, or near that of the profile. Returns the number that is unchecked. */
static size_t bring_over_wrong(fixture *f, double factor)
{
  size_t unchecked = 0;
  pretend_part(f, 1);
  for (size_t i = 0; i < NUMBERS; i++) f->covariance[i * (NUMBERS + 1)] *= factor;
  bring_over(f, 1);
  for (size_t i = 0; i < NUMBERS; i++) {
    const idm_identification *id = &f->a.assessment->parameter[i], *exact = &f->profiled[i];
    const double width = exact->high - exact->low;
    unchecked += id->unchecked;
    if (id->unchecked)
      assert_true(id->low == -100 && id->high == 100);
    else
      assert_true(fabs(id->low - exact->low) + fabs(id->high - exact->high) < 0.2 * width);
  }
  return unchecked;
}

/* A covariance far from the curvature is recognised. */
static void test_wrong_curvature(void **state)
{
  assert_int_equal(bring_over_wrong(*state, 30), NUMBERS);
}

/* A covariance near the curvature is not refused. */
static void test_rough_curvature(void **state)
{
  assert_true(bring_over_wrong(*state, 1.5) < NUMBERS);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_ends_are_those_of_profiles),
      TEST(test_what_is_left_alone),
      TEST(test_wrong_curvature),
      TEST(test_rough_curvature),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
