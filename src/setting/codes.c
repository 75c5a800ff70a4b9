/* Codes: texts and numbers that stand for labels in the cells of a log. */
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/problem.h"

void idm_codes_destroy(idm_codes *codes)
{
  if (!codes) return;
  for (size_t i = 0; i < codes->count; i++) {
    idm_labels_destroy(&codes->code[i].text);
    idm_labels_destroy(&codes->code[i].means);
  }
  free(codes->code);
  *codes = (idm_codes){0};
}

idm_status idm_codes_create(idm_codes *codes, size_t count, idm_error *opt_error)
{
  idm_require(codes);
  *codes = (idm_codes){.code = idm_new(count, sizeof *codes->code)};
  if (!codes->code) return idm_fail_memory(opt_error);
  codes->count = count;
  return IDM_OK;
}

/* Part number `part` of a label; NULL where it has not as many. */
static const char *part_of(const char *label, size_t parts, size_t part, size_t *ret_length)
{
  const char *found = NULL;
  for (size_t i = 0; i < parts; i++) {
    const size_t length = strcspn(label, "/");
    if (i == part) {
      found = label;
      *ret_length = length;
    }
    if ((i + 1 < parts) != (label[length] == '/')) return NULL;
    label += length + 1;
  }
  return found;
}

static bool is_known(const idm_labels *levels, size_t count, const char *text, size_t length)
{
  for (size_t i = 0; i < count; i++)
    if (strlen(levels->name[i]) == length && memcmp(levels->name[i], text, length) == 0)
      return true;
  return false;
}

idm_status idm_labels_level(const idm_labels *labels, size_t parts, size_t part,
                            idm_labels *ret_labels, idm_error *opt_error)
{
  idm_require(labels, ret_labels);
  idm_labels levels;
  *ret_labels = (idm_labels){0};
  idm_status status = idm_labels_create(&levels, labels->count, opt_error);
  size_t count = 0;
  for (size_t i = 0; i < labels->count && status == IDM_OK; i++) {
    size_t length = 0;
    const char *text = part_of(labels->name[i], parts, part, &length);
    if (!text)
      status = idm_fail(opt_error, IDM_INPUT,
                        "the label '%.60s' is not joined from %zu parts by '/', so that codes by "
                        "column have no meaning",
                        labels->name[i], parts);
    else if (!is_known(&levels, count, text, length))
      status = idm_labels_set(&levels, count++, text, length, opt_error);
  }
  if (status != IDM_OK) {
    idm_labels_destroy(&levels);
    return status;
  }
  levels.count = count;
  *ret_labels = levels;
  return IDM_OK;
}
