/* Run an audit in a folder: begin, stop, resume and finish it, and write its summary.json.
 *
 * Contents: the summary · the folder */
#include "study/study.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "idm/audit.h"
#include "invert/assess.h"
#include "invert/predict.h"
#include "io/file.h"
#include "io/json.h"
#include "io/run/folder.h"
#include "io/run/netcdf.h"

/* --- the summary ---------------------------------------------------------------------------- */

static void set(json_t **object, const char *key, double value)
{
  idm_json_set(object, key, idm_json_number(value));
}

/* The fields of every number, and those that this number has in addition. */
static json_t *number_object(const idm_audit_quantity *n, bool contrast)
{
  json_t *object = idm_json_diagnosis(&n->diagnosis);
  set(&object, "q2_5", n->low);
  set(&object, "q97_5", n->high);
  if (!isnan(n->contraction)) set(&object, "contraction", n->contraction);
  if (!isnan(n->alone)) set(&object, "contraction_alone", n->alone);
  if (!isnan(n->prior_shift)) set(&object, "prior_shift_in_sd", n->prior_shift);
  if (!isnan(n->dynamics_shift)) set(&object, "dynamics_shift_in_sd", n->dynamics_shift);
  if (!isnan(n->own)) set(&object, "own_share", n->own);
  if (!isnan(n->between)) set(&object, "between_dynamics", n->between);
  if (!isnan(n->shift)) set(&object, "shift_from_pooled_dynamics", n->shift);
  if (!contrast) return object;
  set(&object, "positive", n->positive);
  if (!isnan(n->adjusted)) set(&object, "p_holm", n->adjusted);
  idm_json_set(&object, "flagged", json_boolean(n->significant));
  return object;
}

static void put_numbers(json_t **object, const idm_audit *a, const idm_audit_quantity *number,
                        bool contrast)
{
  for (size_t j = 0; j < a->coordinate.count; j++)
    idm_json_set(object, a->coordinate.name[j], number_object(&number[j], contrast));
}

/* Log-loss of a group's decisions, and that of uniform choice and of constant rates. */
static void put_log_loss(json_t **object, const idm_audit_group *g)
{
  const double decisions = (double)g->decisions;
  set(object, "log_loss", idm_log_loss(g->log_likelihood, decisions));
  set(object, "uniform_log_loss", idm_log_loss(g->uniform, decisions));
  set(object, "rates_log_loss", idm_log_loss(g->rates, decisions));
}

static json_t *group_object(const idm_audit *a, const idm_audit_group *g)
{
  json_t *object = json_object();
  idm_json_set(&object, "trajectories", json_integer((json_int_t)g->trajectories));
  idm_json_set(&object, "agents", json_integer((json_int_t)g->agents));
  idm_json_set(&object, "decisions", json_integer((json_int_t)g->decisions));
  put_numbers(&object, a, g->number, false);
  if (g->within) {
    json_t *within = json_object();
    put_numbers(&within, a, g->within, false);
    idm_json_set(&object, "within", within);
  }
  put_log_loss(&object, g);
  idm_json_set(&object, "verdict", json_string(idm_group_verdict_text(g)));
  idm_json_set(&object, "reasons", idm_json_texts(&g->reasons));
  return object;
}

static json_t *population_object(const idm_audit *a)
{
  json_t *object = json_object();
  for (size_t j = 0; j < a->coordinate.count; j++) {
    json_t *one = json_object();
    idm_json_set(&one, "mean", number_object(&a->mean[j], false));
    idm_json_set(&one, "sd", number_object(&a->sd[j], false));
    if (a->within) idm_json_set(&one, "within", number_object(&a->within[j], false));
    idm_json_set(&object, a->coordinate.name[j], one);
  }
  return object;
}

static json_t *contrasts_array(const idm_audit *a)
{
  json_t *array = json_array();
  for (size_t i = 0; i < a->contrasts; i++) {
    json_t *one = json_object();
    idm_json_set(&one, "group", idm_json_text(a->contrast[i].group));
    idm_json_set(&one, "against", idm_json_text(a->contrast[i].against));
    put_numbers(&one, a, a->contrast[i].number, true);
    if (a->contrast[i].side[1] >= a->groups)
      idm_json_set(&one, "rest", group_object(a, &a->group[a->contrast[i].side[1]]));
    if (a->contrast[i].pooled) {
      json_t *pooled = json_object();
      put_numbers(&pooled, a, a->contrast[i].pooled, true);
      idm_json_set(&one, "pooled_dynamics", pooled);
    }
    idm_json_set(&one, "verdict", json_string(idm_contrast_verdict_text(&a->contrast[i])));
    idm_json_append(&array, one);
  }
  return array;
}

