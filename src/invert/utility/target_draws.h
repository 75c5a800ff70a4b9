/* Markov chains of a density over free numbers that is not the likelihood of decisions: where they
 * start, how they run, and what they amount to. */
#ifndef IDM_INVERT_UTILITY_TARGET_DRAWS_H
#define IDM_INVERT_UTILITY_TARGET_DRAWS_H

#include "idm/chains.h"
#include "idm/inverse.h"
#include "invert/matching/halt.h"
#include "invert/parameters.h"
#include "invert/utility/peaks.h"

/* What is drawn from, all of it borrowed. */
typedef struct idm_drawn_target {
  const idm_inverse *inverse;
  const idm_problem *problem;
  const idm_fit_settings *settings;
  const idm_parameters *parameters;
  idm_target *target; /* [chain] */
  uint64_t key;       /* of the random streams */
  idm_halt *halt;
  const idm_fit_watch *watch;
  idm_notes *opt_notes;
} idm_drawn_target;

/* Draws of every chain, which start by turns at all peaks; around the problem's own numbers where
 * there is none. Takes the finding, which is destroyed on failure: its certificate becomes R-hat of
 * the worst number. */
idm_status idm_target_draws(const idm_drawn_target *t, const idm_peaks *peaks, idm_finding *finding,
                            idm_posterior **ret_posterior, idm_error *opt_error);

#endif
