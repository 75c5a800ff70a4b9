/* Projection onto deterministic policies by branch and bound (`docs/method/inverse.md, 2`).
 *
 * A branch fixes the actions of some states; the nearest occupancy of all policies that agree with
 * it, a convex program, is its lower bound. Best first: the branch of least bound is split next, by
 * the actions of the state where its policy is furthest from deterministic. */
#include "invert/utility/mdp.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/text.h"

/* Distances that differ by no more than this are equal. */
static const double tolerance = 1e-11;
/* Largest number of branches; of those after optimality was proved, which are searched for other
 * optima; and of policies that are evaluated in a local search. */
enum { max_branches = 3000, max_tied_branches = 200, max_trials = 20000 };

typedef struct branch {
  double bound;    /* lower bound; infinite: closed */
  int32_t *action; /* [state]: fixed action, or IDM_MISSING */
  size_t split;    /* state to branch on */
} branch;

typedef struct policy_search {
  const idm_mdp *mdp;
  const idm_setting *setting;
  const double *target;
  const double *fallback;
  idm_divergence divergence;
  double lambda;
  idm_cancel *opt_cancel;
  int32_t *modal_action;   /* [state]: most frequent action of fallback; of several the first */
  int32_t *trial;          /* [state]: candidate policy */
  int32_t *best;           /* [state] */
  double *policy;          /* [state][action] of the candidate */
  double *occupancy_tried; /* [state][action]: its occupancy */
  bool *allowed;           /* [state][action]: actions of a branch */
  double best_distance;    /* least distance so far */
  uint64_t key;            /* of the best policy, see key_of */
  bool non_unique;
  double lower; /* lower bound of the closed branches */
  branch *branch;
  size_t branches;
} policy_search;

static bool is_open(const policy_search *o, size_t action)
{
  return o->mdp->prior[action] > 0;
}

static double mass_of(const policy_search *o, const double *occupancy, size_t s)
{
  double mass = 0;
  for (size_t u = 0; u < o->mdp->n.actions; u++) mass += occupancy[s * o->mdp->n.actions + u];
  return mass;
}

/* --- policies ------------------------------------------------------------------------------- */

/* Distance of the policy action[state]; its occupancy is stored in o->occupancy_tried. */
static idm_status evaluate(policy_search *o, const int32_t *action, double *distance,
                           idm_error *opt_error)
{
  const idm_sizes n = o->mdp->n;
  memset(o->policy, 0, n.states * n.actions * sizeof *o->policy);
  for (size_t s = 0; s < n.states; s++) o->policy[s * n.actions + (size_t)action[s]] = 1;
  idm_status status = idm_cancel_check(o->opt_cancel, opt_error);
  if (status == IDM_OK)
    status = idm_mdp_occupancy(o->mdp, o->policy, o->occupancy_tried, opt_error);
  *distance = 0;
  for (size_t e = 0; e < n.states * n.actions && status == IDM_OK; e++)
    *distance +=
        idm_flows_divergence(o->divergence, o->lambda, o->target[e], o->occupancy_tried[e]);
  return status;
}

/* Order-independent checksum over the names of actions in states of positive occupancy: policies
 * that agree there have equal keys. */
static uint64_t key_of(const policy_search *o, const int32_t *action)
{
  uint64_t sum = 0;
  for (size_t s = 0; s < o->mdp->n.states; s++) {
    const char *state = o->setting->states.name[s];
    const char *name = o->setting->actions.name[action[s]];
    if (!(mass_of(o, o->occupancy_tried, s) > 0)) continue;
    uint64_t one = idm_checksum(IDM_CHECKSUM_START, state, strlen(state) + 1);
    one = idm_checksum(one, name, strlen(name));
    sum += one * one;
  }
  return sum;
}

/* Updates the best policy; of equally near ones the least key is kept. */
static void update_best(policy_search *o, const int32_t *action, double distance)
{
  if (!(distance <= o->best_distance + tolerance)) return;
  const uint64_t key = key_of(o, action);
  const bool nearer = distance < o->best_distance - tolerance;
  if (nearer)
    o->non_unique = false;
  else if (key != o->key)
    o->non_unique = true;
  if (!nearer && key >= o->key) return;
  o->best_distance = distance;
  o->key = key;
  memcpy(o->best, action, o->mdp->n.states * sizeof *action);
}

