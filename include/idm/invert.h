/* Inverse planners (G): (evidence, normative parameter) -> descriptive parameter, and projections.
 */
#ifndef IDM_INVERT_H
#define IDM_INVERT_H

#include "idm/behavior.h"
#include "idm/chains.h"
#include "idm/diagnostics.h"
#include "idm/key.h"
#include "idm/sampler.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- the free part of theta as a vector ----------------------------------------------------- */

/* Free blocks of a problem as unconstrained numbers y, with their prior. The prior of a block is
 * stated in the coordinate c of its scale; y is c with its support opened to the whole line. */
typedef struct idm_parameters idm_parameters;

/* Fails with IDM_INPUT where nothing is free, or a free block is one that the planner does not
 * read. */
IDM_API idm_status idm_parameters_create(const idm_problem *problem,
                                         idm_parameters **ret_parameters, idm_error *opt_error);
IDM_API void idm_parameters_destroy(idm_parameters *parameters);
/* Unconstrained numbers, and their names: one a number, and one for all numbers of an opaque block.
 * Opaque blocks come last. */
IDM_API size_t idm_parameters_dimension(const idm_parameters *parameters);
IDM_API const idm_labels *idm_parameters_coordinates(const idm_parameters *parameters);
/* Quantities reported: every free number in its natural unit and, for a scale `inverse`, its
 * inverse as well ("inverse_beta"), which is the one to summarise. */
IDM_API const idm_labels *idm_parameters_quantities(const idm_parameters *parameters);
/* Numbers reported: one a quantity, and all of an opaque block, which come last. */
IDM_API size_t idm_parameters_numbers(const idm_parameters *parameters);
IDM_API bool idm_parameters_summarised(const idm_parameters *parameters, size_t quantity);
/* Write the free numbers into theta; the rest of theta is left alone. */
IDM_API void idm_parameters_set(const idm_parameters *parameters, const double *y,
                                idm_theta *theta);
/* [numbers]: what is reported at y. */
IDM_API void idm_parameters_report(const idm_parameters *parameters, const double *y,
                                   double *number);
/* y of the values that theta holds; where one lies outside its support, the nearest inside. */
IDM_API void idm_parameters_get(const idm_parameters *parameters, const idm_theta *theta,
                                double *y);
/* log prior density of y (with the Jacobian), and its gradient. */
IDM_API double idm_parameters_log_prior(const idm_parameters *parameters, const double *y,
                                        double *opt_gradient);
/* gradient[dimension] += d/dy of a function whose derivatives with respect to theta's numbers are
 * in `slope` (see idm_gradient_run). */
IDM_API void idm_parameters_pull(const idm_parameters *parameters, const double *y,
                                 const idm_theta *slope, double *gradient);
/* Whether every prior is proper, and a draw from it. */
IDM_API bool idm_parameters_proper(const idm_parameters *parameters);
IDM_API void idm_parameters_draw(const idm_parameters *parameters, idm_random *random, double *y);

/* A quantity as a person calls it: "1/beta" where files say inverse_beta. Into buffer, which is
 * returned. */
IDM_API const char *idm_quantity_spoken(const char *quantity, char *buffer, size_t size);

/* --- soft policy matching ------------------------------------------------------------------- */

/* The log-likelihood of a log as a function of the free numbers. One thread's own; problem, data,
 * tree and parameters are borrowed and shared. */
typedef struct idm_matching idm_matching;

IDM_API idm_status idm_matching_create(const idm_problem *problem, const idm_data *data,
                                       const idm_prefix_tree *tree,
                                       const idm_parameters *parameters,
                                       idm_matching **ret_matching, idm_error *opt_error);
IDM_API void idm_matching_destroy(idm_matching *matching);
/* log-likelihood at y and its gradient (by central differences where the data leave beliefs
 * unknown). -inf where the planner cannot plan, or the data are impossible. */
IDM_API idm_status idm_matching_log_likelihood(idm_matching *matching, const double *y,
                                               double *log_likelihood, double *opt_gradient,
                                               idm_error *opt_error);
