/* Answers: what an inverse planner found. */
#ifndef IDM_POSTERIOR_H
#define IDM_POSTERIOR_H

#include "idm/dynamics.h"
#include "idm/finding.h"
#include "idm/parameters.h"
#include "idm/sampler.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A point, draws of a posterior, or a set: all parameters that explain the data. */
typedef enum idm_estimate_kind { IDM_POINT, IDM_POSTERIOR, IDM_SET } idm_estimate_kind;

/* An axis that quantities lie along, such as people, by its labels. */
typedef struct idm_series_axis {
  char *name;
  idm_labels label;
} idm_series_axis;

/* Quantities that lie along an axis, one after the other: quantity first + i is called
 * "name[label i]". */
typedef struct idm_series {
  char *name;
  size_t first;
  size_t axis;
} idm_series;

/* Learnt dynamics that were drawn together with the free numbers. */
typedef struct idm_joint_dynamics {
  idm_labels name;  /* [numbers]: of probabilities, as idm_dynamics_draws has them */
  double *mean;     /* [numbers] */
  double *sd;       /* [numbers] */
  double rhat;      /* the largest of a log-ratio of two of them; NaN: undefined */
  double effective; /* the least bulk effective sample size of one */
  double lost; /* log-likelihood of the observations at the best dynamics without decisions, less
                  that at the mean; NaN: not measured */
  size_t free; /* probabilities that can vary independently */
} idm_joint_dynamics;
/* Room for the numbers of that name, which are copied. */
IDM_API idm_status idm_joint_dynamics_create(const idm_labels *name,
                                             idm_joint_dynamics **ret_dynamics,
                                             idm_error *opt_error);
IDM_API void idm_joint_dynamics_destroy(idm_joint_dynamics *dynamics);

/* Sets of learnt dynamics that the draws of an answer are of. */
typedef struct idm_dynamics_sets {
  size_t sets;     /* one per draw (idm_joint_fit), or per draw of the cut (idm_cut_fit) */
  size_t numbers;  /* of one set: those of idm_dynamics, in its order */
  double *set;     /* [set][number] */
  double *central; /* [number]: the set for one policy of the whole answer */
  size_t of;       /* the set, counted from 1, that `central` is; 0: the mean of all */
} idm_dynamics_sets;

/* What is planned in learnt dynamics: nothing; one policy at the answer's centre; one at the draw
 * of highest density; or a policy per draw. */
typedef enum idm_dynamics_use {
  IDM_DYNAMICS_UNUSED,
  IDM_DYNAMICS_CENTRAL,
  IDM_DYNAMICS_HIGHEST,
  IDM_DYNAMICS_PER_DRAW
} idm_dynamics_use;

/* What an inverse planner found: draws of the free numbers (a point is one draw of one chain). */
typedef struct idm_posterior {
  idm_estimate_kind answer;
  char inverse[32];
  char sampler[32];
  uint64_t seed;
  uint64_t request; /* label of what was asked for (see config.yaml of a run); 0: none */
  int resolution;   /* of the lattice planned on; 0 where there is none */
  long warmup;
  long steps;           /* of the kernel a draw; 0: not known */
  bool search_recorded; /* the next two are known */
  double highest;       /* log density of the highest point that a search found */
  double attained;      /* the same of a search from the draws */
  double row_prior;     /* of draws of dynamics: Dirichlet(row_prior) rows; 0: unknown, or none */
  size_t chains;
  size_t draws;
  size_t cuts; /* draws of learnt dynamics that the chains are of, as many each, one after another
                  (idm_cut_fit); 0: the problem's own dynamics */
  idm_joint_dynamics *dynamics; /* drawn with the free numbers (idm_joint_fit); NULL: they were not,
                                   or the draws come from a file */
  idm_dynamics_sets *drawn;     /* learnt dynamics of the draws; NULL: the problem's own */
  idm_labels quantity;          /* names of what is reported */
  bool *summarised;             /* [quantity]: false where the mean need not exist */
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
  size_t axes;            /* that quantities lie along; 0 where each stands by itself */
  idm_series_axis *axis;
  size_t series_count;
  idm_series *series;
  size_t prior_draws;      /* 0 where a prior is improper */
  double *prior;           /* [number][prior draw] */
  idm_optimality *finding; /* of an answer that does not go by the likelihood; NULL elsewhere */
  struct idm_likelihood_table *table; /* that stood in for planning, for whoever assesses the draws;
                              NULL: nothing did, or they come from a file */
} idm_posterior;

IDM_API void idm_posterior_destroy(idm_posterior *posterior);
/* Which series a quantity is of, or their number where it stands by itself. */
IDM_API size_t idm_posterior_series(const idm_posterior *posterior, size_t quantity);
/* The axis of that name, or the number of axes. */
IDM_API size_t idm_posterior_axis(const idm_posterior *posterior, const char *name);
/* Numbers over all quantities, and over all coordinates. */
IDM_API size_t idm_posterior_numbers(const idm_posterior *posterior);
IDM_API size_t idm_posterior_dimension(const idm_posterior *posterior);

/* theta at one draw of the answer; IDM_INPUT where the posterior's coordinates are not those of the
 * problem. */
IDM_API idm_status idm_posterior_theta(const idm_posterior *posterior,
                                       const idm_parameters *parameters, size_t chain, size_t draw,
                                       idm_theta *theta, idm_error *opt_error);
/* theta at the centre of the answer (see idm_posterior_centre); the same. */
IDM_API idm_status idm_posterior_central_theta(const idm_posterior *posterior,
                                               const idm_parameters *parameters, idm_theta *theta,
                                               idm_error *opt_error);
/* The mean of the unconstrained coordinates over all draws; with a central set of learnt dynamics
 * that is a draw of them (idm_dynamics_sets.of), over the draws of that set. */
IDM_API void idm_posterior_centre(const idm_posterior *posterior, double *y);

/* Room for sets of learnt dynamics. */
IDM_API idm_status idm_dynamics_sets_create(size_t sets, size_t numbers,
                                            idm_dynamics_sets **ret_drawn, idm_error *opt_error);
IDM_API void idm_dynamics_sets_destroy(idm_dynamics_sets *drawn);
/* Put the learnt dynamics of a draw, counted over all chains, or the central ones into a problem.
 * Without learnt dynamics nothing changes; IDM_INPUT where they are of another problem. */
IDM_API idm_status idm_dynamics_sets_apply(const idm_posterior *posterior, size_t draw,
                                           idm_problem *problem, idm_error *opt_error);
IDM_API idm_status idm_dynamics_apply_central(const idm_posterior *posterior, idm_problem *problem,
                                              idm_error *opt_error);
/* The agent of a draw, counted over all chains: its theta and its learnt dynamics. */
IDM_API idm_status idm_posterior_agent(const idm_posterior *posterior,
                                       const idm_parameters *parameters, size_t draw,
                                       idm_problem *problem, idm_error *opt_error);
/* The draw of highest density, counted over all chains. */
IDM_API size_t idm_posterior_highest(const idm_posterior *posterior);
/* A sentence that names the learnt dynamics in which something is planned; empty where these are
 * the problem's own. */
IDM_API const char *idm_dynamics_sets_describe(const idm_posterior *opt_posterior,
                                               idm_dynamics_use use, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
