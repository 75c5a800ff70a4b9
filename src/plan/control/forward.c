/* Forward recursion: internal occupancy, return, and the three complexities in nats
 * (docs/method/control.md, 9). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "plan/control/control.h"

/* Accepted error of the occupancy, in the 1-norm. Within `near_one` of a discount of 1, accepted
 * loss of return per step by rounding of the values, relative to the largest utility. */
static const double max_error = 1e-8;
static const double near_one = 1e-5;
static const double max_loss = 1e-6;

/* Contribution of one visit to a lattice point to the totals. */
typedef struct contribution {
  double utility; /* of the decision, without awards for certainty */
  double arrival; /* awards for certainty of the successors */
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
  double *scratch;     /* [4][padded]: of the occupancy */
  contribution *visit; /* [points] */
  double *q;           /* [action] */
  double *pi;          /* [action] */
  double *k;           /* [action][model] */
  double *sigma;       /* [model] */
  double lowest;       /* of B*V - V over the points, at most 0 with a terminal action */
  double highest;
  double size; /* max |V| */
} recursion;

static void free_recursion(recursion *r)
{
  free(r->mass);
  free(r->flow);
  free(r->residual);
  free(r->work);
  free(r->scratch);
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
  r->scratch = idm_new(4 * c->padded, sizeof *r->scratch);
  r->visit = idm_new(c->lattice->points, sizeof *r->visit);
  r->q = idm_new(c->sizes.actions, sizeof *r->q);
  r->pi = idm_new(c->sizes.actions, sizeof *r->pi);
  r->k = idm_new(c->sizes.actions * c->models, sizeof *r->k);
  r->sigma = idm_new(c->models, sizeof *r->sigma);
  if (r->mass && r->flow && r->residual && r->work && r->scratch && r->visit && r->q && r->pi &&
      r->k && r->sigma)
    return IDM_OK;
  free_recursion(r);
  return idm_fail_memory(opt_error);
}

/* KL(sigma || sigma~), nats. sigma, [model], receives sigma(m|z,u). */
static double specification_weights(const control *c, const double *k, double *sigma)
{
  const double *prior = c->numbers.model_prior;
  idm_control_specify(c, k, sigma);
  if (!c->robust) return idm_soft_divergence(c->numbers.beta, c->models, prior, k);
  double kl = 0;
  for (size_t m = 0; m < c->models; m++)
    if (sigma[m] > 0) kl += sigma[m] * log(sigma[m] / prior[m]);
  return kl > 0 ? kl : 0;
}

/* Models' part of a visit under action u: KL of sigma, surprise, award, and the weights pi sigma.
 */