/* Plan at y and let every later plan start from there. Until then every plan starts from nothing:
 * either way the log-likelihood is a function of y alone. */
IDM_API idm_status idm_matching_anchor(idm_matching *matching, const double *y,
                                       idm_error *opt_error);
/* log posterior density of y. Borrowed: valid while the matching is. */
IDM_API idm_target idm_matching_target(idm_matching *matching);
/* After an evaluation: the scorer with each trajectory's part, and the planned workspace. */
IDM_API const idm_scorer *idm_matching_scorer(const idm_matching *matching);
IDM_API idm_workspace *idm_matching_workspace(idm_matching *matching);
/* After an evaluation with a gradient: the derivative with respect to every number of theta (see
 * idm_gradient_run); NULL where it is not to be had. */
IDM_API const idm_theta *idm_matching_slope(const idm_matching *matching);

/* --- answers -------------------------------------------------------------------------------- */

/* A point, draws of a posterior, or a set: all parameters that explain the data. */
typedef enum idm_answer { IDM_POINT, IDM_POSTERIOR, IDM_SET } idm_answer;

/* What an inverse planner found: draws of the free numbers (a point is one draw of one chain). */
typedef struct idm_posterior {
  idm_answer answer;
  char inverse[32];
  char sampler[32];
  uint64_t seed;
  uint64_t request; /* label of what was asked for (see config.yaml of a run); 0: none */
  long warmup;
  size_t chains;
  size_t draws;
  idm_labels quantity;        /* names of what is reported */
  bool *summarised;           /* [quantity]: false where the mean need not exist */
  size_t *quantity_size;      /* [quantity]: 1, or the numbers of an opaque block, which come last;
                                 NULL: one each */
  double *value;              /* [number][chain][draw] */
  idm_labels coordinate;      /* names of the unconstrained numbers */
  size_t *coordinate_size;    /* [coordinate]: the same */
  double *unconstrained;      /* [number][chain][draw] */
  idm_statistics *statistics; /* [chain][draw] */
  idm_labels unit;            /* what log_likelihood is by: trajectories, or decisions */
  bool by_decision;
  double *log_likelihood; /* [chain][draw][unit]; NULL where it is not kept */
  size_t prior_draws;     /* 0 where a prior is improper */
  double *prior;          /* [number][prior draw] */
} idm_posterior;

IDM_API void idm_posterior_destroy(idm_posterior *posterior);
/* Numbers over all quantities, and over all coordinates. */
IDM_API size_t idm_posterior_numbers(const idm_posterior *posterior);
IDM_API size_t idm_posterior_dimension(const idm_posterior *posterior);

/* --- inverse planners ----------------------------------------------------------------------- */

typedef enum idm_keep { IDM_KEEP_NOTHING, IDM_KEEP_TRAJECTORY, IDM_KEEP_DECISION } idm_keep;

typedef struct idm_fit_settings {
  char sampler[32]; /* name in the registry; "": metropolis up to four free numbers, else nuts */
  size_t chains;
  long draws;
  long warmup;
  long thin; /* kernel steps a draw; 0: the sampler's own */
  uint64_t seed;
  int threads;   /* never changes a draw */
  idm_keep keep; /* log-likelihood by trajectory, by decision, or not at all */
  size_t prior_draws;
} idm_fit_settings;
IDM_API void idm_fit_settings_default(idm_fit_settings *settings);
/* Its fields; `threads`, which changes no draw, is none of them. */
IDM_API const idm_key *idm_fit_keys(void);

/* The scheme of the paper, for a sampler that is `plain`: one chain, every tenth of 10,000 steps
 * after 1,000; and flat priors on what is free, on the logarithms of alpha, beta and eta. */
IDM_API void idm_fit_settings_plain(idm_fit_settings *settings);
IDM_API void idm_problem_flatten(idm_problem *problem);

