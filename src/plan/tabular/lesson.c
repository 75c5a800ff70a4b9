/* What was learnt for: see the header. */
#include "plan/tabular/lesson.h"

#include <math.h>

#include "base/memory.h"

static size_t utilities(const idm_theta *theta)
{
  return theta->block[IDM_UTILITY].size * theta->block[IDM_UTILITY].variants;
}

bool idm_lesson_create(lesson *l, const idm_theta *theta)
{
  l->learnt = false;
  l->number = idm_new(2 + utilities(theta), sizeof *l->number);
  return l->number;
}

void idm_lesson_destroy(lesson *l)
{
  free(l->number);
}

bool idm_lesson_is_new(lesson *l, const idm_theta *theta)
{
  const double scalar[2] = {idm_theta_scalar(theta, IDM_DISCOUNT),
                            idm_theta_scalar(theta, IDM_ALPHA)};
  const double *utility = theta->block[IDM_UTILITY].value;
  const size_t size = utilities(theta) * sizeof *utility;
  if (l->learnt && memcmp(l->number, scalar, sizeof scalar) == 0 &&
      memcmp(l->number + 2, utility, size) == 0)
    return false;
  memcpy(l->number, scalar, sizeof scalar);
  memcpy(l->number + 2, utility, size);
  l->learnt = true;
  return true;
}

void idm_lesson_forget(lesson *l)
{
  l->learnt = false;
}

idm_plan_report idm_lesson_report(const lesson *l)
{
  return (idm_plan_report){.bound = INFINITY,
                           .iterations = l->found.transitions,
                           .stop = IDM_STOP_BUDGET,
                           .experience = l->found};
}
