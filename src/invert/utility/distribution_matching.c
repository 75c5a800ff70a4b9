/* The inverse planner `distribution-matching`: the decision rule whose occupancy comes nearest to
 * the demonstrator's, among all of them or, where it takes its best action, among those. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "idm/planner.h"
#include "invert/utility/answer.h"
#include "invert/utility/asked.h"
#include "invert/utility/pure.h"

extern const idm_inverse idm_inverse_distribution_matching; /* registered below */

/* Probabilities below this stand for 0 in weights, which have no other way to say it. */
static const double least_probability = 1e-300;

/* --- weights -------------------------------------------------------------------------------- */

static bool is_free(const idm_block *block, size_t number)
{
  return !block->coordinate || block->coordinate[number] >= 0;
}

/* Any policy must be one of the rule's: in every state all weights but one free at least, none of
 * them tied to another. */
static idm_status check_weights(const idm_theta *theta, const char *who, idm_error *opt_error)
{
  const idm_block *block = &theta->block[IDM_WEIGHTS];
  const size_t states = theta->sizes.states;
  const size_t actions = theta->sizes.actions;
  size_t free_numbers = 0;
  for (size_t i = 0; i < block->size; i++) free_numbers += is_free(block, i);
  bool enough = !block->coordinate || free_numbers == block->coordinate_name.count;
  for (size_t s = 0; s < states && enough; s++) {
    size_t held = 0;
    for (size_t u = 0; u < actions; u++) held += !is_free(block, u * (states + 1) + s + 1);
    enough = held < 2;
  }
  if (enough) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' answers any policy, and these weights are held or tied so that the rule "
                  "has not all of them; expected --free weights",
                  who);
}

static bool takes_best(const idm_problem *problem)
{
  return problem->agent.choice == IDM_CHOICE_BEST;
}

/* Of a rule that takes its best action, 1 for what is taken and 0 for what is not. */
static double score_of(bool best, const double *policy, const double *prior, size_t action)
{
  if (best) return policy[action] > 0;
  return log(fmax(policy[action], least_probability) / prior[action]);
}

/* Weights at which the rule has the policy: scores are told up to a number a state, which is that
 * of the action held there, or of the first that may be taken. */
static void put_weights(bool best, const double *policy, const double *prior, idm_theta *theta)
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
    const double level = held[0] + held[s + 1] - score_of(best, row, prior, reference);
    for (size_t u = 0; u < actions; u++) {
      double *at = weight + u * (states + 1);
      if (u != reference && prior[u] > 0) at[s + 1] = score_of(best, row, prior, u) + level - at[0];
    }
  }
}

/* --- words ---------------------------------------------------------------------------------- */

/* Weights of states that the policy does not come to are open, each by itself. */
static idm_status put_open(const idm_theta *theta, const idm_closest *found, idm_finding *f,
                           idm_error *opt_error)
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
  f->looked = true;
  if (f->open) f->direction = idm_new(idm_times(f->open, f->free), sizeof *f->direction);
  const bool made = !f->open || f->direction;
  for (size_t i = 0; i < f->open && made; i++) f->direction[i * f->free + open[i]] = 1;
  if (!made) f->open = 0;
  free(open);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

static void say_best(const idm_pure *pure, const idm_closest *found, idm_finding *f)
{
  snprintf(f->certificate, sizeof f->certificate, "gap to the bound");
  if (found->gap > f->closed)
    idm_notes_add(&f->words,
                  "after %zu choices of actions it is not decided whether another rule of one "
                  "action a state comes nearer: the nearest is between %.6g and %.6g away",
                  pure->branches, found->objective - found->gap, found->objective);
  idm_notes_add(&f->words,
                "the rule takes the action of its largest weight in each state: weights count by "
                "their order alone, and stand at 1 for what is taken and 0 for what is not, up to "
                "those that are held");
  if (pure->rivals)
    idm_notes_add(&f->words,
                  "another rule of one action a state comes as near; of those that were found this "
                  "is one, picked by the names of states and actions and not by their order");
  if (pure->tied)
    idm_notes_add(&f->words,
                  "in %zu %s that the rule does not come to several actions tie for the best: "
                  "there they are drawn by the action prior",
                  pure->tied, pure->tied == 1 ? "state" : "states");
}