/* Work under way, as whoever does it shows it. Valid during a call of idm_progress. */
typedef struct idm_work {
  double done; /* share of it, 0 to 1 */
  const void *content;
  /* A few words on how it goes. May take a while: asked for when they are shown. */
  void (*describe)(const void *content, char *buffer, size_t size);
  /* All of it so far as bytes for the caller, to go on from; NULL where there is no such thing. */
  idm_status (*save)(const void *content, char **ret_bytes, size_t *ret_length,
                     idm_error *opt_error);
} idm_work;
/* Returns buffer. */
IDM_API const char *idm_work_words(const idm_work *work, char *buffer, size_t size);
/* A checkpoint. IDM_USAGE where the work has none. */
IDM_API idm_status idm_work_save(const idm_work *work, char **ret_bytes, size_t *ret_length,
                                 idm_error *opt_error);

/* Watches work, on the thread that asked for it, several times a second and once at the end. Return
 * true to stop soon, with what is there. */
typedef bool (*idm_progress)(void *context, const idm_work *work);

/* Someone who watches a fit. All may be NULL. */
typedef struct idm_fit_watch {
  idm_progress progress;
  void *context;
  const char *checkpoint; /* of idm_work_save, to go on from */
  size_t checkpoint_length;
  const char *checkpoint_file; /* its name in messages */
  uint64_t label;              /* of the request, in checkpoints */
} idm_fit_watch;

typedef struct idm_inverse idm_inverse;

/* Planners that an inverse planner can invert. */
typedef enum idm_family {
  IDM_ANY_PLANNER,    /* by the likelihood of its behaviour */
  IDM_BELIEF_PLANNER, /* that decides by a belief */
  IDM_LATTICE_PLANNER /* that solves a lattice */
} idm_family;

/* An inverse planner. All operations are required. */
struct idm_inverse {
  const char *name;
  const char *summary;
  const char *row; /* of the paper's table "Inverse Planners" */
  idm_answer answer;
  unsigned columns;            /* evidence it needs: bits 1 << idm_column */
  idm_family family;           /* planners it can invert */
  bool gradient;               /* needs a behaviour with a slope */
  bool opaque;                 /* can infer blocks of unnamed numbers */
  const char *const *settings; /* keys of idm_fit_keys that it reads; NULL at the end */
  idm_status (*fit)(const idm_problem *problem, const idm_data *data,
                    const idm_fit_settings *settings, const idm_fit_watch *opt_watch,
                    idm_posterior **ret_posterior, idm_notes *opt_notes, idm_error *opt_error);
};

/* Registry: inverse planner i, or NULL past the last; by name, or NULL. */
IDM_API const idm_inverse *idm_inverse_at(size_t index);
IDM_API const idm_inverse *idm_inverse_find(const char *name);

/* Whether an inverse planner can work on a problem and its data: IDM_INPUT names the column that is
 * missing, the planner that does not fit or the block that it cannot infer. */
IDM_API idm_status idm_inverse_check(const idm_inverse *inverse, const idm_problem *problem,
                                     const idm_data *data, idm_error *opt_error);

/* theta at one draw of the answer; IDM_INPUT where the posterior's coordinates are not those of the
 * problem. */
IDM_API idm_status idm_posterior_theta(const idm_posterior *posterior,
                                       const idm_parameters *parameters, size_t chain, size_t draw,
                                       idm_theta *theta, idm_error *opt_error);
/* The mean of the unconstrained coordinates over all draws. */
IDM_API void idm_posterior_centre(const idm_posterior *posterior, double *y);

/* --- prediction ----------------------------------------------------------------------------- */

/* Held-out prediction: for each trajectory the log of its probability's mean over the draws (1,000
 * of them, spread evenly, where there are more). Counts and line of an impossible decision in
 * `score`; its log_likelihood is the sum. */
IDM_API idm_status idm_posterior_predict(const idm_problem *problem, const idm_posterior *posterior,
                                         const idm_data *data, double *log_likelihood,
                                         idm_score *score, idm_error *opt_error);
/* Posterior predictive data: trajectory i acts by draw i * draws / trajectories of the posterior.
 */
