/* Projections (log loss, Brier score, divergence) against sums over raw rows, with histories
 * compared as strings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MOST_ROWS = 2000, ACTIONS = 3 };

/* --- a plain computation -------------------------------------------------------------------- */

/* One decision: its history as text, the action taken, the probabilities of all actions. */
typedef struct choice {
  char history[200];
  int action;
  double probability[ACTIONS];
} choice;

static size_t open_count(const idm_data *data, size_t row)
{
  size_t open = 0;
  for (size_t u = 0; u < ACTIONS; u++)
    open += data->available_set[data->available[row] * ACTIONS + u];
  return open;
}

/* Runs the behaviour along every trajectory and lists its decisions. */
static size_t walk(idm_behavior behavior, const idm_data *data, choice *list)
{
  void *memory;
  size_t count = 0;
  check(behavior.ops->memory_create(behavior.content, &memory, &support_error));
  for (size_t t = 0; t < data->trajectories; t++) {
    char history[200] = "";
    check(behavior.ops->begin_agent(behavior.content, memory, &support_error));
    check(behavior.ops->begin_trajectory(behavior.content, memory, memory, data->variant[t], NULL,
                                         &support_error));
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      const bool *open = data->available_set + data->available[r] * ACTIONS;
      choice *c = &list[count];
      assert_true(count < MOST_ROWS);
      check(behavior.ops->act(behavior.content, memory, open, c->probability, &support_error));
      snprintf(c->history, sizeof c->history, "%s?%u", history, data->available[r]);
      c->action = data->action[r];
      if (data->action[r] != IDM_MISSING && open_count(data, r) > 1) count++;
      const size_t length = strlen(history);
      snprintf(history + length, sizeof history - length, "(%u:%d,%d)", data->available[r],
               data->action[r], data->observation[r]);
      if (r + 1 < data->first[t + 1])
        support_observe(behavior, memory, memory, support_event(data, t, r));
    }
  }
  behavior.ops->memory_destroy(memory);
  return count;
}

static idm_projection plain_measure(const choice *list, size_t count)
{
  idm_projection p = {.decisions = count};
  double divergence = 0;
  for (size_t i = 0; i < count; i++) {
    const choice *c = &list[i];
    p.log_loss -= log(c->probability[c->action]) / (double)count;
    for (int v = 0; v < ACTIONS; v++)
      p.brier += pow(c->probability[v] - (v == c->action), 2) / (double)count;
    size_t all = 0, same = 0;
    for (size_t j = 0; j < count; j++) {
      const bool here = strcmp(list[j].history, c->history) == 0;
      all += here;
      same += here && list[j].action == c->action;
    }
    if (all < 2) continue;
    p.repeated++;
    divergence += log((double)same / (double)all) - log(c->probability[c->action]);
  }
  p.divergence = divergence / (double)p.repeated;
  return p;
}

static void check_measure(const idm_problem *problem, const idm_data *data)
{
  static choice list[MOST_ROWS];
  idm_workspace *workspace = support_plan(problem, NULL);
  const size_t count = walk(idm_workspace_behavior(workspace), data, list);
  const idm_projection plain = plain_measure(list, count);
  idm_projection p;
  check(idm_projection_measure(problem, problem->theta, data, &p, &support_error));
  assert_int_equal(p.decisions, plain.decisions);
  assert_int_equal(p.repeated, plain.repeated);
  assert_near(p.log_loss, plain.log_loss, 1e-10);
  assert_near(p.brier, plain.brier, 1e-10);
  if (plain.repeated)
    assert_near(p.divergence, plain.divergence, 1e-10);
  else
    assert_true(isnan(p.divergence));
  idm_workspace_destroy(workspace);
}

/* --- tests ---------------------------------------------------------------------------------- */

static idm_problem *make_problem(double beta)
{
  idm_problem *problem = support_diag(0.8, beta, 0.3);
  problem->agent.resolution = 30;
  return problem;
}

static idm_data *make_data(const idm_problem *problem, size_t trajectories)
{
  const idm_simulation simulation = {.trajectories = trajectories, .steps = 10, .seed = 5};
  return support_simulate(problem, simulation);
}

/* The log of one agent against its own behaviour and against another agent's. */
static void test_simulated(void **state)
{
  (void)state;
  idm_problem *optimist = make_problem(1.25), *neutral = make_problem(INFINITY);
  idm_data *data = make_data(optimist, 150);
  idm_projection own, other;
  check_measure(optimist, data);
  check_measure(neutral, data);
  check(idm_projection_measure(optimist, optimist->theta, data, &own, &support_error));
  check(idm_projection_measure(optimist, neutral->theta, data, &other, &support_error));
  assert_true(own.log_loss < other.log_loss && own.divergence < other.divergence);
  assert_true(own.divergence >= 0);
  idm_data_destroy(data);
  idm_problem_destroy(optimist);
  idm_problem_destroy(neutral);
}

/* A history is also divided by the available actions; forced and unrecorded rows are not decisions.
 */
