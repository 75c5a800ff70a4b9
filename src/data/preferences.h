/* Preferences between trajectories, from within. */
#ifndef IDM_DATA_PREFERENCES_H
#define IDM_DATA_PREFERENCES_H

#include "idm/data.h"

/* Whether each is between two of so many trajectories, and has a finite weight above 0. */
idm_status idm_preferences_check(const idm_preferences *preferences, size_t trajectories,
                                 idm_error *opt_error);
/* Trajectories each of which is better than the next, and the last better than the first, into
 * circle[trajectories]; *ret_length is 0 where there are none such. */
idm_status idm_preferences_circle(const idm_preferences *preferences, size_t trajectories,
                                  uint32_t *circle, size_t *ret_length, idm_error *opt_error);

#endif
