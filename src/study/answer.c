/* Answers of the core API: the problem that was fitted, the verdict, and functions of both. */
#include <stdlib.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "idm/explain.h"
#include "idm/run.h"
#include "invert/explain.h"
#include "invert/posterior.h"
#include "invert/project.h"
#include "study/study.h"

/* --- parts of an answer --------------------------------------------------------------------- */

static void destroy_verdict(void *verdict)
{
  idm_answer_verdict *v = verdict;
  idm_assessment_destroy(v->assessment);
  free(v->opt_request);
  free(v);
}

idm_status idm_posterior_attach(idm_posterior *posterior, idm_assessment *assessment,
                                const idm_request *opt_request, idm_error *opt_error)
{
  idm_answer_verdict *v = idm_new(1, sizeof *v);
  if (v) v->opt_request = idm_duplicate(opt_request, 1, sizeof *opt_request);
  if (!v || (opt_request && !v->opt_request)) {
    free(v);
    idm_assessment_destroy(assessment);
    return idm_fail_memory(opt_error);
  }
  v->assessment = assessment;
  posterior->verdict = v;
  posterior->verdict_destroy = destroy_verdict;
  return IDM_OK;
}

idm_status idm_posterior_adopt(idm_posterior *posterior, idm_problem *problem, idm_error *opt_error)
{
  idm_problem_destroy(posterior->problem);
  posterior->problem = problem;
  if (!problem->agent.resolution) problem->agent.resolution = posterior->resolution;
  return idm_dynamics_apply_central(posterior, problem, opt_error);
}

idm_status idm_posterior_adopt_copy(idm_posterior *posterior, const idm_problem *problem,
                                    idm_error *opt_error)
{
  idm_problem *copy = NULL;
  const idm_status status = idm_problem_copy(problem, &copy, opt_error);
  return status == IDM_OK ? idm_posterior_adopt(posterior, copy, opt_error) : status;
}

const idm_assessment *idm_posterior_assessment(const idm_posterior *posterior)
{
  if (!posterior || !posterior->verdict) return NULL;
  return ((const idm_answer_verdict *)posterior->verdict)->assessment;
}

const idm_problem *idm_posterior_problem(const idm_posterior *posterior)
{
  return posterior ? posterior->problem : NULL;
}

idm_status idm_posterior_require_problem(const idm_posterior *posterior, idm_error *opt_error)
{
  if (posterior->problem) return IDM_OK;
  return idm_fail(opt_error, IDM_USAGE,
                  "the answer has no problem; expected one that is fitted, loaded from a run, or "
                  "read with its problem");
}

/* --- problems ------------------------------------------------------------------------------- */

idm_status idm_posterior_transfer(idm_posterior *posterior, idm_problem *other,
                                  idm_error *opt_error)
{
  idm_require(posterior, other);
  idm_status status = idm_posterior_require_problem(posterior, opt_error);
  if (status == IDM_OK) status = idm_problem_transfer(posterior->problem, other, opt_error);
  if (status != IDM_OK) return status;
  idm_dynamics_sets_destroy(posterior->drawn);
  posterior->drawn = NULL;
  return IDM_OK;
}

idm_status idm_problem_from_posterior(const idm_posterior *posterior, size_t draw,
                                      idm_problem **ret_problem, idm_error *opt_error)
{
  idm_require(posterior, ret_problem);
  *ret_problem = NULL;
  idm_parameters *parameters = NULL;
  idm_problem *problem = NULL;
  idm_status status = idm_posterior_require_problem(posterior, opt_error);
  if (status == IDM_OK) status = idm_parameters_create(posterior->problem, &parameters, opt_error);
  if (status == IDM_OK) status = idm_problem_copy(posterior->problem, &problem, opt_error);
  if (status == IDM_OK)
    status = draw == IDM_CENTRE
                 ? idm_posterior_central_theta(posterior, parameters, problem->theta, opt_error)
                 : idm_posterior_agent(posterior, parameters, draw, problem, opt_error);
  idm_parameters_destroy(parameters);
  if (status == IDM_OK)
    *ret_problem = problem;
  else
    idm_problem_destroy(problem);
  return status;
}

/* --- numbers -------------------------------------------------------------------------------- */

idm_status idm_projection_centre(const idm_posterior *posterior, const idm_data *data,
                                 idm_projection *projection, idm_error *opt_error)
{
  idm_require(posterior, data, projection);
  const idm_status status = idm_posterior_require_problem(posterior, opt_error);
  if (status != IDM_OK) return status;
  return idm_projection_measure_centre(posterior->problem, posterior, data, projection, opt_error);
}

idm_status idm_explain(const idm_problem *opt_problem, const idm_posterior *opt_posterior,
                       const idm_data *data, const idm_explain_settings *opt_settings,
                       idm_explanation **ret_explanation, idm_notes *opt_notes,
                       idm_error *opt_error)
{
  idm_require(data, ret_explanation);
  *ret_explanation = NULL;
  if (!opt_problem == !opt_posterior)
    return idm_fail(opt_error, IDM_USAGE,
                    "an explanation needs a problem or an answer, one of the two");
  idm_status status =
      opt_posterior ? idm_posterior_require_problem(opt_posterior, opt_error) : IDM_OK;
  if (status != IDM_OK) return status;
  return idm_explain_log(opt_posterior ? opt_posterior->problem : opt_problem, opt_posterior, data,
                         opt_settings, ret_explanation, opt_notes, opt_error);
}

/* --- files ---------------------------------------------------------------------------------- */

idm_status idm_posterior_write_netcdf(const idm_posterior *posterior, const idm_data *opt_data,
                                      const char *path, idm_error *opt_error)
{
  idm_require(posterior, path);
  const idm_status status = idm_posterior_require_problem(posterior, opt_error);
  if (status != IDM_OK) return status;
  return idm_posterior_write_file(posterior, posterior->problem, opt_data, path, opt_error);
}

idm_status idm_posterior_read_netcdf(const char *path, const idm_problem *opt_problem,
                                     idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_require(path, ret_posterior);
  idm_status status = idm_posterior_read_file(path, ret_posterior, opt_error);
  if (status == IDM_OK && opt_problem)
    status = idm_posterior_adopt_copy(*ret_posterior, opt_problem, opt_error);
  if (status == IDM_OK) return IDM_OK;
  idm_posterior_destroy(*ret_posterior);
  *ret_posterior = NULL;
  return status;
}
