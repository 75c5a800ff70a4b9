/* The joint posterior of learnt dynamics and of the numbers behind decisions: see the header.
 *
 * Contents: lanes · evaluation · starts of plans · the gradient · the surrogate */
#include "invert/joint/target.h"

#include <math.h>

#include "base/memory.h"
#include "invert/fork.h"
#include "learn/ratio.h"
#include "plan/score.h"

/* --- lanes ---------------------------------------------------------------------------------- */

struct joint_lane {
  const joint *joint;
  idm_problem *fork;      /* with the dynamics and free numbers of the last evaluation */
  idm_dynamics *dynamics; /* of the last evaluation */
  pass *pass;
  idm_workspace *workspace; /* of all cells: the operator is built once per dynamics */
  idm_scorer **scorer;      /* [cells] */
  /* Of the gradient, where all cells have one. */
  idm_gradient **derivative; /* [cells] */
  idm_theta *slope;          /* of the log-likelihood of a cell, by theta */
  double *sum;  /* of the slopes by the models' transitions, then emissions, over cells */
  double *pull; /* [free numbers]: of a cell, by its free numbers */
  double *near; /* [dimension + free numbers] */
  double *x;    /* [free numbers] */
  /* Solutions at the anchor, [cells], then at a step from it in every coordinate,
   * [dimension][cells]: a plan starts from their linear surface, in natural coordinates. */
  double *weight; /* [1 + dimension][cells] */
  double *anchor; /* [dimension] */
  double *step;   /* [dimension] */
  double *far;    /* [dimension]: steps of the last evaluation from the anchor */
  bool anchored;
  bool surfaced;          /* the steps are taken */
  const joint_peak *peak; /* of the surrogate; borrowed */
  double *away;           /* [dimension] */
};

void idm_joint_lane_destroy(joint_lane *lane)
{
  if (!lane) return;
  for (size_t c = 0; lane->scorer && c < lane->joint->cells; c++)
    idm_scorer_destroy(lane->scorer[c]);
  for (size_t c = 0; lane->derivative && c < lane->joint->cells; c++)
    idm_gradient_destroy(lane->derivative[c]);
  free(lane->scorer);
  free(lane->derivative);
  idm_theta_destroy(lane->slope);
  free(lane->sum);
  free(lane->pull);
  free(lane->near);
  idm_workspace_destroy(lane->workspace);
  pass_destroy(lane->pass);
  idm_dynamics_destroy(lane->dynamics);
  idm_fork_destroy(lane->fork);
  free(lane->x);
  free(lane->weight);
  free(lane->anchor);
  free(lane->away);
  free(lane);
}

const joint *idm_joint_of(const joint_lane *lane)
{
  return lane->joint;
}

static bool is_unwanted(void *context)
{
  const joint_lane *lane = context;
  return idm_halt_check(lane->joint->halt, NULL) != IDM_OK;
}

/* Numbers of the models' transitions and emissions. */
static size_t count_models(const idm_theta *theta)
{
  return theta->block[IDM_TRANSITION].size + theta->block[IDM_EMISSION].size;
}

bool idm_joint_has_gradient(const joint_lane *lane)
{
  return lane->derivative != NULL;
}

/* Derivatives of the cells; none where some cell has none. */
static idm_status fill_gradient(joint_lane *lane, idm_error *opt_error)
{
  const joint *j = lane->joint;
  for (size_t c = 0; c < j->cells; c++) {
    const fit *f = &j->cell[c];
    if (!idm_gradient_possible(f->cut ? f->cut : f->data, f->cut ? f->cut_tree : f->tree,
                               lane->workspace))
      return IDM_OK;
  }
  lane->derivative = idm_new(j->cells, sizeof *lane->derivative);
  lane->sum = idm_new(count_models(lane->fork->theta), sizeof *lane->sum);
  lane->pull = idm_new(j->cell[0].parameters->dimension, sizeof *lane->pull);
  lane->near =
      idm_new(j->dimension + j->cell[0].parameters->dimension + lane->dynamics->sizes.states,
              sizeof *lane->near);
  idm_status status = lane->derivative && lane->sum && lane->pull && lane->near
                          ? IDM_OK
                          : idm_fail_memory(opt_error);
  for (size_t c = 0; c < j->cells && status == IDM_OK; c++) {
    const fit *f = &j->cell[c];
    status = idm_gradient_create(f->cut ? f->cut : f->data, f->cut ? f->cut_tree : f->tree,
                                 lane->workspace, &lane->derivative[c], opt_error);
    if (status == IDM_OK) idm_gradient_interrupt(lane->derivative[c], is_unwanted, lane);
  }
  return status;
}

