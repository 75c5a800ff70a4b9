/* One chain over people and population: its state, and the steps of a sweep.
 *
 * A sweep: everybody given the population (idm_chain_people, in parts, on any thread); the
 * population given the people in closed form, then a move of the population that carries everybody
 * along with u held (idm_chain_propose; see normal.h), judged exactly (idm_chain_judge, in parts)
 * and accepted or not (idm_chain_decide). With a table many cheap steps are made by it, and only
 * where they end is judged (delayed acceptance; Christen and Fox 2005). */
#ifndef IDM_INVERT_HIERARCHY_CHAIN_H
#define IDM_INVERT_HIERARCHY_CHAIN_H

#include "base/record.h"
#include "idm/random.h"
#include "invert/hierarchy/model.h"
#include "invert/hierarchy/normal.h"
#include "invert/hierarchy/population.h"

/* People and population, and what the likelihood says of them. */
typedef struct hierarchy_state {
  population population;
  double *z;     /* [person][effect]: e = m + L z */
  double *e;     /* [person][effect] */
  double *exact; /* [person]: log-likelihood */
  double *rough; /* [person]: the same by the table */
  double rest;   /* log density of population and u, given the likelihoods; see move.c */
} hierarchy_state;

/* Hamiltonian moves: see hamiltonian.h. */
typedef struct hierarchy_motion hierarchy_motion;

typedef struct hierarchy_chain {
  const hierarchy *model;
  hierarchy_state now;
  hierarchy_state trial; /* a move of the population, to be judged */
  hierarchy_state next;  /* scratch of a step */
  hierarchy_state begun; /* where a sweep by the tables began */
  double *u;             /* [person][effect]: held while the population moves */
  double *curvature;     /* [person][effect][effect]: H of normal.h */
  double *pull;          /* [person][effect]: h */
  double *sum;           /* [person][effect]: of effects since the last approximation */
  long summed;
  double *low; /* [coordinate]: range of the free numbers since the last approximation */
  double *high;
  idm_random random;
  idm_random *own;    /* [person] */
  double *precision;  /* [coefficient][coefficient]: factor, scales steps of the coefficients */
  double *regression; /* scratch of coefficients drawn from their approximation: see move.c */
  double *log_step;   /* [block]: coefficients, roots, partials, spreads */
  size_t *place;      /* [coefficient]: scratch of the same */
  size_t block;       /* of the step under way, */
  bool anew;          /* unless it draws coefficients anew */
  double ratio;       /* its log proposal density, backwards less forwards */
  bool led;           /* the table leads the move under way */
  hierarchy_motion *motion; /* NULL: leaves have no slopes */
  double *scratch;          /* of population moves */
  bool exactly;             /* exact likelihoods are in force */
  bool adapting;            /* steps are still tuned */
  long proposed, kept;      /* moves judged exactly, and accepted */
} hierarchy_chain;

/* Stream 0 of a chain is its own, the others are of people; `streams` are taken up by the chains
 * before it. */
idm_status idm_chain_create(const hierarchy *model, uint64_t seed, uint64_t streams,
                            hierarchy_chain *chain, idm_error *opt_error);
void idm_chain_destroy(hierarchy_chain *chain);

/* Likelihoods of people [from, to) as they are: by the table, and exactly where that is in force.
 */
idm_status idm_chain_look(hierarchy_chain *chain, const leaf_lane *lane, size_t from, size_t to,
                          idm_error *opt_error);

/* Go where the trial is. */
static inline void idm_chain_swap(hierarchy_chain *chain)
{
  const hierarchy_state kept = chain->now;
  chain->now = chain->trial;
  chain->trial = kept;
}
/* Whether the table leads the next step. Once likelihoods are exact it does not do so one time in
 * five, so that nobody is held where it is wrong. */
bool idm_chain_trusts(const hierarchy_chain *chain, idm_random *random);
/* Between two sweeps: all that those to come depend on, but for what all chains share. */
void idm_chain_pass(hierarchy_chain *chain, idm_record *record);
/* Log density of effects, coefficients, spreads, sds and correlations, and the likelihood. */
double idm_chain_log_posterior(const hierarchy_chain *chain);

#endif
