/* A log from CSV to idm_data: columns, cells, rules and the ledger of rows.
 *
 * Contents: header · choice · ledger · where · coding · log · build · cells · evidence · held ·
 * rules · survey · layout */
#ifndef IDM_IO_LOG_LOG_H
#define IDM_IO_LOG_LOG_H

#include "base/statistics.h"
#include "base/text.h"
#include "idm/data.h"
#include "idm/intake.h"
#include "idm/log_file.h"
#include "idm/predicate.h"
#include "idm/problem.h"
#include "io/csv.h"

/* === header ================================================================================= */

/* Columns of a log: which one plays which role. */

/* For "%.*s": a cell in a message, cut where it is long. */
#define IDM_CELL_FORMAT(cell) (int)((cell).length < 60 ? (cell).length : 60), (cell).text

/* The field without surrounding blanks. */
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

/* Roles of columns: those of the table, and what a problem, its states or a caller name. */
enum {
  IDM_ROLE_UTILITY = IDM_COLUMN_COUNT,
  IDM_ROLE_BELIEF, /* none, or one a state, in the order of states */
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
  idm_csv_field *place; /* [columns]: line and column of each name; the texts are gone */
  idm_log_role role[IDM_ROLE_COUNT];
} idm_log_header;

/* Copy the names of a first record. */
idm_status idm_log_header_create(idm_log_header *header, const char *file,
                                 const idm_csv_field *field, size_t count, idm_error *opt_error);
/* Add a column behind those of the file, in the place of another. */
idm_status idm_log_header_append(idm_log_header *header, const char *name, size_t place,
                                 idm_error *opt_error);
/* Index of the column of that name, which must exist; `what` says in messages what it is for. */
idm_status idm_log_header_find(const idm_log_header *header, const char *name, const char *what,
                               size_t *ret_column, idm_error *opt_error);
/* IDM_INPUT at the place of a column's name. */
#define idm_log_header_fail(header, which, opt_error, ...)                                         \
  idm_fail_at(opt_error, (header)->file, (long)(header)->place[which].line,                        \
              (long)(header)->place[which].column, __VA_ARGS__)
/* Whether there is a column of that name. */
bool idm_log_header_has(const idm_log_header *header, const char *name);
/* Give every role its columns: those the problem names, else the defaults of the table of columns.
 */
idm_status idm_log_header_map(idm_log_header *header, const idm_problem *problem,
                              const idm_csv_options *opt_options, idm_error *opt_error);
/* Whether every role has columns of the same names in both. */
idm_status idm_log_header_agree(const idm_log_header *a, const idm_log_header *b,
                                idm_error *opt_error);
void idm_log_header_destroy(idm_log_header *header);
/* The first of some names that is a column, as the only column of a role; the role stays empty
 * where none is. */
idm_status idm_log_header_default(idm_log_header *header, size_t id, const char *const *names,
                                  size_t count, idm_error *opt_error);
/* Up to 8 names, joined by commas, for a message. Returns buffer. */
char *idm_labels_list(const idm_labels *labels, char *buffer, size_t size);

/* === choice ================================================================================= */

/* Cells that choose: which action or observation a text stands for, by label or by code. */

/* Labels, and what else stands for them. Zero-initialise. */
typedef struct idm_label_codes {
  idm_intern labels;
  bool index;
  idm_intern texts;
  int32_t *means; /* [texts] */
} idm_label_codes;

/* The labels of a role, whole and, where they are joined from columns with codes of their own, by
 * column. Zero-initialise. */
typedef struct idm_label_decoder {
  idm_label_codes whole;
  size_t parts; /* 0: cells are joined as they are */
  idm_label_codes *part;
} idm_label_decoder;

idm_status idm_label_decoder_create(idm_label_decoder *choice, const idm_labels *labels,
                                    const idm_codes *codes, size_t columns, idm_error *opt_error);
void idm_label_decoder_clear(idm_label_decoder *choice);

/* Which label a text stands for, or -1. A label beats a code. A label that no cell can hold (it
 * begins or ends in blanks, or holds one of `forbidden`) goes by its number. */
int32_t idm_label_codes_find(const idm_label_codes *code, const char *text, size_t length,
                             const char *forbidden);
