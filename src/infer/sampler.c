/* Default settings and shared functions of the samplers; independent of any particular sampler. */
#include "infer/chains.h"

#include <math.h>
#include <string.h>

#include "base/dense.h"

/* --- settings ------------------------------------------------------------------------------- */

void idm_sampler_settings_default(idm_sampler_settings *settings)
{
  if (!settings) return;
  *settings = (idm_sampler_settings){
      .warmup = 1000, .thin = 0, .step = 0.1, .acceptance = 0.8, .depth = 10};
}

/* --- state and targets ---------------------------------------------------------------------- */

double *idm_state_take(double *opt_state, size_t *used, size_t count)
{
  double *block = opt_state ? opt_state + *used : NULL;
  *used += count;
  return block;
}

idm_status idm_target_evaluate(const idm_target *target, const double *x, double *log_density,
                               double *opt_gradient, idm_error *opt_error)
{
  const idm_status status =
      target->evaluate(target->context, x, log_density, opt_gradient, opt_error);
  if (status != IDM_OK) return status;
  if (isnan(*log_density)) *log_density = -INFINITY;
  if (*log_density == INFINITY)
    return idm_fail(opt_error, IDM_NUMERICAL, "the log density is infinite");
  return IDM_OK;
}

idm_status idm_target_evaluate_start(const idm_target *target, const double *x, double *log_density,
                                     double *opt_gradient, idm_error *opt_error)
{
  const idm_status status = idm_target_evaluate(target, x, log_density, opt_gradient, opt_error);
  if (status != IDM_OK) return status;
  if (*log_density == -INFINITY)
    return idm_fail(opt_error, IDM_NUMERICAL, "a chain cannot start where the density is 0");
  return IDM_OK;
}

long idm_sampler_thin(const idm_sampler_settings *settings, long empirical)
{
  return settings->thin > 0 ? settings->thin : empirical;
}

void idm_statistics_clear(idm_statistics *statistics)
{
  *statistics = (idm_statistics){.log_density = NAN,
                                 .acceptance = NAN,
                                 .step_size = NAN,
                                 .energy = NAN,
                                 .tree_depth = -1,
                                 .evaluations = 0,
                                 .diverging = false};
}

void idm_statistics_transfer(idm_statistics *statistics, size_t count, idm_record *record)
{
  for (size_t i = 0; i < count && !record->truncated; i++) {
    idm_statistics *s = &statistics[i];
    idm_record_transfer(record, &s->log_density, sizeof s->log_density);
    idm_record_transfer(record, &s->acceptance, sizeof s->acceptance);
    idm_record_transfer(record, &s->step_size, sizeof s->step_size);
    idm_record_transfer(record, &s->energy, sizeof s->energy);
    idm_record_transfer(record, &s->tree_depth, sizeof s->tree_depth);
    idm_record_transfer(record, &s->evaluations, sizeof s->evaluations);
    idm_record_transfer_flag(record, &s->diverging);
  }
}

/* --- warm-up -------------------------------------------------------------------------------- */

/* Stan's schedule (reference manual, "Automatic parameter tuning"): 75 iterations for the initial
 * transient, windows of 25, 50, 100, ..., the last extended to the remaining length, and 50
 * iterations for the final step size; 15, 75 and 10 per cent of a shorter warm-up. */
idm_window idm_warmup_window(long iteration, long warmup)
{
  const idm_window none = {false, false};
  long begin = 75, length = 25, settle_length = 50;
  if (warmup < 20) return none;
  if (begin + length + settle_length > warmup) {
    begin = (15 * warmup) / 100;
    settle_length = warmup / 10;
    length = warmup - begin - settle_length;
  }
  const long last = warmup - settle_length;
  if (iteration < begin || iteration >= last) return none;
  for (;;) {
    const long end = begin + 3 * length > last ? last : begin + length;
    if (iteration < end) return (idm_window){true, iteration == end - 1};
    begin = end;
    length *= 2;
  }
}

idm_scatter idm_scatter_take(double *opt_state, size_t *used, size_t dimension, bool dense)
{
  idm_scatter moments = {.dimension = dimension, .dense = dense};
  moments.count = idm_state_take(opt_state, used, 1);
  moments.mean = idm_state_take(opt_state, used, dimension);
  moments.scatter = idm_state_take(opt_state, used, dense ? dimension * dimension : dimension);
  return moments;
}

void idm_scatter_restart(const idm_scatter *moments)
{
  const size_t n = moments->dimension;
  *moments->count = 0;
  memset(moments->mean, 0, n * sizeof(double));
  memset(moments->scatter, 0, (moments->dense ? n * n : n) * sizeof(double));
}

/* Welford's update, in terms of the deviation e from the new mean: the scatter grows by
 * count / (count - 1) e e'. */
void idm_scatter_add(const idm_scatter *moments, const double *x)
{
  const size_t n = moments->dimension;
  const double *mean = moments->mean;
  const double count = ++*moments->count;
  for (size_t i = 0; i < n; i++) moments->mean[i] += (x[i] - mean[i]) / count;
  if (count < 2) return;
  const double factor = count / (count - 1);
  for (size_t i = 0; i < n; i++) {
    const double e = factor * (x[i] - mean[i]);
    if (!moments->dense) moments->scatter[i] += e * (x[i] - mean[i]);
    for (size_t j = 0; moments->dense && j < n; j++)
      moments->scatter[i * n + j] += e * (x[j] - mean[j]);
  }
}

/* Weight of the initial covariance, in draws. */
static double guess_weight(size_t dimension)
{
  return 5 + (double)dimension;
}

bool idm_scatter_covariance(const idm_scatter *moments, const double *opt_guess, double *covariance)
{
  const size_t n = moments->dimension, columns = moments->dense ? n : 1;
  const double count = *moments->count;
  if (count < 2) return false;
  const double share = count / (count + guess_weight(n));
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < columns; k++) {
      const size_t j = moments->dense ? k : i;
      const double empirical = moments->scatter[i * columns + k] / (count - 1);
      const double guess = opt_guess ? opt_guess[i * n + j] : i == j ? empirical : 0;
      const double value = share * empirical + (1 - share) * guess;
      if (i == j && !(value > 0 && isfinite(value))) return false;
      covariance[i * columns + k] = value;
    }
  }
  return true;
}

idm_status idm_guess_factor(const idm_sampler_settings *settings, size_t dimension, double *factor,
                            idm_error *opt_error)
{
  for (size_t i = 0; i < dimension; i++)
    for (size_t j = 0; j < dimension; j++)
      factor[i * dimension + j] =
          settings->covariance ? settings->covariance[i * dimension + j] : (double)(i == j);
  if (!idm_cholesky(dimension, factor))
    return idm_fail(opt_error, IDM_USAGE,
                    "the first guess of the covariance is not positive definite");
  return IDM_OK;
}
