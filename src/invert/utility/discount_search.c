/* The discount of a least sum: on a grid, and between its points.
 *
 * Contents: the least sum · its range · the answer */
#include "invert/utility/discount_search.h"

#include <math.h>
#include <string.h>

#include "invert/utility/answer.h"

/* Discounts on a grid, which the search between its points starts from. */
enum { DISCOUNTS = 65 };

bool idm_discount_is_free(const idm_problem *problem)
{
  return problem->theta->block[IDM_DISCOUNT].role == IDM_DESCRIPTIVE;
}

/* --- the least sum -------------------------------------------------------------------------- */

/* The least sum by discount: of the numbers the least at each. */
typedef struct profile {
  const idm_discount_search *search;
  double objective[DISCOUNTS]; /* at i / (DISCOUNTS - 1) */
  double best;                 /* discount of the least sum */
  double least;                /* that sum */
  double rival;                /* a discount apart from it with as small a sum; NaN: none */
} profile;

static idm_status measure(profile *p, double discount, double *objective, idm_error *opt_error)
{
  idm_finding *f = NULL;
  idm_status status = idm_halt_check(&p->search->asked->halt, opt_error);
  if (status == IDM_OK)
    status = p->search->fit(p->search->context, discount, p->search->x, &f, opt_error);
  if (status == IDM_OK) *objective = f->objective;
  idm_finding_destroy(f);
  return status;
}

/* The least sum between two discounts, by golden sections. */
static idm_status section(profile *p, double low, double high, double *at, double *objective,
                          idm_error *opt_error)
{
  const double share = 0.61803398874989485;
  double inner[2] = {high - share * (high - low), low + share * (high - low)};
  double value[2] = {INFINITY, INFINITY};
  idm_status status = measure(p, inner[0], &value[0], opt_error);
  if (status == IDM_OK) status = measure(p, inner[1], &value[1], opt_error);
  while (status == IDM_OK && high - low > 1e-9) {
    const int kept = value[1] < value[0];
    if (kept)
      low = inner[0];
    else
      high = inner[1];
    inner[!kept] = inner[kept];
    value[!kept] = value[kept];
    inner[kept] = kept ? low + share * (high - low) : high - share * (high - low);
    status = measure(p, inner[kept], &value[kept], opt_error);
  }
  *at = value[1] < value[0] ? inner[1] : inner[0];
  *objective = fmin(value[0], value[1]);
  return status;
}

/* Sums that differ by no more than this are as small. */
static double slack_of(const profile *p)
{
  double largest = 0;
  for (size_t i = 0; i < DISCOUNTS; i++) largest = fmax(largest, p->objective[i]);
  return fmax(1e-7 * largest, p->search->floor);
}

static void keep_least(profile *p, double discount, double objective)
{
  const double apart = 1.5 / (DISCOUNTS - 1);
  const double slack = slack_of(p);
  if (objective < p->least - slack) p->rival = NAN;
  if (fabs(objective - p->least) <= slack && fabs(discount - p->best) > apart)
    p->rival = objective < p->least ? p->best : discount;
  if (!(objective < p->least)) return;
  p->best = discount;
  p->least = objective;
}

/* The least sum over all discounts: on the grid, and between neighbours of its local minima. */
static idm_status search_discounts(profile *p, idm_error *opt_error)
{
  const double step = 1.0 / (DISCOUNTS - 1);
  idm_status status = IDM_OK;
  p->least = INFINITY;
  p->rival = NAN;
  for (size_t i = 0; i < DISCOUNTS && status == IDM_OK; i++)
    status = measure(p, (double)i * step, &p->objective[i], opt_error);
  for (size_t i = 0; i < DISCOUNTS && status == IDM_OK; i++) {
    const double here = p->objective[i];
    double at = (double)i * step, found = here;
    if (i && p->objective[i - 1] < here) continue;
    if (i + 1 < DISCOUNTS && p->objective[i + 1] < here) continue;
    status = section(p, fmax(0, at - step), fmin(1, at + step), &at, &found, opt_error);
    if (found < here)
      keep_least(p, at, found);
    else
      keep_least(p, (double)i * step, here);
    p->search->asked->halt.done = (double)i * step;
  }
  return status;
}

/* --- its range ------------------------------------------------------------------------------ */

/* Where the least sum by discount passes a limit, between a discount within it and one beyond. */
static idm_status pass_limit(profile *p, double limit, double within, double beyond, double *at,
                             idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (int i = 0; i < 20 && status == IDM_OK; i++) {
    const double middle = 0.5 * (within + beyond);
    double objective = INFINITY;
    status = measure(p, middle, &objective, opt_error);
    if (objective <= limit)
      within = middle;
    else
      beyond = middle;
  }
  *at = within;
  return status;
}

/* The least and the largest discount within a limit: of the grid, and between its points. */
static idm_status find_range(profile *p, double limit, double *range, idm_error *opt_error)
{
  const double step = 1.0 / (DISCOUNTS - 1);
  range[0] = range[1] = p->best;
  for (size_t i = 0; i < DISCOUNTS; i++) {
    const double at = (double)i * step;
    if (p->objective[i] > limit) continue;
    range[0] = fmin(range[0], at);
    range[1] = fmax(range[1], at);
  }
  const double below = (ceil(range[0] / step) - 1) * step;
  const double above = (floor(range[1] / step) + 1) * step;
  idm_status status = IDM_OK;
  if (below >= 0) status = pass_limit(p, limit, range[0], below, &range[0], opt_error);
  if (status == IDM_OK && above <= 1)
    status = pass_limit(p, limit, range[1], above, &range[1], opt_error);
  return status;
}

