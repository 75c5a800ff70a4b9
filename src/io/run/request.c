/* Writes, reads and checks config.yaml, the request of a run.
 *
 * Contents: absolute · request */
#define _XOPEN_SOURCE                                                                              \
  700 /* realpath: in POSIX since 2008; glibc declares it only with this macro */

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/memory.h"
#include "base/text.h"
#include "infer/chains.h"
#include "invert/fit_keys.h"
#include "invert/posterior.h"
#include "io/file.h"
#include "io/problem/yaml.h"
#include "io/run.h"
#include "io/run/folder.h"
#include "io/yaml/yaml.h"

/* === absolute =============================================================================== */

/* Absolute paths of inputs. */

/* Make a path absolute; it is kept as given if that does not exist, does not fit or is not UTF-8.
 */
static void make_absolute(char *path, size_t size)
{
  char *absolute = realpath(path, NULL);
  if (absolute && strlen(absolute) < size && idm_utf8_valid(absolute, strlen(absolute)))
    snprintf(path, size, "%s", absolute);
  free(absolute);
}

/* The same for a list of paths, one per line. */
static void make_paths_absolute(char *paths, size_t size)
{
  size_t count = 0;
  char **list = idm_texts_split(paths, &count);
  char *joined_paths = idm_new(size, 1);
  char *one = idm_new(size, 1);
  bool whole = list && joined_paths && one;
  for (size_t i = 0; i < count && whole; i++) {
    snprintf(one, size, "%s", list[i]);
    make_absolute(one, size);
    whole = idm_texts_add(joined_paths, size, one, NULL) == IDM_OK;
  }
  if (whole) snprintf(paths, size, "%s", joined_paths);
  free(list);
  free(joined_paths);
  free(one);
}

void idm_request_make_absolute(idm_request *request)
{
  make_paths_absolute(request->data, sizeof request->data);
  if (request->preferences[0]) make_absolute(request->preferences, sizeof request->preferences);
  if (request->problem_hash[0]) make_absolute(request->problem, sizeof request->problem);
}

/* === request ================================================================================ */

/* config.yaml: a problem file with the request in its section `fit`. */

/* Larger files are not config.yaml, in bytes. */
static const size_t max_bytes = (size_t)128 << 20;

#define TEXT_KEY(field, named, called, words_of_it)                                                \
  .name = (named), .kind = IDM_KEY_TEXT, .offset = offsetof(idm_request, field),                   \
  .most = sizeof((idm_request *)0)->field, .value = (called), .help = (words_of_it)

#define TEXTS_KEY(field, named, called, words_of_it)                                               \
  .name = (named), .kind = IDM_KEY_TEXTS, .offset = offsetof(idm_request, field),                  \
  .most = sizeof((idm_request *)0)->field, .value = (called), .help = (words_of_it)

