/* Creates figures as data, and writes these data as CSV. */
#include "report/figure.h"

#include <math.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/markup.h"

/* --- kinds and columns ---------------------------------------------------------------------- */

static const struct {
  const char *name;
  unsigned columns;
} kinds[] = {
#define KIND(id, name, columns) {name, columns},
    IDM_MARK_LIST(KIND)
#undef KIND
};

static const char *const columns[IDM_FIGURE_COLUMNS] = {
    "x", "y", "right", "top", "low", "high", "inner_low", "inner_high", "value",
};

const char *idm_mark_name(idm_mark_kind kind)
{
  return (size_t)kind < IDM_MARK_COUNT ? kinds[kind].name : NULL;
}

const char *idm_figure_column_name(idm_figure_column column)
{
  return (size_t)column < IDM_FIGURE_COLUMNS ? columns[column] : NULL;
}

bool idm_mark_has(idm_mark_kind kind, idm_figure_column column)
{
  return (size_t)kind < IDM_MARK_COUNT && (size_t)column < IDM_FIGURE_COLUMNS &&
         (kinds[kind].columns >> column & 1u);
}

/* --- creation -------------------------------------------------------------------------------- */

static void destroy_mark(idm_mark *mark)
{
  if (!mark) return;
  for (size_t i = 0; i < IDM_FIGURE_COLUMNS; i++) free(mark->column[i]);
  idm_labels_destroy(&mark->label);
  free(mark->name);
  free(mark);
}

static void destroy_panel(idm_panel *panel)
{
  if (!panel) return;
  for (size_t i = 0; i < panel->marks; i++) destroy_mark(panel->mark[i]);
  idm_labels_destroy(&panel->x.category);
  idm_labels_destroy(&panel->y.category);
  idm_labels_destroy(&panel->corner);
  free(panel->mark);
  free(panel->x.title);
  free(panel->y.title);
  free(panel->title);
  free(panel);
}

void idm_figure_destroy(idm_figure *figure)
{
  if (!figure) return;
  for (size_t i = 0; i < figure->panels; i++) destroy_panel(figure->panel[i]);
  free(figure->panel);
  free(figure->title);
  free(figure->description);
  free(figure);
}

static char *copy(const char *opt_text)
{
  return idm_text_copy(opt_text ? opt_text : "", opt_text ? strlen(opt_text) : 0);
}

idm_status idm_figure_create(const char *opt_title, const char *opt_description, size_t grid,
                             idm_figure **ret_figure, idm_error *opt_error)
{
  idm_require(ret_figure);
  idm_figure *figure = *ret_figure = idm_new(1, sizeof *figure);
  if (!figure) return idm_fail_memory(opt_error);
  figure->columns = grid ? grid : 1;
  figure->title = copy(opt_title);
  figure->description = copy(opt_description);
  if (figure->title && figure->description) return IDM_OK;
  idm_figure_destroy(figure);
  *ret_figure = NULL;
  return idm_fail_memory(opt_error);
}

/* Append an item to a list of pointers. */
static bool append(void ***list, size_t count, void *item)
{
  void **longer = realloc(*list, (count + 1) * sizeof *longer);
  if (!longer) return false;
  longer[count] = item;
  *list = longer;
  return true;
}

idm_status idm_figure_add(idm_figure *figure, const char *opt_title, const char *opt_x,
                          const char *opt_y, idm_panel **ret_panel, idm_error *opt_error)
{
  idm_require(figure, ret_panel);
  idm_panel *panel = *ret_panel = idm_new(1, sizeof *panel);
  if (!panel) return idm_fail_memory(opt_error);
  panel->title = copy(opt_title);
  panel->x = (idm_figure_axis){.title = copy(opt_x), .low = NAN, .high = NAN};
  panel->y = (idm_figure_axis){.title = copy(opt_y), .low = NAN, .high = NAN};
  void **list = (void **)figure->panel;
  const bool allocated =
      panel->title && panel->x.title && panel->y.title && append(&list, figure->panels, panel);
  figure->panel = (idm_panel **)list;
  if (allocated) {
    figure->panels++;
    return IDM_OK;
  }
  destroy_panel(panel);
  *ret_panel = NULL;
  return idm_fail_memory(opt_error);
}

