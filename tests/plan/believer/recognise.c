/* Tests recognition for one belief against a filter by its definition. */
#include "plan/believer/believer.h"

#include <math.h>
#include <string.h>

#include "support.h"

enum { MOST = 5, MODELS = 3 };

/* The result of the filter: successor belief, predictive probability, and the posterior weights of
 * the models under sigma. */
typedef struct filtered {
  double mean[MOST];
  double share[MODELS];
  double allowed;
  double predictive;
} filtered;

/* For each model p(s', x | z, u), normalised, then the mean over the models under which x is
 * possible. */
static filtered plain_filter(const recognition *r)
{
  const idm_sizes n = r->theta->sizes;
  filtered f = {.allowed = 0};
  for (size_t m = 0; m < r->theta->models; m++) {
    double joint[MOST] = {0}, p = 0;
    for (size_t t = 0; t < n.states; t++) {
      const size_t row = (m * n.actions + r->action) * n.states;
      for (size_t s = 0; s < n.states; s++) {
        const size_t emitter = r->setting->emits_before ? s : t;
        joint[t] += r->z[s] * r->theta->block[IDM_TRANSITION].value[(row + s) * n.states + t] *
                    (r->setting->fully_observed
                         ? (t == r->observation)
                         : r->theta->block[IDM_EMISSION]
                               .value[(row + emitter) * n.observations + r->observation]);
      }
      p += joint[t];
    }
    if (!(p > 0) || !(r->sigma[m] > 0)) continue;
    f.share[m] = r->sigma[m];
    f.allowed += r->sigma[m];
    f.predictive += r->sigma[m] * p;
    for (size_t t = 0; t < n.states; t++) f.mean[t] += r->sigma[m] * joint[t] / p;
  }
  for (size_t t = 0; f.allowed > 0 && t < n.states; t++) f.mean[t] /= f.allowed;
  return f;
}

static void compare(const recognition *r)
{
  const filtered expected = plain_filter(r);
  double share[MODELS], mean[MOST], joint[MOST], allowed, sum = 0;
  const double predictive = idm_recognise(r, share, mean, &allowed, joint);
  assert_near(predictive, expected.predictive, 1e-14);
  assert_near(allowed, expected.allowed, 1e-14);
  for (size_t m = 0; m < r->theta->models; m++) assert_near(share[m], expected.share[m], 1e-15);
  for (size_t s = 0; s < r->theta->sizes.states; s++) {
    assert_near(mean[s], expected.mean[s], 1e-13);
    sum += mean[s];
  }
  assert_near(sum, expected.allowed > 0 ? 1 : 0, 1e-13);
  /* Requesting the shares changes the result by rounding at most (fused operations after inlining).
   */
  double again[MOST];
  assert_near(idm_recognise(r, NULL, again, &allowed, joint), predictive, 1e-15);
  for (size_t s = 0; s < r->theta->sizes.states; s++) assert_near(again[s], mean[s], 1e-15);
}

/* Compares every action and observation of a problem, at a belief. */
static void compare_all(const idm_problem *problem, const double *z, const double *sigma)
{
  const idm_sizes n = problem->theta->sizes;
  for (size_t u = 0; u < n.actions; u++)
    for (size_t x = 0; x < n.observations; x++) {
      const recognition r = {problem->setting, problem->theta, z, sigma, u, x};
      compare(&r);
    }
}

static void draw_belief(idm_random *random, size_t states, double *z, double *sigma)
{
  support_distribution(random, z, states);
  support_distribution(random, sigma, MODELS);
}

static void agrees_with_a_plain_filter(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 41, 0);
  for (size_t states = 2; states <= MOST; states++)
    for (int i = 0; i < 20; i++) {
      idm_problem *problem = support_problem((support_shape){states, 3, 4, MODELS, 3}, &random);
      problem->setting->emits_before = i % 4 > 1;
      double z[MOST], sigma[MODELS];
      draw_belief(&random, states, z, sigma);
      compare_all(problem, z, sigma);
      if (i % 2) sigma[0] = 0; /* a model with weight 0 */
      for (size_t s = 0; s < states; s++) z[s] = s == (size_t)i % states;
      compare_all(problem, z, sigma);
      idm_problem_destroy(problem);
    }
}

/* Models under which the observation is impossible are dropped; if all are, the result is empty. */
static void impossible_observations(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 42, 0);
  for (size_t states = 2; states <= MOST; states++) {
    idm_problem *problem = support_problem((support_shape){states, 2, 3, MODELS, 3}, &random);
    const size_t size = problem->theta->block[IDM_EMISSION].size / MODELS;
    double z[MOST], sigma[MODELS];
    draw_belief(&random, states, z, sigma);
    for (size_t m = 0; m < MODELS; m++) {
      double *emission = problem->theta->block[IDM_EMISSION].value + m * size;
      for (size_t row = 0; row < size; row += 3) {
        emission[row + 1] += emission[row];
        emission[row] = 0;
      }
      compare_all(problem, z, sigma);
    }
    const recognition r = {problem->setting, problem->theta, z, sigma, 0, 0};
    double mean[MOST], joint[MOST], allowed;
    assert_true(idm_recognise(&r, NULL, mean, &allowed, joint) == 0);
    assert_true(allowed == 0);
    for (size_t s = 0; s < states; s++) assert_true(mean[s] == 0);
    idm_problem_destroy(problem);
  }
}

/* In an MDP the observation is the state, whatever the emissions are. */
static void fully_observed(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 43, 0);
  for (size_t states = 2; states <= MOST; states++) {
    idm_problem *problem = support_problem((support_shape){states, 2, states, MODELS, 3}, &random);
    problem->setting->fully_observed = true;
    double z[MOST], sigma[MODELS];
    draw_belief(&random, states, z, sigma);
    compare_all(problem, z, sigma);
    const recognition r = {problem->setting, problem->theta, z, sigma, 1, 1};
    double mean[MOST], joint[MOST], allowed;
    idm_recognise(&r, NULL, mean, &allowed, joint);
    for (size_t s = 0; s < states; s++) assert_near(mean[s], s == 1, 1e-15);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_a_plain_filter),
      cmocka_unit_test(impossible_observations),
      cmocka_unit_test(fully_observed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
