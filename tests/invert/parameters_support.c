#include "invert/parameters_support.h"

const char support_everything[] =
    "{alpha: {scale: log, prior: {normal: [0.5, 1.5]}}, "
    "beta: {scale: inverse, prior: {normal: [0.1, 2]}}, "
    "eta: {scale: signed-log, prior: {normal: [-0.5, 1]}}, "
    "discount: {prior: {beta: [4, 2]}}, "
    "utility: {entries: {correct: [declare_healthy.healthy, declare_diseased.diseased], "
    "wait: monitor}, scale: signed-log, prior: {normal: [1, 3]}}, "
    "action_prior: {prior: {dirichlet: [2, 1, 3]}}, model_prior: {prior: {dirichlet: [1, 2, 4]}}}";

idm_problem *support_free_diag(const char *free_blocks)
{
  idm_problem *problem = support_diag(0.5, 3, 0.25);
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  return problem;
}

idm_parameters *support_parameters(const idm_problem *problem)
{
  idm_parameters *parameters;
  check(idm_parameters_create(problem, &parameters, &support_error));
  assert_true(idm_parameters_dimension(parameters) <= SUPPORT_COORDINATES);
  return parameters;
}
