/* Covariates of the score tests of extensions: clocks, and signals and traces of earlier rows.
 *
 * Contents: drift · carryover */
#include <math.h>

#include "base/memory.h"
#include "base/text.h"
#include "invert/assess/extension.h"

/* === drift ================================================================================== */

/* Clocks: time variables over which a free number may drift (extension.h). */

/* Clocks with a squared correlation above this over the decisions count as equal. The rows in the
 * order of n trajectories of equal length have 1 - 1 / n^2 with the index of the trajectory. */
static const double max_correlation = 0.9;

void idm_drift_times_close(drift_times *c)
{
  for (size_t i = 0; i < DRIFT_KINDS; i++) free(c->time[i]);
  *c = (drift_times){0};
}

static double drift_time(const decision_point *q, drift_kind kind)
{
  switch (kind) {
  case DRIFT_ROW:
    return q->step;
  case DRIFT_AGENT:
    return q->period_of.of_agent;
  case DRIFT_LOG:
    return q->period_of.of_log;
  case DRIFT_PARITY:
    return q->step % 2;
  default:
    return q->depth;
  }
}

/* Rescale time[decision_point] to the range from -1/2 to 1/2; returns false if it is constant. */
static bool rescale_time(const decision_residuals *r, double *time)
{
  double least = INFINITY, most = -INFINITY;
  for (size_t i = 0; i < r->decision_points; i++) {
    least = fmin(least, time[i]);
    most = fmax(most, time[i]);
  }
  if (!(most > least)) return false;
  for (size_t i = 0; i < r->decision_points; i++)
    time[i] = (time[i] - least) / (most - least) - 0.5;
  return true;
}

/* Compute time[decision_point] of a linear clock; returns false if it is constant. */
static bool set_drift_time(const decision_residuals *r, drift_kind kind, double *time)
{
  for (size_t i = 0; i < r->decision_points; i++) time[i] = drift_time(&r->decision_point[i], kind);
  return rescale_time(r, time);
}

/* Compute time[decision_point] of the square of a clock, less its regression on the clock; returns
 * false if it is collinear with the clock, which then has two values. */
static bool set_drift_square(const decision_residuals *r, const double *drift, double *time)
{
  double n = 0, mean = 0, mean_square = 0, xx = 0, xy = 0, yy = 0;
  for (size_t i = 0; i < r->decision_points; i++) {
    n += r->decision_point[i].decisions;
    mean += r->decision_point[i].decisions * drift[i];
    mean_square += r->decision_point[i].decisions * drift[i] * drift[i];
  }
  mean /= n;
  mean_square /= n;
  for (size_t i = 0; i < r->decision_points; i++) {
    const double x = drift[i] - mean, y = drift[i] * drift[i] - mean_square;
    xx += r->decision_point[i].decisions * x * x;
    xy += r->decision_point[i].decisions * x * y;
    yy += r->decision_point[i].decisions * y * y;
  }
  for (size_t i = 0; i < r->decision_points; i++)
    time[i] = drift[i] * drift[i] - xy / xx * (drift[i] - mean);
  return yy - xy * xy / xx > 1e-6 * n && rescale_time(r, time);
}

/* Whether two functions x[decision_point], y[decision_point] have a squared correlation above
 * max_correlation. */
static bool idm_covariates_coincide(const decision_residuals *r, const double *x, const double *y)
{
  double n = 0, mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < r->decision_points; i++) {
    n += r->decision_point[i].decisions;
    mean_x += r->decision_point[i].decisions * x[i];
    mean_y += r->decision_point[i].decisions * y[i];
  }
  for (size_t i = 0; i < r->decision_points; i++) {
    const double from_x = x[i] - mean_x / n, from_y = y[i] - mean_y / n;
    xx += r->decision_point[i].decisions * from_x * from_x;
    yy += r->decision_point[i].decisions * from_y * from_y;
    xy += r->decision_point[i].decisions * from_x * from_y;
  }
  return xy * xy > max_correlation * xx * yy;
}

