/* Agents nested in the cells of an audit, as samples of normal populations: see the header. */
#include "invert/audit/ward.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "invert/check.h"
#include "invert/people/form.h"
#include "invert/people/outlier.h"

/* The numbers of the agents of a ward in the order of people: [number][agent][draw]. */
static idm_status view(const audit_model *m, const audit_draws *draws, size_t ward,
                       idm_people *ret_people, idm_error *opt_error)
{
  const size_t d = m->dimension, n = m->ward[ward].design->people;
  const size_t all = draws->chains * draws->draws, first = idm_audit_agents(m, ward);
  double *effect = idm_new(idm_times(n * d, all), sizeof *effect);
  if (!effect) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d; j++)
      memcpy(effect + (j * n + i) * all, draws->agent + ((first + i) * d + j) * all,
             all * sizeof *effect);
  *ret_people = (idm_people){
      .chains = draws->chains, .draws = draws->draws, .people = n, .effects = d, .effect = effect};
  return IDM_OK;
}

static void fail(idm_audit_group *group, const idm_notes *misfits)
{
  group->unfit = true;
  for (size_t i = 0; i < misfits->count; i++)
    idm_notes_add(&group->misfits, "%s", misfits->text[i]);
}

/* Groups of a cell fail; all, and rests of groups that are cells, take it in (judge.c). */
static void fail_cell(const audit_plan *plan, size_t cell, const idm_notes *misfits, idm_audit *a)
{
  for (size_t g = 0; g < a->sides; g++) {
    const bool own = g + 1 < a->groups || (g >= a->groups && !plan->model.partition);
    if (own && plan->group[g].cell[cell] != 0) fail(&a->group[g], misfits);
  }
}

static void fail_term(const form_term *term, const idm_notes *misfits, idm_audit *a)
{
  for (size_t g = 0; g + 1 < a->groups; g++)
    if (strcmp(a->group[g].name, term->first) == 0 ||
        (term->second && strcmp(a->group[g].name, term->second) == 0))
      fail(&a->group[g], misfits);
}

static void record(const idm_checks *found, idm_check_id id, idm_audit *a)
{
  const idm_check_result *one = &found->of[id];
  if (one->outcome >= IDM_CHECK_PASSED) idm_check_record(&a->checks, id, one->outcome, one->value);
}

static idm_status judge(const audit_plan *plan, const idm_people *people, const audit_ward *w,
                        idm_audit *a, idm_error *opt_error)
{
  idm_assessment far = {0}, form = {0};
  size_t person;
  form_term term;
  idm_checks_begin(&far.checks, IDM_CHECK_NESTED);
  idm_checks_begin(&form.checks, IDM_CHECK_NESTED);
  idm_status status = idm_judge_outliers(w->design, people, &far, &person, opt_error);
  if (status == IDM_OK) status = idm_judge_form(w->design, people, &form, &term, opt_error);
  if (status == IDM_OK) {
    record(&far.checks, IDM_CHECK_OUTLIER, a);
    record(&form.checks, IDM_CHECK_FORM, a);
    if (far.misfits.count) fail_cell(plan, w->cell[person], &far.misfits, a);
    if (form.misfits.count) fail_term(&term, &form.misfits, a);
  }
  idm_notes_clear(&far.misfits);
  idm_notes_clear(&form.misfits);
  return status;
}

idm_status idm_audit_ward_judge(const audit_plan *plan, const audit_draws *draws, idm_audit *a,
                                idm_error *opt_error)
{
  const audit_model *m = &plan->model;
  idm_status status = IDM_OK;
  for (size_t w = 0; w < m->wards && status == IDM_OK; w++) {
    const bool everybody = !m->pooled && m->ward[w].cell[0] + 1 == m->cells;
    idm_people people = {0};
    if (everybody) continue; /* its agents are those of the groups */
    status = view(m, draws, w, &people, opt_error);
    if (status == IDM_OK) status = judge(plan, &people, &m->ward[w], a, opt_error);
    free(people.effect);
  }
  return status;
}
