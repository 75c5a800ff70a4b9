/* A weighted set of beliefs with the policies at each: what a believer keeps in memory. */
#ifndef IDM_PLAN_BELIEF_SET_H
#define IDM_PLAN_BELIEF_SET_H

#include <stdbool.h>

#include "idm/status.h"

/* More than this many beliefs at once is an error (DESIGN, section 3). */
enum { BELIEF_SET_MOST = 100000 };

typedef struct belief_set {
  size_t states;
  size_t pairs; /* numbers of sigma a belief: actions * models */
  size_t actions;
  size_t count;
  size_t capacity;
  double *weight;        /* [count], summing to 1 */
  double *belief;        /* [count][states] */
  double *decision;      /* [count][actions]: pi at each belief, once asked for */
  double *specification; /* [count][pairs] */
} belief_set;

idm_status idm_belief_set_init(belief_set *set, size_t states, size_t actions, size_t pairs,
                               idm_error *opt_error);
void idm_belief_set_free(belief_set *set);
/* Append a belief (copied); policies are left unset. */
idm_status idm_belief_set_add(belief_set *set, double weight, const double *belief,
                              idm_error *opt_error);
/* Merge equal beliefs (to 1e-12) and scale the weights to sum to 1. Returns false where they sum to
 * 0. */
bool idm_belief_set_tidy(belief_set *set);

#endif
