/* Least squares over people, and tests of the form of a regression and of outliers
 * (docs/method/people.md, 2).
 *
 * Contents: regression · form · outlier */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "invert/assess.h"
#include "invert/people/people.h"

/* === regression ============================================================================= */

/* Least squares of people's effects on the regressors of a design. */

/* Abramowitz and Stegun (1964), 26.7.3 and 26.7.4: a finite sum of about degrees / 2 terms. */
double idm_student_tails(double t, size_t degrees)
{
  const double angle = atan(fabs(t) / sqrt((double)degrees));
  const double cosine = cos(angle), square = cosine * cosine;
  const bool odd = degrees % 2;
  double term = odd ? cosine : 1, sum = degrees > 1 ? term : 0;
  for (size_t k = odd ? 3 : 2; k + 1 < degrees; k += 2) {
    term *= square * (double)(k - 1) / (double)k;
    sum += term;
  }
  const double inside = sin(angle) * sum;
  return fmax(0, 1 - (odd ? (angle + inside) * 2 / acos(-1) : inside));
}

/* Subtract the projection of x[people] onto the basis. Returns the sum of squares of the remainder.
 */
static double project_out(const regression *r, double *x)
{
  double squares = 0;
  for (size_t k = 0; k < r->rank; k++) {
    const double *b = r->basis + k * r->people;
    double projection = 0;
    for (size_t i = 0; i < r->people; i++) projection += b[i] * x[i];
    for (size_t i = 0; i < r->people; i++) x[i] -= projection * b[i];
  }
  for (size_t i = 0; i < r->people; i++) squares += x[i] * x[i];
  return squares;
}

idm_status idm_regression_open(regression *r, const idm_design *d, size_t effect,
                               idm_error *opt_error)
{
  static const double min_share =
      1e-10; /* smallest share of a regressor's squares that is independent of the others */
  const size_t m = d->coefficients[effect];
  *r = (regression){.people = d->people};
  r->basis = idm_new(idm_times(m, d->people), sizeof *r->basis);
  if (!r->basis) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < m; k++) {
    double *b = r->basis + r->rank * d->people;
    double before = 0;
    for (size_t i = 0; i < d->people; i++) {
      b[i] = d->regressor[effect][i * m + k];
      before += b[i] * b[i];
    }
    project_out(r, b);
    /* Repeated, because rounding leaves the first remainder not quite orthogonal. */
    const double left = project_out(r, b);
    if (!(left > min_share * before)) continue;
    for (size_t i = 0; i < d->people; i++) b[i] /= sqrt(left);
    r->rank++;
  }
  return IDM_OK;
}

void idm_regression_close(regression *r)
{
  free(r->basis);
  *r = (regression){0};
}

double idm_regression_residuals(const regression *r, const double *x, size_t stride,
                                double *residual)
{
  for (size_t i = 0; i < r->people; i++) residual[i] = x[i * stride];
  return project_out(r, residual);
}

double idm_regression_leverage(const regression *r, size_t person)
{
  double sum = 0;
  for (size_t k = 0; k < r->rank; k++)
    sum += r->basis[k * r->people + person] * r->basis[k * r->people + person];
  return sum;
}

/* === form =================================================================================== */

/* Test of the form of a regression over people.
 *
 * Contents: columns · candidates · verdict */

/* Largest number of draws examined, and of columns of all effects. */
enum { max_draws = 200, max_columns = 64 };

/* Share of a vector's squares below which it is a rounding error. */
static const double min_share = 1e-9;

/* --- columns -------------------------------------------------------------------------------- */

/* Column of the regression of some effect, centred over people, of length 1. */
typedef struct column {
  const char *name;
  double *value; /* [person] */
} column;

typedef struct form {
  const idm_design *design;
  const idm_people *people;
  size_t columns;
  column column[max_columns];
  double *scratch; /* [column + 2][person] */
  double *p;       /* [draw] */
} form;

/* Centre a vector and scale it to length 1. Returns false if it is constant. */
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
  return after > min_share * before;
}

/* Whether the list contains a column proportional to x. */
static bool has_column(const form *f, const double *x)
{
  for (size_t k = 0; k < f->columns; k++) {
    double projection = 0;
    for (size_t i = 0; i < f->design->people; i++) projection += f->column[k].value[i] * x[i];
    if (fabs(projection) > 1 - min_share) return true;
  }
  return false;
}

static void find_columns(form *f)
{
  const idm_design *d = f->design;
  for (size_t e = 0; e < d->effects; e++)
    for (size_t k = 0; k < d->coefficients[e] && f->columns < max_columns; k++) {
      double *x = f->scratch + f->columns * d->people;
      for (size_t i = 0; i < d->people; i++) x[i] = d->regressor[e][i * d->coefficients[e] + k];
      if (standardise(x, d->people) && !has_column(f, x))
        f->column[f->columns++] = (column){d->coefficient[e].name[k], x};
    }
}

/* --- candidates ----------------------------------------------------------------------------- */

