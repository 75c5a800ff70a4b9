/* Joint search for the discount and the utility: minimises a profile over the discount on a grid,
 * refined by golden-section search.
 *
 * Contents: the least sum · its range · the answer */
#include "invert/utility/task.h"

#include <math.h>
#include <string.h>

/* Number of grid points of the discount. */
enum { DISCOUNTS = 65 };

bool idm_discount_is_free(const idm_problem *problem)
{
  return problem->theta->block[IDM_DISCOUNT].role == IDM_DESCRIPTIVE;
}

/* --- the least sum -------------------------------------------------------------------------- */

/* Profile of the sum: for each discount, the minimum over the utility. */
typedef struct discount_profile {
  const idm_discount_search *search;
  double objective[DISCOUNTS]; /* at the discounts i / (DISCOUNTS - 1) */
  double best;                 /* discount of the least sum */
  double least;                /* least sum */
  double tied_discount;        /* a distant discount with an equal sum; NaN: none */
} discount_profile;

static idm_status evaluate(discount_profile *p, double discount, double *objective,
                           idm_error *opt_error)
{
  idm_optimality *f = NULL;
  idm_status status = idm_cancel_check(&p->search->task->cancel, opt_error);
  if (status == IDM_OK)
    status = p->search->fit(p->search->context, discount, p->search->x, &f, opt_error);
  if (status == IDM_OK) *objective = f->objective;
  idm_optimality_destroy(f);
  return status;
}

/* Minimises the profile between two discounts by golden-section search. */
static idm_status golden_section(discount_profile *p, double low, double high, double *at,
                                 double *objective, idm_error *opt_error)
{
  const double share = 0.61803398874989485;
  double inner[2] = {high - share * (high - low), low + share * (high - low)};
  double value[2] = {INFINITY, INFINITY};
  idm_status status = evaluate(p, inner[0], &value[0], opt_error);
  if (status == IDM_OK) status = evaluate(p, inner[1], &value[1], opt_error);
  while (status == IDM_OK && high - low > 1e-9) {
    const int upper_half = value[1] < value[0];
    if (upper_half)
      low = inner[0];
    else
      high = inner[1];
    inner[!upper_half] = inner[upper_half];
    value[!upper_half] = value[upper_half];
    inner[upper_half] = upper_half ? low + share * (high - low) : high - share * (high - low);
    status = evaluate(p, inner[upper_half], &value[upper_half], opt_error);
  }
  *at = value[1] < value[0] ? inner[1] : inner[0];
  *objective = fmin(value[0], value[1]);
  return status;
}

/* Largest difference between sums that count as equal. For a sum of terms it is relative to the
 * floor, not to the largest sum: discounted sums of long trajectories grow without bound as the
 * discount approaches 1. */
static double tolerance_of(const discount_profile *p)
{
  if (p->search->terms > 0) return p->search->floor * (p->search->squares ? 1e6 : 1e3);
  double largest = 0;
  for (size_t i = 0; i < DISCOUNTS; i++) largest = fmax(largest, p->objective[i]);
  return fmax(1e-7 * largest, p->search->floor);
}

static void update_best(discount_profile *p, double discount, double objective)
{
  const double apart = 1.5 / (DISCOUNTS - 1);
  const double slack = tolerance_of(p);
  if (objective < p->least - slack) p->tied_discount = NAN;
  if (fabs(objective - p->least) <= slack && fabs(discount - p->best) > apart)
    p->tied_discount = objective < p->least ? p->best : discount;
  if (!(objective < p->least)) return;
  p->best = discount;
  p->least = objective;
}

/* Minimises the profile over all discounts: on the grid, and around each of its local minima. */
static idm_status search_discounts(discount_profile *p, idm_error *opt_error)
{
  const double step = 1.0 / (DISCOUNTS - 1);
  idm_status status = IDM_OK;
  p->least = INFINITY;
  p->tied_discount = NAN;
  for (size_t i = 0; i < DISCOUNTS && status == IDM_OK; i++)
    status = evaluate(p, (double)i * step, &p->objective[i], opt_error);
  for (size_t i = 0; i < DISCOUNTS && status == IDM_OK; i++) {
    const double here = p->objective[i];
    double at = (double)i * step, found = here;
    if (i && p->objective[i - 1] < here) continue;
    if (i + 1 < DISCOUNTS && p->objective[i + 1] < here) continue;
    status = golden_section(p, fmax(0, at - step), fmin(1, at + step), &at, &found, opt_error);
    if (found < here)
      update_best(p, at, found);
    else
      update_best(p, (double)i * step, here);
    if (p->search->reports) p->search->task->cancel.done = (double)i * step;
  }
  return status;
}

