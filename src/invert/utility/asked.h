/* What an inverse planner that does not go by the likelihood is asked, looked at before it begins.
 */
#ifndef IDM_INVERT_UTILITY_ASKED_H
#define IDM_INVERT_UTILITY_ASKED_H

#include "idm/inverse.h"
#include "invert/matching/halt.h"
#include "invert/utility/belief_world.h"
#include "invert/utility/demonstrator.h"
#include "invert/utility/mind.h"
#include "invert/utility/sought.h"
#include "invert/utility/world.h"

typedef struct idm_asked {
  const idm_inverse *inverse;
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  idm_notes *opt_notes;
  idm_mind *mind;            /* of a demonstrator whose states are hidden; NULL elsewhere */
  idm_belief_world *beliefs; /* where the states of the world are beliefs; NULL elsewhere */
  idm_world *world;
  idm_sought *sought;             /* NULL where it looks for no utility */
  idm_sought *blended;            /* the same by actions and beliefs of the world; NULL elsewhere */
  idm_demonstrator *demonstrator; /* NULL until it is asked for */
  idm_halt halt;                  /* who may stop it, and what it is then doing */
} idm_asked;

/* Settings, needs of the inverse planner, the world, and what is sought. What is open is closed by
 * idm_asked_close, whatever this gives. */
idm_status idm_asked_open(idm_asked *asked, const idm_inverse *inverse, const idm_problem *problem,
                          const idm_data *data, const idm_fit_settings *settings,
                          const idm_fit_watch *opt_watch, const char *doing, idm_notes *opt_notes,
                          idm_error *opt_error);
/* The same of an inverse planner that goes by beliefs where states are hidden: the world is then
 * the agent's own. */
idm_status idm_asked_open_believing(idm_asked *asked, const idm_inverse *inverse,
                                    const idm_problem *problem, const idm_data *data,
                                    const idm_fit_settings *settings,
                                    const idm_fit_watch *opt_watch, const char *doing,
                                    idm_notes *opt_notes, idm_error *opt_error);
/* The same of an inverse planner that compares policies: where states are hidden, those of the
 * world are beliefs on a lattice of this resolution (0: one for the log). IDM_INPUT too where what
 * makes beliefs is free: there would be no one space on which to compare. */
idm_status idm_asked_open_on_beliefs(idm_asked *asked, const idm_inverse *inverse,
                                     const idm_problem *problem, const idm_data *data,
                                     const idm_fit_settings *settings,
                                     const idm_fit_watch *opt_watch, const char *doing,
                                     int resolution, idm_notes *opt_notes, idm_error *opt_error);
/* And the demonstrator of the whole log. */
idm_status idm_asked_demonstrator(idm_asked *asked, idm_error *opt_error);
/* What is sought by the actions and states of the world. */
const idm_sought *idm_asked_planned(const idm_asked *asked);
void idm_asked_close(idm_asked *asked);

#endif
