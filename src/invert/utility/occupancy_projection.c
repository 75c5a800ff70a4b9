/* Projection onto the set of occupancies, by a primal-dual interior-point method or for tv by a
 * linear program, and the policy of the projection.
 *
 * Contents: interior · occupancy projection */
#include "invert/utility/mdp.h"

#include <float.h>
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "infer/program.h"

/* === interior ================================================================================= */

/* Primal-dual interior-point method (Wright 1997) for convex functions of occupancies
 * (`docs/method/inverse.md, 2`). The Hessian has one block per state, so a Newton step is a linear
 * system with one equation per state. */

enum { max_steps = 300, max_halvings = 30, patience = 12 };
/* The central path ends at products of q and its multiplier below this. */
static const double min_complementarity = 1e-26;

/* One iterate. For tv: a >= 0 and c = q - p + a >= 0, with sum a in the objective. */
typedef struct point {
  double *q; /* [entry], as the next three */
  double *z; /* multiplier of q >= 0 */
  double *a;
  double *s; /* multiplier of a >= 0; that of c >= 0 is 1 - s */
  double *y; /* [row]: multipliers of the flow constraints */
} point;

typedef struct interior {
  const idm_flows *f;
  bool split; /* tv */
  size_t n;   /* entries */
  size_t m;   /* rows */
  double target;
  point at;
  point step;
  point trial;
  double *derivative; /* [n]: right-hand side of the step */
  double *diagonal;   /* [n]: second derivative without that of the entropy */
  double *curvature;  /* [n]: second derivative with the entropy's diagonal part */
  double *log_pi;     /* [n] */
  double *dual_cost;  /* [n] */
  double *scale;      /* [n]: q at the beginning of the step */
  double *rank_one; /* [m]: coefficient of the rank-one term that the entropy adds to the inverse of
                       a row's block */
  double *best;     /* [n]: best q so far, and */
  double *best_dual;    /* [m]: its y */
  double *matrix;       /* [m][m] */
  idm_row_extent *edge; /* [m] */
  double *work;         /* [2 n + m] */
} interior;

/* --- memory --------------------------------------------------------------------------------- */

static double *take_slice(double **from, size_t count)
{
  double *taken = *from;
  *from += count;
  return taken;
}

static void assign_point(point *p, size_t n, size_t m, double **from)
{
  p->q = take_slice(from, n);
  p->z = take_slice(from, n);
  p->a = take_slice(from, n);
  p->s = take_slice(from, n);
  p->y = take_slice(from, m);
}

static double *place(interior *o)
{
  double *memory = idm_new(21 * o->n + 6 * o->m, sizeof *memory);
  o->matrix = idm_new(idm_times(o->m, o->m), sizeof *o->matrix);
  o->edge = idm_new(o->m, sizeof *o->edge);
  if (!memory) return NULL;
  double *from = memory;
  assign_point(&o->at, o->n, o->m, &from);
  assign_point(&o->step, o->n, o->m, &from);
  assign_point(&o->trial, o->n, o->m, &from);
  double **const part[] = {&o->derivative, &o->diagonal, &o->curvature, &o->log_pi,
                           &o->dual_cost,  &o->scale,    &o->best};
  for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) *part[i] = take_slice(&from, o->n);
  o->rank_one = take_slice(&from, o->m);
  o->best_dual = take_slice(&from, o->m);
  o->work = from;
  return memory;
}

/* --- equations ------------------------------------------------------------------------------ */

static double overlap_slack(const interior *o, const point *p, size_t i)
{
  return p->q[i] - o->f->p[i] + p->a[i];
}

