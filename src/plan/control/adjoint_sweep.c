/* The derivative in reverse over a layer of the lattice: about the cost of one backup. */
#include <math.h>

#include "base/soft_slope.h"
#include "base/vector.h"
#include "plan/control/adjoint_dynamics.h"
#include "plan/control/adjoint_sweep.h"
#include "plan/control/backup.h"

/* One number a lane. */
typedef struct lanes {
  double at[IDM_LANES];
} lanes;

/* Scratch of a sweep, cut from adjoint->lanes. The second half are sums over the slices. */
typedef struct sweep {
  lanes *q;              /* [action] */
  lanes *q_slope;        /* [action] */
  lanes *pi;             /* [action] */
  lanes *action_weights; /* [action] */
  lanes *k;              /* [model] */
  lanes *k_slope;        /* [model] */
  lanes *expected;       /* [model] */
  lanes *sigma;          /* [model] */
  lanes *sigma_slope;    /* [model]: of the logits */
  lanes *model_weights;  /* [model] */
  lanes *sums;           /* first of the sums */
  lanes *discount;
  lanes *eta;
  lanes *inverse_alpha;
  lanes *inverse_beta;
  lanes *inverse_temperature;
  lanes *action_prior; /* [action] */
  lanes *model_prior;  /* [model] */
  lanes *award;
  lanes *worth;   /* [term][action] */
  lanes *utility; /* [action][state] */
} sweep;

size_t idm_adjoint_lanes(const control *c)
{
  return ((5 + WORTH_TERMS) * c->sizes.actions + 7 * c->models + 6 +
          c->sizes.actions * c->sizes.states) *
         IDM_LANES;
}

static sweep sweep_of(const adjoint *a)
{
  const size_t actions = a->c->sizes.actions;
  const size_t models = a->c->models;
  sweep s;
  s.q = (lanes *)(void *)a->lanes;
  s.q_slope = s.q + actions;
  s.pi = s.q_slope + actions;
  s.action_weights = s.pi + actions;
  s.k = s.action_weights + actions;
  s.k_slope = s.k + models;
  s.expected = s.k_slope + models;
  s.sigma = s.expected + models;
  s.sigma_slope = s.sigma + models;
  s.model_weights = s.sigma_slope + models;
  s.sums = s.model_weights + models;
  s.discount = s.sums;
  s.eta = s.discount + 1;
  s.inverse_alpha = s.eta + 1;
  s.inverse_beta = s.inverse_alpha + 1;
  s.inverse_temperature = s.inverse_beta + 1;
  s.action_prior = s.inverse_temperature + 1;
  s.model_prior = s.action_prior + actions;
  s.award = s.model_prior + models;
  s.worth = s.award + 1;
  s.utility = s.worth + WORTH_TERMS * actions;
  return s;
}

IDM_INLINE void load(lanes *to, const double *from)
{
  memcpy(to->at, from, sizeof to->at);
}

/* sum += x y. */
IDM_INLINE void add_product(lanes *restrict sum, const lanes *restrict x, const lanes *restrict y)
{
  for (int l = 0; l < IDM_LANES; l++) sum->at[l] += x->at[l] * y->at[l];
}

/* sum += factor x. */
IDM_INLINE void add_scaled(lanes *restrict sum, double factor, const lanes *restrict x)
{
  for (int l = 0; l < IDM_LANES; l++) sum->at[l] += factor * x->at[l];
}

IDM_INLINE void clear(lanes *x)
{
  memset(x, 0, sizeof *x);
}

/* --- the tables' own slopes ----------------------------------------------------------------- */

/* From slopes in log pi to slopes in the logits: g_u = R_u - pi_u sum R. */
IDM_INLINE void slice_logits(const control *c, const adjoint_layer *layer, size_t at, lanes *g)
{
  lanes total = {{0}};
  for (size_t u = 0; u < c->sizes.actions; u++) {
    load(&g[u], layer->opt_decision_slope + u * c->padded + at);
    for (int l = 0; l < IDM_LANES; l++) total.at[l] += g[u].at[l];
  }
  for (size_t u = 0; u < c->sizes.actions; u++) {
    const double *pi = layer->decision + u * c->padded + at;
    for (int l = 0; l < IDM_LANES; l++) g[u].at[l] -= pi[l] * total.at[l];
  }
}