/* Probability that |T| is below t, T of Student's distribution with nu degrees of freedom: sums of
 * powers of a cosine (Zelen and Severo 1964, equations 26.7.3 and 26.7.4). */
static double student_within(double t, size_t nu)
{
  const double angle = atan(t / sqrt((double)nu)), cosine = cos(angle), square = cosine * cosine;
  const bool odd = nu % 2;
  double term = odd ? cosine : 1, sum = nu == 1 ? 0 : term;
  for (size_t k = odd ? 3 : 2; k < nu; k += 2) {
    term *= square * (double)(k - 1) / (double)k;
    sum += term;
  }
  return odd ? (angle + sin(angle) * sum) / acos(0) : sin(angle) * sum;
}

/* The 95 % point of F with 1 and nu degrees of freedom. */
static double f_limit(size_t nu)
{
  enum { many = 2000 }; /* beyond, the limit is that of a normal to .1 % */
  double low = 0, high = 20;
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (low + high);
    if (student_within(middle, nu < many ? nu : many) < 0.95)
      low = middle;
    else
      high = middle;
  }
  return low * low;
}

/* The discounts whose sum of squares a ratio of variances does not distinguish from the least, at
 * 95 % of normal errors. */
static idm_status say_range(profile *p, idm_finding *f, idm_error *opt_error)
{
  const double terms = p->search->terms;
  const double left = terms - (double)p->search->asked->sought->count - 1;
  double range[2];
  if (left <= 0) {
    idm_notes_add(&f->faults,
                  "%g terms are no more than the %zu numbers that are fitted to them: they show "
                  "nothing of how well the discount is determined",
                  terms, f->free);
    return IDM_OK;
  }
  if (!p->search->squares) return IDM_OK;
  const double limit = p->least * (1 + f_limit((size_t)left) / left) + slack_of(p);
  const idm_status status = find_range(p, limit, range, opt_error);
  if (status != IDM_OK) return status;
  idm_notes_add(&f->words,
                "discounts from %.4g to %.4g have sums of squares that errors of %s do not "
                "tell apart from the least (ratio of variances, about 95 %%)",
                range[0], range[1], p->search->evidence);
  if (range[1] - range[0] >= 0.9)
    idm_notes_add(&f->faults,
                  "%s do not determine the discount: from %.3g to %.3g all explain them about as "
                  "well; hold the discount, or give more of them",
                  p->search->evidence, range[0], range[1]);
  return IDM_OK;
}

/* --- the answer ----------------------------------------------------------------------------- */

static idm_status say_discount(profile *p, idm_finding *f, idm_error *opt_error)
{
  idm_notes_add(&f->words,
                "the discount is the best of %d from 0 to 1 and of what is between the best of "
                "them; unchecked: a smaller sum in a dip between two of the others",
                DISCOUNTS);
  if (!isnan(p->rival))
    idm_notes_add(&f->faults,
                  "a discount of %.4g comes as near to %s as %.4g, with other utilities: %s do not "
                  "determine it",
                  p->rival, p->search->evidence, p->best, p->search->evidence);
  return p->search->terms > 0 ? say_range(p, f, opt_error) : IDM_OK;
}

/* Plans without a horizon need a discount below 1: a sum that falls up to there has no least one.
 * Between points of the grid the search ends 1e-9 from it. */
static idm_status check_end(const profile *p, idm_error *opt_error)
{
  static const double near = 1e-6;
  if (p->best < 1 - near || p->search->asked->problem->setting->horizon) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "%s are explained best by a discount of 1, at which a plan without a horizon "
                  "has no end; expected `horizon` in the problem, or a discount that is held",
                  p->search->evidence);
}

idm_status idm_discount_search_run(const idm_discount_search *search, idm_posterior **ret_posterior,
                                   idm_error *opt_error)
{
  const idm_asked *asked = search->asked;
  profile p = {.search = search};
  idm_finding *narrow = NULL, *f = NULL;
  idm_theta *theta = NULL;
  idm_status status = search_discounts(&p, opt_error);
  if (status == IDM_OK) status = check_end(&p, opt_error);
  if (status == IDM_OK) status = idm_finding_create(asked->sought->count + 1, &f, opt_error);
  if (status == IDM_OK) status = say_discount(&p, f, opt_error);
  if (status == IDM_OK)
    status = search->fit(search->context, p.best, search->x, &narrow, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(asked->problem->theta, &theta, opt_error);
  if (status == IDM_OK) status = idm_answer_widen(narrow, !isnan(p.rival), f, opt_error);
  if (status == IDM_OK) {
    f->objective = narrow->objective;
    f->attained = narrow->attained;
    f->closed = narrow->closed;
    memcpy(f->certificate, narrow->certificate, sizeof f->certificate);
    idm_sought_write(asked->sought, search->x, theta);
    idm_theta_set_scalar(theta, IDM_DISCOUNT, p.best);
    status = idm_answer_create(asked->inverse, asked->problem, asked->settings, theta,
                               search->method, f, ret_posterior, opt_error);
  } else {
    idm_finding_destroy(f);
  }
  if (status == IDM_OK)
    status = idm_answer_put_share(asked->problem, "the sum is least at a discount", p.best,
                                  *ret_posterior, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  idm_finding_destroy(narrow);
  idm_theta_destroy(theta);
  return status;
}