/* Keep the last computed clock, unless it is nearly collinear with an earlier one. */
static void add_drift_time(drift_times *c, const decision_residuals *r, drift_kind kind, bool moves)
{
  for (size_t i = 0; i < c->count && moves; i++)
    moves = !idm_covariates_coincide(r, c->time[c->count], c->time[i]);
  if (moves) c->kind[c->count++] = kind;
}

idm_status idm_drift_times_open(drift_times *c, const decision_residuals *r, idm_error *opt_error)
{
  *c = (drift_times){0};
  for (size_t i = 0; i < DRIFT_KINDS; i++) {
    c->time[i] = idm_new(r->decision_points, sizeof *c->time[i]);
    if (!c->time[i]) {
      idm_drift_times_close(c);
      return idm_fail_memory(opt_error);
    }
  }
  for (int kind = 0; kind < DRIFT_ROW_SQUARED; kind++)
    add_drift_time(c, r, (drift_kind)kind, set_drift_time(r, (drift_kind)kind, c->time[c->count]));
  const size_t linear_count = c->count;
  for (size_t i = 0; i < linear_count; i++)
    add_drift_time(c, r, c->kind[i] + DRIFT_ROW_SQUARED,
                   set_drift_square(r, c->time[i], c->time[c->count]));
  add_drift_time(c, r, DRIFT_PARITY, set_drift_time(r, DRIFT_PARITY, c->time[c->count]));
  return IDM_OK;
}

const char *idm_drift_name(drift_kind kind)
{
  static const char *const name[DRIFT_KINDS] = {
      [DRIFT_ROW] = "within trajectories",
      [DRIFT_AGENT] = "over an agent's trajectories",
      [DRIFT_LOG] = "over the log's trajectories",
      [DRIFT_HISTORY] = "along a history",
      [DRIFT_ROW_SQUARED] = "within trajectories and back",
      [DRIFT_AGENT_SQUARED] = "over an agent's trajectories and back",
      [DRIFT_LOG_SQUARED] = "over the log's trajectories and back",
      [DRIFT_HISTORY_SQUARED] = "along a history and back",
      [DRIFT_PARITY] = "by odd and even rows",
  };
  return name[kind];
}

const char *idm_drift_span(drift_kind kind)
{
  static const char *const span[DRIFT_KINDS] = {
      [DRIFT_ROW] = "between the first and the last row of a trajectory",
      [DRIFT_AGENT] = "between the first and the last trajectory of an agent",
      [DRIFT_LOG] = "between the first and the last trajectory of the log",
      [DRIFT_HISTORY] = "between the first and the last row of a history",
      [DRIFT_ROW_SQUARED] = "between the middle and both ends of a trajectory",
      [DRIFT_AGENT_SQUARED] = "between the middle and both ends of an agent's trajectories",
      [DRIFT_LOG_SQUARED] = "between the middle and both ends of the log",
      [DRIFT_HISTORY_SQUARED] = "between the middle and both ends of a history",
      [DRIFT_PARITY] = "between odd and even rows of a trajectory",
  };
  return span[kind];
}

const char *idm_drift_cure(drift_kind kind, bool people)
{
  if (kind == DRIFT_PARITY) return "fit odd and even rows apart (--where)";
  if (kind == DRIFT_ROW_SQUARED || kind == DRIFT_HISTORY_SQUARED)
    return "fit the rows of the middle apart (--where)";
  if (kind == DRIFT_ROW || kind == DRIFT_HISTORY) return "fit early and late rows apart (--where)";
  return people ? "add a column that separates early from late trajectories (--model)"
                : "fit early and late trajectories apart (--where, or --each COLUMN)";
}

/* === carryover ============================================================================== */

/* Effects of earlier rows on choices (extension.h).
 *
 * Contents: signals · traces · names */

void idm_carryover_close(carryover *p)
{
  for (size_t i = 0; i < MAX_SIGNALS; i++) free(p->signal[i].last);
  *p = (carryover){0};
}

/* --- signals -------------------------------------------------------------------------------- */

/* The row before a decision point, in the tree of its stratum; NULL if the trajectory has none, or
 * its action is missing. */
static const idm_prefix_node *row_before(const decision_residuals *r, const decision_point *q)
{
  const stratum *of = &r->strata->one[q->stratum];
  return q->last_action == IDM_MISSING ? NULL : &of->tree->node[q->parent - of->first];
}

