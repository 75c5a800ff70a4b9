/* The forward recursion: internal occupancy, return, and the three complexities in nats. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/krylov.h"
#include "base/memory.h"
#include "plan/control/backup.h"
#include "plan/control/forward.h"

/* What one visit to a lattice point contributes, for each of the four totals. */
typedef struct contribution {
  double utility;
  double decision;
  double specification;
  double recognition;
} contribution;

typedef struct recursion {
  control *c;
  double *mass;        /* [padded]: occupancy */
  double *flow;        /* [padded] */
  double *residual;    /* [padded] */
  double *work;        /* of GMRES, and scratch for the start */
  contribution *visit; /* [points] */
  double *q;           /* [action] */
  double *pi;          /* [action] */
  double *k;           /* [action][model] */
  double *sigma;       /* [model] */
} recursion;

static void free_recursion(recursion *r)
{
  free(r->mass);
  free(r->flow);
  free(r->residual);
  free(r->work);
  free(r->visit);
  free(r->q);
  free(r->pi);
  free(r->k);
  free(r->sigma);
}

static idm_status prepare(recursion *r, control *c, idm_error *opt_error)
{
  *r = (recursion){.c = c};
  r->mass = idm_new(c->padded, sizeof *r->mass);
  r->flow = idm_new(c->padded, sizeof *r->flow);
  r->residual = idm_new(c->padded, sizeof *r->residual);
  r->work = idm_new(IDM_GMRES_WORK(c->basis) * c->padded, sizeof *r->work);
  r->visit = idm_new(c->lattice->points, sizeof *r->visit);
  r->q = idm_new(c->sizes.actions, sizeof *r->q);
  r->pi = idm_new(c->sizes.actions, sizeof *r->pi);
  r->k = idm_new(c->sizes.actions * c->models, sizeof *r->k);
  r->sigma = idm_new(c->models, sizeof *r->sigma);
  if (r->mass && r->flow && r->residual && r->work && r->visit && r->q && r->pi && r->k && r->sigma)
    return IDM_OK;
  free_recursion(r);
  return idm_fail_memory(opt_error);
}

/* The models' part of a visit under action u: KL of sigma, surprise, and the weights pi sigma. */
static void visit_models(recursion *r, size_t point, size_t u, contribution *at)
{
  control *c = r->c;
  const double *k = r->k + u * c->models;
  idm_soft(c->numbers.beta, c->models, c->numbers.model_prior, k, r->sigma);
  at->specification +=
      r->pi[u] * idm_soft_divergence(c->numbers.beta, c->models, c->numbers.model_prior, k);
  for (size_t m = 0; m < c->models; m++) {
    const idm_successor_block *block = &c->successors->block[u * c->models + m];
    const double surprise = block->surprise[block->rows == 1 ? 0 : point];
    at->recognition -= r->pi[u] * r->sigma[m] * surprise;
    double *mix = c->mix + (u * c->models + m) * c->padded;
    if (!c->forgetful[u]) {
      mix[point] = r->pi[u] * r->sigma[m];
    } else {
      c->constant[u * c->models + m] = r->sigma[m];
      if (m == 0) mix[point] = r->pi[u];
    }
  }
}

/* Policies at every point from the values v that follow; fills control->mix and the contributions.
 */
static void visit_points(recursion *r, const double *v)
{
  control *c = r->c;
  const double t = c->numbers.temperature;
  const double *prior = c->numbers.action_prior;
  for (size_t i = 0; i < c->lattice->points; i++) {
    contribution at = {0};
    idm_control_point(c, v, i, r->k, r->q);
    idm_soft(t, c->sizes.actions, prior, r->q, r->pi);
    at.decision = idm_soft_divergence(t, c->sizes.actions, prior, r->q);
    for (size_t u = 0; u < c->sizes.actions; u++) {
      at.utility += r->pi[u] * c->reward[u * c->padded + i];
      if (!c->setting->terminal[u]) visit_models(r, i, u, &at);
    }
    r->visit[i] = at;
  }
  idm_control_fold(c);
}

/* rho_0 on the lattice, and E V under it. */
static double place_start(recursion *r, const double *v, double *mass)
{
  const control *c = r->c;
  const size_t k = c->sizes.states;
  uint32_t *vertex = (uint32_t *)(void *)(r->work + 3 * k);
  double *weight = r->work;
  const size_t count =
      idm_lattice_locate(c->lattice, c->setting->start, vertex, weight, r->work + k);
  double expected = 0;
  memset(mass, 0, c->padded * sizeof *mass);
  for (size_t i = 0; i < count; i++) {
    mass[vertex[i]] += weight[i];
    expected += weight[i] * v[vertex[i]];
  }
  return expected;
}

