/* The seal of run.nc: see the header. */
#include <sha2.h>
#include <string.h>

#include "io/file.h"
#include "io/run/seal.h"

void idm_seal(const void *image, size_t length, char seal[IDM_SEAL_LENGTH + 1])
{
  const size_t prefix = sizeof IDM_SEAL_PREFIX - 1;
  memcpy(seal, IDM_SEAL_PREFIX, prefix);
  SHA256Data(image, length, seal + prefix);
  memcpy(seal + IDM_SEAL_LENGTH - 1, "\n", 2);
}

idm_status idm_seal_write(const void *image, size_t length, const idm_place *place,
                          idm_error *opt_error)
{
  idm_file *file;
  const idm_status status = idm_file_create_at(place, &file, opt_error);
  if (status != IDM_OK) return status;
  char seal[IDM_SEAL_LENGTH + 1];
  idm_seal(image, length, seal);
  idm_file_write(file, image, length);
  idm_file_write(file, seal, IDM_SEAL_LENGTH);
  return idm_file_commit(file, opt_error);
}
