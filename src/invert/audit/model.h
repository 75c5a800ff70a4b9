/* Model of an audit: cells, effects and their posterior draws.
 *
 * Contents: model · words · spread · draws · sample · cell · dynamics · nested agents · agents of a
 * cell · tabulate */
#ifndef IDM_INVERT_AUDIT_MODEL_H
#define IDM_INVERT_AUDIT_MODEL_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/record.h"
#include "base/system.h"
#include "idm/extension/data.h"
#include "idm/extension/fit_settings.h"
#include "idm/extension/random.h"
#include "invert/assess.h"
#include "invert/assess/residual.h"
#include "invert/audit.h"
#include "invert/cut.h"
#include "invert/matching.h"
#include "invert/matching/fit.h"
#include "invert/people.h"
#include "learn/iohmm.h"

/* === model ================================================================================== */

/* Model of an audit: cells of people who share one vector of free numbers, and effects that cells
 * share (docs/method/audit.md, 1).
 *
 * In scaled coordinates, cell c has x_c = mu + sum_k Z_ck e_k with e_k ~ normal(0, tau), mu ~
 * normal(M, s) and tau ~ halfnormal(s/2), independently per coordinate, where normal(M, s) is the
 * prior of the block. For a partition, Z is the identity, so that x_g ~ normal(mu, tau). For
 * predicates, cells are the patterns of joint membership, and Z_ck is 1 if cell c satisfies
 * predicate k. Without pooling, mu = M and tau = s are fixed, and cells are independent if Z is the
 * identity. If agents are nested in cells, the numbers of the agents of cell c are normal with mean
 * x_c. */

/* Trajectories whose agents share one vector of free numbers. */
typedef struct audit_cell {
  const idm_problem *problem; /* borrowed: the problem of all cells, or `modified` */
  idm_problem *modified;      /* with the dynamics of this cell; NULL: those of all cells */
  idm_dynamics_draws own;     /* dynamics learnt from the cell's log; empty: not requested */
  idm_data *data;
  uint32_t *from;      /* [trajectory of data]: index in the whole log */
  double cases;        /* weight: number of trajectories or, if agents are nested, of agents */
  fit_context f;       /* one matching object per chain */
  double *precision;   /* [dimension][dimension]: P */
  double *linear_term; /* [dimension]: h, with log L(x) approximately h'x - x'Px/2 */
  double *information; /* [dimension][dimension]: posterior precision less prior precision, by the
                          moments of the grid; without a grid, equal to `precision` */
  double *agent_information; /* [dimension][dimension]: sum over nested agents of (Sigma + H^-1)^-1
                                (idm_people.information); NULL: no agents are nested. It includes
                                the variation between agents but treats each log-likelihood as
                                quadratic; `information` includes flat tails but no variation. The
                                smaller of the two is used */
  double *start;             /* [chain][dimension] */
  chain_start *found;        /* mode; plans start from its solution */
  idm_grid *grid;            /* table of the log-likelihood; NULL: every evaluation is exact */
  double low[IDM_GRID_DIMENSIONS]; /* ends of the grid */
  double high[IDM_GRID_DIMENSIONS];
  double base;                   /* approximate maximum of the log-likelihood */
  double distant_log_likelihood; /* largest log-likelihood found far from the prior mean */
  double *distant_point;         /* [dimension]: where it was found */
} audit_cell;

/* Agents that are fitted together. */
typedef struct audit_cohort {
  idm_data *data;
  idm_design *design;
  uint32_t *cell; /* [person]: cell of the model */
} audit_cohort;

/* Dynamics that are sampled together with the free numbers. All pointers are borrowed. */
typedef struct audit_joint {
  const idm_problem *problem;
  const idm_cut_draws *cut;
  const idm_iohmm *learner; /* model of the observations of the whole log */
} audit_joint;

