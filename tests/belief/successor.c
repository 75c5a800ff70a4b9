/* Tests the successor operator against a direct dense computation of the same rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/soft.h"
#include "belief/successor.h"
#include "idm/extension/random.h"

enum { MOST = 6, ACTIONS = 5, MODELS = 3 };
enum { PLAIN, FORGETFUL, TERMINAL, PROPORTIONAL, SPARSE }; /* kinds of actions */

/* Random dynamics with one action of each kind, and their lattice. */
typedef struct action_model {
  idm_sizes n;
  double transition[MODELS * ACTIONS * MOST * MOST];
  double emission[MODELS * ACTIONS * MOST * MOST];
  double prior[MOST];
  bool terminal[ACTIONS];
  idm_successor_request request;
  idm_lattice *lattice;
  idm_successors *successors;
} action_model;

static void draw_row(double *row, size_t count, double zeros, idm_random *random)
{
  double total = 0;
  for (size_t i = 0; i < count; i++) {
    const bool zero = i + 1 < count && idm_random_uniform(random) < zeros;
    total += row[i] = zero ? 0 : 0.05 + idm_random_uniform(random);
  }
  for (size_t i = 0; i < count; i++) row[i] /= total;
}

/* Makes column 1 three times column 0 and the last column zero; rows stay distributions. */
static void make_proportional(double *row, size_t count)
{
  if (count < 4) return;
  row[1] = 3 * row[0];
  double total = 0;
  for (size_t x = 0; x < count; x++) total += x + 1 < count ? row[x] : 0;
  for (size_t x = 0; x < count; x++) row[x] = x + 1 < count ? row[x] / total : 0;
}

static void draw_block(const action_model *w, int kind, double *transition, double *emission,
                       idm_random *random)
{
  const size_t k = w->n.states, X = w->n.observations;
  for (size_t s = 0; s < k; s++) {
    draw_row(transition + s * k, k, kind == SPARSE ? 0.6 : 0, random);
    draw_row(emission + s * X, X, kind == SPARSE ? 0.6 : 0, random);
    if (kind == FORGETFUL) memcpy(transition + s * k, transition, k * sizeof *transition);
    if (kind == PROPORTIONAL) make_proportional(emission + s * X, X);
  }
}

static void create(action_model *w, size_t states, size_t observations, int resolution,
                   bool corners, bool prior, bool merge, bool before)
{
  idm_random random;
  idm_random_init(&random, 51, states * 1000 + (size_t)resolution);
  memset(w, 0, sizeof *w);
  w->n = (idm_sizes){states, ACTIONS, observations};
  w->terminal[TERMINAL] = true;
  for (size_t m = 0; m < MODELS; m++)
    for (size_t u = 0; u < ACTIONS; u++) {
      const size_t at = m * ACTIONS + u;
      double *emission = w->emission + at * states * observations;
      draw_block(w, (int)u, w->transition + at * states * states, emission, &random);
      for (size_t i = 0; corners && i < states * states; i++) emission[i] = i % (states + 1) == 0;
    }
  for (size_t s = 0; s < states; s++) w->prior[s] = 0.5 + (double)s;
  w->request = (idm_successor_request){.sizes = w->n,
                                       .models = MODELS,
                                       .transition = w->transition,
                                       .emission = w->emission,
                                       .terminal = w->terminal,
                                       .belief_prior = prior ? w->prior : NULL,
                                       .merge_surprise = merge,
                                       .before = before};
  idm_error error = {0};
  assert_int_equal(idm_lattice_create(states, resolution, corners, &w->lattice, &error), IDM_OK);
  assert_int_equal(idm_successors_create(w->lattice, &w->request, &w->successors, &error), IDM_OK);
}

static void destroy(action_model *w)
{
  idm_successors_destroy(w->successors);
  idm_lattice_destroy(w->lattice);
}

static const idm_successor_block *block_of(const action_model *w, size_t u, size_t m)
{
  return &w->successors->block[u * MODELS + m];
}

/* --- direct computation --------------------------------------------------------------------- */