/* Whether a text is a whole number from 0 on; its value, or a number beyond all labels. */
bool idm_cell_is_index(const char *text, size_t length, uint32_t *ret_index);

/* === ledger ================================================================================= */

/* The ledger of a log: what became of every row that was read. */

struct idm_log;
struct idm_csv_field;

/* Trajectories and agents of all rows, dropped ones too. Zero-initialise. */
typedef struct idm_row_counts {
  size_t reasons;  /* 0: nothing can be dropped, and nothing is kept here */
  size_t *rows;    /* [reasons] */
  size_t *missing; /* [reasons] */
  size_t read;     /* rows */
  idm_intern ids;  /* trajectories: agent, NUL, id */
  idm_intern agents;
  size_t capacity;
  uint32_t *agent; /* [trajectory] */
  uint32_t *stage; /* [trajectory]: the furthest reason that one of its rows came to; `reasons`: it
                      is kept */
  bool *lost;      /* [trajectory]: a row was dropped */
  bool *requested; /* [trajectory]: one was dropped by a condition of --where */
} idm_row_counts;

idm_status idm_row_counts_create(idm_row_counts *ledger, size_t reasons, idm_error *opt_error);
/* The trajectory of a row, whatever becomes of it. */
idm_status idm_row_counts_add(struct idm_log *log, const struct idm_csv_field *field,
                              uint32_t *ret_trajectory, idm_error *opt_error);
/* What became of a row: the reason that took it, or `reasons`. */
void idm_row_counts_record(struct idm_log *log, uint32_t trajectory, size_t reason, bool missing);
/* Sum up what the log held, in the order of its reasons: conditions of --where, then rules; with
 * room for cut points. */
idm_status idm_row_counts_summarise(const struct idm_log *log, size_t cuts,
                                    idm_log_counts **ret_counts, idm_error *opt_error);
void idm_row_counts_clear(idm_row_counts *ledger);

/* === where ================================================================================== */

/* Which rows of a log are wanted: conditions on its columns, as `--where` states them. */

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

/* Find the columns of the conditions in a header. */
idm_status idm_where_map(idm_where *where, const idm_log_header *header, idm_error *opt_error);
/* Which condition a row fails (`count`: none, it is wanted), and whether its cell is missing; a
 * text of `missing` is an empty cell. Values of one column are alternatives; else all conditions
 * hold. */
idm_status idm_where_fails(const idm_where *where, const idm_intern *missing,
                           const idm_log_header *header, const idm_csv_field *field,
                           size_t *ret_condition, bool *ret_missing, idm_error *opt_error);
void idm_where_clear(idm_where *where);
/* Whether a cell meets a predicate; `option` says in messages who asks. An order of numbers and a
 * cell that is none is an error. */
idm_status idm_cell_matches(const idm_predicate *predicate, const char *option, const char *file,
                            const idm_csv_field *cell, idm_predicate_result *ret_match,
                            idm_error *opt_error);

/* === coding ================================================================================= */

/* Rows that are held until they are coded: derived columns and rules, as `data:` states them.
 *
 * While rows come in, each gets the derived cells that it alone decides, and rules on rows drop it
 * or not. Rows that are left are held, by the columns that somebody reads, until all are known;
 * then cut points in standard deviations are found, rules on trajectories apply, the rest is
 * derived, and the rows go on to the log in the order of the files. Memory follows the rows that
 * rules on rows leave. */

struct idm_log;
typedef struct idm_coding idm_coding;
typedef idm_status idm_coding_sink(struct idm_log *log, const idm_csv_field *field,
                                   idm_error *opt_error);

/* Add the derived columns to a header of the log, whose roles are not mapped yet. A log that holds
 * them already, and none that they are made from, is read as it stands. */
idm_status idm_coding_extend(struct idm_log *log, idm_log_header *header, idm_error *opt_error);
/* Once the log's header is mapped: find the columns of derivations and rules in it. */
idm_status idm_coding_map(struct idm_log *log, idm_error *opt_error);
/* Take a record of the file. */
idm_status idm_coding_take(struct idm_log *log, const idm_csv_field *field, idm_error *opt_error);
/* All files are read: hand the rows that are left to `sink`. */
idm_status idm_coding_finish(struct idm_log *log, idm_coding_sink *sink, idm_error *opt_error);
/* Derived columns whose cut points were found in the log. */
size_t idm_coding_cuts(const idm_coding *coding);
idm_status idm_coding_report(const idm_coding *coding, idm_log_counts *intake,
                             idm_error *opt_error);
