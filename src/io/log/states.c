/* States of a log, where they are observed: s_{t+1} is what was seen after u_t. */
#include "io/log/states.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static size_t row_at(const uint32_t *order, size_t position)
{
  return order ? order[position] : position;
}

#define fail_row(log, row, opt_error, ...)                                                         \
  idm_fail_at(opt_error, idm_log_file(log, row), (long)(log)->line[row],                           \
              (long)(log)->action_column[row], __VA_ARGS__)

/* What was seen after a row is the state on the next. */
static idm_status join_rows(idm_log *log, size_t row, size_t next, idm_error *opt_error)
{
  const char *const *name = (const char *const *)log->problem->setting->states.name;
  const int32_t seen = log->observation[row];
  const int32_t state = log->state[next];
  if (seen >= 0 && state >= 0 && seen != state)
    return fail_row(log, next, opt_error,
                    "the state is '%s' here, and what was seen on line %lu before it is '%s'; "
                    "where both are given they must agree",
                    name[state], (unsigned long)log->line[row], name[seen]);
  if (seen < 0) log->observation[row] = state;
  return IDM_OK;
}

/* The trajectory starts in the state on its first row. */
static idm_status start_at(idm_log *log, size_t trajectory, size_t row, idm_error *opt_error)
{
  const size_t states = log->problem->setting->states.count;
  const int32_t state = log->state[row];
  idm_log_trajectory *known = &log->known[trajectory];
  if (state < 0) return IDM_OK;
  size_t length;
  if (known->start >= 0) {
    double belief;
    memcpy(&belief,
           idm_intern_text(&log->starts, (uint32_t)known->start, &length) +
               (size_t)state * sizeof belief,
           sizeof belief);
    if (!(belief > 0))
      return fail_row(log, row, opt_error,
                      "the first state is '%s', which the start belief beside it rules out",
                      log->problem->setting->states.name[state]);
  }
  uint32_t start;
  memset(log->number, 0, states * sizeof *log->number);
  log->number[state] = 1;
  if (!idm_intern_add(&log->starts, (const char *)log->number, states * sizeof *log->number,
                      &start))
    return idm_fail_memory(opt_error);
  known->start = (int32_t)start;
  return IDM_OK;
}

/* A row of a decision has every number; only one that closes a trajectory may lack them. */
static idm_status check_numbers(const idm_log *log, size_t row, idm_error *opt_error)
{
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++)
    if (log->evidence_number[c] && isnan(log->evidence_number[c][row]))
      return fail_row(log, row, opt_error,
                      "an empty cell for %s; expected a number on every row but one that only says "
                      "where a trajectory went",
                      idm_column_describe((idm_column)c)->what);
  return IDM_OK;
}

static bool is_closing(const idm_log *log, size_t row)
{
  return log->action[row] < 0 && !idm_log_is_missed(log, row) && log->state[row] >= 0;
}

static idm_status settle(idm_log *log, size_t trajectory, const uint32_t *order, size_t begin,
                         size_t end, bool *ret_closing, idm_error *opt_error)
{
  idm_status status = start_at(log, trajectory, row_at(order, begin), opt_error);
  for (size_t t = begin; t + 1 < end && status == IDM_OK; t++)
    status = join_rows(log, row_at(order, t), row_at(order, t + 1), opt_error);
  const size_t last = row_at(order, end - 1);
  *ret_closing = is_closing(log, last);
  for (size_t t = begin; t < end - *ret_closing && status == IDM_OK; t++)
    status = check_numbers(log, row_at(order, t), opt_error);
  if (status == IDM_OK && *ret_closing && end - begin == 1)
    status = fail_row(log, last, opt_error,
                      "a state and no action on the only row of a trajectory; expected a decision");
  return status;
}

/* The order without the rows that close a trajectory. */
static idm_status leave_out(const bool *closing, size_t trajectories, size_t *first,
                            uint32_t **order, idm_error *opt_error)
{
  const size_t rows = first[trajectories];
  uint32_t *kept = *order ? *order : idm_new(rows, sizeof *kept);
  if (!kept) return idm_fail_memory(opt_error);
  size_t used = 0;
  for (size_t i = 0; i < trajectories; i++) {
    const size_t begin = first[i];
    first[i] = used;
    for (size_t t = begin; t < first[i + 1] - closing[i]; t++)
      kept[used++] = (uint32_t)row_at(*order, t);
  }
  first[trajectories] = used;
  *order = kept;
  return IDM_OK;
}

idm_status idm_log_settle_states(idm_log *log, size_t *first, uint32_t **order, size_t *ret_closing,
                                 idm_error *opt_error)
{
  const size_t trajectories = log->trajectories.count;
  *ret_closing = 0;
  if (!log->state) return IDM_OK;
  bool *closing = idm_new(trajectories, sizeof *closing);
  if (!closing) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < trajectories && status == IDM_OK; i++) {
    status = settle(log, i, *order, first[i], first[i + 1], &closing[i], opt_error);
    *ret_closing += closing[i];
  }
  if (status == IDM_OK && *ret_closing)
    status = leave_out(closing, trajectories, first, order, opt_error);
  free(closing);
  return status;
}
