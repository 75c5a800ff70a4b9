/* Dynamics: where an environment starts, how it moves and what it shows; and the models of an agent
 * that follow from them. */
#ifndef IDM_DYNAMICS_H
#define IDM_DYNAMICS_H

#include "idm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One array of numbers in three parts. */
typedef struct idm_dynamics {
  idm_sizes sizes;
  size_t numbers;     /* of all three parts */
  double *start;      /* [state], owned; the other parts stand behind it */
  double *transition; /* [action][state][next state] */
  double *emission;   /* [action][emitter][observation] (see idm_setting) */
} idm_dynamics;

/* Allocate dynamics that are 0 everywhere. */
IDM_API idm_status idm_dynamics_create(idm_sizes sizes, idm_dynamics **ret_dynamics,
                                       idm_error *opt_error);
IDM_API void idm_dynamics_destroy(idm_dynamics *dynamics);
/* Copy the numbers of one into another of the same sizes; nothing where they differ. */
IDM_API void idm_dynamics_assign(idm_dynamics *dynamics, const idm_dynamics *from);

/* The environment's own. IDM_INPUT where the problem does not know them. */
IDM_API idm_status idm_problem_dynamics(const idm_problem *problem, idm_dynamics **ret_dynamics,
                                        idm_error *opt_error);
/* Put others in their place, and let the models follow by their rule. IDM_INPUT where the models
 * are a list of their own, which nothing says how to move. */
IDM_API idm_status idm_problem_set_dynamics(idm_problem *problem, const idm_dynamics *dynamics,
                                            idm_error *opt_error);
/* Whether the models follow from the environment: they are the environment itself, or there is a
 * rule. */
IDM_API bool idm_problem_models_derived(const idm_problem *problem);
/* Models by a rule, in place of those that are there; by none, the environment itself. IDM_INPUT
 * where the environment is not known or the rule makes too many. */
IDM_API idm_status idm_problem_apply_rule(idm_problem *problem, const idm_model_rule *rule,
                                          idm_error *opt_error);
/* How many models a rule makes. */
IDM_API double idm_model_rule_count(const idm_model_rule *rule, const idm_setting *setting);
/* Models of equal weight, one from each of the dynamics given; their starts are not looked at. */
IDM_API idm_status idm_problem_set_models(idm_problem *problem, const idm_dynamics *const *list,
                                          size_t count, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
