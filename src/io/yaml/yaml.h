/* YAML: a reader of documents with their places, and a writer.
 *
 * Contents: tree · key · names · emit */
#ifndef IDM_IO_YAML_YAML_H
#define IDM_IO_YAML_YAML_H

#include <stdbool.h>
#include <stdint.h>
#include <yaml.h>

#include "base/key.h"
#include "idm/extension/setting.h"
#include "idm/status.h"
#include "io/file.h"

/* === tree =================================================================================== */

/* YAML document as a tree of nodes with positions, over libyaml. */

typedef yaml_node_t idm_yaml_node;

/* A document. `file` and `opt_error` are borrowed for the life of the tree; all failures below are
 * reported there. Aliases make the nodes a graph that may contain cycles: readers must bound their
 * own depth. */
typedef struct idm_yaml_tree {
  yaml_document_t document;
  const char *file;
  idm_error *opt_error;
} idm_yaml_tree;

/* Result of parsing a text as a number. */
typedef enum idm_yaml_numeral {
  IDM_YAML_TEXT,    /* not a number */
  IDM_YAML_NUMBER,  /* decimal, or inf or .inf, with or without a sign */
  IDM_YAML_ILLEGAL, /* nan, hexadecimal, or beyond the range of a double */
} idm_yaml_numeral;

/* Parse one document, at most 32 levels deep and with at most 1000 anchors. On success, no scalar
 * contains NUL characters, every key is a scalar, the keys of a mapping differ, and tags are those
 * of plain YAML. */
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

/* Fail with IDM_INPUT at a node's position. */
idm_status idm_yaml_fail(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *format,
                         ...) IDM_PRINTF(3, 4);
/* Fail with IDM_INPUT: "WHAT is FOUND; expected EXPECTED". */
idm_status idm_yaml_unexpected(const idm_yaml_tree *tree, const idm_yaml_node *node,
                               const char *what, const char *expected);
/* Fail with IDM_INPUT at an unknown word; the message suggests the nearest allowed word, or lists
 * all of them. */
idm_status idm_yaml_unknown(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                            const char *const *allowed, size_t count);
/* The same for a word that is not the text of the node. */
idm_status idm_yaml_unknown_word(const idm_yaml_tree *tree, const idm_yaml_node *node,
                                 const char *what, const char *word, const char *const *allowed,
                                 size_t count);
/* IDM_INPUT unless the node is a mapping whose keys are all allowed (NULL ends the list). */
idm_status idm_yaml_check_keys(const idm_yaml_tree *tree, const idm_yaml_node *node,
                               const char *what, const char *const *allowed);
/* IDM_INPUT unless the node is a list of `count` items (0: of at least one). */
idm_status idm_yaml_check_list(const idm_yaml_tree *tree, const idm_yaml_node *node,
                               const char *what, const char *expected, size_t count);
idm_yaml_numeral idm_yaml_parse_number(const char *text, double *ret_value);
/* A number; infinite values are accepted only if `infinite`. */
idm_status idm_yaml_number(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                           bool infinite, double *ret_value);
/* An integer from `least` to 1000000000. */
idm_status idm_yaml_integer(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                            long least, long *ret_value);
/* `true` or `false`. */
idm_status idm_yaml_boolean(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                            bool *ret_value);
/* One of `count` words; *ret_index is its index. */
idm_status idm_yaml_choice(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                           const char *const *words, size_t count, size_t *ret_index);

/* === key ==================================================================================== */

/* Field of a settings struct, read from a YAML node as its key specifies. */

/* `what` is the name of the field in messages. */
idm_status idm_yaml_read_key(const idm_yaml_tree *tree, const idm_yaml_node *node,
                             const idm_key *key, const char *what, void *fields);

/* === names ================================================================================== */

/* Sorted names: lookup and detection of duplicates in O(n log n), since a file may contain a
 * million labels. */

typedef struct idm_name {
  const char *text; /* borrowed */
  size_t index;     /* index in the original list */
} idm_name;

/* Sorted by text, equal texts by index. Zero-initialise. */
typedef struct idm_names {
  size_t count;
  idm_name *entry;
} idm_names;

/* Sort the entries that the caller has filled in; the names own `entry` from then on. */
void idm_names_sort(idm_names *names);
idm_status idm_names_create(const idm_labels *labels, idm_names *ret_names, idm_error *opt_error);
void idm_names_destroy(idm_names *names);
/* The first index that repeats an earlier text; -1 if all texts differ. */
long idm_names_repeated(const idm_names *names);
/* As idm_labels_find: index of a label; otherwise the value of a 0-based number in range; otherwise
 * -1. */
long idm_names_find(const idm_names *names, const char *text);

/* === emit =================================================================================== */

/* Writer of YAML over libyaml's emitter. Lines are never wrapped. */

/* A document that is written to a file. The first failure is kept and returned at the end; what is
 * emitted after it is ignored, so that no call in between needs a check. */
typedef struct idm_emitter {
  yaml_emitter_t yaml;
  idm_file *file;
  idm_error error; /* the first failure, which the caller may set too; IDM_OK until then */
} idm_emitter;

typedef enum idm_emit_style { IDM_EMIT_BLOCK, IDM_EMIT_FLOW } idm_emit_style;

/* Begin a file that is written atomically: one document, a block mapping. "-" is standard output.
 */
void idm_emit_begin(idm_emitter *emitter, const char *path);
/* The same for a file at a location. */
void idm_emit_begin_at(idm_emitter *emitter, const idm_location *place);
/* Write lines of comment at the head of the file, before anything else is emitted. Control
 * characters of the text, except line ends, become '?'. */
void idm_emit_head(idm_emitter *emitter, const char *text);
/* End the document and commit the file; abandon it after a failure. Every begin needs an end. */
idm_status idm_emit_end(idm_emitter *emitter, idm_error *opt_error);

/* --- nodes ---------------------------------------------------------------------------------- */

/* opt_key is the node's key in a mapping, NULL in a list. Nodes inside a flow are written in flow
 * style, whatever their style. */
void idm_emit_mapping(idm_emitter *emitter, const char *opt_key, idm_emit_style style);
void idm_emit_mapping_end(idm_emitter *emitter);
void idm_emit_list(idm_emitter *emitter, const char *opt_key, idm_emit_style style);
void idm_emit_list_end(idm_emitter *emitter);

/* A text; keys are written in the same way. It is quoted unless every reader takes it for this
 * text. IDM_INPUT unless it is UTF-8. */
void idm_emit_text(idm_emitter *emitter, const char *opt_key, const char *text);
/* A word of the format, never quoted. */
void idm_emit_word(idm_emitter *emitter, const char *opt_key, const char *word);
/* The shortest decimal that reads back as the same number. */
void idm_emit_number(idm_emitter *emitter, const char *opt_key, double value);
void idm_emit_integer(idm_emitter *emitter, const char *opt_key, uint64_t value);
/* Lists in flow style. */
void idm_emit_texts(idm_emitter *emitter, const char *opt_key, const char *const *text,
                    size_t count);
void idm_emit_numbers(idm_emitter *emitter, const char *opt_key, const double *value, size_t count);

/* --- pieces --------------------------------------------------------------------------------- */

/* One text, or a list of texts in flow style, as a part of a line; for files with comments, which
 * libyaml does not write. The caller frees *ret_piece. */
idm_status idm_emit_text_piece(const char *text, char **ret_piece, idm_error *opt_error);
idm_status idm_emit_texts_piece(const char *const *text, size_t count, char **ret_piece,
                                idm_error *opt_error);

#endif
