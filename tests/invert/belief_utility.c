/* Free utilities of beliefs: estimates against the parameters of simulated logs. */
#include <math.h>

#include "support.h"

/* Two persistent states, a test with a cost, and utilities of beliefs. */
#define WORLD                                                                                      \
  "states: [p, q]\nactions: [test, wait, rest]\nobservations: [x, y]\nstart: [0.5, 0.5]\n"         \
  "discount: 0.9\ntransition: {'*': [[0.9, 0.1], [0.1, 0.9]]}\n"                                   \
  "observation: {test: [[0.8, 0.2], [0.2, 0.8]], '*': uniform}\n"                                  \
  "utility: {test: -0.3, wait: 0, rest: [0.5, -0.5]}\n"                                            \
  "agent: {planner: bounded-rational, alpha: 0.5, resolution: 40}\n"

enum { DRAWS = 2000 };

/* The mean of the Laplace approximation is within 3.3 posterior sds of the truth for every free
 * number. By chance one of the seven numbers of this file is farther off in 0.7 % of seeds. */
static void recover(const char *text, const char *freed, const double *truth, size_t count)
{
  idm_problem *problem = support_yaml(text);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 60, .steps = 25, .seed = 7});
  check(idm_problem_set_free(problem, freed, &support_error));
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.chains = 2;
  settings.draws = DRAWS;
  settings.keep = IDM_KEEP_NOTHING;
  idm_posterior *p;
  check(idm_inverse_fit(idm_inverse_find("laplace"), problem, data, &settings, NULL, &p, NULL,
                        &support_error));
  for (size_t i = 0; i < count; i++) {
    double sum = 0, squares = 0;
    for (size_t d = 0; d < 2 * DRAWS; d++) sum += p->unconstrained[i * 2 * DRAWS + d];
    const double mean = sum / (2 * DRAWS);
    for (size_t d = 0; d < 2 * DRAWS; d++)
      squares += pow(p->unconstrained[i * 2 * DRAWS + d] - mean, 2);
    const double sd = sqrt(squares / (2 * DRAWS));
    print_message("%s: %.3f (%.3f), truth %g\n", freed, mean, sd, truth[i]);
    assert_true(fabs(mean - truth[i]) < 3.3 * sd);
    assert_true(sd < 0.6); /* the prior sd is 2 */
  }
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void weights_are_recovered(void **state)
{
  (void)state;
  recover(WORLD "belief_utility: {entropy: 1.5}\n", "belief_utility.entropy", (const double[]){1.5},
          1);
  recover(WORLD "belief_utility: {guess: {wait: 1.2, rest: -0.8}}\n",
          "belief_utility.guess.wait, belief_utility.guess.rest", (const double[]){1.2, -0.8}, 2);
  recover(WORLD "belief_utility: {entropy: {wait: 1, '*': -0.5}, guess: 2}\n",
          "{belief_utility: {entries: [entropy.wait, guess]}}", (const double[]){1, 2}, 2);
}

static void an_award_is_recovered(void **state)
{
  (void)state;
  recover(WORLD "certainty: {above: 0.8, award: 1, width: 0.1}\n", "certainty.award, alpha",
          (const double[]){1, log(0.5)}, 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_recovered),
      cmocka_unit_test(an_award_is_recovered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
