/* Summaries of a log for its problem: counts of labels, lengths, and observations against the
 * dynamics. */

#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "data/log.h"

void idm_lint_destroy(idm_lint *lint)
{
  if (!lint) return;
  void *const arrays[] = {lint->action,   lint->observation, lint->observed,
                          lint->expected, lint->start,       lint->transition,
                          lint->emission, lint->impossible,  lint->allowed};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  free(lint);
}

/* --- labels and lengths --------------------------------------------------------------------- */

static void count_labels(idm_lint *lint, const idm_data *data)
{
  for (size_t row = 0; row < data->rows; row++) {
    const int32_t action = data->action[row];
    const int32_t observed = data->observation[row];
    ++*(idm_data_missed(data, row) ? &lint->missed
        : action < 0               ? &lint->action_missing
                                   : &lint->action[action]);
    ++*(observed < 0 ? &lint->observation_missing : &lint->observation[observed]);
  }
}

static idm_status measure_lengths(idm_lint *lint, const idm_data *data, idm_error *opt_error)
{
  const size_t n = data->trajectories;
  double *length = idm_new(n, sizeof *length);
  if (!length) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < n; i++) {
    length[i] = (double)(data->first[i + 1] - data->first[i]);
    lint->single += length[i] == 1;
  }
  idm_sort(length, n);
  lint->shortest = (size_t)length[0];
  lint->longest = (size_t)length[n - 1];
  lint->median = idm_sorted_quantile(length, n, 0.5);
  lint->mean = (double)data->rows / (double)n;
  free(length);
  return IDM_OK;
}

/* --- dynamics ------------------------------------------------------------------------------- */

/* Number of models in which an action can give an observation. */
static size_t count_models(const idm_problem *problem, size_t action, size_t observed)
{
  if (problem->setting->moves) return 0;
  const idm_sizes n = idm_setting_sizes(problem->setting);
  const double *emission = problem->theta->block[IDM_EMISSION].value;
  size_t count = 0;
  for (size_t m = 0; m < problem->theta->models; m++) {
    bool possible = false;
    for (size_t s = 0; s < n.states; s++)
      possible =
          possible ||
          emission[((m * n.actions + action) * n.states + s) * n.observations + observed] > 0;
    count += possible;
  }
  return count;
}

static idm_status add_impossible(idm_lint *lint, const idm_problem *problem, const idm_data *data,
                                 size_t row, idm_error *opt_error)
{
  const size_t capacity = lint->impossibles + 1;
  if ((capacity & lint->impossibles) == 0) { /* a power of two: double the capacity */
    size_t *rows = realloc(lint->impossible, 2 * capacity * sizeof *rows);
    if (rows) lint->impossible = rows;
    size_t *allowed = realloc(lint->allowed, 2 * capacity * sizeof *allowed);
    if (allowed) lint->allowed = allowed;
    if (!rows || !allowed) return idm_fail_memory(opt_error);
  }
  lint->impossible[lint->impossibles] = row;
  lint->allowed[lint->impossibles++] =
      count_models(problem, (size_t)data->action[row], (size_t)data->observation[row]);
  return IDM_OK;
}

/* With sparse transitions: list the rows whose next state is impossible. */
static idm_status check_sparse(idm_lint *lint, const idm_problem *problem, const idm_data *data,
                               idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  idm_status status = IDM_OK;
  for (size_t row = 0; row < data->rows && status == IDM_OK; row++) {
    const int32_t state = data->state ? data->state[row] : IDM_MISSING;
    const int32_t action = data->action[row];
    const int32_t observed = data->observation[row];
    if (state < 0 || action < 0 || observed < 0 || setting->terminal[action]) continue;
    const size_t at = (size_t)action * data->sizes.states + (size_t)state;
    if (!(idm_sparse_rows_probability(setting->moves, at, (size_t)observed) > 0))
      status = add_impossible(lint, problem, data, row, opt_error);
  }
  return status;
}

static idm_status filter_rows(idm_lint *lint, const idm_problem *problem, const idm_data *data,
                              idm_error *opt_error)
{
  idm_smoother smoother = {0};
  const bool posterior = lint->states == IDM_LINT_POSTERIOR;
  const idm_expected_counts counts = {lint->observed, lint->expected,
                                      posterior ? lint->start : NULL, lint->transition,
                                      lint->emission};
  idm_status status = idm_smoother_create(&smoother, lint->longest, data->sizes.states)
                          ? IDM_OK
                          : idm_fail_memory(opt_error);
  for (size_t i = 0; i < data->trajectories && status == IDM_OK; i++) {
    const size_t end = data->first[i + 1];
    const size_t row =
        data->first[i] + idm_smoother_run(problem->setting, data, i, &smoother, &counts);
    lint->unfiltered += end - row;
    if (row < end && data->action[row] >= 0)
      status = add_impossible(lint, problem, data, row, opt_error);
  }
  idm_smoother_clear(&smoother);
  return status;
}

