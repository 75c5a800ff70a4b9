/* Residuals of decisions against their predictions, and tests that use them
 * (docs/method/verdict.md, 8 to 10).
 *
 * Contents: strata · predictor · residual · memory reset · agents · trajectories · spread · beliefs
 * · reliability · predictions · predictive */
#ifndef IDM_INVERT_ASSESS_RESIDUAL_H
#define IDM_INVERT_ASSESS_RESIDUAL_H

#include "base/statistics.h"
#include "invert/assess.h"
#include "invert/assess/context.h"
#include "invert/people.h"
#include "plan/plan.h"

/* === strata ================================================================================= */

/* Strata: decisions that share one vector of free numbers. A plain fit has one stratum, the whole
 * log. A population fit has one per person or, if a column varies within people, one per person and
 * condition.
 *
 * The tests of the model (residual.h) evaluate the decisions of all strata at one point. In a plain
 * fit that is the draw of highest density. In a population it is one draw of all people together:
 * given a draw from the posterior, log and numbers have the joint distribution of log and true
 * numbers (Johnson 2007), so a statistic of both has the distribution of its replicates at that
 * draw, for any number of decisions per person. The draw of highest density is not suitable there,
 * since the joint density is unbounded as the sds between people approach 0. */

/* Position of a trajectory in eighths of the range from the first to the last trajectory of its
 * agent and of the log; 4 if there is only one. The coarse grid lets decision points recur
 * (residual.h). */
enum { PERIODS = 8 };
typedef struct period {
  uint8_t of_agent;
  uint8_t of_log;
} period;

typedef struct stratum {
  const idm_data *data;
  const idm_prefix_tree *tree;
  size_t first;            /* index of its first node among those of all strata */
  const uint32_t *agent;   /* [trajectory of data]: agent index, for rates by agent */
  const period *period_of; /* [trajectory of data] */
} stratum;

typedef struct strata {
  size_t count;
  stratum *one; /* [count] */
  size_t nodes; /* of all strata */
  size_t agents;
  const idm_labels *agent_name; /* [agents] */
  size_t dimension;
  double *centre;    /* [stratum][dimension] */
  double *step;      /* [stratum][dimension]: steps of finite differences about the centre */
  period *period_of; /* [trajectory], sorted by stratum */
  /* Of a population: */
  const idm_design *design; /* borrowed; NULL: a plain fit */
  const idm_people *people; /* borrowed */
  idm_data **part;          /* [stratum] */
  idm_prefix_tree **tree;   /* [stratum] */
  uint32_t *agent;          /* [trajectory], sorted by stratum */
} strata;

/* Create the single stratum of a plain fit. idm_strata_close accepts zeroed strata. */
idm_status idm_strata_whole(strata *s, const check_context *q, idm_error *opt_error);
/* Create the strata of a population. Design and draws must outlive them. */
idm_status idm_strata_divide(strata *s, const idm_problem *problem, const idm_data *data,
                             const idm_design *design, const idm_people *people,
                             idm_error *opt_error);
void idm_strata_close(strata *s);
/* Store the numbers of stratum c of a population at draw i in y[dimension]. */
void idm_strata_draw(const strata *s, size_t c, size_t i, double *y);

/* === predictor ============================================================================== */

/* Action probabilities of the planner after every history of a log at given numbers; residuals,
 * their derivatives and the scores of held numbers are computed from them. */

typedef struct history_predictor {
  const idm_parameters *parameters;
  const strata *strata;     /* borrowed */
  idm_workspace *workspace; /* borrowed from the fit */
  idm_theta *theta;
  idm_scorer **scorer; /* [stratum] */
  size_t actions;
  double *probability; /* [node][action]: output for the current stratum */
} history_predictor;

/* Another value of the first number of a block that the fit holds, in every variant. The other
 * numbers of its field change by the same amount. */
typedef struct fixed_override {
  size_t block;
  double value;
} fixed_override;

