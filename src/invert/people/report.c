/* Converts the draws of people to a posterior, and assesses it (docs/method/people.md, 4).
 *
 * Contents: correlation · prior · report */
#include "invert/people/people.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "infer/distribution.h"
#include "invert/assess.h"
#include "invert/assess/context.h"
#include "invert/assess/residual.h"
#include "invert/parameters.h"
#include "invert/posterior.h"
#include "invert/predict.h"
#include "setting/model.h"

/* === correlation ============================================================================== */

/* Conflict between the prior of correlations and the people. */

/* Smallest number of people for which Fisher's z is approximately normal. */
enum { min_people = 6 };
/* Smallest share of the variance over people that their decisions must determine. */
static const double min_share = 0.1;

/* A person's effect less its population mean. */
static double residual(const idm_design *d, const idm_people *p, size_t effect, size_t person,
                       size_t draw)
{
  const size_t all = p->chains * p->draws, count = d->coefficients[effect];
  const double *b = p->coefficient + p->coefficient_first[effect] * all + draw;
  double x = p->effect[(effect * d->people + person) * all + draw];
  for (size_t k = 0; k < count; k++) x -= d->regressor[effect][person * count + k] * b[k * all];
  return x;
}

/* Posterior means of u, w and u w of one person. */
typedef struct moments {
  double u, w, product;
} moments;

static moments find_moments(const idm_design *d, const idm_people *p, size_t j, size_t k,
                            size_t person)
{
  const size_t all = p->chains * p->draws;
  const double *rho = p->correlation + (j * (j - 1) / 2 + k) * all;
  moments m = {0};
  for (size_t i = 0; i < all; i++) {
    const double u = residual(d, p, k, person, i) / p->sd[k * all + i];
    const double v = residual(d, p, j, person, i) / p->sd[j * all + i];
    const double w = (v - rho[i] * u) / sqrt(1 - rho[i] * rho[i]);
    m.u += u / (double)all;
    m.w += w / (double)all;
    m.product += u * w / (double)all;
  }
  return m;
}

/* Residual correlation between u and w, and its Fisher z in standard errors; NaN if people's
 * decisions do not determine it. */
typedef struct residual_correlation {
  double correlation;
  double z_score;
} residual_correlation;

static residual_correlation find_residual_corr(const idm_design *d, const idm_people *p, size_t j,
                                               size_t k)
{
  static const double max_share = 1 - 1e-12; /* keeps atanh finite */
  const double n = (double)d->people;
  double uu = 0, ww = 0, score = 0, covariance = 0;
  for (size_t i = 0; i < d->people; i++) {
    const moments m = find_moments(d, p, j, k, i);
    uu += m.u * m.u / n;
    ww += m.w * m.w / n;
    score += m.product / n;
    covariance += (m.product - m.u * m.w) / n;
  }
  if (!(fmin(uu, ww) > min_share)) return (residual_correlation){NAN, NAN};
  /* The variance of a product of two normal variables. The covariance term is that of decisions for
   * which one effect compensates the other: their posterior covariance has the opposite sign in the
   * estimates. */
  const double r = score / sqrt(uu * ww + covariance * covariance);
  return (residual_correlation){r, fabs(atanh(fmax(-max_share, fmin(max_share, r)))) * sqrt(n - 2)};
}

static void test_pair(const idm_design *d, const idm_people *p, size_t j, size_t k,
                      idm_assessment *a)
{
  const size_t all = p->chains * p->draws;
  const residual_correlation population_tests = find_residual_corr(d, p, j, k);
  if (!idm_check_test_optional(&a->checks, IDM_CHECK_PRIOR_PULL, population_tests.z_score)) return;
  idm_notes_add(&a->misfits,
                "the prior of correlations, LKJ(%.4g), contradicts the people in the correlation "
                "of %s and %s: its posterior mean is %.2f, and people have a residual "
                "correlation of %.2f, %.1f standard errors from 0; lower "
                "`population: {correlation: ...}`",
                d->correlation, d->effect.name[k], d->effect.name[j],
                idm_mean(p->correlation + (j * (j - 1) / 2 + k) * all, all),
                population_tests.correlation, population_tests.z_score);
}

