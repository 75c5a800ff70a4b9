/* The joint posterior of learnt dynamics and of the numbers behind decisions: see the header.
 *
 * Contents: lanes · evaluation · the surrogate */
#include "invert/joint/target.h"

#include <math.h>

#include "base/memory.h"
#include "invert/fork.h"
#include "learn/ratio.h"

/* --- lanes ---------------------------------------------------------------------------------- */

struct joint_lane {
  const joint *joint;
  idm_problem *fork;      /* with the dynamics and free numbers of the last evaluation */
  idm_dynamics *dynamics; /* of the last evaluation */
  pass *pass;
  idm_workspace *workspace; /* of all cells: the operator is built once per dynamics */
  idm_scorer **scorer;      /* [cells] */
  double *x;                /* [free numbers] */
  double *weight;           /* [cells]: 1 for the slot that a plan starts from */
  bool anchored;
  const joint_peak *peak; /* of the surrogate; borrowed */
  double *away;           /* [dimension] */
};

void idm_joint_lane_destroy(joint_lane *lane)
{
  if (!lane) return;
  for (size_t c = 0; lane->scorer && c < lane->joint->cells; c++)
    idm_scorer_destroy(lane->scorer[c]);
  free(lane->scorer);
  idm_workspace_destroy(lane->workspace);
  pass_destroy(lane->pass);
  idm_dynamics_destroy(lane->dynamics);
  idm_fork_destroy(lane->fork);
  free(lane->x);
  free(lane->weight);
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

static idm_status fill(joint_lane *lane, idm_error *opt_error)
{
  const joint *j = lane->joint;
  lane->scorer = idm_new(j->cells, sizeof *lane->scorer);
  lane->weight = idm_new(j->cells, sizeof *lane->weight);
  lane->x = idm_new(j->cell[0].parameters->dimension, sizeof *lane->x);
  lane->away = idm_new(j->dimension, sizeof *lane->away);
  idm_status status =
      lane->scorer && lane->weight && lane->x && lane->away ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_problem_fork(j->problem, &lane->fork, opt_error);
  if (status == IDM_OK) status = idm_problem_dynamics(j->cut->learnt, &lane->dynamics, opt_error);
  if (status == IDM_OK) status = pass_create(j->learner, &lane->pass, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(lane->fork->setting, lane->fork->theta, &lane->fork->agent,
                                  &lane->workspace, opt_error);
  for (size_t c = 0; c < j->cells && status == IDM_OK; c++) {
    const fit *f = &j->cell[c];
    status = idm_scorer_create(f->cut ? f->cut : f->data, f->cut ? f->cut_tree : f->tree,
                               &lane->scorer[c], opt_error);
    if (status == IDM_OK) idm_scorer_interrupt(lane->scorer[c], is_unwanted, lane);
  }
  return status;
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

/* Plan for a cell in the dynamics of the lane; *planned is false outside of the support. */
static idm_status plan(joint_lane *lane, size_t cell, const double *w, bool *planned,
                       idm_error *opt_error)
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
  for (size_t c = 0; c < j->cells; c++) lane->weight[c] = c == cell;
  idm_solver_default(&solver);
  solver.slots = lane->anchored ? (int)j->cells : IDM_FROM_NOTHING;
  solver.weights = lane->weight;
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
  idm_status status = plan(lane, cell, w, &planned, opt_error);
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

idm_status idm_joint_anchor(joint_lane *lane, const double *v, idm_error *opt_error)
{
  const joint *j = lane->joint;
  bool planned = true;
  lane->anchored = false;
  ratio_set(j->learner->structure, v, lane->dynamics->start);
  idm_status status = idm_problem_put_dynamics(lane->fork, lane->dynamics, opt_error);
  for (size_t c = 0; c < j->cells && status == IDM_OK && planned; c++) {
    status = plan(lane, c, v + j->ratios, &planned, opt_error);
    if (status == IDM_OK && planned) status = idm_workspace_keep(lane->workspace, c, opt_error);
  }
  lane->anchored = status == IDM_OK && planned;
  return status;
}

static idm_status evaluate(void *context, const double *v, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  (void)opt_gradient;
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
  return (idm_target){.dimension = lane->joint->dimension, .context = lane, .evaluate = evaluate};
}
