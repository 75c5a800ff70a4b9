/* Priors over the free part of theta: log density, draws and normalising mass
 * (`docs/method/inference.md, 2`). */
#include <math.h>

#include "base/statistics.h"
#include "infer/distribution.h"
#include "invert/parameters.h"

/* Concentrations of the Dirichlet prior of a distribution; those of dynamics are per outcome, equal
 * for all rows. */
static void concentrations(const parameter *item, double *concentration)
{
  const bool is_dirichlet = item->prior->kind == IDM_PRIOR_DIRICHLET;
  for (size_t i = 0; i < item->size; i++)
    concentration[i] =
        is_dirichlet ? item->prior->argument[item->outcome ? item->outcome[i] : item->offset + i]
                     : 1;
}

/* Log density of the Dirichlet prior and its gradient in y, including the log Jacobian. */
static double log_prior_simplex(const parameter *item, const double *y, double *opt_gradient)
{
  double p[IDM_MAX_OUTCOMES];
  double derivative[IDM_MAX_OUTCOMES] = {0};
  double concentration[IDM_MAX_OUTCOMES];
  double sum = idm_simplex_constrain(item->size, y + item->first, p);
  concentrations(item, concentration);
  if (item->prior->kind == IDM_PRIOR_DIRICHLET)
    sum += idm_dirichlet_log_density(item->size, concentration, p, derivative);
  if (opt_gradient)
    idm_simplex_backward(item->size, y + item->first, derivative, opt_gradient + item->first);
  return sum;
}

double idm_parameters_log_prior(const idm_parameters *parameters, const double *y,
                                double *opt_gradient)
{
  if (!parameters || !y) return NAN;
  double sum = 0;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    if (item->simplex) {
      sum += log_prior_simplex(item, y, opt_gradient);
      continue;
    }
    for (size_t j = item->first; j < item->first + item->size; j++) {
      double derivative;
      double log_jacobian;
      double log_jacobian_derivative;
      double prior_derivative = 0;
      const double c = idm_constrain(item->lower, item->upper, y[j], &derivative, &log_jacobian,
                                     &log_jacobian_derivative);
      sum += idm_prior_log_density(item->prior, c, &prior_derivative) + log_jacobian;
      if (opt_gradient) opt_gradient[j] = prior_derivative * derivative + log_jacobian_derivative;
    }
  }
  return sum;
}

bool idm_parameters_proper(const idm_parameters *parameters)
{
  if (!parameters) return false;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    const bool bounded = isfinite(item->lower) && isfinite(item->upper);
    if (item->prior->kind == IDM_PRIOR_FLAT && !item->simplex && !bounded) return false;
  }
  return true;
}

/* Largest number of prior draws outside the support before draw_truncated is used, and of rejected
 * proposals of its rejection samplers. */
enum { max_misses = 100, max_tries = 1000 };

/* Draws from the far tail of a log-concave prior by rejection: the exponential along the tangent at
 * the end `end` of the support bounds the density from above (Robert 1995). */
static double draw_tail(const parameter *item, double end, double height, double derivative,
                        idm_random *random)
{
  double c = end;
  for (int tries = 0; tries < max_tries; tries++) {
    const double step = log(idm_random_uniform(random)) / derivative;
    const double at = end + step;
    if (!(at > item->lower && at < item->upper)) continue;
    c = at;
    if (log(idm_random_uniform(random)) <
        idm_prior_log_density(item->prior, at, NULL) - height - derivative * step)
      break;
  }
  return c;
}

/* Draws from an interval that is narrow relative to the prior by rejection from a uniform proposal.
 */
static double draw_narrow(const parameter *item, idm_random *random)
{
  enum { grid_points = 64 };
  static const double envelope_margin =
      0.05; /* allowance for the maximum over the highest grid point, in log density */
  const double width = item->upper - item->lower;
  double max_log_density = -INFINITY;
  double c = NAN;
  for (int i = 0; i < grid_points; i++)
    max_log_density = fmax(
        max_log_density,
        idm_prior_log_density(item->prior, item->lower + width * (i + 0.5) / grid_points, NULL));
  for (int tries = 0; tries < max_tries; tries++) {
    c = item->lower + width * idm_random_uniform(random);
    if (log(idm_random_uniform(random)) <
        idm_prior_log_density(item->prior, c, NULL) - max_log_density - envelope_margin)
      break;
  }
  return c;
}

/* Draws from a prior of which the support contains almost no mass. */
static double draw_truncated(const parameter *item, idm_random *random)
{
  double derivative[2];
  const double end[2] = {idm_clamp_interior(item->lower, item->upper, item->lower),
                         idm_clamp_interior(item->lower, item->upper, item->upper)};
  const double height[2] = {idm_prior_log_density(item->prior, end[0], &derivative[0]),
                            idm_prior_log_density(item->prior, end[1], &derivative[1])};
  const int side = !(height[0] >= height[1]);
  const bool is_decreasing = side ? derivative[1] > 0 : derivative[0] < 0;
  return is_decreasing ? draw_tail(item, end[side], height[side], derivative[side], random)
                       : draw_narrow(item, random);
}

static double draw_number(const parameter *item, idm_random *random)
{
  if (item->prior->kind == IDM_PRIOR_FLAT)
    return item->lower + (item->upper - item->lower) * idm_random_uniform(random);
  for (int tries = 0; tries < max_misses; tries++) {
    const double c = idm_prior_draw(item->prior, random);
    if (c > item->lower && c < item->upper) return c;
  }
  return draw_truncated(item, random);
}

void idm_parameters_draw(const idm_parameters *parameters, idm_random *random, double *y)
{
  if (!parameters || !random || !y) return;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    if (item->simplex) {
      double p[IDM_MAX_OUTCOMES];
      double concentration[IDM_MAX_OUTCOMES];
      concentrations(item, concentration);
      idm_dirichlet_draw(item->size, concentration, random, p);
      idm_simplex_unconstrain(item->size, p, y + item->first);
      continue;
    }
    for (size_t j = 0; j < item->size; j++)
      y[item->first + j] = idm_unconstrain(item->lower, item->upper, draw_number(item, random));
  }
}

/* Log of the integral of one number's prior over its support. The range of y covers every prior
 * that is truncated by [0, infinity) or an interval, in any unit. */
static double log_mass(const parameter *item)
{
  enum { steps = 20000 };
  double lower;
  double upper;
  double sum = 0;
  idm_prior_support(item->prior, &lower, &upper);
  if (item->prior->kind == IDM_PRIOR_FLAT) return log(item->upper - item->lower);
  if (lower >= item->lower && upper <= item->upper) return 0;
  if (item->prior->kind == IDM_PRIOR_NORMAL) {
    const double root = item->prior->argument[1] * sqrt(2);
    return log(0.5 * (erfc((item->lower - item->prior->argument[0]) / root) -
                      erfc((item->upper - item->prior->argument[0]) / root)));
  }
  for (int i = 0; i <= steps; i++) {
    const double y = -200 + 400.0 * i / steps;
    double log_jacobian;
    const double c = idm_constrain(item->lower, item->upper, y, NULL, &log_jacobian, NULL);
    sum += exp(idm_prior_log_density(item->prior, c, NULL) + log_jacobian) * 400.0 / steps;
  }
  return log(sum);
}

double idm_parameters_log_mass(const idm_parameters *parameters)
{
  double sum = 0;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    if (!item->simplex)
      sum += (double)item->size * log_mass(item);
    else if (item->prior->kind == IDM_PRIOR_FLAT)
      sum -= idm_log_gamma((double)item->size);
  }
  return sum;
}
