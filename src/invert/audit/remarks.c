/* Repeated assessment of an audit's model over draws of the dynamics, and remarks on a finished
 * audit.
 *
 * Contents: reassess · remarks */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "invert/assess.h"
#include "invert/audit/estimands.h"
#include "invert/audit/model.h"
#include "invert/joint/joint.h"

/* === reassess =============================================================================== */

/* Assessment of the model in several draws of the dynamics (docs/method/audit.md, 3). */

size_t idm_audit_count_unfit(const idm_audit *a)
{
  size_t count = 0;
  for (size_t g = 0; g < a->sides; g++)
    count += a->group[g].model_misfit || a->group[g].prior_conflict;
  return count;
}

/* Result of the assessment of one side. */
typedef struct side_assessment {
  double log_likelihood, uniform, rates;
  bool model_misfit, mixed, elsewhere, coarse, unchecked;
  idm_notes misfits, reasons, failures;
} side_assessment;

/* Swap the assessment of a side with *found; swapping with an empty one resets the side. */
static void swap_assessment(idm_audit_group *g, side_assessment *found)
{
  const side_assessment previous = {
      g->log_likelihood, g->uniform,   g->rates,   g->model_misfit, g->mixed,   g->prior_conflict,
      g->coarse,         g->unchecked, g->misfits, g->reasons,      g->failures};
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
  g->failures = found->failures;
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
    idm_notes_clear(&found[g].failures);
  }
  free(found);
  return status;
}

/* === remarks ================================================================================ */

/* Remarks on a finished audit. */

/* Note how much of the uncertainty comes from the dynamics. */
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
    idm_notes_add(&a->remarks, "the fit of the model is assessed in the %s",
                  a->dynamics == IDM_AUDIT_BY_GROUP ? "most probable dynamics of each group"
                                                    : "mean of these dynamics");
  if (a->cuts > 1)
    idm_notes_add(&a->remarks,
                  "if the model does not fit there, it is also assessed in up to %d draws of the "
                  "dynamics, and the draw in which the fewest groups fail is used",
                  (int)IDM_AUDIT_ASSESSED_DRAWS);
  if (a->cuts == 1 && a->dynamics == IDM_AUDIT_BY_GROUP)
    idm_notes_add(&a->remarks,
                  "the dynamics of each group, learnt from its own log, are treated as known: "
                  "intervals do not include their uncertainty; --dynamics-draws includes it");
  const bool too_few = a->cuts > 1 && idm_check_test(&a->checks, IDM_CHECK_DYNAMICS_COUNT,
                                                     max_between / (double)a->cuts);
  if (a->cuts > 1)
    idm_notes_add(&a->remarks,
                  "%s pooled over %zu draws of the dynamics, between which up to %.0f %% of the "
                  "variance lies%s%s",
                  a->dynamics == IDM_AUDIT_BY_GROUP ? "each group has dynamics learnt from its own "
                                                      "log,"
                                                    : "groups have learnt dynamics,",
                  a->cuts, 100 * max_between, too_few ? ": take more --dynamics-draws" : "",
                  a->dynamics == IDM_AUDIT_BY_GROUP
                      ? "; unchecked: convergence of the draws of each group's dynamics"
                      : "");
}

/* If few agents determine their sd, note that the widths of intervals depend on its prior. */
static void remark_within(idm_audit *a, size_t j)
{
  size_t driven = 0;
  for (size_t g = 0; g < (a->within ? 1 : a->groups); g++)
    driven += idm_check_test_optional(&a->checks, IDM_CHECK_CONTRACTION,
                                      (a->within ? a->within : a->group[g].within)[j].contraction);
  if (driven && a->within)
    idm_notes_add(&a->remarks,
                  "the sd of agents within groups in %s is hardly narrower than its prior "
                  "(contraction %.2f): the widths of intervals of groups and contrasts depend on "
                  "that prior (`population: {sd: ...}`)",
                  a->coordinate.name[j], a->within[j].contraction);
  else if (driven)
    idm_notes_add(&a->remarks,
                  "the sd of agents in %s is hardly narrower than its prior (contraction below "
                  "%.1f) within %zu of %zu groups: the widths of their intervals depend on that "
                  "prior (`population: {sd: ...}`)",
                  a->coordinate.name[j], idm_check_threshold(IDM_CHECK_CONTRACTION), driven,
                  a->groups);
}

/* Note the checks that an audit leaves to other commands. */
static void explain_unrun(idm_audit *a)
{
  static const idm_check_id deferred[] = {IDM_CHECK_FINITE, IDM_CHECK_HEAVY_TAIL, IDM_CHECK_MEAN};
  for (size_t i = 0; i < sizeof deferred / sizeof *deferred; i++)
    idm_check_skip(&a->checks, deferred[i], "`idm check` runs it on the folder of the audit");
  idm_check_skip(&a->checks, IDM_CHECK_IMPORTANCE, "an audit does not run it; `idm fit%s does",
                 a->people ? " --each agent`" : "` on the log of a group");
  idm_check_skip(&a->checks, IDM_CHECK_HIGHER_MODE, "%s",
                 a->dynamics == IDM_AUDIT_BY_GROUP
                     ? "the dynamics of a group are a point estimate, the best of its starts; "
                       "use --dynamics-draws for draws"
                     : "no dynamics are learnt by group (--dynamics group)");
}

/* Add the remarks on agents within groups. */
static void remark_people(idm_audit *a)
{
  for (size_t j = 0; j < a->coordinate.count; j++) remark_within(a, j);
  for (size_t g = 0; g + 1 < a->groups; g++)
    if (a->group[g].agents == 1)
      idm_notes_add(&a->remarks,
                    "'%s' is one agent: the variation within it is estimated from the agents of "
                    "the other groups",
                    a->group[g].name);
  idm_notes_add(&a->remarks, "unchecked for agents within groups: whether their distribution is "
                             "normal, except for single outliers");
}

void idm_audit_remark(idm_audit *a)
{
  if (a->trusted) a->trusted = idm_checks_conclude(&a->checks, &a->failures, &a->failures);
  remark_dynamics(a);
  if (a->people) remark_people(a);
  explain_unrun(a);
}
