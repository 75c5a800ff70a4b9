/* Findings: what an inverse planner says of its answer. */
#include "idm/finding.h"

#include <math.h>

#include "base/door.h"
#include "base/memory.h"

idm_status idm_finding_create(size_t numbers, idm_finding **ret_finding, idm_error *opt_error)
{
  idm_require(ret_finding);
  *ret_finding = idm_new(1, sizeof **ret_finding);
  if (!*ret_finding) return idm_fail_memory(opt_error);
  **ret_finding = (idm_finding){.objective = NAN, .attained = NAN, .free = numbers};
  return IDM_OK;
}

/* Arrays of a copy; false where memory ran out. */
static bool copy_arrays(const idm_finding *from, idm_finding *to)
{
  const size_t policies = from->state.count * from->action.count;
  to->direction = idm_duplicate(from->direction, from->open * from->free, sizeof *to->direction);
  to->range = idm_duplicate(from->range, 2 * from->free, sizeof *to->range);
  to->at_box = idm_duplicate(from->at_box, 2 * from->free, sizeof *to->at_box);
  to->policy = idm_duplicate(from->policy, policies, sizeof *to->policy);
  to->count = idm_duplicate(from->count, policies, sizeof *to->count);
  return !from->direction == !to->direction && !from->range == !to->range &&
         !from->at_box == !to->at_box && !from->policy == !to->policy && !from->count == !to->count;
}

idm_status idm_finding_copy(const idm_finding *finding, idm_finding **ret_finding,
                            idm_error *opt_error)
{
  idm_require(finding, ret_finding);
  *ret_finding = NULL;
  idm_finding *copy = idm_duplicate(finding, 1, sizeof *copy);
  if (!copy) return idm_fail_memory(opt_error);
  copy->state = (idm_labels){0};
  copy->action = (idm_labels){0};
  copy->words = (idm_notes){0};
  copy->faults = (idm_notes){0};
  idm_status status = copy_arrays(finding, copy) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&finding->state, &copy->state, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&finding->action, &copy->action, opt_error);
  for (size_t i = 0; i < finding->words.count; i++)
    idm_notes_add(&copy->words, "%s", finding->words.text[i]);
  for (size_t i = 0; i < finding->faults.count; i++)
    idm_notes_add(&copy->faults, "%s", finding->faults.text[i]);
  if (status == IDM_OK)
    *ret_finding = copy;
  else
    idm_finding_destroy(copy);
  return status;
}

void idm_finding_destroy(idm_finding *finding)
{
  if (!finding) return;
  free(finding->direction);
  free(finding->range);
  free(finding->at_box);
  free(finding->policy);
  free(finding->count);
  idm_labels_destroy(&finding->state);
  idm_labels_destroy(&finding->action);
  idm_notes_clear(&finding->words);
  idm_notes_clear(&finding->faults);
  free(finding);
}

bool idm_finding_holds(const idm_finding *finding)
{
  return finding && finding->attained <= finding->closed;
}
