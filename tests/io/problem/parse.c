/* The YAML problem file: every key, to exact numbers. */
#include "idm/planner.h"
#include "idm/problem_file.h"
#include "io/problem/problem_support.h"

static const char diag[] =
    "name: diag\n"
    "states: [healthy, diseased]\n"
    "actions: [declare_healthy, declare_diseased, monitor]\n"
    "observations: [negative, positive]\n"
    "start: [0.5, 0.5]\n"
    "discount: 0.95\n"
    "ends: [declare_healthy, declare_diseased]           # the log stops there\n"
    "transition: {monitor: identity, declare_healthy: uniform, declare_diseased: uniform}\n"
    "observation: {\"*\": [[0.7, 0.3], [0.3, 0.7]]}\n"
    "utility: {monitor: -1, declare_healthy: [10, -36], declare_diseased: [-36, 10]}\n"
    "models:\n"
    "  - {weight: 1, observation: {\"*\": [[0.6, 0.4], [0.4, 0.6]]}}\n"
    "  - {weight: 1}\n"
    "  - {weight: 1, observation: {\"*\": [[0.8, 0.2], [0.2, 0.8]]}}\n"
    "agent: {planner: bounded-rational, alpha: 0.5, beta: inf, eta: 0, resolution: 99, evaluate: "
    "interpolate}\n"
    "free: {alpha: {scale: log, prior: {normal: [0, 2]}}}\n";

static void test_diag(void **state)
{
  (void)state;
  idm_notes notes = {0};
  idm_problem *p = parse(diag, &notes);
  assert_int_equal(notes.count, 0);
  const idm_setting *s = p->setting;
  assert_string_equal(s->name, "diag");
  assert_int_equal(s->states.count, 2);
  assert_int_equal(s->actions.count, 3);
  assert_string_equal(s->states.name[1], "diseased");
  assert_string_equal(s->actions.name[2], "monitor");
  assert_string_equal(s->observations.name[0], "negative");
  assert_int_equal(s->horizon, 0);
  assert_false(s->fully_observed);
  assert_true(s->ends[0] && s->ends[1] && !s->ends[2]);
  assert_true(!s->terminal[0] && !s->terminal[1] && !s->terminal[2]);
  expect_numbers(s->start, (double[]){.5, .5}, 2);
  const double transition[] = {.5, .5, .5, .5, .5, .5, .5, .5, 1, 0, 0, 1};
  const double emission[] = {.7, .3, .3, .7, .7, .3, .3, .7, .7, .3, .3, .7};
  expect_numbers(s->transition, transition, 12);
  expect_numbers(s->emission, emission, 12);
  assert_int_equal(p->theta->models, 3);
  expect_numbers(block(p, IDM_MODEL_PRIOR), (double[]){1.0 / 3, 1.0 / 3, 1.0 / 3}, 3);
  for (size_t m = 0; m < 3; m++) expect_numbers(block(p, IDM_TRANSITION) + 12 * m, transition, 12);
  for (size_t u = 0; u < 3; u++) {
    expect_numbers(block(p, IDM_EMISSION) + 4 * u, (double[]){.6, .4, .4, .6}, 4);
    expect_numbers(block(p, IDM_EMISSION) + 12 + 4 * u, (double[]){.7, .3, .3, .7}, 4);
    expect_numbers(block(p, IDM_EMISSION) + 24 + 4 * u, (double[]){.8, .2, .2, .8}, 4);
  }
  expect_numbers(block(p, IDM_UTILITY), (double[]){10, -36, -36, 10, -1, -1}, 6);
  assert_true(idm_theta_scalar(p->theta, IDM_DISCOUNT) == 0.95);
  assert_true(idm_theta_scalar(p->theta, IDM_ALPHA) == 0.5);
  assert_true(idm_theta_scalar(p->theta, IDM_BETA) == INFINITY);
  assert_true(idm_theta_scalar(p->theta, IDM_ETA) == 0);
  assert_string_equal(idm_agent_planner(&p->agent)->name, "bounded-rational");
  assert_int_equal(p->agent.resolution, 99);
  assert_int_equal(p->agent.evaluate, IDM_INTERPOLATE);
  const idm_block *alpha = &p->theta->block[IDM_ALPHA];
  assert_int_equal(alpha->role, IDM_DESCRIPTIVE);
  assert_int_equal(alpha->scale, IDM_SCALE_LOG);
  assert_int_equal(alpha->prior.kind, IDM_PRIOR_NORMAL);
  expect_numbers(alpha->prior.argument, (double[]){0, 2}, 2);
  assert_int_equal(p->theta->block[IDM_BETA].role, IDM_NORMATIVE);
  idm_problem_destroy(p);
}

