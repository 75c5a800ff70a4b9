/* Groups of trajectories by the levels of a column or by predicates (docs/method/audit.md, 1).
 *
 * Contents: columns · levels · predicates */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/predicate.h"
#include "invert/audit.h"
#include "invert/audit/model.h"
#include "setting/model.h"

/* Largest number of levels of a column, and of predicates. More levels are for `idm fit --by`. */
enum { max_levels = 200, max_predicates = 12 };

void idm_groups_destroy(idm_groups *groups)
{
  if (!groups) return;
  idm_labels_destroy(&groups->name);
  free(groups->member);
  free(groups->missing);
  free(groups);
}

static idm_status create(bool partition, size_t count, size_t trajectories, idm_groups **ret_groups,
                         idm_error *opt_error)
{
  idm_groups *g = *ret_groups = idm_new(1, sizeof *g);
  if (!g) return idm_fail_memory(opt_error);
  g->partition = partition;
  g->trajectories = trajectories;
  g->member = idm_new(idm_times(count, trajectories), sizeof *g->member);
  g->missing = idm_new(count, sizeof *g->missing);
  if (!g->member || !g->missing) return idm_fail_memory(opt_error);
  return idm_labels_create(&g->name, count, opt_error);
}

/* --- columns -------------------------------------------------------------------------------- */

static idm_status find_column(const idm_data *data, const char *column, size_t *ret_covariate,
                              idm_error *opt_error)
{
  const long found = idm_labels_find(&data->covariate_name, column, strlen(column));
  *ret_covariate = found < 0 ? 0 : (size_t)found;
  if (found >= 0) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT, "the log has no column '%s'", column);
}

static const char *text_of(const idm_data *data, size_t covariate, int32_t level)
{
  return data->covariate_level[covariate].name[level];
}

/* Write some levels of a column for a message, as in "'a', 'b' and 3 more". Returns buffer. */
static const char *list_levels(const idm_data *data, size_t covariate, char *buffer, size_t size)
{
  enum { shown = 5 };
  const idm_labels *level = &data->covariate_level[covariate];
  size_t used = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < level->count && i < shown && used < size; i++)
    used +=
        (size_t)idm_print(buffer + used, size - used, "%s'%.40s'", i ? ", " : "", level->name[i]);
  if (level->count > shown && used < size)
    idm_print(buffer + used, size - used, " and %zu more", level->count - shown);
  return buffer;
}

static idm_status fail_change(const idm_data *data, size_t trajectory, size_t row, const char *what,
                              const char *norm_before, const char *norm_after, idm_error *opt_error)
{
  char number[24];
  idm_print(number, sizeof number, "%zu", trajectory + 1);
  const char *name = data->trajectory_name.count ? data->trajectory_name.name[trajectory] : number;
  idm_error_set(opt_error, IDM_INPUT, NULL, 0, 0,
                "'%.200s' varies within trajectory '%.100s': found %.80s after %.80s; groups are "
                "of whole trajectories, so take a column that is constant within each, or map "
                "another one as `trajectory`",
                what, name, norm_after, norm_before);
  idm_data_locate(data, row, opt_error);
  return IDM_INPUT;
}

/* --- levels --------------------------------------------------------------------------------- */

/* Read the level of each trajectory, which all its non-empty rows must share. level: [trajectory];
 * IDM_MISSING if all rows are empty. IDM_INPUT if the level varies within a trajectory. */
static idm_status read_levels(const idm_data *data, size_t covariate, int32_t *level,
                              idm_error *opt_error)
{
  const int32_t *cell = data->covariate + covariate * data->rows;
  for (size_t t = 0; t < data->trajectories; t++) {
    level[t] = IDM_MISSING;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      if (cell[row] == IDM_MISSING) continue;
      if (level[t] != IDM_MISSING && level[t] != cell[row])
        return fail_change(data, t, row, data->covariate_name.name[covariate],
                           text_of(data, covariate, level[t]), text_of(data, covariate, cell[row]),
                           opt_error);
      level[t] = cell[row];
    }
  }
  return IDM_OK;
}

