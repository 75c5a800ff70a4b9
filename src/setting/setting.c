/* Settings: sparse transitions, labels, dynamics, start, and ends of episodes.
 *
 * Contents: moves · setting */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "idm/extension/setting.h"
#include "setting/model.h"

/* === moves ================================================================================== */

/* Sparse transitions of observed states. */

idm_status idm_sparse_rows_create(size_t rows, size_t entries, idm_sparse_rows **ret_sparse,
                                  idm_error *opt_error)
{
  idm_require(ret_sparse);
  *ret_sparse = NULL;
  idm_sparse_rows *moves = idm_new(1, sizeof *moves);
  if (!moves) return idm_fail_memory(opt_error);
  moves->rows = rows;
  moves->first = idm_new(rows + 1, sizeof *moves->first);
  moves->next = idm_new(entries, sizeof *moves->next);
  moves->probability = idm_new(entries, sizeof *moves->probability);
  if (!moves->first || !moves->next || !moves->probability) {
    idm_sparse_rows_destroy(moves);
    return idm_fail_memory(opt_error);
  }
  *ret_sparse = moves;
  return IDM_OK;
}

void idm_sparse_rows_destroy(idm_sparse_rows *moves)
{
  if (!moves) return;
  free(moves->first);
  free(moves->next);
  free(moves->probability);
  free(moves);
}

idm_status idm_sparse_rows_copy(const idm_sparse_rows *moves, idm_sparse_rows **ret_sparse,
                                idm_error *opt_error)
{
  idm_require(moves, ret_sparse);
  const size_t entries = moves->first[moves->rows];
  const idm_status status = idm_sparse_rows_create(moves->rows, entries, ret_sparse, opt_error);
  if (status != IDM_OK) return status;
  memcpy((*ret_sparse)->first, moves->first, (moves->rows + 1) * sizeof *moves->first);
  memcpy((*ret_sparse)->next, moves->next, entries * sizeof *moves->next);
  memcpy((*ret_sparse)->probability, moves->probability, entries * sizeof *moves->probability);
  return IDM_OK;
}

double idm_sparse_rows_probability(const idm_sparse_rows *moves, size_t row, size_t next)
{
  if (!moves || row >= moves->rows) return 0;
  size_t low = moves->first[row];
  size_t high = moves->first[row + 1];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (moves->next[middle] == next) return moves->probability[middle];
    if (moves->next[middle] < next)
      low = middle + 1;
    else
      high = middle;
  }
  return 0;
}

/* Whether a row is a distribution over states in ascending order. */
static bool is_distribution_row(const idm_sparse_rows *moves, size_t row, size_t states)
{
  static const double tolerance = 1e-4; /* for the sum of a row, as in idm_setting_validate */
  double sum = 0;
  for (size_t i = moves->first[row]; i < moves->first[row + 1]; i++) {
    const double p = moves->probability[i];
    if (!(p > 0) || !isfinite(p) || moves->next[i] >= states) return false;
    if (i > moves->first[row] && moves->next[i - 1] >= moves->next[i]) return false;
    sum += p;
  }
  return fabs(sum - 1) <= tolerance;
}

idm_status idm_sparse_rows_validate(const idm_sparse_rows *moves, idm_sizes sizes,
                                    idm_error *opt_error)
{
  idm_require(moves);
  if (moves->rows != sizes.actions * sizes.states || moves->first[0])
    return idm_fail(opt_error, IDM_INPUT, "the sparse transitions have %zu rows; expected %zu",
                    moves->rows, sizes.actions * sizes.states);
  for (size_t row = 0; row < moves->rows; row++)
    if (moves->first[row] > moves->first[row + 1] || !is_distribution_row(moves, row, sizes.states))
      return idm_fail(
          opt_error, IDM_INPUT,
          "row %zu of the transition is not a distribution over states in ascending order", row);
  return IDM_OK;
}

bool idm_sparse_rows_same(const idm_sparse_rows *a, const idm_sparse_rows *b)
{
  if (!a || !b) return a == b;
  if (a->rows != b->rows || memcmp(a->first, b->first, (a->rows + 1) * sizeof *a->first) != 0)
    return false;
  const size_t entries = a->first[a->rows];
  return memcmp(a->next, b->next, entries * sizeof *a->next) == 0 &&
         memcmp(a->probability, b->probability, entries * sizeof *a->probability) == 0;
}

