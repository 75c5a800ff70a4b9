/* Results of inverse planners: posterior draws, point estimates and sets. */
#ifndef IDM_EXTENSION_POSTERIOR_H
#define IDM_EXTENSION_POSTERIOR_H

#include "idm/extension/dynamics.h"
#include "idm/extension/optimality.h"
#include "idm/extension/parameters.h"
#include "idm/extension/sampler.h"
#include "idm/fit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An axis of indexed quantities, such as people, with its labels. */
typedef struct idm_series_axis {
  char *name;
  idm_labels label;
} idm_series_axis;

/* Quantities indexed by an axis, stored in order: quantity first + i is named "name[label i]". */
typedef struct idm_series {
  char *name;
  size_t first;
  size_t axis;
} idm_series;

/* Learnt dynamics that were sampled jointly with the free numbers. */
typedef struct idm_joint_dynamics {
  idm_labels name;  /* [numbers]: names of probabilities, as in idm_dynamics_draws */
  double *mean;     /* [numbers] */
  double *sd;       /* [numbers] */
  double rhat;      /* maximum R-hat over log-ratios of two of them; NaN: undefined */
  double effective; /* minimum bulk effective sample size */
  double lost; /* log-likelihood of the observations at the best dynamics without decisions, minus
                  that at the mean; NaN: not measured */
  size_t free; /* number of independent probabilities */
} idm_joint_dynamics;

/* Sets of learnt dynamics to which the draws of a result belong. */
typedef struct idm_dynamics_sets {
  size_t sets;     /* number of sets: one per draw (idm_joint_fit), or one per draw of the cut
                      (idm_cut_fit) */
  size_t numbers;  /* length of a set: the numbers of idm_dynamics, in its order */
  double *set;     /* [set][number] */
  double *central; /* [number]: the set used for the single policy of the whole result */
  size_t of; /* index of the set, counted from 1, that equals `central`; 0: the mean of all sets */
} idm_dynamics_sets;

/* Learnt dynamics used for planning: none; one set for the centre of the result; the set of the
 * draw with the highest density; or one set per draw. */
typedef enum idm_dynamics_use {
  IDM_DYNAMICS_UNUSED,
  IDM_DYNAMICS_CENTRAL,
  IDM_DYNAMICS_HIGHEST,
  IDM_DYNAMICS_PER_DRAW
} idm_dynamics_use;

/* Result of an inverse planner: draws of the free numbers (a point estimate is one draw of one
 * chain). */
typedef struct idm_posterior {
  idm_estimate_kind answer;
  char inverse[32];
  char sampler[32];
  uint64_t seed;
  uint64_t request; /* label of the request (see config.yaml of a run); 0: none */
  int resolution;   /* resolution of the lattice; 0: no lattice */
  long warmup;
  long steps;           /* kernel iterations per draw; 0: unknown */
  bool search_recorded; /* the next two fields are known */
  double highest;       /* highest log density found by an independent search */
  double attained;      /* highest log density of a search started from the draws */
  double row_prior;     /* for draws of dynamics: Dirichlet(row_prior) rows; 0: unknown, or none */
  size_t chains;
  size_t draws;
  size_t cuts; /* number of draws of learnt dynamics that the chains belong to, equally many chains
                  each, in order (idm_cut_fit); 0: the problem's own dynamics */
  idm_joint_dynamics *dynamics; /* dynamics sampled with the free numbers (idm_joint_fit); NULL:
                                   none, or the draws were read from a file */
  idm_dynamics_sets *drawn;     /* learnt dynamics of the draws; NULL: the problem's own */
  idm_labels quantity;          /* names of the reported quantities */
  bool *summarised;             /* [quantity]: false if the mean need not exist */
  size_t *quantity_size;   /* [quantity]: 1, or the size of an opaque block, which come last; NULL:
                              all 1 */
  double *value;           /* [number][chain][draw] */
  idm_labels coordinate;   /* names of the unconstrained numbers */
  size_t *coordinate_size; /* [coordinate]: sizes, as quantity_size */
  double *unconstrained;   /* [number][chain][draw] */
  idm_statistics *statistics; /* [chain][draw] */
  idm_labels unit; /* labels of the units of log_likelihood: trajectories, or decisions */
  bool by_decision;
  double *log_likelihood;   /* [chain][draw][unit]; NULL if not kept */
  double *integrated;       /* [chain][draw][person]: log-likelihood of each person of a population,
                               integrated over the person's own numbers; NULL if not kept */
  double *integrated_error; /* [person]: estimate of its largest error, in nats; inf: unknown */
  size_t axes;              /* number of axes of indexed quantities; 0: none */
  idm_series_axis *axis;
  size_t series_count;
  idm_series *series;
  size_t prior_draws;         /* 0 if a prior is improper */
  double *prior;              /* [number][prior draw] */
  idm_optimality *optimality; /* for results that are not based on the likelihood; NULL otherwise */
  struct idm_likelihood_table *table; /* table that replaced planning, for the assessment of the
                                         draws; NULL: none, or read from a file */
  idm_problem *problem;               /* that was fitted, owned; NULL: unknown */
  void *verdict;                      /* of idm_fit or idm_run_load, owned; NULL: none */
  void (*verdict_destroy)(void *verdict);
} idm_posterior;

/* Index of the series that contains a quantity, or series_count if it is in none. */
IDM_API size_t idm_posterior_series(const idm_posterior *posterior, size_t quantity);
/* Index of the axis of that name, or the number of axes if there is none. */
IDM_API size_t idm_posterior_axis(const idm_posterior *posterior, const char *name);
/* Total number of reported numbers over all quantities. */
IDM_API size_t idm_posterior_numbers(const idm_posterior *posterior);
/* Total number of unconstrained numbers over all coordinates. */
IDM_API size_t idm_posterior_dimension(const idm_posterior *posterior);

/* Set the free numbers of theta to those of one draw. IDM_INPUT if the coordinates of the posterior
 * are not those of the problem; IDM_USAGE if the draw is out of range. */
IDM_API idm_status idm_posterior_theta(const idm_posterior *posterior,
                                       const idm_parameters *parameters, size_t chain, size_t draw,
                                       idm_theta *theta, idm_error *opt_error);
/* The same for the centre of the result (see idm_posterior_centre). */
IDM_API idm_status idm_posterior_central_theta(const idm_posterior *posterior,
                                               const idm_parameters *parameters, idm_theta *theta,
                                               idm_error *opt_error);
/* Mean of the unconstrained coordinates over all draws, into y [dimension]. If the central dynamics
 * are one of the sets (idm_dynamics_sets.of), the mean over the draws of that set. */
IDM_API void idm_posterior_centre(const idm_posterior *posterior, double *y);

#ifdef __cplusplus
}
#endif
#endif
