/* Inversion of the policies of a soft learner: exact iterates give the utility up to potentials,
 * against soft policy iteration and descent written out here. */
#include "invert/utility/bellman.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/mdp.h"
#include "invert/utility/mdp_support.h"

enum { STATES = 5, ACTIONS = 3, ALL = STATES * ACTIONS, COUNT = 4 };
static const double alpha = 0.8;
static const double prior[ACTIONS] = {0.5, 0.3, 0.2};

/* Soft policy iteration: V of pi_k with the KL cost relative to the prior by sweeps, then pi_{k+1}
 * ~ prior exp(Q / alpha). */
static void iterate(const idm_mdp *mdp, const double *utility, const double *now, double *next)
{
  double v[STATES] = {0};
  for (int k = 0; k < 3000; k++) {
    double after[STATES];
    for (size_t s = 0; s < STATES; s++) {
      after[s] = 0;
      for (size_t u = 0; u < ACTIONS; u++) {
        const double p = now[s * ACTIONS + u];
        after[s] += p * (utility[u * STATES + s] + idm_mdp_next_value(mdp, u, s, v) -
                         alpha * log(p / prior[u]));
      }
    }
    memcpy(v, after, sizeof v);
  }
  for (size_t s = 0; s < STATES; s++) {
    double sum = 0;
    for (size_t u = 0; u < ACTIONS; u++)
      sum += next[s * ACTIONS + u] =
          prior[u] * exp((utility[u * STATES + s] + idm_mdp_next_value(mdp, u, s, v)) / alpha);
    for (size_t u = 0; u < ACTIONS; u++) next[s * ACTIONS + u] /= sum;
  }
}

typedef struct scene {
  idm_problem *problem;
  idm_mdp *mdp;
  idm_free_utility *free_utility;
  idm_optimality *optimality;
  double policy[COUNT * ALL];
  double weight[COUNT * ALL];
  idm_learner_steps steps;
} scene;

/* The first policy and the weights are random. */
static void open_scene(scene *s, const char *free_entries, size_t count)
{
  idm_random random;
  idm_random_init(&random, 6, 0);
  s->problem = support_mdp(STATES, ACTIONS, 3, alpha, 61);
  check(idm_problem_set_free(s->problem, free_entries, &support_error));
  s->mdp = support_create_mdp(s->problem);
  s->mdp->prior = prior;
  check(idm_free_utility_create(s->problem, &s->free_utility, &support_error));
  check(idm_optimality_create(s->free_utility->count, &s->optimality, &support_error));
  support_policy(&random, STATES, ACTIONS, s->policy);
  for (size_t k = 0; k + 1 < COUNT; k++)
    iterate(s->mdp, s->free_utility->held, s->policy + k * ALL, s->policy + (k + 1) * ALL);
  for (size_t i = 0; i < COUNT * ALL; i++) s->weight[i] = idm_random_uniform(&random);
  s->steps =
      (idm_learner_steps){s->mdp, s->free_utility, alpha, prior, count, s->policy, s->weight};
}

static void close_scene(scene *s)
{
  idm_optimality_destroy(s->optimality);
  idm_free_utility_destroy(s->free_utility);
  idm_mdp_destroy(s->mdp);
  idm_problem_destroy(s->problem);
}

static void exact_iterates_give_the_utility(void **state)
{
  (void)state;
  for (size_t count = 2; count <= COUNT; count++) {
    scene s;
    double x[ALL], distance;
    open_scene(&s, "utility", count);
    check(idm_learner_steps_invert(&s.steps, x, s.optimality, &support_error));
    check(idm_canonical_distance(s.mdp, x, s.free_utility->held, &distance, &support_error));
    assert_true(sqrt(s.optimality->objective) <= 1e-8);
    assert_true(distance <= 1e-8);
    assert_true(idm_optimality_certified(s.optimality));
    assert_true(s.optimality->evaluated);
    assert_int_equal(s.optimality->open, STATES); /* potentials, including a constant shift */
    close_scene(&s);
  }
}

/* With one action's utilities held, the others are determined. */
static void held_entries_fix_the_rest(void **state)
{
  (void)state;
  scene s;
  double x[ALL];
  open_scene(&s, "{utility: {entries: [0, 2]}}", COUNT);
  check(idm_learner_steps_invert(&s.steps, x, s.optimality, &support_error));
  assert_int_equal(s.optimality->open, 0);
  for (size_t e = 0; e < ALL; e++)
    if (s.free_utility->number[e] >= 0)
      assert_near(x[s.free_utility->number[e]], s.free_utility->held[e], 1e-8);
  close_scene(&s);
}

