/* Newton's method on both bounds, by policy iteration for monotone systems.
 *
 * Contents: monotone · Newton */
#include "plan/point/search.h"

#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "plan/point/bounds.h"

/* === monotone ================================================================================= */

/* Policy iteration for monotone systems. */

/* --- definition ------------------------------------------------------------------------------ */

void idm_monotone_free(monotone *m)
{
  free(m->first);
  free(m->floor);
  free(m->row);
  free(m->column);
  free(m->value);
  *m = (monotone){0};
}

idm_status idm_monotone_create(size_t numbers, double discount, monotone *m, idm_error *opt_error)
{
  *m = (monotone){.discount = discount,
                  .row_capacity = numbers,
                  .first = idm_new(numbers + 1, sizeof *m->first),
                  .floor = idm_new(numbers, sizeof *m->floor),
                  .row = idm_new(numbers + 1, sizeof *m->row)};
  return m->first && m->floor && m->row ? IDM_OK : idm_fail_memory(opt_error);
}

idm_status idm_monotone_add(monotone *m, size_t column, double value, idm_error *opt_error)
{
  if (m->entries == m->entry_capacity) {
    const size_t row_limit = m->entry_capacity + m->entry_capacity / 2 + 256;
    uint32_t *columns = realloc(m->column, idm_times(row_limit, sizeof *columns));
    if (columns) m->column = columns;
    double *values = realloc(m->value, idm_times(row_limit, sizeof *values));
    if (values) m->value = values;
    if (!columns || !values) return idm_fail_memory(opt_error);
    m->entry_capacity = row_limit;
  }
  m->column[m->entries] = (uint32_t)column;
  m->value[m->entries++] = value;
  return IDM_OK;
}

idm_status idm_monotone_end_row(monotone *m, double constant, idm_error *opt_error)
{
  if (m->rows == m->row_capacity) {
    const size_t row_limit = 2 * m->row_capacity + 64;
    monotone_row *row = realloc(m->row, idm_times(row_limit + 1, sizeof *row));
    if (!row) return idm_fail_memory(opt_error);
    m->row = row;
    m->row_capacity = row_limit;
  }
  m->row[m->rows++].constant = constant;
  m->row[m->rows].entry = m->entries;
  return IDM_OK;
}

void idm_monotone_end(monotone *m, double floor)
{
  m->floor[m->numbers++] = floor;
  m->first[m->numbers] = m->rows;
}

/* --- solution -------------------------------------------------------------------------------- */

/* An iteration on a system, with the row selected for each number. */
typedef struct iteration {
  const monotone *m;
  size_t *policy_row; /* [number]: selected row, or FLOOR */
  double *residual;   /* [number]: residual of y in the system of the selected rows */
  double *step;       /* [number] */
  double *y;          /* [number] */
  double *work;       /* of GMRES */
} iteration;

#define FLOOR SIZE_MAX

static double row_times(const monotone *m, size_t row, const double *x)
{
  double sum = 0;
  for (size_t e = m->row[row].entry; e < m->row[row + 1].entry; e++)
    sum += m->value[e] * x[m->column[e]];
  return sum;
}

static double row_at(const monotone *m, size_t row, const double *x)
{
  return m->row[row].constant + row_times(m, row, x);
}

/* y = (I - M) x with the selected rows. */
static void apply(const void *context, const double *x, double *y)
{
  const iteration *n = context;
  for (size_t i = 0; i < n->m->numbers; i++)
    y[i] = n->policy_row[i] == FLOOR ? x[i] : x[i] - row_times(n->m, n->policy_row[i], x);
}

static double policy_value(const iteration *n, size_t i, const double *x)
{
  return n->policy_row[i] == FLOOR ? n->m->floor[i] : row_at(n->m, n->policy_row[i], x);
}

