/* What a table tells of a problem: columns by name or by guess, labels, ends of trajectories. */
#ifndef IDM_IO_INIT_H
#define IDM_IO_INIT_H

#include "base/intern.h"
#include "io/log/header.h"

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
  bool goes_on[idm_label_limit]; /* [action]: on a row that is not the last of its trajectory */
} idm_division;

/* Zero-initialise, set the file. */
typedef struct idm_survey {
  const char *file; /* borrowed */
  idm_log_header header;
  idm_label_column actions;
  idm_label_column observations;
  idm_intern missing; /* texts in place of labels that look as if nothing was recorded */
  idm_intern agents;
  idm_division by;      /* by all columns of the trajectory */
  idm_division coarser; /* without the last, `trial`, which may number the rows of a trajectory */
  bool has_trial;       /* that column is one of them */
  bool counts_rows;     /* it numbers rows, and was left out */
  size_t rows;
  char *scratch;
  size_t scratch_capacity;
} idm_survey;

/* One pass over the table. */
idm_status idm_survey_take(idm_survey *survey, idm_csv *csv, idm_error *opt_error);
void idm_survey_clear(idm_survey *survey);
/* Actions that stand on last rows only, in sorted order; returns how many. */
size_t idm_survey_endings(const idm_survey *survey, const char *ret_action[idm_label_limit]);

#endif
