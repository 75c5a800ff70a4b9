/* Benchmarks: ratios of processor time; the two sides of a ratio alternate in one run on one core.
 * Prints rows of a Markdown table, with wall-clock time in parentheses.
 *
 * Contents: timing · problems · solving · likelihood · gradient · effective sample size of another
 * chain · scaling of the score · observed states · maximum causal entropy */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "report/library.h"

static void die(const idm_error *error)
{
  char text[1200];
  fprintf(stderr, "bench: %s\n", idm_error_text(error, text, sizeof text));
  exit(1);
}

static idm_error error;
static void check(idm_status status)
{
  if (status != IDM_OK) die(&error);
}

/* --- timing --------------------------------------------------------------------------------- */

/* Seconds of processor time and of wall-clock time. On a loaded machine, only processor time
 * measures the program. */
typedef struct span {
  double processor;
  double wall;
} span;

static double read_clock(clockid_t which)
{
  struct timespec now;
  clock_gettime(which, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static span now(void)
{
  return (span){read_clock(CLOCK_PROCESS_CPUTIME_ID), read_clock(CLOCK_MONOTONIC)};
}

/* Time elapsed since `begun`, divided by `repeats`. */
static span since(span begun, int repeats)
{
  const span end = now();
  return (span){(end.processor - begun.processor) / repeats, (end.wall - begun.wall) / repeats};
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double middle_of(const span *values, int count, bool wall)
{
  double *sorted = malloc((size_t)count * sizeof *sorted);
  if (!sorted) exit(1);
  for (int i = 0; i < count; i++) sorted[i] = wall ? values[i].wall : values[i].processor;
  qsort(sorted, (size_t)count, sizeof *sorted, compare);
  const double middle = sorted[count / 2];
  free(sorted);
  return middle;
}

/* Median of each clock. */
static span median(const span *values, int count)
{
  return (span){middle_of(values, count, false), middle_of(values, count, true)};
}

/* --- problems ------------------------------------------------------------------------------- */

static idm_problem *read_example(const char *name)
{
  idm_problem *problem;
  check(idm_problem_read(name, &problem, NULL, &error));
  return problem;
}

static void set_agent(idm_problem *problem, double alpha, double beta, double eta)
{
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, alpha);
  idm_theta_set_scalar(problem->theta, IDM_BETA, beta);
  idm_theta_set_scalar(problem->theta, IDM_ETA, eta);
}

/* --- solving -------------------------------------------------------------------------------- */

enum { rounds = 15 };
static const char *const method_names[] = {"Newton", "shifted", "plain"};

/* Median seconds per solve of each method; the methods alternate. A warm solve starts from the
 * solution at log-parameters 0.1 away. */
static void time_methods(idm_problem *problem, bool warm, double tolerance, span *ret_taken,
                         long *ret_iterations)
{
  idm_workspace *workspace;
  check(
      idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace, &error));
  idm_theta *near;
  check(idm_theta_copy(problem->theta, &near, &error));
  const idm_block_id moved[] = {IDM_ALPHA, IDM_BETA, IDM_ETA};
  for (size_t i = 0; i < 3; i++)
    idm_theta_set_scalar(near, moved[i], idm_theta_scalar(problem->theta, moved[i]) * exp(0.1));
  span taken[3][rounds];
  for (int r = 0; r < rounds; r++)
    for (int m = 0; m < 3; m++) {
      const idm_solver exact = {
          .method = IDM_METHOD_NEWTON, .limit = 100, .slots = IDM_START_COLD, .tolerance = 1e-11};
      if (warm) check(idm_plan(near, &exact, workspace, NULL, &error));
      const idm_solver solver = {.method = (idm_solve_method)m,
                                 .limit = 1000000,
                                 .slots = warm ? IDM_START_LAST : IDM_START_COLD,
                                 .tolerance = tolerance};
      idm_plan_report report = {0};
      /* Short solves are repeated, because the clock has a limited resolution. */
      const int repeats = warm ? 1 : 5;
      const span begun = now();
      for (int k = 0; k < repeats; k++)
        check(idm_plan(problem->theta, &solver, workspace, &report, &error));
      taken[m][r] = since(begun, repeats);
      ret_iterations[m] = report.iterations;
      if (!(report.bound <= tolerance)) {
        fprintf(stderr, "bench: %s stopped at a bound of %g\n", method_names[m], report.bound);
        exit(1);
      }
    }
  for (int m = 0; m < 3; m++) ret_taken[m] = median(taken[m], rounds);
  idm_theta_destroy(near);
  idm_workspace_destroy(workspace);
}

static void row(const char *what, span fast, span slow, const char *peer, double target)
{
  const double ratio = slow.processor / fast.processor;
  printf("| %s | %.1f us (%.1f) | %.1f us (%.1f; %s) | %.1fx | >= %gx%s |\n", what,
         1e6 * fast.processor, 1e6 * fast.wall, 1e6 * slow.processor, 1e6 * slow.wall, peer, ratio,
         target, ratio < target ? ", missed" : "");
}

static void bench_solve(const char *name, idm_problem *problem, bool warm, double against_plain,
                        double against_shifted)
{
  span taken[3];
  long iterations[3];
  time_methods(problem, warm, 1e-8, taken, iterations);
  char what[96], peer[64];
  snprintf(what, sizeof what, "%s, %s (%ld Newton steps)", name, warm ? "warm" : "cold",
           iterations[0]);
  snprintf(peer, sizeof peer, "plain, %ld sweeps", iterations[2]);
  row(what, taken[0], taken[2], peer, against_plain);
  snprintf(peer, sizeof peer, "shifted, %ld sweeps", iterations[1]);
  if (against_shifted > 0) row(what, taken[0], taken[1], peer, against_shifted);
}

/* --- likelihood ----------------------------------------------------------------------------- */

static idm_data *simulated(idm_problem *problem, size_t trajectories, int steps, uint64_t seed)
{
  idm_workspace *workspace;
  check(
      idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace, &error));
  check(idm_plan(problem->theta, NULL, workspace, NULL, &error));
  const idm_simulation simulation = {.trajectories = trajectories, .steps = steps, .seed = seed};
  idm_data *data;
  check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                     &error));
  idm_workspace_destroy(workspace);
  return data;
}