/* Takes NULL. */
void idm_coding_destroy(idm_coding *coding);

/* === log ==================================================================================== */

/* A log on its way from CSV to idm_data: rows as they came. */

/* What is known of a trajectory while rows come in. */
typedef struct idm_log_trajectory {
  uint32_t agent;
  uint32_t variant;
  uint32_t file; /* the one that it stands in */
  int32_t start;
  uint32_t first_row; /* its first row in the file */
  uint32_t earliest;  /* its first row in time, so far */
} idm_log_trajectory;

/* Zero-initialise, set the borrowed part. */
typedef struct idm_log {
  const idm_problem *problem; /* borrowed */
  const char *const *files;   /* borrowed: [file_count] */
  size_t file_count;
  size_t at;            /* the file being read */
  const char *file;     /* its name in messages; borrowed */
  idm_notes *opt_notes; /* borrowed */
  idm_log_header header;

  idm_label_decoder actions;
  idm_label_decoder states;
  idm_label_decoder observations;
  idm_intern missing;     /* texts that mean what an empty cell does */
  idm_intern missed_text; /* texts of the action's column that mean a missed response */
  uint32_t missed_set;    /* availability of the action of a missed response alone */
  idm_where where;        /* which rows are wanted */
  idm_row_counts ledger;  /* what became of those that were read */
  idm_coding
      *coding; /* rows that are held until they are coded; NULL: they are read as they come */
  bool coded;  /* the log held the derived columns already */
  idm_read_errors
      *opt_faults;   /* borrowed: rows that cannot be read are kept there, and reading goes on */
  size_t compressed; /* files, see idm_log_counts */
  size_t marked;
  size_t mixed;
  size_t unsorted; /* trajectories whose rows were not in the order of time */
  idm_intern agents;
  idm_intern trajectories;   /* agent's number in 4 bytes, then the id, its parts ended by NUL */
  idm_intern joined;         /* the same of ids in several parts, joined by '/' */
  idm_intern available_text; /* cells as written */
  uint32_t *available_of;    /* [available_text]: the set a cell means */
  size_t available_capacity;
  idm_intern available_sets; /* one byte an action */
  idm_intern starts;         /* bytes of the doubles */
  idm_intern variants;       /* bytes of the doubles */
  idm_intern *levels;        /* [kept columns] */

  size_t rows;
  size_t row_capacity;
  uint32_t *trajectory;    /* [row] */
  int32_t *action;         /* [row] */
  int32_t *missed;         /* [row] where responses may be missed: its text, or IDM_MISSING */
  int32_t *state;          /* [row] where there is such a column */
  int32_t *observation;    /* [row] */
  uint32_t *available;     /* [row] */
  uint32_t *line;          /* [row]: of the action's cell */
  uint32_t *row_file;      /* [row] where there are several files */
  uint32_t *action_column; /* [row] */
  uint32_t *time_line;     /* [row] where there is a time */
  uint32_t *time_column;   /* [row] where there is a time */
  double *time;            /* [row][time columns] */
  int32_t *covariate;      /* [row][kept columns] */
  double
      *evidence_number[IDM_COLUMN_COUNT]; /* [row]: evidence that is numbers, where there is any */
  int32_t *evidence_label[IDM_COLUMN_COUNT]; /* [row]: evidence that is labels */
  idm_intern evidence_text[IDM_COLUMN_COUNT];

  idm_log_trajectory *known; /* [trajectories] */
  size_t trajectory_info_capacity;

  char *scratch; /* joined cells */
  size_t scratch_capacity;
  double *number;      /* scratch: [states], or [utility columns] */
  bool *open;          /* scratch: [actions] */
  uint32_t last_agent; /* of the row before: rows of a trajectory mostly stand together */
  uint32_t last_trajectory;
  size_t rounded_beliefs;            /* beliefs that had to be renormalised */
  size_t later_beliefs;              /* rows past a trajectory's first that give a belief */
  uint32_t later_line;               /* the first of them */
  uint32_t rounded_line;             /* of the first of them */
  size_t unknown_observations;       /* unknown observations after terminal actions */
  uint32_t unknown_observation_line; /* of the first of them */
} idm_log;

