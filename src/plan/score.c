/* Log-likelihood of a log, and its derivatives with respect to theta and to choices.
 *
 * Contents: score · choice derivative */
#include <math.h>
#include <stdio.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/vector.h"
#include "idm/extension/behavior.h"
#include "idm/extension/data.h"
#include "idm/extension/prefix.h"
#include "plan/believer/believer.h"
#include "plan/choice.h"
#include "plan/plan.h"
#include "plan/workspace.h"
#include "setting/model.h"

/* === score ================================================================================== */

/* Causally conditioned log-likelihood over the tree of histories (docs/method/likelihood.md, 2 and
 * 3). */

struct idm_scorer {
  const idm_data *data;        /* borrowed */
  const idm_prefix_tree *tree; /* borrowed */
  double *chosen;   /* [node]: probability of the recorded action, 1 without a decision; after a run
                       its logarithm */
  double *evidence; /* [node]: log evidence of the event, see idm_behavior_ops.observe */
  double *total;    /* [node]: log-likelihood from the root through this row */
  uint32_t *end_count;        /* [agent][node]: trajectories that end there; NULL if a sum over
                                 trajectories is as fast */
  double *probability;        /* [action] */
  idm_behavior behavior;      /* behaviour that the memories belong to */
  bool checked;               /* final observations were checked to be possible */
  void **memory;              /* [depth + 1]: internal state after the row at each depth */
  idm_scorer_visitor visitor; /* may be NULL */
  void *context;              /* of the visitor */
  idm_interruption interruption;
};

void idm_scorer_set_visitor(idm_scorer *scorer, idm_scorer_visitor opt_visitor, void *context)
{
  if (!scorer) return;
  scorer->visitor = opt_visitor;
  scorer->context = context;
}

void idm_scorer_interrupt(idm_scorer *scorer, idm_interrupt opt_interrupt, void *context)
{
  if (!scorer) return;
  scorer->interruption = (idm_interruption){opt_interrupt, context};
}

static void destroy_memories(idm_scorer *scorer)
{
  for (size_t d = 0; d <= scorer->tree->depth; d++) {
    if (scorer->memory[d]) scorer->behavior.ops->memory_destroy(scorer->memory[d]);
    scorer->memory[d] = NULL;
  }
}

void idm_scorer_destroy(idm_scorer *scorer)
{
  if (!scorer) return;
  if (scorer->memory) destroy_memories(scorer);
  free(scorer->memory);
  free(scorer->end_count);
  free(scorer->chosen);
  free(scorer->evidence);
  free(scorer->total);
  free(scorer->probability);
  free(scorer);
}

/* If agents times nodes do not exceed the trajectories, counts the trajectories of each agent that
 * end at each node. Returns false if memory runs out. */
static bool count_ends(idm_scorer *scorer)
{
  const idm_data *data = scorer->data;
  const size_t nodes = scorer->tree->nodes;
  const bool longer = idm_times(data->agent_name.count, nodes) > data->trajectories;
  if (longer || data->history || scorer->tree->scope & IDM_SCOPE_AGENT) return true;
  scorer->end_count = idm_new(data->agent_name.count * nodes, sizeof *scorer->end_count);
  if (!scorer->end_count) return false;
  for (size_t t = 0; t < data->trajectories; t++)
    scorer->end_count[data->agent[t] * nodes + scorer->tree->last[t]]++;
  return true;
}

idm_status idm_scorer_create(const idm_data *data, const idm_prefix_tree *tree,
                             idm_scorer **ret_scorer, idm_error *opt_error)
{
  idm_require(data, tree, ret_scorer);
  *ret_scorer = NULL;
  if (tree->data != data)
    return idm_fail(opt_error, IDM_USAGE, "the tree was built from other data");
  idm_scorer *scorer = idm_new(1, sizeof *scorer);
  if (!scorer) return idm_fail_memory(opt_error);
  scorer->data = data;
  scorer->tree = tree;
  scorer->chosen = idm_new(tree->nodes, sizeof *scorer->chosen);
  scorer->evidence = idm_new(tree->nodes, sizeof *scorer->evidence);
  scorer->total = idm_new(tree->nodes, sizeof *scorer->total);
  scorer->probability = idm_new(data->sizes.actions, sizeof *scorer->probability);
  scorer->memory = idm_new((size_t)tree->depth + 1, sizeof *scorer->memory);
  if (!scorer->chosen || !scorer->evidence || !scorer->total || !scorer->probability ||
      !scorer->memory || !count_ends(scorer)) {
    idm_scorer_destroy(scorer);
    return idm_fail_memory(opt_error);
  }
  *ret_scorer = scorer;
  return IDM_OK;
}