/* Selects the best rows at y; false if these were selected already, up to rounding. */
static bool improve_policy(const iteration *n)
{
  bool changed = false;
  for (size_t i = 0; i < n->m->numbers; i++) {
    const double now = policy_value(n, i, n->y);
    double best = now + 1e-13 * fabs(now);
    size_t at = n->policy_row[i];
    if (n->m->floor[i] > best) {
      best = n->m->floor[i];
      at = FLOOR;
    }
    for (size_t r = n->m->first[i]; r < n->m->first[i + 1]; r++) {
      const double here = row_at(n->m, r, n->y);
      if (here <= best) continue;
      best = here;
      at = r;
    }
    changed = changed || at != n->policy_row[i];
    n->policy_row[i] = at;
  }
  return changed;
}

/* Solves the system of the selected rows, approximately. */
static void evaluate(const iteration *n)
{
  enum { products = 4 * IDM_GMRES_BASIS };
  static const double tolerance = 1e-4;
  const size_t numbers = n->m->numbers;
  for (size_t i = 0; i < numbers; i++) n->residual[i] = policy_value(n, i, n->y) - n->y[i];
  idm_gmres(numbers, apply, n, n->residual, n->step, tolerance, IDM_GMRES_BASIS, products, n->work,
            NULL);
  for (size_t i = 0; i < numbers; i++) n->y[i] += n->step[i];
}

/* Lowers x to a bound computed from y. Let T x be the maximum over all rows. If T y <= y + (1 -
 * discount) c everywhere, y + c is not below the fixed point, nor is T(y + c). */
static void apply_bound(const iteration *n, double *x)
{
  const monotone *m = n->m;
  double row_limit = 0;
  for (size_t i = 0; i < m->numbers; i++) {
    n->step[i] = m->floor[i];
    for (size_t r = m->first[i]; r < m->first[i + 1]; r++)
      n->step[i] = fmax(n->step[i], row_at(m, r, n->y));
    row_limit = fmax(row_limit, n->step[i] - n->y[i]);
    if (!isfinite(n->step[i]) || !isfinite(n->y[i])) return;
  }
  const double shift = m->discount * row_limit / (1 - m->discount);
  for (size_t i = 0; i < m->numbers; i++) x[i] = fmin(x[i], n->step[i] + shift);
}

idm_status idm_monotone_lower(const monotone *m, double *x, idm_error *opt_error)
{
  enum { max_steps = 30 };
  const size_t numbers = m->numbers;
  iteration n = {.m = m,
                 .policy_row = idm_new(numbers, sizeof *n.policy_row),
                 .residual = idm_new(numbers, sizeof *n.residual),
                 .step = idm_new(numbers, sizeof *n.step),
                 .y = idm_duplicate(x, numbers, sizeof *n.y),
                 .work =
                     idm_new(idm_times(IDM_GMRES_WORK(IDM_GMRES_BASIS), numbers), sizeof *n.work)};
  const bool allocated = n.policy_row && n.residual && n.step && n.y && n.work;
  for (size_t i = 0; allocated && i < numbers; i++)
    n.policy_row[i] = m->first[i] < m->first[i + 1] ? m->first[i] : FLOOR;
  if (allocated) improve_policy(&n);
  for (int k = 0; allocated && k < max_steps; k++) {
    evaluate(&n);
    if (!improve_policy(&n) || (m->opt_stop && m->opt_stop(m->context))) break;
  }
  if (allocated) apply_bound(&n, x);
  free(n.policy_row);
  free(n.residual);
  free(n.step);
  free(n.y);
  free(n.work);
  return allocated ? IDM_OK : idm_fail_memory(opt_error);
}

/* === Newton ================================================================================= */

/* --- lower bound ----------------------------------------------------------------------------- */

