/* Rows held by column while a log is coded: the state that coding.c fills, rules.c judges and
 * derive.c completes. */
#ifndef IDM_IO_LOG_HELD_H
#define IDM_IO_LOG_HELD_H

#include "base/moments.h"
#include "io/log/log.h"

/* A column of held rows: distinct texts, and which of them stands where. */
typedef struct idm_held_column {
  size_t column; /* in the log's header */
  idm_intern text;
  uint32_t *cell;  /* [row]: IDM_INTERN_NONE where it is missing */
  uint32_t *line;  /* [row]: place of the cell */
  uint32_t *place; /* [row] */
} idm_held_column;

/* Cut points in standard deviations, as they are found. */
typedef struct idm_found_cut {
  bool wanted;
  idm_welford numbers;
  double sd;
  double *at; /* [cuts] */
} idm_found_cut;

struct idm_coding {
  const idm_columns *columns; /* borrowed: derived columns and rules */
  size_t raw;                 /* columns of the file's own */
  bool *late;                 /* [derived]: known only when all rows are */
  bool *asked;                /* [derived]: a condition or a rule on rows asks for it */
  idm_found_cut *found;       /* [derived]: of those cut in standard deviations */
  size_t *width;              /* [derived]: sources */
  size_t **source;            /* [derived][source]: column in the log's header */
  size_t *rule_column;        /* [rule]: column in the log's header, where it has one */
  char **scratch;             /* [derived]: texts that are joined */
  size_t *scratch_capacity;   /* [derived] */
  idm_csv_field *sources;     /* scratch: cells of the sources of one */
  idm_csv_field *field;       /* [header]: a record with its derived cells */
  size_t fields;

  size_t held_columns;
  idm_held_column *held;
  idm_labels held_name; /* of the held columns, which go by name from file to file */
  size_t *held_at;      /* [header]: which held column it is, or held_columns */
  size_t rows;
  size_t capacity;
  uint32_t *trajectory; /* [row]: of the ledger */
  uint32_t *file;       /* [row] */
  uint32_t *reason;     /* [row]: what takes it; of the ledger */
  uint32_t *order;      /* [row]: rows by trajectory, in the order of time */
};

/* Hold the record that the coding has before it. */
idm_status idm_hold(idm_log *log, uint32_t trajectory, idm_error *opt_error);
/* The cell of a held row; its text moves when one is added to the column. */
idm_csv_field idm_held_cell(const idm_coding *coding, size_t column, size_t row);

#endif
