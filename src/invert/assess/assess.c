/* The assessment of an answer, and its verdict.
 *
 * Contents: verdict · assess */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "idm/extension/fit_settings.h"
#include "idm/extension/inverse.h"
#include "invert/assess.h"
#include "invert/assess/context.h"
#include "invert/assess/environment.h"
#include "invert/cancel.h"
#include "invert/matching/fit.h"
#include "invert/posterior.h"
#include "invert/predict.h"

/* === verdict ================================================================================ */

/* Verdicts as sentences. */

const char *idm_person_verdict_name(idm_person_verdict verdict)
{
  static const char *const words[IDM_PERSON_VERDICTS] = {
      "identified", "population-driven", "prior-driven", "chance", "misfit", "failed",
      "point",      "unchecked"};
  return (unsigned)verdict < IDM_PERSON_VERDICTS ? words[verdict] : NULL;
}

/* Whether the model fits all people who were fitted separately. */
static bool fits_all_people(const idm_assessment *a)
{
  for (size_t i = 0; i < a->people; i++)
    if (a->person[i].verdict == IDM_PERSON_MISFIT || a->person[i].verdict == IDM_PERSON_CHANCE)
      return false;
  return true;
}

/* The verdict in one line, and the section of the output that explains it. */
typedef struct verdict {
  const char *words;
  const char *see;
} verdict;

static verdict verdict_of_certificate(const idm_assessment *a)
{
  static const char open[] = "see what is left open above";
  if (a->answer == IDM_POSTERIOR) return (verdict){"the draws can be trusted", open};
  if (a->answer == IDM_POINT) return (verdict){"a point whose certificate is closed", open};
  return (verdict){"a set whose certificate is closed", "see its ranges above"};
}

/* Whether an answer depends on the dynamics: a plausible error of fixed dynamics moves it beyond
 * the threshold of depends-on-dynamics, or too much of a variance lies between draws of learnt
 * dynamics (between-dynamics). */
static bool assessment_depends(const idm_assessment *a)
{
  return a->checks.of[IDM_CHECK_DEPENDS].outcome == IDM_CHECK_REMARK ||
         a->checks.of[IDM_CHECK_BETWEEN_DYNAMICS].outcome == IDM_CHECK_REMARK;
}

static verdict verdict_of(const idm_assessment *a)
{
  const bool point = a->answer == IDM_POINT;
  if (a->trusted && idm_checks_left_out(&a->checks))
    return (verdict){"unchecked: nothing fails, but checks were left out",
                     "see what is unchecked above"};
  if (a->optimality && a->trusted) return verdict_of_certificate(a);
  if (a->failures.count && a->misfits.count)
    return (verdict){"not to be trusted yet: neither the draws nor the model",
                     "see what FAILS and MODEL above"};
  if (a->misfits.count)
    return (verdict){point ? "not to be trusted yet: a point, of a model that does not fit"
                           : "not to be trusted yet: the draws are sound, but the model is not",
                     "see MODEL above"};
  if (!a->trusted) return (verdict){"not to be trusted yet", "see what FAILS above"};
  if (point) return (verdict){"a point, without a measure of its uncertainty", ""};
  if (a->fitted_separately && !fits_all_people(a))
    return (verdict){"the draws can be trusted; the model does not fit all people, but misfits are "
                     "no more frequent than by chance",
                     ""};
  if (a->checks.kind == IDM_CHECK_FIT && a->checks.of[IDM_CHECK_CHANCE].outcome == IDM_CHECK_REMARK)
    return (verdict){"the draws can be trusted; the decisions are too few to test the model", ""};
  if (a->model.evaluated && assessment_depends(a))
    return (verdict){
        "the draws can be trusted, and no test rejects the model; the answer depends on dynamics",
        ""};
  return (verdict){a->model.evaluated || a->fitted_separately
                       ? "the draws can be trusted, and no test rejects the model"
                       : "the draws can be trusted; the model is unchecked",
                   ""};
}

const char *idm_assessment_verdict(const idm_assessment *a)
{
  return a ? verdict_of(a).words : "";
}

