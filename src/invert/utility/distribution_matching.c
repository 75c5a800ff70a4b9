/* The inverse planner `distribution-matching`: parameters of a planner whose occupancy has the
 * least divergence from the demonstrator's (`docs/method/inverse.md, 2`). For a decision rule whose
 * weights can represent all policies the problem is convex, or a search over finitely many policies
 * if the rule is deterministic; otherwise it is a nonconvex search.
 *
 * If states are hidden, occupancies are over the agent's beliefs (belief_mdp.h).
 *
 * Contents: weights · words · rules · any planner · another lattice · the inverse planner */
#include "invert/utility/occupancy_loss.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "idm/extension/planner.h"
#include "invert/fit_keys.h"
#include "invert/posterior.h"
#include "invert/predict.h"
#include "invert/utility/mdp.h"
#include "invert/utility/task.h"

extern const idm_inverse idm_inverse_distribution_matching; /* registered below */

/* Smaller probabilities are represented by this value in weights, which cannot represent 0. */
static const double min_probability = 1e-300;

/* --- weights -------------------------------------------------------------------------------- */

static bool is_free(const idm_block *block, size_t number)
{
  return !block->coordinate || block->coordinate[number] >= 0;
}

/* true if the free numbers are weights of a rule that can represent all policies: in every state at
 * most one weight is fixed, and none is tied to another. */
static bool has_all_policies(const idm_problem *problem)
{
  const idm_theta *theta = problem->theta;
  const idm_block *block = &theta->block[IDM_WEIGHTS];
  const size_t states = theta->sizes.states;
  const size_t actions = theta->sizes.actions;
  size_t free_numbers = 0;
  for (size_t b = 0; b < theta->blocks; b++)
    if (b != IDM_WEIGHTS && theta->block[b].role == IDM_DESCRIPTIVE) return false;
  if (block->role != IDM_DESCRIPTIVE || !problem->setting->fully_observed) return false;
  for (size_t i = 0; i < block->size; i++) free_numbers += is_free(block, i);
  bool complete = !block->coordinate || free_numbers == block->coordinate_name.count;
  for (size_t s = 0; s < states && complete; s++) {
    size_t held = 0;
    for (size_t u = 0; u < actions; u++) held += !is_free(block, u * (states + 1) + s + 1);
    complete = held < 2;
  }
  return complete;
}

static bool is_greedy(const idm_problem *problem)
{
  return problem->agent.choice == IDM_CHOICE_BEST;
}

/* Log-odds of an action against its prior; for a deterministic rule, 1 for the actions taken and 0
 * for others. */
static double score_of(bool greedy, const double *policy, const double *prior, size_t action)
{
  if (greedy) return policy[action] > 0;
  return log(fmax(policy[action], min_probability) / prior[action]);
}

/* Sets weights at which the rule has the policy: scores are identified up to a constant per state,
 * which is fixed by the action with a fixed weight, or by the first action of positive prior. */
static void put_weights(bool greedy, const double *policy, const double *prior, idm_theta *theta)
{
  const size_t states = theta->sizes.states;
  const size_t actions = theta->sizes.actions;
  const idm_block *block = &theta->block[IDM_WEIGHTS];
  double *weight = block->value;
  for (size_t s = 0; s < states; s++) {
    const double *row = policy + s * actions;
    size_t reference = actions;
    for (size_t u = 0; u < actions; u++)
      if (prior[u] > 0 && (reference == actions || !is_free(block, u * (states + 1) + s + 1)))
        reference = u;
    const double *held = weight + reference * (states + 1);
    const double offset = held[0] + held[s + 1] - score_of(greedy, row, prior, reference);
    for (size_t u = 0; u < actions; u++) {
      double *at = weight + u * (states + 1);
      if (u != reference && prior[u] > 0)
        at[s + 1] = score_of(greedy, row, prior, u) + offset - at[0];
    }
  }
}

/* --- words ---------------------------------------------------------------------------------- */

