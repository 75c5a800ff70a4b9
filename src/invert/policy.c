/* Policies by state, log-likelihoods at chance level, and per-row quantities of a log.
 *
 * Contents: policy · chance · trials */
#include <math.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "data/log.h"
#include "idm/extension/planner.h"
#include "invert/clone.h"
#include "invert/posterior.h"
#include "invert/predict.h"
#include "plan/plan.h"

/* === policy ================================================================================= */

/* Policies by state. */

bool idm_policy_by_belief(const idm_problem *problem)
{
  return idm_agent_planner(&problem->agent)->belief && idm_theta_variants(problem->theta) == 1;
}

bool idm_policy_is_discontinuous(const idm_problem *problem)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const idm_block *alpha = &problem->theta->block[IDM_ALPHA];
  const idm_block *temperature = &problem->theta->block[IDM_TEMPERATURE];
  if (planner->supports & IDM_SUPPORTS_NO_GRADIENT) return true;
  /* A softmax applied to values planned for the best action. */
  if (idm_planner_reads(planner, IDM_TEMPERATURE))
    return temperature->role != IDM_DESCRIPTIVE && temperature->value[0] == 0;
  for (size_t i = 0; i < planner->clamps; i++)
    if (planner->clamp[i].block == IDM_ALPHA && planner->clamp[i].kind == IDM_CLAMP_VALUE)
      return planner->clamp[i].value == 0;
  return idm_planner_reads(planner, IDM_ALPHA) && alpha->role != IDM_DESCRIPTIVE &&
         alpha->value[0] == 0;
}

bool idm_policy_by_state(const idm_problem *problem)
{
  return problem->setting->fully_observed && idm_policy_by_belief(problem);
}

bool idm_policy_is_undetermined(const idm_problem *problem, const idm_data *data)
{
  if (!problem->environments || !data->label[IDM_COLUMN_ENVIRONMENT]) return false;
  return !problem->current_environment || idm_data_is_multi_env(data);
}

idm_status idm_policy_plan(const idm_problem *problem, const idm_theta *theta, double *policy,
                           idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(problem->setting);
  idm_workspace *workspace = NULL;
  double *corner = idm_new(n.states, sizeof *corner);
  idm_status status = corner ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, theta, &problem->agent, &workspace, opt_error);
  if (status == IDM_OK) status = idm_plan(theta, NULL, workspace, NULL, opt_error);
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    corner[s] = 1;
    idm_plan_policy(workspace, 0, corner, policy + s * n.actions, NULL);
    corner[s] = 0;
  }
  idm_workspace_destroy(workspace);
  free(corner);
  return status;
}

idm_status idm_policy_put(const idm_problem *problem, const idm_theta *theta,
                          idm_optimality *optimality, idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  const size_t numbers = idm_times(setting->states.count, setting->actions.count);
  optimality->policy = idm_new(numbers, sizeof *optimality->policy);
  idm_status status = optimality->policy ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->states, &optimality->state, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->actions, &optimality->action, opt_error);
  if (status == IDM_OK) status = idm_policy_plan(problem, theta, optimality->policy, opt_error);
  return status;
}

/* === chance ================================================================================= */

/* Log-likelihoods of uniform choice and of fixed action weights. */

/* taken[set][action]: number of decisions by available set and chosen action. */
static void count_decisions(const idm_data *data, double *taken)
{
  for (size_t row = 0; row < data->rows; row++)
    if (data->action[row] != IDM_MISSING &&
        idm_data_available_count(data, data->available[row]) > 1)
      taken[data->available[row] * data->sizes.actions + (size_t)data->action[row]]++;
}

static double available_weight(const idm_data *data, size_t set, const double *weight)
{
  const bool *open = data->available_set + set * data->sizes.actions;
  double sum = 0;
  for (size_t u = 0; u < data->sizes.actions; u++) sum += open[u] ? weight[u] : 0;
  return sum;
}

/* One step of Hunter's (2004) MM algorithm for choices among sets (Luce): weight_u = n_u divided by
 * the sum of 1 / (total weight of the available set) over the decisions in which u was available.
 * If every action is always available, the first step gives the relative frequencies. */
static void mm_step(const idm_data *data, const double *taken, double *weight, double *improved)
{
  const size_t actions = data->sizes.actions;
  double total = 0;
  for (size_t u = 0; u < actions; u++) {
    double chosen = 0;
    double opportunity = 0;
    for (size_t set = 0; set < data->available_sets; set++) {
      double decisions = 0;
      for (size_t v = 0; v < actions; v++) decisions += taken[set * actions + v];
      chosen += taken[set * actions + u];
      if (decisions > 0 && data->available_set[set * actions + u])
        opportunity += decisions / available_weight(data, set, weight);
    }
    improved[u] = chosen > 0 ? chosen / opportunity : 0;
    total += improved[u];
  }
  for (size_t u = 0; u < actions; u++) weight[u] = improved[u] / total;
}

