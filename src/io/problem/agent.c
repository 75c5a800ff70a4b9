/* Agent of a YAML problem, and the priors it starts from. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "idm/planner.h"
#include "io/problem/parse.h"

static const double zero = 0;

/* --- keys with one value -------------------------------------------------------------------- */

typedef enum value_range {
  ANY_REAL,     /* with both infinities */
  FINITE,       /* no infinities */
  NOT_NEGATIVE, /* finite */
  POSITIVE,     /* finite */
} value_range;

static const char *const range_text[] = {"a number, inf or -inf", "a finite number",
                                         "a finite number of at least 0",
                                         "a finite number above 0"};

static const char *const evaluate_words[] = {"lookahead", "interpolate"};
static const char *const surprise_words[] = {"belief", "observation"};
static const char *const recognition_words[] = {"mean", "sampled"};

/* Numbers of the agent: a block of theta, or else a field of idm_agent. */
static const struct {
  const char *name;
  value_range range;
  int block;    /* -1: a field */
  size_t field; /* offset in idm_agent */
} numbers[] = {
    {"alpha", ANY_REAL, IDM_ALPHA, 0},
    {"beta", ANY_REAL, IDM_BETA, 0},
    {"eta", FINITE, IDM_ETA, 0},
    {"temperature", NOT_NEGATIVE, IDM_TEMPERATURE, 0},
    {"tolerance", POSITIVE, -1, offsetof(idm_agent, tolerance)},
    {"decision_capacity", NOT_NEGATIVE, -1, offsetof(idm_agent, decision_capacity)},
    {"specification_capacity", NOT_NEGATIVE, -1, offsetof(idm_agent, specification_capacity)},
    {"recognition_capacity", FINITE, -1, offsetof(idm_agent, recognition_capacity)},
};

const char *const idm_yaml_agent_keys[] = {"planner",
                                           "alpha",
                                           "beta",
                                           "eta",
                                           "temperature",
                                           "resolution",
                                           "evaluate",
                                           "surprise",
                                           "recognition",
                                           "tolerance",
                                           "decision_capacity",
                                           "specification_capacity",
                                           "recognition_capacity",
                                           NULL};

static idm_status set_number(idm_yaml_reader *reader, size_t i, const idm_yaml_node *node)
{
  double value = 0;
  const value_range range = numbers[i].range;
  const idm_status status =
      idm_yaml_number(reader->tree, node, numbers[i].name, range == ANY_REAL, &value);
  if (status != IDM_OK) return status;
  if ((range == NOT_NEGATIVE && value < 0) || (range == POSITIVE && !(value > 0)))
    return idm_yaml_unexpected(reader->tree, node, numbers[i].name, range_text[range]);
  if (numbers[i].block >= 0)
    idm_theta_set_scalar(reader->problem->theta, (idm_block_id)numbers[i].block, value);
  else
    memcpy((char *)&reader->problem->agent + numbers[i].field, &value, sizeof value);
  return IDM_OK;
}

static idm_status set_planner(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  idm_agent *agent = &reader->problem->agent;
  if (!idm_yaml_is_scalar(node) || !idm_yaml_text(node)[0] ||
      !idm_planner_find(idm_yaml_text(node)))
    return idm_yaml_unexpected(reader->tree, node, "planner",
                               "the name of a planner or agent (`idm list planners`, "
                               "`idm list agents`)");
  snprintf(agent->planner, sizeof agent->planner, "%s", idm_yaml_text(node));
  return IDM_OK;
}

static idm_status set_resolution(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  long resolution = 0;
  const idm_status status = idm_yaml_integer(reader->tree, node, "resolution", 1, &resolution);
  if (status == IDM_OK) reader->problem->agent.resolution = (int)resolution;
  return status;
}