/* One likelihood: a warm solve and the score, at parameters that change by the step of a sampler.
 */
static void bench_likelihood(idm_problem *problem, double tolerance, const char *log_path)
{
  idm_data *data = simulated(problem, 1000, 0, 1);
  check(idm_data_write_csv(data, problem, log_path, &error));
  idm_prefix_tree *tree;
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &error));
  idm_scorer *scorer;
  check(idm_scorer_create(data, tree, &scorer, &error));
  idm_workspace *workspace;
  check(
      idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace, &error));
  idm_theta *theta;
  check(idm_theta_copy(problem->theta, &theta, &error));
  enum { count = 2001 };
  span taken[count], solving[count];
  idm_score score;
  for (int i = 0; i < count; i++) {
    const double step = exp(0.1 * sin(i));
    idm_theta_set_scalar(theta, IDM_BETA, 1.25 * step);
    idm_theta_set_scalar(theta, IDM_ETA, 0.001 * step);
    const idm_solver solver = {.method = IDM_METHOD_NEWTON, .limit = 100, .tolerance = tolerance};
    const span begun = now();
    check(idm_plan(theta, &solver, workspace, NULL, &error));
    solving[i] = since(begun, 1);
    check(idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, &error));
    taken[i] = since(begun, 1);
  }
  check(idm_plan(problem->theta, NULL, workspace, NULL, &error));
  check(idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, &error));
  const span whole = median(taken, count);
  printf("likelihood %.9g %.17g %.9g %zu %g %.9g\n", whole.processor, score.log_likelihood,
         median(solving, count).processor, tree->nodes, tolerance, whole.wall);
  idm_theta_destroy(theta);
  idm_workspace_destroy(workspace);
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
}