static double log_likelihood(const idm_data *data, const double *taken, const double *weight)
{
  const size_t actions = data->sizes.actions;
  double sum = 0;
  for (size_t set = 0; set < data->available_sets; set++) {
    const double open = available_weight(data, set, weight);
    for (size_t u = 0; u < actions; u++) {
      const double n = taken[set * actions + u];
      if (n > 0) sum += n * log(weight[u] / open);
    }
  }
  return sum;
}

double idm_log_loss(double log_likelihood, double decisions)
{
  const double loss = -log_likelihood / decisions;
  return loss <= 0 ? 0 : loss;
}

double idm_share_explained(double log_loss, double of)
{
  return of > 0 ? 1 - log_loss / of : NAN;
}

idm_status idm_chance_measure(const idm_data *data, idm_chance *chance, idm_error *opt_error)
{
  enum { max_steps = 1000 };
  const size_t actions = data->sizes.actions;
  double *taken = idm_new(data->available_sets * actions, sizeof *taken);
  double *weight = idm_new(2 * actions, sizeof *weight);
  idm_status status = taken && weight ? IDM_OK : idm_fail_memory(opt_error);
  double decisions = 0;
  if (status == IDM_OK) {
    count_decisions(data, taken);
    for (size_t i = 0; i < data->available_sets * actions; i++) decisions += taken[i];
    for (size_t u = 0; u < actions; u++) weight[u] = 1;
    chance->decisions = (uint64_t)decisions;
    chance->uniform = chance->rates = log_likelihood(data, taken, weight);
  }
  bool improved = decisions > 0;
  for (int i = 0; status == IDM_OK && i < max_steps && improved; i++) {
    mm_step(data, taken, weight, weight + actions);
    const double value = log_likelihood(data, taken, weight);
    improved = value > chance->rates + 1e-12 * decisions;
    chance->rates = fmax(chance->rates, value);
  }
  free(taken);
  free(weight);
  return status;
}

/* === trials ================================================================================= */

/* Trials: beliefs, action probabilities, action values and surprise at every row of a log.
 *
 * Contents: one row · one parameter · over draws */

/* Memory limit in bytes of the samples held at once. */
static const size_t max_bytes = (size_t)1 << 28;

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

/* Traversal of the tree of histories under one parameter. */
typedef struct traversal {
  idm_workspace *workspace;
  const idm_data *data;
  const idm_prefix_tree *tree;
  idm_scorer *scorer;
  const trials_visitor *visitor; /* NULL: none */
  idm_sizes sizes;
  size_t first; /* first and end of the range of nodes that are evaluated */
  size_t end;
  double *quality; /* [action], of one hypothesis; then [state], then the visitor's numbers */
  double *numbers; /* number k of node i is at (i - first) * stride + k * number_stride */
  size_t stride;
  size_t number_stride;
} traversal;

/* Numbers per row without a visitor. */
static size_t own_width(idm_sizes sizes)
{
  return sizes.states + 2 * sizes.actions + 2;
}

static size_t visitor_width(const trials_visitor *opt_visitor)
{
  return opt_visitor ? opt_visitor->width : 0;
}

static double *cell_at(const traversal *w, size_t node, size_t number)
{
  return w->numbers + (node - w->first) * w->stride + number * w->number_stride;
}

/* Computes Q and the surprise, averaged over the hypotheses about the belief. */
static void visit_node(const traversal *w, size_t node, const void *memory)
{
  const idm_behavior b = idm_workspace_behavior(w->workspace);
  const idm_prefix_node *row = &w->tree->node[node];
  const bool observed = row->action != IDM_MISSING && row->observation != IDM_MISSING;
  const size_t actions = w->sizes.actions;
  const size_t q = w->sizes.states + actions;
  double predicted = 0;
  idm_hypothesis h;
  size_t count = 0;
  for (; b.ops->hypothesis && b.ops->hypothesis(b.content, memory, count, &h); count++) {
    idm_plan_quality(w->workspace, h.variant, h.steps, h.z, w->quality);
    for (size_t u = 0; u < actions; u++)
      *cell_at(w, node, q + u) = (count ? *cell_at(w, node, q + u) : 0) + h.weight * w->quality[u];
    if (observed)
      predicted += h.weight * idm_plan_predict(w->workspace, h.variant, h.steps, h.z,
                                               (size_t)row->action, (size_t)row->observation);
  }
  for (size_t u = 0; !count && u < actions; u++) *cell_at(w, node, q + u) = NAN;
  *cell_at(w, node, q + actions) = observed && count ? -log(predicted) : NAN;
}