idm_status idm_panel_add(idm_panel *panel, idm_mark_kind kind, const char *opt_name, int colour,
                         size_t count, idm_mark **ret_mark, idm_error *opt_error)
{
  idm_require(panel, ret_mark);
  *ret_mark = NULL;
  if ((size_t)kind >= IDM_MARK_COUNT || colour < 0)
    return idm_fail(opt_error, IDM_USAGE, "there is no such kind of mark, or no such colour");
  idm_mark *mark = idm_new(1, sizeof *mark);
  if (!mark) return idm_fail_memory(opt_error);
  *mark = (idm_mark){.kind = kind, .colour = colour, .count = count, .name = copy(opt_name)};
  bool allocated = mark->name != NULL;
  for (size_t i = 0; i < IDM_FIGURE_COLUMNS; i++) {
    if (!idm_mark_has(kind, (idm_figure_column)i)) continue;
    mark->column[i] = idm_new(count, sizeof *mark->column[i]);
    allocated = allocated && mark->column[i];
  }
  void **list = (void **)panel->mark;
  allocated = allocated && append(&list, panel->marks, mark);
  panel->mark = (idm_mark **)list;
  if (!allocated) {
    destroy_mark(mark);
    return idm_fail_memory(opt_error);
  }
  panel->marks++;
  *ret_mark = mark;
  return IDM_OK;
}

idm_status idm_panel_plot(idm_panel *panel, idm_mark_kind kind, const char *opt_name, int colour,
                          size_t count, const double *x, const double *y, idm_error *opt_error)
{
  idm_require(panel, x, y);
  idm_mark *mark;
  if (!idm_mark_has(kind, IDM_FIGURE_X) || !idm_mark_has(kind, IDM_FIGURE_Y))
    return idm_fail(opt_error, IDM_USAGE, "marks of this kind are not plotted by x and y");
  const idm_status status = idm_panel_add(panel, kind, opt_name, colour, count, &mark, opt_error);
  if (status != IDM_OK) return status;
  memcpy(mark->column[IDM_FIGURE_X], x, count * sizeof *x);
  memcpy(mark->column[IDM_FIGURE_Y], y, count * sizeof *y);
  return IDM_OK;
}

/* --- data ----------------------------------------------------------------------------------- */

/* Append a field of CSV, quoted if necessary. */
static void add_field(idm_markup *m, const char *text)
{
  if (!strpbrk(text, ",\"\r\n")) {
    idm_markup_raw(m, text, strlen(text));
    return;
  }
  idm_markup_raw(m, "\"", 1);
  for (const char *c = text; *c; c++) idm_markup_raw(m, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
  idm_markup_raw(m, "\"", 1);
}

static unsigned columns_used(const idm_figure *figure)
{
  unsigned used = 0;
  for (size_t p = 0; p < figure->panels; p++)
    for (size_t i = 0; i < figure->panel[p]->marks; i++)
      used |= kinds[figure->panel[p]->mark[i]->kind].columns;
  return used;
}

static void add_item(idm_markup *m, const idm_panel *panel, const idm_mark *mark, size_t i,
                     unsigned used)
{
  add_field(m, panel->title);
  idm_markup_raw(m, ",", 1);
  add_field(m, mark->name);
  idm_markup_add(m, ",%s,", kinds[mark->kind].name);
  if (mark->label.count) add_field(m, mark->label.name[i]);
  for (size_t c = 0; c < IDM_FIGURE_COLUMNS; c++) {
    if (!(used >> c & 1u)) continue;
    char text[64] = "";
    const int length = mark->column[c] && isfinite(mark->column[c][i])
                           ? idm_number_text(mark->column[c][i], text, sizeof text)
                           : 0;
    idm_markup_raw(m, ",", 1);
    idm_markup_raw(m, text, (size_t)length);
  }
  idm_markup_raw(m, "\n", 1);
}

idm_status idm_figure_csv(const idm_figure *figure, char **ret_text, idm_error *opt_error)
{
  idm_require(figure, ret_text);
  idm_markup m = {0};
  const unsigned used = columns_used(figure);
  idm_markup_add(&m, "panel,mark,kind,label");
  for (size_t c = 0; c < IDM_FIGURE_COLUMNS; c++)
    if (used >> c & 1u) idm_markup_add(&m, ",%s", columns[c]);
  idm_markup_raw(&m, "\n", 1);
  for (size_t p = 0; p < figure->panels; p++)
    for (size_t k = 0; k < figure->panel[p]->marks; k++) {
      const idm_mark *mark = figure->panel[p]->mark[k];
      for (size_t i = 0; i < mark->count; i++) add_item(&m, figure->panel[p], mark, i, used);
    }
  return idm_markup_take(&m, ret_text, opt_error);
}