/* Benchmark both tolerances. The log is left in a file for the peer. */
static int bench_likelihoods(const char *log_path)
{
  idm_problem *diag = read_example("example:diag");
  set_agent(diag, 0.5, 1.25, 0.001);
  bench_likelihood(diag, 1e-6, log_path);
  bench_likelihood(diag, 1e-8, log_path);
  idm_problem_destroy(diag);
  return 0;
}

/* --- gradient ------------------------------------------------------------------------------- */

/* Compare the log-likelihood with gradient to the log-likelihood alone; the two alternate, at
 * parameters that change by the step of a sampler. */
static void bench_gradient(const char *name, idm_problem *problem, size_t trajectories, int steps,
                           int count)
{
  idm_data *data = simulated(problem, trajectories, steps, 1);
  idm_prefix_tree *tree;
  idm_parameters *parameters;
  idm_matching *matching;
  check(idm_problem_set_free(problem, "alpha,beta,eta,utility,discount", &error));
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &error));
  check(idm_parameters_create(problem, &parameters, &error));
  check(idm_matching_create(problem, data, tree, parameters, &matching, &error));
  const size_t d = idm_parameters_dimension(parameters);
  double *y = calloc(2 * d, sizeof *y);
  span *plain = calloc(2 * (size_t)count, sizeof *plain);
  span *with = plain + count;
  idm_parameters_get(parameters, problem->theta, y);
  check(idm_matching_fix_start(matching, y, &error));
  for (int i = 0; i < count; i++) {
    double total;
    y[1] += 0.01 * sin(i);
    span begun = now();
    check(idm_matching_log_likelihood(matching, y, &total, NULL, &error));
    plain[i] = since(begun, 1);
    begun = now();
    check(idm_matching_log_likelihood(matching, y, &total, y + d, &error));
    with[i] = since(begun, 1);
  }
  const span one = median(plain, count);
  const span both = median(with, count);
  printf("| %s: log-likelihood and its gradient by %zu numbers | %.1f us (%.1f) | %.1f us (%.1f; "
         "log-likelihood alone) | %.2fx the time | <= 4x |\n",
         name, d, 1e6 * both.processor, 1e6 * both.wall, 1e6 * one.processor, 1e6 * one.wall,
         both.processor / one.processor);
  free(y);
  free(plain);
  idm_matching_destroy(matching);
  idm_parameters_destroy(parameters);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
}

/* Recurrent network: log-likelihood with gradient over a log, which is left in a file for the peer.
 * Prints processor seconds, numbers of the network, nodes of the tree, rows, and wall-clock
 * seconds. */
static int bench_recurrent(const char *path)
{
  enum { count = 15 };
  idm_problem *problem = read_example("bench/adni.yaml");
  idm_data *data = simulated(problem, 1600, 10, 1);
  idm_prefix_tree *tree;
  idm_parameters *parameters;
  idm_matching *matching;
  check(idm_data_write_csv(data, problem, path, &error));
  check(idm_problem_set_planner(problem, idm_planner_find("recurrent"), &error));
  check(idm_problem_set_free(problem, "network", &error));
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &error));
  check(idm_parameters_create(problem, &parameters, &error));
  check(idm_matching_create(problem, data, tree, parameters, &matching, &error));
  const size_t d = idm_parameters_dimension(parameters);
  double *y = calloc(2 * d, sizeof *y), total;
  span taken[count] = {{0}};
  if (!y) return 1;
  idm_parameters_get(parameters, problem->theta, y);
  for (int i = 0; i < count; i++) {
    y[i] += 0.01;
    const span begun = now();
    check(idm_matching_log_likelihood(matching, y, &total, y + d, &error));
    taken[i] = since(begun, 1);
  }
  const span middle = median(taken, count);
  printf("%.9g %zu %zu %zu %.9g\n", middle.processor, d, tree->nodes, data->rows, middle.wall);
  free(y);
  idm_matching_destroy(matching);
  idm_parameters_destroy(parameters);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return 0;
}

