/* Regularisers zeta of utilities, entry by entry, and their conjugates zeta*(d) = sup_v v d -
 * zeta(v), by which the occupancies p and q = p - d of demonstrator and imitator are apart.
 *
 * | zeta | of utilities v | zeta*(p - q) |
 * |---|---|---|
 * | squared | v^2 / (2 scale) | scale/2 (p - q)^2 |
 * | absolute | scale abs(v) | 0 where abs(p - q) <= scale, else infinite |
 * | entropy | scale (v log v - v), v >= 0 | scale exp((p - q) / scale) |
 * | gail | p (v - log(1 - exp(-v))), v > 0 | p log(p / (p+q)) + q log(q / (p+q)) |
 * | box | 0 where abs(v) <= scale, else infinite | scale abs(p - q) |
 */
#ifndef IDM_INVERT_UTILITY_REGULARISER_H
#define IDM_INVERT_UTILITY_REGULARISER_H

#include "idm/proposition.h"

typedef struct idm_regulariser {
  idm_zeta zeta;
  double scale;
} idm_regulariser;

/* zeta(v) and zeta*(p - q); may be infinite. */
double idm_regulariser_value(const idm_regulariser *r, double p, double v);
double idm_regulariser_conjugate(const idm_regulariser *r, double p, double q);

/* zeta as interior-point methods see it, with barriers of weight mu where it has kinks or ends: its
 * value, slope and curvature at v. False where v is outside. Where it is smooth, mu makes no
 * difference. */
bool idm_regulariser_smooth(const idm_regulariser *r, double p, double v, double mu, double *value,
                            double *slope, double *bend);
/* A v inside. */
double idm_regulariser_inside(const idm_regulariser *r);

/* sup_v v d - zeta(v) - pace/2 (v - held)^2 and the v that attains it, which is its slope by d:
 * zeta* made smooth around a utility `held`. Where zeta* is smooth, it is zeta* itself. */
double idm_regulariser_near(const idm_regulariser *r, double p, double q, double held, double pace,
                            double *v);
/* Whether zeta* has kinks or ends, so that `held` is to be found. */
bool idm_regulariser_is_held(const idm_regulariser *r);

#endif
