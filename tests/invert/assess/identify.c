/* What the data bound: profile intervals against a dense search, limits, and the sentences. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "invert/matching/assemble.h"
#include "invert/matching/matching.h"
#include "support.h"

static const double drop = 1.92;

/* --- fixtures ------------------------------------------------------------------------------- */

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
  idm_assessment *assessment;
} fixture;

static idm_data *simulate(const idm_problem *problem, size_t trajectories)
{
  const idm_simulation simulation = {.trajectories = trajectories, .seed = 3};
  return support_simulate(problem, simulation);
}

static fixture ask(const char *inverse, idm_problem *problem, idm_data *data)
{
  fixture f = {.problem = problem, .data = data};
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.chains = 2;
  settings.draws = 100;
  settings.warmup = 100;
  check(idm_inverse_find(inverse)->fit(problem, data, &settings, NULL, &f.posterior, NULL,
                                       &support_error));
  check(idm_assess(problem, data, f.posterior, 1, &f.assessment, &support_error));
  assert_true(f.assessment->identified);
  return f;
}

static fixture ask_diag(const char *inverse, double beta, const char *free_blocks)
{
  idm_problem *problem = support_diag(0.5, beta, 0.3);
  problem->agent.resolution = 20;
  problem->agent.evaluate = IDM_LOOKAHEAD;
  idm_data *data = simulate(problem, 100);
  check(idm_problem_free(problem, free_blocks, &support_error));
  return ask(inverse, problem, data);
}

static void close_fixture(fixture *f)
{
  idm_assessment_destroy(f->assessment);
  idm_posterior_destroy(f->posterior);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}

/* --- a dense profile ------------------------------------------------------------------------ */

/* max over eta in [-40, 40] of the log-likelihood at 1/beta = c, or with beta held at a limit: a
 * grid, then a search by golden sections around its best. */
typedef struct search {
  fit work;
  bool limit;
  double c;
} search;

static double at(search *s, double eta)
{
  const double y[2] = {s->limit ? 0.1 : s->c, eta};
  double value;
  check(idm_matching_log_likelihood(s->work.matching[0], y, &value, NULL, &support_error));
  return value;
}

static double plain_profile(search *s)
{
  const double golden = 0.61803398874989485;
  double best = -INFINITY, middle = 0;
  for (int i = -10; i <= 10; i++) {
    const double eta = 4 * i, value = at(s, eta);
    if (value <= best) continue;
    best = value;
    middle = eta;
  }
  double low = middle - 4, high = middle + 4;
  while (high - low > 1e-2) {
    const double a = high - golden * (high - low), b = low + golden * (high - low);
    if (at(s, a) > at(s, b))
      high = b;
    else
      low = a;
  }
  return at(s, (low + high) / 2);
}

/* Where the profile crosses `level` between an inside and an outside. */
static double plain_end(search *s, double inside, double outside, double level)
{
  for (int i = 0; i < 12; i++) {
    s->c = (inside + outside) / 2;
    if (plain_profile(s) > level)
      inside = s->c;
    else
      outside = s->c;
  }
  return (inside + outside) / 2;
}

