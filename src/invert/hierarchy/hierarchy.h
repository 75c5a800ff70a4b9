/* Internal interface of the hierarchical sampler: the model and its likelihoods, and one Markov
 * chain over people and population.
 *
 * Contents: polynomial · model · cells · check · sample · integrate · population · normal · chain ·
 * approximate · hamiltonian · move · person */
#ifndef IDM_INVERT_HIERARCHY_HIERARCHY_H
#define IDM_INVERT_HIERARCHY_HIERARCHY_H

#include <stddef.h>

#include "base/record.h"
#include "idm/extension/parameters.h"
#include "idm/extension/random.h"
#include "idm/status.h"
#include "invert/cancel.h"
#include "invert/matching.h"
#include "invert/people.h"

/* === polynomial ============================================================================= */

/* Polynomial approximations of the log-likelihoods of leaves. They replace planning where a grid of
 * the free numbers would have too many points.
 *
 * Each leaf has a polynomial in products of Hermite polynomials, which are nearly orthogonal under
 * a normal distribution. It is fitted by weighted least squares to the log-likelihood at normally
 * distributed points. Points whose log-likelihood is far below the maximum have small weights.
 * Outside a radius of 4 sds, the polynomial keeps its value at that radius. It is used for
 * proposals only; acceptance uses the exact likelihood. */

/* Largest number of free numbers of a polynomial; above it, there are too many terms. */
enum { IDM_POLYNOMIAL_DIMENSIONS = 8 };

typedef struct idm_polynomials idm_polynomials;

/* Functions that polynomials approximate. */
typedef struct polynomial_source {
  size_t dimension;
  const double *low;  /* [dimension]: ends of a box that contains nearly all points */
  const double *high; /* [dimension] */
  size_t leaves;
  /* Evaluate column[leaf] at x. Called from any thread. */
  idm_status (*value)(void *context, const double *x, double *column, idm_error *opt_error);
  bool (*opt_stopped)(void *context); /* called between points, on the calling thread */
  void *context;
} polynomial_source;

/* Fit polynomials. *ret_polynomials is NULL, without an error, if the dimension is too large, a
 * leaf is finite at too few points, or the fit was stopped. The result does not depend on the
 * number of threads. */
idm_status idm_polynomials_create(const polynomial_source *source, int threads,
                                  idm_polynomials **ret_polynomials, idm_error *opt_error);
void idm_polynomials_destroy(idm_polynomials *polynomials);
double idm_polynomials_at(const idm_polynomials *polynomials, size_t leaf, const double *x);

/* === model ================================================================================== */

/* Data shared by all chains of a hierarchy: the design, and the log-likelihoods of its leaves
 * (docs/method/people.md, 1).
 *
 * A leaf is a cell of the design: trajectories that share one vector of free numbers. A source
 * gives its log-likelihood exactly, by planning, and approximately, by a table. Chains propose by
 * the table and, if the caller requires it, accept by the exact value. */

/* Evaluation context of one task. */
typedef struct leaf_worker {
  size_t chain;
  void *evaluator; /* created by the source; NULL: the source has none */
} leaf_worker;

/* Log-likelihoods of leaves. A value depends on the leaf, the numbers and, for `exact`, at most on
 * the chain, never on the thread. */
