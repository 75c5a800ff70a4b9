/* Looks at how the model fits, in one draw of the dynamics after another: see the header. */
#include "invert/audit/looked.h"

#include <stdlib.h>

#include "base/memory.h"
#include "invert/audit/judge.h"
#include "invert/check.h"

size_t idm_audit_count_unfit(const idm_audit *a)
{
  size_t count = 0;
  for (size_t g = 0; g < a->sides; g++) count += a->group[g].unfit || a->group[g].elsewhere;
  return count;
}

/* What a look finds of a side. */
typedef struct looked {
  double log_likelihood, uniform, rates;
  bool unfit, mixed, elsewhere, coarse, unchecked;
  idm_notes misfits, reasons;
} looked;

/* Move what was found out of a side, which is then as before a look; or into it. */
static void exchange(idm_audit_group *g, looked *found)
{
  const looked out = {g->log_likelihood, g->uniform, g->rates,     g->unfit,   g->mixed,
                      g->elsewhere,      g->coarse,  g->unchecked, g->misfits, g->reasons};
  g->log_likelihood = found->log_likelihood;
  g->uniform = found->uniform;
  g->rates = found->rates;
  g->unfit = found->unfit;
  g->mixed = found->mixed;
  g->elsewhere = found->elsewhere;
  g->coarse = found->coarse;
  g->unchecked = found->unchecked;
  g->misfits = found->misfits;
  g->reasons = found->reasons;
  *found = out;
}

bool idm_audit_look_replaces(size_t unfit_before, const idm_checks *before, size_t unfit,
                             const idm_checks *checks)
{
  return unfit < unfit_before && idm_checks_left_out(checks) <= idm_checks_left_out(before);
}

idm_status idm_audit_look_again(const audit_plan *plan, const audit_draws *draws, idm_audit *a,
                                idm_error *opt_error)
{
  const size_t before = idm_audit_count_unfit(a);
  const idm_checks checks = a->checks;
  looked *found = idm_new(a->sides, sizeof *found);
  if (!found) return idm_fail_memory(opt_error);
  for (size_t g = 0; g < a->sides; g++) exchange(&a->group[g], &found[g]);
  idm_checks_begin(&a->checks, checks.kind);
  const idm_status status = idm_audit_look(plan, draws, a, opt_error);
  const bool better =
      status == IDM_OK &&
      idm_audit_look_replaces(before, &checks, idm_audit_count_unfit(a), &a->checks);
  if (!better) a->checks = checks;
  for (size_t g = 0; g < a->sides; g++) {
    if (!better) exchange(&a->group[g], &found[g]);
    idm_notes_clear(&found[g].misfits);
    idm_notes_clear(&found[g].reasons);
  }
  free(found);
  return status;
}