/* The scorers hold pointers to the predictor: do not copy an open one. idm_predictor_close accepts
 * a predictor that was zeroed or failed to open. */
idm_status idm_predictor_open(history_predictor *v, const fit_context *f, const strata *s,
                              idm_error *opt_error);
void idm_predictor_close(history_predictor *v);
/* Compute probability[node][action] of all strata, each at its own numbers y[stratum][dimension].
 * *seen is false if planning failed for one of them. */
idm_status idm_predictor_at(history_predictor *v, const double *y,
                            const fixed_override *opt_override, double *probability, bool *seen,
                            idm_error *opt_error);

/* === residual =============================================================================== */

/* Residuals of decisions against their one-step-ahead predictions (docs/method/verdict.md, 9).
 *
 * Along the recorded histories h_t the differences 1{u_t = u} - pi(u|h_t) are martingale
 * differences for every environment: each has mean 0 given all that was recorded before it. A sum
 * of them over a set of decisions that is selected by the past only (a step, an agent, the
 * observation before) has mean 0 and a variance that is the sum of the variances under pi, and no
 * environment needs to be known or simulated (a simulation would have to be conditioned on the
 * recorded observations). Lengths of trajectories are such sums too: of the actions that end them.
 *
 * The answer was fitted to the same decisions, which makes residuals R smaller. The tests therefore
 * use residuals less their projection on the scores S = sum of d log pi(u_t|h_t) / dy,
 *
 *     R - Cov(R, S) Var(S)^-1 S,   of variance   Var(R) - Cov(R, S) Var(S)^-1 Cov(S, R),
 *
 * Neyman's C(alpha) residuals: to first order they are equal at all y near the truth, so neither
 * the prior nor the choice of the answer's centre causes an alarm. The reference distribution of a
 * statistic is simulated: replicates draw every decision from pi along the recorded histories, and
 * have the same projection subtracted. This holds for small counts too.
 *
 * In a population the scores are those of a common shift of all people's numbers. At a posterior
 * draw of all people, residuals need no correction (strata, above), and the projection increases
 * the power of the tests. Scores are not projected out person by person: histories depend on the
 * decisions, and so does Var(S) of a person, so that Cov(R, S) Var(S)^-1 S has a mean other than 0,
 * which adds up over people. */

/* A decision point: the choice of one agent after a history. Every row with a recorded action for
 * which more than one action was available is a decision at one. Rows with equal fields share a
 * decision point. */
typedef struct decision_point {
  uint32_t stratum;
  uint32_t node;   /* of all strata (strata, above): node of a row with this decision */
  uint32_t parent; /* node of the history */
  uint32_t depth;  /* number of nodes above it */
  uint32_t available;
  uint32_t agent;
  int32_t last_action;        /* action of the row before; IDM_MISSING: none, or not recorded */
  int32_t seen;               /* observation after it; IDM_MISSING likewise */
  int32_t second_last_action; /* the same of the row before that: action, */
  int32_t shown;              /* and observation after it */
  uint32_t variant;           /* variant of the setting, by columns of the log */
  uint32_t step;              /* number of earlier rows of the trajectory */
  period period_of;           /* of the trajectory */
  uint32_t decisions;         /* number of decisions */
} decision_point;

typedef struct decision_residuals {
  bool seen; /* planning succeeded at the answer's centre; if false, the other fields are empty */
  const strata *strata; /* those of the context, or `whole` */
  strata whole;
  const idm_setting *setting;
  size_t actions;
  size_t observations;
  size_t dimension; /* 0 if the free numbers are too many, have no names, or do not come from the
                       likelihood of the decisions */
  size_t decision_points;
  decision_point *decision_point;
  double *taken;         /* [decision_point][action]: number of times each was taken */
  double *probability;   /* [node][action] at the answer's centre */
  double *derivative;    /* [node][action][dimension]: d log pi / dy */
  double *information;   /* [dimension][dimension]: Var(S) */
  double *inverse;       /* [dimension][dimension]: its (generalised) inverse */
  double log_likelihood; /* of the decisions there */
} decision_residuals;

