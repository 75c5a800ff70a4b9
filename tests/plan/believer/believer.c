/* Tests agents with beliefs: likelihoods against a direct filter and, for missing cells, against
 * enumeration. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/workspace.h"
#include "support.h"

/* --- direct computations: enumeration of all possible histories ------------------------------ */

enum { STEPS = 5, MOST = 8 };

/* A short log with its problem: recorded cells and available actions. */
typedef struct story {
  idm_problem *problem;
  idm_workspace *workspace;
  size_t variant;
  int steps;
  int action[STEPS];
  int observation[STEPS];
  bool open[STEPS][MOST];
  const double *transition; /* the environment's [action][state][next], or its substitute */
  const double *emission;
} story;

/* One filter step with given tables: computes the posterior and returns the predictive probability
 * of x. */
static double plain_update(idm_sizes n, bool mdp, const double *transition, const double *emission,
                           const double *z, size_t u, size_t x, double *next)
{
  double total = 0;
  for (size_t t = 0; t < n.states; t++) {
    next[t] = 0;
    for (size_t s = 0; s < n.states; s++)
      next[t] += z[s] * transition[(u * n.states + s) * n.states + t];
    next[t] *= mdp ? t == x : emission[(u * n.states + t) * n.observations + x];
    total += next[t];
  }
  for (size_t t = 0; t < n.states && total > 0; t++) next[t] /= total;
  return total;
}

/* pi(u|z) among the available actions if `informed`. Otherwise the action prior among the possible
 * ones: the prediction of an unrecorded action without a model of the agent. */
static void plain_choice(const story *y, int t, bool informed, const bool *possible, int last,
                         const double *z, double *pi, double *sigma)
{
  const size_t actions = y->problem->theta->sizes.actions;
  const idm_workspace *w = y->workspace;
  const double lapse = idm_theta_scalar(y->problem->theta, IDM_LAPSE);
  double scratch[4096], sum = 0, open = 0;
  assert_true(w->planner->belief->scratch(w->content) <= 4096);
  w->planner->belief->policy(w->content, y->variant, t, z, pi, sigma, scratch);
  for (size_t u = 0; u < actions; u++) {
    if (!informed) pi[u] = y->problem->theta->block[IDM_ACTION_PRIOR].value[u];
    if (informed && last == (int)u)
      pi[u] *= exp(idm_theta_scalar(y->problem->theta, IDM_PERSEVERANCE));
    if (informed ? !y->open[t][u] : !possible[u]) pi[u] = 0;
    sum += pi[u];
    open += y->open[t][u];
  }
  for (size_t u = 0; u < actions; u++) {
    pi[u] = sum > 0 ? pi[u] / sum : 0;
    if (informed && y->open[t][u]) pi[u] += lapse * (1 / open - pi[u]);
  }
}

/* The possible actions at step t: none that would have ended a story that continues, and no
 * terminal action if an observation follows. */
static void plain_possible(const story *y, int t, bool *possible)
{
  const idm_setting *setting = y->problem->setting;
  for (size_t u = 0; u < setting->actions.count; u++) {
    const bool last = t + 1 == y->steps;
    possible[u] = y->action[t] == IDM_MISSING ? y->open[t][u] : (size_t)y->action[t] == u;
    if (y->action[t] != IDM_MISSING) continue;
    if (setting->ends[u] && !last) possible[u] = false;
    if (setting->terminal[u] && y->observation[t] != IDM_MISSING) possible[u] = false;
  }
}

static double plain_rest(const story *y, int t, bool informed, int last, const double *z,
                         const double *e);

/* The probability of the rest of a story after action u and observation x, summed over the agent's
 * recognition. */
