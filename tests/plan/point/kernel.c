/* Tests the sparse kernel against the dynamics from which it is constructed. */
#include "plan/point/bounds.h"

#include <math.h>
#include <stdio.h>

#include "support.h"

/* p(s', o | s, u) of one outcome by its index, from the rows of the kernel. */
static double held(const kernel *k, size_t u, size_t s, size_t outcome, size_t next)
{
  const size_t first = kernel_first_cell(k, u);
  double sum = 0;
  for (size_t e = k->entry[u * k->states + s]; e < k->entry[u * k->states + s + 1]; e++) {
    const size_t cell = first + k->at[e];
    if (cell >= k->cell[outcome] && cell < k->cell[outcome + 1] && k->state[cell] == next)
      sum += k->value[e];
  }
  return sum;
}

static void holds_every_probability(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 91, 0);
  for (int before = 0; before < 2; before++) {
    idm_problem *problem = support_problem((support_shape){3, 2, 2, 2, 4}, &random);
    const idm_theta *theta = problem->theta;
    const double *trust = idm_theta_values(theta, IDM_MODEL_PRIOR, 0);
    problem->setting->emits_before = before;
    kernel *k;
    check(idm_kernel_create(problem->setting, theta, &k, &support_error));
    assert_int_equal(kernel_outcomes(k, 0), 4);
    assert_int_equal(kernel_cells(k, 1), 12);
    assert_true(k->max_cells == 12 && k->max_outcomes == 4 && idm_kernel_max_cells(theta) == 12);
    for (size_t i = 0; i < 2 * 3 * 4 * 3; i++) {
      const size_t u = i / 36, s = i / 12 % 3, o = i / 3 % 4, next = i % 3;
      const size_t world = o / 2 * 2 + u;
      const double p =
          trust[o / 2] * idm_theta_values(theta, IDM_TRANSITION, 0)[(world * 3 + s) * 3 + next] *
          idm_theta_values(theta, IDM_EMISSION, 0)[(world * 3 + (before ? s : next)) * 2 + o % 2];
      assert_near(held(k, u, s, k->outcome[u] + o, next), p, 1e-15);
    }
    idm_kernel_destroy(k);
    idm_problem_destroy(problem);
  }
}

/* A corridor of hidden cells with a reset, long enough that transitions are stored as sparse rows.
 */
enum { CELLS = 300 };

static void write_corridor(const char *path)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file,
          "discount: 0.9\nvalues: reward\nstates: %d\nactions: go back\nobservations: end dark\n"
          "start include: 0 1 2\nT: go identity\nT: back : * reset\nO: * : * : dark 1\n"
          "O: * : 0 : dark 0.25\nO: * : 0 : end 0.75\nR: go : * : %d : end 7\n"
          "R: go : * : 5 : * -1\n",
          CELLS, CELLS - 1);
  for (int s = 0; s < CELLS - 1; s++)
    fprintf(file, "T: go : %d : %d 0.3\nT: go : %d : %d 0.7\n", s, s, s, s + 1);
  fprintf(file, "O: go : %d 1 0\n", CELLS - 1);
  assert_int_equal(fclose(file), 0);
}

static void assert_same_kernel(const kernel *a, const kernel *b)
{
  const size_t outcomes = a->outcome[a->actions], cells = a->cell[outcomes];
  const size_t rows = a->actions * a->states, entries = a->entry[rows];
  assert_true(a->states == b->states && a->actions == b->actions && a->max_cells == b->max_cells);
  assert_memory_equal(a->outcome, b->outcome, (a->actions + 1) * sizeof *a->outcome);
  assert_memory_equal(a->cell, b->cell, (outcomes + 1) * sizeof *a->cell);
  assert_memory_equal(a->state, b->state, cells * sizeof *a->state);
  assert_memory_equal(a->entry, b->entry, (rows + 1) * sizeof *a->entry);
  assert_memory_equal(a->at, b->at, entries * sizeof *a->at);
  assert_memory_equal(a->value, b->value, entries * sizeof *a->value);
}

/* Dense and sparse transitions give the same kernel and utility, to the last bit; other planners
 * reject sparse rows. */
static void rows_make_the_kernel_that_matrices_make(void **state)
{
  (void)state;
  char path[SUPPORT_PATH], name[SUPPORT_PATH + 8];
  support_path(path);
  snprintf(name, sizeof name, "%s.POMDP", path);
  write_corridor(name);
  idm_problem *dense, *rows;
  check(idm_problem_read(name, &dense, NULL, &support_error));
  check(idm_problem_read_by_rows(name, &rows, NULL, &support_error));
  assert_true(dense->setting->transition && !dense->setting->moves);
  assert_true(!rows->setting->transition && rows->setting->moves);
  check(idm_problem_validate(rows, &support_error));
  kernel *a, *b;
  check(idm_kernel_create(dense->setting, dense->theta, &a, &support_error));
  check(idm_kernel_create(rows->setting, rows->theta, &b, &support_error));
  assert_same_kernel(a, b);
  assert_memory_equal(idm_theta_values(dense->theta, IDM_UTILITY, 0),
                      idm_theta_values(rows->theta, IDM_UTILITY, 0), 2 * CELLS * sizeof(double));
  idm_workspace *workspace = NULL;
  assert_int_equal(idm_workspace_create(rows->setting, rows->theta, &rows->agent, &workspace, NULL),
                   IDM_INPUT);
  check(idm_problem_set_planner(rows, idm_planner_find("point-based"), &support_error));
  workspace = support_plan(rows, NULL);
  double lower, upper;
  check(idm_plan_bounds(workspace, 0, rows->setting->start, &lower, &upper, &support_error));
  assert_true(lower <= upper && upper - lower <= 1e-3 + 1e-9);
  idm_workspace_destroy(workspace);
  idm_kernel_destroy(a);
  idm_kernel_destroy(b);
  idm_problem_destroy(dense);
  idm_problem_destroy(rows);
  remove(name);
  remove(path);
}

/* Impossible outcomes are not stored. */
static void leaves_zeros_out(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:tiger", &problem, NULL, &support_error));
  problem->setting->terminal[2] = true;
  kernel *k;
  check(idm_kernel_create(problem->setting, problem->theta, &k, &support_error));
  /* Listening does not move the tiger: two entries per state, one per observation. */
  assert_int_equal(k->entry[2] - k->entry[0], 4);
  assert_int_equal(k->entry[4] - k->entry[2], 8);
  assert_int_equal(kernel_outcomes(k, 2), 0);
  assert_int_equal(k->entry[6] - k->entry[4], 0);
  idm_kernel_destroy(k);
  idm_kernel_destroy(NULL);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(holds_every_probability),
      cmocka_unit_test(leaves_zeros_out),
      cmocka_unit_test(rows_make_the_kernel_that_matrices_make),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
