/* Internal interface of the reader of YAML problems, by section.
 *
 * Contents: reader · table · agent · blocks · codes · derive · dynamics · entries · environments ·
 * episode · features · fields · free · moves · spaces · ties · utility */
#ifndef IDM_IO_PROBLEM_READER_H
#define IDM_IO_PROBLEM_READER_H

#include <stdio.h>

#include "idm/extension/block.h"
#include "idm/extension/problem.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/yaml/yaml.h"

/* === reader ================================================================================= */

/* Data shared by the parts of the reader; `--set` uses the same parts. */

/* Largest number of factors of an observation, and of bytes of a label or a product of labels. */
enum { IDM_YAML_FACTORS = 16, IDM_YAML_LABEL = 1000 };
/* Dense matrices and labels above this many bytes are rejected before anything is allocated. */
#define IDM_YAML_DENSE_LIMIT ((size_t)1 << 30)

/* The two kinds of matrices of a problem. */
typedef enum idm_yaml_kind { IDM_YAML_TRANSITION, IDM_YAML_OBSERVATION } idm_yaml_kind;

/* Rows whose sum differed from 1 and that were normalised: one remark per kind, not one per row. */
typedef struct idm_yaml_rescaled {
  size_t rows;
  double largest;
} idm_yaml_rescaled;

typedef struct idm_yaml_reader {
  const idm_yaml_tree *tree;
  const idm_yaml_node *root;
  const idm_location *opt_location; /* location of the document; NULL: a path */
  idm_problem *problem;             /* the problem being filled */
  idm_notes *opt_notes;
  idm_error *opt_error;
  idm_sizes sizes;
  idm_names states;
  idm_names actions;
  const idm_yaml_node *factors; /* the mapping of factored observations, or NULL */
  bool fully_observed;
  bool moves; /* transitions are sparse rows: probabilities of possible next states */
  idm_yaml_rescaled rescaled[2]; /* by kind */
} idm_yaml_reader;

/* === table ================================================================================== */

/* Table of a YAML problem: a CSV file with a header, whose cells are labels of the problem and
 * numbers. Every error has a position in the table. */

typedef struct idm_yaml_table {
  const idm_yaml_reader *reader;
  char *path; /* path of the file, relative to the working directory or absolute */
  FILE *stream;
  idm_csv *csv;
  idm_labels column;          /* names in the header */
  const idm_csv_field *field; /* cells of the record, [count] */
  size_t count;               /* 0 after the last record */
} idm_yaml_table;

/* Returns true if a node is a text that ends in .csv. */
bool idm_yaml_is_table(const idm_yaml_node *node);
/* Open the table that a node names, relative to the problem file, and read its header. `expected`
 * lists the valid values of the node, for messages. Every open requires a close, after a failure
 * too. */
idm_status idm_yaml_table_open(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *expected, idm_yaml_table *table);
void idm_yaml_table_close(idm_yaml_table *table);
/* Index of a column; the number of columns if there is none. */
size_t idm_yaml_table_column(const idm_yaml_table *table, const char *name);
/* Indices of required columns, in the order of their names; IDM_INPUT if one is missing. */
idm_status idm_yaml_table_columns(const idm_yaml_table *table, const char *const *name,
                                  size_t count, size_t *place);
/* Read the next record; `count` is 0 after the last. */
idm_status idm_yaml_table_next(idm_yaml_table *table);
/* Index of the name in a cell; `what` is the noun for messages, as in "state". */
idm_status idm_yaml_table_label(const idm_yaml_table *table, size_t column, const idm_names *names,
                                const char *what, size_t *ret_index);
/* Finite number in a cell; `what` describes it in messages, as in "a probability". */
idm_status idm_yaml_table_number(const idm_yaml_table *table, size_t column, const char *what,
                                 double *ret_value);

/* IDM_INPUT unless given[action][state] is true for every action and every state that is not
 * terminal; `what` as in "utility". */
idm_status idm_yaml_table_complete(const idm_yaml_table *table, const bool *given,
                                   const char *what);

#define idm_yaml_table_fail(table, place, ...)                                                     \
  idm_fail_at((table)->reader->opt_error, (table)->path, (long)(table)->field[place].line,         \
              (long)(table)->field[place].column, __VA_ARGS__)

/* === agent ================================================================================== */

/* Agent of a YAML problem. */

enum { IDM_YAML_AGENT_KEYS = 100 };
/* Keys that are valid under `agent` with the problem's planner; returns their number. */
size_t idm_yaml_agent_keys(const idm_problem *problem,
                           const char *allowed_keys[IDM_YAML_AGENT_KEYS]);
/* Set one of those keys. */
idm_status idm_yaml_set_agent(idm_yaml_reader *reader, const char *name, const idm_yaml_node *node);
idm_status idm_yaml_read_agent(idm_yaml_reader *reader);

/* === blocks ================================================================================= */

/* Blocks of theta in a YAML problem, each in the form that its descriptor specifies. */

/* Read the blocks at the top level of the file, except the discount. */
idm_status idm_yaml_read_blocks(idm_yaml_reader *reader);
/* Returns true if a block is a key at the top level of the file, under its own name. */
bool idm_yaml_is_block_key(const idm_block_info *info);

