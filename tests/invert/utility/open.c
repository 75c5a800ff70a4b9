/* Undetermined directions of a utility: invariance of the planner's policies, ranks of advantages
 * by sweeps, and canonical distances. */
#include "invert/utility/mdp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/walk.h"
#include "support.h"

typedef struct scene {
  idm_problem *problem;
  idm_mdp *mdp;
  idm_free_utility *free_utility;
  idm_optimality *optimality;
} scene;

static scene open_scene(const char *free_numbers)
{
  scene s = {.problem = support_yaml(WALK)};
  check(idm_problem_set_free(s.problem, free_numbers, &support_error));
  check(idm_mdp_create(s.problem, s.problem->setting, "somebody", &s.mdp, &support_error));
  check(idm_free_utility_create(s.problem, &s.free_utility, &support_error));
  check(idm_optimality_create(s.free_utility->count, &s.optimality, &support_error));
  check(idm_nullspace_shaping(s.mdp, NULL, s.free_utility, s.optimality, &support_error));
  return s;
}

static void close_scene(scene *s)
{
  idm_optimality_destroy(s->optimality);
  idm_free_utility_destroy(s->free_utility);
  idm_mdp_destroy(s->mdp);
  idm_problem_destroy(s->problem);
}

/* policy[state][action] of the planner at these free numbers. */
static void plan(const scene *s, const double *x, double *policy)
{
  idm_free_utility_fill(s->free_utility, x, s->problem->theta->block[IDM_UTILITY].value);
  idm_workspace *workspace = support_plan(s->problem, NULL);
  for (size_t i = 0; i < 3; i++) {
    double corner[3] = {0};
    corner[i] = 1;
    idm_plan_policy(workspace, 0, corner, policy + 2 * i, NULL);
  }
  idm_workspace_destroy(workspace);
}

/* Changes along undetermined directions leave policies unchanged; another direction changes them.
 */
static void test_open_directions_change_nothing(void **state)
{
  (void)state;
  scene s = open_scene("utility");
  assert_true(s.optimality->evaluated);
  assert_int_equal(s.optimality->open, 3); /* one potential per state */
  double x[6] = {0.5, -1, 2, 3, -0.25, 1}, moved[6], before[6], after[6];
  plan(&s, x, before);
  for (size_t i = 0; i < s.optimality->open; i++) {
    for (size_t k = 0; k < 6; k++) moved[k] = x[k] + 2.5 * s.optimality->direction[i * 6 + k];
    plan(&s, moved, after);
    for (size_t k = 0; k < 6; k++) assert_near(after[k], before[k], 1e-9);
  }
  for (size_t k = 0; k < 6; k++) moved[k] = x[k] + (k == 4);
  plan(&s, moved, after);
  double change = 0;
  for (size_t k = 0; k < 6; k++) change += fabs(after[k] - before[k]);
  assert_true(change > 0.01);
  close_scene(&s);
}

/* WALK with other transitions. */
#define OTHER_WALK                                                                                 \
  "name: walk\nstates: [a, b, c]\nactions: [left, right]\nobservations: states\ndiscount: 0.9\n"   \
  "start: a\n"                                                                                     \
  "transition: {left: [[1, 0, 0], [0.3, 0.7, 0], [0, 1, 0]], right: [[0.1, 0.9, 0], [0, 0, 1], "   \
  "[0, 0, 1]]}\n"                                                                                  \
  "utility: {left: [0.5, -1, 2], right: [3, -0.25, 1]}\nagent: {planner: rational}\n"

/* Rank of directions [count][n] by Gram-Schmidt. */
static size_t rank_of(const double *direction, size_t count, size_t n)
{
  double basis[12][6];
  size_t rank = 0;
  for (size_t i = 0; i < count; i++) {
    double rest[6], left = 0, whole = 0;
    memcpy(rest, direction + i * n, n * sizeof *rest);
    for (size_t k = 0; k < n; k++) whole += rest[k] * rest[k];
    for (int pass = 0; pass < 2; pass++)
      for (size_t r = 0; r < rank; r++) {
        double dot = 0;
        for (size_t k = 0; k < n; k++) dot += basis[r][k] * rest[k];
        for (size_t k = 0; k < n; k++) rest[k] -= dot * basis[r][k];
      }
    for (size_t k = 0; k < n; k++) left += rest[k] * rest[k];
    if (left <= 1e-16 * whole) continue;
    for (size_t k = 0; k < n; k++) basis[rank][k] = rest[k] / sqrt(left);
    rank++;
  }
  return rank;
}

