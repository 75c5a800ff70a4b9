/* Which entries of the utility are free. */
#ifndef IDM_IO_PROBLEM_ENTRIES_H
#define IDM_IO_PROBLEM_ENTRIES_H

#include "idm/problem.h"
#include "io/problem/reader.h"

/* One action, and all states or one. */
typedef struct idm_yaml_entry {
  size_t action;
  size_t state;
  bool one_state;
} idm_yaml_entry;
/* ACTION or ACTION.STATE; labels may hold dots, so every split is tried. Returns the number of
 * readings found; an action that matches as a whole is the only reading. */
size_t idm_yaml_resolve_entry(const idm_problem *problem, const char *path, size_t length,
                              idm_yaml_entry *ret);
/* Name of an entry that is free by itself, "ACTION,STATE"; returns its length. */
int idm_yaml_entry_name(const idm_setting *setting, size_t entry, char *name, size_t size);
/* Which entries of the utility are free: `entries` or `reference`, NULL where not given. */
idm_status idm_yaml_read_entries(idm_yaml_reader *reader, const idm_yaml_node *opt_entries,
                                 const idm_yaml_node *opt_reference);

/* Give a block its free coordinates: coordinate[numbers] and name[count] become the block's, and
 * NULL here. On failure they stay the caller's. */
idm_status idm_yaml_give_coordinates(idm_block *block, size_t count, char **name,
                                     int32_t **coordinate, idm_error *opt_error);

#endif