/* === setting ================================================================================ */

/* The setting: labels, dynamics, start, and ends of episodes. */

/* Largest accepted |sum - 1| of a row: files contain rounded decimals such as 0.333333. */
static const double row_tolerance = 1e-4;

idm_status idm_labels_create(idm_labels *labels, size_t count, idm_error *opt_error)
{
  idm_require(labels);
  labels->count = 0;
  labels->name = idm_new(count, sizeof *labels->name);
  if (!labels->name) return idm_fail_memory(opt_error);
  labels->count = count;
  return IDM_OK;
}

void idm_labels_destroy(idm_labels *labels)
{
  if (!labels) return;
  for (size_t i = 0; i < labels->count; i++) free(labels->name[i]);
  free(labels->name);
  *labels = (idm_labels){0};
}

idm_status idm_labels_copy(const idm_labels *labels, idm_labels *ret_labels, idm_error *opt_error)
{
  idm_require(labels, ret_labels);
  *ret_labels = (idm_labels){0};
  if (!labels->count) return IDM_OK;
  idm_status status = idm_labels_create(ret_labels, labels->count, opt_error);
  for (size_t i = 0; i < labels->count && status == IDM_OK; i++)
    status = idm_labels_set(ret_labels, i, labels->name[i], strlen(labels->name[i]), opt_error);
  if (status != IDM_OK) idm_labels_destroy(ret_labels);
  return status;
}

bool idm_labels_same(const idm_labels *a, const idm_labels *b)
{
  if (!a || !b) return false;
  bool same = a->count == b->count;
  for (size_t i = 0; same && i < a->count; i++) same = strcmp(a->name[i], b->name[i]) == 0;
  return same;
}

idm_status idm_labels_set(idm_labels *labels, size_t index, const char *name, size_t length,
                          idm_error *opt_error)
{
  idm_require(labels, name);
  if (index >= labels->count)
    return idm_fail(opt_error, IDM_USAGE, "there is no name %zu: there are %zu", index,
                    labels->count);
  char *copy = idm_text_copy(name, length);
  if (!copy) return idm_fail_memory(opt_error);
  free(labels->name[index]);
  labels->name[index] = copy;
  return IDM_OK;
}

long idm_labels_find(const idm_labels *labels, const char *text, size_t length)
{
  if (!labels || !text) return -1;
  for (size_t i = 0; i < labels->count; i++)
    if (labels->name[i] && strlen(labels->name[i]) == length &&
        memcmp(labels->name[i], text, length) == 0)
      return (long)i;
  if (length == 0 || length > 9) return -1;
  long number = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return -1;
    number = 10 * number + (text[i] - '0');
  }
  return (size_t)number < labels->count ? number : -1;
}

static idm_status numbered_labels(idm_labels *labels, size_t count, idm_error *opt_error)
{
  idm_status status = idm_labels_create(labels, count, opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    char name[24];
    const int length = snprintf(name, sizeof name, "%zu", i);
    status = idm_labels_set(labels, i, name, (size_t)length, opt_error);
  }
  return status;
}

idm_status idm_setting_create(idm_sizes sizes, bool with_transition, bool with_emission,
                              idm_setting **ret_setting, idm_error *opt_error)
{
  idm_require(ret_setting);
  *ret_setting = NULL;
  if (!sizes.states || !sizes.actions || !sizes.observations)
    return idm_fail(opt_error, IDM_USAGE,
                    "a setting needs at least one state, one action and one observation");
  idm_setting *setting = idm_new(1, sizeof *setting);
  if (!setting) return idm_fail_memory(opt_error);

  const size_t pairs = idm_times(sizes.actions, sizes.states);
  idm_status status = numbered_labels(&setting->states, sizes.states, opt_error);
  if (status == IDM_OK) status = numbered_labels(&setting->actions, sizes.actions, opt_error);
  if (status == IDM_OK)
    status = numbered_labels(&setting->observations, sizes.observations, opt_error);
  if (status != IDM_OK) goto fail;

  setting->name = idm_text_copy("", 0);
  setting->start = idm_new(sizes.states, sizeof *setting->start);
  setting->terminal = idm_new(sizes.actions, sizeof *setting->terminal);
  setting->transition_shared = idm_new(sizes.actions, sizeof *setting->transition_shared);
  setting->emission_shared = idm_new(sizes.actions, sizeof *setting->emission_shared);
  setting->ends = idm_new(sizes.actions, sizeof *setting->ends);
  setting->terminal_state = idm_new(sizes.states, sizeof *setting->terminal_state);
  if (with_transition)
    setting->transition = idm_new(idm_times(pairs, sizes.states), sizeof *setting->transition);
  if (with_emission)
    setting->emission = idm_new(idm_times(pairs, sizes.observations), sizeof *setting->emission);
  if (!setting->name || !setting->start || !setting->terminal || !setting->ends ||
      !setting->terminal_state || !setting->transition_shared || !setting->emission_shared ||
      (with_transition && !setting->transition) || (with_emission && !setting->emission)) {
    status = idm_fail_memory(opt_error);
    goto fail;
  }
  for (size_t s = 0; s < sizes.states; s++) setting->start[s] = 1.0 / (double)sizes.states;
  for (size_t u = 0; u < sizes.actions; u++)
    setting->transition_shared[u] = setting->emission_shared[u] = true;
  *ret_setting = setting;
  return IDM_OK;

fail:
  idm_setting_destroy(setting);
  return status;
}

