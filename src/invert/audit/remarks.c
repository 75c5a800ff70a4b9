/* Remarks on an audit, and looks at how its model fits.
 *
 * Contents: looked · remarks */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "invert/audit/lines.h"
#include "invert/audit/model.h"
#include "invert/check.h"
#include "invert/joint/joint.h"

/* === looked ================================================================================= */

/* Looks at how the model fits, in one draw of the dynamics after another: see the header. */

size_t idm_audit_count_unfit(const idm_audit *a)
{
  size_t count = 0;
  for (size_t g = 0; g < a->sides; g++)
    count += a->group[g].model_misfit || a->group[g].prior_conflict;
  return count;
}

/* What a look finds of a side. */
typedef struct side_assessment {
  double log_likelihood, uniform, rates;
  bool model_misfit, mixed, elsewhere, coarse, unchecked;
  idm_notes misfits, reasons;
} side_assessment;

/* Move what was found out of a side, which is then as before a look; or into it. */
static void swap_assessment(idm_audit_group *g, side_assessment *found)
{
  const side_assessment previous = {
      g->log_likelihood, g->uniform, g->rates,     g->model_misfit, g->mixed,
      g->prior_conflict, g->coarse,  g->unchecked, g->misfits,      g->reasons};
  g->log_likelihood = found->log_likelihood;
  g->uniform = found->uniform;
  g->rates = found->rates;
  g->model_misfit = found->model_misfit;
  g->mixed = found->mixed;
  g->prior_conflict = found->elsewhere;
  g->coarse = found->coarse;
  g->unchecked = found->unchecked;
  g->misfits = found->misfits;
  g->reasons = found->reasons;
  *found = previous;
}

bool idm_audit_reassess_better(size_t unfit_before, const idm_checks *before, size_t model_misfit,
                               const idm_checks *checks)
{
  return model_misfit < unfit_before && idm_checks_left_out(checks) <= idm_checks_left_out(before);
}

idm_status idm_audit_reassess(const audit_estimands *estimands, const audit_draws *draws,
                              idm_audit *a, idm_error *opt_error)
{
  const size_t before = idm_audit_count_unfit(a);
  const idm_checks checks = a->checks;
  side_assessment *found = idm_new(a->sides, sizeof *found);
  if (!found) return idm_fail_memory(opt_error);
  for (size_t g = 0; g < a->sides; g++) swap_assessment(&a->group[g], &found[g]);
  idm_checks_begin(&a->checks, checks.kind);
  const idm_status status = idm_audit_assess(estimands, draws, a, opt_error);
  const bool better =
      status == IDM_OK &&
      idm_audit_reassess_better(before, &checks, idm_audit_count_unfit(a), &a->checks);
  if (!better) a->checks = checks;
  for (size_t g = 0; g < a->sides; g++) {
    if (!better) swap_assessment(&a->group[g], &found[g]);
    idm_notes_clear(&found[g].misfits);
    idm_notes_clear(&found[g].reasons);
  }
  free(found);
  return status;
}

/* === remarks ================================================================================ */

/* Remarks on a finished audit: see the header. */

