/* What an agent that acts on beliefs takes the world to be: one model, and what may follow each
 * action row by row. */
#ifndef IDM_INVERT_UTILITY_MIND_H
#define IDM_INVERT_UTILITY_MIND_H

#include "idm/data.h"

typedef struct idm_mind {
  const idm_setting *setting; /* borrowed, as what follows is from it and theta */
  idm_theta *theta;           /* the problem's, as the clamps of its planner leave it */
  idm_sizes n;
  double discount;
  const double *start;  /* [state] */
  const bool *terminal; /* [action] */
  const double *prior;  /* [action]: one of 0 cannot be taken */
  /* p(s', x | s, u), row action * states + state; empty where nothing follows the action. */
  size_t *first;  /* [row + 1] */
  uint32_t *seen; /* [entry]: x */
  uint32_t *next; /* [entry]: s' */
  double *p;      /* [entry] */
} idm_mind;

/* IDM_INPUT, as what `who` cannot do without, where the agent has several models or none, where
 * beliefs are not made by Bayes' rule, and where the log gives start beliefs, actions that are not
 * open, or several environments. */
idm_status idm_mind_create_acting(const idm_problem *problem, const idm_data *data, const char *who,
                                  idm_mind **ret_mind, idm_error *opt_error);
/* The same of one that has a utility by state and action: IDM_INPUT too where beliefs have
 * a utility themselves. */
idm_status idm_mind_create(const idm_problem *problem, const idm_data *data, const char *who,
                           idm_mind **ret_mind, idm_error *opt_error);
/* Takes NULL. */
void idm_mind_destroy(idm_mind *mind);

/* joint[state] = p(s', x | z, u); returns their sum p(x | z, u). */
double idm_mind_joint(const idm_mind *mind, const double *z, size_t action, size_t observation,
                      double *joint);
/* next[state] = the belief after x, and returns p(x | z, u); 0, and no belief, where x cannot be
 * seen. z and next are two. */
double idm_mind_update(const idm_mind *mind, const double *z, size_t action, size_t observation,
                       double *next);

/* The beliefs along a log: `visit` receives each row that has an action of the agent's, and the
 * belief acted on, until the first action or observation of the trajectory that is not recorded. */
typedef idm_status (*idm_mind_visit)(void *context, size_t row, const double *z,
                                     idm_error *opt_error);
/* A note counts the trajectories that are used in part. IDM_INPUT, with the row, where what was
 * seen cannot be seen. */
idm_status idm_mind_follow(const idm_mind *mind, const idm_data *data, idm_mind_visit visit,
                           void *context, idm_notes *opt_notes, idm_error *opt_error);

#endif
