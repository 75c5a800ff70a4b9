/* config.yaml: the request of a run.
 *
 * Contents: request · audit request · absolute · read */
#ifndef IDM_IO_RUN_REQUEST_H
#define IDM_IO_RUN_REQUEST_H

#include "idm/audit_run.h"
#include "idm/request.h"
#include "idm/run.h"
#include "io/file.h"
#include "io/yaml/emit.h"
#include "io/yaml/tree.h"

/* === request ================================================================================ */

/* config.yaml, from within: what other runs than fits share of it. */

/* As the functions of idm/request.h, at places. */
idm_status idm_request_write_at(const idm_problem *problem, const idm_request *request,
                                const idm_location *location, idm_error *opt_error);
idm_status idm_request_read_at(const idm_location *location, idm_problem **ret_problem,
                               idm_request *request, idm_notes *opt_notes, idm_error *opt_error);
bool idm_request_is_at(const idm_location *location);

/* The complete problem, then the section `fit`. */
void idm_put_request(idm_emitter *out, const idm_problem *problem, const idm_request *request);
/* Fields by their keys; texts that are not set are left out. */
void idm_put_keys(idm_emitter *out, const idm_key *keys, const void *fields);
/* The section `fit` of a file into a request, where there is one. */
idm_status idm_request_read_section(const idm_yaml_tree *tree, idm_request *request);
/* Whether a file has such a section, which is a mapping. */
bool idm_yaml_has_section(const idm_location *location, const char *name);

/* === audit request ========================================================================== */

/* Requests of audits at places: see idm/audit_run.h. */

idm_status idm_audit_request_read_at(const idm_location *location, idm_problem **ret_problem,
                                     idm_audit_request *request, idm_notes *opt_notes,
                                     idm_error *opt_error);
/* Whether a file is config.yaml of an audit. */
bool idm_audit_is_at(const idm_location *location);

/* === absolute =============================================================================== */

/* Paths that are good from every folder. */

/* Let a request name problem and log by absolute paths; a path stays as it was given where its
 * absolute form cannot be had, or could not be named. */
void idm_request_make_absolute(idm_request *request);

/* === read =================================================================================== */

/* Runs, as others of the room read them. */

/* idm_dynamics_read_run of dynamics that must be of the problem's states, actions and observations.
 */
idm_status idm_dynamics_read_for(const char *folder, const idm_problem *problem,
                                 idm_problem **ret_learnt, idm_dynamics_draws *draws,
                                 idm_error *opt_error);

#endif
