/* Learning of dynamics: monotone EM, zeros and ties kept, states ordered, the truth recovered;
 * cross-validation finds the number of states; posterior draws against known posteriors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/textbook_support.h"
#include "support.h"

/* Three persistent states and two actions, the second more informative. Zeros: a never leads to c
 * nor c to a, and the first action never shows `high`. */
static const char clinic[] =
    "states: [a, b, c]\nactions: [look, test]\nobservations: [low, middle, high]\n"
    "start: [0.5, 0.3, 0.2]\ndiscount: 0.9\n"
    "transition: {'*': [[0.9, 0.1, 0], [0.1, 0.8, 0.1], [0, 0.1, 0.9]]}\n"
    "observation: {look: [[0.8, 0.2, 0], [0.5, 0.5, 0], [0.2, 0.8, 0]],\n"
    "              test: [[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]]}\n"
    "utility: {look: 0, test: -1}\n";

static idm_data *simulate(const idm_problem *problem, size_t trajectories, size_t rows,
                          uint64_t seed)
{
  idm_dynamics *truth;
  check(idm_problem_dynamics(problem, &truth, &support_error));
  idm_data *data =
      textbook_simulate(truth, problem->setting->emits_before, trajectories, rows, 0.05, seed);
  idm_dynamics_destroy(truth);
  return data;
}

static idm_learn_result learn(const idm_problem *problem, const idm_data *data,
                              idm_iohmm **ret_learner, idm_learn_settings settings)
{
  idm_learn_result learnt;
  check(idm_iohmm_create(problem, data, 0, settings.hold, ret_learner, &support_error));
  check(idm_learn(*ret_learner, problem, &settings, NULL, NULL, &learnt, &support_error));
  return learnt;
}

static void check_monotone(const idm_learn_result *learnt)
{
  for (size_t i = 1; i < learnt->steps; i++) assert_true(learnt->trace[i] >= learnt->trace[i - 1]);
  assert_true(learnt->trace[learnt->steps - 1] == learnt->objective);
}

/* Posterior draws of the dynamics, from chains long enough for a 90 % interval. */
static void draw_dynamics(const idm_problem *problem, const idm_data *data,
                          idm_dynamics_draws *draws)
{
  idm_learn_settings settings;
  idm_iohmm *learner;
  idm_learn_settings_default(&settings);
  settings.chains = 2;
  settings.warmup = 200;
  settings.draws = 2000;
  idm_learn_result learnt = learn(problem, data, &learner, settings);
  check(idm_learn_draw(learner, problem, &learnt.modes, &settings, NULL, NULL, draws,
                       &support_error));
  idm_learn_result_clear(&learnt);
  idm_iohmm_destroy(learner);
}

/* Each of the 25 numbers is within four posterior sds of the truth, by Gibbs and by Baum-Welch
 * (fails by chance at one of 600 seeds), and at least 18 of their 90 % intervals contain it (fewer
 * at one of 440 seeds, if independent). */
static void check_truth(const idm_dynamics_draws *draws, const idm_dynamics *truth,
                        const idm_dynamics *learnt)
{
  const size_t all = draws->chains * draws->draws;
  size_t held = 0;
  assert_int_equal(draws->numbers, 25);
  for (size_t k = 0; k < draws->numbers; k++) {
    idm_diagnosis found;
    const double exact = truth->start[draws->place[k]];
    check(idm_diagnose(draws->value + k * all, draws->chains, draws->draws, draws->draws, 1, &found,
                       &support_error));
    assert_true(fabs(found.mean - exact) < 4 * found.sd);
    assert_true(fabs(learnt->start[draws->place[k]] - exact) < 4 * found.sd);
    held += found.q05 <= exact && exact <= found.q95;
  }
  assert_true(held >= 18);
}

/* From the file and from random starts: the objective never decreases, zeros stay, the tied matrix
 * is common, and the truth is recovered within its error; validation/learn.py counts intervals over
 * many cohorts. */
