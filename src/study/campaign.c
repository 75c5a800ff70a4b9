/* Recovery and calibration studies in a folder: save, resume and read replications.
 *
 * Contents: lines · saving and loading · running · reading back */
#include "study/study.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text.h"
#include "idm/calibrate.h"
#include "invert/posterior.h"
#include "io/file.h"
#include "io/json.h"
#include "io/run/folder.h"

/* Seconds between writes of the replications. */
static const double save_seconds = 5;
static const size_t max_bytes = (size_t)1 << 30;
/* Larger replication numbers in a file are rejected. */
static const json_int_t max_replications = 10000000;

typedef struct study_job {
  idm_calibration *c;
  idm_progress progress; /* may be NULL */
  void *context;
  idm_folder folder;        /* not open: nothing is saved */
  idm_lock lock;            /* of the folder */
  char path[IDM_PATH_SIZE]; /* of the replications */
  char label[20];           /* of the request; empty: the file of any request is accepted */
  double saved;
  bool begun;     /* the file exists and contains the label */
  size_t written; /* number of replications in the file */
  idm_status status;
  idm_error error;
} study_job;

/* --- lines ---------------------------------------------------------------------------------- */

/* Keys of the numbers of a quantity. */
enum { RECOVERY_KEY_COUNT = 6 };
static const char *const recovery_keys[RECOVERY_KEY_COUNT] = {"truth", "mean", "sd",
                                                              "q5",    "q95",  "rank"};

/* One replication as a line: index, R-hat, draws, then six named numbers per quantity. */
static char *replication_line(const idm_calibration *c, size_t i)
{
  json_t *line = json_object();
  idm_json_set(&line, "replication", json_integer((json_int_t)i));
  idm_json_set(&line, "r_hat", idm_json_number(c->rhat[i]));
  idm_json_set(&line, "draws", json_integer(c->draws[i]));
  for (size_t q = 0; q < c->quantity.count; q++) {
    const idm_recovery *r = &c->recovery[i * c->quantity.count + q];
    const double numbers[] = {r->truth, r->mean, r->sd, r->low, r->high, (double)r->rank};
    json_t *one = json_object();
    for (size_t k = 0; k < RECOVERY_KEY_COUNT; k++)
      idm_json_set(&one, recovery_keys[k], idm_json_number(numbers[k]));
    idm_json_set(&line, c->quantity.name[q], one);
  }
  return idm_json_dump(line, JSON_COMPACT);
}

/* Read a line into the calibration; false where the line is not valid. */
static bool parse_line(const json_t *line, idm_calibration *c)
{
  const json_t *index = json_object_get(line, "replication");
  if (!json_is_integer(index)) return false;
  const json_int_t i = json_integer_value(index);
  if (i < 0 || (size_t)i >= c->settings.replications)
    return true; /* of a study with more replications */
  if (!idm_json_read_number(json_object_get(line, "r_hat"), &c->rhat[i])) return false;
  c->draws[i] = (long)json_integer_value(json_object_get(line, "draws"));
  for (size_t q = 0; q < c->quantity.count; q++) {
    idm_recovery *r = &c->recovery[(size_t)i * c->quantity.count + q];
    const json_t *numbers = json_object_get(line, c->quantity.name[q]);
    double rank = NAN;
    double *const to[] = {&r->truth, &r->mean, &r->sd, &r->low, &r->high, &rank};
    for (size_t k = 0; k < RECOVERY_KEY_COUNT; k++)
      if (!idm_json_read_number(json_object_get(numbers, recovery_keys[k]), to[k])) return false;
    if (!(rank >= 0 && rank <= IDM_RANKS)) return false;
    r->rank = (int)rank;
  }
  c->done[i] = true;
  return true;
}

/* --- saving and loading --------------------------------------------------------------------- */

