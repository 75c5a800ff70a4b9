/* Spaces of a YAML problem: names and sizes, lookups by label, lists of numbers. */
#ifndef IDM_IO_PROBLEM_SPACES_H
#define IDM_IO_PROBLEM_SPACES_H

#include "io/problem/reader.h"

/* Count states, actions and observations; fills sizes, factors, fully_observed. */
idm_status idm_yaml_measure_spaces(idm_yaml_reader *reader);
/* Refuse what cannot be held, from the sizes and the number of models. */
idm_status idm_yaml_check_memory(const idm_yaml_reader *reader, size_t models);
/* What a label lacks that every output can hold and every table can name (cells are trimmed, and
 * `available` joins actions by '|'): words for "expected ...", or NULL. */
const char *idm_yaml_label_fault(const char *text, bool action);
/* Whether a node is a label. */
idm_status idm_yaml_check_label(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                const char *what, bool action);
/* Labels into the setting, and the sorted names of states and actions. */
idm_status idm_yaml_read_labels(idm_yaml_reader *reader);
/* Names of states and actions from the problem's setting. */
idm_status idm_yaml_index_labels(idm_yaml_reader *reader);
/* Copy a list of names (one name counts as a list of one); each may stand once. */
idm_status idm_yaml_read_names(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *what, idm_labels *ret_labels);
/* Levels of factor f of the observations. */
size_t idm_yaml_factor_size(const idm_yaml_reader *reader, size_t f);
/* Index of an action or state. */
idm_status idm_yaml_find_action(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                const char *what, size_t *ret_action);
idm_status idm_yaml_find_state(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *what, size_t *ret_state);
/* A mapping of actions: value of each action, "*" for those not named, NULL where there is neither.
 */
idm_status idm_yaml_by_action(const idm_yaml_reader *reader, const idm_yaml_node *node,
                              const char *what, const idm_yaml_node **ret_value);
/* A mapping of states: value of each, "*" for those not named; one that has neither is refused. */
idm_status idm_yaml_by_state(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             const char *what, const idm_yaml_node **ret_value);
/* A list of `count` numbers into values; where `least` is given none may lie below it. */
idm_status idm_yaml_read_numbers(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                 const char *what, size_t count, const double *opt_least,
                                 double *values);
/* Divide weights by their sum; what is normalised already stays as it is, bit for bit. */
bool idm_yaml_scale_weights(double *weights, size_t count);

#endif