/* --- its range ------------------------------------------------------------------------------ */

/* Bisects for the discount at which the profile crosses a limit, between a discount within it and
 * one beyond. */
static idm_status bisect_limit(discount_profile *p, double limit, double inside, double outside,
                               double *at, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (int i = 0; i < 20 && status == IDM_OK; i++) {
    const double middle = 0.5 * (inside + outside);
    double objective = INFINITY;
    status = evaluate(p, middle, &objective, opt_error);
    if (objective <= limit)
      inside = middle;
    else
      outside = middle;
  }
  *at = inside;
  return status;
}

/* Least and largest discount within a limit: on the grid, refined by bisection. */
static idm_status find_range(discount_profile *p, double limit, double *range, idm_error *opt_error)
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
  if (below >= 0) status = bisect_limit(p, limit, range[0], below, &range[0], opt_error);
  if (status == IDM_OK && above <= 1)
    status = bisect_limit(p, limit, range[1], above, &range[1], opt_error);
  return status;
}

/* P(|T| < t) for Student's t with nu degrees of freedom: sums of powers of a cosine (Zelen and
 * Severo 1964, equations 26.7.3 and 26.7.4). */
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

/* 95 % quantile of F with 1 and nu degrees of freedom. */
static double f_limit(size_t nu)
{
  enum { max_degrees = 2000 }; /* beyond, the quantile equals the normal limit to .1 % */
  double low = 0, high = 20;
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (low + high);
    if (student_within(middle, nu < max_degrees ? nu : max_degrees) < 0.95)
      low = middle;
    else
      high = middle;
  }
  return low * low;
}

/* Adds a fault if most discounts are in the range. */
static void note_wide(const discount_profile *p, const double *range, idm_optimality *f)
{
  if (range[1] - range[0] >= 0.9)
    idm_notes_add(&f->faults,
                  "%s do not determine the discount: from %.3g to %.3g all explain them about as "
                  "well; hold the discount, or give more of them",
                  p->search->evidence, range[0], range[1]);
}

/* Adds the confidence set of the discount: values whose sum of squares does not differ from the
 * least by an F test at 95 %, for normal errors. */
static idm_status note_range(discount_profile *p, idm_optimality *f, idm_error *opt_error)
{
  const double terms = p->search->terms;
  const double left = terms - (double)p->search->task->free_utility->count - 1;
  double range[2];
  if (left <= 0) {
    idm_notes_add(&f->faults,
                  "%g terms are no more than the %zu numbers that are fitted to them: how well the "
                  "discount is determined cannot be estimated",
                  terms, f->free);
    return IDM_OK;
  }
  if (!p->search->squares) {
    if (p->least > tolerance_of(p))
      idm_notes_add(&f->faults,
                    "unchecked: which other discounts explain %s about as well; --norm 2 gives "
                    "their range",
                    p->search->evidence);
    return IDM_OK;
  }
  const double limit = p->least * (1 + f_limit((size_t)left) / left) + tolerance_of(p);
  const idm_status status = find_range(p, limit, range, opt_error);
  if (status != IDM_OK) return status;
  idm_notes_add(&f->words,
                "discounts from %.4g to %.4g have sums of squares that, given the errors of %s, do "
                "not differ significantly from the least (ratio of variances, about 95 %%)",
                range[0], range[1], p->search->evidence);
  note_wide(p, range, f);
  return IDM_OK;
}

/* The same for sums without identical terms: discounts whose sum is above the least one by no more
 * than the gap. */
