/* Tests the classification of biases: its rules, agents with known weights, and the asymmetry of an
 * optimist against plain sums. */
#include <math.h>
#include <string.h>

#include "invert/explain/explain_support.h"
#include "plan/control/plain.h"

static idm_interval point(double x)
{
  return (idm_interval){x, x, x};
}

static size_t count_biases(const idm_person_summary *person)
{
  size_t count = 0;
  for (int b = 0; b < IDM_BIAS_COUNT; b++) count += idm_person_has_bias(person, (idm_bias)b);
  return count;
}

/* A bias requires that the whole interval is beyond the margin, and enough updates. */
static void rules_need_intervals_and_updates(void **state)
{
  (void)state;
  const idm_person_summary bayes = {.updates = 100,
                                    .confirming_updates = 50,
                                    .disconfirming_updates = 50,
                                    .base_rate = point(0.91),
                                    .reaction = point(1.09),
                                    .asymmetry = point(0.09)};
  assert_int_equal(count_biases(&bayes), 0);
  idm_person_summary other = bayes;
  other.base_rate = point(0.89);
  assert_true(idm_person_has_bias(&other, IDM_BIAS_BASE_RATE_NEGLECT));
  other.base_rate.high = 0.95;
  assert_int_equal(count_biases(&other), 0);
  other.base_rate = point(NAN);
  assert_int_equal(count_biases(&other), 0);
  other = bayes;
  other.reaction = point(0.8);
  assert_true(idm_person_has_bias(&other, IDM_BIAS_CONSERVATISM));
  other.reaction = point(1.2);
  assert_true(idm_person_has_bias(&other, IDM_BIAS_OVERREACTION));
  assert_int_equal(count_biases(&other), 1);
  other.updates = IDM_BIAS_UPDATES - 1;
  assert_int_equal(count_biases(&other), 0);
  other = bayes;
  other.asymmetry = point(0.2);
  assert_true(idm_person_has_bias(&other, IDM_BIAS_CONFIRMATION));
  other.disconfirming_updates = IDM_BIAS_UPDATES - 1;
  assert_int_equal(count_biases(&other), 0);
  for (int b = 0; b < IDM_BIAS_COUNT; b++)
    assert_true(idm_bias_name((idm_bias)b) && idm_bias_rule((idm_bias)b));
  assert_null(idm_bias_name(IDM_BIAS_COUNT));
  assert_null(idm_bias_rule(IDM_BIAS_COUNT));
  assert_false(idm_person_has_bias(NULL, IDM_BIAS_CONFIRMATION));
}

/* With one model equal to the environment, the weights of prior and evidence determine the bias. */
static void powers_are_named(void **state)
{
  (void)state;
  static const struct {
    double prior, evidence;
    int bias; /* -1: none */
  } cases[] = {{1, 1, -1},
               {0.5, 1, IDM_BIAS_BASE_RATE_NEGLECT},
               {1, 0.5, IDM_BIAS_CONSERVATISM},
               {1, 1.5, IDM_BIAS_OVERREACTION}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = support_yaml(
        "states: [healthy, diseased]\nactions: [wait, treat]\nobservations: [negative, positive]\n"
        "start: [0.6, 0.4]\ndiscount: 0.9\ntransition: {wait: [[0.9, 0.1], [0.2, 0.8]], "
        "treat: [[0.95, 0.05], [0.5, 0.5]]}\nobservation: {'*': [[0.7, 0.3], [0.4, 0.6]]}\n"
        "utility: {wait: [0, -4], treat: [-1, -2]}\nagent: {alpha: 0.5, resolution: 30}\n");
    idm_theta_set_scalar(problem->theta, IDM_PRIOR_WEIGHT, cases[i].prior);
    idm_theta_set_scalar(problem->theta, IDM_EVIDENCE_WEIGHT, cases[i].evidence);
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 10, .steps = 12, .seed = 4});
    idm_explanation *e = explain_rows(problem, data);
    const idm_person_summary *person = &e->person[0];
    assert_near(person->base_rate.mean, cases[i].prior, 1e-9);
    assert_near(person->reaction.mean, cases[i].evidence, 1e-9);
    if (cases[i].bias < 0) {
      assert_int_equal(count_biases(person), 0);
      assert_near(person->confirming.mean, 1, 1e-9);
      assert_near(person->disconfirming.mean, 1, 1e-9);
    } else {
      assert_true(idm_person_has_bias(person, (idm_bias)cases[i].bias));
      assert_int_equal(count_biases(person), 1);
    }
    idm_explanation_destroy(e);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

