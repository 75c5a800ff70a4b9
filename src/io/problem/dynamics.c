/* Transition and observation matrices of a YAML problem. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/problem/dynamics.h"
#include "io/problem/moves.h"
#include "io/problem/spaces.h"

static const double zero = 0;

/* A matrix to read: its name in messages, its shape, and whose rows are mended. */
typedef struct matrix_target {
  char what[160];
  size_t columns;
  idm_yaml_mended *mended;
} matrix_target;

const char *idm_yaml_kind_name(idm_yaml_kind kind)
{
  return kind == IDM_YAML_TRANSITION ? "transition" : "observation";
}

size_t idm_yaml_kind_columns(const idm_yaml_reader *reader, idm_yaml_kind kind)
{
  return kind == IDM_YAML_TRANSITION ? reader->sizes.states : reader->sizes.observations;
}

static void fill_identity(double *matrix, size_t rows)
{
  for (size_t i = 0; i < rows * rows; i++) matrix[i] = i / rows == i % rows ? 1.0 : 0.0;
}

static void fill_uniform(double *matrix, size_t rows, size_t columns)
{
  for (size_t i = 0; i < rows * columns; i++) matrix[i] = 1.0 / (double)columns;
}

/* --- one matrix ----------------------------------------------------------------------------- */

static idm_status read_word(const idm_yaml_reader *reader, const idm_yaml_node *node,
                            const matrix_target *target, double *matrix)
{
  const size_t rows = reader->sizes.states;
  const char *word = idm_yaml_text(node);
  if (strcmp(word, "uniform") == 0) {
    fill_uniform(matrix, rows, target->columns);
    return IDM_OK;
  }
  if (strcmp(word, "identity") != 0)
    return idm_yaml_unexpected(reader->tree, node, target->what, "a matrix, identity or uniform");
  if (rows != target->columns)
    return idm_yaml_fail(reader->tree, node,
                         "%s is identity with %zu rows and %zu columns; expected a square matrix",
                         target->what, rows, target->columns);
  fill_identity(matrix, rows);
  return IDM_OK;
}

static idm_status read_row(const idm_yaml_reader *reader, const idm_yaml_node *node,
                           const matrix_target *target, size_t s, double *row)
{
  char what[280];
  snprintf(what, sizeof what, "row %zu ('%.60s') of %s", s + 1,
           reader->problem->setting->states.name[s], target->what);
  const idm_status status = idm_yaml_read_numbers(reader, node, what, target->columns, &zero, row);
  if (status != IDM_OK) return status;
  double sum = 0;
  for (size_t i = 0; i < target->columns; i++) sum += row[i];
  const double off = idm_normalise(row, target->columns);
  if (off < 0)
    return idm_yaml_fail(reader->tree, node,
                         "%s sums to %.9g; expected probabilities that sum to 1", what, sum);
  if (off > 1e-9) {
    target->mended->rows++;
    if (off > target->mended->largest) target->mended->largest = off;
  }
  return IDM_OK;
}

/* A list of rows, or a word. */
static idm_status read_plain(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             const matrix_target *target, double *matrix)
{
  if (idm_yaml_is_scalar(node)) return read_word(reader, node, target, matrix);
  const size_t rows = reader->sizes.states;
  idm_status status = idm_yaml_check_list(reader->tree, node, target->what,
                                          "rows (one a state), identity or uniform", rows);
  for (size_t s = 0; s < rows && status == IDM_OK; s++)
    status = read_row(reader, idm_yaml_item(reader->tree, node, s), target, s,
                      matrix + s * target->columns);
  return status;
}

/* The product of independent factors, each with its own matrix; first factor slowest. */
static idm_status read_factors(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const matrix_target *product, double *matrix)
{
  const char *names[IDM_YAML_FACTORS + 1] = {NULL};
  const size_t factors = idm_yaml_count(reader->factors);
  for (size_t f = 0; f < factors; f++)
    names[f] = idm_yaml_text(idm_yaml_key(reader->tree, reader->factors, f));
  idm_status status = idm_yaml_check_keys(reader->tree, node, product->what, names);
  if (status != IDM_OK) return status;

  const size_t rows = reader->sizes.states;
  double *factor = idm_new(rows * product->columns, sizeof *factor);
  if (!factor) return idm_fail_memory(reader->opt_error);
  for (size_t i = 0; i < rows * product->columns; i++) matrix[i] = 1;
  size_t stride = product->columns;
  for (size_t f = 0; f < factors && status == IDM_OK; f++) {
    matrix_target part = {.columns = idm_yaml_factor_size(reader, f), .mended = product->mended};
    snprintf(part.what, sizeof part.what, "%.90s.%.60s", product->what, names[f]);
    stride /= part.columns;
    const idm_yaml_node *item = idm_yaml_find(reader->tree, node, names[f]);
    if (!item)
      status = idm_yaml_fail(reader->tree, node,
                             "%s is missing; expected a matrix for every factor", part.what);
    else
      status = read_plain(reader, item, &part, factor);
    for (size_t i = 0; i < rows * product->columns && status == IDM_OK; i++)
      matrix[i] *= factor[i / product->columns * part.columns +
                          i % product->columns / stride % part.columns];
  }
  free(factor);
  for (size_t s = 0; s < rows && status == IDM_OK; s++)
    idm_normalise(matrix + s * product->columns, product->columns);
  return status;
}