/* Computes the posterior after x from belief z. Returns p(x). */
static double update(const action_model *w, size_t u, size_t m, const double *z, size_t x,
                     double *posterior)
{
  const size_t k = w->n.states, X = w->n.observations;
  const double *transition = w->transition + (m * ACTIONS + u) * k * k;
  const double *emission = w->emission + (m * ACTIONS + u) * k * X;
  double total = 0;
  for (size_t t = 0; t < k; t++) {
    posterior[t] = 0;
    for (size_t s = 0; s < k; s++)
      posterior[t] += z[s] * transition[s * k + t] * emission[(w->request.before ? s : t) * X + x];
    total += posterior[t];
  }
  for (size_t t = 0; t < k && total > 0; t++) posterior[t] /= total;
  return total;
}

static double prior_log(const action_model *w, const double *z)
{
  if (!w->request.belief_prior) return 0;
  const double k = (double)w->n.states, r = w->lattice->resolution;
  double sum = 0, total = 0;
  if (w->lattice->corners) { /* the probability of the observed state */
    for (size_t s = 0; s < w->n.states; s++) {
      total += w->prior[s];
      sum += z[s] * w->prior[s];
    }
    return log(sum / total);
  }
  for (size_t s = 0; s < w->n.states; s++) {
    total += w->prior[s];
    sum += (w->prior[s] - 1) * log((z[s] + 1 / (2 * r)) / (1 + k / (2 * r))) - lgamma(w->prior[s]);
  }
  return sum + lgamma(total);
}

/* Row (u, m, z), dense, observation by observation. */
static void plain_row(const action_model *w, size_t u, size_t m, const double *z, double *row)
{
  memset(row, 0, w->lattice->points * sizeof *row);
  for (size_t x = 0; x < w->n.observations; x++) {
    double posterior[MOST], weight[MOST], scratch[2 * MOST];
    uint32_t vertex[MOST];
    const double p = update(w, u, m, z, x, posterior);
    if (!(p > 0)) continue;
    const size_t count = idm_lattice_locate(w->lattice, posterior, vertex, weight, scratch);
    for (size_t v = 0; v < count; v++) row[vertex[v]] += p * weight[v];
  }
}

/* Returns whether x and y lead to the same belief from every belief on two states. */
static bool same_beliefs(const action_model *w, size_t u, size_t m, size_t x, size_t y)
{
  for (size_t s = 0; s < w->n.states; s++)
    for (size_t t = 0; t < w->n.states; t++) {
      double z[MOST] = {0}, first[MOST], second[MOST];
      z[s] += 0.375;
      z[t] += 0.625;
      const double p = update(w, u, m, z, x, first), q = update(w, u, m, z, y, second);
      for (size_t i = 0; i < w->n.states && p > 0 && q > 0; i++)
        if (fabs(first[i] - second[i]) > 1e-13) return false;
    }
  return true;
}

/* Returns whether x and y lead to the same belief from every belief, which holds for proportional
 * columns. */
static bool same_column(const action_model *w, size_t u, size_t m, size_t x, size_t y)
{
  if (w->request.before) return same_beliefs(w, u, m, x, y);
  const double *e = w->emission + (m * ACTIONS + u) * w->n.states * w->n.observations;
  const size_t X = w->n.observations;
  for (size_t s = 0; s < w->n.states; s++)
    for (size_t t = 0; t < w->n.states; t++)
      if (fabs(e[s * X + x] * e[t * X + y] - e[t * X + x] * e[s * X + y]) > 1e-14) return false;
  return true;
}

/* H = -sum p log(p / prior(z')), over observations or over merged groups of them
 * (docs/method/control.md, 3). */
static double plain_surprise(const action_model *w, size_t u, size_t m, const double *z)
{
  double sum = 0;
  bool counted[MOST] = {false};
  for (size_t x = 0; x < w->n.observations; x++) {
    double posterior[MOST], other[MOST];
    double p = update(w, u, m, z, x, posterior);
    if (counted[x] || !(p > 0)) continue;
    for (size_t y = x + 1; y < w->n.observations && w->request.merge_surprise; y++)
      if (same_column(w, u, m, x, y)) {
        p += update(w, u, m, z, y, other);
        counted[y] = true;
      }
    sum -= p * (log(p) - prior_log(w, posterior));
  }
  return sum;
}