static void add_visits(const recursion *r, const double *mass, idm_forward *forward)
{
  for (size_t i = 0; i < r->c->lattice->points; i++) {
    const contribution *at = &r->visit[i];
    forward->internal_return += mass[i] * at->utility;
    forward->decision += mass[i] * at->decision;
    forward->specification += mass[i] * at->specification;
    forward->recognition += mass[i] * at->recognition;
  }
}

/* residual = start - (I - gamma P') mass; returns its 1-norm. */
static double remainder_of(recursion *r, const double *start)
{
  idm_control_transposed(r->c, r->mass, r->flow);
  double norm = 0;
  for (size_t i = 0; i < r->c->padded; i++) {
    r->residual[i] = start[i] - r->flow[i];
    norm += fabs(r->residual[i]);
  }
  return norm;
}

/* mass = (I - gamma P')^-1 start: Krylov with refinement, then the recursion itself, which
 * contracts. */
static bool spread_mass(recursion *r, const double *start, double *step)
{
  enum { refinements = 30, recursions = 200000 };
  const double enough = 64 * DBL_EPSILON;
  const size_t n = r->c->padded;
  memcpy(r->mass, start, n * sizeof *r->mass);
  double norm = remainder_of(r, start);
  for (int i = 0; i < refinements && norm > enough; i++) {
    idm_gmres(n, idm_control_transposed, r->c, r->residual, step, 1e-8, r->c->basis, 400, r->work,
              NULL);
    for (size_t j = 0; j < n; j++) r->mass[j] += step[j];
    const double next = remainder_of(r, start);
    if (!(next < 0.5 * norm)) {
      for (size_t j = 0; j < n && !(next < norm); j++) r->mass[j] -= step[j];
      norm = remainder_of(r, start);
      break;
    }
    norm = next;
  }
  for (int i = 0; i < recursions && norm > enough; i++) {
    for (size_t j = 0; j < n; j++) r->mass[j] += r->residual[j];
    norm = remainder_of(r, start);
  }
  /* What is left over counts 1/(1 - gamma)-fold in the totals. */
  return norm <= 1e-10;
}

static idm_status forward_stationary(recursion *r, size_t variant, idm_forward *forward,
                                     idm_error *opt_error)
{
  control *c = r->c;
  const double *v = control_layer(c, variant, 1);
  double *start = idm_new(2 * c->padded, sizeof *start);
  if (!start) return idm_fail_memory(opt_error);
  const double weight = 1 - c->numbers.discount;
  visit_points(r, v);
  forward->value = weight * place_start(r, v, start);
  for (size_t i = 0; i < c->padded; i++) start[i] *= weight;
  const bool converged = spread_mass(r, start, start + c->padded);
  free(start);
  if (!converged) return idm_fail(opt_error, IDM_NUMERICAL, "the occupancy did not converge");
  add_visits(r, r->mass, forward);
  return IDM_OK;
}

/* With a horizon: discounted sums over the steps; `mass` ends as the discounted visits. */
static idm_status forward_horizon(recursion *r, size_t variant, idm_forward *forward,
                                  idm_error *opt_error)
{
  control *c = r->c;
  const size_t n = c->padded;
  double *now = idm_new(n, sizeof *now);
  if (!now) return idm_fail_memory(opt_error);
  forward->value = place_start(r, control_layer(c, variant, c->layers), now);
  memset(r->mass, 0, n * sizeof *r->mass);
  for (int left = c->layers; left > 0; left--) {
    visit_points(r, control_layer(c, variant, left - 1));
    add_visits(r, now, forward);
    idm_control_transposed(c, now, r->flow);
    for (size_t i = 0; i < n; i++) {
      r->mass[i] += now[i];
      now[i] -= r->flow[i]; /* gamma P' now */
    }
  }
  free(now);
  return IDM_OK;
}

idm_status idm_control_forward(void *content, size_t variant, idm_forward *forward,
                               double *opt_occupancy, idm_error *opt_error)
{
  control *c = content;
  *forward = (idm_forward){0};
  recursion r;
  idm_status status = prepare(&r, c, opt_error);
  if (status != IDM_OK) return status;
  idm_control_select(c, variant);
  status = c->setting->horizon > 0 ? forward_horizon(&r, variant, forward, opt_error)
                                   : forward_stationary(&r, variant, forward, opt_error);
  if (status == IDM_OK && opt_occupancy)
    memcpy(opt_occupancy, r.mass, c->lattice->points * sizeof *opt_occupancy);
  free_recursion(&r);
  return status;
}
