/* What a planner that learns by acting has learnt for: its plan is a function of it, so that
 * nothing is learnt twice while only habits move. */
#ifndef IDM_PLAN_TABULAR_LESSON_H
#define IDM_PLAN_TABULAR_LESSON_H

#include "idm/planner.h"

typedef struct lesson {
  bool learnt;          /* there is one */
  double *number;       /* discount, alpha, utilities of all variants */
  idm_experience found; /* what was known then */
} lesson;

bool idm_lesson_create(lesson *l, const idm_theta *theta);
void idm_lesson_destroy(lesson *l);
/* Whether theta asks for something else than was learnt last; from then on it is what was. */
bool idm_lesson_is_new(lesson *l, const idm_theta *theta);
/* Learn anew at the next plan, whatever theta asks for. */
void idm_lesson_forget(lesson *l);
/* The plan's report. */
idm_plan_report idm_lesson_report(const lesson *l);

#endif
