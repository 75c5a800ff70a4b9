/* Time limit of the checks that read the log: runs each check within its share of the time and
 * removes the results of a check that exceeds it. */
#include "invert/assess/context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seconds that the first checks share, and seconds that each later check has at least. */
static const double initial_seconds = 10, min_seconds = 1;

check_time_limit idm_check_time_begin(double seconds, idm_cancel *opt_cancel)
{
  return (check_time_limit){
      .cancel = opt_cancel, .seconds = seconds, .started = idm_timestamp_now()};
}

static bool is_limited(const check_time_limit *opt_time_limit)
{
  return opt_time_limit && opt_time_limit->seconds != 0;
}

/* Seconds of work available to the check that begins now. */
static double limit_of(const check_time_limit *a)
{
  const double worked = idm_seconds_worked(a->started), left = a->seconds - worked;
  const double first = fmin(initial_seconds, a->seconds) - worked;
  return fmax(fmax(left / 2, first), min_seconds);
}

/* --- results of a check ---------------------------------------------------------------------- */

/* Counts of notes, and results, before a check. */
typedef struct check_snapshot {
  size_t failures;
  size_t misfits;
  size_t remarks;
  idm_checks checks;
} check_snapshot;

static check_snapshot take_snapshot(const idm_assessment *a)
{
  return (check_snapshot){a->failures.count, a->misfits.count, a->remarks.count, a->checks};
}

static void truncate_notes(idm_notes *notes, size_t count)
{
  while (notes->count > count) free(notes->text[--notes->count]);
}

static void drop_intervals(idm_assessment *a)
{
  free(a->parameter);
  a->parameter = NULL;
  a->parameters = 0;
  a->identified = false;
}

static void drop_sensitivities(idm_assessment *a)
{
  for (size_t i = 0; a->sensitivity && i < a->sensitivities; i++)
    free(a->sensitivity[i].derivative);
  free(a->sensitivity);
  a->sensitivity = NULL;
  a->sensitivities = 0;
}

static void drop_lattice(idm_assessment *a)
{
  free(a->finer_shift);
  a->finer_shift = NULL;
  a->resolution = a->finer = 0;
}

static void drop_model(idm_assessment *a)
{
  free(a->model.between);
  free(a->model.extension);
  a->model = (idm_model_check){.log_likelihood = NAN, .uniform = NAN, .rates = NAN};
}

/* Remove what the check of a row stores in the assessment besides notes and results. */
static void drop(idm_assessment *a, idm_check_id id)
{
  if (id == IDM_CHECK_IDENTIFICATION) drop_intervals(a);
  if (id == IDM_CHECK_IMPORTANCE) idm_importance_check_clear(&a->importance);
  if (id == IDM_CHECK_LATTICE) drop_lattice(a);
  if (id == IDM_CHECK_SENSITIVITY || id == IDM_CHECK_DEPENDS) drop_sensitivities(a);
  if (id == IDM_CHECK_CHANCE) drop_model(a);
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Whether a row is recorded by a check of another row in this folder. */
static bool is_recorded_here(size_t row)
{
  static const char folder[] = "invert/assess/";
  const idm_check *at = idm_check_at(row);
  return at && at->owner && strncmp(at->owner, folder, sizeof folder - 1) == 0;
}

/* The last of the rows from `id` on that the check of `id` records: up to the next row with a
 * function or folder of its own. */
static size_t last_row(idm_check_id id)
{
  size_t last = (size_t)id;
  while (is_recorded_here(last + 1)) last++;
  return last;
}

static void skip_row(const check_context *q, size_t row)
{
  idm_checks *checks = &q->assessment->checks;
  if (idm_check_at(row)->log && checks->of[row].outcome < IDM_CHECK_PASSED &&
      idm_context_can_run(q, (idm_check_id)row))
    idm_check_leave_out(checks, (idm_check_id)row, q->opt_time_limit->seconds);
}

static void skip_rows(const check_context *q, idm_check_id id)
{
  drop(q->assessment, id);
  for (size_t row = (size_t)id; row <= last_row(id); row++) skip_row(q, row);
  if (id == IDM_CHECK_IDENTIFICATION) skip_row(q, IDM_CHECK_HIGHEST_POINT);
}

/* Whether a check reads the profile intervals, without which it would pass untested. */
static bool reads_intervals(idm_check_id id)
{
  return id == IDM_CHECK_PRIOR_CONFLICT || id == IDM_CHECK_PRIOR_PULL || id == IDM_CHECK_PRIOR_GAP;
}

static bool is_late(const check_time_limit *a)
{
  return is_limited(a) && a->cancel && a->cancel->timed_out;
}

idm_status idm_check_time_run(const check_context *q, idm_check_id id, idm_check_function *check,
                              idm_error *opt_error)
{
  const check_time_limit *limit = q->opt_time_limit;
  idm_assessment *a = q->assessment;
  if (!is_limited(limit)) return check(q, opt_error);
  const bool without_intervals =
      reads_intervals(id) && idm_check_is_left_out(&a->checks, IDM_CHECK_IDENTIFICATION);
  if (limit->seconds < 0 || without_intervals) {
    skip_rows(q, id);
    return IDM_OK;
  }
  const check_snapshot start = take_snapshot(a);
  if (limit->cancel) idm_cancel_extend(limit->cancel, limit_of(limit));
  const idm_status status = check(q, opt_error);
  const bool timed_out = is_late(limit);
  if (limit->cancel) idm_cancel_extend(limit->cancel, 0);
  if (!timed_out || status == IDM_MEMORY) return status;
  truncate_notes(&a->failures, start.failures);
  truncate_notes(&a->misfits, start.misfits);
  truncate_notes(&a->remarks, start.remarks);
  a->checks = start.checks;
  skip_rows(q, id);
  if (opt_error) *opt_error = (idm_error){0};
  return IDM_OK;
}

bool idm_check_time_skip(const check_context *q, idm_check_id id)
{
  const check_time_limit *limit = q->opt_time_limit;
  if (!is_late(limit)) return false;
  idm_check_leave_out(&q->assessment->checks, id, limit->seconds);
  idm_cancel_extend(limit->cancel, min_seconds);
  return true;
}
