/* How people react to evidence: see the header.
 *
 * Bayes' rule adds in logarithms: log z'_s = log z_s + log L_s + constant. Centred over the states
 * the constant is gone, no state is a reference, and of two states what is left is half the logit,
 * with either sign. */
#include "invert/explain/reaction.h"

#include <math.h>

#include "base/memory.h"
#include "base/moments.h"
#include "idm/quantile.h"

/* Bytes that sums may take: beyond, fewer draws are kept. */
static const size_t most_bytes = (size_t)1 << 27;

void idm_reaction_close(reaction *r)
{
  free(r->first);
  free(r->agent);
  free(r->count);
  free(r->sums);
  *r = (reaction){0};
}

/* --- who went where ------------------------------------------------------------------------- */

/* Walk all rows, trajectory by trajectory. Runs of one agent at a node are one entry: counted into
 * first[node + 1], or written, where there is room for them, from `next`. */
static void walk_rows(reaction *r, const idm_data *data, const idm_prefix_tree *tree,
                      uint32_t *recent, size_t *opt_next)
{
  for (size_t i = 0; i < tree->nodes; i++) recent[i] = UINT32_MAX;
  for (size_t t = 0; t < data->trajectories; t++) {
    size_t node = tree->last[t];
    for (size_t row = data->first[t + 1]; row-- > data->first[t];
         node = (size_t)tree->node[node].parent) {
      const bool fresh = recent[node] != data->agent[t];
      recent[node] = data->agent[t];
      if (!opt_next) {
        r->first[node + 1] += fresh;
        continue;
      }
      opt_next[node] += fresh;
      r->agent[opt_next[node] - 1] = data->agent[t];
      r->count[opt_next[node] - 1]++;
    }
  }
}

static idm_status find_people(reaction *r, const idm_data *data, const idm_prefix_tree *tree,
                              idm_error *opt_error)
{
  uint32_t *recent = idm_new(tree->nodes, sizeof *recent);
  r->first = idm_new(tree->nodes + 1, sizeof *r->first);
  idm_status status = recent && r->first ? IDM_OK : idm_fail_memory(opt_error);
  size_t *next = NULL;
  if (status == IDM_OK) {
    walk_rows(r, data, tree, recent, NULL);
    for (size_t i = 0; i < tree->nodes; i++) r->first[i + 1] += r->first[i];
    r->agent = idm_new(r->first[tree->nodes], sizeof *r->agent);
    r->count = idm_new(r->first[tree->nodes], sizeof *r->count);
    next = idm_duplicate(r->first, tree->nodes, sizeof *next);
    if (!r->agent || !r->count || !next) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) walk_rows(r, data, tree, recent, next);
  free(recent);
  free(next);
  return status;
}

idm_status idm_reaction_open(reaction *r, const idm_data *data, const idm_prefix_tree *tree,
                             size_t draws, idm_error *opt_error)
{
  const size_t one = idm_times(data->agent_name.count, sizeof *r->sums);
  const size_t most = most_bytes / (one ? one : 1) ? most_bytes / (one ? one : 1) : 1;
  *r = (reaction){.agents = data->agent_name.count};
  r->stride = (draws + most - 1) / most;
  r->draws = (draws + r->stride - 1) / r->stride;
  r->sums = idm_new(idm_times(r->agents, r->draws), sizeof *r->sums);
  if (!r->sums) return idm_fail_memory(opt_error);
  return find_people(r, data, tree, opt_error);
}

void idm_reaction_add(reaction *r, size_t node, size_t draw, const reaction_sums *sums)
{
  if (draw % r->stride || !(sums->updates > 0)) return;
  for (size_t i = r->first[node]; i < r->first[node + 1]; i++) {
    const double n = r->count[i];
    reaction_sums *to = &r->sums[r->agent[i] * r->draws + draw / r->stride];
    to->prior_prior += n * sums->prior_prior;
    to->prior_evidence += n * sums->prior_evidence;
    to->evidence_evidence += n * sums->evidence_evidence;
    to->prior_after += n * sums->prior_after;
    to->evidence_after += n * sums->evidence_after;
    to->updates += n * sums->updates;
    for (size_t k = 0; k < REACTION_SIDES; k++) {
      to->side[k].own += n * sums->side[k].own;
      to->side[k].bayes += n * sums->side[k].bayes;
      to->side[k].updates += n * sums->side[k].updates;
    }
  }
}

/* --- one update ----------------------------------------------------------------------------- */

/* Logarithms of x over the states that are `in` (1, else 0), centred; 0 elsewhere. */
static void centre(double *x, const double *in, size_t states, double support)
{
  double mean = 0;
  for (size_t s = 0; s < states; s++) mean += in[s] > 0 ? log(x[s]) / support : 0;
  for (size_t s = 0; s < states; s++) x[s] = in[s] > 0 ? log(x[s]) - mean : 0;
}

/* The likeliest state; `states` where two are as likely, up to rounding. */
static size_t likeliest(const double *z, size_t states)
{
  size_t best = 0;
  bool tied = false;
  for (size_t s = 1; s < states; s++) {
    const double over = (z[s] - z[best]) / fmax(z[s], z[best]);
    tied = fabs(over) < 1e-9 || (tied && over < 0);
    if (over > 0) best = s;
  }
  return tied ? states : best;
}

/* Log-odds of a state, of numbers that need not sum to 1. */
static double log_odds(const double *z, size_t states, size_t state)
{
  double others = 0;
  for (size_t s = 0; s < states; s++) others += s == state ? 0 : z[s];
  return others > 0 ? log(z[state]) - log(others) : INFINITY;
}

