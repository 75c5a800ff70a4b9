/* Values and policies at any belief, from the values on the lattice. */
#include <math.h>
#include <string.h>

#include "base/level.h"
#include "base/log_sum.h"
#include "plan/control/backup.h"
#include "plan/control/evaluate.h"
#include "plan/control/plane.h"
#include "plan/control/specify.h"

/* Scratch of an evaluation, cut from one array of numbers. */
typedef struct evaluation {
  double *q;         /* [action] */
  double *log_pi;    /* [action] */
  double *k;         /* [action][model] */
  double *emitter;   /* [state] */
  double *posterior; /* [state] */
  double *weight;    /* [state] */
  double *locate;    /* [2 state] */
  double *expected;  /* of the sensor */
  uint32_t *vertex;  /* [state] */
  double arrival;    /* of the decision at hand */
} evaluation;

size_t idm_control_scratch(const void *content)
{
  const control *c = content;
  const size_t k = c->sizes.states;
  return c->sizes.actions * (2 + c->models) + 6 * k + idm_sensor_scratch(c->sizes);
}

static evaluation evaluation_of(const control *c, int left, double *scratch)
{
  const size_t k = c->sizes.states;
  evaluation e;
  e.q = scratch;
  e.log_pi = e.q + c->sizes.actions;
  e.k = e.log_pi + c->sizes.actions;
  e.emitter = e.k + c->sizes.actions * c->models;
  e.posterior = e.emitter + k;
  e.weight = e.posterior + k;
  e.locate = e.weight + k;
  e.expected = e.locate + 2 * k;
  e.vertex = (uint32_t *)(void *)(e.expected + idm_sensor_scratch(c->sizes));
  e.arrival = idm_control_arrival(c, left);
  return e;
}

static bool interpolates(const control *c)
{
  return c->quality != NULL;
}

/* sum_x p(x) V at the successors of z over three states, where no two observations lead to the same
 * belief: the loop of lookahead_model in coordinates of the lattice. */
IDM_KERNEL_RETURNS(static, double, expect_in_plane,
                   (const control *c, const idm_world *world, const double *v,
                    const double *emitter, double arrival),
                   (c, world, v, emitter, arrival))
{
  const size_t n = world->observations;
  const double *low = world->emission, *middle = low + n, *high = middle + n;
  double future = 0;
  for (size_t x = 0; x < n; x++) {
    const double one = emitter[1] * middle[x], two = emitter[2] * high[x];
    const double total = emitter[0] * low[x] + one + two;
    if (!(total > 0)) continue;
    const plane_cell cell = plane_locate(c->lattice->resolution, one / total, two / total);
    const idm_certain certain = plane_certain(c, arrival, one / total, two / total);
    future += total * (plane_value(&cell, v) + arrival * certain.share);
  }
  return future;
}

/* V at e->posterior, off the lattice, and the award for certainty there. */
static double value_after(const control *c, const double *v, const evaluation *e)
{
  const size_t count =
      idm_lattice_locate(c->lattice, e->posterior, e->vertex, e->weight, e->locate);
  double value =
      e->arrival * idm_belief_certain(c->numbers.certainty, c->sizes.states, e->posterior).share;
  for (size_t i = 0; i < count; i++) value += e->weight[i] * v[e->vertex[i]];
  return value;
}

/* V of the successors of z under (u, m) and the surprise: K(z,u,m), off the lattice. */
static double lookahead_model(const control *c, const double *v, const double *z, size_t u,
                              size_t m, const evaluation *e)
{
  const idm_sizes n = c->sizes;
  const idm_world world = control_world(c, u, m);
  const int *group = c->group + (m * n.actions + u) * n.observations;
  const bool merge = c->agent.surprise == IDM_SURPRISE_BELIEF;
  const bool surprises = c->numbers.eta != 0; /* else its logarithms count for nothing */
  idm_filter_emitter(&world, z, e->emitter);
  if (c->plane[m * n.actions + u] && !surprises)
    return c->numbers.discount * expect_in_plane(c, &world, v, e->emitter, e->arrival);
  double future = 0;
  double surprise = 0;
  for (size_t x = 0; x < n.observations; x++) {
    if (group[x] != (int)x) continue;
    if (!idm_group_correct(&world, group, x, e->emitter, e->posterior)) continue;
    const double value = value_after(c, v, e);
    const double log_prior = surprises ? idm_belief_prior_log(n.states, c->belief_prior,
                                                              c->lattice->resolution, e->posterior)
                                       : 0;
    double total = 0;
    for (size_t y = x; y < n.observations; y++) {
      if (group[y] != (int)x) continue;
      double p = 0;
      for (size_t s = 0; s < n.states; s++)
        p += e->emitter[s] * world.emission[s * n.observations + y];
      total += p;
      if (surprises && !merge && p > 0) surprise -= p * (log(p) - log_prior);
    }
    if (surprises && merge) surprise -= total * (log(total) - log_prior);
    future += total * value;
  }
  return c->numbers.discount * future + c->numbers.eta * surprise;
}

