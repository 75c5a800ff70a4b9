/* Tests planning on the lattice: reused workspaces, variants, and problems with closed-form
 * solutions. */
#include "plan/control/control.h"
#include "plan/control/plain.h"
#include "plan/plan.h"

static const idm_solver tight = {.method = IDM_METHOD_NEWTON, .tolerance = 1e-11, .limit = 200};

static void plan(control *c, const idm_theta *theta)
{
  idm_plan_report report;
  check(idm_control_plan(c, theta, &tight, &report, &support_error));
}

/* Checks that values and policies of two contents are equal at every point and between points. */
static void same_plans(const control *a, size_t variant_a, const control *b, size_t variant_b)
{
  idm_random random;
  idm_random_init(&random, 1, 1);
  double *scratch = calloc(idm_control_scratch(a), sizeof *scratch);
  assert_non_null(scratch);
  for (size_t i = 0; i < a->lattice->points + 20; i++) {
    double z[PLAIN_MOST], p[PLAIN_MOST], q[PLAIN_MOST];
    double s[PLAIN_MOST * PLAIN_MOST], t[PLAIN_MOST * PLAIN_MOST];
    support_distribution(&random, z, a->sizes.states);
    if (i < a->lattice->points)
      memcpy(z, a->lattice->belief + i * a->sizes.states, a->sizes.states * sizeof *z);
    assert_near(idm_control_value(a, variant_a, 0, z, scratch),
                idm_control_value(b, variant_b, 0, z, scratch), 1e-9);
    idm_control_policy(a, variant_a, 0, z, p, s, scratch);
    idm_control_policy(b, variant_b, 0, z, q, t, scratch);
    for (size_t u = 0; u < a->sizes.actions; u++) assert_near(p[u], q[u], 1e-8);
    for (size_t j = 0; j < a->sizes.actions * a->models; j++) assert_near(s[j], t[j], 1e-8);
  }
  free(scratch);
}

/* Checks that the derivatives used by the solver are equal too. */
static void same_derivatives(control *a, control *b)
{
  double *x = calloc(3 * a->padded, sizeof *x);
  assert_non_null(x);
  for (size_t i = 0; i < a->lattice->points; i++) x[i] = sin((double)i);
  control *const each[2] = {a, b};
  for (size_t i = 0; i < 2; i++) {
    idm_control_select(each[i], 0);
    idm_control_backup(each[i], x, false, &(backup_output){.mix = true});
    idm_control_fold(each[i]);
    idm_control_derivative(each[i], x, x + (i + 1) * a->padded);
  }
  for (size_t i = 0; i < a->padded; i++) assert_near(x[a->padded + i], x[2 * a->padded + i], 1e-12);
  free(x);
}

static idm_problem *drawn(support_shape shape, idm_random *random)
{
  idm_problem *problem = support_problem(shape, random);
  support_set(problem, support_signed(random, 0.2, 2), support_signed(random, 0.2, 2),
              support_signed(random, 0.1, 1));
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.85);
  problem->theta->block[IDM_CERTAINTY].value[0] = 0.7137;
  problem->theta->block[IDM_CERTAINTY].value[1] = 0.5;
  check(idm_theta_resize(problem->theta, IDM_BELIEF_PRIOR, shape.states, 1, &support_error));
  for (size_t s = 0; s < shape.states; s++)
    problem->theta->block[IDM_BELIEF_PRIOR].value[s] = 0.5 + idm_random_uniform(random);
  return problem;
}

/* --- reused contents ------------------------------------------------------------------------ */

