/* The reader of YAML problems, by section.
 *
 * Contents: reader · table · agent · blocks · codes · derive · dynamics · entries ·
 * environments · episode · features · fields · free · moves · spaces · ties · utility */
#ifndef IDM_IO_PROBLEM_READER_H
#define IDM_IO_PROBLEM_READER_H

#include <stdio.h>

#include "idm/block.h"
#include "idm/problem.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/yaml/emit.h"
#include "io/yaml/tree.h"

/* === reader ================================================================================= */

/* What the parts of the YAML problem reader share; `--set` uses the same parts. */

/* Most factors an observation may have, and most bytes a label or a product of labels may have. */
enum { IDM_YAML_FACTORS = 16, IDM_YAML_LABEL = 1000 };
/* Dense matrices and labels above this many bytes are refused before anything is allocated. */
#define IDM_YAML_DENSE_LIMIT ((size_t)1 << 30)

/* The two kinds of matrices of a problem. */
typedef enum idm_yaml_kind { IDM_YAML_TRANSITION, IDM_YAML_OBSERVATION } idm_yaml_kind;

/* Rows that missed a sum of 1 and were mended: one note a kind, not one a row. */
typedef struct idm_yaml_rescaled {
  size_t rows;
  double largest;
} idm_yaml_rescaled;

typedef struct idm_yaml_reader {
  const idm_yaml_tree *tree;
  const idm_yaml_node *root;
  const idm_location *opt_location; /* of the document; NULL: a path */
  idm_problem *problem;             /* being filled */
  idm_notes *opt_notes;
  idm_error *opt_error;
  idm_sizes sizes;
  idm_names states;
  idm_names actions;
  const idm_yaml_node *factors; /* the mapping of factored observations, or NULL */
  bool fully_observed;
  bool moves;                    /* transitions are given row by row, by what may follow */
  idm_yaml_rescaled rescaled[2]; /* by kind */
} idm_yaml_reader;

/* === table ================================================================================== */

/* A table beside a YAML problem: CSV with a header, whose cells hold labels of the problem and
 * numbers. Every error has its place in the table. */

typedef struct idm_yaml_table {
  const idm_yaml_reader *reader;
  char *path; /* as seen from here */
  FILE *stream;
  idm_csv *csv;
  idm_labels column;          /* names in the header */
  const idm_csv_field *field; /* cells of the record, [count] */
  size_t count;               /* 0 behind the last record */
} idm_yaml_table;

/* Whether a node is a text that ends in .csv. */
bool idm_yaml_is_table(const idm_yaml_node *node);
/* Open the table that a node names, relative to the problem file, and read its header; `expected`
 * is what may stand in the place of the name. Every open needs its close, failed or not. */
idm_status idm_yaml_table_open(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *expected, idm_yaml_table *table);
void idm_yaml_table_close(idm_yaml_table *table);
/* Place of a column, or the number of columns where there is none. */
size_t idm_yaml_table_column(const idm_yaml_table *table, const char *name);
/* Places of columns that are needed, in the order of their names. */
idm_status idm_yaml_table_columns(const idm_yaml_table *table, const char *const *name,
                                  size_t count, size_t *place);
/* The next record; `count` is 0 behind the last. */
idm_status idm_yaml_table_next(idm_yaml_table *table);
/* Which of the names a cell holds; `what` as in "state". */
idm_status idm_yaml_table_label(const idm_yaml_table *table, size_t column, const idm_names *names,
                                const char *what, size_t *ret_index);
/* The finite number that a cell holds; `what` as in "a probability". */
idm_status idm_yaml_table_number(const idm_yaml_table *table, size_t column, const char *what,
                                 double *ret_value);

/* Whether given[action][state] holds of every action and state, terminal ones apart, where nothing
 * is done; `what` as in "utility". */
idm_status idm_yaml_table_complete(const idm_yaml_table *table, const bool *given,
                                   const char *what);

#define idm_yaml_table_fail(table, place, ...)                                                     \
  idm_fail_at((table)->reader->opt_error, (table)->path, (long)(table)->field[place].line,         \
              (long)(table)->field[place].column, __VA_ARGS__)

