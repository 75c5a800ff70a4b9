/* SHA-256 of a file at a place: see idm/file.h. */
#ifndef IDM_IO_HASH_H
#define IDM_IO_HASH_H

#include "idm/file.h"
#include "io/place.h"

idm_status idm_file_hash_at(const idm_place *place, char hash[IDM_HASH], idm_error *opt_error);

#endif