/* Local search from o->trial: changes one state's action at a time while the distance decreases. */
static idm_status improve(policy_search *o, idm_error *opt_error)
{
  const idm_sizes n = o->mdp->n;
  double distance_now;
  size_t trials = 0;
  size_t unchanged = 0; /* states examined since the last change */
  assert(n.states > 0);
  idm_status status = evaluate(o, o->trial, &distance_now, opt_error);
  if (status == IDM_OK) update_best(o, o->trial, distance_now);
  for (size_t s = 0; status == IDM_OK && unchanged < n.states && trials < max_trials;
       s = (s + 1) % n.states, unchanged++) {
    const int32_t previous = o->trial[s];
    int32_t best = previous;
    for (size_t u = 0; u < n.actions && status == IDM_OK; u++) {
      double trial_distance;
      if ((int32_t)u == previous || !is_open(o, u)) continue;
      o->trial[s] = (int32_t)u;
      trials++;
      status = evaluate(o, o->trial, &trial_distance, opt_error);
      if (status == IDM_OK) update_best(o, o->trial, trial_distance);
      if (status != IDM_OK || !(trial_distance < distance_now - tolerance)) continue;
      distance_now = trial_distance;
      best = (int32_t)u;
      unchanged = 0;
    }
    o->trial[s] = best;
  }
  return status;
}

/* --- branches ------------------------------------------------------------------------------- */

/* Rounds an occupancy of a branch to the policy o->trial of its most frequent actions. Returns the
 * state where it is furthest from deterministic, or the number of states if it is deterministic
 * everywhere. */
static size_t round_policy(policy_search *o, const double *occupancy, const branch *b)
{
  const idm_sizes n = o->mdp->n;
  size_t split = n.states;
  double most = 0;
  for (size_t s = 0; s < n.states; s++) {
    const double *row = occupancy + s * n.actions;
    const double mass = mass_of(o, occupancy, s);
    size_t best = (size_t)o->modal_action[s];
    for (size_t u = 0; u < n.actions; u++)
      if (row[u] > row[best]) best = u;
    o->trial[s] = b->action[s] == IDM_MISSING ? (int32_t)best : b->action[s];
    if (b->action[s] != IDM_MISSING || !(mass - row[best] > most)) continue;
    most = mass - row[best];
    split = s;
  }
  return split;
}

/* true if the last evaluated policy reaches no state that the branch leaves undecided. */
static bool is_decided(const policy_search *o, const branch *b)
{
  for (size_t s = 0; s < o->mdp->n.states; s++)
    if (b->action[s] == IDM_MISSING && mass_of(o, o->occupancy_tried, s) > 0) return false;
  return true;
}

static void set_allowed(const policy_search *o, const branch *b)
{
  const size_t actions = o->mdp->n.actions;
  for (size_t e = 0; e < o->mdp->n.states * actions; e++)
    o->allowed[e] =
        b->action[e / actions] == IDM_MISSING || (size_t)b->action[e / actions] == e % actions;
}

/* Computes the bound of a branch and the state to branch on. A branch is closed if its nearest
 * policy is deterministic. */
static idm_status relax(policy_search *o, branch *b, idm_error *opt_error)
{
  const idm_sizes n = o->mdp->n;
  idm_occupancy_projection *found = NULL;
  double distance_now;
  for (size_t s = 0; s < n.states; s++)
    o->trial[s] = b->action[s] == IDM_MISSING ? o->modal_action[s] : b->action[s];
  idm_status status = evaluate(o, o->trial, &distance_now, opt_error);
  if (status == IDM_OK) update_best(o, o->trial, distance_now);
  if (status != IDM_OK || is_decided(o, b)) {
    o->lower = fmin(o->lower, distance_now);
    b->bound = INFINITY;
    return status;
  }
  set_allowed(o, b);
  status = idm_occupancy_projection_create(o->mdp, o->setting, o->target, o->fallback, o->allowed,
                                           o->divergence, o->lambda, 0, o->opt_cancel, &found,
                                           opt_error);
  if (status != IDM_OK) return status;
  b->bound = found->objective - found->gap;
  b->split = round_policy(o, found->occupancy, b);
  idm_occupancy_projection_destroy(found);
  status = evaluate(o, o->trial, &distance_now, opt_error);
  if (status == IDM_OK) update_best(o, o->trial, distance_now);
  if (b->split < n.states && distance_now - b->bound > tolerance) return status;
  o->lower = fmin(o->lower, b->bound);
  b->bound = INFINITY;
  return status;
}

static idm_status add_branch(policy_search *o, const branch *of, size_t s, size_t u,
                             idm_error *opt_error)
{
  const size_t states = o->mdp->n.states;
  branch b = {.bound = INFINITY, .action = idm_duplicate(of->action, states, sizeof *b.action)};
  if (!b.action) return idm_fail_memory(opt_error);
  b.action[s] = (int32_t)u;
  idm_error none = {0};
  idm_status status = relax(o, &b, &none);
  /* No policy of the branch has a finite distance. */
  if (status == IDM_INPUT) {
    b.bound = INFINITY;
    status = IDM_OK;
  }
  if (status != IDM_OK && opt_error) *opt_error = none;
  if (status == IDM_OK && b.bound <= o->best_distance + tolerance)
    o->branch[o->branches++] = b;
  else
    free(b.action);
  return status;
}

