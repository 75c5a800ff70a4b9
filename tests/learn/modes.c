/* Modes of dynamics: evidence against that of complete data, ends of a search that are one mode or
 * two, and the modes in which chains start. */
#include "learn/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/bits_support.h"
#include "learn/textbook_support.h"
#include "support.h"

typedef struct scene {
  idm_problem *problem;
  idm_data *data;
  idm_iohmm *learner;
  idm_learn_settings settings;
  idm_learn_result learnt;
} scene;

/* A log of two bits; in the first `copied` pairs the second trajectory is the first with its bits
 * exchanged. If all pairs are copied, the posterior is symmetric in the bits. */
static idm_data *simulate_bits(size_t pairs, size_t copied, size_t rows)
{
  idm_data *data = bits_simulate(0.8, 0.8, 2 * pairs, rows, 3);
  for (size_t i = 0; i < 2 * copied; i += 2)
    for (size_t r = 0; r < rows; r++) {
      const int32_t seen = data->observation[data->first[i] + r];
      data->observation[data->first[i + 1] + r] = seen == 1 ? 2 : seen == 2 ? 1 : seen;
    }
  return data;
}

static scene open_scene(const char *yaml, idm_data *data)
{
  scene s = {.problem = support_yaml(yaml), .data = data};
  idm_learn_settings_default(&s.settings);
  s.settings.starts = 10;
  s.settings.repeats = 3;
  s.settings.chains = 4;
  s.settings.warmup = 200;
  s.settings.draws = 1000;
  check(idm_iohmm_create(s.problem, data, 0, s.settings.hold, &s.learner, &support_error));
  check(idm_learn(s.learner, s.problem, &s.settings, NULL, NULL, &s.learnt, &support_error));
  return s;
}

static void close_scene(scene *s)
{
  idm_learn_result_clear(&s->learnt);
  idm_iohmm_destroy(s->learner);
  idm_data_destroy(s->data);
  idm_problem_destroy(s->problem);
}

static double log_marginal(double prior, double one, double other)
{
  return lgamma(prior + one) + lgamma(prior + other) - 2 * lgamma(prior) + lgamma(2 * prior) -
         lgamma(2 * prior + one + other);
}

/* If observations and the start reveal the states, the evidence is exact: a product of
 * Dirichlet-multinomials over the transitions from a, those from b, and the emissions of b. */
static void test_complete(void **state)
{
  (void)state;
  static const char yaml[] =
      "states: [a, b]\nactions: [look]\nobservations: [low, high, clear]\nstart: [0.5, 0.5]\n"
      "discount: 0.9\ntransition: {look: [[0.7, 0.3], [0.4, 0.6]]}\n"
      "observation: {look: [[1, 0, 0], [0, 0.7, 0.3]]}\nutility: {look: 0}\n";
  const double prior = 1.3;
  double moves[2][2] = {{0}}, shown[3] = {0};
  idm_problem *problem = support_yaml(yaml);
  idm_dynamics *d;
  idm_iohmm *learner;
  smoother *p;
  check(idm_problem_dynamics(problem, &d, &support_error));
  idm_data *data = textbook_simulate(d, false, 5, 6, 0, 5);
  data->start_belief = calloc(2, sizeof *data->start_belief);
  assert_non_null(data->start_belief);
  data->start_belief[0] = 1;
  data->starts = 1;
  for (size_t i = 0; i < data->trajectories; i++) {
    int from = 0;
    data->start[i] = 0;
    for (size_t r = data->first[i]; r < data->first[i + 1]; r++) {
      const int to = data->observation[r] > 0;
      moves[from][to]++;
      shown[data->observation[r]]++;
      from = to;
    }
  }
  check(idm_iohmm_create(problem, data, 0, IDM_LEARN_FIX_NOTHING, &learner, &support_error));
  check(smoother_create(learner, &p, &support_error));
  assert_near(modes_log_evidence(p, prior, d),
              log_marginal(prior, moves[0][0], moves[0][1]) +
                  log_marginal(prior, moves[1][0], moves[1][1]) +
                  log_marginal(prior, shown[1], shown[2]),
              1e-10);
  assert_near(modes_divergence(learner->structure, p->counts, d->start, d->start), 0, 1e-12);
  smoother_destroy(p);
  idm_iohmm_destroy(learner);
  idm_data_destroy(data);
  idm_dynamics_destroy(d);
  idm_problem_destroy(problem);
}

/* Share of the draws whose states follow the first bit, under either labelling: one state shows ll
 * and lh. */
