/* The mode of a joint posterior, and the normal approximation there. */
#ifndef IDM_INVERT_JOINT_APPROACH_H
#define IDM_INVERT_JOINT_APPROACH_H

#include "invert/joint/target.h"

/* Precision of the natural coordinates without the decisions, [dimension][dimension]: of the
 * log-ratios by the covariance of the draws of the cut, of the numbers by their units. */
idm_status idm_joint_precision(const joint *j, double *precision, idm_error *opt_error);
/* Where lane `lane` of `lanes` begins to climb, in natural coordinates: a draw of the cut, those of
 * different lanes spread evenly, and the numbers where they start. */
idm_status idm_joint_begin(const joint *j, size_t lane, size_t lanes, double *natural,
                           idm_error *opt_error);
/* Climb from the peak's mode, in place, by Gauss-Newton steps: `precision` as above and the outer
 * products of the scores of trajectories, by central differences. The rest of the peak is filled in
 * there. The lane is left anchored. IDM_NUMERICAL where the density is 0 where it begins. */
idm_status idm_joint_climb(joint_lane *lane, const double *precision, joint_peak *peak,
                           idm_error *opt_error);

#endif
