/* Table of checks, and operations on their results. */
#include "invert/assess.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* --- the table ------------------------------------------------------------------------------ */

static const idm_check table[] = {
#define RUN(id, function, ...) [id] = {__VA_ARGS__},
#define RECORD(id, ...)        [id] = {__VA_ARGS__},
    IDM_CHECK_LIST(RUN, RECORD)
#undef RUN
#undef RECORD
};

const idm_check *idm_check_at(size_t i)
{
  return i < IDM_CHECK_COUNT ? &table[i] : NULL;
}

idm_check_id idm_check_find(const char *name)
{
  int id = 0;
  while (name && id < IDM_CHECK_COUNT && strcmp(table[id].name, name) != 0) id++;
  return name ? (idm_check_id)id : IDM_CHECK_COUNT;
}

double idm_check_threshold(idm_check_id id)
{
  return (size_t)id < IDM_CHECK_COUNT ? table[id].threshold : NAN;
}

bool idm_check_applies(const idm_checks *checks, idm_check_id id)
{
  return checks && (size_t)id < IDM_CHECK_COUNT && (table[id].kinds & (unsigned)checks->kind);
}

const char *idm_check_outcome_name(idm_check_outcome outcome)
{
  static const char *const words[IDM_CHECK_OUTCOMES] = {"not recorded", "not run", "passed",
                                                        "remark",       "misfit",  "failed"};
  return (unsigned)outcome < IDM_CHECK_OUTCOMES ? words[outcome] : NULL;
}

const char *idm_check_kind_name(idm_check_kind kind)
{
  static const char *const words[] = {"fit",        "point", "preferences",    "program", "each",
                                      "population", "audit", "audit --people", "dynamics"};
  for (unsigned i = 0; 1U << i < IDM_CHECK_KINDS; i++)
    if ((unsigned)kind == 1U << i) return words[i];
  return NULL;
}

/* --- results -------------------------------------------------------------------------------- */

void idm_checks_begin(idm_checks *checks, idm_check_kind kind)
{
  *checks = (idm_checks){.kind = kind};
  for (int id = 0; id < IDM_CHECK_COUNT; id++) {
    const idm_check *row = &table[id];
    idm_check_result *result = &checks->of[id];
    if (!(row->kinds & (unsigned)kind)) continue;
    *result =
        (idm_check_result){.outcome = IDM_CHECK_NOT_RUN, .value = NAN, .threshold = row->threshold};
    idm_print(result->why, sizeof result->why, "needs %s",
              row->needs   ? row->needs
              : row->draws ? "draws of a posterior"
                           : "an answer that is complete");
  }
}

bool idm_check_passes(idm_check_id id, double value)
{
  const idm_check *row = &table[id];
  return isnan(row->threshold) || (row->below ? value >= row->threshold : value <= row->threshold);
}

/* The value further beyond the threshold of a row; a NaN is ignored. */
static double worse(const idm_check *row, double a, double b)
{
  if (isnan(a) || isnan(b)) return isnan(a) ? b : a;
  return row->below ? fmin(a, b) : fmax(a, b);
}

static const char omitted_prefix[] = "left out: ";

static bool is_omitted(const idm_check_result *result)
{
  return strncmp(result->why, omitted_prefix, sizeof omitted_prefix - 1) == 0;
}

/* A row that was left out of one part of the answer stays left out, whatever other parts record. */
void idm_check_record(idm_checks *checks, idm_check_id id, idm_check_outcome outcome, double value)
{
  idm_check_result *result = &checks->of[id];
  if (result->outcome < IDM_CHECK_PASSED) {
    result->value = NAN;
    if (result->outcome == IDM_CHECK_UNRECORDED) result->threshold = table[id].threshold;
    if (!is_omitted(result)) result->why[0] = '\0';
  }
  if (outcome > result->outcome) result->outcome = outcome;
  result->value = worse(&table[id], result->value, value);
}

