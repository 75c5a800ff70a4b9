/* Columns of a log: which one plays which role. */
#ifndef IDM_IO_LOG_HEADER_H
#define IDM_IO_LOG_HEADER_H

#include "idm/log_file.h"
#include "io/csv.h"

/* For "%.*s": a cell in a message, cut where it is long. */
#define IDM_CELL_SHOWN(cell) (int)((cell).length < 60 ? (cell).length : 60), (cell).text

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

#endif