/* Starts from the occupancy of the uniform policy over allowed actions, which is feasible. */
static bool set_start(interior *o)
{
  const idm_flows *f = o->f;
  memset(o->matrix, 0, o->m * o->m * sizeof *o->matrix);
  for (size_t r = 0; r < o->m; r++)
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      for (size_t k = f->begin[i]; k < f->begin[i + 1]; k++)
        o->matrix[r * o->m + f->to[k]] += f->by[k] / (double)(f->first[r + 1] - f->first[r]);
  if (!idm_envelope_factor(o->m, o->matrix, o->edge)) return false;
  memcpy(o->at.y, f->source, o->m * sizeof *o->at.y);
  idm_envelope_solve_transposed(o->m, o->matrix, o->edge, o->at.y);
  for (size_t r = 0; r < o->m; r++) {
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++) {
      o->at.q[i] = o->at.y[r] / (double)(f->first[r + 1] - f->first[r]);
      o->at.z[i] = 0.1 / ((double)o->n * o->at.q[i]);
      o->at.a[i] = fmax(f->p[i] - o->at.q[i], 0) + 1 / (double)o->n;
      o->at.s[i] = 0.5;
    }
    o->at.y[r] = 0;
  }
  return true;
}

/* Distance from the central path at the target; dual residuals are scaled by q. */
static double path_residual(interior *o, const point *p)
{
  const idm_flows *f = o->f;
  double sum = 0;
  idm_flows_dual_cost(f, p->y, o->dual_cost);
  if (f->entropy > 0) idm_flows_log_policy(f, p->q, o->log_pi);
  for (size_t i = 0; i < o->n; i++) {
    const double derivative = o->split ? p->s[i] - 0.5 : idm_flows_derivative(f, i, p->q[i]);
    const double dual =
        o->scale[i] *
        (derivative + (f->entropy > 0 ? f->entropy * o->log_pi[i] : 0) - o->dual_cost[i] - p->z[i]);
    const double central = p->q[i] * p->z[i] - o->target;
    sum += dual * dual + central * central;
    if (!o->split) continue;
    const double low = p->a[i] * p->s[i] - o->target;
    const double high = overlap_slack(o, p, i) * (1 - p->s[i]) - o->target;
    sum += low * low + high * high;
  }
  return sqrt(sum);
}

/* Gradient and diagonal of the Newton system after elimination of all variables except q and y. */
static void linearise(interior *o)
{
  const idm_flows *f = o->f;
  const point *p = &o->at;
  idm_flows_dual_cost(f, p->y, o->dual_cost);
  if (f->entropy > 0) idm_flows_log_policy(f, p->q, o->log_pi);
  for (size_t i = 0; i < o->n; i++) {
    const double q = p->q[i];
    double derivative;
    if (o->split) {
      const double c = overlap_slack(o, p, i);
      const double low = p->s[i] / p->a[i];
      const double high = (1 - p->s[i]) / c;
      const double offset = o->target / p->a[i] + o->target / c - 1;
      derivative = 0.5 - o->target / c + high * offset / (low + high);
      o->diagonal[i] = low * high / (low + high);
    } else {
      derivative = idm_flows_derivative(f, i, q);
      o->diagonal[i] = idm_flows_curvature(f, i, q);
    }
    o->diagonal[i] += p->z[i] / q;
    o->derivative[i] = -derivative + o->dual_cost[i] + o->target / q;
    if (f->entropy > 0) o->derivative[i] -= f->entropy * o->log_pi[i];
    o->curvature[i] = o->diagonal[i] + f->entropy / q;
  }
}

/* The block of a row is diag(curvature) - w / mass 1 1'; its inverse is diag(1 / curvature) +
 * rank_one (1/curvature) (1/curvature)' with rank_one = w / (mass - w sum 1/curvature). The
 * denominator is computed as sum q diagonal / curvature, without cancellation. */
static void set_rank_one(interior *o)
{
  const idm_flows *f = o->f;
  for (size_t r = 0; r < o->m; r++) {
    double rest = 0;
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      rest += o->at.q[i] * (o->diagonal[i] / o->curvature[i]);
    o->rank_one[r] = f->entropy > 0 ? f->entropy / rest : 0;
  }
}

