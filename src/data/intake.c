/* What became of every row of a log. */
#include "idm/intake.h"

#include <stdlib.h>

#include "base/door.h"
#include "base/memory.h"

idm_status idm_intake_create(size_t reasons, size_t cuts, idm_intake **ret_intake,
                             idm_error *opt_error)
{
  idm_require(ret_intake);
  *ret_intake = NULL;
  idm_intake *intake = idm_new(1, sizeof *intake);
  if (!intake) return idm_fail_memory(opt_error);
  intake->dropped = idm_new(reasons, sizeof *intake->dropped);
  intake->cut = idm_new(cuts, sizeof *intake->cut);
  if (!intake->dropped || !intake->cut) {
    idm_intake_destroy(intake);
    return idm_fail_memory(opt_error);
  }
  intake->reasons = reasons;
  intake->cuts = cuts;
  *ret_intake = intake;
  return IDM_OK;
}

void idm_intake_destroy(idm_intake *intake)
{
  if (!intake) return;
  for (size_t i = 0; i < intake->reasons; i++) free(intake->dropped[i].reason);
  for (size_t i = 0; i < intake->cuts; i++) free(intake->cut[i].at);
  free(intake->dropped);
  free(intake->cut);
  free(intake);
}

idm_status idm_problem_freeze(idm_problem *problem, const idm_intake *intake, idm_error *opt_error)
{
  idm_require(problem, intake);
  for (size_t i = 0; i < intake->cuts; i++) {
    const idm_cut *cut = &intake->cut[i];
    if (cut->derived >= problem->columns.deriveds ||
        problem->columns.derived[cut->derived].cuts != cut->count)
      return idm_fail(opt_error, IDM_USAGE, "these cut points are of another problem's columns");
    idm_derived *derived = &problem->columns.derived[cut->derived];
    double *at = idm_duplicate(cut->at, cut->count, sizeof *at);
    if (!at) return idm_fail_memory(opt_error);
    free(derived->at);
    derived->at = at;
  }
  return IDM_OK;
}
