/* Controls for the numbers of an agent, as HTML. */
#ifndef IDM_REPORT_EXPLORER_DIALS_H
#define IDM_REPORT_EXPLORER_DIALS_H

#include "idm/problem.h"
#include "report/markup.h"

/* A dial for every number that the planner heeds and that is no probability: those of an action's
 * utilities that are the same in all states are one. How far each turns follows from its
 * descriptor and the range of the utilities. */
void idm_dials_add(idm_markup *markup, const idm_problem *problem);

#endif