typedef struct audit_model {
  const idm_fit_settings *settings; /* borrowed */
  bool pooled;
  bool partition; /* Z is the identity */
  size_t dimension;
  size_t cells;
  size_t effects;
  audit_cell *cell;
  size_t cohorts; /* 0: agents of a cell share one vector of free numbers; otherwise agents are
                     nested in cells */
  audit_cohort *cohort;
  double *share; /* Z: [cell][effect], 0 or 1 */
  double *mean;  /* [dimension]: M */
  double *sd;    /* [dimension]: s */
  bool learnt;   /* cells are evaluated in learnt dynamics, not in those of the problem */
  const audit_joint
      *joint;   /* dynamics are sampled jointly (invert/joint/joint.h); NULL: dynamics are given */
  bool exact;   /* accept every draw by the exact likelihood, not by the grids */
  uint64_t key; /* key of the random streams */
  idm_timestamp began; /* start time, for the time limit of the checks */
} audit_model;

/* Number of agents in the first `cohorts` cohorts. */
static inline size_t idm_audit_agents(const audit_model *model, size_t cohorts)
{
  size_t count = 0;
  for (size_t w = 0; w < cohorts; w++) count += model->cohort[w].design->people;
  return count;
}

/* Posterior draws of a model, in the order [coordinate][chain][draw] except log_likelihood. */
typedef struct audit_draws {
  size_t chains;
  size_t draws;
  double *mean;           /* mu */
  double *sd;             /* tau */
  double *effect;         /* [effect]: e */
  double *cell;           /* [cell]: x */
  double *within;         /* [cell]: sd of its agents; NULL: agents are not nested */
  double *agent;          /* [agent], cohort by cohort: free numbers; NULL: agents are not nested */
  double *log_likelihood; /* [cell][chain][draw]; 0 if dynamics are sampled jointly */
  idm_joint_dynamics *dynamics; /* jointly sampled dynamics; otherwise NULL */
} audit_draws;

/* Kinds of steps in the journal of an audit. */
typedef enum audit_step {
  AUDIT_STEP_OPEN,   /* open a cell */
  AUDIT_STEP_REFINE, /* build a finer grid of a cell */
  AUDIT_STEP_LEARN,  /* learn the dynamics of a cell */
  AUDIT_STEP_SAMPLE,
} audit_step;

/* Journal key of a step. `dynamics_index` numbers the draws of the dynamics over the whole audit;
 * `index` is the cell, or numbers the calls of the sampler. */
static inline uint64_t idm_audit_step(audit_step step, size_t dynamics_index, size_t index)
{
  return (uint64_t)step << 60 | (uint64_t)dynamics_index << 32 | (uint64_t)index;
}

/* Progress monitor of one part of an audit. */
typedef struct audit_watch {
  const idm_fit_monitor *opt_monitor;
  idm_journal *journal;  /* journal of the whole audit */
  size_t dynamics_index; /* first index of this part, for idm_audit_step */
  double from;           /* fraction of the audit done at the start of this part */
  double to;             /* and at its end */
} audit_watch;

/* === words ================================================================================== */

/* Names of options and of groups. */

/* Names of the values of idm_pool and idm_audit_dynamics. */
extern const char *const idm_audit_pool_words[];
extern const char *const idm_audit_dynamics_words[];

/* Reserved names: all people, and the complement of a group. */
#define IDM_AUDIT_ALL  "all"
#define IDM_AUDIT_REST "rest"

/* Largest number of groups for which all pairs are compared; above it, each group is compared with
 * the rest. */
enum { IDM_AUDIT_MAX_PAIRED = 10 };

/* Largest number of draws of the dynamics in which the fit of the model is assessed, if the model
 * does not fit in their mean. */
enum { IDM_AUDIT_ASSESSED_DRAWS = 4 };

/* === spread ================================================================================= */

/* Effects with a common sd that is integrated out: e_k ~ normal(0, tau), k < K, with tau ~
 * halfnormal(scale). */

/* Return the log of the integral over tau of halfnormal(tau) prod_k normal(e_k; 0, tau), up to a
 * constant that depends on `count` only. `squares` is sum_k e_k^2. -inf if the integral is not
 * finite. */
double idm_spread_log_prior(double squares, size_t count, double scale);
/* Draw tau given the effects. NaN if `squares` is not positive and finite. */
double idm_spread_draw(double squares, size_t count, double scale, idm_random *random);

