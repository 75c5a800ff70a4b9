/* Cells that a log does not hold and a problem makes from those it does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "io/log/cells.h"
#include "io/log/derive.h"

/* --- one cell ------------------------------------------------------------------------------- */

/* A label in the place of a source; none where it is NULL. */
static void give(const char *opt_label, idm_csv_field *cell)
{
  cell->text = opt_label ? opt_label : "";
  cell->length = (uint32_t)strlen(cell->text);
}

static idm_status cut(const idm_log *log, size_t d, const idm_csv_field *source,
                      idm_csv_field *ret_cell, idm_error *opt_error)
{
  const idm_derived *derived = &log->coding->columns->derived[d];
  const double *at = derived->at ? derived->at : log->coding->found[d].at;
  double number;
  const idm_status status =
      idm_log_number(log, source, log->coding->source[d][0], &number, opt_error);
  if (status != IDM_OK) return status;
  size_t i = 0;
  while (i < derived->cuts && (number > at[i] || (derived->closed_left && number == at[i]))) i++;
  give(derived->label.name[i], ret_cell);
  return IDM_OK;
}

/* A text stands for itself, or for the same number written otherwise. */
static bool stands_for(const char *text, const idm_csv_field *cell)
{
  const size_t length = strlen(text);
  double a;
  double b;
  return (length == cell->length && memcmp(text, cell->text, length) == 0) ||
         (idm_number_decimal(text, length, &a) && idm_cell_number(cell, &b) && a == b);
}

static idm_status recode(const idm_log *log, size_t d, const idm_csv_field *source,
                         idm_csv_field *ret_cell, idm_error *opt_error)
{
  const idm_derived *derived = &log->coding->columns->derived[d];
  size_t i = 0;
  while (i < derived->text.count && !stands_for(derived->text.name[i], source)) i++;
  if (i == derived->text.count && !derived->other) {
    char list[400];
    return idm_fail_at(opt_error, log->file, (long)source->line, (long)source->column,
                       "'%.*s' in column '%s' is none of the texts of data.derive.%s (%s); add it "
                       "to its labels, or say else: LABEL there",
                       IDM_CELL_SHOWN(*source), log->header.name.name[log->coding->source[d][0]],
                       derived->name, idm_labels_list(&derived->text, list, sizeof list));
  }
  give(i < derived->text.count ? derived->label.name[i] : derived->other, ret_cell);
  return IDM_OK;
}

static idm_status join(const idm_log *log, size_t d, const idm_csv_field *source,
                       idm_csv_field *ret_cell, idm_error *opt_error)
{
  idm_coding *coding = log->coding;
  size_t needed = 0;
  for (size_t s = 0; s < coding->width[d]; s++) needed += source[s].length + 1;
  if (needed > coding->scratch_capacity[d]) {
    char *larger = realloc(coding->scratch[d], 2 * needed + 1);
    if (!larger) return idm_fail_memory(opt_error);
    coding->scratch[d] = larger;
    coding->scratch_capacity[d] = 2 * needed + 1;
  }
  char *to = coding->scratch[d];
  for (size_t s = 0; s < coding->width[d]; s++) {
    if (s) *to++ = '/';
    memcpy(to, source[s].text, source[s].length);
    to += source[s].length;
  }
  ret_cell->text = coding->scratch[d];
  ret_cell->length = (uint32_t)(to - coding->scratch[d]);
  return IDM_OK;
}

idm_status idm_derive_cell(const idm_log *log, size_t d, const idm_csv_field *source,
                           idm_csv_field *ret_cell, idm_error *opt_error)
{
  const idm_derived *derived = &log->coding->columns->derived[d];
  const size_t width = log->coding->width[d];
  size_t empty = 0;
  size_t hole = 0;
  for (size_t s = 0; s < width; s++) {
    if (source[s].length) continue;
    empty++;
    hole = s;
  }
  if (empty == width || (empty && derived->missing)) {
    give(derived->missing, ret_cell);
    return IDM_OK;
  }
  if (empty)
    return idm_fail_at(opt_error, log->file, (long)source[hole].line, (long)source[hole].column,
                       "'%s' is missing here and the other columns of data.derive.%s are not; say "
                       "what a missing one means (missing: LABEL), or leave such rows out (rules: "
                       "[{require: %s}])",
                       derived->source.name[hole], derived->name, derived->source.name[hole]);
  switch (derived->kind) {
  case IDM_DERIVE_CUT:
    return cut(log, d, source, ret_cell, opt_error);
  case IDM_DERIVE_RECODE:
    return recode(log, d, source, ret_cell, opt_error);
  case IDM_DERIVE_PRODUCT:
    return join(log, d, source, ret_cell, opt_error);
  default:
    ret_cell->text = source[0].text;
    ret_cell->length = source[0].length;
    return IDM_OK;
  }
}

