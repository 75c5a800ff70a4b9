/* Peaks of a density that need not have one alone: where chains start, and leap between. */
#ifndef IDM_INVERT_UTILITY_PEAKS_H
#define IDM_INVERT_UTILITY_PEAKS_H

#include "idm/sampler.h"
#include "infer/mixture.h"

typedef struct idm_peak {
  double *mode;       /* [dimension] */
  double *covariance; /* [dimension][dimension]; nothing where it is not definite */
  double height;      /* log density of the mode */
  double content;     /* log of what it holds, by height and width */
  bool definite;
} idm_peak;

typedef struct idm_peaks {
  size_t dimension;
  size_t count;
  size_t capacity;
  idm_peak *peak;  /* [capacity] */
  double *scratch; /* [dimension][dimension + 1] */
} idm_peaks;

/* Room for `most` peaks. */
idm_status idm_peaks_create(size_t dimension, size_t most, idm_peaks **ret_peaks,
                            idm_error *opt_error);
void idm_peaks_destroy(idm_peaks *peaks);
/* Climb from x, which becomes the mode, and keep the peak, where there is room, if a valley lies
 * between it and each that is kept already. */
idm_status idm_peaks_climb(idm_peaks *peaks, const idm_target *target, double *x,
                           idm_error *opt_error);
/* Leave out peaks that hold next to nothing beside the fullest. */
void idm_peaks_thin(idm_peaks *peaks);
/* Proposals around all of them, each by what it holds, and some from a broad distribution. */
idm_status idm_peaks_mixture(const idm_peaks *peaks, idm_broad broad, idm_mixture **ret_mixture,
                             idm_error *opt_error);

#endif
