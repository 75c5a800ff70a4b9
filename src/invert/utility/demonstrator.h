/* The demonstrator of a log: what it did in which state of a world. Where states are hidden, those
 * of the world are beliefs, and a decision may count at several of them by weights. */
#ifndef IDM_INVERT_UTILITY_DEMONSTRATOR_H
#define IDM_INVERT_UTILITY_DEMONSTRATOR_H

#include "idm/data.h"
#include "invert/utility/mdp.h"

/* Where the rows of a log act. */
typedef struct idm_stations {
  size_t *first;   /* [rows + 1]: entries of a row; none: not known */
  uint32_t *state; /* [entry] */
  double *weight;  /* [entry]: over a row 1 */
} idm_stations;

/* Room for so many entries. */
idm_status idm_stations_create(size_t rows, size_t entries, idm_stations **ret_stations,
                               idm_error *opt_error);
/* Takes NULL. */
void idm_stations_destroy(idm_stations *stations);

typedef struct idm_demonstrator {
  idm_sizes n;
  idm_stations *stations;
  double *count;  /* [state][action]: rows */
  double *visits; /* [state]: rows with the state and an action */
  double *policy; /* [state][action]: frequencies; where the state was never visited, the action
                     prior */
  size_t decisions;
  size_t unplaced; /* actions whose state is not recorded: they count nowhere */
} idm_demonstrator;

/* state[row]: the state acted in, or IDM_MISSING where the log does not say. */
void idm_demonstrator_states(const idm_data *data, const idm_setting *setting, int32_t *state);

/* Of all trajectories, or of those whose place in opt_of[trajectory] is true. IDM_INPUT where no
 * action has a state. */
idm_status idm_demonstrator_create(const idm_mdp *world, const idm_data *data,
                                   const idm_setting *setting, const bool *opt_of,
                                   idm_demonstrator **ret_demonstrator, idm_error *opt_error);
/* The same at given stations, which are taken over whatever this gives. */
idm_status idm_demonstrator_create_at(const idm_mdp *world, const idm_data *data,
                                      idm_stations *stations, const bool *opt_of,
                                      idm_demonstrator **ret_demonstrator, idm_error *opt_error);
/* Its counts and its policy, without where the rows act. */
idm_status idm_demonstrator_copy(const idm_demonstrator *demonstrator,
                                 idm_demonstrator **ret_demonstrator, idm_error *opt_error);
void idm_demonstrator_destroy(idm_demonstrator *demonstrator);

/* action[state]: the only action taken there, or IDM_MISSING where none was. IDM_INPUT, with the
 * states, where some has two. */
idm_status idm_demonstrator_deterministic(const idm_demonstrator *demonstrator,
                                          const idm_setting *setting, const char *who,
                                          int32_t *action, idm_error *opt_error);

/* occupancy[state][action] of the policy under the world, or with `empirical` the discounted shares
 * of the log itself. A note says how much of the former lies in states that were never visited. */
idm_status idm_demonstrator_occupancy(const idm_demonstrator *demonstrator, const idm_mdp *world,
                                      const idm_data *data, const idm_setting *setting,
                                      bool empirical, double *occupancy, idm_notes *opt_notes,
                                      idm_error *opt_error);

#endif
