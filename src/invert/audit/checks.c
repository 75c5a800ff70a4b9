/* Checks of an audit: additivity of effects, heterogeneity of groups, prior conflicts, and agents
 * within cohorts.
 *
 * Contents: additivity · heterogeneity · prior conflict · cohorts */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "infer/distribution.h"
#include "invert/assess.h"
#include "invert/assess/context.h"
#include "invert/audit/estimands.h"
#include "invert/matching.h"
#include "invert/people/people.h"

/* === additivity ============================================================================= */

/* Efficient score test of products of predicates, confirmed by the gain in log-likelihood
 * (estimands.h).
 *
 * Contents: derivatives · score test of a product · gain in log-likelihood · verdict */

typedef struct additive {
  const audit_estimands *estimands;
  size_t nuisances;  /* (effects + 1) times coordinates: mu, then e */
  double *centre;    /* [cell][coordinate] */
  double *sd;        /* [cell][coordinate] */
  double *score;     /* [cell][coordinate]: gradient of the log-likelihood at the centre */
  double *precision; /* [cell][coordinate][coordinate]: negative Hessian there */
  double *factor;    /* [nuisance][nuisance]: Cholesky factor of the information of the nuisance
                        parameters */
  double *nuisance_score;    /* [nuisance]: their score */
  double *cross_information; /* [nuisance]: cross-information with delta */
  double *nuisance_response; /* [nuisance]: inverse nuisance information times cross_information */
  double *x;                 /* [2][coordinate]: scratch, a point and a gradient */
  double *storage;
} additive;

/* Product of two predicates in one coordinate. */
typedef struct pair {
  size_t first, second;
  size_t coordinate;
  double delta; /* one-step estimate by the score */
  double p;
} pair;

static void close_additive(additive *t)
{
  free(t->storage);
  *t = (additive){0};
}

static idm_status open_additive(additive *t, const audit_estimands *estimands, idm_error *opt_error)
{
  const audit_model *m = &estimands->model;
  const size_t d = m->dimension, cells = m->cells, n = (m->effects + 1) * d;
  *t = (additive){.estimands = estimands, .nuisances = n};
  t->storage = idm_new(idm_times(cells, d * (3 + d)) + n * (n + 3) + 2 * d, sizeof *t->storage);
  if (!t->storage) return idm_fail_memory(opt_error);
  t->centre = t->storage;
  t->sd = t->centre + cells * d;
  t->score = t->sd + cells * d;
  t->precision = t->score + cells * d;
  t->factor = t->precision + cells * d * d;
  t->nuisance_score = t->factor + n * n;
  t->cross_information = t->nuisance_score + n;
  t->nuisance_response = t->cross_information + n;
  t->x = t->nuisance_response + n;
  return IDM_OK;
}

/* Entry of Z for a cell, with an intercept as column 0. */
static double design_entry(const audit_model *m, size_t cell, size_t k)
{
  return k ? m->share[cell * m->effects + k - 1] : 1;
}

static double product_entry(const audit_model *m, size_t cell, const pair *p)
{
  return design_entry(m, cell, p->first + 1) * design_entry(m, cell, p->second + 1);
}

/* --- derivatives ---------------------------------------------------------------------------- */

static idm_status evaluate(const additive *t, size_t cell, const double *x, double *value,
                           double *opt_gradient, idm_error *opt_error)
{
  return idm_matching_log_likelihood(t->estimands->model.cell[cell].f.matching[0], x, value,
                                     opt_gradient, opt_error);
}

/* Score and precision of a cell at its centre, by central differences of gradients with a step of a
 * third of an sd. */
