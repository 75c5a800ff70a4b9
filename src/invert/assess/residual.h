/* Decisions against their predictions, and checks of them.
 *
 * Contents: strata · view · residual · anew · agents · trajectories · spread · beliefs ·
 * reliability · predictions · predictive */
#ifndef IDM_INVERT_ASSESS_RESIDUAL_H
#define IDM_INVERT_ASSESS_RESIDUAL_H

#include "base/statistics.h"
#include "idm/assess.h"
#include "idm/people.h"
#include "idm/score.h"
#include "invert/assess/inquiry.h"

/* === strata ================================================================================= */

/* Strata: decisions that share one vector of free numbers. A plain fit has one stratum, the whole
 * log. A population fit has one per person or, where a column varies within people, one per person
 * and condition.
 *
 * The tests of the model (residual.h) look at the decisions of all strata at one point. In a plain
 * fit that is the draw of highest density. In a population it is one draw of all people together:
 * given a draw from the posterior, log and numbers have the joint distribution that log and true
 * numbers have (Johnson 2007), so that a statistic of both is distributed as its replicates at that
 * draw are, however few decisions a person has. The draw of highest density would not do, since the
 * joint density grows without bound as the sds between people go to 0. */

/* When a trajectory was: eighths of the way from the first to the last of its agent's trajectories
 * and of the log's, 4 where it is the only one. No finer, so that questions recur (residual.h). */
enum { PERIODS = 8 };
typedef struct period {
  uint8_t of_agent;
  uint8_t of_log;
} period;

typedef struct stratum {
  const idm_data *data;
  const idm_prefix_tree *tree;
  size_t first;            /* of its nodes among those of all strata */
  const uint32_t *agent;   /* [trajectory of data]: the agent whose rates it counts for */
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
  double *step;      /* [stratum][dimension]: of differences about it */
  period *period_of; /* [trajectory], by stratum */
  /* Of a population: */
  const idm_design *design; /* borrowed; NULL: a plain fit */
  const idm_people *people; /* borrowed */
  idm_data **part;          /* [stratum] */
  idm_prefix_tree **tree;   /* [stratum] */
  uint32_t *agent;          /* [trajectory], by stratum */
} strata;

/* The one stratum of a plain fit. idm_strata_close accepts strata that were set to 0. */
idm_status idm_strata_whole(strata *s, const check_context *q, idm_error *opt_error);
/* The strata of a population, whose design and draws must outlive them. */
idm_status idm_strata_divide(strata *s, const idm_problem *problem, const idm_data *data,
                             const idm_design *design, const idm_people *people,
                             idm_error *opt_error);
void idm_strata_close(strata *s);
/* Numbers of stratum c of a population at draw i: y[dimension]. */
void idm_strata_draw(const strata *s, size_t c, size_t i, double *y);

/* === view =================================================================================== */

/* What the planner makes of every history of a log at given numbers: the probabilities from which
 * residuals, their derivatives and the scores of held numbers are computed. */

typedef struct history_predictor {
  const idm_parameters *parameters;
  const strata *strata;     /* borrowed */
  idm_workspace *workspace; /* borrowed from the fit */
  idm_theta *theta;
  idm_scorer **scorer; /* [stratum] */
  size_t actions;
  double *probability; /* [node][action]: destination for the stratum under way */
} history_predictor;

/* The first number of a block, which the fit holds, at another value in every variant. Those of the
 * other actions of its field move by as much. */
typedef struct fixed_override {
  size_t block;
  double value;
} fixed_override;

/* The scorers refer to the viewer: do not copy an open one. idm_predictor_close accepts a viewer
 * that was set to 0 or failed to open. */
idm_status idm_predictor_open(history_predictor *v, const fit_context *f, const strata *s,
                              idm_error *opt_error);
void idm_predictor_close(history_predictor *v);
/* probability[node][action] of all strata, each at numbers y[stratum][dimension] of its own. *seen
 * is false where one of them cannot be planned for. */
idm_status idm_predictor_at(history_predictor *v, const double *y,
                            const fixed_override *opt_override, double *probability, bool *seen,
                            idm_error *opt_error);

/* === residual =============================================================================== */

