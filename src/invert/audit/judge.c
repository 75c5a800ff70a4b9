/* Numbers of an audit from its draws, and the verdict on each group.
 *
 * Contents: summaries · Holm · the prior's scale · the model · verdicts */
#include "invert/audit/judge.h"

#include <math.h>
#include <stdlib.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/number.h"
#include "idm/diagnostics.h"
#include "idm/pareto.h"
#include "invert/audit/inspect.h"

/* As in the verdict of a fit. */
static const double most_rhat = 1.01;
static const double least_ess = 400;
/* AUDIT.md, groups: what makes a number prior-driven. */
static const double least_contraction = 0.5;
static const double most_shift = 0.5;
/* Cells that are judged together: beyond, replicates would cost more than they tell. */
enum { most_among = 16 };
/* Weights with a tail of this shape are not relied upon (Vehtari et al. 2024). */
static const double most_shape = 0.7;

/* --- summaries ------------------------------------------------------------------------------ */

static double mean_of(const double *x, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += x[i];
  return sum / (double)count;
}

/* Everything that the draws alone say. */
static idm_status summarise(const idm_audit *a, idm_audit_number *n, idm_error *opt_error)
{
  const size_t all = a->chains * a->draws;
  const idm_status status =
      idm_diagnose(n->draw, a->chains, a->draws, a->draws, 1, &n->diagnosis, opt_error);
  double *sorted = status == IDM_OK ? idm_duplicate(n->draw, all, sizeof *sorted) : NULL;
  if (status != IDM_OK) return status;
  if (!sorted) return idm_fail_memory(opt_error);
  n->low = idm_quantile(sorted, all, 0.025);
  n->high = idm_quantile(sorted, all, 0.975);
  size_t above = 0;
  for (size_t i = 0; i < all; i++) above += n->draw[i] > 0;
  n->positive = (double)above / (double)all;
  free(sorted);
  return IDM_OK;
}

static idm_status put_line(const audit_plan *plan, const audit_draws *draws, const audit_line *line,
                           const idm_audit *a, idm_audit_number *number, idm_error *opt_error)
{
  const audit_model *m = &plan->model;
  idm_status status = IDM_OK;
  for (size_t j = 0; j < m->dimension && status == IDM_OK; j++) {
    idm_audit_line_draw(m, draws, line, j, number[j].draw);
    status = summarise(a, &number[j], opt_error);
    const double sd = number[j].diagnosis.sd;
    number[j].contraction = 1 - sd * sd / idm_audit_line_prior(m, line, j);
  }
  return status;
}

static idm_status put_population(const audit_plan *plan, const audit_draws *draws, idm_audit *a,
                                 idm_error *opt_error)
{
  const size_t all = draws->chains * draws->draws;
  idm_status status = IDM_OK;
  for (size_t j = 0; a->mean && j < plan->model.dimension && status == IDM_OK; j++) {
    memcpy(a->mean[j].draw, draws->mean + j * all, all * sizeof(double));
    memcpy(a->sd[j].draw, draws->sd + j * all, all * sizeof(double));
    status = summarise(a, &a->mean[j], opt_error);
    if (status == IDM_OK) status = summarise(a, &a->sd[j], opt_error);
  }
  return status;
}

/* Of a group that is one pooled cell: the share of the precision of its value that its own
 * decisions give, the mean over the draws of tau^2 / (tau^2 + v). */
