/* Recovery and simulation-based calibration: fits to logs whose truth is known. */
#ifndef IDM_CALIBRATE_H
#define IDM_CALIBRATE_H

#include "idm/data.h"
#include "idm/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Is the question answerable? Draw the free numbers from the prior, simulate a log, fit it, see
 * where the truth lies; many times over. Where the inverse planner goes by preferences, the log is
 * of the problem's own agent, and the truth prefers: what it does would tell of it as well. */
typedef struct idm_calibration_settings {
  size_t replications;
  size_t trajectories; /* of each simulated log */
  int steps;           /* most steps a trajectory; 0: the horizon, or 1000 */
  size_t pairs;        /* preferences between them, where the inverse planner goes by these; 0: as
                          many as trajectories */
  /* A log whose design each simulated one has (see idm_simulation), in place of the two numbers;
   * borrowed, and the problem is bound to it. NULL: none. */
  const idm_data *opt_design_log;
  char design[96]; /* what tells that log from others: its SHA-256, and a checksum of the conditions
                      on its rows where there are some; empty without one */
  uint64_t seed;
  int threads;
  char inverse[32];     /* name in the registry, of one whose answer is a posterior */
  idm_fit_settings fit; /* chains, draws, warm-up and sampler of each fit */
} idm_calibration_settings;
IDM_API void idm_calibration_settings_default(idm_calibration_settings *settings);
/* Its fields; `threads`, which changes no result, is none of them. */
IDM_API const idm_key *idm_calibration_keys(void);

/* Draws that the truth is ranked among. */
enum { IDM_RANKS = 99 };

/* One quantity of one replication. */
typedef struct idm_recovery {
  double truth;
  double mean;
  double sd;
  double low;  /* 5 % */
  double high; /* 95 % */
  int rank;    /* draws below the truth, of IDM_RANKS spread evenly: 0 .. IDM_RANKS */
} idm_recovery;

typedef struct idm_calibration {
  const idm_problem *problem; /* borrowed */
  idm_calibration_settings settings;
  uint64_t key;        /* of the streams that make the logs, whoever fits them */
  idm_labels quantity; /* in the coordinate of the prior ("log_alpha"), the log-likelihood last (of
                          the preferences, where there are some) */
  idm_recovery *recovery; /* [replication][quantity] */
  bool *done;             /* [replication] */
  double *rhat;           /* [replication]: the largest */
  long *draws;            /* [replication]: of each chain, after any extension */
} idm_calibration;

/* Fails with IDM_INPUT where a prior is improper: there is nothing to draw from; with IDM_USAGE
 * where the inverse planner is not known, its answer is a point, or it needs evidence that no
 * simulation makes. */
IDM_API idm_status idm_calibration_create(const idm_problem *problem,
                                          const idm_calibration_settings *settings,
                                          idm_calibration **ret_calibration, idm_error *opt_error);
IDM_API void idm_calibration_destroy(idm_calibration *calibration);
/* Do what is not done. A fit whose R-hat or effective sample size is poor is run again, twice as
 * long, until it is not (at most 64 times as long). The watch is called on this thread; true stops
 * after the fits under way. */
IDM_API idm_status idm_calibration_run(idm_calibration *calibration,
                                       bool (*opt_monitor)(void *context,
                                                           const idm_calibration *calibration),
                                       void *context, idm_error *opt_error);
/* Replications that are done. */
IDM_API size_t idm_calibration_done(const idm_calibration *calibration);

/* --- what they show, over the replications that are done ------------------------------------ */

/* How well a quantity is found again. */
typedef struct idm_recovery_accuracy {
  double coverage;    /* of 90 % intervals */
  double bias;        /* mean of (mean - truth) / sd */
  double error;       /* root mean square of mean - truth */
  double correlation; /* of mean and truth */
} idm_recovery_accuracy;
IDM_API idm_recovery_accuracy idm_calibration_accuracy(const idm_calibration *calibration,
                                                       size_t quantity);
/* Chi-square statistic of a quantity's ranks over `bins` equal bins (which must divide IDM_RANKS +
 * 1), with their counts. */
IDM_API double idm_calibration_uniformity(const idm_calibration *calibration, size_t quantity,
                                          size_t bins, size_t *count);
/* The largest R-hat. */
IDM_API double idm_calibration_rhat(const idm_calibration *calibration);

#ifdef __cplusplus
}
#endif
#endif
