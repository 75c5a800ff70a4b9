/* Weighted projection onto a polyhedron by the proximal method of multipliers: rows and bounds are
 * penalised, the remaining problem is piecewise quadratic with a continuous gradient, and a
 * semismooth Newton method with conjugate gradients solves it to full accuracy (Rockafellar 1976;
 * Li, Sun and Toh 2018 on why few iterations suffice). */
#include "infer/program.h"

#include <math.h>

#include "base/memory.h"

/* A constraint is a row or, after the rows, the bounds of a column. */
typedef struct projection_work {
  idm_program_view view;
  size_t n;
  size_t constraints;
  const double *weight;
  const double *target;
  double rho;              /* penalty parameter */
  double *x;               /* [n] */
  double *centre;          /* [n]: centre of the proximal term */
  double *gradient;        /* [n] */
  double *step;            /* [n] */
  double *cg_residual;     /* [n]: of conjugate gradients */
  double *cg_direction;    /* [n] */
  double *hessian_product; /* [n] */
  double *preconditioner;  /* [n]: diagonal of the Hessian */
  double *multiplier;      /* [constraint] */
  double *activity;        /* [constraint]: A x, and x */
  double *activity_step;   /* [constraint]: A step, and step */
  double *excess;          /* [constraint]: violation at activity + multiplier / rho */
  bool *active;            /* [constraint]: violated, or an equality */
  idm_interrupt interrupt;
  void *context;
  bool stopped;
  long iterations_left; /* remaining iterations of conjugate gradients */
} projection_work;

/* Weight of the proximal term, which determines columns that the objective and the constraints
 * leave free. */
static const double sigma = 1e-7;

/* --- functions ------------------------------------------------------------------------------- */

static bool is_fixed(const projection_work *w, size_t j)
{
  return w->view.low[j] == w->view.high[j];
}

static double violation(const projection_work *w, size_t constraint, double activity)
{
  const bool row = constraint < w->view.rows;
  const size_t j = constraint - w->view.rows;
  const double low = row ? w->view.lower[constraint] : w->view.low[j];
  const double high = row ? w->view.upper[constraint] : w->view.high[j];
  return activity < low ? activity - low : activity > high ? activity - high : 0;
}

/* y[constraint] = A v, and v itself. */
static void multiply(const projection_work *w, const double *v, double *y)
{
  const idm_program_view *a = &w->view;
  for (size_t i = 0; i < a->rows; i++) {
    double sum = 0;
    for (size_t k = a->first[i]; k < a->first[i + 1]; k++) sum += a->value[k] * v[a->column[k]];
    y[i] = sum;
  }
  memcpy(y + a->rows, v, w->n * sizeof *v);
}

/* v += factor * A' y, over constraints with opt_active[constraint] if that is given. */
static void add_transposed(const projection_work *w, double factor, const double *y,
                           const bool *opt_active, double *v)
{
  const idm_program_view *a = &w->view;
  for (size_t i = 0; i < a->rows; i++) {
    if (y[i] == 0 || (opt_active && !opt_active[i])) continue;
    for (size_t k = a->first[i]; k < a->first[i + 1]; k++)
      v[a->column[k]] += factor * a->value[k] * y[i];
  }
  for (size_t j = 0; j < w->n; j++)
    if (!opt_active || opt_active[a->rows + j]) v[j] += factor * y[a->rows + j];
}

static double largest(const double *v, size_t count)
{
  double maximum = 0;
  for (size_t i = 0; i < count; i++) maximum = fmax(maximum, fabs(v[i]));
  return maximum;
}

/* excess, active set and gradient at x. */
static void set_gradient(projection_work *w)
{
  multiply(w, w->x, w->activity);
  for (size_t i = 0; i < w->constraints; i++)
    w->excess[i] = violation(w, i, w->activity[i] + w->multiplier[i] / w->rho);
  for (size_t i = 0; i < w->constraints; i++)
    w->active[i] = w->excess[i] != 0 || (i < w->view.rows && w->view.lower[i] == w->view.upper[i]);
  for (size_t j = 0; j < w->n; j++)
    w->gradient[j] = w->weight[j] * (w->x[j] - w->target[j]) + sigma * (w->x[j] - w->centre[j]);
  add_transposed(w, w->rho, w->excess, NULL, w->gradient);
  for (size_t j = 0; j < w->n; j++)
    if (is_fixed(w, j)) w->gradient[j] = 0;
}

/* --- Newton step ----------------------------------------------------------------------------- */

static void set_preconditioner(projection_work *w)
{
  const idm_program_view *a = &w->view;
  for (size_t j = 0; j < w->n; j++)
    w->preconditioner[j] = w->weight[j] + sigma + (w->active[a->rows + j] ? w->rho : 0);
  for (size_t i = 0; i < a->rows; i++)
    for (size_t k = a->first[i]; w->active[i] && k < a->first[i + 1]; k++)
      w->preconditioner[a->column[k]] += w->rho * a->value[k] * a->value[k];
}

