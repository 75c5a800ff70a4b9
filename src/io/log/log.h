/* A log on its way from CSV to idm_data: rows as they came. */
#ifndef IDM_IO_LOG_LOG_H
#define IDM_IO_LOG_LOG_H

#include "base/intern.h"
#include "io/log/choice.h"
#include "io/log/coding.h"
#include "io/log/header.h"
#include "io/log/ledger.h"
#include "io/log/where.h"

/* What is known of a trajectory while rows come in. */
typedef struct idm_log_trajectory {
  uint32_t agent;
  uint32_t variant;
  uint32_t file; /* the one that it stands in */
  int32_t start;
  uint32_t seen;     /* its first row in the file */
  uint32_t earliest; /* its first row in time, so far */
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

  idm_choice actions;
  idm_choice states;
  idm_choice observations;
  idm_intern missing;     /* texts that mean what an empty cell does */
  idm_intern missed_text; /* texts of the action's column that mean a missed response */
  uint32_t missed_set;    /* availability of the action of a missed response alone */
  idm_where where;        /* which rows are wanted */
  idm_ledger ledger;      /* what became of those that were read */
  idm_coding
      *coding; /* rows that are held until they are coded; NULL: they are read as they come */
  bool coded;  /* the log held the derived columns already */
  idm_faults
      *opt_faults;   /* borrowed: rows that cannot be read are kept there, and reading goes on */
  size_t compressed; /* files, see idm_intake */
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

#endif