static double plain_recognised(const story *y, int t, bool informed, const double *z,
                               const double *sigma, size_t u, size_t x, const double *e)
{
  const idm_problem *p = y->problem;
  const idm_sizes n = p->theta->sizes;
  const size_t models = p->theta->models;
  const bool sampled = p->agent.recognition == IDM_RECOGNITION_SAMPLED;
  double allowed = 0, sum = 0, mean[MOST] = {0}, next[MOST];
  if (!informed) return plain_rest(y, t + 1, false, (int)u, z, e);
  for (int pass = 0; pass < 2; pass++)
    for (size_t m = 0; m < models; m++) {
      const double *transition =
          p->theta->block[IDM_TRANSITION].value + m * n.actions * n.states * n.states;
      const double *emission =
          p->theta->block[IDM_EMISSION].value + m * n.actions * n.states * n.observations;
      if (!(plain_update(n, p->setting->fully_observed, transition, emission, z, u, x, next) > 0))
        continue;
      const double share = sigma[u * models + m];
      if (pass == 0) allowed += share;
      for (size_t s = 0; s < n.states && pass == 1; s++) mean[s] += share / allowed * next[s];
      if (pass == 1 && sampled)
        sum += share / allowed * plain_rest(y, t + 1, true, (int)u, next, e);
    }
  if (!(allowed > 0)) return 0; /* the story cannot continue */
  return sampled ? sum : plain_rest(y, t + 1, true, (int)u, mean, e);
}

/* Probability of all recorded cells from step t on, summed over all missing ones. */
static double plain_rest(const story *y, int t, bool informed, int last, const double *z,
                         const double *e)
{
  if (t == y->steps) return 1;
  const idm_sizes n = y->problem->theta->sizes;
  const idm_setting *setting = y->problem->setting;
  const bool final = t + 1 == y->steps;
  double pi[MOST], sigma[MOST * MOST], after[MOST], sum = 0;
  bool possible[MOST];
  plain_possible(y, t, possible);
  plain_choice(y, t, informed, possible, last, z, pi, sigma);
  for (size_t u = 0; u < n.actions; u++) {
    if (!possible[u]) continue;
    const double done = !informed && y->action[t] != IDM_MISSING ? 1 : pi[u];
    if ((final && y->observation[t] == IDM_MISSING) || setting->terminal[u]) {
      sum += done; /* no observation */
      continue;
    }
    for (size_t x = 0; x < n.observations; x++) {
      if (y->observation[t] != IDM_MISSING && (size_t)y->observation[t] != x) continue;
      const double p =
          plain_update(n, setting->fully_observed, y->transition, y->emission, e, u, x, after);
      if (p > 0) sum += done * p * plain_recognised(y, t, informed, z, sigma, u, x, after);
    }
  }
  return sum;
}

/* The log-likelihood by enumeration: of all recorded cells, minus that of the observations without
 * a model of the agent (docs/method/likelihood.md, 4). */
static double plain_log_likelihood(const story *y)
{
  const idm_setting *setting = y->problem->setting;
  double with = 0, without = 0;
  if (!setting->fully_observed)
    return log(plain_rest(y, 0, true, IDM_MISSING, setting->start, setting->start)) -
           log(plain_rest(y, 0, false, IDM_MISSING, setting->start, setting->start));
  for (size_t s = 0; s < setting->states.count; s++) {
    double corner[MOST] = {0};
    corner[s] = 1;
    with += setting->start[s] * plain_rest(y, 0, true, IDM_MISSING, corner, corner);
    without += setting->start[s] * plain_rest(y, 0, false, IDM_MISSING, corner, corner);
  }
  return log(with) - log(without);
}

/* --- random stories ------------------------------------------------------------------------- */

enum feature {
  SAMPLED = 1 << 0,
  MDP = 1 << 1,
  TERMINAL = 1 << 2,
  HORIZON = 1 << 3,
  CLOSED = 1 << 4,  /* some actions are unavailable, and some are forced */
  ZEROS = 1 << 5,   /* observations that are impossible in some states or models */
  UNKNOWN = 1 << 6, /* the environment is not given */
  HABIT = 1 << 7,   /* perseverance and lapses */
  FEATURES = 1 << 8
};

