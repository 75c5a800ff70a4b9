/* Dynamics of an environment (start, transition and observation probabilities), and the candidate
 * models of an agent that are derived from them. */
#ifndef IDM_EXTENSION_DYNAMICS_H
#define IDM_EXTENSION_DYNAMICS_H

#include "idm/extension/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Start, transition and observation probabilities in one array. */
typedef struct idm_dynamics {
  idm_sizes sizes;
  size_t numbers;     /* total number of probabilities */
  double *start;      /* [state], owned; transition and emission follow in the same array */
  double *transition; /* [action][state][next state] */
  double *emission;   /* [action][emitter][observation] (see idm_setting) */
} idm_dynamics;

/* Allocate dynamics with all probabilities 0. *ret_dynamics is the caller's. */
IDM_API idm_status idm_dynamics_create(idm_sizes sizes, idm_dynamics **ret_dynamics,
                                       idm_error *opt_error);
/* Free dynamics. Takes NULL. */
IDM_API void idm_dynamics_destroy(idm_dynamics *dynamics);
/* Copy the probabilities of `from`; no effect where the sizes differ. */
IDM_API void idm_dynamics_assign(idm_dynamics *dynamics, const idm_dynamics *from);

/* Copy the dynamics of a problem's environment. *ret_dynamics is the caller's. IDM_INPUT where the
 * problem does not contain them as matrices. */
IDM_API idm_status idm_problem_dynamics(const idm_problem *problem, idm_dynamics **ret_dynamics,
                                        idm_error *opt_error);
/* Replace the dynamics of a problem's environment, and derive the agent's models from them by the
 * problem's rule. IDM_USAGE where the sizes differ; IDM_INPUT where the models are an explicit
 * list, so that new models are not defined, or entries of the matrices are free. */
IDM_API idm_status idm_problem_set_dynamics(idm_problem *problem, const idm_dynamics *dynamics,
                                            idm_error *opt_error);
/* Whether the agent's models are derived from the environment: by a rule, or as the environment
 * itself. */
IDM_API bool idm_problem_models_derived(const idm_problem *problem);
/* Replace the agent's models by those of a rule; a rule of zeros gives the environment itself.
 * IDM_INPUT where the environment is not known as matrices, the rule gives too many models, or
 * entries of the matrices are free. */
IDM_API idm_status idm_problem_apply_rule(idm_problem *problem, const idm_model_rule *rule,
                                          idm_error *opt_error);
/* Number of models that a rule gives. */
IDM_API double idm_model_rule_count(const idm_model_rule *rule, const idm_setting *setting);
/* Replace the agent's models by list[count], with equal weights; the start distributions of the
 * list are ignored. IDM_USAGE for an empty list or other sizes, IDM_INPUT where entries of the
 * matrices are free. */
IDM_API idm_status idm_problem_set_models(idm_problem *problem, const idm_dynamics *const *list,
                                          size_t count, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
