/* Settings by name, over the tables of keys of requests, audits, learning and calibration; and the
 * logs that fits with these settings read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text.h"
#include "data/log.h"
#include "idm/data.h"
#include "idm/extension/inverse.h"
#include "invert/classes.h"
#include "invert/people.h"
#include "io/log_file.h"
#include "setting/model.h"
#include "study/study.h"

/* --- settings ------------------------------------------------------------------------------- */

/* A table of keys, the prefix of their names, and the struct that holds their fields. */
typedef struct key_table {
  const char *prefix;
  const idm_key *(*keys)(void);
  size_t offset;
} key_table;

static const key_table tables[] = {
    {"", idm_request_keys, offsetof(idm_settings, audit.request)},
    {"audit.", idm_audit_keys, offsetof(idm_settings, audit)},
    {"learn.", idm_learn_keys, offsetof(idm_settings, learn)},
    {"calibration.", idm_calibration_keys, offsetof(idm_settings, calibration)},
};
enum { table_count = sizeof tables / sizeof tables[0] };

/* True for keys that functions set from their arguments: where the inputs are, and their hashes. */
static bool is_input(const idm_key *key)
{
  static const char *const inputs[] = {"problem", "data", "design"};
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
    if (strcmp(key->name, inputs[i]) == 0) return true;
  const char *end = strrchr(key->name, '_');
  return end && strcmp(end, "_sha256") == 0;
}

/* The key of that name and its table; NULL where there is none. */
static const idm_key *find_key(const char *name, const key_table **ret_table)
{
  for (size_t i = table_count; i-- > 0;) {
    const size_t length = strlen(tables[i].prefix);
    if (strncmp(name, tables[i].prefix, length) != 0) continue;
    *ret_table = &tables[i];
    const idm_key *key = idm_key_find(tables[i].keys(), name + length);
    if (key && !is_input(key)) return key;
  }
  return NULL;
}

idm_status idm_settings_create(idm_settings **ret_settings, idm_error *opt_error)
{
  idm_require(ret_settings);
  *ret_settings = idm_new(1, sizeof **ret_settings);
  if (!*ret_settings) return idm_fail_memory(opt_error);
  idm_audit_request_default(&(*ret_settings)->audit);
  /* Warm-up and kept likelihoods are those of fits, not of audits. */
  idm_request_default(&(*ret_settings)->audit.request);
  idm_learn_settings_default(&(*ret_settings)->learn);
  idm_calibration_settings_default(&(*ret_settings)->calibration);
  return IDM_OK;
}

void idm_settings_destroy(idm_settings *settings)
{
  free(settings);
}

/* The number of threads, which changes no result and is no key; 0: one per processor. */
static idm_status set_threads(idm_settings *settings, const char *value, idm_error *opt_error)
{
  char *end;
  const long threads = strtol(value, &end, 10);
  if (end == value || *end || threads < 0 || threads > 1024)
    return idm_fail(opt_error, IDM_USAGE,
                    "threads is '%.60s'; expected a whole number from 0 (all processors) to 1024",
                    value);
  const int count = threads ? (int)threads : idm_processors();
  settings->audit.request.settings.threads = count;
  settings->learn.threads = settings->calibration.threads = count;
  return IDM_OK;
}

/* Set a list of one entry per line, which replaces what was set; after an error that stays. */
static idm_status set_list(const idm_key *key, char *list, const char *value, idm_error *opt_error)
{
  const size_t size = (size_t)key->most;
  char *set = idm_new(size, 1);
  idm_status status = set ? IDM_OK : idm_fail_memory(opt_error);
  while (*value && status == IDM_OK) {
    const size_t length = strcspn(value, "\n");
    char *entry = idm_text_copy(value, length);
    status = entry ? idm_texts_add(set, size, entry, opt_error) : idm_fail_memory(opt_error);
    free(entry);
    value += length + (value[length] != '\0');
  }
  if (status == IDM_OK) memcpy(list, set, size);
  free(set);
  return status;
}

idm_status idm_settings_set(idm_settings *settings, const char *name, const char *value,
                            idm_error *opt_error)
{
  idm_require(settings, name, value);
  const key_table *table = NULL;
  if (strcmp(name, "threads") == 0) return set_threads(settings, value, opt_error);
  const idm_key *key = find_key(name, &table);
  if (!key)
    return idm_fail(opt_error, IDM_USAGE,
                    "there is no setting '%.60s'; idm_settings_name lists them", name);
  void *fields = (char *)settings + table->offset;
  if (key->kind != IDM_KEY_TEXTS) return idm_key_set_text(key, fields, value, opt_error);
  return set_list(key, (char *)fields + key->offset, value, opt_error);
}