/* --- one matrix an action ------------------------------------------------------------------- */

static bool is_factored(const idm_yaml_reader *reader, idm_yaml_kind kind,
                        const idm_yaml_node *node)
{
  return kind == IDM_YAML_OBSERVATION && reader->factors && idm_yaml_is_mapping(node);
}

/* Whether a mapping is by factor, for all actions: no action carries its first key. */
static bool is_for_all(const idm_yaml_reader *reader, idm_yaml_kind kind, const idm_yaml_node *node)
{
  if (!idm_yaml_is_mapping(node)) return true;
  if (!is_factored(reader, kind, node) || !idm_yaml_count(node)) return false;
  const char *first = idm_yaml_text(idm_yaml_key(reader->tree, node, 0));
  return strcmp(first, "*") != 0 && idm_names_find(&reader->actions, first) < 0 &&
         idm_yaml_find(reader->tree, reader->factors, first);
}

/* Whether there is one place to go. */
static bool is_still(const idm_yaml_reader *reader, idm_yaml_kind kind)
{
  return kind == IDM_YAML_TRANSITION && reader->sizes.states == 1;
}

/* What stands for an action that the file does not name. */
static idm_status fill_unnamed(const idm_yaml_reader *reader, idm_yaml_kind kind,
                               const idm_yaml_node *node, const double *opt_base, size_t u,
                               double *matrix)
{
  const size_t rows = reader->sizes.states;
  const size_t columns = idm_yaml_kind_columns(reader, kind);
  if (opt_base)
    memcpy(matrix, opt_base + u * rows * columns, rows * columns * sizeof *matrix);
  else if (!reader->problem->setting->terminal[u] && !is_still(reader, kind))
    return idm_yaml_fail(reader->tree, node,
                         "%s lacks the action '%.60s'; expected a matrix for it, or \"*\"",
                         idm_yaml_kind_name(kind), reader->problem->setting->actions.name[u]);
  else if (kind == IDM_YAML_TRANSITION)
    fill_identity(matrix, rows);
  else
    fill_uniform(matrix, rows, columns);
  return IDM_OK;
}

static idm_status read_matrix(idm_yaml_reader *reader, idm_yaml_kind kind,
                              const idm_yaml_node *node, size_t u, double *matrix)
{
  matrix_target whole = {.columns = idm_yaml_kind_columns(reader, kind),
                         .mended = &reader->mended[kind]};
  snprintf(whole.what, sizeof whole.what, "%s.%.60s", idm_yaml_kind_name(kind),
           reader->problem->setting->actions.name[u]);
  return is_factored(reader, kind, node) ? read_factors(reader, node, &whole, matrix)
                                         : read_plain(reader, node, &whole, matrix);
}

static idm_status read_each(idm_yaml_reader *reader, idm_yaml_kind kind, const idm_yaml_node *node,
                            const idm_yaml_node *const *value, const double *opt_base,
                            double *matrices)
{
  const size_t size = reader->sizes.states * idm_yaml_kind_columns(reader, kind);
  size_t last = 0; /* action read last: a matrix that serves many actions is read once */
  idm_status status = IDM_OK;
  for (size_t u = 0; u < reader->sizes.actions && status == IDM_OK; u++) {
    double *matrix = matrices + u * size;
    if (!value[u]) {
      status = fill_unnamed(reader, kind, node, opt_base, u, matrix);
    } else if (u && value[u] == value[last]) {
      memcpy(matrix, matrices + last * size, size * sizeof *matrix);
    } else {
      status = read_matrix(reader, kind, value[u], u, matrix);
      last = u;
    }
  }
  return status;
}

