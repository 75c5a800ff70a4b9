/* Roles of the columns of a log: the key `data` of a YAML problem. */
#include "io/problem/columns.h"

#include <stdio.h>

#include "idm/column.h"
#include "io/problem/codes.h"
#include "io/problem/derive.h"
#include "io/problem/spaces.h"

idm_status idm_yaml_read_columns(idm_yaml_reader *reader)
{
  const char *keys[IDM_COLUMN_COUNT + 6] = {NULL};
  for (size_t i = 0; i < IDM_COLUMN_COUNT; i++) keys[i] = idm_column_describe((idm_column)i)->key;
  keys[IDM_COLUMN_COUNT] = "codes";
  keys[IDM_COLUMN_COUNT + 1] = "missing";
  keys[IDM_COLUMN_COUNT + 2] = "derive";
  keys[IDM_COLUMN_COUNT + 3] = "rules";
  keys[IDM_COLUMN_COUNT + 4] = "missed";
  const idm_yaml_node *data = idm_yaml_find(reader->tree, reader->root, "data");
  if (!data) return IDM_OK;
  idm_status status = idm_yaml_check_keys(reader->tree, data, "data", keys);
  for (size_t i = 0; i < IDM_COLUMN_COUNT && status == IDM_OK; i++) {
    const idm_yaml_node *node = idm_yaml_find(reader->tree, data, keys[i]);
    char what[40];
    snprintf(what, sizeof what, "data.%s", keys[i]);
    if (!node) continue;
    status = idm_yaml_read_names(reader, node, what, &reader->problem->columns.role[i]);
    if (status == IDM_OK && idm_column_describe((idm_column)i)->evidence &&
        reader->problem->columns.role[i].count > 1)
      status = idm_yaml_unexpected(reader->tree, node, what, "one column");
    if (status == IDM_OK && idm_column_describe((idm_column)i)->of_state && !reader->fully_observed)
      status = idm_yaml_fail(reader->tree, node,
                             "%s names a column of states, which are hidden in this problem; "
                             "expected `observations: states`, or no such column",
                             what);
  }
  if (status == IDM_OK) status = idm_yaml_read_codes(reader, data);
  return status == IDM_OK ? idm_yaml_read_coding(reader, data) : status;
}
