/* Functions of the model of a problem: blocks, parameters, settings, dynamics, columns, rules,
 * terminal states, transfer to another environment, and free blocks.
 *
 * Contents: block · column · derive · predicate · dynamics · problem · setting · theta · terminal ·
 * transfer · features · freedom · tie */
#ifndef IDM_SETTING_MODEL_H
#define IDM_SETTING_MODEL_H

#include "base/arguments.h"
#include "base/key.h"
#include "idm/extension/block.h"
#include "idm/extension/column.h"
#include "idm/extension/derive.h"
#include "idm/extension/dynamics.h"
#include "idm/extension/predicate.h"
#include "idm/extension/problem.h"
#include "idm/extension/setting.h"
#include "idm/extension/theta.h"

/* === block ================================================================================== */

/* Descriptor of a shared block; NULL where there is none. */
IDM_CHECKED const idm_block_info *idm_block_describe(idm_block_id id);
/* Name of a shared block, NULL where there is none; and the block of a name, -1 where there is
 * none. */
IDM_CHECKED const char *idm_block_name(idm_block_id id);
IDM_CHECKED int idm_block_find(const char *name);
/* Name of an axis, as in run.nc; NULL where there is none. */
IDM_CHECKED const char *idm_axis_name(idm_axis axis);
/* Length of an axis. opt_info is needed for IDM_AXIS_FIELD only, and is the block whose fields are
 * counted. 1 for IDM_AXIS_END. */
IDM_CHECKED size_t idm_axis_length(const idm_block_info *opt_info, idm_axis axis, idm_sizes sizes,
                                   size_t models);
/* Label of position `at` along an axis, from the setting or from the descriptor; models are
 * numbered from 1, written into number[size]. NULL past the last. */
IDM_CHECKED const char *idm_axis_label(const idm_block_info *info, const idm_setting *setting,
                                       idm_axis axis, size_t at, char *number, size_t size);
/* Number of values of a block; 0 where its planner decides (see idm_planner_shape). */
IDM_CHECKED size_t idm_block_size(const idm_block_info *info, idm_sizes sizes, size_t models);
/* Field that number i of a block belongs to; NULL where it belongs to none. */
IDM_CHECKED const idm_field *idm_block_field(const idm_block_info *info, idm_sizes sizes, size_t i);
/* Length of a row, along the last axis: of one distribution, where the block contains
 * distributions. */
IDM_CHECKED size_t idm_block_width(const idm_block_info *info, idm_sizes sizes, size_t models);
IDM_CHECKED const char *idm_block_entry_name(const idm_block_info *info, const idm_setting *setting,
                                             size_t models, size_t i, char *buffer, size_t size);
/* Name of a scale, NULL where there is none; and the scale of a name, -1 where there is none. */
IDM_CHECKED const char *idm_scale_name(idm_scale scale);
IDM_CHECKED int idm_scale_find(const char *name);

/* === column ================================================================================= */

/* Descriptor of a column; NULL where there is none. Static. */
IDM_CHECKED const idm_column_info *idm_column_describe(idm_column column);
/* Whether a log of this setting can have the column. */
IDM_CHECKED bool idm_column_applies(idm_column column, const idm_setting *setting);

/* === derive ================================================================================= */

/* Name of a kind as in problem files, as in "cut" and "require"; NULL past the last. */
IDM_CHECKED const char *idm_derivation_name(idm_derivation kind);
IDM_CHECKED const char *idm_rule_kind_name(idm_rule_kind kind);
/* Stage at which a rule applies: rules on one row (0), duplicates (1), rules on whole trajectories
 * in the order of time (2). */
IDM_CHECKED int idm_rule_stage(idm_rule_kind kind);
/* Text of a rule for tables and messages, as in "require DX", written into buffer[size]. Returns
 * buffer. */
IDM_CHECKED char *idm_rule_text(const idm_rule *rule, char *buffer, size_t size);
/* Whether two derived columns, or two rules, are equal in all fields. False for NULL. */
IDM_CHECKED bool idm_derived_same(const idm_derived *a, const idm_derived *b);
IDM_CHECKED bool idm_rule_same(const idm_rule *a, const idm_rule *b);
/* Free all memory of a derived column or of a rule, but not the struct itself. Takes NULL. */
IDM_CHECKED void idm_derived_clear(idm_derived *derived);
IDM_CHECKED void idm_rule_clear(idm_rule *rule);

