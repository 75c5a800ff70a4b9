/* Tests forest plots against means and quantiles of the sorted draws. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_support.h"

static int by_size(const void *a, const void *b)
{
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Compares one row with quantiles of the sorted draws. `count` - 1 is a multiple of 20, so each
 * quantile equals a draw. */
static void check_row(const idm_mark *m, size_t at, const double *draw, size_t count)
{
  double sorted[2001], mean = 0;
  memcpy(sorted, draw, count * sizeof *draw);
  qsort(sorted, count, sizeof *sorted, by_size);
  for (size_t i = 0; i < count; i++) mean += draw[i] / (double)count;
  const size_t twentieth = (count - 1) / 20, quarter = (count - 1) / 4;
  assert_near(m->column[IDM_FIGURE_X][at], mean, 1e-12);
  assert_near(m->column[IDM_FIGURE_LOW][at], sorted[twentieth], 1e-9);
  assert_near(m->column[IDM_FIGURE_HIGH][at], sorted[count - 1 - twentieth], 1e-9);
  assert_near(m->column[IDM_FIGURE_INNER_LOW][at], sorted[quarter], 1e-9);
  assert_near(m->column[IDM_FIGURE_INNER_HIGH][at], sorted[count - 1 - quarter], 1e-9);
}

static void test_quantities(void **state)
{
  (void)state;
  static const char *const names[] = {"alpha", REPORT_HOSTILE, "eta"};
  idm_posterior *p = report_posterior(3, 67, names, 3); /* 201 draws */
  idm_figure *figure = report_make("forest", &(idm_plot_subject){.posterior = p}, NULL);
  assert_int_equal(figure->panels, 3);
  for (size_t i = 0; i < 3; i++) {
    assert_string_equal(figure->panel[i]->y.category.name[0], names[i]);
    check_row(report_mark(figure->panel[i], IDM_MARK_FOREST, 0), 0, p->value + i * 201, 201);
  }
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

/* If a heavy tail moves the mean out of the interval, the median replaces it, with a note. */
static void test_heavy_tails(void **state)
{
  (void)state;
  static const char *const names[] = {"alpha", "beta"};
  idm_posterior *p = report_posterior(1, 201, names, 2);
  for (size_t i = 0; i < 201; i++) p->value[i] = i < 200 ? (double)i / 200 : 1e6;
  idm_notes notes = {0};
  idm_figure *figure;
  check(idm_plot_make(idm_plot_find("forest"), &(idm_plot_subject){.posterior = p}, NULL, &figure,
                      &notes, &support_error));
  for (size_t i = 0; i < 2; i++) {
    const idm_mark *row = report_mark(figure->panel[i], IDM_MARK_FOREST, 0);
    assert_true(row->column[IDM_FIGURE_LOW][0] <= row->column[IDM_FIGURE_X][0] &&
                row->column[IDM_FIGURE_X][0] <= row->column[IDM_FIGURE_HIGH][0]);
  }
  assert_near(report_mark(figure->panel[0], IDM_MARK_FOREST, 0)->column[IDM_FIGURE_X][0], 0.5,
              1e-9);
  assert_int_equal(notes.count, 1);
  assert_true(support_mentions(&notes, "1 of 1 rows (alpha) show the median"));
  idm_notes_clear(&notes);
  idm_figure_destroy(figure);
  /* The second quantity's tail is too heavy for a mean in the table, so its median is shown
   * although its mean is inside the interval. */
  idm_diagnosis diagnosis[2] = {{.tail = NAN}, {.tail = 0.9}};
  const idm_assessment a = {.quantities = 2, .diagnosis = diagnosis};
  p->value[201] = -5; /* changes the mean, not the median */
  figure = report_make("forest", &(idm_plot_subject){.posterior = p, .assessment = &a}, NULL);
  double sorted[201];
  memcpy(sorted, p->value + 201, sizeof sorted);
  qsort(sorted, 201, sizeof *sorted, by_size);
  assert_near(report_mark(figure->panel[1], IDM_MARK_FOREST, 0)->column[IDM_FIGURE_X][0],
              sorted[100], 1e-12);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

/* Rows of 300 people, one mark per verdict, ordered by mean; people who could not be fitted are
 * omitted. */
static void test_people(void **state)
{
  (void)state;
  enum { PEOPLE = 300 };
  static const char *names[PEOPLE];
  static char text[PEOPLE][16];
  for (size_t i = 0; i < PEOPLE; i++) {
    snprintf(text[i], sizeof text[i], "person %zu", i);
    names[i] = text[i];
  }
  names[5] = REPORT_HOSTILE;
  idm_posterior *p = report_posterior(1, 21, names, PEOPLE);
  report_series(p, "log_alpha", "person", names, PEOPLE, 0);
  idm_person *person = calloc(PEOPLE + 1, sizeof *person);
  assert_non_null(person);
  for (size_t i = 0; i <= PEOPLE; i++)
    person[i].verdict = i % 3 ? IDM_PERSON_IDENTIFIED : IDM_PERSON_PRIOR_DRIVEN;
  person[1].absent = true; /* person 1 has no position along the axis */
  const idm_assessment a = {.people = PEOPLE + 1, .person = person};
  const idm_plot_subject subject = {.posterior = p, .assessment = &a};
  idm_figure *figure = report_make("forest", &subject, NULL);
  assert_int_equal(figure->panels, 1);
  assert_int_equal(figure->panel[0]->y.category.count, 0);
  assert_string_equal(figure->panel[0]->title, "log alpha of 300 people, by their means");
  size_t rows = 0;
  double mean[PEOPLE + 1] = {0};
  for (size_t k = 0; k < 2; k++) {
    const idm_mark *m = report_mark(figure->panel[0], IDM_MARK_FOREST, k);
    assert_string_equal(m->name, k ? "prior-driven" : "identified");
    for (size_t i = 0; i < m->count; i++, rows++) {
      const size_t place = (size_t)m->column[IDM_FIGURE_Y][i];
      size_t row = 0;
      while (strcmp(names[row], m->label.name[i]) != 0) row++;
      const size_t who = row ? row + 1 : 0;
      assert_int_equal(who % 3 == 0, k);
      check_row(m, i, p->value + row * 21, 21);
      assert_in_range(place, 1, PEOPLE);
      assert_true(mean[place] == 0); /* each position is used once */
      mean[place] = m->column[IDM_FIGURE_X][i];
    }
  }
  assert_int_equal(rows, PEOPLE);
  for (size_t i = 2; i <= PEOPLE; i++) assert_true(mean[i - 1] < mean[i]);
  report_draw(figure);
  idm_figure_destroy(figure);
  free(person);
  idm_posterior_destroy(p);
}

/* An audit: groups, contrasts with a line at 0, and the population. */
static void test_groups(void **state)
{
  (void)state;
  static const char *const names[] = {"1", "2", "3", "4", "log_alpha_mean"};
  static const char *const groups[] = {"a", "b", "all"};
  static const char *const contrasts[] = {"b - a"};
  idm_posterior *p = report_posterior(2, 20, names, 5);
  report_series(p, "log_alpha", "group", groups, 3, 0);
  report_series(p, "log_alpha_contrast", "contrast", contrasts, 1, 3);
  idm_figure *figure = report_make("forest", &(idm_plot_subject){.posterior = p}, NULL);
  assert_int_equal(figure->panels, 3);
  assert_string_equal(figure->panel[0]->title, "log alpha");
  assert_string_equal(figure->panel[0]->y.category.name[2], "all");
  assert_null(report_mark(figure->panel[0], IDM_MARK_RULES, 0));
  assert_string_equal(figure->panel[1]->title, "differences in log alpha");
  assert_string_equal(figure->panel[1]->y.category.name[0], "b - a");
  assert_true(report_mark(figure->panel[1], IDM_MARK_RULES, 0)->column[IDM_FIGURE_X][0] == 0);
  assert_string_equal(figure->panel[2]->y.category.name[0], "mean of log alpha");
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

/* Two draws of the dynamics. Group "a" differs between them: it has a dot without interval and a
 * text under the panel, and the axis covers all draws. Group "b" does not differ. */
static void test_dynamics(void **state)
{
  (void)state;
  enum { DRAWS = 20 };
  static const char *const names[] = {"1", "2"};
  static const char *const groups[] = {"a", "b"};
  idm_posterior *p = report_posterior(2, DRAWS / 2, names, 2);
  p->cuts = 2;
  for (size_t k = 0; k < DRAWS; k++) {
    p->value[k] = (k < DRAWS / 2 ? -3 : 3) + 0.01 * (double)k;
    p->value[DRAWS + k] = 0.1 * (double)(k % (DRAWS / 2));
  }
  report_series(p, "log_alpha", "group", groups, 2, 0);
  idm_figure *figure = report_make("forest", &(idm_plot_subject){.posterior = p}, NULL);
  const idm_panel *panel = figure->panel[0];
  const idm_mark *mark = report_mark(panel, IDM_MARK_FOREST, 0);
  assert_string_equal(panel->x.title, "a dot without interval: depends on dynamics");
  assert_true(isnan(mark->column[IDM_FIGURE_LOW][0]) && isnan(mark->column[IDM_FIGURE_HIGH][0]));
  assert_true(mark->column[IDM_FIGURE_LOW][1] < mark->column[IDM_FIGURE_HIGH][1]);
  assert_true(panel->x.low < -2.9 && panel->x.low > -3.1);
  assert_true(panel->x.high < 3.25 && panel->x.high > 3.1);
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

static void test_odd(void **state)
{
  (void)state;
  static const char *const names[] = {"one", "alike", "lost", "far"};
  idm_posterior *p = report_posterior(1, 2, names, 4);
  const double values[] = {1, 2, 5, 5, 1, NAN, 1, INFINITY};
  for (size_t i = 0; i < 8; i++) p->value[i] = values[i];
  idm_figure *figure = report_make("forest", &(idm_plot_subject){.posterior = p}, NULL);
  const idm_mark *lost = report_mark(figure->panel[2], IDM_MARK_FOREST, 0);
  assert_true(isnan(lost->column[IDM_FIGURE_X][0]) && isnan(lost->column[IDM_FIGURE_LOW][0]));
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quantities), cmocka_unit_test(test_heavy_tails),
      cmocka_unit_test(test_people),     cmocka_unit_test(test_groups),
      cmocka_unit_test(test_dynamics),   cmocka_unit_test(test_odd)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