static void test_interval_against_a_dense_profile(void **state)
{
  (void)state;
  fixture f = ask_diag("map", 1.25, "{beta: {scale: inverse}, eta: }");
  const idm_identification *beta = &f.assessment->parameter[0];
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  search s = {.limit = false};
  check(idm_fit_open(&s.work, NULL, f.problem, f.data, &settings, 1, &support_error));
  double best = -INFINITY, where = NAN;
  for (int i = -10; i < 40; i++) {
    s.c = 0.05 * i;
    const double value = plain_profile(&s);
    if (value <= best) continue;
    best = value;
    where = s.c;
  }
  assert_near(f.assessment->log_likelihood, best, 1e-3);
  const double top = fmax(best, f.assessment->log_likelihood);
  const double low = plain_end(&s, where, where - 1.5, top - drop);
  const double high = plain_end(&s, where, where + 1.5, top - drop);
  const double width = high - low;
  assert_true(fabs(beta->low - low) < 0.01 * width);
  assert_true(fabs(beta->high - high) < 0.01 * width);
  assert_true(fabs(beta->maximum - where) < 0.05 + 0.05 * width);
  assert_string_equal(f.posterior->quantity.name[beta->quantity], "inverse_beta");

  /* At either limit of 1/beta the same search, with beta held there. */
  s.limit = true;
  const double limits[2] = {-0.0, 0.0};
  for (int side = 0; side < 2; side++) {
    assert_true(beta->limit[side] == 0 && signbit(beta->limit[side]) == (side == 0));
    idm_matching_hold(s.work.matching[0], &s.work.parameters->item[0], limits[side]);
    /* The climb is not confined to the grid: it may do better, never worse. */
    assert_true(beta->gap[side] < f.assessment->log_likelihood - plain_profile(&s) + 0.02);
    assert_true(beta->gap[side] > drop);
    assert_true(beta->proper[side]);
  }
  idm_fit_close(&s.work);
  assert_non_null(strstr(beta->sentence, "the data bound 1/beta within ["));
  assert_non_null(strstr(beta->sentence, "(beta between "));
  assert_null(strstr(beta->sentence, "not bounded"));
  close_fixture(&f);
}

/* --- limits --------------------------------------------------------------------------------- */

static bool mentions(const idm_notes *notes, const char *words)
{
  for (size_t i = 0; i < notes->count; i++)
    if (strstr(notes->text[i], words)) return true;
  return false;
}

/* A neutral agent's beta has no upper end: with a flat prior the posterior is improper. */
static void test_nothing_bounds(void **state)
{
  (void)state;
  fixture f = ask_diag("map", INFINITY, "{beta: {scale: log, prior: flat}}");
  const idm_identification *beta = &f.assessment->parameter[0];
  assert_true(beta->limit[0] == 0 && beta->limit[1] == INFINITY);
  assert_true(beta->gap[1] < 0.5 && beta->gap[0] > 20);
  assert_false(beta->proper[0]);
  assert_false(beta->proper[1]);
  assert_true(beta->high == INFINITY && isfinite(beta->low) && beta->low > 0);
  assert_true(isnan(beta->contraction));
  assert_false(f.assessment->trusted);
  assert_true(mentions(&f.assessment->failures, "nothing bounds beta above"));
  assert_non_null(strstr(beta->sentence, "above it is bounded neither by the data"));
  assert_non_null(strstr(beta->sentence, "nor by the prior"));
  close_fixture(&f);
}

/* Under a flat prior the posterior is improper wherever the likelihood does not fall for ever, and
 * fast enough, whatever the drop to its limit. */
