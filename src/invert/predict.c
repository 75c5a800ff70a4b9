/* Posterior prediction of given trajectories and simulation of new ones. */
#include <math.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "data/log.h"
#include "idm/extension/behavior.h"
#include "idm/extension/data.h"
#include "idm/extension/parameters.h"
#include "idm/extension/posterior.h"
#include "idm/extension/prefix.h"
#include "invert/clone.h"
#include "invert/posterior.h"
#include "invert/predict.h"
#include "plan/plan.h"

/* Largest number of draws that a prediction averages over. */
enum { max_draws = 1000 };

typedef struct predictor {
  const idm_posterior *posterior;
  idm_problem *clone; /* the agent at the current draw */
  idm_parameters *parameters;
  idm_workspace *workspace;
  size_t planned;      /* draw that the workspace was planned for, plus 1; 0: none */
  size_t trajectories; /* to simulate */
  size_t agents;
} predictor;

static void close_predictor(predictor *p)
{
  idm_workspace_destroy(p->workspace);
  idm_parameters_destroy(p->parameters);
  idm_clone_destroy(p->clone);
}

static idm_status open_predictor(predictor *p, const idm_problem *problem,
                                 const idm_posterior *posterior, idm_error *opt_error)
{
  *p = (predictor){.posterior = posterior};
  idm_status status = idm_problem_clone(problem, &p->clone, opt_error);
  if (status == IDM_OK) status = idm_parameters_create(problem, &p->parameters, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(p->clone->setting, p->clone->theta, &p->clone->agent,
                                  &p->workspace, opt_error);
  return status;
}

/* Plans for draw i, counted over all chains. */
static idm_status plan_draw(predictor *p, size_t i, idm_error *opt_error)
{
  if (p->planned == i + 1) return IDM_OK;
  p->planned = 0; /* no draw, if one of the next steps fails */
  idm_status status = idm_posterior_agent(p->posterior, p->parameters, i, p->clone, opt_error);
  if (status == IDM_OK) status = idm_plan(p->clone->theta, NULL, p->workspace, NULL, opt_error);
  if (status == IDM_OK) p->planned = i + 1;
  return status;
}

static idm_status average(predictor *p, const idm_data *data, idm_scorer *scorer,
                          double *log_likelihood, idm_log_sum *sum, idm_score *score,
                          idm_error *opt_error)
{
  const size_t all = p->posterior->chains * p->posterior->draws;
  const size_t used_draws = all < max_draws ? all : max_draws;
  for (size_t t = 0; t < data->trajectories; t++) sum[t] = idm_log_sum_empty;
  idm_status status = IDM_OK;
  for (size_t k = 0; k < used_draws && status == IDM_OK; k++) {
    status = plan_draw(p, k * all / used_draws, opt_error);
    if (status == IDM_OK)
      status = idm_scorer_run(scorer, idm_workspace_behavior(p->workspace), score, opt_error);
    for (size_t t = 0; status == IDM_OK && t < data->trajectories; t++)
      idm_log_sum_add(&sum[t], idm_scorer_trajectory(scorer, t));
  }
  score->log_likelihood = 0;
  score->evidence = 0; /* a mean of likelihoods is not a sum of parts */
  for (size_t t = 0; status == IDM_OK && t < data->trajectories; t++) {
    log_likelihood[t] = idm_log_sum_value(sum[t]) - log((double)used_draws);
    score->log_likelihood += log_likelihood[t];
  }
  if (score->log_likelihood > -INFINITY) score->impossible_line = 0;
  return status;
}

idm_status idm_posterior_predict(const idm_problem *problem, const idm_posterior *posterior,
                                 const idm_data *data, double *log_likelihood, idm_score *score,
                                 idm_error *opt_error)
{
  idm_require(problem, posterior, data, log_likelihood, score);
  predictor p;
  idm_prefix_tree *tree = NULL;
  idm_scorer *scorer = NULL;
  *score = (idm_score){0};
  idm_log_sum *sum = idm_new(data->trajectories, sizeof *sum);
  idm_status status = open_predictor(&p, problem, posterior, opt_error);
  if (status == IDM_OK && !sum) status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_evidence_tree(problem, data, &tree, opt_error);
  if (status == IDM_OK) status = idm_scorer_create(data, tree, &scorer, opt_error);
  if (status == IDM_OK) status = average(&p, data, scorer, log_likelihood, sum, score, opt_error);
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  close_predictor(&p);
  free(sum);
  return status;
}

/* Uses one draw per trajectory, or one draw per agent if memory persists between trajectories. */
static idm_status plan_trajectory(void *context, size_t trajectory, size_t agent,
                                  idm_error *opt_error)
{
  predictor *p = context;
  const size_t all = p->posterior->chains * p->posterior->draws;
  const bool is_by_agent = idm_workspace_behavior(p->workspace).ops->scope & IDM_SCOPE_AGENT;
  return plan_draw(p, is_by_agent ? agent * all / p->agents : trajectory * all / p->trajectories,
                   opt_error);
}

idm_status idm_posterior_simulate(const idm_problem *problem, const idm_posterior *posterior,
                                  const idm_simulation *simulation, idm_data **ret_data,
                                  idm_error *opt_error)
{
  idm_require(problem, posterior, simulation, ret_data);
  *ret_data = NULL;
  predictor p;
  idm_status status = open_predictor(&p, problem, posterior, opt_error);
  idm_simulation request = *simulation;
  request.opt_before = plan_trajectory;
  request.context = &p;
  idm_simulation_adapt(&request, problem);
  const idm_data *design_log = simulation->opt_design_log;
  p.trajectories = design_log ? design_log->trajectories : request.trajectories;
  p.agents = design_log ? design_log->agent_name.count : request.agents ? request.agents : 1;
  if (status == IDM_OK)
    status = idm_simulate(p.clone->setting, idm_workspace_behavior(p.workspace), &request, ret_data,
                          opt_error);
  close_predictor(&p);
  return status;
}
