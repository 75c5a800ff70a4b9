/* A run of `idm audit`: a folder with config.yaml, run.nc and summary.json. */
#ifndef IDM_AUDIT_RUN_H
#define IDM_AUDIT_RUN_H

#include "idm/audit.h"
#include "idm/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Everything that an audit was asked to do. */
typedef struct idm_audit_request {
  idm_request request; /* problem, log, chains, draws, seed; first, so that its keys apply */
  char by[400];        /* a column, or */
  char group[4000];    /* predicates, one a line */
  idm_pool pool;
  idm_audit_dynamics dynamics;
  bool people;
} idm_audit_request;

IDM_API void idm_audit_request_default(idm_audit_request *request);
/* The keys of its own, beside those of the request: the section `audit` of config.yaml. */
IDM_API const idm_key *idm_audit_keys(void);
/* Whether exactly one of column and predicates is given: else IDM_USAGE. */
IDM_API idm_status idm_audit_request_check(const idm_audit_request *request, idm_error *opt_error);
/* The groups that it asks for. The data keep the columns of idm_audit_columns. */
IDM_API idm_status idm_audit_groups(const idm_audit_request *request, const idm_data *data,
                                    idm_groups **ret_groups, idm_notes *opt_notes,
                                    idm_error *opt_error);
/* The columns that it needs kept of the log (idm_csv_options.keep). */
IDM_API idm_status idm_audit_columns(const idm_audit_request *request, idm_labels *ret_columns,
                                     idm_error *opt_error);

/* Read a problem with a request, from config.yaml of an audit or of a fit, or a problem file, which
 * leave the defaults. */
IDM_API idm_status idm_audit_request_read(const char *path, idm_problem **ret_problem,
                                          idm_audit_request *request, idm_notes *opt_notes,
                                          idm_error *opt_error);
/* Problem and request of an audit that is not finished; see idm_run_read_unfinished. */
IDM_API idm_status idm_audit_read_unfinished(const char *folder, idm_problem **ret_problem,
                                             idm_audit_request *request, idm_notes *opt_notes,
                                             idm_error *opt_error);
/* Problem, request and posterior of the audit in a folder; see idm_run_read. */
IDM_API idm_status idm_audit_read_run(const char *folder, idm_problem **ret_problem,
                                      idm_audit_request *request, idm_posterior **opt_posterior,
                                      idm_notes *opt_notes, idm_error *opt_error);
/* Whether a folder holds an audit. */
IDM_API bool idm_audit_is(const char *folder);
/* What tells one request from another (see idm_request_label). */
IDM_API uint64_t idm_audit_request_label(const idm_problem *problem,
                                         const idm_audit_request *request);

#ifdef __cplusplus
}
#endif
#endif
