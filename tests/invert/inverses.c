/* Conformance suite: every inverse planner of the registry, fitted to simulated logs, against its
 * table and against densities recomputed from the likelihood.
 *
 * Contents: questions · the answer · what it depends on · likelihood · refusals */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/learner_support.h"

/* --- questions ------------------------------------------------------------------------------ */

/* Problems with free parameters; their theta holds the truth. */
static idm_problem *ask_diag(void)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 20;
  problem->agent.evaluate = IDM_LOOKAHEAD;
  check(idm_problem_set_free(problem, "{beta: {scale: inverse}, eta: }", &support_error));
  return problem;
}

static idm_problem *ask_learner(void)
{
  idm_problem *problem = support_reversal(&idm_learner);
  check(idm_problem_set_free(problem, "learning_rate, inverse_temperature", &support_error));
  return problem;
}

/* Planners to invert: one that decides by beliefs, one that learns. */
static idm_problem *(*const makers[])(void) = {ask_diag, ask_learner};
enum { MAKERS = sizeof makers / sizeof makers[0] };

static idm_data *make_data(const idm_problem *problem)
{
  const idm_simulation simulation = {.trajectories = 100, .steps = 20, .seed = 4, .agents = 5};
  return support_simulate(problem, simulation);
}

static idm_fit_settings make_settings(void)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = 60;
  settings.warmup = 60;
  settings.threads = 1;
  settings.prior_draws = 25;
  return settings;
}

typedef struct question {
  const idm_inverse *inverse;
  idm_problem *(*ask)(void);
  idm_problem *problem;
  idm_data *data;
} question;

static question open_question(const idm_inverse *inverse, idm_problem *(*ask)(void))
{
  question q = {.inverse = inverse, .ask = ask, .problem = ask()};
  q.data = make_data(q.problem);
  return q;
}

static void close_question(question *q)
{
  idm_data_destroy(q->data);
  idm_problem_destroy(q->problem);
}

static idm_posterior *answer(const question *q, const idm_fit_settings *settings)
{
  idm_posterior *posterior;
  check(idm_inverse_fit(q->inverse, q->problem, q->data, settings, NULL, &posterior, NULL,
                        &support_error));
  return posterior;
}

/* --- the answer ----------------------------------------------------------------------------- */

static void check_sizes(const size_t *opt_a, const idm_labels *names, size_t numbers)
{
  size_t sum = 0;
  for (size_t i = 0; i < names->count; i++) sum += opt_a ? opt_a[i] : 1;
  assert_int_equal(sum, numbers);
}

static void check_shape(const question *q)
{
  const idm_fit_settings settings = make_settings();
  idm_posterior *p = answer(q, &settings);
  idm_parameters *parameters;
  check(idm_parameters_create(q->problem, &parameters, &support_error));
  assert_string_equal(p->inverse, q->inverse->name);
  assert_true(p->sampler[0]);
  assert_int_equal(p->answer, q->inverse->answer);
  assert_int_equal(p->chains, p->answer == IDM_POINT ? 1 : settings.chains);
  assert_int_equal(p->draws, p->answer == IDM_POINT ? 1 : settings.draws);
  assert_true(p->warmup == 0 ||
              p->warmup == settings.warmup); /* 0 for inverse planners without warm-up */
  assert_int_equal(p->seed, settings.seed);
  assert_true(idm_labels_same(&p->quantity, idm_parameters_quantities(parameters)));
  assert_true(idm_labels_same(&p->coordinate, idm_parameters_coordinates(parameters)));
  check_sizes(p->quantity_size, &p->quantity, idm_parameters_numbers(parameters));
  check_sizes(p->coordinate_size, &p->coordinate, idm_parameters_dimension(parameters));
  for (size_t i = 0; i < p->quantity.count; i++)
    assert_int_equal(p->summarised[i], idm_parameters_summarised(parameters, i));
  assert_int_equal(p->unit.count, q->data->trajectories);
  assert_false(p->by_decision);
  assert_string_equal(p->unit.name[0], "1");
  assert_int_equal(p->prior_draws, settings.prior_draws);
  idm_parameters_destroy(parameters);
  idm_posterior_destroy(p);
}