/* hessian_product = Hessian * cg_direction, for active constraints; activity_step is scratch. */
static void multiply_hessian(projection_work *w)
{
  multiply(w, w->cg_direction, w->activity_step);
  for (size_t j = 0; j < w->n; j++)
    w->hessian_product[j] = (w->weight[j] + sigma) * w->cg_direction[j];
  add_transposed(w, w->rho, w->activity_step, w->active, w->hessian_product);
  for (size_t j = 0; j < w->n; j++)
    if (is_fixed(w, j)) w->hessian_product[j] = 0;
}

/* step = - Hessian^-1 gradient, approximately, by conjugate gradients with a diagonal
 * preconditioner. */
static void find_newton_step(projection_work *w, double accuracy)
{
  double preconditioned_norm = 0;
  double tolerance = 0;
  set_preconditioner(w);
  for (size_t j = 0; j < w->n; j++) {
    w->step[j] = 0;
    w->cg_residual[j] = -w->gradient[j];
    w->cg_direction[j] = w->cg_residual[j] / w->preconditioner[j];
    preconditioned_norm += w->cg_residual[j] * w->cg_direction[j];
  }
  tolerance = accuracy * accuracy * preconditioned_norm;
  for (long i = 0;
       w->iterations_left > 0 && preconditioned_norm > tolerance && preconditioned_norm > 0;
       i++, w->iterations_left--) {
    if (i % 64 == 0 && w->interrupt && (w->stopped = w->interrupt(w->context))) return;
    double curvature = 0;
    double next_norm = 0;
    multiply_hessian(w);
    for (size_t j = 0; j < w->n; j++) curvature += w->cg_direction[j] * w->hessian_product[j];
    const double length = preconditioned_norm / curvature;
    for (size_t j = 0; j < w->n; j++) {
      w->step[j] += length * w->cg_direction[j];
      w->cg_residual[j] -= length * w->hessian_product[j];
      next_norm += w->cg_residual[j] * w->cg_residual[j] / w->preconditioner[j];
    }
    for (size_t j = 0; j < w->n; j++)
      w->cg_direction[j] = w->cg_residual[j] / w->preconditioner[j] +
                           next_norm / preconditioned_norm * w->cg_direction[j];
    preconditioned_norm = next_norm;
  }
}

/* Derivative along the step at x + length * step. */
static double step_derivative(const projection_work *w, double length)
{
  double sum = 0;
  for (size_t j = 0; j < w->n; j++)
    sum += w->step[j] * (w->weight[j] * (w->x[j] + length * w->step[j] - w->target[j]) +
                         sigma * (w->x[j] + length * w->step[j] - w->centre[j]));
  for (size_t i = 0; i < w->constraints; i++)
    sum +=
        w->rho * w->activity_step[i] *
        violation(w, i, w->activity[i] + length * w->activity_step[i] + w->multiplier[i] / w->rho);
  return sum;
}

/* The piecewise quadratic is convex: bisect for the root of its non-decreasing derivative. */
static double line_search(projection_work *w)
{
  double low = 0;
  double high = 1;
  multiply(w, w->step, w->activity_step);
  const double first = step_derivative(w, 0);
  if (!(step_derivative(w, 1) > -1e-3 * first)) return 1;
  for (int i = 0; i < 40; i++) {
    const double middle = (low + high) / 2;
    const double middle_derivative = step_derivative(w, middle);
    if (fabs(middle_derivative) <= -1e-3 * first) return middle;
    *(middle_derivative > 0 ? &high : &low) = middle;
  }
  return low > 0 ? low : high;
}

/* Minimise for the current multipliers until the gradient is below `tolerance`. */
static void minimise_inner(projection_work *w, double tolerance)
{
  enum { maximum = 200 };
  double previous = INFINITY;
  int stalled = 0;
  set_gradient(w);
  for (int i = 0; i < maximum && !w->stopped && w->iterations_left > 0; i++) {
    const double size = largest(w->gradient, w->n);
    if (size <= tolerance) return;
    stalled = size < 0.9 * previous ? 0 : stalled + 1;
    if (stalled > 30) return;
    previous = fmin(previous, size);
    find_newton_step(w, fmax(1e-8, fmin(1e-3, 0.1 * tolerance / size)));
    if (w->stopped) return;
    const double length = line_search(w);
    for (size_t j = 0; j < w->n; j++) w->x[j] += length * w->step[j];
    set_gradient(w);
  }
}

/* --- residuals ------------------------------------------------------------------------------- */

/* Update the multipliers at x; returns the largest distance between an activity and its projection
 * onto the bounds. */
