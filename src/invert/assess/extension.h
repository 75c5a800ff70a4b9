/* Score tests of extensions of the model by one number.
 *
 * An extension lets a number move that the fit held (a lapse of 0, a prior weight of 1, a
 * discount), among these what a belief is worth by its entropy, or lets a free number drift: c + x
 * t, where t is the time of a clock, or of its square for a drift that comes back (clock.h), or a
 * signal of the row before (past.h), which is 1 or -1. Or a share x of choices is by a memory that
 * begins anew in every trajectory (anew.h), or the log odds of an action rise by x times a trace of
 * what was done before (past.h). With g(u|h) = d log pi(u|h) / dx, the efficient score of a
 * decision is
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
 * The p of a score is by a saddlepoint approximation of the tail of its sum (base/saddlepoint.h),
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
#ifndef IDM_INVERT_ASSESS_EXTENSION_H
#define IDM_INVERT_ASSESS_EXTENSION_H

#include "invert/assess/clock.h"
#include "invert/assess/past.h"
#include "invert/assess/view.h"

typedef enum extension_kind {
  EXTENSION_HELD,   /* block `at` of theta is held */
  EXTENSION_DRIFT,  /* of free coordinate `at` over a clock */
  EXTENSION_ANEW,   /* a share of choices, held at 0, by a memory that begins anew (anew.h) */
  EXTENSION_BELIEF, /* what beliefs are worth: field `entropy`, the first, of block `at` */
  EXTENSION_AFTER,  /* of free coordinate `at` by a signal of the row before */
  EXTENSION_TRACE   /* of what was done before */
} extension_kind;

typedef struct extension {
  extension_kind kind;
  size_t at;
  clock_kind clock;   /* of a drift */
  past_trace trace;   /* of a trace */
  size_t signal;      /* of a trace, or that a number differs by */
  idm_scale scale;    /* coordinate of a held number: identity, log, logit or inverse */
  double held;        /* value of that coordinate in the fit */
  double step;        /* of the difference; negative where only smaller values are allowed */
  bool edge;          /* the number is held at the edge of its range: a one-sided test */
  double *score;      /* [question][action]: e */
  double information; /* I */
  double *statistic;  /* [run]: sum^2 / I; 0 where the sum points out of the range */
  double sum;         /* of the answers taken last */
  double limit;       /* 99 % quantile of `statistic` */
  double value; /* estimate of the number, or of how far a free coordinate drifts or differs */
  double gain;  /* in nats */
  double p;     /* adjusted for the number of extensions */
} extension;

typedef struct extensions {
  const inquiry *q;
  const residual *r;
  size_t runs;
  size_t count;
  extension *item;
  past past;
  double *probability; /* [question][action] */
  double *asked;       /* [question] */
} extensions;

/* Plan for every extension. Nothing is listed where the free numbers cannot be projected out. */
idm_status idm_extensions_open(extensions *x, const inquiry *q, const residual *r, size_t runs,
                               idm_error *opt_error);
void idm_extensions_close(extensions *x);
/* The statistics of some answers. */
void idm_extensions_take(extensions *x, size_t run, const double *taken);
/* After all runs: largest[run], the largest ratio. work[runs] is scratch. */
void idm_extensions_compare(extensions *x, double *largest, double *work);

/* After that: value, gain and p of all. Those whose score is significant at 10 %, three at most,
 * are fitted again with the number free, except in a population. *ret_p is the least p. */
idm_status idm_extensions_confirm(extensions *x, double *ret_p, idm_error *opt_error);
/* Its name in results, as of idm_extended. */
void idm_extension_name(const extensions *x, const extension *e, char *text, size_t size);
/* Copy name, estimate and p of all to the results, which own the copies. */
idm_status idm_extensions_store(const extensions *x, idm_model_check *model, idm_error *opt_error);
/* ",alpha,beta": the free blocks, to follow another in an option. */
void idm_extensions_list_free(const idm_theta *theta, char *text, size_t size);
/* "lapse at about 0.28 (held at 0) would gain about 41 nats: --free lapse,alpha; ...": those whose
 * p is at most `level`, by gain. Returns how many they are. */
size_t idm_extensions_describe(const extensions *x, double level, char *text, size_t size);

#endif
