/* Tests the CSV reader against expected fields with their lines and columns, every kind of
 * malformed input, and limits on memory; reading a stream is compared with reading the same bytes
 * from memory. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/csv.h"

static idm_csv *open_text(const char *text, size_t length)
{
  idm_csv *csv;
  assert_int_equal(idm_csv_open_memory(text, length, "t.csv", &csv, NULL), IDM_OK);
  return csv;
}

static void expect_field(const idm_csv_field *field, const char *text, long line, long column)
{
  assert_int_equal(field->length, strlen(text));
  assert_memory_equal(field->text, text, field->length);
  assert_int_equal(field->line, line);
  assert_int_equal(field->column, column);
}

/* Reads to the first error, which must be IDM_INPUT at `line` and `column` with `words` in its
 * message, after `records` complete records. */
static void expect_error_bytes(const char *text, size_t length, int records, long line, long column,
                               const char *words)
{
  idm_csv *csv = open_text(text, length);
  idm_error error = {0};
  const idm_csv_field *field;
  size_t count = 1;
  int seen = -1;
  idm_status status = IDM_OK;
  while (status == IDM_OK && count) {
    status = idm_csv_next(csv, &field, &count, &error);
    seen++;
  }
  assert_int_equal(status, IDM_INPUT);
  assert_int_equal(seen, records);
  assert_string_equal(error.file, "t.csv");
  assert_int_equal(error.line, line);
  assert_int_equal(error.column, column);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  idm_csv_close(csv);
}

static void expect_error(const char *text, int records, long line, long column, const char *words)
{
  expect_error_bytes(text, strlen(text), records, line, column, words);
}

static void test_plain(void **state)
{
  (void)state;
  const char text[] = "\xef\xbb\xbf"
                      "a,b,c\r\n\n  \t\r\n1,,three\n4,5,";
  idm_csv *csv = open_text(text, sizeof text - 1);
  const idm_csv_field *field;
  size_t count;
  assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
  assert_int_equal(count, 3);
  expect_field(&field[0], "a", 1, 1);
  expect_field(&field[2], "c", 1, 5);
  assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
  assert_int_equal(count, 3);
  expect_field(&field[0], "1", 4, 1);
  expect_field(&field[1], "", 4, 3);
  expect_field(&field[2], "three", 4, 4);
  assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
  assert_int_equal(count, 3);
  expect_field(&field[2], "", 5, 5);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
    assert_int_equal(count, 0);
  }
  idm_csv_close(csv);
}

static void test_quotes(void **state)
{
  (void)state;
  const char text[] = "\"a,\"\"b\"\"\",\"x\ny\r\nz\rw\",last\n\"\",\"\"\"\",\" \"";
  idm_csv *csv = open_text(text, sizeof text - 1);
  const idm_csv_field *field;
  size_t count;
  assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
  assert_int_equal(count, 3);
  expect_field(&field[0], "a,\"b\"", 1, 1);
  expect_field(&field[1], "x\ny\r\nz\rw", 1, 11);
  expect_field(&field[2], "last", 4, 4);
  assert_true(field[0].quoted);
  assert_false(field[2].quoted);
  assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
  assert_int_equal(count, 3);
  expect_field(&field[0], "", 5, 1);
  expect_field(&field[1], "\"", 5, 4);
  expect_field(&field[2], " ", 5, 9);
  idm_csv_close(csv);
}

/* The same table with each separator. The other separators occur only inside quotes or after the
 * header, so they do not affect the choice of the separator. */
static void test_separators(void **state)
{
  (void)state;
  for (const char *separator = ",\t;"; *separator; separator++) {
    char text[120];
    const char s = *separator;
    const int length =
        snprintf(text, sizeof text, "\n  \n\"a,\t;\"%cb%c\"\"\"c\"\n1;,2%c%c\"x%cy\"\n", s, s,
                 s == ';' || s == ',' ? 'z' : s, s, s);
    idm_csv *csv = open_text(text, (size_t)length);
    const idm_csv_field *field;
    size_t count;
    assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
    assert_int_equal(count, 3);
    expect_field(&field[0], "a,\t;", 3, 1);
    expect_field(&field[2], "\"c", 3, 10);
    idm_csv_close(csv);
  }
  expect_error("a,b;c\n1,2\n", 0, 1, 1,
               "the header holds 1 comma and 1 semicolon, and the separator is ambiguous");
  expect_error("a\tb\tc;d\n", 0, 1, 1, "the header holds 2 tabs and 1 semicolon");
  expect_error("\"a\"x;b\n", 0, 1, 4, "text after a closing quote; expected a semicolon or");
  /* A header of one column contains no separator; the separator is then the comma. */
  expect_error("a\n1,2\n", 1, 2, 3, "this row has 2 fields; the header has 1");
}

