/* Words of an audit, for the table of its keys. */
#ifndef IDM_INVERT_AUDIT_WORDS_H
#define IDM_INVERT_AUDIT_WORDS_H

/* What idm_pool and idm_audit_dynamics are called. */
extern const char *const idm_audit_pool_words[];
extern const char *const idm_audit_dynamics_words[];

#endif
