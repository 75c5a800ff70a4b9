/* Three cases of a log that differ in when an action was taken: the paper's figure "Decision
 * Trajectories" (Appendix D). */
#ifndef IDM_REPORT_CASES_H
#define IDM_REPORT_CASES_H

#include "idm/data.h"
#include "idm/problem.h"

typedef enum idm_case_kind {
  IDM_CASE_RATIONAL,     /* every action is one that the rational policy takes */
  IDM_CASE_NOT_RATIONAL, /* never took the action, which was due within the log */
  IDM_CASE_BELATED,      /* took it later than it was due */
  IDM_CASES
} idm_case_kind;

typedef struct idm_case {
  bool found;
  size_t trajectory;
  char title[160]; /* what it is, and its name in the log */
} idm_case;

/* One trajectory of each kind, as idm_explain finds them for the problem's own parameter. Of
 * several: of the first kind that with the most different actions, then the longest; of the others
 * that with the largest delay, then regret; the first in the log among equals. */
idm_status idm_cases_choose(const idm_problem *problem, const idm_data *data, int32_t due,
                            idm_case ret_case[IDM_CASES], idm_notes *opt_notes,
                            idm_error *opt_error);

#endif
