/* Tests the environment check: scores and information against finite differences of a separate
 * forward algorithm, false alarm rates, power, and rows that are left out. */
#include "invert/assess/environment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess/context.h"
#include "invert/assess/context_support.h"

/* --- a plain forward algorithm -------------------------------------------------------------- */

/* log p of the observations of one trajectory given its actions, by an unnormalised forward
 * recursion. */
static double plain_trajectory(const idm_problem *problem, const idm_dynamics *d,
                               const idm_data *data, size_t t)
{
  const idm_sizes n = d->sizes;
  double joint[16], next[16], sum = 0;
  for (size_t s = 0; s < n.states; s++)
    joint[s] = data->start[t] < 0 ? d->start[s]
                                  : data->start_belief[(size_t)data->start[t] * n.states + s];
  for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
    if (data->action[row] == IDM_MISSING) break;
    const size_t u = (size_t)data->action[row];
    const bool seen = data->observation[row] != IDM_MISSING && !problem->setting->ends[u];
    memset(next, 0, sizeof next);
    for (size_t s = 0; s < n.states; s++)
      for (size_t to = 0; to < n.states; to++) {
        const size_t emitter = problem->setting->emits_before ? s : to;
        const double shown = seen ? d->emission[(u * n.states + emitter) * n.observations +
                                                (size_t)data->observation[row]]
                                  : 1;
        next[to] += joint[s] * d->transition[(u * n.states + s) * n.states + to] * shown;
      }
    memcpy(joint, next, sizeof joint);
  }
  for (size_t s = 0; s < n.states; s++) sum += joint[s];
  return log(sum);
}

static double plain(const idm_problem *problem, const idm_dynamics *d, const idm_data *data)
{
  double sum = 0;
  for (size_t t = 0; t < data->trajectories; t++) sum += plain_trajectory(problem, d, data, t);
  return sum;
}

/* sum over events of sum_o p(o|H) (d log p(o|H))^2 in one direction, by central differences of the
 * forward recursion over every observation after every recorded history. */
static double plain_information(const idm_problem *problem, const idm_data *data,
                                const directions *d, size_t i)
{
  const double h = 1e-5;
  idm_dynamics *side[2];
  double information = 0;
  for (int k = 0; k < 2; k++) {
    check(idm_dynamics_create(d->own->sizes, &side[k], &support_error));
    idm_direction_shift(d, i, k ? h : -h, side[k]);
  }
  idm_data cut = *data;
  size_t first[2] = {0};
  int32_t *observation = calloc(data->rows, sizeof *observation);
  memcpy(observation, data->observation, data->rows * sizeof *observation);
  cut.observation = observation;
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      if (data->action[row] == IDM_MISSING) break;
      if (data->observation[row] == IDM_MISSING || problem->setting->ends[data->action[row]])
        continue;
      first[0] = data->first[t];
      first[1] = row + 1;
      cut.first = first;
      cut.start = data->start + t;
      observation[row] = IDM_MISSING;
      double before[3], after[3];
      for (int k = 0; k < 3; k++)
        before[k] = plain_trajectory(problem, k < 2 ? side[k] : d->own, &cut, 0);
      for (size_t o = 0; o < d->own->sizes.observations; o++) {
        observation[row] = (int32_t)o;
        for (int k = 0; k < 3; k++)
          after[k] = plain_trajectory(problem, k < 2 ? side[k] : d->own, &cut, 0) - before[k];
        const double slope = (after[1] - after[0]) / (2 * h);
        information += exp(after[2]) * slope * slope;
      }
      observation[row] = data->observation[row];
    }
  free(observation);
  idm_dynamics_destroy(side[0]);
  idm_dynamics_destroy(side[1]);
  return information;
}

