/* Summaries of an audit's draws, and verdicts on groups and contrasts (docs/method/audit.md, 2).
 *
 * Contents: summaries · by draw of the dynamics · Holm · prior scale · model · verdicts */
#include "invert/audit/estimands.h"

#include <math.h>
#include <stdlib.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "infer/approximation.h"
#include "infer/distribution.h"
#include "invert/assess.h"
#include "invert/audit/model.h"
#include "invert/posterior.h"

/* Largest number of cells tested simultaneously; the number of replicates grows with it. */
enum { max_among = 16 };

/* --- summaries ------------------------------------------------------------------------------ */

/* Compute the summaries that depend on the draws only. */
static idm_status summarise(const idm_audit *a, idm_audit_quantity *n, idm_error *opt_error)
{
  const size_t all = a->chains * a->draws;
  const idm_status status = idm_diagnose_cuts(n->draw, NULL, a->chains, a->draws, a->cuts,
                                              &n->diagnosis, &n->between, opt_error);
  double *sorted = status == IDM_OK ? idm_duplicate(n->draw, all, sizeof *sorted) : NULL;
  if (status != IDM_OK) return status;
  if (!sorted) return idm_fail_memory(opt_error);
  n->low = idm_quantile(sorted, all, 0.025);
  n->high = idm_quantile(sorted, all, 0.975);
  size_t above = 0;
  for (size_t i = 0; i < all; i++) above += n->draw[i] > 0;
  n->positive = (double)above / (double)all;
  if (idm_depends_on_dynamics(n->between)) n->low = n->high = n->positive = NAN;
  free(sorted);
  return IDM_OK;
}

static idm_status summarise_line(const audit_estimands *estimands,
                                 const linear_combination *combination, const idm_audit *a,
                                 idm_audit_quantity *number, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t j = 0; j < a->coordinate.count && status == IDM_OK; j++) {
    status = summarise(a, &number[j], opt_error);
    const double sd = number[j].diagnosis.sd;
    number[j].contraction =
        1 - sd * sd / idm_combination_prior_var(&estimands->model, combination, j);
  }
  return status;
}

/* Summarise the sd of agents in a cell, with the contraction of its half-normal prior. */
static idm_status summarise_within(const audit_estimands *estimands,
                                   const linear_combination *combination, const idm_audit *a,
                                   size_t j, idm_audit_quantity *n, idm_error *opt_error)
{
  const audit_model *m = &estimands->model;
  size_t w = 0;
  while (!m->pooled && combination->cell[m->cohort[w].cell[0]] == 0) w++;
  const idm_prior prior = {IDM_PRIOR_HALFNORMAL, 1, &m->cohort[w].design->sd_scale[j]};
  const idm_status status = summarise(a, n, opt_error);
  const double sd = n->diagnosis.sd / idm_prior_sd(&prior);
  n->contraction = 1 - sd * sd;
  return status;
}

static idm_status summarise_all(const audit_estimands *estimands, idm_audit *a,
                                idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t g = 0; g < a->sides && status == IDM_OK; g++)
    status = summarise_line(estimands, &estimands->group[g], a, a->group[g].number, opt_error);
  for (size_t c = 0; c < a->contrasts && status == IDM_OK; c++)
    status =
        summarise_line(estimands, &estimands->contrast[c], a, a->contrast[c].number, opt_error);
  for (size_t j = 0; j < a->coordinate.count && status == IDM_OK; j++) {
    if (a->mean) status = summarise(a, &a->mean[j], opt_error);
    if (status == IDM_OK && a->sd) status = summarise(a, &a->sd[j], opt_error);
    if (status == IDM_OK && a->within)
      status = summarise_within(estimands, &estimands->group[0], a, j, &a->within[j], opt_error);
    for (size_t g = 0; g < a->sides && status == IDM_OK; g++)
      if (a->group[g].within)
        status = summarise_within(estimands, &estimands->group[g], a, j, &a->group[g].within[j],
                                  opt_error);
  }
  return status;
}

/* --- by draw of the dynamics ----------------------------------------------------------------- */

/* Store the sd of agents in the first cell of a combination; all its cells share one sd. */
static void store_within(const audit_estimands *estimands, const audit_draws *draws,
                         size_t dynamics_index, const linear_combination *combination, size_t j,
                         idm_audit_quantity *number)
{
  const size_t all = draws->chains * draws->draws;
  size_t c = 0;
  while (combination->cell[c] == 0) c++;
  memcpy(number->draw + dynamics_index * all,
         draws->within + (c * estimands->model.dimension + j) * all, all * sizeof(double));
}

