/* Covariates: a column of a formula as numbers, by trajectory. */
#include "invert/people/covariate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/moments.h"
#include "base/number.h"
#include "base/suggest.h"

/* A column under way. */
typedef struct maker {
  const idm_data *data;
  const idm_who *who;
  const idm_factor *factor;
  const char *formula;
  size_t column;           /* of the covariates that the data keep */
  const idm_labels *level; /* its texts */
  idm_covariate *made;
  idm_notes *opt_notes;
  idm_error *opt_error;
} maker;

void idm_covariate_clear(idm_covariate *covariate)
{
  idm_labels_destroy(&covariate->name);
  free(covariate->value);
  free(covariate->level);
  *covariate = (idm_covariate){0};
}

#define FAIL(m, ...) idm_fail((m)->opt_error, IDM_INPUT, __VA_ARGS__)

/* --- gaps ----------------------------------------------------------------------------------- */

/* Whether a person has two levels; own[person]: one of theirs, or IDM_MISSING. */
static bool varies_within(const maker *m, int32_t *own)
{
  bool within = false;
  for (size_t i = 0; i < m->who->people; i++) own[i] = IDM_MISSING;
  for (size_t t = 0; t < m->data->trajectories; t++) {
    const int32_t level = m->made->level[t];
    int32_t *of_person = &own[m->who->of_trajectory[t]];
    if (level == IDM_MISSING) continue;
    if (*of_person == IDM_MISSING) *of_person = level;
    within = within || *of_person != level;
  }
  return within;
}

/* A trajectory without the column is like its person's others, unless the column varies. */
static idm_status fill_gaps(const maker *m, const int32_t *own)
{
  const char *column = m->factor->column;
  size_t filled = 0;
  size_t missing = 0;
  size_t first = 0;
  for (size_t t = 0; t < m->data->trajectories; t++) {
    const int32_t level = m->made->within ? IDM_MISSING : own[m->who->of_trajectory[t]];
    if (m->made->level[t] != IDM_MISSING) continue;
    m->made->level[t] = level;
    if (level != IDM_MISSING)
      filled++;
    else if (!missing++)
      first = t;
  }
  if (filled)
    idm_notes_add(m->opt_notes,
                  "'%s' is empty in %zu trajectories: taken from the same people's others", column,
                  filled);
  if (!missing) return IDM_OK;
  char number[24];
  const idm_status status = FAIL(
      m,
      "the column '%.60s' is empty for %zu trajectories, the first of them '%.60s' of '%.60s'; "
      "fill it in, leave it out of '%.200s', or leave these rows out by --where '%.60s!='",
      column, missing, idm_who_trajectory(m->data, first, number, sizeof number),
      m->who->name.name[m->who->of_trajectory[first]], m->formula, column);
  idm_data_locate(m->data, m->data->first[first], m->opt_error);
  return status;
}

/* --- numbers -------------------------------------------------------------------------------- */

static bool read_number(const char *text, double *ret_number)
{
  char *end;
  *ret_number = idm_number_read(text, &end);
  return end != text && !*end && isfinite(*ret_number);
}

/* Whether all levels that are met are numbers; those that are not, where some are, are refused. */
static idm_status look_for_numbers(const maker *m, bool *ret_numeric)
{
  size_t numbers = 0;
  size_t other = m->data->trajectories;
  double number;
  for (size_t t = 0; t < m->data->trajectories; t++) {
    const bool is = read_number(m->level->name[m->made->level[t]], &number);
    numbers += is;
    if (!is && other == m->data->trajectories) other = t;
  }
  *ret_numeric = numbers == m->data->trajectories;
  if (*ret_numeric || !numbers) return IDM_OK;
  const char *column = m->factor->column;
  const idm_status status = FAIL(
      m,
      "the column '%.60s' holds numbers and '%.60s'; expected numbers only (with a decimal "
      "point), or C(%.60s) in the formula if it is a category, or data.missing: ['%.60s'] in "
      "the problem if it means nothing",
      column, m->level->name[m->made->level[other]], column, m->level->name[m->made->level[other]]);
  idm_data_locate(m->data, m->data->first[other], m->opt_error);
  return status;
}

typedef struct valued {
  double number;
  int32_t level;
} valued;

static int by_number(const void *a, const void *b)
{
  const valued *x = a;
  const valued *y = b;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return (x->level > y->level) - (x->level < y->level);
}

/* 30 and 30.0 are one value: texts of equal numbers count as the first of them, or a person with
 * both would seem to vary. */
