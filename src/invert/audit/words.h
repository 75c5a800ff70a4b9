/* Words of an audit, for the table of its keys and for its groups. */
#ifndef IDM_INVERT_AUDIT_WORDS_H
#define IDM_INVERT_AUDIT_WORDS_H

/* What idm_pool and idm_audit_dynamics are called. */
extern const char *const idm_audit_pool_words[];
extern const char *const idm_audit_dynamics_words[];

/* What everybody is called beside the groups, and those whom a group is compared with. */
#define IDM_AUDIT_ALL  "all"
#define IDM_AUDIT_REST "rest"

/* Every pair of a partition is compared up to so many groups; beyond, each with the rest. */
enum { IDM_AUDIT_PAIRED = 10 };

/* Draws of the dynamics that the model is looked at in where it does not fit in their mean. */
enum { IDM_AUDIT_LOOKS = 4 };

#endif