/* Memory at a depth, created on first use. Memories belong to one behaviour. */
static idm_status memory_at(idm_scorer *scorer, size_t depth, void **ret_memory,
                            idm_error *opt_error)
{
  idm_status status = IDM_OK;
  if (!scorer->memory[depth])
    status = scorer->behavior.ops->memory_create(scorer->behavior.content, &scorer->memory[depth],
                                                 opt_error);
  *ret_memory = scorer->memory[depth];
  return status;
}

/* Begins a trajectory: of a new agent at a root, else after the previous trajectory of the agent.
 */
static idm_status begin(idm_scorer *scorer, const idm_prefix_node *node, idm_error *opt_error)
{
  const idm_behavior b = scorer->behavior;
  const idm_prefix_tree *tree = scorer->tree;
  const int32_t start = tree->begin_start[node->begin];
  const double *opt_start =
      start < 0 ? NULL : scorer->data->start_belief + (size_t)start * scorer->data->sizes.states;
  void *after;
  idm_status status = memory_at(scorer, node->depth, &after, opt_error);
  void *before = node->parent < 0 ? after : scorer->memory[node->depth - 1];
  if (status == IDM_OK && node->parent < 0)
    status = b.ops->begin_agent(b.content, after, opt_error);
  if (status == IDM_OK)
    status = b.ops->begin_trajectory(b.content, before, after, tree->begin_variant[node->begin],
                                     opt_start, opt_error);
  return status;
}

/* Probability of a row's action among the open actions. Counts the row as a decision, forced,
 * missed or not recorded. Logarithms of ordinary probabilities are computed later in one vector
 * operation; the logarithm of an underflowing probability is stored in `total`. */
static idm_status score_decision(idm_scorer *scorer, size_t index, void *before, idm_score *score,
                                 idm_error *opt_error)
{
  const idm_prefix_node *node = &scorer->tree->node[index];
  const idm_data *data = scorer->data;
  const idm_behavior b = scorer->behavior;
  const bool *allowed_set =
      node->available ? data->available_set + node->available * data->sizes.actions : NULL;
  scorer->chosen[index] = 1;
  scorer->total[index] = 0;
  const idm_status status =
      b.ops->act(b.content, before, allowed_set, scorer->probability, opt_error);
  if (status != IDM_OK) return status;
  if (scorer->visitor) scorer->visitor(scorer->context, index, before, scorer->probability);
  if (node->missed) {
    score->missed += node->count;
    return IDM_OK;
  }
  if (node->action == IDM_MISSING) {
    score->unrecorded += node->count;
    return IDM_OK;
  }
  if (idm_data_available_count(data, node->available) == 1) {
    score->forced += node->count;
    return IDM_OK;
  }
  score->decisions += node->count;
  double brier = 1 - 2 * scorer->probability[node->action];
  for (size_t u = 0; u < data->sizes.actions; u++)
    brier += scorer->probability[u] * scorer->probability[u];
  score->brier += (double)node->count * brier;
  if (scorer->probability[node->action] > idm_min_probability) {
    scorer->chosen[index] = scorer->probability[node->action];
    return IDM_OK;
  }
  if (b.ops->log_act)
    return b.ops->log_act(b.content, before, allowed_set, (size_t)node->action,
                          &scorer->total[index], opt_error);
  scorer->total[index] = log(scorer->probability[node->action]);
  return IDM_OK;
}

/* Whether the observation after a row can be skipped. A final observation enters no decision. It
 * must be possible, which is checked once, and it contributes evidence if an earlier cell was not
 * recorded. */
