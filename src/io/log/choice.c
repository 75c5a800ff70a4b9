/* Cells that choose: which action or observation a text stands for, by label or by code. */
#include "io/log/choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* --- making --------------------------------------------------------------------------------- */

static idm_status intern_all(idm_intern *intern, const idm_labels *labels, idm_error *opt_error)
{
  for (size_t i = 0; i < labels->count; i++) {
    uint32_t index;
    if (!idm_intern_add(intern, labels->name[i], strlen(labels->name[i]), &index))
      return idm_fail_memory(opt_error);
    if (index != i) return idm_fail(opt_error, IDM_INPUT, "'%s' is named twice", labels->name[i]);
  }
  return IDM_OK;
}

static idm_status prepare_code(idm_cell_code *cell, const idm_labels *labels,
                               const idm_code *opt_code, idm_error *opt_error)
{
  idm_status status = intern_all(&cell->labels, labels, opt_error);
  if (status != IDM_OK || !opt_code) return status;
  cell->index = opt_code->index;
  status = intern_all(&cell->texts, &opt_code->text, opt_error);
  cell->means = idm_new(opt_code->text.count, sizeof *cell->means);
  if (status == IDM_OK && !cell->means) status = idm_fail_memory(opt_error);
  for (size_t i = 0; i < opt_code->text.count && status == IDM_OK; i++) {
    const char *label = opt_code->means.name[i];
    const uint32_t found = idm_intern_find(&cell->labels, label, strlen(label));
    if (found == IDM_INTERN_NONE)
      return idm_fail(opt_error, IDM_INPUT,
                      "the code '%.60s' stands for '%.60s', which is no label",
                      opt_code->text.name[i], label);
    cell->means[i] = (int32_t)found;
  }
  return status;
}

static idm_status prepare_part(idm_cell_code *part, const idm_labels *labels, const idm_code *code,
                               size_t columns, size_t column, idm_error *opt_error)
{
  idm_labels levels;
  idm_status status = idm_labels_level(labels, columns, column, &levels, opt_error);
  if (status == IDM_OK) status = prepare_code(part, &levels, code, opt_error);
  idm_labels_destroy(&levels);
  return status;
}

idm_status idm_choice_prepare(idm_choice *choice, const idm_labels *labels, const idm_codes *codes,
                              size_t columns, idm_error *opt_error)
{
  const bool one = codes->count == 1;
  const bool by_column = columns > 1 && (codes->count > 1 || (one && codes->code[0].index));
  if (codes->count > 1 && codes->count != columns)
    return idm_fail(opt_error, IDM_INPUT, "%zu codes for %zu columns of a label", codes->count,
                    columns);
  idm_status status =
      prepare_code(&choice->whole, labels, one && !by_column ? codes->code : NULL, opt_error);
  if (status != IDM_OK || !by_column) return status;
  choice->part = idm_new(columns, sizeof *choice->part);
  if (!choice->part) return idm_fail_memory(opt_error);
  choice->parts = columns;
  for (size_t i = 0; i < columns && status == IDM_OK; i++)
    status =
        prepare_part(&choice->part[i], labels, &codes->code[one ? 0 : i], columns, i, opt_error);
  return status;
}

static void clear_code(idm_cell_code *cell)
{
  idm_intern_clear(&cell->labels);
  idm_intern_clear(&cell->texts);
  free(cell->means);
}

void idm_choice_clear(idm_choice *choice)
{
  clear_code(&choice->whole);
  for (size_t i = 0; i < choice->parts; i++) clear_code(&choice->part[i]);
  free(choice->part);
  *choice = (idm_choice){0};
}

/* --- finding -------------------------------------------------------------------------------- */

bool idm_cell_is_index(const char *text, size_t length, uint32_t *ret_index)
{
  *ret_index = UINT32_MAX;
  if (!length) return false;
  uint32_t number = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    number = number < 100000000 ? 10 * number + (uint32_t)(text[i] - '0') : UINT32_MAX;
  }
  *ret_index = number;
  return true;
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

/* Whether no cell can hold a label: blanks around it would be cut off. */
static bool is_unwritable(const idm_intern *labels, uint32_t index, const char *forbidden)
{
  size_t length;
  const char *text = idm_intern_text(labels, index, &length);
  if (!length || is_blank(text[0]) || is_blank(text[length - 1])) return true;
  for (const char *c = forbidden; *c; c++)
    if (memchr(text, *c, length)) return true;
  return false;
}

int32_t idm_cell_code_find(const idm_cell_code *code, const char *text, size_t length,
                           const char *forbidden)
{
  uint32_t found = idm_intern_find(&code->labels, text, length);
  if (found != IDM_INTERN_NONE) return (int32_t)found;
  found = code->texts.count ? idm_intern_find(&code->texts, text, length) : IDM_INTERN_NONE;
  if (found != IDM_INTERN_NONE) return code->means[found];
  if (!idm_cell_is_index(text, length, &found) || found >= code->labels.count) return -1;
  return code->index || is_unwritable(&code->labels, found, forbidden) ? (int32_t)found : -1;
}
