/* Tests the derivative of a layer in reverse (the transposed derivative of B*, and that of the
 * tables of policies) against differences of the backup and, where there is one, a formula. */
#include "plan/control/adjoint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/control/control.h"
#include "plan/workspace.h"
#include "support.h"

static const support_shape shapes[] = {{2, 3, 2, 3, 37}, {3, 3, 2, 2, 7}, {4, 2, 3, 2, 3}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A control with drawn values, its tables at these values, and random derivatives. */
typedef struct bench {
  idm_problem *problem;
  idm_workspace *w;
  control *c;
  adjoint *a;
  idm_random random;
  double *v;
  double *table[3]; /* quality, decision, specification */
  double *lambda;
  double *derivative[2]; /* of log decision, of specification */
  bool *has_gradient;
  double *to;
} bench;

static double *drawn(bench *b, size_t rows)
{
  double *x = calloc(rows * b->c->padded, sizeof *x);
  assert_non_null(x);
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < b->c->lattice->points; i++)
      x[r * b->c->padded + i] = idm_random_uniform(&b->random) - 0.5;
  return x;
}

static void tabulate(bench *b, double *opt_value)
{
  backup_output out = {.value = opt_value,
                       .quality = b->table[0],
                       .decision = b->table[1],
                       .specification = b->table[2]};
  idm_control_backup(b->c, b->v, false, &out);
}

static void open_bench(bench *b, size_t shape, bool terminal)
{
  idm_random_init(&b->random, shape, 4);
  b->problem = support_problem(shapes[shape], &b->random);
  idm_setting *setting = b->problem->setting;
  support_set(b->problem, 0.7, -0.9, 0.3);
  idm_theta_set_scalar(b->problem->theta, IDM_DISCOUNT, 0.8);
  setting->terminal[1] = setting->ends[1] = terminal;
  b->w = support_plan(b->problem, NULL);
  b->c = b->w->content;
  void *made;
  check(idm_adjoint_create(b->c, &made, &support_error));
  b->a = made;
  idm_adjoint_begin(b->a);
  const size_t actions = b->c->sizes.actions, pairs = actions * b->c->models;
  b->v = drawn(b, 1);
  b->lambda = drawn(b, 1);
  b->derivative[0] = drawn(b, actions);
  b->derivative[1] = drawn(b, pairs);
  b->table[0] = drawn(b, actions);
  b->table[1] = drawn(b, actions);
  b->table[2] = drawn(b, pairs);
  b->to = calloc(b->c->padded, sizeof *b->to);
  b->has_gradient = calloc(b->c->successors->slices, sizeof *b->has_gradient);
  for (size_t i = 0; i < b->c->successors->slices; i++) b->has_gradient[i] = true;
  tabulate(b, NULL);
}

static void close_bench(bench *b)
{
  double *const all[] = {b->v,        b->lambda,   b->derivative[0], b->derivative[1],
                         b->table[0], b->table[1], b->table[2],      b->to};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  free(b->has_gradient);
  idm_adjoint_destroy(b->a);
  idm_workspace_destroy(b->w);
  idm_problem_destroy(b->problem);
}

static adjoint_layer layer_of(const bench *b, bool lambda, bool derivatives)
{
  return (adjoint_layer){.v = b->v,
                         .quality = b->table[0],
                         .decision = b->table[1],
                         .specification = b->table[2],
                         .opt_lambda = lambda ? b->lambda : NULL,
                         .opt_decision_gradient = derivatives ? b->derivative[0] : NULL,
                         .opt_specification_gradient = derivatives ? b->derivative[1] : NULL,
                         .has_gradient = b->has_gradient};
}

