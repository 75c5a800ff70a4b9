/* What a draw leaves beside its position, as files call it. */
#include "io/run/statistics.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define FIELD(field) offsetof(idm_statistics, field), sizeof((idm_statistics *)0)->field

/* In the order of CmdStan's columns, which ArviZ's do not need. */
const idm_statistic idm_statistic_list[IDM_STATISTIC_COUNT] = {
    {"lp", "lp__", NC_DOUBLE, FIELD(log_density), false},
    {"acceptance_rate", "accept_stat__", NC_DOUBLE, FIELD(acceptance), false},
    {"step_size", "stepsize__", NC_DOUBLE, FIELD(step_size), true},
    {"tree_depth", "treedepth__", NC_INT64, FIELD(tree_depth), true},
    {"n_steps", "n_leapfrog__", NC_INT64, FIELD(evaluations), false},
    {"diverging", "divergent__", NC_BYTE, FIELD(diverging), false},
    {"energy", "energy__", NC_DOUBLE, FIELD(energy), true},
};

double idm_statistic_get(const idm_statistic *statistic, const idm_statistics *from)
{
  const char *field = (const char *)from + statistic->offset;
  if (statistic->type == NC_DOUBLE) return *(const double *)(const void *)field;
  if (statistic->type == NC_BYTE) return *(const bool *)(const void *)field;
  return statistic->size == sizeof(int) ? *(const int *)(const void *)field
                                        : (double)*(const long *)(const void *)field;
}

void idm_statistic_set(const idm_statistic *statistic, idm_statistics *to, double value)
{
  char *field = (char *)to + statistic->offset;
  if (statistic->type == NC_DOUBLE)
    *(double *)(void *)field = value;
  else if (statistic->type == NC_BYTE)
    *(bool *)(void *)field = value != 0;
  else if (statistic->size == sizeof(int))
    *(int *)(void *)field = (int)value;
  else
    *(long *)(void *)field = (long)value;
}

bool idm_statistic_given(const idm_statistic *statistic, const idm_statistics *from)
{
  const double value = idm_statistic_get(statistic, from);
  return !isnan(value) && (statistic->type != NC_INT64 || value != -1);
}
