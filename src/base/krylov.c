/* BiCGStab (van der Vorst 1992), without preconditioner. */
#include "base/krylov.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"

IDM_CLONES
static double dot(size_t n, const double *restrict x, const double *restrict y)
{
  double part[8] = {0};
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int j = 0; j < 8; j++)
      part[j] += x[i + (size_t)j] * y[i + (size_t)j];
  double sum = 0;
  for (; i < n; i++)
    sum += x[i] * y[i];
  for (int j = 0; j < 8; j++)
    sum += part[j];
  return sum;
}

/* r -= a v, then p = r + beta (p - omega v) and the like are written where they stand: each is one
 * pass. */
IDM_CLONES
static void subtract(size_t n, double a, const double *restrict v, double *restrict r)
{
  for (size_t i = 0; i < n; i++)
    r[i] -= a * v[i];
}

IDM_CLONES
static void direction(size_t n, double beta, double omega, const double *restrict r,
                      const double *restrict v, double *restrict p)
{
  for (size_t i = 0; i < n; i++)
    p[i] = r[i] + beta * (p[i] - omega * v[i]);
}

IDM_CLONES
static void advance(size_t n, double a, const double *restrict p, double omega,
                    const double *restrict s, double *restrict x)
{
  for (size_t i = 0; i < n; i++)
    x[i] += a * p[i] + omega * s[i];
}

double idm_bicgstab(size_t n, idm_apply apply, const void *context, const double *b, double *x,
                    double tolerance, int products, double *work)
{
  double *r = work;
  double *shadow = work + n;
  double *p = work + 2 * n;
  double *v = work + 3 * n;
  double *t = work + 4 * n;
  double *best = work + 5 * n;
  memset(x, 0, n * sizeof *x);
  memset(p, 0, n * sizeof *p);
  memset(v, 0, n * sizeof *v);
  memcpy(r, b, n * sizeof *r);
  memcpy(shadow, b, n * sizeof *shadow);
  memset(best, 0, n * sizeof *best);

  const double norm = sqrt(dot(n, b, b));
  if (!(norm > 0)) return 0;
  double smallest = 1;
  double rho = 1, a = 1, omega = 1;
  for (int used = 0; used + 2 <= products && smallest > tolerance; used += 2) {
    const double next = dot(n, shadow, r);
    if (!isfinite(next) || next == 0) break;
    direction(n, next / rho * (a / omega), omega, r, v, p);
    rho = next;
    apply(context, p, v);
    const double denominator = dot(n, shadow, v);
    if (denominator == 0) break;
    a = rho / denominator;
    subtract(n, a, v, r);
    apply(context, r, t);
    const double tt = dot(n, t, t);
    omega = tt > 0 ? dot(n, t, r) / tt : 0;
    advance(n, a, p, omega, r, x);
    subtract(n, omega, t, r);
    const double reached = sqrt(dot(n, r, r)) / norm;
    if (!isfinite(reached)) break;
    if (reached < smallest) {
      smallest = reached;
      memcpy(best, x, n * sizeof *best);
    }
    if (omega == 0) break;
  }
  memcpy(x, best, n * sizeof *x);
  return smallest;
}
