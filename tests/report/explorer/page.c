/* The page: whole, shut by its policy, and with the parcel and the WebAssembly in it as they are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/explorer/explorer.h"
#include "support.h"

static char path[64];

/* Base64 by the letters' places. */
static size_t decode(const char *from, size_t length, unsigned char *to)
{
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t count = 0;
  unsigned bits = 0, word = 0;
  for (size_t i = 0; i < length && from[i] != '='; i++) {
    const char *place = strchr(letters, from[i]);
    assert_non_null(place);
    word = word << 6 | (unsigned)(place - letters);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      to[count++] = (unsigned char)(word >> bits);
      word &= (1u << bits) - 1;
    }
  }
  return count;
}

/* The bytes of a script of the page, for the caller to free. */
static unsigned char *bytes_of(const char *page, const char *id, size_t *ret_length)
{
  char begin[80] = "<script type=\"text/plain\" id=\"";
  strcat(strcat(begin, id), "\">");
  const char *from = strstr(page, begin);
  assert_non_null(from);
  from += strlen(begin);
  const size_t length = (size_t)(strstr(from, "</script>") - from);
  unsigned char *bytes = malloc(length + 1);
  assert_non_null(bytes);
  *ret_length = decode(from, length, bytes);
  return bytes;
}

static char *write_page(const idm_problem *problem)
{
  char *page;
  size_t length;
  check(idm_explorer_write(problem, path, &support_error));
  check(idm_file_read(path, 1 << 26, &page, &length, &support_error));
  remove(path);
  return page;
}

static void a_page_is_whole(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  char *page = write_page(problem), *parcel;
  size_t length, packed;
  assert_null(strstr(page, "{{"));
  assert_non_null(strstr(page, "default-src 'none'; script-src 'wasm-unsafe-eval' 'sha256-"));
  assert_null(strstr(page, "unsafe-inline"));
  assert_null(strstr(page, "http://"));
  assert_null(strstr(page, "https://"));
  check(idm_problem_serialise(problem, &parcel, &packed, &support_error));
  unsigned char *bytes = bytes_of(page, "parcel", &length);
  assert_int_equal(length, packed);
  assert_memory_equal(bytes, parcel, packed);
  free(bytes);
  bytes = bytes_of(page, "wasm", &length);
  assert_int_equal(length, idm_explorer_wasm_length);
  assert_memory_equal(bytes, idm_explorer_wasm, length);
  free(bytes);
  free(parcel);
  free(page);
  idm_problem_destroy(problem);
}

static void a_name_is_text(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  free(problem->setting->name);
  problem->setting->name = strdup("{{script}}</title><script>alert(1)</script>");
  char *page = write_page(problem);
  assert_non_null(strstr(page, "<h1>{{script}}&lt;/title&gt;&lt;script&gt;alert(1)"));
  assert_null(strstr(page, "<script>alert"));
  free(page);
  idm_problem_destroy(problem);
}

static void logs_that_need_more_are_not_asked_for(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  char *page = write_page(problem);
  assert_non_null(strstr(page, "<p hidden>Logs of this problem"));
  free(page);
  problem->columns.rules = 1; /* of which nothing but their number is looked at */
  page = write_page(problem);
  assert_non_null(strstr(page, "<p>Logs of this problem"));
  assert_non_null(strstr(page, "<div hidden>\n<p><label for=\"file\">"));
  free(page);
  problem->columns.rules = 0;
  idm_problem_destroy(problem);
}

static void a_build_without_it_says_what_to_install(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_error error = {0};
  assert_int_equal(idm_explorer_write(problem, path, &error), IDM_SYSTEM);
  assert_non_null(strstr(error.message, "wasi-libc"));
  idm_problem_destroy(problem);
}

int main(void)
{
  snprintf(path, sizeof path, "/tmp/idm_test_page_%ld.html", (long)getpid());
  const struct CMUnitTest pages[] = {
      cmocka_unit_test(a_page_is_whole),
      cmocka_unit_test(a_name_is_text),
      cmocka_unit_test(logs_that_need_more_are_not_asked_for),
  };
  const struct CMUnitTest without[] = {cmocka_unit_test(a_build_without_it_says_what_to_install)};
  return idm_explorer_available() ? cmocka_run_group_tests(pages, NULL, NULL)
                                  : cmocka_run_group_tests(without, NULL, NULL);
}
