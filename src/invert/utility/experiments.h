/* One utility behind what a demonstrator did in several environments (Amin and Singh 2016). */
#ifndef IDM_INVERT_UTILITY_EXPERIMENTS_H
#define IDM_INVERT_UTILITY_EXPERIMENTS_H

#include "invert/utility/demonstrator.h"
#include "invert/utility/face.h"
#include "invert/utility/sought.h"

/* A demonstrator in its world. */
typedef struct idm_experiment {
  const idm_world *world;
  const idm_demonstrator *demonstrator;
} idm_experiment;

/* min sum_s xi_s, xi_s >= Q_e(s,u) - V_e(s) for every action and every experiment e in which s was
 * visited, Q_e and V_e those of what was done there; free numbers between -bound and bound. The
 * optimum goes into face, whose `x` is made here for the caller to free, and opt_range[count][2] is
 * what the numbers can be over all optima. */
idm_status idm_experiments_solve(size_t count, const idm_experiment *experiment,
                                 const idm_sought *sought, double bound, idm_face *face,
                                 double *opt_range, idm_halt *halt, idm_error *opt_error);

#endif
