/* Soft policy matching: likelihood, starts, chains, tables and posteriors.
 *
 * Contents: fit · matching · start · explore · drawing · posterior · surface · tabulate */
#ifndef IDM_INVERT_MATCHING_FIT_H
#define IDM_INVERT_MATCHING_FIT_H

#include "idm/extension/fit_settings.h"
#include "idm/extension/inverse.h"
#include "idm/extension/posterior.h"
#include "idm/status.h"
#include "infer/approximation.h"
#include "infer/chains.h"
#include "invert/cancel.h"
#include "invert/matching.h"
#include "invert/parameters.h"

/* === fit ==================================================================================== */

/* Context shared by the inverse planners by soft policy matching. */

/* Data, parameters and matchings of a fit. */
typedef struct fit_context {
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  idm_parameters *parameters;
  idm_prefix_tree *tree;
  idm_data *segments; /* the data split into segments, for agents whose behaviour depends on the
                         state alone; NULL: not split, */
  idm_prefix_tree *segment_tree; /* and their tree */
  size_t matchings;
  idm_matching **matching;           /* [chain] */
  double *scratch;                   /* [numbers] */
  double *unit;                      /* [dimension]: typical change of a free number */
  uint64_t key;                      /* key of its random streams */
  const idm_likelihood_table *table; /* borrowed: replaces planning near the mode; NULL: none */
} fit_context;

/* Refuse an agent with a capacity, which determines a multiplier that a fit infers: IDM_INPUT. */
idm_status idm_fit_check_capacity(const idm_problem *problem, idm_error *opt_error);
/* Check the request (against the requirements of the inverse planner, if one is given), and create
 * parameters, tree and `matchings` matchings. The fit is zeroed first. Release with idm_fit_close,
 * after a failure too. */
idm_status idm_fit_open(fit_context *f, const idm_inverse *opt_inverse, const idm_problem *problem,
                        const idm_data *data, const idm_fit_settings *settings, size_t matchings,
                        idm_error *opt_error);
struct idm_cancel;
/* The same, which may take seconds, with a monitor that can stop it and all later evaluations. */
idm_status idm_fit_open_cancel(fit_context *f, const idm_inverse *opt_inverse,
                               const idm_problem *problem, const idm_data *data,
                               const idm_fit_settings *settings, size_t matchings,
                               struct idm_cancel *opt_cancel, idm_error *opt_error);
void idm_fit_close(fit_context *f);
/* Create a matching of the fit's evidence (of the segments, if there are any) with a problem of the
 * same structure. */
idm_status idm_fit_create_matching(const fit_context *f, const idm_problem *problem,
                                   idm_matching **ret_matching, idm_error *opt_error);
/* Number of histories of such a matching. */
size_t idm_fit_histories(const fit_context *f);
/* Let the fit's table, if it has one, replace planning in a matching. */
idm_status idm_fit_use_table(const fit_context *f, idm_matching *matching, idm_error *opt_error);

/* === matching =============================================================================== */

/* Internals of soft policy matching: fixed numbers, checks, and starts of plans
 * (docs/method/likelihood.md, 2). */

/* Hold one free number at a natural value, which overrides y (a limit has no y); NULL releases it.
 */
void idm_matching_fix(idm_matching *matching, const parameter *opt_item, double value);
/* Refuse, with its line, an observation that has probability 0 under every model of the agent, for
 * any free numbers. */
idm_status idm_matching_check(idm_matching *matching, idm_error *opt_error);
/* Line of a decision with probability 0 at the last evaluation; 0 if there was none. */
long idm_matching_impossible_line(const idm_matching *matching, const char **ret_file);
/* Start each plan from the last one, until the next anchor: faster for a search, but the last
 * digits of the log-likelihood then depend on earlier evaluations. */
void idm_matching_warm_start(idm_matching *matching);
/* Plan around a mode, by its normal approximation, and start later plans from the quadratic surface
 * through these solutions, which saves two Newton steps. The log-likelihood remains a function of y
 * alone. */
