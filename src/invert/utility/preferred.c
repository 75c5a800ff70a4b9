/* Preferences as a logistic model of the free numbers of a utility.
 *
 * Contents: sums · the likelihood · separation · what is left open */
#include "invert/utility/preferred.h"

#include <math.h>

#include "base/least.h"
#include "base/memory.h"
#include "infer/program.h"
#include "invert/utility/discounted_sum.h"
#include "invert/utility/open.h"

/* A column that is left with less than this share of the largest is a combination of others. */
static const double tolerance = 1e-11;

/* --- sums ----------------------------------------------------------------------------------- */

/* Two sums of the same terms in another order differ by rounding, which says nothing: every term is
 * 1 at most. */
static bool clean_row(const idm_data *data, size_t better, size_t worse, size_t n, double *row)
{
  const size_t terms =
      data->first[better + 1] - data->first[better] + data->first[worse + 1] - data->first[worse];
  bool bears = false;
  for (size_t j = 0; j < n; j++) {
    if (fabs(row[j]) <= 1e-15 * (double)terms) row[j] = 0;
    bears = bears || row[j] != 0;
  }
  return bears;
}

/* What errors call a trajectory that has gaps. */
static const char needed[] = "is compared with another";

static idm_status add_up(const idm_discounted_sum *sum, const idm_data *data, idm_preferred *p,
                         idm_error *opt_error)
{
  const idm_preferences *given = data->preferences;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < p->count && status == IDM_OK; i++) {
    double *row = p->difference + i * p->free;
    status =
        idm_discounted_sum_add(sum, given->better[i], 1, needed, row, &p->offset[i], opt_error);
    if (status == IDM_OK)
      status =
          idm_discounted_sum_add(sum, given->worse[i], -1, needed, row, &p->offset[i], opt_error);
    p->idle += !clean_row(data, given->better[i], given->worse[i], p->free, row);
  }
  return status;
}

idm_status idm_preferred_create(const idm_problem *problem, const idm_data *data,
                                const idm_sought *sought, const char *who,
                                idm_preferred **ret_preferred, idm_error *opt_error)
{
  *ret_preferred = NULL;
  const idm_preferences *given = data->preferences;
  idm_discounted_sum *sum = NULL;
  idm_preferred *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  *p = (idm_preferred){.count = given->count, .free = sought->count, .weight = given->weight};
  p->difference = idm_new(idm_times(p->count, p->free), sizeof *p->difference);
  p->offset = idm_new(p->count, sizeof *p->offset);
  idm_status status = p->difference && p->offset ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_discounted_sum_create(problem, data, sought, who, &sum, opt_error);
  if (status == IDM_OK) status = add_up(sum, data, p, opt_error);
  idm_discounted_sum_destroy(sum);
  if (status == IDM_OK)
    *ret_preferred = p;
  else
    idm_preferred_destroy(p);
  return status;
}

void idm_preferred_destroy(idm_preferred *preferred)
{
  if (!preferred) return;
  free(preferred->difference);
  free(preferred->offset);
  free(preferred);
}

/* --- the likelihood ------------------------------------------------------------------------- */

static double odds_of(const idm_preferred *p, size_t i, const double *x)
{
  double odds = p->offset[i];
  for (size_t j = 0; j < p->free; j++) odds += p->difference[i * p->free + j] * x[j];
  return odds;
}

/* precision += curvature d d', lower triangle. */
static void add_curvature(double curvature, const double *d, size_t n, double *precision)
{
  for (size_t j = 0; j < n; j++)
    for (size_t k = 0; d[j] != 0 && k <= j; k++) precision[j * n + k] += curvature * d[j] * d[k];
}

void idm_preferred_bound(const idm_preferred *p, const double *x, double *precision)
{
  memset(precision, 0, p->free * p->free * sizeof *precision);
  for (size_t i = 0; i < p->count; i++) {
    const double size = fabs(odds_of(p, i, x));
    const double curvature = size > 1e-6 ? tanh(size / 2) / (2 * size) : 0.25;
    add_curvature(p->weight[i] * curvature, p->difference + i * p->free, p->free, precision);
  }
}

double idm_preferred_log_likelihood(const idm_preferred *p, const double *x, double *opt_gradient,
                                    double *opt_precision)
{
  const size_t n = p->free;
  double sum = 0;
  if (opt_gradient) memset(opt_gradient, 0, n * sizeof *opt_gradient);
  if (opt_precision) memset(opt_precision, 0, n * n * sizeof *opt_precision);
  for (size_t i = 0; i < p->count; i++) {
    const double *d = p->difference + i * n;
    const double odds = odds_of(p, i, x);
    const double small = exp(-fabs(odds)); /* never overflows */
    const double against = (odds > 0 ? small : 1) / (1 + small);
    const double curvature = p->weight[i] * small / ((1 + small) * (1 + small));
    sum += p->weight[i] * (fmin(odds, 0) - log1p(small));
    for (size_t j = 0; opt_gradient && j < n; j++) opt_gradient[j] += p->weight[i] * against * d[j];
    if (opt_precision) add_curvature(curvature, d, n, opt_precision);
  }
  return sum;
}

/* --- separation ----------------------------------------------------------------------------- */

/* Directions v within a box that disagree with no preference, difference_i v >= 0, and agree most
 * with those that none has agreed with so far. */
typedef struct separation {
  const idm_preferred *preferred;
  idm_program *program;
  double *unit;    /* [count][free]: differences in units of their largest entry */
  double *cost;    /* [free] */
  bool *separated; /* [count] */
} separation;