static void compare_with_plain(const idm_problem *problem, const idm_data *data)
{
  const double h = 1e-5;
  environment_check e;
  idm_dynamics *moved;
  check(idm_environment_open(&e, problem, data, false, &support_error));
  check(idm_dynamics_create(e.directions.own->sizes, &moved, &support_error));
  assert_true(e.directions.count > 3);
  for (size_t i = 0; i < e.directions.count; i++) {
    double low, high;
    idm_direction_limits(&e.directions, i, &low, &high);
    if (fmin(-low, high) < 1e-3) continue; /* no room for differences at a limit */
    idm_direction_shift(&e.directions, i, h, moved);
    const double above = plain(problem, moved, data);
    idm_direction_shift(&e.directions, i, -h, moved);
    const double below = plain(problem, moved, data);
    assert_near(e.score[i], (above - below) / (2 * h), 1e-5);
    assert_near(e.information[i], plain_information(problem, data, &e.directions, i), 1e-5);
  }
  idm_dynamics_destroy(moved);
  idm_environment_close(&e);
}

static idm_data *wander(const idm_problem *problem, size_t trajectories, int steps, uint64_t seed)
{
  return support_simulate(
      problem, (idm_simulation){.trajectories = trajectories, .steps = steps, .seed = seed});
}

/* Random problems, with observations emitted by the state after or before the action. */
static void test_scores(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    idm_random random;
    idm_random_init(&random, seed, 0);
    idm_problem *problem = support_problem((support_shape){3, 2, 3, 1, 4}, &random);
    problem->setting->emits_before = seed % 2 == 0;
    idm_data *data = wander(problem, 4, 6, seed);
    for (size_t row = 0; row < data->rows; row++) data->action[row] = (int32_t)(row % 2);
    compare_with_plain(problem, data);
    /* A missing observation is summed over; a missing action ends the trajectory. */
    data->observation[2] = IDM_MISSING;
    data->action[data->first[1] + 2] = IDM_MISSING;
    compare_with_plain(problem, data);
    environment_check e;
    check(idm_environment_open(&e, problem, data, false, &support_error));
    assert_int_equal(e.excluded, data->first[2] - data->first[1] - 2);
    assert_int_equal(e.observations + e.excluded + 1, data->rows);
    idm_environment_close(&e);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* --- two sites ------------------------------------------------------------------------------ */

/* DIAG at one site: tests are right with probability `right`, and the agent's models are around it.
 */
static idm_problem *make_site(double right)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0);
  problem->agent.resolution = 20;
  for (size_t u = 0; u < 3; u++)
    for (size_t s = 0; s < 2; s++)
      for (size_t o = 0; o < 2; o++)
        for (size_t m = 0; m < 4; m++) {
          const double p = right + (m == 3 ? 0 : 0.1 * ((double)m - 1));
          double *at = m == 3 ? problem->setting->emission
                              : problem->theta->block[IDM_EMISSION].value + 12 * m;
          at[(u * 2 + s) * 2 + o] = s == o ? p : 1 - p;
        }
  return problem;
}

/* The log of a site, checked under a problem file with probability .70. */
static void judge_site(double right, assessed_fit *a)
{
  idm_problem *site = make_site(right);
  idm_data *data = wander(site, 300, 50, 4);
  idm_problem_destroy(site);
  assessed_fit_open(a, make_site(0.7), data, "alpha, beta");
  check(idm_check_chance(&a->q, &support_error));
}