idm_status idm_matching_use_surface(idm_matching *matching, const double *mode,
                                    const double *covariance, idm_error *opt_error);

/* Replace planning by a table, which is borrowed, inside its range, and outside by a matching on a
 * coarser lattice, of which ownership passes: its log-likelihood, shifted by its difference at the
 * table's mode, is used where it is so far below the table's maximum that the posterior mass is
 * negligible. Everything between is planned. Anchors are deferred until a plan is needed. NULL,
 * NULL: plan at all points again. */
idm_status idm_matching_use_table(idm_matching *matching, const idm_likelihood_table *opt_table,
                                  idm_matching *opt_coarse, idm_error *opt_error);
/* true: plan at all points, ignoring the table, until set to false. */
void idm_matching_set_exact(idm_matching *matching, bool exact);

/* === start ================================================================================== */

/* Starting points of chains (docs/method/inference.md, 3). */

/* A mode found from a chain's own starting points, its normal approximation, and an overdispersed
 * point for the chain. The matching is anchored at the mode. */
typedef struct chain_start {
  double *x;          /* [dimension] */
  double *mode;       /* [dimension] */
  double *covariance; /* [dimension][dimension]; empty if there are too many numbers */
  double log_density; /* at the mode */
  bool definite;      /* the covariance is that of the mode; else a guess from the prior */
  bool x_chosen;      /* x is set already */
} chain_start;
/* Whether a covariance of this dimension is stored; a network has too many numbers. */
bool idm_start_is_dense(size_t dimension);
idm_status idm_start_create(size_t dimension, chain_start **ret_start, idm_error *opt_error);
void idm_start_destroy(chain_start *s);
/* Find the start of chain `chain`: the mode above the best of a few points of its own. */
idm_status idm_start_find(const fit_context *f, size_t chain, chain_start *s, idm_error *opt_error);
/* Maximise from the point s->mode, with density s->log_density, and compute the normal
 * approximation there. */
idm_status idm_start_maximise(const fit_context *f, size_t chain, chain_start *s,
                              idm_error *opt_error);
/* Start plans of this chain from solutions around its mode, and disperse x unless it is chosen
 * already. */
idm_status idm_start_prepare(const fit_context *f, size_t chain, chain_start *s,
                             idm_error *opt_error);

/* Open a fit of a subset of the trajectories, spread over a log of many histories. *ret_subset must
 * be destroyed after the fit is closed. *ret_share is its share of all trajectories, or 1 if the
 * log is small enough and no subset is opened. */
idm_status idm_start_open_subset(const fit_context *f, fit_context *subset_fit,
                                 idm_data **ret_subset, double *ret_share, idm_error *opt_error);
/* Maximise from s->mode, near the maximum of a target with slow evaluations. s->covariance
 * preconditions the search, so that few steps suffice. */
idm_status idm_start_maximise_near(const idm_target *target, chain_start *s, idm_error *opt_error);

/* Find the highest mode by searches from as many starts as there are chains and from scans along
 * every number, all with the first matching, which is left anchored there. Covariance and x are
 * unchanged, except that a search by a subset stores its covariance. */
idm_status idm_start_best(const fit_context *f, chain_start *best, idm_error *opt_error);

/* === explore ================================================================================ */

/* Exploration of a posterior by importance sampling before, or after, the chains run: modes and
 * weighted points. */

/* Component of the proposal density: centre and covariance. */
typedef struct idm_component {
  double *centre;     /* [dimension] */
  double *covariance; /* [dimension][dimension] */
  double log_density; /* at the centre */
  double drawn;       /* expected number of points proposed from it so far */
  bool definite;      /* the covariance is that of a mode; else a guess */
} idm_component;

