/* Log density of the joint posterior of learnt dynamics and decisions, its gradient and its
 * surrogate (joint.h).
 *
 * Contents: workers · evaluation · starts of plans · the gradient · the surrogate */
#include "invert/joint/joint.h"

#include <math.h>

#include "base/memory.h"
#include "invert/clone.h"
#include "learn/learn.h"
#include "plan/plan.h"
#include "plan/workspace.h"
#include "setting/model.h"

/* --- workers --------------------------------------------------------------------------------- */

struct joint_worker {
  const joint_target *joint;
  idm_problem *fork;      /* with the dynamics and free numbers of the last evaluation */
  idm_dynamics *dynamics; /* of the last evaluation */
  smoother *smoother;
  idm_workspace *workspace; /* shared by all cells: the operator is built once per dynamics */
  idm_scorer **scorer;      /* [cells] */
  /* For the gradient, if all cells have one; else NULL. */
  idm_gradient **derivative; /* [cells] */
  idm_theta *score;          /* of the log-likelihood of a cell, by theta */
  double *sum; /* derivatives by the models' transitions, then emissions, summed over cells */
  double *cell_gradient; /* [free numbers]: of a cell */
  double *scratch;       /* [dimension + free numbers] */
  double *x;             /* [free numbers] */
  /* Solutions at the anchor, [cells], then at a step from it in every coordinate,
   * [dimension][cells]: plans start from their linear surface, in natural coordinates. */
  double *weight; /* [1 + dimension][cells] */
  double *anchor; /* [dimension] */
  double *step;   /* [dimension]: size of a step */
  double
      *surface_steps; /* [dimension]: position of the last evaluation, in steps from the anchor */
  bool anchored;
  bool has_surface;           /* the solutions at the steps are stored */
  const joint_normal *normal; /* borrowed: approximation for the surrogate */
  double *offset;             /* [dimension] */
};

void idm_joint_worker_destroy(joint_worker *worker)
{
  if (!worker) return;
  for (size_t c = 0; worker->scorer && c < worker->joint->cells; c++)
    idm_scorer_destroy(worker->scorer[c]);
  for (size_t c = 0; worker->derivative && c < worker->joint->cells; c++)
    idm_gradient_destroy(worker->derivative[c]);
  free(worker->scorer);
  free(worker->derivative);
  idm_theta_destroy(worker->score);
  free(worker->sum);
  free(worker->cell_gradient);
  free(worker->scratch);
  idm_workspace_destroy(worker->workspace);
  smoother_destroy(worker->smoother);
  idm_dynamics_destroy(worker->dynamics);
  idm_clone_destroy(worker->fork);
  free(worker->x);
  free(worker->weight);
  free(worker->anchor);
  free(worker->offset);
  free(worker);
}

const joint_target *idm_joint_worker_target(const joint_worker *worker)
{
  return worker->joint;
}

static bool is_cancelled(void *context)
{
  const joint_worker *worker = context;
  return idm_cancel_check(worker->joint->cancel, NULL) != IDM_OK;
}

/* Number of entries of the models' transitions and emissions. */
static size_t model_numbers(const idm_theta *theta)
{
  return theta->block[IDM_TRANSITION].size + theta->block[IDM_EMISSION].size;
}

bool idm_joint_has_gradient(const joint_worker *worker)
{
  return worker->derivative != NULL;
}

/* Create the gradients of the cells, or none if some cell has none. */
static idm_status create_gradients(joint_worker *worker, idm_error *opt_error)
{
  const joint_target *j = worker->joint;
  for (size_t c = 0; c < j->cells; c++) {
    const fit_context *f = &j->cell[c];
    if (!idm_gradient_possible(f->segments ? f->segments : f->data,
                               f->segments ? f->segment_tree : f->tree, worker->workspace))
      return IDM_OK;
  }
  worker->derivative = idm_new(j->cells, sizeof *worker->derivative);
  worker->sum = idm_new(model_numbers(worker->fork->theta), sizeof *worker->sum);
  worker->cell_gradient = idm_new(j->cell[0].parameters->dimension, sizeof *worker->cell_gradient);
  worker->scratch =
      idm_new(j->dimension + j->cell[0].parameters->dimension + worker->dynamics->sizes.states,
              sizeof *worker->scratch);
  idm_status status = worker->derivative && worker->sum && worker->cell_gradient && worker->scratch
                          ? IDM_OK
                          : idm_fail_memory(opt_error);
  for (size_t c = 0; c < j->cells && status == IDM_OK; c++) {
    const fit_context *f = &j->cell[c];
    status = idm_gradient_create(f->segments ? f->segments : f->data,
                                 f->segments ? f->segment_tree : f->tree, worker->workspace,
                                 &worker->derivative[c], opt_error);
    if (status == IDM_OK) idm_gradient_interrupt(worker->derivative[c], is_cancelled, worker);
  }
  return status;
}

