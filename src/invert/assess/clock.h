/* Clocks: what a free number may drift over. A clock gives every question a time from -1/2 to 1/2.
 *
 * A number that comes back moves with the square of a clock, less its regression on the clock:
 * least between the ends, and without correlation with the drift from end to end.
 *
 * Those that differ for no decision, and those that nearly coincide with one before them, are left
 * out: a memory of trajectories has no history but the trajectory, the log of one agent is that
 * agent's, and the rows of a long history are in the order of its trajectories. */
#ifndef IDM_INVERT_ASSESS_CLOCK_H
#define IDM_INVERT_ASSESS_CLOCK_H

#include "invert/assess/residual.h"

typedef enum clock_kind {
  CLOCK_ROW,      /* row within a trajectory */
  CLOCK_AGENT,    /* trajectory among those of its agent */
  CLOCK_LOG,      /* trajectory among those of the log */
  CLOCK_HISTORY,  /* row within all that the agent remembers */
  CLOCK_ROW_TURN, /* the squares of these four */
  CLOCK_AGENT_TURN,
  CLOCK_LOG_TURN,
  CLOCK_HISTORY_TURN,
  CLOCK_PARITY, /* odd and even rows of a trajectory */
  CLOCK_KINDS
} clock_kind;

typedef struct clocks {
  size_t count;
  clock_kind kind[CLOCK_KINDS];
  double *time[CLOCK_KINDS]; /* [question] */
} clocks;

idm_status idm_clocks_open(clocks *c, const residual *r, idm_error *opt_error);
void idm_clocks_close(clocks *c);
/* Whether two functions x[question], y[question] have a squared correlation above .9. */
bool idm_clocks_coincide(const residual *r, const double *x, const double *y);

/* "within trajectories": to follow "drift of X". */
const char *idm_clock_name(clock_kind kind);
/* "between the first and the last row of a trajectory". */
const char *idm_clock_span(clock_kind kind);
/* What to do about a drift: with which option. */
const char *idm_clock_cure(clock_kind kind, bool people);

#endif
