/* Labels of requests and random streams: labels are equal if and only if requests mean the same,
 * and fits of different requests have uncorrelated draws. */
#include "invert/posterior.h"

#include "io/run/run_support.h"

#include <math.h>

static uint64_t label_of(const char *path)
{
  idm_problem *problem;
  idm_request request;
  check(idm_request_read(path, &problem, &request, NULL, &support_error));
  const uint64_t label = idm_request_label(problem, &request);
  idm_problem_destroy(problem);
  return label;
}

/* The same request in another notation, and with one value changed. */
static void test_text(void **state)
{
  const folder *f = *state;
  static const struct {
    const char *text;
    bool same;
  } cases[] = {
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [1, 2]}\nfree: {alpha: }\nfit: {draws: 7}\n",
       true},
      {"# another hand\nfit:\n  draws: 7.0\n  chains: 4\n  data: \"elsewhere.csv\"\n  stan: true\n"
       "free: [alpha]\nutility:\n  v: [1.0, 2e0]\n  u: [0, 0]\nobservation: {'*': [[1], [1]]}\n"
       "transition: {u: [[1, 0], [0, 1]], v: identity}\ndiscount: .5\nobservations: [x]\n"
       "actions: [u, v]\nstates:\n  - a\n  - b\n",
       true},
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [2, 1]}\nfree: {alpha: }\nfit: {draws: 7}\n",
       false},
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [1, 2]}\nfree: {eta: }\nfit: {draws: 7}\n",
       false},
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [1, 2]}\nfree: {alpha: }\nfit: {draws: 8}\n",
       false},
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [1, 2]}\nfree: {alpha: }\nfit: {draws: 7}\n"
       "agent: {evaluate: interpolate}\ndata: {action: move}\n",
       false},
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [1, 2]}\nfree: {alpha: }\nfit: {draws: 7}\n"
       "data: {missed: late}\n",
       false},
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [1, 2]}\nfree: {alpha: }\nfit: {draws: 7}\n"
       "certainty: {above: 0.9, award: 1, width: 0.1}\n",
       false},
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [1, 2]}\nfree: {alpha: }\nfit: {draws: 7}\n"
       "belief_utility: {guess: {u: 0, v: 0}}\n",
       true},
      {"states: [a, b]\nactions: [u, v]\nobservations: [x]\ndiscount: 0.5\ntransition: identity\n"
       "observation: uniform\nutility: {u: 0, v: [1, 2]}\nfree: {alpha: }\nfit: {draws: 7}\n"
       "belief_utility: {guess: {v: 1}}\n",
       false},
  };
  uint64_t first = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    FILE *stream = fopen(f->file, "wb");
    assert_non_null(stream);
    fputs(cases[i].text, stream);
    assert_int_equal(fclose(stream), 0);
    const uint64_t label = label_of(f->file);
    if (i == 0) first = label;
    if ((label == first) != cases[i].same) fail_msg("case %zu", i);
  }
}

/* Every key changes the label, except places of files; the bounds of utilities that a log adds to
 * the problem do not. */
static void test_keys(void **state)
{
  static const double pay[] = {1, 70, 10, 0, 2, 40, -0.0, -5};
  (void)state;
  idm_problem *problem;
  idm_request usual;
  idm_request_default(&usual);
  usual.settings.sampler[0] = usual.data[0] = usual.problem[0] = 'y';
  usual.settings.draws = usual.settings.warmup = usual.settings.thin = 3;
  usual.settings.seed = 3;
  usual.settings.keep = IDM_KEEP_DECISION;
  usual.stan = true;
  check(idm_problem_read("../examples/beads.yaml", &problem, NULL, &support_error));
  const uint64_t label = idm_request_label(problem, &usual);
  for (const idm_key *key = idm_request_keys(); key->name; key++) {
    idm_request other = usual;
    if (key->kind == IDM_KEY_TEXT || key->kind == IDM_KEY_TEXTS)
      check(idm_key_set_text(key, &other, "x", &support_error));
    else
      idm_key_set_number(key, &other,
                         key->kind == IDM_KEY_BOOL          ? 0
                         : idm_key_number(key, &usual) == 1 ? 2
                                                            : 1);
    if ((idm_request_label(problem, &other) == label) != key->place) fail_msg("%s", key->name);
  }
  check(idm_problem_bind(problem, 2, pay, &support_error));
  assert_true(idm_request_label(problem, &usual) == label);
  idm_problem_destroy(problem);
}

/* Preferences and their weights change the label; removing them restores it. */
static void test_preferences(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 3, .seed = 1});
  uint64_t label[5] = {idm_fingerprint_data(1, data)};
  check(idm_preferences_create(2, &data->preferences, &support_error));
  idm_preferences *p = data->preferences;
  p->better[0] = 1;
  p->better[1] = 2;
  label[1] = idm_fingerprint_data(1, data);
  p->weight[1] = 2;
  label[2] = idm_fingerprint_data(1, data);
  p->worse[1] = 1;
  label[3] = idm_fingerprint_data(1, data);
  p->count = 1;
  label[4] = idm_fingerprint_data(1, data);
  for (size_t i = 0; i < 5; i++)
    for (size_t j = 0; j < i; j++) assert_true(label[i] != label[j]);
  idm_preferences_destroy(p);
  data->preferences = NULL;
  assert_true(idm_fingerprint_data(1, data) == label[0]);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- random streams --------------------------------------------------------------------------- */

