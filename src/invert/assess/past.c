/* What choices may carry over from the rows before: see the header.
 *
 * Contents: signals · traces · words */
#include "invert/assess/past.h"

#include <math.h>

#include "base/memory.h"
#include "base/number.h"
#include "invert/assess/clock.h"

void idm_past_close(past *p)
{
  for (size_t i = 0; i < MOST_SIGNALS; i++) free(p->signal[i].last);
  *p = (past){0};
}

/* --- signals -------------------------------------------------------------------------------- */

/* The row before a question, in the tree of its stratum; NULL where the trajectory has none, or
 * nothing was done there. */
static const idm_prefix_node *row_before(const residual *r, const question *q)
{
  const stratum *of = &r->strata->one[q->stratum];
  return q->previous == IDM_MISSING ? NULL : &of->tree->node[q->parent - of->first];
}

/* The row before a row; NULL likewise. */
static const idm_prefix_node *row_above(const idm_prefix_tree *tree, const idm_prefix_node *row)
{
  const idm_prefix_node *above = row && row->parent >= 0 ? &tree->node[row->parent] : NULL;
  const bool acts = above && above->begin < 0 && above->action != IDM_MISSING && !above->missed;
  return acts ? above : NULL;
}

/* The reward of such a row; NAN where there is none. */
static double reward_of(const idm_prefix_tree *tree, const idm_prefix_node *row)
{
  return row && tree->reward ? tree->reward[row - tree->node] : NAN;
}

/* What separates gains from the other rewards; false where all are the same. */
static bool find_gain(const residual *r, double *ret_gain)
{
  double least = INFINITY, most = -INFINITY, sum = 0, count = 0;
  for (size_t i = 0; i < r->questions; i++) {
    const double reward =
        reward_of(r->strata->one[r->question[i].stratum].tree, row_before(r, &r->question[i]));
    if (isnan(reward)) continue;
    least = fmin(least, reward);
    most = fmax(most, reward);
    sum += r->question[i].asked * reward;
    count += r->question[i].asked;
  }
  *ret_gain = least < 0 && most > 0 ? 0 : sum / count;
  return most > least;
}

/* 1 or -1, or 0 where there is no such row or nothing was recorded. */
static double contrast(const past *p, const past_signal *s, const idm_prefix_tree *tree,
                       const idm_prefix_node *row)
{
  const double reward = reward_of(tree, row);
  const bool paid = s->observation == IDM_MISSING;
  if (!row || (paid ? isnan(reward) : row->observation == IDM_MISSING)) return 0;
  return (paid ? reward > p->gain : row->observation == s->observation) ? 1 : -1;
}

/* The contrasts of a signal; false where they do not vary, or coincide with a signal before. */
static bool read_signal(const past *p, const past_signal *s)
{
  bool up = false, down = false;
  for (size_t i = 0; i < p->r->questions; i++) {
    const question *q = &p->r->question[i];
    s->last[i] = contrast(p, s, p->r->strata->one[q->stratum].tree, row_before(p->r, q));
    up = up || s->last[i] > 0;
    down = down || s->last[i] < 0;
  }
  for (const past_signal *t = p->signal; t < s; t++)
    if (idm_clocks_coincide(p->r, s->last, t->last)) return false;
  return up && down;
}

static idm_status add_signal(past *p, int32_t observation, idm_error *opt_error)
{
  past_signal *s = &p->signal[p->count];
  s->observation = observation;
  if (!s->last) s->last = idm_new(p->r->questions, sizeof *s->last);
  if (!s->last) return idm_fail_memory(opt_error);
  p->count += read_signal(p, s);
  return IDM_OK;
}

/* Observations that have a signal of their own. Each is tested with every free number, so that few
 * of both are. */
static size_t contrasted(const residual *r)
{
  enum { most_pairs = 64 };
  if (r->observations == 2) return 1;
  const bool few = r->observations < MOST_SIGNALS && r->observations * r->dimension <= most_pairs;
  return few ? r->observations : 0;
}

