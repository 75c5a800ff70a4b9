/* Modes of the posterior of dynamics: which ends of a search are modes of their own, and the
 * evidence of each. */
#ifndef IDM_LEARN_MODES_H
#define IDM_LEARN_MODES_H

#include "learn/iohmm.h"

/* The most modes that are kept. */
enum { MODES_MOST = 8 };

/* Log evidence of a mode by Cheeseman and Stutz (1996), up to a constant of the log. p->counts then
 * holds the expected counts, gathered. */
double modes_evidence(pass *p, double prior, const idm_dynamics *mode);
/* Nats by which dynamics `other` describe the counts of complete data worse than `numbers` do. */
double modes_apart(const structure *s, const double *counts, const double *numbers,
                   const double *other);
/* The modes among the ends of a search. end[0], the best, is the first of them and has the order of
 * states that the others are given. */
idm_status modes_find(const idm_iohmm *learner, double prior, const idm_dynamics *const *end,
                      size_t ends, idm_modes *modes, idm_error *opt_error);
void modes_clear(idm_modes *modes);
/* The mode at which a chain starts: those of at least 1 % of the evidence take turns. */
size_t modes_start(const idm_modes *modes, size_t chain);

#endif
