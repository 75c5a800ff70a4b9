/* Score tests of extensions of the model by one number.
 *
 * Contents: clock · past · extension · pool · refit */
#ifndef IDM_INVERT_ASSESS_EXTENSION_H
#define IDM_INVERT_ASSESS_EXTENSION_H

#include "base/record.h"
#include "invert/assess/residual.h"

/* === clock ================================================================================== */

/* Clocks: what a free number may drift over. A clock gives every question a time from -1/2 to 1/2.
 *
 * A number that comes back moves with the square of a clock, less its regression on the clock:
 * least between the ends, and without correlation with the drift from end to end.
 *
 * Those that differ for no decision, and those that nearly coincide with one before them, are left
 * out: a memory of trajectories has no history but the trajectory, the log of one agent is that
 * agent's, and the rows of a long history are in the order of its trajectories. */

typedef enum drift_kind {
  DRIFT_ROW,         /* row within a trajectory */
  DRIFT_AGENT,       /* trajectory among those of its agent */
  DRIFT_LOG,         /* trajectory among those of the log */
  DRIFT_HISTORY,     /* row within all that the agent remembers */
  DRIFT_ROW_SQUARED, /* the squares of these four */
  DRIFT_AGENT_SQUARED,
  DRIFT_LOG_SQUARED,
  DRIFT_HISTORY_SQUARED,
  DRIFT_PARITY, /* odd and even rows of a trajectory */
  DRIFT_KINDS
} drift_kind;

typedef struct drift_times {
  size_t count;
  drift_kind kind[DRIFT_KINDS];
  double *time[DRIFT_KINDS]; /* [question] */
} drift_times;

idm_status idm_drift_times_open(drift_times *c, const decision_residuals *r, idm_error *opt_error);
void idm_drift_times_close(drift_times *c);

/* "within trajectories": to follow "drift of X". */
const char *idm_drift_name(drift_kind kind);
/* "between the first and the last row of a trajectory". */
const char *idm_drift_span(drift_kind kind);
/* What to do about a drift: with which option. */
const char *idm_drift_cure(drift_kind kind, bool people);

/* === past =================================================================================== */

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
 * (residual.h), and are traces here of rewards alone. */

enum { MAX_SIGNALS = 9 };

typedef struct carryover_signal {
  int32_t observation; /* that is 1; IDM_MISSING: the signal is of rewards */
  double *last;        /* [question]: of the row before */
} carryover_signal;

typedef struct carryover {
  const decision_residuals *r;
  double gain; /* rewards above it are gains */
  size_t count;
  carryover_signal signal[MAX_SIGNALS];
} carryover;

typedef enum carryover_trace {
  TRACE_HABIT,  /* actions of the last rows, each weighing .7 of the one after it */
  TRACE_LAST,   /* the last action, by its own reward */
  TRACE_RETURN, /* the action before last, by its own reward */
  TRACE_CREDIT, /* actions by the signal of the row after theirs, weighing likewise */
  TRACE_KINDS
} carryover_trace;

/* idm_carryover_close accepts a past that was set to 0 or failed to open. */
idm_status idm_carryover_open(carryover *p, const decision_residuals *r, idm_error *opt_error);
void idm_carryover_close(carryover *p);
/* Whether a trace of a signal is one of those above; TRACE_HABIT is of signal 0 alone, which need
 * not exist. */
bool idm_carryover_has(const carryover *p, carryover_trace trace, size_t signal);
/* Its g: score[question][action]. */
void idm_carryover_trace(const carryover *p, carryover_trace trace, size_t signal, double *score);

/* "after a reward above 0": to follow the name of a number. */
void idm_carryover_signal_name(const carryover *p, size_t signal, char *text, size_t size);
/* "between choices after other rewards and after those above 0". */
void idm_carryover_span(const carryover *p, size_t signal, char *text, size_t size);
/* "actions, by the reward of the row after". */
void idm_carryover_trace_name(const carryover *p, carryover_trace trace, size_t signal, char *text,
                              size_t size);

/* === extension ============================================================================== */

