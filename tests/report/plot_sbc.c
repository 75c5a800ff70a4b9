/* Tests rank histograms of simulation-based calibration: bars against direct counts, the band
 * against the binomial distribution. */
#include <math.h>

#include "report/report_support.h"

static double tail(size_t n, double p, size_t below)
{
  double chance = pow(1 - p, (double)n), sum = 0;
  for (size_t k = 0; k < below; k++) {
    sum += chance;
    chance *= (double)(n - k) / (double)(k + 1) * p / (1 - p);
  }
  return sum;
}

static void test_ranks(void **state)
{
  (void)state;
  static const char *const names[] = {REPORT_HOSTILE, "log_likelihood"};
  static const size_t sizes[] = {1, 20, 70, 300};
  static const size_t bins[] = {5, 5, 10, 20};
  for (size_t s = 0; s < 4; s++) {
    idm_calibration *c = report_study(names, 2, sizes[s]);
    if (sizes[s] > 100) c->done[3] = false;
    const size_t done = idm_calibration_done(c);
    idm_figure *figure = report_make("sbc", &(idm_plot_subject){.calibration = c}, NULL);
    assert_int_equal(figure->panels, 2);
    for (size_t q = 0; q < 2; q++) {
      const idm_mark *bars = report_mark(figure->panel[q], IDM_MARK_BARS, 0);
      const idm_mark *band = report_mark(figure->panel[q], IDM_MARK_BAND, 0);
      double total = 0;
      assert_int_equal(bars->count, bins[s]);
      for (size_t b = 0; b < bars->count; b++) {
        double plain = 0;
        for (size_t i = 0; i < sizes[s]; i++)
          plain += c->done[i] && c->recovery[2 * i + q].rank > bars->column[IDM_FIGURE_X][b] &&
                   c->recovery[2 * i + q].rank < bars->column[IDM_FIGURE_RIGHT][b];
        assert_true(bars->column[IDM_FIGURE_Y][b] == plain);
        total += plain;
      }
      assert_true(total == (double)done);
      const double p = 1 / (double)bins[s];
      /* Each end is as far inside as a probability of 0.025 beyond it allows. */
      assert_true(tail(done, p, (size_t)band->column[IDM_FIGURE_LOW][0]) <= 0.025);
      assert_true(tail(done, p, (size_t)band->column[IDM_FIGURE_LOW][0] + 1) > 0.025);
      assert_true(1 - tail(done, p, (size_t)band->column[IDM_FIGURE_HIGH][0] + 1) <= 0.025);
      assert_true(1 - tail(done, p, (size_t)band->column[IDM_FIGURE_HIGH][0]) > 0.025);
    }
    report_draw(figure);
    idm_figure_destroy(figure);
    idm_calibration_destroy(c);
  }
}

static void test_nothing(void **state)
{
  (void)state;
  static const char *const names[] = {"a", "log_likelihood"};
  idm_calibration *c = report_study(names, 2, 1);
  c->done[0] = false;
  report_refusal("sbc", &(idm_plot_subject){.calibration = c}, NULL, IDM_INPUT);
  idm_calibration_destroy(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks), cmocka_unit_test(test_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
