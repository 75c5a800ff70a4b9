/* Newton's method for a margin with a regulariser, its barriers made lighter from round to round.
 */
#include "invert/utility/convex_margin.h"

#include <math.h>

#include "base/dense.h"
#include "base/memory.h"

enum { most_steps = 200, most_halvings = 60 };
static const double first_barrier = 1e-1;
/* What the last barrier adds is about this, for every entry. */
static const double last_barrier = 1e-11;
/* Entries of a gradient below this are rounding: occupancies sum to 1. */
static const double no_slope = 1e-13;

typedef struct descent {
  idm_soft_plan *plan;
  const idm_regulariser *zeta;
  const double *p; /* [entry], as all below */
  size_t entries;
  bool *moves; /* entries of states that are come to */
  double mu;
  double *gradient;
  double *bend;
  double *step;
  double *trial;
  double *unit;
  double *change;
  double *matrix; /* [entry][entry] */
} descent;

static bool open_descent(descent *d, idm_soft_plan *plan, const idm_regulariser *zeta,
                         const double *p)
{
  const idm_sizes n = plan->world->n;
  const size_t entries = n.states * n.actions;
  *d = (descent){.plan = plan, .zeta = zeta, .p = p, .entries = entries};
  d->moves = idm_new(entries, sizeof *d->moves);
  d->gradient = idm_new(6 * entries, sizeof *d->gradient);
  d->matrix = idm_new(idm_times(entries, entries), sizeof *d->matrix);
  if (!d->moves || !d->gradient || !d->matrix) return false;
  double **const part[] = {&d->bend, &d->step, &d->trial, &d->unit, &d->change};
  for (size_t i = 0; i < 5; i++) *part[i] = d->gradient + (i + 1) * entries;
  for (size_t s = 0; s < n.states; s++) {
    double mass = 0;
    for (size_t u = 0; u < n.actions; u++) mass += p[u * n.states + s];
    for (size_t u = 0; u < n.actions; u++) d->moves[u * n.states + s] = mass > 0;
  }
  return true;
}

static void close_descent(descent *d)
{
  free(d->moves);
  free(d->gradient);
  free(d->matrix);
}

/* The objective with barriers and its gradient; infinite outside. */
static idm_status evaluate(descent *d, const double *v, double *objective, idm_error *opt_error)
{
  double priced = 0;
  for (size_t e = 0; e < d->entries; e++) {
    double value = 0, slope = 0;
    d->bend[e] = 1;
    if (d->moves[e] &&
        !idm_regulariser_smooth(d->zeta, d->p[e], v[e], d->mu, &value, &slope, &d->bend[e])) {
      *objective = INFINITY;
      return IDM_OK;
    }
    priced += value - d->p[e] * v[e];
    d->gradient[e] = slope - d->p[e];
  }
  const idm_status status = idm_soft_plan_solve(d->plan, v, objective, opt_error);
  if (status != IDM_OK) return status;
  *objective += priced;
  idm_soft_plan_occupancy(d->plan, d->change);
  for (size_t e = 0; e < d->entries; e++)
    d->gradient[e] = d->moves[e] ? d->gradient[e] + d->change[e] : 0;
  return IDM_OK;
}

static double largest(const descent *d)
{
  double most = 0;
  for (size_t e = 0; e < d->entries; e++) most = fmax(most, fabs(d->gradient[e]));
  return most;
}

/* step = -H^-1 gradient, H = d occupancy / d utility + diag(bend). */
static bool find_step(descent *d)
{
  const size_t n = d->entries;
  for (size_t i = 0; i < n; i++) {
    memset(d->unit, 0, n * sizeof *d->unit);
    d->unit[i] = d->moves[i];
    idm_soft_plan_bend(d->plan, d->unit, d->change);
    for (size_t j = 0; j < n; j++) d->matrix[i * n + j] = d->moves[j] ? d->change[j] : 0;
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++)
      d->matrix[i * n + j] = 0.5 * (d->matrix[i * n + j] + d->matrix[j * n + i]);
    d->matrix[i * n + i] += d->bend[i] + 1e-15;
    d->step[i] = -d->gradient[i];
  }
  if (!idm_cholesky(n, d->matrix)) return false;
  idm_lower_solve(n, d->matrix, d->step);
  idm_lower_solve_transposed(n, d->matrix, d->step);
  return true;
}

/* Along the step as far as the objective falls, or the gradient does where that is rounding. */
static idm_status walk(descent *d, double *v, double *objective, bool *moved, idm_error *opt_error)
{
  const double before = largest(d);
  double fall = 0, length = 1;
  *moved = false;
  for (size_t e = 0; e < d->entries; e++) fall += d->gradient[e] * d->step[e];
  for (int k = 0; k < most_halvings && !*moved; k++, length /= 2) {
    double value;
    for (size_t e = 0; e < d->entries; e++) d->trial[e] = v[e] + length * d->step[e];
    const idm_status status = evaluate(d, d->trial, &value, opt_error);
    if (status != IDM_OK) return status;
    const double noise = 1e-13 * (1 + fabs(*objective));
    if (!(value <= *objective + 1e-4 * length * fall) &&
        !(value <= *objective + noise && largest(d) < before))
      continue;
    memcpy(v, d->trial, d->entries * sizeof *v);
    *objective = value;
    *moved = true;
  }
  return *moved ? IDM_OK : evaluate(d, v, objective, opt_error);
}

/* With one barrier. */
static idm_status descend(descent *d, double *v, idm_error *opt_error)
{
  double objective;
  bool moved = true;
  idm_status status = evaluate(d, v, &objective, opt_error);
  for (int k = 0; k < most_steps && status == IDM_OK && moved && largest(d) > no_slope; k++) {
    if (!find_step(d))
      return idm_fail(opt_error, IDM_NUMERICAL, "the least margin could not be found");
    status = walk(d, v, &objective, &moved, opt_error);
  }
  return status;
}

idm_status idm_convex_margin(idm_soft_plan *plan, const idm_regulariser *regulariser,
                             const double *p, double *utility, double *objective, double *slope,
                             idm_error *opt_error)
{
  descent d;
  idm_status status = open_descent(&d, plan, regulariser, p) ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t e = 0; e < d.entries && status == IDM_OK; e++)
    utility[e] = d.moves[e] ? idm_regulariser_inside(regulariser) : 0;
  for (d.mu = first_barrier; d.mu >= last_barrier && status == IDM_OK; d.mu /= 10)
    status = descend(&d, utility, opt_error);
  if (status == IDM_OK) {
    *slope = largest(&d);
    status = idm_soft_plan_solve(plan, utility, objective, opt_error);
  }
  for (size_t e = 0; e < d.entries && status == IDM_OK; e++)
    if (d.moves[e])
      *objective += idm_regulariser_value(regulariser, p[e], utility[e]) - p[e] * utility[e];
  close_descent(&d);
  return status;
}
