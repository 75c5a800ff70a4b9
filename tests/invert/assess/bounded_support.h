/* A log of DIAG, its answer and what is said of what the data bound. */
#ifndef IDM_TESTS_BOUNDED_SUPPORT_H
#define IDM_TESTS_BOUNDED_SUPPORT_H

#include "invert/matching/assemble.h"
#include "invert/matching/matching.h"
#include "support.h"

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
  idm_assessment *assessment;
} fixture;

static inline idm_data *simulate(const idm_problem *problem, size_t trajectories)
{
  const idm_simulation simulation = {.trajectories = trajectories, .seed = 3};
  return support_simulate(problem, simulation);
}

static inline fixture ask(const char *inverse, idm_problem *problem, idm_data *data)
{
  fixture f = {.problem = problem, .data = data};
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.chains = 2;
  settings.draws = 100;
  settings.warmup = 100;
  check(idm_inverse_find(inverse)->fit(problem, data, &settings, NULL, &f.posterior, NULL,
                                       &support_error));
  check(idm_assess(problem, data, f.posterior, 1, &f.assessment, &support_error));
  assert_true(f.assessment->identified);
  return f;
}

static inline fixture ask_diag(const char *inverse, double beta, const char *free_blocks)
{
  idm_problem *problem = support_diag(0.5, beta, 0.3);
  problem->agent.resolution = 20;
  problem->agent.evaluate = IDM_LOOKAHEAD;
  idm_data *data = simulate(problem, 100);
  check(idm_problem_free(problem, free_blocks, &support_error));
  return ask(inverse, problem, data);
}

static inline void close_fixture(fixture *f)
{
  idm_assessment_destroy(f->assessment);
  idm_posterior_destroy(f->posterior);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}

#endif
