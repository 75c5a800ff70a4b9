/* Runs as netCDF-4: what was written comes back, what is damaged is refused.
 *
 *   round trip   names, numbers and statistics, bit for bit
 *   layout       every group, seen through netCDF itself
 *   refusals     absent, cut, damaged and forged files
 *   failures     writes that cannot be finished */
#include <netcdf.h>
#include <signal.h>
#include <sys/resource.h>

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

/* --- round trip ----------------------------------------------------------------------------- */

static void check_labels(const idm_labels *a, const idm_labels *b)
{
  assert_int_equal(a->count, b->count);
  for (size_t i = 0; i < a->count; i++) assert_string_equal(a->name[i], b->name[i]);
}

static void check_statistics(const idm_posterior *a, const idm_posterior *b)
{
  for (size_t i = 0; i < a->chains * a->draws; i++) {
    const idm_statistics *s = &a->statistics[i];
    const idm_statistics *t = &b->statistics[i];
    const double x[] = {s->log_density, s->acceptance, s->step_size, s->energy};
    const double y[] = {t->log_density, t->acceptance, t->step_size, t->energy};
    for (size_t k = 0; k < 4; k++) assert_true(isnan(x[k]) ? isnan(y[k]) : x[k] == y[k]);
    assert_int_equal(s->tree_depth, t->tree_depth);
    assert_int_equal(s->evaluations, t->evaluations);
    assert_int_equal(s->diverging, t->diverging);
  }
}

static void check_same(const idm_posterior *a, const idm_posterior *b)
{
  const size_t draws = a->chains * a->draws;
  assert_int_equal(a->answer, b->answer);
  assert_string_equal(a->inverse, b->inverse);
  assert_string_equal(a->sampler, b->sampler);
  assert_true(a->seed == b->seed);
  assert_true(a->request == b->request);
  assert_int_equal(a->warmup, b->warmup);
  assert_int_equal(a->chains, b->chains);
  assert_int_equal(a->draws, b->draws);
  check_labels(&a->quantity, &b->quantity);
  check_labels(&a->coordinate, &b->coordinate);
  for (size_t i = 0; i < a->quantity.count; i++)
    assert_int_equal(a->summarised[i], b->summarised[i]);
  assert_memory_equal(a->value, b->value, a->quantity.count * draws * sizeof *a->value);
  assert_memory_equal(a->unconstrained, b->unconstrained,
                      a->coordinate.count * draws * sizeof *a->value);
  check_statistics(a, b);
}

static void check_round_trip(const folder *f, const idm_posterior *p)
{
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_posterior *back;
  check(idm_posterior_write_netcdf(p, problem, NULL, f->file, &support_error));
  check(idm_posterior_read_netcdf(f->file, &back, &support_error));
  check_same(p, back);
  assert_null(back->log_likelihood);
  assert_int_equal(back->prior_draws, 0);
  assert_int_equal(entries(f, 0), 1);
  idm_posterior_destroy(back);
  idm_problem_destroy(problem);
}

static void test_round_trip(void **state)
{
  for (int plain = 0; plain < 2; plain++) {
    idm_posterior *p = made_up(3, 7, weird, COUNT(weird), plain);
    p->value[0] = NAN;
    p->value[1] = INFINITY;
    p->value[2] = -INFINITY;
    p->value[3] = -0.0;
    p->unconstrained[5] = 5e-324;
    p->statistics[4].log_density = -INFINITY;
    check_round_trip(*state, p);
    idm_posterior_destroy(p);
  }
}

/* A point: one draw of one chain, without a sampler, and without coordinates. */
static void test_point(void **state)
{
  idm_posterior *p = made_up(1, 1, weird, 1, true);
  p->answer = IDM_POINT;
  p->sampler[0] = '\0';
  p->warmup = 0;
  p->seed = 0;
  p->request = 0;
  idm_labels_destroy(&p->coordinate);
  check_round_trip(*state, p);
  idm_posterior_destroy(p);
}

/* Many variables, in the order of the names and not of the alphabet. */
static void test_order(void **state)
{
  enum { many = 300 };
  char text[many][16];
  const char *name[many];
  for (size_t i = 0; i < many; i++) {
    snprintf(text[i], sizeof text[i], "x[%zu]", (i * 7919) % 1000);
    name[i] = text[i];
  }
  idm_posterior *p = made_up(2, 3, name, many, false);
  check_round_trip(*state, p);
  idm_posterior_destroy(p);
}

static char *slurp(const char *path, size_t *ret_length)
{
  char *bytes;
  check(idm_file_read(path, (size_t)1 << 30, &bytes, ret_length, &support_error));
  return bytes;
}

static void spill(const char *path, const char *bytes, size_t length)
{
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(bytes, 1, length, stream), length);
  assert_int_equal(fclose(stream), 0);
}

