/* The table of shared blocks, and what follows from a descriptor alone. */
#include "idm/block.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static const idm_block_info blocks[] = {
#define BLOCK_ROW(id, ...) [id] = {__VA_ARGS__},
    IDM_BLOCK_LIST(BLOCK_ROW)
#undef BLOCK_ROW
};

static const char *const axis_names[] = {[IDM_AXIS_MODEL] = "model",
                                         [IDM_AXIS_ACTION] = "action",
                                         [IDM_AXIS_STATE] = "state",
                                         [IDM_AXIS_NEXT_STATE] = "next_state",
                                         [IDM_AXIS_OBSERVATION] = "observation",
                                         [IDM_AXIS_TERM] = "term",
                                         [IDM_AXIS_FIELD] = "field"};

static const char *const scale_names[] = {
#define SCALE_NAME(id, name) name,
    IDM_SCALE_LIST(SCALE_NAME)
#undef SCALE_NAME
};

const idm_block_info *idm_block_describe(idm_block_id id)
{
  return (size_t)id < IDM_BLOCK_COUNT ? &blocks[id] : NULL;
}

const char *idm_block_name(idm_block_id id)
{
  return (size_t)id < IDM_BLOCK_COUNT ? blocks[id].name : NULL;
}

int idm_block_find(const char *name)
{
  if (!name) return -1;
  for (int i = 0; i < IDM_BLOCK_COUNT; i++)
    if (strcmp(blocks[i].name, name) == 0) return i;
  return -1;
}

const char *idm_axis_name(idm_axis axis)
{
  return (size_t)axis < sizeof axis_names / sizeof axis_names[0] ? axis_names[axis] : NULL;
}

const char *idm_scale_name(idm_scale scale)
{
  return (size_t)scale < sizeof scale_names / sizeof scale_names[0] ? scale_names[scale] : NULL;
}

int idm_scale_find(const char *name)
{
  if (!name) return -1;
  for (size_t i = 0; i < sizeof scale_names / sizeof scale_names[0]; i++)
    if (strcmp(scale_names[i], name) == 0) return (int)i;
  return -1;
}

size_t idm_axis_length(const idm_block_info *opt_info, idm_axis axis, idm_sizes sizes,
                       size_t models)
{
  size_t fields = 0;
  switch (axis) {
  case IDM_AXIS_MODEL:
    return models;
  case IDM_AXIS_ACTION:
    return sizes.actions;
  case IDM_AXIS_STATE:
  case IDM_AXIS_NEXT_STATE:
    return sizes.states;
  case IDM_AXIS_OBSERVATION:
    return sizes.observations;
  case IDM_AXIS_TERM:
    return sizes.states + 1;
  case IDM_AXIS_FIELD:
    while (opt_info && opt_info->field[fields].name) fields++;
    return fields;
  default:
    return 1;
  }
}

size_t idm_block_size(const idm_block_info *info, idm_sizes sizes, size_t models)
{
  if (!info) return 0;
  size_t size = info->opaque ? info->count : 1;
  for (size_t i = 0; i < 4 && info->axis[i]; i++)
    size = idm_times(size, idm_axis_length(info, info->axis[i], sizes, models));
  return size;
}

const idm_field *idm_block_field(const idm_block_info *info, idm_sizes sizes, size_t i)
{
  if (!info || !info->field || info->axis[0] != IDM_AXIS_FIELD) return NULL;
  const size_t fields = idm_axis_length(info, IDM_AXIS_FIELD, sizes, 1);
  const size_t each = fields ? idm_block_size(info, sizes, 1) / fields : 0;
  return each && i / each < fields ? &info->field[i / each] : NULL;
}

size_t idm_block_width(const idm_block_info *info, idm_sizes sizes, size_t models)
{
  if (!info) return 0;
  size_t last = 0;
  while (last < 3 && info->axis[last + 1]) last++;
  return idm_axis_length(info, info->axis[last], sizes, models);
}

/* The label at a place, or NULL past the last. */
static const char *label_at(const idm_labels *labels, size_t at)
{
  return at < labels->count ? labels->name[at] : NULL;
}

const char *idm_axis_label(const idm_block_info *info, const idm_setting *setting, idm_axis axis,
                           size_t at, char *number, size_t size)
{
  if (!info || !setting || !number) return NULL;
  switch (axis) {
  case IDM_AXIS_ACTION:
    return label_at(&setting->actions, at);
  case IDM_AXIS_STATE:
  case IDM_AXIS_NEXT_STATE:
    return label_at(&setting->states, at);
  case IDM_AXIS_OBSERVATION:
    return label_at(&setting->observations, at);
  case IDM_AXIS_TERM:
    return at ? label_at(&setting->states, at - 1) : "constant";
  case IDM_AXIS_FIELD:
    for (size_t i = 0; info->field && info->field[i].name; i++)
      if (i == at) return info->field[i].name;
    return NULL;
  default:
    snprintf(number, size, "%zu", at + 1);
    return number;
  }
}

/* A label within the brackets of a name: in quotes, with its own doubled, where it could be taken
 * for more than one. Returns its length, which may not fit. */
static size_t put_label(const char *label, char *buffer, size_t size)
{
  if (!label[strcspn(label, ",[]\"")]) return (size_t)snprintf(buffer, size, "%s", label);
  size_t used = (size_t)snprintf(buffer, size, "\"");
  for (; *label; label++)
    used += (size_t)snprintf(used < size ? buffer + used : NULL, used < size ? size - used : 0,
                             *label == '"' ? "\"\"" : "%c", *label);
  return used +
         (size_t)snprintf(used < size ? buffer + used : NULL, used < size ? size - used : 0, "\"");
}

const char *idm_block_entry(const idm_block_info *info, const idm_setting *setting, size_t models,
                            size_t i, char *buffer, size_t size)
{
  if (!info || !setting || !buffer) return NULL;
  const idm_sizes sizes = idm_setting_sizes(setting);
  size_t stride = idm_block_size(info, sizes, models);
  size_t used = 0;
  buffer[0] = '\0';
  for (size_t k = 0; k < 4 && info->axis[k] && used < size; k++) {
    char number[24];
    const size_t length = idm_axis_length(info, info->axis[k], sizes, models);
    if (!length || stride < length) break; /* a block without numbers */
    stride /= length;
    const char *label =
        idm_axis_label(info, setting, info->axis[k], i / stride % length, number, sizeof number);
    if (k) used += (size_t)snprintf(buffer + used, size - used, ",");
    if (used < size) used += put_label(label, buffer + used, size - used);
  }
  return buffer;
}