/* The same for sigma of one action: h_m = sigma_m (s_m - sum sigma s). */
IDM_INLINE void slice_specification(const control *c, const adjoint_layer *layer, size_t at,
                                    size_t u, const lanes *sigma, lanes *h)
{
  lanes mean = {{0}};
  for (size_t m = 0; m < c->models; m++) {
    load(&h[m], layer->opt_specification_slope + (u * c->models + m) * c->padded + at);
    add_product(&mean, &sigma[m], &h[m]);
  }
  for (size_t m = 0; m < c->models; m++)
    for (int l = 0; l < IDM_LANES; l++) h[m].at[l] = sigma[m].at[l] * (h[m].at[l] - mean.at[l]);
}

IDM_INLINE void load_sigma(const control *c, const adjoint_layer *layer, size_t at, size_t u,
                           lanes *sigma)
{
  for (size_t m = 0; m < c->models; m++)
    load(&sigma[m], layer->specification + (u * c->models + m) * c->padded + at);
}

/* Slope of K: Qbar sigma + h/beta. */
IDM_INLINE void slice_k_slope(const control *c, const lanes *q_slope, const sweep *s, bool direct)
{
  const double inverse = adjoint_inverse(c->numbers.beta);
  for (size_t m = 0; m < c->models; m++) {
    for (int l = 0; l < IDM_LANES; l++) s->k_slope[m].at[l] = q_slope->at[l] * s->sigma[m].at[l];
    if (direct) add_scaled(&s->k_slope[m], inverse, &s->sigma_slope[m]);
  }
}

/* to += gamma Kbar times the successor rows. */
IDM_INLINE void slice_scatter(const control *c, size_t slice, size_t u, const sweep *s, double *to)
{
  for (size_t m = 0; m < c->models; m++) {
    lanes scale;
    for (int l = 0; l < IDM_LANES; l++) scale.at[l] = c->numbers.discount * s->k_slope[m].at[l];
    idm_control_scatter(c, u, m, slice, scale.at, to);
  }
}

IDM_KERNEL(, idm_adjoint_direct, (adjoint * a, const adjoint_layer *layer, double *to),
           (a, layer, to))
{
  const control *c = a->c;
  const sweep s = sweep_of(a);
  const double inverse = adjoint_inverse(c->numbers.temperature);
  for (size_t slice = 0; slice < c->successors->slices; slice++) {
    const size_t at = slice * IDM_LANES;
    if (!layer->touched[slice]) continue;
    slice_logits(c, layer, at, s.q_slope);
    for (size_t u = 0; u < c->sizes.actions; u++) {
      if (c->setting->terminal[u]) continue;
      for (int l = 0; l < IDM_LANES; l++) s.q_slope[u].at[l] *= inverse;
      load_sigma(c, layer, at, u, s.sigma);
      slice_specification(c, layer, at, u, s.sigma, s.sigma_slope);
      slice_k_slope(c, &s.q_slope[u], &s, true);
      slice_scatter(c, slice, u, &s, to);
    }
  }
}

/* --- everything ----------------------------------------------------------------------------- */

/* Slopes of Q from the policy shown: into q_slope, and into the sums of 1/T and pi~. */
IDM_INLINE void shown_slopes(const control *c, const adjoint_layer *layer, size_t at,
                             const sweep *s)
{
  const double inverse = adjoint_inverse(c->numbers.temperature);
  slice_logits(c, layer, at, s->q_slope);
  for (size_t u = 0; u < c->sizes.actions; u++) {
    if (adjoint_moves(c->numbers.temperature))
      add_product(s->inverse_temperature, &s->q_slope[u], &s->q[u]);
    if (c->numbers.action_prior[u] > 0)
      add_scaled(&s->action_prior[u], 1 / c->numbers.action_prior[u], &s->q_slope[u]);
    for (int l = 0; l < IDM_LANES; l++) s->q_slope[u].at[l] *= inverse;
  }
}

/* Slopes of Q from V = soft_alpha Q, whose slope is lambda. */
IDM_INLINE void value_slopes(const control *c, const double *lambda, const sweep *s)
{
  lanes value, inverse, weight;
  load(&weight, lambda);
  idm_soft_block(c->numbers.alpha, c->sizes.actions, c->numbers.action_prior, s->q->at, value.at,
                 s->pi->at);
  idm_soft_slope_block(c->numbers.alpha, c->sizes.actions, c->numbers.action_prior, s->q->at,
                       value.at, s->pi->at, inverse.at, s->action_weights->at);
  add_product(s->inverse_alpha, &weight, &inverse);
  for (size_t u = 0; u < c->sizes.actions; u++) {
    add_product(&s->action_prior[u], &weight, &s->action_weights[u]);
    add_product(&s->q_slope[u], &weight, &s->pi[u]);
  }
}

