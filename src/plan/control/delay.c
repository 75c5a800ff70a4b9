/* Delay discounting, D(j) = 1/(1 + kappa j): naive and sophisticated agents.
 *
 * A naive agent plans as if its later decisions measured delays from now: at delay j the next step
 * is discounted by D(j+1)/D(j). It replans at every step, so that each number of steps left has its
 * own backward induction.
 *
 * A sophisticated agent anticipates its later decisions. Let W_j(z) be the utilities from z on,
 * less their information costs, the first at delay j, under the policies with m, m-1, ... steps
 * left:
 *
 *   W_j = D(j) r + P W_{j+1},   r = V - P W_1,
 *
 * where V = soft(Q) is the value with m steps left, of which P W_1 follows the current step: r is
 * the utility of that step alone, its information cost included. As everywhere on the lattice, V, r
 * and W_j exclude the award for certainty of the point itself; P W_j includes that of the
 * successors. */
#include "plan/control/control.h"

#include <math.h>
#include <string.h>

double idm_control_delay_step(const control *c)
{
  return c->agent.discounting == IDM_SOPHISTICATED ? 1 : control_delay(c, 1);
}

static double *layer_of(const control *c, size_t variant, int left)
{
  return c->value + ((size_t)(c->layers + 1) * variant + (size_t)left) * c->padded;
}

/* Backup with `left` steps left from the values that follow; returns the largest |value|. */
static double backup_layer(control *c, size_t variant, int left, bool mix)
{
  backup_output out = {.value = layer_of(c, variant, left), .mix = mix};
  idm_control_tables(c, variant, left - 1, &out);
  c->numbers.discount = idm_control_delay_step(c);
  c->numbers.arrival = idm_control_arrival(c, left);
  idm_control_backup(c, control_follows(c, variant, left), false, &out);
  return out.size;
}

/* Values that a naive agent expects after its step, by backward induction. */
static void naive_continuation(control *c, int left, double *continuation, idm_plan_report *report)
{
  double *next = c->vector;
  memset(continuation, 0, c->padded * sizeof *continuation);
  for (int delay = left - 1; delay > 0; delay--) {
    backup_output out = {.value = next};
    c->numbers.discount = control_delay(c, delay + 1) / control_delay(c, delay);
    c->numbers.arrival = idm_control_arrival(c, left - delay);
    idm_control_backup(c, continuation, false, &out);
    memcpy(continuation, next, c->padded * sizeof *continuation);
    report->sweeps++;
  }
}

/* Expected award for certainty, without delay, after the decision whose policies are in
 * control->mix. */
static void expect_award(const control *c, int left, double *award)
{
  const double discount_factor = left > 1 ? c->numbers.certainty_award : 0;
  for (size_t i = 0; i < c->padded; i++) award[i] = 0;
  for (size_t b = 0; discount_factor != 0 && b < c->sizes.actions * c->models; b++) {
    const idm_successor_block *block = &c->successors->block[b];
    const size_t u = b / c->models;
    const double *mix = c->mix + (c->is_reset[u] ? u * c->models : b) * c->padded;
    const double share = c->is_reset[u] ? c->constant[b] : 1;
    for (size_t i = 0; i < c->lattice->points && !c->setting->terminal[u]; i++)
      award[i] +=
          discount_factor * share * mix[i] * block->expected_certainty[block->rows == 1 ? 0 : i];
  }
}

/* Updates W_j by one more step, after the decision whose policies are in control->mix. */
static void update_delayed(control *c, size_t variant, int left)
{
  const size_t n = c->padded;
  const double *value = layer_of(c, variant, left);
  double *step_value = c->vector;
  double *applied = c->vector + n;
  double *award = c->vector + 2 * n;
  c->numbers.discount = 1;
  idm_control_fold(c);
  expect_award(c, left, award);
  idm_control_derivative(c, c->delayed, applied); /* x - P x */
  for (size_t i = 0; i < n; i++)
    step_value[i] = value[i] - (c->delayed[i] - applied[i]) - control_delay(c, 1) * award[i];
  for (int j = 1; j <= c->layers - left; j++) {
    double *to = c->delayed + (size_t)(j - 1) * n;
    const double *from = to + n;
    const double discount_factor = control_delay(c, j), next = control_delay(c, j + 1);
    idm_control_derivative(c, from, applied);
    for (size_t i = 0; i < n; i++)
      to[i] = discount_factor * step_value[i] + (from[i] - applied[i]) + next * award[i];
  }
}

double idm_control_solve_delayed(control *c, size_t variant, idm_plan_report *report)
{
  const bool naive = c->agent.discounting == IDM_NAIVE;
  double size = 0;
  memset(layer_of(c, variant, 0), 0, c->padded * sizeof *c->value);
  if (!naive) memset(c->delayed, 0, (size_t)(c->layers + 1) * c->padded * sizeof *c->delayed);
  for (int left = 1; left <= c->layers; left++) {
    double *continuation =
        c->continuation + ((size_t)c->layers * variant + (size_t)(left - 1)) * c->padded;
    if (naive)
      naive_continuation(c, left, continuation, report);
    else
      memcpy(continuation, c->delayed, c->padded * sizeof *continuation);
    size = fmax(size, backup_layer(c, variant, left, !naive));
    if (!naive) update_delayed(c, variant, left);
    report->iterations++;
    report->sweeps++;
  }
  c->numbers.discount = idm_control_delay_step(c);
  return size;
}