static idm_status join_equal_numbers(const maker *m)
{
  const size_t levels = m->level->count;
  valued *list = idm_new(levels, sizeof *list);
  int32_t *first = idm_new(levels, sizeof *first);
  size_t count = 0;
  for (size_t i = 0; list && first && i < levels; i++) {
    first[i] = (int32_t)i;
    if (read_number(m->level->name[i], &list[count].number)) list[count++].level = (int32_t)i;
  }
  const bool made = list && first;
  if (made) qsort(list, count, sizeof *list, by_number);
  for (size_t i = 1; made && i < count; i++)
    if (list[i].number == list[i - 1].number) first[list[i].level] = first[list[i - 1].level];
  for (size_t t = 0; made && t < m->data->trajectories; t++)
    if (m->made->level[t] != IDM_MISSING) m->made->level[t] = first[m->made->level[t]];
  free(list);
  free(first);
  return made ? IDM_OK : idm_fail_memory(m->opt_error);
}

/* mean[person] of the column, and how many values of each; both zeroed. */
static void mean_by_person(const maker *m, double *mean, size_t *count)
{
  for (size_t t = 0; t < m->data->trajectories; t++) {
    mean[m->who->of_trajectory[t]] += m->made->value[t];
    count[m->who->of_trajectory[t]]++;
  }
  for (size_t i = 0; i < m->who->people; i++) mean[i] /= (double)count[i];
}

static double sd_of(const double *x, size_t count, double centre)
{
  return count > 1 ? sqrt(idm_squares_about(x, count, centre) / (double)(count - 1)) : 0;
}

/* Squares of products of several columns must stay within what a double holds. */
static idm_status check_unit(const maker *m)
{
  static const double most = 1e30;
  if (m->made->sd < most && m->made->sd > 1 / most) return IDM_OK;
  return FAIL(m,
              "the column '%.60s' has an sd of %g; expected one between %g and %g: count it in "
              "another unit",
              m->factor->column, m->made->sd, 1 / most, most);
}

static idm_status make_numeric(const maker *m)
{
  idm_covariate *c = m->made;
  const size_t trajectories = m->data->trajectories;
  c->columns = 1;
  c->value = idm_new(trajectories, sizeof *c->value);
  double *mean = idm_new(m->who->people, sizeof *mean);
  size_t *count = idm_new(m->who->people, sizeof *count);
  idm_status status = c->value && mean && count ? IDM_OK : idm_fail_memory(m->opt_error);
  if (status == IDM_OK) status = idm_labels_create(&c->name, 1, m->opt_error);
  if (status == IDM_OK)
    status =
        idm_labels_set(&c->name, 0, m->factor->column, strlen(m->factor->column), m->opt_error);
  if (status == IDM_OK) {
    for (size_t t = 0; t < trajectories; t++)
      read_number(m->level->name[c->level[t]], &c->value[t]);
    mean_by_person(m, mean, count);
    const double centre = idm_mean(mean, m->who->people);
    for (size_t t = 0; t < trajectories; t++) c->value[t] -= centre;
    c->sd = c->within ? sd_of(c->value, trajectories, 0) : sd_of(mean, m->who->people, centre);
    status = check_unit(m);
  }
  free(mean);
  free(count);
  return status;
}

/* --- categories ----------------------------------------------------------------------------- */

typedef struct category {
  const char *text;
  int32_t level;
  size_t person; /* the first who meets it, from 1; 0: nobody */
  bool several;  /* others do too */
} category;

static int by_text(const void *a, const void *b)
{
  return strcmp(((const category *)a)->text, ((const category *)b)->text);
}

/* The levels that are met, in the order of the alphabet. */
static size_t list_categories(const maker *m, category *list)
{
  size_t count = 0;
  for (size_t i = 0; i < m->level->count; i++)
    list[i] = (category){.text = m->level->name[i], .level = (int32_t)i};
  for (size_t t = 0; t < m->data->trajectories; t++) {
    category *met = &list[m->made->level[t]];
    const size_t person = (size_t)m->who->of_trajectory[t] + 1;
    if (!met->person) met->person = person;
    met->several = met->several || met->person != person;
  }
  for (size_t i = 0; i < m->level->count; i++)
    if (list[i].person) list[count++] = list[i];
  qsort(list, count, sizeof *list, by_text);
  return count;
}

static idm_status unknown_reference(const maker *m, const category *list, size_t count)
{
  enum { most = 100 };
  const char *names[most];
  char shown[300] = "";
  size_t used = 0;
  size_t known = 0;
  for (size_t i = 0; i < count && i < most; i++) {
    names[known++] = list[i].text;
    if (used < 240)
      used += (size_t)snprintf(shown + used, sizeof shown - used, "%s%.40s", i ? ", " : "",
                               list[i].text);
  }
  const char *nearest = idm_suggest(m->factor->opt_reference, names, known);
  return idm_fail(m->opt_error, IDM_USAGE,
                  "the formula '%.200s': the column '%.60s' at character %zu has no level '%.60s'; "
                  "%s%.60s%s; it has %s",
                  m->formula, m->factor->column, m->factor->place, m->factor->opt_reference,
                  nearest ? "did you mean '" : "expected one that is in the log",
                  nearest ? nearest : "", nearest ? "'?" : "", shown);
}

