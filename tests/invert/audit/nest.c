/* Tests the cohorts of agents nested in groups, and requests that are rejected. Their draws are
 * tested in nested.c. */
#include "invert/audit/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/log.h"
#include "invert/audit/estimands.h"
#include "invert/audit/nest_support.h"
#include "invert/people/people_support.h"

/* --- wards ---------------------------------------------------------------------------------- */

/* With predicates, every agent has the effects of the predicates that it satisfies. */
static void predicates_are_effects_of_agents(void **state)
{
  (void)state;
  nest_case f = nest_make(6, 0, 0, 10, 12);
  audit_estimands plan;
  f.groups->partition = false;
  for (size_t t = 0; t < f.data->trajectories; t++) /* agents 4 and 5 satisfy the first one too */
    if (f.data->agent[t] > 3) f.groups->member[t] = true;
  check(idm_audit_estimands(f.problem, f.data, f.groups, &f.settings, &plan, &support_error));
  const audit_model *m = &plan.model;
  assert_int_equal(m->cohorts, 1);
  const idm_design *d = m->cohort[0].design;
  assert_int_equal(d->people, 6);
  assert_int_equal(d->pooled, NEST_GROUPS);
  for (size_t i = 0; i < 6; i++) {
    const size_t agent = (size_t)atoi(d->person.name[i]) - 1;
    const double *row = d->regressor[0] + i * (1 + NEST_GROUPS);
    assert_true(row[0] == 1);
    for (size_t g = 0; g < NEST_GROUPS; g++)
      assert_true(row[1 + g] == (agent % NEST_GROUPS == g || (g == 0 && agent > 3)));
  }
  double cases = 0;
  for (size_t c = 0; c < m->cells; c++) cases += m->cell[c].cases;
  assert_true(cases == 6);
  assert_true(d->spread_scale[0] == NEST_PRIOR_SD / 2 && d->sd_scale[0] == NEST_PRIOR_SD / 2);
  idm_audit_estimands_clear(&plan);
  nest_unmake(&f);
}

static void refused(nest_case *f, idm_status wanted, const char *words)
{
  idm_error error = {0};
  const idm_status status =
      idm_audit_run(f->problem, f->data, f->groups, &f->settings, NULL, NULL, &f->audit, &error);
  assert_string_equal(idm_status_name(status), idm_status_name(wanted));
  assert_null(f->audit);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
}

static void agents_in_several_groups_are_named(void **state)
{
  (void)state;
  nest_case f = nest_make(6, 0, 0, 10, 12);
  size_t t = 0;
  while (f.data->agent[t] != 4) t++;
  f.groups->member[1 * f.data->trajectories + t] = false;
  f.groups->member[2 * f.data->trajectories + t] = true;
  char words[100];
  snprintf(words, sizeof words, "agent '%s' has trajectories in 'c' and in 'b'",
           f.data->agent_name.name[4]);
  refused(&f, IDM_INPUT, words);
  f.groups->member[2 * f.data->trajectories + t] = false;
  refused(&f, IDM_INPUT, "in 'no group' and in 'b'");
  /* Predicates: two trajectories of an agent satisfy the first, and only one of them the second. */
  f.groups->partition = false;
  for (size_t i = 0; i < f.data->trajectories; i++) f.groups->member[i] = true;
  refused(&f, IDM_INPUT, "in 'b' and others that are not");
  nest_unmake(&f);
}

static void groups_of_one_agent_need_others(void **state)
{
  (void)state;
  nest_case f = nest_make(5, 0, 0, 10, 12);
  f.settings.pool = IDM_POOL_HOLM;
  refused(&f, IDM_INPUT, "a group has one agent, '3'");
  nest_unmake(&f);
}

/* With one agent per group, the sds within and between groups are not separately identified. */
static void pooled_groups_of_one_each_are_refused(void **state)
{
  (void)state;
  nest_case f = nest_make(3, 0, 0, 10, 12);
  refused(&f, IDM_INPUT, "every group has one agent");
  nest_unmake(&f);
  /* Predicates also have a level: a, b and c with one agent each, and one agent without. */
  f = nest_make(4, 0, 0, 10, 12);
  f.groups->partition = false;
  for (size_t t = 0; t < f.data->trajectories; t++)
    if (f.data->agent[t] == 3) f.groups->member[t] = false;
  refused(&f, IDM_INPUT, "no more agents than groups and their level");
  nest_unmake(&f);
}

static void pooled_agents_have_one_set_of_dynamics(void **state)
{
  (void)state;
  nest_case f = nest_make(6, 0, 0, 10, 12);
  f.settings.dynamics = IDM_AUDIT_BY_GROUP;
  refused(&f, IDM_USAGE, "expected --pool none or holm");
  nest_unmake(&f);
}

static bool stop(void *context, const idm_progress_state *work)
{
  (void)context;
  return work->done > 0.5;
}

static void a_watch_stops_it(void **state)
{
  (void)state;
  nest_case f = nest_make(6, 0, 0, 10, 12);
  const idm_fit_monitor watch = {.progress = stop};
  idm_error error = {0};
  f.settings.fit.draws = 100000;
  assert_int_equal(
      idm_audit_run(f.problem, f.data, f.groups, &f.settings, NULL, &watch, &f.audit, &error),
      IDM_UNTRUSTED);
  assert_non_null(strstr(error.message, "interrupted"));
  assert_null(f.audit);
  nest_unmake(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(predicates_are_effects_of_agents),
      cmocka_unit_test(agents_in_several_groups_are_named),
      cmocka_unit_test(groups_of_one_agent_need_others),
      cmocka_unit_test(pooled_groups_of_one_each_are_refused),
      cmocka_unit_test(pooled_agents_have_one_set_of_dynamics),
      cmocka_unit_test(a_watch_stops_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
