/* Tests strata: the whole log of a plain fit, and the people and conditions of a population,
 * against known effects of every draw. */
#include "invert/assess/residual.h"

#include <math.h>
#include <stdlib.h>

#include "invert/assess/context_support.h"
#include "invert/people/covariates_support.h"

/* One stratum, at the centre of the posterior. */
static void test_whole(void **state)
{
  (void)state;
  static const double alpha[2] = {0.3, 0.3};
  assessed_fit a;
  strata s;
  double y;
  idm_problem *problem = make_reversal(0.3);
  assessed_fit_open(&a, problem, simulate_agents(problem, alpha, 2, 2, 30, 3), "alpha");
  check(idm_strata_whole(&s, &a.q, &support_error));
  assert_int_equal(s.count, 1);
  assert_int_equal(s.nodes, a.f.tree->nodes);
  assert_int_equal(s.agents, 2);
  assert_int_equal(s.one[0].first, 0);
  idm_context_centre(&a.q, &y);
  assert_true(s.centre[0] == y);
  assert_true(s.step[0] > 0 && s.step[0] < 1);
  static const period period_of[4] = {{0, 0}, {8, 3}, {0, 5}, {8, 8}};
  for (size_t t = 0; t < 4; t++) {
    assert_int_equal(s.one[0].period_of[t].of_agent, period_of[t].of_agent);
    assert_int_equal(s.one[0].period_of[t].of_log, period_of[t].of_log);
  }
  idm_strata_close(&s);
  assessed_fit_close(&a);
}

enum { DRAWS = 7 };

/* Effect of a person at a draw, of a known form: log alpha, the dose, and beta. */
static double number(size_t effect, size_t person, size_t draw)
{
  return 0.1 * (double)(person + 1) + (effect ? 10 : 0) + 0.01 * (double)(draw * (person + 2));
}

/* The first and last trajectories of a person, over all conditions, are in the first and last
 * periods; a single trajectory is in the middle one. */
static void check_moments(const strata *s, size_t person)
{
  size_t count = 0, least = PERIODS, most = 0;
  for (size_t c = 0; c < s->count; c++)
    for (size_t t = 0; t < s->one[c].data->trajectories; t++) {
      const uint8_t period_of = s->one[c].period_of[t].of_agent;
      if (s->one[c].agent[t] != person) continue;
      count++;
      least = period_of < least ? period_of : least;
      most = period_of > most ? period_of : most;
    }
  assert_true(count > 0);
  assert_int_equal(least, count > 1 ? 0 : PERIODS / 2);
  assert_int_equal(most, count > 1 ? PERIODS : PERIODS / 2);
}

/* People with a high or low dose: p1 to p5 have both, p6 has low only. */
static void test_population(void **state)
{
  (void)state;
  idm_problem *problem = covariates_problem();
  idm_data *data = covariates_data(problem, covariates_log, (const char *const[]){"dose", NULL});
  idm_design *design =
      covariates_design(problem, covariates_log, "agent", "alpha ~ dose", NULL, NULL);
  assert_non_null(design);
  const size_t effects = design->effects, people = design->people;
  assert_int_equal(effects, 3); /* alpha, the effect of the dose, beta */
  idm_people draws = {.chains = 1, .draws = DRAWS, .people = people, .effects = effects};
  draws.effect = calloc(effects * people * DRAWS, sizeof *draws.effect);
  assert_non_null(draws.effect);
  for (size_t e = 0; e < effects; e++)
    for (size_t i = 0; i < people; i++)
      for (size_t k = 0; k < DRAWS; k++)
        draws.effect[(e * people + i) * DRAWS + k] = number(e, i, k);
  strata s;
  check(idm_strata_divide(&s, problem, data, design, &draws, &support_error));
  assert_int_equal(s.count, 11);
  assert_int_equal(s.agents, 6);
  size_t nodes = 0, rows = 0;
  for (size_t c = 0; c < s.count; c++) {
    const stratum *one = &s.one[c];
    const size_t person = design->cell_person[c];
    const bool low = design->share[c * effects + 1] == 1;
    double y[2];
    assert_int_equal(one->first, nodes);
    nodes += one->tree->nodes;
    rows += one->data->rows;
    for (size_t t = 0; t < one->data->trajectories; t++) assert_int_equal(one->agent[t], person);
    for (size_t k = 0; k < DRAWS; k++) {
      idm_strata_draw(&s, c, k, y);
      assert_near(y[0], number(0, person, k) + (low ? number(1, person, k) : 0), 1e-12);
      assert_near(y[1], number(2, person, k), 1e-12);
    }
    /* The centre is the last draw, and its steps are positive. */
    for (size_t j = 0; j < 2; j++)
      assert_true(s.centre[c * 2 + j] == y[j] && s.step[c * 2 + j] > 0);
  }
  assert_int_equal(nodes, s.nodes);
  assert_int_equal(rows, data->rows);
  for (size_t i = 0; i < people; i++) check_moments(&s, i);
  idm_strata_close(&s);
  free(draws.effect);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole),
                                     cmocka_unit_test(test_population)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
