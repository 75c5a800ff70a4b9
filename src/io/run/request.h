/* config.yaml: the request of a run.
 *
 * Contents: request · audit request · absolute · read */
#ifndef IDM_IO_RUN_REQUEST_H
#define IDM_IO_RUN_REQUEST_H

#include "io/audit_run.h"
#include "io/file.h"
#include "io/request.h"
#include "io/run.h"
#include "io/yaml/emit.h"
#include "io/yaml/tree.h"

/* === request ================================================================================ */

/* config.yaml: functions that are shared with runs other than fits. */

/* As the functions of io/request.h, at locations. */
idm_status idm_request_write_at(const idm_problem *problem, const idm_request *request,
                                const idm_location *location, idm_error *opt_error);
idm_status idm_request_read_at(const idm_location *location, idm_problem **ret_problem,
                               idm_request *request, idm_notes *opt_notes, idm_error *opt_error);
bool idm_request_is_at(const idm_location *location);

/* Write the complete problem, then the section `fit`. */
void idm_put_request(idm_emitter *out, const idm_problem *problem, const idm_request *request);
/* Write fields by their keys; texts that are not set are omitted. */
void idm_put_keys(idm_emitter *out, const idm_key *keys, const void *fields);
/* Read the section `fit` of a file into a request, if there is one. */
idm_status idm_request_read_section(const idm_yaml_tree *tree, idm_request *request);
/* Returns true if a file has a section with that name, which is a mapping. */
bool idm_yaml_has_section(const idm_location *location, const char *name);

/* === audit request ========================================================================== */

/* Requests of audits at locations; see io/audit_run.h. */

idm_status idm_audit_request_read_at(const idm_location *location, idm_problem **ret_problem,
                                     idm_audit_request *request, idm_notes *opt_notes,
                                     idm_error *opt_error);
/* Returns true if a file is config.yaml of an audit. */
bool idm_audit_is_at(const idm_location *location);

/* === absolute =============================================================================== */

/* Absolute paths of inputs. */

/* Make the paths of problem, log and preferences absolute. A path is kept as given if its absolute
 * form does not exist, does not fit or is not UTF-8. */
void idm_request_make_absolute(idm_request *request);

/* === read =================================================================================== */

/* Reading of runs, for other files of this module. */

/* idm_dynamics_read_run; IDM_INPUT unless the dynamics have the problem's states, actions and
 * observations. */
idm_status idm_dynamics_read_for(const char *folder, const idm_problem *problem,
                                 idm_problem **ret_learnt, idm_dynamics_draws *draws,
                                 idm_error *opt_error);

#endif
