/* Tests the operator B* and its derivative against a direct implementation (plain.h). */
#include "plan/control/control.h"

#include "plan/control/plain.h"
#include "plan/guess_support.h"
#include <stdio.h>

static const double temperatures[] = {0.0, -0.0, INFINITY, -INFINITY, 0.3,  -0.3,
                                      2,   -2,   1e-8,     -1e-8,     1e12, -1e12};
enum { TEMPERATURES = sizeof temperatures / sizeof temperatures[0] };

/* Shapes with two states cover every code path of the folded derivative; 32 points need no padding.
 */
static const support_shape shapes[] = {{2, 3, 2, 3, 37}, {2, 2, 2, 2, 31}, {2, 2, 2, 1, 40},
                                       {2, 3, 3, 1, 20}, {2, 3, 3, 3, 33}, {2, 1, 1, 1, 10},
                                       {3, 3, 2, 2, 9},  {3, 2, 3, 3, 7},  {3, 1, 2, 1, 6},
                                       {4, 3, 2, 2, 5},  {4, 2, 4, 3, 4},  {4, 4, 1, 1, 3}};
enum { SHAPES = sizeof shapes / sizeof shapes[0], FEATURES = 6 };

/* A random problem with one of the features that the operator treats separately. */
static idm_problem *featured(support_shape shape, int feature, idm_random *random)
{
  idm_problem *problem = support_problem(shape, random);
  const size_t last = shape.actions - 1;
  if (feature == 1 || feature == 4)
    for (size_t m = 0; m < shape.models; m++) plain_forget(problem, 0, m);
  if (feature == 2 || feature == 4)
    problem->setting->terminal[last] = problem->setting->ends[last] = true;
  if (feature == 3) plain_forget(problem, 0, 0); /* under the first model only */
  if (feature == 3 || feature == 5) plain_blur(problem, last);
  if (feature >= 4) support_pieces(problem, (size_t)feature - 2, random);
  for (size_t i = 0; feature >= 3 && i < 2 * shape.actions; i++)
    problem->theta->block[IDM_BELIEF_UTILITY].value[i] = 2 * idm_random_uniform(random) - 1;
  if (feature == 5) {
    problem->agent.surprise = IDM_SURPRISE_OBSERVATION;
    check(idm_theta_resize(problem->theta, IDM_BELIEF_PRIOR, shape.states, 1, &support_error));
    for (size_t s = 0; s < shape.states; s++)
      problem->theta->block[IDM_BELIEF_PRIOR].value[s] = 0.5 + 2 * idm_random_uniform(random);
    problem->theta->block[IDM_CERTAINTY].value[0] = 0.6137;
    problem->theta->block[IDM_CERTAINTY].value[1] = 1.5;
  }
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.7 + 0.25 * idm_random_uniform(random));
  idm_theta_set_scalar(problem->theta, IDM_ETA, support_signed(random, 0.05, 1));
  return problem;
}

/* Sets other multipliers for both operator and problem; the values are not solved again. */
static void set(idm_problem *problem, control *c, double alpha, double beta)
{
  support_set(problem, alpha, beta, c->numbers.eta);
  c->numbers.alpha = c->numbers.temperature = alpha;
  c->numbers.beta = beta;
}

static double *numbers(size_t count)
{
  double *fresh = calloc(count, sizeof *fresh);
  assert_non_null(fresh);
  return fresh;
}

static void draw(idm_random *random, const control *c, double low, double high, double *v)
{
  for (size_t i = 0; i < c->lattice->points; i++)
    v[i] = low + (high - low) * idm_random_uniform(random);
}

/* The vectors of a test, in one allocation. */
typedef struct vectors {
  double *v, *w, *x, *y, *bv, *bw;
} vectors;

static vectors vectors_of(const control *c)
{
  double *first = numbers(6 * c->padded);
  const size_t n = c->padded;
  return (vectors){first, first + n, first + 2 * n, first + 3 * n, first + 4 * n, first + 5 * n};
}

