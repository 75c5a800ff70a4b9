/* What an inverse planner is asked. */
#include "invert/utility/asked.h"

#include <string.h>

static idm_status seek(idm_asked *asked, idm_error *opt_error)
{
  const char *finds = asked->inverse->finds;
  if (!finds || strcmp(finds, idm_block_name(IDM_UTILITY)) != 0) return IDM_OK;
  return idm_sought_create(asked->problem, &asked->sought, opt_error);
}

/* The agent's mind, and the world that it believes in. */
static idm_status open_mind(idm_asked *asked, idm_error *opt_error)
{
  const idm_status status =
      idm_mind_create(asked->problem, asked->data, asked->inverse->name, &asked->mind, opt_error);
  return status == IDM_OK ? idm_mdp_create_believed(asked->problem->setting, asked->mind->theta,
                                                    &asked->world, opt_error)
                          : status;
}

/* The world of beliefs on a lattice. */
static idm_status open_lattice(idm_asked *asked, int resolution, idm_error *opt_error)
{
  const char *who = asked->inverse->name;
  const idm_status status =
      asked->inverse->finds
          ? idm_mind_create(asked->problem, asked->data, who, &asked->mind, opt_error)
          : idm_mind_create_acting(asked->problem, asked->data, who, &asked->mind, opt_error);
  if (status != IDM_OK) return status;
  const idm_status made =
      idm_belief_world_create(asked->mind, resolution, who, &asked->beliefs, opt_error);
  if (made == IDM_OK) asked->world = asked->beliefs->world;
  return made;
}

/* What is sought, by beliefs. */
static idm_status blend(idm_asked *asked, idm_error *opt_error)
{
  if (!asked->beliefs || !asked->sought) return IDM_OK;
  return idm_sought_create_on(asked->sought, asked->mind->n.actions, asked->mind->n.states,
                              asked->beliefs->lattice->points, asked->beliefs->lattice->belief,
                              &asked->blended, opt_error);
}

/* The resolution of the lattice that the method takes for a log. */
static int own_resolution(const idm_fit_call *call, const idm_asked_method *method)
{
  return method->resolution ? method->resolution(call->problem, call->data)
                            : idm_belief_world_resolution(call->problem, call->data);
}

idm_status idm_asked_open(idm_asked *asked, const idm_fit_call *call, int resolution,
                          idm_error *opt_error)
{
  const idm_problem *problem = call->problem;
  const idm_asked_method *method = call->inverse->method;
  const idm_asked_by by = problem->setting->fully_observed ? IDM_BY_STATES : method->by;
  *asked = (idm_asked){.inverse = call->inverse,
                       .problem = problem,
                       .data = call->data,
                       .settings = call->settings,
                       .opt_notes = call->opt_notes};
  idm_halt_begin(&asked->halt, call->opt_watch, method->doing);
  idm_status status = idm_keys_check(idm_fit_keys(), asked->settings, opt_error);
  if (status == IDM_OK) status = idm_inverse_check(call->inverse, problem, call->data, opt_error);
  if (status == IDM_OK && by == IDM_BY_STATES)
    status =
        idm_mdp_create(problem, problem->setting, call->inverse->name, &asked->world, opt_error);
  if (status == IDM_OK && by == IDM_BY_MIND) status = open_mind(asked, opt_error);
  if (status == IDM_OK && by == IDM_BY_LATTICE)
    status = open_lattice(asked, resolution ? resolution : own_resolution(call, method), opt_error);
  if (status == IDM_OK) status = seek(asked, opt_error);
  return status == IDM_OK ? blend(asked, opt_error) : status;
}

idm_status idm_asked_fit(const idm_fit_call *call, idm_posterior **ret_posterior,
                         idm_error *opt_error)
{
  const idm_asked_method *method = call->inverse->method;
  idm_asked asked;
  idm_status status = idm_asked_open(&asked, call, 0, opt_error);
  if (status == IDM_OK) status = method->answer(&asked, ret_posterior, opt_error);
  idm_asked_close(&asked);
  return status;
}

idm_fit_call idm_asked_repeat(const idm_asked *asked)
{
  return (idm_fit_call){.inverse = asked->inverse,
                        .problem = asked->problem,
                        .data = asked->data,
                        .settings = asked->settings,
                        .opt_watch = asked->halt.watch};
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
  if (!asked->beliefs) idm_mdp_destroy(asked->world);
  idm_belief_world_destroy(asked->beliefs);
  idm_mind_destroy(asked->mind);
}