static double logit(double p)
{
  return log(p / (1 - p));
}

/* Sum of the changes of the log-odds of the likelier state, divided by that of Bayes' rule under
 * the environment, for updates towards it (0) and away from it (1), by a loop over the rows. */
static void plain_sides(const idm_problem *problem, const idm_data *data, double *ratio)
{
  const idm_setting *s = problem->setting;
  idm_workspace *w = support_plan(problem, NULL);
  double own[2] = {0}, bayes[2] = {0};
  for (size_t t = 0; t < data->trajectories; t++) {
    double z[2] = {s->start[0], s->start[1]};
    for (size_t i = data->first[t]; i < data->first[t + 1]; i++) {
      const size_t u = (size_t)data->action[i], x = (size_t)data->observation[i];
      double pi[2], sigma[4], next[2] = {0, 0}, due[2], before[2];
      idm_plan_policy(w, 0, z, pi, sigma);
      for (size_t m = 0; m < 2; m++) {
        double updated_belief[2];
        plain_after(problem, problem->theta->block[IDM_TRANSITION].value + (2 * m + u) * 4,
                    problem->theta->block[IDM_EMISSION].value + (2 * m + u) * 4, z, x,
                    updated_belief);
        for (size_t k = 0; k < 2; k++) next[k] += sigma[2 * u + m] * updated_belief[k];
      }
      plain_predict(problem, s->transition + u * 4, z, before);
      const double p = plain_joint(problem, s->transition + u * 4, s->emission + u * 4, z, x, due);
      const size_t likely = before[1] > before[0];
      const double change = logit(due[likely] / p) - logit(before[likely]);
      own[change < 0] += logit(next[likely]) - logit(before[likely]);
      bayes[change < 0] += change;
      memcpy(z, next, sizeof z);
    }
  }
  for (int k = 0; k < 2; k++) ratio[k] = own[k] / bayes[k];
  idm_workspace_destroy(w);
}

/* The state is constant, but in one of two models the bad state may become good. An agent that
 * prefers the model with the higher value (1/beta > 0) overweights good news, which mostly confirm
 * its belief, and underweights bad news. An agent that prefers the other model has no confirmation
 * bias. */
static void optimists_confirm(void **state)
{
  (void)state;
  for (int optimist = 0; optimist < 2; optimist++) {
    idm_problem *problem = support_yaml(
        "states: [good, bad]\nactions: [stay, go]\nobservations: [fair, foul]\nstart: [0.8, 0.2]\n"
        "discount: 0.9\ntransition: identity\nobservation: {'*': [[0.7, 0.3], [0.3, 0.7]]}\n"
        "utility: {stay: [1, -1], go: 0}\nmodels:\n  - {weight: 1}\n"
        "  - {weight: 1, transition: {'*': [[1, 0], [0.3, 0.7]]}}\n"
        "agent: {alpha: 0.5, resolution: 30}\n");
    idm_theta_set_scalar(problem->theta, IDM_BETA, optimist ? 0.2 : -0.05);
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 60, .steps = 4, .seed = 6});
    idm_explanation *e = explain_rows(problem, data);
    const idm_person_summary *person = &e->person[0];
    double ratio[2];
    plain_sides(problem, data, ratio);
    assert_near(person->confirming.mean, ratio[0], 1e-9);
    assert_near(person->disconfirming.mean, ratio[1], 1e-9);
    assert_near(person->asymmetry.mean, ratio[0] - ratio[1], 1e-9);
    assert_true(idm_person_has_bias(person, IDM_BIAS_CONFIRMATION) == (optimist == 1));
    if (optimist) assert_true(person->confirming.mean > 1.1 && person->disconfirming.mean < 0.9);
    assert_true(person->confirming_updates + person->disconfirming_updates == data->rows);
    idm_explanation_destroy(e);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rules_need_intervals_and_updates),
      cmocka_unit_test(powers_are_named),
      cmocka_unit_test(optimists_confirm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
