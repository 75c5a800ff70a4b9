/* The inverse planner `distribution-matching`: the numbers of a planner whose occupancy comes
 * nearest to the demonstrator's. Of a decision rule whose weights have all policies the problem is
 * convex, or one of finitely many choices where it takes its best action; else it is searched for.
 *
 * `distribution-matching-bayes`: the generalised posterior of the same numbers, the prior times
 * exp(-w n J), where J is the objective (occupancy_loss.h), n the number of decisions and w the
 * loss scale (Bissiri, Holmes and Walker 2016).
 *
 * Where states are hidden, occupancies are over the agent's beliefs (belief_world.h).
 *
 * Contents: weights · words · rules · any planner · another lattice · draws · the inverse planners
 */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "idm/planner.h"
#include "invert/label.h"
#include "invert/matching/assemble.h"
#include "invert/policy.h"
#include "invert/utility/answer.h"
#include "invert/utility/asked.h"
#include "invert/utility/flows.h"
#include "invert/utility/occupancy_search.h"
#include "invert/utility/pure.h"
#include "invert/utility/target_draws.h"

extern const idm_inverse idm_inverse_distribution_matching; /* registered below */
extern const idm_inverse idm_inverse_distribution_matching_bayes;

/* Probabilities below this stand for 0 in weights, which have no other way to say it. */
static const double least_probability = 1e-300;

/* --- weights -------------------------------------------------------------------------------- */

static bool is_free(const idm_block *block, size_t number)
{
  return !block->coordinate || block->coordinate[number] >= 0;
}

/* Whether the free numbers are weights of a rule that has all policies: in every state all but one
 * are free at least, none of them tied to another. */
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
  bool enough = !block->coordinate || free_numbers == block->coordinate_name.count;
  for (size_t s = 0; s < states && enough; s++) {
    size_t held = 0;
    for (size_t u = 0; u < actions; u++) held += !is_free(block, u * (states + 1) + s + 1);
    enough = held < 2;
  }
  return enough;
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

/* --- rules ---------------------------------------------------------------------------------- */

/* With its own policy's occupancy and nothing for entropy, the demonstrator is the nearest: no
 * divergence is below 0. */
static idm_status repeat(const idm_mdp *world, const idm_demonstrator *d, const double *target,
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

static idm_status search(const idm_problem *problem, const idm_data *data,
                         const idm_fit_settings *settings, const idm_mdp *world,
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
                             idm_flows_lambda(settings), halt, pure, ret_closest, opt_error);
  else if (status == IDM_OK && is_own(settings))
    status = repeat(world, d, target, ret_closest, opt_error);
  else if (status == IDM_OK)
    status = idm_closest_create(world, problem->setting, target, d->policy, NULL,
                                settings->divergence, idm_flows_lambda(settings), settings->entropy,
                                halt, ret_closest, opt_error);
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
                         const idm_mdp *world, const idm_pure *pure, const idm_closest *found,
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

/* A policy's occupancy is of what the agent expects to follow, the log's own of what did. */
static idm_status check_expectations(const idm_asked *asked, idm_error *opt_error)
{
  const idm_setting *setting = asked->problem->setting;
  const idm_theta *theta = asked->mind->theta;
  const idm_sizes n = asked->mind->n;
  const size_t moves = n.actions * n.states * n.states;
  const size_t seen = n.actions * n.states * n.observations;
  if (asked->settings->occupancy != IDM_OCCUPANCY_EMPIRICAL) return IDM_OK;
  if (setting->transition && setting->emission &&
      memcmp(setting->transition, idm_theta_values(theta, IDM_TRANSITION, 0),
             moves * sizeof(double)) == 0 &&
      memcmp(setting->emission, idm_theta_values(theta, IDM_EMISSION, 0), seen * sizeof(double)) ==
          0)
    return IDM_OK;
  return idm_fail(opt_error, IDM_USAGE,
                  "--occupancy empirical counts what followed in the environment, and the agent of "
                  "'%s' expects something else of it, or it is not given; expected --occupancy "
                  "policy",
                  asked->inverse->name);
}

static idm_status check(const idm_asked *asked, idm_error *opt_error)
{
  const idm_problem *problem = asked->problem;
  const idm_fit_settings *settings = asked->settings;
  const char *who = asked->inverse->name;
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
  if (asked->beliefs) {
    const idm_status status = check_expectations(asked, opt_error);
    if (status != IDM_OK) return status;
  }
  if (has_all_policies(problem)) return IDM_OK;
  if (takes_best(problem))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' of an agent that takes its best action (choice: best) needs a rule with "
                    "all policies: its occupancy moves by leaps with other numbers; expected "
                    "--free weights, or choice: drawn",
                    who);
  return IDM_OK;
}

