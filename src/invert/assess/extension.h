/* Score tests of extensions of the model by one number.
 *
 * An extension lets a number move that the fit held (a lapse of 0, a prior weight of 1, a
 * discount), or lets a free number drift: c + x t, where t runs from the first to the last row of a
 * history. With g(u|h) = d log pi(u|h) / dx, the efficient score of a decision is
 *
 *     e(u|h) = g - E g - Cov(G, S) Var(S)^-1 s(u|h),
 *
 * where s are the scores of the free numbers (residual.h). The sum of e over the decisions has mean
 * 0 and variance I = sum E e^2 where the model is right, to first order whatever value the free
 * numbers have near the truth. One Newton step gives x = sum / I and a gain of sum^2 / (2 I) nats;
 * where it is significant, a fit with the number free gives both (refit.h).
 *
 * g is a difference over a step that is not small. A lapse multiplies the probability p of an
 * unlikely action by 1 / (n p), so that the derivative at 0 has a variance that a few decisions
 * dominate; the difference over a step grows with log(1 / p) alone. e is centred under pi, so that
 * the test is valid for every g.
 *
 * Each statistic is divided by its own 99 % quantile over the replicates, which makes skewed and
 * symmetric ones comparable. The test is of the largest ratio, and an extension is significant
 * where its own ratio is beyond the largest ratios of the replicates (Westfall and Young 1993). */
#ifndef IDM_INVERT_ASSESS_EXTENSION_H
#define IDM_INVERT_ASSESS_EXTENSION_H

#include "invert/assess/residual.h"
#include "invert/assess/view.h"

typedef struct extension {
  bool drift; /* of free coordinate `at`; else `at` is a block of theta */
  size_t at;
  idm_scale scale;    /* coordinate of a held number: identity, log, logit or inverse */
  double held;        /* value of that coordinate in the fit */
  double step;        /* of the difference; negative where only smaller values are allowed */
  bool edge;          /* the number is held at the edge of its range: a one-sided test */
  double *score;      /* [question][action]: e */
  double information; /* I */
  double *statistic;  /* [run]: sum^2 / I; 0 where the sum points out of the range */
  double sum;         /* of the answers taken last */
  double limit;       /* 99 % quantile of `statistic` */
  double value;       /* estimate of the number, or of how far a free coordinate drifts */
  double gain;        /* in nats */
  bool refuted;
} extension;

typedef struct extensions {
  const inquiry *q;
  const residual *r;
  size_t runs;
  size_t count;
  extension *item;
} extensions;

/* Plan for every extension. Nothing is listed where the free numbers cannot be projected out. */
idm_status idm_extensions_open(extensions *x, const inquiry *q, const residual *r, size_t runs,
                               idm_error *opt_error);
void idm_extensions_close(extensions *x);
/* The statistics of some answers. */
void idm_extensions_take(extensions *x, size_t run, const double *taken);
/* After all runs: largest[run], the largest ratio. work[runs] is scratch. */
void idm_extensions_compare(extensions *x, double *largest, double *work);

/* Fit again with each held number free whose p is at most `level`, a few of largest gain: its value
 * and gain are then those of the fit. It is refuted where its likelihood ratio is not significant:
 * a score is right to first order alone, which few decisions, or numbers at the end of their range,
 * may not be enough for. A drift cannot be refitted. */
idm_status idm_extensions_confirm(extensions *x, const double *largest, double level,
                                  idm_error *opt_error);
/* Share of the runs whose largest ratio is at least that of an extension in run 0. */
double idm_extension_p(const extensions *x, const extension *e, const double *largest);
/* Copy name, estimate and p of all to the results, which own the copies. */
idm_status idm_extensions_store(const extensions *x, const double *largest, idm_model_check *model,
                                idm_error *opt_error);
/* "lapse at about 0.28 (held at 0) would gain about 41 nats: --free lapse,alpha; ...": those whose
 * p is at most `level` and that are not refuted, by gain. Returns how many they are. */
size_t idm_extensions_describe(const extensions *x, const double *largest, double level, char *text,
                               size_t size);

#endif
