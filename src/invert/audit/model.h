/* The model of an audit, whatever the groups are: cells of patients that share one vector of free
 * numbers, and effects that cells share.
 *
 * In the coordinates of the scales cell c has x_c = mu + sum_k Z_ck e_k with e_k ~ normal(0, tau),
 * mu ~ normal(M, s) and tau ~ halfnormal(s/2), each coordinate by itself, normal(M, s) being the
 * prior of the block. For a partition Z is the identity, so that x_g ~ normal(mu, tau); for
 * predicates cells are the patterns of joint membership, and Z says which predicates a cell meets.
 * Without pooling mu = M and tau = s are held, which makes cells independent where Z is the
 * identity. Where agents are nested in cells, x_c is what the numbers of its agents are normal
 * around. */
#ifndef IDM_INVERT_AUDIT_MODEL_H
#define IDM_INVERT_AUDIT_MODEL_H

#include <stdatomic.h>

#include "idm/cut.h"
#include "idm/data.h"
#include "idm/people.h"
#include "idm/settings.h"
#include "invert/grid.h"
#include "invert/matching/fit.h"

/* People who share one vector of free numbers. */
typedef struct audit_cell {
  const idm_problem *problem; /* borrowed: that of all, or `moved` */
  idm_problem *moved;         /* with other dynamics; NULL where they are those of all */
  idm_dynamics_draws own;     /* dynamics learnt from its own log; none: not asked for */
  idm_data *data;
  uint32_t *from;    /* [trajectory of data]: that of the whole log */
  double cases;      /* how many it counts for: trajectories or, where they are nested, agents */
  fit f;             /* one matching a chain */
  double *precision; /* [dimension][dimension], and */
  double *pull;      /* [dimension]: log L(x) is about pull' x - x' precision x / 2 */
  double *told;      /* [dimension][dimension]: what its log adds to the prior's precision, by the
                        moments of its grid; without one the same as `precision` */
  double *apart;     /* the same of agents who are nested in it, the sum of what each tells by the
                        curvature where it is; NULL: none are. That takes in how they vary, and
                        takes a likelihood that levels off for one that does not; `told` is the
                        other way round, and what is known is the less of both */
  double *start;     /* [chain][dimension] */
  idm_grid *grid;    /* of its log-likelihood; NULL: none, and every look is exact */
  double low[IDM_GRID_DIMENSIONS]; /* where the grid lies */
  double high[IDM_GRID_DIMENSIONS];
  double base;      /* about its largest value */
  double elsewhere; /* the largest log-likelihood found far from the prior, and */
  double *place;    /* [dimension]: where */
} audit_cell;

/* Agents who are fitted together. */
typedef struct audit_ward {
  idm_data *data;
  idm_design *design;
  uint32_t *cell; /* [person] */
} audit_ward;

typedef struct audit_model {
  const idm_fit_settings *settings; /* borrowed */
  bool pooled;
  bool partition; /* share is the identity */
  size_t dimension;
  size_t cells;
  size_t effects;
  audit_cell *cell;
  size_t wards; /* 0: a cell shares one vector of free numbers; else agents are nested in cells */
  audit_ward *ward;
  double *share; /* Z: [cell][effect], 0 or 1 */
  double *mean;  /* [dimension]: M */
  double *sd;    /* [dimension]: s */
  bool exact;    /* every draw is accepted by the likelihoods themselves, whatever the grids say */
  uint64_t key;  /* of its random streams */
} audit_model;

/* Draws of a model: all but log_likelihood in the order [coordinate][chain][draw]. */
typedef struct audit_draws {
  size_t chains;
  size_t draws;
  double *mean;           /* mu */
  double *sd;             /* tau */
  double *effect;         /* [effect]: e */
  double *cell;           /* [cell]: x */
  double *within;         /* [cell]: sd of its agents; NULL where they are not nested */
  double *log_likelihood; /* [cell][chain][draw] */
  double acceptance;      /* of all moves of effects */
} audit_draws;

/* The free numbers as idm_parameters orders them: IDM_INPUT where one has a prior that is not
 * normal, or a coordinate that is bounded. mean, sd: [dimension]. */
idm_status idm_audit_priors(const idm_parameters *parameters, double *mean, double *sd,
                            idm_error *opt_error);
/* Open a cell whose problem and data are set: mode, normal approximation, grid and starting points.
 * IDM_UNTRUSTED where opt_stop becomes true. */
idm_status idm_audit_cell_open(audit_cell *cell, const idm_fit_settings *settings,
                               const double *mean, const double *sd, const atomic_bool *opt_stop,
                               idm_error *opt_error);
/* Back to a cell that is not open, and may be again. */
void idm_audit_cell_shut(audit_cell *cell);
/* The same, and free problem and data of its own. */
void idm_audit_cell_close(audit_cell *cell);

/* Watches, as idm_fit_watch does, with the share of the draws made. */
typedef struct audit_watch {
  const idm_fit_watch *opt_watch;
  double from; /* share of the whole that is done when it begins, */
  double to;   /* and when it ends */
} audit_watch;

/* Tell it that a share of its part is done; true where it is to stop. */
bool idm_audit_watched(const audit_watch *watch, double share);

/* Draws, with s and tau's scale multiplied by `scale` and random streams by `stream`; the same at
 * any thread count. IDM_UNTRUSTED where it was stopped. */
idm_status idm_audit_sample(const audit_model *model, double scale, uint64_t stream,
                            const audit_watch *watch, audit_draws *draws, idm_error *opt_error);
/* Room for them. */
idm_status idm_audit_draws_create(const audit_model *model, audit_draws *draws,
                                  idm_error *opt_error);
void idm_audit_draws_clear(audit_draws *draws);

#endif
