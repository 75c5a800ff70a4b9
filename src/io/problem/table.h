/* A table beside a YAML problem: CSV with a header, whose cells hold labels of the problem and
 * numbers. Every error has its place in the table. */
#ifndef IDM_IO_PROBLEM_TABLE_H
#define IDM_IO_PROBLEM_TABLE_H

#include <stdio.h>

#include "io/csv.h"
#include "io/problem/reader.h"

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

#endif
