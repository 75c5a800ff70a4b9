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

#include "base/clock.h"
#include "base/journal.h"
#include "idm/cut.h"
#include "idm/data.h"
#include "idm/people.h"
#include "idm/settings.h"
#include "invert/grid.h"
#include "invert/matching/fit.h"
#include "invert/matching/start.h"

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
  start *found;      /* its mode, which plans start from */
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

/* Dynamics that are drawn together with the decisions; all is borrowed. */
typedef struct audit_joint {
  const idm_problem *problem;
  const idm_cuts *cut;
  const idm_iohmm *learner; /* of the observations of the whole log */
} audit_joint;

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
  bool learnt;   /* cells are seen in draws of learnt dynamics, not in those of the problem */
  const audit_joint
      *joint;   /* dynamics are drawn with the decisions (joint.h); NULL: they are given */
  bool exact;   /* every draw is accepted by the likelihoods themselves, whatever the grids say */
  uint64_t key; /* of its random streams */
  idm_moment began; /* when it was begun with */
} audit_model;

/* Agents of all wards, or of those before one. */
static inline size_t idm_audit_agents(const audit_model *model, size_t wards)
{
  size_t count = 0;
  for (size_t w = 0; w < wards; w++) count += model->ward[w].design->people;
  return count;
}

/* Draws of a model: all but log_likelihood in the order [coordinate][chain][draw]. */
typedef struct audit_draws {
  size_t chains;
  size_t draws;
  double *mean;           /* mu */
  double *sd;             /* tau */
  double *effect;         /* [effect]: e */
  double *cell;           /* [cell]: x */
  double *within;         /* [cell]: sd of its agents; NULL where they are not nested */
  double *agent;          /* [agent], one ward after the other: their numbers; NULL the same */
  double *log_likelihood; /* [cell][chain][draw]; 0 where dynamics are drawn with the decisions */
  idm_joint_dynamics *dynamics; /* drawn with the decisions; else NULL */
} audit_draws;

/* Steps of an audit in its journal. */
typedef enum audit_step {
  AUDIT_STEP_OPEN,   /* of a cell */
  AUDIT_STEP_REFINE, /* of a cell: a finer grid */
  AUDIT_STEP_LEARN,  /* of a cell: its own dynamics */
  AUDIT_STEP_SAMPLE,
} audit_step;

/* The number of a step: `way` counts draws of the dynamics over the whole audit, `index` is of the
 * cell, or counts samples. */
static inline uint64_t idm_audit_step(audit_step step, size_t way, size_t index)
{
  return (uint64_t)step << 60 | (uint64_t)way << 32 | (uint64_t)index;
}

/* Watches, as idm_fit_watch does, with the share of the draws made. */
typedef struct audit_watch {
  const idm_fit_watch *opt_watch;
  idm_journal *journal; /* of the whole audit */
  size_t way;           /* of the whole audit: numbers steps */
  double from;          /* share of the whole that is done when it begins, */
  double to;            /* and when it ends */
} audit_watch;

#endif
