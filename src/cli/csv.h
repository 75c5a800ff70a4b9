/* Tables that commands write, with --spreadsheet-safe. */
#ifndef IDM_CLI_CSV_H
#define IDM_CLI_CSV_H

#include "cli/cli.h"

/* Writes a table to a path. */
typedef idm_status (*cli_csv_writer)(const void *content, const char *path, idm_error *error);
/* Call it for the path; with --spreadsheet-safe by way of a private file, which idm_csv_make_safe
 * copies to the path. */
idm_status cli_write_csv(cli_call *call, const char *path, cli_csv_writer writer,
                         const void *content);

#endif
