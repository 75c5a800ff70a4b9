/* Internal interface of the CSV reader and writer of decision logs: header, cells, rules, counts of
 * rows, conversion to idm_data.
 *
 * Contents: header · choice · ledger · where · coding · log · build · cells · evidence · held ·
 * rules · survey · layout */
#ifndef IDM_IO_LOG_LOG_H
#define IDM_IO_LOG_LOG_H

#include "base/statistics.h"
#include "base/text.h"
#include "data/log.h"
#include "idm/extension/data.h"
#include "idm/extension/predicate.h"
#include "idm/extension/problem.h"
#include "io/csv.h"
#include "io/log_file.h"

/* === header ================================================================================= */

/* Roles of the columns of a log. */

/* Arguments of "%.*s" for a cell in a message; a cell of more than 60 bytes is truncated. */
#define IDM_CELL_FORMAT(cell) (int)((cell).length < 60 ? (cell).length : 60), (cell).text

/* Returns the field without leading and trailing spaces and tabs. */
static inline idm_csv_field idm_cell_trim(idm_csv_field field)
{
  while (field.length && (field.text[0] == ' ' || field.text[0] == '\t')) {
    field.text++;
    field.length--;
  }
  while (field.length &&
         (field.text[field.length - 1] == ' ' || field.text[field.length - 1] == '\t'))
    field.length--;
  return field;
}

/* Roles of columns: those of the table of columns, then utilities (named by the problem), beliefs
 * (named by states) and covariates (named by the caller). */
enum {
  IDM_ROLE_UTILITY = IDM_COLUMN_COUNT,
  IDM_ROLE_BELIEF, /* none, or one per state, in the order of states */
  IDM_ROLE_KEEP,
  IDM_ROLE_COUNT
};

typedef struct idm_log_role {
  size_t count;
  size_t *column; /* [count]: index into the header */
} idm_log_role;

/* Zero-initialise. */
typedef struct idm_log_header {
  const char *file;     /* borrowed */
  idm_labels name;      /* [columns] */
  idm_csv_field *place; /* [columns]: line and column of each name; the texts are NULL */
  idm_log_role role[IDM_ROLE_COUNT];
} idm_log_header;

/* Copy the column names of a header record. `file` is borrowed. */
idm_status idm_log_header_create(idm_log_header *header, const char *file,
                                 const idm_csv_field *field, size_t count, idm_error *opt_error);
/* Append a column. Messages about it give the position of column `place`. */
idm_status idm_log_header_append(idm_log_header *header, const char *name, size_t place,
                                 idm_error *opt_error);
/* Index of the column with that name; IDM_INPUT if there is none or more than one. `what` is the
 * purpose of the column in messages. */
idm_status idm_log_header_find(const idm_log_header *header, const char *name, const char *what,
                               size_t *ret_column, idm_error *opt_error);
/* IDM_INPUT at the position of a column's name. */
#define idm_log_header_fail(header, which, opt_error, ...)                                         \
  idm_fail_at(opt_error, (header)->file, (long)(header)->place[which].line,                        \
              (long)(header)->place[which].column, __VA_ARGS__)
/* Returns true if a column has that name. */
bool idm_log_header_has(const idm_log_header *header, const char *name);
/* Assign columns to every role: those that the problem names, otherwise the defaults of the table
 * of columns. */
idm_status idm_log_header_map(idm_log_header *header, const idm_problem *problem,
                              const idm_csv_options *opt_options, idm_error *opt_error);
void idm_log_header_destroy(idm_log_header *header);
/* Map a role to the first of `names` that is a column. The role stays empty if none is. */
idm_status idm_log_header_default(idm_log_header *header, size_t id, const char *const *names,
                                  size_t count, idm_error *opt_error);
/* Write up to 8 names, separated by commas, to buffer [size]. Returns buffer. */
char *idm_labels_list(const idm_labels *labels, char *buffer, size_t size);

/* === choice ================================================================================= */

/* Decoding of cells of actions, states and observations: from text to label index, by label or by
 * code. */

