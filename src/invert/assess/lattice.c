/* Sensitivity of the answer to the resolution of the lattice: a sample of draws is reweighted by
 * the likelihood on a finer lattice (docs/method/verdict.md, 4). */
#include "base/statistics.h"
#include "invert/assess/context.h"
#include "invert/cancel.h"

#include <math.h>

#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/parameters.h"
#include "invert/assess/environment.h"
#include "invert/clone.h"
#include "invert/matching.h"
#include "invert/matching/fit.h"

/* Largest number of lattices in memory at once: which resolution fits must not depend on the number
 * of threads. */
enum { max_workers = 4 };
/* Least draws of a population for the comparison. */
enum { min_draws = 10 };
/* Below this number of draws their changes are smoothed. */
enum { smoothing_limit = 100 };
/* A table with a larger error cannot be used to compare lattices. */
static const double max_table_error = 0.05;
/* Least effective sample size of the weights for a shift to count; and the least share of all
 * draws, if the weights of most draws come from a smooth function through few. */
static const double min_ess = 8;
static const double min_share = 0.25;

/* --- weights -------------------------------------------------------------------------------- */

/* Compute the shifts of the posterior means if each of `size` draws, spread over all, is weighted
 * by exp(change), which replaces the change; and the share of draws that is effective. The
 * interpolation error is at most of order 1/r, so a lattice less than twice as fine shows a known
 * part of the shift of doubling. */
static void weigh(const check_context *q, double *change, size_t size)
{
  idm_assessment *a = q->assessment;
  const size_t count = q->posterior->chains * q->posterior->draws;
  const double part = idm_lattice_doubling_factor(a->resolution, a->finer);
  idm_softmax(change, size, change);
  a->finer_share = idm_effective_size(change, size) / (double)size;
  for (size_t i = 0; i < a->quantities; i++) {
    double weighted = 0;
    double plain = 0;
    for (size_t k = 0; k < size && a->finer_share > 0; k++) {
      const double value = q->posterior->value[i * count + idm_context_sample_at(q, k, size)];
      weighted += change[k] * value;
      plain += value / (double)size;
    }
    const double shift = part * (weighted - plain) / a->diagnosis[i].sd;
    a->finer_shift[i] = isfinite(shift) ? shift : 0;
  }
}

/* --- log-likelihoods ------------------------------------------------------------------------ */

/* Evaluates the sample on both lattices, in parallel; each worker has its own matching. All plans
 * start from the same draw, so results do not depend on the worker. */
typedef struct comparison {
  const check_context *q;
  const idm_problem *finer;
  size_t size;
  size_t workers;
  double *change;     /* [size] */
  idm_status *status; /* [worker] */
  idm_error *error;   /* [worker] */
} comparison;

/* Add sign * log-likelihood on one lattice to change[k] for every workers-th draw of the sample. */
static idm_status add_likelihoods(const comparison *c, size_t worker, const idm_problem *problem,
                                  double sign, double *y, idm_error *error)
{
  const fit_context *f = c->q->f;
  idm_matching *matching = NULL;
  idm_status status = idm_fit_create_matching(f, problem, &matching, error);
  idm_context_draw(c->q, idm_context_sample_at(c->q, c->size / 2, c->size), y);
  if (status == IDM_OK) status = idm_matching_fix_start(matching, y, error);
  for (size_t k = worker; k < c->size && status == IDM_OK; k += c->workers) {
    double value = 0;
    idm_context_draw(c->q, idm_context_sample_at(c->q, k, c->size), y);
    status = idm_matching_log_likelihood(matching, y, &value, NULL, error);
    c->change[k] += sign * value;
  }
  idm_matching_destroy(matching);
  return status;
}

/* Subtract the log-likelihood on the lattice of the fit, read from its table if that contains all
 * draws. */
static idm_status subtract_known(const comparison *c, size_t worker, double *y, idm_error *error)
{
  const fit_context *f = c->q->f;
  bool known = f->table && f->table->error <= max_table_error;
  for (size_t k = 0; k < c->size && known; k++) {
    idm_context_draw(c->q, idm_context_sample_at(c->q, k, c->size), y);
    known = idm_table_contains(f->table, y);
  }
  if (!known) return add_likelihoods(c, worker, f->problem, -1, y, error);
  for (size_t k = worker; k < c->size; k += c->workers) {
    idm_context_draw(c->q, idm_context_sample_at(c->q, k, c->size), y);
    c->change[k] -= idm_table_at(f->table, y, NULL);
  }
  return IDM_OK;
}