/* Adds the row of vector i in state s. The unknowns are x = -alpha, so that they decrease. */
static idm_status add_plan_row(const search_graph *g, size_t i, size_t s, double belief_reward,
                               monotone *m, idm_error *opt_error)
{
  const kernel *k = g->problem->kernel;
  const size_t u = g->bounds->stage[0].lower.action[i];
  const uint32_t *after = g->plans.after + i * g->plans.width;
  const size_t first = kernel_first_cell(k, u);
  idm_status status = IDM_OK;
  size_t o = k->outcome[u];
  for (size_t e = k->entry[u * k->states + s];
       e < k->entry[u * k->states + s + 1] && status == IDM_OK; e++) {
    const size_t cell = first + k->at[e];
    while (cell >= k->cell[o + 1]) o++; /* entries are ordered by outcome */
    const size_t next = (size_t)after[o - k->outcome[u]] * k->states + k->state[cell];
    status = idm_monotone_add(m, next, g->problem->discount * k->value[e], opt_error);
  }
  if (status == IDM_OK) status = idm_monotone_end_row(m, -belief_reward, opt_error);
  idm_monotone_end(m, -INFINITY);
  return status;
}

/* Builds the system of all plans; `belief_reward` is scratch, [state]. */
static idm_status gather_plans(const search_graph *g, double *belief_reward, monotone *m, double *x,
                               idm_error *opt_error)
{
  const size_t states = g->problem->kernel->states;
  const alphas *lower = &g->bounds->stage[0].lower;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < lower->count && status == IDM_OK; i++) {
    const sparse_belief at = graph_belief(g, g->plans.owner[i]);
    memcpy(belief_reward, g->problem->reward + lower->action[i] * states,
           states * sizeof *belief_reward);
    idm_piecewise_reward_add(&g->problem->piecewise_reward, lower->action[i], &at, belief_reward);
    for (size_t s = 0; s < states && status == IDM_OK; s++) {
      x[i * states + s] = -alpha_at(lower, i, s);
      status = add_plan_row(g, i, s, belief_reward[s], m, opt_error);
    }
  }
  return status;
}

/* Adds vectors that are nowhere below the first `count`, and so replace them. */
static idm_status replace_vectors(search_graph *g, size_t count, const double *x, double *vector,
                                  idm_error *opt_error)
{
  alphas *lower = &g->bounds->stage[0].lower;
  plans *p = &g->plans;
  uint32_t *after = idm_new(p->width, sizeof *after);
  idm_status status = after ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    for (size_t o = 0; o < p->width; o++) after[o] = p->after[i * p->width + o] + (uint32_t)count;
    for (size_t s = 0; s < lower->states; s++) vector[s] = -x[i * lower->states + s];
    status = idm_plans_add(p, p->owner[i], after, opt_error);
    if (status == IDM_OK) status = idm_alphas_add(lower, vector, lower->action[i], opt_error);
  }
  free(after);
  return status;
}

idm_status idm_newton_lower(search_graph *g, idm_error *opt_error)
{
  idm_status status = idm_graph_prune_lower(g, 0, opt_error);
  if (status != IDM_OK) return status;
  const size_t states = g->problem->kernel->states;
  const size_t count = g->bounds->stage[0].lower.count;
  monotone m = {0};
  double *x = idm_new(idm_times(count, states), sizeof *x);
  double *vector = idm_new(states, sizeof *vector);
  status = x && vector ? idm_monotone_create(count * states, g->problem->discount, &m, opt_error)
                       : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = gather_plans(g, vector, &m, x, opt_error);
  m.opt_stop = g->problem->opt_stop;
  m.context = g->problem->stop_context;
  if (status == IDM_OK) status = idm_monotone_lower(&m, x, opt_error);
  if (status == IDM_OK) status = replace_vectors(g, count, x, vector, opt_error);
  if (status == IDM_OK) status = idm_graph_prune_lower(g, 0, opt_error);
  idm_monotone_free(&m);
  free(x);
  free(vector);
  return status;
}

/* --- upper bound ----------------------------------------------------------------------------- */

/* Parts of a mixture. */
typedef struct mixture {
  uint32_t *part; /* [states + 1] */
  double *weight; /* [states + 1] */
} mixture;

