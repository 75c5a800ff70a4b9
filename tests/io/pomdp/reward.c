/* Rewards as rules with wildcards, in expectation: by hand, and against the full array. */
#include <stdlib.h>

#include "io/pomdp/pomdp.h"
#include "io/pomdp/pomdp_support.h"

/* --- files ---------------------------------------------------------------------------------- */

static void test_rewards_by_hand(void **state)
{
  (void)state;
  idm_problem *p = parse(TWO "T: u 0.5 0.5 0.25 0.75 T: v identity\n"
                             "O: u 0.5 0.25 0.25 0 1 0 O: v 0.125 0.375 0.5 1 0 0\n"
                             "R: u : a 1 2 3 4 5 6\n"  /* matrix [s'][o] */
                             "R: u : * : b 10 20 30\n" /* row over o, later than the matrix */
                             "R: * : * : * : z 100\n"  /* one observation everywhere */
                             "R: v : a : a : x -8\n");
  /* u, a: s'=a: .5*1 + .25*2 + .25*100 = 26; s'=b: y surely = 20. */
  assert_true(utility(p, 0, 0) == 0.5 * 26 + 0.5 * 20);
  /* u, b: s'=a: .25*100 = 25; s'=b: 20. */
  assert_true(utility(p, 0, 1) == 0.25 * 25 + 0.75 * 20);
  assert_true(utility(p, 1, 0) == 0.125 * -8 + 0.5 * 100);
  assert_true(utility(p, 1, 1) == 0);
  idm_problem_destroy(p);
}

enum { RA = 2, RS = 3, RX = 3 };

/* One coordinate: an index, or -1 for all, written to the text. */
static int draw_element(uint64_t *seed, growing *t, unsigned count)
{
  const int element = (int)draw(seed, count + 1) - 1;
  if (element < 0)
    append(t, " : *");
  else
    append(t, " : %d", element);
  return element;
}

/* Append one rule and apply it to the full array of rewards. */
static void draw_rule(uint64_t *seed, growing *t, double reward[RA][RS][RS][RX])
{
  const unsigned form = draw(seed, 4);
  append(t, "R");
  const int u = draw_element(seed, t, RA);
  const int s = draw_element(seed, t, RS);
  const int next = form >= 1 ? draw_element(seed, t, RS) : -1;
  const int x = form >= 2 ? draw_element(seed, t, RX) : -1;
  const unsigned count = form == 0 ? RS * RX : form == 1 ? RX : 1;
  double number[RS * RX];
  for (unsigned i = 0; i < count; i++) {
    number[i] = (double)draw(seed, 41) - 20;
    append(t, " %g", number[i]);
  }
  append(t, "\n");
  for (int a = 0; a < RA; a++)
    for (int b = 0; b < RS; b++)
      for (int c = 0; c < RS; c++)
        for (int d = 0; d < RX; d++)
          if ((u < 0 || u == a) && (s < 0 || s == b) && (next < 0 || next == c) &&
              (x < 0 || x == d))
            reward[a][b][c][d] = number[form == 0 ? c * RX + d : form == 1 ? d : 0];
}

static void test_rewards_against_brute_force(void **state)
{
  (void)state;
  uint64_t seed = 1;
  for (int trial = 0; trial < 300; trial++) {
    growing t = {0};
    double reward[RA][RS][RS][RX] = {{{{0}}}};
    append(&t, "discount: 0.5 values: reward states: 3 actions: 2 observations: 3\n"
               "T: 0 0.5 0.5 0 0.25 0.25 0.5 0 0 1 T: 1 uniform\n"
               "O: 0 0.5 0.5 0 0 1 0 0.2 0.3 0.5 O: 1 1 0 0 0.1 0.2 0.7 0.5 0 0.5\n");
    const unsigned rules = draw(&seed, 12);
    for (unsigned i = 0; i < rules; i++) draw_rule(&seed, &t, reward);
    idm_problem *p = parse(t.bytes);
    for (size_t u = 0; u < RA; u++)
      for (size_t s = 0; s < RS; s++) {
        double expected = 0;
        for (size_t next = 0; next < RS; next++)
          for (size_t x = 0; x < RX; x++)
            expected += transition(p, u, s, next) * emission(p, u, next, x) * reward[u][s][next][x];
        assert_near(utility(p, u, s), expected, 1e-13);
      }
    char *bytes = NULL;
    idm_problem *again = write_and_read(p, NULL, &bytes);
    assert_same(p, again);
    free(bytes);
    free(t.bytes);
    idm_problem_destroy(p);
    idm_problem_destroy(again);
  }
}

