/* Decisions of a log beside what was predicted of them. */
#ifndef IDM_REPORT_DECISIONS_H
#define IDM_REPORT_DECISIONS_H

#include "idm/plot.h"

/* Rows with a recorded action of which more than one was open. */
typedef struct idm_decisions {
  size_t count;
  size_t actions;
  size_t *taken;       /* [count] */
  double *probability; /* [count][action]: by the problem's own parameter, or the mean over the
                          draws of a posterior */
  bool *open;          /* [count][action] */
} idm_decisions;

/* Of people everybody is predicted by their own draws. IDM_INPUT where there is no decision. */
idm_status idm_decisions_open(const idm_plot_subject *subject, idm_decisions *decisions,
                              idm_notes *notes, idm_error *opt_error);
void idm_decisions_close(idm_decisions *decisions);
/* The column that the people of a run go by, as idm_explain_settings takes it; NULL: none. */
const char *idm_decisions_people(const idm_plot_subject *subject);

#endif