/* The reasons for which a group failed, with its name. */
static void put_failures(json_t **failures, const idm_audit_group *g)
{
  char text[1200];
  const idm_notes *why = g->failures.count ? &g->failures : &g->reasons;
  for (size_t i = 0; g->verdict == IDM_AUDIT_FAILED && i < why->count; i++) {
    snprintf(text, sizeof text, "%.300s: %.800s", g->name, why->text[i]);
    idm_json_append(failures, idm_json_text(text));
  }
}

static json_t *audit_object(const idm_audit *a)
{
  json_t *object = json_object();
  char request[20];
  snprintf(request, sizeof request, "%016" PRIx64, a->request);
  if (a->request) idm_json_set(&object, "request", json_string(request));
  idm_json_set(&object, "people", json_boolean(a->people));
  idm_json_set(&object, "pool", json_string(idm_pool_name(a->pool)));
  idm_json_set(&object, "dynamics", json_string(idm_audit_dynamics_name(a->dynamics)));
  if (a->cuts > 1) idm_json_set(&object, "dynamics_draws", json_integer((json_int_t)a->cuts));
  if (a->joint) idm_json_set(&object, "joint_dynamics", idm_json_joint(a->joint));
  idm_json_set(&object, "chains", json_integer((json_int_t)a->chains));
  idm_json_set(&object, "draws", json_integer((json_int_t)a->draws));
  idm_json_set(&object, "warmup", json_integer(a->warmup));
  idm_json_set(&object, "seed", json_integer((json_int_t)a->seed));
  if (a->resolution) idm_json_set(&object, "resolution", json_integer(a->resolution));
  json_t *groups = json_object();
  for (size_t i = 0; i < a->groups; i++)
    idm_json_set(&groups, a->group[i].name, group_object(a, &a->group[i]));
  idm_json_set(&object, "groups", groups);
  idm_json_set(&object, "contrasts", contrasts_array(a));
  if (a->mean) idm_json_set(&object, "population", population_object(a));
  idm_json_set(&object, "prior_sensitivity", json_string(a->refitted ? "fits" : "weights"));
  json_t *model = json_object();
  if (a->groups) put_log_loss(&model, &a->group[a->groups - 1]);
  idm_json_set(&object, "model", model);
  json_t *verdict = json_object();
  json_t *failures = idm_json_texts(&a->failures);
  for (size_t g = 0; g < a->sides; g++) put_failures(&failures, &a->group[g]);
  idm_checks_put_trust(&verdict, &a->checks, a->trusted);
  bool depends = false;
  for (size_t i = 0; i < a->contrasts; i++) depends = depends || a->contrast[i].depends;
  idm_checks_put_depends(&verdict, &a->checks, depends);
  idm_json_set(&verdict, "failures", failures);
  idm_json_set(&verdict, "misfits", json_array());
  idm_json_set(&verdict, "remarks", idm_json_texts(&a->remarks));
  idm_json_set(&object, "verdict", verdict);
  idm_json_set(&object, "checks", idm_checks_array(&a->checks));
  return object;
}

static idm_status idm_audit_write_at(const idm_audit *audit, const idm_location *location,
                                     idm_error *opt_error);

idm_status idm_audit_write_summary(const idm_audit *audit, const char *path, idm_error *opt_error)
{
  idm_require(audit, path);
  const idm_location location = idm_location_of(path);
  return idm_audit_write_at(audit, &location, opt_error);
}

static idm_status idm_audit_write_at(const idm_audit *audit, const idm_location *location,
                                     idm_error *opt_error)
{
  char *text = idm_json_dump(audit_object(audit), JSON_INDENT(1));
  if (!text) return idm_fail_memory(opt_error);
  idm_file *file = NULL;
  const idm_status status = idm_file_create_at(location, &file, opt_error);
  if (status == IDM_OK) idm_file_printf(file, "%s\n", text);
  free(text);
  return status == IDM_OK ? idm_file_commit(file, opt_error) : status;
}

/* --- the folder ----------------------------------------------------------------------------- */

static idm_status write_config(const idm_problem *problem, const idm_audit_request *request,
                               const idm_folder *folder, idm_error *opt_error)
{
  char path[IDM_PATH_SIZE];
  const idm_location location = idm_folder_location(folder, IDM_FILE_CONFIG, path);
  idm_emitter out;
  idm_request *kept = malloc(sizeof *kept);
  if (!kept) return idm_fail_memory(opt_error);
  *kept = request->request;
  idm_request_make_absolute(kept);
  idm_emit_begin_at(&out, &location);
  idm_put_request(&out, problem, kept);
  free(kept);
  idm_emit_mapping(&out, "audit", IDM_EMIT_BLOCK);
  idm_put_keys(&out, idm_audit_keys(), request);
  idm_emit_mapping_end(&out);
  return idm_emit_end(&out, opt_error);
}

