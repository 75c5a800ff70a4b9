/* A game for a policy: max over policies of min over utilities of the box of the policy's return
 * less the demonstrator's (Syed and Schapire 2008). */
#ifndef IDM_INVERT_UTILITY_GAME_H
#define IDM_INVERT_UTILITY_GAME_H

#include "invert/utility/face.h"
#include "invert/utility/mdp.h"
#include "invert/utility/sought.h"

typedef struct idm_game {
  double bound;        /* of the box */
  idm_face *face;      /* the utility's side: its `x` is made here, for the caller to free */
  double objective;    /* value of the game */
  double *policy;      /* [state][action]: the other side, for the caller to free */
  double attained;     /* how far that is from one that plays best */
  bool policy_nearest; /* its occupancy is the nearest to the demonstrator's that plays best */
} idm_game;

/* Both players' best. occupancy and demonstrated are the demonstrator's, by state and action. */
idm_status idm_game_play(const idm_mdp *world, const idm_sought *sought, const double *occupancy,
                         const double *demonstrated, idm_game *game, idm_halt *halt,
                         idm_error *opt_error);

#endif
