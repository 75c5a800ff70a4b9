/* What a report says in sentences. */
#ifndef IDM_REPORT_WORDS_H
#define IDM_REPORT_WORDS_H

#include "idm/report.h"
#include "report/markup.h"

/* "Which alpha and 1/beta explain 5,000 decisions in 1,000 trajectories of diag?" */
void idm_words_question(const idm_plot_subject *subject, idm_markup *to);
/* "1/beta is 0.26, between 0.15 and 0.35 with a probability of 90 %; ..." */
void idm_words_answer(const idm_plot_subject *subject, idm_markup *to);
/* "12,345 decisions", "1 decision". */
void idm_words_plural(idm_markup *to, size_t count, const char *noun, const char *nouns);
/* Decisions of a log: recorded actions of which more than one was open, as summary.json counts. */
size_t idm_words_decisions(const idm_data *data);

#endif
