/* Linear programs over utilities and values.
 *
 * Contents: penalty · face · bellman */
#include <math.h>

#include "base/memory.h"
#include "infer/program.h"
#include "invert/utility/bellman.h"

/* === penalty ================================================================================ */

/* Weighted L1 penalty. */

idm_status idm_penalty_add(idm_program *program, size_t count, size_t above, double penalty,
                           const double *weight, const double *opt_target, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t k = 0; k < count && status == IDM_OK; k++) {
    for (size_t side = 0; side < 2; side++) {
      idm_program_set_bounds(program, above + side * count + k, 0, INFINITY);
      idm_program_set_cost(program, above + side * count + k, penalty * weight[k]);
    }
    status = idm_program_add_entry(program, k, 1, opt_error);
    if (status == IDM_OK) status = idm_program_add_entry(program, above + k, -1, opt_error);
    if (status == IDM_OK) status = idm_program_add_entry(program, above + count + k, 1, opt_error);
    const double target = opt_target ? opt_target[k] : 0;
    if (status == IDM_OK) status = idm_program_add_row(program, target, target, opt_error);
  }
  return status;
}

/* === face =================================================================================== */

/* Selection of one optimum among all optima of a linear program. */

/* Optima that differ by no more than this are considered equal. */
static const double min_difference = 1e-7;
/* Tolerance of certificates. */
static const double tolerance = 1e-9;

static idm_status fail_to_solve(idm_program_end end, const char *infeasible, const char *unbounded,
                                idm_cancel *cancel, idm_error *opt_error)
{
  const idm_status status = idm_cancel_check(cancel, opt_error);
  if (status != IDM_OK) return status;
  if (end == IDM_PROGRAM_INFEASIBLE) return idm_fail(opt_error, IDM_INPUT, "%s", infeasible);
  if (end == IDM_PROGRAM_UNBOUNDED) return idm_fail(opt_error, IDM_INPUT, "%s", unbounded);
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "the best utility was not found: the program is ill-conditioned, with numbers of "
                  "very different sizes");
}

idm_status idm_face_solve(idm_program *program, const char *infeasible, const char *unbounded,
                          idm_program_solution *solution, idm_cancel *cancel, idm_error *opt_error)
{
  const idm_status status =
      idm_program_solve(program, idm_bellman_interrupted, cancel, solution, opt_error);
  if (status != IDM_OK || solution->end == IDM_PROGRAM_SOLVED) return status;
  return fail_to_solve(solution->end, infeasible, unbounded, cancel, opt_error);
}

/* Messages for failures on the optimal face, which is not empty up to rounding but can be
 * unbounded. */
static const char not_found_message[] =
    "other optimal utilities could not be determined: the program is ill-conditioned, with numbers "
    "of very different sizes";
static const char unbounded_message[] = "the set of optimal utilities is unbounded; expected a "
                                        "finite --bound, or fewer entries that are free";

static double cost_of(const double *cost, const double *x, size_t columns)
{
  double sum = 0;
  for (size_t j = 0; j < columns; j++) sum += cost[j] * x[j];
  return sum;
}

/* Stores an optimum found by other means, and its distance from optimality. */
static void store_optimum(const double *cost, const double *x, size_t columns, double residual,
                          idm_face *face)
{
  const double objective = cost_of(cost, x, columns);
  const double objective_loss = fabs(objective - face->objective) / fmax(1, fabs(face->objective));
  memcpy(face->x, x, columns * sizeof *x);
  face->objective = objective;
  face->attained = fmax(face->attained, fmax(residual, objective_loss));
}

/* Determines uniqueness by the least and largest values of a generic linear function of the columns
 * on the optimal face. If they differ, stores the optimum of the least value, which does not depend
 * on the order of columns. */