/* Score tests of extensions of the model by one number.
 *
 * An extension lets a number move that the fit held (a lapse of 0, a prior weight of 1, a
 * discount), among these what a belief is worth by its entropy, or lets a free number drift: c + x
 * t, where t is the time of a clock, or of its square for a drift that comes back (clock, above),
 * or a signal of the row before (past, above), which is 1 or -1. Or a share x of choices is by a
 * memory that begins anew in every trajectory (residual.h), or the log odds of an action rise by x
 * times a trace of what was done before (past, above). With g(u|h) = d log pi(u|h) / dx, the
 * efficient score of a decision is
 *
 *     e(u|h) = g - E g - Cov(G, S) Var(S)^-1 s(u|h),
 *
 * where s are the scores of the free numbers (residual.h). The sum of e over the decisions has mean
 * 0 and variance I = sum E e^2 where the model is right, to first order whatever value the free
 * numbers have near the truth. One Newton step gives x = sum / I and a gain of sum^2 / (2 I) nats.
 *
 * g is a difference over a step that is not small. A lapse multiplies the probability p of an
 * unlikely action by 1 / (n p), so that the derivative at 0 has a variance that a few decisions
 * dominate; the difference over a step grows with log(1 / p) alone. e is centred under pi, so that
 * the test is valid for every g.
 *
 * The p of a score is by a saddlepoint approximation of the tail of its sum (base/statistics.h),
 * whose skewness and heavy tails, as those of a lapse, it has. Held numbers share one half of the
 * level, and the other kinds, of which there may be many, the other; each p is multiplied by the
 * number of its kind over that share.
 *
 * A score is right to first order alone, and a number far from where it is held has a small score
 * beside what it gains. So the score screens, at 10 %, and a fit with the number free decides: its
 * p is that of the likelihood ratio on one degree of freedom, multiplied likewise. The other kinds
 * cannot be fitted, and a population is not, since that takes as long as the answer itself did.
 *
 * What is recorded of all together is the largest statistic, each divided by its own 99 % quantile
 * over the replicates, which makes skewed and symmetric ones comparable. */

typedef enum extension_kind {
  EXTENSION_FIXED,        /* block `at` of theta is held */
  EXTENSION_DRIFT,        /* of free coordinate `at` over a clock */
  EXTENSION_MEMORY_RESET, /* a share of choices, held at 0, by a memory that begins anew
                             (residual.h) */
  EXTENSION_BELIEF,       /* what beliefs are worth: field `entropy`, the first, of block `at` */
  EXTENSION_SIGNAL,       /* of free coordinate `at` by a signal of the row before */
  EXTENSION_TRACE         /* of what was done before */
} extension_kind;

typedef struct extension {
  extension_kind kind;
  size_t at;
  drift_kind drift;      /* of a drift */
  carryover_trace trace; /* of a trace */
  size_t signal;         /* of a trace, or that a number differs by */
  idm_scale scale;       /* coordinate of a held number: identity, log, logit or inverse */
  double held;           /* value of that coordinate in the fit */
  double step;           /* of the difference; negative where only smaller values are allowed */
  bool boundary;         /* the number is held at the edge of its range: a one-sided test */
  double *score;         /* [question][action]: e */
  double information;    /* I */
  double *statistic;     /* [run]: sum^2 / I; 0 where the sum points out of the range */
  double sum;            /* of the answers taken last */
  double limit;          /* 99 % quantile of `statistic` */
  double value; /* estimate of the number, or of how far a free coordinate drifts or differs */
  double gain;  /* in nats */
  double p;     /* adjusted for the number of extensions */
} extension;

typedef struct extensions {
  const check_context *q;
  const decision_residuals *r;
  size_t runs;
  size_t count;
  extension *item;
  carryover carryover;
  double *probability; /* [question][action] */
  double *asked;       /* [question] */
} extensions;

/* Plan for every extension. Nothing is listed where the free numbers cannot be projected out. */
idm_status idm_extensions_open(extensions *x, const check_context *q, const decision_residuals *r,
                               size_t runs, idm_error *opt_error);
void idm_extensions_close(extensions *x);
/* The statistics of some answers. */
void idm_extensions_add_run(extensions *x, size_t run, const double *taken);
/* After all runs: largest[run], the largest ratio. work[runs] is scratch. */
void idm_extensions_normalise(extensions *x, double *largest, double *work);