/* Choose the lattice by all decisions together; all groups use it. */
static idm_status refine_lattice(const idm_problem *problem, const idm_data *data,
                                 const idm_fit_settings *settings, const idm_fit_monitor *watch,
                                 idm_problem *refined, idm_refinement *refinement,
                                 idm_error *opt_error)
{
  const idm_status status = idm_refine(problem, data, settings, watch, refinement, opt_error);
  *refined = *problem;
  if (refinement->resolution) refined->agent.resolution = refinement->resolution;
  return status;
}

static idm_status write_results(const idm_audit *audit, const idm_problem *problem,
                                const idm_data *data, const idm_folder *folder,
                                idm_error *opt_error)
{
  char path[2][IDM_PATH_SIZE];
  const idm_location draws = idm_folder_location(folder, IDM_FILE_POSTERIOR, path[0]);
  const idm_location summary = idm_folder_location(folder, IDM_FILE_SUMMARY, path[1]);
  idm_posterior *posterior;
  idm_status status = idm_audit_posterior(audit, &posterior, opt_error);
  if (status != IDM_OK) return status;
  status = idm_posterior_write_netcdf_at(posterior, problem, data, &draws, opt_error);
  idm_posterior_destroy(posterior);
  if (status != IDM_OK) return status;
  return idm_audit_write_at(audit, &summary, opt_error);
}

/* An audit over draws of dynamics is trusted only where these draws are. */
static idm_status assess_dynamics(const char *folder, idm_audit *audit, idm_error *opt_error)
{
  idm_posterior *learnt = NULL;
  idm_assessment of = {.trusted = true};
  idm_status status = idm_run_read(folder, NULL, NULL, &learnt, NULL, opt_error);
  if (status == IDM_OK) status = idm_dynamics_assess(learnt, folder, audit->joint, &of, opt_error);
  for (size_t i = 0; i < of.failures.count; i++)
    idm_notes_add(&audit->failures, "%s", of.failures.text[i]);
  audit->trusted = audit->trusted && of.trusted;
  if (status == IDM_OK)
    idm_check_test(&audit->checks, IDM_CHECK_DYNAMICS_DRAWS,
                   of.checks.of[IDM_CHECK_DYNAMICS_DRAWS].value);
  idm_notes_clear(&of.failures);
  idm_posterior_destroy(learnt);
  return status;
}

/* Run the audit, over draws of learnt dynamics where the request names them. */
static idm_status run_audit(const idm_problem *problem, const idm_data *data,
                            const idm_groups *groups, const idm_audit_request *request,
                            const idm_fit_monitor *watch, idm_audit **ret_audit,
                            idm_error *opt_error)
{
  const idm_request *r = &request->request;
  const size_t default_settings = r->dynamics[0] ? IDM_DYNAMICS_DRAWS : 1;
  const idm_audit_settings settings = {r->settings, request->pool, request->dynamics,
                                       r->dynamics_draws ? r->dynamics_draws : default_settings,
                                       request->people};
  idm_problem *learnt = NULL;
  idm_dynamics_draws draws = {0};
  idm_status status = IDM_OK;
  if (r->dynamics[0])
    status = idm_dynamics_read_for(r->dynamics, problem, &learnt, &draws, opt_error);
  if (status == IDM_OK)
    status = idm_audit_run(problem, data, groups, &settings,
                           learnt ? &(idm_cut_draws){learnt, &draws, settings.cuts} : NULL, watch,
                           ret_audit, opt_error);
  idm_dynamics_draws_clear(&draws);
  idm_problem_destroy(learnt);
  return status == IDM_OK && r->dynamics[0] ? assess_dynamics(r->dynamics, *ret_audit, opt_error)
                                            : status;
}

/* Run the audit in a folder that exists, write its files and commit them. */
static idm_status audit(idm_run_writer *folder, idm_run_mode mode, idm_checkpointer *checkpointer,
                        const idm_problem *problem, const idm_data *data, const idm_groups *groups,
                        const idm_audit_request *request, idm_audit **ret_audit,
                        idm_error *opt_error)
{
  idm_problem refined;
  idm_refinement refinement = {0};
  const idm_fit_monitor watch =
      idm_checkpointer_watch(checkpointer, idm_audit_request_label(problem, request));
  idm_fit_monitor before = watch;
  before.checkpoint = NULL;
  idm_status status =
      mode == IDM_RUN_RESUME ? IDM_OK : write_config(problem, request, folder->work, opt_error);
  if (status == IDM_OK)
    status = refine_lattice(problem, data, &request->request.settings, &before, &refined,
                            &refinement, opt_error);
  if (status == IDM_OK)
    status = run_audit(&refined, data, groups, request, &watch, ret_audit, opt_error);
  if (status != IDM_OK) return status;
  (*ret_audit)->request = idm_audit_request_label(problem, request);
  if (refinement.steps) idm_refinement_note(&refinement, &(*ret_audit)->remarks);
  status = write_results(*ret_audit, &refined, data, folder->work, opt_error);
  if (status != IDM_OK) return status;
  idm_folder_remove(folder->work, IDM_FILE_CHECKPOINT);
  return idm_run_commit(folder, opt_error);
}

