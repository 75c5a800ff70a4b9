/* Reads Cassandra's .POMDP format.
 *
 * Contents: preamble; start; the body; T and O; R; finishing.
 *
 * Line structure has no meaning: a list of names ends at a word that is followed by a colon. Arrays
 * are allocated at the first T, O or R, when all sizes must be known, so that a large count alone
 * takes no memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/pomdp/pomdp.h"
#include "io/problem_file.h"
#include "setting/model.h"

/* Largest array of T or O, in bytes. */
#define MAX_BYTES ((size_t)1 << 30)
/* Size in bytes of the transition matrix of an action below which sparse rows are not used. */
#define DENSE_LIMIT ((size_t)1 << 18)
/* Deviations of a row's sum below this are rounding errors and are not reported. */
#define NOTED_SUM_ERROR 1e-9

/* T or O: rows of distributions by action and state. */
typedef struct matrix_section {
  const char *key;
  const char *what;    /* description of one of its numbers, in messages */
  idm_pomdp_rows rows; /* [action][state] */
  const char **row; /* [action][state]: position in the text where it was last given; NULL: never */
} matrix_section;

typedef struct reader {
  idm_pomdp_lexer lexer; /* also has the destination of errors */
  idm_notes *notes;
  bool by_rows; /* keep transitions as sparse rows (idm_sparse_rows) instead of matrices */
  idm_pomdp_names states;
  idm_pomdp_names actions;
  idm_pomdp_names observations;
  bool has_discount;
  bool has_values;
  bool cost;
  double discount;
  double *start; /* [state]; NULL if the file does not give it */
  const char *start_place;
  bool fully_observed;
  idm_problem *problem; /* NULL until the first T, O or R */
  matrix_section transition;
  matrix_section emission;
  idm_pomdp_rewards *rewards;
  double *row; /* one row being read */
} reader;

/* --- preamble ------------------------------------------------------------------------------- */

static idm_status fail_twice(reader *r, const idm_pomdp_token *key)
{
  return idm_pomdp_fail(&r->lexer, key, "each key of the preamble once");
}

static idm_status read_discount(reader *r, const idm_pomdp_token *key)
{
  if (r->has_discount) return fail_twice(r, key);
  const idm_pomdp_token token = idm_pomdp_peek(&r->lexer);
  const idm_status status =
      idm_pomdp_read_real(&r->lexer, "a discount in [0, 1]", 0, 1, &r->discount);
  if (status != IDM_OK) return status;
  /* A discount of 1 requires a horizon, which the format cannot express: the horizon is set later,
   * or idm_problem_validate rejects the problem. */
  if (!(r->discount >= 0 && r->discount <= 1))
    return idm_pomdp_fail(&r->lexer, &token, "a discount in [0, 1]");
  r->discount = fabs(r->discount);
  r->has_discount = true;
  return IDM_OK;
}

static idm_status read_values(reader *r, const idm_pomdp_token *key)
{
  if (r->has_values) return fail_twice(r, key);
  const idm_pomdp_token token = idm_pomdp_next(&r->lexer);
  r->cost = idm_pomdp_is(&token, "cost");
  if (!r->cost && !idm_pomdp_is(&token, "reward"))
    return idm_pomdp_fail(&r->lexer, &token, "reward or cost");
  r->has_values = true;
  return IDM_OK;
}

static void fill(double *row, size_t count, double value)
{
  for (size_t i = 0; i < count; i++) row[i] = value;
}

/* --- start ---------------------------------------------------------------------------------- */

static idm_status read_start_list(reader *r, const idm_pomdp_token *key, bool include)
{
  const size_t states = r->states.count;
  size_t chosen = 0;
  /* start first marks the listed states, then becomes the distribution. */
  do {
    idm_pomdp_range element;
    const idm_status status = idm_pomdp_read_element(&r->lexer, &r->states, "a state", &element);
    if (status != IDM_OK) return status;
    fill(r->start + element.first, element.end - element.first, 1);
  } while (!idm_pomdp_at_key(&r->lexer));
  for (size_t s = 0; s < states; s++) {
    r->start[s] = (r->start[s] > 0) == include ? 1 : 0;
    if (r->start[s] > 0) chosen++;
  }
  if (!chosen)
    return idm_pomdp_fail(&r->lexer, key, "start exclude: to leave a state to start from");
  for (size_t s = 0; s < states; s++)
    if (r->start[s] > 0) r->start[s] = 1 / (double)chosen;
  return IDM_OK;
}

