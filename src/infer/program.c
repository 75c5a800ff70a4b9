/* Linear programs, solved by CLP; optimality is certified from the solution itself, independent of
 * the solver's status. */
#include "infer/program.h"

#include <assert.h>
#include <coin/Clp_C_Interface.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>

#include "base/memory.h"
#include "base/system.h"

/* Functions of CLP in use. The library is loaded with the first program, since its C++, Fortran and
 * LAPACK dependencies would slow down the start of every command by a quarter. */
#define CLP_FUNCTIONS(X)                                                                           \
  X(Clp_addRows)                                                                                   \
  X(Clp_columnLower)                                                                               \
  X(Clp_columnUpper)                                                                               \
  X(Clp_deleteModel)                                                                               \
  X(Clp_dual)                                                                                      \
  X(Clp_getColSolution)                                                                            \
  X(Clp_getRowPrice)                                                                               \
  X(Clp_initialBarrierSolve)                                                                       \
  X(Clp_newModel)                                                                                  \
  X(Clp_objective)                                                                                 \
  X(Clp_primal)                                                                                    \
  X(Clp_primalFeasible)                                                                            \
  X(Clp_resize)                                                                                    \
  X(Clp_rowLower)                                                                                  \
  X(Clp_rowUpper)                                                                                  \
  X(Clp_scaling)                                                                                   \
  X(Clp_scalingFlag)                                                                               \
  X(Clp_setColumnStatus)                                                                           \
  X(Clp_setDualTolerance)                                                                          \
  X(Clp_setLogLevel)                                                                               \
  X(Clp_setMaximumIterations)                                                                      \
  X(Clp_setPrimalTolerance)                                                                        \
  X(Clp_setRowStatus)                                                                              \
  X(Clp_status)

static struct {
  CLP_FUNCTIONS(IDM_LIBRARY_POINTER)
} clp;

#define SYMBOL(name) IDM_LIBRARY_SYMBOL(clp, name)
static const idm_symbol clp_symbols[] = {CLP_FUNCTIONS(SYMBOL)};

static pthread_once_t clp_once = PTHREAD_ONCE_INIT;
static bool clp_loaded;

static void load_clp(void)
{
  clp_loaded =
      idm_library_load(IDM_CLP_LIBRARY, clp_symbols, sizeof clp_symbols / sizeof *clp_symbols);
}

/* Sparse rows, which can grow; the matrix is passed to the solver when the program is solved. */
struct idm_program {
  size_t columns;
  double *cost; /* [column] */
  double *low;
  double *high;
  size_t rows;
  size_t row_capacity;
  double *lower; /* [row] */
  double *upper;
  size_t *first; /* [row + 1] */
  size_t entries;
  size_t entry_capacity;
  int *column; /* [entry] */
  double *value;
  size_t *last_entry;   /* [column]: index of its last entry, plus one */
  size_t solver_rows;   /* rows already passed to the solver */
  bool solved;          /* solved at least once */
  bool *bounds_changed; /* [row]: bounds changed since they were passed to the solver */
  double *x;            /* [column]: primal solution */
  double *dual;         /* [row], allocated for row_capacity: dual solution */
  double *reduced;      /* [column]: reduced costs, cost - A' dual */
  double *scale;        /* [column]: largest term of the reduced cost */
  idm_program_method method;
  Clp_Simplex *solver;
};

/* Bounds beyond this are infinite for CLP. */
static const double clp_infinity = 1e30;

