/* Does the lattice matter? A sample of draws is weighed again on a finer one. */
#include "invert/assess/lattice.h"

#include <math.h>

#include "base/memory.h"
#include "belief/lattice.h"
#include "idm/matching.h"
#include "invert/matching/matching.h"

/* Points of a lattice beyond which a comparison costs more than it tells. */
enum { most_points = 300000 };
/* A lattice that moves a posterior mean by more than this many sds is too coarse. */
static const double most_shift = 0.5;

/* Shifts of the posterior means when each draw is weighted by exp(change). */
static void weigh(const inquiry *q, const double *change, size_t size)
{
  idm_assessment *a = q->assessment;
  const size_t count = q->posterior->chains * q->posterior->draws;
  double most = -INFINITY;
  for (size_t k = 0; k < size; k++) most = fmax(most, change[k]);
  for (size_t i = 0; i < a->quantities; i++) {
    double total = 0;
    double weighted = 0;
    double plain = 0;
    for (size_t k = 0; k < size; k++) {
      const double value = q->posterior->value[i * count + idm_inquiry_sample_at(q, k, size)];
      const double weight = exp(change[k] - most);
      total += weight;
      weighted += weight * value;
      plain += value / (double)size;
    }
    const double shift = (weighted / total - plain) / a->diagnosis[i].sd;
    a->finer_shift[i] = isfinite(shift) ? shift : 0;
  }
}

static idm_status compare(const inquiry *q, idm_matching *finer, size_t size, double *change,
                          idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  double *y = idm_new(d, sizeof *y);
  idm_status status = y ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t k = 0; k < size && status == IDM_OK; k++) {
    double coarse = 0;
    double fine = 0;
    idm_inquiry_draw(q, idm_inquiry_sample_at(q, k, size), y);
    status = idm_matching_log_likelihood(q->f->matching[0], y, &coarse, NULL, opt_error);
    if (status == IDM_OK) status = idm_matching_log_likelihood(finer, y, &fine, NULL, opt_error);
    change[k] = isfinite(fine) && isfinite(coarse) ? fine - coarse : 0;
    q->assessment->finer_change = fmax(q->assessment->finer_change, fabs(change[k]));
  }
  free(y);
  return status;
}

idm_status idm_assess_lattice(const inquiry *q, idm_error *opt_error)
{
  const idm_problem *problem = q->f->problem;
  const size_t states = problem->setting->states.count;
  idm_problem doubled = *problem;
  const int resolution =
      problem->agent.resolution ? problem->agent.resolution : idm_lattice_default(states);
  if (!idm_workspace_points(idm_matching_workspace(q->f->matching[0])) ||
      problem->setting->fully_observed || idm_lattice_count(states, 2 * resolution) > most_points)
    return IDM_OK;
  doubled.agent.resolution = 2 * resolution;
  idm_matching *finer = NULL;
  const size_t size = idm_inquiry_sample(q, idm_lattice_count(states, resolution));
  double *change = idm_new(size, sizeof *change);
  q->assessment->finer_shift = idm_new(q->assessment->quantities, sizeof(double));
  idm_status status = change && q->assessment->finer_shift ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status =
        idm_matching_create(&doubled, q->f->data, q->f->tree, q->f->parameters, &finer, opt_error);
  if (status == IDM_OK) {
    idm_matching_wander(finer);
    status = compare(q, finer, size, change, opt_error);
  }
  if (status == IDM_OK) {
    q->assessment->resolution = resolution;
    q->assessment->finer = 2 * resolution;
    weigh(q, change, size);
  }
  idm_matching_destroy(finer);
  free(change);
  return status;
}

void idm_judge_lattice(const inquiry *q)
{
  idm_assessment *a = q->assessment;
  double most = 0;
  size_t at = 0;
  char name[128];
  if (!a->finer) return;
  for (size_t i = 0; i < a->quantities; i++)
    if (q->posterior->summarised[i] && fabs(a->finer_shift[i]) >= most) {
      most = fabs(a->finer_shift[i]);
      at = i;
    }
  idm_quantity_spoken(q->posterior->quantity.name[at], name, sizeof name);
  if (a->answer == IDM_POINT)
    idm_notes_add(&a->remarks,
                  "a lattice of resolution %d instead of %d moves the log-likelihood by %.3g",
                  a->finer, a->resolution, a->finer_change);
  else
    idm_notes_add(most > most_shift ? &a->failures : &a->remarks,
                  "a lattice of resolution %d instead of %d moves the log-likelihood by at most "
                  "%.3g and the posterior mean of %s by %.2f posterior sd%s",
                  a->finer, a->resolution, a->finer_change, name, most,
                  most > most_shift ? ": the lattice is too coarse, raise agent.resolution" : "");
}
