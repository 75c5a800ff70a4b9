/* One chain over people and population: its state, and the steps of a sweep.
 *
 * A sweep: everybody given the population (idm_chain_people, in parts, on any thread); the
 * population given the people in closed form, then a move of the population that carries everybody
 * along with u held (idm_chain_propose; see normal.h), judged exactly (idm_chain_judge, in parts)
 * and accepted or not (idm_chain_decide). With a table many cheap steps are made by it, and only
 * where they end is judged (delayed acceptance; Christen and Fox 2005). */
#ifndef IDM_INVERT_PEOPLE_CHAIN_H
#define IDM_INVERT_PEOPLE_CHAIN_H

#include "base/record.h"
#include "idm/random.h"
#include "invert/people/model.h"
#include "invert/people/normal.h"
#include "invert/people/population.h"

/* People and population, and what the likelihood says of them. */
typedef struct people_state {
  population population;
  double *z;     /* [person][effect]: e = m + L z */
  double *e;     /* [person][effect] */
  double *exact; /* [person]: log-likelihood */
  double *rough; /* [person]: the same by the table */
  double rest;   /* log density of population and u, given the likelihoods; see chain.c */
} people_state;

typedef struct people_chain {
  const people_model *model;
  people_state now;
  people_state trial; /* a move of the population, to be judged */
  people_state next;  /* scratch of a step */
  double *u;          /* [person][effect]: held while the population moves */
  double *curvature;  /* [person][effect][effect]: H of normal.h */
  double *pull;       /* [person][effect]: h */
  double *sum;        /* [person][effect]: of effects since the last approximation */
  long summed;
  double *low; /* [coordinate]: range of the free numbers since the last approximation */
  double *high;
  idm_random random;
  idm_random *own;     /* [person] */
  double *precision;   /* [coefficient][coefficient]: factor, scales steps of the coefficients */
  double *log_step;    /* [block]: coefficients, roots, partials, spreads */
  size_t block;        /* of the step under way */
  bool led;            /* the table leads the move under way */
  double *scratch;     /* of population moves */
  bool exactly;        /* exact likelihoods are in force */
  bool adapting;       /* steps are still tuned */
  long proposed, kept; /* moves judged exactly, and accepted */
} people_chain;

/* Stream 0 of a chain is its own, the others are of people; `streams` are taken up by the chains
 * before it. */
idm_status idm_chain_create(const people_model *model, uint64_t seed, uint64_t streams,
                            people_chain *chain, idm_error *opt_error);
void idm_chain_destroy(people_chain *chain);

/* Likelihoods of people [from, to) as they are: by the table, and exactly where that is in force.
 */
idm_status idm_chain_look(people_chain *chain, idm_judge *judge, size_t from, size_t to,
                          idm_error *opt_error);

/* Whether the table leads the next step. Once likelihoods are exact it does not do so one time in
 * five, so that nobody is held where it is wrong. */
bool idm_chain_trusts(const people_chain *chain, idm_random *random);
/* Between two sweeps: all that those to come depend on, but for what all chains share. */
void idm_chain_pass(people_chain *chain, idm_record *record);
/* Log density of effects, coefficients, spreads, sds and correlations, and the likelihood. */
double idm_chain_log_posterior(const people_chain *chain);

#endif