/* Numbers after start: are a distribution, or, if there is only one, the index of a state. */
static idm_status read_start_numbers(reader *r)
{
  const size_t states = r->states.count;
  idm_pomdp_lexer ahead = r->lexer;
  const idm_pomdp_token first = idm_pomdp_next(&ahead);
  const bool single = idm_pomdp_peek(&ahead).kind != IDM_POMDP_NUMBER;
  size_t index = 0;
  if (single && idm_pomdp_count(&first, &index) && (states > 1 || index == 0)) {
    if (index >= states)
      return idm_pomdp_fail(&r->lexer, &first, "a state: a number from 0 to %zu", states - 1);
    r->lexer = ahead;
    r->start[index] = 1;
    return IDM_OK;
  }
  idm_status status = IDM_OK;
  for (size_t s = 0; s < states && status == IDM_OK; s++)
    status =
        idm_pomdp_read_probability(&r->lexer, "a probability of start", s, states, &r->start[s]);
  return status;
}

static idm_status read_start(reader *r, const idm_pomdp_token *key)
{
  if (r->start) return fail_twice(r, key);
  if (!r->states.count) return idm_pomdp_fail(&r->lexer, key, "states: before start");
  r->start = idm_new(r->states.count, sizeof *r->start);
  if (!r->start) return idm_fail_memory(r->lexer.error);
  idm_pomdp_token token = idm_pomdp_peek(&r->lexer);
  const bool include = idm_pomdp_is(&token, "include");
  if (include || idm_pomdp_is(&token, "exclude")) {
    idm_pomdp_next(&r->lexer);
    idm_pomdp_next(&r->lexer); /* the colon, which the caller has checked */
    return read_start_list(r, key, include);
  }
  idm_pomdp_next(&r->lexer);
  token = idm_pomdp_peek(&r->lexer);
  r->start_place = token.text;
  if (token.kind == IDM_POMDP_NUMBER) return read_start_numbers(r);
  if (idm_pomdp_is(&token, "uniform")) {
    idm_pomdp_next(&r->lexer);
    fill(r->start, r->states.count, 1 / (double)r->states.count);
    return IDM_OK;
  }
  const long index = token.kind == IDM_POMDP_WORD ? idm_pomdp_names_find(&r->states, &token) : -1;
  if (index < 0 || idm_pomdp_at_key(&r->lexer))
    return idm_pomdp_fail(&r->lexer, &token, "probabilities, uniform, or a state");
  idm_pomdp_next(&r->lexer);
  r->start[index] = 1;
  return IDM_OK;
}

/* --- the body ------------------------------------------------------------------------------- */

/* Name the problem after its file, without directories and extension. */
static idm_status name_problem(reader *r)
{
  const char *slash = strrchr(r->lexer.file, '/');
  const char *base = slash ? slash + 1 : r->lexer.file;
  const char *dot = strrchr(base, '.');
  const size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
  char *name = idm_text_copy(base, length);
  if (!name) return idm_fail_memory(r->lexer.error);
  idm_utf8_sanitise(name);
  free(r->problem->setting->name);
  r->problem->setting->name = name;
  return IDM_OK;
}

/* Returns true if transitions are kept as sparse rows: not if states are observed, nor if a matrix
 * takes less memory. */
static bool keeps_sparse(const reader *r, idm_sizes n)
{
  return r->by_rows && !r->fully_observed &&
         idm_times(n.states, n.states) >= DENSE_LIMIT / sizeof(double);
}

static idm_status check_size(reader *r, const idm_pomdp_token *token, idm_sizes n)
{
  const size_t max_entries = MAX_BYTES / sizeof(double) / n.states / n.actions;
  if ((keeps_sparse(r, n) || n.states <= max_entries) && n.observations <= max_entries)
    return IDM_OK;
  return idm_fail_at(r->lexer.error, r->lexer.file, token->line, idm_pomdp_column(token),
                     "found %zu states, %zu actions and %zu observations, expected the %s "
                     "probabilities, 8 bytes each, to fit into 1 GiB",
                     n.states, n.actions, n.observations,
                     n.states > max_entries && !keeps_sparse(r, n)
                         ? "states * states * actions transition"
                         : "states * actions * observations observation");
}

