/* The table of a log's columns. */
#include "idm/column.h"

#include <math.h>

static const idm_column_info columns[] = {
#define COLUMN_ROW(id, ...) [id] = {__VA_ARGS__},
    IDM_COLUMN_LIST(COLUMN_ROW)
#undef COLUMN_ROW
};

const idm_column_info *idm_column_describe(idm_column column)
{
  return (size_t)column < IDM_COLUMN_COUNT ? &columns[column] : NULL;
}

bool idm_column_applies(idm_column column, const idm_setting *setting)
{
  const idm_column_info *info = idm_column_describe(column);
  return info && (!info->of_state || setting->fully_observed);
}
