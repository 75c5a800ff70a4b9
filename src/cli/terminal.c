/* Terminal output: progress bar, signals and text graphics.
 *
 * Contents: progress · spark */
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/system.h"
#include "cli/cli.h"
#include "cli/common.h"

/* === progress =============================================================================== */

/* Progress bar, and signals that request a stop. */

static volatile sig_atomic_t interrupted;
static atomic_llong
    first_signal; /* time of the first signal in ms; lock-free, for use in a signal handler */

/* Signals within this interval count as one request. */
enum { merge_interval_ms = 400 };

/* One request to stop may arrive twice: timeout(1) signals its child and then the process group of
 * the child. A later signal is a second request, and ends the program by the default action. */
static void note_signal(int number)
{
  struct timespec clock = {0};
  (void)clock_gettime(CLOCK_MONOTONIC, &clock);
  const long long now = (long long)clock.tv_sec * 1000 + clock.tv_nsec / 1000000;
  if (!interrupted) {
    first_signal = now;
    interrupted = 1;
  } else if (now - first_signal > merge_interval_ms) {
    signal(number, SIG_DFL);
    raise(number); /* delivered when this handler returns */
  }
}

void cli_catch_signals(void)
{
  struct sigaction action = {.sa_handler = note_signal};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  /* Keep SIGHUP ignored if it is, as under nohup(1). */
  struct sigaction before;
  if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, NULL);
}

void cli_progress_begin(cli_progress *progress, const char *opt_stop_message)
{
  *progress = (cli_progress){.started = idm_seconds(),
                             .terminal = isatty(STDERR_FILENO),
                             .stop_message = opt_stop_message};
}

static void show(cli_progress *progress, double fraction, const char *words)
{
  enum { width = 24 };
  progress->shown = idm_seconds();
  char bar[width + 1];
  const int filled_cells = (int)(fraction * width);
  for (int i = 0; i < width; i++) bar[i] = i < filled_cells ? '#' : '.';
  bar[width] = '\0';
  const double elapsed = progress->shown - progress->started;
  char left[32] = "    ?"; /* no estimate yet */
  if (fraction >= 0.01) snprintf(left, sizeof left, "%5.1f", elapsed * (1 - fraction) / fraction);
  fprintf(stderr, "\r[%s] %3.0f %% %5.1f s, %s s left %s\033[K", bar, 100 * fraction, elapsed, left,
          words);
  fflush(stderr);
}

bool cli_progress_watch(void *context, const idm_progress_state *work)
{
  cli_progress *progress = context;
  char words[96];
  if (!interrupted && progress->terminal && idm_seconds() - progress->shown > 0.5)
    show(progress, work->done, idm_progress_describe(work, words, sizeof words));
  /* Confirm an interruption immediately. */
  if (interrupted && progress->stop_message) {
    cli_progress_end(progress);
    fprintf(stderr, "idm: %s\n", progress->stop_message);
    progress->stop_message = NULL;
  }
  return interrupted;
}

void cli_progress_end(cli_progress *progress)
{
  if (progress->terminal && progress->shown > 0) fprintf(stderr, "\r\033[K");
}

/* === spark ================================================================================== */

/* Histograms and intervals in a line of text. */

bool cli_is_graphical(const cli_call *opt_call)
{
  return opt_call && isatty(STDOUT_FILENO) && !cli_given(opt_call, "plain") &&
         !cli_given(opt_call, "json");
}

const char *cli_colour(cli_hue hue)
{
  static const char *const codes[] = {"\033[0m", "\033[32m", "\033[31m"};
  const char *refused = getenv("NO_COLOR");
  if (!isatty(STDOUT_FILENO) || (refused && *refused)) return "";
  return codes[hue];
}

const char *cli_sparkline(const double *height, size_t count, char buffer[CLI_SPARKLINE])
{
  static const char *const bar[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double max_height = 0;
  size_t used = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < count; i++)
    if (isfinite(height[i])) max_height = fmax(max_height, height[i]);
  for (size_t i = 0; i < count && used + 4 <= CLI_SPARKLINE; i++) {
    const double part = max_height > 0 && isfinite(height[i]) ? fmax(height[i], 0) / max_height : 0;
    /* Positive values have at least the lowest bar, except negligible ones. */
    const int level = part > 1e-3 ? (int)fmin(8, 1 + floor(8 * part)) : 0;
    used += (size_t)snprintf(buffer + used, CLI_SPARKLINE - used, "%s", bar[level]);
  }
  return buffer;
}

const char *cli_histogram(const double *x, size_t count, size_t columns, char buffer[CLI_SPARKLINE])
{
  enum { max_columns = 64 };
  double height[max_columns] = {0}, low = INFINITY, high = -INFINITY;
  if (columns > max_columns) columns = max_columns;
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(x[i])) continue;
    low = fmin(low, x[i]);
    high = fmax(high, x[i]);
  }
  for (size_t i = 0; i < count && low <= high; i++) {
    if (!isfinite(x[i])) continue;
    const double part = high > low ? (x[i] - low) / (high - low) : 0.5;
    const size_t at = (size_t)(part * (double)columns);
    height[at < columns ? at : columns - 1]++;
  }
  return cli_sparkline(height, columns, buffer);
}

/* Column of a number on a scale; numbers outside are clamped to its ends. */
static int column_of(double number, double low, double high, int width)
{
  const double part = high > low ? (number - low) / (high - low) : 0.5;
  return (int)lround(fmin(fmax(part, 0), 1) * (width - 1));
}

const char *cli_interval(const cli_span *span, double low, double high, int width,
                         char buffer[CLI_SPARKLINE])
{
  const bool there = isfinite(span->low) && isfinite(span->high) && isfinite(span->at);
  const int from = there ? column_of(span->low, low, high, width) : width;
  const int to = there ? column_of(span->high, low, high, width) : -1;
  const int at = there ? column_of(span->at, low, high, width) : -1;
  const int zero = low < 0 && high > 0 ? column_of(0, low, high, width) : -1;
  size_t used = 0;
  buffer[0] = '\0';
  for (int i = 0; i < width && used + 4 <= CLI_SPARKLINE; i++) {
    const char *mark = i == at              ? "●"
                       : i == from          ? "├"
                       : i == to            ? "┤"
                       : i > from && i < to ? "─"
                       : i == zero          ? "┊"
                                            : " ";
    used += (size_t)snprintf(buffer + used, CLI_SPARKLINE - used, "%s", mark);
  }
  return buffer;
}
