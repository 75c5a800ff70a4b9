/* How people react to evidence: log z' = p log z + e log LR by least squares over their updates. */
#ifndef IDM_INVERT_EXPLAIN_REACTION_H
#define IDM_INVERT_EXPLAIN_REACTION_H

#include "idm/explain.h"
#include "plan/believer/environment.h"

/* Changes of the log-odds of the state that was likeliest before, over updates of one kind. */
typedef struct reaction_side {
  double own;
  double bayes;
  double updates;
} reaction_side;

enum { REACTION_CONFIRMING, REACTION_DISCONFIRMING, REACTION_SIDES };

/* Sums that the coefficients follow from. */
typedef struct reaction_sums {
  double prior_prior;
  double prior_evidence;
  double evidence_evidence;
  double prior_after;
  double evidence_after;
  double updates;
  reaction_side side[REACTION_SIDES];
} reaction_sums;

/* Zero-initialise. */
typedef struct reaction {
  size_t agents;
  size_t draws; /* kept, every `stride`-th of all */
  size_t stride;
  size_t *first;   /* [node + 1]: who went through a node, and how often */
  uint32_t *agent; /* [first[nodes]] */
  uint32_t *count;
  reaction_sums *sums; /* [agent][draw] */
} reaction;

idm_status idm_reaction_open(reaction *r, const idm_data *data, const idm_prefix_tree *tree,
                             size_t draws, idm_error *opt_error);
void idm_reaction_close(reaction *r);
/* Add what everybody who went through a node made of it under a draw. */
void idm_reaction_add(reaction *r, size_t node, size_t draw, const reaction_sums *sums);
/* Numbers of a person without updates. */
void idm_reaction_none(idm_explained_person *person);
/* The coefficients of an agent over the draws. `sample` is scratch, [REACTION_SAMPLES draws]. */
enum { REACTION_SAMPLES = 5 };
void idm_reaction_solve(const reaction *r, size_t agent, double *sample,
                        idm_explained_person *person);

/* Mean and 90 % interval of a sample, which is sorted; all NaN if the mean is. */
idm_interval idm_reaction_interval(double *sample, size_t count);

/* Add `weight` times one update to sums: belief z, action u and observation x made `after` of it.
 * `scratch`: [4 state]. */
void idm_reaction_update(const environment *world, const double *z, size_t u, size_t x,
                         const double *after, double weight, double *scratch, reaction_sums *sums);
/* Least squares; NaN for a coefficient that the updates do not tell. */
void idm_reaction_coefficients(const reaction_sums *sums, double *base_rate, double *evidence);

#endif