void idm_test_correlations(const idm_design *d, const idm_people *people, idm_assessment *a)
{
  if (d->independent || d->held || d->fixed || d->people < min_people) return;
  for (size_t j = 1; j < d->effects; j++)
    for (size_t k = 0; k < j; k++) test_pair(d, people, j, k, a);
}

/* === prior ==================================================================================== */

/* Comparison of the prior of a population with its people. */

/* Names listed in one remark. */
typedef struct name_list {
  size_t count;
  size_t used;
  char list[500];
} name_list;

static void add_name(name_list *t, const char *what, const char *effect)
{
  if (t->used + 160 < sizeof t->list)
    t->used += (size_t)snprintf(t->list + t->used, sizeof t->list - t->used, "%s%.50s of %.90s",
                                t->used ? ", " : "", what, effect);
  else if (t->used + 6 < sizeof t->list && t->list[t->used - 1] != '.')
    t->used += (size_t)snprintf(t->list + t->used, sizeof t->list - t->used, ", ...");
  t->count++;
}

/* Tests of the population's numbers. */
typedef struct population_tests {
  idm_checks *checks;
  idm_notes *misfits;
  size_t numbers;
  name_list prior_driven; /* hardly narrower than the prior */
  name_list
      unexpected; /* at least two prior sds from the prior mean, as under 1 in 20 correct priors */
} population_tests;

/* Test for a conflict between the prior of a number and the people. */
static void test_prior_conflict(population_tests *f, const idm_moments *m, double centre,
                                double scale, const char *what, const char *effect)
{
  const prior_pull pull = idm_prior_pull(m->mean, m->variance, centre, scale * scale);
  char name[300];
  if (!idm_check_test(f->checks, IDM_CHECK_PRIOR_PULL, idm_prior_pull_value(&pull))) return;
  idm_print(name, sizeof name, "%.120s of %.120s", what, effect);
  idm_prior_pull_note(&pull, name, "the people", f->misfits);
}

/* Test one number by the variance, the centre and the scale of its prior. */
static void test_number(population_tests *f, const double *x, size_t all, double variance,
                        double centre, double scale, const char *what, const char *effect)
{
  const idm_moments m = idm_moments_of(x, all);
  f->numbers++;
  if (idm_check_test_optional(f->checks, IDM_CHECK_CONTRACTION, 1 - m.variance / variance))
    add_name(&f->prior_driven, what, effect);
  if (idm_check_test_optional(f->checks, IDM_CHECK_PRIOR_DISTANCE, fabs(m.mean - centre) / scale))
    add_name(&f->unexpected, what, effect);
  test_prior_conflict(f, &m, centre, scale, what, effect);
}

/* Contraction of the correlations. Under LKJ(shape), a correlation of d effects is a beta(a, a)
 * variable on (-1, 1), with a = shape - 1 + d/2. */
static void test_contractions(population_tests *f, const idm_design *d, const idm_people *people)
{
  const size_t all = people->chains * people->draws;
  const double variance = 1 / (2 * d->correlation + (double)d->effects - 1);
  char pair[120];
  for (size_t j = 1; j < d->effects; j++)
    for (size_t k = 0; k < j; k++) {
      const idm_moments m = idm_moments_of(people->correlation + (j * (j - 1) / 2 + k) * all, all);
      f->numbers++;
      if (!idm_check_test_optional(f->checks, IDM_CHECK_CONTRACTION, 1 - m.variance / variance))
        continue;
      idm_print(pair, sizeof pair, "%.40s and %.40s", d->effect.name[k], d->effect.name[j]);
      add_name(&f->prior_driven, "correlation", pair);
    }
}

