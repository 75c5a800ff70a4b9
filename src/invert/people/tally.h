/* How much each person decided, and what chance makes of it. */
#ifndef IDM_INVERT_PEOPLE_TALLY_H
#define IDM_INVERT_PEOPLE_TALLY_H

#include "idm/assess.h"

/* Count trajectories and decisions of every person into person[]; uniform_log_loss is filled (NaN
 * where nothing was decided). */
void idm_tally_people(const idm_data *data, const uint32_t *of_trajectory, size_t people,
                      idm_person *person);

#endif