/* Makes observation 0 impossible in state 0 after the last action, in the environment and under all
 * models except the last. */
static void exclude(double *row, size_t count)
{
  const double rest = 1 - row[0];
  row[0] = 0;
  for (size_t x = 1; x < count; x++) row[x] /= rest;
}

static void add_zeros(idm_problem *p)
{
  const idm_sizes n = p->theta->sizes;
  const size_t at = (n.actions - 1) * n.states * n.observations;
  exclude(p->setting->emission + at, n.observations);
  for (size_t m = 0; m + 1 < p->theta->models; m++)
    exclude(p->theta->block[IDM_EMISSION].value + m * n.actions * n.states * n.observations + at,
            n.observations);
}

static void observe_states(idm_problem *p)
{
  const idm_sizes n = p->theta->sizes;
  p->setting->fully_observed = true;
  for (size_t m = 0; m < p->theta->models; m++)
    for (size_t i = 0; i < n.actions * n.states * n.states; i++) {
      const double one = i / n.states % n.states == i % n.states;
      p->theta->block[IDM_EMISSION].value[m * n.actions * n.states * n.states + i] = one;
      p->setting->emission[i] = one;
    }
}

static idm_problem *random_problem(unsigned features, idm_random *random)
{
  const size_t states = 2 + (size_t)(3 * idm_random_uniform(random));
  const size_t observations =
      features & MDP ? states : 2 + (size_t)(2 * idm_random_uniform(random));
  const size_t models = 1 + (size_t)(3 * idm_random_uniform(random));
  idm_problem *p = support_problem((support_shape){states, 3, observations, models, 6}, random);
  support_set(p, support_signed(random, 0.3, 3), support_signed(random, 0.3, 3), 0.2);
  support_redraw(p->theta, IDM_ACTION_PRIOR, random);
  p->agent.evaluate = idm_random_uniform(random) < 0.5 ? IDM_LOOKAHEAD : IDM_INTERPOLATE;
  p->agent.recognition = features & SAMPLED ? IDM_RECOGNITION_SAMPLED : IDM_RECOGNITION_MEAN;
  p->setting->ends[0] = true;
  support_distribution(random, p->setting->start, states);
  if (features & MDP) observe_states(p);
  if (features & ZEROS && !(features & MDP)) add_zeros(p);
  if (features & TERMINAL) p->setting->terminal[1] = p->setting->ends[1] = true;
  if (features & HORIZON) p->setting->horizon = STEPS;
  if (features & HABIT) {
    idm_theta_set_scalar(p->theta, IDM_PERSEVERANCE, support_signed(random, 0.3, 3));
    idm_theta_set_scalar(p->theta, IDM_LAPSE, 0.3 * idm_random_uniform(random));
  }
  return p;
}

static size_t draw_action(const story *y, int t, idm_random *random)
{
  const idm_setting *setting = y->problem->setting;
  size_t u;
  do u = (size_t)(3 * idm_random_uniform(random));
  while (setting->ends[u] && t + 1 < y->steps);
  return u;
}

/* Draws a possible story, then makes some cells missing. */
static void happen(story *y, unsigned features, idm_random *random)
{
  const idm_setting *setting = y->problem->setting;
  const idm_sizes n = y->problem->theta->sizes;
  size_t state = idm_random_choice(random, setting->start, n.states);
  y->steps = 2 + (int)((STEPS - 1) * idm_random_uniform(random));
  for (int t = 0; t < y->steps; t++) {
    const size_t u = draw_action(y, t, random);
    const double closed = features & CLOSED ? idm_random_uniform(random) : 0;
    for (size_t v = 0; v < n.actions; v++)
      y->open[t][v] = v == u || closed < 0.4 || (closed < 0.7 && v == (u + 1) % 3);
    state = idm_random_choice(random, y->transition + (u * n.states + state) * n.states, n.states);
    y->action[t] = (int)u;
    y->observation[t] =
        setting->fully_observed
            ? (int)state
            : (int)idm_random_choice(random, y->emission + (u * n.states + state) * n.observations,
                                     n.observations);
    if (idm_random_uniform(random) < 0.4) y->observation[t] = IDM_MISSING;
    if (idm_random_uniform(random) < 0.3) {
      y->action[t] = IDM_MISSING;
      if (setting->terminal[u]) y->observation[t] = IDM_MISSING; /* no observation follows */
    }
  }
}