/* --- effective sample size of another chain -------------------------------------------------- */

/* Bulk effective sample size of each column of a file of numbers, by the same code for all chains.
 */
static int print_ess(const char *path, size_t columns)
{
  FILE *file = fopen(path, "r");
  if (!file) return 1;
  size_t count = 0;
  size_t capacity = 0;
  double *x = NULL;
  double value;
  while (fscanf(file, "%lf", &value) == 1) {
    if (count == capacity) {
      capacity = capacity ? 2 * capacity : 1024;
      double *more = realloc(x, capacity * sizeof *x);
      if (!more) break;
      x = more;
    }
    x[count++] = value;
  }
  fclose(file);
  for (size_t c = 0; c < columns; c++) {
    idm_diagnosis d;
    check(idm_diagnose(x + c, 1, count / columns, 0, columns, &d, &error));
    printf("%.17g\n", d.ess_bulk);
  }
  free(x);
  return 0;
}

/* --- scaling of the score ------------------------------------------------------------------- */

/* A log that is ready for scoring. */
typedef struct scored {
  idm_data *data;
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  double *agents;
} scored;

static scored open_scored(idm_data *data)
{
  scored s = {.data = data};
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &s.tree, &error));
  check(idm_scorer_create(data, s.tree, &s.scorer, &error));
  s.agents = calloc(data->agent_name.count, sizeof *s.agents);
  if (!s.agents) exit(1);
  return s;
}

static void close_scored(scored *s)
{
  free(s->agents);
  idm_scorer_destroy(s->scorer);
  idm_prefix_tree_destroy(s->tree);
  idm_data_destroy(s->data);
}

/* Simulate `count` patients into a file and read them back; optionally report the time of reading.
 */
static idm_data *round_trip(idm_problem *problem, size_t count, const char *path, bool report)
{
  idm_data *data = simulated(problem, count, 0, 2);
  check(idm_data_write_csv(data, problem, path, &error));
  idm_data_destroy(data);
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) exit(1);
  const double megabytes = (double)ftell(file) / 1e6;
  fclose(file);
  const span begun = now();
  check(idm_data_read_csv(path, problem, NULL, &data, NULL, &error));
  const span taken = since(begun, 1);
  const double rate = megabytes / taken.processor;
  if (report)
    printf("| reading %.0f MB of CSV (1,000,000 patients) | %.2f s (%.2f) | | %.0f MB/s | >= 50 "
           "MB/s%s |\n",
           megabytes, taken.processor, taken.wall, rate, rate >= 50 ? "" : ", missed");
  return data;
}

static void bench_scaling(idm_problem *problem, const char *path)
{
  enum { count = 9 };
  const size_t sizes[2] = {10000, 1000000};
  span taken[2][count];
  scored log[2];
  idm_workspace *workspace;
  check(
      idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace, &error));
  check(idm_plan(problem->theta, NULL, workspace, NULL, &error));
  for (int i = 0; i < 2; i++) log[i] = open_scored(round_trip(problem, sizes[i], path, i == 1));
  for (int r = 0; r < count; r++)
    for (int i = 0; i < 2; i++) {
      idm_score score;
      const span begun = now();
      check(idm_scorer_run(log[i].scorer, idm_workspace_behavior(workspace), &score, &error));
      idm_scorer_agents(log[i].scorer, log[i].agents);
      taken[i][r] = since(begun, 1);
    }
  const span few = median(taken[0], count), many = median(taken[1], count);
  printf("| scoring 1,000,000 patients after reading (%zu histories) | %.0f us (%.0f) | %.0f us "
         "(%.0f; 10,000 patients, %zu histories) | %.1fx the time | <= 20x |\n",
         log[1].tree->nodes, 1e6 * many.processor, 1e6 * many.wall, 1e6 * few.processor,
         1e6 * few.wall, log[0].tree->nodes, many.processor / few.processor);
  for (int i = 0; i < 2; i++) close_scored(&log[i]);
  idm_workspace_destroy(workspace);
}

