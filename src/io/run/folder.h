/* Internal interface of run folders: files, locks, trailers, checkpoints, config.yaml, and
 * summary.json.
 *
 * Contents: folder · files · lock · writer · seal · checkpoint · request · audit request ·
 * absolute · read · summary · checks · optimality · joint · people */
#ifndef IDM_IO_RUN_FOLDER_H
#define IDM_IO_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/key.h"
#include "idm/extension/optimality.h"
#include "idm/extension/posterior.h"
#include "idm/status.h"
#include "invert/assess.h"
#include "invert/checks.h"
#include "io/file.h"
#include "io/json.h"
#include "io/run.h"
#include "io/yaml/yaml.h"

/* === folder ================================================================================= */

/* Open folders of runs and campaigns: every file in a folder is reached through its descriptor.
 *
 * The path of a folder may contain links, since the caller names it. Its content may come from an
 * untrusted source: its files must be regular files and its inner folders must be folders. Links,
 * pipes, sockets and devices of these names are IDM_INPUT. */

/* All names that the program creates in a folder, except the temporary names of files (io/file.h).
 * tests/folders.py reads this list. */
#define IDM_FILE_CONFIG       "config.yaml"
#define IDM_FILE_POSTERIOR    "run.nc"
#define IDM_FILE_SUMMARY      "summary.json"
#define IDM_FILE_CHECKPOINT   "checkpoint"
#define IDM_FILE_CHAIN        "chain-%zu.csv"
#define IDM_FILE_REPORT       "report.html"
#define IDM_FILE_REPLICATIONS "replications.jsonl"
#define IDM_FILE_LOCK         ".idm-lock"
#define IDM_FOLDER_NEXT       ".idm-next"
#define IDM_FOLDER_READY      ".idm-ready"

/* Text near the beginning of a report that the program wrote. */
#define IDM_REPORT_SIGNATURE "name=\"generator\" content=\"idm "

typedef struct idm_folder {
  int descriptor; /* -1: not open */
  char path[IDM_PATH_SIZE];
} idm_folder;

/* Returns true if a path is a folder. */
bool idm_folder_is(const char *path);
/* Create a folder, unless it exists. */
idm_status idm_folder_make(const char *path, bool *ret_created, idm_error *opt_error);
/* Open a folder by its path. Closing has no effect after a failure, or if the folder is not open.
 */
idm_status idm_folder_open(idm_folder *folder, const char *path, idm_error *opt_error);
/* Open a folder in a folder. If it does not exist, `inner` is not open, and the function succeeds.
 */
idm_status idm_folder_open_inner(const idm_folder *outer, const char *name, idm_folder *inner,
                                 idm_error *opt_error);
void idm_folder_close(idm_folder *folder);

/* Location of a file of a folder; its path is written to `path`. A folder that is not open has no
 * files. */
idm_location idm_folder_location(const idm_folder *folder, const char *name,
                                 char path[IDM_PATH_SIZE]);
bool idm_folder_has(const idm_folder *folder, const char *name);
/* Name of chain i, counted from 0. */
enum { IDM_CHAIN_NAME = 40 };
const char *idm_chain_name(size_t chain, char name[IDM_CHAIN_NAME]);
bool idm_chain_name_is(const char *name);

/* Call `visit` with every name in a folder, hidden names included, until it returns false. */
void idm_folder_each(const idm_folder *folder, bool (*visit)(void *context, const char *name),
                     void *context);
/* A name in a folder that is neither hidden nor temporary; empty if there is none. Stale temporary
 * files are removed. */
void idm_folder_first_name(const idm_folder *folder, char name[256]);
/* Remove a temporary file if it is stale; returns true for every temporary name. */
bool idm_folder_remove_stale(const idm_folder *folder, const char *name);

/* IDM_INPUT if anything in a folder has one of the names above and is of another kind. */
idm_status idm_folder_check(const idm_folder *folder, idm_error *opt_error);
/* Rename a file from one folder into another. */
idm_status idm_folder_move(const idm_folder *from, const char *name, const idm_folder *to,
                           idm_error *opt_error);
/* Remove a file if it exists; a folder with that name is kept. */
void idm_folder_remove(const idm_folder *folder, const char *name);
/* Remove an inner folder if it is empty. */
void idm_folder_remove_inner(const idm_folder *folder, const char *name);

/* === files ================================================================================== */

/* Files of a run for reading, whether or not they are in their final place. The folder is not
 * changed. */

/* A run's folder and its inner folders, which are not open if they do not exist.
 *
 * A run that replaces another is written to `next`. When it is complete, `next` is renamed to
 * `ready`, which makes the new run the valid one. Its files are then moved up, one by one. */
