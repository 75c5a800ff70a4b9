/* People who are too far from the others: see the header.
 *
 * Contents: a draw · the verdict */
#include "invert/people/outlier.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "idm/quantile.h"
#include "invert/check.h"
#include "invert/people/regression.h"

/* Draws that are looked at. */
enum { most_looked = 200 };

/* Over the draws that are looked at. */
typedef struct tally {
  const idm_design *design;
  const idm_people *people;
  regression *effect; /* [effect] */
  double *residual;   /* [person] */
  double p[most_looked];
  size_t *count; /* [effect][person]: draws in which it is the furthest of all */
  double *sds;   /* [effect][person]: their sum */
} tally;

static void close_tally(tally *t)
{
  for (size_t e = 0; t && t->effect && e < t->design->effects; e++)
    idm_regression_close(&t->effect[e]);
  if (!t) return;
  free(t->effect);
  free(t->residual);
  free(t->count);
  free(t->sds);
  free(t);
}

static idm_status open_tally(const idm_design *d, const idm_people *people, tally **ret_tally,
                             idm_error *opt_error)
{
  tally *t = *ret_tally = idm_new(1, sizeof *t);
  if (!t) return idm_fail_memory(opt_error);
  t->design = d;
  t->people = people;
  t->effect = idm_new(d->effects, sizeof *t->effect);
  t->residual = idm_new(d->people, sizeof *t->residual);
  t->count = idm_new(idm_times(d->effects, d->people), sizeof *t->count);
  t->sds = idm_new(idm_times(d->effects, d->people), sizeof *t->sds);
  idm_status status =
      t->effect && t->residual && t->count && t->sds ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t e = 0; e < d->effects && status == IDM_OK; e++)
    status = idm_regression_open(&t->effect[e], d, e, opt_error);
  return status;
}

/* --- a draw --------------------------------------------------------------------------------- */

/* The person furthest from the others in one effect. */
typedef struct furthest {
  size_t person;
  double t;   /* the studentised residual, without its sign */
  double sds; /* the distance from what the others expect, in their sd */
  double p;   /* of one person */
} furthest;

static furthest find_furthest(const tally *t, size_t effect, size_t draw)
{
  static const double least = 1e-9; /* of what a person adds to the regression */
  const regression *r = &t->effect[effect];
  const size_t n = r->people, degrees = n - r->rank - 1;
  const size_t all = t->people->chains * t->people->draws;
  const double squares =
      idm_regression_residuals(r, t->people->effect + effect * n * all + draw, all, t->residual);
  furthest most = {.p = 1};
  for (size_t i = 0; i < n; i++) {
    const double left = 1 - idm_regression_leverage(r, i);
    const double own = t->residual[i] * t->residual[i] / left;
    const double others = (squares - own) / (double)degrees;
    if (!(left > least) || !(squares > 0)) continue;
    const double far = sqrt(own / fmax(others, least * squares));
    if (far > most.t) most = (furthest){.person = i, .t = far, .sds = far / sqrt(left)};
  }
  if (most.t > 0) most.p = idm_student_tails(most.t, degrees);
  return most;
}

/* --- the verdict ---------------------------------------------------------------------------- */

static void take_draw(tally *t, size_t draw, size_t at)
{
  const idm_design *d = t->design;
  furthest most = {.p = 1};
  size_t of = 0;
  for (size_t e = 0; e < d->effects; e++) {
    const furthest one = find_furthest(t, e, draw);
    if (e && !(one.p < most.p)) continue;
    most = one;
    of = e;
  }
  t->p[at] = fmin(1, most.p * (double)(d->people * d->effects));
  t->count[of * d->people + most.person]++;
  t->sds[of * d->people + most.person] += most.sds;
}

static void judge(const idm_design *d, tally *t, size_t looked, idm_assessment *a,
                  size_t *ret_person)
{
  size_t most = 0;
  const double p = idm_quantile(t->p, looked, 0.5);
  const bool nested = a->checks.kind == IDM_CHECK_NESTED;
  for (size_t i = 0; i < d->effects * d->people; i++)
    if (t->count[i] > t->count[most]) most = i;
  if (!idm_check_test(&a->checks, IDM_CHECK_OUTLIER, p)) return;
  *ret_person = most % d->people;
  idm_notes_add(&a->misfits,
                "'%s' is far from the others: its %s is %.1f of their sds from what they lead to "
                "expect (p = %.2g over %zu people, where people vary normally). Mean and sd of the "
                "%s are moved by this person: exclude it (--where), or %s",
                d->person.name[*ret_person], d->effect.name[most / d->people],
                t->sds[most] / (double)t->count[most], p, d->people,
                nested ? "group" : "population",
                nested ? "put it in a group of its own"
                       : "describe what sets it apart by a column (--model)");
}

/* Whether all effects leave degrees of freedom, and people vary at all. */
static bool can_judge(const idm_design *d)
{
  bool enough = !d->fixed;
  for (size_t e = 0; e < d->effects; e++) enough = enough && d->people >= d->coefficients[e] + 3;
  return enough;
}

idm_status idm_judge_outliers(const idm_design *d, const idm_people *people, idm_assessment *a,
                              size_t *ret_person, idm_error *opt_error)
{
  const size_t all = people->chains * people->draws;
  const size_t looked = all < most_looked ? all : most_looked;
  tally *t;
  *ret_person = d->people;
  if (!can_judge(d)) return IDM_OK;
  const idm_status status = open_tally(d, people, &t, opt_error);
  for (size_t k = 0; k < looked && status == IDM_OK; k++) take_draw(t, k * all / looked, k);
  if (status == IDM_OK) judge(d, t, looked, a, ret_person);
  close_tally(t);
  return status;
}
