/* The input-output hidden Markov model over the tree of histories. */
#ifndef IDM_LEARN_IOHMM_H
#define IDM_LEARN_IOHMM_H

#include "idm/prefix.h"
#include "learn/structure.h"

/* A history: the beginning of trajectories, or a row of theirs. Parents come first. */
typedef struct history {
  uint32_t parent; /* itself: a beginning */
  int32_t action;
  int32_t observation; /* IDM_MISSING: nothing was recorded */
  int32_t start;       /* of a beginning: index of its start belief, -1 the start that is learnt */
  uint32_t row;        /* of the data, for messages */
} history;

struct idm_iohmm {
  const idm_data *data; /* borrowed */
  structure *structure;
  size_t histories;
  history *history;
  uint32_t *last; /* [trajectory]: the last of its histories */
  double *ends;   /* [history]: trajectories that count and end there */
  double *passes; /* [history]: and that come by */
  double *rests;  /* [history]: and after which nothing was seen of them */
  double rows;    /* with evidence, over the trajectories that count */
};

/* Scratch of one thread. */
typedef struct pass {
  const idm_iohmm *learner;
  double *filter; /* [history][state]: what is known of the state after it */
  double *scale;  /* [history]: probability of what was seen, given all before */
  double *back;   /* [history][state]: what follows says of the state, summed over trajectories */
  double *counts; /* [numbers]: expected, of starts, moves and what was seen */
  double *one;    /* [state] */
  double *drawn;  /* [state] */
} pass;
idm_status pass_create(const idm_iohmm *learner, pass **ret_pass, idm_error *opt_error);
void pass_destroy(pass *p);

/* Filter forward; with `all` also histories that no trajectory that counts comes by. Returns the
 * log-likelihood of those that count; -inf where something was impossible, *opt_impossible then
 * being the first such history. */
double pass_forward(pass *p, const idm_dynamics *d, bool all, size_t *opt_impossible);
/* After that: smooth backward, into the expected counts. */
void pass_backward(pass *p, const idm_dynamics *d);
/* IDM_INPUT: what was seen there is impossible. */
idm_status pass_refuse(const idm_iohmm *learner, size_t impossible, idm_error *opt_error);

#endif
