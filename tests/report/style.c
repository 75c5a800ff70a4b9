/* Tests the contrast of the colours of each theme with the background by the formula of WCAG 2. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure_support.h"

static double channel(unsigned value)
{
  const double part = value / 255.0;
  return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
}

/* Returns the relative luminance of the colour after a key (WCAG 2). */
static double luminance(const char *style, const char *key)
{
  const char *at = strstr(style, key);
  assert_non_null(at);
  at = strchr(at, '#') + 1;
  unsigned digit[6];
  const bool brief = strspn(at, "0123456789abcdef") == 3;
  for (int i = 0; i < 6; i++) sscanf(at + (brief ? i / 2 : i), "%1x", &digit[i]);
  double sum = 0;
  static const double weight[] = {0.2126, 0.7152, 0.0722};
  for (int i = 0; i < 3; i++) sum += weight[i] * channel(16 * digit[2 * i] + digit[2 * i + 1]);
  return sum;
}

static double contrast(double a, double b)
{
  return (fmax(a, b) + 0.05) / (fmin(a, b) + 0.05);
}

/* WCAG 2 requires a contrast of 4.5 for text and of 3 for graphics; here more than 7 for text, 4.5
 * for secondary text and 2.9 for graphics. */
static void can_be_read(void **state)
{
  (void)state;
  for (int theme = IDM_THEME_LIGHT; theme <= IDM_THEME_DARK; theme++) {
    char *style, key[24];
    check(idm_figure_style((idm_figure_theme)theme, &style, &support_error));
    const double paper = luminance(style, ".idm .paper{");
    assert_true((theme == IDM_THEME_LIGHT) == (paper > 0.5));
    assert_true(contrast(paper, luminance(style, ".idm text{fill")) > 7);
    assert_true(contrast(paper, luminance(style, ".idm .soft{")) > 4.5);
    for (int i = 0; i <= IDM_COLOUR_NEUTRAL; i++) {
      snprintf(key, sizeof key, ".idm .c%d{", i);
      if (!(contrast(paper, luminance(style, key)) > 2.9)) fail_msg("%s is too faint", key);
    }
    free(style);
  }
}

/* The automatic theme begins with the light one and adds the dark one in a media query. */
static void themes(void **state)
{
  (void)state;
  char *light, *dark, *both;
  check(idm_figure_style(IDM_THEME_LIGHT, &light, &support_error));
  check(idm_figure_style(IDM_THEME_DARK, &dark, &support_error));
  check(idm_figure_style(IDM_THEME_AUTO, &both, &support_error));
  assert_string_not_equal(light, dark);
  assert_memory_equal(both, light, strlen(light));
  assert_int_equal(figure_count(both, "prefers-color-scheme:dark"), 1);
  assert_int_equal(figure_count(both, "{"), figure_count(both, "}"));
  free(light);
  free(dark);
  free(both);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(can_be_read), cmocka_unit_test(themes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
