/* Exact likelihoods of cells: see the header. */
#include "invert/hierarchy/cells.h"

#include <math.h>
#include <pthread.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/part.h"
#include "idm/behavior.h"
#include "idm/planner.h"
#include "idm/score.h"
#include "invert/hierarchy/check.h"
#include "invert/matching/halt.h"
#include "invert/parameters.h"

/* Anchors are products of Chebyshev nodes, so many an axis by dimension; beyond, the middle alone.
 */
enum { most_axes = 3, most_nodes = 8, most_anchors = 64 };
static const size_t nodes_of[most_axes + 1] = {1, 8, 6, 4};

struct idm_judge {
  idm_cells *cells;
  idm_theta *theta;
  idm_workspace *workspace;
  idm_solver solver;
  idm_scorer **scorer;     /* [cell]: made when first needed */
  idm_gradient **gradient; /* [cell]: the same */
  idm_theta *slope;
  const idm_lane_ops *lane_ops;
  void *lanes;       /* of all cells; NULL: there are none */
  idm_scorer *whole; /* of all cells at once */
  double *all;       /* [cell]: what it said of them */
  double weight[most_anchors];
  idm_status status; /* of the last anchoring */
  idm_error error;
  bool busy;
};

struct idm_cells {
  const idm_problem *problem;
  const idm_data *data;
  const idm_design *design;
  const idm_parameters *parameters;
  idm_prefix_tree *tree;
  idm_data **part;         /* [cell] */
  idm_prefix_tree **trees; /* [cell] */
  size_t judges;
  idm_judge *judge;
  pthread_mutex_t mutex; /* of `busy` */
  size_t axes;           /* of the anchors' product; 0: the middle alone */
  double *middle;        /* [coordinate]: of the anchors' box, and half its sides */
  double *half;
  double node[most_nodes]; /* in (-1, 1) */
};

static void close_judge(idm_judge *j, size_t cells)
{
  for (size_t c = 0; j->scorer && c < cells; c++) idm_scorer_destroy(j->scorer[c]);
  for (size_t c = 0; j->gradient && c < cells; c++) idm_gradient_destroy(j->gradient[c]);
  free(j->scorer);
  free(j->gradient);
  free(j->all);
  if (j->lanes) j->lane_ops->destroy(j->lanes);
  idm_theta_destroy(j->slope);
  idm_scorer_destroy(j->whole);
  idm_workspace_destroy(j->workspace);
  idm_theta_destroy(j->theta);
}

void idm_cells_destroy(idm_cells *cells)
{
  if (!cells) return;
  const size_t n = cells->design->cells;
  for (size_t i = 0; cells->judge && i < cells->judges; i++) close_judge(&cells->judge[i], n);
  free(cells->judge);
  for (size_t c = 0; cells->trees && c < n; c++) idm_prefix_tree_destroy(cells->trees[c]);
  for (size_t c = 0; cells->part && c < n; c++) idm_data_destroy(cells->part[c]);
  free(cells->trees);
  free(cells->part);
  idm_prefix_tree_destroy(cells->tree);
  pthread_mutex_destroy(&cells->mutex);
  free(cells->middle);
  free(cells->half);
  free(cells);
}

/* Trajectories by cell, in the order of the log, and where each cell's begin. */
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

static idm_status split(idm_cells *cells, idm_error *opt_error)
{
  const size_t n = cells->design->cells;
  uint32_t *order;
  size_t *first;
  cells->part = idm_new(n, sizeof *cells->part);
  cells->trees = idm_new(n, sizeof *cells->trees);
  if (!cells->part || !cells->trees) return idm_fail_memory(opt_error);
  idm_status status = sort_trajectories(cells, &order, &first, opt_error);
  for (size_t c = 0; c < n && status == IDM_OK; c++) {
    status = idm_data_part(cells->data, order + first[c], first[c + 1] - first[c], &cells->part[c],
                           opt_error);
    if (status == IDM_OK)
      status = idm_evidence_tree(cells->problem, cells->part[c], &cells->trees[c], opt_error);
  }
  free(order);
  free(first);
  return status;
}

