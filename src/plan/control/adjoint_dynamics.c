/* The derivative of K by what makes beliefs, at any of them.
 *
 * K = sum_x p(x) (gamma V(z') - eta (log p(x) - log prior(z'))): within a cell of the lattice V is
 * linear in z', which follows from z, tau and omega as p does. Observations that are merged share
 * z' and one logarithm; each has its own p. */
#include "plan/control/adjoint_dynamics.h"

#include <math.h>

#include "belief/filter_slope.h"
#include "plan/control/plane.h"

/* One K, and what is asked of it. */
typedef struct asked {
  idm_world world;
  const int *group; /* [x] */
  const double *v;
  const double *z;
  double slope;
  idm_filter_sink sink;
  double *emitter;   /* [state] */
  double *posterior; /* [state] */
  double *scratch;
} asked;

size_t idm_adjoint_dynamics_scratch(const control *c)
{
  return 2 * c->sizes.states + idm_filter_slope_scratch(c->sizes.states);
}

/* gamma V + eta log prior at the posterior into *ret_value (the prior's part into *ret_log_prior
 * too); its slopes into cell->slope. */
static void look_after(adjoint *a, const asked *k, double *ret_value, double *ret_log_prior)
{
  const control *c = a->c;
  const size_t states = c->sizes.states;
  const double half_cell = 0.5 / c->lattice->resolution;
  adjoint_cell *cell = &a->cell;
  cell->count = idm_lattice_cell(c->lattice, k->posterior, cell->vertex, cell->weight, cell->step,
                                 cell->locate);
  const idm_certain certain = idm_belief_certain(c->numbers.certainty, states, k->posterior);
  double value = c->numbers.arrival * certain.share;
  for (size_t i = 0; i < cell->count; i++) {
    cell->at[i] = k->v[cell->vertex[i]];
    value += cell->weight[i] * cell->at[i];
  }
  idm_lattice_slope(c->lattice, cell->count, cell->step, cell->at, cell->slope);
  cell->slope[certain.state] += c->numbers.arrival * certain.slope;
  *ret_value = c->numbers.discount * value;
  *ret_log_prior =
      idm_belief_prior_log(states, c->belief_prior, c->lattice->resolution, k->posterior);
  for (size_t s = 0; s < states; s++) {
    cell->slope[s] *= c->numbers.discount;
    if (c->belief_prior)
      cell->slope[s] += c->numbers.eta * (c->belief_prior[s] - 1) / (k->posterior[s] + half_cell);
  }
}

static double probability(const asked *k, size_t x)
{
  double p = 0;
  for (size_t s = 0; s < k->world.states; s++)
    p += k->emitter[s] * k->world.emission[s * k->world.observations + x];
  return p;
}

/* One group of observations. */
static void move_group(adjoint *a, const asked *k, size_t leader)
{
  const control *c = a->c;
  const bool merge = c->agent.surprise == IDM_SURPRISE_BELIEF;
  double value, log_prior, total = 0;
  if (!idm_group_correct(&k->world, k->group, leader, k->emitter, k->posterior)) return;
  look_after(a, k, &value, &log_prior);
  for (size_t x = leader; x < c->sizes.observations; x++)
    if (k->group[x] == (int)leader) total += probability(k, x);
  for (size_t x = leader; x < c->sizes.observations; x++) {
    const double p = k->group[x] == (int)leader ? probability(k, x) : 0;
    if (!(p > 0)) continue;
    const double seen = c->numbers.eta != 0
                            ? value - c->numbers.eta * (log(merge ? total : p) - log_prior + 1)
                            : value;
    idm_filter_slope(&k->world, k->z, x, a->cell.slope, k->slope * p, k->slope * seen, &k->sink,
                     k->scratch);
  }
}

/* Derivatives by the weights of the update, from those of p V(z') by the joint, [state], at Bayes'
 * rule: the posterior moves with the logarithms of emitter and likelihood, off their means. */
static void move_weights(const asked *k, size_t x, const double *log_emitter,
                         const double *log_emission, double p, const double *slope)
{
  const size_t n = k->world.observations;
  double mean[3] = {0, 0, 0}, sum[2] = {0, 0}; /* of slopes, priors and likelihoods */
  for (size_t s = 0; s < 3; s++) {
    const double q = k->emitter[s] * k->world.emission[s * n + x] / p;
    if (!(q > 0)) continue;
    mean[0] += q * slope[s];
    mean[1] += q * log_emitter[s];
    mean[2] += q * log_emission[s * n + x];
    sum[0] += q * slope[s] * log_emitter[s];
    sum[1] += q * slope[s] * log_emission[s * n + x];
  }
  *k->sink.prior += p * (sum[0] - mean[0] * mean[1]);
  *k->sink.evidence += p * (sum[1] - mean[0] * mean[2]);
}