static idm_data *story_data(const story *y)
{
  char csv[2048] = "trajectory,agent,action,observation,available\n";
  for (int t = 0; t < y->steps; t++) {
    char row[64], u[8] = "", x[8] = "", open[16] = "";
    if (y->action[t] != IDM_MISSING) snprintf(u, sizeof u, "%d", y->action[t]);
    if (y->observation[t] != IDM_MISSING) snprintf(x, sizeof x, "%d", y->observation[t]);
    for (int v = 0; v < 3; v++)
      if (y->open[t][v])
        snprintf(open + strlen(open), sizeof open - strlen(open), "%s%d", *open ? "|" : "", v);
    snprintf(row, sizeof row, "1,1,%s,%s,%s\n", u, x, open);
    strcat(csv, row);
  }
  return support_data(y->problem, csv);
}

/* The mean of the models' tables, which replaces an environment that is not given. */
static double *plain_mean(const idm_theta *theta, idm_block_id id)
{
  const size_t count = theta->block[id].size / theta->models;
  double *mean = calloc(count, sizeof *mean);
  assert_non_null(mean);
  for (size_t i = 0; i < count * theta->models; i++)
    mean[i % count] += theta->block[IDM_MODEL_PRIOR].value[i / count] * theta->block[id].value[i];
  return mean;
}

static void hide_environment(idm_problem *p, story *y)
{
  free(p->setting->transition);
  free(p->setting->emission);
  p->setting->transition = p->setting->emission = NULL;
  y->transition = plain_mean(p->theta, IDM_TRANSITION);
  y->emission = plain_mean(p->theta, IDM_EMISSION);
}

/* Sets of hypotheses against enumeration over all missing cells: the log-likelihood, including its
 * constant, at two parameters; each of 256 combinations of features is used twice. */
static void missing_values_match_enumeration(void **state)
{
  (void)state;
  idm_random random;
  size_t blank = 0;
  idm_random_init(&random, 32, 0);
  for (unsigned i = 0; i < 2 * FEATURES; i++) {
    const unsigned features = i % FEATURES;
    story y = {.problem = random_problem(features, &random)};
    idm_problem *p = y.problem;
    y.transition = p->setting->transition;
    y.emission = p->setting->emission;
    if (features & UNKNOWN) hide_environment(p, &y);
    happen(&y, features, &random);
    y.workspace = support_plan(p, NULL);
    idm_data *data = story_data(&y);
    for (int t = 0; t + 1 < y.steps; t++)
      blank += y.action[t] == IDM_MISSING || y.observation[t] == IDM_MISSING;
    for (int other = 0; other < 2; other++) {
      if (other)
        support_set(p, support_signed(&random, 0.3, 3), support_signed(&random, 0.3, 3), 1);
      check(idm_plan(p->theta, NULL, y.workspace, NULL, &support_error));
      const double slow = plain_log_likelihood(&y);
      const double fast = support_score(y.workspace, data);
      if (slow > -INFINITY || fast > -INFINITY) assert_near(fast, slow, 1e-10);
    }
    if (features & UNKNOWN) {
      free((void *)(uintptr_t)y.transition);
      free((void *)(uintptr_t)y.emission);
    }
    idm_data_destroy(data);
    idm_workspace_destroy(y.workspace);
    idm_problem_destroy(p);
  }
  assert_true(blank > 400);
}

/* --- invariances, precision and errors ------------------------------------------------------ */