static idm_status make_problem(reader *r, idm_sizes n)
{
  idm_error *error = r->lexer.error;
  if (!keeps_sparse(r, n)) return idm_problem_create(n, 1, true, true, &r->problem, error);
  const idm_status status = idm_problem_create_sparse(n, &r->problem, error);
  if (status != IDM_OK) return status;
  idm_setting *setting = r->problem->setting;
  setting->emission =
      idm_new(idm_times(n.actions * n.states, n.observations), sizeof *setting->emission);
  return setting->emission ? IDM_OK : idm_fail_memory(error);
}

static idm_status make_table(reader *r, idm_sizes n, size_t width, matrix_section *t)
{
  const size_t pairs = n.actions * n.states;
  t->row = idm_new(pairs, sizeof *t->row);
  if (!t->row) return idm_fail_memory(r->lexer.error);
  return idm_pomdp_rows_create(pairs, width, &t->rows, r->lexer.error);
}

/* Allocate the arrays, once all sizes are known. `token` is the start of the body, for messages. */
static idm_status allocate_body(reader *r, const idm_pomdp_token *token)
{
  if (r->problem) return IDM_OK;
  if (!r->states.count) return idm_pomdp_fail(&r->lexer, token, "states: first");
  if (!r->actions.count) return idm_pomdp_fail(&r->lexer, token, "actions: first");
  r->fully_observed = r->observations.count == 0;
  const idm_pomdp_names *has_body = r->fully_observed ? &r->states : &r->observations;
  const idm_sizes n = {r->states.count, r->actions.count, has_body->count};
  idm_status status = check_size(r, token, n);
  if (status != IDM_OK) return status;
  idm_error *error = r->lexer.error;
  status = make_problem(r, n);
  if (status != IDM_OK) return status;
  idm_setting *setting = r->problem->setting;
  status = name_problem(r);
  if (status == IDM_OK) status = idm_pomdp_names_copy(&r->states, &setting->states, error);
  if (status == IDM_OK) status = idm_pomdp_names_copy(&r->actions, &setting->actions, error);
  if (status == IDM_OK) status = idm_pomdp_names_copy(has_body, &setting->observations, error);
  if (status == IDM_OK) status = idm_pomdp_rewards_create(&r->rewards, error);
  if (status != IDM_OK) return status;
  r->transition = (matrix_section){.key = "T", .what = "a probability of T:"};
  r->emission = (matrix_section){.key = "O", .what = "a probability of O:"};
  status = make_table(r, n, n.states, &r->transition);
  if (status == IDM_OK) status = make_table(r, n, n.observations, &r->emission);
  if (status != IDM_OK) return status;
  r->row = idm_new(n.states > n.observations ? n.states : n.observations, sizeof *r->row);
  return r->row ? IDM_OK : idm_fail_memory(error);
}

/* Read elements separated by colons, at least one and at most `max_entries`. */
static idm_status read_elements(reader *r, const idm_pomdp_names *const names[],
                                const char *const what[], size_t max_entries,
                                idm_pomdp_range *ranges, size_t *ret_count)
{
  for (size_t i = 0;; idm_pomdp_next(&r->lexer)) {
    const idm_status status = idm_pomdp_read_element(&r->lexer, names[i], what[i], &ranges[i]);
    *ret_count = ++i;
    if (status != IDM_OK || i == max_entries) return status;
    if (idm_pomdp_peek(&r->lexer).kind != IDM_POMDP_COLON) return IDM_OK;
  }
}

/* --- T and O -------------------------------------------------------------------------------- */

/* Copy r->row to every row in range; with `reset`, set the rows to the start belief. */
static idm_status copy_row(reader *r, matrix_section *t, idm_pomdp_range actions,
                           idm_pomdp_range states, bool reset, const char *where)
{
  idm_status status = IDM_OK;
  for (size_t a = actions.first; a < actions.end; a++)
    for (size_t s = states.first; s < states.end && status == IDM_OK; s++) {
      const size_t i = a * r->states.count + s;
      if (reset)
        idm_pomdp_rows_reset(&t->rows, i);
      else
        status = idm_pomdp_rows_set(&t->rows, i, r->row, r->lexer.error);
      t->row[i] = where;
    }
  return status;
}

