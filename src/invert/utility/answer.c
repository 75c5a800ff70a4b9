/* Putting together an answer that does not come from a likelihood. */
#include "invert/utility/answer.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "idm/finding.h"
#include "invert/matching/assemble.h"
#include "invert/parameters.h"
#include "invert/policy.h"
#include "invert/posterior.h"

/* --- words ---------------------------------------------------------------------------------- */

/* A direction in names, its largest numbers first come: "utility[a,x] + utility[b,x] - 0.9 ...". */
static void spell(const idm_labels *name, const double *direction, char *buffer, size_t size)
{
  enum { shown = 4 };
  size_t terms = 0;
  size_t length = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < name->count; i++) {
    const double weight = direction[i];
    if (weight == 0 || terms++ >= shown || length + 1 >= size) continue;
    char factor[32] = "";
    if (fabs(fabs(weight) - 1) > 1e-9) snprintf(factor, sizeof factor, "%.3g ", fabs(weight));
    const char *sign = weight < 0 ? terms > 1 ? " - " : "-" : terms > 1 ? " + " : "";
    const int put =
        snprintf(buffer + length, size - length, "%s%s%.120s", sign, factor, name->name[i]);
    length += put > 0 ? (size_t)put : 0;
  }
  if (terms > shown && length + 1 < size)
    snprintf(buffer + length, size - length, " and %zu more", terms - shown);
}

static void say_open(const idm_labels *name, idm_finding *f)
{
  enum { shown = 3 };
  char list[2400] = "";
  char one[700];
  if (!f->looked) return;
  if (!f->open) {
    idm_notes_add(&f->words, "the data leave no direction of these numbers open");
    return;
  }
  for (size_t i = 0; i < f->open && i < shown; i++) {
    const size_t length = strlen(list);
    spell(name, f->direction + i * f->free, one, sizeof one);
    snprintf(list + length, sizeof list - length, "%s(%zu) %s", i ? "; " : "", i + 1, one);
  }
  idm_notes_add(&f->words, "the data leave %zu %s of these numbers open: %s%s", f->open,
                f->open == 1 ? "direction" : "directions", list, f->open > shown ? "; ..." : "");
}

/* --- the answer ----------------------------------------------------------------------------- */

/* Names, and room for the numbers. */
static idm_status put_names(const idm_parameters *parameters, idm_posterior *p,
                            idm_error *opt_error)
{
  const size_t all = p->chains * p->draws;
  p->unconstrained = idm_new(idm_times(parameters->dimension, all), sizeof *p->unconstrained);
  if (!p->unconstrained) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < parameters->quantity.count; i++)
    p->summarised[i] = parameters->summarised[i];
  idm_status status = idm_posterior_measure(parameters, p, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&parameters->quantity, &p->quantity, opt_error);
  if (status == IDM_OK)
    status = idm_labels_copy(&parameters->coordinate, &p->coordinate, opt_error);
  return status;
}

/* The answer with its finding, where all went well so far; else nothing is left of them. */
static idm_status finish(idm_status status, const idm_problem *problem, const idm_theta *theta,
                         idm_posterior *p, idm_finding *finding, idm_posterior **ret_posterior,
                         idm_error *opt_error)
{
  if (status == IDM_OK && problem->setting->fully_observed && !finding->policy)
    status = idm_policy_put(problem, theta, finding, opt_error);
  if (status == IDM_OK) {
    say_open(&p->coordinate, finding);
    p->finding = finding;
    *ret_posterior = p;
  } else {
    idm_finding_destroy(finding);
    idm_posterior_destroy(p);
  }
  return status;
}

idm_status idm_answer_create(const idm_inverse *inverse, const idm_problem *problem,
                             const idm_fit_settings *settings, const idm_theta *theta,
                             const char *method, idm_finding *finding,
                             idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_parameters *parameters = NULL;
  *ret_posterior = NULL;
  idm_posterior *p = NULL;
  idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_open(inverse->name, method, 1, 1, parameters->numbers, &p, opt_error);
  if (status == IDM_OK) {
    p->answer = inverse->answer;
    p->seed = settings->seed;
    status = put_names(parameters, p, opt_error);
  }
  if (status == IDM_OK) {
    idm_parameters_get(parameters, theta, p->unconstrained);
    idm_parameters_report(parameters, p->unconstrained, p->value);
  }
  idm_parameters_destroy(parameters);
  return finish(status, problem, theta, p, finding, ret_posterior, opt_error);
}

