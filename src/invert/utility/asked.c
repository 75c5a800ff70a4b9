/* What an inverse planner is asked. */
#include "invert/utility/asked.h"

#include <string.h>

/* Before the world: settings, and what the inverse planner needs. */
static idm_status begin(idm_asked *asked, const idm_fit_watch *opt_watch, const char *doing,
                        idm_error *opt_error)
{
  idm_halt_begin(&asked->halt, opt_watch, doing);
  idm_status status = idm_keys_check(idm_fit_keys(), asked->settings, opt_error);
  if (status == IDM_OK)
    status = idm_inverse_check(asked->inverse, asked->problem, asked->data, opt_error);
  return status;
}

static idm_status seek(idm_asked *asked, idm_error *opt_error)
{
  const char *finds = asked->inverse->finds;
  if (!finds || strcmp(finds, idm_block_name(IDM_UTILITY)) != 0) return IDM_OK;
  return idm_sought_create(asked->problem, &asked->sought, opt_error);
}

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
  idm_status status = begin(asked, opt_watch, doing, opt_error);
  if (status == IDM_OK)
    status = idm_world_create(problem, problem->setting, inverse->name, &asked->world, opt_error);
  return status == IDM_OK ? seek(asked, opt_error) : status;
}

idm_status idm_asked_open_believing(idm_asked *asked, const idm_inverse *inverse,
                                    const idm_problem *problem, const idm_data *data,
                                    const idm_fit_settings *settings,
                                    const idm_fit_watch *opt_watch, const char *doing,
                                    idm_notes *opt_notes, idm_error *opt_error)
{
  if (problem->setting->fully_observed)
    return idm_asked_open(asked, inverse, problem, data, settings, opt_watch, doing, opt_notes,
                          opt_error);
  *asked = (idm_asked){.inverse = inverse,
                       .problem = problem,
                       .data = data,
                       .settings = settings,
                       .opt_notes = opt_notes};
  idm_status status = begin(asked, opt_watch, doing, opt_error);
  if (status == IDM_OK)
    status = idm_mind_create(problem, data, inverse->name, &asked->mind, opt_error);
  if (status == IDM_OK)
    status =
        idm_world_create_believed(problem->setting, asked->mind->theta, &asked->world, opt_error);
  return status == IDM_OK ? seek(asked, opt_error) : status;
}

idm_status idm_asked_open_on_beliefs(idm_asked *asked, const idm_inverse *inverse,
                                     const idm_problem *problem, const idm_data *data,
                                     const idm_fit_settings *settings,
                                     const idm_fit_watch *opt_watch, const char *doing,
                                     int resolution, idm_notes *opt_notes, idm_error *opt_error)
{
  if (problem->setting->fully_observed)
    return idm_asked_open(asked, inverse, problem, data, settings, opt_watch, doing, opt_notes,
                          opt_error);
  *asked = (idm_asked){.inverse = inverse,
                       .problem = problem,
                       .data = data,
                       .settings = settings,
                       .opt_notes = opt_notes};
  idm_status status = begin(asked, opt_watch, doing, opt_error);
  if (status == IDM_OK)
    status = inverse->finds
                 ? idm_mind_create(problem, data, inverse->name, &asked->mind, opt_error)
                 : idm_mind_create_acting(problem, data, inverse->name, &asked->mind, opt_error);
  if (status == IDM_OK)
    status = idm_belief_world_create(
        asked->mind, resolution ? resolution : idm_belief_world_resolution(problem, data),
        inverse->name, &asked->beliefs, opt_error);
  if (status == IDM_OK) asked->world = asked->beliefs->world;
  if (status == IDM_OK) status = seek(asked, opt_error);
  if (status != IDM_OK || !asked->sought) return status;
  return idm_sought_create_on(asked->sought, asked->mind->n.actions, asked->mind->n.states,
                              asked->beliefs->lattice->points, asked->beliefs->lattice->belief,
                              &asked->blended, opt_error);
}

const idm_sought *idm_asked_planned(const idm_asked *asked)
{
  return asked->blended ? asked->blended : asked->sought;
}

idm_status idm_asked_demonstrator(idm_asked *asked, idm_error *opt_error)
{
  idm_stations *stations = NULL;
  if (!asked->beliefs)
    return idm_demonstrator_create(asked->world, asked->data, asked->problem->setting, NULL,
                                   &asked->demonstrator, opt_error);
  const idm_status status = idm_belief_world_stations(asked->beliefs, asked->mind, asked->data,
                                                      &stations, asked->opt_notes, opt_error);
  return status == IDM_OK ? idm_demonstrator_create_at(asked->world, asked->data, stations, NULL,
                                                       &asked->demonstrator, opt_error)
                          : status;
}

void idm_asked_close(idm_asked *asked)
{
  idm_demonstrator_destroy(asked->demonstrator);
  idm_sought_destroy(asked->sought);
  idm_sought_destroy(asked->blended);
  if (!asked->beliefs) idm_world_destroy(asked->world);
  idm_belief_world_destroy(asked->beliefs);
  idm_mind_destroy(asked->mind);
}
