/* Tests base64 and digests against published values (RFC 4648, FIPS 180-4). */
#include "report/markup.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static void base64_is_that_of_the_rfc(void **state)
{
  (void)state;
  static const char *const pairs[][2] = {{"f", "Zg=="},         {"fo", "Zm8="},
                                         {"foo", "Zm9v"},       {"foob", "Zm9vYg=="},
                                         {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    idm_markup m = {0};
    idm_markup_base64(&m, pairs[i][0], strlen(pairs[i][0]));
    assert_string_equal(m.text, pairs[i][1]);
    free(m.text);
  }
}

static void digests_are_those_of_the_standard(void **state)
{
  (void)state;
  idm_markup m = {0};
  idm_markup_digest(&m, "");
  idm_markup_digest(&m, "abc");
  assert_string_equal(m.text, "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
                              "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
  free(m.text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(base64_is_that_of_the_rfc),
      cmocka_unit_test(digests_are_those_of_the_standard),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
