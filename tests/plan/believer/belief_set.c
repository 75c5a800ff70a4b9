/* Tests weighted sets of hypotheses: growth, merging of equal beliefs in any order against a
 * quadratic algorithm, and the origins of weights. */
#include "plan/believer/believer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static belief_set started(size_t states)
{
  belief_set set;
  check(idm_belief_set_init(&set, states, 3, 6, &support_error));
  assert_int_equal(set.count, 0);
  return set;
}

static void add(belief_set *set, double weight, const double *belief)
{
  check(idm_belief_set_add(set, weight, belief, NULL, IDM_MISSING, &support_error));
}

/* Index of the belief within the tolerance of z; fails unless there is exactly one. */
static size_t find(const belief_set *set, const double *z)
{
  size_t found = SIZE_MAX;
  for (size_t i = 0; i < set->count; i++) {
    double far = 0;
    for (size_t s = 0; s < set->states; s++)
      far = fmax(far, fabs(set->belief[i * set->states + s] - z[s]));
    if (far > 1e-12) continue;
    assert_true(found == SIZE_MAX);
    found = i;
  }
  assert_true(found != SIZE_MAX);
  return found;
}

static void beliefs_are_copied_in_order(void **state)
{
  (void)state;
  belief_set set = started(3);
  for (int i = 0; i < 1000; i++) {
    double z[3] = {i / 1000.0, 1 - i / 1000.0, 0};
    add(&set, i, z);
    z[0] = NAN; /* the set has a copy */
  }
  assert_int_equal(set.count, 1000);
  assert_true(set.capacity >= 1000);
  for (size_t i = 0; i < 1000; i++) {
    assert_true(set.weight[i] == (double)i);
    assert_true(set.belief[3 * i] == (double)i / 1000.0 && set.belief[3 * i + 2] == 0);
  }
  /* Memory for the policies grows on request. */
  check(idm_belief_set_decide(&set, &support_error));
  for (size_t i = 0; i < 1000; i++) {
    for (int u = 0; u < 3; u++) set.decision[3 * i + (size_t)u] = 1;
    for (int j = 0; j < 6; j++) set.specification[6 * i + (size_t)j] = 1;
  }
  idm_belief_set_free(&set);
}

static void equal_beliefs_merge_and_weights_sum_to_one(void **state)
{
  (void)state;
  belief_set set = started(2);
  add(&set, 1, (double[]){0.3, 0.7});
  add(&set, 2, (double[]){0.9, 0.1});
  add(&set, 3, (double[]){0.3 + 1e-13, 0.7 - 1e-13});
  add(&set, 4, (double[]){0.3 + 1e-10, 0.7 - 1e-10}); /* a different belief */
  assert_true(idm_belief_set_normalise(&set) > 0);
  assert_int_equal(set.count, 3);
  assert_near(set.weight[find(&set, (double[]){0.3, 0.7})], 0.4, 1e-15);
  assert_near(set.weight[find(&set, (double[]){0.9, 0.1})], 0.2, 1e-15);
  assert_near(set.weight[find(&set, (double[]){0.3 + 1e-10, 0.7 - 1e-10})], 0.4, 1e-15);
  /* A second normalisation changes nothing. */
  assert_true(idm_belief_set_normalise(&set) > 0);
  assert_int_equal(set.count, 3);
  /* The set can still be added to. */
  add(&set, 1, (double[]){0.9, 0.1});
  assert_true(idm_belief_set_normalise(&set) > 0);
  assert_int_equal(set.count, 3);
  assert_near(set.weight[find(&set, (double[]){0.9, 0.1})], 0.6, 1e-15);
  idm_belief_set_free(&set);
}

/* A difference in any coordinate separates beliefs, including the last. */
static void every_coordinate_counts(void **state)
{
  (void)state;
  belief_set set = started(4);
  add(&set, 1, (double[]){0.25, 0.25, 0.25, 0.25});
  add(&set, 1, (double[]){0.25, 0.25, 0.2, 0.3});
  add(&set, 1, (double[]){0.25, 0.2, 0.25, 0.3});
  add(&set, 1, (double[]){0.2, 0.25, 0.25, 0.3});
  add(&set, 1, (double[]){0.25, 0.25, 0.2, 0.3});
  assert_true(idm_belief_set_normalise(&set) > 0);
  assert_int_equal(set.count, 4);
  assert_near(set.weight[find(&set, (double[]){0.25, 0.25, 0.2, 0.3})], 0.4, 1e-15);
  idm_belief_set_free(&set);
}

