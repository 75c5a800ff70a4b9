/* Calibration: parameter recovery and simulation-based calibration. */
#ifndef IDM_CALIBRATE_H
#define IDM_CALIBRATE_H

#include <stddef.h>

#include "idm/problem.h"
#include "idm/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fits to simulated logs whose parameters are known. */
typedef struct idm_calibration idm_calibration;

/* Draw parameters from the prior, simulate a log, fit it, and compare; "calibration.replications"
 * times. The settings are "calibration.NAME". IDM_INPUT where a prior is improper; IDM_UNTRUSTED
 * where the watch of the settings stops it. */
IDM_API idm_status idm_calibrate(const idm_problem *problem, const idm_settings *settings,
                                 idm_calibration **ret_calibration, idm_error *opt_error);
/* Free a calibration; NULL is allowed. */
IDM_API void idm_calibration_destroy(idm_calibration *calibration);

/* Number of replications that are done. */
IDM_API size_t idm_calibration_done(const idm_calibration *calibration);
/* Number of quantities, and the name of one; NULL past the last. The last is the log-likelihood. */
IDM_API size_t idm_calibration_quantities(const idm_calibration *calibration);
IDM_API const char *idm_calibration_quantity_name(const idm_calibration *calibration, size_t index);

/* How well a quantity is recovered. */
typedef struct idm_recovery_accuracy {
  double coverage;    /* of 90 % intervals */
  double bias;        /* mean of (mean - truth) / sd */
  double error;       /* root mean square of mean - truth */
  double correlation; /* of mean and truth */
} idm_recovery_accuracy;
/* Accuracy of a quantity; NaN past the last. */
IDM_API idm_recovery_accuracy idm_calibration_accuracy(const idm_calibration *calibration,
                                                       size_t quantity);
/* Chi-square statistic of the ranks of a quantity over `bins` equal bins, which must divide 100;
 * the counts go to count[bins]. */
IDM_API double idm_calibration_uniformity(const idm_calibration *calibration, size_t quantity,
                                          size_t bins, size_t *count);
/* The largest R-hat of all fits. */
IDM_API double idm_calibration_rhat(const idm_calibration *calibration);

#ifdef __cplusplus
}
#endif
#endif
