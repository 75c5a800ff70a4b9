/* Decisions against what the answer expected of them, one step ahead.
 *
 * Along the recorded histories h_t the differences 1{u_t = u} - pi(u|h_t) are martingale
 * differences whatever the environment does: each is known to have mean 0 given all that was
 * recorded before it. So a sum of them over any set of decisions that is picked by the past alone
 * (a step, an agent, what was seen before) has mean 0 and a variance that is the sum of what pi
 * says, and no environment needs to be known or simulated (which an observation that was recorded
 * would have to be conditioned on anyhow). Lengths of trajectories are such sums too: of the
 * actions that end them.
 *
 * The answer was fitted to the same decisions, which makes residuals R smaller than that. They are
 * therefore looked at after taking out what the scores S = sum of d log pi(u_t|h_t) / dy explain,
 *
 *     R - Cov(R, S) Var(S)^-1 S,   of variance   Var(R) - Cov(R, S) Var(S)^-1 Cov(S, R),
 *
 * Neyman's C(alpha) residuals: to first order they are the same at every y near the truth, so that
 * neither the prior nor the choice of the answer's centre makes an alarm. What is to be expected of
 * a statistic of them is drawn: every decision anew from pi along the recorded histories, and the
 * same taken out. Small counts are thus dealt with as they are.
 *
 * In a population the scores are those of a shift of everybody's numbers. At a posterior draw of
 * all people residuals need no correction (strata.h), and what is taken out makes the tests
 * sharper. Scores are not taken out person by person: histories depend on the decisions, and so
 * does Var(S) of a person, so that Cov(R, S) Var(S)^-1 S has a mean other than 0, which adds up
 * over people. */
#ifndef IDM_INVERT_ASSESS_RESIDUAL_H
#define IDM_INVERT_ASSESS_RESIDUAL_H

#include "invert/assess/strata.h"

/* A question: what to do after a history, asked of one agent at one moment. Every row with a
 * recorded action of which more than one was open is an answer to one. */
typedef struct question {
  uint32_t stratum;
  uint32_t node;   /* of all strata (strata.h): a row that answers it */
  uint32_t parent; /* node of the history */
  uint32_t depth;  /* nodes above it */
  uint32_t available;
  uint32_t agent;
  int32_t previous; /* action of the row before; IDM_MISSING: none, or not recorded */
  int32_t seen;     /* what was seen after that; IDM_MISSING: the same */
  int32_t earlier;  /* the same of the row before that: action, */
  int32_t shown;    /* and what was seen after it */
  uint32_t variant; /* of the setting, as columns of the log have it */
  uint32_t step;    /* rows of the trajectory before it */
  moment when;      /* of the trajectory */
  uint32_t asked;   /* how often */
} question;

typedef struct residual {
  bool seen; /* the answer's centre can be planned for; else there is nothing else here */
  const strata *strata; /* those of the inquiry, or `whole` */
  strata whole;
  const idm_setting *setting;
  size_t actions;
  size_t observations;
  size_t dimension; /* 0 where the free numbers are too many, have no names, or do not come from the
                       likelihood of the decisions */
  size_t questions;
  question *question;
  double *taken;         /* [question][action]: how often each was the answer */
  double *probability;   /* [node][action] at the answer's centre */
  double *slope;         /* [node][action][dimension]: d log pi / dy */
  double *information;   /* [dimension][dimension]: Var(S) */
  double *inverse;       /* [dimension][dimension]: its (generalised) inverse */
  double log_likelihood; /* of the decisions there */
} residual;

/* Look at the decisions at the centre of the strata. The residual must not be copied.
 * idm_residual_close frees what is there. */
idm_status idm_residual_open(residual *r, const inquiry *q, idm_error *opt_error);
void idm_residual_close(residual *r);

static inline const double *idm_residual_probability(const residual *r, const question *q)
{
  return r->probability + q->node * r->actions;
}
/* The score of one decision, had `action` been taken: [dimension]. */
static inline const double *idm_residual_score(const residual *r, const question *q, size_t action)
{
  return r->slope + (q->node * r->actions + action) * r->dimension;
}

/* Add what a question tells about the free numbers: Var of its scores, [dimension][dimension]. */
void idm_residual_inform(const residual *r, const question *q, double *information);
/* x' Var(S)^-1 x. */
double idm_residual_length(const residual *r, const double *x);
/* Draw every decision anew: taken[question][action]. */
void idm_residual_draw(const residual *r, idm_random *random, double *taken);
/* Var(S)^-1 S of such answers: shift[dimension]. */
void idm_residual_shift(const residual *r, const double *taken, double *shift);

#endif