/* Every draw agrees in both coordinate systems and gives a valid theta of its problem. */
static void check_draws(const question *q)
{
  const idm_fit_settings settings = make_settings();
  idm_posterior *p = answer(q, &settings);
  const size_t all = p->chains * p->draws;
  idm_parameters *parameters;
  idm_theta *theta;
  check(idm_parameters_create(q->problem, &parameters, &support_error));
  check(idm_theta_copy(q->problem->theta, &theta, &support_error));
  const size_t numbers = idm_posterior_numbers(p), dimension = idm_posterior_dimension(p);
  double *y = calloc(dimension, sizeof *y), *reported = calloc(numbers, sizeof *reported);
  for (size_t i = 0; i < all; i++) {
    for (size_t k = 0; k < dimension; k++) y[k] = p->unconstrained[k * all + i];
    idm_parameters_report(parameters, y, reported);
    for (size_t k = 0; k < numbers; k++) assert_true(p->value[k * all + i] == reported[k]);
    check(idm_posterior_theta(p, parameters, i / p->draws, i % p->draws, theta, &support_error));
    check(idm_theta_validate(theta, q->problem->setting, &support_error));
  }
  /* Blocks that are not free are unchanged. */
  for (size_t id = 0; id < theta->blocks; id++)
    if (theta->block[id].role == IDM_NORMATIVE)
      assert_memory_equal(theta->block[id].value, q->problem->theta->block[id].value,
                          theta->block[id].size * sizeof(double));
  free(y);
  free(reported);
  idm_theta_destroy(theta);
  idm_parameters_destroy(parameters);
  idm_posterior_destroy(p);
}

/* --- what it depends on --------------------------------------------------------------------- */

static void same_answer(const idm_posterior *a, const idm_posterior *b)
{
  const size_t all = a->chains * a->draws;
  assert_int_equal(a->chains, b->chains);
  assert_int_equal(a->draws, b->draws);
  assert_memory_equal(a->value, b->value, idm_posterior_numbers(a) * all * sizeof(double));
  assert_memory_equal(a->unconstrained, b->unconstrained,
                      idm_posterior_dimension(a) * all * sizeof(double));
  assert_memory_equal(a->log_likelihood, b->log_likelihood, all * a->unit.count * sizeof(double));
  assert_memory_equal(a->prior, b->prior,
                      idm_posterior_numbers(a) * a->prior_draws * sizeof(double));
  for (size_t i = 0; i < all; i++)
    assert_true(a->statistics[i].log_density == b->statistics[i].log_density);
}

static void check_repeatable(const question *q)
{
  idm_fit_settings settings = make_settings();
  idm_posterior *first = answer(q, &settings), *second = answer(q, &settings);
  settings.threads = 2;
  idm_posterior *third = answer(q, &settings);
  same_answer(first, second);
  same_answer(first, third);
  settings.seed = 99;
  idm_posterior *other = answer(q, &settings);
  if (q->inverse->answer == IDM_POSTERIOR)
    assert_memory_not_equal(first->value, other->value, first->draws * sizeof(double));
  idm_posterior_destroy(first);
  idm_posterior_destroy(second);
  idm_posterior_destroy(third);
  idm_posterior_destroy(other);
}

static bool declares(const idm_inverse *inverse, const char *key)
{
  for (const char *const *name = inverse->settings; *name; name++)
    if (strcmp(*name, key) == 0) return true;
  return false;
}

/* Settings that an inverse planner does not declare have no effect. */
static void check_settings(const question *q)
{
  idm_fit_settings settings = make_settings();
  idm_posterior *first = answer(q, &settings);
  for (const idm_key *key = idm_fit_keys(); key->name; key++) {
    if (declares(q->inverse, key->name)) continue;
    if (key->kind == IDM_KEY_TEXT)
      check(idm_key_set_text(key, &settings, "slice", &support_error));
    else
      idm_key_set_number(key, &settings, idm_key_number(key, &settings) + 1);
  }
  idm_posterior *second = answer(q, &settings);
  same_answer(first, second);
  idm_posterior_destroy(first);
  idm_posterior_destroy(second);
}

