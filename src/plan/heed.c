/* What an agent's planner makes of the keys that stand with it. */
#include <stdio.h>
#include <string.h>

#include "idm/planner.h"

bool idm_agent_heeds(const idm_problem *problem, const char *key)
{
  if (!problem || !key) return false;
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const int block = idm_theta_find(problem->theta, key);
  if (block >= 0) return idm_agent_reads(&problem->agent, (size_t)block);
  if (!idm_key_find(idm_agent_keys(), key)) return false;
  for (const char *const *heeded = planner->keys; heeded && *heeded; heeded++)
    if (strcmp(*heeded, key) == 0) return true;
  return !planner->keys;
}

/* What number i of a block is where nobody says anything. */
static double standard_of(const idm_block *block, idm_sizes sizes, size_t i)
{
  if (block->info->form == IDM_FORM_FIELDS) return idm_block_field(block->info, sizes, i)->standard;
  if (block->info->form == IDM_FORM_WEIGHTS) return block->value[0]; /* all alike */
  return block->info->standard;
}

/* Whether a block holds what it holds where nobody says anything, or what the planner holds it at
 * anyway. */
static bool is_as_ever(const idm_planner *planner, const idm_theta *theta, size_t id)
{
  const idm_block *block = &theta->block[id];
  size_t rows = 0;
  (void)idm_theta_rows(theta, id, &rows);
  if (rows || (block->size && block->info->optional)) return false;
  for (size_t i = 0; i < block->size; i++) {
    bool same = block->value[i] == standard_of(block, theta->sizes, i);
    for (size_t k = 0; k < planner->clamps; k++)
      same = same || (planner->clamp[k].block == id && planner->clamp[k].kind == IDM_CLAMP_VALUE &&
                      planner->clamp[k].value == block->value[i]);
    if (!same) return false;
  }
  return true;
}

/* Whoever gives these means them for the agent; utilities, discount and dynamics are the problem's,
 * whoever plans. */
static bool is_of_agent(const idm_block_info *info)
{
  return info->of_agent || info->form == IDM_FORM_FIELDS || info->form == IDM_FORM_WEIGHTS ||
         info->form == IDM_FORM_DIRICHLET;
}

/* Add a name to a list of them; what does not fit is left out. */
static void enlist(char *list, size_t size, const char *name)
{
  const size_t length = strlen(list);
  snprintf(list + length, size - length, "%s%s", length ? ", " : "", name);
}

void idm_agent_remark(const idm_problem *problem, idm_notes *notes)
{
  if (!problem || !notes) return;
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  char list[600] = "";
  idm_agent standard;
  idm_agent_default(&standard);
  for (size_t id = 0; id < problem->theta->blocks; id++) {
    const idm_block *block = &problem->theta->block[id];
    const char *name = block->info->name;
    if (is_of_agent(block->info) && !idm_agent_heeds(problem, name) &&
        !is_as_ever(planner, problem->theta, id))
      enlist(list, sizeof list, name);
  }
  for (const idm_key *key = idm_agent_keys(); key->name; key++)
    if (!idm_key_same(key, &standard, &problem->agent, 0) && !idm_agent_heeds(problem, key->name))
      enlist(list, sizeof list, key->name);
  if (list[0]) idm_notes_add(notes, "the planner '%s' makes nothing of %s", planner->name, list);
}