/* to = (block inverse) from. */
static void apply_inverse(const interior *o, const double *from, double *to)
{
  const idm_flows *f = o->f;
  for (size_t r = 0; r < o->m; r++) {
    double sum = 0;
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++) {
      to[i] = from[i] / o->curvature[i];
      sum += to[i];
    }
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      to[i] += o->rank_one[r] * sum / o->curvature[i];
  }
}

/* matrix = B (block inverse) B'. */
static bool assemble(interior *o)
{
  const idm_flows *f = o->f;
  double *sum = o->work;
  memset(o->matrix, 0, o->m * o->m * sizeof *o->matrix);
  for (size_t r = 0; r < o->m; r++) {
    memset(sum, 0, o->m * sizeof *sum);
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      for (size_t k = f->begin[i]; k < f->begin[i + 1]; k++) {
        const double by = f->by[k] / o->curvature[i];
        double *row = o->matrix + f->to[k] * o->m;
        sum[f->to[k]] += by;
        for (size_t l = f->begin[i]; l < f->begin[i + 1]; l++) row[f->to[l]] += by * f->by[l];
      }
    for (size_t k = 0; k < o->m && o->rank_one[r] > 0; k++)
      for (size_t l = 0; l < o->m && sum[k] != 0; l++)
        o->matrix[k * o->m + l] += o->rank_one[r] * sum[k] * sum[l];
  }
  return idm_envelope_factor(o->m, o->matrix, o->edge);
}

/* --- steps ---------------------------------------------------------------------------------- */

/* Steps of the eliminated variables from the step of q. */
static void complete_step(interior *o)
{
  for (size_t i = 0; i < o->n; i++) {
    const double q = o->at.q[i];
    const double dq = o->step.q[i];
    o->step.z[i] = o->target / q - o->at.z[i] - o->at.z[i] / q * dq;
    if (!o->split) continue;
    const double a = o->at.a[i];
    const double c = overlap_slack(o, &o->at, i);
    const double low = o->at.s[i] / a;
    const double high = (1 - o->at.s[i]) / c;
    o->step.a[i] = (o->target / a + o->target / c - 1 - high * dq) / (low + high);
    o->step.s[i] = o->target / a - o->at.s[i] - low * o->step.a[i];
  }
}

static bool find_step(interior *o)
{
  const idm_flows *f = o->f;
  linearise(o);
  set_rank_one(o);
  if (!assemble(o)) return false;
  double *inverse_gradient = o->work;
  double *left = o->work + 2 * o->n;
  apply_inverse(o, o->derivative, inverse_gradient);
  idm_flows_residual(f, o->at.q, left);
  for (size_t i = 0; i < o->n; i++)
    for (size_t k = f->begin[i]; k < f->begin[i + 1]; k++)
      left[f->to[k]] -= f->by[k] * inverse_gradient[i];
  memcpy(o->step.y, left, o->m * sizeof *left);
  idm_envelope_solve(o->m, o->matrix, o->edge, o->step.y);
  idm_flows_dual_cost(f, o->step.y, o->dual_cost);
  for (size_t i = 0; i < o->n; i++) o->dual_cost[i] += o->derivative[i];
  apply_inverse(o, o->dual_cost, o->step.q);
  complete_step(o);
  return true;
}

static double limit_length(double length, double x, double dx)
{
  return dx < 0 ? fmin(length, -0.995 * x / dx) : length;
}

/* Largest step length that keeps all variables positive. */
static double max_length(const interior *o)
{
  double length = 1;
  for (size_t i = 0; i < o->n; i++) {
    length = limit_length(length, o->at.q[i], o->step.q[i]);
    length = limit_length(length, o->at.z[i], o->step.z[i]);
    if (!o->split) continue;
    length = limit_length(length, o->at.a[i], o->step.a[i]);
    length = limit_length(length, overlap_slack(o, &o->at, i), o->step.q[i] + o->step.a[i]);
    length = limit_length(length, o->at.s[i], o->step.s[i]);
    length = limit_length(length, 1 - o->at.s[i], -o->step.s[i]);
  }
  return length;
}

