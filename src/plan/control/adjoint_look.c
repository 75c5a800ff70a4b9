/* The derivative in reverse of one step of lookahead, at a belief off the lattice.
 *
 * K(z,u,m) is differentiated as it is computed: p(x) V(z') is linear in the joint p(s',x) within a
 * cell of the lattice, so that its derivative is the cell's own slope; so is the award for
 * certainty but for its jumps. Where the update is not Bayes' rule adjoint_dynamics.c does it. */
#include <math.h>

#include "base/soft_slope.h"
#include "plan/control/adjoint_dynamics.h"
#include "plan/control/adjoint_look.h"
#include "plan/control/backup.h"
#include "plan/control/plane.h"

/* One (action, model). */
typedef struct world {
  idm_world is;
  const int *group; /* [x] */
  size_t at;        /* of K among [action][model] */
} world;

static world world_of(const control *c, size_t u, size_t m)
{
  return (world){.is = control_world(c, u, m),
                 .group = c->group + (m * c->sizes.actions + u) * c->sizes.observations,
                 .at = u * c->models + m};
}

/* d(p(group) f(z')) / d emitter, f having the slopes [s'] and being 0 with them: the group's
 * observations share z', so that theirs is a sum of joints. */
static void gain(const adjoint *a, const world *w, double factor, const double *slope)
{
  for (size_t s = 0; s < w->is.states; s++)
    a->look.gained[s] += factor * a->look.seen[s] * idm_filter_by_emitter(&w->is, slope, s);
}

/* --- one group of observations -------------------------------------------------------------- */

/* The value of the successor: entries of V, and gamma d(p V)/d emitter. */
static void look_ahead(adjoint *a, const double *v, const world *w, double total)
{
  const control *c = a->c;
  const adjoint_look *look = &a->look;
  const idm_sizes n = c->sizes;
  adjoint_cell *cell = &a->cell;
  cell->count = idm_lattice_cell(c->lattice, look->posterior, cell->vertex, cell->weight,
                                 cell->step, cell->locate);
  const idm_certain certain = idm_belief_certain(c->numbers.certainty, n.states, look->posterior);
  double value = c->numbers.arrival * certain.share;
  look->certain[w->at] += total * certain.share;
  size_t *entries = &look->entries[w->at];
  const size_t first = w->at * n.observations * n.states;
  for (size_t i = 0; i < cell->count; i++) {
    cell->at[i] = v[cell->vertex[i]];
    value += cell->weight[i] * cell->at[i];
    if (!(cell->weight[i] > 0)) continue;
    look->column[first + *entries] = cell->vertex[i];
    look->value[first + *entries] = total * cell->weight[i];
    ++*entries;
  }
  look->future[w->at] += total * value;
  idm_lattice_slope(c->lattice, cell->count, cell->step, cell->at, cell->slope);
  cell->slope[certain.state] += c->numbers.arrival * certain.slope;
  for (size_t s = 0; s < n.states; s++) value -= cell->slope[s] * look->posterior[s];
  for (size_t s = 0; s < n.states; s++) cell->slope[s] += value;
  gain(a, w, c->numbers.discount, cell->slope);
}

/* -p (log p - log prior) for the probability of observation y, or of its whole group where they are
 * merged; eta times its derivative goes into `gained`. */
static double surprise_of(const adjoint *a, const world *w, double p, double log_prior, size_t y,
                          bool merged)
{
  const idm_sizes n = a->c->sizes;
  if (!(p > 0)) return 0;
  const double off = log(p) - log_prior;
  const double factor = -a->c->numbers.eta * (off + 1);
  for (size_t s = 0; s < n.states; s++)
    a->look.gained[s] +=
        factor * (merged ? a->look.seen[s] : w->is.emission[s * n.observations + y]);
  return -p * off;
}

/* The Dirichlet prior moves with the posterior: eta p(group) d log prior / d emitter. */
static void prior_moves(adjoint *a, const world *w)
{
  const control *c = a->c;
  const idm_sizes n = c->sizes;
  if (!c->belief_prior || c->numbers.eta == 0) return;
  const double half_cell = 0.5 / c->lattice->resolution;
  double *slope = a->cell.slope;
  const double *q = a->look.posterior;
  double mean = 0;
  for (size_t s = 0; s < n.states; s++) {
    slope[s] = (c->belief_prior[s] - 1) / (q[s] + half_cell);
    mean += q[s] * slope[s];
  }
  for (size_t s = 0; s < n.states; s++) slope[s] -= mean;
  gain(a, w, c->numbers.eta, slope);
}

