/* Assessment of an answer over draws of learnt dynamics, by a fit given their mean.
 *
 * Contents: comparison · results of the fit given the mean · rows */
#include "invert/assess/context.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "invert/cancel.h"
#include "invert/posterior.h"

/* The dynamics of the fit that the answer is compared with, as a phrase. */
static const char *source_phrase(const idm_posterior *posterior)
{
  return posterior->dynamics || !posterior->cuts
             ? "given the mean of the learnt dynamics"
             : "given the draw of the dynamics that describes the decisions best";
}

/* --- comparison ----------------------------------------------------------------------------- */

/* Median and half the central 68 % interval of a coordinate: mean and sd if it is normal. */
typedef struct centre_and_sd {
  double middle;
  double sd;
} centre_and_sd;

static centre_and_sd centre_and_sd_of(const idm_posterior *p, size_t coordinate, double *work)
{
  const size_t count = p->chains * p->draws;
  memcpy(work, p->unconstrained + coordinate * count, count * sizeof *work);
  const double low = idm_quantile(work, count, 0.16), high = idm_quantile(work, count, 0.84);
  return (centre_and_sd){idm_quantile(work, count, 0.5), 0.5 * (high - low)};
}

/* Variation of the dynamics widens a posterior, and moves its median by less than the combined
 * widths. Returns the distance from that: 1 if the medians are two sds of their difference apart,
 * or the answer is half as wide as `given`. */
static double distance(centre_and_sd answer, centre_and_sd given)
{
  const double apart = fabs(answer.middle - given.middle) / (2 * hypot(answer.sd, given.sd));
  return fmax(apart, answer.sd > 0 ? given.sd / (2 * answer.sd) : INFINITY);
}

static idm_status compare(const idm_posterior *posterior, const idm_posterior *given,
                          idm_assessment *a, idm_error *opt_error)
{
  const size_t most = posterior->chains * posterior->draws, other = given->chains * given->draws;
  double *work = idm_new(most > other ? most : other, sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < posterior->coordinate.count; k++) {
    const centre_and_sd x = centre_and_sd_of(posterior, k, work),
                        y = centre_and_sd_of(given, k, work);
    if (idm_check_test(&a->checks, IDM_CHECK_GIVEN_MEAN, distance(x, y)))
      idm_notes_add(&a->failures,
                    "the draws miss a part of the posterior: %s is at %.3g with an sd of %.2g, "
                    "and %s it is at %.3g with an sd of %.2g; raise --warmup and --chains",
                    posterior->coordinate.name[k], x.middle, x.sd, source_phrase(posterior),
                    y.middle, y.sd);
  }
  free(work);
  return IDM_OK;
}

/* --- results of the fit given the mean ------------------------------------------------------ */

static void add_notes(const idm_notes *from, size_t first, const char *source, idm_notes *to)
{
  for (size_t i = first; i < from->count; i++) idm_notes_add(to, "%s: %s", source, from->text[i]);
}

/* Run the rows of the answer; their notes and sentences are prefixed by the phrase above. */
static idm_status run_answer(const check_context *q, const idm_fit_monitor *opt_monitor,
                             idm_error *opt_error)
{
  const char *source = source_phrase(q->posterior);
  idm_assessment *a = q->assessment;
  idm_notes failures = a->failures, remarks = a->remarks;
  a->failures = a->remarks = (idm_notes){0};
  const idm_status status = idm_check_rows(q, true, opt_monitor, opt_error);
  add_notes(&a->failures, 0, source, &failures);
  add_notes(&a->remarks, 0, source, &remarks);
  idm_notes_clear(&a->failures);
  idm_notes_clear(&a->remarks);
  a->failures = failures;
  a->remarks = remarks;
  for (size_t i = 0; i < a->parameters; i++) {
    char sentence[sizeof a->parameter[i].sentence];
    memcpy(sentence, a->parameter[i].sentence, sizeof sentence);
    idm_print(a->parameter[i].sentence, sizeof sentence, "%s, %s", source, sentence);
  }
  return status;
}

/* Move the results on the model to the answer. The first `remarks` remarks belong to the draws of
 * the fit given the mean, and are left out. */