/* Candidate term: a column (second = number of columns), or the product of two. */
typedef struct candidate {
  size_t effect;
  size_t first;
  size_t second;
} candidate;

/* Compute a candidate's residual from the regression, scaled to length 1. Returns false if it is 0.
 */
static bool make_candidate(const form *f, const regression *r, const candidate *c, double *x)
{
  const size_t n = r->people;
  const double *a = f->column[c->first].value;
  const double *b = c->second < f->columns ? f->column[c->second].value : NULL;
  for (size_t i = 0; i < n; i++) x[i] = a[i] * (b ? b[i] : 1);
  if (!standardise(x, n)) return false;
  const double left = idm_regression_residuals(r, x, 1, x);
  for (size_t i = 0; i < n; i++) x[i] /= sqrt(left);
  return left > min_share;
}

/* p-value of a candidate at one draw. */
static double test_draw(const form *f, const regression *r, const candidate *c, const double *x,
                        size_t draw, double *residual)
{
  const size_t n = r->people, degrees = n - r->rank - 1;
  const size_t all = f->people->chains * f->people->draws;
  const double squares =
      idm_regression_residuals(r, f->people->effect + c->effect * n * all + draw, all, residual);
  double projection = 0;
  for (size_t i = 0; i < n; i++) projection += x[i] * residual[i];
  const double left = fmax(squares - projection * projection, min_share * squares);
  return squares > 0 ? idm_student_tails(projection * sqrt((double)degrees / left), degrees) : 1;
}

/* Candidate with the smallest p-value, and the number of candidates. */
typedef struct form_result {
  size_t count;
  double p;
  candidate extreme;
} form_result;

static void test_candidate(const form *f, const regression *r, const candidate *c,
                           form_result *found)
{
  const size_t n = r->people, all = f->people->chains * f->people->draws;
  const size_t draw_count = all < max_draws ? all : max_draws;
  double *x = f->scratch + f->columns * n, *residual = x + n;
  if (!make_candidate(f, r, c, x)) return;
  for (size_t k = 0; k < draw_count; k++)
    f->p[k] = test_draw(f, r, c, x, k * all / draw_count, residual);
  const double p = idm_quantile(f->p, draw_count, 0.5);
  if (!found->count++ || p < found->p) {
    found->p = p;
    found->extreme = *c;
  }
}

static idm_status test_effect(const form *f, size_t effect, form_result *found,
                              idm_error *opt_error)
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

/* --- verdict --------------------------------------------------------------------------------- */

/* Write the term into words, and return what to do about it. */
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

static void record_form(const form *f, const form_result *found, idm_assessment *a,
                        form_term *ret_term)
{
  const candidate *c = &found->extreme;
  const double p = fmin(1, found->p * (double)found->count);
  char words[400];
  if (!found->count || !idm_check_test(&a->checks, IDM_CHECK_FORM, p)) return;
  ret_term->first = f->column[c->first].name;
  ret_term->second = c->second < f->columns ? f->column[c->second].name : NULL;
  const char *advice = describe(ret_term, a->checks.kind == IDM_CHECK_NESTED, words, sizeof words);
  idm_notes_add(
      &a->misfits,
      "%s depends on %s, which its regression does not contain (p = %.2g over %zu tests): "
      "the form of the regression is wrong; %s",
      f->design->effect.name[c->effect], words, p, found->count, advice);
}

idm_status idm_test_form(const idm_design *d, const idm_people *people, idm_assessment *a,
                         form_term *ret_term, idm_error *opt_error)
{
  form f = {.design = d, .people = people};
  form_result found = {0};
  *ret_term = (form_term){0};
  if (d->fixed) return IDM_OK;
  f.scratch = idm_new(idm_times(max_columns + 2, d->people), sizeof *f.scratch);
  f.p = idm_new(max_draws, sizeof *f.p);
  idm_status status = f.scratch && f.p ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) find_columns(&f);
  for (size_t e = 0; e < d->effects && status == IDM_OK; e++)
    status = test_effect(&f, e, &found, opt_error);
  if (status == IDM_OK) record_form(&f, &found, a, ret_term);
  free(f.scratch);
  free(f.p);
  return status;
}

/* === outlier ================================================================================ */

/* Test for people that are outliers.
 *
 * Contents: one draw · verdict */

/* Largest number of draws examined. */
enum { outlier_max_draws = 200 };

/* Results over the examined draws. */
typedef struct outlier_counts {
  const idm_design *design;
  const idm_people *people;
  regression *effect; /* [effect] */
  double *residual;   /* [person] */
  double p[outlier_max_draws];
  size_t *count; /* [effect][person]: draws in which this is the most extreme residual */
  double *sds;   /* [effect][person]: sum of its distances in sds over these draws */
} outlier_counts;

static void outlier_counts_destroy(outlier_counts *t)
{
  for (size_t e = 0; t && t->effect && e < t->design->effects; e++)
    idm_regression_close(&t->effect[e]);
  if (!t) return;
  free(t->effect);
  free(t->residual);
  free(t->count);
  free(t->sds);
  free(t);
}

