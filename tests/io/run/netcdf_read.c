/* run.nc as it is read: what was written comes back bit for bit, what is damaged is refused.
 *
 *   round trip   names, numbers and statistics
 *   refusals     absent, cut, damaged and forged files */
#include "io/run/folder.h"
#include "io/run/netcdf_support.h"

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
  assert_int_equal(!a->drawn, !b->drawn);
  if (!a->drawn) return;
  const size_t numbers = a->drawn->numbers;
  assert_int_equal(a->drawn->sets, b->drawn->sets);
  assert_int_equal(numbers, b->drawn->numbers);
  assert_int_equal(a->drawn->of, b->drawn->of);
  assert_memory_equal(a->drawn->set, b->drawn->set, a->drawn->sets * numbers * sizeof(double));
  assert_memory_equal(a->drawn->central, b->drawn->central, numbers * sizeof(double));
}

static void check_round_trip(const folder *f, const idm_posterior *p)
{
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_posterior *back;
  check(idm_posterior_write_file(p, problem, NULL, f->file, &support_error));
  check(idm_posterior_read_file(f->file, &back, &support_error));
  check_same(p, back);
  assert_null(back->log_likelihood);
  assert_null(back->quantity_size); /* names of one number each, as before */
  assert_null(back->coordinate_size);
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

/* --- refusals ------------------------------------------------------------------------------- */

static void check_refused(const char *path, const char *words)
{
  idm_posterior *p = (idm_posterior *)&p;
  idm_error error = {0};
  char text[1200];
  assert_int_equal(idm_posterior_read_file(path, &p, &error), IDM_INPUT);
  assert_null(p);
  idm_error_text(&error, text, sizeof text);
  assert_non_null(strstr(text, path));
  if (!strstr(text, words)) fail_msg("'%s' does not speak of '%s'", text, words);
  assert_int_equal(idm_posterior_read_file(path, &p, NULL), IDM_INPUT);
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
  const size_t seal = length - IDM_TRAILER_LENGTH;
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
  check(idm_posterior_read_file(f->file, &p, &support_error));
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
  no_flag,
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
  if (wrong == lp_type) nc(nc_def_var(group, "lp", NC_STRING, 2, d, &lp));
  nc(nc_def_var(group, "acceptance_rate", NC_DOUBLE, 2, d, &variable));
  nc(nc_def_var(group, "n_steps", NC_INT64, 2, d, &variable));
  if (wrong != other_shape) nc(nc_put_var_longlong(group, variable, depth));
  nc(nc_def_var(group, "tree_depth", NC_INT64, 2, d, &variable));
  if (wrong != other_shape) nc(nc_put_var_longlong(group, variable, depth));
  if (wrong == no_flag) return;
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
  char seal[IDM_TRAILER_LENGTH + 1];
  idm_trailer(bytes, length, seal);
  free(bytes);
  FILE *stream = fopen(path, "ab");
  assert_non_null(stream);
  assert_int_equal(fwrite(seal, 1, IDM_TRAILER_LENGTH, stream), IDM_TRAILER_LENGTH);
  assert_int_equal(fclose(stream), 0);
}

/* Learnt dynamics of draws; a central set that is not among them is refused. */
static void test_dynamics(void **state)
{
  const folder *f = *state;
  idm_posterior *p = made_up(3, 7, weird, COUNT(weird), true);
  check(idm_dynamics_sets_create(3, 5, &p->drawn, &support_error));
  for (size_t i = 0; i < 15; i++) p->drawn->set[i] = 1 / (double)(i + 1);
  for (size_t i = 0; i < 5; i++) p->drawn->central[i] = 0.1 * (double)i;
  check_round_trip(f, p);
  p->drawn->of = 3;
  check_round_trip(f, p);
  p->drawn->of = 4;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  check(idm_posterior_write_file(p, problem, NULL, f->file, &support_error));
  check_refused(f->file, "3 sets of 5 numbers, of which the central one is 4");
  idm_problem_destroy(problem);
  idm_posterior_destroy(p);
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
      [twice] = "'beta' occurs twice",
      [numeric_name] = "attribute 'long_name' in group 'posterior' is not a string",
      [no_flag] = "variable 'diverging' is missing",
      [lp_type] = "'lp' in group 'sample_stats' is not of type double",
      [wild_depth] = "'tree_depth' in group 'sample_stats' holds 1099511627776",
      [wild_flag] = "'diverging' in group 'sample_stats' holds 2; expected 0 to 1",
      [no_seed] = "attribute 'seed' is missing",
      [seed_type] = "attribute 'seed' in group '/' is not one number",
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
  check(idm_posterior_read_file(f->file, &p, &support_error));
  assert_int_equal(p->quantity.count, 2);
  assert_true(p->summarised[0]);
  assert_int_equal(p->statistics[5].evaluations, 6);
  assert_true(isnan(p->statistics[0].energy) && isnan(p->statistics[0].log_density));
  assert_true(p->request == 0);
  idm_posterior_destroy(p);
  for (flaw wrong = none + 1; wrong < flaws; wrong++) {
    forge(f->file, wrong);
    check_refused(f->file, words[wrong]);
  }
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_round_trip), TEST(test_point),     TEST(test_order),
      TEST(test_no_run),     TEST(test_cut_short), TEST(test_damaged),
      TEST(test_forged),     TEST(test_destroy),   TEST(test_dynamics),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
