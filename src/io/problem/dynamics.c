/* Reads the dynamics, environments and episodes of a YAML problem.
 *
 * Contents: dynamics · environments · episode */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "idm/extension/theta.h"
#include "io/problem/reader.h"
#include "setting/model.h"

/* === dynamics =============================================================================== */

/* Transition and observation matrices of a YAML problem. */

static const double zero = 0;

/* A matrix to read: its name in messages, its shape, and the counter of normalised rows. */
typedef struct matrix_target {
  char what[160];
  size_t columns;
  idm_yaml_rescaled *rescaled;
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
  const double sum_deviation = idm_normalise(row, target->columns);
  if (sum_deviation < 0)
    return idm_yaml_fail(reader->tree, node,
                         "%s sums to %.9g; expected probabilities that sum to 1", what, sum);
  if (sum_deviation > 1e-9) {
    target->rescaled->rows++;
    if (sum_deviation > target->rescaled->largest) target->rescaled->largest = sum_deviation;
  }
  return IDM_OK;
}

/* Read a list of rows, or a word. */
static idm_status read_plain(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             const matrix_target *target, double *matrix)
{
  if (idm_yaml_is_scalar(node)) return read_word(reader, node, target, matrix);
  const size_t rows = reader->sizes.states;
  idm_status status = idm_yaml_check_list(reader->tree, node, target->what,
                                          "rows (one per state), identity or uniform", rows);
  for (size_t s = 0; s < rows && status == IDM_OK; s++)
    status = read_row(reader, idm_yaml_item(reader->tree, node, s), target, s,
                      matrix + s * target->columns);
  return status;
}

/* Read the product of independent factors, each with its own matrix; the first factor varies
 * slowest. */
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
    matrix_target part = {.columns = idm_yaml_factor_size(reader, f),
                          .rescaled = product->rescaled};
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

/* --- one matrix per action ------------------------------------------------------------------- */

static bool is_factored(const idm_yaml_reader *reader, idm_yaml_kind kind,
                        const idm_yaml_node *node)
{
  return kind == IDM_YAML_OBSERVATION && reader->factors && idm_yaml_is_mapping(node);
}

/* Returns true if a mapping is by factor, for all actions: its first key is not an action. */
static bool is_by_factor(const idm_yaml_reader *reader, idm_yaml_kind kind,
                         const idm_yaml_node *node)
{
  if (!idm_yaml_is_mapping(node)) return true;
  if (!is_factored(reader, kind, node) || !idm_yaml_count(node)) return false;
  const char *first = idm_yaml_text(idm_yaml_key(reader->tree, node, 0));
  return strcmp(first, "*") != 0 && idm_names_find(&reader->actions, first) < 0 &&
         idm_yaml_find(reader->tree, reader->factors, first);
}

/* Returns true if there is only one next state. */
static bool is_single_state(const idm_yaml_reader *reader, idm_yaml_kind kind)
{
  return kind == IDM_YAML_TRANSITION && reader->sizes.states == 1;
}

/* Fill in the matrix of an action that the file does not name. */
static idm_status fill_unnamed(const idm_yaml_reader *reader, idm_yaml_kind kind,
                               const idm_yaml_node *node, const double *opt_base, size_t u,
                               double *matrix)
{
  const size_t rows = reader->sizes.states;
  const size_t columns = idm_yaml_kind_columns(reader, kind);
  if (opt_base)
    memcpy(matrix, opt_base + u * rows * columns, rows * columns * sizeof *matrix);
  else if (!reader->problem->setting->terminal[u] && !is_single_state(reader, kind))
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
                         .rescaled = &reader->rescaled[kind]};
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
  size_t last = 0; /* action read last: a matrix of several actions is read once */
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
  if (is_by_factor(reader, kind, node))
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

