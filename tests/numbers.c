/* Compares numbers across machines: solutions, likelihoods, gradients and fits against the table
 * numbers.csv, which this program wrote on one machine (arm64, gcc). Each row has a tolerance;
 * docs/reference/portability.md contains the measured differences. With IDM_NUMBERS=FILE, the
 * program first writes this machine's table to FILE. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Kinds of rows. Tolerances, relative to max(1, |value|): counts are equal; a closed formula and a
 * converged solution accumulate only rounding errors, which a gradient amplifies; bounds of a
 * search differ by at most their gap, whatever the search visits; a mode is the point where L-BFGS
 * stops. The tolerance of a fit is 4 sqrt(2) Monte Carlo errors: a different last digit changes the
 * draws of a chain, and two machines with independent draws exceed it in one row of 16,000.
 * Measured: 1e-15, 1e-14, 1e-12, 1e-15 and 1e-8 from solutions to modes. */
typedef enum kind { COUNT, FORMULA, SOLUTION, LIKELIHOOD, GRADIENT, BOUND, MODE, FIT, KINDS } kind;

static const struct {
  const char *name;
  double tolerance;
} kinds[KINDS] = {[COUNT] = {"count", 0},           [FORMULA] = {"formula", 1e-14},
                  [SOLUTION] = {"solution", 1e-11}, [LIKELIHOOD] = {"likelihood", 1e-11},
                  [GRADIENT] = {"gradient", 1e-10}, [BOUND] = {"bound", 1e-3},
                  [MODE] = {"mode", 1e-6},          [FIT] = {"fit", 0}};

typedef struct row {
  char name[96];
  kind kind;
  double value;
  double tolerance;
} row;

enum { MOST_ROWS = 400 };
static row rows[MOST_ROWS];
static size_t row_count;

static void add(const char *problem, const char *quantity, kind k, double value, double tolerance)
{
  assert_true(row_count < MOST_ROWS);
  row *r = &rows[row_count++];
  snprintf(r->name, sizeof r->name, "%s %s", problem, quantity);
  r->kind = k;
  r->value = value;
  r->tolerance = tolerance;
}

static void put(const char *problem, const char *quantity, kind k, double value)
{
  add(problem, quantity, k, value, kinds[k].tolerance * fmax(1, fabs(value)));
}

static void put_at(const char *problem, const char *quantity, size_t index, kind k, double value)
{
  char name[64];
  snprintf(name, sizeof name, "%s[%zu]", quantity, index);
  put(problem, name, k, value);
}

/* --- problems ------------------------------------------------------------------------------- */

enum { MOST_ASSIGNMENTS = 6 };

typedef struct sample {
  const char *name;
  const char *problem;
  const char *assign[MOST_ASSIGNMENTS];
  const char *free; /* free blocks of likelihoods and fits; NULL: none */
} sample;

#define BETA_ETA "{beta: {scale: inverse}, eta: }"
#define THREE    "{alpha: , beta: {scale: inverse}, eta: }"

static const sample samples[] = {
    {"diag", "example:diag", {"alpha=0.5", "beta=1.25", "eta=0.001"}, THREE},
    {"diag pessimistic", "example:diag", {"alpha=0.5", "beta=-0.75", "eta=0.3"}, BETA_ETA},
    {"diag flexible", "example:diag", {"alpha=0.01", "beta=1000", "eta=0.001"}, BETA_ETA},
    {"diag capacity", "example:diag", {"decision_capacity=0.5"}, NULL},
    {"diag rational", "example:diag", {"planner=rational"}, NULL},
    {"diag horizon", "example:diag", {"alpha=0.5", "beta=1.25", "eta=0.2", "horizon=6"}, THREE},
    {"tiger", "example:tiger", {"alpha=0.5"}, "{alpha: }"},
    {"tiger search", "example:tiger", {"planner=point-based"}, NULL},
    {"clinic", "example:clinic", {"resolution=12", "eta=0.2"}, "{alpha: , eta: }"},
    {"clinic robust",
     "example:clinic",
     {"planner=cvar-robust", "risk_level=0.5", "resolution=12"},
     NULL},
    {"maintenance", "example:maintenance", {NULL}, "{alpha: }"},
    {"maintenance soft", "example:maintenance", {"planner=soft-q-learning"}, NULL},
    {"reversal", "example:reversal", {"eta=0.1"}, "{alpha: , eta: }"},
    {"reversal learner", "example:reversal", {"planner=td-learner"}, "{inverse_temperature: }"},
    {"reversal habit",
     "example:reversal",
     {"perseverance=0.4", "lapse=0.05"},
     "{alpha: , perseverance: }"},
};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

static idm_problem *open_sample(const sample *s)
{
  idm_problem *problem;
  check(idm_problem_read(s->problem, &problem, NULL, &support_error));
  for (size_t i = 0; i < MOST_ASSIGNMENTS && s->assign[i]; i++)
    support_assign(problem, s->assign[i]);
  if (s->free) check(idm_problem_set_free(problem, s->free, &support_error));
  return problem;
}

