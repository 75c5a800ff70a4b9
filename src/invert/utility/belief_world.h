/* Beliefs as the states of a world: the points of a lattice, between which a belief counts by its
 * weights in its cell. A policy of beliefs then has occupancies as one of observed states has. */
#ifndef IDM_INVERT_UTILITY_BELIEF_WORLD_H
#define IDM_INVERT_UTILITY_BELIEF_WORLD_H

#include "belief/lattice.h"
#include "idm/finding.h"
#include "invert/utility/demonstrator.h"
#include "invert/utility/mind.h"

typedef struct idm_belief_world {
  idm_lattice *lattice;
  idm_mdp *world; /* its states are points; what follows an action is what the agent expects */
  double *start;  /* [point] */
} idm_belief_world;

/* The resolution for a log: the agent's or that of a planner by default, and no more than leaves
 * ten decisions for each action at each point; at least IDM_BELIEF_COARSEST. */
enum { IDM_BELIEF_COARSEST = 5 };
int idm_belief_world_resolution(const idm_problem *problem, const idm_data *data);

/* The mind is borrowed. IDM_INPUT, as what `who` cannot do, where the lattice has too many points.
 */
idm_status idm_belief_world_create(const idm_mind *mind, int resolution, const char *who,
                                   idm_belief_world **ret_world, idm_error *opt_error);
/* Takes NULL. */
void idm_belief_world_destroy(idm_belief_world *world);

/* Where the rows of a log act, as the agent's filter follows them; see idm_mind_follow. */
idm_status idm_belief_world_stations(const idm_belief_world *world, const idm_mind *mind,
                                     const idm_data *data, idm_stations **ret_stations,
                                     idm_notes *opt_notes, idm_error *opt_error);

/* State on which lattice an answer was found, and the share of its decisions that the answer of a
 * coarser one makes otherwise: a fault above 2 %. */
void idm_belief_world_remark(const idm_belief_world *world, int coarser, double share,
                             idm_finding *finding);

#endif
