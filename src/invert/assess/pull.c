/* How far a prior holds a posterior off what the data lead to: see the header. */
#include "invert/assess/pull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/moments.h"
#include "base/number.h"
#include "idm/prior.h"
#include "invert/assess/checks.h"
#include "invert/assess/profile.h"
#include "invert/assess/refit.h"
#include "invert/check.h"

prior_pull idm_prior_pull(double mean, double variance, double prior_mean, double prior_variance)
{
  /* Without data m and v are those of the prior but for errors of the draws. */
  static const double least = 0.01;
  const double off = fabs(mean - prior_mean);
  const double gained = fmax(prior_variance - variance, least * prior_variance);
  return (prior_pull){.conflict = off / sqrt(gained), .shift = off * sqrt(variance) / gained};
}

double idm_prior_pulled(const prior_pull *pull)
{
  return pull->shift > 1 ? pull->conflict : 0;
}

void idm_prior_pull_note(const prior_pull *pull, const char *what, const char *by, idm_notes *notes)
{
  idm_notes_add(notes,
                "the prior of %s contradicts %s, and holds it off what they lead to: its posterior "
                "mean is %.1f sds of what the prior expects of it from the prior's centre, and is "
                "moved by %.1f posterior sds; correct or widen the prior",
                what, by, pull->conflict, pull->shift);
}

static void judge(const inquiry *q, const parameter *item)
{
  const idm_posterior *p = q->posterior;
  const size_t all = p->chains * p->draws;
  const idm_moments m = idm_moments_of(p->unconstrained + item->first * all, all);
  const double sd = idm_prior_sd(item->prior);
  const prior_pull pull = idm_prior_pull(m.mean, m.variance, idm_prior_mean(item->prior), sd * sd);
  char name[128];
  if (!idm_check_test(&q->assessment->checks, IDM_CHECK_PRIOR_PULL, idm_prior_pulled(&pull)))
    return;
  idm_prior_pull_note(&pull,
                      idm_quantity_spoken(p->quantity.name[item->quantity], name, sizeof name),
                      "the data", &q->assessment->misfits);
}

/* Under the right model the maximum is half a nat a number above the truth, and draws are half a
 * nat a number below the maximum, or the truth's prior holds them nearer to it. */
idm_status idm_check_prior_gap(const inquiry *q, idm_error *opt_error)
{
  const idm_posterior *p = q->posterior;
  const size_t all = p->chains * p->draws, numbers = q->f->parameters->dimension;
  idm_assessment *a = q->assessment;
  double mean = 0;
  if (!a->identified || !isfinite(a->log_likelihood) || q->learnt) return IDM_OK;
  double *y = idm_new(numbers, sizeof *y);
  if (!y) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < all; i++) {
    idm_inquiry_draw(q, i, y);
    const double prior = idm_parameters_log_prior(q->f->parameters, y, NULL);
    mean += (p->statistics[i].log_density - prior) / (double)all;
  }
  free(y);
  const double gap = a->log_likelihood - mean - (double)numbers;
  if (isfinite(mean) && idm_check_test(&a->checks, IDM_CHECK_PRIOR_GAP, gap))
    idm_notes_add(
        &a->misfits,
        "a prior keeps the answer from what the data lead to: at the maximum of the "
        "likelihood they are likelier by %.1f nats than at the draws on average, where up to %zu "
        "are expected; correct or widen the prior",
        gap + (double)numbers, numbers);
  return IDM_OK;
}

/* Whether a prior that is level has an end near which the data do not bound the number. */
static bool is_at_end(const parameter *item, const idm_identification *id)
{
  for (int side = 0; side < 2; side++)
    if (item->cut[side] && id->gap[side] <= idm_profile_drop) return true;
  return false;
}

/* A level prior pulls nowhere, but excludes what lies beyond its ends: twice the gain in
 * log-likelihood without them is about chi-square where the number is within, and its root is in
 * the unit of the conflict. */
static idm_status judge_ends(const inquiry *q, const parameter *item, const idm_identification *id,
                             idm_error *opt_error)
{
  idm_assessment *a = q->assessment;
  refit wide = {.log_likelihood = -INFINITY};
  char name[128];
  const idm_status status =
      is_at_end(item, id) ? idm_refit_widely(q, item->block, &wide, opt_error) : IDM_OK;
  const double gain = fmax(0, wide.log_likelihood - a->log_likelihood);
  if (status != IDM_OK || !idm_check_test(&a->checks, IDM_CHECK_PRIOR_PULL, sqrt(2 * gain)))
    return status;
  idm_notes_add(&a->misfits,
                "the prior of %s excludes what the data lead to: at %.4g, beyond its end, they are "
                "likelier by %.1f nats than anywhere within it; widen the prior",
                idm_quantity_spoken(q->posterior->quantity.name[item->quantity], name, sizeof name),
                wide.value, gain);
  return IDM_OK;
}

static bool is_level(const parameter *item)
{
  return item->prior->kind == IDM_PRIOR_UNIFORM || item->prior->kind == IDM_PRIOR_FLAT;
}

/* Names of numbers that are not judged, in one list. */
static void list(const inquiry *q, const parameter *item, char *text, size_t size)
{
  const size_t used = strlen(text);
  char name[128];
  idm_quantity_spoken(q->posterior->quantity.name[item->quantity], name, sizeof name);
  if (used + strlen(name) + 3 < size)
    idm_print(text + used, size - used, "%s%s", used ? ", " : "", name);
}

idm_status idm_check_prior_pull(const inquiry *q, idm_error *opt_error)
{
  const idm_assessment *a = q->assessment;
  const idm_parameters *p = q->f->parameters;
  char others[160] = "";
  idm_status status = IDM_OK;
  for (size_t i = 0, at = 0; i < p->items && status == IDM_OK; i++) {
    const parameter *item = &p->item[i];
    const bool open = isinf(item->lower) && isinf(item->upper);
    const bool scalar = idm_parameter_is_scalar(item);
    const idm_identification *opt_id = scalar && at < a->parameters ? &a->parameter[at] : NULL;
    at += scalar;
    if (scalar && open && item->prior->kind == IDM_PRIOR_NORMAL)
      judge(q, item);
    else if (opt_id && is_level(item) && a->identified && !q->learnt)
      status = judge_ends(q, item, opt_id, opt_error);
    else
      list(q, item, others, sizeof others);
  }
  if (others[0])
    idm_check_except(&q->assessment->checks, IDM_CHECK_PRIOR_PULL, "not of %s (see prior-gap)",
                     others);
  return status;
}