/* Applies one change to theta. */
static void change(idm_problem *problem, int what, idm_random *random)
{
  idm_theta *theta = problem->theta;
  const idm_sizes n = theta->sizes;
  const size_t pairs = n.actions * n.states;
  switch (what) {
  case 0: /* one number of one row, so that comparing only the first numbers would not detect it */
    support_distribution(
        random, theta->block[IDM_TRANSITION].value + (theta->models * pairs - 1) * n.states,
        n.states);
    break;
  case 1:
    support_distribution(
        random, theta->block[IDM_EMISSION].value + (theta->models * pairs - 1) * n.observations,
        n.observations);
    break;
  case 2:
    theta->block[IDM_UTILITY].value[pairs - 1] += 1;
    break;
  case 3:
    theta->block[IDM_CERTAINTY].value[0] = 0.5137;
    break;
  case 4:
    theta->block[IDM_CERTAINTY].value[1] = -0.75;
    break;
  case 5:
    idm_theta_set_scalar(theta, IDM_DISCOUNT, 0.5);
    break;
  case 6:
    idm_theta_set_scalar(theta, IDM_ALPHA, -idm_theta_scalar(theta, IDM_ALPHA));
    break;
  case 7:
    idm_theta_set_scalar(theta, IDM_BETA, -idm_theta_scalar(theta, IDM_BETA));
    break;
  case 8:
    idm_theta_set_scalar(theta, IDM_ETA, 0.6);
    break;
  case 9:
    support_distribution(random, theta->block[IDM_ACTION_PRIOR].value, n.actions);
    break;
  case 10:
    support_distribution(random, theta->block[IDM_MODEL_PRIOR].value, theta->models);
    break;
  case 11:
    theta->block[IDM_BELIEF_PRIOR].value[n.states - 1] += 0.5;
    break;
  case 12: /* an ordinary action becomes forgetful, which has another form of the operator */
    for (size_t m = 0; m < theta->models; m++) plain_forget(problem, 0, m);
    break;
  default:
    break; /* no change */
  }
}

static void a_content_used_again_is_as_good_as_new(void **state)
{
  (void)state;
  const support_shape shapes[] = {{2, 3, 2, 2, 15}, {3, 2, 3, 2, 5}};
  idm_random random;
  idm_random_init(&random, 81, 0);
  for (int i = 0; i < 8; i++) {
    idm_problem *problem = drawn(shapes[i % 2], &random);
    problem->agent.evaluate = i & 2 ? IDM_INTERPOLATE : IDM_LOOKAHEAD;
    problem->setting->horizon = i & 4 ? 3 : 0;
    control *used = plain_content(problem);
    for (int what = 0; what < 28; what++) {
      change(problem, what % 14, &random);
      plan(used, problem->theta);
      control *fresh = plain_content(problem);
      same_plans(used, 0, fresh, 0);
      same_derivatives(used, fresh);
      idm_control_destroy(fresh);
    }
    idm_control_destroy(used);
    idm_problem_destroy(problem);
  }
}

static void each_variant_is_a_problem_of_its_own(void **state)
{
  (void)state;
  enum { variants = 3 };
  idm_random random;
  idm_random_init(&random, 82, 0);
  for (int i = 0; i < 8; i++) {
    idm_problem *single = drawn((support_shape){2, 3, 2, 2, 13}, &random);
    single->agent.evaluate = i & 1 ? IDM_INTERPOLATE : IDM_LOOKAHEAD;
    single->setting->horizon = i & 2 ? 3 : 0;
    idm_theta *family;
    check(idm_theta_copy(single->theta, &family, &support_error));
    check(idm_theta_resize(family, IDM_UTILITY, 6, variants, &support_error));
    for (size_t j = 0; j < 6 * variants; j++)
      family->block[IDM_UTILITY].value[j] = 4 * idm_random_uniform(&random) - 2;
    void *content;
    check(idm_control_create(single->setting, family, &single->agent, &content, &support_error));
    plan(content, family);
    for (int again = 0; again < 2; again++) {
      for (size_t v = 0; v < variants; v++) {
        memcpy(single->theta->block[IDM_UTILITY].value, family->block[IDM_UTILITY].value + 6 * v,
               6 * sizeof(double));
        control *alone = plain_content(single);
        same_plans(content, v, alone, 0);
        idm_control_destroy(alone);
      }
      family->block[IDM_UTILITY].value[7] += 2; /* of the second variant only */
      plan(content, family);
    }
    idm_control_destroy(content);
    idm_theta_destroy(family);
    idm_problem_destroy(single);
  }
}