static void advance(const point *from, const point *step, double length, size_t n, size_t m,
                    point *to)
{
  for (size_t i = 0; i < n; i++) {
    to->q[i] = from->q[i] + length * step->q[i];
    to->z[i] = from->z[i] + length * step->z[i];
    to->a[i] = from->a[i] + length * step->a[i];
    to->s[i] = from->s[i] + length * step->s[i];
  }
  for (size_t r = 0; r < m; r++) to->y[r] = from->y[r] + length * step->y[r];
}

/* Backtracks along the step until the distance from the central path decreases sufficiently;
 * returns the step length, 0 on failure. */
static double line_search(interior *o)
{
  double length = max_length(o);
  memcpy(o->scale, o->at.q, o->n * sizeof *o->scale);
  const double before = path_residual(o, &o->at);
  for (int k = 0; k < max_halvings; k++, length /= 2) {
    advance(&o->at, &o->step, length, o->n, o->m, &o->trial);
    if (!(path_residual(o, &o->trial) <= (1 - 1e-3 * length) * before + DBL_EPSILON)) continue;
    const point swap = o->at;
    o->at = o->trial;
    o->trial = swap;
    return length;
  }
  return 0;
}

/* --- the path ------------------------------------------------------------------------------- */

static double complementarity(const interior *o)
{
  double sum = 0;
  for (size_t i = 0; i < o->n; i++) {
    sum += o->at.q[i] * o->at.z[i];
    if (o->split) sum += o->at.a[i] * o->at.s[i] + overlap_slack(o, &o->at, i) * (1 - o->at.s[i]);
  }
  return sum / (double)(o->split ? 3 * o->n : o->n);
}

/* Optimality gap; with entropy, which keeps all actions positive, the maximum of the gap and the
 * largest stationarity residual of log pi. */
static double measure(interior *o, double *gap)
{
  double *share = NULL;
  if (o->split) {
    share = o->scale;
    for (size_t i = 0; i < o->n; i++) share[i] = 1 - o->at.s[i];
  }
  *gap = idm_flows_gap(o->f, o->at.q, o->at.y, share, o->work);
  double worst = 0;
  for (size_t i = 0; i < o->n && o->f->entropy > 0; i++) {
    const double derivative = share ? 0.5 - share[i] : idm_flows_derivative(o->f, i, o->at.q[i]);
    worst = fmax(worst, fabs(derivative + o->f->entropy * o->work[o->n + i] - o->work[i]));
  }
  return fmax(*gap, worst);
}

/* true if a point improves on the best so far. Among points with a closed gap the residual of log
 * pi decides; otherwise the gap alone, because log pi can stay inaccurate in states of small
 * occupancy. */
static bool is_better(double now, double gap, double least, double least_gap)
{
  static const double closed = 1e-10;
  return gap <= closed && least_gap <= closed ? now < least : gap < least_gap;
}

static idm_status follow_path(interior *o, idm_cancel *opt_cancel, double *gap,
                              idm_error *opt_error)
{
  double least = INFINITY;
  double halving_mark = INFINITY; /* residual at which progress was last recorded */
  double left = INFINITY;         /* complementarity at that time */
  double length = 1;
  int stalled = 0;
  *gap = INFINITY;
  for (int k = 0; k < max_steps && stalled < patience; k++) {
    const idm_status status = idm_cancel_check(opt_cancel, opt_error);
    if (status != IDM_OK) return status;
    double here;
    const double now = measure(o, &here);
    const double complementarity_now = fmax(complementarity(o), min_complementarity);
    stalled++;
    if (now < 0.5 * halving_mark || complementarity_now < 0.5 * left) {
      halving_mark = fmin(halving_mark, now);
      left = fmin(left, complementarity_now);
      stalled = 0;
    }
    if (is_better(now, here, least, *gap)) {
      least = now;
      *gap = here;
      memcpy(o->best, o->at.q, o->n * sizeof *o->best);
      memcpy(o->best_dual, o->at.y, o->m * sizeof *o->best_dual);
    }
    if (now <= DBL_EPSILON || length == 0) break;
    o->target = (length > 0.5 ? 0.1 : 0.5) * complementarity_now;
    if (!find_step(o)) break;
    length = line_search(o);
  }
  return isfinite(least)
             ? IDM_OK
             : idm_fail(opt_error, IDM_NUMERICAL, "the nearest occupancy could not be found");
}

