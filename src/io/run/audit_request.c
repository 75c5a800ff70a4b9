/* Reads and checks config.yaml of an audit: that of a fit with the groups in its section `audit`.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/text.h"
#include "idm/extension/predicate.h"
#include "invert/audit/model.h"
#include "invert/posterior.h"
#include "io/problem/yaml.h"
#include "io/run.h"
#include "io/run/folder.h"
#include "io/yaml/yaml.h"
#include "setting/model.h"

static const idm_key keys[] = {
    {.name = "by",
     .kind = IDM_KEY_TEXT,
     .offset = offsetof(idm_audit_request, by),
     .most = sizeof((idm_audit_request *)0)->by,
     .value = "COLUMN",
     .help = "one group per level of this column of the log"},
    {.name = "group",
     .kind = IDM_KEY_TEXTS,
     .offset = offsetof(idm_audit_request, group),
     .most = sizeof((idm_audit_request *)0)->group,
     .value = "PREDICATE",
     .help = "a group defined by a predicate, as in \"AGE>75\"; may be given several times, and "
             "groups may overlap"},
    {.name = "pool",
     .kind = IDM_KEY_ENUM,
     .offset = offsetof(idm_audit_request, pool),
     .words = idm_audit_pool_words,
     .value = "HOW",
     .help = "groups have a common distribution (partial), are independent (none), or are "
             "independent and contrasts are adjusted by Holm's method (holm)"},
    {.name = "dynamics",
     .kind = IDM_KEY_ENUM,
     .offset = offsetof(idm_audit_request, dynamics),
     .words = idm_audit_dynamics_words,
     .value = "WHOSE",
     .help = "plan every group in the problem's dynamics (pooled), or also in those learnt from "
             "its own log (group): contrasts with both, and results that depend on the choice"},
    {.name = "people",
     .kind = IDM_KEY_BOOL,
     .offset = offsetof(idm_audit_request, people),
     .help =
         "agents have parameters of their own, normally distributed around those of their group"},
    {0}};

const idm_key *idm_audit_keys(void)
{
  return keys;
}

void idm_audit_request_default(idm_audit_request *request)
{
  if (!request) return;
  *request = (idm_audit_request){0};
  idm_audit_settings settings;
  idm_request_default(&request->request);
  idm_audit_settings_default(&settings);
  request->request.settings = settings.fit;
}

uint64_t idm_audit_request_label(const idm_problem *problem, const idm_audit_request *request)
{
  if (!problem || !request) return 0;
  return idm_fingerprint_fields(idm_request_label(problem, &request->request), keys, request);
}

idm_status idm_audit_request_check(const idm_audit_request *request, idm_error *opt_error)
{
  idm_require(request);
  if (!request->by[0] && !request->group[0])
    return idm_fail(
        opt_error, IDM_USAGE,
        "no groups are given; expected --by COLUMN, or --group PREDICATE as in \"AGE>75\"");
  if (request->by[0] && request->group[0])
    return idm_fail(opt_error, IDM_USAGE,
                    "--by and --group exclude each other: groups of a column do not overlap, "
                    "groups of predicates may");
  return idm_keys_check(keys, request, opt_error);
}

/* Columns of the predicates, each listed once. */
static idm_status list_columns(char *const *predicate, size_t count, idm_labels *columns,
                               idm_error *opt_error)
{
  idm_status status = idm_labels_create(columns, count, opt_error);
  size_t used = 0;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    idm_predicate p = {0};
    status = idm_predicate_parse(predicate[i], NULL, &p, opt_error);
    bool is_listed = false;
    for (size_t k = 0; k < used && status == IDM_OK; k++)
      is_listed = is_listed || strcmp(columns->name[k], p.column) == 0;
    if (status == IDM_OK && !is_listed)
      status = idm_labels_set(columns, used++, p.column, strlen(p.column), opt_error);
    idm_predicate_clear(&p);
  }
  if (status == IDM_OK) columns->count = used;
  return status;
}