bool idm_check_test(idm_checks *checks, idm_check_id id, double value)
{
  const bool holds = idm_check_passes(id, value);
  idm_check_record(checks, id, holds ? IDM_CHECK_PASSED : table[id].worst, value);
  return !holds;
}

bool idm_check_test_optional(idm_checks *checks, idm_check_id id, double value)
{
  return !isnan(value) && idm_check_test(checks, id, value);
}

idm_notes *idm_check_note(idm_assessment *a, idm_check_id id, idm_check_outcome outcome)
{
  idm_check_record(&a->checks, id, outcome, NAN);
  return outcome == IDM_CHECK_FAILED   ? &a->failures
         : outcome == IDM_CHECK_MISFIT ? &a->misfits
                                       : &a->remarks;
}

void idm_check_skip(idm_checks *checks, idm_check_id id, const char *format, ...)
{
  idm_check_result *result = &checks->of[id];
  va_list arguments;
  if (result->outcome >= IDM_CHECK_PASSED) return;
  result->outcome = IDM_CHECK_NOT_RUN;
  result->value = NAN;
  va_start(arguments, format);
  idm_print_list(result->why, sizeof result->why, format, arguments);
  va_end(arguments);
}

void idm_check_leave_out(idm_checks *checks, idm_check_id id, double seconds)
{
  idm_check_result *result = &checks->of[id];
  if (!idm_check_applies(checks, id)) return;
  *result = (idm_check_result){
      .outcome = IDM_CHECK_NOT_RUN, .value = NAN, .threshold = table[id].threshold};
  if (seconds < 0)
    idm_print(result->why, sizeof result->why, "%s--checks none", omitted_prefix);
  else
    idm_print(result->why, sizeof result->why, "%s--checks fast after %.3g s", omitted_prefix,
              seconds);
}

void idm_check_mark_unavailable(idm_checks *checks, idm_check_id id, const char *why)
{
  idm_check_result *result = &checks->of[id];
  result->outcome = IDM_CHECK_NOT_RUN;
  result->value = NAN;
  idm_print(result->why, sizeof result->why, "%s%s", omitted_prefix, why);
}

bool idm_check_is_left_out(const idm_checks *checks, idm_check_id id)
{
  return checks && (unsigned)id < IDM_CHECK_COUNT && is_omitted(&checks->of[id]);
}

size_t idm_checks_left_out(const idm_checks *checks)
{
  size_t count = 0;
  for (int id = 0; id < IDM_CHECK_COUNT; id++)
    count += idm_check_is_left_out(checks, (idm_check_id)id);
  return count;
}

void idm_checks_remark_left_out(const idm_checks *checks, idm_notes *remarks)
{
  char names[IDM_CHECK_COUNT * 32];
  const char *why = "";
  int used = 0;
  for (int id = 0; id < IDM_CHECK_COUNT; id++) {
    if (!idm_check_is_left_out(checks, (idm_check_id)id)) continue;
    if (!strstr(checks->of[id].why, "--checks")) {
      idm_notes_add(remarks, "unchecked: %s (%s)", table[id].name, checks->of[id].why);
      continue;
    }
    used += idm_print(names + used, sizeof names - (size_t)used, "%s%s", used ? ", " : "",
                      table[id].name);
    why = checks->of[id].why;
  }
  if (used)
    idm_notes_add(remarks, "unchecked: %s (%s); a fit with --checks full runs them", names, why);
}

void idm_check_add_exception(idm_checks *checks, idm_check_id id, const char *format, ...)
{
  idm_check_result *result = &checks->of[id];
  va_list arguments;
  if (result->outcome < IDM_CHECK_PASSED) return;
  va_start(arguments, format);
  idm_print_list(result->why, sizeof result->why, format, arguments);
  va_end(arguments);
}

