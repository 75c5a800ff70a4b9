/* What an inverse planner that does not go by the likelihood is asked, looked at before it begins.
 */
#ifndef IDM_INVERT_UTILITY_ASKED_H
#define IDM_INVERT_UTILITY_ASKED_H

#include "idm/inverse.h"
#include "invert/matching/halt.h"
#include "invert/utility/belief_world.h"
#include "invert/utility/demonstrator.h"
#include "invert/utility/mdp.h"
#include "invert/utility/mind.h"
#include "invert/utility/sought.h"

typedef struct idm_asked {
  const idm_inverse *inverse;
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  idm_notes *opt_notes;
  idm_mind *mind;                 /* of a demonstrator whose states are hidden; NULL elsewhere */
  idm_belief_world *beliefs;      /* where the states of the world are beliefs; NULL elsewhere */
  idm_mdp *world;                 /* NULL where it goes by the log alone */
  idm_sought *sought;             /* NULL where it looks for no utility */
  idm_sought *blended;            /* the same by actions and beliefs of the world; NULL elsewhere */
  idm_demonstrator *demonstrator; /* NULL until it is asked for */
  idm_halt halt;                  /* who may stop it, and what it is then doing */
} idm_asked;

/* What an inverse planner goes by where states are hidden. */
typedef enum idm_asked_by {
  IDM_BY_STATES, /* nothing: it needs states that are observed */
  IDM_BY_LOG,    /* the log alone: there is no world */
  IDM_BY_MIND,   /* the agent's beliefs, one by one; the world is then the agent's own */
  IDM_BY_LATTICE /* policies: the states of the world are beliefs on a lattice */
} idm_asked_by;

/* How an inverse planner finds its answer: its row's `method`. */
typedef struct idm_asked_method {
  idm_asked_by by;
  const char *doing; /* what it is doing then, in words of its progress */
  /* Of the lattice for a log; NULL: idm_belief_world_resolution. */
  int (*resolution)(const idm_problem *problem, const idm_data *data);
  /* NULL: the row has a fit of its own. */
  idm_status (*answer)(idm_asked *asked, idm_posterior **ret_posterior, idm_error *opt_error);
} idm_asked_method;

/* Settings, needs of the inverse planner, the world, and what is sought. resolution: of the
 * lattice, 0: the method's. What is open is closed by idm_asked_close, whatever this gives. */
idm_status idm_asked_open(idm_asked *asked, const idm_fit_call *call, int resolution,
                          idm_error *opt_error);
/* idm_inverse.fit of those whose method has an answer: open, answer, close. */
idm_status idm_asked_fit(const idm_fit_call *call, idm_posterior **ret_posterior,
                         idm_error *opt_error);
/* The call of a fit that is open, without its notes: for the same fit at another resolution. */
idm_fit_call idm_asked_repeat(const idm_asked *asked);
/* And the demonstrator of the whole log. */
idm_status idm_asked_demonstrator(idm_asked *asked, idm_error *opt_error);
/* What is sought by the actions and states of the world. */
const idm_sought *idm_asked_planned(const idm_asked *asked);
void idm_asked_close(idm_asked *asked);

#endif
