/* Agent of a YAML problem: its planner, its choices, and the blocks of theta that stand with it. */
#include "io/problem/agent.h"

#include <string.h>

#include "idm/planner.h"
#include "io/problem/blocks.h"
#include "io/yaml/key.h"

static const char planner_key[] = "planner";

size_t idm_yaml_agent_keys(const idm_problem *problem, const char *known[IDM_YAML_AGENT_KEYS])
{
  size_t count = 0;
  known[count++] = planner_key;
  for (size_t i = 0; i < problem->theta->blocks && count < IDM_YAML_AGENT_KEYS; i++)
    if (problem->theta->block[i].info->of_agent)
      known[count++] = problem->theta->block[i].info->name;
  for (const idm_key *key = idm_agent_keys(); key->name && count < IDM_YAML_AGENT_KEYS; key++)
    known[count++] = key->name;
  return count;
}

static idm_status set_planner(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  const idm_planner *planner =
      idm_yaml_is_scalar(node) ? idm_planner_find(idm_yaml_text(node)) : NULL;
  if (!planner)
    return idm_yaml_unexpected(reader->tree, node, planner_key,
                               "the name of a planner or agent (`idm list planners`, "
                               "`idm list agents`), or one of a plug-in that --plugin loads");
  return idm_problem_plan_by(reader->problem, planner, reader->opt_error);
}

/* A key that says how large blocks are, or what they start from, starts them anew. */
static idm_status set_key(idm_yaml_reader *reader, const idm_key *key, const idm_yaml_node *node)
{
  idm_problem *problem = reader->problem;
  const idm_agent before = problem->agent;
  idm_status status = idm_yaml_read_key(reader->tree, node, key, key->name, &problem->agent);
  if (status == IDM_OK && key->shapes && !idm_key_same(key, &before, &problem->agent, 0))
    status = idm_planner_shape(idm_agent_planner(&problem->agent), &problem->agent, problem->theta,
                               reader->opt_error);
  return status;
}

idm_status idm_yaml_set_agent(idm_yaml_reader *reader, const char *name, const idm_yaml_node *node)
{
  if (strcmp(name, planner_key) == 0) return set_planner(reader, node);
  const idm_key *key = idm_key_find(idm_agent_keys(), name);
  if (key) return set_key(reader, key, node);
  return idm_yaml_read_block(reader, (size_t)idm_theta_find(reader->problem->theta, name), node);
}

idm_status idm_yaml_read_agent(idm_yaml_reader *reader)
{
  const idm_yaml_node *agent = idm_yaml_find(reader->tree, reader->root, "agent");
  if (!agent) return IDM_OK;
  /* The planner first: it says which blocks there are. */
  const idm_yaml_node *planner =
      idm_yaml_is_mapping(agent) ? idm_yaml_find(reader->tree, agent, planner_key) : NULL;
  idm_status status = planner ? set_planner(reader, planner) : IDM_OK;
  const char *known[IDM_YAML_AGENT_KEYS + 1] = {NULL};
  idm_yaml_agent_keys(reader->problem, known);
  if (status == IDM_OK) status = idm_yaml_check_keys(reader->tree, agent, "agent", known);
  /* Then its choices: some say how many numbers a block has. */
  for (size_t i = 0; status == IDM_OK && i < 2 * idm_yaml_count(agent); i++) {
    const size_t at = i % idm_yaml_count(agent);
    const char *name = idm_yaml_text(idm_yaml_key(reader->tree, agent, at));
    const bool is_block = idm_theta_find(reader->problem->theta, name) >= 0;
    if (is_block == (i >= idm_yaml_count(agent)))
      status = idm_yaml_set_agent(reader, name, idm_yaml_item(reader->tree, agent, at));
  }
  return status;
}
