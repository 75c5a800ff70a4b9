/* Tests checkpoints as bytes: stored values are read back, and damaged checkpoints or those of
 * another request are rejected. */
#include "base/record.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

typedef struct thing {
  double number[300];
  long count;
} thing;

static bool pass(idm_record *r, thing *t)
{
  const bool same = idm_record_match(r, 300);
  idm_record_transfer(r, t->number, sizeof t->number);
  idm_record_transfer(r, &t->count, sizeof t->count);
  return same;
}

static void what_goes_in_comes_out(void **state)
{
  (void)state;
  thing in = {.count = 7}, out = {0};
  char *bytes;
  size_t length;
  idm_record r;
  for (int i = 0; i < 300; i++) in.number[i] = i / 7.0;
  idm_record_begin(&r, "testing", 5);
  assert_true(pass(&r, &in));
  check(idm_record_finish(&r, &bytes, &length, &support_error));
  check(idm_record_open(&r, "testing", 5, bytes, length, &support_error));
  check(idm_record_close(&r, pass(&r, &out), &support_error));
  assert_memory_equal(&in, &out, sizeof in);

  idm_error error = {0};
  assert_int_equal(idm_record_open(&r, "testing", 6, bytes, length, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "another request"));
  assert_int_equal(idm_record_open(&r, "another", 5, bytes, length, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "no checkpoint of this version"));
  assert_int_equal(idm_record_open(&r, "testing", 5, bytes, length - 1, &error), IDM_INPUT);
  assert_int_equal(idm_record_open(&r, "testing", 5, bytes, 3, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "cut short"));
  check(idm_record_open(&r, "testing", 5, bytes, length, &support_error));
  assert_int_equal(idm_record_close(&r, true, &error), IDM_INPUT); /* nothing was read */
  pass(&r, &out);
  pass(&r, &out);
  assert_int_equal(idm_record_close(&r, true, &error), IDM_INPUT); /* more was read than stored */
  bytes[length / 2] ^= 4;
  assert_int_equal(idm_record_open(&r, "testing", 5, bytes, length, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "damaged"));
  free(bytes);
}

/* Flags are bytes of 0 or 1. Any other byte is rejected, even with a valid checksum. */
static void flags_are_flags(void **state)
{
  (void)state;
  for (unsigned char byte = 0; byte < 4; byte++) {
    idm_record r;
    char *bytes;
    size_t length;
    bool flag = true;
    idm_record_begin(&r, "testing", 5);
    idm_record_transfer(&r, &byte, sizeof byte);
    check(idm_record_finish(&r, &bytes, &length, &support_error));
    check(idm_record_open(&r, "testing", 5, bytes, length, &support_error));
    idm_record_transfer_flag(&r, &flag);
    assert_int_equal(idm_record_close(&r, true, &support_error), byte > 1 ? IDM_INPUT : IDM_OK);
    if (byte < 2) assert_int_equal(flag, byte);
    free(bytes);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_goes_in_comes_out),
                                     cmocka_unit_test(flags_are_flags)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
