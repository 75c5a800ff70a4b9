/* Tests updates of people given the population against the normal posterior of a normal likelihood,
 * also with a wrong approximation as proposal. */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>
#include <string.h>

#include "invert/hierarchy/table_support.h"

enum { DRAWS = 4000, Q = TABLE_EFFECTS };

/* Means and sds of all people's effects over a chain are within 4.5 standard errors. */
static void expect_moments(hierarchy_chain *chain)
{
  static double kept[TABLE_PEOPLE * Q][DRAWS];
  for (int t = 0; t < DRAWS; t++) {
    check(idm_chain_update_people(chain, NULL, 0, TABLE_PEOPLE, &support_error));
    for (size_t k = 0; k < TABLE_PEOPLE * Q; k++) kept[k][t] = chain->current.e[k];
  }
  for (size_t i = 0; i < TABLE_PEOPLE; i++) {
    double mean[Q], expected[Q], covariance[Q][Q];
    idm_population_mean(&table_design, &chain->current.population, i, mean);
    table_posterior(i, mean, chain->current.population.factor, expected, covariance);
    for (size_t j = 0; j < Q; j++) {
      idm_diagnosis d;
      check(idm_diagnose(kept[i * Q + j], 1, DRAWS, DRAWS, 1, &d, &support_error));
      print_message("  %.3f (%.3f), exactly %.3f (%.3f); ESS %.0f\n", d.mean, d.sd, expected[j],
                    sqrt(covariance[j][j]), d.ess_bulk);
      assert_true(fabs(d.mean - expected[j]) < 4.5 * d.mcse_mean);
      assert_true(fabs(d.sd - sqrt(covariance[j][j])) < 4.5 * d.mcse_sd);
      assert_true(d.ess_bulk > 400);
    }
  }
}

static void everybody_has_the_posterior(void **state)
{
  (void)state;
  hierarchy model;
  hierarchy_chain chain;
  idm_grid *grid = table_open(&model);
  check(idm_chain_create(&model, 5, 0, &chain, &support_error));
  check(idm_chain_find_modes(&chain, NULL, 0, TABLE_PEOPLE, &support_error));
  for (int wrong = 0; wrong < 2; wrong++) {
    for (size_t k = 0; wrong && k < TABLE_PEOPLE * Q * Q; k++) chain.curvature[k] *= 0.4;
    for (size_t k = 0; wrong && k < TABLE_PEOPLE * Q; k++) chain.linear_term[k] += 0.2;
    check(idm_chain_disperse(&chain, NULL, 0, TABLE_PEOPLE, &support_error));
    check(idm_chain_evaluate(&chain, NULL, 0, TABLE_PEOPLE, &support_error));
    expect_moments(&chain);
  }
  idm_chain_destroy(&chain);
  idm_hierarchy_destroy(&model);
  idm_grid_destroy(grid);
}

/* After an update e = m + L z, the stored likelihoods are those of the current effects, and other
 * people are unchanged. */
static void what_is_kept_agrees(void **state)
{
  (void)state;
  hierarchy model;
  hierarchy_chain chain;
  idm_grid *grid = table_open(&model);
  check(idm_chain_create(&model, 6, 0, &chain, &support_error));
  check(idm_chain_find_modes(&chain, NULL, 0, TABLE_PEOPLE, &support_error));
  check(idm_chain_disperse(&chain, NULL, 0, TABLE_PEOPLE, &support_error));
  check(idm_chain_evaluate(&chain, NULL, 0, TABLE_PEOPLE, &support_error));
  double before[TABLE_PEOPLE * Q], mean[Q];
  memcpy(before, chain.current.e, sizeof before);
  for (int t = 0; t < 20; t++) check(idm_chain_update_people(&chain, NULL, 1, 2, &support_error));
  assert_memory_equal(chain.current.e, before, Q * sizeof *before);
  assert_true(chain.current.e[Q] != before[Q]);
  idm_population_mean(&table_design, &chain.current.population, 1, mean);
  for (size_t j = 0; j < Q; j++) {
    double e = mean[j];
    for (size_t k = 0; k < Q; k++)
      e += chain.current.population.factor[j * Q + k] * chain.current.z[Q + k];
    assert_near(chain.current.e[Q + j], e, 1e-12);
  }
  assert_near(chain.current.surrogate[1], idm_hierarchy_surrogate(&model, 1, chain.current.e + Q),
              1e-12);
  idm_chain_destroy(&chain);
  idm_hierarchy_destroy(&model);
  idm_grid_destroy(grid);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everybody_has_the_posterior),
      cmocka_unit_test(what_is_kept_agrees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