void idm_checks_skip_log(idm_checks *checks, const char *why)
{
  for (int id = 0; id < IDM_CHECK_COUNT; id++)
    if (idm_check_applies(checks, (idm_check_id)id) && table[id].log)
      idm_check_skip(checks, (idm_check_id)id, "%s", why);
}

/* Of two reasons why a check was not run, a time limit has priority; ties are broken
 * alphabetically. */
static bool has_priority(const idm_check_result *a, const idm_check_result *b)
{
  if (is_omitted(a) != is_omitted(b)) return is_omitted(a);
  return strcmp(a->why, b->why) < 0;
}

/* The threshold belongs to the value; of equal values the one with the lower threshold is kept. Of
 * reasons the alphabetically first is kept, so that the order of merging does not matter. */
static void merge_result(idm_checks *checks, idm_check_id id, const idm_check_result *source)
{
  idm_check_result *target = &checks->of[id];
  const bool ran = source->outcome >= IDM_CHECK_PASSED || target->outcome >= IDM_CHECK_PASSED;
  const idm_check_result kept_reason = has_priority(source, target) ? *source : *target;
  if (target->outcome == IDM_CHECK_UNRECORDED) {
    *target = *source;
  } else if (source->outcome >= IDM_CHECK_PASSED) {
    const double before = target->outcome >= IDM_CHECK_PASSED ? target->value : NAN;
    idm_check_record(checks, id, source->outcome, source->value);
    if (source->why[0] && (!target->why[0] || strcmp(source->why, target->why) < 0))
      memcpy(target->why, source->why, sizeof target->why);
    if (source->value == before)
      target->threshold = fmin(target->threshold, source->threshold);
    else if (source->value == target->value)
      target->threshold = source->threshold;
  } else if (target->outcome == IDM_CHECK_NOT_RUN && has_priority(source, target)) {
    memcpy(target->why, source->why, sizeof target->why);
  }
  if (ran && is_omitted(&kept_reason)) memcpy(target->why, kept_reason.why, sizeof target->why);
}

void idm_checks_merge(idm_checks *checks, const idm_checks *part, idm_check_outcome misfit)
{
  for (int i = 0; i < IDM_CHECK_COUNT; i++) {
    const idm_check_id id = (idm_check_id)i;
    idm_check_result source = part->of[i];
    if (!idm_check_applies(checks, id) || !idm_check_applies(part, id)) continue;
    if (source.outcome == IDM_CHECK_UNRECORDED) continue;
    if (source.outcome == IDM_CHECK_MISFIT) source.outcome = misfit;
    merge_result(checks, id, &source);
  }
}

/* --- trust ---------------------------------------------------------------------------------- */

/* Adds what a row that fails measured, and its remedy. */
static void note_row(const idm_check *row, const idm_check_result *result, idm_notes *notes)
{
  if (isnan(result->value) || isnan(result->threshold))
    idm_notes_add(notes, "the check %s (%s) fails; %s", row->name, row->measures, row->remedy);
  else
    idm_notes_add(notes, "the check %s fails: %s is %.3g, expected at %s %.3g; %s", row->name,
                  row->measures, result->value, row->below ? "least" : "most", result->threshold,
                  row->remedy);
}

static void note_rows(const idm_checks *checks, idm_check_outcome outcome, idm_notes *notes)
{
  for (int id = 0; id < IDM_CHECK_COUNT; id++)
    if (checks->of[id].outcome == outcome) note_row(&table[id], &checks->of[id], notes);
}

bool idm_checks_conclude(const idm_checks *checks, idm_notes *failures, idm_notes *misfits)
{
  if (!failures->count) note_rows(checks, IDM_CHECK_FAILED, failures);
  if (!misfits->count) note_rows(checks, IDM_CHECK_MISFIT, misfits);
  return !failures->count && !misfits->count;
}

void idm_assessment_conclude(idm_assessment *a)
{
  a->trusted = idm_checks_conclude(&a->checks, &a->failures, &a->misfits);
}