static void compare_part(void *context, size_t worker)
{
  const comparison *c = context;
  idm_error *error = &c->error[worker];
  double *y = idm_new(c->q->f->parameters->dimension, sizeof *y);
  idm_status status = y ? IDM_OK : idm_fail_memory(error);
  if (status == IDM_OK) status = subtract_known(c, worker, y, error);
  if (status == IDM_OK) status = add_likelihoods(c, worker, c->finer, 1, y, error);
  free(y);
  c->status[worker] = status;
}

static idm_status compare(comparison *c, idm_error *opt_error)
{
  const int threads = c->q->f->settings->threads;
  c->workers = threads < 1 ? 1 : threads > max_workers ? max_workers : (size_t)threads;
  c->status = idm_new(c->workers, sizeof *c->status);
  c->error = idm_new(c->workers, sizeof *c->error);
  idm_status status = c->status && c->error ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_cancel_parallel(c->q->f->parameters->cancel, c->workers, threads, compare_part, c,
                                 opt_error);
  for (size_t i = 0; i < c->workers && status == IDM_OK; i++) {
    status = c->status[i];
    if (status != IDM_OK && opt_error) *opt_error = c->error[i];
  }
  free(c->status);
  free(c->error);
  return status;
}

/* --- the comparison ------------------------------------------------------------------------- */

static idm_status record(const check_context *q, double *change, size_t size, idm_error *opt_error)
{
  const size_t count = q->posterior->chains * q->posterior->draws;
  idm_assessment *a = q->assessment;
  for (size_t k = 0; k < size; k++) a->finer_change = fmax(a->finer_change, fabs(change[k]));
  a->finer_error = NAN;
  bool smoothed = false;
  double *all = size < smoothing_limit && size < count ? idm_new(count, sizeof *all) : NULL;
  if (size < smoothing_limit && size < count && !all) return idm_fail_memory(opt_error);
  const idm_status status =
      all ? idm_response_smooth(q, change, size, count, all, &a->finer_error, opt_error) : IDM_OK;
  smoothed = isfinite(a->finer_error);
  a->finer_error *= idm_lattice_doubling_factor(a->resolution, a->finer);
  /* If the smoothed weights leave few draws effective, the shift depends on the tails of the
   * function. */
  if (status == IDM_OK) weigh(q, smoothed ? all : change, smoothed ? count : size);
  free(all);
  return status;
}

/* Shifts of a population to first order: joint weights of all people would leave no draw effective,
 * while the numbers of each person change little. */
static idm_status compare_population(const check_context *q, const idm_problem *finer,
                                     idm_error *opt_error)
{
  idm_assessment *a = q->assessment;
  const double part = idm_lattice_doubling_factor(a->resolution, a->finer);
  const size_t points = idm_workspace_points(idm_matching_workspace(q->f->matching[0]));
  response r;
  double *shift_error = idm_new(a->quantities, sizeof *shift_error);
  idm_status status = shift_error
                          ? idm_response_open(&r, q, idm_context_sample(q, points), 1, opt_error)
                          : idm_fail_memory(opt_error);
  if (status != IDM_OK) {
    free(shift_error);
    return status;
  }
  status = idm_response_add(&r, 0, q->f->problem, -1, opt_error);
  if (status == IDM_OK) status = idm_response_add(&r, 0, finer, 1, opt_error);
  if (status == IDM_OK) status = idm_response_shifts(&r, 0, a->finer_shift, shift_error, opt_error);
  a->finer_share = NAN;
  a->finer_error = 0;
  for (size_t k = 0; k < r.strata * r.points && status == IDM_OK; k++)
    a->finer_change = fmax(a->finer_change, fabs(r.table[k]));
  for (size_t i = 0; i < a->quantities && status == IDM_OK; i++) {
    a->finer_shift[i] *= part / a->diagnosis[i].sd;
    if (idm_context_is_assessed(q, i)) a->finer_error = fmax(a->finer_error, part * shift_error[i]);
  }
  idm_response_close(&r);
  free(shift_error);
  return status;
}

static idm_status compare_lattices(const check_context *q, idm_error *opt_error)
{
  idm_assessment *a = q->assessment;
  const idm_problem *problem = q->f->problem;
  idm_problem finer = *problem;
  const idm_workspace *workspace = idm_matching_workspace(q->f->matching[0]);
  if (!idm_lattice_is_used(problem, workspace)) return IDM_OK;
  if (q->people && q->posterior->chains * q->posterior->draws < min_draws) {
    idm_check_skip(&a->checks, IDM_CHECK_LATTICE, "needs %d draws or more", min_draws);
    return IDM_OK;
  }
  a->resolution = idm_lattice_resolution(problem);
  a->finer = finer.agent.resolution =
      idm_lattice_finer(problem, workspace, a->resolution, max_workers);
  if (!a->finer) return IDM_OK;
  a->finer_shift = idm_new(a->quantities, sizeof *a->finer_shift);
  if (!a->finer_shift) return idm_fail_memory(opt_error);
  if (q->people) return compare_population(q, &finer, opt_error);
  comparison c = {.q = q, .finer = &finer};
  c.size = idm_context_sample(q, idm_workspace_points(workspace));
  c.change = idm_new(c.size, sizeof *c.change);
  idm_status status = c.change ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = compare(&c, opt_error);
  if (status == IDM_OK) status = record(q, c.change, c.size, opt_error);
  free(c.change);
  return status;
}

