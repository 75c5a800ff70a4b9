/* config.yaml: a problem file with the request in its section `fit`. */
#include "idm/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "io/problem/write.h"

/* A run's config is a problem and a handful of lines. */
static const size_t most_bytes = (size_t)1 << 28;

static const char *const keep_names[] = {"none", "trajectory", "decision"};

void idm_request_default(idm_request *request)
{
  *request = (idm_request){.inverse = "bayes"};
  idm_fit_settings_default(&request->settings);
}

/* --- writing -------------------------------------------------------------------------------- */

static void put_request(idm_emitter *out, const idm_request *r)
{
  const idm_fit_settings *s = &r->settings;
  idm_emit_mapping(out, "fit", IDM_EMIT_BLOCK);
  idm_emit_text(out, "idm", idm_version());
  idm_emit_text(out, "inverse", r->inverse);
  if (s->sampler[0]) idm_emit_text(out, "sampler", s->sampler);
  idm_emit_whole(out, "chains", s->chains);
  idm_emit_whole(out, "draws", (uint64_t)s->draws);
  idm_emit_whole(out, "warmup", (uint64_t)s->warmup);
  idm_emit_whole(out, "thin", (uint64_t)s->thin);
  idm_emit_whole(out, "seed", s->seed);
  idm_emit_word(out, "log_likelihood", keep_names[s->keep]);
  idm_emit_whole(out, "prior_draws", s->prior_draws);
  idm_emit_boolean(out, "stan", r->stan);
  idm_emit_text(out, "problem", r->problem);
  if (r->problem_hash[0]) idm_emit_text(out, "problem_sha256", r->problem_hash);
  idm_emit_text(out, "data", r->data);
  idm_emit_text(out, "data_sha256", r->data_hash);
  idm_emit_mapping_end(out);
}

idm_status idm_request_write(const idm_problem *problem, const idm_request *request,
                             const char *path, idm_error *opt_error)
{
  idm_emitter out;
  idm_emit_begin(&out, path);
  idm_problem_put_yaml(&out, problem);
  put_request(&out, request);
  return idm_emit_end(&out, opt_error);
}

/* --- reading -------------------------------------------------------------------------------- */

/* One text of the section into a buffer; absent ones are left alone. */
static idm_status read_text(const idm_yaml_tree *tree, const idm_yaml_node *section,
                            const char *key, char *buffer, size_t size)
{
  const idm_yaml_node *node = idm_yaml_find(tree, section, key);
  if (!node) return IDM_OK;
  if (!idm_yaml_is_scalar(node) || strlen(idm_yaml_text(node)) >= size)
    return idm_yaml_fail(tree, node, "fit.%s is no text of fewer than %zu bytes", key, size);
  snprintf(buffer, size, "%s", idm_yaml_text(node));
  return IDM_OK;
}

static idm_status read_whole(const idm_yaml_tree *tree, const idm_yaml_node *section,
                             const char *key, long least, long *value)
{
  const idm_yaml_node *node = idm_yaml_find(tree, section, key);
  char what[40];
  snprintf(what, sizeof what, "fit.%s", key);
  return node ? idm_yaml_integer(tree, node, what, least, value) : IDM_OK;
}

/* A seed has 64 bits: more than a number of YAML holds exactly. */
static idm_status read_seed(const idm_yaml_tree *tree, const idm_yaml_node *section, uint64_t *seed)
{
  const idm_yaml_node *node = idm_yaml_find(tree, section, "seed");
  if (!node) return IDM_OK;
  const char *text = idm_yaml_is_scalar(node) ? idm_yaml_text(node) : "";
  errno = 0;
  const unsigned long long value = strtoull(text, NULL, 10);
  if (!text[0] || text[strspn(text, "0123456789")] || errno)
    return idm_yaml_unexpected(tree, node, "fit.seed", "a whole number below 2^64");
  *seed = value;
  return IDM_OK;
}

static idm_status read_choices(const idm_yaml_tree *tree, const idm_yaml_node *section,
                               idm_request *r)
{
  const idm_yaml_node *keep = idm_yaml_find(tree, section, "log_likelihood");
  const idm_yaml_node *stan = idm_yaml_find(tree, section, "stan");
  size_t choice = r->settings.keep;
  idm_status status = IDM_OK;
  if (keep) status = idm_yaml_choice(tree, keep, "fit.log_likelihood", keep_names, 3, &choice);
  r->settings.keep = (idm_keep)choice;
  if (status == IDM_OK && stan) status = idm_yaml_boolean(tree, stan, "fit.stan", &r->stan);
  return status;
}

