/* Blocks of unnamed numbers: 20,000 of them fitted at once, against the mode of each by Newton's
 * method, reported as one quantity, written and read back. */
#include "plan/learner_support.h"

#include <math.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "plan/network/parity_support.h"

enum { NUMBERS = 20000, TRAJECTORIES = 5 };

/* --- a planner with an opaque block --------------------------------------------------------- */

/* Step t of a trajectory takes the second action with logit weight[t mod NUMBERS], whatever is
 * observed. */
static const idm_block_info own[] = {{.name = "weight",
                                      .summary = "logit of the second action, a number a step",
                                      .count = NUMBERS,
                                      .opaque = true,
                                      .scales = IDM_SCALES_IDENTITY,
                                      .spread = 1,
                                      .form = IDM_FORM_NUMBERS,
                                      .of_agent = true}};

static idm_status create(const idm_setting *setting, const idm_theta *theta,
                         const idm_agent_options *agent, void **ret_content, idm_error *opt_error)
{
  (void)setting;
  (void)theta;
  (void)agent;
  *ret_content = idm_new(NUMBERS, sizeof(double));
  return *ret_content ? IDM_OK : idm_fail_memory(opt_error);
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  (void)solver;
  (void)opt_error;
  memcpy(content, idm_theta_values(theta, IDM_BLOCK_COUNT, 0), NUMBERS * sizeof(double));
  *report = (idm_plan_report){.bound = NAN, .stop = IDM_STOP_UNPLANNED};
  return IDM_OK;
}

/* The memory is the index of the step. */
static idm_status memory_create(const void *content, void **ret_memory, idm_error *opt_error)
{
  (void)content;
  *ret_memory = idm_new(1, sizeof(size_t));
  return *ret_memory ? IDM_OK : idm_fail_memory(opt_error);
}

static idm_status begin_agent(const void *content, void *memory, idm_error *opt_error)
{
  (void)content;
  (void)opt_error;
  *(size_t *)memory = 0;
  return IDM_OK;
}

static idm_status begin_trajectory(const void *content, void *before, void *after, size_t variant,
                                   const double *opt_start, idm_error *opt_error)
{
  (void)before;
  (void)variant;
  (void)opt_start;
  return begin_agent(content, after, opt_error);
}

static idm_status act(const void *content, void *memory, const bool *opt_available,
                      double *probability, idm_error *opt_error)
{
  (void)opt_error;
  const double *weight = content;
  const double logit = weight[*(size_t *)memory % NUMBERS];
  for (size_t u = 0; u < 2; u++) {
    const bool open = !opt_available || opt_available[u];
    const bool alone = opt_available && !opt_available[1 - u];
    probability[u] = !open ? 0 : alone ? 1 : 1 / (1 + exp(u ? -logit : logit));
  }
  return IDM_OK;
}

static idm_status observe(const void *content, void *before, void *after, const idm_event *event,
                          double *opt_log_evidence, idm_random *opt_random, idm_error *opt_error)
{
  (void)content;
  (void)event;
  (void)opt_log_evidence;
  (void)opt_random;
  (void)opt_error;
  *(size_t *)after = *(size_t *)before + 1;
  return IDM_OK;
}

typedef struct derivative {
  const double *weight;
  const idm_data *data;
  const idm_prefix_tree *tree;
} derivative;

static bool slope_possible(const void *content, const idm_data *data, const idm_prefix_tree *tree)
{
  (void)content;
  (void)data;
  (void)tree;
  return true;
}

static idm_status slope_create(const void *content, const idm_data *data,
                               const idm_prefix_tree *tree, void **ret_gradient,
                               idm_error *opt_error)
{
  derivative *s = idm_new(1, sizeof *s);
  *ret_gradient = s;
  if (!s) return idm_fail_memory(opt_error);
  *s = (derivative){content, data, tree};
  return IDM_OK;
}

static idm_status slope_run(void *content, double *log_likelihood, idm_theta *theta_gradient,
                            idm_error *opt_error)
{
  (void)opt_error;
  const derivative *s = content;
  idm_theta_clear(theta_gradient);
  *log_likelihood = 0;
  for (size_t i = 0; i < s->tree->nodes; i++) {
    const idm_prefix_node *node = &s->tree->node[i];
    if (node->begin >= 0 || node->action == IDM_MISSING) continue;
    if (idm_data_available_count(s->data, node->available) == 1) continue;
    const size_t at = (node->depth - 1) % NUMBERS; /* the root has depth 0 */
    const double right = 1 / (1 + exp(-s->weight[at])), count = (double)node->count;
    *log_likelihood += count * log(node->action ? right : 1 - right);
    theta_gradient->block[IDM_BLOCK_COUNT].value[at] += count * (node->action - right);
  }
  return IDM_OK;
}