static void test_base(void **state)
{
  (void)state;
  idm_problem *p = parse(with(NULL), NULL);
  /* A terminal action that is not named stays where it is; its observation is given by "*". */
  expect_numbers(p->setting->transition + 8, (double[]){1, 0, 0, 1}, 4);
  expect_numbers(p->setting->emission + 8, (double[]){.8, .2, .3, .7}, 4);
  assert_true(p->setting->terminal[2] && p->setting->ends[2]);
  assert_int_equal(p->theta->models, 1);
  expect_numbers(block(p, IDM_MODEL_PRIOR), (double[]){1}, 1);
  expect_numbers(block(p, IDM_TRANSITION), p->setting->transition, 12);
  expect_numbers(block(p, IDM_EMISSION), p->setting->emission, 12);
  idm_problem_destroy(p);
  p = parse(with("observation: {stay: [[0.8, 0.2], [0.3, 0.7]], go: identity}"), NULL);
  expect_numbers(p->setting->emission + 4, (double[]){1, 0, 0, 1}, 4);
  expect_numbers(p->setting->emission + 8, (double[]){.5, .5, .5, .5}, 4);
  idm_problem_destroy(p);
}

static void test_spaces(void **state)
{
  (void)state;
  idm_problem *p =
      parse("states: 2\nactions: 1\nobservations: 3\ndiscount: 0\ntransition: identity\n"
            "observation: uniform\nutility: {0: [1, 2]}\nstart: 1\n",
            NULL);
  assert_string_equal(p->setting->states.name[1], "1");
  assert_int_equal(p->setting->observations.count, 3);
  expect_numbers(p->setting->emission, (double[]){1.0 / 3, 1.0 / 3, 1.0 / 3}, 3);
  expect_numbers(p->setting->start, (double[]){0, 1}, 2);
  idm_problem_destroy(p);
  p = parse(with("start: b"), NULL);
  expect_numbers(p->setting->start, (double[]){0, 1}, 2);
  idm_problem_destroy(p);
  p = parse(with("start: uniform"), NULL);
  expect_numbers(p->setting->start, (double[]){.5, .5}, 2);
  idm_problem_destroy(p);
  p = parse(with("start:"), NULL);
  expect_numbers(p->setting->start, (double[]){.5, .5}, 2);
  idm_problem_destroy(p);
}

static void test_fully_observed(void **state)
{
  (void)state;
  idm_problem *p =
      parse("states: [low, high]\nactions: [up, rest]\nobservations: states\nstart: low\n"
            "discount: 0.5\ntransition: {up: [[0, 1], [0, 1]], rest: identity}\n"
            "utility: {\"*\": [0, 1]}\nmodels: [{transition: {up: uniform}}]\n",
            NULL);
  assert_true(p->setting->fully_observed);
  assert_string_equal(p->setting->observations.name[1], "high");
  expect_numbers(p->setting->emission, (double[]){1, 0, 0, 1, 1, 0, 0, 1}, 8);
  expect_numbers(block(p, IDM_EMISSION), p->setting->emission, 8);
  /* An action that a model does not name keeps the environment's matrix. */
  expect_numbers(block(p, IDM_TRANSITION), (double[]){.5, .5, .5, .5, 1, 0, 0, 1}, 8);
  expect_numbers(block(p, IDM_UTILITY), (double[]){0, 1, 0, 1}, 4);
  idm_problem_destroy(p);
}