static void test_line_ends(void **state)
{
  (void)state;
  const char *const texts[] = {"a,b\n1,2\n", "a,b\r\n1,2\r\n", "a,b\r1,2\r", "a,b\n1,2",
                               "a,b\r1,2"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    idm_csv *csv = open_text(texts[i], strlen(texts[i]));
    const idm_csv_field *field;
    size_t count;
    assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
    assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
    assert_int_equal(count, 2);
    expect_field(&field[1], "2", 2, 3);
    assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
    assert_int_equal(count, 0);
    idm_csv_close(csv);
  }
}

static void test_empty(void **state)
{
  (void)state;
  const char *const texts[] = {"", "\n\n", "\xef\xbb\xbf", "   \n\t\r\n"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    idm_csv *csv = open_text(texts[i], strlen(texts[i]));
    const idm_csv_field *field;
    size_t count = 1;
    assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
    assert_int_equal(count, 0);
    idm_csv_close(csv);
  }
  idm_csv_close(NULL);
}

static void test_errors(void **state)
{
  (void)state;
  expect_error("a,b\n1,x\"y\n", 1, 2, 4, "a quote inside a field without quotes");
  expect_error("a,b\n1, \"y\"\n", 1, 2, 4, "a quote inside a field without quotes");
  expect_error("a,b\n\"x\"y,2\n", 1, 2, 4, "text after a closing quote");
  expect_error("a,b\n\"x\ny\"z,2\n", 1, 3, 3, "text after a closing quote");
  expect_error("a,b\n1,2\n3,\"four\n5,6\n", 2, 3, 3, "never closed");
  expect_error("a,\"", 0, 1, 3, "never closed");
  expect_error("a,b\n1\n", 1, 2, 1, "this row has 1 field; the header has 2");
  expect_error("a,b\n1,2,3,4\n", 1, 2, 5, "this row has 4 fields; the header has 2");
  expect_error("a,b\n\"x\n\",2,3\n", 1, 3, 5, "this row has 3 fields; the header has 2");
  expect_error_bytes("a,b\n1,x\0y\n", 10, 1, 2, 4, "a NUL byte");
  expect_error_bytes("a,b\n1,\"x\0y\"\n", 12, 1, 2, 5, "a NUL byte");
  expect_error_bytes("a,b\n1,\"x\"\0\n", 11, 1, 2, 6, "a NUL byte");
  expect_error_bytes("\xff\xfe"
                     "a\0,\0",
                     6, 0, 1, 4, "a NUL byte");
}

/* Returns `prefix` followed by `count` copies of `byte`, without a final NUL; the caller frees it.
 */
static char *fill_text(const char *prefix, char byte, size_t count, size_t *ret_length)
{
  const size_t head = strlen(prefix);
  char *text = malloc(head + count);
  assert_non_null(text);
  memcpy(text, prefix, head);
  memset(text + head, byte, count);
  *ret_length = head + count;
  return text;
}

static void test_limits(void **state)
{
  (void)state;
  size_t length;
  char *text = fill_text("a\n", 'x', IDM_CSV_FIELD_LIMIT, &length);
  idm_csv *csv = open_text(text, length);
  const idm_csv_field *field;
  size_t count;
  assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
  assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
  assert_int_equal(field[0].length, IDM_CSV_FIELD_LIMIT);
  idm_csv_close(csv);
  free(text);

  text = fill_text("a,b\n1,", 'x', IDM_CSV_FIELD_LIMIT + 1, &length);
  expect_error_bytes(text, length, 1, 2, 3, "a field longer than 1048576 bytes");
  free(text);
  text = fill_text("a,b\n1,\"", '\n', IDM_CSV_FIELD_LIMIT + 2, &length);
  expect_error_bytes(text, length, 1, 2, 3, "closing quote missing");
  free(text);
  text = fill_text("", ',', IDM_CSV_FIELDS_LIMIT, &length);
  expect_error_bytes(text, length, 0, 1, 65537, "more than 65536 fields");
  free(text);
  text = fill_text("", ',', IDM_CSV_FIELDS_LIMIT - 1, &length);
  csv = open_text(text, length);
  assert_int_equal(idm_csv_next(csv, &field, &count, NULL), IDM_OK);
  assert_int_equal(count, IDM_CSV_FIELDS_LIMIT);
  idm_csv_close(csv);
  free(text);
}

/* A stream of 1 GiB generated on the fly: each byte depends only on its position. */
typedef struct endless {
  size_t given;
  size_t period; /* distance between commas in bytes; 0 for no commas */
} endless;