/* Number of checked contents that have a merged matrix. */
static int merged;

/* Runs a check on every shape with every feature, cycling through pairs of temperatures. */
typedef void (*check_function)(idm_problem *problem, control *c, vectors *w, idm_random *random);

static void everywhere(uint64_t seed, int pairs, check_function function)
{
  idm_random random;
  idm_random_init(&random, seed, 0);
  int turn = 0;
  for (int shape = 0; shape < SHAPES; shape++)
    for (int feature = 0; feature < FEATURES; feature++) {
      idm_problem *problem = featured(shapes[shape], feature, &random);
      support_set(problem, 0.5, 0.5, idm_theta_scalar(problem->theta, IDM_ETA));
      control *c = plain_content(problem);
      vectors w = vectors_of(c);
      for (int i = 0; i < pairs; i++, turn++) {
        set(problem, c, temperatures[turn % TEMPERATURES],
            temperatures[turn / TEMPERATURES % TEMPERATURES]);
        draw(&random, c, -5, 5, w.v);
        function(problem, c, &w, &random);
      }
      free(w.v);
      idm_control_destroy(c);
      idm_problem_destroy(problem);
    }
  assert_true(turn >= TEMPERATURES * TEMPERATURES);
}

static void apply(control *c, const double *v, double *out)
{
  idm_control_backup(c, v, false, &(backup_output){.value = out});
}

/* --- against the direct operator ------------------------------------------------------------ */

static void check_padding(const control *c, const double *value)
{
  for (size_t i = c->lattice->points; i < c->padded; i++) {
    assert_true(value[i] == 0);
    for (size_t row = 0; row < c->sizes.actions * c->models; row++)
      assert_true(c->mix[row * c->padded + i] == 0);
  }
}

/* The belief of a point. */
static const double *point_of(const control *c, size_t i, double *z)
{
  const size_t k = c->sizes.states;
  for (size_t s = 0; s < k; s++)
    z[s] = c->lattice->corners ? s == i : c->lattice->belief[i * k + s];
  return z;
}

static void check_plain(idm_problem *problem, control *c, vectors *w, idm_random *random)
{
  (void)random;
  const size_t actions = c->sizes.actions, models = c->models, n = c->padded;
  double *quality = numbers(actions * n), *decision = numbers(actions * n);
  double *specification = numbers(actions * models * n);
  backup_output out = {.value = w->bv,
                       .quality = quality,
                       .decision = decision,
                       .specification = specification,
                       .mix = true};
  idm_control_backup(c, w->v, false, &out);
  const double pi_loose = 1e-12 + 1e-13 / fmax(1e-8, fabs(c->numbers.alpha));
  const double sigma_loose = 1e-12 + 1e-13 / fmax(1e-8, fabs(c->numbers.beta));
  double lowest = INFINITY, highest = -INFINITY, size = 0;
  for (size_t i = 0; i < c->lattice->points; i++) {
    double z[PLAIN_MOST];
    const plain_result p = plain_backup(problem, c->lattice, 0, w->v, point_of(c, i, z));
    assert_near(w->bv[i], p.value, 2e-12);
    double k[PLAIN_MOST * PLAIN_MOST], q[PLAIN_MOST];
    assert_near(idm_control_point(c, w->v, i, k, q), p.value, 2e-12);
    for (size_t u = 0; u < actions; u++) {
      assert_near(q[u], p.q[u], 2e-12);
      assert_near(quality[u * n + i], p.q[u], 2e-12);
      assert_near(decision[u * n + i], p.pi[u], pi_loose);
      for (size_t m = 0; m < models; m++)
        assert_near(specification[(u * models + m) * n + i], p.sigma[u * models + m], sigma_loose);
    }
    lowest = fmin(lowest, p.value - w->v[i]);
    highest = fmax(highest, p.value - w->v[i]);
    size = fmax(size, fabs(p.value));
  }
  assert_near(out.lowest, lowest, 1e-11);
  assert_near(out.highest, highest, 1e-11);
  assert_near(out.size, size, 1e-11);
  check_padding(c, w->bv);
  free(quality);
  free(decision);
  free(specification);
}

