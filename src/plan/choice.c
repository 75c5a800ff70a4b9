/* One step of an agent: the choice, and draws from the environment.
 *
 * Contents: choice bias · draw */

#include "plan/choice.h"
#include "base/statistics.h"
#include "plan/workspace.h"

/* === choice bias ============================================================================ */

/* Perseverance and lapse (docs/method/likelihood.md, 6). */

bool idm_choice_tilt(choice_bias h, size_t actions, const double *pi, const bool *opt_open,
                     int last, double *q, double *open)
{
  double total = 0;
  *open = 0;
  for (size_t u = 0; u < actions; u++) {
    const bool is_open = !opt_open || opt_open[u];
    *open += is_open;
    q[u] = is_open ? pi[u] * idm_choice_bias_factor(h, last, u) : 0;
    total += q[u];
  }
  for (size_t u = 0; total > idm_min_probability && u < actions; u++) q[u] /= total;
  return total > idm_min_probability;
}

bool idm_choice_tilt_logs(choice_bias h, size_t actions, const double *log_pi, const bool *opt_open,
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

void idm_choice_tilt_both(choice_bias h, size_t actions, const double *log_pi, const bool *opt_open,
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

void idm_choice_backward(choice_bias h, size_t actions, const double *q, double open, int last,
                         size_t u, double derivative, double *to, choice_bias_gradient *both)
{
  /* d log p / d log q. */
  const double p = idm_choice_lapse(h, q[u], open);
  const double share = h.lapse != 0 ? (1 - h.lapse) * q[u] / p : 1;
  to[u] += derivative * share;
  for (size_t v = 0; v < actions; v++) to[v] -= derivative * share * q[v];
  if (last >= 0) both->perseverance += derivative * share * ((last == (int)u) - q[last]);
  if (p > 0) both->lapse += derivative * (1 / open - q[u]) / p;
}

/* === draw =================================================================================== */

/* Draws from the environment. */

/* Draws the next state after an action. */
static size_t draw_next(const idm_setting *setting, size_t u, size_t state, idm_random *random)
{
  const size_t k = setting->states.count;
  const idm_sparse_rows *moves = setting->moves;
  const size_t row = u * k + state;
  if (!moves) return idm_random_choice(random, setting->transition + row * k, k);
  const size_t first = moves->first[row];
  return moves->next[first + idm_random_choice(random, moves->probability + first,
                                               moves->first[row + 1] - first)];
}

int idm_draw_transition(const idm_setting *setting, size_t action, size_t *state,
                        idm_random *random)
{
  const idm_sizes n = idm_setting_sizes(setting);
  const size_t acted_in = *state;
  *state = draw_next(setting, action, acted_in, random);
  if (setting->fully_observed) return (int)*state;
  const size_t emitter = setting->emits_before ? acted_in : *state;
  return (int)idm_random_choice(
      random, setting->emission + (action * n.states + emitter) * n.observations, n.observations);
}
