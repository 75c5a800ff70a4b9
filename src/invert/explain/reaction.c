/* Reaction to evidence: regression of updated beliefs on prior and likelihood, and named biases
 * (docs/method/explain.md, 3).
 *
 * Contents: bias · reaction */
#include <math.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "invert/explain.h"
#include "invert/explain/explain.h"

/* === bias =================================================================================== */

/* Named biases (src/invert/explain.h). */

static const struct {
  const char *name;
  const char *rule;
} biases[IDM_BIAS_COUNT] = {
#define BIAS_ENTRY(id, called, when) [id] = {called, when},
    IDM_BIAS_LIST(BIAS_ENTRY)
#undef BIAS_ENTRY
};

const char *idm_bias_name(idm_bias bias)
{
  return (unsigned)bias < IDM_BIAS_COUNT ? biases[bias].name : NULL;
}

const char *idm_bias_rule(idm_bias bias)
{
  return (unsigned)bias < IDM_BIAS_COUNT ? biases[bias].rule : NULL;
}

bool idm_person_has_bias(const idm_person_summary *person, idm_bias bias)
{
  if (!person) return false;
  const bool updates = person->updates >= IDM_BIAS_UPDATES;
  switch (bias) {
  case IDM_BIAS_BASE_RATE_NEGLECT:
    return updates && person->base_rate.high < 1 - IDM_BIAS_MARGIN;
  case IDM_BIAS_CONSERVATISM:
    return updates && person->reaction.high < 1 - IDM_BIAS_MARGIN;
  case IDM_BIAS_OVERREACTION:
    return updates && person->reaction.low > 1 + IDM_BIAS_MARGIN;
  case IDM_BIAS_CONFIRMATION:
    return person->confirming_updates >= IDM_BIAS_UPDATES &&
           person->disconfirming_updates >= IDM_BIAS_UPDATES &&
           person->asymmetry.low > IDM_BIAS_MARGIN;
  default:
    return false;
  }
}

/* === reaction =============================================================================== */

/* Regression of updated beliefs (explain.h).
 *
 * Bayes' rule is additive in logarithms: log z'_s = log z_s + log L_s + constant. Centring over the
 * states removes the constant and needs no reference state; with two states the centred logarithm
 * is half the logit, with either sign. */

/* Largest memory of the sums; beyond it, fewer draws are used. */
static const size_t max_bytes = (size_t)1 << 27;

void idm_reaction_close(reaction *r)
{
  free(r->first);
  free(r->agent);
  free(r->count);
  free(r->sums);
  *r = (reaction){0};
}

/* --- agents by node -------------------------------------------------------------------------- */

/* Scan all rows, trajectory by trajectory. Consecutive rows of one agent at a node form one entry:
 * without opt_next, entries are counted in first[node + 1]; with it, they are written. */
static void scan_rows(reaction *r, const idm_data *data, const idm_prefix_tree *tree,
                      uint32_t *recent, size_t *opt_next)
{
  for (size_t i = 0; i < tree->nodes; i++) recent[i] = UINT32_MAX;
  for (size_t t = 0; t < data->trajectories; t++) {
    size_t node = tree->last[t];
    for (size_t row = data->first[t + 1]; row-- > data->first[t];
         node = (size_t)tree->node[node].parent) {
      const bool is_new_run = recent[node] != data->agent[t];
      recent[node] = data->agent[t];
      if (!opt_next) {
        r->first[node + 1] += is_new_run;
        continue;
      }
      opt_next[node] += is_new_run;
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
    scan_rows(r, data, tree, recent, NULL);
    for (size_t i = 0; i < tree->nodes; i++) r->first[i + 1] += r->first[i];
    r->agent = idm_new(r->first[tree->nodes], sizeof *r->agent);
    r->count = idm_new(r->first[tree->nodes], sizeof *r->count);
    next = idm_duplicate(r->first, tree->nodes, sizeof *next);
    if (!r->agent || !r->count || !next) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) scan_rows(r, data, tree, recent, next);
  free(recent);
  free(next);
  return status;
}

idm_status idm_reaction_open(reaction *r, const idm_data *data, const idm_prefix_tree *tree,
                             size_t draws, idm_error *opt_error)
{
  const size_t draw_bytes = idm_times(data->agent_name.count, sizeof *r->sums);
  const size_t max_draws =
      max_bytes / (draw_bytes ? draw_bytes : 1) ? max_bytes / (draw_bytes ? draw_bytes : 1) : 1;
  *r = (reaction){.agents = data->agent_name.count};
  r->stride = (draws + max_draws - 1) / max_draws;
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
    reaction_sums *target = &r->sums[r->agent[i] * r->draws + draw / r->stride];
    target->prior_prior += n * sums->prior_prior;
    target->prior_evidence += n * sums->prior_evidence;
    target->evidence_evidence += n * sums->evidence_evidence;
    target->prior_after += n * sums->prior_after;
    target->evidence_after += n * sums->evidence_after;
    target->updates += n * sums->updates;
    for (size_t k = 0; k < REACTION_SIDES; k++) {
      target->side[k].observed += n * sums->side[k].observed;
      target->side[k].bayes += n * sums->side[k].bayes;
      target->side[k].updates += n * sums->side[k].updates;
    }
  }
}

