/* Soft policy matching: limits, starts, chains, tables and the answer.
 *
 * Contents: fit · matching · start · explore · drawing · assemble · surface · tabulate */
#ifndef IDM_INVERT_MATCHING_FIT_H
#define IDM_INVERT_MATCHING_FIT_H

#include "idm/chains.h"
#include "idm/inverse.h"
#include "idm/matching.h"
#include "idm/posterior.h"
#include "idm/settings.h"
#include "idm/status.h"
#include "infer/mixture.h"
#include "invert/grid.h"
#include "invert/matching/halt.h"
#include "invert/parameters.h"

/* === fit ==================================================================================== */

/* What every inverse planner by soft policy matching works with. */

/* Everything a fit works with. */
typedef struct fit_context {
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  idm_parameters *parameters;
  idm_prefix_tree *tree;
  idm_data
      *segments; /* the data in pieces, for agents that remember the state alone; NULL: whole, */
  idm_prefix_tree *segment_tree; /* and their tree */
  size_t matchings;
  idm_matching **matching;           /* [chain] */
  double *scratch;                   /* [numbers] */
  double *unit;                      /* [dimension]: size of a usual change of a free number */
  uint64_t key;                      /* of its random streams */
  const idm_likelihood_table *table; /* borrowed: what may stand in for planning; NULL: nothing */
} fit_context;

/* Refuse an agent that finds by itself what a fit infers. */
idm_status idm_fit_check_capacity(const idm_problem *problem, idm_error *opt_error);
/* Check the request (against the needs of the inverse planner, where one is given), build
 * parameters, tree and `matchings` matchings. The fit is zeroed first; idm_fit_close frees what is
 * there. */
idm_status idm_fit_open(fit_context *f, const idm_inverse *opt_inverse, const idm_problem *problem,
                        const idm_data *data, const idm_fit_settings *settings, size_t matchings,
                        idm_error *opt_error);
struct idm_cancel;
/* The same, which may take seconds, under somebody who may stop it and what is evaluated later. */
idm_status idm_fit_open_cancel(fit_context *f, const idm_inverse *opt_inverse,
                               const idm_problem *problem, const idm_data *data,
                               const idm_fit_settings *settings, size_t matchings,
                               struct idm_cancel *opt_cancel, idm_error *opt_error);
void idm_fit_close(fit_context *f);
/* A matching of the fit's evidence with a problem like its own: of the pieces, where there are any.
 */
idm_status idm_fit_create_matching(const fit_context *f, const idm_problem *problem,
                                   idm_matching **ret_matching, idm_error *opt_error);
/* Histories that such a matching goes through. */
size_t idm_fit_histories(const fit_context *f);
/* Let the fit's table, where it has one, stand in for what a matching plans for. */
idm_status idm_fit_use_table(const fit_context *f, idm_matching *matching, idm_error *opt_error);

/* === matching =============================================================================== */

/* Soft policy matching, from within: limits, checks, and where plans start. */

/* Hold one free number at a natural value, whatever y says (a limit has no y); NULL lets go. */
void idm_matching_fix(idm_matching *matching, const parameter *opt_item, double value);
/* Refuse, with its line, an observation that no model of the agent allows: no free number mends
 * that. */
idm_status idm_matching_check(idm_matching *matching, idm_error *opt_error);
/* Line of a decision that had probability 0 at the last evaluation; 0 where there was none. */
long idm_matching_impossible_line(const idm_matching *matching, const char **ret_file);
/* Let each plan start from the last one, until the next anchor: quicker for a search, but then the
 * log-likelihood depends in its last digits on what was asked before. */
void idm_matching_warm_start(idm_matching *matching);
/* Plan around a mode, by its normal approximation, and let later plans start from the quadratic
 * surface through those solutions: two Newton steps fewer. Still a function of y alone. */
idm_status idm_matching_use_surface(idm_matching *matching, const double *mode,
                                    const double *covariance, idm_error *opt_error);

/* Let a table, which is borrowed, stand in for planning where it says something, and elsewhere a
 * matching on a coarser lattice, which is taken over: its log-likelihood, with what it is off by at
 * the table's mode added, stands where it is so far below the table's top that nobody goes there.
 * What lies between is planned for. Anchors then wait until something is. NULL, NULL: plan for
 * everything again. */
idm_status idm_matching_use_table(idm_matching *matching, const idm_likelihood_table *opt_table,
                                  idm_matching *opt_coarse, idm_error *opt_error);
/* Plan for everything, whatever may stand in, until told otherwise. */
void idm_matching_set_exact(idm_matching *matching, bool exact);

/* === start ================================================================================== */

/* Where chains start. */

/* A mode climbed to from this chain's own starting points, its normal approximation, and an
 * overdispersed point to start from. The matching is anchored at the mode. */
