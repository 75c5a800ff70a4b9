/* Everything that libidm offers. */
#ifndef IDM_IDM_H
#define IDM_IDM_H

#include "idm/behavior.h"
#include "idm/block.h"
#include "idm/calibrate.h"
#include "idm/campaign.h"
#include "idm/chains.h"
#include "idm/column.h"
#include "idm/data.h"
#include "idm/diagnostics.h"
#include "idm/distribution.h"
#include "idm/invert.h"
#include "idm/io.h"
#include "idm/key.h"
#include "idm/laplace.h"
#include "idm/maximise.h"
#include "idm/planner.h"
#include "idm/prior.h"
#include "idm/problem.h"
#include "idm/random.h"
#include "idm/request.h"
#include "idm/run.h"
#include "idm/sampler.h"
#include "idm/samplers.h"
#include "idm/setting.h"
#include "idm/status.h"
#include "idm/theta.h"
#include "idm/transform.h"

#endif