static idm_status save(study_job *work, idm_error *opt_error)
{
  const idm_calibration *c = work->c;
  const size_t done = idm_calibration_done(c);
  idm_file *file = NULL;
  work->saved = idm_seconds();
  if (work->folder.descriptor < 0 || (work->begun && done == work->written)) return IDM_OK;
  const idm_location location =
      idm_folder_location(&work->folder, IDM_FILE_REPLICATIONS, work->path);
  idm_status status = idm_file_create_at(&location, &file, opt_error);
  if (status == IDM_OK) idm_file_printf(file, "{\"request\": \"%s\"}\n", work->label);
  for (size_t i = 0; i < c->settings.replications && status == IDM_OK; i++) {
    if (!c->done[i]) continue;
    char *text = replication_line(c, i);
    if (text)
      idm_file_printf(file, "%s\n", text);
    else
      status = idm_fail_memory(opt_error);
    free(text);
  }
  if (status != IDM_OK) {
    idm_file_abandon(file);
    return status;
  }
  work->written = done;
  work->begun = true;
  return idm_file_commit(file, opt_error);
}

/* The first line contains the label of the request, the others are replications. */
static idm_status read_line(const study_job *work, const char *line, size_t size, long number,
                            idm_error *opt_error)
{
  const char *fault = NULL;
  json_t *object = NULL;
  if (idm_json_load(line, size, work->path, &object, opt_error) == IDM_MEMORY) return IDM_MEMORY;
  const char *request = json_string_value(json_object_get(object, "request"));
  if (number == 1 && (!request || (*work->label && strcmp(request, work->label) != 0)))
    fault = "belongs to another request; use another folder";
  else if (number > 1 && !parse_line(object, work->c))
    fault = "is no line of results";
  json_decref(object);
  return fault ? idm_fail_at(opt_error, work->path, number, 0, "%s", fault) : IDM_OK;
}

/* Read the replications of an earlier call for the same request. */
static idm_status load(study_job *work, idm_error *opt_error)
{
  char *text = NULL;
  size_t length = 0;
  const idm_location location =
      idm_folder_location(&work->folder, IDM_FILE_REPLICATIONS, work->path);
  idm_status status = idm_file_read_at(&location, max_bytes, &text, &length, opt_error);
  long number = 0;
  for (const char *line = text, *next; status == IDM_OK && *line; line = next) {
    const size_t size = strcspn(line, "\n");
    status = read_line(work, line, size, ++number, opt_error);
    next = line + size + (line[size] != '\0');
  }
  free(text);
  work->written = idm_calibration_done(work->c);
  work->begun = number > 0;
  return status;
}

/* Write the request for readers; the results are identified by its label. */
static idm_status write_config(const study_job *work, idm_error *opt_error)
{
  const idm_calibration_settings *s = &work->c->settings;
  char path[IDM_PATH_SIZE];
  idm_request *request = malloc(sizeof *request);
  if (!request) return idm_fail_memory(opt_error);
  idm_request_default(request);
  request->settings = s->fit;
  request->settings.seed = s->seed;
  snprintf(request->inverse, sizeof request->inverse, "%s", s->inverse);
  if (s->opt_design_log)
    snprintf(request->data, sizeof request->data, "simulated: by the design of the log %s",
             s->design);
  else
    snprintf(request->data, sizeof request->data, "simulated: %zu trajectories of at most %d steps",
             s->trajectories, s->steps);
  const idm_location location = idm_folder_location(&work->folder, IDM_FILE_CONFIG, path);
  const idm_status status = idm_request_write_at(work->c->problem, request, &location, opt_error);
  free(request);
  return status;
}

/* Resume the study of this request, or begin one in an empty folder. config.yaml is written once,
 * after the file with the label; an existing one is not changed. */
static idm_status resume_or_begin(study_job *work, idm_error *opt_error)
{
  char name[256];
  idm_folder_first_name(&work->folder, name);
  if (idm_folder_has(&work->folder, IDM_FILE_POSTERIOR))
    return idm_fail(opt_error, IDM_USAGE, "'%s' contains a run; use another folder",
                    work->folder.path);
  const bool there = idm_folder_has(&work->folder, IDM_FILE_REPLICATIONS);
  if (!there && name[0])
    return idm_fail(
        opt_error, IDM_USAGE,
        "'%s' contains '%s' and no replications, and is not changed; use another folder",
        work->folder.path, name);
  idm_status status = there ? load(work, opt_error) : IDM_OK;
  if (status == IDM_OK && !work->begun) status = save(work, opt_error);
  if (status == IDM_OK && !idm_folder_has(&work->folder, IDM_FILE_CONFIG))
    status = write_config(work, opt_error);
  return status;
}