/* Derivatives by the models are among those of a workspace made for such a theta. */
static void free_models(idm_theta *theta)
{
  theta->block[IDM_TRANSITION].role = theta->block[IDM_EMISSION].role = IDM_DESCRIPTIVE;
}

static idm_status fill(joint_lane *lane, idm_error *opt_error)
{
  const joint *j = lane->joint;
  lane->scorer = idm_new(j->cells, sizeof *lane->scorer);
  lane->weight = idm_new(idm_times(1 + j->dimension, j->cells), sizeof *lane->weight);
  lane->anchor = idm_new(3 * j->dimension, sizeof *lane->anchor);
  lane->x = idm_new(j->cell[0].parameters->dimension, sizeof *lane->x);
  lane->away = idm_new(j->dimension, sizeof *lane->away);
  idm_status status = lane->scorer && lane->weight && lane->anchor && lane->x && lane->away
                          ? IDM_OK
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    lane->step = lane->anchor + j->dimension;
    lane->far = lane->step + j->dimension;
  }
  if (status == IDM_OK) status = idm_problem_fork(j->problem, &lane->fork, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(lane->fork->theta, &lane->slope, opt_error);
  if (status == IDM_OK) free_models(lane->slope);
  if (status == IDM_OK) status = idm_problem_dynamics(j->cut->learnt, &lane->dynamics, opt_error);
  if (status == IDM_OK) status = pass_create(j->learner, &lane->pass, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(lane->fork->setting, lane->slope, &lane->fork->agent,
                                  &lane->workspace, opt_error);
  for (size_t c = 0; c < j->cells && status == IDM_OK; c++) {
    const fit *f = &j->cell[c];
    status = idm_scorer_create(f->cut ? f->cut : f->data, f->cut ? f->cut_tree : f->tree,
                               &lane->scorer[c], opt_error);
    if (status == IDM_OK) idm_scorer_interrupt(lane->scorer[c], is_unwanted, lane);
  }
  return status == IDM_OK ? fill_gradient(lane, opt_error) : status;
}

idm_status idm_joint_lane_create(const joint *j, joint_lane **ret_lane, idm_error *opt_error)
{
  *ret_lane = NULL;
  joint_lane *lane = idm_new(1, sizeof *lane);
  if (!lane) return idm_fail_memory(opt_error);
  lane->joint = j;
  const idm_status status = fill(lane, opt_error);
  if (status == IDM_OK)
    *ret_lane = lane;
  else
    idm_joint_lane_destroy(lane);
  return status;
}

/* --- evaluation ----------------------------------------------------------------------------- */

/* Numbers that cannot be planned for, and decisions that are impossible, are outside of the
 * support. */
static bool is_outside(idm_status status)
{
  return status == IDM_NUMERICAL || status == IDM_INPUT;
}

/* Where v lies on the surface of solutions: steps from the anchor, none longer than solutions are
 * about linear. */
static void place_on_surface(joint_lane *lane, const double *v)
{
  static const double most = 4; /* steps */
  const size_t d = lane->joint->dimension;
  if (!lane->surfaced) return;
  idm_joint_natural(lane->joint, v, lane->far);
  for (size_t i = 0; i < d; i++)
    lane->far[i] = fmin(fmax((lane->far[i] - lane->anchor[i]) / lane->step[i], -most), most);
}

/* The solutions that the plan of a cell starts from; returns how many slots there are. */
static int weigh_slots(joint_lane *lane, size_t cell)
{
  const size_t cells = lane->joint->cells, d = lane->surfaced ? lane->joint->dimension : 0;
  memset(lane->weight, 0, (1 + d) * cells * sizeof *lane->weight);
  lane->weight[cell] = 1;
  for (size_t i = 0; i < d; i++) {
    lane->weight[(1 + i) * cells + cell] = lane->far[i];
    lane->weight[cell] -= lane->far[i];
  }
  return lane->anchored ? (int)((1 + d) * cells) : IDM_FROM_NOTHING;
}

/* Plan for a cell in the dynamics of the lane; *planned is false outside of the support. */
static idm_status plan(joint_lane *lane, size_t cell, const double *w, bool precondition,
                       bool *planned, idm_error *opt_error)
{
  const joint *j = lane->joint;
  const idm_parameters *p = j->cell[cell].parameters;
  idm_solver solver;
  idm_error error = {0};
  *planned = false;
  j->numbers->place(j->numbers->context, cell, w, lane->x);
  for (size_t i = 0; i < p->dimension; i++)
    if (!isfinite(lane->x[i])) return IDM_OK;
  idm_parameters_set(p, lane->x, lane->fork->theta);
  if (idm_parameters_are_lost(p, lane->fork->theta)) return IDM_OK;
  idm_solver_default(&solver);
  solver.slots = weigh_slots(lane, cell);
  solver.weights = lane->weight;
  solver.precondition = precondition;
  const idm_status status =
      idm_halt_plan(j->halt, lane->fork->theta, &solver, lane->workspace, &error);
  *planned = status == IDM_OK;
  if (status == IDM_OK || is_outside(status)) return IDM_OK;
  if (opt_error) *opt_error = error;
  return status;
}

static idm_status score_cell(joint_lane *lane, size_t cell, const double *w, double *log_likelihood,
                             idm_error *opt_error)
{
  idm_error error = {0};
  idm_score score;
  bool planned;
  *log_likelihood = -INFINITY;
  idm_status status = plan(lane, cell, w, true, &planned, opt_error);
  if (status != IDM_OK || !planned) return status;
  status =
      idm_scorer_run(lane->scorer[cell], idm_workspace_behavior(lane->workspace), &score, &error);
  if (status == IDM_OK) *log_likelihood = score.log_likelihood;
  if (status == IDM_OK || is_outside(status)) return IDM_OK;
  if (opt_error) *opt_error = error;
  return status;
}

/* Add the log-likelihoods of the trajectories of the last score, the next of which is *at. */
static void add_parts(const joint_lane *lane, size_t cell, double *part, size_t parts, size_t *at)
{
  const fit *f = &lane->joint->cell[cell];
  const size_t count = (f->cut ? f->cut : f->data)->trajectories;
  for (size_t t = 0; t < count; t++, ++*at)
    part[*at % parts] += idm_scorer_trajectory(lane->scorer[cell], t);
}

/* All but the decisions: -inf where something is impossible. The dynamics of v are left in the
 * lane. */
static double evaluate_cheaply(joint_lane *lane, const double *v)
{
  const joint *j = lane->joint;
  const structure *s = j->learner->structure;
  for (size_t i = 0; i < j->ratios; i++)
    if (!isfinite(v[i])) return -INFINITY;
  double sum = j->numbers->log_prior(j->numbers->context, v + j->ratios);
  ratio_set(s, v, lane->dynamics->start);
  sum += ratio_log_prior(s, j->cut->draws->prior, lane->dynamics->start);
  if (isfinite(sum)) sum += pass_forward(lane->pass, lane->dynamics, false, NULL);
  return isfinite(sum) ? sum : -INFINITY;
}

idm_status idm_joint_evaluate(joint_lane *lane, const double *v, double *log_density,
                              double *opt_part, size_t parts, idm_error *opt_error)
{
  const joint *j = lane->joint;
  const double *w = v + j->ratios;
  size_t at = 0;
  *log_density = -INFINITY;
  if (opt_part) memset(opt_part, 0, parts * sizeof *opt_part);
  idm_status status = idm_halt_check(j->halt, opt_error);
  if (status != IDM_OK) return status;
  double sum = evaluate_cheaply(lane, v);
  if (!isfinite(sum)) return IDM_OK;
  status = idm_problem_put_dynamics(lane->fork, lane->dynamics, opt_error);
  place_on_surface(lane, v);
  for (size_t c = 0; c < j->cells && status == IDM_OK; c++) {
    double own;
    status = score_cell(lane, c, w, &own, opt_error);
    sum += own;
    if (status != IDM_OK || !isfinite(sum)) return status;
    if (opt_part) add_parts(lane, c, opt_part, parts, &at);
  }
  *log_density = sum;
  return status;
}

/* --- starts of plans ------------------------------------------------------------------------ */

/* Plan for every cell at v, and keep the solutions from slot `first` on. */
static idm_status keep_solutions(joint_lane *lane, const double *v, size_t first, bool *planned,
                                 idm_error *opt_error)
{
  const joint *j = lane->joint;
  ratio_set(j->learner->structure, v, lane->dynamics->start);
  idm_status status = idm_problem_put_dynamics(lane->fork, lane->dynamics, opt_error);
  *planned = true;
  for (size_t c = 0; c < j->cells && status == IDM_OK && *planned; c++) {
    status = plan(lane, c, v + j->ratios, first == 0, planned, opt_error);
    if (status == IDM_OK && *planned)
      status = idm_workspace_keep(lane->workspace, first + c, opt_error);
  }
  return status;
}

idm_status idm_joint_anchor(joint_lane *lane, const double *v, idm_error *opt_error)
{
  bool planned;
  lane->anchored = lane->surfaced = false;
  const idm_status status = keep_solutions(lane, v, 0, &planned, opt_error);
  lane->anchored = status == IDM_OK && planned;
  return status;
}

idm_status idm_joint_surface(joint_lane *lane, const double *mode, const double *covariance,
                             idm_error *opt_error)
{
  enum {
    most_numbers = 500000
  }; /* of all solutions: beyond, keeping them costs more than it saves */
  static const double size = 0.5; /* of a step, in sds */
  const joint *j = lane->joint;
  const size_t d = j->dimension;
  double *v = lane->away;
  idm_joint_inverse(j, mode, v);
  idm_status status = idm_joint_anchor(lane, v, opt_error);
  const size_t numbers =
      idm_times(idm_times(1 + d, j->cells), idm_workspace_points(lane->workspace));
  bool planned = lane->anchored && numbers <= most_numbers;
  memcpy(lane->anchor, mode, d * sizeof *mode);
  for (size_t i = 0; i < d && status == IDM_OK && planned; i++) {
    lane->step[i] = size * sqrt(covariance[i * (d + 1)]);
    memcpy(lane->far, mode, d * sizeof *mode);
    lane->far[i] += lane->step[i];
    idm_joint_inverse(j, lane->far, v);
    status = keep_solutions(lane, v, (1 + i) * j->cells, &planned, opt_error);
  }
  lane->surfaced = status == IDM_OK && planned;
  return status;
}

/* --- the gradient --------------------------------------------------------------------------- */

/* Step of differences of what is cheap: ratios and numbers have units of about 1. */
static const double tiny = 1e-6;

/* Add the derivative of a cell by the log-ratios of the start, which is no part of theta. Where it
 * cannot be had it is left out: trajectories stay valid, and are refused more. */
static void add_starts(joint_lane *lane, size_t cell, double *gradient)
{
  const structure *s = lane->joint->learner->structure;
  const size_t states = s->sizes.states;
  const double *start = lane->dynamics->start;
  double *slope = lane->near, mean = 0;
  if (!structure_is_open(s, 0) || !idm_gradient_start(lane->derivative[cell], slope)) return;
  for (size_t i = 0; i < states; i++) mean += start[i] * slope[i];
  const size_t count = ratio_count_row(s, 0);
  for (size_t i = 0, k = 0; k < count; i++)
    if (s->possible[i]) gradient[k++] += start[i] * (slope[i] - mean);
}

/* Add the derivative of a cell by w, through its free numbers. */
static void add_numbers(joint_lane *lane, size_t cell, const double *w, double *gradient)
{
  const joint_numbers *n = lane->joint->numbers;
  const idm_parameters *p = lane->joint->cell[cell].parameters;
  double *moved = lane->near, *x = lane->near + n->count;
  memset(lane->pull, 0, p->dimension * sizeof *lane->pull);
  idm_parameters_pull(p, lane->x, lane->slope, lane->pull);
  memcpy(moved, w, n->count * sizeof *w);
  for (size_t i = 0; i < n->count; i++) {
    for (int side = -1; side <= 1; side += 2) {
      moved[i] = w[i] + side * tiny;
      n->place(n->context, cell, moved, x);
      for (size_t k = 0; k < p->dimension; k++)
        gradient[i] += side * lane->pull[k] * x[k] / (2 * tiny);
    }
    moved[i] = w[i];
  }
}

/* Plan and score a cell, and add its derivatives; those by the models to lane->sum. */
static idm_status differentiate_cell(joint_lane *lane, size_t cell, const double *v,
                                     double *log_likelihood, double *gradient, idm_error *opt_error)
{
  const joint *j = lane->joint;
  idm_error error = {0};
  bool planned;
  *log_likelihood = -INFINITY;
  idm_status status = plan(lane, cell, v + j->ratios, true, &planned, opt_error);
  if (status != IDM_OK || !planned) return status;
  status = idm_gradient_run(lane->derivative[cell], log_likelihood, lane->slope, &error);
  if (is_outside(status)) {
    *log_likelihood = -INFINITY;
    return IDM_OK;
  }
  if (status != IDM_OK && opt_error) *opt_error = error;
  if (status != IDM_OK || !isfinite(*log_likelihood)) return status;
  const idm_block *moves = &lane->slope->block[IDM_TRANSITION];
  const idm_block *shows = &lane->slope->block[IDM_EMISSION];
  for (size_t i = 0; i < moves->size; i++) lane->sum[i] += moves->value[i];
  for (size_t i = 0; i < shows->size; i++) lane->sum[moves->size + i] += shows->value[i];
  add_numbers(lane, cell, v + j->ratios, gradient + j->ratios);
  add_starts(lane, cell, gradient);
  return IDM_OK;
}

/* Add the derivative through the models, by differences of how they follow from the log-ratios. */
static idm_status add_models(joint_lane *lane, const double *v, double *gradient,
                             idm_error *opt_error)
{
  const joint *j = lane->joint;
  const idm_block *moves = &lane->fork->theta->block[IDM_TRANSITION];
  const idm_block *shows = &lane->fork->theta->block[IDM_EMISSION];
  idm_status status = IDM_OK;
  memcpy(lane->near, v, j->ratios * sizeof *v);
  for (size_t i = 0; i < j->ratios && status == IDM_OK; i++) {
    double side[2] = {0, 0};
    for (int k = 0; k < 2 && status == IDM_OK; k++) {
      lane->near[i] = v[i] + (k ? tiny : -tiny);
      ratio_set(j->learner->structure, lane->near, lane->dynamics->start);
      status = idm_problem_put_dynamics(lane->fork, lane->dynamics, opt_error);
      for (size_t a = 0; a < moves->size; a++) side[k] += lane->sum[a] * moves->value[a];
      for (size_t a = 0; a < shows->size; a++)
        side[k] += lane->sum[moves->size + a] * shows->value[a];
    }
    gradient[i] += (side[1] - side[0]) / (2 * tiny);
    lane->near[i] = v[i];
  }
  ratio_set(j->learner->structure, v, lane->dynamics->start);
  return status;
}

/* The gradient of all but the decisions, after evaluate_cheaply. */
static void differentiate_cheaply(joint_lane *lane, const double *v, double *gradient)
{
  const joint *j = lane->joint;
  const joint_numbers *n = j->numbers;
  double *w = lane->near;
  pass_backward(lane->pass, lane->dynamics);
  ratio_gradient(j->learner->structure, j->cut->draws->prior, lane->pass->counts,
                 lane->dynamics->start, gradient);
  memcpy(w, v + j->ratios, n->count * sizeof *w);
  for (size_t i = 0; i < n->count; i++) {
    double side[2];
    for (int k = 0; k < 2; k++) {
      w[i] = v[j->ratios + i] + (k ? tiny : -tiny);
      side[k] = n->log_prior(n->context, w);
    }
    gradient[j->ratios + i] = (side[1] - side[0]) / (2 * tiny);
    w[i] = v[j->ratios + i];
  }
}

/* The log density and its gradient. */
static idm_status differentiate(joint_lane *lane, const double *v, double *log_density,
                                double *gradient, idm_error *opt_error)
{
  const joint *j = lane->joint;
  *log_density = -INFINITY;
  memset(gradient, 0, j->dimension * sizeof *gradient);
  idm_status status = idm_halt_check(j->halt, opt_error);
  if (status != IDM_OK) return status;
  double sum = evaluate_cheaply(lane, v);
  if (!isfinite(sum)) return IDM_OK;
  differentiate_cheaply(lane, v, gradient);
  status = idm_problem_put_dynamics(lane->fork, lane->dynamics, opt_error);
  place_on_surface(lane, v);
  memset(lane->sum, 0, count_models(lane->fork->theta) * sizeof *lane->sum);
  for (size_t c = 0; c < j->cells && status == IDM_OK; c++) {
    double own;
    status = differentiate_cell(lane, c, v, &own, gradient, opt_error);
    sum += own;
    if (status != IDM_OK || !isfinite(sum)) return status;
  }
  if (status == IDM_OK) status = add_models(lane, v, gradient, opt_error);
  for (size_t i = 0; i < j->dimension; i++)
    if (!isfinite(gradient[i])) gradient[i] = 0; /* as where a part cannot be had */
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

void idm_joint_peak_clear(joint_peak *peak)
{
  free(peak->mode);
  free(peak->covariance);
  free(peak->slope);
  free(peak->information);
  *peak = (joint_peak){0};
}

idm_status idm_joint_peak_create(size_t dimension, joint_peak *peak, idm_error *opt_error)
{
  const size_t square = idm_times(dimension, dimension);
  *peak = (joint_peak){.log_density = -INFINITY};
  peak->mode = idm_new(dimension, sizeof *peak->mode);
  peak->covariance = idm_new(square, sizeof *peak->covariance);
  peak->slope = idm_new(dimension, sizeof *peak->slope);
  peak->information = idm_new(square, sizeof *peak->information);
  return peak->mode && peak->covariance && peak->slope && peak->information
             ? IDM_OK
             : idm_fail_memory(opt_error);
}

void idm_joint_peak_copy(size_t dimension, const joint_peak *from, joint_peak *to)
{
  const size_t bytes = dimension * sizeof(double);
  to->log_density = from->log_density;
  memcpy(to->mode, from->mode, bytes);
  memcpy(to->slope, from->slope, bytes);
  memcpy(to->covariance, from->covariance, dimension * bytes);
  memcpy(to->information, from->information, dimension * bytes);
}

void idm_joint_natural(const joint *j, const double *v, double *natural)
{
  const joint_numbers *n = j->numbers;
  memcpy(natural, v, j->dimension * sizeof *natural);
  if (n->natural) n->natural(n->context, v + j->ratios, natural + j->ratios);
}

void idm_joint_inverse(const joint *j, const double *natural, double *v)
{
  const joint_numbers *n = j->numbers;
  memcpy(v, natural, j->dimension * sizeof *v);
  if (n->inverse) n->inverse(n->context, natural + j->ratios, v + j->ratios);
}

double idm_joint_surrogate(void *context, const double *v)
{
  joint_lane *lane = context;
  const joint_peak *peak = lane->peak;
  const size_t d = lane->joint->dimension;
  double sum = evaluate_cheaply(lane, v);
  if (!isfinite(sum)) return sum;
  idm_joint_natural(lane->joint, v, lane->away);
  for (size_t i = 0; i < d; i++) lane->away[i] -= peak->mode[i];
  double square = 0;
  for (size_t i = 0; i < d; i++) {
    double turned = 0;
    for (size_t k = 0; k < d; k++) turned += peak->information[i * d + k] * lane->away[k];
    sum += lane->away[i] * peak->slope[i];
    square += lane->away[i] * turned;
  }
  /* Tails of a t distribution: where the target is wider than its approximation, chains would be
   * stuck. */
  sum -= 0.5 * (double)d * log1p(square / (double)d);
  return sum;
}

idm_target idm_joint_target(joint_lane *lane, const joint_peak *peak)
{
  lane->peak = peak;
  return (idm_target){.dimension = lane->joint->dimension,
                      .gradient = lane->derivative != NULL,
                      .context = lane,
                      .evaluate = evaluate};
}