idm_status idm_program_create(size_t columns, idm_program **ret_program, idm_error *opt_error)
{
  *ret_program = NULL;
  pthread_once(&clp_once, load_clp);
  if (!clp_loaded)
    return idm_fail(opt_error, IDM_SYSTEM,
                    "linear programs need the library CLP (%s), which this machine lacks",
                    IDM_CLP_LIBRARY);
  idm_program *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  p->columns = columns;
  p->cost = idm_new(columns, sizeof *p->cost);
  p->low = idm_new(columns, sizeof *p->low);
  p->high = idm_new(columns, sizeof *p->high);
  p->last_entry = idm_new(columns, sizeof *p->last_entry);
  p->x = idm_new(columns, sizeof *p->x);
  p->reduced = idm_new(columns, sizeof *p->reduced);
  p->scale = idm_new(columns, sizeof *p->scale);
  p->first = idm_new(1, sizeof *p->first);
  p->solver = columns < INT_MAX ? clp.Clp_newModel() : NULL;
  if (!p->cost || !p->low || !p->high || !p->last_entry || !p->x || !p->reduced || !p->scale ||
      !p->first || !p->solver) {
    idm_program_destroy(p);
    return idm_fail_memory(opt_error);
  }
  for (size_t j = 0; j < columns; j++) {
    p->low[j] = -INFINITY;
    p->high[j] = INFINITY;
  }
  clp.Clp_setLogLevel(p->solver, 0);
  clp.Clp_setPrimalTolerance(p->solver, 1e-9);
  clp.Clp_setDualTolerance(p->solver, 1e-9);
  clp.Clp_resize(p->solver, 0, (int)columns);
  *ret_program = p;
  return IDM_OK;
}

void idm_program_destroy(idm_program *p)
{
  if (!p) return;
  if (p->solver) clp.Clp_deleteModel(p->solver);
  free(p->cost);
  free(p->low);
  free(p->high);
  free(p->lower);
  free(p->upper);
  free(p->first);
  free(p->column);
  free(p->value);
  free(p->last_entry);
  free(p->bounds_changed);
  free(p->x);
  free(p->dual);
  free(p->reduced);
  free(p->scale);
  free(p);
}

size_t idm_program_columns(const idm_program *program)
{
  return program->columns;
}

size_t idm_program_rows(const idm_program *program)
{
  return program->rows;
}

void idm_program_set_method(idm_program *program, idm_program_method method)
{
  program->method = method;
}

void idm_program_set_cost(idm_program *program, size_t column, double cost)
{
  program->cost[column] = cost;
}

void idm_program_set_bounds(idm_program *program, size_t column, double low, double high)
{
  program->low[column] = low;
  program->high[column] = high;
}

void idm_program_set_row(idm_program *program, size_t row, double lower, double upper)
{
  program->lower[row] = lower;
  program->upper[row] = upper;
  program->bounds_changed[row] = true;
}

/* --- rows ----------------------------------------------------------------------------------- */

static bool resize_array(void *array, size_t capacity, size_t size)
{
  void **pointer = array;
  assert(capacity > 0 && size > 0);
  void *larger = realloc(*pointer, idm_times(capacity, size));
  if (larger) *pointer = larger;
  return larger;
}

idm_status idm_program_add_entry(idm_program *p, size_t column, double value, idm_error *opt_error)
{
  const size_t begin = p->first[p->rows];
  if (p->last_entry[column] > begin) {
    p->value[p->last_entry[column] - 1] += value;
    return IDM_OK;
  }
  if (p->entries == p->entry_capacity) {
    const size_t capacity = p->entry_capacity ? 2 * p->entry_capacity : 256;
    if (!resize_array(&p->column, capacity, sizeof *p->column) ||
        !resize_array(&p->value, capacity, sizeof *p->value))
      return idm_fail_memory(opt_error);
    p->entry_capacity = capacity;
  }
  p->column[p->entries] = (int)column;
  p->value[p->entries++] = value;
  p->last_entry[column] = p->entries;
  return IDM_OK;
}

idm_status idm_program_add_row(idm_program *p, double lower, double upper, idm_error *opt_error)
{
  if (p->rows == p->row_capacity) {
    const size_t capacity = p->row_capacity ? 2 * p->row_capacity : 64;
    if (!resize_array(&p->lower, capacity, sizeof *p->lower) ||
        !resize_array(&p->upper, capacity, sizeof *p->upper) ||
        !resize_array(&p->first, capacity + 1, sizeof *p->first) ||
        !resize_array(&p->dual, capacity, sizeof *p->dual) ||
        !resize_array(&p->bounds_changed, capacity, sizeof *p->bounds_changed))
      return idm_fail_memory(opt_error);
    p->row_capacity = capacity;
  }
  p->lower[p->rows] = lower;
  p->upper[p->rows] = upper;
  p->bounds_changed[p->rows] = false;
  p->first[++p->rows] = p->entries;
  return IDM_OK;
}