idm_status idm_yaml_set_agent(idm_yaml_reader *reader, const char *key, const idm_yaml_node *node)
{
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (strcmp(key, numbers[i].name) == 0) return set_number(reader, i, node);
  if (strcmp(key, "planner") == 0) return set_planner(reader, node);
  if (strcmp(key, "resolution") == 0) return set_resolution(reader, node);

  idm_agent *agent = &reader->problem->agent;
  const bool evaluate = strcmp(key, "evaluate") == 0;
  const bool surprise = strcmp(key, "surprise") == 0;
  const char *const *words = evaluate   ? evaluate_words
                             : surprise ? surprise_words
                                        : recognition_words;
  size_t index = 0;
  const idm_status status = idm_yaml_choice(reader->tree, node, key, words, 2, &index);
  if (status != IDM_OK) return status;
  if (evaluate)
    agent->evaluate = (idm_evaluate)index;
  else if (surprise)
    agent->surprise = (idm_surprise)index;
  else
    agent->recognition = (idm_recognition)index;
  return IDM_OK;
}

/* --- weights of a decision rule ------------------------------------------------------------- */

/* One number a state, or a constant before them. */
static idm_status read_weights_of(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                  size_t action, double *weights)
{
  const size_t states = reader->sizes.states;
  const bool constant = idm_yaml_count(node) == states + 1;
  char what[80];
  snprintf(what, sizeof what, "weights.%.60s", reader->problem->setting->actions.name[action]);
  if (!idm_yaml_is_list(node) || (!constant && idm_yaml_count(node) != states)) {
    char expected[100];
    snprintf(expected, sizeof expected, "a list of %zu numbers, or of %zu with a constant first",
             states, states + 1);
    return idm_yaml_unexpected(reader->tree, node, what, expected);
  }
  return idm_yaml_read_numbers(reader, node, what, states + constant, NULL, weights + !constant);
}

static idm_status read_weights(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  const size_t width = reader->sizes.states + 1;
  const idm_yaml_node **value = idm_new(reader->sizes.actions, sizeof *value);
  if (!value) return idm_fail_memory(reader->opt_error);
  idm_status status = idm_yaml_by_action(reader, node, "weights", value);
  if (status == IDM_OK)
    status = idm_theta_resize(reader->problem->theta, IDM_WEIGHTS, reader->sizes.actions * width, 1,
                              reader->opt_error);
  for (size_t u = 0; u < reader->sizes.actions && status == IDM_OK; u++)
    if (value[u])
      status = read_weights_of(reader, value[u], u,
                               reader->problem->theta->block[IDM_WEIGHTS].value + u * width);
  free(value);
  return status;
}

idm_status idm_yaml_read_agent(idm_yaml_reader *reader)
{
  const idm_yaml_node *agent = idm_yaml_find(reader->tree, reader->root, "agent");
  if (!agent) return IDM_OK;
  const char *known[sizeof numbers / sizeof numbers[0] + 8] = {NULL};
  size_t count = 0;
  for (; idm_yaml_agent_keys[count]; count++) known[count] = idm_yaml_agent_keys[count];
  known[count] = "weights";
  idm_status status = idm_yaml_check_keys(reader->tree, agent, "agent", known);
  for (size_t i = 0; status == IDM_OK && i < idm_yaml_count(agent); i++) {
    const char *key = idm_yaml_text(idm_yaml_key(reader->tree, agent, i));
    const idm_yaml_node *value = idm_yaml_item(reader->tree, agent, i);
    status = strcmp(key, "weights") == 0 ? read_weights(reader, value)
                                         : idm_yaml_set_agent(reader, key, value);
  }
  return status;
}

/* --- priors --------------------------------------------------------------------------------- */

