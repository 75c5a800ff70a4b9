/* What every inverse planner by soft policy matching begins with. */
#include "invert/matching/fit.h"

#include <math.h>

#include "base/memory.h"
#include "data/cut.h"
#include "idm/inverse.h"
#include "idm/matching.h"
#include "invert/label.h"
#include "invert/matching/halt.h"
#include "invert/matching/matching.h"
#include "plan/forgets.h"

void idm_fit_close(fit *f)
{
  for (size_t i = 0; f->matching && i < f->matchings; i++) idm_matching_destroy(f->matching[i]);
  free(f->matching);
  free(f->scratch);
  free(f->unit);
  idm_prefix_tree_destroy(f->cut_tree);
  idm_data_cut_destroy(f->cut);
  idm_prefix_tree_destroy(f->tree);
  idm_parameters_destroy(f->parameters);
  *f = (fit){0};
}

idm_status idm_fit_infers(const idm_problem *problem, idm_error *opt_error)
{
  const idm_agent *agent = &problem->agent;
  if (isnan(agent->decision_capacity) && isnan(agent->specification_capacity) &&
      isnan(agent->recognition_capacity))
    return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "the agent has a capacity, which finds a multiplier by itself; a fit infers the "
                  "multiplier: leave the capacity out");
}

/* Far more free numbers than the likelihood of a log can tell: a chain would never be done. */
static idm_status check_numbers(const idm_parameters *parameters, idm_error *opt_error)
{
  enum { most = 1000 };
  size_t named = 0;
  for (size_t i = 0; i < parameters->items; i++)
    if (!parameters->item[i].opaque) named += parameters->item[i].size;
  if (named <= most) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT, "%zu numbers are free; by the likelihood at most %d can be",
                  named, most);
}

idm_status idm_fit_match(const fit *f, const idm_problem *problem, idm_matching **ret_matching,
                         idm_error *opt_error)
{
  return idm_matching_create(problem, f->cut ? f->cut : f->data, f->cut ? f->cut_tree : f->tree,
                             f->parameters, ret_matching, opt_error);
}

size_t idm_fit_histories(const fit *f)
{
  return f->cut ? f->cut_tree->nodes : f->tree->nodes;
}

/* Go by pieces, where they are fewer than histories. What was seen at their ends is looked at
 * once, in the whole. */
static idm_status cut_up(fit *f, idm_error *opt_error)
{
  idm_matching *whole = NULL;
  idm_status status = idm_data_cut(f->data, f->problem->setting, &f->cut, opt_error);
  if (status != IDM_OK || !f->cut) return status;
  status = idm_prefix_tree_create(f->cut, f->tree->scope, &f->cut_tree, opt_error);
  if (status == IDM_OK && f->cut_tree->nodes >= f->tree->nodes) {
    idm_prefix_tree_destroy(f->cut_tree);
    idm_data_cut_destroy(f->cut);
    f->cut_tree = NULL;
    f->cut = NULL;
    return IDM_OK;
  }
  if (status == IDM_OK)
    status = idm_matching_create(f->problem, f->data, f->tree, f->parameters, &whole, opt_error);
  if (status == IDM_OK) status = idm_matching_check(whole, opt_error);
  idm_matching_destroy(whole);
  return status;
}

idm_status idm_fit_open(fit *f, const idm_inverse *opt_inverse, const idm_problem *problem,
                        const idm_data *data, const idm_fit_settings *settings, size_t matchings,
                        idm_error *opt_error)
{
  return idm_fit_open_halted(f, opt_inverse, problem, data, settings, matchings, NULL, opt_error);
}

idm_status idm_fit_open_halted(fit *f, const idm_inverse *opt_inverse, const idm_problem *problem,
                               const idm_data *data, const idm_fit_settings *settings,
                               size_t matchings, idm_halt *opt_halt, idm_error *opt_error)
{
  *f = (fit){.problem = problem, .data = data, .settings = settings};
  idm_status status = idm_keys_check(idm_fit_keys(), settings, opt_error);
  if (status == IDM_OK) status = idm_fit_infers(problem, opt_error);
  if (status == IDM_OK && opt_inverse)
    status = idm_inverse_check(opt_inverse, problem, data, opt_error);
  if (status == IDM_OK) status = idm_parameters_create(problem, &f->parameters, opt_error);
  if (status == IDM_OK && opt_inverse) status = check_numbers(f->parameters, opt_error);
  if (status == IDM_OK) f->parameters->halt = opt_halt;
  if (status == IDM_OK) status = idm_evidence_tree(problem, data, &f->tree, opt_error);
  if (status == IDM_OK && idm_agent_forgets(problem)) status = cut_up(f, opt_error);
  if (status == IDM_OK) {
    f->key = idm_label_request(opt_inverse, problem, data, settings);
    f->matching = idm_new(matchings, sizeof *f->matching);
    f->scratch = idm_new(idm_parameters_numbers(f->parameters), sizeof *f->scratch);
    f->unit = idm_new(idm_parameters_dimension(f->parameters), sizeof *f->unit);
    if (!f->matching || !f->scratch || !f->unit) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) idm_parameters_units(f->parameters, f->unit);
  for (size_t i = 0; i < matchings && status == IDM_OK; i++) {
    status = idm_halt_check(opt_halt, opt_error);
    if (status != IDM_OK) break;
    status = idm_fit_match(f, problem, &f->matching[i], opt_error);
    f->matchings = i + 1;
  }
  if (status == IDM_OK) status = idm_matching_check(f->matching[0], opt_error);
  if (status != IDM_OK) idm_fit_close(f);
  return status;
}

idm_status idm_fit_stand_in(const fit *f, idm_matching *matching, idm_error *opt_error)
{
  if (!f->table) return IDM_OK;
  idm_problem coarse = *f->problem;
  idm_matching *far = NULL;
  coarse.agent.resolution = f->table->far;
  const idm_status status = idm_fit_match(f, &coarse, &far, opt_error);
  return status == IDM_OK ? idm_matching_stand_in(matching, f->table, far, opt_error) : status;
}