/* The rule never takes an action of prior 0. */
static idm_status check_taken(const idm_mdp *world, const idm_setting *setting,
                              const idm_demonstrator *d, idm_error *opt_error)
{
  for (size_t e = 0; e < world->n.states * world->n.actions; e++)
    if (d->count[e] > 0 && !(world->prior[e % world->n.actions] > 0))
      return idm_fail(opt_error, IDM_INPUT,
                      "the log has the action '%.80s', which the action prior excludes",
                      setting->actions.name[e % world->n.actions]);
  return IDM_OK;
}

static idm_status fit_rule(idm_asked *asked, idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_closest *found = NULL;
  idm_pure pure = {0};
  idm_status status =
      search(asked->problem, asked->data, asked->settings, asked->world, asked->demonstrator,
             &asked->halt, &pure, &found, asked->opt_notes, opt_error);
  if (status == IDM_OK)
    status = answer(asked->problem, asked->settings, asked->world, &pure, found, ret_posterior,
                    opt_error);
  idm_closest_destroy(found);
  return status;
}

/* --- any planner ---------------------------------------------------------------------------- */

/* Entries of beliefs and actions beyond which the nearest policy of all takes too long. */
static const size_t most_entries = 3000;

/* What no policy comes below; -INFINITY where that is not found. */
static idm_status find_least(idm_asked *asked, const double *target, double *ret_least,
                             idm_error *opt_error)
{
  const idm_fit_settings *settings = asked->settings;
  idm_closest *found = NULL;
  *ret_least = 0;
  if (is_own(settings)) return IDM_OK;
  if (asked->world->n.states * asked->world->n.actions > most_entries && asked->beliefs) {
    *ret_least = -INFINITY;
    return IDM_OK;
  }
  const idm_status status =
      idm_closest_create(asked->world, asked->problem->setting, target, asked->demonstrator->policy,
                         NULL, settings->divergence, idm_flows_lambda(settings), settings->entropy,
                         &asked->halt, &found, opt_error);
  *ret_least = status == IDM_OK ? found->objective - found->gap : -INFINITY;
  idm_closest_destroy(found);
  return status == IDM_INPUT || status == IDM_NUMERICAL ? IDM_OK : status;
}

/* What a search and chains work with. */
typedef struct matching {
  idm_asked asked;
  double *target; /* [state of the world][action]: the demonstrator's occupancy */
  idm_parameters *parameters;
} matching;

static void close_matching(matching *m)
{
  idm_parameters_destroy(m->parameters);
  free(m->target);
  idm_asked_close(&m->asked);
}

/* resolution: of the lattice where states are hidden; 0: one for the log. */
static idm_status open_matching(matching *m, const idm_fit_call *call, int resolution,
                                idm_error *opt_error)
{
  *m = (matching){0};
  idm_status status = idm_asked_open(&m->asked, call, resolution, opt_error);
  if (status == IDM_OK) status = check(&m->asked, opt_error);
  if (status == IDM_OK) status = idm_asked_demonstrator(&m->asked, opt_error);
  if (status == IDM_OK)
    status = check_taken(m->asked.world, call->problem->setting, m->asked.demonstrator, opt_error);
  return status;
}

static idm_status open_numbers(matching *m, idm_error *opt_error)
{
  idm_asked *asked = &m->asked;
  const bool empirical = asked->settings->occupancy == IDM_OCCUPANCY_EMPIRICAL;
  m->target = idm_new(asked->world->n.states * asked->world->n.actions, sizeof *m->target);
  idm_status status = m->target ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_demonstrator_occupancy(asked->demonstrator, asked->world, asked->data,
                                        asked->problem->setting, empirical, m->target,
                                        asked->opt_notes, opt_error);
  if (status == IDM_OK) status = idm_parameters_create(asked->problem, &m->parameters, opt_error);
  return status;
}