/* === codes ================================================================================== */

/* Meaning of cells of a log: `codes`, `missing` and `missed` under `data` of a YAML problem. */

/* Read them; the columns must have been read. */
idm_status idm_yaml_read_codes(const idm_yaml_reader *reader, const idm_yaml_node *data);

/* === derive ================================================================================= */

/* Derived columns and rules of a log: `derive` and `rules` under `data` of a YAML problem. */

/* Read both from the section. */
idm_status idm_yaml_read_coding(const idm_yaml_reader *reader, const idm_yaml_node *data);
/* Write the derived columns and rules of a problem into the section. */
void idm_yaml_put_coding(idm_emitter *out, const idm_columns *columns);

/* === dynamics =============================================================================== */

/* Transition and observation matrices of a YAML problem. */

const char *idm_yaml_kind_name(idm_yaml_kind kind);
size_t idm_yaml_kind_columns(const idm_yaml_reader *reader, idm_yaml_kind kind);
/* Read the matrices of every action from `node` into matrices [action][state][column]. An action
 * without a matrix gets that of opt_base; without a base, a terminal action gets identity or
 * uniform. */
idm_status idm_yaml_read_matrices(idm_yaml_reader *reader, idm_yaml_kind kind,
                                  const idm_yaml_node *node, const double *opt_base,
                                  double *matrices);
idm_status idm_yaml_read_environment(idm_yaml_reader *reader);

/* === entries ================================================================================ */

/* Free entries of the utility. */

/* One action, and all states or one. */
typedef struct idm_yaml_entry {
  size_t action;
  size_t state;
  bool one_state;
} idm_yaml_entry;
/* Resolve ACTION or ACTION.STATE; labels may contain dots, so every split is tried. Returns the
 * number of possible readings; an action that matches as a whole is the only one. */
size_t idm_yaml_resolve_entry(const idm_problem *problem, const char *path, size_t length,
                              idm_yaml_entry *ret);
/* Name of an entry that is a free coordinate by itself, "ACTION,STATE"; returns its length. */
int idm_yaml_entry_name(const idm_setting *setting, size_t entry, char *name, size_t size);
/* Set the free entries of the utility from `entries` or `reference`, NULL if not given. */
idm_status idm_yaml_read_entries(idm_yaml_reader *reader, const idm_yaml_node *opt_entries,
                                 const idm_yaml_node *opt_reference);

/* Set the free coordinates of a block, which takes ownership of coordinate [numbers] and of the
 * texts of name [count] and sets them to NULL here. On failure the caller keeps them. */
idm_status idm_yaml_set_coordinates(idm_block *block, size_t count, char **name,
                                    int32_t **coordinate, idm_error *opt_error);

/* === environments =========================================================================== */

/* The family of environments of a YAML problem. */

/* {NAME: {transition: ..., observation: ..., start: ...}}: a part that an environment omits is that
 * of the problem; a part that the problem omits is that of the first environment. */
idm_status idm_yaml_read_environments(idm_yaml_reader *reader);
/* Replace the setting by the environment that the node names. */
idm_status idm_yaml_enter_environment(idm_yaml_reader *reader, const idm_yaml_node *node);

/* === episode ================================================================================ */

/* Episode of a YAML problem: start, discount, horizon and endings. */

idm_status idm_yaml_read_episode(idm_yaml_reader *reader);
idm_status idm_yaml_read_start(idm_yaml_reader *reader, const idm_yaml_node *node);
idm_status idm_yaml_read_discount(idm_yaml_reader *reader, const idm_yaml_node *node);

/* === features =============================================================================== */

/* Features of a YAML problem's utility. */

/* features: FILE.csv, or {NAME: utility, ...}, and feature_weights: {NAME: number, ...}. */
idm_status idm_yaml_read_features(idm_yaml_reader *reader);
/* Free the weights: all, or those of `opt_entries`, a list of names. IDM_INPUT if `opt_reference`
 * is given. */
idm_status idm_yaml_free_features(const idm_yaml_reader *reader, const idm_yaml_node *opt_entries,
                                  const idm_yaml_node *opt_reference);
/* Write `entries`, if some weights of a free utility are fixed. */
void idm_yaml_put_free_features(idm_emitter *out, const idm_block *block);
/* Set a weight: --set feature_weights.NAME=1. */
idm_status idm_yaml_set_weight(const idm_yaml_reader *reader, const char *name);
void idm_yaml_put_features(idm_emitter *out, const idm_problem *problem);

/* === fields ================================================================================= */

/* Blocks of fields in a YAML problem, the same for all actions or by action, and their rows. */

/* Read one block from its node; the block is resized to the rows given. */
idm_status idm_yaml_read_fields(const idm_yaml_reader *reader, size_t id,
                                const idm_yaml_node *node);
void idm_yaml_put_fields(idm_emitter *out, const idm_setting *setting, const idm_block *block);