/* The cell without surrounding blanks; one that says that it is missing is empty. */
static inline idm_csv_field idm_log_cell(const idm_log *log, const idm_csv_field *field)
{
  idm_csv_field cell = idm_cell_trim(*field);
  if (log->missing.count && cell.length &&
      idm_intern_find(&log->missing, cell.text, cell.length) != IDM_INTERN_NONE)
    cell.length = 0;
  return cell;
}

/* Whether a row, which may be the one that is read now, is a missed response. */
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

/* From rows as they came to evidence. */

/* Two rows of one trajectory have the same time. */
idm_status idm_log_fail_duplicate(const char *file, uint32_t earlier, uint32_t later,
                                  uint32_t column, idm_error *opt_error);
/* Group, order and check the rows, and move what the log holds into evidence. *ret_closing counts
 * those that only say where a trajectory went: they are no decisions. */
idm_status idm_log_build(idm_log *log, idm_data **ret_data, size_t *ret_closing,
                         idm_error *opt_error);

/* === cells ================================================================================== */

/* Cells of a log: labels, numbers, sets of actions and beliefs. */

/* A finite decimal number; false for anything else. */
bool idm_cell_number(const idm_csv_field *cell, double *ret_number);

/* Whether a text is one of those that commonly stand for what was not recorded. */
bool idm_cell_is_missing_text(const char *text, size_t length);
/* The number of a cell of a column; IDM_INPUT where it is none. */
idm_status idm_log_number(const idm_log *log, const idm_csv_field *cell, size_t column,
                          double *ret_number, idm_error *opt_error);
/* IDM_INPUT where a cell that becomes a name (an id, a level, a label) cannot stand in every
 * output: `what` says whose it is. */
idm_status idm_log_check_name(const idm_log *log, const idm_csv_field *cell, const char *what,
                              idm_error *opt_error);
/* Each reads its cells of a row whose number is log->rows; the trajectory is log->trajectory[row].
 */
