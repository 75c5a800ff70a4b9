/* People's own numbers: judged together, since there may be thousands. */
#include "invert/assess/people.h"

#include <math.h>
#include <string.h>

static const double most_rhat = 1.05;
static const double least_ess = 100;

bool idm_is_of_person(const idm_posterior *posterior, size_t quantity)
{
  const size_t series = idm_posterior_series(posterior, quantity);
  return series < posterior->series_count &&
         strcmp(posterior->axis[posterior->series[series].axis].name, "person") == 0;
}

bool idm_person_is_drawn(const idm_diagnosis *d, size_t chains)
{
  return isfinite(d->mean) && isfinite(d->sd) && d->ess_bulk >= least_ess &&
         d->ess_tail >= least_ess && (chains < 2 || d->rhat <= most_rhat);
}

/* Of two people's diagnoses the one to be named: without a number, then the larger R-hat, then the
 * fewer effective draws. */
static bool is_worse(const idm_diagnosis *a, const idm_diagnosis *b)
{
  if (isfinite(a->rhat) != isfinite(b->rhat)) return !isfinite(a->rhat);
  if (a->rhat != b->rhat) return a->rhat > b->rhat;
  return a->ess_bulk < b->ess_bulk;
}

static void judge_series(const idm_posterior *p, const idm_series *series, idm_assessment *a)
{
  const idm_labels *person = &p->axis[series->axis].label;
  size_t count = 0;
  size_t worst = 0;
  char name[128];
  for (size_t i = 0; i < person->count; i++) {
    const idm_diagnosis *d = &a->diagnosis[series->first + i];
    if (idm_person_is_drawn(d, p->chains)) continue;
    if (!count++ || is_worse(d, &a->diagnosis[series->first + worst])) worst = i;
  }
  if (!count) return;
  const idm_diagnosis *d = &a->diagnosis[series->first + worst];
  idm_notes_add(&a->failures,
                "the draws of %s are not enough for %zu of %zu people, least for '%s' (R-hat %.3f, "
                "effective draws %.0f and %.0f in the tails; expected at most %.2f and at least "
                "%.0f); raise --draws or --warmup",
                idm_quantity_spoken(series->name, name, sizeof name), count, person->count,
                person->name[worst], d->rhat, d->ess_bulk, d->ess_tail, most_rhat, least_ess);
}

void idm_judge_people(const idm_posterior *posterior, idm_assessment *assessment)
{
  for (size_t i = 0; i < posterior->series_count; i++)
    if (idm_is_of_person(posterior, posterior->series[i].first))
      judge_series(posterior, &posterior->series[i], assessment);
}
