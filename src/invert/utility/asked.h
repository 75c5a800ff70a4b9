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

/* What an inverse planner goes by where states are hidden. */
typedef enum idm_asked_by {
  IDM_BY_STATES, /* nothing: it needs states that are observed */
  IDM_BY_MIND,   /* the agent's beliefs, one by one; the world is then the agent's own */
  IDM_BY_LATTICE /* policies: the states of the world are beliefs on a lattice */
} idm_asked_by;

/* What a fit receives (idm_inverse.fit), and how it is to be looked at. */
typedef struct idm_asked_call {
  const idm_inverse *inverse;
  idm_asked_by by;
  int resolution;    /* of the lattice; 0: one for the log */
  const char *doing; /* what it is then doing */
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  const idm_fit_watch *opt_watch;
  idm_notes *opt_notes;
} idm_asked_call;

/* Settings, needs of the inverse planner, the world, and what is sought. What is open is closed by
 * idm_asked_close, whatever this gives. */
idm_status idm_asked_open(idm_asked *asked, const idm_asked_call *call, idm_error *opt_error);
/* A whole fit: open, answer, close. */
typedef idm_status (*idm_asked_answer)(idm_asked *asked, idm_posterior **ret_posterior,
                                       idm_error *opt_error);
idm_status idm_asked_fit(const idm_asked_call *call, idm_asked_answer answer,
                         idm_posterior **ret_posterior, idm_error *opt_error);
/* And the demonstrator of the whole log. */
idm_status idm_asked_demonstrator(idm_asked *asked, idm_error *opt_error);
/* What is sought by the actions and states of the world. */
const idm_sought *idm_asked_planned(const idm_asked *asked);
void idm_asked_close(idm_asked *asked);

#endif
