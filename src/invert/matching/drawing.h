/* The chains of a fit: which sampler, how they are watched, and from where they go on. */
#ifndef IDM_INVERT_MATCHING_DRAWING_H
#define IDM_INVERT_MATCHING_DRAWING_H

#include "idm/chains.h"
#include "idm/posterior.h"
#include "idm/settings.h"
#include "invert/matching/halt.h"

/* The sampler that the settings name, or the usual one for so many numbers. */
idm_status idm_drawing_sampler(const idm_fit_settings *settings, size_t dimension,
                               const idm_sampler **ret_sampler, idm_error *opt_error);
/* Chains as the settings have them, with random streams of the key, others where they are run
 * again: still to be started. */
idm_status idm_drawing_create(const idm_fit_settings *settings, const idm_sampler *sampler,
                              uint64_t key, size_t dimension, const idm_mixture *opt_mixture,
                              idm_halt *halt, idm_chains **ret_chains, idm_error *opt_error);
/* Run them to their end, or until somebody says stop, from the watcher's checkpoint on where it has
 * one. */
idm_status idm_drawing_run(idm_chains *chains, const idm_target *target, const idm_fit_watch *watch,
                           idm_halt *halt, idm_error *opt_error);
/* Steps a draw with which chains that are done are to be run again, as they mixed slowly: four
 * times those that they had, up to three times. 0: R-hat and effective draws pass, or cannot, or
 * the sampler or the settings' `thin` leave no choice. */
idm_status idm_drawing_more(const idm_fit_settings *settings, const idm_chains *chains,
                            long *ret_steps, idm_error *opt_error);
/* The same of a posterior whose draws are too uncertain: up to two times. */
long idm_drawing_again(const idm_fit_settings *settings, const idm_posterior *posterior);
/* Steps a draw that chains have. */
long idm_drawing_steps(const idm_chains *chains);
/* Draws that every chain has, with a note where that is not all; IDM_UNTRUSTED where it is none. */
idm_status idm_drawing_common(const idm_chains *chains, long *ret_draws, idm_notes *opt_notes,
                              idm_error *opt_error);

#endif