/* Adds the weights of states with zero occupancy as unidentified directions. */
static idm_status put_directions(const idm_theta *theta, const idm_occupancy_projection *found,
                                 idm_optimality *f, idm_error *opt_error)
{
  const idm_block *block = &theta->block[IDM_WEIGHTS];
  const size_t states = theta->sizes.states;
  const size_t actions = theta->sizes.actions;
  size_t *open = idm_new(f->free, sizeof *open);
  if (!open) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < block->size; i++) {
    if (!is_free(block, i) || i % (states + 1) == 0) continue;
    double mass = 0;
    for (size_t u = 0; u < actions; u++)
      mass += found->occupancy[(i % (states + 1) - 1) * actions + u];
    if (!(mass > 0)) open[f->open++] = block->coordinate ? (size_t)block->coordinate[i] : i;
  }
  f->evaluated = true;
  if (f->open) f->direction = idm_new(idm_times(f->open, f->free), sizeof *f->direction);
  const bool made = !f->open || f->direction;
  for (size_t i = 0; i < f->open && made; i++) f->direction[i * f->free + open[i]] = 1;
  if (!made) f->open = 0;
  free(open);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

static void note_greedy(const idm_branch_stats *stats, const idm_occupancy_projection *found,
                        idm_optimality *f)
{
  snprintf(f->certificate, sizeof f->certificate, "gap to the bound");
  if (found->gap > f->closed)
    idm_notes_add(&f->words,
                  "after %zu branches it is not decided whether another deterministic rule is "
                  "nearer: the least distance is between %.6g and %.6g",
                  stats->branches, found->objective - found->gap, found->objective);
  idm_notes_add(&f->words, "the rule takes the action of its largest weight in each state: only "
                           "the order of the weights matters, and they are 1 for actions that are "
                           "taken and 0 for others, relative to those that are held");
  if (stats->non_unique)
    idm_notes_add(&f->words,
                  "another deterministic rule is as near; of those that were found this is one, "
                  "picked by the names of states and actions and not by their order");
  if (stats->tied)
    idm_notes_add(&f->words,
                  "in %zu %s that the rule does not reach several actions tie for the best: there "
                  "they are drawn by the action prior",
                  stats->tied, stats->tied == 1 ? "state" : "states");
}

static void note_result(const idm_occupancy_projection *found, idm_optimality *f)
{
  snprintf(f->certificate, sizeof f->certificate, "duality gap");
  f->objective = found->objective;
  f->attained = found->gap;
  f->closed = 1e-9;
  if (found->zeros)
    idm_notes_add(&f->words,
                  "%zu %s of the policy %s 0, which would need a weight of -inf: the weights "
                  "represent %g there, the policy reported is exact",
                  found->zeros, found->zeros == 1 ? "probability" : "probabilities",
                  found->zeros == 1 ? "is" : "are", min_probability);
}

/* --- rules ---------------------------------------------------------------------------------- */

/* With the occupancy of its own policy as target and no entropy term, the demonstrator is optimal,
 * because divergences are nonnegative. */
static idm_status copy_demonstrator(const idm_mdp *mdp, const idm_demonstrator *d,
                                    const double *target, idm_occupancy_projection **ret_nearest,
                                    idm_error *opt_error)
{
  const size_t all = mdp->n.states * mdp->n.actions;
  idm_occupancy_projection *found = idm_new(1, sizeof *found);
  if (found) {
    found->policy = idm_duplicate(d->policy, all, sizeof *found->policy);
    found->occupancy = idm_duplicate(target, all, sizeof *found->occupancy);
  }
  if (!found || !found->policy || !found->occupancy) {
    idm_occupancy_projection_destroy(found);
    return idm_fail_memory(opt_error);
  }
  for (size_t e = 0; e < all; e++)
    found->zeros += d->visits[e / mdp->n.actions] > 0 && d->policy[e] == 0 &&
                    mdp->prior[e % mdp->n.actions] > 0;
  *ret_nearest = found;
  return IDM_OK;
}

static bool is_exact(const idm_fit_settings *settings)
{
  return settings->occupancy == IDM_OCCUPANCY_POLICY && !(settings->entropy > 0);
}