static void test_recovery(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(clinic);
  idm_data *data = simulate(problem, 400, 8, 3);
  idm_dynamics *truth;
  idm_dynamics_draws draws;
  check(idm_problem_dynamics(problem, &truth, &support_error));
  draw_dynamics(problem, data, &draws);
  for (int random = 0; random < 2; random++) {
    idm_learn_settings settings;
    idm_iohmm *learner;
    idm_learn_settings_default(&settings);
    settings.start = random ? IDM_LEARN_FROM_RANDOM : IDM_LEARN_FROM_FILE;
    settings.starts = random ? 6 : 1;
    idm_learn_result learnt = learn(problem, data, &learner, settings);
    assert_true(learnt.converged);
    check_monotone(&learnt);
    for (size_t i = 0; i < truth->numbers; i++)
      if (truth->start[i] == 0) assert_true(learnt.dynamics->start[i] == 0);
    assert_memory_equal(learnt.dynamics->transition, learnt.dynamics->transition + 9,
                        9 * sizeof(double));
    check_truth(&draws, truth, learnt.dynamics);
    idm_learn_result_clear(&learnt);
    idm_iohmm_destroy(learner);
  }
  idm_dynamics_draws_clear(&draws);
  idm_dynamics_destroy(truth);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A fixed start is kept; a free one is learnt. */
static void test_hold(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(clinic);
  idm_data *data = simulate(problem, 200, 5, 4);
  problem->setting->start[0] = 0.2;
  problem->setting->start[2] = 0.5;
  for (int held = 0; held < 2; held++) {
    idm_learn_settings settings;
    idm_iohmm *learner;
    idm_learn_settings_default(&settings);
    settings.hold = held ? IDM_LEARN_FIX_START : IDM_LEARN_FIX_NOTHING;
    idm_learn_result learnt = learn(problem, data, &learner, settings);
    assert_true((learnt.dynamics->start[0] == 0.2) == held);
    idm_learn_result_clear(&learnt);
    idm_iohmm_destroy(learner);
  }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Relabelling: states of a random start are ordered by their observations, whatever their names in
 * the file; permuted observations permute columns only. */
static const char two[] =
    "states: [a, b]\nactions: [look]\nobservations: [low, high]\nstart: [0.6, 0.4]\ndiscount: 0.9\n"
    "transition: {'*': [[0.85, 0.15], [0.3, 0.7]]}\n"
    "observation: {'*': [[0.9, 0.1], [0.2, 0.8]]}\nutility: {look: 0}\n";

static void test_order(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(two);
  idm_data *data = simulate(problem, 800, 6, 5);
  idm_learn_settings settings;
  idm_iohmm *learner;
  idm_learn_settings_default(&settings);
  settings.start = IDM_LEARN_FROM_RANDOM;
  settings.starts = 3;
  idm_learn_result first = learn(problem, data, &learner, settings);
  assert_true(first.dynamics->emission[0] > first.dynamics->emission[2]);
  idm_iohmm_destroy(learner);
  /* With the observations exchanged, the other state comes first. */
  for (size_t r = 0; r < data->rows; r++)
    if (data->observation[r] != IDM_MISSING) data->observation[r] = 1 - data->observation[r];
  idm_learn_result second = learn(problem, data, &learner, settings);
  assert_near(second.log_likelihood, first.log_likelihood, 1e-6);
  assert_near(second.dynamics->emission[0], first.dynamics->emission[3], 1e-3);
  assert_near(second.dynamics->transition[0], first.dynamics->transition[3], 1e-2);
  idm_learn_result_clear(&first);
  idm_learn_result_clear(&second);
  idm_iohmm_destroy(learner);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Rounds of starts continue, at most three, until enough of them reach the best, for any number of
 * threads. States of random starts have the file's order, here decreasing. */
static void test_rounds(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(two);
  idm_data *data = simulate(problem, 300, 6, 5);
  static const double turned[] = {0.2, 0.8, 0.9, 0.1};
  memcpy(problem->setting->emission, turned, sizeof turned);
  idm_learn_settings settings;
  idm_iohmm *learner;
  idm_learn_settings_default(&settings);
  settings.starts = 2;
  settings.repeats = 4;
  idm_learn_result few = learn(problem, data, &learner, settings);
  assert_int_equal(few.starts, 4);
  assert_int_equal(few.met, 4);
  assert_int_equal(few.best, 0); /* the file's start, equal to the others */
  idm_iohmm_destroy(learner);
  settings.repeats = 7;
  settings.threads = settings.threads == 1 ? 2 : 1;
  idm_learn_result all = learn(problem, data, &learner, settings);
  assert_int_equal(all.starts, 6);
  assert_memory_equal(all.reached, few.reached, 4 * sizeof(double));
  idm_iohmm_destroy(learner);
  /* A nearly uninformative first start is worse than random ones. */
  static const double void_of[] = {0.5, 0.5, 0.5 + 1e-9, 0.5 - 1e-9};
  memcpy(problem->setting->emission, void_of, sizeof void_of);
  settings.iterations = 60;
  idm_learn_result other = learn(problem, data, &learner, settings);
  assert_true(other.best > 0);
  assert_true(other.dynamics->emission[0] < other.dynamics->emission[2]);
  idm_learn_result_clear(&few);
  idm_learn_result_clear(&all);
  idm_learn_result_clear(&other);
  idm_iohmm_destroy(learner);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* One zero distinguishes all states but hardly affects the likelihood: random starts end at modes
 * that differ in labels only. They get the file's labels, and are one mode. */
static void test_names(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: [a, b, c]\nactions: [go]\nobservations: [x, y, z]\ndiscount: 0.9\n"
                   "start: [0.4, 0.3, 0.3]\n"
                   "transition: {go: [[0.95, 0.04, 0.01], [0.05, 0.9, 0.05], [0, 0.03, 0.97]]}\n"
                   "observation: {go: [[0.85, 0.1, 0.05], [0.1, 0.8, 0.1], [0.05, 0.1, 0.85]]}\n"
                   "utility: {go: 0}\n");
  idm_data *data = simulate(problem, 150, 12, 8);
  idm_learn_settings settings;
  idm_iohmm *learner;
  idm_learn_settings_default(&settings);
  settings.starts = 10;
  idm_learn_result learnt = learn(problem, data, &learner, settings);
  assert_int_equal(learnt.modes.count, 1);
  assert_true(learnt.renamed > 0);
  for (size_t i = 0; i < 3; i++) assert_true(learnt.dynamics->emission[4 * i] > 0.7);
  idm_learn_result_clear(&learnt);
  idm_iohmm_destroy(learner);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A file with identical states is refused, because no EM step would separate them. */
static void test_alike(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(two);
  idm_data *data = simulate(problem, 20, 4, 6);
  idm_iohmm *learner;
  idm_learn_result learnt;
  idm_learn_settings settings;
  idm_error error = {0};
  idm_learn_settings_default(&settings);
  for (size_t i = 0; i < 4; i++)
    problem->setting->transition[i] = problem->setting->emission[i] = 0.5;
  problem->setting->start[0] = problem->setting->start[1] = 0.5;
  check(idm_iohmm_create(problem, data, 0, settings.hold, &learner, &support_error));
  assert_int_equal(idm_learn(learner, problem, &settings, NULL, NULL, &learnt, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "--start random"));
  idm_iohmm_destroy(learner);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Held out, two states predict better than one, and three no better than two beyond chance. */
static void test_folds(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(two);
  idm_data *data = simulate(problem, 600, 6, 7);
  const size_t states[] = {1, 2, 3};
  idm_cross_validation cv_result[3];
  idm_learn_settings settings;
  idm_learn_settings_default(&settings);
  settings.starts = 2;
  settings.folds = 3;
  check(idm_learn_cross_validate(problem, data, states, 3, false, &settings, NULL, NULL, cv_result,
                                 &support_error));
  assert_true(cv_result[1].mean > cv_result[0].mean + 4 * cv_result[0].difference_error);
  assert_true(cv_result[2].mean <
              cv_result[1].mean + 2 * fabs(cv_result[1].difference_error) + 1e-3);
  assert_true(cv_result[0].error > 0 && cv_result[0].error < 0.05);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* With observed states the posterior is known: Dirichlet(prior + counts). */
static const char seen[] =
    "states: [a, b]\nactions: [stay, go]\nobservations: states\nstart: a\ndiscount: 0.9\n"
    "transition: {stay: [[0.7, 0.3], [0.4, 0.6]], go: [[0.5, 0.5], [0.5, 0.5]]}\n"
    "utility: {stay: 0, go: -1}\n";

static void test_draws(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(seen);
  idm_data *data = simulate(problem, 30, 4, 8);
  for (size_t r = 0; r < data->rows; r++)
    if (data->observation[r] == IDM_MISSING) data->observation[r] = 0;
  idm_learn_settings settings;
  idm_iohmm *learner;
  idm_dynamics_draws draws;
  idm_learn_settings_default(&settings);
  settings.draws = 4000;
  settings.warmup = 10;
  settings.chains = 2;
  idm_learn_result learnt = learn(problem, data, &learner, settings);
  check(idm_learn_draw(learner, problem, &learnt.modes, &settings, NULL, NULL, &draws,
                       &support_error));
  double count[2][2][2] = {{{0}}};
  for (size_t i = 0; i < data->trajectories; i++) {
    size_t s = 0;
    for (size_t r = data->first[i]; r < data->first[i + 1]; r++) {
      const size_t t = (size_t)data->observation[r];
      count[data->action[r]][s][t]++;
      s = t;
    }
  }
  const size_t all = draws.chains * draws.draws;
  assert_int_equal(draws.numbers, 8);
  for (size_t k = 0; k < draws.numbers; k++) {
    const size_t at = draws.place[k] - 2;
    const double *c = count[at / 4][at / 2 % 2];
    const double a = settings.prior + c[at % 2], b = settings.prior + c[1 - at % 2];
    double mean = 0, square = 0;
    for (size_t i = 0; i < all; i++) {
      mean += draws.value[k * all + i] / (double)all;
      square += draws.value[k * all + i] * draws.value[k * all + i] / (double)all;
    }
    const double sd = sqrt(a * b / ((a + b) * (a + b) * (a + b + 1)));
    assert_true(fabs(mean - a / (a + b)) < 5 * sd / sqrt((double)all));
    assert_true(fabs(sqrt(square - mean * mean) / sd - 1) < 0.06);
  }
  assert_string_equal(draws.name.name[0], "transition[stay,a,a]");
  /* The number of threads has no effect. */
  idm_dynamics_draws again;
  settings.threads = settings.threads == 1 ? 2 : 1;
  check(idm_learn_draw(learner, problem, &learnt.modes, &settings, NULL, NULL, &again,
                       &support_error));
  assert_memory_equal(draws.value, again.value, draws.numbers * all * sizeof(double));
  idm_dynamics_draws_clear(&again);
  idm_dynamics_draws_clear(&draws);
  idm_learn_result_clear(&learnt);
  idm_iohmm_destroy(learner);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void draw_rows(idm_random *random, double prior, double *p, size_t rows)
{
  for (size_t r = 0; r < rows; r++) {
    const double a = idm_random_gamma(random, prior), b = idm_random_gamma(random, prior);
    p[2 * r] = a / (a + b);
    p[2 * r + 1] = b / (a + b);
  }
}

/* Hidden states, little data: the posterior mean and sd of the log-likelihood, which is invariant
 * under relabelling, by weighted draws of the prior. */
static void test_hidden_draws(void **state)
{
  (void)state;
  enum { points = 100000 };
  idm_problem *problem = support_yaml(two);
  idm_data *data = simulate(problem, 12, 4, 9);
  idm_learn_settings settings;
  idm_iohmm *learner;
  idm_dynamics_draws draws;
  idm_dynamics *d;
  idm_diagnosis found;
  idm_random random;
  idm_random_init(&random, 1, 1);
  idm_learn_settings_default(&settings);
  settings.draws = 5000;
  idm_learn_result learnt = learn(problem, data, &learner, settings);
  check(idm_learn_draw(learner, problem, &learnt.modes, &settings, NULL, NULL, &draws,
                       &support_error));
  check(idm_diagnose(draws.log_likelihood, draws.chains, draws.draws, draws.draws, 1, &found,
                     &support_error));
  check(idm_dynamics_create(learnt.dynamics->sizes, &d, &support_error));
  double weight = 0, mean = 0, square = 0;
  for (int i = 0; i < points; i++) {
    double height;
    draw_rows(&random, settings.prior, d->start, 5);
    check(idm_iohmm_log_likelihood(learner, d, &height, NULL, &support_error));
    const double w = exp(height - learnt.log_likelihood);
    weight += w;
    mean += w * height;
    square += w * height * height;
  }
  mean /= weight;
  const double sd = sqrt(square / weight - mean * mean);
  assert_true(found.rhat < 1.02);
  assert_true(fabs(found.mean - mean) < 5 * found.mcse_mean + 0.05 * sd);
  assert_true(fabs(found.sd / sd - 1) < 0.1);
  idm_dynamics_destroy(d);
  idm_dynamics_draws_clear(&draws);
  idm_learn_result_clear(&learnt);
  idm_iohmm_destroy(learner);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_recovery),    cmocka_unit_test(test_hold),
      cmocka_unit_test(test_order),       cmocka_unit_test(test_rounds),
      cmocka_unit_test(test_names),       cmocka_unit_test(test_alike),
      cmocka_unit_test(test_folds),       cmocka_unit_test(test_draws),
      cmocka_unit_test(test_hidden_draws)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