static double entropy_term(double p)
{
  return p > 0 ? -p * log(p) : 0;
}

/* Probability, at e->emitter, of the group that leads to the prediction; 0 where there is none. */
static double idle_probability(const control *c, size_t u, size_t m, const evaluation *e)
{
  const idm_sizes n = c->sizes;
  const idm_world world = control_world(c, u, m);
  const int leader = c->idle[m * n.actions + u];
  const int *group = c->group + (m * n.actions + u) * n.observations;
  double p = 0;
  for (size_t x = 0; leader >= 0 && x < n.observations; x++)
    for (size_t s = 0; group[x] == leader && s < n.states; s++)
      p += e->emitter[s] * world.emission[s * n.observations + x];
  return p;
}

/* K(z,u,m) of a sensor that passes what is seen, after which K is `seen`, with a probability a:
 * the surprise is that of x or nothing, by the chain rule of entropies. */
static double lookahead_unseen(const control *c, const double *v, const double *z, size_t u,
                               size_t m, double a, double seen, const evaluation *e)
{
  const size_t k = c->sizes.states;
  idm_filter_predict(k, control_world(c, u, m).transition, z, e->posterior);
  const double expected = a * seen + (1 - a) * c->numbers.discount * value_after(c, v, e);
  if (c->numbers.eta == 0) return expected;
  const double log_prior =
      idm_belief_prior_log(k, c->belief_prior, c->lattice->resolution, e->posterior);
  const bool merge = c->agent.surprise == IDM_SURPRISE_BELIEF;
  const double idle = merge ? a * idle_probability(c, u, m, e) : 0;
  const double surprise = entropy_term(a) - entropy_term(idle) + entropy_term(idle + 1 - a);
  return expected + c->numbers.eta * (surprise + (1 - a) * log_prior);
}

/* One step of lookahead: Q and K at z from the values with one step less. */
static void lookahead(const control *c, size_t variant, int left, const double *z,
                      const evaluation *e)
{
  const double *v = control_follows(c, variant, left);
  for (size_t u = 0; u < c->sizes.actions; u++) {
    e->q[u] = idm_control_reward(c, variant, z, u);
    if (c->setting->terminal[u]) continue;
    double *k = e->k + u * c->models;
    const double passes = idm_sensor_passes(&c->sensor, z, u, e->expected);
    for (size_t m = 0; m < c->models; m++) {
      k[m] = lookahead_model(c, v, z, u, m, e);
      if (passes < 1) k[m] = lookahead_unseen(c, v, z, u, m, passes, k[m], e);
    }
    e->q[u] += idm_control_specify(c, k, NULL);
  }
}

static void policy_by_lookahead(const control *c, size_t variant, int left, const double *z,
                                double *decision, double *opt_specification, const evaluation *e)
{
  const size_t actions = c->sizes.actions;
  lookahead(c, variant, left, z, e);
  idm_soft(control_temperature(c, variant), actions, c->numbers.action_prior, e->q, decision);
  for (size_t u = 0; opt_specification && u < actions; u++) {
    double *sigma = opt_specification + u * c->models;
    if (c->setting->terminal[u])
      memcpy(sigma, c->numbers.model_prior, c->models * sizeof *sigma);
    else
      idm_control_specify(c, e->k + u * c->models, sigma);
  }
}

/* out[r] = table[r] interpolated, for `rows` rows. */
IDM_INLINE void interpolate(const control *c, const double *table, size_t rows, size_t count,
                            const evaluation *e, double *out)
{
  if (count == 2) { /* two states: the common case, unrolled */
    const double *first = table + e->vertex[0];
    const double *second = table + e->vertex[1];
    const double w = e->weight[0];
    const double v = e->weight[1];
    for (size_t r = 0; r < rows; r++, first += c->padded, second += c->padded)
      out[r] = w * *first + v * *second;
    return;
  }
  for (size_t r = 0; r < rows; r++, table += c->padded) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += e->weight[i] * table[e->vertex[i]];
    out[r] = sum;
  }
}