idm_status idm_audit_columns(const idm_audit_request *request, idm_labels *ret_columns,
                             idm_error *opt_error)
{
  idm_require(request, ret_columns);
  *ret_columns = (idm_labels){0};
  idm_status status = idm_audit_request_check(request, opt_error);
  if (status != IDM_OK) return status;
  if (request->by[0]) {
    status = idm_labels_create(ret_columns, 1, opt_error);
    if (status == IDM_OK)
      status = idm_labels_set(ret_columns, 0, request->by, strlen(request->by), opt_error);
  } else {
    size_t count = 0;
    char **predicate = idm_texts_split(request->group, &count);
    status = predicate ? list_columns(predicate, count, ret_columns, opt_error)
                       : idm_fail_memory(opt_error);
    free(predicate);
  }
  if (status != IDM_OK) idm_labels_destroy(ret_columns);
  return status;
}

idm_status idm_groups_create(const idm_audit_request *request, const idm_data *data,
                             idm_groups **ret_groups, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(request, data, ret_groups);
  *ret_groups = NULL;
  idm_status status = idm_audit_request_check(request, opt_error);
  if (status != IDM_OK) return status;
  if (request->by[0]) return idm_groups_by(data, request->by, ret_groups, opt_notes, opt_error);
  size_t count = 0;
  char **predicate = idm_texts_split(request->group, &count);
  status = predicate ? idm_groups_where(data, (const char *const *)predicate, count, ret_groups,
                                        opt_notes, opt_error)
                     : idm_fail_memory(opt_error);
  free(predicate);
  return status;
}

/* --- reading and writing -------------------------------------------------------------------- */

static idm_status read_sections(void *context, const idm_yaml_tree *tree)
{
  idm_audit_request *request = context;
  idm_status status = idm_request_read_section(tree, &request->request);
  const idm_yaml_node *section = idm_yaml_find(tree, idm_yaml_root(tree), "audit");
  if (status != IDM_OK || !section) return status;
  const char *names[sizeof keys / sizeof keys[0]] = {0};
  for (size_t i = 0; keys[i].name; i++) names[i] = keys[i].name;
  status = idm_yaml_check_keys(tree, section, "audit", names);
  for (const idm_key *key = keys; key->name && status == IDM_OK; key++) {
    const idm_yaml_node *node = idm_yaml_find(tree, section, key->name);
    char what[40];
    snprintf(what, sizeof what, "audit.%s", key->name);
    if (node) status = idm_yaml_read_key(tree, node, key, what, request);
  }
  return status;
}

idm_status idm_audit_request_read(const char *path, idm_problem **ret_problem,
                                  idm_audit_request *request, idm_notes *opt_notes,
                                  idm_error *opt_error)
{
  idm_require(path, ret_problem, request);
  const idm_location location = idm_location_of(path);
  const idm_status status = idm_location_check_reread(&location, opt_error);
  if (status != IDM_OK) {
    *ret_problem = NULL;
    return status;
  }
  return idm_audit_request_read_at(&location, ret_problem, request, opt_notes, opt_error);
}

idm_status idm_audit_request_read_at(const idm_location *location, idm_problem **ret_problem,
                                     idm_audit_request *request, idm_notes *opt_notes,
                                     idm_error *opt_error)
{
  idm_audit_request_default(request);
  return idm_problem_read_sections(location, read_sections, request, ret_problem, opt_notes,
                                   opt_error);
}

bool idm_audit_is(const char *folder)
{
  char path[IDM_PATH_SIZE];
  idm_run_files files;
  if (!folder || !idm_folder_is(folder) || idm_run_files_open(&files, folder, NULL) != IDM_OK)
    return false;
  const idm_location config = idm_run_files_location(&files, IDM_FILE_CONFIG, path);
  const bool is = idm_audit_is_at(&config);
  idm_run_files_close(&files);
  return is;
}

bool idm_audit_is_at(const idm_location *location)
{
  return idm_yaml_has_section(location, "audit");
}
