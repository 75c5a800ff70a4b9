/* A planner that searches. */
#ifndef IDM_CLI_SEARCH_H
#define IDM_CLI_SEARCH_H

#include "cli/progress.h"

typedef struct cli_search {
  idm_solver solver;
  cli_progress progress;
  double goal;  /* gap */
  double first; /* gap that it started with; 0: not yet */
  double lower;
  double upper;
} cli_search;
/* Take --gap, --seconds and --alpha, which are refused where the agent's planner does not search,
 * and get ready to watch. Seconds count from `begun` (idm_seconds). The solver borrows the search.
 */
idm_status cli_search_begin(cli_call *call, idm_problem *problem, double begun, cli_search *search);
/* An idm_plan_watch whose context is a cli_search. */
bool cli_search_watch(void *context, double lower, double upper);

#endif