/* --- cut points in standard deviations ------------------------------------------------------- */

idm_status idm_derive_measure(const idm_log *log, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  for (size_t d = 0; d < coding->columns->deriveds; d++) {
    idm_found_cut *found = &coding->found[d];
    const size_t column = coding->source[d][0];
    if (!found->wanted) continue;
    const idm_csv_field cell = idm_log_cell(log, &coding->field[column]);
    double number;
    if (!cell.length) continue;
    const idm_status status = idm_log_number(log, &cell, column, &number, opt_error);
    if (status != IDM_OK) return status;
    idm_welford_add(&found->numbers, number);
  }
  return IDM_OK;
}

idm_status idm_derive_cuts(const idm_log *log, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  for (size_t d = 0; d < coding->columns->deriveds; d++) {
    const idm_derived *derived = &coding->columns->derived[d];
    idm_found_cut *found = &coding->found[d];
    if (!found->wanted) continue;
    const size_t rows = found->numbers.count;
    if (rows < 2 || !(found->numbers.squares > 0))
      return idm_log_header_fail(
          &log->header, coding->source[d][0], opt_error,
          "data.derive.%s cuts '%s' in standard deviations, and the rows that rules "
          "leave give it none (%zu number%s%s); give the points themselves, as at: "
          "[...]",
          derived->name, log->header.name.name[coding->source[d][0]], rows, rows == 1 ? "" : "s",
          rows < 2 ? "" : ", all the same");
    found->sd = sqrt(idm_welford_variance(&found->numbers));
    found->at = idm_new(derived->cuts, sizeof *found->at);
    if (!found->at) return idm_fail_memory(opt_error);
    for (size_t i = 0; i < derived->cuts; i++)
      found->at[i] = found->numbers.mean + derived->deviation[i] * found->sd;
  }
  return IDM_OK;
}

/* --- what is late --------------------------------------------------------------------------- */

/* The next row of the trajectory that is kept, by its place in the order; `rows` where there is
 * none. */
static size_t next_row(const idm_coding *coding, size_t place, size_t kept)
{
  const uint32_t trajectory = coding->trajectory[coding->order[place]];
  for (size_t i = place + 1; i < coding->rows; i++) {
    const uint32_t row = coding->order[i];
    if (coding->trajectory[row] != trajectory) break;
    if (coding->reason[row] == kept) return row;
  }
  return coding->rows;
}

static idm_status derive_row(const idm_log *log, size_t d, size_t place, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  idm_held_column *held = &coding->held[coding->held_at[coding->raw + d]];
  const size_t own = coding->order[place];
  size_t row = own;
  if (coding->columns->derived[d].kind == IDM_DERIVE_NEXT)
    row = next_row(coding, place, log->ledger.reasons);
  for (size_t s = 0; s < coding->width[d]; s++)
    coding->sources[s] = row < coding->rows ? idm_held_cell(coding, coding->source[d][s], row)
                                            : (idm_csv_field){.text = ""};
  idm_csv_field cell = {.text = ""};
  const idm_status status = idm_derive_cell(log, d, coding->sources, &cell, opt_error);
  if (status != IDM_OK) return status;
  held->cell[own] = IDM_INTERN_NONE;
  if (cell.length && !idm_intern_add(&held->text, cell.text, cell.length, &held->cell[own]))
    return idm_fail_memory(opt_error);
  return IDM_OK;
}

idm_status idm_derive_late(const idm_log *log, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  idm_status status = IDM_OK;
  for (size_t d = 0; d < coding->columns->deriveds; d++)
    for (size_t i = 0; i < coding->rows && coding->late[d] && status == IDM_OK; i++)
      if (coding->reason[coding->order[i]] == log->ledger.reasons)
        status = derive_row(log, d, i, opt_error);
  return status;
}
