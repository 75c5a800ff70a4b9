/* Parts of the YAML problem reader, one file a topic; `--set` uses the same parts. */
#ifndef IDM_IO_PROBLEM_YAML_H
#define IDM_IO_PROBLEM_YAML_H

#include "idm/io.h"
#include "io/yaml/names.h"
#include "io/yaml/tree.h"

/* Most factors an observation may have, and most bytes a label or a product of labels may have. */
enum { IDM_YAML_FACTORS = 16, IDM_YAML_LABEL = 1000 };
/* Dense matrices and labels above this many bytes are refused before anything is allocated. */
#define IDM_YAML_DENSE_LIMIT ((size_t)1 << 30)

/* The two kinds of matrices of a problem. */
typedef enum idm_yaml_kind { IDM_YAML_TRANSITION, IDM_YAML_OBSERVATION } idm_yaml_kind;

/* Rows that missed a sum of 1 and were mended: one note a kind, not one a row. */
typedef struct idm_yaml_mended {
  size_t rows;
  double largest;
} idm_yaml_mended;

typedef struct idm_yaml_reader {
  const idm_yaml_tree *tree;
  const idm_yaml_node *root;
  idm_problem *problem; /* being filled */
  idm_notes *opt_notes;
  idm_error *opt_error;
  idm_sizes sizes;
  idm_names states;
  idm_names actions;
  const idm_yaml_node *factors; /* the mapping of factored observations, or NULL */
  bool fully_observed;
  idm_yaml_mended mended[2]; /* by kind */
} idm_yaml_reader;

/* A utility entry by column: scale * the column `name`. */
typedef struct idm_yaml_reference {
  size_t action;
  size_t state;
  double scale;
  const char *name;
} idm_yaml_reference;

typedef struct idm_yaml_references {
  size_t count;
  size_t capacity;
  idm_yaml_reference *item;
} idm_yaml_references;

/* --- whole files ---------------------------------------------------------------------------- */

/* Reads what stands beside the problem in the same document, once the problem is read. */
typedef idm_status (*idm_yaml_section)(void *context, const idm_yaml_tree *tree);

/* idm_problem_parse_yaml and idm_problem_read with such a reader; files of another format have no
 * sections. */
idm_status idm_problem_parse_sections(const char *text, size_t length, const char *file,
                                      idm_yaml_section opt_section, void *context,
                                      idm_problem **ret_problem, idm_notes *opt_notes,
                                      idm_error *opt_error);
idm_status idm_problem_read_sections(const char *path, idm_yaml_section opt_section, void *context,
                                     idm_problem **ret_problem, idm_notes *opt_notes,
                                     idm_error *opt_error);
/* The name of a built-in example where the path is one ("example:NAME"), else NULL. */
const char *idm_problem_example(const char *path);

/* --- spaces: names and sizes ---------------------------------------------------------------- */

/* Count states, actions and observations; fills sizes, factors, fully_observed. */
idm_status idm_yaml_measure_spaces(idm_yaml_reader *reader);
/* Refuse what cannot be held, from the sizes and the number of models. */
idm_status idm_yaml_check_memory(const idm_yaml_reader *reader, size_t models);
/* Labels into the setting, and the sorted names of states and actions. */
idm_status idm_yaml_read_labels(idm_yaml_reader *reader);
/* Names of states and actions from the problem's setting. */
idm_status idm_yaml_index_labels(idm_yaml_reader *reader);
/* Copy a list of names (one name counts as a list of one); each may stand once. */
idm_status idm_yaml_read_names(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *what, idm_labels *ret_labels);
/* Levels of factor f of the observations. */
size_t idm_yaml_factor_size(const idm_yaml_reader *reader, size_t f);
/* Index of an action or state. */
idm_status idm_yaml_find_action(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                const char *what, size_t *ret_action);
idm_status idm_yaml_find_state(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *what, size_t *ret_state);
/* A mapping of actions: value of each action, "*" for those not named, NULL where there is neither.
 */
idm_status idm_yaml_by_action(const idm_yaml_reader *reader, const idm_yaml_node *node,
                              const char *what, const idm_yaml_node **ret_value);