typedef struct leaf_source {
  void *context;
  /* Approximate value from the table of a leaf. */
  double (*table)(const void *context, size_t leaf, const double *x);
  /* Exact value by planning; -inf if the numbers admit no plan. */
  idm_status (*exact)(void *context, const leaf_worker *worker, size_t leaf, const double *x,
                      double *log_likelihood, idm_error *opt_error);
  /* Exact value and its gradient by the numbers. NULL: gradients are expensive. */
  idm_status (*leaf_gradient)(void *context, const leaf_worker *worker, size_t leaf,
                              const double *x, double *log_likelihood, double *gradient,
                              idm_error *opt_error);
  /* Exact values and gradients of all leaves together: x and gradient are [leaf][coordinates].
   * NULL: use leaf_gradient. */
  idm_status (*leaf_gradients)(void *context, const leaf_worker *worker, const double *x,
                               double *log_likelihood, double *gradient, idm_error *opt_error);
  /* Acquire an evaluator for one task, and release it; both NULL if tasks need none. */
  void *(*acquire)(void *context);
  void (*release)(void *context, void *evaluator);
  /* Replace the tables by tables over a box [coordinates]. The old tables stay if the new ones
   * would be too large or too coarse, or if opt_stopped returns true. prior_box: the box covers the
   * prior, not the range of the chains. *has_tables: tables exist. NULL: tables are fixed. */
  idm_status (*tabulate)(void *context, const double *low, const double *high, bool prior_box,
                         bool (*opt_stopped)(void *), void *stop_context, bool *has_tables,
                         idm_error *opt_error);
  /* Starting point of a leaf: [coordinates]. NULL: the chain finds a mode. */
  const double *(*start)(const void *context, size_t leaf, size_t chain);
} leaf_source;

typedef struct hierarchy {
  const idm_design *design;
  leaf_source leaves;
  bool has_tables; /* leaves have tables */
  size_t *first;   /* [people + 1]: first cell of each person */
  double *gram;    /* [coefficient][coefficient]: sums over people of products of regressors */
} hierarchy;

idm_status idm_hierarchy_create(const idm_design *design, const leaf_source *leaves,
                                bool has_tables, hierarchy *model, idm_error *opt_error);
void idm_hierarchy_destroy(hierarchy *model);

/* Free numbers of a cell, given the effects of its person: Z_c e. */
void idm_hierarchy_coordinates(const idm_design *design, size_t cell, const double *e, double *x);
/* Log-likelihood of a person by the tables. */
double idm_hierarchy_surrogate(const hierarchy *model, size_t person, const double *e);
idm_status idm_hierarchy_exact(const hierarchy *model, const leaf_worker *worker, size_t person,
                               const double *e, double *log_likelihood, idm_error *opt_error);
/* Exact log-likelihoods of all people, and their gradients by the effects: e and gradient are
 * [person][effect]. `scratch` has idm_hierarchy_scratch() elements. */
idm_status idm_hierarchy_gradients(const hierarchy *model, const leaf_worker *worker,
                                   const double *e, double *log_likelihood, double *gradient,
                                   double *scratch, idm_error *opt_error);
size_t idm_hierarchy_scratch(const hierarchy *model);
/* Box that contains the free numbers of all people within 3.5 prior sds. */
void idm_hierarchy_prior_box(const hierarchy *model, double *low, double *high);

/* === cells ================================================================================== */

/* Exact likelihoods of the cells of a design, evaluated by several threads. */

/* The log divided by cell, and evaluators, each with a workspace. The result of an evaluator
 * depends on the numbers and the anchors only, so any free evaluator may be used. */
typedef struct idm_cells idm_cells;
typedef struct idm_evaluator idm_evaluator;

/* Create cells. IDM_INPUT, with its line, for an observation that is impossible in every model of
 * the agent. Problem, data, design and parameters are borrowed. */
idm_status idm_cells_create(const idm_problem *problem, const idm_data *data,
                            const idm_design *design, const idm_parameters *parameters, int threads,
                            idm_cells **ret_cells, idm_error *opt_error);
void idm_cells_destroy(idm_cells *cells);
/* Compute anchor solutions in the box from low to high [coordinates]. Plans then start from their
 * polynomial interpolation (numbers are clamped to the box), which saves about two Newton steps
 * over a start at one anchor. No evaluator may be in use. */
idm_status idm_cells_anchor(idm_cells *cells, const double *low, const double *high,
                            idm_error *opt_error);
/* Acquire an evaluator for one task, and release it. There are as many as threads. */
idm_evaluator *idm_cells_acquire(idm_cells *cells);
void idm_cells_release(idm_cells *cells, idm_evaluator *evaluator);

/* Log-likelihood of one cell at numbers x[coordinates]; -inf if they admit no plan. */
idm_status idm_evaluator_cell(idm_evaluator *evaluator, size_t cell, const double *x,
                              double *log_likelihood, idm_error *opt_error);
