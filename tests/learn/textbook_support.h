/* The input-output hidden Markov model as a textbook writes it: one trajectory at a time, no tree,
 * no scaling, the sum over all paths of states by the plain recursion in logarithms. */
#ifndef IDM_TESTS_LEARN_TEXTBOOK_SUPPORT_H
#define IDM_TESTS_LEARN_TEXTBOOK_SUPPORT_H

#include "idm/learn.h"

/* Log-likelihood of the log, and expected counts of starts, moves and what was seen, laid out as
 * the dynamics. Trajectories with a start belief of their own add none to the starts. */
double textbook_expect(const idm_data *data, const idm_dynamics *d, bool emits_before,
                       double *opt_counts);
/* One step of Baum and Welch's, matrices of actions with the same tie being one; `tie` [2][action],
 * transitions first. */
void textbook_step(const idm_data *data, idm_dynamics *d, bool emits_before, double prior,
                   const int *tie);
/* Draw a log from dynamics, with actions at random: `rows` a trajectory, each cell of an
 * observation blank with probability `blank`. */
idm_data *textbook_simulate(const idm_dynamics *d, bool emits_before, size_t trajectories,
                            size_t rows, double blank, uint64_t seed);

#endif