static void only_utility_may_vary(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 83, 0);
  idm_problem *problem = drawn((support_shape){2, 2, 2, 2, 5}, &random);
  check(idm_theta_resize(problem->theta, IDM_DISCOUNT, 1, 2, &support_error));
  void *content = &random;
  assert_int_equal(idm_control_create(problem->setting, problem->theta, &problem->agent, &content,
                                      &support_error),
                   IDM_USAGE);
  assert_null(content);
  assert_non_null(strstr(support_error.message, "discount"));
  idm_control_destroy(NULL);
  idm_problem_destroy(problem);
}

/* --- closed-form solutions ------------------------------------------------------------------ */

/* Compares a planned content with direct value iteration from 0, at every point. */
static void check_against_sweeps(const idm_problem *problem)
{
  control *c = plain_content(problem);
  const size_t points = c->lattice->points, k = c->sizes.states;
  assert_int_equal(idm_control_points(c), points);
  double *v = calloc(points, sizeof *v), *next = calloc(points, sizeof *next);
  assert_true(v && next);
  const int horizon = problem->setting->horizon;
  for (int sweep = 0; sweep < (horizon ? horizon : 200); sweep++) { /* .85^200 = 8e-15 */
    for (size_t i = 0; i < points; i++)
      next[i] =
          plain_step(problem, c->lattice, 0, v, c->lattice->belief + i * k, horizon && sweep == 0)
              .value;
    memcpy(v, next, points * sizeof *v);
  }
  for (size_t i = 0; i < points; i++) assert_near(control_layer(c, 0, c->layers)[i], v[i], 1e-9);
  free(v);
  free(next);
  idm_control_destroy(c);
}

static void the_smallest_of_everything_is_solved(void **state)
{
  (void)state;
  const support_shape shapes[] = {{1, 3, 2, 2, 5}, {2, 1, 2, 2, 9}, {2, 3, 1, 2, 9},
                                  {3, 2, 2, 1, 4}, {1, 1, 1, 1, 1}, {3, 1, 1, 1, 4},
                                  {2, 2, 2, 2, 1}, {4, 2, 2, 2, 1}};
  idm_random random;
  idm_random_init(&random, 84, 0);
  for (int i = 0; i < 64; i++) {
    idm_problem *problem = drawn(shapes[i % 8], &random);
    problem->agent.evaluate = i & 8 ? IDM_INTERPOLATE : IDM_LOOKAHEAD;
    problem->agent.surprise = i & 16 ? IDM_SURPRISE_OBSERVATION : IDM_SURPRISE_BELIEF;
    problem->setting->horizon = i & 32 ? 1 : 0;
    if (i & 16) idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0);
    check_against_sweeps(problem);
    idm_problem_destroy(problem);
  }
}

/* One state: V (1 - gamma) is the value of one step. */
static void one_state_is_a_geometric_series(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 85, 0);
  for (int i = 0; i < 20; i++) {
    idm_problem *problem = support_problem((support_shape){1, 3, 2, 2, 4}, &random);
    const idm_theta *theta = problem->theta;
    support_set(problem, support_signed(&random, 0.2, 2), support_signed(&random, 0.2, 2), 0.7);
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.9);
    problem->agent.surprise = IDM_SURPRISE_OBSERVATION;
    double q[3], h[2];
    for (size_t u = 0; u < 3; u++) {
      for (size_t m = 0; m < 2; m++) {
        const double p = theta->block[IDM_EMISSION].value[(m * 3 + u) * 2];
        h[m] = 0.7 * (-p * log(p) - (1 - p) * log(1 - p));
      }
      q[u] = theta->block[IDM_UTILITY].value[u] + plain_soft(idm_theta_scalar(theta, IDM_BETA), 2,
                                                             theta->block[IDM_MODEL_PRIOR].value, h,
                                                             NULL);
    }
    const double step = plain_soft(idm_theta_scalar(theta, IDM_ALPHA), 3,
                                   theta->block[IDM_ACTION_PRIOR].value, q, NULL);
    idm_workspace *workspace = support_plan(problem, NULL);
    assert_near(idm_plan_value(workspace, 0, (double[]){1}), step / 0.1, 1e-9);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* One action, one model: V is the linear z (I - gamma tau)^-1 v, exact on any lattice. */