/* Decisions against what the answer expected of them, one step ahead.
 *
 * Along the recorded histories h_t the differences 1{u_t = u} - pi(u|h_t) are martingale
 * differences whatever the environment does: each is known to have mean 0 given all that was
 * recorded before it. So a sum of them over any set of decisions that is picked by the past alone
 * (a step, an agent, what was seen before) has mean 0 and a variance that is the sum of what pi
 * says, and no environment needs to be known or simulated (which an observation that was recorded
 * would have to be conditioned on anyhow). Lengths of trajectories are such sums too: of the
 * actions that end them.
 *
 * The answer was fitted to the same decisions, which makes residuals R smaller than that. They are
 * therefore looked at after taking out what the scores S = sum of d log pi(u_t|h_t) / dy explain,
 *
 *     R - Cov(R, S) Var(S)^-1 S,   of variance   Var(R) - Cov(R, S) Var(S)^-1 Cov(S, R),
 *
 * Neyman's C(alpha) residuals: to first order they are the same at every y near the truth, so that
 * neither the prior nor the choice of the answer's centre makes an alarm. What is to be expected of
 * a statistic of them is drawn: every decision anew from pi along the recorded histories, and the
 * same taken out. Small counts are thus dealt with as they are.
 *
 * In a population the scores are those of a shift of everybody's numbers. At a posterior draw of
 * all people residuals need no correction (strata, above), and what is taken out makes the tests
 * sharper. Scores are not taken out person by person: histories depend on the decisions, and so
 * does Var(S) of a person, so that Cov(R, S) Var(S)^-1 S has a mean other than 0, which adds up
 * over people. */

/* A question: what to do after a history, asked of one agent at one moment. Every row with a
 * recorded action of which more than one was open is an answer to one. */
typedef struct decision_point {
  uint32_t stratum;
  uint32_t node;   /* of all strata (strata, above): a row that answers it */
  uint32_t parent; /* node of the history */
  uint32_t depth;  /* nodes above it */
  uint32_t available;
  uint32_t agent;
  int32_t last_action;        /* action of the row before; IDM_MISSING: none, or not recorded */
  int32_t seen;               /* what was seen after that; IDM_MISSING: the same */
  int32_t second_last_action; /* the same of the row before that: action, */
  int32_t shown;              /* and what was seen after it */
  uint32_t variant;           /* of the setting, as columns of the log have it */
  uint32_t step;              /* rows of the trajectory before it */
  period period_of;           /* of the trajectory */
  uint32_t asked;             /* how often */
} decision_point;

typedef struct decision_residuals {
  bool seen; /* the answer's centre can be planned for; else there is nothing else here */
  const strata *strata; /* those of the inquiry, or `whole` */
  strata whole;
  const idm_setting *setting;
  size_t actions;
  size_t observations;
  size_t dimension; /* 0 where the free numbers are too many, have no names, or do not come from the
                       likelihood of the decisions */
  size_t decision_points;
  decision_point *decision_point;
  double *taken;         /* [question][action]: how often each was the answer */
  double *probability;   /* [node][action] at the answer's centre */
  double *derivative;    /* [node][action][dimension]: d log pi / dy */
  double *information;   /* [dimension][dimension]: Var(S) */
  double *inverse;       /* [dimension][dimension]: its (generalised) inverse */
  double log_likelihood; /* of the decisions there */
} decision_residuals;

/* Look at the decisions at the centre of the strata. The residual must not be copied.
 * idm_residual_close frees what is there. */
idm_status idm_residual_open(decision_residuals *r, const check_context *q, idm_error *opt_error);
void idm_residual_close(decision_residuals *r);

static inline const double *idm_residual_probability(const decision_residuals *r,
                                                     const decision_point *q)
{
  return r->probability + q->node * r->actions;
}
/* The score of one decision, had `action` been taken: [dimension]. */
static inline const double *idm_residual_score(const decision_residuals *r, const decision_point *q,
                                               size_t action)
{
  return r->derivative + (q->node * r->actions + action) * r->dimension;
}

/* Add what a question tells about the free numbers: Var of its scores, [dimension][dimension]. */
void idm_residual_information(const decision_residuals *r, const decision_point *q,
                              double *information);
/* x' Var(S)^-1 x. */
double idm_residual_quadratic(const decision_residuals *r, const double *x);
/* Draw every decision anew: taken[question][action]. */
void idm_residual_draw(const decision_residuals *r, idm_random *random, double *taken);
/* Var(S)^-1 S of such answers: shift[dimension]. */
void idm_residual_shift(const decision_residuals *r, const double *taken, double *shift);

