/* idm list: planners, inverse planners, agents, examples. */
#include <string.h>

#include "cli/cli.h"

/* One object, {"planners": [...]}, where --json asks for it. */
static idm_status finish(cli_call *call, json_t *array)
{
  json_t *object = json_object();
  json_object_set_new(object, call->argument[0], array);
  if (cli_given(call, "json")) return cli_print_json(call, object);
  json_decref(object);
  return IDM_OK;
}

/* Blocks that a planner reads, its own among them. */
static json_t *reads_json(const idm_planner *planner)
{
  json_t *reads = json_array();
  for (size_t id = 0; id < IDM_BLOCK_COUNT; id++)
    if (idm_planner_reads(planner, id))
      json_array_append_new(reads, json_string(idm_block_name((idm_block_id)id)));
  for (size_t i = 0; i < planner->owns; i++)
    json_array_append_new(reads, json_string(planner->own[i].name));
  return reads;
}

/* Planners, or the paper's table of agents. */
static idm_status list_planners(cli_call *call, bool agents)
{
  json_t *array = json_array();
  for (size_t i = 0; idm_planner_at(i); i++) {
    const idm_planner *planner = idm_planner_at(i);
    if (planner->agent != agents) continue;
    json_t *object = cli_entry(planner->name, planner->summary);
    json_object_set_new(object, "row", json_string(planner->row));
    json_object_set_new(object, "reads", reads_json(planner));
    json_array_append_new(array, object);
    if (!cli_given(call, "json")) printf("%-24s %s\n", planner->name, planner->summary);
  }
  return finish(call, array);
}

static idm_status list_inverses(cli_call *call)
{
  json_t *array = json_array();
  for (size_t i = 0; idm_inverse_at(i); i++) {
    const idm_inverse *inverse = idm_inverse_at(i);
    json_array_append_new(array, cli_entry(inverse->name, inverse->summary));
    if (!cli_given(call, "json")) printf("%-24s %s\n", inverse->name, inverse->summary);
  }
  return finish(call, array);
}

static idm_status list_examples(cli_call *call)
{
  json_t *array = json_array();
  for (size_t i = 0; idm_example_name(i); i++) {
    json_array_append_new(array, cli_entry(idm_example_name(i), NULL));
    if (!cli_given(call, "json")) printf("example:%s\n", idm_example_name(i));
  }
  return finish(call, array);
}

static idm_status run(cli_call *call)
{
  if (call->arguments < 1)
    return idm_fail(&call->error, IDM_USAGE,
                    "usage: idm list planners|inverses|agents|examples [options]; see `idm help "
                    "list`");
  const char *what = call->argument[0];
  if (strcmp(what, "planners") == 0) return list_planners(call, false);
  if (strcmp(what, "agents") == 0) return list_planners(call, true);
  if (strcmp(what, "examples") == 0) return list_examples(call);
  if (strcmp(what, "inverses") == 0) return list_inverses(call);
  return idm_fail(&call->error, IDM_USAGE,
                  "nothing to list under '%s'; expected planners, inverses, agents or examples",
                  what);
}

static const cli_option options[] = {CLI_JSON_OPTION, CLI_END};

const cli_command cli_list_command = {
    .name = "list",
    .arguments = "WHAT",
    .least = 0,
    .most = 1,
    .summary = "List planners, inverse planners, named agents or built-in examples",
    .description =
        "WHAT is planners, inverses (inverse planners), agents or examples.\n"
        "Agents are the paper's table of boundedly rational agents: planners with some parameters "
        "clamped.\n"
        "Any of them can be the planner of a problem, as in --set planner=maximum-entropy.",
    .options = options,
    .run = run,
};
