/* Laplace approximation: minus the Hessian at a mode, by differences that are wide relative to
 * kinks and rounding errors, and its inverse. See docs/method/inference.md, 7. */
#include "infer/approximation.h"

#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/dense.h"
#include "base/memory.h"
#include "infer/chains.h"

/* A step is accepted if the decrease of the log density is between these limits: about 0.3 to 1
 * standard deviations. */
static const double min_decrease = 0.05, target_decrease = 0.1, max_decrease = 0.5;
/* A decrease below this is rounding error. */
static const double rounding = 1e-8;
enum { max_trials = 40 };

typedef struct laplace {
  const idm_target *target;
  size_t n;
  const double *mode;
  double density;   /* at the mode */
  double *x;        /* [n]: the mode, except during a difference */
  double *step;     /* [n] */
  double *decrease; /* [n]: mean decrease at mode -+ step */
  double *above;    /* [n]: gradients at mode + step */
  double *below;    /* [n]: gradients at mode - step */
  double *hessian;  /* [n][n]: minus the Hessian */
  double *factor;   /* [n][n] */
} laplace;

/* Density (and gradient) with coordinates i and j displaced by a and b; i == j: by a. */
static idm_status evaluate_displaced(const laplace *l, size_t i, double a, size_t j, double b,
                                     double *density, double *opt_gradient, idm_error *opt_error)
{
  l->x[j] = l->mode[j] + b;
  l->x[i] = l->mode[i] + a;
  const idm_status status = idm_target_evaluate(l->target, l->x, density, opt_gradient, opt_error);
  l->x[i] = l->mode[i];
  l->x[j] = l->mode[j];
  return status;
}

/* Factor for the next step, given the decrease: decreases are quadratic in the step. */
static double step_factor(double decrease)
{
  if (decrease == INFINITY) return 0.1;
  if (decrease < rounding) return 30;
  return fmin(fmax(sqrt(target_decrease / decrease), 0.01), 1000);
}

/* Step of coordinate i: from the usual finite-difference step to one over which the density
 * decreases by the target, or that nearly reaches the end of the support. *valid is false if there
 * is none: a flat direction, an end of the support, or not a mode. */
static idm_status find_step(const laplace *l, size_t i, bool *valid, idm_error *opt_error)
{
  double h = 6e-6 * fmax(1, fabs(l->mode[i])), support_edge = INFINITY;
  *valid = false;
  for (int k = 0; k < max_trials && !*valid && h < 1e30; k++) {
    double above, below;
    idm_status status = evaluate_displaced(l, i, h, i, 0, &above, NULL, opt_error);
    if (status == IDM_OK) status = evaluate_displaced(l, i, -h, i, 0, &below, NULL, opt_error);
    if (status != IDM_OK) return status;
    const double decrease = l->density - 0.5 * (above + below);
    l->step[i] = h;
    l->decrease[i] = decrease;
    if (decrease == INFINITY) support_edge = h;
    *valid = (decrease >= min_decrease || (decrease > rounding && 2 * h > support_edge)) &&
             decrease <= max_decrease;
    h = fmin(h * step_factor(decrease), 0.7 * support_edge);
  }
  return IDM_OK;
}

/* Row i of minus the Hessian, from gradients at mode -+ step. */
static idm_status gradient_row(const laplace *l, size_t i, idm_error *opt_error)
{
  double density;
  const double h = l->step[i];
  idm_status status = evaluate_displaced(l, i, h, i, 0, &density, l->above, opt_error);
  if (status == IDM_OK) status = evaluate_displaced(l, i, -h, i, 0, &density, l->below, opt_error);
  for (size_t j = 0; status == IDM_OK && j < l->n; j++)
    l->hessian[i * l->n + j] = (l->below[j] - l->above[j]) / (2 * h);
  return status;
}

/* The same from densities only, for a target without a gradient. */
static idm_status density_row(const laplace *l, size_t i, idm_error *opt_error)
{
  const double h = l->step[i];
  for (size_t j = 0; j < l->n; j++) {
    double corner[4], sum = 0;
    for (int k = 0; k < 4 && j != i; k++) {
      const double a = k & 1 ? -h : h, b = k & 2 ? -l->step[j] : l->step[j];
      const idm_status status = evaluate_displaced(l, i, a, j, b, &corner[k], NULL, opt_error);
      if (status != IDM_OK) return status;
      sum += k == 1 || k == 2 ? corner[k] : -corner[k];
    }
    l->hessian[i * l->n + j] = j == i ? 2 * l->decrease[i] / (h * h) : sum / (4 * h * l->step[j]);
  }
  return IDM_OK;
}

static void symmetrise(const laplace *l)
{
  const size_t n = l->n;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      l->hessian[i * n + j] = l->hessian[j * n + i] =
          0.5 * (l->hessian[i * n + j] + l->hessian[j * n + i]);
}

static bool all_finite(const double *x, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

/* Compute minus the Hessian. *valid is false if a coordinate has no valid step. */
static idm_status find_hessian(const laplace *l, bool *valid, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  *valid = true;
  for (size_t i = 0; status == IDM_OK && i < l->n; i++) {
    bool found;
    status = find_step(l, i, &found, opt_error);
    *valid = *valid && found;
  }
  for (size_t i = 0; status == IDM_OK && i < l->n; i++)
    status = (l->target->gradient ? gradient_row : density_row)(l, i, opt_error);
  if (status == IDM_OK) symmetrise(l);
  return status;
}

/* Covariance: inverse of minus the Hessian, if that is positive definite. */
static bool invert(const laplace *l, double *covariance)
{
  const size_t n = l->n;
  if (!all_finite(l->hessian, n * n)) return false;
  memcpy(l->factor, l->hessian, n * n * sizeof(double));
  if (!idm_cholesky(n, l->factor)) return false;
  idm_cholesky_inverse(n, l->factor, covariance);
  return true;
}

idm_status idm_laplace(const idm_target *target, const double *mode, double *covariance,
                       double *opt_precision, bool *definite, idm_error *opt_error)
{
  idm_require(target, mode, covariance, definite);
  const size_t n = target->dimension;
  double *work = idm_new(idm_times(n, 5 + 2 * n), sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  laplace l = {.target = target, .n = n, .mode = mode};
  double **const section[] = {&l.x, &l.step, &l.decrease, &l.above, &l.below};
  for (size_t i = 0; i < 5; i++) *section[i] = work + i * n;
  l.hessian = work + 5 * n;
  l.factor = l.hessian + n * n;
  memcpy(l.x, mode, n * sizeof *mode);
  bool valid = false;
  *definite = false;
  idm_status status = idm_target_evaluate(target, mode, &l.density, NULL, opt_error);
  if (status == IDM_OK && l.density == -INFINITY)
    status = idm_fail(opt_error, IDM_NUMERICAL, "the density is 0 at the mode given");
  if (status == IDM_OK) status = find_hessian(&l, &valid, opt_error);
  if (status == IDM_OK) {
    *definite = valid && invert(&l, covariance);
    if (opt_precision) memcpy(opt_precision, l.hessian, n * n * sizeof *l.hessian);
  }
  free(work);
  return status;
}
