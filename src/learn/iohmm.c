/* The input-output hidden Markov model over the tree of histories (docs/method/learning.md, 1 and
 * 2).
 *
 * Histories that trajectories share are filtered once. The backward message of a history is linear
 * in those of its children, so that it can be summed over all trajectories through it: with f the
 * filter after a history, c the probability of the observation there given all before, and e the
 * number of trajectories that end there,
 *
 *     B(s) = e + sum over children of 1/c sum_s' tau(s'|s,u) omega(x|u,s') B'(s'),
 *
 * and f(s) B(s) is the expected number of trajectories in state s there. Filters are normalised at
 * every step, so that nothing underflows: the exact recursion with scaling (Rabiner 1989, V.A).
 *
 * Contents: histories · forward · backward · public functions */
#include "learn/learn.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/vector.h"
#include "data/log.h"
#include "setting/model.h"

/* --- histories ------------------------------------------------------------------------------ */

/* Whether a node of the tree has an observation that is evidence, which one after a terminal action
 * is not. */
static bool is_observed(const structure *s, const idm_prefix_node *node)
{
  return node->begin < 0 && node->observation != IDM_MISSING &&
         !(node->action != IDM_MISSING && !s->learnt[node->action]);
}

/* Nodes to keep: those with evidence at them or below them, and below these, nodes without
 * observations as long as their actions were recorded. Children have larger indices than their
 * parents. */
static bool *find_evidence(const structure *s, const idm_prefix_tree *tree)
{
  bool *evidence = idm_new(tree->nodes, sizeof *evidence);
  for (size_t i = tree->nodes; evidence && i-- > 0;) {
    const idm_prefix_node *node = &tree->node[i];
    evidence[i] = evidence[i] || node->begin >= 0 || is_observed(s, node);
    if (evidence[i] && node->parent >= 0) evidence[node->parent] = true;
  }
  for (size_t i = 0; evidence && i < tree->nodes; i++) {
    const idm_prefix_node *node = &tree->node[i];
    if (!evidence[i] && node->action != IDM_MISSING && s->learnt[node->action])
      evidence[i] = evidence[node->parent];
  }
  return evidence;
}

static idm_status fail_missing_action(const idm_data *data, size_t at_row, idm_error *opt_error)
{
  const bool missed = idm_data_missed(data, at_row);
  const idm_status status =
      idm_fail(opt_error, IDM_INPUT,
               "the action is %s, and the likelihood of the observations with or after it needs "
               "it; expected %s, or leave the trajectory out",
               missed ? "a missed response" : "not recorded",
               missed ? "data: {missed: {values: [...], action: ACTION}}" : "an action");
  idm_data_locate(data, at_row, opt_error);
  return status;
}

/* Keep the nodes with evidence, in their order; at[node] is the history of a node, or of its last
 * ancestor that is kept. */
static idm_status fill_histories(idm_iohmm *l, const idm_prefix_tree *tree, const bool *evidence,
                                 uint32_t *at, idm_error *opt_error)
{
  for (size_t i = 0; i < tree->nodes; i++) {
    const idm_prefix_node *node = &tree->node[i];
    if (!evidence[i]) {
      at[i] = at[node->parent];
      continue;
    }
    at[i] = (uint32_t)l->histories;
    l->history[l->histories++] =
        (history){.parent = node->begin >= 0 ? at[i] : at[node->parent],
                  .action = node->action,
                  .observation = is_observed(l->structure, node) ? node->observation : IDM_MISSING,
                  .start = node->begin >= 0 ? tree->begin_start[node->begin] : -1,
                  .row = node->first_row};
    if (node->begin < 0 && node->action == IDM_MISSING)
      return fail_missing_action(l->data, node->first_row, opt_error);
  }
  for (size_t t = 0; t < tree->trajectories; t++) l->last[t] = at[tree->last[t]];
  return IDM_OK;
}

static idm_status create_histories(idm_iohmm *l, idm_error *opt_error)
{
  idm_prefix_tree *tree = NULL;
  idm_status status = idm_prefix_tree_create(l->data, IDM_SCOPE_TRAJECTORY, &tree, opt_error);
  if (status != IDM_OK) return status;
  bool *evidence = find_evidence(l->structure, tree);
  uint32_t *at = idm_new(tree->nodes, sizeof *at);
  l->history = idm_new(tree->nodes, sizeof *l->history);
  l->last = idm_new(tree->trajectories, sizeof *l->last);
  l->end_count = idm_new(tree->nodes, sizeof *l->end_count);
  l->visit_count = idm_new(tree->nodes, sizeof *l->visit_count);
  l->unobserved_count = idm_new(tree->nodes, sizeof *l->unobserved_count);
  if (!evidence || !at || !l->history || !l->last || !l->end_count || !l->visit_count ||
      !l->unobserved_count)
    status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = fill_histories(l, tree, evidence, at, opt_error);
  free(evidence);
  free(at);
  idm_prefix_tree_destroy(tree);
  return status;
}