/* --- solving -------------------------------------------------------------------------------- */

static double clipped(double bound)
{
  return fmax(-clp_infinity, fmin(clp_infinity, bound));
}

/* Pass all new rows at once: the solver copies its matrix in every call. */
static idm_status add_rows(idm_program *p, idm_error *opt_error)
{
  const size_t count = p->rows - p->solver_rows;
  if (!count) return IDM_OK;
  const size_t begin = p->first[p->solver_rows];
  int *starts = idm_new(count + 1, sizeof *starts);
  double *bound = idm_new(2 * count, sizeof *bound);
  if (starts && bound) {
    for (size_t i = 0; i <= count; i++) starts[i] = (int)(p->first[p->solver_rows + i] - begin);
    for (size_t i = 0; i < count; i++) {
      bound[i] = clipped(p->lower[p->solver_rows + i]);
      bound[count + i] = clipped(p->upper[p->solver_rows + i]);
    }
    clp.Clp_addRows(p->solver, (int)count, bound, bound + count, starts, p->column + begin,
                    p->value + begin);
    p->solver_rows = p->rows;
  }
  const bool done = starts && bound;
  free(starts);
  free(bound);
  return done ? IDM_OK : idm_fail_memory(opt_error);
}

static idm_status update_solver(idm_program *p, idm_error *opt_error)
{
  for (size_t j = 0; j < p->columns; j++) {
    clp.Clp_objective(p->solver)[j] = p->cost[j];
    clp.Clp_columnLower(p->solver)[j] = clipped(p->low[j]);
    clp.Clp_columnUpper(p->solver)[j] = clipped(p->high[j]);
  }
  for (size_t i = 0; i < p->solver_rows; i++) {
    if (!p->bounds_changed[i]) continue;
    clp.Clp_rowLower(p->solver)[i] = clipped(p->lower[i]);
    clp.Clp_rowUpper(p->solver)[i] = clipped(p->upper[i]);
    p->bounds_changed[i] = false;
  }
  return add_rows(p, opt_error);
}

/* Clip the solution to its bounds, so that they hold exactly in spite of rounding. */
static void take_solution(idm_program *p)
{
  for (size_t j = 0; j < p->columns; j++)
    p->x[j] = fmax(p->low[j], fmin(p->high[j], clp.Clp_getColSolution(p->solver)[j]));
  for (size_t i = 0; i < p->rows; i++) p->dual[i] = clp.Clp_getRowPrice(p->solver)[i];
}

/* Violation of a row's bounds, relative to its largest term. */
static double row_violation(const idm_program *p, size_t i)
{
  double activity = 0;
  double largest = 1;
  for (size_t k = p->first[i]; k < p->first[i + 1]; k++) {
    const double term = p->value[k] * p->x[p->column[k]];
    activity += term;
    largest = fmax(largest, fabs(term));
  }
  return fmax(0, fmax(p->lower[i] - activity, activity - p->upper[i])) / largest;
}

/* Contribution of a multiplier to the dual objective: multiplier times its active bound. If that
 * bound is infinite, the multiplier has the wrong sign, and the relative violation is returned. */
static double dual_term(double multiplier, double low, double high, double scale, double *total,
                        double *largest)
{
  const double bound = multiplier > 0 ? low : high;
  if (multiplier == 0) return 0;
  if (!isfinite(bound)) return fabs(multiplier) / fmax(1, scale);
  *total += multiplier * bound;
  *largest = fmax(*largest, fabs(multiplier * bound));
  return 0;
}

