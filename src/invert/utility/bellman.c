/* Bellman's equations as rows of a linear program. */
#include "invert/utility/bellman.h"

idm_bellman idm_bellman_begin(idm_program *program, const idm_mdp *world, const idm_sought *sought,
                              size_t values)
{
  return (idm_bellman){.program = program, .world = world, .sought = sought, .values = values};
}

idm_status idm_bellman_utility(idm_bellman *rows, size_t entry, double factor, idm_error *opt_error)
{
  const idm_sought *sought = rows->sought;
  const int32_t number = sought->number[entry];
  idm_status status = IDM_OK;
  if (number >= 0) return idm_program_enter(rows->program, (size_t)number, factor, opt_error);
  rows->held -= factor * idm_sought_constant(sought, entry);
  for (size_t k = 0; sought->features && k < sought->count && status == IDM_OK; k++) {
    const double value = sought->features->value[entry * sought->count + k];
    if (value != 0) status = idm_program_enter(rows->program, k, factor * value, opt_error);
  }
  return status;
}

idm_status idm_bellman_enter(idm_bellman *rows, size_t state, size_t action, double weight,
                             idm_error *opt_error)
{
  const idm_moves *moves = rows->world->moves;
  const size_t entry = action * rows->world->n.states + state;
  idm_status status = idm_bellman_utility(rows, entry, -weight, opt_error);
  for (size_t i = moves->first[entry]; i < moves->first[entry + 1] && status == IDM_OK; i++)
    status = idm_program_enter(rows->program, rows->values + moves->next[i],
                               -weight * rows->world->discount * moves->probability[i], opt_error);
  return status;
}

idm_status idm_bellman_add(idm_bellman *rows, size_t state, double lower, double upper,
                           idm_error *opt_error)
{
  idm_status status = idm_program_enter(rows->program, rows->values + state, 1, opt_error);
  if (status == IDM_OK)
    status = idm_program_add(rows->program, lower + rows->held, upper + rows->held, opt_error);
  rows->held = 0;
  return status;
}

idm_status idm_bellman_policy(idm_bellman *rows, const double *policy, idm_error *opt_error)
{
  const idm_sizes n = rows->world->n;
  idm_status status = IDM_OK;
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    for (size_t u = 0; u < n.actions && status == IDM_OK; u++)
      if (policy[s * n.actions + u] > 0)
        status = idm_bellman_enter(rows, s, u, policy[s * n.actions + u], opt_error);
    if (status == IDM_OK) status = idm_bellman_add(rows, s, 0, 0, opt_error);
  }
  return status;
}

bool idm_bellman_open(const idm_mdp *world, size_t action)
{
  return world->prior[action] > 0;
}

idm_status idm_bellman_check(const idm_mdp *world, const idm_setting *setting, const char *who,
                             idm_error *opt_error)
{
  if (setting->horizon)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs values that do not depend on the step, and episodes here end after "
                    "%d; expected no `horizon`",
                    who, setting->horizon);
  if (!(world->discount < 1))
    return idm_fail(opt_error, IDM_INPUT, "'%s' needs a discount below 1, and it is %g", who,
                    world->discount);
  return IDM_OK;
}

bool idm_bellman_ask(void *halt)
{
  return idm_halt_ask(halt);
}
