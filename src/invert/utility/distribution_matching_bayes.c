/* The inverse planner `distribution-matching-bayes`: a generalised posterior of the parameters that
 * `distribution-matching` estimates, the prior times exp(-w n J). J is the objective
 * (occupancy_loss.h), n the effective number of decisions and w the loss scale (Bissiri, Holmes and
 * Walker 2016; `docs/method/inverse.md, 3`).
 *
 * Contents: the density · starts · another lattice · the inverse planner */
#include <math.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "idm/extension/random.h"
#include "infer/approximation.h"
#include "invert/matching/fit.h"
#include "invert/posterior.h"
#include "invert/predict.h"
#include "invert/utility/occupancy_loss.h"
#include "invert/utility/task.h"

extern const idm_inverse idm_inverse_distribution_matching_bayes; /* registered below */

/* --- the density ---------------------------------------------------------------------------- */

/* Density of one chain, with its own workspace. */
typedef struct density {
  idm_occupancy_loss loss;
  double scale; /* w n */
  double *gradient;
} density;

/* Effective number of decisions in J; see idm_demonstrator_ess. */
static double effective_decisions(const idm_occupancy_matching *m)
{
  return idm_demonstrator_ess(m->task.demonstrator, m->task.mdp, m->task.data,
                              m->task.problem->setting,
                              m->task.settings->occupancy == IDM_OCCUPANCY_EMPIRICAL, m->target);
}

static idm_status evaluate(void *context, const double *y, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  density *d = context;
  double loss;
  const idm_status status =
      idm_occupancy_loss_at(&d->loss, y, &loss, opt_gradient ? d->gradient : NULL, opt_error);
  if (status != IDM_OK) return status;
  *log_density = idm_parameters_log_prior(d->loss.parameters, y, opt_gradient) - d->scale * loss;
  for (size_t j = 0; j < d->loss.dimension && opt_gradient; j++)
    opt_gradient[j] -= d->scale * d->gradient[j];
  return IDM_OK;
}

typedef struct chain_targets {
  size_t chains;
  density *density;   /* [chain] */
  idm_target *target; /* [chain] */
} chain_targets;

static void close_chain_targets(chain_targets *g)
{
  for (size_t i = 0; g->density && i < g->chains; i++) {
    idm_occupancy_loss_close(&g->density[i].loss);
    free(g->density[i].gradient);
  }
  free(g->density);
  free(g->target);
}

static idm_status open_chain_targets(idm_occupancy_matching *m, chain_targets *g,
                                     idm_error *opt_error)
{
  const idm_fit_settings *settings = m->task.settings;
  *g = (chain_targets){.chains = settings->chains};
  g->density = idm_new(g->chains, sizeof *g->density);
  g->target = idm_new(g->chains, sizeof *g->target);
  idm_status status = g->density && g->target ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < g->chains && status == IDM_OK; i++) {
    density *d = &g->density[i];
    d->scale = settings->loss_scale * effective_decisions(m);
    d->gradient = idm_new(m->parameters->dimension, sizeof *d->gradient);
    status = idm_occupancy_loss_open(&d->loss, &m->task, m->parameters, m->target, opt_error);
    if (status == IDM_OK && !d->gradient) status = idm_fail_memory(opt_error);
    g->target[i] = (idm_target){.dimension = m->parameters->dimension,
                                .gradient = true,
                                .context = d,
                                .evaluate = evaluate};
  }
  return status;
}

/* --- starts --------------------------------------------------------------------------------- */

/* Maximises from y. A start is skipped if the density there, or at a neighbouring point that its
 * gradient needs, is 0. */
static idm_status ascend(const chain_targets *g, idm_local_modes *modes, double *y,
                         idm_error *opt_error)
{
  double log_density;
  idm_error error = {0};
  idm_status status = evaluate(&g->density[0], y, &log_density, NULL, opt_error);
  if (status != IDM_OK || !isfinite(log_density)) return status;
  status = idm_local_modes_ascend(modes, g->target, y, &error);
  if (status == IDM_NUMERICAL) return IDM_OK;
  if (status != IDM_OK && opt_error) *opt_error = error;
  return status;
}

