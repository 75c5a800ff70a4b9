/* Assembly of a posterior: log-likelihoods by trajectory and by decision against the scorer, their
 * names and sizes, and draws of the prior against its moments. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "invert/matching/fit.h"
#include "support.h"

static const char csv[] = "trajectory,step,action,observation\n"
                          "ann,1,monitor,negative\n"
                          "ann,2,monitor,negative\n"
                          "ann,3,declare_healthy,negative\n"
                          "bob,1,monitor,positive\n"
                          "bob,2,,positive\n"
                          "bob,3,declare_diseased,positive\n"
                          "cleo,1,declare_healthy,positive\n";

/* --- fixtures ------------------------------------------------------------------------------- */

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_fit_settings settings;
} fixture;

static fixture make_fixture(idm_keep_likelihood keep)
{
  fixture f;
  f.problem = support_diag(0.5, 1.25, 0.3);
  f.problem->agent.resolution = 20;
  f.problem->agent.tolerance = 1e-13; /* solutions do not depend on the starting point */
  check(idm_problem_set_free(f.problem, "{beta: {scale: inverse}, eta: }", &support_error));
  f.data = support_data(f.problem, csv);
  idm_fit_settings_default(&f.settings);
  f.settings.chains = 2;
  f.settings.draws = 20;
  f.settings.warmup = 20;
  f.settings.threads = 1;
  f.settings.keep = keep;
  return f;
}

static void destroy_fixture(fixture *f)
{
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}

static idm_posterior *fit_fixture(const fixture *f, idm_notes *opt_notes)
{
  idm_posterior *p;
  check(idm_inverse_fit(idm_inverse_find("bayes"), f->problem, f->data, &f->settings, NULL, &p,
                        opt_notes, &support_error));
  return p;
}

/* Parts of each draw against the scorer's at the same parameters, and their sum against the total.
 */
static void check_parts(const fixture *f, const idm_posterior *p)
{
  const size_t all = p->chains * p->draws;
  fit_context work;
  check(idm_fit_open(&work, NULL, f->problem, f->data, &f->settings, 1, &support_error));
  for (size_t i = 0; i < all; i++) {
    const double y[2] = {p->unconstrained[i], p->unconstrained[all + i]};
    double total, sum = 0, row[3], said[3];
    check(idm_matching_log_likelihood(work.matching[0], y, &total, NULL, &support_error));
    const double *part = p->log_likelihood + i * p->unit.count;
    for (size_t k = 0; k < p->unit.count; k++) sum += part[k];
    assert_near(sum, total, 1e-9);
    const idm_scorer *scorer = idm_matching_scorer(work.matching[0]);
    size_t at = 0;
    for (size_t t = 0; t < 3; t++) {
      if (!p->by_decision) assert_near(part[t], idm_scorer_trajectory(scorer, t), 1e-9);
      idm_scorer_decisions(scorer, t, row);
      idm_scorer_evidence(scorer, t, said);
      /* The evidence of bob's observations is added to the next decision, or to the last one. */
      row[2] += t == 1 ? said[0] + said[1] + said[2] : 0;
      for (size_t r = f->data->first[t]; p->by_decision && r < f->data->first[t + 1]; r++)
        if (f->data->action[r] != IDM_MISSING)
          assert_near(part[at++], row[r - f->data->first[t]], 1e-9);
    }
    assert_true(said[0] == 0); /* cleo's log has no missing cells */
  }
  idm_fit_close(&work);
}

/* --- log-likelihoods ------------------------------------------------------------------------ */

static void check_units(const idm_posterior *p, const char *const *names, size_t count)
{
  assert_int_equal(p->unit.count, count);
  for (size_t i = 0; i < count; i++) assert_string_equal(p->unit.name[i], names[i]);
}

static void test_by_trajectory(void **state)
{
  (void)state;
  fixture f = make_fixture(IDM_KEEP_TRAJECTORY);
  idm_posterior *p = fit_fixture(&f, NULL);
  assert_false(p->by_decision);
  check_units(p, (const char *const[]){"ann", "bob", "cleo"}, 3);
  check_parts(&f, p);
  idm_posterior_destroy(p);
  destroy_fixture(&f);
}

static void test_by_decision(void **state)
{
  (void)state;
  fixture f = make_fixture(IDM_KEEP_DECISION);
  idm_posterior *p = fit_fixture(&f, NULL);
  assert_true(p->by_decision);
  check_units(p, (const char *const[]){"ann:1", "ann:2", "ann:3", "bob:1", "bob:3", "cleo:1"}, 6);
  check_parts(&f, p);
  idm_posterior_destroy(p);
  destroy_fixture(&f);
}

/* If no environment is given, its replacement has an effect only where cells are missing. */
static void test_stand_in(void **state)
{
  (void)state;
  for (int blank = 0; blank < 2; blank++) {
    fixture f = make_fixture(IDM_KEEP_NOTHING);
    idm_notes notes = {0};
    free(f.problem->setting->transition);
    free(f.problem->setting->emission);
    f.problem->setting->transition = f.problem->setting->emission = NULL;
    if (!blank) f.data->action[4] = 2;
    idm_posterior_destroy(fit_fixture(&f, &notes));
    assert_int_equal(notes.count, blank);
    if (blank) assert_non_null(strstr(notes.text[0], "mean of the agent's models"));
    idm_notes_clear(&notes);
    destroy_fixture(&f);
  }
}