/* Error of an audit that was stopped: whether it can be resumed. */
static idm_status fail_stopped(const idm_run_writer *folder, idm_error *opt_error)
{
  if (!idm_folder_has(folder->work, IDM_FILE_CHECKPOINT))
    return idm_fail(opt_error, IDM_UNTRUSTED,
                    "interrupted before the first checkpoint: nothing is written");
  return idm_fail(opt_error, IDM_UNTRUSTED,
                  "interrupted; the work so far is saved: continue with `idm audit --resume -o %s`",
                  folder->run.path);
}

idm_status idm_run_audit(const char *folder, idm_run_mode mode, const idm_problem *problem,
                         const idm_data *data, const idm_audit_request *request,
                         idm_progress opt_progress, void *context, idm_audit **ret_audit,
                         idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(folder, problem, data, request, ret_audit);
  *ret_audit = NULL;
  idm_run_writer run_writer;
  idm_checkpointer checkpointer;
  idm_groups *groups = NULL;
  idm_status status = idm_request_check(problem, &request->request, opt_error);
  if (status == IDM_OK) status = idm_groups_create(request, data, &groups, opt_notes, opt_error);
  if (status == IDM_OK)
    status = idm_run_begin(&run_writer, folder, mode, &request->request, opt_error);
  if (status == IDM_OK) {
    status = idm_checkpointer_begin(&checkpointer, run_writer.work, mode, opt_progress, context,
                                    opt_error);
    if (status == IDM_OK)
      status = audit(&run_writer, mode, &checkpointer, problem, data, groups, request, ret_audit,
                     opt_error);
    if (status == IDM_UNTRUSTED && checkpointer.stop_requested)
      status = fail_stopped(&run_writer, opt_error);
    if (checkpointer.status != IDM_OK) {
      status = checkpointer.status;
      if (opt_error) *opt_error = checkpointer.error;
    }
    idm_checkpointer_end(&checkpointer);
    idm_run_end(&run_writer, status == IDM_OK || mode == IDM_RUN_RESUME);
  }
  idm_groups_destroy(groups);
  if (status != IDM_OK) {
    idm_audit_destroy(*ret_audit);
    *ret_audit = NULL;
  }
  return status;
}

/* --- in memory ------------------------------------------------------------------------------ */

idm_status idm_audit_create(const idm_problem *problem, const idm_data *data,
                            const idm_settings *settings, idm_audit **ret_audit,
                            idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem, data, settings, ret_audit);
  *ret_audit = NULL;
  idm_watcher watcher = settings->watcher;
  idm_problem refined;
  idm_refinement refinement = {0};
  idm_groups *groups = NULL;
  idm_audit_request *request = malloc(sizeof *request);
  if (!request) return idm_fail_memory(opt_error);
  *request = settings->audit;
  request->request.settings.keep = IDM_KEEP_NOTHING; /* an audit has no place for them */
  const idm_fit_monitor watch = {.progress = idm_watcher_progress,
                                 .context = &watcher,
                                 .label = idm_audit_request_label(problem, request)};
  idm_status status = IDM_OK;
  if (request->request.dynamics[0])
    status = idm_request_hash_dynamics(&request->request, opt_error);
  if (status == IDM_OK) status = idm_request_check(problem, &request->request, opt_error);
  if (status == IDM_OK) status = idm_audit_request_check(request, opt_error);
  if (status == IDM_OK) status = idm_groups_create(request, data, &groups, opt_notes, opt_error);
  if (status == IDM_OK)
    status = refine_lattice(problem, data, &request->request.settings, &watch, &refined,
                            &refinement, opt_error);
  if (status == IDM_OK)
    status = run_audit(&refined, data, groups, request, &watch, ret_audit, opt_error);
  if (status == IDM_OK) status = idm_problem_copy(&refined, &(*ret_audit)->problem, opt_error);
  if (status == IDM_OK && refinement.steps)
    idm_refinement_note(&refinement, &(*ret_audit)->remarks);
  if (status != IDM_OK) {
    idm_audit_destroy(*ret_audit);
    *ret_audit = NULL;
  }
  idm_groups_destroy(groups);
  free(request);
  return status;
}
