/* Sentences on the identification of free numbers, and their part of the verdict.
 *
 * Contents: sentences · the verdict */
#include "invert/assess/context.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "infer/distribution.h"
#include "invert/posterior.h"

/* --- sentences ------------------------------------------------------------------------------ */

static bool is_open(const idm_identification *id, int side)
{
  return id->gap[side] <= idm_profile_drop;
}

/* Append clauses on the sides that the data do not bound. */
static void open_clauses(const parameter *item, const idm_identification *id, char *text,
                         size_t size)
{
  size_t length = 0;
  text[0] = '\0';
  for (int side = 0; side < 2; side++) {
    if (!is_open(id, side)) continue;
    const char *where = side ? "above" : "below";
    if (item->truncated[side])
      length += (size_t)idm_print(
          text + length, size - length,
          "; %s the prior ends, at %.3g, where the log-likelihood is within %.2f of its maximum: "
          "the "
          "data do not exclude values beyond that end, the prior does",
          where, idm_parameter_reported_at(item, side ? INFINITY : -INFINITY), id->gap[side]);
    else
      length += (size_t)idm_print(
          text + length, size - length,
          id->proper[side]
              ? "; %s it is bounded by the prior, not by the data (at the limit the "
                "log-likelihood is within %.2f of its maximum)"
              : "; %s it is bounded neither by the data (at the limit the log-likelihood is within "
                "%.2f of its maximum) nor by the prior",
          where, id->gap[side]);
  }
}

/* Print "within [a, b] or [c, d]", or "below only: it is above a". */
static void region_clause(const idm_identification *id, char *text, size_t size)
{
  if (id->regions == 1 && is_open(id, 0) != is_open(id, 1)) {
    const bool below = is_open(id, 1);
    idm_print(text, size, "%s only: it is %s %.3g", below ? "below" : "above",
              below ? "above" : "below", below ? id->low : id->high);
    return;
  }
  size_t length = (size_t)idm_print(text, size, "within ");
  for (size_t i = 0; i < id->regions; i++)
    length += (size_t)idm_print(text + length, size - length, "%s[%.3g, %.3g]", i ? " or " : "",
                                id->region[i][0], id->region[i][1]);
}

/* The implied interval of the natural value, for a number inferred on another scale. */
static void natural_clause(const check_context *q, const parameter *item,
                           const idm_identification *id, char *text, size_t size)
{
  const char *natural = q->posterior->quantity.name[item->quantity];
  const bool inverse = item->scale == IDM_SCALE_INVERSE;
  text[0] = '\0';
  if (idm_parameter_reported(item) == item->quantity) return;
  if (inverse && id->low <= 0 && id->high >= 0)
    idm_print(text, size, "; %.60s itself is not bounded above: report 1/%.60s%s", natural, natural,
              item->block == IDM_BETA ? ", optimism, not beta" : "");
  else if (inverse)
    idm_print(text, size, " (%.60s between %.3g and %.3g)", natural,
              1 / (id->high != 0 ? id->high : INFINITY), 1 / id->low);
  else
    idm_print(text, size, " (%.60s between %.3g and %.3g)", natural,
              idm_scale_inverse(item->scale, id->low), idm_scale_inverse(item->scale, id->high));
}

void idm_identification_sentence(const check_context *q, const parameter *item,
                                 idm_identification *id)
{
  char name[128];
  char regions[200];
  char open[400];
  char natural[200];
  idm_quantity_label(q->posterior->quantity.name[id->quantity], name, sizeof name);
  open_clauses(item, id, open, sizeof open);
  region_clause(id, regions, sizeof regions);
  natural_clause(q, item, id, natural, sizeof natural);
  if (id->regions == 1 && is_open(id, 0) && is_open(id, 1))
    idm_print(id->sentence, sizeof id->sentence, "the data do not bound %s%s", name, open);
  else
    idm_print(id->sentence, sizeof id->sentence,
              "the data bound %s %s (95 %% profile likelihood)%s%s%s", name, regions, natural, open,
              id->unchecked ? "; the search was cut short, so that this is not certain" : "");
}

