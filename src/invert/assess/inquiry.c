/* What every part of an assessment looks at. */
#include "invert/assess/inquiry.h"

#include <string.h>

#include "base/number.h"
#include "idm/transform.h"
#include "invert/check.h"

void idm_inquiry_draw(const inquiry *q, size_t i, double *y)
{
  const size_t count = q->posterior->chains * q->posterior->draws;
  for (size_t d = 0; d < q->f->parameters->dimension; d++)
    y[d] = q->posterior->unconstrained[d * count + i];
}

void idm_inquiry_centre(const inquiry *q, double *y)
{
  idm_inquiry_draw(q, q->at ? q->at - 1 : idm_posterior_highest(q->posterior), y);
}

double idm_inquiry_coordinate(const inquiry *q, const parameter *item, size_t i)
{
  const size_t count = q->posterior->chains * q->posterior->draws;
  return idm_constrain(item->lower, item->upper,
                       q->posterior->unconstrained[item->first * count + i], NULL, NULL, NULL);
}

bool idm_inquiry_is_judged(const inquiry *q, size_t quantity)
{
  static const char axis[] = "coefficient"; /* and coefficient_BLOCK */
  const idm_posterior *p = q->posterior;
  if (!p->summarised[quantity] || !q->people) return p->summarised[quantity];
  if (!p->series_count) return true;
  const size_t series = idm_posterior_series(p, quantity);
  return series < p->series_count &&
         strncmp(p->axis[p->series[series].axis].name, axis, sizeof axis - 1) == 0;
}

const char *idm_inquiry_name(const inquiry *q, size_t quantity, char *buffer, size_t size)
{
  const char *name = q->posterior->quantity.name[quantity];
  if (!q->people) return idm_quantity_spoken(name, buffer, size);
  idm_print(buffer, size, "%.120s", name);
  return buffer;
}

/* Draws looked at: fewer where a plan is dear. */
size_t idm_inquiry_sample(const inquiry *q, size_t points)
{
  const size_t count = q->posterior->chains * q->posterior->draws;
  /* Where plans are not cheap, what is smooth of the changes is enough: a quadratic function. */
  const size_t d = q->f->parameters->dimension, smooth = 8 * (d + 1) * (d + 2);
  const size_t dear = q->people || smooth > 200 ? 200 : smooth;
  const size_t wanted = points > 10000 ? 12 : points > 2000 ? 20 : points > 400 ? dear : 200;
  return count < wanted ? count : wanted;
}

/* Draw k of `size`, spread evenly over all. */
size_t idm_inquiry_sample_at(const inquiry *q, size_t k, size_t size)
{
  return k * (q->posterior->chains * q->posterior->draws) / size;
}

bool idm_inquiry_can_run(const inquiry *q, idm_check_id id)
{
  const idm_check *row = idm_check_at(id);
  idm_checks *checks = &q->assessment->checks;
  const bool undrawn = row->draws && q->posterior->answer != IDM_POSTERIOR;
  const bool unnamed = row->named && q->posterior->coordinate_size;
  if (!idm_check_applies(checks, id)) return false;
  if (undrawn) idm_check_skip(checks, id, "needs draws of a posterior");
  if (unnamed && !undrawn) idm_check_skip(checks, id, "needs free numbers that have names");
  return !undrawn && !unnamed;
}
