/* A person by a normal approximation of the likelihood, log L(e) = h'e - e'He/2 and a constant: the
 * coordinates u in which person and population would be independent if it held.
 *
 * With e = m + L z and z standard normal a priori, e given the population is normal; u is its
 * standardised form, z = T^-T (v + u), T T' = I + L'HL, v = T^-1 L'(h - Hm). Where people carry
 * little, u is z (not centred); where they carry much, e stays put when the population moves
 * (centred): each person is as centred as its data make it (Papaspiliopoulos, Roberts and Skold
 * 2007). Sound for any H and h, as u is a change of coordinates. */
#ifndef IDM_INVERT_HIERARCHY_NORMAL_H
#define IDM_INVERT_HIERARCHY_NORMAL_H

#include <stddef.h>

/* Of one person at one population; arrays borrowed from the caller, as scratch or to keep. */
typedef struct normal_frame {
  size_t effects;
  double *t;      /* [effects][effects]: T, lower triangular */
  double *v;      /* [effects] */
  double log_det; /* log det T */
} normal_frame;

/* From L, m, H and h; `scratch` holds effects^2 numbers. */
void idm_normal_frame(normal_frame *frame, const double *factor, const double *mean,
                      const double *curvature, const double *pull, double *scratch);
/* z of u, and u of z; they may be the same array. */
void idm_normal_open(const normal_frame *frame, const double *u, double *z);
void idm_normal_close(const normal_frame *frame, const double *z, double *u);
/* e = m + L z. */
void idm_normal_effects(size_t effects, const double *factor, const double *mean, const double *z,
                        double *e);
/* What a person says of the population's mean m, the person integrated out: about
 * right' m - m' information m / 2 with information (Sigma + H^-1)^-1 = H - H L (T T')^-1 L' H and
 * right = h - H L (T T')^-1 L' h. */
void idm_normal_inform(size_t effects, const double *factor, const double *curvature,
                       const double *pull, double *information, double *right);

#endif
