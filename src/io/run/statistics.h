/* What a draw leaves beside its position, as files call it: one table for those that write and
 * read. */
#ifndef IDM_IO_RUN_STATISTICS_H
#define IDM_IO_RUN_STATISTICS_H

#include <netcdf.h>

#include "idm/sampler.h"

typedef struct idm_statistic {
  const char *name; /* in ArviZ's schema */
  const char *stan; /* in CmdStan's CSV */
  nc_type type;     /* double: a double; else an int, a long or a bool by `size` */
  size_t offset;    /* in idm_statistics */
  size_t size;
  bool optional; /* left out where no draw has it: NaN, or -1 */
} idm_statistic;

enum { IDM_STATISTIC_COUNT = 7 };
extern const idm_statistic idm_statistic_list[IDM_STATISTIC_COUNT];

double idm_statistic_get(const idm_statistic *statistic, const idm_statistics *from);
void idm_statistic_set(const idm_statistic *statistic, idm_statistics *to, double value);
/* Whether a draw has it. */
bool idm_statistic_given(const idm_statistic *statistic, const idm_statistics *from);

#endif
