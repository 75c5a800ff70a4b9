/* A textbook input-output hidden Markov model: one trajectory at a time, no tree, no scaling,
 * forward-backward recursions in logarithms. */
#ifndef IDM_TESTS_LEARN_TEXTBOOK_SUPPORT_H
#define IDM_TESTS_LEARN_TEXTBOOK_SUPPORT_H

#include "learn/iohmm.h"

/* Log-likelihood of the log, and expected counts of starts, transitions and observations, laid out
 * as the dynamics (optional). Trajectories with their own start belief add none to the starts. */
double textbook_expect(const idm_data *data, const idm_dynamics *d, bool emits_before,
                       double *opt_counts);
/* One Baum-Welch step; matrices of actions with the same tie are one; `tie` [2][action],
 * transitions first. */
void textbook_step(const idm_data *data, idm_dynamics *d, bool emits_before, double prior,
                   const int *tie);
/* Simulates a log with uniform random actions: `rows` per trajectory, each observation missing with
 * probability `blank`. */
idm_data *textbook_simulate(const idm_dynamics *d, bool emits_before, size_t trajectories,
                            size_t rows, double blank, uint64_t seed);

#endif
