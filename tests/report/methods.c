/* Tests the methods text of a report against expected sentences: counts of the log, priors, formula
 * and hierarchy. */
#include "report/panels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/run.h"
#include "report/report_support.h"

static void expect(const idm_plot_subject *subject, const char *words, bool there)
{
  idm_markup markup = {0};
  char *text;
  idm_methods_write(subject, &markup);
  check(idm_markup_take(&markup, &text, &support_error));
  if (there != (strstr(text, words) != NULL))
    fail_msg("'%s' is %sin '%s'", words, there ? "not " : "", text);
  free(text);
}

static const char *const names[] = {"log_alpha_sd", "log_alpha[1]", "log_alpha[2]"};

static idm_posterior *make_posterior(const char *inverse, const char *sampler)
{
  idm_posterior *p = report_posterior(2, 50, names, 3);
  snprintf(p->inverse, sizeof p->inverse, "%s", inverse);
  snprintf(p->sampler, sizeof p->sampler, "%s", sampler);
  p->warmup = 1500;
  p->seed = 7;
  return p;
}

/* One row has a single available action, one action is missing, and one response is missed. */
static void test_decisions(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  check(idm_problem_set_free(
      problem, "{alpha: {prior: {normal: [-1.5, 2]}}, beta: {scale: inverse}}", &support_error));
  SUPPORT_NAMES(&problem->columns.missed, "late");
  problem->columns.missed_action = 3;
  idm_data *data =
      support_data(problem, "trajectory,action,observation,available\n1,monitor,negative,monitor\n"
                            "1,monitor,negative,\n1,,negative,\n1,late,negative,\n"
                            "1,declare_healthy,,\n");
  idm_posterior *p = make_posterior("bayes", "metropolis");
  const idm_plot_subject subject = {.problem = problem, .posterior = p, .data = data};
  expect(&subject,
         "We analysed 2 decisions in 1 trajectory of 1 agent; 1 further row with one available "
         "action is history only; 1 further row with a missed response is history only. ",
         true);
  expect(&subject, "by the planner bounded-rational", true);
  expect(&subject, "with a discount factor of 0.95", true);
  expect(&subject, "priors: log alpha ~ normal(-1.5, 2); 1/beta ~ normal(", true);
  expect(&subject, "inferred by bayes with metropolis: 2 chains of 50 draws each after 1,500 draws",
         true);
  expect(&subject, "seed 7", true);
  expect(&subject, "population", false);
  p->answer = IDM_POINT;
  snprintf(p->inverse, sizeof p->inverse, "map");
  expect(&subject, "Parameters were estimated by the inverse planner map. ", true);
  expect(&subject, "Convergence", false);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* People are described as a population with a formula, not as "people with blocks". */
static void test_people(void **state)
{
  (void)state;
  static const char *const who[] = {"1", "2"};
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  check(idm_problem_set_free(problem, "{alpha: {prior: {normal: [-1.5, 2]}}}", &support_error));
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 2, .seed = 1});
  idm_posterior *p = make_posterior("people", "blocks");
  report_series(p, "log_alpha", "person", who, 2, 1);
  idm_request request;
  idm_request_default(&request);
  snprintf(request.model, sizeof request.model, "alpha ~ group + age");
  const idm_plot_subject subject = {
      .problem = problem, .posterior = p, .data = data, .request = &request};
  expect(&subject, "in 2 trajectories of 2 people", true);
  expect(&subject, "people with blocks", false);
  expect(&subject, "x_i ~ normal(m_i, Sigma)", true);
  expect(&subject, "given by the formula, alpha ~ group + age. The intercept has the prior", true);
  expect(&subject, "log alpha: coefficients normal(0, 1)", true);
  expect(&subject, "half-normal(1); correlations LKJ(2)", true);
  expect(&subject, "sampled in blocks (each person given the population", true);
  problem->theta->block[IDM_ALPHA].population.sd = 0.25;
  request.model[0] = '\0';
  expect(&subject, "where m_i is the intercept alone. ", true);
  expect(&subject, "half-normal(0.25)", true);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Preferences are the evidence: their number and their model are in the text, decisions are not
 * described as modelled. */
static void test_preferences(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  check(idm_problem_set_free(problem, "{utility: {prior: {normal: [0, 2]}}}", &support_error));
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 2, .seed = 1});
  check(idm_preferences_create(3, &data->preferences, &support_error));
  idm_posterior *p = make_posterior("preference-bayes", "nuts");
  const idm_plot_subject subject = {.problem = problem, .posterior = p, .data = data};
  expect(&subject, "We analysed 3 preferences between trajectories of a log of ", true);
  expect(&subject, "Preferences were modelled by the Bradley-Terry model", true);
  expect(&subject, "Decisions were not modelled. ", true);
  expect(&subject, "by the planner", false);
  idm_markup markup = {0};
  char *text;
  idm_text_question(&subject, &markup);
  check(idm_markup_take(&markup, &text, &support_error));
  assert_non_null(strstr(text, "explain 3 preferences between trajectories in diag?"));
  free(text);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_decisions),
                                     cmocka_unit_test(test_people),
                                     cmocka_unit_test(test_preferences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