typedef struct chain_start {
  double *x;          /* [dimension] */
  double *mode;       /* [dimension] */
  double *covariance; /* [dimension][dimension]; nothing where there are too many numbers */
  double log_density; /* at the mode */
  bool definite;      /* the covariance is that of the mode; else a guess by the prior */
  bool x_chosen;      /* x was chosen already */
} chain_start;
/* Whether so many numbers have a covariance: a network has not. */
bool idm_start_is_dense(size_t dimension);
idm_status idm_start_create(size_t dimension, chain_start **ret_start, idm_error *opt_error);
void idm_start_destroy(chain_start *s);
/* Find it for chain `chain`: the best of a few points of its own, and the mode above. */
idm_status idm_start_find(const fit_context *f, size_t chain, chain_start *s, idm_error *opt_error);
/* The mode above the point in s->mode, where the density is s->log_density, and the approximation
 * there. */
idm_status idm_start_maximise(const fit_context *f, size_t chain, chain_start *s,
                              idm_error *opt_error);
/* Let plans of this chain start from around its mode, and scatter x, where it is not placed. */
idm_status idm_start_prepare(const fit_context *f, size_t chain, chain_start *s,
                             idm_error *opt_error);

/* A fit of some trajectories, spread over a log that has many histories: `*ret_subset`, to be
 * destroyed after the fit is closed. *ret_share is theirs of all trajectories, or 1 where all are
 * few enough and there is none. */
idm_status idm_start_open_subset(const fit_context *f, fit_context *subset_fit,
                                 idm_data **ret_subset, double *ret_share, idm_error *opt_error);
/* Climb from s->mode, near the top of a target whose evaluations are dear, to it: s->covariance
 * says how wide it is, so that steps are as if it were round, and few. */
idm_status idm_start_maximise_near(const idm_target *target, chain_start *s, idm_error *opt_error);

/* The highest mode of as many starts as there are chains, and of scans of every number beside it,
 * climbed to the end, all by the first matching, which is left anchored there. Covariance and x are
 * left alone. */
idm_status idm_start_best(const fit_context *f, chain_start *best, idm_error *opt_error);

/* === explore ================================================================================ */

/* A look at the whole of a posterior before, or after, chains walk through it: modes, and points
 * weighted by importance. */

/* A centre and a spread that points are proposed around. */
typedef struct idm_component {
  double *centre;     /* [dimension] */
  double *covariance; /* [dimension][dimension] */
  double log_density; /* at the centre */
  double drawn;       /* points proposed from it so far */
  bool definite;      /* the spread is that of a mode; else a guess */
} idm_component;

typedef struct idm_exploration {
  const fit_context *f;        /* borrowed */
  size_t streams;              /* random streams, each worked through by itself */
  uint64_t first_stream;       /* of the fit's key */
  idm_problem default_problem; /* the problem, with default priors where one is flat */
  idm_parameters *wide_prior;  /* of that: what points are proposed from where nothing is known */
  double log_mass;             /* of its prior */
  double prior_drawn;
  size_t components;        /* modes first */
  size_t modes;             /* of them */
  idm_component *component; /* [most_parts] */
  size_t points;            /* so far */
  size_t capacity;          /* of the next four */
  double *point;            /* [point][dimension] */
  double *log_density;
  double *log_weight; /* target over everything proposed so far, up to a constant */
  double *weight;     /* the same, of sum 1 */
} idm_exploration;

/* Room for `capacity` points, drawn by `lanes` streams from first_stream on. */
idm_status idm_exploration_create(const fit_context *f, size_t streams, uint64_t first_stream,
                                  size_t capacity, idm_exploration **ret_exploration,
                                  idm_error *opt_error);
void idm_exploration_destroy(idm_exploration *exploration);

/* Draw `looks` points a lane from the broad prior, and gather the modes: those of the starts, and
 * others above points that lie beyond a valley. Matchings must be anchored; the first is left
 * anchored at the highest mode. */
idm_status idm_explore_modes(idm_exploration *exploration, chain_start *const *starts, size_t count,
                             size_t pilot_draws, idm_error *opt_error);
/* Draw `draws` points a lane from all that is known, then fit a part to all points. */
idm_status idm_explore_round(idm_exploration *exploration, size_t draws, idm_error *opt_error);
/* A part that is known otherwise; left out where its spread is none. */
idm_status idm_explore_add(idm_exploration *exploration, const double *centre,
                           const double *covariance, idm_error *opt_error);

/* Effective number of points, (sum w)^2 / sum w^2. */
double idm_exploration_ess(const idm_exploration *exploration);
/* The mode nearest to y, by its spread. */
size_t idm_exploration_nearest_mode(const idm_exploration *exploration, const double *y,
                                    double *work);
/* share[modes]: weight of the points nearest to each. */
idm_status idm_exploration_mode_mass(const idm_exploration *exploration, double *share,
                                     idm_error *opt_error);
/* Place a start: chains take turns at the modes that hold some of the posterior, each from a point
 * of its own near its mode, drawn with more spread than the posterior has. */
idm_status idm_explore_start(const idm_exploration *exploration, size_t chain, chain_start *s,
                             idm_error *opt_error);
/* Proposals from all that is known. */
idm_status idm_exploration_mixture(const idm_exploration *exploration, idm_mixture **ret_mixture,
                                   idm_error *opt_error);

/* === drawing ================================================================================ */

/* The chains of a fit: which sampler, how they are watched, and from where they go on. */

