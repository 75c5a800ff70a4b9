/* Describe and save work under way. */
#include "idm/extension/progress.h"

#include "base/arguments.h"
#include "base/record.h"

const char *idm_progress_describe(const idm_progress_state *work, char *buffer, size_t size)
{
  if (!work || !buffer) return NULL;
  buffer[0] = '\0';
  if (work->describe) work->describe(work->content, buffer, size);
  return buffer;
}

idm_status idm_progress_save(const idm_progress_state *work, char **ret_bytes, size_t *ret_length,
                             idm_error *opt_error)
{
  idm_require(work, ret_bytes, ret_length);
  *ret_bytes = NULL;
  *ret_length = 0;
  if (work->save) return work->save(work->content, ret_bytes, ret_length, opt_error);
  return idm_fail(opt_error, IDM_USAGE, "work of this kind has no checkpoint");
}