static bool observation_unused(const idm_scorer *scorer, const idm_prefix_node *node,
                               const void *before)
{
  const idm_behavior b = scorer->behavior;
  if (!node->leaf) return false;
  if (node->observation == IDM_MISSING) return true;
  if (!scorer->checked || !b.ops->may_have_evidence) return scorer->checked;
  return node->action != IDM_MISSING && !b.ops->may_have_evidence(b.content, before);
}

static idm_status score_row(idm_scorer *scorer, size_t index, idm_score *score,
                            idm_error *opt_error)
{
  const idm_behavior b = scorer->behavior;
  const idm_prefix_node *node = &scorer->tree->node[index];
  void *before = scorer->memory[node->depth - 1];
  idm_status status = score_decision(scorer, index, before, score, opt_error);
  scorer->evidence[index] = 0;
  if (status != IDM_OK || observation_unused(scorer, node, before)) return status;
  void *after;
  status = memory_at(scorer, node->depth, &after, opt_error);
  const idm_event event = {.action = node->action,
                           .observation = node->observation,
                           .missed = node->missed,
                           .reward = scorer->tree->reward ? scorer->tree->reward[index] : 0,
                           .last = node->last,
                           .all_recorded = node->all_recorded};
  if (status == IDM_OK)
    status =
        b.ops->observe(b.content, before, after, &event, &scorer->evidence[index], NULL, opt_error);
  return status;
}

/* Logarithms of all rows, then their cumulative sums along each history. */
static void sum_log_likelihoods(idm_scorer *scorer, idm_score *score)
{
  const idm_prefix_tree *tree = scorer->tree;
  idm_vector_log(tree->nodes, scorer->chosen, scorer->chosen);
  double sum = 0, evidence = 0;
  for (size_t i = 0; i < tree->nodes; i++) {
    const idm_prefix_node *node = &tree->node[i];
    if (node->begin >= 0) {
      scorer->total[i] = node->parent < 0 ? 0 : scorer->total[node->parent];
      continue;
    }
    scorer->chosen[i] += scorer->total[i];
    const double log_p = scorer->chosen[i] + scorer->evidence[i];
    scorer->total[i] = scorer->total[node->parent] + log_p;
    sum += (double)node->count * log_p;
    evidence += (double)node->count * scorer->evidence[i];
    if (log_p == -INFINITY && !score->impossible_line) {
      score->impossible_line = (long)scorer->data->line[node->first_row];
      score->impossible_file = idm_data_file(scorer->data, node->first_row);
    }
  }
  score->log_likelihood = sum;
  score->evidence = evidence;
}

static bool is_scored(const idm_data *data, size_t row)
{
  return !data->history || !data->history[row];
}

/* Adds one row to the counts and sums of `score`, as score_decision() does, given the node of its
 * history. */
static void count_row(const idm_scorer *scorer, size_t row, size_t index, idm_score *score)
{
  const idm_data *data = scorer->data;
  const bool missed = idm_data_missed(data, row);
  const bool recorded = data->action[row] != IDM_MISSING;
  const bool forced = recorded && idm_data_available_count(data, data->available[row]) == 1;
  const double log_p = scorer->chosen[index] + scorer->evidence[index];
  score->missed += missed;
  score->unrecorded += !missed && !recorded;
  score->forced += !missed && forced;
  score->decisions += !missed && recorded && !forced;
  score->log_likelihood += log_p;
  score->evidence += scorer->evidence[index];
  if (log_p > -INFINITY || score->impossible_line) return;
  score->impossible_line = (long)data->line[row];
  score->impossible_file = idm_data_file(data, row);
}

/* Score of the scored rows, computed row by row, because one history may contain scored and
 * unscored rows. */
static void sum_scored_rows(const idm_scorer *scorer, idm_score *score)
{
  const idm_prefix_tree *tree = scorer->tree;
  *score = (idm_score){.brier = NAN};
  for (size_t t = 0; t < tree->trajectories; t++) {
    size_t row = scorer->data->first[t + 1];
    for (size_t i = tree->last[t]; i != tree->first[t]; i = (size_t)tree->node[i].parent)
      if (is_scored(scorer->data, --row)) count_row(scorer, row, i, score);
  }
}