/* Store the draws made in one draw of the dynamics. */
static void store_draws(const audit_estimands *estimands, const audit_draws *draws,
                        size_t dynamics_index, idm_audit *a)
{
  const audit_model *m = &estimands->model;
  const size_t all = draws->chains * draws->draws;
  for (size_t j = 0; j < m->dimension; j++) {
    for (size_t g = 0; g < a->sides; g++)
      idm_combination_draws(m, draws, &estimands->group[g], j,
                            a->group[g].number[j].draw + dynamics_index * all);
    for (size_t c = 0; c < a->contrasts; c++)
      idm_combination_draws(m, draws, &estimands->contrast[c], j,
                            a->contrast[c].number[j].draw + dynamics_index * all);
    for (size_t g = 0; g < a->sides && a->group[g].within; g++)
      store_within(estimands, draws, dynamics_index, &estimands->group[g], j,
                   &a->group[g].within[j]);
    if (!a->mean) continue;
    if (a->within)
      store_within(estimands, draws, dynamics_index, &estimands->group[0], j, &a->within[j]);
    memcpy(a->mean[j].draw + dynamics_index * all, draws->mean + j * all, all * sizeof(double));
    memcpy(a->sd[j].draw + dynamics_index * all, draws->sd + j * all, all * sizeof(double));
  }
}

/* Add one term of a mean over the draws of the dynamics. */
static void average(const idm_audit *a, size_t dynamics_index, double value, double *mean)
{
  *mean = (dynamics_index ? *mean : 0) + value / (double)a->cuts;
}

/* Variances of a cell's numbers by its own information, without the prior: the larger of those by
 * cell and by agents. Infinite if the information is singular. */
static idm_status information_variances(const audit_cell *cell, size_t d, double *variance,
                                        idm_error *opt_error)
{
  const double *const matrix[] = {cell->information, cell->agent_information};
  double *factor = idm_new(2 * d * d, sizeof *factor);
  if (!factor) return idm_fail_memory(opt_error);
  double *inverse = factor + d * d;
  for (size_t j = 0; j < d; j++) variance[j] = 0;
  for (size_t v = 0; v < 2 && matrix[v]; v++) {
    memcpy(factor, matrix[v], d * d * sizeof *factor);
    const bool is_determined = idm_cholesky(d, factor);
    if (is_determined) idm_cholesky_inverse(d, factor, inverse);
    for (size_t j = 0; j < d; j++)
      variance[j] = fmax(variance[j], is_determined ? inverse[j * (d + 1)] : INFINITY);
  }
  free(factor);
  return IDM_OK;
}

/* For a group that is one pooled cell: share of the precision of its value that its own decisions
 * provide, the mean over the draws of tau^2 / (tau^2 + v). */
static idm_status find_own_share(const audit_estimands *estimands, const audit_draws *draws,
                                 size_t dynamics_index, size_t group, idm_audit *a,
                                 idm_error *opt_error)
{
  const audit_model *m = &estimands->model;
  const size_t d = m->dimension;
  const size_t all = draws->chains * draws->draws;
  if (!m->pooled || !m->partition || group >= m->cells) return IDM_OK;
  double *variance = idm_new(d, sizeof *variance);
  if (!variance) return idm_fail_memory(opt_error);
  const idm_status status = information_variances(&m->cell[group], d, variance, opt_error);
  for (size_t j = 0; j < d && status == IDM_OK; j++) {
    double own = 0;
    for (size_t i = 0; i < all; i++) {
      const double tau = draws->sd[j * all + i];
      own += tau * tau / (tau * tau + variance[j]) / (double)all;
    }
    average(a, dynamics_index, own, &a->group[group].number[j].own);
  }
  free(variance);
  return status;
}

/* Contraction of the prior of each number by the logs of some cells alone, as if they shared the
 * number. With nested agents, the smaller of those by cells and by agents. Cells of weight 0 are
 * left out. */
static idm_status find_contraction(const audit_model *m, const double *weight, double *contraction,
                                   idm_error *opt_error)
{
  const size_t d = m->dimension;
  double *factor = idm_new(2 * d * d, sizeof *factor);
  if (!factor) return idm_fail_memory(opt_error);
  double *variance = factor + d * d;
  for (size_t j = 0; j < d; j++) contraction[j] = 1;
  for (size_t v = 0; v < (m->cohorts ? 2U : 1U); v++) {
    memset(factor, 0, d * d * sizeof *factor);
    for (size_t j = 0; j < d; j++) factor[j * (d + 1)] = 1 / (m->sd[j] * m->sd[j]);
    for (size_t c = 0; c < m->cells; c++) {
      const double *matrix = v ? m->cell[c].agent_information : m->cell[c].information;
      for (size_t i = 0; weight[c] != 0 && i < d * d; i++) factor[i] += matrix[i];
    }
    const bool is_determined = idm_cholesky(d, factor);
    if (is_determined) idm_cholesky_inverse(d, factor, variance);
    for (size_t j = 0; j < d; j++)
      contraction[j] = is_determined
                           ? fmin(contraction[j], 1 - variance[j * (d + 1)] / (m->sd[j] * m->sd[j]))
                           : NAN;
  }
  free(factor);
  return IDM_OK;
}

