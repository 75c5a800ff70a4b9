/* The rational agent beside a log: its own Bayes belief before every row, and what its actions are
 * worth there. */
#ifndef IDM_INVERT_EXPLAIN_RATIONAL_H
#define IDM_INVERT_EXPLAIN_RATIONAL_H

#include "idm/workspace.h"
#include "plan/believer/environment.h"

/* One of these for a tree of histories. Zero-initialise. */
typedef struct rational {
  const idm_data *data; /* borrowed, as is the tree */
  const idm_prefix_tree *tree;
  environment world;        /* what it knows, or the stand-in */
  idm_problem *problem;     /* of the rational agent: one model, the world */
  idm_workspace *workspace; /* planned for it */
  double *after;            /* [node][state]: its belief after the row; zeros where impossible */
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
/* Q* at any belief, at the step of a row; NaN where the belief is impossible. */
void idm_rational_quality(rational *r, size_t node, const double *z, double *quality);
/* The actions open at a row; NULL: all. */
const bool *idm_rational_open_actions(const rational *r, size_t node);
/* The best value among the open actions, and into `policy` the actions that reach it, ties shared.
 * NaN throughout where Q is. */
double idm_rational_best(const double *quality, size_t actions, const bool *opt_open,
                         double *policy);

#endif