/* An idm_scorer_visitor: stores the numbers of one node. */
static void store_node(void *context, size_t node, const void *memory, const double *probability)
{
  const traversal *w = context;
  if (node < w->first || node >= w->end) return;
  const idm_behavior b = idm_workspace_behavior(w->workspace);
  const size_t k = w->sizes.states;
  double *scratch = w->quality + w->sizes.actions; /* [state] */
  if (b.ops->belief) b.ops->belief(b.content, memory, scratch);
  for (size_t s = 0; s < k; s++) *cell_at(w, node, s) = b.ops->belief ? scratch[s] : NAN;
  for (size_t u = 0; u < w->sizes.actions; u++) *cell_at(w, node, k + u) = probability[u];
  visit_node(w, node, memory);
  if (!w->visitor) return;
  const size_t own = own_width(w->sizes);
  w->visitor->visit(w->visitor->context, node, memory, scratch + k);
  for (size_t i = 0; i < w->visitor->width; i++) *cell_at(w, node, own + i) = scratch[k + i];
}

/* Scores the log as planned and stores the numbers of the nodes in [first, end). */
static idm_status score_nodes(traversal *w, idm_error *opt_error)
{
  idm_score score;
  idm_scorer_set_visitor(w->scorer, store_node, w);
  const idm_status status =
      idm_scorer_run(w->scorer, idm_workspace_behavior(w->workspace), &score, opt_error);
  const size_t last = own_width(w->sizes) - 1;
  for (size_t i = w->first; i < w->end && status == IDM_OK; i++)
    *cell_at(w, i, last) = w->tree->node[i].begin < 0 ? idm_scorer_row(w->scorer, i) : 0;
  return status;
}

/* --- one parameter -------------------------------------------------------------------------- */

static void close_traversal(traversal *w)
{
  idm_scorer_destroy(w->scorer);
  free(w->quality);
}

static idm_status open_traversal(traversal *w, idm_workspace *workspace, const idm_data *data,
                                 const idm_prefix_tree *tree, const trials_visitor *opt_visitor,
                                 size_t draws, idm_error *opt_error)
{
  const idm_sizes n = data->sizes;
  *w = (traversal){.workspace = workspace,
                   .data = data,
                   .tree = tree,
                   .visitor = opt_visitor,
                   .sizes = data->sizes};
  w->quality = idm_new(n.actions + n.states + visitor_width(opt_visitor), sizeof *w->quality);
  if (!w->quality) return idm_fail_memory(opt_error);
  if (opt_visitor) {
    const idm_status status = opt_visitor->open(opt_visitor->context, data, tree, draws, opt_error);
    if (status != IDM_OK) return status;
  }
  return idm_scorer_create(data, tree, &w->scorer, opt_error);
}

/* Maps rows to nodes; rows with equal histories share a node. */
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
                              const trials_visitor *opt_visitor, idm_trials **ret_trials,
                              idm_error *opt_error)
{
  idm_trials *t = *ret_trials = idm_new(1, sizeof *t);
  if (!t) return idm_fail_memory(opt_error);
  t->sizes = data->sizes;
  t->width = own_width(data->sizes) + visitor_width(opt_visitor);
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
                                  const trials_visitor *opt_visitor, idm_trials **ret_trials,
                                  idm_error *opt_error)
{
  idm_prefix_tree *tree = NULL;
  idm_trials *trials = NULL;
  traversal w = {0};
  idm_require(workspace, data, ret_trials);
  *ret_trials = NULL;
  const unsigned scope = idm_workspace_behavior(workspace).ops->scope;
  idm_status status = idm_prefix_tree_create(data, scope, &tree, opt_error);
  if (status == IDM_OK) status = make_trials(data, tree, 1, opt_visitor, &trials, opt_error);
  if (status == IDM_OK)
    status = open_traversal(&w, workspace, data, tree, opt_visitor, 1, opt_error);
  if (status == IDM_OK && opt_visitor)
    status = opt_visitor->plan(opt_visitor->context, 0, workspace, opt_error);
  if (status == IDM_OK) {
    w.end = tree->nodes;
    w.numbers = trials->mean;
    w.stride = trials->width;
    w.number_stride = 1;
    status = score_nodes(&w, opt_error);
  }
  close_traversal(&w);
  idm_prefix_tree_destroy(tree);
  return finish(status, trials, ret_trials);
}