/* --- another lattice ------------------------------------------------------------------------ */

/* The share of decisions, as the answer makes them, that are others at numbers `there`. */
static idm_status count_others(matching *m, const double *here, const double *there, double *share,
                               idm_error *opt_error)
{
  idm_occupancy_loss loss;
  const size_t actions = m->asked.world->n.actions;
  double *policy = NULL;
  idm_status status =
      idm_occupancy_loss_open(&loss, &m->asked, m->parameters, m->target, opt_error);
  if (status == IDM_OK) status = idm_occupancy_visit(&loss, there, opt_error);
  if (status == IDM_OK) {
    policy = idm_duplicate(loss.policy, loss.entries, sizeof *policy);
    status = policy ? idm_occupancy_visit(&loss, here, opt_error) : idm_fail_memory(opt_error);
  }
  *share = 0;
  for (size_t s = 0; status == IDM_OK && s < m->asked.world->n.states; s++) {
    double mass = 0, apart = 0;
    for (size_t e = s * actions; e < (s + 1) * actions; e++) {
      mass += loss.occupancy[e];
      apart += 0.5 * fabs(policy[e] - loss.policy[e]);
    }
    *share += mass * apart;
  }
  idm_occupancy_loss_close(&loss);
  free(policy);
  return status;
}

/* Climb to the answer of half the resolution, from that of the whole. */
static idm_status climb_coarser(matching *m, int resolution, double *y, idm_error *opt_error)
{
  matching coarse;
  const idm_fit_call call = idm_asked_repeat(&m->asked);
  idm_status status = open_matching(&coarse, &call, resolution, opt_error);
  if (status == IDM_OK) status = open_numbers(&coarse, opt_error);
  if (status == IDM_OK)
    status = idm_occupancy_climb(&coarse.asked, coarse.parameters, coarse.target, y, opt_error);
  close_matching(&coarse);
  return status;
}

static idm_status compare_lattices(matching *m, const idm_theta *theta, idm_finding *f,
                                   idm_error *opt_error)
{
  const int resolution = m->asked.beliefs->lattice->resolution;
  const int half = (resolution + 1) / 2;
  const size_t d = m->parameters->dimension;
  double share;
  double *y = idm_new(2 * d, sizeof *y);
  if (!y) return idm_fail_memory(opt_error);
  idm_parameters_get(m->parameters, theta, y);
  memcpy(y + d, y, d * sizeof *y);
  idm_status status = climb_coarser(m, half, y + d, opt_error);
  if (status == IDM_OK) status = count_others(m, y, y + d, &share, opt_error);
  free(y);
  if (status == IDM_OK) idm_belief_world_remark(m->asked.beliefs, half, share, f);
  return status;
}

static idm_status search_numbers(matching *m, idm_theta *theta, idm_finding *finding,
                                 idm_error *opt_error)
{
  double least = -INFINITY;
  idm_status status = find_least(&m->asked, m->target, &least, opt_error);
  if (status == IDM_OK)
    status =
        idm_occupancy_search(&m->asked, m->parameters, m->target, least, theta, finding, opt_error);
  return status == IDM_OK && m->asked.beliefs ? compare_lattices(m, theta, finding, opt_error)
                                              : status;
}