/* Read a row of probabilities into r->row. */
static idm_status read_row(reader *r, const matrix_section *t)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < t->rows.width && status == IDM_OK; i++)
    status = idm_pomdp_read_probability(&r->lexer, t->what, i, t->rows.width, &r->row[i]);
  return status;
}

static idm_status read_table_cell(reader *r, matrix_section *t, idm_pomdp_range actions,
                                  idm_pomdp_range states, idm_pomdp_range columns)
{
  const idm_pomdp_token token = idm_pomdp_peek(&r->lexer);
  double value = 0;
  idm_status status = idm_pomdp_read_probability(&r->lexer, t->what, 0, 1, &value);
  for (size_t a = actions.first; a < actions.end; a++)
    for (size_t s = states.first; s < states.end && status == IDM_OK; s++) {
      const size_t i = a * r->states.count + s;
      t->row[i] = token.text;
      status = idm_pomdp_rows_put(&t->rows, i, columns.first, columns.end, value, r->lexer.error);
    }
  return status;
}

static idm_status read_table_row(reader *r, matrix_section *t, idm_pomdp_range actions,
                                 idm_pomdp_range states)
{
  const idm_pomdp_token token = idm_pomdp_peek(&r->lexer);
  const bool transition = t == &r->transition;
  /* The start may be read later: the entries of a reset row are filled in at the end. */
  const bool reset = transition && idm_pomdp_is(&token, "reset");
  if (idm_pomdp_is(&token, "uniform")) {
    idm_pomdp_next(&r->lexer);
    fill(r->row, t->rows.width, 1 / (double)t->rows.width);
  } else if (reset) {
    idm_pomdp_next(&r->lexer);
  } else if (token.kind == IDM_POMDP_NUMBER) {
    const idm_status status = read_row(r, t);
    if (status != IDM_OK) return status;
  } else {
    return idm_pomdp_fail(&r->lexer, &token, "a row of %zu probabilities%s or uniform",
                          t->rows.width, transition ? ", reset" : "");
  }
  return copy_row(r, t, actions, states, reset, token.text);
}

static idm_status read_table_matrix(reader *r, matrix_section *t, idm_pomdp_range actions)
{
  const idm_pomdp_token token = idm_pomdp_peek(&r->lexer);
  const bool square = t->rows.width == r->states.count;
  const bool identity = square && idm_pomdp_is(&token, "identity");
  const bool uniform = idm_pomdp_is(&token, "uniform");
  if (identity || uniform)
    idm_pomdp_next(&r->lexer);
  else if (token.kind != IDM_POMDP_NUMBER)
    return idm_pomdp_fail(&r->lexer, &token, "%zu rows of %zu probabilities%s or uniform",
                          r->states.count, t->rows.width, square ? ", identity" : "");
  for (size_t s = 0; s < r->states.count; s++) {
    idm_status status = IDM_OK;
    idm_pomdp_token first = token;
    if (uniform) {
      fill(r->row, t->rows.width, 1 / (double)t->rows.width);
    } else if (identity) {
      fill(r->row, t->rows.width, 0);
      r->row[s] = 1;
    } else {
      first = idm_pomdp_peek(&r->lexer);
      status = read_row(r, t);
    }
    if (status == IDM_OK)
      status = copy_row(r, t, actions, (idm_pomdp_range){s, s + 1, false}, false, first.text);
    if (status != IDM_OK) return status;
  }
  return IDM_OK;
}

static idm_status read_table(reader *r, const idm_pomdp_token *key)
{
  const bool transition = idm_pomdp_is(key, "T");
  if (!transition && r->fully_observed)
    return idm_pomdp_fail(&r->lexer, key, "observations: in the preamble of a file with O:");
  const idm_pomdp_names *const names[] = {&r->actions, &r->states,
                                          transition ? &r->states : &r->observations};
  const char *const what[] = {"an action", "a state", transition ? "a state" : "an observation"};
  matrix_section *t = transition ? &r->transition : &r->emission;
  idm_pomdp_range ranges[3];
  size_t count = 0;
  const idm_status status = read_elements(r, names, what, 3, ranges, &count);
  if (status != IDM_OK) return status;
  if (count == 3) return read_table_cell(r, t, ranges[0], ranges[1], ranges[2]);
  if (count == 2) return read_table_row(r, t, ranges[0], ranges[1]);
  return read_table_matrix(r, t, ranges[0]);
}

