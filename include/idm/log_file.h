/* Logs in files: CSV read and written, and a first problem file from one. */
#ifndef IDM_LOG_FILE_H
#define IDM_LOG_FILE_H

#include "idm/data.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idm_csv_options {
  const char *const *keep; /* names of covariates to keep */
  size_t keep_count;
  unsigned columns; /* evidence to read where the log has it: bits 1 << idm_column */
} idm_csv_options;

/* Read a log by streaming. Needs the problem's labels, column roles and utility columns. */
IDM_API idm_status idm_data_read_csv(const char *path, const idm_problem *problem,
                                     const idm_csv_options *opt_options, idm_data **ret_data,
                                     idm_notes *opt_notes, idm_error *opt_error);
IDM_API idm_status idm_data_parse_csv(const char *text, size_t length, const char *opt_file,
                                      const idm_problem *problem,
                                      const idm_csv_options *opt_options, idm_data **ret_data,
                                      idm_notes *opt_notes, idm_error *opt_error);
/* Write data with columns agent, trajectory, step, action, observation, where they differ from the
 * setting's start belief.STATE on first rows, and the evidence that there is. */
IDM_API idm_status idm_data_write_csv(const idm_data *data, const idm_setting *setting,
                                      const char *path, idm_error *opt_error);
/* A first problem file from a table: labels found, blanks to fill. */
IDM_API idm_status idm_init_write(const char *data_path, const char *problem_path,
                                  idm_notes *opt_notes, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
