/* The verdict on an answer over draws of dynamics: see the header.
 *
 * Contents: comparison · results of the fit given the mean · rows */
#include "invert/assess/given.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "idm/quantile.h"
#include "invert/assess/allowance.h"
#include "invert/assess/checks.h"
#include "invert/matching/halt.h"
#include "invert/posterior.h"

/* What the fit that is compared with is given. */
static const char *place_of(const idm_posterior *posterior)
{
  return posterior->dynamics || !posterior->cuts
             ? "given the mean of the learnt dynamics"
             : "given the draw of the dynamics that describes the decisions best";
}

/* --- comparison ----------------------------------------------------------------------------- */

/* Median and half the central 68 % of a coordinate: mean and sd of a normal one. */
typedef struct width {
  double middle;
  double sd;
} width;

static width width_of(const idm_posterior *p, size_t coordinate, double *work)
{
  const size_t count = p->chains * p->draws;
  memcpy(work, p->unconstrained + coordinate * count, count * sizeof *work);
  const double low = idm_quantile(work, count, 0.16), high = idm_quantile(work, count, 0.84);
  return (width){idm_quantile(work, count, 0.5), 0.5 * (high - low)};
}

/* Dynamics that vary widen a posterior, and move its middle by less than both widths. Returns how
 * far a coordinate is from that: 1 where the middles are two sds of their difference apart, or the
 * answer is half as wide as `given`. */
static double distance(width answer, width given)
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
    const width x = width_of(posterior, k, work), y = width_of(given, k, work);
    if (idm_check_test(&a->checks, IDM_CHECK_GIVEN_MEAN, distance(x, y)))
      idm_notes_add(&a->failures,
                    "the draws miss a part of the posterior: %s is at %.3g with an sd of %.2g, "
                    "and %s it is at %.3g with an sd of %.2g; raise --warmup and --chains",
                    posterior->coordinate.name[k], x.middle, x.sd, place_of(posterior), y.middle,
                    y.sd);
  }
  free(work);
  return IDM_OK;
}

/* --- results of the fit given the mean ------------------------------------------------------ */

static void add_notes(const idm_notes *from, size_t first, const char *place, idm_notes *to)
{
  for (size_t i = first; i < from->count; i++) idm_notes_add(to, "%s: %s", place, from->text[i]);
}

/* Run the rows of the answer: their notes and sentences are given the mean. */
static idm_status run_answer(const inquiry *q, const idm_fit_watch *opt_watch, idm_error *opt_error)
{
  const char *place = place_of(q->posterior);
  idm_assessment *a = q->assessment;
  idm_notes failures = a->failures, remarks = a->remarks;
  a->failures = a->remarks = (idm_notes){0};
  const idm_status status = idm_check_rows(q, true, opt_watch, opt_error);
  add_notes(&a->failures, 0, place, &failures);
  add_notes(&a->remarks, 0, place, &remarks);
  idm_notes_clear(&a->failures);
  idm_notes_clear(&a->remarks);
  a->failures = failures;
  a->remarks = remarks;
  for (size_t i = 0; i < a->parameters; i++) {
    char sentence[sizeof a->parameter[i].sentence];
    memcpy(sentence, a->parameter[i].sentence, sizeof sentence);
    idm_print(a->parameter[i].sentence, sizeof sentence, "%s, %s", place, sentence);
  }
  return status;
}

/* Move what was found of the model to the answer. The first `remarks` of them are of the draws of
 * the fit given the mean. */
static void take_model(idm_assessment *a, idm_assessment *of, size_t remarks, const char *place)
{
  for (int id = 0; id < IDM_CHECK_COUNT; id++)
    if (idm_check_applies(&a->checks, (idm_check_id)id) && idm_check_is_of_model((idm_check_id)id))
      a->checks.of[id] = of->checks.of[id];
  add_notes(&of->misfits, 0, place, &a->misfits);
  add_notes(&of->remarks, remarks, place, &a->remarks);
  a->model = of->model;
  a->look = of->look;
  of->model = (idm_model_check){0};
  of->look = (idm_look){0};
}

/* A fit given the mean that fails is no measure of the answer. */
static void leave_unchecked(idm_assessment *a, const idm_assessment *of, const char *place)
{
  static const idm_check_id rows[] = {IDM_CHECK_LOOK, IDM_CHECK_MODES, IDM_CHECK_GIVEN_MEAN};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    a->checks.of[rows[i]].outcome = IDM_CHECK_NOT_RUN;
    idm_check_skip(&a->checks, rows[i], "the fit %s fails", place);
  }
  idm_notes_add(&a->remarks,
                "unchecked: whether the draws miss a mode, since the fit %s fails itself: %s",
                place, of->failures.text[0]);
}

/* --- rows ----------------------------------------------------------------------------------- */

/* The rows of both posteriors over one open fit. */
static idm_status run(inquiry *answer, inquiry *model, const idm_fit_watch *opt_watch,
                      idm_error *opt_error)
{
  idm_assessment *a = answer->assessment, *of = model->assessment;
  const bool drawn = a->answer == IDM_POSTERIOR && of->answer == IDM_POSTERIOR;
  const size_t remarks = of->remarks.count;
  const char *place = place_of(answer->posterior);
  idm_status status = drawn ? run_answer(answer, opt_watch, opt_error) : IDM_OK;
  if (status == IDM_OK) status = idm_check_rows(model, true, opt_watch, opt_error);
  if (status != IDM_OK) return status;
  take_model(a, of, remarks, place);
  if (drawn && of->failures.count)
    leave_unchecked(a, of, place);
  else if (drawn)
    status = compare(answer->posterior, model->posterior, a, opt_error);
  a->trusted = !a->failures.count && !a->misfits.count;
  return status;
}

idm_status idm_assess_given(const idm_problem *problem, const idm_data *data,
                            const idm_posterior *posterior, const idm_posterior *given, int threads,
                            const idm_fit_watch *opt_watch, idm_assessment **ret_assessment,
                            idm_error *opt_error)
{
  const idm_fit_settings settings = idm_assess_settings(posterior, threads);
  fit f = {.problem = problem, .data = data};
  idm_halt halt;
  idm_halt_begin(&halt, opt_watch, "looking at what the data say");
  idm_assessment *of = NULL;
  *ret_assessment = NULL;
  idm_status status = idm_assess_draws(posterior, ret_assessment, opt_error);
  if (status == IDM_OK) status = idm_assess_draws(given, &of, opt_error);
  if (status == IDM_OK)
    status = idm_fit_open_halted(&f, NULL, problem, data, &settings, 1, &halt, opt_error);
  if (status == IDM_OK) status = idm_posterior_check(posterior, f.parameters, opt_error);
  f.table = given->table;
  const allowance limit = idm_allowance_begin(opt_watch ? opt_watch->check_seconds : 0, &halt);
  inquiry answer = {.f = &f,
                    .posterior = posterior,
                    .assessment = *ret_assessment,
                    .among = 1,
                    .learnt = true,
                    .fitted = posterior->dynamics,
                    .rows = INQUIRY_ANSWER,
                    .opt_allowance = &limit};
  inquiry model = answer;
  model.posterior = given;
  model.assessment = of;
  model.rows = INQUIRY_MODEL;
  if (status == IDM_OK) status = run(&answer, &model, opt_watch, opt_error);
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
