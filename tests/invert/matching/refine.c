/* `resolution: auto`: the posterior on the chosen lattice against finer lattices and quadrature,
 * for any number of threads. */
#include "invert/matching.h"

#include <math.h>
#include <string.h>

#include "support.h"

static idm_problem *make_problem(idm_evaluate evaluate)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.evaluate = evaluate;
  problem->agent.resolution = 0;
  check(idm_problem_set_free(problem, "{beta: {scale: inverse}, eta: }", &support_error));
  return problem;
}

static idm_refinement refine(const idm_problem *problem, const idm_data *data, int threads)
{
  idm_fit_settings settings;
  idm_refinement found;
  idm_fit_settings_default(&settings);
  settings.threads = threads;
  check(idm_refine(problem, data, &settings, NULL, &found, &support_error));
  return found;
}

/* Mean and sd of 1/beta by MCMC on a lattice of the given resolution. */
static idm_diagnosis posterior_at(idm_problem *problem, const idm_data *data, int resolution)
{
  idm_fit_settings settings;
  idm_posterior *posterior;
  idm_diagnosis d;
  idm_fit_settings_default(&settings);
  settings.chains = 4;
  settings.draws = 400;
  settings.warmup = 200;
  settings.keep = IDM_KEEP_NOTHING;
  problem->agent.resolution = resolution;
  check(idm_inverse_fit(idm_inverse_find("bayes"), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  problem->agent.resolution = 0;
  assert_int_equal(posterior->resolution, resolution);
  check(idm_diagnose(posterior->value + 1600, 4, 400, 400, 1, &d, &support_error));
  idm_posterior_destroy(posterior);
  return d;
}

/* Many trajectories and interpolated policies: the default lattice of two states changes the
 * posterior and is refined. The result is within 0.25 sd of that on a lattice eight times as fine,
 * including Monte Carlo errors of 0.05 sd each. */
static void test_refining(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(IDM_INTERPOLATE);
  const idm_simulation simulation = {.trajectories = 6000, .seed = 4};
  idm_data *data = support_simulate(problem, simulation);
  const idm_refinement found = refine(problem, data, 1);
  assert_true(found.converged);
  assert_true(found.resolution > 99);
  assert_int_equal(found.step[0].resolution, 99);
  assert_true(found.step[0].shift > 0.1);
  assert_true(found.step[found.steps - 1].shift <= 0.1);
  assert_int_equal(found.step[found.steps - 1].resolution, found.resolution);
  const idm_diagnosis here = posterior_at(problem, data, found.resolution);
  const idm_diagnosis there = posterior_at(problem, data, 8 * found.resolution);
  assert_true(fabs(here.mean - there.mean) < 0.25 * there.sd);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void test_threads_change_nothing(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(IDM_INTERPOLATE);
  const idm_simulation simulation = {.trajectories = 300, .seed = 5};
  idm_data *data = support_simulate(problem, simulation);
  const idm_refinement one = refine(problem, data, 1);
  assert_true(one.steps > 0);
  for (int threads = 2; threads <= 6; threads += 2) {
    const idm_refinement other = refine(problem, data, threads);
    assert_int_equal(other.resolution, one.resolution);
    assert_int_equal(other.steps, one.steps);
    for (size_t i = 0; i < one.steps; i++) {
      assert_true(other.step[i].shift == one.step[i].shift);
      assert_true(other.step[i].share == one.step[i].share);
    }
  }
  idm_notes notes = {0};
  idm_refinement_note(&one, &notes);
  assert_non_null(strstr(notes.text[0], "doubling 99 moves a posterior mean by"));
  idm_notes_clear(&notes);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Mean and sd of the one free parameter by quadrature of the posterior at 25 points around
 * `around`. */
static void integrate(idm_problem *problem, const idm_data *data, int resolution, double around,
                      double width, double *mean, double *sd)
{
  enum { PLACES = 25 };
  idm_parameters *parameters;
  idm_prefix_tree *tree;
  idm_matching *matching;
  double y[PLACES], height[PLACES], top = -INFINITY, sum = 0, first = 0, second = 0;
  problem->agent.resolution = resolution;
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_evidence_tree(problem, data, &tree, &support_error));
  check(idm_matching_create(problem, data, tree, parameters, &matching, &support_error));
  check(idm_matching_fix_start(matching, &around, &support_error));
  const idm_target target = idm_matching_target(matching);
  for (int k = 0; k < PLACES; k++) {
    y[k] = around + width * (2.0 * k / (PLACES - 1) - 1);
    check(target.evaluate(target.context, &y[k], &height[k], NULL, &support_error));
    top = fmax(top, height[k]);
  }
  for (int k = 0; k < PLACES; k++) {
    const double weight = exp(height[k] - top);
    sum += weight;
    first += weight * y[k];
    second += weight * y[k] * y[k];
  }
  *mean = first / sum;
  *sd = sqrt(second / sum - *mean * *mean);
  problem->agent.resolution = 0;
  idm_matching_destroy(matching);
  idm_prefix_tree_destroy(tree);
  idm_parameters_destroy(parameters);
}

/* Three states and a certainty award: plans are expensive, so the points come from a coarser
 * lattice and are few. The reported shift by doubling equals that by quadrature of both posteriors
 * within 0.05 sd. */
static void test_few_points_of_an_awarded_problem(void **state)
{
  (void)state;
  idm_problem *problem;
  double mean[2], sd[2];
  check(idm_problem_read("example:clinic", &problem, NULL, &support_error));
  check(idm_problem_set_free(problem, "{beta: {scale: inverse}}", &support_error));
  problem->theta->block[IDM_ALPHA].role = IDM_NORMATIVE;
  problem->theta->block[IDM_ETA].role = IDM_NORMATIVE;
  problem->theta->block[IDM_CERTAINTY].value[2] =
      0.05; /* no jump, which a quadratic surface cannot follow */
  const idm_simulation simulation = {.trajectories = 20000, .steps = 6, .seed = 7};
  idm_data *data = support_simulate(problem, simulation);
  problem->agent.resolution = 0;
  const idm_refinement found = refine(problem, data, 2);
  assert_true(found.steps > 0);
  assert_int_equal(found.step[0].resolution, 99);
  assert_int_equal(found.step[0].finer, 198);
  double width = 6;
  integrate(problem, data, 99, 0, width, &mean[0], &sd[0]);
  while (sd[0] < width / 7) integrate(problem, data, 99, mean[0], width /= 3, &mean[0], &sd[0]);
  integrate(problem, data, 99, mean[0], 5 * sd[0], &mean[0], &sd[0]);
  integrate(problem, data, 198, mean[0], 5 * sd[0], &mean[1], &sd[1]);
  const double shift = fabs(mean[1] - mean[0]) / sd[0];
  assert_true(fabs(found.step[0].shift - shift) < 0.05);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A given resolution is kept; observed states have no lattice. */
static void test_nothing_to_refine(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(IDM_LOOKAHEAD);
  const idm_simulation simulation = {.trajectories = 20, .seed = 6};
  idm_data *data = support_simulate(problem, simulation);
  problem->agent.resolution = 12;
  const idm_refinement given = refine(problem, data, 1);
  assert_int_equal(given.resolution, 0);
  assert_int_equal(given.steps, 0);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  problem = support_yaml("{states: [low, high], actions: [wait, work], observations: states, "
                         "discount: 0.9, start: uniform,\n"
                         " transition: {wait: identity, work: [[0.2, 0.8], [0.3, 0.7]]},\n"
                         " utility: {wait: [0, 1], work: [-0.5, -1]}, agent: {alpha: 1}}");
  assert_true(problem->setting->fully_observed);
  problem->agent.resolution = 0;
  data = support_simulate(problem, (idm_simulation){.trajectories = 20, .steps = 5, .seed = 6});
  check(idm_problem_set_free(problem, "alpha", &support_error));
  const idm_refinement observed = refine(problem, data, 1);
  assert_true(observed.resolution == 0 && observed.steps == 0);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refining),
      cmocka_unit_test(test_threads_change_nothing),
      cmocka_unit_test(test_few_points_of_an_awarded_problem),
      cmocka_unit_test(test_nothing_to_refine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
