/* Dynamics that an audit holds: see the header. */
#include "invert/audit/held.h"

#include <math.h>

#include "invert/assess/environment.h"
#include "invert/check.h"

idm_status idm_audit_held_test(const idm_problem *problem, const idm_data *data, bool fitted,
                               idm_audit *a, idm_error *opt_error)
{
  idm_assessment found = {0};
  idm_audit_group *all = &a->group[a->groups - 1];
  idm_checks_begin(&found.checks, a->checks.kind);
  const idm_status status =
      idm_environment_assess(problem, data, fitted, false, IDM_CHECK_LEVEL, &found, opt_error);
  if (status == IDM_OK) idm_checks_merge(&a->checks, &found.checks, IDM_CHECK_MISFIT);
  for (size_t i = 0; i < found.misfits.count; i++) {
    idm_notes_add(&all->misfits, "%s", found.misfits.text[i]);
    all->unfit = true;
  }
  idm_notes_clear(&found.misfits);
  idm_notes_clear(&found.remarks);
  return status;
}

/* The largest shift of a cell's coordinate; NaN where none was measured. */
static double shift_of(const idm_assessment *cell, size_t coordinate)
{
  double most = NAN;
  for (size_t k = 0; k < cell->sensitivities; k++) {
    const idm_sensitivity *s = &cell->sensitivity[k];
    if (s->dynamics) most = fmax(most, fabs(s->slope[coordinate] * s->step));
  }
  return most;
}

/* The shift of a sum of cells less another. */
static double combine(const audit_plan *plan, const idm_assessment *cell, const double *weight,
                      const double *opt_less, size_t coordinate)
{
  double squares = 0;
  for (size_t c = 0; c < plan->model.cells; c++) {
    const double share = weight[c] - (opt_less ? opt_less[c] : 0);
    if (share == 0) continue;
    const double own = share * shift_of(&cell[c], coordinate);
    squares += own * own;
  }
  return sqrt(squares);
}

void idm_audit_held_spread(const audit_plan *plan, const idm_assessment *cell, idm_audit *a)
{
  for (size_t j = 0; j < a->coordinate.count; j++) {
    for (size_t g = 0; g < a->sides; g++)
      a->group[g].number[j].dynamics_shift = combine(plan, cell, plan->group[g].cell, NULL, j);
    for (size_t c = 0; c < a->contrasts; c++)
      a->contrast[c].number[j].dynamics_shift =
          combine(plan, cell, plan->group[a->contrast[c].side[0]].cell,
                  plan->group[a->contrast[c].side[1]].cell, j);
  }
}

/* Whether a number depends on dynamics; its shift is in sds from here on. */
static bool depends(idm_audit *a, idm_audit_number *n)
{
  n->dynamics_shift /= n->diagnosis.sd;
  return isfinite(n->dynamics_shift) &&
         idm_check_test(&a->checks, IDM_CHECK_DEPENDS, n->dynamics_shift);
}

/* A coordinate of all groups: the one that moves furthest is named. */
static void judge_coordinate(idm_audit *a, size_t j)
{
  const idm_audit_group *most = NULL;
  size_t count = 0;
  for (size_t g = 0; g < a->sides; g++) {
    if (!depends(a, &a->group[g].number[j]) || g >= a->groups) continue;
    a->group[g].depends = true;
    const double shift = a->group[g].number[j].dynamics_shift;
    if (!most || shift > most->number[j].dynamics_shift) most = &a->group[g];
    count++;
  }
  if (most)
    idm_notes_add(&a->remarks,
                  "%s of %zu of %zu groups depends on dynamics: a plausible error of the file's "
                  "probabilities (the standard error that the log of a group leaves them) moves "
                  "its mean by up to %.1f posterior sds (of '%s'); intervals hold given the file, "
                  "and each contrast is "
                  "judged by what moves the difference",
                  a->coordinate.name[j], count, a->groups, most->number[j].dynamics_shift,
                  most->name);
}

void idm_audit_held_judge(idm_audit *a)
{
  for (size_t j = 0; j < a->coordinate.count; j++) judge_coordinate(a, j);
  for (size_t c = 0; c < a->contrasts; c++)
    for (size_t j = 0; j < a->coordinate.count; j++) {
      idm_audit_contrast *contrast = &a->contrast[c];
      const bool moves = depends(a, &contrast->number[j]);
      if (moves && contrast->verdict != IDM_AUDIT_FAILED) contrast->depends = true;
    }
}
