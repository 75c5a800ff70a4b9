#include "plan/tabular/td_support.h"

#include <string.h>

enum { AGENTS = 4, TRAJECTORIES = 14, STEPS = 9 };

/* Draws a random problem, fully observed or with hidden states, and parameters within their ranges.
 */
static idm_problem *draw_problem(bool observed, bool by_error, bool fictive, idm_random *random)
{
  const support_shape shape = {TD_STATES, TD_ACTIONS, TD_STATES, 1, 4};
  idm_problem *p = support_problem(shape, random);
  check(idm_problem_set_planner(p, idm_planner_find("td-learner"), &support_error));
  p->setting->fully_observed = observed;
  for (size_t i = 0; observed && i < (size_t)TD_ACTIONS * TD_STATES * TD_STATES; i++) {
    const double one = i / TD_STATES % TD_STATES == i % TD_STATES;
    p->setting->emission[i] = p->theta->block[IDM_EMISSION].value[i] = one;
  }
  memset(p->setting->start, 0, TD_STATES * sizeof *p->setting->start);
  p->setting->start[1] = 1;
  p->setting->ends[2] = true;
  p->agent.asymmetry = by_error ? IDM_ASYMMETRY_ERROR : IDM_ASYMMETRY_OUTCOME;
  p->agent.fictive = fictive;
  const double number[TD_OWNS] = {1.7, 0.45, 0.2, 0.15, 0.3};
  for (size_t i = 0; i < TD_OWNS; i++)
    idm_theta_set_scalar(p->theta, IDM_BLOCK_COUNT + i, number[i]);
  idm_theta_set_scalar(p->theta, IDM_DISCOUNT, 0.7);
  idm_theta_set_scalar(p->theta, IDM_PERSEVERANCE, 0.6);
  idm_theta_set_scalar(p->theta, IDM_LAPSE, 0.08);
  return p;
}

static idm_data *draw_data(const idm_problem *p, const idm_workspace *w, uint64_t seed)
{
  idm_simulation simulation = {
      .trajectories = TRAJECTORIES, .steps = STEPS, .seed = seed, .agents = AGENTS};
  idm_data *data;
  idm_simulation_adapt(&simulation, p);
  check(idm_simulate(p->setting, idm_workspace_behavior(w), &simulation, &data, &support_error));
  return data;
}

td_bench td_open(unsigned kind, uint64_t seed)
{
  return td_open_missed(kind, seed, 0);
}

td_bench td_open_missed(unsigned kind, uint64_t seed, double share)
{
  idm_random random;
  idm_random_init(&random, seed, 2);
  td_bench b = {.problem = draw_problem(kind & 1, kind & 2, kind & 4, &random)};
  b.workspace = support_plan(b.problem, NULL);
  b.data = draw_data(b.problem, b.workspace, seed);
  if (share > 0) support_miss(b.data, b.problem->setting, IDM_MISSING, share, &random);
  check(idm_evidence_tree(b.problem, b.data, &b.tree, &support_error));
  check(idm_scorer_create(b.data, b.tree, &b.scorer, &support_error));
  return b;
}

void td_close(td_bench *b)
{
  idm_scorer_destroy(b->scorer);
  idm_prefix_tree_destroy(b->tree);
  idm_data_destroy(b->data);
  idm_workspace_destroy(b->workspace);
  idm_problem_destroy(b->problem);
}

double td_score(const td_bench *b, const idm_theta *theta)
{
  idm_score result;
  check(idm_plan(theta, NULL, b->workspace, NULL, &support_error));
  check(idm_scorer_run(b->scorer, idm_workspace_behavior(b->workspace), &result, &support_error));
  return result.log_likelihood;
}
