/* Remarks on a finished audit: see the header. */
#include "invert/audit/remarks.h"

#include <math.h>

#include "invert/audit/words.h"
#include "invert/check.h"
#include "invert/joint/verdict.h"

/* What the dynamics leave open, where that is much of it. */
static void remark_cuts(idm_audit *a)
{
  double most = 0;
  const size_t d = a->coordinate.count;
  for (size_t i = 0; a->cuts > 1 && i < a->contrasts * d; i++)
    most = fmax(most, a->contrast[i / d].number[i % d].between);
  for (size_t i = 0; a->cuts > 1 && i < a->groups * d; i++)
    most = fmax(most, a->group[i / d].number[i % d].between);
  if (a->joint) idm_joint_judge(a->joint, &a->checks, &a->remarks, &a->failures, &a->trusted);
  if (a->joint || a->cuts > 1)
    idm_notes_add(&a->remarks, "how the model fits is looked at in the %s",
                  a->dynamics == IDM_AUDIT_BY_GROUP ? "most probable dynamics of each group"
                                                    : "mean of these dynamics");
  if (a->cuts > 1)
    idm_notes_add(&a->remarks,
                  "where the model does not fit there, it is looked at in up to %d draws of the "
                  "dynamics as well, and the draw in which fewest groups fail counts",
                  (int)IDM_AUDIT_LOOKS);
  if (a->cuts == 1 && a->dynamics == IDM_AUDIT_BY_GROUP)
    idm_notes_add(&a->remarks,
                  "each group is seen in the dynamics learnt from its own log as if they were "
                  "known: intervals leave out how sure those are; --dynamics-draws takes it in");
  const bool few =
      a->cuts > 1 && idm_check_test(&a->checks, IDM_CHECK_DYNAMICS_COUNT, most / (double)a->cuts);
  if (a->cuts > 1)
    idm_notes_add(&a->remarks,
                  "%s pooled over %zu draws of the dynamics, between which up to %.0f %% of the "
                  "variance lies%s%s",
                  a->dynamics == IDM_AUDIT_BY_GROUP ? "each group is seen in dynamics learnt from "
                                                      "its own log,"
                                                    : "groups are seen in learnt dynamics,",
                  a->cuts, 100 * most, few ? ": take more --dynamics-draws" : "",
                  a->dynamics == IDM_AUDIT_BY_GROUP
                      ? "; unchecked: whether the draws of each group's dynamics have settled"
                      : "");
}

/* Where few agents say how they vary, intervals are what the prior of that makes them. */
static void remark_within(idm_audit *a, size_t j)
{
  size_t driven = 0;
  for (size_t g = 0; g < (a->within ? 1 : a->groups); g++)
    driven += idm_check_beyond(&a->checks, IDM_CHECK_CONTRACTION,
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
  static const idm_check_id later[] = {IDM_CHECK_FINITE, IDM_CHECK_HEAVY_TAIL, IDM_CHECK_MEAN};
  for (size_t i = 0; i < sizeof later / sizeof *later; i++)
    idm_check_skip(&a->checks, later[i], "`idm check` runs it on the folder of the audit");
  idm_check_skip(&a->checks, IDM_CHECK_LOOK, "an audit does not run it; `idm fit%s does",
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
  remark_cuts(a);
  if (a->people) remark_people(a);
  explain_unrun(a);
}
