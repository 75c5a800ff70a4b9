/* Tests the derivative of one step of lookahead at a belief between lattice points, by the
 * successor values and by the belief, against central differences. */
#include "plan/control/adjoint.h"

#include <math.h>
#include <string.h>

#include "plan/workspace.h"
#include "support.h"

enum { STATES = 3, ACTIONS = 3, OBSERVATIONS = 3, MODELS = 2 };

/* f = a . log pi(z) + b . sigma(z), for a planned problem. */
typedef struct bench {
  idm_problem *problem;
  idm_workspace *w;
  control *c;
  adjoint *a;
  double z[STATES];
  double decision[ACTIONS];
  double specification[ACTIONS * MODELS];
} bench;

/* Variants of the problem that the derivative treats separately. In the last two, one action has
 * two observations with proportional emissions, which lead to the same belief. */
enum {
  PLAIN,
  TERMINAL,
  BELIEF_PRIOR,
  EMITS_BEFORE,
  HORIZON,
  BY_OBSERVATION,
  BLURRED,
  BLURRED_BY_OBSERVATION,
  WAYS
};

static void open_bench(bench *b, int way)
{
  idm_random random;
  idm_random_init(&random, (uint64_t)way, 9);
  b->problem = support_problem((support_shape){STATES, ACTIONS, OBSERVATIONS, MODELS, 7}, &random);
  idm_setting *setting = b->problem->setting;
  support_set(b->problem, 0.8, 1.5, 0.4);
  b->problem->agent.evaluate = IDM_LOOKAHEAD;
  idm_theta_set_scalar(b->problem->theta, IDM_DISCOUNT, 0.8);
  setting->terminal[1] = setting->ends[1] = way == TERMINAL;
  setting->emits_before = way == EMITS_BEFORE;
  setting->horizon = way == HORIZON ? 3 : 0;
  if (way == BY_OBSERVATION || way == BLURRED_BY_OBSERVATION)
    b->problem->agent.surprise = IDM_SURPRISE_OBSERVATION;
  if (way == BELIEF_PRIOR) {
    check(idm_theta_resize(b->problem->theta, IDM_BELIEF_PRIOR, STATES, 1, &support_error));
    for (size_t s = 0; s < STATES; s++)
      b->problem->theta->block[IDM_BELIEF_PRIOR].value[s] = 0.5 + (double)s;
  }
  double *emission = b->problem->theta->block[IDM_EMISSION].value;
  for (size_t i = 0; way >= BLURRED && i < MODELS * STATES; i++) {
    double *row = emission + (i / STATES * ACTIONS * STATES + i % STATES) * OBSERVATIONS;
    row[0] = 0.05 + 0.1 * (double)(i % STATES);
    row[1] = 2 * row[0];
    row[2] = 1 - 3 * row[0];
  }
  b->w = support_plan(b->problem, NULL);
  b->c = b->w->content;
  void *made;
  check(idm_adjoint_create(b->c, &made, &support_error));
  b->a = made;
  support_distribution(&random, b->z, STATES);
  for (size_t i = 0; i < ACTIONS; i++) b->decision[i] = idm_random_uniform(&random) - 0.5;
  for (size_t i = 0; i < ACTIONS * MODELS; i++)
    b->specification[i] = idm_random_uniform(&random) - 0.5;
}

static void close_bench(bench *b)
{
  idm_adjoint_destroy(b->a);
  idm_workspace_destroy(b->w);
  idm_problem_destroy(b->problem);
}

static double value(const bench *b, const double *z)
{
  double pi[ACTIONS], sigma[ACTIONS * MODELS], sum = 0;
  b->w->planner->belief->policy(b->c, 0, 0, z, pi, sigma, b->w->scratch);
  for (size_t u = 0; u < ACTIONS; u++) sum += b->decision[u] * log(pi[u]);
  for (size_t i = 0; i < ACTIONS * MODELS; i++) sum += b->specification[i] * sigma[i];
  return sum;
}

/* Runs the adjoint of the lookahead; the derivative by the belief is returned in back[state]. */
static void lookahead(const bench *b, double *back)
{
  double pi[ACTIONS];
  b->w->planner->belief->policy(b->c, 0, 0, b->z, pi, NULL, b->w->scratch);
  memset(back, 0, STATES * sizeof *back);
  idm_adjoint_begin(b->a);
  idm_adjoint_lookahead(b->a, &(idm_policy_adjoint){.belief = b->z,
                                                    .decision = pi,
                                                    .log_decision_gradient = b->decision,
                                                    .specification_gradient = b->specification,
                                                    .opt_belief_gradient = back});
}

/* Every value of every layer is moved separately. K is linear in the values, so steps may be large;
 * most derivatives are 0. */
static void values_are_differences(void **state)
{
  (void)state;
  for (int way = 0; way < WAYS; way++) {
    bench b;
    double back[STATES];
    size_t nonzero = 0;
    open_bench(&b, way);
    lookahead(&b, back);
    for (size_t i = 0; i < (size_t)(b.c->layers + 1) * b.c->padded; i++) {
      const double before = b.c->value[i], h = 1e-4;
      b.c->value[i] = before + h;
      const double up = value(&b, b.z);
      b.c->value[i] = before - h;
      const double down = value(&b, b.z);
      b.c->value[i] = before;
      assert_near(b.a->value[i], (up - down) / (2 * h), 1e-7);
      nonzero += b.a->value[i] != 0;
    }
    assert_true(nonzero >= STATES && nonzero < b.c->lattice->points);
    close_bench(&b);
  }
}

/* Differences along the edges of the simplex, within a cell of the lattice. */
static void beliefs_are_differences(void **state)
{
  (void)state;
  for (int way = 0; way < WAYS; way++) {
    bench b;
    double back[STATES];
    open_bench(&b, way);
    lookahead(&b, back);
    for (size_t s = 1; s < STATES; s++) {
      const double h = 1e-6;
      double up[STATES], down[STATES];
      memcpy(up, b.z, sizeof up);
      memcpy(down, b.z, sizeof down);
      up[s] += h;
      up[s - 1] -= h;
      down[s] -= h;
      down[s - 1] += h;
      assert_near(back[s] - back[s - 1], (value(&b, up) - value(&b, down)) / (2 * h), 1e-6);
    }
    close_bench(&b);
  }
}

/* Without the derivative by the belief all others are the same, and a second call adds to the
 * first. */
static void looks_add_up(void **state)
{
  (void)state;
  bench b;
  double back[STATES];
  open_bench(&b, PLAIN);
  lookahead(&b, back);
  const double discount = b.a->sums.discount, eta = b.a->sums.eta;
  double pi[ACTIONS];
  b.w->planner->belief->policy(b.c, 0, 0, b.z, pi, NULL, b.w->scratch);
  idm_adjoint_lookahead(b.a, &(idm_policy_adjoint){.belief = b.z,
                                                   .decision = pi,
                                                   .log_decision_gradient = b.decision,
                                                   .specification_gradient = b.specification});
  assert_true(discount != 0 && eta != 0);
  assert_near(b.a->sums.discount, 2 * discount, 1e-14);
  assert_near(b.a->sums.eta, 2 * eta, 1e-14);
  close_bench(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_differences),
                                     cmocka_unit_test(beliefs_are_differences),
                                     cmocka_unit_test(looks_add_up)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
