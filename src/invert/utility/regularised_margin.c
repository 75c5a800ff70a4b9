/* The inverse planner `regularised-margin`: utilities under which soft plans gain least over the
 * demonstrator, at a price on their squares; without a price, maximum causal entropy. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "invert/utility/answer.h"
#include "invert/utility/asked.h"
#include "invert/utility/attained.h"
#include "invert/utility/lambda.h"
#include "invert/utility/open.h"
#include "invert/utility/smooth_margin.h"
#include "invert/utility/soft_agent.h"

extern const idm_inverse idm_inverse_regularised_margin; /* registered below */

/* --- what it cannot do without -------------------------------------------------------------- */

/* Over a horizon, where no program tells which actions that were never seen have utilities without
 * an end, all must have been seen. */
static idm_status check_seen(const idm_demonstrator *d, const idm_setting *setting,
                             const double *prior, idm_error *opt_error)
{
  enum { shown = 5 };
  char list[600] = "";
  size_t states = 0;
  for (size_t s = 0; s < d->n.states; s++) {
    size_t unseen = 0;
    for (size_t u = 0; u < d->n.actions && d->visits[s] > 0; u++)
      unseen += prior[u] > 0 && !(d->count[s * d->n.actions + u] > 0);
    if (!unseen || states++ >= shown) continue;
    const size_t length = strlen(list);
    snprintf(list + length, sizeof list - length, "%s'%.80s'", length ? ", " : "",
             setting->states.name[s]);
  }
  if (!states) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "with --lambda inf and a horizon every action must have been seen in every "
                  "visited state, and "
                  "some never was in %zu: %s%s; expected a finite --lambda, or more data",
                  states, list, states > shown ? ", ..." : "");
}

static idm_status check_settings(const idm_fit_settings *settings, idm_error *opt_error)
{
  if (isinf(settings->lambda) && settings->occupancy != IDM_OCCUPANCY_POLICY)
    return idm_fail(opt_error, IDM_USAGE,
                    "with --lambda inf the demonstrator's occupancy must be one that some policy "
                    "has, or utilities grow without end; expected --occupancy policy, or a finite "
                    "--lambda");
  return IDM_OK;
}

/* --- the inverse planner -------------------------------------------------------------------- */

static void say(const idm_world *world, const idm_sought *sought, const idm_fit_settings *settings,
                const idm_lambda *opt_chosen, double slope, idm_finding *f)
{
  if (opt_chosen && !opt_chosen->folds)
    idm_notes_add(&f->words, "lambda is %.3g: there are too few decisions to hold some out",
                  opt_chosen->value);
  else if (opt_chosen)
    idm_notes_add(&f->words,
                  "lambda is %.3g, of the decades from %.3g to %.3g the one of least log-loss of "
                  "held-out decisions (%.4f a decision, %zu folds of %s)%s",
                  opt_chosen->value, opt_chosen->least, opt_chosen->most, opt_chosen->log_loss,
                  opt_chosen->folds, opt_chosen->trajectories ? "trajectories" : "decisions",
                  opt_chosen->value >= opt_chosen->most ? "; larger ones were not compared" : "");
  if (isinf(settings->lambda))
    idm_notes_add(&f->words,
                  sought->features
                      ? "no price on weights: the plan's mean features are the demonstrator's to "
                        "%.1g, and of all weights that do as well these have the least squares"
                      : "no price on utilities: the plan's occupancy is the demonstrator's to "
                        "%.1g, and of all utilities that do as well these have the least squares",
                  slope);
  if (world->horizon)
    idm_notes_add(&f->words,
                  "with a horizon plans change from step to step; the policy is that of the first");
}

/* What no behaviour tells of the utility. */
static idm_status find_open(const idm_asked *asked, idm_finding *f, idm_error *opt_error)
{
  if (!asked->sought->features)
    return idm_soft_agent_open(asked->world, asked->demonstrator, asked->sought, f, opt_error);
  idm_notes_add(&f->words,
                "unchecked: which weights of features no behaviour tells apart was not looked for");
  return IDM_OK;
}