/* A row with one available action is not a decision. */
static void test_forced_rows(void **state)
{
  (void)state;
  fixture f = make_fixture(IDM_KEEP_DECISION);
  idm_data_destroy(f.data);
  f.data = support_data(f.problem, "trajectory,action,observation,available\n"
                                   "1,monitor,negative,monitor\n"
                                   "1,monitor,negative,monitor|declare_healthy\n"
                                   "1,declare_healthy,negative,\n");
  assert_int_equal(f.data->available_sets, 3);
  idm_posterior *p = fit_fixture(&f, NULL);
  check_units(p, (const char *const[]){"1:2", "1:3"}, 2);
  idm_posterior_destroy(p);
  destroy_fixture(&f);
}

static void test_nothing_kept(void **state)
{
  (void)state;
  fixture f = make_fixture(IDM_KEEP_NOTHING);
  idm_posterior *p = fit_fixture(&f, NULL);
  assert_null(p->log_likelihood);
  assert_int_equal(p->unit.count, 0);
  idm_posterior_destroy(p);
  destroy_fixture(&f);
}

/* --- sizes ---------------------------------------------------------------------------------- */

static void test_size_refused(void **state)
{
  (void)state;
  fixture f = make_fixture(IDM_KEEP_DECISION);
  idm_posterior *p;
  idm_error error = {0};
  /* The limit is half of the physical memory, for the draws themselves; 6 decisions x 2 chains x
   * draws x 8 bytes stays below it here. */
  const double half = 0.5 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  const double most = half / 2 / (double)(sizeof(idm_statistics) + 64);
  f.settings.draws = (long)(0.99 * most);
  check(idm_fit_check_size(f.data, &f.settings, &support_error));
  f.settings.draws = (long)(1.01 * most);
  assert_int_equal(idm_fit_check_size(f.data, &f.settings, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "more than half of the memory"));
  assert_int_equal(idm_inverse_fit(idm_inverse_find("bayes"), f.problem, f.data, &f.settings, NULL,
                                   &p, NULL, &support_error),
                   IDM_USAGE);
  assert_null(p);
  /* Keeping log-likelihoods by decision allows fewer draws: those of 100 decisions exceed the size
   * of the draws. */
  char text[4000] = "trajectory,action,observation\n";
  for (int i = 0; i < 100; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%d,declare_healthy,\n", i);
  idm_data_destroy(f.data);
  f.data = support_data(f.problem, text);
  f.settings.draws = (long)(0.5 * most);
  assert_int_equal(idm_fit_check_size(f.data, &f.settings, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "100 decisions"));
  f.settings.keep = IDM_KEEP_TRAJECTORY;
  check(idm_fit_check_size(f.data, &f.settings, &support_error));
  destroy_fixture(&f);
}

/* Log-likelihoods by trajectory above 1 GB are omitted, with a note: 1,000 trajectories at 130,000
 * draws. */
static void test_too_much_to_keep(void **state)
{
  (void)state;
  fixture f = make_fixture(IDM_KEEP_TRAJECTORY);
  idm_data_destroy(f.data);
  const idm_simulation simulation = {.trajectories = 1000, .seed = 1};
  f.data = support_simulate(f.problem, simulation);
  fit_context work;
  idm_posterior *p;
  idm_notes notes = {0};
  check(idm_fit_open(&work, NULL, f.problem, f.data, &f.settings, 1, &support_error));
  check(idm_posterior_create(&work, idm_inverse_find("bayes"), "metropolis", 1, 130000, &p,
                             &support_error));
  check(idm_posterior_complete(&work, p, &notes, &support_error));
  assert_null(p->log_likelihood);
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "1.04 GB"));
  idm_notes_clear(&notes);
  idm_posterior_destroy(p);
  idm_fit_close(&work);
  destroy_fixture(&f);
}

/* --- the prior ------------------------------------------------------------------------------ */

/* 1/beta ~ normal(0, 20/46): the mean of 1,000 draws within 4.5 standard errors (p = 7e-6). */
static void test_prior_draws(void **state)
{
  (void)state;
  fixture f = make_fixture(IDM_KEEP_NOTHING);
  idm_posterior *p = fit_fixture(&f, NULL);
  double mean = 0, square = 0;
  assert_int_equal(p->prior_draws, 1000);
  for (size_t i = 0; i < 1000; i++) {
    const double inverse = p->prior[1000 + i];
    mean += inverse / 1000;
    square += inverse * inverse / 1000;
    assert_near(p->prior[i], 1 / inverse, 1e-12);
  }
  assert_true(fabs(mean) < 4.5 * 20 / 46 / sqrt(1000));
  assert_near(sqrt(square) * 46 / 20, 1, 0.1);
  idm_posterior_destroy(p);
  f.settings.prior_draws = 0;
  p = fit_fixture(&f, NULL);
  assert_null(p->prior);
  idm_posterior_destroy(p);
  /* An improper prior has no draws. */
  f.settings.prior_draws = 10;
  check(idm_problem_set_free(f.problem, "{alpha: {prior: flat}}", &support_error));
  p = fit_fixture(&f, NULL);
  assert_null(p->prior);
  assert_int_equal(p->prior_draws, 0);
  idm_posterior_destroy(p);
  destroy_fixture(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_trajectory),    cmocka_unit_test(test_by_decision),
      cmocka_unit_test(test_stand_in),         cmocka_unit_test(test_forced_rows),
      cmocka_unit_test(test_nothing_kept),     cmocka_unit_test(test_size_refused),
      cmocka_unit_test(test_too_much_to_keep), cmocka_unit_test(test_prior_draws),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