static const idm_key keys[] = {
    {TEXT_KEY(inverse, "inverse", "NAME",
              "inverse planner: by the likelihood of the decisions bayes, map or laplace; else "
              "minimum-perturbation, maximum-margin, regularised-margin, multiple-experimentation, "
              "distance, policy-inversion, preference, preference-bayes, distribution-matching or "
              "distribution-matching-bayes (see `idm list inverses`)")},
    {TEXT_KEY(of_class, "class", "NAME",
              "one of `idm list classes`, which sets planner, inverse planner and what is free; or "
              "all: try each, and compare"),
     .place = true},
    IDM_FIT_KEYS(offsetof(idm_request, settings)),
    {.name = "stan",
     .kind = IDM_KEY_BOOL,
     .offset = offsetof(idm_request, stan),
     .help = "write chain-N.csv in CmdStan's layout as well",
     .place = true},
    {TEXT_KEY(problem, "problem", "FILE", "path of the problem"), .place = true},
    {TEXT_KEY(problem_hash, "problem_sha256", "SHA-256", "of the problem"), .place = true},
    {TEXTS_KEY(data, "data", "FILE", "paths of the log"), .place = true},
    {TEXT_KEY(data_hash, "data_sha256", "SHA-256", "of the log")},
    {TEXT_KEY(preferences, "preferences", "FILE",
              "preferences between trajectories: a table with the columns worse, better and, "
              "optionally, weight"),
     .place = true},
    {TEXT_KEY(preferences_hash, "preferences_sha256", "SHA-256", "of the preferences")},
    {TEXTS_KEY(where, "where", "COLUMN=VALUE",
               "read only rows where COLUMN is VALUE (or != VALUE); several of one column are "
               "alternatives, else all must hold")},
    {TEXT_KEY(by, "by", "COLUMN",
              "separate parameters for every person by COLUMN (agent, trajectory or a column of "
              "the log), drawn from one population")},
    {TEXTS_KEY(
        model, "model", "FORMULA",
        "with --by: what the population's mean depends on, as in 'alpha, beta ~ drug * group "
        "+ age'; may be given several times")},
    {TEXT_KEY(each, "each", "COLUMN",
              "one independent fit for every person by COLUMN (agent, trajectory or a column of "
              "the log)")},
    {TEXT_KEY(
         dynamics, "dynamics", "RUN",
         "a run of `idm learn --draws`: draw its dynamics together with the free numbers if it was "
         "learnt from the same log; otherwise fit given each of some of its draws, and pool"),
     .place = true},
    {TEXT_KEY(dynamics_hash, "dynamics_sha256", "SHA-256", "of the dynamics")},
    {.name = "dynamics_draws",
     .kind = IDM_KEY_SIZE,
     .offset = offsetof(idm_request, dynamics_draws),
     .least = 2,
     .most = 10000,
     .zero = "none",
     .value = "N",
     .help = "with --dynamics of another log: how many of its draws; none means 10"},
    {0}};

const idm_key *idm_request_keys(void)
{
  return keys;
}

void idm_request_default(idm_request *request)
{
  if (!request) return;
  *request = (idm_request){0};
  snprintf(request->inverse, sizeof request->inverse, "%s", idm_inverse_at(0)->name);
  idm_fit_settings_default(&request->settings);
}

/* Returns true for a key that was added after runs were first written and has its default, which
 * does not change the label. */
static bool is_at_old_default(const idm_key *key, const idm_request *request)
{
  static const size_t later[] = {offsetof(idm_request, by), offsetof(idm_request, model),
                                 offsetof(idm_request, each),
                                 offsetof(idm_request, preferences_hash)};
  idm_request default_value;
  bool is_newer = key->later;
  for (size_t i = 0; i < sizeof later / sizeof *later; i++)
    is_newer = is_newer || key->offset == later[i];
  if (!is_newer) return false;
  idm_request_default(&default_value);
  /* A default that has been replaced by a word counts as a default, so that labels of earlier runs
   * stay the same. */
  const bool replaced_default =
      key->replaced_default != 0 && idm_key_number(key, request) == key->replaced_default;
  return replaced_default || idm_key_same(key, request, &default_value, 0);
}

uint64_t idm_request_label(const idm_problem *problem, const idm_request *request)
{
  if (!problem || !request) return 0;
  uint64_t label = idm_fingerprint_problem(IDM_CHECKSUM_START, problem);
  for (const idm_key *key = keys; key->name; key++) {
    idm_key one[] = {*key, {0}};
    one[0].later = false; /* the value is compared with its default, not with 0 */
    if (!is_at_old_default(key, request)) label = idm_fingerprint_fields(label, one, request);
  }
  return label;
}

/* --- inputs and checks ----------------------------------------------------------------------- */

static idm_status copy_path(char *to, size_t size, const char *path, idm_error *opt_error)
{
  if (!idm_utf8_valid(path, strlen(path)))
    return idm_fail(opt_error, IDM_USAGE,
                    "the file name '%s' is not UTF-8, and config.yaml could not name it; rename "
                    "the file",
                    path);
  if (strlen(path) >= size)
    return idm_fail(opt_error, IDM_USAGE, "a path is longer than %zu bytes: '%.60s...'", size - 1,
                    path);
  memmove(to, path, strlen(path) + 1);
  return IDM_OK;
}

/* Returns true if both lists are the same files in the same order, whatever their paths; one path
 * per line. */
