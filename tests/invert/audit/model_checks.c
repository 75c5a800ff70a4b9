/* Tests the checks of the model in the cells of an audit, which equal those of a single cell. */
#include "invert/audit/estimands.h"

#include <math.h>
#include <stdlib.h>

#include "invert/assess/context_support.h"

enum { CELLS = 2, DRAWS = 6, TRAJECTORIES = 40, STEPS = 30, AGENTS = 12 };

/* Agents of the first cell are equal; half of those of the second choose at random. */
typedef struct fixture {
  idm_fit_settings settings;
  idm_problem *problem;
  audit_cell cell[CELLS];
  audit_model model;
  audit_draws draws;
  double x[CELLS * DRAWS];
  double log_likelihood[CELLS * DRAWS];
} fixture;

static int setup(void **state)
{
  fixture *f = *state = calloc(1, sizeof *f);
  assert_non_null(f);
  idm_fit_settings_default(&f->settings);
  f->problem = make_reversal(0.2);
  check(idm_problem_set_free(f->problem, "{alpha: {scale: log}}", &support_error));
  for (size_t c = 0; c < CELLS; c++) {
    double alpha[AGENTS];
    for (size_t a = 0; a < AGENTS; a++) alpha[a] = c && a % 2 ? 20 : 0.2;
    f->cell[c].problem = f->problem;
    f->cell[c].data =
        simulate_agents(f->problem, alpha, AGENTS, TRAJECTORIES / AGENTS, STEPS, 5 + c);
    check(idm_fit_open(&f->cell[c].f, NULL, f->problem, f->cell[c].data, &f->settings, 1,
                       &support_error));
    for (size_t k = 0; k < DRAWS; k++) {
      const size_t at = c * DRAWS + k;
      f->x[at] = log(c ? 0.6 : 0.2) + 0.02 * ((double)k - 2);
      check(idm_matching_log_likelihood(f->cell[c].f.matching[0], &f->x[at], &f->log_likelihood[at],
                                        NULL, &support_error));
    }
  }
  f->model = (audit_model){
      .settings = &f->settings, .dimension = 1, .cells = CELLS, .effects = CELLS, .cell = f->cell};
  f->draws = (audit_draws){
      .chains = 2, .draws = DRAWS / 2, .cell = f->x, .log_likelihood = f->log_likelihood};
  return 0;
}

static int teardown(void **state)
{
  fixture *f = *state;
  for (size_t c = 0; c < CELLS; c++) {
    idm_fit_close(&f->cell[c].f);
    idm_data_destroy(f->cell[c].data);
  }
  idm_problem_destroy(f->problem);
  free(f);
  return 0;
}

static void expect_same_notes(const idm_notes *a, const idm_notes *b)
{
  assert_int_equal(a->count, b->count);
  for (size_t i = 0; i < a->count; i++) assert_string_equal(a->text[i], b->text[i]);
}

/* The heterogeneous agents are reported in the second cell only. */
static void test_verdicts(void **state)
{
  fixture *f = *state;
  idm_assessment found[CELLS];
  check(idm_audit_check_models(&f->model, &f->draws, CELLS, found, &support_error));
  assert_int_equal(found[0].misfits.count, 0);
  assert_true(found[1].misfits.count > 0);
  assert_true(support_mentions(&found[1].misfits, "agents"));
  idm_audit_clear_checks(found, CELLS);
  idm_audit_clear_checks(NULL, CELLS);
}

/* The number of threads and the other cells do not affect the notes on a cell. */
static void test_cells_are_judged_by_themselves(void **state)
{
  fixture *f = *state;
  idm_assessment together[CELLS], alone;
  f->settings.threads = 2;
  check(idm_audit_check_models(&f->model, &f->draws, CELLS, together, &support_error));
  f->settings.threads = 1;
  audit_model one = f->model;
  audit_draws its = f->draws;
  one.cells = one.effects = 1;
  one.cell = &f->cell[1];
  its.cell = f->x + DRAWS;
  its.log_likelihood = f->log_likelihood + DRAWS;
  check(idm_audit_check_models(&one, &its, CELLS, &alone, &support_error));
  expect_same_notes(&together[1].misfits, &alone.misfits);
  expect_same_notes(&together[1].remarks, &alone.remarks);
  idm_audit_clear_checks(together, CELLS);
  idm_audit_clear_checks(&alone, 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_verdicts),
      TEST(test_cells_are_judged_by_themselves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