/* === predicate ============================================================================== */

/* Parse a predicate. Column names may contain operators: the text is split at the first operator
 * that follows a name of opt_columns, else at the first operator. IDM_USAGE if the text is not a
 * predicate, or compares with an empty value by order. */
IDM_CHECKED idm_status idm_predicate_parse(const char *text, const idm_labels *opt_columns,
                                           idm_predicate *ret_predicate, idm_error *opt_error);
/* Evaluate a predicate for a cell of `length` bytes. NULL or an empty text is a missing cell. */
IDM_CHECKED idm_predicate_result idm_predicate_evaluate(const idm_predicate *predicate,
                                                        const char *opt_text, size_t length);
/* Write a predicate as "COLUMN OP VALUE" without blanks, for messages and files. Returns buffer. */
IDM_CHECKED char *idm_predicate_text(const idm_predicate *predicate, char *buffer, size_t size);
/* True if column, comparison and value are equal. */
IDM_CHECKED bool idm_predicate_same(const idm_predicate *a, const idm_predicate *b);
/* Free the content of a predicate. Accepts NULL. */
IDM_CHECKED void idm_predicate_clear(idm_predicate *predicate);

/* === dynamics =============================================================================== */

/* Allocate dynamics with all probabilities 0. *ret_dynamics is the caller's. */
IDM_CHECKED idm_status idm_dynamics_create(idm_sizes sizes, idm_dynamics **ret_dynamics,
                                           idm_error *opt_error);
/* Free dynamics. Takes NULL. */
IDM_CHECKED void idm_dynamics_destroy(idm_dynamics *dynamics);
/* Copy the probabilities of `from`; no effect where the sizes differ. */
IDM_CHECKED void idm_dynamics_assign(idm_dynamics *dynamics, const idm_dynamics *from);
/* Copy the dynamics of a problem's environment. *ret_dynamics is the caller's. IDM_INPUT where the
 * problem does not contain them as matrices. */
IDM_CHECKED idm_status idm_problem_dynamics(const idm_problem *problem, idm_dynamics **ret_dynamics,
                                            idm_error *opt_error);
/* Replace the dynamics of a problem's environment, and derive the agent's models from them by the
 * problem's rule. IDM_USAGE where the sizes differ; IDM_INPUT where the models are an explicit
 * list, so that new models are not defined, or entries of the matrices are free. */
IDM_CHECKED idm_status idm_problem_set_dynamics(idm_problem *problem, const idm_dynamics *dynamics,
                                                idm_error *opt_error);
/* Whether the agent's models are derived from the environment: by a rule, or as the environment
 * itself. */
IDM_CHECKED bool idm_problem_models_derived(const idm_problem *problem);
/* Replace the agent's models by those of a rule; a rule of zeros gives the environment itself.
 * IDM_INPUT where the environment is not known as matrices, the rule gives too many models, or
 * entries of the matrices are free. */
IDM_CHECKED idm_status idm_problem_apply_rule(idm_problem *problem, const idm_model_rule *rule,
                                              idm_error *opt_error);
/* Number of models that a rule gives. */
IDM_CHECKED double idm_model_rule_count(const idm_model_rule *rule, const idm_setting *setting);
/* Replace the agent's models by list[count], with equal weights; the start distributions of the
 * list are ignored. IDM_USAGE for an empty list or other sizes, IDM_INPUT where entries of the
 * matrices are free. */
IDM_CHECKED idm_status idm_problem_set_models(idm_problem *problem, const idm_dynamics *const *list,
                                              size_t count, idm_error *opt_error);

/* === problem ================================================================================ */

/* Free the content of the codes. Accepts NULL. */
IDM_CHECKED void idm_codes_destroy(idm_codes *codes);
/* Allocate `count` codes of labels only. */
IDM_CHECKED idm_status idm_codes_create(idm_codes *codes, size_t count, idm_error *opt_error);
/* Distinct values of part number `part` of labels that consist of `parts` parts joined by '/', in
 * order of the labels. IDM_INPUT if a label has a different number of parts. */
