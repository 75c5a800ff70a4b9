/* Projections: the composition of a planner and an inverse planner, and its divergence from a log.
 */
#include <math.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/memory.h"
#include "data/log.h"
#include "idm/extension/behavior.h"
#include "idm/extension/data.h"
#include "idm/extension/fit_settings.h"
#include "idm/extension/inverse.h"
#include "idm/extension/parameters.h"
#include "idm/extension/posterior.h"
#include "idm/extension/prefix.h"
#include "invert/posterior.h"
#include "invert/predict.h"
#include "invert/project.h"
#include "plan/plan.h"

/* A node of the tree, keyed by what defines a repeated decision: history and available actions. */
typedef struct decision {
  int32_t parent;
  uint32_t available;
  int32_t action;
  uint64_t count;
  double log_probability;
} decision;

static int compare_decisions(const void *a, const void *b)
{
  const decision *x = a;
  const decision *y = b;
  if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
  if (x->available != y->available) return x->available < y->available ? -1 : 1;
  return (x->action > y->action) - (x->action < y->action);
}

/* n KL(empirical || pi) of one repeated decision: sum_u n_u (log(n_u / n) - log pi(u)). */
static double divergence(const decision *d, size_t count, uint64_t total)
{
  double sum = 0;
  for (size_t i = 0; i < count;) {
    uint64_t action_count = 0;
    size_t j = i;
    for (; j < count && d[j].action == d[i].action; j++) action_count += d[j].count;
    sum +=
        (double)action_count * (log((double)action_count / (double)total) - d[i].log_probability);
    i = j;
  }
  return sum;
}

static void add_divergences(decision *d, size_t count, idm_projection *projection)
{
  double sum = 0;
  qsort(d, count, sizeof *d, compare_decisions);
  for (size_t i = 0; i < count;) {
    uint64_t total = 0;
    size_t j = i;
    for (; j < count && d[j].parent == d[i].parent && d[j].available == d[i].available; j++)
      total += d[j].count;
    if (total > 1) {
      projection->repeated += total;
      sum += divergence(d + i, j - i, total);
    }
    i = j;
  }
  projection->divergence = projection->repeated ? sum / (double)projection->repeated : NAN;
}

/* Lists the decisions of the tree, one per node; each log-probability is taken from a trajectory
 * through the node. */
static size_t list_decisions(const idm_data *data, const idm_prefix_tree *tree,
                             const double *log_probability, decision *d)
{
  size_t count = 0;
  for (size_t i = 0; i < tree->nodes; i++) {
    const idm_prefix_node *node = &tree->node[i];
    if (node->parent < 0 || node->action == IDM_MISSING) continue;
    if (idm_data_available_count(data, node->available) < 2) continue;
    d[count++] = (decision){node->parent, node->available, node->action, node->count,
                            log_probability[node->first_row]};
  }
  return count;
}

static idm_status compare_with_chance(const idm_data *data, idm_projection *projection,
                                      idm_error *opt_error)
{
  idm_chance chance;
  const idm_status status = idm_chance_measure(data, &chance, opt_error);
  if (status != IDM_OK) return status;
  const double decisions = (double)(chance.decisions ? chance.decisions : 1);
  projection->uniform_log_loss = idm_log_loss(chance.uniform, decisions);
  projection->rates_log_loss = idm_log_loss(chance.rates, decisions);
  projection->pseudo_r2 = idm_share_explained(projection->log_loss, projection->uniform_log_loss);
  projection->pseudo_r2_rates =
      idm_share_explained(projection->log_loss, projection->rates_log_loss);
  return IDM_OK;
}

idm_status idm_projection_measure(const idm_problem *problem, const idm_theta *theta,
                                  const idm_data *data, idm_projection *projection,
                                  idm_error *opt_error)
{
  idm_require(problem, theta, data, projection);
  *projection = (idm_projection){.divergence = NAN};
  if (idm_policy_is_undetermined(problem, data)) {
    *projection = (idm_projection){.log_loss = NAN,
                                   .brier = NAN,
                                   .uniform_log_loss = NAN,
                                   .rates_log_loss = NAN,
                                   .pseudo_r2 = NAN,
                                   .pseudo_r2_rates = NAN,
                                   .divergence = NAN};
    return IDM_OK;
  }
  idm_prefix_tree *tree = NULL;
  idm_workspace *workspace = NULL;
  idm_scorer *scorer = NULL;
  decision *d = NULL;
  double *log_probability = idm_new(data->rows, sizeof *log_probability);
  idm_score score;
  idm_status status = log_probability ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_evidence_tree(problem, data, &tree, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, theta, &problem->agent, &workspace, opt_error);
  if (status == IDM_OK) status = idm_plan(theta, NULL, workspace, NULL, opt_error);
  if (status == IDM_OK) status = idm_scorer_create(data, tree, &scorer, opt_error);
  if (status == IDM_OK)
    status = idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, opt_error);
  if (status == IDM_OK) {
    d = idm_new(tree->nodes, sizeof *d);
    if (!d) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) {
    const double decisions = (double)(score.decisions ? score.decisions : 1);
    projection->decisions = score.decisions;
    projection->log_loss = idm_log_loss(score.log_likelihood - score.evidence, decisions);
    projection->brier = score.brier / decisions;
    for (size_t t = 0; t < data->trajectories; t++)
      idm_scorer_decisions(scorer, t, log_probability + data->first[t]);
    add_divergences(d, list_decisions(data, tree, log_probability, d), projection);
    status = compare_with_chance(data, projection, opt_error);
  }
  free(d);
  free(log_probability);
  idm_scorer_destroy(scorer);
  idm_workspace_destroy(workspace);
  idm_prefix_tree_destroy(tree);
  return status;
}

