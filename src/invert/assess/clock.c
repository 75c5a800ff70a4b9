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
  case CLOCK_PARITY:
    return q->step % 2;
  default:
    return q->depth;
  }
}

/* Bring time[question] into the range from -1/2 to 1/2; false where it is the same for all. */
static bool spread_out(const residual *r, double *time)
{
  double least = INFINITY, most = -INFINITY;
  for (size_t i = 0; i < r->questions; i++) {
    least = fmin(least, time[i]);
    most = fmax(most, time[i]);
  }
  if (!(most > least)) return false;
  for (size_t i = 0; i < r->questions; i++) time[i] = (time[i] - least) / (most - least) - 0.5;
  return true;
}

/* time[question]; false where it is the same for all. */
static bool read_clock(const residual *r, clock_kind kind, double *time)
{
  for (size_t i = 0; i < r->questions; i++) time[i] = reading(&r->question[i], kind);
  return spread_out(r, time);
}

/* time[question] of the square of a clock; false where it follows from the clock, which then has
 * two values. */
static bool square_clock(const residual *r, const double *clock, double *time)
{
  double n = 0, mean = 0, mean_square = 0, xx = 0, xy = 0, yy = 0;
  for (size_t i = 0; i < r->questions; i++) {
    n += r->question[i].asked;
    mean += r->question[i].asked * clock[i];
    mean_square += r->question[i].asked * clock[i] * clock[i];
  }
  mean /= n;
  mean_square /= n;
  for (size_t i = 0; i < r->questions; i++) {
    const double x = clock[i] - mean, y = clock[i] * clock[i] - mean_square;
    xx += r->question[i].asked * x * x;
    xy += r->question[i].asked * x * y;
    yy += r->question[i].asked * y * y;
  }
  for (size_t i = 0; i < r->questions; i++)
    time[i] = clock[i] * clock[i] - xy / xx * (clock[i] - mean);
  return yy - xy * xy / xx > 1e-6 * n && spread_out(r, time);
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

/* Keep the clock that was read last, unless it coincides with one before it. */
static void keep(clocks *c, const residual *r, clock_kind kind, bool moves)
{
  for (size_t i = 0; i < c->count && moves; i++)
    moves = !idm_clocks_coincide(r, c->time[c->count], c->time[i]);
  if (moves) c->kind[c->count++] = kind;
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
  for (int kind = 0; kind < CLOCK_ROW_TURN; kind++)
    keep(c, r, (clock_kind)kind, read_clock(r, (clock_kind)kind, c->time[c->count]));
  const size_t straight = c->count;
  for (size_t i = 0; i < straight; i++)
    keep(c, r, c->kind[i] + CLOCK_ROW_TURN, square_clock(r, c->time[i], c->time[c->count]));
  keep(c, r, CLOCK_PARITY, read_clock(r, CLOCK_PARITY, c->time[c->count]));
  return IDM_OK;
}

const char *idm_clock_name(clock_kind kind)
{
  static const char *const name[CLOCK_KINDS] = {
      [CLOCK_ROW] = "within trajectories",
      [CLOCK_AGENT] = "over an agent's trajectories",
      [CLOCK_LOG] = "over the log's trajectories",
      [CLOCK_HISTORY] = "along a history",
      [CLOCK_ROW_TURN] = "within trajectories and back",
      [CLOCK_AGENT_TURN] = "over an agent's trajectories and back",
      [CLOCK_LOG_TURN] = "over the log's trajectories and back",
      [CLOCK_HISTORY_TURN] = "along a history and back",
      [CLOCK_PARITY] = "by odd and even rows",
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
      [CLOCK_ROW_TURN] = "between the middle and both ends of a trajectory",
      [CLOCK_AGENT_TURN] = "between the middle and both ends of an agent's trajectories",
      [CLOCK_LOG_TURN] = "between the middle and both ends of the log",
      [CLOCK_HISTORY_TURN] = "between the middle and both ends of a history",
      [CLOCK_PARITY] = "between odd and even rows of a trajectory",
  };
  return span[kind];
}

const char *idm_clock_cure(clock_kind kind, bool people)
{
  if (kind == CLOCK_PARITY) return "fit odd and even rows apart (--where)";
  if (kind == CLOCK_ROW_TURN || kind == CLOCK_HISTORY_TURN)
    return "fit the rows of the middle apart (--where)";
  if (kind == CLOCK_ROW || kind == CLOCK_HISTORY) return "fit early and late rows apart (--where)";
  return people ? "add a column that separates early from late trajectories (--model)"
                : "fit early and late trajectories apart (--where, or --each COLUMN)";
}