static void weights_that_sum_to_zero_are_told(void **state)
{
  (void)state;
  belief_set set = started(2);
  assert_true(!(idm_belief_set_normalise(&set) > 0)); /* empty */
  add(&set, 0, (double[]){0.3, 0.7});
  assert_true(!(idm_belief_set_normalise(&set) > 0));
  add(&set, 0, (double[]){0.3, 0.7});
  add(&set, 0, (double[]){0.6, 0.4});
  assert_true(!(idm_belief_set_normalise(&set) > 0));
  add(&set, NAN, (double[]){0.8, 0.2});
  assert_true(!(idm_belief_set_normalise(&set) > 0));
  set.count = 0; /* reused */
  add(&set, 0, (double[]){0.3, 0.7});
  add(&set, 1e-300, (double[]){0.6, 0.4});
  assert_true(idm_belief_set_normalise(&set) > 0);
  assert_near(set.weight[find(&set, (double[]){0.6, 0.4})], 1, 0);
  idm_belief_set_free(&set);
}

/* Beliefs near a corner are separated by their small coordinates. */
static void small_coordinates_keep_beliefs_apart(void **state)
{
  (void)state;
  belief_set set = started(2);
  add(&set, 1, (double[]){1, 1e-14});
  add(&set, 1, (double[]){1, 2e-14});
  add(&set, 1, (double[]){1, 1e-14 * (1 + 1e-14)});
  assert_near(idm_belief_set_normalise(&set), 3, 0);
  assert_int_equal(set.count, 2);
  idm_belief_set_free(&set);
}

/* If the environment is tracked, the same belief of the agent with two beliefs of the environment
 * is two hypotheses. */
static void worlds_tell_hypotheses_apart(void **state)
{
  (void)state;
  const double z[2] = {0.3, 0.7}, one[2] = {0.2, 0.8}, other[2] = {0.6, 0.4};
  for (int tracks_environment = 0; tracks_environment < 2; tracks_environment++) {
    belief_set set = started(2);
    set.tracks_environment = tracks_environment;
    const double *const worlds[] = {one, other, one, other};
    for (int i = 0; i < 4; i++)
      check(idm_belief_set_add(&set, i + 1, z, worlds[i], IDM_MISSING, &support_error));
    assert_near(idm_belief_set_normalise(&set), 10, 0);
    assert_int_equal(set.count, tracks_environment ? 2 : 1);
    if (tracks_environment) {
      assert_memory_equal(set.env_belief, one, sizeof one);
      assert_memory_equal(set.env_belief + 2, other, sizeof other);
      assert_near(set.weight[0], 0.4, 1e-15);
    }
    idm_belief_set_free(&set);
  }
}

/* More arrivals than the maximum are accepted as long as few are different; origins point to the
 * hypothesis that received the weight. */
static void crowds_merge_on_the_way_and_origins_follow(void **state)
{
  (void)state;
  const size_t kinds = 1000, arrivals = 5 * (size_t)BELIEF_SET_MAX;
  belief_set set = started(2);
  set.keeps_origins = true;
  double *sum = calloc(kinds, sizeof *sum);
  assert_non_null(sum);
  for (size_t i = 0; i < arrivals; i++) {
    const size_t kind = i * 7919 % kinds;
    const double part = (double)(kind + 1) / (double)(kinds + 1);
    add(&set, 1 + (double)(i % 3), (double[]){part, 1 - part});
    check(idm_belief_set_trace(&set, (belief_origin){.parent = (uint32_t)kind}, &support_error));
  }
  assert_true(set.count < arrivals);
  const double total = idm_belief_set_normalise(&set);
  assert_int_equal(set.count, kinds);
  assert_int_equal(set.origins, arrivals);
  for (size_t i = 0; i < arrivals; i++) {
    const belief_origin *origin = &set.origin[i];
    const double part = (double)(origin->parent + 1) / (double)(kinds + 1);
    assert_true(set.belief[2 * origin->target] == part);
    sum[origin->target] += origin->weight;
  }
  for (size_t i = 0; i < kinds; i++) assert_near(sum[i] / total, set.weight[i], 1e-12);
  free(sum);
  idm_belief_set_free(&set);
}

/* --- random sets against a quadratic merge -------------------------------------------------- */

enum { DISTINCT = 700, DRAWN = 6000 };

typedef struct sample {
  double weight;
  double belief[4];
} sample;

/* Beliefs with repetitions, some perturbed by rounding. Coordinates are drawn from few values, so
 * that many share their first ones. */