static idm_status fit_numbers(matching *m, idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_asked *asked = &m->asked;
  idm_theta *theta = NULL;
  idm_finding *finding = NULL;
  idm_status status = open_numbers(m, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(asked->problem->theta, &theta, opt_error);
  if (status == IDM_OK) status = idm_finding_create(m->parameters->dimension, &finding, opt_error);
  if (status == IDM_OK) status = search_numbers(m, theta, finding, opt_error);
  if (status == IDM_OK)
    status = idm_answer_create(asked->inverse, asked->problem, asked->settings, theta, "search",
                               finding, ret_posterior, opt_error);
  else
    idm_finding_destroy(finding);
  idm_theta_destroy(theta);
  return status;
}

/* --- draws ---------------------------------------------------------------------------------- */

/* What one chain evaluates by. */
typedef struct density {
  idm_occupancy_loss loss;
  double scale; /* w n */
  double *gradient;
} density;

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

typedef struct drawing {
  size_t chains;
  density *density;   /* [chain] */
  idm_target *target; /* [chain] */
} drawing;

static void close_drawing(drawing *g)
{
  for (size_t i = 0; g->density && i < g->chains; i++) {
    idm_occupancy_loss_close(&g->density[i].loss);
    free(g->density[i].gradient);
  }
  free(g->density);
  free(g->target);
}

static idm_status open_drawing(matching *m, drawing *g, idm_error *opt_error)
{
  const idm_fit_settings *settings = m->asked.settings;
  *g = (drawing){.chains = settings->chains};
  g->density = idm_new(g->chains, sizeof *g->density);
  g->target = idm_new(g->chains, sizeof *g->target);
  idm_status status = g->density && g->target ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < g->chains && status == IDM_OK; i++) {
    density *d = &g->density[i];
    d->scale = settings->loss_scale * (double)m->asked.demonstrator->decisions;
    d->gradient = idm_new(m->parameters->dimension, sizeof *d->gradient);
    status = idm_occupancy_loss_open(&d->loss, &m->asked, m->parameters, m->target, opt_error);
    if (status == IDM_OK && !d->gradient) status = idm_fail_memory(opt_error);
    g->target[i] = (idm_target){.dimension = m->parameters->dimension,
                                .gradient = true,
                                .context = d,
                                .evaluate = evaluate};
  }
  return status;
}

/* A place of density 0 leads nowhere. */
static idm_status climb(const drawing *g, idm_peaks *peaks, double *y, idm_error *opt_error)
{
  double height;
  const idm_status status = evaluate(&g->density[0], y, &height, NULL, opt_error);
  if (status != IDM_OK || !isfinite(height)) return status;
  return idm_peaks_climb(peaks, g->target, y, opt_error);
}

/* Climb from the problem's own numbers and from draws of the prior. */
static idm_status find_peaks(const matching *m, const drawing *g, uint64_t key, idm_peaks *peaks,
                             idm_error *opt_error)
{
  enum { draws = 7 };
  static const uint64_t stream = (uint64_t)1 << 33;
  double *y = idm_new(m->parameters->dimension, sizeof *y);
  if (!y) return idm_fail_memory(opt_error);
  idm_random random;
  idm_random_init(&random, key, stream);
  idm_parameters_get(m->parameters, m->asked.problem->theta, y);
  idm_status status = climb(g, peaks, y, opt_error);
  for (int i = 0; i < draws && status == IDM_OK && idm_parameters_proper(m->parameters); i++) {
    idm_parameters_draw(m->parameters, &random, y);
    status = climb(g, peaks, y, opt_error);
  }
  idm_peaks_thin(peaks);
  free(y);
  if (status == IDM_OK && !peaks->count)
    return idm_fail(opt_error, IDM_INPUT,
                    "the divergence from the demonstrator's occupancy is infinite from %d starts; "
                    "expected --divergence js, tv or squared",
                    draws + 1);
  return status;
}

static void say_scale(const matching *m, idm_finding *f)
{
  idm_notes_add(&f->words,
                "a generalised posterior: the prior times exp(-%g x %zu decisions x the "
                "objective). Intervals depend on that scale, and decisions of a trajectory are not "
                "independent: `idm recover RUN` measures how often they cover",
                m->asked.settings->loss_scale, m->asked.demonstrator->decisions);
  if (m->asked.beliefs)
    idm_notes_add(&f->words,
                  "occupancies are over %zu beliefs of a lattice of resolution %d; "
                  "`distribution-matching` compares its answer with that of half the resolution",
                  m->asked.beliefs->lattice->points, m->asked.beliefs->lattice->resolution);
  if (!idm_parameters_proper(m->parameters))
    idm_notes_add(&f->faults,
                  "unchecked: the prior is flat, and whether the density has a finite integral was "
                  "not looked for; give the free numbers a proper prior");
}

/* J at the centre of the draws. */
static idm_status put_objective(drawing *g, idm_posterior *p, idm_error *opt_error)
{
  double *centre = idm_new(p->coordinate.count, sizeof *centre);
  if (!centre) return idm_fail_memory(opt_error);
  idm_posterior_centre(p, centre);
  const idm_status status =
      idm_occupancy_loss_at(&g->density[0].loss, centre, &p->finding->objective, NULL, opt_error);
  free(centre);
  return status;
}

