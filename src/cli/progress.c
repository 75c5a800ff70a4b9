/* A progress bar on a terminal, and signals that ask to stop. */
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

static volatile sig_atomic_t interrupted;
static atomic_llong first_signal; /* when it came; lock-free, so that a handler may touch it */

/* One wish to stop may come twice: timeout(1) signals its child and then the group that the child
 * is in. A signal that comes later is another wish, and ends the program as it would any other. */
static void note_signal(int number)
{
  const long long now = (long long)time(NULL);
  if (!interrupted) {
    first_signal = now;
    interrupted = 1;
  } else if (now - first_signal > 2) {
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
}

bool cli_interrupted(void)
{
  return interrupted;
}

double cli_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_progress_begin(cli_progress *progress)
{
  *progress = (cli_progress){.started = cli_seconds(), .terminal = isatty(STDERR_FILENO)};
}

void cli_progress_show(cli_progress *progress, double fraction, const char *words)
{
  enum { width = 24 };
  const double now = cli_seconds();
  if (!progress->terminal || now - progress->shown < 0.2) return;
  progress->shown = now;
  char bar[width + 1];
  const int full = (int)(fraction * width);
  for (int i = 0; i < width; i++) bar[i] = i < full ? '#' : '.';
  bar[width] = '\0';
  const double elapsed = now - progress->started;
  char left[32] = "    ?"; /* nothing to go by yet */
  if (fraction >= 0.01) snprintf(left, sizeof left, "%5.1f", elapsed * (1 - fraction) / fraction);
  fprintf(stderr, "\r[%s] %3.0f %% %5.1f s, %s s left %s\033[K", bar, 100 * fraction, elapsed, left,
          words);
  fflush(stderr);
}

void cli_progress_end(cli_progress *progress)
{
  if (progress->terminal && progress->shown > 0) fprintf(stderr, "\r\033[K");
}
