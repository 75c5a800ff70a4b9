/* Tests HTML pages: texts of the user are escaped, and the Content-Security-Policy contains the
 * hashes of the scripts and styles of the page, computed here a second time. */
#include "report/markup.h"

#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const char hostile[] = "<script>alert(1)</script>";

static idm_figure *small_figure(void)
{
  idm_figure *figure;
  idm_panel *panel;
  const double x[] = {0, 1, 2}, y[] = {1, 4, 9};
  check(idm_figure_create("", hostile, 1, &figure, &support_error));
  check(idm_figure_add(figure, hostile, "x", "y", &panel, &support_error));
  check(idm_panel_plot(panel, IDM_MARK_LINE, hostile, 0, 3, x, y, &support_error));
  return figure;
}

static char *make_page(void)
{
  idm_page page = {0};
  idm_notes notes = {0};
  char *text;
  idm_notes_add(&notes, "%s", hostile);
  idm_page_section(&page, "one", hostile);
  idm_page_paragraph(&page, "soft", hostile);
  idm_page_list(&page, &notes);
  idm_page_details(&page, hostile);
  idm_page_table(&page, 2, (const char *const[]){hostile, "b"});
  idm_page_row(&page, 2, (const char *const[]){hostile, "1"});
  idm_page_table_end(&page);
  idm_page_details_end(&page);
  check(idm_page_figure(&page, "figure", small_figure(), hostile, &support_error));
  assert_int_equal(page.figures, 1);
  check(idm_page_take(&page, hostile, &text, &support_error));
  assert_null(page.body.text);
  idm_notes_clear(&notes);
  return text;
}

static size_t occurrences(const char *text, const char *words)
{
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, words)); at++) count++;
  return count;
}

static void test_nothing_of_a_user_is_markup(void **state)
{
  (void)state;
  char *text = make_page();
  assert_null(strstr(text, hostile));
  assert_null(strstr(text, "alert(1)</script>"));
  /* Title and heading, section and its link, paragraph, list, summary of the folded part, two
   * cells, caption, and for each of the two drawings: description, title, name of a mark and
   * legend. */
  assert_true(occurrences(text, "&lt;script&gt;") >= 17);
  assert_int_equal(occurrences(text, "<details><summary>&lt;script&gt;"), 1);
  assert_int_equal(occurrences(text, "</details>"), 1);
  /* One script that runs, and the data of the figure. */
  assert_int_equal(occurrences(text, "<script"), 2);
  assert_int_equal(occurrences(text, " style="), 0);
  assert_int_equal(occurrences(text, " on"), occurrences(text, " on "));
  free(text);
}

/* Writes 'sha256-...' with an independent base64 encoder, one bit at a time, to `to` [100]. */
static void plain_hash(const char *text, size_t length, char *to)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, (const uint8_t *)text, length);
  SHA256Final(digest, &context);
  size_t used = (size_t)snprintf(to, 100, "'sha256-");
  for (size_t bit = 0; bit < 258; bit += 6) {
    unsigned value = 0;
    for (size_t k = bit; k < bit + 6; k++)
      value = 2 * value + (k < 256 ? digest[k / 8] >> (7 - k % 8) & 1u : 0);
    to[used++] = digits[value];
  }
  snprintf(to + used, 100 - used, "='");
}

static void test_policy_names_what_is_there(void **state)
{
  (void)state;
  char *text = make_page();
  const char *const begins[] = {"<style>", "<style id=\"figures\">", "\n<script>"};
  const char *const ends[] = {"</style>", "</style>", "</script>"};
  const char *policy = strstr(text, "Content-Security-Policy");
  assert_non_null(policy);
  assert_non_null(strstr(policy, "default-src 'none'"));
  for (size_t i = 0; i < 3; i++) {
    const char *from = strstr(text, begins[i]);
    assert_non_null(from);
    from += strlen(begins[i]);
    char hash[100];
    plain_hash(from, (size_t)(strstr(from, ends[i]) - from), hash);
    const char *found = strstr(policy, hash);
    assert_non_null(found);
    assert_true(found < strstr(policy, "\">"));
  }
  free(text);
}

static void test_an_empty_page(void **state)
{
  (void)state;
  idm_page page = {0};
  char *text;
  check(idm_page_take(&page, "", &text, &support_error));
  assert_non_null(strstr(text, "</html>"));
  assert_null(strstr(text, "<nav"));
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_of_a_user_is_markup),
      cmocka_unit_test(test_policy_names_what_is_there),
      cmocka_unit_test(test_an_empty_page),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
