/* Request of a fit: all options of `idm fit`, as stored in config.yaml of a run. */
#ifndef IDM_IO_REQUEST_H
#define IDM_IO_REQUEST_H

#include "base/door.h"
#include "idm/extension/posterior.h"
#include "idm/extension/settings.h"
#include "idm/fit.h"
#include "invert/assess.h"
#include "invert/project.h"
#include "io/file.h"

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
/* True if a file is a config.yaml of a request. */
IDM_CHECKED bool idm_request_is(const char *path);
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

#endif