static void copy_model_checks(idm_assessment *a, idm_assessment *of, size_t remarks,
                              const char *source)
{
  for (int id = 0; id < IDM_CHECK_COUNT; id++)
    if (idm_check_applies(&a->checks, (idm_check_id)id) && idm_check_is_of_model((idm_check_id)id))
      a->checks.of[id] = of->checks.of[id];
  add_notes(&of->misfits, 0, source, &a->misfits);
  add_notes(&of->remarks, remarks, source, &a->remarks);
  a->model = of->model;
  a->importance = of->importance;
  of->model = (idm_model_check){0};
  of->importance = (idm_importance_check){0};
}

/* Record rows as not run, since a failed fit given the mean cannot be compared with the answer. */
static void mark_unchecked(idm_assessment *a, const idm_assessment *of, const char *source)
{
  static const idm_check_id rows[] = {IDM_CHECK_IMPORTANCE, IDM_CHECK_MODES, IDM_CHECK_GIVEN_MEAN};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    a->checks.of[rows[i]].outcome = IDM_CHECK_NOT_RUN;
    idm_check_skip(&a->checks, rows[i], "the fit %s fails", source);
  }
  idm_notes_add(&a->remarks,
                "unchecked: whether the draws miss a mode, since the fit %s fails itself: %s",
                source, of->failures.text[0]);
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Run the rows of both posteriors over one open fit. */
static idm_status run(check_context *answer, check_context *model,
                      const idm_fit_monitor *opt_monitor, idm_error *opt_error)
{
  idm_assessment *a = answer->assessment, *of = model->assessment;
  const bool drawn = a->answer == IDM_POSTERIOR && of->answer == IDM_POSTERIOR;
  const size_t remarks = of->remarks.count;
  const char *source = source_phrase(answer->posterior);
  idm_status status = drawn ? run_answer(answer, opt_monitor, opt_error) : IDM_OK;
  if (status == IDM_OK) status = idm_check_rows(model, true, opt_monitor, opt_error);
  if (status != IDM_OK) return status;
  copy_model_checks(a, of, remarks, source);
  if (drawn && of->failures.count)
    mark_unchecked(a, of, source);
  else if (drawn)
    status = compare(answer->posterior, model->posterior, a, opt_error);
  idm_assessment_conclude(a);
  return status;
}

idm_status idm_assess_given_mean(const idm_problem *problem, const idm_data *data,
                                 const idm_posterior *posterior, const idm_posterior *given,
                                 int threads, const idm_fit_monitor *opt_monitor,
                                 idm_assessment **ret_assessment, idm_error *opt_error)
{
  const idm_fit_settings settings = idm_assess_settings(posterior, threads);
  fit_context f = {.problem = problem, .data = data};
  idm_cancel cancel;
  idm_cancel_init(&cancel, opt_monitor, "checking the answer against the data");
  idm_assessment *of = NULL;
  *ret_assessment = NULL;
  idm_status status = idm_assess_draws(posterior, ret_assessment, opt_error);
  if (status == IDM_OK) status = idm_assess_draws(given, &of, opt_error);
  if (status == IDM_OK)
    status = idm_fit_open_cancel(&f, NULL, problem, data, &settings, 1, &cancel, opt_error);
  if (status == IDM_OK) status = idm_posterior_check(posterior, f.parameters, opt_error);
  f.table = given->table;
  const check_time_limit limit =
      idm_check_time_begin(opt_monitor ? opt_monitor->check_seconds : 0, &cancel);
  check_context answer = {.f = &f,
                          .posterior = posterior,
                          .assessment = *ret_assessment,
                          .among = 1,
                          .learnt = true,
                          .fitted = posterior->dynamics,
                          .rows = CHECKS_OF_DRAWS,
                          .opt_time_limit = &limit};
  check_context model = answer;
  model.posterior = given;
  model.assessment = of;
  model.rows = CHECKS_OF_MODEL;
  if (status == IDM_OK) status = run(&answer, &model, opt_monitor, opt_error);
  idm_fit_close(&f);
  idm_assessment_destroy(of);
  if (status == IDM_OK) {
    idm_checks_remark_left_out(&answer.assessment->checks, &answer.assessment->remarks);
    return IDM_OK;
  }
  idm_assessment_destroy(*ret_assessment);
  *ret_assessment = NULL;
  return status;
}
