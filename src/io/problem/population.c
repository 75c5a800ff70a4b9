/* The population of a YAML problem: priors of what people are like, in place of the usual ones. */
#include "io/problem/population.h"

#include <string.h>

static idm_status read_positive(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                const char *what, double *ret_value)
{
  const idm_status status = idm_yaml_number(reader->tree, node, what, false, ret_value);
  if (status != IDM_OK || *ret_value > 0) return status;
  return idm_yaml_unexpected(reader->tree, node, what, "a positive number");
}

/* The field of a block that a key sets. */
static double *field_of(idm_block *block, bool coefficient)
{
  return coefficient ? &block->population.coefficient : &block->population.sd;
}

/* The free block of that name. */
static idm_status find_block(const idm_yaml_reader *reader, const idm_yaml_node *key,
                             idm_block **ret_block)
{
  enum { most = 100 };
  idm_theta *theta = reader->problem->theta;
  const char *names[most];
  size_t count = 0;
  for (size_t i = 0; i < theta->blocks && count < most; i++) {
    if (!theta->block[i].info->scales) continue;
    names[count++] = theta->block[i].info->name;
    *ret_block = &theta->block[i];
    if (strcmp(names[count - 1], idm_yaml_text(key)) == 0) return IDM_OK;
  }
  return idm_yaml_unknown(reader->tree, key, "in population, the block", names, count);
}

/* One number for all blocks that can be free, or numbers by block. */
static idm_status read_scales(const idm_yaml_reader *reader, const idm_yaml_node *node,
                              const char *what, bool coefficient)
{
  idm_theta *theta = reader->problem->theta;
  double value = 0;
  if (!idm_yaml_is_mapping(node)) {
    const idm_status status = read_positive(reader, node, what, &value);
    for (size_t i = 0; i < theta->blocks && status == IDM_OK; i++)
      if (theta->block[i].info->scales) *field_of(&theta->block[i], coefficient) = value;
    return status;
  }
  idm_status status = IDM_OK;
  for (size_t i = 0; i < idm_yaml_count(node) && status == IDM_OK; i++) {
    idm_block *block = NULL;
    status = find_block(reader, idm_yaml_key(reader->tree, node, i), &block);
    if (status == IDM_OK)
      status = read_positive(reader, idm_yaml_item(reader->tree, node, i), what, &value);
    if (status == IDM_OK) *field_of(block, coefficient) = value;
  }
  return status;
}

idm_status idm_yaml_read_population(idm_yaml_reader *reader)
{
  static const char *const keys[] = {"sd", "coefficient", "correlation", NULL};
  const idm_yaml_tree *tree = reader->tree;
  const idm_yaml_node *section = idm_yaml_find(tree, reader->root, "population");
  if (!section) return IDM_OK;
  idm_status status = idm_yaml_check_keys(tree, section, "population", keys);
  if (status != IDM_OK) return status;
  const idm_yaml_node *sd = idm_yaml_find(tree, section, "sd");
  const idm_yaml_node *coefficient = idm_yaml_find(tree, section, "coefficient");
  const idm_yaml_node *correlation = idm_yaml_find(tree, section, "correlation");
  if (sd) status = read_scales(reader, sd, "population.sd", false);
  if (status == IDM_OK && coefficient)
    status = read_scales(reader, coefficient, "population.coefficient", true);
  if (status == IDM_OK && correlation)
    status =
        read_positive(reader, correlation, "population.correlation", &reader->problem->correlation);
  return status;
}
