/* Priors that hold the numbers of an audit off what the decisions lead to: see the header. */
#include "invert/audit/pull.h"

#include "base/number.h"
#include "invert/assess/pull.h"
#include "invert/check.h"

/* Whether a normal prior of that mean and sd holds a number off; a misfit is added to the notes. */
static bool judge(idm_audit *a, const idm_audit_number *n, double mean, double sd, const char *what,
                  idm_notes *notes)
{
  const idm_diagnosis *d = &n->diagnosis;
  const prior_pull pull = idm_prior_pull(d->mean, d->sd * d->sd, mean, sd * sd);
  if (!idm_check_test(&a->checks, IDM_CHECK_PRIOR_PULL, idm_prior_pulled(&pull))) return false;
  idm_prior_pull_note(&pull, what, "the decisions", notes);
  return true;
}

/* Half-normal priors are halves of normal ones about 0. */
static bool judge_within(const audit_plan *plan, idm_audit *a, size_t ward, size_t j,
                         const idm_audit_number *within, idm_notes *notes)
{
  char what[300];
  idm_print(what, sizeof what, "the sd of agents in %.200s", a->coordinate.name[j]);
  return judge(a, within, 0, plan->model.ward[ward].design->sd_scale[j], what, notes);
}

void idm_audit_pull_groups(const audit_plan *plan, idm_audit *a)
{
  const audit_model *m = &plan->model;
  for (size_t g = 0; g < a->sides && !m->pooled; g++)
    for (size_t j = 0; j < m->dimension; j++) {
      idm_audit_group *one = &a->group[g];
      size_t ward = 0;
      while (m->wards && plan->group[g].cell[m->ward[ward].cell[0]] == 0) ward++;
      bool held =
          judge(a, &one->number[j], m->mean[j], m->sd[j], a->coordinate.name[j], &one->misfits);
      if (one->within)
        held = judge_within(plan, a, ward, j, &one->within[j], &one->misfits) || held;
      one->elsewhere = one->elsewhere || held;
    }
}

/* Every group is drawn to their distribution, and every contrast is of two. */
static void fail_all(idm_audit *a)
{
  a->trusted = false;
  for (size_t g = 0; g < a->sides; g++) {
    if (a->group[g].verdict == IDM_AUDIT_FAILED) continue;
    a->group[g].verdict = IDM_AUDIT_FAILED;
    idm_notes_add(&a->group[g].reasons, "the prior holds the distribution over groups, to which "
                                        "it is drawn, off what the decisions lead to");
  }
  for (size_t c = 0; c < a->contrasts; c++) {
    a->contrast[c].verdict = IDM_AUDIT_FAILED;
    a->contrast[c].depends = false;
    for (size_t j = 0; j < a->coordinate.count; j++) a->contrast[c].number[j].flagged = false;
  }
}

void idm_audit_pull_population(const audit_plan *plan, idm_audit *a)
{
  const audit_model *m = &plan->model;
  char what[300];
  for (size_t j = 0; j < m->dimension && m->pooled; j++) {
    const char *name = a->coordinate.name[j];
    idm_print(what, sizeof what, "the mean of %.200s over groups", name);
    bool held = judge(a, &a->mean[j], m->mean[j], m->sd[j], what, &a->failures);
    idm_print(what, sizeof what, "the sd of %.200s over groups", name);
    held = judge(a, &a->sd[j], 0, m->sd[j] / 2, what, &a->failures) || held;
    if (a->within) held = judge_within(plan, a, 0, j, &a->within[j], &a->failures) || held;
    if (held) fail_all(a);
  }
}
