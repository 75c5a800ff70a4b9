/* The inverse planner `regularised-margin`: utilities under which soft plans gain least over the
 * demonstrator, at a price on their squares; without a price, maximum causal entropy. */
#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/planner.h"
#include "invert/utility/answer.h"
#include "invert/utility/asked.h"
#include "invert/utility/attained.h"
#include "invert/utility/lambda.h"
#include "invert/utility/open.h"
#include "invert/utility/smooth_margin.h"
#include "invert/utility/soft_agent.h"

extern const idm_inverse idm_inverse_regularised_margin; /* registered below */

/* Of the derivative of occupancies by free numbers, what is rounding relative to the largest. */
static const double no_effect = 1e-10;

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

/* Over beliefs: plans by Bayes' rule alone, which lattices of this size can be factored for, and a
 * price, as no program shows which utilities have no end. */
enum { most_points = 300 };

static int resolution_of(const idm_problem *problem, const idm_data *data)
{
  const int filled = idm_belief_world_resolution(problem, data);
  const int most = idm_lattice_fitting(problem->setting->states.count, most_points);
  return filled < most ? filled : most;
}

static idm_status check_beliefs(const idm_problem *problem, const idm_fit_settings *settings,
                                idm_error *opt_error)
{
  const char *who = idm_inverse_regularised_margin.name;
  const size_t states = problem->setting->states.count;
  const double beta = idm_theta_scalar(problem->theta, IDM_BETA);
  if (problem->setting->fully_observed) return IDM_OK;
  if (idm_lattice_fitting(states, most_points) < IDM_BELIEF_COARSEST)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' solves for plans at the points of a lattice of beliefs, which of %zu "
                    "hidden states would be too coarse; use --inverse map or bayes",
                    who, states);
  if (isinf(settings->lambda) || settings->occupancy != IDM_OCCUPANCY_POLICY)
    return idm_fail(opt_error, IDM_USAGE,
                    "'%s' of hidden states takes a finite --lambda and --occupancy policy", who);
  if (!isinf(beta) && idm_planner_reads(idm_agent_planner(&problem->agent), IDM_BETA))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' inverts plans that take up what is seen by Bayes' rule; expected beta: "
                    "inf, found %g",
                    who, beta);
  if (problem->setting->horizon)
    return idm_fail(opt_error, IDM_INPUT, "'%s' of hidden states needs a problem without `horizon`",
                    who);
  return IDM_OK;
}

/* --- the inverse planner -------------------------------------------------------------------- */