/* Problem and data are borrowed: a fit leaves them unchanged. */
static void check_borrows(const question *q)
{
  char difference[200];
  const idm_fit_settings settings = make_settings();
  idm_posterior_destroy(answer(q, &settings));
  question fresh = open_question(q->inverse, q->ask);
  assert_true(idm_problem_compare(fresh.problem, q->problem, 0, difference, sizeof difference));
  const idm_data *a = fresh.data, *b = q->data;
  assert_int_equal(a->rows, b->rows);
  assert_memory_equal(a->action, b->action, a->rows * sizeof *a->action);
  assert_memory_equal(a->observation, b->observation, a->rows * sizeof *a->observation);
  assert_memory_equal(a->first, b->first, (a->trajectories + 1) * sizeof *a->first);
  close_question(&fresh);
}

/* --- likelihood ----------------------------------------------------------------------------- */

/* The density that soft policy matching maximises or samples. */
typedef struct density {
  idm_parameters *parameters;
  idm_prefix_tree *tree;
  idm_matching *matching;
  idm_target target;
} density;

static density open_density(const question *q)
{
  density d;
  check(idm_parameters_create(q->problem, &d.parameters, &support_error));
  check(idm_evidence_tree(q->problem, q->data, &d.tree, &support_error));
  check(
      idm_matching_create(q->problem, q->data, d.tree, d.parameters, &d.matching, &support_error));
  d.target = idm_matching_target(d.matching);
  return d;
}

static void close_density(density *d)
{
  idm_matching_destroy(d->matching);
  idm_prefix_tree_destroy(d->tree);
  idm_parameters_destroy(d->parameters);
}

/* The log density stored with each draw and the log-likelihoods by trajectory equal recomputed
 * ones. */
static void check_density(const question *q)
{
  const idm_fit_settings settings = make_settings();
  idm_posterior *p = answer(q, &settings);
  const size_t all = p->chains * p->draws, dimension = idm_posterior_dimension(p);
  density d = open_density(q);
  double *y = calloc(dimension, sizeof *y);
  for (size_t i = 0; i < all; i++) {
    double log_density, sum = 0;
    for (size_t k = 0; k < dimension; k++) y[k] = p->unconstrained[k * all + i];
    check(d.target.evaluate(d.target.context, y, &log_density, NULL, &support_error));
    assert_near(p->statistics[i].log_density, log_density, 1e-8);
    for (size_t t = 0; t < p->unit.count; t++) sum += p->log_likelihood[i * p->unit.count + t];
    assert_near(sum, log_density - idm_parameters_log_prior(d.parameters, y, NULL), 1e-8);
  }
  free(y);
  close_density(&d);
  idm_posterior_destroy(p);
}

/* The truth is within 4 posterior sds of the estimate, with sds from the curvature there: for each
 * of two planners with two parameters, a false alarm in one of 8,000 logs (the logs here are
 * fixed). */
static void check_recovery(const question *q)
{
  const idm_fit_settings settings = make_settings();
  idm_posterior *p = answer(q, &settings);
  density d = open_density(q);
  const size_t n = idm_posterior_dimension(p);
  double *centre = calloc(n, sizeof *centre), *truth = calloc(n, sizeof *truth);
  double *covariance = calloc(n * n, sizeof *covariance);
  bool definite = false;
  idm_posterior_centre(p, centre);
  idm_parameters_get(d.parameters, q->problem->theta, truth);
  check(idm_laplace(&d.target, centre, covariance, NULL, &definite, &support_error));
  assert_true(definite);
  for (size_t i = 0; i < n; i++)
    assert_true(fabs(centre[i] - truth[i]) < 4 * sqrt(covariance[i * n + i]));
  free(centre);
  free(truth);
  free(covariance);
  close_density(&d);
  idm_posterior_destroy(p);
}

/* --- refusals ------------------------------------------------------------------------------- */

static void check_refusal(const question *q, idm_status expected, const char *words)
{
  const idm_fit_settings settings = make_settings();
  idm_posterior *posterior = (idm_posterior *)q->problem;
  idm_error error = {0};
  assert_int_equal(
      idm_inverse_fit(q->inverse, q->problem, q->data, &settings, NULL, &posterior, NULL, &error),
      expected);
  assert_null(posterior);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
}