static void say(const idm_closest *found, idm_finding *f)
{
  snprintf(f->certificate, sizeof f->certificate, "duality gap");
  f->objective = found->objective;
  f->attained = found->gap;
  f->closed = 1e-9;
  if (found->zeros)
    idm_notes_add(&f->words,
                  "%zu %s of the policy %s 0, which would take a weight of -inf: the weights stand "
                  "for %g there, the policy reported is exact",
                  found->zeros, found->zeros == 1 ? "probability" : "probabilities",
                  found->zeros == 1 ? "is" : "are", least_probability);
}

/* --- the search ----------------------------------------------------------------------------- */

/* With its own policy's occupancy and nothing for entropy, the demonstrator is the nearest: no
 * divergence is below 0. */
static idm_status repeat(const idm_world *world, const idm_demonstrator *d, const double *target,
                         idm_closest **ret_closest, idm_error *opt_error)
{
  const size_t all = world->n.states * world->n.actions;
  idm_closest *found = idm_new(1, sizeof *found);
  if (found) {
    found->policy = idm_duplicate(d->policy, all, sizeof *found->policy);
    found->occupancy = idm_duplicate(target, all, sizeof *found->occupancy);
  }
  if (!found || !found->policy || !found->occupancy) {
    idm_closest_destroy(found);
    return idm_fail_memory(opt_error);
  }
  for (size_t e = 0; e < all; e++)
    found->zeros += d->visits[e / world->n.actions] > 0 && d->policy[e] == 0 &&
                    world->prior[e % world->n.actions] > 0;
  *ret_closest = found;
  return IDM_OK;
}

static bool is_own(const idm_fit_settings *settings)
{
  return settings->occupancy == IDM_OCCUPANCY_POLICY && !(settings->entropy > 0);
}

/* Of the squared divergence, which no held-out decisions choose. */
static double lambda_of(const idm_fit_settings *settings)
{
  static const double usual = 100;
  return settings->lambda > 0 ? settings->lambda : usual;
}

static idm_status search(const idm_problem *problem, const idm_data *data,
                         const idm_fit_settings *settings, const idm_world *world,
                         const idm_demonstrator *d, idm_halt *halt, idm_pure *pure,
                         idm_closest **ret_closest, idm_notes *opt_notes, idm_error *opt_error)
{
  const bool empirical = settings->occupancy == IDM_OCCUPANCY_EMPIRICAL;
  double *target = idm_new(world->n.states * world->n.actions, sizeof *target);
  if (!target) return idm_fail_memory(opt_error);
  idm_status status = idm_demonstrator_occupancy(d, world, data, problem->setting, empirical,
                                                 target, opt_notes, opt_error);
  if (status == IDM_OK && takes_best(problem))
    status = idm_pure_create(world, problem->setting, target, d->policy, settings->divergence,
                             lambda_of(settings), halt, pure, ret_closest, opt_error);
  else if (status == IDM_OK && is_own(settings))
    status = repeat(world, d, target, ret_closest, opt_error);
  else if (status == IDM_OK)
    status =
        idm_closest_create(world, problem->setting, target, d->policy, NULL, settings->divergence,
                           lambda_of(settings), settings->entropy, halt, ret_closest, opt_error);
  free(target);
  return status;
}

static const char *method(const idm_problem *problem, const idm_fit_settings *settings)
{
  if (takes_best(problem)) return "branch-and-bound";
  if (is_own(settings)) return "frequencies";
  return settings->divergence == IDM_DIVERGENCE_TV && !(settings->entropy > 0) ? "linear-program"
                                                                               : "interior-point";
}

