/* Modes of the posterior of dynamics.
 *
 * Cheeseman and Stutz replace the hidden states by their expected counts at the mode, for which the
 * evidence is known (a product of Dirichlet-multinomials), and correct it by the ratio of the
 * likelihoods of observed and of complete data there. The approximation only decides which modes
 * the chains of a sampler are moved between and where they start, so that its error does not bias
 * draws.
 *
 * Contents: evidence · distinct modes · starts of chains */
#include "learn/modes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/gamma.h"
#include "base/log_sum.h"
#include "base/memory.h"

/* A mode this far below the best has a weight of 5e-5. The approximation is good to a few nats, so
 * that a mode which is left out has less than one draw in a thousand. */
static const double within = 10;
/* Complete data tell dynamics apart that are further apart than this. A Gibbs sweep moves freely
 * between those that are nearer. */
static const double same = 3;

/* --- evidence ------------------------------------------------------------------------------- */

/* log of the Dirichlet-multinomial of a row's counts, less their likelihood. */
static double row_evidence(const structure *s, const row *it, double prior, const double *counts,
                           const double *numbers)
{
  double sum = 0, shapes = 0, priors = 0;
  for (size_t i = it->first; i < it->first + it->width; i++) {
    if (!s->possible[i]) continue;
    sum += idm_log_gamma(prior + counts[i]) - idm_log_gamma(prior);
    if (counts[i] > 0) sum -= counts[i] * log(numbers[i]);
    shapes += prior + counts[i];
    priors += prior;
  }
  return priors > 0 ? sum + idm_log_gamma(priors) - idm_log_gamma(shapes) : 0;
}

double modes_evidence(pass *p, double prior, const idm_dynamics *mode)
{
  const structure *s = p->learner->structure;
  double sum = pass_forward(p, mode, false, NULL);
  if (!isfinite(sum)) return -INFINITY;
  pass_backward(p, mode);
  structure_gather(s, p->counts);
  for (size_t r = 0; r < s->rows; r++)
    if (structure_leads(s, r)) sum += row_evidence(s, &s->row[r], prior, p->counts, mode->start);
  return sum;
}

/* --- distinct modes ------------------------------------------------------------------------- */

double modes_apart(const structure *s, const double *counts, const double *numbers,
                   const double *other)
{
  double sum = 0;
  for (size_t r = 0; r < s->rows; r++) {
    const row *it = &s->row[r];
    for (size_t i = it->first; structure_leads(s, r) && i < it->first + it->width; i++)
      if (counts[i] > 0) sum += counts[i] * log(numbers[i] / other[i]);
  }
  return sum;
}

void modes_clear(idm_modes *modes)
{
  for (size_t i = 0; modes->mode && i < modes->count; i++) idm_dynamics_destroy(modes->mode[i]);
  free(modes->mode);
  free(modes->log_evidence);
  *modes = (idm_modes){0};
}

/* An end of the search. */
typedef struct candidate {
  idm_dynamics *dynamics;
  double *counts; /* expected there, gathered */
  double log_evidence;
  bool used;
} candidate;

static void candidates_destroy(candidate *c, size_t count)
{
  for (size_t i = 0; c && i < count; i++) {
    idm_dynamics_destroy(c[i].dynamics);
    free(c[i].counts);
  }
  free(c);
}

/* All ends, their states named as those of the first. */
static idm_status make_candidates(pass *p, double prior, const idm_dynamics *const *end,
                                  size_t ends, candidate *c, idm_error *opt_error)
{
  const structure *s = p->learner->structure;
  const size_t numbers = end[0]->numbers;
  double *scratch = idm_new(structure_room(s), sizeof *scratch);
  idm_status status = scratch ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < ends && status == IDM_OK; i++) {
    c[i].counts = idm_new(numbers, sizeof *c[i].counts);
    status = c[i].counts ? idm_dynamics_create(s->sizes, &c[i].dynamics, opt_error)
                         : idm_fail_memory(opt_error);
    if (status != IDM_OK) break;
    idm_dynamics_assign(c[i].dynamics, end[i]);
    if (i > 0) structure_name(s, end, 1, c[i].dynamics->start, scratch);
    c[i].log_evidence = modes_evidence(p, prior, c[i].dynamics);
    memcpy(c[i].counts, p->counts, numbers * sizeof *c[i].counts);
  }
  free(scratch);
  return status;
}

/* Keep a candidate where it is none of the modes kept before. */
static void keep_distinct(const structure *s, candidate *c, idm_modes *modes)
{
  c->used = true;
  for (size_t m = 0; m < modes->count; m++) {
    assert(c->dynamics && modes->mode[m]);
    if (modes_apart(s, c->counts, c->dynamics->start, modes->mode[m]->start) <= same) return;
  }
  modes->log_evidence[modes->count] = c->log_evidence;
  modes->mode[modes->count++] = c->dynamics;
  c->dynamics = NULL;
}

/* The candidate of the highest evidence that was not looked at; NULL: none counts. */
static candidate *next_best(candidate *c, size_t count)
{
  double top = -INFINITY;
  candidate *best = NULL;
  for (size_t i = 0; i < count; i++) {
    top = fmax(top, c[i].log_evidence);
    if (!c[i].used && (!best || c[i].log_evidence > best->log_evidence)) best = &c[i];
  }
  return best && best->log_evidence >= top - within ? best : NULL;
}

idm_status modes_find(const idm_iohmm *learner, double prior, const idm_dynamics *const *end,
                      size_t ends, idm_modes *modes, idm_error *opt_error)
{
  pass *p = NULL;
  assert(ends > 0);
  candidate *c = idm_new(ends, sizeof *c);
  *modes = (idm_modes){0};
  modes->mode = idm_new(MODES_MOST, sizeof *modes->mode);
  modes->log_evidence = idm_new(MODES_MOST, sizeof *modes->log_evidence);
  idm_status status = c && modes->mode && modes->log_evidence ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = pass_create(learner, &p, opt_error);
  if (status == IDM_OK) status = make_candidates(p, prior, end, ends, c, opt_error);
  candidate *next = status == IDM_OK ? &c[0] : NULL;
  while (next && modes->count < MODES_MOST) {
    keep_distinct(learner->structure, next, modes);
    next = next_best(c, ends);
  }
  pass_destroy(p);
  candidates_destroy(c, ends);
  if (status != IDM_OK) modes_clear(modes);
  return status;
}

/* --- starts of chains ----------------------------------------------------------------------- */

size_t modes_start(const idm_modes *modes, size_t chain)
{
  static const double share = 0.01;
  size_t turn[MODES_MOST], turns = 0;
  if (modes->count == 1) return 0;
  const double all = idm_log_sum_exp(modes->log_evidence, modes->count);
  for (size_t m = 0; m < modes->count; m++)
    if (modes->log_evidence[m] - all >= log(share)) turn[turns++] = m;
  return turns ? turn[chain % turns] : 0;
}
