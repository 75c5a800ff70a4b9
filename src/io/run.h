/* Requests and run folders of fits, learnt dynamics and audits.
 *
 * netCDF and HDF5 are not thread-safe: no two calls of the netCDF functions below may run
 * concurrently, even for different files.
 *
 * Contents: request · run · audit */
#ifndef IDM_IO_RUN_H
#define IDM_IO_RUN_H

#include "base/arguments.h"
#include "base/key.h"
#include "idm/extension/fit_settings.h"
#include "idm/extension/posterior.h"
#include "idm/fit.h"
#include "idm/run.h"
#include "invert/assess.h"
#include "invert/audit.h"
#include "invert/cut.h"
#include "invert/project.h"
#include "io/file.h"

/* === request ================================================================================ */

/* Request of a fit: all options of `idm fit`, as stored in config.yaml of a run. */

typedef struct idm_request {
  char inverse[32];  /* name in the registry */
  char of_class[32]; /* class of the planner, inverse planner and free blocks; may be empty */
  idm_fit_settings settings;
  bool stan;                     /* write CmdStan CSV files in addition to run.nc */
  char data[1 << 15];            /* paths of the files of the log, one per line */
  char data_hash[IDM_HASH_SIZE]; /* SHA-256 in hexadecimal; for several files, of their concatenated
                                    hashes */
  char preferences[1024];        /* path of the table of preferences; empty: none */
  char preferences_hash[IDM_HASH_SIZE]; /* SHA-256 of that table */
  char where[2000];   /* row filter: predicates, one per line (see idm_csv_options) */
  char by[200];       /* column that identifies the people of a population; empty: none */
  char model[4000];   /* regression formulas of the population, one per line */
  char each[200];     /* column that identifies people who are fitted separately; empty: none */
  char problem[1024]; /* path of the problem, or example:NAME */
  char problem_hash[IDM_HASH_SIZE]; /* empty for a built-in example */
  char dynamics[1024]; /* folder of a run of `idm learn` whose draws of dynamics are used; empty:
                          none */
  char dynamics_hash[IDM_HASH_SIZE]; /* SHA-256 of its run.nc */
  size_t dynamics_draws;             /* number of these draws; 0: IDM_DYNAMICS_DRAWS */
} idm_request;
enum { IDM_DYNAMICS_DRAWS = 10 };

/* Fill the default request. */
IDM_CHECKED void idm_request_default(idm_request *request);
/* Keys of its fields, including those of the settings. Ends with a NULL name. */
IDM_CHECKED const idm_key *idm_request_keys(void);
/* Set the paths of problem and log, and their hashes. opt_data is one path or several, one per
 * line; NULL: the log that the request already names. If the request already has a log, its
 * contents must be unchanged (see idm_request_check_log). IDM_USAGE if a path cannot be stored in
 * config.yaml: too long, or not UTF-8. */
IDM_CHECKED idm_status idm_request_set_inputs(idm_request *request, const char *problem,
                                              const char *opt_data, idm_error *opt_error);
/* Check a log that the request may already name. IDM_INPUT if `data` is that file and its contents
 * have changed. */
IDM_CHECKED idm_status idm_request_check_log(const idm_request *request, const char *data,
                                             idm_error *opt_error);
/* Set the log of a request that is resumed, at its old path or another one. IDM_INPUT if its
 * contents differ from the original log. */
IDM_CHECKED idm_status idm_request_set_log(idm_request *request, const char *opt_data,
                                           idm_error *opt_error);
/* Compute the hash of the table of preferences, if there is one. IDM_INPUT if it differs from an
 * earlier hash, or the inverse planner requires a table and none is given. */
IDM_CHECKED idm_status idm_request_hash_preferences(idm_request *request, idm_error *opt_error);
/* Compute the hash of the draws of dynamics, if there are any. IDM_INPUT if the folder is not a
 * run. */
IDM_CHECKED idm_status idm_request_hash_dynamics(idm_request *request, idm_error *opt_error);
/* Check that a request can be run. IDM_USAGE for unknown names; IDM_INPUT if no block is free. */
IDM_CHECKED idm_status idm_request_check(const idm_problem *problem, const idm_request *request,
                                         idm_error *opt_error);

/* Write config.yaml: the complete problem, then a section `fit` with the request and its label. The
 * file is a valid problem file. */
IDM_CHECKED idm_status idm_request_write(const idm_problem *problem, const idm_request *request,
                                         const char *path, idm_error *opt_error);
/* Read problem and request from a config.yaml. A problem file without the section `fit`, or in
 * another format, leaves the defaults. *ret_problem is owned by the caller. Unknown names are
 * IDM_INPUT with their place. */
IDM_CHECKED idm_status idm_request_read(const char *path, idm_problem **ret_problem,
                                        idm_request *request, idm_notes *opt_notes,
                                        idm_error *opt_error);