/* Compute the residuals at the centre of the strata. The residuals must not be copied. Release with
 * idm_residual_close, after a failure too. */
idm_status idm_residual_open(decision_residuals *r, const check_context *q, idm_error *opt_error);
void idm_residual_close(decision_residuals *r);

static inline const double *idm_residual_probability(const decision_residuals *r,
                                                     const decision_point *q)
{
  return r->probability + q->node * r->actions;
}
/* The score of one decision if `action` is taken: [dimension]. */
static inline const double *idm_residual_score(const decision_residuals *r, const decision_point *q,
                                               size_t action)
{
  return r->derivative + (q->node * r->actions + action) * r->dimension;
}

/* Add the information of a decision point on the free numbers, Var of its scores:
 * [dimension][dimension]. */
void idm_residual_information(const decision_residuals *r, const decision_point *q,
                              double *information);
/* Returns x' Var(S)^-1 x. */
double idm_residual_quadratic(const decision_residuals *r, const double *x);
/* Draw every decision from its prediction: taken[decision_point][action]. */
void idm_residual_draw(const decision_residuals *r, idm_random *random, double *taken);
/* Compute Var(S)^-1 S of such actions: shift[dimension]. */
void idm_residual_shift(const decision_residuals *r, const double *taken, double *shift);

/* === memory reset =========================================================================== */

/* Predictions with a memory that is reset at the start of every trajectory.
 *
 * A behaviour with a memory over all trajectories of an agent (td-learner) predicts the first
 * choices of a trajectory from what was learnt in earlier ones. The reset is computed by assigning
 * every trajectory to an agent of its own. */

/* Compute probability[node][action] at the centre of the strata, indexed by the nodes of the
 * residuals. *seen is false if memories last for one trajectory only, if no agent has two
 * trajectories, or if planning at the centre failed. */
idm_status idm_memory_reset_predict(const check_context *q, const decision_residuals *r,
                                    double *probability, bool *seen, idm_error *opt_error);

/* === agents ================================================================================= */

/* Test of homogeneity of agents: whether they can share numbers (docs/method/verdict.md, 10).
 *
 * At the pooled answer the score s_a of each agent has mean 0 and variance I_a if all agents have
 * the same numbers; if their numbers differ with covariance D, its variance is I_a + I_a D I_a. The
 * statistic is the sum over agents of s_a' V^-1 s_a, V = sum I_a: the score test against small
 * differences (Liang 1987, Biometrika 74), a comparison of the two forms of the information (White
 * 1982), and, as trace(J H^-1), the effective number of parameters (Takeuchi 1976), which equals
 * the number of free numbers if agents are alike. A model that misses a dependence between the
 * decisions of an agent fails the test too. */

typedef struct agents_check {
  const decision_residuals *r;
  size_t agents;
  double *information; /* [agent][dimension][dimension] */
  double *score;       /* [agent][dimension]: of the actions evaluated last */
} agents_check;

/* agents is 0 with one agent, if people have numbers of their own, or if no scores are available.
 */
idm_status idm_agents_open(agents_check *c, const decision_residuals *r, idm_error *opt_error);
void idm_agents_close(agents_check *c);
/* Returns the statistic of a set of actions with their shift. */
double idm_agents_statistic(agents_check *c, const double *taken, const double *shift);
/* After that: estimate the sd between agents of each coordinate: between[dimension]. By moments,
 * each coordinate separately: E s_a^2 = I_a + I_a^2 D. */
void idm_agents_between(const agents_check *c, double *between);

/* === trajectories =========================================================================== */

