/* The page of a run, from its folder. */
#ifndef IDM_CLI_PAGE_H
#define IDM_CLI_PAGE_H

#include "cli/cli.h"

/* Read the folder of a run, an audit or a study, and write its page. The log is used where it is
 * still what it was; a note says where it is not. */
idm_status cli_write_page(cli_call *call, const char *folder, const char *path);
/* Path of the page in the folder itself. */
enum { CLI_PAGE_PATH = IDM_PATH + 32 };
const char *cli_page_path(const char *folder, char path[CLI_PAGE_PATH]);

#endif