static size_t rank_of_both(const idm_optimality *a, const idm_optimality *b, size_t n)
{
  double all[12 * 6];
  if (a->open) memcpy(all, a->direction, a->open * n * sizeof *all);
  if (b->open) memcpy(all + a->open * n, b->direction, b->open * n * sizeof *all);
  return rank_of(all, a->open + b->open, n);
}

static bool lies_in(const double *direction, const idm_optimality *f, size_t n)
{
  double all[12 * 6];
  if (f->open) memcpy(all, f->direction, f->open * n * sizeof *all);
  memcpy(all + f->open * n, direction, n * sizeof *all);
  return rank_of(all, f->open + 1, n) == f->open;
}

/* Held entries determine directions; ties leave only directions that are equal on tied entries. */
static void test_held_and_tied(void **state)
{
  (void)state;
  scene s = open_scene("{utility: {entries: [left]}}"); /* right is held: phi = 0.9 P phi */
  assert_int_equal(s.optimality->open, 0);
  close_scene(&s);
  s = open_scene("{utility: {entries: {a: [left.a, right.a], b: [left.b, right.b], c: [left.c, "
                 "right.c]}}}");
  assert_int_equal(s.optimality->open, 1); /* the shift */
  for (size_t k = 0; k < 3; k++) assert_near(s.optimality->direction[k], 1, 1e-10);
  close_scene(&s);
}

/* With several MDPs, the undetermined directions are those common to all, for any held entries; one
 * MDP twice gives its own directions. */
static void test_several_worlds(void **state)
{
  (void)state;
  enum { WORLDS = 3 };
  static const char tied[] =
      "{utility: {entries: {x: [left.a, right.a], y: [left.b], z: [right.b], "
      "v: [left.c], w: [right.c]}}}";
  static const char *const freed[] = {"utility", "{utility: {entries: [left, right.a, right.b]}}",
                                      tied};
  size_t fewer = 0;
  for (size_t f = 0; f < sizeof freed / sizeof *freed; f++) {
    idm_problem *problem[WORLDS];
    idm_mdp *mdp[WORLDS];
    scene alone[WORLDS];
    /* The second MDP has other rows for one action; the third equals the first. */
    for (size_t w = 0; w < WORLDS; w++) {
      alone[w] = open_scene(freed[f]);
      problem[w] = support_yaml(w == 1 ? OTHER_WALK : WALK);
      check(idm_mdp_create(problem[w], problem[w]->setting, "somebody", &mdp[w], &support_error));
      check(idm_nullspace_shaping(mdp[w], NULL, alone[w].free_utility, alone[w].optimality,
                                  &support_error));
    }
    const size_t n = alone[0].free_utility->count;
    idm_optimality *shared;
    check(idm_optimality_create(n, &shared, &support_error));
    const idm_mdp *again[] = {mdp[0], mdp[2]}, *both[] = {mdp[0], mdp[1]};
    check(idm_nullspace_shared(2, again, NULL, alone[0].free_utility, shared, &support_error));
    assert_int_equal(shared->open, alone[0].optimality->open);
    check(idm_nullspace_shared(2, both, NULL, alone[0].free_utility, shared, &support_error));
    /* dim(A and B) = dim A + dim B - dim(A + B). */
    assert_int_equal(shared->open, alone[0].optimality->open + alone[1].optimality->open -
                                       rank_of_both(alone[0].optimality, alone[1].optimality, n));
    fewer += alone[0].optimality->open - shared->open;
    for (size_t i = 0; i < shared->open; i++)
      for (size_t w = 0; w < 2; w++)
        assert_true(lies_in(shared->direction + i * n, alone[w].optimality, n));
    idm_optimality_destroy(shared);
    for (size_t w = 0; w < WORLDS; w++) {
      close_scene(&alone[w]);
      idm_mdp_destroy(mdp[w]);
      idm_problem_destroy(problem[w]);
    }
  }
  assert_true(fewer > 0);
}

