/* Clamps that make a bounded rational planner one of the paper's agents (table "Boundedly Rational
 * Agents"). */
#ifndef IDM_PLAN_AGENTS_H
#define IDM_PLAN_AGENTS_H

#include "idm/planner.h"

idm_status idm_clamp_rational(const idm_setting *setting, idm_theta *theta, idm_error *opt_error);
idm_status idm_clamp_random(const idm_setting *setting, idm_theta *theta, idm_error *opt_error);
idm_status idm_clamp_optimal(const idm_setting *setting, idm_theta *theta, idm_error *opt_error);
idm_status idm_clamp_minimum_information(const idm_setting *setting, idm_theta *theta,
                                         idm_error *opt_error);
idm_status idm_clamp_maximum_entropy(const idm_setting *setting, idm_theta *theta,
                                     idm_error *opt_error);
idm_status idm_clamp_regularised(const idm_setting *setting, idm_theta *theta,
                                 idm_error *opt_error);
idm_status idm_clamp_robust(const idm_setting *setting, idm_theta *theta, idm_error *opt_error);

#endif
