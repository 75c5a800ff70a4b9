/* Trial by trial: what an agent believes, may do and values at every row of a log.
 *
 * Contents: one row · one parameter · over draws */
#include <math.h>

#include "base/door.h"
#include "base/memory.h"
#include "base/moments.h"
#include "idm/quantile.h"
#include "invert/fork.h"
#include "invert/trials.h"

/* Bytes that the samples of numbers take at once. */
static const size_t most_bytes = (size_t)1 << 28;

void idm_trials_destroy(idm_trials *trials)
{
  if (!trials) return;
  free(trials->node);
  free(trials->mean);
  free(trials->low);
  free(trials->high);
  free(trials);
}

/* --- one row -------------------------------------------------------------------------------- */

/* A walk over the tree under one parameter. */
typedef struct walk {
  idm_workspace *workspace;
  const idm_data *data;
  const idm_prefix_tree *tree;
  idm_scorer *scorer;
  const trials_guest *guest; /* NULL: none */
  idm_sizes sizes;
  size_t first; /* nodes that are looked at */
  size_t end;
  double *quality; /* [action]: of one hypothesis; behind it [state], and what the guest says */
  double *numbers; /* where those of node i lie: i - first times `stride`, each `apart` on */
  size_t stride;
  size_t apart;
} walk;

/* Numbers of a row without a guest. */
static size_t own_width(idm_sizes sizes)
{
  return sizes.states + 2 * sizes.actions + 2;
}

static size_t guest_width(const trials_guest *opt_guest)
{
  return opt_guest ? opt_guest->width : 0;
}

static double *place(const walk *w, size_t node, size_t number)
{
  return w->numbers + (node - w->first) * w->stride + number * w->apart;
}

/* Q and the surprise, over the beliefs that may be held. */
static void look(const walk *w, size_t node, const void *memory)
{
  const idm_behavior b = idm_workspace_behavior(w->workspace);
  const idm_prefix_node *row = &w->tree->node[node];
  const bool seen = row->action != IDM_MISSING && row->observation != IDM_MISSING;
  const size_t actions = w->sizes.actions;
  const size_t q = w->sizes.states + actions;
  double predicted = 0;
  idm_hypothesis h;
  size_t count = 0;
  for (; b.ops->hypothesis && b.ops->hypothesis(b.content, memory, count, &h); count++) {
    idm_plan_quality(w->workspace, h.variant, h.steps, h.z, w->quality);
    for (size_t u = 0; u < actions; u++)
      *place(w, node, q + u) = (count ? *place(w, node, q + u) : 0) + h.weight * w->quality[u];
    if (seen)
      predicted += h.weight * idm_plan_predict(w->workspace, h.variant, h.steps, h.z,
                                               (size_t)row->action, (size_t)row->observation);
  }
  for (size_t u = 0; !count && u < actions; u++) *place(w, node, q + u) = NAN;
  *place(w, node, q + actions) = seen && count ? -log(predicted) : NAN;
}

/* An idm_scorer_view. */
static void take(void *context, size_t node, const void *memory, const double *probability)
{
  const walk *w = context;
  if (node < w->first || node >= w->end) return;
  const idm_behavior b = idm_workspace_behavior(w->workspace);
  const size_t k = w->sizes.states;
  double *scratch = w->quality + w->sizes.actions; /* [state] */
  if (b.ops->belief) b.ops->belief(b.content, memory, scratch);
  for (size_t s = 0; s < k; s++) *place(w, node, s) = b.ops->belief ? scratch[s] : NAN;
  for (size_t u = 0; u < w->sizes.actions; u++) *place(w, node, k + u) = probability[u];
  look(w, node, memory);
  if (!w->guest) return;
  const size_t own = own_width(w->sizes);
  w->guest->look(w->guest->context, node, memory, scratch + k);
  for (size_t i = 0; i < w->guest->width; i++) *place(w, node, own + i) = scratch[k + i];
}

/* Score the log as planned, and take the numbers of the nodes asked for. */
static idm_status go(walk *w, idm_error *opt_error)
{
  idm_score score;
  idm_scorer_watch(w->scorer, take, w);
  const idm_status status =
      idm_scorer_run(w->scorer, idm_workspace_behavior(w->workspace), &score, opt_error);
  const size_t last = own_width(w->sizes) - 1;
  for (size_t i = w->first; i < w->end && status == IDM_OK; i++)
    *place(w, i, last) = w->tree->node[i].begin < 0 ? idm_scorer_row(w->scorer, i) : 0;
  return status;
}