/* Certificate by weak duality, from A, x and the multipliers alone. */
static void certify(idm_program *p, idm_program_solution *s)
{
  double dual = 0;
  double largest = 1;
  s->objective = 0;
  s->violation = 0;
  for (size_t j = 0; j < p->columns; j++) {
    p->reduced[j] = p->cost[j];
    p->scale[j] = fabs(p->cost[j]);
    s->objective += p->cost[j] * p->x[j];
    largest = fmax(largest, fabs(p->cost[j] * p->x[j]));
  }
  for (size_t i = 0; i < p->rows; i++) {
    s->violation = fmax(s->violation, row_violation(p, i));
    s->violation = fmax(s->violation, dual_term(p->dual[i], p->lower[i], p->upper[i],
                                                fabs(p->dual[i]), &dual, &largest));
    for (size_t k = p->first[i]; k < p->first[i + 1]; k++) {
      const double term = p->value[k] * p->dual[i];
      p->reduced[p->column[k]] -= term;
      p->scale[p->column[k]] = fmax(p->scale[p->column[k]], fabs(term));
    }
  }
  for (size_t j = 0; j < p->columns; j++)
    s->violation = fmax(s->violation, dual_term(p->reduced[j], p->low[j], p->high[j], p->scale[j],
                                                &dual, &largest));
  s->gap = fabs(s->objective - dual) / largest;
}

enum { optimal, infeasible, unbounded, limit_reached };

/* Iterations of the primal or the dual simplex method from the current basis, without presolve,
 * which could not be interrupted. Each batch takes a fraction of a second, so that an interruption
 * is possible. Batches grow slowly, since every start has a cost. */
static int iterate(idm_program *p, bool primal, idm_interrupt opt_interrupt, void *context)
{
  enum { max_batches = 400 };
  const double batch = fmax(100, 5e7 / (double)(p->rows + p->columns + p->entries));
  for (int i = 0; i < max_batches; i++) {
    if (opt_interrupt && opt_interrupt(context)) return limit_reached;
    clp.Clp_setMaximumIterations(p->solver, (int)fmin(1e9, batch * (8 + i) / 8));
    if (primal)
      clp.Clp_primal(p->solver, 0);
    else
      clp.Clp_dual(p->solver, 0);
    if (clp.Clp_status(p->solver) != limit_reached) break;
  }
  return clp.Clp_status(p->solver);
}

/* First solution by the chosen method. Later solutions start from the last one, by the primal
 * method if the basis is still feasible, as after a change of costs. */
static int solve_once(idm_program *p, idm_interrupt opt_interrupt, void *context)
{
  const bool first = !p->solved;
  p->solved = true;
  if (first && p->method == IDM_PROGRAM_BARRIER) {
    if (opt_interrupt && opt_interrupt(context)) return limit_reached;
    clp.Clp_setMaximumIterations(p->solver, 1000000);
    clp.Clp_initialBarrierSolve(p->solver);
    if (clp.Clp_status(p->solver) != limit_reached) return clp.Clp_status(p->solver);
  }
  const bool warm_started = !first || p->method == IDM_PROGRAM_BARRIER;
  const bool primal = warm_started && clp.Clp_primalFeasible(p->solver);
  return iterate(p, primal, opt_interrupt, context);
}

/* The solver scales rows and columns, and its tolerances apply to the scaled program: if the
 * unscaled violation is too large, some iterations without scaling follow. */
static const double polish_tolerance = 1e-11;

static void polish(idm_program *p, idm_program_solution *solution, idm_interrupt opt_interrupt,
                   void *context)
{
  const int scaling = clp.Clp_scalingFlag(p->solver);
  clp.Clp_scaling(p->solver, 0);
  clp.Clp_setPrimalTolerance(p->solver, 1e-11);
  clp.Clp_setDualTolerance(p->solver, 1e-11);
  if (iterate(p, true, opt_interrupt, context) == optimal) {
    take_solution(p);
    certify(p, solution);
  }
  clp.Clp_scaling(p->solver, scaling);
  clp.Clp_setPrimalTolerance(p->solver, 1e-9);
  clp.Clp_setDualTolerance(p->solver, 1e-9);
}

/* Slack basis: each column at one of its bounds, or at 0. */
static void reset_basis(idm_program *p)
{
  enum { free_column, basic, at_upper, at_lower };
  for (size_t i = 0; i < p->rows; i++) clp.Clp_setRowStatus(p->solver, (int)i, basic);
  for (size_t j = 0; j < p->columns; j++)
    clp.Clp_setColumnStatus(p->solver, (int)j,
                            isfinite(p->low[j])    ? at_lower
                            : isfinite(p->high[j]) ? at_upper
                                                   : free_column);
}

/* Presolve and distant starts may report infeasibility if rounding alone violates a row: such a
 * result is accepted only if both methods confirm it from the slack basis. */