/* === agent ================================================================================== */

/* Agent of a YAML problem. */

enum { IDM_YAML_AGENT_KEYS = 100 };
/* The keys that may stand under `agent` with the problem's planner; returns how many. */
size_t idm_yaml_agent_keys(const idm_problem *problem,
                           const char *allowed_keys[IDM_YAML_AGENT_KEYS]);
/* Set one of those keys. */
idm_status idm_yaml_set_agent(idm_yaml_reader *reader, const char *name, const idm_yaml_node *node);
idm_status idm_yaml_read_agent(idm_yaml_reader *reader);

/* === blocks ================================================================================= */

/* Blocks of theta in a YAML problem, each in the form that its descriptor gives. */

/* Those that stand at the top of the file, except the discount. */
idm_status idm_yaml_read_blocks(idm_yaml_reader *reader);
/* Whether a block stands at the top of the file under its own name. */
bool idm_yaml_is_block_key(const idm_block_info *info);

/* === codes ================================================================================== */

/* What cells of a log mean: `codes`, `missing` and `missed` under `data` of a YAML problem. */

/* Once the columns are read. */
idm_status idm_yaml_read_codes(const idm_yaml_reader *reader, const idm_yaml_node *data);

/* === derive ================================================================================= */

/* Derived columns and rules of a log: `derive` and `rules` under `data` of a YAML problem. */

/* Read both from the section. */
idm_status idm_yaml_read_coding(const idm_yaml_reader *reader, const idm_yaml_node *data);
/* Write what a problem has of them into the section. */
void idm_yaml_put_coding(idm_emitter *out, const idm_columns *columns);

/* === dynamics =============================================================================== */

/* Transition and observation matrices of a YAML problem. */

const char *idm_yaml_kind_name(idm_yaml_kind kind);
size_t idm_yaml_kind_columns(const idm_yaml_reader *reader, idm_yaml_kind kind);
/* Matrices of every action from `node`; where it names no matrix, those of opt_base; where there
 * are none, a terminal action gets identity or uniform. Fills matrices [action][state][column]. */
idm_status idm_yaml_read_matrices(idm_yaml_reader *reader, idm_yaml_kind kind,
                                  const idm_yaml_node *node, const double *opt_base,
                                  double *matrices);
idm_status idm_yaml_read_environment(idm_yaml_reader *reader);

/* === entries ================================================================================ */

/* Which entries of the utility are free. */

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

/* Give a block its free coordinates: coordinate[numbers] and name[count] become the block's, and
 * NULL here. On failure they stay the caller's. */
idm_status idm_yaml_set_coordinates(idm_block *block, size_t count, char **name,
                                    int32_t **coordinate, idm_error *opt_error);

/* === environments =========================================================================== */

/* The family of environments of a YAML problem. */

/* {NAME: {transition: ..., observation: ..., start: ...}}: what one does not give is the problem's
 * own, and what the problem does not give is that of the first. */
idm_status idm_yaml_read_environments(idm_yaml_reader *reader);
/* Put the environment that the node names in place of the setting's own. */
idm_status idm_yaml_enter_environment(idm_yaml_reader *reader, const idm_yaml_node *node);

/* === episode ================================================================================ */

/* Course of an episode in a YAML problem. */

idm_status idm_yaml_read_episode(idm_yaml_reader *reader);
idm_status idm_yaml_read_start(idm_yaml_reader *reader, const idm_yaml_node *node);
idm_status idm_yaml_read_discount(idm_yaml_reader *reader, const idm_yaml_node *node);

/* === features =============================================================================== */

/* Features of a YAML problem's utility. */

/* features: FILE.csv, or {NAME: utility, ...}, and feature_weights: {NAME: number, ...}. */
idm_status idm_yaml_read_features(idm_yaml_reader *reader);
/* Free the weights: all, or those of `opt_entries`, a list of names. `opt_reference` is refused. */
idm_status idm_yaml_free_features(const idm_yaml_reader *reader, const idm_yaml_node *opt_entries,
                                  const idm_yaml_node *opt_reference);