/* --- observed states ------------------------------------------------------------------------ */

/* Random MDP with 10,000 states, 4 actions, and 10 successors per state and action. */
static idm_problem *large_mdp(void)
{
  enum { states = 10000, actions = 4, successors = 10 };
  idm_random random;
  idm_problem *problem;
  idm_sparse_rows *moves;
  idm_random_init(&random, 1, 0);
  check(idm_problem_create_sparse((idm_sizes){states, actions, states}, &problem, &error));
  check(idm_sparse_rows_create((size_t)states * actions, (size_t)states * actions * successors,
                               &moves, &error));
  problem->setting->fully_observed = true;
  problem->setting->moves = moves;
  for (size_t row = 0; row < moves->rows; row++) {
    double sum = 0;
    double *p = moves->probability + row * successors;
    for (size_t i = 0; i < successors; i++) {
      const size_t stratum = i * (states / successors);
      moves->next[row * successors + i] =
          (uint32_t)(stratum + (size_t)(idm_random_uniform(&random) * (states / successors)));
      sum += p[i] = idm_random_uniform(&random);
    }
    for (size_t i = 0; i < successors; i++) p[i] /= sum;
    moves->first[row + 1] = (row + 1) * successors;
  }
  for (size_t i = 0; i < moves->rows; i++)
    problem->theta->block[IDM_UTILITY].value[i] = idm_random_uniform(&random);
  check(idm_problem_set_planner(problem, idm_planner_find("rational"), &error));
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.99);
  return problem;
}

/* Textbook value iteration over the same rows, until the error bound is met. Returns the number of
 * sweeps. */
static int plain_iteration(const idm_problem *problem, double tolerance, double *v, double *next)
{
  const idm_sparse_rows *moves = problem->setting->moves;
  const size_t states = problem->theta->sizes.states;
  const double gamma = idm_theta_scalar(problem->theta, IDM_DISCOUNT);
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  for (size_t s = 0; s < states; s++) v[s] = 0;
  for (int sweep = 1;; sweep++) {
    double most = 0;
    for (size_t s = 0; s < states; s++) {
      double best = -INFINITY;
      for (size_t row = s; row < moves->rows; row += states) {
        double q = 0;
        for (size_t i = moves->first[row]; i < moves->first[row + 1]; i++)
          q += moves->probability[i] * v[moves->next[i]];
        best = fmax(best, utility[row] + gamma * q);
      }
      next[s] = best;
      most = fmax(most, fabs(best - v[s]));
    }
    for (size_t s = 0; s < states; s++) v[s] = next[s];
    if (gamma / (1 - gamma) * most <= tolerance) return sweep;
  }
}

static void bench_mdp(void)
{
  enum { count = 3 };
  idm_problem *problem = large_mdp();
  const size_t states = problem->theta->sizes.states;
  span fast[count] = {{0}}, slow[count] = {{0}};
  double *v = calloc(2 * states, sizeof *v);
  idm_workspace *workspace;
  idm_plan_report report = {0};
  idm_solver solver;
  idm_solver_default(&solver);
  solver.tolerance = 1e-8;
  solver.slots = IDM_START_COLD;
  check(
      idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace, &error));
  int sweeps = 0;
  for (int i = 0; i < count && v; i++) {
    span begun = now();
    check(idm_plan(problem->theta, &solver, workspace, &report, &error));
    fast[i] = since(begun, 1);
    begun = now();
    sweeps = plain_iteration(problem, solver.tolerance, v, v + states);
    slow[i] = since(begun, 1);
  }
  char what[160], peer[80];
  snprintf(what, sizeof what,
           "MDP, 10,000 states, 4 actions, 10 successors, discount .99, to 1e-8 (%ld steps)",
           report.iterations);
  snprintf(peer, sizeof peer, "plain value iteration, %d sweeps", sweeps);
  row(what, median(fast, count), median(slow, count), peer, 5);
  free(v);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* --- maximum causal entropy ----------------------------------------------------------------- */