/* === anew =================================================================================== */

/* What the agent would do if its memory began anew in every trajectory.
 *
 * A behaviour that remembers over all trajectories of an agent (td-learner) predicts the first
 * choices of a trajectory by what was learnt in those before. An agent that forgets between them is
 * seen as one whose every trajectory is of another agent. */

/* probability[node][action] at the centre of the strata, by the nodes of the residual. *seen is
 * false where memories are of trajectories anyhow, where no agent has two of them, or where the
 * centre cannot be planned for. */
idm_status idm_memory_reset_predict(const check_context *q, const decision_residuals *r,
                                    double *probability, bool *seen, idm_error *opt_error);

/* === agents ================================================================================= */

/* Whether agents are alike enough to share numbers.
 *
 * At the pooled answer the score s_a of each agent has mean 0 and variance I_a where all agents
 * have the same numbers; where they differ with covariance D, its variance is I_a + I_a D I_a. The
 * test is of the sum over agents of s_a' V^-1 s_a, V = sum I_a: the score test against small
 * differences (Liang 1987, Biometrika 74), a comparison of the two forms of the information (White
 * 1982), and as trace(J H^-1) the effective number of parameters (Takeuchi 1976): that of the free
 * numbers where agents are alike. A model that misses what makes an agent's decisions hang together
 * fails it too. */

typedef struct agents_check {
  const decision_residuals *r;
  size_t agents;
  double *information; /* [agent][dimension][dimension] */
  double *score;       /* [agent][dimension] of the answers taken last */
} agents_check;

/* Nothing to look at (agents 0) with one agent, where people have numbers of their own, or where no
 * score is to be had. */
idm_status idm_agents_open(agents_check *c, const decision_residuals *r, idm_error *opt_error);
void idm_agents_close(agents_check *c);
/* The statistic of some answers, whose shift has been found. */
double idm_agents_statistic(agents_check *c, const double *taken, const double *shift);
/* After that: the sd between agents of each coordinate, about: [dimension]. By moments, as if
 * coordinates were alone: E s_a^2 = I_a + I_a^2 D. */
void idm_agents_between(const agents_check *c, double *between);

/* === trajectories =========================================================================== */

/* Whether an agent's trajectories are alike enough to share numbers.
 *
 * Where number j of a trajectory is its own, with variance D between trajectories, the scores of
 * its decisions hang together: E s_k s_l = v_k v_l D for k < l, where v is the variance of a score.
 * So the score of D at 0 is, but for the squares of single scores, which have no information on D,
 *
 *     Q_j = sum over rows l of s_l,j S_l,j,   S_l = sum of s_k over the rows k < l of the
 * trajectory.
 *
 * S_l is a function of what was recorded before row l, so that Q_j is a sum of martingale
 * differences, and a residual like the others (residual.h): its mean is 0 and its variance known
 * where the model is right, however the lengths of trajectories depend on what was decided. The sum
 * of squared scores that agents are compared by (agents, above) has the same mean, but another
 * variance over short trajectories that a decision ends. What the scores of all decisions explain
 * is taken out. The test is of the largest Q_j in its standard deviations, to one side, since a
 * variance is not negative. Agents who differ fail it too. */

typedef struct trajectories_check {
  const decision_residuals *r;
  size_t trajectories;     /* 0: nothing to look at */
  double *past_scores;     /* [question][dimension]: S */
  double *cross;           /* [dimension][dimension]: Cov(Q_j, S_k) of all decisions */
  double *sd;              /* [dimension] of Q; 0 where it has no variance of its own */
  double *mean_derivative; /* [dimension]: of the mean of Q_j with D */
  double *sum;             /* [dimension]: Q of the answers taken last */
} trajectories_check;

/* Nothing to look at where each agent has one trajectory, or where no score is to be had. */
idm_status idm_trajectories_open(trajectories_check *c, const decision_residuals *r,
                                 idm_error *opt_error);
void idm_trajectories_close(trajectories_check *c);
/* The statistic of some answers, whose shift has been found. Rows before keep those of the log. */
double idm_trajectories_statistic(trajectories_check *c, const double *taken, const double *shift);
/* After that: the sd between trajectories of each coordinate, about: [dimension]. By moments, as if
 * coordinates were alone. */
void idm_trajectories_between(const trajectories_check *c, double *between);

