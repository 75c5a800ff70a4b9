/* Explanations of rows of a log (docs/method/explain.md).
 *
 * Contents: rational · reaction · visitor */
#ifndef IDM_INVERT_EXPLAIN_EXPLAIN_H
#define IDM_INVERT_EXPLAIN_EXPLAIN_H

#include "invert/explain.h"
#include "invert/predict.h"
#include "plan/believer/environment.h"
#include "plan/plan.h"

/* === rational =============================================================================== */

/* The rational agent along a log: its Bayes belief before every row, and its action values there.
 */

/* Rational agent for a tree of histories. Zero-initialise. */
typedef struct rational {
  const idm_data *data; /* borrowed, like the tree */
  const idm_prefix_tree *tree;
  environment env; /* the environment, or the mean of the agent's models if the problem has none */
  idm_problem *problem;     /* of the rational agent: its one model is the environment */
  idm_workspace *workspace; /* holds the plan of `problem` */
  double *updated_belief;   /* [node][state]: belief after the row; zeros if the history has
                               probability 0 */
  double
      *quality; /* [node][action]: Q* at the belief before the row; NaN if it has probability 0 */
  uint32_t *variant; /* [node] */
  uint32_t *steps;   /* [node]: number of earlier rows of the trajectory */
  bool planned;
} rational;

/* Create the rational agent and filter the histories, for a problem that is bound to the data.
 * Release with idm_rational_close, after a failure too. */
idm_status idm_rational_open(rational *r, const idm_problem *problem, const idm_data *data,
                             const idm_prefix_tree *tree, idm_error *opt_error);
void idm_rational_close(rational *r);
/* Copy utilities, certainty award and discount from theta; plans only if they changed. */
idm_status idm_rational_plan(rational *r, const idm_theta *theta, idm_error *opt_error);
/* Belief before a row, given the recorded history. */
const double *idm_rational_belief(const rational *r, size_t node);
/* Returns the largest value among the available actions; `policy` receives the actions that attain
 * it, ties sharing the probability. All NaN if Q is NaN. */
double idm_rational_best(const double *quality, size_t actions, const bool *opt_open,
                         double *policy);

/* === reaction =============================================================================== */

/* Reaction to evidence: least squares of log z' = p log z + e log LR over the updates of a person
 * (docs/method/explain.md, 3). */

/* Sums over updates of one kind of changes of the log-odds of the state that was likeliest before.
 */
typedef struct reaction_side {
  double observed;
  double bayes;
  double updates;
} reaction_side;

enum { REACTION_CONFIRMING, REACTION_DISCONFIRMING, REACTION_SIDES };

/* Sums of products from which the coefficients are computed. */
typedef struct reaction_sums {
  double prior_prior;
  double prior_evidence;
  double evidence_evidence;
  double prior_after;
  double evidence_after;
  double updates;
  reaction_side side[REACTION_SIDES];
} reaction_sums;

/* Zero-initialise. */
typedef struct reaction {
  size_t agents;
  size_t draws; /* number of draws used: every `stride`-th */
  size_t stride;
  size_t *first;   /* [node + 1]: first entry of a node in `agent` and `count` */
  uint32_t *agent; /* [first[nodes]]: agents whose rows share the node, and their number of rows */
  uint32_t *count;
  reaction_sums *sums; /* [agent][draw] */
} reaction;

idm_status idm_reaction_open(reaction *r, const idm_data *data, const idm_prefix_tree *tree,
                             size_t draws, idm_error *opt_error);
void idm_reaction_close(reaction *r);
/* Add the updates of a node under a draw to all agents with rows there. */
void idm_reaction_add(reaction *r, size_t node, size_t draw, const reaction_sums *sums);
/* Compute the coefficients of an agent over the draws. `sample` is scratch, [REACTION_SAMPLES
 * draws]. */
enum { REACTION_SAMPLES = 5 };
void idm_reaction_solve(const reaction *r, size_t agent, double *sample,
                        idm_person_summary *person);

/* Mean and 90 % interval of a sample, which is sorted in place; all NaN if the mean is. */
idm_interval idm_reaction_interval(double *sample, size_t count);

/* Add `weight` times one update to sums: from belief z, after action u and observation x, to
 * `updated_belief`. `scratch`: [4 state]. */
void idm_reaction_update(const environment *env, const double *z, size_t u, size_t x,
                         const double *updated_belief, double weight, double *scratch,
                         reaction_sums *sums);
/* Compute the least squares coefficients; NaN for a coefficient that the updates do not determine.
 */
void idm_reaction_coefficients(const reaction_sums *sums, double *base_rate, double *evidence);

/* === visitor ================================================================================ */

/* Visitor of the rows of a log that computes the numbers of an explanation (invert/predict.h). */

/* Visitor state. Zero-initialise, then set problem and settings. */
typedef struct explain_visitor {
  const idm_problem *problem;
  idm_explain_settings settings;
  rational rational;
  reaction reaction;
  idm_workspace *workspace; /* of the agent */
  size_t draw;
  size_t draws;
  double *noise;          /* [draw]: noise of decisions */
  double *quality;        /* [action] */
  double *policy;         /* [action] */
  double *updated_belief; /* [state] */
  double *scratch;        /* [4 state] */
} explain_visitor;

/* Number of values of a part of a row's numbers, and the index of its first one. */
size_t idm_explain_part_size(idm_sizes n, idm_explain_part part);
size_t idm_explain_part_offset(idm_sizes n, idm_explain_part part);

/* The visitor as an interface of trials. */
trials_visitor idm_explain_visitor(explain_visitor *o, idm_sizes n);
void idm_explain_visitor_close(explain_visitor *o);
/* Whether an action is a due action. */
bool idm_explain_is_due(const explain_visitor *o, size_t u);

#endif