/* The log is informative about the transitions of an action where an observation follows it, and
 * about its observation rows where there is an observation with it. Other rows are held at the
 * values of the file: their posterior would be their prior. */
static idm_status fix_uninformed(idm_iohmm *l, const idm_problem *problem, bool fixed,
                                 idm_error *opt_error)
{
  structure *s = l->structure;
  bool *after = idm_new(l->histories, sizeof *after); /* [history]: an observation follows it */
  bool *transition = idm_new(s->sizes.actions, sizeof *transition);
  bool *is_observed = idm_new(s->sizes.actions, sizeof *is_observed);
  const bool allocated = after && transition && is_observed;
  for (size_t i = l->histories; allocated && i-- > 0;) {
    const history *h = &l->history[i];
    if (h->parent == i) continue;
    const bool seen = h->observation != IDM_MISSING;
    transition[h->action] = transition[h->action] || after[i] || (seen && !s->emits_before);
    is_observed[h->action] = is_observed[h->action] || seen;
    after[h->parent] = after[h->parent] || after[i] || seen;
  }
  if (allocated) structure_fix_rows(s, problem, fixed, transition, is_observed);
  free(after);
  free(transition);
  free(is_observed);
  return allocated ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- forward -------------------------------------------------------------------------------- */

void smoother_destroy(smoother *p)
{
  if (!p) return;
  free(p->filter);
  free(p->scale);
  free(p->log_scale);
  free(p->backward);
  free(p->counts);
  free(p->one);
  free(p->drawn);
  free(p);
}

idm_status smoother_create(const idm_iohmm *learner, smoother **ret_smoother, idm_error *opt_error)
{
  *ret_smoother = NULL;
  const idm_sizes n = learner->structure->sizes;
  const size_t cells = idm_times(learner->histories, n.states);
  smoother *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  p->learner = learner;
  p->filter = idm_new(cells, sizeof *p->filter);
  p->scale = idm_new(learner->histories, sizeof *p->scale);
  p->log_scale = idm_new(learner->histories, sizeof *p->log_scale);
  p->backward = idm_new(cells, sizeof *p->backward);
  p->counts = idm_new(n.states * (1 + n.actions * (n.states + n.observations)), sizeof *p->counts);
  p->one = idm_new(n.states, sizeof *p->one);
  p->drawn = idm_new(n.states, sizeof *p->drawn);
  if (!p->filter || !p->scale || !p->log_scale || !p->backward || !p->counts || !p->one ||
      !p->drawn) {
    smoother_destroy(p);
    return idm_fail_memory(opt_error);
  }
  *ret_smoother = p;
  return IDM_OK;
}

/* Matrices for a row of the log. `emission_column` is the column of the observation; NULL: there is
 * none. */
typedef struct row_matrices {
  size_t states;
  size_t stride; /* distance between the emissions of two states */
  const double *transition;
  const double *emission_column;
  bool before; /* the emitter is the state acted in */
} row_matrices;

static row_matrices matrices_of_row(const smoother *p, const idm_dynamics *d, const history *h)
{
  const idm_sizes n = d->sizes;
  const size_t u = (size_t)h->action;
  return (row_matrices){.states = n.states,
                        .stride = n.observations,
                        .transition = d->transition + u * n.states * n.states,
                        .emission_column =
                            h->observation == IDM_MISSING
                                ? NULL
                                : d->emission + u * n.states * n.observations + h->observation,
                        .before = p->learner->structure->emits_before};
}

static double emission_probability(const row_matrices *e, size_t state)
{
  return e->emission_column ? e->emission_column[state * e->stride] : 1;
}

/* joint(s') = sum_s f(s) tau(s'|s), times omega of the emitter. Returns its sum. The number of
 * states is an argument, so that loops over a constant one are unrolled. */
IDM_INLINE double forward_step_of(size_t k, const row_matrices *e, const double *f, double *joint)
{
  double sum = 0;
  memset(joint, 0, k * sizeof *joint);
  for (size_t s = 0; s < k; s++) {
    const double here = e->before ? f[s] * emission_probability(e, s) : f[s];
    for (size_t t = 0; t < k; t++) joint[t] += here * e->transition[s * k + t];
  }
  for (size_t t = 0; t < k; t++) {
    if (!e->before) joint[t] *= emission_probability(e, t);
    sum += joint[t];
  }
  return sum;
}

static double forward_step(const row_matrices *e, const double *f, double *joint)
{
  if (e->states == 2) return forward_step_of(2, e, f, joint);
  if (e->states == 3) return forward_step_of(3, e, f, joint);
  return forward_step_of(e->states, e, f, joint);
}

static const double *start_of(const smoother *p, const idm_dynamics *d, const history *h)
{
  return h->start < 0 ? d->start
                      : p->learner->data->start_belief + (size_t)h->start * d->sizes.states;
}

/* Sum of the logarithms of the scales, over the selected trajectories. */
static double sum_logs(smoother *p)
{
  const idm_iohmm *l = p->learner;
  double sum = 0;
  idm_vector_log(l->histories, p->scale, p->log_scale);
  for (size_t i = 0; i < l->histories; i++) {
    if (l->visit_count[i] == 0) continue;
    /* The vector logarithm requires normal numbers. */
    sum += l->visit_count[i] * (p->scale[i] >= DBL_MIN ? p->log_scale[i] : log(p->scale[i]));
  }
  return sum;
}

double smoother_forward(smoother *p, const idm_dynamics *d, bool all, size_t *opt_impossible)
{
  const idm_iohmm *l = p->learner;
  const size_t k = d->sizes.states;
  if (opt_impossible) *opt_impossible = l->histories;
  for (size_t i = 0; i < l->histories; i++) {
    const history *h = &l->history[i];
    double *filter = p->filter + i * k;
    if (!all && l->visit_count[i] == 0) continue;
    p->scale[i] = 1;
    if (h->parent == i) {
      memcpy(filter, start_of(p, d, h), k * sizeof *filter);
      continue;
    }
    const row_matrices e = matrices_of_row(p, d, h);
    p->scale[i] = forward_step(&e, p->filter + h->parent * k, filter);
    const double inverse = p->scale[i] > 0 ? 1 / p->scale[i] : 0;
    for (size_t s = 0; s < k; s++) filter[s] *= inverse;
    /* Report the first impossible history only, not those below it. */
    const bool first = !(p->scale[i] > 0) && p->scale[h->parent] > 0;
    if (first && opt_impossible && *opt_impossible == l->histories && l->visit_count[i] > 0)
      *opt_impossible = i;
  }
  return sum_logs(p);
}

/* --- backward ------------------------------------------------------------------------------- */

/* One row backward: from B after it to B before it, with expected counts of transitions and
 * observations. */
static void backward_step(const row_matrices *e, const double *f, const double *after,
                          double inverse, double *state_scratch, double *before,
                          double *transition_counts, double *seen)
{
  const size_t k = e->states;
  for (size_t t = 0; t < k; t++) {
    state_scratch[t] = after[t] * inverse * (e->before ? 1 : emission_probability(e, t));
  }
  for (size_t s = 0; s < k; s++) {
    const double weight = e->before ? emission_probability(e, s) : 1;
    const double *transition = e->transition + s * k;
    double sum = 0;
    for (size_t t = 0; t < k; t++) {
      const double part = weight * transition[t] * state_scratch[t];
      sum += part;
      transition_counts[s * k + t] += f[s] * part;
    }
    before[s] += sum;
    if (e->before && e->emission_column) seen[s * e->stride] += f[s] * sum;
  }
}

/* Expected counts of an observation whose emitter is the state after the action: f(s') B(s'). */
static void count_emissions(const row_matrices *e, const double *f, const double *backward,
                            double *seen)
{
  for (size_t s = 0; s < e->states; s++) seen[s * e->stride] += f[s] * backward[s];
}

void smoother_backward(smoother *p, const idm_dynamics *d)
{
  const idm_iohmm *l = p->learner;
  const idm_sizes n = d->sizes;
  const size_t k = n.states;
  double *transitions = p->counts + k;
  double *emissions = transitions + n.actions * k * k;
  memset(p->counts, 0, d->numbers * sizeof *p->counts);
  for (size_t i = 0; i < l->histories; i++)
    for (size_t s = 0; s < k; s++) p->backward[i * k + s] = l->end_count[i];
  for (size_t i = l->histories; i-- > 0;) {
    const history *h = &l->history[i];
    const double *f = p->filter + i * k;
    const double *backward = p->backward + i * k;
    if (l->visit_count[i] == 0) continue;
    if (h->parent == i) {
      for (size_t s = 0; s < k && h->start < 0; s++) p->counts[s] += f[s] * backward[s];
      continue;
    }
    const row_matrices e = matrices_of_row(p, d, h);
    const size_t u = (size_t)h->action;
    double *seen =
        emissions + u * k * n.observations + (h->observation == IDM_MISSING ? 0 : h->observation);
    if (e.emission_column && !e.before) count_emissions(&e, f, backward, seen);
    backward_step(&e, p->filter + h->parent * k, backward, 1 / p->scale[i], p->one,
                  p->backward + h->parent * k, transitions + u * k * k, seen);
  }
}

/* --- public functions ------------------------------------------------------------------------ */

void idm_iohmm_destroy(idm_iohmm *learner)
{
  if (!learner) return;
  structure_destroy(learner->structure);
  free(learner->history);
  free(learner->last);
  free(learner->end_count);
  free(learner->visit_count);
  free(learner->unobserved_count);
  free(learner);
}

/* Whether some trajectory has its own start belief, and whether some has none. */
static void find_starts(const idm_data *data, bool *own, bool *common)
{
  *own = *common = false;
  for (size_t t = 0; t < data->trajectories; t++) {
    if (data->start[t] < 0)
      *common = true;
    else
      *own = true;
  }
}

idm_status idm_iohmm_create(const idm_problem *problem, const idm_data *data, size_t states,
                            idm_learn_fixed hold, idm_iohmm **ret_iohmm, idm_error *opt_error)
{
  idm_require(problem, data, ret_iohmm);
  *ret_iohmm = NULL;
  const idm_setting *setting = problem->setting;
  idm_dynamics *file_dynamics = NULL;
  bool own, common;
  idm_status status = idm_data_validate(data, setting, opt_error);
  if (status == IDM_OK) status = idm_problem_dynamics(problem, &file_dynamics, opt_error);
  idm_dynamics_destroy(file_dynamics);
  if (status != IDM_OK) return status;
  if (!data->trajectories) return idm_fail(opt_error, IDM_INPUT, "the log is empty");
  find_starts(data, &own, &common);
  if (states && setting->fully_observed)
    return idm_fail(opt_error, IDM_INPUT,
                    "the states are observed, so that their number is known; leave --states out");
  if (states && own)
    return idm_fail(opt_error, IDM_INPUT,
                    "the log has start beliefs over the states of the problem, which do not apply "
                    "to new states; leave the belief columns or --states out");
  idm_iohmm *l = idm_new(1, sizeof *l);
  if (!l) return idm_fail_memory(opt_error);
  l->data = data;
  status = structure_create(problem, states, common && hold != IDM_LEARN_FIX_START, own,
                            &l->structure, opt_error);
  if (status == IDM_OK) status = create_histories(l, opt_error);
  if (status == IDM_OK && !states) status = fix_uninformed(l, problem, own, opt_error);
  if (status == IDM_OK) status = idm_iohmm_select(l, NULL, opt_error);
  if (status == IDM_OK && l->rows == 0)
    status = idm_fail(opt_error, IDM_INPUT,
                      "no row of the log has an observation, from which dynamics are learnt; "
                      "expected some in the column of observations");
  if (status != IDM_OK) {
    idm_iohmm_destroy(l);
    return status;
  }
  *ret_iohmm = l;
  return IDM_OK;
}

idm_status idm_iohmm_select(idm_iohmm *learner, const bool *opt_kept, idm_error *opt_error)
{
  idm_require(learner);
  memset(learner->end_count, 0, learner->histories * sizeof *learner->end_count);
  for (size_t t = 0; t < learner->data->trajectories; t++)
    if (!opt_kept || opt_kept[t]) learner->end_count[learner->last[t]]++;
  memcpy(learner->visit_count, learner->end_count, learner->histories * sizeof *learner->end_count);
  memcpy(learner->unobserved_count, learner->end_count,
         learner->histories * sizeof *learner->end_count);
  learner->rows = 0;
  for (size_t i = learner->histories; i-- > 0;) {
    const history *h = &learner->history[i];
    /* Where nothing is observed at or below a history, its trajectories can be counted at its
     * parent. */
    if (h->parent != i && h->observation == IDM_MISSING &&
        learner->unobserved_count[i] == learner->visit_count[i]) {
      learner->unobserved_count[h->parent] += learner->unobserved_count[i];
      learner->unobserved_count[i] = 0;
    }
    if (h->parent != i) learner->visit_count[h->parent] += learner->visit_count[i];
    if (h->observation != IDM_MISSING) learner->rows += learner->visit_count[i];
  }
  return IDM_OK;
}

double idm_iohmm_rows(const idm_iohmm *learner)
{
  return learner ? learner->rows : NAN;
}

idm_status iohmm_fail_impossible(const idm_iohmm *learner, size_t impossible, idm_error *opt_error)
{
  const history *h = &learner->history[impossible];
  const idm_status status =
      idm_fail(opt_error, IDM_INPUT,
               "the observation has probability 0 given the rows before it: the problem file gives "
               "it, or every path to it, probability 0, which learning does not change; expected "
               "another label, or a small number in place of the 0");
  idm_data_locate(learner->data, h->row, opt_error);
  return status;
}

static idm_status check_sizes(const idm_iohmm *learner, const idm_dynamics *dynamics,
                              idm_error *opt_error)
{
  if (idm_sizes_same(learner->structure->sizes, dynamics->sizes)) return IDM_OK;
  return idm_fail(opt_error, IDM_USAGE, "the dynamics are of another problem");
}

/* Log-likelihood of every trajectory: the sum over its histories. */
static idm_status by_trajectory(const smoother *p, double *log_likelihood, idm_error *opt_error)
{
  const idm_iohmm *l = p->learner;
  double *total = idm_new(l->histories, sizeof *total);
  if (!total) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < l->histories; i++)
    total[i] = l->history[i].parent == i ? 0 : total[l->history[i].parent] + log(p->scale[i]);
  for (size_t t = 0; t < l->data->trajectories; t++) log_likelihood[t] = total[l->last[t]];
  free(total);
  return IDM_OK;
}

