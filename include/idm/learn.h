/* Learning: the dynamics of a problem from a log. */
#ifndef IDM_LEARN_H
#define IDM_LEARN_H

#include "idm/fit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Learn start, transitions and observations of a problem from a log by expectation maximisation,
 * and put them into the problem; the agent's models follow by their rule. The settings are
 * "learn.NAME". With "learn.draws" above 0 (and, as `idm learn --draws`
 * sets them, "learn.starts" of 10 and "learn.repeats" of 3), *opt_posterior receives draws of the
 * posterior of the dynamics. IDM_INPUT where the log excludes the problem's structure or the models
 * do not follow from the environment; IDM_UNTRUSTED where the watch of the settings stops it. */
IDM_API idm_status idm_learn_dynamics(idm_problem *problem, const idm_data *data,
                                      const idm_settings *settings, double *log_likelihood,
                                      idm_posterior **opt_posterior, idm_notes *opt_notes,
                                      idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