/* Labels, and the codes that map to them. Zero-initialise. */
typedef struct idm_label_codes {
  idm_intern labels;
  bool index;
  idm_intern texts;
  int32_t *means; /* [texts]: index of the label */
} idm_label_codes;

/* Decoder of the labels of a role. Labels that are joined from several columns with codes have one
 * part per column. Zero-initialise. */
typedef struct idm_label_decoder {
  idm_label_codes whole;
  size_t parts; /* 0: cells are joined without decoding */
  idm_label_codes *part;
} idm_label_decoder;

idm_status idm_label_decoder_create(idm_label_decoder *choice, const idm_labels *labels,
                                    const idm_codes *codes, size_t columns, idm_error *opt_error);
void idm_label_decoder_clear(idm_label_decoder *choice);

/* Index of the label of a text, or -1. A label takes precedence over a code. A label that no cell
 * can contain (empty, with leading or trailing blanks, or with a character of `forbidden`) is
 * matched by its index. */
int32_t idm_label_codes_find(const idm_label_codes *code, const char *text, size_t length,
                             const char *forbidden);
/* Returns true if the text is a whole number of at least 0. *ret_index is its value; UINT32_MAX if
 * it is too large or not a number. */
bool idm_cell_is_index(const char *text, size_t length, uint32_t *ret_index);

/* === ledger ================================================================================= */

/* Counts of rows, trajectories and agents by the reason that drops them. */

struct idm_log;
struct idm_csv_field;

/* Counts over all rows, dropped ones included. Zero-initialise. */
typedef struct idm_row_counts {
  size_t reasons;  /* 0: no row can be dropped, and the counts are not used */
  size_t *rows;    /* [reasons] */
  size_t *missing; /* [reasons] */
  size_t read;     /* rows */
  idm_intern ids;  /* trajectories: agent, NUL, id */
  idm_intern agents;
  size_t capacity;
  uint32_t *agent; /* [trajectory] */
  uint32_t *stage; /* [trajectory]: the last of the reasons that dropped its rows; `reasons` if a
                      row is kept */
  bool *lost;      /* [trajectory]: a row was dropped */
  bool *requested; /* [trajectory]: a row was dropped by a condition of --where */
} idm_row_counts;

idm_status idm_row_counts_create(idm_row_counts *ledger, size_t reasons, idm_error *opt_error);
/* Count a row as read. *ret_trajectory is the index of its trajectory, which is added if it is new.
 */
idm_status idm_row_counts_add(struct idm_log *log, const struct idm_csv_field *field,
                              uint32_t *ret_trajectory, idm_error *opt_error);
/* Record the outcome of a row: the reason that drops it, or `reasons` if it is kept. */
void idm_row_counts_record(struct idm_log *log, uint32_t trajectory, size_t reason, bool missing);
/* Summarise the counts in the order of reasons: conditions of --where, then rules. Allocates room
 * for `cuts` sets of cut points. */
idm_status idm_row_counts_summarise(const struct idm_log *log, size_t cuts,
                                    idm_log_counts **ret_counts, idm_error *opt_error);
void idm_row_counts_clear(idm_row_counts *ledger);

/* === where ================================================================================== */

/* Filter of rows: the conditions on columns given by `--where`. */

typedef struct idm_condition {
  size_t column;
  idm_predicate predicate;
} idm_condition;

/* Zero-initialise. */
typedef struct idm_where {
  size_t count;
  const char *const *text; /* borrowed */
  idm_condition *condition;
} idm_where;

/* Parse the conditions and find their columns in a header. */
idm_status idm_where_map(idm_where *where, const idm_log_header *header, idm_error *opt_error);
/* Index of the first condition that a row fails (`count` if it passes all), and whether the cell of
 * that condition is missing. A text of `missing` counts as an empty cell. Equality conditions on
 * the same column are alternatives; all other conditions must hold. */
idm_status idm_where_fails(const idm_where *where, const idm_intern *missing,
                           const idm_log_header *header, const idm_csv_field *field,
                           size_t *ret_condition, bool *ret_missing, idm_error *opt_error);
