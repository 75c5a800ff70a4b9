/* What tests of figures share: finding marks, and reading drawings. */
#ifndef IDM_TESTS_REPORT_FIGURE_SUPPORT_H
#define IDM_TESTS_REPORT_FIGURE_SUPPORT_H

#include "support.h"

/* A name that would be markup if it were not escaped. */
extern const char figure_hostile[];

/* Three states and two actions, of which one each has a hostile name; each action is the most
 * probable somewhere. */
idm_problem *figure_clinic(void);
/* A posterior of few draws of alpha, which the problem then has free. */
idm_posterior *figure_fit(idm_problem *problem, const idm_data *data);
/* The figure of a kind; fails unless it can be made. */
idm_figure *figure_make(const char *kind, const idm_plot_subject *subject,
                        const idm_plot_settings *opt_settings);
/* That it cannot, with these words. */
void figure_refuse(const char *kind, const idm_plot_subject *subject,
                   const idm_plot_settings *opt_settings, const char *words);
/* The first mark of a kind and name in a panel; fails where there is none. */
const idm_mark *figure_mark(const idm_figure *figure, size_t panel, idm_mark_kind kind,
                            const char *name);
/* The drawing, for the caller to free: well-formed, with ids that are unique. */
char *figure_draw(const idm_figure *figure, double width);
/* Fails unless a text is a well-formed document of one element; returns how many it holds. */
size_t figure_well_formed(const char *text);
/* How often a text holds another. */
size_t figure_count(const char *text, const char *part);

#endif