/* 200,000 rules and named states by the thousand, in one line: nothing may be quadratic. */
static void test_large(void **state)
{
  (void)state;
  enum { STATES = 1000, RULES = 200000 };
  growing t = {0};
  append(&t, "discount: 0.5 values: reward actions: u v observations: 4 states:");
  for (int s = 0; s < STATES; s++) append(&t, " state-%d", s);
  append(&t, " T: * identity O: * uniform");
  for (int s = 0; s < STATES; s++) append(&t, " T: v : state-%d : state-%d 1", s, s);
  for (int i = 0; i < RULES; i++) {
    const int s = i % STATES;
    append(&t, " R: v : state-%d : state-%d : %d %d", s, (i / 4000) % 2 ? s : (s + 1) % STATES,
           (i / STATES) % 4, i);
  }
  idm_problem *p = parse(t.bytes);
  assert_int_equal(p->theta->sizes.states, STATES);
  for (int s = 0; s < STATES; s++) {
    assert_true(utility(p, 0, (size_t)s) == 0);
    double expected = 0;
    for (int x = 0; x < 4; x++) expected += 0.25 * (RULES - 4 * STATES + x * STATES + s);
    assert_near(utility(p, 1, (size_t)s), expected, 1e-6);
  }
  free(t.bytes);
  idm_problem_destroy(p);
}

/* --- the store ------------------------------------------------------------------------------ */

static const uint32_t ANY = IDM_POMDP_ANY, ROW = IDM_POMDP_ROW;

/* Two actions, two states, three observations, every row its own. */
static idm_problem *small(void)
{
  return parse(TWO "T: u 0.5 0.5 0.25 0.75 T: v identity\n"
                   "O: u 0.5 0.25 0.25 0 1 0 O: v 0.1 0.2 0.7 1 0 0\n");
}

static void expect_utilities(const idm_pomdp_rewards *rewards, const idm_problem *p,
                             const double *expected)
{
  double found[4];
  check(idm_pomdp_rewards_expect(rewards, p->setting, found, &support_error));
  for (size_t i = 0; i < 4; i++) assert_near(found[i], expected[i], 1e-15);
}

static void set(idm_pomdp_rewards *rewards, idm_pomdp_rule_key key, double value)
{
  check(idm_pomdp_rewards_set(rewards, key, value, &support_error));
}

/* Indices count from 1. A later rule covers an earlier one, the same one written again too. */
static void test_store(void **state)
{
  (void)state;
  idm_problem *p = small();
  idm_pomdp_rewards *rewards;
  check(idm_pomdp_rewards_create(&rewards, &support_error));
  expect_utilities(rewards, p, (double[]){0, 0, 0, 0});
  set(rewards, (idm_pomdp_rule_key){1, 1, ANY, ANY}, 3);
  expect_utilities(rewards, p, (double[]){3, 0, 0, 0});
  set(rewards, (idm_pomdp_rule_key){1, ANY, ANY, ANY}, 4); /* wider, and later */
  expect_utilities(rewards, p, (double[]){4, 4, 0, 0});
  set(rewards, (idm_pomdp_rule_key){1, 1, ANY, ANY}, 5); /* the first again: now the latest */
  expect_utilities(rewards, p, (double[]){5, 4, 0, 0});
  set(rewards, (idm_pomdp_rule_key){ANY, ANY, 2, ANY}, 8); /* where the next state is b */
  expect_utilities(rewards, p, (double[]){0.5 * 5 + 0.5 * 8, 0.25 * 4 + 0.75 * 8, 0, 8});
  const size_t first = idm_pomdp_rewards_stored(rewards);
  for (int i = 0; i < 3; i++) check(idm_pomdp_rewards_push(rewards, 10 * i, &support_error));
  check(idm_pomdp_rewards_set_stored(rewards, (idm_pomdp_rule_key){2, 1, ANY, ROW}, first,
                                     &support_error));
  expect_utilities(rewards, p,
                   (double[]){0.5 * 5 + 0.5 * 8, 0.25 * 4 + 0.75 * 8, 0.2 * 10 + 0.7 * 20, 8});
  idm_pomdp_rewards_destroy(rewards);
  idm_pomdp_rewards_destroy(NULL);
  idm_problem_destroy(p);
}

/* A reward that is the same for all that can follow comes out exactly, whatever probabilities add
 * up to. */
static void test_constant(void **state)
{
  (void)state;
  idm_problem *p = small();
  idm_pomdp_rewards *rewards;
  double found[4];
  check(idm_pomdp_rewards_create(&rewards, &support_error));
  for (uint32_t x = 1; x <= 3; x++) set(rewards, (idm_pomdp_rule_key){ANY, ANY, ANY, x}, 0.3);
  check(idm_pomdp_rewards_expect(rewards, p->setting, found, &support_error));
  for (size_t i = 0; i < 4; i++) assert_true(found[i] == 0.3);
  idm_pomdp_rewards_destroy(rewards);
  idm_problem_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rewards_by_hand), cmocka_unit_test(test_rewards_against_brute_force),
      cmocka_unit_test(test_large),           cmocka_unit_test(test_store),
      cmocka_unit_test(test_constant),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