static void check_errors(question *q)
{
  q->problem->agent.decision_capacity = 0.3;
  check_refusal(q, IDM_INPUT, "capacity");
  q->problem->agent.decision_capacity = NAN;
  check(idm_problem_set_free(q->problem, "temperature", &support_error));
  check_refusal(q, IDM_INPUT, "does not read it");
  check(idm_problem_set_free(q->problem, "[]", &support_error));
  check_refusal(q, IDM_INPUT, "nothing is free");
}

/* A column that the planner needs and the log lacks is named, by the check and by the fit. */
static void check_missing_rewards(question *q)
{
  if (!(idm_agent_planner(&q->problem->agent)->needs & IDM_NEEDS_REWARDS)) return;
  free(q->data->number[IDM_COLUMN_REWARD]);
  q->data->number[IDM_COLUMN_REWARD] = NULL;
  assert_int_equal(idm_inverse_check(q->inverse, q->problem, q->data, &support_error), IDM_INPUT);
  check_refusal(q, IDM_INPUT, "data: {reward: COLUMN}");
}

/* A log with probability 0 under all parameters. */
static void test_data_that_nothing_explains(void **state)
{
  (void)state;
  for (size_t i = 0; idm_inverse_at(i); i++) {
    question q = open_question(idm_inverse_at(i), ask_diag);
    check(idm_problem_set_free(q.problem, "discount", &support_error));
    support_set(q.problem, 0, INFINITY, 0);
    idm_data_destroy(q.data);
    q.data = support_data(q.problem, "trajectory,action,observation\n1,declare_healthy,negative\n");
    if (idm_inverse_by_likelihood(q.inverse) &&
        idm_inverse_check(q.inverse, q.problem, q.data, NULL) == IDM_OK)
      check_refusal(&q, IDM_NUMERICAL, "no starting point explains the data");
    close_question(&q);
  }
}

/* --- all of it ------------------------------------------------------------------------------ */

static void test_tables_are_complete(void **state)
{
  (void)state;
  for (size_t i = 0; idm_inverse_at(i); i++) {
    const idm_inverse *inverse = idm_inverse_at(i);
    assert_ptr_equal(idm_inverse_find(inverse->name), inverse);
    assert_true(inverse->summary && inverse->summary[0] && inverse->row && inverse->row[0]);
    assert_true(inverse->fit && inverse->settings);
    assert_true(strlen(inverse->name) < sizeof((idm_posterior *)0)->inverse);
    for (const char *const *name = inverse->settings; *name; name++)
      assert_non_null(idm_key_find(idm_fit_keys(), *name));
    for (size_t c = 0; c < IDM_COLUMN_COUNT; c++)
      if (inverse->columns >> c & 1) assert_true(idm_column_describe((idm_column)c)->evidence);
    assert_int_equal(inverse->columns >> IDM_COLUMN_COUNT, 0);
    for (size_t j = 0; j < i; j++) assert_string_not_equal(inverse->name, idm_inverse_at(j)->name);
  }
  assert_null(idm_inverse_find("nobody"));
}

static void test_conformance(void **state)
{
  (void)state;
  for (size_t i = 0; idm_inverse_at(i); i++)
    for (size_t k = 0; k < MAKERS; k++) {
      question q = open_question(idm_inverse_at(i), makers[k]);
      if (idm_inverse_check(q.inverse, q.problem, q.data, &support_error) != IDM_OK) {
        /* An inverse planner of another family, or one that needs other evidence, refuses with the
         * message of its check. */
        check_refusal(&q, IDM_INPUT, support_error.message);
        close_question(&q);
        continue;
      }
      check_shape(&q);
      check_draws(&q);
      check_repeatable(&q);
      check_settings(&q);
      check_borrows(&q);
      if (strcmp(q.inverse->row, "Soft policy matching") == 0) {
        check_density(&q);
        check_recovery(&q);
      }
      check_errors(&q);
      check_missing_rewards(&q);
      close_question(&q);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tables_are_complete),
      cmocka_unit_test(test_conformance),
      cmocka_unit_test(test_data_that_nothing_explains),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