static idm_status outlier_counts_create(const idm_design *d, const idm_people *people,
                                        outlier_counts **ret_counts, idm_error *opt_error)
{
  outlier_counts *t = *ret_counts = idm_new(1, sizeof *t);
  if (!t) return idm_fail_memory(opt_error);
  t->design = d;
  t->people = people;
  t->effect = idm_new(d->effects, sizeof *t->effect);
  t->residual = idm_new(d->people, sizeof *t->residual);
  t->count = idm_new(idm_times(d->effects, d->people), sizeof *t->count);
  t->sds = idm_new(idm_times(d->effects, d->people), sizeof *t->sds);
  idm_status status =
      t->effect && t->residual && t->count && t->sds ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t e = 0; e < d->effects && status == IDM_OK; e++)
    status = idm_regression_open(&t->effect[e], d, e, opt_error);
  return status;
}

/* --- one draw -------------------------------------------------------------------------------- */

/* Most extreme person in one effect. */
typedef struct outlier {
  size_t person;
  double t;   /* absolute value of the studentised residual */
  double sds; /* distance from the prediction of the others, in their sds */
  double p;   /* p-value without adjustment */
} outlier;

static outlier find_outlier(const outlier_counts *t, size_t effect, size_t draw)
{
  static const double min_own_share =
      1e-9; /* smallest share of a person that the regression leaves */
  const regression *r = &t->effect[effect];
  const size_t n = r->people, degrees = n - r->rank - 1;
  const size_t all = t->people->chains * t->people->draws;
  const double squares =
      idm_regression_residuals(r, t->people->effect + effect * n * all + draw, all, t->residual);
  outlier extreme = {.p = 1};
  for (size_t i = 0; i < n; i++) {
    const double left = 1 - idm_regression_leverage(r, i);
    const double own = t->residual[i] * t->residual[i] / left;
    const double others_variance = (squares - own) / (double)degrees;
    if (!(left > min_own_share) || !(squares > 0)) continue;
    const double student_t = sqrt(own / fmax(others_variance, min_own_share * squares));
    if (student_t > extreme.t)
      extreme = (outlier){.person = i, .t = student_t, .sds = student_t / sqrt(left)};
  }
  if (extreme.t > 0) extreme.p = idm_student_tails(extreme.t, degrees);
  return extreme;
}

/* --- verdict --------------------------------------------------------------------------------- */

static void count_draw(outlier_counts *t, size_t draw, size_t at)
{
  const idm_design *d = t->design;
  outlier extreme = {.p = 1};
  size_t of = 0;
  for (size_t e = 0; e < d->effects; e++) {
    const outlier one = find_outlier(t, e, draw);
    if (e && !(one.p < extreme.p)) continue;
    extreme = one;
    of = e;
  }
  t->p[at] = fmin(1, extreme.p * (double)(d->people * d->effects));
  t->count[of * d->people + extreme.person]++;
  t->sds[of * d->people + extreme.person] += extreme.sds;
}

static void record_outlier(const idm_design *d, outlier_counts *t, size_t draw_count,
                           idm_assessment *a, size_t *ret_person)
{
  size_t extreme = 0;
  const double p = idm_quantile(t->p, draw_count, 0.5);
  const bool nested = a->checks.kind == IDM_CHECK_NESTED;
  for (size_t i = 0; i < d->effects * d->people; i++)
    if (t->count[i] > t->count[extreme]) extreme = i;
  if (!idm_check_test(&a->checks, IDM_CHECK_OUTLIER, p)) return;
  *ret_person = extreme % d->people;
  idm_notes_add(
      &a->misfits,
      "'%s' is far from the others: its %s is %.1f of their sds from the value that they "
      "predict (p = %.2g over %zu people, if people vary normally). This person shifts "
      "mean and sd of the %s: exclude it (--where), or %s",
      d->person.name[*ret_person], d->effect.name[extreme / d->people],
      t->sds[extreme] / (double)t->count[extreme], p, d->people, nested ? "group" : "population",
      nested ? "put it in a group of its own" : "describe the difference by a column (--model)");
}

/* Whether people vary, and every effect leaves enough degrees of freedom. */
static bool can_test(const idm_design *d)
{
  bool enough = !d->fixed;
  for (size_t e = 0; e < d->effects; e++) enough = enough && d->people >= d->coefficients[e] + 3;
  return enough;
}

idm_status idm_test_outliers(const idm_design *d, const idm_people *people, idm_assessment *a,
                             size_t *ret_person, idm_error *opt_error)
{
  const size_t all = people->chains * people->draws;
  const size_t draw_count = all < outlier_max_draws ? all : outlier_max_draws;
  outlier_counts *t;
  *ret_person = d->people;
  if (!can_test(d)) return IDM_OK;
  const idm_status status = outlier_counts_create(d, people, &t, opt_error);
  for (size_t k = 0; k < draw_count && status == IDM_OK; k++)
    count_draw(t, k * all / draw_count, k);
  if (status == IDM_OK) record_outlier(d, t, draw_count, a, ret_person);
  outlier_counts_destroy(t);
  return status;
}