static void test_available_and_missing(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(1.25);
  idm_data *data = support_data(problem, "trajectory,action,observation,available\n"
                                         "1,monitor,negative,\n"
                                         "1,declare_healthy,negative,declare_healthy|monitor\n"
                                         "2,monitor,negative,\n"
                                         "2,monitor,negative,declare_healthy|monitor\n"
                                         "2,declare_healthy,negative,\n"
                                         "3,monitor,negative,monitor|declare_healthy\n"
                                         "3,declare_diseased,negative,\n"
                                         "4,monitor,negative,monitor\n"
                                         "4,declare_diseased,positive,\n"
                                         "5,declare_diseased,positive,\n"
                                         "6,monitor,positive,\n"
                                         "6,monitor,negative,\n"
                                         "6,monitor,,\n"
                                         "7,,,\n");
  check_measure(problem, data);
  idm_data_destroy(data);
  data = support_data(problem, "trajectory,action,observation\n1,monitor,negative\n"
                               "1,declare_healthy,negative\n");
  check_measure(problem, data); /* no history occurs twice */
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A decision with probability 0 has an infinite loss. */
static void test_impossible(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0, INFINITY, 0);
  idm_data *data =
      support_data(problem, "trajectory,action,observation\n1,declare_healthy,negative\n"
                            "2,monitor,negative\n");
  idm_projection p;
  check(idm_projection_measure(problem, problem->theta, data, &p, &support_error));
  assert_true(p.log_loss == INFINITY && p.divergence == INFINITY);
  assert_near(p.brier, 1, 1e-12);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* F o G: the behaviour at the centre of the posterior. */
static void test_project(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(1.25);
  check(idm_problem_set_free(problem, "{beta: {scale: inverse}}", &support_error));
  idm_data *data = make_data(problem, 60);
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = settings.warmup = 30;
  settings.threads = 1;
  for (size_t i = 0; idm_inverse_at(i); i++) {
    idm_posterior *posterior;
    idm_projection projection, at_centre;
    double centre = NAN, mean = 0;
    if (idm_inverse_check(idm_inverse_at(i), problem, data, NULL) != IDM_OK) continue;
    check(idm_project(problem, data, idm_inverse_at(i), &settings, NULL, &posterior, &projection,
                      NULL, &support_error));
    const size_t all = posterior->chains * posterior->draws;
    idm_posterior_centre(posterior, &centre);
    for (size_t k = 0; k < all; k++) mean += posterior->unconstrained[k] / (double)all;
    assert_near(centre, mean, 1e-14);
    idm_theta_set_scalar(problem->theta, IDM_BETA, 1 / mean);
    check(idm_projection_measure(problem, problem->theta, data, &at_centre, &support_error));
    assert_near(projection.log_loss, at_centre.log_loss, 1e-9);
    assert_near(projection.brier, at_centre.brier, 1e-9);
    assert_near(projection.divergence, at_centre.divergence, 1e-9);
    assert_int_equal(projection.decisions, data->rows);
    idm_posterior_destroy(posterior);
  }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Policies averaged over draws: probabilities are averaged, not their logarithms. */
static void test_draws(void **state)
{
  enum { DRAWS = 7 };
  (void)state;
  static choice list[MOST_ROWS], one[MOST_ROWS];
  idm_problem *problem = make_problem(1.25);
  check(idm_problem_set_free(problem, "{beta: {scale: inverse, prior: {normal: [0, 4]}}}",
                             &support_error));
  idm_data *data = make_data(problem, 40);
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.chains = 1;
  settings.draws = DRAWS;
  settings.warmup = 20;
  settings.threads = 1;
  idm_posterior *posterior;
  check(idm_inverse_fit(idm_inverse_find("bayes"), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  size_t count = 0;
  for (size_t k = 0; k < DRAWS; k++) {
    /* Draws far apart, so that the policy at the centre differs from the mean policy. */
    posterior->unconstrained[k] = 6 * (double)k - 10;
    idm_theta_set_scalar(problem->theta, IDM_BETA, 1 / posterior->unconstrained[k]);
    idm_workspace *workspace = support_plan(problem, NULL);
    count = walk(idm_workspace_behavior(workspace), data, one);
    if (!k) memcpy(list, one, sizeof list);
    for (size_t i = 0; i < count; i++)
      for (size_t u = 0; u < ACTIONS; u++)
        list[i].probability[u] = (k ? list[i].probability[u] : 0) + one[i].probability[u] / DRAWS;
    idm_workspace_destroy(workspace);
  }
  const idm_projection plain = plain_measure(list, count);
  idm_projection p, centre;
  check(idm_projection_draws(problem, posterior, data, &p, &support_error));
  check(idm_projection_measure_centre(problem, posterior, data, &centre, &support_error));
  assert_int_equal(p.decisions, plain.decisions);
  assert_int_equal(p.repeated, plain.repeated);
  assert_near(p.log_loss, plain.log_loss, 1e-9);
  assert_near(p.brier, plain.brier, 1e-9);
  assert_near(p.divergence, plain.divergence, 1e-9);
  assert_true(fabs(p.log_loss - centre.log_loss) > 1e-3);
  assert_near(p.uniform_log_loss, centre.uniform_log_loss, 1e-12);
  idm_posterior_destroy(posterior);
  /* A point estimate is its own centre. */
  settings.draws = 50;
  check(idm_inverse_fit(idm_inverse_find("map"), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  check(idm_projection_draws(problem, posterior, data, &p, &support_error));
  check(idm_projection_measure_centre(problem, posterior, data, &centre, &support_error));
  assert_true(p.log_loss == centre.log_loss && p.divergence == centre.divergence);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_simulated),  cmocka_unit_test(test_available_and_missing),
      cmocka_unit_test(test_impossible), cmocka_unit_test(test_project),
      cmocka_unit_test(test_draws),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
