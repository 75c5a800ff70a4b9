/* Course of an episode in a YAML problem: start, discount, horizon, and actions that end it. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "idm/theta.h"
#include "io/problem/episode.h"
#include "io/problem/spaces.h"

static const double zero = 0;

static idm_status read_start_list(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  const size_t states = reader->sizes.states;
  double *start = idm_new(states, sizeof *start);
  if (!start) return idm_fail_memory(reader->opt_error);
  idm_status status = idm_yaml_read_numbers(reader, node, "start", states, &zero, start);
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

idm_status idm_yaml_read_start(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  if (idm_yaml_is_list(node)) return read_start_list(reader, node);
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
  for (size_t s = 0; s < states; s++)
    start[s] = corner == states ? 1.0 / (double)states : (s == corner ? 1.0 : 0.0);
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

static idm_status read_ending(idm_yaml_reader *reader, const char *key, bool terminal)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, key);
  if (!node) return IDM_OK;
  if (!idm_yaml_is_list(node))
    return idm_yaml_unexpected(reader->tree, node, key, "a list of actions");
  for (size_t i = 0; i < idm_yaml_count(node); i++) {
    size_t u = 0;
    const idm_status status =
        idm_yaml_find_action(reader, idm_yaml_item(reader->tree, node, i), key, &u);
    if (status != IDM_OK) return status;
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
  if (status == IDM_OK && start) status = idm_yaml_read_start(reader, start);
  return status;
}
