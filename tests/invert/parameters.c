/* The free part of theta as a vector: conversion in both directions, names, and gradients by the
 * chain rule, against closed forms and finite differences. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "invert/parameters_support.h"
#include "setting/model.h"

/* --- problems ------------------------------------------------------------------------------- */

/* A block with one free number. */
typedef struct single {
  const char *planner;
  const char *free_blocks;
  idm_block_id block;
  double value;
  double y;             /* its unconstrained coordinate */
  const char *quantity; /* the summarised quantity */
} single;

static const single singles[] = {
    {"bounded-rational", "{alpha: {scale: identity}}", IDM_ALPHA, -2.5, -2.5, "alpha"},
    {"bounded-rational", "{alpha: {scale: log}}", IDM_ALPHA, 0.5, -0.69314718055994531, "alpha"},
    {"bounded-rational", "{beta: {scale: inverse}}", IDM_BETA, -4, -0.25, "inverse_beta"},
    {"bounded-rational", "{beta: {scale: inverse}}", IDM_BETA, INFINITY, 0, "inverse_beta"},
    {"bounded-rational", "{eta: {scale: signed-log}}", IDM_ETA, -2, -1.0986122886681098,
     "signed_log_eta"},
    {"bounded-rational", "{eta: {scale: signed-log}}", IDM_ETA, 2, 1.0986122886681098,
     "signed_log_eta"},
    {"bounded-rational", "discount", IDM_DISCOUNT, 0.9, 2.1972245773362196, "discount"},
    {"bounded-rational", "{discount: {prior: {uniform: [0.5, 1]}}}", IDM_DISCOUNT, 0.6,
     -1.3862943611198906, "discount"},
    {"bounded-rational", "{alpha: {scale: identity, prior: {uniform: [-1, 3]}}}", IDM_ALPHA, 0,
     -1.0986122886681098, "alpha"},
    {"bounded-rational", "{alpha: {scale: identity, prior: {exponential: 2}}}", IDM_ALPHA, 3,
     1.0986122886681098, "alpha"},
    {"boltzmann-exploratory", "{temperature: {scale: log}}", IDM_TEMPERATURE, 2,
     0.69314718055994531, "temperature"},
    {"boltzmann-exploratory", "{temperature: {scale: inverse}}", IDM_TEMPERATURE, 0.5,
     0.69314718055994531, "inverse_temperature"},
    {"boltzmann-exploratory", "{temperature: {scale: signed-log}}", IDM_TEMPERATURE, 1,
     -0.36651292058166432, "signed_log_temperature"},
    {"boltzmann-exploratory", "temperature", IDM_TEMPERATURE, 2, 0.69314718055994531,
     "temperature"},
    {"bounded-rational", "{discount: {scale: logit}}", IDM_DISCOUNT, 0.75, 1.0986122886681098,
     "discount"},
};

static idm_problem *problem_of(const single *s)
{
  idm_problem *problem = support_free_diag(s->free_blocks);
  check(idm_problem_set_planner(problem, idm_planner_find(s->planner), &support_error));
  return problem;
}

/* --- values --------------------------------------------------------------------------------- */

static void check_single(const single *s)
{
  idm_problem *problem = problem_of(s);
  idm_parameters *parameters = support_parameters(problem);
  double y = NAN, reported[2] = {NAN, NAN};
  assert_int_equal(idm_parameters_dimension(parameters), 1);
  idm_theta_set_scalar(problem->theta, s->block, s->value);
  idm_parameters_get(parameters, problem->theta, &y);
  assert_near(y, s->y, 1e-14);
  idm_theta_set_scalar(problem->theta, s->block, 77);
  idm_parameters_set(parameters, &y, problem->theta);
  assert_near(idm_theta_scalar(problem->theta, s->block), s->value, 1e-14);

  const idm_labels *names = idm_parameters_quantities(parameters);
  const bool inverse = strncmp(s->quantity, "inverse_", 8) == 0;
  const bool by_coordinate = inverse || strncmp(s->quantity, "signed_log_", 11) == 0;
  idm_parameters_report(parameters, &y, reported);
  assert_int_equal(names->count, by_coordinate ? 2 : 1);
  assert_string_equal(names->name[names->count - 1], s->quantity);
  assert_string_equal(names->name[0], idm_block_name(s->block));
  assert_string_equal(idm_parameters_coordinates(parameters)->name[0], idm_block_name(s->block));
  assert_near(reported[0], s->value, 1e-14);
  assert_int_equal(idm_parameters_summarised(parameters, 0), !by_coordinate);
  if (by_coordinate) {
    assert_near(reported[1],
                inverse ? 1 / s->value : idm_scale_transform(IDM_SCALE_SIGNED_LOG, s->value),
                1e-14);
    assert_true(idm_parameters_summarised(parameters, 1));
  }
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

static void test_scales_and_supports(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof singles / sizeof singles[0]; i++) check_single(&singles[i]);
}