static void test_two_sites(void **state)
{
  (void)state;
  assessed_fit a;
  judge_site(0.7, &a);
  assert_int_equal(a.assessment->misfits.count, 0);
  assert_int_equal(a.assessment->checks.of[IDM_CHECK_ENVIRONMENT].outcome, IDM_CHECK_PASSED);
  assert_true(a.assessment->model.test[IDM_TEST_ENVIRONMENT].evaluated);
  assessed_fit_close(&a);
  judge_site(0.65, &a);
  assert_int_equal(a.assessment->checks.of[IDM_CHECK_ENVIRONMENT].outcome, IDM_CHECK_MISFIT);
  assert_true(support_mentions(&a.assessment->misfits, "observations after `monitor`"));
  assert_true(support_mentions(&a.assessment->misfits,
                               "the file gives 0.70 to the likeliest observation of each state, "
                               "this log is best described by 0.6"));
  environment_check e;
  check(idm_environment_open(&e, a.problem, a.data, false, &support_error));
  assert_near(e.best, 0.65, 4 * idm_environment_error(&e, e.worst));
  assert_true(idm_environment_error(&e, e.worst) < 0.02);
  /* The best value is the maximum of the likelihood along the direction. */
  idm_dynamics *at;
  double value[3];
  check(idm_dynamics_create(e.directions.own->sizes, &at, &support_error));
  for (int k = 0; k < 3; k++) {
    idm_direction_shift(&e.directions, e.worst, e.best - 0.7 + 1e-3 * (k - 1), at);
    value[k] = plain(a.problem, at, a.data);
  }
  assert_true(value[1] > value[0] && value[1] > value[2]);
  assert_near((value[2] - value[0]) / (value[0] + value[2] - 2 * value[1]), 0, 0.01);
  idm_dynamics_destroy(at);
  idm_environment_close(&e);
  assessed_fit_close(&a);
}

/* --- false alarms --------------------------------------------------------------------------- */

static idm_problem *make_tiger(void)
{
  static const char text[] =
      "states: [left, right]\n"
      "actions: [listen, open_left, open_right]\n"
      "observations: [hear_left, hear_right]\n"
      "start: [0.5, 0.5]\n"
      "discount: 0.75\n"
      "transition: {listen: identity, \"*\": uniform}\n"
      "observation: {listen: [[0.85, 0.15], [0.15, 0.85]], \"*\": uniform}\n"
      "utility: {listen: -1, open_left: [-100, 10], open_right: [10, -100]}\n"
      "agent: {planner: bounded-rational, alpha: 5, resolution: 20}\n";
  return support_yaml(text);
}

/* The environment is true and the level is .01: more than MOST of LOGS logs fail with probability
 * 1e-3. */
static void count_alarms(const idm_problem *problem, size_t trajectories, int steps)
{
  enum { LOGS = 250, MOST = 8 };
  idm_workspace *workspace = support_plan(problem, NULL);
  size_t alarms = 0, evaluated = 0;
  for (uint64_t seed = 1; seed <= LOGS; seed++) {
    const idm_simulation simulation = {.trajectories = trajectories, .steps = steps, .seed = seed};
    idm_data *data;
    environment_check e;
    check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                       &support_error));
    check(idm_environment_open(&e, problem, data, false, &support_error));
    evaluated += e.evaluated > 0;
    alarms += e.evaluated && e.min_p <= 0.01;
    idm_environment_close(&e);
    idm_data_destroy(data);
  }
  idm_workspace_destroy(workspace);
  assert_int_equal(evaluated, LOGS);
  print_message("%zu alarms in %d logs\n", alarms, LOGS);
  if (alarms > MOST) fail_msg("%zu of %d right environments raised an alarm", alarms, LOGS);
}

static void test_false_alarms(void **state)
{
  (void)state;
  idm_problem *diag = make_site(0.7), *tiger = make_tiger();
  count_alarms(diag, 40, 30);
  count_alarms(tiger, 1, 150);
  idm_problem_destroy(diag);
  idm_problem_destroy(tiger);
}

/* Outcomes with probabilities of .004 to .03, most of which occur at most twice. A normal
 * approximation rejects far too often. */