void idm_where_clear(idm_where *where);
/* Compare a cell with a predicate; `option` is the origin of the predicate in messages. IDM_INPUT
 * if an order comparison meets a cell that is not a number. */
idm_status idm_cell_matches(const idm_predicate *predicate, const char *option, const char *file,
                            const idm_csv_field *cell, idm_predicate_result *ret_match,
                            idm_error *opt_error);

/* === coding ================================================================================= */

/* Derived columns and rules of `data:`, and the buffer of rows that they need.
 *
 * While rows are read, the derived cells that depend on a single row are computed, and row rules
 * and --where drop rows. The remaining rows are buffered, with only the columns that are used.
 * After the last row, cut points in standard deviations are computed, trajectory rules are applied,
 * the remaining columns are derived, and the rows are passed to the log in the order of the files.
 * Memory is proportional to the number of rows that row rules keep. */

struct idm_log;
typedef struct idm_coding idm_coding;
typedef idm_status idm_coding_sink(struct idm_log *log, const idm_csv_field *field,
                                   idm_error *opt_error);

/* Append the derived columns to a header of the log whose roles are not mapped yet. A log that
 * already contains the derived columns, and none of their sources, is read without derivation and
 * without rules. */
idm_status idm_coding_extend(struct idm_log *log, idm_log_header *header, idm_error *opt_error);
/* Find the columns of derivations and rules in the log's header, whose roles must be mapped. */
idm_status idm_coding_map(struct idm_log *log, idm_error *opt_error);
/* Process one record of a file. */
idm_status idm_coding_take(struct idm_log *log, const idm_csv_field *field, idm_error *opt_error);
/* Complete the coding after the last file and pass the remaining rows to `sink`. */
idm_status idm_coding_finish(struct idm_log *log, idm_coding_sink *sink, idm_error *opt_error);
/* Number of derived columns with cut points that were computed from the log. */
size_t idm_coding_cuts(const idm_coding *coding);
idm_status idm_coding_report(const idm_coding *coding, idm_log_counts *log_counts,
                             idm_error *opt_error);
/* NULL is allowed. */
void idm_coding_destroy(idm_coding *coding);

/* === log ==================================================================================== */

/* State of a log while it is read: rows in the order of the files. */

/* Trajectory, as far as rows have been read. */
typedef struct idm_log_trajectory {
  uint32_t agent;
  uint32_t variant;
  uint32_t file; /* index of its file */
  int32_t start;
  uint32_t first_row; /* its first row in the order of the files */
  uint32_t earliest;  /* its earliest row in time */
} idm_log_trajectory;

