/* Dynamics of a cell, learnt from its own log by expectation maximisation or by posterior draws
 * (docs/method/audit.md, 3). */
#include "invert/audit/model.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "invert/assess.h"
#include "invert/assess/context.h"

/* Store a point estimate as one draw of one chain. */
static idm_status take_point(const idm_problem *problem, const idm_dynamics *point,
                             idm_dynamics_draws *draws, idm_error *opt_error)
{
  idm_status status = idm_dynamics_names(problem, &draws->name, &draws->place, opt_error);
  if (status != IDM_OK) return status;
  draws->chains = draws->draws = 1;
  draws->highest = draws->attained = NAN; /* not available for a point estimate */
  draws->numbers = draws->name.count;
  draws->value = idm_new(draws->numbers, sizeof *draws->value);
  draws->log_likelihood = idm_new(1, sizeof *draws->log_likelihood);
  if (!draws->value || !draws->log_likelihood) {
    idm_dynamics_draws_clear(draws);
    return idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < draws->numbers; i++) draws->value[i] = point->start[draws->place[i]];
  return IDM_OK;
}

idm_status idm_audit_learn_dynamics(const idm_problem *problem, const idm_data *data, bool drawn,
                                    uint64_t seed, idm_dynamics_draws *draws, idm_error *opt_error)
{
  enum { chains = 2, sweeps = 200 };
  idm_iohmm *learner = NULL;
  idm_learn_result learnt = {0};
  idm_learn_settings settings;
  idm_learn_settings_default(&settings);
  settings.start = IDM_LEARN_FROM_FILE;
  settings.starts = IDM_LEARN_STARTS;
  settings.repeats = IDM_LEARN_REPEATS;
  settings.folds = 0;
  settings.chains = chains;
  settings.draws = settings.warmup = sweeps;
  settings.seed = seed;
  settings.threads = 1;
  *draws = (idm_dynamics_draws){0};
  idm_status status =
      idm_iohmm_create(problem, data, 0, IDM_LEARN_FIX_NOTHING, &learner, opt_error);
  if (status == IDM_OK)
    status = idm_learn(learner, problem, &settings, NULL, NULL, &learnt, opt_error);
  if (status == IDM_OK && !drawn) status = take_point(problem, learnt.dynamics, draws, opt_error);
  if (status == IDM_OK && drawn)
    status =
        idm_learn_draw(learner, problem, &learnt.modes, &settings, NULL, NULL, draws, opt_error);
  idm_learn_result_clear(&learnt);
  idm_iohmm_destroy(learner);
  return status;
}

idm_status idm_audit_learn_check(const audit_model *model, idm_audit *audit, idm_error *opt_error)
{
  size_t lower = 0;
  double largest = 0;
  idm_status status = IDM_OK;
  for (size_t c = 0; c < model->cells && status == IDM_OK; c++) {
    const idm_dynamics_draws *own = &model->cell[c].own;
    double gap = NAN;
    if (isnan(own->highest)) continue;
    status = idm_higher_mode_gap(own->log_likelihood, own->chains, own->draws, own->highest,
                                 own->attained, &gap, opt_error);
    if (status != IDM_OK || !idm_check_test_optional(&audit->checks, IDM_CHECK_HIGHER_MODE, gap))
      continue;
    lower++;
    largest = fmax(largest, gap);
  }
  if (!lower) return status;
  audit->trusted = false;
  idm_notes_add(
      &audit->failures,
      "in %zu of %zu groups the search for dynamics found a mode whose log-likelihood is higher, "
      "by "
      "up to %.1f, than that of any draw of the group's dynamics: the draws are of a lower mode",
      lower, model->cells, largest);
  return status;
}

void idm_audit_learn_write(const idm_dynamics_draws *draws, idm_record *record)
{
  const size_t all = draws->chains * draws->draws;
  uint64_t shape[] = {draws->chains, draws->draws, draws->numbers};
  double search[] = {draws->highest, draws->attained};
  idm_record_transfer(record, shape, sizeof shape);
  idm_record_transfer(record, draws->place, draws->numbers * sizeof *draws->place);
  idm_record_transfer(record, draws->value, draws->numbers * all * sizeof *draws->value);
  idm_record_transfer(record, draws->log_likelihood, all * sizeof *draws->log_likelihood);
  idm_record_transfer(record, search, sizeof search);
  for (size_t i = 0; i < draws->numbers; i++) {
    uint64_t length = strlen(draws->name.name[i]);
    idm_record_transfer(record, &length, sizeof length);
    idm_record_transfer(record, draws->name.name[i], (size_t)length);
  }
}

/* Read the names of the numbers. */
static idm_status read_names(idm_record *record, idm_dynamics_draws *draws, idm_error *opt_error)
{
  idm_status status = idm_labels_create(&draws->name, draws->numbers, opt_error);
  for (size_t i = 0; i < draws->numbers && status == IDM_OK && !record->truncated; i++) {
    uint64_t length = 0;
    idm_record_transfer(record, &length, sizeof length);
    record->truncated = record->truncated || length > record->length - record->at;
    if (record->truncated) break;
    status = idm_labels_set(&draws->name, i, record->from + record->at, (size_t)length, opt_error);
    record->at += (size_t)length;
  }
  return status;
}

idm_status idm_audit_learn_read(idm_record *record, idm_dynamics_draws *draws, idm_error *opt_error)
{
  uint64_t shape[3] = {0};
  double search[2] = {NAN, NAN};
  idm_record_transfer(record, shape, sizeof shape);
  *draws = (idm_dynamics_draws){
      .chains = (size_t)shape[0], .draws = (size_t)shape[1], .numbers = (size_t)shape[2]};
  const size_t all = idm_times(draws->chains, draws->draws);
  if (record->truncated || idm_times(draws->numbers, all) > record->length)
    return idm_record_close(record, false, opt_error);
  draws->place = idm_new(draws->numbers, sizeof *draws->place);
  draws->value = idm_new(idm_times(draws->numbers, all), sizeof *draws->value);
  draws->log_likelihood = idm_new(all, sizeof *draws->log_likelihood);
  idm_status status =
      draws->place && draws->value && draws->log_likelihood ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    idm_record_transfer(record, draws->place, draws->numbers * sizeof *draws->place);
    idm_record_transfer(record, draws->value, draws->numbers * all * sizeof *draws->value);
    idm_record_transfer(record, draws->log_likelihood, all * sizeof *draws->log_likelihood);
    idm_record_transfer(record, search, sizeof search);
    draws->highest = search[0];
    draws->attained = search[1];
    status = read_names(record, draws, opt_error);
  }
  if (status == IDM_OK) status = idm_record_close(record, true, opt_error);
  if (status != IDM_OK) idm_dynamics_draws_clear(draws);
  return status;
}