/* Test of homogeneity of the trajectories of an agent: whether they can share numbers.
 *
 * If number j varies between trajectories with variance D, the scores of decisions within a
 * trajectory are correlated: E s_k s_l = v_k v_l D for k < l, where v is the variance of a score.
 * The score of D at 0, without the squares of single scores, which have no information on D, is
 *
 *     Q_j = sum over rows l of s_l,j S_l,j,   S_l = sum over rows k < l of s_k,
 *
 * both over the rows of one trajectory, summed over trajectories.
 *
 * S_l is a function of what was recorded before row l, so Q_j is a sum of martingale differences
 * and a residual like the others (residual.h): if the model is right, its mean is 0 and its
 * variance is known, for any dependence of the lengths of trajectories on decisions. The sum of
 * squared scores by which agents are compared (agents, above) has the same mean, but another
 * variance over short trajectories that a decision ends. The projection on the scores of all
 * decisions is subtracted. The statistic is the largest Q_j in its standard deviations; the test is
 * one-sided, since a variance is not negative. Agents who differ fail it too. */

typedef struct trajectories_check {
  const decision_residuals *r;
  size_t trajectories;     /* 0: the test does not apply */
  double *past_scores;     /* [decision_point][dimension]: S */
  double *cross;           /* [dimension][dimension]: Cov(Q_j, S_k) of all decisions */
  double *sd;              /* [dimension]: sd of Q; 0 if it has no variance of its own */
  double *mean_derivative; /* [dimension]: derivative of the mean of Q_j by D */
  double *sum;             /* [dimension]: Q of the actions evaluated last */
} trajectories_check;

/* trajectories is 0 if each agent has one trajectory, or if no scores are available. */
idm_status idm_trajectories_open(trajectories_check *c, const decision_residuals *r,
                                 idm_error *opt_error);
void idm_trajectories_close(trajectories_check *c);
/* Returns the statistic of a set of actions with their shift. Earlier rows keep the actions of the
 * log. */
double idm_trajectories_statistic(trajectories_check *c, const double *taken, const double *shift);
/* After that: estimate the sd between trajectories of each coordinate: between[dimension]. By
 * moments, each coordinate separately. */
void idm_trajectories_between(const trajectories_check *c, double *between);

/* === spread ================================================================================= */

/* Test whether people vary more than the prior of the sds between them allows.
 *
 * At a draw from the posterior of a right model the score s of a person's effect, over the
 * decisions, has mean 0 and variance I (strata, above). If the prior bounds the sd of the effect,
 * people are shrunk to the mean of their population, and s has variance I + I^2 D, where D is the
 * missing variance. The statistic is the sum over people of s^2, less the projection on a common
 * shift of all people. Its cube root is approximately normal (Wilson and Hilferty 1931), with mean
 * and sd from replicates of the decisions. Draws of the sd are not used for the test: a narrow
 * prior determines them, and they have no information on people. People contradict a prior that
 * does not expect the sd that they show, which is estimated by moments: the value is the smaller of
 * the test and of that sd in scales of its half-normal prior. */

typedef struct spread_check {
  const decision_residuals *r;
  size_t effects;         /* effects per person; 0: the test does not apply */
  double *information;    /* [person][effect]: I */
  double *score;          /* [person][effect]: s of the actions evaluated last */
  double *squares;        /* [effect]: sum of squares over people, as above */
  idm_welford *replicate; /* [effect]: cube roots of `squares`, over replicates */
} spread_check;

/* effects is 0 if people are not a population with its own sds, or if no scores are available. */
idm_status idm_spread_open(spread_check *c, const decision_residuals *r, idm_error *opt_error);
void idm_spread_close(spread_check *c);
/* Compute the scores of a set of actions: a replicate, or the log's own. */
void idm_spread_add_run(spread_check *c, const double *taken, bool replicate);

typedef struct spread_found {
  double z_score; /* of the sum of squares, in sds */
  double shown;   /* sd between people, estimated by moments */
} spread_found;

/* Record prior-pull of every effect, and add a misfit for each whose prior is exceeded. Returns
 * true if one is. */