static void visit_models(recursion *r, size_t point, size_t u, contribution *contribution_at)
{
  control *c = r->c;
  const double *k = r->k + u * c->models;
  const double kl = specification_weights(c, k, r->sigma);
  contribution_at->specification += r->pi[u] * kl;
  for (size_t m = 0; m < c->models; m++) {
    const idm_successor_block *block = &c->successors->block[u * c->models + m];
    const size_t row = block->rows == 1 ? 0 : point;
    contribution_at->recognition -= r->pi[u] * r->sigma[m] * block->surprise[row];
    if (!c->lattice->corners)
      contribution_at->arrival +=
          r->pi[u] * r->sigma[m] * block->expected_certainty[row] * c->numbers.certainty_award;
    double *mix = c->mix + (u * c->models + m) * c->padded;
    if (!c->is_reset[u]) {
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
  r->lowest = c->any_terminal ? 0 : INFINITY;
  r->highest = c->any_terminal ? 0 : -INFINITY;
  r->size = 0;
  for (size_t i = 0; i < c->lattice->points; i++) {
    contribution contribution_at = {0};
    r->size = fmax(r->size, fabs(v[i]));
    const double change = idm_control_point(c, v, i, r->k, r->q) - v[i];
    r->lowest = fmin(r->lowest, change);
    r->highest = fmax(r->highest, change);
    idm_soft(t, c->sizes.actions, prior, r->q, r->pi);
    contribution_at.decision = idm_soft_divergence(t, c->sizes.actions, prior, r->q);
    for (size_t u = 0; u < c->sizes.actions; u++) {
      contribution_at.utility += r->pi[u] * c->reward[u * c->padded + i];
      if (!c->setting->terminal[u]) visit_models(r, i, u, &contribution_at);
    }
    r->visit[i] = contribution_at;
  }
  idm_control_fold(c);
}

/* Distributes the start belief over lattice points, into `mass`; returns V at the start. */
static double interpolate_start(recursion *r, const double *v, double *mass)
{
  const control *c = r->c;
  const size_t k = c->sizes.states;
  uint32_t *vertex = (uint32_t *)(void *)(r->work + 3 * k);
  double *weight = r->work;
  const size_t count =
      idm_lattice_locate(c->lattice, c->setting->start, vertex, weight, r->work + k);
  double expected = idm_control_award(c, c->setting->start);
  memset(mass, 0, c->padded * sizeof *mass);
  for (size_t i = 0; i < count; i++) {
    mass[vertex[i]] += weight[i];
    expected += weight[i] * v[vertex[i]];
  }
  return expected;
}

/* Adds visits to the totals: utilities and complexities with factor `discount_factor`, awards on
 * arrival with factor `next`. */
static void add_visits(const recursion *r, const double *mass, double discount_factor, double next,
                       idm_forward *forward)
{
  for (size_t i = 0; i < r->c->lattice->points; i++) {
    const contribution *contribution_at = &r->visit[i];
    forward->internal_return +=
        mass[i] * (discount_factor * contribution_at->utility + next * contribution_at->arrival);
    forward->decision += discount_factor * mass[i] * contribution_at->decision;
    forward->specification += discount_factor * mass[i] * contribution_at->specification;
    forward->recognition += discount_factor * mass[i] * contribution_at->recognition;
  }
}

/* --- occupancy ------------------------------------------------------------------------------- */

/* The system (I - gamma P') x = b; with a `taboo` point, without transitions into it. */
typedef struct occupancy_system {
  recursion *r;
  size_t taboo; /* SIZE_MAX: none */
  double *into; /* [padded]: gamma P(i -> taboo) */
  double *step; /* [padded] */
} occupancy_system;

static double dot(size_t n, const double *x, const double *y)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

static double one_norm(size_t n, const double *x)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += fabs(x[i]);
  return sum;
}

static void apply_forward(const void *context, const double *x, double *y)
{
  const occupancy_system *s = context;
  idm_control_transposed(s->r->c, x, y);
  if (s->taboo != SIZE_MAX) y[s->taboo] += dot(s->r->c->padded, s->into, x);
}

static void apply_backward(const void *context, const double *x, double *y)
{
  const occupancy_system *s = context;
  idm_control_derivative(s->r->c, x, y);
  for (size_t i = 0; s->taboo != SIZE_MAX && i < s->r->c->padded; i++)
    y[i] += s->into[i] * x[s->taboo];
}

/* residual = b - A x; returns its 1-norm. */
static double residual_norm(const occupancy_system *s, const double *b, const double *x)
{
  recursion *r = s->r;
  apply_forward(s, x, r->flow);
  for (size_t i = 0; i < r->c->padded; i++) r->residual[i] = b[i] - r->flow[i];
  return one_norm(r->c->padded, r->residual);
}

/* Fixed-point recursion, a contraction, until it converges or makes no progress. Returns the norm
 * of the residual. */
static double iterate_recursion(const occupancy_system *s, const double *b, double norm, double *x)
{
  enum { recursions = 200000, between = 64 };
  const size_t n = s->r->c->padded;
  double before = INFINITY;
  for (int i = 0; i < recursions && norm > 64 * DBL_EPSILON * one_norm(n, x); i++) {
    if (i % between == 0 && !(norm < 0.9 * before)) break;
    if (i % between == 0) before = norm;
    for (size_t j = 0; j < n; j++) x[j] += s->r->residual[j];
    norm = residual_norm(s, b, x);
  }
  return norm;
}

/* x = A^-1 b by GMRES with iterative refinement, then the recursion. Returns the 1-norm of the
 * residual, including the rounding error of its last evaluation. */
static double solve_occupancy(const occupancy_system *s, const double *b, double *x)
{
  enum { refinements = 30, products = 400 };
  recursion *r = s->r;
  const size_t n = r->c->padded;
  memcpy(x, b, n * sizeof *x);
  double norm = residual_norm(s, b, x);
  for (int i = 0; i < refinements && norm > 64 * DBL_EPSILON * one_norm(n, x); i++) {
    idm_gmres(n, apply_forward, s, r->residual, s->step, 1e-8, r->c->basis, products, r->work,
              NULL);
    for (size_t j = 0; j < n; j++) x[j] += s->step[j];
    const double next = residual_norm(s, b, x);
    if (!(next < 0.5 * norm)) {
      for (size_t j = 0; j < n && !(next < norm); j++) x[j] -= s->step[j];
      norm = residual_norm(s, b, x);
      break;
    }
    norm = next;
  }
  return iterate_recursion(s, b, norm, x) + 8 * DBL_EPSILON * one_norm(n, x);
}

/* Bound on the 1-norm of A^-1: A is an M-matrix, so y > 0 with A' y >= c > 0 everywhere bounds it
 * by max y / c (Berman and Plemmons 1994, chapter 6). y approximates the expected discounted time
 * until the end, or until the taboo point is reached. */
static double inverse_norm_bound(const occupancy_system *s)
{
  enum { products = 2000 };
  const control *c = s->r->c;
  double *y = s->r->flow;
  double *right = s->r->residual;
  for (size_t i = 0; i < c->padded; i++) right[i] = i < c->lattice->points ? 1 : 0;
  idm_gmres(c->padded, apply_backward, s, right, y, 1e-3, c->basis, products, s->r->work, NULL);
  apply_backward(s, y, right);
  double most_visited = 0;
  double smallest = INFINITY;
  for (size_t i = 0; i < c->lattice->points; i++) {
    most_visited = fmax(most_visited, y[i]);
    smallest = fmin(smallest, fmin(right[i], y[i]));
  }
  const double discounted_time = 1 / (1 - c->numbers.discount);
  return smallest > 0 ? fmin(discounted_time, most_visited / smallest) : discounted_time;
}

/* Occupancy by cycles, without terminal actions. The occupancy then sums to 1, and near a discount
 * of 1 this equation determines it: mass = mass until the most visited point is reached + a
 * multiple of the mass between two visits to it. Both parts are well-conditioned if that point is
 * reached soon, whatever the discount. Returns a bound on the error in the 1-norm. */
static double solve_by_cycles(occupancy_system *s, const double *start, double *between)
{
  recursion *r = s->r;
  const size_t n = r->c->padded;
  s->taboo = 0;
  for (size_t i = 1; i < r->c->lattice->points; i++)
    if (r->mass[i] > r->mass[s->taboo]) s->taboo = i;
  const size_t most_visited = s->taboo;
  s->taboo = SIZE_MAX;
  memset(r->flow, 0, n * sizeof *r->flow);
  r->flow[most_visited] = 1;
  apply_backward(s, r->flow, s->into);
  for (size_t i = 0; i < n; i++) s->into[i] = r->flow[i] - s->into[i];
  s->taboo = most_visited;
  double *corner = s->step + n;
  memset(corner, 0, n * sizeof *corner);
  corner[most_visited] = 1;
  const double left_between = solve_occupancy(s, corner, between);
  const double left = solve_occupancy(s, start, r->mass);
  const double times = (1 - one_norm(n, r->mass)) / one_norm(n, between);
  for (size_t i = 0; i < n; i++) r->mass[i] += times * between[i];
  return 2 * inverse_norm_bound(s) * (left + times * left_between);
}

/* Computes the occupancy; returns a bound on its error in the 1-norm. */
static double compute_occupancy(recursion *r, const double *start)
{
  const size_t n = r->c->padded;
  occupancy_system s = {.r = r, .taboo = SIZE_MAX, .into = r->scratch, .step = r->scratch + n};
  /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what the recursion holds is freed by its owner */
  const double left = solve_occupancy(&s, start, r->mass);
  const double bound = left / (1 - r->c->numbers.discount);
  if (bound <= max_error) return bound;
  return r->c->any_terminal ? left * inverse_norm_bound(&s)
                            : solve_by_cycles(&s, start, r->scratch + 3 * n);
}

/* Near a discount of 1 the values are so large that differences between actions are lost to
 * rounding. The range of B*V - V then bounds the loss of return; at a temperature of 0, actions
 * whose values differ by less than a tie also share the probability. */
static idm_status check_policies(const recursion *r, idm_error *opt_error)
{
  const control_numbers *numbers = &r->c->numbers;
  const double gamma = numbers->discount;
  const bool has_maximum = numbers->alpha == 0 || numbers->beta == 0 || numbers->temperature == 0;
  const double return_loss = fmax(r->highest - r->lowest, has_maximum ? IDM_TIE * r->size : 0);
  if (1 - gamma > near_one || return_loss <= max_loss * fmax(1, r->c->largest)) return IDM_OK;
  return idm_fail(
      opt_error, IDM_NUMERICAL,
      "at a discount of %.17g rounding of the values leaves the return uncertain by %.2g per step; "
      "expected at most %.2g: use a discount further from 1, or a horizon",
      gamma, return_loss, max_loss * fmax(1, r->c->largest));
}

static idm_status forward_stationary(recursion *r, size_t variant, idm_forward *forward,
                                     idm_error *opt_error)
{
  control *c = r->c;
  const double *v = control_layer(c, variant, 1);
  if (c->numbers.discount == 1)
    return idm_fail(opt_error, IDM_NUMERICAL,
                    "a discount of 1 without a horizon has no discounted occupancy");
  double *start = idm_new(c->padded, sizeof *start);
  if (!start) return idm_fail_memory(opt_error);
  const double weight = 1 - c->numbers.discount;
  c->numbers.arrival = idm_control_arrival(c, 1);
  visit_points(r, v);
  forward->value = weight * interpolate_start(r, v, start);
  for (size_t i = 0; i < c->padded; i++) start[i] *= weight;
  const idm_status status = check_policies(r, opt_error);
  const double bound = status == IDM_OK ? compute_occupancy(r, start) : INFINITY;
  free(start);
  if (status != IDM_OK) return status;
  if (!(bound <= max_error))
    return idm_fail(opt_error, IDM_NUMERICAL,
                    "at a discount of %.17g the occupancy is accurate to %.2g only; expected %.2g: "
                    "use a discount further from 1, or a horizon",
                    c->numbers.discount, bound, max_error);
  forward->internal_return = weight * idm_control_award(c, c->setting->start);
  add_visits(r, r->mass, 1, c->numbers.discount, forward);
  return IDM_OK;
}

/* With a horizon: discounted sums over the steps; `mass` receives the discounted visits. Delays are
 * measured from the first step; the return that a naive agent expects there differs from the return
 * of its later decisions. */
static idm_status forward_horizon(recursion *r, size_t variant, idm_forward *forward,
                                  idm_error *opt_error)
{
  control *c = r->c;
  const size_t n = c->padded;
  double *now = idm_new(n, sizeof *now);
  if (!now) return idm_fail_memory(opt_error);
  forward->value = interpolate_start(r, control_layer(c, variant, c->layers), now);
  forward->internal_return = idm_control_award(c, c->setting->start);
  memset(r->mass, 0, n * sizeof *r->mass);
  for (int left = c->layers; left > 0; left--) {
    const double discount_factor = c->continuation ? control_delay(c, c->layers - left) : 1;
    const double next =
        c->continuation ? control_delay(c, c->layers - left + 1) : c->numbers.discount;
    c->numbers.arrival = idm_control_arrival(c, left);
    visit_points(r, control_follows(c, variant, left));
    add_visits(r, now, discount_factor, left > 1 ? next : 0, forward);
    if (c->continuation) c->numbers.discount = 1;
    idm_control_transposed(c, now, r->flow);
    if (c->continuation) c->numbers.discount = idm_control_delay_step(c);
    for (size_t i = 0; i < n; i++) {
      r->mass[i] += discount_factor * now[i];
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
