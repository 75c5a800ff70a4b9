/* The price on utilities of regularised-margin, chosen by held-out decisions.
 *
 * Decisions of a soft plan are independent given their states, so that a fold may be of whole
 * trajectories or, where these are few, of runs of decisions. */
#include "invert/utility/lambda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "idm/random.h"
#include "invert/utility/smooth_margin.h"

enum { folds = 5, values = 8, runs_a_fold = 10 };
/* lambda = alpha 10^(first_decade + k). */
static const int first_decade = -1;
/* Where there are too few decisions to hold some out. */
static const double without_folds = 100;
/* Key of the random stream of folds. */
static const uint64_t stream = (uint64_t)1 << 40;
/* Weights of decisions below this are what rounding leaves of none. */
static const double rounding = 1e-9;
/* Log-losses that differ by less are alike. */
static const double alike = 1e-9;

typedef struct choice {
  idm_asked *asked;
  const idm_soft_agent *agent;
  int32_t *fold; /* [row]; IDM_MISSING: no decision in a known state */
  size_t decisions;
  double loss[folds][values]; /* sums over the held-out decisions of a fold */
  idm_status status[folds];
  idm_error error[folds];
} choice;

static double lambda_at(const choice *c, int k)
{
  return c->agent->alpha * pow(10, first_decade + k);
}

/* --- folds ---------------------------------------------------------------------------------- */

typedef struct ticket {
  double key;
  size_t at;
} ticket;

static int by_key(const void *a, const void *b)
{
  const double x = ((const ticket *)a)->key, y = ((const ticket *)b)->key;
  return (x > y) - (x < y);
}

/* fold_of[unit]: units in random order, dealt to the folds in turn. */
static idm_status deal(uint64_t seed, size_t units, int32_t *fold_of, idm_error *opt_error)
{
  ticket *tickets = idm_new(units, sizeof *tickets);
  idm_random random;
  if (!tickets) return idm_fail_memory(opt_error);
  idm_random_init(&random, seed, stream);
  for (size_t i = 0; i < units; i++) tickets[i] = (ticket){idm_random_uniform(&random), i};
  qsort(tickets, units, sizeof *tickets, by_key);
  for (size_t i = 0; i < units; i++) fold_of[tickets[i].at] = (int32_t)(i % folds);
  free(tickets);
  return IDM_OK;
}

static bool is_decision(const choice *c, size_t row)
{
  const idm_data *data = c->asked->data;
  const idm_stations *at = c->asked->demonstrator->stations;
  return data->action[row] != IDM_MISSING && !idm_data_missed(data, row) &&
         at->first[row] < at->first[row + 1];
}

/* Units are trajectories, or runs of decisions of about equal length. */
static idm_status divide(choice *c, bool by_trajectory, idm_error *opt_error)
{
  const idm_data *data = c->asked->data;
  const size_t runs = c->decisions < folds * runs_a_fold ? c->decisions : folds * runs_a_fold;
  const size_t units = by_trajectory ? data->trajectories : runs;
  int32_t *fold_of = idm_new(units, sizeof *fold_of);
  idm_status status = fold_of ? deal(c->asked->settings->seed, units, fold_of, opt_error)
                              : idm_fail_memory(opt_error);
  size_t decision = 0;
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++)
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      c->fold[r] = IDM_MISSING;
      if (!is_decision(c, r)) continue;
      c->fold[r] = fold_of[by_trajectory ? t : decision * units / c->decisions];
      decision++;
    }
  free(fold_of);
  return status;
}

/* --- one fold ------------------------------------------------------------------------------- */

/* The demonstrator without a fold. */
static idm_status hold_out(const choice *c, int32_t fold, idm_demonstrator **ret, idm_error *error)
{
  const idm_asked *a = c->asked;
  const idm_sizes n = a->world->n;
  const idm_stations *at = a->demonstrator->stations;
  const idm_status status = idm_demonstrator_copy(a->demonstrator, ret, error);
  if (status != IDM_OK) return status;
  idm_demonstrator *d = *ret;
  for (size_t r = 0; r < a->data->rows; r++) {
    if (c->fold[r] != fold) continue;
    for (size_t i = at->first[r]; i < at->first[r + 1]; i++) {
      d->visits[at->state[i]] -= at->weight[i];
      d->count[at->state[i] * n.actions + (size_t)a->data->action[r]] -= at->weight[i];
    }
    d->decisions--;
  }
  for (size_t s = 0; s < n.states; s++)
    for (size_t u = 0; u < n.actions; u++) {
      const size_t e = s * n.actions + u;
      /* What is left of sums of weights that were taken back is rounding. */
      d->policy[e] =
          d->visits[s] > rounding ? fmax(d->count[e], 0) / d->visits[s] : a->world->prior[u];
    }
  return IDM_OK;
}