static idm_status find_own_contraction(const audit_estimands *estimands, size_t dynamics_index,
                                       size_t group, idm_audit *a, idm_error *opt_error)
{
  const size_t d = estimands->model.dimension;
  double *contraction = idm_new(d, sizeof *contraction);
  if (!contraction) return idm_fail_memory(opt_error);
  const idm_status status =
      find_contraction(&estimands->model, estimands->group[group].cell, contraction, opt_error);
  for (size_t j = 0; j < d && status == IDM_OK; j++)
    average(a, dynamics_index, contraction[j], &a->group[group].number[j].alone);
  free(contraction);
  return status;
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
    p[i] = isnan(positive) ? 1 : 2 * fmin(positive, 1 - positive);
  }
  const idm_status status =
      a->pool == IDM_POOL_HOLM ? idm_audit_holm(p, a->contrasts * d, opt_error) : IDM_OK;
  for (size_t i = 0; i < a->contrasts * d && status == IDM_OK; i++) {
    idm_audit_quantity *n = &a->contrast[i / d].number[i % d];
    n->significant = p[i] < 0.05;
    if (a->pool == IDM_POOL_HOLM && !isnan(n->positive)) n->adjusted = p[i];
  }
  free(p);
  return status;
}

/* --- prior scale ----------------------------------------------------------------------------- */

static const double scale_factors[2] = {0.5, 2};

/* Importance-weighted means of a combination, [coordinate]; *ret_reliable: weights are even enough.
 */
static idm_status weighted_means(const audit_estimands *estimands, const audit_draws *draws,
                                 const linear_combination *combination, double scale, double *mean,
                                 bool *ret_reliable, idm_error *opt_error)
{
  const audit_model *m = &estimands->model;
  const size_t all = draws->chains * draws->draws;
  double *weight = idm_new(idm_times(2, all), sizeof *weight);
  if (!weight) return idm_fail_memory(opt_error);
  double *value = weight + all;
  idm_combination_log_weight(m, draws, combination, scale, weight);
  double shape = NAN;
  const bool normalised = isfinite(idm_softmax(weight, all, weight));
  const idm_status status = idm_pareto_shape(weight, all, &shape, opt_error);
  *ret_reliable = normalised && shape < idm_check_threshold(IDM_CHECK_HEAVY_TAIL);
  for (size_t j = 0; j < m->dimension; j++) {
    idm_combination_draws(m, draws, combination, j, value);
    mean[j] = idm_weighted_mean(value, weight, all);
  }
  free(weight);
  return status;
}

/* Importance-weighted means of all sides at one prior scale, [side][coordinate]. */
static idm_status means_by_weights(const audit_estimands *estimands, const audit_draws *draws,
                                   double scale, double *mean, bool *ret_reliable,
                                   idm_error *opt_error)
{
  const size_t d = estimands->model.dimension;
  idm_status status = IDM_OK;
  *ret_reliable = true;
  for (size_t g = 0; g < estimands->sides && status == IDM_OK; g++) {
    bool reliable = false;
    status = weighted_means(estimands, draws, &estimands->group[g], scale, mean + g * d, &reliable,
                            opt_error);
    *ret_reliable = *ret_reliable && reliable;
  }
  return status;
}

/* The same means by refitting. For jointly sampled dynamics, the fit is conditional on their mean,
 * in which the cells are open. */
static idm_status means_by_fit(const audit_estimands *estimands, double scale, uint64_t stream,
                               const audit_watch *watch, double *mean, idm_error *opt_error)
{
  const size_t d = estimands->model.dimension;
  audit_model given = estimands->model;
  audit_draws draws;
  given.joint = NULL;
  idm_status status = idm_audit_sample(&given, scale, stream, watch, &draws, opt_error);
  if (status != IDM_OK) return status;
  const size_t all = draws.chains * draws.draws;
  double *value = idm_new(all, sizeof *value);
  if (!value) status = idm_fail_memory(opt_error);
  for (size_t g = 0; g < estimands->sides && value; g++)
    for (size_t j = 0; j < d; j++) {
      idm_combination_draws(&estimands->model, &draws, &estimands->group[g], j, value);
      mean[g * d + j] = idm_moments_of(value, all).mean;
    }
  free(value);
  idm_audit_draws_clear(&draws);
  return status;
}