void idm_test_population(const idm_design *d, const idm_people *people, idm_assessment *a)
{
  const size_t all = people->chains * people->draws;
  population_tests f = {.checks = &a->checks, .misfits = &a->misfits};
  for (size_t e = 0; e < d->effects; e++) {
    const double scale = d->sd_scale[e];
    const idm_prior prior = {IDM_PRIOR_HALFNORMAL, 1, &d->sd_scale[e]};
    const double prior_spread = idm_prior_sd(&prior);
    for (size_t k = 0; k < d->coefficients[e]; k++) {
      const double sd = d->coefficient_sd[e][k];
      test_number(&f, people->coefficient + (people->coefficient_first[e] + k) * all, all, sd * sd,
                  d->coefficient_mean[e][k], sd, d->coefficient[e].name[k], d->effect.name[e]);
    }
    test_number(&f, people->sd + e * all, all, prior_spread * prior_spread, 0, scale, "sd",
                d->effect.name[e]);
  }
  if (!d->independent && !d->held && !d->fixed) test_contractions(&f, d, people);
  if (f.prior_driven.count)
    idm_notes_add(&a->remarks,
                  "the decisions contain little information on %zu of %zu numbers of the "
                  "population, which are hardly narrower than their priors (contraction below "
                  "%.1f): %s",
                  f.prior_driven.count, f.numbers, idm_check_threshold(IDM_CHECK_CONTRACTION),
                  f.prior_driven.list);
  if (f.unexpected.count)
    idm_notes_add(
        &a->remarks,
        "prior and people disagree about %s: the posterior mean is at least two prior sds "
        "from the prior mean; check the prior",
        f.unexpected.list);
}

/* === report =================================================================================== */

/* A posterior under construction; numbers are stored in sequence. */
typedef struct report {
  const idm_design *design;
  const idm_people *people;
  const idm_parameters *parameters;
  idm_posterior *posterior;
  size_t at; /* index of the next quantity */
  idm_error *opt_error;
} report;

/* --- layout --------------------------------------------------------------------------------- */

/* Index of the first effect of a coordinate, or past its last. */
static size_t first_effect(const idm_design *d, size_t coordinate)
{
  size_t e = 0;
  while (e < d->effects && d->effect_coordinate[e] < coordinate) e++;
  return e;
}

/* Names of all coefficients of a coordinate; those of effects that vary within people come last. */
static idm_status name_coefficients(const idm_design *d, size_t coordinate, idm_labels *ret_names,
                                    idm_error *opt_error)
{
  size_t count = 0;
  for (size_t e = first_effect(d, coordinate); e < first_effect(d, coordinate + 1); e++)
    count += d->coefficients[e];
  idm_status status = idm_labels_create(ret_names, count, opt_error);
  size_t at = 0;
  for (size_t e = first_effect(d, coordinate); e < first_effect(d, coordinate + 1); e++)
    for (size_t k = 0; k < d->coefficients[e] && status == IDM_OK; k++, at++) {
      const char *name = d->coefficient[e].name[k];
      status = idm_labels_set(ret_names, at, name, strlen(name), opt_error);
    }
  return status;
}

static size_t pairs_of(const idm_design *d)
{
  return d->effects * (d->effects - 1) / 2;
}

/* Whether an effect has regressors besides the intercept. */
static bool is_regressed(const idm_design *d, size_t effect)
{
  return d->coefficients[effect] > 1;
}

static size_t count_quantities(const idm_design *d)
{
  size_t count = d->effects * (d->people + 1) + pairs_of(d);
  for (size_t e = 0; e < d->effects; e++) count += d->coefficients[e] + is_regressed(d, e);
  return count;
}

/* Axis of a coordinate's coefficients: one for all coordinates if they have the same coefficients,
 * otherwise one per block. */
