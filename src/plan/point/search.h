/* Heuristic search: trials from the start belief to where the bounds are furthest apart, and
 * backups on the way back (Smith and Simmons 2005, HSVI2; Kurniawati, Hsu and Lee 2008, SARSOP). */
#ifndef IDM_PLAN_POINT_SEARCH_H
#define IDM_PLAN_POINT_SEARCH_H

#include "idm/planner.h"
#include "plan/point/graph.h"

/* When to stop. */
typedef struct search_goal {
  double gap;     /* between the bounds at the start */
  double seconds; /* 0: however long it takes */
  double begun;   /* when they began to count (idm_seconds); 0: with the search */
  long backups;   /* 0: however many it takes */
  double bytes;   /* that beliefs and bounds may take; 0: whatever they take */
  idm_plan_watch opt_watch;
  void *context;
} search_goal;

/* What was reached. */
typedef struct search_result {
  double lower; /* at the start */
  double upper;
  long trials;
  long backups;
  idm_stop stop;
} search_result;

/* Improve the bounds until they are as close at the start as the goal asks for. */
idm_status idm_search(const point_problem *problem, const search_goal *goal, bounds *b,
                      search_result *result, idm_error *opt_error);

#endif