/* --- one update ----------------------------------------------------------------------------- */

/* Centre the logarithms of x over the states with in_support (1, else 0); 0 elsewhere. */
static void centre(double *x, const double *in_support, size_t states, double support)
{
  double mean = 0;
  for (size_t s = 0; s < states; s++) mean += in_support[s] > 0 ? log(x[s]) / support : 0;
  for (size_t s = 0; s < states; s++) x[s] = in_support[s] > 0 ? log(x[s]) - mean : 0;
}

/* The likeliest state; `states` if it is not unique up to rounding. */
static size_t likeliest(const double *z, size_t states)
{
  size_t best = 0;
  bool tied = false;
  for (size_t s = 1; s < states; s++) {
    const double relative = (z[s] - z[best]) / fmax(z[s], z[best]);
    tied = fabs(relative) < 1e-9 || (tied && relative < 0);
    if (relative > 0) best = s;
  }
  return tied ? states : best;
}

/* Log-odds of a state; z need not sum to 1. */
static double log_odds(const double *z, size_t states, size_t state)
{
  double complement = 0;
  for (size_t s = 0; s < states; s++) complement += s == state ? 0 : z[s];
  return complement > 0 ? log(z[state]) - log(complement) : INFINITY;
}

/* Add an update to its kind (confirming or disconfirming): from `prior` to `bayes` and to
 * `agent_belief`. */
static void add_signed_update(const double *prior, const double *bayes, const double *agent_belief,
                              size_t states, double weight, reaction_sums *sums)
{
  static const double tolerance = 1e-9;
  const size_t state = likeliest(prior, states);
  if (state == states) return;
  const double before = log_odds(prior, states, state);
  const double expected = log_odds(bayes, states, state) - before;
  const double observed = log_odds(agent_belief, states, state) - before;
  if (!isfinite(expected) || !isfinite(observed) || !(fabs(expected) > tolerance)) return;
  reaction_side *side = &sums->side[expected > 0 ? REACTION_CONFIRMING : REACTION_DISCONFIRMING];
  side->observed += weight * observed;
  side->bayes += weight * expected;
  side->updates += weight;
}

void idm_reaction_update(const environment *env, const double *z, size_t u, size_t x,
                         const double *updated_belief, double weight, double *scratch,
                         reaction_sums *sums)
{
  static const double tolerance = 1e-12;
  const size_t k = env->sizes.states;
  double *prior = scratch;
  double *evidence = prior + k;
  double *agent_belief = evidence + k;
  double *in_support = agent_belief + k;
  double support = 0;
  double max_change = 0;
  if (env->setting->fully_observed) return;
  idm_filter_predict(k, env->transition + u * k * k, z, prior);
  idm_environment_joint(env, z, u, x, evidence);
  memcpy(agent_belief, updated_belief, k * sizeof *agent_belief);
  for (size_t s = 0; s < k; s++) {
    in_support[s] = prior[s] > 0 && evidence[s] > 0 && agent_belief[s] > 0;
    support += in_support[s];
  }
  if (support < 2) return;
  add_signed_update(prior, evidence, agent_belief, k, weight, sums);
  centre(prior, in_support, k, support);
  centre(evidence, in_support, k, support);
  centre(agent_belief, in_support, k, support);
  for (size_t s = 0; s < k; s++) {
    evidence[s] -= prior[s];
    max_change = fmax(max_change, fmax(fabs(evidence[s]), fabs(agent_belief[s] - prior[s])));
  }
  if (!(max_change > tolerance)) return;
  for (size_t s = 0; s < k; s++) {
    sums->prior_prior += weight * prior[s] * prior[s];
    sums->prior_evidence += weight * prior[s] * evidence[s];
    sums->evidence_evidence += weight * evidence[s] * evidence[s];
    sums->prior_after += weight * prior[s] * agent_belief[s];
    sums->evidence_after += weight * evidence[s] * agent_belief[s];
  }
  sums->updates += weight;
}

/* --- least squares -------------------------------------------------------------------------- */

void idm_reaction_coefficients(const reaction_sums *sums, double *base_rate, double *evidence)
{
  const double none = 1e-20 * sums->updates; /* squares of rounding errors */
  const double pp = sums->prior_prior;
  const double ee = sums->evidence_evidence;
  const double pe = sums->prior_evidence;
  const double determinant = pp * ee - pe * pe;
  *base_rate = *evidence = NAN;
  if (pp > none && ee > none) {
    if (!(determinant > 1e-10 * pp * ee)) return; /* prior and evidence are collinear */
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

/* Mean change over the mean change by Bayes' rule; NaN without updates. */
static double ratio_of(const reaction_side *side)
{
  return side->updates > 0 ? side->observed / side->bayes : NAN;
}

void idm_reaction_solve(const reaction *r, size_t agent, double *sample, idm_person_summary *person)
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