idm_status idm_interior_point_solve(const idm_flows *flows, idm_cancel *opt_cancel, double *q,
                                    double *y, double *gap, idm_error *opt_error)
{
  interior o = {.f = flows,
                .split = flows->divergence == IDM_DIVERGENCE_TV,
                .n = flows->entries,
                .m = flows->rows};
  double *memory = place(&o);
  idm_status status = memory && o.matrix && o.edge ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK && !set_start(&o))
    status = idm_fail(opt_error, IDM_NUMERICAL, "the nearest occupancy could not be found");
  if (status == IDM_OK) status = follow_path(&o, opt_cancel, gap, opt_error);
  if (status == IDM_OK) {
    memcpy(q, o.best, o.n * sizeof *q);
    memcpy(y, o.best_dual, o.m * sizeof *y);
  }
  free(memory);
  free(o.matrix);
  free(o.edge);
  return status;
}

/* === occupancy projection ===================================================================== */

/* States of lower occupancy count as unreached, if no term keeps all actions positive. */
static const double min_occupancy = 1e-11;
/* Largest gap that is accepted after probabilities are set to 0. */
static const double max_gap = 1e-12;

/* --- tv ------------------------------------------------------------------------------------- */

/* Factor that scales occupancies relative to the absolute tolerances of a linear program. */
static const double unit = 1e5;
/* Scaled occupancies below this are rounding errors. */
static const double rounding = 1e-9;

/* 1/2 sum |p - q| = sum max(p - q, 0) + (sum q - sum p) / 2: columns q, then the maxima. */
static idm_status put_program(const idm_flows *f, idm_program *program, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  const size_t n = f->entries;
  for (size_t i = 0; i < n; i++) {
    idm_program_set_bounds(program, i, 0, INFINITY);
    idm_program_set_bounds(program, n + i, 0, INFINITY);
    idm_program_set_cost(program, i, 0.5);
    idm_program_set_cost(program, n + i, 1);
  }
  for (size_t r = 0; r < f->rows && status == IDM_OK; r++) {
    for (size_t i = 0; i < n && status == IDM_OK; i++)
      for (size_t k = f->begin[i]; k < f->begin[i + 1] && status == IDM_OK; k++)
        if (f->to[k] == r) status = idm_program_add_entry(program, i, f->by[k], opt_error);
    if (status == IDM_OK)
      status = idm_program_add_row(program, unit * f->source[r], unit * f->source[r], opt_error);
  }
  for (size_t i = 0; i < n && status == IDM_OK; i++) {
    if (!(f->p[i] > 0)) continue;
    status = idm_program_add_entry(program, i, 1, opt_error);
    if (status == IDM_OK) status = idm_program_add_entry(program, n + i, 1, opt_error);
    if (status == IDM_OK)
      status = idm_program_add_row(program, unit * f->p[i], INFINITY, opt_error);
  }
  return status;
}

static bool is_interrupted(void *context)
{
  return idm_cancel_poll(context);
}

/* Returns q, the multipliers y of the flow constraints, and those of the maxima, which are the
 * subgradients for the gap. */