static void the_backup_is_the_plain_operator(void **state)
{
  (void)state;
  everywhere(31, 24, check_plain);
}

/* --- properties of B* ----------------------------------------------------------------------- */

static void check_order(idm_problem *problem, control *c, vectors *w, idm_random *random)
{
  (void)problem;
  const size_t points = c->lattice->points;
  const double gamma = c->numbers.discount;
  apply(c, w->v, w->bv);
  /* Monotone: some points are raised, the others are unchanged. */
  for (size_t i = 0; i < points; i++)
    w->w[i] = w->v[i] + fmax(0, 4 * idm_random_uniform(random) - 2);
  apply(c, w->w, w->bw);
  for (size_t i = 0; i < points; i++) assert_true(w->bw[i] >= w->bv[i] - 1e-11);
  /* A contraction. */
  draw(random, c, -8, 8, w->w);
  apply(c, w->w, w->bw);
  double before = 0, after = 0;
  for (size_t i = 0; i < points; i++) {
    before = fmax(before, fabs(w->v[i] - w->w[i]));
    after = fmax(after, fabs(w->bv[i] - w->bw[i]));
  }
  assert_true(after <= gamma * before + 1e-11);
  /* A constant shift is multiplied by gamma, or by less where some actions are terminal. */
  const double shift = 3 * idm_random_uniform(random);
  for (size_t i = 0; i < points; i++) w->w[i] = w->v[i] + shift;
  apply(c, w->w, w->bw);
  for (size_t i = 0; i < points; i++) {
    const double more = w->bw[i] - w->bv[i];
    if (c->any_terminal)
      assert_true(more >= -1e-11 && more <= gamma * shift + 1e-11);
    else
      assert_near(more, gamma * shift, 1e-11);
  }
}

static void the_backup_is_monotone_and_contracts(void **state)
{
  (void)state;
  everywhere(32, 30, check_order);
}

/* --- the derivative ------------------------------------------------------------------------- */

/* x - y, with y from the derivative at v, against central differences of the backup. */
static void check_differences(control *c, vectors *w, bool hold)
{
  const double h = 1e-5;
  backup_output out = {.value = w->bv, .mix = true};
  idm_control_backup(c, w->v, hold, &out);
  check_padding(c, w->bv);
  idm_control_fold(c);
  idm_control_derivative(c, w->x, w->y);
  backup_output side = {.value = w->bv};
  for (size_t i = 0; i < c->padded; i++) w->w[i] = w->v[i] + h * w->x[i];
  idm_control_backup(c, w->w, hold, &side);
  for (size_t i = 0; i < c->padded; i++) w->w[i] = w->v[i] - h * w->x[i];
  side.value = w->bw;
  idm_control_backup(c, w->w, hold, &side);
  for (size_t i = 0; i < c->lattice->points; i++)
    assert_near(w->x[i] - w->y[i], (w->bv[i] - w->bw[i]) / (2 * h), 1e-7);
  for (size_t i = c->lattice->points; i < c->padded; i++) assert_true(w->y[i] == 0);
}

static void check_derivative(idm_problem *problem, control *c, vectors *w, idm_random *random)
{
  (void)problem;
  draw(random, c, -1, 1, w->x);
  check_differences(c, w, false);
  idm_control_fix_policy(c, w->v);
  draw(random, c, -5, 5, w->v);
  check_differences(c, w, true);
}

static void the_derivative_is_that_of_the_backup(void **state)
{
  (void)state;
  everywhere(33, 24, check_derivative);
}

