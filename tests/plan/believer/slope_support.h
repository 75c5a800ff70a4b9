/* Provides random problems with every feature of the planners, and the comparison of gradients with
 * differences. */
#ifndef IDM_TESTS_SLOPE_SUPPORT_H
#define IDM_TESTS_SLOPE_SUPPORT_H

#include <stdbool.h>

#include "support.h"

/* Features of a random problem. */
enum slope_feature {
  HORIZON = 1 << 0,
  TERMINAL = 1 << 1,
  VARIANTS = 1 << 2,
  AVAILABLE = 1 << 3,
  CERTAINTY = 1 << 4,
  DIRICHLET = 1 << 5,
  OBSERVATION = 1 << 6, /* surprise: observation */
  FORGET = 1 << 7,      /* the first action resets the state */
  STARTS = 1 << 8,
  BLUR = 1 << 9,      /* the last action's observations are uninformative */
  BLANK = 1 << 10,    /* missing cells */
  SAMPLED = 1 << 11,  /* recognition: sampled */
  MDP = 1 << 12,      /* states are observed, and the first is unknown */
  UNKNOWN = 1 << 13,  /* the environment is not given */
  STATIC = 1 << 14,   /* states do not change: histories in different order lead to one belief */
  BEFORE = 1 << 15,   /* observations are emitted by the state before the transition */
  RANGE = 1 << 16,    /* alpha_unit: range */
  HABIT = 1 << 17,    /* perseverance and lapses */
  DYNAMICS = 1 << 18, /* derivatives by the models' dynamics and the powers of the update too */
  BENT = 1 << 19,     /* update with powers other than Bayes' rule */
  MISSED = 1 << 20    /* missed responses */
};

typedef struct slope_sample {
  const char *planner;
  double alpha;
  double beta;
  double eta;
  unsigned features;
  support_shape shape;
} slope_sample;

idm_problem *slope_problem(const slope_sample *from, idm_evaluate evaluate, idm_random *random);
idm_data *slope_data(const idm_problem *problem, const idm_workspace *workspace, unsigned features,
                     idm_random *random);

/* A gradient and the scorer with which it is compared. */
typedef struct slope_bench {
  idm_problem *problem;
  idm_workspace *workspace;
  idm_data *data;
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_gradient *gradient;
  idm_theta *derivative;
  idm_theta *moved;
  unsigned features;
  size_t compared;
  size_t skipped;
} slope_bench;

/* Creates tree, scorer and gradient of a bench that has problem, workspace and data. */
void slope_open(slope_bench *b);
void slope_close(slope_bench *b);
/* The log-likelihood at theta, planned to a small tolerance. */
double slope_score(slope_bench *b, const idm_theta *theta);
/* The central difference by number i of a block, along the simplex against number j if j differs
 * from i. */
double slope_central(slope_bench *b, idm_block_id id, size_t i, size_t j, double h);
/* Compares every block that the planner reads. */
void slope_compare_all(slope_bench *b);
/* Runs samples with both evaluations and three seeds each. */
void slope_run_samples(const slope_sample *from, size_t count);

#endif