/* === spread ================================================================================= */

/* Whether people vary more than the prior of the sds between them lets them.
 *
 * At a draw from the posterior of a right model the score s of a person's effect, over the
 * decisions, has mean 0 and variance I (strata, above). Where the prior holds the sd of the effect
 * down, people cannot leave the mean of their population, and s varies by I + I^2 D, D being the
 * variance that is missing. The test is of the sum over people of s^2, less what a shift of all
 * people explains. Its cube root is about normal (Wilson and Hilferty 1931), with mean and sd by
 * replicates of the decisions. Draws of the sd are not used for the test: they remain where a
 * narrow prior is, and have no information on what people are like. A prior that people contradict
 * is one that does not expect the sd that they show, which is by moments: the value is the less of
 * the test and of that sd in scales of its half-normal prior. */

typedef struct spread_check {
  const decision_residuals *r;
  size_t effects;         /* of a person; 0: nothing to look at */
  double *information;    /* [person][effect]: I */
  double *score;          /* [person][effect]: s of the answers taken last */
  double *squares;        /* [effect]: their sum of squares, as above */
  idm_welford *replicate; /* [effect]: cube roots of these, over replicates */
} spread_check;

/* Nothing to look at where people are no population with sds of its own, or no score is to be had.
 */
idm_status idm_spread_open(spread_check *c, const decision_residuals *r, idm_error *opt_error);
void idm_spread_close(spread_check *c);
/* The scores of some answers, which are a replicate or the log's own. */
void idm_spread_add_run(spread_check *c, const double *taken, bool replicate);

typedef struct spread_found {
  double z_score; /* of the sum, in sds */
  double shown;   /* sd that people show */
} spread_found;

/* Record prior-pull of every effect, with a misfit of each whose prior is exceeded; true where one
 * is. */
bool idm_spread_record(const spread_check *c, idm_assessment *assessment);

/* === beliefs ================================================================================ */

/* Groups of decisions by what a Bayesian would believe: a statistic of the past, whatever the agent
 * makes of it.
 *
 * The belief is filtered along the recorded history in the dynamics of the file. A group is its
 * likeliest state and a third of all decisions by the probability of that state. */

enum { BELIEF_BINS = 3 };

typedef struct beliefs {
  size_t groups;                /* states times BELIEF_BINS; 0: beliefs are not compared */
  int32_t *group;               /* [question]: state * BELIEF_BINS + bin, or IDM_MISSING */
  double edge[BELIEF_BINS + 1]; /* of the bins: probabilities of the likeliest state */
} beliefs;

/* No groups where states are observed, where there are fewer than two or more than eight of them,
 * or where there is one observation. idm_beliefs_close accepts beliefs that were set to 0 or failed
 * to open. */
idm_status idm_beliefs_open(beliefs *b, const decision_residuals *r, idm_error *opt_error);
void idm_beliefs_close(beliefs *b);

/* === reliability ============================================================================ */

/* Calibration of predicted probabilities: is an action that is predicted with probability p taken
 * in a share p of the decisions?
 *
 * The shares are estimated by isotonic regression of 1{action} on its predicted probability, one
 * action against the rest (pool adjacent violators; Dimitriadis, Gneiting and Jordan 2021). The
 * statistic is the log-loss that the recalibrated probabilities gain. The free numbers were fitted
 * to the same decisions: what their scores explain is subtracted from the outcomes first, of the
 * log and of its replicates alike (residual.h). */

/* Outcomes with adjacent predicted probabilities. */
typedef struct reliability_bin {
  double trials; /* decisions */
  double taken;  /* of those, without what the free numbers explain */
  double least;  /* predicted probabilities: from, to, and their sum */
  double most;
  double expected;
  double variance;  /* of `taken`: sum of p (1 - p) */
  double log_score; /* sum of taken log p + (chances - taken) log(1 - p) */
} reliability_bin;

typedef struct reliability {
  const decision_residuals *r;
  size_t points;        /* actions that are neither impossible nor certain */
  size_t *point;        /* [points]: question * actions + action, by ascending probability */
  reliability_bin *bin; /* [pools] of the answers taken last; room for one per point */
  size_t bins;
} reliability;