/* --- solutions ------------------------------------------------------------------------------ */

/* A belief near a corner, one in the middle, and the start. */
static void choose_belief(const idm_problem *problem, size_t which, double *z)
{
  const size_t n = problem->setting->states.count;
  memcpy(z, problem->setting->start, n * sizeof *z);
  if (which)
    for (size_t s = 0; s < n; s++)
      z[s] = which == 1 ? 1.0 / (double)n : (s ? 0.1 / (double)(n - 1) : 0.9);
}

/* Quantities that do not exist have no row, on any machine. */
static void put_some(const char *name, const char *quantity, size_t index, kind k, double value)
{
  if (!isnan(value)) put_at(name, quantity, index, k, value);
}

static void put_solution(const sample *s, const idm_problem *problem, idm_workspace *workspace)
{
  enum { MOST = 32 };
  double z[MOST], policy[MOST], lower, upper;
  const size_t actions = problem->setting->actions.count;
  const kind k = strstr(s->name, "search") ? BOUND : SOLUTION;
  assert_true(problem->setting->states.count <= MOST && actions <= MOST);
  for (size_t which = 0; which < 3; which++) {
    choose_belief(problem, which, z);
    put_some(s->name, "value", which, k, idm_plan_value(workspace, 0, z));
    idm_plan_policy(workspace, 0, z, policy, NULL);
    for (size_t u = 0; u < actions; u++)
      put_some(s->name, "policy", which * actions + u, k, policy[u]);
  }
  choose_belief(problem, 0, z);
  if (k == BOUND) {
    check(idm_plan_bounds(workspace, 0, z, &lower, &upper, &support_error));
    put(s->name, "lower bound", k, lower);
    put(s->name, "upper bound", k, upper);
  }
}

static void put_forward(const sample *s, idm_workspace *workspace)
{
  idm_forward forward;
  if (!idm_workspace_points(workspace)) return;
  check(idm_plan_forward(workspace, 0, &forward, NULL, &support_error));
  put_some(s->name, "return", 0, SOLUTION, forward.internal_return);
  put_some(s->name, "decision complexity", 0, SOLUTION, forward.decision);
  put_some(s->name, "specification complexity", 0, SOLUTION, forward.specification);
  put_some(s->name, "recognition complexity", 0, SOLUTION, forward.recognition);
}

/* --- likelihoods ---------------------------------------------------------------------------- */

/* A log is the same on every machine: its draws compare exact uniform numbers with probabilities,
 * whose last digits matter once in 10^13 rows. */
static void put_log(const sample *s, const idm_data *data)
{
  double actions = 0, observations = 0;
  const size_t count = data->first[data->trajectories];
  for (size_t r = 0; r < count; r++) {
    actions += (double)(r % 97 + 1) * (data->action[r] + 2);
    observations += (double)(r % 97 + 1) * (data->observation[r] + 2);
  }
  put(s->name, "rows", COUNT, (double)count);
  put(s->name, "actions", COUNT, actions);
  put(s->name, "observations", COUNT, observations);
}

/* Log-likelihood and its gradient, at parameters slightly different from those of the simulation.
 */
static void put_likelihood(const sample *s, const idm_problem *problem, const idm_data *data)
{
  enum { MOST = 16 };
  double y[MOST], gradient[MOST], log_likelihood;
  idm_parameters *parameters;
  idm_prefix_tree *tree;
  idm_matching *matching;
  check(idm_parameters_create(problem, &parameters, &support_error));
  const size_t n = idm_parameters_dimension(parameters);
  assert_true(n <= MOST);
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  check(idm_prefix_tree_create(data, idm_planner_behavior(planner)->scope, &tree, &support_error));
  check(idm_matching_create(problem, data, tree, parameters, &matching, &support_error));
  idm_parameters_get(parameters, problem->theta, y);
  for (size_t i = 0; i < n; i++) y[i] += 0.1 * (double)(i + 1);
  put(s->name, "log prior", FORMULA, idm_parameters_log_prior(parameters, y, NULL));
  check(idm_matching_log_likelihood(matching, y, &log_likelihood, gradient, &support_error));
  put(s->name, "log-likelihood", LIKELIHOOD, log_likelihood);
  for (size_t i = 0; i < n; i++) put_at(s->name, "gradient", i, GRADIENT, gradient[i]);
  idm_matching_destroy(matching);
  idm_prefix_tree_destroy(tree);
  idm_parameters_destroy(parameters);
}

static void put_sample(const sample *s)
{
  idm_problem *problem = open_sample(s);
  idm_workspace *workspace = support_plan(problem, NULL);
  put_solution(s, problem, workspace);
  put_forward(s, workspace);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 60, .steps = 15, .seed = 11});
  put_log(s, data);
  put(s->name, "log-likelihood of its own log", LIKELIHOOD, support_score(workspace, data));
  if (s->free) put_likelihood(s, problem, data);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* --- random numbers ------------------------------------------------------------------------- */

