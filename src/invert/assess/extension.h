/* Score tests of extensions of the model by one number (docs/method/verdict.md, 7).
 *
 * Contents: drift · carryover · extension · pool · refit */
#ifndef IDM_INVERT_ASSESS_EXTENSION_H
#define IDM_INVERT_ASSESS_EXTENSION_H

#include "base/record.h"
#include "invert/assess/residual.h"

/* === drift ================================================================================== */

/* Clocks: time variables over which a free number may drift. A clock assigns every decision point a
 * time from -1/2 to 1/2.
 *
 * A drift that returns is modelled by the square of a clock, less its regression on the clock:
 * smallest in the middle, and uncorrelated with the linear drift.
 *
 * A clock that is constant, or nearly collinear with an earlier one, is left out: if memory lasts
 * for a trajectory, the history is the trajectory; in the log of one agent, DRIFT_LOG equals
 * DRIFT_AGENT; and rows of a long history follow the order of its trajectories. */

typedef enum drift_kind {
  DRIFT_ROW,         /* row in the trajectory */
  DRIFT_AGENT,       /* trajectory of the agent */
  DRIFT_LOG,         /* trajectory of the log */
  DRIFT_HISTORY,     /* row of the history that the agent remembers */
  DRIFT_ROW_SQUARED, /* squares of the four clocks above */
  DRIFT_AGENT_SQUARED,
  DRIFT_LOG_SQUARED,
  DRIFT_HISTORY_SQUARED,
  DRIFT_PARITY, /* odd and even rows of a trajectory */
  DRIFT_KINDS
} drift_kind;

typedef struct drift_times {
  size_t count;
  drift_kind kind[DRIFT_KINDS];
  double *time[DRIFT_KINDS]; /* [decision_point] */
} drift_times;

idm_status idm_drift_times_open(drift_times *c, const decision_residuals *r, idm_error *opt_error);
void idm_drift_times_close(drift_times *c);

/* "within trajectories": follows "drift of X". */
const char *idm_drift_name(drift_kind kind);
/* "between the first and the last row of a trajectory": follows the size of a drift. */
const char *idm_drift_span(drift_kind kind);
/* The remedy for a drift, with the option to use; `people`: the fit is of people (--by). */
const char *idm_drift_cure(drift_kind kind, bool people);

/* === carryover ============================================================================== */

/* Effects of earlier rows on choices beyond the planner's memory.
 *
 * Signals are contrasts of the row before: 1 or -1, and 0 if there is no such row or it was not
 * recorded. If the behaviour remembers rewards, one signal is whether the last reward was a gain:
 * above 0 or, if all rewards have the same sign, above their mean. If there are two observations,
 * one signal is which of them occurred; with up to 8, each of them is contrasted with the others.
 * The extension lets a free number differ by a signal. A signal nearly collinear with an earlier
 * one is left out, such as wins and the observation of a win.
 *
 * Traces raise the log odds of actions by what was done in earlier rows. Repetition by observation,
 * and return to the action before last by the observation after it, are tested as cells
 * (residual.h); here they are traces of rewards only. */

enum { MAX_SIGNALS = 9 };

typedef struct carryover_signal {
  int32_t observation; /* the observation coded 1; IDM_MISSING: the signal is of rewards */
  double *last;        /* [decision_point]: of the row before */
} carryover_signal;

typedef struct carryover {
  const decision_residuals *r;
  double gain; /* rewards above it are gains */
  size_t count;
  carryover_signal signal[MAX_SIGNALS];
} carryover;

typedef enum carryover_trace {
  TRACE_HABIT,  /* actions of earlier rows, weights decaying by .7 per row */
  TRACE_LAST,   /* the last action, signed by its reward */
  TRACE_RETURN, /* the action before last, signed by its reward */
  TRACE_CREDIT, /* actions of earlier rows, signed by the signal of the row after each, with the
                   same decay */
  TRACE_KINDS
} carryover_trace;

/* idm_carryover_close accepts a carryover that was zeroed or failed to open. */
idm_status idm_carryover_open(carryover *p, const decision_residuals *r, idm_error *opt_error);
void idm_carryover_close(carryover *p);
/* Whether the combination of a trace and a signal is tested; TRACE_HABIT uses no signal and is
 * tested with index 0 alone, even if there is no signal 0. */
bool idm_carryover_has(const carryover *p, carryover_trace trace, size_t signal);
/* Compute g of the trace: score[decision_point][action]. */
void idm_carryover_trace(const carryover *p, carryover_trace trace, size_t signal, double *score);

