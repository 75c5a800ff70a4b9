/* Linear systems A x = b where A is known by its products only. */
#ifndef IDM_BASE_KRYLOV_H
#define IDM_BASE_KRYLOV_H

#include <stddef.h>

/* y = A x. */
typedef void (*idm_apply)(const void *context, const double *x, double *y);

/* Numbers of scratch that idm_bicgstab needs for n unknowns. */
#define IDM_BICGSTAB_WORK(n) (7 * (n))

/* BiCGStab from x = 0 until |b - A x| <= tolerance |b| (2-norms, by the recursion's residual), at
 * most `products` products with A. Returns the relative residual reached. */
double idm_bicgstab(size_t n, idm_apply apply, const void *context, const double *b, double *x,
                    double tolerance, int products, double *work);

#endif