const char *idm_assessment_section(const idm_assessment *a)
{
  return a ? verdict_of(a).see : "";
}

/* === assess ================================================================================= */

/* Runs the rows of the table of checks that apply to an answer: first the rows of the draws, then
 * the rows of the log. */

void idm_assessment_destroy(idm_assessment *a)
{
  if (!a) return;
  free(a->diagnosis);
  free(a->between);
  free(a->parameter);
  free(a->ridge_sentence);
  free(a->finer_shift);
  for (size_t i = 0; a->sensitivity && i < a->sensitivities; i++)
    free(a->sensitivity[i].derivative);
  free(a->sensitivity);
  free(a->model.between);
  free(a->model.extension);
  idm_importance_check_clear(&a->importance);
  for (size_t i = 0; a->person && i < a->people; i++) free(a->person[i].own);
  free(a->person);
  idm_labels_destroy(&a->person_name);
  idm_optimality_destroy(a->optimality);
  idm_optimality_destroy(a->matched);
  idm_notes_clear(&a->failures);
  idm_notes_clear(&a->misfits);
  idm_notes_clear(&a->remarks);
  free(a);
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Whether agents of an audit have numbers of their own. */
static bool is_nested(const idm_posterior *p)
{
  static const char ending[] = "_within";
  for (size_t i = 0; i < p->quantity.count; i++) {
    const char *name = p->quantity.name[i];
    const size_t length = name ? strcspn(name, "[") : 0;
    if (length >= sizeof ending - 1 &&
        strncmp(name + length - (sizeof ending - 1), ending, sizeof ending - 1) == 0)
      return true;
  }
  return false;
}

idm_check_kind idm_check_kind_of(const idm_posterior *p)
{
  if (strcmp(p->inverse, "people") == 0) return IDM_CHECK_POPULATION;
  if (strcmp(p->inverse, "learn") == 0) return IDM_CHECK_DYNAMICS;
  if (strcmp(p->inverse, "audit") == 0) return is_nested(p) ? IDM_CHECK_NESTED : IDM_CHECK_AUDIT;
  for (size_t i = 0; i < p->axes; i++)
    if (strcmp(p->axis[i].name, "person") == 0) return IDM_CHECK_SEPARATE;
  /* A posterior that is read from a file has no optimality record; the objective of its inverse
   * planner identifies its kind. */
  const idm_inverse *by = idm_inverse_find(p->inverse);
  const bool drawn = p->answer == IDM_POSTERIOR;
  if (p->optimality || (by && !idm_inverse_by_likelihood(by)))
    return drawn ? IDM_CHECK_PREFERENCES : IDM_CHECK_PROGRAM;
  return drawn ? IDM_CHECK_FIT : IDM_CHECK_POINT;
}

bool idm_check_has_no_likelihood(const idm_posterior *p)
{
  const idm_check_kind kind = idm_check_kind_of(p);
  return kind == IDM_CHECK_PROGRAM || kind == IDM_CHECK_PREFERENCES;
}

typedef struct run {
  idm_check_id id;
  idm_check_function *check;
} run;

static const run runs[] = {
#define RUN(id, function, ...) {id, function},
#define RECORD(...)
    IDM_CHECK_LIST(RUN, RECORD)
#undef RUN
#undef RECORD
};

bool idm_check_is_of_model(idm_check_id id)
{
  const idm_check *row = idm_check_at(id);
  return row->log &&
         (row->worst == IDM_CHECK_MISFIT || id == IDM_CHECK_IMPORTANCE || id == IDM_CHECK_MODES);
}

/* Whether a row belongs to the selection of the context. */
static bool is_selected(const check_context *q, idm_check_id id, bool log)
{
  if (idm_check_at(id)->log != log) return false;
  return !log || q->rows == CHECKS_ALL || idm_check_is_of_model(id) == (q->rows == CHECKS_OF_MODEL);
}

static void describe(const void *content, char *buffer, size_t size)
{
  (void)content;
  snprintf(buffer, size, "checking the answer against the data");
}

/* Returns IDM_UNTRUSTED if the monitor stops the assessment before the next check. */
static idm_status check_monitor(const idm_fit_monitor *opt_monitor, double done,
                                idm_error *opt_error)
{
  const idm_progress_state work = {.done = done, .describe = describe};
  if (!opt_monitor || !opt_monitor->progress || !opt_monitor->progress(opt_monitor->context, &work))
    return IDM_OK;
  return idm_fail(opt_error, IDM_UNTRUSTED, "stopped before all checks were run");
}

idm_status idm_check_rows(const check_context *q, bool log, const idm_fit_monitor *opt_monitor,
                          idm_error *opt_error)
{
  enum { count = sizeof runs / sizeof *runs };
  idm_status status = IDM_OK;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    if (!is_selected(q, runs[i].id, log) || !idm_context_can_run(q, runs[i].id)) continue;
    status = check_monitor(opt_monitor, (double)i / count, opt_error);
    if (status == IDM_OK && log)
      status = idm_check_time_run(q, runs[i].id, runs[i].check, opt_error);
    else if (status == IDM_OK)
      status = runs[i].check(q, opt_error);
  }
  return status;
}

