/* One chain over people and population.
 *
 * Contents: population · normal · chain · approximate · hamiltonian · move · person */
#ifndef IDM_INVERT_HIERARCHY_CHAIN_H
#define IDM_INVERT_HIERARCHY_CHAIN_H

#include <stddef.h>

#include "base/record.h"
#include "idm/people.h"
#include "idm/random.h"
#include "invert/hierarchy/model.h"

/* === population ============================================================================= */

/* The population: coefficients, sds and correlations, with their priors. */

/* Numbers of a population in coordinates on the whole line: an sd is |root|, so that a half-normal
 * prior is normal and 0 no end; a correlation is built of partial correlations tanh(partial), which
 * under LKJ are independent (Lewandowski, Kurowicka and Joe 2009). */
typedef struct population {
  size_t coefficients; /* over all effects */
  size_t effects;
  size_t pairs;
  size_t spreads;  /* effects that have pooled coefficients: all, or none */
  size_t *first;   /* [effects + 1]: of each effect's coefficients */
  size_t numbers;  /* of them all: */
  double *number;  /* coefficients, roots, partials, spreads; then the factor */
  double *b;       /* [coefficients]; these point into `number` */
  double *root;    /* [effects] */
  double *partial; /* [pair]: of j > k at j (j - 1) / 2 + k */
  double *spread;  /* [spreads]: |spread| is the sd of an effect's pooled coefficients */
  double *factor;  /* [effects][effects]: lower triangular L, Sigma = L L' */
} population;

idm_status idm_population_create(const idm_design *design, population *p, idm_error *opt_error);
void idm_population_destroy(population *p);
/* Both of one design. */
void idm_population_assign(population *to, const population *from);
/* The factor that roots and partials make. */
void idm_population_set_factor(population *p);
/* log det L. */
double idm_population_log_det(const population *p);
/* [pair]: correlations of the factor. */
void idm_population_correlations(const population *p, double *correlation);
/* W_i b: [effects]. */
void idm_population_mean(const idm_design *design, const population *p, size_t person,
                         double *mean);
/* The sd of coefficient a of effect j: of its prior or, where it is pooled, |spread|. */
double idm_population_coefficient_sd(const idm_design *design, const population *p, size_t j,
                                     size_t a);
/* Shape of the symmetric beta law of (1 + r) / 2, r the partial correlation of some effect and k
 * given those before k. */
double idm_population_pair_shape(const idm_design *design, size_t k);
/* Move the spread of an effect to another, and its pooled coefficients in proportion. */
void idm_population_set_spread(const idm_design *design, population *p, size_t effect,
                               double spread);
/* log prior density of (b, root, partial, spread) up to a constant, pooled coefficients taken over
 * their spread. */
double idm_population_log_prior(const idm_design *design, const population *p);
/* log prior density of (coefficients, spreads, sds, correlation matrix), normalised. */
double idm_population_log_density(const idm_design *design, const population *p);

/* === normal ================================================================================= */

/* A person by a normal approximation of the likelihood, log L(e) = h'e - e'He/2 and a constant: the
 * coordinates u in which person and population would be independent if it held.
 *
 * With e = m + L z and z standard normal a priori, e given the population is normal; u is its
 * standardised form, z = T^-T (v + u), T T' = I + L'HL, v = T^-1 L'(h - Hm). Where people carry
 * little, u is z (not centred); where they carry much, e stays put when the population moves
 * (centred): each person is as centred as its data make it (Papaspiliopoulos, Roberts and Skold
 * 2007). Sound for any H and h, as u is a change of coordinates. */

/* Of one person at one population; arrays borrowed from the caller, as scratch or to keep. */
typedef struct normal_frame {
  size_t effects;
  double *t;      /* [effects][effects]: T, lower triangular */
  double *v;      /* [effects] */
  double log_det; /* log det T */
} normal_frame;

/* From L, m, H and h; `scratch` holds effects^2 numbers. */
void idm_normal_frame(normal_frame *frame, const double *factor, const double *mean,
                      const double *curvature, const double *linear_term, double *scratch);
/* z of u, and u of z; they may be the same array. */
void idm_normal_u_to_z(const normal_frame *frame, const double *u, double *z);
void idm_normal_z_to_u(const normal_frame *frame, const double *z, double *u);
/* e = m + L z. */
void idm_normal_effects(size_t effects, const double *factor, const double *mean, const double *z,
                        double *e);