/* --- one parameter -------------------------------------------------------------------------- */

static void close_walk(walk *w)
{
  idm_scorer_destroy(w->scorer);
  free(w->quality);
}

static idm_status open_walk(walk *w, idm_workspace *workspace, const idm_data *data,
                            const idm_prefix_tree *tree, const trials_guest *opt_guest,
                            size_t draws, idm_error *opt_error)
{
  const idm_sizes n = data->sizes;
  *w = (walk){
      .workspace = workspace, .data = data, .tree = tree, .guest = opt_guest, .sizes = data->sizes};
  w->quality = idm_new(n.actions + n.states + guest_width(opt_guest), sizeof *w->quality);
  if (!w->quality) return idm_fail_memory(opt_error);
  if (opt_guest) {
    const idm_status status = opt_guest->open(opt_guest->context, data, tree, draws, opt_error);
    if (status != IDM_OK) return status;
  }
  return idm_scorer_create(data, tree, &w->scorer, opt_error);
}

/* Rows with the same history are one node. */
static void find_nodes(const idm_data *data, const idm_prefix_tree *tree, uint32_t *node)
{
  for (size_t t = 0; t < data->trajectories; t++) {
    size_t at = tree->last[t];
    for (size_t row = data->first[t + 1]; row-- > data->first[t];
         at = (size_t)tree->node[at].parent)
      node[row] = (uint32_t)at;
  }
}

static idm_status make_trials(const idm_data *data, const idm_prefix_tree *tree, size_t draws,
                              const trials_guest *opt_guest, idm_trials **ret_trials,
                              idm_error *opt_error)
{
  idm_trials *t = *ret_trials = idm_new(1, sizeof *t);
  if (!t) return idm_fail_memory(opt_error);
  t->sizes = data->sizes;
  t->width = own_width(data->sizes) + guest_width(opt_guest);
  t->draws = draws;
  t->rows = data->rows;
  const size_t numbers = idm_times(tree->nodes, t->width);
  t->node = idm_new(data->rows, sizeof *t->node);
  t->mean = idm_new(numbers, sizeof *t->mean);
  if (draws > 1) t->low = idm_new(numbers, sizeof *t->low);
  if (draws > 1) t->high = idm_new(numbers, sizeof *t->high);
  if (!t->node || !t->mean || (draws > 1 && (!t->low || !t->high)))
    return idm_fail_memory(opt_error);
  find_nodes(data, tree, t->node);
  return IDM_OK;
}

static idm_status finish(idm_status status, idm_trials *trials, idm_trials **ret_trials)
{
  if (status != IDM_OK) {
    idm_trials_destroy(trials);
    trials = NULL;
  }
  *ret_trials = trials;
  return status;
}

idm_status idm_trials_create(idm_workspace *workspace, const idm_data *data,
                             idm_trials **ret_trials, idm_error *opt_error)
{
  return idm_trials_create_with(workspace, data, NULL, ret_trials, opt_error);
}

idm_status idm_trials_create_with(idm_workspace *workspace, const idm_data *data,
                                  const trials_guest *opt_guest, idm_trials **ret_trials,
                                  idm_error *opt_error)
{
  idm_prefix_tree *tree = NULL;
  idm_trials *trials = NULL;
  walk w = {0};
  idm_require(workspace, data, ret_trials);
  *ret_trials = NULL;
  const unsigned scope = idm_workspace_behavior(workspace).ops->scope;
  idm_status status = idm_prefix_tree_create(data, scope, &tree, opt_error);
  if (status == IDM_OK) status = make_trials(data, tree, 1, opt_guest, &trials, opt_error);
  if (status == IDM_OK) status = open_walk(&w, workspace, data, tree, opt_guest, 1, opt_error);
  if (status == IDM_OK && opt_guest)
    status = opt_guest->plan(opt_guest->context, 0, workspace, opt_error);
  if (status == IDM_OK) {
    w.end = tree->nodes;
    w.numbers = trials->mean;
    w.stride = trials->width;
    w.apart = 1;
    status = go(&w, opt_error);
  }
  close_walk(&w);
  idm_prefix_tree_destroy(tree);
  return finish(status, trials, ret_trials);
}

/* --- over draws ----------------------------------------------------------------------------- */