static idm_status minimise_distance(const idm_flows *f, idm_cancel *opt_cancel, double *q,
                                    double *y, double *share, idm_error *opt_error)
{
  idm_program *program = NULL;
  idm_program_solution found = {0};
  idm_status status = idm_program_create(2 * f->entries, &program, opt_error);
  if (status == IDM_OK) status = put_program(f, program, opt_error);
  if (status == IDM_OK)
    status = idm_program_solve(program, opt_cancel ? is_interrupted : NULL, opt_cancel, &found,
                               opt_error);
  if (status == IDM_OK) status = idm_cancel_check(opt_cancel, opt_error);
  if (status == IDM_OK && found.end != IDM_PROGRAM_SOLVED)
    status = idm_fail(opt_error, IDM_NUMERICAL, "the nearest occupancy could not be found");
  size_t row = f->rows;
  for (size_t i = 0; i < f->entries && status == IDM_OK; i++) {
    q[i] = found.x[i] > rounding ? found.x[i] / unit : 0;
    share[i] = f->p[i] > 0 ? fmin(fmax(found.dual[row++], 0), 1) : 0;
  }
  if (status == IDM_OK) memcpy(y, found.dual, f->rows * sizeof *y);
  idm_program_destroy(program);
  return status;
}

/* --- the policy ----------------------------------------------------------------------------- */

typedef struct nearest_search {
  const idm_mdp *mdp;
  const idm_flows *flows;
  const double *fallback;
  double *q;    /* [entry] */
  double *y;    /* [row] */
  double *work; /* [2 entries] */
} nearest_search;

/* Policy of q; entries with opt_zero[entry] get probability 0. */
static void put_policy(const nearest_search *o, const bool *opt_zero, double *policy)
{
  const idm_flows *f = o->flows;
  const idm_sizes n = o->mdp->n;
  memcpy(policy, o->fallback, n.states * n.actions * sizeof *policy);
  for (size_t r = 0; r < f->rows; r++) {
    double *row = policy + f->place[r] * n.actions;
    double mass = 0;
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      if (!opt_zero || !opt_zero[i]) mass += o->q[i];
    if (!(mass > (f->entropy > 0 ? 0 : min_occupancy))) continue;
    memset(row, 0, n.actions * sizeof *row);
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      if (!opt_zero || !opt_zero[i]) row[f->action[i]] = o->q[i] / mass;
  }
}

/* Occupancy of a policy, by state and action and by entries. */
static idm_status policy_occupancy(const nearest_search *o, const double *policy, double *occupancy,
                                   double *entries, idm_error *opt_error)
{
  const idm_flows *f = o->flows;
  const idm_status status = idm_mdp_occupancy(o->mdp, policy, occupancy, opt_error);
  for (size_t r = 0; r < f->rows && status == IDM_OK; r++)
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      entries[i] = occupancy[f->place[r] * o->mdp->n.actions + f->action[i]];
  return status;
}

/* Sets probabilities to 0 that are positive only because of the barrier, judged by their reduced
 * costs, unless that increases the gap. */
static idm_status round_zeros(const nearest_search *o, bool *zero, double *trial,
                              idm_occupancy_projection *found, idm_error *opt_error)
{
  const idm_flows *f = o->flows;
  const size_t all = o->mdp->n.states * o->mdp->n.actions;
  double *policy = trial;
  double *occupancy = trial + all;
  double *entries = trial + 2 * all;
  idm_flows_dual_cost(f, o->y, o->work);
  for (size_t i = 0; i < f->entries; i++)
    zero[i] = idm_flows_derivative(f, i, o->q[i]) - o->work[i] > o->q[i];
  put_policy(o, zero, policy);
  const idm_status status = policy_occupancy(o, policy, occupancy, entries, opt_error);
  if (status != IDM_OK) return status;
  const double gap = idm_flows_gap(f, entries, o->y, NULL, o->work);
  if (!(gap <= fmax(found->gap, max_gap))) return IDM_OK;
  found->gap = gap;
  found->objective = idm_flows_objective(f, entries);
  memcpy(found->policy, policy, all * sizeof *policy);
  memcpy(found->occupancy, occupancy, all * sizeof *occupancy);
  return IDM_OK;
}