static void test_rare_outcomes(void **state)
{
  (void)state;
  enum { LOGS = 3000 };
  static const char text[] = "states: [a, b]\n"
                             "actions: [go, wait]\n"
                             "observations: [common, rare, rarer]\n"
                             "start: [0.9, 0.1]\n"
                             "discount: 0.5\n"
                             "transition: {go: [[0.97, 0.03], [0.02, 0.98]], wait: identity}\n"
                             "observation: {\"*\": [[0.98, 0.016, 0.004], [0.6, 0.39, 0.01]]}\n"
                             "utility: {go: [1, 0], wait: [0, 1]}\n"
                             "agent: {planner: bounded-rational, alpha: 1, resolution: 5}\n";
  idm_problem *problem = support_yaml(text);
  idm_workspace *workspace = support_plan(problem, NULL);
  size_t below[2] = {0}, normal = 0;
  for (uint64_t seed = 1; seed <= LOGS; seed++) {
    const idm_simulation simulation = {.trajectories = 5, .steps = 8, .seed = seed};
    idm_data *data;
    environment_check e;
    check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                       &support_error));
    check(idm_environment_open(&e, problem, data, false, &support_error));
    double min_p = 1;
    for (size_t i = 0; i < e.directions.count; i++)
      if (!isnan(e.p[i])) min_p = fmin(min_p, erfc(fabs(e.score[i]) / sqrt(2 * e.information[i])));
    below[0] += e.min_p <= 0.01;
    below[1] += e.min_p <= 0.05;
    normal += min_p * (double)e.evaluated <= 0.01;
    idm_environment_close(&e);
    idm_data_destroy(data);
  }
  print_message("p <= .01 in %zu, p <= .05 in %zu of %d; normal: %zu\n", below[0], below[1], LOGS,
                normal);
  /* Bounds: the level plus three standard errors. */
  assert_true((double)below[0] <= 0.01 * LOGS + 3 * sqrt(0.01 * LOGS));
  assert_true((double)below[1] <= 0.05 * LOGS + 3 * sqrt(0.05 * LOGS));
  assert_true((double)normal > 0.02 * LOGS);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* --- what cannot be tested ------------------------------------------------------------------ */

/* A missed response without an action: with one state only its own row is not tested; with several,
 * later rows of the trajectory are excluded. With an action assigned to missed responses, all rows
 * are tested. */
