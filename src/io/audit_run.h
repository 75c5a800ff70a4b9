/* Requests and run folders of `idm audit`: config.yaml, run.nc and summary.json. */
#ifndef IDM_IO_AUDIT_RUN_H
#define IDM_IO_AUDIT_RUN_H

#include "base/door.h"
#include "invert/audit.h"
#include "io/run.h"

/* All settings of an audit. */
typedef struct idm_audit_request {
  idm_request request; /* problem, log, chains, draws, seed; the first field, so that the keys of
                          idm_request apply */
  char by[400];        /* name of a column, or "" */
  char group[4000];    /* predicates separated by line ends, or "" */
  idm_pool pool;
  idm_audit_dynamics dynamics;
  bool people;
} idm_audit_request;

/* Set all fields to their defaults. */
IDM_CHECKED void idm_audit_request_default(idm_audit_request *request);
/* Descriptors of the fields of an audit, in addition to those of the request: the section `audit`
 * of config.yaml. The table is static. */
IDM_CHECKED const idm_key *idm_audit_keys(void);
/* Check that a request has either a column or predicates, and that its fields are in range: else
 * IDM_USAGE. */
IDM_CHECKED idm_status idm_audit_request_check(const idm_audit_request *request,
                                               idm_error *opt_error);
/* The groups of a request, by column or by predicates. The data must contain the columns of
 * idm_audit_columns as covariates. *ret_groups is the caller's. Errors as of
 * idm_audit_request_check, idm_groups_by and idm_groups_where. */
IDM_CHECKED idm_status idm_audit_groups(const idm_audit_request *request, const idm_data *data,
                                        idm_groups **ret_groups, idm_notes *opt_notes,
                                        idm_error *opt_error);
/* Names of the columns that a log must keep for the groups of a request (idm_csv_options.keep).
 * *ret_columns is the caller's. IDM_USAGE where the request or a predicate is not valid. */
IDM_CHECKED idm_status idm_audit_columns(const idm_audit_request *request, idm_labels *ret_columns,
                                         idm_error *opt_error);

/* Read a problem and a request from a file: config.yaml of an audit or of a fit, or a problem file.
 * Keys that the file does not give have their defaults. *ret_problem is the caller's; NULL after an
 * error, which names the place in the file. */
IDM_CHECKED idm_status idm_audit_request_read(const char *path, idm_problem **ret_problem,
                                              idm_audit_request *request, idm_notes *opt_notes,
                                              idm_error *opt_error);
/* Read problem and request of an unfinished audit; see idm_run_read_unfinished. IDM_INPUT where the
 * folder contains a run of another kind. */
IDM_CHECKED idm_status idm_audit_read_unfinished(const char *folder, idm_problem **ret_problem,
                                                 idm_audit_request *request, idm_notes *opt_notes,
                                                 idm_error *opt_error);
/* Read problem, request and posterior of the audit in a folder; see idm_run_read. */
IDM_CHECKED idm_status idm_audit_read_run(const char *folder, idm_problem **ret_problem,
                                          idm_audit_request *request, idm_posterior **opt_posterior,
                                          idm_notes *opt_notes, idm_error *opt_error);
/* Whether a folder contains an audit; false for NULL and where the folder cannot be read. */
IDM_CHECKED bool idm_audit_is(const char *folder);
/* Label of a problem and a request: equal for requests with the same draws (see idm_request_label).
 * 0 where an argument is NULL. */
IDM_CHECKED uint64_t idm_audit_request_label(const idm_problem *problem,
                                             const idm_audit_request *request);

#endif