static idm_status vary_prior(const audit_estimands *estimands, const audit_draws *draws,
                             size_t dynamics_index, uint64_t stream, const audit_watch *watch,
                             idm_audit *a, prior_scale_means *scales, idm_error *opt_error)
{
  const size_t d = estimands->model.dimension;
  const size_t count = estimands->sides * d;
  double *mean = idm_new(2 * count, sizeof *mean);
  bool reliable[2] = {false, false};
  idm_status status = mean ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t k = 0; k < 2 && status == IDM_OK; k++)
    status = means_by_weights(estimands, draws, scale_factors[k], mean + k * count, &reliable[k],
                              opt_error);
  /* Fits at the mean of the dynamics are comparable with each other but not with joint draws. */
  if (estimands->model.joint) reliable[0] = reliable[1] = reliable[0] && reliable[1];
  for (size_t k = 0; k < 2 && status == IDM_OK; k++) {
    if (!reliable[k]) {
      a->refitted = true;
      status = means_by_fit(estimands, scale_factors[k], stream + ((k + 1) << 20), watch,
                            mean + k * count, opt_error);
    }
    for (size_t i = 0; i < count && status == IDM_OK; i++)
      average(a, dynamics_index, mean[k * count + i], &scales[i].mean[k]);
  }
  free(mean);
  return status;
}

/* --- model ----------------------------------------------------------------------------------- */

/* Add the model check of a cell to a side; `information`: also its misfits and failures. */
static void add_cell_to_side(idm_audit_group *group, const idm_assessment *cell, bool information)
{
  const idm_model_check *m = &cell->model;
  group->log_likelihood += m->evaluated ? m->log_likelihood : NAN;
  group->uniform += m->uniform;
  group->rates += m->rates;
  for (size_t i = 0; information && i < cell->misfits.count; i++)
    idm_notes_add(&group->misfits, "%s", cell->misfits.text[i]);
  for (size_t i = 0; information && i < cell->failures.count; i++)
    idm_audit_note_failure(group, "%s", cell->failures.text[i]);
  if (information && cell->checks.of[IDM_CHECK_CHANCE].outcome == IDM_CHECK_REMARK)
    idm_notes_add(
        &group->reasons,
        "%llu decision%s too few to distinguish the model from chance: it is hardly tested",
        (unsigned long long)m->decisions, m->decisions == 1 ? " is" : "s are");
}

/* Whether a side reports the misfits of a cell. Groups report all of theirs; `all` reports none if
 * it has no cell of its own. A cell in no group is reported by the first rest that contains it. */
static bool is_reported(const audit_estimands *estimands, size_t side, size_t cell)
{
  const size_t all = estimands->groups - 1;
  if (side < all) return true;
  if (side == all && estimands->model.pooled) return false;
  for (size_t g = 0; g < side; g++)
    if (g != all && estimands->group[g].cell[cell] != 0) return false;
  return true;
}

/* Find the cells whose own log is informative about at least one number. */
static idm_status find_informative(const audit_model *m, bool *informative, idm_error *opt_error)
{
  double *only = idm_new(m->cells + m->dimension, sizeof *only);
  if (!only) return idm_fail_memory(opt_error);
  double *contraction = only + m->cells;
  idm_status status = IDM_OK;
  for (size_t c = 0; c < m->cells && status == IDM_OK; c++) {
    only[c] = 1;
    status = find_contraction(m, only, contraction, opt_error);
    only[c] = 0;
    for (size_t j = 0; j < m->dimension; j++)
      informative[c] = informative[c] || idm_check_passes(IDM_CHECK_CONTRACTION, contraction[j]);
  }
  free(only);
  return status;
}

/* Test whether the decisions of a cell are much more likely at the distant point than at any draw:
 * a misplaced prior can keep the draws from a region with nearly all of the posterior mass. */
static bool test_distant_likelihood(const audit_model *m, const audit_draws *draws, size_t c,
                                    idm_audit *a, idm_assessment *cell)
{
  const size_t all = draws->chains * draws->draws;
  const audit_cell *at = &m->cell[c];
  double best = -INFINITY, max_distance = 0;
  size_t largest = 0;
  for (size_t i = 0; i < all; i++) best = fmax(best, draws->log_likelihood[c * all + i]);
  const double gain = at->distant_log_likelihood - best;
  if (isnan(gain) || gain == -INFINITY ||
      !idm_check_test(&a->checks, IDM_CHECK_PRIOR_EXCLUSION, gain))
    return false;
  for (size_t j = 0; j < m->dimension; j++) {
    const double distance = fabs(at->distant_point[j] - m->mean[j]) / m->sd[j];
    if (distance > max_distance) largest = j;
    max_distance = fmax(max_distance, distance);
  }
  idm_notes_add(&cell->misfits,
                "prior and decisions disagree: with %s at %.4g, %.1f prior sds from the prior "
                "mean, the log-likelihood is %.0f nats higher than at any draw; check the prior",
                a->coordinate.name[largest], at->distant_point[largest], max_distance, gain);
  return true;
}