static void one_action_leaves_a_linear_system(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 86, 0);
  for (int i = 0; i < 20; i++) {
    idm_problem *problem = support_problem((support_shape){3, 1, 2, 1, 3}, &random);
    support_set(problem, support_signed(&random, 0.2, 2), support_signed(&random, 0.2, 2), 0);
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.8);
    const double *tau = problem->theta->block[IDM_TRANSITION].value;
    double v[3] = {0};
    for (int sweep = 0; sweep < 200; sweep++) {
      double next[3];
      for (size_t s = 0; s < 3; s++)
        next[s] = problem->theta->block[IDM_UTILITY].value[s] +
                  0.8 * (tau[3 * s] * v[0] + tau[3 * s + 1] * v[1] + tau[3 * s + 2] * v[2]);
      memcpy(v, next, sizeof v);
    }
    idm_workspace *workspace = support_plan(problem, NULL);
    for (int j = 0; j < 10; j++) {
      double z[3], one;
      support_distribution(&random, z, 3);
      assert_near(idm_plan_value(workspace, 0, z), z[0] * v[0] + z[1] * v[1] + z[2] * v[2], 1e-8);
      idm_plan_policy(workspace, 0, z, &one, NULL);
      assert_near(one, 1, 0);
    }
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* Without a future (horizon 1, discount 0, or all actions terminal) the value is soft(alpha, u). */
static void nothing_to_come_leaves_the_utility(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 87, 0);
  for (int i = 0; i < 24; i++) {
    idm_problem *problem = support_problem((support_shape){2, 3, 2, 2, 9}, &random);
    support_set(problem, support_signed(&random, 0.2, 2), support_signed(&random, 0.2, 2), 0);
    problem->agent.evaluate = i & 1 ? IDM_INTERPOLATE : IDM_LOOKAHEAD;
    if (i % 3 == 0) problem->setting->horizon = 1;
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, i % 3 == 0 ? 1 : i % 3 == 1 ? 0 : 0.95);
    for (size_t u = 0; i % 3 == 2 && u < 3; u++)
      problem->setting->terminal[u] = problem->setting->ends[u] = true;
    if (i % 3 == 2) idm_theta_set_scalar(problem->theta, IDM_ETA, 5); /* no surprise */
    idm_workspace *workspace = support_plan(problem, NULL);
    const idm_theta *theta = problem->theta;
    for (int point = 0; point <= 9; point++) {
      const double z[2] = {1 - point / 9.0, point / 9.0};
      double q[3], pi[3], decision[3], sigma[6];
      for (size_t u = 0; u < 3; u++)
        q[u] = z[0] * theta->block[IDM_UTILITY].value[2 * u] +
               z[1] * theta->block[IDM_UTILITY].value[2 * u + 1];
      const double v = plain_soft(idm_theta_scalar(theta, IDM_ALPHA), 3,
                                  theta->block[IDM_ACTION_PRIOR].value, q, pi);
      assert_near(idm_plan_value(workspace, 0, z), v, 1e-12);
      idm_plan_policy(workspace, 0, z, decision, sigma);
      for (size_t u = 0; u < 3; u++) assert_near(decision[u], pi[u], 1e-11);
      for (size_t j = 0; j < 6; j++)
        assert_near(sigma[j], theta->block[IDM_MODEL_PRIOR].value[j % 2], 1e-11);
    }
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* A prior probability of 0 removes a model or an action from the problem. */
static void a_prior_of_zero_is_not_there(void **state)
{
  (void)state;
  const double multipliers[] = {0.0, -0.0, 0.5, -0.5, INFINITY};
  idm_random random;
  idm_random_init(&random, 88, 0);
  for (int i = 0; i < 25; i++) {
    idm_problem *problem = drawn((support_shape){2, 2, 2, 2, 11}, &random);
    support_set(problem, multipliers[i % 5], multipliers[i / 5], 0.3);
    memcpy(problem->theta->block[IDM_ACTION_PRIOR].value, (double[]){1, 0}, 2 * sizeof(double));
    memcpy(problem->theta->block[IDM_MODEL_PRIOR].value, (double[]){0, 1}, 2 * sizeof(double));
    idm_problem *rest = drawn((support_shape){2, 1, 2, 1, 11}, &random);
    support_set(rest, 1, 1, 0.3);
    const idm_block_id copied[] = {IDM_TRANSITION, IDM_EMISSION, IDM_UTILITY, IDM_BELIEF_PRIOR};
    for (size_t b = 0; b < 4; b++) /* model 1 of action 0; the utility of action 0; both states */
      memcpy(rest->theta->block[copied[b]].value,
             problem->theta->block[copied[b]].value + (b < 2 ? 8 : 0),
             rest->theta->block[copied[b]].size * sizeof(double));
    control *whole = plain_content(problem), *part = plain_content(rest);
    double scratch[64], pi[2], sigma[4];
    for (int j = 0; j <= 20; j++) {
      const double z[2] = {1 - j / 20.0, j / 20.0};
      assert_near(idm_control_value(whole, 0, 0, z, scratch),
                  idm_control_value(part, 0, 0, z, scratch), 1e-9);
      idm_control_policy(whole, 0, 0, z, pi, sigma, scratch);
      assert_true(pi[0] == 1 && pi[1] == 0);
      for (int u = 0; u < 2; u++) assert_true(sigma[2 * u] == 0 && sigma[2 * u + 1] == 1);
    }
    idm_control_destroy(whole);
    idm_control_destroy(part);
    idm_problem_destroy(problem);
    idm_problem_destroy(rest);
  }
}

