/* Tests the agents of an audit's cells: each has its own decisions and its own draws. */
#include "invert/audit/model.h"

#include <stdlib.h>
#include <string.h>

#include "invert/audit/estimands.h"
#include "invert/audit/nest_support.h"

/* Agent i over all cohorts has the parameter i + draw / (10 draws). */
static void fill(const audit_model *m, audit_draws *draws)
{
  const size_t all = draws->chains * draws->draws;
  for (size_t i = 0; i < idm_audit_agents(m, m->cohorts); i++)
    for (size_t k = 0; k < all; k++)
      draws->agent[i * all + k] = (double)i + (double)k / (10 * (double)all);
}

static void each_has_its_own_numbers(idm_pool pool, size_t agents_seen)
{
  nest_case f = nest_make(6, 0, 0, 10, 12);
  audit_estimands plan;
  audit_draws draws;
  f.settings.pool = pool;
  f.settings.fit.draws = 5;
  check(idm_audit_estimands(f.problem, f.data, f.groups, &f.settings, &plan, &support_error));
  audit_model *m = &plan.model;
  m->dimension = 1;
  check(idm_audit_draws_create(m, &draws, &support_error));
  fill(m, &draws);
  const size_t all = draws.chains * draws.draws;
  size_t seen = 0;
  for (size_t c = 0; c < m->cells; c++) {
    cell_agents agents;
    check(idm_cell_agents_open(&agents, m, &draws, c, &support_error));
    const strata *s = &agents.strata;
    assert_int_equal(s->count, m->cell[c].data->agent_name.count);
    for (size_t i = 0; i < s->count; i++, seen++) {
      double y;
      size_t first = 0, found = SIZE_MAX;
      for (size_t w = 0; w < m->cohorts; w++) {
        const idm_design *d = m->cohort[w].design;
        for (size_t k = 0; k < d->people; k++)
          if (m->cohort[w].cell[k] == c && strcmp(d->person.name[k], s->agent_name->name[i]) == 0)
            found = first + k;
        first += d->people;
      }
      idm_strata_draw(s, i, 2, &y);
      assert_near(y, (double)found + 2 / (10 * (double)all), 1e-12);
      for (size_t t = 0; t < s->one[i].data->trajectories; t++)
        assert_int_equal(s->one[i].agent[t], i);
    }
    idm_cell_agents_close(&agents);
    idm_cell_agents_close(&agents);
  }
  assert_int_equal(seen, agents_seen);
  idm_audit_draws_clear(&draws);
  idm_audit_estimands_clear(&plan);
  nest_unmake(&f);
}

static void test_pooled(void **state)
{
  (void)state;
  each_has_its_own_numbers(IDM_POOL_PARTIAL, 6);
}

/* Without pooling, each group and all groups together: every agent twice. */
static void test_apart(void **state)
{
  (void)state;
  each_has_its_own_numbers(IDM_POOL_NONE, 12);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pooled), cmocka_unit_test(test_apart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