static void clear(separation *s)
{
  idm_program_destroy(s->program);
  free(s->unit);
  free(s->cost);
  free(s->separated);
}

static idm_status add_condition(const separation *s, size_t i, idm_error *opt_error)
{
  const size_t n = s->preferred->free;
  const double *d = s->preferred->difference + i * n;
  double *unit = s->unit + i * n;
  double largest = 0;
  for (size_t j = 0; j < n; j++) largest = fmax(largest, fabs(d[j]));
  if (!(largest > 0)) return IDM_OK;
  idm_status status = IDM_OK;
  for (size_t j = 0; j < n && status == IDM_OK; j++) {
    unit[j] = d[j] / largest;
    if (unit[j] != 0) status = idm_program_enter(s->program, j, unit[j], opt_error);
  }
  return status == IDM_OK ? idm_program_add(s->program, 0, INFINITY, opt_error) : status;
}

static idm_status open_separation(const idm_preferred *p, separation *s, idm_error *opt_error)
{
  *s = (separation){.preferred = p};
  s->unit = idm_new(idm_times(p->count, p->free), sizeof *s->unit);
  s->cost = idm_new(p->free, sizeof *s->cost);
  s->separated = idm_new(p->count, sizeof *s->separated);
  if (!s->unit || !s->cost || !s->separated) return idm_fail_memory(opt_error);
  idm_status status = idm_program_create(p->free, &s->program, opt_error);
  for (size_t j = 0; j < p->free && status == IDM_OK; j++)
    idm_program_set_bounds(s->program, j, -1, 1);
  for (size_t i = 0; i < p->count && status == IDM_OK; i++) status = add_condition(s, i, opt_error);
  return status;
}

/* Look once more; how many it agrees with for the first time. */
static idm_status look(const separation *s, idm_interrupt opt_interrupt, void *context,
                       size_t *ret_new, idm_error *opt_error)
{
  /* Less than this an agreement is the solver's rounding. */
  static const double least = 1e-6;
  const size_t n = s->preferred->free;
  idm_program_solution found;
  *ret_new = 0;
  memset(s->cost, 0, n * sizeof *s->cost);
  for (size_t i = 0; i < s->preferred->count; i++)
    for (size_t j = 0; !s->separated[i] && j < n; j++) s->cost[j] -= s->unit[i * n + j];
  for (size_t j = 0; j < n; j++) idm_program_set_cost(s->program, j, s->cost[j]);
  const idm_status status =
      idm_program_solve(s->program, opt_interrupt, context, &found, opt_error);
  if (status != IDM_OK) return status;
  if (found.end != IDM_PROGRAM_SOLVED)
    return opt_interrupt && opt_interrupt(context)
               ? idm_fail(opt_error, IDM_UNTRUSTED, "interrupted")
               : idm_fail(opt_error, IDM_NUMERICAL,
                          "whether some utility agrees with all preferences could not be told");
  for (size_t i = 0; i < s->preferred->count; i++) {
    double agreement = 0;
    for (size_t j = 0; j < n; j++) agreement += s->unit[i * n + j] * found.x[j];
    if (s->separated[i] || !(agreement > least)) continue;
    s->separated[i] = true;
    ++*ret_new;
  }
  return IDM_OK;
}

/* The sum of directions that disagree with none agrees with whatever one of them does. */
idm_status idm_preferred_separated(const idm_preferred *p, idm_interrupt opt_interrupt,
                                   void *context, size_t *ret_count, idm_error *opt_error)
{
  separation s;
  *ret_count = 0;
  if (p->idle == p->count) return IDM_OK;
  idm_status status = open_separation(p, &s, opt_error);
  for (size_t more = 1; more && status == IDM_OK;) {
    status = look(&s, opt_interrupt, context, &more, opt_error);
    *ret_count += more;
  }
  clear(&s);
  return status;
}

/* --- what is left open ---------------------------------------------------------------------- */

idm_status idm_preferred_open(const idm_preferred *p, double *opt_x, idm_finding *finding,
                              idm_error *opt_error)
{
  size_t rank = 0;
  double *a = idm_duplicate(p->difference, idm_times(p->count, p->free), sizeof *a);
  double *b = idm_new(p->count, sizeof *b);
  double *x = idm_new(p->free, sizeof *x);
  for (size_t i = 0; b && opt_x && i < p->count; i++)
    for (size_t j = 0; j < p->free; j++) b[i] += p->difference[i * p->free + j] * opt_x[j];
  const bool done = a && b && x && idm_least_squares(p->count, p->free, a, b, tolerance, x, &rank);
  if (done && opt_x) memcpy(opt_x, x, p->free * sizeof *x);
  const idm_status status =
      done ? idm_open_design(rank, a, finding, opt_error) : idm_fail_memory(opt_error);
  free(a);
  free(b);
  free(x);
  return status;
}

void idm_preferred_say(const idm_preferred *p, size_t separated, idm_finding *finding)
{
  finding->compared = true;
  if (separated)
    idm_notes_add(&finding->words,
                  "separable: some utility agrees with %s of the %zu preferences%s, and the more "
                  "the larger it is; how large it is here, the prior says",
                  separated == p->count ? "each" : "some", p->count,
                  separated == p->count ? "" : " and disagrees with none");
  if (p->idle)
    idm_notes_add(
        &finding->words,
        "%zu of %zu preferences are between trajectories that no free number tells apart, "
        "and say nothing",
        p->idle, p->count);
}