/* --- comparison ----------------------------------------------------------------------------- */

static void assert_near(double found, double expected, double tolerance)
{
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("found %.17g, expected %.17g within %g", found, expected, tolerance);
}

static void check_row(const action_model *w, size_t u, size_t m, size_t point, const double *v,
                      double expectation)
{
  const size_t points = w->lattice->points;
  const idm_successor_block *block = block_of(w, u, m);
  double *plain = calloc(points, sizeof *plain);
  double *dense = calloc(points, sizeof *dense);
  assert_true(plain && dense);
  double z[MOST] = {0};
  if (w->lattice->corners)
    z[point] = 1;
  else
    memcpy(z, w->lattice->belief + point * w->n.states, w->n.states * sizeof *z);
  plain_row(w, u, m, z, plain);
  idm_successor_scatter(block, point, 0.5, dense);
  idm_successor_scatter(block, point, 0.5, dense);
  double sum = 0, mean = 0;
  for (size_t i = 0; i < points; i++) {
    /* A rounding error of the posterior is multiplied by r in the weights. */
    assert_near(dense[i], plain[i], 1e-12);
    assert_true(dense[i] >= 0);
    sum += dense[i];
    mean += plain[i] * v[i];
  }
  assert_near(sum, 1, 1e-14);
  assert_near(idm_successor_row(block, point, v), mean, 1e-12);
  assert_near(expectation, mean, 1e-12);
  const size_t row = block->rows == 1 ? 0 : point;
  assert_near(block->surprise[row], plain_surprise(w, u, m, z), 1e-12);
  free(plain);
  free(dense);
}

/* Returns whether all states have the same transitions (for a sparse action possibly by chance) and
 * emit nothing that distinguishes beliefs. */
static bool forgets(const action_model *w, size_t u, size_t m)
{
  const size_t k = w->n.states, X = w->n.observations;
  const double *emission = w->emission + (m * ACTIONS + u) * k * X;
  for (size_t i = X; i < k * X && w->request.before && !w->request.merge_surprise; i++)
    if (emission[i] != emission[i % X]) return false;
  const double *transition = w->transition + (m * ACTIONS + u) * k * k;
  for (size_t i = k; i < k * k; i++)
    if (transition[i] != transition[i % k]) return false;
  return true;
}

static void check_block(const action_model *w, size_t u, size_t m, const double *v)
{
  const idm_successor_block *block = block_of(w, u, m);
  const size_t points = w->lattice->points;
  if (u == TERMINAL) {
    assert_int_equal(block->rows, 0);
    return;
  }
  const bool one_row = forgets(w, u, m) && !w->lattice->corners;
  if (u == FORGETFUL && !w->request.before) assert_true(one_row || w->lattice->corners);
  assert_int_equal(block->rows, one_row ? 1 : points);
  assert_int_equal(block->slices, (block->rows + IDM_LANES - 1) / IDM_LANES);
  if (w->n.states == 2 && !w->lattice->corners)
    assert_true(block->pairs > 0 && block->pairs <= w->n.observations);
  else
    assert_int_equal(block->pairs, 0);
  double *out = calloc(block->slices * IDM_LANES, sizeof *out);
  assert_non_null(out);
  for (size_t slice = 0; slice < block->slices; slice++)
    idm_successor_expect(block, slice, v, out + slice * IDM_LANES);
  /* Lanes after the last row are empty. */
  for (size_t i = block->rows; i < block->slices * IDM_LANES; i++)
    assert_true(out[i] == 0 && block->surprise[i] == 0);
  for (size_t i = 0; i < points; i++) check_row(w, u, m, i, v, out[one_row ? 0 : i]);
  free(out);
}

static void check_world(const action_model *w)
{
  const size_t points = w->lattice->points;
  double *v = calloc(points, sizeof *v);
  assert_non_null(v);
  idm_random random;
  idm_random_init(&random, 52, points);
  for (size_t i = 0; i < points; i++) v[i] = 2 * idm_random_uniform(&random) - 1;
  assert_int_equal(w->successors->actions, ACTIONS);
  assert_int_equal(w->successors->models, MODELS);
  assert_int_equal(w->successors->slices, (points + IDM_LANES - 1) / IDM_LANES);
  for (size_t u = 0; u < ACTIONS; u++)
    for (size_t m = 0; m < MODELS; m++) check_block(w, u, m, v);
  free(v);
}