static idm_status check_unique(idm_program *program, const double *cost, idm_face *face,
                               idm_cancel *cancel, idm_error *opt_error)
{
  const size_t columns = idm_program_columns(program);
  idm_program_solution found;
  double end[2] = {0, 0};
  idm_status status = IDM_OK;
  /* The maximum first: the last solution is kept. */
  for (int sign = 1; sign >= 0 && status == IDM_OK; sign--) {
    for (size_t j = 0; j < columns; j++)
      idm_program_set_cost(program, j, j < face->count ? (sign ? -1 : 1) * face->key[j] : 0);
    status =
        idm_face_solve(program, not_found_message, unbounded_message, &found, cancel, opt_error);
    if (status == IDM_OK) end[sign] = sign ? -found.objective : found.objective;
  }
  face->unique = status == IDM_OK && end[1] - end[0] <= min_difference * fmax(1, fabs(end[0]));
  if (status == IDM_OK && !face->unique)
    store_optimum(cost, found.x, columns, found.violation, face);
  return status;
}

/* Projects the target point onto the optimal face; kept if the residual certifies it. */
static idm_status choose_nearest(idm_program *program, const double *cost, idm_face *face,
                                 idm_cancel *cancel, idm_error *opt_error)
{
  const size_t columns = idm_program_columns(program);
  double *x = idm_duplicate(face->x, columns, sizeof *x);
  double *weight = idm_new(2 * columns, sizeof *weight);
  if (!x || !weight) {
    free(x);
    free(weight);
    return idm_fail_memory(opt_error);
  }
  double *target = weight + columns;
  for (size_t j = 0; j < face->count; j++) {
    weight[j] = face->weight[j];
    target[j] = face->opt_target ? face->opt_target[j] : 0;
  }
  idm_program_projection near = {.weight = weight, .target = target, .effort = 1e9};
  idm_status status =
      idm_program_project(program, &near, x, idm_bellman_interrupted, cancel, opt_error);
  if (status == IDM_OK) status = idm_cancel_check(cancel, opt_error);
  const double objective_loss = fabs(cost_of(cost, x, columns) - face->objective);
  face->nearest = status == IDM_OK && near.residual <= tolerance &&
                  objective_loss <= tolerance * fmax(1, fabs(face->objective));
  if (face->nearest) store_optimum(cost, x, columns, near.residual, face);
  free(x);
  free(weight);
  return status;
}

idm_status idm_face_choose_unique(idm_program *program, const char *infeasible,
                                  const char *unbounded, idm_face *face, idm_cancel *cancel,
                                  idm_error *opt_error)
{
  const size_t columns = idm_program_columns(program);
  idm_program_solution found;
  double *cost = idm_duplicate(idm_program_get_view(program).cost, columns, sizeof *cost);
  idm_status status = cost ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_face_solve(program, infeasible, unbounded, &found, cancel, opt_error);
  if (status == IDM_OK) {
    memcpy(face->x, found.x, columns * sizeof *found.x);
    face->objective = found.objective;
    face->attained = fmax(found.gap, found.violation);
    face->nearest = true;
    idm_program_fix_optimal(program);
    status = check_unique(program, cost, face, cancel, opt_error);
    face->unchecked = face->bounded && (status == IDM_INPUT || status == IDM_NUMERICAL);
    if (face->unchecked) face->unique = face->nearest = false;
    if (face->unchecked) status = IDM_OK;
  }
  if (status == IDM_OK && !face->unique && !face->unchecked)
    status = choose_nearest(program, cost, face, cancel, opt_error);
  free(cost);
  return status;
}

idm_status idm_face_ranges(idm_program *program, size_t count, double *range, idm_cancel *cancel,
                           idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t j = 0; j < idm_program_columns(program); j++) idm_program_set_cost(program, j, 0);
  for (size_t j = 0; j < count && status == IDM_OK; j++) {
    cancel->done = (double)j / (double)count;
    for (int sign = 0; sign < 2 && status == IDM_OK; sign++) {
      idm_program_solution found;
      idm_program_set_cost(program, j, sign ? -1 : 1);
      status =
          idm_face_solve(program, not_found_message, unbounded_message, &found, cancel, opt_error);
      if (status == IDM_OK) range[2 * j + (size_t)sign] = found.x[j];
    }
    idm_program_set_cost(program, j, 0);
  }
  return status;
}