enum { SIDE = 20, CELLS = SIDE * SIDE, MOVES = 4, GRID_STEPS = 40 };

/* Next cell of the grid: up, down, left or right; the same cell at a wall. */
static size_t next_cell(size_t cell, size_t move)
{
  const size_t row = cell / SIDE, column = cell % SIDE;
  if (move == 0) return row ? cell - SIDE : cell;
  if (move == 1) return row + 1 < SIDE ? cell + SIDE : cell;
  if (move == 2) return column ? cell - 1 : cell;
  return column + 1 < SIDE ? cell + 1 : cell;
}

/* Declare one free utility per cell, the same for all actions. */
static void free_cells(idm_problem *problem)
{
  char *text = malloc(64 * CELLS), *at = text;
  if (!text) exit(1);
  at += sprintf(at, "{utility: {entries: {");
  for (int s = 0; s < CELLS; s++)
    at += sprintf(at, "%sc%d: [0.%d, 1.%d, 2.%d, 3.%d]", s ? ", " : "", s, s, s, s, s);
  sprintf(at, "}}}");
  check(idm_problem_set_free(problem, text, &error));
  free(text);
}

/* Grid of 400 cells. A move slips to each other side with probability 0.1. One corner has utility
 * 1; in all other cells a step has a small cost. */
static idm_problem *make_grid(void)
{
  idm_problem *problem;
  check(idm_problem_create((idm_sizes){CELLS, MOVES, CELLS}, 1, true, true, &problem, &error));
  idm_setting *setting = problem->setting;
  setting->fully_observed = true;
  setting->horizon = GRID_STEPS;
  for (size_t u = 0; u < MOVES; u++)
    for (size_t s = 0; s < CELLS; s++) {
      const size_t at = (u * CELLS + s) * CELLS;
      for (size_t slip = 0; slip < MOVES; slip++)
        setting->transition[at + next_cell(s, slip)] += slip == u ? 0.7 : 0.1;
      setting->emission[at + s] = 1;
      problem->theta->block[IDM_UTILITY].value[u * CELLS + s] =
          s + 1 == CELLS ? 1 : -0.02 * (double)(s * 7 % 10);
      setting->start[s] = s == 0;
    }
  memcpy(problem->theta->block[IDM_TRANSITION].value, setting->transition,
         sizeof(double) * MOVES * CELLS * CELLS);
  memcpy(problem->theta->block[IDM_EMISSION].value, setting->emission,
         sizeof(double) * MOVES * CELLS * CELLS);
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.95);
  check(idm_problem_set_planner(problem, idm_planner_find("maximum-entropy"), &error));
  set_agent(problem, 1, INFINITY, 0);
  return problem;
}

/* Write the demonstrator's frequencies for the peer, one line per cell. */
static void write_frequencies(const char *path, const idm_data *data)
{
  static double count[CELLS][MOVES];
  FILE *file = fopen(path, "w");
  if (!file) exit(1);
  for (size_t t = 0; t < data->trajectories; t++) {
    size_t now = 0;
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      count[now][data->action[r]]++;
      now = (size_t)data->observation[r];
    }
  }
  for (size_t s = 0; s < CELLS; s++) {
    double sum = 0;
    for (size_t u = 0; u < MOVES; u++) sum += count[s][u];
    for (size_t u = 0; u < MOVES; u++)
      fprintf(file, "%.17g%c", sum > 0 ? count[s][u] / sum : 1.0 / MOVES,
              u + 1 < MOVES ? ' ' : '\n');
  }
  fclose(file);
}