/* With and without merging, with and without a prior of beliefs, with emissions after and before
 * the transition. */
static void check_shape(size_t states, size_t observations, int resolution, bool corners)
{
  static action_model w;
  for (int merge = 0; merge <= 1; merge++)
    for (int prior = 0; prior <= 1; prior++) {
      for (int before = 0; before <= !corners; before++) {
        create(&w, states, observations, resolution, corners, prior, merge, before);
        check_world(&w);
        destroy(&w);
      }
    }
}

static void test_two_states_in_pairs(void **state)
{
  (void)state;
  const int resolutions[] = {1, 2, 7, 31, 32, 40, 99};
  for (size_t i = 0; i < 7; i++)
    for (size_t observations = 1; observations <= 5; observations++)
      check_shape(2, observations, resolutions[i], false);
}

static void test_three_and_more_states(void **state)
{
  (void)state;
  check_shape(3, 2, 6, false);
  check_shape(3, 5, 12, false);
  check_shape(3, 4, 1, false);
  check_shape(4, 4, 4, false);
  check_shape(4, 6, 1, false);
  check_shape(5, 5, 3, false);
}

static void test_corners(void **state)
{
  (void)state;
  for (size_t states = 2; states <= MOST; states++) check_shape(states, states, 99, true);
}

static void test_one_state(void **state)
{
  (void)state;
  check_shape(1, 3, 1, false);
}

/* The order of the observations has no effect. */
static void test_observations_may_be_reordered(void **state)
{
  (void)state;
  static action_model a, b;
  const size_t to[] = {3, 0, 4, 2, 1};
  create(&a, 3, 5, 8, false, true, true, false);
  create(&b, 3, 5, 8, false, true, true, false);
  idm_successors_destroy(b.successors);
  for (size_t i = 0; i < MODELS * ACTIONS * 3; i++)
    for (size_t x = 0; x < 5; x++) b.emission[i * 5 + to[x]] = a.emission[i * 5 + x];
  assert_int_equal(idm_successors_create(b.lattice, &b.request, &b.successors, NULL), IDM_OK);
  for (size_t i = 0; i < ACTIONS * MODELS; i++)
    for (size_t row = 0; row < a.successors->block[i].rows; row++) {
      double dense[45] = {0};
      assert_int_equal(a.lattice->points, 45);
      idm_successor_scatter(&a.successors->block[i], row, 1, dense);
      idm_successor_scatter(&b.successors->block[i], row, -1, dense);
      for (size_t p = 0; p < 45; p++) assert_near(dense[p], 0, 1e-13);
      assert_near(a.successors->block[i].surprise[row], b.successors->block[i].surprise[row],
                  1e-13);
    }
  destroy(&a);
  destroy(&b);
}

/* --- surprise by hand, groups, prior, size -------------------------------------------------- */

/* An uninformative test with three outcomes leads to one belief, so its surprise is 0 if outcomes
 * are merged. */
static void test_surprise_by_hand(void **state)
{
  (void)state;
  const double stay[] = {1, 0, 0, 1};
  const double useless[] = {0.5, 0.3, 0.2, 0.5, 0.3, 0.2};
  const bool terminal[] = {false};
  idm_lattice *lattice;
  assert_int_equal(idm_lattice_create(2, 10, false, &lattice, NULL), IDM_OK);
  for (int merge = 0; merge <= 1; merge++) {
    const idm_successor_request request = {.sizes = {2, 1, 3},
                                           .models = 1,
                                           .transition = stay,
                                           .emission = useless,
                                           .terminal = terminal,
                                           .merge_surprise = merge};
    idm_successors *successors;
    assert_int_equal(idm_successors_create(lattice, &request, &successors, NULL), IDM_OK);
    const double entropy = -0.5 * log(0.5) - 0.3 * log(0.3) - 0.2 * log(0.2);
    assert_int_equal(successors->block[0].pairs, 1);
    for (size_t i = 0; i < lattice->points; i++)
      assert_near(successors->block[0].surprise[i], merge ? 0 : entropy, 1e-15);
    idm_successors_destroy(successors);
  }
  idm_lattice_destroy(lattice);
}

