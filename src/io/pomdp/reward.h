/* Rewards of a .POMDP file: rules, and the utility that they are in expectation. */
#ifndef IDM_IO_POMDP_REWARD_H
#define IDM_IO_POMDP_REWARD_H

#include "idm/setting.h"

/* Coordinates of a reward rule: index + 1, or one of these. */
#define IDM_POMDP_ANY 0u         /* every action, state, next state or observation */
#define IDM_POMDP_ROW UINT32_MAX /* as observation: one stored number an observation */
#define IDM_POMDP_MATRIX                                                                           \
  (UINT32_MAX) /* as next state: stored numbers [next state][observation]                          \
                */

typedef struct idm_pomdp_rule_key {
  uint32_t action;
  uint32_t state;
  uint32_t next;
  uint32_t observation;
} idm_pomdp_rule_key;

/* Rules in file order, where a later rule overrides earlier ones. Memory follows the file's size.
 */
typedef struct idm_pomdp_rewards idm_pomdp_rewards;

idm_status idm_pomdp_rewards_create(idm_pomdp_rewards **ret_rewards, idm_error *opt_error);
void idm_pomdp_rewards_destroy(idm_pomdp_rewards *rewards);
/* Store one number of a row or matrix; a rule refers to its first number. */
idm_status idm_pomdp_rewards_push(idm_pomdp_rewards *rewards, double value, idm_error *opt_error);
/* Numbers stored so far: the place of the next one. */
size_t idm_pomdp_rewards_stored(const idm_pomdp_rewards *rewards);
/* Add a rule with one value. */
idm_status idm_pomdp_rewards_set(idm_pomdp_rewards *rewards, idm_pomdp_rule_key key, double value,
                                 idm_error *opt_error);
/* Add a rule whose numbers are stored from `first` on. */
idm_status idm_pomdp_rewards_set_stored(idm_pomdp_rewards *rewards, idm_pomdp_rule_key key,
                                        size_t first, idm_error *opt_error);
/* utility[action][state] = sum over s' of T times sum over o of O times R. A reward that is the
 * same for all that can follow comes out exactly. */
idm_status idm_pomdp_rewards_expect(const idm_pomdp_rewards *rewards, const idm_setting *setting,
                                    double *utility, idm_error *opt_error);

#endif