static void put_random(void)
{
  idm_random random;
  idm_random_init(&random, 3, 5);
  put("random", "uniform", COUNT, idm_random_uniform(&random));
  put("random", "normal", FORMULA, idm_random_normal(&random));
  put("random", "gamma", FORMULA, idm_random_gamma(&random, 2.5));
}

/* --- fits ----------------------------------------------------------------------------------- */

static void put_quantity(const char *name, const idm_posterior *posterior, size_t quantity)
{
  const size_t all = posterior->chains * posterior->draws;
  const double *x = posterior->value + quantity * all;
  const char *label = posterior->quantity.name[quantity];
  char text[64];
  idm_diagnosis d;
  if (posterior->answer == IDM_POINT) {
    put(name, label, MODE, x[0]);
    return;
  }
  check(idm_diagnose(x, posterior->chains, posterior->draws, posterior->draws, 1, &d,
                     &support_error));
  snprintf(text, sizeof text, "mean of %s", label);
  add(name, text, FIT, d.mean, 4 * sqrt(2) * d.mcse_mean);
  snprintf(text, sizeof text, "sd of %s", label);
  add(name, text, FIT, d.sd, 4 * sqrt(2) * d.mcse_sd);
}

static void put_fit(const char *name, const char *inverse, const char *sampler)
{
  idm_problem *problem =
      open_sample(&(sample){.problem = "example:diag",
                            .assign = {"alpha=0.5", "beta=1.25", "eta=0.3", "resolution=30"},
                            .free = BETA_ETA});
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 150, .seed = 1});
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  snprintf(settings.sampler, sizeof settings.sampler, "%s", sampler);
  settings.chains = 2;
  settings.warmup = 200;
  settings.draws = 1000;
  settings.threads = 2;
  settings.keep = IDM_KEEP_NOTHING;
  idm_posterior *posterior;
  check(idm_inverse_fit(idm_inverse_find(inverse), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  for (size_t i = 0; i < posterior->quantity.count; i++)
    if (posterior->summarised[i]) put_quantity(name, posterior, i);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- table ----------------------------------------------------------------------------------- */

static void collect(void)
{
  row_count = 0;
  put_random();
  for (size_t i = 0; i < SAMPLES; i++) put_sample(&samples[i]);
  put_fit("fit map", "map", "");
  put_fit("fit metropolis", "bayes", "metropolis");
  put_fit("fit nuts", "bayes", "nuts");
}

static void write_table(const char *path)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "quantity,kind,value,tolerance\n");
  for (size_t i = 0; i < row_count; i++)
    fprintf(file, "%s,%s,%.17g,%.2g\n", rows[i].name, kinds[rows[i].kind].name, rows[i].value,
            rows[i].tolerance);
  assert_int_equal(fclose(file), 0);
}

/* Whether a row agrees with the line of the table; rows and lines are in the same order. The
 * difference is relative to max(1, |value|); for a fit, to the tolerance. */
static bool compare(const row *r, char *line, double *difference)
{
  char *fields[4];
  for (size_t i = 0; i < 4; i++) {
    fields[i] = line;
    line = strchr(line, i < 3 ? ',' : '\n');
    assert_non_null(line);
    *line++ = '\0';
  }
  assert_string_equal(fields[0], r->name);
  assert_string_equal(fields[1], kinds[r->kind].name);
  const double expected = strtod(fields[2], NULL), tolerance = strtod(fields[3], NULL);
  const double apart = fabs(r->value - expected);
  *difference = apart / (r->kind == FIT ? tolerance : fmax(1, fabs(expected)));
  if (apart <= tolerance) return true;
  print_message("%s: %.17g, expected %.17g within %.2g\n", r->name, r->value, expected, tolerance);
  return false;
}

static void numbers_are_those_of_the_table(void **state)
{
  (void)state;
  const char *own = getenv("IDM_NUMBERS");
  collect();
  if (own) write_table(own);
  FILE *file = fopen("numbers.csv", "r");
  assert_non_null(file);
  char line[256];
  double most[KINDS] = {0};
  size_t counts[KINDS] = {0}, missed = 0;
  assert_non_null(fgets(line, sizeof line, file));
  for (size_t i = 0; i < row_count; i++) {
    double difference;
    assert_non_null(fgets(line, sizeof line, file));
    missed += !compare(&rows[i], line, &difference);
    most[rows[i].kind] = fmax(most[rows[i].kind], difference);
    counts[rows[i].kind]++;
  }
  assert_null(fgets(line, sizeof line, file));
  fclose(file);
  for (size_t k = 0; k < KINDS; k++)
    print_message("%-12s%4zu rows, largest difference %.1e\n", kinds[k].name, counts[k], most[k]);
  assert_int_equal(missed, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_those_of_the_table)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