static idm_status differentiate(const additive *t, size_t cell, idm_error *opt_error)
{
  const size_t d = t->estimands->model.dimension;
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

static idm_status differentiate_cells(const additive *t, const audit_draws *draws,
                                      idm_error *opt_error)
{
  const audit_model *m = &t->estimands->model;
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

/* --- score test of a product ----------------------------------------------------------------- */

/* Sum the score and the information of the nuisance parameters, and factorise the information.
 * Returns false if it is singular. */
static bool sum_information(const additive *t)
{
  static const double ridge = 1e-9;
  const audit_model *m = &t->estimands->model;
  const size_t d = m->dimension, n = t->nuisances;
  for (size_t c = 0; c < m->cells; c++)
    for (size_t a = 0; a < n; a++) {
      const double share = design_entry(m, c, a / d);
      t->nuisance_score[a] += share * t->score[c * d + a % d];
      for (size_t b = 0; b < n; b++)
        t->factor[a * n + b] +=
            share * design_entry(m, c, b / d) * t->precision[(c * d + a % d) * d + b % d];
    }
  for (size_t a = 0; a < n; a++) t->factor[a * (n + 1)] *= 1 + ridge;
  return idm_cholesky(n, t->factor);
}

/* p-value of the score test; NaN if the product is a linear combination of the predicates. Stores
 * in `nuisance_response` the response of the nuisance parameters to delta. */
static void test_score(const additive *t, pair *p)
{
  static const double min_share = 1e-6; /* smallest share of the information on delta that is left
                                           after the nuisance parameters */
  const audit_model *m = &t->estimands->model;
  const size_t d = m->dimension, n = t->nuisances, j = p->coordinate;
  double score = 0, information = 0, remaining;
  memset(t->cross_information, 0, n * sizeof *t->cross_information);
  for (size_t c = 0; c < m->cells; c++) {
    const double q = product_entry(m, c, p);
    score += q * t->score[c * d + j];
    information += q * q * t->precision[(c * d + j) * d + j];
    for (size_t a = 0; a < n; a++)
      t->cross_information[a] +=
          q * design_entry(m, c, a / d) * t->precision[(c * d + j) * d + a % d];
  }
  memcpy(t->nuisance_response, t->cross_information, n * sizeof *t->nuisance_response);
  idm_lower_solve(n, t->factor, t->nuisance_response);
  idm_lower_solve_transposed(n, t->factor, t->nuisance_response);
  remaining = information;
  for (size_t a = 0; a < n; a++) {
    score -= t->nuisance_response[a] * t->nuisance_score[a];
    remaining -= t->nuisance_response[a] * t->cross_information[a];
  }
  const bool identified = remaining > min_share * information && information > 0;
  p->delta = identified ? score / remaining : 0;
  p->p = identified ? idm_chi_square_tail(score * score / remaining, 1) : NAN;
}

/* --- gain in log-likelihood ------------------------------------------------------------------ */

/* Log-likelihood of all cells after a step of the nuisance parameters along their own score, and a
 * step `delta` to which they respond. */
static idm_status sum_log_likelihood(const additive *t, const pair *p, const double *step,
                                     double delta, double *ret_sum, idm_error *opt_error)
{
  const audit_model *m = &t->estimands->model;
  const size_t d = m->dimension;
  idm_status status = IDM_OK;
  *ret_sum = 0;
  for (size_t c = 0; c < m->cells && status == IDM_OK; c++) {
    double value = 0;
    memcpy(t->x, t->centre + c * d, d * sizeof *t->x);
    t->x[p->coordinate] += delta * product_entry(m, c, p);
    for (size_t a = 0; a < t->nuisances; a++)
      t->x[a % d] += design_entry(m, c, a / d) * (step[a] - delta * t->nuisance_response[a]);
    status = evaluate(t, c, t->x, &value, NULL, opt_error);
    *ret_sum += value;
  }
  return status;
}

/* Set p to the larger of the p-values of the score and of the gain in log-likelihood. */
static idm_status test_gain(const additive *t, pair *p, idm_error *opt_error)
{
  static const double step_factor[] = {0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2};
  const size_t n = t->nuisances;
  double base, largest = 0, *step = idm_duplicate(t->nuisance_score, n, sizeof *step);
  if (!step) return idm_fail_memory(opt_error);
  idm_lower_solve(n, t->factor, step);
  idm_lower_solve_transposed(n, t->factor, step);
  test_score(t, p);
  idm_status status = sum_log_likelihood(t, p, step, 0, &base, opt_error);
  for (size_t k = 0; k < sizeof step_factor / sizeof *step_factor && status == IDM_OK; k++) {
    double sum;
    status = sum_log_likelihood(t, p, step, step_factor[k] * p->delta, &sum, opt_error);
    largest = fmax(largest, sum - base);
  }
  p->p = fmax(p->p, idm_chi_square_tail(2 * largest, 1));
  free(step);
  return status;
}

/* --- verdict --------------------------------------------------------------------------------- */

static void record_additivity(const pair *p, size_t count, idm_audit *a)
{
  const double adjusted = fmin(1, p->p * (double)count);
  idm_audit_group *const side[] = {&a->group[p->first], &a->group[p->second]};
  if (!idm_check_test(&a->checks, IDM_CHECK_FORM, adjusted)) return;
  for (size_t i = 0; i < 2; i++) {
    side[i]->model_misfit = true;
    idm_notes_add(
        &side[i]->misfits,
        "%s depends on '%s' x '%s', which the sum of the effects of groups does not "
        "contain (p = %.2g over %zu tests): members of both groups differ from the sum of "
        "the two effects; compare the combinations as groups of one column "
        "(--by), or use `idm fit --by agent --model` with a * b",
        a->coordinate.name[p->coordinate], side[0]->name, side[1]->name, adjusted, count);
  }
}

static idm_status test_pairs(const additive *t, idm_audit *a, idm_error *opt_error)
{
  const audit_model *m = &t->estimands->model;
  pair largest = {.p = 1};
  size_t count = 0;
  for (size_t k = 1; k < m->effects; k++)
    for (size_t l = 0; l < k; l++)
      for (size_t j = 0; j < m->dimension; j++) {
        pair one = {.first = l, .second = k, .coordinate = j};
        test_score(t, &one);
        if (isnan(one.p)) continue;
        if (!count++ || one.p < largest.p) largest = one;
      }
  if (!count) return IDM_OK;
  idm_status status = IDM_OK;
  if (largest.p * (double)count < IDM_CHECK_LEVEL) status = test_gain(t, &largest, opt_error);
  if (status == IDM_OK) record_additivity(&largest, count, a);
  return status;
}

idm_status idm_audit_additive(const audit_estimands *estimands, const audit_draws *draws,
                              idm_audit *a, idm_error *opt_error)
{
  const audit_model *m = &estimands->model;
  additive t;
  if (m->partition || m->cohorts) return IDM_OK;
  idm_status status = open_additive(&t, estimands, opt_error);
  if (status == IDM_OK) status = differentiate_cells(&t, draws, opt_error);
  if (status == IDM_OK && sum_information(&t)) status = test_pairs(&t, a, opt_error);
  close_additive(&t);
  return status;
}

/* === heterogeneity ========================================================================== */

/* Tests of whether the groups of an audit differ. */

idm_status idm_audit_max_contrast(const audit_estimands *estimands, const audit_draws *draws,
                                  audit_max_contrast *difference, idm_error *opt_error)
{
  const size_t d = estimands->model.dimension, all = draws->chains * draws->draws;
  double *value = idm_new(all, sizeof *value);
  if (!value) return idm_fail_memory(opt_error);
  *difference = (audit_max_contrast){0};
  for (size_t i = 0; i < estimands->contrasts * d; i++) {
    idm_combination_draws(&estimands->model, draws, &estimands->contrast[i / d], i % d, value);
    const idm_moments m = idm_moments_of(value, all);
    const double sds = fabs(m.mean) / sqrt(m.variance);
    if (!(sds > difference->sds)) continue;
    *difference =
        (audit_max_contrast){.contrast = i / d, .coordinate = i % d, .mean = m.mean, .sds = sds};
  }
  free(value);
  const double tail = idm_chi_square_tail(difference->sds * difference->sds, 1);
  difference->p = fmin(1, tail * (double)(estimands->contrasts * d));
  return IDM_OK;
}

bool idm_audit_is_heterogeneity(const idm_checks *overall)
{
  return overall->of[IDM_CHECK_INERT].outcome != IDM_CHECK_MISFIT &&
         overall->of[IDM_CHECK_ENVIRONMENT].outcome != IDM_CHECK_MISFIT;
}

bool idm_audit_only_unlike(const idm_checks *overall)
{
  bool heterogeneous = false;
  for (int id = 0; id < IDM_CHECK_COUNT; id++) {
    if (overall->of[id].outcome != IDM_CHECK_MISFIT) continue;
    if (id != IDM_CHECK_HOMOGENEITY && id != IDM_CHECK_TRAJECTORIES) return false;
    heterogeneous = true;
  }
  return heterogeneous;
}

/* === prior conflict ========================================================================= */

/* Conflicts between priors and decisions. */

/* Test whether a normal prior of this mean and sd conflicts with the posterior of a number. A
 * conflict is added to the notes as a misfit. */
static bool test_prior_conflict(idm_audit *a, const idm_audit_quantity *n, double mean, double sd,
                                const char *what, idm_notes *notes)
{
  const idm_diagnosis *d = &n->diagnosis;
  const prior_pull pull = idm_prior_pull(d->mean, d->sd * d->sd, mean, sd * sd);
  if (!idm_check_test(&a->checks, IDM_CHECK_PRIOR_PULL, idm_prior_pull_value(&pull))) return false;
  idm_prior_pull_note(&pull, what, "the decisions", notes);
  return true;
}

/* A half-normal prior is tested as the normal prior about 0 of the same scale. */
static bool test_within_conflict(const audit_estimands *estimands, idm_audit *a, size_t cohort,
                                 size_t j, const idm_audit_quantity *within, idm_notes *notes)
{
  char what[300];
  idm_print(what, sizeof what, "the sd of agents in %.200s", a->coordinate.name[j]);
  return test_prior_conflict(a, within, 0, estimands->model.cohort[cohort].design->sd_scale[j],
                             what, notes);
}

void idm_audit_conflict_groups(const audit_estimands *estimands, idm_audit *a)
{
  const audit_model *m = &estimands->model;
  for (size_t g = 0; g < a->sides && !m->pooled; g++)
    for (size_t j = 0; j < m->dimension; j++) {
      idm_audit_group *one = &a->group[g];
      size_t cohort = 0;
      while (m->cohorts && estimands->group[g].cell[m->cohort[cohort].cell[0]] == 0) cohort++;
      bool held = test_prior_conflict(a, &one->number[j], m->mean[j], m->sd[j],
                                      a->coordinate.name[j], &one->misfits);
      if (one->within)
        held =
            test_within_conflict(estimands, a, cohort, j, &one->within[j], &one->misfits) || held;
      one->prior_conflict = one->prior_conflict || held;
    }
}

/* Fail all groups and contrasts: every group is shrunk towards the common distribution, and every
 * contrast is between two groups. */
static void fail_all(idm_audit *a)
{
  a->trusted = false;
  for (size_t g = 0; g < a->sides; g++) {
    if (a->group[g].verdict == IDM_AUDIT_FAILED) continue;
    a->group[g].verdict = IDM_AUDIT_FAILED;
    idm_audit_note_failure(&a->group[g],
                           "the prior of the distribution over groups, towards which the group is "
                           "shrunk, conflicts with the decisions");
  }
  for (size_t c = 0; c < a->contrasts; c++) {
    a->contrast[c].verdict = IDM_AUDIT_FAILED;
    a->contrast[c].depends = false;
    for (size_t j = 0; j < a->coordinate.count; j++) a->contrast[c].number[j].significant = false;
  }
}

void idm_audit_conflict_pooled(const audit_estimands *estimands, idm_audit *a)
{
  const audit_model *m = &estimands->model;
  char what[300];
  for (size_t j = 0; j < m->dimension && m->pooled; j++) {
    const char *name = a->coordinate.name[j];
    idm_print(what, sizeof what, "the mean of %.200s over groups", name);
    bool held = test_prior_conflict(a, &a->mean[j], m->mean[j], m->sd[j], what, &a->failures);
    idm_print(what, sizeof what, "the sd of %.200s over groups", name);
    held = test_prior_conflict(a, &a->sd[j], 0, m->sd[j] / 2, what, &a->failures) || held;
    if (a->within)
      held = test_within_conflict(estimands, a, 0, j, &a->within[j], &a->failures) || held;
    if (held) fail_all(a);
  }
}

/* === cohorts ================================================================================ */

/* Checks of agents nested in cells. */

/* Copy the numbers of a cohort's agents into the layout of idm_people: [number][agent][draw]. */
static idm_status arrange_people(const audit_model *m, const audit_draws *draws, size_t cohort,
                                 idm_people *ret_people, idm_error *opt_error)
{
  const size_t d = m->dimension, n = m->cohort[cohort].design->people;
  const size_t all = draws->chains * draws->draws, first = idm_audit_agents(m, cohort);
  double *effect = idm_new(idm_times(n * d, all), sizeof *effect);
  if (!effect) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d; j++)
      memcpy(effect + (j * n + i) * all, draws->agent + ((first + i) * d + j) * all,
             all * sizeof *effect);
  *ret_people = (idm_people){
      .chains = draws->chains, .draws = draws->draws, .people = n, .effects = d, .effect = effect};
  return IDM_OK;
}

static void fail(idm_audit_group *group, const idm_notes *misfits)
{
  group->model_misfit = true;
  for (size_t i = 0; i < misfits->count; i++)
    idm_notes_add(&group->misfits, "%s", misfits->text[i]);
}

/* Add misfits to the groups of a cell. The side `all`, and rests that consist of groups, inherit
 * them in judge.c. */
static void fail_cell(const audit_estimands *estimands, size_t cell, const idm_notes *misfits,
                      idm_audit *a)
{
  for (size_t g = 0; g < a->sides; g++) {
    const bool own = g + 1 < a->groups || (g >= a->groups && !estimands->model.partition);
    if (own && estimands->group[g].cell[cell] != 0) fail(&a->group[g], misfits);
  }
}

static void fail_term(const form_term *term, const idm_notes *misfits, idm_audit *a)
{
  for (size_t g = 0; g + 1 < a->groups; g++)
    if (strcmp(a->group[g].name, term->first) == 0 ||
        (term->second && strcmp(a->group[g].name, term->second) == 0))
      fail(&a->group[g], misfits);
}

static void record(const idm_checks *found, idm_check_id id, idm_audit *a)
{
  const idm_check_result *one = &found->of[id];
  if (one->outcome >= IDM_CHECK_PASSED) idm_check_record(&a->checks, id, one->outcome, one->value);
}

static idm_status check_cohort(const audit_estimands *estimands, const idm_people *people,
                               const audit_cohort *w, idm_audit *a, idm_error *opt_error)
{
  idm_assessment outlier = {0}, form = {0};
  size_t person;
  form_term term;
  idm_checks_begin(&outlier.checks, IDM_CHECK_NESTED);
  idm_checks_begin(&form.checks, IDM_CHECK_NESTED);
  idm_status status = idm_test_outliers(w->design, people, &outlier, &person, opt_error);
  if (status == IDM_OK) status = idm_test_form(w->design, people, &form, &term, opt_error);
  if (status == IDM_OK) {
    record(&outlier.checks, IDM_CHECK_OUTLIER, a);
    record(&form.checks, IDM_CHECK_FORM, a);
    if (outlier.misfits.count) fail_cell(estimands, w->cell[person], &outlier.misfits, a);
    if (form.misfits.count) fail_term(&term, &form.misfits, a);
  }
  idm_notes_clear(&outlier.misfits);
  idm_notes_clear(&form.misfits);
  return status;
}

idm_status idm_audit_cohort_check(const audit_estimands *estimands, const audit_draws *draws,
                                  idm_audit *a, idm_error *opt_error)
{
  const audit_model *m = &estimands->model;
  idm_status status = IDM_OK;
  for (size_t w = 0; w < m->cohorts && status == IDM_OK; w++) {
    const bool overall = !m->pooled && m->cohort[w].cell[0] + 1 == m->cells;
    idm_people people = {0};
    if (overall) continue; /* its agents are those of the groups */
    status = arrange_people(m, draws, w, &people, opt_error);
    if (status == IDM_OK) status = check_cohort(estimands, &people, &m->cohort[w], a, opt_error);
    free(people.effect);
  }
  return status;
}
