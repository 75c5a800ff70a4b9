/* The world of a demonstrator: where actions lead, one row a state and action, whichever way the
 * file gives it. */
#ifndef IDM_INVERT_UTILITY_WORLD_H
#define IDM_INVERT_UTILITY_WORLD_H

#include "idm/problem.h"

typedef struct idm_world {
  idm_sizes n;
  double discount;
  size_t horizon;      /* steps of an episode; 0: endless */
  const double *start; /* [state]: borrowed from the setting */
  const double *prior; /* [action]: the action prior, borrowed from theta */
  idm_moves *moves;    /* row action * states + state; empty where nothing follows the
                          action; without arrivals at terminal states */
} idm_world;

/* IDM_INPUT, as what `who` cannot do without, where states are not observed, dynamics are not known
 * or the utility varies with the data. */
idm_status idm_world_create(const idm_problem *problem, const idm_setting *setting, const char *who,
                            idm_world **ret_world, idm_error *opt_error);
/* Where states are hidden: the world as the first model of a theta has it, which is borrowed. */
idm_status idm_world_create_believed(const idm_setting *setting, const idm_theta *theta,
                                     idm_world **ret_world, idm_error *opt_error);
/* The same where states may be hidden: of whoever would see them. */
idm_status idm_world_underlying(const idm_problem *problem, const idm_setting *setting,
                                const char *who, idm_world **ret_world, idm_error *opt_error);
void idm_world_destroy(idm_world *world);

/* discount * P(.|s,u) . v. */
double idm_world_next(const idm_world *world, size_t action, size_t state, const double *v);
/* v[state] = sum_u policy[state][u] (utility[u][state] + discount P v): policies are by state and
 * action, utilities by action and state, as in theta. IDM_NUMERICAL where sweeps do not settle: a
 * discount of 1, and episodes that do not end. */
idm_status idm_world_evaluate(const idm_world *world, const double *policy, const double *utility,
                              double *v, idm_error *opt_error);
/* What one step weighs in an occupancy: 1 - discount, or with a horizon what makes its steps sum to
 * 1. */
double idm_world_share(const idm_world *world);
/* occupancy[state][action] = share E sum_t discount^t 1{s,u}, over the steps of the horizon where
 * there is one; sums to 1 where no action ends. The same failure. */
idm_status idm_world_occupancy(const idm_world *world, const double *policy, double *occupancy,
                               idm_error *opt_error);

#endif