IDM_API idm_status idm_posterior_simulate(const idm_problem *problem,
                                          const idm_posterior *posterior,
                                          const idm_simulation *simulation, idm_data **ret_data,
                                          idm_error *opt_error);

/* --- projections ---------------------------------------------------------------------------- */

/* How far a behaviour is from a log. */
typedef struct idm_projection {
  uint64_t decisions;
  double log_loss;   /* mean -log pi(u|z) a decision, nats */
  double brier;      /* mean sum_v (pi(v|z) - 1{v = u})^2 a decision */
  uint64_t repeated; /* decisions at histories that two or more trajectories share */
  double divergence; /* mean KL(empirical || pi) over those, nats; NaN where none repeats */
} idm_projection;

/* Distance of the behaviour of `theta` from the data. */
IDM_API idm_status idm_projection_measure(const idm_problem *problem, const idm_theta *theta,
                                          const idm_data *data, idm_projection *projection,
                                          idm_error *opt_error);
/* F o G: fit by the inverse planner, then measure the behaviour at the answer's centre. */
IDM_API idm_status idm_project(const idm_problem *problem, const idm_data *data,
                               const idm_inverse *inverse, const idm_fit_settings *settings,
                               const idm_fit_watch *opt_watch, idm_posterior **ret_posterior,
                               idm_projection *projection, idm_notes *opt_notes,
                               idm_error *opt_error);

/* --- assessment ----------------------------------------------------------------------------- */

/* What the data say of one free number. The profile log-likelihood maximises over the others. */
typedef struct idm_identification {
  size_t quantity;    /* index of the quantity that is summarised */
  double contraction; /* 1 - posterior variance / prior variance, in the coordinate of the prior;
                         NaN under an improper prior */
  double maximum;     /* the quantity at the maximum of the likelihood */
  double low;      /* ends of the 95 % profile interval (drop of 1.92), in the quantity's unit; */
  double high;     /* the end of the scale where the data do not bound it */
  double limit[2]; /* natural value at either end of the scale: below, above */
  double gap[2];   /* how far the profile falls from its maximum to that limit */
  bool proper[2];  /* the prior bounds that side */
  char sentence[640]; /* to be quoted */
} idm_identification;

/* How the answer moves with a number that was held. */
typedef struct idm_sensitivity {
  char name[160];
  double value;
  double step;   /* a small change of it */
  double *slope; /* [quantity]: d posterior mean / d number */
} idm_sensitivity;

typedef struct idm_assessment {
  idm_answer answer;
  size_t quantities;
  idm_diagnosis *diagnosis; /* [quantity] */
  long divergences;
  double ebfmi; /* the least over chains; NaN where there is no energy */

  /* By looking at the data again; nothing of it is there where `identified` is false. */
  bool identified;
  double log_likelihood; /* at its maximum */
  size_t parameters;
  idm_identification *parameter;
  double ridge;         /* least eigenvalue of the posterior correlations; 1 for one parameter */
  char *ridge_sentence; /* NULL where there is no ridge */
  int resolution;       /* lattices compared; 0 where there is nothing to compare */
  int finer;
  double
      finer_change; /* largest |log-likelihood at finer - at resolution| over the draws looked at */
  double *finer_shift; /* [quantity]: shift of the posterior mean, in posterior sds */
  size_t sensitivities;
  idm_sensitivity *sensitivity;

  bool trusted;
  idm_notes failures; /* why not, and what to do */
  idm_notes remarks;  /* what to know */
} idm_assessment;

/* Diagnostics of the draws alone, with their part of the verdict. */
IDM_API idm_status idm_assess_draws(const idm_posterior *posterior, idm_assessment **ret_assessment,
                                    idm_error *opt_error);
/* The same, and identification, discretisation and sensitivity from the data. */
IDM_API idm_status idm_assess(const idm_problem *problem, const idm_data *data,
                              const idm_posterior *posterior, int threads,
                              idm_assessment **ret_assessment, idm_error *opt_error);
IDM_API void idm_assessment_destroy(idm_assessment *assessment);

#ifdef __cplusplus
}
#endif
#endif