/* A list of `count` numbers into values; where `least` is given none may lie below it. */
idm_status idm_yaml_read_numbers(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                 const char *what, size_t count, const double *opt_least,
                                 double *values);
/* Divide weights by their sum; what is normalised already stays as it is, bit for bit. */
bool idm_yaml_scale_weights(double *weights, size_t count);

/* --- course of an episode ------------------------------------------------------------------- */

idm_status idm_yaml_read_episode(idm_yaml_reader *reader);
idm_status idm_yaml_read_start(idm_yaml_reader *reader, const idm_yaml_node *node);
idm_status idm_yaml_read_discount(idm_yaml_reader *reader, const idm_yaml_node *node);

/* --- dynamics and models -------------------------------------------------------------------- */

const char *idm_yaml_kind_name(idm_yaml_kind kind);
size_t idm_yaml_kind_columns(const idm_yaml_reader *reader, idm_yaml_kind kind);
/* Matrices of every action from `node`; where it names no matrix, those of opt_base; where there
 * are none, a terminal action gets identity or uniform. Fills matrices [action][state][column]. */
idm_status idm_yaml_read_matrices(idm_yaml_reader *reader, idm_yaml_kind kind,
                                  const idm_yaml_node *node, const double *opt_base,
                                  double *matrices);
idm_status idm_yaml_read_environment(idm_yaml_reader *reader);
idm_status idm_yaml_read_models(idm_yaml_reader *reader);

/* --- utility -------------------------------------------------------------------------------- */

/* Number, column or list of them for one action: values [state], and references for columns. */
idm_status idm_yaml_read_utility_of(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                    size_t action, double *values, idm_yaml_references *references);
/* One entry. */
idm_status idm_yaml_read_utility_entry(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                       size_t action, size_t state, double *ret_value,
                                       idm_yaml_references *references);
idm_status idm_yaml_add_reference(idm_yaml_references *references, idm_yaml_reference reference,
                                  idm_error *opt_error);
/* Make the references the problem's utility sources and columns; nothing changes on failure. */
idm_status idm_yaml_store_references(idm_problem *problem, idm_yaml_references *references,
                                     idm_error *opt_error);
idm_status idm_yaml_read_utility(idm_yaml_reader *reader);

/* One action, and all states or one. */
typedef struct idm_yaml_entry {
  size_t action;
  size_t state;
  bool one_state;
} idm_yaml_entry;
/* ACTION or ACTION.STATE; labels may hold dots, so every split is tried. Returns the number of
 * readings found; an action that matches as a whole is the only reading. */
size_t idm_yaml_resolve_entry(const idm_problem *problem, const char *path, size_t length,
                              idm_yaml_entry *ret);
/* Name of an entry that is free by itself, "ACTION,STATE"; returns its length. */
int idm_yaml_entry_name(const idm_setting *setting, size_t entry, char *name, size_t size);
/* Which entries of the utility are free: `entries` or `reference`, NULL where not given. */
idm_status idm_yaml_read_entries(idm_yaml_reader *reader, const idm_yaml_node *opt_entries,
                                 const idm_yaml_node *opt_reference);

/* --- agent, priors, free blocks, columns ---------------------------------------------------- */

/* Keys of `agent` that hold one value, NULL at the end. */
extern const char *const idm_yaml_agent_keys[];
/* Set one of those keys. */
idm_status idm_yaml_set_agent(idm_yaml_reader *reader, const char *key, const idm_yaml_node *node);
idm_status idm_yaml_read_agent(idm_yaml_reader *reader);
idm_status idm_yaml_read_priors(idm_yaml_reader *reader);
idm_status idm_yaml_read_free(idm_yaml_reader *reader);
/* The same from the node that stands under `free`. */
idm_status idm_yaml_read_free_blocks(idm_yaml_reader *reader, const idm_yaml_node *node);
/* Whether a block may stand under `free`. */
bool idm_yaml_may_be_free(idm_block_id id);
idm_status idm_yaml_read_columns(idm_yaml_reader *reader);

#endif