typedef struct idm_exploration {
  const fit_context *f;        /* borrowed */
  size_t streams;              /* number of random streams, each processed by one matching */
  uint64_t first_stream;       /* index of the first, of the fit's key */
  idm_problem default_problem; /* the problem, with default priors in place of flat ones */
  idm_parameters *wide_prior;  /* parameters of default_problem: the broad proposal component */
  double log_mass;             /* log normalising constant of its prior */
  double prior_drawn;
  size_t components;        /* number of components, modes first */
  size_t modes;             /* number of them that are modes */
  idm_component *component; /* [max_components] */
  size_t points;            /* number of points so far */
  size_t capacity;          /* of the next four */
  double *point;            /* [point][dimension] */
  double *log_density;
  double *log_weight; /* target over the mixture of all proposals so far, up to a constant */
  double *weight;     /* log_weight exponentiated and normalised to sum 1 */
} idm_exploration;

/* Create an exploration with room for `capacity` points, drawn by `streams` streams from
 * first_stream on. */
idm_status idm_exploration_create(const fit_context *f, size_t streams, uint64_t first_stream,
                                  size_t capacity, idm_exploration **ret_exploration,
                                  idm_error *opt_error);
void idm_exploration_destroy(idm_exploration *exploration);

/* Draw `pilot_draws` points per stream from the broad prior, and collect the modes: those of the
 * starts, and others above points that are separated from them by a valley. Matchings must be
 * anchored; the first is left anchored at the highest mode. */
idm_status idm_explore_modes(idm_exploration *exploration, chain_start *const *starts, size_t count,
                             size_t pilot_draws, idm_error *opt_error);
/* Draw `draws` points per stream from the mixture of all components, then fit a component to all
 * points. */
idm_status idm_explore_round(idm_exploration *exploration, size_t draws, idm_error *opt_error);
/* Add a component from elsewhere; ignored if its covariance is not positive definite or all
 * components are in use. */
idm_status idm_explore_add(idm_exploration *exploration, const double *centre,
                           const double *covariance, idm_error *opt_error);

/* Effective number of points, (sum w)^2 / sum w^2. */
double idm_exploration_ess(const idm_exploration *exploration);
/* Index of the mode nearest to y, by normal density. work[dimension * (dimension + 1)] is scratch.
 */
size_t idm_exploration_nearest_mode(const idm_exploration *exploration, const double *y,
                                    double *work);
/* Compute share[modes]: total weight of the points nearest to each mode. */
idm_status idm_exploration_mode_mass(const idm_exploration *exploration, double *share,
                                     idm_error *opt_error);
/* Choose the start of a chain: chains cycle through the modes with posterior mass, each from a
 * point of its own near its mode, drawn with more spread than the posterior. */
idm_status idm_explore_start(const idm_exploration *exploration, size_t chain, chain_start *s,
                             idm_error *opt_error);
/* Create the mixture of all components as a proposal density. */
idm_status idm_exploration_mixture(const idm_exploration *exploration, idm_mixture **ret_mixture,
                                   idm_error *opt_error);

/* === drawing ================================================================================ */

/* Chains of a fit: choice of the sampler, monitoring, and continuation from checkpoints. */

/* The sampler that the settings name, or the default for the dimension. Notes a depth that it does
 * not use. */
idm_status idm_sampling_sampler(const idm_fit_settings *settings, size_t dimension,
                                const idm_sampler **ret_sampler, idm_notes *opt_notes,
                                idm_error *opt_error);
/* Create chains by the settings, with random streams of the key, different ones for reruns. They
 * must be started by the caller. */
idm_status idm_sampling_create(const idm_fit_settings *settings, const idm_sampler *sampler,
                               uint64_t key, size_t dimension, const idm_mixture *opt_mixture,
                               idm_cancel *cancel, idm_chains **ret_chains, idm_error *opt_error);
/* Run the chains to their end, or until the monitor stops them, from its checkpoint if it has one.
 */
idm_status idm_sampling_run(idm_chains *chains, const idm_target *target,
                            const idm_fit_monitor *watch, idm_cancel *cancel, idm_error *opt_error);
/* Steps per draw for a rerun of finished chains that mixed slowly: four times the current number,
 * at most three times in a row. 0: R-hat and effective draws pass, cannot pass, or sampler or
 * `thin` fix the steps. */
idm_status idm_sampling_more_steps(const idm_fit_settings *settings, const idm_chains *chains,
                                   long *ret_steps, idm_error *opt_error);