/* Appends to an error message the lines with missing cells: those of the row and of its
 * predecessors. */
static void name_missing_rows(const idm_scorer *scorer, size_t index, idm_error *error)
{
  enum { shown = 12 };
  const idm_prefix_tree *tree = scorer->tree;
  char list[256] = "";
  size_t missing_rows = 0, length = 0;
  for (size_t i = index; tree->node[i].begin < 0; i = (size_t)tree->node[i].parent) {
    const idm_prefix_node *node = &tree->node[i];
    const bool acted = node->action != IDM_MISSING || node->missed;
    if (acted && node->observation != IDM_MISSING) continue;
    if (++missing_rows > shown) continue;
    length +=
        (size_t)snprintf(list + length, sizeof list - length, "%s%lu", missing_rows > 1 ? ", " : "",
                         (unsigned long)scorer->data->line[node->first_row]);
  }
  if (!missing_rows) return;
  const size_t used = strlen(error->message);
  snprintf(error->message + used, sizeof error->message - used, " (not recorded on line%s %s%s)",
           missing_rows > 1 ? "s" : "", list, missing_rows > shown ? " and others" : "");
}

idm_status idm_scorer_run(idm_scorer *scorer, idm_behavior behavior, idm_score *score,
                          idm_error *opt_error)
{
  idm_require(scorer, score);
  const idm_prefix_tree *tree = scorer->tree;
  *score = (idm_score){0};
  if (!behavior.ops || !idm_sizes_same(behavior.sizes, scorer->data->sizes))
    return idm_fail(opt_error, IDM_USAGE,
                    "the behaviour and the data belong to different problems");
  if (behavior.ops->scope & ~tree->scope)
    return idm_fail(opt_error, IDM_USAGE,
                    "the tree of histories was built for a memory of another scope");
  if (scorer->behavior.content != behavior.content || scorer->behavior.ops != behavior.ops) {
    destroy_memories(scorer);
    scorer->behavior = behavior;
  }
  for (size_t i = 0; i < tree->nodes; i++) {
    idm_status status = idm_interruption_check(&scorer->interruption, i, opt_error);
    if (status != IDM_OK) return status;
    if (tree->node[i].begin >= 0) {
      scorer->chosen[i] = 1;
      status = begin(scorer, &tree->node[i], opt_error);
    } else {
      status = score_row(scorer, i, score, opt_error);
    }
    if (status != IDM_OK) {
      if (opt_error && status == IDM_INPUT) {
        idm_data_locate(scorer->data, tree->node[i].first_row, opt_error);
        name_missing_rows(scorer, i, opt_error);
      }
      return status;
    }
  }
  sum_log_likelihoods(scorer, score);
  if (scorer->data->history) sum_scored_rows(scorer, score);
  scorer->checked = true;
  return IDM_OK;
}

double idm_scorer_row(const idm_scorer *scorer, size_t node)
{
  if (!scorer || node >= scorer->tree->nodes) return NAN;
  return scorer->chosen[node] + scorer->evidence[node];
}

double idm_scorer_trajectory(const idm_scorer *scorer, size_t trajectory)
{
  if (!scorer || trajectory >= scorer->tree->trajectories) return NAN;
  const idm_prefix_tree *tree = scorer->tree;
  const size_t first = tree->first[trajectory];
  if (tree->node[first].parent < 0 && !scorer->data->history)
    return scorer->total[tree->last[trajectory]];
  double sum = 0; /* not a difference of totals: earlier rows of the agent may have probability 0 */
  size_t row = scorer->data->first[trajectory + 1];
  for (size_t i = tree->last[trajectory]; i != first; i = (size_t)tree->node[i].parent)
    if (is_scored(scorer->data, --row)) sum += scorer->chosen[i] + scorer->evidence[i];
  return sum;
}

