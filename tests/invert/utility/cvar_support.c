/* Agents with several models, and their conditional value at risk by enumeration. */
#include "invert/utility/cvar_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STATES = 8, MOST_ACTIONS = 4, MOST_MODELS = 6, ROOM = 65536 };

static void add(char *text, const char *format, double number)
{
  const size_t length = strlen(text);
  assert_true(length + 60 < ROOM);
  snprintf(text + length, ROOM - length, format, number);
}

static void add_names(char *text, const char *key, const char *letter, size_t count,
                      const size_t *opt_order)
{
  strcat(strcat(text, key), ": [");
  for (size_t i = 0; i < count; i++) {
    strcat(strcat(text, i ? ", " : ""), letter);
    add(text, "%.0f", (double)(opt_order ? opt_order[i] : i));
  }
  strcat(text, "]\n");
}

static size_t at(const size_t *opt_order, size_t i)
{
  return opt_order ? opt_order[i] : i;
}

/* {u0: [[...], ...], ...} of rows[action][state][next]. */
static void add_transition(char *text, const cvar_shape *shape, const double *rows)
{
  const size_t n = shape->states;
  for (size_t u = 0; u < shape->actions; u++) {
    add(text, u ? ", u%.0f: [" : "{u%.0f: [", (double)u);
    for (size_t i = 0; i < n; i++) {
      strcat(text, i ? ", [" : "[");
      for (size_t j = 0; j < n; j++)
        add(text, j ? ", %.17g" : "%.17g",
            rows[(u * n + at(shape->opt_order, i)) * n + at(shape->opt_order, j)]);
      strcat(text, "]");
    }
    strcat(text, "]");
  }
  strcat(text, "}\n");
}

idm_problem *cvar_random(cvar_shape shape)
{
  static double rows[MOST_MODELS][MOST_ACTIONS * MOST_STATES * MOST_STATES];
  double utility[MOST_ACTIONS * MOST_STATES], weight[MOST_MODELS];
  const size_t n = shape.states, entries = shape.actions * n;
  idm_random random;
  idm_random_init(&random, shape.seed, 0);
  for (size_t e = 0; e < entries; e++) utility[e] = 2 * idm_random_uniform(&random) - 1;
  for (size_t m = 0; m < shape.models; m++) {
    weight[m] = 0.5 + idm_random_uniform(&random);
    for (size_t e = 0; e < entries; e++) support_distribution(&random, rows[m] + e * n, n);
  }
  char *text = calloc(ROOM, 1);
  assert_non_null(text);
  strcpy(text, "name: wary\n");
  add_names(text, "states", "s", n, shape.opt_order);
  add_names(text, "actions", "u", shape.actions, shape.opt_turn);
  strcat(text, "observations: states\nstart: s0\ndiscount: 0.8\ntransition: ");
  add_transition(text, &shape, rows[0]);
  strcat(text, "models:\n");
  for (size_t m = 0; m < shape.models; m++) {
    add(text, "  - weight: %.17g\n    transition: ", weight[at(shape.opt_list, m)]);
    add_transition(text, &shape, rows[at(shape.opt_list, m)]);
  }
  strcat(text, "utility:\n");
  for (size_t u = 0; u < shape.actions; u++) {
    add(text, "  u%.0f: [", (double)u);
    for (size_t i = 0; i < n; i++)
      add(text, i ? ", %.17g" : "%.17g", utility[u * n + at(shape.opt_order, i)]);
    strcat(text, "]\n");
  }
  add(text, "agent: {planner: cvar-robust, risk_level: %.17g}\n", shape.level);
  idm_problem *problem = support_yaml(text);
  free(text);
  return problem;
}

/* --- the reference -------------------------------------------------------------------------- */

/* Minimum of sum sigma_m k_m, over all orders in which models are assigned mass. */
static double worst(double level, size_t models, const double *weight, const double *k, bool *used,
                    double left)
{
  double least = INFINITY;
  if (!(left > 1e-15)) return 0;
  for (size_t m = 0; m < models; m++) {
    if (used[m]) continue;
    const double share = level > 0 ? fmin(left, weight[m] / level) : left;
    used[m] = true;
    least = fmin(least, share * k[m] + worst(level, models, weight, k, used, left - share));
    used[m] = false;
  }
  return isfinite(least) ? least : 0;
}

double cvar_quality(const idm_problem *problem, double level, const double *utility,
                    const double *v, size_t s, size_t u)
{
  const size_t n = problem->setting->states.count, actions = problem->setting->actions.count;
  const double *rows = problem->theta->block[IDM_TRANSITION].value;
  double k[MOST_MODELS];
  bool used[MOST_MODELS] = {false};
  for (size_t m = 0; m < problem->theta->models; m++) {
    k[m] = 0;
    for (size_t t = 0; t < n; t++) k[m] += rows[((m * actions + u) * n + s) * n + t] * v[t];
  }
  return utility[u * n + s] + idm_theta_scalar(problem->theta, IDM_DISCOUNT) *
                                  worst(level, problem->theta->models,
                                        problem->theta->block[IDM_MODEL_PRIOR].value, k, used, 1);
}

void cvar_values(const idm_problem *problem, double level, const double *utility,
                 const size_t *action, double *v)
{
  const size_t n = problem->setting->states.count;
  memset(v, 0, n * sizeof *v);
  for (int sweep = 0; sweep < 150; sweep++)
    for (size_t s = 0; s < n; s++) v[s] = cvar_quality(problem, level, utility, v, s, action[s]);
}

double cvar_margin(const idm_problem *problem, double level, const double *utility,
                   const size_t *action)
{
  double v[MOST_STATES], sum = 0;
  cvar_values(problem, level, utility, action, v);
  for (size_t s = 0; s < problem->setting->states.count; s++) {
    double least = INFINITY;
    for (size_t u = 0; u < problem->setting->actions.count; u++)
      if (u != action[s])
        least = fmin(least, v[s] - cvar_quality(problem, level, utility, v, s, u));
    sum += least < -1e-9 ? -INFINITY : least;
  }
  return sum;
}

void cvar_best(const idm_problem *problem, size_t *action)
{
  const size_t actions = problem->setting->actions.count;
  idm_workspace *workspace = support_plan(problem, NULL);
  for (size_t s = 0; s < problem->setting->states.count; s++) {
    double corner[MOST_STATES] = {0}, policy[MOST_ACTIONS];
    corner[s] = 1;
    idm_plan_policy(workspace, 0, corner, policy, NULL);
    action[s] = 0;
    for (size_t u = 1; u < actions; u++)
      if (policy[u] > policy[action[s]]) action[s] = u;
  }
  idm_workspace_destroy(workspace);
}