/* --- R -------------------------------------------------------------------------------------- */

static uint32_t coordinate(idm_pomdp_range element)
{
  return element.any ? IDM_POMDP_ANY : (uint32_t)element.first + 1;
}

static idm_status read_reward_value(reader *r, idm_pomdp_rule_key key)
{
  double value = 0;
  const idm_status status = idm_pomdp_read_real(&r->lexer, "a reward", 0, 1, &value);
  if (status != IDM_OK) return status;
  return idm_pomdp_rewards_set(r->rewards, key, value, r->lexer.error);
}

static idm_status read_reward_block(reader *r, idm_pomdp_rule_key key, size_t count)
{
  const size_t first = idm_pomdp_rewards_stored(r->rewards);
  for (size_t i = 0; i < count; i++) {
    double value = 0;
    idm_status status = idm_pomdp_read_real(&r->lexer, "a reward", i, count, &value);
    if (status == IDM_OK) status = idm_pomdp_rewards_push(r->rewards, value, r->lexer.error);
    if (status != IDM_OK) return status;
  }
  return idm_pomdp_rewards_set_stored(r->rewards, key, first, r->lexer.error);
}

/* Without observations, a rule ends at the next state: R: a : s : s' with a number, R: a : s with a
 * row over s', R: a with a matrix [s][s']. The observation is the next state, so a row over next
 * states is a row over observations. */
static idm_status read_reward_observed(reader *r, idm_pomdp_rule_key key, size_t count)
{
  if (count == 3) return read_reward_value(r, key);
  key.observation = IDM_POMDP_ROW;
  if (count == 2) return read_reward_block(r, key, r->states.count);
  idm_status status = IDM_OK;
  for (size_t s = 0; s < r->states.count && status == IDM_OK; s++) {
    key.state = (uint32_t)s + 1;
    status = read_reward_block(r, key, r->states.count);
  }
  return status;
}

static idm_status read_reward(reader *r)
{
  const idm_pomdp_names *has_body = r->fully_observed ? &r->states : &r->observations;
  const idm_pomdp_names *const names[] = {&r->actions, &r->states, &r->states, has_body};
  const char *const what[] = {"an action", "a state", "a state", "an observation"};
  idm_pomdp_range ranges[4] = {{0, 0, true}, {0, 0, true}, {0, 0, true}, {0, 0, true}};
  size_t count = 0;
  const idm_status status = read_elements(r, names, what, 4, ranges, &count);
  if (status != IDM_OK) return status;
  idm_pomdp_rule_key key = {coordinate(ranges[0]), coordinate(ranges[1]), coordinate(ranges[2]),
                            coordinate(ranges[3])};
  if (count == 4) return read_reward_value(r, key);
  if (r->fully_observed) return read_reward_observed(r, key, count);
  if (count == 3) {
    key.observation = IDM_POMDP_ROW;
    return read_reward_block(r, key, has_body->count);
  }
  if (count == 2) {
    key.next = IDM_POMDP_MATRIX;
    return read_reward_block(r, key, r->states.count * has_body->count);
  }
  const idm_pomdp_token token = idm_pomdp_peek(&r->lexer);
  return idm_pomdp_fail(&r->lexer, &token,
                        "':' and a state: R: needs an action and a state at least");
}

/* --- finishing ------------------------------------------------------------------------------ */

static idm_status read_section(reader *r, const idm_pomdp_token *key)
{
  if (idm_pomdp_is(key, "start")) return read_start(r, key);
  idm_pomdp_next(&r->lexer); /* the colon, which the caller has checked */
  if (idm_pomdp_is(key, "discount")) return read_discount(r, key);
  if (idm_pomdp_is(key, "values")) return read_values(r, key);
  const struct {
    const char *key;
    const char *what;
    idm_pomdp_names *names;
  } lists[] = {{"states", "a state", &r->states},
               {"actions", "an action", &r->actions},
               {"observations", "an observation", &r->observations}};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    if (!idm_pomdp_is(key, lists[i].key)) continue;
    if (lists[i].names->count) return fail_twice(r, key);
    if (r->problem)
      return idm_pomdp_fail(&r->lexer, key, "the preamble before the first T:, O: or R:");
    return idm_pomdp_read_names(&r->lexer, lists[i].names, lists[i].what);
  }
  const bool reward = idm_pomdp_is(key, "R");
  if (!reward && !idm_pomdp_is(key, "T") && !idm_pomdp_is(key, "O"))
    return idm_pomdp_fail(
        &r->lexer, key,
        "discount:, values:, states:, actions:, observations:, start:, T:, O: or R:");
  const idm_status status = allocate_body(r, key);
  if (status != IDM_OK) return status;
  return reward ? read_reward(r) : read_table(r, key);
}

