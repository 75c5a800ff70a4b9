/* Files people write and read: the only floor that opens files. */
#ifndef IDM_IO_H
#define IDM_IO_H

#include "idm/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- whole files ---------------------------------------------------------------------------- */

/* Read a file into a NUL-terminated buffer; files above `limit` bytes are refused. "-" is standard
 * input. */
IDM_API idm_status idm_file_read(const char *path, size_t limit, char **ret_text,
                                 size_t *ret_length, idm_error *opt_error);

/* A file that appears whole or not at all: written under a temporary name, renamed at commit.
 * "-" is standard output. */
typedef struct idm_file idm_file;
IDM_API idm_status idm_file_create(const char *path, idm_file **ret_file, idm_error *opt_error);
/* Errors are sticky and come out at commit. */
IDM_API void idm_file_printf(idm_file *file, const char *format, ...) IDM_PRINTF(2, 3);
IDM_API void idm_file_write(idm_file *file, const char *bytes, size_t length);
/* Flush, rename, free. On failure nothing is left behind. */
IDM_API idm_status idm_file_commit(idm_file *file, idm_error *opt_error);
/* Drop what was written. Takes NULL. */
IDM_API void idm_file_abandon(idm_file *file);

/* --- problems ------------------------------------------------------------------------------- */

/* A problem from a file: Cassandra's format where the name ends in .POMDP (any case), else YAML;
 * "example:NAME" is a built-in example. Not yet validated against overrides. */
IDM_API idm_status idm_problem_read(const char *path, idm_problem **ret_problem,
                                    idm_notes *opt_notes, idm_error *opt_error);
/* The same from memory; `file` is the name used in messages. */
IDM_API idm_status idm_problem_parse_yaml(const char *text, size_t length, const char *file,
                                          idm_problem **ret_problem, idm_notes *opt_notes,
                                          idm_error *opt_error);
IDM_API idm_status idm_problem_parse_pomdp(const char *text, size_t length, const char *file,
                                           idm_problem **ret_problem, idm_notes *opt_notes,
                                           idm_error *opt_error);
/* Apply "key=value" as --set does: agent keys, discount, horizon, utility.ACTION[.STATE]. */
IDM_API idm_status idm_problem_set(idm_problem *problem, const char *assignment,
                                   idm_error *opt_error);
/* Free blocks as --free does, in place of those that the file frees: "beta, eta", or what may stand
 * under `free:` in the file. */
IDM_API idm_status idm_problem_free(idm_problem *problem, const char *text, idm_error *opt_error);
/* Write. What the target cannot express goes into the notes; where leaving it out would change the
 * problem's meaning, IDM_INPUT. */
IDM_API idm_status idm_problem_write_yaml(const idm_problem *problem, const char *path,
                                          idm_notes *opt_notes, idm_error *opt_error);
IDM_API idm_status idm_problem_write_pomdp(const idm_problem *problem, const char *path,
                                           idm_notes *opt_notes, idm_error *opt_error);

/* Built-in examples: name and text of example i, or NULL past the last. */
IDM_API const char *idm_example_name(size_t index);
IDM_API const char *idm_example_text(size_t index);

/* --- data ----------------------------------------------------------------------------------- */

typedef struct idm_csv_options {
  const char *const *keep; /* names of covariates to keep */
  size_t keep_count;
  unsigned columns; /* evidence to read where the log has it: bits 1 << idm_column */
} idm_csv_options;

/* Read a log by streaming. Needs the problem's labels, column roles and utility columns. */
IDM_API idm_status idm_data_read_csv(const char *path, const idm_problem *problem,
                                     const idm_csv_options *opt_options, idm_data **ret_data,
                                     idm_notes *opt_notes, idm_error *opt_error);
IDM_API idm_status idm_data_parse_csv(const char *text, size_t length, const char *file,
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
