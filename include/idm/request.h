/* A request: everything that `idm fit` was asked to do, as kept in a run's config.yaml. */
#ifndef IDM_REQUEST_H
#define IDM_REQUEST_H

#include "idm/assess.h"
#include "idm/file.h"
#include "idm/posterior.h"
#include "idm/project.h"
#include "idm/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idm_request {
  char inverse[32];  /* name in the registry */
  char of_class[32]; /* the class that planner, inverse planner and freedom are of; may be empty */
  idm_fit_settings settings;
  bool stan;                     /* CmdStan's CSV beside run.nc */
  char data[1 << 15];            /* paths of the log's files, one a line */
  char data_hash[IDM_HASH_SIZE]; /* SHA-256 in hexadecimal; of several files that of their hashes */
  char preferences[1024];        /* table of preferences; empty: none */
  char preferences_hash[IDM_HASH_SIZE]; /* of that table */
  char where[2000];   /* conditions on its rows, one a line (see idm_csv_options) */
  char by[200];       /* people of a population by this column; empty: not asked for */
  char model[4000];   /* what the population depends on: formulas, one a line */
  char each[200];     /* people one by one by this column; empty: not asked for */
  char problem[1024]; /* path of the problem, or example:NAME */
  char problem_hash[IDM_HASH_SIZE]; /* empty for a built-in example */
  char dynamics[1024];              /* folder of a run of `idm learn`, over whose draws is fitted */
  char dynamics_hash[IDM_HASH_SIZE]; /* of its run.nc */
  size_t dynamics_draws;             /* how many of them; 0: IDM_DYNAMICS_DRAWS */
} idm_request;
enum { IDM_DYNAMICS_DRAWS = 10 };

IDM_API void idm_request_default(idm_request *request);
/* Its fields, those of the settings among them. */
IDM_API const idm_key *idm_request_keys(void);
/* Say where problem and log lie, and what is in them; the log is one path, or several, one a line.
 * opt_data NULL: the log that the request names already. A log that it names, by this path or
 * another, must be what it was (see idm_request_check_log). IDM_USAGE where config.yaml could not
 * name a path: it is too long, or not UTF-8. */
IDM_API idm_status idm_request_set_inputs(idm_request *request, const char *problem,
                                          const char *opt_data, idm_error *opt_error);
/* IDM_INPUT where `data` is the file that the request names as its log, and holds something else
 * than it did then. */
IDM_API idm_status idm_request_check_log(const idm_request *request, const char *data,
                                         idm_error *opt_error);
/* The log of a request that goes on, where it was or at another path: IDM_INPUT where its contents
 * are not those that the request began with. */
IDM_API idm_status idm_request_set_log(idm_request *request, const char *opt_data,
                                       idm_error *opt_error);
/* Say what is in the table of preferences, where it names one; IDM_INPUT where that was said before
 * and is something else now, or where the inverse planner needs one and none is named. */
IDM_API idm_status idm_request_hash_preferences(idm_request *request, idm_error *opt_error);
/* Say what is in the run that its dynamics are of, where it names one. */
IDM_API idm_status idm_request_hash_dynamics(idm_request *request, idm_error *opt_error);
/* Whether it can be begun with: names that are known (else IDM_USAGE), something free (else
 * IDM_INPUT). */
IDM_API idm_status idm_request_check(const idm_problem *problem, const idm_request *request,
                                     idm_error *opt_error);

/* config.yaml: the complete problem, then a section `fit` with the rest, idm_request_label among
 * it. A problem file itself. */
IDM_API idm_status idm_request_write(const idm_problem *problem, const idm_request *request,
                                     const char *path, idm_error *opt_error);
/* Whether a file is one. */
IDM_API bool idm_request_is(const char *path);
/* Read both back, from one reading of the file. A problem file without the section, or one of
 * another format, leaves the defaults. Names that are not known are IDM_INPUT at their place. */
IDM_API idm_status idm_request_read(const char *path, idm_problem **ret_problem,
                                    idm_request *request, idm_notes *opt_notes,
                                    idm_error *opt_error);

/* What tells one request from another: 64 bits for the problem as it was read and the settings that
 * draws depend on. Where its inputs lie, and how config.yaml is written, is no part of it. */
IDM_API uint64_t idm_request_label(const idm_problem *problem, const idm_request *request);

/* summary.json: the label of the request, diagnostics, what the data say, distance and verdict.
 * "-": standard output. */
IDM_API idm_status idm_summary_write(const idm_posterior *posterior,
                                     const idm_assessment *assessment,
                                     const idm_projection *opt_projection, const char *path,
                                     idm_error *opt_error);
/* Take the verdict of a summary into an assessment of the draws: its failures and remarks stand in
 * place of the assessment's own (its failures only where it has some), and the answer is trusted
 * where both trust it. IDM_INPUT where the summary is one of other draws. */
IDM_API idm_status idm_summary_read(const char *path, const idm_posterior *posterior,
                                    idm_assessment *assessment, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