typedef struct idm_run_files {
  idm_folder run;
  idm_folder next;
  idm_folder ready;
} idm_run_files;

idm_status idm_run_files_open(idm_run_files *files, const char *run, idm_error *opt_error);
/* The same for a folder that is open already. */
idm_status idm_run_files_of(idm_run_files *files, const idm_folder *run, idm_error *opt_error);
void idm_run_files_close(idm_run_files *files);
/* Location of a file of the valid run, whether or not it has been moved up. */
idm_location idm_run_files_location(const idm_run_files *files, const char *name,
                                    char path[IDM_PATH_SIZE]);
/* Returns true if the file exists there. */
bool idm_run_files_exist(const idm_run_files *files, const char *name);
/* Returns true if a complete run has not been moved to its place. */
bool idm_run_files_is_pending(const idm_run_files *files);
/* Returns true if a folder contains a complete run. */
bool idm_folder_is_complete(const idm_folder *folder);
/* Folder of the fit that --resume continues: `next` if it contains one, otherwise the run's folder.
 */
const idm_folder *idm_run_files_unfinished(const idm_run_files *files);

/* Location of an output: in the open folder if the path names a file of it, otherwise the path
 * itself. */
idm_location idm_folder_output(const idm_folder *folder, const char *path);

/* === lock =================================================================================== */

/* Lock for a single writer; it ends with the process that holds it. */

/* Zero-initialise. */
typedef struct idm_lock {
  char *path;     /* of the lock file; NULL if no lock is held */
  char *name;     /* the file's name relative to the folder */
  int folder;     /* descriptor of the folder; borrowed */
  int descriptor; /* of the lock file */
} idm_lock;

/* Take a lock, which is a file at that location. IDM_SYSTEM if another process, or another caller
 * in this process, holds it; IDM_INPUT if the location is not a regular file. A process that is
 * killed leaves the file but no lock. Only a file that this call creates is written to: an existing
 * one may be a hard link to another file. */
idm_status idm_lock_take(idm_lock *lock, const idm_location *location, idm_error *opt_error);
/* Release the lock and remove its file. */
void idm_lock_release(idm_lock *lock);

/* === writer ================================================================================= */

/* A run that is being written, in an empty folder or in place of another run. */

typedef struct idm_run_writer {
  idm_folder run;
  idm_folder next;        /* folder of a run that replaces another; not open otherwise */
  const idm_folder *work; /* folder that files are written to: one of the two */
  idm_lock lock;
  bool created; /* this writer created the run's folder */
} idm_run_writer;

/* Lock an open folder. */
idm_status idm_folder_lock(const idm_folder *folder, idm_lock *lock, idm_error *opt_error);
/* Create the folder, or check that the mode and its content allow the run, and lock it. On failure
 * nothing is changed. */
idm_status idm_run_begin(idm_run_writer *writer, const char *run, idm_run_mode mode,
                         const idm_request *request, idm_error *opt_error);
/* Move a complete run to its place. */
idm_status idm_run_commit(idm_run_writer *writer, idm_error *opt_error);
/* Unlock. Files are removed unless `keep` is true or there is a checkpoint to resume from. */
void idm_run_end(idm_run_writer *writer, bool keep);
/* Move a complete run to its place after a process was killed before it did so. */
idm_status idm_run_finish_move(const char *run, idm_error *opt_error);

/* === seal =================================================================================== */

/* Trailer of run.nc: a checksum of the image. */

/* Text before the 64 hexadecimal digits; a newline ends the trailer. */
#define IDM_TRAILER_PREFIX "\n# idm run, SHA-256 "
enum { IDM_TRAILER_LENGTH = sizeof IDM_TRAILER_PREFIX - 1 + 64 + 1 };

/* Trailer of an image, NUL-terminated. */
void idm_trailer(const void *image, size_t length, char trailer[IDM_TRAILER_LENGTH + 1]);
/* Write an image and its trailer. */
idm_status idm_trailer_write(const void *image, size_t length, const idm_location *location,
                             idm_error *opt_error);

/* === checkpoint ============================================================================= */

/* Checkpoints of work in a run folder. */

/* Progress callback of the caller, and the state of checkpoints. */
typedef struct idm_checkpointer {
  const idm_folder *folder;
  idm_progress progress; /* or NULL */
  void *context;
  char path[IDM_PATH_SIZE]; /* of the checkpoint, for messages */
  char *bytes;              /* checkpoint from which the work is resumed; NULL: none */
  size_t length;
  double saved;        /* time of the last checkpoint */
  double cost;         /* seconds that writing it took */
  double done;         /* share of the work done at that time */
  bool stop_requested; /* the callback requested a stop */
  idm_status status;   /* of writing checkpoints */
  idm_error error;
} idm_checkpointer;