IDM_CHECKED idm_status idm_labels_level(const idm_labels *labels, size_t parts, size_t part,
                                        idm_labels *ret_labels, idm_error *opt_error);
/* Fill the default options. */
IDM_CHECKED void idm_agent_options_default(idm_agent_options *agent);
/* Keys of the agent except its planner and the blocks of theta, as in the section `agent:` of a
 * problem file. One descriptor per field of idm_agent_options. */
IDM_CHECKED const idm_key *idm_agent_option_keys(void);
/* Allocate a problem with an empty setting (see idm_setting_create) and a theta with `models`
 * models. *ret_problem is owned by the caller. */
IDM_CHECKED idm_status idm_problem_create(idm_sizes sizes, size_t models, bool with_transition,
                                          bool with_emission, idm_problem **ret_problem,
                                          idm_error *opt_error);
/* The same without matrices, for a setting with sparse transitions. */
IDM_CHECKED idm_status idm_problem_create_sparse(idm_sizes sizes, idm_problem **ret_problem,
                                                 idm_error *opt_error);
/* Give the utility block one copy per variant, computed from opt_values [variant][column] (variants
 * of a setting). Default priors are updated to the new range of the utility. No effect if no
 * utility depends on a column. */
IDM_CHECKED idm_status idm_problem_bind(idm_problem *problem, size_t variants,
                                        const double *opt_values, idm_error *opt_error);
/* Inverse of idm_problem_bind: values [variant][column] that reproduce the utilities of a theta,
 * which may belong to another problem of the same sizes. IDM_USAGE if entries of one column need
 * different values. */
IDM_CHECKED idm_status idm_problem_unbind(const idm_problem *problem, const idm_theta *theta,
                                          double *values, idm_error *opt_error);
/* Number of columns of a role: those given by the problem, else 1, the first default of its
 * descriptor. */
IDM_CHECKED size_t idm_columns_count(const idm_columns *columns, idm_column role);
/* Name of column number `part` of a role; NULL if out of range. */
IDM_CHECKED const char *idm_columns_name(const idm_columns *columns, idm_column role, size_t part);
/* True if a column of a role also has another role. */
IDM_CHECKED bool idm_columns_shared(const idm_columns *columns, idm_column role, size_t part,
                                    idm_column other);

/* === setting ================================================================================ */

/* Allocate a setting of the given sizes: labels "0", "1", ..., a uniform start, no terminal or
 * ending action, no terminal state, dynamics all 0 if `with_...` is true and NULL otherwise. The
 * caller fills it, validates it, and does not change it afterwards. *ret_setting is owned by the
 * caller. */
IDM_CHECKED idm_status idm_setting_create(idm_sizes sizes, bool with_transition, bool with_emission,
                                          idm_setting **ret_setting, idm_error *opt_error);
/* Free a setting. Accepts NULL. */
IDM_CHECKED void idm_setting_destroy(idm_setting *setting);
/* Deep copy of a setting. *ret_setting is owned by the caller. */
IDM_CHECKED idm_status idm_setting_copy(const idm_setting *setting, idm_setting **ret_setting,
                                        idm_error *opt_error);
/* Check a setting: every distribution is non-negative, finite and sums to 1 (within 1e-4), labels
 * are unique and not empty, terminal implies ends, the horizon is not negative. Rows are not
 * renormalised. IDM_INPUT names the first fault. */
IDM_CHECKED idm_status idm_setting_validate(const idm_setting *setting, idm_error *opt_error);
/* Allocate sparse rows with that many rows and entries, all 0. */
IDM_CHECKED idm_status idm_sparse_rows_create(size_t rows, size_t entries,
                                              idm_sparse_rows **ret_sparse, idm_error *opt_error);
/* Free the rows. Accepts NULL. */
IDM_CHECKED void idm_sparse_rows_destroy(idm_sparse_rows *moves);
/* Deep copy of sparse rows. *ret_sparse is owned by the caller. */
IDM_CHECKED idm_status idm_sparse_rows_copy(const idm_sparse_rows *moves,
                                            idm_sparse_rows **ret_sparse, idm_error *opt_error);
/* Check that rows are in order, next states are in range and increasing, and probabilities are
 * positive and sum to 1 per row. IDM_INPUT names the first fault. */
