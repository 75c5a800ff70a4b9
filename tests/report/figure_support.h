/* Support for tests of figures: making figures, finding marks, checking drawings. */
#ifndef IDM_TESTS_REPORT_FIGURE_SUPPORT_H
#define IDM_TESTS_REPORT_FIGURE_SUPPORT_H

#include "support.h"

/* A name that would be markup if it were not escaped. */
extern const char figure_hostile[];

/* Returns a problem of three states and two actions; one state and one action have a hostile name,
 * and each action is the most probable at some beliefs. */
idm_problem *figure_clinic(void);
/* Returns a posterior of few draws of alpha; alpha is free in `problem` afterwards. */
idm_posterior *figure_fit(idm_problem *problem, const idm_data *data);
/* Returns the figure of a kind; fails the test if it cannot be made. */
idm_figure *figure_make(const char *kind, const idm_plot_subject *subject,
                        const idm_plot_settings *opt_settings);
/* Checks that the figure is refused with `words` in the message. */
void figure_refuse(const char *kind, const idm_plot_subject *subject,
                   const idm_plot_settings *opt_settings, const char *words);
/* Returns the first mark of a kind and name in a panel; fails the test if there is none. */
const idm_mark *figure_mark(const idm_figure *figure, size_t panel, idm_mark_kind kind,
                            const char *name);
/* Returns the drawing of a figure, checked to be well-formed with unique ids; the caller frees it.
 */
char *figure_draw(const idm_figure *figure, double width);
/* Fails unless `text` is a well-formed document of one root element; returns its number of
 * elements. */
size_t figure_well_formed(const char *text);
/* Returns the number of occurrences of `part` in `text`, without overlaps. */
size_t figure_count(const char *text, const char *part);

#endif
