/* Problems whose trajectories are compared by a known utility, and discounted sums and likelihoods
 * written out. */
#ifndef IDM_TESTS_PREFERENCE_SUPPORT_H
#define IDM_TESTS_PREFERENCE_SUPPORT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const char walk_text[] =
    "states: [a, b, c]\nactions: [left, right]\nobservations: states\ndiscount: 0.9\nstart: a\n"
    "transition:\n  left: {a: {a: 1}, b: {a: 0.8, b: 0.2}, c: {b: 1}}\n"
    "  right: {a: {b: 0.8, a: 0.2}, b: {c: 1}, c: {c: 1}}\n"
    "utility:\n  left: [0.5, -1, 2]\n  right: [1, -0.25, 1]\n"
    "agent: {planner: maximum-entropy, alpha: 1}\n";

static const char tiger_text[] =
    "states: [l, r]\nactions: [listen, openl, openr]\nobservations: [hl, hr]\ndiscount: 0.9\n"
    "start: [0.7, 0.3]\ntransition: {listen: [[0.9, 0.1], [0.2, 0.8]], openl: uniform, openr: "
    "uniform}\n"
    "observation: {listen: [[0.8, 0.2], [0.3, 0.7]], openl: uniform, openr: [[0.6, 0.4], [0.5, "
    "0.5]]}\n"
    "utility: {listen: -1, openl: [-3, 2], openr: [2, -3]}\n"
    "agent: {planner: maximum-entropy, alpha: 1}\n";

/* sum_t discount^t utility of trajectory t, by the states of the log or by beliefs filtered here.
 */
double plain_sum(const idm_problem *problem, const double *utility, const idm_data *data, size_t t);

/* Simulates preferences under this utility; random weights if `weights`. */
void prefer(const idm_problem *problem, const double *utility, idm_data *data, size_t count,
            bool weights, uint64_t seed);

/* sum w log logistic(difference). */
double plain_log_likelihood(const idm_problem *problem, const double *utility,
                            const idm_data *data);

idm_problem *make_problem(const char *text, const char *what_is_free);

/* A log of the problem's agent, with preferences under its utility. */
idm_data *make_preferred(const idm_problem *problem, size_t trajectories, size_t preferences,
                         bool weights, uint64_t seed);

#endif