static const idm_gradient_ops slope_operations = {
    .possible = slope_possible, .create = slope_create, .destroy = free, .run = slope_run};

static const idm_behavior_ops behavior = {.scope = IDM_SCOPE_TRAJECTORY,
                                          .memory_create = memory_create,
                                          .memory_destroy = free,
                                          .begin_agent = begin_agent,
                                          .begin_trajectory = begin_trajectory,
                                          .act = act,
                                          .observe = observe,
                                          .derivative = &slope_operations};

static const idm_planner stepwise = {.size = sizeof(idm_planner),
                                     .name = "stepwise",
                                     .summary = "a habit a step",
                                     .row = "(beyond the table)",
                                     .reads = (const idm_block_id[]){IDM_BLOCK_COUNT},
                                     .own = own,
                                     .own_count = 1,
                                     .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_HORIZON,
                                     .create = create,
                                     .plan = plan,
                                     .destroy = free,
                                     .behavior = &behavior};

/* --- one fit, looked at by all tests -------------------------------------------------------- */

typedef struct fitted {
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
  idm_assessment *assessment;
} fitted;

static idm_fit_settings make_settings(void)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.chains = 1;
  settings.prior_draws = 3;
  settings.threads = 1;
  return settings;
}

static int set_up(void **state)
{
  static fitted f;
  idm_random random;
  idm_random_init(&random, 101, 0);
  f.problem = support_reversal(&stepwise);
  double *weight = f.problem->theta->block[IDM_BLOCK_COUNT].value;
  for (size_t i = 0; i < NUMBERS; i++) weight[i] = idm_random_normal(&random);
  const idm_simulation simulation = {.trajectories = TRAJECTORIES, .steps = NUMBERS, .seed = 102};
  f.data = support_simulate(f.problem, simulation);
  check(idm_problem_set_free(f.problem, "{weight: {prior: {normal: [0, 1]}}}", &support_error));
  const idm_fit_settings settings = make_settings();
  check(idm_inverse_fit(idm_inverse_find("map"), f.problem, f.data, &settings, NULL, &f.posterior,
                        NULL, &support_error));
  check(
      idm_assess_monitored(f.problem, f.data, f.posterior, 1, NULL, &f.assessment, &support_error));
  *state = &f;
  return 0;
}

static int tear_down(void **state)
{
  fitted *f = *state;
  idm_assessment_destroy(f->assessment);
  idm_posterior_destroy(f->posterior);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
  return 0;
}

/* --- the answer ----------------------------------------------------------------------------- */

/* Maximum of k w - n log(1 + exp(w)) - w^2 / 2 over w, by Newton's method. */
static double plain_mode(double k, double n)
{
  double w = 0;
  for (int step = 0; step < 50; step++) {
    const double p = 1 / (1 + exp(-w));
    w += (k - n * p - w) / (n * p * (1 - p) + 1);
  }
  return w;
}

static void map_finds_the_mode(void **state)
{
  const fitted *f = *state;
  assert_int_equal(f->posterior->quantity.count, 1);
  assert_string_equal(f->posterior->quantity.name[0], "weight");
  assert_int_equal(f->posterior->quantity_size[0], NUMBERS);
  assert_int_equal(f->posterior->coordinate.count, 1);
  assert_int_equal(f->posterior->coordinate_size[0], NUMBERS);
  assert_int_equal(idm_posterior_numbers(f->posterior), NUMBERS);
  assert_int_equal(f->posterior->answer, IDM_POINT);
  for (size_t i = 0; i < NUMBERS; i++) {
    double right = 0;
    for (size_t t = 0; t < TRAJECTORIES; t++) right += f->data->action[f->data->first[t] + i];
    const double expected = plain_mode(right, TRAJECTORIES);
    if (!(fabs(f->posterior->value[i] - expected) < 1e-5))
      fail_msg("weight %zu is %.9g; its mode is %.9g", i, f->posterior->value[i], expected);
    assert_true(f->posterior->unconstrained[i] == f->posterior->value[i]);
  }
}

