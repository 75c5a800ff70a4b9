/* Tests coordinates and likelihoods of people in a hierarchy against closed forms and the scorer,
 * and the box of the prior. */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>
#include <stdlib.h>

#include "invert/hierarchy/table_support.h"
#include "invert/people/people_support.h"

/* First cell of each person, and Gram matrix of the regressors over people. */
static void what_is_counted_once(void **state)
{
  (void)state;
  hierarchy model;
  idm_grid *grid = table_open(&model);
  static const size_t first[] = {0, 2, 3};
  static const double regressor[TABLE_PEOPLE][4] = {{1, -2, 1, 1}, {1, 3, 1, 1}};
  for (size_t i = 0; i <= TABLE_PEOPLE; i++) assert_int_equal(model.first[i], first[i]);
  for (size_t a = 0; a < 4; a++)
    for (size_t b = 0; b < 4; b++)
      assert_near(model.gram[a * 4 + b],
                  regressor[0][a] * regressor[0][b] + regressor[1][a] * regressor[1][b], 1e-14);
  idm_hierarchy_destroy(&model);
  idm_grid_destroy(grid);
  assert_null(model.gram);
}

static void numbers_are_shares_of_effects(void **state)
{
  (void)state;
  const double e[] = {0.3, -0.6, 1.1};
  static const double first[] = {0.3, -0.3, 0};
  for (size_t c = 0; c < TABLE_CELLS; c++) {
    double x[TABLE_NUMBERS];
    idm_hierarchy_coordinates(&table_design, c, e, x);
    assert_near(x[0], first[c], 1e-15);
    assert_near(x[1], 1.1, 1e-15);
  }
}

/* A person's log-likelihood by the table is the sum over their cells. */
static void tables_add_up_over_cells(void **state)
{
  (void)state;
  hierarchy model;
  idm_grid *grid = table_open(&model);
  const double e[] = {0.3, -0.6, 1.1};
  static const double x[TABLE_CELLS][TABLE_NUMBERS] = {{0.3, 1.1}, {-0.3, 1.1}, {0, 1.1}};
  assert_near(idm_hierarchy_surrogate(&model, 0, e), table_plain(0, x[0]) + table_plain(1, x[1]),
              1e-4);
  assert_near(idm_hierarchy_surrogate(&model, 1, e), table_plain(2, x[2]), 1e-4);
  idm_hierarchy_destroy(&model);
  idm_grid_destroy(grid);
}

/* 3.5 sds around the mean, the union over all cells: for the first coordinate, cell 1, in which
 * both effects count, gives the lower end, and person 1, whose covariate is 3, the upper end. */
static void the_box_holds_everybody(void **state)
{
  (void)state;
  hierarchy model;
  double low[TABLE_NUMBERS], high[TABLE_NUMBERS];
  table_open_slopes(&model);
  idm_hierarchy_prior_box(&model, low, high);
  /* Means .2 - 2 (.1) and .2 + 3 (.1); variances .8^2 + 1 + w^2 / 4, and s^2 (.5^2 + .4^2). */
  const double both = sqrt(0.64 + 1 + 4 * 0.25 + 0.41);
  const double other = sqrt(0.64 + 1 + 9 * 0.25 + 0.25 * 0.41);
  assert_near(low[0], fmin(0 - 3.5 * both, 0.5 - 3.5 * other), 1e-12);
  assert_near(high[0], 0.5 + 3.5 * other, 1e-12);
  assert_near(low[1], -0.1 - 3.5 * 2.5, 1e-12);
  assert_near(high[1], -0.1 + 3.5 * 2.5, 1e-12);
  idm_hierarchy_destroy(&model);
}

/* Gradients of a person equal central differences. */
static void slopes_add_up_over_cells(void **state)
{
  (void)state;
  enum { q = TABLE_EFFECTS, all = q * TABLE_PEOPLE };
  static const double step = 1e-5;
  hierarchy model;
  table_open_slopes(&model);
  double e[all], gradient[all], unused[all], value[TABLE_PEOPLE], side[2][TABLE_PEOPLE];
  double *scratch = calloc(idm_hierarchy_scratch(&model), sizeof *scratch);
  assert_non_null(scratch);
  for (size_t i = 0; i < all; i++) e[i] = (double[]){0.3, -0.6, 1.1}[i % q] + 0.05 * (double)i;
  check(idm_hierarchy_gradients(&model, NULL, e, value, gradient, scratch, &support_error));
  for (size_t i = 0; i < all; i++) {
    const double before = e[i];
    for (int k = 0; k < 2; k++) {
      e[i] = before + (k ? step : -step);
      check(idm_hierarchy_gradients(&model, NULL, e, side[k], unused, scratch, &support_error));
    }
    e[i] = before;
    assert_near(gradient[i], (side[1][i / q] - side[0][i / q]) / (2 * step), 1e-8);
  }
  free(scratch);
  idm_hierarchy_destroy(&model);
}

/* The exact likelihood of a person is that of the scorer for the agent. */
static void exact_ones_are_the_scorers(void **state)
{
  (void)state;
  enum { people = 2 };
  idm_problem *problem = support_people_diag("alpha");
  const double at[people] = {0.2, -0.7};
  idm_data *data = support_people(problem, people, at, 20, 3);
  idm_design *design = support_design(data, 1, 0, (const double[]){0}, (const double[]){1});
  idm_parameters *parameters;
  shared_leaves shared = {.threads = 1};
  hierarchy model;
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_cells_create(problem, data, design, parameters, 1, &shared.cells, &support_error));
  const leaf_source leaves = idm_shared_source(&shared);
  check(idm_hierarchy_create(design, &leaves, false, &model, &support_error));
  const leaf_worker worker = {0, idm_cells_acquire(shared.cells)};
  for (size_t i = 0; i < people; i++) {
    double found, wild, plain[people];
    check(idm_hierarchy_exact(&model, &worker, i, &at[i], &found, &support_error));
    idm_parameters_set(parameters, &at[i], problem->theta);
    idm_workspace *workspace = support_plan(problem, NULL);
    support_scored scored = support_open_score(workspace, data);
    idm_scorer_agents(scored.scorer, plain);
    assert_near(found, plain[i], 1e-6);
    check(idm_hierarchy_exact(&model, &worker, i, &(const double){NAN}, &wild, &support_error));
    assert_true(wild == -INFINITY);
    support_close_score(&scored);
    idm_workspace_destroy(workspace);
  }
  idm_cells_release(shared.cells, worker.evaluator);
  idm_hierarchy_destroy(&model);
  idm_shared_destroy(&shared);
  idm_parameters_destroy(parameters);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_counted_once),     cmocka_unit_test(numbers_are_shares_of_effects),
      cmocka_unit_test(tables_add_up_over_cells), cmocka_unit_test(the_box_holds_everybody),
      cmocka_unit_test(slopes_add_up_over_cells), cmocka_unit_test(exact_ones_are_the_scorers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