/* The reference to the front. */
static idm_status put_reference_first(const maker *m, category *list, size_t count)
{
  const char *reference = m->factor->opt_reference;
  size_t at = 0;
  if (!reference) return IDM_OK;
  while (at < count && strcmp(list[at].text, reference) != 0) at++;
  if (at == count) return unknown_reference(m, list, count);
  const category first = list[at];
  memmove(list + 1, list, at * sizeof *list);
  list[0] = first;
  return IDM_OK;
}

/* Levels that one person alone has. */
static void warn_of_few(const maker *m, const category *list, size_t count)
{
  char who[300] = "";
  size_t used = 0;
  size_t few = 0;
  for (size_t i = 0; i < count; i++) {
    if (list[i].several) continue;
    if (used < 200)
      used +=
          (size_t)snprintf(who + used, sizeof who - used, "%s'%.30s' has only '%.30s'",
                           used ? ", " : "", list[i].text, m->who->name.name[list[i].person - 1]);
    few++;
  }
  if (few)
    idm_notes_add(m->opt_notes,
                  "%zu of %zu levels of '%s' have one person (%s%s): what is said of such a level "
                  "rests on that person and the prior",
                  few, count, m->factor->column, who, used < 200 ? "" : ", ...");
}

static idm_status make_category(const maker *m)
{
  idm_covariate *c = m->made;
  const size_t trajectories = m->data->trajectories;
  category *list = idm_new(m->level->count, sizeof *list);
  if (!list) return idm_fail_memory(m->opt_error);
  const size_t count = list_categories(m, list);
  idm_status status = put_reference_first(m, list, count);
  if (status == IDM_OK) warn_of_few(m, list, count);
  c->sd = 1;
  c->columns = count ? count - 1 : 0;
  if (status == IDM_OK) {
    c->value = idm_new(idm_times(c->columns, trajectories), sizeof *c->value);
    status = c->value ? idm_labels_create(&c->name, c->columns, m->opt_error)
                      : idm_fail_memory(m->opt_error);
  }
  for (size_t i = 1; i < count && status == IDM_OK; i++) {
    char name[2200];
    snprintf(name, sizeof name, "%.1000s[T.%.1000s]", m->factor->column, list[i].text);
    status = idm_labels_set(&c->name, i - 1, name, strlen(name), m->opt_error);
    for (size_t t = 0; t < trajectories; t++)
      c->value[(i - 1) * trajectories + t] = c->level[t] == list[i].level;
  }
  free(list);
  return status;
}

/* --- columns -------------------------------------------------------------------------------- */

/* A column that is the same for everybody says nothing. */
static idm_status check_variety(const maker *m)
{
  const int32_t *level = m->made->level;
  for (size_t t = 1; t < m->data->trajectories; t++)
    if (level[t] != level[0]) return IDM_OK;
  return FAIL(m,
              "the column '%.60s' is '%.60s' everywhere: its coefficient cannot be told from the "
              "intercept; leave it out of '%.200s'",
              m->factor->column, m->level->name[level[0]], m->formula);
}

static idm_status make(const maker *m, int32_t *own)
{
  bool numeric = false;
  idm_status status = idm_who_levels(m->data, m->column, m->made->level, m->opt_error);
  if (status != IDM_OK) return status;
  if (!m->factor->category) status = join_equal_numbers(m);
  if (status != IDM_OK) return status;
  m->made->within = varies_within(m, own);
  status = fill_gaps(m, own);
  if (status == IDM_OK) status = check_variety(m);
  if (status == IDM_OK && !m->factor->category) status = look_for_numbers(m, &numeric);
  if (status != IDM_OK) return status;
  m->made->category = !numeric;
  return numeric ? make_numeric(m) : make_category(m);
}

idm_status idm_covariate_create(const idm_data *data, const idm_who *who, const idm_factor *factor,
                                const char *formula, idm_covariate *covariate, idm_notes *opt_notes,
                                idm_error *opt_error)
{
  *covariate = (idm_covariate){0};
  maker m = {.data = data,
             .who = who,
             .factor = factor,
             .formula = formula,
             .column = idm_who_covariate(data, factor->column),
             .made = covariate,
             .opt_notes = opt_notes,
             .opt_error = opt_error};
  if (m.column == data->covariates)
    return idm_fail(opt_error, IDM_USAGE, "the column '%.60s' was not kept when the log was read",
                    factor->column);
  m.level = &data->covariate_level[m.column];
  covariate->level = idm_new(data->trajectories, sizeof *covariate->level);
  int32_t *own = idm_new(who->people, sizeof *own);
  const idm_status status = covariate->level && own ? make(&m, own) : idm_fail_memory(opt_error);
  free(own);
  if (status != IDM_OK) idm_covariate_clear(covariate);
  return status;
}