/* Write `entries`, where some weights of a free utility are held. */
void idm_yaml_put_free_features(idm_emitter *out, const idm_block *block);
/* Give a weight another value: --set feature_weights.NAME=1. */
idm_status idm_yaml_set_weight(const idm_yaml_reader *reader, const char *name);
void idm_yaml_put_features(idm_emitter *out, const idm_problem *problem);

/* === fields ================================================================================= */

/* Blocks of fields in a YAML problem, for all actions alike or by action, and their rows. */

/* One block from its node; it is resized to the rows given. */
idm_status idm_yaml_read_fields(const idm_yaml_reader *reader, size_t id,
                                const idm_yaml_node *node);
void idm_yaml_put_fields(idm_emitter *out, const idm_setting *setting, const idm_block *block);

/* Whether a text is "BLOCK.REST" of a block that has fields, which is found. */
bool idm_yaml_parse_field(const idm_theta *theta, const char *text, size_t *ret_id);
/* Which numbers of a block move. Entries are a list of FIELD or FIELD.ACTION, or {NAME: list, ...}
 * whose entries share one number; NULL for all fields that can be free. A field without an action
 * is one number where it is the same for all actions, else one per action. With opt_before, items
 * are read after that text, and those that do not begin with it are passed over. */
idm_status idm_yaml_free_fields(idm_yaml_reader *reader, size_t id, const idm_yaml_node *node,
                                const idm_yaml_node *opt_entries, const char *opt_before);
/* The entries of a free block, in the form that is read back to the same. */
void idm_yaml_put_field_entries(idm_emitter *out, const idm_setting *setting,
                                const idm_block *block);

/* === free =================================================================================== */

/* Free blocks of a YAML problem. */

idm_status idm_yaml_read_free(idm_yaml_reader *reader);
/* The same from the node that stands under `free`. */
idm_status idm_yaml_read_free_blocks(idm_yaml_reader *reader, const idm_yaml_node *node);

/* === moves ================================================================================== */

/* Transitions of observed states, row by row: what may follow. */

/* Whether the file gives the environment's transitions so: states are observed, and `transition`
 * is {action: {from: {to: probability}}} for some action, or names a table. */
bool idm_yaml_has_moves(const idm_yaml_reader *reader);
idm_status idm_yaml_read_moves(idm_yaml_reader *reader);

/* === spaces ================================================================================= */

/* Spaces of a YAML problem: names and sizes, lookups by label, lists of numbers. */

/* Count states, actions and observations; fills sizes, factors, fully_observed. */
idm_status idm_yaml_measure_spaces(idm_yaml_reader *reader);
/* Refuse what cannot be held, from the sizes and the number of models. */
idm_status idm_yaml_check_memory(const idm_yaml_reader *reader, size_t models);
/* What a label lacks that every output can hold and every table can name (cells are trimmed, and
 * `available` joins actions by '|'): words for "expected ...", or NULL. */
const char *idm_yaml_label_fault(const char *text, bool action);
/* Whether a node is a label. */
idm_status idm_yaml_check_label(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                const char *what, bool action);
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
/* A mapping of states: value of each, "*" for those not named; one that has neither is refused. */
idm_status idm_yaml_by_state(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             const char *what, const idm_yaml_node **ret_value);
/* A list of `count` numbers into values; where `least` is given none may lie below it. */
idm_status idm_yaml_read_numbers(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                 const char *what, size_t count, const double *opt_least,
                                 double *values);
/* Divide weights by their sum; what is normalised already stays as it is, bit for bit. */
bool idm_yaml_scale_weights(double *weights, size_t count);

/* === ties =================================================================================== */

/* Which entries of transitions or emissions share one free number. */

/* Names beside `scale` and `prior` under free.transition or free.emission, each with a pattern of
 * letters in the shape of a matrix: for every action, or by action as matrices are. */
idm_status idm_yaml_read_ties(idm_yaml_reader *reader, const idm_yaml_node *opt_node, size_t id);
/* The same names written out, action by action. */
void idm_yaml_put_ties(idm_emitter *out, const idm_setting *setting, const idm_block *block);

/* === utility ================================================================================ */

/* Utility of a YAML problem. */

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

#endif