static idm_status answer(const idm_problem *problem, const idm_fit_settings *settings,
                         const idm_world *world, const idm_pure *pure, const idm_closest *found,
                         idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_block *block = &problem->theta->block[IDM_WEIGHTS];
  const size_t numbers = block->coordinate ? block->coordinate_name.count : block->size;
  idm_theta *theta = NULL;
  idm_finding *f = NULL;
  idm_status status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status == IDM_OK) status = idm_finding_create(numbers, &f, opt_error);
  if (status == IDM_OK && !takes_best(problem))
    status = put_open(problem->theta, found, f, opt_error);
  if (status == IDM_OK) {
    put_weights(takes_best(problem), found->policy, world->prior, theta);
    say(found, f);
    if (takes_best(problem)) say_best(pure, found, f);
    status = idm_answer_create(&idm_inverse_distribution_matching, problem, settings, theta,
                               method(problem, settings), f, ret_posterior, opt_error);
  } else {
    idm_finding_destroy(f);
  }
  /* Exact, zeros and all. */
  if (status == IDM_OK)
    memcpy((*ret_posterior)->finding->policy, found->policy,
           world->n.states * world->n.actions * sizeof *found->policy);
  idm_theta_destroy(theta);
  return status;
}

static idm_status check(const idm_problem *problem, const idm_fit_settings *settings,
                        idm_error *opt_error)
{
  const char *who = idm_inverse_distribution_matching.name;
  if (problem->setting->horizon)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' looks for one policy of all steps, whose occupancies over a horizon are "
                    "no convex set; expected a problem without `horizon`",
                    who);
  if (!(idm_theta_scalar(problem->theta, IDM_DISCOUNT) < 1))
    return idm_fail(opt_error, IDM_INPUT, "'%s' needs a discount below 1", who);
  if (settings->divergence == IDM_DIVERGENCE_SQUARED && isinf(settings->lambda))
    return idm_fail(opt_error, IDM_USAGE, "'%s' --divergence squared takes a finite --lambda", who);
  if (takes_best(problem) && settings->entropy > 0)
    return idm_fail(opt_error, IDM_USAGE,
                    "--entropy says nothing of rules of one action a state: theirs is 0");
  return check_weights(problem->theta, who, opt_error);
}

/* The rule never takes an action of prior 0. */
static idm_status check_taken(const idm_world *world, const idm_setting *setting,
                              const idm_demonstrator *d, idm_error *opt_error)
{
  for (size_t e = 0; e < world->n.states * world->n.actions; e++)
    if (d->count[e] > 0 && !(world->prior[e % world->n.actions] > 0))
      return idm_fail(opt_error, IDM_INPUT,
                      "the log has the action '%.80s', which the action prior excludes",
                      setting->actions.name[e % world->n.actions]);
  return IDM_OK;
}

static idm_status fit_matching(const idm_problem *problem, const idm_data *data,
                               const idm_fit_settings *settings, const idm_fit_watch *opt_watch,
                               idm_posterior **ret_posterior, idm_notes *opt_notes,
                               idm_error *opt_error)
{
  idm_asked asked;
  idm_closest *found = NULL;
  idm_pure pure = {0};
  *ret_posterior = NULL;
  idm_status status =
      idm_asked_open(&asked, &idm_inverse_distribution_matching, problem, data, settings, opt_watch,
                     "looking for the nearest occupancy", opt_notes, opt_error);
  if (status == IDM_OK) status = check(problem, settings, opt_error);
  if (status == IDM_OK) status = idm_asked_demonstrator(&asked, opt_error);
  if (status == IDM_OK)
    status = check_taken(asked.world, problem->setting, asked.demonstrator, opt_error);
  if (status == IDM_OK)
    status = search(problem, data, settings, asked.world, asked.demonstrator, &asked.halt, &pure,
                    &found, opt_notes, opt_error);
  if (status == IDM_OK)
    status = answer(problem, settings, asked.world, &pure, found, ret_posterior, opt_error);
  idm_closest_destroy(found);
  idm_asked_close(&asked);
  return status;
}

static const char *const settings_read[] = {"divergence", "entropy", "lambda", "occupancy", NULL};

const idm_inverse idm_inverse_distribution_matching = {
    .name = "distribution-matching",
    .summary = "the decision rule whose occupancy comes nearest to the demonstrator's",
    .row = "Distribution matching",
    .answer = IDM_POINT,
    .finds = "weights",
    .planner = "decision-rule",
    .settings = settings_read,
    .fit = fit_matching,
};
