/* A log on its way from CSV to idm_data: columns by role, cells as numbers, rows as they came. */
#ifndef IDM_IO_DATA_CSV_H
#define IDM_IO_DATA_CSV_H

#include "base/intern.h"
#include "idm/io.h"
#include "io/log/csv.h"

/* For "%.*s": a cell in a message, cut where it is long. */
#define IDM_CELL_SHOWN(cell) (int)((cell).length < 60 ? (cell).length : 60), (cell).text

/* --- columns (data_csv_header.c) ------------------------------------------------------------ */

typedef enum idm_log_role_id {
  IDM_ROLE_AGENT,
  IDM_ROLE_TRAJECTORY,
  IDM_ROLE_TIME,
  IDM_ROLE_ACTION,
  IDM_ROLE_OBSERVATION,
  IDM_ROLE_AVAILABLE,
  IDM_ROLE_UTILITY,
  IDM_ROLE_BELIEF, /* none, or one a state, in the order of states */
  IDM_ROLE_KEEP,
  IDM_ROLE_COUNT
} idm_log_role_id;

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
/* Give every role its columns: those the problem names, else the defaults of DESIGN, section 6. */
idm_status idm_log_header_map(idm_log_header *header, const idm_problem *problem,
                              const idm_csv_options *opt_options, idm_error *opt_error);
void idm_log_header_destroy(idm_log_header *header);
/* The first of a NULL-terminated list of names that is a column, as the only column of a role; the
 * role stays empty where none is. */
idm_status idm_log_header_default(idm_log_header *header, idm_log_role_id id,
                                  const char *const *names, idm_error *opt_error);
/* Up to 8 names, joined by commas, for a message. Returns buffer. */
char *idm_labels_list(const idm_labels *labels, char *buffer, size_t size);

/* --- cells (data_csv_cells.c) --------------------------------------------------------------- */

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

/* A finite decimal number; false for anything else. */
bool idm_cell_number(const idm_csv_field *cell, double *ret_number);

/* --- rows ----------------------------------------------------------------------------------- */

/* What is known of a trajectory while rows come in. */
typedef struct idm_log_trajectory {
  uint32_t agent;
  uint32_t variant;
  int32_t start;
  uint32_t seen;     /* its first row in the file */
  uint32_t earliest; /* its first row in time, so far */
} idm_log_trajectory;

/* Zero-initialise, set the borrowed part. */
typedef struct idm_log {
  const idm_problem *problem; /* borrowed */
  const char *file;           /* borrowed */
  idm_notes *opt_notes;       /* borrowed */
  idm_log_header header;

  idm_intern actions; /* labels of the setting */
  idm_intern observations;
  idm_intern agents;
  idm_intern trajectories;   /* agent's number in 4 bytes, then the id, its parts ended by NUL */
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
  int32_t *observation;    /* [row] */
  uint32_t *available;     /* [row] */
  uint32_t *line;          /* [row]: of the action's cell */
  uint32_t *action_column; /* [row] */
  uint32_t *time_line;     /* [row] where there is a time */
  uint32_t *time_column;   /* [row] where there is a time */
  double *time;            /* [row][time columns] */
  int32_t *covariate;      /* [row][kept columns] */

  idm_log_trajectory *known; /* [trajectories] */
  size_t known_capacity;

  char *scratch; /* joined cells */
  size_t scratch_capacity;
  double *number;      /* scratch: [states], or [utility columns] */
  bool *open;          /* scratch: [actions] */
  uint32_t last_agent; /* of the row before: rows of a trajectory mostly stand together */
  uint32_t last_trajectory;
  size_t rounded_beliefs; /* beliefs that had to be renormalised */
  size_t later_beliefs;   /* rows past a trajectory's first that give a belief */
  uint32_t later_line;    /* the first of them */
  uint32_t rounded_line;  /* of the first of them */
  size_t unseen;          /* unknown observations after terminal actions */
  uint32_t unseen_line;   /* of the first of them */
} idm_log;

/* Index of a label; where none matches, a 0-based number in range; -1. As idm_labels_find, hashed.
 */
int32_t idm_log_label(const idm_intern *labels, const char *text, size_t length);
/* Each reads its cells of a row whose number is log->rows; the trajectory is log->trajectory[row].
 */
idm_status idm_log_read_time(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_action(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_observation(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_available(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_utility(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_belief(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
idm_status idm_log_read_covariates(idm_log *log, const idm_csv_field *field, idm_error *opt_error);
/* Room in the scratch for `size` bytes. */
idm_status idm_log_scratch(idm_log *log, size_t size, idm_error *opt_error);

/* --- evidence (data_csv_build.c) ------------------------------------------------------------ */

/* Group, order and check the rows, and move what the log holds into evidence. */
idm_status idm_log_build(idm_log *log, idm_data **ret_data, idm_error *opt_error);

#endif
