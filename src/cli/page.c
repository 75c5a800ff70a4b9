/* The page of a run: what `idm report` writes, and `idm fit --resume` where it is missing. */
#include "cli/page.h"

#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "io/run/folder.h"

const char *cli_page_path(const char *folder, char path[CLI_PAGE_PATH])
{
  snprintf(path, CLI_PAGE_PATH, "%s/%s", folder, IDM_FILE_REPORT);
  return path;
}

/* The log, where it still is what it was; a note where it is not. */
static void read_log(cli_call *call, cli_subject *subject, idm_data **ret_data)
{
  *ret_data = NULL;
  if (cli_read_run_data(call, subject, ret_data) == IDM_OK) return;
  idm_notes_add(&call->notes, "the report is made without the log: %s", call->error.message);
  call->error = (idm_error){0};
}

idm_status cli_write_page(cli_call *call, const char *folder, const char *path)
{
  cli_shown *s = calloc(1, sizeof *s);
  if (!s) return idm_fail_memory(&call->error);
  idm_status status = cli_open_shown(call, folder, s);
  if (status == IDM_OK && s->subject.posterior &&
      strcmp(s->subject.posterior->inverse, "learn") == 0)
    status = idm_fail(&call->error, IDM_INPUT,
                      "'%s' is a run of `idm learn`: it has dynamics, no agent to report on; see "
                      "`idm summary`, `idm check` and `idm plot trace`, or fit an agent with "
                      "`idm fit --dynamics`",
                      folder);
  if (status == IDM_OK && s->subject.posterior) read_log(call, &s->subject, &s->data);
  if (status == IDM_OK)
    status = idm_report_write(&(idm_plot_subject){.folder = folder,
                                                  .problem = s->subject.problem,
                                                  .posterior = s->subject.posterior,
                                                  .assessment = s->assessment,
                                                  .data = s->data,
                                                  .fitted = s->data != NULL,
                                                  .study = s->study,
                                                  .request = s->subject.request},
                              path, &call->notes, &call->error);
  cli_close_shown(s);
  free(s);
  return status;
}