static size_t least_bound(const policy_search *o)
{
  size_t best = 0;
  for (size_t i = 1; i < o->branches; i++)
    if (o->branch[i].bound < o->branch[best].bound) best = i;
  return best;
}

/* Processes branches until none can contain a nearer or equally near policy, or a limit is reached.
 */
static idm_status branch_and_bound(policy_search *o, idm_error *opt_error)
{
  size_t tied_branches = 0; /* branches since optimality was proved */
  size_t at = 0;
  idm_status status = IDM_OK;
  while (status == IDM_OK && o->branch[at].bound <= o->best_distance + tolerance &&
         o->branches < max_branches && tied_branches < max_tied_branches) {
    const size_t before = o->branches;
    const size_t s = o->branch[at].split;
    const bool proved = o->branch[at].bound >= o->best_distance - tolerance;
    for (size_t u = 0; u < o->mdp->n.actions && status == IDM_OK; u++)
      if (is_open(o, u)) status = add_branch(o, &o->branch[at], s, u, opt_error);
    o->branch[at].bound = INFINITY;
    if (proved) tied_branches += o->branches - before + 1;
    if (o->opt_cancel) o->opt_cancel->done = (double)o->branches / max_branches;
    at = least_bound(o);
  }
  o->lower = fmin(o->lower, o->branch[at].bound);
  /* Limit reached without proof: a local search may improve the best policy. */
  if (status != IDM_OK || !(o->lower < o->best_distance - tolerance)) return status;
  memcpy(o->trial, o->best, o->mdp->n.states * sizeof *o->trial);
  return improve(o, opt_error);
}

/* --- where to begin ------------------------------------------------------------------------- */

/* These divergences are infinite if the policy misses an action of the target: with two actions in
 * a state for every deterministic policy; otherwise the target's action is fixed. */
static bool needs_full_support(idm_divergence divergence)
{
  return divergence == IDM_DIVERGENCE_KL || divergence == IDM_DIVERGENCE_CHI2;
}

static idm_status fix_required_actions(const policy_search *o, branch *root, idm_error *opt_error)
{
  const idm_sizes n = o->mdp->n;
  size_t mixed_states = 0;
  size_t first = 0;
  for (size_t s = 0; s < n.states; s++) {
    size_t taken = 0;
    root->action[s] = IDM_MISSING;
    for (size_t u = 0; u < n.actions && needs_full_support(o->divergence); u++) {
      if (!(o->target[s * n.actions + u] > 0)) continue;
      taken++;
      root->action[s] = (int32_t)u;
    }
    if (taken > 1 && !mixed_states++) first = s;
  }
  if (!mixed_states) return IDM_OK;
  return idm_fail(
      opt_error, IDM_INPUT,
      "this divergence is infinite for every deterministic rule: the target occupancy has several "
      "actions in %zu %s, as in '%.80s'; expected --divergence js, tv or squared",
      mixed_states, mixed_states == 1 ? "state" : "states", o->setting->states.name[first]);
}

static void find_modal_actions(policy_search *o)
{
  const idm_sizes n = o->mdp->n;
  for (size_t s = 0; s < n.states; s++) {
    const double *row = o->fallback + s * n.actions;
    size_t best = n.actions;
    for (size_t u = 0; u < n.actions; u++)
      if (is_open(o, u) && (best == n.actions || row[u] > row[best])) best = u;
    o->modal_action[s] = (int32_t)best;
  }
}

static idm_status initialise(policy_search *o, idm_error *opt_error)
{
  branch *root = &o->branch[0];
  root->action = idm_new(o->mdp->n.states, sizeof *root->action);
  if (!root->action) return idm_fail_memory(opt_error);
  o->branches = 1;
  find_modal_actions(o);
  idm_status status = fix_required_actions(o, root, opt_error);
  /* A distance of 0 is optimal. */
  double distance_now = 0;
  /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what o holds is freed by its owner */
  if (status == IDM_OK) status = evaluate(o, o->modal_action, &distance_now, opt_error);
  if (status != IDM_OK) return status;
  update_best(o, o->modal_action, distance_now);
  root->bound = INFINITY;
  if (o->best_distance == 0) return IDM_OK;
  status = relax(o, root, opt_error);
  if (status == IDM_OK) status = improve(o, opt_error);
  return status;
}

