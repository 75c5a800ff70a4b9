/* Habit and slips: see the header. */
#include "plan/habit.h"
#include "base/log_sum.h"
#include "plan/smallest.h"

bool idm_habit_tilt(habit h, size_t actions, const double *pi, const bool *opt_open, int last,
                    double *q, double *open)
{
  double total = 0;
  *open = 0;
  for (size_t u = 0; u < actions; u++) {
    const bool is_open = !opt_open || opt_open[u];
    *open += is_open;
    q[u] = is_open ? pi[u] * idm_habit_factor(h, last, u) : 0;
    total += q[u];
  }
  for (size_t u = 0; total > idm_smallest && u < actions; u++) q[u] /= total;
  return total > idm_smallest;
}

bool idm_habit_tilt_logs(habit h, size_t actions, const double *log_pi, const bool *opt_open,
                         int last, double *log_q, double *open)
{
  *open = 0;
  for (size_t u = 0; u < actions; u++) {
    const bool is_open = !opt_open || opt_open[u];
    *open += is_open;
    log_q[u] = is_open ? log_pi[u] + (last == (int)u ? h.perseverance : 0) : -INFINITY;
  }
  const double total = idm_log_sum_exp(log_q, actions);
  for (size_t u = 0; u < actions; u++) {
    const bool is_open = !opt_open || opt_open[u];
    if (total != -INFINITY)
      log_q[u] -= total;
    else if (is_open)
      log_q[u] = -log(*open);
  }
  return total != -INFINITY;
}

void idm_habit_tilt_both(habit h, size_t actions, const double *log_pi, const bool *opt_open,
                         int last, double *q, double *log_q, double *open)
{
  double largest = -INFINITY, total = 0;
  *open = 0;
  for (size_t u = 0; u < actions; u++) {
    const bool is_open = !opt_open || opt_open[u];
    *open += is_open;
    log_q[u] = is_open ? log_pi[u] + (last == (int)u ? h.perseverance : 0) : -INFINITY;
    largest = log_q[u] > largest ? log_q[u] : largest;
  }
  for (size_t u = 0; u < actions; u++) {
    q[u] = log_q[u] == largest ? 1 : exp(log_q[u] - largest);
    total += q[u];
  }
  const double shift = largest + log(total);
  for (size_t u = 0; u < actions; u++) {
    q[u] /= total;
    log_q[u] -= shift;
  }
}

void idm_habit_recall(habit h, size_t actions, const double *q, double open, int last, size_t u,
                      double slope, double *to, habit_slope *both)
{
  /* d log p / d log q. */
  const double p = idm_habit_slip(h, q[u], open);
  const double share = h.lapse != 0 ? (1 - h.lapse) * q[u] / p : 1;
  to[u] += slope * share;
  for (size_t v = 0; v < actions; v++) to[v] -= slope * share * q[v];
  if (last >= 0) both->perseverance += slope * share * ((last == (int)u) - q[last]);
  if (p > 0) both->lapse += slope * (1 / open - q[u]) / p;
}