static idm_status read_file(reader *r)
{
  for (;;) {
    const bool key = idm_pomdp_at_key(&r->lexer);
    const idm_pomdp_token token = idm_pomdp_next(&r->lexer);
    if (token.kind == IDM_POMDP_END) return IDM_OK;
    if (!key)
      return idm_pomdp_fail(&r->lexer, &token, "a key with its colon, as T:, O:, R: or states:");
    const idm_status status = read_section(r, &token);
    if (status != IDM_OK) return status;
  }
}

/* Deviations of row sums from 1, for one remark per kind. */
typedef struct sum_error {
  size_t rows;
  double largest;
} sum_error;

static idm_status fail_sum(reader *r, const char *at, const double *row, size_t width,
                           const char *what)
{
  const idm_pomdp_token token = idm_pomdp_locate(&r->lexer, at);
  double sum = 0;
  for (size_t i = 0; i < width; i++) sum += row[i];
  return idm_fail_at(r->lexer.error, r->lexer.file, token.line, idm_pomdp_column(&token),
                     "found probabilities of %s that sum to %.10g, expected a sum of 1 (to 1e-4)",
                     what, sum);
}

static bool finish_row(double *row, size_t width, sum_error *d)
{
  const double sum_deviation = idm_normalise(row, width);
  if (sum_deviation > NOTED_SUM_ERROR) d->rows++;
  if (sum_deviation > d->largest) d->largest = sum_deviation;
  return sum_deviation >= 0;
}

static void note_sum_error(reader *r, const char *what, const sum_error *d)
{
  if (d->rows)
    idm_notes_add(r->notes, "%s: %zu %s of %s summed to 1 only within %.3g and %s renormalised",
                  r->lexer.file, d->rows, d->rows == 1 ? "row" : "rows", what, d->largest,
                  d->rows == 1 ? "was" : "were");
}

static idm_status finish_start(reader *r)
{
  sum_error d = {0};
  if (!r->start) return IDM_OK; /* absent: uniform, the default of the setting */
  if (!finish_row(r->start, r->states.count, &d))
    return fail_sum(r, r->start_place, r->start, r->states.count, "start");
  memcpy(r->problem->setting->start, r->start, r->states.count * sizeof *r->start);
  note_sum_error(r, "start", &d);
  return IDM_OK;
}

/* Complete and check every row of a table, and write it to `opt_matrix`; back to the table if that
 * is NULL. */
static idm_status finish_table(reader *r, const idm_pomdp_token *end, matrix_section *t,
                               double *opt_matrix)
{
  const idm_setting *setting = r->problem->setting;
  sum_error d = {0};
  for (size_t i = 0; i < r->actions.count * r->states.count; i++) {
    const char *action = setting->actions.name[i / r->states.count];
    const char *state = setting->states.name[i % r->states.count];
    if (!t->row[i])
      return idm_pomdp_fail(&r->lexer, end, "a row of %s: for action '%.80s' and state '%.80s'",
                            t->key, action, state);
    double *row = opt_matrix ? opt_matrix + i * t->rows.width : r->row;
    idm_pomdp_rows_get(&t->rows, i, row);
    for (size_t j = 0; j < t->rows.width; j++)
      if (isnan(row[j])) row[j] = setting->start[j];
    if (!finish_row(row, t->rows.width, &d)) {
      char what[200];
      snprintf(what, sizeof what, "%s: %.80s : %.80s", t->key, action, state);
      return fail_sum(r, t->row[i], row, t->rows.width, what);
    }
    const idm_status status =
        opt_matrix ? IDM_OK : idm_pomdp_rows_set(&t->rows, i, row, r->lexer.error);
    if (status != IDM_OK) return status;
  }
  note_sum_error(r, t->key, &d);
  return IDM_OK;
}

