/* Fixture of the model checks: a log, its point estimate, and the context of the checks. */
#ifndef IDM_TESTS_CONTEXT_SUPPORT_H
#define IDM_TESTS_CONTEXT_SUPPORT_H

#include "invert/assess/context.h"
#include "support.h"

typedef struct assessed_fit {
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
  idm_assessment *assessment; /* of the draws alone */
  idm_fit_settings settings;
  fit_context f;
  check_context q;
} assessed_fit;

/* Fit by `map` with the named blocks free. Takes ownership of problem and data. */
void assessed_fit_open(assessed_fit *a, idm_problem *problem, idm_data *data,
                       const char *free_blocks);
void assessed_fit_close(assessed_fit *a);
/* An open fit of log alpha and 1/beta to one row, for functions that describe parameters. The fit
 * points into the structure. */
typedef struct described_fit {
  idm_problem *problem;
  idm_data *data;
  idm_fit_settings settings;
  fit_context f;
} described_fit;
void described_fit_open(described_fit *a);
void described_fit_close(described_fit *a);

/* A two-armed reversal task: the arm that wins more often changes with probability .056. */
idm_problem *make_reversal(double alpha);
/* A log in which agent i decides with alpha[i]. */
idm_data *simulate_agents(const idm_problem *problem, const double *alpha, size_t agents,
                          size_t trajectories, int steps, uint64_t seed);
/* A log of learners, with `trajectories` trajectories each, rewarded by the problem's utilities. */
idm_data *simulate_learners(const idm_problem *problem, size_t agents, size_t trajectories,
                            int steps, uint64_t seed);
/* Assign all trajectories to one agent. */
void assign_one_agent(idm_data *data);

#endif