static idm_status project(const idm_problem *problem, const idm_data *data,
                          const idm_fit_settings *settings, const idm_mdp *mdp,
                          const idm_demonstrator *d, idm_cancel *cancel, idm_branch_stats *stats,
                          idm_occupancy_projection **ret_nearest, idm_notes *opt_notes,
                          idm_error *opt_error)
{
  const bool empirical = settings->occupancy == IDM_OCCUPANCY_EMPIRICAL;
  double *target = idm_new(mdp->n.states * mdp->n.actions, sizeof *target);
  if (!target) return idm_fail_memory(opt_error);
  idm_status status = idm_demonstrator_occupancy(d, mdp, data, problem->setting, empirical, target,
                                                 opt_notes, opt_error);
  if (status == IDM_OK && is_greedy(problem))
    status = idm_deterministic_projection_create(mdp, problem->setting, target, d->policy,
                                                 settings->divergence, idm_flows_lambda(settings),
                                                 cancel, stats, ret_nearest, opt_error);
  else if (status == IDM_OK && is_exact(settings))
    status = copy_demonstrator(mdp, d, target, ret_nearest, opt_error);
  else if (status == IDM_OK)
    status = idm_occupancy_projection_create(mdp, problem->setting, target, d->policy, NULL,
                                             settings->divergence, idm_flows_lambda(settings),
                                             settings->entropy, cancel, ret_nearest, opt_error);
  free(target);
  return status;
}

static const char *method(const idm_problem *problem, const idm_fit_settings *settings)
{
  if (is_greedy(problem)) return "branch-and-bound";
  if (is_exact(settings)) return IDM_SAMPLER_FREQUENCIES;
  return settings->divergence == IDM_DIVERGENCE_TV && !(settings->entropy > 0) ? "linear-program"
                                                                               : "interior-point";
}

static idm_status answer(const idm_task *task, const idm_branch_stats *stats,
                         const idm_occupancy_projection *found, idm_posterior **ret_posterior,
                         idm_error *opt_error)
{
  const idm_problem *problem = task->problem;
  const idm_mdp *mdp = task->mdp;
  const idm_block *block = &problem->theta->block[IDM_WEIGHTS];
  const size_t numbers = block->coordinate ? block->coordinate_name.count : block->size;
  idm_theta *theta = NULL;
  idm_optimality *f = NULL;
  idm_status status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status == IDM_OK) status = idm_optimality_create(numbers, &f, opt_error);
  if (status == IDM_OK && !is_greedy(problem))
    status = put_directions(problem->theta, found, f, opt_error);
  if (status == IDM_OK) {
    put_weights(is_greedy(problem), found->policy, mdp->prior, theta);
    note_result(found, f);
    if (is_greedy(problem)) note_greedy(stats, found, f);
    idm_task_check_truncation(task, f);
    status = idm_estimate_create(&idm_inverse_distribution_matching, problem, task->settings, theta,
                                 method(problem, task->settings), f, ret_posterior, opt_error);
  } else {
    idm_optimality_destroy(f);
  }
  /* Replaces the policy of the weights by the exact one, including zeros. */
  if (status == IDM_OK)
    memcpy((*ret_posterior)->optimality->policy, found->policy,
           mdp->n.states * mdp->n.actions * sizeof *found->policy);
  idm_theta_destroy(theta);
  return status;
}

/* A policy's occupancy follows the agent's model, an empirical one the environment: they must
 * agree. */
static idm_status check_dynamics(const idm_task *task, idm_error *opt_error)
{
  const idm_setting *setting = task->problem->setting;
  const idm_theta *theta = task->pomdp->theta;
  const idm_sizes n = task->pomdp->n;
  const size_t transitions = n.actions * n.states * n.states;
  const size_t emissions = n.actions * n.states * n.observations;
  if (task->settings->occupancy != IDM_OCCUPANCY_EMPIRICAL) return IDM_OK;
  if (setting->transition && setting->emission &&
      memcmp(setting->transition, idm_theta_values(theta, IDM_TRANSITION, 0),
             transitions * sizeof(double)) == 0 &&
      memcmp(setting->emission, idm_theta_values(theta, IDM_EMISSION, 0),
             emissions * sizeof(double)) == 0)
    return IDM_OK;
  return idm_fail(
      opt_error, IDM_USAGE,
      "--occupancy empirical follows the dynamics of the environment, which are not given or "
      "differ from the model of the agent of '%s'; expected --occupancy policy",
      task->inverse->name);
}