/* After that: value, gain and p of all. Those whose score is significant at 10 %, three at most,
 * are fitted again with the number free, except in a population. *ret_p is the least p. */
idm_status idm_extensions_test(extensions *x, double *ret_p, idm_error *opt_error);
/* Its name in results, as of idm_score_test. */
void idm_extension_name(const extensions *x, const extension *e, char *text, size_t size);
/* Copy name, estimate and p of all to the results, which own the copies. */
idm_status idm_extensions_store(const extensions *x, idm_model_check *model, idm_error *opt_error);
/* ",alpha,beta": the free blocks, to follow another in an option. */
void idm_extensions_list_free(const idm_theta *theta, char *text, size_t size);
/* "lapse at about 0.28 (held at 0) would gain about 41 nats: --free lapse,alpha; ...": those whose
 * p is at most `level`, by gain. Returns how many they are. */
size_t idm_extensions_describe(const extensions *x, double level, char *text, size_t size);

/* === pool =================================================================================== */

/* Scores of extensions (extension.h) of several answers added up: what no answer shows alone.
 *
 * The sum over people of the efficient scores of one extension has mean 0 where the model is right,
 * and a variance that is the sum of theirs. That is to first order: a person's own error, of second
 * order, does not vanish over many people, as scores at the draw of highest density have it
 * (numbers predict the decisions that they are fitted to better than others), and those at draws
 * from a prior that people are not drawn from. So a person's score is the mean over a few draws,
 * and its sd over them, which is of the same order as that error, is added up too: a sum counts by
 * as much as it is larger.
 *
 * The tail of a sum is that of a shifted gamma distribution with its variance and skewness (Pearson
 * III), of which a lapse has much. As within an answer, held numbers and the others have one half
 * of the level each. */

/* What one extension, or a sum over several answers, has. */
typedef struct pool_score {
  uint32_t kind;  /* of extension_kind */
  uint32_t block; /* of a held number, or the coordinate */
  uint32_t drift;
  uint32_t trace;
  int32_t observation; /* of the signal; IDM_MISSING: rewards, or none */
  int32_t boundary;    /* 0: two-sided; 1 or -1: the side that is allowed */
  char name[128];
  double sum, variance, third_cumulant; /* of the sum of scores, its second and third cumulant */
  double spread;                        /* sd of the sum over draws; over people their sum */
} pool_score;

typedef struct pool {
  size_t count;
  pool_score *score;
} pool;

/* The scores of an answer with draws over its log. Empty where they cannot be planned for.
 * idm_pool_close accepts a pool that was set to 0. */
idm_status idm_pool_open(pool *p, const idm_problem *problem, const idm_data *data,
                         const idm_posterior *posterior, const idm_fit_monitor *opt_monitor,
                         idm_error *opt_error);
void idm_pool_close(pool *p);
/* Into a checkpoint or out of it; whether it fits. */
bool idm_pool_pass(pool *p, idm_record *record);
/* Add the scores of another answer. */
idm_status idm_pool_add(pool *to, const pool *from, idm_error *opt_error);

/* p of one of the scores, adjusted for their number; at most 1. */
double idm_pool_p(const pool *p, size_t i);
/* The least p; 1 where there is no score. */
double idm_pool_min_p(const pool *p);
/* "lapse (held at 0) would gain about 29 nats: --free lapse,alpha; ...": those whose p is at most
 * `level`, three at most: numbers that can be freed first, then by what one Newton step gains. */
void idm_pool_describe(const pool *p, const idm_theta *theta, double level, char *text,
                       size_t size);

/* === refit ================================================================================== */

/* The same fit with one more number free: what the number is then, and what it gains. */

typedef struct refit {
  double value;          /* of the number at the mode */
  double log_likelihood; /* there; -INFINITY where no plan was possible */
} refit;

/* Climb to the mode above the centre of the answer with the number at `from`, under the default
 * prior of its block. NULL: with no further number, since the best of the draws is below the mode.
 */
idm_status idm_refit(const check_context *q, const fixed_override *opt_from, refit *ret,
                     idm_error *opt_error);
/* The same, without a further number, but with a free block under its default scale and prior,
 * which does not end where the prior of the fit does. */
idm_status idm_refit_default_prior(const check_context *q, size_t block, refit *ret,
                                   idm_error *opt_error);

#endif