/* Log-likelihoods [cell] of all cells at the same numbers, by one plan. The array belongs to the
 * evaluator and is valid until its next call. */
idm_status idm_evaluator_all_cells(idm_evaluator *evaluator, const double *x,
                                   const double **log_likelihood, idm_error *opt_error);

/* Cells with identical plans as the leaves of a hierarchy: one table for all cells, and one plan
 * per point. The table is a grid or, for more than IDM_GRID_DIMENSIONS free numbers, a set of
 * polynomials over the range of the chains. */
typedef struct shared_leaves {
  idm_cells *cells;             /* owned */
  idm_grid *grid;               /* owned; NULL: none */
  idm_polynomials *polynomials; /* owned; NULL: none */
  int threads;
} shared_leaves;

/* Leaf source of `shared`, which must not move while the source is used. */
leaf_source idm_shared_source(shared_leaves *shared);
void idm_shared_destroy(shared_leaves *shared);

/* === check ================================================================================== */

/* Validity of a design. */

/* Largest number of effects of a person; more are not identifiable, and their covariance would mix
 * slowly. There are at least as many effects as free numbers. */
enum { IDM_MAX_EFFECTS = 32 };

/* Check a design. IDM_USAGE if parts are missing; IDM_INPUT if it does not match the problem's free
 * numbers or the log. */
idm_status idm_design_check(const idm_design *design, const idm_problem *problem,
                            const idm_data *data, size_t coordinates, idm_error *opt_error);

/* === sample ================================================================================= */

/* Posterior draws of a hierarchy with any leaves. */

typedef struct hierarchy_request {
  const idm_design *design;
  const leaf_source *leaves;
  bool exact; /* accept every draw by exact likelihoods; false: tables suffice */
  const idm_fit_settings *settings;
  uint64_t key;    /* key of the random streams */
  uint64_t stream; /* first random stream */
  const idm_fit_monitor *opt_monitor;
} hierarchy_request;

/* Sample people and population. The result does not depend on the number of threads. A checkpoint
 * of the watch's work continues the same request. If the watch stops it, the function returns the
 * draws made so far, at least one per chain; IDM_UNTRUSTED if there are none. */
idm_status idm_hierarchy_sample(const hierarchy_request *request, idm_people **ret_people,
                                idm_notes *opt_notes, idm_error *opt_error);

/* === integrate ============================================================================== */

/* Likelihood of people, integrated over their effects. */

/* Largest number of effects per person; lattices in more dimensions have too many points. */
enum { IDM_MAX_INTEGRATED_EFFECTS = 4 };

/* Integrate for every draw. IDM_UNTRUSTED if `cancel` stops it. */
idm_status idm_hierarchy_integrate(const idm_design *design, const leaf_source *leaves,
                                   const idm_people *people, int threads, idm_cancel *cancel,
                                   idm_integrated **ret_integrated, idm_error *opt_error);

/* === population ============================================================================= */

/* Parameters of the population: coefficients, sds and correlations, with their priors. */

/* Parameters of a population in unbounded coordinates. An sd is |root|, so that a half-normal prior
 * becomes normal and 0 is not a boundary. Correlations are functions of partial correlations
 * tanh(partial), which are independent under the LKJ prior (Lewandowski, Kurowicka and Joe 2009).
 */
typedef struct population {
  size_t coefficients; /* total over all effects */
  size_t effects;
  size_t pairs;
  size_t spreads;  /* number of effects with pooled coefficients: all, or 0 */
  size_t *first;   /* [effects + 1]: first coefficient of each effect */
  size_t numbers;  /* length of `number` */
  double *number;  /* coefficients, roots, partials, spreads, factor */
  double *b;       /* [coefficients]; this and the next four point into `number` */
  double *root;    /* [effects] */
  double *partial; /* [pair]: index j (j - 1) / 2 + k for j > k */
  double *spread;  /* [spreads]: |spread| is the sd of an effect's pooled coefficients */
  double *factor;  /* [effects][effects]: lower triangular L, Sigma = L L' */
} population;

