/* Whether the coefficients of a design can be told apart. */
#include "invert/people/rank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

/* Columns of all effects of a coordinate over cells, one after the other, made orthogonal in turn
 * (Gram and Schmidt). */
typedef struct basis {
  size_t cells;
  size_t columns;
  double *q;         /* [column][cell] */
  double *r;         /* [column][column]: column j = sum_i q_i r[i][j] */
  const char **name; /* [column] */
} basis;

/* Names of the columns before `at` that it is a combination of. */
static void name_parts(const basis *b, size_t at, double *weight, char *list, size_t size)
{
  size_t used = 0;
  list[0] = '\0';
  for (size_t i = at; i-- > 0;) {
    weight[i] = b->r[i * b->columns + at];
    for (size_t k = i + 1; k < at; k++) weight[i] -= b->r[i * b->columns + k] * weight[k];
    weight[i] /= b->r[i * b->columns + i];
  }
  for (size_t i = 0; i < at && used + 60 < size; i++)
    if (fabs(weight[i]) > 1e-6)
      used += (size_t)snprintf(list + used, size - used, "%s%.40s", used ? ", " : "", b->name[i]);
}

/* False where the column is a combination of those before it. */
static bool orthogonalise(basis *b, size_t at)
{
  double *column = b->q + at * b->cells;
  double before = 0;
  double after = 0;
  for (size_t c = 0; c < b->cells; c++) before += column[c] * column[c];
  for (int pass = 0; pass < 2; pass++) /* twice is enough (Kahan and Parlett) */
    for (size_t i = 0; i < at; i++) {
      const double *q = b->q + i * b->cells;
      double dot = 0;
      for (size_t c = 0; c < b->cells; c++) dot += q[c] * column[c];
      for (size_t c = 0; c < b->cells; c++) column[c] -= dot * q[c];
      b->r[i * b->columns + at] += dot;
    }
  for (size_t c = 0; c < b->cells; c++) after += column[c] * column[c];
  if (!(after > 1e-16 * before)) return false;
  b->r[at * b->columns + at] = sqrt(after);
  for (size_t c = 0; c < b->cells; c++) column[c] /= sqrt(after);
  return true;
}

static void fill_basis(const idm_design *d, size_t coordinate, basis *b)
{
  size_t at = 0;
  for (size_t e = 0; e < d->effects; e++) {
    if (d->effect_coordinate[e] != coordinate) continue;
    for (size_t k = 0; k < d->coefficients[e]; k++, at++) {
      b->name[at] = d->coefficient[e].name[k];
      for (size_t c = 0; c < d->cells; c++)
        b->q[at * d->cells + c] = d->share[c * d->effects + e] *
                                  d->regressor[e][d->cell_person[c] * d->coefficients[e] + k];
    }
  }
}

static idm_status check_basis(basis *b, const char *formula, double *weight, idm_error *opt_error)
{
  for (size_t at = 0; at < b->columns; at++) {
    char list[400];
    const char *name = b->name[at];
    if (orthogonalise(b, at)) continue;
    name_parts(b, at, weight, list, sizeof list);
    if (!list[0])
      return idm_fail(opt_error, IDM_INPUT,
                      "the formula '%.200s': nobody has '%.60s', so that nothing is known of its "
                      "coefficient; leave that interaction out",
                      formula, name);
    return idm_fail(opt_error, IDM_INPUT,
                    "the formula '%.200s': the regressor '%.60s' is a combination of %s, and "
                    "their coefficients cannot be told apart; leave one of them out",
                    formula, name, list);
  }
  return IDM_OK;
}

idm_status idm_design_check_rank(const idm_design *d, size_t coordinate, const char *formula,
                                 idm_error *opt_error)
{
  basis b = {.cells = d->cells};
  for (size_t e = 0; e < d->effects; e++)
    if (d->effect_coordinate[e] == coordinate) b.columns += d->coefficients[e];
  b.q = idm_new(idm_times(b.columns, d->cells), sizeof *b.q);
  b.r = idm_new(idm_times(b.columns, b.columns), sizeof *b.r);
  b.name = idm_new(b.columns, sizeof *b.name);
  double *weight = idm_new(b.columns, sizeof *weight);
  idm_status status = b.q && b.r && b.name && weight ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    fill_basis(d, coordinate, &b);
    status = check_basis(&b, formula, weight, opt_error);
  }
  free(b.q);
  free(b.r);
  free(b.name);
  free(weight);
  return status;
}
