/* How much each person decided, and what chance makes of it. */
#include "invert/people/tally.h"

#include <math.h>

void idm_tally_people(const idm_data *data, const uint32_t *of_trajectory, size_t people,
                      idm_person *person)
{
  for (size_t t = 0; t < data->trajectories; t++) {
    idm_person *one = &person[of_trajectory[t]];
    one->trajectories++;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const size_t open = idm_data_open(data, data->available[row]);
      if (data->action[row] == IDM_MISSING || open < 2) continue;
      one->decisions++;
      one->uniform_log_loss += log((double)open);
    }
  }
  for (size_t i = 0; i < people; i++)
    person[i].uniform_log_loss =
        person[i].decisions ? person[i].uniform_log_loss / (double)person[i].decisions : NAN;
}
