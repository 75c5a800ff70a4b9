/* Tests the verdict on the lattice: a problem of six states against the exact posterior from a tree
 * of beliefs, and cases that cannot be checked. */
#include "invert/assess/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* --- six places, exactly -------------------------------------------------------------------- */

enum { PLACES = 6, HORIZON = 4, KEYS = 15625 /* 5^6: counts of each observation, 0 to 4 */ };
static const double hit = 0.7, miss = 0.06, cost = -1, right = 10, wrong = -200;

/* The agent looks, which shows the state of six with probability .7, or declares a state and ends.
 */
static idm_problem *make_places(void)
{
  char text[3000];
  size_t used = (size_t)snprintf(text, sizeof text,
                                 "states: 6\nactions: [look, a, b, c, d, e, f]\n"
                                 "observations: 6\ndiscount: 1\nhorizon: %d\n"
                                 "terminal: [a, b, c, d, e, f]\n"
                                 "transition: {look: identity, \"*\": uniform}\nobservation:\n"
                                 "  \"*\": uniform\n  look: [",
                                 HORIZON);
  for (int s = 0; s < PLACES; s++)
    for (int x = 0; x < PLACES; x++)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%g%s", x ? ", " : "[",
                               x == s ? hit : miss,
                               x < PLACES - 1   ? ""
                               : s < PLACES - 1 ? "], "
                                                : "]]\n");
  used += (size_t)snprintf(text + used, sizeof text - used, "utility:\n  look: %g\n", cost);
  for (int u = 0; u < PLACES; u++)
    for (int s = 0; s < PLACES; s++)
      used += (size_t)snprintf(
          text + used, sizeof text - used, "%s%g%s",
          s ? ", "
            : (const char *[]){"  a: [", "  b: [", "  c: [", "  d: [", "  e: [", "  f: ["}[u],
          s == u ? right : wrong, s < PLACES - 1 ? "" : "]\n");
  snprintf(text + used, sizeof text - used,
           "agent: {alpha: 6, beta: inf, eta: 0, evaluate: interpolate}\n"
           "free: {alpha: {scale: log, prior: {normal: [1, 2]}}}\n");
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "places", &problem, NULL, &support_error));
  return problem;
}

static size_t key_of(const int *counts)
{
  size_t key = 0;
  for (int i = 0; i < PLACES; i++) key = 5 * key + (size_t)counts[i];
  return key;
}

/* The value after observations with these counts, and the log policy unless NULL. Values are cached
 * by counts in `kept`. */
static double value_at(int *counts, int left, double alpha, double *kept, double *log_policy)
{
  double *known = &kept[key_of(counts)];
  if (left == 0) return 0;
  if (!log_policy && !isnan(*known)) return *known;
  double z[PLACES], q[PLACES + 1] = {cost}, total = 0, sum = 0;
  for (int s = 0; s < PLACES; s++) total += z[s] = pow(hit / miss, counts[s]);
  for (int s = 0; s < PLACES; s++) z[s] /= total;
  for (int x = 0; x < PLACES; x++) {
    const double p = z[x] * hit + (1 - z[x]) * miss;
    counts[x]++;
    q[0] += p * value_at(counts, left - 1, alpha, kept, NULL);
    counts[x]--;
    q[1 + x] = z[x] * right + (1 - z[x]) * wrong;
  }
  double most = q[0];
  for (int u = 1; u <= PLACES; u++) most = fmax(most, q[u]);
  for (int u = 0; u <= PLACES; u++) sum += exp((q[u] - most) / alpha) / (PLACES + 1);
  *known = most + alpha * log(sum);
  for (int u = 0; log_policy && u <= PLACES; u++)
    log_policy[u] = (q[u] - *known) / alpha - log(PLACES + 1);
  return *known;
}

static double exact_likelihood(const idm_data *data, double alpha)
{
  static double kept[KEYS];
  double sum = 0;
  for (size_t i = 0; i < KEYS; i++) kept[i] = NAN;
  for (size_t t = 0; t < data->trajectories; t++) {
    int counts[PLACES] = {0};
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      double log_policy[PLACES + 1];
      value_at(counts, HORIZON - (int)(row - data->first[t]), alpha, kept, log_policy);
      sum += log_policy[data->action[row]];
      if (data->action[row] == 0) counts[data->observation[row]]++;
    }
  }
  return sum;
}

/* Mean and sd of alpha under the exact posterior, by quadrature over log alpha. */
static void exact_posterior(const idm_data *data, double near, double *ret_mean, double *ret_sd)
{
  enum { NODES = 161 };
  static double log_density[NODES];
  double most = -INFINITY, total = 0, mean = 0, square = 0;
  for (int i = 0; i < NODES; i++) {
    const double y = log(near) + 0.005 * (i - NODES / 2);
    log_density[i] = exact_likelihood(data, exp(y)) - (y - 1) * (y - 1) / 8;
    most = fmax(most, log_density[i]);
  }
  for (int i = 0; i < NODES; i++) {
    const double alpha = near * exp(0.005 * (i - NODES / 2));
    const double weight = exp(log_density[i] - most);
    total += weight;
    mean += weight * alpha;
    square += weight * alpha * alpha;
  }
  *ret_mean = mean / total;
  *ret_sd = sqrt(square / total - *ret_mean * *ret_mean);
}

/* The answer on the default lattice of six states is off by more than two sds, and fails because
 * the lattice is too coarse. */