void idm_setting_destroy(idm_setting *setting)
{
  if (!setting) return;
  free(setting->name);
  idm_labels_destroy(&setting->states);
  idm_labels_destroy(&setting->actions);
  idm_labels_destroy(&setting->observations);
  free(setting->transition);
  free(setting->emission);
  idm_sparse_rows_destroy(setting->moves);
  free(setting->start);
  free(setting->terminal);
  free(setting->ends);
  free(setting->terminal_state);
  free(setting->transition_shared);
  free(setting->emission_shared);
  free(setting);
}

/* Copy everything but matrices and sparse transitions into a setting of the same sizes. */
static idm_status copy_labels_and_flags(const idm_setting *from, idm_setting *to,
                                        idm_error *opt_error)
{
  char *name = idm_text_copy(from->name, strlen(from->name));
  if (!name) return idm_fail_memory(opt_error);
  free(to->name);
  to->name = name;
  idm_labels_destroy(&to->states);
  idm_labels_destroy(&to->actions);
  idm_labels_destroy(&to->observations);
  idm_status status = idm_labels_copy(&from->states, &to->states, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&from->actions, &to->actions, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&from->observations, &to->observations, opt_error);
  if (status != IDM_OK) return status;
  const idm_sizes n = idm_setting_sizes(from);
  memcpy(to->start, from->start, n.states * sizeof *to->start);
  memcpy(to->terminal, from->terminal, n.actions * sizeof *to->terminal);
  memcpy(to->ends, from->ends, n.actions * sizeof *to->ends);
  memcpy(to->terminal_state, from->terminal_state, n.states * sizeof *to->terminal_state);
  memcpy(to->transition_shared, from->transition_shared, n.actions * sizeof *to->terminal);
  memcpy(to->emission_shared, from->emission_shared, n.actions * sizeof *to->terminal);
  to->horizon = from->horizon;
  to->fully_observed = from->fully_observed;
  to->emits_before = from->emits_before;
  return IDM_OK;
}

idm_status idm_setting_copy(const idm_setting *setting, idm_setting **ret_setting,
                            idm_error *opt_error)
{
  idm_require(setting, ret_setting);
  const idm_sizes n = idm_setting_sizes(setting);
  const size_t pairs = n.actions * n.states;
  idm_setting *copy = NULL;
  *ret_setting = NULL;
  idm_status status =
      idm_setting_create(n, setting->transition, setting->emission, &copy, opt_error);
  if (status == IDM_OK) status = copy_labels_and_flags(setting, copy, opt_error);
  if (status == IDM_OK && setting->moves)
    status = idm_sparse_rows_copy(setting->moves, &copy->moves, opt_error);
  if (status != IDM_OK) {
    idm_setting_destroy(copy);
    return status;
  }
  if (setting->transition)
    memcpy(copy->transition, setting->transition, pairs * n.states * sizeof *copy->transition);
  if (setting->emission)
    memcpy(copy->emission, setting->emission, pairs * n.observations * sizeof *copy->emission);
  *ret_setting = copy;
  return IDM_OK;
}

bool idm_sizes_same(idm_sizes a, idm_sizes b)
{
  return a.states == b.states && a.actions == b.actions && a.observations == b.observations;
}