/* --- the verdict ---------------------------------------------------------------------------- */

/* Record that identification could not be checked: a failure if a prior is improper. Returns the
 * list for the sentence. */
static idm_notes *note_unidentified(const check_context *q, const char *why)
{
  idm_assessment *a = q->assessment;
  if (!idm_parameters_proper(q->f->parameters))
    return idm_check_note(a, IDM_CHECK_IDENTIFICATION, IDM_CHECK_FAILED);
  idm_check_skip(&a->checks, IDM_CHECK_IDENTIFICATION, "%s", why);
  return &a->remarks;
}

/* Add failures for the sides on which the posterior is improper: neither the prior nor the
 * likelihood makes its integral finite. Returns their number. */
static size_t assess_tails(const check_context *q, const idm_identification *id, const char *name)
{
  idm_notes *failures = &q->assessment->failures;
  size_t open = 0;
  for (int side = 0; side < 2; side++) {
    const char *where = side ? "above" : "below";
    const bool unchecked = id->unchecked && !id->proper[side];
    open += id->improper[side] || unchecked;
    if (id->improper[side])
      idm_notes_add(failures,
                    "nothing bounds %s %s: the prior is improper and the log-likelihood stays "
                    "finite towards the limit, %.3g below its maximum, so that the posterior is "
                    "improper too and has no mean; give it a proper prior",
                    name, where, id->gap[side]);
    else if (unchecked)
      idm_notes_add(failures,
                    "unchecked: the prior of %s is improper %s, and the search for how the "
                    "likelihood falls there was cut short; give it a proper prior",
                    name, where);
  }
  return open;
}

/* Add failures for the sides on which the likelihood increases to the limit and no prior bounds the
 * number: there is no most probable point. Whether the posterior is proper does not matter for a
 * point. Returns their number. */
static size_t assess_point(const check_context *q, const idm_identification *id, const char *name)
{
  size_t open = 0;
  for (int side = 0; side < 2; side++) {
    if (id->proper[side] || id->gap[side] > idm_check_threshold(IDM_CHECK_HIGHEST_POINT)) continue;
    open++;
    idm_notes_add(&q->assessment->failures,
                  "there is no most probable %s: %s neither the prior nor the data bound it (at "
                  "the limit the log-likelihood is within %.3g of its maximum), and the value is "
                  "where the search stopped; give it a proper prior",
                  name, side ? "above" : "below", id->gap[side]);
  }
  return open;
}

void idm_assess_unnamed(const check_context *q)
{
  const bool proper = idm_parameters_proper(q->f->parameters);
  idm_notes_add(note_unidentified(q, "most of the free numbers have no name"),
                "unchecked: what the data bound, since most of the %zu free numbers have no name%s",
                idm_posterior_dimension(q->posterior),
                proper ? ""
                       : "; as a prior is improper, the posterior may be too: give it a proper "
                         "one");
}

void idm_assess_identification(const check_context *q)
{
  idm_assessment *a = q->assessment;
  char name[128];
  if (!a->identified)
    idm_notes_add(
        note_unidentified(q, "no point was found at which the data have a positive probability"),
        "unchecked: what the data bound, since no point was found at which they have a positive "
        "probability");
  size_t open = 0;
  for (size_t i = 0; i < a->parameters; i++) {
    const idm_identification *id = &a->parameter[i];
    idm_quantity_label(q->posterior->quantity.name[id->quantity], name, sizeof name);
    open +=
        q->posterior->answer == IDM_POINT ? assess_point(q, id, name) : assess_tails(q, id, name);
    idm_notes_add(&a->remarks, "%s", id->sentence);
  }
  if (a->identified) idm_check_test(&a->checks, IDM_CHECK_IDENTIFICATION, (double)open);
}