/* Begin, with the checkpoint of a run that is resumed; without one the work begins at the start. */
idm_status idm_checkpointer_begin(idm_checkpointer *checkpointer, const idm_folder *folder,
                                  idm_run_mode mode, idm_progress opt_progress, void *context,
                                  idm_error *opt_error);
void idm_checkpointer_end(idm_checkpointer *checkpointer);
/* Monitor of a fit. It writes a checkpoint every few seconds, but spends at most a twentieth of the
 * time on it; and it writes one when a stop is requested and when the work is done. */
idm_fit_monitor idm_checkpointer_watch(idm_checkpointer *checkpointer, uint64_t label);

/* === request ================================================================================ */

/* config.yaml: functions that are shared with runs other than fits. */

/* As the functions of io/run.h, at locations. */
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

/* Requests of audits at locations; see io/run.h. */

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

/* Read draws of dynamics and the problem they were learnt for. IDM_INPUT unless the dynamics have
 * the problem's states, actions and observations. */
idm_status idm_dynamics_read_for(const char *folder, const idm_problem *problem,
                                 idm_problem **ret_learnt, idm_dynamics_draws *draws,
                                 idm_error *opt_error);

/* === summary ================================================================================ */

/* summary.json at locations; see io/run.h. */

idm_status idm_summary_write_at(const idm_posterior *posterior, const idm_assessment *assessment,
                                const idm_projection *opt_projection, const idm_location *location,
                                idm_error *opt_error);
idm_status idm_summary_read_at(const idm_location *location, const idm_posterior *posterior,
                               idm_assessment *assessment, idm_error *opt_error);

/* === checks ================================================================================= */

/* Results of checks in summary.json and in the output of `idm check --json`. */

/* Array of the checks that apply: name, outcome, value, threshold, and the reason why it was not
 * run. */
json_t *idm_checks_array(const idm_checks *checks);
/* Set depends_on_dynamics of a verdict, if it was measured; `also` is true if a part of the answer
 * depends on the dynamics by other measures. */
void idm_checks_put_depends(json_t **verdict, const idm_checks *checks, bool also);
/* Read such an array. A check that has been run since, and is not in the array or was not run then,
 * keeps its result; so does a check that fails. Without an array, every check that applies is "not
 * recorded". */
void idm_checks_read(const json_t *opt_results, idm_checks *checks);

/* Set `trusted` of a verdict, and `unchecked`, the names of checks that were left out. If nothing
 * fails and checks were left out, `trusted` is null. */
void idm_checks_put_trust(json_t **verdict, const idm_checks *checks, bool trusted);

/* === optimality ============================================================================= */

/* Findings in summary.json. */

/* Write an optimality record into the object of a summary; `name` are the names of its free
 * numbers. */
void idm_optimality_put(json_t **object, const idm_labels *name, const idm_optimality *optimality);
/* Read an optimality record; NULL if the summary has none. Entries of an unexpected form are
 * ignored. */
idm_status idm_optimality_read(const json_t *object, const idm_labels *name,
                               idm_optimality **ret_optimality, idm_error *opt_error);
/* The same for the parts of an optimality record that an answer by the likelihood has: objective,
 * certificate, policy. */
void idm_likelihood_optimality_put(json_t **object, const idm_optimality *matched);
idm_status idm_likelihood_optimality_read(const json_t *object, idm_optimality **ret_matched,
                                          idm_error *opt_error);

/* === joint ================================================================================== */

/* Dynamics drawn jointly with the decisions, in summary.json. */

/* mean and sd by name, and the worst diagnostics. */
json_t *idm_json_joint(const idm_joint_dynamics *dynamics);
/* The learnt dynamics in which the policy of the answer is planned, as one list (see idm_dynamics),
 * and the index of their draw; without an index they are the mean. */
json_t *idm_json_central(const idm_dynamics_sets *drawn);

/* === people ================================================================================= */

/* People in summary.json: the population, and the parameters and verdict of every person. */

/* Mean, sd, errors, quantiles and diagnostics of one quantity. */
json_t *idm_json_diagnosis(const idm_diagnosis *diagnosis);
/* Write `population`, if there is one: by effect its coefficients, sd and R2, and the correlations.
 * Write `people`: by person the effects and further results. */
void idm_people_put(json_t **object, const idm_posterior *posterior,
                    const idm_assessment *assessment);
/* Read the results on people that the draws do not contain into an assessment; entries of an
 * unexpected form are ignored. */
idm_status idm_people_read(const json_t *object, const idm_posterior *posterior,
                           idm_assessment *assessment, idm_error *opt_error);

#endif