static size_t count_zeros(const idm_mdp *mdp, const idm_occupancy_projection *found)
{
  const idm_sizes n = mdp->n;
  size_t zeros = 0;
  for (size_t s = 0; s < n.states; s++) {
    double mass = 0;
    for (size_t u = 0; u < n.actions; u++) mass += found->occupancy[s * n.actions + u];
    for (size_t u = 0; u < n.actions && mass > 0; u++)
      zeros += mdp->prior[u] > 0 && found->policy[s * n.actions + u] == 0;
  }
  return zeros;
}

static idm_status find(const nearest_search *o, idm_cancel *opt_cancel, bool *zero, double *trial,
                       idm_occupancy_projection *found, idm_error *opt_error)
{
  const idm_flows *f = o->flows;
  const bool linear = f->divergence == IDM_DIVERGENCE_TV && !(f->entropy > 0);
  double *share = trial + f->entries;
  idm_status status =
      linear ? minimise_distance(f, opt_cancel, o->q, o->y, share, opt_error)
             : idm_interior_point_solve(f, opt_cancel, o->q, o->y, &found->gap, opt_error);
  if (status != IDM_OK) return status;
  put_policy(o, NULL, found->policy);
  status = policy_occupancy(o, found->policy, found->occupancy, trial, opt_error);
  if (status != IDM_OK) return status;
  found->objective = idm_flows_objective(f, trial);
  if (linear) found->gap = idm_flows_gap(f, trial, o->y, share, o->work);
  /* With entropy or reverse-kl the optimum has no zero probabilities. */
  if (!linear && !(f->entropy > 0) && f->divergence != IDM_DIVERGENCE_REVERSE_KL)
    status = round_zeros(o, zero, trial, found, opt_error);
  found->zeros = count_zeros(o->mdp, found);
  return status;
}

/* --- memory --------------------------------------------------------------------------------- */

void idm_occupancy_projection_destroy(idm_occupancy_projection *nearest_policy)
{
  if (!nearest_policy) return;
  free(nearest_policy->policy);
  free(nearest_policy->occupancy);
  free(nearest_policy);
}

static idm_occupancy_projection *allocate(size_t entries)
{
  idm_occupancy_projection *found = idm_new(1, sizeof *found);
  if (!found) return NULL;
  found->policy = idm_new(entries, sizeof *found->policy);
  found->occupancy = idm_new(entries, sizeof *found->occupancy);
  if (found->policy && found->occupancy) return found;
  idm_occupancy_projection_destroy(found);
  return NULL;
}

idm_status idm_occupancy_projection_create(const idm_mdp *mdp, const idm_setting *setting,
                                           const double *target, const double *fallback,
                                           const bool *opt_allowed, idm_divergence divergence,
                                           double lambda, double entropy, idm_cancel *opt_cancel,
                                           idm_occupancy_projection **ret_nearest,
                                           idm_error *opt_error)
{
  const size_t all = mdp->n.states * mdp->n.actions;
  idm_flows *flows = NULL;
  *ret_nearest = NULL;
  idm_occupancy_projection *found = allocate(all);
  bool *zero = idm_new(all, sizeof *zero);
  double *work = idm_new(6 * all + mdp->n.states, sizeof *work);
  idm_status status = found && zero && work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_flows_create(mdp, setting, target, opt_allowed, divergence, lambda, entropy,
                              &flows, opt_error);
  if (status == IDM_OK) {
    const nearest_search o = {mdp, flows, fallback, work, work + 6 * all, work + all};
    status = find(&o, opt_cancel, zero, work + 3 * all, found, opt_error);
  }
  idm_flows_destroy(flows);
  free(zero);
  free(work);
  if (status == IDM_OK)
    *ret_nearest = found;
  else
    idm_occupancy_projection_destroy(found);
  return status;
}