/* Weights by action from a mapping; every action must be covered. */
static idm_status read_weight_map(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                  double *weights)
{
  const idm_yaml_node **value = idm_new(reader->sizes.actions, sizeof *value);
  if (!value) return idm_fail_memory(reader->opt_error);
  idm_status status = idm_yaml_by_action(reader, node, "action_prior", value);
  for (size_t u = 0; u < reader->sizes.actions && status == IDM_OK; u++) {
    if (!value[u]) {
      status =
          idm_yaml_fail(reader->tree, node,
                        "action_prior lacks the action '%.60s'; expected a weight for it, or \"*\"",
                        reader->problem->setting->actions.name[u]);
      break;
    }
    status = idm_yaml_number(reader->tree, value[u], "action_prior", false, &weights[u]);
    if (status == IDM_OK && weights[u] < 0)
      status =
          idm_yaml_unexpected(reader->tree, value[u], "action_prior", range_text[NOT_NEGATIVE]);
  }
  free(value);
  return status;
}

static idm_status read_action_prior(idm_yaml_reader *reader)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "action_prior");
  if (!node) return IDM_OK;
  double *prior = reader->problem->theta->block[IDM_ACTION_PRIOR].value;
  const size_t actions = reader->sizes.actions;
  const idm_status status =
      idm_yaml_is_mapping(node)
          ? read_weight_map(reader, node, prior)
          : idm_yaml_read_numbers(reader, node, "action_prior", actions, &zero, prior);
  if (status == IDM_OK && !idm_yaml_scale_weights(prior, actions))
    return idm_yaml_fail(reader->tree, node,
                         "action_prior sums to 0 or to infinity; expected a positive sum");
  return status;
}

static idm_status read_belief_prior(idm_yaml_reader *reader)
{
  static const char *const keys[] = {"dirichlet", NULL};
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "belief_prior");
  if (!node) return IDM_OK;
  idm_status status = idm_yaml_check_keys(reader->tree, node, "belief_prior", keys);
  if (status != IDM_OK) return status;
  const idm_yaml_node *list = idm_yaml_find(reader->tree, node, "dirichlet");
  if (!list) return idm_yaml_unexpected(reader->tree, node, "belief_prior", "the key 'dirichlet'");
  const size_t states = reader->sizes.states;
  status = idm_theta_resize(reader->problem->theta, IDM_BELIEF_PRIOR, states, 1, reader->opt_error);
  if (status != IDM_OK) return status;
  double *value = reader->problem->theta->block[IDM_BELIEF_PRIOR].value;
  status = idm_yaml_read_numbers(reader, list, "belief_prior.dirichlet", states, NULL, value);
  for (size_t s = 0; s < states && status == IDM_OK; s++)
    if (!(value[s] > 0))
      status = idm_yaml_unexpected(reader->tree, idm_yaml_item(reader->tree, list, s),
                                   "belief_prior.dirichlet", range_text[POSITIVE]);
  return status;
}

static idm_status read_certainty(idm_yaml_reader *reader)
{
  static const char *const keys[] = {"above", "award", NULL};
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "certainty");
  if (!node) return IDM_OK;
  idm_status status = idm_yaml_check_keys(reader->tree, node, "certainty", keys);
  double *value = reader->problem->theta->block[IDM_CERTAINTY].value;
  for (size_t i = 0; keys[i] && status == IDM_OK; i++) {
    const idm_yaml_node *item = idm_yaml_find(reader->tree, node, keys[i]);
    if (!item)
      return idm_yaml_fail(reader->tree, node, "certainty lacks the key '%s'; expected it",
                           keys[i]);
    char what[40];
    snprintf(what, sizeof what, "certainty.%s", keys[i]);
    status = idm_yaml_number(reader->tree, item, what, false, &value[i]);
    if (status == IDM_OK && i == 0 && !(value[0] >= 0 && value[0] < 1))
      status = idm_yaml_unexpected(reader->tree, item, what, "a number in [0, 1)");
  }
  return status;
}

idm_status idm_yaml_read_priors(idm_yaml_reader *reader)
{
  idm_status status = read_action_prior(reader);
  if (status == IDM_OK) status = read_belief_prior(reader);
  if (status == IDM_OK) status = read_certainty(reader);
  return status;
}