/* Reverses the order of observations in tables [row][observation]. */
static void turn_round(double *rows, size_t count, size_t observations)
{
  for (size_t i = 0; i < count; i++)
    for (size_t x = 0; x < observations / 2; x++) {
      double *a = &rows[i * observations + x], *b = &rows[(i + 1) * observations - 1 - x];
      const double kept = *a;
      *a = *b;
      *b = kept;
    }
}

/* The order of observations has no effect. */
static void names_of_observations_do_not_matter(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 35, 0);
  for (unsigned i = 0; i < 60; i++) {
    const unsigned features = i % FEATURES & ~(unsigned)(MDP | UNKNOWN);
    story y = {.problem = random_problem(features, &random)};
    idm_setting *setting = y.problem->setting;
    const idm_sizes n = y.problem->theta->sizes;
    double log_likelihood[2];
    y.transition = setting->transition;
    y.emission = setting->emission;
    happen(&y, features, &random);
    for (int other = 0; other < 2; other++) {
      y.workspace = support_plan(y.problem, NULL);
      idm_data *data = story_data(&y);
      log_likelihood[other] = support_score(y.workspace, data);
      idm_data_destroy(data);
      idm_workspace_destroy(y.workspace);
      turn_round(setting->emission, n.actions * n.states, n.observations);
      turn_round(y.problem->theta->block[IDM_EMISSION].value,
                 y.problem->theta->models * n.actions * n.states, n.observations);
      for (int t = 0; t < y.steps; t++)
        if (y.observation[t] != IDM_MISSING)
          y.observation[t] = (int)n.observations - 1 - y.observation[t];
    }
    assert_near(log_likelihood[0], log_likelihood[1], 1e-9); /* the tolerance of plans */
    idm_problem_destroy(y.problem);
  }
}

/* Mean and standard deviation of 1/beta under a flat prior, on a grid. */
static void posterior(idm_problem *problem, idm_workspace *workspace, const idm_data *data,
                      double *mean, double *sd)
{
  enum { points = 61 };
  double log_p[points], most = -INFINITY, sum = 0, squares = 0, total = 0;
  for (int i = 0; i < points; i++) {
    idm_theta_set_scalar(problem->theta, IDM_BETA, 1 / (0.4 + 0.02 * i));
    check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
    log_p[i] = support_score(workspace, data);
    most = fmax(most, log_p[i]);
  }
  for (int i = 0; i < points; i++) {
    const double x = 0.4 + 0.02 * i, p = exp(log_p[i] - most);
    total += p;
    sum += p * x;
    squares += p * x * x;
  }
  *mean = sum / total;
  *sd = sqrt(squares / total - *mean * *mean);
}

/* An agent with an uncertain test and costly errors, 1/beta = .8; half of its observations missing,
 * or a fifth of its actions. A study over many logs is validation/blanks.py. For this log the means
 * are within three standard errors of the truth (one seed in 100 would fail), and the posterior is
 * wider with missing cells. */
static void blanks_lose_precision_not_truth(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("../validation/blanks.yaml", &problem, NULL, &support_error));
  support_set(problem, 0.5, 1.25, 0);
  problem->agent.resolution = 40;
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_simulation simulation = {.trajectories = 300, .seed = 8};
  double mean[3], sd[3];
  for (int kind = 0; kind < 3; kind++) {
    idm_data *data;
    idm_random random;
    idm_random_init(&random, 36, 0);
    idm_theta_set_scalar(problem->theta, IDM_BETA, 1.25);
    check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
    check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                       &support_error));
    for (size_t row = 0; row < data->rows; row++) {
      if (kind == 1 && idm_random_uniform(&random) < 0.5) data->observation[row] = IDM_MISSING;
      if (kind == 2 && idm_random_uniform(&random) < 0.2) data->action[row] = IDM_MISSING;
    }
    posterior(problem, workspace, data, &mean[kind], &sd[kind]);
    print_message("1/beta %.3f +- %.3f\n", mean[kind], sd[kind]);
    assert_true(fabs(mean[kind] - 0.8) < 3 * sd[kind]);
    idm_data_destroy(data);
  }
  assert_true(sd[1] > sd[0] && sd[2] > 0.9 * sd[0]);
  assert_true(fabs(mean[1] - mean[0]) < 3 * sd[1]);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* An observation whose emission does not depend on the state leaves the predictive belief. */
