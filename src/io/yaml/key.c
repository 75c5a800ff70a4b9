/* A field of a settings struct from a node of YAML, as its key describes it. */
#include "io/yaml/key.h"

#include "base/texts.h"

static idm_status unexpected(const idm_yaml_tree *tree, const idm_yaml_node *node,
                             const idm_key *key, const char *what)
{
  char expected[160];
  return idm_yaml_unexpected(tree, node, what, idm_key_expected(key, expected, sizeof expected));
}

static idm_status read_number(const idm_yaml_tree *tree, const idm_yaml_node *node,
                              const idm_key *key, const char *what, void *fields)
{
  double value = 0;
  const idm_status status = idm_yaml_number(tree, node, what, false, &value);
  if (status != IDM_OK) return status;
  if (value < key->least || value > key->most || (key->above && value == key->least))
    return unexpected(tree, node, key, what);
  idm_key_set_number(key, fields, value);
  return IDM_OK;
}

static idm_status read_word(const idm_yaml_tree *tree, const idm_yaml_node *node,
                            const idm_key *key, const char *what, void *fields)
{
  size_t count = 0;
  size_t index = 0;
  while (key->words[count]) count++;
  const idm_status status = idm_yaml_choice(tree, node, what, key->words, count, &index);
  if (status == IDM_OK) idm_key_set_number(key, fields, (double)index);
  return status;
}

/* As a person writes it. */
static idm_status read_text(const idm_yaml_tree *tree, const idm_yaml_node *node,
                            const idm_key *key, const char *what, void *fields)
{
  if (idm_yaml_is_scalar(node) &&
      idm_key_set_text(key, fields, idm_yaml_text(node), NULL) == IDM_OK)
    return IDM_OK;
  return unexpected(tree, node, key, what);
}

/* One text, or a list of them. */
static idm_status read_texts(const idm_yaml_tree *tree, const idm_yaml_node *node,
                             const idm_key *key, const char *what, void *fields)
{
  char *texts = (char *)fields + key->offset;
  const bool list = idm_yaml_is_list(node);
  texts[0] = '\0';
  for (size_t i = 0; i < (list ? idm_yaml_count(node) : 1); i++) {
    const idm_yaml_node *item = list ? idm_yaml_item(tree, node, i) : node;
    if (!idm_yaml_is_scalar(item) ||
        idm_texts_add(texts, (size_t)key->most, idm_yaml_text(item), NULL) != IDM_OK)
      return unexpected(tree, item, key, what);
  }
  return IDM_OK;
}

idm_status idm_yaml_read_key(const idm_yaml_tree *tree, const idm_yaml_node *node,
                             const idm_key *key, const char *what, void *fields)
{
  long whole = 0;
  bool truth = false;
  idm_status status;
  switch (key->kind) {
  case IDM_KEY_NUMBER:
    return key->zero ? read_text(tree, node, key, what, fields)
                     : read_number(tree, node, key, what, fields);
  case IDM_KEY_WORD:
    return read_word(tree, node, key, what, fields);
  case IDM_KEY_FLAG:
    status = idm_yaml_boolean(tree, node, what, &truth);
    if (status == IDM_OK) idm_key_set_number(key, fields, truth);
    return status;
  case IDM_KEY_TEXTS:
    return read_texts(tree, node, key, what, fields);
  case IDM_KEY_TEXT:
  case IDM_KEY_SEED:
    return read_text(tree, node, key, what, fields);
  default:
    if (key->zero) return read_text(tree, node, key, what, fields);
    status = idm_yaml_integer(tree, node, what, (long)key->least, &whole);
    if (status != IDM_OK) return status;
    if ((double)whole > key->most) return unexpected(tree, node, key, what);
    idm_key_set_number(key, fields, (double)whole);
    return IDM_OK;
  }
}
