/* Tests draws of hierarchies with constant likelihoods against the prior, with correct and wrong
 * tables as proposals; draws do not depend on threads or on interruptions. */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "infer/chains.h"
#include "support.h"

enum { NUMBERS = 2, CELLS = 4 };

static const double prior_mean[NUMBERS] = {0.5, -1};
static const double prior_sd[NUMBERS] = {1, 0.4};

/* --- leaves that say nothing ---------------------------------------------------------------- */

/* A table with its maximum away from the prior's. */
static double wrong(const void *context, size_t leaf, const double *x)
{
  (void)context;
  const double a = x[0] - 0.2 * (double)leaf, b = x[1] + 1.2;
  return -0.3 * a * a - 0.4 * a * b - 1.2 * b * b;
}

static double level(const void *context, size_t leaf, const double *x)
{
  (void)context;
  (void)leaf;
  (void)x;
  return 0;
}

static idm_status nothing(void *context, const leaf_worker *worker, size_t leaf, const double *x,
                          double *log_likelihood, idm_error *opt_error)
{
  (void)context;
  (void)worker;
  (void)leaf;
  (void)opt_error;
  *log_likelihood = isfinite(x[0]) && isfinite(x[1]) ? 0 : -INFINITY;
  return IDM_OK;
}

static const double *start(const void *context, size_t leaf, size_t chain)
{
  static const double at[NUMBERS] = {0, 0};
  (void)context;
  (void)leaf;
  (void)chain;
  return at;
}

/* --- designs -------------------------------------------------------------------------------- */

/* One cell per person: an intercept without predicates, or with predicates effects that cells
 * share. */
static idm_design make_design(bool overlap)
{
  static uint32_t person[CELLS] = {0, 1, 2, 3}, coordinate[NUMBERS] = {0, 1};
  static double share[CELLS * NUMBERS] = {1, 1, 1, 1, 1, 1, 1, 1};
  static size_t one[NUMBERS] = {1, 1}, three[NUMBERS] = {3, 3};
  static double ones[CELLS] = {1, 1, 1, 1};
  static double meets[CELLS * 3] = {1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1};
  static double mean[NUMBERS][3] = {{0.5, 0, 0}, {-1, 0, 0}};
  static double sd[NUMBERS][3] = {{1, 0.5, 0.5}, {0.4, 0.2, 0.2}};
  static double *w[2][NUMBERS] = {{ones, ones}, {meets, meets}};
  static double *means[NUMBERS] = {mean[0], mean[1]}, *sds[NUMBERS] = {sd[0], sd[1]};
  static double half[NUMBERS] = {0.5, 0.2};
  return (idm_design){.people = CELLS,
                      .cells = CELLS,
                      .cell_person = person,
                      .coordinates = NUMBERS,
                      .effects = NUMBERS,
                      .effect_coordinate = coordinate,
                      .share = share,
                      .coefficients = overlap ? three : one,
                      .regressor = w[overlap],
                      .coefficient_mean = means,
                      .coefficient_sd = sds,
                      .pooled = overlap ? 2 : 0,
                      .spread_scale = half,
                      .sd_scale = half,
                      .correlation = 1,
                      .independent = true,
                      .fixed = overlap};
}

static idm_people *draw(const idm_design *design, bool misled, long draws, int threads,
                        const idm_fit_monitor *opt_monitor)
{
  const leaf_source leaves = {.table = misled ? wrong : level, .exact = nothing, .start = start};
  idm_fit_settings settings;
  idm_people *people = NULL;
  idm_fit_settings_default(&settings);
  settings.draws = draws;
  settings.warmup = 400;
  settings.threads = threads;
  const hierarchy_request request = {.design = design,
                                     .leaves = &leaves,
                                     .exact = misled,
                                     .settings = &settings,
                                     .key = 5,
                                     .stream = 77,
                                     .opt_monitor = opt_monitor};
  const idm_status status = idm_hierarchy_sample(&request, &people, NULL, &support_error);
  assert_true(status == IDM_OK || opt_monitor);
  return people;
}

/* --- the prior ------------------------------------------------------------------------------ */

/* The mean over draws of a series, or of its squared deviation, is within 4.5 standard errors:
 * about 30 comparisons per test, so that one seed in 5,000 fails. */
static void expect(const idm_people *p, const double *series, double about, bool square,
                   double expected)
{
  const size_t all = p->chains * p->draws;
  double *x = idm_new(all, sizeof *x);
  idm_diagnosis d;
  assert_non_null(x);
  for (size_t i = 0; i < all; i++)
    x[i] = square ? (series[i] - about) * (series[i] - about) : series[i];
  check(idm_diagnose(x, p->chains, p->draws, p->draws, 1, &d, &support_error));
  if (fabs(d.mean - expected) > 4.5 * d.mcse_mean)
    fail_msg("%g +- %g, expected %g (ESS %.0f)", d.mean, d.mcse_mean, expected, d.ess_bulk);
  assert_true(d.ess_bulk > 100);
  free(x);
}

/* The level is normal(M, s), and the sd around it half-normal(s/2), with mean s/2 sqrt(2/pi) and
 * mean square s^2/4. */
