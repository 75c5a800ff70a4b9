/* Sorted names: lookup and duplicates in n log n, because a file may hold a million labels. */
#ifndef IDM_IO_PROBLEM_YAML_NAMES_H
#define IDM_IO_PROBLEM_YAML_NAMES_H

#include "idm/setting.h"

typedef struct idm_name {
  const char *text; /* borrowed */
  size_t index;     /* place in the list the names came from */
} idm_name;

/* Sorted by text, equal texts by index. Zero-initialise. */
typedef struct idm_names {
  size_t count;
  idm_name *entry;
} idm_names;

/* Sort the entries of a list that the caller has filled (count, entry owned from now on). */
void idm_names_sort(idm_names *names);
idm_status idm_names_create(const idm_labels *labels, idm_names *ret_names, idm_error *opt_error);
void idm_names_destroy(idm_names *names);
/* The first index that repeats an earlier text, or -1 where all differ. */
long idm_names_repeated(const idm_names *names);
/* As idm_labels_find: a label, else a 0-based number in range, else -1. */
long idm_names_find(const idm_names *names, const char *text);

#endif