void idm_scorer_agents(const idm_scorer *scorer, double *log_likelihood)
{
  if (!scorer || !log_likelihood) return;
  const idm_data *data = scorer->data;
  const size_t agents = data->agent_name.count;
  const size_t nodes = scorer->tree->nodes;
  memset(log_likelihood, 0, agents * sizeof *log_likelihood);
  if (!scorer->end_count) {
    for (size_t t = 0; t < data->trajectories; t++)
      log_likelihood[data->agent[t]] += idm_scorer_trajectory(scorer, t);
    return;
  }
  for (size_t a = 0; a < agents; a++)
    for (size_t i = 0; i < nodes; i++)
      if (scorer->end_count[a * nodes + i])
        log_likelihood[a] += scorer->end_count[a * nodes + i] * scorer->total[i];
}

void idm_scorer_decisions(const idm_scorer *scorer, size_t trajectory, double *log_probability)
{
  if (!scorer || !log_probability || trajectory >= scorer->tree->trajectories) return;
  const idm_prefix_tree *tree = scorer->tree;
  const size_t first = tree->first[trajectory];
  for (size_t i = tree->last[trajectory]; i != first; i = (size_t)tree->node[i].parent)
    log_probability[tree->node[i].depth - tree->node[first].depth - 1] = scorer->chosen[i];
}

void idm_scorer_evidence(const idm_scorer *scorer, size_t trajectory, double *log_evidence)
{
  if (!scorer || !log_evidence || trajectory >= scorer->tree->trajectories) return;
  const idm_prefix_tree *tree = scorer->tree;
  const size_t first = tree->first[trajectory];
  for (size_t i = tree->last[trajectory]; i != first; i = (size_t)tree->node[i].parent)
    log_evidence[tree->node[i].depth - tree->node[first].depth - 1] = scorer->evidence[i];
}

/* --- gradient ------------------------------------------------------------------------------- */

struct idm_gradient {
  const idm_workspace *workspace;
  const idm_gradient_ops *ops;
  void *content;
};

bool idm_gradient_possible(const idm_data *data, const idm_prefix_tree *tree,
                           const idm_workspace *workspace)
{
  if (!data || !tree || !workspace) return false;
  const idm_behavior b = idm_workspace_behavior(workspace);
  return tree->data == data && idm_sizes_same(b.sizes, data->sizes) && b.ops->derivative &&
         b.ops->derivative->possible(b.content, data, tree);
}

idm_status idm_gradient_create(const idm_data *data, const idm_prefix_tree *tree,
                               idm_workspace *workspace, idm_gradient **ret_gradient,
                               idm_error *opt_error)
{
  idm_require(data, tree, workspace, ret_gradient);
  *ret_gradient = NULL;
  const idm_behavior b = idm_workspace_behavior(workspace);
  if (!idm_gradient_possible(data, tree, workspace))
    return idm_fail(opt_error, IDM_USAGE, "these data and this agent have no gradient");
  idm_gradient *gradient = idm_new(1, sizeof *gradient);
  if (!gradient) return idm_fail_memory(opt_error);
  gradient->workspace = workspace;
  gradient->ops = b.ops->derivative;
  const idm_status status =
      gradient->ops->create(b.content, data, tree, &gradient->content, opt_error);
  if (status != IDM_OK) {
    idm_gradient_destroy(gradient);
    return status;
  }
  *ret_gradient = gradient;
  return IDM_OK;
}

void idm_gradient_destroy(idm_gradient *gradient)
{
  if (!gradient) return;
  if (gradient->content) gradient->ops->destroy(gradient->content);
  free(gradient);
}

idm_status idm_gradient_run(idm_gradient *gradient, double *log_likelihood, idm_theta *derivative,
                            idm_error *opt_error)
{
  idm_require(gradient, log_likelihood, derivative);
  if (idm_theta_form_mismatch(derivative, idm_workspace_theta(gradient->workspace)))
    return idm_fail(opt_error, IDM_USAGE,
                    "the derivative does not have the form of the theta that was planned for");
  return gradient->ops->run(gradient->content, log_likelihood, derivative, opt_error);
}

bool idm_gradient_by_start(const idm_gradient *gradient, double *by_start)
{
  return gradient->ops == &idm_belief_agent_gradient &&
         idm_belief_agent_by_start(gradient->content, by_start);
}