static idm_status check(const idm_task *task, idm_error *opt_error)
{
  const idm_problem *problem = task->problem;
  const idm_fit_settings *settings = task->settings;
  const char *caller = task->inverse->name;
  if (problem->setting->horizon)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' estimates one policy for all steps, whose occupancies over a horizon are "
                    "no convex set; expected a problem without `horizon`",
                    caller);
  if (!(idm_theta_scalar(problem->theta, IDM_DISCOUNT) < 1))
    return idm_fail(opt_error, IDM_INPUT, "'%s' needs a discount below 1", caller);
  if (settings->divergence == IDM_DIVERGENCE_SQUARED && isinf(settings->lambda))
    return idm_fail(opt_error, IDM_USAGE, "'%s' --divergence squared needs a finite --lambda",
                    caller);
  if (settings->divergence != IDM_DIVERGENCE_SQUARED && settings->lambda > 0)
    return idm_fail(opt_error, IDM_USAGE,
                    "'%s' uses --lambda with --divergence squared alone, and the divergence is %s; "
                    "leave --lambda out",
                    caller, idm_divergence_words[settings->divergence]);
  if (is_greedy(problem) && settings->entropy > 0)
    return idm_fail(opt_error, IDM_USAGE,
                    "--entropy has no effect on deterministic rules: their entropy is 0");
  if (task->beliefs) {
    const idm_status status = check_dynamics(task, opt_error);
    if (status != IDM_OK) return status;
  }
  if (has_all_policies(problem)) return IDM_OK;
  if (is_greedy(problem))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' of an agent that takes its best action (choice: best) needs a rule with "
                    "all policies: its occupancy is discontinuous in other numbers; expected "
                    "--free weights, or choice: drawn",
                    caller);
  return IDM_OK;
}

/* The rule never takes an action of prior 0. */
static idm_status check_taken(const idm_mdp *mdp, const idm_setting *setting,
                              const idm_demonstrator *d, idm_error *opt_error)
{
  for (size_t e = 0; e < mdp->n.states * mdp->n.actions; e++)
    if (d->count[e] > 0 && !(mdp->prior[e % mdp->n.actions] > 0))
      return idm_fail(opt_error, IDM_INPUT,
                      "the log has the action '%.80s', which the action prior excludes",
                      setting->actions.name[e % mdp->n.actions]);
  return IDM_OK;
}

static idm_status fit_rule(idm_task *task, idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_occupancy_projection *found = NULL;
  idm_branch_stats stats = {0};
  idm_status status =
      project(task->problem, task->data, task->settings, task->mdp, task->demonstrator,
              &task->cancel, &stats, &found, task->opt_notes, opt_error);
  if (status == IDM_OK) status = answer(task, &stats, found, ret_posterior, opt_error);
  idm_occupancy_projection_destroy(found);
  return status;
}

/* --- any planner ---------------------------------------------------------------------------- */

/* Largest number of pairs of a belief and an action for which the lower bound is computed; more
 * would take too long. */
static const size_t max_entries = 3000;

/* Lower bound on the objective over all policies; -INFINITY if not computed. */
static idm_status find_lower_bound(idm_task *task, const double *target, double *ret_lower_bound,
                                   idm_error *opt_error)
{
  const idm_fit_settings *settings = task->settings;
  idm_occupancy_projection *found = NULL;
  *ret_lower_bound = 0;
  if (is_exact(settings)) return IDM_OK;
  if (task->mdp->n.states * task->mdp->n.actions > max_entries && task->beliefs) {
    *ret_lower_bound = -INFINITY;
    return IDM_OK;
  }
  const idm_status status = idm_occupancy_projection_create(
      task->mdp, task->problem->setting, target, task->demonstrator->policy, NULL,
      settings->divergence, idm_flows_lambda(settings), settings->entropy, &task->cancel, &found,
      opt_error);
  *ret_lower_bound = status == IDM_OK ? found->objective - found->gap : -INFINITY;
  idm_occupancy_projection_destroy(found);
  return status == IDM_INPUT || status == IDM_NUMERICAL ? IDM_OK : status;
}