/* What the dynamics leave open, where that is much of it. */
static void remark_dynamics(idm_audit *a)
{
  double max_between = 0;
  const size_t d = a->coordinate.count;
  for (size_t i = 0; a->cuts > 1 && i < a->contrasts * d; i++)
    max_between = fmax(max_between, a->contrast[i / d].number[i % d].between);
  for (size_t i = 0; a->cuts > 1 && i < a->groups * d; i++)
    max_between = fmax(max_between, a->group[i / d].number[i % d].between);
  if (a->joint) idm_joint_check(a->joint, &a->checks, &a->remarks, &a->failures, &a->trusted);
  if (a->joint || a->cuts > 1)
    idm_notes_add(&a->remarks, "how the model fits is looked at in the %s",
                  a->dynamics == IDM_AUDIT_BY_GROUP ? "most probable dynamics of each group"
                                                    : "mean of these dynamics");
  if (a->cuts > 1)
    idm_notes_add(&a->remarks,
                  "where the model does not fit there, it is looked at in up to %d draws of the "
                  "dynamics as well, and the draw in which fewest groups fail counts",
                  (int)IDM_AUDIT_ASSESSED_DRAWS);
  if (a->cuts == 1 && a->dynamics == IDM_AUDIT_BY_GROUP)
    idm_notes_add(&a->remarks,
                  "each group is seen in the dynamics learnt from its own log as if they were "
                  "known: intervals leave out how sure those are; --dynamics-draws takes it in");
  const bool too_few = a->cuts > 1 && idm_check_test(&a->checks, IDM_CHECK_DYNAMICS_COUNT,
                                                     max_between / (double)a->cuts);
  if (a->cuts > 1)
    idm_notes_add(&a->remarks,
                  "%s pooled over %zu draws of the dynamics, between which up to %.0f %% of the "
                  "variance lies%s%s",
                  a->dynamics == IDM_AUDIT_BY_GROUP ? "each group is seen in dynamics learnt from "
                                                      "its own log,"
                                                    : "groups are seen in learnt dynamics,",
                  a->cuts, 100 * max_between, too_few ? ": take more --dynamics-draws" : "",
                  a->dynamics == IDM_AUDIT_BY_GROUP
                      ? "; unchecked: whether the draws of each group's dynamics have settled"
                      : "");
}

/* Where few agents say how they vary, intervals are what the prior of that makes them. */
static void remark_within(idm_audit *a, size_t j)
{
  size_t driven = 0;
  for (size_t g = 0; g < (a->within ? 1 : a->groups); g++)
    driven += idm_check_test_optional(&a->checks, IDM_CHECK_CONTRACTION,
                                      (a->within ? a->within : a->group[g].within)[j].contraction);
  if (driven && a->within)
    idm_notes_add(&a->remarks,
                  "how agents differ within groups in %s is hardly narrower than its prior "
                  "(contraction %.2f): how wide intervals of groups and contrasts are hangs on "
                  "that prior (`population: {sd: ...}`)",
                  a->coordinate.name[j], a->within[j].contraction);
  else if (driven)
    idm_notes_add(&a->remarks,
                  "how agents differ in %s is hardly narrower than its prior (contraction below "
                  "%.1f) within %zu of %zu groups: how wide their intervals are hangs on that "
                  "prior (`population: {sd: ...}`)",
                  a->coordinate.name[j], idm_check_threshold(IDM_CHECK_CONTRACTION), driven,
                  a->groups);
}

/* Checks that an audit leaves to other commands. */
static void explain_unrun(idm_audit *a)
{
  static const idm_check_id deferred[] = {IDM_CHECK_FINITE, IDM_CHECK_HEAVY_TAIL, IDM_CHECK_MEAN};
  for (size_t i = 0; i < sizeof deferred / sizeof *deferred; i++)
    idm_check_skip(&a->checks, deferred[i], "`idm check` runs it on the folder of the audit");
  idm_check_skip(&a->checks, IDM_CHECK_IMPORTANCE, "an audit does not run it; `idm fit%s does",
                 a->people ? " --each agent`" : "` on the log of a group");
  idm_check_skip(&a->checks, IDM_CHECK_HIGHER_MODE, "%s",
                 a->dynamics == IDM_AUDIT_BY_GROUP
                     ? "the dynamics of a group are one point, the best of its starts; "
                       "--dynamics-draws takes draws"
                     : "no dynamics are learnt by group (--dynamics group)");
}

/* What agents within groups leave open. */
static void remark_people(idm_audit *a)
{
  for (size_t j = 0; j < a->coordinate.count; j++) remark_within(a, j);
  for (size_t g = 0; g + 1 < a->groups; g++)
    if (a->group[g].agents == 1)
      idm_notes_add(&a->remarks,
                    "'%s' is one agent: how far its value may lie from that agent's comes from how "
                    "agents of the other groups vary",
                    a->group[g].name);
  idm_notes_add(&a->remarks, "unchecked for agents within groups: whether they vary normally but "
                             "for single agents far off");
}

void idm_audit_remark(idm_audit *a)
{
  remark_dynamics(a);
  if (a->people) remark_people(a);
  explain_unrun(a);
}
