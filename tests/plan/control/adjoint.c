/* Tests the adjoint of the planners: a random function of the policies at random beliefs,
 * differentiated in theta and in the beliefs, against central differences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/workspace.h"
#include "support.h"

enum { STATES = 4, ACTIONS = 3, MODELS = 3, BELIEFS = 5 };

/* f = sum over beliefs of a . log pi + b . sigma. */
typedef struct function {
  idm_sizes sizes;
  size_t models;
  double belief[BELIEFS][STATES];
  double decision[BELIEFS][ACTIONS];
  double specification[BELIEFS][ACTIONS * MODELS];
  int steps[BELIEFS];
  size_t variant[BELIEFS];
} function;

static function draw_function(const idm_problem *problem, idm_random *random)
{
  function f = {.sizes = problem->theta->sizes, .models = problem->theta->models};
  for (size_t b = 0; b < BELIEFS; b++) {
    support_distribution(random, f.belief[b], f.sizes.states);
    for (size_t i = 0; i < ACTIONS; i++) f.decision[b][i] = idm_random_uniform(random) - 0.5;
    for (size_t i = 0; i < (size_t)ACTIONS * MODELS; i++)
      f.specification[b][i] = idm_random_uniform(random) - 0.5;
    f.steps[b] = (int)b;
    f.variant[b] = b % idm_theta_variants(problem->theta);
  }
  return f;
}

static double value_at(const function *f, const idm_workspace *w, size_t b, const double *z)
{
  double pi[ACTIONS], sigma[ACTIONS * MODELS], sum = 0;
  w->planner->belief->policy(w->content, f->variant[b], f->steps[b], z, pi, sigma, w->scratch);
  for (size_t u = 0; u < f->sizes.actions; u++) sum += f->decision[b][u] * log(pi[u]);
  for (size_t i = 0; i < f->sizes.actions * f->models; i++)
    sum += f->specification[b][i] * sigma[i];
  return sum;
}

static double value(const function *f, idm_workspace *w, const idm_theta *theta)
{
  const idm_solver exact = {
      .method = IDM_METHOD_NEWTON, .tolerance = 1e-13, .limit = 100, .slots = IDM_START_COLD};
  double sum = 0;
  check(idm_plan(theta, &exact, w, NULL, &support_error));
  for (size_t b = 0; b < BELIEFS; b++) sum += value_at(f, w, b, f->belief[b]);
  return sum;
}

/* The derivatives; the workspace must contain a plan. */
static void differentiate(const function *f, idm_workspace *w, idm_theta *derivative,
                          double back[BELIEFS][STATES])
{
  const idm_adjoint_ops *ops = w->planner->belief->adjoint;
  void *adjoint;
  check(ops->create(w->content, &adjoint, &support_error));
  /* Two passes, of which the first must leave no trace. */
  for (int round = 0; round < 2; round++) {
    ops->begin(adjoint);
    for (size_t b = 0; b < BELIEFS; b++) {
      double pi[ACTIONS];
      w->planner->belief->policy(w->content, f->variant[b], f->steps[b], f->belief[b], pi, NULL,
                                 w->scratch);
      memset(back[b], 0, sizeof back[b]);
      const idm_policy_adjoint point = {.variant = f->variant[b],
                                        .steps = f->steps[b],
                                        .belief = f->belief[b],
                                        .decision = pi,
                                        .log_decision_gradient = f->decision[b],
                                        .specification_gradient = f->specification[b],
                                        .opt_belief_gradient = back[b]};
      ops->point(adjoint, &point);
    }
  }
  idm_theta_clear(derivative);
  check(ops->finish(adjoint, derivative, &support_error));
  ops->destroy(adjoint);
}

/* Compares derivatives by the beliefs, along the edges of the simplex. */
static void compare_beliefs(const function *f, const idm_workspace *w, double back[BELIEFS][STATES],
                            size_t *compared, size_t *skipped)
{
  for (size_t b = 0; b < BELIEFS; b++)
    for (size_t s = 1; s < f->sizes.states; s++) {
      double found[2];
      for (int i = 0; i < 2; i++) {
        const double h = i ? 1e-5 : 4e-6;
        double up[STATES], down[STATES];
        memcpy(up, f->belief[b], sizeof up);
        memcpy(down, f->belief[b], sizeof down);
        up[s] += h;
        up[s - 1] -= h;
        down[s] -= h;
        down[s - 1] += h;
        found[i] = (value_at(f, w, b, up) - value_at(f, w, b, down)) / (2 * h);
      }
      if (fabs(found[0] - found[1]) > 1e-6 * fmax(1, fabs(found[0]))) {
        ++*skipped;
        continue;
      }
      ++*compared;
      assert_near(back[b][s] - back[b][s - 1], found[0], 1e-5);
    }
}

/* Compares the derivative by every number of a block, moved alone or along the simplex. */
static void compare_block(const function *f, idm_workspace *w, const idm_theta *derivative,
                          idm_theta *theta, idm_block_id id, size_t *compared, size_t *skipped)
{
  const bool simplex = id == IDM_ACTION_PRIOR || id == IDM_MODEL_PRIOR;
  if (!idm_block_describe(id)->scales) return; /* never free, so no derivative is computed */
  const bool inverse = id == IDM_ALPHA || id == IDM_BETA || id == IDM_TEMPERATURE;
  idm_block *block = &theta->block[id];
  const double *derivatives = derivative->block[id].value;
  for (size_t i = 0; i < block->size * block->variants; i++) {
    const idm_field *field = idm_block_field(block->info, theta->sizes, i);
    if (block->info->field && !(field && field->is_linear)) continue; /* nor by these fields */
    const size_t j = simplex ? (i + 1) % block->size : i;
    const double before = block->value[i], other = block->value[j];
    double found[2];
    for (int step = 0; step < 2; step++) {
      const double h = step ? 1e-4 : 5e-5;
      double end[2];
      for (int side = 0; side < 2; side++) {
        const double moved = side ? h : -h;
        block->value[i] = inverse ? 1 / (1 / before + moved) : before + moved;
        if (j != i) block->value[j] = other - moved;
        end[side] = value(f, w, theta);
        block->value[i] = before;
        block->value[j] = other;
      }
      found[step] = (end[1] - end[0]) / (2 * h);
    }
    if (fabs(found[0] - found[1]) > 1e-6 * fmax(1, fabs(found[0]))) {
      ++*skipped;
      continue;
    }
    ++*compared;
    assert_near(derivatives[i] - (j == i ? 0 : derivatives[j]), found[0], 1e-5);
  }
}

