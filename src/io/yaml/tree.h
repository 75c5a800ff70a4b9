/* YAML documents that are read: nodes, keys and names.
 *
 * Contents: tree · key · names */
#ifndef IDM_IO_YAML_TREE_H
#define IDM_IO_YAML_TREE_H

#include <stdbool.h>
#include <yaml.h>

#include "idm/key.h"
#include "idm/setting.h"
#include "idm/status.h"

/* === tree =================================================================================== */

/* A YAML document as a tree of nodes that know their place: a thin reader over libyaml. */

typedef yaml_node_t idm_yaml_node;

/* One document. `file` and `opt_error` are borrowed for the life of the tree: every failure below
 * is reported there. Aliases make the nodes a graph that may hold cycles: readers bound their own
 * depth. */
typedef struct idm_yaml_tree {
  yaml_document_t document;
  const char *file;
  idm_error *opt_error;
} idm_yaml_tree;

/* What a text says as a number. */
typedef enum idm_yaml_numeral {
  IDM_YAML_TEXT,    /* no number at all */
  IDM_YAML_NUMBER,  /* decimal, or inf, .inf with a sign or without */
  IDM_YAML_ILLEGAL, /* nan, hexadecimal, or beyond the range of a double */
} idm_yaml_numeral;

/* Parse one document, at most 32 levels deep and with at most 1000 anchors. Afterwards every scalar
 * is free of NUL characters, every key is a scalar, keys of a mapping differ, and tags are those of
 * plain YAML. */
idm_status idm_yaml_load(const char *text, size_t length, const char *file,
                         idm_yaml_tree **ret_tree, idm_error *opt_error);
void idm_yaml_destroy(idm_yaml_tree *tree);

/* --- nodes ---------------------------------------------------------------------------------- */

const idm_yaml_node *idm_yaml_root(const idm_yaml_tree *tree);
bool idm_yaml_is_scalar(const idm_yaml_node *node);
bool idm_yaml_is_list(const idm_yaml_node *node);
bool idm_yaml_is_mapping(const idm_yaml_node *node);
/* An empty plain value, `~` or `null`. */
bool idm_yaml_is_null(const idm_yaml_node *node);
/* Text of a scalar. */
const char *idm_yaml_text(const idm_yaml_node *node);
/* Items of a list or pairs of a mapping; 0 for a scalar. */
size_t idm_yaml_count(const idm_yaml_node *node);
/* Item i of a list, or value i of a mapping. */
const idm_yaml_node *idm_yaml_item(const idm_yaml_tree *tree, const idm_yaml_node *node, size_t i);
const idm_yaml_node *idm_yaml_key(const idm_yaml_tree *tree, const idm_yaml_node *node, size_t i);
/* Value of a key of a mapping, or NULL. */
const idm_yaml_node *idm_yaml_find(const idm_yaml_tree *tree, const idm_yaml_node *node,
                                   const char *key);

/* --- failures, and values with their checks ------------------------------------------------- */

/* A failure at a node's place. */
idm_status idm_yaml_fail(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *format,
                         ...) IDM_PRINTF(3, 4);
/* "WHAT is FOUND; expected EXPECTED". */
idm_status idm_yaml_unexpected(const idm_yaml_tree *tree, const idm_yaml_node *node,
                               const char *what, const char *expected);
/* A word that is none of the known ones: names the nearest, or else lists them. */
idm_status idm_yaml_unknown(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                            const char *const *allowed, size_t count);
/* The same of a word that is not the text of the node. */
idm_status idm_yaml_unknown_word(const idm_yaml_tree *tree, const idm_yaml_node *node,
                                 const char *what, const char *word, const char *const *allowed,
                                 size_t count);
/* The node is a mapping with none but the known keys (NULL ends the list). */
idm_status idm_yaml_check_keys(const idm_yaml_tree *tree, const idm_yaml_node *node,
                               const char *what, const char *const *allowed);
/* The node is a list of `count` items (0: of at least one). */
idm_status idm_yaml_check_list(const idm_yaml_tree *tree, const idm_yaml_node *node,
                               const char *what, const char *expected, size_t count);
idm_yaml_numeral idm_yaml_parse_number(const char *text, double *ret_value);
/* A number; infinite ones only where `infinite`. */
idm_status idm_yaml_number(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                           bool infinite, double *ret_value);
/* An integer from `least` to a billion. */
idm_status idm_yaml_integer(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                            long least, long *ret_value);
/* `true` or `false`. */
idm_status idm_yaml_boolean(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                            bool *ret_value);
/* One of `count` words; its index. */
idm_status idm_yaml_choice(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                           const char *const *words, size_t count, size_t *ret_index);

/* === key ==================================================================================== */

/* A field of a settings struct from a node of YAML, as its key describes it. */

/* `what` names the field in messages. */
idm_status idm_yaml_read_key(const idm_yaml_tree *tree, const idm_yaml_node *node,
                             const idm_key *key, const char *what, void *fields);

/* === names ================================================================================== */

/* Sorted names: lookup and duplicates in n log n, because a file may hold a million labels. */

typedef struct idm_name {
  const char *text; /* borrowed */
  size_t index;     /* place in the list the names came from */
} idm_name;

/* Sorted by text, equal texts by index. Zero-initialise. */
typedef struct idm_names {
  size_t count;
  idm_name *entry;
} idm_names;

/* Sort the entries of a list that the caller has filled (count, entry owned from now on). */
void idm_names_sort(idm_names *names);
idm_status idm_names_create(const idm_labels *labels, idm_names *ret_names, idm_error *opt_error);
void idm_names_destroy(idm_names *names);
/* The first index that repeats an earlier text, or -1 where all differ. */
long idm_names_repeated(const idm_names *names);
/* As idm_labels_find: a label, else a 0-based number in range, else -1. */
long idm_names_find(const idm_names *names, const char *text);

#endif
