/* Terminal output: progress bar, signals and text graphics.
 *
 * Contents: progress · search · spark */
#ifndef IDM_CLI_TERMINAL_H
#define IDM_CLI_TERMINAL_H

#include "cli/cli.h"

/* === progress =============================================================================== */

/* Progress bar on a terminal, and signals that request a stop. */

typedef struct cli_progress {
  double started; /* start time in seconds */
  double shown;
  bool terminal;
  const char *stop_message; /* printed once after a request to stop; NULL: none */
} cli_progress;
void cli_progress_begin(cli_progress *progress, const char *opt_stop_message);
/* Progress callback (idm_progress) whose context is a cli_progress: updates the bar, and returns
 * true after a signal. */
bool cli_progress_watch(void *context, const idm_progress_state *work);
void cli_progress_end(cli_progress *progress);
/* Install handlers: SIGINT, SIGTERM and SIGHUP request a stop. A second signal ends the program
 * immediately (signals that arrive together count as one). */
void cli_catch_signals(void);

/* === search ================================================================================= */

/* Options and progress of planners that search. */

typedef struct cli_search {
  idm_solver solver;
  cli_progress progress;
  double goal;  /* requested gap */
  double first; /* initial gap; 0: not known yet */
  double lower;
  double upper;
} cli_search;
/* Parse --gap, --seconds and --alpha, which are IDM_USAGE if the agent's planner does not search,
 * and set up the monitor. The time limit starts at `begun` (idm_seconds). The solver borrows the
 * search. */
idm_status cli_search_begin(cli_call *call, idm_problem *problem, double begun, cli_search *search);
/* Plan monitor (idm_plan_monitor) whose context is a cli_search. */
bool cli_search_watch(void *context, double lower, double upper);

/* === spark ================================================================================== */

/* Text graphics. */

/* True if standard output is a terminal, without --plain and --json. */
bool cli_is_graphical(const cli_call *opt_call);
/* Escape sequence of a colour for the following text; empty if NO_COLOR is set or standard output
 * is not a terminal. */
typedef enum cli_hue { CLI_DEFAULT_COLOUR, CLI_POSITIVE_COLOUR, CLI_NEGATIVE_COLOUR } cli_hue;
const char *cli_colour(cli_hue hue);
enum { CLI_SPARKLINE = 256 };
/* Bars with these heights, one column each. Returns buffer. */
const char *cli_sparkline(const double *height, size_t count, char buffer[CLI_SPARKLINE]);
/* Histogram of x[count] between its minimum and maximum. Returns buffer. */
const char *cli_histogram(const double *x, size_t count, size_t columns,
                          char buffer[CLI_SPARKLINE]);
/* Interval on a scale from low to high, with a mark at 0 if that is on the scale. Returns buffer.
 */
typedef struct cli_span {
  double low;
  double at;
  double high;
} cli_span;
const char *cli_interval(const cli_span *span, double low, double high, int width,
                         char buffer[CLI_SPARKLINE]);

#endif
