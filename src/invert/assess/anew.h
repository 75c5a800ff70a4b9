/* What the agent would do if its memory began anew in every trajectory.
 *
 * A behaviour that remembers over all trajectories of an agent (td-learner) predicts the first
 * choices of a trajectory by what was learnt in those before. An agent that forgets between them is
 * seen as one whose every trajectory is of another agent. */
#ifndef IDM_INVERT_ASSESS_ANEW_H
#define IDM_INVERT_ASSESS_ANEW_H

#include "invert/assess/residual.h"

/* probability[node][action] at the centre of the strata, by the nodes of the residual. *seen is
 * false where memories are of trajectories anyhow, where no agent has two of them, or where the
 * centre cannot be planned for. */
idm_status idm_anew_view(const inquiry *q, const residual *r, double *probability, bool *seen,
                         idm_error *opt_error);

#endif
