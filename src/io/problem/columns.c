/* Roles of the columns of a log: the key `data` of a YAML problem. */
#include <stdio.h>

#include "io/problem/parse.h"

idm_status idm_yaml_read_columns(idm_yaml_reader *reader)
{
  static const char *const keys[] = {"agent",       "trajectory", "time", "action",
                                     "observation", "available",  NULL};
  idm_columns *columns = &reader->problem->columns;
  idm_labels *const lists[] = {&columns->agent,  &columns->trajectory,  &columns->time,
                               &columns->action, &columns->observation, &columns->available};
  const idm_yaml_node *data = idm_yaml_find(reader->tree, reader->root, "data");
  if (!data) return IDM_OK;
  idm_status status = idm_yaml_check_keys(reader->tree, data, "data", keys);
  for (size_t i = 0; keys[i] && status == IDM_OK; i++) {
    const idm_yaml_node *node = idm_yaml_find(reader->tree, data, keys[i]);
    char what[40];
    snprintf(what, sizeof what, "data.%s", keys[i]);
    if (node) status = idm_yaml_read_names(reader, node, what, lists[i]);
  }
  return status;
}