idm_status idm_projection_measure_centre(const idm_problem *problem, const idm_posterior *posterior,
                                         const idm_data *data, idm_projection *projection,
                                         idm_error *opt_error)
{
  idm_require(problem, posterior, data, projection);
  idm_parameters *parameters = NULL;
  idm_theta *theta = NULL;
  double *centre = NULL;
  idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  if (status == IDM_OK) status = idm_posterior_check(posterior, parameters, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status == IDM_OK) {
    centre = idm_new(idm_parameters_dimension(parameters), sizeof *centre);
    if (!centre) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) {
    idm_posterior_centre(posterior, centre);
    idm_parameters_set(parameters, centre, theta);
    status = idm_projection_measure(problem, theta, data, projection, opt_error);
  }
  free(centre);
  idm_theta_destroy(theta);
  idm_parameters_destroy(parameters);
  return status;
}

/* Computes log-loss and Brier score of the mean action probabilities, and log_probability[row] of
 * the chosen actions. */
static void measure_rows(const idm_trials *trials, const idm_data *data, double *log_probability,
                         idm_projection *projection)
{
  const idm_sizes n = data->sizes;
  double log_likelihood = 0;
  for (size_t row = 0; row < data->rows; row++) {
    if (data->action[row] == IDM_MISSING ||
        idm_data_available_count(data, data->available[row]) < 2)
      continue;
    const double *p = trials->mean + trials->node[row] * trials->width + n.states;
    const size_t taken = (size_t)data->action[row];
    log_probability[row] = log(p[taken]);
    log_likelihood += log_probability[row];
    for (size_t u = 0; u < n.actions; u++)
      projection->brier += (p[u] - (u == taken)) * (p[u] - (u == taken));
    projection->decisions++;
  }
  const double decisions = (double)(projection->decisions ? projection->decisions : 1);
  projection->log_loss = idm_log_loss(log_likelihood, decisions);
  projection->brier /= decisions;
}

idm_status idm_projection_draws(const idm_problem *problem, const idm_posterior *posterior,
                                const idm_data *data, idm_projection *projection,
                                idm_error *opt_error)
{
  idm_require(problem, posterior, data, projection);
  if (posterior->chains * posterior->draws < 2 || idm_policy_is_undetermined(problem, data))
    return idm_projection_measure_centre(problem, posterior, data, projection, opt_error);
  *projection = (idm_projection){.divergence = NAN};
  idm_prefix_tree *tree = NULL;
  idm_trials *trials = NULL;
  decision *d = NULL;
  double *log_probability = idm_new(data->rows, sizeof *log_probability);
  idm_status status = log_probability ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_evidence_tree(problem, data, &tree, opt_error);
  if (status == IDM_OK) {
    d = idm_new(tree->nodes, sizeof *d);
    if (!d) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) status = idm_posterior_trials(problem, posterior, data, &trials, opt_error);
  if (status == IDM_OK) {
    measure_rows(trials, data, log_probability, projection);
    add_divergences(d, list_decisions(data, tree, log_probability, d), projection);
    status = compare_with_chance(data, projection, opt_error);
  }
  free(d);
  free(log_probability);
  idm_trials_destroy(trials);
  idm_prefix_tree_destroy(tree);
  return status;
}

idm_status idm_project(const idm_problem *problem, const idm_data *data, const idm_inverse *inverse,
                       const idm_fit_settings *settings, const idm_fit_monitor *opt_monitor,
                       idm_posterior **ret_posterior, idm_projection *projection,
                       idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem, data, inverse, settings, ret_posterior, projection);
  *ret_posterior = NULL;
  idm_status status = idm_keys_check(idm_fit_keys(), settings, opt_error);
  if (status == IDM_OK)
    status = idm_inverse_fit(inverse, problem, data, settings, opt_monitor, ret_posterior,
                             opt_notes, opt_error);
  if (status == IDM_OK)
    status = idm_projection_measure_centre(problem, *ret_posterior, data, projection, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  return status;
}