/* row[number]: derivative of the advantage of an action over another at a state by each number, by
 * sweeps of the policy. */
static void put_advantage(const idm_mdp *mdp, const idm_free_utility *free_utility,
                          const double *policy, size_t from, size_t action, size_t other,
                          double *row)
{
  for (size_t k = 0; k < free_utility->count; k++) {
    double utility[6] = {0}, v[3] = {0};
    for (size_t e = 0; e < 6; e++) utility[e] = free_utility->number[e] == (int32_t)k;
    for (int sweep = 0; sweep < 500; sweep++)
      for (size_t s = 0; s < 3; s++) {
        double sum = 0;
        for (size_t u = 0; u < 2; u++)
          sum += policy[2 * s + u] * (utility[3 * u + s] + idm_mdp_next_value(mdp, u, s, v));
        v[s] = sum;
      }
    row[k] = utility[3 * action + from] + idm_mdp_next_value(mdp, action, from, v) -
             utility[3 * other + from] - idm_mdp_next_value(mdp, other, from, v);
  }
}

/* With choices in the visited states only, the undetermined directions change no advantage there,
 * and their number is the number of free numbers less the rank of the advantages. For every set of
 * visited states, in one MDP and in two. */
static void test_never_visited(void **state)
{
  (void)state;
  static const char tied[] = "{utility: {entries: {x: [left.a, right.b], y: [right.a], "
                             "z: [left.c, left.b], w: [right.c]}}}";
  static const char *const freed[] = {"utility", "{utility: {entries: [left, right.a, right.b]}}",
                                      tied};
  double policy[2][6] = {{0.3, 0.7, 0.5, 0.5, 0.9, 0.1}, {0.6, 0.4, 0.2, 0.8, 0.5, 0.5}};
  idm_problem *windy = support_yaml(OTHER_WALK);
  idm_mdp *mdp[2];
  check(idm_mdp_create(windy, windy->setting, "somebody", &mdp[1], &support_error));
  for (size_t f = 0; f < sizeof freed / sizeof *freed; f++)
    for (unsigned set = 1; set < 64; set++) {
      scene s = open_scene(freed[f]);
      const size_t n = s.free_utility->count, mdps = set < 8 ? 1 : 2;
      double visits[2][3], rows[6 * 6];
      idm_demonstrator caller[2];
      size_t count = 0;
      mdp[0] = s.mdp;
      for (size_t w = 0; w < mdps; w++) {
        caller[w] = (idm_demonstrator){.visits = visits[w], .policy = policy[w]};
        for (size_t i = 0; i < 3; i++) {
          visits[w][i] = set >> (3 * w + i) & 1;
          if (visits[w][i] > 0)
            put_advantage(mdp[w], s.free_utility, policy[w], i, 0, 1, rows + n * count++);
        }
      }
      const idm_demonstrator *seen[] = {&caller[0], &caller[1]};
      check(idm_nullspace_shared(mdps, (const idm_mdp *const *)mdp, seen, s.free_utility,
                                 s.optimality, &support_error));
      assert_true(s.optimality->evaluated);
      assert_int_equal(s.optimality->open, n - rank_of(rows, count, n));
      for (size_t i = 0; i < s.optimality->open * count; i++) {
        double moved = 0;
        for (size_t k = 0; k < n; k++)
          moved += rows[i % count * n + k] * s.optimality->direction[i / count * n + k];
        assert_near(moved, 0, 1e-9);
      }
      close_scene(&s);
    }
  idm_mdp_destroy(mdp[1]);
  idm_problem_destroy(windy);
}

/* An action with prior probability 0 leaves its utilities undetermined. */
static void test_never_open(void **state)
{
  (void)state;
  scene s = open_scene("utility");
  const double prior[] = {0, 1};
  s.mdp->prior = prior;
  check(idm_nullspace_shaping(s.mdp, NULL, s.free_utility, s.optimality, &support_error));
  assert_int_equal(s.optimality->open, 6);
  close_scene(&s);
}

