/* Whether the form of a regression over people is right: see the header.
 *
 * Contents: columns · candidates · the verdict */
#include "invert/people/form.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "idm/quantile.h"
#include "invert/check.h"
#include "invert/people/regression.h"

/* Draws that are looked at, and columns of all effects together. */
enum { most_looked = 200, most_columns = 64 };

/* Shares of a vector's squares below which it is rounding. */
static const double least = 1e-9;

/* --- columns -------------------------------------------------------------------------------- */

/* A column of the regression of some effect, centred over people and of length 1. */
typedef struct column {
  const char *name;
  double *value; /* [person] */
} column;

typedef struct form {
  const idm_design *design;
  const idm_people *people;
  size_t columns;
  column column[most_columns];
  double *room; /* [column + 2][person] */
  double *p;    /* [draw] */
} form;

/* Centre a vector, and scale it to length 1; false where it is constant. */
static bool standardise(double *x, size_t n)
{
  double mean = 0, before = 0, after = 0;
  for (size_t i = 0; i < n; i++) {
    mean += x[i] / (double)n;
    before += x[i] * x[i];
  }
  for (size_t i = 0; i < n; i++) {
    x[i] -= mean;
    after += x[i] * x[i];
  }
  for (size_t i = 0; i < n && after > 0; i++) x[i] /= sqrt(after);
  return after > least * before;
}

/* Whether a column is already there, but for its scale. */
static bool is_known(const form *f, const double *x)
{
  for (size_t k = 0; k < f->columns; k++) {
    double along = 0;
    for (size_t i = 0; i < f->design->people; i++) along += f->column[k].value[i] * x[i];
    if (fabs(along) > 1 - least) return true;
  }
  return false;
}

static void find_columns(form *f)
{
  const idm_design *d = f->design;
  for (size_t e = 0; e < d->effects; e++)
    for (size_t k = 0; k < d->coefficients[e] && f->columns < most_columns; k++) {
      double *x = f->room + f->columns * d->people;
      for (size_t i = 0; i < d->people; i++) x[i] = d->regressor[e][i * d->coefficients[e] + k];
      if (standardise(x, d->people) && !is_known(f, x))
        f->column[f->columns++] = (column){d->coefficient[e].name[k], x};
    }
}

/* --- candidates ----------------------------------------------------------------------------- */

/* A column, `second` being past the last, or the product of two. */
typedef struct candidate {
  size_t effect;
  size_t first;
  size_t second;
} candidate;

/* The candidate's values, less what the regression explains of them, at length 1; false where
 * nothing is left. */
static bool make_candidate(const form *f, const regression *r, const candidate *c, double *x)
{
  const size_t n = r->people;
  const double *a = f->column[c->first].value;
  const double *b = c->second < f->columns ? f->column[c->second].value : NULL;
  for (size_t i = 0; i < n; i++) x[i] = a[i] * (b ? b[i] : 1);
  if (!standardise(x, n)) return false;
  const double left = idm_regression_residuals(r, x, 1, x);
  for (size_t i = 0; i < n; i++) x[i] /= sqrt(left);
  return left > least;
}

/* The p of a candidate at one draw. */
static double test_draw(const form *f, const regression *r, const candidate *c, const double *x,
                        size_t draw, double *residual)
{
  const size_t n = r->people, degrees = n - r->rank - 1;
  const size_t all = f->people->chains * f->people->draws;
  const double squares =
      idm_regression_residuals(r, f->people->effect + c->effect * n * all + draw, all, residual);
  double along = 0;
  for (size_t i = 0; i < n; i++) along += x[i] * residual[i];
  const double left = fmax(squares - along * along, least * squares);
  return squares > 0 ? idm_student_tails(along * sqrt((double)degrees / left), degrees) : 1;
}

/* The candidate of least p, and how many there are. */
typedef struct finding {
  size_t count;
  double p;
  candidate most;
} finding;

static void test_candidate(const form *f, const regression *r, const candidate *c, finding *found)
{
  const size_t n = r->people, all = f->people->chains * f->people->draws;
  const size_t looked = all < most_looked ? all : most_looked;
  double *x = f->room + f->columns * n, *residual = x + n;
  if (!make_candidate(f, r, c, x)) return;
  for (size_t k = 0; k < looked; k++) f->p[k] = test_draw(f, r, c, x, k * all / looked, residual);
  const double p = idm_quantile(f->p, looked, 0.5);
  if (!found->count++ || p < found->p) {
    found->p = p;
    found->most = *c;
  }
}

static idm_status test_effect(const form *f, size_t effect, finding *found, idm_error *opt_error)
{
  regression r;
  const idm_status status = idm_regression_open(&r, f->design, effect, opt_error);
  if (status != IDM_OK) return status;
  for (size_t j = 0; j < f->columns && r.people >= r.rank + 3; j++)
    for (size_t k = j; k <= f->columns; k++)
      test_candidate(f, &r, &(candidate){effect, j, k}, found);
  idm_regression_close(&r);
  return IDM_OK;
}

/* --- the verdict ---------------------------------------------------------------------------- */

/* The term in words, and what to do about it. */
static const char *describe(const form_term *term, bool nested, char *words, size_t size)
{
  const bool square = term->second && term->first == term->second;
  if (square)
    idm_print(words, size, "the square of %.120s", term->first);
  else
    idm_print(words, size, "%.120s%s%.120s", term->first, term->second ? " x " : "",
              term->second ? term->second : "");
  return nested   ? "compare the combinations as groups of one column (--by), or use `idm fit "
                    "--by agent --model` with a * b"
         : square ? "add a column of the square to the log and to --model"
         : term->second ? "add the product to --model (a * b is a + b + a:b)"
                        : "add the column to its formula (--model)";
}

static void judge(const form *f, const finding *found, idm_assessment *a, form_term *ret_term)
{
  const candidate *c = &found->most;
  const double p = fmin(1, found->p * (double)found->count);
  char words[400];
  if (!found->count || !idm_check_test(&a->checks, IDM_CHECK_FORM, p)) return;
  ret_term->first = f->column[c->first].name;
  ret_term->second = c->second < f->columns ? f->column[c->second].name : NULL;
  const char *cure = describe(ret_term, a->checks.kind == IDM_CHECK_NESTED, words, sizeof words);
  idm_notes_add(
      &a->misfits,
      "%s depends on %s, which its regression does not contain (p = %.2g over %zu tests): "
      "the coefficients are those of a wrong form; %s",
      f->design->effect.name[c->effect], words, p, found->count, cure);
}

idm_status idm_judge_form(const idm_design *d, const idm_people *people, idm_assessment *a,
                          form_term *ret_term, idm_error *opt_error)
{
  form f = {.design = d, .people = people};
  finding found = {0};
  *ret_term = (form_term){0};
  if (d->fixed) return IDM_OK;
  f.room = idm_new(idm_times(most_columns + 2, d->people), sizeof *f.room);
  f.p = idm_new(most_looked, sizeof *f.p);
  idm_status status = f.room && f.p ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) find_columns(&f);
  for (size_t e = 0; e < d->effects && status == IDM_OK; e++)
    status = test_effect(&f, e, &found, opt_error);
  if (status == IDM_OK) judge(&f, &found, a, ret_term);
  free(f.room);
  free(f.p);
  return status;
}
