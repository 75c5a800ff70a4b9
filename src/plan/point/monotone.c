/* Policy iteration for monotone systems. */
#include "plan/point/monotone.h"

#include <math.h>

#include "base/krylov.h"
#include "base/memory.h"

/* --- describing ----------------------------------------------------------------------------- */

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
                  .most_rows = numbers,
                  .first = idm_new(numbers + 1, sizeof *m->first),
                  .floor = idm_new(numbers, sizeof *m->floor),
                  .row = idm_new(numbers + 1, sizeof *m->row)};
  return m->first && m->floor && m->row ? IDM_OK : idm_fail_memory(opt_error);
}

idm_status idm_monotone_add(monotone *m, size_t column, double value, idm_error *opt_error)
{
  if (m->entries == m->most_entries) {
    const size_t most = m->most_entries + m->most_entries / 2 + 256;
    uint32_t *columns = realloc(m->column, idm_times(most, sizeof *columns));
    if (columns) m->column = columns;
    double *values = realloc(m->value, idm_times(most, sizeof *values));
    if (values) m->value = values;
    if (!columns || !values) return idm_fail_memory(opt_error);
    m->most_entries = most;
  }
  m->column[m->entries] = (uint32_t)column;
  m->value[m->entries++] = value;
  return IDM_OK;
}

idm_status idm_monotone_end_row(monotone *m, double constant, idm_error *opt_error)
{
  if (m->rows == m->most_rows) {
    const size_t most = 2 * m->most_rows + 64;
    monotone_row *row = realloc(m->row, idm_times(most + 1, sizeof *row));
    if (!row) return idm_fail_memory(opt_error);
    m->row = row;
    m->most_rows = most;
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

/* --- solving -------------------------------------------------------------------------------- */

/* At work on a system: which row each number goes by. */
typedef struct iteration {
  const monotone *m;
  size_t *chosen; /* [number]: row, or FLOOR */
  double *miss;   /* [number]: how far y is from solving the system of the rows chosen */
  double *step;   /* [number] */
  double *y;      /* [number] */
  double *work;   /* of GMRES */
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

/* y = (I - M) x with the rows chosen. */
static void apply(const void *context, const double *x, double *y)
{
  const iteration *n = context;
  for (size_t i = 0; i < n->m->numbers; i++)
    y[i] = n->chosen[i] == FLOOR ? x[i] : x[i] - row_times(n->m, n->chosen[i], x);
}

static double chosen_at(const iteration *n, size_t i, const double *x)
{
  return n->chosen[i] == FLOOR ? n->m->floor[i] : row_at(n->m, n->chosen[i], x);
}

/* Go by the best rows at y; false where those were chosen already, but for rounding. */
static bool choose(const iteration *n)
{
  bool moved = false;
  for (size_t i = 0; i < n->m->numbers; i++) {
    const double now = chosen_at(n, i, n->y);
    double best = now + 1e-13 * fabs(now);
    size_t at = n->chosen[i];
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
    moved = moved || at != n->chosen[i];
    n->chosen[i] = at;
  }
  return moved;
}

/* What the rows chosen are worth. */
static void evaluate(const iteration *n)
{
  enum { products = 4 * IDM_GMRES_BASIS };
  static const double tolerance = 1e-4;
  const size_t numbers = n->m->numbers;
  for (size_t i = 0; i < numbers; i++) n->miss[i] = chosen_at(n, i, n->y) - n->y[i];
  idm_gmres(numbers, apply, n, n->miss, n->step, tolerance, IDM_GMRES_BASIS, products, n->work,
            NULL);
  for (size_t i = 0; i < numbers; i++) n->y[i] += n->step[i];
}

/* With T x the best of all rows and T y <= y + (1 - discount) c everywhere, y + c is not below the
 * fixed point, and T(y + c) neither. */
static void take(const iteration *n, double *x)
{
  const monotone *m = n->m;
  double most = 0;
  for (size_t i = 0; i < m->numbers; i++) {
    n->step[i] = m->floor[i];
    for (size_t r = m->first[i]; r < m->first[i + 1]; r++)
      n->step[i] = fmax(n->step[i], row_at(m, r, n->y));
    most = fmax(most, n->step[i] - n->y[i]);
    if (!isfinite(n->step[i]) || !isfinite(n->y[i])) return;
  }
  const double shift = m->discount * most / (1 - m->discount);
  for (size_t i = 0; i < m->numbers; i++) x[i] = fmin(x[i], n->step[i] + shift);
}

idm_status idm_monotone_lower(const monotone *m, double *x, idm_error *opt_error)
{
  enum { most_steps = 30 };
  const size_t numbers = m->numbers;
  iteration n = {.m = m,
                 .chosen = idm_new(numbers, sizeof *n.chosen),
                 .miss = idm_new(numbers, sizeof *n.miss),
                 .step = idm_new(numbers, sizeof *n.step),
                 .y = idm_duplicate(x, numbers, sizeof *n.y),
                 .work =
                     idm_new(idm_times(IDM_GMRES_WORK(IDM_GMRES_BASIS), numbers), sizeof *n.work)};
  const bool made = n.chosen && n.miss && n.step && n.y && n.work;
  for (size_t i = 0; made && i < numbers; i++)
    n.chosen[i] = m->first[i] < m->first[i + 1] ? m->first[i] : FLOOR;
  if (made) choose(&n);
  for (int k = 0; made && k < most_steps; k++) {
    evaluate(&n);
    if (!choose(&n) || (m->opt_halts && m->opt_halts(m->context))) break;
  }
  if (made) take(&n, x);
  free(n.chosen);
  free(n.miss);
  free(n.step);
  free(n.y);
  free(n.work);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}