/* Adds the row of an action at a node, with the mixtures that bound its successors. */
static idm_status add_action_row(search_graph *g, uint32_t at, size_t u, const mixture *mix,
                                 monotone *m, idm_error *opt_error)
{
  const sawtooth *upper = &g->bounds->stage[0].upper;
  const sparse_belief z = graph_belief(g, at);
  const branch *b = graph_branch(g, at, u);
  double constant = idm_graph_reward(g, &z, u);
  idm_status status = IDM_OK;
  for (size_t e = b->edge; e < b->edge + b->edges && status == IDM_OK; e++) {
    const sparse_belief next = idm_graph_belief(g, g->edge[e].node);
    const double p = g->problem->discount * g->edge[e].p;
    double rest;
    const size_t parts = idm_sawtooth_mix(upper, &next, mix->part, mix->weight, &rest, g->dense);
    constant += p * rest;
    for (size_t i = 0; i < parts && status == IDM_OK; i++)
      if (mix->weight[i] > 0)
        status = idm_monotone_add(m, mix->part[i], p * mix->weight[i], opt_error);
  }
  return status == IDM_OK ? idm_monotone_end_row(m, constant, opt_error) : status;
}

/* Adds the number of a node: the maximum over its expanded actions, and at least the bounds of the
 * others. */
static idm_status add_node(search_graph *g, uint32_t at, const mixture *mix, monotone *m,
                           idm_error *opt_error)
{
  double floor = -INFINITY;
  size_t best;
  idm_status status = idm_graph_choose(g, at, &best, opt_error);
  for (size_t u = 0; u < g->problem->kernel->actions && status == IDM_OK; u++) {
    const branch *b = graph_branch(g, at, u);
    if (b->expanded)
      status = add_action_row(g, at, u, mix, m, opt_error);
    else
      floor = fmax(floor, b->upper);
  }
  idm_monotone_end(m, floor);
  return status;
}

/* Builds the system: the points, by their owners, then the corners, which are constant. */
static idm_status gather_points(search_graph *g, const mixture *mix, monotone *m, double *x,
                                idm_error *opt_error)
{
  const sawtooth *upper = &g->bounds->stage[0].upper;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < upper->count && status == IDM_OK; i++) {
    x[i] = upper->point[i].value;
    status = add_node(g, upper->point[i].owner, mix, m, opt_error);
  }
  for (size_t s = 0; s < upper->states && status == IDM_OK; s++) {
    x[upper->count + s] = upper->corner[s];
    idm_monotone_end(m, upper->corner[s]);
  }
  return status;
}

static idm_status lower_points(search_graph *g, double min_decrease, const double *x,
                               idm_error *opt_error)
{
  sawtooth *upper = &g->bounds->stage[0].upper;
  const size_t count = upper->count;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    if (!(x[i] < upper->point[i].value - min_decrease)) continue;
    const uint32_t owner = upper->point[i].owner;
    search_node *n = &g->node[owner];
    const sparse_belief b = graph_belief(g, owner);
    n->upper = fmin(n->upper, x[i]);
    status = idm_sawtooth_lower(upper, &b, x[i], owner, &n->point, opt_error);
  }
  return status;
}

idm_status idm_newton_upper(search_graph *g, double min_decrease, idm_error *opt_error)
{
  const sawtooth *upper = &g->bounds->stage[0].upper;
  const size_t rows = upper->count + upper->states;
  monotone m = {0};
  const mixture mix = {idm_new(upper->states + 1, sizeof *mix.part),
                       idm_new(upper->states + 1, sizeof *mix.weight)};
  double *x = idm_new(rows, sizeof *x);
  idm_status status = x && mix.part && mix.weight
                          ? idm_monotone_create(rows, g->problem->discount, &m, opt_error)
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = gather_points(g, &mix, &m, x, opt_error);
  m.opt_stop = g->problem->opt_stop;
  m.context = g->problem->stop_context;
  if (status == IDM_OK) status = idm_monotone_lower(&m, x, opt_error);
  if (status == IDM_OK) status = lower_points(g, min_decrease, x, opt_error);
  idm_monotone_free(&m);
  free(mix.part);
  free(mix.weight);
  free(x);
  return status;
}
