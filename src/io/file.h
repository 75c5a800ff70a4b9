/* Whole files at places: the functions of idm/file.h, for files in folders as well. */
#ifndef IDM_IO_FILE_H
#define IDM_IO_FILE_H

#include "idm/file.h"
#include "io/place.h"

/* As idm_file_read. */
idm_status idm_file_read_at(const idm_place *place, size_t limit, char **ret_text,
                            size_t *ret_length, idm_error *opt_error);
/* As idm_file_create. In a folder only a regular file is replaced: anything else is IDM_INPUT. The
 * folder's descriptor is borrowed until the file is committed or abandoned. */
idm_status idm_file_create_at(const idm_place *place, idm_file **ret_file, idm_error *opt_error);
/* As idm_file_sweep. */
void idm_file_sweep_at(int folder, const char *name);

#endif