static void test_six_states(void **state)
{
  (void)state;
  idm_problem *problem = make_places();
  const idm_simulation simulation = {.trajectories = 20000, .seed = 3};
  idm_data *data = support_simulate(problem, simulation);
  idm_fit_settings settings;
  idm_posterior *posterior;
  idm_assessment *a;
  double mean, sd;
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = 30;
  settings.keep = IDM_KEEP_NOTHING;
  check(idm_inverse_fit(idm_inverse_find("laplace"), problem, data, &settings, NULL, &posterior,
                        NULL, &support_error));
  check(idm_assess_monitored(problem, data, posterior, 2, NULL, &a, &support_error));
  exact_posterior(data, 6, &mean, &sd);
  assert_true(fabs(a->diagnosis[0].mean - mean) > 2 * sd);
  assert_int_equal(a->resolution, 15);
  assert_int_equal(a->finer, 29);
  assert_false(a->trusted);
  assert_true(support_mentions(&a->failures, "the lattice is too coarse, raise agent.resolution"));
  idm_assessment_destroy(a);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- what cannot be said -------------------------------------------------------------------- */

/* If no finer lattice fits into memory, the check fails as unchecked. */
static void test_unchecked(void **state)
{
  (void)state;
  idm_assessment a = {.answer = IDM_POSTERIOR, .resolution = 40};
  idm_assess_lattice(&(check_context){.assessment = &a});
  assert_int_equal(a.failures.count, 1);
  assert_true(support_mentions(&a.failures, "lattice unchecked"));
  idm_notes_clear(&a.failures);
  /* Without a lattice there is nothing to check. */
  a.resolution = 0;
  idm_assess_lattice(&(check_context){.assessment = &a});
  assert_int_equal(a.failures.count + a.remarks.count, 0);
}

/* A lattice so coarse that few draws have all the weight: the shift is not estimated. */
static void test_uneven_weights(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  const idm_simulation simulation = {.trajectories = 5000, .seed = 4};
  idm_data *data = support_simulate(problem, simulation);
  problem->agent.resolution = 4;
  check(idm_problem_set_free(problem, "beta, eta", &support_error));
  idm_fit_settings settings;
  idm_posterior *posterior;
  idm_assessment *a;
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = 100;
  settings.keep = IDM_KEEP_NOTHING;
  check(idm_inverse_fit(idm_inverse_find("laplace"), problem, data, &settings, NULL, &posterior,
                        NULL, &support_error));
  check(idm_assess_monitored(problem, data, posterior, 1, NULL, &a, &support_error));
  assert_false(a->trusted);
  assert_true(a->finer_share * 200 < 8);
  assert_true(support_mentions(&a->failures, "draws are effective, too few to estimate"));
  idm_assessment_destroy(a);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- few draws ------------------------------------------------------------------------------ */

#define SEARCH                                                                                     \
  "states: 3\nactions: [wait, look]\nobservations: 3\ndiscount: 0.8\n"                             \
  "transition: {\"*\": [[0.9, 0.1, 0], [0.05, 0.9, 0.05], [0, 0.1, 0.9]]}\n"                       \
  "observation: {wait: [[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]], "                      \
  "look: [[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]]}\n"                               \
  "utility: {wait: 0, look: -1}\ncertainty: {above: 0.8, award: 3, width: 0.1}\n"                  \
  "agent: {alpha: 0.6, beta: inf, eta: 0, resolution: 62}\n"                                       \
  "free: {alpha: {scale: log, prior: {normal: [0, 2]}}}\n"

/* Difference of the log-likelihoods on two lattices at draw i of a posterior of one parameter. */
static double change_at(idm_matching *const *matching, const idm_posterior *p, size_t i)
{
  double value[2];
  for (size_t k = 0; k < 2; k++)
    check(idm_matching_log_likelihood(matching[k], &p->unconstrained[i], &value[k], NULL,
                                      &support_error));
  return value[1] - value[0];
}

/* The shift estimated from twenty of a hundred draws is within four of its standard errors (6e-5)
 * of that from all, and the verdict gives the standard error. */
static void test_few_draws(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(SEARCH);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 150, .steps = 5, .seed = 2});
  idm_fit_settings settings;
  idm_posterior *p;
  idm_assessment *a;
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = 50;
  settings.keep = IDM_KEEP_NOTHING;
  check(idm_inverse_fit(idm_inverse_find("laplace"), problem, data, &settings, NULL, &p, NULL,
                        &support_error));
  check(idm_assess_monitored(problem, data, p, 1, NULL, &a, &support_error));
  idm_problem finer = *problem;
  finer.agent.resolution = a->finer;
  const idm_problem *of[] = {problem, &finer};
  idm_parameters *parameters;
  idm_prefix_tree *tree;
  idm_matching *matching[2];
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_evidence_tree(problem, data, &tree, &support_error));
  for (size_t k = 0; k < 2; k++)
    check(idm_matching_create(of[k], data, tree, parameters, &matching[k], &support_error));
  double sum = 0, weighted = 0, mean = 0;
  for (size_t i = 0; i < 100; i++) {
    const double weight = exp(change_at(matching, p, i));
    sum += weight;
    weighted += weight * p->value[i];
    mean += p->value[i] / 100;
  }
  const double doubling = 0.5 * a->finer / (a->finer - a->resolution);
  const double shift = doubling * (weighted / sum - mean) / a->diagnosis[0].sd;
  assert_true(a->finer_error > 0 && a->finer_error < 0.25);
  assert_near(a->finer_shift[0], shift, 4 * a->finer_error);
  assert_true(support_mentions(&a->remarks, ", with a standard error of 0."));
  for (size_t k = 0; k < 2; k++) idm_matching_destroy(matching[k]);
  idm_prefix_tree_destroy(tree);
  idm_parameters_destroy(parameters);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_six_states),
      cmocka_unit_test(test_unchecked),
      cmocka_unit_test(test_uneven_weights),
      cmocka_unit_test(test_few_draws),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
