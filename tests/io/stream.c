/* Tests the reading of plain and gzip files (whole, of several members, truncated, damaged) against
 * the text before compression by zlib. */
#include "io/file.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "support.h"

enum { text_size = 300000 };

/* Returns a random text of text_size bytes whose compressed form exceeds one input buffer; the
 * caller frees it. */
static char *make_text(void)
{
  char *text = malloc(text_size);
  assert_non_null(text);
  idm_random random;
  idm_random_init(&random, 7, 0);
  for (size_t i = 0; i < text_size; i++) text[i] = (char)(32 + 90 * idm_random_uniform(&random));
  return text;
}

/* Compresses `length` bytes into one gzip member of at most `room` bytes at `to`; returns its size.
 */
static size_t compress_text(const char *text, size_t length, unsigned char *to, size_t room)
{
  z_stream z = {0};
  assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = (Bytef *)(uintptr_t)text;
  z.avail_in = (uInt)length;
  z.next_out = to;
  z.avail_out = (uInt)room;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  const size_t made = room - z.avail_out;
  deflateEnd(&z);
  return made;
}

/* Writes `bytes` to a file and reads it in pieces of 7001 bytes. The result must equal `opt_text`
 * (NULL: not compared) of `length` bytes or, if `opt_words` is not NULL, the error message must
 * contain it. */
static void expect(const void *bytes, size_t count, const char *opt_text, size_t length,
                   const char *opt_words)
{
  FILE *file = tmpfile();
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  rewind(file);
  idm_stream *stream;
  idm_error error = {0};
  check(idm_stream_open(file, "t.csv.gz", &stream, &support_error));
  static char piece[7001];
  size_t at = 0;
  idm_status status = IDM_OK;
  for (size_t got = sizeof piece; status == IDM_OK && got == sizeof piece; at += got) {
    status = idm_stream_read(stream, piece, sizeof piece, &got, &error);
    if (opt_text && got) assert_memory_equal(piece, opt_text + at, got);
  }
  if (opt_words) {
    assert_int_equal(status, IDM_INPUT);
    if (!strstr(error.message, opt_words)) fail_msg("'%s' lacks '%s'", error.message, opt_words);
  } else {
    assert_int_equal(status, IDM_OK);
    assert_int_equal(at, length);
  }
  idm_stream_close(stream);
  fclose(file);
}

static void test_plain(void **state)
{
  (void)state;
  char *text = make_text();
  expect(text, text_size, text, text_size, NULL);
  expect("", 0, "", 0, NULL);
  expect("\x1f", 1, "\x1f", 1, NULL);
  free(text);
}

static void test_compressed(void **state)
{
  (void)state;
  char *text = make_text();
  unsigned char *packed = malloc(2 * text_size);
  assert_non_null(packed);
  const size_t half = text_size / 2;
  size_t made = compress_text(text, text_size, packed, 2 * text_size);
  expect(packed, made, text, text_size, NULL);
  made = compress_text(text, half, packed, text_size);
  made += compress_text(text + half, text_size - half, packed + made, text_size);
  expect(packed, made, text, text_size, NULL);
  made = compress_text("", 0, packed, text_size);
  expect(packed, made, "", 0, NULL);
  free(packed);
  free(text);
}

static void test_damaged(void **state)
{
  (void)state;
  char *text = make_text();
  unsigned char *packed = malloc(2 * text_size);
  assert_non_null(packed);
  const size_t made = compress_text(text, text_size, packed, 2 * text_size);
  static const char early[] = "ends too early";
  expect(packed, made - 1, NULL, 0, early);
  expect(packed, made / 2, NULL, 0, early);
  expect(packed, 2, NULL, 0, early);
  packed[made] = 'x';
  expect(packed, made + 1, NULL, 0, early); /* a single byte could begin another member */
  memcpy(packed + made, "no gzip", 7);
  expect(packed, made + 7, NULL, 0, "damaged");
  packed[made / 2] ^= 0x55;
  expect(packed, made, NULL, 0, "damaged");
  free(packed);
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain),
                                     cmocka_unit_test(test_compressed),
                                     cmocka_unit_test(test_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