idm_status idm_check_prior_conflict(const check_context *q, idm_error *opt_error)
{
  (void)opt_error;
  idm_assessment *a = q->assessment;
  const bool point = q->posterior->answer == IDM_POINT;
  size_t conflicts = 0;
  char name[128];
  for (size_t i = 0; i < a->parameters; i++) {
    const idm_identification *id = &a->parameter[i];
    const double middle = a->diagnosis[id->quantity].q50;
    if (!(middle < id->low || middle > id->high)) continue;
    conflicts++;
    idm_quantity_label(q->posterior->quantity.name[id->quantity], name, sizeof name);
    idm_notes_add(&a->remarks,
                  "prior and data disagree about %s: the %s %.3g is outside the interval that the "
                  "data bound, because of the prior; examine the prior",
                  name, point ? "most probable value" : "posterior median", middle);
  }
  if (a->parameters) idm_check_test(&a->checks, IDM_CHECK_PRIOR_CONFLICT, (double)conflicts);
  return IDM_OK;
}

/* Print the numbers at the maximum of the likelihood, as reported. */
static void describe_maximum(const check_context *q, char *buffer, size_t size)
{
  const idm_assessment *a = q->assessment;
  size_t at = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < a->parameters && at < size; i++) {
    char name[64];
    idm_quantity_label(q->posterior->quantity.name[a->parameter[i].quantity], name, sizeof name);
    const int wrote = snprintf(buffer + at, size - at, "%s%s %.4g", at ? ", " : "", name,
                               a->parameter[i].maximum);
    if (wrote < 0) return;
    at += (size_t)wrote;
  }
}

/* Whether a point of one number is within a fifth of an sd of the maximum of the likelihood, with
 * the sd from the profile interval around it. With several numbers, which may be on a ridge,
 * intervals do not determine this. */
static bool is_near_maximum(const check_context *q)
{
  static const double share = 0.2, sds = 2 * 1.96;
  const idm_parameters *p = q->f->parameters;
  if (q->assessment->parameters != 1 || p->dimension != 1) return false;
  const idm_identification *id = &q->assessment->parameter[0];
  const double log_posterior_here =
      idm_parameter_reported_at(&p->item[0], q->posterior->unconstrained[0]);
  double width = 0;
  for (size_t r = 0; r < id->regions; r++)
    if (id->region[r][0] <= id->maximum && id->maximum <= id->region[r][1])
      width = id->region[r][1] - id->region[r][0];
  return isfinite(width) && fabs(log_posterior_here - id->maximum) <= share * width / sds;
}

void idm_assess_maximum(const check_context *q, const double *y, double log_likelihood)
{
  if (q->posterior->answer != IDM_POINT) return;
  const double log_posterior_here = q->posterior->statistics[0].log_density;
  const double log_posterior_there =
      log_likelihood + idm_parameters_log_prior(q->f->parameters, y, NULL);
  idm_checks *checks = &q->assessment->checks;
  const bool higher =
      log_posterior_there > log_posterior_here + idm_check_threshold(IDM_CHECK_HIGHEST_POINT);
  /* For a smooth likelihood the threshold corresponds to a distance; a discontinuous one can exceed
   * it next to a point. */
  const bool near = higher && is_near_maximum(q);
  idm_check_record(checks, IDM_CHECK_HIGHEST_POINT,
                   near     ? IDM_CHECK_REMARK
                   : higher ? IDM_CHECK_FAILED
                            : IDM_CHECK_PASSED,
                   log_posterior_there - log_posterior_here);
  if (!higher) return;
  char where[240];
  describe_maximum(q, where, sizeof where);
  if (near)
    idm_notes_add(
        &q->assessment->remarks,
        "the likelihood is not smooth near this point: within a fifth of an sd, at %s, the "
        "log posterior is higher by %.3g",
        where, log_posterior_there - log_posterior_here);
  else
    idm_notes_add(&q->assessment->failures,
                  "this is not the most probable point: the log posterior is higher by %.3g at %s; "
                  "start there (--set), or from more points (--chains)",
                  log_posterior_there - log_posterior_here, where);
}