/* All observations at once, over three states. */
static void move_in_plane(const control *c, const asked *k)
{
  const idm_world *w = &k->world;
  const size_t n = w->observations;
  const double *log_emission = c->log_emission + (w->emission - c->emission);
  double gained[3] = {0, 0, 0}, log_emitter[3];
  for (size_t s = 0; s < 3; s++) log_emitter[s] = log(k->emitter[s]);
  for (size_t x = 0; x < n; x++) {
    const double *seen = w->emission + x;
    const double one = k->emitter[1] * seen[n], two = k->emitter[2] * seen[2 * n];
    const double p = k->emitter[0] * seen[0] + one + two;
    if (!(p > 0)) continue;
    const plane_cell cell = plane_locate(c->lattice->resolution, one / p, two / p);
    double slope[3];
    plane_slope(c, &cell, k->v, one / p, two / p, slope);
    for (size_t s = 0; s < 3; s++) {
      slope[s] *= k->slope * c->numbers.discount;
      k->sink.emission[s * n + x] += slope[s] * k->emitter[s];
      gained[s] += slope[s] * seen[s * n];
    }
    move_weights(k, x, log_emitter, log_emission, p, slope);
  }
  for (size_t s = 0; s < 3; s++)
    for (size_t t = 0; t < 3; t++) k->sink.transition[s * 3 + t] += k->z[s] * gained[t];
}

/* One (action, model) with a slope of its K. */
static void ask(adjoint *a, const double *v, const double *z, size_t u, size_t m, double slope,
                idm_filter_sink sink)
{
  const control *c = a->c;
  const idm_sizes n = c->sizes;
  asked k = {.world = control_world(c, u, m),
             .group = c->group + (m * n.actions + u) * n.observations,
             .v = v,
             .z = z,
             .slope = slope,
             .sink = sink,
             .emitter = a->dynamics,
             .posterior = a->dynamics + n.states,
             .scratch = a->dynamics + 2 * n.states};
  idm_filter_emitter(&k.world, z, k.emitter);
  if (c->plane[m * n.actions + u] && c->numbers.eta == 0 && sink.emission && !c->belief_prior) {
    move_in_plane(c, &k);
    return;
  }
  for (size_t x = 0; x < n.observations; x++)
    if (k.group[x] == (int)x) move_group(a, &k, x);
}

void idm_adjoint_dynamics(adjoint *a, const double *v, const double *z, size_t u, size_t m,
                          double slope)
{
  const idm_sizes n = a->c->sizes;
  const size_t at = m * n.actions + u;
  const idm_filter_sink sink = {.transition = a->sums.transition + at * n.states * n.states,
                                .emission = a->sums.emission + at * n.states * n.observations,
                                .prior = &a->sums.prior_weight,
                                .evidence = &a->sums.evidence_weight};
  if (slope != 0) ask(a, v, z, u, m, slope, sink);
}

void idm_adjoint_belief(adjoint *a, const double *v, const double *z, size_t u, size_t m,
                        double *moved)
{
  memset(moved, 0, a->c->sizes.states * sizeof *moved);
  ask(a, v, z, u, m, 1, (idm_filter_sink){.belief = moved});
}

void idm_adjoint_corner(adjoint *a, const double *v, size_t state, size_t u, size_t m, double slope)
{
  const control *c = a->c;
  const size_t states = c->sizes.states;
  const size_t row = ((m * c->sizes.actions + u) * states + state) * states;
  if (slope == 0) return;
  for (size_t next = 0; next < states; next++) {
    const double p = c->transition[row + next];
    double by = c->numbers.discount * v[next];
    if (!(p > 0)) continue;
    if (c->numbers.eta != 0)
      by -= c->numbers.eta * (log(p) + 1 - idm_state_prior_log(states, c->belief_prior, next));
    a->sums.transition[row + next] += slope * by;
  }
}

/* eta p log prior of every state that may follow an observed one. */
static void move_state_prior(adjoint *a, size_t state, size_t u, size_t m, double factor)
{
  const control *c = a->c;
  const size_t states = c->sizes.states;
  const idm_moves *moves = c->setting->moves;
  const size_t row = moves ? u * states + state : (m * c->sizes.actions + u) * states + state;
  const size_t entries = moves ? moves->first[row + 1] - moves->first[row] : states;
  for (size_t i = 0; i < entries; i++) {
    const size_t next = moves ? moves->next[moves->first[row] + i] : i;
    const double p =
        moves ? moves->probability[moves->first[row] + i] : c->transition[row * states + i];
    if (p > 0)
      idm_state_prior_slope(states, c->belief_prior, next, factor * p, a->sums.belief_prior);
  }
}

void idm_adjoint_prior(adjoint *a, const double *z, size_t u, size_t m, double slope)
{
  const control *c = a->c;
  const size_t states = c->sizes.states, observations = c->sizes.observations;
  const idm_world world = control_world(c, u, m);
  const int *group = c->group + (m * c->sizes.actions + u) * observations;
  double *emitter = a->dynamics, *posterior = emitter + states;
  if (slope == 0 || c->numbers.eta == 0) return;
  idm_filter_emitter(&world, z, emitter);
  for (size_t leader = 0; leader < observations; leader++) {
    double total = 0;
    if (group[leader] != (int)leader ||
        !idm_group_correct(&world, group, leader, emitter, posterior))
      continue;
    for (size_t x = leader; x < observations; x++)
      for (size_t s = 0; group[x] == (int)leader && s < states; s++)
        total += emitter[s] * world.emission[s * observations + x];
    idm_belief_prior_slope(states, c->belief_prior, c->lattice->resolution, posterior,
                           slope * c->numbers.eta * total, a->sums.belief_prior);
  }
}

void idm_adjoint_state_prior(adjoint *a, size_t state, size_t u, size_t m, double slope)
{
  const double factor = slope * a->c->numbers.eta;
  if (factor != 0) move_state_prior(a, state, u, m, factor);
}