/* "after a reward above 0": follows the name of a number. */
void idm_carryover_signal_name(const carryover *p, size_t signal, char *text, size_t size);
/* "between choices after other rewards and after those above 0". */
void idm_carryover_span(const carryover *p, size_t signal, char *text, size_t size);
/* "actions, by the reward of the row after". */
void idm_carryover_trace_name(const carryover *p, carryover_trace trace, size_t signal, char *text,
                              size_t size);

/* === extension ============================================================================== */

/* Score tests of extensions of the model by one number (docs/method/verdict.md, 7).
 *
 * An extension frees a number that the fit held (a lapse of 0, a prior weight of 1, a discount),
 * among these the weight of the entropy of a belief in its utility, or lets a free number vary as c
 * + x t, where t is a clock, its square for a drift that returns (clock, above), or a signal of the
 * row before, 1 or -1 (carryover, above). Or a share x of choices is made with a memory that is
 * reset at the start of every trajectory (residual.h), or the log odds of an action increase by x
 * times a trace of earlier actions (carryover, above). With g(u|h) = d log pi(u|h) / dx, the
 * efficient score of a decision is
 *
 *     e(u|h) = g - E g - Cov(G, S) Var(S)^-1 s(u|h),
 *
 * where s are the scores of the free numbers (residual.h). If the model is right, the sum of e over
 * the decisions has mean 0 and variance I = sum E e^2, to first order for all values of the free
 * numbers near the truth. One Newton step gives x = sum / I and a gain of sum^2 / (2 I) nats.
 *
 * g is a difference over a finite step. A lapse multiplies the probability p of an unlikely action
 * by 1 / (n p), so the variance of the derivative at 0 is dominated by a few decisions; the
 * difference over a step grows only with log(1 / p). e is centred under pi, so the test is valid
 * for every g.
 *
 * The p of a score is a saddlepoint approximation of the tail of its sum (base/statistics.h), which
 * accounts for the skewness and heavy tails of scores such as that of a lapse. Extensions of held
 * numbers share one half of the level; the other kinds, of which there may be many, share the other
 * half. Each p is multiplied by the number of extensions of its kind over that share.
 *
 * A score is accurate to first order only: a number far from its held value can have a small score
 * although freeing it gains much. The score therefore screens, at 10 %, and a fit with the number
 * free decides: its p is that of the likelihood ratio with one degree of freedom, multiplied
 * likewise. The other kinds cannot be fitted, and a population is not refitted, since that takes as
 * long as the fit itself.
 *
 * The statistic recorded for all extensions together is the largest ratio of a statistic to its 99
 * % quantile over the replicates, which makes skewed and symmetric statistics comparable. */

typedef enum extension_kind {
  EXTENSION_FIXED,        /* block `at` of theta, which is held */
  EXTENSION_DRIFT,        /* of free coordinate `at` over a clock */
  EXTENSION_MEMORY_RESET, /* share of choices with a memory reset per trajectory, held at 0
                             (residual.h) */
  EXTENSION_BELIEF, /* weight of beliefs in the utility: field `entropy`, the first, of block `at`
                     */
  EXTENSION_SIGNAL, /* of free coordinate `at` between values of a signal of the row before */
  EXTENSION_TRACE   /* trace of earlier actions in the log odds */
} extension_kind;

typedef struct extension {
  extension_kind kind;
  size_t at;
  drift_kind drift;      /* clock of a drift */
  carryover_trace trace; /* of a trace */
  size_t signal;         /* index of the signal, of a trace or of EXTENSION_SIGNAL */
  idm_scale scale;       /* scale of a held number: identity, log, logit or inverse */
  double held;           /* value on that scale in the fit */
  double step;           /* of the difference; negative if only smaller values are allowed */
  bool boundary;         /* the number is held at the edge of its range: a one-sided test */
  double *score;         /* [decision_point][action]: e */
  double information;    /* I */
  double *statistic;     /* [run]: sum^2 / I; 0 if the sum points out of the range */
  double sum;            /* of the actions evaluated last */
  double limit;          /* 99 % quantile of `statistic` */
  double value;          /* estimate of the number, or of the change of a free coordinate */
  double gain;           /* in nats */
  double p;              /* adjusted for the number of extensions */
} extension;

typedef struct extensions {
  const check_context *q;
  const decision_residuals *r;
  size_t runs;
  size_t count;
  extension *item;
  carryover carryover;
  double *probability; /* [decision_point][action] */
  double *decisions;   /* [decision_point] */
} extensions;

/* Compute the scores of all extensions. The list is empty if the scores of the free numbers are not
 * available. */
idm_status idm_extensions_open(extensions *x, const check_context *q, const decision_residuals *r,
                               size_t runs, idm_error *opt_error);
