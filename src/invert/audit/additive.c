/* Whether the effects of overlapping predicates add up: see the header.
 *
 * Contents: derivatives · the score of a product · its gain · the verdict */
#include "invert/audit/additive.h"

#include <math.h>
#include <stdlib.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/moments.h"
#include "idm/distribution.h"
#include "idm/matching.h"
#include "invert/check.h"

typedef struct additive {
  const audit_plan *plan;
  size_t nuisances;  /* (effects + 1) times coordinates: mu, then e */
  double *centre;    /* [cell][coordinate] */
  double *sd;        /* [cell][coordinate] */
  double *score;     /* [cell][coordinate]: derivatives of the log-likelihood there, */
  double *precision; /* [cell][coordinate][coordinate]: and minus the second ones */
  double *factor;    /* [nuisance][nuisance]: Cholesky factor of the information on nuisances */
  double *slope;     /* [nuisance]: their score */
  double *cross;     /* [nuisance]: their information shared with delta */
  double *path;      /* [nuisance]: how they follow delta */
  double *x;         /* [2 coordinates] */
  double *room;
} additive;

/* A product of two predicates in one coordinate. */
typedef struct pair {
  size_t first, second;
  size_t coordinate;
  double delta; /* where the score leads to */
  double p;
} pair;

static void close_additive(additive *t)
{
  free(t->room);
  *t = (additive){0};
}

static idm_status open_additive(additive *t, const audit_plan *plan, idm_error *opt_error)
{
  const audit_model *m = &plan->model;
  const size_t d = m->dimension, cells = m->cells, n = (m->effects + 1) * d;
  *t = (additive){.plan = plan, .nuisances = n};
  t->room = idm_new(idm_times(cells, d * (3 + d)) + n * (n + 3) + 2 * d, sizeof *t->room);
  if (!t->room) return idm_fail_memory(opt_error);
  t->centre = t->room;
  t->sd = t->centre + cells * d;
  t->score = t->sd + cells * d;
  t->precision = t->score + cells * d;
  t->factor = t->precision + cells * d * d;
  t->slope = t->factor + n * n;
  t->cross = t->slope + n;
  t->path = t->cross + n;
  t->x = t->path + n;
  return IDM_OK;
}

/* Z of a cell, with the level before it. */
static double share_of(const audit_model *m, size_t cell, size_t k)
{
  return k ? m->share[cell * m->effects + k - 1] : 1;
}

static double product_of(const audit_model *m, size_t cell, const pair *p)
{
  return share_of(m, cell, p->first + 1) * share_of(m, cell, p->second + 1);
}

/* --- derivatives ---------------------------------------------------------------------------- */

static idm_status evaluate(const additive *t, size_t cell, const double *x, double *value,
                           double *opt_gradient, idm_error *opt_error)
{
  return idm_matching_log_likelihood(t->plan->model.cell[cell].f.matching[0], x, value,
                                     opt_gradient, opt_error);
}

/* Score and precision of a cell at its centre, by differences of gradients over a third of an sd.
 */
static idm_status differentiate(const additive *t, size_t cell, idm_error *opt_error)
{
  const size_t d = t->plan->model.dimension;
  double value, *x = t->x, *gradient = t->x + d;
  double *precision = t->precision + cell * d * d;
  memcpy(x, t->centre + cell * d, d * sizeof *x);
  idm_status status = evaluate(t, cell, x, &value, t->score + cell * d, opt_error);
  for (size_t j = 0; j < d && status == IDM_OK; j++) {
    const double step = t->sd[cell * d + j] / 3;
    for (int side = -1; side < 2 && status == IDM_OK; side += 2) {
      x[j] = t->centre[cell * d + j] + side * step;
      status = evaluate(t, cell, x, &value, gradient, opt_error);
      for (size_t k = 0; k < d; k++) {
        const double half = -side * gradient[k] / (4 * step);
        precision[j * d + k] += half;
        precision[k * d + j] += half;
      }
    }
    x[j] = t->centre[cell * d + j];
  }
  return status;
}

static idm_status look(const additive *t, const audit_draws *draws, idm_error *opt_error)
{
  const audit_model *m = &t->plan->model;
  const size_t d = m->dimension, all = draws->chains * draws->draws;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < m->cells * d; i++) {
    const idm_moments at = idm_moments_of(draws->cell + i * all, all);
    t->centre[i] = at.mean;
    t->sd[i] = sqrt(at.variance);
  }
  for (size_t c = 0; c < m->cells && status == IDM_OK; c++) status = differentiate(t, c, opt_error);
  return status;
}

/* --- the score of a product ----------------------------------------------------------------- */

/* Score and information of the nuisances; false where they are not determined. */
static bool gather(const additive *t)
{
  static const double ridge = 1e-9;
  const audit_model *m = &t->plan->model;
  const size_t d = m->dimension, n = t->nuisances;
  for (size_t c = 0; c < m->cells; c++)
    for (size_t a = 0; a < n; a++) {
      const double share = share_of(m, c, a / d);
      t->slope[a] += share * t->score[c * d + a % d];
      for (size_t b = 0; b < n; b++)
        t->factor[a * n + b] +=
            share * share_of(m, c, b / d) * t->precision[(c * d + a % d) * d + b % d];
    }
  for (size_t a = 0; a < n; a++) t->factor[a * (n + 1)] *= 1 + ridge;
  return idm_cholesky(n, t->factor);
}

/* p by the score; 1 where the product is a combination of the predicates. Leaves in `path` how the
 * nuisances follow delta. */