IDM_CHECKED idm_status idm_sparse_rows_validate(const idm_sparse_rows *moves, idm_sizes sizes,
                                                idm_error *opt_error);
/* True if two sets of rows are equal, bitwise. */
IDM_CHECKED bool idm_sparse_rows_same(const idm_sparse_rows *a, const idm_sparse_rows *b);
/* True if all sizes are equal. */
IDM_CHECKED bool idm_sizes_same(idm_sizes a, idm_sizes b);
/* True if two lists contain the same names in the same order. */
IDM_CHECKED bool idm_labels_same(const idm_labels *a, const idm_labels *b);

/* === theta ================================================================================== */

/* Allocate a theta with the shared blocks at their default sizes and values (dynamics 0, optional
 * blocks absent). Every block is normative. *ret_theta is owned by the caller. */
IDM_CHECKED idm_status idm_theta_create(idm_sizes sizes, size_t models, idm_theta **ret_theta,
                                        idm_error *opt_error);
/* The same without matrices, for an agent whose only model is the sparse transitions of its
 * setting. */
IDM_CHECKED idm_status idm_theta_create_sparse(idm_sizes sizes, idm_theta **ret_theta,
                                               idm_error *opt_error);
/* Replace the planner's own blocks by those of another planner, with their default values. The
 * descriptors are borrowed (NULL with a count of 0). Blocks that occur in both are unchanged. */
IDM_CHECKED idm_status idm_theta_set_own_blocks(idm_theta *theta, const idm_block_info *opt_own,
                                                size_t count, idm_error *opt_error);
/* Check sizes, ranges and sums of every block against its descriptor and the setting; the discount
 * must be below 1, or at most 1 with a horizon. IDM_INPUT names the first fault. */
IDM_CHECKED idm_status idm_theta_validate(const idm_theta *theta, const idm_setting *setting,
                                          idm_error *opt_error);
/* Make every block normative; scales, priors and coordinates are removed. */
IDM_CHECKED void idm_theta_clamp(idm_theta *theta);
/* Name of the first block in which two thetas differ in form (descriptor, size, variants); NULL if
 * the forms are equal. */
IDM_CHECKED const char *idm_theta_form_mismatch(const idm_theta *a, const idm_theta *b);
/* Name of a prior, as in IDM_PRIOR_LIST; NULL if out of range. */
IDM_CHECKED const char *idm_prior_name(idm_prior_kind kind);
/* Index of a prior in IDM_PRIOR_LIST by name; -1 if unknown. */
IDM_CHECKED int idm_prior_find(const char *name);
/* Number of arguments of a prior (-1: one per element). */
IDM_CHECKED int idm_prior_arguments(idm_prior_kind kind);
/* Default prior of a block on its default scale, where R is the range of the utility, as in
 * "normal(log(R/20), 2)"; empty if the block cannot be free. Returns buffer. */
IDM_CHECKED const char *idm_block_prior_text(const idm_block_info *info, char *buffer, size_t size);

/* === terminal =============================================================================== */

/* Terminal states: an episode ends on arrival. In matrices they are absorbing states with utility
 * 0, whose value is 0 for every planner without an entropy term. */

/* Make terminal states absorbing in the setting, in every environment and in every model, and set
 * their utilities to 0; columns of utilities there are removed. */
void idm_problem_absorb(idm_problem *problem);
/* Make terminal states absorbing in transition[matrices][state][next state]. */
void idm_setting_absorb(const idm_setting *setting, double *transition, size_t matrices);
/* IDM_INPUT unless terminal states are observed, have start probability 0, are absorbing and have
 * utility 0, and no utility of beliefs is paid. */
idm_status idm_terminal_check(const idm_problem *problem, idm_error *opt_error);

/* === transfer =============================================================================== */

/* Transfer of an agent to the environment of another problem. */

/* IDM_INPUT where the agent's models are not derived from its environment, so that they are not
 * defined in another one: an explicit list of models, or free transitions or observations. */
idm_status idm_problem_check_models(const idm_problem *problem, idm_error *opt_error);

/* After a transfer, list utility and discount of `other` that differ from those of the problem,
 * which are used, as "utility, discount"; empty where nothing differs. A utility of 0 everywhere
 * counts as not given. */
