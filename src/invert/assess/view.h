/* What the planner makes of every history of a log at given numbers: the probabilities from which
 * residuals, their derivatives and the scores of held numbers are computed. */
#ifndef IDM_INVERT_ASSESS_VIEW_H
#define IDM_INVERT_ASSESS_VIEW_H

#include "idm/score.h"
#include "invert/assess/strata.h"

typedef struct viewer {
  const idm_parameters *parameters;
  const strata *strata;     /* borrowed */
  idm_workspace *workspace; /* borrowed from the fit */
  idm_theta *theta;
  idm_scorer **scorer; /* [stratum] */
  size_t actions;
  double *probability; /* [node][action]: destination for the stratum under way */
} viewer;

/* The first number of a block, which the fit holds, at another value in every variant. Those of the
 * other actions of its field move by as much. */
typedef struct view_held {
  size_t block;
  double value;
} view_held;

/* The scorers refer to the viewer: do not copy an open one. idm_view_close accepts a viewer that
 * was set to 0 or failed to open. */
idm_status idm_view_open(viewer *v, const fit *f, const strata *s, idm_error *opt_error);
void idm_view_close(viewer *v);
/* probability[node][action] of all strata, each at numbers y[stratum][dimension] of its own. *seen
 * is false where one of them cannot be planned for. */
idm_status idm_view_at(viewer *v, const double *y, const view_held *opt_held, double *probability,
                       bool *seen, idm_error *opt_error);

#endif
