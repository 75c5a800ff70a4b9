/* MDPs of beliefs on a lattice: occupancies against interpolation written out here, and recovery of
 * policies. */
#include "invert/utility/belief_mdp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/statistics.h"
#include "invert/utility/belief_occupancy_support.h"
#include "invert/utility/mdp_support.h"

#define SOFT "planner: bounded-rational, alpha: 0.4, lapse: 0.1"

static const char name[] = "distribution-matching";

static idm_data *log_of(const idm_problem *problem, size_t trajectories)
{
  return support_simulate(problem,
                          (idm_simulation){.trajectories = trajectories, .steps = 20, .seed = 4});
}

static idm_fit_settings settings_of(idm_divergence divergence)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.divergence = divergence;
  return settings;
}

/* Index of lattice point i in belief_chain. */
static size_t step_of(const idm_belief_mdp *w, size_t i)
{
  return (size_t)lround(w->lattice->belief[i * BS + 1] * w->lattice->resolution);
}

/* Occupancies of a policy and of the demonstrator. */
static void test_occupancies(void **state)
{
  (void)state;
  belief_chain chain;
  double policy[BMOST + 1][BU], expected[BMOST + 1][BU];
  double own[(BMOST + 1) * BU], found[(BMOST + 1) * BU];
  idm_problem *problem = belief_problem(BMOST, SOFT, "alpha");
  idm_data *data = log_of(problem, 20);
  idm_pomdp *pomdp;
  idm_belief_mdp *w;
  idm_row_states *row_states;
  idm_demonstrator *d;
  check(idm_pomdp_create_any(problem, data, name, &pomdp, &support_error));
  check(idm_belief_mdp_create(pomdp, BMOST, name, &w, &support_error));
  assert_int_equal(w->lattice->points, BMOST + 1);
  belief_chain_make(BMOST, &chain);
  belief_plan(&chain, 0.4, 0.1, policy);
  belief_visit(&chain, policy, expected);
  for (size_t e = 0; e < (BMOST + 1) * BU; e++) own[e] = policy[step_of(w, e / BU)][e % BU];
  check(idm_mdp_occupancy(w->mdp, own, found, &support_error));
  for (size_t e = 0; e < (BMOST + 1) * BU; e++)
    assert_near(found[e], expected[step_of(w, e / BU)][e % BU], 1e-12);
  check(idm_belief_mdp_row_states(w, pomdp, data, &row_states, NULL, &support_error));
  check(idm_demonstrator_create_at(w->mdp, data, row_states, NULL, &d, &support_error));
  check(idm_demonstrator_occupancy(d, w->mdp, data, problem->setting, false, found, NULL,
                                   &support_error));
  belief_demonstrate(&chain, data, expected);
  for (size_t e = 0; e < (BMOST + 1) * BU; e++)
    assert_near(found[e], expected[step_of(w, e / BU)][e % BU], 1e-12);
  assert_int_equal(d->decisions, 400);
  idm_demonstrator_destroy(d);
  idm_belief_mdp_destroy(w);
  idm_pomdp_destroy(pomdp);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static double slow_loss(const belief_chain *chain, const idm_data *data, double alpha)
{
  double p[BMOST + 1][BU], q[BMOST + 1][BU];
  belief_compare(chain, data, alpha, 0.1, p, q);
  return belief_diverge(chain, p, q);
}

/* Minimum over log alpha by golden section search. */
static double slow_alpha(const belief_chain *chain, const idm_data *data)
{
  const double ratio = 0.5 * (sqrt(5) - 1);
  double low = log(0.05), high = log(3);
  for (int k = 0; k < 40; k++) {
    const double a = high - ratio * (high - low), b = low + ratio * (high - low);
    if (slow_loss(chain, data, exp(a)) < slow_loss(chain, data, exp(b)))
      high = b;
    else
      low = a;
  }
  return exp((low + high) / 2);
}

/* One parameter of a planner: equals the independent minimum, with a closed certificate, and is
 * near the truth (8,000 decisions: five sds are below a tenth). Close beliefs are merged for so
 * many decisions, which changes the objective by 1e-8. */
static void test_number(void **state)
{
  (void)state;
  belief_chain chain;
  idm_problem *problem = belief_problem(BMOST, SOFT, "alpha");
  idm_data *data = log_of(problem, 400);
  const idm_fit_settings settings = settings_of(IDM_DIVERGENCE_JS);
  idm_posterior *found = support_fit(name, problem, data, &settings);
  belief_chain_make(BMOST, &chain);
  const double expected = slow_alpha(&chain, data);
  assert_near(found->value[0], expected, 1e-6);
  assert_near(found->value[0], 0.4, 0.04);
  assert_near(found->optimality->objective, slow_loss(&chain, data, expected), 1e-7);
  assert_true(idm_optimality_certified(found->optimality));
  assert_int_equal(found->optimality->faults.count, 0);
  assert_true(support_mentions(&found->optimality->words, "41 beliefs of a lattice"));
  idm_posterior_destroy(found);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Draws are centred at the independent minimum, since the prior is nearly flat relative to 2,000
 * decisions; the mode at half the resolution is compared. */
static void test_draws(void **state)
{
  (void)state;
  belief_chain chain;
  idm_problem *problem = belief_problem(BMOST, SOFT, "alpha");
  idm_data *data = log_of(problem, 100);
  idm_fit_settings settings = settings_of(IDM_DIVERGENCE_JS);
  settings.loss_scale = 4;
  settings.chains = 2;
  settings.warmup = 100;
  settings.draws = 400;
  idm_posterior *p = support_fit("distribution-matching-bayes", problem, data, &settings);
  const idm_moments found = idm_moments_of(p->value, 800);
  belief_chain_make(BMOST, &chain);
  assert_near(found.mean, slow_alpha(&chain, data), 0.3 * sqrt(found.variance));
  double apart = NAN;
  for (size_t i = 0; i < p->optimality->words.count; i++) {
    const char *at = strstr(p->optimality->words.text[i], "at resolution 20 the mode is ");
    if (at) (void)sscanf(at, "at resolution 20 the mode is %lf", &apart);
  }
  assert_true(apart > 0.05 && apart < 1);
  assert_int_equal(p->optimality->faults.count, apart > 0.3);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Planners without a lattice: a fitted rule, prototypes and network have nearly the log loss of the
 * truth, from 8,000 decisions (2,000 for the network). Some weights of the network are unbounded,
 * so its certificate stays open. */
static void test_policies(void **state)
{
  (void)state;
  static const char *const agents[][2] = {
      {"planner: decision-rule, weights: {use: [0, 0, 0], mend: [0, -1.5, 1], look: [0, -1, 0.2]}",
       "weights"},
      {"planner: prototype, sharpness: 8, prototypes: {use: [0.9, 0.1], mend: [0.1, 0.9], "
       "look: [0.6, 0.4]}",
       "sharpness"},
      {"planner: decision-network, hidden: 3, seed: 2", "network"}};
  const idm_fit_settings settings = settings_of(IDM_DIVERGENCE_JS);
  for (size_t i = 0; i < 3; i++) {
    idm_problem *problem = belief_problem(BMOST, agents[i][0], agents[i][1]);
    idm_data *data = log_of(problem, i < 2 ? 400 : 100);
    idm_posterior *found = support_fit(name, problem, data, &settings);
    idm_projection projection;
    assert_int_equal(idm_optimality_certified(found->optimality), i < 2);
    if (i < 2) assert_int_equal(found->optimality->faults.count, 0);
    check(idm_projection_measure_centre(problem, found, data, &projection, &support_error));
    idm_workspace *workspace = support_plan(problem, NULL);
    support_scored truth = support_open_score(workspace, data);
    assert_true(projection.log_loss <= -truth.score.log_likelihood / (double)data->rows + 0.002);
    support_close_score(&truth);
    idm_workspace_destroy(workspace);
    idm_posterior_destroy(found);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Ten decisions per point and action, between a resolution of 5 and that of the agent. */
static void test_resolution(void **state)
{
  (void)state;
  idm_problem *problem = belief_problem(BMOST, SOFT, "alpha");
  idm_data data = {.rows = 30 * 31};
  assert_int_equal(idm_belief_mdp_resolution(problem, &data), 30);
  data.rows = 100000;
  assert_int_equal(idm_belief_mdp_resolution(problem, &data), BMOST);
  data.rows = 10;
  assert_int_equal(idm_belief_mdp_resolution(problem, &data), IDM_BELIEF_COARSEST);
  idm_problem_destroy(problem);
}

static void refused(const char *agent, const char *free_blocks, const idm_fit_settings *settings,
                    const char *words)
{
  idm_problem *problem = belief_problem(20, agent, free_blocks);
  idm_data *data = log_of(problem, 5);
  support_refused(name, problem, data, settings, words);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void test_refused(void **state)
{
  (void)state;
  idm_fit_settings settings = settings_of(IDM_DIVERGENCE_JS);
  refused(SOFT, "emission", &settings, "which is free");
  refused(SOFT, "sensor_capacity", &settings, "which is free");
  refused(SOFT ", sensor_capacity: 0.2", "alpha", &settings, "finite sensor_capacity");
  refused(SOFT ", perseverance: 0.5", "alpha", &settings, "compares policies by belief");
  refused("planner: td-learner", "inverse_temperature", &settings, "on more than the belief");
  settings.occupancy = IDM_OCCUPANCY_EMPIRICAL;
  idm_problem *problem = belief_problem(20, SOFT, "alpha");
  idm_data *data = log_of(problem, 5);
  problem->theta->block[IDM_EMISSION].value[0] += 0.1;
  problem->theta->block[IDM_EMISSION].value[1] -= 0.1;
  support_refused(name, problem, data, &settings, "differ from the model of the agent");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_occupancies), cmocka_unit_test(test_number),
      cmocka_unit_test(test_policies),    cmocka_unit_test(test_resolution),
      cmocka_unit_test(test_refused),     cmocka_unit_test(test_draws),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
