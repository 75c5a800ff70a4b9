/* One optimum among all optima of a linear program. */
#include "invert/utility/face.h"

#include <math.h>

#include "base/memory.h"
#include "infer/nearest.h"
#include "invert/utility/bellman.h"

/* Optima that differ by no more than this are one. */
static const double apart = 1e-7;
/* What a certificate may leave. */
static const double close_enough = 1e-9;

static idm_status fail_to_solve(idm_program_end end, const char *infeasible, const char *unbounded,
                                idm_halt *halt, idm_error *opt_error)
{
  const idm_status status = idm_halt_check(halt, opt_error);
  if (status != IDM_OK) return status;
  if (end == IDM_PROGRAM_INFEASIBLE) return idm_fail(opt_error, IDM_INPUT, "%s", infeasible);
  if (end == IDM_PROGRAM_UNBOUNDED) return idm_fail(opt_error, IDM_INPUT, "%s", unbounded);
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "the best utility was not found: numbers of very different sizes stand in the "
                  "way");
}

idm_status idm_face_solve(idm_program *program, const char *infeasible, const char *unbounded,
                          idm_program_solution *solution, idm_halt *halt, idm_error *opt_error)
{
  const idm_status status = idm_program_solve(program, idm_bellman_ask, halt, solution, opt_error);
  if (status != IDM_OK || solution->end == IDM_PROGRAM_SOLVED) return status;
  return fail_to_solve(solution->end, infeasible, unbounded, halt, opt_error);
}

/* What is found once is found again, but for rounding; and may have no end. */
static const char lost_again[] =
    "which other utilities do as well could not be found: numbers of very different sizes stand in "
    "the way";
static const char no_end[] =
    "other utilities do as well, without an end; expected a finite --bound, or fewer entries that "
    "are free";

static double cost_of(const double *cost, const double *x, size_t columns)
{
  double sum = 0;
  for (size_t j = 0; j < columns; j++) sum += cost[j] * x[j];
  return sum;
}

/* Take an optimum that was found by other means, with how far it may be from one. */
static void take(const double *cost, const double *x, size_t columns, double residual,
                 idm_face *face)
{
  const double objective = cost_of(cost, x, columns);
  const double lost = fabs(objective - face->objective) / fmax(1, fabs(face->objective));
  memcpy(face->x, x, columns * sizeof *x);
  face->objective = objective;
  face->attained = fmax(face->attained, fmax(residual, lost));
}

/* Whether the columns can move, by the least and the largest of a generic sum of them. Where they
 * can, the optimum is now the one with the least sum, which is one whatever the order. */
static idm_status look_for_others(idm_program *program, const double *cost, idm_face *face,
                                  idm_halt *halt, idm_error *opt_error)
{
  const size_t columns = idm_program_columns(program);
  idm_program_solution found;
  double end[2] = {0, 0};
  idm_status status = IDM_OK;
  /* The largest first: the last solution is the one to keep. */
  for (int sign = 1; sign >= 0 && status == IDM_OK; sign--) {
    for (size_t j = 0; j < columns; j++)
      idm_program_set_cost(program, j, j < face->count ? (sign ? -1 : 1) * face->key[j] : 0);
    status = idm_face_solve(program, lost_again, no_end, &found, halt, opt_error);
    if (status == IDM_OK) end[sign] = sign ? -found.objective : found.objective;
  }
  face->only = status == IDM_OK && end[1] - end[0] <= apart * fmax(1, fabs(end[0]));
  if (status == IDM_OK && !face->only) take(cost, found.x, columns, found.violation, face);
  return status;
}

/* The nearest of what is left, where that is shown. */
static idm_status approach(idm_program *program, const double *cost, idm_face *face, idm_halt *halt,
                           idm_error *opt_error)
{
  const size_t columns = idm_program_columns(program);
  double *x = idm_duplicate(face->x, columns, sizeof *x);
  double *weight = idm_new(2 * columns, sizeof *weight);
  if (!x || !weight) {
    free(x);
    free(weight);
    return idm_fail_memory(opt_error);
  }
  double *aim = weight + columns;
  for (size_t j = 0; j < face->count; j++) {
    weight[j] = face->weight[j];
    aim[j] = face->opt_aim ? face->opt_aim[j] : 0;
  }
  idm_nearest near = {.weight = weight, .aim = aim, .effort = 1e9};
  idm_status status = idm_program_nearest(program, &near, x, idm_bellman_ask, halt, opt_error);
  if (status == IDM_OK) status = idm_halt_check(halt, opt_error);
  const double lost = fabs(cost_of(cost, x, columns) - face->objective);
  face->nearest = status == IDM_OK && near.residual <= close_enough &&
                  lost <= close_enough * fmax(1, fabs(face->objective));
  if (face->nearest) take(cost, x, columns, near.residual, face);
  free(x);
  free(weight);
  return status;
}

idm_status idm_face_choose(idm_program *program, const char *infeasible, const char *unbounded,
                           idm_face *face, idm_halt *halt, idm_error *opt_error)
{
  const size_t columns = idm_program_columns(program);
  idm_program_solution found;
  double *cost = idm_duplicate(idm_program_look(program).cost, columns, sizeof *cost);
  idm_status status = cost ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_face_solve(program, infeasible, unbounded, &found, halt, opt_error);
  if (status == IDM_OK) {
    memcpy(face->x, found.x, columns * sizeof *found.x);
    face->objective = found.objective;
    face->attained = fmax(found.gap, found.violation);
    face->nearest = true;
    idm_program_keep_optimal(program);
    status = look_for_others(program, cost, face, halt, opt_error);
    face->unchecked = face->bounded && (status == IDM_INPUT || status == IDM_NUMERICAL);
    if (face->unchecked) face->only = face->nearest = false;
    if (face->unchecked) status = IDM_OK;
  }
  if (status == IDM_OK && !face->only && !face->unchecked)
    status = approach(program, cost, face, halt, opt_error);
  free(cost);
  return status;
}

idm_status idm_face_ranges(idm_program *program, size_t count, double *range, idm_halt *halt,
                           idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t j = 0; j < idm_program_columns(program); j++) idm_program_set_cost(program, j, 0);
  for (size_t j = 0; j < count && status == IDM_OK; j++) {
    halt->done = (double)j / (double)count;
    for (int sign = 0; sign < 2 && status == IDM_OK; sign++) {
      idm_program_solution found;
      idm_program_set_cost(program, j, sign ? -1 : 1);
      status = idm_face_solve(program, lost_again, no_end, &found, halt, opt_error);
      if (status == IDM_OK) range[2 * j + (size_t)sign] = found.x[j];
    }
    idm_program_set_cost(program, j, 0);
  }
  return status;
}
