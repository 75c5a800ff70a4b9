/* config.yaml, from within: what other runs than fits share of it. */
#ifndef IDM_IO_RUN_REQUEST_H
#define IDM_IO_RUN_REQUEST_H

#include "idm/request.h"
#include "io/place.h"
#include "io/yaml/emit.h"
#include "io/yaml/tree.h"

/* As the functions of idm/request.h, at places. */
idm_status idm_request_write_at(const idm_problem *problem, const idm_request *request,
                                const idm_place *place, idm_error *opt_error);
idm_status idm_request_read_at(const idm_place *place, idm_problem **ret_problem,
                               idm_request *request, idm_notes *opt_notes, idm_error *opt_error);
bool idm_request_is_at(const idm_place *place);

/* The complete problem, then the section `fit`. */
void idm_put_request(idm_emitter *out, const idm_problem *problem, const idm_request *request);
/* Fields by their keys; texts that are not set are left out. */
void idm_put_keys(idm_emitter *out, const idm_key *keys, const void *fields);
/* The section `fit` of a file into a request, where there is one. */
idm_status idm_request_read_section(const idm_yaml_tree *tree, idm_request *request);
/* Whether a file has such a section, which is a mapping. */
bool idm_yaml_has_section(const idm_place *place, const char *name);

#endif