/* Add an update to the kind that it is of: `prior` to `bayes` and to `held`. */
static void add_side(const double *prior, const double *bayes, const double *held, size_t states,
                     double weight, reaction_sums *sums)
{
  static const double nothing = 1e-9;
  const size_t state = likeliest(prior, states);
  if (state == states) return;
  const double before = log_odds(prior, states, state);
  const double due = log_odds(bayes, states, state) - before;
  const double own = log_odds(held, states, state) - before;
  if (!isfinite(due) || !isfinite(own) || !(fabs(due) > nothing)) return;
  reaction_side *side = &sums->side[due > 0 ? REACTION_CONFIRMING : REACTION_DISCONFIRMING];
  side->own += weight * own;
  side->bayes += weight * due;
  side->updates += weight;
}

void idm_reaction_update(const environment *world, const double *z, size_t u, size_t x,
                         const double *after, double weight, double *scratch, reaction_sums *sums)
{
  static const double nothing = 1e-12;
  const size_t k = world->sizes.states;
  double *prior = scratch;
  double *evidence = prior + k;
  double *held = evidence + k;
  double *in = held + k;
  double support = 0;
  double moved = 0;
  if (world->setting->fully_observed) return;
  idm_filter_predict(k, world->transition + u * k * k, z, prior);
  idm_environment_joint(world, z, u, x, evidence);
  memcpy(held, after, k * sizeof *held);
  for (size_t s = 0; s < k; s++) {
    in[s] = prior[s] > 0 && evidence[s] > 0 && held[s] > 0;
    support += in[s];
  }
  if (support < 2) return;
  add_side(prior, evidence, held, k, weight, sums);
  centre(prior, in, k, support);
  centre(evidence, in, k, support);
  centre(held, in, k, support);
  for (size_t s = 0; s < k; s++) {
    evidence[s] -= prior[s];
    moved = fmax(moved, fmax(fabs(evidence[s]), fabs(held[s] - prior[s])));
  }
  if (!(moved > nothing)) return;
  for (size_t s = 0; s < k; s++) {
    sums->prior_prior += weight * prior[s] * prior[s];
    sums->prior_evidence += weight * prior[s] * evidence[s];
    sums->evidence_evidence += weight * evidence[s] * evidence[s];
    sums->prior_after += weight * prior[s] * held[s];
    sums->evidence_after += weight * evidence[s] * held[s];
  }
  sums->updates += weight;
}

/* --- least squares -------------------------------------------------------------------------- */

void idm_reaction_coefficients(const reaction_sums *sums, double *base_rate, double *evidence)
{
  const double none = 1e-20 * sums->updates; /* squares of rounding */
  const double pp = sums->prior_prior;
  const double ee = sums->evidence_evidence;
  const double pe = sums->prior_evidence;
  const double determinant = pp * ee - pe * pe;
  *base_rate = *evidence = NAN;
  if (pp > none && ee > none) {
    if (!(determinant > 1e-10 * pp * ee)) return; /* they always moved together */
    *base_rate = (ee * sums->prior_after - pe * sums->evidence_after) / determinant;
    *evidence = (pp * sums->evidence_after - pe * sums->prior_after) / determinant;
  } else if (ee > none) {
    *evidence = sums->evidence_after / ee;
  } else if (pp > none) {
    *base_rate = sums->prior_after / pp;
  }
}

idm_interval idm_reaction_interval(double *sample, size_t count)
{
  const double mean = idm_mean(sample, count);
  if (isnan(mean)) return (idm_interval){NAN, NAN, NAN};
  return (idm_interval){mean, idm_quantile(sample, count, 0.05), idm_quantile(sample, count, 0.95)};
}

void idm_reaction_none(idm_explained_person *person)
{
  const idm_interval none = {NAN, NAN, NAN};
  person->base_rate = person->reaction = person->noise = none;
  person->confirming = person->disconfirming = person->asymmetry = none;
}

/* The mean change over that by Bayes' rule; NaN where there are none. */
static double ratio_of(const reaction_side *side)
{
  return side->updates > 0 ? side->own / side->bayes : NAN;
}

void idm_reaction_solve(const reaction *r, size_t agent, double *sample,
                        idm_explained_person *person)
{
  const size_t n = r->draws;
  double updates = 0, sides[REACTION_SIDES] = {0};
  for (size_t d = 0; d < n; d++) {
    const reaction_sums *sums = &r->sums[agent * n + d];
    updates = fmax(updates, sums->updates);
    idm_reaction_coefficients(sums, &sample[d], &sample[n + d]);
    for (size_t k = 0; k < REACTION_SIDES; k++) {
      sides[k] = fmax(sides[k], sums->side[k].updates);
      sample[(2 + k) * n + d] = ratio_of(&sums->side[k]);
    }
    sample[4 * n + d] = sample[2 * n + d] - sample[3 * n + d];
  }
  person->updates = (size_t)llround(updates);
  person->confirming_updates = (size_t)llround(sides[REACTION_CONFIRMING]);
  person->disconfirming_updates = (size_t)llround(sides[REACTION_DISCONFIRMING]);
  person->base_rate = idm_reaction_interval(sample, n);
  person->reaction = idm_reaction_interval(sample + n, n);
  person->confirming = idm_reaction_interval(sample + 2 * n, n);
  person->disconfirming = idm_reaction_interval(sample + 3 * n, n);
  person->asymmetry = idm_reaction_interval(sample + 4 * n, n);
}