static idm_status coefficient_axis(report *r, size_t coordinate, bool same_coefficients,
                                   size_t *ret_axis)
{
  idm_posterior *p = r->posterior;
  char name[200] = "coefficient";
  for (size_t i = 0; !same_coefficients && i < r->parameters->items; i++)
    if (r->parameters->item[i].first == coordinate)
      snprintf(name, sizeof name, "coefficient_%.150s",
               r->parameters->theta->block[r->parameters->item[i].block].info->name);
  *ret_axis = idm_posterior_axis(p, name);
  if (*ret_axis < p->axes) return IDM_OK;
  idm_labels names = {0};
  idm_status status = name_coefficients(r->design, coordinate, &names, r->opt_error);
  if (status == IDM_OK) status = idm_posterior_add_axis(p, name, &names, r->opt_error);
  idm_labels_destroy(&names);
  return status;
}

/* Whether all coordinates have the same coefficients. */
static idm_status compare_coefficients(const idm_design *d, bool *ret_same, idm_error *opt_error)
{
  idm_labels first = {0};
  idm_status status = name_coefficients(d, 0, &first, opt_error);
  *ret_same = true;
  for (size_t c = 1; c < d->coordinates && status == IDM_OK; c++) {
    idm_labels names = {0};
    status = name_coefficients(d, c, &names, opt_error);
    *ret_same = *ret_same && idm_labels_same(&first, &names);
    idm_labels_destroy(&names);
  }
  idm_labels_destroy(&first);
  return status;
}

static idm_status add_pair_axis(report *r)
{
  const idm_design *d = r->design;
  idm_labels pair = {0};
  idm_status status = idm_labels_create(&pair, pairs_of(d), r->opt_error);
  for (size_t j = 1; j < d->effects; j++)
    for (size_t k = 0; k < j && status == IDM_OK; k++) {
      const size_t size = strlen(d->effect.name[j]) + strlen(d->effect.name[k]) + 2;
      char *name = idm_new(size, 1);
      if (name) snprintf(name, size, "%s,%s", d->effect.name[k], d->effect.name[j]);
      status = name ? idm_labels_set(&pair, j * (j - 1) / 2 + k, name, size - 1, r->opt_error)
                    : idm_fail_memory(r->opt_error);
      free(name);
    }
  if (status == IDM_OK) status = idm_posterior_add_axis(r->posterior, "pair", &pair, r->opt_error);
  idm_labels_destroy(&pair);
  return status;
}

/* --- draws ---------------------------------------------------------------------------------- */

static double *numbers_at(const report *r)
{
  return r->posterior->value + r->at * r->people->chains * r->people->draws;
}

/* Store a series of numbers that are contiguous in the draws. */
static idm_status put_series(report *r, const char *name, size_t axis, const double *value,
                             size_t count)
{
  const idm_status status = idm_posterior_add_series(r->posterior, name, axis, r->at, r->opt_error);
  if (status != IDM_OK) return status;
  memcpy(numbers_at(r), value, count * r->people->chains * r->people->draws * sizeof *value);
  r->at += count;
  return IDM_OK;
}

/* Add a single number, as in "log_alpha_sd". Returns the place of its draws. */
static double *put_number(report *r, const char *effect, const char *what, idm_status *status)
{
  char name[2 * IDM_ENTRY_SIZE + 20];
  double *value = numbers_at(r);
  const int length = snprintf(name, sizeof name, "%.8000s_%s", effect, what);
  r->posterior->summarised[r->at] = true;
  *status = idm_labels_set(&r->posterior->quantity, r->at++, name, (size_t)length, r->opt_error);
  return value;
}

/* w_i . b at one draw. */
static double mean_of(const report *r, size_t effect, size_t person, size_t draw)
{
  const idm_design *d = r->design;
  const size_t count = d->coefficients[effect];
  const size_t all = r->people->chains * r->people->draws;
  const double *b = r->people->coefficient + r->people->coefficient_first[effect] * all + draw;
  const double *w = d->regressor[effect] + person * count;
  double sum = 0;
  for (size_t k = 0; k < count; k++) sum += w[k] * b[k * all];
  return sum;
}