idm_status idm_population_create(const idm_design *design, population *p, idm_error *opt_error);
void idm_population_destroy(population *p);
/* Copy a population of the same design. */
void idm_population_assign(population *to, const population *from);
/* Compute the factor from roots and partials. */
void idm_population_set_factor(population *p);
/* log det L. */
double idm_population_log_det(const population *p);
/* Compute correlations from the factor: [pair]. */
void idm_population_correlations(const population *p, double *correlation);
/* Mean of a person's effects, W_i b: [effects]. */
void idm_population_mean(const idm_design *design, const population *p, size_t person,
                         double *mean);
/* Sd of coefficient a of effect j: that of its prior or, for a pooled coefficient, |spread|. */
double idm_population_coefficient_sd(const idm_design *design, const population *p, size_t j,
                                     size_t a);
/* Shape of the symmetric beta distribution of (1 + r) / 2, where r is the partial correlation of
 * effect k and a later one, given the effects before k. */
double idm_population_pair_shape(const idm_design *design, size_t k);
/* Set the spread of an effect, and scale its pooled coefficients in proportion. */
void idm_population_set_spread(const idm_design *design, population *p, size_t effect,
                               double spread);
/* Log prior density of (b, root, partial, spread) up to a constant; pooled coefficients enter by
 * their ratios to the spread. */
double idm_population_log_prior(const idm_design *design, const population *p);
/* Normalised log prior density of (coefficients, spreads, sds, correlation matrix). */
double idm_population_log_density(const idm_design *design, const population *p);

/* === normal ================================================================================= */

/* Normal approximation of a person's likelihood, log L(e) = h'e - e'He/2 + constant, and the
 * coordinates u in which person and population would be independent if it were exact.
 *
 * With e = m + L z and z standard normal a priori, e given the population is normal; u is its
 * standardised form, z = T^-T (v + u), T T' = I + L'HL, v = T^-1 L'(h - Hm). For a person with
 * little information, u is z (non-centred). For one with much information, e stays fixed when the
 * population moves (centred). Each person is thus centred to the degree that the data imply
 * (Papaspiliopoulos, Roberts and Skold 2007). The sampler is exact for any H and h, because u is a
 * change of coordinates. */

/* Frame of one person for one population. The arrays belong to the caller. */
typedef struct normal_frame {
  size_t effects;
  double *t;      /* [effects][effects]: T, lower triangular */
  double *v;      /* [effects] */
  double log_det; /* log det T */
} normal_frame;

/* Compute a frame from L, m, H and h; `scratch` has effects^2 elements. Without a finite Cholesky
 * factor, the frame is the identity (non-centred). */
void idm_normal_frame(normal_frame *frame, const double *factor, const double *mean,
                      const double *curvature, const double *linear_term, double *scratch);
/* Convert u to z, and z to u; both arrays may be the same. */
void idm_normal_u_to_z(const normal_frame *frame, const double *u, double *z);
void idm_normal_z_to_u(const normal_frame *frame, const double *z, double *u);
/* e = m + L z. */
void idm_normal_effects(size_t effects, const double *factor, const double *mean, const double *z,
                        double *e);
/* Information of one person on the population mean m, with the person integrated out: the
 * log-likelihood of m is approximately rhs' m - m' information m / 2, with information (Sigma +
 * H^-1)^-1 = H - H L (T T')^-1 L' H and rhs = h - H L (T T')^-1 L' h. */
void idm_normal_information(size_t effects, const double *factor, const double *curvature,
                            const double *linear_term, double *information, double *rhs);

/* === chain ================================================================================== */

/* State of one chain over people and population, and the steps of a sweep (docs/method/people.md,
 * 3).
 *
 * A sweep updates all people given the population (idm_chain_update_people, in parts, on any
 * thread); draws the population given the people in closed form; and proposes a population that
 * moves all people with u fixed (idm_chain_propose; see normal, above), which is evaluated exactly
 * (idm_chain_evaluate_exact, in parts) and accepted or rejected (idm_chain_accept_reject). With a
 * table, many cheap steps use the table, and only their end point is evaluated exactly (delayed
 * acceptance; Christen and Fox 2005). */

