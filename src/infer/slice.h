/* "slice": slices along the columns of the covariance's factor. */
#ifndef IDM_INFER_SLICE_H
#define IDM_INFER_SLICE_H

#include "idm/sampler.h"

extern const idm_sampler idm_sampler_slice;

#endif
