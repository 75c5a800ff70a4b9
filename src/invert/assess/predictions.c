/* Summaries of the log against the predictions of the answer, with intervals from replicates
 * (docs/method/verdict.md, 9). */
#include "invert/assess/residual.h"

#include <math.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "infer/distribution.h"
#include "invert/assess/context.h"
#include "invert/clone.h"
#include "invert/posterior.h"

enum { replicates = 999, FAMILIES = 7 };

static const struct {
  cell_family family;
  idm_model_test test;
  bool rates; /* the cells of a group are of every action, so their shares sum to 1 */
} predicted_cells[FAMILIES] = {
    {CELLS_STEP, IDM_TEST_STEPS, true},         {CELLS_END, IDM_TEST_LENGTHS, false},
    {CELLS_STAY, IDM_TEST_REPETITION, false},   {CELLS_RETURN, IDM_TEST_ALTERNATION, false},
    {CELLS_RESPONSE, IDM_TEST_RESPONSES, true}, {CELLS_BELIEF, IDM_TEST_BELIEFS, true},
    {CELLS_VARIANT, IDM_TEST_CONDITIONS, true}};

/* Residuals of every cell in every replicate. */
typedef struct replicate_residuals {
  predictive p;
  double *residual[FAMILIES]; /* [cell][replicates] */
  double *taken;              /* [decision_point][action] */
  double *shift;              /* [dimension] */
} replicate_residuals;

static void close_replicated(replicate_residuals *r)
{
  for (size_t f = 0; f < FAMILIES; f++) free(r->residual[f]);
  free(r->taken);
  free(r->shift);
  idm_predictive_close(&r->p);
}

static idm_status open_replicated(replicate_residuals *r, const decision_residuals *of,
                                  idm_error *opt_error)
{
  const idm_status status = idm_predictive_open(&r->p, of, opt_error);
  if (status != IDM_OK) return status;
  r->taken = idm_new(idm_times(of->decision_points, of->actions), sizeof *r->taken);
  r->shift = idm_new(of->dimension, sizeof *r->shift);
  bool made = r->taken && r->shift;
  for (size_t f = 0; f < FAMILIES; f++) {
    const size_t count = r->p.family[predicted_cells[f].family].count;
    r->residual[f] = idm_new(idm_times(count, replicates), sizeof *r->residual[f]);
    made = made && r->residual[f];
  }
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* Compute the residuals of all replicates of the decisions, then those of the log, which remain in
 * r->p. */
static void replicate(replicate_residuals *r, const decision_residuals *of, uint64_t seed)
{
  for (size_t k = 0; k <= replicates; k++) {
    idm_random random;
    idm_random_init(&random, seed, (uint64_t)6 << 32 | k);
    if (k < replicates) idm_residual_draw(of, &random, r->taken);
    const double *taken = k < replicates ? r->taken : of->taken;
    idm_residual_shift(of, taken, r->shift);
    idm_predictive_count(&r->p, taken, r->shift);
    for (size_t f = 0; f < FAMILIES && k < replicates; f++) {
      const cell_counts *c = &r->p.family[predicted_cells[f].family];
      for (size_t i = 0; i < c->count; i++) r->residual[f][i * replicates + k] = c->residual[i];
    }
  }
}

/* Expected count of a cell, with the answer shifted to the log as in the residuals. */
static double expected_count(const replicate_residuals *r, size_t family, size_t cell)
{
  const cell_counts *c = &r->p.family[predicted_cells[family].family];
  return idm_predictive_observed(&r->p, predicted_cells[family].family, cell) - c->residual[cell];
}

/* Whether the shift is within the sampling error of a fit, by a score test of the log: a prior can
 * hold an answer elsewhere, and the linear shift would then not be its prediction. */
static bool shift_is_plausible(const replicate_residuals *r, const decision_residuals *of)
{
  const size_t d = of->dimension;
  double squares = 0;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++)
      squares += r->shift[i] * of->information[i * d + j] * r->shift[j];
  return idm_chi_square_tail(squares, (double)d) > 1e-3;
}

/* Whether every expectation is between 0 and the trials, which a linear shift does not guarantee.
 */
static bool counts_are_valid(const replicate_residuals *r)
{
  for (size_t f = 0; f < FAMILIES; f++) {
    const cell_counts *c = &r->p.family[predicted_cells[f].family];
    for (size_t i = 0; i < c->count; i++) {
      const double expected = expected_count(r, f, i), slack = 1e-9 * (1 + c->trials[i]);
      if (expected < -slack || expected > c->trials[i] + slack) return false;
    }
  }
  return true;
}

/* Decisions to which the share of a cell refers: for rates all decisions of the step, observation
 * or condition, for any available actions, so that shares sum to 1; for other cells the decisions
 * that could have been of it. 0: not shown. */
