/* A wish to stop that reaches every evaluation of a fit, on whatever thread. */
#include "invert/matching/halt.h"

#include <stdio.h>

#include "base/parallel.h"
#include "setting/freedom.h"

/* Seconds between two questions, and before the first: what is over by then is not worth stopping,
 * as what follows it may have something to save. */
static const double patience = 0.1, first_patience = 0.8;

void idm_halt_begin(idm_halt *halt, const idm_fit_watch *opt_watch, const char *words)
{
  *halt = (idm_halt){.watch = opt_watch && opt_watch->progress ? opt_watch : NULL,
                     .words = words,
                     .owner = pthread_self(),
                     .asked = idm_seconds() + first_patience - patience};
}

static void describe(const void *content, char *buffer, size_t size)
{
  snprintf(buffer, size, "%s", ((const idm_halt *)content)->words);
}

/* Work is never longer than the time on the wall, which is cheaper to read. */
static bool is_over(const idm_halt *halt, double now)
{
  return halt->limit > 0 && now - halt->since.wall >= halt->limit &&
         idm_worked(halt->since) >= halt->limit;
}

bool idm_halt_ask(idm_halt *halt)
{
  const double now = idm_seconds();
  if (halt->stop) return true;
  if (is_over(halt, now)) halt->late = halt->stop = true;
  if (!halt->watch || halt->stop || now - halt->asked < patience) return halt->stop;
  const idm_work work = {.done = halt->done, .content = halt, .describe = describe};
  halt->asked = now;
  if (halt->watch->progress(halt->watch->context, &work)) halt->stop = true;
  return halt->stop;
}

void idm_halt_extend(idm_halt *halt, double seconds)
{
  halt->since = idm_moment_now();
  halt->limit = seconds;
  if (halt->late) halt->stop = false;
  halt->late = false;
}

idm_status idm_halt_check(idm_halt *opt_halt, idm_error *opt_error)
{
  if (!opt_halt) return IDM_OK;
  if (pthread_equal(pthread_self(), opt_halt->owner)) idm_halt_ask(opt_halt);
  return opt_halt->stop ? idm_fail(opt_error, IDM_UNTRUSTED, "interrupted") : IDM_OK;
}

static bool is_unwanted(void *halt, double lower, double upper)
{
  (void)lower;
  (void)upper;
  return idm_halt_check(halt, NULL) != IDM_OK;
}

/* Whether a search ended with bounds that say little: apart by more than a thousandth of the range
 * of the utilities a step. */
static bool is_open(const idm_theta *theta, const idm_workspace *workspace,
                    const idm_plan_report *report)
{
  static const double little = 1e-3;
  return idm_workspace_planner(workspace)->search &&
         report->bound * (1 - idm_theta_scalar(theta, IDM_DISCOUNT)) >
             little * idm_theta_range(theta);
}

idm_status idm_halt_plan(idm_halt *opt_halt, const idm_theta *theta, const idm_solver *solver,
                         idm_workspace *workspace, idm_error *opt_error)
{
  idm_solver watched = *solver;
  watched.opt_watch = is_unwanted;
  watched.watch_context = opt_halt;
  idm_plan_report report;
  const idm_status status = idm_plan(theta, &watched, workspace, &report, opt_error);
  if (status != IDM_OK) return status;
  if (report.stop == IDM_STOP_INTERRUPT) return idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  if (report.stop == IDM_STOP_MEMORY)
    return idm_fail(
        opt_error, IDM_SYSTEM,
        "planning with a discount of %.17g used up its memory with bounds on the value "
        "still %.1e apart; give a larger gap, or a prior that keeps the discount from 1",
        idm_theta_scalar(theta, IDM_DISCOUNT), report.bound);
  if (report.stop == IDM_STOP_ROUNDING && is_open(theta, workspace, &report))
    return idm_fail(opt_error, IDM_NUMERICAL,
                    "with a discount of %.17g bounds on the value stay %.1e apart for rounding",
                    idm_theta_scalar(theta, IDM_DISCOUNT), report.bound);
  return IDM_OK;
}

typedef struct watched {
  idm_halt *halt;
  void (*task)(void *context, size_t index);
  void *context;
} watched;

static void run_task(void *context, size_t index)
{
  const watched *w = context;
  w->task(w->context, index);
}

static void watch(void *context)
{
  idm_halt_ask(((const watched *)context)->halt);
}

idm_status idm_halt_parallel(idm_halt *opt_halt, size_t count, int threads,
                             void (*task)(void *context, size_t index), void *context,
                             idm_error *opt_error)
{
  /* Alone, the owner asks by itself, from within. */
  if (!opt_halt || (!opt_halt->watch && !(opt_halt->limit > 0)) || threads < 2)
    return idm_parallel(count, threads, task, NULL, context, opt_error);
  watched w = {opt_halt, task, context};
  return idm_parallel(count, threads, run_task, watch, &w, opt_error);
}