void idm_extensions_close(extensions *x);
/* Store the statistics of one set of actions, taken[decision_point][action], as run `run`. */
void idm_extensions_add_run(extensions *x, size_t run, const double *taken);
/* After all runs: store the largest ratio of each run in largest[run]. work[runs] is scratch. */
void idm_extensions_normalise(extensions *x, double *largest, double *work);

/* After idm_extensions_normalise: compute value, gain and p of all. Extensions with a score
 * significant at 10 %, at most three, are refitted with the number free, except in a population.
 * *ret_p is the least p. */
idm_status idm_extensions_test(extensions *x, double *ret_p, idm_error *opt_error);
/* Print the name as in idm_score_test. */
void idm_extension_name(const extensions *x, const extension *e, char *text, size_t size);
/* Copy name, estimate and p of all extensions to the results, which own the copies. */
idm_status idm_extensions_store(const extensions *x, idm_model_check *model, idm_error *opt_error);
/* Print ",alpha,beta": the free blocks, to follow another in an option. */
void idm_extensions_list_free(const idm_theta *theta, char *text, size_t size);
/* Print "lapse at about 0.28 (held at 0) would gain about 41 nats: --free lapse,alpha; ...": the
 * extensions with p <= `level`, in order of gain. Returns their number. */
size_t idm_extensions_describe(const extensions *x, double level, char *text, size_t size);

/* === pool =================================================================================== */

/* Sums over people of scores of extensions (above): evidence that no single answer shows.
 *
 * If the model is right, the sum over people of the efficient scores of one extension has mean 0
 * and a variance that is the sum of theirs, to first order. A second-order error of each person
 * does not average out over many people: scores at the draw of highest density have it (numbers
 * predict the decisions that they are fitted to better than others), and so do scores at draws from
 * a prior that differs from the distribution of people. The score of a person is therefore the mean
 * over a few draws, and its sd over them, which is of the order of that error, is summed too: only
 * the excess of a sum over the summed sds counts.
 *
 * The tail of a sum is that of a shifted gamma distribution with its variance and skewness (Pearson
 * III); the score of a lapse is skewed. As within an answer, held numbers and the others have one
 * half of the level each. */

/* Score of one extension, or its sum over several answers. */
typedef struct pool_score {
  uint32_t kind;  /* an extension_kind */
  uint32_t block; /* block of a held number, or coordinate */
  uint32_t drift;
  uint32_t trace;
  int32_t observation; /* of the signal; IDM_MISSING: rewards, or no signal */
  int32_t boundary;    /* 0: two-sided; 1 or -1: the allowed side */
  char name[128];
  double sum, variance, third_cumulant; /* sum of scores, and its second and third cumulants */
  double spread;                        /* sd of the sum over draws; summed over people */
} pool_score;

typedef struct pool {
  size_t count;
  pool_score *score;
} pool;

/* Compute the scores of an answer with draws, over its log. The pool is empty if planning at the
 * draws fails. idm_pool_close accepts a zeroed pool. */
idm_status idm_pool_open(pool *p, const idm_problem *problem, const idm_data *data,
                         const idm_posterior *posterior, const idm_fit_monitor *opt_monitor,
                         idm_error *opt_error);
void idm_pool_close(pool *p);
/* Write to, or read from, a checkpoint; returns false if the record does not fit. */
bool idm_pool_pass(pool *p, idm_record *record);
/* Add the scores of another answer. */
idm_status idm_pool_add(pool *to, const pool *from, idm_error *opt_error);

/* p of score i, adjusted for the number of scores; at most 1. */
double idm_pool_p(const pool *p, size_t i);
/* The least p; 1 if there are no scores. */
double idm_pool_min_p(const pool *p);
/* Print "lapse (held at 0) would gain about 29 nats: --free lapse,alpha; ...": at most three scores
 * with p <= `level`, first numbers that can be freed, then by the gain of one Newton step. */
void idm_pool_describe(const pool *p, const idm_theta *theta, double level, char *text,
                       size_t size);

/* === refit ================================================================================== */

/* Refits with one more number free: its estimate and the gain in log-likelihood. */

typedef struct refit {
  double value;          /* estimate of the number at the mode */
  double log_likelihood; /* at the mode; -INFINITY if planning failed */
} refit;

/* Find the mode by a search from the centre of the answer with the number at `opt_from`, under the
 * default prior of its block. NULL: with no additional number; the mode can be above the best of
 * the draws. */
idm_status idm_refit(const check_context *q, const fixed_override *opt_from, refit *ret,
                     idm_error *opt_error);
/* The same without an additional number, but with a free block under its default scale and prior,
 * whose range is not limited by the prior of the fit. */
idm_status idm_refit_default_prior(const check_context *q, size_t block, refit *ret,
                                   idm_error *opt_error);

#endif
