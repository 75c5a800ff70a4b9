/* Quantities of a study that a plot shows. */
#ifndef IDM_REPORT_REPLICATED_H
#define IDM_REPORT_REPLICATED_H

#include "idm/plot.h"

typedef struct idm_replicated {
  size_t count;
  size_t *quantity; /* [count]: of the study */
} idm_replicated;

/* Those that are asked for, by name as files or people say it; else all, the log-likelihood with
 * its draws among them where asked for, twelve at the most. IDM_USAGE for a name that is not there,
 * IDM_INPUT where nothing is done yet. */
idm_status idm_replicated_choose(const idm_calibration *study, const idm_plot_settings *settings,
                                 bool likelihood, idm_replicated *ret_shown, idm_notes *notes,
                                 idm_error *opt_error);
void idm_replicated_clear(idm_replicated *shown);
/* A figure that goes from quantity to quantity, three side by side. */
typedef struct idm_replicated_kind {
  const char *description;
  bool likelihood; /* as above */
  /* Fill the panel of a quantity; it is the only one, or not. */
  idm_status (*draw)(const idm_calibration *study, size_t quantity, bool alone, idm_panel *panel,
                     idm_error *opt_error);
  const char *x; /* titles of its axes */
  const char *y;
} idm_replicated_kind;
idm_status idm_replicated_make(const idm_replicated_kind *kind, const idm_plot_subject *subject,
                               const idm_plot_settings *settings, idm_figure **ret_figure,
                               idm_notes *notes, idm_error *opt_error);
/* Whether the interval of a replication holds the truth. */
bool idm_replicated_covers(const idm_calibration *study, size_t replication, size_t quantity);

#endif