static void test_design(void **state)
{
  (void)state;
  idm_optimality *optimality;
  check(idm_optimality_create(3, &optimality, &support_error));
  double rows[] = {1, 1, 0, 2, 2, 0};
  check(idm_nullspace_design(2, rows, optimality, &support_error));
  assert_int_equal(optimality->open, 2);
  for (size_t i = 0; i < 2; i++)
    assert_near(optimality->direction[3 * i] + optimality->direction[3 * i + 1], 0, 1e-14);
  idm_optimality_destroy(optimality);
}

static void test_canonical_distance(void **state)
{
  (void)state;
  scene s = open_scene("utility");
  const double u[] = {0.5, -1, 2, 3, -0.25, 1};
  double same[6], opposite[6], other[] = {1, 1, -3, 0.5, 2, 0}, d;
  const double phi[] = {3, -7, 11};
  for (size_t e = 0; e < 6; e++) {
    same[e] = 4 * u[e] + idm_mdp_next_value(s.mdp, e / 3, e % 3, phi) - phi[e % 3] + 13;
    opposite[e] = -u[e];
  }
  check(idm_canonical_distance(s.mdp, u, same, &d, &support_error));
  assert_near(d, 0, 1e-12);
  check(idm_canonical_distance(s.mdp, u, opposite, &d, &support_error));
  assert_near(d, 1, 1e-12);
  double there, back;
  check(idm_canonical_distance(s.mdp, u, other, &there, &support_error));
  check(idm_canonical_distance(s.mdp, other, u, &back, &support_error));
  assert_near(there, back, 1e-15);
  assert_true(there > 0.05 && there < 1);
  const double constant[] = {5, 5, 5, 5, 5, 5};
  check(idm_canonical_distance(s.mdp, constant, constant, &d, &support_error));
  assert_near(d, 0, 0);
  check(idm_canonical_distance(s.mdp, constant, u, &d, &support_error));
  assert_near(d, 0.5, 1e-12);
  close_scene(&s);
}

/* Distances are unchanged by shifts up to a factor of 1e12, up to rounding. */
static void test_large_shifts(void **state)
{
  (void)state;
  scene s = open_scene("utility");
  const double u[] = {0.5, -1, 2, 3, -0.25, 1}, other[] = {1, 1, -3, 0.5, 2, 0};
  double far[6], further[6], d, there;
  check(idm_canonical_distance(s.mdp, u, other, &d, &support_error));
  for (double shift = 1e3; shift < 2e12; shift *= 1e3) {
    for (size_t e = 0; e < 6; e++) {
      far[e] = u[e] + shift;
      further[e] = other[e] - 2 * shift;
    }
    check(idm_canonical_distance(s.mdp, far, further, &there, &support_error));
    assert_near(there, d, 1e-15 * shift + 1e-12);
    check(idm_canonical_distance(s.mdp, u, far, &there, &support_error));
    assert_near(there, 0, 1e-15 * shift + 1e-12);
  }
  close_scene(&s);
}

/* Distances are 0 under large potentials, also for discounts near 1. */
static void test_large_potentials(void **state)
{
  (void)state;
  scene s = open_scene("utility");
  const double u[] = {0.5, -1, 2, 3, -0.25, 1};
  const double discounts[] = {0.9, 0.999, 0.9999, 0.99999};
  for (size_t k = 0; k < 4; k++)
    for (double size = 1; size < 2e6; size *= 1e3) {
      const double phi[] = {3 * size, -7 * size, 11 * size};
      double shaped[6], d;
      s.mdp->discount = discounts[k];
      for (size_t e = 0; e < 6; e++)
        shaped[e] = u[e] + idm_mdp_next_value(s.mdp, e / 3, e % 3, phi) - phi[e % 3];
      check(idm_canonical_distance(s.mdp, u, shaped, &d, &support_error));
      assert_near(d, 0, 1e-14 * size + 1e-12);
    }
  close_scene(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_open_directions_change_nothing),
                                     cmocka_unit_test(test_several_worlds),
                                     cmocka_unit_test(test_held_and_tied),
                                     cmocka_unit_test(test_never_visited),
                                     cmocka_unit_test(test_never_open),
                                     cmocka_unit_test(test_design),
                                     cmocka_unit_test(test_canonical_distance),
                                     cmocka_unit_test(test_large_shifts),
                                     cmocka_unit_test(test_large_potentials)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
