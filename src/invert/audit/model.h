/* The model of an audit: cells, effects, draws.
 *
 * Contents: model · words · spread · draws · sample · cell · dynamics · nest · crowd · tabulate */
#ifndef IDM_INVERT_AUDIT_MODEL_H
#define IDM_INVERT_AUDIT_MODEL_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/record.h"
#include "base/system.h"
#include "idm/assess.h"
#include "idm/audit.h"
#include "idm/cut.h"
#include "idm/data.h"
#include "idm/learn.h"
#include "idm/people.h"
#include "idm/random.h"
#include "idm/settings.h"
#include "invert/assess/residual.h"
#include "invert/grid.h"
#include "invert/matching/fit.h"

/* === model ================================================================================== */

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

/* People who share one vector of free numbers. */
typedef struct audit_cell {
  const idm_problem *problem; /* borrowed: that of all, or `moved` */
  idm_problem *modified;      /* with other dynamics; NULL where they are those of all */
  idm_dynamics_draws own;     /* dynamics learnt from its own log; none: not asked for */
  idm_data *data;
  uint32_t *from;      /* [trajectory of data]: that of the whole log */
  double cases;        /* how many it counts for: trajectories or, where they are nested, agents */
  fit_context f;       /* one matching a chain */
  double *precision;   /* [dimension][dimension], and */
  double *linear_term; /* [dimension]: log L(x) is about pull' x - x' precision x / 2 */
  double *information; /* [dimension][dimension]: what its log adds to the prior's precision, by the
                   moments of its grid; without one the same as `precision` */
  double *agent_information; /* the same of agents who are nested in it, the sum of what each tells
                    by the curvature where it is; NULL: none are. That takes in how they vary, and
                    takes a likelihood that levels off for one that does not; `told` is the
                    other way round, and what is known is the less of both */
  double *start;             /* [chain][dimension] */
  chain_start *found;        /* its mode, which plans start from */
  idm_grid *grid;            /* of its log-likelihood; NULL: none, and every look is exact */
  double low[IDM_GRID_DIMENSIONS]; /* where the grid lies */
  double high[IDM_GRID_DIMENSIONS];
  double base;                   /* about its largest value */
  double distant_log_likelihood; /* the largest log-likelihood found far from the prior, and */
  double *distant_point;         /* [dimension]: where */
} audit_cell;

/* Agents who are fitted together. */
typedef struct audit_cohort {
  idm_data *data;
  idm_design *design;
  uint32_t *cell; /* [person] */
} audit_cohort;

/* Dynamics that are drawn together with the decisions; all is borrowed. */
typedef struct audit_joint {
  const idm_problem *problem;
  const idm_cut_draws *cut;
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
  size_t cohorts; /* 0: a cell shares one vector of free numbers; else agents are nested in cells */
  audit_cohort *cohort;
  double *share; /* Z: [cell][effect], 0 or 1 */
  double *mean;  /* [dimension]: M */
  double *sd;    /* [dimension]: s */
  bool learnt;   /* cells are seen in draws of learnt dynamics, not in those of the problem */
  const audit_joint *joint; /* dynamics are drawn with the decisions (invert/joint/joint.h); NULL:
                               they are given */
  bool exact;   /* every draw is accepted by the likelihoods themselves, whatever the grids say */
  uint64_t key; /* of its random streams */
  idm_timestamp began; /* when it was begun with */
} audit_model;