static void draw(idm_random *random, size_t states, size_t first, sample *samples)
{
  double base[DISTINCT][4];
  for (size_t i = 0; i < DISTINCT; i++) {
    double left = 1;
    for (size_t s = 0; s + 1 < states; s++) {
      base[i][s] = first ? floor((double)first * idm_random_uniform(random)) / (double)first * left
                         : left * idm_random_uniform(random);
      left -= base[i][s];
    }
    base[i][states - 1] = left;
  }
  for (size_t j = 0; j < DRAWN; j++) {
    const size_t i = (size_t)(DISTINCT * idm_random_uniform(random));
    samples[j].weight = idm_random_uniform(random) < 0.1 ? 0 : idm_random_uniform(random);
    for (size_t s = 0; s < states; s++)
      samples[j].belief[s] = base[i][s] * (1 + 2e-13 * (idm_random_uniform(random) - 0.5));
  }
}

static bool equal(const double *a, const double *b, size_t states)
{
  for (size_t s = 0; s < states; s++)
    if (fabs(a[s] - b[s]) > 1e-12 * fmax(a[s], b[s])) return false;
  return true;
}

/* Merges in place. Returns the number of remaining beliefs. Weights are scaled to sum to 1. */
static size_t plain_merge(sample *samples, size_t count, size_t states)
{
  size_t kept = 0;
  double total = 0;
  for (size_t j = 0; j < count; j++) {
    size_t i = 0;
    while (i < kept && !equal(samples[i].belief, samples[j].belief, states)) i++;
    total += samples[j].weight;
    if (i < kept)
      samples[i].weight += samples[j].weight;
    else
      samples[kept++] = samples[j];
  }
  for (size_t i = 0; i < kept; i++) samples[i].weight /= total;
  return kept;
}

static void shuffle(idm_random *random, sample *samples, size_t count)
{
  for (size_t j = count; j-- > 1;) {
    const size_t i = (size_t)((double)(j + 1) * idm_random_uniform(random));
    const sample one = samples[i];
    samples[i] = samples[j];
    samples[j] = one;
  }
}

static void thousands_of_beliefs_merge_as_they_should(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 71, 0);
  sample *samples = calloc(DRAWN, sizeof *samples), *merged = calloc(DRAWN, sizeof *merged);
  assert_true(samples && merged);
  for (int round = 0; round < 12; round++) {
    const size_t states = 2 + (size_t)round % 3;
    draw(&random, states, round < 6 ? 0 : 5, samples);
    memcpy(merged, samples, DRAWN * sizeof *merged);
    const size_t count = plain_merge(merged, DRAWN, states);
    /* The order of arrival has no effect. */
    for (int order = 0; order < 3; order++) {
      belief_set set = started(states);
      for (size_t j = 0; j < DRAWN; j++) add(&set, samples[j].weight, samples[j].belief);
      assert_true(idm_belief_set_normalise(&set) > 0);
      assert_int_equal(set.count, count);
      double total = 0;
      for (size_t i = 0; i < count; i++) {
        assert_near(set.weight[find(&set, merged[i].belief)], merged[i].weight, 1e-14);
        total += set.weight[i];
      }
      assert_near(total, 1, 1e-12);
      idm_belief_set_free(&set);
      shuffle(&random, samples, DRAWN);
    }
  }
  free(samples);
  free(merged);
}

/* First coordinates that differ by a fraction of the tolerance, in a chain. Equality within a
 * tolerance is not transitive, so a sort by it would leave identical beliefs separated. */
static void chains_of_near_beliefs_leave_no_twins(void **state)
{
  (void)state;
  const double near[3][3] = {{.3, .10, .6}, {.3 + .7e-12, .05, .65}, {.3 + 1.4e-12, .01, .69}};
  idm_random random;
  idm_random_init(&random, 71, 0);
  for (int n = 0; n < 500; n++) {
    belief_set set;
    check(idm_belief_set_init(&set, 3, 1, 1, &support_error));
    for (int i = 0; i < 12; i++) add(&set, 1, near[(int)(3 * idm_random_uniform(&random))]);
    assert_true(idm_belief_set_normalise(&set) > 0);
    assert_true(set.count <= 3);
    for (size_t i = 0; i < set.count; i++)
      for (size_t j = 0; j < i; j++)
        assert_memory_not_equal(set.belief + 3 * i, set.belief + 3 * j, 3 * sizeof(double));
    idm_belief_set_free(&set);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(beliefs_are_copied_in_order),
      cmocka_unit_test(equal_beliefs_merge_and_weights_sum_to_one),
      cmocka_unit_test(every_coordinate_counts),
      cmocka_unit_test(weights_that_sum_to_zero_are_told),
      cmocka_unit_test(small_coordinates_keep_beliefs_apart),
      cmocka_unit_test(worlds_tell_hypotheses_apart),
      cmocka_unit_test(crowds_merge_on_the_way_and_origins_follow),
      cmocka_unit_test(thousands_of_beliefs_merge_as_they_should),
      cmocka_unit_test(chains_of_near_beliefs_leave_no_twins),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