/* What a person says of the population's mean m, the person integrated out: about
 * right' m - m' information m / 2 with information (Sigma + H^-1)^-1 = H - H L (T T')^-1 L' H and
 * right = h - H L (T T')^-1 L' h. */
void idm_normal_information(size_t effects, const double *factor, const double *curvature,
                            const double *linear_term, double *information, double *rhs);

/* === chain ================================================================================== */

/* One chain over people and population: its state, and the steps of a sweep.
 *
 * A sweep: everybody given the population (idm_chain_update_people, in parts, on any thread); the
 * population given the people in closed form, then a move of the population that carries everybody
 * along with u held (idm_chain_propose; see normal, above), judged exactly
 * (idm_chain_evaluate_exact, in parts) and accepted or not (idm_chain_accept_reject). With a table
 * many cheap steps are made by it, and only where they end is judged (delayed acceptance; Christen
 * and Fox 2005). */

/* People and population, and what the likelihood says of them. */
typedef struct hierarchy_state {
  population population;
  double *z;          /* [person][effect]: e = m + L z */
  double *e;          /* [person][effect] */
  double *exact;      /* [person]: log-likelihood */
  double *surrogate;  /* [person]: the same by the table */
  double log_prior_u; /* log density of population and u, given the likelihoods; see move.c */
} hierarchy_state;

/* Hamiltonian moves: see hamiltonian, below. */
typedef struct hierarchy_hmc hierarchy_hmc;

typedef struct hierarchy_chain {
  const hierarchy *model;
  hierarchy_state current;
  hierarchy_state proposal;    /* a move of the population, to be judged */
  hierarchy_state next;        /* scratch of a step */
  hierarchy_state sweep_start; /* where a sweep by the tables began */
  double *u;                   /* [person][effect]: held while the population moves */
  double *curvature;           /* [person][effect][effect]: H of normal, above */
  double *linear_term;         /* [person][effect]: h */
  double *sum;                 /* [person][effect]: of effects since the last approximation */
  long sum_count;
  double *low; /* [coordinate]: range of the free numbers since the last approximation */
  double *high;
  idm_random random;
  idm_random *person_random; /* [person] */
  double *precision;  /* [coefficient][coefficient]: factor, scales steps of the coefficients */
  double *regression; /* scratch of coefficients drawn from their approximation: see move.c */
  double *log_step;   /* [block]: coefficients, roots, partials, spreads */
  size_t *coefficient_index; /* [coefficient]: scratch of the same */
  size_t block;              /* of the step under way, */
  bool independent;          /* unless it draws coefficients anew */
  double log_proposal_ratio; /* its log proposal density, backwards less forwards */
  bool by_table;             /* the table leads the move under way */
  hierarchy_hmc *hmc;        /* NULL: leaves have no slopes */
  double *scratch;           /* of population moves */
  bool uses_exact;           /* exact likelihoods are in force */
  bool adapting;             /* steps are still tuned */
  long proposed, kept;       /* moves judged exactly, and accepted */
} hierarchy_chain;

/* Stream 0 of a chain is its own, the others are of people; `streams` are taken up by the chains
 * before it. */
idm_status idm_chain_create(const hierarchy *model, uint64_t seed, uint64_t streams,
                            hierarchy_chain *chain, idm_error *opt_error);
void idm_chain_destroy(hierarchy_chain *chain);

/* Likelihoods of people [from, to) as they are: by the table, and exactly where that is in force.
 */
idm_status idm_chain_evaluate(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                              size_t to, idm_error *opt_error);

/* Go where the trial is. */
static inline void idm_chain_accept(hierarchy_chain *chain)
{
  const hierarchy_state kept = chain->current;
  chain->current = chain->proposal;
  chain->proposal = kept;
}
/* Whether the table leads the next step. Once likelihoods are exact it does not do so one time in
 * five, so that nobody is held where it is wrong. */
bool idm_chain_uses_table(const hierarchy_chain *chain, idm_random *random);
/* Between two sweeps: all that those to come depend on, but for what all chains share. */
void idm_chain_transfer(hierarchy_chain *chain, idm_record *record);
/* Log density of effects, coefficients, spreads, sds and correlations, and the likelihood. */
double idm_chain_log_posterior(const hierarchy_chain *chain);

/* === approximate ============================================================================ */

/* The normal approximation of people in a chain. */

