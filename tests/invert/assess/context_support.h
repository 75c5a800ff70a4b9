/* Fixture of the model checks: a log, its point estimate, and the context of the checks. */
#ifndef IDM_TESTS_CONTEXT_SUPPORT_H
#define IDM_TESTS_CONTEXT_SUPPORT_H

#include "invert/assess/context.h"
#include "support.h"

typedef struct asked {
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
  idm_assessment *assessment; /* of the draws alone */
  idm_fit_settings settings;
  fit_context f;
  check_context q;
} asked;

/* Fit by `map` with the named blocks free. Takes ownership of problem and data. */
void asked_open(asked *a, idm_problem *problem, idm_data *data, const char *free_blocks);
void asked_close(asked *a);
/* An open fit of log alpha and 1/beta to one row, for functions that describe parameters. The fit
 * points into the structure. */
typedef struct asked_least {
  idm_problem *problem;
  idm_data *data;
  idm_fit_settings settings;
  fit_context f;
} asked_least;
void asked_open_least(asked_least *a);
void asked_close_least(asked_least *a);

/* A two-armed reversal task: the arm that wins more often changes with probability .056. */
idm_problem *asked_reversal(double alpha);
/* A log in which agent i decides with alpha[i]. */
idm_data *asked_simulate(const idm_problem *problem, const double *alpha, size_t agents,
                         size_t trajectories, int steps, uint64_t seed);
/* A log of learners, with `trajectories` trajectories each, rewarded by the problem's utilities. */
idm_data *asked_learners(const idm_problem *problem, size_t agents, size_t trajectories, int steps,
                         uint64_t seed);
/* Assign all trajectories to one agent. */
void asked_unite(idm_data *data);

#endif
