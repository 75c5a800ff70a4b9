/* What tests of plots share: posteriors made up, figures looked into, drawings read back. */
#ifndef IDM_TESTS_REPORT_SUPPORT_H
#define IDM_TESTS_REPORT_SUPPORT_H

#include "support.h"

/* A name that must not get into a drawing as it is. */
#define REPORT_HOSTILE "<script>alert(1)</script>"

/* A posterior with normal draws of mean `quantity` and sd 1 + `quantity`, all summarised. */
idm_posterior *report_posterior(size_t chains, size_t draws, const char *const *names,
                                size_t count);
/* Put a series along an axis over the quantities from `first` on, and name them after it. */
void report_series(idm_posterior *posterior, const char *name, const char *axis,
                   const char *const *labels, size_t count, size_t first);
/* A study with a truth, an estimate half a unit above it, and intervals of 2 around that. */
idm_calibration *report_study(const char *const *names, size_t count, size_t replications);

/* A figure of a kind; fails the test where it cannot be made. */
idm_figure *report_make(const char *kind, const idm_plot_subject *subject,
                        const idm_plot_settings *opt_settings);
/* The words of the error with which a figure is refused. */
const char *report_refusal(const char *kind, const idm_plot_subject *subject,
                           const idm_plot_settings *opt_settings, idm_status expected);
/* That a kind which needs one answer for a whole log refuses people, and whoever has no log. */
void report_refuse_people(const char *kind);
/* Mark k of its kind in a panel, or NULL. */
const idm_mark *report_mark(const idm_panel *panel, idm_mark_kind kind, size_t k);
/* Draw a figure at both widths, see that it is sound and that what is hostile is escaped, and that
 * all data are written. */
void report_draw(const idm_figure *figure);
/* The first path of a mark of this kind and name in the drawing of a figure, in numbers of its
 * axes; returns how many points of it were read. */
size_t report_path(const idm_figure *figure, size_t panel, const char *kind, const char *name,
                   double (*point)[2], size_t most);

#endif