/* The row before a row; NULL likewise. */
static const idm_prefix_node *row_above(const idm_prefix_tree *tree, const idm_prefix_node *row)
{
  const idm_prefix_node *above = row && row->parent >= 0 ? &tree->node[row->parent] : NULL;
  const bool acts = above && above->begin < 0 && above->action != IDM_MISSING && !above->missed;
  return acts ? above : NULL;
}

/* The reward of such a row; NAN if there is none. */
static double reward_of(const idm_prefix_tree *tree, const idm_prefix_node *row)
{
  return row && tree->reward ? tree->reward[row - tree->node] : NAN;
}

/* Find the threshold between gains and other rewards; returns false if all rewards are equal. */
static bool find_gain(const decision_residuals *r, double *ret_gain)
{
  double least = INFINITY, most = -INFINITY, sum = 0, count = 0;
  for (size_t i = 0; i < r->decision_points; i++) {
    const double reward = reward_of(r->strata->one[r->decision_point[i].stratum].tree,
                                    row_before(r, &r->decision_point[i]));
    if (isnan(reward)) continue;
    least = fmin(least, reward);
    most = fmax(most, reward);
    sum += r->decision_point[i].decisions * reward;
    count += r->decision_point[i].decisions;
  }
  *ret_gain = least < 0 && most > 0 ? 0 : sum / count;
  return most > least;
}

/* Contrast of a row: 1 or -1, or 0 if there is no such row or the value was not recorded. */
static double contrast(const carryover *p, const carryover_signal *s, const idm_prefix_tree *tree,
                       const idm_prefix_node *row)
{
  const double reward = reward_of(tree, row);
  const bool is_reward = s->observation == IDM_MISSING;
  if (!row || (is_reward ? isnan(reward) : row->observation == IDM_MISSING)) return 0;
  return (is_reward ? reward > p->gain : row->observation == s->observation) ? 1 : -1;
}

/* Compute the contrasts of a signal; returns false if they do not vary, or are nearly collinear
 * with an earlier signal. */
static bool read_signal(const carryover *p, const carryover_signal *s)
{
  bool up = false, down = false;
  for (size_t i = 0; i < p->r->decision_points; i++) {
    const decision_point *q = &p->r->decision_point[i];
    s->last[i] = contrast(p, s, p->r->strata->one[q->stratum].tree, row_before(p->r, q));
    up = up || s->last[i] > 0;
    down = down || s->last[i] < 0;
  }
  for (const carryover_signal *t = p->signal; t < s; t++)
    if (idm_covariates_coincide(p->r, s->last, t->last)) return false;
  return up && down;
}

static idm_status add_signal(carryover *p, int32_t observation, idm_error *opt_error)
{
  carryover_signal *s = &p->signal[p->count];
  s->observation = observation;
  if (!s->last) s->last = idm_new(p->r->decision_points, sizeof *s->last);
  if (!s->last) return idm_fail_memory(opt_error);
  p->count += read_signal(p, s);
  return IDM_OK;
}

/* Number of observations with a signal of their own; 0 if pairs of observations and free numbers
 * are too many to test. */
static size_t contrast_count(const decision_residuals *r)
{
  enum { max_pairs = 64 };
  if (r->observations == 2) return 1;
  const bool few = r->observations < MAX_SIGNALS && r->observations * r->dimension <= max_pairs;
  return few ? r->observations : 0;
}

idm_status idm_carryover_open(carryover *p, const decision_residuals *r, idm_error *opt_error)
{
  *p = (carryover){.r = r};
  idm_status status = IDM_OK;
  if (find_gain(r, &p->gain)) status = add_signal(p, IDM_MISSING, opt_error);
  for (size_t k = 0; k < contrast_count(r) && status == IDM_OK; k++)
    status = add_signal(p, (int32_t)k, opt_error);
  if (status != IDM_OK) idm_carryover_close(p);
  return status;
}

/* --- traces --------------------------------------------------------------------------------- */

static bool is_reward_signal(const carryover *p, size_t signal)
{
  return signal < p->count && p->signal[signal].observation == IDM_MISSING;
}