/* E V and K of one action's models over a slice; the sums of gamma and eta. */
IDM_INLINE void model_slopes(const control *c, const adjoint_layer *layer, size_t slice, size_t u,
                             const sweep *s)
{
  for (size_t m = 0; m < c->models; m++) {
    const idm_successor_block *block = &c->successors->block[u * c->models + m];
    lanes surprise, certain;
    if (block->rows == 1) {
      const double expected =
          idm_successor_row(block, 0, layer->v) + c->numbers.arrival * block->certain[0];
      for (int l = 0; l < IDM_LANES; l++) {
        s->expected[m].at[l] = expected;
        surprise.at[l] = block->surprise[0];
        certain.at[l] = block->certain[0];
      }
    } else {
      idm_successor_expect(block, slice, layer->v, s->expected[m].at);
      load(&surprise, block->surprise + slice * IDM_LANES);
      load(&certain, block->certain + slice * IDM_LANES);
      add_scaled(&s->expected[m], c->numbers.arrival, &certain);
    }
    add_product(s->discount, &s->k_slope[m], &s->expected[m]);
    add_product(s->eta, &s->k_slope[m], &surprise);
    add_product(s->award, &s->k_slope[m], &certain);
    for (int l = 0; l < IDM_LANES; l++)
      s->k[m].at[l] = c->numbers.discount * s->expected[m].at[l] + c->numbers.eta * surprise.at[l];
  }
}

/* The sums of 1/beta and sigma~, from the slopes of Q and of sigma's logits. */
IDM_INLINE void prior_slopes(const control *c, size_t at, size_t u, const sweep *s, bool direct)
{
  if (c->models == 1) return;
  const double *prior = c->numbers.model_prior;
  const double *reward = c->reward + u * c->padded + at;
  lanes future, inverse;
  for (int l = 0; l < IDM_LANES; l++) future.at[l] = s->q[u].at[l] - reward[l];
  idm_soft_slope_block(c->numbers.beta, c->models, prior, s->k->at, future.at, s->sigma->at,
                       inverse.at, s->model_weights->at);
  add_product(s->inverse_beta, &s->q_slope[u], &inverse);
  for (size_t m = 0; m < c->models; m++) {
    add_product(&s->model_prior[m], &s->q_slope[u], &s->model_weights[m]);
    if (!direct) continue;
    if (prior[m] > 0) add_scaled(&s->model_prior[m], 1 / prior[m], &s->sigma_slope[m]);
    for (int l = 0; adjoint_moves(c->numbers.beta) && l < IDM_LANES; l++)
      s->inverse_beta->at[l] += s->sigma_slope[m].at[l] * (s->k[m].at[l] - future.at[l]);
  }
}

/* A terminal action recognises nothing: its sigma is sigma~. */
static void terminal_slopes(const control *c, const adjoint_layer *layer, size_t at, size_t u,
                            const sweep *s)
{
  for (size_t m = 0; m < c->models; m++) {
    const double *slope = layer->opt_specification_slope + (u * c->models + m) * c->padded + at;
    for (int l = 0; l < IDM_LANES; l++) s->model_prior[m].at[l] += slope[l];
  }
}

/* Derivatives by the prior of beliefs, from those by K of one action's models over a slice. */
static void belief_prior_slopes(adjoint *a, size_t slice, size_t u, const sweep *s)
{
  const control *c = a->c;
  const size_t first = slice * IDM_LANES;
  for (size_t i = first; i < first + IDM_LANES && i < c->lattice->points; i++)
    for (size_t m = 0; m < c->models; m++) {
      const double slope = s->k_slope[m].at[i - first];
      if (c->lattice->corners)
        idm_adjoint_state_prior(a, i, u, m, slope);
      else
        idm_adjoint_prior(a, c->lattice->belief + i * c->sizes.states, u, m, slope);
    }
}

/* What the slopes of K of one action's models over a slice ask of the dynamics. */
static void dynamics_slopes(adjoint *a, const adjoint_layer *layer, size_t slice, size_t u,
                            const sweep *s)
{
  const control *c = a->c;
  const size_t first = slice * IDM_LANES;
  for (size_t i = first; i < first + IDM_LANES && i < c->lattice->points; i++)
    for (size_t m = 0; m < c->models; m++) {
      const double slope = s->k_slope[m].at[i - first];
      if (c->lattice->corners)
        idm_adjoint_corner(a, layer->v, i, u, m, slope);
      else
        idm_adjoint_dynamics(a, layer->v, c->lattice->belief + i * c->sizes.states, u, m, slope);
    }
}

static double total_of(const lanes *x)
{
  double sum = 0;
  for (int l = 0; l < IDM_LANES; l++) sum += x->at[l];
  return sum;
}