/* Clear the mark of a shared matrix for actions that the file names; the others share one. */
static void mark_shared(const idm_yaml_reader *reader, idm_yaml_kind kind,
                        const idm_yaml_node *node)
{
  const idm_setting *setting = reader->problem->setting;
  bool *shared =
      kind == IDM_YAML_TRANSITION ? setting->transition_shared : setting->emission_shared;
  if (is_by_factor(reader, kind, node)) return;
  for (size_t i = 0; i < idm_yaml_count(node); i++) {
    size_t u = 0;
    const idm_yaml_node *key = idm_yaml_key(reader->tree, node, i);
    if (strcmp(idm_yaml_text(key), "*") != 0 &&
        idm_yaml_find_action(reader, key, idm_yaml_kind_name(kind), &u) == IDM_OK)
      shared[u] = false;
  }
}

/* Read the matrices of the environment. They are NULL (unknown) if the file omits them and an
 * action needs them. */
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
  if (all_terminal(reader) || is_single_state(reader, kind)) {
    for (size_t u = 0; u < reader->sizes.actions && status == IDM_OK; u++)
      status = fill_unnamed(reader, kind, reader->root, NULL, u, *matrices + u * size);
  } else {
    free(*matrices);
    *matrices = NULL;
  }
  return status;
}

/* State that observations depend on: the one after the action, or the one before it. */
static idm_status read_emission_time(idm_yaml_reader *reader)
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
  if (status == IDM_OK) status = read_emission_time(reader);
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

/* === environments =========================================================================== */

/* Family of environments of a YAML problem: each is a copy of the setting with parts of its own. */

static const char *const keys[] = {"transition", "observation", "start", NULL};

/* Read matrices of a kind into the setting of the environment, which may have none yet. */
static idm_status read_matrices(idm_yaml_reader *environment_reader, idm_yaml_kind kind,
                                double **matrices)
{
  const idm_yaml_node *node =
      idm_yaml_find(environment_reader->tree, environment_reader->root, idm_yaml_kind_name(kind));
  const size_t size = environment_reader->sizes.actions * environment_reader->sizes.states *
                      idm_yaml_kind_columns(environment_reader, kind);
  if (!node) return IDM_OK;
  double *read = idm_new(size, sizeof *read);
  if (!read) return idm_fail_memory(environment_reader->opt_error);
  const idm_status status = idm_yaml_read_matrices(environment_reader, kind, node, *matrices, read);
  if (status != IDM_OK) {
    free(read);
    return status;
  }
  free(*matrices);
  *matrices = read;
  return IDM_OK;
}

static idm_status read_transition(idm_yaml_reader *environment_reader)
{
  idm_setting *setting = environment_reader->problem->setting;
  const idm_yaml_node *node =
      idm_yaml_find(environment_reader->tree, environment_reader->root, "transition");
  if (!node) return IDM_OK;
  if (idm_yaml_has_moves(environment_reader) != environment_reader->moves)
    return idm_yaml_fail(environment_reader->tree, node,
                         "transition is given %s here and %s elsewhere; expected one form for all",
                         environment_reader->moves ? "by matrices" : "row by row",
                         environment_reader->moves ? "row by row" : "by matrices");
  if (!environment_reader->moves)
    return read_matrices(environment_reader, IDM_YAML_TRANSITION, &setting->transition);
  idm_sparse_rows_destroy(setting->moves);
  setting->moves = NULL;
  return idm_yaml_read_moves(environment_reader);
}

static idm_status read_observation(idm_yaml_reader *environment_reader)
{
  const idm_yaml_node *node =
      idm_yaml_find(environment_reader->tree, environment_reader->root, "observation");
  if (node && environment_reader->fully_observed)
    return idm_yaml_fail(environment_reader->tree, node,
                         "observations are the states, so that observation is identity; expected "
                         "no matrices here");
  return read_matrices(environment_reader, IDM_YAML_OBSERVATION,
                       &environment_reader->problem->setting->emission);
}