static idm_status find_own(const audit_plan *plan, const audit_draws *draws, size_t group,
                           idm_audit_number *number, idm_error *opt_error)
{
  const audit_model *m = &plan->model;
  const size_t d = m->dimension;
  const size_t all = draws->chains * draws->draws;
  if (!m->pooled || !m->partition || group >= m->cells) return IDM_OK;
  double *factor = idm_duplicate(m->cell[group].precision, d * d, sizeof *factor);
  double *variance = idm_new(d * d, sizeof *variance);
  const bool made = factor && variance;
  if (made && idm_cholesky(d, factor)) {
    idm_cholesky_inverse(d, factor, variance);
    for (size_t j = 0; j < d; j++) {
      number[j].own = 0;
      for (size_t i = 0; i < all; i++) {
        const double tau = draws->sd[j * all + i];
        number[j].own += tau * tau / (tau * tau + variance[j * (d + 1)]) / (double)all;
      }
    }
  } else {
    for (size_t j = 0; j < d; j++) number[j].own = 0;
  }
  free(factor);
  free(variance);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* What the decisions of a group's cells would make of the prior if there were no others: the
 * contraction of each number under their approximations, as if they shared it. */
static idm_status find_alone(const audit_plan *plan, size_t group, idm_audit_number *number,
                             idm_error *opt_error)
{
  const audit_model *m = &plan->model;
  const size_t d = m->dimension;
  double *factor = idm_new(2 * d * d, sizeof *factor);
  if (!factor) return idm_fail_memory(opt_error);
  double *variance = factor + d * d;
  for (size_t j = 0; j < d; j++) factor[j * (d + 1)] = 1 / (m->sd[j] * m->sd[j]);
  for (size_t c = 0; c < m->cells; c++)
    for (size_t i = 0; plan->group[group].cell[c] != 0 && i < d * d; i++)
      factor[i] += m->cell[c].precision[i];
  if (idm_cholesky(d, factor)) {
    idm_cholesky_inverse(d, factor, variance);
    for (size_t j = 0; j < d; j++)
      number[j].alone = 1 - variance[j * (d + 1)] / (m->sd[j] * m->sd[j]);
  }
  free(factor);
  return IDM_OK;
}

/* --- Holm ----------------------------------------------------------------------------------- */

typedef struct ranked {
  double p;
  size_t at;
} ranked;

static int by_p(const void *a, const void *b)
{
  const double x = ((const ranked *)a)->p;
  const double y = ((const ranked *)b)->p;
  return (x > y) - (x < y);
}

idm_status idm_audit_holm(double *p, size_t count, idm_error *opt_error)
{
  ranked *list = idm_new(count, sizeof *list);
  if (!list) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++) list[i] = (ranked){p[i], i};
  qsort(list, count, sizeof *list, by_p);
  double largest = 0;
  for (size_t i = 0; i < count; i++) {
    largest = fmax(largest, fmin(1, (double)(count - i) * list[i].p));
    p[list[i].at] = largest;
  }
  free(list);
  return IDM_OK;
}

static idm_status flag(idm_audit *a, idm_error *opt_error)
{
  const size_t d = a->coordinate.count;
  double *p = idm_new(a->contrasts * d, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < a->contrasts * d; i++) {
    const double positive = a->contrast[i / d].number[i % d].positive;
    p[i] = 2 * fmin(positive, 1 - positive);
  }
  const idm_status status =
      a->pool == IDM_POOL_HOLM ? idm_audit_holm(p, a->contrasts * d, opt_error) : IDM_OK;
  for (size_t i = 0; i < a->contrasts * d && status == IDM_OK; i++) {
    idm_audit_number *n = &a->contrast[i / d].number[i % d];
    n->flagged = p[i] < 0.05;
    if (a->pool == IDM_POOL_HOLM) n->adjusted = p[i];
  }
  free(p);
  return status;
}

/* --- the prior's scale ---------------------------------------------------------------------- */

static const double scales[2] = {0.5, 2};

/* Means of a line by weights, [coordinate]; *ret_sound is false where the weights are too uneven.
 */
static idm_status reweigh(const audit_plan *plan, const audit_draws *draws, const audit_line *line,
                          const idm_audit_number *number, double scale, double *mean,
                          bool *ret_sound, idm_error *opt_error)
{
  const audit_model *m = &plan->model;
  const size_t all = draws->chains * draws->draws;
  double *weight = idm_new(all, sizeof *weight);
  if (!weight) return idm_fail_memory(opt_error);
  idm_audit_line_weigh(m, draws, line, scale, weight);
  double most = -INFINITY;
  double sum = 0;
  double shape = NAN;
  for (size_t i = 0; i < all; i++) most = fmax(most, weight[i]);
  for (size_t i = 0; i < all; i++) sum += weight[i] = exp(weight[i] - most);
  const idm_status status = idm_pareto_shape(weight, all, &shape, opt_error);
  *ret_sound = shape < most_shape;
  for (size_t j = 0; j < m->dimension; j++) {
    mean[j] = 0;
    for (size_t i = 0; i < all; i++) mean[j] += weight[i] / sum * number[j].draw[i];
  }
  free(weight);
  return status;
}