/* Zero-initialise, then set the borrowed fields. */
typedef struct idm_log {
  const idm_problem *problem; /* borrowed */
  const char *const *files;   /* borrowed: [file_count] */
  size_t file_count;
  size_t at;            /* index of the file being read */
  const char *file;     /* its name in messages; borrowed */
  idm_notes *opt_notes; /* borrowed */
  idm_log_header header;

  idm_label_decoder actions;
  idm_label_decoder states;
  idm_label_decoder observations;
  idm_intern missing;     /* texts that count as an empty cell */
  idm_intern missed_text; /* texts in the action column that mark a missed response */
  uint32_t missed_set;    /* index into available_sets: the set that contains the action of a missed
                             response alone */
  idm_where where;        /* filter of rows */
  idm_row_counts ledger;  /* counts of rows by outcome */
  idm_coding *coding; /* derived columns, rules and buffered rows; NULL: rows are added to the log
                         as they are read */
  bool coded;         /* the log already contains the derived columns */
  idm_read_errors *opt_faults; /* borrowed: collects errors in rows, and reading continues; NULL:
                                  the first error ends reading */
  size_t compressed;           /* files, see idm_log_counts */
  size_t marked;
  size_t mixed;
  size_t unsorted; /* trajectories whose rows were not in the order of time */
  idm_intern agents;
  idm_intern
      trajectories; /* key: agent index in 4 bytes, then the parts of the id, separated by NUL */
  idm_intern
      joined; /* the same keys with the parts of ids joined by '/', for ids of several parts */
  idm_intern available_text; /* cells as written */
  uint32_t *available_of;    /* [available_text]: index into available_sets */
  size_t available_capacity;
  idm_intern available_sets; /* one byte per action */
  idm_intern starts;         /* start beliefs as bytes of doubles */
  idm_intern variants;       /* utility variants as bytes of doubles */
  idm_intern *levels;        /* [kept columns] */

  size_t rows;
  size_t row_capacity;
  uint32_t *trajectory; /* [row] */
  int32_t *action;      /* [row] */
  int32_t *
      missed; /* [row]: index into missed_text, or IDM_MISSING; NULL if no response can be missed */
  int32_t *state;                            /* [row]; NULL without a state column */
  int32_t *observation;                      /* [row] */
  uint32_t *available;                       /* [row] */
  uint32_t *line;                            /* [row]: line of the action's cell */
  uint32_t *row_file;                        /* [row]; NULL for a single file */
  uint32_t *action_column;                   /* [row] */
  uint32_t *time_line;                       /* [row]; NULL without a time column */
  uint32_t *time_column;                     /* [row]; NULL without a time column */
  double *time;                              /* [row][time columns] */
  int32_t *covariate;                        /* [row][kept columns] */
  double *evidence_number[IDM_COLUMN_COUNT]; /* [row]: evidence columns of numbers, or NULL */
  int32_t *evidence_label[IDM_COLUMN_COUNT]; /* [row]: evidence columns of labels, or NULL */
  idm_intern evidence_text[IDM_COLUMN_COUNT];

  idm_log_trajectory *known; /* [trajectories] */
  size_t trajectory_info_capacity;

  char *scratch; /* joined cells */
  size_t scratch_capacity;
  double *number;      /* scratch: [states] or [utility columns], whichever is larger */
  bool *open;          /* scratch: [actions] */
  uint32_t last_agent; /* agent of the previous row; rows of a trajectory are mostly adjacent */
  uint32_t last_trajectory;
  size_t rounded_beliefs;            /* beliefs that had to be renormalised */
  size_t later_beliefs;              /* rows after a trajectory's first that contain a belief */
  uint32_t later_line;               /* line of the first of them */
  uint32_t rounded_line;             /* line of the first renormalised belief */
  size_t unknown_observations;       /* unknown observations after terminal actions */
  uint32_t unknown_observation_line; /* line of the first of them */
} idm_log;

/* The cell without surrounding blanks; empty if its text marks a missing value. */
static inline idm_csv_field idm_log_cell(const idm_log *log, const idm_csv_field *field)
{
  idm_csv_field cell = idm_cell_trim(*field);
  if (log->missing.count && cell.length &&
      idm_intern_find(&log->missing, cell.text, cell.length) != IDM_INTERN_NONE)
    cell.length = 0;
  return cell;
}

/* Returns true if a row is a missed response. The row may be the one being read. */
static inline bool idm_log_is_missed(const idm_log *log, size_t row)
{
  return log->missed && log->missed[row] >= 0;
}

/* The file of a row, for messages. */
static inline const char *idm_log_file(const idm_log *log, size_t row)
{
  return log->row_file ? log->files[log->row_file[row]] : log->file;
}

/* === build ================================================================================== */

/* Conversion of rows to idm_data. */

/* Fail with IDM_INPUT because two rows of a trajectory have the same time. */
idm_status idm_log_fail_duplicate(const char *file, uint32_t earlier, uint32_t later,
                                  uint32_t column, idm_error *opt_error);
/* Group rows by trajectory, order them by time, check them, and move the content of the log into
 * *ret_data. *ret_closing counts rows that only give the final state of a trajectory; they are not
 * decisions. */
idm_status idm_log_build(idm_log *log, idm_data **ret_data, size_t *ret_closing,
                         idm_error *opt_error);

/* === cells ================================================================================== */

/* Cells of a log: labels, numbers, sets of actions and beliefs. */