/* Correlation of the arctangents, because beta, the inverse of a normal number, has no variance. */
static double correlation(const double *a, const double *b, size_t count)
{
  double mean[2] = {0}, square[2] = {0}, product = 0;
  for (size_t i = 0; i < count; i++) {
    mean[0] += atan(a[i]) / (double)count;
    mean[1] += atan(b[i]) / (double)count;
  }
  for (size_t i = 0; i < count; i++) {
    const double x = atan(a[i]) - mean[0], y = atan(b[i]) - mean[1];
    square[0] += x * x;
    square[1] += y * y;
    product += x * y;
  }
  return product / sqrt(square[0] * square[1]);
}

/* Draws of two posteriors are uncorrelated: the correlation is within four standard errors of 0, by
 * the effective sample sizes. */
static void check_independent(const idm_posterior *a, const idm_posterior *b)
{
  const size_t all = a->chains * a->draws;
  for (size_t q = 0; q < a->quantity.count; q++) {
    idm_diagnosis d[2];
    if (!a->summarised[q]) continue;
    check(idm_diagnose(a->value + q * all, a->chains, a->draws, a->draws, 1, &d[0], NULL));
    check(idm_diagnose(b->value + q * all, b->chains, b->draws, b->draws, 1, &d[1], NULL));
    const double found = correlation(a->value + q * all, b->value + q * all, all);
    if (!(fabs(found) < 4 / sqrt(fmin(d[0].ess_bulk, d[1].ess_bulk))))
      fail_msg("the draws of %s in two fits correlate by %g", a->quantity.name[q], found);
  }
  assert_true(fabs(correlation(a->prior, b->prior, a->prior_draws)) <
              4 / sqrt((double)a->prior_draws));
}

/* Fits of different logs with the default seed share no random numbers, even if the logs differ
 * only in a name. A repeated request gives identical bytes. */
static void test_streams(void **state)
{
  (void)state;
  enum { LOGS = 4, TRAJECTORIES = 60 };
  static const char *const inverses[] = {"bayes", "laplace"};
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 15;
  idm_data *data[LOGS];
  for (size_t i = 0; i < LOGS; i++)
    data[i] = support_simulate(problem,
                               (idm_simulation){.trajectories = TRAJECTORIES, .seed = i ? i : 1});
  /* The first two logs differ only in the agent's name. */
  idm_labels_destroy(&data[0]->agent_name);
  SUPPORT_NAMES(&data[0]->agent_name, "somebody else");
  check(idm_problem_set_free(problem, "{beta: {scale: inverse}, eta: }", &support_error));
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.warmup = 200;
  for (size_t k = 0; k < 2; k++) {
    const idm_inverse *inverse = idm_inverse_find(inverses[k]);
    idm_posterior *answer[LOGS], *again;
    for (size_t i = 0; i < LOGS; i++)
      check(idm_inverse_fit(inverse, problem, data[i], &settings, NULL, &answer[i], NULL,
                            &support_error));
    for (size_t i = 0; i < LOGS; i++)
      for (size_t j = 0; j < i; j++) check_independent(answer[i], answer[j]);
    check(
        idm_inverse_fit(inverse, problem, data[0], &settings, NULL, &again, NULL, &support_error));
    assert_memory_equal(again->value, answer[0]->value,
                        idm_posterior_numbers(again) * again->chains * again->draws *
                            sizeof(double));
    idm_posterior_destroy(again);
    for (size_t i = 0; i < LOGS; i++) idm_posterior_destroy(answer[i]);
  }
  for (size_t i = 0; i < LOGS; i++) idm_data_destroy(data[i]);
  idm_problem_destroy(problem);
}

/* A perfect sensor is not part of the label: the stored label of a version without sensors, with a
 * block after it, is unchanged. A finite capacity and a free one change the label. */
static void test_sensor(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: [a, b]\nactions: [u, v]\nobservations: states\ntransition: uniform\n"
                   "utility: {u: [1, 0], v: 0}\nagent: {planner: td-learner}\ndata: {reward: r}\n"
                   "free: [decay]\npopulation: {sd: {decay: 0.3}}\n");
  const uint64_t label = idm_fingerprint_problem(0, problem);
  assert_true(label == UINT64_C(0x566d8f4c025d5a46));
  idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, 1);
  const uint64_t limited = idm_fingerprint_problem(0, problem);
  idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, INFINITY);
  problem->theta->block[IDM_SENSOR_CAPACITY].role = IDM_DESCRIPTIVE;
  const uint64_t searched = idm_fingerprint_problem(0, problem);
  assert_true(limited != label && searched != label && searched != limited);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sensor),
      cmocka_unit_test_setup_teardown(test_text, make_folder, remove_folder),
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_preferences),
      cmocka_unit_test(test_streams),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