/* Means of all groups at one scale, [group][coordinate]. */
static idm_status means_by_weights(const audit_plan *plan, const audit_draws *draws,
                                   const idm_audit *a, double scale, double *mean, bool *ret_sound,
                                   idm_error *opt_error)
{
  const size_t d = plan->model.dimension;
  idm_status status = IDM_OK;
  *ret_sound = true;
  for (size_t g = 0; g < plan->groups && status == IDM_OK; g++) {
    bool sound;
    status = reweigh(plan, draws, &plan->group[g], a->group[g].number, scale, mean + g * d, &sound,
                     opt_error);
    *ret_sound = *ret_sound && sound;
  }
  return status;
}

static idm_status means_by_fit(const audit_plan *plan, double scale, uint64_t stream,
                               const audit_watch *watch, double *mean, idm_error *opt_error)
{
  const size_t d = plan->model.dimension;
  audit_draws draws;
  idm_status status = idm_audit_sample(&plan->model, scale, stream << 20, watch, &draws, opt_error);
  if (status != IDM_OK) return status;
  const size_t all = draws.chains * draws.draws;
  double *value = idm_new(all, sizeof *value);
  if (!value) status = idm_fail_memory(opt_error);
  for (size_t g = 0; g < plan->groups && value; g++)
    for (size_t j = 0; j < d; j++) {
      idm_audit_line_draw(&plan->model, &draws, &plan->group[g], j, value);
      mean[g * d + j] = mean_of(value, all);
    }
  free(value);
  idm_audit_draws_clear(&draws);
  return status;
}

static idm_status vary_prior(const audit_plan *plan, const audit_draws *draws,
                             const audit_watch *watch, idm_audit *a, idm_error *opt_error)
{
  const size_t d = plan->model.dimension;
  double *mean = idm_new(2 * plan->groups * d, sizeof *mean);
  idm_status status = mean ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t k = 0; k < 2 && status == IDM_OK; k++) {
    double *here = mean + k * plan->groups * d;
    bool sound;
    status = means_by_weights(plan, draws, a, scales[k], here, &sound, opt_error);
    if (status != IDM_OK || sound) continue;
    a->refitted = true;
    status = means_by_fit(plan, scales[k], k + 1, watch, here, opt_error);
  }
  for (size_t i = 0; i < plan->groups * d && status == IDM_OK; i++) {
    idm_audit_number *n = &a->group[i / d].number[i % d];
    n->prior_shift = (mean[plan->groups * d + i] - mean[i]) / n->diagnosis.sd;
  }
  free(mean);
  return status;
}

/* --- the model ------------------------------------------------------------------------------ */

/* What the cells of a group say of the model. */
static void add_cell(idm_audit_group *group, const idm_assessment *cell, bool told)
{
  const idm_model_check *m = &cell->model;
  group->log_likelihood += m->looked ? m->log_likelihood : NAN;
  group->uniform += m->uniform;
  group->rates += m->rates;
  for (size_t i = 0; told && i < cell->misfits.count; i++)
    idm_notes_add(&group->misfits, "%s", cell->misfits.text[i]);
}

static idm_status look_at_model(const audit_plan *plan, const audit_draws *draws, idm_audit *a,
                                idm_error *opt_error)
{
  const audit_model *m = &plan->model;
  /* Groups of one cell are judged each by itself; those of several together with all. */
  const size_t among = m->partition ? 1 : m->cells < most_among ? m->cells : most_among;
  idm_assessment *cell = idm_new(m->cells, sizeof *cell);
  if (!cell) return idm_fail_memory(opt_error);
  const idm_status status = idm_audit_inspect(m, draws, among, cell, opt_error);
  for (size_t g = 0; g < a->groups && status == IDM_OK; g++) {
    /* What all who are pooled do not fit is told where it is. */
    const bool told = !m->pooled || g + 1 < a->groups;
    for (size_t c = 0; c < m->cells; c++)
      if (plan->group[g].cell[c] != 0) add_cell(&a->group[g], &cell[c], told);
  }
  idm_audit_inspected_clear(cell, m->cells);
  free(cell);
  return status;
}

/* --- verdicts ------------------------------------------------------------------------------- */

static bool is_sound(const idm_audit *a, const idm_audit_number *n)
{
  const idm_diagnosis *d = &n->diagnosis;
  return (a->chains < 2 || d->rhat <= most_rhat) && d->ess_bulk >= least_ess &&
         d->ess_tail >= least_ess;
}

static void worsen(idm_audit_group *g, idm_audit_verdict verdict)
{
  if (verdict > g->verdict) g->verdict = verdict;
}

