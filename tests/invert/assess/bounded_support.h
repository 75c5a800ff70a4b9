/* Fixture: a log of DIAG, its answer and the assessed intervals. */
#ifndef IDM_TESTS_BOUNDED_SUPPORT_H
#define IDM_TESTS_BOUNDED_SUPPORT_H

#include "invert/assess/answered_support.h"
#include "invert/matching/fit.h"

static inline idm_data *simulate(const idm_problem *problem, size_t trajectories)
{
  const idm_simulation simulation = {.trajectories = trajectories, .seed = 3};
  return support_simulate(problem, simulation);
}

static inline answered ask(const char *inverse, idm_problem *problem, idm_data *data)
{
  const answered a = answered_fit(inverse, problem, data, 100, 100, 0);
  assert_true(a.assessment->identified);
  return a;
}

static inline answered ask_diag(const char *inverse, double beta, const char *free_blocks)
{
  idm_problem *problem = support_diag(0.5, beta, 0.3);
  problem->agent.resolution = 20;
  problem->agent.evaluate = IDM_LOOKAHEAD;
  idm_data *data = simulate(problem, 100);
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  return ask(inverse, problem, data);
}

#endif
