/* The terminal: progress, signals and small drawings.
 *
 * Contents: progress · search · spark */
#ifndef IDM_CLI_TERMINAL_H
#define IDM_CLI_TERMINAL_H

#include "cli/cli.h"

/* === progress =============================================================================== */

/* A bar on a terminal, signals that ask to stop. */

typedef struct cli_progress {
  double started; /* seconds */
  double shown;
  bool terminal;
  const char *stop_message; /* said once when a wish to stop is noticed; NULL: nothing */
} cli_progress;
void cli_progress_begin(cli_progress *progress, const char *opt_stop_message);
/* An idm_progress whose context is a cli_progress: shows work, and stops it at a signal. */
bool cli_progress_watch(void *context, const idm_progress_state *work);
void cli_progress_end(cli_progress *progress);
/* From now on SIGINT, SIGTERM and SIGHUP ask to stop. Another one ends the program at once (but
 * those that come together are one). */
void cli_catch_signals(void);

/* === search ================================================================================= */

/* A planner that searches. */

typedef struct cli_search {
  idm_solver solver;
  cli_progress progress;
  double goal;  /* gap */
  double first; /* gap that it started with; 0: not yet */
  double lower;
  double upper;
} cli_search;
/* Take --gap, --seconds and --alpha, which are refused where the agent's planner does not search,
 * and get ready to watch. Seconds count from `begun` (idm_seconds). The solver borrows the search.
 */
idm_status cli_search_begin(cli_call *call, idm_problem *problem, double begun, cli_search *search);
/* An idm_plan_monitor whose context is a cli_search. */
bool cli_search_watch(void *context, double lower, double upper);

/* === spark ================================================================================== */

/* Small drawings for a terminal. */

/* Whether standard output is one, and neither --plain nor --json says otherwise. */
bool cli_is_graphical(const cli_call *opt_call);
/* What changes the colour of what follows; nothing where NO_COLOR is set, or nobody looks. */
typedef enum cli_hue { CLI_DEFAULT_COLOUR, CLI_POSITIVE_COLOUR, CLI_NEGATIVE_COLOUR } cli_hue;
const char *cli_colour(cli_hue hue);
enum { CLI_SPARKLINE = 256 };
/* Bars of these heights, one column each. Into buffer, which is returned. */
const char *cli_sparkline(const double *height, size_t count, char buffer[CLI_SPARKLINE]);
/* How numbers are spread between the least and the largest. The same. */
const char *cli_histogram(const double *x, size_t count, size_t columns,
                          char buffer[CLI_SPARKLINE]);
/* An interval on a scale from low to high, with 0 where that is on it. The same. */
typedef struct cli_span {
  double low;
  double at;
  double high;
} cli_span;
const char *cli_interval(const cli_span *span, double low, double high, int width,
                         char buffer[CLI_SPARKLINE]);

#endif