/* Lanes, where the behaviour has them for these logs. */
static idm_status open_lanes(idm_judge *j, idm_error *opt_error)
{
  const idm_cells *cells = j->cells;
  const idm_planner *planner = idm_agent_planner(&cells->problem->agent);
  const idm_slope_ops *slope = planner->behavior ? planner->behavior->slope : NULL;
  if (!slope || !slope->lanes) return IDM_OK;
  j->lane_ops = slope->lanes;
  return j->lane_ops->create(
      idm_workspace_behavior(j->workspace).content, (const idm_data *const *)cells->part,
      (const idm_prefix_tree *const *)cells->trees, cells->design->cells, &j->lanes, opt_error);
}

static idm_status open_judge(idm_cells *cells, idm_judge *j, idm_error *opt_error)
{
  const idm_problem *p = cells->problem;
  j->cells = cells;
  idm_solver_default(&j->solver);
  j->solver.slots = IDM_FROM_NOTHING;
  j->scorer = idm_new(cells->design->cells, sizeof *j->scorer);
  j->gradient = idm_new(cells->design->cells, sizeof *j->gradient);
  j->all = idm_new(cells->design->cells, sizeof *j->all);
  idm_status status = j->scorer && j->gradient && j->all ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_theta_copy(p->theta, &j->theta, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(p->theta, &j->slope, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(p->setting, p->theta, &p->agent, &j->workspace, opt_error);
  if (status == IDM_OK) status = idm_scorer_create(cells->data, cells->tree, &j->whole, opt_error);
  if (status == IDM_OK) status = open_lanes(j, opt_error);
  return status;
}

/* No free number mends what the agent's models hold impossible; where the problem's own values
 * cannot be planned for there is nothing to see. */
static idm_status check_possible(idm_judge *j, idm_error *opt_error)
{
  idm_score score;
  if (idm_plan(j->theta, &j->solver, j->workspace, NULL, NULL) != IDM_OK) return IDM_OK;
  return idm_scorer_run(j->whole, idm_workspace_behavior(j->workspace), &score, opt_error);
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
                       .judges = threads < 1 ? 1 : (size_t)threads};
  pthread_mutex_init(&cells->mutex, NULL);
  cells->judge = idm_new(cells->judges, sizeof *cells->judge);
  cells->middle = idm_new(design->coordinates, sizeof *cells->middle);
  cells->half = idm_new(design->coordinates, sizeof *cells->half);
  idm_status status = cells->judge && cells->middle && cells->half
                          ? idm_evidence_tree(problem, data, &cells->tree, opt_error)
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = split(cells, opt_error);
  for (size_t i = 0; i < cells->judges && status == IDM_OK; i++)
    status = open_judge(cells, &cells->judge[i], opt_error);
  if (status == IDM_OK) status = check_possible(&cells->judge[0], opt_error);
  if (status == IDM_OK)
    *ret_cells = cells;
  else
    idm_cells_destroy(cells);
  return status;
}

idm_judge *idm_cells_borrow(idm_cells *cells)
{
  idm_judge *found = NULL;
  pthread_mutex_lock(&cells->mutex);
  for (size_t i = 0; i < cells->judges && !found; i++)
    if (!cells->judge[i].busy) found = &cells->judge[i];
  if (found) found->busy = true;
  pthread_mutex_unlock(&cells->mutex);
  return found;
}

void idm_cells_return(idm_cells *cells, idm_judge *judge)
{
  pthread_mutex_lock(&cells->mutex);
  judge->busy = false;
  pthread_mutex_unlock(&cells->mutex);
}

/* --- planning ------------------------------------------------------------------------------- */

/* Number i of anchor k. */
static double anchor_at(const idm_cells *cells, size_t k, size_t i)
{
  if (i >= cells->axes) return cells->middle[i];
  const size_t n = nodes_of[cells->axes];
  for (size_t axis = 0; axis < i; axis++) k /= n;
  return cells->middle[i] + cells->half[i] * cells->node[k % n];
}

/* Weights of the anchors at x: products of Lagrange's polynomials. */
static void weigh(idm_judge *j, const double *x)
{
  const idm_cells *cells = j->cells;
  const size_t n = nodes_of[cells->axes];
  size_t count = 1;
  j->weight[0] = 1;
  for (size_t i = 0; i < cells->axes; i++, count *= n) {
    const double t = fmin(fmax((x[i] - cells->middle[i]) / cells->half[i], -1), 1);
    double one[most_nodes] = {0};
    for (size_t k = 0; k < n; k++) {
      one[k] = 1;
      for (size_t l = 0; l < n; l++)
        if (l != k) one[k] *= (t - cells->node[l]) / (cells->node[k] - cells->node[l]);
    }
    for (size_t k = n; k-- > 0;)
      for (size_t l = 0; l < count; l++) j->weight[k * count + l] = j->weight[l] * one[k];
  }
}

/* Put the numbers x into the judge's theta; false where they are none that can be planned for. */
static bool place(idm_judge *j, const double *x)
{
  const idm_parameters *parameters = j->cells->parameters;
  for (size_t i = 0; i < parameters->dimension; i++)
    if (!isfinite(x[i])) return false;
  idm_parameters_set(parameters, x, j->theta);
  return !idm_parameters_are_lost(parameters, j->theta);
}

/* Numbers that cannot be planned for lie outside the support; they are no failure. */
static bool outside(idm_status status)
{
  return status == IDM_NUMERICAL || status == IDM_INPUT;
}

static idm_status plan(idm_judge *j, const double *x, bool *planned, idm_error *opt_error)
{
  idm_error error = {0};
  *planned = false;
  if (!place(j, x)) return IDM_OK;
  if (j->solver.slots > 0) weigh(j, x);
  const idm_status status =
      idm_halt_plan(j->cells->parameters->halt, j->theta, &j->solver, j->workspace, &error);
  *planned = status == IDM_OK;
  if (status == IDM_OK || outside(status)) return IDM_OK;
  if (opt_error) *opt_error = error;
  return status;
}

static void anchor_judge(void *content, size_t index)
{
  idm_cells *cells = content;
  idm_judge *j = &cells->judge[index];
  size_t count = 1;
  for (size_t i = 0; i < cells->axes; i++) count *= nodes_of[cells->axes];
  double x[IDM_MOST_EFFECTS];
  bool planned = true;
  j->status = IDM_OK;
  j->solver.slots = IDM_FROM_NOTHING;
  j->solver.weights = j->weight;
  for (size_t k = 0; k < count && j->status == IDM_OK && planned; k++) {
    for (size_t i = 0; i < cells->design->coordinates; i++) x[i] = anchor_at(cells, k, i);
    j->status = plan(j, x, &planned, &j->error);
    if (j->status == IDM_OK && planned) j->status = idm_workspace_keep(j->workspace, k, &j->error);
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
  cells->axes = n <= most_axes ? n : 0;
  const size_t nodes = nodes_of[cells->axes];
  for (size_t k = 0; k < nodes; k++)
    cells->node[k] = cos(3.14159265358979323846 * ((double)k + 0.5) / (double)nodes);
  const idm_status status =
      idm_parallel(cells->judges, (int)cells->judges, anchor_judge, NULL, cells, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < cells->judges; i++) {
    const idm_judge *j = &cells->judge[i];
    if (j->status == IDM_OK) continue;
    if (opt_error) *opt_error = j->error;
    return j->status;
  }
  return IDM_OK;
}

/* Score what is planned; false where something seen is impossible. */
static idm_status score(idm_judge *j, idm_scorer *scorer, bool *scored, double *log_likelihood,
                        idm_error *opt_error)
{
  idm_error error = {0};
  idm_score result;
  const idm_status status =
      idm_scorer_run(scorer, idm_workspace_behavior(j->workspace), &result, &error);
  *scored = status == IDM_OK;
  if (status == IDM_OK) *log_likelihood = result.log_likelihood;
  if (status == IDM_OK || outside(status)) return IDM_OK;
  if (opt_error) *opt_error = error;
  return status;
}

idm_status idm_judge_cell(idm_judge *j, size_t cell, const double *x, double *log_likelihood,
                          idm_error *opt_error)
{
  bool good;
  *log_likelihood = -INFINITY;
  idm_status status = plan(j, x, &good, opt_error);
  if (status != IDM_OK || !good) return status;
  if (!j->scorer[cell])
    status =
        idm_scorer_create(j->cells->part[cell], j->cells->trees[cell], &j->scorer[cell], opt_error);
  if (status == IDM_OK) status = score(j, j->scorer[cell], &good, log_likelihood, opt_error);
  if (isnan(*log_likelihood)) *log_likelihood = -INFINITY;
  return status;
}

bool idm_cells_slopes(const idm_cells *cells)
{
  const idm_planner *planner = idm_agent_planner(&cells->problem->agent);
  return !planner->belief && !planner->lattice && !planner->search && planner->behavior &&
         planner->behavior->slope &&
         idm_gradient_possible(cells->data, cells->tree, cells->judge[0].workspace);
}

bool idm_cells_lanes(const idm_cells *cells)
{
  return cells->judge[0].lanes && idm_cells_slopes(cells);
}

void idm_judge_slopes(idm_judge *j, const double *x, double *log_likelihood, double *gradient)
{
  const idm_cells *cells = j->cells;
  const size_t n = cells->design->coordinates, count = cells->design->cells;
  memset(gradient, 0, count * n * sizeof *gradient);
  for (size_t c = 0; c < count; c++)
    if (place(j, x + c * n)) j->lane_ops->set(j->lanes, c, j->theta);
  j->lane_ops->run(j->lanes, log_likelihood);
  for (size_t c = 0; c < count; c++) {
    if (!place(j, x + c * n) || isnan(log_likelihood[c])) {
      log_likelihood[c] = -INFINITY;
      continue;
    }
    j->lane_ops->get(j->lanes, c, j->slope);
    idm_parameters_pull(cells->parameters, x + c * n, j->slope, gradient + c * n);
  }
}

idm_status idm_judge_slope(idm_judge *j, size_t cell, const double *x, double *log_likelihood,
                           double *gradient, idm_error *opt_error)
{
  const idm_cells *cells = j->cells;
  bool good;
  *log_likelihood = -INFINITY;
  memset(gradient, 0, cells->design->coordinates * sizeof *gradient);
  idm_status status = plan(j, x, &good, opt_error);
  if (status != IDM_OK || !good) return status;
  if (!j->gradient[cell])
    status = idm_gradient_create(cells->part[cell], cells->trees[cell], j->workspace,
                                 &j->gradient[cell], opt_error);
  if (status == IDM_OK)
    status = idm_gradient_run(j->gradient[cell], log_likelihood, j->slope, opt_error);
  if (status == IDM_OK) idm_parameters_pull(cells->parameters, x, j->slope, gradient);
  if (isnan(*log_likelihood)) *log_likelihood = -INFINITY;
  return status;
}

idm_status idm_judge_all(idm_judge *j, const double *x, const double **log_likelihood,
                         idm_error *opt_error)
{
  const idm_design *d = j->cells->design;
  bool good;
  double total;
  idm_status status = plan(j, x, &good, opt_error);
  if (status == IDM_OK && good) status = score(j, j->whole, &good, &total, opt_error);
  for (size_t c = 0; c < d->cells; c++) j->all[c] = good ? 0 : -INFINITY;
  for (size_t t = 0; good && status == IDM_OK && t < j->cells->data->trajectories; t++)
    j->all[d->cell_of[t]] += idm_scorer_trajectory(j->whole, t);
  *log_likelihood = j->all;
  return status;
}

/* --- leaves --------------------------------------------------------------------------------- */

/* A table under way. */
typedef struct tabulation {
  shared_leaves *shared;
  bool (*stopped)(void *);
  void *stop_context;
} tabulation;

static idm_status fill_column(void *context, const double *x, double *column, idm_error *opt_error)
{
  idm_cells *cells = ((const tabulation *)context)->shared->cells;
  const double *found;
  idm_judge *judge = idm_cells_borrow(cells);
  const idm_status status = idm_judge_all(judge, x, &found, opt_error);
  if (status == IDM_OK) memcpy(column, found, cells->design->cells * sizeof *column);
  idm_cells_return(cells, judge);
  return status;
}

static bool is_stopped(void *context)
{
  const tabulation *t = context;
  return t->stopped(t->stop_context);
}

static idm_status make_grid(tabulation *t, const double *low, const double *high,
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

static idm_status make_polynomials(tabulation *t, const double *low, const double *high,
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

static idm_status tabulate(void *context, const double *low, const double *high, bool wide,
                           bool (*opt_stopped)(void *), void *stop_context, bool *tabled,
                           idm_error *opt_error)
{
  shared_leaves *shared = context;
  tabulation t = {shared, opt_stopped, stop_context};
  const bool few = shared->cells->design->coordinates <= IDM_GRID_DIMENSIONS;
  idm_status status = idm_cells_anchor(shared->cells, low, high, opt_error);
  if (status == IDM_OK && few)
    status = make_grid(&t, low, high, opt_error);
  else if (status == IDM_OK && !wide && !idm_cells_slopes(shared->cells))
    status = make_polynomials(&t, low, high, opt_error);
  *tabled = shared->grid || shared->polynomials;
  return status;
}

static double look_up(const void *context, size_t leaf, const double *x)
{
  const shared_leaves *shared = context;
  return shared->grid ? idm_grid_at(shared->grid, leaf, x)
                      : idm_polynomials_at(shared->polynomials, leaf, x);
}

static idm_status judge_leaf(void *context, const leaf_lane *lane, size_t leaf, const double *x,
                             double *log_likelihood, idm_error *opt_error)
{
  (void)context;
  return idm_judge_cell(lane->judge, leaf, x, log_likelihood, opt_error);
}

static idm_status judge_slope(void *context, const leaf_lane *lane, size_t leaf, const double *x,
                              double *log_likelihood, double *gradient, idm_error *opt_error)
{
  (void)context;
  return idm_judge_slope(lane->judge, leaf, x, log_likelihood, gradient, opt_error);
}

static void *borrow(void *context)
{
  return idm_cells_borrow(((shared_leaves *)context)->cells);
}

static void give_back(void *context, void *judge)
{
  idm_cells_return(((shared_leaves *)context)->cells, judge);
}

static idm_status judge_slopes(void *context, const leaf_lane *lane, const double *x,
                               double *log_likelihood, double *gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  idm_judge_slopes(lane->judge, x, log_likelihood, gradient);
  return IDM_OK;
}

leaf_source idm_shared_source(shared_leaves *shared)
{
  return (leaf_source){.context = shared,
                       .table = look_up,
                       .exact = judge_leaf,
                       .slope = idm_cells_slopes(shared->cells) ? judge_slope : NULL,
                       .slopes = idm_cells_lanes(shared->cells) ? judge_slopes : NULL,
                       .borrow = borrow,
                       .give_back = give_back,
                       .tabulate = tabulate};
}

void idm_shared_destroy(shared_leaves *shared)
{
  idm_grid_destroy(shared->grid);
  idm_polynomials_destroy(shared->polynomials);
  idm_cells_destroy(shared->cells);
  *shared = (shared_leaves){0};
}