static idm_status open_folder(study_job *work, const char *folder, bool *ret_created,
                              idm_error *opt_error)
{
  const idm_calibration *c = work->c;
  snprintf(work->label, sizeof work->label, "%016" PRIx64,
           idm_fingerprint_fields(idm_fingerprint_problem(IDM_CHECKSUM_START, c->problem),
                                  idm_calibration_keys(), &c->settings));
  idm_status status = idm_folder_make(folder, ret_created, opt_error);
  if (status == IDM_OK) status = idm_folder_open(&work->folder, folder, opt_error);
  if (status == IDM_OK) status = idm_folder_check(&work->folder, opt_error);
  if (status == IDM_OK) status = idm_file_check_output(folder, NULL, 0, opt_error);
  if (status == IDM_OK) status = idm_folder_lock(&work->folder, &work->lock, opt_error);
  return status == IDM_OK ? resume_or_begin(work, opt_error) : status;
}

/* Remove the files of a study without replications in a folder that this call created. */
static void close_folder(study_job *work, bool created)
{
  if (created && !idm_calibration_done(work->c)) {
    idm_folder_remove(&work->folder, IDM_FILE_REPLICATIONS);
    idm_folder_remove(&work->folder, IDM_FILE_CONFIG);
  }
  idm_lock_release(&work->lock);
  idm_folder_close(&work->folder);
  if (created) rmdir(work->folder.path); /* fails where the folder is not empty */
}

/* --- running -------------------------------------------------------------------------------- */

static void describe(const void *content, char *buffer, size_t size)
{
  const idm_calibration *c = content;
  snprintf(buffer, size, "%zu of %zu fits", idm_calibration_done(c), c->settings.replications);
}

static bool watch(void *context, const idm_calibration *c)
{
  study_job *work = context;
  const size_t done = idm_calibration_done(c);
  const idm_progress_state shown = {
      .done = (double)done / (double)c->settings.replications, .content = c, .describe = describe};
  const bool stop = work->progress && work->progress(work->context, &shown);
  if (work->status == IDM_OK &&
      (stop || idm_seconds() - work->saved > save_seconds || done == c->settings.replications))
    work->status = save(work, &work->error);
  return stop || work->status != IDM_OK;
}

idm_status idm_replications_run(idm_calibration *calibration, const char *opt_folder,
                                idm_progress opt_progress, void *context, idm_error *opt_error)
{
  idm_require(calibration);
  study_job work = {.c = calibration,
                    .progress = opt_progress,
                    .context = context,
                    .folder = {.descriptor = -1},
                    .saved = idm_seconds()};
  bool created = false;
  idm_status status = opt_folder ? open_folder(&work, opt_folder, &created, opt_error) : IDM_OK;
  if (status == IDM_OK) status = idm_calibration_run(calibration, watch, &work, opt_error);
  if (status == IDM_OK && work.status != IDM_OK) {
    status = work.status;
    if (opt_error) *opt_error = work.error;
  }
  if (opt_folder) close_folder(&work, created);
  const size_t done = idm_calibration_done(calibration);
  if (status == IDM_OK && done < calibration->settings.replications)
    status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted after %zu of %zu fits%s", done,
                      calibration->settings.replications,
                      opt_folder ? "; continue with the same command" : "");
  return status;
}

/* --- reading back --------------------------------------------------------------------------- */

bool idm_replications_is(const char *folder)
{
  idm_folder opened;
  if (!folder || !idm_folder_is(folder) || idm_folder_open(&opened, folder, NULL) != IDM_OK)
    return false;
  const bool is = idm_folder_has(&opened, IDM_FILE_REPLICATIONS);
  idm_folder_close(&opened);
  return is;
}

/* Names of the quantities: the keys of the first replication whose values are objects. */
static idm_status name_quantities(json_t *object, idm_labels *labels, idm_error *opt_error)
{
  const char *name;
  json_t *item;
  size_t count = 0, at = 0;
  json_object_foreach(object, name, item) count += json_is_object(item);
  idm_status status = idm_labels_create(labels, count, opt_error);
  json_object_foreach(object, name, item) if (json_is_object(item) && status == IDM_OK) status =
      idm_labels_set(labels, at++, name, strlen(name), opt_error);
  return status;
}