/* --- over draws ----------------------------------------------------------------------------- */

/* Mean and quantiles of a number over the draws; NaN if it is missing in any draw. */
static void summarise(idm_trials *trials, size_t number, double *sample)
{
  const size_t count = trials->draws;
  const double mean = trials->mean[number] = idm_mean(sample, count);
  if (count < 2) return;
  const bool missing = isnan(mean);
  trials->low[number] = missing ? NAN : idm_quantile(sample, count, 0.05);
  trials->high[number] = missing ? NAN : idm_quantile(sample, count, 0.95);
}

/* Evaluates the nodes [first, end) under every draw. If the samples of all nodes exceed the memory
 * limit, parts of the tree are processed in turn and the draws are planned again for each part. */
static idm_status sample_nodes(traversal *w, const idm_posterior *posterior,
                               const idm_parameters *parameters, idm_problem *clone,
                               idm_trials *trials, double *sample, idm_error *opt_error)
{
  const size_t all = posterior->chains * posterior->draws;
  idm_status status = IDM_OK;
  for (size_t k = 0; k < trials->draws && status == IDM_OK; k++) {
    const size_t draw = k * all / trials->draws;
    w->numbers = sample + k;
    status = idm_posterior_agent(posterior, parameters, draw, clone, opt_error);
    if (status == IDM_OK) status = idm_plan(clone->theta, NULL, w->workspace, NULL, opt_error);
    if (status == IDM_OK && w->visitor)
      status = w->visitor->plan(w->visitor->context, k, w->workspace, opt_error);
    if (status == IDM_OK) status = score_nodes(w, opt_error);
  }
  for (size_t i = w->first * trials->width; i < w->end * trials->width && status == IDM_OK; i++)
    summarise(trials, i, sample + (i - w->first * trials->width) * trials->draws);
  return status;
}

static idm_status sample_tree(traversal *w, const idm_posterior *posterior,
                              const idm_parameters *parameters, idm_problem *clone,
                              idm_trials *trials, idm_error *opt_error)
{
  const size_t nodes = w->tree->nodes;
  const size_t node_bytes = idm_times(trials->width * trials->draws, sizeof(double));
  size_t batch_nodes = node_bytes && max_bytes / node_bytes ? max_bytes / node_bytes : 1;
  if (batch_nodes > nodes) batch_nodes = nodes;
  double *sample = idm_new(idm_times(batch_nodes, trials->width * trials->draws), sizeof *sample);
  if (!sample) return idm_fail_memory(opt_error);
  w->stride = trials->width * trials->draws;
  w->number_stride = trials->draws;
  idm_status status = IDM_OK;
  for (size_t first = 0; first < nodes && status == IDM_OK; first += batch_nodes) {
    w->first = first;
    w->end = nodes - first < batch_nodes ? nodes : first + batch_nodes;
    status = sample_nodes(w, posterior, parameters, clone, trials, sample, opt_error);
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
                                     size_t max_draws, const idm_data *data,
                                     const trials_visitor *opt_visitor, idm_trials **ret_trials,
                                     idm_error *opt_error)
{
  idm_prefix_tree *tree = NULL;
  idm_trials *trials = NULL;
  idm_parameters *parameters = NULL;
  idm_problem *clone = NULL;
  idm_workspace *workspace = NULL;
  traversal w = {0};
  idm_require(problem, posterior, data, ret_trials);
  *ret_trials = NULL;
  const size_t all = posterior->chains * posterior->draws;
  const size_t draws = all < max_draws ? all : max_draws;
  idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  if (status == IDM_OK) status = idm_problem_clone(problem, &clone, opt_error);
  if (status == IDM_OK)
    status =
        idm_workspace_create(clone->setting, clone->theta, &clone->agent, &workspace, opt_error);
  if (status == IDM_OK) status = idm_evidence_tree(problem, data, &tree, opt_error);
  if (status == IDM_OK) status = make_trials(data, tree, draws, opt_visitor, &trials, opt_error);
  if (status == IDM_OK)
    status = open_traversal(&w, workspace, data, tree, opt_visitor, draws, opt_error);
  if (status == IDM_OK) status = sample_tree(&w, posterior, parameters, clone, trials, opt_error);
  close_traversal(&w);
  idm_prefix_tree_destroy(tree);
  idm_workspace_destroy(workspace);
  idm_clone_destroy(clone);
  idm_parameters_destroy(parameters);
  return finish(status, trials, ret_trials);
}
