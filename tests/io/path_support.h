/* One temporary file for all tests of a program: cmocka_run_group_tests(tests, make_path,
 * remove_path). */
#ifndef IDM_TESTS_IO_PATH_SUPPORT_H
#define IDM_TESTS_IO_PATH_SUPPORT_H

#include <stdio.h>

#include "support.h"

static char path[SUPPORT_PATH];

static inline int make_path(void **state)
{
  (void)state;
  support_path(path);
  return 0;
}

static inline int remove_path(void **state)
{
  (void)state;
  return remove(path);
}

#endif