/* The residual of exact iterates is 0 at the true discount and positive at all others. */
static void exact_iterates_give_the_discount(void **state)
{
  (void)state;
  scene s;
  double x[ALL];
  open_scene(&s, "utility", COUNT);
  const double own = s.mdp->discount;
  for (int k = -8; k <= 8; k++) {
    idm_optimality *f;
    check(idm_optimality_create(s.free_utility->count, &f, &support_error));
    s.mdp->discount = own + 0.01 * k;
    check(idm_learner_steps_invert(&s.steps, x, f, &support_error));
    if (k == 0) assert_true(f->objective < 1e-20);
    if (k != 0) assert_true(f->objective > 1e-8);
    idm_optimality_destroy(f);
  }
  close_scene(&s);
}

/* An entry without an equation is undetermined. */
static void what_was_not_done_is_open(void **state)
{
  (void)state;
  scene s;
  double x[ALL];
  open_scene(&s, "utility", COUNT);
  for (size_t k = 0; k < COUNT; k++) s.weight[k * ALL + 2 * ACTIONS + 1] = 0;
  check(idm_learner_steps_invert(&s.steps, x, s.optimality, &support_error));
  assert_int_equal(s.optimality->open, STATES + 1);
  assert_true(sqrt(s.optimality->objective) <= 1e-8);
  close_scene(&s);
}

static double squares(const scene *s, const double *x, double (*phi)[STATES])
{
  double sum = 0;
  for (size_t k = 0; k + 1 < s->steps.count; k++) {
    double kl[STATES] = {0};
    const double *now = s->policy + k * ALL, *next = now + ALL;
    for (size_t e = 0; e < ALL; e++) kl[e / ACTIONS] += now[e] * log(now[e] / next[e]);
    for (size_t e = 0; e < ALL; e++) {
      const size_t i = e / ACTIONS, u = e % ACTIONS;
      const double left = alpha * log(next[e] / prior[u]) +
                          alpha * idm_mdp_next_value(s->mdp, u, i, kl) - x[u * STATES + i] -
                          idm_mdp_next_value(s->mdp, u, i, phi[k]) + phi[k][i];
      sum += s->weight[k * ALL + e] * left * left;
    }
  }
  return sum;
}

/* For policies of no learner, no utility nearby has a smaller sum of squares. The potentials are
 * found by coordinate descent. */
static void squares_are_least(void **state)
{
  (void)state;
  scene s;
  double x[ALL], phi[COUNT - 1][STATES] = {{0}};
  idm_random random;
  open_scene(&s, "utility", COUNT);
  idm_random_init(&random, 8, 0);
  for (size_t k = 0; k < COUNT; k++) support_policy(&random, STATES, ACTIONS, s.policy + k * ALL);
  check(idm_learner_steps_invert(&s.steps, x, s.optimality, &support_error));
  assert_true(idm_optimality_certified(s.optimality));
  /* Given x the sum of squares is a convex quadratic in the potentials: exact minimisation by
   * coordinates. */
  for (int sweep = 0; sweep < 4000; sweep++)
    for (size_t k = 0; k + 1 < COUNT; k++)
      for (size_t i = 0; i < STATES; i++) {
        const double at = squares(&s, x, phi);
        phi[k][i] += 1;
        const double up = squares(&s, x, phi);
        phi[k][i] -= 2;
        const double down = squares(&s, x, phi);
        phi[k][i] += 1 - 0.5 * (up - down) / (up - 2 * at + down);
      }
  assert_near(squares(&s, x, phi), s.optimality->objective, 1e-8);
  for (size_t j = 0; j < ALL; j++)
    for (int side = -1; side <= 1; side += 2) {
      x[j] += side * 1e-2;
      assert_true(squares(&s, x, phi) > s.optimality->objective - 1e-8);
      x[j] -= side * 1e-2;
    }
  close_scene(&s);
}

/* A policy with an action of probability 0 is not soft and is refused. */
static void dropped_actions_are_refused(void **state)
{
  (void)state;
  scene s;
  double x[ALL];
  idm_error error = {0};
  open_scene(&s, "utility", COUNT);
  s.policy[ALL] = 0;
  assert_int_equal(idm_learner_steps_invert(&s.steps, x, s.optimality, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "batch 2"));
  assert_non_null(strstr(error.message, "--smoothing"));
  close_scene(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_iterates_give_the_utility),
      cmocka_unit_test(exact_iterates_give_the_discount),
      cmocka_unit_test(held_entries_fix_the_rest),
      cmocka_unit_test(what_was_not_done_is_open),
      cmocka_unit_test(squares_are_least),
      cmocka_unit_test(dropped_actions_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
