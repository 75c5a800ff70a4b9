/* Tests rank histograms: bars against ranks by definition, and the coverage of the band for
 * independent chains. */
#include <math.h>

#include "report/report_support.h"

/* Ranks by their definition; all draws are different. */
static void test_bars(void **state)
{
  (void)state;
  enum { CHAINS = 3, DRAWS = 100, BINS = 10, ALL = CHAINS * DRAWS };
  static const char *const names[] = {"alpha", REPORT_HOSTILE};
  idm_posterior *p = report_posterior(CHAINS, DRAWS, names, 2);
  idm_figure *figure = report_make("rank", &(idm_plot_subject){.posterior = p}, NULL);
  assert_int_equal(figure->panels, 2 * CHAINS);
  for (size_t q = 0; q < 2; q++) {
    const double *x = p->value + q * ALL;
    for (size_t c = 0; c < CHAINS; c++) {
      const idm_mark *bars = report_mark(figure->panel[q * CHAINS + c], IDM_MARK_BARS, 0);
      double plain[BINS] = {0};
      for (size_t i = c * DRAWS; i < (c + 1) * DRAWS; i++) {
        size_t below = 0;
        for (size_t k = 0; k < ALL; k++) below += x[k] < x[i];
        plain[below * BINS / ALL]++;
      }
      assert_int_equal(bars->count, BINS);
      for (size_t b = 0; b < BINS; b++) assert_true(bars->column[IDM_FIGURE_Y][b] == plain[b]);
    }
  }
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

/* 95 % of the bins of independent chains are inside the band. With 2,400 bins, nearly independent,
 * a share below 92 % has a probability below 1e-6. */
static void test_band(void **state)
{
  (void)state;
  static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
  double inside = 0, all = 0;
  for (size_t run = 0; run < 5; run++) {
    idm_posterior *p = report_posterior(4, 1000, names, 6);
    idm_random random;
    idm_random_init(&random, 20, run);
    for (size_t i = 0; i < 6 * 4000; i++) p->value[i] = idm_random_normal(&random);
    idm_figure *figure = report_make("rank", &(idm_plot_subject){.posterior = p}, NULL);
    for (size_t k = 0; k < figure->panels; k++) {
      const idm_mark *bars = report_mark(figure->panel[k], IDM_MARK_BARS, 0);
      const idm_mark *band = report_mark(figure->panel[k], IDM_MARK_BAND, 0);
      for (size_t b = 0; b < bars->count; b++, all++)
        inside += bars->column[IDM_FIGURE_Y][b] >= band->column[IDM_FIGURE_LOW][0] &&
                  bars->column[IDM_FIGURE_Y][b] <= band->column[IDM_FIGURE_HIGH][0];
    }
    idm_figure_destroy(figure);
    idm_posterior_destroy(p);
  }
  assert_true(all == 5 * 6 * 4 * 20);
  assert_true(inside / all > 0.92 && inside / all < 0.985);
}

/* A chain with a different location leaves the band. */
static void test_apart(void **state)
{
  (void)state;
  static const char *const names[] = {"alpha"};
  idm_posterior *p = report_posterior(2, 200, names, 1);
  for (size_t i = 0; i < 200; i++) p->value[i] += 10;
  idm_figure *figure = report_make("rank", &(idm_plot_subject){.posterior = p}, NULL);
  const idm_mark *bars = report_mark(figure->panel[0], IDM_MARK_BARS, 0);
  assert_true(bars->column[IDM_FIGURE_Y][0] == 0);
  assert_true(bars->column[IDM_FIGURE_Y][bars->count - 1] == 20);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

static void test_odd(void **state)
{
  (void)state;
  static const char *const names[] = {"alpha", "beta"};
  idm_posterior *p = report_posterior(1, 1, names, 2);
  idm_figure *figure = report_make("rank", &(idm_plot_subject){.posterior = p}, NULL);
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
  p = report_posterior(2, 4, names, 2);
  for (size_t i = 0; i < 8; i++) {
    p->value[i] = 3;
    p->value[8 + i] = i % 2 ? NAN : INFINITY;
  }
  figure = report_make("rank", &(idm_plot_subject){.posterior = p}, NULL);
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bars), cmocka_unit_test(test_band),
                                     cmocka_unit_test(test_apart), cmocka_unit_test(test_odd)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