/* Label of a request: a 64-bit hash of the problem as read and of the settings that affect draws.
 * It does not depend on paths or on the layout of config.yaml. */
IDM_CHECKED uint64_t idm_request_label(const idm_problem *problem, const idm_request *request);

/* Read the verdict of a summary into an assessment of the draws: failures and remarks of the
 * summary replace those of the assessment (only its failures, if the assessment has some), and the
 * answer is trusted if both trust it. IDM_INPUT if the summary belongs to other draws. */
IDM_CHECKED idm_status idm_summary_read(const char *path, const idm_posterior *posterior,
                                        idm_assessment *assessment, idm_error *opt_error);

/* === run ==================================================================================== */

/* Runs: folders written by `idm fit` and `idm learn`.
 *
 * netCDF and HDF5 are not thread-safe: no two calls of the netCDF functions below may run
 * concurrently, even for different files. */

/* --- state of a run -------------------------------------------------------------------------- */

/* A folder may come from an untrusted source. Its files are opened relative to the folder and must
 * be regular files: symbolic links, pipes, sockets, devices and folders of these names are
 * IDM_INPUT. The path of the folder itself may contain links. Functions that only read (idm_run_is,
 * _complete, _has, _read, _read_config, _assess) change nothing in it. */

/* Check that a run can be written to a folder: the first checks of idm_run_fit, idm_run_audit and
 * idm_dynamics_write_run. Changes nothing except that temporary files of processes that have ended
 * are removed. */
IDM_CHECKED idm_status idm_run_check(const char *folder, idm_run_mode mode,
                                     const idm_request *request, idm_error *opt_error);
/* True if a path leads to one of the files of a run. */
IDM_CHECKED bool idm_run_has(const char *run, const char *path);

/* Read problem, request and posterior of a run; arguments that are NULL are not returned. If the
 * posterior is requested and the fit used learnt dynamics, the problem has the central ones
 * (idm_dynamics_sets.central). All three files must belong together, including those that are not
 * requested. If a run was killed while it replaced another, the valid one is read, and a note names
 * the command that repairs the folder. Objects are owned by the caller. IDM_INPUT for damaged or
 * inconsistent files. */
IDM_CHECKED idm_status idm_run_read(const char *folder, idm_problem **opt_problem,
                                    idm_request *opt_request, idm_posterior **opt_posterior,
                                    idm_notes *opt_notes, idm_error *opt_error);
/* Read config.yaml of a run, an audit or a study as text, freed by the caller with free().
 * IDM_INPUT above `limit` bytes. */
IDM_CHECKED idm_status idm_run_read_config(const char *folder, size_t limit, char **ret_text,
                                           idm_error *opt_error);
/* Read problem and request of the unfinished run in a folder: one that was to overwrite the run
 * there and was stopped, else the run itself. A complete run that was killed before it was moved to
 * its place is moved first. */
IDM_CHECKED idm_status idm_run_read_unfinished(const char *folder, idm_problem **ret_problem,
                                               idm_request *request, idm_notes *opt_notes,
                                               idm_error *opt_error);
/* Assess a run: diagnostics recomputed from its draws, and the verdict of its summary.
 * *ret_assessment is owned by the caller. */
IDM_CHECKED idm_status idm_run_assess(const char *folder, const idm_posterior *posterior,
                                      idm_assessment **ret_assessment, idm_error *opt_error);

/* --- files of a run -------------------------------------------------------------------------- */

/* Write an answer as netCDF-4 in the layout of ArviZ's InferenceData, and read it back without its
 * problem; see idm_posterior_write_netcdf. */
IDM_CHECKED idm_status idm_posterior_write_file(const idm_posterior *posterior,
                                                const idm_problem *problem,
                                                const idm_data *opt_data, const char *path,
                                                idm_error *opt_error);
IDM_CHECKED idm_status idm_posterior_read_file(const char *path, idm_posterior **ret_posterior,
                                               idm_error *opt_error);
/* Write one chain in CmdStan's CSV layout: lp__, accept_stat__, those of stepsize__, treedepth__,
 * n_leapfrog__ (evaluations of the target), divergent__ and energy__ that the sampler provides,
 * then the quantities. Indices are numbers from 1, as required by the format
 * (utility[declare_healthy,healthy] is utility.1.1); comments in the file list the labels. */
IDM_CHECKED idm_status idm_posterior_write_stan(const idm_posterior *posterior, size_t chain,
                                                const char *path, idm_error *opt_error);

/* === audit ================================================================================== */

/* Requests and run folders of `idm audit`: config.yaml, run.nc and summary.json. */

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
IDM_CHECKED idm_status idm_groups_create(const idm_audit_request *request, const idm_data *data,
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
