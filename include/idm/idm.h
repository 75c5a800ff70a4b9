/* Everything that libidm offers. */
#ifndef IDM_IDM_H
#define IDM_IDM_H

#include "idm/behavior.h"
#include "idm/data.h"
#include "idm/infer.h"
#include "idm/invert.h"
#include "idm/io.h"
#include "idm/planner.h"
#include "idm/problem.h"
#include "idm/random.h"
#include "idm/request.h"
#include "idm/run.h"
#include "idm/setting.h"
#include "idm/status.h"
#include "idm/theta.h"

#endif