static void look_group(adjoint *a, const double *v, const world *w, size_t x)
{
  const control *c = a->c;
  const adjoint_look *look = &a->look;
  const idm_sizes n = c->sizes;
  const bool merge = c->agent.surprise == IDM_SURPRISE_BELIEF;
  if (!idm_group_correct(&w->is, w->group, x, look->emitter, look->posterior)) return;
  const double log_prior =
      idm_belief_prior_log(n.states, c->belief_prior, c->lattice->resolution, look->posterior);
  double total = 0;
  memset(look->seen, 0, n.states * sizeof *look->seen);
  for (size_t y = x; y < n.observations; y++) {
    if (w->group[y] != (int)x) continue;
    double each = 0;
    for (size_t s = 0; s < n.states; s++) {
      look->seen[s] += w->is.emission[s * n.observations + y];
      each += look->emitter[s] * w->is.emission[s * n.observations + y];
    }
    total += each;
    if (!merge) look->surprise[w->at] += surprise_of(a, w, each, log_prior, y, false);
  }
  if (merge) look->surprise[w->at] += surprise_of(a, w, total, log_prior, x, true);
  prior_moves(a, w);
  look_ahead(a, v, w, total);
}

/* All groups at once, over three states. */
static void look_in_plane(adjoint *a, const double *v, const world *w)
{
  const control *c = a->c;
  const adjoint_look *look = &a->look;
  const size_t n = w->is.observations;
  size_t at = w->at * n * 3;
  for (size_t x = 0; x < n; x++) {
    const double *seen = w->is.emission + x;
    const double one = look->emitter[1] * seen[n], two = look->emitter[2] * seen[2 * n];
    const double p = look->emitter[0] * seen[0] + one + two;
    if (!(p > 0)) continue;
    const plane_cell cell = plane_locate(c->lattice->resolution, one / p, two / p);
    double slope[3];
    const double value = plane_slope(c, &cell, v, one / p, two / p, slope);
    look->future[w->at] += p * value;
    look->surprise[w->at] -= p * log(p); /* nothing but the slope by eta depends on it */
    if (c->awards) look->certain[w->at] += p * plane_certain(c, 1, one / p, two / p).share;
    for (size_t s = 0; s < 3; s++) look->gained[s] += c->numbers.discount * slope[s] * seen[s * n];
    look->column[at] = (uint32_t)cell.at;
    look->column[at + 1] = (uint32_t)(cell.at + cell.middle);
    look->column[at + 2] = (uint32_t)(cell.at + cell.last);
    look->value[at] = p * (1 - cell.high);
    look->value[at + 1] = p * (cell.high - cell.low);
    look->value[at + 2] = p * cell.low;
    at += 3;
  }
  look->entries[w->at] = at - w->at * n * 3;
}

/* --- one belief ----------------------------------------------------------------------------- */

/* K of one (action, model) with its derivatives. */
static void look_model(adjoint *a, const double *v, const double *z, size_t u, size_t m)
{
  const control *c = a->c;
  const adjoint_look *look = &a->look;
  const idm_sizes n = c->sizes;
  const world w = world_of(c, u, m);
  idm_filter_emitter(&w.is, z, look->emitter);
  look->future[w.at] = look->surprise[w.at] = look->certain[w.at] = 0;
  look->entries[w.at] = 0;
  memset(look->gained, 0, n.states * sizeof *look->gained);
  const bool plane = c->plane[m * n.actions + u] && c->numbers.eta == 0 && !c->belief_prior;
  if (plane) look_in_plane(a, v, &w);
  for (size_t x = 0; x < n.observations && !plane; x++)
    if (w.group[x] == (int)x) look_group(a, v, &w, x);
  look->k[w.at] = c->numbers.discount * look->future[w.at] + c->numbers.eta * look->surprise[w.at];
  double *moved = look->moved + w.at * n.states;
  if (w.is.update.bent) {
    idm_adjoint_belief(a, v, z, u, m, moved);
    return;
  }
  for (size_t s = 0; s < n.states; s++) moved[s] = idm_filter_by_state(&w.is, look->gained, s);
}

/* Derivatives of K by gamma, eta, the award, the values that follow, z and the dynamics. */
static void return_k(adjoint *a, const idm_policy_slope *point, double *to, size_t at, double slope)
{
  const control *c = a->c;
  const adjoint_look *look = &a->look;
  const size_t width = c->sizes.observations * c->sizes.states;
  if (slope == 0) return;
  a->sums.discount += slope * look->future[at];
  a->sums.eta += slope * look->surprise[at];
  const double factor = c->numbers.discount * slope;
  a->sums.award +=
      factor * look->certain[at] * idm_control_arrivals(c, control_left(c, point->steps));
  for (size_t e = 0; e < look->entries[at]; e++)
    to[look->column[at * width + e]] += factor * look->value[at * width + e];
  for (size_t s = 0; point->opt_belief_slope && s < c->sizes.states; s++)
    point->opt_belief_slope[s] += slope * look->moved[at * c->sizes.states + s];
  if (c->primes) idm_adjoint_prior(a, point->belief, at / c->models, at % c->models, slope);
  if (c->learns)
    idm_adjoint_dynamics(a, c->value + (to - a->value), point->belief, at / c->models,
                         at % c->models, slope);
}