idm_status idm_answer_utility(const idm_inverse *inverse, const idm_problem *problem,
                              const idm_fit_settings *settings, const idm_sought *sought,
                              const double *x, const char *method, idm_finding *finding,
                              idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_theta *theta = NULL;
  *ret_posterior = NULL;
  const idm_status status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status != IDM_OK) {
    idm_finding_destroy(finding);
    return status;
  }
  idm_sought_write(sought, x, theta);
  const idm_status made = idm_answer_create(inverse, problem, settings, theta, method, finding,
                                            ret_posterior, opt_error);
  idm_theta_destroy(theta);
  return made;
}

idm_status idm_answer_widen(const idm_finding *narrow, bool share_open, idm_finding *finding,
                            idm_error *opt_error)
{
  const size_t extra = finding->free > narrow->free && share_open;
  for (size_t i = 0; i < narrow->words.count; i++)
    idm_notes_add(&finding->words, "%s", narrow->words.text[i]);
  for (size_t i = 0; i < narrow->faults.count; i++)
    idm_notes_add(&finding->faults, "%s", narrow->faults.text[i]);
  finding->looked = narrow->looked;
  if (!finding->looked) return IDM_OK;
  finding->direction =
      idm_new(idm_times(narrow->open + extra, finding->free), sizeof *finding->direction);
  if (!finding->direction) return idm_fail_memory(opt_error);
  finding->open = narrow->open + extra;
  for (size_t i = 0; i < narrow->open; i++)
    memcpy(finding->direction + i * finding->free, narrow->direction + i * narrow->free,
           narrow->free * sizeof *finding->direction);
  if (extra) finding->direction[finding->open * finding->free - 1] = 1;
  return IDM_OK;
}

idm_status idm_answer_put_share(const idm_problem *problem, const char *what, double share,
                                idm_posterior *posterior, idm_error *opt_error)
{
  const double far = 800; /* whose logistic function is 1, and of its negative 0, to the last bit */
  idm_parameters *parameters = NULL;
  const idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  if (status != IDM_OK) return status;
  const size_t last = parameters->dimension - 1;
  posterior->unconstrained[last] = fmax(-far, fmin(far, log(share) - log1p(-share)));
  idm_parameters_report(parameters, posterior->unconstrained, posterior->value);
  double *value = &posterior->value[parameters->item[parameters->items - 1].quantity];
  const bool held = fabs(*value - share) <= 1e-9;
  if (held) *value = share;
  idm_parameters_destroy(parameters);
  if (held) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "%s of %g, which its prior leaves out; expected a prior over all of 0 to 1", what,
                  share);
}

/* Draw i of a chain, in both coordinates; number[numbers]. */
static void put_draw(const idm_parameters *parameters, const idm_chains *chains, size_t chain,
                     size_t i, double *number, idm_posterior *p)
{
  const size_t all = p->chains * p->draws;
  const size_t from = chain * (size_t)chains->settings.draws + i;
  const size_t at = chain * p->draws + i;
  const double *y = chains->draw + from * chains->dimension;
  idm_parameters_report(parameters, y, number);
  for (size_t k = 0; k < parameters->numbers; k++) p->value[k * all + at] = number[k];
  for (size_t k = 0; k < parameters->dimension; k++) p->unconstrained[k * all + at] = y[k];
  p->statistics[at] = chains->statistics[from];
}

idm_status idm_answer_draws(const idm_inverse *inverse, const idm_problem *problem,
                            const idm_fit_settings *settings, const idm_parameters *parameters,
                            const idm_chains *chains, size_t draws, idm_finding *finding,
                            idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_posterior *p = NULL;
  idm_theta *theta = NULL;
  *ret_posterior = NULL;
  double *number = idm_new(parameters->numbers, sizeof *number);
  idm_status status = number ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_posterior_open(inverse->name, chains->settings.sampler->name,
                                chains->settings.chains, draws, parameters->numbers, &p, opt_error);
  if (status == IDM_OK) {
    p->seed = settings->seed;
    p->warmup = settings->warmup;
    status = put_names(parameters, p, opt_error);
  }
  for (size_t c = 0; status == IDM_OK && c < p->chains; c++)
    for (size_t i = 0; i < draws; i++) put_draw(parameters, chains, c, i, number, p);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status == IDM_OK) status = idm_posterior_central_theta(p, parameters, theta, opt_error);
  status = finish(status, problem, theta, p, finding, ret_posterior, opt_error);
  idm_theta_destroy(theta);
  free(number);
  return status;
}