/* People and population, with log-likelihoods. */
typedef struct hierarchy_state {
  population population;
  double *z;          /* [person][effect]: e = m + L z */
  double *e;          /* [person][effect] */
  double *exact;      /* [person]: exact log-likelihood */
  double *surrogate;  /* [person]: log-likelihood by the table */
  double log_prior_u; /* log density of population and u without the likelihoods; see move.c */
} hierarchy_state;

/* State of the Hamiltonian updates: see hamiltonian, below. */
typedef struct hierarchy_hmc hierarchy_hmc;

typedef struct hierarchy_chain {
  const hierarchy *model;
  hierarchy_state current;
  hierarchy_state proposal;    /* proposed state */
  hierarchy_state next;        /* scratch of one step */
  hierarchy_state sweep_start; /* state at the start of a sweep by the tables */
  double *u;                   /* [person][effect]: fixed while the population moves */
  double *curvature;           /* [person][effect][effect]: H, see normal, above */
  double *linear_term;         /* [person][effect]: h */
  double *sum;                 /* [person][effect]: sum of effects since the last approximation */
  long sum_count;
  double *low; /* [coordinate]: range of the free numbers since the last approximation */
  double *high;
  idm_random random;
  idm_random *person_random; /* [person] */
  double *precision;  /* [coefficient][coefficient]: Cholesky factor of the precision, which scales
                         steps of coefficients */
  double *regression; /* scratch for coefficients drawn from their approximation: see move.c */
  double *log_step;   /* [block] of step sizes: coefficients, roots, partials, spreads */
  size_t *coefficient_index; /* [coefficient]: scratch for the same */
  size_t block;              /* block of the current step */
  bool independent;          /* the current step is an independence proposal */
  double log_proposal_ratio; /* log density of the backward proposal less that of the forward one */
  bool by_table;             /* the current move proposes by the table */
  hierarchy_hmc *hmc;        /* NULL: leaves have no gradients */
  double *scratch;           /* scratch of population moves */
  bool uses_exact;           /* acceptance uses exact likelihoods */
  bool adapting;             /* step sizes are adapted */
  long proposed, kept;       /* exactly evaluated proposals, and accepted ones */
} hierarchy_chain;

/* Create a chain. Its own random stream is `streams`, and those of people follow; streams below it
 * belong to the chains before. */
idm_status idm_chain_create(const hierarchy *model, uint64_t seed, uint64_t streams,
                            hierarchy_chain *chain, idm_error *opt_error);
void idm_chain_destroy(hierarchy_chain *chain);

/* Evaluate the log-likelihoods of people [from, to) at their current effects: by the table and, if
 * uses_exact is set, exactly. */
idm_status idm_chain_evaluate(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                              size_t to, idm_error *opt_error);

/* Make the proposal the current state. */
static inline void idm_chain_accept(hierarchy_chain *chain)
{
  const hierarchy_state kept = chain->current;
  chain->current = chain->proposal;
  chain->proposal = kept;
}
/* Whether the table makes the next proposal. If likelihoods are exact, it makes four proposals in
 * five, so that no person gets stuck where the table is inaccurate. */
bool idm_chain_uses_table(const hierarchy_chain *chain, idm_random *random);
/* Write the state between two sweeps to a record, or read it. Data shared by all chains are not
 * part of it. */
void idm_chain_transfer(hierarchy_chain *chain, idm_record *record);
/* Log density of effects, coefficients, spreads, sds and correlations, plus the log-likelihood. */
double idm_chain_log_posterior(const hierarchy_chain *chain);

/* === approximate ============================================================================ */

/* Normal approximation of people in a chain. */

/* Approximate people [from, to) at their modes, given the chain's population. */
idm_status idm_chain_find_modes(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                                size_t to, idm_error *opt_error);
/* Draw the effects of people [from, to) from their approximations. */
idm_status idm_chain_disperse(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                              size_t to, idm_error *opt_error);
/* Approximate people [from, to) at the means of their effects since the last approximation. */
idm_status idm_chain_approximate(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                                 size_t to, idm_error *opt_error);
/* Information on the coefficients, given the covariance of a population, with people integrated
 * out: the log-likelihood of b is approximately rhs' b - b' precision b / 2, without the prior. */
