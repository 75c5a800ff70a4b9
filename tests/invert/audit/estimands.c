/* Tests cells and linear combinations of an audit: members, effects, weights, prior variances and
 * prior ratios. */
#include "invert/audit/estimands.h"

#include <math.h>
#include <string.h>

#include "invert/audit/audit_support.h"

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_groups *groups;
  idm_audit_settings settings;
  audit_estimands plan;
} fixture;

static fixture make(const char *const *opt_predicate, size_t count, idm_pool pool)
{
  fixture f = {.problem = audit_problem(1), .settings = audit_settings()};
  f.data = audit_data(f.problem, (const double[]){0.5, 0.8, 1}, 3, 20);
  if (opt_predicate)
    check(idm_groups_where(f.data, opt_predicate, count, &f.groups, NULL, &support_error));
  else
    check(idm_groups_by(f.data, "site", &f.groups, NULL, &support_error));
  f.settings.pool = pool;
  check(idm_audit_estimands(f.problem, f.data, f.groups, &f.settings, &f.plan, &support_error));
  return f;
}

static void unmake(fixture *f)
{
  idm_audit_estimands_clear(&f->plan);
  idm_groups_destroy(f->groups);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}

static void levels_have_a_cell_each(void **state)
{
  (void)state;
  fixture f = make(NULL, 0, IDM_POOL_PARTIAL);
  const audit_model *m = &f.plan.model;
  assert_int_equal(m->cells, 3);
  assert_int_equal(m->effects, 3);
  assert_true(m->partition && m->pooled);
  assert_int_equal(f.plan.groups, 4);
  assert_int_equal(f.plan.contrasts, 3);
  for (size_t c = 0; c < 3; c++) {
    assert_int_equal(m->cell[c].data->trajectories, 20);
    assert_near(f.plan.group[3].cell[c], 1.0 / 3, 1e-15);
    assert_near(f.plan.group[1].cell[c], c == 1, 0);
  }
  /* b - a */
  assert_near(f.plan.contrast[0].cell[0], -1, 0);
  assert_near(f.plan.contrast[0].cell[1], 1, 0);
  unmake(&f);
}

static void predicates_have_cells_of_joint_membership(void **state)
{
  (void)state;
  fixture f = make((const char *const[]){"site=a", "sex=f"}, 2, IDM_POOL_PARTIAL);
  const audit_model *m = &f.plan.model;
  size_t members = 0;
  assert_int_equal(m->cells, 4);
  assert_int_equal(m->effects, 2);
  assert_false(m->partition);
  for (size_t c = 0; c < 4; c++) members += m->cell[c].data->trajectories;
  assert_int_equal(members, f.data->trajectories);
  for (size_t g = 0; g < 3; g++) {
    double sum = 0;
    for (size_t c = 0; c < 4; c++) {
      sum += f.plan.group[g].cell[c];
      assert_true(g == 2 || (f.plan.group[g].cell[c] > 0) == (m->share[c * 2 + g] > 0));
    }
    assert_near(sum, 1, 1e-12);
  }
  for (size_t k = 0; k < 2; k++) assert_near(f.plan.contrast[k].effect[k], 1, 0);
  unmake(&f);
}

static void separate_predicates_have_a_cell_for_the_others(void **state)
{
  (void)state;
  fixture f = make((const char *const[]){"site=a", "sex=f"}, 2, IDM_POOL_HOLM);
  const audit_model *m = &f.plan.model;
  assert_int_equal(m->cells, 5); /* two groups, two rests, all */
  for (size_t k = 0; k < 2; k++) {
    assert_int_equal(m->cell[k].data->trajectories + m->cell[2 + k].data->trajectories, 60);
    assert_near(f.plan.contrast[k].cell[k], 1, 0);
    assert_near(f.plan.contrast[k].cell[2 + k], -1, 0);
  }
  assert_int_equal(m->cell[4].data->trajectories, 60);
  assert_near(f.plan.group[2].cell[4], 1, 0);
  unmake(&f);
}

/* Var x_g = s^2 + E tau^2, and Var of a contrast = 2 E tau^2. Draws are weighted sums of cells and
 * effects. */
static void lines_have_the_variance_of_their_prior(void **state)
{
  (void)state;
  fixture f = make(NULL, 0, IDM_POOL_PARTIAL);
  audit_model *m = &f.plan.model;
  double sd = 2, mean = 0;
  double cell[] = {1, 2, 3}, effect[] = {0, 0, 0}, value;
  m->sd = &sd;
  m->mean = &mean;
  m->dimension = 1;
  assert_near(idm_combination_prior_var(m, &f.plan.group[0], 0), 4 + 1, 1e-12);
  assert_near(idm_combination_prior_var(m, &f.plan.contrast[0], 0), 2 * 1, 1e-12);
  const audit_draws draws = {.chains = 1, .draws = 1, .cell = cell, .effect = effect};
  idm_combination_draws(m, &draws, &f.plan.group[3], 0, &value);
  assert_near(value, 2, 1e-12);
  /* log normal(1; 0, 2 s) - log normal(1; 0, s) and the same of tau = 1, up to a constant. */
  double mu = 1, tau = 1, weight;
  const audit_draws population = {
      .chains = 1, .draws = 1, .cell = cell, .effect = effect, .mean = &mu, .sd = &tau};
  idm_combination_log_weight(m, &population, &f.plan.group[0], 2, &weight);
  assert_near(weight, 0.375 * (0.25 + 1), 1e-12);
  m->sd = m->mean = NULL;
  unmake(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(levels_have_a_cell_each),
      cmocka_unit_test(predicates_have_cells_of_joint_membership),
      cmocka_unit_test(separate_predicates_have_a_cell_for_the_others),
      cmocka_unit_test(lines_have_the_variance_of_their_prior),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