/* Mark the models as free, so that a workspace created for this theta computes derivatives by them.
 */
static void mark_models_free(idm_theta *theta)
{
  theta->block[IDM_TRANSITION].role = theta->block[IDM_EMISSION].role = IDM_DESCRIPTIVE;
}

static idm_status worker_init(joint_worker *worker, idm_error *opt_error)
{
  const joint_target *j = worker->joint;
  worker->scorer = idm_new(j->cells, sizeof *worker->scorer);
  worker->weight = idm_new(idm_times(1 + j->dimension, j->cells), sizeof *worker->weight);
  worker->anchor = idm_new(3 * j->dimension, sizeof *worker->anchor);
  worker->x = idm_new(j->cell[0].parameters->dimension, sizeof *worker->x);
  worker->offset = idm_new(j->dimension, sizeof *worker->offset);
  idm_status status =
      worker->scorer && worker->weight && worker->anchor && worker->x && worker->offset
          ? IDM_OK
          : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    worker->step = worker->anchor + j->dimension;
    worker->surface_steps = worker->step + j->dimension;
  }
  if (status == IDM_OK) status = idm_problem_clone(j->problem, &worker->fork, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(worker->fork->theta, &worker->score, opt_error);
  if (status == IDM_OK) mark_models_free(worker->score);
  if (status == IDM_OK) status = idm_problem_dynamics(j->cut->learnt, &worker->dynamics, opt_error);
  if (status == IDM_OK) status = smoother_create(j->learner, &worker->smoother, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(worker->fork->setting, worker->score, &worker->fork->agent,
                                  &worker->workspace, opt_error);
  for (size_t c = 0; c < j->cells && status == IDM_OK; c++) {
    const fit_context *f = &j->cell[c];
    status =
        idm_scorer_create(f->segments ? f->segments : f->data,
                          f->segments ? f->segment_tree : f->tree, &worker->scorer[c], opt_error);
    if (status == IDM_OK) idm_scorer_interrupt(worker->scorer[c], is_cancelled, worker);
  }
  return status == IDM_OK ? create_gradients(worker, opt_error) : status;
}

idm_status idm_joint_worker_create(const joint_target *j, joint_worker **ret_worker,
                                   idm_error *opt_error)
{
  *ret_worker = NULL;
  joint_worker *worker = idm_new(1, sizeof *worker);
  if (!worker) return idm_fail_memory(opt_error);
  worker->joint = j;
  const idm_status status = worker_init(worker, opt_error);
  if (status == IDM_OK)
    *ret_worker = worker;
  else
    idm_joint_worker_destroy(worker);
  return status;
}

/* --- evaluation ----------------------------------------------------------------------------- */

/* Numbers for which planning fails, and impossible decisions, are outside of the support. */
static bool outside_support(idm_status status)
{
  return status == IDM_NUMERICAL || status == IDM_INPUT;
}

/* Convert v to natural coordinates (n in place of w). */
static void to_natural(const joint_target *j, const double *v, double *natural)
{
  const joint_parameters *n = j->numbers;
  memcpy(natural, v, j->dimension * sizeof *natural);
  if (n->natural) n->natural(n->context, v + j->ratios, natural + j->ratios);
}

/* Compute the position of v in steps from the anchor, limited to the range in which solutions are
 * about linear. */
static void locate_on_surface(joint_worker *worker, const double *v)
{
  static const double max_steps = 4; /* largest distance, in steps */
  const size_t d = worker->joint->dimension;
  if (!worker->has_surface) return;
  to_natural(worker->joint, v, worker->surface_steps);
  for (size_t i = 0; i < d; i++)
    worker->surface_steps[i] =
        fmin(fmax((worker->surface_steps[i] - worker->anchor[i]) / worker->step[i], -max_steps),
             max_steps);
}

/* Set the weights of the stored solutions from which the plan of a cell starts; returns the number
 * of slots. */
static int set_slot_weights(joint_worker *worker, size_t cell)
{
  const size_t cells = worker->joint->cells, d = worker->has_surface ? worker->joint->dimension : 0;
  memset(worker->weight, 0, (1 + d) * cells * sizeof *worker->weight);
  worker->weight[cell] = 1;
  for (size_t i = 0; i < d; i++) {
    worker->weight[(1 + i) * cells + cell] = worker->surface_steps[i];
    worker->weight[cell] -= worker->surface_steps[i];
  }
  return worker->anchored ? (int)((1 + d) * cells) : IDM_START_COLD;
}

/* Plan for a cell in the dynamics of the worker; *planned is false outside of the support. */
static idm_status plan(joint_worker *worker, size_t cell, const double *w, bool precondition,
                       bool *planned, idm_error *opt_error)
{
  const joint_target *j = worker->joint;
  const idm_parameters *p = j->cell[cell].parameters;
  idm_solver solver;
  idm_error error = {0};
  *planned = false;
  j->numbers->cell_parameters(j->numbers->context, cell, w, worker->x);
  for (size_t i = 0; i < p->dimension; i++)
    if (!isfinite(worker->x[i])) return IDM_OK;
  idm_parameters_set(p, worker->x, worker->fork->theta);
  if (idm_parameters_degenerate(p, worker->fork->theta)) return IDM_OK;
  idm_solver_default(&solver);
  solver.slots = set_slot_weights(worker, cell);
  solver.weights = worker->weight;
  solver.precondition = precondition;
  const idm_status status =
      idm_cancel_plan(j->cancel, worker->fork->theta, &solver, worker->workspace, &error);
  *planned = status == IDM_OK;
  if (status == IDM_OK || outside_support(status)) return IDM_OK;
  if (opt_error) *opt_error = error;
  return status;
}

static idm_status score_cell(joint_worker *worker, size_t cell, const double *w,
                             double *log_likelihood, idm_error *opt_error)
{
  idm_error error = {0};
  idm_score score;
  bool planned;
  *log_likelihood = -INFINITY;
  idm_status status = plan(worker, cell, w, true, &planned, opt_error);
  if (status != IDM_OK || !planned) return status;
  status = idm_scorer_run(worker->scorer[cell], idm_workspace_behavior(worker->workspace), &score,
                          &error);
  if (status == IDM_OK) *log_likelihood = score.log_likelihood;
  if (status == IDM_OK || outside_support(status)) return IDM_OK;
  if (opt_error) *opt_error = error;
  return status;
}

/* Add the log-likelihoods of the trajectories of the last score to their groups; *at is the index
 * of the next trajectory. */
static void add_groups(const joint_worker *worker, size_t cell, double *group, size_t groups,
                       size_t *at)
{
  const fit_context *f = &worker->joint->cell[cell];
  const size_t count = (f->segments ? f->segments : f->data)->trajectories;
  for (size_t t = 0; t < count; t++, ++*at)
    group[*at % groups] += idm_scorer_trajectory(worker->scorer[cell], t);
}

/* Log density without the decisions; -inf if something is impossible. The dynamics of v are left in
 * the worker. */
static double evaluate_without_plan(joint_worker *worker, const double *v)
{
  const joint_target *j = worker->joint;
  const structure *s = j->learner->structure;
  for (size_t i = 0; i < j->ratios; i++)
    if (!isfinite(v[i])) return -INFINITY;
  double sum = j->numbers->log_prior(j->numbers->context, v + j->ratios);
  ratio_set(s, v, worker->dynamics->start);
  sum += ratio_log_prior(s, j->cut->draws->prior, worker->dynamics->start);
  if (isfinite(sum)) sum += smoother_forward(worker->smoother, worker->dynamics, false, NULL);
  return isfinite(sum) ? sum : -INFINITY;
}

idm_status idm_joint_evaluate(joint_worker *worker, const double *v, double *log_density,
                              double *opt_group, size_t groups, idm_error *opt_error)
{
  const joint_target *j = worker->joint;
  const double *w = v + j->ratios;
  size_t at = 0;
  *log_density = -INFINITY;
  if (opt_group) memset(opt_group, 0, groups * sizeof *opt_group);
  idm_status status = idm_cancel_check(j->cancel, opt_error);
  if (status != IDM_OK) return status;
  double sum = evaluate_without_plan(worker, v);
  if (!isfinite(sum)) return IDM_OK;
  status = idm_problem_set_dynamics(worker->fork, worker->dynamics, opt_error);
  locate_on_surface(worker, v);
  for (size_t c = 0; c < j->cells && status == IDM_OK; c++) {
    double cell_log_likelihood;
    status = score_cell(worker, c, w, &cell_log_likelihood, opt_error);
    sum += cell_log_likelihood;
    if (status != IDM_OK || !isfinite(sum)) return status;
    if (opt_group) add_groups(worker, c, opt_group, groups, &at);
  }
  *log_density = sum;
  return status;
}

/* --- starts of plans ------------------------------------------------------------------------ */

/* Plan for every cell at v, and store the solutions from slot `first` on. */
static idm_status keep_solutions(joint_worker *worker, const double *v, size_t first, bool *planned,
                                 idm_error *opt_error)
{
  const joint_target *j = worker->joint;
  ratio_set(j->learner->structure, v, worker->dynamics->start);
  idm_status status = idm_problem_set_dynamics(worker->fork, worker->dynamics, opt_error);
  *planned = true;
  for (size_t c = 0; c < j->cells && status == IDM_OK && *planned; c++) {
    status = plan(worker, c, v + j->ratios, first == 0, planned, opt_error);
    if (status == IDM_OK && *planned)
      status = idm_workspace_store(worker->workspace, first + c, opt_error);
  }
  return status;
}

idm_status idm_joint_anchor(joint_worker *worker, const double *v, idm_error *opt_error)
{
  bool planned;
  worker->anchored = worker->has_surface = false;
  const idm_status status = keep_solutions(worker, v, 0, &planned, opt_error);
  worker->anchored = status == IDM_OK && planned;
  return status;
}

idm_status idm_joint_surface(joint_worker *worker, const double *mode, const double *covariance,
                             idm_error *opt_error)
{
  enum { max_numbers = 500000 };  /* of all solutions: storing more costs more than it saves */
  static const double size = 0.5; /* of a step, in sds */
  const joint_target *j = worker->joint;
  const size_t d = j->dimension;
  double *v = worker->offset;
  idm_joint_inverse(j, mode, v);
  idm_status status = idm_joint_anchor(worker, v, opt_error);
  const size_t numbers =
      idm_times(idm_times(1 + d, j->cells), idm_workspace_points(worker->workspace));
  bool planned = worker->anchored && numbers <= max_numbers;
  memcpy(worker->anchor, mode, d * sizeof *mode);
  for (size_t i = 0; i < d && status == IDM_OK && planned; i++) {
    worker->step[i] = size * sqrt(covariance[i * (d + 1)]);
    memcpy(worker->surface_steps, mode, d * sizeof *mode);
    worker->surface_steps[i] += worker->step[i];
    idm_joint_inverse(j, worker->surface_steps, v);
    status = keep_solutions(worker, v, (1 + i) * j->cells, &planned, opt_error);
  }
  worker->has_surface = status == IDM_OK && planned;
  return status;
}

/* --- the gradient --------------------------------------------------------------------------- */

/* Step of finite differences of cheap functions: ratios and numbers have units of about 1. */
static const double difference_step = 1e-6;

/* Add the derivative of a cell by the log-ratios of the start, which is not part of theta. If it is
 * not available, it is left out: trajectories of the sampler stay valid, but are rejected more
 * often. */
static void add_start_gradient(joint_worker *worker, size_t cell, double *gradient)
{
  const structure *s = worker->joint->learner->structure;
  const size_t states = s->sizes.states;
  const double *start = worker->dynamics->start;
  double *score = worker->scratch, mean = 0;
  if (!structure_is_free(s, 0) || !idm_gradient_by_start(worker->derivative[cell], score)) return;
  for (size_t i = 0; i < states; i++) mean += start[i] * score[i];
  const size_t count = ratio_count_row(s, 0);
  for (size_t i = 0, k = 0; k < count; i++)
    if (s->possible[i]) gradient[k++] += start[i] * (score[i] - mean);
}

/* Add the derivative of a cell by w, through its free numbers. */
static void add_parameter_gradient(joint_worker *worker, size_t cell, const double *w,
                                   double *gradient)
{
  const joint_parameters *n = worker->joint->numbers;
  const idm_parameters *p = worker->joint->cell[cell].parameters;
  double *displaced = worker->scratch, *x = worker->scratch + n->count;
  memset(worker->cell_gradient, 0, p->dimension * sizeof *worker->cell_gradient);
  idm_parameters_backward(p, worker->x, worker->score, worker->cell_gradient);
  memcpy(displaced, w, n->count * sizeof *w);
  for (size_t i = 0; i < n->count; i++) {
    for (int sides = -1; sides <= 1; sides += 2) {
      displaced[i] = w[i] + sides * difference_step;
      n->cell_parameters(n->context, cell, displaced, x);
      for (size_t k = 0; k < p->dimension; k++)
        gradient[i] += sides * worker->cell_gradient[k] * x[k] / (2 * difference_step);
    }
    displaced[i] = w[i];
  }
}

/* Plan and score a cell, and add its derivatives; those by the models to worker->sum. */
static idm_status differentiate_cell(joint_worker *worker, size_t cell, const double *v,
                                     double *log_likelihood, double *gradient, idm_error *opt_error)
{
  const joint_target *j = worker->joint;
  idm_error error = {0};
  bool planned;
  *log_likelihood = -INFINITY;
  idm_status status = plan(worker, cell, v + j->ratios, true, &planned, opt_error);
  if (status != IDM_OK || !planned) return status;
  status = idm_gradient_run(worker->derivative[cell], log_likelihood, worker->score, &error);
  if (outside_support(status)) {
    *log_likelihood = -INFINITY;
    return IDM_OK;
  }
  if (status != IDM_OK && opt_error) *opt_error = error;
  if (status != IDM_OK || !isfinite(*log_likelihood)) return status;
  const idm_block *transitions = &worker->score->block[IDM_TRANSITION];
  const idm_block *emissions = &worker->score->block[IDM_EMISSION];
  for (size_t i = 0; i < transitions->size; i++) worker->sum[i] += transitions->value[i];
  for (size_t i = 0; i < emissions->size; i++)
    worker->sum[transitions->size + i] += emissions->value[i];
  add_parameter_gradient(worker, cell, v + j->ratios, gradient + j->ratios);
  add_start_gradient(worker, cell, gradient);
  return IDM_OK;
}

/* Add the derivative through the models, by differences of the models as functions of the
 * log-ratios. */
static idm_status add_model_gradient(joint_worker *worker, const double *v, double *gradient,
                                     idm_error *opt_error)
{
  const joint_target *j = worker->joint;
  const idm_block *transitions = &worker->fork->theta->block[IDM_TRANSITION];
  const idm_block *emissions = &worker->fork->theta->block[IDM_EMISSION];
  idm_status status = IDM_OK;
  memcpy(worker->scratch, v, j->ratios * sizeof *v);
  for (size_t i = 0; i < j->ratios && status == IDM_OK; i++) {
    double sides[2] = {0, 0};
    for (int k = 0; k < 2 && status == IDM_OK; k++) {
      worker->scratch[i] = v[i] + (k ? difference_step : -difference_step);
      ratio_set(j->learner->structure, worker->scratch, worker->dynamics->start);
      status = idm_problem_set_dynamics(worker->fork, worker->dynamics, opt_error);
      for (size_t a = 0; a < transitions->size; a++)
        sides[k] += worker->sum[a] * transitions->value[a];
      for (size_t a = 0; a < emissions->size; a++)
        sides[k] += worker->sum[transitions->size + a] * emissions->value[a];
    }
    gradient[i] += (sides[1] - sides[0]) / (2 * difference_step);
    worker->scratch[i] = v[i];
  }
  ratio_set(j->learner->structure, v, worker->dynamics->start);
  return status;
}

/* Compute the gradient without the decisions, after evaluate_without_plan. */
static void gradient_without_plan(joint_worker *worker, const double *v, double *gradient)
{
  const joint_target *j = worker->joint;
  const joint_parameters *n = j->numbers;
  double *w = worker->scratch;
  smoother_backward(worker->smoother, worker->dynamics);
  ratio_gradient(j->learner->structure, j->cut->draws->prior, worker->smoother->counts,
                 worker->dynamics->start, gradient);
  memcpy(w, v + j->ratios, n->count * sizeof *w);
  for (size_t i = 0; i < n->count; i++) {
    double sides[2];
    for (int k = 0; k < 2; k++) {
      w[i] = v[j->ratios + i] + (k ? difference_step : -difference_step);
      sides[k] = n->log_prior(n->context, w);
    }
    gradient[j->ratios + i] = (sides[1] - sides[0]) / (2 * difference_step);
    w[i] = v[j->ratios + i];
  }
}

/* Compute the log density and its gradient. */
static idm_status differentiate(joint_worker *worker, const double *v, double *log_density,
                                double *gradient, idm_error *opt_error)
{
  const joint_target *j = worker->joint;
  *log_density = -INFINITY;
  memset(gradient, 0, j->dimension * sizeof *gradient);
  idm_status status = idm_cancel_check(j->cancel, opt_error);
  if (status != IDM_OK) return status;
  double sum = evaluate_without_plan(worker, v);
  if (!isfinite(sum)) return IDM_OK;
  gradient_without_plan(worker, v, gradient);
  status = idm_problem_set_dynamics(worker->fork, worker->dynamics, opt_error);
  locate_on_surface(worker, v);
  memset(worker->sum, 0, model_numbers(worker->fork->theta) * sizeof *worker->sum);
  for (size_t c = 0; c < j->cells && status == IDM_OK; c++) {
    double cell_log_likelihood;
    status = differentiate_cell(worker, c, v, &cell_log_likelihood, gradient, opt_error);
    sum += cell_log_likelihood;
    if (status != IDM_OK || !isfinite(sum)) return status;
  }
  if (status == IDM_OK) status = add_model_gradient(worker, v, gradient, opt_error);
  for (size_t i = 0; i < j->dimension; i++)
    if (!isfinite(gradient[i])) gradient[i] = 0; /* as for a part that is not available */
  *log_density = sum;
  return status;
}

static idm_status evaluate(void *context, const double *v, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  if (opt_gradient) return differentiate(context, v, log_density, opt_gradient, opt_error);
  return idm_joint_evaluate(context, v, log_density, NULL, 0, opt_error);
}

/* --- the surrogate -------------------------------------------------------------------------- */

void idm_joint_normal_clear(joint_normal *normal)
{
  free(normal->mode);
  free(normal->covariance);
  free(normal->score);
  free(normal->information);
  *normal = (joint_normal){0};
}

idm_status idm_joint_normal_create(size_t dimension, joint_normal *normal, idm_error *opt_error)
{
  const size_t square = idm_times(dimension, dimension);
  *normal = (joint_normal){.log_density = -INFINITY};
  normal->mode = idm_new(dimension, sizeof *normal->mode);
  normal->covariance = idm_new(square, sizeof *normal->covariance);
  normal->score = idm_new(dimension, sizeof *normal->score);
  normal->information = idm_new(square, sizeof *normal->information);
  return normal->mode && normal->covariance && normal->score && normal->information
             ? IDM_OK
             : idm_fail_memory(opt_error);
}

void idm_joint_normal_copy(size_t dimension, const joint_normal *from, joint_normal *to)
{
  const size_t bytes = dimension * sizeof(double);
  to->log_density = from->log_density;
  memcpy(to->mode, from->mode, bytes);
  memcpy(to->score, from->score, bytes);
  memcpy(to->covariance, from->covariance, dimension * bytes);
  memcpy(to->information, from->information, dimension * bytes);
}

void idm_joint_inverse(const joint_target *j, const double *natural, double *v)
{
  const joint_parameters *n = j->numbers;
  memcpy(v, natural, j->dimension * sizeof *v);
  if (n->inverse) n->inverse(n->context, natural + j->ratios, v + j->ratios);
}

double idm_joint_surrogate(void *context, const double *v)
{
  joint_worker *worker = context;
  const joint_normal *normal = worker->normal;
  const size_t d = worker->joint->dimension;
  double sum = evaluate_without_plan(worker, v);
  if (!isfinite(sum)) return sum;
  to_natural(worker->joint, v, worker->offset);
  for (size_t i = 0; i < d; i++) worker->offset[i] -= normal->mode[i];
  double square = 0;
  for (size_t i = 0; i < d; i++) {
    double product = 0;
    for (size_t k = 0; k < d; k++) product += normal->information[i * d + k] * worker->offset[k];
    sum += worker->offset[i] * normal->score[i];
    square += worker->offset[i] * product;
  }
  /* Tails of a t distribution: with normal tails, chains would get stuck where the target is wider
   * than its approximation. */
  sum -= 0.5 * (double)d * log1p(square / (double)d);
  return sum;
}

idm_target idm_joint_target(joint_worker *worker, const joint_normal *normal)
{
  worker->normal = normal;
  return (idm_target){.dimension = worker->joint->dimension,
                      .gradient = worker->derivative != NULL,
                      .context = worker,
                      .evaluate = evaluate};
}