/* Parse a finite decimal number; returns false for any other text. */
bool idm_cell_number(const idm_csv_field *cell, double *ret_number);

/* Returns true if a text commonly marks a missing value (such as NA). */
bool idm_cell_is_missing_text(const char *text, size_t length);
/* Number in a cell of a column; IDM_INPUT if the cell is not a number. */
idm_status idm_log_number(const idm_log *log, const idm_csv_field *cell, size_t column,
                          double *ret_number, idm_error *opt_error);
/* IDM_INPUT if a cell that is used as a name (an id, a level, a label) cannot be written to every
 * output. `what` describes the cell in messages. */
idm_status idm_log_check_name(const idm_log *log, const idm_csv_field *cell, const char *what,
                              idm_error *opt_error);
/* Each function reads its cells of row log->rows, which belongs to trajectory log->trajectory[row].
 */
idm_status idm_log_read_time(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_action(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_state(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_observation(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_available(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_utility(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_belief(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_covariates(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
/* Ensure that the scratch has room for `size` bytes. */
idm_status idm_log_scratch(idm_log *log, size_t size, idm_error *opt_error);

/* === evidence =============================================================================== */

/* Columns of evidence other than actions and observations: numbers and labels. */

/* Read the evidence of a row. */
idm_status idm_log_read_evidence(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
/* Ensure room for the evidence of `capacity` rows; returns false if memory is exhausted. */
bool idm_log_grow_evidence(idm_log *log, size_t capacity);
void idm_log_clear_evidence(idm_log *log);
/* Copy the evidence into the data, in the given order of rows (NULL: the order of the files). The
 * trajectories of the data must be set. */
idm_status idm_log_move_evidence(const idm_log *log, const uint32_t *order, idm_data *data,
                                 idm_error *opt_error);

/* === held =================================================================================== */

/* Buffer of rows, by column, while a log is coded. rules.c stores rows and applies trajectory
 * rules; coding.c computes deferred derived columns. */

/* A buffered column: distinct texts, and the text of each row. */
typedef struct idm_buffered_column {
  size_t column; /* index in the log's header */
  idm_intern text;
  uint32_t *cell;  /* [row]: index into text; IDM_INTERN_NONE if missing */
  uint32_t *line;  /* [row]: line of the cell */
  uint32_t *place; /* [row]: column of the cell */
} idm_buffered_column;

/* Cut points in standard deviations, computed from the log. */
typedef struct idm_found_breakpoints {
  bool needed;
  idm_welford numbers;
  double sd;
  double *at; /* [cuts] */
} idm_found_breakpoints;

struct idm_coding {
  const idm_columns *columns; /* borrowed: derived columns and rules */
  size_t file_columns;        /* number of columns in the file */
  bool *deferred;             /* [derived]: computed after the last row is read */
  bool *requested; /* [derived]: used by --where, a row rule or a cut in standard deviations */
  idm_found_breakpoints *found; /* [derived]: cut points computed from the log */
  size_t *width;                /* [derived]: number of sources */
  size_t **source;              /* [derived][source]: column in the log's header */
  size_t *rule_column;          /* [rule]: column in the log's header, for rules with a column */
  char **scratch;               /* [derived]: joined texts */
  size_t *scratch_capacity;     /* [derived] */
  idm_csv_field *sources;       /* scratch: source cells of one derived column */
  idm_csv_field *field;         /* [header]: a record with its derived cells */
  size_t fields;

  size_t buffered_columns;
  idm_buffered_column *buffered;
  idm_labels buffered_name; /* names of the buffered columns, which identify them in every file */
  size_t *
      buffered_index; /* [header]: index of the buffered column; buffered_columns if not buffered */
  size_t rows;
  size_t capacity;
  uint32_t *trajectory; /* [row]: index in the counts */
  uint32_t *file;       /* [row] */
  uint32_t
      *reason; /* [row]: index in the counts of the reason that drops it; `reasons` if it is kept */
  uint32_t *order; /* [row]: rows by trajectory, in the order of time */
};

/* Append the record in coding->field to the buffer. */
idm_status idm_buffer_row(idm_log *log, uint32_t trajectory, idm_error *opt_error);
/* Cell of a buffered row. Its text is invalid after a text is added to the column. */
idm_csv_field idm_buffered_cell(const idm_coding *coding, size_t column, size_t row);

/* === rules ================================================================================== */

/* Rules that drop rows and trajectories. */

/* Index of the row rule that drops the record in coding->field (`rules` if none), and whether its
 * cell is missing. */
idm_status idm_rules_drop_row(const idm_log *log, size_t *ret_rule, bool *ret_missing,
                              idm_error *opt_error);
/* Order the buffered rows and apply the trajectory rules to them; fills order and reason. */
idm_status idm_rules_drop_trajectories(idm_log *log, idm_error *opt_error);

/* === survey ================================================================================= */

/* Schema of a table, inferred for a first problem file: columns by name or by guess, labels, final
 * actions of trajectories. */

/* Limits of a column of labels: number of distinct texts, and bytes per text. */
enum { idm_label_limit = 50, idm_label_bytes = 100 };

/* Last row of a trajectory, as far as rows have been read. */
typedef struct idm_ending {
  int action;
  double time;
} idm_ending;

/* A column of labels. */
typedef struct idm_label_column {
  idm_intern labels;
  size_t missing;
  char *sorted[idm_label_limit];
  size_t count;
} idm_label_column;

/* Partition of the rows into trajectories. */
typedef struct idm_division {
  idm_intern trajectories;
  idm_ending *endings; /* [trajectories] */
  size_t ending_capacity;
  bool is_inner[idm_label_limit]; /* [action]: occurs on a row that is not the last of its
                                     trajectory */
  uint32_t last;                  /* trajectory of the last row that was added */
  size_t adjacent_rows;           /* rows in the trajectory of the row before them */
} idm_division;

/* Zero-initialise, set the file. */
typedef struct idm_log_schema {
  const char *file; /* borrowed */
  idm_log_header header;
  idm_label_column actions;
  idm_label_column observations;
  idm_intern missing; /* texts in columns of labels that probably mark missing values */
  idm_intern agents;
  idm_division division;         /* by all columns of the trajectory's id */
  idm_division coarser_division; /* without the last column, `trial`, which may number the rows of a
                                    trajectory */
  bool has_trial;                /* the id of the trajectory includes `trial` */
  bool counts_rows;              /* `trial` numbers rows and was removed from the id */
  size_t rows;
  char *scratch;
  size_t scratch_capacity;
} idm_log_schema;

/* Infer the schema in one pass over the table. */
idm_status idm_log_schema_infer(idm_log_schema *schema, idm_csv *csv, idm_error *opt_error);
void idm_log_schema_clear(idm_log_schema *schema);
/* Actions that occur only on last rows, in sorted order; returns their number. */
size_t idm_log_schema_endings(const idm_log_schema *schema,
                              const char *ret_action[idm_label_limit]);

/* === layout ================================================================================= */

/* Columns of a log to be written, with the names that the problem maps. */

/* Roles of written columns that are not read back, in addition to the roles of a log that is read.
 */
enum { IDM_LAYOUT_STEP = IDM_ROLE_COUNT, IDM_LAYOUT_STATE };

typedef struct idm_layout_column {
  char *name;
  size_t role; /* of idm_column, IDM_ROLE_UTILITY, IDM_ROLE_BELIEF, or one of the above */
  size_t part; /* index among the role's columns */
} idm_layout_column;

/* Zero-initialise. */
typedef struct idm_layout {
  size_t count;
  idm_layout_column *column;
} idm_layout;

/* Part `part` of a text that is written to `count` columns and joined by '/' when it is read: the
 * texts between the first '/' characters, the last part being the remainder. Returns false if the
 * text has too few parts, or a part that would not be read back: empty, or with leading or trailing
 * blanks. */
bool idm_layout_piece(const char *text, size_t count, size_t part, const char **ret_piece,
                      size_t *ret_length);

#endif