/* Agents of all wards, or of those before one. */
static inline size_t idm_audit_agents(const audit_model *model, size_t cohorts)
{
  size_t count = 0;
  for (size_t w = 0; w < cohorts; w++) count += model->cohort[w].design->people;
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
static inline uint64_t idm_audit_step(audit_step step, size_t dynamics_index, size_t index)
{
  return (uint64_t)step << 60 | (uint64_t)dynamics_index << 32 | (uint64_t)index;
}

/* Watches, as idm_fit_monitor does, with the share of the draws made. */
typedef struct audit_watch {
  const idm_fit_monitor *opt_monitor;
  idm_journal *journal;  /* of the whole audit */
  size_t dynamics_index; /* of the whole audit: numbers steps */
  double from;           /* share of the whole that is done when it begins, */
  double to;             /* and when it ends */
} audit_watch;

/* === words ================================================================================== */

/* Words of an audit, for the table of its keys and for its groups. */

/* What idm_pool and idm_audit_dynamics are called. */
extern const char *const idm_audit_pool_words[];
extern const char *const idm_audit_dynamics_words[];

/* What everybody is called beside the groups, and those whom a group is compared with. */
#define IDM_AUDIT_ALL  "all"
#define IDM_AUDIT_REST "rest"

/* Every pair of a partition is compared up to so many groups; beyond, each with the rest. */
enum { IDM_AUDIT_MAX_PAIRED = 10 };

/* Draws of the dynamics that the model is looked at in where it does not fit in their mean. */
enum { IDM_AUDIT_ASSESSED_DRAWS = 4 };

/* === spread ================================================================================= */

/* Effects with a common spread, which is integrated out: e_k ~ normal(0, tau), k < K, with
 * tau ~ halfnormal(scale). */

/* Log of the integral over tau of halfnormal(tau) prod_k normal(e_k; 0, tau), up to a constant that
 * depends on `count` alone; `squares` is sum_k e_k^2. -inf where it is not finite. */
double idm_spread_log_prior(double squares, size_t count, double scale);
/* A draw of tau given the effects. */
double idm_spread_draw(double squares, size_t count, double scale, idm_random *random);

/* Levels that effects are added to a common mean to give: level_k = mu + e_k with
 * mu ~ normal(mean, sd). */
typedef struct idm_spread_levels {
  size_t count;   /* K, at least 2 */
  double average; /* of the levels */
  double squares; /* sum over levels of squared distances from the average */
  double mean;
  double sd;
  double scale; /* of tau */
} idm_spread_levels;

/* A draw of mu and tau given the levels alone; NaN where these are all the same. */
void idm_spread_draw_population(const idm_spread_levels *levels, idm_random *random,
                                double *ret_mean, double *ret_spread);

/* === draws ================================================================================== */

/* Draws of an audit: room for them, and who watches. */

/* Report that a share of its part is done, with the work under way in a step of the journal; true
 * where it is to stop. */
bool idm_audit_report_progress(const audit_watch *watch, double share, uint64_t step,
                               const idm_progress_state *opt_work);
/* Draws there or back. */
void idm_audit_draws_pass(const audit_model *model, audit_draws *draws, idm_record *record);
/* Room for them. */
idm_status idm_audit_draws_create(const audit_model *model, audit_draws *draws,
                                  idm_error *opt_error);
void idm_audit_draws_clear(audit_draws *draws);

/* === sample ================================================================================= */

/* Draws of an audit, by chains. */

/* Draws, with s and tau's scale multiplied by `scale` and random streams by `stream`; the same at
 * any thread count. IDM_UNTRUSTED where it was stopped. */
idm_status idm_audit_sample(const audit_model *model, double scale, uint64_t stream,
                            const audit_watch *watch, audit_draws *draws, idm_error *opt_error);

/* === cell =================================================================================== */

/* A cell of an audit: its mode, its grid and where chains start. */

/* The free numbers as idm_parameters orders them: IDM_INPUT where one has a prior that is not
 * normal, or a coordinate that is bounded. mean, sd: [dimension]. */
idm_status idm_audit_priors(const idm_parameters *parameters, double *mean, double *sd,
                            idm_error *opt_error);
/* Open a cell whose problem and data are set: mode, normal approximation, grid and starting points.
 * IDM_UNTRUSTED where opt_stop becomes true. */
idm_status idm_audit_cell_open(audit_cell *cell, const idm_fit_settings *settings,
                               const double *mean, const double *sd, const atomic_bool *opt_stop,
                               idm_error *opt_error);
/* The result of opening, or of a finer grid: into a record, or from one into a cell whose problem
 * and data are set. IDM_INPUT where the record does not fit. */
void idm_audit_cell_write(const audit_cell *cell, size_t chains, idm_record *record);
idm_status idm_audit_cell_read(audit_cell *cell, const idm_fit_settings *settings,
                               idm_record *record, idm_error *opt_error);
/* Back to a cell that is not open, and may be again. */
void idm_audit_cell_reset(audit_cell *cell);
/* The same, and free problem and data of its own. */
void idm_audit_cell_close(audit_cell *cell);

/* === dynamics =============================================================================== */

/* Dynamics of a cell's own, learnt from its log. */

/* Start, transitions and emissions given a log: the best that Baum and Welch's steps reach from
 * dispersed starts, the problem's own among them, or, with `drawn`, draws around their modes. */
idm_status idm_audit_learn_dynamics(const idm_problem *problem, const idm_data *data, bool drawn,
                                    uint64_t seed, idm_dynamics_draws *draws, idm_error *opt_error);
/* The check higher-mode of the draws of all cells. An audit that fails it is not trusted. */
idm_status idm_audit_learn_check(const audit_model *model, idm_audit *audit, idm_error *opt_error);
/* Such dynamics into a record, and back. */
void idm_audit_learn_write(const idm_dynamics_draws *draws, idm_record *record);
idm_status idm_audit_learn_read(idm_record *record, idm_dynamics_draws *draws,
                                idm_error *opt_error);

/* === nest =================================================================================== */

/* Agents nested in groups: each has numbers of its own, normal around those of its cell. */

/* Divide the agents of a model whose cells have problem and data into wards: one where cells are
 * pooled, else one a cell. IDM_INPUT names an agent who is in several cells, or the group that is
 * one agent with nobody to be pooled with. */
idm_status idm_audit_nest(const idm_problem *problem, const idm_data *data,
                          const idm_groups *groups, audit_model *model, idm_error *opt_error);
void idm_audit_cohorts_clear(audit_model *model);

/* The part of idm_audit_sample that is of one ward, with what its agents say of their cells (apart)
 * where scale is 1. `step` is of the journal; *stopped: the watch has stopped it. */
idm_status idm_audit_nest_sample(const audit_model *model, double scale,
                                 const audit_watch *opt_monitor, uint64_t step, size_t cohort,
                                 bool *stopped, audit_draws *draws, idm_error *opt_error);
/* What its agents say of their cells, there or back. */
idm_status idm_audit_nest_pass(const audit_model *model, size_t cohort, double scale,
                               idm_record *record, idm_error *opt_error);
/* As idm_audit_inspect, of agents with numbers of their own. */
idm_status idm_audit_nest_inspect(const audit_model *model, const audit_draws *draws, size_t among,
                                  idm_assessment *assessment, idm_error *opt_error);

/* === crowd ================================================================================== */

/* Agents nested in one cell of an audit, as strata: each has numbers of its own. */

typedef struct cell_agents {
  idm_design design; /* an effect per number, and one cell per agent */
  idm_people people; /* their numbers alone */
  strata strata;
} cell_agents;

/* The strata refer to the crowd, which must not be copied. Model and draws are borrowed.
 * idm_cell_agents_close accepts a crowd that was set to 0. */
idm_status idm_cell_agents_open(cell_agents *c, const audit_model *model, const audit_draws *draws,
                                size_t cell, idm_error *opt_error);
void idm_cell_agents_close(cell_agents *c);

/* === tabulate =============================================================================== */

/* Grids in place of cells' likelihoods: where they lie, and how far off they are. */

/* Give an open cell a grid around its mode, as wide as its log-likelihood and a prior of twice the
 * scale let anybody go; none where it has too many free numbers. IDM_UNTRUSTED where opt_stop
 * becomes true. */
idm_status idm_audit_tabulate(audit_cell *cell, const chain_start *found, const double *mean,
                              const double *sd, const atomic_bool *opt_stop, idm_error *opt_error);
/* A finer grid in the same place. */
idm_status idm_audit_refine(audit_cell *cell, const double *mean, const double *sd,
                            const atomic_bool *opt_stop, idm_error *opt_error);
/* Covariance of a cell's numbers under its prior and its grid: [dimension][dimension]. */
idm_status idm_audit_moments(const audit_cell *cell, const double *mean, const double *sd,
                             double *covariance, idm_error *opt_error);
/* A place a chain, x[chain][dimension], as far apart as prior and grid go, in order of the first
 * coordinate: in every mode that is worth one, so that chains which cannot leave theirs disagree.
 */
idm_status idm_audit_disperse(const audit_cell *cell, const double *mean, const double *sd,
                              size_t chains, double *x, idm_error *opt_error);
/* The log-likelihood of a cell by its grid; beyond, it falls as the normal approximation does. */
double idm_audit_grid_likelihood(const audit_cell *cell, size_t dimension, const double *x);
/* The sd over draws of what the grids of all cells are off by together, in nats, from a sample of
 * the draws. No posterior mean is moved by more than that share of its sd (Cauchy and Schwarz).
 * 0 without grids; inf where a draw is impossible. */
idm_status idm_audit_grid_error(const audit_model *model, const audit_draws *draws,
                                double *ret_error, idm_error *opt_error);

#endif