static bool same_files(const char *a, const char *b)
{
  size_t m = 0;
  size_t n = 0;
  char **first = idm_texts_split(a, &m);
  char **second = idm_texts_split(b, &n);
  bool same = first && second && m == n;
  for (size_t i = 0; i < m && same; i++) same = idm_file_same(first[i], second[i]);
  free(first);
  free(second);
  return same;
}

idm_status idm_request_check_log(const idm_request *r, const char *data, idm_error *opt_error)
{
  idm_require(r, data);
  char hash[IDM_HASH_SIZE];
  if (!r->data_hash[0] || (data != r->data && !same_files(data, r->data))) return IDM_OK;
  const idm_status status = idm_files_hash(data, hash, opt_error);
  if (status != IDM_OK || strcmp(hash, r->data_hash) == 0) return status;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' has changed: config.yaml names it as the log with the SHA-256 %.16s..., "
                  "found %.16s...; give another log another name",
                  data, r->data_hash, hash);
}

idm_status idm_request_set_inputs(idm_request *r, const char *problem, const char *opt_data,
                                  idm_error *opt_error)
{
  idm_require(r, problem);
  const char *data = opt_data ? opt_data : r->data;
  idm_status status = copy_path(r->problem, sizeof r->problem, problem, opt_error);
  r->problem_hash[0] = '\0';
  if (status == IDM_OK && !idm_problem_example(problem))
    status = idm_file_hash(problem, r->problem_hash, opt_error);
  if (status == IDM_OK) status = idm_request_check_log(r, data, opt_error);
  if (status == IDM_OK) status = copy_path(r->data, sizeof r->data, data, opt_error);
  return status == IDM_OK ? idm_files_hash(data, r->data_hash, opt_error) : status;
}

idm_status idm_request_set_log(idm_request *r, const char *opt_data, idm_error *opt_error)
{
  idm_require(r);
  const char *path = opt_data ? opt_data : r->data;
  char hash[IDM_HASH_SIZE];
  const idm_status status = idm_files_hash(path, hash, opt_error);
  if (status != IDM_OK) return status;
  if (strcmp(hash, r->data_hash) != 0)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' is not the log that the run began with: its SHA-256 differs from that "
                    "in config.yaml",
                    path);
  return copy_path(r->data, sizeof r->data, path, opt_error);
}

/* Preferences require an inverse planner that reads them, and one answer for all agents. */
static idm_status check_preferences(const idm_request *r, idm_error *opt_error)
{
  const idm_inverse *inverse = idm_inverse_find(r->inverse);
  if (inverse->preferences && !r->preferences[0])
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs preferences between trajectories; expected --preferences FILE, a "
                    "table with the columns worse and better",
                    inverse->name);
  if (!inverse->preferences && r->preferences[0])
    return idm_fail(
        opt_error, IDM_USAGE,
        "--preferences has no effect with inverse planner '%s'; see `idm list inverses`",
        inverse->name);
  if (inverse->preferences && (r->by[0] || r->each[0] || r->dynamics[0]))
    return idm_fail(opt_error, IDM_USAGE,
                    "'%s' compares trajectories of one log by one utility; leave out --by, --each "
                    "and --dynamics",
                    inverse->name);
  return IDM_OK;
}

idm_status idm_request_hash_preferences(idm_request *r, idm_error *opt_error)
{
  idm_require(r);
  char hash[IDM_HASH_SIZE];
  idm_status status = idm_inverse_find(r->inverse) ? check_preferences(r, opt_error) : IDM_OK;
  if (status != IDM_OK || !r->preferences[0]) return status;
  status = copy_path(r->preferences, sizeof r->preferences, r->preferences, opt_error);
  if (status == IDM_OK) status = idm_file_hash(r->preferences, hash, opt_error);
  if (status != IDM_OK) return status;
  if (r->preferences_hash[0] && strcmp(hash, r->preferences_hash) != 0)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' does not hold the preferences that config.yaml names: expected the "
                    "SHA-256 %.16s..., found %.16s...",
                    r->preferences, r->preferences_hash, hash);
  snprintf(r->preferences_hash, sizeof r->preferences_hash, "%s", hash);
  return IDM_OK;
}