void idm_occupancy_matching_close(idm_occupancy_matching *m)
{
  idm_parameters_destroy(m->parameters);
  free(m->target);
  idm_task_close(&m->task);
}

idm_status idm_occupancy_matching_open(idm_occupancy_matching *m, const idm_fit_arguments *call,
                                       int resolution, idm_error *opt_error)
{
  *m = (idm_occupancy_matching){0};
  idm_status status = idm_task_open(&m->task, call, resolution, opt_error);
  if (status == IDM_OK) status = check(&m->task, opt_error);
  if (status == IDM_OK) status = idm_task_demonstrator(&m->task, opt_error);
  if (status == IDM_OK)
    status = check_taken(m->task.mdp, call->problem->setting, m->task.demonstrator, opt_error);
  return status;
}

idm_status idm_occupancy_matching_numbers(idm_occupancy_matching *m, idm_error *opt_error)
{
  idm_task *task = &m->task;
  const bool empirical = task->settings->occupancy == IDM_OCCUPANCY_EMPIRICAL;
  m->target = idm_new(task->mdp->n.states * task->mdp->n.actions, sizeof *m->target);
  idm_status status = m->target ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status =
        idm_demonstrator_occupancy(task->demonstrator, task->mdp, task->data,
                                   task->problem->setting, empirical, m->target, NULL, opt_error);
  const double unvisited = status == IDM_OK && !empirical
                               ? idm_demonstrator_unvisited(task->demonstrator, m->target)
                               : 0;
  if (unvisited > 0)
    idm_notes_add(task->opt_notes,
                  "%.3g %% of the demonstrator's occupancy lies in %s that the log never visits; "
                  "there the planner's policy at the compared numbers is used",
                  100 * unvisited, task->beliefs ? "beliefs" : "states");
  if (status == IDM_OK) status = idm_parameters_create(task->problem, &m->parameters, opt_error);
  return status;
}

/* --- another lattice ------------------------------------------------------------------------ */

/* Share of decisions, weighted by the answer's occupancy, in which the policies at `here` and
 * `other_y` differ. */
static idm_status policy_difference(idm_occupancy_matching *m, const double *here,
                                    const double *other_y, double *share, idm_error *opt_error)
{
  idm_occupancy_loss loss;
  const size_t actions = m->task.mdp->n.actions;
  double *policy = NULL;
  idm_status status = idm_occupancy_loss_open(&loss, &m->task, m->parameters, m->target, opt_error);
  if (status == IDM_OK) status = idm_occupancy_compute(&loss, other_y, opt_error);
  if (status == IDM_OK) {
    policy = idm_duplicate(loss.policy, loss.entries, sizeof *policy);
    status = policy ? idm_occupancy_compute(&loss, here, opt_error) : idm_fail_memory(opt_error);
  }
  *share = 0;
  for (size_t s = 0; status == IDM_OK && s < m->task.mdp->n.states; s++) {
    double mass = 0, difference = 0;
    for (size_t e = s * actions; e < (s + 1) * actions; e++) {
      mass += loss.occupancy[e];
      difference += 0.5 * fabs(policy[e] - loss.policy[e]);
    }
    *share += mass * difference;
  }
  idm_occupancy_loss_close(&loss);
  free(policy);
  return status;
}