static ssize_t give(void *cookie, char *buffer, size_t size)
{
  endless *source = cookie;
  const size_t total = (size_t)1 << 30;
  if (size > total - source->given) size = total - source->given;
  memset(buffer, 'x', size);
  for (size_t i = 0; source->period && i < size; i++)
    if ((source->given + i) % source->period == source->period - 1) buffer[i] = ',';
  source->given += size;
  return (ssize_t)size;
}

static void expect_refused(size_t period, size_t most, const char *words)
{
  endless source = {.period = period};
  FILE *stream = fopencookie(&source, "r", (cookie_io_functions_t){.read = give});
  assert_non_null(stream);
  idm_csv *csv;
  idm_error error = {0};
  const idm_csv_field *field;
  size_t count;
  assert_int_equal(idm_csv_open_stream(stream, "t.csv", &csv, &error), IDM_OK);
  assert_int_equal(idm_csv_next(csv, &field, &count, &error), IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  assert_int_equal(error.line, 1);
  assert_true(source.given <= most);
  idm_csv_close(csv);
  fclose(stream);
}

static void test_gigabyte_line(void **state)
{
  (void)state;
  expect_refused(0, (size_t)1 << 22, "a field longer than");
  expect_refused(2, (size_t)1 << 22, "more than 65536 fields");
  expect_refused(100000, (size_t)1 << 26, "a record longer than");
}

static uint32_t next_random(uint32_t *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 16;
}

/* Returns about 3 MiB of random records with fields of every kind, so that the boundaries of the
 * read buffer fall inside every kind of field; the caller frees it. */
static char *make_table(size_t *ret_length)
{
  static const char *const pieces[] = {"a",          "bc",         "",
                                       "\"\"",       "\"x,\n\"",   "\"\"\"q\"\"\"",
                                       "\"\r\n\r\"", "plain text", "\"long quoted text\""};
  static const char *const ends[] = {"\n", "\r\n", "\r", "\n\n"};
  const size_t size = (size_t)3 << 20;
  char *text = malloc(size + 4096);
  assert_non_null(text);
  size_t used = 0;
  uint32_t seed = 7;
  while (used < size) {
    for (int i = 0; i < 4; i++) {
      const char *piece = pieces[next_random(&seed) % 9];
      memcpy(text + used, piece, strlen(piece));
      used += strlen(piece);
      if (i < 3) text[used++] = ',';
    }
    const char *end = ends[next_random(&seed) % 4];
    memcpy(text + used, end, strlen(end));
    used += strlen(end);
  }
  *ret_length = used;
  return text;
}

static void test_stream_as_memory(void **state)
{
  (void)state;
  size_t length;
  char *text = make_table(&length);
  FILE *stream = tmpfile();
  assert_non_null(stream);
  assert_int_equal(fwrite(text, 1, length, stream), length);
  rewind(stream);
  idm_csv *a = open_text(text, length);
  idm_csv *b;
  assert_int_equal(idm_csv_open_stream(stream, "t.csv", &b, NULL), IDM_OK);
  size_t records = 0;
  for (;; records++) {
    const idm_csv_field *x;
    const idm_csv_field *y;
    size_t m;
    size_t n;
    assert_int_equal(idm_csv_next(a, &x, &m, NULL), IDM_OK);
    assert_int_equal(idm_csv_next(b, &y, &n, NULL), IDM_OK);
    assert_int_equal(m, n);
    if (!m) break;
    for (size_t i = 0; i < m; i++) {
      assert_int_equal(x[i].length, y[i].length);
      assert_memory_equal(x[i].text, y[i].text, x[i].length);
      assert_int_equal(x[i].line, y[i].line);
      assert_int_equal(x[i].column, y[i].column);
    }
  }
  assert_true(records > 50000);
  idm_csv_close(a);
  idm_csv_close(b);
  fclose(stream);
  free(text);
}

static ssize_t refuse(void *cookie, char *buffer, size_t size)
{
  (void)cookie;
  (void)buffer;
  (void)size;
  return -1;
}

static void test_unreadable(void **state)
{
  (void)state;
  FILE *stream = fopencookie(NULL, "r", (cookie_io_functions_t){.read = refuse});
  assert_non_null(stream);
  idm_csv *csv;
  idm_error error = {0};
  assert_int_equal(idm_csv_open_stream(stream, "t.csv", &csv, &error), IDM_INPUT);
  assert_null(csv);
  assert_non_null(strstr(error.message, "cannot read"));
  fclose(stream);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain),
      cmocka_unit_test(test_separators),
      cmocka_unit_test(test_quotes),
      cmocka_unit_test(test_line_ends),
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_gigabyte_line),
      cmocka_unit_test(test_stream_as_memory),
      cmocka_unit_test(test_unreadable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
