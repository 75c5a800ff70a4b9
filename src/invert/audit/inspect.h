/* The model's half of the verdict on a cell: chance, agents who are alike, the log's own summaries.
 */
#ifndef IDM_INVERT_AUDIT_INSPECT_H
#define IDM_INVERT_AUDIT_INSPECT_H

#include "idm/assess.h"
#include "invert/assess/allowance.h"
#include "invert/assess/strata.h"
#include "invert/audit/model.h"

/* The time limit of the checks of all cells, from now on. */
allowance idm_audit_limit(const audit_model *model);
/* What `idm fit` asks of a model, of every cell at its best draw: misfits and the model's check of
 * assessment[cell], which is zeroed first and freed by idm_audit_inspected_clear. `among` cells are
 * judged together. */
idm_status idm_audit_inspect(const audit_model *model, const audit_draws *draws, size_t among,
                             idm_assessment *assessment, idm_error *opt_error);
/* The same of one cell whose agents have numbers of their own, into an assessment that is zeroed
 * but for its checks, which have begun. */
idm_status idm_audit_inspect_cell(const audit_model *model, const audit_draws *draws, size_t cell,
                                  const strata *agents, size_t among, const allowance *limit,
                                  idm_assessment *assessment, idm_error *opt_error);
void idm_audit_inspected_clear(idm_assessment *assessment, size_t cells);

#endif
