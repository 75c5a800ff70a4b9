/* Support for tests of plots: generated posteriors, access to marks, paths read back from drawings.
 */
#ifndef IDM_TESTS_REPORT_SUPPORT_H
#define IDM_TESTS_REPORT_SUPPORT_H

#include "support.h"

/* A name that would be markup if it were not escaped. */
#define REPORT_HOSTILE "<script>alert(1)</script>"

/* Returns a posterior in which quantity i has normal draws of mean i and standard deviation 1 + i;
 * all quantities are summarised. */
idm_posterior *report_posterior(size_t chains, size_t draws, const char *const *names,
                                size_t count);
/* Adds a series along an axis over the quantities from `first` on, with one label per quantity. */
void report_series(idm_posterior *posterior, const char *name, const char *axis,
                   const char *const *labels, size_t count, size_t first);
/* Returns a study whose estimates exceed the truth by 0.5, with intervals of width 2 centred on the
 * estimates. */
idm_calibration *report_study(const char *const *names, size_t count, size_t replications);

/* Returns the figure of a kind; fails the test if it cannot be made. */
idm_figure *report_make(const char *kind, const idm_plot_subject *subject,
                        const idm_plot_settings *opt_settings);
/* Checks that the figure is refused with status `expected`; returns the error message (static). */
const char *report_refusal(const char *kind, const idm_plot_subject *subject,
                           const idm_plot_settings *opt_settings, idm_status expected);
/* Checks that a kind which requires one answer for the whole log refuses a fit of people, and
 * refuses a subject without a log. */
void report_refuse_people(const char *kind);
/* Returns mark k of its kind in a panel, or NULL. */
const idm_mark *report_mark(const idm_panel *panel, idm_mark_kind kind, size_t k);
/* Draws a figure at both widths; checks that hostile names are escaped, that no number is NaN or
 * infinite, and that the CSV has a line for each item. */
void report_draw(const idm_figure *figure);
/* Reads the first path of the mark of this kind and name in the drawing of a figure, at most `most`
 * points, into units of its axes; returns the number of points. */
size_t report_path(const idm_figure *figure, size_t panel, const char *kind, const char *name,
                   double (*point)[2], size_t most);

#endif