static void check_transposed(idm_problem *problem, control *c, vectors *w, idm_random *random)
{
  (void)problem;
  idm_control_backup(c, w->v, false, &(backup_output){.mix = true});
  idm_control_fold(c);
  draw(random, c, -1, 1, w->x);
  draw(random, c, -1, 1, w->y);
  idm_control_derivative(c, w->x, w->bv);
  idm_control_transposed(c, w->y, w->bw);
  double left = 0, right = 0;
  for (size_t i = 0; i < c->lattice->points; i++) {
    left += w->y[i] * w->bv[i];
    right += w->bw[i] * w->x[i];
  }
  assert_near(left, right, 1e-12);
  for (size_t i = c->lattice->points; i < c->padded; i++) assert_true(w->bw[i] == 0);
}

static void the_transposed_product_is_the_transpose(void **state)
{
  (void)state;
  everywhere(34, 12, check_transposed);
}

/* Products with the merged matrix equal those with the separate blocks. */
static void check_joined(idm_problem *problem, control *c, vectors *w, idm_random *random)
{
  (void)problem;
  const size_t rows = c->merged.rows;
  if (!rows) return;
  merged++;
  assert_int_equal(rows, c->lattice->points);
  idm_control_backup(c, w->v, false, &(backup_output){.mix = true});
  idm_control_fold(c);
  draw(random, c, -1, 1, w->x);
  idm_control_derivative(c, w->x, w->bv);
  idm_control_transposed(c, w->x, w->bw);
  c->merged.rows = 0;
  idm_control_derivative(c, w->x, w->y);
  for (size_t i = 0; i < c->padded; i++) assert_near(w->bv[i], w->y[i], 1e-13);
  idm_control_transposed(c, w->x, w->y);
  for (size_t i = 0; i < c->padded; i++) assert_near(w->bw[i], w->y[i], 1e-13);
  c->merged.rows = rows;
}

static void joined_products_are_those_of_the_blocks(void **state)
{
  (void)state;
  merged = 0;
  everywhere(35, 24, check_joined);
  assert_true(merged >= 24);
}

/* --- fixed policies ------------------------------------------------------------------------- */

/* The policy fixed at v and applied at w: sum pi_v Q_w - alpha KL(pi_v || pi~), where alpha KL =
 * sum pi_v Q_v - V by definition of V. */
static void check_held(idm_problem *problem, control *c, vectors *w, idm_random *random)
{
  draw(random, c, -5, 5, w->w);
  idm_control_fix_policy(c, w->v);
  idm_control_backup(c, w->w, true, &(backup_output){.value = w->bw});
  idm_control_backup(c, w->v, true, &(backup_output){.value = w->bv});
  for (size_t i = 0; i < c->lattice->points; i++) {
    double z[PLAIN_MOST];
    const plain_result v = plain_backup(problem, c->lattice, 0, w->v, point_of(c, i, z));
    const plain_result other = plain_backup(problem, c->lattice, 0, w->w, z);
    double expected = v.value;
    for (size_t u = 0; u < c->sizes.actions; u++) expected += v.pi[u] * (other.q[u] - v.q[u]);
    const double loose = 1e-11 + 1e-12 / fmax(1e-8, fabs(c->numbers.alpha));
    assert_near(w->bw[i], expected, loose);
    assert_near(w->bv[i], v.value, loose);
    /* No other policy is better than the optimal one (or worse, if alpha is negative). */
    const double gain = (other.value - w->bw[i]) * (signbit(c->numbers.alpha) ? -1 : 1);
    if (!isinf(c->numbers.alpha)) assert_true(gain >= -loose * 10);
  }
  check_padding(c, w->bw);
}

static void a_held_policy_pays_its_divergence(void **state)
{
  (void)state;
  everywhere(35, 12, check_held);
}

/* --- observed states, and utilities of beliefs ---------------------------------------------- */

