/* What all chains share: see the header. */
#include "invert/hierarchy/model.h"

#include <math.h>

#include "base/memory.h"
#include "invert/hierarchy/check.h"

/* How far out the first table reaches, in prior sds. */
static const double reach = 3.5;

void idm_model_destroy(hierarchy *model)
{
  free(model->first);
  free(model->gram);
  *model = (hierarchy){0};
}

static void fill_gram(hierarchy *m, size_t coefficients)
{
  const idm_design *d = m->design;
  size_t row = 0;
  for (size_t j = 0; j < d->effects; j++)
    for (size_t a = 0; a < d->coefficients[j]; a++, row++) {
      size_t column = 0;
      for (size_t k = 0; k < d->effects; k++)
        for (size_t b = 0; b < d->coefficients[k]; b++, column++) {
          double sum = 0;
          for (size_t i = 0; i < d->people; i++)
            sum += d->regressor[j][i * d->coefficients[j] + a] *
                   d->regressor[k][i * d->coefficients[k] + b];
          m->gram[row * coefficients + column] = sum;
        }
    }
}

idm_status idm_model_create(const idm_design *design, const leaf_source *leaves, bool tabled,
                            hierarchy *model, idm_error *opt_error)
{
  size_t coefficients = 0;
  for (size_t j = 0; j < design->effects; j++) coefficients += design->coefficients[j];
  *model = (hierarchy){.design = design, .leaves = *leaves, .tabled = tabled};
  model->first = idm_new(design->people + 1, sizeof *model->first);
  model->gram = idm_new(idm_times(coefficients, coefficients), sizeof *model->gram);
  if (!model->first || !model->gram) {
    idm_model_destroy(model);
    return idm_fail_memory(opt_error);
  }
  for (size_t c = 0; c < design->cells; c++) model->first[design->cell_person[c] + 1] = c + 1;
  fill_gram(model, coefficients);
  return IDM_OK;
}

void idm_model_numbers(const idm_design *design, size_t cell, const double *e, double *x)
{
  const double *share = design->share + cell * design->effects;
  memset(x, 0, design->coordinates * sizeof *x);
  for (size_t j = 0; j < design->effects; j++) x[design->effect_coordinate[j]] += share[j] * e[j];
}

double idm_model_rough(const hierarchy *model, size_t person, const double *e)
{
  double x[IDM_MOST_EFFECTS];
  double sum = 0;
  for (size_t c = model->first[person]; c < model->first[person + 1]; c++) {
    idm_model_numbers(model->design, c, e, x);
    sum += model->leaves.table(model->leaves.context, c, x);
  }
  return sum;
}

idm_status idm_model_exact(const hierarchy *model, const leaf_lane *lane, size_t person,
                           const double *e, double *log_likelihood, idm_error *opt_error)
{
  double x[IDM_MOST_EFFECTS];
  idm_status status = IDM_OK;
  *log_likelihood = 0;
  for (size_t c = model->first[person]; c < model->first[person + 1] && status == IDM_OK; c++) {
    double one;
    idm_model_numbers(model->design, c, e, x);
    status = model->leaves.exact(model->leaves.context, lane, c, x, &one, opt_error);
    *log_likelihood += one;
    if (one == -INFINITY) break;
  }
  return status;
}

size_t idm_model_scratch(const hierarchy *model)
{
  const idm_design *d = model->design;
  return idm_times(d->cells, 2 * d->coordinates + 1);
}

/* Log-likelihoods and gradients of all leaves. */
static idm_status slope_leaves(const hierarchy *model, const leaf_lane *lane, const double *x,
                               double *log_likelihood, double *by_x, idm_error *opt_error)
{
  const leaf_source *leaves = &model->leaves;
  const size_t n = model->design->coordinates;
  idm_status status = IDM_OK;
  if (leaves->slopes)
    return leaves->slopes(leaves->context, lane, x, log_likelihood, by_x, opt_error);
  for (size_t c = 0; c < model->design->cells && status == IDM_OK; c++)
    status = leaves->slope(leaves->context, lane, c, x + c * n, &log_likelihood[c], by_x + c * n,
                           opt_error);
  return status;
}

idm_status idm_model_slopes(const hierarchy *model, const leaf_lane *lane, const double *e,
                            double *log_likelihood, double *gradient, double *scratch,
                            idm_error *opt_error)
{
  const idm_design *d = model->design;
  const size_t q = d->effects, n = d->coordinates;
  double *x = scratch, *by_x = x + d->cells * n, *one = by_x + d->cells * n;
  for (size_t c = 0; c < d->cells; c++)
    idm_model_numbers(d, c, e + d->cell_person[c] * q, x + c * n);
  const idm_status status = slope_leaves(model, lane, x, one, by_x, opt_error);
  memset(log_likelihood, 0, d->people * sizeof *log_likelihood);
  memset(gradient, 0, d->people * q * sizeof *gradient);
  for (size_t c = 0; c < d->cells && status == IDM_OK; c++) {
    const size_t i = d->cell_person[c];
    log_likelihood[i] += one[c];
    for (size_t j = 0; j < q; j++)
      gradient[i * q + j] += d->share[c * q + j] * by_x[c * n + d->effect_coordinate[j]];
  }
  return status;
}

/* Prior mean and variance of effect j of a person. */
static void expect(const idm_design *d, size_t j, size_t person, double *mean, double *variance)
{
  const double *w = d->regressor[j] + person * d->coefficients[j];
  *mean = 0;
  *variance = d->sd_scale[j] * d->sd_scale[j];
  for (size_t a = 0; a < d->coefficients[j]; a++) {
    *mean += w[a] * d->coefficient_mean[j][a];
    *variance += w[a] * w[a] * d->coefficient_sd[j][a] * d->coefficient_sd[j][a];
  }
}

void idm_model_prior_box(const hierarchy *model, double *low, double *high)
{
  const idm_design *d = model->design;
  for (size_t k = 0; k < d->coordinates; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
  }
  for (size_t c = 0; c < d->cells; c++) {
    for (size_t k = 0, j = 0; k < d->coordinates; k++) {
      double centre = 0;
      double spread = 0;
      for (; j < d->effects && d->effect_coordinate[j] == k; j++) {
        const double share = d->share[c * d->effects + j];
        double mean, variance;
        expect(d, j, d->cell_person[c], &mean, &variance);
        centre += share * mean;
        spread += share * share * variance;
      }
      low[k] = fmin(low[k], centre - reach * sqrt(spread));
      high[k] = fmax(high[k], centre + reach * sqrt(spread));
    }
  }
}
