/* run.nc as it is written: every group, seen through netCDF itself.
 *
 *   layout       groups, variables, dimensions and attributes
 *   bytes        the same posterior gives the same file
 *   failures     writes that cannot be finished, which leave the older run alone
 *   others       a file that ArviZ and R can be tried on */
#include <signal.h>
#include <sys/resource.h>

#include "io/run/netcdf_support.h"

static void test_same_bytes(void **state)
{
  const folder *f = *state;
  char *bytes[2];
  size_t length[2];
  for (int i = 0; i < 2; i++) {
    idm_problem *problem = support_diag(0.5, INFINITY, 0);
    idm_data *data = small_data(problem);
    idm_posterior *p = full_posterior();
    check(idm_posterior_write_file(p, problem, data, f->file, &support_error));
    bytes[i] = slurp(f->file, &length[i]);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
  assert_int_equal(length[0], length[1]);
  assert_memory_equal(bytes[0], bytes[1], length[0]);
  free(bytes[0]);
  free(bytes[1]);
}

/* --- layout --------------------------------------------------------------------------------- */

static int group_of(int file, const char *name)
{
  int group;
  nc(nc_inq_grp_ncid(file, name, &group));
  return group;
}

static int variable_of(int group, const char *name, nc_type type, int rank)
{
  int variable;
  int found_rank;
  nc_type found;
  nc(nc_inq_varid(group, name, &variable));
  nc(nc_inq_vartype(group, variable, &found));
  nc(nc_inq_varndims(group, variable, &found_rank));
  assert_int_equal(found, type);
  assert_int_equal(found_rank, rank);
  return variable;
}

static void check_doubles(int group, const char *name, int rank, const double *expected,
                          size_t count)
{
  double *x = calloc(count, sizeof *x);
  assert_non_null(x);
  nc(nc_get_var_double(group, variable_of(group, name, NC_DOUBLE, rank), x));
  assert_memory_equal(x, expected, count * sizeof *x);
  free(x);
}

static void check_codes(int group, const char *name, const int *expected, size_t count)
{
  int x[64];
  nc(nc_get_var_int(group, variable_of(group, name, NC_INT, 1), x));
  assert_memory_equal(x, expected, count * sizeof *x);
}

static void check_names(int group, const char *name, const char *const *expected, size_t count)
{
  char *x[64];
  nc(nc_get_var_string(group, variable_of(group, name, NC_STRING, 1), x));
  for (size_t i = 0; i < count; i++) assert_string_equal(x[i], expected[i]);
  nc(nc_free_string(count, x));
}

static void check_word(int group, int variable, const char *name, const char *expected)
{
  char *word;
  nc(nc_get_att_string(group, variable, name, &word));
  assert_string_equal(word, expected);
  nc(nc_free_string(1, &word));
}

static void check_attributes(int group)
{
  unsigned long long seed;
  long long warmup;
  int id;
  check_word(group, NC_GLOBAL, "inference_library", "idm");
  check_word(group, NC_GLOBAL, "inference_library_version", idm_version());
  check_word(group, NC_GLOBAL, "answer", "posterior");
  check_word(group, NC_GLOBAL, "inverse", "bayes");
  check_word(group, NC_GLOBAL, "sampler", "nuts");
  check_word(group, NC_GLOBAL, "request", "0fedcba987654321");
  nc(nc_get_att_ulonglong(group, NC_GLOBAL, "seed", &seed));
  nc(nc_get_att_longlong(group, NC_GLOBAL, "warmup", &warmup));
  assert_true(seed == UINT64_MAX - 4);
  assert_int_equal(warmup, 500);
  assert_int_equal(nc_inq_attid(group, NC_GLOBAL, "created_at", &id), NC_ENOTATT);
}

static void check_draws(int file, const idm_posterior *p)
{
  const int group = group_of(file, "posterior");
  const int prior = group_of(file, "prior");
  const size_t count = p->chains * p->draws;
  long long chain[2];
  nc(nc_get_var_longlong(group, variable_of(group, "chain", NC_INT64, 1), chain));
  assert_int_equal(chain[0], 0);
  assert_int_equal(chain[1], 1);
  check_doubles(group, "alpha", 2, p->value, count);
  check_doubles(group, "inverse_beta", 2, p->value + count, count);
  check_doubles(group, weird[2], 2, p->value + 2 * count, count);
  check_doubles(group, "weights[gr\xc3\xbc\xc3\x9f%2F\xe6\x97\xa5\xe6\x9c\xac,a b]", 2,
                p->value + 3 * count, count);
  check_doubles(group_of(file, "unconstrained_posterior"), "inverse_beta", 2,
                p->unconstrained + count, count);
  check_doubles(prior, "inverse_beta", 2, p->prior + 9, 9);
}

static void check_log_likelihood(int file, const idm_posterior *p)
{
  const int group = group_of(file, "log_likelihood");
  int shuffle;
  int deflate;
  int level;
  check_doubles(group, "choice", 3, p->log_likelihood, p->chains * p->draws * p->unit.count);
  const int choice = variable_of(group, "choice", NC_DOUBLE, 3);
  nc(nc_inq_var_deflate(group, choice, &shuffle, &deflate, &level));
  assert_int_equal(shuffle && deflate && level == 1, 1);
  check_names(group, p->by_decision ? "decision" : "trajectory", units, COUNT(units));
}

static void check_evidence(int file)
{
  const int group = group_of(file, "observed_data");
  check_codes(group, "action", (const int[]){2, 1, 2, -1, 0, 0}, 6);
  check_codes(group, "observation", (const int[]){1, -1, -1, 0, 0, 1}, 6);
  check_codes(group, "trajectory_index", (const int[]){0, 0, 1, 1, 1, 2}, 6);
  check_codes(group, "agent_index", (const int[]){0, 1, 0}, 3);
  check_names(group, "trajectory", (const char *const[]){"p1", "p2", "p3"}, 3);
  check_names(group, "agent", (const char *const[]){"ann", "bob"}, 2);
  const int action = variable_of(group, "action", NC_INT, 1);
  int values[4];
  nc(nc_get_att_int(group, action, "flag_values", values));
  assert_memory_equal(values, ((const int[]){-1, 0, 1, 2}), sizeof values);
  check_word(group, action, "flag_meanings",
             "not_recorded declare_healthy declare_diseased monitor");
}

static void check_constants(int file, const idm_problem *problem)
{
  const int group = group_of(file, "constant_data");
  const double alpha = 0.5;
  const double beta = INFINITY;
  const double discount = idm_theta_scalar(problem->theta, IDM_DISCOUNT);
  int id;
  check_doubles(group, "utility", 2, idm_theta_values(problem->theta, IDM_UTILITY, 0), 6);
  check_doubles(group, "alpha", 0, &alpha, 1);
  check_doubles(group, "beta", 0, &beta, 1);
  check_doubles(group, "discount", 0, &discount, 1);
  assert_int_equal(nc_inq_varid(group, "eta", &id), NC_ENOTVAR); /* inferred, so no constant */
  check_doubles(group, "start", 1, problem->setting->start, 2);
  check_doubles(group, "model_prior", 1, idm_theta_values(problem->theta, IDM_MODEL_PRIOR, 0),
                problem->theta->models);
  check_doubles(group, "transition", 3, problem->setting->transition, 12);
  check_doubles(group, "emission", 3, problem->setting->emission, 12);
  check_names(group, "state", (const char *const[]){"healthy", "diseased"}, 2);
  check_names(group, "next_state", (const char *const[]){"healthy", "diseased"}, 2);
  check_names(group, "observation", (const char *const[]){"negative", "positive"}, 2);
}

static void test_layout(void **state)
{
  const folder *f = *state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  problem->theta->block[IDM_ALPHA].role = IDM_NORMATIVE;
  problem->theta->block[IDM_BETA].role = IDM_NORMATIVE;
  problem->theta->block[IDM_ETA].role = IDM_DESCRIPTIVE;
  idm_data *data = small_data(problem);
  for (int by_decision = 0; by_decision < 2; by_decision++) {
    idm_posterior *p = full_posterior();
    p->by_decision = by_decision;
    check(idm_posterior_write_file(p, problem, data, f->file, &support_error));
    int file;
    int group[16];
    int groups;
    nc(nc_open(f->file, NC_NOWRITE, &file));
    nc(nc_inq_grps(file, &groups, group));
    assert_int_equal(groups, 7);
    check_attributes(file);
    for (int i = 0; i < groups; i++) check_attributes(group[i]);
    check_draws(file, p);
    check_log_likelihood(file, p);
    check_evidence(file);
    check_constants(file, problem);
    nc(nc_close(file));
    idm_posterior_destroy(p);
  }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* More draws and units than one chunk and one write hold. */
static void test_long_log_likelihood(void **state)
{
  const folder *f = *state;
  enum { many = 700 };
  char text[many][8];
  const char *name[many];
  for (size_t i = 0; i < many; i++) {
    snprintf(text[i], sizeof text[i], "%zu", i);
    name[i] = text[i];
  }
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_posterior *p = made_up(2, 205, weird, 1, true);
  add_log_likelihood(p, name, many, false);
  check(idm_posterior_write_file(p, problem, NULL, f->file, &support_error));
  int file;
  nc(nc_open(f->file, NC_NOWRITE, &file));
  check_doubles(group_of(file, "log_likelihood"), "choice", 3, p->log_likelihood,
                (size_t)2 * 205 * many);
  nc(nc_close(file));
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
}

/* Payoffs that vary: the utility has a variant in front, the rest does not. */
static void test_variants(void **state)
{
  const folder *f = *state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  check(idm_theta_resize(problem->theta, IDM_UTILITY, 6, 3, &support_error));
  for (size_t i = 0; i < 18; i++) problem->theta->block[IDM_UTILITY].value[i] = (double)i;
  idm_posterior *p = made_up(1, 4, weird, 1, true);
  check(idm_posterior_write_file(p, problem, NULL, f->file, &support_error));
  int file;
  nc(nc_open(f->file, NC_NOWRITE, &file));
  check_doubles(group_of(file, "constant_data"), "utility", 3,
                problem->theta->block[IDM_UTILITY].value, 18);
  check_doubles(group_of(file, "constant_data"), "start", 1, problem->setting->start, 2);
  nc(nc_close(file));
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
}

/* Utilities of which some are inferred: those are NaN, in every variant; none held, none written.
 */
static void test_partly_held(void **state)
{
  const folder *f = *state;
  static const int32_t partly[] = {-1, 0, 1, -1, 0, -1};
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  check(idm_theta_resize(problem->theta, IDM_UTILITY, 6, 2, &support_error));
  idm_block *utility = &problem->theta->block[IDM_UTILITY];
  for (size_t i = 0; i < 12; i++) utility->value[i] = (double)i + 1;
  utility->role = IDM_DESCRIPTIVE;
  utility->coordinate = malloc(sizeof partly);
  assert_non_null(utility->coordinate);
  memcpy(utility->coordinate, partly, sizeof partly);
  idm_posterior *p = made_up(1, 4, weird, 1, true);
  for (int whole = 0; whole < 2; whole++) {
    for (size_t i = 0; whole && i < 6; i++) utility->coordinate[i] = 0;
    check(idm_posterior_write_file(p, problem, NULL, f->file, &support_error));
    int file;
    int variable;
    double x[12];
    nc(nc_open(f->file, NC_NOWRITE, &file));
    const int group = group_of(file, "constant_data");
    const int code = nc_inq_varid(group, "utility", &variable);
    assert_int_equal(code, whole ? NC_ENOTVAR : NC_NOERR);
    if (!whole) nc(nc_get_var_double(group, variable_of(group, "utility", NC_DOUBLE, 3), x));
    for (size_t i = 0; !whole && i < 12; i++)
      assert_true(partly[i % 6] >= 0 ? isnan(x[i]) : x[i] == (double)i + 1);
    nc(nc_close(file));
  }
  assert_true(utility->value[1] == 2); /* the problem itself is left alone */
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
}

/* --- failures ------------------------------------------------------------------------------- */

static void check_unwritable(const folder *f, const idm_posterior *p, const char *path,
                             idm_status expected, const char *words)
{
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_error error = {0};
  const size_t before = entries(f, 0);
  assert_int_equal(idm_posterior_write_file(p, problem, NULL, path, &error), expected);
  if (!strstr(error.message, words)) fail_msg("'%s' does not speak of '%s'", error.message, words);
  assert_non_null(strstr(error.message, path));
  assert_int_equal(entries(f, 0), before);
  idm_problem_destroy(problem);
}

static void test_unwritable(void **state)
{
  const folder *f = *state;
  char path[256];
  idm_posterior *p = made_up(2, 5, weird, 3, false);
  snprintf(path, sizeof path, "%s/missing/run.nc", f->path);
  check_unwritable(f, p, path, IDM_SYSTEM, "No such file");
  check_unwritable(f, p, f->path, IDM_SYSTEM, "cannot write");
  if (access("/dev/full", W_OK) == 0) check_unwritable(f, p, "/dev/full", IDM_SYSTEM, "No space");
  idm_posterior_destroy(p);
}

/* A file system that takes some bytes and no more; the older run stays. */
static void test_full_disk(void **state)
{
  const folder *f = *state;
  idm_posterior *p = made_up(2, 5, weird, 3, false);
  struct rlimit old;
  size_t length;
  char *before = sound_file(f, &length);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {.rlim_cur = 5000, .rlim_max = old.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  check_unwritable(f, p, f->file, IDM_SYSTEM, "File too large");
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
  signal(SIGXFSZ, SIG_DFL);
  size_t after_length;
  char *after = slurp(f->file, &after_length);
  assert_int_equal(after_length, length);
  assert_memory_equal(after, before, length);
  free(after);
  free(before);
  idm_posterior_destroy(p);
}

/* Nothing to write, and a name that cannot be had under any spelling. */
static void test_unwritable_posterior(void **state)
{
  const folder *f = *state;
  idm_posterior *p = made_up(2, 5, weird, 1, false);
  p->draws = 0;
  check_unwritable(f, p, f->file, IDM_USAGE, "no draws");
  idm_posterior_destroy(p);
  p = made_up(2, 5, (const char *const[]){"quantity_1", ".", "x"}, 3, false);
  check_unwritable(f, p, f->file, IDM_SYSTEM, "quantity_1");
  idm_posterior_destroy(p);
}

/* --- a file for other programs -------------------------------------------------------------- */

/* Draws of known laws, well mixed: mean 1 and sd 2 (alpha), mean -3 (utility), and a normal
 * log-likelihood. Kept in the folder that IDM_RUN_FOLDER names, for validation/run_arviz.py. */
static void test_for_others(void **state)
{
  const folder *f = *state;
  const char *keep = getenv("IDM_RUN_FOLDER");
  const char *const name[] = {"alpha", "utility[declare_healthy,healthy]",
                              "utility[declare_healthy,diseased]", "weights[\xc3\xa9/x]"};
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_data *data = small_data(problem);
  idm_posterior *p = made_up(4, 250, name, COUNT(name), false);
  idm_random random;
  idm_random_init(&random, 11, 0);
  for (size_t i = 0; i < 4000; i++) p->value[i] = idm_random_normal(&random);
  for (size_t i = 0; i < 1000; i++) p->value[i] = 1 + 2 * p->value[i];
  for (size_t i = 1000; i < 2000; i++) p->value[i] -= 3;
  add_log_likelihood(p, units, COUNT(units), false);
  for (size_t i = 0; i < 1000 * COUNT(units); i++) {
    const double distance =
        (double)(i % COUNT(units)) / 5 - 0.1 * p->value[2000 + i / COUNT(units)];
    p->log_likelihood[i] = -0.5 * distance * distance;
  }
  add_prior(p, 100);
  char path[512];
  snprintf(path, sizeof path, "%s/run.nc", keep ? keep : f->path);
  check(idm_posterior_write_file(p, problem, data, path, &support_error));
  for (size_t chain = 0; chain < 4; chain++) {
    snprintf(path, sizeof path, "%s/chain-%zu.csv", keep ? keep : f->path, chain + 1);
    check(idm_posterior_write_stan(p, chain, path, &support_error));
  }
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_same_bytes),          TEST(test_layout),
      TEST(test_long_log_likelihood), TEST(test_variants),
      TEST(test_partly_held),         TEST(test_unwritable),
      TEST(test_full_disk),           TEST(test_unwritable_posterior),
      TEST(test_for_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