/* Searches for modes from the problem's own values and from draws of the prior. */
static idm_status find_modes(const idm_occupancy_matching *m, const chain_targets *g, uint64_t key,
                             idm_local_modes *modes, idm_error *opt_error)
{
  enum { draws = 7 };
  static const uint64_t stream = (uint64_t)1 << 33;
  double *y = idm_new(m->parameters->dimension, sizeof *y);
  if (!y) return idm_fail_memory(opt_error);
  idm_random random;
  idm_random_init(&random, key, stream);
  idm_parameters_get(m->parameters, m->task.problem->theta, y);
  idm_status status = ascend(g, modes, y, opt_error);
  for (int i = 0; i < draws && status == IDM_OK && idm_parameters_proper(m->parameters); i++) {
    idm_parameters_draw(m->parameters, &random, y);
    status = ascend(g, modes, y, opt_error);
  }
  idm_local_modes_prune(modes);
  free(y);
  if (status == IDM_OK && !modes->count)
    return idm_fail(opt_error, IDM_INPUT,
                    "the divergence from the demonstrator's occupancy is infinite from %d starts; "
                    "expected --divergence js, tv or squared",
                    draws + 1);
  return status;
}

static void describe_scale(const idm_occupancy_matching *m, idm_optimality *f)
{
  idm_notes_add(&f->words,
                "a generalised posterior: the prior times exp(-%g x %.0f effective decisions, of "
                "%zu, x the objective). Intervals depend on that scale, and decisions of a "
                "trajectory are not independent: `idm recover RUN` measures how often they cover",
                m->task.settings->loss_scale, effective_decisions(m),
                m->task.demonstrator->decisions);
  idm_task_check_truncation(&m->task, f);
  if (!idm_parameters_proper(m->parameters))
    idm_notes_add(&f->faults, "unchecked: the prior is flat, and whether the density has a finite "
                              "integral was not determined; give the free numbers a proper prior");
}

/* Sets the optimality record's objective to J at the centre of the draws. */
static idm_status put_objective(chain_targets *g, idm_posterior *p, idm_error *opt_error)
{
  double *centre = idm_new(p->coordinate.count, sizeof *centre);
  if (!centre) return idm_fail_memory(opt_error);
  idm_posterior_centre(p, centre);
  const idm_status status = idm_occupancy_loss_at(&g->density[0].loss, centre,
                                                  &p->optimality->objective, NULL, opt_error);
  free(centre);
  return status;
}

/* --- another lattice ------------------------------------------------------------------------ */

/* Finds the mode at a coarser resolution, starting from y. */
static idm_status find_coarse_mode(idm_occupancy_matching *m, int resolution, double *y,
                                   idm_error *opt_error)
{
  enum { steps = 500 };
  idm_occupancy_matching coarse;
  chain_targets g = {0};
  double log_density;
  const idm_fit_arguments call = idm_task_call(&m->task);
  idm_status status = idm_occupancy_matching_open(&coarse, &call, resolution, opt_error);
  if (status == IDM_OK) status = idm_occupancy_matching_numbers(&coarse, opt_error);
  if (status == IDM_OK) status = open_chain_targets(&coarse, &g, opt_error);
  if (status == IDM_OK) status = idm_maximise(&g.target[0], 0, steps, y, &log_density, opt_error);
  close_chain_targets(&g);
  idm_occupancy_matching_close(&coarse);
  return status;
}

/* Compares the modes at the resolution and at half of it, in posterior standard deviations; both
 * searches start from the centre of the draws. */
static idm_status compare_modes(idm_occupancy_matching *m, const chain_targets *g,
                                const idm_posterior *p, idm_optimality *f, idm_error *opt_error)
{
  enum { steps = 500 };
  static const double max_shift = 0.3;
  const int resolution = m->task.beliefs->lattice->resolution,
            coarse_resolution = (resolution + 1) / 2;
  const size_t d = m->parameters->dimension, all = p->chains * p->draws;
  double log_density, mode_shift = 0;
  double *y = idm_new(2 * d, sizeof *y);
  if (!y) return idm_fail_memory(opt_error);
  idm_posterior_centre(p, y);
  idm_status status = idm_maximise(&g->target[0], 0, steps, y, &log_density, opt_error);
  memcpy(y + d, y, d * sizeof *y);
  if (status == IDM_OK) status = find_coarse_mode(m, coarse_resolution, y + d, opt_error);
  for (size_t j = 0; j < d && status == IDM_OK; j++)
    mode_shift =
        fmax(mode_shift, fabs(y[d + j] - y[j]) /
                             sqrt(idm_moments_of(p->unconstrained + j * all, all).variance));
  free(y);
  if (status != IDM_OK) return status;
  idm_notes_add(&f->words,
                "occupancies are over %zu beliefs of a lattice of resolution %d; at resolution %d "
                "the mode is %.2g posterior sds away",
                m->task.beliefs->lattice->points, resolution, coarse_resolution, mode_shift);
  if (!(mode_shift <= max_shift))
    idm_notes_add(
        &f->faults,
        "the answer depends on the lattice of beliefs: at half the resolution the mode is "
        "%.2g posterior sds away, above %g; raise `resolution`, or give more data",
        mode_shift, max_shift);
  return IDM_OK;
}

