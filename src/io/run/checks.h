/* Results of checks in summary.json, and as `idm check --json` prints them. */
#ifndef IDM_IO_RUN_CHECKS_H
#define IDM_IO_RUN_CHECKS_H

#include "idm/check.h"
#include "io/json.h"

/* An array of the rows that apply: name, outcome, value, threshold, and why it was not run. */
json_t *idm_checks_array(const idm_checks *checks);
/* Set depends_on_dynamics of a verdict, where it was measured: `also` where a part of the answer
 * does by other measures. */
void idm_checks_put_depends(json_t **verdict, const idm_checks *checks, bool also);
/* Read such an array. A row that ran since, and is not in it or was not run then, stays; so does
 * one that fails. Where there is no array, every row that applies is "not recorded". */
void idm_checks_take(const json_t *opt_array, idm_checks *checks);

/* Set `trusted` and `unchecked`, the names of checks that were left out, of a verdict. Where
 * nothing fails and checks were left out, `trusted` is null. */
void idm_checks_put_trust(json_t **verdict, const idm_checks *checks, bool trusted);

#endif