static void expect_population(const idm_people *p, const double *sd)
{
  const size_t all = p->chains * p->draws;
  for (size_t j = 0; j < NUMBERS; j++) {
    const double s = prior_sd[j], *b = p->coefficient + p->coefficient_first[j] * all;
    expect(p, b, 0, false, prior_mean[j]);
    expect(p, b, prior_mean[j], true, s * s);
    expect(p, sd + j * all, 0, false, s / 2 * sqrt(2 / 3.14159265358979323846));
    expect(p, sd + j * all, 0, true, s * s / 4);
  }
}

static void cells_about_a_level(void **state)
{
  (void)state;
  const idm_design design = make_design(false);
  for (int misled = 0; misled < 2; misled++) {
    idm_people *p = draw(&design, misled, misled ? 4000 : 2000, 2, NULL);
    const size_t all = p->chains * p->draws;
    expect_population(p, p->sd);
    for (size_t j = 0; j < NUMBERS; j++) {
      const double s = prior_sd[j];
      expect(p, p->effect + (j * CELLS + 1) * all, 0, false, prior_mean[j]);
      expect(p, p->effect + (j * CELLS + 1) * all, prior_mean[j], true, 1.25 * s * s);
    }
    idm_people_destroy(p);
  }
}

/* Cell 3 satisfies both predicates, cell 0 none. */
static void cells_that_share_effects(void **state)
{
  (void)state;
  const idm_design design = make_design(true);
  for (int misled = 0; misled < 2; misled++) {
    idm_people *p = draw(&design, misled, misled ? 4000 : 2000, 2, NULL);
    const size_t all = p->chains * p->draws;
    expect_population(p, p->spread);
    for (size_t j = 0; j < NUMBERS; j++) {
      const double s = prior_sd[j], *b = p->coefficient + p->coefficient_first[j] * all;
      expect(p, b + all, 0, false, 0);
      expect(p, b + all, 0, true, s * s / 4);
      expect(p, p->effect + (j * CELLS + 3) * all, prior_mean[j], true, 1.5 * s * s);
      for (size_t i = 0; i < all; i++) {
        assert_near(p->effect[j * CELLS * all + i], b[i], 1e-9);
        assert_near(p->effect[(j * CELLS + 3) * all + i], b[i] + b[all + i] + b[2 * all + i], 1e-9);
      }
    }
    idm_people_destroy(p);
  }
}

/* Cells are independent, and the population is fixed at the prior. */
static void cells_apart(void **state)
{
  (void)state;
  idm_design design = make_design(false);
  design.held = true;
  for (int misled = 0; misled < 2; misled++) {
    idm_people *p = draw(&design, misled, misled ? 4000 : 2000, 2, NULL);
    const size_t all = p->chains * p->draws;
    for (size_t j = 0; j < NUMBERS; j++) {
      for (size_t i = 0; i < all; i++)
        assert_true(p->coefficient[j * all + i] == prior_mean[j] &&
                    p->sd[j * all + i] == design.sd_scale[j]);
      expect(p, p->effect + (j * CELLS + 2) * all, 0, false, prior_mean[j]);
      expect(p, p->effect + (j * CELLS + 2) * all, prior_mean[j], true,
             design.sd_scale[j] * design.sd_scale[j]);
    }
    idm_people_destroy(p);
  }
}

/* --- streams and checkpoints ---------------------------------------------------------------- */

static void expect_same(const idm_people *a, const idm_people *b)
{
  const size_t all = a->chains * a->draws;
  assert_int_equal(a->draws, b->draws);
  assert_memory_equal(a->effect, b->effect, NUMBERS * CELLS * all * sizeof(double));
  assert_memory_equal(a->coefficient, b->coefficient, a->coefficient_first[NUMBERS] * all * 8);
}

static void threads_change_no_draw(void **state)
{
  (void)state;
  for (int overlap = 0; overlap < 2; overlap++) {
    const idm_design design = make_design(overlap);
    idm_people *one = draw(&design, true, 50, 1, NULL), *many = draw(&design, true, 50, 9, NULL);
    expect_same(one, many);
    idm_people_destroy(one);
    idm_people_destroy(many);
  }
}

static void what_is_stopped_goes_on(void **state)
{
  (void)state;
  static const double when[] = {0, 0.2, 0.7};
  for (size_t k = 0; k < 6; k++) {
    const idm_design design = make_design(k % 2);
    support_stopping s = {.at = when[k / 2]};
    const idm_fit_monitor first = {.progress = support_stop, .context = &s};
    idm_people *whole = draw(&design, true, 300, 2, NULL);
    idm_people_destroy(draw(&design, true, 300, 2, &first));
    assert_non_null(s.bytes);
    const idm_fit_monitor second = {.checkpoint = s.bytes, .checkpoint_length = s.length};
    idm_people *rest = draw(&design, true, 300, 2, &second);
    assert_non_null(rest);
    expect_same(whole, rest);
    idm_people_destroy(whole);
    idm_people_destroy(rest);
    free(s.bytes);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_about_a_level),
      cmocka_unit_test(cells_that_share_effects),
      cmocka_unit_test(cells_apart),
      cmocka_unit_test(threads_change_no_draw),
      cmocka_unit_test(what_is_stopped_goes_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
