/* Tables that commands write: see the header. */
#include "cli/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"

idm_status cli_write_csv(cli_call *call, const char *path, cli_csv_writer writer,
                         const void *content)
{
  char private[IDM_PATH];
  const char *folder = getenv("TMPDIR");
  if (!cli_given(call, "spreadsheet-safe")) return writer(content, path, &call->error);
  snprintf(private, sizeof private, "%s/idm-XXXXXX", folder && *folder ? folder : "/tmp");
  const int descriptor = mkstemp(private);
  if (descriptor < 0)
    return idm_fail(&call->error, IDM_SYSTEM, "cannot write '%s': %s", private, strerror(errno));
  close(descriptor);
  idm_status status = writer(content, private, &call->error);
  if (status == IDM_OK) status = idm_csv_make_safe(private, path, &call->error);
  unlink(private);
  return status;
}