/* --- draws ---------------------------------------------------------------------------------- */

/* Draws of a number on the scale of its prior; NULL if the number is summarised on that scale, or
 * has no such scale. */
static const double *find_coordinate(const idm_posterior *p, size_t quantity)
{
  const char *name = p->quantity.name[quantity];
  if (!name || !p->unconstrained || p->coordinate_size) return NULL;
  const long at = idm_labels_find(&p->coordinate, name, strlen(name));
  return at < 0 ? NULL : p->unconstrained + (size_t)at * p->chains * p->draws;
}

static idm_status diagnose(const idm_posterior *p, idm_assessment *a, idm_error *opt_error)
{
  const size_t all = p->chains * p->draws;
  a->diagnosis = idm_new(a->quantities, sizeof *a->diagnosis);
  if (p->cuts > 1) a->between = idm_new(a->quantities, sizeof *a->between);
  if (!a->diagnosis || (p->cuts > 1 && !a->between)) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0; status == IDM_OK && i < a->quantities; i++)
    if (!p->quantity_size || p->quantity_size[i] == 1)
      status =
          idm_diagnose_cuts(p->value + i * all, find_coordinate(p, i), p->chains, p->draws, p->cuts,
                            &a->diagnosis[i], a->between ? &a->between[i] : NULL, opt_error);
  return status;
}

idm_status idm_assess_draws(const idm_posterior *posterior, idm_assessment **ret_assessment,
                            idm_error *opt_error)
{
  idm_require(posterior, ret_assessment);
  *ret_assessment = NULL;
  idm_assessment *a = idm_new(1, sizeof *a);
  if (!a) return idm_fail_memory(opt_error);
  a->answer = posterior->answer;
  a->quantities = posterior->quantity.count;
  a->ebfmi = NAN;
  a->ridge = 1;
  idm_checks_begin(&a->checks, idm_check_kind_of(posterior));
  idm_status status = diagnose(posterior, a, opt_error);
  if (status == IDM_OK && posterior->optimality)
    status = idm_optimality_copy(posterior->optimality, &a->optimality, opt_error);
  const check_context q = {.posterior = posterior, .assessment = a, .among = 1};
  for (int id = 0; id < IDM_CHECK_COUNT; id++) (void)idm_context_can_run(&q, (idm_check_id)id);
  if (status == IDM_OK) status = idm_check_rows(&q, false, NULL, opt_error);
  if (status != IDM_OK) {
    idm_assessment_destroy(a);
    return status;
  }
  idm_assessment_conclude(a);
  *ret_assessment = a;
  return IDM_OK;
}

/* --- log ------------------------------------------------------------------------------------- */