static void corners_follow_the_same_formulas(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 36, 0);
  for (size_t k = 2; k <= 4; k++) {
    idm_problem *problem = featured((support_shape){k, 3, k, 2, 9}, (int)k, &random);
    double *emission = problem->theta->block[IDM_EMISSION].value;
    for (size_t i = 0; i < problem->theta->block[IDM_EMISSION].size; i++)
      emission[i] = i / k % k == i % k;
    problem->setting->fully_observed = true;
    control *c = plain_content(problem);
    assert_int_equal(c->lattice->points, k);
    vectors w = vectors_of(c);
    for (int i = 0; i < TEMPERATURES * TEMPERATURES; i++) {
      set(problem, c, temperatures[i % TEMPERATURES], temperatures[i / TEMPERATURES]);
      draw(&random, c, -5, 5, w.v);
      check_plain(problem, c, &w, &random);
      check_derivative(problem, c, &w, &random);
    }
    free(w.v);
    idm_control_destroy(c);
    idm_problem_destroy(problem);
  }
}

/* A utility of the most probable state is a prize for guessing it: the POMDP whose actions include
 * a guess has the same value. */
static void guessing_is_a_pomdp(void **state)
{
  (void)state;
  static const char dynamics[] = "states: [a, b]\nobservations: [x, y]\ndiscount: 0.9\n"
                                 "transition: {\"*\": [[0.9, 0.1], [0.2, 0.8]]}\n"
                                 "observation: {\"*\": [[0.8, 0.2], [0.3, 0.7]]}\n";
  char text[1000];
  snprintf(text, sizeof text,
           "%sactions: [u, v]\nutility: {u: [1, -1], v: [-0.5, 0.7]}\n"
           "belief_utility: {entropy: 0, guess: 2}\nagent: {planner: rational, resolution: 50}\n",
           dynamics);
  idm_problem *paid = support_yaml(text);
  snprintf(text, sizeof text,
           "%sactions: [ua, ub, va, vb]\n"
           "utility: {ua: [3, -1], ub: [1, 1], va: [1.5, 0.7], vb: [-0.5, 2.7]}\n"
           "agent: {planner: rational, resolution: 50}\n",
           dynamics);
  idm_problem *guesses = support_yaml(text);
  idm_workspace *a = support_plan(paid, NULL);
  idm_workspace *b = support_plan(guesses, NULL);
  for (int i = 0; i <= 40; i++) {
    const double z[] = {i / 40.0, 1 - i / 40.0};
    assert_near(idm_plan_value(a, 0, z), idm_plan_value(b, 0, z), 1e-7);
  }
  idm_workspace_destroy(a);
  idm_workspace_destroy(b);
  idm_problem_destroy(paid);
  idm_problem_destroy(guesses);
}

/* The same holds for any linear pieces: the maximum over pieces is a guess that accompanies every
 * action. Values are equal, and the probability of an action is the sum over its guesses. */
static void pieces_are_guess_actions(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 37, 0);
  for (size_t k = 0; k < 12; k++) {
    const support_shape shape = {2 + k % 2, 2, 2, 1 + k / 2 % 2, 24};
    idm_problem *paid = support_problem(shape, &random);
    paid->setting->terminal[0] = paid->setting->ends[0] = k % 3 == 1;
    paid->setting->horizon = k % 4 == 3 ? 5 : 0;
    support_pieces(paid, 1 + k % 4, &random);
    idm_problem *guesses = support_guesses(paid);
    check(idm_problem_set_planner(paid, idm_planner_find("rational"), &support_error));
    check(idm_problem_set_planner(guesses, idm_planner_find("rational"), &support_error));
    idm_workspace *a = support_plan(paid, NULL);
    idm_workspace *b = support_plan(guesses, NULL);
    const size_t pieces = 1 + k % 4;
    for (int i = 0; i <= 24; i++) {
      double z[3], pi[2], all[8];
      support_distribution(&random, z, shape.states);
      assert_near(idm_plan_value(a, 0, z), idm_plan_value(b, 0, z), 1e-6);
      idm_plan_policy(a, 0, z, pi, NULL);
      idm_plan_policy(b, 0, z, all, NULL);
      for (size_t u = 0; u < 2; u++) {
        double together = 0;
        for (size_t j = 0; j < pieces; j++) together += all[u * pieces + j];
        assert_near(pi[u], together, 1e-12);
      }
    }
    idm_workspace_destroy(a);
    idm_workspace_destroy(b);
    idm_problem_destroy(paid);
    idm_problem_destroy(guesses);
  }
}

