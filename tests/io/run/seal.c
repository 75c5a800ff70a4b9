/* Sealed files: an image, and behind it its SHA-256. */
#include <stdio.h>
#include <string.h>

#include "io/run/folder.h"
#include "io/run/netcdf.h"
#include "support.h"

/* The digest of "abc" is that of FIPS 180-4's example. */
static void a_seal_is_the_digest(void **state)
{
  (void)state;
  char trailer[IDM_TRAILER_LENGTH + 1];
  idm_trailer("abc", 3, trailer);
  assert_string_equal(trailer, IDM_TRAILER_PREFIX
                      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n");
}

static void an_image_comes_before_its_seal(void **state)
{
  (void)state;
  char path[SUPPORT_PATH], bytes[200] = "", expected[IDM_TRAILER_LENGTH + 1];
  support_path(path);
  const idm_location place = idm_location_of(path);
  check(idm_trailer_write("abc", 3, &place, &support_error));
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fread(bytes, 1, sizeof bytes, file), 3 + IDM_TRAILER_LENGTH);
  fclose(file);
  remove(path);
  idm_trailer("abc", 3, expected);
  assert_memory_equal(bytes, "abc", 3);
  assert_string_equal(bytes + 3, expected);
}

static void a_seal_that_cannot_be_written_is_told(void **state)
{
  (void)state;
  idm_error error = {0};
  const idm_location nowhere = idm_location_of("/nowhere/run.nc");
  assert_int_equal(idm_trailer_write("abc", 3, &nowhere, &error), IDM_SYSTEM);
  assert_non_null(strstr(error.message, "/nowhere/run.nc"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_seal_is_the_digest),
                                     cmocka_unit_test(an_image_comes_before_its_seal),
                                     cmocka_unit_test(a_seal_that_cannot_be_written_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
