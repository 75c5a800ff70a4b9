/* Matching by slopes through the policy. Where zeta* has kinks or ends, by the method of
 * multipliers (Rockafellar 1976): a utility is held, zeta* is made smooth around it, and the slope
 * of what is found becomes the utility held next. */
#include "invert/utility/conjugate_matching.h"

#include <math.h>

#include "base/memory.h"
#include "idm/maximise.h"
#include "idm/planner.h"
#include "plan/choice_slope.h"

enum { most_rounds = 400, most_steps = 4000 };
/* A utility that moves by less than this from round to round is found. */
static const double held_still = 1e-9;

typedef struct problem_of {
  idm_problem problem; /* a copy with its own theta and planner */
  idm_block *block;    /* that the numbers are of */
  const idm_mdp *world;
  const idm_regulariser *zeta;
  double alpha;
  double pace;
  const double *p;
  idm_conjugate_matching *found;
  idm_workspace *workspace;
  idm_choice_slope *slope;
  idm_theta *theta_slope;
  double *held;   /* [entry]: the utility, by [state][action] */
  double *v;      /* [entry]: the slope of zeta* */
  double *paid;   /* [action][state] */
  double *value;  /* [state] */
  double *chosen; /* [action] */
  double *corner; /* [state] */
} problem_of;

void idm_conjugate_matching_destroy(idm_conjugate_matching *matching)
{
  if (!matching) return;
  free(matching->policy);
  free(matching->occupancy);
  free(matching);
}

/* --- memory --------------------------------------------------------------------------------- */

static void close_problem(problem_of *o)
{
  idm_choice_slope_destroy(o->slope);
  idm_workspace_destroy(o->workspace);
  idm_theta_destroy(o->theta_slope);
  idm_theta_destroy(o->problem.theta);
  free(o->held);
}

static idm_status open_policy(problem_of *o, const idm_problem *problem, int units,
                              idm_error *opt_error)
{
  o->problem = *problem;
  o->problem.theta = NULL;
  o->problem.agent.hidden = units;
  o->problem.agent.choice = IDM_CHOICE_DRAWN;
  idm_status status = idm_theta_copy(problem->theta, &o->problem.theta, opt_error);
  if (status == IDM_OK)
    status = idm_problem_plan_by(&o->problem, idm_planner_find("decision-network"), opt_error);
  if (status != IDM_OK) return status;
  idm_theta *theta = o->problem.theta;
  o->block =
      &theta->block[IDM_BLOCK_COUNT]; /* without a hidden layer: a weight a state and action */
  theta->block[IDM_LAPSE].value[0] = 0;
  theta->block[IDM_PERSEVERANCE].value[0] = 0;
  for (size_t i = 0; i < theta->blocks; i++) theta->block[i].role = IDM_NORMATIVE;
  status = idm_theta_copy(theta, &o->theta_slope, opt_error);
  for (size_t i = 0; status == IDM_OK && i < theta->blocks; i++)
    o->theta_slope->block[i].role = IDM_DESCRIPTIVE;
  if (status == IDM_OK)
    status =
        idm_workspace_create(problem->setting, theta, &o->problem.agent, &o->workspace, opt_error);
  return status == IDM_OK ? idm_choice_slope_create(o->workspace, &o->slope, opt_error) : status;
}

static bool allocate(problem_of *o)
{
  const idm_sizes n = o->world->n;
  const size_t all = n.states * n.actions;
  o->held = idm_new(3 * all + 2 * n.states + n.actions, sizeof *o->held);
  o->found = idm_new(1, sizeof *o->found);
  if (!o->held || !o->found) return false;
  o->v = o->held + all;
  o->paid = o->v + all;
  o->value = o->paid + all;
  o->corner = o->value + n.states;
  o->chosen = o->corner + n.states;
  o->found->policy = idm_new(all, sizeof *o->found->policy);
  o->found->occupancy = idm_new(all, sizeof *o->found->occupancy);
  return o->found->policy && o->found->occupancy;
}

/* --- the objective -------------------------------------------------------------------------- */

static const double *corner_of(problem_of *o, size_t state)
{
  memset(o->corner, 0, o->world->n.states * sizeof *o->corner);
  o->corner[state] = 1;
  return o->corner;
}

static idm_status visit(problem_of *o, const double *x, idm_error *opt_error)
{
  const idm_sizes n = o->world->n;
  memcpy(o->block->value, x, o->block->size * sizeof *x);
  const idm_status status = idm_plan(o->problem.theta, NULL, o->workspace, NULL, opt_error);
  if (status != IDM_OK) return status;
  for (size_t s = 0; s < n.states; s++)
    idm_plan_policy(o->workspace, 0, corner_of(o, s), o->found->policy + s * n.actions, NULL);
  return idm_mdp_occupancy(o->world, o->found->policy, o->found->occupancy, opt_error);
}