typedef struct named_level {
  const char *text;
  int32_t level;
} named_level;

static int by_text(const void *a, const void *b)
{
  return strcmp(((const named_level *)a)->text, ((const named_level *)b)->text);
}

/* List the levels that occur in a trajectory, in alphabetical order. Returns their number. */
static size_t list_used(const idm_data *data, size_t covariate, const int32_t *level,
                        named_level *list)
{
  const size_t levels = data->covariate_level[covariate].count;
  size_t count = 0;
  for (size_t i = 0; i < levels; i++) list[i].level = IDM_MISSING;
  for (size_t t = 0; t < data->trajectories; t++)
    if (level[t] != IDM_MISSING) list[level[t]].level = level[t];
  for (size_t i = 0; i < levels; i++)
    if (list[i].level != IDM_MISSING)
      list[count++] = (named_level){text_of(data, covariate, (int32_t)i), (int32_t)i};
  qsort(list, count, sizeof *list, by_text);
  return count;
}

static idm_status check_levels(const char *column, const named_level *list, size_t count,
                               idm_error *opt_error)
{
  if (!count)
    return idm_fail(
        opt_error, IDM_INPUT,
        "the column '%s' is empty in every row; select a column that distinguishes groups", column);
  if (count == 1)
    return idm_fail(
        opt_error, IDM_INPUT,
        "every trajectory has '%.100s' in the column '%s': an audit compares at least two "
        "groups; use `idm fit` for one",
        list[0].text, column);
  if (count > max_levels)
    return idm_fail(
        opt_error, IDM_INPUT,
        "the column '%s' makes %zu groups, and an audit compares at most %d; use `idm fit "
        "--by %s`, or divide the column into classes",
        column, count, (int)max_levels, column);
  for (size_t i = 0; i < count; i++) {
    const bool is_all = strcmp(list[i].text, IDM_AUDIT_ALL) == 0;
    if (is_all || (count > IDM_AUDIT_MAX_PAIRED && strcmp(list[i].text, IDM_AUDIT_REST) == 0))
      return idm_fail(
          opt_error, IDM_INPUT,
          "the column '%s' has the level '%s', which is the reserved name of %s; rename the level",
          column, list[i].text, is_all ? "all groups together" : "the complement of a group");
  }
  return IDM_OK;
}

static void note_small_groups(const idm_groups *g, idm_notes *opt_notes)
{
  for (size_t i = 0; i < g->name.count; i++) {
    size_t members = 0;
    for (size_t t = 0; t < g->trajectories; t++) members += g->member[i * g->trajectories + t];
    if (members == 1)
      idm_notes_add(
          opt_notes,
          "the group '%.200s' is one trajectory: its estimates come mostly from the other "
          "groups or from the prior; join it to another group, or leave it out by --where",
          g->name.name[i]);
  }
}

static idm_status fill_levels(const idm_data *data, const char *column, const int32_t *level,
                              const named_level *list, size_t count, idm_groups *g,
                              idm_notes *opt_notes, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  size_t missing = 0;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    status = idm_labels_set(&g->name, i, list[i].text, strlen(list[i].text), opt_error);
    for (size_t t = 0; t < data->trajectories; t++)
      g->member[i * data->trajectories + t] = level[t] == list[i].level;
  }
  for (size_t t = 0; t < data->trajectories; t++) missing += level[t] == IDM_MISSING;
  for (size_t i = 0; i < count; i++) g->missing[i] = missing;
  if (missing)
    idm_notes_add(opt_notes,
                  "%zu of %zu trajectories have no '%s': they are in no group, and not in `all`",
                  missing, data->trajectories, column);
  if (status == IDM_OK) note_small_groups(g, opt_notes);
  return status;
}