/* Inverse planners that cannot infer so many parameters refuse and name the block. */
static void others_refuse(void **state)
{
  const fitted *f = *state;
  const idm_fit_settings settings = make_settings();
  for (size_t i = 0; idm_inverse_at(i); i++) {
    const idm_inverse *inverse = idm_inverse_at(i);
    if (inverse->opaque || inverse->columns || inverse->preferences ||
        !idm_inverse_by_likelihood(inverse) || inverse->family != IDM_ANY_PLANNER)
      continue;
    idm_posterior *posterior;
    assert_int_equal(idm_inverse_check(inverse, f->problem, f->data, &support_error), IDM_INPUT);
    assert_non_null(strstr(support_error.message, "weight"));
    assert_int_equal(idm_inverse_fit(inverse, f->problem, f->data, &settings, NULL, &posterior,
                                     NULL, &support_error),
                     IDM_INPUT);
    assert_null(posterior);
    assert_non_null(strstr(support_error.message, "weight"));
    assert_non_null(strstr(support_error.message, "20000"));
  }
  assert_false(idm_inverse_find("bayes")->opaque);
  assert_false(idm_inverse_find("laplace")->opaque);
}

static void nothing_is_said_of_what_was_not_checked(void **state)
{
  const fitted *f = *state;
  assert_false(f->assessment->identified);
  assert_true(support_mentions(&f->assessment->remarks,
                               "unchecked: what the data bound, since most of the 20000"));
}

/* --- a network ------------------------------------------------------------------------------- */

static double cross_entropy(const idm_problem *problem, const idm_data *data)
{
  idm_workspace *workspace = support_plan(problem, NULL);
  const double sum = support_score(workspace, data);
  idm_workspace_destroy(workspace);
  return -sum / (double)data->rows;
}

/* 32 units of memory and a layer of 32 learn a rule that needs a memory of two steps. With more
 * parameters than decisions overfitting is possible: the verdict lists this as unchecked, and
 * counts it neither for nor against the model. */
static void a_network_learns_a_parity(void **state)
{
  (void)state;
  static const char text[] =
      "states: [s]\nactions: [even, odd]\nobservations: [p, q]\nstart: [1]\ndiscount: 0.9\n"
      "transition: {\"*\": identity}\nobservation: {\"*\": [[0.5, 0.5]]}\n"
      "utility: {even: 0, odd: 0}\n"
      "agent: {planner: recurrent, hidden: 32, layer: 32}\n"
      "free: {network: {prior: {normal: [0, 0.3]}}}\n";
  idm_problem *problem = support_yaml(text);
  double truth;
  idm_data *log = support_parity(problem, 100, 1, NULL);
  idm_data *held_out = support_parity(problem, 500, 2, &truth);
  const idm_fit_settings settings = make_settings();
  idm_posterior *posterior;
  idm_parameters *parameters;
  idm_assessment *assessment;
  check(idm_inverse_fit(idm_inverse_find("map"), problem, log, &settings, NULL, &posterior, NULL,
                        &support_error));
  check(idm_assess_monitored(problem, log, posterior, 1, NULL, &assessment, &support_error));
  assert_true(support_mentions(&assessment->remarks, "can overfit 2000 decisions"));
  assert_false(support_mentions(&assessment->misfits, "chance"));
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_posterior_theta(posterior, parameters, 0, 0, problem->theta, &support_error));
  const double reached = cross_entropy(problem, held_out);
  const double rule = -truth / (double)held_out->rows;
  print_message("cross-entropy on held-out decisions: %.4f; of the rule itself %.4f\n", reached,
                rule);
  assert_true(reached > rule && reached < rule + 0.01);
  idm_assessment_destroy(assessment);
  idm_parameters_destroy(parameters);
  idm_posterior_destroy(posterior);
  idm_data_destroy(log);
  idm_data_destroy(held_out);
  idm_problem_destroy(problem);
}

