/* Provides logs of td-learner, and their likelihood at any parameters. */
#ifndef IDM_TESTS_PLAN_TABULAR_TD_SUPPORT_H
#define IDM_TESTS_PLAN_TABULAR_TD_SUPPORT_H

#include "plan/tabular/learner.h"
#include "support.h"

enum { TD_STATES = 3, TD_ACTIONS = 3, TD_KINDS = 8 };

typedef struct td_bench {
  idm_problem *problem;
  idm_workspace *workspace;
  idm_data *data;
  idm_prefix_tree *tree;
  idm_scorer *scorer;
} td_bench;

/* A random problem and the log of four agents. Bits of `kind`: states are observed, gains are
 * defined by errors, actions not taken are updated. */
td_bench td_open(unsigned kind, uint64_t seed);
/* The same, with a share of the rows replaced by missed responses without an action. */
td_bench td_open_missed(unsigned kind, uint64_t seed, double share);
void td_close(td_bench *b);
/* The log-likelihood at theta. */
double td_score(const td_bench *b, const idm_theta *theta);

#endif