/* The largest R-hat of the summarised quantities; NaN if there are none, or one chain. */
static double max_rhat(const idm_posterior *p, const idm_assessment *a)
{
  double worst = p->chains > 1 ? 1 : NAN;
  for (size_t i = 0; p->chains > 1 && i < a->quantities; i++) {
    const bool named = !p->quantity_size || p->quantity_size[i] == 1;
    if (named && p->summarised[i] && !(a->diagnosis[i].rhat <= worst)) worst = a->diagnosis[i].rhat;
  }
  return worst;
}

/* Compute objective and policy at the answer's centre. The objective of policy matching is the
 * divergence of the demonstrator's decisions from the planner's, which is minus the log-likelihood
 * up to the entropy of the decisions. */
static idm_status evaluate_centre(const check_context *q, idm_optimality *optimality,
                                  idm_error *opt_error)
{
  const fit_context *f = q->f;
  idm_theta *theta = NULL;
  double log_likelihood = NAN;
  double *centre = idm_new(f->parameters->dimension, sizeof *centre);
  idm_status status = centre ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    idm_posterior_centre(q->posterior, centre);
    status = idm_matching_log_likelihood(f->matching[0], centre, &log_likelihood, NULL, opt_error);
  }
  optimality->objective = -log_likelihood;
  if (status == IDM_OK && idm_policy_by_state(f->problem)) {
    status = idm_theta_copy(f->problem->theta, &theta, opt_error);
    if (status == IDM_OK) {
      idm_parameters_set(f->parameters, centre, theta);
      status = idm_policy_put(f->problem, theta, optimality, opt_error);
    }
  }
  idm_theta_destroy(theta);
  free(centre);
  return status;
}

/* Store objective, certificate and policy in assessment->matched. */
static idm_status assess_matched(const check_context *q, idm_error *opt_error)
{
  idm_assessment *a = q->assessment;
  idm_optimality *optimality = NULL;
  idm_status status = idm_optimality_create(0, &optimality, opt_error);
  if (status == IDM_OK) status = evaluate_centre(q, optimality, opt_error);
  if (status != IDM_OK) {
    idm_optimality_destroy(optimality);
    return status;
  }
  if (q->posterior->answer == IDM_POSTERIOR) {
    snprintf(optimality->certificate, sizeof optimality->certificate, "R-hat");
    optimality->attained = max_rhat(q->posterior, a);
    optimality->closed = idm_check_threshold(IDM_CHECK_RHAT);
  }
  a->matched = optimality;
  return IDM_OK;
}

/* Run the rows of the log over an open fit. The optimality record comes last: it leaves a plan in
 * the workspace, and the checks start without one. */
static idm_status assess_log(const check_context *q, const idm_fit_monitor *opt_monitor,
                             idm_error *opt_error)
{
  if (q->f->table) idm_table_remark(q->f->table, &q->assessment->remarks);
  const idm_status status = idm_check_rows(q, true, opt_monitor, opt_error);
  return status == IDM_OK ? assess_matched(q, opt_error) : status;
}

/* Test of the environment for an answer that does not come from the likelihood of the decisions: it
 * has half of the level; `saturated` has the other half. */
static idm_status check_environment(const check_context *q, idm_error *opt_error)
{
  const idm_problem *problem = q->f->problem;
  idm_assessment *a = q->assessment;
  const idm_inverse *by = idm_inverse_find(q->posterior->inverse);
  const bool given = by && (by->preferences || by->columns & 1U << IDM_COLUMN_SCORE);
  if (given && problem->setting->fully_observed) {
    idm_check_skip(&a->checks, IDM_CHECK_ENVIRONMENT,
                   "the answer depends on the states that were recorded, not on their "
                   "probabilities");
    return IDM_OK;
  }
  if (idm_policy_is_undetermined(problem, q->f->data)) {
    static const char unchosen[] = "no environment is chosen";
    idm_check_skip(&a->checks, IDM_CHECK_ENVIRONMENT, "%s", unchosen);
    idm_notes_add(&a->remarks, "unchecked: the environment of the log; %s", unchosen);
    return IDM_OK;
  }
  /* Frequencies of the demonstrator, repeated as a rule, are the answer in every environment. */
  const bool used = strcmp(q->posterior->sampler, IDM_SAMPLER_FREQUENCIES) != 0;
  return idm_environment_assess(problem, q->f->data, false, used, IDM_CHECK_LEVEL / 2, a,
                                opt_error);
}

