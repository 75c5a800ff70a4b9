/* People and their population: a hierarchy whose leaves plan alike. */
#include "idm/people.h"

#include "base/door.h"
#include "invert/hierarchy/cells.h"
#include "invert/hierarchy/check.h"
#include "invert/hierarchy/sample.h"
#include "invert/label.h"
#include "invert/matching/fit.h"

static uint64_t label_of(const idm_problem *problem, const idm_data *data, const idm_design *d,
                         const idm_fit_settings *settings)
{
  uint64_t label = idm_label_request(NULL, problem, data, settings);
  label = idm_label_numbers(label, d->share, d->cells * d->effects);
  label = idm_label_numbers(label, d->sd_scale, d->effects);
  if (d->pooled) label = idm_label_numbers(label, d->spread_scale, d->effects);
  label = idm_label_numbers(label, &d->correlation, 1);
  for (size_t j = 0; j < d->effects; j++) {
    label = idm_label_numbers(label, d->regressor[j], d->people * d->coefficients[j]);
    label = idm_label_numbers(label, d->coefficient_mean[j], d->coefficients[j]);
    label = idm_label_numbers(label, d->coefficient_sd[j], d->coefficients[j]);
  }
  return label;
}

idm_status idm_people_fit(const idm_problem *problem, const idm_data *data,
                          const idm_design *design, const idm_fit_settings *settings,
                          const idm_fit_watch *opt_watch, idm_people **ret_people,
                          idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem, data, design, settings, ret_people);
  *ret_people = NULL;
  idm_parameters *parameters = NULL;
  shared_leaves shared = {.threads = settings->threads};
  idm_status status = idm_keys_check(idm_fit_keys(), settings, opt_error);
  if (status == IDM_OK) status = idm_fit_infers(problem, opt_error);
  if (status == IDM_OK) status = idm_data_validate(data, problem->setting, opt_error);
  if (status == IDM_OK) status = idm_parameters_create(problem, &parameters, opt_error);
  if (status == IDM_OK)
    status =
        idm_design_check(design, problem, data, idm_parameters_dimension(parameters), opt_error);
  if (status == IDM_OK)
    status = idm_cells_create(problem, data, design, parameters, settings->threads, &shared.cells,
                              opt_error);
  if (status == IDM_OK) {
    const leaf_source leaves = idm_shared_source(&shared);
    const hierarchy_request request = {.design = design,
                                       .leaves = &leaves,
                                       .exact = true,
                                       .settings = settings,
                                       .key = label_of(problem, data, design, settings),
                                       .opt_watch = opt_watch};
    status = idm_hierarchy_sample(&request, ret_people, opt_notes, opt_error);
  }
  idm_shared_destroy(&shared);
  idm_parameters_destroy(parameters);
  return status;
}