static void check_groups(size_t states, size_t observations, const double *emission,
                         const int *expected)
{
  int group[MOST];
  const idm_action_model is = {
      .states = states, .observations = observations, .emission = emission};
  idm_observation_groups(&is, group);
  for (size_t x = 0; x < observations; x++) assert_int_equal(group[x], expected[x]);
}

static void test_groups(void **state)
{
  (void)state;
  check_groups(2, 2, (const double[]){0.7, 0.3, 0.3, 0.7}, (const int[]){0, 1});
  check_groups(2, 2, (const double[]){0.6, 0.4, 0.6, 0.4}, (const int[]){0, 0});
  check_groups(2, 4, (const double[]){0.1, 0, 0.3, 0.6, 0.2, 0, 0.6, 0.2},
               (const int[]){0, -1, 0, 3});
  /* Proportional columns, and columns that a zero makes not proportional. */
  check_groups(3, 3, (const double[]){0.2, 0.4, 0.4, 0, 0, 1, 0.3, 0.6, 0.1},
               (const int[]){0, 0, 2});
  check_groups(2, 3, (const double[]){0.5, 0.5, 0, 0.25, 0, 0.75}, (const int[]){0, 1, 2});
  check_groups(2, 3, (const double[]){0, 0.25, 0.75, 0, 0.5, 0.5}, (const int[]){-1, 1, 2});
  /* Columns that differ by rounding are merged; a difference in the ninth digit keeps them apart.
   */
  check_groups(2, 2, (const double[]){0.1, 0.9, 0.1 * 3 / 3, 0.9}, (const int[]){0, 0});
  check_groups(2, 2, (const double[]){0.5, 0.5, 0.500000001, 0.499999999}, (const int[]){0, 1});
  check_groups(1, 3, (const double[]){0.2, 0.3, 0.5}, (const int[]){0, 0, 0});
}

static double dirichlet_log(size_t states, const double *concentration, int resolution,
                            const double *z)
{
  return idm_belief_prior_log(states, concentration,
                              idm_belief_prior_constant(states, concentration), resolution, z);
}

static void test_belief_prior(void **state)
{
  (void)state;
  const double centre[] = {0.5, 0.5}, corner[] = {0, 1}, third[] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
  assert_true(dirichlet_log(2, NULL, 99, corner) == 0);
  /* By hand: flat densities are (k - 1)!, and Beta(2, 2) is 6 z (1 - z). */
  assert_near(dirichlet_log(2, (const double[]){1, 1}, 99, corner), 0, 1e-14);
  assert_near(dirichlet_log(3, (const double[]){1, 1, 1}, 99, third), log(2), 1e-14);
  assert_near(dirichlet_log(2, (const double[]){2, 2}, 99, centre), log(1.5), 1e-14);
  const double inside = (0 + 0.05) / (1 + 0.1);
  assert_near(dirichlet_log(2, (const double[]){2, 2}, 10, corner), log(6 * inside * (1 - inside)),
              1e-14);
  assert_true(isfinite(dirichlet_log(2, (const double[]){0.1, 5}, 99, corner)));
  const double a[] = {0.5, 2.5, 4}, z[] = {0.2, 0.7, 0.1};
  double expected = lgamma(7) - lgamma(0.5) - lgamma(2.5) - lgamma(4);
  for (size_t s = 0; s < 3; s++) expected += (a[s] - 1) * log((z[s] + 1 / 40.0) / (1 + 3 / 40.0));
  assert_near(dirichlet_log(3, a, 20, z), expected, 1e-13);
}

/* Derivatives by concentrations and weights against differences. psi(1) is minus Euler's constant,
 * and psi(1/2) is smaller by 2 log 2. */