static double update_multipliers(projection_work *w)
{
  double maximum = 0;
  for (size_t i = 0; i < w->constraints; i++) {
    const double projected = w->activity[i] + w->multiplier[i] / w->rho - w->excess[i];
    maximum = fmax(maximum, fabs(w->activity[i] - projected) / fmax(1, fabs(w->activity[i])));
    w->multiplier[i] = w->rho * w->excess[i];
  }
  return maximum;
}

/* Dual residual: gradient of the Lagrangian; cg_residual and hessian_product are scratch. */
static double dual_residual(projection_work *w)
{
  const idm_program_view *a = &w->view;
  double maximum = 0;
  for (size_t j = 0; j < w->n; j++) {
    w->cg_residual[j] = w->weight[j] * (w->x[j] - w->target[j]);
    w->hessian_product[j] = fmax(1, fabs(w->cg_residual[j]));
  }
  add_transposed(w, 1, w->multiplier, NULL, w->cg_residual);
  for (size_t i = 0; i < a->rows; i++)
    for (size_t k = a->first[i]; k < a->first[i + 1]; k++)
      w->hessian_product[a->column[k]] =
          fmax(w->hessian_product[a->column[k]], fabs(a->value[k] * w->multiplier[i]));
  for (size_t j = 0; j < w->n; j++)
    if (!is_fixed(w, j)) maximum = fmax(maximum, fabs(w->cg_residual[j]) / w->hessian_product[j]);
  return maximum;
}

/* Outer iterations of the method of multipliers. */
static double multiplier_rounds(projection_work *w)
{
  enum { maximum = 400 };
  const double residual_tolerance = 1e-11;
  double previous = INFINITY;
  double best = INFINITY;
  double tolerance = 1e-3;
  int stalled = 0;
  for (int iteration = 0; iteration < maximum && !w->stopped && w->iterations_left > 0;
       iteration++) {
    memcpy(w->centre, w->x, w->n * sizeof *w->x);
    minimise_inner(w, tolerance);
    const double gap = update_multipliers(w);
    const double residual = fmax(gap, dual_residual(w));
    if (residual <= residual_tolerance) return residual;
    /* Rounding limits the attainable residual. */
    stalled = residual < 0.9 * best ? 0 : stalled + 1;
    if (stalled > (residual <= 1e-10 ? 2 : 25)) return residual;
    best = fmin(best, residual);
    if (gap > 0.2 * previous && w->rho < 1e5) w->rho *= 5;
    previous = gap;
    tolerance = fmax(0.3 * residual_tolerance, fmin(0.1 * tolerance, 0.1 * residual));
  }
  return best;
}

/* --- interface ------------------------------------------------------------------------------- */

static bool work_init(const idm_program *program, const idm_program_projection *nearest, double *x,
                      projection_work *w)
{
  *w = (projection_work){.view = idm_program_get_view(program),
                         .weight = nearest->weight,
                         .target = nearest->target,
                         .rho = 10,
                         .x = x};
  w->n = w->view.columns;
  w->constraints = w->view.rows + w->n;
  w->iterations_left = (long)(nearest->effort / (double)(w->view.first[w->view.rows] + 8 * w->n));
  w->centre = idm_new(idm_times(7, w->n), sizeof *w->centre);
  w->multiplier = idm_new(idm_times(4, w->constraints), sizeof *w->multiplier);
  w->active = idm_new(w->constraints, sizeof *w->active);
  if (!w->centre || !w->multiplier || !w->active) return false;
  w->gradient = w->centre + w->n;
  w->step = w->centre + 2 * w->n;
  w->cg_residual = w->centre + 3 * w->n;
  w->cg_direction = w->centre + 4 * w->n;
  w->hessian_product = w->centre + 5 * w->n;
  w->preconditioner = w->centre + 6 * w->n;
  w->activity = w->multiplier + w->constraints;
  w->activity_step = w->multiplier + 2 * w->constraints;
  w->excess = w->multiplier + 3 * w->constraints;
  return true;
}

static void work_clear(projection_work *w)
{
  free(w->centre);
  free(w->multiplier);
  free(w->active);
}

idm_status idm_program_project(const idm_program *program, idm_program_projection *nearest,
                               double *x, idm_interrupt opt_interrupt, void *context,
                               idm_error *opt_error)
{
  projection_work w;
  const bool allocated = work_init(program, nearest, x, &w);
  if (allocated) {
    w.interrupt = opt_interrupt;
    w.context = context;
    for (size_t j = 0; j < w.n; j++) x[j] = fmax(w.view.low[j], fmin(w.view.high[j], x[j]));
    nearest->residual = multiplier_rounds(&w);
    nearest->stopped = w.stopped;
    nearest->distance = 0;
    for (size_t j = 0; j < w.n; j++)
      nearest->distance += w.weight[j] * (x[j] - w.target[j]) * (x[j] - w.target[j]);
    nearest->distance = sqrt(nearest->distance);
  }
  work_clear(&w);
  return allocated ? IDM_OK : idm_fail_memory(opt_error);
}