/* If all people are one cell with one vector of numbers, test whether its misfit is that of an
 * average over differing groups. Such a misfit does not fail the audit, because each group has its
 * own tests. */
static idm_status test_heterogeneity(const audit_estimands *estimands, const audit_draws *draws,
                                     const idm_assessment *overall, idm_audit *a,
                                     idm_error *opt_error)
{
  idm_audit_group *all = &a->group[a->groups - 1];
  audit_max_contrast largest = {0};
  if (!overall->misfits.count || !idm_audit_is_heterogeneity(&overall->checks)) return IDM_OK;
  const idm_status status = idm_audit_max_contrast(estimands, draws, &largest, opt_error);
  const bool is_determined = largest.p < IDM_CHECK_LEVEL;
  all->mixed = status == IDM_OK && (is_determined || idm_audit_only_unlike(&overall->checks));
  if (all->mixed && !is_determined)
    idm_notes_add(&all->reasons,
                  "agents or trajectories differ, so that one set of numbers does not describe all "
                  "of them: it is an average, and the verdicts of groups do not depend on it");
  if (all->mixed && is_determined)
    idm_notes_add(&all->reasons,
                  "the groups differ (%s of '%s' less that of '%s' is %.3g, %.1f of its sds), so "
                  "that one set of numbers does not describe all of them: it is an average, and "
                  "the verdicts of groups do not depend on it",
                  a->coordinate.name[largest.coordinate], a->contrast[largest.contrast].group,
                  a->contrast[largest.contrast].against, largest.mean, largest.sds);
  return status;
}

/* Record the model checks of a cell. A misfit is only a remark if the cell has too few decisions or
 * is an average over groups. */
static void record_cell(const idm_assessment *cell, bool counts, idm_checks *checks)
{
  const idm_model_check *m = &cell->model;
  const idm_check_outcome misfit = counts ? IDM_CHECK_MISFIT : IDM_CHECK_REMARK;
  const bool better = m->log_likelihood > m->uniform;
  idm_checks_merge(checks, &cell->checks, misfit);
  if (checks->kind == IDM_CHECK_NESTED && m->decisions)
    idm_check_record(checks, IDM_CHECK_BEHAVIOR, better ? IDM_CHECK_PASSED : misfit,
                     m->log_likelihood / m->uniform);
}

/* Add the model checks of cells to the sides. With too few decisions a misfit is reported but does
 * not fail the group. */
static void add_cells_to_sides(const audit_estimands *estimands, const idm_assessment *cell,
                               const bool *informative, const bool *elsewhere, idm_audit *a)
{
  for (size_t g = 0; g < a->sides; g++)
    for (size_t c = 0; c < estimands->model.cells; c++) {
      if (estimands->group[g].cell[c] == 0) continue;
      const bool information = is_reported(estimands, g, c);
      /* Cells that are groups are judged as groups; classify_all and classify_rests propagate their
       * verdicts. */
      const bool own = information || (g >= a->groups && !estimands->model.partition);
      add_cell_to_side(&a->group[g], &cell[c], information);
      if (idm_checks_left_out(&cell[c].checks)) a->group[g].unchecked = true;
      if (own && informative[c] && cell[c].misfits.count && !a->group[g].mixed)
        a->group[g].model_misfit = true;
      if (elsewhere[c]) a->group[g].prior_conflict = true;
      if (own && cell[c].failures.count) a->group[g].coarse = true;
    }
}

idm_status idm_audit_assess(const audit_estimands *estimands, const audit_draws *draws,
                            idm_audit *a, idm_error *opt_error)
{
  const audit_model *m = &estimands->model;
  /* Groups of one cell are tested separately; groups of several cells are tested simultaneously. */
  const size_t among = m->partition ? 1 : m->cells < max_among ? m->cells : max_among;
  idm_assessment *cell = idm_new(m->cells, sizeof *cell);
  bool *informative = idm_new(2 * m->cells, sizeof *informative);
  bool *elsewhere = informative ? informative + m->cells : NULL;
  idm_status status = cell && informative ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = find_informative(m, informative, opt_error);
  if (status == IDM_OK)
    status = m->cohorts ? idm_audit_nest_check(m, draws, among, cell, opt_error)
                        : idm_audit_check_models(m, draws, among, cell, opt_error);
  if (status == IDM_OK && !m->pooled && !m->cohorts)
    status = test_heterogeneity(estimands, draws, &cell[m->cells - 1], a, opt_error);
  if (status == IDM_OK) status = idm_audit_additive(estimands, draws, a, opt_error);
  /* If effects are not additive, this misfit explains why draws of a cell miss its maximum. */
  const bool agent_information = a->checks.of[IDM_CHECK_FORM].outcome == IDM_CHECK_MISFIT;
  for (size_t c = 0; c < m->cells && status == IDM_OK && !agent_information; c++)
    elsewhere[c] = test_distant_likelihood(m, draws, c, a, &cell[c]);
  for (size_t c = 0; c < m->cells && status == IDM_OK; c++) {
    const bool overall = !m->pooled && c + 1 == m->cells;
    record_cell(&cell[c], informative[c] && !(overall && a->group[a->groups - 1].mixed),
                &a->checks);
  }
  if (status == IDM_OK) add_cells_to_sides(estimands, cell, informative, elsewhere, a);
  if (status == IDM_OK) idm_audit_propagate_shift(estimands, cell, a);
  if (status == IDM_OK) status = idm_audit_cohort_check(estimands, draws, a, opt_error);
  idm_audit_clear_checks(cell, m->cells);
  free(cell);
  free(informative);
  return status;
}