/* The sum over points of lambda B*v, and of the derivatives times log pi and sigma. */
static double plain(bench *b, bool lambda, bool derivatives)
{
  const size_t padded = b->c->padded, actions = b->c->sizes.actions;
  double *value = calloc(padded, sizeof *value), sum = 0;
  tabulate(b, value);
  for (size_t i = 0; i < b->c->lattice->points; i++) {
    if (lambda) sum += b->lambda[i] * value[i];
    for (size_t u = 0; derivatives && u < actions; u++)
      sum += b->derivative[0][u * padded + i] * log(b->table[1][u * padded + i]);
    for (size_t k = 0; derivatives && k < actions * b->c->models; k++)
      if (!b->c->setting->terminal[k / b->c->models])
        sum += b->derivative[1][k * padded + i] * b->table[2][k * padded + i];
  }
  free(value);
  return sum;
}

static void expect_differences(bench *b, bool lambda, bool derivatives)
{
  for (size_t i = 0; i < b->c->lattice->points; i++) {
    const double before = b->v[i], h = 1e-5;
    b->v[i] = before + h;
    const double up = plain(b, lambda, derivatives);
    b->v[i] = before - h;
    const double down = plain(b, lambda, derivatives);
    b->v[i] = before;
    assert_near(b->to[i], (up - down) / (2 * h), 1e-7);
  }
  tabulate(b, NULL);
}

/* The derivative of a layer by the successor values: by its own values, by its tables, by both. */
static void values_are_differences(void **state)
{
  (void)state;
  for (size_t shape = 0; shape < SHAPES; shape++)
    for (int mask = 1; mask < 4; mask++) {
      bench b;
      open_bench(&b, shape, shape == 1);
      const adjoint_layer layer = layer_of(&b, mask & 1, mask & 2);
      idm_adjoint_sweep(b.a, &layer, b.to);
      expect_differences(&b, mask & 1, mask & 2);
      close_bench(&b);
    }
}

/* The contribution of the tables alone, without any derivative by theta. */
static void direct_is_a_part(void **state)
{
  (void)state;
  for (size_t shape = 0; shape < SHAPES; shape++) {
    bench b;
    open_bench(&b, shape, shape == 1);
    const adjoint_layer layer = layer_of(&b, false, true);
    idm_adjoint_direct(b.a, &layer, b.to);
    expect_differences(&b, false, true);
    assert_true(b.a->sums.discount == 0 && b.a->sums.eta == 0);
    close_bench(&b);
  }
}

/* Slices without a derivative are skipped. */
static void untouched_slices_ask_nothing(void **state)
{
  (void)state;
  bench b;
  open_bench(&b, 0, false);
  memset(b.has_gradient, 0, b.c->successors->slices * sizeof *b.has_gradient);
  const adjoint_layer layer = layer_of(&b, false, true);
  idm_adjoint_direct(b.a, &layer, b.to);
  idm_adjoint_sweep(b.a, &layer, b.to);
  for (size_t i = 0; i < b.c->padded; i++) assert_true(b.to[i] == 0);
  assert_true(b.a->sums.discount == 0);
  close_bench(&b);
}

/* By the envelope theorem, the derivative by a utility is the sum of lambda pi z over its action
 * and state. */
static void utilities_are_a_formula(void **state)
{
  (void)state;
  for (size_t shape = 0; shape < SHAPES; shape++) {
    bench b;
    open_bench(&b, shape, shape == 1);
    const adjoint_layer layer = layer_of(&b, true, false);
    const size_t padded = b.c->padded, states = b.c->sizes.states;
    idm_adjoint_sweep(b.a, &layer, NULL);
    for (size_t u = 0; u < b.c->sizes.actions; u++)
      for (size_t s = 0; s < states; s++) {
        double expected = 0;
        for (size_t i = 0; i < b.c->lattice->points; i++)
          expected += b.lambda[i] * b.table[1][u * padded + i] * b.a->belief[s * padded + i];
        assert_near(b.a->sums.utility[u * states + s], expected, 1e-12);
      }
    close_bench(&b);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_differences), cmocka_unit_test(direct_is_a_part),
      cmocka_unit_test(untouched_slices_ask_nothing), cmocka_unit_test(utilities_are_a_formula)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