static void test_factored(void **state)
{
  (void)state;
  static const char head[] = "states: [s, t]\nactions: [u, v]\nobservations: {p: [n, y], q: 3}\n"
                             "discount: 0.5\ntransition: identity\nutility: {\"*\": 0}\n";
  char text[1000];
  snprintf(text, sizeof text,
           "%sobservation:\n  u: {p: [[0.75, 0.25], [0, 1]], q: uniform}\n"
           "  v: {q: [[1, 0, 0], [0, 0.5, 0.5]], p: identity}\n",
           head);
  idm_problem *p = parse(text, NULL);
  assert_int_equal(p->setting->observations.count, 6);
  assert_string_equal(p->setting->observations.name[0], "n/0");
  assert_string_equal(p->setting->observations.name[4], "y/1");
  const double u[] = {.75 / 3, .75 / 3, .75 / 3, .25 / 3, .25 / 3, .25 / 3,
                      0,       0,       0,       1. / 3,  1. / 3,  1. / 3};
  const double v[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, .5, .5};
  expect_near(p->setting->emission, u, 12);
  expect_numbers(p->setting->emission + 12, v, 12);
  idm_problem_destroy(p);
  /* One mapping of factors for all actions, and a whole matrix for one. */
  snprintf(text, sizeof text, "%sobservation: {p: identity, q: uniform}\n", head);
  p = parse(text, NULL);
  expect_near(p->setting->emission + 12, (double[]){1. / 3, 1. / 3, 1. / 3, 0, 0, 0}, 6);
  idm_problem_destroy(p);
  snprintf(text, sizeof text, "%sobservation: {u: uniform, \"*\": {p: identity, q: uniform}}\n",
           head);
  p = parse(text, NULL);
  expect_near(p->setting->emission + 12, (double[]){1. / 3, 1. / 3, 1. / 3, 0, 0, 0}, 6);
  expect_numbers(p->setting->emission, (double[]){1. / 6}, 1);
  idm_problem_destroy(p);
}

static void test_episode(void **state)
{
  (void)state;
  idm_problem *p = parse(with("discount: 1\nhorizon: 23\nends: [go]"), NULL);
  assert_int_equal(p->setting->horizon, 23);
  assert_true(p->setting->ends[1] && !p->setting->terminal[1] && p->setting->ends[2]);
  idm_problem_destroy(p);
  /* Where every action is terminal no dynamics are needed. */
  p = parse("states: 2\nactions: [a, b]\nobservations: 2\nterminal: [a, b]\ndiscount: 0\nutility: "
            "{a: 1, b: [0, 3]}\n",
            NULL);
  expect_numbers(p->setting->transition, (double[]){1, 0, 0, 1}, 4);
  expect_numbers(block(p, IDM_EMISSION) + 4, (double[]){.5, .5, .5, .5}, 4);
  idm_problem_destroy(p);
}

static void test_models(void **state)
{
  (void)state;
  /* The environment is unknown; the models say what the agent thinks. */
  idm_problem *p =
      parse("states: 2\nactions: 1\nobservations: 2\ndiscount: 0.5\nutility: {0: 1}\nmodels:\n"
            "  - {weight: 3, transition: identity, observation: uniform}\n"
            "  - {weight: 1, transition: {\"*\": uniform}, observation: identity}\n",
            NULL);
  assert_null(p->setting->transition);
  assert_null(p->setting->emission);
  expect_numbers(block(p, IDM_MODEL_PRIOR), (double[]){.75, .25}, 2);
  expect_numbers(block(p, IDM_TRANSITION), (double[]){1, 0, 0, 1, .5, .5, .5, .5}, 8);
  expect_numbers(block(p, IDM_EMISSION), (double[]){.5, .5, .5, .5, 1, 0, 0, 1}, 8);
  idm_problem_destroy(p);
}