/* R2 of a draw: var_i(w_i . b) / (var_i(w_i . b) + sd^2), var with n - 1. */
static double r_squared(const report *r, size_t effect, size_t draw)
{
  const size_t n = r->design->people;
  const double sd = r->people->sd[effect * r->people->chains * r->people->draws + draw];
  idm_welford means = {0};
  for (size_t i = 0; i < n; i++) idm_welford_add(&means, mean_of(r, effect, i, draw));
  const double variance = idm_welford_variance(&means);
  return variance / (variance + sd * sd);
}

/* Coefficients of a coordinate, then sds and R2 of its effects. */
static idm_status put_population(report *r, size_t coordinate, bool same_coefficients)
{
  const idm_design *d = r->design;
  const idm_people *people = r->people;
  const size_t all = people->chains * people->draws;
  const size_t first = first_effect(d, coordinate);
  const size_t end = first_effect(d, coordinate + 1);
  char name[2 * IDM_ENTRY_SIZE];
  size_t axis = 0;
  snprintf(name, sizeof name, "%.8000s_coefficient", d->effect.name[first]);
  idm_status status = coefficient_axis(r, coordinate, same_coefficients, &axis);
  if (status == IDM_OK)
    status = put_series(r, name, axis, people->coefficient + people->coefficient_first[first] * all,
                        people->coefficient_first[end] - people->coefficient_first[first]);
  for (size_t e = first; e < end && status == IDM_OK; e++) {
    double *sd = put_number(r, d->effect.name[e], "sd", &status);
    memcpy(sd, people->sd + e * all, all * sizeof *sd);
    if (status != IDM_OK || !is_regressed(d, e)) continue;
    double *r2 = put_number(r, d->effect.name[e], "r2", &status);
    for (size_t i = 0; i < all; i++) r2[i] = r_squared(r, e, i);
  }
  return status;
}

static idm_status put_draws(report *r)
{
  const idm_design *d = r->design;
  const idm_people *people = r->people;
  const size_t all = people->chains * people->draws;
  bool same_coefficients = false;
  idm_status status = compare_coefficients(d, &same_coefficients, r->opt_error);
  if (status == IDM_OK)
    status = idm_posterior_add_axis(r->posterior, "person", &d->person, r->opt_error);
  for (size_t c = 0; c < d->coordinates && status == IDM_OK; c++)
    status = put_population(r, c, same_coefficients);
  if (status == IDM_OK && pairs_of(d)) {
    status = add_pair_axis(r);
    if (status == IDM_OK)
      status =
          put_series(r, "correlation", r->posterior->axes - 1, people->correlation, pairs_of(d));
  }
  for (size_t e = 0; e < d->effects && status == IDM_OK; e++)
    status = put_series(r, d->effect.name[e], 0, people->effect + e * d->people * all, d->people);
  return status;
}

/* Store the log density of every draw and, if requested, log-likelihoods by person. */
static idm_status put_densities(report *r, const idm_fit_settings *settings)
{
  idm_posterior *p = r->posterior;
  const idm_people *people = r->people;
  const size_t all = people->chains * people->draws;
  for (size_t i = 0; i < all; i++) p->statistics[i].log_density = people->log_posterior[i];
  if (settings->keep == IDM_KEEP_NOTHING) return IDM_OK;
  p->log_likelihood = idm_new(idm_times(all, people->people), sizeof *p->log_likelihood);
  if (!p->log_likelihood) return idm_fail_memory(r->opt_error);
  for (size_t i = 0; i < people->people; i++)
    for (size_t k = 0; k < all; k++)
      p->log_likelihood[k * people->people + i] = people->log_likelihood[i * all + k];
  return idm_labels_copy(&r->design->person, &p->unit, r->opt_error);
}