static void set_fully_observed(reader *r)
{
  r->problem->setting->fully_observed = true;
  for (size_t a = 0; a < r->actions.count; a++)
    for (size_t s = 0; s < r->states.count; s++)
      r->problem->setting->emission[(a * r->states.count + s) * r->states.count + s] = 1;
}

static idm_status finish_theta(reader *r, const idm_pomdp_token *end)
{
  const idm_setting *setting = r->problem->setting;
  idm_block *block = r->problem->theta->block;
  if (!setting->moves) {
    memcpy(block[IDM_TRANSITION].value, setting->transition,
           block[IDM_TRANSITION].size * sizeof(double));
    memcpy(block[IDM_EMISSION].value, setting->emission, block[IDM_EMISSION].size * sizeof(double));
  }
  idm_theta_set_scalar(r->problem->theta, IDM_DISCOUNT, r->discount);
  double *utility = block[IDM_UTILITY].value;
  const idm_status status = idm_pomdp_rewards_expect(r->rewards, setting, utility, r->lexer.error);
  for (size_t i = 0; status == IDM_OK && i < block[IDM_UTILITY].size; i++) {
    if (!isfinite(utility[i]))
      return idm_pomdp_fail(&r->lexer, end,
                            "rewards of action '%.80s' whose mean fits into a double",
                            setting->actions.name[i / r->states.count]);
    if (r->cost) utility[i] = 0 - utility[i];
  }
  return status;
}

static idm_status finish(reader *r)
{
  const idm_pomdp_token end = idm_pomdp_next(&r->lexer);
  if (!r->has_discount) return idm_pomdp_fail(&r->lexer, &end, "discount:");
  if (!r->states.count) return idm_pomdp_fail(&r->lexer, &end, "states:");
  if (!r->actions.count) return idm_pomdp_fail(&r->lexer, &end, "actions:");
  if (!r->problem) return idm_pomdp_fail(&r->lexer, &end, "T: for every action and state");
  if (!r->has_values)
    idm_notes_add(r->notes, "%s: no values: line; R is read as reward", r->lexer.file);
  idm_status status = finish_start(r);
  idm_setting *setting = r->problem->setting;
  if (status == IDM_OK) status = finish_table(r, &end, &r->transition, setting->transition);
  if (status == IDM_OK && !setting->transition)
    status = idm_pomdp_rows_moves(&r->transition.rows, &setting->moves, r->lexer.error);
  if (status != IDM_OK) return status;
  if (r->fully_observed)
    set_fully_observed(r);
  else
    status = finish_table(r, &end, &r->emission, setting->emission);
  return status == IDM_OK ? finish_theta(r, &end) : status;
}

idm_status idm_pomdp_parse(const char *text, size_t length, const char *opt_file, bool by_rows,
                           idm_problem **ret_problem, idm_notes *opt_notes, idm_error *opt_error)
{
  *ret_problem = NULL;
  reader r = {.notes = opt_notes, .by_rows = by_rows};
  idm_pomdp_lexer_start(&r.lexer, text, length, opt_file, opt_error);
  idm_status status = read_file(&r);
  if (status == IDM_OK) status = finish(&r);
  if (status == IDM_OK) {
    *ret_problem = r.problem;
    r.problem = NULL;
  }
  idm_problem_destroy(r.problem);
  idm_pomdp_names_destroy(&r.states);
  idm_pomdp_names_destroy(&r.actions);
  idm_pomdp_names_destroy(&r.observations);
  idm_pomdp_rewards_destroy(r.rewards);
  idm_pomdp_rows_destroy(&r.transition.rows);
  idm_pomdp_rows_destroy(&r.emission.rows);
  free(r.transition.row);
  free(r.emission.row);
  free(r.start);
  free(r.row);
  return status;
}

idm_status idm_problem_parse_pomdp(const char *text, size_t length, const char *opt_file,
                                   idm_problem **ret_problem, idm_notes *opt_notes,
                                   idm_error *opt_error)
{
  idm_require(text, ret_problem);
  return idm_pomdp_parse(text, length, opt_file, false, ret_problem, opt_notes, opt_error);
}