/* Simulated data of a point estimate, and the divergence of its behaviour from the log. */
static void answers_behave(void **state)
{
  const fitted *f = *state;
  const idm_simulation simulation = {.trajectories = 2, .steps = 50, .seed = 1};
  idm_data *predicted;
  idm_projection projection;
  idm_parameters *parameters;
  idm_theta *theta;
  check(idm_posterior_simulate(f->problem, f->posterior, &simulation, &predicted, &support_error));
  assert_int_equal(predicted->rows, 100);
  idm_data_destroy(predicted);
  check(idm_parameters_create(f->problem, &parameters, &support_error));
  check(idm_theta_copy(f->problem->theta, &theta, &support_error));
  check(idm_posterior_theta(f->posterior, parameters, 0, 0, theta, &support_error));
  assert_memory_equal(theta->block[IDM_BLOCK_COUNT].value, f->posterior->value,
                      NUMBERS * sizeof(double));
  check(idm_projection_measure(f->problem, theta, f->data, &projection, &support_error));
  assert_int_equal(projection.decisions, NUMBERS * TRAJECTORIES);
  assert_true(projection.log_loss < log(2)); /* better than uniform choice */
  idm_theta_destroy(theta);
  idm_parameters_destroy(parameters);
}

/* --- beside named numbers ------------------------------------------------------------------- */

/* Blocks in any order: two opaque ones around a named one. */
static const idm_block_info mixed[] = {{.name = "inner",
                                        .summary = "five numbers",
                                        .count = 5,
                                        .opaque = true,
                                        .support = IDM_POSITIVE,
                                        .default_number = 1,
                                        .scales = IDM_SCALES_ALL,
                                        .scale = IDM_SCALE_LOG,
                                        .spread = 1,
                                        .form = IDM_FORM_NUMBERS,
                                        .of_agent = true},
                                       {.name = "bias",
                                        .summary = "one number",
                                        .scales = IDM_SCALES_ALL,
                                        .scale = IDM_SCALE_INVERSE,
                                        .default_number = 2,
                                        .spread = 1,
                                        .of_agent = true},
                                       {.name = "outer",
                                        .summary = "three numbers",
                                        .count = 3,
                                        .opaque = true,
                                        .scales = IDM_SCALES_IDENTITY,
                                        .spread = 1,
                                        .form = IDM_FORM_NUMBERS,
                                        .of_agent = true}};

