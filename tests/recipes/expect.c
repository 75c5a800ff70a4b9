/* Reads the section `expect` of a YAML problem: sizes that the problem must have. */
#include "io/problem/reader.h"

idm_status idm_yaml_read_expect(idm_yaml_reader *reader)
{
  static const char *const fields[] = {"states", NULL};
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "expect");
  if (!node) return IDM_OK;
  long states = 0;
  idm_status status = idm_yaml_check_keys(reader->tree, node, "expect", fields);
  const idm_yaml_node *number = idm_yaml_find(reader->tree, node, fields[0]);
  if (status != IDM_OK || !number) return status;
  status = idm_yaml_integer(reader->tree, number, "expect.states", 1, &states);
  if (status == IDM_OK && (size_t)states != reader->sizes.states)
    return idm_yaml_fail(reader->tree, number, "expect.states is %ld; the problem has %zu", states,
                         reader->sizes.states);
  return status;
}