const char *idm_settings_get(const idm_settings *settings, const char *name, char *buffer,
                             size_t size)
{
  const key_table *table = NULL;
  if (!settings || !name || !buffer || !size) return NULL;
  if (strcmp(name, "threads") == 0) {
    idm_print(buffer, size, "%d", settings->audit.request.settings.threads);
    return buffer;
  }
  const idm_key *key = find_key(name, &table);
  return key ? idm_key_text(key, (const char *)settings + table->offset, buffer, size) : NULL;
}

const char *idm_settings_name(const idm_settings *settings, size_t index, char *buffer, size_t size)
{
  if (!settings || !buffer || !size) return NULL;
  for (size_t i = 0; i < table_count; i++)
    for (const idm_key *key = tables[i].keys(); key->name; key++)
      if (!is_input(key) && index-- == 0) {
        idm_print(buffer, size, "%s%s", tables[i].prefix, key->name);
        return buffer;
      }
  if (index) return NULL;
  idm_print(buffer, size, "threads");
  return buffer;
}

void idm_settings_watch(idm_settings *settings, idm_watch opt_watch, void *context)
{
  if (!settings) return;
  settings->watcher = (idm_watcher){opt_watch, context, false};
}

bool idm_watcher_call(void *watcher, double done)
{
  idm_watcher *w = watcher;
  if (w->watch && w->watch(w->context, done)) w->stopped = true;
  return w->stopped;
}

bool idm_watcher_progress(void *watcher, const idm_progress_state *work)
{
  return idm_watcher_call(watcher, work->done);
}

idm_status idm_request_complete(idm_request *r, idm_problem *problem, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  if (r->of_class[0]) {
    const idm_class *model_class = idm_class_find(r->of_class);
    if (!model_class)
      return idm_fail(opt_error, IDM_USAGE, "there is no class '%.31s'", r->of_class);
    idm_print(r->inverse, sizeof r->inverse, "%s", model_class->inverse);
    idm_class_settings(model_class, &r->settings);
    status = idm_class_apply(model_class, problem, opt_error);
  }
  if (status == IDM_OK && r->dynamics[0]) status = idm_request_hash_dynamics(r, opt_error);
  if (status == IDM_OK) status = idm_request_hash_preferences(r, opt_error);
  if (status == IDM_OK) status = idm_request_check(problem, r, opt_error);
  return status;
}

/* --- logs ----------------------------------------------------------------------------------- */

/* Append the names of columns, each once. */
static idm_status add_columns(idm_labels *columns, const idm_labels *more, idm_error *opt_error)
{
  idm_labels all = {0};
  size_t count = columns->count;
  idm_status status = idm_labels_create(&all, columns->count + more->count, opt_error);
  for (size_t i = 0; i < columns->count && status == IDM_OK; i++)
    status = idm_labels_set(&all, i, columns->name[i], strlen(columns->name[i]), opt_error);
  for (size_t i = 0; i < more->count && status == IDM_OK; i++) {
    bool is_new = true;
    for (size_t j = 0; j < count; j++) is_new = is_new && strcmp(all.name[j], more->name[i]) != 0;
    if (is_new)
      status = idm_labels_set(&all, count++, more->name[i], strlen(more->name[i]), opt_error);
  }
  for (size_t i = count; i < all.count; i++) free(all.name[i]);
  if (all.name) all.count = count; /* else the creation failed */
  idm_labels_destroy(columns);
  *columns = all;
  return status;
}

/* Columns that a log must keep for the fits and audits of these settings, for the caller to free.
 */
static idm_status settings_columns(const idm_settings *settings, const idm_problem *problem,
                                   idm_labels *ret_columns, idm_error *opt_error)
{
  const idm_request *r = &settings->audit.request;
  idm_labels more = {0};
  idm_status status = IDM_OK;
  *ret_columns = (idm_labels){0};
  if (r->by[0] || r->each[0]) {
    size_t models = 0;
    char **model = idm_texts_split(r->model, &models);
    const idm_design_request design = {r->by[0] ? r->by : r->each, (const char *const *)model,
                                       models};
    status = model ? idm_design_columns(problem, &design, ret_columns, opt_error)
                   : idm_fail_memory(opt_error);
    free(model);
  }
  if (status == IDM_OK && (settings->audit.by[0] || settings->audit.group[0])) {
    status = idm_audit_columns(&settings->audit, &more, opt_error);
    if (status == IDM_OK) status = add_columns(ret_columns, &more, opt_error);
    idm_labels_destroy(&more);
  }
  return status;
}