/* The same for a posterior whose draws are too uncertain: at most two times in a row. */
long idm_sampling_rerun_steps(const idm_fit_settings *settings, const idm_posterior *posterior);
/* Steps per draw of chains. */
long idm_sampling_steps(const idm_chains *chains);
/* Number of draws that every chain has, with a note if that is not all; IDM_UNTRUSTED if it is 0.
 */
idm_status idm_sampling_common(const idm_chains *chains, long *ret_draws, idm_notes *opt_notes,
                               idm_error *opt_error);

/* === posterior ============================================================================== */

/* Storage of draws and log-likelihoods in a posterior. */

/* Refuse draws, or log-likelihoods by decision, that exceed half of the memory: IDM_USAGE. */
idm_status idm_fit_check_size(const idm_data *data, const idm_fit_settings *settings,
                              idm_error *opt_error);
idm_status idm_posterior_create(const fit_context *f, const idm_inverse *inverse,
                                const char *sampler, size_t chains, size_t draws,
                                idm_posterior **ret_posterior, idm_error *opt_error);
/* Set the sizes of quantities and coordinates that are not single numbers: opaque blocks, which are
 * last. */
idm_status idm_posterior_set_sizes(const idm_parameters *parameters, idm_posterior *posterior,
                                   idm_error *opt_error);
/* Store a draw. */
void idm_posterior_store_draw(const fit_context *f, idm_posterior *posterior, size_t chain,
                              size_t draw, const double *y, const idm_statistics *statistics);
/* Compute the log-likelihoods that the settings request, and draws from the prior. */
idm_status idm_posterior_complete(const fit_context *f, idm_posterior *posterior,
                                  idm_notes *opt_notes, idm_error *opt_error);
/* Draw from the prior, if it is proper. */
idm_status idm_posterior_draw_prior(const idm_parameters *parameters, size_t count, uint64_t key,
                                    idm_posterior *posterior, idm_error *opt_error);

/* Number of trajectories or decisions whose log-likelihoods are stored; 0 if none are. */
size_t idm_fit_units(const fit_context *f);
/* Rows of the longest trajectory. */
size_t idm_fit_longest(const fit_context *f);
/* Compute the log-likelihoods of all units at the last plan of a matching: to[units]. `row` has
 * room for two numbers per row of the longest trajectory. */
void idm_fit_unit_likelihoods(const fit_context *f, const idm_matching *matching, size_t longest,
                              double *row, double *to);

/* === surface ================================================================================ */

/* Quadratic interpolation of a smooth function, from points around a mode. */

typedef struct idm_surface idm_surface;
/* NULL, and no error, if the dimension is too large for a gain or the covariance is not positive
 * definite. */
idm_status idm_surface_create(size_t dimension, const double *mode, const double *covariance,
                              idm_surface **ret_surface, idm_error *opt_error);
void idm_surface_destroy(idm_surface *surface);
size_t idm_surface_points(const idm_surface *surface);
/* Point k of the design; the first is the mode. */
const double *idm_surface_point(const idm_surface *surface, size_t k);
/* Weights of the values at the points that give the value at y; if y is outside the region of the
 * design, at the nearest point of it. Valid until the next call. */
const double *idm_surface_weights(idm_surface *surface, const double *y);

/* === tabulate =============================================================================== */

/* Construction of a table of the log-likelihood, which replaces planning. */

/* Create a table around the mode of a fit of few free numbers on a large lattice, including the
 * units whose log-likelihoods are stored. The mode is found on a coarser lattice and refined from
 * there; the table covers the posterior, and is refined until its error at points of the posterior
 * is negligible. NULL, and no error, if chains would not need many more plans than the table, or if
 * the table does not become accurate enough. */
idm_status idm_tabulate(const fit_context *f, idm_likelihood_table **ret_table,
                        idm_error *opt_error);
/* Add a remark on a table: number of points, and its error. */
void idm_table_remark(const idm_likelihood_table *table, idm_notes *notes);

#endif