/* --- a column of states --------------------------------------------------------------------- */

/* State of a row, or -1. */
static long state_of(const idm_problem *problem, const idm_data *data, size_t covariate, size_t row)
{
  const int32_t level = data->covariate[covariate * data->rows + row];
  if (level < 0) return -1;
  const idm_labels *states = &problem->setting->states;
  const char *name = data->covariate_level[covariate].name[level];
  for (size_t s = 0; s < states->count; s++)
    if (strcmp(states->name[s], name) == 0) return (long)s;
  return -1;
}

static void count_row(idm_lint *lint, const idm_setting *setting, const idm_data *data, size_t row,
                      long state, long next)
{
  const size_t k = lint->sizes.states;
  const int32_t action = data->action[row];
  const int32_t observed = data->observation[row];
  const long emitter = setting->emits_before ? state : next;
  if (action < 0 || setting->terminal[action]) return;
  if (state >= 0 && next >= 0)
    lint->transition[((size_t)action * k + (size_t)state) * k + (size_t)next]++;
  if (emitter >= 0 && observed >= 0)
    lint->emission[((size_t)action * k + (size_t)emitter) * lint->sizes.observations +
                   (size_t)observed]++;
}

static idm_status count_states(idm_lint *lint, const idm_problem *problem, const idm_data *data,
                               const char *column, idm_error *opt_error)
{
  size_t c = 0;
  while (c < data->covariates && strcmp(data->covariate_name.name[c], column) != 0) c++;
  if (c == data->covariates)
    return idm_fail(opt_error, IDM_USAGE, "the data have no column '%s' of states", column);
  size_t labelled = 0;
  for (size_t i = 0; i < data->trajectories; i++) {
    long state = state_of(problem, data, c, data->first[i]);
    if (state >= 0) lint->start[state]++;
    for (size_t row = data->first[i]; row < data->first[i + 1]; row++) {
      const long next = row + 1 < data->first[i + 1] ? state_of(problem, data, c, row + 1) : -1;
      labelled += state >= 0;
      count_row(lint, problem->setting, data, row, state, next);
      state = next;
    }
  }
  lint->unlabelled = data->rows - labelled;
  if (labelled) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT, "no cell of the column '%s' is the label of a state",
                  column);
}

/* --- all ------------------------------------------------------------------------------------- */

static idm_status create(const idm_problem *problem, const char *opt_state, idm_lint **ret_lint,
                         idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  const idm_sizes n = idm_setting_sizes(setting);
  idm_lint *lint = idm_new(1, sizeof *lint);
  if (!lint) return idm_fail_memory(opt_error);
  *ret_lint = lint;
  lint->sizes = n;
  const bool known = setting->transition && setting->emission;
  lint->states = opt_state ? IDM_LINT_COLUMN : known ? IDM_LINT_POSTERIOR : IDM_LINT_NO_STATES;
  lint->action = idm_new(n.actions, sizeof *lint->action);
  lint->observation = idm_new(n.observations, sizeof *lint->observation);
  bool made = lint->action && lint->observation;
  if (known) {
    lint->observed = idm_new(idm_times(n.actions, n.observations), sizeof *lint->observed);
    lint->expected = idm_new(idm_times(n.actions, n.observations), sizeof *lint->expected);
    made = made && lint->observed && lint->expected;
  }
  if (lint->states != IDM_LINT_NO_STATES) {
    const size_t rows = idm_times(n.actions, n.states);
    lint->start = idm_new(n.states, sizeof *lint->start);
    lint->transition = idm_new(idm_times(rows, n.states), sizeof *lint->transition);
    lint->emission = idm_new(idm_times(rows, n.observations), sizeof *lint->emission);
    made = made && lint->start && lint->transition && lint->emission;
  }
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

idm_status idm_lint_create(const idm_problem *problem, const idm_data *data, const char *opt_state,
                           idm_lint **ret_lint, idm_error *opt_error)
{
  idm_require(problem, data, ret_lint);
  *ret_lint = NULL;
  idm_status status = idm_data_validate(data, problem->setting, opt_error);
  idm_lint *lint = NULL;
  if (status == IDM_OK) status = create(problem, opt_state, &lint, opt_error);
  if (status == IDM_OK) count_labels(lint, data);
  if (status == IDM_OK) status = measure_lengths(lint, data, opt_error);
  if (status == IDM_OK && lint->observed) status = filter_rows(lint, problem, data, opt_error);
  if (status == IDM_OK && problem->setting->moves)
    status = check_sparse(lint, problem, data, opt_error);
  if (status == IDM_OK && opt_state)
    status = count_states(lint, problem, data, opt_state, opt_error);
  if (status != IDM_OK) {
    idm_lint_destroy(lint);
    return status;
  }
  *ret_lint = lint;
  return IDM_OK;
}