/* --- verdicts ------------------------------------------------------------------------------- */

/* Whether draws have converged; a single chain provides no evidence of convergence. */
static bool has_converged(const idm_audit *a, const idm_audit_quantity *n)
{
  const idm_diagnosis *d = &n->diagnosis;
  const size_t chains = a->chains / a->cuts;
  return idm_check_passes(IDM_CHECK_ONE_CHAIN, (double)chains) &&
         idm_check_passes(IDM_CHECK_RHAT, d->rhat) &&
         idm_check_passes(IDM_CHECK_EFFECTIVE, d->ess_bulk) &&
         idm_check_passes(IDM_CHECK_EFFECTIVE, d->ess_tail);
}

/* The same, recorded in the checks. */
static bool record_draws(idm_audit *a, const idm_audit_quantity *n)
{
  const idm_diagnosis *d = &n->diagnosis;
  const size_t chains = a->chains / a->cuts;
  idm_check_test(&a->checks, IDM_CHECK_ONE_CHAIN, (double)chains);
  if (chains > 1) idm_check_test(&a->checks, IDM_CHECK_RHAT, d->rhat);
  idm_check_test(&a->checks, IDM_CHECK_EFFECTIVE, d->ess_bulk);
  idm_check_test(&a->checks, IDM_CHECK_EFFECTIVE, d->ess_tail);
  return has_converged(a, n);
}

static void take_worse_verdict(idm_audit_group *g, idm_audit_verdict verdict)
{
  if (verdict > g->verdict) g->verdict = verdict;
}

static void classify_number(idm_audit *a, idm_audit_group *g, size_t j)
{
  const idm_audit_quantity *n = &g->number[j];
  const char *name = a->coordinate.name[j];
  const bool driven = idm_check_test_optional(&a->checks, IDM_CHECK_CONTRACTION, n->contraction);
  if (!record_draws(a, n)) {
    take_worse_verdict(g, IDM_AUDIT_FAILED);
    idm_audit_note_failure(
        g,
        "%s has R-hat %.3f and effective sample sizes of %.0f (bulk) and %.0f (tail); "
        "expected at most %.2f and at least %.0f of several chains: take more --draws",
        name, n->diagnosis.rhat, n->diagnosis.ess_bulk, n->diagnosis.ess_tail,
        idm_check_threshold(IDM_CHECK_RHAT), idm_check_threshold(IDM_CHECK_EFFECTIVE));
  }
  if (driven) {
    take_worse_verdict(g, IDM_AUDIT_PRIOR_DRIVEN);
    idm_notes_add(&g->reasons,
                  "%s is hardly narrower than its prior (contraction %.2f): the decisions contain "
                  "little information about it",
                  name, n->contraction);
  }
  if (a->pool == IDM_POOL_PARTIAL &&
      idm_check_test_optional(&a->checks, IDM_CHECK_OWN_DECISIONS, n->alone) && !driven &&
      !isnan(n->contraction)) {
    take_worse_verdict(g, IDM_AUDIT_POPULATION_DRIVEN);
    idm_notes_add(&g->reasons,
                  "%s is determined by the other groups: the decisions of this one alone would "
                  "leave it hardly narrower than its prior (contraction %.2f)",
                  name, n->alone);
  }
  if (idm_check_test_optional(&a->checks, IDM_CHECK_BETWEEN_DYNAMICS, n->between)) {
    take_worse_verdict(g, IDM_AUDIT_DYNAMICS_DRIVEN);
    idm_notes_add(
        &g->reasons,
        "%.0f %% of the variance of %s lies between draws of the dynamics: it depends on dynamics, "
        "and has no interval",
        100 * n->between, name);
  }
  if (idm_check_test_optional(&a->checks, IDM_CHECK_PRIOR_SCALE, fabs(n->prior_shift))) {
    take_worse_verdict(g, IDM_AUDIT_PRIOR_DRIVEN);
    idm_notes_add(
        &g->reasons,
        "%s moves by %.2f sd between half and double the prior's scale: it depends on the prior",
        name, n->prior_shift);
  }
}