idm_status idm_iohmm_log_likelihood(const idm_iohmm *learner, const idm_dynamics *dynamics,
                                    double *log_likelihood, double *opt_by_trajectory,
                                    idm_error *opt_error)
{
  idm_require(learner, dynamics, log_likelihood);
  smoother *p = NULL;
  size_t impossible;
  idm_status status = check_sizes(learner, dynamics, opt_error);
  if (status == IDM_OK) status = smoother_create(learner, &p, opt_error);
  if (status != IDM_OK) return status;
  *log_likelihood = smoother_forward(p, dynamics, opt_by_trajectory != NULL, &impossible);
  if (opt_by_trajectory)
    status = by_trajectory(p, opt_by_trajectory, opt_error);
  else if (impossible < learner->histories)
    status = iohmm_fail_impossible(learner, impossible, opt_error);
  smoother_destroy(p);
  return status;
}

idm_status idm_iohmm_step(const idm_iohmm *learner, double prior, idm_dynamics *dynamics,
                          double *objective, idm_error *opt_error)
{
  idm_require(learner, dynamics, objective);
  smoother *p = NULL;
  size_t impossible;
  idm_status status = check_sizes(learner, dynamics, opt_error);
  if (status == IDM_OK && !(prior >= 1 && prior < INFINITY))
    status = idm_fail(opt_error, IDM_USAGE, "the prior is %g; expected at least 1", prior);
  if (status == IDM_OK) status = smoother_create(learner, &p, opt_error);
  if (status != IDM_OK) return status;
  *objective = smoother_forward(p, dynamics, false, &impossible) +
               structure_log_prior(learner->structure, prior, dynamics->start);
  if (impossible < learner->histories) {
    status = iohmm_fail_impossible(learner, impossible, opt_error);
  } else {
    smoother_backward(p, dynamics);
    structure_maximise(learner->structure, prior, p->counts, dynamics->start);
  }
  smoother_destroy(p);
  return status;
}

idm_status idm_iohmm_order(const idm_iohmm *learner, idm_dynamics *dynamics, idm_error *opt_error)
{
  idm_require(learner, dynamics);
  const idm_status status = check_sizes(learner, dynamics, opt_error);
  if (status != IDM_OK) return status;
  double *scratch = idm_new(structure_scratch_size(learner->structure), sizeof *scratch);
  if (!scratch) return idm_fail_memory(opt_error);
  structure_order(learner->structure, NULL, dynamics->start, scratch);
  free(scratch);
  return IDM_OK;
}
