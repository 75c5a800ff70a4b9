/* A table beside a YAML problem. */
#include "io/problem/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/number.h"

bool idm_yaml_is_table(const idm_yaml_node *node)
{
  static const char suffix[] = ".csv";
  if (!idm_yaml_is_scalar(node)) return false;
  const char *text = idm_yaml_text(node);
  const size_t length = strlen(text);
  return length >= sizeof suffix && strcmp(text + length - (sizeof suffix - 1), suffix) == 0;
}

/* The table's path, seen from the problem file. */
static char *path_of(const idm_yaml_reader *reader, const char *name)
{
  const char *file = reader->tree->file ? reader->tree->file : "";
  const char *slash = strrchr(file, '/');
  const size_t folder = slash && name[0] != '/' ? (size_t)(slash - file) + 1 : 0;
  char *path = idm_new(folder + strlen(name) + 1, 1);
  if (!path) return NULL;
  memcpy(path, file, folder);
  memcpy(path + folder, name, strlen(name) + 1);
  return path;
}

static idm_status read_header(idm_yaml_table *t)
{
  idm_status status = idm_yaml_table_next(t);
  if (status == IDM_OK && !t->count)
    return idm_fail_at(t->reader->opt_error, t->path, 1, 1, "an empty table; expected a header");
  if (status == IDM_OK) status = idm_labels_create(&t->column, t->count, t->reader->opt_error);
  for (size_t i = 0; i < t->count && status == IDM_OK; i++)
    status =
        idm_labels_set(&t->column, i, t->field[i].text, t->field[i].length, t->reader->opt_error);
  return status;
}

/* The file that the table's path leads to. A table of a run lies in the folder of the run. */
static idm_status open_stream(idm_yaml_table *t, const char *name, idm_error *opt_error)
{
  const idm_place *document = t->reader->opt_place;
  idm_place place = idm_place_of(t->path);
  int descriptor = -1;
  if (document && idm_place_inside(document)) {
    if (strchr(name, '/'))
      return idm_fail(opt_error, IDM_INPUT, "'%.200s' is not a file in the folder of the run",
                      name);
    place.folder = document->folder;
    place.name = name;
  }
  const idm_status status = idm_place_open_named(&place, &descriptor, opt_error);
  if (status != IDM_OK) return status;
  t->stream = fdopen(descriptor, "rb");
  if (t->stream) return IDM_OK;
  close(descriptor);
  return idm_fail_memory(opt_error);
}

idm_status idm_yaml_table_open(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *expected, idm_yaml_table *table)
{
  *table = (idm_yaml_table){.reader = reader, .path = path_of(reader, idm_yaml_text(node))};
  if (!table->path) return idm_fail_memory(reader->opt_error);
  idm_error error = {0};
  idm_status status = open_stream(table, idm_yaml_text(node), &error);
  if (status == IDM_MEMORY) return idm_fail_memory(reader->opt_error);
  if (status != IDM_OK)
    return idm_yaml_fail(reader->tree, node, "%.400s; expected %s", error.message, expected);
  status = idm_csv_open_stream(table->stream, table->path, &table->csv, reader->opt_error);
  return status == IDM_OK ? read_header(table) : status;
}

void idm_yaml_table_close(idm_yaml_table *table)
{
  idm_csv_close(table->csv);
  if (table->stream) fclose(table->stream);
  idm_labels_destroy(&table->column);
  free(table->path);
}

size_t idm_yaml_table_column(const idm_yaml_table *table, const char *name)
{
  size_t place = table->column.count;
  for (size_t i = 0; i < table->column.count; i++)
    if (strcmp(table->column.name[i], name) == 0) place = i;
  return place;
}

idm_status idm_yaml_table_columns(const idm_yaml_table *table, const char *const *name,
                                  size_t count, size_t *place)
{
  char list[200] = "";
  for (size_t i = 0; i < count; i++) {
    const size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s",
             !i              ? ""
             : i + 1 < count ? ", "
                             : " and ",
             name[i]);
  }
  for (size_t i = 0; i < count; i++) {
    place[i] = idm_yaml_table_column(table, name[i]);
    if (place[i] == table->column.count)
      return idm_fail_at(table->reader->opt_error, table->path, 1, 1, "no column '%s'; expected %s",
                         name[i], list);
  }
  return IDM_OK;
}

idm_status idm_yaml_table_next(idm_yaml_table *table)
{
  return idm_csv_next(table->csv, &table->field, &table->count, table->reader->opt_error);
}

static int shown(const idm_csv_field *cell)
{
  return (int)(cell->length < 60 ? cell->length : 60);
}

idm_status idm_yaml_table_label(const idm_yaml_table *table, size_t column, const idm_names *names,
                                const char *what, size_t *ret_index)
{
  const idm_csv_field *cell = &table->field[column];
  char text[IDM_YAML_LABEL + 1];
  const bool fits = cell->length < sizeof text;
  if (fits) memcpy(text, cell->text, cell->length);
  text[fits ? cell->length : 0] = '\0';
  const long index = fits ? idm_names_find(names, text) : -1;
  if (index < 0)
    return idm_yaml_table_fail(table, column, "'%.*s' is no %s of the problem", shown(cell),
                               cell->text, what);
  *ret_index = (size_t)index;
  return IDM_OK;
}

idm_status idm_yaml_table_number(const idm_yaml_table *table, size_t column, const char *what,
                                 double *ret_value)
{
  const idm_csv_field *cell = &table->field[column];
  if (idm_number_decimal(cell->text, cell->length, ret_value) && isfinite(*ret_value))
    return IDM_OK;
  return idm_yaml_table_fail(table, column, "'%.*s' for %s; expected a number", shown(cell),
                             cell->text, what);
}

idm_status idm_yaml_table_complete(const idm_yaml_table *table, const bool *given, const char *what)
{
  const idm_setting *setting = table->reader->problem->setting;
  const size_t states = setting->states.count;
  for (size_t i = 0; i < setting->actions.count * states; i++)
    if (!given[i] && !setting->terminal_state[i % states])
      return idm_fail_at(table->reader->opt_error, table->path, 1, 1,
                         "no %s of '%.60s' in '%.60s'; expected every state, or every state and "
                         "action",
                         what, setting->actions.name[i / states], setting->states.name[i % states]);
  return IDM_OK;
}