/* Levels of cells with one effect each: level_k = mu + e_k with mu ~ normal(mean, sd). */
typedef struct idm_spread_levels {
  size_t count;   /* K, at least 2 */
  double average; /* mean of the levels */
  double squares; /* sum of squared deviations from the average */
  double mean;
  double sd;
  double scale; /* scale of tau */
} idm_spread_levels;

/* Draw mu and tau given the levels, with the effects integrated out. NaN if all levels are equal.
 */
void idm_spread_draw_population(const idm_spread_levels *levels, idm_random *random,
                                double *ret_mean, double *ret_spread);

/* === draws ================================================================================== */

/* Memory of posterior draws, and progress reports. */

/* Report that the fraction `share` of a part is done. opt_work: state of the journal step in
 * progress. Returns true if the caller must stop. */
bool idm_audit_report_progress(const audit_watch *watch, double share, uint64_t step,
                               const idm_progress_state *opt_work);
/* Write draws to a record, or read them from it. */
void idm_audit_draws_pass(const audit_model *model, audit_draws *draws, idm_record *record);
/* Allocate draws. */
idm_status idm_audit_draws_create(const audit_model *model, audit_draws *draws,
                                  idm_error *opt_error);
void idm_audit_draws_clear(audit_draws *draws);

/* === sample ================================================================================= */

/* Posterior draws of an audit by Markov chains. */

/* Sample the posterior, with s and the scale of tau multiplied by `scale` and the random streams
 * offset by `stream`. The result does not depend on the number of threads. IDM_UNTRUSTED if the
 * watch stops it. */
idm_status idm_audit_sample(const audit_model *model, double scale, uint64_t stream,
                            const audit_watch *watch, audit_draws *draws, idm_error *opt_error);

/* === cell =================================================================================== */

/* A cell of an audit: its mode, its grid and the starting points of its chains. */

/* Prior mean and sd of the free numbers, in the order of idm_parameters. mean, sd: [dimension].
 * IDM_INPUT if a prior is not normal or a coordinate is bounded. */
idm_status idm_audit_priors(const idm_parameters *parameters, double *mean, double *sd,
                            idm_error *opt_error);
/* Open a cell whose problem and data are set: find its mode, normal approximation, grid and
 * starting points. IDM_UNTRUSTED if opt_stop becomes true. */
idm_status idm_audit_cell_open(audit_cell *cell, const idm_fit_settings *settings,
                               const double *mean, const double *sd, const atomic_bool *opt_stop,
                               idm_error *opt_error);
/* Write an open cell to a record, or read it into a cell whose problem and data are set. IDM_INPUT
 * if the record does not match. */
void idm_audit_cell_write(const audit_cell *cell, size_t chains, idm_record *record);
idm_status idm_audit_cell_read(audit_cell *cell, const idm_fit_settings *settings,
                               idm_record *record, idm_error *opt_error);
/* Free what opening created; the cell can be opened again. */
void idm_audit_cell_reset(audit_cell *cell);
/* Reset the cell, and free its problem and data. */
void idm_audit_cell_close(audit_cell *cell);

/* === dynamics =============================================================================== */

/* Dynamics learnt from the log of one cell (docs/method/audit.md, 3). */

/* Learn start, transition and emission probabilities from a log. Without `drawn`, *draws is one
 * point: the best local maximum that expectation maximisation (Baum-Welch) reaches from dispersed
 * starts and from the dynamics of the problem. With `drawn`, it contains draws around the modes. */
idm_status idm_audit_learn_dynamics(const idm_problem *problem, const idm_data *data, bool drawn,
                                    uint64_t seed, idm_dynamics_draws *draws, idm_error *opt_error);
/* Run the check higher-mode on the learnt dynamics of all cells. An audit that fails it is not
 * trusted. */
idm_status idm_audit_learn_check(const audit_model *model, idm_audit *audit, idm_error *opt_error);
/* Write learnt dynamics to a record, or read them from it. */
void idm_audit_learn_write(const idm_dynamics_draws *draws, idm_record *record);
idm_status idm_audit_learn_read(idm_record *record, idm_dynamics_draws *draws,
                                idm_error *opt_error);