static void judge_number(const idm_audit *a, idm_audit_group *g, size_t j)
{
  const idm_audit_number *n = &g->number[j];
  const char *name = a->coordinate.name[j];
  if (!is_sound(a, n)) {
    worsen(g, IDM_AUDIT_FAILED);
    idm_notes_add(&g->reasons,
                  "%s has R-hat %.3f and effective sample sizes of %.0f (bulk) and %.0f (tail); "
                  "expected at most %.2f and at least %.0f: take more --draws",
                  name, n->diagnosis.rhat, n->diagnosis.ess_bulk, n->diagnosis.ess_tail, most_rhat,
                  least_ess);
  }
  if (n->contraction < least_contraction) {
    worsen(g, IDM_AUDIT_PRIOR_DRIVEN);
    idm_notes_add(&g->reasons,
                  "%s is hardly narrower than its prior (contraction %.2f): the decisions say "
                  "little of it",
                  name, n->contraction);
  }
  if (n->contraction >= least_contraction && n->alone < least_contraction) {
    worsen(g, IDM_AUDIT_POPULATION_DRIVEN);
    idm_notes_add(&g->reasons,
                  "%s comes from the other groups: the decisions of this one alone would leave it "
                  "hardly narrower than its prior (contraction %.2f)",
                  name, n->alone);
  }
  if (fabs(n->prior_shift) > most_shift) {
    worsen(g, IDM_AUDIT_PRIOR_DRIVEN);
    idm_notes_add(
        &g->reasons,
        "%s moves by %.2f sd between half and double the prior's scale: the prior decides", name,
        n->prior_shift);
  }
}

/* Whether the decisions say something of any number. */
static bool is_spoken_of(const idm_audit *a, const idm_audit_group *g)
{
  for (size_t j = 0; j < a->coordinate.count; j++)
    if (g->number[j].alone >= least_contraction) return true;
  return false;
}

/* Of too few decisions a misfit is told, but it is they that are missing. */
static void judge_group(const idm_audit *a, idm_audit_group *g)
{
  for (size_t j = 0; j < a->coordinate.count; j++) judge_number(a, g, j);
  if (g->misfits.count && is_spoken_of(a, g)) worsen(g, IDM_AUDIT_FAILED);
  for (size_t i = 0; i < g->misfits.count; i++)
    idm_notes_add(&g->reasons, "%s", g->misfits.text[i]);
}

static void judge_population(idm_audit *a)
{
  for (size_t j = 0; a->mean && j < a->coordinate.count; j++) {
    if (is_sound(a, &a->mean[j]) && is_sound(a, &a->sd[j])) continue;
    a->trusted = false;
    idm_notes_add(&a->remarks,
                  "the distribution of %s over groups is not known well enough (R-hat %.3f and "
                  "%.3f, effective sample sizes %.0f and %.0f of mean and sd): take more --draws",
                  a->coordinate.name[j], a->mean[j].diagnosis.rhat, a->sd[j].diagnosis.rhat,
                  a->mean[j].diagnosis.ess_bulk, a->sd[j].diagnosis.ess_bulk);
  }
}

idm_status idm_audit_judge(const audit_plan *plan, const audit_draws *draws,
                           const audit_watch *watch, idm_audit *a, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t g = 0; g < a->groups && status == IDM_OK; g++) {
    status = put_line(plan, draws, &plan->group[g], a, a->group[g].number, opt_error);
    if (status == IDM_OK) status = find_own(plan, draws, g, a->group[g].number, opt_error);
    if (status == IDM_OK) status = find_alone(plan, g, a->group[g].number, opt_error);
  }
  for (size_t c = 0; c < a->contrasts && status == IDM_OK; c++)
    status = put_line(plan, draws, &plan->contrast[c], a, a->contrast[c].number, opt_error);
  if (status == IDM_OK) status = put_population(plan, draws, a, opt_error);
  if (status == IDM_OK) status = flag(a, opt_error);
  if (status == IDM_OK) status = vary_prior(plan, draws, watch, a, opt_error);
  if (status == IDM_OK) status = look_at_model(plan, draws, a, opt_error);
  a->trusted = true;
  for (size_t g = 0; g < a->groups && status == IDM_OK; g++) {
    judge_group(a, &a->group[g]);
    a->trusted = a->trusted && a->group[g].verdict != IDM_AUDIT_FAILED;
  }
  if (status == IDM_OK) judge_population(a);
  return status;
}
