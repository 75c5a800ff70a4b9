/* Rows held by column: every cell comes back with its text and its place. */
#include "io/log/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { COLUMNS = 3, HELD = 2, ROWS = 3000, REASONS = 5 };

typedef struct fixture {
  idm_log log;
  idm_coding coding;
  idm_csv_field field[COLUMNS];
  idm_buffered_column buffered[HELD];
  size_t buffered_index[COLUMNS];
} fixture;

/* The first column is not held; the others are, in another order than in the file. */
static void open_fixture(fixture *f)
{
  *f = (fixture){.buffered = {{.column = 2}, {.column = 1}}, .buffered_index = {HELD, 1, 0}};
  f->coding = (idm_coding){.field = f->field,
                           .buffered_columns = HELD,
                           .buffered = f->buffered,
                           .buffered_index = f->buffered_index};
  f->log = (idm_log){.coding = &f->coding, .ledger = {.reasons = REASONS}};
}

static void close_fixture(fixture *f)
{
  for (size_t h = 0; h < HELD; h++) {
    idm_intern_clear(&f->buffered[h].text);
    free(f->buffered[h].cell);
    free(f->buffered[h].line);
    free(f->buffered[h].place);
  }
  free(f->coding.trajectory);
  free(f->coding.file);
  free(f->coding.reason);
  idm_intern_clear(&f->log.missing);
}

static void put(fixture *f, size_t column, const char *text, uint32_t line)
{
  f->field[column] = (idm_csv_field){.text = text,
                                     .length = (uint32_t)strlen(text),
                                     .line = line,
                                     .column = (uint32_t)(column + 10)};
}

static void expect_cell(const fixture *f, size_t column, size_t row, const char *text,
                        uint32_t line)
{
  const idm_csv_field cell = idm_buffered_cell(&f->coding, column, row);
  assert_int_equal(cell.length, strlen(text));
  assert_memory_equal(cell.text, text, cell.length);
  assert_int_equal(cell.line, line);
  assert_int_equal(cell.column, column + 10);
}

/* More rows than there is room for at first, with texts that repeat in one column and not in the
 * other. */
static void test_many_rows(void **state)
{
  (void)state;
  fixture f;
  char few[16], own[16];
  open_fixture(&f);
  for (uint32_t i = 0; i < ROWS; i++) {
    snprintf(few, sizeof few, "%u", i * i % 7);
    snprintf(own, sizeof own, "row %u", i);
    put(&f, 0, "not held", i);
    put(&f, 1, few, 2 * i);
    put(&f, 2, own, 2 * i + 1);
    f.log.at = i % 4;
    check(idm_buffer_row(&f.log, i / 3, &support_error));
  }
  assert_int_equal(f.coding.rows, ROWS);
  assert_int_equal(f.buffered[1].text.count, 4); /* squares modulo 7 */
  assert_int_equal(f.buffered[0].text.count, ROWS);
  for (uint32_t i = 0; i < ROWS; i++) {
    snprintf(few, sizeof few, "%u", i * i % 7);
    snprintf(own, sizeof own, "row %u", i);
    expect_cell(&f, 1, i, few, 2 * i);
    expect_cell(&f, 2, i, own, 2 * i + 1);
    assert_int_equal(f.coding.trajectory[i], i / 3);
    assert_int_equal(f.coding.file[i], i % 4);
    assert_int_equal(f.coding.reason[i], REASONS); /* nothing has taken it so far */
  }
  close_fixture(&f);
}

/* Blanks around a text are gone; what means missing is empty, and takes no room among the texts. */
static void test_missing(void **state)
{
  (void)state;
  static const char *const text[] = {"", "  ", "NA", " NA\t", "N A", "  na "};
  static const char *const kept[] = {"", "", "", "", "N A", "na"};
  fixture f;
  uint32_t index;
  open_fixture(&f);
  assert_true(idm_intern_add(&f.log.missing, "NA", 2, &index));
  put(&f, 2, "x", 1);
  for (uint32_t i = 0; i < 6; i++) {
    put(&f, 1, text[i], i);
    check(idm_buffer_row(&f.log, 0, &support_error));
  }
  for (uint32_t i = 0; i < 6; i++) {
    const idm_csv_field cell = idm_buffered_cell(&f.coding, 1, i);
    assert_int_equal(cell.length, strlen(kept[i]));
    assert_memory_equal(cell.text, kept[i], cell.length);
    assert_int_equal(cell.line, i);
  }
  assert_int_equal(f.buffered[1].text.count, 2);
  close_fixture(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_rows),
      cmocka_unit_test(test_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
