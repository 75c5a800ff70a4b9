/* Where the profile of one free number is within the drop of its maximum: one interval, or several.
 */
#ifndef IDM_INVERT_ASSESS_REGION_H
#define IDM_INVERT_ASSESS_REGION_H

#include "invert/assess/profile.h"

/* A scan of the window of a coordinate, in ascending order of values, and what it found. */
typedef struct scan {
  size_t count;
  size_t most;
  place *place; /* [most] */
  size_t regions;
  double region[IDM_MOST_REGIONS][2]; /* ends, in the coordinate; infinite where it is open */
} scan;

/* Whether a value lies in one of so many regions, end[count][2], which may stand in either order,
 * or so near that only rounding tells. */
bool idm_regions_hold(size_t count, const double *end, double value);

idm_status idm_scan_create(size_t dimension, scan *s, idm_error *opt_error);
void idm_scan_destroy(scan *s);
/* Look all over the window of coordinate p->fixed. */
idm_status idm_scan_run(profile *p, bool fine, scan *s, idm_error *opt_error);
/* The regions, from the scan and from further points (draws, say), each looked at if it lies
 * outside of all regions though it is high enough. */
idm_status idm_scan_regions(profile *p, const place *further, size_t count, scan *s,
                            idm_error *opt_error);

#endif
