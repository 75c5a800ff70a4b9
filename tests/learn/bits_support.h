/* Logs with two modes: an observation shows two independent bits, and two states can follow only
 * one of them. */
#ifndef IDM_TESTS_LEARN_BITS_SUPPORT_H
#define IDM_TESTS_LEARN_BITS_SUPPORT_H

#include "learn/iohmm.h"

/* A problem with two states, which follow the second bit. */
extern const char bits_second[];
/* The problem of both bits with four states, as YAML owned by the caller. Each bit is unchanged
 * with the given probability. */
char *bits_problem(double first, double second);
/* A log of that problem, with two states as its number of states. */
idm_data *bits_simulate(double first, double second, size_t trajectories, size_t rows,
                        uint64_t seed);

#endif
