/* Problem files: YAML, Cassandra's POMDP format, overrides and built-in examples. */
#ifndef IDM_PROBLEM_FILE_H
#define IDM_PROBLEM_FILE_H

#include "idm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Read a problem: Cassandra's format if the name ends in .POMDP (any case), otherwise YAML;
 * "example:NAME" is a built-in example. *ret_problem is owned by the caller. IDM_INPUT with the
 * place of a fault; IDM_SYSTEM if the file cannot be opened. Overrides are validated when they are
 * applied. */
IDM_API idm_status idm_problem_read(const char *path, idm_problem **ret_problem,
                                    idm_notes *opt_notes, idm_error *opt_error);
/* The same, but transitions of many hidden states in a .POMDP file stay sparse (`moves` of the
 * setting), with memory proportional to the number of entries that are not 0. Only planners with
 * IDM_SUPPORTS_SPARSE_HIDDEN support such a problem (built in: `point-based`). Beliefs along a log
 * or a path require matrices. */
IDM_API idm_status idm_problem_read_by_rows(const char *path, idm_problem **ret_problem,
                                            idm_notes *opt_notes, idm_error *opt_error);
/* The same from `length` bytes of YAML text; opt_file is the file name used in messages. */
IDM_API idm_status idm_problem_parse_yaml(const char *text, size_t length, const char *opt_file,
                                          idm_problem **ret_problem, idm_notes *opt_notes,
                                          idm_error *opt_error);
/* The same from `length` bytes of text in Cassandra's format. */
IDM_API idm_status idm_problem_parse_pomdp(const char *text, size_t length, const char *opt_file,
                                           idm_problem **ret_problem, idm_notes *opt_notes,
                                           idm_error *opt_error);
/* Apply "key=value", as the option --set: agent keys, discount, horizon, utility.ACTION[.STATE].
 * IDM_USAGE or IDM_INPUT names the fault. */
IDM_API idm_status idm_problem_set(idm_problem *problem, const char *assignment,
                                   idm_error *opt_error);
/* Free blocks, as the option --free, instead of those freed in the file: "beta, eta", or any text
 * that is legal under `free:` in a file. */
IDM_API idm_status idm_problem_set_free(idm_problem *problem, const char *text,
                                        idm_error *opt_error);
/* Give a problem new states, named state1, state2 and so on, without knowledge of them: the
 * dynamics leave everything possible, models follow their rule, and the utility of an action is
 * kept if it is the same in every state. *ret_unknown receives the number of other actions, whose
 * utilities are placeholders in a file written from the problem and must be filled in before that
 * file can be read. */
IDM_API idm_status idm_problem_reset_states(idm_problem *problem, size_t states,
                                            size_t *ret_unknown, idm_error *opt_error);
/* Write a problem as YAML. Content that the format cannot express is reported in opt_notes. Path
 * "-" is standard output. */
IDM_API idm_status idm_problem_write_yaml(const idm_problem *problem, const char *path,
                                          idm_notes *opt_notes, idm_error *opt_error);
/* The same with the lines of `head` as comments at the top. */
IDM_API idm_status idm_problem_write_yaml_headed(const idm_problem *problem, const char *head,
                                                 const char *path, idm_error *opt_error);
/* Write a problem in Cassandra's format. Content that the format cannot express is reported in
 * opt_notes; IDM_INPUT if its omission would change the meaning of the problem. */
IDM_API idm_status idm_problem_write_pomdp(const idm_problem *problem, const char *path,
                                           idm_notes *opt_notes, idm_error *opt_error);

/* Name of built-in example number `index`, or NULL past the last. */
IDM_API const char *idm_example_name(size_t index);
/* YAML text of built-in example number `index`, or NULL past the last. */
IDM_API const char *idm_example_text(size_t index);

#ifdef __cplusplus
}
#endif
#endif