/* Read one environment into a copy of the setting, with a reader whose root is its node. */
static idm_status read_one_environment(const idm_yaml_reader *reader, size_t i,
                                       idm_environment *environment)
{
  const idm_yaml_node *family = idm_yaml_find(reader->tree, reader->root, "environments");
  const idm_yaml_node *key = idm_yaml_key(reader->tree, family, i);
  const idm_yaml_node *node = idm_yaml_item(reader->tree, family, i);
  idm_problem part = {.theta = reader->problem->theta};
  idm_yaml_reader environment_reader = *reader;
  if (!key->data.scalar.length || key->data.scalar.length > IDM_YAML_LABEL)
    return idm_yaml_unexpected(reader->tree, key, "the name of an environment",
                               "a text of 1 to 1000 bytes");
  if (!idm_yaml_is_mapping(node))
    return idm_yaml_unexpected(reader->tree, node, "an environment",
                               "transition, observation and start, or some of them");
  idm_status status = idm_yaml_check_keys(reader->tree, node, "an environment", keys);
  if (status == IDM_OK)
    status = idm_setting_copy(reader->problem->setting, &environment->setting, reader->opt_error);
  if (status != IDM_OK) return status;
  environment->name = idm_text_copy(idm_yaml_text(key), key->data.scalar.length);
  if (!environment->name) return idm_fail_memory(reader->opt_error);
  part.setting = environment->setting;
  environment_reader.problem = &part;
  environment_reader.root = node;
  status = read_transition(&environment_reader);
  if (status == IDM_OK) status = read_observation(&environment_reader);
  const idm_yaml_node *start = idm_yaml_find(reader->tree, node, "start");
  if (status == IDM_OK && start) status = idm_yaml_read_start(&environment_reader, start);
  if (status == IDM_OK && !environment->setting->transition && !environment->setting->moves)
    status = idm_yaml_fail(reader->tree, node,
                           "the environment '%.100s' has no transition; expected it here, or for "
                           "all in the problem itself",
                           environment->name);
  return status;
}

/* Select the environment of the problem: the one that it names, or the first if the problem lacks
 * transitions or observation probabilities of its own. */
static idm_status choose_environment(idm_yaml_reader *reader)
{
  idm_problem *problem = reader->problem;
  const idm_setting *own = problem->setting;
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "environment");
  const bool has_no_dynamics = (!own->transition && !own->moves) || (!own->emission && !own->moves);
  if (!node && !has_no_dynamics) return IDM_OK;
  if (!node)
    return idm_problem_set_environment(problem, problem->environment[0].name, reader->opt_error);
  return idm_yaml_enter_environment(reader, node);
}

idm_status idm_yaml_enter_environment(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  idm_error error = {0};
  if (!idm_yaml_is_scalar(node))
    return idm_yaml_unexpected(reader->tree, node, "environment", "the name of an environment");
  const idm_status status =
      idm_problem_set_environment(reader->problem, idm_yaml_text(node), &error);
  if (status == IDM_OK) return IDM_OK;
  if (status == IDM_USAGE) return idm_yaml_fail(reader->tree, node, "%s", error.message);
  if (reader->opt_error) *reader->opt_error = error;
  return status;
}

idm_status idm_yaml_read_environments(idm_yaml_reader *reader)
{
  idm_problem *problem = reader->problem;
  const idm_yaml_node *family = idm_yaml_find(reader->tree, reader->root, "environments");
  const idm_yaml_node *named = idm_yaml_find(reader->tree, reader->root, "environment");
  if (!family) return named ? idm_yaml_enter_environment(reader, named) : IDM_OK;
  if (!idm_yaml_is_mapping(family) || !idm_yaml_count(family))
    return idm_yaml_unexpected(reader->tree, family, "environments",
                               "a mapping of names to environments");
  const size_t count = idm_yaml_count(family);
  idm_status status = idm_yaml_check_memory(reader, count);
  if (status != IDM_OK) return status;
  problem->environment = idm_new(count, sizeof *problem->environment);
  if (!problem->environment) return idm_fail_memory(reader->opt_error);
  problem->environments = count;
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = read_one_environment(reader, i, &problem->environment[i]);
  return status == IDM_OK ? choose_environment(reader) : status;
}

/* === episode ================================================================================ */

/* Episode of a YAML problem: start, discount, horizon, and actions that end it. */

static const double episode_zero = 0;

