/* Utility of a YAML problem. */
#ifndef IDM_IO_PROBLEM_UTILITY_H
#define IDM_IO_PROBLEM_UTILITY_H

#include "io/problem/reader.h"

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