static void test_perturb_together(void **state)
{
  (void)state;
  idm_problem *p = parse(with("models: {perturb: {observation: 0.1}}"), NULL);
  assert_int_equal(p->theta->models, 3);
  const double *e = block(p, IDM_EMISSION);
  expect_near(e, (double[]){.7, .3, .4, .6, .7, .3, .4, .6, .8, .2, .3, .7}, 12);
  expect_numbers(e + 12, p->setting->emission, 12);
  expect_near(e + 24, (double[]){.9, .1, .2, .8, .9, .1, .2, .8, .8, .2, .3, .7}, 12);
  expect_numbers(block(p, IDM_TRANSITION) + 24, p->setting->transition, 12);
  idm_problem_destroy(p);

  /* Both kinds: nine models, the environment's in the middle. Ties move the first outcome; a row
   * that is certain is shared out equally and kept from 0 and 1. */
  p = parse(with("models: {perturb: {observation: 0.1, transition: 0.2}}"), NULL);
  assert_int_equal(p->theta->models, 9);
  expect_numbers(block(p, IDM_EMISSION) + 12 * 4, p->setting->emission, 12);
  expect_numbers(block(p, IDM_TRANSITION) + 12 * 4, p->setting->transition, 12);
  const double *t = block(p, IDM_TRANSITION);
  expect_near(t, (double[]){.8, .2, .2, .8, .3, .7, .3, .7, 1, 0, 0, 1}, 12);
  expect_near(t + 24, (double[]){.999, .001, .001, .999, .7, .3, .7, .3, 1, 0, 0, 1}, 12);
  e = block(p, IDM_EMISSION);
  expect_near(e, (double[]){.7, .3, .4, .6}, 4);
  expect_near(e + 24, (double[]){.7, .3, .4, .6}, 4);
  expect_near(e + 12 * 8, (double[]){.9, .1, .2, .8}, 4);
  expect_numbers(block(p, IDM_MODEL_PRIOR), (double[]){1. / 9, 1. / 9}, 2);
  idm_problem_destroy(p);
}

static void test_perturb_rows(void **state)
{
  (void)state;
  static const char head[] = "states: 1\nactions: [u, v]\nobservations: 4\ndiscount: 0.5\n"
                             "transition: identity\nutility: {\"*\": 0}\n";
  char text[1000];
  /* Others keep their proportions: .5 -> .4 leaves .6 in the ratio 3:1:1. */
  snprintf(text, sizeof text,
           "%sobservation: {u: [[0.3, 0.5, 0.1, 0.1]], v: [[1, 0, 0, 0]]}\n"
           "models: {perturb: {observation: 0.1}, independent: true}\n",
           head);
  idm_problem *p = parse(text, NULL);
  assert_int_equal(p->theta->models, 9);
  const double *e = block(p, IDM_EMISSION);
  const double down[] = {.36, .4, .12, .12};
  const double up[] = {.24, .6, .08, .08};
  const double certain_down[] = {.9, .1 / 3, .1 / 3, .1 / 3};
  const double certain_up[] = {.999, .001 / 3, .001 / 3, .001 / 3};
  expect_near(e, down, 4);
  expect_near(e + 4, certain_down, 4);
  expect_near(e + 8, down, 4);
  expect_numbers(e + 12, (double[]){1, 0, 0, 0}, 4);
  expect_near(e + 16, down, 4);
  expect_near(e + 20, certain_up, 4);
  expect_numbers(e + 4 * 8, p->setting->emission, 8);
  expect_near(e + 8 * 8, up, 4);
  expect_near(e + 8 * 8 + 4, certain_up, 4);
  idm_problem_destroy(p);

  /* Terminal actions do not move: two actions of two states are 3^4 models. */
  p = parse(with("models: {perturb: {observation: 0.1}, independent: true}"), NULL);
  assert_int_equal(p->theta->models, 81);
  expect_numbers(block(p, IDM_EMISSION) + 12 * 40, p->setting->emission, 12);
  for (size_t m = 0; m < 81; m++)
    expect_numbers(block(p, IDM_EMISSION) + 12 * m + 8, p->setting->emission + 8, 4);
  idm_problem_destroy(p);
}

static void test_utility_columns(void **state)
{
  (void)state;
  idm_problem *p = parse(with("utility: {stop: [pay, -fee], stay: -fee, go: [\"5\", pay]}"), NULL);
  assert_int_equal(p->columns.utility.count, 2);
  /* Columns in order of action and state, not of the file. */
  assert_string_equal(p->columns.utility.name[0], "fee");
  assert_string_equal(p->columns.utility.name[1], "pay");
  static const idm_utility_source expected[] = {
      {0, 0, 0, -1}, {0, 1, 0, -1}, {1, 1, 1, 1}, {2, 0, 1, 1}, {2, 1, 0, -1}};
  assert_int_equal(p->utility_sources, 5);
  for (size_t i = 0; i < 5; i++) {
    assert_int_equal(p->utility_source[i].action, expected[i].action);
    assert_int_equal(p->utility_source[i].state, expected[i].state);
    assert_int_equal(p->utility_source[i].column, expected[i].column);
    assert_true(p->utility_source[i].scale == expected[i].scale);
  }
  expect_numbers(block(p, IDM_UTILITY), (double[]){0, 0, 5, 0, 0, 0}, 6);
  assert_int_equal(idm_problem_bind(p, 1, (double[]){2, 7}, NULL), IDM_OK);
  expect_numbers(block(p, IDM_UTILITY), (double[]){-2, -2, 5, 7, 7, -2}, 6);
  idm_problem_destroy(p);
}