static void seeing_nothing_keeps_the_predictive_belief(void **state)
{
  (void)state;
  const char *text = "states: [a, b]\nactions: [go]\nobservations: [yes, no, none]\n"
                     "transition: {go: [[0.8, 0.2], [0.3, 0.7]]}\n"
                     "observation: {go: [[0.5, 0.1, 0.4], [0.1, 0.5, 0.4]]}\nutility: {go: 0}\n"
                     "start: [0.25, 0.75]\n";
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "t", &problem, NULL, &support_error));
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_behavior b = idm_workspace_behavior(workspace);
  void *memory;
  double z[2];
  check(b.ops->memory_create(b.content, &memory, &support_error));
  check(b.ops->begin_trajectory(b.content, memory, memory, 0, NULL, &support_error));
  support_observe(b, memory, memory, (idm_event){.action = 0, .observation = 2});
  b.ops->belief(b.content, memory, z);
  assert_near(z[0], 0.25 * 0.8 + 0.75 * 0.3, 1e-14);
  b.ops->memory_destroy(memory);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Checks that data are rejected when they are scored; support_error contains the reason. */
static void cannot_score(const idm_workspace *workspace, const idm_data *data)
{
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &support_error));
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  assert_int_equal(
      idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, &support_error), IDM_INPUT);
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
}

/* A model under which an observation is impossible is dropped; if all models are, it is an error.
 */
static void impossible_observations(void **state)
{
  (void)state;
  const char *text =
      "states: [a, b]\nactions: [go, stop]\nobservations: [x, y]\ntransition: {\"*\": identity}\n"
      "observation: {\"*\": [[1, 0], [0.5, 0.5]]}\nutility: {go: 0, stop: [1, 0]}\nstart: [1, 0]\n"
      "models: [{weight: 1}, {weight: 3, observation: {go: [[0.5, 0.5], [0.25, 0.75]]}}]\n"
      "agent: {alpha: 1}\n";
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "t", &problem, NULL, &support_error));
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = support_data(problem, "agent,action,observation\n1,go,y\n1,go,x\n");
  assert_true(isfinite(support_score(workspace, data)));
  idm_data_destroy(data);

  data = support_data(problem, "agent,action,observation\n1,go,x\n1,stop,y\n1,go,x\n");
  cannot_score(workspace, data);
  assert_int_equal(support_error.line, 3);
  assert_non_null(strstr(support_error.message, "'y' after 'stop' is impossible"));
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Ten missing observations in a row lead to more beliefs than the maximum; the error contains the
 * row. */
static void a_set_too_large_is_an_error_with_its_row(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 34, 0);
  idm_problem *problem = support_problem((support_shape){4, 2, 4, 1, 3}, &random);
  support_set(problem, 1, INFINITY, 0);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = support_data(problem, "agent,action,observation\n1,0,1\n1,0,\n1,0,\n1,0,\n1,0,\n"
                                         "1,0,\n1,0,\n1,0,\n1,0,\n1,0,\n1,0,\n1,0,\n");
  cannot_score(workspace, data);
  assert_non_null(strstr(support_error.message, "hypotheses"));
  assert_int_equal(support_error.line, 11);
  assert_non_null(strstr(support_error.message, "lines 11, 10, 9, 8, 7, 6, 5, 4, 3)"));
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(missing_values_match_enumeration),
      cmocka_unit_test(names_of_observations_do_not_matter),
      cmocka_unit_test(blanks_lose_precision_not_truth),
      cmocka_unit_test(seeing_nothing_keeps_the_predictive_belief),
      cmocka_unit_test(impossible_observations),
      cmocka_unit_test(a_set_too_large_is_an_error_with_its_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