static idm_status make_posterior(report *r, const idm_fit_settings *settings)
{
  idm_posterior *p = r->posterior;
  p->seed = settings->seed;
  p->warmup = settings->warmup;
  idm_status status = idm_labels_create(&p->quantity, count_quantities(r->design), r->opt_error);
  if (status == IDM_OK) status = put_draws(r);
  return status == IDM_OK ? put_densities(r, settings) : status;
}

idm_status idm_people_posterior(const idm_problem *problem, const idm_design *design,
                                const idm_people *people, const idm_fit_settings *settings,
                                idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_parameters *parameters = NULL;
  idm_posterior *posterior;
  idm_status status = idm_posterior_allocate("people", "blocks", people->chains, people->draws,
                                             count_quantities(design), &posterior, opt_error);
  *ret_posterior = NULL;
  if (status == IDM_OK) status = idm_parameters_create(problem, &parameters, opt_error);
  report r = {design, people, parameters, posterior, 0, opt_error};
  if (status == IDM_OK) status = make_posterior(&r, settings);
  idm_parameters_destroy(parameters);
  if (status == IDM_OK)
    *ret_posterior = posterior;
  else
    idm_posterior_destroy(posterior);
  return status;
}

/* --- verdicts ------------------------------------------------------------------------------- */

/* Pooling factor of one person's effect, 1 - Var(x - m) / E sd^2, at least 0. */
static double pooling_factor(const report *r, size_t effect, size_t person)
{
  const idm_people *people = r->people;
  const size_t all = people->chains * people->draws;
  const double *x = people->effect + (effect * people->people + person) * all;
  const double *sd = people->sd + effect * all;
  idm_welford distance = {0};
  for (size_t i = 0; i < all; i++) idm_welford_add(&distance, x[i] - mean_of(r, effect, person, i));
  const double scale = idm_squares_about(sd, all, 0);
  return scale > 0 ? fmax(0, 1 - distance.squares / scale) : 0;
}

static double mean_log_likelihood(const idm_people *people, size_t person)
{
  const size_t all = people->chains * people->draws;
  return idm_mean(people->log_likelihood + person * all, all);
}

/* Set the verdict by the most severe reason. */
static void classify_person(const idm_posterior *p, idm_assessment *a, size_t effects, size_t index,
                            idm_person *one)
{
  double max_share = 0;
  bool failed = false;
  for (size_t i = 0; i < p->series_count; i++)
    if (idm_is_of_person(p, p->series[i].first))
      failed =
          failed || !idm_person_draws_suffice(&a->diagnosis[p->series[i].first + index], p->chains);
  for (size_t e = 0; e < effects; e++) max_share = fmax(max_share, one->own[e]);
  const bool chance = one->decisions && !(one->log_loss < one->uniform_log_loss);
  const bool prior_driven = idm_check_test(&a->checks, IDM_CHECK_OWN_DECISIONS, max_share);
  one->verdict = failed         ? IDM_PERSON_FAILED
                 : chance       ? IDM_PERSON_CHANCE
                 : prior_driven ? IDM_PERSON_POPULATION_DRIVEN
                                : IDM_PERSON_IDENTIFIED;
  if (failed)
    snprintf(one->reason, sizeof one->reason, "R-hat above %g, or fewer than %g effective draws",
             idm_check_threshold(IDM_CHECK_PERSON_RHAT),
             idm_check_threshold(IDM_CHECK_PERSON_DRAWS));
  else if (chance)
    snprintf(one->reason, sizeof one->reason, "predicted no better than by chance");
  else if (prior_driven)
    snprintf(one->reason, sizeof one->reason,
             "the population has more information on this person than the person's own %llu "
             "decisions",
             (unsigned long long)one->decisions);
}