static void say(const idm_mdp *world, const idm_sought *sought, const idm_fit_settings *settings,
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

/* Directions along which the plan's occupancy does not move: the null space of its derivative. */
static idm_status find_flat(const idm_sought *planned, idm_soft_plan *plan, idm_finding *f,
                            idm_error *opt_error)
{
  const size_t n = planned->count;
  double *work = idm_new(3 * n + 2 * planned->entries, sizeof *work);
  double *square = idm_new(idm_times(2 * n, n), sizeof *square);
  f->direction = idm_new(idm_times(n, n), sizeof *f->direction);
  const bool made = work && square && f->direction;
  double *values = work + n, *entry = work + 3 * n;
  for (size_t k = 0; k < n && made; k++) {
    work[k] = 1;
    idm_sought_push(planned, work, entry);
    idm_soft_plan_bend(plan, entry, entry + planned->entries);
    idm_sought_pull(planned, entry + planned->entries, square + k * n);
    work[k] = 0;
  }
  if (made) idm_symmetric_eigen(n, square, values, square + n * n);
  for (size_t k = 0; k < n && made && values[k] <= no_effect * values[n - 1]; k++)
    memcpy(f->direction + f->open++ * n, square + n * n + k * n, n * sizeof *work);
  f->looked = made;
  free(work);
  free(square);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* What no behaviour tells of the utility. */
static idm_status find_open(const idm_asked *asked, idm_soft_plan *plan, idm_finding *f,
                            idm_error *opt_error)
{
  if (asked->beliefs) return find_flat(asked->blended, plan, f, opt_error);
  return idm_soft_agent_open(asked->world, asked->demonstrator, asked->sought, f, opt_error);
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

/* --- another lattice ------------------------------------------------------------------------ */

/* The utility of half the resolution, found in the same way. */
static idm_status find_coarser(const idm_asked *asked, double alpha, const double *prior,
                               int resolution, double *x, idm_error *opt_error)
{
  idm_asked coarse;
  idm_soft_plan *plan = NULL;
  double *demonstrated = NULL;
  double objective, slope;
  const idm_fit_call call = idm_asked_repeat(asked);
  idm_status status = idm_asked_open(&coarse, &call, resolution, opt_error);
  if (status == IDM_OK) status = idm_asked_demonstrator(&coarse, opt_error);
  if (status == IDM_OK) status = idm_soft_plan_create(coarse.world, alpha, prior, &plan, opt_error);
  if (status == IDM_OK) {
    demonstrated = idm_new(2 * coarse.blended->entries, sizeof *demonstrated);
    status = demonstrated ? idm_soft_agent_demonstrated(coarse.demonstrator, coarse.world,
                                                        coarse.data, asked->problem->setting, false,
                                                        demonstrated, NULL, opt_error)
                          : idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) {
    const idm_smooth_margin margin = {coarse.blended, plan, demonstrated, asked->settings->lambda,
                                      &coarse.halt};
    status = idm_smooth_margin_minimise(&margin, x, &objective, &slope, opt_error);
  }
  idm_soft_plan_destroy(plan);
  free(demonstrated);
  idm_asked_close(&coarse);
  return status;
}

/* The share of decisions of the plan that another plan under utility numbers x makes otherwise;
 * the plan is then that of x. */
static idm_status count_others(const idm_asked *asked, idm_soft_plan *plan, const double *x,
                               double *share, idm_error *opt_error)
{
  const idm_sizes n = asked->world->n;
  const size_t all = n.states * n.actions;
  double value;
  double *work = idm_new(2 * all + n.states, sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  memcpy(work, plan->policy, all * sizeof *work);
  memcpy(work + 2 * all, plan->mass, n.states * sizeof *work);
  idm_sought_fill(asked->blended, x, work + all);
  const idm_status status = idm_soft_plan_solve(plan, work + all, &value, opt_error);
  *share = 0;
  for (size_t e = 0; e < all; e++)
    *share += 0.5 * work[2 * all + e / n.actions] * fabs(work[e] - plan->policy[e]);
  free(work);
  return status;
}

static idm_status compare_lattices(const idm_asked *asked, idm_soft_plan *plan, const double *x,
                                   idm_finding *f, idm_error *opt_error)
{
  const idm_lattice *lattice = asked->beliefs->lattice;
  const int half = (lattice->resolution + 1) / 2;
  double share = INFINITY;
  double *other = idm_duplicate(x, asked->sought->count, sizeof *other);
  idm_status status = other ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = find_coarser(asked, plan->alpha, plan->prior, half, other, opt_error);
  if (status == IDM_OK) status = count_others(asked, plan, other, &share, opt_error);
  free(other);
  if (status == IDM_OK) idm_belief_world_remark(asked->beliefs, half, share, f);
  return status;
}

static idm_status find(idm_asked *asked, const idm_soft_agent *agent, const idm_lambda *opt_chosen,
                       idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_mdp *world = asked->world;
  const idm_sought *sought = asked->sought;
  const idm_sought *planned = idm_asked_planned(asked);
  const idm_fit_settings *settings = asked->settings;
  idm_finding *f = NULL;
  idm_soft_plan *plan = NULL;
  double slope = NAN;
  double *x = idm_new(sought->count, sizeof *x);
  double *demonstrated = idm_new(2 * planned->entries, sizeof *demonstrated);
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
    const idm_smooth_margin margin = {planned, plan, demonstrated, settings->lambda, &asked->halt};
    status = idm_smooth_margin_minimise(&margin, x, &f->objective, &slope, opt_error);
  }
  if (status == IDM_OK) {
    snprintf(f->certificate, sizeof f->certificate, "gradient norm");
    f->attained = slope;
    f->closed = 1e-9;
    say(world, sought, settings, opt_chosen, slope, f);
    status = find_open(asked, plan, f, opt_error);
  }
  if (status == IDM_OK && asked->beliefs) status = compare_lattices(asked, plan, x, f, opt_error);
  if (status == IDM_OK && !world->horizon && !asked->beliefs) {
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

static idm_status answer(idm_asked *asked, idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_fit_settings *settings = asked->settings;
  idm_soft_agent *agent = NULL;
  idm_fit_settings own = *settings;
  idm_lambda chosen;
  const bool automatic = settings->lambda == 0;
  idm_status status = check_beliefs(asked->problem, settings, opt_error);
  if (status == IDM_OK) status = check_settings(settings, opt_error);
  if (status == IDM_OK)
    status = idm_soft_agent_create(asked->problem, asked->inverse->name, &agent, opt_error);
  if (status == IDM_OK) status = idm_asked_demonstrator(asked, opt_error);
  if (status == IDM_OK && automatic) {
    status = idm_lambda_choose(asked, agent, &chosen, opt_error);
    own.lambda = chosen.value;
  }
  asked->settings = &own;
  if (status == IDM_OK)
    status = find(asked, agent, automatic ? &chosen : NULL, ret_posterior, opt_error);
  asked->settings = settings;
  idm_soft_agent_destroy(agent);
  return status;
}

static const idm_asked_method method = {.by = IDM_BY_LATTICE,
                                        .doing = "planning under one utility after the other",
                                        .answer = answer,
                                        .resolution = resolution_of};

static const char *const settings_read[] = {"lambda", "occupancy", NULL};

const idm_inverse idm_inverse_regularised_margin = {
    .name = "regularised-margin",
    .summary = "utilities under which a soft plan gains least over the demonstrator, at a price on "
               "their squares",
    .row = "Regularised maximum margin",
    .answer = IDM_POINT,
    .family = IDM_LATTICE_PLANNER,
    .finds = "utility",
    .alone = "the value of a soft plan falls with alpha, so that the objective is least where "
             "alpha is infinite, and under other discounts or dynamics it is of other occupancies; "
             "use --inverse distribution-matching, map or bayes",
    .features = true,
    .settings = settings_read,
    .method = &method,
    .fit = idm_asked_fit,
};
