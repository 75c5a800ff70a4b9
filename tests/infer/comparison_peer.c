/* comparison_peer: results of the functions of infer/comparison.h for tests/comparison.py. Reads
 * requests from the standard input, each a name, a count, and that many numbers, and prints a line
 * of results for each, or the name of the status. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/approximation.h"
#include "infer/comparison.h"

static void print(const double *x, size_t count)
{
  for (size_t i = 0; i < count; i++) printf("%.17g ", x[i]);
}

/* Every request: numbers x[count] in, results printed. */
typedef idm_status request(double *x, size_t count, double *result);

/* quantities, chains, draws, draws of quantities */
static idm_status efficiency(double *x, size_t count, double *result)
{
  (void)count;
  const idm_status status =
      idm_relative_efficiency(x + 3, (size_t)x[0], (size_t)x[1], (size_t)x[2], result, NULL);
  print(result, 1);
  return status;
}

/* efficiency, log ratios: k, log weights */
static idm_status psis(double *x, size_t count, double *result)
{
  double shape = 0;
  const size_t tail = idm_pareto_tail(count - 1, x[0]);
  const idm_status status = idm_psis(x + 1, count - 1, tail, result, &shape, NULL);
  print(&shape, 1);
  print(result, count - 1);
  return status;
}

/* efficiency, log-likelihoods: elpd, k */
static idm_status left_out(double *x, size_t count, double *result)
{
  idm_left_out one = {0};
  const idm_status status = idm_leave_one_out(x + 1, count - 1, 1, x[0], &one, NULL);
  result[0] = one.elpd;
  result[1] = one.shape;
  print(result, 2);
  return status;
}

/* elpd of two models: total, standard error of a; difference, standard error, P(a better) */
static idm_status difference(double *x, size_t count, double *result)
{
  idm_elpd total = {0};
  idm_elpd_difference d = {0};
  idm_status status = idm_elpd_total(x, count / 2, &total, NULL);
  if (status == IDM_OK) status = idm_elpd_compare(x, x + count / 2, count / 2, &d, NULL);
  const double list[] = {total.elpd, total.se, d.elpd, d.se, d.better};
  memcpy(result, list, sizeof list);
  print(result, 5);
  return status;
}

/* models, elpd[unit][model]: objective, weights */
static idm_status stacking(double *x, size_t count, double *result)
{
  const size_t models = (size_t)x[0];
  idm_stacking s = {0};
  const idm_status status =
      idm_stacking_weights(x + 1, (count - 1) / models, models, result, &s, NULL);
  print(&s.objective, 1);
  print(result, models);
  return status;
}

/* prior count, models, log_evidence[person][model]: counts, exceedance, protected, omnibus risk */
static idm_status selection(double *x, size_t count, double *result)
{
  const size_t models = (size_t)x[1];
  idm_model_selection s = {.count = result,
                           .frequency = result + models,
                           .exceedance = result + 2 * models,
                           .protected_exceedance = result + 3 * models};
  const idm_status status = idm_model_select(x + 2, (count - 2) / models, models, x[0], &s, NULL);
  print(s.count, 4 * models);
  print(&s.omnibus_risk, 1);
  return status;
}

/* Dirichlet counts: exceedance probabilities */
static idm_status exceedance(double *x, size_t count, double *result)
{
  const idm_status status = idm_dirichlet_exceedance(x, count, result, NULL);
  print(result, count);
  return status;
}

static void print_accuracy(const idm_accuracy *a)
{
  const double list[] = {a->brier,          a->log_loss,          a->average_precision,
                         a->roc_area,       a->calibration_error, a->precision_recall_area,
                         a->miscalibration, a->discrimination,    a->uncertainty};
  print(list, sizeof list / sizeof *list);
}

/* probabilities, outcomes */
static idm_status events(double *x, size_t count, double *result)
{
  idm_accuracy a = {0};
  unsigned char *occurred = (unsigned char *)result;
  for (size_t i = 0; i < count / 2; i++) occurred[i] = (unsigned char)x[count / 2 + i];
  const idm_status status = idm_accuracy_of_events(x, occurred, count / 2, &a, NULL);
  print_accuracy(&a);
  return status;
}

/* actions, probability[decision][action], action[decision] */
static idm_status decisions(double *x, size_t count, double *result)
{
  idm_accuracy a = {0};
  const size_t actions = (size_t)x[0], number = (count - 1) / (actions + 1);
  int32_t *action = (int32_t *)result;
  for (size_t i = 0; i < number; i++) action[i] = (int32_t)x[1 + number * actions + i];
  const idm_forecasts f = {number, actions, x + 1, action, NULL};
  const idm_status status = idm_accuracy_of_decisions(&f, &a, NULL);
  print_accuracy(&a);
  return status;
}

/* x, y, weights: fitted values */
static idm_status isotonic(double *x, size_t count, double *result)
{
  const size_t points = count / 3;
  const idm_status status = idm_isotonic(x, x + points, x + 2 * points, points, result, NULL);
  print(result, points);
  return status;
}

/* log densities, quantity: sensitivity */
static idm_status sensitivity(double *x, size_t count, double *result)
{
  const idm_status status = idm_power_sensitivity(x, x + count / 2, count / 2, result, NULL);
  print(result, 1);
  return status;
}

static const struct {
  const char *name;
  request *run;
} requests[] = {
    {"efficiency", efficiency},   {"psis", psis},
    {"left_out", left_out},       {"difference", difference},
    {"stacking", stacking},       {"selection", selection},
    {"exceedance", exceedance},   {"events", events},
    {"decisions", decisions},     {"isotonic", isotonic},
    {"sensitivity", sensitivity},
};

static request *find(const char *name)
{
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
    if (strcmp(requests[i].name, name) == 0) return requests[i].run;
  fprintf(stderr, "unknown request %s\n", name);
  exit(2);
}

/* Room for the results of every request. */
static size_t room(size_t count)
{
  return 5 * count + 16;
}

int main(void)
{
  char name[32];
  size_t count;
  while (scanf("%31s %zu", name, &count) == 2) {
    request *run = find(name);
    double *x = calloc(count + room(count), sizeof *x);
    if (!x) return 2;
    for (size_t i = 0; i < count; i++)
      if (scanf("%lf", &x[i]) != 1) return 2;
    const idm_status status = run(x, count, x + count);
    printf("%s\n", status == IDM_OK ? "" : idm_status_name(status));
    free(x);
  }
  return 0;
}
