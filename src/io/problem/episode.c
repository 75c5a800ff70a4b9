/* Course of an episode in a YAML problem: start, discount, horizon, and actions that end it. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "idm/theta.h"
#include "io/problem/episode.h"
#include "io/problem/spaces.h"
#include "io/problem/table.h"

static const double zero = 0;

/* Records of state and probability; states that are not named have none. */
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
      status = idm_yaml_table_fail(&table, place[1],
                                   "%g for the start in '%.60s'; expected one probability a state",
                                   p, reader->problem->setting->states.name[s]);
    if (status == IDM_OK) start[s] = p;
    if (status == IDM_OK) status = idm_yaml_table_next(&table);
  }
  idm_yaml_table_close(&table);
  return status;
}

/* Probabilities in a list, or in a table that a text names. */
static idm_status read_start_law(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  const size_t states = reader->sizes.states;
  double *start = idm_new(states, sizeof *start);
  if (!start) return idm_fail_memory(reader->opt_error);
  idm_status status = idm_yaml_is_list(node)
                          ? idm_yaml_read_numbers(reader, node, "start", states, &zero, start)
                          : read_start_table(reader, node, start);
  if (status == IDM_OK) {
    double sum = 0;
    for (size_t s = 0; s < states; s++) sum += start[s];
    const double off = idm_normalise(start, states);
    if (off < 0)
      status = idm_yaml_fail(reader->tree, node,
                             "start sums to %.9g; expected probabilities that sum to 1", sum);
    else if (off > 1e-9)
      idm_notes_add(reader->opt_notes, "start sums to %.9g and was normalised", sum);
  }
  if (status == IDM_OK) memcpy(reader->problem->setting->start, start, states * sizeof *start);
  free(start);
  return status;
}

/* A table, unless a state has its name. */
static bool names_table(const idm_yaml_reader *reader, const idm_yaml_node *node)
{
  return idm_yaml_is_table(node) && idm_names_find(&reader->states, idm_yaml_text(node)) < 0;
}

/* Uniform over the states that are not terminal. */
static void begin_anywhere(const idm_setting *setting)
{
  size_t open = 0;
  for (size_t s = 0; s < setting->states.count; s++) open += !setting->terminal_state[s];
  for (size_t s = 0; s < setting->states.count; s++)
    setting->start[s] = setting->terminal_state[s] ? 0 : 1.0 / (double)open;
}

idm_status idm_yaml_read_start(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  if (idm_yaml_is_list(node) || names_table(reader, node)) return read_start_law(reader, node);
  if (!idm_yaml_is_scalar(node))
    return idm_yaml_unexpected(reader->tree, node, "start",
                               "a list of probabilities, a state or uniform");
  double *start = reader->problem->setting->start;
  const size_t states = reader->sizes.states;
  size_t corner = states;
  /* A state that happens to be called uniform is that state. */
  if (idm_names_find(&reader->states, idm_yaml_text(node)) >= 0 ||
      strcmp(idm_yaml_text(node), "uniform") != 0) {
    const idm_status status = idm_yaml_find_state(reader, node, "start", &corner);
    if (status != IDM_OK) return status;
  }
  for (size_t s = 0; s < states; s++) start[s] = s == corner;
  if (corner == states) begin_anywhere(reader->problem->setting);
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

/* Whether an item of `terminal` names a state, which is marked; one that names an action as well is
 * refused. */
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
  if (status == IDM_OK && !start) begin_anywhere(reader->problem->setting);
  if (status == IDM_OK && start) status = idm_yaml_read_start(reader, start);
  return status;
}
