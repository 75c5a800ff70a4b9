/* A weighted set of hypotheses: what an agent may believe, and beside it what the environment's
 * belief would be; with the policies at each. */
#ifndef IDM_PLAN_BELIEF_SET_H
#define IDM_PLAN_BELIEF_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "idm/status.h"

/* More than this many hypotheses at once is an error. */
enum { BELIEF_SET_MOST = 100000 };

/* Where a weight in a set came from. */
typedef struct belief_origin {
  uint32_t parent; /* hypothesis of the set before */
  uint32_t into;   /* hypothesis of this set */
  uint32_t action;
  uint32_t observation;
  uint32_t model; /* whose successor it is, where recognition is sampled */
  double weight;  /* before weights were scaled to sum to 1 */
} belief_origin;

typedef struct belief_set {
  size_t states;
  size_t actions;
  size_t pairs;   /* numbers of sigma a belief: actions * models */
  bool apart;     /* the environment's beliefs tell hypotheses apart too; else they are unset */
  bool traced;    /* origins are kept */
  bool remembers; /* last actions tell hypotheses apart too */
  size_t count;
  size_t capacity;
  double *weight;        /* [count], summing to 1 once tidied */
  double *belief;        /* [count][states]: the agent's */
  double *world;         /* [count][states]: the environment's */
  int32_t *last;         /* [count]: the action before; IDM_MISSING at a start */
  size_t decided;        /* room for policies */
  double *decision;      /* [count][actions]: pi at each belief, once asked for */
  double *specification; /* [count][pairs] */
  size_t origins;
  size_t origin_capacity;
  belief_origin *origin;    /* [origins] */
  struct belief_rank *rank; /* [capacity]: scratch for merging */
  uint32_t *into;           /* [capacity]: scratch for merging */
} belief_set;

idm_status idm_belief_set_init(belief_set *set, size_t states, size_t actions, size_t pairs,
                               idm_error *opt_error);
void idm_belief_set_free(belief_set *set);
/* Forget all hypotheses and origins. */
void idm_belief_set_clear(belief_set *set);
/* Append a hypothesis (copied; opt_world is required where the set is `apart`). Equal ones are
 * merged on the way where they become very many. */
idm_status idm_belief_set_add(belief_set *set, double weight, const double *belief,
                              const double *opt_world, int last, idm_error *opt_error);
/* Say where the hypothesis added last came from; its `into` and `weight` are filled in. */
idm_status idm_belief_set_trace(belief_set *set, belief_origin origin, idm_error *opt_error);
/* Make room for policies at every hypothesis. */
idm_status idm_belief_set_decide(belief_set *set, idm_error *opt_error);
/* Merge equal hypotheses (every coordinate to a relative 1e-12), into the first of each, and scale
 * the weights to sum to 1. Returns what they summed to; where that is 0 they stay. */
double idm_belief_set_tidy(belief_set *set);

#endif