static void test_agent(void **state)
{
  (void)state;
  idm_problem *p = parse(
      with("agent: {planner: decision-rule, alpha: -0.0, beta: -inf, eta: -3, temperature: 0.25, "
           "resolution: 7, evaluate: lookahead, surprise: observation, recognition: sampled, "
           "tolerance: 1e-6, decision_capacity: 0.1, specification_capacity: 0.2, "
           "recognition_capacity: 0.3, weights: {go: [1, 2], stop: [3, 4, 5]}}"),
      NULL);
  const idm_agent *agent = &p->agent;
  assert_string_equal(idm_agent_planner(agent)->name, "decision-rule");
  const double alpha = idm_theta_scalar(p->theta, IDM_ALPHA);
  assert_true(alpha == 0 && signbit(alpha));
  assert_true(idm_theta_scalar(p->theta, IDM_BETA) == -INFINITY);
  assert_true(idm_theta_scalar(p->theta, IDM_ETA) == -3);
  assert_true(idm_theta_scalar(p->theta, IDM_TEMPERATURE) == 0.25);
  assert_int_equal(agent->resolution, 7);
  assert_int_equal(agent->evaluate, IDM_LOOKAHEAD);
  assert_int_equal(agent->surprise, IDM_SURPRISE_OBSERVATION);
  assert_int_equal(agent->recognition, IDM_RECOGNITION_SAMPLED);
  assert_true(agent->tolerance == 1e-6 && agent->decision_capacity == 0.1 &&
              agent->specification_capacity == 0.2 && agent->recognition_capacity == 0.3);
  assert_int_equal(p->theta->block[IDM_WEIGHTS].size, 9);
  expect_numbers(block(p, IDM_WEIGHTS), (double[]){0, 0, 0, 0, 1, 2, 3, 4, 5}, 9);
  idm_problem_destroy(p);
}

static void test_priors(void **state)
{
  (void)state;
  idm_problem *p = parse(
      with(
          "action_prior: {stay: 2, \"*\": 1}\nbelief_prior: {dirichlet: [0.5, 2]}\n"
          "certainty: {above: 0.9, award: 2.5}\n"
          "data: {agent: doctor, trajectory: [ward, patient], time: day, action: act, observation: "
          "seen, available: open}\n"),
      NULL);
  expect_numbers(block(p, IDM_ACTION_PRIOR), (double[]){.5, .25, .25}, 3);
  assert_int_equal(p->theta->block[IDM_BELIEF_PRIOR].size, 2);
  expect_numbers(block(p, IDM_BELIEF_PRIOR), (double[]){.5, 2}, 2);
  expect_numbers(block(p, IDM_CERTAINTY), (double[]){.9, 2.5}, 2);
  assert_string_equal(p->columns.role[IDM_COLUMN_AGENT].name[0], "doctor");
  assert_int_equal(p->columns.role[IDM_COLUMN_TRAJECTORY].count, 2);
  assert_string_equal(p->columns.role[IDM_COLUMN_TRAJECTORY].name[1], "patient");
  assert_string_equal(p->columns.role[IDM_COLUMN_TIME].name[0], "day");
  assert_string_equal(p->columns.role[IDM_COLUMN_ACTION].name[0], "act");
  assert_string_equal(p->columns.role[IDM_COLUMN_OBSERVATION].name[0], "seen");
  assert_string_equal(p->columns.role[IDM_COLUMN_AVAILABLE].name[0], "open");
  idm_problem_destroy(p);
  p = parse(with("action_prior: [0, 1, 3]"), NULL);
  expect_numbers(block(p, IDM_ACTION_PRIOR), (double[]){0, .25, .75}, 3);
  idm_problem_destroy(p);
}

