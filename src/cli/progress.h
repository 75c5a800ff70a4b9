/* A bar on a terminal, signals that ask to stop. */
#ifndef IDM_CLI_PROGRESS_H
#define IDM_CLI_PROGRESS_H

#include "cli/cli.h"

typedef struct cli_progress {
  double started; /* seconds */
  double shown;
  bool terminal;
  const char *farewell; /* said once when a wish to stop is noticed; NULL: nothing */
} cli_progress;
void cli_progress_begin(cli_progress *progress, const char *opt_farewell);
/* An idm_progress whose context is a cli_progress: shows work, and stops it at a signal. */
bool cli_progress_watch(void *context, const idm_work *work);
void cli_progress_end(cli_progress *progress);
/* From now on SIGINT, SIGTERM and SIGHUP ask to stop. Another one ends the program at once (but
 * those that come together are one). */
void cli_catch_signals(void);

#endif
