/* Which keys and parameters a planner uses, and whether an agent has memory.
 *
 * Contents: used keys · memory */
#include <stdio.h>
#include <string.h>

#include "base/key.h"
#include "idm/extension/planner.h"
#include "plan/choice.h"
#include "plan/plan.h"
#include "plan/workspace.h"
#include "setting/model.h"

/* === used keys ============================================================================== */

/* Whether an agent's planner uses a key, and notes on keys that have no effect. */

bool idm_agent_uses_key(const idm_problem *problem, const char *key)
{
  if (!problem || !key) return false;
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const int block = idm_theta_find(problem->theta, key);
  if (block >= 0) return idm_agent_reads(&problem->agent, (size_t)block);
  if (!idm_key_find(idm_agent_option_keys(), key)) return false;
  for (const char *const *used_key = planner->keys; used_key && *used_key; used_key++)
    if (strcmp(*used_key, key) == 0) return true;
  return !planner->keys;
}

/* Default value of number i of a block. */
static double default_of(const idm_block *block, idm_sizes sizes, size_t i)
{
  if (block->info->form == IDM_FORM_FIELDS)
    return idm_block_field(block->info, sizes, i)->default_number;
  if (block->info->form == IDM_FORM_WEIGHTS)
    return block->value[0]; /* equal weights count as the default */
  return block->info->default_number;
}

/* Whether a block has its default value, or the value at which the planner clamps it. */
static bool is_default(const idm_planner *planner, const idm_theta *theta, size_t id)
{
  const idm_block *block = &theta->block[id];
  size_t rows = 0;
  (void)idm_theta_rows(theta, id, &rows);
  if (rows || (block->size && block->info->optional)) return false;
  for (size_t i = 0; i < block->size; i++) {
    bool same = block->value[i] == default_of(block, theta->sizes, i);
    for (size_t k = 0; k < planner->clamps; k++)
      same = same || (planner->clamp[k].block == id && planner->clamp[k].kind == IDM_CLAMP_VALUE &&
                      planner->clamp[k].value == block->value[i]);
    if (!same) return false;
  }
  return true;
}

/* Whether a block parameterises the agent. Utilities, discount and dynamics belong to the problem,
 * whatever the planner. */
static bool is_of_agent(const idm_block_info *info)
{
  return info->of_agent || info->form == IDM_FORM_FIELDS || info->form == IDM_FORM_WEIGHTS ||
         info->form == IDM_FORM_DIRICHLET;
}

/* Append a name to a comma-separated list of at most `size` bytes; text that does not fit is
 * truncated. */
static void append_name(char *list, size_t size, const char *name)
{
  const size_t length = strlen(list);
  snprintf(list + length, size - length, "%s%s", length ? ", " : "", name);
}

void idm_agent_note_unused(const idm_problem *problem, idm_notes *notes)
{
  if (!problem || !notes) return;
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  char list[600] = "";
  idm_agent_options default_number;
  idm_agent_options_default(&default_number);
  for (size_t id = 0; id < problem->theta->blocks; id++) {
    const idm_block *block = &problem->theta->block[id];
    const char *name = block->info->name;
    if (is_of_agent(block->info) && !idm_agent_uses_key(problem, name) &&
        !is_default(planner, problem->theta, id))
      append_name(list, sizeof list, name);
  }
  for (const idm_key *key = idm_agent_option_keys(); key->name; key++)
    if (!idm_key_same(key, &default_number, &problem->agent, 0) &&
        !idm_agent_uses_key(problem, key->name))
      append_name(list, sizeof list, key->name);
  if (list[0]) idm_notes_add(notes, "the planner '%s' does not use %s", planner->name, list);
}

/* === memory ================================================================================= */

/* Whether the agent's choices depend on the current state alone. */

bool idm_agent_is_memoryless(const idm_problem *problem)
{
  const idm_agent_options *agent = &problem->agent;
  return problem->setting->fully_observed && !problem->setting->horizon &&
         !idm_agent_planner(agent)->behavior && agent->discounting == IDM_EXPONENTIAL &&
         !idm_choice_bias_uses_last(problem->theta);
}
