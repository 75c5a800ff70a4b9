/* Explanations of rows of a log.
 *
 * Contents: rational · reaction · onlooker */
#ifndef IDM_INVERT_EXPLAIN_EXPLAIN_H
#define IDM_INVERT_EXPLAIN_EXPLAIN_H

#include "idm/explain.h"
#include "idm/workspace.h"
#include "invert/policy.h"
#include "plan/believer/environment.h"

/* === rational =============================================================================== */

/* The rational agent beside a log: its own Bayes belief before every row, and what its actions are
 * worth there. */

/* One of these for a tree of histories. Zero-initialise. */
typedef struct rational {
  const idm_data *data; /* borrowed, as is the tree */
  const idm_prefix_tree *tree;
  environment world;        /* what it knows, or the stand-in */
  idm_problem *problem;     /* of the rational agent: one model, the world */
  idm_workspace *workspace; /* planned for it */
  double *updated_belief;   /* [node][state]: its belief after the row; zeros where impossible */
  double *quality;          /* [node][action]: Q* at its belief before the row; NaN likewise */
  uint32_t *variant;        /* [node] */
  uint32_t *steps;          /* [node]: taken before the row */
  bool planned;
} rational;

/* Filter the histories, for a problem that is bound to the data. */
idm_status idm_rational_open(rational *r, const idm_problem *problem, const idm_data *data,
                             const idm_prefix_tree *tree, idm_error *opt_error);
void idm_rational_close(rational *r);
/* Take utilities, award and discount from theta; plans only where they changed. */
idm_status idm_rational_plan(rational *r, const idm_theta *theta, idm_error *opt_error);
/* Its belief before a row, by what was recorded. */
const double *idm_rational_belief(const rational *r, size_t node);
/* The best value among the open actions, and into `policy` the actions that reach it, ties shared.
 * NaN throughout where Q is. */
double idm_rational_best(const double *quality, size_t actions, const bool *opt_open,
                         double *policy);

/* === reaction =============================================================================== */

/* How people react to evidence: log z' = p log z + e log LR by least squares over their updates. */

/* Changes of the log-odds of the state that was likeliest before, over updates of one kind. */
typedef struct reaction_side {
  double observed;
  double bayes;
  double updates;
} reaction_side;

enum { REACTION_CONFIRMING, REACTION_DISCONFIRMING, REACTION_SIDES };

/* Sums that the coefficients follow from. */
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
  size_t draws; /* kept, every `stride`-th of all */
  size_t stride;
  size_t *first;   /* [node + 1]: who went through a node, and how often */
  uint32_t *agent; /* [first[nodes]] */
  uint32_t *count;
  reaction_sums *sums; /* [agent][draw] */
} reaction;

idm_status idm_reaction_open(reaction *r, const idm_data *data, const idm_prefix_tree *tree,
                             size_t draws, idm_error *opt_error);
void idm_reaction_close(reaction *r);
/* Add what everybody who went through a node made of it under a draw. */
void idm_reaction_add(reaction *r, size_t node, size_t draw, const reaction_sums *sums);
/* Numbers of a person without updates. */
void idm_reaction_none(idm_person_summary *person);
/* The coefficients of an agent over the draws. `sample` is scratch, [REACTION_SAMPLES draws]. */
enum { REACTION_SAMPLES = 5 };
void idm_reaction_solve(const reaction *r, size_t agent, double *sample,
                        idm_person_summary *person);

/* Mean and 90 % interval of a sample, which is sorted; all NaN if the mean is. */
idm_interval idm_reaction_interval(double *sample, size_t count);

/* Add `weight` times one update to sums: belief z, action u and observation x made `after` of it.
 * `scratch`: [4 state]. */
void idm_reaction_update(const environment *world, const double *z, size_t u, size_t x,
                         const double *updated_belief, double weight, double *scratch,
                         reaction_sums *sums);
/* Least squares; NaN for a coefficient that the updates do not tell. */
void idm_reaction_coefficients(const reaction_sums *sums, double *base_rate, double *evidence);

/* === onlooker =============================================================================== */

/* Who looks at every row of a log: the guest that makes an explanation of trials. */

/* Zero-initialise, then set problem and settings. */
typedef struct explain_visitor {
  const idm_problem *problem;
  idm_explain_settings settings;
  rational rational;
  reaction reaction;
  idm_workspace *workspace; /* of the agent */
  size_t draw;
  size_t draws;
  double *noise;          /* [draw] */
  double *quality;        /* [action] */
  double *policy;         /* [action] */
  double *updated_belief; /* [state] */
  double *scratch;        /* [4 state] */
} explain_visitor;

/* Numbers of a part, and the place of its first one in a row. */
size_t idm_explain_part_size(idm_sizes n, idm_explain_part part);
size_t idm_explain_part_offset(idm_sizes n, idm_explain_part part);

/* The guest that it is. */
trials_visitor idm_explain_visitor(explain_visitor *o, idm_sizes n);
void idm_explain_visitor_close(explain_visitor *o);
/* Whether an action is what a trajectory waits for. */
bool idm_explain_is_due(const explain_visitor *o, size_t u);
/* What the draws said of one agent, who is number `agent` of the log looked at. */
idm_status idm_explain_measure(const explain_visitor *o, size_t agent, idm_person_summary *person,
                               idm_error *opt_error);

#endif
