/* Exact likelihoods of cells by planning from interpolated anchor solutions, and tables over all
 * cells. */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>
#include <pthread.h>

#include "base/memory.h"
#include "base/system.h"
#include "data/log.h"
#include "idm/extension/behavior.h"
#include "idm/extension/planner.h"
#include "invert/cancel.h"
#include "invert/parameters.h"
#include "plan/plan.h"

/* Anchors are at the points of a tensor product of Chebyshev nodes: number of nodes per axis, by
 * dimension. Above max_axes, the midpoint is the only anchor. */
enum { max_axes = 3, max_nodes = 8, max_anchors = 64 };
static const size_t nodes_of[max_axes + 1] = {1, 8, 6, 4};

struct idm_evaluator {
  idm_cells *cells;
  idm_theta *theta;
  idm_workspace *workspace;
  idm_solver solver;
  idm_scorer **scorer;     /* [cell]: created when first needed */
  idm_gradient **gradient; /* [cell]: created when first needed */
  idm_theta *derivative;
  const idm_lane_ops *lane_ops;
  void *lanes;                 /* vector evaluation of all cells; NULL: not available */
  idm_scorer *all_scorer;      /* scorer of the whole log */
  double *cell_log_likelihood; /* [cell]: its last result */
  double weight[max_anchors];
  idm_status status; /* status of the last anchoring */
  idm_error error;
  bool busy;
};

struct idm_cells {
  const idm_problem *problem;
  const idm_data *data;
  const idm_design *design;
  const idm_parameters *parameters;
  idm_prefix_tree *tree;
  idm_data **cell_data;        /* [cell] */
  idm_prefix_tree **cell_tree; /* [cell] */
  size_t evaluators;
  idm_evaluator *evaluator;
  pthread_mutex_t mutex; /* protects `busy` */
  size_t axes;           /* axes of the anchors' tensor product; 0: the midpoint only */
  double *middle;        /* [coordinate]: midpoint of the anchors' box, and half its sides */
  double *half;
  double node[max_nodes]; /* in (-1, 1) */
};

static void evaluator_clear(idm_evaluator *j, size_t cells)
{
  for (size_t c = 0; j->scorer && c < cells; c++) idm_scorer_destroy(j->scorer[c]);
  for (size_t c = 0; j->gradient && c < cells; c++) idm_gradient_destroy(j->gradient[c]);
  free(j->scorer);
  free(j->gradient);
  free(j->cell_log_likelihood);
  if (j->lanes) j->lane_ops->destroy(j->lanes);
  idm_theta_destroy(j->derivative);
  idm_scorer_destroy(j->all_scorer);
  idm_workspace_destroy(j->workspace);
  idm_theta_destroy(j->theta);
}

void idm_cells_destroy(idm_cells *cells)
{
  if (!cells) return;
  const size_t n = cells->design->cells;
  for (size_t i = 0; cells->evaluator && i < cells->evaluators; i++)
    evaluator_clear(&cells->evaluator[i], n);
  free(cells->evaluator);
  for (size_t c = 0; cells->cell_tree && c < n; c++) idm_prefix_tree_destroy(cells->cell_tree[c]);
  for (size_t c = 0; cells->cell_data && c < n; c++) idm_data_destroy(cells->cell_data[c]);
  free(cells->cell_tree);
  free(cells->cell_data);
  idm_prefix_tree_destroy(cells->tree);
  pthread_mutex_destroy(&cells->mutex);
  free(cells->middle);
  free(cells->half);
  free(cells);
}

/* Sort trajectories by cell, in the order of the log. *ret_first: [cell + 1], start of each cell.
 */
static idm_status sort_trajectories(const idm_cells *cells, uint32_t **ret_order,
                                    size_t **ret_first, idm_error *opt_error)
{
  const idm_design *d = cells->design;
  const size_t trajectories = cells->data->trajectories;
  uint32_t *order = idm_new(trajectories, sizeof *order);
  size_t *first = idm_new(d->cells + 2, sizeof *first);
  *ret_order = order;
  *ret_first = first;
  if (!order || !first) return idm_fail_memory(opt_error);
  for (size_t t = 0; t < trajectories; t++) first[d->cell_of[t] + 2]++;
  for (size_t c = 0; c < d->cells; c++) first[c + 2] += first[c + 1];
  for (size_t t = 0; t < trajectories; t++) order[first[d->cell_of[t] + 1]++] = (uint32_t)t;
  return IDM_OK;
}