/* A value outside its support becomes the nearest one inside, and stays finite. */
static void test_outside_its_support(void **state)
{
  (void)state;
  const struct {
    const char *free_blocks;
    idm_block_id block;
    double value, nearest;
  } cases[] = {
      {"discount", IDM_DISCOUNT, 1, 0.999},
      {"discount", IDM_DISCOUNT, 0, 0.001},
      {"{discount: {scale: logit}}", IDM_DISCOUNT, 1, 0.999},
      {"{discount: {scale: logit}}", IDM_DISCOUNT, 0, 0.001},
      {"{discount: {prior: {uniform: [0.5, 0.9]}}}", IDM_DISCOUNT, 0.95, 0.8996},
      /* A thousand times the unit, the range 46 of the utilities. */
      {"{alpha: {scale: log}}", IDM_ALPHA, INFINITY, 46e3},
      {"{alpha: {scale: log}}", IDM_ALPHA, 0, 46e-3},
      {"{alpha: {scale: identity}}", IDM_ALPHA, INFINITY, 46e3},
      {"{alpha: {scale: identity}}", IDM_ALPHA, -INFINITY, -46e3},
      {"{alpha: {scale: inverse}}", IDM_ALPHA, 0, 46e-3},
      {"{alpha: {scale: inverse}}", IDM_ALPHA, -0.0, -46e-3},
      {"{alpha: {scale: identity, prior: {halfnormal: 2}}}", IDM_ALPHA, -3, 46e-3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = support_free_diag(cases[i].free_blocks);
    idm_parameters *parameters = support_parameters(problem);
    double y = NAN;
    idm_theta_set_scalar(problem->theta, cases[i].block, cases[i].value);
    idm_parameters_get(parameters, problem->theta, &y);
    assert_true(isfinite(y));
    idm_parameters_set(parameters, &y, problem->theta);
    assert_near(idm_theta_scalar(problem->theta, cases[i].block) / cases[i].nearest, 1, 1e-12);
    idm_parameters_destroy(parameters);
    idm_problem_destroy(problem);
  }
}

static void test_simplex(void **state)
{
  (void)state;
  idm_problem *problem = support_free_diag("[action_prior, model_prior]");
  idm_parameters *parameters = support_parameters(problem);
  const double actions[3] = {0.2, 0.5, 0.3}, models[3] = {0.7, 0.1, 0.2};
  double y[4], reported[6];
  assert_int_equal(idm_parameters_dimension(parameters), 4);
  memcpy(problem->theta->block[IDM_ACTION_PRIOR].value, actions, sizeof actions);
  memcpy(problem->theta->block[IDM_MODEL_PRIOR].value, models, sizeof models);
  idm_parameters_get(parameters, problem->theta, y);
  memset(problem->theta->block[IDM_ACTION_PRIOR].value, 0, sizeof actions);
  idm_parameters_set(parameters, y, problem->theta);
  idm_parameters_report(parameters, y, reported);
  for (size_t i = 0; i < 3; i++) {
    assert_near(problem->theta->block[IDM_ACTION_PRIOR].value[i], actions[i], 1e-15);
    assert_near(reported[i], actions[i], 1e-15);
    assert_near(reported[3 + i], models[i], 1e-15);
  }
  const char *const quantities[] = {"action_prior[declare_healthy]",
                                    "action_prior[declare_diseased]",
                                    "action_prior[monitor]",
                                    "model_prior[1]",
                                    "model_prior[2]",
                                    "model_prior[3]"};
  for (size_t i = 0; i < 6; i++) {
    assert_string_equal(idm_parameters_quantities(parameters)->name[i], quantities[i]);
    assert_true(idm_parameters_summarised(parameters, i));
  }
  for (size_t i = 0; i < 4; i++)
    assert_string_equal(idm_parameters_coordinates(parameters)->name[i],
                        quantities[i < 2 ? i : i + 1]);
  /* An outcome with probability 0 has no finite logit; the start is then moved inside the simplex.
   */
  problem->theta->block[IDM_MODEL_PRIOR].value[0] = 0;
  problem->theta->block[IDM_MODEL_PRIOR].value[1] = 0;
  problem->theta->block[IDM_MODEL_PRIOR].value[2] = 1;
  idm_parameters_get(parameters, problem->theta, y);
  for (size_t i = 0; i < 4; i++) assert_true(isfinite(y[i]));
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

/* --- entries of the utility ----------------------------------------------------------------- */

/* DIAG with other free entries, parsed from its file. */
static idm_problem *diag_with_free(const char *line)
{
  char text[4096];
  size_t i = 0;
  while (strcmp(idm_example_name(i), "diag") != 0) i++;
  const char *example = idm_example_text(i), *end = strstr(example, "\nfree:");
  assert_non_null(end);
  const int length =
      snprintf(text, sizeof text, "%.*s\nfree: %s\n", (int)(end - example), example, line);
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, (size_t)length, "test.yaml", &problem, NULL, &support_error));
  return problem;
}