idm_fit_settings idm_assess_settings(const idm_posterior *posterior, int threads)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = threads;
  settings.seed = posterior->seed;
  return settings;
}

idm_status idm_assess_monitored(const idm_problem *problem, const idm_data *data,
                                const idm_posterior *posterior, int threads,
                                const idm_fit_monitor *opt_monitor, idm_assessment **ret_assessment,
                                idm_error *opt_error)
{
  idm_require(problem, data, posterior, ret_assessment);
  const idm_fit_settings settings = idm_assess_settings(posterior, threads);
  fit_context f = {.problem = problem, .data = data};
  idm_cancel cancel;
  idm_cancel_init(&cancel, opt_monitor, "checking the answer against the data");
  idm_status status = idm_assess_draws(posterior, ret_assessment, opt_error);
  const check_time_limit limit =
      idm_check_time_begin(opt_monitor ? opt_monitor->check_seconds : 0, &cancel);
  const check_context q = {.f = &f,
                           .posterior = posterior,
                           .assessment = *ret_assessment,
                           .among = 1,
                           .no_likelihood = idm_check_has_no_likelihood(posterior),
                           .opt_time_limit = &limit};
  if (status == IDM_OK && (posterior->optimality || limit.seconds < 0)) {
    status = idm_check_rows(&q, true, NULL, opt_error);
    if (status == IDM_OK && posterior->optimality)
      status = idm_check_time_run(&q, IDM_CHECK_ENVIRONMENT, check_environment, opt_error);
  } else if (status == IDM_OK) {
    status = idm_fit_open_cancel(&f, NULL, problem, data, &settings, 1, &cancel, opt_error);
    if (status == IDM_OK) status = idm_posterior_check(posterior, f.parameters, opt_error);
    f.table = posterior->table;
    if (status == IDM_OK) status = assess_log(&q, opt_monitor, opt_error);
    idm_fit_close(&f);
  }
  if (status == IDM_OK) {
    idm_assessment_conclude(q.assessment);
    idm_checks_remark_left_out(&q.assessment->checks, &q.assessment->remarks);
    return IDM_OK;
  }
  idm_assessment_destroy(*ret_assessment);
  *ret_assessment = NULL;
  return status;
}

/* --- accessors ------------------------------------------------------------------------------ */

bool idm_assessment_trusted(const idm_assessment *assessment)
{
  return assessment && assessment->trusted;
}

static const char *sentence_at(const idm_notes *notes, size_t index)
{
  return index < notes->count ? notes->text[index] : NULL;
}

const char *idm_assessment_failure(const idm_assessment *assessment, size_t index)
{
  return assessment ? sentence_at(&assessment->failures, index) : NULL;
}

const char *idm_assessment_misfit(const idm_assessment *assessment, size_t index)
{
  return assessment ? sentence_at(&assessment->misfits, index) : NULL;
}

const char *idm_assessment_remark(const idm_assessment *assessment, size_t index)
{
  return assessment ? sentence_at(&assessment->remarks, index) : NULL;
}

const char *idm_assessment_check_name(const idm_assessment *assessment, size_t index)
{
  const idm_check *check = assessment ? idm_check_at(index) : NULL;
  return check ? check->name : NULL;
}

const char *idm_assessment_check_outcome(const idm_assessment *assessment, size_t index)
{
  if (!assessment || index >= IDM_CHECK_COUNT) return NULL;
  return idm_check_applies(&assessment->checks, (idm_check_id)index)
             ? idm_check_outcome_name(assessment->checks.of[index].outcome)
             : "";
}

double idm_assessment_check_value(const idm_assessment *assessment, size_t index)
{
  if (!assessment || index >= IDM_CHECK_COUNT) return NAN;
  /* Checks that do not apply are zeros. */
  return idm_check_applies(&assessment->checks, (idm_check_id)index)
             ? assessment->checks.of[index].value
             : NAN;
}