idm_status idm_log_read_time(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_action(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_state(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_observation(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_available(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_utility(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_belief(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_covariates(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
/* Room in the scratch for `size` bytes. */
idm_status idm_log_scratch(idm_log *log, size_t size, idm_error *opt_error);

/* === evidence =============================================================================== */

/* Columns of evidence: numbers and labels beside actions and observations. */

/* Read the evidence of a row. */
idm_status idm_log_read_evidence(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
/* Room for the evidence of `capacity` rows; false where memory is short. */
bool idm_log_grow_evidence(idm_log *log, size_t capacity);
void idm_log_clear_evidence(idm_log *log);
/* Move it into the data, in the order of rows (NULL: as they came); trajectories are known. */
idm_status idm_log_move_evidence(const idm_log *log, const uint32_t *order, idm_data *data,
                                 idm_error *opt_error);

/* === held =================================================================================== */

/* Rows held by column while a log is coded. coding.c fills and completes them, rules.c judges them.
 */

/* A column of held rows: distinct texts, and which of them stands where. */
typedef struct idm_buffered_column {
  size_t column; /* in the log's header */
  idm_intern text;
  uint32_t *cell;  /* [row]: IDM_INTERN_NONE where it is missing */
  uint32_t *line;  /* [row]: place of the cell */
  uint32_t *place; /* [row] */
} idm_buffered_column;

/* Cut points in standard deviations, as they are found. */
typedef struct idm_cut_points {
  bool needed;
  idm_welford numbers;
  double sd;
  double *at; /* [cuts] */
} idm_cut_points;

struct idm_coding {
  const idm_columns *columns; /* borrowed: derived columns and rules */
  size_t file_columns;        /* columns of the file's own */
  bool *deferred;             /* [derived]: known only when all rows are */
  bool *requested;            /* [derived]: a condition or a rule on rows asks for it */
  idm_cut_points *found;      /* [derived]: of those cut in standard deviations */
  size_t *width;              /* [derived]: sources */
  size_t **source;            /* [derived][source]: column in the log's header */
  size_t *rule_column;        /* [rule]: column in the log's header, where it has one */
  char **scratch;             /* [derived]: texts that are joined */
  size_t *scratch_capacity;   /* [derived] */
  idm_csv_field *sources;     /* scratch: cells of the sources of one */
  idm_csv_field *field;       /* [header]: a record with its derived cells */
  size_t fields;

  size_t buffered_columns;
  idm_buffered_column *buffered;
  idm_labels buffered_name; /* of the held columns, which go by name from file to file */
  size_t *buffered_index;   /* [header]: which held column it is, or buffered_columns */
  size_t rows;
  size_t capacity;
  uint32_t *trajectory; /* [row]: of the ledger */
  uint32_t *file;       /* [row] */
  uint32_t *reason;     /* [row]: what takes it; of the ledger */
  uint32_t *order;      /* [row]: rows by trajectory, in the order of time */
};

/* Hold the record that the coding has before it. */
idm_status idm_buffer_row(idm_log *log, uint32_t trajectory, idm_error *opt_error);
/* The cell of a held row; its text moves when one is added to the column. */
idm_csv_field idm_buffered_cell(const idm_coding *coding, size_t column, size_t row);

/* === rules ================================================================================== */

/* Rules that take rows and trajectories. */

/* Which rule on rows takes a record (`rules`: none), and whether its cell is missing. */
idm_status idm_rules_drop_row(const idm_log *log, size_t *ret_rule, bool *ret_missing,
                              idm_error *opt_error);
/* Order the held rows, and let rules on trajectories take theirs: fills order and reason. */
idm_status idm_rules_drop_trajectories(idm_log *log, idm_error *opt_error);

/* === survey ================================================================================= */

/* What a table tells of a problem: columns by name or by guess, labels, ends of trajectories. */

/* A column with more distinct texts than this, or with a longer one, does not hold labels. */
enum { idm_label_limit = 50, idm_label_bytes = 100 };

/* What is known of one trajectory: its last row so far. */
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

/* Rows divided into trajectories. */
typedef struct idm_division {
  idm_intern trajectories;
  idm_ending *endings; /* [trajectories] */
  size_t ending_capacity;
  bool is_inner[idm_label_limit]; /* [action]: on a row that is not the last of its trajectory */
} idm_division;

/* Zero-initialise, set the file. */
typedef struct idm_log_schema {
  const char *file; /* borrowed */
  idm_log_header header;
  idm_label_column actions;
  idm_label_column observations;
  idm_intern missing; /* texts in place of labels that look as if nothing was recorded */
  idm_intern agents;
  idm_division division; /* by all columns of the trajectory */
  idm_division
      coarser_division; /* without the last, `trial`, which may number the rows of a trajectory */
  bool has_trial;       /* that column is one of them */
  bool counts_rows;     /* it numbers rows, and was left out */
  size_t rows;
  char *scratch;
  size_t scratch_capacity;
} idm_log_schema;

/* One pass over the table. */
idm_status idm_log_schema_infer(idm_log_schema *schema, idm_csv *csv, idm_error *opt_error);
void idm_log_schema_clear(idm_log_schema *schema);
/* Actions that stand on last rows only, in sorted order; returns how many. */
size_t idm_log_schema_endings(const idm_log_schema *schema,
                              const char *ret_action[idm_label_limit]);

/* === layout ================================================================================= */

/* Columns of a log to be written: those that the problem maps, by its names for them. */

/* Beside the roles of a log that is read: what nobody reads back. */
enum { IDM_LAYOUT_STEP = IDM_ROLE_COUNT, IDM_LAYOUT_STATE };

typedef struct idm_layout_column {
  char *name;
  size_t role; /* of idm_column, IDM_ROLE_UTILITY, IDM_ROLE_BELIEF, or one of the above */
  size_t part; /* which of the role's columns */
} idm_layout_column;

/* Zero-initialise. */
typedef struct idm_layout {
  size_t count;
  idm_layout_column *column;
} idm_layout;

/* Part `part` of a text that stands in `count` columns, joined by '/' when it is read: the pieces
 * between the first '/' characters, the last being all that is left. False where it has too few
 * pieces, or one that a reader would not find again: empty, or with a blank at an end. */
bool idm_layout_piece(const char *text, size_t count, size_t part, const char **ret_piece,
                      size_t *ret_length);

#endif
