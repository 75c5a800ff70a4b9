/* Small fully observed problems, logs with one row per state, and slow reference computations. */
#include "invert/utility/grid_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- problems ------------------------------------------------------------------------------- */

static void add(char *text, size_t size, const char *format, double number)
{
  const size_t length = strlen(text);
  assert_true(length + 60 < size);
  snprintf(text + length, size - length, format, number);
}

static void add_names(char *text, size_t size, const char *key, char letter, size_t count,
                      const size_t *opt_order)
{
  char name[64];
  snprintf(name, sizeof name, "%s: [", key);
  strcat(text, name);
  for (size_t i = 0; i < count; i++) {
    snprintf(name, sizeof name, "%s%c%zu", i ? ", " : "", letter, opt_order ? opt_order[i] : i);
    strcat(text, name);
  }
  strcat(text, "]\n");
  assert_true(strlen(text) + 100 < size);
}

/* transition[action][state][next], utility[action][state], in natural order. */
static idm_problem *build(size_t states, size_t actions, double discount, const double *transition,
                          const double *utility, const size_t *opt_order, const size_t *opt_turn)
{
  const size_t size = 4096 + 32 * states * states * actions;
  char *text = calloc(size, 1);
  assert_non_null(text);
  strcpy(text, "name: random\n");
  add_names(text, size, "states", 's', states, opt_order);
  add_names(text, size, "actions", 'u', actions, opt_turn);
  strcat(text, "observations: states\nstart: s0\n");
  add(text, size, "discount: %.17g\n", discount);
  strcat(text, "transition:\n");
  for (size_t u = 0; u < actions; u++) {
    add(text, size, "  u%.0f: [", (double)u);
    for (size_t i = 0; i < states; i++) {
      const size_t s = opt_order ? opt_order[i] : i;
      strcat(text, i ? ", [" : "[");
      for (size_t j = 0; j < states; j++) {
        const size_t t = opt_order ? opt_order[j] : j;
        add(text, size, j ? ", %.17g" : "%.17g", transition[(u * states + s) * states + t]);
      }
      strcat(text, "]");
    }
    strcat(text, "]\n");
  }
  strcat(text, "utility:\n");
  for (size_t u = 0; u < actions; u++) {
    add(text, size, "  u%.0f: [", (double)u);
    for (size_t i = 0; i < states; i++)
      add(text, size, i ? ", %.17g" : "%.17g",
          utility[u * states + (opt_order ? opt_order[i] : i)]);
    strcat(text, "]\n");
  }
  strcat(text, "agent: {planner: deterministic-optimal}\n");
  idm_problem *problem = support_yaml(text);
  free(text);
  return problem;
}

idm_problem *grid_random(size_t states, size_t actions, double discount, uint64_t seed,
                         const size_t *opt_order, const size_t *opt_turn)
{
  idm_random random;
  idm_random_init(&random, seed, 0);
  double *transition = calloc(actions * states * states, sizeof *transition);
  double *utility = calloc(actions * states, sizeof *utility);
  assert_non_null(transition);
  assert_non_null(utility);
  for (size_t i = 0; i < actions * states; i++) {
    support_distribution(&random, transition + i * states, states);
    utility[i] = 2 * idm_random_uniform(&random) - 1;
  }
  idm_problem *problem = build(states, actions, discount, transition, utility, opt_order, opt_turn);
  free(transition);
  free(utility);
  return problem;
}

static size_t neighbour(size_t side, size_t s, size_t direction)
{
  const size_t x = s % side, y = s / side;
  if (direction == 0 && x + 1 < side) return s + 1;
  if (direction == 1 && y + 1 < side) return s + side;
  if (direction == 2 && x > 0) return s - 1;
  if (direction == 3 && y > 0) return s - side;
  return s;
}

idm_problem *grid_square(size_t side, double wind, double discount)
{
  const size_t states = side * side;
  double *transition = calloc(4 * states * states, sizeof *transition);
  double *utility = calloc(4 * states, sizeof *utility);
  assert_non_null(transition);
  assert_non_null(utility);
  for (size_t u = 0; u < 4; u++)
    for (size_t s = 0; s < states; s++) {
      for (size_t d = 0; d < 4; d++)
        transition[(u * states + s) * states + neighbour(side, s, d)] +=
            wind / 4 + (d == u ? 1 - wind : 0);
      utility[u * states + s] = s + 1 == states;
    }
  idm_problem *problem = build(states, 4, discount, transition, utility, NULL, NULL);
  free(transition);
  free(utility);
  return problem;
}

