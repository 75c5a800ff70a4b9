/* Cancellation: a request to stop reaches every thread, only the owner's thread calls the callback,
 * and limits count processor time. */
#include "invert/cancel.h"

#include <math.h>
#include <string.h>

#include "base/system.h"
#include "support.h"

typedef struct wish {
  int last_poll;
  int after; /* number of calls that return false (continue) */
  pthread_t owner;
} wish;

static bool answer(void *context, const idm_progress_state *work)
{
  wish *w = context;
  char activity[64];
  assert_true(pthread_equal(pthread_self(), w->owner));
  assert_string_equal(idm_progress_describe(work, activity, sizeof activity), "doing things");
  return ++w->last_poll > w->after;
}

static void test_check(void **state)
{
  (void)state;
  wish w = {.after = 1, .owner = pthread_self()};
  const idm_fit_monitor watch = {.progress = answer, .context = &w};
  idm_cancel cancel;
  idm_error error = {0};
  assert_int_equal(idm_cancel_check(NULL, &error), IDM_OK);
  idm_cancel_init(&cancel, NULL, "doing things");
  assert_int_equal(idm_cancel_check(&cancel, &error), IDM_OK);
  idm_cancel_init(&cancel, &watch, "doing things");
  assert_int_equal(idm_cancel_check(&cancel, &error), IDM_OK); /* too soon for another call */
  assert_int_equal(w.last_poll, 0);
  cancel.last_poll = 0;
  assert_int_equal(idm_cancel_check(&cancel, &error), IDM_OK);
  cancel.last_poll = 0;
  assert_int_equal(idm_cancel_check(&cancel, &error), IDM_UNTRUSTED);
  assert_int_equal(w.last_poll, 2);
  assert_int_equal(idm_cancel_check(&cancel, &error),
                   IDM_UNTRUSTED); /* cancellation is permanent */
}

/* Time limits do not count time in which the process waits for a processor. */
static void test_idle(void **state)
{
  (void)state;
  const double limit = 0.1;
  idm_cancel cancel;
  idm_cancel_init(&cancel, NULL, "doing things");
  idm_cancel_extend(&cancel, limit);
  const idm_timestamp limit_start = cancel.limit_start;
  nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
  assert_true(idm_seconds() - limit_start.wall_time > 2 * limit);
  assert_int_equal(idm_cancel_check(&cancel, &support_error), IDM_OK);
  while (idm_seconds_worked(limit_start) < limit) {
  }
  assert_int_equal(idm_cancel_check(&cancel, &support_error), IDM_UNTRUSTED);
  assert_true(cancel.timed_out);
}

/* A deadline works without a callback, and can be extended. */
static void test_deadline(void **state)
{
  (void)state;
  idm_cancel cancel;
  idm_cancel_init(&cancel, NULL, "doing things");
  idm_cancel_extend(&cancel, 1e6);
  assert_int_equal(idm_cancel_check(&cancel, &support_error), IDM_OK);
  idm_cancel_extend(&cancel, 1e-9);
  assert_int_equal(idm_cancel_check(&cancel, &support_error), IDM_UNTRUSTED);
  assert_true(cancel.timed_out);
  idm_cancel_extend(&cancel, 0);
  assert_false(cancel.timed_out);
  assert_int_equal(idm_cancel_check(&cancel, &support_error), IDM_OK);
  cancel.stop = true; /* cancelled for another reason than the deadline */
  idm_cancel_extend(&cancel, 0);
  assert_int_equal(idm_cancel_check(&cancel, &support_error), IDM_UNTRUSTED);
}

/* Work that ends only by cancellation. */
static void work(void *context, size_t index)
{
  (void)index;
  while (idm_cancel_check(context, NULL) == IDM_OK) continue;
}

static void test_threads(void **state)
{
  (void)state;
  for (int threads = 1; threads < 4; threads++) {
    wish w = {.owner = pthread_self()};
    const idm_fit_monitor watch = {.progress = answer, .context = &w};
    idm_cancel cancel;
    idm_cancel_init(&cancel, &watch, "doing things");
    check(idm_cancel_parallel(&cancel, 4, threads, work, &cancel, &support_error));
    assert_int_equal(w.last_poll, 1);
  }
}

/* A plan that would take hours ends on cancellation; a plan that runs out of memory is an error; a
 * plan without cancellation equals that of idm_plan. */
static void test_plan(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0, INFINITY, 0);
  check(idm_problem_set_planner(problem, idm_planner_find("point-based"), &support_error));
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_solver solver;
  idm_solver_default(&solver);
  const double *start = problem->setting->start;
  const double value = idm_plan_value(workspace, 0, start);
  check(idm_cancel_plan(NULL, problem->theta, &solver, workspace, &support_error));
  assert_true(idm_plan_value(workspace, 0, start) == value);
  support_assign(problem, "discount=0.99999999");
  solver.tolerance = 1e-9;
  wish w = {.owner = pthread_self()};
  const idm_fit_monitor watch = {.progress = answer, .context = &w};
  idm_cancel cancel;
  idm_cancel_init(&cancel, &watch, "doing things");
  idm_error error = {0};
  assert_int_equal(idm_cancel_plan(&cancel, problem->theta, &solver, workspace, &error),
                   IDM_UNTRUSTED);
  assert_int_equal(w.last_poll, 1);
  solver.bytes = 1;
  assert_int_equal(idm_cancel_plan(NULL, problem->theta, &solver, workspace, &error), IDM_SYSTEM);
  assert_non_null(strstr(error.message, "a larger gap"));
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* A plan whose bounds are kept apart by rounding is an error, unless the distance is below a
 * thousandth of the range of the utilities per step. */
static void test_rounding(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:tiger", &problem, NULL, &support_error));
  check(idm_problem_set_planner(problem, idm_planner_find("point-based"), &support_error));
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_solver solver;
  idm_solver_default(&solver);
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 1 - 1e-9);
  check(idm_cancel_plan(NULL, problem->theta, &solver, workspace, &support_error));
  /* The accumulated rounding error of value backups is about the range itself here; at 1 - 1e-13 it
   * is a hundredth of it, and depends on the compiler. */
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 1 - 1e-15);
  idm_error error = {0};
  assert_int_equal(idm_cancel_plan(NULL, problem->theta, &solver, workspace, &error),
                   IDM_NUMERICAL);
  assert_non_null(strstr(error.message, "because of rounding"));
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_check), cmocka_unit_test(test_deadline),
                                     cmocka_unit_test(test_idle),  cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_plan),  cmocka_unit_test(test_rounding)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
