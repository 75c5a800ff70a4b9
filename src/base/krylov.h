/* Linear systems A x = b where A is known by its products only. */
#ifndef IDM_BASE_KRYLOV_H
#define IDM_BASE_KRYLOV_H

#include <stddef.h>

/* y = A x. */
typedef void (*idm_apply)(const void *context, const double *x, double *y);

/* Largest basis between restarts. */
enum { IDM_GMRES_BASIS = 24 };
/* Vectors of length n that idm_gmres needs for a basis of `basis`. */
#define IDM_GMRES_WORK(basis) ((size_t)(basis) + 1)

/* GMRES (Saad and Schultz 1986) from x = 0 until |b - A x| <= tolerance |b| in the 2-norm,
 * restarted every `basis` products (at most IDM_GMRES_BASIS), at most `products` products with A in
 * all. Returns the relative residual reached; adds the products spent to *opt_used. */
double idm_gmres(size_t n, idm_apply apply, const void *context, const double *b, double *x,
                 double tolerance, int basis, int products, double *work, long *opt_used);

#endif
