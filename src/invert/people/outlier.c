/* People who are too far from the others: see the header.
 *
 * Contents: Student's t · a draw · the verdict */
#include "invert/people/outlier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/quantile.h"
#include "invert/check.h"

/* --- Student's t ---------------------------------------------------------------------------- */

/* Abramowitz and Stegun (1964), 26.7.3 and 26.7.4: a sum of as many terms as half the degrees. */
double idm_student_tails(double t, size_t degrees)
{
  const double angle = atan(fabs(t) / sqrt((double)degrees));
  const double cosine = cos(angle), square = cosine * cosine;
  const bool odd = degrees % 2;
  double term = odd ? cosine : 1, sum = degrees > 1 ? term : 0;
  for (size_t k = odd ? 3 : 2; k + 1 < degrees; k += 2) {
    term *= square * (double)(k - 1) / (double)k;
    sum += term;
  }
  const double inside = sin(angle) * sum;
  return fmax(0, 1 - (odd ? (angle + inside) * 2 / acos(-1) : inside));
}

/* --- a draw --------------------------------------------------------------------------------- */

/* The person furthest from the others in one effect. */
typedef struct furthest {
  size_t person;
  double t;   /* the studentised residual, without its sign */
  double sds; /* the distance from what the others expect, in their sd */
  double p;   /* of one person */
} furthest;

typedef struct regression {
  const idm_design *design;
  const idm_people *people;
  double *factor;   /* [coefficient][coefficient] of W'W */
  double *right;    /* [coefficient] */
  double *leverage; /* [person] */
  double *residual; /* [person] */
} regression;

/* Least squares over all people: residuals, leverages and the sum of squares; NaN where regressors
 * are combinations of each other. */
static double regress(const regression *r, size_t effect, size_t draw)
{
  const idm_design *d = r->design;
  const size_t n = d->people, m = d->coefficients[effect];
  const size_t all = r->people->chains * r->people->draws;
  const double *w = d->regressor[effect];
  const double *x = r->people->effect + effect * n * all + draw;
  memset(r->factor, 0, m * m * sizeof *r->factor);
  memset(r->right, 0, m * sizeof *r->right);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++) {
      r->right[j] += w[i * m + j] * x[i * all];
      for (size_t k = 0; k < m; k++) r->factor[j * m + k] += w[i * m + j] * w[i * m + k];
    }
  if (!idm_cholesky(m, r->factor)) return NAN;
  idm_lower_solve(m, r->factor, r->right);
  double squares = 0;
  double *row = r->right + m;
  for (size_t i = 0; i < n; i++) {
    memcpy(row, w + i * m, m * sizeof *row);
    idm_lower_solve(m, r->factor, row);
    r->residual[i] = x[i * all];
    r->leverage[i] = 0;
    for (size_t j = 0; j < m; j++) {
      r->residual[i] -= row[j] * r->right[j];
      r->leverage[i] += row[j] * row[j];
    }
    squares += r->residual[i] * r->residual[i];
  }
  return squares;
}

static furthest find_furthest(const regression *r, size_t effect, size_t draw)
{
  static const double least = 1e-9; /* of what a person adds to the regression */
  const size_t n = r->design->people, degrees = n - r->design->coefficients[effect] - 1;
  const double squares = regress(r, effect, draw);
  furthest most = {.p = 1};
  for (size_t i = 0; i < n; i++) {
    const double left = 1 - r->leverage[i], own = r->residual[i] * r->residual[i] / left;
    const double others = (squares - own) / (double)degrees;
    if (!(left > least) || !(squares > 0)) continue;
    const double t = sqrt(own / fmax(others, least * squares));
    if (t > most.t) most = (furthest){.person = i, .t = t, .sds = t / sqrt(left)};
  }
  if (most.t > 0) most.p = idm_student_tails(most.t, degrees);
  return most;
}

/* --- the verdict ---------------------------------------------------------------------------- */

/* Draws that are looked at. */
enum { most_looked = 200 };

/* Over the draws that are looked at. */
typedef struct tally {
  double p[most_looked];
  size_t *count; /* [effect][person]: draws in which it is the furthest of all */
  double *sds;   /* [effect][person]: their sum */
} tally;

static void take_draw(const regression *r, size_t draw, size_t at, tally *t)
{
  const idm_design *d = r->design;
  furthest most = {.p = 1};
  size_t of = 0;
  for (size_t e = 0; e < d->effects; e++) {
    const furthest one = find_furthest(r, e, draw);
    if (e && !(one.p < most.p)) continue;
    most = one;
    of = e;
  }
  t->p[at] = fmin(1, most.p * (double)(d->people * d->effects));
  t->count[of * d->people + most.person]++;
  t->sds[of * d->people + most.person] += most.sds;
}

static void judge(const idm_design *d, tally *t, size_t looked, idm_assessment *a)
{
  size_t most = 0;
  const double p = idm_quantile(t->p, looked, 0.5);
  for (size_t i = 0; i < d->effects * d->people; i++)
    if (t->count[i] > t->count[most]) most = i;
  if (!idm_check_test(&a->checks, IDM_CHECK_OUTLIER, p)) return;
  idm_notes_add(&a->misfits,
                "'%s' is far from the others: its %s is %.1f of their sds from what they lead to "
                "expect (p = %.2g over %zu people, where people vary normally). Mean and sd of the "
                "population are moved by this person: exclude it (--where), or describe what sets "
                "it apart by a column (--model)",
                d->person.name[most % d->people], d->effect.name[most / d->people],
                t->sds[most] / (double)t->count[most], p, d->people);
}

/* Whether all effects leave degrees of freedom, and people vary at all. */
static bool can_judge(const idm_design *d)
{
  bool enough = !d->fixed;
  for (size_t e = 0; e < d->effects; e++) enough = enough && d->people >= d->coefficients[e] + 3;
  return enough;
}

idm_status idm_judge_outliers(const idm_design *d, const idm_people *people, idm_assessment *a,
                              idm_error *opt_error)
{
  const size_t all = people->chains * people->draws;
  const size_t looked = all < most_looked ? all : most_looked;
  size_t m = 0;
  if (!can_judge(d)) return IDM_OK;
  for (size_t e = 0; e < d->effects; e++) m = d->coefficients[e] > m ? d->coefficients[e] : m;
  double *room = idm_new(idm_times(m, m + 2) + 2 * d->people, sizeof *room);
  tally *t = idm_new(1, sizeof *t);
  if (t) t->count = idm_new(d->effects * d->people, sizeof *t->count);
  if (t) t->sds = idm_new(d->effects * d->people, sizeof *t->sds);
  const bool made = room && t && t->count && t->sds;
  if (made) {
    const regression r = {.design = d,
                          .people = people,
                          .factor = room,
                          .right = room + m * m,
                          .leverage = room + m * (m + 2),
                          .residual = room + m * (m + 2) + d->people};
    for (size_t k = 0; k < looked; k++) take_draw(&r, k * all / looked, k, t);
    judge(d, t, looked, a);
  }
  if (t) free(t->count);
  if (t) free(t->sds);
  free(t);
  free(room);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}