/* --- the verdict ---------------------------------------------------------------------------- */

/* Whether the shifts are resolved. */
static bool is_resolved(const check_context *q, size_t sample)
{
  const idm_assessment *a = q->assessment;
  bool finite = isfinite(a->finer_error);
  for (size_t i = 0; i < a->quantities && q->people; i++)
    finite = finite && (!idm_context_is_assessed(q, i) || isfinite(a->finer_shift[i]));
  if (q->people) return finite;
  return isnan(a->finer_error) ? a->finer_share * (double)sample >= fmin(min_ess, (double)sample)
                               : a->finer_share >= min_share;
}

static void assess_shift(const check_context *q, size_t sample)
{
  idm_assessment *a = q->assessment;
  double most = 0;
  size_t at = 0;
  char name[128];
  for (size_t i = 0; i < a->quantities; i++)
    if (idm_context_is_assessed(q, i) && fabs(a->finer_shift[i]) >= most) {
      most = fabs(a->finer_shift[i]);
      at = i;
    }
  idm_context_quantity_name(q, at, name, sizeof name);
  const bool smoothed = !isnan(a->finer_error);
  const bool resolved = is_resolved(q, sample);
  /* Add two standard errors, so that a possibly too large shift does not pass. */
  const double shift = most + (smoothed ? 2 * a->finer_error : 0);
  const bool moved = shift > idm_check_threshold(IDM_CHECK_LATTICE);
  idm_check_record(&a->checks, IDM_CHECK_LATTICE,
                   moved || !resolved ? IDM_CHECK_FAILED : IDM_CHECK_PASSED, shift);
  char error[48] = "";
  if (smoothed) idm_print(error, sizeof error, ", with a standard error of %.2f", a->finer_error);
  const char *whose = q->people ? " of a person" : "";
  if (!resolved && q->people)
    idm_notes_add(&a->failures,
                  "a lattice of resolution %d instead of %d moves the log-likelihood of a person "
                  "by up to %.3g, and %zu points do not determine the shift of the answer; the "
                  "lattice is too coarse, raise agent.resolution",
                  a->finer, a->resolution, a->finer_change, sample);
  else if (!resolved)
    idm_notes_add(
        &a->failures,
        "a lattice of resolution %d instead of %d moves the log-likelihood by up to %.3g: with "
        "these changes as weights, %.1f of %zu draws are effective, too few to estimate the shift "
        "of the answer; the lattice is too coarse, raise agent.resolution",
        a->finer, a->resolution, a->finer_change, a->finer_share * (double)sample, sample);
  else
    idm_notes_add(moved ? &a->failures : &a->remarks,
                  "a lattice of resolution %d instead of %d moves the log-likelihood%s by at most "
                  "%.3g and the posterior mean of %s by %.2f posterior sd%s%s%s",
                  a->finer, a->resolution, whose, a->finer_change, name, most, error,
                  a->finer < 2 * a->resolution ? ", as far as doubling would" : "",
                  moved ? ": the lattice is too coarse, raise agent.resolution" : "");
}

void idm_assess_lattice(const check_context *q)
{
  idm_assessment *a = q->assessment;
  if (!a->resolution) return;
  if (!a->finer)
    idm_notes_add(
        idm_check_note(a, IDM_CHECK_LATTICE, IDM_CHECK_FAILED),
        "lattice unchecked: no lattice finer than resolution %d fits in memory and time; repeat "
        "the fit on one half as fine (--set resolution=%d), and compare the answers",
        a->resolution, a->resolution > 1 ? a->resolution / 2 : 1);
  else if (a->answer == IDM_POINT)
    idm_notes_add(idm_check_note(a, IDM_CHECK_LATTICE, IDM_CHECK_PASSED),
                  "a lattice of resolution %d instead of %d moves the log-likelihood by %.3g",
                  a->finer, a->resolution, a->finer_change);
  else
    assess_shift(
        q, idm_context_sample(q, idm_workspace_points(idm_matching_workspace(q->f->matching[0]))));
}

idm_status idm_check_lattice(const check_context *q, idm_error *opt_error)
{
  const idm_status status = compare_lattices(q, opt_error);
  if (status == IDM_OK) idm_assess_lattice(q);
  return status;
}