/* alpha in units of the range: alpha times the range of the utilities. With several variants each
 * has its own range, so a change of the unit of utility does not change the policy. */
static void alpha_in_units_of_the_range(void **state)
{
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    idm_problem *problem = support_diag(0.02, INFINITY, 0);
    problem->agent.evaluate = kind % 2 ? IDM_INTERPOLATE : IDM_LOOKAHEAD;
    problem->setting->horizon = kind / 2 ? 6 : 0;
    const size_t size = problem->theta->block[IDM_UTILITY].size;
    double usual[6];
    memcpy(usual, problem->theta->block[IDM_UTILITY].value, sizeof usual);
    idm_theta_set_scalar(problem->theta, IDM_ALPHA, 0.02 * 46);
    idm_workspace *absolute = support_plan(problem, NULL);
    check(idm_theta_resize(problem->theta, IDM_UTILITY, size, 2, &support_error));
    for (size_t i = 0; i < size; i++) {
      problem->theta->block[IDM_UTILITY].value[i] = usual[i];
      problem->theta->block[IDM_UTILITY].value[size + i] = 100 + usual[i] / 64;
    }
    problem->agent.alpha_unit = IDM_ALPHA_RANGE;
    idm_theta_set_scalar(problem->theta, IDM_ALPHA, 0.02);
    idm_workspace *relative = support_plan(problem, NULL);
    for (int i = 0; i <= 20; i++) {
      const double z[] = {i / 20.0, 1 - i / 20.0};
      double expected[3], found[2][3];
      idm_plan_policy(absolute, 0, z, expected, NULL);
      for (size_t v = 0; v < 2; v++) idm_plan_policy(relative, v, z, found[v], NULL);
      assert_near(idm_plan_value(relative, 0, z), idm_plan_value(absolute, 0, z), 1e-9);
      for (int u = 0; u < 3; u++) {
        assert_near(found[0][u], expected[u], 1e-8);
        assert_near(found[1][u], expected[u], 1e-6);
      }
    }
    idm_workspace_destroy(absolute);
    idm_workspace_destroy(relative);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_content_used_again_is_as_good_as_new),
      cmocka_unit_test(each_variant_is_a_problem_of_its_own),
      cmocka_unit_test(only_utility_may_vary),
      cmocka_unit_test(the_smallest_of_everything_is_solved),
      cmocka_unit_test(one_state_is_a_geometric_series),
      cmocka_unit_test(one_action_leaves_a_linear_system),
      cmocka_unit_test(nothing_to_come_leaves_the_utility),
      cmocka_unit_test(a_prior_of_zero_is_not_there),
      cmocka_unit_test(alpha_in_units_of_the_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