static idm_diagnosis first_bit(const idm_dynamics_draws *d)
{
  const size_t all = d->chains * d->draws;
  static const char *const names[] = {"observation[look,a,ll]", "observation[look,a,lh]",
                                      "observation[look,a,hl]"};
  const double *shown[3] = {NULL, NULL, NULL};
  double *follows = malloc(all * sizeof *follows);
  idm_diagnosis found;
  assert_non_null(follows);
  for (size_t k = 0; k < d->numbers; k++)
    for (size_t i = 0; i < 3; i++)
      if (strcmp(d->name.name[k], names[i]) == 0) shown[i] = d->value + k * all;
  assert_true(shown[0] && shown[1] && shown[2]);
  for (size_t i = 0; i < all; i++)
    follows[i] = fabs(shown[0][i] + shown[1][i] - 0.5) > fabs(shown[0][i] + shown[2][i] - 0.5);
  check(idm_diagnose(follows, d->chains, d->draws, d->draws, 1, &found, &support_error));
  free(follows);
  return found;
}

/* 3,000 observations, for which the mode of one bit and that of the other have half of the
 * posterior each. */
static void test_mirror(void **state)
{
  (void)state;
  scene s = open_scene(bits_second, simulate_bits(75, 75, 20));
  idm_dynamics_draws draws;
  const idm_modes *modes = &s.learnt.modes;
  assert_int_equal(modes->count, 2);
  assert_near(modes->log_evidence[0], modes->log_evidence[1], 1e-3);
  check(
      idm_learn_draw(s.learner, s.problem, modes, &s.settings, NULL, NULL, &draws, &support_error));
  const idm_diagnosis found = first_bit(&draws);
  print_message("  %.4f +- %.4f, R-hat %.3f, %zu moves of %zu draws\n", found.mean, found.mcse_mean,
                found.rhat, draws.moves, draws.chains * draws.draws);
  assert_near(found.mean, 0.5, 4 * found.mcse_mean);
  assert_true(found.rhat < 1.01);
  assert_true(found.mcse_mean < 0.03);
  idm_dynamics_draws_clear(&draws);
  close_scene(&s);
}

/* With some uncopied pairs one bit is favoured; the share of the draws is that of the evidence. */
static void test_uneven(void **state)
{
  (void)state;
  scene s = open_scene(bits_second, simulate_bits(40, 34, 10));
  idm_dynamics_draws draws;
  const idm_modes *modes = &s.learnt.modes;
  assert_int_equal(modes->count, 2);
  check(
      idm_learn_draw(s.learner, s.problem, modes, &s.settings, NULL, NULL, &draws, &support_error));
  const double odds = modes->log_evidence[0] - modes->log_evidence[1];
  const double drawn = log(draws.share[0] / draws.share[1]);
  print_message("  log odds by Cheeseman and Stutz %.3f, of the draws %.3f\n", odds, drawn);
  assert_true(fabs(odds) > 0.5);
  assert_near(drawn, odds, 1);
  idm_dynamics_draws_clear(&draws);
  close_scene(&s);
}

/* Ends of the search far below the best, which chains would not visit, are not modes. */
static void test_one_mode(void **state)
{
  (void)state;
  static const char yaml[] =
      "states: [a, b]\nactions: [look]\nobservations: [low, high]\nstart: [0.6, 0.4]\n"
      "discount: 0.9\ntransition: {'*': [[0.9, 0.1], [0.2, 0.8]]}\n"
      "observation: {'*': [[0.9, 0.1], [0.15, 0.85]]}\nutility: {look: 0}\n";
  idm_problem *problem = support_yaml(yaml);
  idm_dynamics *d;
  check(idm_problem_dynamics(problem, &d, &support_error));
  scene s = open_scene(yaml, textbook_simulate(d, false, 200, 10, 0, 5));
  assert_int_equal(s.learnt.modes.count, 1);
  assert_true(s.learnt.starts == 10 && s.learnt.met < 10);
  close_scene(&s);
  idm_dynamics_destroy(d);
  idm_problem_destroy(problem);
}

static void test_starts(void **state)
{
  (void)state;
  double evidence[] = {-100, -101, -109, -100.5};
  const idm_modes modes = {4, NULL, evidence};
  static const size_t expected[] = {0, 1, 3, 0, 1, 3};
  for (size_t c = 0; c < 6; c++) assert_int_equal(modes_start(&modes, c), expected[c]);
  assert_int_equal(modes_start(&(idm_modes){1, NULL, NULL}, 5), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_complete), cmocka_unit_test(test_mirror),
                                     cmocka_unit_test(test_uneven), cmocka_unit_test(test_one_mode),
                                     cmocka_unit_test(test_starts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
