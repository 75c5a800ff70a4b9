/* Turn a problem into an instance of a class: planner, fixed blocks, free blocks and their priors.
 */
#include "study/study.h"

#include <string.h>

#include "base/arguments.h"
#include "idm/extension/dynamics.h"
#include "invert/classes.h"
#include "io/problem_file.h"
#include "plan/plan.h"
#include "setting/model.h"

/* Whether the free blocks of theta are exactly those of the class. */
static bool has_class_blocks(const idm_class *model_class, const idm_theta *theta)
{
  size_t required = 1;
  size_t found = 0;
  for (const char *at = model_class->free; *at; at++) required += *at == ',';
  for (size_t i = 0; i < theta->blocks; i++) {
    if (theta->block[i].role != IDM_DESCRIPTIVE) continue;
    if (!idm_class_list_contains(model_class->free, theta->block[i].info->name)) return false;
    found++;
  }
  return found == required;
}

/* Weights of a decision rule start at 0 where the problem gives none. */
static idm_status set_weights(const idm_class *model_class, idm_theta *theta, idm_error *opt_error)
{
  const idm_sizes n = theta->sizes;
  if (!idm_class_list_contains(model_class->free, idm_block_name(IDM_WEIGHTS)) ||
      theta->block[IDM_WEIGHTS].size)
    return IDM_OK;
  return idm_theta_resize(theta, IDM_WEIGHTS, n.actions * (n.states + 1), 1, opt_error);
}

/* With free transitions the agent has one model, which starts at the environment; several models in
 * the problem are those of an agent with uncertain knowledge. */
static idm_status set_single_model(const idm_class *model_class, idm_problem *problem,
                                   idm_error *opt_error)
{
  if (problem->theta->models < 2 ||
      !idm_class_list_contains(model_class->free, idm_block_name(IDM_TRANSITION)))
    return IDM_OK;
  idm_dynamics *environment = NULL;
  idm_status status = idm_problem_dynamics(problem, &environment, opt_error);
  if (status == IDM_OK)
    status =
        idm_problem_set_models(problem, (const idm_dynamics *const[]){environment}, 1, opt_error);
  idm_dynamics_destroy(environment);
  return status;
}

/* Free the blocks of the class, with their default priors. */
static idm_status free_blocks(const idm_class *model_class, idm_problem *problem,
                              idm_error *opt_error)
{
  char list[200];
  const idm_status status = set_single_model(model_class, problem, opt_error);
  if (status != IDM_OK) return status;
  return idm_problem_set_free(problem, idm_class_blocks(model_class, problem, list, sizeof list),
                              opt_error);
}

idm_status idm_class_apply(const idm_class *model_class, idm_problem *problem, idm_error *opt_error)
{
  idm_require(model_class, problem);
  const idm_planner *planner = idm_planner_find(model_class->planner);
  if (!model_class->partial && !problem->setting->fully_observed)
    return idm_fail(opt_error, IDM_INPUT,
                    "the class '%s' needs observed states; expected observations: states",
                    model_class->name);
  idm_status status = idm_problem_set_planner(problem, planner, opt_error);
  if (status == IDM_OK)
    problem->agent.choice = model_class->deterministic ? IDM_CHOICE_BEST : IDM_CHOICE_DRAWN;
  for (size_t i = 0; i < IDM_BLOCK_COUNT && status == IDM_OK; i++)
    if (idm_class_list_contains(model_class->fixed, idm_block_name((idm_block_id)i)))
      idm_theta_set_scalar(problem->theta, i, 0);
  if (status == IDM_OK) status = set_weights(model_class, problem->theta, opt_error);
  if (status == IDM_OK && !has_class_blocks(model_class, problem->theta))
    status = free_blocks(model_class, problem, opt_error);
  return status;
}
