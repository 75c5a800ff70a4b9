/* MCMC diagnostics against ArviZ's results (golden_arviz), and invariances. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "idm/extension/random.h"
#include "infer/chains.h"
#include "support.h"

enum { MOST_DRAWS = 1000, MOST_LINE = 200 };

/* --- ArviZ's answers ------------------------------------------------------------------------ */

typedef struct draw_set {
  size_t chains;
  size_t draws;
  double x[MOST_DRAWS]; /* [draw][chain] */
} draw_set;

static FILE *open_golden(const char *name)
{
  char path[300];
  snprintf(path, sizeof path, "golden_arviz/%s.csv", name);
  FILE *file = fopen(path, "r");
  if (!file) fail_msg("cannot open %s", path);
  return file;
}

static void read_draws(const char *name, draw_set *set)
{
  char line[MOST_LINE];
  size_t count = 0;
  FILE *file = open_golden(name);
  *set = (draw_set){0};
  while (fgets(line, sizeof line, file)) {
    for (char *end = line; *end && *end != '\n'; end += *end == ',') {
      assert_true(count < MOST_DRAWS);
      set->x[count++] = strtod(end, &end);
    }
    set->draws++;
  }
  fclose(file);
  set->chains = count / set->draws;
}

static double member(const idm_diagnosis *d, const char *key)
{
  const struct {
    const char *key;
    double value;
  } members[] = {{"mean", d->mean},
                 {"sd", d->sd},
                 {"mcse_mean", d->mcse_mean},
                 {"mcse_sd", d->mcse_sd},
                 {"q05", d->q05},
                 {"q50", d->q50},
                 {"q95", d->q95},
                 {"ess_bulk", d->ess_bulk},
                 {"ess_tail", d->ess_tail},
                 {"rhat", d->rhat}};
  for (size_t i = 0; i < sizeof members / sizeof *members; i++)
    if (strcmp(members[i].key, key) == 0) return members[i].value;
  fail_msg("unknown key %s", key);
  return NAN;
}

static double energy_fraction(const draw_set *set, size_t chain)
{
  double energy[MOST_DRAWS];
  assert_true(chain < set->chains);
  for (size_t i = 0; i < set->draws; i++) energy[i] = set->x[i * set->chains + chain];
  return idm_ebfmi(energy, set->draws);
}

static bool agree(double found, double expected)
{
  if (isnan(expected)) return isnan(found);
  if (isinf(expected)) return found == expected;
  return fabs(found - expected) <= 1e-9 * fabs(expected) + 1e-13;
}

static void test_arviz(void **state)
{
  (void)state;
  char line[MOST_LINE], name[MOST_LINE] = "", key[MOST_LINE], value[MOST_LINE];
  draw_set set = {0};
  idm_diagnosis diagnosis = {0};
  int compared = 0;
  FILE *file = open_golden("expected");
  while (fgets(line, sizeof line, file)) {
    char set_name[MOST_LINE];
    if (line[0] == '#') continue;
    assert_int_equal(sscanf(line, "%[^,],%[^,],%s", set_name, key, value), 3);
    if (strcmp(name, set_name) != 0) {
      memcpy(name, set_name, sizeof name);
      read_draws(name, &set);
      check(idm_diagnose(set.x, set.chains, set.draws, 1, set.chains, &diagnosis, &support_error));
    }
    const double found = strncmp(key, "bfmi.", 5) == 0
                             ? energy_fraction(&set, (size_t)strtol(key + 5, NULL, 10))
                             : member(&diagnosis, key);
    const double expected = strtod(value, NULL);
    if (!agree(found, expected)) fail_msg("%s %s: %.17g, not %s", name, key, found, value);
    compared++;
  }
  fclose(file);
  assert_true(compared > 25 * 11);
}

/* --- what must hold ------------------------------------------------------------------------- */

static void fill_normal(double *x, size_t count, uint64_t seed)
{
  idm_random random;
  idm_random_init(&random, seed, 0);
  for (size_t i = 0; i < count; i++) x[i] = idm_random_normal(&random);
}

static void test_strides(void **state)
{
  (void)state;
  enum { CHAINS = 3, DRAWS = 21, WIDTH = 2 };
  double x[CHAINS * DRAWS], spread[CHAINS * DRAWS * WIDTH];
  fill_normal(x, CHAINS * DRAWS, 4);
  fill_normal(spread, CHAINS * DRAWS * WIDTH, 5);
  for (size_t i = 0; i < CHAINS * DRAWS; i++) spread[i * WIDTH + 1] = x[i];
  idm_diagnosis a, b;
  check(idm_diagnose(x, CHAINS, DRAWS, DRAWS, 1, &a, &support_error));
  check(idm_diagnose(spread + 1, CHAINS, DRAWS, DRAWS * WIDTH, WIDTH, &b, &support_error));
  assert_memory_equal(&a, &b, sizeof a);
}

