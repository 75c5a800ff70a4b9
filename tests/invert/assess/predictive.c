/* Tests predictive checks: counts against the rows of a log, moments of residuals against
 * replicates, and the sentences on misfits. */
#include "invert/assess/residual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess/context_support.h"
#include "invert/assess/odd_support.h"

typedef struct fixture {
  assessed_fit a;
  decision_residuals r;
  predictive p;
  double *taken;
} fixture;

static void open_log(fixture *f, idm_problem *problem, idm_data *data, const char *free_blocks)
{
  assessed_fit_open(&f->a, problem, data, free_blocks);
  check(idm_residual_open(&f->r, &f->a.q, &support_error));
  check(idm_predictive_open(&f->p, &f->r, &support_error));
  f->taken = calloc(f->r.decision_points * f->r.actions, sizeof *f->taken);
  assert_non_null(f->taken);
}

static void open_fixture(fixture *f)
{
  idm_problem *problem = support_diag(3, 1.25, 0.3);
  problem->agent.resolution = 40;
  static const double alpha[2] = {3, 3};
  open_log(f, problem, simulate_agents(problem, alpha, 2, 60, 40, 5), "alpha");
}

static void close_fixture(fixture *f)
{
  free(f->taken);
  idm_predictive_close(&f->p);
  idm_residual_close(&f->r);
  assessed_fit_close(&f->a);
}

/* DIAG: declarations are terminal, monitoring may continue. Counts against a loop over the rows. */
static void test_counts(void **state)
{
  (void)state;
  fixture f;
  open_fixture(&f);
  const double none[1] = {0};
  const idm_data *data = f.a.data;
  idm_predictive_count(&f.p, f.r.taken, none);
  double second[3] = {0}, ended = 0, again[2] = {0}, trials[2] = {0}, own[2][3] = {0};
  double after[2][3] = {0}, back[2] = {0};
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const size_t step = row - data->first[t];
      own[data->agent[t]][data->action[row]]++;
      if (step == 1) second[data->action[row]]++;
      if (step == 0) ended += data->action[row] != 2;
      if (step == 0) continue;
      trials[data->observation[row - 1]]++;
      again[data->observation[row - 1]] += data->action[row] == data->action[row - 1];
      after[data->observation[row - 1]][data->action[row]]++;
      if (step > 1) back[data->observation[row - 2]] += data->action[row] == data->action[row - 2];
    }
  const cell_counts *c = f.p.family;
  for (size_t u = 0; u < 3; u++) {
    assert_near(c[CELLS_STEP].residual[3 + u] + c[CELLS_STEP].expected[3 + u], second[u], 1e-9);
    for (size_t a = 0; a < 2; a++)
      assert_near(c[CELLS_AGENT_ACTION].residual[a * 3 + u] +
                      c[CELLS_AGENT_ACTION].expected[a * 3 + u],
                  own[a][u], 1e-9);
  }
  assert_near(c[CELLS_END].residual[0] + c[CELLS_END].expected[0], ended, 1e-9);
  for (size_t x = 0; x < 2; x++) {
    assert_near(c[CELLS_STAY].residual[x] + c[CELLS_STAY].expected[x], again[x], 1e-9);
    assert_near(c[CELLS_STAY].trials[x], trials[x], 0);
    assert_near(c[CELLS_RETURN].residual[x] + c[CELLS_RETURN].expected[x], back[x], 1e-9);
    for (size_t u = 0; u < 3; u++)
      assert_near(c[CELLS_RESPONSE].residual[3 * x + u] + c[CELLS_RESPONSE].expected[3 * x + u],
                  after[x][u], 1e-9);
  }
  assert_int_equal(c[CELLS_VARIANT].count, 0); /* there is one variant */
  close_fixture(&f);
}

/* Residuals of replicates have mean 0 and the computed variance. */
static void test_replicates(void **state)
{
  (void)state;
  enum { RUNS = 3000 };
  fixture f;
  open_fixture(&f);
  idm_random random;
  idm_random_init(&random, 9, 0);
  for (size_t family = 0; family < CELLS_FAMILIES; family++) {
    const cell_counts *c = &f.p.family[family];
    double *mean = calloc(2 * c->count, sizeof *mean);
    assert_non_null(mean);
    double *square = mean + c->count;
    for (size_t k = 0; k < RUNS; k++) {
      double shift[1];
      idm_residual_draw(&f.r, &random, f.taken);
      idm_residual_shift(&f.r, f.taken, shift);
      idm_predictive_count(&f.p, f.taken, shift);
      for (size_t i = 0; i < c->count; i++) {
        mean[i] += c->residual[i] / RUNS;
        square[i] += c->residual[i] * c->residual[i] / RUNS;
      }
    }
    for (size_t i = 0; i < c->count; i++) {
      if (c->variance[i] < 3) continue; /* with large kurtosis the error of a variance is unknown */
      assert_near(mean[i] / sqrt(c->variance[i]), 0, 4.5 / sqrt(RUNS));
      assert_near(square[i] / c->variance[i], 1, 6 * sqrt(2.0 / RUNS));
    }
    free(mean);
  }
  close_fixture(&f);
}

