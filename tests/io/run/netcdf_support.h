/* What tests of run.nc share: names that are hard to write, a posterior with every group, files as
 * bytes, and netCDF itself. */
#ifndef IDM_TESTS_IO_RUN_NETCDF_SUPPORT_H
#define IDM_TESTS_IO_RUN_NETCDF_SUPPORT_H

#include <netcdf.h>

#include "io/run/netcdf.h"
#include "io/run/run_support.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* 300 bytes: more than netCDF lets a name be. */
#define TEN       "abcdefghij"
#define HUNDRED   TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define LONG_NAME HUNDRED HUNDRED HUNDRED

static const char *const weird[] = {
    "alpha",
    "inverse_beta",
    "utility[declare_healthy,healthy]",
    "weights[gr\xc3\xbc\xc3\x9f/\xe6\x97\xa5\xe6\x9c\xac,a b]",
    "chain",
    "-begins with a sign",
    "caf\xc3\xa9",
    "cafe\xcc\x81", /* the same letter, decomposed: netCDF holds the two to be one name */
    LONG_NAME,
    "space at the end ",
    "tab\tinside",
    "100%2F/",
};

static const char *const units[] = {"case 1", "case/2", "\xc3\xa9tude", "4", "5"};

static inline char *slurp(const char *path, size_t *ret_length)
{
  char *bytes;
  check(idm_file_read(path, (size_t)1 << 30, &bytes, ret_length, &support_error));
  return bytes;
}

static inline idm_posterior *full_posterior(void)
{
  idm_posterior *p = made_up(2, 11, weird, 4, false);
  add_log_likelihood(p, units, COUNT(units), false);
  add_prior(p, 9);
  return p;
}

static inline idm_data *small_data(const idm_problem *problem)
{
  return support_data(problem, "agent,trajectory,action,observation\n"
                               "ann,p1,monitor,positive\n"
                               "ann,p1,declare_diseased,\n"
                               "bob,p2,monitor,\n"
                               "bob,p2,,negative\n"
                               "bob,p2,declare_healthy,negative\n"
                               "ann,p3,declare_healthy,positive\n");
}

static inline char *sound_file(const folder *f, size_t *ret_length)
{
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_posterior *p = made_up(2, 5, weird, 3, false);
  check(idm_posterior_write_file(p, problem, NULL, f->file, &support_error));
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
  return slurp(f->file, ret_length);
}

static inline void nc(int code)
{
  if (code != NC_NOERR) fail_msg("%s", nc_strerror(code));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

#endif