/* --- references ----------------------------------------------------------------------------- */

double grid_quality(const idm_problem *problem, const double *utility, const double *v, size_t s,
                    size_t u)
{
  const size_t states = problem->setting->states.count;
  double sum = 0;
  for (size_t t = 0; t < states; t++) {
    const double p = problem->setting->moves
                         ? idm_sparse_rows_probability(problem->setting->moves, u * states + s, t)
                         : problem->setting->transition[(u * states + s) * states + t];
    sum += p * v[t];
  }
  return utility[u * states + s] + idm_theta_scalar(problem->theta, IDM_DISCOUNT) * sum;
}

void grid_values(const idm_problem *problem, const double *utility, const size_t *action, double *v)
{
  const size_t states = problem->setting->states.count;
  memset(v, 0, states * sizeof *v);
  for (int sweep = 0; sweep < 2000; sweep++)
    for (size_t s = 0; s < states; s++) v[s] = grid_quality(problem, utility, v, s, action[s]);
}

void grid_best(const idm_problem *problem, size_t *action)
{
  const size_t states = problem->setting->states.count;
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  double *v = calloc(states, sizeof *v);
  assert_non_null(v);
  for (int sweep = 0; sweep < 2000; sweep++)
    for (size_t s = 0; s < states; s++) {
      double best = -INFINITY;
      for (size_t u = 0; u < problem->setting->actions.count; u++) {
        const double here = grid_quality(problem, utility, v, s, u);
        if (here <= best + 1e-10) continue;
        best = here;
        action[s] = u;
      }
      v[s] = best;
    }
  free(v);
}

idm_data *grid_log(const idm_problem *problem, const size_t *action)
{
  const idm_setting *setting = problem->setting;
  const size_t size = 64 + 40 * setting->states.count;
  char *csv = calloc(size, 1);
  assert_non_null(csv);
  strcpy(csv, "trajectory,state,action\n");
  for (size_t s = 0; s < setting->states.count; s++) {
    const size_t length = strlen(csv);
    if (action[s] != SIZE_MAX)
      snprintf(csv + length, size - length, "%zu,%s,%s\n", s, setting->states.name[s],
               setting->actions.name[action[s]]);
  }
  idm_data *data = support_data(problem, csv);
  free(csv);
  return data;
}

void grid_in_units(idm_problem *problem, const idm_data *data, const char *inverse,
                   const idm_fit_settings *settings, double unit)
{
  idm_fit_settings counted = *settings;
  idm_posterior *a = support_fit(inverse, problem, data, settings);
  for (size_t e = 0; e < problem->theta->block[IDM_UTILITY].size; e++)
    problem->theta->block[IDM_UTILITY].value[e] *= unit;
  counted.bound *= unit;
  counted.epsilon *= unit;
  idm_posterior *b = support_fit(inverse, problem, data, &counted);
  const idm_optimality *one = a->optimality, *two = b->optimality;
  assert_true(idm_optimality_certified(one) && idm_optimality_certified(two));
  assert_near(one->objective, two->objective / unit, 1e-7 * fmax(1, fabs(one->objective)));
  for (size_t k = 0; k < a->quantity.count; k++) assert_near(a->value[k], b->value[k] / unit, 1e-7);
  for (size_t k = 0; k < 2 * one->free && one->range; k++) {
    assert_near(one->range[k], two->range[k] / unit, 1e-7);
    assert_int_equal(one->at_box[k], two->at_box[k]);
  }
  assert_int_equal(one->words.count, two->words.count);
  /* Only the beginning is compared: later text may contain numbers. */
  for (size_t i = 0; i < one->words.count; i++)
    assert_memory_equal(one->words.text[i], two->words.text[i], 20);
  idm_posterior_destroy(a);
  idm_posterior_destroy(b);
}

bool grid_says(const idm_optimality *optimality, const char *words)
{
  for (size_t i = 0; i < optimality->words.count; i++)
    if (strstr(optimality->words.text[i], words)) return true;
  return false;
}
