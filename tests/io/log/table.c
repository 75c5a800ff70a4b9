/* CSV on its way to a file: what is written is what a reader of CSV gets back. */
#include "io/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/folder_support.h"

static idm_csv_writer *open_table(const folder *f)
{
  idm_csv_writer *table = calloc(1, sizeof *table);
  assert_non_null(table);
  check(idm_file_create(f->file, &table->file, &support_error));
  return table;
}

static void close_table(idm_csv_writer *table)
{
  check(idm_csv_writer_commit(table, &support_error));
  free(table);
}

/* Texts of every awkward byte, some longer than the buffer, read back cell by cell. */
static void test_texts_come_back(void **state)
{
  enum { rows = 60 };
  static const char bytes[] = "a,;\t\"\r\nb c";
  const folder *f = *state;
  char *text[rows];
  idm_random random;
  idm_random_init(&random, 13, 0);
  idm_csv_writer *table = open_table(f);
  idm_csv_writer_put(table, "left,right\n", 11);
  for (size_t i = 0; i < rows; i++) {
    const size_t length = i == 7 ? 200000 : (size_t)(3000 * idm_random_uniform(&random)) + 1;
    text[i] = malloc(length + 1);
    assert_non_null(text[i]);
    for (size_t k = 0; k < length; k++)
      text[i][k] = bytes[(size_t)(idm_random_uniform(&random) * (sizeof bytes - 1))];
    text[i][length] = '\0';
    idm_csv_writer_text(table, text[i], length);
    idm_csv_writer_put(table, ",", 1);
    idm_csv_writer_integer(table, i * i * i);
    idm_csv_writer_put(table, "\n", 1);
  }
  close_table(table);
  char *file;
  size_t length, count;
  idm_csv *csv;
  const idm_csv_field *field;
  check(idm_file_read(f->file, 1 << 24, &file, &length, &support_error));
  check(idm_csv_open_memory(file, length, "out.csv", &csv, &support_error));
  check(idm_csv_next(csv, &field, &count, &support_error));
  for (size_t i = 0; i < rows; i++) {
    char number[24];
    snprintf(number, sizeof number, "%zu", i * i * i);
    check(idm_csv_next(csv, &field, &count, &support_error));
    assert_int_equal(count, 2);
    assert_int_equal(field[0].length, strlen(text[i]));
    assert_memory_equal(field[0].text, text[i], field[0].length);
    assert_int_equal(field[1].length, strlen(number));
    assert_memory_equal(field[1].text, number, field[1].length);
    free(text[i]);
  }
  idm_csv_close(csv);
  free(file);
}

static void expect_bytes(const folder *f, const char *expected)
{
  char *file;
  size_t length;
  check(idm_file_read(f->file, 1 << 20, &file, &length, &support_error));
  assert_int_equal(length, strlen(expected));
  assert_memory_equal(file, expected, length);
  free(file);
}

static void test_numbers(void **state)
{
  const folder *f = *state;
  static const double number[] = {0.1, -0.0, INFINITY, -INFINITY, NAN, 2.5e-300, 1e22};
  idm_csv_writer *table = open_table(f);
  for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
    idm_csv_writer_number(table, number[i]);
    idm_csv_writer_put(table, ";", 1);
  }
  idm_csv_writer_integer(table, 0);
  idm_csv_writer_put(table, ";", 1);
  idm_csv_writer_integer(table, SIZE_MAX);
  close_table(table);
  expect_bytes(f, "0.1;-0.0;inf;-inf;;2.5e-300;1e+22;0;18446744073709551615");
}

/* Quotes stand only where they must. */
static void test_quotes(void **state)
{
  const folder *f = *state;
  static const char *const text[] = {"",           "plain", " blank ", "a'b",
                                     "say \"hi\"", "1,5",   "\xc3\xa9"};
  idm_csv_writer *table = open_table(f);
  for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
    idm_csv_writer_text(table, text[i], strlen(text[i]));
    idm_csv_writer_put(table, "|", 1);
  }
  close_table(table);
  expect_bytes(f, "|plain| blank |a'b|\"say \"\"hi\"\"\"|\"1,5\"|\xc3\xa9|");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_texts_come_back),
      TEST(test_numbers),
      TEST(test_quotes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