static void test_improper(void **state)
{
  (void)state;
  const struct {
    const char *free_blocks;
    bool improper[2]; /* of the last free number */
  } cases[] = {
      {"{alpha: {prior: flat}}", {false, true}}, /* 0 explains no slip, infinity is chance */
      {"{alpha: {scale: inverse, prior: flat}}", {false, false}},
      {"{beta: {prior: flat}}", {true, true}}, /* worst and best cases are policies like others */
      {"{beta: {scale: log, prior: flat}}", {true, true}},
      {"{eta: {prior: flat}}", {false, false}}, /* choices follow surprise alone in the end */
      {"{eta: {scale: signed-log, prior: flat}}", {false, false}},
      {"{eta: {scale: log, prior: flat}}", {true, false}},
      {"{eta: {scale: inverse, prior: flat}}", {true, true}}, /* 1/eta at infinity is eta = 0 */
      {"{discount: {prior: flat}}", {false, false}},          /* a bounded range needs no more */
      {"{eta: {prior: {uniform: [-50, 50]}}}", {false, false}},
      /* Alpha and eta may grow together: what falls alone does not fall along the ridge. */
      {"{alpha: {scale: identity, prior: flat}, eta: {prior: flat}}", {true, true}},
      /* Unless a proper prior holds the other back. */
      {"{alpha: , eta: {prior: flat}}", {false, false}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f = ask_diag("map", 1.25, cases[i].free_blocks);
    const idm_identification *id = &f.assessment->parameter[f.assessment->parameters - 1];
    for (int side = 0; side < 2; side++)
      if (id->improper[side] != cases[i].improper[side])
        fail_msg("%s: improper %d on side %d; %s", cases[i].free_blocks, id->improper[side], side,
                 id->sentence);
    const bool any = cases[i].improper[0] || cases[i].improper[1];
    assert_int_equal(f.assessment->trusted, !any);
    if (any) assert_true(mentions(&f.assessment->failures, "give it a proper prior"));
    close_fixture(&f);
  }
}

/* Under a proper prior that is something to know, not a failure. */
static void test_bounded_by_the_prior(void **state)
{
  (void)state;
  fixture f = ask_diag("map", INFINITY, "{beta: {scale: log}}");
  const idm_identification *beta = &f.assessment->parameter[0];
  assert_true(beta->gap[1] < 0.5 && beta->proper[1]);
  assert_true(f.assessment->trusted);
  assert_int_equal(f.assessment->failures.count, 0);
  assert_true(
      mentions(&f.assessment->remarks, "above it is bounded by the prior, not by the data"));
  assert_true(beta->high == INFINITY);
  close_fixture(&f);
}

/* 1/beta of a neutral agent is 0 within its interval: beta is not the number to report. */
static void test_neutral_agent(void **state)
{
  (void)state;
  fixture f = ask_diag("map", INFINITY, "{beta: {scale: inverse}}");
  const idm_identification *beta = &f.assessment->parameter[0];
  assert_true(beta->low < 0 && beta->high > 0);
  /* With nothing else free the gap is the log-likelihood at the limit itself. */
  const double limits[2] = {-0.0, 0.0};
  for (int side = 0; side < 2; side++) {
    idm_theta_set_scalar(f.problem->theta, IDM_BETA, limits[side]);
    idm_workspace *workspace = support_plan(f.problem, NULL);
    assert_near(beta->gap[side], f.assessment->log_likelihood - support_score(workspace, f.data),
                1e-6);
    idm_workspace_destroy(workspace);
  }
  assert_non_null(strstr(beta->sentence, "beta itself is not bounded above"));
  assert_non_null(strstr(beta->sentence, "report 1/beta"));
  close_fixture(&f);
}

/* A log without decisions bounds nothing, and the contraction is none. */
static void test_no_data(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 10;
  check(idm_problem_free(problem, "{beta: {scale: inverse, prior: {normal: [0, 1]}}}",
                         &support_error));
  fixture f = ask("bayes", problem, support_data(problem, "trajectory,action,observation\n1,,\n"));
  const idm_identification *beta = &f.assessment->parameter[0];
  assert_true(beta->gap[0] == 0 && beta->gap[1] == 0);
  assert_true(beta->low == -INFINITY && beta->high == INFINITY);
  assert_non_null(strstr(beta->sentence, "the data do not bound 1/beta"));
  assert_non_null(strstr(beta->sentence, "below it is bounded by the prior"));
  assert_non_null(strstr(beta->sentence, "above it is bounded by the prior"));
  /* The posterior is the prior: 200 draws tell its variance to a fifth or so. */
  assert_true(fabs(beta->contraction) < 0.6);
  close_fixture(&f);
}

/* --- contraction ---------------------------------------------------------------------------- */

static void test_contraction(void **state)
{
  (void)state;
  fixture f = ask_diag("bayes", 1.25,
                       "{discount: {prior: {beta: [8, 2]}}, beta: {scale: inverse, prior: {normal: "
                       "[0, 2]}}}");
  const size_t all = f.posterior->chains * f.posterior->draws;
  /* Quantities: discount, beta, inverse_beta. Beta(8, 2) has the variance 16 / (100 x 11). */
  const size_t quantity[2] = {0, 2};
  const double prior[2] = {16.0 / 1100, 4};
  for (size_t i = 0; i < 2; i++) {
    const double *x = f.posterior->value + quantity[i] * all;
    double mean = 0, square = 0;
    for (size_t k = 0; k < all; k++) mean += x[k] / (double)all;
    for (size_t k = 0; k < all; k++) square += (x[k] - mean) * (x[k] - mean) / (double)(all - 1);
    assert_int_equal(f.assessment->parameter[i].quantity, quantity[i]);
    assert_near(f.assessment->parameter[i].contraction, 1 - square / prior[i], 1e-9);
  }
  /* The discount's limits are those of its support, and no prior is needed to bound it. */
  const idm_identification *discount = &f.assessment->parameter[0];
  assert_true(discount->limit[0] == 0 && discount->limit[1] == 1);
  assert_true(discount->proper[0] && discount->proper[1]);
  assert_true(discount->low >= 0 && discount->high <= 1);
  close_fixture(&f);
}

/* What the data bound does not hang on the prior, and a prior that fights the data is told of. */
static void test_prior_against_data(void **state)
{
  (void)state;
  fixture usual = ask_diag("map", 1.25, "{beta: {scale: inverse}}");
  fixture wild = ask_diag("laplace", 1.25, "{beta: {prior: {normal: [0, 1.0e-9]}}}");
  const idm_identification *a = &usual.assessment->parameter[0];
  const idm_identification *b = &wild.assessment->parameter[0];
  assert_near(a->low, b->low, 0.01);
  assert_near(a->high, b->high, 0.01);
  assert_near(usual.assessment->log_likelihood, wild.assessment->log_likelihood, 1e-3);
  assert_true(mentions(&wild.assessment->remarks, "prior and data disagree about 1/beta"));
  assert_false(mentions(&usual.assessment->remarks, "prior and data disagree"));
  close_fixture(&usual);
  close_fixture(&wild);
}

/* A number added to all utilities changes no choice: with all of them free the data bound none. */
static void test_free_shift(void **state)
{
  (void)state;
  fixture f = ask_diag("map", INFINITY, "utility");
  assert_int_equal(f.assessment->parameters, 6);
  for (size_t i = 0; i < 6; i++) {
    assert_true(f.assessment->parameter[i].gap[0] < drop);
    assert_true(f.assessment->parameter[i].gap[1] < drop);
    assert_non_null(strstr(f.assessment->parameter[i].sentence, "the data do not bound"));
  }
  close_fixture(&f);
}

/* Utilities all alike leave nothing to choose by: no alpha is better than another, and one so small
 * that only rounding chooses is outside the support. */
static void test_nothing_to_choose_by(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  problem->agent.resolution = 20;
  idm_data *data = simulate(problem, 20);
  for (size_t i = 0; i < 6; i++) problem->theta->block[IDM_UTILITY].value[i] = 1;
  check(idm_problem_free(problem, "alpha", &support_error));
  fit work;
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  check(idm_fit_open(&work, NULL, problem, data, &settings, 1, &support_error));
  double likelihood[2];
  const double y[2] = {log(0.5), log(1e-15)};
  for (int i = 0; i < 2; i++)
    check(
        idm_matching_log_likelihood(work.matching[0], &y[i], &likelihood[i], NULL, &support_error));
  assert_true(isfinite(likelihood[0]) && likelihood[1] == -INFINITY);
  idm_fit_close(&work);
  fixture f = ask("map", problem, data);
  assert_non_null(strstr(f.assessment->parameter[0].sentence, "the data do not bound alpha"));
  close_fixture(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_interval_against_a_dense_profile),
      cmocka_unit_test(test_nothing_bounds),
      cmocka_unit_test(test_improper),
      cmocka_unit_test(test_bounded_by_the_prior),
      cmocka_unit_test(test_neutral_agent),
      cmocka_unit_test(test_no_data),
      cmocka_unit_test(test_contraction),
      cmocka_unit_test(test_prior_against_data),
      cmocka_unit_test(test_free_shift),
      cmocka_unit_test(test_nothing_to_choose_by),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