static void test_score(const additive *t, pair *p)
{
  static const double least = 1e-6; /* share of the information that nuisances leave */
  const audit_model *m = &t->plan->model;
  const size_t d = m->dimension, n = t->nuisances, j = p->coordinate;
  double score = 0, information = 0, left;
  memset(t->cross, 0, n * sizeof *t->cross);
  for (size_t c = 0; c < m->cells; c++) {
    const double q = product_of(m, c, p);
    score += q * t->score[c * d + j];
    information += q * q * t->precision[(c * d + j) * d + j];
    for (size_t a = 0; a < n; a++)
      t->cross[a] += q * share_of(m, c, a / d) * t->precision[(c * d + j) * d + a % d];
  }
  memcpy(t->path, t->cross, n * sizeof *t->path);
  idm_lower_solve(n, t->factor, t->path);
  idm_lower_solve_transposed(n, t->factor, t->path);
  left = information;
  for (size_t a = 0; a < n; a++) {
    score -= t->path[a] * t->slope[a];
    left -= t->path[a] * t->cross[a];
  }
  const bool known = left > least * information && information > 0;
  p->delta = known ? score / left : 0;
  p->p = known ? idm_chi_square_tail(score * score / left, 1) : NAN;
}

/* --- its gain ------------------------------------------------------------------------------- */

/* The log-likelihood of all cells at a step of the nuisances along their own score, and at a delta
 * that they follow. */
static idm_status add_up(const additive *t, const pair *p, const double *step, double delta,
                         double *ret_sum, idm_error *opt_error)
{
  const audit_model *m = &t->plan->model;
  const size_t d = m->dimension;
  idm_status status = IDM_OK;
  *ret_sum = 0;
  for (size_t c = 0; c < m->cells && status == IDM_OK; c++) {
    double value = 0;
    memcpy(t->x, t->centre + c * d, d * sizeof *t->x);
    t->x[p->coordinate] += delta * product_of(m, c, p);
    for (size_t a = 0; a < t->nuisances; a++)
      t->x[a % d] += share_of(m, c, a / d) * (step[a] - delta * t->path[a]);
    status = evaluate(t, c, t->x, &value, NULL, opt_error);
    *ret_sum += value;
  }
  return status;
}

/* The larger of the p by the score and that by the gain in log-likelihood. */
static idm_status test_gain(const additive *t, pair *p, idm_error *opt_error)
{
  static const double multiple[] = {0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2};
  const size_t n = t->nuisances;
  double base, most = 0, *step = idm_duplicate(t->slope, n, sizeof *step);
  if (!step) return idm_fail_memory(opt_error);
  idm_lower_solve(n, t->factor, step);
  idm_lower_solve_transposed(n, t->factor, step);
  test_score(t, p);
  idm_status status = add_up(t, p, step, 0, &base, opt_error);
  for (size_t k = 0; k < sizeof multiple / sizeof *multiple && status == IDM_OK; k++) {
    double sum;
    status = add_up(t, p, step, multiple[k] * p->delta, &sum, opt_error);
    most = fmax(most, sum - base);
  }
  p->p = fmax(p->p, idm_chi_square_tail(2 * most, 1));
  free(step);
  return status;
}

/* --- the verdict ---------------------------------------------------------------------------- */

static void judge(const pair *p, size_t count, idm_audit *a)
{
  const double adjusted = fmin(1, p->p * (double)count);
  idm_audit_group *const side[] = {&a->group[p->first], &a->group[p->second]};
  if (!idm_check_test(&a->checks, IDM_CHECK_FORM, adjusted)) return;
  for (size_t i = 0; i < 2; i++) {
    side[i]->unfit = true;
    idm_notes_add(&side[i]->misfits,
                  "%s depends on '%s' x '%s', which the sum of the effects of groups does not "
                  "contain (p = %.2g over %zu tests): those in both groups differ from what "
                  "the two effects add up to; compare the combinations as groups of one column "
                  "(--by), or use `idm fit --by agent --model` with a * b",
                  a->coordinate.name[p->coordinate], side[0]->name, side[1]->name, adjusted, count);
  }
}

static idm_status test_pairs(const additive *t, idm_audit *a, idm_error *opt_error)
{
  const audit_model *m = &t->plan->model;
  pair most = {.p = 1};
  size_t count = 0;
  for (size_t k = 1; k < m->effects; k++)
    for (size_t l = 0; l < k; l++)
      for (size_t j = 0; j < m->dimension; j++) {
        pair one = {.first = l, .second = k, .coordinate = j};
        test_score(t, &one);
        if (isnan(one.p)) continue;
        if (!count++ || one.p < most.p) most = one;
      }
  if (!count) return IDM_OK;
  idm_status status = IDM_OK;
  if (most.p * (double)count < IDM_CHECK_LEVEL) status = test_gain(t, &most, opt_error);
  if (status == IDM_OK) judge(&most, count, a);
  return status;
}

idm_status idm_audit_additive(const audit_plan *plan, const audit_draws *draws, idm_audit *a,
                              idm_error *opt_error)
{
  const audit_model *m = &plan->model;
  additive t;
  if (m->partition || m->wards) return IDM_OK;
  idm_status status = open_additive(&t, plan, opt_error);
  if (status == IDM_OK) status = look(&t, draws, opt_error);
  if (status == IDM_OK && gather(&t)) status = test_pairs(&t, a, opt_error);
  close_additive(&t);
  return status;
}
