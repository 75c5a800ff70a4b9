/* Discounting by delay: naive and sophisticated selves.
 *
 * A naive self plans as if later selves counted delays from now as it does: at delay j the next
 * step is worth D(j+1)/D(j) as much. It plans anew at every step, so that each number of steps left
 * has a chain of its own.
 *
 * A sophisticated self knows what later selves will do. With W_j(z) the utilities from z on, less
 * their prices, the first at delay j, under the policies of the selves with m, m-1, ... steps left,
 *
 *   W_j = D(j) r + P W_{j+1},   r = V - P W_1,
 *
 * where V = soft(Q) is what the self with m steps left expects, of which P W_1 lies after its own
 * step: r is that step alone, its price included. As everywhere on the lattice, V, r and W_j leave
 * out the award for certainty of the point itself; P W_j has that of the successors. */
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

/* The decision with `left` steps left, from what follows it. */
static double backup_layer(control *c, size_t variant, int left, bool mix)
{
  backup_output out = {.value = layer_of(c, variant, left), .mix = mix};
  idm_control_tables(c, variant, left - 1, &out);
  c->numbers.discount = idm_control_delay_step(c);
  c->numbers.arrival = idm_control_arrival(c, left);
  idm_control_backup(c, control_follows(c, variant, left), false, &out);
  return out.size;
}

/* What a naive self expects after its step, planned back from the end. */
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

/* The expected award for certainty after a decision that left its policies in control->mix, as if
 * at no delay. */
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

/* W_j of the selves with one step more: after a decision that left its policies in control->mix. */
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
