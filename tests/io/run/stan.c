/* Chains as CmdStan's CSV: names of columns, numbers read back exactly, failing writes. */
#include "io/run/run_support.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static char *written(const folder *f, const idm_posterior *p, size_t chain)
{
  char *text;
  size_t length;
  check(idm_posterior_write_stan(p, chain, f->file, &support_error));
  check(idm_file_read(f->file, (size_t)1 << 24, &text, &length, &support_error));
  assert_int_equal(entries(f, 0), 1);
  return text;
}

/* The first line that is no comment, and what follows it. */
static char *header_of(char *text, char **ret_rest)
{
  while (*text == '#') text = strchr(text, '\n') + 1;
  char *end = strchr(text, '\n');
  assert_non_null(end);
  *end = '\0';
  *ret_rest = end + 1;
  return text;
}

static void check_header(const folder *f, const char *const *name, size_t names, bool plain,
                         const char *expected)
{
  idm_posterior *p = made_up(1, 3, name, names, plain);
  char *text = written(f, p, 0);
  char *rest;
  assert_string_equal(header_of(text, &rest), expected);
  free(text);
  idm_posterior_destroy(p);
}

#define STATISTICS "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__"

static void test_columns(void **state)
{
  static const char *const block[] = {"alpha",           "utility[stay,bad]", "utility[stay,good]",
                                      "utility[go,bad]", "inverse_beta",      "utility[go,good]"};
  check_header(*state, block, 6, false,
               STATISTICS ",alpha,utility.1.1,utility.1.2,utility.2.1,inverse_beta,utility.2.2");
  /* One combination is missing: a single index. */
  check_header(*state, block, 5, false,
               STATISTICS ",alpha,utility.1,utility.2,utility.3,inverse_beta");
  check_header(*state, block, 1, true, "lp__,accept_stat__,n_leapfrog__,divergent__,alpha");
}

/* Labels that hold what separates labels, or cells, or lines. */
static void test_awkward_names(void **state)
{
  static const char *const comma[] = {"w[a,b]", "w[c]", "w", "x[]", "y[a,b]", "y[a b,\n#\"]", "v]"};
  check_header(*state, comma, COUNT(comma), false, STATISTICS ",w.1,w.2,w,x.1,y.1,y.2,v_");
  static const char *const sign[] = {"a b.c,d", "\xc3\xa9[\xe6\x97\xa5]", "tab\t"};
  check_header(*state, sign, COUNT(sign), false, STATISTICS ",a_b_c_d,\xc3\xa9.1,tab_");
}

static void test_settings(void **state)
{
  static const char *const name[] = {"alpha", "utility[stay,a\nb]"};
  idm_posterior *p = made_up(2, 3, name, 2, false);
  char *text = written(*state, p, 1);
  static const char *const line[] = {"# method = sample\n",
                                     "#     num_samples = 3\n",
                                     "#     num_warmup = 500\n",
                                     "#     save_warmup = 0\n",
                                     "#     algorithm = nuts\n",
                                     "# id = 2\n",
                                     "#   seed = 18446744073709551611\n",
                                     "# column utility.1.1: utility[stay,a_b]\n"};
  for (size_t i = 0; i < COUNT(line); i++)
    if (!strstr(text, line[i])) fail_msg("no line '%s'", line[i]);
  free(text);
  idm_posterior_destroy(p);
}

/* The next cell of the rest as a number. */
static double next(char **rest)
{
  char *end;
  const double x = strtod(*rest, &end);
  assert_true(end > *rest && (*end == ',' || *end == '\n'));
  *rest = end + 1;
  return x;
}

static void check_number(double found, double expected)
{
  if (isnan(expected))
    assert_true(isnan(found));
  else
    assert_memory_equal(&found, &expected, sizeof found);
}

static void test_numbers(void **state)
{
  static const char *const name[] = {"alpha", "beta", "eta"};
  idm_posterior *p = made_up(3, 50, name, 3, false);
  for (size_t q = 0; q < 3; q++) p->value[(q * 3 + 1) * 50 + q] = INFINITY;
  p->value[50 + 7] = NAN;
  p->value[50 + 8] = -0.0;
  p->value[50 + 9] = 5e-324;
  for (size_t chain = 0; chain < 3; chain++) {
    char *text = written(*state, p, chain);
    char *rest;
    header_of(text, &rest);
    for (size_t draw = 0; draw < 50; draw++) {
      const idm_statistics *s = &p->statistics[chain * 50 + draw];
      const double expected[] = {s->log_density,         s->acceptance, s->step_size, s->tree_depth,
                                 (double)s->evaluations, s->diverging,  s->energy};
      for (size_t i = 0; i < COUNT(expected); i++) check_number(next(&rest), expected[i]);
      for (size_t q = 0; q < 3; q++)
        check_number(next(&rest), p->value[(q * 3 + chain) * 50 + draw]);
    }
    assert_string_equal(rest, "");
    free(text);
  }
  idm_posterior_destroy(p);
}

/* A statistic that one draw of one chain has makes a column in every file. */
static void test_same_columns(void **state)
{
  static const char *const name[] = {"alpha"};
  idm_posterior *p = made_up(2, 4, name, 1, true);
  p->statistics[6].tree_depth = 3;
  char *text = written(*state, p, 0);
  char *rest;
  assert_string_equal(header_of(text, &rest),
                      "lp__,accept_stat__,treedepth__,n_leapfrog__,divergent__,alpha");
  free(text);
  /* Without statistics, the flag alone remains, and the rows have as many cells. */
  for (size_t i = 0; i < 8; i++)
    p->statistics[i] = (idm_statistics){.log_density = NAN,
                                        .acceptance = NAN,
                                        .step_size = NAN,
                                        .energy = NAN,
                                        .tree_depth = -1,
                                        .evaluations = -1};
  text = written(*state, p, 0);
  assert_string_equal(header_of(text, &rest), "divergent__,alpha");
  for (size_t draw = 0; draw < 4; draw++) {
    check_number(next(&rest), 0);
    check_number(next(&rest), p->value[draw]);
  }
  assert_string_equal(rest, "");
  free(text);
  idm_posterior_destroy(p);
}

static void test_failures(void **state)
{
  const folder *f = *state;
  static const char *const name[] = {"alpha"};
  idm_posterior *p = made_up(2, 4, name, 1, true);
  idm_error error = {0};
  char path[256];
  assert_int_equal(idm_posterior_write_stan(p, 2, f->file, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "no chain 2"));
  snprintf(path, sizeof path, "%s/missing/chain.csv", f->path);
  assert_int_equal(idm_posterior_write_stan(p, 0, path, &error), IDM_SYSTEM);
  assert_non_null(strstr(error.message, path));
  if (access("/dev/full", W_OK) == 0)
    assert_int_equal(idm_posterior_write_stan(p, 0, "/dev/full", &error), IDM_SYSTEM);
  assert_int_equal(entries(f, 0), 0);
  idm_posterior_destroy(p);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_columns), TEST(test_awkward_names), TEST(test_settings),
      TEST(test_numbers), TEST(test_same_columns),  TEST(test_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