static const char *const units[] = {"case 1", "case/2", "\xc3\xa9tude", "4", "5"};

static idm_posterior *full_posterior(void)
{
  idm_posterior *p = made_up(2, 11, weird, 4, false);
  add_log_likelihood(p, units, COUNT(units), false);
  add_prior(p, 9);
  return p;
}

static idm_data *small_data(const idm_problem *problem)
{
  return support_data(problem, "agent,trajectory,action,observation\n"
                               "ann,p1,monitor,positive\n"
                               "ann,p1,declare_diseased,\n"
                               "bob,p2,monitor,\n"
                               "bob,p2,,negative\n"
                               "bob,p2,declare_healthy,negative\n"
                               "ann,p3,declare_healthy,positive\n");
}

static void test_same_bytes(void **state)
{
  const folder *f = *state;
  char *bytes[2];
  size_t length[2];
  for (int i = 0; i < 2; i++) {
    idm_problem *problem = support_diag(0.5, INFINITY, 0);
    idm_data *data = small_data(problem);
    idm_posterior *p = full_posterior();
    check(idm_posterior_write_netcdf(p, problem, data, f->file, &support_error));
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

static void nc(int code)
{
  if (code != NC_NOERR) fail_msg("%s", nc_strerror(code));
}

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
    check(idm_posterior_write_netcdf(p, problem, data, f->file, &support_error));
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
  check(idm_posterior_write_netcdf(p, problem, NULL, f->file, &support_error));
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
  check(idm_posterior_write_netcdf(p, problem, NULL, f->file, &support_error));
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
    check(idm_posterior_write_netcdf(p, problem, NULL, f->file, &support_error));
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

/* --- refusals ------------------------------------------------------------------------------- */

static void check_refused(const char *path, const char *words)
{
  idm_posterior *p = (idm_posterior *)&p;
  idm_error error = {0};
  char text[1200];
  assert_int_equal(idm_posterior_read_netcdf(path, &p, &error), IDM_INPUT);
  assert_null(p);
  idm_error_text(&error, text, sizeof text);
  assert_non_null(strstr(text, path));
  if (!strstr(text, words)) fail_msg("'%s' does not speak of '%s'", text, words);
  assert_int_equal(idm_posterior_read_netcdf(path, &p, NULL), IDM_INPUT);
}

static char *sound_file(const folder *f, size_t *ret_length)
{
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_posterior *p = made_up(2, 5, weird, 3, false);
  check(idm_posterior_write_netcdf(p, problem, NULL, f->file, &support_error));
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
  return slurp(f->file, ret_length);
}

static void test_no_run(void **state)
{
  const folder *f = *state;
  check_refused(f->file, "cannot open");
  check_refused(f->path, "cannot read");
  spill(f->file, "", 0);
  check_refused(f->file, "no netCDF-4");
  spill(f->file, "trajectory,action\n1,2\n", 22);
  check_refused(f->file, "no netCDF-4");
  spill(f->file, "CDF\001 a classic file", 19);
  check_refused(f->file, "no netCDF-4");
  spill(f->file, "\x89HDF\r\n\x1a\n and nothing else", 25);
  check_refused(f->file, "no checksum");
}

static void test_cut_short(void **state)
{
  const folder *f = *state;
  size_t length;
  char *bytes = sound_file(f, &length);
  for (size_t cut = 0; cut < length; cut += cut < 200 || cut + 200 > length ? 1 : 401) {
    assert_int_equal(truncate(f->file, 0), 0);
    spill(f->file, bytes, cut);
    check_refused(f->file, cut < 8 ? "no netCDF-4" : "no checksum");
  }
  free(bytes);
}

static void test_damaged(void **state)
{
  const folder *f = *state;
  size_t length;
  char *bytes = sound_file(f, &length);
  const size_t seal = length - IDM_SEAL_LENGTH;
  for (size_t at = 0; at<length; at += at> seal ? 1 : 397) {
    bytes[at] ^= 0x10;
    spill(f->file, bytes, length);
    check_refused(f->file, at < 8                           ? "no netCDF-4"
                           : at >= seal && at < length - 65 ? "no checksum"
                                                            : "damaged");
    bytes[at] ^= 0x10;
  }
  spill(f->file, bytes, length);
  idm_posterior *p;
  check(idm_posterior_read_netcdf(f->file, &p, &support_error));
  idm_posterior_destroy(p);
  free(bytes);
}

/* What a forged file has wrong; the rest of it is sound, and so is its seal. */
typedef enum flaw {
  none,
  no_group,
  no_statistics,
  no_dimension,
  no_chains,
  too_large,
  other_shape,
  no_quantity,
  wrong_type,
  wrong_rank,
  transposed,
  more_draws,
  twice,
  numeric_name,
  no_lp,
  lp_type,
  wild_depth,
  wild_flag,
  no_seed,
  seed_type,
  wrong_answer,
  no_answer,
  long_sampler,
  list_sampler,
  wrong_request,
  long_request,
  negative_warmup,
  flaws
} flaw;

static void put_word(int group, int variable, const char *name, const char *word)
{
  nc(nc_put_att_string(group, variable, name, 1, &word));
}

static void forge_root(int file, flaw wrong)
{
  const unsigned long long seed = 3;
  const long long warmup = wrong == negative_warmup ? -1 : 10;
  const char *list[] = {"a", "b"};
  if (wrong != no_answer)
    put_word(file, NC_GLOBAL, "answer", wrong == wrong_answer ? "perhaps" : "posterior");
  put_word(file, NC_GLOBAL, "sampler", wrong == long_sampler ? TEN TEN TEN "12" : "nuts");
  if (wrong == list_sampler) nc(nc_put_att_string(file, NC_GLOBAL, "sampler", 2, list));
  if (wrong == wrong_request) put_word(file, NC_GLOBAL, "request", "12x4");
  if (wrong == long_request) put_word(file, NC_GLOBAL, "request", "0123456789abcdef0");
  if (wrong == seed_type)
    put_word(file, NC_GLOBAL, "seed", "3");
  else if (wrong != no_seed)
    nc(nc_put_att_ulonglong(file, NC_GLOBAL, "seed", NC_UINT64, 1, &seed));
  nc(nc_put_att_longlong(file, NC_GLOBAL, "warmup", NC_INT64, 1, &warmup));
}

static int forge_group(int file, const char *name, size_t chains, size_t draws, int dimension[2])
{
  int group;
  nc(nc_def_grp(file, name, &group));
  nc(nc_def_dim(group, "chain", chains, &dimension[0])); /* 0 is unlimited: empty until written */
  nc(nc_def_dim(group, "draw", draws, &dimension[1]));
  return group;
}

static void forge_draws(int file, const char *name, flaw wrong)
{
  int d[2];
  int variable;
  const size_t chains = wrong == no_chains ? 0 : wrong == too_large ? (size_t)1 << 20 : 2;
  const size_t draws = wrong == too_large ? (size_t)1 << 20 : 3;
  const int other[] = {0, 0};
  int group;
  if (wrong == no_dimension) {
    nc(nc_def_grp(file, name, &group));
    return;
  }
  group = forge_group(file, name, chains, draws, d);
  if (wrong == no_quantity || wrong == too_large) return;
  int turned[] = {d[1], d[0]};
  if (wrong == more_draws) {
    turned[0] = d[0];
    nc(nc_def_dim(group, "more", 4, &turned[1]));
  }
  nc(nc_def_var(group, "alpha", wrong == wrong_type ? NC_FLOAT : NC_DOUBLE,
                wrong == wrong_rank ? 1 : 2,
                wrong == transposed || wrong == more_draws ? turned : d, &variable));
  if (wrong == numeric_name) nc(nc_put_att_int(group, variable, "long_name", NC_INT, 2, other));
  if (wrong == twice) put_word(group, variable, "long_name", "beta");
  nc(nc_def_var(group, "beta", NC_DOUBLE, 2, d, &variable));
}

static void forge_statistics(int file, flaw wrong)
{
  int d[2];
  int lp;
  int variable;
  const int group = forge_group(file, "sample_stats", 2, wrong == other_shape ? 4 : 3, d);
  const long long depth[] = {1, 2, 3, 4, 5, wrong == wild_depth ? (long long)1 << 40 : 6};
  const signed char flag[] = {0, 1, 0, 1, 0, wrong == wild_flag ? 2 : 1};
  if (wrong != no_lp)
    nc(nc_def_var(group, "lp", wrong == lp_type ? NC_STRING : NC_DOUBLE, 2, d, &lp));
  nc(nc_def_var(group, "acceptance_rate", NC_DOUBLE, 2, d, &variable));
  nc(nc_def_var(group, "n_steps", NC_INT64, 2, d, &variable));
  if (wrong != other_shape) nc(nc_put_var_longlong(group, variable, depth));
  nc(nc_def_var(group, "tree_depth", NC_INT64, 2, d, &variable));
  if (wrong != other_shape) nc(nc_put_var_longlong(group, variable, depth));
  nc(nc_def_var(group, "diverging", NC_BYTE, 2, d, &variable));
  if (wrong != other_shape) nc(nc_put_var_schar(group, variable, flag));
}

static void forge(const char *path, flaw wrong)
{
  int file;
  nc(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file));
  forge_root(file, wrong);
  if (wrong != no_group) forge_draws(file, "posterior", wrong);
  forge_draws(file, "unconstrained_posterior", none);
  if (wrong != no_statistics) forge_statistics(file, wrong);
  nc(nc_close(file));
  size_t length;
  char *bytes = slurp(path, &length);
  char seal[IDM_SEAL_LENGTH + 1];
  idm_seal(bytes, length, seal);
  free(bytes);
  FILE *stream = fopen(path, "ab");
  assert_non_null(stream);
  assert_int_equal(fwrite(seal, 1, IDM_SEAL_LENGTH, stream), IDM_SEAL_LENGTH);
  assert_int_equal(fclose(stream), 0);
}

static void test_forged(void **state)
{
  const folder *f = *state;
  static const char *const words[flaws] = {
      [no_group] = "group 'posterior' is missing",
      [no_statistics] = "group 'sample_stats' is missing",
      [no_dimension] = "dimension 'chain' is missing in group 'posterior'",
      [no_chains] = "'chain' in group 'posterior' is 0; expected 1 to",
      [too_large] = "more than a run can hold",
      [other_shape] = "'sample_stats' has 2 chains of 4 draws; expected 2 of 3",
      [no_quantity] = "holds no quantity",
      [wrong_type] = "'alpha' in group 'posterior' is not of type double",
      [wrong_rank] = "'alpha' in group 'posterior' has 1 dimensions; expected (chain, draw)",
      [transposed] = "'alpha' in group 'posterior' is 3 by 2; expected 2 chains by 3 draws",
      [more_draws] = "'alpha' in group 'posterior' is 2 by 4; expected 2 chains by 3 draws",
      [twice] = "'beta' stands twice",
      [numeric_name] = "attribute 'long_name' in group 'posterior' is not a string",
      [no_lp] = "variable 'lp' is missing",
      [lp_type] = "'lp' in group 'sample_stats' is not of type double",
      [wild_depth] = "'tree_depth' in group 'sample_stats' holds 1099511627776",
      [wild_flag] = "'diverging' in group 'sample_stats' holds 2; expected 0 to 1",
      [no_seed] = "attribute 'seed' is missing",
      [seed_type] = "attribute 'seed' in group '/' is not one integer",
      [wrong_answer] = "'answer' is 'perhaps'",
      [no_answer] = "'answer' is ''",
      [long_sampler] = "'sampler' is longer than 31 bytes",
      [list_sampler] = "attribute 'sampler' in group '/' is not a string",
      [wrong_request] = "'request' is '12x4'; expected a hexadecimal number",
      [long_request] = "'request' is longer than 16 bytes",
      [negative_warmup] = "'warmup' is -1",
  };
  idm_posterior *p;
  forge(f->file, none);
  check(idm_posterior_read_netcdf(f->file, &p, &support_error));
  assert_int_equal(p->quantity.count, 2);
  assert_true(p->summarised[0]);
  assert_int_equal(p->statistics[5].evaluations, 6);
  assert_true(isnan(p->statistics[0].energy));
  assert_true(p->request == 0);
  idm_posterior_destroy(p);
  for (flaw wrong = none + 1; wrong < flaws; wrong++) {
    forge(f->file, wrong);
    check_refused(f->file, words[wrong]);
  }
}

/* --- failures ------------------------------------------------------------------------------- */

static void check_unwritable(const folder *f, const idm_posterior *p, const char *path,
                             idm_status expected, const char *words)
{
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_error error = {0};
  const size_t before = entries(f, 0);
  assert_int_equal(idm_posterior_write_netcdf(p, problem, NULL, path, &error), expected);
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

static void test_destroy(void **state)
{
  (void)state;
  idm_posterior_destroy(NULL);
  idm_posterior *p = calloc(1, sizeof *p);
  assert_non_null(p);
  check(idm_labels_create(&p->quantity, 3, &support_error)); /* names still missing */
  idm_posterior_destroy(p);
}

/* --- a file for other programs -------------------------------------------------------------- */

/* Draws of known laws, well mixed: mean 1 and sd 2 (alpha), mean -3 (utility), and a normal
 * log-likelihood. Kept in the folder that IDM_RUN_FOLDER names, for run_arviz.py. */
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
  check(idm_posterior_write_netcdf(p, problem, data, path, &support_error));
  for (size_t chain = 0; chain < 4; chain++) {
    snprintf(path, sizeof path, "%s/chain-%zu.csv", keep ? keep : f->path, chain + 1);
    check(idm_posterior_write_stan(p, chain, path, &support_error));
  }
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_round_trip), TEST(test_point),       TEST(test_order),
      TEST(test_same_bytes), TEST(test_layout),      TEST(test_long_log_likelihood),
      TEST(test_variants),   TEST(test_partly_held), TEST(test_no_run),
      TEST(test_cut_short),  TEST(test_damaged),     TEST(test_forged),
      TEST(test_unwritable), TEST(test_full_disk),   TEST(test_unwritable_posterior),
      TEST(test_destroy),    TEST(test_for_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