idm_status idm_groups_by(const idm_data *data, const char *column, idm_groups **ret_groups,
                         idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(data, column, ret_groups);
  *ret_groups = NULL;
  size_t covariate;
  idm_status status = find_column(data, column, &covariate, opt_error);
  if (status != IDM_OK) return status;
  int32_t *level = idm_new(data->trajectories, sizeof *level);
  named_level *list = idm_new(data->covariate_level[covariate].count, sizeof *list);
  size_t count = 0;
  if (!level || !list) status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = read_levels(data, covariate, level, opt_error);
  if (status == IDM_OK) {
    count = list_used(data, covariate, level, list);
    status = check_levels(column, list, count, opt_error);
  }
  if (status == IDM_OK) status = create(true, count, data->trajectories, ret_groups, opt_error);
  if (status == IDM_OK)
    status = fill_levels(data, column, level, list, count, *ret_groups, opt_notes, opt_error);
  free(level);
  free(list);
  if (status != IDM_OK) {
    idm_groups_destroy(*ret_groups);
    *ret_groups = NULL;
  }
  return status;
}

/* --- predicates ----------------------------------------------------------------------------- */

/* Evaluate a predicate at every level of a column. match: [level]. IDM_INPUT if a level is not a
 * number and the predicate compares numbers. */
static idm_status match_levels(const idm_data *data, const idm_predicate *p, size_t covariate,
                               idm_predicate_result *match, idm_error *opt_error)
{
  const idm_labels *level = &data->covariate_level[covariate];
  for (size_t i = 0; i < level->count; i++) {
    const char *text = level->name[i];
    match[i] = idm_predicate_evaluate(p, text, strlen(text));
    if (match[i] != IDM_PREDICATE_INVALID) continue;
    size_t row = 0;
    while (data->covariate[covariate * data->rows + row] != (int32_t)i) row++;
    idm_error_set(
        opt_error, IDM_INPUT, NULL, 0, 0,
        "the column '%s' contains '%.60s', which is not a number and cannot be compared with %s",
        p->column, text, p->value);
    idm_data_locate(data, row, opt_error);
    return IDM_INPUT;
  }
  return IDM_OK;
}

/* Set the members of group `at`: the trajectories whose non-missing rows satisfy the predicate.
 * IDM_INPUT if rows of a trajectory disagree. */
static idm_status fill_members(const idm_data *data, const idm_predicate *p, size_t covariate,
                               const idm_predicate_result *match, size_t at, idm_groups *g,
                               idm_error *opt_error)
{
  const idm_predicate_result missing_match = idm_predicate_evaluate(p, NULL, 0);
  for (size_t t = 0; t < data->trajectories; t++) {
    idm_predicate_result found = IDM_PREDICATE_MISSING;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const int32_t level = data->covariate[covariate * data->rows + row];
      const idm_predicate_result row_match = level == IDM_MISSING ? missing_match : match[level];
      if (row_match == IDM_PREDICATE_MISSING) continue;
      if (found != IDM_PREDICATE_MISSING && found != row_match)
        return fail_change(data, t, row, g->name.name[at],
                           found == IDM_PREDICATE_TRUE ? "rows that meet it" : "rows that do not",
                           row_match == IDM_PREDICATE_TRUE ? "a row that meets it"
                                                           : "a row that does not",
                           opt_error);
      found = row_match;
    }
    g->member[at * g->trajectories + t] = found == IDM_PREDICATE_TRUE;
    g->missing[at] += found == IDM_PREDICATE_MISSING;
  }
  return IDM_OK;
}

static idm_status check_members(const idm_data *data, const idm_groups *g, size_t at,
                                size_t covariate, idm_notes *opt_notes, idm_error *opt_error)
{
  size_t members = 0;
  char levels[400];
  const char *name = g->name.name[at];
  for (size_t t = 0; t < g->trajectories; t++) members += g->member[at * g->trajectories + t];
  if (!members)
    return idm_fail(
        opt_error, IDM_INPUT, "no trajectory satisfies '%.200s'; the column '%s' contains %s", name,
        data->covariate_name.name[covariate], list_levels(data, covariate, levels, sizeof levels));
  if (members == g->trajectories)
    return idm_fail(opt_error, IDM_INPUT,
                    "every trajectory satisfies '%.200s': no trajectory is left to compare with",
                    name);
  if (g->missing[at])
    idm_notes_add(
        opt_notes,
        "%zu of %zu trajectories have no '%s': they do not satisfy '%.200s', and belong to "
        "the rest",
        g->missing[at], g->trajectories, data->covariate_name.name[covariate], name);
  return IDM_OK;
}