static idm_status classify_people(const report *r, const idm_posterior *p, const idm_data *data,
                                  const uint32_t *of_trajectory, idm_assessment *a)
{
  const idm_design *d = r->design;
  a->person = idm_new(d->people, sizeof *a->person);
  if (!a->person) return idm_fail_memory(r->opt_error);
  a->people = d->people;
  idm_count_decisions(data, of_trajectory, d->people, a->person);
  for (size_t i = 0; i < d->people; i++) {
    idm_person *one = &a->person[i];
    one->own = idm_new(d->effects, sizeof *one->own);
    if (!one->own) return idm_fail_memory(r->opt_error);
    for (size_t e = 0; e < d->effects; e++) one->own[e] = pooling_factor(r, e, i);
    one->log_loss = one->decisions
                        ? idm_log_loss(mean_log_likelihood(r->people, i), (double)one->decisions)
                        : NAN;
    classify_person(p, a, d->effects, i, one);
  }
  return idm_labels_copy(&d->person, &a->person_name, r->opt_error);
}

/* Fit to the log, over all people. */
static idm_status measure_fit(const idm_assessment *a, const idm_data *data,
                              idm_projection *projection, idm_error *opt_error)
{
  idm_chance chance;
  double sum = 0;
  const idm_status status = idm_chance_measure(data, &chance, opt_error);
  *projection = (idm_projection){.brier = NAN, .divergence = NAN};
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < a->people; i++)
    if (a->person[i].decisions) sum += a->person[i].log_loss * (double)a->person[i].decisions;
  const double decisions = chance.decisions ? (double)chance.decisions : 1;
  projection->decisions = chance.decisions;
  projection->log_loss = sum / decisions;
  projection->uniform_log_loss = idm_log_loss(chance.uniform, decisions);
  projection->rates_log_loss = idm_log_loss(chance.rates, decisions);
  projection->pseudo_r2 = idm_share_explained(projection->log_loss, projection->uniform_log_loss);
  projection->pseudo_r2_rates =
      idm_share_explained(projection->log_loss, projection->rates_log_loss);
  return IDM_OK;
}

static void record_overall(idm_assessment *a, const idm_projection *projection)
{
  size_t prior_driven = 0;
  size_t chance = 0;
  for (size_t i = 0; i < a->people; i++) {
    prior_driven += a->person[i].verdict == IDM_PERSON_POPULATION_DRIVEN;
    chance += a->person[i].verdict == IDM_PERSON_CHANCE;
  }
  const bool better = projection->log_loss < projection->uniform_log_loss;
  idm_check_record(&a->checks, IDM_CHECK_BEHAVIOR, better ? IDM_CHECK_PASSED : IDM_CHECK_MISFIT,
                   projection->log_loss / projection->uniform_log_loss);
  idm_check_test(&a->checks, IDM_CHECK_PERSON_CHANCE, (double)chance);
  idm_check_skip(&a->checks, IDM_CHECK_IMPORTANCE,
                 "a population does not run it; `idm fit --each` does, per person");
  if (!better)
    idm_notes_add(&a->misfits,
                  "people's behaviour is predicted no better than by chance (log-loss %.4f per "
                  "decision, chance %.4f)",
                  projection->log_loss, projection->uniform_log_loss);
  if (chance)
    idm_notes_add(&a->remarks, "%zu of %zu people are predicted no better than by chance", chance,
                  a->people);
  if (prior_driven)
    idm_notes_add(&a->remarks,
                  "%zu of %zu people are shrunk towards the population: they are alike, or have "
                  "too few decisions; their estimates describe people like them",
                  prior_driven, a->people);
  idm_notes_add(&a->remarks,
                "unchecked for people: whether their distribution is normal, except for single "
                "outliers, and an importance sample of the posterior, which `idm fit --each` "
                "makes per person");
}