idm_sizes idm_setting_sizes(const idm_setting *setting)
{
  if (!setting) return (idm_sizes){0};
  return (idm_sizes){setting->states.count, setting->actions.count, setting->observations.count};
}

/* |sum - 1| of a row, or -1 where the row is not a distribution. */
static double deviation(const double *row, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    if (!(row[i] >= 0) || !isfinite(row[i])) return -1;
    sum += row[i];
  }
  const double off = fabs(sum - 1);
  return off <= row_tolerance ? off : -1;
}

double idm_normalise(double *row, size_t count)
{
  if (!row) return NAN;
  const double off = deviation(row, count);
  /* Do not change a row within rounding of 1, so that a row that is written and read again is the
   * same. */
  if (off <= 4e-16 * (double)count) return off;
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += row[i];
  for (size_t i = 0; i < count; i++) row[i] /= sum;
  return off;
}

bool idm_setting_has_dynamics(const idm_setting *setting)
{
  return setting && (setting->moves || (setting->transition && setting->emission));
}

static int compare_names(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static idm_status check_labels(const idm_labels *labels, const char *what, idm_error *opt_error)
{
  for (size_t i = 0; i < labels->count; i++)
    if (!labels->name[i] || !labels->name[i][0])
      return idm_fail(opt_error, IDM_INPUT, "%s %zu has an empty name", what, i);
  char **sorted = idm_duplicate(labels->name, labels->count, sizeof *sorted);
  if (!sorted) return idm_fail_memory(opt_error);
  qsort(sorted, labels->count, sizeof *sorted, compare_names);
  idm_status status = IDM_OK;
  for (size_t i = 1; i < labels->count && status == IDM_OK; i++)
    if (strcmp(sorted[i - 1], sorted[i]) == 0)
      status = idm_fail(opt_error, IDM_INPUT, "%s '%s' is named twice", what, sorted[i]);
  free(sorted);
  return status;
}

static idm_status check_rows(const double *rows, size_t count, size_t width, const char *what,
                             idm_error *opt_error)
{
  for (size_t i = 0; rows && i < count; i++)
    if (deviation(rows + i * width, width) < 0)
      return idm_fail(
          opt_error, IDM_INPUT,
          "row %zu of the %s is no distribution: entries must be non-negative and sum to 1", i,
          what);
  return IDM_OK;
}

idm_status idm_setting_validate(const idm_setting *setting, idm_error *opt_error)
{
  idm_require(setting);
  const idm_sizes n = idm_setting_sizes(setting);
  const size_t pairs = n.actions * n.states;
  idm_status status = check_labels(&setting->states, "state", opt_error);
  if (status == IDM_OK) status = check_labels(&setting->actions, "action", opt_error);
  if (status == IDM_OK) status = check_labels(&setting->observations, "observation", opt_error);
  if (status == IDM_OK) status = check_rows(setting->start, 1, n.states, "start", opt_error);
  if (status == IDM_OK)
    status = check_rows(setting->transition, pairs, n.states, "transition", opt_error);
  if (status == IDM_OK)
    status = check_rows(setting->emission, pairs, n.observations, "observation matrix", opt_error);
  if (status == IDM_OK && setting->moves)
    status = idm_sparse_rows_validate(setting->moves, n, opt_error);
  if (status != IDM_OK) return status;
  if (setting->moves && (setting->transition || !setting->emission != setting->fully_observed))
    return idm_fail(opt_error, IDM_INPUT,
                    "transitions must be either sparse rows or matrices, and hidden states need an "
                    "observation matrix");
  if (setting->horizon < 0)
    return idm_fail(opt_error, IDM_INPUT, "the horizon is %d; it must be at least 1",
                    setting->horizon);
  if (setting->fully_observed && n.observations != n.states)
    return idm_fail(opt_error, IDM_INPUT, "a fully observed setting needs observations = states");
  if (setting->fully_observed && setting->emits_before)
    return idm_fail(opt_error, IDM_INPUT,
                    "observed states are those after the action: observations cannot come from the "
                    "state before it");
  for (size_t u = 0; u < n.actions; u++)
    if (setting->terminal[u] && !setting->ends[u])
      return idm_fail(opt_error, IDM_INPUT, "action '%s' is terminal but does not end the log",
                      setting->actions.name[u]);
  return IDM_OK;
}
