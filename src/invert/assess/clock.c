/* Clocks: what a free number may drift over. See the header. */
#include "invert/assess/clock.h"

#include <math.h>

#include "base/memory.h"

/* Clocks whose squared correlation over the decisions is larger than this coincide. Rows in the
 * order of n trajectories of one length have 1 - 1 / n^2 with their trajectories. */
static const double most_alike = 0.9;

void idm_clocks_close(clocks *c)
{
  for (size_t i = 0; i < CLOCK_KINDS; i++) free(c->time[i]);
  *c = (clocks){0};
}

static double reading(const question *q, clock_kind kind)
{
  switch (kind) {
  case CLOCK_ROW:
    return q->step;
  case CLOCK_AGENT:
    return q->when.of_agent;
  case CLOCK_LOG:
    return q->when.of_log;
  default:
    return q->depth;
  }
}

/* time[question]; false where it is the same for all. */
static bool read_clock(const residual *r, clock_kind kind, double *time)
{
  double least = INFINITY, most = -INFINITY;
  for (size_t i = 0; i < r->questions; i++) {
    time[i] = reading(&r->question[i], kind);
    least = fmin(least, time[i]);
    most = fmax(most, time[i]);
  }
  if (!(most > least)) return false;
  for (size_t i = 0; i < r->questions; i++) time[i] = (time[i] - least) / (most - least) - 0.5;
  return true;
}

bool idm_clocks_coincide(const residual *r, const double *x, const double *y)
{
  double n = 0, mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < r->questions; i++) {
    n += r->question[i].asked;
    mean_x += r->question[i].asked * x[i];
    mean_y += r->question[i].asked * y[i];
  }
  for (size_t i = 0; i < r->questions; i++) {
    const double from_x = x[i] - mean_x / n, from_y = y[i] - mean_y / n;
    xx += r->question[i].asked * from_x * from_x;
    yy += r->question[i].asked * from_y * from_y;
    xy += r->question[i].asked * from_x * from_y;
  }
  return xy * xy > most_alike * xx * yy;
}

idm_status idm_clocks_open(clocks *c, const residual *r, idm_error *opt_error)
{
  *c = (clocks){0};
  for (size_t i = 0; i < CLOCK_KINDS; i++) {
    c->time[i] = idm_new(r->questions, sizeof *c->time[i]);
    if (!c->time[i]) {
      idm_clocks_close(c);
      return idm_fail_memory(opt_error);
    }
  }
  for (int kind = 0; kind < CLOCK_KINDS; kind++) {
    double *time = c->time[c->count];
    bool own = read_clock(r, (clock_kind)kind, time);
    for (size_t i = 0; i < c->count && own; i++) own = !idm_clocks_coincide(r, time, c->time[i]);
    if (own) c->kind[c->count++] = (clock_kind)kind;
  }
  return IDM_OK;
}

const char *idm_clock_name(clock_kind kind)
{
  static const char *const name[CLOCK_KINDS] = {
      [CLOCK_ROW] = "within trajectories",
      [CLOCK_AGENT] = "over an agent's trajectories",
      [CLOCK_LOG] = "over the log's trajectories",
      [CLOCK_HISTORY] = "along a history",
  };
  return name[kind];
}

const char *idm_clock_span(clock_kind kind)
{
  static const char *const span[CLOCK_KINDS] = {
      [CLOCK_ROW] = "between the first and the last row of a trajectory",
      [CLOCK_AGENT] = "between the first and the last trajectory of an agent",
      [CLOCK_LOG] = "between the first and the last trajectory of the log",
      [CLOCK_HISTORY] = "between the first and the last row of a history",
  };
  return span[kind];
}

const char *idm_clock_cure(clock_kind kind, bool people)
{
  if (kind == CLOCK_ROW || kind == CLOCK_HISTORY) return "fit early and late rows apart (--where)";
  return people ? "add a column that separates early from late trajectories (--model)"
                : "fit early and late trajectories apart (--where, or --each COLUMN)";
}