/* pi and sigma linearly between the vertices of z's cell, as the paper does. */
static void policy_by_tables(const control *c, size_t variant, int left, const double *z,
                             double *decision, double *opt_specification, const evaluation *e)
{
  const size_t actions = c->sizes.actions;
  const size_t row = control_row(c, variant, left);
  const size_t count = idm_lattice_locate(c->lattice, z, e->vertex, e->weight, e->locate);
  interpolate(c, c->decision + row, actions, count, e, decision);
  if (opt_specification)
    interpolate(c, c->specification + row * c->models, actions * c->models, count, e,
                opt_specification);
}

void idm_control_policy(const void *content, size_t variant, int steps, const double *z,
                        double *decision, double *opt_specification, double *scratch)
{
  const control *c = content;
  const int left = control_left(c, steps);
  const evaluation e = evaluation_of(c, left, scratch);
  if (interpolates(c))
    policy_by_tables(c, variant, left, z, decision, opt_specification, &e);
  else
    policy_by_lookahead(c, variant, left, z, decision, opt_specification, &e);
}

/* log of the interpolated pi, from Q at the vertices. */
static void log_by_tables(const control *c, size_t variant, int left, const double *z,
                          double *log_decision, const evaluation *e)
{
  const size_t actions = c->sizes.actions;
  const double *quality = c->quality + control_row(c, variant, left);
  const size_t count = idm_lattice_locate(c->lattice, z, e->vertex, e->weight, e->locate);
  for (size_t u = 0; u < actions; u++) log_decision[u] = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    for (size_t u = 0; u < actions; u++) e->q[u] = quality[u * c->padded + e->vertex[i]];
    idm_soft_logs(control_temperature(c, variant), actions, c->numbers.action_prior, e->q,
                  e->log_pi);
    for (size_t u = 0; u < actions; u++)
      log_decision[u] = idm_log_add_exp(log_decision[u], log(e->weight[i]) + e->log_pi[u]);
  }
}

void idm_control_log_policy(const void *content, size_t variant, int steps, const double *z,
                            double *log_decision, double *scratch)
{
  const control *c = content;
  const int left = control_left(c, steps);
  const evaluation e = evaluation_of(c, left, scratch);
  if (interpolates(c)) {
    log_by_tables(c, variant, left, z, log_decision, &e);
    return;
  }
  lookahead(c, variant, left, z, &e);
  idm_soft_logs(control_temperature(c, variant), c->sizes.actions, c->numbers.action_prior, e.q,
                log_decision);
}

double idm_control_value(const void *content, size_t variant, int steps, const double *z,
                         double *scratch)
{
  const control *c = content;
  const int left = control_left(c, steps);
  const evaluation e = evaluation_of(c, left, scratch);
  if (!interpolates(c)) {
    lookahead(c, variant, left, z, &e);
    return idm_control_award(c, z) +
           idm_soft(c->alpha[variant], c->sizes.actions, c->numbers.action_prior, e.q, NULL);
  }
  const double *v = control_layer(c, variant, left);
  const size_t count = idm_lattice_locate(c->lattice, z, e.vertex, e.weight, e.locate);
  double value = idm_control_award(c, z);
  for (size_t i = 0; i < count; i++) value += e.weight[i] * v[e.vertex[i]];
  return value;
}

void idm_control_quality(const void *content, size_t variant, int steps, const double *z,
                         double *quality, double *scratch)
{
  const control *c = content;
  const int left = control_left(c, steps);
  const evaluation e = evaluation_of(c, left, scratch);
  const size_t actions = c->sizes.actions;
  if (interpolates(c)) {
    const size_t count = idm_lattice_locate(c->lattice, z, e.vertex, e.weight, e.locate);
    interpolate(c, c->quality + control_row(c, variant, left), actions, count, &e, quality);
  } else {
    lookahead(c, variant, left, z, &e);
    memcpy(quality, e.q, actions * sizeof *quality);
  }
  const double award = idm_control_award(c, z);
  for (size_t u = 0; u < actions; u++) quality[u] += award;
}
