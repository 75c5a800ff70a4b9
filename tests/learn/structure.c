/* Structure of learnt dynamics: ties, possible entries, modes and draws of rows, and permutations
 * of states, against formulas and enumeration. */
#include "learn/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Three states; `go` and `stay` share their emissions under "*", `end` is terminal. Zeros make the
 * second and third states interchangeable and distinguish the first. */
static const char yaml[] =
    "states: [a, b, c]\nactions: [go, stay, end]\nobservations: [x, y]\ndiscount: 0.9\n"
    "start: [0, 0.5, 0.5]\nterminal: [end]\n"
    "transition: {go: [[0.2, 0.4, 0.4], [0, 0.5, 0.5], [0, 0.5, 0.5]], stay: identity, end: "
    "identity}\n"
    "observation: {'*': [[1, 0], [0.25, 0.75], [0.75, 0.25]], end: uniform}\n"
    "utility: {go: 0, stay: 0, end: 0}\n";
enum { STATES = 3, ACTIONS = 3, SEEN = 2, ROWS = 1 + 2 * ACTIONS * STATES, NUMBERS = 48 };

typedef struct fixture {
  idm_problem *problem;
  structure *s;
  double numbers[NUMBERS];
} fixture;

static fixture open_fixture(bool fixed)
{
  fixture f = {.problem = support_yaml(yaml)};
  const idm_setting *w = f.problem->setting;
  check(structure_create(f.problem, 0, true, fixed, &f.s, &support_error));
  memcpy(f.numbers, w->start, STATES * sizeof(double));
  memcpy(f.numbers + STATES, w->transition, ACTIONS * STATES * STATES * sizeof(double));
  memcpy(f.numbers + STATES + ACTIONS * STATES * STATES, w->emission,
         ACTIONS * STATES * SEEN * sizeof(double));
  return f;
}

static void close_fixture(fixture *f)
{
  structure_destroy(f->s);
  idm_problem_destroy(f->problem);
}

static const double *row_at(const structure *s, size_t r, const double *numbers)
{
  return numbers + s->row[r].first;
}

/* --- rows ----------------------------------------------------------------------------------- */

static void test_rows(void **state)
{
  (void)state;
  fixture f = open_fixture(false);
  const structure *s = f.s;
  assert_int_equal(s->rows, ROWS);
  for (size_t i = 0; i < STATES; i++) {
    const size_t go = structure_emission(s, 0, i), stay = structure_emission(s, 1, i);
    assert_int_equal(s->row[go].tied_to, go);
    assert_int_equal(s->row[stay].tied_to, go); /* one matrix under "*" */
    assert_true(structure_is_own_row(s, go) && !structure_is_own_row(s, stay) &&
                s->row[stay].learnt);
    assert_false(s->row[structure_emission(s, 2, i)].learnt); /* terminal */
    assert_false(s->row[structure_transition(s, 2, i)].learnt);
  }
  for (size_t i = 0; i < NUMBERS; i++)
    if (s->possible[i]) assert_true(f.numbers[i] > 0);
  assert_false(s->possible[0]);
  assert_int_equal(s->group[0], 0);
  assert_int_equal(s->group[1], 1);
  assert_int_equal(s->group[2], 1);
  close_fixture(&f);
}

/* The mode of Dirichlet(prior) given counts is (n + prior - 1) over their sum, with the counts of
 * tied rows added. */
static void test_modes(void **state)
{
  (void)state;
  fixture f = open_fixture(false);
  const double prior = 1.5;
  double counts[NUMBERS];
  for (size_t i = 0; i < NUMBERS; i++) counts[i] = (double)(i % 7);
  const size_t go = structure_emission(f.s, 0, 1), stay = structure_emission(f.s, 1, 1);
  double pooled[SEEN], sum = 0;
  for (size_t x = 0; x < SEEN; x++) {
    pooled[x] = row_at(f.s, go, counts)[x] + row_at(f.s, stay, counts)[x] + prior - 1;
    sum += pooled[x];
  }
  structure_maximise(f.s, prior, counts, f.numbers);
  for (size_t x = 0; x < SEEN; x++) {
    assert_near(row_at(f.s, go, f.numbers)[x], pooled[x] / sum, 1e-15);
    assert_true(row_at(f.s, stay, f.numbers)[x] == row_at(f.s, go, f.numbers)[x]);
  }
  for (size_t r = 0; r < ROWS; r++) {
    double total = 0;
    for (size_t i = 0; i < f.s->row[r].width; i++) {
      const size_t at = f.s->row[r].first + i;
      if (f.s->row[r].learnt && !f.s->possible[at]) assert_true(f.numbers[at] == 0);
      total += f.numbers[at];
    }
    assert_near(total, 1, 1e-15);
  }
  assert_near(row_at(f.s, structure_emission(f.s, 2, 0), f.numbers)[0], 0.5, 0); /* unchanged */
  close_fixture(&f);
}