/* --- the inverse planner -------------------------------------------------------------------- */

static idm_status draw_numbers(idm_occupancy_matching *m, const idm_fit_monitor *opt_monitor,
                               idm_posterior **ret_posterior, idm_error *opt_error)
{
  enum { max_modes = 8 };
  static const idm_fit_monitor no_watch = {0};
  idm_task *task = &m->task;
  chain_targets g = {0};
  idm_local_modes *modes = NULL;
  idm_optimality *optimality = NULL;
  idm_status status = idm_occupancy_matching_numbers(m, opt_error);
  if (status == IDM_OK) status = open_chain_targets(m, &g, opt_error);
  const idm_sampling_target drawn = {
      .inverse = task->inverse,
      .problem = task->problem,
      .settings = task->settings,
      .parameters = m->parameters,
      .target = g.target,
      .key = idm_fingerprint_request(task->inverse, task->problem, task->data, task->settings),
      .cancel = &task->cancel,
      .watch = opt_monitor ? opt_monitor : &no_watch,
      .opt_notes = task->opt_notes};
  if (status == IDM_OK)
    status = idm_local_modes_create(m->parameters->dimension, max_modes, &modes, opt_error);
  if (status == IDM_OK) status = find_modes(m, &g, drawn.key, modes, opt_error);
  if (status == IDM_OK)
    status = idm_optimality_create(m->parameters->dimension, &optimality, opt_error);
  if (status == IDM_OK) {
    describe_scale(m, optimality);
    status = idm_target_draws(&drawn, modes, optimality, ret_posterior, opt_error);
  }
  if (status == IDM_OK) status = put_objective(&g, *ret_posterior, opt_error);
  if (status == IDM_OK && task->beliefs)
    status = compare_modes(m, &g, *ret_posterior, (*ret_posterior)->optimality, opt_error);
  idm_local_modes_destroy(modes);
  close_chain_targets(&g);
  return status;
}

static idm_status fit_draws(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                            idm_error *opt_error)
{
  const idm_problem *problem = call->problem;
  const idm_fit_settings *settings = call->settings;
  idm_occupancy_matching m;
  idm_status status = idm_occupancy_matching_open(&m, call, 0, opt_error);
  if (status == IDM_OK &&
      (problem->agent.choice == IDM_CHOICE_BEST || idm_policy_is_discontinuous(problem)))
    status =
        idm_fail(opt_error, IDM_INPUT,
                 "'%s' of an agent that takes its best action has no density to draw from: its "
                 "occupancy is discontinuous, and constant or at an infinite divergence almost "
                 "everywhere; use --inverse distribution-matching or minimum-perturbation, or an "
                 "agent that draws its actions (alpha above 0, choice: drawn)",
                 m.task.inverse->name);
  if (status == IDM_OK && !(settings->loss_scale > 0 && isfinite(settings->loss_scale)))
    status = idm_fail(opt_error, IDM_USAGE, "--loss-scale is %g; expected a number above 0",
                      settings->loss_scale);
  if (status == IDM_OK) status = idm_fit_check_size(call->data, settings, opt_error);
  if (status == IDM_OK) status = draw_numbers(&m, call->opt_monitor, ret_posterior, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  idm_occupancy_matching_close(&m);
  return status;
}

static const char *const settings_read[] = {
    "divergence", "entropy", "lambda", "occupancy", "loss_scale", "sampler",     "chains",
    "draws",      "warmup",  "thin",   "depth",     "seed",       "prior_draws", NULL};

const idm_inverse idm_inverse_distribution_matching_bayes = {
    .name = "distribution-matching-bayes",
    .summary = "the generalised posterior of the same numbers: prior times exp(-scale x decisions "
               "x divergence)",
    .row = "Distribution matching",
    .answer = IDM_POSTERIOR,
    .by_state = true,
    .own_objective = true,
    .settings = settings_read,
    .method = &idm_nearest_occupancy,
    .fit = fit_draws,
};