static void test_missed(void **state)
{
  (void)state;
  static const struct {
    const char *problem, *missed;
    uint64_t observations, excluded;
  } cases[] = {
      {"states: 1\ntransition: identity\nobservation: {u: [[0.8, 0.2]], v: [[0.5, 0.5]]}\n"
       "utility: {\"*\": 0}\n",
       "late", 20, 0},
      {"states: 2\ntransition: {\"*\": [[0.9, 0.1], [0.2, 0.8]]}\n"
       "observation: {\"*\": [[0.8, 0.2], [0.5, 0.5]]}\nutility: {\"*\": 0}\n",
       "late", 10, 20},
      {"states: 2\ntransition: {\"*\": [[0.9, 0.1], [0.2, 0.8]]}\n"
       "observation: {\"*\": [[0.8, 0.2], [0.5, 0.5]]}\nutility: {\"*\": 0}\n",
       "{values: late, action: u}", 30, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[600], log[1000] = "trajectory,action,observation,reward\n";
    snprintf(text, sizeof text,
             "%sactions: [u, v]\nobservations: [x, y]\ndiscount: 0\nagent: {planner: td-learner}\n"
             "data: {missed: %s}\n",
             cases[i].problem, cases[i].missed);
    for (int t = 0; t < 10; t++) {
      const size_t used = strlen(log);
      snprintf(log + used, sizeof log - used, "%d,u,%s,0\n%d,late,y,\n%d,v,x,0\n", t,
               t % 3 ? "x" : "y", t, t);
    }
    idm_problem *problem = support_yaml(text);
    idm_data *data = support_data(problem, log);
    environment_check e;
    check(idm_environment_open(&e, problem, data, false, &support_error));
    assert_int_equal(e.observations, cases[i].observations);
    assert_int_equal(e.excluded, cases[i].excluded);
    idm_environment_close(&e);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

static void test_nothing_to_test(void **state)
{
  (void)state;
  environment_check e;
  idm_problem *problem = support_diag(1, 1, 0);
  idm_data *data = support_data(problem, "trajectory,action,observation\n1,monitor,negative\n");
  check(idm_environment_open(&e, problem, data, false, &support_error));
  /* A single observation has almost no information on the probability that a test is right. */
  assert_true(e.evaluated <= 1);
  idm_environment_close(&e);
  idm_data_destroy(data);
  data = support_data(problem, "trajectory,action,observation\n1,declare_healthy,negative\n");
  check(idm_environment_open(&e, problem, data, false, &support_error));
  assert_int_equal(e.observations, 0);
  assert_false(idm_environment_result(&e).evaluated);
  assert_string_equal(e.skip_reason, "the log has too few observations (0)");
  idm_environment_close(&e);
  free(problem->setting->emission);
  problem->setting->emission = NULL;
  check(idm_environment_open(&e, problem, data, false, &support_error));
  assert_string_equal(e.skip_reason, "the problem has no dynamics of its own");
  idm_environment_close(&e);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* With observed states, a row of transitions is a multinomial distribution, and the score of a
 * probability follows from its counts. With dense matrices and with sparse rows. */
static void test_observed_states(void **state)
{
  (void)state;
  static const char *const transitions[2] = {
      "transition: {go: [[0.1, 0.6, 0.3], [0, 0.8, 0.2], [1, 0, 0]], stay: identity}\n",
      "transition: {go: {a: {a: 0.1, b: 0.6, c: 0.3}, b: {b: 0.8, c: 0.2}, c: {a: 1}},\n"
      "  stay: {a: {a: 1}, b: {b: 1}, c: {c: 1}}}\n"};
  static const char log[] = "trajectory,state,action\n1,a,go\n1,b,go\n1,b,go\n1,c,stay\n1,c,go\n"
                            "1,a,go\n1,a,go\n1,c,go\n1,a,go\n1,b,stay\n1,b,go\n1,b,stay\n";
  for (int by_rows = 0; by_rows < 2; by_rows++) {
    char text[800];
    snprintf(text, sizeof text,
             "states: [a, b, c]\nactions: [go, stay]\nobservations: states\ndiscount: 0.9\n%s"
             "utility: {go: 1, stay: 0}\nagent: {alpha: 1}\n",
             transitions[by_rows]);
    idm_problem *problem = support_yaml(text);
    assert_int_equal(problem->setting->moves != NULL, by_rows);
    idm_data *data = support_data(problem, log);
    environment_check e;
    check(idm_environment_open(&e, problem, data, false, &support_error));
    char name[80];
    bool found[2] = {0};
    for (size_t i = 0; i < e.directions.count; i++) {
      idm_direction_name(&e.directions, i, name, sizeof name);
      /* From a by go: to a once, to b twice, to c once. From b by go: to b twice, to c once. */
      if (strcmp(name, "transition[go,a,b]") == 0) {
        assert_near(e.score[i], 2 / 0.6 - 2 / 0.4, 1e-12);
        assert_near(e.information[i], 4 / 0.6 / 0.4, 1e-12);
        found[0] = true;
      }
      if (strcmp(name, "transition[go,b,b]") == 0) {
        assert_near(e.score[i], 2 / 0.8 - 1 / 0.2, 1e-12);
        assert_near(e.information[i], 3 / 0.8 / 0.2, 1e-12);
        found[1] = true;
      }
    }
    assert_true(found[0] && found[1]);
    idm_environment_close(&e);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* With observed states a one-step plan does not use the dynamics, so that wrong dynamics are a
 * remark; for a two-step plan they are a misfit. */
static void test_one_step(void **state)
{
  (void)state;
  static const struct {
    const char *discount, *horizon;
    bool reads;
  } given[] = {{"0", "", false}, {"0.9", "horizon: 1\n", false}, {"0.9", "horizon: 2\n", true}};
  for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
    char text[600];
    snprintf(text, sizeof text,
             "states: [a, b]\nactions: [go, stay]\nobservations: states\ndiscount: %s\n%s"
             "transition: {go: [[0.1, 0.9], [0.9, 0.1]], stay: identity}\n"
             "utility: {go: [1, 0], stay: [0, 0.5]}\nagent: {alpha: 1}\n",
             given[k].discount, given[k].horizon);
    idm_problem *problem = support_yaml(text);
    char log[4000] = "trajectory,state,action\n";
    for (int t = 0; t < 60; t++) /* stays in a half of the time, where the file gives .1 */
      snprintf(log + strlen(log), sizeof log - strlen(log), "%d,a,go\n%d,%s,\n", t, t,
               t % 2 ? "a" : "b");
    idm_data *data = support_data(problem, log);
    environment_check e;
    idm_assessment a = {0};
    check(idm_environment_open(&e, problem, data, false, &support_error));
    idm_checks_begin(&a.checks, IDM_CHECK_FIT);
    idm_environment_record(&e, problem, false, 0.01, &a);
    assert_int_equal(a.misfits.count, given[k].reads);
    assert_true(
        support_mentions(given[k].reads ? &a.misfits : &a.remarks, "contradict the environment"));
    idm_notes_clear(&a.misfits);
    idm_notes_clear(&a.remarks);
    idm_environment_close(&e);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* An observation of probability 0 is a misfit without a test. */
static void test_impossible(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(1, 1, 0);
  idm_assessment assessment = {0};
  environment_check e;
  memcpy(problem->setting->emission + 8, (double[]){1, 0, 0.3, 0.7}, 4 * sizeof(double));
  memcpy(problem->setting->start, (double[]){1, 0}, 2 * sizeof(double));
  idm_data *data =
      support_data(problem, "trajectory,action,observation\n1,monitor,negative\n"
                            "1,monitor,positive\n1,monitor,negative\n2,monitor,negative\n");
  check(idm_environment_open(&e, problem, data, false, &support_error));
  assert_int_equal(e.impossible, 1);
  assert_int_equal(e.impossible_row, 1);
  idm_checks_begin(&assessment.checks, IDM_CHECK_FIT);
  idm_environment_record(&e, problem, false, 0.01, &assessment);
  assert_int_equal(assessment.checks.of[IDM_CHECK_ENVIRONMENT].outcome, IDM_CHECK_MISFIT);
  assert_true(support_mentions(&assessment.misfits, "1 of them has probability 0"));
  idm_notes_clear(&assessment.misfits);
  idm_notes_clear(&assessment.remarks);
  idm_environment_close(&e);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- residuals ------------------------------------------------------------------------------ */

/* A marker observed at every step, independent of the actions. The true dynamics have three states,
 * the model has two. */
static idm_problem *make_marker(bool three)
{
  static const char head[] = "actions: [wait, treat]\nobservations: [low, middle, high]\n"
                             "discount: 0.5\nutility: {wait: 0, treat: 0}\n"
                             "agent: {planner: bounded-rational, alpha: 1, resolution: 5}\n";
  static const char *const states[] = {
      "states: [a, b]\nstart: [0.6, 0.4]\ntransition: {'*': [[0.9, 0.1], [0.1, 0.9]]}\n"
      "observation: {'*': [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]}\n",
      "states: [a, b, c]\nstart: [0.4, 0.3, 0.3]\ntransition: {'*': identity}\n"
      "observation: {'*': [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]]}\n"};
  char text[1000];
  snprintf(text, sizeof text, "%s%s", head, states[three]);
  return support_yaml(text);
}

/* Learn dynamics of two states from simulated logs, and count those whose residuals are rejected at
 * a level of .01. */
static size_t count_fitted(bool three, size_t logs)
{
  idm_problem *truth = make_marker(three);
  idm_learn_settings settings;
  size_t alarms = 0;
  idm_learn_settings_default(&settings);
  for (uint64_t seed = 1; seed <= logs; seed++) {
    idm_problem *model = make_marker(false);
    idm_data *data =
        support_simulate(truth, (idm_simulation){.trajectories = 60, .steps = 12, .seed = seed});
    data->sizes.states = 2; /* the log has no column of states */
    idm_iohmm *learner;
    idm_learn_result learnt = {0};
    environment_check e;
    check(idm_iohmm_create(model, data, 0, settings.hold, &learner, &support_error));
    check(idm_learn(learner, model, &settings, NULL, NULL, &learnt, &support_error));
    check(idm_problem_set_dynamics(model, learnt.dynamics, &support_error));
    check(idm_environment_open(&e, model, data, true, &support_error));
    assert_true(e.serial.evaluated && !e.evaluated);
    alarms += e.min_p <= 0.01;
    idm_environment_close(&e);
    idm_learn_result_clear(&learnt);
    idm_iohmm_destroy(learner);
    idm_data_destroy(data);
    idm_problem_destroy(model);
  }
  idm_problem_destroy(truth);
  return alarms;
}

/* Residuals of dynamics learnt from the same log: correct models are rejected in at most 1 % (of
 * 100 logs more than 5 fail with probability 5e-4), models that lack a state in most. */
static void test_fitted(void **state)
{
  (void)state;
  const size_t right = count_fitted(false, 100), wrong = count_fitted(true, 20);
  print_message("%zu of 100 right dynamics, %zu of 20 without a state\n", right, wrong);
  assert_true(right <= 5);
  assert_true(wrong >= 15);
}

/* The serial statistic computed from its definition: with one state, every probability is that of
 * the file. */
static void test_residuals_by_definition(void **state)
{
  (void)state;
  static const char text[] = "states: [s]\nactions: [go]\nobservations: [no, yes]\nstart: [1]\n"
                             "discount: 0.5\ntransition: {go: identity}\n"
                             "observation: {go: [[0.6, 0.4]]}\nutility: {go: 0}\n"
                             "agent: {planner: bounded-rational, alpha: 1}\n";
  enum { TRAJECTORIES = 60, STEPS = 6 };
  char csv[8000] = "trajectory,action,observation\n";
  double score = 0, variance = 0;
  for (int i = 0; i < TRAJECTORIES; i++) {
    double past = 0;
    for (int t = 0; t < STEPS; t++) {
      const bool yes = i % 3 == 0 ? t != 2 : (i + t) % 5 == 0;
      snprintf(csv + strlen(csv), sizeof csv - strlen(csv), "%d,go,%s\n", i, yes ? "yes" : "no");
      score += past * (yes - 0.4);
      variance += past * past * 0.4 * 0.6;
      past += yes - 0.4;
    }
  }
  idm_problem *problem = support_yaml(text);
  idm_data *data = support_data(problem, csv);
  environment_check e;
  idm_assessment a = {0};
  check(idm_environment_open(&e, problem, data, false, &support_error));
  assert_int_equal(e.serial.kind, SERIAL_AUTOCORRELATION);
  assert_int_equal(e.serial.evaluated, 2);
  assert_near(e.serial.score, score, 1e-12);
  assert_near(e.serial.statistic, score * score / variance, 1e-10);
  idm_checks_begin(&a.checks, IDM_CHECK_FIT);
  idm_environment_record(&e, problem, false, 0.01, &a);
  assert_true(support_mentions(&a.misfits, "`yes` recurs more within trajectories"));
  idm_notes_clear(&a.misfits);
  idm_notes_clear(&a.remarks);
  idm_environment_close(&e);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scores),       cmocka_unit_test(test_two_sites),
      cmocka_unit_test(test_false_alarms), cmocka_unit_test(test_rare_outcomes),
      cmocka_unit_test(test_missed),       cmocka_unit_test(test_nothing_to_test),
      cmocka_unit_test(test_impossible),   cmocka_unit_test(test_observed_states),
      cmocka_unit_test(test_fitted),       cmocka_unit_test(test_residuals_by_definition),
      cmocka_unit_test(test_one_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