/* A group fails if the sd of its agents has not converged. */
static void classify_within(idm_audit *a, idm_audit_group *g, size_t j)
{
  const idm_audit_quantity *n = a->within ? &a->within[j] : &g->within[j];
  if (record_draws(a, n)) return;
  take_worse_verdict(g, IDM_AUDIT_FAILED);
  idm_audit_note_failure(
      g,
      "the sd of agents in %s has R-hat %.3f and effective sample sizes of %.0f (bulk) "
      "and %.0f (tail): take more --draws",
      a->coordinate.name[j], n->diagnosis.rhat, n->diagnosis.ess_bulk, n->diagnosis.ess_tail);
}

/* Whether uncertain dynamics leave a number undetermined. A misfit in some draws of the dynamics is
 * then not a misfit of the model. */
static bool depends_on_dynamics(const idm_audit *a, const idm_audit_group *g)
{
  for (size_t j = 0; j < a->coordinate.count; j++)
    if (idm_depends_on_dynamics(g->number[j].between)) return true;
  return false;
}

static void classify_group(idm_audit *a, idm_audit_group *g)
{
  for (size_t j = 0; j < a->coordinate.count; j++) {
    classify_number(a, g, j);
    if (a->people) classify_within(a, g, j);
  }
  const bool undecided = depends_on_dynamics(a, g);
  if (g->mixed) take_worse_verdict(g, IDM_AUDIT_HETEROGENEOUS);
  const bool unfit = (g->model_misfit && !undecided) || g->prior_conflict;
  if (unfit || g->coarse) take_worse_verdict(g, IDM_AUDIT_FAILED);
  if (g->model_misfit && undecided)
    idm_notes_add(&g->reasons, "the model does not fit in the dynamics in which it was assessed; "
                               "the dynamics are uncertain, and others may explain the decisions");
  for (size_t i = 0; i < g->misfits.count; i++) {
    idm_notes_add(&g->reasons, "%s", g->misfits.text[i]);
    if (unfit) idm_notes_add(&g->failures, "%s", g->misfits.text[i]);
  }
}

/* If no group fails by a misfit, turn all misfits into remarks. */
static void downgrade_misfits(idm_audit *a)
{
  for (size_t g = 0; g < a->sides; g++)
    if ((a->group[g].model_misfit && !depends_on_dynamics(a, &a->group[g])) ||
        a->group[g].prior_conflict)
      return;
  for (int id = 0; id < IDM_CHECK_COUNT; id++)
    if (a->checks.of[id].outcome == IDM_CHECK_MISFIT) a->checks.of[id].outcome = IDM_CHECK_REMARK;
}

static void check_population(idm_audit *a)
{
  for (size_t j = 0; a->mean && j < a->coordinate.count; j++) {
    const bool mean = record_draws(a, &a->mean[j]);
    if (record_draws(a, &a->sd[j]) && mean) continue;
    a->trusted = false;
    idm_notes_add(&a->failures,
                  "the draws of the distribution of %s over groups have not converged (R-hat %.3f "
                  "and %.3f, effective sample sizes %.0f and %.0f of mean and sd): take more "
                  "--draws",
                  a->coordinate.name[j], a->mean[j].diagnosis.rhat, a->sd[j].diagnosis.rhat,
                  a->mean[j].diagnosis.ess_bulk, a->sd[j].diagnosis.ess_bulk);
  }
}

/* Fail a side that contains a failed group, with a reason. */
static void propagate_failure(idm_audit_group *side, const idm_audit_group *failed)
{
  take_worse_verdict(side, IDM_AUDIT_FAILED);
  idm_audit_note_failure(side, "it contains '%s', which failed", failed->name);
}

/* `all` is no better than the worst group. Without pooling, `all` has its own draws, and failed
 * draws of a group do not affect it. */
static void classify_all(const idm_audit *a)
{
  idm_audit_group *all = &a->group[a->groups - 1];
  if (all->verdict == IDM_AUDIT_FAILED) return; /* its reason is recorded */
  for (size_t g = 0; g < a->sides; g++) {
    const idm_audit_group *one = &a->group[g];
    const bool shared = a->pool == IDM_POOL_PARTIAL || one->model_misfit || one->prior_conflict;
    if (one != all && one->verdict == IDM_AUDIT_FAILED && shared) propagate_failure(all, one);
  }
}

/* The verdict on the rest of a group is no better than the worst verdict on its groups. */
static void classify_rests(const audit_estimands *estimands, const idm_audit *a)
{
  for (size_t r = a->groups; r < a->sides; r++) {
    if (a->group[r].verdict == IDM_AUDIT_FAILED) continue; /* its reason is recorded */
    for (size_t g = 0; g + 1 < a->groups && estimands->model.partition; g++)
      if (estimands->group[r].cell[g] != 0 && a->group[g].verdict == IDM_AUDIT_FAILED)
        propagate_failure(&a->group[r], &a->group[g]);
  }
}