/* Rank statistics are invariant under increasing functions of the draws. */
static void test_ranks_are_invariant(void **state)
{
  (void)state;
  enum { CHAINS = 4, DRAWS = 50 };
  double x[CHAINS * DRAWS], y[CHAINS * DRAWS];
  fill_normal(x, CHAINS * DRAWS, 6);
  for (size_t i = 0; i < CHAINS * DRAWS; i++) y[i] = exp(3 * x[i]);
  idm_diagnosis a, b;
  check(idm_diagnose(x, CHAINS, DRAWS, DRAWS, 1, &a, &support_error));
  check(idm_diagnose(y, CHAINS, DRAWS, DRAWS, 1, &b, &support_error));
  assert_true(a.ess_bulk == b.ess_bulk);
  assert_true(a.ess_tail == b.ess_tail);
  /* Under reflection, folded draws have the same distances. */
  for (size_t i = 0; i < CHAINS * DRAWS; i++) y[i] = -x[i];
  check(idm_diagnose(y, CHAINS, DRAWS, DRAWS, 1, &b, &support_error));
  assert_near(a.rhat, b.rhat, 1e-12);
  assert_near(a.ess_bulk, b.ess_bulk, 1e-12);
  assert_near(a.mcse_sd, b.mcse_sd, 1e-12);
}

/* Ties at a quantile are counted together, whatever the tied values. */
static void test_ties_at_the_quantiles(void **state)
{
  (void)state;
  double x[4 * 60], y[4 * 60];
  for (size_t draws = 4; draws <= 60; draws++) {
    fill_normal(x, 4 * draws, draws);
    for (size_t i = 0; i < 4 * draws; i++) {
      x[i] = floor(3 * x[i]);
      y[i] = 0.1 * x[i];
    }
    idm_diagnosis a, b;
    check(idm_diagnose(x, 4, draws, draws, 1, &a, &support_error));
    check(idm_diagnose(y, 4, draws, draws, 1, &b, &support_error));
    assert_true(a.ess_tail == b.ess_tail);
  }
}

/* The input is unchanged; NaN draws and empty input give NaN, not an error. */
static void test_undefined(void **state)
{
  (void)state;
  double x[80], copy[80];
  idm_diagnosis d;
  fill_normal(x, 80, 7);
  x[5] = NAN;
  memcpy(copy, x, sizeof x);
  check(idm_diagnose(x, 4, 20, 20, 1, &d, &support_error));
  assert_memory_equal(x, copy, sizeof x);
  const double *number = &d.mean;
  for (size_t i = 0; i < sizeof d / sizeof(double); i++) assert_true(isnan(number[i]));
  check(idm_diagnose(x, 0, 20, 20, 1, &d, &support_error));
  assert_true(isnan(d.mean) && isnan(d.rhat));
  check(idm_diagnose(x, 4, 0, 20, 1, &d, &support_error));
  assert_true(isnan(d.mean) && isnan(d.q50));
  check(idm_diagnose(x, 1, 1, 1, 1, &d, &support_error));
  assert_true(d.mean == x[0] && d.q05 == x[0] && d.q95 == x[0]);
  assert_true(isnan(d.sd) && isnan(d.ess_bulk));
  assert_int_equal(idm_diagnose(x, (size_t)-1, 8, 0, 0, &d, &support_error), IDM_MEMORY);
}

/* Constant draws are recognised although their sum is rounded. */
static void test_constant(void **state)
{
  (void)state;
  double x[400];
  for (int i = 0; i < 400; i++) x[i] = 0.1;
  idm_diagnosis d;
  check(idm_diagnose(x, 4, 100, 100, 1, &d, &support_error));
  assert_true(d.mean == 0.1 && d.sd == 0 && d.mcse_mean == 0);
  assert_true(d.q05 == 0.1 && d.q95 == 0.1 && d.ess_bulk == 400 && d.ess_tail == 400);
  assert_true(isnan(d.rhat) && isnan(d.mcse_sd));
}

static void test_energy_fraction(void **state)
{
  (void)state;
  assert_near(idm_ebfmi((const double[]){1, 3, 2}, 3), 2.5, 1e-14);
  assert_true(isnan(idm_ebfmi((const double[]){1}, 1)));
  assert_true(isnan(idm_ebfmi((const double[]){1, 1, 1}, 3)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arviz),           cmocka_unit_test(test_strides),
      cmocka_unit_test(test_constant),        cmocka_unit_test(test_ranks_are_invariant),
      cmocka_unit_test(test_undefined),       cmocka_unit_test(test_ties_at_the_quantiles),
      cmocka_unit_test(test_energy_fraction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