/* === nested agents ========================================================================== */

/* Agents nested in groups: each agent has its own free numbers, normal around those of its cell. */

/* Divide the agents of a model, whose cells have problem and data, into cohorts: one cohort if
 * cells are pooled, otherwise one per cell. IDM_INPUT names an agent that belongs to several cells,
 * or a group of one agent that is not pooled with others. */
idm_status idm_audit_nest(const idm_problem *problem, const idm_data *data,
                          const idm_groups *groups, audit_model *model, idm_error *opt_error);
void idm_audit_cohorts_clear(audit_model *model);

/* Sample one cohort, as part of idm_audit_sample. If scale is 1, also store the information of its
 * agents in their cells. `step` is the journal key. *stopped is true if the watch stopped the
 * sampler. */
idm_status idm_audit_nest_sample(const audit_model *model, double scale,
                                 const audit_watch *opt_monitor, uint64_t step, size_t cohort,
                                 bool *stopped, audit_draws *draws, idm_error *opt_error);
/* Write the information of a cohort's agents to a record, or read it from it. No effect unless
 * scale is 1. */
idm_status idm_audit_nest_pass(const audit_model *model, size_t cohort, double scale,
                               idm_record *record, idm_error *opt_error);
/* idm_audit_check_models for agents with their own free numbers. */
idm_status idm_audit_nest_check(const audit_model *model, const audit_draws *draws, size_t among,
                                idm_assessment *assessment, idm_error *opt_error);

/* === agents of a cell ======================================================================= */

/* Agents nested in one cell of an audit, as strata of the cell's log. */

typedef struct cell_agents {
  idm_design design; /* one effect per free number, one cell per agent */
  idm_people people; /* draws of the agents' numbers only */
  strata strata;
} cell_agents;

/* `strata` points into the object, which must not be copied. Model and draws are borrowed.
 * idm_cell_agents_close accepts an object set to 0. */
idm_status idm_cell_agents_open(cell_agents *c, const audit_model *model, const audit_draws *draws,
                                size_t cell, idm_error *opt_error);
void idm_cell_agents_close(cell_agents *c);

/* === tabulate =============================================================================== */

/* Grids that replace the likelihoods of cells: their extent, and their approximation error. */

/* Build a grid around the mode of an open cell. It covers the region in which the log-likelihood
 * plus the log of a prior of twice the scale is within 20 nats of the mode. No grid is built for
 * more than IDM_GRID_DIMENSIONS free numbers. IDM_UNTRUSTED if opt_stop becomes true. */
idm_status idm_audit_tabulate(audit_cell *cell, const chain_start *found, const double *mean,
                              const double *sd, const atomic_bool *opt_stop, idm_error *opt_error);
/* Replace the grid by a finer one over the same box. */
idm_status idm_audit_refine(audit_cell *cell, const double *mean, const double *sd,
                            const atomic_bool *opt_stop, idm_error *opt_error);
/* Posterior covariance of a cell's numbers under its prior and its grid: [dimension][dimension]. */
idm_status idm_audit_moments(const audit_cell *cell, const double *mean, const double *sd,
                             double *covariance, idm_error *opt_error);
/* Overdispersed starting points, one per chain: x[chain][dimension]. They are systematic draws from
 * the tempered density of prior and grid, ordered by the first coordinate, so that every mode of
 * appreciable mass gets a chain and chains that cannot leave their modes disagree. */
idm_status idm_audit_disperse(const audit_cell *cell, const double *mean, const double *sd,
                              size_t chains, double *x, idm_error *opt_error);
/* Log-likelihood of a cell interpolated on its grid; outside the grid it falls as the normal
 * approximation does. */
double idm_audit_grid_likelihood(const audit_cell *cell, size_t dimension, const double *x);
/* Standard deviation, in nats, of the total error of all grids, over a sample of the draws. By the
 * Cauchy-Schwarz inequality, it bounds the shift of any posterior mean in units of its sd. 0
 * without grids; inf if a draw has likelihood 0. */
idm_status idm_audit_grid_error(const audit_model *model, const audit_draws *draws,
                                double *ret_error, idm_error *opt_error);

#endif