void idm_chain_regress(const hierarchy_chain *chain, const population *p, double *precision,
                       double *rhs);
/* Move the coefficients to the mode of their approximation, plus `noise` sds of random error, and
 * all people to W_i b. For fixed effects. */
void idm_chain_newton_step(hierarchy_chain *chain, double noise);
/* Adapt step sizes to new approximations of all people. */
void idm_chain_adapt_steps(hierarchy_chain *chain);

/* === hamiltonian ============================================================================ */

/* Hamiltonian Monte Carlo updates of population and people together, used if gradients of leaves
 * are cheap.
 *
 * In the chosen coordinates, the density is approximately standard normal. Person i has z_i = T^-T
 * (T^-1 L'(h - H m_i) + u_i) with L and T of a reference population (normal, above), so that u_i
 * follows the mean as far as the person's decisions determine it, and the Jacobian is constant.
 * Coefficients are scaled by the factor of their precision, roots and partials by their sds in the
 * warm-up. Spreads of pooled coefficients are fixed. */

struct hierarchy_hmc {
  population reference;
  size_t numbers;   /* number of population parameters that move: coefficients, roots, partials */
  size_t dimension; /* `numbers`, plus u of all people */
  double *sum;      /* [numbers]: sums over the population's states since the last adaptation */
  double *squares;  /* [numbers]: sums of squares */
  double *sd;       /* [numbers]: of roots and partials; coefficients are scaled by `precision` */
  long sum_count;
  double log_step;
  double *position;        /* [dimension]: in scaled coordinates */
  double *momentum;        /* [dimension] */
  double *gradient;        /* [dimension] */
  double *leaf_gradient;   /* [person][effect]: gradient of the log-likelihood */
  double *scratch;         /* scratch of the gradients */
  double *factor_gradient; /* [effects][effects]: derivative by the factor of the covariance */
};

/* Create the Hamiltonian state of a chain; the chain's `hmc` stays NULL if leaves have no gradients
 * or the population is fixed. */
idm_status idm_hmc_create(hierarchy_chain *chain, idm_error *opt_error);
void idm_hmc_destroy(hierarchy_hmc *hmc);
/* Adapt reference population and scales to the states since the last call. */
void idm_hmc_adapt(hierarchy_chain *chain);
/* During adaptation, add the population's state to the running sums. */
void idm_hmc_accumulate(hierarchy_chain *chain);
/* Set the position to the current state of the chain. */
void idm_hmc_set_position(hierarchy_chain *chain);
/* Log density, up to a constant, and gradient at the position, in scaled coordinates. `at` becomes
 * the population and people at the position. */
idm_status idm_hmc_evaluate(hierarchy_chain *chain, const leaf_worker *worker, hierarchy_state *at,
                            double *log_density, idm_error *opt_error);
/* Run one leapfrog trajectory, and accept or reject its end. Requires exact likelihoods. */
idm_status idm_hmc_update(hierarchy_chain *chain, const leaf_worker *worker, idm_error *opt_error);
/* Write its part of a checkpoint to a record, or read it. */
void idm_hmc_transfer(hierarchy_hmc *hmc, idm_record *record);

/* === move =================================================================================== */

/* Updates of the population. */

/* During adaptation, add people's effects to the running sums for the next approximation. */
void idm_chain_accumulate(hierarchy_chain *chain);
void idm_chain_propose(hierarchy_chain *chain);
idm_status idm_chain_evaluate_exact(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                                    size_t to, idm_error *opt_error);
void idm_chain_accept_reject(hierarchy_chain *chain);
/* Sweep people and population by the tables, and accept or reject the result as one proposal by
 * exact likelihoods. This takes one exact evaluation per person, against two for separate moves.
 * The acceptance rate falls with the number of people. */
idm_status idm_chain_delayed_sweep(hierarchy_chain *chain, const leaf_worker *worker,
                                   idm_error *opt_error);

/* === person ================================================================================= */

/* Updates of people given the population. */

idm_status idm_chain_update_people(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                                   size_t to, idm_error *opt_error);

#endif