/* Run regularised-margin on a grid, from the log to the answer. Prints processor seconds, the
 * remaining gradient, and wall-clock seconds. */
static int bench_margin(const char *path)
{
  enum { count = 5 };
  double slope = 0;
  span taken[count];
  idm_problem *problem = make_grid();
  idm_data *data;
  idm_workspace *workspace;
  check(
      idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace, &error));
  check(idm_plan(problem->theta, NULL, workspace, NULL, &error));
  check(idm_simulate(problem->setting, idm_workspace_behavior(workspace),
                     &(idm_simulation){.trajectories = 2000, .seed = 1}, &data, &error));
  idm_workspace_destroy(workspace);
  write_frequencies(path, data);
  free_cells(problem);
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.lambda = 1e6;
  for (int i = 0; i < count; i++) {
    idm_posterior *posterior;
    const span begun = now();
    check(idm_inverse_fit(idm_inverse_find("regularised-margin"), problem, data, &settings, NULL,
                          &posterior, NULL, &error));
    taken[i] = since(begun, 1);
    slope = posterior->optimality->attained;
    idm_posterior_destroy(posterior);
  }
  const span middle = median(taken, count);
  printf("%.6g %.3g %.6g\n", middle.processor, slope, middle.wall);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return 0;
}

int main(int count, char **words)
{
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  sched_setaffinity(0, sizeof one, &one);
  if (count > 2 && strcmp(words[1], "ess") == 0) return print_ess(words[2], 2);
  if (count > 2 && strcmp(words[1], "recurrent") == 0) return bench_recurrent(words[2]);
  if (count > 2 && strcmp(words[1], "margin") == 0) return bench_margin(words[2]);
  if (count > 2 && strcmp(words[1], "likelihood") == 0) return bench_likelihoods(words[2]);
  const char *folder = count > 1 ? words[1] : "/tmp";
  char large_path[512];
  snprintf(large_path, sizeof large_path, "%s/large.csv", folder);

  idm_problem *diag = read_example("example:diag");
  /* The six agents of the paper's figure "Bounded Rational Control". The targets are for DIAG, so
   * all six are timed. */
  const struct {
    const char *name;
    double alpha, beta, eta;
  } agents[] = {{"DIAG, flexible", 0.001, 1000, 0.001}, {"DIAG, inflexible", 10, 1000, 0.001},
                {"DIAG, optimistic", 0.5, 1.25, 0.001}, {"DIAG, pessimistic", 0.5, -0.75, 0.001},
                {"DIAG, adaptive", 0.5, 1000, 0.001},   {"DIAG, non-adaptive", 0.5, 1000, 75}};
  for (size_t i = 0; i < sizeof agents / sizeof agents[0]; i++) {
    set_agent(diag, agents[i].alpha, agents[i].beta, agents[i].eta);
    bench_solve(agents[i].name, diag, false, 20, 1.5);
    bench_solve(agents[i].name, diag, true, 30, 0);
  }

  idm_problem *adni = read_example("bench/adni.yaml");
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const long before = usage.ru_maxrss;
  bench_solve("ADNI-size, 5,050 beliefs", adni, false, 8, 4);
  getrusage(RUSAGE_SELF, &usage);
  printf("| ADNI-size memory | %.1f MiB | | | <= 64 MiB |\n",
         (double)(usage.ru_maxrss - before) / 1024);
  bench_mdp();
  bench_gradient("ADNI-size, 1,600 patients", adni, 1600, 10, 31);
  idm_problem_destroy(adni);

  set_agent(diag, 0.5, 1.25, 0.001);
  bench_gradient("DIAG, 1,000 patients", diag, 1000, 0, 2001);
  bench_scaling(diag, large_path);
  remove(large_path);
  idm_problem_destroy(diag);
  return 0;
}