/* The models of one action, from the slope of its Q and of its sigma. */
static void return_models(adjoint *a, const idm_policy_slope *point, double *to, size_t u,
                          double q_slope, double future)
{
  const control *c = a->c;
  const adjoint_look *look = &a->look;
  const double *prior = c->numbers.model_prior;
  const double *k = look->k + u * c->models;
  const double *asked = point->specification_slope + u * c->models;
  const double inverse_beta = adjoint_inverse(c->numbers.beta);
  double inverse;
  idm_soft(c->numbers.beta, c->models, prior, k, look->sigma);
  idm_soft_slope(c->numbers.beta, c->models, prior, k, future, look->sigma, &inverse,
                 look->weights);
  a->sums.inverse_beta += q_slope * inverse;
  double mean = 0;
  for (size_t m = 0; m < c->models; m++) mean += look->sigma[m] * asked[m];
  for (size_t m = 0; m < c->models; m++) {
    const double h = look->sigma[m] * (asked[m] - mean);
    if (adjoint_moves(c->numbers.beta)) a->sums.inverse_beta += h * (k[m] - future);
    a->sums.model_prior[m] += q_slope * look->weights[m] + (prior[m] > 0 ? h / prior[m] : 0);
    return_k(a, point, to, u * c->models + m, q_slope * look->sigma[m] + h * inverse_beta);
  }
}

/* Derivatives of Q by the weights of utilities of beliefs, and through these utilities by z. */
static void return_worth(adjoint *a, const idm_policy_slope *point, size_t u, double q_slope)
{
  const control *c = a->c;
  for (size_t t = 0; t < WORTH_TERMS; t++)
    a->sums.worth[t * c->sizes.actions + u] += q_slope * a->look.term[t];
  if (c->worthy && point->opt_belief_slope)
    idm_worth_slope(&c->numbers.worth, u, point->belief, q_slope, point->opt_belief_slope);
}

/* One action, from the slope g of its logit. */
static void return_action(adjoint *a, const idm_policy_slope *point, double *to, size_t u, double g)
{
  const control *c = a->c;
  const size_t k = c->sizes.states;
  const size_t row = (point->variant * c->sizes.actions + u) * k;
  const double q_slope = g * adjoint_inverse(c->numbers.temperature);
  if (adjoint_moves(c->numbers.temperature))
    a->sums.inverse_temperature[point->variant] += g * a->look.q[u];
  if (c->numbers.action_prior[u] > 0) a->sums.action_prior[u] += g / c->numbers.action_prior[u];
  for (size_t s = 0; s < k; s++) {
    a->sums.utility[row + s] += point->belief[s] * q_slope;
    if (point->opt_belief_slope) point->opt_belief_slope[s] += c->utility[row + s] * q_slope;
  }
  return_worth(a, point, u, q_slope);
  if (c->setting->terminal[u]) {
    for (size_t m = 0; m < c->models; m++)
      a->sums.model_prior[m] += point->specification_slope[u * c->models + m];
    return;
  }
  const double reward = idm_control_reward(c, point->variant, point->belief, u);
  return_models(a, point, to, u, q_slope, a->look.q[u] - reward);
}

void idm_adjoint_look(adjoint *a, const idm_policy_slope *point)
{
  control *c = a->c;
  const size_t actions = c->sizes.actions;
  const int left = control_left(c, point->steps);
  const int follows = c->setting->horizon > 0 ? left - 1 : 1;
  c->numbers.arrival = idm_control_arrival(c, left);
  const double *v = control_layer(c, point->variant, follows);
  double *to = a->value + (v - c->value);
  double total = 0;
  idm_worth_terms(c->sizes.states, point->belief, a->look.term);
  for (size_t u = 0; u < actions; u++) {
    total += point->log_decision_slope[u];
    a->look.q[u] = idm_control_reward(c, point->variant, point->belief, u);
    if (c->setting->terminal[u]) continue;
    for (size_t m = 0; m < c->models; m++) look_model(a, v, point->belief, u, m);
    a->look.q[u] += idm_soft(c->numbers.beta, c->models, c->numbers.model_prior,
                             a->look.k + u * c->models, NULL);
  }
  for (size_t u = 0; u < actions; u++)
    return_action(a, point, to, u, point->log_decision_slope[u] - total * point->decision[u]);
}