/* Sets y = 100, 101, ... and checks the utility and the names. */
static void check_entries(const char *line, const double *utility, const char *const *names,
                          size_t count)
{
  idm_problem *problem = diag_with_free(line);
  idm_parameters *parameters = support_parameters(problem);
  double y[SUPPORT_COORDINATES], back[SUPPORT_COORDINATES], reported[SUPPORT_COORDINATES];
  assert_int_equal(idm_parameters_dimension(parameters), count);
  for (size_t i = 0; i < count; i++) y[i] = 100 + (double)i;
  idm_parameters_set(parameters, y, problem->theta);
  for (size_t i = 0; i < 6; i++)
    assert_near(problem->theta->block[IDM_UTILITY].value[i], utility[i], 0);
  idm_parameters_get(parameters, problem->theta, back);
  idm_parameters_report(parameters, y, reported);
  for (size_t i = 0; i < count; i++) {
    assert_true(back[i] == y[i] && reported[i] == y[i]);
    assert_string_equal(idm_parameters_quantities(parameters)->name[i], names[i]);
    assert_string_equal(idm_parameters_coordinates(parameters)->name[i], names[i]);
  }
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

static void test_entries(void **state)
{
  (void)state;
  check_entries("{utility: {entries: [declare_healthy.healthy, declare_diseased], "
                "prior: {normal: [0, 50]}}}",
                (double[]){100, -36, 101, 102, -1, -1},
                (const char *const[]){"utility[declare_healthy,healthy]",
                                      "utility[declare_diseased,healthy]",
                                      "utility[declare_diseased,diseased]"},
                3);
  check_entries("{utility: {entries: {correct: [declare_healthy.healthy, "
                "declare_diseased.diseased], incorrect: [declare_healthy.diseased, "
                "declare_diseased.healthy]}}}",
                (double[]){100, 101, 101, 100, -1, -1},
                (const char *const[]){"utility[correct]", "utility[incorrect]"}, 2);
  check_entries("{utility: {reference: monitor}}", (double[]){100, 101, 102, 103, -1, -1},
                (const char *const[]){
                    "utility[declare_healthy,healthy]", "utility[declare_healthy,diseased]",
                    "utility[declare_diseased,healthy]", "utility[declare_diseased,diseased]"},
                4);
  check_entries("[utility]", (double[]){100, 101, 102, 103, 104, 105},
                (const char *const[]){
                    "utility[declare_healthy,healthy]", "utility[declare_healthy,diseased]",
                    "utility[declare_diseased,healthy]", "utility[declare_diseased,diseased]",
                    "utility[monitor,healthy]", "utility[monitor,diseased]"},
                6);
}

/* A free entry is the same in every variant; fixed entries differ between variants. */
static void test_variants(void **state)
{
  (void)state;
  idm_problem *problem = support_free_diag("{utility: {entries: {right: [declare_healthy.healthy, "
                                           "declare_diseased.diseased]}}}");
  check(idm_theta_resize(problem->theta, IDM_UTILITY, 6, 2, &support_error));
  for (size_t i = 0; i < 12; i++) problem->theta->block[IDM_UTILITY].value[i] = (double)i;
  idm_parameters *parameters = support_parameters(problem);
  const double y = 50, expected[12] = {50, 1, 2, 50, 4, 5, 50, 7, 8, 50, 10, 11};
  idm_parameters_set(parameters, &y, problem->theta);
  for (size_t i = 0; i < 12; i++)
    assert_near(problem->theta->block[IDM_UTILITY].value[i], expected[i], 0);
  /* The derivative by a tied entry is summed over its places and the variants. */
  double gradient = 5;
  idm_theta *slope;
  check(idm_theta_copy(problem->theta, &slope, &support_error));
  for (size_t i = 0; i < 12; i++) slope->block[IDM_UTILITY].value[i] = pow(2, (double)i);
  idm_parameters_backward(parameters, &y, slope, &gradient);
  assert_near(gradient, 5 + 1 + 8 + 64 + 512, 1e-14);
  idm_theta_destroy(slope);
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

/* A number shared by entries of several rows: its name, its support, the normalisation of the rows,
 * and its derivative. */
static void test_ties(void **state)
{
  (void)state;
  static const char *const scales[] = {"logit", "identity"};
  for (size_t k = 0; k < 2; k++) {
    char text[200];
    snprintf(text, sizeof text, "{emission: {scale: %s, error: {monitor: [[a, b], [b, a]]}}}",
             scales[k]);
    idm_problem *problem = support_free_diag("alpha");
    idm_block *emission = &problem->theta->block[IDM_EMISSION];
    /* All models of DIAG get the same emission here. */
    for (size_t m = 1; m < problem->theta->models; m++)
      memcpy(emission->value + m * 12, emission->value, 12 * sizeof(double));
    const double held = emission->value[1];
    check(idm_problem_set_free(problem, text, &support_error));
    idm_parameters *parameters = support_parameters(problem);
    assert_string_equal(idm_parameters_quantities(parameters)->name[0], "emission[error]");
    double y, before, reported;
    idm_parameters_get(parameters, problem->theta, &before);
    y = before + 0.5;
    idm_parameters_set(parameters, &y, problem->theta);
    idm_parameters_report(parameters, &y, &reported);
    const double x = 1 / (1 + exp(-y));
    assert_near(reported, x, 1e-14);
    for (size_t m = 0; m < problem->theta->models; m++) {
      const double *of = problem->theta->block[IDM_EMISSION].value + m * 12;
      assert_near(of[1], held, 0);
      const double expected[4] = {1 - x, x, x, 1 - x};
      for (size_t i = 0; i < 4; i++) assert_near(of[8 + i], expected[i], 1e-14);
    }
    idm_theta *slope;
    double gradient = 0;
    check(idm_theta_copy(problem->theta, &slope, &support_error));
    idm_theta_clear(slope);
    slope->block[IDM_EMISSION].value[8] = 2;
    slope->block[IDM_EMISSION].value[9] = 3;
    slope->block[IDM_EMISSION].value[12 + 10] = 5;
    idm_parameters_backward(parameters, &y, slope, &gradient);
    assert_near(gradient, (3 - 2 + 5) * x * (1 - x), 1e-14);
    idm_theta_destroy(slope);
    idm_parameters_destroy(parameters);
    idm_problem_destroy(problem);
  }
}

/* Multipliers are compared with the utilities, a capacity in nats is not. */
static void test_degenerate(void **state)
{
  (void)state;
  static const double values[] = {1e-3, 1e3, 1e12};
  for (size_t i = 0; i < 3; i++) {
    idm_problem *problem = support_free_diag("alpha, beta, sensor_capacity");
    idm_block *utility = &problem->theta->block[IDM_UTILITY];
    for (size_t k = 0; k < utility->size; k++) utility->value[k] *= values[i];
    const double range = idm_theta_utility_range(problem->theta);
    idm_parameters *parameters = support_parameters(problem);
    idm_theta_set_scalar(problem->theta, IDM_ALPHA, range);
    idm_theta_set_scalar(problem->theta, IDM_BETA, range);
    idm_theta_set_scalar(problem->theta, IDM_SENSOR_CAPACITY, 0.3);
    assert_false(idm_parameters_degenerate(parameters, problem->theta));
    idm_theta_set_scalar(problem->theta, IDM_BETA, -0.9e-11 * range);
    assert_true(idm_parameters_degenerate(parameters, problem->theta));
    idm_theta_set_scalar(problem->theta, IDM_BETA, 1.1e-11 * range);
    assert_false(idm_parameters_degenerate(parameters, problem->theta));
    idm_parameters_destroy(parameters);
    idm_problem_destroy(problem);
  }
}

/* Weights of a decision rule are named by action, then constant or state. */
static void test_weights(void **state)
{
  (void)state;
  idm_problem *problem = support_free_diag("alpha");
  check(idm_problem_set_planner(problem, idm_planner_find("decision-rule"), &support_error));
  check(idm_theta_resize(problem->theta, IDM_WEIGHTS, 9, 1, &support_error));
  check(idm_problem_set_free(problem, "weights", &support_error));
  idm_parameters *parameters = support_parameters(problem);
  assert_int_equal(idm_parameters_dimension(parameters), 4);
  assert_string_equal(idm_parameters_quantities(parameters)->name[0],
                      "weights[declare_diseased,healthy]");
  idm_parameters_destroy(parameters);
  check(idm_problem_set_free(problem, "{weights: {reference: none}}", &support_error));
  parameters = support_parameters(problem);
  assert_int_equal(idm_parameters_dimension(parameters), 9);
  assert_string_equal(idm_parameters_quantities(parameters)->name[3],
                      "weights[declare_diseased,constant]");
  assert_string_equal(idm_parameters_quantities(parameters)->name[8], "weights[monitor,diseased]");
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

/* --- pulling slopes back -------------------------------------------------------------------- */

/* A function of theta that is linear in the numbers, and in the inverses of alpha, beta and
 * temperature. */
static double linear(const idm_theta *theta, const idm_theta *weight)
{
  double sum = 0;
  for (int b = 0; b < IDM_BLOCK_COUNT; b++) {
    const idm_block *block = &theta->block[b];
    const bool inverse = b == IDM_ALPHA || b == IDM_BETA || b == IDM_TEMPERATURE;
    if (block->role != IDM_DESCRIPTIVE) continue;
    for (size_t i = 0; i < block->size; i++)
      sum += weight->block[b].value[i] * (inverse ? 1 / block->value[i] : block->value[i]);
  }
  return sum;
}

static void check_pull(const char *planner, const char *free_blocks)
{
  idm_problem *problem = support_free_diag(free_blocks);
  check(idm_problem_set_planner(problem, idm_planner_find(planner), &support_error));
  idm_parameters *parameters = support_parameters(problem);
  const size_t d = idm_parameters_dimension(parameters);
  idm_theta *weight;
  idm_random random;
  idm_random_init(&random, 7, 0);
  check(idm_theta_copy(problem->theta, &weight, &support_error));
  for (int b = 0; b < IDM_BLOCK_COUNT; b++)
    for (size_t i = 0; i < weight->block[b].size; i++)
      weight->block[b].value[i] = idm_random_normal(&random);
  for (int k = 0; k < 10; k++) {
    double y[SUPPORT_COORDINATES], gradient[SUPPORT_COORDINATES] = {0};
    for (size_t i = 0; i < d; i++) y[i] = idm_random_normal(&random);
    idm_parameters_backward(parameters, y, weight, gradient);
    for (size_t i = 0; i < d; i++) {
      const double at = y[i], h = 1e-5 * fmin(1, fabs(at));
      y[i] = at + h;
      idm_parameters_set(parameters, y, problem->theta);
      const double above = linear(problem->theta, weight);
      y[i] = at - h;
      idm_parameters_set(parameters, y, problem->theta);
      const double below = linear(problem->theta, weight);
      y[i] = at;
      assert_near(gradient[i], (above - below) / (2 * h), 1e-7);
    }
  }
  idm_theta_destroy(weight);
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

static void test_pull(void **state)
{
  (void)state;
  const char *const scales[] = {"identity", "log", "inverse", "signed-log"};
  char text[200];
  check_pull("bounded-rational", support_everything);
  check_pull("bounded-rational",
             "{discount: {scale: logit}, lapse: {scale: logit}, perseverance: }");
  for (size_t i = 0; i < 4; i++)
    for (size_t j = 0; j < 4; j++) {
      snprintf(text, sizeof text,
               "{alpha: {scale: %s}, beta: {scale: %s}, eta: {scale: %s}, discount: {prior: "
               "{uniform: [0.2, 0.9]}}}",
               scales[i], scales[j], scales[(i + j) % 4]);
      check_pull("bounded-rational", text);
    }
  for (size_t i = 0; i < 4; i++) {
    snprintf(text, sizeof text, "{temperature: {scale: %s}, utility: {scale: identity}}",
             scales[i]);
    check_pull("boltzmann-exploratory", text);
  }
}

/* --- errors --------------------------------------------------------------------------------- */

static void refused(idm_problem *problem, const char *words)
{
  idm_parameters *parameters = (idm_parameters *)problem;
  idm_error error = {0};
  assert_int_equal(idm_parameters_create(problem, &parameters, &error), IDM_INPUT);
  assert_null(parameters);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
  idm_problem_destroy(problem);
}

static void test_errors(void **state)
{
  (void)state;
  refused(support_free_diag("[]"), "nothing is free");
  refused(support_free_diag("temperature"), "does not read it");
  idm_problem *problem = support_free_diag("alpha");
  check(idm_problem_set_planner(problem, idm_planner_find("rational"), &support_error));
  refused(problem, "does not read it");
  refused(support_free_diag("{model_prior: {prior: {normal: [0, 1]}}}"),
          "expected dirichlet or flat");
  refused(support_free_diag("{discount: {prior: {uniform: [1.5, 2]}}}"), "all its mass outside");
  refused(support_free_diag("{discount: {prior: {uniform: [-2, -1]}}}"), "all its mass outside");
}

/* --- dynamics by rows ----------------------------------------------------------------------- */

#define SUBJECTIVE                                                                                 \
  "states: [a, b, c]\nactions: [u, v, w]\nobservations: [x, y]\ndiscount: 0.9\nterminal: [w]\n"    \
  "transition: {\"*\": [[0.7, 0.3, 0], [0, 1, 0], [0.2, 0.3, 0.5]]}\n"                             \
  "observation: {u: [[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]], v: [[1, 0], [0, 1], [0.5, 0.5]]}\n"      \
  "utility: {u: [1, 0, 2], v: [0, 3, -1], w: [0, 1, 0]}\n"                                         \
  "agent: {planner: boltzmann-exploratory, temperature: 0.5, resolution: 12}\n"

/* One matrix is used for all actions: its rows are free once; zeros stay 0, deterministic rows are
 * fixed. */
static void test_free_rows(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(SUBJECTIVE);
  idm_parameters *p;
  check(idm_problem_set_free(problem, "{transition: {prior: {dirichlet: [2, 3, 4]}}, emission: {}}",
                             &support_error));
  check(idm_parameters_create(problem, &p, &support_error));
  /* Rows a (2 outcomes) and c (3) of the transition; rows a, b, c of u and row c of v of the
   * emission. */
  assert_int_equal(idm_parameters_dimension(p), 1 + 2 + 1 + 1 + 1 + 1);
  assert_string_equal(idm_parameters_quantities(p)->name[0], "transition[1,u,a,a]");
  double y[7] = {0.3, -0.4, 1, 0.1, 0.2, 0.3, -2}, back[7];
  idm_parameters_set(p, y, problem->theta);
  const double *tau = problem->theta->block[IDM_TRANSITION].value;
  assert_memory_equal(tau, tau + 9, 9 * sizeof *tau);
  assert_near(tau[2], 0, 0);
  assert_near(tau[4], 1, 0);
  assert_near(tau[0] + tau[1], 1, 1e-15);
  idm_parameters_get(p, problem->theta, back);
  for (size_t i = 0; i < 7; i++) assert_near(back[i], y[i], 1e-12);
  /* The gradient of the Dirichlet priors over possible outcomes, with their Jacobians, against
   * central differences. */
  double moved[7], gradient[7];
  idm_parameters_log_prior(p, y, gradient);
  for (size_t i = 0; i < 7; i++) {
    memcpy(moved, y, sizeof y);
    moved[i] += 1e-5;
    const double up = idm_parameters_log_prior(p, moved, NULL);
    moved[i] -= 2e-5;
    assert_near((up - idm_parameters_log_prior(p, moved, NULL)) / 2e-5, gradient[i], 1e-7);
  }
  idm_parameters_destroy(p);
  idm_problem_destroy(problem);
}

/* The derivative of the likelihood by the coordinates of rows, through filter and fixed point. */
static void test_slopes_of_rows(void **state)
{
  (void)state;
  static const char *const planners[] = {"boltzmann-exploratory", "maximum-entropy",
                                         "bounded-rational"};
  for (size_t k = 0; k < 3; k++) {
    idm_problem *problem = support_yaml(SUBJECTIVE);
    support_assign(problem, "alpha=0.7");
    check(idm_problem_set_planner(problem, idm_planner_find(planners[k]), &support_error));
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 20, .steps = 6, .seed = 3});
    check(idm_problem_set_free(problem, "transition, emission", &support_error));
    idm_parameters *p;
    idm_prefix_tree *tree;
    idm_matching *matching;
    check(idm_parameters_create(problem, &p, &support_error));
    check(idm_evidence_tree(problem, data, &tree, &support_error));
    check(idm_matching_create(problem, data, tree, p, &matching, &support_error));
    double y[7] = {0.3, -0.4, 1, 0.1, 0.2, 0.3, -2}, gradient[7], f;
    check(idm_matching_log_likelihood(matching, y, &f, gradient, &support_error));
    for (size_t i = 0; i < 7; i++) {
      double moved[7], up, down;
      memcpy(moved, y, sizeof y);
      moved[i] += 1e-5;
      check(idm_matching_log_likelihood(matching, moved, &up, NULL, &support_error));
      moved[i] -= 2e-5;
      check(idm_matching_log_likelihood(matching, moved, &down, NULL, &support_error));
      assert_near((up - down) / 2e-5, gradient[i], 1e-5);
    }
    idm_matching_destroy(matching);
    idm_prefix_tree_destroy(tree);
    idm_parameters_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

static void test_rows_that_cannot_be_free(void **state)
{
  (void)state;
  idm_parameters *p = NULL;
  idm_error error = {0};
  idm_problem *problem =
      support_yaml("states: [a, b]\nactions: [u]\nobservations: states\ndiscount: 0.5\n"
                   "transition: {u: identity}\nutility: {u: 1}\nagent: {planner: rational}\n");
  check(idm_problem_set_free(problem, "transition", &support_error));
  assert_int_equal(idm_parameters_create(problem, &p, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "every row of it is certain"));
  idm_problem_destroy(problem);
  problem = support_yaml(SUBJECTIVE "models: {uniform: 0.5}\n");
  check(idm_problem_set_planner(problem, idm_planner_find("bounded-rational"), &support_error));
  check(idm_problem_set_free(problem, "transition", &support_error));
  assert_int_equal(idm_parameters_create(problem, &p, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "the agent has 2 models; expected one"));
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_free_rows),
      cmocka_unit_test(test_slopes_of_rows),
      cmocka_unit_test(test_rows_that_cannot_be_free),
      cmocka_unit_test(test_scales_and_supports),
      cmocka_unit_test(test_outside_its_support),
      cmocka_unit_test(test_simplex),
      cmocka_unit_test(test_entries),
      cmocka_unit_test(test_variants),
      cmocka_unit_test(test_ties),
      cmocka_unit_test(test_degenerate),
      cmocka_unit_test(test_weights),
      cmocka_unit_test(test_pull),
      cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