static idm_status add_predicate(const idm_data *data, const char *text, size_t at, idm_groups *g,
                                idm_notes *opt_notes, idm_error *opt_error)
{
  idm_predicate p = {0};
  size_t covariate = 0;
  char name[IDM_PATH_SIZE];
  idm_predicate_result *match = NULL;
  idm_status status = idm_predicate_parse(text, &data->covariate_name, &p, opt_error);
  if (status == IDM_OK) status = find_column(data, p.column, &covariate, opt_error);
  if (status == IDM_OK) {
    idm_predicate_text(&p, name, sizeof name);
    status = idm_labels_set(&g->name, at, name, strlen(name), opt_error);
    match = idm_new(data->covariate_level[covariate].count, sizeof *match);
    if (status == IDM_OK && !match) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) status = match_levels(data, &p, covariate, match, opt_error);
  if (status == IDM_OK) status = fill_members(data, &p, covariate, match, at, g, opt_error);
  if (status == IDM_OK) status = check_members(data, g, at, covariate, opt_notes, opt_error);
  free(match);
  idm_predicate_clear(&p);
  return status;
}

/* Gram-Schmidt step: subtract from the membership column `at` its projection on the constant and on
 * the groups before it, and store the normalised residual in row `at` + 1 of basis[count +
 * 1][trajectory]. Returns false if the column is a linear combination of them. */
static bool is_independent(const idm_groups *g, size_t at, double *basis)
{
  const size_t n = g->trajectories;
  double *residual = basis + (at + 1) * n;
  double norm_before = 0;
  double norm_after = 0;
  for (size_t t = 0; t < n; t++) {
    residual[t] = g->member[at * n + t];
    norm_before += residual[t] * residual[t];
  }
  for (size_t k = 0; k <= at; k++) {
    double projection = 0;
    for (size_t t = 0; t < n; t++) projection += basis[k * n + t] * residual[t];
    for (size_t t = 0; t < n; t++) residual[t] -= projection * basis[k * n + t];
  }
  for (size_t t = 0; t < n; t++) norm_after += residual[t] * residual[t];
  for (size_t t = 0; t < n && norm_after > 0; t++) residual[t] /= sqrt(norm_after);
  return norm_after > 1e-9 * norm_before;
}

static idm_status check_collinear(const idm_groups *g, idm_error *opt_error)
{
  const size_t n = g->trajectories;
  double *basis = idm_new(idm_times(g->name.count + 1, n), sizeof *basis);
  if (!basis) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t t = 0; t < n; t++) basis[t] = 1 / sqrt((double)n);
  for (size_t i = 0; i < g->name.count && status == IDM_OK; i++)
    if (!is_independent(g, i, basis))
      status =
          idm_fail(opt_error, IDM_INPUT,
                   "membership in '%.200s' is a linear combination of the other predicates: their "
                   "effects are not identified; leave one out, or use --by for groups that "
                   "exclude each other",
                   g->name.name[i]);
  free(basis);
  return status;
}

idm_status idm_groups_where(const idm_data *data, const char *const *predicate, size_t count,
                            idm_groups **ret_groups, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(data, predicate, ret_groups);
  *ret_groups = NULL;
  if (!count || count > max_predicates)
    return idm_fail(opt_error, IDM_USAGE, "an audit takes from 1 to %d predicates, not %zu",
                    (int)max_predicates, count);
  idm_status status = create(false, count, data->trajectories, ret_groups, opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = add_predicate(data, predicate[i], i, *ret_groups, opt_notes, opt_error);
  if (status == IDM_OK) status = check_collinear(*ret_groups, opt_error);
  if (status == IDM_OK) note_small_groups(*ret_groups, opt_notes);
  if (status != IDM_OK) {
    idm_groups_destroy(*ret_groups);
    *ret_groups = NULL;
  }
  return status;
}