static void reduce(adjoint *a, const adjoint_layer *layer, const sweep *s)
{
  const control *c = a->c;
  const size_t variant = layer->variant;
  const size_t pairs = c->sizes.actions * c->sizes.states;
  a->sums.discount += total_of(s->discount);
  a->sums.eta += total_of(s->eta);
  a->sums.inverse_alpha[variant] += total_of(s->inverse_alpha);
  a->sums.inverse_beta += total_of(s->inverse_beta);
  a->sums.inverse_temperature[variant] += total_of(s->inverse_temperature);
  for (size_t u = 0; u < c->sizes.actions; u++)
    a->sums.action_prior[u] += total_of(&s->action_prior[u]);
  for (size_t m = 0; m < c->models; m++) a->sums.model_prior[m] += total_of(&s->model_prior[m]);
  a->sums.award += c->numbers.discount * layer->arrivals * total_of(s->award);
  const double share = idm_control_corner_share(c);
  for (size_t i = 0; i < WORTH_TERMS * c->sizes.actions; i++) {
    const double sum = total_of(&s->worth[i]);
    a->sums.worth[i] += sum;
    /* At corners the likeliest state is certain. */
    if (i / c->sizes.actions == WORTH_GUESS) a->sums.award += share * sum;
  }
  for (size_t i = 0; i < pairs; i++)
    a->sums.utility[variant * pairs + i] += total_of(&s->utility[i]);
}

/* Q is linear in the utilities, by the belief. */
IDM_INLINE void utility_slopes(const adjoint *a, size_t at, size_t u, const sweep *s)
{
  const control *c = a->c;
  const size_t k = c->sizes.states;
  if (c->lattice->corners) {
    for (size_t l = 0; l < IDM_LANES && at + l < k; l++)
      s->utility[u * k + at + l].at[0] += s->q_slope[u].at[l];
    return;
  }
  for (size_t state = 0; state < k; state++) {
    lanes z;
    load(&z, a->belief + state * c->padded + at);
    add_product(&s->utility[u * k + state], &z, &s->q_slope[u]);
  }
}

/* And in the weights of beliefs themselves. */
IDM_INLINE void worth_slopes(const adjoint *a, size_t at, size_t u, const sweep *s)
{
  const control *c = a->c;
  for (size_t t = 0; t < WORTH_TERMS; t++) {
    lanes term;
    load(&term, a->term + t * c->padded + at);
    add_product(&s->worth[t * c->sizes.actions + u], &term, &s->q_slope[u]);
  }
}

IDM_INLINE void slice_sweep(adjoint *a, const adjoint_layer *layer, size_t slice, const sweep *s,
                            bool direct, double *opt_to)
{
  const control *c = a->c;
  const size_t at = slice * IDM_LANES;
  for (size_t u = 0; u < c->sizes.actions; u++) {
    load(&s->q[u], layer->quality + u * c->padded + at);
    clear(&s->q_slope[u]);
  }
  if (direct) shown_slopes(c, layer, at, s);
  if (layer->opt_lambda) value_slopes(c, layer->opt_lambda + at, s);
  for (size_t u = 0; u < c->sizes.actions; u++) {
    utility_slopes(a, at, u, s);
    worth_slopes(a, at, u, s);
    if (c->setting->terminal[u]) {
      if (direct) terminal_slopes(c, layer, at, u, s);
      continue;
    }
    load_sigma(c, layer, at, u, s->sigma);
    if (direct) slice_specification(c, layer, at, u, s->sigma, s->sigma_slope);
    slice_k_slope(c, &s->q_slope[u], s, direct);
    model_slopes(c, layer, slice, u, s);
    prior_slopes(c, at, u, s, direct);
    if (c->primes) belief_prior_slopes(a, slice, u, s);
    if (c->learns) dynamics_slopes(a, layer, slice, u, s);
    if (opt_to) slice_scatter(c, slice, u, s, opt_to);
  }
}

IDM_KERNEL(, idm_adjoint_sweep, (adjoint * a, const adjoint_layer *layer, double *opt_to),
           (a, layer, opt_to))
{
  const control *c = a->c;
  const sweep s = sweep_of(a);
  const size_t sums = (size_t)(s.utility - s.sums) + c->sizes.actions * c->sizes.states;
  memset(s.sums, 0, sums * sizeof *s.sums);
  for (size_t slice = 0; slice < c->successors->slices; slice++) {
    const bool direct = layer->opt_decision_slope && layer->touched[slice];
    if (direct || layer->opt_lambda) slice_sweep(a, layer, slice, &s, direct, opt_to);
  }
  reduce(a, layer, &s);
}
