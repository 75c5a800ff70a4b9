/* Problems in files: YAML, Cassandra's format, overrides, built-in examples. */
#ifndef IDM_PROBLEM_FILE_H
#define IDM_PROBLEM_FILE_H

#include "idm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A problem from a file: Cassandra's format where the name ends in .POMDP (any case), else YAML;
 * "example:NAME" is a built-in example. Not yet validated against overrides. */
IDM_API idm_status idm_problem_read(const char *path, idm_problem **ret_problem,
                                    idm_notes *opt_notes, idm_error *opt_error);
/* The same, with the transitions of many hidden states in a .POMDP file kept row by row (`moves` of
 * the setting), in memory proportional to the entries that are not 0. Only planners that have
 * IDM_SUPPORTS_SPARSE_HIDDEN plan for such a problem, `point-based` of those built in; beliefs
 * along a log or a path need matrices. */
IDM_API idm_status idm_problem_read_by_rows(const char *path, idm_problem **ret_problem,
                                            idm_notes *opt_notes, idm_error *opt_error);
/* The same from memory; `file` is the name used in messages. */
IDM_API idm_status idm_problem_parse_yaml(const char *text, size_t length, const char *opt_file,
                                          idm_problem **ret_problem, idm_notes *opt_notes,
                                          idm_error *opt_error);
IDM_API idm_status idm_problem_parse_pomdp(const char *text, size_t length, const char *opt_file,
                                           idm_problem **ret_problem, idm_notes *opt_notes,
                                           idm_error *opt_error);
/* Apply "key=value" as --set does: agent keys, discount, horizon, utility.ACTION[.STATE]. */
IDM_API idm_status idm_problem_set(idm_problem *problem, const char *assignment,
                                   idm_error *opt_error);
/* Free blocks as --free does, in place of those that the file frees: "beta, eta", or what may stand
 * under `free:` in the file. */
IDM_API idm_status idm_problem_set_free(idm_problem *problem, const char *text,
                                        idm_error *opt_error);
/* Give a problem new states, called state1, state2 and so on, of which nothing is known: dynamics
 * leave everything possible, models follow their rule, and what an action is worth stays where it
 * is the same in every state. *ret_unknown counts the other actions, whose utilities are
 * placeholders in a file written of it, to be filled in before it can be read. */
IDM_API idm_status idm_problem_reset_states(idm_problem *problem, size_t states,
                                            size_t *ret_unknown, idm_error *opt_error);
/* Write. What the target cannot express goes into the notes; where leaving it out would change the
 * problem's meaning, IDM_INPUT. */
IDM_API idm_status idm_problem_write_yaml(const idm_problem *problem, const char *path,
                                          idm_notes *opt_notes, idm_error *opt_error);
/* YAML with lines of comment at its head. */
IDM_API idm_status idm_problem_write_yaml_headed(const idm_problem *problem, const char *head,
                                                 const char *path, idm_error *opt_error);
IDM_API idm_status idm_problem_write_pomdp(const idm_problem *problem, const char *path,
                                           idm_notes *opt_notes, idm_error *opt_error);

/* Built-in examples: name and text of example i, or NULL past the last. */
IDM_API const char *idm_example_name(size_t index);
IDM_API const char *idm_example_text(size_t index);

#ifdef __cplusplus
}
#endif
#endif