/* -log pi of the held-out decisions, each by the policy of its step and of where it is made. */
static double lose(const choice *c, int32_t fold, const idm_soft_plan *plan)
{
  const idm_data *data = c->asked->data;
  const idm_sizes n = c->asked->world->n;
  const idm_stations *at = c->asked->demonstrator->stations;
  double sum = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      if (c->fold[r] != fold) continue;
      const size_t step = r - data->first[t];
      const size_t layer = step < plan->layers ? step : plan->layers - 1;
      double p = 0;
      for (size_t i = at->first[r]; i < at->first[r + 1]; i++)
        p += at->weight[i] *
             plan->policy[(layer * n.states + at->state[i]) * n.actions + (size_t)data->action[r]];
      sum -= log(fmax(p, 1e-300));
    }
  return sum;
}

/* The loss at one price of utilities that are fitted to occupancy mu. A plan of its own: one for
 * utilities of 0 does not settle from the values of others. */
static idm_status measure_at(const choice *c, int32_t fold, const double *mu, double lambda,
                             double *x, double *ret_loss, idm_error *error)
{
  idm_asked *a = c->asked;
  idm_soft_plan *plan = NULL;
  double objective, slope;
  idm_status status =
      idm_soft_plan_create(a->world, c->agent->alpha, c->agent->prior, &plan, error);
  if (status == IDM_OK) {
    const idm_smooth_margin margin = {idm_asked_planned(a), plan, mu, lambda, &a->halt};
    status = idm_smooth_margin_minimise(&margin, x, &objective, &slope, error);
  }
  /* Utilities that no plan settles for predict nothing. */
  *ret_loss = status == IDM_OK ? lose(c, fold, plan) : INFINITY;
  idm_soft_plan_destroy(plan);
  return status == IDM_NUMERICAL ? IDM_OK : status;
}

static idm_status measure(choice *c, size_t fold, idm_error *error)
{
  const idm_asked *a = c->asked;
  idm_demonstrator *d = NULL;
  double *x = idm_new(a->sought->count, sizeof *x);
  double *mu = idm_new(2 * idm_asked_planned(a)->entries, sizeof *mu);
  idm_status status = x && mu ? hold_out(c, (int32_t)fold, &d, error) : idm_fail_memory(error);
  if (status == IDM_OK)
    status = idm_soft_agent_demonstrated(d, a->world, a->data, a->problem->setting, false, mu, NULL,
                                         error);
  for (int k = 0; k < values && status == IDM_OK; k++)
    status = measure_at(c, (int32_t)fold, mu, lambda_at(c, k), x, &c->loss[fold][k], error);
  idm_demonstrator_destroy(d);
  free(x);
  free(mu);
  return status;
}

static void measure_fold(void *context, size_t fold)
{
  choice *c = context;
  c->status[fold] = measure(c, fold, &c->error[fold]);
}

/* --- all of them ---------------------------------------------------------------------------- */

static void take_least(const choice *c, idm_lambda *ret)
{
  ret->log_loss = INFINITY;
  for (int k = 0; k < values; k++) {
    double sum = 0;
    for (size_t f = 0; f < folds; f++) sum += c->loss[f][k];
    sum /= (double)c->decisions;
    if (!(sum < ret->log_loss - alike)) continue;
    ret->log_loss = sum;
    ret->value = lambda_at(c, k);
  }
}

static idm_status compare(choice *c, idm_lambda *ret, idm_error *opt_error)
{
  const idm_data *data = c->asked->data;
  ret->trajectories = data->trajectories >= folds;
  ret->folds = folds;
  ret->least = lambda_at(c, 0);
  ret->most = lambda_at(c, values - 1);
  for (size_t r = 0; r < data->rows; r++) c->decisions += is_decision(c, r);
  if (c->decisions < 2 * folds) {
    *ret = (idm_lambda){.value = without_folds, .log_loss = NAN};
    return IDM_OK;
  }
  idm_status status = divide(c, ret->trajectories, opt_error);
  if (status == IDM_OK)
    status = idm_halt_parallel(&c->asked->halt, folds, c->asked->settings->threads, measure_fold, c,
                               opt_error);
  for (size_t f = 0; f < folds && status == IDM_OK; f++) {
    status = c->status[f];
    if (status != IDM_OK && opt_error) *opt_error = c->error[f];
  }
  if (status == IDM_OK) take_least(c, ret);
  return status;
}

idm_status idm_lambda_choose(idm_asked *asked, const idm_soft_agent *agent, idm_lambda *ret_lambda,
                             idm_error *opt_error)
{
  const size_t rows = asked->data->rows;
  choice *c = idm_new(1, sizeof *c);
  *ret_lambda = (idm_lambda){0};
  if (!c) return idm_fail_memory(opt_error);
  c->asked = asked;
  c->agent = agent;
  c->fold = idm_new(rows, sizeof *c->fold);
  idm_status status = c->fold ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = compare(c, ret_lambda, opt_error);
  free(c->fold);
  free(c);
  return status;
}