typedef struct sample {
  const char *planner;
  double alpha;
  double beta;
  int horizon;
  bool terminal;
  size_t variants;
  support_shape shape;
} sample;

static const sample samples[] = {
    {"bounded-rational", 0.8, 1.5, 0, false, 1, {2, 3, 2, 3, 21}},
    {"bounded-rational", -1.2, 0.9, 0, true, 2, {2, 3, 2, 2, 36}},
    {"bounded-rational", 0.9, INFINITY, 4, true, 2, {2, 3, 3, 3, 19}},
    {"bounded-rational", INFINITY, -0.9, 0, false, 1, {3, 3, 2, 2, 8}},
    {"bounded-rational", 1.1, -0.8, 4, false, 1, {4, 3, 2, 2, 4}},
    {"boltzmann-exploratory", 1.1, 1, 0, true, 1, {3, 3, 2, 3, 9}},
    {"decision-rule", 1.1, 1, 0, false, 1, {3, 3, 2, 3, 9}},
};

static idm_problem *make_problem(const sample *from, idm_random *random)
{
  idm_problem *problem = support_problem(from->shape, random);
  idm_theta *theta = problem->theta;
  const size_t pairs = from->shape.actions * from->shape.states;
  const size_t weights = from->shape.actions * (from->shape.states + 1);
  check(idm_problem_set_planner(problem, idm_planner_find(from->planner), &support_error));
  support_set(problem, from->alpha, from->beta, 0.3);
  idm_theta_set_scalar(theta, IDM_DISCOUNT, 0.8);
  theta->block[IDM_PRIOR_WEIGHT].role = IDM_DESCRIPTIVE;
  problem->setting->horizon = from->horizon;
  problem->setting->terminal[1] = problem->setting->ends[1] = from->terminal;
  check(idm_theta_resize(theta, IDM_UTILITY, pairs, from->variants, &support_error));
  check(idm_theta_resize(theta, IDM_WEIGHTS, weights, 1, &support_error));
  for (size_t i = 0; i < pairs * from->variants; i++)
    theta->block[IDM_UTILITY].value[i] = 4 * idm_random_uniform(random) - 2;
  /* Utilities of beliefs by action, and the award for certainty, are not zero. */
  for (size_t i = 0; i < theta->block[IDM_BELIEF_UTILITY].size; i++)
    theta->block[IDM_BELIEF_UTILITY].value[i] = 2 * idm_random_uniform(random) - 1;
  theta->block[IDM_CERTAINTY].role = IDM_DESCRIPTIVE;
  memcpy(theta->block[IDM_CERTAINTY].value, (const double[]){0.6, 0.8, 0.3}, 3 * sizeof(double));
  /* The prior of beliefs, which enters the surprise, is free too. */
  if (from->variants == 1) {
    check(idm_theta_resize(theta, IDM_BELIEF_PRIOR, from->shape.states, 1, &support_error));
    theta->block[IDM_BELIEF_PRIOR].role = IDM_DESCRIPTIVE;
  }
  for (size_t s = 0; s < theta->block[IDM_BELIEF_PRIOR].size; s++)
    theta->block[IDM_BELIEF_PRIOR].value[s] = 0.5 + 2 * idm_random_uniform(random);
  for (size_t i = 0; i < weights; i++)
    theta->block[IDM_WEIGHTS].value[i] = 2 * idm_random_uniform(random) - 1;
  return problem;
}

static void slopes_are_differences(void **state)
{
  (void)state;
  size_t compared = 0, skipped = 0;
  for (size_t i = 0; i < 2 * sizeof samples / sizeof samples[0]; i++) {
    idm_random random;
    idm_random_init(&random, i, 3);
    idm_problem *problem = make_problem(&samples[i / 2], &random);
    problem->agent.evaluate = i % 2 ? IDM_INTERPOLATE : IDM_LOOKAHEAD;
    idm_workspace *w = support_plan(problem, NULL);
    const function f = draw_function(problem, &random);
    idm_theta *derivative;
    double back[BELIEFS][STATES];
    check(idm_theta_copy(problem->theta, &derivative, &support_error));
    value(&f, w, problem->theta);
    differentiate(&f, w, derivative, back);
    compare_beliefs(&f, w, back, &compared, &skipped);
    for (int id = 0; id < IDM_BLOCK_COUNT; id++)
      if (idm_planner_reads(w->planner, (size_t)id) &&
          !idm_block_describe((idm_block_id)id)->choice_bias && id != IDM_DELAY_RATE &&
          id != IDM_TRANSITION && id != IDM_EMISSION)
        compare_block(&f, w, derivative, problem->theta, (idm_block_id)id, &compared, &skipped);
    idm_theta_destroy(derivative);
    idm_workspace_destroy(w);
    idm_problem_destroy(problem);
  }
  print_message("%zu compared, %zu at kinks\n", compared, skipped);
  assert_true(compared > 250 && 20 * skipped < compared);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slopes_are_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