/* zeta*, smooth around the utility held, less the entropy; and dJ/dq as what is paid. */
static double add_up(problem_of *o)
{
  const idm_sizes n = o->world->n;
  double sum = 0;
  for (size_t e = 0; e < n.states * n.actions; e++) {
    const double q = o->found->occupancy[e];
    double *paid = &o->paid[e % n.actions * n.states + e / n.actions];
    *paid = 0;
    if (!(q > 0)) continue;
    const double log_pi = log(o->found->policy[e]);
    sum += idm_regulariser_near(o->zeta, o->p[e], q, o->held[e], o->pace, &o->v[e]) +
           o->alpha * q * log_pi;
    *paid = o->alpha * log_pi - o->v[e];
  }
  return sum;
}

static idm_status pull(problem_of *o, double *gradient, idm_error *opt_error)
{
  const idm_sizes n = o->world->n;
  idm_status status = idm_mdp_evaluate(o->world, o->found->policy, o->paid, o->value, opt_error);
  if (status != IDM_OK) return status;
  idm_choice_slope_begin(o->slope);
  for (size_t s = 0; s < n.states; s++) {
    double mass = 0;
    for (size_t u = 0; u < n.actions; u++) mass += o->found->occupancy[s * n.actions + u];
    for (size_t u = 0; u < n.actions; u++)
      o->chosen[u] =
          mass * (o->paid[u * n.states + s] + idm_mdp_next(o->world, u, s, o->value) - o->value[s]);
    idm_choice_slope_point(o->slope, corner_of(o, s), o->chosen);
  }
  status = idm_choice_slope_finish(o->slope, o->theta_slope, opt_error);
  const double *by = o->theta_slope->block[o->block - o->problem.theta->block].value;
  for (size_t i = 0; i < o->block->size && status == IDM_OK; i++) gradient[i] = -by[i];
  return status;
}

/* As a density to climb. */
static idm_status evaluate(void *context, const double *x, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  problem_of *o = context;
  const idm_status status = visit(o, x, opt_error);
  if (status != IDM_OK) return status;
  *log_density = -add_up(o);
  return opt_gradient ? pull(o, opt_gradient, opt_error) : IDM_OK;
}

/* --- rounds --------------------------------------------------------------------------------- */

/* The utility held next; returns how far it moves. */
static double hold(problem_of *o)
{
  double most = 0;
  for (size_t e = 0; e < o->world->n.states * o->world->n.actions; e++) {
    if (!(o->found->occupancy[e] > 0)) continue;
    most = fmax(most, fabs(o->v[e] - o->held[e]));
    o->held[e] = o->v[e];
  }
  return most;
}

static idm_status climb(problem_of *o, double *x, double *gradient, idm_error *opt_error)
{
  const idm_target target = {
      .dimension = o->block->size, .gradient = true, .context = o, .evaluate = evaluate};
  double height, moved = INFINITY;
  idm_status status = IDM_OK;
  for (int k = 0; k < most_rounds && moved > held_still && status == IDM_OK; k++) {
    status = idm_maximise(&target, 0, most_steps, x, &height, opt_error);
    if (status == IDM_OK) status = evaluate(o, x, &height, gradient, opt_error);
    moved = idm_regulariser_is_held(o->zeta) && status == IDM_OK ? hold(o) : 0;
  }
  return status;
}

/* What was found, by zeta* itself. */
static void judge(problem_of *o, const double *gradient)
{
  const idm_sizes n = o->world->n;
  idm_conjugate_matching *f = o->found;
  for (size_t i = 0; i < o->block->size; i++) f->slope = fmax(f->slope, fabs(gradient[i]));
  for (size_t e = 0; e < n.states * n.actions; e++) {
    const double q = f->occupancy[e];
    if (!(q > 0)) continue;
    f->objective += o->alpha * q * log(f->policy[e]);
    if (o->zeta->zeta == IDM_ZETA_ABSOLUTE)
      f->beyond = fmax(f->beyond, fabs(o->p[e] - q) - o->zeta->scale);
    else
      f->objective += idm_regulariser_conjugate(o->zeta, o->p[e], q);
  }
}

idm_status idm_conjugate_match(const idm_problem *problem, const idm_mdp *world,
                               const idm_regulariser *regulariser, double alpha, int units,
                               const double *p, idm_conjugate_matching **ret_matching,
                               idm_error *opt_error)
{
  static const double pace = 0.0005;
  problem_of o = {.world = world, .zeta = regulariser, .alpha = alpha, .pace = pace, .p = p};
  *ret_matching = NULL;
  double *x = NULL;
  idm_status status = allocate(&o) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = open_policy(&o, problem, units, opt_error);
  if (status == IDM_OK) {
    x = idm_new(2 * o.block->size, sizeof *x);
    status = x ? IDM_OK : idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) {
    for (size_t i = 0; i < o.block->size; i++) x[i] = o.block->value[i];
    status = climb(&o, x, x + o.block->size, opt_error);
  }
  if (status == IDM_OK) {
    judge(&o, x + o.block->size);
    *ret_matching = o.found;
  } else {
    idm_conjugate_matching_destroy(o.found);
  }
  close_problem(&o);
  free(x);
  return status;
}