static void expect_prior(const idm_problem *p, idm_block_id id, idm_scale scale,
                         idm_prior_kind kind, size_t count, const double *argument)
{
  const idm_block *b = &p->theta->block[id];
  assert_int_equal(b->role, IDM_DESCRIPTIVE);
  assert_int_equal(b->scale, scale);
  assert_int_equal(b->prior.kind, kind);
  assert_int_equal(b->prior.count, count);
  expect_near(b->prior.argument, argument, count);
}

static void test_free_defaults(void **state)
{
  (void)state;
  /* The utility runs from -1 to 2: R = 3. */
  idm_problem *p = parse(with("free: [alpha, beta, eta, utility, discount, action_prior, "
                              "model_prior, weights, temperature]"
                              "\nagent: {weights: {stay: [0, 0]}}"),
                         NULL);
  expect_prior(p, IDM_ALPHA, IDM_SCALE_LOG, IDM_PRIOR_NORMAL, 2, (double[]){log(3. / 20), 2});
  expect_prior(p, IDM_BETA, IDM_SCALE_INVERSE, IDM_PRIOR_NORMAL, 2, (double[]){0, 20. / 3});
  expect_prior(p, IDM_ETA, IDM_SCALE_IDENTITY, IDM_PRIOR_NORMAL, 2, (double[]){0, 3});
  expect_prior(p, IDM_UTILITY, IDM_SCALE_IDENTITY, IDM_PRIOR_NORMAL, 2, (double[]){0, 6});
  expect_prior(p, IDM_DISCOUNT, IDM_SCALE_IDENTITY, IDM_PRIOR_BETA, 2, (double[]){1, 1});
  expect_prior(p, IDM_ACTION_PRIOR, IDM_SCALE_IDENTITY, IDM_PRIOR_DIRICHLET, 3,
               (double[]){1, 1, 1});
  expect_prior(p, IDM_MODEL_PRIOR, IDM_SCALE_IDENTITY, IDM_PRIOR_DIRICHLET, 1, (double[]){1});
  expect_prior(p, IDM_WEIGHTS, IDM_SCALE_IDENTITY, IDM_PRIOR_NORMAL, 2, (double[]){0, 5});
  expect_prior(p, IDM_TEMPERATURE, IDM_SCALE_IDENTITY, IDM_PRIOR_HALFNORMAL, 1, (double[]){3});
  idm_problem_destroy(p);
  /* A utility by column says nothing of its range: R = 1. */
  p = parse(with("utility: {stay: fee, go: 5, stop: 0}\n"
                 "free:\n  alpha: {scale: inverse}\n  beta:\n  eta: {scale: signed-log}\n"
                 "  temperature: {scale: inverse}\n"),
            NULL);
  expect_prior(p, IDM_ALPHA, IDM_SCALE_INVERSE, IDM_PRIOR_NORMAL, 2, (double[]){0, 20});
  expect_prior(p, IDM_BETA, IDM_SCALE_INVERSE, IDM_PRIOR_NORMAL, 2, (double[]){0, 20});
  expect_prior(p, IDM_ETA, IDM_SCALE_SIGNED_LOG, IDM_PRIOR_NORMAL, 2, (double[]){0, log1p(1)});
  expect_prior(p, IDM_TEMPERATURE, IDM_SCALE_INVERSE, IDM_PRIOR_EXPONENTIAL, 1,
               (double[]){1. / 20});
  idm_problem_destroy(p);
}