/* Without counts and under a flat prior a row is unchanged. */
static void test_nothing_known(void **state)
{
  (void)state;
  fixture f = open_fixture(false);
  double counts[NUMBERS] = {0}, before[NUMBERS];
  memcpy(before, f.numbers, sizeof before);
  structure_maximise(f.s, 1, counts, f.numbers);
  assert_memory_equal(f.numbers, before, sizeof before);
  assert_true(structure_log_prior(f.s, 1, f.numbers) == 0);
  /* Learnt rows: start .5 .5; go .2 .4 .4 .5 .5 .5 .5; stay 1 1 1; emissions 1, .25 .75 and .75
   * .25, once for both actions. */
  const double sum = 6 * log(0.5) + log(0.2) + 2 * log(0.4) + 2 * log(0.25) + 2 * log(0.75);
  assert_near(structure_log_prior(f.s, 3, f.numbers), 2 * sum, 1e-12);
  close_fixture(&f);
}

/* Draws of Dirichlet(prior + counts): the mean of a number within 5 standard errors. */
static void test_draws(void **state)
{
  (void)state;
  enum { draws = 4000 };
  fixture f = open_fixture(false);
  idm_random random;
  idm_random_init(&random, 8, 0);
  const double prior = 0.7;
  const size_t go = structure_emission(f.s, 0, 2), stay = structure_emission(f.s, 1, 2);
  double mean = 0;
  for (int i = 0; i < draws; i++) {
    double counts[NUMBERS] = {0};
    counts[f.s->row[go].first] = 2;
    counts[f.s->row[stay].first + 1] = 5;
    structure_draw(f.s, prior, counts, &random, f.numbers);
    assert_memory_equal(row_at(f.s, go, f.numbers), row_at(f.s, stay, f.numbers),
                        SEEN * sizeof(double));
    assert_true(row_at(f.s, structure_emission(f.s, 0, 0), f.numbers)[1] == 0); /* impossible */
    mean += row_at(f.s, go, f.numbers)[0] / draws;
  }
  const double a = prior + 2, b = prior + 5, n = a + b;
  assert_true(fabs(mean - a / n) < 5 * sqrt(a * b / (n * n * (n + 1)) / draws));
  close_fixture(&f);
}

/* --- states that change places -------------------------------------------------------------- */

/* b shows y more often than c: ordering exchanges the states with all their rows. */
static void test_order(void **state)
{
  (void)state;
  fixture f = open_fixture(false);
  double scratch[NUMBERS + 5 * STATES], before[NUMBERS], mean[STATES];
  f.numbers[1] = 0.3;
  f.numbers[2] = 0.7;
  double *from_b = f.numbers + f.s->row[structure_transition(f.s, 0, 1)].first;
  from_b[1] = 0.9;
  from_b[2] = 0.1;
  memcpy(before, f.numbers, sizeof before);
  structure_order(f.s, NULL, f.numbers, scratch);
  assert_near(f.numbers[1], 0.7, 0);
  assert_near(f.numbers[2], 0.3, 0);
  const double *from_c = row_at(f.s, structure_transition(f.s, 0, 2), f.numbers);
  assert_near(from_c[2], 0.9, 0);
  assert_near(from_c[1], 0.1, 0);
  assert_near(row_at(f.s, structure_emission(f.s, 0, 1), f.numbers)[0], 0.75, 0);
  structure_means(f.s, f.numbers, mean);
  assert_true(mean[1] < mean[2]);
  memcpy(scratch, f.numbers, sizeof before);
  double again[NUMBERS];
  memcpy(again, f.numbers, sizeof again);
  structure_order(f.s, NULL, again, scratch);
  assert_memory_equal(again, f.numbers, sizeof again); /* already ordered */
  const idm_dynamics like = {.start = before};
  structure_order(f.s, like.start, again, scratch);
  assert_memory_equal(again, before, sizeof before);
  structure_order(f.s, NULL, again, scratch);
  structure_match_states(f.s, &(const idm_dynamics *){&like}, 1, again, scratch);
  assert_memory_equal(again, before, sizeof before); /* and back, in the order of another */
  close_fixture(&f);
}

/* Of five interchangeable states, the labels nearest to one of two dynamics, against a search
 * through all 120 permutations; the result does not depend on the input labels. */
