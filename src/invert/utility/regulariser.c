/* Regularisers of utilities, their conjugates, barriers and Moreau envelopes
 * (`docs/method/inverse.md, 9`). */
#include "invert/utility/soft_plan.h"

#include <math.h>

static double x_log_x(double x)
{
  return x > 0 ? x * log(x) : 0;
}

double idm_regulariser_value(const idm_regulariser *r, double p, double v)
{
  switch (r->zeta) {
  case IDM_ZETA_SQUARED:
    return v * v / (2 * r->scale);
  case IDM_ZETA_ABSOLUTE:
    return r->scale * fabs(v);
  case IDM_ZETA_ENTROPY:
    return v >= 0 ? r->scale * (x_log_x(v) - v) : INFINITY;
  case IDM_ZETA_GAIL:
    return v > 0 ? p * (v - log(-expm1(-v))) : INFINITY;
  default:
    return fabs(v) <= r->scale ? 0 : INFINITY;
  }
}

double idm_regulariser_conjugate(const idm_regulariser *r, double p, double q)
{
  switch (r->zeta) {
  case IDM_ZETA_SQUARED:
    return 0.5 * r->scale * (p - q) * (p - q);
  case IDM_ZETA_ABSOLUTE:
    return fabs(p - q) <= r->scale ? 0 : INFINITY;
  case IDM_ZETA_ENTROPY:
    return r->scale * exp((p - q) / r->scale);
  case IDM_ZETA_GAIL:
    return (p > 0 ? p * log(p / (p + q)) : 0) + (q > 0 ? q * log(q / (p + q)) : 0);
  default:
    return r->scale * fabs(p - q);
  }
}

/* --- with barriers -------------------------------------------------------------------------- */

/* Minimum over t of c t - mu log(t^2 - v^2), whose derivative with respect to v is c v / t. */
static bool smooth_absolute(double c, double v, double mu, double *value, double *derivative,
                            double *curvature)
{
  const double root = sqrt(mu * mu + c * c * v * v);
  const double t = (mu + root) / c;
  *value = c * t - mu * log(2 * mu * t / c);
  *derivative = c * v / t;
  *curvature = c / t * (1 - c * v / t * (v / root));
  return true;
}

static bool smooth_box(double b, double v, double mu, double *value, double *derivative,
                       double *curvature)
{
  if (!(fabs(v) < b)) return false;
  *value = -mu * (log(b - v) + log(b + v));
  *derivative = mu * (1 / (b - v) - 1 / (b + v));
  *curvature = mu * (1 / ((b - v) * (b - v)) + 1 / ((b + v) * (b + v)));
  return true;
}

bool idm_regulariser_barrier(const idm_regulariser *r, double p, double v, double mu, double *value,
                             double *derivative, double *curvature)
{
  if (r->zeta == IDM_ZETA_ABSOLUTE)
    return smooth_absolute(r->scale, v, mu, value, derivative, curvature);
  if (r->zeta == IDM_ZETA_BOX) return smooth_box(r->scale, v, mu, value, derivative, curvature);
  if (r->zeta != IDM_ZETA_SQUARED && !(v > 0)) return false;
  *value = idm_regulariser_value(r, p, v);
  if (r->zeta == IDM_ZETA_SQUARED) {
    *derivative = v / r->scale;
    *curvature = 1 / r->scale;
  } else if (r->zeta == IDM_ZETA_ENTROPY) {
    *derivative = r->scale * log(v);
    *curvature = r->scale / v;
  } else {
    const double inverse_expm1 = 1 / expm1(v);
    *derivative = p * (1 - inverse_expm1);
    *curvature = p * inverse_expm1 * (1 + inverse_expm1);
  }
  return isfinite(*value);
}

double idm_regulariser_interior(const idm_regulariser *r)
{
  return r->zeta == IDM_ZETA_ENTROPY || r->zeta == IDM_ZETA_GAIL ? 1 : 0;
}

/* --- Moreau envelopes ------------------------------------------------------------------------ */

bool idm_regulariser_is_nonsmooth(const idm_regulariser *r)
{
  return r->zeta == IDM_ZETA_ABSOLUTE || r->zeta == IDM_ZETA_BOX;
}

double idm_regulariser_proximal(const idm_regulariser *r, double p, double q, double centre,
                                double prox_weight, double *v)
{
  const double unclipped = centre + (p - q) / prox_weight;
  switch (r->zeta) {
  case IDM_ZETA_SQUARED:
    *v = r->scale * (p - q);
    break;
  case IDM_ZETA_ENTROPY:
    *v = exp((p - q) / r->scale);
    break;
  case IDM_ZETA_GAIL:
    *v = log((p + q) / q);
    break;
  case IDM_ZETA_ABSOLUTE:
    *v = copysign(fmax(fabs(unclipped) - r->scale / prox_weight, 0), unclipped);
    break;
  default:
    *v = fmax(-r->scale, fmin(unclipped, r->scale));
  }
  if (!idm_regulariser_is_nonsmooth(r)) return idm_regulariser_conjugate(r, p, q);
  return *v * (p - q) - idm_regulariser_value(r, p, *v) -
         0.5 * prox_weight * (*v - centre) * (*v - centre);
}
