/* Blocks of fields in a YAML problem, for all actions alike or by action, and their rows. */
#ifndef IDM_IO_PROBLEM_FIELDS_H
#define IDM_IO_PROBLEM_FIELDS_H

#include "idm/problem.h"
#include "io/problem/reader.h"
#include "io/yaml/emit.h"

/* One block from its node; it is resized to the rows given. */
idm_status idm_yaml_read_fields(const idm_yaml_reader *reader, size_t id,
                                const idm_yaml_node *node);
void idm_yaml_put_fields(idm_emitter *out, const idm_setting *setting, const idm_block *block);

/* Whether a text is "BLOCK.REST" of a block that has fields, which is found. */
bool idm_yaml_names_field(const idm_theta *theta, const char *text, size_t *ret_id);
/* Which numbers of a block move. Entries are a list of FIELD or FIELD.ACTION, or {NAME: list, ...}
 * whose entries share one number; NULL for all fields that can be free. A field without an action
 * is one number where it is the same for all actions, else one per action. With opt_before, items
 * are read after that text, and those that do not begin with it are passed over. */
idm_status idm_yaml_free_fields(idm_yaml_reader *reader, size_t id, const idm_yaml_node *node,
                                const idm_yaml_node *opt_entries, const char *opt_before);
/* The entries of a free block, in the form that is read back to the same. */
void idm_yaml_put_field_entries(idm_emitter *out, const idm_setting *setting,
                                const idm_block *block);

#endif
