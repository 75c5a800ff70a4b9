/* Tests the SHA-256 digest of files against test vectors of FIPS 180-4 and the output of sha256sum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/path_support.h"

/* The file contains `times` copies of `piece`. */
static void expect(const char *piece, size_t length, size_t times, const char *digest)
{
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  for (size_t i = 0; i < times; i++) assert_int_equal(fwrite(piece, 1, length, stream), length);
  assert_int_equal(fclose(stream), 0);
  char hash[IDM_HASH_SIZE];
  memset(hash, 'x', sizeof hash);
  check(idm_file_hash(path, hash, &support_error));
  assert_string_equal(hash, digest);
}

static void test_vectors(void **state)
{
  (void)state;
  expect("", 0, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  expect("abc", 3, 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, 1,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  /* 10^6 bytes: many blocks of the digest and many reads. */
  expect("a", 1, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  /* NUL and line ends are hashed unchanged. */
  expect("\0\r\n", 3, 1, "5016d27e02b85de4602313289699acbf145b3b1e47d8f94320cce8ded4a6ceef");
}

static void expect_failure(const char *where, const char *words)
{
  char hash[IDM_HASH_SIZE];
  idm_error error = {0};
  assert_int_equal(idm_file_hash(where, hash, &error), IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  assert_int_equal(idm_file_hash(where, hash, NULL), IDM_INPUT);
}

static void test_failures(void **state)
{
  (void)state;
  expect_failure("no/such/file", "cannot open 'no/such/file': No such file");
  expect_failure("/tmp", "cannot read '/tmp'");
  expect_failure("", "cannot open ''");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_failures),
  };
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