/* Named parameters come first; theta, coordinates, report and gradient agree on positions. */
static void named_numbers_come_first(void **state)
{
  (void)state;
  enum { COORDINATES = 9, REPORTED = 10 };
  idm_planner planner = stepwise;
  planner.own = mixed;
  planner.own_count = 3;
  idm_problem *problem = support_reversal(&planner);
  idm_parameters *parameters;
  check(idm_problem_set_free(problem, "inner, bias, outer", &support_error));
  check(idm_parameters_create(problem, &parameters, &support_error));
  assert_int_equal(idm_parameters_dimension(parameters), COORDINATES);
  assert_int_equal(idm_parameters_numbers(parameters), REPORTED);
  static const char *const names[] = {"bias", "inverse_bias", "inner", "outer"};
  const idm_labels *quantities = idm_parameters_quantities(parameters);
  assert_int_equal(quantities->count, 4);
  for (size_t i = 0; i < 4; i++) assert_string_equal(quantities->name[i], names[i]);
  assert_int_equal(idm_parameters_coordinates(parameters)->count, 3);
  const double y[COORDINATES] = {0.25, -2, -1, 0, 1, 2, 7, 8, 9};
  double back[COORDINATES], reported[REPORTED], gradient[COORDINATES] = {0};
  idm_parameters_set(parameters, y, problem->theta);
  const double *inner = idm_theta_values(problem->theta, IDM_BLOCK_COUNT, 0);
  const double *outer = idm_theta_values(problem->theta, IDM_BLOCK_COUNT + 2, 0);
  assert_near(idm_theta_scalar(problem->theta, IDM_BLOCK_COUNT + 1), 4, 1e-15);
  for (size_t i = 0; i < 5; i++) assert_near(inner[i], exp(y[1 + i]), 1e-14);
  for (size_t i = 0; i < 3; i++) assert_near(outer[i], y[6 + i], 0);
  idm_parameters_get(parameters, problem->theta, back);
  for (size_t i = 0; i < COORDINATES; i++) assert_near(back[i], y[i], 1e-14);
  idm_parameters_report(parameters, y, reported);
  assert_near(reported[1], 0.25, 1e-15);
  assert_memory_equal(reported + 2, inner, 5 * sizeof(double));
  assert_memory_equal(reported + 7, outer, 3 * sizeof(double));
  /* A function with derivative 1 by every number: d exp(y) / dy = exp(y), d(1/c)/dc = -1/c^2. */
  for (size_t id = 0; id < problem->theta->blocks; id++)
    for (size_t k = 0; k < problem->theta->block[id].size; k++)
      problem->theta->block[id].value[k] = 1;
  idm_parameters_backward(parameters, y, problem->theta, gradient);
  assert_near(gradient[0], -16, 1e-12);
  for (size_t i = 1; i < 6; i++) assert_near(gradient[i], exp(y[i]), 1e-12);
  for (size_t i = 6; i < COORDINATES; i++) assert_near(gradient[i], 1, 1e-15);
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

/* --- its files ------------------------------------------------------------------------------ */

static void one_variable(const char *path, const char *group_name)
{
  int file, group, variables, ids[8], rank;
  char name[NC_MAX_NAME + 1];
  assert_int_equal(nc_open(path, NC_NOWRITE, &file), NC_NOERR);
  assert_int_equal(nc_inq_grp_ncid(file, group_name, &group), NC_NOERR);
  assert_int_equal(nc_inq_varids(group, &variables, NULL), NC_NOERR);
  assert_true(variables <= 8);
  assert_int_equal(nc_inq_varids(group, &variables, ids), NC_NOERR);
  int found = 0;
  for (int i = 0; i < variables; i++) {
    assert_int_equal(nc_inq_varname(group, ids[i], name), NC_NOERR);
    assert_int_equal(nc_inq_varndims(group, ids[i], &rank), NC_NOERR);
    found += rank > 1; /* the others are coordinates of its axes */
    if (rank > 1) assert_string_equal(name, "weight");
  }
  assert_int_equal(found, 1);
  nc_close(file);
}

static void netcdf_holds_one_variable(void **state)
{
  const fitted *f = *state;
  char path[SUPPORT_PATH];
  support_path(path);
  idm_posterior *again;
  check(idm_posterior_write_file(f->posterior, f->problem, f->data, path, &support_error));
  one_variable(path, "posterior");
  one_variable(path, "unconstrained_posterior");
  check(idm_posterior_read_file(path, &again, &support_error));
  unlink(path);
  assert_true(idm_labels_same(&again->quantity, &f->posterior->quantity));
  assert_int_equal(again->quantity_size[0], NUMBERS);
  assert_int_equal(again->coordinate_size[0], NUMBERS);
  assert_memory_equal(again->value, f->posterior->value, NUMBERS * sizeof(double));
  assert_memory_equal(again->unconstrained, f->posterior->unconstrained, NUMBERS * sizeof(double));
  idm_posterior_destroy(again);
}

/* Number of fields in line `number` of a file (comments not counted), and whether it contains the
 * text. */
static size_t fields_of_line(const char *path, size_t number, const char *opt_text, bool *has)
{
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *line = NULL;
  size_t room = 0, fields = 0;
  while (getline(&line, &room, file) > 0) {
    if (line[0] == '#' || number--) continue;
    fields = 1;
    for (const char *c = line; *c; c++) fields += *c == ',';
    if (opt_text) *has = strstr(line, opt_text) != NULL;
    break;
  }
  free(line);
  fclose(file);
  return fields;
}

static void stan_and_summary_are_written(void **state)
{
  const fitted *f = *state;
  char path[SUPPORT_PATH];
  support_path(path);
  bool named = false;
  check(idm_posterior_write_stan(f->posterior, 0, path, &support_error));
  const size_t columns = fields_of_line(path, 0, "weight.20000", &named);
  assert_true(named);
  assert_true(columns > NUMBERS);
  assert_int_equal(fields_of_line(path, 1, NULL, NULL), columns);
  unlink(path);
  idm_assessment *assessment;
  check(idm_posterior_write_summary(f->posterior, f->assessment, NULL, path, &support_error));
  check(idm_assess_draws(f->posterior, &assessment, &support_error));
  check(idm_summary_read(path, f->posterior, assessment, &support_error));
  unlink(path);
  idm_assessment_destroy(assessment);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(map_finds_the_mode),
      cmocka_unit_test(others_refuse),
      cmocka_unit_test(nothing_is_said_of_what_was_not_checked),
      cmocka_unit_test(answers_behave),
      cmocka_unit_test(a_network_learns_a_parity),
      cmocka_unit_test(named_numbers_come_first),
      cmocka_unit_test(netcdf_holds_one_variable),
      cmocka_unit_test(stan_and_summary_are_written),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
