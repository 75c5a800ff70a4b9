/* Everything that libidm offers.
 *
 * Pointers whose names begin with opt_ may be NULL. Given NULL for any other, or an object of
 * another problem, a function that returns a status returns IDM_USAGE or IDM_INPUT before it
 * touches anything; one that returns something else returns NaN, 0, false or NULL, or does nothing.
 * Lengths of the caller's arrays are taken at their word. */
#ifndef IDM_IDM_H
#define IDM_IDM_H

#include "idm/assess.h"
#include "idm/behavior.h"
#include "idm/block.h"
#include "idm/calibrate.h"
#include "idm/campaign.h"
#include "idm/capacity.h"
#include "idm/chains.h"
#include "idm/column.h"
#include "idm/data.h"
#include "idm/derive.h"
#include "idm/diagnostics.h"
#include "idm/distribution.h"
#include "idm/file.h"
#include "idm/intake.h"
#include "idm/inverse.h"
#include "idm/key.h"
#include "idm/laplace.h"
#include "idm/lint.h"
#include "idm/log_file.h"
#include "idm/matching.h"
#include "idm/maximise.h"
#include "idm/parameters.h"
#include "idm/pareto.h"
#include "idm/planner.h"
#include "idm/posterior.h"
#include "idm/predicate.h"
#include "idm/predict.h"
#include "idm/prefix.h"
#include "idm/prior.h"
#include "idm/problem.h"
#include "idm/problem_file.h"
#include "idm/project.h"
#include "idm/random.h"
#include "idm/refine.h"
#include "idm/request.h"
#include "idm/run.h"
#include "idm/sampler.h"
#include "idm/samplers.h"
#include "idm/score.h"
#include "idm/setting.h"
#include "idm/settings.h"
#include "idm/simulate.h"
#include "idm/status.h"
#include "idm/theta.h"
#include "idm/transform.h"
#include "idm/trials.h"
#include "idm/workspace.h"

#endif