idm_status idm_past_open(past *p, const residual *r, idm_error *opt_error)
{
  *p = (past){.r = r};
  idm_status status = IDM_OK;
  if (find_gain(r, &p->gain)) status = add_signal(p, IDM_MISSING, opt_error);
  for (size_t k = 0; k < contrasted(r) && status == IDM_OK; k++)
    status = add_signal(p, (int32_t)k, opt_error);
  if (status != IDM_OK) idm_past_close(p);
  return status;
}

/* --- traces --------------------------------------------------------------------------------- */

static bool is_paid(const past *p, size_t signal)
{
  return signal < p->count && p->signal[signal].observation == IDM_MISSING;
}

bool idm_past_has(const past *p, past_trace trace, size_t signal)
{
  if (trace == TRACE_HABIT) return signal == 0;
  return trace == TRACE_CREDIT ? signal < p->count : is_paid(p, signal);
}

/* Rows that are traced, of which the next would weigh .01, and what of its weight a row has. */
enum { traced = 12 };
static const double kept = 0.7;

/* Along the history, over trajectories where the behaviour remembers them. */
static void trace_habit(const idm_prefix_tree *tree, const idm_prefix_node *node, double *score)
{
  double weight = 1;
  for (int row = 0; row < traced;) {
    if (node->begin < 0) {
      if (node->action != IDM_MISSING && !node->missed) score[node->action] += weight;
      weight *= kept;
      row++;
    }
    if (node->parent < 0) return;
    node = &tree->node[node->parent];
  }
}

/* Within the trajectory. */
static void trace_credit(const past *p, const past_signal *s, const idm_prefix_tree *tree,
                         const idm_prefix_node *row, double *score)
{
  double weight = 1;
  for (int k = 0; k < traced && row; k++) {
    const idm_prefix_node *above = row_above(tree, row);
    if (above) score[above->action] += weight * contrast(p, s, tree, row);
    weight *= kept;
    row = above;
  }
}

/* g of one question: score[action]. */
static void trace_one(const past *p, past_trace trace, const past_signal *s, const question *q,
                      double *score)
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

void idm_past_trace(const past *p, past_trace trace, size_t signal, double *score)
{
  const residual *r = p->r;
  memset(score, 0, r->questions * r->actions * sizeof *score);
  for (size_t i = 0; i < r->questions; i++)
    trace_one(p, trace, &p->signal[signal], &r->question[i], score + i * r->actions);
}

/* --- words ---------------------------------------------------------------------------------- */

static const char *seen(const past *p, size_t signal)
{
  return p->r->setting->observations.name[p->signal[signal].observation];
}

void idm_past_name_signal(const past *p, size_t signal, char *text, size_t size)
{
  if (is_paid(p, signal))
    idm_print(text, size, "after a reward above %.3g", p->gain);
  else
    idm_print(text, size, "after '%.60s'", seen(p, signal));
}

void idm_past_span(const past *p, size_t signal, char *text, size_t size)
{
  if (is_paid(p, signal))
    idm_print(text, size, "between choices after other rewards and after those above %.3g",
              p->gain);
  else
    idm_print(text, size, "between choices after other observations and after '%.60s'",
              seen(p, signal));
}

void idm_past_name_trace(const past *p, past_trace trace, size_t signal, char *text, size_t size)
{
  static const char *const name[TRACE_KINDS] = {
      [TRACE_HABIT] = "actions of the last rows",
      [TRACE_LAST] = "last action, by its reward",
      [TRACE_RETURN] = "action before last, by its reward",
      [TRACE_CREDIT] = "actions, by the reward of the row after"};
  if (trace == TRACE_CREDIT && !is_paid(p, signal))
    idm_print(text, size, "actions, by '%.60s' in the row after", seen(p, signal));
  else
    idm_print(text, size, "%s", name[trace]);
}
