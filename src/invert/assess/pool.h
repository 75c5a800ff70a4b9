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
#ifndef IDM_INVERT_ASSESS_POOL_H
#define IDM_INVERT_ASSESS_POOL_H

#include "base/record.h"
#include "invert/assess/extension.h"

/* What one extension, or a sum over several answers, has. */
typedef struct pool_score {
  uint32_t kind;  /* of extension_kind */
  uint32_t block; /* of a held number, or the coordinate */
  uint32_t clock;
  uint32_t trace;
  int32_t observation; /* of the signal; IDM_MISSING: rewards, or none */
  int32_t edge;        /* 0: two-sided; 1 or -1: the side that is allowed */
  char name[128];
  double sum, variance, third; /* of the sum of scores, its second and third cumulant */
  double spread;               /* sd of the sum over draws; over people their sum */
} pool_score;

typedef struct pool {
  size_t count;
  pool_score *score;
} pool;

/* The scores of an answer with draws over its log. Empty where they cannot be planned for.
 * idm_pool_close accepts a pool that was set to 0. */
idm_status idm_pool_open(pool *p, const idm_problem *problem, const idm_data *data,
                         const idm_posterior *posterior, const idm_fit_watch *opt_watch,
                         idm_error *opt_error);
void idm_pool_close(pool *p);
/* Into a checkpoint or out of it; whether it fits. */
bool idm_pool_pass(pool *p, idm_record *record);
/* Add the scores of another answer. */
idm_status idm_pool_add(pool *to, const pool *from, idm_error *opt_error);

/* p of one of the scores, adjusted for their number; at most 1. */
double idm_pool_p(const pool *p, size_t i);
/* The least p; 1 where there is no score. */
double idm_pool_least(const pool *p);
/* "lapse (held at 0) would gain about 29 nats: --free lapse,alpha; ...": those whose p is at most
 * `level`, three at most: numbers that can be freed first, then by what one Newton step gains. */
void idm_pool_describe(const pool *p, const idm_theta *theta, double level, char *text,
                       size_t size);

#endif