/* Minimises at a coarser resolution, starting from the answer y. */
static idm_status minimise_coarser(idm_occupancy_matching *m, int resolution, double *y,
                                   idm_error *opt_error)
{
  idm_occupancy_matching coarse;
  const idm_fit_arguments call = idm_task_call(&m->task);
  idm_status status = idm_occupancy_matching_open(&coarse, &call, resolution, opt_error);
  if (status == IDM_OK) status = idm_occupancy_matching_numbers(&coarse, opt_error);
  if (status == IDM_OK)
    status = idm_occupancy_minimise(&coarse.task, coarse.parameters, coarse.target, y, opt_error);
  idm_occupancy_matching_close(&coarse);
  return status;
}

static idm_status compare_lattices(idm_occupancy_matching *m, const idm_theta *theta,
                                   idm_optimality *f, idm_error *opt_error)
{
  const int resolution = m->task.beliefs->lattice->resolution;
  const int coarse_resolution = (resolution + 1) / 2;
  const size_t d = m->parameters->dimension;
  double share;
  double *y = idm_new(2 * d, sizeof *y);
  if (!y) return idm_fail_memory(opt_error);
  idm_parameters_get(m->parameters, theta, y);
  memcpy(y + d, y, d * sizeof *y);
  idm_status status = minimise_coarser(m, coarse_resolution, y + d, opt_error);
  if (status == IDM_OK) status = policy_difference(m, y, y + d, &share, opt_error);
  free(y);
  if (status == IDM_OK) idm_belief_mdp_note(m->task.beliefs, coarse_resolution, share, f);
  return status;
}

static idm_status search_numbers(idm_occupancy_matching *m, idm_theta *theta,
                                 idm_optimality *optimality, idm_error *opt_error)
{
  double lower_bound = -INFINITY;
  idm_status status = find_lower_bound(&m->task, m->target, &lower_bound, opt_error);
  if (status == IDM_OK)
    status = idm_occupancy_search(&m->task, m->parameters, m->target, lower_bound, theta,
                                  optimality, opt_error);
  return status == IDM_OK && m->task.beliefs ? compare_lattices(m, theta, optimality, opt_error)
                                             : status;
}

static idm_status fit_numbers(idm_occupancy_matching *m, idm_posterior **ret_posterior,
                              idm_error *opt_error)
{
  idm_task *task = &m->task;
  idm_theta *theta = NULL;
  idm_optimality *optimality = NULL;
  idm_status status = idm_occupancy_matching_numbers(m, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(task->problem->theta, &theta, opt_error);
  if (status == IDM_OK)
    status = idm_optimality_create(m->parameters->dimension, &optimality, opt_error);
  if (status == IDM_OK) idm_task_check_truncation(task, optimality);
  if (status == IDM_OK) status = search_numbers(m, theta, optimality, opt_error);
  if (status == IDM_OK)
    status = idm_estimate_create(task->inverse, task->problem, task->settings, theta, "search",
                                 optimality, ret_posterior, opt_error);
  else
    idm_optimality_destroy(optimality);
  idm_theta_destroy(theta);
  return status;
}

/* --- the inverse planner -------------------------------------------------------------------- */

static idm_status fit_matching(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                               idm_error *opt_error)
{
  idm_occupancy_matching m;
  idm_status status = idm_occupancy_matching_open(&m, call, 0, opt_error);
  if (status == IDM_OK)
    status = has_all_policies(call->problem) ? fit_rule(&m.task, ret_posterior, opt_error)
                                             : fit_numbers(&m, ret_posterior, opt_error);
  idm_occupancy_matching_close(&m);
  return status;
}

const idm_task_method idm_nearest_occupancy = {.by = IDM_BY_LATTICE,
                                               .activity = "searching for the nearest occupancy"};

static const char *const settings_read[] = {"divergence", "entropy", "lambda",
                                            "occupancy",  "seed",    NULL};

const idm_inverse idm_inverse_distribution_matching = {
    .name = "distribution-matching",
    .summary = "the numbers of a planner whose occupancy is nearest to the demonstrator's",
    .row = "Distribution matching",
    .answer = IDM_POINT,
    .opaque = true,
    .by_state = true,
    .own_objective = true,
    .settings = settings_read,
    .method = &idm_nearest_occupancy,
    .fit = fit_matching,
};