/* Read records of state and probability; states that are not named have probability 0. */
static idm_status read_start_table(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                   double *start)
{
  static const char *const needed[] = {"state", "probability"};
  idm_yaml_table table;
  size_t place[2];
  idm_status status =
      idm_yaml_table_open(reader, node, "a table of probabilities, a state or uniform", &table);
  if (status == IDM_OK) status = idm_yaml_table_columns(&table, needed, 2, place);
  if (status == IDM_OK) status = idm_yaml_table_next(&table);
  while (status == IDM_OK && table.count) {
    size_t s = 0;
    double p = 0;
    status = idm_yaml_table_label(&table, place[0], &reader->states, "state", &s);
    if (status == IDM_OK) status = idm_yaml_table_number(&table, place[1], "a probability", &p);
    if (status == IDM_OK && (!(p >= 0) || start[s] > 0))
      status = idm_yaml_table_fail(
          &table, place[1], "%g for the start in '%.60s'; expected one probability per state", p,
          reader->problem->setting->states.name[s]);
    if (status == IDM_OK) start[s] = p;
    if (status == IDM_OK) status = idm_yaml_table_next(&table);
  }
  idm_yaml_table_close(&table);
  return status;
}

/* Read probabilities from a list, or from a table that a text names. */
static idm_status read_start_distribution(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  const size_t states = reader->sizes.states;
  double *start = idm_new(states, sizeof *start);
  if (!start) return idm_fail_memory(reader->opt_error);
  idm_status status = idm_yaml_is_list(node) ? idm_yaml_read_numbers(reader, node, "start", states,
                                                                     &episode_zero, start)
                                             : read_start_table(reader, node, start);
  if (status == IDM_OK) {
    double sum = 0;
    for (size_t s = 0; s < states; s++) sum += start[s];
    const double sum_deviation = idm_normalise(start, states);
    if (sum_deviation < 0)
      status = idm_yaml_fail(reader->tree, node,
                             "start sums to %.9g; expected probabilities that sum to 1", sum);
    else if (sum_deviation > 1e-9)
      idm_notes_add(reader->opt_notes, "start sums to %.9g and was normalised", sum);
  }
  if (status == IDM_OK) memcpy(reader->problem->setting->start, start, states * sizeof *start);
  free(start);
  return status;
}

/* Returns true for the name of a table that is not the name of a state. */
static bool names_table(const idm_yaml_reader *reader, const idm_yaml_node *node)
{
  return idm_yaml_is_table(node) && idm_names_find(&reader->states, idm_yaml_text(node)) < 0;
}

/* Uniform over the states that are not terminal. */
static void set_uniform_start(const idm_setting *setting)
{
  size_t open = 0;
  for (size_t s = 0; s < setting->states.count; s++) open += !setting->terminal_state[s];
  for (size_t s = 0; s < setting->states.count; s++)
    setting->start[s] = setting->terminal_state[s] ? 0 : 1.0 / (double)open;
}

idm_status idm_yaml_read_start(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  if (idm_yaml_is_list(node) || names_table(reader, node))
    return read_start_distribution(reader, node);
  if (!idm_yaml_is_scalar(node))
    return idm_yaml_unexpected(reader->tree, node, "start",
                               "a list of probabilities, a state or uniform");
  double *start = reader->problem->setting->start;
  const size_t states = reader->sizes.states;
  size_t corner = states;
  /* A state with the name uniform takes precedence. */
  if (idm_names_find(&reader->states, idm_yaml_text(node)) >= 0 ||
      strcmp(idm_yaml_text(node), "uniform") != 0) {
    const idm_status status = idm_yaml_find_state(reader, node, "start", &corner);
    if (status != IDM_OK) return status;
  }
  for (size_t s = 0; s < states; s++) start[s] = s == corner;
  if (corner == states) set_uniform_start(reader->problem->setting);
  return IDM_OK;
}

idm_status idm_yaml_read_discount(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  double discount = 0;
  const idm_status status = idm_yaml_number(reader->tree, node, "discount", false, &discount);
  if (status != IDM_OK) return status;
  if (!(discount >= 0 && discount <= 1))
    return idm_yaml_unexpected(reader->tree, node, "discount",
                               "a number in [0, 1), or 1 with a horizon");
  idm_theta_set_scalar(reader->problem->theta, IDM_DISCOUNT, discount);
  return IDM_OK;
}

