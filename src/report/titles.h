/* What quantities of a run are called where people read of them. */
#ifndef IDM_REPORT_TITLES_H
#define IDM_REPORT_TITLES_H

#include "idm/posterior.h"

/* Of a quantity: "log alpha", and of people and groups "sd of log alpha", "log alpha, site 2". Into
 * buffer, which is returned. */
const char *idm_title_quantity(const idm_posterior *posterior, size_t quantity, char *buffer,
                               size_t size);
/* Of a series: "log alpha", "differences in log alpha". */
const char *idm_title_series(const idm_posterior *posterior, size_t series, char *buffer,
                             size_t size);
/* Of an item of a series: its label; of a pair of numbers both. */
const char *idm_title_item(const idm_posterior *posterior, size_t series, size_t item, char *buffer,
                           size_t size);
/* Whether a series is along the axis of this name. */
bool idm_series_is_along(const idm_posterior *posterior, size_t series, const char *axis);

#endif
