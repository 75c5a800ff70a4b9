/* What a whole log bounds.
 *
 * Over hundreds of thousands of histories an evaluation takes a second, and a profile hundreds of
 * them. Its questions are told apart: whether there are other regions, and whether the likelihood
 * falls towards the limits, a few thousand histories answer; where the one region of all of them
 * ends follows from the curvature at their maximum, held against the likelihood there. */
#include "invert/assess/whole.h"

#include <math.h>

#include "base/memory.h"
#include "idm/assess.h"
#include "idm/matching.h"
#include "invert/assess/profile.h"
#include "invert/assess/sentence.h"
#include "invert/matching/matching.h"
#include "invert/matching/start.h"

static idm_status evaluate(void *context, const double *y, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  return idm_matching_log_likelihood(context, y, log_density, opt_gradient, opt_error);
}

/* Where the profile of coordinate c has fallen by the drop, by the curvature, stretched by how far
 * the likelihood falls there; *ret_round is false where that is not nearly as much. */
static idm_status find_end(const inquiry *q, start *top, size_t c, int side, double *ret_end,
                           bool *ret_round, idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  const double *column = top->covariance + c * d;
  const double sd = sqrt(column[c]);
  const double far = (side ? 1 : -1) * sqrt(2 * idm_profile_drop) * sd;
  double height;
  for (size_t i = 0; i < d; i++) top->x[i] = top->mode[i] + far * column[i] / column[c];
  const idm_status status =
      idm_matching_log_likelihood(q->f->matching[0], top->x, &height, NULL, opt_error);
  if (status != IDM_OK) return status;
  const double stretch = sqrt(idm_profile_drop / (top->log_density - height));
  *ret_round = stretch > 0.7 && stretch < 1.4;
  *ret_end = top->mode[c] + stretch * far;
  return IDM_OK;
}

/* One number. Several regions, one that is open, and a peak that is not round stay as the part has
 * them, and unchecked. */
static idm_status bring_over(const inquiry *q, const parameter *item, start *top, double share,
                             idm_identification *id, idm_error *opt_error)
{
  bool round[2] = {false, false};
  double end[2] = {NAN, NAN};
  id->maximum = idm_parameter_reported_at(item, top->mode[item->first]);
  const bool closed = id->regions == 1 && fmin(id->gap[0], id->gap[1]) > idm_profile_drop;
  for (int side = 0; side < 2; side++) {
    id->gap[side] /= share;
    if (!closed) continue;
    const idm_status status =
        find_end(q, top, item->first, side, &end[side], &round[side], opt_error);
    if (status != IDM_OK) return status;
  }
  id->unchecked = id->unchecked || !round[0] || !round[1];
  if (round[0] && round[1]) {
    const double a = idm_parameter_reported_at(item, end[0]),
                 b = idm_parameter_reported_at(item, end[1]);
    id->low = id->region[0][0] = fmin(a, b);
    id->high = id->region[0][1] = fmax(a, b);
  }
  idm_identification_sentence(q, item, id);
  return IDM_OK;
}

idm_status idm_identify_whole(const inquiry *q, const double *y, const double *covariance,
                              double share, idm_error *opt_error)
{
  const idm_parameters *parameters = q->f->parameters;
  const size_t d = parameters->dimension;
  const idm_target target = {
      .dimension = d, .gradient = true, .context = q->f->matching[0], .evaluate = evaluate};
  start *top;
  idm_status status = idm_start_create(d, &top, opt_error);
  if (status != IDM_OK) return status;
  memcpy(top->mode, y, d * sizeof *y);
  for (size_t i = 0; i < d * d; i++) top->covariance[i] = share * covariance[i];
  idm_matching_wander(q->f->matching[0]);
  status = evaluate(q->f->matching[0], y, &top->log_density, NULL, opt_error);
  if (status == IDM_OK) status = idm_start_climb_near(&target, top, opt_error);
  q->assessment->log_likelihood = top->log_density;
  for (size_t i = 0, at = 0; i < parameters->items && status == IDM_OK; i++)
    if (idm_parameter_is_scalar(&parameters->item[i]))
      status = bring_over(q, &parameters->item[i], top, share, &q->assessment->parameter[at++],
                          opt_error);
  if (status == IDM_OK) idm_judge_top(q, top->mode, top->log_density);
  idm_start_destroy(top);
  return status;
}
