/* A log, its point answer, and an inquiry into it: what checks of the model look at. */
#ifndef IDM_TESTS_ASKED_SUPPORT_H
#define IDM_TESTS_ASKED_SUPPORT_H

#include "invert/assess/inquiry.h"
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

/* Fit by `map`, with what is named free. Takes problem and data. */
void asked_open(asked *a, idm_problem *problem, idm_data *data, const char *free_blocks);
void asked_close(asked *a);
/* An open fit of alpha by its logarithm and beta by its inverse to one row: what is said of numbers
 * needs no more. The fit points into it. */
typedef struct asked_least {
  idm_problem *problem;
  idm_data *data;
  idm_fit_settings settings;
  fit_context f;
} asked_least;
void asked_open_least(asked_least *a);
void asked_close_least(asked_least *a);

/* A two-armed reversal task: which arm wins more often changes with probability .056. */
idm_problem *asked_reversal(double alpha);
/* A log in which agent i decides with alpha[i]. */
idm_data *asked_simulate(const idm_problem *problem, const double *alpha, size_t agents,
                         size_t trajectories, int steps, uint64_t seed);
/* A log of learners, each with some trajectories, that the problem's utilities are paid in. */
idm_data *asked_learners(const idm_problem *problem, size_t agents, size_t trajectories, int steps,
                         uint64_t seed);
/* Make all trajectories those of one agent. */
void asked_unite(idm_data *data);

#endif
