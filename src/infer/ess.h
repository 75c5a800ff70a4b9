/* Effective sample size of chains already split. */
#ifndef IDM_INFER_ESS_H
#define IDM_INFER_ESS_H

#include <stddef.h>

#include "idm/status.h"

/* Room for effective sample sizes of one shape. */
typedef struct idm_ess idm_ess;
idm_status idm_ess_create(size_t chains, size_t draws, idm_ess **ret_ess, idm_error *opt_error);
void idm_ess_destroy(idm_ess *ess);
/* Effective sample size of x[chain][draw], two draws a chain or more: of constant draws their
 * number; NaN where a draw is not finite. */
double idm_ess_of(idm_ess *ess, const double *x);

#endif