/* Negative entropy is the maximum of its tangents, log p at p. With the tangents at every lattice
 * point both problems are equivalent. Points with a state of probability 0 have a tangent only in
 * the limit. */
static void entropy_is_the_best_of_its_tangents(void **state)
{
  (void)state;
  enum { points = 16, actions = 3, fields = 2 * actions };
  idm_random random;
  idm_random_init(&random, 38, 0);
  idm_problem *lost = support_problem((support_shape){2, actions, 2, 2, points}, &random);
  check(idm_problem_set_planner(lost, idm_planner_find("rational"), &support_error));
  for (size_t u = 0; u < actions; u++)
    lost->theta->block[IDM_BELIEF_UTILITY].value[u] = 1.5 * (double)u;
  idm_workspace *a = support_plan(lost, NULL);
  double value[points + 1];
  for (int i = 0; i <= points; i++) {
    const double p = i / (double)points;
    value[i] = idm_plan_value(a, 0, (const double[]){p, 1 - p});
  }
  check(idm_theta_resize(lost->theta, IDM_BELIEF_UTILITY, fields + 2 * actions * (points + 1), 1,
                         &support_error));
  for (int i = 0; i <= points; i++) {
    const double p = fmin(fmax(i / (double)points, 1e-12), 1 - 1e-12);
    for (int u = 0; u < actions; u++) {
      double *piece = lost->theta->block[IDM_BELIEF_UTILITY].value + fields + 2 * (actions * i + u);
      piece[0] = 1.5 * u * log(p);
      piece[1] = 1.5 * u * log1p(-p);
    }
  }
  idm_workspace *b = support_plan(lost, NULL);
  for (int i = 0; i <= points; i++) {
    const double p = i / (double)points;
    assert_near(idm_plan_value(b, 0, (const double[]){p, 1 - p}), value[i], 1e-6);
  }
  idm_workspace_destroy(a);
  idm_workspace_destroy(b);
  idm_problem_destroy(lost);
}

/* The loss of entropy is 0 for a certain belief and log 2 at most. */
static void entropy_is_lost(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      "states: [a, b]\nobservations: [x, y]\nactions: [u]\ndiscount: 0\n"
      "transition: {u: identity}\nobservation: {u: uniform}\nutility: {u: [1, 3]}\n"
      "belief_utility: {entropy: 0.5, guess: 4}\nagent: {planner: rational, resolution: 10}\n");
  idm_workspace *workspace = support_plan(problem, NULL);
  for (int i = 0; i <= 10; i++) {
    const double p = i / 10.0, z[] = {p, 1 - p};
    const double lost = i % 10 ? -p * log(p) - (1 - p) * log(1 - p) : 0;
    assert_near(idm_plan_value(workspace, 0, z), p + 3 * (1 - p) - 0.5 * lost + 4 * fmax(p, 1 - p),
                1e-12);
  }
  /* It follows changes of theta. */
  problem->theta->block[IDM_BELIEF_UTILITY].value[0] = 0;
  check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
  assert_near(idm_plan_value(workspace, 0, (const double[]){0.5, 0.5}), 4, 1e-12);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_backup_is_the_plain_operator),
      cmocka_unit_test(the_backup_is_monotone_and_contracts),
      cmocka_unit_test(the_derivative_is_that_of_the_backup),
      cmocka_unit_test(the_transposed_product_is_the_transpose),
      cmocka_unit_test(joined_products_are_those_of_the_blocks),
      cmocka_unit_test(a_held_policy_pays_its_divergence),
      cmocka_unit_test(corners_follow_the_same_formulas),
      cmocka_unit_test(guessing_is_a_pomdp),
      cmocka_unit_test(pieces_are_guess_actions),
      cmocka_unit_test(entropy_is_the_best_of_its_tangents),
      cmocka_unit_test(entropy_is_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