/* === bellman ================================================================================ */

/* Bellman equations as rows of a linear program. */

idm_bellman_rows idm_bellman_begin(idm_program *program, const idm_mdp *mdp,
                                   const idm_free_utility *free_utility, size_t values)
{
  return (idm_bellman_rows){
      .program = program, .mdp = mdp, .free_utility = free_utility, .values = values};
}

idm_status idm_bellman_utility(idm_bellman_rows *rows, size_t entry, double factor,
                               idm_error *opt_error)
{
  const idm_free_utility *free_utility = rows->free_utility;
  const int32_t number = free_utility->number[entry];
  idm_status status = IDM_OK;
  if (number >= 0) return idm_program_add_entry(rows->program, (size_t)number, factor, opt_error);
  rows->fixed_part -= factor * idm_free_utility_constant(free_utility, entry);
  for (size_t k = 0; free_utility->features && k < free_utility->count && status == IDM_OK; k++) {
    const double value = free_utility->features->value[entry * free_utility->count + k];
    if (value != 0) status = idm_program_add_entry(rows->program, k, factor * value, opt_error);
  }
  return status;
}

idm_status idm_bellman_enter(idm_bellman_rows *rows, size_t state, size_t action, double weight,
                             idm_error *opt_error)
{
  const idm_sparse_rows *moves = rows->mdp->moves;
  const size_t entry = action * rows->mdp->n.states + state;
  idm_status status = idm_bellman_utility(rows, entry, -weight, opt_error);
  for (size_t i = moves->first[entry]; i < moves->first[entry + 1] && status == IDM_OK; i++)
    status =
        idm_program_add_entry(rows->program, rows->values + moves->next[i],
                              -weight * rows->mdp->discount * moves->probability[i], opt_error);
  return status;
}

idm_status idm_bellman_add(idm_bellman_rows *rows, size_t state, double lower, double upper,
                           idm_error *opt_error)
{
  idm_status status = idm_program_add_entry(rows->program, rows->values + state, 1, opt_error);
  if (status == IDM_OK)
    status = idm_program_add_row(rows->program, lower + rows->fixed_part, upper + rows->fixed_part,
                                 opt_error);
  rows->fixed_part = 0;
  return status;
}

idm_status idm_bellman_policy(idm_bellman_rows *rows, const double *policy, idm_error *opt_error)
{
  const idm_sizes n = rows->mdp->n;
  idm_status status = IDM_OK;
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    for (size_t u = 0; u < n.actions && status == IDM_OK; u++)
      if (policy[s * n.actions + u] > 0)
        status = idm_bellman_enter(rows, s, u, policy[s * n.actions + u], opt_error);
    if (status == IDM_OK) status = idm_bellman_add(rows, s, 0, 0, opt_error);
  }
  return status;
}

bool idm_mdp_allows(const idm_mdp *mdp, size_t action)
{
  return mdp->prior[action] > 0;
}

idm_status idm_bellman_check(const idm_mdp *mdp, const idm_setting *setting, const char *caller,
                             idm_error *opt_error)
{
  if (setting->horizon)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs values that do not depend on the step, and episodes here end after "
                    "%d; expected no `horizon`",
                    caller, setting->horizon);
  if (!(mdp->discount < 1))
    return idm_fail(opt_error, IDM_INPUT, "'%s' needs a discount below 1, and it is %g", caller,
                    mdp->discount);
  return IDM_OK;
}

bool idm_bellman_interrupted(void *cancel)
{
  return idm_cancel_poll(cancel);
}