void idm_gradient_interrupt(idm_gradient *gradient, idm_interrupt opt_interrupt, void *context)
{
  if (gradient && gradient->ops->interrupt)
    gradient->ops->interrupt(gradient->content, opt_interrupt, context);
}

/* === choice derivative ====================================================================== */

/* Reverse-mode derivative of a function of the choice probabilities at given beliefs. */

struct idm_choice_adjoint {
  idm_workspace *workspace;
  void *adjoint;
  double *decision;      /* [action] */
  double *log_gradient;  /* [action]: with respect to log pi */
  double *specification; /* [action][model]: 0, because choices depend on the policy alone */
  choice_bias_gradient choice_bias;
};

bool idm_choice_adjoint_possible(const idm_workspace *workspace)
{
  const idm_planner *planner = workspace->planner;
  return planner->belief && workspace->belief_agent.differentiable &&
         !(planner->supports & IDM_SUPPORTS_NO_GRADIENT);
}

void idm_choice_adjoint_destroy(idm_choice_adjoint *derivative)
{
  if (!derivative) return;
  if (derivative->adjoint)
    derivative->workspace->planner->belief->adjoint->destroy(derivative->adjoint);
  free(derivative->decision);
  free(derivative->log_gradient);
  free(derivative->specification);
  free(derivative);
}

idm_status idm_choice_adjoint_create(idm_workspace *workspace, idm_choice_adjoint **ret_derivative,
                                     idm_error *opt_error)
{
  *ret_derivative = NULL;
  const idm_theta *theta = workspace->theta;
  const size_t actions = theta->sizes.actions;
  idm_choice_adjoint *s = idm_new(1, sizeof *s);
  if (!s) return idm_fail_memory(opt_error);
  s->workspace = workspace;
  s->decision = idm_new(actions, sizeof *s->decision);
  s->log_gradient = idm_new(actions, sizeof *s->log_gradient);
  s->specification = idm_new(idm_times(actions, theta->models), sizeof *s->specification);
  idm_status status =
      s->decision && s->log_gradient && s->specification ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status =
        workspace->planner->belief->adjoint->create(workspace->content, &s->adjoint, opt_error);
  if (status == IDM_OK)
    *ret_derivative = s;
  else
    idm_choice_adjoint_destroy(s);
  return status;
}

void idm_choice_adjoint_begin(idm_choice_adjoint *derivative)
{
  derivative->choice_bias = (choice_bias_gradient){0};
  derivative->workspace->planner->belief->adjoint->begin(derivative->adjoint);
}

void idm_choice_adjoint_point(idm_choice_adjoint *derivative, const double *z,
                              const double *by_choice)
{
  const idm_workspace *w = derivative->workspace;
  const size_t actions = w->theta->sizes.actions;
  const choice_bias bias = idm_choice_bias_of(w->theta);
  const double allowed_set = (double)actions;
  w->planner->belief->policy(w->content, 0, 0, z, derivative->decision, NULL, w->scratch);
  memset(derivative->log_gradient, 0, actions * sizeof *derivative->log_gradient);
  for (size_t u = 0; u < actions; u++) {
    const double p = idm_choice_lapse(bias, derivative->decision[u], allowed_set);
    if (p > 0 && by_choice[u] != 0)
      idm_choice_backward(bias, actions, derivative->decision, allowed_set, IDM_MISSING, u,
                          by_choice[u] * p, derivative->log_gradient, &derivative->choice_bias);
  }
  const idm_policy_adjoint point = {.belief = z,
                                    .decision = derivative->decision,
                                    .log_decision_gradient = derivative->log_gradient,
                                    .specification_gradient = derivative->specification};
  w->planner->belief->adjoint->point(derivative->adjoint, &point);
}

idm_status idm_choice_adjoint_finish(idm_choice_adjoint *derivative, idm_theta *theta_gradient,
                                     idm_error *opt_error)
{
  idm_theta_clear(theta_gradient);
  return idm_belief_agent_finish(&derivative->workspace->belief_agent, derivative->adjoint,
                                 &derivative->choice_bias, false, theta_gradient, opt_error);
}