/* The normal approximation of people [from, to) at their modes, given the chain's population. */
idm_status idm_chain_find_modes(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                                size_t to, idm_error *opt_error);
/* Put people [from, to) where the approximation has them, at random. */
idm_status idm_chain_disperse(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                              size_t to, idm_error *opt_error);
/* The normal approximation of people [from, to), at the means of their effects so far. */
idm_status idm_chain_approximate(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                                 size_t to, idm_error *opt_error);
/* What the approximations say of the coefficients under the covariance of a population, people
 * integrated out: log density about right' b - b' precision b / 2, the prior left out. */
void idm_chain_regress(const hierarchy_chain *chain, const population *p, double *precision,
                       double *rhs);
/* Put the coefficients at the mode of their approximation, and `noise` of its sds away at random;
 * everybody at W_i b. For fixed effects. */
void idm_chain_newton_step(hierarchy_chain *chain, double noise);
/* After all have been approximated: sizes of steps follow. */
void idm_chain_adapt_steps(hierarchy_chain *chain);

/* === hamiltonian ============================================================================ */

/* Hamiltonian moves of population and people together, where leaves have slopes that cost little.
 *
 * Coordinates are chosen so that the density is about standard normal in them. Person i has
 * z_i = T^-T (T^-1 L'(h - H m_i) + u_i) with L and T of a reference population (normal, above), so
 * that u_i follows the mean as far as the person's decisions hold it, and the Jacobian is constant.
 * Coefficients are scaled by the factor of their precision, roots and partials by sds of the
 * warm-up. Spreads of pooled coefficients are held. */

struct hierarchy_hmc {
  population reference;
  size_t numbers;   /* of the population that move: coefficients, roots, partials */
  size_t dimension; /* and u of everybody behind them */
  double *sum;      /* [numbers]: of the population since the last settling, and */
  double *squares;  /* [numbers] */
  double *sd;       /* [numbers]: of roots and partials; coefficients have a factor */
  long sum_count;
  double log_step;
  double *position;        /* [all]: in scaled coordinates */
  double *momentum;        /* [all] */
  double *gradient;        /* [all] */
  double *leaf_gradient;   /* [person][effect]: of the log-likelihood */
  double *scratch;         /* of the same */
  double *factor_gradient; /* [effects][effects]: derivative by the factor of the covariance */
};

/* Room for a chain's moves; the chain's `motion` becomes NULL where leaves have no slopes. */
idm_status idm_hmc_create(hierarchy_chain *chain, idm_error *opt_error);
void idm_hmc_destroy(hierarchy_hmc *hmc);
/* Coordinates for the population as it has been since the last call. */
void idm_hmc_adapt(hierarchy_chain *chain);
/* While steps are tuned: where the population is. */
void idm_hmc_accumulate(hierarchy_chain *chain);
/* Put the position where the chain is. */
void idm_hmc_set_position(hierarchy_chain *chain);
/* Log density and gradient at the position, in its coordinates and up to a constant; `at` becomes
 * the population and people there. */
idm_status idm_hmc_evaluate(hierarchy_chain *chain, const leaf_worker *worker, hierarchy_state *at,
                            double *log_density, idm_error *opt_error);
/* A trajectory by leapfrog steps, accepted or not; exact likelihoods are in force. */
idm_status idm_hmc_update(hierarchy_chain *chain, const leaf_worker *worker, idm_error *opt_error);
/* Its part of a checkpoint. */
void idm_hmc_transfer(hierarchy_hmc *hmc, idm_record *record);

/* === move =================================================================================== */

/* Moves of the population. */

/* While steps are tuned: where people are, for the next approximation. */
void idm_chain_accumulate(hierarchy_chain *chain);
void idm_chain_propose(hierarchy_chain *chain);
idm_status idm_chain_evaluate_exact(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                                    size_t to, idm_error *opt_error);
void idm_chain_accept_reject(hierarchy_chain *chain);
/* A sweep of people and population by the tables, accepted or rejected as one proposal by exact
 * likelihoods: one evaluation per person, where the moves one by one take two. The more people, the
 * rarer it is accepted. */
idm_status idm_chain_delayed_sweep(hierarchy_chain *chain, const leaf_worker *worker,
                                   idm_error *opt_error);

/* === person ================================================================================= */

/* Moves of people, each given the population. */

idm_status idm_chain_update_people(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                                   size_t to, idm_error *opt_error);

#endif