/* Mean and quantiles of a number over the draws; one that is missing in a draw is missing. */
static void summarise(idm_trials *trials, size_t number, double *sample)
{
  const size_t count = trials->draws;
  const double mean = trials->mean[number] = idm_mean(sample, count);
  if (count < 2) return;
  const bool missing = isnan(mean);
  trials->low[number] = missing ? NAN : idm_quantile(sample, count, 0.05);
  trials->high[number] = missing ? NAN : idm_quantile(sample, count, 0.95);
}

/* The nodes [first, end) under every draw. The samples of all nodes may not fit at once: parts of
 * the tree are looked at one after another, and the draws planned for again. */
static idm_status sample_nodes(walk *w, const idm_posterior *posterior,
                               const idm_parameters *parameters, idm_problem *fork,
                               idm_trials *trials, double *sample, idm_error *opt_error)
{
  const size_t all = posterior->chains * posterior->draws;
  idm_status status = IDM_OK;
  for (size_t k = 0; k < trials->draws && status == IDM_OK; k++) {
    const size_t draw = k * all / trials->draws;
    w->numbers = sample + k;
    status = idm_posterior_agent(posterior, parameters, draw, fork, opt_error);
    if (status == IDM_OK) status = idm_plan(fork->theta, NULL, w->workspace, NULL, opt_error);
    if (status == IDM_OK && w->guest)
      status = w->guest->plan(w->guest->context, k, w->workspace, opt_error);
    if (status == IDM_OK) status = go(w, opt_error);
  }
  for (size_t i = w->first * trials->width; i < w->end * trials->width && status == IDM_OK; i++)
    summarise(trials, i, sample + (i - w->first * trials->width) * trials->draws);
  return status;
}

static idm_status sample_tree(walk *w, const idm_posterior *posterior,
                              const idm_parameters *parameters, idm_problem *fork,
                              idm_trials *trials, idm_error *opt_error)
{
  const size_t nodes = w->tree->nodes;
  const size_t one = idm_times(trials->width * trials->draws, sizeof(double));
  size_t at_once = one && most_bytes / one ? most_bytes / one : 1;
  if (at_once > nodes) at_once = nodes;
  double *sample = idm_new(idm_times(at_once, trials->width * trials->draws), sizeof *sample);
  if (!sample) return idm_fail_memory(opt_error);
  w->stride = trials->width * trials->draws;
  w->apart = trials->draws;
  idm_status status = IDM_OK;
  for (size_t first = 0; first < nodes && status == IDM_OK; first += at_once) {
    w->first = first;
    w->end = nodes - first < at_once ? nodes : first + at_once;
    status = sample_nodes(w, posterior, parameters, fork, trials, sample, opt_error);
  }
  free(sample);
  return status;
}

idm_status idm_posterior_trials(const idm_problem *problem, const idm_posterior *posterior,
                                const idm_data *data, idm_trials **ret_trials, idm_error *opt_error)
{
  return idm_posterior_trials_with(problem, posterior, IDM_TRIAL_DRAWS, data, NULL, ret_trials,
                                   opt_error);
}

idm_status idm_posterior_trials_with(const idm_problem *problem, const idm_posterior *posterior,
                                     size_t most, const idm_data *data,
                                     const trials_guest *opt_guest, idm_trials **ret_trials,
                                     idm_error *opt_error)
{
  idm_prefix_tree *tree = NULL;
  idm_trials *trials = NULL;
  idm_parameters *parameters = NULL;
  idm_problem *fork = NULL;
  idm_workspace *workspace = NULL;
  walk w = {0};
  idm_require(problem, posterior, data, ret_trials);
  *ret_trials = NULL;
  const size_t all = posterior->chains * posterior->draws;
  const size_t draws = all < most ? all : most;
  idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  if (status == IDM_OK) status = idm_problem_fork(problem, &fork, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(fork->setting, fork->theta, &fork->agent, &workspace, opt_error);
  if (status == IDM_OK) status = idm_evidence_tree(problem, data, &tree, opt_error);
  if (status == IDM_OK) status = make_trials(data, tree, draws, opt_guest, &trials, opt_error);
  if (status == IDM_OK) status = open_walk(&w, workspace, data, tree, opt_guest, draws, opt_error);
  if (status == IDM_OK) status = sample_tree(&w, posterior, parameters, fork, trials, opt_error);
  close_walk(&w);
  idm_prefix_tree_destroy(tree);
  idm_workspace_destroy(workspace);
  idm_fork_destroy(fork);
  idm_parameters_destroy(parameters);
  return finish(status, trials, ret_trials);
}
