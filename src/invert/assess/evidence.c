/* Evidence for the model against chance: see the header. It is estimated where the largest
 * likelihood is near that of uniform choice, so that no draw of the prior dominates the mean. */
#include "invert/assess/evidence.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "idm/matching.h"
#include "idm/workspace.h"

static const uint64_t evidence_stream = (uint64_t)9 << 32;

/* Draws of the prior: fewer where a plan takes long. */
static size_t draws_of(idm_matching *matching)
{
  enum { cheap = 2000, many = 400, few = 100 };
  return idm_workspace_points(idm_matching_workspace(matching)) <= cheap ? many : few;
}

idm_status idm_evidence_against_chance(const inquiry *q, double uniform, double *ret_factor,
                                       idm_error *opt_error)
{
  const idm_parameters *p = q->f->parameters;
  idm_matching *matching = NULL;
  idm_random random;
  double sum = 0;
  *ret_factor = NAN;
  if (!idm_parameters_proper(p)) return IDM_OK;
  double *y = idm_new(p->dimension, sizeof *y);
  idm_status status = y ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_fit_match(q->f, q->f->problem, &matching, opt_error);
  const size_t draws = status == IDM_OK ? draws_of(matching) : 0;
  idm_random_init(&random, q->posterior->seed, evidence_stream);
  for (size_t i = 0; i < draws && status == IDM_OK; i++) {
    double log_likelihood = -INFINITY;
    idm_parameters_draw(p, &random, y);
    status = idm_matching_log_likelihood(matching, y, &log_likelihood, NULL, opt_error);
    sum += isnan(log_likelihood) ? 0 : exp(log_likelihood - uniform);
  }
  if (status == IDM_OK) *ret_factor = sum / (double)draws;
  idm_matching_destroy(matching);
  free(y);
  return status;
}
