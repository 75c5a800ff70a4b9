/* What choices may carry over from the rows before, beyond what the planner remembers.
 *
 * Signals: contrasts of the row before, 1 or -1, and 0 where there is none or it was not recorded.
 * Where the behaviour remembers rewards, one is whether the last reward was a gain: above 0 or,
 * where no two rewards have different signs, above their mean. One is, of two observations, which
 * of them was seen, and of up to 8 each of them against the others. A free number may differ by a
 * signal. Those that nearly coincide with one before them are left out, as wins and the observation
 * of a win.
 *
 * Traces: which action is the likelier for what was done in the rows before. Stays after each
 * observation, and returns to the action before last by what was seen after it, are tested as cells
 * (predictive.h), and are traces here of rewards alone. */
#ifndef IDM_INVERT_ASSESS_PAST_H
#define IDM_INVERT_ASSESS_PAST_H

#include "invert/assess/residual.h"

enum { MOST_SIGNALS = 9 };

typedef struct past_signal {
  int32_t observation; /* that is 1; IDM_MISSING: the signal is of rewards */
  double *last;        /* [question]: of the row before */
} past_signal;

typedef struct past {
  const residual *r;
  double gain; /* rewards above it are gains */
  size_t count;
  past_signal signal[MOST_SIGNALS];
} past;

typedef enum past_trace {
  TRACE_HABIT,  /* actions of the last rows, each weighing .7 of the one after it */
  TRACE_LAST,   /* the last action, by its own reward */
  TRACE_RETURN, /* the action before last, by its own reward */
  TRACE_CREDIT, /* actions by the signal of the row after theirs, weighing likewise */
  TRACE_KINDS
} past_trace;

/* idm_past_close accepts a past that was set to 0 or failed to open. */
idm_status idm_past_open(past *p, const residual *r, idm_error *opt_error);
void idm_past_close(past *p);
/* Whether a trace of a signal is one of those above; TRACE_HABIT is of signal 0 alone, which need
 * not exist. */
bool idm_past_has(const past *p, past_trace trace, size_t signal);
/* Its g: score[question][action]. */
void idm_past_trace(const past *p, past_trace trace, size_t signal, double *score);

/* "after a reward above 0": to follow the name of a number. */
void idm_past_name_signal(const past *p, size_t signal, char *text, size_t size);
/* "between choices after other rewards and after those above 0". */
void idm_past_span(const past *p, size_t signal, char *text, size_t size);
/* "actions, by the reward of the row after". */
void idm_past_name_trace(const past *p, past_trace trace, size_t signal, char *text, size_t size);

#endif
