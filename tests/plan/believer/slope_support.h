/* Random problems with every feature of the planners, and gradients compared with differences. */
#ifndef IDM_TESTS_SLOPE_SUPPORT_H
#define IDM_TESTS_SLOPE_SUPPORT_H

#include <stdbool.h>

#include "support.h"

/* What a random problem may have beside its numbers. */
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
  BLUR = 1 << 9,      /* the last action's observations say nothing */
  BLANK = 1 << 10,    /* cells that were not recorded */
  SAMPLED = 1 << 11,  /* recognition: sampled */
  MDP = 1 << 12,      /* states are observed, and the first one is not known */
  UNKNOWN = 1 << 13,  /* the environment is not given */
  STATIC = 1 << 14,   /* states stay: histories that differ in their order lead to one belief */
  BEFORE = 1 << 15,   /* observations come from the state acted in */
  RANGE = 1 << 16,    /* alpha_unit: range */
  HABIT = 1 << 17,    /* perseverance and lapses */
  DYNAMICS = 1 << 18, /* by the models' dynamics and how they are taken up, too */
  BENT = 1 << 19,     /* not by Bayes' rule */
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

/* A gradient beside the scorer that it is compared with. */
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

/* Make tree, scorer and gradient of a bench that has problem, workspace and data. */
void slope_open(slope_bench *b);
void slope_close(slope_bench *b);
/* log-likelihood at theta, planned tightly. */
double slope_score(slope_bench *b, const idm_theta *theta);
/* The central difference in number i of a block, along the simplex against number j where that is
 * another one. */
double slope_central(slope_bench *b, idm_block_id id, size_t i, size_t j, double h);
/* Every block that the planner reads. */
void slope_compare_all(slope_bench *b);
/* Samples at both evaluations and three seeds each. */
void slope_run_samples(const slope_sample *from, size_t count);

#endif
