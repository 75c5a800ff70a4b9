/* What every part of an assessment looks at. */
#include "invert/assess/inquiry.h"

#include "idm/transform.h"

void idm_inquiry_draw(const inquiry *q, size_t i, double *y)
{
  const size_t count = q->posterior->chains * q->posterior->draws;
  for (size_t d = 0; d < q->f->parameters->dimension; d++)
    y[d] = q->posterior->unconstrained[d * count + i];
}

double idm_inquiry_coordinate(const inquiry *q, const parameter *item, size_t i)
{
  const size_t count = q->posterior->chains * q->posterior->draws;
  return idm_constrain(item->lower, item->upper,
                       q->posterior->unconstrained[item->first * count + i], NULL, NULL, NULL);
}

/* Draws looked at: fewer where a plan is dear. */
size_t idm_inquiry_sample(const inquiry *q, size_t points)
{
  const size_t count = q->posterior->chains * q->posterior->draws;
  const size_t wanted = points > 10000 ? 12 : points > 2000 ? 20 : 200;
  return count < wanted ? count : wanted;
}

/* Draw k of `size`, spread evenly over all. */
size_t idm_inquiry_sample_at(const inquiry *q, size_t k, size_t size)
{
  return k * (q->posterior->chains * q->posterior->draws) / size;
}
