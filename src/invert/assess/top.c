/* Whether a point is the top that it is said to be. */
#include "invert/assess/top.h"

#include <stdio.h>

#include "idm/assess.h"

/* The numbers at the maximum of the likelihood, as they are reported. */
static void describe(const inquiry *q, char *buffer, size_t size)
{
  const idm_assessment *a = q->assessment;
  size_t at = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < a->parameters && at < size; i++) {
    char name[64];
    idm_quantity_spoken(q->posterior->quantity.name[a->parameter[i].quantity], name, sizeof name);
    const int wrote = snprintf(buffer + at, size - at, "%s%s %.4g", at ? ", " : "", name,
                               a->parameter[i].maximum);
    if (wrote < 0) return;
    at += (size_t)wrote;
  }
}

void idm_judge_top(const inquiry *q, const double *y, double log_likelihood)
{
  static const double least_gain = 0.02; /* half the square of a fifth of a standard deviation */
  if (q->posterior->answer != IDM_POINT) return;
  const double here = q->posterior->statistics[0].log_density;
  const double there = log_likelihood + idm_parameters_log_prior(q->f->parameters, y, NULL);
  if (!(there > here + least_gain)) return;
  char where[240];
  describe(q, where, sizeof where);
  idm_notes_add(&q->assessment->failures,
                "this is not the most probable point: the log posterior is higher by %.3g at %s; "
                "start there (--set), or from more places (--chains)",
                there - here, where);
}