static int solve_from_slack(idm_program *p, idm_interrupt opt_interrupt, void *context)
{
  reset_basis(p);
  const int end = iterate(p, true, opt_interrupt, context);
  if (end != infeasible && end != unbounded) return end;
  reset_basis(p);
  const int dual_end = iterate(p, false, opt_interrupt, context);
  return dual_end == optimal || dual_end == limit_reached ? dual_end : end;
}

idm_status idm_program_solve(idm_program *p, idm_interrupt opt_interrupt, void *context,
                             idm_program_solution *solution, idm_error *opt_error)
{
  static const idm_program_end end_of_status[] = {IDM_PROGRAM_SOLVED, IDM_PROGRAM_INFEASIBLE,
                                                  IDM_PROGRAM_UNBOUNDED};
  if (p->rows >= INT_MAX || p->entries >= INT_MAX) return idm_fail_memory(opt_error);
  const idm_status status = update_solver(p, opt_error);
  if (status != IDM_OK) return status;
  int end = solve_once(p, opt_interrupt, context);
  if (end == infeasible || end == unbounded) end = solve_from_slack(p, opt_interrupt, context);
  *solution =
      (idm_program_solution){.end = end >= 0 && end <= 2 ? end_of_status[end] : IDM_PROGRAM_STOPPED,
                             .x = p->x,
                             .dual = p->dual};
  if (solution->end != IDM_PROGRAM_SOLVED) {
    solution->objective = solution->gap = solution->violation = NAN;
    return IDM_OK;
  }
  take_solution(p);
  certify(p, solution);
  if (fmax(solution->gap, solution->violation) > polish_tolerance)
    polish(p, solution, opt_interrupt, context);
  return IDM_OK;
}

/* --- optimal face ---------------------------------------------------------------------------- */

/* Multipliers below this, relative to the largest cost, are rounding errors; so are multipliers of
 * rows and columns farther from their bound than bound_tolerance, relative to their value. */
static const double multiplier_tolerance = 1e-9;
static const double bound_tolerance = 1e-9;

static double activity(const idm_program *p, size_t i)
{
  double sum = 0;
  for (size_t k = p->first[i]; k < p->first[i + 1]; k++) sum += p->value[k] * p->x[p->column[k]];
  return sum;
}

/* Bound that is active according to the multiplier; NaN if none is. */
static double active_bound(double multiplier, double threshold, double at, double low, double high)
{
  const double bound = multiplier > threshold ? low : multiplier < -threshold ? high : NAN;
  return fabs(at - bound) <= bound_tolerance * fmax(1, fabs(at)) ? bound : NAN;
}

/* If only one column has a cost, its value is the same in every optimum. */
static void fix_only_cost(idm_program *p)
{
  size_t only = p->columns;
  size_t count = 0;
  for (size_t j = 0; j < p->columns; j++)
    if (p->cost[j] != 0) {
      only = j;
      count++;
    }
  if (count == 1) p->low[only] = p->high[only] = p->x[only];
}

void idm_program_fix_optimal(idm_program *p)
{
  double threshold = 0;
  for (size_t j = 0; j < p->columns; j++)
    threshold = fmax(threshold, multiplier_tolerance * fabs(p->cost[j]));
  for (size_t i = 0; i < p->rows; i++) {
    const double bound =
        active_bound(p->dual[i], threshold, activity(p, i), p->lower[i], p->upper[i]);
    if (!isnan(bound)) idm_program_set_row(p, i, bound, bound);
  }
  for (size_t j = 0; j < p->columns; j++) {
    const double bound = active_bound(p->reduced[j], threshold, p->x[j], p->low[j], p->high[j]);
    if (!isnan(bound)) p->low[j] = p->high[j] = bound;
  }
  fix_only_cost(p);
}

idm_program_view idm_program_get_view(const idm_program *p)
{
  return (idm_program_view){.columns = p->columns,
                            .rows = p->rows,
                            .cost = p->cost,
                            .low = p->low,
                            .high = p->high,
                            .lower = p->lower,
                            .upper = p->upper,
                            .first = p->first,
                            .column = p->column,
                            .value = p->value};
}
