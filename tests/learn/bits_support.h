/* Logs with two modes: an observation shows two independent bits, and two states can follow one. */
#ifndef IDM_TESTS_LEARN_BITS_SUPPORT_H
#define IDM_TESTS_LEARN_BITS_SUPPORT_H

#include "idm/learn.h"

/* A problem with two states that follow the second bit. */
extern const char bits_second[];
/* The problem of both bits, four states, for the caller to free. A bit stays with the probability
 * given. */
char *bits_problem(double first, double second);
/* A log of it, whose states are taken to be two. */
idm_data *bits_simulate(double first, double second, size_t trajectories, size_t rows,
                        uint64_t seed);

#endif