/* --- the policy ----------------------------------------------------------------------------- */

/* Sets the most frequent actions of a state, weighted by the action prior. Returns their number. */
static size_t put_modal_policy(const policy_search *o, size_t s, double *row)
{
  const size_t actions = o->mdp->n.actions;
  const double *done = o->fallback + s * actions;
  double sum = 0;
  size_t count = 0;
  for (size_t u = 0; u < actions; u++) {
    const bool most = is_open(o, u) && done[u] >= done[o->modal_action[s]];
    row[u] = most ? o->mdp->prior[u] : 0;
    sum += row[u];
    count += most;
  }
  for (size_t u = 0; u < actions; u++) row[u] /= sum;
  return count;
}

static idm_status put_policy(policy_search *o, idm_branch_stats *stats,
                             idm_occupancy_projection *found, idm_error *opt_error)
{
  const idm_sizes n = o->mdp->n;
  double distance_now;
  const idm_status status = evaluate(o, o->best, &distance_now, opt_error);
  if (status != IDM_OK) return status;
  memcpy(found->policy, o->policy, n.states * n.actions * sizeof *found->policy);
  memcpy(found->occupancy, o->occupancy_tried, n.states * n.actions * sizeof *found->occupancy);
  for (size_t s = 0; s < n.states; s++)
    if (!(mass_of(o, o->occupancy_tried, s) > 0))
      stats->tied += put_modal_policy(o, s, found->policy + s * n.actions) > 1;
  found->objective = o->best_distance;
  found->gap = fmax(0, o->best_distance - o->lower);
  stats->branches = o->branches;
  stats->non_unique = o->non_unique;
  return IDM_OK;
}

static idm_status find(policy_search *o, idm_branch_stats *stats, idm_occupancy_projection *found,
                       idm_error *opt_error)
{
  idm_status status = initialise(o, opt_error);
  if (status == IDM_OK && o->best_distance > 0) status = branch_and_bound(o, opt_error);
  if (status == IDM_OK && !isfinite(o->best_distance))
    status = idm_fail(opt_error, IDM_INPUT,
                      "no deterministic rule was found at a finite distance from the demonstrator; "
                      "expected --divergence js, tv or squared");
  return status == IDM_OK ? put_policy(o, stats, found, opt_error) : status;
}

/* --- memory --------------------------------------------------------------------------------- */

static bool allocate(policy_search *o)
{
  const size_t states = o->mdp->n.states;
  const size_t all = idm_times(states, o->mdp->n.actions);
  o->modal_action = idm_new(3 * states, sizeof *o->modal_action);
  o->policy = idm_new(idm_times(2, all), sizeof *o->policy);
  o->allowed = idm_new(all, sizeof *o->allowed);
  o->branch = idm_new(max_branches + o->mdp->n.actions, sizeof *o->branch);
  if (!o->modal_action || !o->policy || !o->allowed || !o->branch) return false;
  o->trial = o->modal_action + states;
  o->best = o->trial + states;
  o->occupancy_tried = o->policy + all;
  return true;
}

idm_status idm_deterministic_projection_create(const idm_mdp *mdp, const idm_setting *setting,
                                               const double *target, const double *fallback,
                                               idm_divergence divergence, double lambda,
                                               idm_cancel *opt_cancel, idm_branch_stats *stats,
                                               idm_occupancy_projection **ret_nearest,
                                               idm_error *opt_error)
{
  const size_t all = idm_times(mdp->n.states, mdp->n.actions);
  policy_search o = {.mdp = mdp,
                     .setting = setting,
                     .target = target,
                     .fallback = fallback,
                     .divergence = divergence,
                     .lambda = lambda,
                     .opt_cancel = opt_cancel,
                     .best_distance = INFINITY,
                     .lower = INFINITY};
  *ret_nearest = NULL;
  *stats = (idm_branch_stats){0};
  idm_occupancy_projection *found = idm_new(1, sizeof *found);
  if (found) {
    found->policy = idm_new(all, sizeof *found->policy);
    found->occupancy = idm_new(all, sizeof *found->occupancy);
  }
  idm_status status = found && found->policy && found->occupancy && allocate(&o)
                          ? find(&o, stats, found, opt_error)
                          : idm_fail_memory(opt_error);
  for (size_t i = 0; i < o.branches; i++) free(o.branch[i].action);
  free(o.branch);
  free(o.modal_action);
  free(o.policy);
  free(o.allowed);
  if (status == IDM_OK)
    *ret_nearest = found;
  else
    idm_occupancy_projection_destroy(found);
  return status;
}