/* A log whose second actions are all declarations: the cell is found and named. */
static void test_worst(void **state)
{
  (void)state;
  fixture f;
  open_fixture(&f);
  const double none[1] = {0};
  cell_misfit worst;
  char text[400];
  for (size_t i = 0; i < f.r.decision_points; i++)
    for (size_t u = 0; u < 3; u++)
      f.taken[3 * i + u] = f.r.decision_point[i].step == 1
                               ? (u ? 0 : f.r.decision_point[i].decisions)
                               : f.r.taken[3 * i + u];
  idm_predictive_count(&f.p, f.taken, none);
  assert_true(idm_predictive_worst(&f.p, CELLS_STEP, 0.02, &worst, text, sizeof text));
  assert_true(worst.z_score > 5);
  assert_non_null(strstr(text, "at step 2 'declare_healthy' was taken in 100 %"));
  assert_false(idm_predictive_worst(&f.p, CELLS_STEP, 2, &worst, text, sizeof text));
  close_fixture(&f);
}

/* Of two cells, the one with the larger misfit in counts is named, even if the other, whose
 * variance the scores mostly explain, has the larger residual in sds. */
static void test_largest_count_is_named(void **state)
{
  (void)state;
  fixture f;
  open_fixture(&f);
  cell_counts *c = &f.p.family[CELLS_STAY];
  cell_misfit worst;
  char text[400];
  assert_int_equal(c->count, 2);
  for (size_t k = 0; k < 2; k++) {
    c->cross[k] = 0;
    c->trials[k] = 1000;
    c->expected[k] = 500;
    c->spread[k] = 250;
    c->variance[k] = k ? 249.5 : 25;
    c->residual[k] = k ? 16 * sqrt(250.5) : 9.7 * sqrt(250.5);
  }
  assert_true(idm_predictive_worst(&f.p, CELLS_STAY, 0.02, &worst, text, sizeof text));
  assert_non_null(strstr(text, "after 'positive' the same action was taken again in 75.3 %"));
  assert_near(worst.size, 16, 1e-9);
  close_fixture(&f);
}

/* Shares in sentences: rounding errors are printed as 0, tiny shares as an upper bound. */
static void test_shares_in_words(void **state)
{
  (void)state;
  static const struct {
    double expected, observed;
    const char *words;
  } cases[] = {
      {40, 7.36e-15, "in 0 % of 1000 decisions, where 4 % are expected"},
      {40, -7.36e-15, "in 0 % of 1000 decisions, where 4 % are expected"},
      {0.05, 250, "in 25 % of 1000 decisions, where less than 0.01 % are expected"},
      {1000, 123.4, "in 12.3 % of 1000 decisions, where 100 % are expected"},
  };
  fixture f;
  open_fixture(&f);
  cell_counts *c = &f.p.family[CELLS_STEP];
  cell_misfit worst;
  char text[400];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (size_t k = 0; k < c->count; k++) c->residual[k] = c->cross[k] = 0;
    c->trials[3] = 1000;
    c->variance[3] = 1;
    c->expected[3] = cases[i].expected;
    c->residual[3] = cases[i].observed - cases[i].expected;
    assert_true(idm_predictive_worst(&f.p, CELLS_STEP, 0.02, &worst, text, sizeof text));
    if (!strstr(text, cases[i].words)) fail_msg("'%s' lacks '%s'", text, cases[i].words);
  }
  close_fixture(&f);
}

/* In a problem with a single observation, sentences and labels do not name it. */
static void test_one_observation(void **state)
{
  (void)state;
  fixture f;
  idm_problem *problem = odd_bandit();
  const odd_learner odd = {.late = true};
  open_log(&f, problem, odd_simulate(problem, &odd, 10, 50, 1), "inverse_temperature");
  const double none[1] = {0};
  cell_misfit worst;
  char text[400];
  idm_predictive_count(&f.p, f.r.taken, none);
  assert_true(idm_predictive_worst(&f.p, CELLS_STAY, 0, &worst, text, sizeof text));
  assert_ptr_equal(strstr(text, "the same action was taken again in "), text);
  assert_true(idm_predictive_worst(&f.p, CELLS_RETURN, 0, &worst, text, sizeof text));
  assert_ptr_equal(strstr(text, "the action of two rows before was taken in "), text);
  assert_true(idm_predictive_worst(&f.p, CELLS_RESPONSE, 0, &worst, text, sizeof text));
  assert_null(strstr(text, "done"));
  idm_predictive_label(&f.p, CELLS_STAY, 0, text, sizeof text);
  assert_string_equal(text, "again");
  close_fixture(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts),          cmocka_unit_test(test_replicates),
      cmocka_unit_test(test_worst),           cmocka_unit_test(test_largest_count_is_named),
      cmocka_unit_test(test_shares_in_words), cmocka_unit_test(test_one_observation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
