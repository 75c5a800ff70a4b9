/* Findings in summary.json. */
#ifndef IDM_IO_RUN_FINDING_H
#define IDM_IO_RUN_FINDING_H

#include "idm/finding.h"
#include "io/json.h"

/* Keys of a finding into the object of a summary; `name` are those of its free numbers. */
void idm_finding_put(json_t **object, const idm_labels *name, const idm_finding *finding);
/* And back: NULL where the summary has none. What is not as it was written is passed over. */
idm_status idm_finding_take(const json_t *object, const idm_labels *name, idm_finding **ret_finding,
                            idm_error *opt_error);
/* The same of what an answer by the likelihood has of these: objective, certificate, policy. */
void idm_matched_put(json_t **object, const idm_finding *matched);
idm_status idm_matched_take(const json_t *object, idm_finding **ret_matched, idm_error *opt_error);

#endif