static idm_status draw_numbers(matching *m, const idm_fit_watch *opt_watch,
                               idm_posterior **ret_posterior, idm_error *opt_error)
{
  enum { most_peaks = 8 };
  static const idm_fit_watch nobody = {0};
  idm_asked *asked = &m->asked;
  drawing g = {0};
  idm_peaks *peaks = NULL;
  idm_finding *finding = NULL;
  idm_status status = open_numbers(m, opt_error);
  if (status == IDM_OK) status = open_drawing(m, &g, opt_error);
  const idm_drawn_target drawn = {
      .inverse = asked->inverse,
      .problem = asked->problem,
      .settings = asked->settings,
      .parameters = m->parameters,
      .target = g.target,
      .key = idm_label_request(asked->inverse, asked->problem, asked->data, asked->settings),
      .halt = &asked->halt,
      .watch = opt_watch ? opt_watch : &nobody,
      .opt_notes = asked->opt_notes};
  if (status == IDM_OK)
    status = idm_peaks_create(m->parameters->dimension, most_peaks, &peaks, opt_error);
  if (status == IDM_OK) status = find_peaks(m, &g, drawn.key, peaks, opt_error);
  if (status == IDM_OK) status = idm_finding_create(m->parameters->dimension, &finding, opt_error);
  if (status == IDM_OK) {
    say_scale(m, finding);
    status = idm_target_draws(&drawn, peaks, finding, ret_posterior, opt_error);
  }
  if (status == IDM_OK) status = put_objective(&g, *ret_posterior, opt_error);
  idm_peaks_destroy(peaks);
  close_drawing(&g);
  return status;
}

/* --- the inverse planners ------------------------------------------------------------------- */

static idm_status fit_matching(const idm_fit_call *call, idm_posterior **ret_posterior,
                               idm_error *opt_error)
{
  matching m;
  idm_status status = open_matching(&m, call, 0, opt_error);
  if (status == IDM_OK)
    status = has_all_policies(call->problem) ? fit_rule(&m.asked, ret_posterior, opt_error)
                                             : fit_numbers(&m, ret_posterior, opt_error);
  close_matching(&m);
  return status;
}

static idm_status fit_draws(const idm_fit_call *call, idm_posterior **ret_posterior,
                            idm_error *opt_error)
{
  const idm_problem *problem = call->problem;
  const idm_fit_settings *settings = call->settings;
  matching m;
  idm_status status = open_matching(&m, call, 0, opt_error);
  if (status == IDM_OK && (problem->agent.choice == IDM_CHOICE_BEST || idm_policy_leaps(problem)))
    status =
        idm_fail(opt_error, IDM_INPUT,
                 "'%s' of an agent that takes its best action has no density to draw from: its "
                 "occupancy moves by leaps, and is infinitely far or the same almost "
                 "everywhere; use --inverse distribution-matching or minimum-perturbation, or "
                 "an agent that draws its actions (alpha above 0, choice: drawn)",
                 m.asked.inverse->name);
  if (status == IDM_OK && !(settings->loss_scale > 0 && isfinite(settings->loss_scale)))
    status = idm_fail(opt_error, IDM_USAGE, "--loss-scale is %g; expected a number above 0",
                      settings->loss_scale);
  if (status == IDM_OK) status = idm_fit_check_size(call->data, settings, opt_error);
  if (status == IDM_OK) status = draw_numbers(&m, call->opt_watch, ret_posterior, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  close_matching(&m);
  return status;
}

static const idm_asked_method nearest_occupancy = {.by = IDM_BY_LATTICE,
                                                   .doing = "looking for the nearest occupancy"};

static const char *const settings_read[] = {"divergence", "entropy", "lambda",
                                            "occupancy",  "seed",    NULL};

const idm_inverse idm_inverse_distribution_matching = {
    .name = "distribution-matching",
    .summary = "the numbers of a planner whose occupancy comes nearest to the demonstrator's",
    .row = "Distribution matching",
    .answer = IDM_POINT,
    .opaque = true,
    .by_state = true,
    .own_objective = true,
    .settings = settings_read,
    .method = &nearest_occupancy,
    .fit = fit_matching,
};

static const char *const drawn_read[] = {
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
    .settings = drawn_read,
    .method = &nearest_occupancy,
    .fit = fit_draws,
};
