/* What the planner makes of every history of a log at given numbers: the probabilities from which
 * residuals, their derivatives and the scores of held numbers are computed. */
#ifndef IDM_INVERT_ASSESS_VIEW_H
#define IDM_INVERT_ASSESS_VIEW_H

#include "idm/score.h"
#include "invert/assess/inquiry.h"

typedef struct viewer {
  const idm_parameters *parameters;
  idm_workspace *workspace; /* borrowed from the fit */
  idm_theta *theta;
  idm_scorer *scorer;
  size_t actions;
  double *probability; /* [node][action]: destination of the current call */
} viewer;

/* A block of one number that is held in the fit, at another value in every variant. */
typedef struct view_held {
  size_t block;
  double value;
} view_held;

/* The scorer refers to the viewer: do not copy an open one. idm_view_close accepts a viewer that
 * was set to 0 or failed to open. */
idm_status idm_view_open(viewer *v, const inquiry *q, idm_error *opt_error);
void idm_view_close(viewer *v);
/* The draw of highest density, or the first where none has a density: y[dimension]. */
void idm_view_centre(const inquiry *q, double *y);
/* probability[node][action] at y. *seen is false where y cannot be planned for. */
idm_status idm_view_at(viewer *v, const double *y, const view_held *opt_held, double *probability,
                       bool *seen, idm_error *opt_error);

#endif
