/* Whether an agent remembers more than the state it is in. */
#ifndef IDM_PLAN_FORGETS_H
#define IDM_PLAN_FORGETS_H

#include "idm/problem.h"

/* States are observed, beliefs follow from them alone, and neither the step nor what was done last
 * matters to what is done now, whatever the free numbers are. */
bool idm_agent_forgets(const idm_problem *problem);

#endif