static double decisions_of(const replicate_residuals *r, size_t family, size_t cell)
{
  const cell_family own = predicted_cells[family].family;
  const cell_counts *c = &r->p.family[own];
  const size_t actions = r->p.r->actions, first = cell - cell % actions;
  double sum = 0;
  if (!predicted_cells[family].rates) return c->trials[cell];
  for (size_t u = 0; u < actions; u++) sum += idm_predictive_observed(&r->p, own, first + u);
  const bool seen = idm_predictive_observed(&r->p, own, cell) > 0.5;
  return c->trials[cell] > 0 || seen ? rint(sum) : 0;
}

/* Store a cell as shares of its decisions. If the expectation is nearly 0, a quantile of the
 * replicates can be on the wrong side of it: the interval is extended to it. */
static void set_prediction(replicate_residuals *r, size_t family, size_t cell, idm_prediction *to)
{
  const double all = decisions_of(r, family, cell);
  double *residual = r->residual[family] + cell * replicates;
  const double observed = idm_predictive_observed(&r->p, predicted_cells[family].family, cell);
  const double expected = expected_count(r, family, cell);
  const struct {
    double *end;
    double share;
  } ends[] = {
      {&to->low, 0.025}, {&to->inner_low, 0.25}, {&to->inner_high, 0.75}, {&to->high, 0.975}};
  *to = (idm_prediction){.test = predicted_cells[family].test,
                         .group = predicted_cells[family].rates ? cell / r->p.r->actions : cell,
                         .trials = all,
                         .observed = observed / all,
                         .expected = fmin(fmax(expected / all, 0), 1)};
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
    const double off = idm_quantile(residual, replicates, ends[k].share);
    const double count = expected + (ends[k].share < 0.5 ? fmin(off, 0) : fmax(off, 0));
    *ends[k].end = fmin(fmax(count / all, 0), 1);
  }
  idm_predictive_label(&r->p, predicted_cells[family].family, cell, to->label, sizeof to->label);
}

static idm_status list_predictions(replicate_residuals *r, idm_predictions *to,
                                   idm_error *opt_error)
{
  size_t count = 0;
  for (size_t f = 0; f < FAMILIES; f++) count += r->p.family[predicted_cells[f].family].count;
  to->one = idm_new(count, sizeof *to->one);
  if (!to->one) return idm_fail_memory(opt_error);
  for (size_t f = 0; f < FAMILIES; f++) {
    const cell_counts *c = &r->p.family[predicted_cells[f].family];
    for (size_t i = 0; i < c->count; i++)
      if (decisions_of(r, f, i) > 0) set_prediction(r, f, i, &to->one[to->count++]);
  }
  return IDM_OK;
}

static idm_status predict(const check_context *q, idm_predictions *to, idm_error *opt_error)
{
  decision_residuals of;
  replicate_residuals r = {0};
  idm_status status = idm_residual_open(&of, q, opt_error);
  if (status != IDM_OK) return status;
  bool sound = !of.seen || !of.decision_points;
  while (!sound && status == IDM_OK) {
    status = open_replicated(&r, &of, opt_error);
    if (status == IDM_OK) replicate(&r, &of, q->posterior->seed);
    sound = status == IDM_OK &&
            (!of.dimension || (shift_is_plausible(&r, &of) && counts_are_valid(&r)));
    if (sound) status = list_predictions(&r, to, opt_error);
    close_replicated(&r);
    r = (replicate_residuals){0};
    of.dimension = 0; /* next: predictions without the shift */
  }
  idm_residual_close(&of);
  return status;
}

idm_status idm_predictions_find(const idm_problem *problem, const idm_data *data,
                                const idm_posterior *posterior, idm_predictions *ret_predictions,
                                idm_error *opt_error)
{
  fit_context f = {0};
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  idm_problem *fork;
  *ret_predictions = (idm_predictions){0};
  idm_status status = idm_problem_clone(problem, &fork, opt_error);
  if (status == IDM_OK)
    status = idm_dynamics_sets_apply(posterior, idm_posterior_highest(posterior), fork, opt_error);
  if (status == IDM_OK) status = idm_fit_open(&f, NULL, fork, data, &settings, 1, opt_error);
  if (status == IDM_OK) status = idm_posterior_check(posterior, f.parameters, opt_error);
  if (status == IDM_OK)
    status = predict(&(check_context){.f = &f,
                                      .posterior = posterior,
                                      .among = 1,
                                      .no_likelihood = idm_check_has_no_likelihood(posterior)},
                     ret_predictions, opt_error);
  idm_fit_close(&f);
  idm_clone_destroy(fork);
  if (status != IDM_OK) idm_predictions_clear(ret_predictions);
  return status;
}

void idm_predictions_clear(idm_predictions *predictions)
{
  free(predictions->one);
  *predictions = (idm_predictions){0};
}