bool idm_spread_record(const spread_check *c, idm_assessment *assessment);

/* === beliefs ================================================================================ */

/* Groups of decisions by the belief of a Bayesian: a statistic of the past, independent of the
 * agent's inference.
 *
 * The belief is filtered along the recorded history in the dynamics of the problem. A group is the
 * likeliest state and a third of all decisions by the probability of that state. */

enum { BELIEF_BINS = 3 };

typedef struct beliefs {
  size_t groups;                /* states times BELIEF_BINS; 0: the test does not apply */
  int32_t *group;               /* [decision_point]: state * BELIEF_BINS + bin, or IDM_MISSING */
  double edge[BELIEF_BINS + 1]; /* edges of the bins: probabilities of the likeliest state */
} beliefs;

/* groups is 0 if states are observed, if there are fewer than two or more than eight states, or if
 * there is one observation. idm_beliefs_close accepts beliefs that were zeroed or failed to open.
 */
idm_status idm_beliefs_open(beliefs *b, const decision_residuals *r, idm_error *opt_error);
void idm_beliefs_close(beliefs *b);

/* === reliability ============================================================================ */

/* Calibration of predicted probabilities: whether an action predicted with probability p is taken
 * in a share p of the decisions (docs/method/verdict.md, 8).
 *
 * The shares are estimated by isotonic regression of 1{action} on its predicted probability, one
 * action against the rest (pool adjacent violators; Dimitriadis, Gneiting and Jordan 2021). The
 * statistic is the gain in log-loss of the recalibrated probabilities. The free numbers were fitted
 * to the same decisions: the projection of the outcomes on their scores is subtracted first, in the
 * log and in its replicates alike (residual.h). */

/* Outcomes with adjacent predicted probabilities. */
typedef struct reliability_bin {
  double trials; /* decisions */
  double taken;  /* of those, less the projection on the scores of the free numbers */
  double least;  /* predicted probabilities: smallest, largest, and their sum */
  double most;
  double expected;
  double variance;  /* of `taken`: sum of p (1 - p) */
  double log_score; /* sum of taken log p + (trials - taken) log(1 - p) */
} reliability_bin;

typedef struct reliability {
  const decision_residuals *r;
  size_t points;        /* number of actions with a probability strictly between 0 and 1 */
  size_t *point;        /* [points]: decision_point * actions + action, by ascending probability */
  reliability_bin *bin; /* [bins] of the actions evaluated last; room for one per point */
  size_t bins;
} reliability;

/* points is 0 if the scores of the free numbers are not available. */
idm_status idm_reliability_open(reliability *c, const decision_residuals *r, idm_error *opt_error);
void idm_reliability_close(reliability *c);
/* Returns the gain in log-loss (nats, summed over actions) of a set of actions with their shift. */
double idm_reliability_gain(reliability *c, const double *taken, const double *shift);
/* The number of outcomes taken, limited to the range of a count: the projection can move the sum of
 * the outcomes out of it. */
double idm_reliability_count(const reliability_bin *p);
/* The bin with the largest deviation, in sds, among those whose share deviates by at least `least`;
 * NULL if there is none. */
const reliability_bin *idm_reliability_worst(const reliability *c, double least);

/* === predictions ============================================================================ */

/* Summaries of the log against the predictions of the answer, as the verdict compares them
 * (docs/method/verdict.md, 9). */

/* One summary: decisions of some kind, as shares of those that could have been of it. The interval
 * is the variation that remains by chance for an answer fitted to the same decisions (residual.h).
 * An answer that was not fitted by the likelihood, or is too far from the maximum for the linear
 * correction, predicts without it. Rates of actions sum to 1 over a group, and every interval
 * contains its expectation. */
