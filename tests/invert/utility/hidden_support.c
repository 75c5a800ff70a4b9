/* Small problems with hidden states. */
#include "invert/utility/hidden_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hidden hidden_tiger(void)
{
  return (hidden){
      .states = 2,
      .actions = 3,
      .observations = 2,
      .discount = 0.95,
      .start = {0.5, 0.5},
      .transition = {{{1, 0}, {0, 1}}, {{0.5, 0.5}, {0.5, 0.5}}, {{0.5, 0.5}, {0.5, 0.5}}},
      .emission = {{{0.85, 0.15}, {0.15, 0.85}},
                   {{0.5, 0.5}, {0.5, 0.5}},
                   {{0.5, 0.5}, {0.5, 0.5}}},
      .utility = {{-1, -1}, {-100, 10}, {10, -100}}};
}

size_t hidden_listen(void *sure, const double *z)
{
  const double bar = *(const double *)sure;
  return z[0] > bar ? 2 : z[1] > bar ? 1 : 0;
}

hidden hidden_maze(void)
{
  const double third = 1.0 / 3;
  return (hidden){
      .states = 4,
      .actions = 2,
      .observations = 2,
      .discount = 0.75,
      .start = {third, third, third, 0},
      .transition = {{{1, 0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0, 1}, {third, third, third, 0}},
                     {{0, 1, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 0}, {third, third, third, 0}}},
      .emission = {{{1, 0}, {1, 0}, {1, 0}, {0, 1}}, {{1, 0}, {1, 0}, {1, 0}, {0, 1}}},
      .utility = {{0, 0, 1, 0}, {0, 1, 0, 0}}};
}

hidden hidden_home(void)
{
  return (hidden){
      .states = 3,
      .actions = 2,
      .observations = 2,
      .discount = 0.75,
      .start = {1, 0, 0},
      .transition = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 0.5, 0.5}, {0, 0, 1}, {1, 0, 0}}},
      .emission = {{{1, 0}, {0, 1}, {0, 1}}, {{1, 0}, {0, 1}, {0, 1}}},
      .utility = {{1, 0, 0}, {0, 0, 0}}};
}

/* --- as a file ------------------------------------------------------------------------------ */

static size_t at(const size_t *opt_order, size_t i)
{
  return opt_order ? opt_order[i] : i;
}

static void put_names(FILE *f, const char *key, char letter, size_t count, const size_t *opt_order)
{
  fprintf(f, "%s: [", key);
  for (size_t i = 0; i < count; i++) fprintf(f, "%s%c%zu", i ? ", " : "", letter, at(opt_order, i));
  fprintf(f, "]\n");
}

static void put_row(FILE *f, const double *row, size_t count, const size_t *opt_order)
{
  fprintf(f, "[");
  for (size_t i = 0; i < count; i++) fprintf(f, "%s%.17g", i ? ", " : "", row[at(opt_order, i)]);
  fprintf(f, "]");
}

/* One matrix per action: rows by state, columns in their own order. */
static void put_matrices(FILE *f, const char *key, const hidden *h, bool emission,
                         const size_t *opt_place, const size_t *opt_columns)
{
  fprintf(f, "%s:\n", key);
  for (size_t u = 0; u < h->actions; u++) {
    fprintf(f, "  u%zu: [", u);
    for (size_t i = 0; i < h->states; i++) {
      const size_t s = at(opt_place, i);
      fprintf(f, "%s", i ? ", " : "");
      put_row(f, emission ? h->emission[u][s] : h->transition[u][s],
              emission ? h->observations : h->states, opt_columns);
    }
    fprintf(f, "]\n");
  }
}

static idm_problem *build(const hidden *h, const size_t *opt_place, const size_t *opt_turn,
                          const size_t *opt_sign, bool observed)
{
  char *text;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  assert_non_null(f);
  fprintf(f, "name: hidden\ndiscount: %.17g\n", h->discount);
  put_names(f, "states", 's', h->states, opt_place);
  put_names(f, "actions", 'u', h->actions, opt_turn);
  if (observed)
    fprintf(f, "observations: states\n");
  else
    put_names(f, "observations", 'x', h->observations, opt_sign);
  fprintf(f, "start: ");
  put_row(f, h->start, h->states, opt_place);
  fprintf(f, "\n");
  put_matrices(f, "transition", h, false, opt_place, opt_place);
  if (!observed) put_matrices(f, "observation", h, true, opt_place, opt_sign);
  fprintf(f, "utility:\n");
  for (size_t u = 0; u < h->actions; u++) {
    fprintf(f, "  u%zu: ", u);
    put_row(f, h->utility[u], h->states, opt_place);
    fprintf(f, "\n");
  }
  fprintf(f, "agent: {planner: deterministic-optimal}\n");
  assert_int_equal(fclose(f), 0);
  idm_problem *problem = support_yaml(text);
  free(text);
  return problem;
}

idm_problem *hidden_problem(const hidden *h, const size_t *opt_place, const size_t *opt_turn,
                            const size_t *opt_sign)
{
  return build(h, opt_place, opt_turn, opt_sign, false);
}

