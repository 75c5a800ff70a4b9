/* Tests predicted probabilities of every history, at the free parameters and at overridden held
 * ones, against closed forms and separate logs of people. */
#include "invert/assess/residual.h"

#include <math.h>
#include <stdlib.h>

#include "invert/assess/context_support.h"
#include "invert/assess/crowd_support.h"

typedef struct fixture {
  assessed_fit a;
  strata s;
  history_predictor v;
  size_t cells;
  double y[1];
  double *plain;
  double *moved;
} fixture;

static void open_fixture(fixture *f)
{
  static const double alpha = 0.3;
  idm_problem *problem = make_reversal(alpha);
  assessed_fit_open(&f->a, problem, simulate_agents(problem, &alpha, 1, 2, 30, 3), "alpha");
  check(idm_strata_whole(&f->s, &f->a.q, &support_error));
  check(idm_predictor_open(&f->v, &f->a.f, &f->s, &support_error));
  f->cells = f->a.f.tree->nodes * f->v.actions;
  f->plain = calloc(f->cells, sizeof *f->plain);
  f->moved = calloc(f->cells, sizeof *f->moved);
  assert_true(f->plain && f->moved);
  f->y[0] = f->s.centre[0];
}

static void close_fixture(fixture *f)
{
  free(f->plain);
  free(f->moved);
  idm_predictor_close(&f->v);
  idm_strata_close(&f->s);
  assessed_fit_close(&f->a);
}

static void look(fixture *f, const fixed_override *opt_held, double *probability)
{
  bool seen = false;
  check(idm_predictor_at(&f->v, f->y, opt_held, probability, &seen, &support_error));
  assert_true(seen);
}

/* A lapse rate mixes every probability with uniform choice. Afterwards the override is removed. */
static void test_held(void **state)
{
  (void)state;
  fixture f;
  open_fixture(&f);
  look(&f, NULL, f.plain);
  look(&f, &(fixed_override){IDM_LAPSE, 0.1}, f.moved);
  size_t rows = 0;
  for (size_t i = 0; i < f.cells; i++) {
    if (f.a.f.tree->node[i / f.v.actions].begin >= 0) continue;
    assert_near(f.moved[i], 0.9 * f.plain[i] + 0.05, 1e-12);
    rows++;
  }
  assert_true(rows > 100);
  look(&f, NULL, f.moved);
  for (size_t i = 0; i < f.cells; i++) assert_true(f.moved[i] == f.plain[i]);
  close_fixture(&f);
}

/* A parameter outside its range cannot be planned with, which is no error. */
static void test_unseen(void **state)
{
  (void)state;
  fixture f;
  open_fixture(&f);
  bool seen = true;
  check(idm_predictor_at(&f.v, f.y, &(fixed_override){IDM_DISCOUNT, 1.5}, f.moved, &seen,
                         &support_error));
  assert_false(seen);
  close_fixture(&f);
}

/* Each person's probabilities are at their own parameters, and equal those of a log of that person
 * only. */
static void test_people(void **state)
{
  (void)state;
  population p;
  idm_problem *problem = population_bandit();
  population_open(&p, problem, population_learners(problem, 4, 1, 0, 2), POPULATION_RATES, 20);
  const strata *s = &p.strata;
  history_predictor v;
  bool seen = false;
  check(idm_predictor_open(&v, &p.f, s, &support_error));
  double *all = calloc(2 * s->nodes * v.actions, sizeof *all), *one = all + s->nodes * v.actions;
  assert_non_null(all);
  check(idm_predictor_at(&v, s->centre, NULL, all, &seen, &support_error));
  assert_true(seen);
  idm_predictor_close(&v);
  for (size_t c = 0; c < s->count; c++) {
    stratum alone = s->one[c];
    alone.first = 0;
    const strata person = {.count = 1, .one = &alone, .dimension = s->dimension};
    check(idm_predictor_open(&v, &p.f, &person, &support_error));
    check(idm_predictor_at(&v, s->centre + c * s->dimension, NULL, one, &seen, &support_error));
    for (size_t i = 0; i < alone.tree->nodes * v.actions; i++)
      assert_true(one[i] == all[s->one[c].first * v.actions + i]);
    idm_predictor_close(&v);
  }
  free(all);
  population_close(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_held), cmocka_unit_test(test_unseen),
                                     cmocka_unit_test(test_people)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