static void test_nearest(void **state)
{
  (void)state;
  enum { FIVE = 5, ALL = FIVE * (1 + FIVE + 3), ROOM = ALL + 5 * FIVE };
  static const char file[] =
      "states: [a, b, c, d, e]\nactions: [go]\nobservations: [x, y, z]\ndiscount: 0.9\n"
      "start: uniform\ntransition: {go: uniform}\nobservation: {go: uniform}\nutility: {go: 0}\n";
  idm_problem *problem = support_yaml(file);
  structure *s;
  idm_random random;
  idm_dynamics *like[2];
  double numbers[ALL], ordered[ALL], turned[ALL], scratch[ROOM];
  check(structure_create(problem, 0, true, false, &s, &support_error));
  for (size_t i = 0; i < FIVE; i++) assert_int_equal(s->group[i], 0);
  assert_true(structure_scratch_size(s) <= ROOM);
  idm_random_init(&random, 5, 1);
  for (size_t k = 0; k < 2; k++) check(idm_dynamics_create(s->sizes, &like[k], &support_error));
  for (size_t round = 0; round < 20; round++) {
    double least = INFINITY, found = INFINITY;
    for (size_t k = 0; k < 2; k++) structure_draw(s, 1, NULL, &random, like[k]->start);
    structure_draw(s, 1, NULL, &random, numbers);
    memcpy(ordered, numbers, sizeof ordered);
    structure_match_states(s, (const idm_dynamics *const *)like, 2, ordered, scratch);
    for (size_t code = 0; code < 3125; code++) {
      size_t to[FIVE], seen = 0, rest = code;
      for (size_t i = 0; i < FIVE; i++, rest /= FIVE) seen |= (size_t)1 << (to[i] = rest % FIVE);
      if (seen != 31) continue;
      for (size_t i = 0; i < FIVE; i++) {
        turned[to[i]] = numbers[i];
        for (size_t j = 0; j < FIVE; j++)
          turned[FIVE + FIVE * to[i] + to[j]] = numbers[FIVE + FIVE * i + j];
        memcpy(turned + 30 + 3 * to[i], numbers + 30 + 3 * i, 3 * sizeof(double));
      }
      for (size_t k = 0; k < 2; k++) {
        double now = 0, own = 0;
        for (size_t i = 0; i < ALL; i++) {
          now += pow(turned[i] - like[k]->start[i], 2);
          own += pow(ordered[i] - like[k]->start[i], 2);
        }
        least = fmin(least, now);
        found = fmin(found, own);
      }
      structure_match_states(s, (const idm_dynamics *const *)like, 2, turned, scratch);
      assert_memory_equal(turned, ordered, sizeof ordered);
    }
    assert_near(found, least, 1e-9);
  }
  for (size_t k = 0; k < 2; k++) idm_dynamics_destroy(like[k]);
  structure_destroy(s);
  idm_problem_destroy(problem);
}

/* If the log names states, none are exchanged. */
static void test_named_states(void **state)
{
  (void)state;
  fixture f = open_fixture(true);
  double scratch[NUMBERS + 5 * STATES], before[NUMBERS];
  memcpy(before, f.numbers, sizeof before);
  structure_order(f.s, NULL, f.numbers, scratch);
  assert_memory_equal(f.numbers, before, sizeof before);
  close_fixture(&f);
}

static void test_alike(void **state)
{
  (void)state;
  fixture f = open_fixture(false);
  size_t one, other;
  assert_false(structure_find_identical(f.s, f.numbers, &one, &other));
  for (size_t u = 0; u < 2; u++)
    for (size_t i = 1; i < STATES; i++)
      for (size_t x = 0; x < SEEN; x++)
        f.numbers[f.s->row[structure_emission(f.s, u, i)].first + x] = 0.5;
  assert_true(structure_find_identical(f.s, f.numbers, &one, &other));
  assert_int_equal(one, 1);
  assert_int_equal(other, 2);
  close_fixture(&f);
}

/* Zeros distinguish all three states: c never leads to a. Permuted dynamics are relabelled, with
 * the zero in its place; those that are nearest already are unchanged. */
static void test_relabel(void **state)
{
  (void)state;
  static const char file[] =
      "states: [a, b, c]\nactions: [go]\nobservations: [x, y, z]\ndiscount: 0.9\n"
      "start: [0.5, 0.3, 0.2]\n"
      "transition: {go: [[0.9, 0.06, 0.04], [0.05, 0.85, 0.1], [0, 0.05, 0.95]]}\n"
      "observation: {go: [[0.8, 0.15, 0.05], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]}\n"
      "utility: {go: 0}\n";
  enum { ALL = 21 };
  /* State i of the file is labelled turn[i]. */
  static const size_t turns[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}};
  idm_problem *problem = support_yaml(file);
  const idm_setting *w = problem->setting;
  structure *s;
  double like[ALL], numbers[ALL], scratch[ALL + 15];
  check(structure_create(problem, 0, true, false, &s, &support_error));
  memcpy(like, w->start, 3 * sizeof(double));
  memcpy(like + 3, w->transition, 9 * sizeof(double));
  memcpy(like + 12, w->emission, 9 * sizeof(double));
  for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
    const size_t *to = turns[k];
    for (size_t i = 0; i < 3; i++) {
      numbers[to[i]] = like[i];
      for (size_t j = 0; j < 3; j++) {
        numbers[3 + 3 * to[i] + to[j]] = like[3 + 3 * i + j];
        numbers[12 + 3 * to[i] + j] = like[12 + 3 * i + j];
      }
    }
    assert_int_equal(structure_relabel(s, like, numbers, scratch), k > 0);
    for (size_t i = 0; i < ALL; i++) assert_near(numbers[i], like[i], 0.005);
    assert_true(numbers[3 + 6] == 0);
  }
  structure_destroy(s);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),          cmocka_unit_test(test_modes),
      cmocka_unit_test(test_nothing_known), cmocka_unit_test(test_draws),
      cmocka_unit_test(test_order),         cmocka_unit_test(test_nearest),
      cmocka_unit_test(test_relabel),       cmocka_unit_test(test_named_states),
      cmocka_unit_test(test_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