/* Select the free numbers of a block. Entries are a list of FIELD or FIELD.ACTION, or {NAME: list,
 * ...} whose entries share one number; NULL for all fields that can be free. A field without an
 * action is one number if it is the same for all actions, otherwise one per action. With
 * opt_before, items are read without that prefix, and items that lack it are skipped. */
idm_status idm_yaml_free_fields(idm_yaml_reader *reader, size_t id, const idm_yaml_node *node,
                                const idm_yaml_node *opt_entries, const char *opt_before);
/* Write the entries of a free block, in a form that is read back unchanged. */
void idm_yaml_put_field_entries(idm_emitter *out, const idm_setting *setting,
                                const idm_block *block);

/* === free =================================================================================== */

/* Free blocks of a YAML problem. */

idm_status idm_yaml_read_free(idm_yaml_reader *reader);
/* The same from the node of `free`. */
idm_status idm_yaml_read_free_blocks(idm_yaml_reader *reader, const idm_yaml_node *node);

/* === moves ================================================================================== */

/* Sparse transitions of observed states: probabilities of possible next states. */

/* Returns true if the file gives the environment's transitions as sparse rows: states are observed,
 * and `transition` is {action: {from: {to: probability}}} for some action, or names a table. */
bool idm_yaml_has_moves(const idm_yaml_reader *reader);
idm_status idm_yaml_read_moves(idm_yaml_reader *reader);

/* === spaces ================================================================================= */

/* Spaces of a YAML problem: names and sizes, lookups by label, lists of numbers. */

/* Count states, actions and observations; sets sizes, factors and fully_observed. */
idm_status idm_yaml_measure_spaces(idm_yaml_reader *reader);
/* IDM_INPUT if the sizes and the number of models exceed the limit of memory. */
idm_status idm_yaml_check_memory(const idm_yaml_reader *reader, size_t models);
/* Requirement that a label does not meet, as words for "expected ..."; NULL if it is valid. A label
 * must be valid in every output and every table (cells are trimmed, and `available` joins actions
 * by '|'). */
const char *idm_yaml_label_fault(const char *text, bool action);
/* IDM_INPUT unless a node is a label. */
idm_status idm_yaml_check_label(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                const char *what, bool action);
/* Read labels into the setting, and build the sorted names of states and actions. */
idm_status idm_yaml_read_labels(idm_yaml_reader *reader);
/* Build the sorted names of states and actions from the problem's setting. */
idm_status idm_yaml_index_labels(idm_yaml_reader *reader);
/* Read a list of distinct names; a single name counts as a list of one. */
idm_status idm_yaml_read_names(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *what, idm_labels *ret_labels);
/* Number of levels of factor f of the observations. */
size_t idm_yaml_factor_size(const idm_yaml_reader *reader, size_t f);
/* Index of an action or state. */
idm_status idm_yaml_find_action(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                const char *what, size_t *ret_action);
idm_status idm_yaml_find_state(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *what, size_t *ret_state);
/* Read a mapping of actions: value [action] of each action, that of "*" for actions not named, NULL
 * if there is neither. */
idm_status idm_yaml_by_action(const idm_yaml_reader *reader, const idm_yaml_node *node,
                              const char *what, const idm_yaml_node **ret_value);
/* Read a mapping of states: value [state] of each, that of "*" for states not named; IDM_INPUT if
 * there is neither. */
idm_status idm_yaml_by_state(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             const char *what, const idm_yaml_node **ret_value);
/* Read a list of `count` numbers into values; none may be less than *opt_least, if that is given.
 */
idm_status idm_yaml_read_numbers(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                 const char *what, size_t count, const double *opt_least,
                                 double *values);
/* Divide weights by their sum; returns false unless it is positive and finite. Normalised weights
 * stay the same bit for bit. */
bool idm_yaml_scale_weights(double *weights, size_t count);

/* === ties =================================================================================== */

/* Ties: entries of transitions or emissions that share one free number. */

/* Read the names next to `scale` and `prior` under free.transition or free.emission, each with a
 * pattern of letters in the shape of a matrix: one for every action, or by action as matrices are.
 */
idm_status idm_yaml_read_ties(idm_yaml_reader *reader, const idm_yaml_node *opt_node, size_t id);
/* Write these names and their patterns, action by action. */
void idm_yaml_put_ties(idm_emitter *out, const idm_setting *setting, const idm_block *block);

/* === utility ================================================================================ */

/* Utility of a YAML problem. */

/* A utility entry given by a column: scale * the column `name`. */
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

/* Read a number, a column or a list of them for one action: values [state], and references for
 * columns. */
idm_status idm_yaml_read_utility_of(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                    size_t action, double *values, idm_yaml_references *references);
/* Read one entry. */
idm_status idm_yaml_read_utility_entry(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                       size_t action, size_t state, double *ret_value,
                                       idm_yaml_references *references);
idm_status idm_yaml_add_reference(idm_yaml_references *references, idm_yaml_reference reference,
                                  idm_error *opt_error);
/* Store the references as the problem's utility sources and columns; nothing changes on failure. */
idm_status idm_yaml_store_references(idm_problem *problem, idm_yaml_references *references,
                                     idm_error *opt_error);
idm_status idm_yaml_read_utility(idm_yaml_reader *reader);

#endif
