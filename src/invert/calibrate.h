/* Recovery studies and simulation-based calibration: fits to simulated logs with known parameters.
 */
#ifndef IDM_INVERT_CALIBRATE_H
#define IDM_INVERT_CALIBRATE_H

#include "base/arguments.h"
#include "base/key.h"
#include "idm/calibrate.h"
#include "idm/extension/data.h"
#include "idm/extension/fit_settings.h"

/* Settings of a study. Each replication draws the free numbers from the prior, simulates a log,
 * fits it and ranks the true values among the draws. Where the inverse planner needs preferences,
 * the log is simulated with the problem's own parameter, and the true parameter determines the
 * preferences alone: its actions would be evidence as well. */
typedef struct idm_calibration_settings {
  size_t replications;
  size_t trajectories; /* number of trajectories of each simulated log */
  int steps;           /* most steps per trajectory; 0: the horizon, or 1000 */
  size_t pairs; /* preferences between trajectories, where the inverse planner needs them; 0: as
                   many as trajectories */
  /* A log whose design each simulated log has (see idm_simulation), in place of `trajectories` and
   * `steps`; borrowed; the problem is bound to it. NULL: none. */
  const idm_data *opt_design_log;
  char design[96]; /* identifies that log: its SHA-256, and a checksum of the conditions on its rows
                      where there are some; empty without a log */
  uint64_t seed;
  int threads;
  char inverse[32];     /* registry name of an inverse planner whose answer is a posterior */
  idm_fit_settings fit; /* chains, draws, warm-up and sampler of every fit */
} idm_calibration_settings;
/* Set all fields to their defaults. */
IDM_CHECKED void idm_calibration_settings_default(idm_calibration_settings *settings);
/* Descriptors of the settings except `threads`, which changes no result. The table is static. */
IDM_CHECKED const idm_key *idm_calibration_keys(void);

/* Number of draws that the truth is ranked among. */
enum { IDM_RANKS = 99 };

/* One quantity in one replication. */
typedef struct idm_recovery {
  double truth;
  double mean;
  double sd;
  double low;  /* 5 % quantile */
  double high; /* 95 % quantile */
  int rank; /* number of draws below the truth, among IDM_RANKS draws spread evenly over the chain:
               0 .. IDM_RANKS */
} idm_recovery;

typedef struct idm_calibration {
  const idm_problem *problem; /* borrowed */
  idm_calibration_settings settings;
  uint64_t key; /* key of the random streams of the logs, the same for every inverse planner */
  idm_labels quantity;    /* in the coordinate of the prior ("log_alpha"); the last is the
                             log-likelihood (of the preferences, where there are some) */
  idm_recovery *recovery; /* [replication][quantity] */
  bool *done;             /* [replication] */
  double *rhat;           /* [replication]: largest R-hat */
  long *draws;            /* [replication]: draws per chain, after any extension */
} idm_calibration;

/* Prepare a study. The problem is borrowed; *ret_calibration is the caller's. IDM_INPUT where a
 * prior is improper, since it cannot be drawn from. IDM_USAGE where a setting is out of range, the
 * inverse planner does not exist, its answer is a point, or it needs evidence that simulations do
 * not contain. */
IDM_CHECKED idm_status idm_calibration_create(const idm_problem *problem,
                                              const idm_calibration_settings *settings,
                                              idm_calibration **ret_calibration,
                                              idm_error *opt_error);
/* Run the replications that are not done. A fit with a poor R-hat or effective sample size is
 * repeated with twice the length, up to 64 times the length. opt_monitor is called on this thread
 * several times per second and once at the end; where it returns true, the study stops after the
 * fits under way, with IDM_OK. Else the first error of a fit. */
IDM_CHECKED idm_status idm_calibration_run(idm_calibration *calibration,
                                           bool (*opt_monitor)(void *context,
                                                               const idm_calibration *calibration),
                                           void *context, idm_error *opt_error);

/* --- results over the replications that are done --------------------------------------------- */

#endif