/* No points where the free numbers cannot be projected out. */
idm_status idm_reliability_open(reliability *c, const decision_residuals *r, idm_error *opt_error);
void idm_reliability_close(reliability *c);
/* The gain in log-loss (nats, summed over actions) of some answers, whose shift has been found. */
double idm_reliability_gain(reliability *c, const double *taken, const double *shift);
/* The pool that is furthest off, in sds, of those whose share is off by at least `least`; NULL
 * where there is none. */
const reliability_bin *idm_reliability_worst(const reliability *c, double least);

/* === predictions ============================================================================ */

/* The log's own summaries beside what the answer predicts of them, as the verdict compares them. */

/* One of them: decisions of some kind, as shares of those that could have been of it. Predictions
 * are what is left to chance by an answer that was fitted to the same decisions (see residual.h).
 * Answers that come from elsewhere, or are too far from the log's own for that, predict by
 * themselves. Rates of actions sum to 1 over a group, and every interval contains its expectation.
 */
typedef struct idm_prediction {
  idm_model_test
      test;        /* that it is a part of: steps, ends, stays, returns, responses, conditions */
  size_t group;    /* of rates of actions the step, observation or condition; else its own */
  char label[200]; /* "step 2, monitor" */
  double trials;   /* decisions that could have been; of rates all decisions of the group */
  double observed; /* of the log */
  double expected;
  double low; /* 95 % of replicates of the decisions */
  double high;
  double inner_low; /* and half of them */
  double inner_high;
} idm_prediction;

typedef struct idm_predictions {
  size_t count;
  idm_prediction *one; /* by test */
} idm_predictions;

/* At the draw of highest density; none where it cannot be planned for, or nothing was decided.
 * IDM_INPUT where the draws are not of the problem's free numbers. */
idm_status idm_predictions_find(const idm_problem *problem, const idm_data *data,
                                const idm_posterior *posterior, idm_predictions *ret_predictions,
                                idm_error *opt_error);
void idm_predictions_clear(idm_predictions *predictions);

/* === predictive ============================================================================= */

/* Whether the log's own summaries are what the answer predicts: counts of decisions by cell.
 *
 * A cell is picked by the past and counts some of the actions: an action at a step, an action that
 * ends the trajectory at a step, the same action again after an observation, the action before the
 * last again after what was seen then, an action after an observation, an action at a belief
 * (beliefs, above), an action in a variant of the setting; the first and the third by agent as
 * well. */

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

/* Counts of one family, at the answer and of the answers taken last. */
typedef struct cell_counts {
  size_t count;
  int32_t *of;      /* [question][action]: the cell that it falls into, or -1 */
  double *trials;   /* [cell]: decisions that could have fallen there */
  double *expected; /* [cell] */
  double *spread;   /* [cell]: variance of the count */
  double *variance; /* [cell]: of what is left when the scores are taken out */
  double *cross;    /* [cell][dimension]: Cov(count, S) */
  double *residual; /* [cell]: the residual */
} cell_counts;

typedef struct predictive {
  const decision_residuals *r;
  beliefs beliefs;
  double *shift; /* [dimension] of those answers */
  cell_counts family[CELLS_FAMILIES];
} predictive;

idm_status idm_predictive_open(predictive *p, const decision_residuals *r, idm_error *opt_error);
void idm_predictive_close(predictive *p);
/* Count some answers, whose shift has been found. */
void idm_predictive_count(predictive *p, const double *taken, const double *shift);
/* After that: the sum of squared residuals of a family in units of their variance, and that of one
 * agent over both its families. */
double idm_predictive_sum(const predictive *p, cell_family family);
double idm_predictive_agent(const predictive *p, size_t agent);
/* How many of the answers taken last fell into a cell. */
double idm_predictive_observed(const predictive *p, cell_family family, size_t cell);
/* What a cell that is not of an agent is called in a table: "step 2, monitor". */
void idm_predictive_label(const predictive *p, cell_family family, size_t cell, char *text,
                          size_t size);
/* How far a cell is off. */
typedef struct cell_misfit {
  double z_score; /* of the residual, which the test is of */
  double size; /* in sds of the count, (observed - expected) / sqrt(n p (1 - p)), as it is quoted */
} cell_misfit;
/* The cell of the largest size of those off by a share of at least `least` of the chances; false
 * where there is none. In words: "at step 2 ...". */
bool idm_predictive_worst(const predictive *p, cell_family family, double least,
                          cell_misfit *ret_misfit, char *text, size_t size);

#endif