/* Where no price keeps utilities finite: whether the occupancy does. */
static idm_status check_finite(idm_asked *asked, const idm_soft_agent *agent,
                               const double *demonstrated, idm_error *opt_error)
{
  if (!isinf(asked->settings->lambda)) return IDM_OK;
  /* The linear program has values that do not depend on the step. */
  return asked->world->horizon
             ? check_seen(asked->demonstrator, asked->problem->setting, agent->prior, opt_error)
             : idm_attained_check(asked, demonstrated, opt_error);
}

static idm_status find(idm_asked *asked, const idm_soft_agent *agent, const idm_lambda *opt_chosen,
                       idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_world *world = asked->world;
  const idm_sought *sought = asked->sought;
  const idm_fit_settings *settings = asked->settings;
  idm_finding *f = NULL;
  idm_soft_plan *plan = NULL;
  double slope = NAN;
  double *x = idm_new(sought->count, sizeof *x);
  double *demonstrated = idm_new(2 * sought->entries, sizeof *demonstrated);
  idm_status status = x && demonstrated ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_finding_create(sought->count, &f, opt_error);
  if (status == IDM_OK)
    status = idm_soft_plan_create(world, agent->alpha, agent->prior, &plan, opt_error);
  if (status == IDM_OK)
    status = idm_soft_agent_demonstrated(
        asked->demonstrator, world, asked->data, asked->problem->setting,
        settings->occupancy == IDM_OCCUPANCY_EMPIRICAL, demonstrated, asked->opt_notes, opt_error);
  if (status == IDM_OK) status = check_finite(asked, agent, demonstrated, opt_error);
  if (status == IDM_OK) {
    const idm_smooth_margin margin = {sought, plan, demonstrated, settings->lambda, &asked->halt};
    status = idm_smooth_margin_minimise(&margin, x, &f->objective, &slope, opt_error);
  }
  if (status == IDM_OK) {
    snprintf(f->certificate, sizeof f->certificate, "gradient norm");
    f->attained = slope;
    f->closed = 1e-9;
    say(world, sought, settings, opt_chosen, slope, f);
    status = find_open(asked, f, opt_error);
  }
  if (status == IDM_OK && !world->horizon) {
    f->count = idm_duplicate(asked->demonstrator->count, sought->entries, sizeof *f->count);
    if (!f->count) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK)
    status = idm_answer_utility(asked->inverse, asked->problem, settings, sought, x, "newton", f,
                                ret_posterior, opt_error);
  else
    idm_finding_destroy(f);
  idm_soft_plan_destroy(plan);
  free(x);
  free(demonstrated);
  return status;
}

static idm_status fit_regularised(const idm_problem *problem, const idm_data *data,
                                  const idm_fit_settings *settings, const idm_fit_watch *opt_watch,
                                  idm_posterior **ret_posterior, idm_notes *opt_notes,
                                  idm_error *opt_error)
{
  idm_asked asked;
  idm_soft_agent *agent = NULL;
  *ret_posterior = NULL;
  idm_status status =
      idm_asked_open(&asked, &idm_inverse_regularised_margin, problem, data, settings, opt_watch,
                     "planning under one utility after the other", opt_notes, opt_error);
  if (status == IDM_OK) status = check_settings(settings, opt_error);
  if (status == IDM_OK)
    status = idm_soft_agent_create(problem, asked.inverse->name, &agent, opt_error);
  if (status == IDM_OK) status = idm_asked_demonstrator(&asked, opt_error);
  idm_fit_settings own = *settings;
  idm_lambda chosen;
  const bool automatic = settings->lambda == 0;
  if (status == IDM_OK && automatic) {
    status = idm_lambda_choose(&asked, agent, &chosen, opt_error);
    own.lambda = chosen.value;
  }
  asked.settings = &own;
  if (status == IDM_OK)
    status = find(&asked, agent, automatic ? &chosen : NULL, ret_posterior, opt_error);
  idm_soft_agent_destroy(agent);
  idm_asked_close(&asked);
  return status;
}

static const char *const settings_read[] = {"lambda", "occupancy", NULL};

const idm_inverse idm_inverse_regularised_margin = {
    .name = "regularised-margin",
    .summary = "utilities under which a soft plan gains least over the demonstrator, at a price on "
               "their squares",
    .row = "Regularised maximum margin",
    .answer = IDM_POINT,
    .family = IDM_LATTICE_PLANNER,
    .finds = "utility",
    .features = true,
    .settings = settings_read,
    .fit = fit_regularised,
};
