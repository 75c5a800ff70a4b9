/* The inverse planner `regularised-margin`: utilities under which soft plans gain least over the
 * demonstrator, at a price on their squares; without a price, maximum causal entropy. */
#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "invert/utility/answer.h"
#include "invert/utility/demonstrator.h"
#include "invert/utility/open.h"
#include "invert/utility/smooth_margin.h"
#include "invert/utility/soft_agent.h"

extern const idm_inverse idm_inverse_regularised_margin; /* registered below */

/* --- what it cannot do without -------------------------------------------------------------- */

/* Without a price on utilities an action that was never seen would be worth minus infinity. */
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
                  "with --lambda inf every action must have been seen in every visited state, and "
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

static void say(const idm_world *world, const idm_fit_settings *settings, double slope,
                idm_finding *f)
{
  if (isinf(settings->lambda))
    idm_notes_add(&f->words,
                  "no price on utilities: the plan's occupancy is the demonstrator's to %.1g, and "
                  "of all utilities that do as well these have the least squares",
                  slope);
  if (world->horizon)
    idm_notes_add(&f->words,
                  "with a horizon plans change from step to step; the policy is that of the first");
}

/* x less what of it lies in the open directions D: x - D'(D D')^-1 D x, twice for the last digits.
 * Without a price these are what no policy tells, and the least x has nothing of them. */
static idm_status shorten(const idm_finding *f, double *x, idm_error *opt_error)
{
  const size_t n = f->free;
  const double *direction = f->direction;
  if (!f->open) return IDM_OK;
  double *gram = idm_new(idm_times(f->open, f->open + 1), sizeof *gram);
  if (!gram) return idm_fail_memory(opt_error);
  double *part = gram + f->open * f->open;
  for (size_t i = 0; i < f->open; i++)
    for (size_t j = 0; j <= i; j++)
      for (size_t k = 0; k < n; k++)
        gram[i * f->open + j] += direction[i * n + k] * direction[j * n + k];
  const bool definite = idm_cholesky(f->open, gram);
  for (int pass = 0; pass < 2 && definite; pass++) {
    memset(part, 0, f->open * sizeof *part);
    for (size_t i = 0; i < f->open; i++)
      for (size_t k = 0; k < n; k++) part[i] += direction[i * n + k] * x[k];
    idm_lower_solve(f->open, gram, part);
    idm_lower_solve_transposed(f->open, gram, part);
    for (size_t i = 0; i < f->open; i++)
      for (size_t k = 0; k < n; k++) x[k] -= part[i] * direction[i * n + k];
  }
  free(gram);
  return IDM_OK;
}

static idm_status find(const idm_problem *problem, const idm_data *data,
                       const idm_fit_settings *settings, idm_halt *halt, const idm_world *world,
                       const idm_sought *sought, const idm_soft_agent *agent,
                       const idm_demonstrator *demonstrator, idm_posterior **ret_posterior,
                       idm_notes *opt_notes, idm_error *opt_error)
{
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
    status = idm_soft_agent_demonstrated(demonstrator, world, data, problem->setting,
                                         settings->occupancy == IDM_OCCUPANCY_EMPIRICAL,
                                         demonstrated, opt_notes, opt_error);
  if (status == IDM_OK) {
    const idm_smooth_margin margin = {sought, plan, demonstrated, settings->lambda, halt};
    status = idm_smooth_margin_minimise(&margin, x, &f->objective, &slope, opt_error);
  }
  if (status == IDM_OK) {
    snprintf(f->certificate, sizeof f->certificate, "gradient norm");
    f->attained = slope;
    f->closed = 1e-9;
    say(world, settings, slope, f);
    status = idm_soft_agent_open(world, sought, f, opt_error);
  }
  if (status == IDM_OK && isinf(settings->lambda)) status = shorten(f, x, opt_error);
  if (status == IDM_OK)
    status = idm_answer_utility(&idm_inverse_regularised_margin, problem, settings, sought, x,
                                "newton", f, ret_posterior, opt_error);
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
  const char *who = idm_inverse_regularised_margin.name;
  idm_world *world = NULL;
  idm_sought *sought = NULL;
  idm_soft_agent *agent = NULL;
  idm_demonstrator *demonstrator = NULL;
  idm_halt halt;
  *ret_posterior = NULL;
  idm_halt_begin(&halt, opt_watch, "planning under one utility after the other");
  idm_status status = idm_keys_check(idm_fit_keys(), settings, opt_error);
  if (status == IDM_OK)
    status = idm_inverse_check(&idm_inverse_regularised_margin, problem, data, opt_error);
  if (status == IDM_OK) status = check_settings(settings, opt_error);
  if (status == IDM_OK)
    status = idm_world_create(problem, problem->setting, who, &world, opt_error);
  if (status == IDM_OK) status = idm_sought_create(problem, who, &sought, opt_error);
  if (status == IDM_OK) status = idm_soft_agent_create(problem, who, &agent, opt_error);
  if (status == IDM_OK)
    status = idm_demonstrator_create(world, data, problem->setting, NULL, &demonstrator, opt_error);
  if (status == IDM_OK && isinf(settings->lambda))
    status = check_seen(demonstrator, problem->setting, agent->prior, opt_error);
  if (status == IDM_OK)
    status = find(problem, data, settings, &halt, world, sought, agent, demonstrator, ret_posterior,
                  opt_notes, opt_error);
  idm_demonstrator_destroy(demonstrator);
  idm_soft_agent_destroy(agent);
  idm_sought_destroy(sought);
  idm_world_destroy(world);
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
    .settings = settings_read,
    .fit = fit_regularised,
};