/* *ret_state is true if an item of `terminal` names a state, which is marked. IDM_INPUT if the item
 * also names an action. */
static idm_status read_terminal_state(const idm_yaml_reader *reader, const idm_yaml_node *item,
                                      bool *ret_state)
{
  const idm_setting *setting = reader->problem->setting;
  const long s =
      idm_yaml_is_scalar(item) ? idm_names_find(&reader->states, idm_yaml_text(item)) : -1;
  *ret_state = s >= 0;
  if (s < 0) return IDM_OK;
  if (idm_names_find(&reader->actions, idm_yaml_text(item)) >= 0)
    return idm_yaml_fail(
        reader->tree, item,
        "in terminal, '%.60s' is a state and an action; expected names that differ",
        idm_yaml_text(item));
  if (!reader->fully_observed)
    return idm_yaml_fail(reader->tree, item,
                         "in terminal, '%.60s' is a state, and states are hidden; expected "
                         "observations: states, or an action",
                         idm_yaml_text(item));
  setting->terminal_state[s] = true;
  size_t open = 0;
  for (size_t i = 0; i < setting->states.count; i++) open += !setting->terminal_state[i];
  return open
             ? IDM_OK
             : idm_yaml_fail(reader->tree, item, "every state is terminal; expected one to act in");
}

static idm_status read_ending(idm_yaml_reader *reader, const char *key, bool terminal)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, key);
  if (!node) return IDM_OK;
  if (!idm_yaml_is_list(node))
    return idm_yaml_unexpected(reader->tree, node, key,
                               terminal ? "a list of actions and states" : "a list of actions");
  for (size_t i = 0; i < idm_yaml_count(node); i++) {
    size_t u = 0;
    bool state = false;
    const idm_yaml_node *item = idm_yaml_item(reader->tree, node, i);
    idm_status status = terminal ? read_terminal_state(reader, item, &state) : IDM_OK;
    if (status == IDM_OK && !state) status = idm_yaml_find_action(reader, item, key, &u);
    if (status != IDM_OK) return status;
    if (state) continue;
    reader->problem->setting->ends[u] = true;
    if (terminal) reader->problem->setting->terminal[u] = true;
  }
  return IDM_OK;
}

static idm_status read_horizon(idm_yaml_reader *reader)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "horizon");
  if (!node) return IDM_OK;
  long horizon = 0;
  const idm_status status = idm_yaml_integer(reader->tree, node, "horizon", 1, &horizon);
  if (status == IDM_OK) reader->problem->setting->horizon = (int)horizon;
  return status;
}

static idm_status read_file_discount(idm_yaml_reader *reader)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "discount");
  if (!node) {
    idm_notes_add(reader->opt_notes, "no discount is given: %g is used",
                  idm_theta_scalar(reader->problem->theta, IDM_DISCOUNT));
    return IDM_OK;
  }
  const idm_status status = idm_yaml_read_discount(reader, node);
  if (status == IDM_OK && idm_theta_scalar(reader->problem->theta, IDM_DISCOUNT) == 1 &&
      !reader->problem->setting->horizon && !reader->fully_observed)
    return idm_yaml_fail(reader->tree, node,
                         "discount is 1 and there is no horizon; expected a discount below 1, "
                         "or a horizon");
  return status;
}

idm_status idm_yaml_read_episode(idm_yaml_reader *reader)
{
  idm_status status = read_ending(reader, "ends", false);
  if (status == IDM_OK) status = read_ending(reader, "terminal", true);
  if (status == IDM_OK) status = read_horizon(reader);
  if (status == IDM_OK) status = read_file_discount(reader);
  const idm_yaml_node *start = idm_yaml_find(reader->tree, reader->root, "start");
  if (status == IDM_OK && !start) set_uniform_start(reader->problem->setting);
  if (status == IDM_OK && start) status = idm_yaml_read_start(reader, start);
  return status;
}