typedef struct idm_prediction {
  idm_model_test
      test; /* the test that it is part of: steps, ends, stays, returns, responses, conditions */
  size_t group;    /* for rates of actions the index of the step, observation or condition; else its
                      own index */
  char label[200]; /* "step 2, monitor" */
  double trials;   /* decisions that could have been of this kind; for rates all decisions of the
                      group */
  double observed; /* of the log */
  double expected;
  double low; /* 95 % interval of replicates of the decisions */
  double high;
  double inner_low; /* 50 % interval */
  double inner_high;
} idm_prediction;

typedef struct idm_predictions {
  size_t count;
  idm_prediction *one; /* by test */
} idm_predictions;

/* Predictions at the draw of highest density; none if planning there failed or the log has no
 * decisions. Returns IDM_INPUT if the draws are not of the problem's free numbers. */
idm_status idm_predictions_find(const idm_problem *problem, const idm_data *data,
                                const idm_posterior *posterior, idm_predictions *ret_predictions,
                                idm_error *opt_error);
void idm_predictions_clear(idm_predictions *predictions);

/* === predictive ============================================================================= */

/* Predictive checks: counts of decisions by cell against their predictions (docs/method/verdict.md,
 * 9).
 *
 * A cell is selected by the past and counts some of the actions: an action at a step, an action
 * that ends the trajectory at a step, the same action again after an observation, the action before
 * the last again after the observation that followed it, an action after an observation, an action
 * at a belief (beliefs, above), an action in a variant of the setting; the first and the third also
 * by agent. */

typedef enum cell_family {
  CELLS_STEP,
  CELLS_END,
  CELLS_STAY,
  CELLS_RETURN,
  CELLS_RESPONSE,
  CELLS_BELIEF,
  CELLS_VARIANT,
  CELLS_AGENT_ACTION,
  CELLS_AGENT_STAY,
  CELLS_FAMILIES
} cell_family;

/* Counts of one family, predicted and of the actions evaluated last. */
typedef struct cell_counts {
  size_t count;
  int32_t *of;      /* [decision_point][action]: its cell, or -1 */
  double *trials;   /* [cell]: decisions that could be counted in it */
  double *expected; /* [cell] */
  double *spread;   /* [cell]: variance of the count */
  double *variance; /* [cell]: variance of the residual after projection on the scores */
  double *cross;    /* [cell][dimension]: Cov(count, S) */
  double *residual; /* [cell]: residual after projection */
} cell_counts;

typedef struct predictive {
  const decision_residuals *r;
  beliefs beliefs;
  double *shift; /* [dimension]: shift of the actions evaluated last */
  cell_counts family[CELLS_FAMILIES];
} predictive;

idm_status idm_predictive_open(predictive *p, const decision_residuals *r, idm_error *opt_error);
void idm_predictive_close(predictive *p);
/* Count a set of actions with their shift. */
void idm_predictive_count(predictive *p, const double *taken, const double *shift);
/* After that: the sum of squared residuals of a family in units of their variance, and that of one
 * agent over both its families. */
double idm_predictive_sum(const predictive *p, cell_family family);
double idm_predictive_agent(const predictive *p, size_t agent);
/* Count of the actions evaluated last in a cell. */
double idm_predictive_observed(const predictive *p, cell_family family, size_t cell);
/* Print the label of a cell that is not of an agent in a table: "step 2, monitor". */
void idm_predictive_label(const predictive *p, cell_family family, size_t cell, char *text,
                          size_t size);
/* Deviation of a cell. */
typedef struct cell_misfit {
  double z_score; /* of the residual: the tested quantity */
  double size;    /* in sds of the count, (observed - expected) / sqrt(n p (1 - p)): the quoted
                     quantity */
} cell_misfit;
/* Find the cell of largest size among those that deviate by a share of at least `least` of the
 * trials; false if there is none. Prints its description: "at step 2 ...". */
bool idm_predictive_worst(const predictive *p, cell_family family, double least,
                          cell_misfit *ret_misfit, char *text, size_t size);

#endif
