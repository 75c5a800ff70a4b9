/* Habit and slips: what the moment of choice makes of a policy, unplanned for.
 *
 * Among the n open actions q(u) ~ pi(u) exp(perseverance 1{u = last}), last the action that the
 * trajectory had before; then p(u) = (1 - lapse) q(u) + lapse / n. Where pi forbids all that is
 * open, q is 1/n. */
#ifndef IDM_PLAN_HABIT_H
#define IDM_PLAN_HABIT_H

#include <math.h>

#include "idm/theta.h"

typedef struct habit {
  double perseverance;
  double lapse;
} habit;

static inline habit idm_habit_of(const idm_theta *theta)
{
  return (habit){theta->block[IDM_PERSEVERANCE].value[0], theta->block[IDM_LAPSE].value[0]};
}

/* Whether a choice is other than its policy. */
static inline bool idm_habit_acts(habit h)
{
  return h.perseverance != 0 || h.lapse != 0;
}

/* Whether what was done last may matter: it does, or a derivative is asked for. */
static inline bool idm_habit_remembers(const idm_theta *theta)
{
  const idm_block *block = &theta->block[IDM_PERSEVERANCE];
  return block->value[0] != 0 || block->role == IDM_DESCRIPTIVE;
}

/* What pi(u) is multiplied by, up to a factor common to all; at most 1. */
static inline double idm_habit_factor(habit h, int last, size_t u)
{
  const double excess = last == (int)u ? fmin(h.perseverance, 0) : fmin(-h.perseverance, 0);
  return last < 0 || h.perseverance == 0 ? 1 : exp(excess);
}

/* p(u) of q(u), and the same of logarithms. */
static inline double idm_habit_slip(habit h, double q, double open)
{
  return h.lapse != 0 ? (1 - h.lapse) * q + h.lapse / open : q;
}
static inline double idm_habit_log_slip(habit h, double log_q, double open)
{
  return h.lapse != 0 ? log(idm_habit_slip(h, exp(log_q), open)) : log_q;
}

/* q of pi, [actions], 0 where closed (NULL: all are open); false where too little is left of pi to
 * tell. *open: how many are. */
bool idm_habit_tilt(habit h, size_t actions, const double *pi, const bool *opt_open, int last,
                    double *q, double *open);
/* log q of log pi, which may be the same array; false where all that is open is forbidden. */
bool idm_habit_tilt_logs(habit h, size_t actions, const double *log_pi, const bool *opt_open,
                         int last, double *log_q, double *open);

/* Both q and log q of log pi, where one of them at least is not forbidden. */
void idm_habit_tilt_both(habit h, size_t actions, const double *log_pi, const bool *opt_open,
                         int last, double *q, double *log_q, double *open);

/* Slopes with respect to perseverance and lapse. */
typedef struct habit_slope {
  double perseverance;
  double lapse;
} habit_slope;
/* What `slope` by log p(u) is by log pi, to be added to to[actions], and by both numbers; q as
 * above. */
void idm_habit_recall(habit h, size_t actions, const double *q, double open, int last, size_t u,
                      double slope, double *to, habit_slope *both);

#endif
