/* A prior of correlations that contradicts the people: see the header. */
#include "invert/people/correlation.h"

#include <math.h>

#include "base/moments.h"
#include "invert/check.h"

/* People below which Fisher's z is far from normal. */
enum { least_people = 6 };
/* Share of the variance over people that their decisions must determine. */
static const double least_share = 0.1;

/* A person's effect less the population's mean for that person. */
static double residual(const idm_design *d, const idm_people *p, size_t effect, size_t person,
                       size_t draw)
{
  const size_t all = p->chains * p->draws, count = d->coefficients[effect];
  const double *b = p->coefficient + p->coefficient_first[effect] * all + draw;
  double x = p->effect[(effect * d->people + person) * all + draw];
  for (size_t k = 0; k < count; k++) x -= d->regressor[effect][person * count + k] * b[k * all];
  return x;
}

/* Posterior means of u, w and u w of one person. */
typedef struct moments {
  double u, w, product;
} moments;

static moments find_moments(const idm_design *d, const idm_people *p, size_t j, size_t k,
                            size_t person)
{
  const size_t all = p->chains * p->draws;
  const double *rho = p->correlation + (j * (j - 1) / 2 + k) * all;
  moments m = {0};
  for (size_t i = 0; i < all; i++) {
    const double u = residual(d, p, k, person, i) / p->sd[k * all + i];
    const double v = residual(d, p, j, person, i) / p->sd[j * all + i];
    const double w = (v - rho[i] * u) / sqrt(1 - rho[i] * rho[i]);
    m.u += u / (double)all;
    m.w += w / (double)all;
    m.product += u * w / (double)all;
  }
  return m;
}

/* What is left of a correlation between u and w, and Fisher's z of it in standard errors; NaN where
 * people's decisions leave it open. */
typedef struct rest {
  double correlation;
  double far;
} rest;

static rest find_rest(const idm_design *d, const idm_people *p, size_t j, size_t k)
{
  static const double most = 1 - 1e-12; /* atanh is finite */
  const double n = (double)d->people;
  double uu = 0, ww = 0, score = 0, covariance = 0;
  for (size_t i = 0; i < d->people; i++) {
    const moments m = find_moments(d, p, j, k, i);
    uu += m.u * m.u / n;
    ww += m.w * m.w / n;
    score += m.product / n;
    covariance += (m.product - m.u * m.w) / n;
  }
  if (!(fmin(uu, ww) > least_share)) return (rest){NAN, NAN};
  /* The variance of a product of two normals; decisions that trade one effect for the other make
   * their posterior covariance, which estimates of them have with the other sign. */
  const double r = score / sqrt(uu * ww + covariance * covariance);
  return (rest){r, fabs(atanh(fmax(-most, fmin(most, r)))) * sqrt(n - 2)};
}

static void judge_pair(const idm_design *d, const idm_people *p, size_t j, size_t k,
                       idm_assessment *a)
{
  const size_t all = p->chains * p->draws;
  const rest found = find_rest(d, p, j, k);
  if (!idm_check_beyond(&a->checks, IDM_CHECK_PRIOR_PULL, found.far)) return;
  idm_notes_add(&a->misfits,
                "the prior of correlations, LKJ(%.4g), contradicts the people, and holds that of "
                "%s and %s off what they lead to: its posterior mean is %.2f, and people have a "
                "further correlation of %.2f, %.1f standard errors from 0; lower "
                "`population: {correlation: ...}`",
                d->correlation, d->effect.name[k], d->effect.name[j],
                idm_mean(p->correlation + (j * (j - 1) / 2 + k) * all, all), found.correlation,
                found.far);
}

void idm_judge_correlations(const idm_design *d, const idm_people *people, idm_assessment *a)
{
  if (d->independent || d->held || d->fixed || d->people < least_people) return;
  for (size_t j = 1; j < d->effects; j++)
    for (size_t k = 0; k < j; k++) judge_pair(d, people, j, k, a);
}
