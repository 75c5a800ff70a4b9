/* Who looks at every row of a log: the guest that makes an explanation of trials. */
#ifndef IDM_INVERT_EXPLAIN_ONLOOKER_H
#define IDM_INVERT_EXPLAIN_ONLOOKER_H

#include "invert/explain/rational.h"
#include "invert/explain/reaction.h"
#include "invert/trials.h"

/* Zero-initialise, then set problem and settings. */
typedef struct onlooker {
  const idm_problem *problem;
  idm_explain_settings settings;
  rational rational;
  reaction reaction;
  idm_workspace *workspace; /* of the agent */
  size_t draw;
  size_t draws;
  double *noise;   /* [draw] */
  double *quality; /* [action] */
  double *policy;  /* [action] */
  double *after;   /* [state] */
  double *scratch; /* [4 state] */
} onlooker;

/* Numbers of a part, and the place of its first one in a row. */
size_t idm_explain_part_size(idm_sizes n, idm_explain_part part);
size_t idm_explain_place_of(idm_sizes n, idm_explain_part part);

/* The guest that it is. */
trials_guest idm_onlooker_guest(onlooker *o, idm_sizes n);
void idm_onlooker_close(onlooker *o);
/* Whether an action is what a trajectory waits for. */
bool idm_onlooker_is_due(const onlooker *o, size_t u);
/* What the draws said of one agent, who is number `agent` of the log looked at. */
idm_status idm_onlooker_measure(const onlooker *o, size_t agent, idm_explained_person *person,
                                idm_error *opt_error);

#endif