/* Store the cut points and utilities of a log in the problem, and check it. On failure the log is
 * destroyed. */
static idm_status take_log(idm_problem *problem, idm_data **data, idm_error *opt_error)
{
  idm_status status = idm_problem_set_breaks(problem, (*data)->log_counts, opt_error);
  if (status == IDM_OK)
    status = idm_problem_bind(problem, (*data)->variants, (*data)->variant_value, opt_error);
  if (status == IDM_OK) status = idm_problem_validate(problem, opt_error);
  if (status == IDM_OK) return IDM_OK;
  idm_data_destroy(*data);
  *data = NULL;
  return status;
}

idm_status idm_log_read(idm_log_reader *read, const char *paths, const char *where,
                        idm_problem *problem, idm_csv_options options, idm_data **ret_data,
                        idm_notes *opt_notes, idm_error *opt_error)
{
  size_t files = 0;
  size_t conditions = 0;
  char **file = idm_texts_split(paths, &files);
  char **condition = idm_texts_split(where, &conditions);
  options.where = (const char *const *)condition;
  options.where_count = conditions;
  const idm_status status = file && condition ? read((const char *const *)file, files, problem,
                                                     &options, ret_data, opt_notes, opt_error)
                                              : idm_fail_memory(opt_error);
  free(file);
  free(condition);
  return status == IDM_OK ? take_log(problem, ret_data, opt_error) : status;
}

/* A log from files, or where there are none from text. */
static idm_status read_log(idm_problem *problem, const char *const *paths, size_t count,
                           const char *text, size_t length, const idm_settings *opt_settings,
                           idm_data **ret_data, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_labels columns = {0};
  size_t conditions = 0;
  char **where =
      idm_texts_split(opt_settings ? opt_settings->audit.request.where : "", &conditions);
  idm_status status = where ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK && opt_settings)
    status = settings_columns(opt_settings, problem, &columns, opt_error);
  const idm_inverse *inverse =
      opt_settings ? idm_inverse_find(opt_settings->audit.request.inverse) : NULL;
  const idm_csv_options options = {.keep = (const char *const *)columns.name,
                                   .keep_count = columns.count,
                                   .columns = inverse ? inverse->columns : 0,
                                   .where = (const char *const *)where,
                                   .where_count = conditions};
  if (status == IDM_OK)
    status =
        paths ? idm_data_read_files(paths, count, problem, &options, ret_data, opt_notes, opt_error)
              : idm_data_parse_csv(text, length, "text", problem, &options, ret_data, opt_notes,
                                   opt_error);
  if (status == IDM_OK) status = take_log(problem, ret_data, opt_error);
  if (status == IDM_OK && opt_settings && opt_settings->audit.request.preferences[0]) {
    status = idm_preferences_read_csv(opt_settings->audit.request.preferences, *ret_data, opt_notes,
                                      opt_error);
    if (status != IDM_OK) {
      idm_data_destroy(*ret_data);
      *ret_data = NULL;
    }
  }
  idm_labels_destroy(&columns);
  free(where);
  return status;
}

idm_status idm_data_read(idm_problem *problem, const char *const *paths, size_t count,
                         const idm_settings *opt_settings, idm_data **ret_data,
                         idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem, paths, ret_data);
  *ret_data = NULL;
  for (size_t i = 0; i < count; i++)
    if (!paths[i]) return idm_fail(opt_error, IDM_USAGE, "path %zu is NULL", i);
  if (!count) return idm_fail(opt_error, IDM_USAGE, "a log needs at least one path");
  return read_log(problem, paths, count, NULL, 0, opt_settings, ret_data, opt_notes, opt_error);
}

idm_status idm_data_parse(idm_problem *problem, const char *text, size_t length,
                          const idm_settings *opt_settings, idm_data **ret_data,
                          idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem, text, ret_data);
  *ret_data = NULL;
  return read_log(problem, NULL, 0, text, length, opt_settings, ret_data, opt_notes, opt_error);
}
