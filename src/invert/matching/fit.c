/* Context of inverse planners by soft policy matching: checks of the request, parameters, trees and
 * matchings. */
#include "invert/matching/fit.h"

#include <math.h>

#include "base/key.h"
#include "base/memory.h"
#include "data/log.h"
#include "idm/extension/inverse.h"
#include "invert/cancel.h"
#include "invert/matching.h"
#include "invert/posterior.h"
#include "plan/plan.h"
#include "plan/workspace.h"

void idm_fit_close(fit_context *f)
{
  for (size_t i = 0; f->matching && i < f->matchings; i++) idm_matching_destroy(f->matching[i]);
  free(f->matching);
  free(f->scratch);
  free(f->unit);
  idm_prefix_tree_destroy(f->segment_tree);
  idm_data_split_destroy(f->segments);
  idm_prefix_tree_destroy(f->tree);
  idm_parameters_destroy(f->parameters);
  *f = (fit_context){0};
}

idm_status idm_fit_check_capacity(const idm_problem *problem, idm_error *opt_error)
{
  const idm_agent_options *agent = &problem->agent;
  if (isnan(agent->decision_capacity) && isnan(agent->specification_capacity) &&
      isnan(agent->recognition_capacity))
    return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "the agent has a capacity, which determines a multiplier; a fit infers the "
                  "multiplier: leave the capacity out");
}

/* Refuse more free numbers than the likelihood of a log can determine: chains would not converge.
 */
static idm_status check_numbers(const idm_parameters *parameters, idm_error *opt_error)
{
  enum { max_numbers = 1000 };
  size_t named = 0;
  for (size_t i = 0; i < parameters->items; i++)
    if (!parameters->item[i].opaque) named += parameters->item[i].size;
  if (named <= max_numbers) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT, "%zu numbers are free; the likelihood allows at most %d",
                  named, max_numbers);
}

idm_status idm_fit_create_matching(const fit_context *f, const idm_problem *problem,
                                   idm_matching **ret_matching, idm_error *opt_error)
{
  return idm_matching_create(problem, f->segments ? f->segments : f->data,
                             f->segments ? f->segment_tree : f->tree, f->parameters, ret_matching,
                             opt_error);
}

size_t idm_fit_histories(const fit_context *f)
{
  return f->segments ? f->segment_tree->nodes : f->tree->nodes;
}

/* Split the data into segments if these have fewer histories than the whole. Observations at the
 * ends of segments are checked once, in the whole. */
static idm_status segment_data(fit_context *f, idm_error *opt_error)
{
  idm_matching *whole = NULL;
  idm_status status = idm_data_split(f->data, f->problem->setting, &f->segments, opt_error);
  if (status != IDM_OK || !f->segments) return status;
  status = idm_prefix_tree_create(f->segments, f->tree->scope, &f->segment_tree, opt_error);
  if (status == IDM_OK && f->segment_tree->nodes >= f->tree->nodes) {
    idm_prefix_tree_destroy(f->segment_tree);
    idm_data_split_destroy(f->segments);
    f->segment_tree = NULL;
    f->segments = NULL;
    return IDM_OK;
  }
  if (status == IDM_OK)
    status = idm_matching_create(f->problem, f->data, f->tree, f->parameters, &whole, opt_error);
  if (status == IDM_OK) status = idm_matching_check(whole, opt_error);
  idm_matching_destroy(whole);
  return status;
}

idm_status idm_fit_open(fit_context *f, const idm_inverse *opt_inverse, const idm_problem *problem,
                        const idm_data *data, const idm_fit_settings *settings, size_t matchings,
                        idm_error *opt_error)
{
  return idm_fit_open_cancel(f, opt_inverse, problem, data, settings, matchings, NULL, opt_error);
}

idm_status idm_fit_open_cancel(fit_context *f, const idm_inverse *opt_inverse,
                               const idm_problem *problem, const idm_data *data,
                               const idm_fit_settings *settings, size_t matchings,
                               idm_cancel *opt_cancel, idm_error *opt_error)
{
  *f = (fit_context){.problem = problem, .data = data, .settings = settings};
  idm_status status = idm_keys_check(idm_fit_keys(), settings, opt_error);
  if (status == IDM_OK) status = idm_fit_check_capacity(problem, opt_error);
  if (status == IDM_OK && opt_inverse)
    status = idm_inverse_check(opt_inverse, problem, data, opt_error);
  if (status == IDM_OK) status = idm_parameters_create(problem, &f->parameters, opt_error);
  if (status == IDM_OK && opt_inverse) status = check_numbers(f->parameters, opt_error);
  if (status == IDM_OK) f->parameters->cancel = opt_cancel;
  if (status == IDM_OK) status = idm_evidence_tree(problem, data, &f->tree, opt_error);
  if (status == IDM_OK && idm_agent_is_memoryless(problem)) status = segment_data(f, opt_error);
  if (status == IDM_OK) {
    f->key = idm_fingerprint_request(opt_inverse, problem, data, settings);
    f->matching = idm_new(matchings, sizeof *f->matching);
    f->scratch = idm_new(idm_parameters_numbers(f->parameters), sizeof *f->scratch);
    f->unit = idm_new(idm_parameters_dimension(f->parameters), sizeof *f->unit);
    if (!f->matching || !f->scratch || !f->unit) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) idm_parameters_units(f->parameters, f->unit);
  for (size_t i = 0; i < matchings && status == IDM_OK; i++) {
    status = idm_cancel_check(opt_cancel, opt_error);
    if (status != IDM_OK) break;
    status = idm_fit_create_matching(f, problem, &f->matching[i], opt_error);
    f->matchings = i + 1;
  }
  if (status == IDM_OK) status = idm_matching_check(f->matching[0], opt_error);
  if (status != IDM_OK) idm_fit_close(f);
  return status;
}

idm_status idm_fit_use_table(const fit_context *f, idm_matching *matching, idm_error *opt_error)
{
  if (!f->table) return IDM_OK;
  idm_problem coarse = *f->problem;
  idm_matching *tail_resolution = NULL;
  coarse.agent.resolution = f->table->tail_resolution;
  const idm_status status = idm_fit_create_matching(f, &coarse, &tail_resolution, opt_error);
  return status == IDM_OK ? idm_matching_use_table(matching, f->table, tail_resolution, opt_error)
                          : status;
}