void idm_problem_name_unused(const idm_problem *problem, const idm_problem *other, char *buffer,
                             size_t size);

/* === features =============================================================================== */

/* Utilities that are linear in features: u(s, a) = sum_k w_k f_k(s, a). */

/* Features for a block of `numbers` numbers, all 0, with weights of 0. *ret_features is the
 * caller's. */
idm_status idm_features_create(size_t numbers, const idm_labels *name, idm_features **ret_features,
                               idm_error *opt_error);
/* Takes NULL. */
void idm_features_destroy(idm_features *features);
/* Compute the numbers of a block from the weights of its features; no effect where it has none. */
void idm_features_apply(idm_block *block);
/* d/dw_k of a function whose derivatives with respect to the numbers of the block are `derivative`.
 */
double idm_features_derivative(const idm_features *features, const idm_block *derivative, size_t k);
/* Index of the feature whose weight is the given coordinate of a free block. */
size_t idm_features_index(const idm_features *features, size_t coordinate);
/* Free the weights of a block's features that are not `fixed`; each is a coordinate with the name
 * of its feature. A number is fixed where all features with free weights are 0. */
idm_status idm_features_set_free(idm_block *block, idm_error *opt_error);
bool idm_features_same(const idm_features *a, const idm_features *b, size_t numbers);

/* === freedom ================================================================================ */

/* Free blocks: default priors and fixed reference numbers. */

/* max - min of the utility over all variants, limited to [1e-100, 1e100] so that its inverse is
 * finite; 1 where all utilities are equal. */
double idm_theta_utility_range(const idm_theta *theta);
/* The same for one variant. */
double idm_variant_utility_range(const idm_theta *theta, size_t variant);
/* Range that the default prior of a block is scaled by: that of the utility, or 1 where the block
 * is already relative to it. */
double idm_problem_prior_range(const idm_problem *problem, size_t id);
/* Set the default priors of all blocks again, after utilities or units changed. */
idm_status idm_problem_reset_priors(idm_problem *problem, idm_error *opt_error);
/* Give a free block the default prior of its descriptor and scale, for utilities of range `range`,
 * and mark it as the default. */
idm_status idm_theta_set_default_prior(idm_theta *theta, size_t id, double range,
                                       idm_error *opt_error);

/* Default reference action of a contrast: the first action whose numbers are all 0, else the first
 * action. */
size_t idm_theta_reference(const idm_theta *theta, size_t id);
/* Free all numbers of a contrast except those of the reference action and the constants. IDM_INPUT
 * where none remains. */
idm_status idm_theta_contrast(idm_theta *theta, const idm_setting *setting, size_t id,
                              size_t reference, idm_error *opt_error);
/* Free all numbers of a block except number `held`. IDM_INPUT where none remains. */
idm_status idm_theta_fix_one(idm_theta *theta, const idm_setting *setting, size_t id, size_t held,
                             idm_error *opt_error);
/* Unit of a coordinate of a free block: the scale of its default prior. Step sizes and distances
 * are relative to it, so that they do not depend on the unit of the utilities. */
double idm_block_unit(const idm_block_info *info, idm_scale scale, double range);

/* === tie ==================================================================================== */

/* Ties: entries of rows of distributions that share one free number.
 *
 * In a row with n entries of a coordinate, each of these entries equals the number x, and the
 * remainder 1 - n x is divided among the other entries by their shares. Rows remain distributions,
 * and entries of 0 remain 0. */

/* Upper bound of a tied number: 1 over the largest number of its entries in a row. */
double idm_tie_upper_bound(const idm_theta *theta, size_t id, int32_t coordinate);
/* Set the entries of a tied number to `value`, and the other entries of its rows to their shares.
 */
void idm_tie_set_value(idm_theta *theta, size_t id, int32_t coordinate, double value);
/* Derivative with respect to a tied number, from those with respect to the numbers of the block. */
double idm_tie_derivative(const idm_theta *derivative, size_t id, int32_t coordinate);
/* Make coordinates free that the caller has filled in (-1: none); the shares are those of the
 * current values. The block owns `coordinate` and the shares from here on, even after an error. */
idm_status idm_tie_set_shares(idm_theta *theta, size_t id, int32_t *coordinate,
                              idm_error *opt_error);

#endif