static idm_status note_gap(discount_profile *p, idm_optimality *f, idm_error *opt_error)
{
  double gap = 0, range[2];
  idm_status status = p->search->gap(p->search->context, p->best, &gap, opt_error);
  if (status == IDM_OK && gap < 0) {
    idm_notes_add(&f->faults,
                  "unchecked: how far errors of the policies move the discount; there are too many "
                  "states and batches for the bootstrap; hold the discount");
    return IDM_OK;
  }
  if (status == IDM_OK) status = find_range(p, p->least + gap + tolerance_of(p), range, opt_error);
  if (status != IDM_OK) return status;
  idm_notes_add(&f->words,
                "discounts from %.4g to %.4g have sums of squares that, given the errors of the "
                "policies, do not differ significantly from the least (bootstrap, about 95 %%)",
                range[0], range[1]);
  note_wide(p, range, f);
  return IDM_OK;
}

/* --- the answer ----------------------------------------------------------------------------- */

static idm_status note_discount(discount_profile *p, idm_optimality *f, idm_error *opt_error)
{
  idm_notes_add(&f->words,
                "the discount is the best of %d grid points from 0 to 1, refined around the local "
                "minima; unchecked: smaller sums between other grid points",
                DISCOUNTS);
  if (!isnan(p->tied_discount))
    idm_notes_add(
        &f->faults, "a discount of %.4g fits %s as well as %.4g%s: %s do not determine it",
        p->tied_discount, p->search->evidence, p->best,
        p->search->task->free_utility->count ? ", with other utilities" : "", p->search->evidence);
  if (!p->search->task->problem->setting->fully_observed)
    idm_notes_add(&f->faults, "unchecked: how the discount depends on the probabilities of the "
                              "file, from which the beliefs are computed");
  if (p->search->gap) return note_gap(p, f, opt_error);
  return p->search->terms > 0 ? note_range(p, f, opt_error) : IDM_OK;
}

/* Plans without a horizon need a discount below 1: a profile that decreases up to 1 has no minimum.
 * The search between grid points ends 1e-9 below 1. */
static idm_status check_end(const discount_profile *p, idm_error *opt_error)
{
  static const double max_discount_gap = 1e-6;
  if (p->best < 1 - max_discount_gap || p->search->task->problem->setting->horizon) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "%s are explained best by a discount of 1, at which values without a horizon "
                  "diverge; expected `horizon` in the problem, or a discount that is held",
                  p->search->evidence);
}

idm_status idm_discount_search_gap(const idm_discount_search *search, double discount, double *gap,
                                   idm_error *opt_error)
{
  discount_profile p = {.search = search};
  double objective = 0;
  idm_status status = search_discounts(&p, opt_error);
  if (status == IDM_OK) status = evaluate(&p, discount, &objective, opt_error);
  *gap = fmax(0, objective - p.least);
  return status;
}

idm_status idm_discount_search_run(const idm_discount_search *search, idm_posterior **ret_posterior,
                                   idm_error *opt_error)
{
  const idm_task *task = search->task;
  discount_profile p = {.search = search};
  idm_optimality *utility_optimality = NULL, *f = NULL;
  idm_theta *theta = NULL;
  idm_status status = search_discounts(&p, opt_error);
  if (status == IDM_OK) status = check_end(&p, opt_error);
  if (status == IDM_OK)
    status = idm_optimality_create(task->free_utility->count + 1, &f, opt_error);
  if (status == IDM_OK) status = note_discount(&p, f, opt_error);
  if (status == IDM_OK)
    status = search->fit(search->context, p.best, search->x, &utility_optimality, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(task->problem->theta, &theta, opt_error);
  if (status == IDM_OK)
    status = idm_estimate_embed(utility_optimality, !isnan(p.tied_discount), f, opt_error);
  if (status == IDM_OK) {
    f->objective = utility_optimality->objective;
    f->attained = utility_optimality->attained;
    f->closed = utility_optimality->closed;
    memcpy(f->certificate, utility_optimality->certificate, sizeof f->certificate);
    idm_free_utility_write(task->free_utility, search->x, theta);
    idm_theta_set_scalar(theta, IDM_DISCOUNT, p.best);
    status = idm_estimate_create(task->inverse, task->problem, task->settings, theta,
                                 search->method, f, ret_posterior, opt_error);
  } else {
    idm_optimality_destroy(f);
  }
  if (status == IDM_OK)
    status = idm_estimate_set_share(task->problem, "the sum is least at a discount", p.best,
                                    *ret_posterior, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  idm_optimality_destroy(utility_optimality);
  idm_theta_destroy(theta);
  return status;
}
