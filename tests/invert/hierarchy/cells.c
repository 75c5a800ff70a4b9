/* Tests exact likelihoods of cells against the scorer, independence of earlier evaluations, and
 * tables of the likelihoods. */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>
#include <stdlib.h>

#include "invert/people/people_support.h"

enum { people = 4 };
static const double low[] = {-1.5, -0.5}, high[] = {1, 1};

typedef struct fixture {
  idm_problem *problem;
  idm_parameters *parameters;
  idm_data *data;
  idm_design *design;
  idm_cells *cells;
} fixture;

static int set_up(void **state)
{
  static fixture f;
  f = (fixture){.problem = support_diag(0.5, 2, 0)};
  check(idm_problem_set_free(f.problem, "alpha,beta", &support_error));
  const double x[2 * people] = {0, 0.3, -1, 0.5, 0.5, -0.2, -0.3, 0};
  check(idm_parameters_create(f.problem, &f.parameters, &support_error));
  f.data = support_people(f.problem, people, x, 30, 3);
  f.design = support_design(f.data, 2, 0, (const double[]){0, 0}, (const double[]){1, 1});
  check(idm_cells_create(f.problem, f.data, f.design, f.parameters, 2, &f.cells, &support_error));
  *state = &f;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  idm_cells_destroy(f->cells);
  idm_design_destroy(f->design);
  idm_data_destroy(f->data);
  idm_parameters_destroy(f->parameters);
  idm_problem_destroy(f->problem);
  return 0;
}

static void cells_are_scored_as_agents(void **state)
{
  fixture *f = *state;
  const double x[] = {-0.4, 0.7};
  double one[people], plain[people];
  const double *all;
  idm_parameters_set(f->parameters, x, f->problem->theta);
  idm_workspace *workspace = support_plan(f->problem, NULL);
  support_scored scored = support_open_score(workspace, f->data);
  idm_scorer_agents(scored.scorer, plain);
  check(idm_cells_anchor(f->cells, low, high, &support_error));
  idm_evaluator *evaluator = idm_cells_acquire(f->cells);
  for (size_t c = 0; c < people; c++)
    check(idm_evaluator_cell(evaluator, c, x, &one[c], &support_error));
  check(idm_evaluator_all_cells(evaluator, x, &all, &support_error));
  idm_cells_release(f->cells, evaluator);
  for (size_t c = 0; c < people; c++) {
    assert_near(one[c], plain[c], 1e-6);
    assert_near(all[c], one[c], 1e-12);
  }
  support_close_score(&scored);
  idm_workspace_destroy(workspace);
}

/* Two evaluators give bit-identical values, although one of them has evaluated other points before.
 */
static void judges_agree(void **state)
{
  fixture *f = *state;
  const double x[] = {0.123, -0.2}, elsewhere[] = {-1, 0.9};
  check(idm_cells_anchor(f->cells, low, high, &support_error));
  idm_evaluator *one = idm_cells_acquire(f->cells), *two = idm_cells_acquire(f->cells);
  assert_ptr_not_equal(one, two);
  for (size_t c = 0; c < people; c++) {
    double a, b, other;
    check(idm_evaluator_cell(one, c, x, &a, &support_error));
    check(idm_evaluator_cell(two, c, elsewhere, &other, &support_error));
    check(idm_evaluator_cell(two, c, x, &b, &support_error));
    assert_true(a == b);
  }
  idm_cells_release(f->cells, one);
  idm_cells_release(f->cells, two);
}

static void what_cannot_be_planned_is_impossible(void **state)
{
  fixture *f = *state;
  const double wild[][2] = {{NAN, 0}, {INFINITY, 0}, {-800, 0}};
  idm_evaluator *evaluator = idm_cells_acquire(f->cells);
  for (size_t k = 0; k < 3; k++) {
    double one;
    const double *all;
    check(idm_evaluator_cell(evaluator, 0, wild[k], &one, &support_error));
    check(idm_evaluator_all_cells(evaluator, wild[k], &all, &support_error));
    assert_true(one == -INFINITY);
    for (size_t c = 0; c < people; c++) assert_true(all[c] == -INFINITY);
  }
  idm_cells_release(f->cells, evaluator);
}

static void tables_follow_the_likelihood(void **state)
{
  fixture *f = *state;
  shared_leaves shared = {.cells = f->cells, .threads = 2};
  const leaf_source leaves = idm_shared_source(&shared);
  bool has_tables;
  idm_random random;
  idm_random_init(&random, 2, 2);
  check(leaves.tabulate(&shared, low, high, true, NULL, NULL, &has_tables, &support_error));
  assert_true(has_tables);
  idm_evaluator *evaluator = idm_cells_acquire(f->cells);
  double worst = 0, squares = 0;
  for (int k = 0; k < 100; k++) {
    double x[2];
    const double *exact;
    for (size_t i = 0; i < 2; i++) x[i] = low[i] + (high[i] - low[i]) * idm_random_uniform(&random);
    check(idm_evaluator_all_cells(evaluator, x, &exact, &support_error));
    for (size_t c = 0; c < people; c++) {
      const double error = leaves.table(&shared, c, x) - exact[c];
      worst = fmax(worst, fabs(error));
      squares += error * error;
    }
  }
  /* The likelihood has a kink where a belief crosses a lattice point. */
  print_message("  error %.2g nats, %.2g at worst\n", sqrt(squares / (100 * people)), worst);
  assert_true(sqrt(squares / (100 * people)) < 0.03 && worst < 0.3);
  const double outside[] = {5, -9}, corner[] = {1, -0.5};
  assert_near(leaves.table(&shared, 1, outside), leaves.table(&shared, 1, corner), 1e-12);
  idm_cells_release(f->cells, evaluator);
  idm_grid_destroy(shared.grid);
}

static bool at_once(void *context)
{
  *(bool *)context = true;
  return true;
}

/* The callback is called every tenth of a second: planning on this lattice takes longer. */
static void tables_that_are_stopped_are_none(void **state)
{
  fixture *f = *state;
  idm_cells *cells;
  f->problem->agent.resolution = 3000;
  check(idm_cells_create(f->problem, f->data, f->design, f->parameters, 2, &cells, &support_error));
  shared_leaves shared = {.cells = cells, .threads = 2};
  const leaf_source leaves = idm_shared_source(&shared);
  bool has_tables, requested = false;
  check(
      leaves.tabulate(&shared, low, high, true, at_once, &requested, &has_tables, &support_error));
  assert_true(requested);
  assert_false(has_tables);
  idm_grid_destroy(shared.grid);
  idm_cells_destroy(cells);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(cells_are_scored_as_agents),
                                     cmocka_unit_test(judges_agree),
                                     cmocka_unit_test(what_cannot_be_planned_is_impossible),
                                     cmocka_unit_test(tables_follow_the_likelihood),
                                     cmocka_unit_test(tables_that_are_stopped_are_none)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
