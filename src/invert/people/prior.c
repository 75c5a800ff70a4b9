/* What the prior says of a population, against what its people do. */
#include "invert/people/prior.h"

#include <math.h>
#include <stdio.h>

#include "base/moments.h"
#include "base/number.h"
#include "idm/prior.h"
#include "invert/assess/pull.h"
#include "invert/check.h"

/* Numbers that are told in one remark. */
typedef struct told {
  size_t count;
  size_t used;
  char list[500];
} told;

static void tell(told *t, const char *what, const char *effect)
{
  if (t->used + 160 < sizeof t->list)
    t->used += (size_t)snprintf(t->list + t->used, sizeof t->list - t->used, "%s%.50s of %.90s",
                                t->used ? ", " : "", what, effect);
  else if (t->used + 6 < sizeof t->list && t->list[t->used - 1] != '.')
    t->used += (size_t)snprintf(t->list + t->used, sizeof t->list - t->used, ", ...");
  t->count++;
}

/* What is found of numbers of the population. */
typedef struct found {
  idm_checks *checks;
  idm_notes *misfits;
  size_t numbers;
  told driven;     /* hardly narrower than the prior */
  told unexpected; /* two of its sds from where it is: once in twenty priors that are right */
} found;

/* A prior that holds a number off what people lead to. */
static void look_at_pull(found *f, const idm_moments *m, double centre, double scale,
                         const char *what, const char *effect)
{
  const prior_pull pull = idm_prior_pull(m->mean, m->variance, centre, scale * scale);
  char name[300];
  if (!idm_check_test(f->checks, IDM_CHECK_PRIOR_PULL, idm_prior_pulled(&pull))) return;
  idm_print(name, sizeof name, "%.120s of %.120s", what, effect);
  idm_prior_pull_note(&pull, name, "the people", f->misfits);
}

/* One number by the mean, the variance and the centre and scale of its prior. */
static void look_at(found *f, const double *x, size_t all, double variance, double centre,
                    double scale, const char *what, const char *effect)
{
  const idm_moments m = idm_moments_of(x, all);
  f->numbers++;
  if (idm_check_beyond(f->checks, IDM_CHECK_CONTRACTION, 1 - m.variance / variance))
    tell(&f->driven, what, effect);
  if (idm_check_beyond(f->checks, IDM_CHECK_PRIOR_DISTANCE, fabs(m.mean - centre) / scale))
    tell(&f->unexpected, what, effect);
  look_at_pull(f, &m, centre, scale, what, effect);
}

/* Under LKJ(shape) a correlation of d effects is a beta(a, a) variable on (-1, 1),
 * a = shape - 1 + d/2. */
static void look_at_correlations(found *f, const idm_design *d, const idm_people *people)
{
  const size_t all = people->chains * people->draws;
  const double variance = 1 / (2 * d->correlation + (double)d->effects - 1);
  char pair[120];
  for (size_t j = 1; j < d->effects; j++)
    for (size_t k = 0; k < j; k++) {
      const idm_moments m = idm_moments_of(people->correlation + (j * (j - 1) / 2 + k) * all, all);
      f->numbers++;
      if (!idm_check_beyond(f->checks, IDM_CHECK_CONTRACTION, 1 - m.variance / variance)) continue;
      idm_print(pair, sizeof pair, "%.40s and %.40s", d->effect.name[k], d->effect.name[j]);
      tell(&f->driven, "correlation", pair);
    }
}

void idm_judge_population(const idm_design *d, const idm_people *people, idm_assessment *a)
{
  const size_t all = people->chains * people->draws;
  found f = {.checks = &a->checks, .misfits = &a->misfits};
  for (size_t e = 0; e < d->effects; e++) {
    const double scale = d->sd_scale[e];
    const idm_prior prior = {IDM_PRIOR_HALFNORMAL, 1, &d->sd_scale[e]};
    const double wide = idm_prior_sd(&prior);
    for (size_t k = 0; k < d->coefficients[e]; k++) {
      const double sd = d->coefficient_sd[e][k];
      look_at(&f, people->coefficient + (people->coefficient_first[e] + k) * all, all, sd * sd,
              d->coefficient_mean[e][k], sd, d->coefficient[e].name[k], d->effect.name[e]);
    }
    look_at(&f, people->sd + e * all, all, wide * wide, 0, scale, "sd", d->effect.name[e]);
  }
  if (!d->independent && !d->held && !d->fixed) look_at_correlations(&f, d, people);
  if (f.driven.count)
    idm_notes_add(&a->remarks,
                  "of %zu of %zu numbers of the population the decisions say little: they are "
                  "hardly narrower than their priors (contraction below %.1f): %s",
                  f.driven.count, f.numbers, idm_check_threshold(IDM_CHECK_CONTRACTION),
                  f.driven.list);
  if (f.unexpected.count)
    idm_notes_add(
        &a->remarks,
        "prior and people disagree about %s: what was found is two sds of the prior or more "
        "from where it is expected; look at the prior",
        f.unexpected.list);
}
