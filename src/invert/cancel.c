/* Cancellation of all evaluations of a fit, on any thread, by a monitor or a time limit. */
#include "invert/cancel.h"

#include <stdio.h>

#include "base/system.h"
#include "setting/model.h"

/* Seconds between two calls of the monitor, and before the first: shorter work is not interrupted,
 * since a later stage may write a checkpoint. */
static const double poll_interval = 0.1, first_poll_delay = 0.8;

void idm_cancel_init(idm_cancel *cancel, const idm_fit_monitor *opt_monitor, const char *activity)
{
  *cancel = (idm_cancel){.watch = opt_monitor && opt_monitor->progress ? opt_monitor : NULL,
                         .activity = activity,
                         .owner = pthread_self(),
                         .last_poll = idm_seconds() + first_poll_delay - poll_interval};
}

static void describe(const void *content, char *buffer, size_t size)
{
  snprintf(buffer, size, "%s", ((const idm_cancel *)content)->activity);
}

/* Wall time bounds work time from above, and is faster to read. */
static bool limit_reached(const idm_cancel *cancel, double now)
{
  return cancel->limit > 0 && now - cancel->limit_start.wall_time >= cancel->limit &&
         idm_seconds_worked(cancel->limit_start) >= cancel->limit;
}

bool idm_cancel_poll(idm_cancel *cancel)
{
  const double now = idm_seconds();
  if (cancel->stop) return true;
  if (limit_reached(cancel, now)) cancel->timed_out = cancel->stop = true;
  if (!cancel->watch || cancel->stop || now - cancel->last_poll < poll_interval)
    return cancel->stop;
  const idm_progress_state work = {.done = cancel->done, .content = cancel, .describe = describe};
  cancel->last_poll = now;
  if (cancel->watch->progress(cancel->watch->context, &work)) cancel->stop = true;
  return cancel->stop;
}

void idm_cancel_extend(idm_cancel *cancel, double seconds)
{
  cancel->limit_start = idm_timestamp_now();
  cancel->limit = seconds;
  if (cancel->timed_out) cancel->stop = false;
  cancel->timed_out = false;
}

idm_status idm_cancel_check(idm_cancel *opt_cancel, idm_error *opt_error)
{
  if (!opt_cancel) return IDM_OK;
  if (pthread_equal(pthread_self(), opt_cancel->owner)) idm_cancel_poll(opt_cancel);
  return opt_cancel->stop ? idm_fail(opt_error, IDM_UNTRUSTED, "interrupted") : IDM_OK;
}

static bool is_cancelled(void *cancel, double lower, double upper)
{
  (void)lower;
  (void)upper;
  return idm_cancel_check(cancel, NULL) != IDM_OK;
}

/* Whether a search ended with loose bounds: a gap per step above a thousandth of the range of the
 * utilities. */
static bool has_loose_bounds(const idm_theta *theta, const idm_workspace *workspace,
                             const idm_plan_report *report)
{
  static const double loose_gap = 1e-3;
  return idm_workspace_planner(workspace)->search &&
         report->bound * (1 - idm_theta_scalar(theta, IDM_DISCOUNT)) >
             loose_gap * idm_theta_utility_range(theta);
}

idm_status idm_cancel_plan(idm_cancel *opt_cancel, const idm_theta *theta, const idm_solver *solver,
                           idm_workspace *workspace, idm_error *opt_error)
{
  idm_solver cancellable = *solver;
  cancellable.opt_monitor = is_cancelled;
  cancellable.monitor_context = opt_cancel;
  idm_plan_report report;
  const idm_status status = idm_plan(theta, &cancellable, workspace, &report, opt_error);
  if (status != IDM_OK) return status;
  if (report.stop == IDM_STOP_INTERRUPT) return idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  if (report.stop == IDM_STOP_MEMORY)
    return idm_fail(
        opt_error, IDM_SYSTEM,
        "planning with a discount of %.17g used up its memory with bounds on the value "
        "still %.1e apart; give a larger gap, or a prior that keeps the discount from 1",
        idm_theta_scalar(theta, IDM_DISCOUNT), report.bound);
  if (report.stop == IDM_STOP_ROUNDING && has_loose_bounds(theta, workspace, &report))
    return idm_fail(
        opt_error, IDM_NUMERICAL,
        "with a discount of %.17g bounds on the value stay %.1e apart because of rounding",
        idm_theta_scalar(theta, IDM_DISCOUNT), report.bound);
  return IDM_OK;
}

typedef struct cancellable {
  idm_cancel *cancel;
  void (*task)(void *context, size_t index);
  void *context;
} cancellable;

static void run_task(void *context, size_t index)
{
  const cancellable *w = context;
  w->task(w->context, index);
}

static void watch(void *context)
{
  idm_cancel_poll(((const cancellable *)context)->cancel);
}

idm_status idm_cancel_parallel(idm_cancel *opt_cancel, size_t count, int threads,
                               void (*task)(void *context, size_t index), void *context,
                               idm_error *opt_error)
{
  /* With one thread, the owner polls during the tasks. */
  if (!opt_cancel || (!opt_cancel->watch && !(opt_cancel->limit > 0)) || threads < 2)
    return idm_parallel(count, threads, task, NULL, context, opt_error);
  cancellable w = {opt_cancel, task, context};
  return idm_parallel(count, threads, run_task, watch, &w, opt_error);
}