/* --by and --each exclude each other, and the population has its own sampler. */
static idm_status check_people(const idm_request *r, idm_error *opt_error)
{
  if (r->by[0] && r->each[0])
    return idm_fail(
        opt_error, IDM_USAGE,
        "--by and --each exclude each other: people of one population, or independent people");
  if (r->model[0] && !r->by[0])
    return idm_fail(opt_error, IDM_USAGE,
                    "--model describes a population; name its people with --by, as in --by agent");
  if (r->by[0] && (strcmp(r->inverse, idm_inverse_at(0)->name) != 0 || r->settings.sampler[0]))
    return idm_fail(
        opt_error, IDM_USAGE,
        "--by draws people and population by blocks: leave --inverse and --sampler out");
  if (r->stan && (r->by[0] || r->each[0]))
    return idm_fail(opt_error, IDM_USAGE,
                    "--stan writes one vector per draw, and every person has one; read run.nc");
  if (r->settings.keep == IDM_KEEP_DECISION && (r->by[0] || r->each[0]))
    return idm_fail(opt_error, IDM_USAGE,
                    "--log-likelihood decision is for a fit of one vector for all: --by keeps "
                    "log-likelihoods by person, --each keeps none; leave it out, and use `idm "
                    "score RUN DATA --trials` on a fit of one person's log");
  return IDM_OK;
}

idm_status idm_request_check(const idm_problem *problem, const idm_request *r, idm_error *opt_error)
{
  idm_require(problem, r);
  const char *sampler = r->settings.sampler;
  if (!idm_inverse_find(r->inverse))
    return idm_fail(opt_error, IDM_USAGE,
                    "the inverse planner '%s' is not known; see `idm list inverses`", r->inverse);
  char names[160];
  if (sampler[0] && !idm_sampler_find(sampler))
    return idm_fail(opt_error, IDM_USAGE, "the sampler '%s' is not known; expected %s", sampler,
                    idm_sampler_names(names, sizeof names));
  idm_status legal = check_people(r, opt_error);
  if (legal == IDM_OK) legal = check_preferences(r, opt_error);
  if (legal != IDM_OK) return legal;
  if (r->dynamics[0] && (r->by[0] || r->each[0]))
    return idm_fail(opt_error, IDM_USAGE,
                    "--dynamics fits one agent for all given each draw of the dynamics; leave out "
                    "--by and --each");
  idm_parameters *parameters = NULL;
  const idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  idm_parameters_destroy(parameters);
  return status;
}

/* --- writing -------------------------------------------------------------------------------- */

static void put_texts(idm_emitter *out, const char *key, const char *texts)
{
  size_t count = 0;
  char **list = idm_texts_split(texts, &count);
  if (!list) (void)idm_fail_memory(&out->error);
  idm_emit_list(out, key, IDM_EMIT_BLOCK);
  for (size_t i = 0; list && i < count; i++) idm_emit_text(out, NULL, list[i]);
  idm_emit_list_end(out);
  free(list);
}

void idm_put_keys(idm_emitter *out, const idm_key *list, const void *fields)
{
  char text[sizeof((idm_request *)0)->data];
  for (const idm_key *key = list; key->name; key++) {
    idm_key_text(key, fields, text, sizeof text);
    if (key->kind == IDM_KEY_TEXTS && strchr(text, '\n'))
      put_texts(out, key->name, text);
    else if (key->kind != IDM_KEY_TEXT && key->kind != IDM_KEY_TEXTS)
      idm_emit_word(out, key->name, text);
    else if (text[0])
      idm_emit_text(out, key->name, text);
  }
}

void idm_put_request(idm_emitter *out, const idm_problem *problem, const idm_request *request)
{
  char label[20];
  snprintf(label, sizeof label, "%016" PRIx64, idm_request_label(problem, request));
  idm_problem_put_yaml(out, problem);
  idm_emit_mapping(out, "fit", IDM_EMIT_BLOCK);
  idm_emit_text(out, "idm", idm_version());
  idm_emit_text(out, "request", label);
  idm_put_keys(out, keys, request);
  idm_emit_mapping_end(out);
}