static idm_status split_by_cell(idm_cells *cells, idm_error *opt_error)
{
  const size_t n = cells->design->cells;
  uint32_t *order;
  size_t *first;
  cells->cell_data = idm_new(n, sizeof *cells->cell_data);
  cells->cell_tree = idm_new(n, sizeof *cells->cell_tree);
  if (!cells->cell_data || !cells->cell_tree) return idm_fail_memory(opt_error);
  idm_status status = sort_trajectories(cells, &order, &first, opt_error);
  for (size_t c = 0; c < n && status == IDM_OK; c++) {
    status = idm_data_subset(cells->data, order + first[c], first[c + 1] - first[c],
                             &cells->cell_data[c], opt_error);
    if (status == IDM_OK)
      status =
          idm_evidence_tree(cells->problem, cells->cell_data[c], &cells->cell_tree[c], opt_error);
  }
  free(order);
  free(first);
  return status;
}

/* Create the vector evaluation, if the behaviour supports it for these logs. */
static idm_status create_lanes(idm_evaluator *j, idm_error *opt_error)
{
  const idm_cells *cells = j->cells;
  const idm_planner *planner = idm_agent_planner(&cells->problem->agent);
  const idm_gradient_ops *derivative = planner->behavior ? planner->behavior->derivative : NULL;
  if (!derivative || !derivative->lanes) return IDM_OK;
  j->lane_ops = derivative->lanes;
  return j->lane_ops->create(
      idm_workspace_behavior(j->workspace).content, (const idm_data *const *)cells->cell_data,
      (const idm_prefix_tree *const *)cells->cell_tree, cells->design->cells, &j->lanes, opt_error);
}

