/* What an inverse planner is asked. */
#include "invert/utility/asked.h"

#include <string.h>

idm_status idm_asked_open(idm_asked *asked, const idm_inverse *inverse, const idm_problem *problem,
                          const idm_data *data, const idm_fit_settings *settings,
                          const idm_fit_watch *opt_watch, const char *doing, idm_notes *opt_notes,
                          idm_error *opt_error)
{
  *asked = (idm_asked){.inverse = inverse,
                       .problem = problem,
                       .data = data,
                       .settings = settings,
                       .opt_notes = opt_notes};
  idm_halt_begin(&asked->halt, opt_watch, doing);
  idm_status status = idm_keys_check(idm_fit_keys(), settings, opt_error);
  if (status == IDM_OK) status = idm_inverse_check(inverse, problem, data, opt_error);
  if (status == IDM_OK)
    status = idm_world_create(problem, problem->setting, inverse->name, &asked->world, opt_error);
  if (status == IDM_OK && strcmp(inverse->finds, idm_block_name(IDM_UTILITY)) == 0)
    status = idm_sought_create(problem, &asked->sought, opt_error);
  return status;
}

idm_status idm_asked_demonstrator(idm_asked *asked, idm_error *opt_error)
{
  return idm_demonstrator_create(asked->world, asked->data, asked->problem->setting, NULL,
                                 &asked->demonstrator, opt_error);
}

void idm_asked_close(idm_asked *asked)
{
  idm_demonstrator_destroy(asked->demonstrator);
  idm_sought_destroy(asked->sought);
  idm_world_destroy(asked->world);
}