bool idm_carryover_has(const carryover *p, carryover_trace trace, size_t signal)
{
  if (trace == TRACE_HABIT) return signal == 0;
  return trace == TRACE_CREDIT ? signal < p->count : is_reward_signal(p, signal);
}

/* Number of traced rows (the next would have a weight of .01), and the decay of the weight per row.
 */
enum { trace_length = 12 };
static const double trace_decay = 0.7;

/* Trace of actions along the history, which covers earlier trajectories if the behaviour remembers
 * them. */
static void trace_habit(const idm_prefix_tree *tree, const idm_prefix_node *node, double *score)
{
  double weight = 1;
  for (int row = 0; row < trace_length;) {
    if (node->begin < 0) {
      if (node->action != IDM_MISSING && !node->missed) score[node->action] += weight;
      weight *= trace_decay;
      row++;
    }
    if (node->parent < 0) return;
    node = &tree->node[node->parent];
  }
}

/* Trace of actions by the signal of the row after each, within the trajectory. */
static void trace_credit(const carryover *p, const carryover_signal *s, const idm_prefix_tree *tree,
                         const idm_prefix_node *row, double *score)
{
  double weight = 1;
  for (int k = 0; k < trace_length && row; k++) {
    const idm_prefix_node *above = row_above(tree, row);
    if (above) score[above->action] += weight * contrast(p, s, tree, row);
    weight *= trace_decay;
    row = above;
  }
}

/* Compute g of one decision point: score[action]. */
static void trace_one(const carryover *p, carryover_trace trace, const carryover_signal *s,
                      const decision_point *q, double *score)
{
  const stratum *of = &p->r->strata->one[q->stratum];
  const idm_prefix_node *row = row_before(p->r, q), *above = row_above(of->tree, row);
  switch (trace) {
  case TRACE_HABIT:
    trace_habit(of->tree, &of->tree->node[q->parent - of->first], score);
    break;
  case TRACE_LAST:
    if (row) score[row->action] = contrast(p, s, of->tree, row);
    break;
  case TRACE_RETURN:
    if (above) score[above->action] = contrast(p, s, of->tree, above);
    break;
  default:
    trace_credit(p, s, of->tree, row, score);
  }
}

void idm_carryover_trace(const carryover *p, carryover_trace trace, size_t signal, double *score)
{
  const decision_residuals *r = p->r;
  memset(score, 0, r->decision_points * r->actions * sizeof *score);
  for (size_t i = 0; i < r->decision_points; i++)
    trace_one(p, trace, &p->signal[signal], &r->decision_point[i], score + i * r->actions);
}

/* --- names ----------------------------------------------------------------------------------- */

static const char *observation_name(const carryover *p, size_t signal)
{
  return p->r->setting->observations.name[p->signal[signal].observation];
}

void idm_carryover_signal_name(const carryover *p, size_t signal, char *text, size_t size)
{
  if (is_reward_signal(p, signal))
    idm_print(text, size, "after a reward above %.3g", p->gain);
  else
    idm_print(text, size, "after '%.60s'", observation_name(p, signal));
}

void idm_carryover_span(const carryover *p, size_t signal, char *text, size_t size)
{
  if (is_reward_signal(p, signal))
    idm_print(text, size, "between choices after other rewards and after those above %.3g",
              p->gain);
  else
    idm_print(text, size, "between choices after other observations and after '%.60s'",
              observation_name(p, signal));
}

void idm_carryover_trace_name(const carryover *p, carryover_trace trace, size_t signal, char *text,
                              size_t size)
{
  static const char *const name[TRACE_KINDS] = {
      [TRACE_HABIT] = "actions of the last rows",
      [TRACE_LAST] = "last action, by its reward",
      [TRACE_RETURN] = "action before last, by its reward",
      [TRACE_CREDIT] = "actions, by the reward of the row after"};
  if (trace == TRACE_CREDIT && !is_reward_signal(p, signal))
    idm_print(text, size, "actions, by '%.60s' in the row after", observation_name(p, signal));
  else
    idm_print(text, size, "%s", name[trace]);
}