static idm_status evaluator_init(idm_cells *cells, idm_evaluator *j, idm_error *opt_error)
{
  const idm_problem *p = cells->problem;
  j->cells = cells;
  idm_solver_default(&j->solver);
  j->solver.slots = IDM_START_COLD;
  j->scorer = idm_new(cells->design->cells, sizeof *j->scorer);
  j->gradient = idm_new(cells->design->cells, sizeof *j->gradient);
  j->cell_log_likelihood = idm_new(cells->design->cells, sizeof *j->cell_log_likelihood);
  idm_status status =
      j->scorer && j->gradient && j->cell_log_likelihood ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_theta_copy(p->theta, &j->theta, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(p->theta, &j->derivative, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(p->setting, p->theta, &p->agent, &j->workspace, opt_error);
  if (status == IDM_OK)
    status = idm_scorer_create(cells->data, cells->tree, &j->all_scorer, opt_error);
  if (status == IDM_OK) status = create_lanes(j, opt_error);
  return status;
}

/* Report observations that are impossible under the agent's models, which no free number can
 * change. If the problem's own values admit no plan, nothing is checked. */
static idm_status check_possible(idm_evaluator *j, idm_error *opt_error)
{
  idm_score score;
  if (idm_plan(j->theta, &j->solver, j->workspace, NULL, NULL) != IDM_OK) return IDM_OK;
  return idm_scorer_run(j->all_scorer, idm_workspace_behavior(j->workspace), &score, opt_error);
}

idm_status idm_cells_create(const idm_problem *problem, const idm_data *data,
                            const idm_design *design, const idm_parameters *parameters, int threads,
                            idm_cells **ret_cells, idm_error *opt_error)
{
  *ret_cells = NULL;
  idm_cells *cells = idm_new(1, sizeof *cells);
  if (!cells) return idm_fail_memory(opt_error);
  *cells = (idm_cells){.problem = problem,
                       .data = data,
                       .design = design,
                       .parameters = parameters,
                       .evaluators = threads < 1 ? 1 : (size_t)threads};
  pthread_mutex_init(&cells->mutex, NULL);
  cells->evaluator = idm_new(cells->evaluators, sizeof *cells->evaluator);
  cells->middle = idm_new(design->coordinates, sizeof *cells->middle);
  cells->half = idm_new(design->coordinates, sizeof *cells->half);
  idm_status status = cells->evaluator && cells->middle && cells->half
                          ? idm_evidence_tree(problem, data, &cells->tree, opt_error)
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = split_by_cell(cells, opt_error);
  for (size_t i = 0; i < cells->evaluators && status == IDM_OK; i++)
    status = evaluator_init(cells, &cells->evaluator[i], opt_error);
  if (status == IDM_OK) status = check_possible(&cells->evaluator[0], opt_error);
  if (status == IDM_OK)
    *ret_cells = cells;
  else
    idm_cells_destroy(cells);
  return status;
}

idm_evaluator *idm_cells_acquire(idm_cells *cells)
{
  idm_evaluator *found = NULL;
  pthread_mutex_lock(&cells->mutex);
  for (size_t i = 0; i < cells->evaluators && !found; i++)
    if (!cells->evaluator[i].busy) found = &cells->evaluator[i];
  if (found) found->busy = true;
  pthread_mutex_unlock(&cells->mutex);
  return found;
}

void idm_cells_release(idm_cells *cells, idm_evaluator *evaluator)
{
  pthread_mutex_lock(&cells->mutex);
  evaluator->busy = false;
  pthread_mutex_unlock(&cells->mutex);
}

/* --- planning ------------------------------------------------------------------------------- */

/* Coordinate i of anchor k. */
static double anchor_at(const idm_cells *cells, size_t k, size_t i)
{
  if (i >= cells->axes) return cells->middle[i];
  const size_t n = nodes_of[cells->axes];
  for (size_t axis = 0; axis < i; axis++) k /= n;
  return cells->middle[i] + cells->half[i] * cells->node[k % n];
}

/* Interpolation weights of the anchors at x: products of Lagrange polynomials. */
static void interpolation_weights(idm_evaluator *j, const double *x)
{
  const idm_cells *cells = j->cells;
  const size_t n = nodes_of[cells->axes];
  size_t count = 1;
  j->weight[0] = 1;
  for (size_t i = 0; i < cells->axes; i++, count *= n) {
    const double t = fmin(fmax((x[i] - cells->middle[i]) / cells->half[i], -1), 1);
    double one[max_nodes] = {0};
    for (size_t k = 0; k < n; k++) {
      one[k] = 1;
      for (size_t l = 0; l < n; l++)
        if (l != k) one[k] *= (t - cells->node[l]) / (cells->node[k] - cells->node[l]);
    }
    for (size_t k = n; k-- > 0;)
      for (size_t l = 0; l < count; l++) j->weight[k * count + l] = j->weight[l] * one[k];
  }
}

/* Put the numbers x into the evaluator's theta. Returns false if they admit no plan. */
static bool set_parameters(idm_evaluator *j, const double *x)
{
  const idm_parameters *parameters = j->cells->parameters;
  for (size_t i = 0; i < parameters->dimension; i++)
    if (!isfinite(x[i])) return false;
  idm_parameters_set(parameters, x, j->theta);
  return !idm_parameters_degenerate(parameters, j->theta);
}

/* Whether a status means that numbers are outside the support, which is not an error. */
static bool outside_support(idm_status status)
{
  return status == IDM_NUMERICAL || status == IDM_INPUT;
}

static idm_status plan(idm_evaluator *j, const double *x, bool *planned, idm_error *opt_error)
{
  idm_error error = {0};
  *planned = false;
  if (!set_parameters(j, x)) return IDM_OK;
  if (j->solver.slots > 0) interpolation_weights(j, x);
  const idm_status status =
      idm_cancel_plan(j->cells->parameters->cancel, j->theta, &j->solver, j->workspace, &error);
  *planned = status == IDM_OK;
  if (status == IDM_OK || outside_support(status)) return IDM_OK;
  if (opt_error) *opt_error = error;
  return status;
}

static void anchor_evaluator(void *content, size_t index)
{
  idm_cells *cells = content;
  idm_evaluator *j = &cells->evaluator[index];
  size_t count = 1;
  for (size_t i = 0; i < cells->axes; i++) count *= nodes_of[cells->axes];
  double x[IDM_MAX_EFFECTS];
  bool planned = true;
  j->status = IDM_OK;
  j->solver.slots = IDM_START_COLD;
  j->solver.weights = j->weight;
  for (size_t k = 0; k < count && j->status == IDM_OK && planned; k++) {
    for (size_t i = 0; i < cells->design->coordinates; i++) x[i] = anchor_at(cells, k, i);
    j->status = plan(j, x, &planned, &j->error);
    if (j->status == IDM_OK && planned) j->status = idm_workspace_store(j->workspace, k, &j->error);
  }
  if (planned && j->status == IDM_OK) j->solver.slots = (int)count;
}

idm_status idm_cells_anchor(idm_cells *cells, const double *low, const double *high,
                            idm_error *opt_error)
{
  const size_t n = cells->design->coordinates;
  for (size_t i = 0; i < n; i++) {
    cells->middle[i] = (low[i] + high[i]) / 2;
    cells->half[i] = (high[i] - low[i]) / 2;
  }
  cells->axes = n <= max_axes ? n : 0;
  const size_t nodes = nodes_of[cells->axes];
  for (size_t k = 0; k < nodes; k++)
    cells->node[k] = cos(3.14159265358979323846 * ((double)k + 0.5) / (double)nodes);
  const idm_status status = idm_parallel(cells->evaluators, (int)cells->evaluators,
                                         anchor_evaluator, NULL, cells, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < cells->evaluators; i++) {
    const idm_evaluator *j = &cells->evaluator[i];
    if (j->status == IDM_OK) continue;
    if (opt_error) *opt_error = j->error;
    return j->status;
  }
  return IDM_OK;
}

/* Score the current plan; *scored is false if an observation has probability 0. */
static idm_status score(idm_evaluator *j, idm_scorer *scorer, bool *scored, double *log_likelihood,
                        idm_error *opt_error)
{
  idm_error error = {0};
  idm_score result;
  const idm_status status =
      idm_scorer_run(scorer, idm_workspace_behavior(j->workspace), &result, &error);
  *scored = status == IDM_OK;
  if (status == IDM_OK) *log_likelihood = result.log_likelihood;
  if (status == IDM_OK || outside_support(status)) return IDM_OK;
  if (opt_error) *opt_error = error;
  return status;
}

idm_status idm_evaluator_cell(idm_evaluator *j, size_t cell, const double *x,
                              double *log_likelihood, idm_error *opt_error)
{
  bool valid;
  *log_likelihood = -INFINITY;
  idm_status status = plan(j, x, &valid, opt_error);
  if (status != IDM_OK || !valid) return status;
  if (!j->scorer[cell])
    status = idm_scorer_create(j->cells->cell_data[cell], j->cells->cell_tree[cell],
                               &j->scorer[cell], opt_error);
  if (status == IDM_OK) status = score(j, j->scorer[cell], &valid, log_likelihood, opt_error);
  if (isnan(*log_likelihood)) *log_likelihood = -INFINITY;
  return status;
}

/* Whether gradients of log-likelihoods are cheap: the planner solves no decision problem, and its
 * behaviour has derivatives. */
static bool idm_cells_have_gradient(const idm_cells *cells)
{
  const idm_planner *planner = idm_agent_planner(&cells->problem->agent);
  return !planner->belief && !planner->lattice && !planner->search && planner->behavior &&
         planner->behavior->derivative &&
         idm_gradient_possible(cells->data, cells->tree, cells->evaluator[0].workspace);
}

/* Whether all cells have a vectorised gradient. */
static bool idm_cells_have_lanes(const idm_cells *cells)
{
  return cells->evaluator[0].lanes && idm_cells_have_gradient(cells);
}

/* Log-likelihoods [cell] and gradients [cell][coordinates] of all cells together, at numbers
 * x[cell][coordinates]. Requires lanes. */
static void idm_evaluator_gradients(idm_evaluator *j, const double *x, double *log_likelihood,
                                    double *gradient)
{
  const idm_cells *cells = j->cells;
  const size_t n = cells->design->coordinates, count = cells->design->cells;
  memset(gradient, 0, count * n * sizeof *gradient);
  for (size_t c = 0; c < count; c++)
    if (set_parameters(j, x + c * n)) j->lane_ops->set(j->lanes, c, j->theta);
  j->lane_ops->run(j->lanes, log_likelihood);
  for (size_t c = 0; c < count; c++) {
    if (!set_parameters(j, x + c * n) || isnan(log_likelihood[c])) {
      log_likelihood[c] = -INFINITY;
      continue;
    }
    j->lane_ops->get(j->lanes, c, j->derivative);
    idm_parameters_backward(cells->parameters, x + c * n, j->derivative, gradient + c * n);
  }
}

/* Log-likelihood of one cell and its gradient [coordinates]. */
static idm_status idm_evaluator_gradient(idm_evaluator *j, size_t cell, const double *x,
                                         double *log_likelihood, double *gradient,
                                         idm_error *opt_error)
{
  const idm_cells *cells = j->cells;
  bool valid;
  *log_likelihood = -INFINITY;
  memset(gradient, 0, cells->design->coordinates * sizeof *gradient);
  idm_status status = plan(j, x, &valid, opt_error);
  if (status != IDM_OK || !valid) return status;
  if (!j->gradient[cell])
    status = idm_gradient_create(cells->cell_data[cell], cells->cell_tree[cell], j->workspace,
                                 &j->gradient[cell], opt_error);
  if (status == IDM_OK)
    status = idm_gradient_run(j->gradient[cell], log_likelihood, j->derivative, opt_error);
  if (status == IDM_OK) idm_parameters_backward(cells->parameters, x, j->derivative, gradient);
  if (isnan(*log_likelihood)) *log_likelihood = -INFINITY;
  return status;
}

idm_status idm_evaluator_all_cells(idm_evaluator *j, const double *x, const double **log_likelihood,
                                   idm_error *opt_error)
{
  const idm_design *d = j->cells->design;
  bool valid;
  double total;
  idm_status status = plan(j, x, &valid, opt_error);
  if (status == IDM_OK && valid) status = score(j, j->all_scorer, &valid, &total, opt_error);
  for (size_t c = 0; c < d->cells; c++) j->cell_log_likelihood[c] = valid ? 0 : -INFINITY;
  for (size_t t = 0; valid && status == IDM_OK && t < j->cells->data->trajectories; t++)
    j->cell_log_likelihood[d->cell_of[t]] += idm_scorer_trajectory(j->all_scorer, t);
  *log_likelihood = j->cell_log_likelihood;
  return status;
}

/* --- leaves --------------------------------------------------------------------------------- */

/* A table under construction. */
typedef struct table_build {
  shared_leaves *shared;
  bool (*stopped)(void *);
  void *stop_context;
} table_build;

static idm_status fill_column(void *context, const double *x, double *column, idm_error *opt_error)
{
  idm_cells *cells = ((const table_build *)context)->shared->cells;
  const double *found;
  idm_evaluator *evaluator = idm_cells_acquire(cells);
  const idm_status status = idm_evaluator_all_cells(evaluator, x, &found, opt_error);
  if (status == IDM_OK) memcpy(column, found, cells->design->cells * sizeof *column);
  idm_cells_release(cells, evaluator);
  return status;
}

static bool is_stopped(void *context)
{
  const table_build *t = context;
  return t->stopped(t->stop_context);
}

static idm_status make_grid(table_build *t, const double *low, const double *high,
                            idm_error *opt_error)
{
  shared_leaves *shared = t->shared;
  idm_grid *grid = NULL;
  const idm_grid_source source = {.dimension = shared->cells->design->coordinates,
                                  .low = low,
                                  .high = high,
                                  .cells = shared->cells->design->cells,
                                  .value = fill_column,
                                  .opt_stopped = t->stopped ? is_stopped : NULL,
                                  .context = t};
  const idm_status status = idm_grid_create(&source, shared->threads, &grid, opt_error);
  if (!grid) return status;
  idm_grid_destroy(shared->grid);
  shared->grid = grid;
  return status;
}

static idm_status make_polynomials(table_build *t, const double *low, const double *high,
                                   idm_error *opt_error)
{
  shared_leaves *shared = t->shared;
  idm_polynomials *polynomials = NULL;
  const polynomial_source source = {.dimension = shared->cells->design->coordinates,
                                    .low = low,
                                    .high = high,
                                    .leaves = shared->cells->design->cells,
                                    .value = fill_column,
                                    .opt_stopped = t->stopped ? is_stopped : NULL,
                                    .context = t};
  const idm_status status =
      idm_polynomials_create(&source, shared->threads, &polynomials, opt_error);
  if (!polynomials) return status;
  idm_polynomials_destroy(shared->polynomials);
  shared->polynomials = polynomials;
  return status;
}

static idm_status tabulate(void *context, const double *low, const double *high, bool prior_box,
                           bool (*opt_stopped)(void *), void *stop_context, bool *has_tables,
                           idm_error *opt_error)
{
  shared_leaves *shared = context;
  table_build t = {shared, opt_stopped, stop_context};
  const bool few = shared->cells->design->coordinates <= IDM_GRID_DIMENSIONS;
  idm_status status = idm_cells_anchor(shared->cells, low, high, opt_error);
  if (status == IDM_OK && few)
    status = make_grid(&t, low, high, opt_error);
  else if (status == IDM_OK && !prior_box && !idm_cells_have_gradient(shared->cells))
    status = make_polynomials(&t, low, high, opt_error);
  *has_tables = shared->grid || shared->polynomials;
  return status;
}

static double table_value(const void *context, size_t leaf, const double *x)
{
  const shared_leaves *shared = context;
  return shared->grid ? idm_grid_at(shared->grid, leaf, x)
                      : idm_polynomials_at(shared->polynomials, leaf, x);
}

static idm_status evaluate_leaf(void *context, const leaf_worker *worker, size_t leaf,
                                const double *x, double *log_likelihood, idm_error *opt_error)
{
  (void)context;
  return idm_evaluator_cell(worker->evaluator, leaf, x, log_likelihood, opt_error);
}

static idm_status evaluate_leaf_gradient(void *context, const leaf_worker *worker, size_t leaf,
                                         const double *x, double *log_likelihood, double *gradient,
                                         idm_error *opt_error)
{
  (void)context;
  return idm_evaluator_gradient(worker->evaluator, leaf, x, log_likelihood, gradient, opt_error);
}

static void *acquire(void *context)
{
  return idm_cells_acquire(((shared_leaves *)context)->cells);
}

static void release(void *context, void *evaluator)
{
  idm_cells_release(((shared_leaves *)context)->cells, evaluator);
}

static idm_status evaluate_all_gradients(void *context, const leaf_worker *worker, const double *x,
                                         double *log_likelihood, double *gradient,
                                         idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  idm_evaluator_gradients(worker->evaluator, x, log_likelihood, gradient);
  return IDM_OK;
}

leaf_source idm_shared_source(shared_leaves *shared)
{
  return (leaf_source){
      .context = shared,
      .table = table_value,
      .exact = evaluate_leaf,
      .leaf_gradient = idm_cells_have_gradient(shared->cells) ? evaluate_leaf_gradient : NULL,
      .leaf_gradients = idm_cells_have_lanes(shared->cells) ? evaluate_all_gradients : NULL,
      .acquire = acquire,
      .release = release,
      .tabulate = tabulate};
}

void idm_shared_destroy(shared_leaves *shared)
{
  idm_grid_destroy(shared->grid);
  idm_polynomials_destroy(shared->polynomials);
  idm_cells_destroy(shared->cells);
  *shared = (shared_leaves){0};
}
