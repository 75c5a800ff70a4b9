/* Tests the homogeneity of an agent's trajectories: products of scores within trajectories against
 * differences of their likelihoods, and moments over replicates. */
#include "invert/assess/residual.h"

#include <math.h>
#include <stdlib.h>

#include "invert/assess/context_support.h"

enum { TRAJECTORIES = 12, STEPS = 50 };

/* Fit trajectories with alpha[trajectory], each of a separate agent. */
static void open_all(assessed_fit *a, const double *alpha)
{
  idm_problem *problem = make_reversal(0.3);
  idm_data *data = simulate_agents(problem, alpha, TRAJECTORIES, 1, STEPS, 7);
  assessed_fit_open(a, problem, data, "alpha");
}

/* Assign all trajectories to one agent, and open the check. */
static void look(assessed_fit *a, decision_residuals *r, trajectories_check *c)
{
  assign_one_agent(a->data);
  check(idm_residual_open(r, &a->q, &support_error));
  check(idm_trajectories_open(c, r, &support_error));
  assert_int_equal(c->trajectories, TRAJECTORIES);
}

static void close_all(assessed_fit *a, decision_residuals *r, trajectories_check *c)
{
  idm_trajectories_close(c);
  idm_residual_close(r);
  assessed_fit_close(a);
}

/* The sum over trajectories of the squared score, from differences of the scorer's log-likelihoods
 * by agent. */
static double squared_scores(assessed_fit *a)
{
  const double h = 1e-4;
  double y[1], total, side[2][TRAJECTORIES], sum = 0;
  idm_context_draw(&a->q, 0, y);
  const double centre = y[0];
  for (int k = 0; k < 2; k++) {
    y[0] = centre + (k ? h : -h);
    check(idm_matching_log_likelihood(a->f.matching[0], y, &total, NULL, &support_error));
    idm_scorer_agents(idm_matching_scorer(a->f.matching[0]), side[k]);
  }
  for (size_t i = 0; i < TRAJECTORIES; i++) sum += pow((side[1][i] - side[0][i]) / (2 * h), 2);
  return sum;
}

/* The sum over decisions of the squared score. */
static double squares_of_decisions(const decision_residuals *r)
{
  double sum = 0;
  for (size_t i = 0; i < r->decision_points; i++)
    for (size_t u = 0; u < r->actions; u++)
      sum +=
          r->taken[i * r->actions + u] * pow(*idm_residual_score(r, &r->decision_point[i], u), 2);
  return sum;
}

static double statistic(const decision_residuals *r, trajectories_check *c)
{
  double shift[1];
  idm_residual_shift(r, r->taken, shift);
  return idm_trajectories_statistic(c, r->taken, shift);
}

static void differ(double *alpha)
{
  for (size_t i = 0; i < TRAJECTORIES; i++) alpha[i] = i % 2 ? 0.1 : 0.6;
}

static void test_products(void **state)
{
  (void)state;
  double alpha[TRAJECTORIES], between;
  const double unmoved = 0;
  assessed_fit a;
  decision_residuals r;
  trajectories_check c;
  differ(alpha);
  open_all(&a, alpha);
  const double squares = squared_scores(&a);
  look(&a, &r, &c);
  (void)idm_trajectories_statistic(&c, r.taken, &unmoved);
  const double products = (squares - squares_of_decisions(&r)) / 2;
  assert_near(c.sum[0], products, 1e-3 * products);
  assert_true(statistic(&r, &c) > 4);
  idm_trajectories_between(&c, &between);
  assert_true(between > 0.45 && between < 1.35); /* log(6) / 2 = .9 */
  close_all(&a, &r, &c);
}

/* The statistic after subtraction of the shift's part has mean 0 and the computed sd. Over 2,000
 * replicates the error of the mean is .022, that of the variance .032; the tolerance is four
 * errors. */
static void test_replicates(void **state)
{
  (void)state;
  enum { RUNS = 2000 };
  double alpha[TRAJECTORIES], shift, sum = 0, squares = 0;
  assessed_fit a;
  decision_residuals r;
  trajectories_check c;
  differ(alpha);
  open_all(&a, alpha);
  look(&a, &r, &c);
  double *taken = calloc(r.decision_points * r.actions, sizeof *taken);
  assert_non_null(taken);
  for (uint64_t run = 0; run < RUNS; run++) {
    idm_random random;
    idm_random_init(&random, 3, run);
    idm_residual_draw(&r, &random, taken);
    idm_residual_shift(&r, taken, &shift);
    (void)idm_trajectories_statistic(&c, taken, &shift);
    sum += c.sum[0] / c.sd[0];
    squares += pow(c.sum[0] / c.sd[0], 2);
  }
  assert_near(sum / RUNS, 0, 0.09);
  assert_near(squares / RUNS, 1, 0.13);
  free(taken);
  close_all(&a, &r, &c);
}

/* Trajectories of DIAG end by the agent's decisions. Of LOGS logs of a correct model, more than 3
 * exceed 2.33 with probability 6e-4. */
static void test_short_trajectories(void **state)
{
  (void)state;
  enum { LOGS = 40, MOST = 3 };
  const double alpha = 1.5;
  size_t beyond = 0;
  for (uint64_t seed = 1; seed <= LOGS; seed++) {
    idm_problem *problem = support_diag(alpha, 1.25, 0.3);
    problem->agent.resolution = 20;
    idm_data *data = simulate_agents(problem, &alpha, 1, 60, 30, seed);
    assessed_fit a;
    decision_residuals r;
    trajectories_check c;
    assessed_fit_open(&a, problem, data, "alpha");
    check(idm_residual_open(&r, &a.q, &support_error));
    check(idm_trajectories_open(&c, &r, &support_error));
    beyond += statistic(&r, &c) > 2.33;
    close_all(&a, &r, &c);
  }
  if (beyond > MOST) fail_msg("%zu of %d right logs are beyond 2.33", beyond, LOGS);
}

/* Agents with one trajectory each are compared as agents. */
static void test_one_each(void **state)
{
  (void)state;
  double alpha[TRAJECTORIES];
  assessed_fit a;
  decision_residuals r;
  trajectories_check c;
  differ(alpha);
  open_all(&a, alpha);
  check(idm_residual_open(&r, &a.q, &support_error));
  check(idm_trajectories_open(&c, &r, &support_error));
  assert_int_equal(c.trajectories, 0);
  close_all(&a, &r, &c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products),
      cmocka_unit_test(test_replicates),
      cmocka_unit_test(test_short_trajectories),
      cmocka_unit_test(test_one_each),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