/* The sampler that the settings name, or the usual one for so many numbers. */
idm_status idm_sampling_sampler(const idm_fit_settings *settings, size_t dimension,
                                const idm_sampler **ret_sampler, idm_error *opt_error);
/* Chains as the settings have them, with random streams of the key, others where they are run
 * again: still to be started. */
idm_status idm_sampling_create(const idm_fit_settings *settings, const idm_sampler *sampler,
                               uint64_t key, size_t dimension, const idm_mixture *opt_mixture,
                               idm_cancel *cancel, idm_chains **ret_chains, idm_error *opt_error);
/* Run them to their end, or until somebody says stop, from the watcher's checkpoint on where it has
 * one. */
idm_status idm_sampling_run(idm_chains *chains, const idm_target *target,
                            const idm_fit_monitor *watch, idm_cancel *cancel, idm_error *opt_error);
/* Steps a draw with which chains that are done are to be run again, as they mixed slowly: four
 * times those that they had, up to three times. 0: R-hat and effective draws pass, or cannot, or
 * the sampler or the settings' `thin` leave no choice. */
idm_status idm_sampling_more_steps(const idm_fit_settings *settings, const idm_chains *chains,
                                   long *ret_steps, idm_error *opt_error);
/* The same of a posterior whose draws are too uncertain: up to two times. */
long idm_sampling_rerun_steps(const idm_fit_settings *settings, const idm_posterior *posterior);
/* Steps a draw that chains have. */
long idm_sampling_steps(const idm_chains *chains);
/* Draws that every chain has, with a note where that is not all; IDM_UNTRUSTED where it is none. */
idm_status idm_sampling_common(const idm_chains *chains, long *ret_draws, idm_notes *opt_notes,
                               idm_error *opt_error);

/* === assemble =============================================================================== */

/* Putting an answer together. */

/* Refuse up front draws, or log-likelihoods by decision, of an absurd size. */
idm_status idm_fit_check_size(const idm_data *data, const idm_fit_settings *settings,
                              idm_error *opt_error);
idm_status idm_posterior_create(const fit_context *f, const idm_inverse *inverse,
                                const char *sampler, size_t chains, size_t draws,
                                idm_posterior **ret_posterior, idm_error *opt_error);
/* Numbers of each quantity and coordinate of an answer, where they are not one each: opaque blocks
 * are the last. */
idm_status idm_posterior_set_sizes(const idm_parameters *parameters, idm_posterior *posterior,
                                   idm_error *opt_error);
/* Store a draw. */
void idm_posterior_store_draw(const fit_context *f, idm_posterior *posterior, size_t chain,
                              size_t draw, const double *y, const idm_statistics *statistics);
/* Fill in the log-likelihoods that the settings ask for, and draws from the prior. */
idm_status idm_posterior_complete(const fit_context *f, idm_posterior *posterior,
                                  idm_notes *opt_notes, idm_error *opt_error);
/* Draws from the prior, where it has some. */
idm_status idm_posterior_draw_prior(const idm_parameters *parameters, size_t count, uint64_t key,
                                    idm_posterior *posterior, idm_error *opt_error);

/* Trajectories or decisions whose log-likelihoods are kept; 0 where none are. */
size_t idm_fit_units(const fit_context *f);
/* Rows of the longest trajectory. */
size_t idm_fit_longest(const fit_context *f);
/* The log-likelihoods of all units at what a matching planned for last: to[units]. `row` has room
 * for two numbers a row of the longest trajectory. */
void idm_fit_unit_likelihoods(const fit_context *f, const idm_matching *matching, size_t longest,
                              double *row, double *to);

/* === surface ================================================================================ */

/* Quadratic interpolation of anything smooth, from points around a mode. */

typedef struct idm_surface idm_surface;
/* NULL, and no error, where the dimension is too large for it to pay or the covariance is not
 * positive definite. */
idm_status idm_surface_create(size_t dimension, const double *mode, const double *covariance,
                              idm_surface **ret_surface, idm_error *opt_error);
void idm_surface_destroy(idm_surface *surface);
size_t idm_surface_points(const idm_surface *surface);
/* Point k of the design; the first is the mode. */
const double *idm_surface_point(const idm_surface *surface, size_t k);
/* Weights of the points' values that give the value at y; the nearest part of the design's region
 * where y lies outside. Kept until the next call. */
const double *idm_surface_weights(idm_surface *surface, const double *y);

/* === tabulate =============================================================================== */

/* Making a table that stands in for planning. */

/* A table around the mode of a fit of few free numbers on a large lattice, and of the units whose
 * log-likelihoods are kept. The mode is found on a coarser lattice and climbed to from there; the
 * table reaches as far as the posterior does, and is made finer until points of the posterior show
 * that it is off by next to nothing. NULL, and no error, where chains would not plan
 * for many more points than it takes, or that does not come to pass. */
idm_status idm_tabulate(const fit_context *f, idm_likelihood_table **ret_table,
                        idm_error *opt_error);
/* One sentence on a table: how many points, and what it is off by. */
void idm_table_remark(const idm_likelihood_table *table, idm_notes *notes);

#endif