idm_status idm_yaml_read_matrices(idm_yaml_reader *reader, idm_yaml_kind kind,
                                  const idm_yaml_node *node, const double *opt_base,
                                  double *matrices)
{
  const idm_yaml_node **value = idm_new(reader->sizes.actions, sizeof *value);
  if (!value) return idm_fail_memory(reader->opt_error);
  idm_status status = IDM_OK;
  if (is_for_all(reader, kind, node))
    for (size_t u = 0; u < reader->sizes.actions; u++) value[u] = node;
  else
    status = idm_yaml_by_action(reader, node, idm_yaml_kind_name(kind), value);
  if (status == IDM_OK) status = read_each(reader, kind, node, value, opt_base, matrices);
  free(value);
  return status;
}

/* --- the environment ------------------------------------------------------------------------ */

static bool all_terminal(const idm_yaml_reader *reader)
{
  size_t u = 0;
  while (u < reader->sizes.actions && reader->problem->setting->terminal[u]) u++;
  return u == reader->sizes.actions;
}

/* Which actions have a matrix that stands for several: those that the file does not name. */
static void mark_shared(const idm_yaml_reader *reader, idm_yaml_kind kind,
                        const idm_yaml_node *node)
{
  const idm_setting *setting = reader->problem->setting;
  bool *shared =
      kind == IDM_YAML_TRANSITION ? setting->transition_shared : setting->emission_shared;
  if (is_for_all(reader, kind, node)) return;
  for (size_t i = 0; i < idm_yaml_count(node); i++) {
    size_t u = 0;
    const idm_yaml_node *key = idm_yaml_key(reader->tree, node, i);
    if (strcmp(idm_yaml_text(key), "*") != 0 &&
        idm_yaml_find_action(reader, key, idm_yaml_kind_name(kind), &u) == IDM_OK)
      shared[u] = false;
  }
}

/* Matrices of the environment; left unknown (NULL) where the file is silent and an action needs
 * them. */
static idm_status read_environment(idm_yaml_reader *reader, idm_yaml_kind kind, double **matrices)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, idm_yaml_kind_name(kind));
  if (node) {
    const idm_status read = idm_yaml_read_matrices(reader, kind, node, NULL, *matrices);
    if (read == IDM_OK) mark_shared(reader, kind, node);
    return read;
  }
  const size_t size = reader->sizes.states * idm_yaml_kind_columns(reader, kind);
  idm_status status = IDM_OK;
  if (all_terminal(reader) || is_still(reader, kind)) {
    for (size_t u = 0; u < reader->sizes.actions && status == IDM_OK; u++)
      status = fill_unnamed(reader, kind, reader->root, NULL, u, *matrices + u * size);
  } else {
    free(*matrices);
    *matrices = NULL;
  }
  return status;
}

/* Which state observations come from: the one after the action, or the one acted in. */
static idm_status read_emitter(idm_yaml_reader *reader)
{
  static const char *const words[] = {"after", "before"};
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "observation_from");
  if (!node) return IDM_OK;
  if (!idm_yaml_is_scalar(node))
    return idm_yaml_unexpected(reader->tree, node, "observation_from", "after or before");
  const bool before = strcmp(idm_yaml_text(node), words[1]) == 0;
  if (!before && strcmp(idm_yaml_text(node), words[0]) != 0)
    return idm_yaml_unknown(reader->tree, node, "observation_from", words, 2);
  if (before && reader->fully_observed)
    return idm_yaml_fail(reader->tree, node,
                         "observations are the states, which are seen after the action; expected "
                         "observation_from: after, or none");
  reader->problem->setting->emits_before = before;
  return IDM_OK;
}

idm_status idm_yaml_read_environment(idm_yaml_reader *reader)
{
  idm_setting *setting = reader->problem->setting;
  idm_status status = reader->moves
                          ? idm_yaml_read_moves(reader)
                          : read_environment(reader, IDM_YAML_TRANSITION, &setting->transition);
  if (status == IDM_OK) status = read_emitter(reader);
  if (status != IDM_OK) return status;
  if (!reader->fully_observed)
    return read_environment(reader, IDM_YAML_OBSERVATION, &setting->emission);

  const idm_yaml_node *observation = idm_yaml_find(reader->tree, reader->root, "observation");
  if (observation)
    return idm_yaml_fail(reader->tree, observation,
                         "observations are the states, so that observation is identity; expected "
                         "no matrices here");
  setting->fully_observed = true;
  if (reader->moves) return IDM_OK;
  const size_t size = reader->sizes.states * reader->sizes.states;
  for (size_t u = 0; u < reader->sizes.actions; u++)
    fill_identity(setting->emission + u * size, reader->sizes.states);
  return IDM_OK;
}