/* Number of replications, and names of the quantities. */
static idm_status count_replications(const char *text, const char *path, idm_calibration *c,
                                     idm_error *opt_error)
{
  idm_status status = IDM_OK;
  long number = 0;
  for (const char *line = text, *next; status == IDM_OK && *line; line = next) {
    const size_t size = strcspn(line, "\n");
    json_t *object = NULL;
    next = line + size + (line[size] != '\0');
    if (++number == 1) continue;
    status = idm_json_load(line, size, path, &object, opt_error);
    const json_int_t i = json_integer_value(json_object_get(object, "replication"));
    if (status != IDM_MEMORY && (!object || i < 0 || i >= max_replications))
      status = idm_fail_at(opt_error, path, number, 0, "is no line of results");
    if (status == IDM_OK && number == 2) status = name_quantities(object, &c->quantity, opt_error);
    if (status == IDM_OK && (size_t)i >= c->settings.replications)
      c->settings.replications = (size_t)i + 1;
    json_decref(object);
  }
  return status;
}

static idm_status make_room(idm_calibration *c, idm_error *opt_error)
{
  const size_t n = c->settings.replications;
  c->recovery = idm_new(idm_times(n, c->quantity.count), sizeof *c->recovery);
  c->done = idm_new(n, sizeof *c->done);
  c->rhat = idm_new(n, sizeof *c->rhat);
  c->draws = idm_new(n, sizeof *c->draws);
  return c->recovery && c->done && c->rhat && c->draws ? IDM_OK : idm_fail_memory(opt_error);
}

idm_status idm_replications_read(const char *folder, idm_calibration **ret_calibration,
                                 idm_error *opt_error)
{
  idm_require(folder, ret_calibration);
  *ret_calibration = NULL;
  if (!idm_replications_is(folder))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' contains no replications of `idm recover` or `idm sbc`", folder);
  study_job work = {.c = idm_new(1, sizeof *work.c)};
  char *text = NULL;
  size_t length = 0;
  if (!work.c) return idm_fail_memory(opt_error);
  idm_status status = idm_folder_open(&work.folder, folder, opt_error);
  const idm_location location = idm_folder_location(&work.folder, IDM_FILE_REPLICATIONS, work.path);
  if (status == IDM_OK) status = idm_file_read_at(&location, max_bytes, &text, &length, opt_error);
  if (status == IDM_OK) status = count_replications(text, work.path, work.c, opt_error);
  free(text);
  if (status == IDM_OK) status = make_room(work.c, opt_error);
  if (status == IDM_OK) status = load(&work, opt_error);
  idm_folder_close(&work.folder);
  if (status == IDM_OK)
    *ret_calibration = work.c;
  else
    idm_calibration_destroy(work.c);
  return status;
}

/* --- in memory ------------------------------------------------------------------------------ */

static bool watch_replications(void *watcher, const idm_calibration *calibration)
{
  const size_t all = calibration->settings.replications;
  return idm_watcher_call(watcher,
                          (double)idm_calibration_done(calibration) / (double)(all ? all : 1));
}

idm_status idm_calibrate(const idm_problem *problem, const idm_settings *settings,
                         idm_calibration **ret_calibration, idm_error *opt_error)
{
  idm_require(problem, settings, ret_calibration);
  *ret_calibration = NULL;
  if (problem->utility_sources)
    return idm_fail(
        opt_error, IDM_USAGE,
        "the problem has utilities from columns of a log, which a simulation lacks: set "
        "them to numbers");
  idm_watcher watcher = settings->watcher;
  idm_calibration *calibration = NULL;
  idm_status status =
      idm_calibration_create(problem, &settings->calibration, &calibration, opt_error);
  if (status == IDM_OK)
    status = idm_calibration_run(calibration, watch_replications, &watcher, opt_error);
  const size_t done = idm_calibration_done(calibration);
  if (status == IDM_OK && done < calibration->settings.replications)
    status = idm_fail(opt_error, IDM_UNTRUSTED,
                      "the watch of the settings stopped the calibration after %zu of %zu fits",
                      done, calibration->settings.replications);
  if (status == IDM_OK)
    *ret_calibration = calibration;
  else
    idm_calibration_destroy(calibration);
  return status;
}
