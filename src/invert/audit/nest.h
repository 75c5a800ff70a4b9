/* Agents nested in groups: each has numbers of its own, normal around those of its cell. */
#ifndef IDM_INVERT_AUDIT_NEST_H
#define IDM_INVERT_AUDIT_NEST_H

#include "idm/assess.h"
#include "idm/audit.h"
#include "invert/audit/model.h"

/* Divide the agents of a model whose cells have problem and data into wards: one where cells are
 * pooled, else one a cell. IDM_INPUT names an agent who is in several cells, or the group that is
 * one agent with nobody to be pooled with. */
idm_status idm_audit_nest(const idm_problem *problem, const idm_data *data,
                          const idm_groups *groups, audit_model *model, idm_error *opt_error);
void idm_audit_wards_clear(audit_model *model);

/* The part of idm_audit_sample that is of one ward, with what its agents say of their cells (apart)
 * where scale is 1. `step` is of the journal; *stopped: the watch has stopped it. */
idm_status idm_audit_nest_sample(const audit_model *model, double scale,
                                 const audit_watch *opt_watch, uint64_t step, size_t ward,
                                 bool *stopped, audit_draws *draws, idm_error *opt_error);
/* What its agents say of their cells, there or back. */
idm_status idm_audit_nest_pass(const audit_model *model, size_t ward, double scale,
                               idm_record *record, idm_error *opt_error);
/* As idm_audit_inspect, of agents with numbers of their own. */
idm_status idm_audit_nest_inspect(const audit_model *model, const audit_draws *draws, size_t among,
                                  idm_assessment *assessment, idm_error *opt_error);

#endif