/* Whether the draws of a contrast have converged; the draws of its two sides may have, while those
 * of the difference have not. */
static bool check_contrast_draws(idm_audit *a, const idm_audit_contrast *c, size_t j)
{
  const idm_diagnosis *d = &c->number[j].diagnosis;
  if (record_draws(a, &c->number[j])) return true;
  a->trusted = false;
  for (size_t i = 0; i < 2; i++)
    if (a->group[c->side[i]].verdict == IDM_AUDIT_FAILED) return false; /* its reason is recorded */
  idm_notes_add(&a->failures,
                "the contrast of '%s' less '%s' in %s has R-hat %.3f and effective sample sizes of "
                "%.0f (bulk) and %.0f (tail): take more --draws",
                c->group, c->against, a->coordinate.name[j], d->rhat, d->ess_bulk, d->ess_tail);
  return false;
}

/* A contrast takes the worst of the verdicts on its two sides and on its own draws and contraction:
 * the difference, other predicates held fixed, may be undetermined while both sides are identified.
 * Dependence on dynamics is judged by the contrast's own variance, because dynamics may shift both
 * sides equally. A contrast that failed or is unchecked is never significant. */
static void classify_contrast(idm_audit *a, idm_audit_contrast *c)
{
  c->verdict = IDM_AUDIT_IDENTIFIED;
  for (size_t i = 0; i < 2; i++) {
    const idm_audit_verdict side = a->group[c->side[i]].verdict;
    if (side > c->verdict && side != IDM_AUDIT_DYNAMICS_DRIVEN) c->verdict = side;
    c->unchecked = c->unchecked || a->group[c->side[i]].unchecked;
  }
  for (size_t j = 0; j < a->coordinate.count; j++) {
    if (idm_depends_on_dynamics(c->number[j].between) && c->verdict < IDM_AUDIT_DYNAMICS_DRIVEN)
      c->verdict = IDM_AUDIT_DYNAMICS_DRIVEN;
    if (c->number[j].contraction < idm_check_threshold(IDM_CHECK_CONTRACTION) &&
        c->verdict < IDM_AUDIT_PRIOR_DRIVEN)
      c->verdict = IDM_AUDIT_PRIOR_DRIVEN;
    if (!check_contrast_draws(a, c, j)) c->verdict = IDM_AUDIT_FAILED;
  }
  const bool is_determined = c->verdict != IDM_AUDIT_FAILED && !c->unchecked;
  for (size_t j = 0; j < a->coordinate.count && !is_determined; j++)
    c->number[j].significant = false;
}

idm_status idm_audit_collect(const audit_estimands *estimands, const audit_draws *draws,
                             size_t dynamics_index, uint64_t stream, const audit_watch *watch,
                             idm_audit *a, prior_scale_means *scales, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  store_draws(estimands, draws, dynamics_index, a);
  for (size_t g = 0; g < a->sides && status == IDM_OK; g++) {
    status = find_own_share(estimands, draws, dynamics_index, g, a, opt_error);
    if (status == IDM_OK) status = find_own_contraction(estimands, dynamics_index, g, a, opt_error);
  }
  return status == IDM_OK
             ? vary_prior(estimands, draws, dynamics_index, stream, watch, a, scales, opt_error)
             : status;
}

idm_status idm_audit_conclude(const audit_estimands *estimands, const prior_scale_means *scales,
                              idm_audit *a, idm_error *opt_error)
{
  const size_t d = a->coordinate.count;
  idm_status status = summarise_all(estimands, a, opt_error);
  if (status == IDM_OK) status = flag(a, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < a->sides * d; i++) {
    idm_audit_quantity *n = &a->group[i / d].number[i % d];
    n->prior_shift = (scales[i].mean[1] - scales[i].mean[0]) / n->diagnosis.sd;
  }
  idm_audit_conflict_groups(estimands, a);
  for (size_t g = 0; g < a->sides; g++) classify_group(a, &a->group[g]);
  downgrade_misfits(a);
  classify_all(a);
  classify_rests(estimands, a);
  a->trusted = true;
  for (size_t c = 0; c < a->contrasts; c++) classify_contrast(a, &a->contrast[c]);
  idm_audit_flag_dependence(a);
  for (size_t g = 0; g < a->sides; g++)
    a->trusted = a->trusted && a->group[g].verdict != IDM_AUDIT_FAILED;
  check_population(a);
  idm_audit_conflict_pooled(estimands, a);
  idm_checks_remark_left_out(&a->checks, &a->remarks);
  return IDM_OK;
}