static void test_belief_prior_slope(void **state)
{
  (void)state;
  double derivative[3] = {0};
  idm_belief_prior_gradient(2, (const double[]){0.5, 0.5}, 99, (const double[]){0.5, 0.5}, 1,
                            derivative);
  assert_near(derivative[0], log(0.5) + 2 * log(2), 1e-13);
  const double z[] = {0.2, 0.8, 0}, h = 1e-5;
  static const double cases[][3] = {{0.5, 2.5, 4}, {0.01, 1, 30}, {9, 0.3, 7.5}};
  for (size_t i = 0; i < 3; i++) {
    double found[3] = {1, 1, 1}, of_state[3] = {0};
    idm_belief_prior_gradient(3, cases[i], 20, z, 2, found);
    idm_state_prior_gradient(3, cases[i], i, 2, of_state);
    for (size_t s = 0; s < 3; s++) {
      double up[3], down[3];
      memcpy(up, cases[i], sizeof up);
      memcpy(down, cases[i], sizeof down);
      up[s] *= 1 + h;
      down[s] *= 1 - h;
      const double step = 2 * h * cases[i][s];
      const double density = (dirichlet_log(3, up, 20, z) - dirichlet_log(3, down, 20, z)) / step;
      const double share = (idm_state_prior_log(3, up, i) - idm_state_prior_log(3, down, i)) / step;
      assert_near(found[s] - 1, 2 * density, 1e-7 * fmax(1, fabs(density)));
      assert_near(of_state[s], 2 * share, 1e-7 * fmax(1, fabs(share)));
    }
  }
  assert_near(idm_state_prior_log(3, (const double[]){1, 2, 5}, 1), log(0.25), 1e-15);
  assert_true(idm_state_prior_log(3, NULL, 1) == 0);
}

/* Bytes that the arrays of a block occupy. */
static double real_bytes(const idm_successor_block *block)
{
  const double lanes = (double)(block->slices * IDM_LANES);
  const double entries =
      block->pairs ? lanes * (double)block->pairs : (double)block->offset[block->slices];
  const double values = block->pairs ? 2 * sizeof(double) : sizeof(double);
  return entries * (sizeof(uint32_t) + values) + lanes * sizeof(double);
}

/* The estimate is an upper bound of the stored bytes, with rows rounded up to whole slices. */
static void check_bytes(size_t states, size_t observations, int resolution, bool corners)
{
  static action_model w;
  create(&w, states, observations, resolution, corners, false, true, false);
  /* A forgetful action stores a single row in a slice. Perturb it by rounding, so that it is stored
   * as an ordinary action. */
  for (size_t m = 0; m < MODELS && states > 1; m++)
    w.transition[(m * ACTIONS + FORGETFUL) * states * states] *= 1 + 1e-15;
  idm_successors_destroy(w.successors);
  assert_int_equal(idm_successors_create(w.lattice, &w.request, &w.successors, NULL), IDM_OK);
  double held = 0;
  for (size_t i = 0; i < ACTIONS * MODELS; i++)
    if (w.successors->block[i].rows) held += real_bytes(&w.successors->block[i]);
  const size_t whole = (w.lattice->points + IDM_LANES - 1) / IDM_LANES * IDM_LANES;
  const double bound = idm_successors_bytes(&w.request, whole, corners);
  assert_true(held <= bound);
  /* The bound is tight up to merged entries. */
  assert_true(bound <= 3 * held);
  assert_true(idm_successors_bytes(&w.request, 2 * whole, corners) > 1.9 * bound);
  destroy(&w);
}

static void test_bytes(void **state)
{
  (void)state;
  check_bytes(2, 2, 99, false);
  check_bytes(2, 5, 40, false);
  check_bytes(3, 3, 20, false);
  check_bytes(4, 5, 8, false);
  check_bytes(5, 5, 99, true);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_states_in_pairs),
      cmocka_unit_test(test_three_and_more_states),
      cmocka_unit_test(test_corners),
      cmocka_unit_test(test_one_state),
      cmocka_unit_test(test_observations_may_be_reordered),
      cmocka_unit_test(test_surprise_by_hand),
      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_belief_prior),
      cmocka_unit_test(test_belief_prior_slope),
      cmocka_unit_test(test_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