static void test_free_priors(void **state)
{
  (void)state;
  static const struct {
    const char *prior;
    idm_prior_kind kind;
    size_t count;
    double argument[2];
  } cases[] = {{"flat", IDM_PRIOR_FLAT, 0, {0}},
               {"{normal: [-1, 2]}", IDM_PRIOR_NORMAL, 2, {-1, 2}},
               {"{lognormal: [0, 2]}", IDM_PRIOR_LOGNORMAL, 2, {0, 2}},
               {"{halfnormal: [2]}", IDM_PRIOR_HALFNORMAL, 1, {2}},
               {"{halfnormal: 2}", IDM_PRIOR_HALFNORMAL, 1, {2}},
               {"{uniform: [-1, 1]}", IDM_PRIOR_UNIFORM, 2, {-1, 1}},
               {"{exponential: [3]}", IDM_PRIOR_EXPONENTIAL, 1, {3}},
               {"{gamma: [1, 2]}", IDM_PRIOR_GAMMA, 2, {1, 2}},
               {"{beta: [1, 2]}", IDM_PRIOR_BETA, 2, {1, 2}}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char line[200];
    snprintf(line, sizeof line, "free: {eta: {scale: log, prior: %s}}", cases[i].prior);
    idm_problem *p = parse(with(line), NULL);
    expect_prior(p, IDM_ETA, IDM_SCALE_LOG, cases[i].kind, cases[i].count, cases[i].argument);
    idm_problem_destroy(p);
  }
  idm_problem *p = parse(with("free: {action_prior: {prior: {dirichlet: [1, 2, 3]}}}"), NULL);
  expect_prior(p, IDM_ACTION_PRIOR, IDM_SCALE_IDENTITY, IDM_PRIOR_DIRICHLET, 3,
               (double[]){1, 2, 3});
  idm_problem_destroy(p);
}

static void test_notes(void **state)
{
  (void)state;
  idm_notes notes = {0};
  idm_problem *p = parse(
      "states: 3\nactions: 2\nobservations: 2\nstart: [0.333333, 0.333333, 0.333333]\n"
      "transition: [[0.33333, 0.33333, 0.33333], [0.5, 0.5, 0], [0.33333, 0.33333, 0.33333]]\n"
      "observation: uniform\n",
      &notes);
  assert_int_equal(notes.count, 4);
  assert_non_null(strstr(notes.text[0], "no discount is given: 0.95 is used"));
  assert_non_null(strstr(notes.text[1], "start sums to 0.999999 and was normalised"));
  assert_non_null(strstr(notes.text[2], "no utility is given"));
  assert_non_null(strstr(notes.text[3], "transition: 2 rows missed a sum of 1, by at most 1e-05"));
  expect_near(p->setting->transition, (double[]){1. / 3, 1. / 3, 1. / 3}, 3);
  idm_notes_clear(&notes);
  idm_problem_destroy(p);
}

static void test_read(void **state)
{
  (void)state;
  static const char *const examples[] = {"diag",   "tiger",       "beads",
                                         "clinic", "maintenance", "reversal"};
  idm_error error = {0};
  idm_problem *p = NULL;
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
    char path[100];
    snprintf(path, sizeof path, "../examples/%s.yaml", examples[i]);
    idm_notes notes = {0};
    if (idm_problem_read(path, &p, &notes, &error) != IDM_OK)
      fail_msg("%s:%ld:%ld: %s", path, error.line, error.column, error.message);
    assert_int_equal(notes.count, 0);
    assert_string_equal(p->setting->name, examples[i]);
    idm_problem_destroy(p);
  }
  assert_int_equal(idm_problem_read("no/such.yaml", &p, NULL, &error), IDM_INPUT);
  assert_null(p);
  assert_int_equal(idm_problem_read("example:nothing", &p, NULL, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "there is no example 'nothing'; expected one of "));
  char name[100];
  snprintf(name, sizeof name, "example:%s", idm_example_name(0));
  assert_int_equal(idm_problem_read(name, &p, NULL, &error), IDM_OK);
  idm_problem_destroy(p);
  assert_int_equal(idm_problem_read("no/such.PoMdP", &p, NULL, &error), IDM_INPUT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_diag),          cmocka_unit_test(test_base),
      cmocka_unit_test(test_spaces),        cmocka_unit_test(test_fully_observed),
      cmocka_unit_test(test_factored),      cmocka_unit_test(test_episode),
      cmocka_unit_test(test_models),        cmocka_unit_test(test_perturb_together),
      cmocka_unit_test(test_perturb_rows),  cmocka_unit_test(test_utility_columns),
      cmocka_unit_test(test_agent),         cmocka_unit_test(test_priors),
      cmocka_unit_test(test_free_defaults), cmocka_unit_test(test_free_priors),
      cmocka_unit_test(test_notes),         cmocka_unit_test(test_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