/* Run the checks of the log, given an open fit of the whole log. */
static idm_status check_log(const check_context *q, idm_error *opt_error)
{
  idm_status status = idm_check_time_run(q, IDM_CHECK_LATTICE, idm_check_lattice, opt_error);
  if (status == IDM_OK)
    status = idm_check_time_run(q, IDM_CHECK_SENSITIVITY, idm_check_sensitivity, opt_error);
  return status == IDM_OK ? idm_check_time_run(q, IDM_CHECK_CHANCE, idm_check_chance, opt_error)
                          : status;
}

/* Run the checks of the log. Draws that admit no plan leave the log unchecked, as in a plain fit.
 */
static idm_status run_log_checks(const idm_problem *problem, const idm_data *data, const report *r,
                                 int threads, double check_seconds, const idm_posterior *posterior,
                                 idm_assessment *a)
{
  idm_fit_settings settings;
  idm_error error = {0};
  strata people = {0};
  fit_context f = {0};
  idm_fit_settings_default(&settings);
  settings.threads = threads;
  settings.seed = posterior->seed;
  idm_cancel cancel;
  idm_cancel_init(&cancel, NULL, "examining the log");
  const check_time_limit limit = idm_check_time_begin(check_seconds, &cancel);
  const check_context q = {.f = &f,
                           .posterior = posterior,
                           .assessment = a,
                           .among = 1,
                           .people = &people,
                           .opt_time_limit = &limit};
  idm_status status = idm_fit_open_cancel(&f, NULL, problem, data, &settings, 1, &cancel, &error);
  if (status == IDM_OK)
    status = idm_strata_divide(&people, problem, data, r->design, r->people, &error);
  if (status == IDM_OK) status = check_log(&q, &error);
  idm_strata_close(&people);
  idm_fit_close(&f);
  if (status == IDM_NUMERICAL || status == IDM_INPUT) {
    idm_checks_skip_log(&a->checks, "the log could not be examined");
    idm_notes_add(&a->failures, "the log could not be examined: %s", error.message);
    return IDM_OK;
  }
  if (status != IDM_OK && r->opt_error) *r->opt_error = error;
  return status;
}

idm_status idm_people_assess(const idm_problem *problem, const idm_data *data,
                             const idm_design *design, const idm_people *people,
                             const idm_posterior *posterior, int threads, double check_seconds,
                             idm_assessment **ret_assessment, idm_projection *projection,
                             idm_error *opt_error)
{
  const report r = {.design = design, .people = people, .opt_error = opt_error};
  uint32_t *person = idm_new(data->trajectories, sizeof *person);
  form_term term;
  size_t z_score;
  idm_status status =
      person ? idm_assess_draws(posterior, ret_assessment, opt_error) : idm_fail_memory(opt_error);
  for (size_t t = 0; person && t < data->trajectories; t++)
    person[t] = design->cell_person[design->cell_of[t]];
  if (status == IDM_OK) status = classify_people(&r, posterior, data, person, *ret_assessment);
  if (status == IDM_OK) status = measure_fit(*ret_assessment, data, projection, opt_error);
  if (status == IDM_OK) {
    idm_test_population(design, people, *ret_assessment);
    idm_test_correlations(design, people, *ret_assessment);
    record_overall(*ret_assessment, projection);
    status = idm_test_outliers(design, people, *ret_assessment, &z_score, opt_error);
  }
  if (status == IDM_OK) status = idm_test_form(design, people, *ret_assessment, &term, opt_error);
  if (status == IDM_OK)
    status = run_log_checks(problem, data, &r, threads, check_seconds, posterior, *ret_assessment);
  if (status == IDM_OK) {
    idm_assessment *a = *ret_assessment;
    idm_assessment_conclude(a);
    idm_checks_remark_left_out(&a->checks, &a->remarks);
  }
  free(person);
  if (status != IDM_OK) {
    idm_assessment_destroy(*ret_assessment);
    *ret_assessment = NULL;
  }
  return status;
}
