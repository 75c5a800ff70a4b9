/* Sorted names: lookup and duplicates. */
#include "io/yaml/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int compare(const void *a, const void *b)
{
  const idm_name *x = a;
  const idm_name *y = b;
  const int order = strcmp(x->text, y->text);
  if (order != 0) return order;
  return (x->index > y->index) - (x->index < y->index);
}

void idm_names_sort(idm_names *names)
{
  qsort(names->entry, names->count, sizeof *names->entry, compare);
}

idm_status idm_names_create(const idm_labels *labels, idm_names *ret_names, idm_error *opt_error)
{
  *ret_names = (idm_names){0};
  idm_name *entry = idm_new(labels->count, sizeof *entry);
  if (!entry) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < labels->count; i++) entry[i] = (idm_name){labels->name[i], i};
  *ret_names = (idm_names){labels->count, entry};
  idm_names_sort(ret_names);
  return IDM_OK;
}

void idm_names_destroy(idm_names *names)
{
  free(names->entry);
  *names = (idm_names){0};
}

long idm_names_repeated(const idm_names *names)
{
  long first = -1;
  for (size_t i = 1; i < names->count; i++) {
    const long index = (long)names->entry[i].index;
    if (strcmp(names->entry[i - 1].text, names->entry[i].text) == 0 && (first < 0 || index < first))
      first = index;
  }
  return first;
}

long idm_names_find(const idm_names *names, const char *text)
{
  size_t low = 0;
  size_t high = names->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (strcmp(names->entry[middle].text, text) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < names->count && strcmp(names->entry[low].text, text) == 0)
    return (long)names->entry[low].index;
  const size_t length = strlen(text);
  if (length == 0 || length > 9 || strspn(text, "0123456789") != length) return -1;
  const long number = strtol(text, NULL, 10);
  return (size_t)number < names->count ? number : -1;
}