idm_problem *hidden_observed(const hidden *h)
{
  return build(h, NULL, NULL, NULL, true);
}

/* --- beliefs -------------------------------------------------------------------------------- */

/* The belief after (u, x) by Bayes' rule; returns p(x|z,u). */
static double after(const hidden *h, const double *z, size_t u, size_t x, double *next)
{
  double p = 0;
  for (size_t t = 0; t < h->states; t++) {
    next[t] = 0;
    for (size_t s = 0; s < h->states; s++)
      next[t] += z[s] * h->transition[u][s][t] * h->emission[u][t][x];
    p += next[t];
  }
  for (size_t t = 0; t < h->states && p > 0; t++) next[t] /= p;
  return p;
}

static size_t enter(const hidden *h, hidden_beliefs *b, const double *z)
{
  for (size_t i = 0; i < b->count; i++) {
    double most = 0;
    for (size_t s = 0; s < h->states; s++) most = fmax(most, fabs(b->z[i][s] - z[s]));
    if (most <= 1e-9) return i;
  }
  assert_true(b->count < HIDDEN_MOST);
  memcpy(b->z[b->count], z, h->states * sizeof *z);
  return b->count++;
}

void hidden_reach(const hidden *h, hidden_beliefs *b)
{
  double next[HIDDEN_STATES];
  memset(b, 0, sizeof *b);
  enter(h, b, h->start);
  for (size_t i = 0; i < b->count; i++)
    for (size_t u = 0; u < h->actions; u++)
      for (size_t x = 0; x < h->observations; x++) {
        b->p[i][u][x] = after(h, b->z[i], u, x, next);
        if (b->p[i][u][x] > 0) b->next[i][u][x] = enter(h, b, next);
      }
}

static double quality(const hidden *h, const hidden_beliefs *b, const double *utility,
                      const double *value, size_t i, size_t u)
{
  double now = 0, later = 0;
  for (size_t s = 0; s < h->states; s++) now += b->z[i][s] * utility[u * h->states + s];
  for (size_t x = 0; x < h->observations; x++) later += b->p[i][u][x] * value[b->next[i][u][x]];
  return now + h->discount * later;
}

/* 900 sweeps: a remainder below 1e-16 for discounts up to 0.95. */
static void sweep(const hidden *h, const hidden_beliefs *b, const double *utility,
                  const size_t *opt_action, double *value)
{
  memset(value, 0, HIDDEN_MOST * sizeof *value);
  for (int round = 0; round < 900; round++)
    for (size_t i = 0; i < b->count; i++) {
      double best = -INFINITY;
      for (size_t u = 0; u < h->actions; u++)
        if (!opt_action || opt_action[i] == u)
          best = fmax(best, quality(h, b, utility, value, i, u));
      value[i] = best;
    }
}

double hidden_best(const hidden *h, const hidden_beliefs *b, const double *utility, size_t *action)
{
  double value[HIDDEN_MOST];
  sweep(h, b, utility, NULL, value);
  for (size_t i = 0; i < b->count; i++)
    for (size_t u = h->actions; u-- > 0;)
      if (quality(h, b, utility, value, i, u) >= value[i] - 1e-9) action[i] = u;
  return value[0];
}

void hidden_quality(const hidden *h, const hidden_beliefs *b, const double *utility,
                    double (*q)[HIDDEN_ACTIONS])
{
  double value[HIDDEN_MOST];
  sweep(h, b, utility, NULL, value);
  for (size_t i = 0; i < b->count; i++)
    for (size_t u = 0; u < h->actions; u++) q[i][u] = quality(h, b, utility, value, i, u);
}

double hidden_worth(const hidden *h, const hidden_beliefs *b, const double *utility,
                    const size_t *action)
{
  double value[HIDDEN_MOST];
  sweep(h, b, utility, action, value);
  return value[0];
}

/* --- logs ----------------------------------------------------------------------------------- */

static size_t draw(idm_random *random, const double *p, size_t count)
{
  double left = idm_random_uniform(random);
  size_t i = 0;
  while (i + 1 < count && (left -= p[i]) >= 0) i++;
  return i;
}

idm_data *hidden_log(const hidden *h, const hidden_beliefs *b, const size_t *action,
                     const idm_problem *problem, size_t trajectories, size_t steps, uint64_t seed)
{
  char *text;
  size_t size;
  idm_random random;
  FILE *f = open_memstream(&text, &size);
  assert_non_null(f);
  idm_random_init(&random, seed, 0);
  fprintf(f, "trajectory,action,observation\n");
  for (size_t t = 0; t < trajectories; t++) {
    size_t state = draw(&random, h->start, h->states);
    size_t i = 0;
    for (size_t step = 0; step < steps; step++) {
      const size_t u = action[i];
      state = draw(&random, h->transition[u][state], h->states);
      const size_t x = draw(&random, h->emission[u][state], h->observations);
      fprintf(f, "%zu,u%zu,x%zu\n", t, u, x);
      i = b->next[i][u][x];
    }
  }
  assert_int_equal(fclose(f), 0);
  idm_data *data = support_data(problem, text);
  free(text);
  return data;
}
