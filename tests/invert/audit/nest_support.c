#include "invert/audit/nest_support.h"

#include <stdlib.h>

#include "base/memory.h"
#include "invert/people/people_support.h"

idm_groups *nest_divide(const idm_data *data, size_t groups)
{
  static const char *const names[] = {"a", "b", "c"};
  idm_groups *g = idm_new(1, sizeof *g);
  assert_non_null(g);
  *g = (idm_groups){.partition = true, .trajectories = data->trajectories};
  check(idm_labels_create(&g->name, groups, &support_error));
  g->member = idm_new(groups * data->trajectories, sizeof *g->member);
  g->missing = idm_new(groups, sizeof *g->missing);
  for (size_t i = 0; i < groups; i++) {
    check(idm_labels_set(&g->name, i, names[i], 1, &support_error));
    for (size_t t = 0; t < data->trajectories; t++)
      g->member[i * data->trajectories + t] = data->agent[t] % groups == i;
  }
  return g;
}

nest_case nest_make_at(size_t people, const double *x, size_t decisions, uint64_t seed)
{
  nest_case f = {.problem = audit_problem(NEST_PRIOR_SD), .settings = audit_settings()};
  f.data = support_people(f.problem, people, x, decisions, seed);
  f.groups = nest_divide(f.data, NEST_GROUPS);
  f.settings.people = true;
  f.settings.fit.draws = 1000;
  return f;
}

nest_case nest_make(size_t people, double agent_information, double sd, size_t decisions,
                    uint64_t seed)
{
  double *x = idm_new(people, sizeof *x);
  idm_random random;
  idm_random_init(&random, 6, 1);
  for (size_t i = 0; i < people; i++)
    x[i] = agent_information * ((double)(i % NEST_GROUPS) - 1) + sd * idm_random_normal(&random);
  const nest_case f = nest_make_at(people, x, decisions, seed);
  free(x);
  return f;
}

void nest_run(nest_case *f)
{
  check(idm_audit_run(f->problem, f->data, f->groups, &f->settings, NULL, NULL, &f->audit,
                      &support_error));
  support_check_listed(&f->audit->checks);
  assert_int_equal(f->audit->checks.kind, f->settings.people ? IDM_CHECK_NESTED : IDM_CHECK_AUDIT);
}

void nest_unmake(nest_case *f)
{
  idm_audit_destroy(f->audit);
  idm_groups_destroy(f->groups);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}