idm_status idm_request_write(const idm_problem *problem, const idm_request *request,
                             const char *path, idm_error *opt_error)
{
  idm_require(problem, request, path);
  const idm_location place = idm_location_of(path);
  return idm_request_write_at(problem, request, &place, opt_error);
}

idm_status idm_request_write_at(const idm_problem *problem, const idm_request *request,
                                const idm_location *place, idm_error *opt_error)
{
  idm_emitter out;
  idm_emit_begin_at(&out, place);
  idm_put_request(&out, problem, request);
  return idm_emit_end(&out, opt_error);
}

/* --- reading -------------------------------------------------------------------------------- */

/* Words that must be names in a registry. */
static idm_status check_names(const idm_yaml_tree *tree, const idm_yaml_node *section,
                              const idm_request *r)
{
  char names[160] = "";
  size_t used = 0;
  for (size_t i = 0; idm_inverse_at(i) && used < sizeof names; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                             idm_inverse_at(i)->name);
  if (!idm_inverse_find(r->inverse))
    return idm_yaml_unexpected(tree, idm_yaml_find(tree, section, "inverse"), "fit.inverse", names);
  if (!r->settings.sampler[0] || idm_sampler_find(r->settings.sampler)) return IDM_OK;
  return idm_yaml_unexpected(tree, idm_yaml_find(tree, section, "sampler"), "fit.sampler",
                             idm_sampler_names(names, sizeof names));
}

idm_status idm_request_read_section(const idm_yaml_tree *tree, idm_request *request)
{
  const idm_yaml_node *section = idm_yaml_find(tree, idm_yaml_root(tree), "fit");
  if (!section) return IDM_OK;
  /* The version that wrote the file and its label are for human readers. */
  const char *names[sizeof keys / sizeof keys[0] + 2] = {"idm", "request"};
  for (size_t i = 0; keys[i].name; i++) names[i + 2] = keys[i].name;
  idm_status status = idm_yaml_check_keys(tree, section, "fit", names);
  for (const idm_key *key = keys; key->name && status == IDM_OK; key++) {
    const idm_yaml_node *node = idm_yaml_find(tree, section, key->name);
    char what[40];
    snprintf(what, sizeof what, "fit.%s", key->name);
    if (node) status = idm_yaml_read_key(tree, node, key, what, request);
  }
  return status == IDM_OK ? check_names(tree, section, request) : status;
}

static idm_status read_section(void *context, const idm_yaml_tree *tree)
{
  return idm_request_read_section(tree, context);
}

/* Returns true if a file has a section that is a mapping, with opt_key in it if that is given. */
static bool has_section(const idm_location *place, const char *name, const char *opt_key)
{
  char *text = NULL;
  size_t length = 0;
  idm_yaml_tree *tree = NULL;
  const idm_yaml_node *section = NULL;
  if (idm_file_read_at(place, max_bytes, &text, &length, NULL) == IDM_OK &&
      idm_yaml_load(text, length, place->path, &tree, NULL) == IDM_OK &&
      idm_yaml_is_mapping(idm_yaml_root(tree)))
    section = idm_yaml_find(tree, idm_yaml_root(tree), name);
  const bool found = section && idm_yaml_is_mapping(section) &&
                     (!opt_key || idm_yaml_find(tree, section, opt_key));
  if (tree) idm_yaml_destroy(tree);
  free(text);
  return found;
}

bool idm_yaml_has_section(const idm_location *place, const char *name)
{
  return has_section(place, name, NULL);
}

bool idm_request_is_at(const idm_location *place)
{
  return has_section(place, "fit", "idm");
}

idm_status idm_request_read(const char *path, idm_problem **ret_problem, idm_request *request,
                            idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(path, ret_problem, request);
  const idm_location place = idm_location_of(path);
  const idm_status status = idm_location_check_reread(&place, opt_error);
  if (status != IDM_OK) {
    *ret_problem = NULL;
    return status;
  }
  return idm_request_read_at(&place, ret_problem, request, opt_notes, opt_error);
}

idm_status idm_request_read_at(const idm_location *place, idm_problem **ret_problem,
                               idm_request *request, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_request_default(request);
  return idm_problem_read_sections(place, read_section, request, ret_problem, opt_notes, opt_error);
}