static idm_status read_numbers(const idm_yaml_tree *tree, const idm_yaml_node *section,
                               idm_request *r)
{
  idm_fit_settings *s = &r->settings;
  long chains = (long)s->chains;
  long prior_draws = (long)s->prior_draws;
  const struct {
    const char *key;
    long least;
    long *value;
  } numbers[] = {{"chains", 1, &chains},
                 {"draws", 1, &s->draws},
                 {"warmup", 0, &s->warmup},
                 {"thin", 0, &s->thin},
                 {"prior_draws", 0, &prior_draws}};
  idm_status status = IDM_OK;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && status == IDM_OK; i++)
    status = read_whole(tree, section, numbers[i].key, numbers[i].least, numbers[i].value);
  s->chains = (size_t)chains;
  s->prior_draws = (size_t)prior_draws;
  return status == IDM_OK ? read_seed(tree, section, &s->seed) : status;
}

static idm_status read_section(const idm_yaml_tree *tree, idm_request *r)
{
  static const char *const keys[] = {
      "idm",         "inverse",        "sampler",     "chains",
      "draws",       "warmup",         "thin",        "seed",
      "stan",        "log_likelihood", "problem",     "problem_sha256",
      "prior_draws", "data",           "data_sha256", NULL};
  const idm_yaml_node *section = idm_yaml_find(tree, idm_yaml_root(tree), "fit");
  if (!section) return IDM_OK;
  idm_status status = idm_yaml_check_keys(tree, section, "fit", keys);
  const struct {
    const char *key;
    char *buffer;
    size_t size;
  } texts[] = {{"inverse", r->inverse, sizeof r->inverse},
               {"sampler", r->settings.sampler, sizeof r->settings.sampler},
               {"problem", r->problem, sizeof r->problem},
               {"problem_sha256", r->problem_hash, sizeof r->problem_hash},
               {"data", r->data, sizeof r->data},
               {"data_sha256", r->data_hash, sizeof r->data_hash}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == IDM_OK; i++)
    status = read_text(tree, section, texts[i].key, texts[i].buffer, texts[i].size);
  if (status == IDM_OK) status = read_numbers(tree, section, r);
  return status == IDM_OK ? read_choices(tree, section, r) : status;
}

idm_status idm_request_read(const char *path, idm_problem **ret_problem, idm_request *request,
                            idm_notes *opt_notes, idm_error *opt_error)
{
  idm_request_default(request);
  idm_status status = idm_problem_read(path, ret_problem, opt_notes, opt_error);
  const size_t length_of = strlen(path);
  const bool yaml = length_of > 5 && strcmp(path + length_of - 5, ".yaml") == 0 &&
                    strncmp(path, "example:", 8) != 0;
  if (status != IDM_OK || !yaml) return status;
  char *text = NULL;
  size_t length;
  idm_yaml_tree *tree = NULL;
  status = idm_file_read(path, most_bytes, &text, &length, opt_error);
  if (status == IDM_OK) status = idm_yaml_load(text, length, path, &tree, opt_error);
  if (status == IDM_OK) status = read_section(tree, request);
  idm_yaml_destroy(tree);
  free(text);
  if (status != IDM_OK) {
    idm_problem_destroy(*ret_problem);
    *ret_problem = NULL;
  }
  return status;
}

/* --- the label ------------------------------------------------------------------------------ */

/* Lines of the section `fit` that say where things lie or what is written beside run.nc: the draws
 * do not depend on them. */
static bool is_place(const char *line)
{
  static const char *const keys[] = {"  problem: ", "  problem_sha256: ", "  data: ", "  stan: "};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (strncmp(line, keys[i], strlen(keys[i])) == 0) return true;
  return false;
}

/* Checksum of the lines that count. */
static uint64_t label_text(const char *text)
{
  uint64_t label = IDM_CHECKSUM_START;
  bool fit = false; /* the last section */
  while (*text) {
    const size_t length = strcspn(text, "\n") + (strchr(text, '\n') != NULL);
    if (strncmp(text, "fit:", 4) == 0) fit = true;
    const bool counts = !fit || !is_place(text);
    if (counts) label = idm_checksum(label, text, length);
    text += length;
  }
  return label;
}

idm_status idm_request_label(const char *path, uint64_t *ret_label, idm_error *opt_error)
{
  char *text = NULL;
  size_t length;
  const idm_status status = idm_file_read(path, most_bytes, &text, &length, opt_error);
  if (status == IDM_OK) *ret_label = label_text(text);
  free(text);
  return status;
}
